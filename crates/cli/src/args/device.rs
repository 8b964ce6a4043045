//! What may be typed about the data and the endurance of the drive that a run writes to.

use clap::Args;
use drive::guard::{Kind, Permission};
use measure::{Bytes, parse};

/// Whose data may be destroyed, and what the drive is known for.
#[derive(Debug, Default, Args)]
pub(crate) struct DeviceArgs {
    /// Let a plan write to or trim a block device: the serial number of the drive whose data may all be lost
    /// (no-serial for one that tells none)
    #[arg(long, value_name = "SERIAL")]
    pub(crate) destroy: Option<String>,
    /// Write all the same if there is a WORD on the device, such as file-system or partition-table; repeatable. A
    /// refusal names the word; what is mounted or in use is never written to
    #[arg(long, value_name = "WORD", requires = "destroy")]
    pub(crate) even_if: Vec<Kind>,
    /// Rated endurance of the drive, such as 600TB, to tell what share of it the run costs
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) tbw: Option<Bytes>,
    /// Size of the drive's fast write cache, such as 64GiB, for plans with a region of that size
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub(crate) slc: Option<Bytes>,
}

impl DeviceArgs {
    /// What the user has given away.
    pub(crate) fn permission(&self) -> Option<Permission> {
        let destroy = self.destroy.clone()?;
        Some(Permission { destroy, even_if: self.even_if.clone() })
    }
}
