//! Loads that ask for anything from a little to a lot: of a desktop, of jobs that come and go.
//!
//! A throttle takes a load down from one speed, each time. Where the speeds from which drops fall are worlds apart, it is the
//! host that asks for more and for less, and each of its lulls looks like a drop.

use std::collections::BTreeMap;

use super::Judged;
use super::evidence::Suspect::Other;
use crate::observation::Observation;
use crate::segment::{Piece, Stretch};

/// So many drops show whether they fall from one speed.
const LEAST: usize = 5;
/// The upper quarter of these speeds over the lower one: mixed and wobbling loads stay below the first; from the second on it
/// weighs in full, odds of 55.
const UNEVEN: f64 = 1.8;
const VERY_UNEVEN: f64 = 4.0;
const MOST: f64 = 4.0;

/// Weighs that the drops of an operation begin at speeds that have nothing in common.
pub(super) fn weigh(judged: &mut [Judged], stretches: &[Stretch], pieces: &[Piece]) {
    let mut by_op: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (index, judged) in judged.iter().enumerate() {
        if judged.drop.inside.is_none() && !judged.drop.at_start {
            by_op.entry(stretches[pieces[judged.drop.first].stretch].op as u8).or_default().push(index);
        }
    }
    for drops in by_op.values().filter(|drops| drops.len() >= LEAST) {
        let mut from: Vec<f64> = drops.iter().filter_map(|index| judged[*index].drop.before).collect();
        from.sort_unstable_by(f64::total_cmp);
        let quarter = |share: f64| from.get((from.len() as f64 * share) as usize).copied().unwrap_or(0.0);
        let (low, high) = (quarter(0.25), quarter(0.75));
        let share = (high / low.max(1.0)).ln() - UNEVEN.ln();
        let weight = MOST * (share / (VERY_UNEVEN / UNEVEN).ln()).clamp(0.0, 1.0);
        if weight > 0.0 {
            let seen = Observation::FellFromAnything {
                drops: from.len(),
                low_bytes_per_s: low,
                high_bytes_per_s: high,
            };
            for index in drops {
                judged[*index].evidence.weigh(seen.clone(), &[(Other, weight)]);
            }
        }
    }
}
