//! Stretches of load: one phase, one operation, no gap in between.
//!
//! Operations that run at once are one load: their data add up, and trims, which move none, are left out beside others. What differs from phase to phase or
//! lies on the other side of a gap is never compared as if it were one series.

use std::borrow::Cow;

use crate::findings::SegmentOp;
use trace::{Interval, LoadTotal, Phase, SpeedSeries, Trace, load_totals};

/// A hole longer than this ends a stretch; shorter ones are bridged, because a level does not change its
/// meaning over a few lost intervals.
const LONGEST_BRIDGED_S: f64 = 10.0;
/// ... and a hole is only one when it is longer than this many usual intervals.
const BRIDGED_INTERVALS: f64 = 3.0;

/// Load of one phase without a gap in it.
#[derive(Clone, Debug)]
pub(crate) struct Stretch<'a> {
    /// Index into the trace's phases.
    pub phase: usize,
    /// The operation.
    pub op: SegmentOp,
    /// Up to which rate data move by themselves, in bytes per second; 0 where it is known what was asked for.
    pub trickle_bytes_per_s: f64,
    /// All operations together, slice by slice in order of time. Of one that ran alone they are the trace's own: a month is
    /// one stretch of 80 MB.
    pub samples: Cow<'a, [Interval]>,
}

impl<'a> Stretch<'a> {
    /// Adds a slice: one more of `own` where it follows on the last one there, else a copy.
    fn push(&mut self, own: Option<&'a [SpeedSeries]>, total: &LoadTotal<'_>) {
        let place = own.zip(total.alone).map(|(own, (series, at))| (&own[series].intervals, at));
        if let (Cow::Borrowed(samples), Some((all, at))) = (&mut self.samples, place) {
            let so_far = at.checked_sub(samples.len()).map(|first| &all[first..at]);
            if so_far.is_some_and(|so_far| samples.is_empty() || std::ptr::eq(so_far, *samples)) {
                *samples = &all[at - samples.len()..=at];
                return;
            }
        }
        self.samples.to_mut().push(total.interval());
    }

    /// The speeds of the slices that begin from one moment to another, in bytes per second.
    pub(crate) fn speeds(&self, from_s: f64, to_s: f64) -> Vec<f64> {
        let place = |t_s: f64| self.samples.partition_point(|sample| sample.start_s < t_s);
        self.samples[place(from_s)..place(to_s)].iter().map(Interval::bytes_per_s).collect()
    }

    /// Where its load begins, in seconds.
    pub(crate) fn start_s(&self) -> f64 {
        self.samples.first().map_or(0.0, |s| s.start_s)
    }

    /// Where its load ends, in seconds.
    pub(crate) fn end_s(&self) -> f64 {
        self.samples.last().map_or(0.0, Interval::end_s)
    }
}

/// The stretches of a trace, in order of time.
pub(crate) fn stretches(trace: &Trace) -> Vec<Stretch<'_>> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let usual_s = usual_span_s(&trace.speeds);
    let speeds = without_trims_beside(trace);
    let own = matches!(speeds, Cow::Borrowed(_)).then_some(&trace.speeds[..]);
    let trickle_bytes_per_s = trace.trickle_bytes_per_s();
    let longest_hole_s = (BRIDGED_INTERVALS * usual_s).max(LONGEST_BRIDGED_S);
    for total in load_totals(&speeds) {
        let phase = total.first.phase as usize;
        let Some(Phase { op, inferred, .. }) = trace.phases.get(phase) else { continue };
        let goes_on = stretches
            .last()
            .is_some_and(|last| last.phase == phase && total.first.start_s - last.end_s() <= longest_hole_s);
        if !goes_on {
            let trickle_bytes_per_s = if *inferred { trickle_bytes_per_s } else { 0.0 };
            stretches.push(Stretch { phase, op: *op, trickle_bytes_per_s, samples: Cow::Borrowed(&[]) });
        }
        stretches.last_mut().expect("one was just begun").push(own, &total);
    }
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

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: one series is not copied, and no slice is lost where two meet. Method: reads alone, then beside writes, then alone.
    #[test]
    fn one_series_is_borrowed_and_two_are_added_up() {
        let at = |s: usize, bytes: f64, phase: u32| Interval { start_s: s as f64, span_s: 1.0, bytes, phase };
        let mut trace = Trace::empty("both");
        let reads = (0..90).map(|s| at(s, 2.0, (s / 30) as u32)).collect();
        let writes = (40..50).map(|s| at(s, 1.0, 1)).collect();
        trace.speeds = vec![
            SpeedSeries { op: SegmentOp::Read, intervals: reads },
            SpeedSeries { op: SegmentOp::Write, intervals: writes },
        ];
        let phase = |n: usize| Phase::bare("load", SegmentOp::Read, 30.0 * n as f64, 30.0 * (n + 1) as f64);
        trace.phases = (0..3).map(phase).collect();
        let found = stretches(&trace);
        let borrowed: Vec<bool> = found.iter().map(|s| matches!(s.samples, Cow::Borrowed(_))).collect();
        assert_eq!(borrowed, [true, false, true]);
        let all: Vec<Interval> = found.iter().flat_map(|stretch| stretch.samples.iter().copied()).collect();
        let wanted = |s: usize| at(s, if (40..50).contains(&s) { 3.0 } else { 2.0 }, (s / 30) as u32);
        assert_eq!(all, (0..90).map(wanted).collect::<Vec<_>>());
    }
}
