//! Drops that lie in another one, or go on with one: which of them are events of their own.

use std::collections::BTreeMap;

use super::drops::{SpeedDrop, median_speed};
use super::evidence::{Conclusion, Suspect};
use super::heat::Heat;
use super::{Judged, case, strength};
use crate::segment::{Piece, Stretch, median};

/// A further step that leaves less than this is one whatever the temperature, between two speeds that stand: what follows a
/// temperature takes a while to fall so far, and bursts do not stand.
const MUCH_FURTHER: f64 = 0.75;
/// A throttle that takes more brings a drive to rest or cools it too, though by less than a job that ends.
const COOLED_K: f64 = 2.0;
/// So many falls within a drop that come back show whether they do so by cooling.
const FEWEST_BURSTS: usize = 3;
/// So many levels, each below the last, are a speed that sinks.
const LEAST_SINKING: usize = 3;

/// Says which drops only go on with what another one began, and gives their pieces to that one.
pub(super) fn join(judged: &mut [Judged], stretches: &[Stretch], pieces: &[Piece], heat: &Heat) {
    let in_bursts = in_bursts(judged);
    for index in 0..judged.len() {
        judged[index].continues =
            in_bursts[index] || continues(&judged[..index], &judged[index], stretches, pieces);
    }
    give_pieces(judged, pieces, heat);
    end_where_less_was_asked(judged, pieces, heat);
}

/// Ends throttles that lead to an event in which less was asked for where that begins: where they would have let go is not seen.
fn end_where_less_was_asked(judged: &mut [Judged], pieces: &[Piece], heat: &Heat) {
    for index in 0..judged.len() {
        let new = &judged[index];
        if new.continues || !asked_less(new, heat) {
            continue;
        }
        let (first, last) = (new.drop.first, new.drop.last);
        let mut outer = new.drop.inside;
        while let Some(at) = outer {
            let of = &mut judged[at];
            outer = of.drop.inside;
            if of.verdict.conclusion.is_heat() && of.drop.last == last && of.drop.last_own() < first {
                of.drop.last = first - 1;
                of.end_s = pieces[of.drop.last].end_s;
                (of.drop.recovered, of.release_k) = (false, None);
            }
        }
    }
}

/// Whether a fall within a throttle is not known for heat, and the drive cooled meanwhile: less was asked of it, which is no speed that the
/// throttle left.
fn asked_less(inner: &Judged, heat: &Heat) -> bool {
    let then_k = heat.nearest_k(inner.end_s);
    let cooled_k = inner.onset_k.zip(then_k).map(|(from_k, to_k)| from_k - to_k);
    !inner.verdict.conclusion.is_heat() && cooled_k.is_some_and(|k| k >= COOLED_K)
}

/// Gives the pieces of drops that only go on with what their outer one began to that one, in their order.
fn give_pieces(judged: &mut [Judged], pieces: &[Piece], heat: &Heat) {
    let mut joined: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in 0..judged.len() {
        let new = &judged[index];
        if new.continues && new.drop.inside.is_some() && !asked_less(new, heat) {
            let outer = outermost(judged, index);
            joined.entry(outer).or_default().append(&mut judged[index].drop.own);
        }
    }
    for (outer, more) in joined {
        let outer = &mut judged[outer];
        outer.drop.own.extend(more);
        outer.drop.own.sort_unstable();
        outer.drop.level = median_speed(pieces, &outer.drop.own);
        outer.strength = strength(&outer.drop);
    }
}

/// The drop whose cause holds for one inside it that goes on with it.
fn outermost(judged: &[Judged], mut index: usize) -> usize {
    while let Some(outer) = judged[index].drop.inside.filter(|_| judged[index].continues) {
        index = outer;
    }
    index
}

/// Whether `new` lies in a drop with the same finding, or goes on with one on the other side of a gap.
fn continues(judged: &[Judged], new: &Judged, stretches: &[Stretch], pieces: &[Piece]) -> bool {
    if let Some(outer) = new.drop.inside {
        let outer = judged[outermost(judged, outer)].verdict.conclusion;
        let finding = new.verdict.conclusion;
        let host = |of: Conclusion| matches!(of, Conclusion::Heat(Suspect::Tmt1 | Suspect::Tmt2));
        // TMT2 within TMT1 is one of its own; any other heat within heat only where it is hotter.
        let other_host = host(finding) && finding != outer;
        let goes_on = finding.is_heat()
            && outer.is_heat()
            && !other_host
            && !second_threshold(judged, new, stretches, pieces);
        let of_no_heat = matches!(finding, Conclusion::NotHeat | Conclusion::Unknown);
        return goes_on || of_no_heat && !stands_lower(new, stretches, pieces);
    }
    let phase = |drop: &SpeedDrop| stretches[pieces[drop.first].stretch].phase;
    let goes_on = |last: &Judged| {
        phase(&last.drop) == phase(&new.drop)
            && !last.drop.recovered
            && (last.verdict.conclusion.is_heat() == new.verdict.conclusion.is_heat())
    };
    new.drop.at_start && judged.last().is_some_and(goes_on)
}

/// Which drops are the slow halves of bursts within another one that heat began: speed goes to and fro between two levels, whatever
/// the temperature, as a drive that switches on and off shows where that beats with the log's intervals. A threshold lets go by
/// cooling. TMT2 within TMT1 stays one, as a late sensor may not show that; and the first of them may be a further threshold.
fn in_bursts(judged: &[Judged]) -> Vec<bool> {
    let mut inner: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let is_heat = |judged: &Judged| judged.verdict.conclusion.is_heat();
    for (index, new) in judged.iter().enumerate().filter(|(_, new)| new.drop.recovered && is_heat(new)) {
        let tmt2 = new.verdict.conclusion == Conclusion::Heat(Suspect::Tmt2);
        if let Some(outer) = new.drop.inside.filter(|outer| is_heat(&judged[*outer]) && !tmt2) {
            inner.entry(outer).or_default().push(index);
        }
    }
    let as_warm = |index: &&usize| judged[**index].came_back_as_warm();
    let mut in_bursts = vec![false; judged.len()];
    for inner in inner.values() {
        if inner.len() >= FEWEST_BURSTS && 2 * inner.iter().filter(as_warm).count() > inner.len() {
            inner[1..].iter().for_each(|index| in_bursts[*index] = true);
        }
    }
    in_bursts
}

/// Whether heat slowed a drop down further at once, and at a higher temperature than the drop it lies in, or by much: where the
/// sensor lags, two thresholds begin at readings that lie close together.
fn second_threshold(judged: &[Judged], new: &Judged, stretches: &[Stretch], pieces: &[Piece]) -> bool {
    let outer = new.drop.inside.map(|outer| &judged[outermost(judged, outer)]);
    let onsets_k = outer.and_then(|outer| outer.onset_k).zip(new.onset_k);
    let hotter = onsets_k.is_some_and(|(outer, new)| new >= outer + case::OTHER_THRESHOLD_K);
    // TMT1 and TMT2 are one threshold each; of its own a drive may have several.
    let may_be_several =
        matches!(new.verdict.conclusion, Conclusion::SomeHeat | Conclusion::Heat(Suspect::Vendor));
    // What sinks from level to level goes on doing so.
    let sinking = outer.is_some_and(|outer| sinks(&pieces[outer.drop.first..=new.drop.first]));
    let edge = &pieces[new.drop.first - 1..=new.drop.first];
    let much = fell_much(new) && edge.iter().all(Piece::is_level);
    // Bursts that the log's intervals beat with go to and fro at one temperature.
    let even = edge.iter().all(Piece::is_even);
    let bursts = new.came_back_as_warm() && !even;
    may_be_several
        && !bursts
        && new.drop.sharp
        && (hotter && !sinking || much)
        && stepped(stretches, pieces, new.drop.first)
}

/// Whether each of these, and of many, is slower than the last.
fn sinks(pieces: &[Piece]) -> bool {
    pieces.len() > LEAST_SINKING && pieces.windows(2).all(|pair| pair[1].level < pair[0].level)
}

/// Whether a drop leaves little of the speed before it.
fn fell_much(new: &Judged) -> bool {
    strength(&new.drop).is_some_and(|strength| strength < MUCH_FURTHER)
}

/// Whether speed fell by much further, at once, and stood there: that is told, whatever it was.
fn stands_lower(new: &Judged, stretches: &[Stretch], pieces: &[Piece]) -> bool {
    let long = new.end_s - new.start_s >= case::TELLING_S;
    fell_much(new) && long && new.drop.stands(pieces).is_some() && stepped(stretches, pieces, new.drop.first)
}

/// Whether a piece began with a step: most of what lies between it and the one before was lost where they meet. Speed
/// that sinks goes through pieces of falling level without one.
fn stepped(stretches: &[Stretch], pieces: &[Piece], index: usize) -> bool {
    const STEP: f64 = 0.7;
    let (before, after) = (&pieces[index - 1], &pieces[index]);
    let speed = |from_s: f64, to_s: f64| {
        let speeds = stretches[after.stretch].speeds(from_s, to_s);
        (!speeds.is_empty()).then(|| median(&speeds))
    };
    let last = speed(before.end_s - before.span_s() / 3.0, before.end_s);
    let first = speed(after.start_s, after.start_s + after.span_s() / 3.0);
    let lost = last.unwrap_or(before.level) - first.unwrap_or(after.level);
    lost >= STEP * (before.level - after.level)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a regulator that has not come to rest is told from a second threshold. Method: levels as a run is cut into.
    #[test]
    fn many_falling_levels_sink_and_two_steps_do_not() {
        let piece = |level: f64| Piece {
            stretch: 0,
            start_s: 0.0,
            end_s: 10.0,
            mean: level,
            level,
            slowest: level,
            variation: 0.0,
            stopped: false,
            gradual: false,
            slices: 10,
        };
        let falls = |levels: &[f64]| sinks(&levels.iter().map(|level| piece(*level)).collect::<Vec<_>>());
        assert!(falls(&[621.0, 410.0, 260.0, 183.0, 160.0]));
        assert!(!falls(&[621.0, 410.0, 260.0]), "a second and a third threshold");
        assert!(!falls(&[621.0, 410.0, 450.0, 183.0, 160.0]), "it came back in between");
    }
}
