//! `heatsoak inspect`.

use clap::{Args, ValueHint};

use super::OnArgs;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Shows which temperatures the drive warns and throttles at, what of it can be set and saved, what the
values in force mean, its power states, sensors and counters, whether it likely has no DRAM, what
the link carries, and what of all this will limit a test. Nothing is changed and nothing is written.

NVMe drives are asked by ioctl, which needs root; what sysfs tells is shown without. A namespace
leads to its controller, a controller to its namespaces.

Examples:
  heatsoak inspect /dev/nvme0n1
  heatsoak inspect twin:ssd1 --json";

/// `heatsoak inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// A drive, such as /dev/nvme0n1, /dev/sda or twin:ssd1
    #[arg(value_name = "DRIVE", value_hint = ValueHint::FilePath)]
    pub(crate) drive: String,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}
