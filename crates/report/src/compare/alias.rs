//! Short names for runs: a letter each in tables and charts, what the letter stands for once.

use super::align;
use super::loads::ComparedLoad;
use crate::format::MISSING;
use crate::sentences;
use crate::view::{Provenance, ReportInput, labels};

/// A run of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    /// "A".
    pub(crate) letter: String,
    /// What tells it from the others: "TMT1 65 °C, TMT2 70 °C".
    pub(crate) differs: String,
    /// Where it was read from.
    pub(crate) read_from: String,
    /// Whether it was measured.
    pub(crate) origin: &'static str,
    /// How it throttles, in a word or two.
    pub(crate) policy: &'static str,
}

/// One alias a run, in order. Where no setting tells the runs apart, what they asked for may.
pub(super) fn aliases(runs: &[ReportInput], loads: &[ComparedLoad]) -> Vec<Alias> {
    let settings: Vec<_> = runs.iter().map(|run| &run.settings).collect();
    let alike = settings.windows(2).all(|pair| pair[0] == pair[1]);
    let asked = if alike { align::labels(loads) } else { None };
    let names = asked.unwrap_or_else(|| labels(&settings));
    let alias = |(index, (run, differs)): (usize, (&ReportInput, String))| Alias {
        letter: letter(index),
        differs,
        read_from: run.read_from.clone().unwrap_or_else(|| MISSING.to_owned()),
        origin: origin(run),
        policy: sentences::policy_word(run.findings.policy.class),
    };
    runs.iter().zip(names).enumerate().map(alias).collect()
}

/// A to Z, then AA to ZZ and so on, as spreadsheets name columns.
pub(crate) fn letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", letter(more - 1)),
    }
}

fn origin(run: &ReportInput) -> &'static str {
    match (&run.source, run.simulated_badge()) {
        (_, Some(_)) => "SIMULATED",
        (Provenance::Unknown, None) => "not stated",
        (_, None) => "measured",
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 25, 26, 51, 52, 701, 702].map(letter), ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]);
    }
}
