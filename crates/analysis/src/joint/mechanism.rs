//! What a threshold does when it acts, from all runs in which it did.
//!
//! Two things are told by several runs and not by one: a regulator keeps the temperature and pays with whatever speed
//! that takes, a fixed lower speed stays the same whatever temperature it leads to.

use std::collections::BTreeMap;

use super::{Follows, JointPoint, JointRun, MOST_CERTAIN, OTHER_K, OTHER_SPEED, SAME_SPEED};
use crate::findings::{Cause, PolicyClass};
use crate::segment::median;

/// Temperatures within this are one: whole kelvins at both ends, and a ripple.
const SAME_K: f64 = 1.6;
/// What several runs show together, as log odds against what they say one by one: odds 20.
const TOGETHER: f64 = 3.0;

/// The mechanism, how sure it is, and the speed where it is one.
pub(super) fn classify(
    runs: &[JointRun],
    points: &[JointPoint],
    (follows, number): (Follows, f64),
) -> (PolicyClass, f64, Option<f64>) {
    let floors: Vec<f64> = points.iter().filter_map(|p| p.floor_bytes_per_s).collect();
    let floor = (spread(&floors) <= SAME_SPEED && !floors.is_empty()).then(|| median(&floors));
    let (voted, sure) = voted(runs, points);
    // Cycles, bursts and stops are seen in one run; what stands still may be either.
    let open = matches!(voted, PolicyClass::Regulator | PolicyClass::PreLimited | PolicyClass::Undetermined);
    if !open || points.len() < 2 {
        return (voted, sure, floor);
    }
    let off_k = |p: &JointPoint| {
        let at = follows.setting_k(p.tmt1_k, p.tmt2_k).unwrap_or(0.0) + number;
        p.held_k.map_or(f64::INFINITY, |k| (k - at).abs())
    };
    // Runs in the same air at the same setting are as hot at the same speed, whatever keeps it there.
    let apart = if floor.is_some() { distinct(runs, points) - 1 } else { 0 };
    let (shown, odds) = if apart > 0 {
        (PolicyClass::Relay, TOGETHER * apart as f64)
    } else if one_operation(runs, points)
        && spread(&floors) >= OTHER_SPEED
        && points.iter().all(|p| off_k(p) <= SAME_K)
    {
        (PolicyClass::Regulator, TOGETHER)
    } else {
        return (voted, sure, floor);
    };
    let before = match voted {
        PolicyClass::Regulator if shown == voted => log_odds(sure),
        PolicyClass::Regulator => -log_odds(sure),
        _ => 0.0,
    };
    let probable = 1.0 / (1.0 + (-before - odds).exp());
    if probable < 0.5 { (voted, 1.0 - probable, floor) } else { (shown, probable.min(MOST_CERTAIN), floor) }
}

fn log_odds(probability: f64) -> f64 {
    let probability = probability.clamp(1.0 - MOST_CERTAIN, MOST_CERTAIN);
    (probability / (1.0 - probability)).ln()
}

/// How many temperatures it had while throttled, at least [`OTHER_K`] apart; 1 where none is known.
fn distinct(runs: &[JointRun], points: &[JointPoint]) -> usize {
    let while_slow = |p: &JointPoint| {
        let came_to = p.floor_bytes_per_s.and_then(|floor| runs[p.run].throttled_k(floor));
        came_to.or(p.held_k).or(p.onset_k)
    };
    let mut temperatures: Vec<f64> = points.iter().filter_map(while_slow).collect();
    temperatures.sort_by(f64::total_cmp);
    let mut kept: Vec<f64> = Vec::new();
    for k in temperatures {
        if kept.last().is_none_or(|last| k - last >= OTHER_K) {
            kept.push(k);
        }
    }
    kept.len().max(1)
}

/// Whether all were slowed down in one operation, and the same: a fixed lower speed is another one for writing than for
/// reading, and follows nothing for that.
pub(super) fn one_operation(runs: &[JointRun], points: &[JointPoint]) -> bool {
    let slowed = |point: &JointPoint| runs[point.run].slowed();
    let first = points.first().map(slowed).unwrap_or_default();
    first.iter().filter(|slowed| **slowed).count() == 1 && points.iter().all(|point| slowed(point) == first)
}

/// What the runs say one by one, each with its confidence; and how sure they are. That they repeat each other makes
/// none surer: what misleads one run misleads the next.
fn voted(runs: &[JointRun], points: &[JointPoint]) -> (PolicyClass, f64) {
    let mut votes: BTreeMap<PolicyClass, Vec<f64>> = BTreeMap::new();
    for point in points {
        let policy = &runs[point.run].policy;
        // The mechanism of a run is that of its leading thresholds.
        let leads = policy.levels.first().is_some_and(|level| is_host(level.cause) == is_host(point.cause));
        let told = [policy.class].into_iter().chain(policy.also.iter().copied());
        let mechanism = told.filter(|class| *class != PolicyClass::Vendor).find(|_| leads);
        votes.entry(mechanism.unwrap_or(PolicyClass::Undetermined)).or_default().push(policy.confidence);
    }
    // What says little: a load that began slow, data that decided nothing.
    let little = |class: &PolicyClass| match class {
        PolicyClass::Undetermined => 2,
        PolicyClass::PreLimited => 1,
        _ => 0,
    };
    let Some(heard) = votes.keys().map(little).min() else { return (PolicyClass::Undetermined, 0.0) };
    votes.retain(|class, _| little(class) == heard);
    let sum = |of: &[f64]| of.iter().sum::<f64>();
    let all: f64 = votes.values().map(|of| sum(of)).sum();
    let most = votes.iter().max_by(|a, b| sum(a.1).total_cmp(&sum(b.1)));
    let Some((class, of)) = most.filter(|_| all > 0.0) else { return (PolicyClass::Undetermined, 0.0) };
    (*class, sum(of) / of.len() as f64 * sum(of) / all)
}

const fn is_host(cause: Cause) -> bool {
    matches!(cause, Cause::HctmTmt1 | Cause::HctmTmt2)
}

/// By how much it cools before it lets go; and where that is against TMT1, of what begins at TMT2.
pub(super) fn release(
    points: &[JointPoint],
    follows: Follows,
    thresholds: &[f64],
) -> (Option<f64>, Option<f64>) {
    let cooled: Vec<f64> =
        points.iter().zip(thresholds).filter_map(|(p, at)| Some(at - p.release_k?)).collect();
    let below_tmt1: Vec<f64> = points.iter().filter_map(|p| Some(p.release_k? - p.tmt1_k?)).collect();
    if follows == Follows::Tmt2 && !below_tmt1.is_empty() && range(&below_tmt1) <= range(&cooled).max(SAME_K)
    {
        let near = median(&below_tmt1);
        if near.abs() <= 5.0 {
            return ((range(&cooled) <= SAME_K).then(|| middle(&cooled)), Some(near));
        }
    }
    ((!cooled.is_empty()).then(|| middle(&cooled)), None)
}

/// The median; of two in the middle what lies between them.
fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |index: usize| sorted.get(index).copied().unwrap_or(0.0);
    at(sorted.len().saturating_sub(1) / 2).midpoint(at(sorted.len() / 2))
}

/// Largest less smallest.
pub(super) fn range(values: &[f64]) -> f64 {
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    (high - low).max(0.0)
}

/// The same as a share of the largest; 0 of nothing.
fn spread(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(0.0, f64::max);
    if most > 0.0 { range(values) / most } else { 0.0 }
}
