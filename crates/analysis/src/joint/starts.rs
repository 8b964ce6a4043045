//! Loads that were throttled from their first second, as another run of the drive shows.
//!
//! One run alone cannot know: a load that begins hot and stays at one speed has no faster one to compare with. A run
//! that was cooler has, and shows the speed at which the same load is throttled.

use super::others::{LASTS_S, threshold_k};
use super::{JointPoint, JointRun, OTHER_K, OTHER_SPEED, Ran, SAME_SPEED, SHOWS_S};
use crate::findings::{Cause, Label, PolicyLevel};
use crate::{COOL_K, FASTER};

/// A run that was throttled from a load's beginning, at a threshold that another run shows.
pub(super) struct Start {
    /// The run that shows it.
    of_run: usize,
    point: JointPoint,
    /// Which stretches of the run were slow.
    slow: Vec<usize>,
}

impl Start {
    /// The point, where these are of its threshold.
    pub(super) fn at(&self, points: &[JointPoint]) -> Option<JointPoint> {
        let shows =
            |p: &JointPoint| p.run == self.of_run && p.floor_bytes_per_s == self.point.floor_bytes_per_s;
        // A run that shows the threshold itself is no further observation of it.
        let itself = points.iter().any(|p| p.run == self.point.run);
        (points.iter().any(shows) && !itself).then(|| self.point.clone())
    }
}

/// Labels such loads as throttled, so that none of them is full speed any more, and says which there are.
pub(super) fn label(runs: &mut [JointRun]) -> Vec<Start> {
    let mut starts: Vec<Start> = Vec::new();
    for index in 0..runs.len() {
        for of_run in (0..runs.len()).filter(|of_run| *of_run != index) {
            let of_level = |level: &PolicyLevel| start(runs, index, of_run, level);
            starts.extend(runs[of_run].policy.levels.iter().filter_map(of_level));
        }
    }
    for start in &starts {
        start.slow.iter().for_each(|at| runs[start.point.run].ran[*at].label = Label::Throttled);
    }
    starts
}

/// Whether a load was much slower in one run than in another, though no run shows a throttled speed, and began hotter: then it may have
/// been throttled from its first second on, and no run shows it at full speed.
pub(super) fn may_be_throttled(runs: &[JointRun]) -> bool {
    let fast = |of: &JointRun, slow: &Ran, hot_k: f64| {
        let cooler = |ran: &&Ran| ran.start_k.is_some_and(|k| k + OTHER_K <= hot_k);
        let cache_full = of.ran.iter().any(|ran| {
            ran.label == Label::SlcExhausted && ran.is_same_load(slow) && !slow.is_faster(ran, FASTER - 1.0)
        });
        !cache_full && of.ran.iter().filter(cooler).any(|ran| ran.is_faster(slow, FASTER - 1.0))
    };
    runs.iter().any(|run| {
        let hot = |ran: &&Ran| {
            matches!(ran.label, Label::FullSpeed | Label::Unknown)
                && ran.span_s >= SHOWS_S
                && run.is_fastest(ran)
        };
        let began =
            run.ran.iter().filter(hot).filter_map(|ran| Some((ran, ran.start_k.filter(|k| *k >= COOL_K)?)));
        began
            .into_iter()
            .any(|(ran, hot_k)| runs.iter().any(|of| run.is_comparable(of) && fast(of, ran, hot_k)))
    })
}

/// What of a run is as slow as another run at `level`, is hotter than that begins to act, and was never faster.
fn start(runs: &[JointRun], index: usize, of_run: usize, level: &PolicyLevel) -> Option<Start> {
    let (run, of) = (&runs[index], &runs[of_run]);
    let floor = level.floor_bytes_per_s?;
    let threshold_k = threshold_k(level, of, run)?;
    let shows = |throttled: &&Ran| {
        let full = |ran: &&Ran| ran.label == Label::FullSpeed && ran.is_faster(throttled, OTHER_SPEED);
        throttled.is_throttled_at(floor) && of.ran.iter().any(|ran| full(&ran))
    };
    let shown: Vec<&Ran> = of.ran.iter().filter(shows).collect();
    let is_slow = |ran: &Ran| {
        matches!(ran.label, Label::FullSpeed | Label::Unknown)
            && ran.start_k.is_some_and(|k| k >= threshold_k)
            && shown.iter().any(|throttled| throttled.is_same_load(ran) && ran.is_at(throttled.bytes_per_s))
            && !run.ran.iter().any(|other| other.span_s >= LASTS_S && other.is_faster(ran, SAME_SPEED))
    };
    let slow: Vec<usize> = (0..run.ran.len()).filter(|at| is_slow(&run.ran[*at])).collect();
    let point = JointPoint {
        run: index,
        tmt1_k: run.tmt1_k,
        tmt2_k: run.tmt2_k,
        onset_k: None,
        release_k: None,
        held_k: None,
        floor_bytes_per_s: Some(floor),
        cause: Cause::Unknown,
    };
    (!slow.is_empty()).then_some(Start { of_run, point, slow })
}
