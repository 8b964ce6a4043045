//! Everything that touches a real drive: addresses, identity, I/O, settings and their journal, readings, the guard.
//!
//! # Architecture
//! - [`Drive`]: what everything above is written against: facts, I/O, settings, readings and the clock of one drive.
//! - [`address`]: what the user typed. Who opens a drive by it is the command line, in one place.
//! - [`system`]: the drives of this system - a file, a device, a fabric, the null drive.
//! - [`io`]: how I/O goes to them: io_uring, NVMe/TCP, simulated time, and the trait that the load engine drives.
//! - [`settings`]: thermal thresholds and the like: read, changed through a journal, put back.
//! - [`cgroup`]: limits of the kernel on the load of others, under the same journal.
//! - [`telemetry`]: sources of readings: SMART, hwmon, smartctl, block statistics, power meters.
//! - [`DriveIdentity`]: who a drive is, for all of the others; [`sysfs`]: block devices as the kernel shows them.
//! - [`secret`]: what is needed to authenticate oneself.
//! - [`guard`]: what speaks against writing to a block device.
//! - [`scsi`]: what SATA, USB and SCSI drives say of themselves. [`link`]: the link between host and drive;
//!   [`usb`]: the bridge of a USB drive.
//! - [`trim`]: whether TRIM reaches the flash of a SCSI disk, and whether it is harmless.
//!
//! It makes no load, writes no record and draws no conclusion. Twins are not made here: a simulated drive has no way to a
//! real one, and the command line has both.

pub mod address;
pub mod cgroup;
mod drive;
mod error;
pub mod guard;
mod identity;
pub mod io;
pub mod kernel_log;
pub mod link;
pub mod scsi;
pub mod secret;
pub mod settings;
pub mod sysfs;
pub mod system;
pub mod telemetry;
pub mod trim;
pub mod usb;

pub use address::{Address, AddressError, AddressKind, FabricAddress, FileAddress};
pub use drive::{
    Drive, DriveIo, Examination, FillProgress, Prepared, PreparedSettings, SettingsLast, Stated, WatchIo,
    WatchSources,
};
pub use error::DriveError;
pub use identity::DriveIdentity;
