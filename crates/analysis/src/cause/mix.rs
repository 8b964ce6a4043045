//! Reading and writing side by side: a drive that is slowed down does less of both, and a host that does something else does more of one.

use super::case::Case;
use super::likelihood::part_way;
use crate::findings::SegmentOp;
use trace::Interval;

/// Rows that are looked at on either side.
const ROWS: f64 = 40.0;
const LEAST_ROWS: usize = 3;
/// By so much one of the two rises, as a logarithm, at least and when it says all that it can.
const ROSE: [f64; 2] = [0.15, 0.45];
/// ... by so many standard errors, and by so much of what the other one lost.
const ERRORS: f64 = 3.0;
const OF_LOSS: f64 = 0.05;
/// What that weighs for heat: a drive that slows down only one of the two leaves room for the other.
pub(super) const ONE_ROSE: f64 = -3.0;

/// One of the two rose as speed fell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rose {
    pub(crate) op: SegmentOp,
    /// Means before and after, in bytes per second.
    pub(crate) from_bytes_per_s: f64,
    pub(crate) to_bytes_per_s: f64,
    /// How surely that is another load, 0 to 1.
    pub(crate) surely: f64,
}

/// Whether reading or writing rose as both together fell.
pub(super) fn rose(case: &Case) -> Option<Rose> {
    if case.op != SegmentOp::Mixed || case.drop.at_start {
        return None;
    }
    let rows_s = ROWS * case.heat.slice_s;
    let (start_s, slice_s) = (case.start_s(), case.heat.slice_s);
    let before_s = case.pieces[case.drop.first - 1].start_s.max(start_s - rows_s);
    let after_s = case.end_s().min(start_s + rows_s);
    // The rows at its ends hold both loads.
    let sides = [(before_s, start_s - 0.5 * slice_s), (start_s + 0.5 * slice_s, after_s - 0.5 * slice_s)];
    let of = |op: SegmentOp| {
        let [before, after] = sides.map(|side| mean(rows(case, op, side)));
        Some((op, before?, after?))
    };
    let (read, write) = (of(SegmentOp::Read)?, of(SegmentOp::Write)?);
    let rose = |(op, before, after): (SegmentOp, Mean, Mean), other: (SegmentOp, Mean, Mean)| {
        let rise = after.mean - before.mean;
        let sure = rise >= ERRORS * before.error.hypot(after.error);
        let lost = other.1.mean - other.2.mean;
        let surely = part_way((after.mean / before.mean.max(1.0)).ln(), ROSE);
        (sure && rise >= OF_LOSS * lost && surely > 0.0).then_some(Rose {
            op,
            from_bytes_per_s: before.mean,
            to_bytes_per_s: after.mean,
            surely,
        })
    };
    rose(read, write).or_else(|| rose(write, read))
}

/// Share of what a mixed load moved just before a drop, or in one that it began with, that was written; `None` of any other load.
pub(super) fn written_share(case: &Case) -> Option<f64> {
    if case.op != SegmentOp::Mixed {
        return None;
    }
    let (rows_s, start_s) = (ROWS * case.heat.slice_s, case.start_s());
    let side = match case.drop.first.checked_sub(1).filter(|_| !case.drop.at_start) {
        Some(before) => (case.pieces[before].start_s.max(start_s - rows_s), start_s),
        None => (start_s, case.end_s().min(start_s + rows_s)),
    };
    let moved = |op: SegmentOp| rows(case, op, side).iter().map(|row| row.bytes).sum::<f64>();
    let (read, written) = (moved(SegmentOp::Read), moved(SegmentOp::Write));
    (read + written > 0.0).then(|| written / (read + written))
}

#[derive(Clone, Copy)]
struct Mean {
    mean: f64,
    error: f64,
}

/// The mean of rows, and its standard error.
fn mean(rows: &[Interval]) -> Option<Mean> {
    if rows.len() < LEAST_ROWS {
        return None;
    }
    let count = rows.len() as f64;
    let mean = rows.iter().map(|row| row.bytes_per_s()).sum::<f64>() / count;
    let variance = rows.iter().map(|row| (row.bytes_per_s() - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Some(Mean { mean, error: (variance / count).sqrt() })
}

/// The rows of an operation that begin in a time.
fn rows<'a>(case: &'a Case, op: SegmentOp, (from_s, to_s): (f64, f64)) -> &'a [Interval] {
    let series = case.trace.speeds.iter().find(|series| series.op == op);
    let intervals = series.map_or(&[][..], |series| &series.intervals);
    let place = |t_s: f64| intervals.partition_point(|row| row.start_s < t_s);
    let rows = intervals.get(place(from_s)..place(to_s)).unwrap_or_default();
    crate::work::count(rows.len());
    rows
}
