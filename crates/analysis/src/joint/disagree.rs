//! Runs that cannot be of one drive with one threshold: what throttled a load in some, another ran far above at full speed.

use super::others::is_full;
use super::{JointMachine, JointRun, OTHER_SPEED, Ran, SHOWS_S};
use crate::findings::{Caveat, Label};

/// A threshold that was passed by this much did not act: more than a sensor lags, and than thresholds move from run to run.
const PASSED_K: f64 = 4.0;
/// How sure a threshold is that another run denies: one of the two is wrong, and nothing says which.
const DENIED: f64 = 0.5;

/// The runs that deny a threshold, and how sure it is then; nothing where all agree.
pub(super) fn denied(runs: &[JointRun], machines: &mut [JointMachine]) -> Vec<Caveat> {
    let mut found = Vec::new();
    for machine in machines {
        let told: Vec<Caveat> = (0..runs.len()).filter_map(|index| denies(runs, machine, index)).collect();
        if !told.is_empty() {
            machine.confidence = machine.confidence.min(DENIED);
        }
        found.extend(told);
    }
    found
}

/// That a run was at full speed above the threshold, with a load that it throttled elsewhere.
fn denies(runs: &[JointRun], machine: &JointMachine, index: usize) -> Option<Caveat> {
    let run = &runs[index];
    if machine.points.iter().any(|point| point.run == index) {
        return None;
    }
    let set_k = machine.follows.setting_k(run.tmt1_k, run.tmt2_k)?;
    let threshold_k = set_k + machine.offset_k.or(machine.threshold_k)?;
    let showing = || machine.points.iter().map(|point| &runs[point.run]).filter(|of| of.is_comparable(run));
    let was_throttled = |free: &Ran| {
        let slow = |ran: &Ran| ran.label == Label::Throttled && free.is_faster(ran, OTHER_SPEED);
        showing().any(|of| of.ran.iter().any(slow))
    };
    let free = run.ran.iter().filter(|ran| is_full(ran) && ran.span_s >= SHOWS_S && run.is_fastest(ran));
    let free = free.filter(|ran| was_throttled(ran)).filter_map(|ran| ran.end_k).reduce(f64::max)?;
    (free >= threshold_k + PASSED_K).then(|| Caveat::RunsDisagree {
        run: run.name.clone(),
        free_k: free,
        threshold_k,
    })
}
