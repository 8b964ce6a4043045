//! The NVMe protocol in the vocabulary of both sides: what a host decodes, a twin encodes.
//!
//! # Architecture
//! - [`command`]: commands and completions; [`status`]: how a command ended.
//! - [`identify`]: what controllers and namespaces say about themselves.
//! - [`feature`]: settings as typed values; [`hctm`] with the rule its temperatures obey.
//! - [`log`]: log pages; [`smart`] (log 02h) is the one everybody samples.
//! - [`fabrics`]: what takes the place of registers on a network; [`tcp`]: PDUs, without any I/O.
//! - [`auth`]: how host and subsystem prove to each other that they know a secret.
//! - `host` (cargo feature): sending commands to a real drive, and typed calls.
//! - [`power`]: a power value with the scale that NVMe puts beside it.
//!
//! Each layout exists in two forms. Wire layouts are private structs of little-endian fields whose
//! size and offsets are asserted at compile time; zero-based fields there end in `_z`. Decoded types
//! are what the rest of the workspace sees: zeros that mean "not reported" have become `None`,
//! zero-based counts have become counts, temperatures are [`measure::Kelvin`]. Record types are not
//! here: they belong to `measure`. Every decoder has its encoder, and what was decoded survives
//! being encoded; reserved and vendor bytes do not, so whoever needs them keeps the raw page.
//!
//! # What it does not do
//! It reads no clock, keeps no state and opens no socket. It opens no device either, except in `host`.
//!
//! # Where the numbers come from
//! NVMe Base Specification 2.3, NVM Command Set Specification 1.1 and OCP Datacenter NVMe SSD 2.0;
//! each module names its section.

pub mod auth;
pub mod command;
mod error;
pub mod fabrics;
pub mod feature;
#[cfg(any(test, feature = "host"))]
pub mod host;
pub mod identify;
pub mod log;
pub mod power;
pub mod status;
pub mod tcp;
mod wire;

pub use error::DecodeError;
pub use feature::hctm;
pub use log::smart;
pub use status::Status;
