//! Which of the drops that one is held against are events, and which are falls within longer ones.
//!
//! They are all one to what they weigh. A reader counts the events, and would miss the others.

use std::collections::BTreeMap;

use super::Judged;
use super::left::Level;
use super::likelihood::cell;
use super::shape::ByShape;
use crate::observation::Observation;

/// Splits the numbers of others in what was observed of events into events and falls within longer ones.
pub(crate) fn split(judged: &mut [Judged], is_event: impl Fn(usize) -> bool) {
    let all: Vec<usize> = (0..judged.len()).filter(|index| is_event(*index)).collect();
    let events = Events::new(all.iter().map(|index| &judged[*index]));
    for index in all {
        let judged = &mut judged[index];
        let [began, look, left] = events.others_like(judged);
        for seen in judged.evidence.observed_mut() {
            let (most, drops, within) = match seen {
                Observation::BeganAlike { drops, within, .. } => (began, drops, within),
                Observation::LooksAlike { drops, within, .. } => (look, drops, within),
                Observation::SameSpeedLeft { drops, within, .. } => (left, drops, within),
                _ => continue,
            };
            *within = drops.saturating_sub(most);
            *drops -= *within;
        }
    }
}

/// How many events there are of each temperature, look and speed left.
struct Events {
    began: BTreeMap<i64, usize>,
    look: ByShape<usize>,
    left: BTreeMap<Level, usize>,
}

impl Events {
    fn new<'a>(all: impl Iterator<Item = &'a Judged>) -> Self {
        let mut events = Self { began: BTreeMap::new(), look: ByShape::new(), left: BTreeMap::new() };
        for judged in all {
            *events.look.at(judged.shape) += 1;
            let Some(began) = judged.began else { continue };
            if is_at_threshold(judged) {
                *events.began.entry(cell(began.temp_k)).or_default() += 1;
            }
            if let Some(left) = began.left {
                *events.left.entry(left.at()).or_default() += 1;
            }
        }
        events
    }

    /// How many others there are of the temperature, the look and the speed left of one of them.
    fn others_like(&self, judged: &Judged) -> [usize; 3] {
        let look = self.look.alike(judged.shape).sum::<usize>().saturating_sub(1);
        let Some(began) = judged.began else { return [0, look, 0] };
        let reach_k = 2.0 * began.spread_k;
        let near = self.began.range(cell(began.temp_k - reach_k)..=cell(began.temp_k + reach_k));
        let near = near.map(|(_, events)| events).sum::<usize>() - usize::from(is_at_threshold(judged));
        let left = began.left.map_or(0, |left| {
            self.left.range(left.alike()).map(|(_, events)| events).sum::<usize>().saturating_sub(1)
        });
        crate::work::count(1);
        [near, look, left]
    }
}

/// Whether it shows where a threshold is: heat that set in while the load ran.
fn is_at_threshold(judged: &Judged) -> bool {
    judged.verdict.conclusion.is_heat() && judged.began.is_some_and(|began| !began.at_start)
}
