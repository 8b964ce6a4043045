//! The second opinion against the truth, beside the verdict: whether throttling follows the temperature or switches.
//!
//! Finer than that, a log at a hertz does not tell: bursts of half a second are a regulator, two relays are one.

use analysis::Findings;
use analysis::findings::PolicyClass;
use fit::Fitted;
use fit::opinion::FittedMachine;
use physics::profile::Machine;

use super::drives::{TestDrive, What};
use crate::corpus::foreign::world::Acts;

/// Who was right on a drive.
#[derive(Clone, Copy)]
pub(super) struct Opinions {
    /// The fit, and how sure it was.
    pub(super) fit: (bool, f64),
    /// The verdict; `None` where it names neither.
    pub(super) verdict: Option<bool>,
}

/// Holds both against a drive; `None` where it has throttles of both families, or none was fitted.
pub(super) fn of(drive: &TestDrive, fitted: &Fitted, findings: &Findings) -> Option<Opinions> {
    let follows: Vec<bool> = match &drive.what {
        What::Own(profile) => profile
            .policy
            .iter()
            .map(|policy| matches!(policy.machine, Machine::Regulator(_) | Machine::DutyCycled(_)))
            .collect(),
        What::Foreign(world) => {
            world.firmware.iter().map(|guardian| !matches!(guardian.acts, Acts::Share(_))).collect()
        }
    };
    let truth = *follows.first()?;
    if follows.contains(&!truth) {
        return None;
    }
    let first = fitted.machines.first()?;
    let is_following =
        |machine: &FittedMachine| !matches!(machine, FittedMachine::Relay | FittedMachine::Stop);
    let right = !first.machines.is_empty() && first.machines.iter().all(|one| is_following(one) == truth);
    let verdict = match findings.policy.class {
        PolicyClass::Regulator | PolicyClass::DutyCycled => Some(truth),
        PolicyClass::Relay | PolicyClass::TwoLevel | PolicyClass::Stop => Some(!truth),
        _ => None,
    };
    Some(Opinions { fit: (right, first.probability), verdict })
}
