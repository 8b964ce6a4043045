//! Phases of a log that names none: read off which operation moved data when.
//!
//! Zero speed between two stretches of one operation belongs to that operation (the drive may have stopped);
//! zero speed between two operations, or for more than 90 s, is idle time, unless it recurs. The phase says that it was inferred, so that zero speed in it may
//! still be judged to be no load.

use super::{LoadTotal, Phase, SpeedSeries, Trace, load_totals};
use crate::SegmentOp;

/// An operation stands alone when the others move less than this share of the data in a slice: file systems
/// read a little while they write.
pub const MINOR_SHARE: f64 = 0.05;

/// Another operation for less than this joins its surroundings: shorter than any segment.
const SHORTEST_S: f64 = 3.0;

/// Nothing moving for longer than this is no load: drives that stop when hot were back after 15 to 60 s.
const LONGEST_STOP_S: f64 = 90.0;
/// ... unless it comes again and again for much the same time, as in a case that cools slowly.
const LONGEST_RECURRING_S: f64 = 240.0;
const RECURRING: usize = 3;
const MUCH_THE_SAME: f64 = 1.5;

/// Gives `trace` phases read off its speeds, and every interval its phase.
pub fn infer_phases(trace: &mut Trace) {
    let mut runs: Vec<(SegmentOp, f64, f64)> = Vec::new();
    for (op, start_s, end_s) in settle(&trace.speeds) {
        match runs.last_mut() {
            Some(last) if last.0 == op => last.2 = end_s,
            _ => runs.push((op, start_s, end_s)),
        }
    }
    trace.phases = runs.into_iter().map(|(op, start_s, end_s)| inferred(op, start_s, end_s)).collect();
    let starts: Vec<f64> = trace.phases.iter().map(|phase| phase.start_s).collect();
    for interval in trace.speeds.iter_mut().flat_map(|series| &mut series.intervals) {
        let after = starts.partition_point(|start| *start <= interval.start_s + 1e-9);
        interval.phase = after.saturating_sub(1) as u32;
    }
}

fn inferred(op: SegmentOp, start_s: f64, end_s: f64) -> Phase {
    let name = match op {
        SegmentOp::Read => "read",
        SegmentOp::Write => "write",
        SegmentOp::Mixed => "mixed",
        SegmentOp::Trim => "trim",
        SegmentOp::Idle => "idle",
    };
    Phase { inferred: true, ..Phase::bare(name, op, start_s, end_s) }
}

/// What moved the data of a slice; `None` where nothing did.
fn dominant(slice: &LoadTotal<'_>) -> Option<SegmentOp> {
    let (op, bytes) = slice.most;
    let alone = bytes >= (1.0 - MINOR_SHARE) * slice.bytes;
    (slice.bytes > 0.0).then_some(if alone { op } else { SegmentOp::Mixed })
}

/// Fills slices without load from their surroundings and drops changes that are too short to be meant.
fn settle(speeds: &[SpeedSeries]) -> Vec<(SegmentOp, f64, f64)> {
    let mut runs: Vec<(Option<SegmentOp>, f64, f64)> = Vec::new();
    for slice in load_totals(speeds) {
        let (op, start_s, end_s) = (dominant(&slice), slice.first.start_s, slice.first.end_s());
        match runs.last_mut() {
            Some(last) if last.0 == op => last.2 = end_s,
            _ => runs.push((op, start_s, end_s)),
        }
    }
    let longest_stop_s = longest_stop_s(&runs);
    let loaded: Vec<usize> = (0..runs.len()).filter(|i| runs[*i].0.is_some()).collect();
    let long = |i: &usize| runs[*i].2 - runs[*i].1 >= SHORTEST_S;
    let kept: Vec<usize> =
        if loaded.iter().any(long) { loaded.iter().copied().filter(long).collect() } else { loaded };
    (0..runs.len())
        .map(|i| {
            let (op, start_s, end_s) = runs[i];
            let nth = |k: usize| kept.get(k).and_then(|k| runs[*k].0);
            let before = kept.partition_point(|k| *k <= i).checked_sub(1).and_then(nth);
            let after = nth(kept.partition_point(|k| *k < i));
            let op = match (op, before, after) {
                (Some(op), ..) if kept.binary_search(&i).is_ok() => op,
                (None, ..) if end_s - start_s > longest_stop_s => SegmentOp::Idle,
                // The end of a log may be a stop as well: the operation before keeps it.
                (_, Some(before), after) if after.is_none_or(|after| after == before) => before,
                (Some(_), Some(before), _) => before,
                (Some(_), None, Some(after)) => after,
                _ => SegmentOp::Idle,
            };
            (op, start_s, end_s)
        })
        .collect()
}

/// How long nothing may move before it is no stop of the drive, in seconds.
fn longest_stop_s(runs: &[(Option<SegmentOp>, f64, f64)]) -> f64 {
    let inner = runs.get(1..runs.len().saturating_sub(1)).unwrap_or_default();
    let spans_s = inner.iter().filter(|run| run.0.is_none()).map(|run| run.2 - run.1);
    let long = spans_s.filter(|span_s| (LONGEST_STOP_S..=LONGEST_RECURRING_S).contains(span_s));
    let (count, least_s, most_s) = long
        .fold((0, f64::INFINITY, 0.0f64), |(n, least_s, most_s), s| (n + 1, least_s.min(s), most_s.max(s)));
    let recurs = count >= RECURRING && most_s <= MUCH_THE_SAME * least_s;
    if recurs { LONGEST_RECURRING_S } else { LONGEST_STOP_S }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Interval;

    fn series(op: SegmentOp, speeds: &[f64]) -> SpeedSeries {
        let interval =
            |(i, bytes): (usize, &f64)| Interval { start_s: i as f64, span_s: 1.0, bytes: *bytes, phase: 0 };
        SpeedSeries { op, intervals: speeds.iter().enumerate().map(interval).collect() }
    }

    fn ops(write: &[f64], read: &[f64]) -> Vec<(SegmentOp, f64, f64)> {
        let mut trace = Trace::empty("test");
        trace.speeds = vec![series(SegmentOp::Write, write), series(SegmentOp::Read, read)];
        infer_phases(&mut trace);
        trace.phases.iter().map(|p| (p.op, p.start_s, p.end_s)).collect()
    }

    #[test]
    fn a_stop_stays_in_its_operation_and_a_pause_between_two_is_idle() {
        use SegmentOp::{Idle, Read, Write};
        let write = [9., 9., 9., 9., 0., 0., 0., 0., 9., 9., 9., 9., 0., 0., 0., 0., 0., 0.];
        let read = [0., 0., 0.1, 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 5., 5., 5., 5.];
        let found = ops(&write, &read);
        assert_eq!(found, [(Write, 0., 12.), (Idle, 12., 14.), (Read, 14., 18.)]);
    }

    #[test]
    fn one_slice_of_something_else_changes_nothing() {
        let found = ops(&[9., 9., 9., 9., 0., 9., 9., 9., 9.], &[0., 0., 0., 0., 7., 0., 0., 0., 0.]);
        assert_eq!(found, [(SegmentOp::Write, 0., 9.)]);
    }
}
