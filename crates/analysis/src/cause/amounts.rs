//! How much had been written when writing fell: a cache of one size is full after the same amount each time, and a job of one size over.

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
/// Less than this is no cache.
pub(super) const LEAST_BYTES: f64 = 1e9;

#[derive(Clone, Copy, Debug)]
struct Amount {
    bytes: f64,
    /// What is written in a row at the speed before the drop: an amount is known to that.
    row_bytes: f64,
    /// How often the cache had been emptied.
    filling: usize,
    onset_k: f64,
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
    written_until: impl Fn(f64) -> (usize, f64),
) -> Vec<Option<AmountBefore>> {
    let amount = |(index, drop): (usize, &SpeedDrop)| {
        let first = &pieces[drop.first];
        let writes = stretches[first.stretch].op == SegmentOp::Write;
        let onset_k =
            heat.peak_k(first.start_s).filter(|_| writes && !drop.at_start && drop.inside.is_none())?;
        let (filling, bytes) = written_until(first.start_s);
        let row_bytes = drop.before.unwrap_or(0.0) * heat.slice_s;
        (bytes >= LEAST_BYTES).then_some(Amount { bytes, row_bytes, filling, onset_k, drop: index })
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
        found[one.drop] = if others + 1 >= SEVERAL && *spread {
            Some(AmountBefore::Differs { drops: others })
        } else if nearest.off(one) <= SAME * one.bytes {
            // What came soon after it in one filling is as near.
            let again = nearest.filling != one.filling && apart_k >= OTHER_THRESHOLD_K;
            again.then_some(AmountBefore::Same { apart_k })
        } else {
            let differs = nearest.off(one) > one.row_bytes.hypot(DIFFERS * one.bytes) && others > 0;
            differs.then_some(AmountBefore::Differs { drops: others })
        };
    }
    found
}

/// Whether these amounts are of all sizes.
fn is_spread<'a>(cells: impl Iterator<Item = (&'a i64, &'a Vec<Amount>)>) -> bool {
    let mut amounts: Vec<Amount> = cells.flat_map(|(_, amounts)| amounts).copied().collect();
    amounts.sort_unstable_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let at = |share: usize| amounts[(amounts.len() - 1) * share / 4];
    at(3).bytes - at(1).bytes >= at(1).row_bytes.hypot((SPREAD - 1.0) * at(1).bytes)
}
