//! The answer of a report, in its order: why it was as fast as it was, what was ruled out, what would settle the rest.
//!
//! "What happened" stands before it: the table of phases ([`crate::figures`]).

use analysis::findings::{Cause, Event, EventKind, Label, PolicyClass, Segment, SegmentOp};
use analysis::observation::Observation;
use analysis::{AT_LINK, COOL_K};
use trace::Caveat;
use trace::caveat::{Hole, Unseen};

use super::constant::quiet;
use super::readings::without_load;
use super::verdict::{Reason, reasons};
use super::{caveats, evidence, life, lowercase_first, policy};
use crate::figures::{self, PhaseFigures};
use crate::format;
use crate::view::ReportInput;

/// Written data from which on an SLC cache is worth a word: less fills none.
const CACHE_WORTH_BYTES: f64 = 1e9;

/// From this confidence on that nothing throttled, throttling is ruled out.
const SURE: f64 = 0.95;
/// A drop that began so far below the hottest began at no threshold near that: more than a sensor's lag and the hysteresis of most.
const CLEARLY_COOLER_K: f64 = 5.0;

/// The answer of a report.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The figures that the sentences are made from, for the tables beside them.
    pub(crate) figures: Vec<PhaseFigures>,
    /// What was observed of a run without a load that can be judged; empty where there is one.
    pub happened: Vec<String>,
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
    // What a drive counts in its life, and how hot it is, is the answer where nothing was loaded.
    let life = input.findings.life.as_ref().filter(|_| figures.is_empty());
    let (counted_before, cool_first) = (life.and_then(life::counted), life.and_then(life::cool_first));
    let mut policy = match (input.findings.policy.class, counted_before) {
        (PolicyClass::None, _) if counted(input) => {
            "Throttling: counted by the drive, without a drop in the recorded speed.".to_owned()
        }
        (PolicyClass::Undetermined, Some(counted)) => counted,
        _ => policy(&input.findings, only_throttled(&figures)),
    };
    if let Some(opinion) = &input.second_opinion {
        policy.push_str(&format!(" {opinion}"));
    }
    Summary {
        happened: if figures.is_empty() { without_load(input) } else { Vec::new() },
        reasons,
        policy,
        ruled_out: ruled_out(input, &figures),
        next: match input.findings.life.as_ref().and_then(life::save_first) {
            // Whatever else is open needs a load.
            Some(save_first) => vec![save_first],
            None => cool_first.into_iter().chain(sorted.next).collect(),
        },
        caveats: sorted.first,
        fine_print: sorted.fine_print,
        figures,
    }
}

impl Summary {
    /// What each segment of the run is, in a word or two: "throttled"; "constant" where full speed is not known.
    pub fn states(&self, segments: &[Segment]) -> Vec<&'static str> {
        figures::states(segments, &self.figures)
    }

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
        let told = self.reasons.iter().map(told);
        self.happened.iter().cloned().chain(told).chain([self.policy.clone()]).collect()
    }
}

/// Whether the drive counted throttling in the time that was recorded.
fn counted(input: &ReportInput) -> bool {
    input
        .counters
        .iter()
        .any(|counter| counter.points.iter().any(|(_, since_first)| *since_first > Some(0.0)))
}

/// The speed while throttled, where just one load was.
fn only_throttled(figures: &[PhaseFigures]) -> Option<f64> {
    let mut all = figures.iter().filter_map(|one| one.throttled_bytes_per_s);
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// What else slows a drive down and did not here, with numbers; nothing where nothing was slow.
fn ruled_out(input: &ReportInput, figures: &[PhaseFigures]) -> Vec<String> {
    let events = &input.findings.events;
    let is_heat = |event: &&Event| event.kind == EventKind::ThrottleOnset && event.cause.is_heat();
    if !events.iter().any(|event| is_heat(&event)) {
        return not_heat(input);
    }
    let mut told = Vec::new();
    let no_cache_end = input.findings.slc_cache.is_none()
        && !events.iter().any(|event| event.kind == EventKind::SlcExhausted)
        && !stands_open(events, figures);
    if no_cache_end {
        let written: f64 = figures.iter().filter(|one| one.op == "write").map(|one| one.bytes).sum();
        let from_event = events.iter().filter(is_heat).find_map(evidence::write_cache);
        match from_event {
            Some(clause) => told.push(format!("SLC cache: {}", lowercase_first(&clause))),
            None if written >= CACHE_WORTH_BYTES => {
                told.extend(fast_again(input).map(|bytes| {
                    format!("SLC cache: writes were at full speed again after {}", format::amount(bytes))
                }));
            }
            None if figures.iter().all(|one| one.op != "write") => {
                told.push("SLC cache: nothing was written".to_owned());
            }
            None => {}
        }
    }
    let slow = figures.iter().filter_map(|one| one.throttled_bytes_per_s).reduce(f64::max);
    if let (Some(link), Some(slow)) = (input.link_bytes_per_s, slow)
        && slow < AT_LINK * link
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

/// Data written up to the last moment at which writes ran at full speed, where heat had slowed writes down before: what they fell from
/// is no end of a cache. Nothing else speaks against one, as what is written while slow may lie beyond it.
fn fast_again(input: &ReportInput) -> Option<f64> {
    let segments = &input.findings.segments;
    let is_write = |s: &&Segment| matches!(s.op, SegmentOp::Write | SegmentOp::Mixed);
    let slow = segments.iter().filter(is_write).find(|segment| segment.label == Label::Throttled);
    let fast = segments.iter().filter(is_write).rfind(|segment| segment.label.as_seen() == Label::FullSpeed);
    let again = slow.is_some_and(|slow| fast.is_some_and(|fast| fast.start_s >= slow.end_s));
    let values = input.findings.caveats.iter().find_map(|caveat| match caveat {
        Caveat::NotSeen { values } if again => Some(values),
        _ => None,
    })?;
    values.iter().find_map(|value| match value {
        Unseen::SlcBytes { written_bytes, .. } if *written_bytes >= CACHE_WORTH_BYTES => Some(*written_bytes),
        _ => None,
    })
}

/// Whether writes fell to a speed that lasted to the end of the load, and that is open, or was the full one to what came after: a cache
/// may have been full there.
fn stands_open(events: &[Event], figures: &[PhaseFigures]) -> bool {
    let writes = |t_s: f64| {
        figures.iter().any(|one| one.op == "write" && (one.start_s..one.start_s + one.span_s).contains(&t_s))
    };
    let fell = |event: &Event| {
        event.observations.iter().find_map(|seen| match seen.observation {
            Observation::SpeedFell { span_s, paused_s, recovered, .. } => {
                Some((event.t_s, span_s + paused_s, recovered))
            }
            _ => None,
        })
    };
    let falls: Vec<(f64, f64, bool)> = events.iter().filter_map(fell).collect();
    let open = |event: &Event| match fell(event) {
        Some((t_s, span_s, false)) if writes(t_s) => {
            let within = |other: &(f64, f64, bool)| other.0 > t_s && other.0 < t_s + span_s;
            event.cause == Cause::Unknown || falls.iter().any(within)
        }
        _ => false,
    };
    events.iter().any(open)
}

/// Where something was slow and heat was not it: what the temperature says. Nothing where it was read too seldom to know the hottest, or
/// where something was slow about as hot as that: there may be a threshold.
fn not_heat(input: &ReportInput) -> Vec<String> {
    let findings = &input.findings;
    let slow = |event: &&Event| matches!(event.kind, EventKind::SlcExhausted | EventKind::Dip);
    let sure = findings.policy.class == PolicyClass::None && findings.policy.confidence >= SURE;
    let unread = |caveat: &Caveat| {
        matches!(caveat, Caveat::SlowTemperature { .. } | Caveat::Gap(Hole::Temperature { .. }))
    };
    let points = input.temperature.first().map(|readings| readings.points.as_slice()).unwrap_or_default();
    let readings = || points.iter().filter_map(|point| point.1).filter(|c| c.is_finite());
    let (coolest, hottest) = (readings().fold(f64::INFINITY, f64::min), readings().reduce(f64::max));
    let has_drop = findings.events.iter().filter(slow).any(|event| event.cause == Cause::NotThermal);
    let Some(hottest) = hottest.filter(|_| has_drop && sure && !findings.caveats.iter().any(unread)) else {
        return Vec::new();
    };
    // A setting below everything that the drive was in does not act.
    let set_c = input.levels.iter().map(|l| format::celsius(f64::from(l.temp_k))).filter(|c| *c > coolest);
    if hottest < set_c.fold(format::celsius(COOL_K), f64::min) {
        return vec![format!("thermal throttling: never hotter than {}", format::degrees(hottest))];
    }
    let dips = findings.events.iter().filter(|event| event.kind == EventKind::Dip);
    let began: Option<Vec<f64>> = dips.map(|dip| dip.temp_k.map(format::celsius)).collect();
    let began = began.and_then(|began| began.into_iter().reduce(f64::max));
    let cooler = began.filter(|began| *began <= hottest - CLEARLY_COOLER_K);
    let told = |began| {
        let [began, hottest] = [began, hottest].map(format::degrees);
        format!("thermal throttling: the drops began at {began} and below, and the drive reached {hottest}")
    };
    cooler.map(told).into_iter().collect()
}
