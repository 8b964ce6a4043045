//! The NVMe protocol in the vocabulary of both sides: what a host decodes, a twin encodes.
//!
//! # Architecture
//! - [`log`]: log pages, each with its wire layout, its decoded type and both directions.
//!   [`smart`] (log 02h) is the one everybody samples, so it is reachable from here too.
//! - [`power`]: a power value with the scale that NVMe puts beside it.
//! - [`DecodeError`]: why bytes are not what they should be.
//!
//! Wire layouts are private structs of little-endian fields whose size and offsets are asserted
//! at compile time. Decoded types are what the rest of the workspace sees: zeros that mean "not
//! reported" have become `None`, zero-based counts have become counts, temperatures are [`measure::Kelvin`].
//!
//! # What it does not do
//! It reads no clock, keeps no state, opens no device and no socket.
//!
//! # Where the numbers come from
//! NVMe Base Specification 2.3 and OCP Datacenter NVMe SSD 2.0; each layout names its figure or section.

mod error;
pub mod log;
pub mod power;
mod wire;

pub use error::DecodeError;
pub use log::smart;
