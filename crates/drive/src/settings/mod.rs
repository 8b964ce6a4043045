//! Settings of a drive: read, changed, and put back.
//!
//! # Architecture
//! - [`Setting`], [`Value`], [`Change`]: what can be changed, as the drive has it.
//! - [`DriveSettings`]: reads and changes them over any transport of `nvme::host`; each change is checked before
//!   it is sent and read back after.
//! - [`journal`]: what was found before the first change, on a disk that outlives the process.
//! - [`Journaled`]: changes under a journal, to be put back; [`restore()`] does it for whoever was killed.
//!
//! # What it does not do
//! It never saves a setting unless told so: what is changed here is forgotten at the drive's next power cycle.
//! It takes no host memory from a drive and changes no write cache: the kernel owns both. Autonomous power state
//! transition goes through the kernel's own knob, because kernels refuse the command from others (Linux 6.12,
//! drivers/nvme/host/ioctl.c).

mod drive;
mod error;
#[cfg(any(test, feature = "fakes"))]
pub mod fake;
pub mod journal;
mod journaled;
pub mod linux;
mod raw;
pub mod restore;
pub mod value;

pub use drive::{Applied, DriveSettings, SettingValues};
pub use error::SettingsError;
pub use journaled::{Journaled, Restored};
pub use restore::restore;
pub use value::{Change, LatencyTolerance, Setting, Value};

#[cfg(test)]
mod crash_test;
#[cfg(test)]
mod test;
