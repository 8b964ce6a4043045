//! What a drive has counted over its life, at one moment.

use crate::Counters;

/// Counters of a drive's life at one moment; `None` is "not reported". A drive never takes them back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifeCounters {
    /// When they were read, in seconds of the trace.
    pub t_s: f64,
    /// Hours powered on. Drives may leave out hours in a state of low power (NVMe Base, SMART / Health log, bytes 128 to 143).
    pub power_on_h: Option<f64>,
    /// Minutes at or above the warning temperature (bytes 192 to 195).
    pub warning_min: Option<f64>,
    /// Minutes at or above the critical temperature (bytes 196 to 199).
    pub critical_min: Option<f64>,
    /// Throttling by TMT1 and TMT2 (bytes 216 to 231).
    pub throttling: Counters,
    /// Bytes read.
    pub read_bytes: Option<f64>,
    /// Bytes written.
    pub written_bytes: Option<f64>,
    /// Estimate of the endurance used, in percent; above 100 is possible.
    pub used_percent: Option<f64>,
    /// The hottest that the drive ever was, in kelvins, where it remembers.
    pub hottest_k: Option<f64>,
}
