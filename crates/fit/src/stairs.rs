//! Stairs: firmware that goes down by the same share of full speed every few kelvins.
//!
//! How deep a step is shows in the speeds alone: a load that began fast stands still on the first one. With that each
//! second has its number of steps, and the sample's own course has the temperatures at which that number changed.

use crate::data::{LoadStep, RunData, median};
use crate::onset::{OnsetGroup, setting_k};
use crate::simulate::THROTTLED_SHARE;
use crate::speed::SlowStretch;
use analysis::posterior::Draws;

/// Seconds whose median is a speed: stalls are no steps.
const LEVEL_S: usize = 5;
/// Seconds from a drop on in which the first step shows, the one in which it fell left out.
const FIRST_S: std::ops::Range<usize> = 2..6;
/// Seconds on a deeper step from which on there is one.
const DEEPER_S: usize = 20;
/// Seconds to either side of a change within which the speed moves by half a step at least.
const JUMP_S: usize = 2;
const LEAST_JUMP: f64 = 0.5;
/// Least depth of a step as a share of full speed: less is noise.
const LEAST_STEP: f64 = 0.04;
/// Kelvins from step to step that are believed; firmware that was seen has 1.5 to 3.5.
const EACH_K: (f64, f64) = (0.3, 20.0);
/// How far above the hottest of the runs the next step may lie where one alone was seen.
const UNSEEN_K: f64 = 3.0;

/// What stairs are.
pub(crate) struct FittedStairs {
    /// Threshold of the first step, in kelvins over the setting.
    pub(crate) on_k: f64,
    /// A step is left again so many kelvins lower.
    pub(crate) hysteresis_k: f64,
    /// Share of full speed of each.
    pub(crate) step_share: f64,
    /// Kelvins from one to the next.
    pub(crate) each_k: f64,
}

/// Temperatures over the setting at which the number of steps changed: which step, kelvins.
#[derive(Default)]
struct StepChanges {
    down: Vec<(f64, f64)>,
    up: Vec<(f64, f64)>,
}

/// Reads them off the courses of a sample.
pub(crate) fn read_off(
    group: &OnsetGroup,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    draws: &mut Draws,
) -> FittedStairs {
    let loads: Vec<SteadyLoad> = runs.iter().zip(slow).enumerate().flat_map(loads).collect();
    let step_share = first_step(&loads).unwrap_or(1.0 - group.least).max(LEAST_STEP);
    let StepChanges { down, up } = changes(&loads, group, runs, courses, step_share);
    let middle = |of: &mut dyn Iterator<Item = f64>| median(&of.collect::<Vec<_>>());
    let first_k = middle(&mut down.iter().filter(|(step, _)| *step == 0.0).map(|(_, kelvin)| *kelvin));
    let drawn_k = draws.between(0.0, UNSEEN_K);
    let each_k = slope(&down).unwrap_or_else(|| {
        // One step alone: the next lies above the hottest.
        let hottest_k = hottest_k(group, runs, courses);
        first_k.map_or(0.0, |first_k| hottest_k - first_k).max(0.0) + drawn_k
    });
    let each_k = each_k.clamp(EACH_K.0, EACH_K.1);
    let on_k = middle(&mut down.iter().map(|(step, kelvin)| kelvin - step * each_k)).unwrap_or(0.0);
    let hysteresis_k = middle(&mut up.iter().map(|(step, kelvin)| on_k + step * each_k - kelvin))
        .unwrap_or_else(|| draws.unit() * each_k);
    FittedStairs { on_k, hysteresis_k: hysteresis_k.clamp(0.0, 2.0 * each_k), step_share, each_k }
}

/// Whether speeds stood on more than the first step for a while, and went from one to the next at once: a regulator glides.
pub(crate) fn seen(runs: &[RunData], slow: &[SlowStretch]) -> bool {
    let loads: Vec<SteadyLoad> = runs.iter().zip(slow).enumerate().flat_map(loads).collect();
    let Some(step_share) = first_step(&loads).filter(|step| *step >= LEAST_STEP) else { return false };
    let deeper = |share: &&f64| **share < 1.0 - 1.5 * step_share;
    let stood = loads.iter().flat_map(|load| &load.share).filter(deeper).count();
    let (jumps, steps) =
        loads.iter().map(|load| load.jumps(step_share)).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    stood >= DEEPER_S && 2 * jumps > steps
}

/// Threshold of the first of steps of which depth and distance are known; `None` where none set in.
pub(crate) fn first_k(
    group: &OnsetGroup,
    runs: &[RunData],
    slow: &[SlowStretch],
    courses: &[Vec<f64>],
    (step_share, each_k): (f64, f64),
) -> Option<f64> {
    let loads: Vec<SteadyLoad> = runs.iter().zip(slow).enumerate().flat_map(loads).collect();
    let down = changes(&loads, group, runs, courses, step_share).down;
    median(&down.iter().map(|(step, kelvin)| kelvin - step * each_k).collect::<Vec<_>>())
}

/// A load of one kind: run, first second, share of full speed second by second.
struct SteadyLoad {
    run: usize,
    from: usize,
    share: Vec<f64>,
}

impl SteadyLoad {
    /// The number of its step, second by second; 0 is full speed.
    fn steps(&self, step_share: f64) -> Vec<usize> {
        self.share.iter().map(|share| ((1.0 - share) / step_share).round().max(0.0) as usize).collect()
    }

    /// How often the speed went from one step to another at once, and how many steps lie between its deepest and its first.
    fn jumps(&self, step_share: f64) -> (usize, usize) {
        let steps = self.steps(step_share);
        let last = self.share.len() - 1;
        let changed = (0..last).filter(|at| steps[*at] != steps[at + 1] && steps[*at].min(steps[at + 1]) > 0);
        let moved =
            |at: &usize| self.share[at.saturating_sub(JUMP_S)] - self.share[(at + 1 + JUMP_S).min(last)];
        let jumped = changed.filter(|at| moved(at).abs() > LEAST_JUMP * step_share).count();
        (jumped, steps.into_iter().max().unwrap_or(0).saturating_sub(1))
    }
}

/// Loads of a run whose share of full speed is known.
fn loads((number, (run, slow)): (usize, (&RunData, &SlowStretch))) -> Vec<SteadyLoad> {
    let mut loads = Vec::new();
    let mut from = 0;
    for part in run.steps.chunk_by(LoadStep::goes_on) {
        // The seconds in which it began and ended are known in part.
        let inner = from + 1..(from + part.len()).saturating_sub(1).max(from + 1);
        let known: Option<Vec<f64>> = slow.share.get(inner).and_then(|share| share.iter().copied().collect());
        if let Some(share) = known.filter(|share| share.len() >= 2 * LEVEL_S) {
            let level = |at: usize| {
                let near = &share[at.saturating_sub(LEVEL_S / 2)..(at + LEVEL_S / 2 + 1).min(share.len())];
                median(near).unwrap_or(1.0)
            };
            let share = (0..share.len()).map(level).collect();
            loads.push(SteadyLoad { run: number, from: from + 1, share });
        }
        from += part.len();
    }
    loads
}

/// Depth of a step: where loads that began fast first stand still.
fn first_step(loads: &[SteadyLoad]) -> Option<f64> {
    let depth = |load: &SteadyLoad| {
        let fell = load.share.iter().position(|share| *share < THROTTLED_SHARE)?;
        let first = load.share.get(fell + FIRST_S.start..fell + FIRST_S.end).filter(|_| fell > LEVEL_S)?;
        Some(1.0 - median(first)?)
    };
    median(&loads.iter().filter_map(depth).collect::<Vec<_>>())
}

/// Where the number of steps changed, by the courses. The first step is number 0.
fn changes(
    loads: &[SteadyLoad],
    group: &OnsetGroup,
    runs: &[RunData],
    courses: &[Vec<f64>],
    step_share: f64,
) -> StepChanges {
    let mut changes = StepChanges::default();
    for load in loads {
        let setting_k = setting_k(&runs[load.run], group.follows);
        for (at, pair) in load.steps(step_share).windows(2).enumerate() {
            let over_k = courses[load.run][load.from + at + 1] - setting_k;
            let (before, after) = (pair[0], pair[1]);
            changes.down.extend((before..after).map(|step| (step as f64, over_k)));
            changes.up.extend((after..before).map(|step| (step as f64, over_k)));
        }
    }
    changes
}

/// Kelvins from step to step by a line through the changes; `None` where they are of one step.
fn slope(changes: &[(f64, f64)]) -> Option<f64> {
    let count = changes.len().max(1) as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| changes.iter().map(of).sum::<f64>() / count;
    let (step, kelvin) = (mean(|change| change.0), mean(|change| change.1));
    let across: f64 = changes.iter().map(|change| (change.0 - step).powi(2)).sum();
    let along: f64 = changes.iter().map(|change| (change.0 - step) * (change.1 - kelvin)).sum();
    (across > 0.0).then(|| along / across)
}

/// The hottest that a load was while it throttled, over the setting.
fn hottest_k(group: &OnsetGroup, runs: &[RunData], courses: &[Vec<f64>]) -> f64 {
    let spans = group.spans.iter();
    let kelvins = spans.flat_map(|(run, from, to)| {
        courses[*run][*from..*to].iter().map(move |kelvin| kelvin - setting_k(&runs[*run], group.follows))
    });
    kelvins.fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: what goes from step to step at once is told from what glides over the same shares.
    #[test]
    fn a_regulator_glides_and_stairs_jump() {
        let load = |share: fn(f64) -> f64| {
            let share = (0..240).map(|at| share(f64::from(at))).collect();
            SteadyLoad { run: 0, from: 0, share }
        };
        let stairs = load(|at| 1.0 - 0.15 * (at / 60.0).floor());
        let glides = load(|at| 1.0 - 0.15 * at / 60.0);
        assert_eq!(stairs.jumps(0.15), (2, 2));
        assert_eq!(glides.jumps(0.15), (0, 3));
    }
}
