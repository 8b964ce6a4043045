//! Throttles: which there are, and their numbers, read off the temperature course that belongs to each sample.
//!
//! Where speed gave way and came back, the fitted course - finer than whole kelvins, and between readings - has the
//! thresholds. Each sample reads its own course, so that what it has wrong about heat and what it has wrong about
//! thresholds cancel. What no run showed - a release, a floor - is drawn from what drives have, and says so.

use analysis::findings::{Cause, PolicyClass};

use crate::data::{Asked, RunData};
use crate::draw::Draws;
use crate::heat::at;
use crate::sample::{Act, Follows, Throttle};
use crate::speed::Slow;

/// Hystereses that were seen of drives, in kelvins.
const HYSTERESIS_K: (f64, f64) = (1.0, 6.0);
/// Least share of full speed that a regulator goes down to, where it was not seen.
const LEAST_SHARE: f64 = 0.05;
/// Scatter of a threshold read off a course: the second in which it was crossed, and the firmware's look at it.
const THRESHOLD_SD_K: f64 = 0.15;
/// Seconds after which a regulator has found its speed; the last ones of a stretch, which it holds longest.
const SETTLED_S: usize = 20;
const HELD_S: usize = 90;
/// From how far below its threshold a regulator looks on, as the built-in ones do; one without memory does not.
const REGULATOR_K: f64 = 8.0;
const PROPORTIONAL_K: f64 = 0.2;
/// Integral gain of a regulator without memory: the least that a profile takes.
const NO_MEMORY: f64 = 1e-9;

/// Whether a relay or a regulator: what each throttle of a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Relay,
    Regulator,
    /// A regulator without memory: the hotter, the slower, as firmware of many stairs is.
    Proportional,
    DutyCycled,
    Stop,
}

/// All that the runs say about one threshold.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) follows: Follows,
    /// Run, second and setting of each crossing.
    pub(crate) onsets: Vec<(usize, f64)>,
    pub(crate) releases: Vec<(usize, f64)>,
    /// Seconds in which it acted: run, from, to.
    pub(crate) spans: Vec<(usize, usize, usize)>,
    /// Median share of full speed while slow: reading, writing; `None` where it did not act on that operation.
    pub(crate) floor: [Option<f64>; 2],
    /// Least share over ten seconds.
    pub(crate) least: f64,
    /// What the verdict takes it for.
    pub(crate) said: Option<Class>,
}

/// The thresholds that acted in any of the runs.
pub(crate) fn groups(runs: &[RunData], slow: &[Slow]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let mut open: Option<(Follows, f64)> = None;
        let end_s = run.steps.len() as f64;
        let closing = [(end_s, Cause::Unknown, false)];
        for (t_s, cause, began) in run.throttles.iter().chain(&closing) {
            let follows = follows(run, *cause, *t_s);
            if let Some((of, from_s)) = open.take() {
                let group = group(&mut groups, of);
                spans(group, number, run, from_s as usize, t_s.ceil() as usize);
                if !began && *t_s < end_s {
                    group.releases.push((number, *t_s));
                }
            }
            if *began {
                open = Some((follows, *t_s));
                if risen(run, *t_s) {
                    group(&mut groups, follows).onsets.push((number, *t_s));
                } else {
                    group(&mut groups, follows);
                }
            }
        }
    }
    for group in &mut groups {
        shares(group, runs, slow);
        switches(group, runs, slow);
    }
    groups.retain(|group| group.floor.iter().any(Option::is_some));
    groups.sort_by_key(|group| group.follows);
    groups
}

fn group(groups: &mut Vec<Group>, follows: Follows) -> &mut Group {
    let at = groups.iter().position(|group| group.follows == follows).unwrap_or_else(|| {
        let (onsets, releases, spans) = (Vec::new(), Vec::new(), Vec::new());
        groups.push(Group { follows, onsets, releases, spans, floor: [None; 2], least: 1.0, said: None });
        groups.len() - 1
    });
    &mut groups[at]
}

/// Adds the stretch of one load that begins at a second: where the load changes, so may everything.
fn spans(group: &mut Group, number: usize, run: &RunData, from: usize, to: usize) {
    let to = to.min(run.steps.len());
    let Some(asked) = run.steps.get(from).map(|step| step.asked) else { return };
    let end = (from..to).find(|at| run.steps[*at].asked != asked).unwrap_or(to);
    if matches!(asked, Asked::Read | Asked::Write) && end > from + 1 {
        group.spans.push((number, from, end));
    }
}

/// What a threshold hangs on: as the verdict says, or the setting that it lies at.
fn follows(run: &RunData, cause: Cause, t_s: f64) -> Follows {
    let near = |setting: Option<f64>| {
        let reading = run.readings.iter().rev().find(|reading| reading.t_s <= t_s + 1.0);
        // Offsets that were seen lie between.
        setting.zip(reading).is_some_and(|(set, reading)| (-4.5..=3.0).contains(&(reading.kelvin - set)))
    };
    let followed = match cause {
        Cause::HctmTmt1 => Follows::Tmt1,
        Cause::HctmTmt2 => Follows::Tmt2,
        Cause::Thermal if near(run.tmt_k[0]) => Follows::Tmt1,
        Cause::Thermal if near(run.tmt_k[1]) => Follows::Tmt2,
        _ => Follows::Own,
    };
    // A drive that has counters and did not count any of it throttled by itself.
    match (followed, run.counted) {
        (Follows::Tmt1, [Some(false), _]) | (Follows::Tmt2, [_, Some(false)]) => Follows::Own,
        _ => followed,
    }
}

/// Whether the load ran some seconds before: the threshold was crossed from below, and not there to begin with.
fn risen(run: &RunData, t_s: f64) -> bool {
    let asked = |at_s: f64| run.steps.get(at_s as usize).map(|step| step.asked);
    t_s >= 3.0 && asked(t_s - 2.5) == asked(t_s + 0.5)
}

/// Floors, and what the verdict takes the throttle for.
fn shares(group: &mut Group, runs: &[RunData], slow: &[Slow]) {
    for (op, asked) in [Asked::Read, Asked::Write].into_iter().enumerate() {
        let mut seen: Vec<f64> = Vec::new();
        for (run, from, to) in &group.spans {
            let slow = &slow[*run];
            let inner = (*from + 1).min(*to)..to.saturating_sub(1).max((*from + 1).min(*to));
            let of = inner.filter(|at| runs[*run].steps[*at].asked == asked && slow.slow[*at]);
            seen.extend(of.filter_map(|at| slow.share[at]));
        }
        seen.sort_by(f64::total_cmp);
        // Seconds in which a relay switched lie between its two speeds: the slow one is where most of the lowest are.
        let lowest = seen.get(seen.len() / 10).copied().unwrap_or(1.0);
        let low: Vec<f64> = seen.iter().copied().filter(|share| *share < lowest + 0.08).collect();
        group.floor[op] = median(&low);
        if let Some(low) = seen.get(seen.len() / 10) {
            group.least = group.least.min(*low);
        }
    }
    let said = group.spans.iter().map(|(run, _, _)| &runs[*run].findings.policy).find_map(|policy| {
        let classes = std::iter::once(policy.class).chain(policy.also.iter().copied());
        classes.into_iter().find_map(|class| match class {
            PolicyClass::Relay | PolicyClass::TwoLevel => Some(Class::Relay),
            PolicyClass::Regulator => Some(Class::Regulator),
            PolicyClass::DutyCycled => Some(Class::DutyCycled),
            PolicyClass::Stop => Some(Class::Stop),
            _ => None,
        })
    });
    group.said = said;
}

/// Every second in which speed went down to the floor or back, where it goes to and fro: events of a verdict last three
/// seconds at least, cycles of a relay may not.
fn switches(group: &mut Group, runs: &[RunData], slow: &[Slow]) {
    let (mut onsets, mut releases) = (Vec::new(), Vec::new());
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for (number, from, _) in &group.spans {
        let (steps, share) = (&runs[*number].steps, &slow[*number].share);
        let asked = steps[*from].asked;
        let end = (*from..steps.len()).find(|at| steps[*at].asked != asked).unwrap_or(steps.len());
        if ends.contains(&(*number, end)) {
            continue;
        }
        ends.push((*number, end));
        let Some(floor) = group.floor[usize::from(asked == Asked::Write)].filter(|floor| *floor < 0.9) else {
            continue;
        };
        let middle = 0.5 * (1.0 + floor);
        let begin = (0..*from).rev().find(|at| steps[*at].asked != asked).map_or(0, |at| at + 1);
        let mut fast = share[begin].is_none_or(|share| share > middle);
        for at in begin + 1..end.saturating_sub(1) {
            let Some(now) = share[at] else { continue };
            // The second of a switch is partly fast; its neighbour on the other side is wholly one or the other.
            let part = |share: f64| ((share - floor) / (1.0 - floor)).clamp(0.0, 1.0);
            if fast && now < middle {
                let before = share[at - 1].map_or(1.0, part);
                let t_s = if before > 0.9 { at as f64 + part(now) } else { at as f64 - 1.0 + before };
                onsets.push((*number, t_s));
                fast = false;
            } else if !fast && now > middle {
                let before = share[at - 1].map_or(0.0, part);
                let t_s = if before < 0.1 { at as f64 + 1.0 - part(now) } else { at as f64 - before };
                releases.push((*number, t_s));
                fast = true;
            }
        }
    }
    if onsets.len() >= group.onsets.len().max(1) {
        group.onsets = onsets;
    }
    if releases.len() >= group.releases.len() {
        group.releases = releases;
    }
}

/// Reads a throttle off the courses of a sample. `gains` are those of a regulator.
pub(crate) fn read_off(
    group: &Group,
    class: Class,
    gains: [f64; 4],
    runs: &[RunData],
    slow: &[Slow],
    courses: &[Vec<f64>],
    draws: &mut Draws,
) -> Throttle {
    let above = |run: usize| match group.follows {
        Follows::Tmt1 => runs[run].tmt_k[0].unwrap_or(0.0),
        Follows::Tmt2 => runs[run].tmt_k[1].unwrap_or(0.0),
        Follows::Own => 0.0,
    };
    let crossings = |of: &[(usize, f64)]| -> Vec<f64> {
        of.iter().map(|(run, t_s)| at(&courses[*run], *t_s) - above(*run)).collect()
    };
    let (onsets, releases) = (crossings(&group.onsets), crossings(&group.releases));
    let scatter = |of: &[f64]| THRESHOLD_SD_K / (of.len().max(1) as f64).sqrt();
    let held = held(group, slow, courses, above);
    let coolest = coolest(group, courses, above);
    let mut on_k = median(&onsets).or(held).unwrap_or(coolest + 1.0) + scatter(&onsets) * draws.normal();
    let drawn_k = draws.between(HYSTERESIS_K.0, HYSTERESIS_K.1);
    let hysteresis_k = match median(&releases) {
        Some(release_k) => (on_k - release_k + scatter(&releases) * draws.normal()).max(0.2),
        None => (on_k - coolest).max(0.0) + drawn_k,
    };
    // Where one operation was never slowed down, a throttle leaves it what it leaves the other.
    let known = group.floor[0].or(group.floor[1]).unwrap_or(0.5);
    let floor = group.floor.map(|floor| floor.unwrap_or(known).clamp(0.001, 1.0));
    let act = match class {
        Class::Relay => Act::Relay(floor),
        Class::Stop => Act::Stop,
        Class::Proportional => {
            on_k += gains[3];
            let per_k = slope(group, runs, slow, courses, |run| above(run) + on_k).unwrap_or(0.1);
            let least = group.least.clamp(LEAST_SHARE, 1.0);
            Act::Regulator([per_k, NO_MEMORY, draws.between(LEAST_SHARE, least)])
        }
        Class::Regulator | Class::DutyCycled => {
            on_k = held.map_or(on_k, |held| held + gains[3] + THRESHOLD_SD_K * draws.normal());
            let least = group.least.clamp(LEAST_SHARE, 1.0);
            let floor = if gains[2] > 0.0 { gains[2] } else { draws.between(LEAST_SHARE, least) };
            let spread = |value: f64, draws: &mut Draws| value * (0.2 * draws.normal()).exp();
            let numbers = [spread(gains[0], draws), spread(gains[1], draws), floor];
            if class == Class::Regulator { Act::Regulator(numbers) } else { Act::DutyCycled(numbers) }
        }
    };
    let hysteresis_k = match class {
        Class::Regulator | Class::DutyCycled => REGULATOR_K,
        Class::Proportional => PROPORTIONAL_K,
        Class::Relay | Class::Stop => hysteresis_k,
    };
    Throttle { follows: group.follows, on_k, hysteresis_k: hysteresis_k.clamp(0.0, 60.0), act }
}

/// The temperature that a regulator held: the mean over seconds in which it had found its speed.
fn held(group: &Group, slow: &[Slow], courses: &[Vec<f64>], above: impl Fn(usize) -> f64) -> Option<f64> {
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

/// Share of full speed that a kelvin over the threshold costs: a line from the threshold through the slow seconds.
fn slope(
    group: &Group,
    runs: &[RunData],
    slow: &[Slow],
    courses: &[Vec<f64>],
    on: impl Fn(usize) -> f64,
) -> Option<f64> {
    let (mut along, mut across) = (0.0, 0.0);
    for (run, from, to) in &group.spans {
        for second in *from..(*to).min(runs[*run].steps.len()) {
            let over_k = 0.5 * (courses[*run][second] + courses[*run][second + 1]) - on(*run);
            if let Some(share) = slow[*run].share[second].filter(|_| slow[*run].slow[second] && over_k > 0.0)
            {
                along += over_k * (1.0 - share);
                across += over_k * over_k;
            }
        }
    }
    (across > 0.0).then(|| (along / across).clamp(0.005, 10.0))
}

/// The coolest it was while slow.
fn coolest(group: &Group, courses: &[Vec<f64>], above: impl Fn(usize) -> f64) -> f64 {
    let lows = group.spans.iter().map(|(run, from, to)| {
        let inner = (from + 2).min(*to)..*to;
        inner.map(|second| courses[*run][second] - above(*run)).fold(f64::INFINITY, f64::min)
    });
    let low = lows.fold(f64::INFINITY, f64::min);
    if low.is_finite() { low } else { 0.0 }
}

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
