//! The instrument: keeps a load on a drive as a plan says, reads it on the same clock, writes the record.
//!
//! It draws no conclusion: it knows no analysis, no twin and no report. "Stop when steady" is a closure that the
//! caller passes in.

pub mod load;
pub mod session;
