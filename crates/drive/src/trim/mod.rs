//! TRIM of drives behind SCSI: whether it reaches the flash, how to have the kernel send it, and whether it is harmless.
//!
//! # Architecture
//! - [`KernelDiscard`]: what the kernel made of the device, from sysfs. [`TrimReach`] sets it beside what the device says
//!   by itself ([`crate::scsi`]); [`layers`]: file systems, LVM and LUKS above.
//! - [`proof`]: the check. It needs a unit whose data was given away, and nothing else: [`crate::scsi::ScsiTransport`].
//! - [`StoredCheck`]: what a check has found, kept over the power cycle that belongs to it and for [`udev_rule`].
//! - [`mode`]: the kernel's two knobs as settings with a journal.
//! - `liar`: a simulated unit behind a bridge that lies, for tests.
//!
//! # What it does not do
//! It writes nothing to a drive that did not pass the guard, and nothing to the kernel's knobs without a journal. That
//! UNMAP was accepted proves nothing (SBC-4, 4.7.3.5: the device may ignore any part of it), and neither does what
//! unmapped blocks read as; what is proved is that all other blocks are still as they were written.

mod block_map;
mod kernel;
pub mod layers;
#[cfg(any(test, feature = "fakes"))]
pub mod liar;
pub mod mode;
mod pattern;
pub mod proof;
mod reach;
mod stored;
mod udev;

pub use block_map::{BlockMap, BlockRange, BlockState};
pub use kernel::{KernelDiscard, ProvisioningMode};
pub use pattern::{FoundBlock, PATTERN_BYTES, identify_block};
pub use reach::{TrimPath, TrimReach, unmap_limit_bytes};
pub use stored::{CheckStage, CheckedDrive, StoredCheck, StoredCheckError, StoredChecks};
pub use udev::{UdevRule, udev_rule};

#[cfg(test)]
mod test;
