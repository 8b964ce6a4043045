//! The rules that weigh what is observed about a drop, by name.
//!
//! METHODS has a section for each, under its name: the formula, where it comes from, and where it fails.

use schemars::JsonSchema;
use serde::Serialize;

/// A rule that weighs an observation, in the order of METHODS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The prior.
    Beforehand,
    /// There is no temperature to go by.
    NoTemperature,
    /// The temperature against TMT1 and TMT2.
    Thresholds,
    /// The temperature against where drives have thresholds of their own, and where other drops began.
    OwnThreshold,
    /// How often such a drop comes by chance.
    Chance,
    /// Full speed at higher temperatures.
    HotterBefore,
    /// What the temperature did while the drive was slow and when speed came back.
    Course,
    /// The drive's own counters.
    Counters,
    /// Data written against the cache's size, and what speed did then.
    WriteCache,
    /// How long it lasted and how much was lost.
    Shape,
    /// What the host did.
    Host,
    /// What other drops of the same depth and length are.
    Alike,
    /// Drops at fixed intervals, and a name for drops that recur.
    Recurring,
}

impl Rule {
    /// All of them, in the order of METHODS.
    pub const ALL: [Self; 13] = [
        Self::Beforehand,
        Self::NoTemperature,
        Self::Thresholds,
        Self::OwnThreshold,
        Self::Chance,
        Self::HotterBefore,
        Self::Course,
        Self::Counters,
        Self::WriteCache,
        Self::Shape,
        Self::Host,
        Self::Alike,
        Self::Recurring,
    ];

    /// Its name, which is the heading of its section in METHODS too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Beforehand => "beforehand",
            Self::NoTemperature => "no-temperature",
            Self::Thresholds => "thresholds",
            Self::OwnThreshold => "own-threshold",
            Self::Chance => "chance",
            Self::HotterBefore => "hotter-before",
            Self::Course => "course",
            Self::Counters => "counters",
            Self::WriteCache => "write-cache",
            Self::Shape => "shape",
            Self::Host => "host",
            Self::Alike => "alike",
            Self::Recurring => "recurring",
        }
    }
    /// Where it is documented: `docs/METHODS.md#counters`.
    pub fn section(self) -> String {
        format!("docs/METHODS.md#{}", self.name())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_rule_has_its_section() {
        let methods = include_str!("../../../../docs/METHODS.md");
        let headings: Vec<&str> = methods.lines().filter_map(|line| line.strip_prefix("#### ")).collect();
        assert_eq!(headings, Rule::ALL.map(Rule::name));
        for rule in Rule::ALL {
            let json = serde_json::to_value(rule).expect("a rule is plain data");
            assert_eq!(json, rule.name(), "one name wherever it is told");
        }
    }
}
