//! Stretches of load: one phase, one operation, no gap in between.
//!
//! Operations that run at once are one load: their data add up, and trims, which move none, are left out beside others. What differs from phase to phase or
//! lies on the other side of a gap is never compared as if it were one series.

use std::borrow::Cow;

use crate::findings::SegmentOp;
use trace::{Interval, SpeedSeries, Trace};

/// A hole longer than this ends a stretch; shorter ones are bridged, because a level does not change its
/// meaning over a few lost intervals.
const LONGEST_BRIDGED_S: f64 = 10.0;
/// ... and a hole is only one when it is longer than this many usual intervals.
const BRIDGED_INTERVALS: f64 = 3.0;

/// Load of one phase without a gap in it.
#[derive(Clone, Debug)]
pub(crate) struct Stretch {
    /// Index into the trace's phases.
    pub phase: usize,
    /// The operation.
    pub op: SegmentOp,
    /// Its slices, in order of time.
    pub samples: Vec<Sample>,
}

/// Load of all operations together in one slice of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Start in seconds.
    pub start_s: f64,
    /// Length in seconds.
    pub span_s: f64,
    /// Data moved.
    pub bytes: f64,
}

impl Sample {
    /// Where it ends, in seconds.
    pub(crate) fn end_s(&self) -> f64 {
        self.start_s + self.span_s
    }

    /// Mean speed over it.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.bytes / self.span_s
    }
}

impl Stretch {
    /// Where its load begins, in seconds.
    pub(crate) fn start_s(&self) -> f64 {
        self.samples.first().map_or(0.0, |s| s.start_s)
    }

    /// Where its load ends, in seconds.
    pub(crate) fn end_s(&self) -> f64 {
        self.samples.last().map_or(0.0, Sample::end_s)
    }
}

/// The stretches of a trace, in order of time.
pub(crate) fn stretches(trace: &Trace) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let usual_s = usual_span_s(&trace.speeds);
    let speeds = without_trims_beside(trace);
    let longest_hole_s = (BRIDGED_INTERVALS * usual_s).max(LONGEST_BRIDGED_S);
    for (sample, phase) in Merged::new(&speeds) {
        let phase = phase as usize;
        let Some(op) = trace.phases.get(phase).map(|phase| phase.op) else { continue };
        match stretches.last_mut() {
            Some(last) if last.phase == phase && sample.start_s - last.end_s() <= longest_hole_s => {
                last.samples.push(sample);
            }
            _ => stretches.push(Stretch { phase, op, samples: vec![sample] }),
        }
    }
    // A month at 1 Hz is one stretch of 60 MB, and what it had ready to grow on as much again.
    stretches.iter_mut().for_each(|stretch| stretch.samples.shrink_to_fit());
    stretches
}

/// The speeds, with trims only where nothing else was done: what is deallocated beside reads and writes is no data
/// that moved, and a hundred times as much.
fn without_trims_beside(trace: &Trace) -> Cow<'_, [SpeedSeries]> {
    let alone = |i: &Interval| trace.phases.get(i.phase as usize).is_none_or(|p| p.op == SegmentOp::Trim);
    let beside = |series: &SpeedSeries| series.op == SegmentOp::Trim && !series.intervals.iter().all(alone);
    if !trace.speeds.iter().any(beside) {
        return Cow::Borrowed(&trace.speeds);
    }
    let mut speeds = trace.speeds.clone();
    for series in speeds.iter_mut().filter(|series| series.op == SegmentOp::Trim) {
        series.intervals.retain(alone);
    }
    Cow::Owned(speeds)
}

/// The median length of an interval, in seconds; 1 s without any.
pub(crate) fn usual_span_s(speeds: &[SpeedSeries]) -> f64 {
    let mut spans: Vec<f64> = speeds.iter().flat_map(|s| s.intervals.iter().map(|i| i.span_s)).collect();
    if spans.is_empty() {
        return 1.0;
    }
    let middle = spans.len() / 2;
    *spans.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// All operations' intervals, those that start together added up.
struct Merged<'a> {
    rest: Vec<&'a [Interval]>,
}

impl<'a> Merged<'a> {
    fn new(speeds: &'a [SpeedSeries]) -> Self {
        Self { rest: speeds.iter().map(|series| &series.intervals[..]).collect() }
    }
}

impl Iterator for Merged<'_> {
    type Item = (Sample, u32);

    fn next(&mut self) -> Option<Self::Item> {
        // Intervals of one clock start at the same nanosecond; a microsecond forgives rounding to f64.
        const TOGETHER_S: f64 = 1e-6;
        let first =
            self.rest.iter().filter_map(|r| r.first()).min_by(|a, b| a.start_s.total_cmp(&b.start_s))?;
        let (start_s, span_s, phase) = (first.start_s, first.span_s, first.phase);
        let mut bytes = 0.0;
        for rest in &mut self.rest {
            while let Some((head, tail)) = rest.split_first()
                && head.start_s <= start_s + TOGETHER_S
            {
                bytes += head.bytes;
                *rest = tail;
            }
        }
        Some((Sample { start_s, span_s, bytes }, phase))
    }
}
