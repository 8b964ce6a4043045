//! The sentences at the top: what slowed the drive down, from what to what, when, how hot and why.

use analysis::findings::{Event, EventKind, Findings, Label, SteadyState};

use super::block::{Block, blocks};
use super::{cause_sentence, words};
use crate::format;
use crate::view::Level;

/// From this many onsets on, one sentence tells of the cycle instead of one each.
const CYCLE_ONSETS: usize = 3;
/// Pieces of evidence told in a verdict; the event itself has them all.
const EVIDENCE: usize = 3;
/// A strength and the quotient of two segments' speeds are the same to this: two percent, one for each rounding.
const STRENGTH_SLACK: f64 = 0.02;
/// Stretches without anything to tell that get a sentence each; more are counted.
const QUIET_SENTENCES: usize = 4;

/// The verdict in sentences, never empty: first what slowed the drive down, then what ran undisturbed, each in
/// order of time.
///
/// `levels` are the temperatures that thresholds are set to, where that is known.
pub fn verdict(findings: &Findings, levels: &[Level]) -> Vec<String> {
    let blocks = blocks(findings);
    let mut sentences: Vec<String> = findings.steady_state.iter().map(steady_state).collect();
    if blocks.is_empty() {
        return vec!["Nothing can be said about speed: there is no stretch of load in the data.".to_owned()];
    }
    let (quiet, eventful): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| is_quiet(block));
    sentences.extend(eventful.into_iter().flat_map(|block| eventful_sentences(block, levels)));
    let told = if quiet.len() <= QUIET_SENTENCES { quiet.len() } else { QUIET_SENTENCES - 1 };
    sentences.extend(quiet.iter().take(told).map(|block| steady(block)));
    if quiet.len() > told {
        let more = quiet.len() - told;
        sentences.push(format!("In {more} more stretches of load nothing was found to slow it down."));
    }
    sentences
}

/// What SNIA's test specification wants reported: the rounds, the window, its average and both excursions.
fn steady_state(state: &SteadyState) -> String {
    let rounds = state.round_bytes_per_s.len();
    let (Some([first, last]), Some(average), Some(data), Some(slope)) =
        (state.window, state.average_bytes_per_s, state.data_excursion, state.slope_excursion)
    else {
        return format!("Steady state cannot be judged: {rounds} rounds were measured, a window has five.");
    };
    let verdict = match state.reached {
        true => format!("Steady state was reached in round {last}"),
        false => format!("Steady state was not reached in {rounds} rounds"),
    };
    let which = if state.reached { "measurement window" } else { "last window" };
    format!(
        "{verdict} ({}): {which} of rounds {first} to {last}, average {}, data excursion {} (at most 20 %), slope excursion {} (at most 10 %).",
        state.tracked,
        format::speed(Some(average)),
        format::percent(data),
        format::percent(slope)
    )
}

fn is_quiet(block: &Block<'_>) -> bool {
    block.events.is_empty()
        && block.segments.iter().all(|s| !matches!(s.label, Label::Throttled | Label::SlcExhausted))
}

fn of_kind<'a>(block: &Block<'a>, kind: EventKind) -> Vec<&'a Event> {
    block.events.iter().copied().filter(|event| event.kind == kind).collect()
}

/// What happened in a block.
fn eventful_sentences(block: &Block<'_>, levels: &[Level]) -> Vec<String> {
    let mut sentences = Vec::new();
    let onsets = of_kind(block, EventKind::ThrottleOnset);
    if onsets.len() >= CYCLE_ONSETS {
        sentences.push(cycle(block, &onsets, levels));
    } else {
        sentences.extend(onsets.iter().map(|onset| throttled(block, onset, levels)));
    }
    if onsets.is_empty() && block.time_as(Label::Throttled) > 0.0 {
        sentences.push(throttled_from_the_start(block));
    }
    for event in of_kind(block, EventKind::SlcExhausted) {
        sentences.push(slowed(block, event, "when the fast write cache was full", levels));
    }
    for event in of_kind(block, EventKind::ThermalShutdown) {
        let at = at_temperature(event, " at ");
        let cause = cause_sentence(event, levels, EVIDENCE);
        sentences.push(format!("The drive stopped working at {}{at}. {cause}", format::seconds(event.t_s)));
    }
    if sentences.is_empty() {
        sentences.push(steady(block));
    }
    match of_kind(block, EventKind::Dip).as_slice() {
        [] => {}
        [dip] => sentences.push(format!(
            "A short dip at {}{}. {}",
            format::seconds(dip.t_s),
            strength(dip).map(|to| format!(" to {to} of the speed before")).unwrap_or_default(),
            cause_sentence(dip, levels, EVIDENCE)
        )),
        dips => sentences.push(format!(
            "{} short dips while {}.",
            dips.len(),
            words::doing(block.op).to_lowercase()
        )),
    }
    sentences
}

/// "Reading fell from 3.00 GB/s to 2.40 GB/s (to 80 %) at 214 s, when the drive reached 80 °C. Cause: …"
fn throttled(block: &Block<'_>, onset: &Event, levels: &[Level]) -> String {
    let mut text = slowed(block, onset, &at_temperature(onset, "when the drive reached "), levels);
    let release = of_kind(block, EventKind::ThrottleRelease).into_iter().find(|event| event.t_s > onset.t_s);
    if let Some(release) = release {
        let at = at_temperature(release, ", at ");
        text.push_str(&format!(" It was fast again at {}{at}.", format::seconds(release.t_s)));
    }
    text
}

/// "Writing fell from A to B (to S) at T, `when`. Cause: …"
fn slowed(block: &Block<'_>, event: &Event, when: &str, levels: &[Level]) -> String {
    let doing = words::doing(block.op);
    let at = format::seconds(event.t_s);
    let when = if when.is_empty() { String::new() } else { format!(", {when}") };
    let to = strength(event).map(|to| format!(" (to {to})")).unwrap_or_default();
    let fell = match block.speeds_around(event.t_s) {
        (Some(before), Some(after)) => {
            // Segment and event may average over different spans; two figures that disagree help nobody.
            let agrees = event.strength.is_some_and(|to| (to - after / before).abs() <= STRENGTH_SLACK);
            let to = if agrees { to.as_str() } else { "" };
            format!("fell from {} to {}{to}", format::speed(Some(before)), format::speed(Some(after)))
        }
        (None, Some(after)) => format!("slowed down to {}{to}", format::speed(Some(after))),
        _ => match strength(event) {
            Some(to) => format!("slowed down to {to} of its speed"),
            None => "slowed down".to_owned(),
        },
    };
    format!("{doing} {fell} at {at}{when}. {}", cause_sentence(event, levels, EVIDENCE))
}

/// "Writing was slowed down 14 times between 60 s and 290 s, …"
fn cycle(block: &Block<'_>, onsets: &[&Event], levels: &[Level]) -> String {
    let releases = of_kind(block, EventKind::ThrottleRelease);
    let temps = |events: &[&Event]| median(events.iter().filter_map(|event| event.temp_k));
    let mut text = format!(
        "{} was slowed down {} times between {} and {}",
        words::doing(block.op),
        onsets.len(),
        format::seconds(onsets.iter().map(|event| event.t_s).fold(f64::INFINITY, f64::min)),
        format::seconds(block.range().1)
    );
    let fast = block.mean(|segment| segment.label == Label::FullSpeed);
    let slow = block.mean(|segment| segment.label == Label::Throttled);
    if let (Some(fast), Some(slow)) = (fast, slow) {
        text.push_str(&format!(", from {} to {}", format::speed(Some(fast)), format::speed(Some(slow))));
    }
    if let Some(to) = median(onsets.iter().filter_map(|event| event.strength)) {
        text.push_str(&format!(" (to {})", format::percent(to)));
    }
    if let Some(onset) = temps(onsets) {
        text.push_str(&format!(", each time near {}", format::temperature(Some(onset))));
        if let Some(release) = temps(&releases) {
            text.push_str(&format!(", and fast again near {}", format::temperature(Some(release))));
        }
    }
    if let Some(mean) = block.mean(|_| true) {
        text.push_str(&format!("; mean of all {}", format::speed(Some(mean))));
    }
    // The surest of the onsets speaks for all of the same kind.
    let surest = onsets.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let cause = surest.map(|event| cause_sentence(event, levels, EVIDENCE)).unwrap_or_default();
    format!("{text}. {cause}")
}

fn throttled_from_the_start(block: &Block<'_>) -> String {
    let slow = block.mean(|segment| segment.label == Label::Throttled);
    let (start, _) = block.temperatures();
    let at = start.map(|k| format!(", at {}", format::temperature(Some(k)))).unwrap_or_default();
    format!(
        "{} was throttled for {} at {}{at}; when that began was not seen.",
        words::doing(block.op),
        format::seconds(block.time_as(Label::Throttled)),
        format::speed(slow)
    )
}

/// A block in which nothing slowed the drive down, as far as the data say.
fn steady(block: &Block<'_>) -> String {
    let (start_s, end_s) = block.range();
    let span = format::seconds(end_s - start_s);
    let temperature = match block.temperatures() {
        (Some(start), Some(end)) => format!(
            " The drive went from {} to {}.",
            format::temperature(Some(start)),
            format::temperature(Some(end))
        ),
        _ => " No temperature is known for it.".to_owned(),
    };
    let unknown_s = block.time_as(Label::Unknown);
    let what = if block.time_as(Label::RateLimited) > 0.0 {
        ", as fast as the plan allows"
    } else if unknown_s > 0.0 {
        return format!(
            "{} ran at {} on average for {span}; for {} of it the speed was low and the data do not say why.{temperature}",
            words::doing(block.op),
            format::speed(block.mean(|_| true)),
            format::seconds(unknown_s)
        );
    } else {
        " and was not slowed down"
    };
    let speed = format::speed(block.mean(|_| true));
    format!("{} ran at {speed} for {span}{what}.{temperature}", words::doing(block.op))
}

fn at_temperature(event: &Event, before: &str) -> String {
    let known = event.temp_k.filter(|temp_k| temp_k.is_finite());
    known.map(|temp_k| format!("{before}{}", format::temperature(Some(temp_k)))).unwrap_or_default()
}

fn strength(event: &Event) -> Option<String> {
    event.strength.filter(|strength| strength.is_finite()).map(format::percent)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
