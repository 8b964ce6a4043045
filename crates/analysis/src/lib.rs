//! From a record to findings: what slowed the drive down, how that is known, and how sure it is.
//!
//! Pure functions. Nothing here opens a file of a run, sends a command or reads a clock, so every number
//! can be had again from the record alone.

pub mod findings;

pub use findings::Findings;
