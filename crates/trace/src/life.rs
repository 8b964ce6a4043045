//! What a drive has counted over its life, at one moment.

use crate::Counters;

/// Counters of a drive's life at one moment; `None` is "not reported". They only grow, unless they are reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifeCounters {
    /// When they were read, in seconds of the trace.
    pub t_s: f64,
    /// The serial number that the reading tells.
    pub serial: Option<String>,
    /// What smartctl calls the trip temperature of a SCSI drive, in kelvins: up to it the drive may run continuously (SPC-5,
    /// Temperature log page).
    pub trip_k: Option<f64>,
    /// Hours powered on. Drives may leave out hours in a state of low power (NVMe Base, SMART / Health log, bytes 128 to 143).
    pub power_on_h: Option<f64>,
    /// Minutes at or above the warning temperature; NVMe leaves out those at or above the critical one (bytes 192 to 195).
    pub warning_min: Option<f64>,
    /// Minutes at or above the critical temperature (bytes 196 to 199).
    pub critical_min: Option<f64>,
    /// Throttling by TMT1 and TMT2 (bytes 216 to 231).
    pub throttling: Counters,
    /// Bytes read.
    pub read_bytes: Option<f64>,
    /// Bytes written.
    pub written_bytes: Option<f64>,
    /// I/Os by which the host moved data (NVMe: Host Read Commands and Host Write Commands, bytes 64 to 95).
    pub host_commands: Option<f64>,
    /// Estimate of the endurance used, in percent; above 100 is possible.
    pub used_percent: Option<f64>,
    /// The hottest that the drive ever was, in kelvins, where it remembers.
    pub hottest_k: Option<f64>,
    /// Temperature recordings above the drive's limit (ATA SCT status, Over Limit Count).
    pub over_limit: Option<u64>,
    /// Critical Warning (NVMe Base, SMART / Health log, byte 0): one bit a warning.
    pub critical_warning: Option<u8>,
    /// Spare capacity that is left, in percent (byte 3).
    pub spare_percent: Option<f64>,
    /// Spare capacity below which the drive warns, in percent (byte 4).
    pub spare_threshold_percent: Option<f64>,
    /// Data that could not be read back, or were wrong (NVMe: Media and Data Integrity Errors, bytes 160 to 175).
    pub media_errors: Option<f64>,
    /// Whether a SATA or SCSI drive says of itself that it fails: its SMART status is not "passed".
    pub has_failed: bool,
}
