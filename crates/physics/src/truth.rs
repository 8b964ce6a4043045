//! What really happened inside a simulated drive: the answer that analysis has to find.
//!
//! Never part of a record; tests hold findings against it.

use measure::Instant;

/// Something that happened, with its cause.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthEvent {
    /// When, to the firmware tick.
    pub t: Instant,
    /// Composite temperature as firmware saw it, in kelvins.
    pub temp_k: f64,
    /// What.
    pub kind: TruthKind,
    /// Name of the policy or dip in the profile; `slc` for the cache, `housekeeping` for erasing.
    pub name: String,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TruthKind {
    /// A policy began to throttle, or throttles harder.
    ThrottleOnset(Source),
    /// A policy let go.
    ThrottleRelease(Source),
    /// The SLC cache is full.
    SlcFull,
    /// The SLC cache takes writes again.
    SlcOpen,
    /// A slow-down without heat began.
    DipBegin,
    /// It ended.
    DipEnd,
}

/// Who throttles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Host controlled, light.
    HctmTmt1,
    /// Host controlled, heavy.
    HctmTmt2,
    /// The vendor's own thresholds.
    Vendor,
}
