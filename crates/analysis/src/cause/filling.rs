//! A cache is full once until it has been emptied: of two falls of writing, one within the other, at most one is its end.

use super::Judged;
use super::evidence::Suspect::Slc;
use crate::observation::Observation;

/// A cache that is sure to have ended at the one fall is held against the other by no more than this.
const MOST: f64 = 3.0;
/// Less than this is not worth a word.
const LEAST: f64 = 0.2;

/// Weighs, of each fall, that the one around it or within it may be the end of the cache.
pub(super) fn weigh(judged: &mut [Judged]) {
    let mut against = vec![(0.0, 0.0); judged.len()];
    for (index, inner) in judged.iter().enumerate() {
        let Some(outer) = inner.drop.inside.filter(|_| !inner.drop.recovered) else { continue };
        let pairs = [(index, &judged[outer]), (outer, inner)];
        for (of, other) in pairs {
            against[of] = (against[of].0 + (1.0 - other.evidence.odds().p[Slc as usize]).ln(), other.start_s);
        }
    }
    for (judged, (weight, other_s)) in judged.iter_mut().zip(against) {
        let weight = f64::max(weight, -MOST);
        if weight <= -LEAST && judged.evidence.odds().p[Slc as usize] > 0.0 {
            judged.evidence.weigh(Observation::OtherCacheEnd { other_s }, &[(Slc, weight)]);
            judged.verdict = judged.evidence.verdict();
        }
    }
}
