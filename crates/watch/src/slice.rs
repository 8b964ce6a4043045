//! What was done to a drive between two readings of its block statistics.
//!
//! Two readings of `/sys/block/X/stat` give throughput, mean latency and mean queue of the time between them
//! (Little's law: queue = latency x I/Os a second). `io_ms` is not used: it counts the kernel's ticks, and says little
//! about a device that works on many I/Os at once.

use std::time::Duration;

use measure::record::{BlockCounters, TelemetryRow};
use measure::{Bytes, Instant};

/// One operation between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OpSlice {
    /// I/Os that completed.
    pub ios: u64,
    /// Their data.
    pub bytes: Bytes,
    /// Their time together, in milliseconds.
    pub time_ms: u32,
}

impl OpSlice {
    /// Mean latency in seconds; `None` where nothing completed, or so little that the millisecond in which the kernel
    /// counts is a tenth of it.
    pub fn latency_s(&self) -> Option<f64> {
        (self.ios > 0 && self.time_ms >= 10).then(|| f64::from(self.time_ms) / 1e3 / self.ios as f64)
    }

    /// Mean size of an I/O in bytes.
    pub fn size_bytes(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.bytes.as_f64() / self.ios as f64)
    }

    fn plus(self, other: Self) -> Self {
        Self {
            ios: self.ios.saturating_add(other.ios),
            bytes: self.bytes + other.bytes,
            time_ms: self.time_ms.saturating_add(other.time_ms),
        }
    }
}

/// What was done to a drive in a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadSlice {
    /// Its beginning.
    pub start: Instant,
    /// Its length.
    pub span: Duration,
    /// Reads.
    pub read: OpSlice,
    /// Writes.
    pub write: OpSlice,
    /// Discards.
    pub discard: OpSlice,
    /// Mean number of I/Os in flight, by completion.
    pub queue: f64,
    /// I/Os in flight at its end.
    pub in_flight: u32,
}

impl LoadSlice {
    /// What lies between two readings; `None` where no time passed, or a counter went back: the device is another one
    /// then, or began anew.
    pub fn between(before: &TelemetryRow, after: &TelemetryRow) -> Option<Self> {
        let span = after.t.since(before.t);
        let (a, b) = (before.block?, after.block?);
        let read = op((a.reads, before.device_read?, a.read_ms), (b.reads, after.device_read?, b.read_ms))?;
        let write = op(
            (a.writes, before.device_written?, a.write_ms),
            (b.writes, after.device_written?, b.write_ms),
        )?;
        let discards = |block: &BlockCounters| Some((block.discards?, block.discarded?, block.discard_ms?));
        let discard = match (discards(&a), discards(&b)) {
            (Some(a), Some(b)) => op(a, b)?,
            _ => OpSlice::default(),
        };
        if span.is_zero() {
            return None;
        }
        let queue = f64::from(b.queue_ms.wrapping_sub(a.queue_ms)) / 1e3 / span.as_secs_f64();
        Some(Self { start: before.t, span, read, write, discard, queue, in_flight: b.in_flight })
    }

    /// Two that follow one another, as one.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        let (a, b) = (self.span.as_secs_f64(), next.span.as_secs_f64());
        Self {
            start: self.start,
            span: self.span + next.span,
            read: self.read.plus(next.read),
            write: self.write.plus(next.write),
            discard: self.discard.plus(next.discard),
            queue: (self.queue * a + next.queue * b) / (a + b),
            in_flight: next.in_flight,
        }
    }

    /// Its end.
    pub fn end(&self) -> Instant {
        self.start + self.span
    }

    /// Whether nothing was done, and nothing waits.
    pub const fn is_idle(&self) -> bool {
        self.read.ios == 0 && self.write.ios == 0 && self.discard.ios == 0 && self.in_flight == 0
    }

    /// Bytes a second of an operation of this slice.
    pub fn rate(&self, op: &OpSlice) -> f64 {
        op.bytes.as_f64() / self.span.as_secs_f64()
    }
}

/// The difference of (I/Os, bytes, ms); `None` where I/Os or bytes went back.
fn op(before: (u64, Bytes, u32), after: (u64, Bytes, u32)) -> Option<OpSlice> {
    Some(OpSlice {
        ios: after.0.checked_sub(before.0)?,
        bytes: Bytes::new(after.1.as_u64().checked_sub(before.1.as_u64())?),
        // 32 bits in the kernel: they begin again every 37 hours at a mean queue of 32.
        time_ms: after.2.wrapping_sub(before.2),
    })
}

#[cfg(test)]
mod test {
    use super::*;

    fn row(t_ms: u64, reads: u64, read_ms: u32, queue_ms: u32) -> TelemetryRow {
        let mut row = TelemetryRow::empty(Instant::from_ns(t_ms * 1_000_000), "blockstat", Duration::ZERO);
        row.device_read = Some(Bytes::new(reads * 4096));
        row.device_written = Some(Bytes::ZERO);
        row.block =
            Some(BlockCounters { reads, read_ms, queue_ms, in_flight: 3, ..BlockCounters::default() });
        row
    }

    /// Goal: throughput, latency and queue are those of the time between, and obey Little's law.
    #[test]
    fn two_readings_give_throughput_latency_and_queue() {
        let slice = LoadSlice::between(&row(0, 0, 0, 0), &row(500, 1000, 1000, 1000)).expect("a slice");
        assert_eq!(slice.read.latency_s(), Some(1e-3));
        assert_eq!(slice.rate(&slice.read), 1000.0 * 4096.0 / 0.5);
        assert!((slice.queue - 1e-3 * 1000.0 / 0.5).abs() < 1e-9);
        let two = slice.and(
            LoadSlice::between(&row(500, 1000, 1000, 1000), &row(1000, 1000, 1000, 1000)).expect("idle"),
        );
        assert!((two.queue - 1.0).abs() < 1e-9);
        assert_eq!((two.read.ios, two.end()), (1000, Instant::from_ns(1_000_000_000)));
    }

    /// Goal: the kernel's 32 bits of milliseconds begin again without an error; a device that began anew is none.
    #[test]
    fn milliseconds_wrap_and_counters_that_go_back_are_another_device() {
        let slice = LoadSlice::between(&row(0, 5, u32::MAX - 10, u32::MAX), &row(1000, 15, 39, 999))
            .expect("a slice");
        assert_eq!((slice.read.time_ms, slice.queue), (50, 1.0));
        assert_eq!(LoadSlice::between(&row(0, 5, 0, 0), &row(1000, 4, 0, 0)), None);
        assert_eq!(LoadSlice::between(&row(9, 5, 0, 0), &row(9, 5, 0, 0)), None);
    }

    #[test]
    fn a_latency_that_a_millisecond_decides_is_none() {
        assert_eq!(OpSlice { ios: 4, bytes: Bytes::new(1), time_ms: 9 }.latency_s(), None);
    }
}
