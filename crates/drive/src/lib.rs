//! Everything that touches a real drive: addresses, identity, I/O, settings and their journal, readings, the guard.
//!
//! # Architecture
//! - [`system`]: drives that this system reaches - a file, a device, a fabric, the null drive - by their address.
//! - [`io`]: how I/O goes to them: io_uring, NVMe/TCP, and the trait that the load engine drives.
//! - [`settings`]: thermal thresholds and the like: read, changed through a journal, put back.
//! - [`telemetry`]: sources of readings: SMART, hwmon, smartctl, block statistics, power meters.
//! - [`guard`]: what speaks against writing to a block device.
//! - [`scsi`]: what SATA, USB and SCSI drives say of themselves.
//!
//! It makes no load, writes no record and draws no conclusion.

pub mod guard;
pub mod io;
pub mod scsi;
pub mod settings;
pub mod system;
pub mod telemetry;
