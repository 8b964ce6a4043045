//! Whether speed was sinking already while the drive was cooler: what a drive fills up, or a position on its medium, takes comes from the
//! load's first second on; a threshold takes nothing below it.

use super::case::Case;
use super::likelihood::ONE_THRESHOLD_K;
use crate::line::Line;
use trace::Interval;

/// The time at full speed before a drop, in so many parts; only the first of them count, as the last may lie within the fall.
const PARTS: usize = 24;
const EARLY: usize = 14;
/// A line through the parts falls from this many standard errors on ...
const CLEAR: f64 = 3.0;
/// ... and by at least this share of the pace at which speed fell later: sinking may grow faster.
const LEAST_PACE: f64 = 0.05;
/// A load is at full speed as long as it is no slower than this share of what it falls from.
const AT_FULL: f64 = 0.9;
/// In less time than this a regulator may have begun before it shows.
const LEAST_S: f64 = 30.0;
/// Speeds of one load are hardly known to less.
const LEAST_LOST: f64 = 0.004;

/// Sinking before a drop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Already {
    /// Share of the speed that was gone before it was as hot.
    pub(super) lost: f64,
    /// How warm the drive was when it began, in kelvins.
    pub(super) from_k: f64,
}

/// Looks at the load before a drop that fell to `late_bytes_per_s` little by little, from `before_bytes_per_s`.
pub(super) fn sank(
    case: &Case,
    onset_k: f64,
    (before_bytes_per_s, late_bytes_per_s): (f64, f64),
) -> Option<Already> {
    let series = case.trace.speeds.iter().find(|series| series.op == case.op)?;
    let first = &case.pieces[case.drop.first];
    let from_s = case.pieces[..case.drop.first]
        .iter()
        .rev()
        .take_while(|piece| piece.stretch == first.stretch && piece.level >= AT_FULL * before_bytes_per_s)
        .map(|piece| piece.start_s)
        .last()?;
    let at = |t_s: f64| series.intervals.partition_point(|interval| interval.start_s < t_s - 1e-6);
    // The first row may hold a little of what was before.
    let slices = series.intervals.get(at(from_s) + 1..at(first.start_s))?;
    crate::work::count(slices.len());
    let size = slices.len() / PARTS;
    if size == 0 {
        return None;
    }
    let parts: Vec<f64> = slices.chunks(size).take(EARLY).map(median_log).collect();
    let until_s = slices[EARLY * size - 1].end_s();
    let places: Vec<f64> = (0..parts.len()).map(|part| part as f64).collect();
    let line = Line::through(&places, &parts);
    let (fall, error) = (-line.slope, line.slope_error(&places, &parts));
    let lost = fall * (EARLY - 1) as f64;
    let later = (before_bytes_per_s / late_bytes_per_s).ln() / case.span_s();
    let pace = lost / (until_s - from_s);
    let from_k = case.heat.within(from_s, until_s).first()?.value;
    let clear = fall >= CLEAR * error && lost >= LEAST_LOST && pace >= LEAST_PACE * later;
    let readings = case.heat.within(from_s, until_s).iter().map(|point| point.value);
    let cooler = until_s - from_s >= LEAST_S && readings.fold(0.0, f64::max) <= onset_k - ONE_THRESHOLD_K;
    (clear && cooler).then_some(Already { lost: 1.0 - (-lost).exp(), from_k })
}

fn median_log(slices: &[Interval]) -> f64 {
    let logs: Vec<f64> = slices.iter().map(|slice| slice.bytes_per_s().max(1.0).ln()).collect();
    crate::segment::median(&logs)
}
