//! Where a throttled load ends in a pause of the host's, in a log that does not say when load was asked for.
//!
//! Such a log shows a pause as a speed of nothing, and the load after it as a speed that came back. A drive that stops by itself does so as
//! it gets hotter than it was when it was slowed down. One that was held, or cooled, had no reason to.

use super::drops::{SpeedDrop, median_speed};
use super::heat::Heat;
use crate::segment::{LEVEL_S, Piece};

/// A stop this short may be anything.
const LEAST_S: f64 = 5.0;
/// Whole kelvins, and a reading late.
const ROUNDING_K: f64 = 1.0;

/// The drops without the pauses at their ends; speed did not come back from those, as far as anybody saw.
pub(super) fn cut_off(drops: Vec<SpeedDrop>, pieces: &[Piece], heat: &Heat) -> Vec<SpeedDrop> {
    let mut ends: Vec<usize> = drops.iter().map(|drop| drop.last).collect();
    for (at, drop) in drops.iter().enumerate() {
        let outer = drop.inside.map(|outer| ends[outer]);
        let own = pause(drop, pieces, heat).map(|first| first - 1);
        ends[at] = [outer, own].into_iter().flatten().fold(drop.last, usize::min);
    }
    // A drop that is all pause is none: those that lie in it are pauses too.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(drops.len());
    let mut kept: Vec<SpeedDrop> = Vec::new();
    for (mut drop, end) in drops.into_iter().zip(ends) {
        if drop.first > end {
            places.push(None);
            continue;
        }
        if end < drop.last {
            drop.own.retain(|own| *own <= end);
            drop.recovered = false;
            drop.last = end;
            drop.level = median_speed(pieces, &drop.own);
        }
        drop.inside = drop.inside.and_then(|outer| places[outer]);
        places.push(Some(kept.len()));
        kept.push(drop);
    }
    kept
}

/// The first piece of the pause that a drop ends with.
fn pause(drop: &SpeedDrop, pieces: &[Piece], heat: &Heat) -> Option<usize> {
    // The slice in which a load goes on is in part without one.
    let edge = |at: &usize| pieces[*at].slices <= 1 && !pieces[*at].stopped;
    let end = (drop.first..=drop.last).rev().find(|at| !edge(at))?;
    let stopped = (drop.first..=end).rev().take_while(|at| pieces[*at].stopped).last()?;
    let (start_s, end_s) = (pieces[stopped].start_s, pieces[end].end_s);
    let slow_s = start_s - pieces[drop.first].start_s;
    let hottest_k =
        |from_s: f64, to_s: f64| heat.within(from_s, to_s).iter().map(|p| p.value).reduce(f64::max);
    let middle_s = (pieces[drop.first].start_s + start_s) / 2.0;
    let (early_k, late_k) = (hottest_k(pieces[drop.first].start_s, middle_s)?, hottest_k(middle_s, start_s)?);
    let lasts = slow_s >= LEVEL_S && end_s - start_s >= LEAST_S && drop.recovered;
    (lasts && !drop.stops(pieces) && late_k < early_k + ROUNDING_K).then_some(stopped)
}
