//! Numbers of a throttle, read off the temperature course that belongs to each sample.
//!
//! Where speed gave way and came back, the fitted course - finer than whole kelvins, and between readings - has the
//! thresholds. Each sample reads its own course, so that what it has wrong about heat and what it has wrong about
//! thresholds cancel. What no run showed - a release, a floor - is drawn from what drives have, and says so.

use crate::data::{RunData, median};
use crate::floors::{self, UnseenFloor};
use crate::heat::at;
use crate::onset::{Class, HELD_S, OnsetGroup, SETTLED_S, setting_k};
use crate::regulator::{self, REGULATOR_K};
use crate::sample::{ThresholdSource, Throttle, ThrottleAct};
use crate::speed::SlowStretch;
use crate::stairs;
use analysis::posterior::Draws;

/// Hystereses that were seen of drives, in kelvins.
const HYSTERESIS_K: (f64, f64) = (1.0, 6.0);
/// Least share of full speed that a regulator goes down to, where it was not seen.
const LEAST_SHARE: f64 = 0.05;
/// Scatter of a threshold read off a course: the second in which it was crossed, and the firmware's look at it.
const THRESHOLD_SD_K: f64 = 0.15;
/// How probable it is beforehand that firmware's own threshold leaves an operation alone that no run shows there: more than an
/// end of an interval, so that forecasts hold both, and less than half.
const SPARED_UNSEEN: f64 = 0.3;
/// So far above the held temperature a regulator has no more to give.
const FLOORED_K: f64 = 1.5;
/// Integral gain of a regulator without memory: the least that a profile takes.
const NO_MEMORY: f64 = 1e-9;

/// Reads a throttle off the courses of a sample.
pub(crate) fn read_off(
    group: &OnsetGroup,
    class: Class,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    unseen: &UnseenFloor,
    draws: &mut Draws,
) -> Throttle {
    let above = |run: usize| setting_k(&runs[run], group.follows);
    let crossings = |of: &[(usize, f64)]| -> Vec<f64> {
        of.iter().map(|(run, t_s)| at(&courses[*run], *t_s) - above(*run)).collect()
    };
    let (onsets, releases) = (crossings(&group.onsets), crossings(&group.releases));
    let scatter = |of: &[f64]| THRESHOLD_SD_K / (of.len().max(1) as f64).sqrt();
    let held = held(group, slow, courses, above);
    let coolest = coolest(group, courses, above);
    let mut on_k = median(&onsets).or(held).unwrap_or(coolest + 1.0) + scatter(&onsets) * draws.normal();
    let mut hysteresis_k = match median(&releases) {
        Some(release_k) => (on_k - release_k + scatter(&releases) * draws.normal()).max(0.2),
        None => {
            let (low_k, high_k) = between_loads(group, runs, slow, courses, above);
            let (high_k, drawn_k) = (high_k.min(coolest), draws.between(HYSTERESIS_K.0, HYSTERESIS_K.1));
            let unseen_k = coolest - drawn_k;
            // What lies between two loads, one slow and the next one fast, is drawn from there, if it is that narrow.
            let release_k = if unseen_k > low_k && unseen_k < high_k {
                unseen_k
            } else {
                draws.between(low_k.max(coolest - HYSTERESIS_K.1).min(high_k), high_k)
            };
            (on_k - release_k).max(0.2)
        }
    };
    let floors = floors::draw(group, unseen, draws);
    // Firmware's own threshold may leave alone what was never so hot; one of the host's slows the whole drive down.
    let spares = [0, 1].map(|op| {
        let open = group.follows == ThresholdSource::Own && group.floor[op].is_none();
        group.spared[op] || open && draws.unit() < SPARED_UNSEEN
    });
    let floor = [0, 1].map(|op| if spares[op] { 1.0 } else { floors[op].clamp(0.001, 1.0) });
    let act = match class {
        Class::Relay => ThrottleAct::Relay(floor),
        Class::Stop => ThrottleAct::Stop,
        Class::Stairs => {
            let least = group.least.clamp(LEAST_SHARE, 1.0);
            let found = stairs::read_off(group, runs, slow, courses, draws);
            (on_k, hysteresis_k) = (found.on_k + THRESHOLD_SD_K * draws.normal(), found.hysteresis_k);
            ThrottleAct::Stairs([found.step_share, found.each_k, unseen_floor(least, draws)])
        }
        Class::Regulator | Class::DutyCycled => {
            let least = group.least.clamp(LEAST_SHARE, 1.0);
            let low_k = at_least(group, slow, courses, above);
            let floored = held.zip(low_k).is_some_and(|(held, low_k)| low_k > held + FLOORED_K);
            let floor = if floored { least } else { unseen_floor(least, draws) };
            let about = (held.unwrap_or(on_k), floor);
            let found = regulator::read_off(group, runs, slow, courses, about, draws);
            on_k = found.on_k;
            let numbers = [found.gains.share_per_k, found.gains.share_per_k_s.max(NO_MEMORY), floor];
            if class == Class::Regulator {
                ThrottleAct::Regulator(numbers)
            } else {
                ThrottleAct::DutyCycled(numbers)
            }
        }
    };
    if matches!(class, Class::Regulator | Class::DutyCycled) {
        hysteresis_k = REGULATOR_K;
    }
    let hysteresis_k = hysteresis_k.clamp(0.0, 60.0);
    Throttle { follows: group.follows, on_k, hysteresis_k, spares, act }
}

/// A floor that was not reached: regulators go on down to a twentieth or a fifth of full speed more often than they end
/// just below what was seen, so it is drawn towards the low end.
fn unseen_floor(least: f64, draws: &mut Draws) -> f64 {
    let down = draws.unit();
    LEAST_SHARE * (least / LEAST_SHARE).powf(down * down)
}

/// The temperature that a regulator held: the mean over seconds in which it had found its speed.
fn held(
    group: &OnsetGroup,
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    above: impl Fn(usize) -> f64,
) -> Option<f64> {
    let mut seen = Vec::new();
    for (run, from, to) in &group.spans {
        for second in (from + SETTLED_S).max(to.saturating_sub(HELD_S)).min(*to)..*to {
            let between = slow[*run].share[second].is_some_and(|share| share < 0.95);
            if slow[*run].slow[second] && between {
                seen.push(0.5 * (courses[*run][second] + courses[*run][second + 1]) - above(*run));
            }
        }
    }
    median(&seen)
}

/// The temperature in the slowest seconds: well above what is held, speed stands at its floor.
fn at_least(
    group: &OnsetGroup,
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    above: impl Fn(usize) -> f64,
) -> Option<f64> {
    let mut seen = Vec::new();
    for (run, from, to) in &group.spans {
        for second in *from..*to {
            if slow[*run].share[second].is_some_and(|share| share < group.least + 0.02) {
                seen.push(0.5 * (courses[*run][second] + courses[*run][second + 1]) - above(*run));
            }
        }
    }
    median(&seen)
}

/// Between which temperatures it let go while nobody looked: the coolest at which a load was still slow, and the coolest
/// before one that was fast again.
fn between_loads(
    group: &OnsetGroup,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    above: impl Fn(usize) -> f64,
) -> (f64, f64) {
    let (mut low_k, mut high_k) = (f64::NEG_INFINITY, f64::INFINITY);
    for (number, run) in runs.iter().enumerate() {
        // The coolest since it was last seen slow.
        let mut since_k: Option<f64> = None;
        for (before, steps) in run.steps.windows(3).enumerate() {
            let at = before + 1;
            let now_k = courses[number][at] - above(number);
            since_k = since_k.map(|k| k.min(now_k));
            let whole = steps.iter().all(|step| step.goes_on(&steps[1]));
            let floor = group.floor_at(steps[1].asked);
            let Some((share, floor)) = slow[number].share[at].filter(|_| whole).zip(floor) else {
                continue;
            };
            if share < 0.5 * (1.0 + floor) && floor < 0.9 {
                since_k = Some(now_k);
                if group.spans.iter().any(|(run, from, to)| *run == number && (*from..*to).contains(&at)) {
                    high_k = high_k.min(now_k);
                }
            } else if let Some(coolest_k) = since_k.take() {
                low_k = low_k.max(coolest_k);
            }
        }
    }
    (low_k.min(high_k), high_k)
}

/// The coolest it was while slow.
fn coolest(group: &OnsetGroup, courses: &[Vec<f64>], above: impl Fn(usize) -> f64) -> f64 {
    let lows = group.spans.iter().map(|(run, from, to)| {
        let inner = (from + 2).min(*to)..*to;
        inner.map(|second| courses[*run][second] - above(*run)).fold(f64::INFINITY, f64::min)
    });
    let low = lows.fold(f64::INFINITY, f64::min);
    if low.is_finite() { low } else { 0.0 }
}
