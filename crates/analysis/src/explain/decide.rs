//! Why a cause won, and what would decide one that did not win clearly.

use super::Sources;
use crate::cause::Judged;
use crate::cause::evidence::Suspect::{Other, Slc};
use crate::cause::evidence::{
    CALLED_CACHE, CALLED_HEAT, CALLED_NOT_HEAT, Conclusion, HEAT, Odds, POSSIBLE, SURE, SUSPECTS, Suspect,
    Weighing,
};
use crate::findings::SegmentOp;
use crate::wording::with_rule;

/// An observation that makes less difference is not told as a reason.
const A_HINT: f64 = 0.5;

/// Why the cause is called as it is.
pub(super) fn why(judged: &Judged, odds: &Odds) -> Vec<String> {
    let mut ranked = SUSPECTS;
    ranked.sort_by(|a, b| odds.p[*b as usize].total_cmp(&odds.p[*a as usize]));
    let (winner, rival) = (ranked[0], ranked[1]);
    let mut sentences = vec![why_called(odds)];
    let total = judged.evidence.total();
    let ahead = total[winner as usize] - total[rival as usize];
    sentences.push(format!(
        "Most likely: {} ({:.0} %), then {} ({:.0} %): {ahead:.1} log odds apart, {}.",
        winner.name(),
        100.0 * odds.p[winner as usize],
        rival.name(),
        100.0 * odds.p[rival as usize],
        odds_to_one(ahead)
    ));
    let name = rival.name();
    sentences.extend(
        strongest(judged, winner, rival).map(|(by, told)| format!("Strongest for it ({by:+.1}): {told}")),
    );
    let against = strongest(judged, rival, winner);
    sentences.extend(against.map(|(by, told)| format!("Strongest for {name} instead ({by:+.1}): {told}")));
    sentences
}

/// Why that is the finding, in the numbers that made it.
fn why_called(odds: &Odds) -> String {
    let share = |p: f64| format!("{:.0} %", 100.0 * p);
    let of = |suspect: Suspect| odds.p[suspect as usize];
    let heat = share(odds.heat);
    let all_heat = format!("Thermal throttling at any threshold: {heat}");
    let called = share(CALLED_HEAT);
    let not_heat = format!("{all_heat}; it is reported from {called} on, as a false alarm costs most.");
    let (name, one) = (odds.likeliest.name(), share(of(odds.likeliest)));
    match odds.conclusion().0 {
        Conclusion::Heat(_) => format!(
            "{all_heat}, reported from {called} on. Of that, {one} is {name}; a threshold is named when it is twice as likely as the others together."
        ),
        Conclusion::SomeHeat => format!(
            "{all_heat}, reported from {called} on. The most likely threshold is {name} with {one}, less than twice the others together, so none is named."
        ),
        Conclusion::SlcFull => {
            format!(
                "SLC cache full: {}, reported from {} on, where not thermal has {}. {not_heat}",
                share(of(Slc)),
                share(CALLED_CACHE),
                share(CALLED_NOT_HEAT)
            )
        }
        Conclusion::NotHeat => format!(
            "Not thermal: {}, reported from {} on. {not_heat}",
            share(of(Other) + of(Slc)),
            share(CALLED_NOT_HEAT)
        ),
        Conclusion::Unknown => format!(
            "{all_heat}, not thermal: {}. Either is reported from {called} on, so the cause is not determined.",
            share(of(Other) + of(Slc))
        ),
    }
}

/// Log odds as odds.
fn odds_to_one(log_odds: f64) -> String {
    match log_odds.exp() {
        odds if odds < 10.0 => format!("odds of {odds:.1} to 1"),
        odds if odds < 1e3 => format!("odds of {odds:.0} to 1"),
        _ => "odds of more than a thousand to 1".to_owned(),
    }
}

/// The observation that sets `one` furthest ahead of `other`: by how much, and its text with its rule.
fn strongest(judged: &Judged, one: Suspect, other: Suspect) -> Option<(f64, String)> {
    let ahead = |o: &Weighing| o.weights[one as usize] - o.weights[other as usize];
    let seen = judged.evidence.weighings().iter().filter(|weighing| !weighing.observation.is_prior());
    let strongest = seen.max_by(|a, b| ahead(a).total_cmp(&ahead(b)))?;
    let told = with_rule(&strongest.observation);
    (ahead(strongest) >= A_HINT).then(|| (ahead(strongest), told))
}

/// What else would decide it; nothing where it is sure.
pub(super) fn would_decide(evidence: &Sources, judged: &Judged, odds: &Odds) -> Vec<String> {
    let verdict = &judged.verdict;
    let named = !matches!(verdict.conclusion, Conclusion::Unknown | Conclusion::SomeHeat);
    if named && verdict.confidence >= SURE {
        return Vec::new();
    }
    let mut ways = missing(evidence, judged);
    let possible = |suspect: Suspect| odds.p[suspect as usize] >= POSSIBLE;
    let thresholds: Vec<_> = HEAT.into_iter().filter(|suspect| possible(*suspect)).collect();
    if thresholds.len() >= 2 {
        let names: Vec<_> = thresholds.iter().map(|suspect| suspect.name()).collect();
        ways.push(format!(
            "To tell {} apart: repeat the run with TMT1 and TMT2 set 5 K lower. An onset that moves with the setting is a host threshold; one that stays is the firmware's.",
            names.join(" and ")
        ));
    }
    let heat = !thresholds.is_empty();
    if heat && possible(Other) {
        ways.push("To tell heat from another cause: repeat the run with a fan on the drive. Thermal throttling starts later or not at all; anything else does not move.".to_owned());
    }
    if possible(Slc) && (heat || possible(Other)) {
        ways.push("To tell the SLC cache from the others: repeat the run on a deallocated drive at half the rate. A full cache comes after the same amount of data.".to_owned());
    }
    ways
}

/// What the record lacks.
fn missing(evidence: &Sources, judged: &Judged) -> Vec<String> {
    let trace = evidence.trace;
    let mut ways = Vec::new();
    if judged.onset_k.is_none() {
        ways.push("Record a temperature every second: `heatsoak run` does, and `heatsoak analyze --join` reads one from nvme-cli or smartctl logs.".to_owned());
    }
    let settings = trace.settings_at(judged.start_s);
    if settings.is_none_or(|settings| settings.tmt1_k.is_none() && settings.tmt2_k.is_none()) {
        ways.push(
            "Record TMT1 and TMT2 (`heatsoak hctm DRIVE`; columns `tmt1_c` and `tmt2_c` in a CSV)."
                .to_owned(),
        );
    }
    if judged.counted.tmt1.is_none() && judged.counted.tmt2.is_none() {
        ways.push("Record the TMT1 and TMT2 counters of the SMART log every second.".to_owned());
    }
    let writes = matches!(evidence.stretch(judged).op, SegmentOp::Write | SegmentOp::Mixed);
    if writes && trace.facts.slc_bytes.is_none() && judged.verdict.conclusion == Conclusion::Unknown {
        ways.push("State the size of the SLC cache (`--slc`).".to_owned());
    }
    ways
}
