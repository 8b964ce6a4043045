//! Everything that touches a real drive: plans, targets, the load engine, telemetry, the session.
//!
//! It writes a record and draws no conclusion: it knows no analysis, no twin and no report. "Stop when
//! steady" is a closure that the caller passes in.

pub mod guard;
pub mod load;
pub mod plan;
pub mod scsi;
pub mod session;
pub mod settings;
pub mod target;
pub mod telemetry;
