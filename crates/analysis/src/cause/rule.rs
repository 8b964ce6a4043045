//! The rules that weigh what is observed about a drop, by name.
//!
//! METHODS has a section for each, under its name: the formula, where it comes from, and where it fails.

use serde::Serialize;

/// A rule that weighs an observation, in the order of METHODS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// What is likely before anything is seen.
    Beforehand,
    /// How hot it was, against what drives are built for.
    Hot,
    /// There is no temperature to go by.
    NoTemperature,
    /// The temperature against TMT1 and TMT2.
    Thresholds,
    /// Full speed at higher temperatures.
    HotterBefore,
    /// Full speed for long at that temperature.
    Lingering,
    /// A temperature that did not rise beforehand.
    Standing,
    /// Speed that gave way bit by bit while the temperature came to rest.
    Settling,
    /// What the temperature did while the drive was slow.
    Meanwhile,
    /// The temperature when speed came back.
    ComingBack,
    /// How often the drive went slow when hot and when cool.
    AgainAndAgain,
    /// The drive's own counters.
    Counters,
    /// Data written against the cache's size, and what speed did then.
    WriteCache,
    /// The page cache lies between.
    PageCache,
    /// It was over within seconds.
    Short,
    /// It lost little, and at once.
    LittleLost,
    /// The host changed the power state.
    PowerState,
    /// Nothing moved, and nobody knows whether anything was asked for.
    Pause,
    /// Others that look the same began cooler.
    AlikeCooler,
    /// Others that look the same began at the same temperature.
    AlikeOneTemperature,
    /// Others that look the same began at many temperatures.
    AlikeManyTemperatures,
    /// What others that look the same weigh.
    AlikeAverage,
    /// Clear ones began at the same temperature.
    AlikeClear,
    /// What comes again and again and is not heat: it names, and weighs nothing.
    Recurring,
}

impl Rule {
    /// All of them, in the order of METHODS.
    pub const ALL: [Self; 24] = [
        Self::Beforehand,
        Self::Hot,
        Self::NoTemperature,
        Self::Thresholds,
        Self::HotterBefore,
        Self::Lingering,
        Self::Standing,
        Self::Settling,
        Self::Meanwhile,
        Self::ComingBack,
        Self::AgainAndAgain,
        Self::Counters,
        Self::WriteCache,
        Self::PageCache,
        Self::Short,
        Self::LittleLost,
        Self::PowerState,
        Self::Pause,
        Self::AlikeCooler,
        Self::AlikeOneTemperature,
        Self::AlikeManyTemperatures,
        Self::AlikeAverage,
        Self::AlikeClear,
        Self::Recurring,
    ];

    /// Its name, which is the heading of its section in METHODS too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Beforehand => "beforehand",
            Self::Hot => "hot",
            Self::NoTemperature => "no-temperature",
            Self::Thresholds => "thresholds",
            Self::HotterBefore => "hotter-before",
            Self::Lingering => "lingering",
            Self::Standing => "standing",
            Self::Settling => "settling",
            Self::Meanwhile => "meanwhile",
            Self::ComingBack => "coming-back",
            Self::AgainAndAgain => "again-and-again",
            Self::Counters => "counters",
            Self::WriteCache => "write-cache",
            Self::PageCache => "page-cache",
            Self::Short => "short",
            Self::LittleLost => "little-lost",
            Self::PowerState => "power-state",
            Self::Pause => "pause",
            Self::AlikeCooler => "alike-cooler",
            Self::AlikeOneTemperature => "alike-one-temperature",
            Self::AlikeManyTemperatures => "alike-many-temperatures",
            Self::AlikeAverage => "alike-average",
            Self::AlikeClear => "alike-clear",
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
