//! The drive that is not there: an NVMe controller over the physics of a drive, and the server that makes it a virtual SSD.
//!
//! # Architecture
//! - [`controller`]: an NVMe controller over a [`physics::Drive`], for any transport; the data behind it.
//! - [`vssd`]: the virtual SSD: that controller behind NVMe/TCP.
//!
//! The physics know no protocol; what the drive says in NVMe's words - health log, Identify, status - is made here.

pub mod controller;
mod health_log;
mod lifetime;
pub mod vssd;

pub use health_log::{health_log, health_log_after};
pub use lifetime::Lifetime;
