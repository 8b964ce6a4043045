//! The closed loop over the runs: which class of throttle follows the runs best.
//!
//! Each candidate is simulated under the load of every run. Minutes are compared and not seconds: a relay that swings a
//! second too early is no worse a relay. The loss becomes a weight, tempered, so that a class is only left out where the
//! runs speak against it plainly.

use crate::data::{Asked, RunData, median};
use crate::mixed::full_at;
use crate::onset::{Class, OnsetGroup};
use crate::opinion::{FittedMachine, MachineOdds, odds};
use crate::sample::{Common, DriveSample, ThresholdSource};
use crate::simulate::{LoadSecond, THROTTLED_SHARE, replay};
use analysis::posterior::Draws;
use measure::Seed;

/// Seconds of a window that is compared: several cycles of a relay.
const WINDOW: usize = 75;
/// What a mean speed of a window may be off, as a share of full speed; its spread; its temperature in kelvins.
const SPEED_SD: f64 = 0.05;
const SPREAD_SD: f64 = 0.08;
const TEMPERATURE_SD_K: f64 = 0.6;
/// What a beginning of throttling may be off, in seconds and as a share of the time until then.
const ONSET_SD_S: f64 = 1.5;
const ONSET_SD_SHARE: f64 = 0.04;
/// A switch falls within a second, a regulator glides: the steepest fall of a share within so many seconds of where throttling
/// begins, what it may be off besides the scatter of the measured speed, and how much it counts at most, over a window.
const STEEP_S: usize = 15;
const STEEP_SD: f64 = 0.03;
const STEEP_MOST: f64 = 3.0;
/// Neighbouring windows are wrong together.
const TEMPER: f64 = 0.25;
/// Looks at a combination, each with thresholds of its own.
const LOOKS: usize = 3;

/// A combination of classes, one a group; `None` where there is no such threshold.
#[derive(Clone, Debug)]
pub(crate) struct Closed {
    pub(crate) classes: Vec<Option<Class>>,
    pub(crate) weight: f64,
}

/// Makes the best sample of a combination.
type SampleOf<'a> = dyn Fn(&Closed, &mut Draws) -> DriveSample + 'a;

/// Combinations that may be, with their weights, and the odds of all that were looked at.
pub(crate) fn closed_loops(
    groups: &[OnsetGroup],
    runs: &[RunData],
    common: &Common,
    draws: &mut Draws,
    sample: &SampleOf<'_>,
) -> (Vec<Closed>, Vec<MachineOdds>) {
    let mut loops: Vec<(Closed, f64)> = Vec::new();
    for classes in combinations(groups) {
        let closed = Closed { classes, weight: 1.0 };
        // Thresholds are drawn: the better of a few looks.
        let looks = if groups.is_empty() { 0 } else { LOOKS };
        let looked = (0..looks).map(|_| class_loss(&sample(&closed, draws), runs, common));
        let least = looked.fold(f64::INFINITY, f64::min);
        loops.push((closed, if groups.is_empty() { 0.0 } else { least }));
    }
    let best = loops.iter().map(|(_, loss)| *loss).fold(f64::INFINITY, f64::min);
    let weight = |loss: f64| (-TEMPER * 0.5 * (loss - best)).exp();
    for (closed, loss) in &mut loops {
        closed.weight =
            weight(*loss) * closed.classes.iter().flatten().map(|class| prior(*class)).product::<f64>();
    }
    let loops: Vec<Closed> = loops.into_iter().map(|(closed, _)| closed).collect();
    let mut looked = Vec::new();
    if !groups.is_empty() {
        // Draws of its own: what it is for does not change what is drawn for forecasts.
        let none = Closed { classes: Vec::new(), weight: 1.0 };
        let none = sample(&none, &mut Draws::new(Seed::new(2)));
        looked.push((Vec::new(), weight(class_loss(&none, runs, common))));
        let machines = |closed: &Closed| {
            closed.classes.iter().flatten().map(|class| FittedMachine::new(*class)).collect()
        };
        looked.extend(loops.iter().map(|closed| (machines(closed), closed.weight)));
    }
    (loops.into_iter().filter(|closed| closed.weight > 0.02).collect(), odds(looked))
}

/// How probable a class is before any data: bursts are a regulator's, and where seconds do not tell them apart both
/// together are as probable as a relay.
const fn prior(class: Class) -> f64 {
    match class {
        Class::Regulator | Class::DutyCycled => 0.5,
        Class::Relay | Class::Stairs | Class::Stop => 1.0,
    }
}

/// What each group may be: what the verdict says, and what it may be mistaken for.
fn combinations(groups: &[OnsetGroup]) -> Vec<Vec<Option<Class>>> {
    let mut all: Vec<Vec<Option<Class>>> = vec![Vec::new()];
    for group in groups {
        let may: &[Class] = match group.said {
            Some(Class::Stop) if group.least < 0.02 => &[Class::Stop],
            Some(Class::DutyCycled) => &[Class::DutyCycled, Class::Regulator, Class::Relay],
            // Of several thresholds the verdict's class is that of one.
            _ if groups.len() > 1 => &[Class::Relay, Class::Regulator],
            // One step is a relay.
            _ if group.stepped => &[Class::Relay, Class::Regulator, Class::Stairs, Class::DutyCycled],
            _ => &[Class::Relay, Class::Regulator, Class::DutyCycled],
        };
        // Beside a host's threshold one of the firmware's own may be what the other one looked like for a moment.
        let none = (groups.len() > 1 && group.follows == ThresholdSource::Own).then_some(None);
        let may = || may.iter().map(|class| Some(*class)).chain(none);
        all = all.iter().flat_map(|so_far| may().map(|class| [&so_far[..], &[class]].concat())).collect();
    }
    all
}

/// How far the closed loop of a sample is from the runs.
pub(crate) fn class_loss(sample: &DriveSample, runs: &[RunData], common: &Common) -> f64 {
    runs.iter().map(|run| loss_of(sample, run, common)).sum()
}

fn loss_of(sample: &DriveSample, run: &RunData, common: &Common) -> f64 {
    // Each run in its own air: that it rests elsewhere is no fault of the throttle.
    let mut sample = sample.clone();
    if let (Some(own), Some(mean)) = (run.ambient_k, common.ambient_k) {
        sample.rest_k += own - mean;
    }
    let seconds = replay(&sample.profile(common), run);
    let unthrottled = sample.full_in_state();
    let mut loss = 0.0;
    for (number, (steps, shown)) in run.steps.chunks(WINDOW).zip(seconds.chunks(WINDOW)).enumerate() {
        let full = steps.iter().map(|step| match step.asked {
            Asked::Mixed => full_at(step, unthrottled),
            _ => unthrottled[usize::from(step.write > step.read)],
        });
        let full = full.fold(0.0, f64::max);
        let (seen, spread) = mean_and_sd(steps.iter().map(|step| step.read + step.write));
        let (found, found_spread) = mean_and_sd(shown.iter().map(|second| second.bytes / 1e9));
        loss += capped(((found - seen) / full / SPEED_SD).powi(2));
        loss += capped(((found_spread - spread) / full / SPREAD_SD).powi(2));
        let from_s = (number * WINDOW) as f64;
        let readings: Vec<f64> = run
            .readings
            .iter()
            .filter(|reading| (from_s..from_s + WINDOW as f64).contains(&reading.t_s))
            .map(|reading| reading.kelvin + 0.5 * run.resolution_k)
            .collect();
        if !readings.is_empty() {
            let seen_k = readings.iter().sum::<f64>() / readings.len() as f64;
            let found_k = shown.iter().map(|second| second.kelvin).sum::<f64>() / shown.len() as f64;
            loss += capped(((found_k - seen_k) / TEMPERATURE_SD_K).powi(2));
        }
    }
    loss + onset_loss(unthrottled, run, &seconds)
}

/// How far off the beginnings of throttling are, stretch by stretch of one load.
fn onset_loss(unthrottled: [f64; 2], run: &RunData, shown: &[LoadSecond]) -> f64 {
    let mut loss = 0.0;
    let mut from = 0;
    while from < run.steps.len() {
        let load = run.steps[from];
        let to = (from..run.steps.len()).find(|at| !load.goes_on(&run.steps[*at])).unwrap_or(run.steps.len());
        let full = full_at(&load, unthrottled);
        if full > 0.0 {
            let full = load.reaches.unwrap_or(full);
            let seen = first_slow(from..to, full, |at| run.steps[at].read + run.steps[at].write);
            let found = first_slow(from..to, full, |at| shown[at].bytes / 1e9);
            loss += match (seen, found) {
                (None, None) => 0.0,
                (Some(seen_s), Some(found_s)) => {
                    let late = (found_s - seen_s) / (ONSET_SD_S + ONSET_SD_SHARE * seen_s);
                    let part = |onset_s: f64| {
                        let onset = from + onset_s as usize;
                        onset.max(from + 2) - 1..(onset + STEEP_S).min(to.saturating_sub(1)).max(onset)
                    };
                    let seen: Vec<f64> =
                        run.steps[part(seen_s)].iter().map(|step| (step.read + step.write) / full).collect();
                    let found: Vec<f64> =
                        shown[part(found_s)].iter().map(|second| second.bytes / 1e9 / full).collect();
                    capped(late.powi(2)) + steep_loss(&seen, &found)
                }
                _ => capped(f64::INFINITY),
            };
        }
        from = to;
    }
    loss
}

/// How far off the steepest fall is where throttling begins; shares second by second.
fn steep_loss(seen: &[f64], found: &[f64]) -> f64 {
    let steepest = |shares: &[f64]| {
        // Two seconds before, and two behind the one in which it may have fallen.
        let falls = shares.windows(5).map(|at| 0.5 * (at[0] + at[1] - at[3] - at[4]));
        falls.reduce(f64::max)
    };
    let scatter = |shares: &[f64]| {
        let moves: Vec<f64> = shares.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        median(&moves).unwrap_or(0.0)
    };
    let Some((seen_fall, found_fall)) = steepest(seen).zip(steepest(found)) else { return 0.0 };
    let sd = STEEP_SD.hypot(scatter(seen));
    STEEP_MOST * capped(((found_fall - seen_fall) / sd).powi(2) / STEEP_MOST)
}

/// Seconds from the beginning to where three seconds in a row are throttled on average.
fn first_slow(range: std::ops::Range<usize>, full: f64, speed: impl Fn(usize) -> f64) -> Option<f64> {
    let last = range.end.saturating_sub(2);
    let slow = |at: &usize| (*at..at + 3).map(&speed).sum::<f64>() < 3.0 * THROTTLED_SHARE * full;
    // The first second of a load is partly the one before.
    let found = (range.start + 1..last.max(range.start + 1)).find(slow);
    found.map(|at| (at - range.start) as f64)
}

/// A window that is far off is no worse than one that is off.
fn capped(loss: f64) -> f64 {
    if loss.is_finite() { loss.min(16.0) } else { 16.0 }
}

fn mean_and_sd(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    values.for_each(|value| {
        count += 1.0;
        sum += value;
        squares += value * value;
    });
    let mean = sum / f64::max(count, 1.0);
    (mean, f64::sqrt((squares / f64::max(count, 1.0) - mean * mean).max(0.0)))
}
