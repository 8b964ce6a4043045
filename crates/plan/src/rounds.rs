//! Rounds: phases that are done again until what one of them measures is steady, as SNIA's test specification has it.
//!
//! A plan in memory has all its rounds one after the other, as many as there may be: each phase of each round is a
//! phase of the record. A file has them once. Whether speeds are steady is not decided here: the session asks a rule
//! that its caller brings.

use serde::{Deserialize, Serialize};

use crate::toml::phase::phases;

use super::{Mix, Phase, Plan, PlanError};

/// PTS 2.0.2, 2.1.24: the measurement window has five rounds; fewer cannot be steady.
pub(super) const LEAST: u32 = 5;

/// Which phases of a plan make rounds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// How many rounds there are at most.
    #[serde(default = "pts_at_most")]
    at_most: u32,
    /// The phase whose speed has to become steady.
    until_steady: String,
    /// The phases of one round, one or more, under their own names.
    #[serde(rename = "phase", deserialize_with = "phases")]
    phases: Vec<Phase>,
    /// Index of the first phase of the first round among those of the plan.
    #[serde(skip)]
    first: usize,
}

/// PTS 2.0.2 goes on for 25 rounds at most.
const fn pts_at_most() -> u32 {
    25
}

impl Rounds {
    /// Appends `at_most` rounds of `phases` to those of a plan. The speed of the phase called `until_steady` is what
    /// has to become steady.
    ///
    /// # Errors
    /// A sentence: there is no such phase, or there are too few rounds.
    pub fn unroll(
        before: &mut Vec<Phase>,
        phases: &[Phase],
        at_most: u32,
        until_steady: &str,
    ) -> Result<Self, String> {
        let until_steady = until_steady.to_owned();
        let mut rounds = Self { at_most, until_steady, phases: phases.to_vec(), first: 0 };
        rounds.append_to(before).map(|()| rounds)
    }

    /// Appends all rounds to the phases of a plan.
    ///
    /// # Errors
    /// A sentence, as of [`Rounds::unroll`].
    pub(super) fn append_to(&mut self, before: &mut Vec<Phase>) -> Result<(), String> {
        let Self { at_most, until_steady, phases, .. } = self;
        if *at_most < LEAST {
            return Err(format!("{at_most} rounds cannot show a steady state; it takes {LEAST} or more"));
        }
        let names: Vec<&str> = phases.iter().map(|phase| phase.name.as_str()).collect();
        if !names.contains(&until_steady.as_str()) {
            let names = names.join(", ");
            return Err(format!("no phase of the rounds is called {until_steady:?}; there are {names}"));
        }
        self.first = before.len();
        for round in 1..=self.at_most {
            let named = |phase: &Phase| Phase { name: name_in(round, &phase.name), ..phase.clone() };
            before.extend(self.phases.iter().map(named));
        }
        Ok(())
    }

    /// How many phases of a plan come before its rounds.
    pub(super) const fn first(&self) -> usize {
        self.first
    }

    /// How many rounds there are at most.
    pub const fn at_most(&self) -> u32 {
        self.at_most
    }

    /// Which round a phase belongs to, from 1; `None` before the rounds.
    pub fn round_of(&self, phase: usize) -> Option<u32> {
        phase.checked_sub(self.first).map(|within| (within / self.phases.len()) as u32 + 1)
    }

    /// Whether the rounds go on until the speed of this phase is steady.
    pub fn is_tracked(&self, phase: usize) -> bool {
        self.in_round(phase).is_some_and(|within| {
            self.phases.iter().position(|phase| phase.name == self.until_steady) == Some(within)
        })
    }

    /// Whether a round ends with this phase.
    pub fn ends_with(&self, phase: usize) -> bool {
        self.in_round(phase) == Some(self.phases.len() - 1)
    }

    /// Which phase of its round one of the plan is, from 0.
    fn in_round(&self, phase: usize) -> Option<usize> {
        phase.checked_sub(self.first).map(|within| within % self.phases.len())
    }
}

impl Plan {
    /// The plan without its purge, for a target that cannot deallocate; `None` where it has none: a first phase of
    /// that name, which does nothing but deallocate.
    #[must_use]
    pub fn without_purge(&self) -> Option<Self> {
        let (first, rest) = self.phases.split_first()?;
        let purges = first.name == PURGE && first.loads.iter().all(|load| load.mix == Mix::TRIM);
        (purges && !first.loads.is_empty() && !rest.is_empty()).then(|| {
            let mut plan = Self { phases: rest.to_vec(), ..self.clone() };
            plan.rounds =
                self.rounds.clone().map(|rounds| Rounds { first: rounds.first.saturating_sub(1), ..rounds });
            plan.notes.push("not purged beforehand: the target cannot deallocate".to_owned());
            plan
        })
    }
}

/// What PTS calls bringing a drive to a state as if it had never been written.
const PURGE: &str = "purge";

/// The name of a phase in a round.
fn name_in(round: u32, name: &str) -> String {
    format!("{name}, round {round}")
}

/// Whether the rounds of a plan are what its phases are.
///
/// # Errors
/// [`PlanError::Unfit`]: only code can make this mistake.
pub(super) fn check(plan: &Plan, rounds: &Rounds) -> Result<(), PlanError> {
    let phases = rounds.first + rounds.phases.len() * rounds.at_most as usize;
    if phases == plan.phases.len() {
        return Ok(());
    }
    let why = format!("its rounds make {phases} phases, and it has {}", plan.phases.len());
    Err(PlanError::Unfit { plan: plan.name.clone(), phase: None, why })
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use super::*;

    #[test]
    fn rounds_are_unrolled_and_rolled_up_again() {
        let idle = |name: &str| Phase::idle(name, Duration::from_secs(1));
        let mut plan = Plan::new("x");
        plan.phases = vec![idle("before")];
        let round = [idle("a"), idle("b")];
        let rounds = Rounds::unroll(&mut plan.phases, &round, 5, "b").expect("rounds");
        assert_eq!((plan.phases.len(), plan.phases[4].name.as_str()), (11, "b, round 2"));
        assert_eq!([0, 1, 4, 10].map(|phase| rounds.round_of(phase)), [None, Some(1), Some(2), Some(5)]);
        assert_eq!([0, 1, 2, 4].map(|phase| rounds.is_tracked(phase)), [false, false, true, true]);
        assert_eq!([0, 1, 2, 10].map(|phase| rounds.ends_with(phase)), [false, false, true, true]);
        assert_eq!((rounds.first(), &rounds.phases[..], rounds.until_steady.as_str()), (1, &round[..], "b"));
        check(&plan, &rounds).expect("they are what its phases are");
        plan.phases.pop();
        assert!(check(&plan, &rounds).is_err());
    }

    #[test]
    fn a_target_that_cannot_deallocate_is_not_purged() {
        for (name, rounds) in [("pts-iops", 25 * 49), ("pts-throughput", 50), ("pts-write-saturation", 0)] {
            let plan = Plan::builtin(name).expect("built in");
            let without = plan.without_purge().expect("it purges");
            assert_eq!(without.phases, plan.phases[1..], "{name}");
            assert_eq!(
                without.rounds.as_ref().map_or(0, |rounds| rounds.phases.len() * rounds.at_most as usize),
                rounds
            );
            if let Some(rounds) = &without.rounds {
                check(&without, rounds).expect("they are what its phases are");
                assert!(without.phases.iter().enumerate().all(|(index, phase)| {
                    rounds.is_tracked(index)
                        == phase
                            .name
                            .starts_with(["write 4KiB", "write 1MiB"][usize::from(name != "pts-iops")])
                }));
            }
            assert!(without.without_purge().is_none());
        }
        assert!(Plan::builtin("hctm-read").expect("built in").without_purge().is_none());
    }

    #[test]
    fn what_cannot_be_steady_is_refused() {
        let phases = [Phase::idle("a", Duration::from_secs(1))];
        let refused =
            |at_most, name| Rounds::unroll(&mut Vec::new(), &phases, at_most, name).expect_err("no rounds");
        assert!(refused(4, "a").contains("5 or more"));
        assert!(refused(5, "b").contains("there are a"));
    }
}
