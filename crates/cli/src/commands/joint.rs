//! The policy of each drive that several of the runs at hand are of, and the runs in the light of each other.

use analysis::joint::{JointPolicy, JointRun, joint_policy, others};

use crate::commands::findings::Analyzed;

/// The runs, each judged with what the others of its drive show, and one policy a drive, in the order in which drives come up. Logs
/// name no drive: they count only where the user says that all runs are of one.
///
/// # Errors
/// When a run that was read cannot be read again.
pub(crate) fn together(
    runs: Vec<Analyzed>,
    is_one_drive: bool,
) -> anyhow::Result<(Vec<Analyzed>, Vec<JointPolicy>)> {
    let drives = drives(&runs, is_one_drive);
    let mut policies = Vec::new();
    let mut runs: Vec<Option<Analyzed>> = runs.into_iter().map(Some).collect();
    for drive in drives {
        let of_drive: Vec<JointRun> =
            drive.iter().flat_map(|at| &runs[*at]).map(|run| run.joint.clone()).collect();
        let joint = joint_policy(&of_drive);
        for (nth, (at, others)) in drive.into_iter().zip(others(&of_drive)).enumerate() {
            let run = runs[at].take().map(|run| run.among(&others)).transpose()?;
            runs[at] =
                run.map(|run| match joint.as_ref().and_then(|j| j.policy_of(nth, &run.findings().policy)) {
                    Some(policy) => run.with_policy(policy),
                    None => run,
                });
        }
        policies.extend(joint);
    }
    Ok((runs.into_iter().flatten().collect(), policies))
}

/// The indices of the runs of each drive.
fn drives(runs: &[Analyzed], is_one_drive: bool) -> Vec<Vec<usize>> {
    let mut drives: Vec<Vec<usize>> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let same = |drive: &&mut Vec<usize>| is_one_drive || runs[drive[0]].joint.is_of_drive(&run.joint);
        match drives.iter_mut().find(same) {
            Some(drive) => drive.push(index),
            None => drives.push(vec![index]),
        }
    }
    drives
}
