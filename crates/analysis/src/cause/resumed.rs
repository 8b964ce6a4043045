//! Drops that a pause, or another load, only interrupted.
//!
//! A load that ended slow and begins again as slow was never at full speed in between: whatever held it back held it back
//! all the time. The two are one drop, judged once, by how long both last. Unless the drive has cooled by more in between than
//! any hysteresis: then nothing that is heat lasts, and each is judged for itself.

use std::collections::BTreeMap;

use super::drops::SpeedDrop;
use super::heat::Heat;
use super::starts::LoadKey;
use crate::segment::{Piece, Stretch};
use trace::Trace;

/// Speeds this near are one: the same 4 % from which on a piece counts as slow.
const SAME: f64 = 0.04;
/// Throttling has been seen to last until a drive was so much cooler: wider than what most need, as here a speed vouches for it.
const WIDEST_K: f64 = 16.0;

/// Loads this near follow each other without a rest.
const AT_ONCE_S: f64 = 3.0;
/// Shares of full speed alike to this, as a logarithm: what throttles scales reads and writes alike, or nearly so.
const ALIKE: f64 = 0.5;

/// For each drop the earlier one that it goes on with, if it does.
pub(super) fn resumed(
    trace: &Trace,
    heat: &Heat,
    loads: &[LoadKey<'_>],
    stretches: &[Stretch],
    pieces: &[Piece],
    drops: &[SpeedDrop],
) -> Vec<Option<usize>> {
    let before = before(loads, stretches);
    // The drop that a stretch ended in.
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = vec![None; drops.len()];
    for (index, drop) in drops.iter().enumerate().filter(|(_, drop)| drop.inside.is_none()) {
        let stretch = pieces[drop.first].stretch;
        let earlier = before[stretch].and_then(|before| open.get(&before).copied());
        found[index] = earlier.filter(|earlier| goes_on(trace, heat, pieces, &drops[*earlier], drop));
        let ends = pieces.get(drop.last + 1).is_none_or(|next| next.stretch != stretch);
        if ends && !drop.recovered {
            open.insert(stretch, index);
        }
    }
    found
}

/// Of each stretch, the one before it with the same load.
fn before(loads: &[LoadKey<'_>], stretches: &[Stretch]) -> Vec<Option<usize>> {
    let mut latest: BTreeMap<&LoadKey<'_>, usize> = BTreeMap::new();
    let each = stretches.iter().enumerate();
    each.map(|(index, stretch)| latest.insert(&loads[stretch.phase], index)).collect()
}

/// Whether a load begins as slow as the same load ended before, and nothing was set or cooled down in between.
fn goes_on(trace: &Trace, heat: &Heat, pieces: &[Piece], earlier: &SpeedDrop, now: &SpeedDrop) -> bool {
    let (began, ended, begins) = (&pieces[earlier.first], &pieces[earlier.last], &pieces[now.first]);
    // The row in which a load begins is in part without one.
    let level = if begins.slices > 1 { begins.level } else { now.level };
    let same = |was: f64| (level - was).abs() <= SAME * was;
    let set = |t_s: f64| (trace.tmt_at(t_s), trace.settings_at(t_s).and_then(|s| s.power_state));
    let onsets_k = heat.peak_k(began.start_s).zip(heat.peak_k(begins.start_s));
    now.at_start
        && now.before.is_some()
        && (same(earlier.level) || same(ended.level))
        && set(ended.start_s) == set(begins.start_s)
        && onsets_k.is_none_or(|(then_k, now_k)| then_k - now_k <= WIDEST_K)
}

/// For each drop that a load begins with, the one in which a load of another operation ended just before, if it ended in one: what held
/// the one back holds back the other. They are compared by what is left of full speed.
pub(super) fn handed_on(stretches: &[Stretch], pieces: &[Piece], drops: &[SpeedDrop]) -> Vec<Option<usize>> {
    // The last drop that a stretch ended in, which lies in all others.
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    let mut found = vec![None; drops.len()];
    for (index, drop) in drops.iter().enumerate() {
        let stretch = pieces[drop.first].stretch;
        let earlier = stretch.checked_sub(1).and_then(|before| open.get(&before).copied());
        found[index] = earlier.filter(|earlier| {
            let (ended, begins) = (&pieces[drops[*earlier].last], &pieces[drop.first]);
            let left = left_in_all(drops, *earlier, ended).zip(drop.before.map(|full| drop.level / full));
            drop.at_start
                && stretches[stretch].op != stretches[stretch - 1].op
                && begins.start_s - ended.end_s <= AT_ONCE_S
                && left.is_some_and(|(then, now)| (now / then).ln().abs() <= ALIKE)
        });
        if !drop.recovered && pieces.get(drop.last + 1).is_none_or(|next| next.stretch != stretch) {
            open.insert(stretch, index);
        }
    }
    found
}

/// What a drop, and all that it lies in, left of full speed at its end.
fn left_in_all(drops: &[SpeedDrop], mut index: usize, ended: &Piece) -> Option<f64> {
    while let Some(outer) = drops[index].inside {
        index = outer;
    }
    drops[index].before.map(|full| ended.level / full)
}

/// When each drop was over, in seconds: with the last of those that go on with it.
pub(super) fn last_s(resumed: &[Option<usize>], drops: &[SpeedDrop], pieces: &[Piece]) -> Vec<f64> {
    let mut last_s: Vec<f64> = drops.iter().map(|drop| pieces[drop.last].end_s).collect();
    for (index, earlier) in resumed.iter().enumerate().rev() {
        if let Some(earlier) = *earlier {
            last_s[earlier] = last_s[index];
        }
    }
    last_s
}
