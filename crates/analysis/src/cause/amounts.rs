//! How much had been written when writing fell: a cache of one size is full after the same amount each time, and a job of one size over. What
//! rests empty in part is full again after as much as the rest made room for.

use std::collections::BTreeMap;

use super::case::OTHER_THRESHOLD_K;
use super::drops::SpeedDrop;
use super::heat::Heat;
use super::likelihood::cell;
use crate::findings::SegmentOp;
use crate::segment::{Piece, Stretch};

/// Two amounts within this share are one, and further apart than this they are two.
const SAME: f64 = 0.02;
const DIFFERS: f64 = 0.04;
/// Of so many and more at one temperature, amounts of which the upper quarter is this many times the lower one are no cache's, wherever
/// two of them are as near as chance has it.
const SEVERAL: usize = 4;
const SPREAD: f64 = 1.12;
/// Temperatures within so many steps of the sensor may be one.
const OTHER_STEPS: f64 = 1.5;
/// Less than this is no cache.
pub(super) const LEAST_BYTES: f64 = 1e9;

/// So many of those that are nearest by their amount, fewer and more, are looked at.
const BESIDE: usize = 8;

/// What was written before a drop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenBefore {
    /// Since the cache was last empty, as far as the run shows, in bytes.
    pub bytes: f64,
    /// Which filling of the cache it was.
    pub filling: usize,
    /// Since a rest that may have emptied a part of a full cache, in bytes.
    pub since_rest: Option<f64>,
}

impl WrittenBefore {
    /// What had filled the cache, in bytes.
    pub(super) fn filled_bytes(&self) -> f64 {
        self.since_rest.unwrap_or(self.bytes)
    }

    /// Whether both came in one filling: what a rest had emptied in part is another one each time.
    fn is_one_filling(&self, other: &Self) -> bool {
        self.since_rest.or(other.since_rest).is_none() && self.filling == other.filling
    }
}

#[derive(Clone, Copy, Debug)]
struct Amount {
    bytes: f64,
    written: WrittenBefore,
    /// What is written in a row at the speed before the drop: an amount is known to that.
    row_bytes: f64,
    onset_k: f64,
    /// How much hotter than read it may have been.
    climb_k: f64,
    drop: usize,
}

impl Amount {
    fn off(&self, other: &Self) -> f64 {
        (self.bytes - other.bytes).abs()
    }
}

/// How the amount before a drop goes with those before others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AmountBefore {
    /// Another drop came after as much, at a temperature so many kelvins away.
    Same { apart_k: f64 },
    /// Others began at the same temperature, and none after as much.
    Differs { drops: usize },
}

/// Of each drop; `None` where neither says anything.
pub(super) fn before(
    drops: &[SpeedDrop],
    stretches: &[Stretch],
    pieces: &[Piece],
    heat: &Heat,
    written: &[WrittenBefore],
) -> Vec<Option<AmountBefore>> {
    let amount = |(index, drop): (usize, &SpeedDrop)| {
        let first = &pieces[drop.first];
        let writes = stretches[first.stretch].op == SegmentOp::Write;
        let onset_k =
            heat.peak_k(first.start_s).filter(|_| writes && !drop.at_start && drop.inside.is_none())?;
        let written = written[index];
        let bytes = written.filled_bytes();
        let row_bytes = drop.before.unwrap_or(0.0) * heat.slice_s;
        (bytes >= LEAST_BYTES).then(|| {
            let climb_k = heat.climb_k(first.start_s);
            Amount { bytes, written, row_bytes, onset_k, climb_k, drop: index }
        })
    };
    let mut all: Vec<Amount> = drops.iter().enumerate().filter_map(amount).collect();
    all.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    // In each cell of temperature the amounts, in rising order.
    let mut began: BTreeMap<i64, Vec<Amount>> = BTreeMap::new();
    all.iter().for_each(|one| began.entry(cell(one.onset_k)).or_default().push(*one));
    let mut spread: BTreeMap<i64, bool> = BTreeMap::new();
    let mut found = vec![None; drops.len()];
    for (at, one) in all.iter().enumerate() {
        let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| all.get(at));
        let Some(nearest) = beside.min_by(|a, b| a.off(one).total_cmp(&b.off(one))) else { continue };
        let apart_k = (nearest.onset_k - one.onset_k).abs();
        let there = cell(one.onset_k - OTHER_THRESHOLD_K)..=cell(one.onset_k + OTHER_THRESHOLD_K);
        let others = began.range(there.clone()).map(|(_, amounts)| amounts.len()).sum::<usize>() - 1;
        let spread = spread.entry(cell(one.onset_k)).or_insert_with(|| is_spread(began.range(there)));
        let again = again_elsewhere(&all, at, heat.step_k);
        found[one.drop] = if again.is_some() {
            again
        } else if others + 1 >= SEVERAL && *spread {
            Some(AmountBefore::Differs { drops: others })
        } else if nearest.off(one) <= SAME * one.bytes {
            // What came soon after it in one filling is as near.
            let again = !nearest.written.is_one_filling(&one.written) && apart_k >= OTHER_THRESHOLD_K;
            again.then_some(AmountBefore::Same { apart_k })
        } else {
            let differs = nearest.off(one) > one.row_bytes.hypot(DIFFERS * one.bytes) && others > 0;
            differs.then_some(AmountBefore::Differs { drops: others })
        };
    }
    found
}

/// Of the amounts after rests that are as large as one of them, in rising order, the one that came furthest from its temperature; `None` of
/// one that no rest came before.
fn again_elsewhere(all: &[Amount], at: usize, step_k: f64) -> Option<AmountBefore> {
    let one = &all[at];
    one.written.since_rest?;
    let beside = &all[at.saturating_sub(BESIDE)..(at + BESIDE + 1).min(all.len())];
    let same = beside
        .iter()
        .filter(|other| other.written.since_rest.is_some() && other.off(one) <= SAME * one.bytes);
    let one_k = OTHER_THRESHOLD_K.max(OTHER_STEPS * step_k) + one.climb_k;
    let apart_k = |other: &Amount| (other.onset_k - one.onset_k).abs();
    let elsewhere = same.filter(|other| apart_k(other) >= one_k + other.climb_k);
    let apart_k = elsewhere.map(apart_k).reduce(f64::max)?;
    Some(AmountBefore::Same { apart_k })
}

/// Whether these amounts are of all sizes.
fn is_spread<'a>(cells: impl Iterator<Item = (&'a i64, &'a Vec<Amount>)>) -> bool {
    let mut amounts: Vec<Amount> = cells.flat_map(|(_, amounts)| amounts).copied().collect();
    amounts.sort_unstable_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let at = |share: usize| amounts[(amounts.len() - 1) * share / 4];
    at(3).bytes - at(1).bytes >= at(1).row_bytes.hypot((SPREAD - 1.0) * at(1).bytes)
}
