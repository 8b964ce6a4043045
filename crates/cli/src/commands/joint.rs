//! The policy of each drive that several of the runs at hand are of.

use analysis::joint::{JointPolicy, JointRun, joint_policy};

/// One policy a drive, in the order in which drives come up. Logs name no drive: they count only where the user says
/// that all runs are of one.
pub(crate) fn joint_policies(runs: Vec<JointRun>, is_one_drive: bool) -> Vec<JointPolicy> {
    let mut drives: Vec<Vec<JointRun>> = Vec::new();
    for run in runs {
        match drives.iter_mut().find(|drive| is_one_drive || drive[0].is_of_drive(&run)) {
            Some(drive) => drive.push(run),
            None => drives.push(vec![run]),
        }
    }
    drives.iter().filter_map(|runs| joint_policy(runs)).collect()
}
