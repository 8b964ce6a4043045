//! Thresholds that acted: where speed gave way and came back, grouped by what the threshold hangs on.
//!
//! Where heat slowed a drive down at all is the verdict's to say; where else the same threshold did is seen in the speed.
//! At which temperatures that was is read off each sample's own course, by `throttle`.

use analysis::findings::{Cause, Label, PolicyClass};

use crate::data::{Asked, LoadStep, RunData, median};
use crate::heat::at;
use crate::sample::ThresholdSource;
use crate::speed::SlowStretch;

/// Seconds after which a regulator has found its speed; the last ones of a stretch, which it holds longest.
pub(crate) const SETTLED_S: usize = 20;
pub(crate) const HELD_S: usize = 90;
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
    /// Whether it let go between two loads, the first of which was still slow.
    pub(crate) let_go: bool,
    /// Seconds in which it acted: run, from, to.
    pub(crate) spans: Vec<(usize, usize, usize)>,
    /// Median share of full speed while slow: reading, writing; `None` where it did not act on that operation.
    pub(crate) floor: [Option<f64>; 2],
    /// The same of reads and writes at once.
    pub(crate) mixed: Option<f64>,
    /// Share of its bytes that such a mix reads.
    pub(crate) read_share: f64,
    /// Whether it leaves reading, writing alone: that ran at full speed well above the threshold.
    pub(crate) spared: [bool; 2],
    /// Least share over ten seconds.
    pub(crate) least: f64,
    /// What the verdict takes it for.
    pub(crate) said: Option<Class>,
    /// Whether speed went down by more than one step.
    pub(crate) stepped: bool,
}

/// The thresholds that acted in any of the runs; `stepped` says whether speed went down stairs. Elsewhere a stretch is of one
/// of them that begins slow, or gives way at its temperature.
pub(crate) fn groups(runs: &[RunData], slow: &mut [SlowStretch], stepped: bool) -> Vec<OnsetGroup> {
    let mut groups: Vec<OnsetGroup> = Vec::new();
    let mut unclaimed = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        for (from, to) in zones(run, &slow[number]) {
            // A verdict that finds where a gradual fall begins has it long before the first slow second, in the same load.
            let load = run.steps[..from].iter().rev().take_while(|step| step.goes_on(&run.steps[from]));
            let load_s = (from - load.count()) as f64;
            let within = |t_s: f64| (load_s.min(from as f64 - BEGIN_S)..to as f64).contains(&t_s);
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
        group.let_go = lets_go(group, runs, slow);
    }
    groups.retain(|group| group.floor.iter().any(Option::is_some) || group.mixed.is_some());
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

    /// Median share of full speed while what is asked for is slow.
    pub(crate) fn floor_at(&self, asked: Asked) -> Option<f64> {
        match asked {
            Asked::Mixed => self.mixed,
            Asked::Write => self.floor[1],
            Asked::Read | Asked::Nothing | Asked::Limited => self.floor[0],
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
    let mut before: Option<&LoadStep> = None;
    for (at, step) in run.steps.iter().enumerate() {
        let changed = before.replace(step).is_none_or(|before| !before.goes_on(step));
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
            let_go: false,
            spans,
            floor: [None; 2],
            mixed: None,
            read_share: 0.0,
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
    let step = |at_s: f64| run.steps.get(at_s as usize);
    t_s >= 3.0 && step(t_s - 2.5).zip(step(t_s + 0.5)).is_some_and(|(before, now)| before.goes_on(now))
}

/// Floors, and what the verdict takes the throttle for.
fn shares(group: &mut OnsetGroup, runs: &[RunData], slow: &[SlowStretch]) {
    for asked in [Asked::Read, Asked::Write, Asked::Mixed] {
        let mut seen: Vec<f64> = Vec::new();
        for (run, from, to) in &group.spans {
            let slow = &slow[*run];
            let inner = (*from + 1).min(*to)..to.saturating_sub(1).max((*from + 1).min(*to));
            let steps = &runs[*run].steps;
            for at in inner.filter(|at| steps[*at].asked == asked && slow.slow[*at]) {
                seen.extend(slow.share[at]);
                group.read_share =
                    if asked == Asked::Mixed { steps[at].read_share } else { group.read_share };
            }
        }
        seen.sort_by(f64::total_cmp);
        // Seconds in which a relay switched lie between its two speeds: the slow one is where most of the lowest are.
        let lowest = seen.get(seen.len() / 10).copied().unwrap_or(1.0);
        let low: Vec<f64> = seen.iter().copied().filter(|share| *share < lowest + 0.08).collect();
        let floor = median(&low);
        match asked {
            Asked::Mixed => group.mixed = floor,
            _ => group.floor[usize::from(asked == Asked::Write)] = floor,
        }
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

/// Whether a load was slow, and one after it fast: the release lies between.
fn lets_go(group: &OnsetGroup, runs: &[RunData], slow: &[SlowStretch]) -> bool {
    let of = |run: usize| {
        let mut was_slow = false;
        (0..runs[run].steps.len()).any(|at| {
            let floor = group.floor_at(runs[run].steps[at].asked);
            let known = slow[run].share[at].zip(floor).filter(|(_, floor)| *floor < 0.9);
            let is_slow = known.map(|(share, floor)| share < 0.5 * (1.0 + floor));
            let lets_go = was_slow && is_slow == Some(false);
            was_slow = is_slow.unwrap_or(was_slow);
            lets_go
        })
    };
    (0..runs.len()).any(of)
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
        let load = &steps[*from];
        let end = (*from..steps.len()).find(|at| !load.goes_on(&steps[*at])).unwrap_or(steps.len());
        if ends.contains(&(*number, end)) {
            continue;
        }
        ends.push((*number, end));
        let Some(floor) = group.floor_at(load.asked).filter(|floor| *floor < 0.9) else { continue };
        let middle = 0.5 * (1.0 + floor);
        let begin = (0..*from).rev().find(|at| !load.goes_on(&steps[*at])).map_or(0, |at| at + 1);
        // The second in which it began is none that says how.
        let Some((first, begins)) = (begin..end).find_map(|at| Some((at, share[at]?))) else { continue };
        let mut fast = begins > middle;
        for at in first + 1..end.saturating_sub(1) {
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
