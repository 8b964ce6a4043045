//! The rows of the record's tables, as the rest of the workspace sees them.

use std::fmt;
use std::time::Duration;

use crate::histogram::Histogram;
use crate::time::Instant;
use crate::units::{Bytes, Kelvin, Watts};

/// What an I/O or an interval does to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Data from the drive.
    Read,
    /// Data to the drive.
    Write,
    /// Deallocate.
    Trim,
    /// No load: only intervals have it.
    Idle,
}

impl Op {
    /// All of them, in the order of their names in the record.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Idle];

    /// The name in the record: `read`, `write`, `trim`, `idle`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Idle => "idle",
        }
    }

    /// The operation with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.name() == name)
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What one operation did in one interval, all threads together (table `io`).
///
/// Intervals are closed on the clock. One in which nothing completed has a row with zero bytes:
/// a stop is data, not a gap.
#[derive(Clone, Debug, PartialEq)]
pub struct IoRow {
    /// Start of the interval.
    pub t: Instant,
    /// Its length; shorter than the plan's interval where a phase begins or ends.
    pub span: Duration,
    /// Which phase of the plan, counted from 0.
    pub phase: u32,
    /// The operation.
    pub op: Op,
    /// Data of the I/Os that completed in the interval.
    pub bytes: Bytes,
    /// I/Os that completed without error.
    pub ios: u64,
    /// I/Os that completed with an error; they count neither as I/Os nor as bytes.
    pub errors: u64,
    /// Submission latency: from the I/O being made to the kernel having taken it.
    pub slat: Histogram,
    /// Completion latency: from the kernel having taken it to its completion being seen.
    pub clat: Histogram,
}

/// One reading of one telemetry source, or the gap where it should have been (table `telemetry`).
///
/// A source fills the fields it knows; the others are `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct TelemetryRow {
    /// When the reading was complete.
    pub t: Instant,
    /// Which source: `smart`, `hwmon`, `blockstat`, `power`.
    pub source: String,
    /// How long the reading took.
    pub cost: Duration,
    /// Composite temperature.
    pub composite: Option<Kelvin>,
    /// Temperature sensors 1 to 8.
    pub sensors: [Option<Kelvin>; 8],
    /// NVMe critical warning bits.
    pub critical_warning: Option<u8>,
    /// How often light throttling (TMT1) began, since the drive was made.
    pub tmt1_transitions: Option<u32>,
    /// How often heavy throttling (TMT2) began, since the drive was made.
    pub tmt2_transitions: Option<u32>,
    /// Seconds of light throttling, since the drive was made.
    pub tmt1_seconds: Option<u32>,
    /// Seconds of heavy throttling, since the drive was made.
    pub tmt2_seconds: Option<u32>,
    /// A hwmon temperature, in thousandths of a degree Celsius as the kernel gives it.
    pub hwmon_millicelsius: Option<i32>,
    /// Power.
    pub power: Option<Watts>,
    /// Data the block layer has read from the device since boot.
    pub device_read: Option<Bytes>,
    /// Data the block layer has written to the device since boot.
    pub device_written: Option<Bytes>,
    /// Everything else that the block layer counts.
    pub block: Option<BlockCounters>,
    /// How long some task of this machine has waited for I/O since boot, in microseconds (PSI `some`).
    pub pressure_some_us: Option<u64>,
    /// How long all tasks that could run have waited for I/O since boot, in microseconds (PSI `full`).
    pub pressure_full_us: Option<u64>,
    /// Why there is no reading; every other field is then `None`.
    pub gap: Option<String>,
}

/// What the block layer has counted for a device since boot, beside bytes: `/sys/block/X/stat` of Linux
/// (Documentation/block/stat.rst).
///
/// Milliseconds are 32 bits wide there and begin again at 0: their differences are taken with `wrapping_sub`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounters {
    /// Reads that completed.
    pub reads: u64,
    /// Reads merged into others before they were sent.
    pub reads_merged: u64,
    /// Time of all reads together.
    pub read_ms: u32,
    /// Writes that completed.
    pub writes: u64,
    /// Writes merged into others before they were sent.
    pub writes_merged: u64,
    /// Time of all writes together.
    pub write_ms: u32,
    /// I/Os in flight at this moment.
    pub in_flight: u32,
    /// Time in which any I/O was in flight, as the kernel estimates it.
    pub io_ms: u32,
    /// Time of all I/Os together; it grows when an I/O completes.
    pub queue_ms: u32,
    /// Discards that completed (Linux 4.18 and later).
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discarded: Option<Bytes>,
    /// Time of all discards together.
    pub discard_ms: Option<u32>,
    /// Flushes that completed (Linux 5.5 and later).
    pub flushes: Option<u64>,
    /// Time of all flushes together.
    pub flush_ms: Option<u32>,
}

impl TelemetryRow {
    /// A row in which nothing is known yet.
    pub fn empty(t: Instant, source: &str, cost: Duration) -> Self {
        Self {
            t,
            source: source.to_owned(),
            cost,
            composite: None,
            sensors: [None; 8],
            critical_warning: None,
            tmt1_transitions: None,
            tmt2_transitions: None,
            tmt1_seconds: None,
            tmt2_seconds: None,
            hwmon_millicelsius: None,
            power: None,
            device_read: None,
            device_written: None,
            block: None,
            pressure_some_us: None,
            pressure_full_us: None,
            gap: None,
        }
    }

    /// Whether nothing is known in it: a meter had nothing new to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::empty(self.t, &self.source, self.cost)
    }

    /// A reading that failed, and why.
    pub fn failed(t: Instant, source: &str, cost: Duration, reason: impl Into<String>) -> Self {
        Self { gap: Some(reason.into()), ..Self::empty(t, source, cost) }
    }
}

/// A log page as the drive sent it (table `smart`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmartRow {
    /// When the page had been read.
    pub t: Instant,
    /// NVMe log page identifier; 02h is SMART / health.
    pub log_id: u8,
    /// The page's bytes.
    pub page: Vec<u8>,
}

/// One access (table `ops`, only where the plan asks for it): one I/O, or all those that `split` made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRow {
    /// When its first I/O was made.
    pub t: Instant,
    /// Which phase of the plan, counted from 0.
    pub phase: u32,
    /// Which thread of the load, counted from 0 over all loads of the phase.
    pub worker: u32,
    /// The operation.
    pub op: Op,
    /// Where on the target, in bytes from its start.
    pub offset: u64,
    /// How much.
    pub len: u32,
    /// Submission latency of its first I/O.
    pub slat: Duration,
    /// From there to the completion of its last I/O: of one I/O the completion latency.
    pub clat: Duration,
    /// The system's error number where an I/O failed; what was left of the access was not made then.
    pub errno: Option<i32>,
}

impl OpRow {
    /// From the access being made to its end.
    pub fn span(&self) -> Duration {
        self.slat + self.clat
    }
}
