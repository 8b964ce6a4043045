//! The thresholds of a policy: where each sets in and lets go, and what it leaves.

use std::collections::BTreeMap;

use super::{HYSTERESIS_K, cooled_k, held_k, is_host, let_go_k, middle};
use crate::cause::Judged;
use crate::cause::ONE_THRESHOLD_K;
use crate::cause::evidence::{Conclusion, Suspect};
use crate::cause::heat::Heat;
use crate::events;
use crate::findings::{PolicyLevel, SegmentOp};
use crate::segment::{Piece, quarters};
use trace::Trace;

/// Speed does not come back where it is hotter than where it fell, but for rounding.
const LATE_K: f64 = 0.9;
/// A release as low as this below TMT2 was held until the lower threshold.
const LATCHED_K: f64 = 5.0;
/// A hysteresis of so many times what a sensor hides is one.
const SHOWN_STEPS: f64 = 3.5;
/// So often a second threshold has to show: once, a speed that sinks in two steps is one of many.
const LEAST_TIMES: usize = 2;
/// Operations that begin to be slowed down as far apart, and so many steps of the sensor, have a threshold each. A sensor that is late
/// shows the faster climb of the two a little cooler.
const OPERATIONS_APART_K: f64 = 3.0;
const OPERATIONS_APART_STEPS: f64 = 2.0;

/// Each threshold at which these drops began. What lies inside a drop of the same name is a threshold of its own.
pub(super) fn of(heat: &Heat, pieces: &[Piece], all: &[Judged], drops: &[&Judged]) -> Vec<PolicyLevel> {
    let mut by_level: BTreeMap<(usize, bool), Vec<&Judged>> = BTreeMap::new();
    for judged in drops {
        let finding = judged.verdict.conclusion;
        let rank = match finding {
            Conclusion::Heat(suspect) => suspect as usize,
            _ => Suspect::Other as usize,
        };
        let further =
            outer(all, judged).is_some_and(|outer| outer.verdict.conclusion == finding) && !is_host(judged);
        by_level.entry((rank, further)).or_default().push(judged);
    }
    let level = |(op, drops): (Option<SegmentOp>, Vec<&Judged>)| PolicyLevel {
        cause: events::cause(drops[0].verdict.conclusion),
        op,
        onset_k: thresholds_k(heat, pieces, all, &drops)[0],
        release_k: thresholds_k(heat, pieces, all, &drops)[1],
        held_k: middle(drops.iter().filter_map(|j| held_k(heat, pieces, all, j))),
        floor_bytes_per_s: middle(drops.iter().map(|j| j.drop.level)),
    };
    by_level.into_values().flat_map(|drops| by_operation(heat, drops)).map(level).collect()
}

/// Drops of one cause, apart where each operation has a threshold of its own, the coolest first: drops of one began at other temperatures
/// than those of every other one.
fn by_operation<'a>(heat: &Heat, drops: Vec<&'a Judged>) -> Vec<(Option<SegmentOp>, Vec<&'a Judged>)> {
    let mut of_op: BTreeMap<u8, (SegmentOp, Vec<&Judged>)> = BTreeMap::new();
    for judged in &drops {
        if let Some(op) = judged.began.map(|began| began.of.0) {
            of_op.entry(op as u8).or_insert((op, Vec::new())).1.push(judged);
        }
    }
    let known: usize = of_op.values().map(|(_, drops)| drops.len()).sum();
    let ranged = of_op.into_values().map(|(op, drops)| Some((onsets_k(&drops)?, op, drops)));
    let Some(mut ranged) = ranged.collect::<Option<Vec<_>>>().filter(|_| known == drops.len()) else {
        return vec![(None, drops)];
    };
    ranged.sort_by(|(a, ..), (b, ..)| a.0.total_cmp(&b.0));
    let apart_k = OPERATIONS_APART_K.max(OPERATIONS_APART_STEPS * heat.step_k);
    let apart = ranged.windows(2).all(|pair| pair[1].0.0 - pair[0].0.1 >= apart_k);
    match apart && ranged.len() >= 2 {
        true => ranged.into_iter().map(|(_, op, drops)| (Some(op), drops)).collect(),
        false => vec![(None, drops)],
    }
}

/// Between which temperatures the middle half of these drops began, in kelvins, where there are enough.
fn onsets_k(drops: &[&Judged]) -> Option<(f64, f64)> {
    let known: Vec<f64> = drops.iter().filter(|j| !j.drop.at_start).filter_map(|j| j.crossed_k).collect();
    quarters(&known).filter(|_| known.len() >= LEAST_TIMES)
}

/// Where these drops set in and where speed came back. A sensor that is late by part of a cycle shows the one for the other;
/// how hot and how cool each cycle got it shows all the same.
fn thresholds_k(heat: &Heat, pieces: &[Piece], all: &[Judged], drops: &[&Judged]) -> [Option<f64>; 2] {
    let onset_k = middle(drops.iter().filter(|j| !j.drop.at_start).filter_map(|j| j.crossed_k));
    let let_go = drops.iter().filter(|j| let_go_k(pieces, all, j).is_some());
    let release_k = middle(let_go.filter_map(|j| j.release_k));
    let Some((onset_k, release_k)) = onset_k.zip(release_k) else { return [onset_k, release_k] };
    // Rounding alone does not set the release above the onset.
    if release_k < onset_k + LATE_K {
        return [Some(onset_k), Some(release_k.min(onset_k))];
    }
    let extreme = |pick: fn(f64, f64) -> f64| {
        let cycles = drops.windows(2).map(|pair| heat.within(pair[0].start_s, pair[1].start_s));
        middle(cycles.filter_map(|cycle| cycle.iter().map(|p| p.value).reduce(pick)))
    };
    [extreme(f64::max), extreme(f64::min)]
}

/// The drop of heat that this one lies in, where it began at another temperature: at the same one it is the same threshold that went
/// further.
fn outer<'a>(all: &'a [Judged], judged: &Judged) -> Option<&'a Judged> {
    let outer = &all[judged.drop.inside?];
    let other_k = |(outer_k, own_k): (f64, f64)| (outer_k - own_k).abs() > ONE_THRESHOLD_K;
    (outer.verdict.conclusion.is_heat() && outer.crossed_k.zip(judged.crossed_k).is_none_or(other_k))
        .then_some(outer)
}

/// Light and heavy throttling, or heavy throttling that was held far below its threshold.
pub(super) fn are_the_hosts_two(trace: &Trace, drops: &[&Judged]) -> bool {
    let of =
        |suspect: Suspect| drops.iter().filter(move |j| j.verdict.conclusion == Conclusion::Heat(suspect));
    let both = of(Suspect::Tmt1).next().is_some() && of(Suspect::Tmt2).next().is_some();
    let latched = of(Suspect::Tmt2).any(|j| {
        let (tmt1, tmt2) = trace.tmt_at(j.start_s);
        let apart = tmt1.zip(tmt2).is_some_and(|(one, two)| two - one >= LATCHED_K);
        apart && cooled_k(j).is_some_and(|cooled| cooled >= LATCHED_K)
    });
    both || latched
}

/// The same where nobody knows what TMT1 and TMT2 are: most drops go on to a second threshold, which is hotter each time, holds until the
/// drive has cooled, and leads to no third.
pub(super) fn are_two(heat: &Heat, all: &[Judged], drops: &[&Judged]) -> bool {
    // A fine sensor shows a narrow hysteresis.
    let shows_k = HYSTERESIS_K.min(SHOWN_STEPS * heat.hides_k());
    let further: Vec<(&Judged, &Judged)> =
        drops.iter().filter_map(|judged| Some((*judged, outer(all, judged)?))).collect();
    let is_second = |(judged, outer): &&(&Judged, &Judged)| {
        let hotter = judged.crossed_k.zip(outer.crossed_k).is_some_and(|(own_k, outer_k)| own_k > outer_k);
        let holds = cooled_k(judged).is_none_or(|cooled_k| cooled_k >= shows_k);
        hotter && holds && outer.drop.inside.is_none()
    };
    let second = further.iter().filter(is_second).count();
    let first = drops.len() - further.len();
    second >= LEAST_TIMES && 2 * second > first && 4 * second >= 3 * further.len()
}
