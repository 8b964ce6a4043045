//! Rows of a long run in bounded memory: what an analysis and a report need of them.
//!
//! # Bounds
//! - [`MOST_INTERVALS`] intervals, some 100 MB: beyond, neighbours that touch (of one operation and phase) become one of
//!   twice the length, and again. Data, I/Os and errors stay what they are; an event is placed to the longer interval.
//! - [`MOST_LATENCIES`] pairs of histograms, some 20 MB: beyond, those of neighbours are added up and stand at the first
//!   of them. A report draws quantiles of so many stretches at most anyway.
//! - [`MOST_READINGS`] readings, some 130 MB: beyond, every other one of each source is left out, and again.
//!
//! Intervals that do not touch stay apart, since a hole is no load of zero: a run of nothing but holes is not reduced.

use std::time::Duration;

use super::rows::{IoRow, Op, TelemetryRow};
use crate::histogram::Histogram;
use crate::units::Bytes;

/// 14 hours at 100 ms.
const MOST_INTERVALS: usize = 1 << 19;
/// Twice the points of a chart.
const MOST_LATENCIES: usize = 1 << 13;
/// Two days of three sources at 1 s.
const MOST_READINGS: usize = 1 << 19;

/// Intervals as they are read.
pub(super) struct ReducedIntervals {
    rows: Vec<IoRow>,
    most: usize,
    /// Intervals are merged up to this length; zero while all of them fit.
    width: Duration,
    /// Histograms are added up over this length; zero while all of them fit.
    latency_width: Duration,
    latencies: usize,
    /// The row of each operation that the next one may touch, and the one that has its histograms.
    last: [Option<usize>; Op::ALL.len()],
    bearer: [Option<usize>; Op::ALL.len()],
}

impl ReducedIntervals {
    pub(super) const fn new() -> Self {
        Self {
            rows: Vec::new(),
            most: MOST_INTERVALS,
            width: Duration::ZERO,
            latency_width: Duration::ZERO,
            latencies: 0,
            last: [None; Op::ALL.len()],
            bearer: [None; Op::ALL.len()],
        }
    }

    pub(super) fn push(&mut self, row: IoRow) {
        let doubled = |width: Duration| (2 * width).max(2 * row.span).max(Duration::from_nanos(2));
        if self.rows.len() >= self.most {
            self.width = doubled(self.width);
            self.fold();
            // Rows that do not touch are no fewer for it: do not try again at each of them.
            if self.rows.len() > self.most / 4 * 3 {
                self.most *= 2;
            }
        }
        if self.latencies >= MOST_LATENCIES {
            self.latency_width = doubled(self.latency_width);
            self.fold();
        }
        self.add(row);
    }

    /// The intervals, and up to which length they were merged, if they were.
    pub(super) fn finish(self) -> (Vec<IoRow>, Option<Duration>) {
        (self.rows, (!self.width.is_zero()).then_some(self.width))
    }

    /// Adds all rows anew, by the present widths.
    fn fold(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        (self.latencies, self.last, self.bearer) = (0, [None; Op::ALL.len()], [None; Op::ALL.len()]);
        rows.into_iter().for_each(|row| self.add(row));
    }

    fn add(&mut self, mut row: IoRow) {
        let op = row.op as usize;
        let slot = |width: Duration| row.t.as_ns().checked_div(width.as_nanos() as u64);
        if row.clat.count() + row.slat.count() > 0 {
            let (own, latency_width) = (slot(self.latency_width), self.latency_width.as_nanos() as u64);
            let same = |bearer: &usize| {
                own.is_some() && self.rows[*bearer].t.as_ns().checked_div(latency_width) == own
            };
            if let Some(bearer) = self.bearer[op].filter(same) {
                self.rows[bearer].clat.merge(&row.clat);
                self.rows[bearer].slat.merge(&row.slat);
                (row.clat, row.slat) = (Histogram::new(), Histogram::new());
            } else {
                self.latencies += 1;
            }
        }
        let bears = row.clat.count() + row.slat.count() > 0;
        let width = self.width.as_nanos() as u64;
        let touches = |last: &IoRow| {
            width > 0
                && last.phase == row.phase
                && last.t + last.span == row.t
                && last.t.as_ns() / width == row.t.as_ns() / width
        };
        if let Some(index) = self.last[op].filter(|index| touches(&self.rows[*index])) {
            let last = &mut self.rows[index];
            last.span += row.span;
            // A table without a checksum may hold anything.
            last.bytes = Bytes::new(last.bytes.as_u64().saturating_add(row.bytes.as_u64()));
            last.ios = last.ios.saturating_add(row.ios);
            last.errors = last.errors.saturating_add(row.errors);
            last.clat.merge(&row.clat);
            last.slat.merge(&row.slat);
            if bears {
                self.bearer[op] = Some(index);
            }
            return;
        }
        let index = self.rows.len();
        self.last[op] = Some(index);
        if bears {
            self.bearer[op] = Some(index);
        }
        self.rows.push(row);
    }
}

/// Readings as they are read.
pub(super) struct ReducedReadings {
    rows: Vec<TelemetryRow>,
    /// Every so many-th reading of a source is kept.
    stride: u64,
    /// Readings of each source so far.
    seen: Vec<(String, u64)>,
}

impl ReducedReadings {
    pub(super) const fn new() -> Self {
        Self { rows: Vec::new(), stride: 1, seen: Vec::new() }
    }

    pub(super) fn push(&mut self, row: TelemetryRow) {
        if self.rows.len() >= MOST_READINGS {
            self.stride *= 2;
            let mut kept: Vec<(String, u64)> = Vec::new();
            self.rows.retain(|row| counted(&mut kept, &row.source).is_multiple_of(2));
        }
        if counted(&mut self.seen, &row.source).is_multiple_of(self.stride) {
            self.rows.push(row);
        }
    }

    /// The readings, and which of them were kept, if not all.
    pub(super) fn finish(self) -> (Vec<TelemetryRow>, Option<u64>) {
        (self.rows, (self.stride > 1).then_some(self.stride))
    }
}

/// How many there were of that source before this one.
fn counted(sources: &mut Vec<(String, u64)>, source: &str) -> u64 {
    match sources.iter_mut().find(|(name, _)| name == source) {
        Some((_, count)) => {
            *count += 1;
            *count - 1
        }
        None => {
            sources.push((source.to_owned(), 1));
            0
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::time::Instant;

    fn row(index: u64, op: Op) -> IoRow {
        let mut clat = Histogram::new();
        clat.record_ns(1000 + index % 100);
        IoRow {
            t: Instant::from_ns(index * 1_000_000),
            span: Duration::from_millis(1),
            phase: u32::from(index >= 300_000),
            op,
            bytes: Bytes::new(index),
            ios: 1,
            errors: index % 2,
            slat: Histogram::new(),
            clat,
        }
    }

    /// Goal: what is reduced has the same data in the same phases, fewer rows, and no hole.
    #[test]
    fn long_runs_are_bounded_and_nothing_is_lost() {
        let count = MOST_INTERVALS as u64;
        let mut reduced = ReducedIntervals::new();
        for n in 0..count {
            reduced.push(row(n, Op::Read));
            reduced.push(row(n, Op::Write));
        }
        let (rows, width) = reduced.finish();
        assert!(rows.len() <= MOST_INTERVALS && width.is_some(), "{} rows", rows.len());
        for op in [Op::Read, Op::Write] {
            let mine: Vec<&IoRow> = rows.iter().filter(|row| row.op == op).collect();
            assert_eq!(mine.iter().map(|row| row.bytes.as_u64()).sum::<u64>(), count * (count - 1) / 2);
            assert_eq!(mine.iter().map(|row| row.clat.count()).sum::<u64>(), count);
            assert_eq!(mine.iter().map(|row| row.ios).sum::<u64>(), count);
            assert!(mine.windows(2).all(|pair| pair[0].t + pair[0].span == pair[1].t));
            assert!(mine.iter().any(|row| row.phase == 1 && row.t == Instant::from_ns(300_000_000_000)));
        }
        let bearers = rows.iter().filter(|row| row.clat.count() > 0).count();
        assert!(bearers <= MOST_LATENCIES, "{bearers} histograms");
    }

    #[test]
    fn short_runs_are_as_they_were_written() {
        let mut reduced = ReducedIntervals::new();
        (0..4000).for_each(|n| reduced.push(row(n, Op::Read)));
        assert_eq!(reduced.finish(), ((0..4000).map(|n| row(n, Op::Read)).collect(), None));
    }

    #[test]
    fn of_too_many_readings_every_other_one_of_each_source_stays() {
        let mut reduced = ReducedReadings::new();
        for n in 0..MOST_READINGS as u64 {
            for source in ["smart", "power"] {
                reduced.push(TelemetryRow::empty(Instant::from_ns(n), source, Duration::ZERO));
            }
        }
        let (rows, stride) = reduced.finish();
        assert!(rows.len() <= MOST_READINGS && stride == Some(4), "{} rows, {stride:?}", rows.len());
        let of_smart = || rows.iter().filter(|row| row.source == "smart");
        assert_eq!(of_smart().count(), rows.len() / 2);
        assert!(of_smart().zip(of_smart().skip(1)).all(|(a, b)| b.t.as_ns() - a.t.as_ns() == 4));
    }
}
