//! The answer of a report, in its order: why it was as fast as it was, what was ruled out, what would settle the rest.
//!
//! "What happened" stands before it: the table of phases ([`crate::figures`]).

use analysis::findings::{Cause, EventKind, Label, PolicyClass};

use super::verdict::{Reason, reasons};
use super::{capitalised, caveats, evidence, lowercase_first, policy};
use crate::figures::{self, PhaseFigures};
use crate::format;
use crate::view::ReportInput;

/// Loads without anything to tell that get a sentence each; more are counted.
const QUIET_SENTENCES: usize = 4;
/// A rise from which on a constant speed says that heat did nothing: more than rounding and sensor noise.
const WARMED_C: f64 = 5.0;
/// Written data from which on an SLC cache is worth a word: less fills none.
const CACHE_WORTH_BYTES: f64 = 1e9;
/// A throttled speed below this share of the link's is not the link's.
const BELOW_LINK: f64 = 0.9;

/// The answer of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// What slowed the drive down and why; loads that nothing slowed come last.
    pub reasons: Vec<Reason>,
    /// The throttling policy in a line, and what a fit says of it.
    pub policy: String,
    /// What else could have been the cause and was not, with numbers.
    pub ruled_out: Vec<String>,
    /// What to do: the experiment that would settle what is open.
    pub next: Vec<String>,
    /// What costs the reader something: why numbers deserve care.
    pub caveats: Vec<String>,
    /// Everything else that is true of these numbers, in one place.
    pub fine_print: Vec<String>,
}

/// The answer for a run.
pub fn summary(input: &ReportInput) -> Summary {
    let figures = figures::figures(input);
    let mut reasons = reasons(&input.findings, &input.levels, &figures);
    reasons.extend(quiet(input, &figures));
    let sorted = caveats::sorted(input);
    let mut policy = policy(&input.findings.policy, only_throttled(&figures));
    if let Some(opinion) = &input.second_opinion {
        policy.push_str(&format!(" {opinion}"));
    }
    Summary {
        reasons,
        policy,
        ruled_out: ruled_out(input, &figures),
        next: sorted.next,
        caveats: sorted.first,
        fine_print: sorted.fine_print,
    }
}

impl Summary {
    /// Why, as running text: for places without lists.
    pub fn sentences(&self) -> Vec<String> {
        let told = |reason: &Reason| {
            let mut text = reason.what.clone();
            if !reason.cause.is_empty() {
                text.push_str(&format!(" {}", reason.cause));
            }
            if !reason.evidence.is_empty() {
                text.push_str(&format!(" Evidence: {}.", reason.evidence.join(". ")));
            }
            text
        };
        self.reasons.iter().map(told).chain([self.policy.clone()]).collect()
    }
}

/// The speed while throttled, where just one load was.
fn only_throttled(figures: &[PhaseFigures]) -> Option<f64> {
    let mut all = figures.iter().filter_map(|one| one.throttled_bytes_per_s);
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Loads that nothing slowed down: each with what its speed is held against.
fn quiet(input: &ReportInput, figures: &[PhaseFigures]) -> Vec<Reason> {
    let is_quiet = |one: &&PhaseFigures| {
        let all = |wanted: &[Label]| one.labels.iter().all(|label| wanted.contains(label));
        one.mean_bytes_per_s.is_some()
            && !one.labels.is_empty()
            && all(&[Label::FullSpeed, Label::RateLimited, Label::Ramp])
    };
    let rows: Vec<&PhaseFigures> = figures.iter().filter(is_quiet).collect();
    let told = if rows.len() <= QUIET_SENTENCES { rows.len() } else { QUIET_SENTENCES - 1 };
    let mut sentences: Vec<String> = rows.iter().take(told).map(|one| constant(one, input)).collect();
    if rows.len() > told {
        sentences.push(format!(
            "{} more loads ran without a drop in speed; the table has them.",
            rows.len() - told
        ));
    }
    sentences.into_iter().map(|what| Reason { what, ..Reason::default() }).collect()
}

/// "Writes: constant 1.60 GB/s for 300 s; no slower at 63 °C than at 45 °C."
fn constant(one: &PhaseFigures, input: &ReportInput) -> String {
    let subject = match (one.phase.as_str(), one.op) {
        ("–", op) => capitalised(&format!("{op}s")),
        (phase, op) if phase == op => capitalised(&format!("{op}s")),
        (phase, op) => format!("{phase} ({op})"),
    };
    let subject = figures::numbered(&subject, one.repetition);
    let speed = match one.iops.filter(|_| one.leads_with_iops()) {
        Some(iops) => format!("{} IOPS", format::count(iops)),
        None => format::speed(one.mean_bytes_per_s),
    };
    let span = format::seconds(one.span_s);
    if one.labels.iter().all(|label| *label == Label::RateLimited) {
        return format!("{subject}: {speed} for {span}, the plan's rate limit.");
    }
    let how = if one.labels.contains(&Label::Ramp) { "mean" } else { "constant" };
    let warmed = one.temperature_c.filter(|[first, highest, _]| highest - first >= WARMED_C);
    let warmed = warmed.filter(|_| one.full.is_some());
    let reference = match warmed {
        Some([first, highest, _]) if one.labels.as_slice() == [Label::FullSpeed] => {
            format!("no slower at {} than at {}", format::degrees(highest), format::degrees(first))
        }
        _ => "no faster speed is known for this load".to_owned(),
    };
    let link = input.link_bytes_per_s.zip(one.mean_bytes_per_s).map(|(link, rate)| rate / link);
    let link = link
        .filter(|share| (BELOW_LINK..=1.05).contains(share))
        .map(|share| format!("; {} of the link rate", format::percent(share)));
    format!("{subject}: {how} {speed} for {span}; {reference}{}.", link.unwrap_or_default())
}

/// What else slows a drive down and did not here, with numbers; nothing where nothing was slow.
fn ruled_out(input: &ReportInput, figures: &[PhaseFigures]) -> Vec<String> {
    let events = &input.findings.events;
    let is_heat =
        |event: &&analysis::findings::Event| event.kind == EventKind::ThrottleOnset && event.cause.is_heat();
    if !events.iter().any(|event| is_heat(&event)) {
        return not_heat(input);
    }
    let mut told = Vec::new();
    let no_cache_end = input.findings.slc_cache.is_none()
        && !events.iter().any(|event| event.kind == EventKind::SlcExhausted);
    if no_cache_end {
        let written: f64 = figures.iter().filter(|one| one.op == "write").map(|one| one.bytes).sum();
        let from_event = events.iter().filter(is_heat).find_map(evidence::write_cache);
        match from_event {
            Some(clause) => told.push(format!("SLC cache: {}", lowercase_first(&clause))),
            None if written >= CACHE_WORTH_BYTES => {
                told.push(format!("SLC cache: {} written without reaching its end", format::amount(written)));
            }
            None if figures.iter().all(|one| one.op != "write") => {
                told.push("SLC cache: nothing was written".to_owned());
            }
            None => {}
        }
    }
    let slow = figures.iter().filter_map(|one| one.throttled_bytes_per_s).reduce(f64::max);
    if let (Some(link), Some(slow)) = (input.link_bytes_per_s, slow)
        && slow < BELOW_LINK * link
    {
        told.push(format!(
            "link: {} while throttled is {} of its {}",
            format::speed(Some(slow)),
            format::percent(slow / link),
            format::speed(Some(link))
        ));
    }
    told
}

/// Where something was slow and heat was not it: what the temperature says.
fn not_heat(input: &ReportInput) -> Vec<String> {
    let has_drop = input.findings.events.iter().any(|event| {
        matches!(event.kind, EventKind::SlcExhausted | EventKind::Dip) && event.cause == Cause::NotThermal
    });
    if !has_drop || input.findings.policy.class != PolicyClass::None {
        return Vec::new();
    }
    let points = input.temperature.first().map(|readings| readings.points.as_slice()).unwrap_or_default();
    let hottest = points.iter().filter_map(|point| point.1).filter(|c| c.is_finite()).reduce(f64::max);
    hottest
        .map(|hottest| format!("thermal throttling: never hotter than {}", format::degrees(hottest)))
        .into_iter()
        .collect()
}
