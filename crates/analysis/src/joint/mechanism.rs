//! What a threshold does when it acts, from all runs in which it did.
//!
//! Two things are told by several runs and not by one: a regulator keeps the temperature and pays with whatever speed
//! that takes, a fixed lower speed stays the same whatever temperature it leads to.

use super::{Follows, JointPoint, JointRun};
use crate::findings::{Cause, PolicyClass};
use crate::segment::median;

/// Speeds within this share are one speed.
const SAME_SPEED: f64 = 0.04;
/// Speeds this far apart are not.
const OTHER_SPEED: f64 = 0.1;
/// The same speed at temperatures this far apart is not regulated.
const OTHER_K: f64 = 2.5;
/// Temperatures within this are one: whole kelvins at both ends, and a ripple.
const SAME_K: f64 = 1.6;

/// The mechanism, and the speed where it is one.
pub(super) fn classify(
    runs: &[JointRun],
    points: &[JointPoint],
    (follows, number): (Follows, f64),
) -> (PolicyClass, Option<f64>) {
    let floors: Vec<f64> = points.iter().filter_map(|p| p.floor_bytes_per_s).collect();
    let floor = (spread(&floors) <= SAME_SPEED && !floors.is_empty()).then(|| median(&floors));
    let voted = voted(runs, points);
    // Cycles, bursts and stops are seen in one run; what stands still may be either.
    let open = matches!(voted, PolicyClass::Regulator | PolicyClass::PreLimited | PolicyClass::Undetermined);
    if !open || points.len() < 2 {
        return (voted, floor);
    }
    let held: Vec<f64> = points.iter().filter_map(|p| p.held_k.or(p.onset_k)).collect();
    let off_k = |p: &JointPoint| {
        let at = follows.setting_k(p.tmt1_k, p.tmt2_k).unwrap_or(0.0) + number;
        p.held_k.map_or(f64::INFINITY, |k| (k - at).abs())
    };
    let mechanism = if floor.is_some() && (range(&held) >= OTHER_K || points.len() >= 3) {
        PolicyClass::Relay
    } else if one_operation(runs, points)
        && spread(&floors) >= OTHER_SPEED
        && points.iter().all(|p| off_k(p) <= SAME_K)
    {
        PolicyClass::Regulator
    } else {
        voted
    };
    (mechanism, floor)
}

/// Whether all were slowed down in one operation, and the same: a fixed lower speed is another one for writing than for
/// reading, and follows nothing for that.
fn one_operation(runs: &[JointRun], points: &[JointPoint]) -> bool {
    let slowed = |point: &JointPoint| runs[point.run].slowed;
    let first = points.first().map(slowed).unwrap_or_default();
    first.iter().filter(|slowed| **slowed).count() == 1 && points.iter().all(|point| slowed(point) == first)
}

/// What the runs say one by one, each with its confidence.
fn voted(runs: &[JointRun], points: &[JointPoint]) -> PolicyClass {
    let mut votes: std::collections::BTreeMap<PolicyClass, f64> = std::collections::BTreeMap::new();
    for point in points {
        let policy = &runs[point.run].policy;
        // The mechanism of a run is that of its leading thresholds.
        let leads = policy.levels.first().is_some_and(|level| is_host(level.cause) == is_host(point.cause));
        let told = [policy.class].into_iter().chain(policy.also.iter().copied());
        let mechanism = told.filter(|class| *class != PolicyClass::Vendor).find(|_| leads);
        // What says little: a load that began slow, data that decided nothing.
        let weight = match mechanism {
            None | Some(PolicyClass::Undetermined) => 0.01,
            Some(PolicyClass::PreLimited) => 0.1,
            Some(_) => policy.confidence,
        };
        *votes.entry(mechanism.unwrap_or(PolicyClass::Undetermined)).or_default() += weight;
    }
    let most = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.map_or(PolicyClass::Undetermined, |(class, _)| class)
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
            return ((range(&cooled) <= SAME_K).then(|| median(&cooled)), Some(near));
        }
    }
    ((!cooled.is_empty()).then(|| median(&cooled)), None)
}

/// Largest less smallest.
fn range(values: &[f64]) -> f64 {
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    (high - low).max(0.0)
}

/// The same as a share of the largest; 0 of nothing.
fn spread(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(0.0, f64::max);
    if most > 0.0 { range(values) / most } else { 0.0 }
}
