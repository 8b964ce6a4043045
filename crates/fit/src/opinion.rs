//! A second opinion on what throttles a drive: each machine that the verdict leaves open is fitted to the runs, and so is a
//! drive without any.
//!
//! The verdict reads signs off a run - counters, cycles, temperatures that are held. This asks another question: which
//! machine, simulated under the same loads, does what the drive did. Where both say the same, both are worth more.

use analysis::findings::PolicyClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::commands::{THERMAL_ID, with_cache_size};
use crate::fitted::Fitted;
use crate::onset::Class;

/// Less than this is not worth a number.
const LEAST: f64 = 0.005;
/// More than this is no number either.
const MOST: f64 = 0.99;
/// An opinion from this probability on.
const SURE: f64 = 0.8;

/// A machine, or several that act together, and how probable the runs make it beside the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MachineOdds {
    /// One for each threshold that acted; empty is a drive that heat does not slow down.
    pub machines: Vec<FittedMachine>,
    /// Probability among those that were fitted, tempered as classes are for forecasts (METHODS, Fit).
    pub probability: f64,
}

/// What a fitted threshold does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FittedMachine {
    /// One lower speed until it has cooled.
    Relay,
    /// Holds a temperature.
    Regulator,
    /// The hotter, the slower, in steps.
    Stairs,
    /// Holds a temperature by bursts.
    DutyCycled,
    /// Nothing moves.
    Stop,
}

impl FittedMachine {
    pub(crate) const fn new(class: Class) -> Self {
        match class {
            Class::Relay => Self::Relay,
            Class::Regulator => Self::Regulator,
            Class::Stairs => Self::Stairs,
            Class::DutyCycled => Self::DutyCycled,
            Class::Stop => Self::Stop,
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Relay => "a relay",
            Self::Regulator => "a regulator",
            Self::Stairs => "stairs (a step slower every few kelvins)",
            Self::DutyCycled => "a duty-cycled regulator",
            Self::Stop => "a stop",
        }
    }

    /// Whether a verdict that names `class` names this machine; `None` for one that names none.
    const fn is_meant_by(self, class: PolicyClass) -> Option<bool> {
        Some(match class {
            PolicyClass::Relay | PolicyClass::TwoLevel => matches!(self, Self::Relay),
            // Stairs hold a temperature too: they are one class to the verdict.
            PolicyClass::Regulator => matches!(self, Self::Regulator | Self::Stairs),
            PolicyClass::DutyCycled => matches!(self, Self::DutyCycled),
            PolicyClass::Stop => matches!(self, Self::Stop),
            PolicyClass::None | PolicyClass::Vendor | PolicyClass::PreLimited | PolicyClass::Undetermined => {
                return None;
            }
        })
    }
}

/// Odds of machines by their losses, the most probable first.
pub(crate) fn odds(looked: Vec<(Vec<FittedMachine>, f64)>) -> Vec<MachineOdds> {
    let all: f64 = looked.iter().map(|(_, weight)| weight).sum();
    let mut odds: Vec<MachineOdds> = looked
        .into_iter()
        .map(|(machines, weight)| MachineOdds { machines, probability: weight / all.max(f64::MIN_POSITIVE) })
        .collect();
    odds.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    odds
}

/// The second opinion beside the classes that the verdict names, as a sentence. `None` where no machine was fitted, and
/// after runs that never cooled down: there it is wrong on five drives of 86 and unsure on a third (ACCURACY, Class of the throttle by fit).
pub fn sentence(fitted: &Fitted, verdict: &[PolicyClass]) -> Option<String> {
    let told = fitted.seen.cooled.then(|| told(&fitted.machines, verdict)).flatten()?;
    Some(with_cache_size(&told, fitted.simulated))
}

fn told(odds: &[MachineOdds], verdict: &[PolicyClass]) -> Option<String> {
    let first = odds.first()?;
    let rest: Vec<String> = odds[1..].iter().filter(|other| other.probability >= LEAST).map(share).collect();
    let others = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    let none = match odds.iter().find(|one| one.machines.is_empty()) {
        Some(none) if none.probability < LEAST => "; no throttling: below 1 %",
        _ => "",
    };
    let agrees = match agrees(first, verdict).filter(|_| first.probability >= SURE) {
        Some(true) => " It agrees.".to_owned(),
        Some(false) => format!(" It disagrees; `{THERMAL_ID}` would tell which is right."),
        None => String::new(),
    };
    Some(format!(
        "Second opinion, from throttling models fitted to this run: {}{others}{none}.{agrees}",
        share(first)
    ))
}

/// Whether the verdict names one of the machines; `None` where it names none at all.
fn agrees(odds: &MachineOdds, verdict: &[PolicyClass]) -> Option<bool> {
    let pairs = verdict.iter().flat_map(|class| odds.machines.iter().map(move |machine| (machine, *class)));
    pairs.filter_map(|(machine, class)| machine.is_meant_by(class)).reduce(|any, one| any | one)
}

/// "a relay 97 %".
fn share(odds: &MachineOdds) -> String {
    let words: Vec<&str> = odds.machines.iter().map(|machine| machine.word()).collect();
    let name = if words.is_empty() { "no throttling".to_owned() } else { words.join(" with ") };
    if odds.probability > MOST {
        format!("{name} over 99 %")
    } else {
        format!("{name} {:.0} %", 100.0 * odds.probability)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn said(class: PolicyClass, odds: &[(&[FittedMachine], f64)]) -> Option<String> {
        let odds: Vec<_> = odds
            .iter()
            .map(|(machines, probability)| MachineOdds {
                machines: machines.to_vec(),
                probability: *probability,
            })
            .collect();
        told(&odds, &[class])
    }

    /// Goal: it says who agrees, and takes no side where it is not sure or the verdict names no machine.
    #[test]
    fn it_agrees_disagrees_or_does_not_say() {
        use FittedMachine::{Regulator, Relay};
        let sure: &[(&[FittedMachine], f64)] = &[(&[Relay], 0.97), (&[Regulator], 0.028), (&[], 0.002)];
        let agreed = said(PolicyClass::TwoLevel, sure).expect("a sentence");
        assert_eq!(
            agreed,
            "Second opinion, from throttling models fitted to this run: a relay 97 %; a regulator 3 %; no throttling: below 1 %. \
             It agrees."
        );
        let certain = said(PolicyClass::Relay, &[(&[Relay], 0.9999), (&[], 0.0001)]).expect("a sentence");
        assert!(certain.contains("a relay over 99 %; no throttling: below 1 %."), "{certain}");
        assert!(said(PolicyClass::Regulator, sure).expect("a sentence").contains("It disagrees"));
        assert!(said(PolicyClass::Vendor, sure).expect("a sentence").ends_with("below 1 %."));
        let unsure: &[(&[FittedMachine], f64)] = &[(&[Relay], 0.6), (&[Regulator], 0.3), (&[], 0.1)];
        assert!(said(PolicyClass::Regulator, unsure).expect("a sentence").ends_with("no throttling 10 %."));
        assert_eq!(said(PolicyClass::Relay, &[]), None);
    }
}
