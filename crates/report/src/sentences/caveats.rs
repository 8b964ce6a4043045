//! Caveats in the order of what they cost the reader; those that say one thing are said once.

use analysis::findings::Caveat;
use analysis::wording;
use trace::caveat::{HeatingUnknown, SlowdownSeen, Unseen};

use crate::view::ReportInput;

/// Caveats by what a reader does with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SortedCaveats {
    /// Numbers or verdicts that may be wrong, first those that may be wrong most.
    pub(super) first: Vec<String>,
    /// What is open, with the experiment that would settle it.
    pub(super) next: Vec<String>,
    /// What is true of every run like this one.
    pub(super) fine_print: Vec<String>,
}

/// What a caveat costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CaveatCost {
    /// Data are missing or wrong.
    Data,
    /// Clocks, units and sensors may be wrong.
    Reading,
    /// The verdict has a limit.
    Verdict,
    /// An experiment would settle it.
    Open,
    /// It is so in every run like this one.
    FinePrint,
}

/// All caveats and notes of a run.
pub(super) fn sorted(input: &ReportInput) -> SortedCaveats {
    let all = &input.findings.caveats;
    let simulated = all.contains(&Caveat::Simulated);
    let no_temperature = all.iter().any(|caveat| matches!(caveat, Caveat::NoTemperature { .. }));
    let mut sorted = SortedCaveats { next: input.advice.clone(), ..SortedCaveats::default() };
    let mut first: Vec<(CaveatCost, String)> = Vec::new();
    for caveat in all.iter().filter(|caveat| !(no_temperature && follows_from_no_temperature(caveat))) {
        let text = match caveat {
            // The badge beside the title says it.
            Caveat::Simulated if input.simulated_badge().is_some() => continue,
            Caveat::NotSeen { values } if no_temperature => {
                match values.iter().filter(|value| !is_thermal(value)).cloned().collect::<Vec<_>>() {
                    values if values.is_empty() => continue,
                    values => wording::caveat(&Caveat::NotSeen { values }),
                }
            }
            caveat => wording::caveat_of(caveat, simulated),
        };
        match cost(caveat) {
            CaveatCost::Open => sorted.next.push(text),
            CaveatCost::FinePrint => sorted.fine_print.push(text),
            cost => first.push((cost, text)),
        }
    }
    first.sort_by_key(|(cost, _)| *cost);
    sorted.first = first.into_iter().map(|(_, text)| text).collect();
    sorted.fine_print.extend(input.notes.iter().map(|note| sentence(note)));
    sorted
}

/// A note of an import as a sentence: those begin as a clause does, or with the name of a file.
fn sentence(note: &str) -> String {
    let first = note.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|letter| letter.is_ascii_lowercase());
    let text = if is_word { super::capitalised(note) } else { note.to_owned() };
    if text.ends_with(['.', '!', '?']) { text } else { text + "." }
}

/// Without a temperature neither a policy, nor thresholds, nor heating can be known: [`Caveat::NoTemperature`] says so.
const fn follows_from_no_temperature(caveat: &Caveat) -> bool {
    matches!(
        caveat,
        Caveat::PolicyUndetermined { seen: SlowdownSeen::NoTemperature }
            | Caveat::NotHotEnough { hottest_k: None, .. }
            | Caveat::ThermalNotIdentified(HeatingUnknown::FewTemperatures)
            | Caveat::AmbientUnknown
            | Caveat::WholeKelvin { .. }
    )
}

const fn is_thermal(value: &Unseen) -> bool {
    !matches!(value, Unseen::SlcBytes { .. })
}

const fn cost(caveat: &Caveat) -> CaveatCost {
    match caveat {
        Caveat::Damaged(_)
        | Caveat::Unfinished { .. }
        | Caveat::IoErrors(_)
        | Caveat::Truncated { .. }
        | Caveat::Duplicated { .. }
        | Caveat::SumDiffers(_)
        | Caveat::OtherJobs { .. }
        | Caveat::NoTemperature { .. }
        | Caveat::PageCache { .. } => CaveatCost::Data,
        Caveat::Clock(_)
        | Caveat::ClockStep(_)
        | Caveat::ClockDrift { .. }
        | Caveat::ClockOffsetEstimated { .. }
        | Caveat::UnitUnstated { .. }
        | Caveat::AboveLinkRate { .. }
        | Caveat::FrozenSensor(_)
        | Caveat::CopiedSensor { .. }
        | Caveat::CountersWithoutHeat(_)
        | Caveat::Gap(_)
        | Caveat::TransportReset { .. }
        | Caveat::TransportLost { .. }
        | Caveat::SensorSpikes { .. }
        | Caveat::SlowTemperature { .. }
        | Caveat::Averaged { .. } => CaveatCost::Reading,
        Caveat::AtLinkRate { .. }
        | Caveat::CountersWithoutSlowdown { .. }
        | Caveat::SlowdownWithoutCounters { .. }
        | Caveat::Cyclostationary(_)
        | Caveat::FasterInOtherRun { .. }
        | Caveat::SlowerPowerState { .. }
        | Caveat::AmbientAboveDrive { .. }
        | Caveat::SameRecord { .. }
        | Caveat::TooShort { .. } => CaveatCost::Verdict,
        Caveat::PolicyUndetermined { .. }
        | Caveat::MechanismUndetermined { .. }
        | Caveat::ThresholdUndetermined { .. }
        | Caveat::RunsDisagree { .. }
        | Caveat::ReleaseNotSeen
        | Caveat::NotHotEnough { .. } => CaveatCost::Open,
        Caveat::ThermalNotIdentified(_)
        | Caveat::NotSeen { .. }
        | Caveat::WholeKelvin { .. }
        | Caveat::AmbientUnknown
        | Caveat::Simulated => CaveatCost::FinePrint,
    }
}

#[cfg(test)]
mod test {
    use super::sentence;

    #[test]
    fn notes_are_sentences() {
        let told =
            ["of the drives in it, sda is taken", "log.csv ends with 3 zero bytes", "Simulated: a model."];
        let wanted =
            ["Of the drives in it, sda is taken.", "log.csv ends with 3 zero bytes.", "Simulated: a model."];
        assert_eq!(told.map(sentence), wanted);
    }
}
