//! From a record to findings: what slowed the drive down, how that is known, and how sure it is.
//!
//! # Architecture
//! - [`trace`]: what an analysis works on, made from our record or by [`import`] from a foreign log.
//! - [`findings`]: what comes out, the JSON of `analyze --json`.
//!
//! # What it does not do
//! Pure functions. Nothing here opens a file of a run, sends a command or reads a clock, so every number
//! can be had again from the record alone.

pub mod findings;
pub mod import;
pub mod trace;

pub use findings::Findings;
pub use trace::Trace;
