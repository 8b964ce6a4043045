//! Throttles: which there are, and their numbers, read off the temperature course that belongs to each sample.
//!
//! Where speed gave way and came back, the fitted course - finer than whole kelvins, and between readings - has the
//! thresholds. Each sample reads its own course, so that what it has wrong about heat and what it has wrong about
//! thresholds cancel. What no run showed - a release, a floor - is drawn from what drives have, and says so.

use analysis::findings::{Cause, Label, PolicyClass};

use crate::data::{Asked, RunData};
use crate::heat::at;
use crate::regulator;
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
/// Seconds after which a regulator has found its speed; the last ones of a stretch, which it holds longest.
const SETTLED_S: usize = 20;
const HELD_S: usize = 90;
/// The verdict's beginning of a drop may lie so many seconds before the first slow second.
const BEGIN_S: f64 = 4.0;
/// Slow stretches shorter than this are left out.
const LEAST_ZONE_S: usize = 5;
/// A stretch is a known threshold's where it begins so near it, in kelvins; down to how far below it a load begins slow.
const NEAR_K: f64 = 2.5;
const LATCHED_K: f64 = 9.0;
const GENTLE_K: f64 = 3.0;
/// An operation that ran at full speed for so many seconds, so many kelvins above where a threshold set in, is not slowed
/// down by it: two steps of a usual sensor, which a latch and a lag of the sensor lie within.
const SPARED_S: usize = 20;
const SPARED_K: f64 = 2.0;
/// So far above the held temperature a regulator has no more to give.
const FLOORED_K: f64 = 1.5;
/// From how far below its threshold a regulator looks on, as the built-in ones do.
pub(crate) const REGULATOR_K: f64 = 8.0;
/// Integral gain of a regulator without memory: the least that a profile takes.
const NO_MEMORY: f64 = 1e-9;

/// Whether a relay or a regulator: what each throttle of a sample is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Relay,
    Regulator,
    /// The hotter, the slower, in steps.
    Stairs,
    DutyCycled,
    Stop,
}

/// All that the runs say about one threshold.
#[derive(Clone, Debug)]
pub(crate) struct OnsetGroup {
    pub(crate) follows: ThresholdSource,
    /// Run, second and setting of each crossing.
    pub(crate) onsets: Vec<(usize, f64)>,
    pub(crate) releases: Vec<(usize, f64)>,
    /// Seconds in which it acted: run, from, to.
    pub(crate) spans: Vec<(usize, usize, usize)>,
    /// Median share of full speed while slow: reading, writing; `None` where it did not act on that operation.
    pub(crate) floor: [Option<f64>; 2],
    /// Whether it leaves reading, writing alone: that ran at full speed well above the threshold.
    pub(crate) spared: [bool; 2],
    /// Least share over ten seconds.
    pub(crate) least: f64,
    /// What the verdict takes it for.
    pub(crate) said: Option<Class>,
    /// Whether speed went down by more than one step.
    pub(crate) stepped: bool,
}

/// The thresholds that acted in any of the runs.
///
/// Where heat slowed a drive down at all is the verdict's to say; where else the same threshold did is seen in the
/// speed: a stretch that begins slow, or gives way at the temperature of a threshold that is known.
pub(crate) fn groups(runs: &[RunData], slow: &mut [SlowStretch]) -> Vec<OnsetGroup> {
    let mut groups: Vec<OnsetGroup> = Vec::new();
    let mut unclaimed = Vec::new();
    let stepped = stairs::seen(runs, slow);
    for (number, run) in runs.iter().enumerate() {
        for (from, to) in zones(run, &slow[number]) {
            let within = |t_s: f64| (from as f64 - BEGIN_S..to as f64).contains(&t_s);
            let mut events: Vec<_> =
                run.throttles.iter().filter(|event| event.2 && within(event.0)).collect();
            // Where speed goes down stairs, steps within a stretch are no thresholds of the firmware's own beside the first.
            events
                .dedup_by(|further, _| stepped && follows(run, further.1, further.0) == ThresholdSource::Own);
            if events.is_empty() {
                unclaimed.push((number, from, to));
            }
            for (at, (t_s, cause, _)) in events.iter().enumerate() {
                // The first begins with the stretch; a further one is another threshold within it.
                let begin = if at == 0 { from } else { (*t_s as usize).clamp(from, to) };
                let end = events.get(at + 1).map_or(to, |next| (next.0 as usize).clamp(begin, to));
                let group = group(&mut groups, follows(run, *cause, *t_s));
                group.claim(run, number, begin, end, if at == 0 { begin as f64 } else { *t_s });
            }
        }
    }
    for (number, from, to) in unclaimed {
        let run = &runs[number];
        let begins = !risen(run, from as f64);
        let miss_k = |group: &OnsetGroup| {
            let over_k = reading_k(run, from as f64)? - setting_k(run, group.follows);
            let miss_k = over_k - group.onset_reading_k(runs)?;
            // A load that begins slow may do so anywhere down to the release; a regulator sets in gently below.
            let down_k = if begins { LATCHED_K } else { GENTLE_K };
            Some((-miss_k - down_k).max(miss_k - NEAR_K).max(0.0) + 0.01 * miss_k.abs())
        };
        let nearest = groups.iter_mut().filter_map(|group| Some((miss_k(group)?, group)));
        match nearest.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(miss_k, _)| *miss_k < 1.0) {
            Some((_, group)) => group.claim(run, number, from, to, from as f64),
            // No threshold that is known, and the verdict says what else it was.
            None => {
                for (slow, step) in slow[number].slow[from..to].iter_mut().zip(&run.steps[from..to]) {
                    *slow &= !matches!(step.label, Some(Label::SlcExhausted | Label::Dip));
                }
            }
        }
    }
    for group in &mut groups {
        shares(group, runs, slow);
        switches(group, runs, slow);
        group.spared = [0, 1].map(|op| group.floor[op].is_none() && spares(group, op, runs, slow));
        group.stepped = stepped;
    }
    groups.retain(|group| group.floor.iter().any(Option::is_some));
    groups.sort_by_key(|group| group.follows);
    groups
}

impl OnsetGroup {
    /// A stretch in which it acted, and its beginning where the threshold was crossed there.
    fn claim(&mut self, run: &RunData, number: usize, from: usize, to: usize, onset_s: f64) {
        self.spans.push((number, from, to));
        if risen(run, onset_s) {
            self.onsets.push((number, onset_s));
        }
    }

    /// What the sensor read where it set in, over the setting.
    fn onset_reading_k(&self, runs: &[RunData]) -> Option<f64> {
        let crossed = self.onsets.iter().map(|(run, t_s)| (*run, *t_s));
        let begun = self.spans.iter().map(|(run, from, _)| (*run, *from as f64));
        let over = |(run, t_s): (usize, f64)| {
            Some(reading_k(&runs[run], t_s)? - setting_k(&runs[run], self.follows))
        };
        median(&crossed.clone().filter_map(over).collect::<Vec<_>>())
            .or_else(|| median(&begun.filter_map(over).collect::<Vec<_>>()))
    }

    /// What the sensor read while it held a temperature, over the setting.
    fn held_reading_k(&self, runs: &[RunData]) -> Option<f64> {
        let seconds = self.spans.iter().flat_map(|(run, from, to)| {
            let (run, settled) = (&runs[*run], (from + SETTLED_S).max(to.saturating_sub(HELD_S)));
            let over_k = |at: usize| Some(reading_k(run, at as f64)? - setting_k(run, self.follows));
            (settled..*to).filter_map(over_k)
        });
        median(&seconds.collect::<Vec<_>>())
    }
}

/// Stretches of one load from its first slow second to its last.
fn zones(run: &RunData, slow: &SlowStretch) -> Vec<(usize, usize)> {
    let mut zones: Vec<(usize, usize)> = Vec::new();
    let mut asked = None;
    for (at, step) in run.steps.iter().enumerate() {
        let changed = asked.replace(step.asked) != Some(step.asked);
        if changed {
            zones.push((usize::MAX, 0));
        }
        if let Some(zone) = zones.last_mut().filter(|_| slow.slow[at]) {
            *zone = (zone.0.min(at), at + 1);
        }
    }
    zones.retain(|(from, to)| *from < *to && to - from >= LEAST_ZONE_S);
    zones
}

/// The reading at a moment, in kelvins.
fn reading_k(run: &RunData, t_s: f64) -> Option<f64> {
    crate::data::reading_k(&run.readings, t_s + 0.5)
}

/// What a threshold hangs on, in kelvins; 0 for the firmware's own.
pub(crate) fn setting_k(run: &RunData, follows: ThresholdSource) -> f64 {
    match follows {
        ThresholdSource::Tmt1 => run.tmt_k[0].unwrap_or(0.0),
        ThresholdSource::Tmt2 => run.tmt_k[1].unwrap_or(0.0),
        ThresholdSource::Own => 0.0,
    }
}

fn group(groups: &mut Vec<OnsetGroup>, follows: ThresholdSource) -> &mut OnsetGroup {
    let at = groups.iter().position(|group| group.follows == follows).unwrap_or_else(|| {
        let (onsets, releases, spans) = (Vec::new(), Vec::new(), Vec::new());
        groups.push(OnsetGroup {
            follows,
            onsets,
            releases,
            spans,
            floor: [None; 2],
            spared: [false; 2],
            least: 1.0,
            said: None,
            stepped: false,
        });
        groups.len() - 1
    });
    &mut groups[at]
}

/// What a threshold hangs on: as the verdict says, or the setting that it lies at.
fn follows(run: &RunData, cause: Cause, t_s: f64) -> ThresholdSource {
    let near = |setting: Option<f64>| {
        // Offsets that were seen lie between.
        setting.zip(reading_k(run, t_s)).is_some_and(|(set, kelvin)| (-4.5..=3.0).contains(&(kelvin - set)))
    };
    let followed = match cause {
        Cause::HctmTmt1 => ThresholdSource::Tmt1,
        Cause::HctmTmt2 => ThresholdSource::Tmt2,
        Cause::Thermal if near(run.tmt_k[0]) => ThresholdSource::Tmt1,
        Cause::Thermal if near(run.tmt_k[1]) => ThresholdSource::Tmt2,
        _ => ThresholdSource::Own,
    };
    // A log that does not say what was set, though it has the counters: the threshold is known where it lay, no more.
    let unset = match followed {
        ThresholdSource::Tmt1 => run.tmt_k[0].is_none(),
        ThresholdSource::Tmt2 => run.tmt_k[1].is_none(),
        ThresholdSource::Own => false,
    };
    // A drive that has counters and did not count any of it throttled by itself.
    match (followed, run.counted) {
        _ if unset => ThresholdSource::Own,
        (ThresholdSource::Tmt1, [Some(false), _]) | (ThresholdSource::Tmt2, [_, Some(false)]) => {
            ThresholdSource::Own
        }
        _ => followed,
    }
}

/// Whether the load ran some seconds before: the threshold was crossed from below, and not there to begin with.
fn risen(run: &RunData, t_s: f64) -> bool {
    let asked = |at_s: f64| run.steps.get(at_s as usize).map(|step| step.asked);
    t_s >= 3.0 && asked(t_s - 2.5) == asked(t_s + 0.5)
}

/// Floors, and what the verdict takes the throttle for.
fn shares(group: &mut OnsetGroup, runs: &[RunData], slow: &[SlowStretch]) {
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
    let told = group.spans.iter().map(|(run, _, _)| &runs[*run]).filter(|run| !run.misread);
    let said = told.map(|run| &run.findings.policy).find_map(|policy| {
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

/// Whether an operation went on at full speed where the threshold was passed by far.
fn spares(group: &OnsetGroup, op: usize, runs: &[RunData], slow: &[SlowStretch]) -> bool {
    let Some(onset_k) = group.onset_reading_k(runs) else { return false };
    // Of a load that begins slow the reading there is as hot as it came: what a regulator holds is its threshold.
    let held_k = group.held_reading_k(runs).filter(|_| group.said == Some(Class::Regulator));
    let onset_k = onset_k.min(held_k.unwrap_or(f64::INFINITY));
    let asked = [Asked::Read, Asked::Write][op];
    let passed = |run: &RunData, slow: &SlowStretch| {
        // A threshold that is off is passed by nothing, and one at MNTMT may stand for "off".
        let least_k = run.limits.tmt_min_k.unwrap_or(0.0);
        if group.follows != ThresholdSource::Own && setting_k(run, group.follows) <= least_k {
            return 0;
        }
        let above_k = onset_k + setting_k(run, group.follows) + SPARED_K.max(2.0 * run.resolution_k);
        let full = |at: &usize| run.steps[*at].asked == asked && slow.share[*at].is_some() && !slow.slow[*at];
        let hot = |at: &usize| reading_k(run, *at as f64).is_some_and(|kelvin| kelvin >= above_k);
        (0..run.steps.len()).filter(full).filter(hot).count()
    };
    runs.iter().zip(slow).map(|(run, slow)| passed(run, slow)).sum::<usize>() >= SPARED_S
}

/// Every second in which speed went down to the floor or back, where it goes to and fro: events of a verdict last three
/// seconds at least, cycles of a relay may not.
fn switches(group: &mut OnsetGroup, runs: &[RunData], slow: &[SlowStretch]) {
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

/// The temperature over the setting at which it set in, by the courses; `None` where no onset was seen.
pub(crate) fn onset_k(group: &OnsetGroup, runs: &[RunData], courses: &[Vec<f64>]) -> Option<f64> {
    let over = |(run, t_s): &(usize, f64)| at(&courses[*run], *t_s) - setting_k(&runs[*run], group.follows);
    median(&group.onsets.iter().map(over).collect::<Vec<_>>())
}

/// Reads a throttle off the courses of a sample.
pub(crate) fn read_off(
    group: &OnsetGroup,
    class: Class,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
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
    // What no run showed of an operation is that of the other, so that there is a drive; a forecast does not rest on it.
    let known = group.floor[0].or(group.floor[1]).unwrap_or(0.5);
    let share = |op: usize| if group.spared[op] { 1.0 } else { group.floor[op].unwrap_or(known) };
    let floor = [0, 1].map(|op| share(op).clamp(0.001, 1.0));
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
    Throttle { follows: group.follows, on_k, hysteresis_k, spares: group.spared, act }
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
            let asked = steps[1].asked;
            let whole = steps.iter().all(|step| step.asked == asked);
            let op = usize::from(asked == Asked::Write);
            let Some((share, floor)) = slow[number].share[at].filter(|_| whole).zip(group.floor[op]) else {
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

pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
