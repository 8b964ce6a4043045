//! What several runs leave open, and which measurement would decide it.

use super::{Follows, JointMachine, JointRun, OTHER_K, mechanism, starts};
use crate::findings::{Caveat, PolicyClass};
use trace::caveat::{SettingsSeen, SlowdownSeen};

/// Every question, by machine.
pub(super) fn open(runs: &[JointRun], machines: &[JointMachine]) -> Vec<Caveat> {
    let mut open = Vec::new();
    let mut ask = |caveat: Caveat| {
        if !open.contains(&caveat) {
            open.push(caveat);
        }
    };
    if machines.is_empty() && starts::may_be_throttled(runs) {
        ask(Caveat::PolicyUndetermined { seen: SlowdownSeen::NeverCool });
    } else if machines.is_empty() {
        let hottest_k = runs.iter().filter_map(|run| run.hottest_free_k()).reduce(f64::max);
        ask(Caveat::NotHotEnough { runs: runs.len(), hottest_k, governed: false });
    }
    for machine in machines {
        if machine.follows == Follows::Undetermined {
            ask(Caveat::ThresholdUndetermined { settings: settings_seen(runs) });
        }
        if machine.mechanism == PolicyClass::Undetermined {
            // Another air has been tried: more of the same load is left.
            let seen =
                if varied_air(runs, machine) { SlowdownSeen::Irregular } else { SlowdownSeen::SeveralRuns };
            ask(Caveat::MechanismUndetermined { seen });
        }
        let no_release = machine.points.iter().all(|p| p.release_k.is_none());
        if no_release && machine.mechanism == PolicyClass::Relay {
            ask(Caveat::ReleaseNotSeen);
        }
    }
    open
}

/// Whether the same operation was throttled in different air.
fn varied_air(runs: &[JointRun], machine: &JointMachine) -> bool {
    let air: Vec<f64> = machine.points.iter().filter_map(|p| runs[p.run].ambient_k).collect();
    mechanism::range(&air) >= OTHER_K && mechanism::one_operation(runs, &machine.points)
}

fn settings_seen(runs: &[JointRun]) -> SettingsSeen {
    let known = runs.iter().filter(|run| run.tmt1_k.is_some() || run.tmt2_k.is_some()).count();
    let differ = |of: fn(&JointRun) -> Option<f64>| {
        runs.iter().filter_map(of).any(|k| Some(k) != runs.iter().filter_map(of).next())
    };
    let (tmt1, tmt2) = (differ(|run| run.tmt1_k), differ(|run| run.tmt2_k));
    match (tmt1, tmt2) {
        _ if known == 0 => SettingsSeen::Unknown,
        (true, true) => SettingsSeen::ChangedTogether,
        (false, false) => SettingsSeen::AllAlike,
        _ => SettingsSeen::TooFew,
    }
}
