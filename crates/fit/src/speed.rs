//! Full speeds, and the seconds in which heat held the drive below them.

use analysis::findings::Label;

use crate::data::{Asked, RunData};
use crate::simulate::THROTTLED_SHARE;

/// Seconds at each end of a stretch that are left out: the load begins and ends within them.
const EDGE: usize = 1;
/// Seconds at full speed that are needed to say what it is.
const ENOUGH: usize = 5;

/// Full speed of an operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullSpeed {
    /// In GB/s.
    pub(crate) value: f64,
    /// How far it may be off.
    pub(crate) sd: f64,
    /// Whether it was seen.
    pub(crate) seen: bool,
}

/// What each second says about throttling.
pub(crate) struct Slow {
    /// Speed over full speed where the load was unlimited; `None` elsewhere.
    pub(crate) share: Vec<Option<f64>>,
    /// Whether heat held it back.
    pub(crate) slow: Vec<bool>,
}

/// Full speeds of reading and writing over all runs.
pub(crate) fn full(runs: &[RunData]) -> [FullSpeed; 2] {
    [Asked::Read, Asked::Write].map(|asked| {
        let mut speeds: Vec<f64> = runs.iter().flat_map(|run| unlimited(run, asked)).collect();
        speeds.sort_by(f64::total_cmp);
        let Some(fast) = speeds.get(speeds.len().saturating_sub(1 + speeds.len() / 20)).copied() else {
            return FullSpeed::default();
        };
        // Of what lies near the fastest, the mean: noise and short dips are part of a speed.
        let near: Vec<f64> = speeds.into_iter().filter(|speed| *speed > 0.9 * fast).collect();
        let count = near.len() as f64;
        let middle = near[near.len() / 2];
        let near: Vec<f64> = near.into_iter().filter(|speed| *speed > 0.95 * middle).collect();
        let mean = near.iter().sum::<f64>() / near.len() as f64;
        let scatter = (near.iter().map(|speed| (speed - mean).powi(2)).sum::<f64>() / near.len() as f64).sqrt();
        FullSpeed { value: mean, sd: scatter / count.sqrt() + 0.002 * mean, seen: near.len() >= ENOUGH }
    })
}

/// Speeds of an operation in seconds that nothing limited: neither the host, nor heat, nor a full cache.
fn unlimited(run: &RunData, asked: Asked) -> Vec<f64> {
    let inner = |at: usize| {
        let same = |other: usize| run.steps.get(other).is_some_and(|step| step.asked == asked);
        at >= EDGE && same(at - EDGE) && same(at + EDGE)
    };
    let usable = run.steps.iter().enumerate().filter(|(at, step)| {
        let other = matches!(step.label, Some(Label::SlcExhausted | Label::Dip | Label::Idle | Label::RateLimited));
        step.asked == asked && inner(*at) && !other
    });
    usable.map(|(_, step)| step.read + step.write).filter(|speed| *speed > 0.0).collect()
}

/// Which seconds of a run heat held back.
pub(crate) fn slow(run: &RunData, full: &[FullSpeed; 2]) -> Slow {
    let share: Vec<Option<f64>> = run
        .steps
        .iter()
        .map(|step| {
            let full = match step.asked {
                Asked::Read => full[0].value,
                Asked::Write => full[1].value,
                Asked::Nothing | Asked::Limited => return None,
            };
            let other = matches!(step.label, Some(Label::SlcExhausted | Label::Dip | Label::RateLimited));
            (full > 0.0 && !other).then(|| (step.read + step.write) / full)
        })
        .collect();
    // A mean over five seconds: single stalls and bursts are no throttling.
    let smooth = |at: usize| {
        let near = &share[at.saturating_sub(2)..(at + 3).min(share.len())];
        let (sum, count) = near.iter().flatten().fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
        if count > 0.0 { sum / count } else { 1.0 }
    };
    let heat = |at: usize| {
        run.steps[at].label != Some(Label::FullSpeed) && share[at].is_some() && smooth(at) < THROTTLED_SHARE
    };
    let slow = (0..share.len()).map(heat).collect();
    Slow { share, slow }
}

/// The logarithm of the level at which a regulator held the drive, second by second; 0 where none did.
pub(crate) fn ln_levels(run: &RunData, slow: &Slow) -> Vec<f64> {
    let level = |at: usize| {
        let near = &slow.share[at.saturating_sub(3)..(at + 4).min(slow.share.len())];
        let (sum, count) = near.iter().flatten().fold((0.0, 0.0), |(sum, count), share| (sum + share, count + 1.0));
        if slow.slow[at] && count > 0.0 { f64::ln((sum / count).clamp(0.02, 1.0)) } else { 0.0 }
    };
    (0..run.steps.len()).map(level).collect()
}
