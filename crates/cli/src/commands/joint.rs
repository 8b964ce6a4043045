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
        for (at, others) in drive.iter().zip(others(&of_drive(&runs, &drive))) {
            runs[*at] = runs[*at].take().map(|run| run.among(&others)).transpose()?;
        }
        // Of the runs as they are told: a verdict over all that leaves out what is said of each contradicts it.
        let joint = joint_policy(&of_drive(&runs, &drive));
        for (nth, at) in drive.into_iter().enumerate() {
            runs[at] = runs[at].take().map(|run| {
                match joint.as_ref().and_then(|joint| joint.policy_of(nth, &run.findings().policy)) {
                    Some(policy) => run.with_policy(policy),
                    None => run,
                }
            });
        }
        policies.extend(joint);
    }
    Ok((runs.into_iter().flatten().collect(), policies))
}

/// What is taken of the runs of a drive, by their indices.
fn of_drive(runs: &[Option<Analyzed>], drive: &[usize]) -> Vec<JointRun> {
    drive.iter().flat_map(|at| &runs[*at]).map(|run| run.joint.clone()).collect()
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
