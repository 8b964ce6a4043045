//! What is fuzzed: one plain function a decoder or machine, taking any bytes.
//!
//! A function panics when a law is broken, and only then. The fuzz targets call them, and so do
//! property tests in the crates they belong to, so that they cannot rot unnoticed.

pub mod fleet;
pub mod import;
pub mod nvme;
pub mod remote;
pub mod scsi;
pub mod twin;
pub mod vssd;

/// A fuzz target's name and what it runs on any bytes.
pub type FuzzEntry = (&'static str, fn(&[u8]));
