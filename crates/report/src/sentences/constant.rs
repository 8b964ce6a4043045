//! Loads that nothing slowed down: how fast they were, and what says that this is full speed.

use analysis::AT_LINK;
use analysis::findings::Label;

use super::capitalised;
use super::verdict::Reason;
use crate::figures::{self, FasterLoad, FullSpeedSeen, PhaseFigures};
use crate::format;
use crate::view::ReportInput;

/// The phase of a log that names none.
const UNNAMED: &str = "–";
/// Loads without anything to tell that get a sentence each; more are counted.
const QUIET_SENTENCES: usize = 4;
/// Loads shorter than this are counted only, in seconds: none shows whether its speed lasts.
const LEAST_S: f64 = 10.0;
/// A sample below this share of the mean is told: no noise goes so far.
const FAR_BELOW: f64 = 0.1;
/// A load of which less than this share was recorded is told with how much was.
const MOST_COVERED: f64 = 0.95;
/// A sample of up to this length is a second.
const SECOND_S: f64 = 1.5;

/// Loads that nothing slowed down: each with what its speed is held against.
pub(super) fn quiet(input: &ReportInput, figures: &[PhaseFigures]) -> Vec<Reason> {
    let is_quiet = |one: &&PhaseFigures| {
        let all = |wanted: &[Label]| one.labels.iter().all(|label| wanted.contains(label));
        let has_event =
            || input.findings.events.iter().any(|event| (one.start_s..one.end_s()).contains(&event.t_s));
        one.mean_bytes_per_s.is_some()
            && !one.labels.is_empty()
            && !has_event()
            && all(&[Label::FullSpeed, Label::RateLimited, Label::Ramp])
    };
    let all: Vec<&PhaseFigures> = figures.iter().filter(is_quiet).collect();
    // A row at the border of two loads is no load, where there are longer ones.
    let long: Vec<&PhaseFigures> = all.iter().copied().filter(|one| one.span_s >= LEAST_S).collect();
    let rows = if long.is_empty() { &all } else { &long };
    let told = if rows.len() <= QUIET_SENTENCES { rows.len() } else { QUIET_SENTENCES - 1 };
    let mut sentences: Vec<String> = rows.iter().take(told).map(|one| constant(one, input)).collect();
    match all.len() - told {
        0 => {}
        1 => sentences.push("1 more load ran without a drop in speed; the table has it.".to_owned()),
        more => sentences.push(format!("{more} more loads ran without a drop in speed; the table has them.")),
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
    let span = span(one);
    if let Some(below_k) = input.governed_below_k.filter(|_| one.labels.contains(&Label::RateLimited)) {
        return format!(
            "{subject}: mean {speed} for {span}, held back to stay below {}.",
            format::degrees(format::celsius(below_k))
        );
    }
    if one.labels.iter().all(|label| *label == Label::RateLimited) {
        return format!("{subject}: {speed} for {span}, the plan's rate limit.");
    }
    let how = match one.is_unsteady() {
        true => "unsteady, mean",
        false if one.is_one_mean() => "one mean,",
        false if one.labels.contains(&Label::Ramp) => "mean",
        false => "constant",
    };
    let mut clauses = vec![format!("{subject}: {how} {speed} for {span}")];
    clauses.extend(between(one).filter(|_| one.is_unsteady()));
    clauses.extend(one.is_one_mean().then(|| "whether it was constant is not known".to_owned()));
    clauses.extend(reference(one, input));
    clauses.extend(no_slower(one).filter(|_| one.full.is_none()));
    clauses.extend(one.faster.as_ref().filter(|_| one.full.is_none()).map(|other| faster(other, one)));
    clauses.extend(share_of_link(one, input));
    clauses.extend(slowest(one));
    format!("{}.", clauses.join("; "))
}

/// How long it lasted: "300 s"; where less than most of it was recorded, "850 s recorded of 90 days".
fn span(one: &PhaseFigures) -> String {
    match one.covered_s < MOST_COVERED * one.span_s {
        true => format!("{} recorded of {}", format::seconds(one.covered_s), format::span(one.span_s)),
        false => format::seconds(one.span_s),
    }
}

/// "850 MB/s to 3.40 GB/s in nine tenths of it".
fn between(one: &PhaseFigures) -> Option<String> {
    let [low, high] = one.spread_bytes_per_s?.map(|speed| format::speed(Some(speed)));
    Some(format!("{low} to {high} in nine tenths of it"))
}

/// What the speed is held against; `None` where that is the link, of which the share is told.
fn reference(one: &PhaseFigures, input: &ReportInput) -> Option<String> {
    let Some(full) = one.full else {
        return Some(match one.other_run_bytes_per_s {
            Some(other) => {
                format!("another run of the drive {} at {}", verb(one), format::speed(Some(other)))
            }
            // Another load was faster, and is told next.
            None if one.faster.is_some() => "no faster speed is known for this load itself".to_owned(),
            None => "no faster speed is known for this load".to_owned(),
        });
    };
    let share = || one.share_of_full().map_or_else(|| format::UNKNOWN.to_owned(), format::percent);
    let speed = format::speed(Some(full.bytes_per_s));
    let other = one.faster.as_ref().filter(|other| !other.phase.starts_with(UNNAMED));
    match (full.seen, other, no_slower(one)) {
        (FullSpeedSeen::PowerState(state), ..) => {
            Some(format!("{} of full speed, {speed} in power state {state} of another run", share()))
        }
        (FullSpeedSeen::SameLoad, Some(other), _) => {
            Some(format!("{} of full speed, {speed} in phase `{}`", share(), other.phase))
        }
        (FullSpeedSeen::Here, _, Some(no_slower)) => Some(no_slower),
        (FullSpeedSeen::Here, Some(other), _) => {
            Some(format!("no slower than the same load in phase `{}`", other.phase))
        }
        (FullSpeedSeen::Here, None, _)
            if is_even(one) && figures::is_at_link(one, input.link_bytes_per_s) =>
        {
            None
        }
        _ => Some(format!("{} of full speed, {speed}", share())),
    }
}

/// "no slower at 63 °C than at 45 °C": heat did nothing.
fn no_slower(one: &PhaseFigures) -> Option<String> {
    let [first, highest] = figures::warmed(one).filter(|_| is_even(one) && !one.is_unsteady())?;
    Some(format!("no slower at {} than at {}", format::degrees(highest), format::degrees(first)))
}

/// Whether it ran at one speed from its first to its last second.
fn is_even(one: &PhaseFigures) -> bool {
    one.labels.as_slice() == [Label::FullSpeed]
}

/// "phase `fill` wrote at 2.60 GB/s": what says most about a load whose full speed is not known.
fn faster(other: &FasterLoad, one: &PhaseFigures) -> String {
    let verb = verb(one);
    let speed = format::speed(Some(other.bytes_per_s));
    let load = other.other_load.as_ref().map(|load| format!(" ({load})")).unwrap_or_default();
    match other.phase.starts_with(UNNAMED) {
        true => format!("the drive {verb} at {speed} from {} on", format::seconds(other.start_s)),
        false => format!("phase `{}`{load} {verb} at {speed}", other.phase),
    }
}

fn verb(one: &PhaseFigures) -> &'static str {
    match one.op {
        "read" => "read",
        "write" => "wrote",
        _ => "deallocated",
    }
}

/// The share of the link rate: near it the link is the limit; far below it, where nothing else says that the drive is no
/// faster, or for reads, which flash seldom limits.
fn share_of_link(one: &PhaseFigures, input: &ReportInput) -> Option<String> {
    let share = one.mean_bytes_per_s? / input.link_bytes_per_s?;
    let is_open = !one.leads_with_iops() && (one.full.is_none() || one.op == "read");
    let is_worth = share <= figures::MOST_OF_LINK && (share >= AT_LINK || is_open);
    is_worth.then(|| format!("{} of the link rate", format::percent(share)))
}

/// "slowest second: 184 kB/s", where it is no noise: a constant mean hides it.
fn slowest(one: &PhaseFigures) -> Option<String> {
    let slowest = one.slowest?;
    if slowest.bytes_per_s >= FAR_BELOW * one.mean_bytes_per_s? {
        return None;
    }
    let speed = format::speed(Some(slowest.bytes_per_s));
    Some(match slowest.span_s <= SECOND_S {
        true => format!("slowest second: {speed}"),
        false => format!("slowest {}: {speed}", format::seconds(slowest.span_s)),
    })
}
