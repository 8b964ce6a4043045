//! `heatsoak trim`.

use clap::{Args, ValueHint};
use drive::guard::{Kind, Permission};
use measure::{Bytes, parse};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Without an option nothing is changed: what the device says (LBPME, VPD pages B0h and B2h, asked by
SG_IO) stands beside what the kernel made of it (provisioning_mode, discard_max_bytes), and then
partitions, LVM, LUKS and file systems above, with what each passes on.

--prove writes a pattern that names its own address, unmaps blocks in every awkward size and place,
and reads everything else back: 128 to 320 MiB are written several times, on drives of 64 GiB and
more with --long also 8 GiB. All data on the drive is lost. After the first half the drive has to be
unplugged for 10 s, then --prove --resume does the rest. The verdict is one of: safe_acts,
safe_no_effect, refused, eats_neighbours, hangs, unstable, loses_data.

--enable sets provisioning_mode to unmap and discard_max_bytes to the device's own limit, both read
back. Linux 6.12 takes the mode back when it looks at the disk anew; the rules of --udev-rule set it
again at each event of the disk and its partitions. A bare rescan has none (docs/TRIM.md). Both
need a finished --prove of this drive and enclosure.

Examples:
  heatsoak trim /dev/sda
  heatsoak trim /dev/sda --prove --destroy 012345678999
  heatsoak trim /dev/sda --prove --resume --destroy 012345678999
  heatsoak trim /dev/sda --udev-rule > /etc/udev/rules.d/60-heatsoak-trim.rules";

/// `heatsoak trim`.
#[derive(Debug, Args)]
pub(crate) struct TrimArgs {
    /// A block device, such as /dev/sda
    #[arg(value_name = "DRIVE", value_hint = ValueHint::FilePath)]
    pub(crate) drive: String,
    /// Have the kernel discard by UNMAP, at most as much in one command as the device allows
    #[arg(long, conflicts_with_all = ["disable", "prove", "udev_rule"])]
    pub(crate) enable: bool,
    /// Have the kernel discard nothing
    #[arg(long, conflicts_with_all = ["prove", "udev_rule"])]
    pub(crate) disable: bool,
    /// Print a udev rule that does what --enable does, at each appearance of this drive
    #[arg(long, conflicts_with = "prove")]
    pub(crate) udev_rule: bool,
    /// --enable or --udev-rule without a finished --prove of this drive in this enclosure
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Check whether UNMAP harms data; all data on the drive is lost
    #[arg(long, requires = "destroy")]
    pub(crate) prove: bool,
    /// The second half of --prove, after the drive was unplugged
    #[arg(long, requires = "prove")]
    pub(crate) resume: bool,
    /// --prove: also try the 4 GiB command that Linux sends to a device without a limit; writes 8 GiB
    #[arg(long, requires = "prove", conflicts_with = "resume")]
    pub(crate) long: bool,
    /// --prove: size of each place that is written to and read back
    #[arg(long, value_name = "SIZE", value_parser = parse::size, requires = "prove", conflicts_with = "resume",
          default_value = "64MiB")]
    pub(crate) window: Bytes,
    /// The serial number of the drive whose data may all be lost (no-serial for one that tells none)
    #[arg(long, value_name = "SERIAL", requires = "prove")]
    pub(crate) destroy: Option<String>,
    /// Write all the same if there is a WORD on the device, such as file-system or partition-table; repeatable
    #[arg(long, value_name = "WORD", requires = "destroy")]
    pub(crate) even_if: Vec<Kind>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl TrimArgs {
    /// What the user has given away.
    pub(crate) fn permission(&self) -> Option<Permission> {
        Some(Permission { destroy: self.destroy.clone()?, even_if: self.even_if.clone() })
    }
}
