//! Full speeds, and the seconds in which heat held the drive below them.

use analysis::findings::Label;

use crate::data::{Asked, LoadStep, RunData};
use crate::simulate::THROTTLED_SHARE;

/// Seconds at each end of a stretch that are left out: the load begins and ends within them.
const EDGE: usize = 1;
/// Seconds at full speed that are needed to say what it is.
const ENOUGH: usize = 4;
/// Seconds whose median is a speed.
const TOP: usize = 4;
/// Seconds that say whether heat held back what went before.
const BEFORE: usize = 5;
/// A stretch is at full speed down to this share of the fastest.
const NEAR: f64 = 0.95;

/// Full speed of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FittedSpeed {
    /// In GB/s.
    pub(crate) value: f64,
    /// How far it may be off.
    pub(crate) sd: f64,
    /// Whether it was seen.
    pub(crate) seen: bool,
}

/// What each second says about throttling.
#[derive(Clone)]
pub(crate) struct SlowStretch {
    /// Speed over full speed where the load was unlimited; `None` elsewhere.
    pub(crate) share: Vec<Option<f64>>,
    /// Whether heat held it back.
    pub(crate) slow: Vec<bool>,
}

/// Full speeds of reading and writing over all runs.
pub(crate) fn full(runs: &[RunData]) -> [FittedSpeed; 2] {
    let stretches = OPS.map(|asked| all(runs, asked));
    let fastest = stretches.each_ref().map(|stretches| fastest(stretches));
    [0, 1].map(|op| full_of(&stretches[op], fastest[op], fastest[1 - op]))
}

/// Operations that run as fast as they go.
const OPS: [Asked; 2] = [Asked::Read, Asked::Write];

/// Seconds of one operation at a time.
struct LoadStretch {
    /// Speeds in GB/s.
    speeds: Vec<f64>,
    /// Speed of the other operation, where that went right before, in GB/s.
    before: Option<f64>,
}

/// Stretches of an operation; what the verdict takes for a full cache may be all there is of it.
fn all(runs: &[RunData], asked: Asked) -> Vec<LoadStretch> {
    let all = |cache| runs.iter().flat_map(|run| stretches(run, asked, cache)).collect::<Vec<_>>();
    Some(all(false))
        .filter(|some| some.iter().any(|stretch| stretch.speeds.len() >= 4 * TOP))
        .unwrap_or_else(|| all(true))
}

/// The fastest of medians of a few seconds.
fn fastest(stretches: &[LoadStretch]) -> f64 {
    stretches.iter().flat_map(|stretch| stretch.speeds.windows(TOP)).map(median_of).fold(0.0, f64::max)
}

/// Full speed from its stretches; `fastest` is their fastest, `other` that of the other operation, 0 where it is not known.
fn full_of(stretches: &[LoadStretch], fastest: f64, other: f64) -> FittedSpeed {
    if fastest <= 0.0 {
        let any = stretches.iter().flat_map(|stretch| &stretch.speeds).copied().fold(0.0, f64::max);
        return FittedSpeed { value: any, sd: 0.1 * any, seen: false };
    }
    // The fastest of many noisy seconds is faster than the drive.
    let moves = stretches.iter().flat_map(|stretch| stretch.speeds.windows(2));
    let moves: Vec<f64> = moves.map(|pair| (pair[1] - pair[0]).abs()).collect();
    let near = NEAR - 1.5 * (median_of(&moves) / fastest).min(0.1);
    // A load begins cold: until it first falls well below, each stretch ran at full speed, its short dips included.
    let mut cold: Vec<f64> = Vec::new();
    for LoadStretch { speeds, before } in stretches {
        // Heat held back what went right before: this begins at less than full speed, and nothing shows it.
        if before.is_some_and(|before| before < NEAR * other) {
            continue;
        }
        let fell = speeds.windows(TOP).position(|speeds| median_of(speeds) < near * fastest);
        // A regulator begins gently: of a stretch that fell, the first part.
        let until = fell.map_or(speeds.len(), |fell| if fell == 0 { 0 } else { (fell * 6 / 10).max(TOP) });
        cold.extend(&speeds[..until.min(speeds.len())]);
    }
    if cold.is_empty() {
        return FittedSpeed { value: fastest, sd: 0.05 * fastest, seen: false };
    }
    let count = cold.len() as f64;
    let middle = median_of(&cold);
    let near: Vec<f64> = cold.into_iter().filter(|speed| (0.5..1.2).contains(&(speed / middle))).collect();
    let mean = near.iter().sum::<f64>() / near.len().max(1) as f64;
    let scatter = (near.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / near.len().max(1) as f64).sqrt();
    FittedSpeed { value: mean, sd: scatter / count.sqrt() + 0.002 * mean, seen: near.len() >= ENOUGH }
}

/// Speeds of an operation, stretch by stretch, in seconds that neither the host nor a full cache limited; probes of a
/// few seconds are left out, as they may begin slow.
fn stretches(run: &RunData, asked: Asked, cache: bool) -> Vec<LoadStretch> {
    let mut stretches: Vec<LoadStretch> = Vec::new();
    let mut open: Option<(usize, Vec<f64>)> = None;
    let end = LoadStep::default();
    for (at, step) in run.steps.iter().chain([&end]).enumerate() {
        let other = matches!(step.label, Some(Label::SlcExhausted | Label::RateLimited)) && !cache;
        if step.asked == asked && !other {
            open.get_or_insert((at, Vec::new())).1.push(step.read + step.write);
        } else if let Some((from, speeds)) = open.take()
            && speeds.len() >= TOP + 2 * EDGE
        {
            let speeds = speeds[EDGE..speeds.len() - EDGE].to_vec();
            stretches.push(LoadStretch { speeds, before: before(run, asked, from) });
        }
    }
    stretches
}

/// Speed of the other operation in the seconds right before, where it went in all of them.
fn before(run: &RunData, asked: Asked, from: usize) -> Option<f64> {
    let before = &run.steps[from.saturating_sub(BEFORE)..from];
    let other = usize::from(asked == Asked::Read);
    let speeds: Vec<f64> =
        before.iter().filter(|step| step.asked == OPS[other]).map(|step| step.read + step.write).collect();
    (speeds.len() == BEFORE).then(|| median_of(&speeds))
}

fn median_of(values: &[f64]) -> f64 {
    crate::throttle::median(values).unwrap_or(0.0)
}

/// Which seconds of a run heat held back.
pub(crate) fn slow(run: &RunData, full: &[FittedSpeed; 2]) -> SlowStretch {
    let share: Vec<Option<f64>> = run
        .steps
        .iter()
        .map(|step| {
            let full = match step.asked {
                Asked::Read => full[0].value,
                Asked::Write => full[1].value,
                Asked::Nothing | Asked::Limited => return None,
            };
            let other = matches!(step.label, Some(Label::RateLimited));
            (full > 0.0 && !other).then(|| (step.read + step.write) / full)
        })
        .collect();
    // A mean over five seconds: single stalls and bursts are no throttling.
    let smooth = |at: usize| {
        let near = &share[at.saturating_sub(2)..(at + 3).min(share.len())];
        let (sum, count) =
            near.iter().flatten().fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
        if count > 0.0 { sum / count } else { 1.0 }
    };
    let heat = |at: usize| share[at].is_some() && smooth(at) < THROTTLED_SHARE;
    let slow = (0..share.len()).map(heat).collect();
    SlowStretch { share, slow }
}

/// The logarithm of the level at which a regulator held the drive, second by second; 0 where none did.
pub(crate) fn ln_levels(run: &RunData, slow: &SlowStretch) -> Vec<f64> {
    let level = |at: usize| {
        let near = &slow.share[at.saturating_sub(3)..(at + 4).min(slow.share.len())];
        let (sum, count) =
            near.iter().flatten().fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
        if slow.slow[at] && count > 0.0 { f64::ln((sum / count).clamp(0.02, 1.0)) } else { 0.0 }
    };
    (0..run.steps.len()).map(level).collect()
}
