//! `heatsoak hctm`, `power-state`, `temp-threshold` and `restore`.

use clap::{Args, ValueHint};
use measure::{Kelvin, parse};

use super::OnArgs;

/// What stands below the help of `hctm`.
pub(crate) const AFTER_HCTM_HELP: &str = "\
Without --tmt1 and --tmt2 nothing is changed: what is set now, by default and saved is shown, and
what the drive takes. Only one of the two given leaves the other as it is; `off` turns one off. The
rule is MNTMT <= TMT1 < TMT2 <= MXTMT. What was set is read back.

A change holds until the next power cycle or reset of the drive, with --save beyond it. Experiments
(`heatsoak run`) put settings back by themselves; this command does not.

Examples:
  heatsoak hctm /dev/nvme0
  heatsoak hctm /dev/nvme0 --tmt1 65C --tmt2 70C
  heatsoak hctm /dev/nvme0 --tmt2 off";

/// What stands below the help of `temp-threshold`.
pub(crate) const AFTER_THRESHOLD_HELP: &str = "\
A threshold makes the drive warn (Critical Warning bit 1, and an event where the host asked for
one). It does not throttle: that is `heatsoak hctm`, and the drive's own doing.

Examples:
  heatsoak temp-threshold /dev/nvme0
  heatsoak temp-threshold /dev/nvme0 --over 75C
  heatsoak temp-threshold /dev/nvme0 --sensor 2 --over off";

/// What stands below the help of `restore`.
pub(crate) const AFTER_RESTORE_HELP: &str = "\
A run that changes settings writes down what it found before it changes anything, and puts it back
when it ends, is stopped or fails. After kill -9 or a power cut this command does it. Doing it twice
does no harm. Without DRIVE it does so for every drive that has such a journal and is there.

The journals are in /var/lib/heatsoak for root, else in $XDG_STATE_HOME/heatsoak;
HEATSOAK_STATE_DIR names another folder.";

/// `heatsoak hctm`.
#[derive(Debug, Args)]
pub(crate) struct HctmArgs {
    /// An NVMe drive, such as /dev/nvme0 or twin:ssd1
    #[arg(value_name = "DRIVE", value_hint = ValueHint::FilePath)]
    pub(crate) drive: String,
    /// Light throttling from this temperature on (TMT1), such as 65C, or off
    #[arg(long, value_name = "TEMP", value_parser = super::threshold, allow_hyphen_values = true)]
    pub(crate) tmt1: Option<Kelvin>,
    /// Heavy throttling from this temperature on (TMT2), such as 70C, or off
    #[arg(long, value_name = "TEMP", value_parser = super::threshold, allow_hyphen_values = true)]
    pub(crate) tmt2: Option<Kelvin>,
    /// Keep the change over power cycles
    #[arg(long)]
    pub(crate) save: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}

/// `heatsoak power-state`.
#[derive(Debug, Args)]
pub(crate) struct PowerStateArgs {
    /// An NVMe drive, such as /dev/nvme0 or twin:ssd1
    #[arg(value_name = "DRIVE", value_hint = ValueHint::FilePath)]
    pub(crate) drive: String,
    /// The power state to go to; without it they are shown
    #[arg(value_name = "N")]
    pub(crate) state: Option<u8>,
    /// Keep the change over power cycles
    #[arg(long, requires = "state")]
    pub(crate) save: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}

/// `heatsoak temp-threshold`.
#[derive(Debug, Args)]
pub(crate) struct TempThresholdArgs {
    /// An NVMe drive, such as /dev/nvme0 or twin:ssd1
    #[arg(value_name = "DRIVE", value_hint = ValueHint::FilePath)]
    pub(crate) drive: String,
    /// Temperature sensor 1 to 8; without it the composite temperature
    #[arg(long, value_name = "N", value_parser = super::whole::<u8>(1, 8))]
    pub(crate) sensor: Option<u8>,
    /// Warn at this temperature and above, such as 75C, or off
    #[arg(long, value_name = "TEMP", value_parser = over, allow_hyphen_values = true)]
    pub(crate) over: Option<Kelvin>,
    /// Warn at this temperature and below, such as 0C, or off
    #[arg(long, value_name = "TEMP", value_parser = super::threshold, allow_hyphen_values = true)]
    pub(crate) under: Option<Kelvin>,
    /// Keep the change over power cycles
    #[arg(long)]
    pub(crate) save: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}

/// FFFFh is never reached (NVMe Base 2.3, 5.2.26.1.3).
fn over(typed: &str) -> Result<Kelvin, parse::ParseError> {
    if typed == "off" { Ok(Kelvin::from_kelvin(u16::MAX)) } else { parse::temperature(typed) }
}

/// `heatsoak restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// An NVMe drive, such as /dev/nvme0; without it all that have a journal
    #[arg(value_name = "DRIVE", value_hint = ValueHint::FilePath)]
    pub(crate) drive: Option<String>,
    /// Put nothing back and remove the journal: after a power cycle the drive has its saved settings
    #[arg(long, requires = "drive")]
    pub(crate) forget: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}
