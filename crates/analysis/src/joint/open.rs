//! What several runs leave open, and which measurement would decide it.

use super::{Follows, JointRun, Machine};
use crate::findings::{Caveat, PolicyClass};

/// Every question, by machine.
pub(super) fn open(runs: &[JointRun], machines: &[Machine]) -> Vec<Caveat> {
    let mut open = Vec::new();
    let mut ask = |kind: &str, text: String| {
        let caveat = Caveat { kind: kind.to_owned(), text };
        if !open.contains(&caveat) {
            open.push(caveat);
        }
    };
    if machines.is_empty() {
        ask("not_hot_enough", nothing_seen(runs));
    }
    for machine in machines {
        if machine.follows == Follows::Undetermined {
            ask("threshold_undetermined", which_setting(runs).to_owned());
        }
        if machine.mechanism == PolicyClass::Undetermined {
            let text = "Whether a fixed lower speed or one that follows the temperature is used was not seen: \
                        the same load with another air flow or ambient would decide it, as a regulator keeps the \
                        temperature and a relay keeps the speed.";
            ask("mechanism_undetermined", text.to_owned());
        }
        let no_release = machine.points.iter().all(|p| p.release_k.is_none());
        if no_release && machine.mechanism == PolicyClass::Relay {
            let text = "No run shows where the slow speed is given up again: a phase of less load behind it, \
                        until the drive has cooled, would.";
            ask("release_not_seen", text.to_owned());
        }
    }
    open
}

fn nothing_seen(runs: &[JointRun]) -> String {
    let hottest = runs.iter().filter_map(|run| run.hottest_free_k).reduce(f64::max);
    let up_to = hottest.map_or(String::new(), |k| format!(" up to {}", crate::cause::heat::degrees(k)));
    format!(
        "None of these runs was slowed down by heat{up_to}. A longer or heavier load, a warmer place, or a lower TMT1 \
         where the drive takes one, would show what it does."
    )
}

fn which_setting(runs: &[JointRun]) -> &'static str {
    let known = runs.iter().filter(|run| run.tmt1_k.is_some() || run.tmt2_k.is_some()).count();
    let differ = |of: fn(&JointRun) -> Option<f64>| {
        runs.iter().filter_map(of).any(|k| Some(k) != runs.iter().filter_map(of).next())
    };
    let (tmt1, tmt2) = (differ(|run| run.tmt1_k), differ(|run| run.tmt2_k));
    if known == 0 {
        "No run says what TMT1 and TMT2 were set to: runs at two settings that are 5 K apart, with them recorded, \
         would tell whether the threshold follows them."
    } else if tmt1 && tmt2 {
        "TMT1 and TMT2 were changed together, so which of them the threshold follows is not told: a run with one of \
         them as before and the other 5 K lower would decide it."
    } else if tmt1 || tmt2 {
        "The threshold was not seen at enough settings: one more run with TMT1 and TMT2 another 5 K lower would \
         decide whether it follows them."
    } else {
        "All runs have the same TMT1 and TMT2, so whether the threshold follows them is not told: a run with both of \
         them 5 K lower would decide it."
    }
}
