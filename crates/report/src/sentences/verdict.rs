//! The sentences at the top: what slowed the drive down, from what to what, when, how hot and why.

use analysis::findings::{Cause, Event, EventKind, Findings, Label, SteadyState};
use analysis::observation::Observation;
use analysis::wording;

use super::block::{Block, blocks};
use super::{cause_sentence, course, words};
use crate::format;
use crate::view::Level;

/// From this many onsets on, one sentence tells of the cycle instead of one each.
const CYCLE_ONSETS: usize = 3;
/// Pieces of evidence told in a verdict; the event itself has them all.
const EVIDENCE: usize = 3;
/// A strength and the quotient of two segments' speeds are the same to this: two percent, one for each rounding.
const STRENGTH_SLACK: f64 = 0.02;
/// Speeds that differ by less than this are told as one.
const ONE_SPEED: f64 = 1.1;
/// Temperatures within this are one: rounding to whole kelvins at both ends, and some.
const ONE_TEMPERATURE_K: f64 = 3.0;
/// A speed before an event that is this far off what the event says, as a share, is that of another load.
const OTHER_LOAD: f64 = 0.15;
/// Speeding up and slowing down for less than this share of a stretch is its beginning.
const RAMP_SHARE: f64 = 0.05;
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
        let mut sentences: Vec<String> = findings.life.iter().flat_map(super::life).collect();
        sentences.push("Speed is not known: there is no stretch of load in the data.".to_owned());
        return sentences;
    }
    let (quiet, eventful): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| is_quiet(block));
    sentences.extend(eventful.into_iter().flat_map(|block| eventful_sentences(block, levels)));
    let told = if quiet.len() <= QUIET_SENTENCES { quiet.len() } else { QUIET_SENTENCES - 1 };
    sentences.extend(quiet.iter().take(told).map(|block| steady(block)));
    if quiet.len() > told {
        let more = quiet.len() - told;
        sentences.push(format!("In {more} more stretches of load nothing was found to slow it down."));
    }
    sentences.extend(findings.life.as_ref().and_then(super::life::meanwhile));
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
    let mut causes: Vec<Cause> = Vec::new();
    for onset in &onsets {
        if !causes.contains(&onset.cause) {
            causes.push(onset.cause);
        }
    }
    for cause in &causes {
        let same: Vec<&Event> = onsets.iter().copied().filter(|onset| onset.cause == *cause).collect();
        if same.len() >= CYCLE_ONSETS {
            sentences.push(cycle(block, &same, causes.len() == 1, levels));
        } else {
            sentences.extend(same.iter().map(|onset| throttled(block, onset, levels)));
        }
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
    sentences.extend(dips(block, &of_kind(block, EventKind::Dip), levels));
    sentences
}

/// Slow stretches that were not found to be heat, short or long.
fn dips(block: &Block<'_>, dips: &[&Event], levels: &[Level]) -> Option<String> {
    let label_of = |dip: &Event| block.segment_at(dip.t_s).map(|segment| segment.label);
    match dips {
        [] => None,
        [dip] => {
            let at = format::seconds(dip.t_s);
            let long = block.segment_at(dip.t_s).filter(|segment| segment.label != Label::Dip);
            let what = match long {
                Some(segment) => {
                    format!("A slow stretch of {} at {at}", format::seconds(segment.end_s - segment.start_s))
                }
                None => format!("A short dip at {at}"),
            };
            let to = strength(dip).map(|to| format!(", to {to} of the speed before")).unwrap_or_default();
            Some(format!("{what}{to}. {}", cause_sentence(dip, levels, EVIDENCE)))
        }
        dips => {
            let what = match dips.iter().all(|dip| label_of(dip).is_none_or(|label| label == Label::Dip)) {
                true => "short dips",
                false => "dips and slow stretches",
            };
            let doing = words::doing(block.op).to_lowercase();
            let not_heat = dips.iter().filter(|dip| dip.cause == Cause::NotThermal).count();
            let causes = match not_heat {
                n if n == dips.len() => "none of them heat".to_owned(),
                0 => "whose cause is unknown".to_owned(),
                n => format!("{n} of them not heat, the cause of the others is unknown"),
            };
            Some(format!("{} {what} while {doing}, {causes}.", dips.len()))
        }
    }
}

/// "Reading fell from 3.00 GB/s to 2.40 GB/s (to 80 %) at 214 s, when the drive reached 80 °C. Cause: …"
fn throttled(block: &Block<'_>, onset: &Event, levels: &[Level]) -> String {
    let mut text = match course(onset) {
        Some(what @ (Observation::BeganSlow { .. } | Observation::BeganThrottled { .. })) => format!(
            "{} was slow from the beginning of a load at {}{}. {} {}",
            words::doing(block.op),
            format::seconds(onset.t_s),
            at_temperature(onset, ", with the drive at "),
            wording::observation(what),
            cause_sentence(onset, levels, EVIDENCE)
        ),
        _ => slowed(block, onset, &at_temperature(onset, "when the drive reached "), levels),
    };
    let release = of_kind(block, EventKind::ThrottleRelease)
        .into_iter()
        .find(|release| release.t_s > onset.t_s && release.cause == onset.cause);
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
    // The segment before may be of another load, which says nothing about this one.
    let same_load = |(before, after): &(Option<f64>, Option<f64>)| {
        let ratios = event.strength.zip(after.zip(*before).map(|(after, before)| after / before));
        ratios.is_none_or(|(strength, ratio)| (strength - ratio).abs() <= OTHER_LOAD)
    };
    let around = block.speeds_around(event.t_s);
    let same_load = same_load(&around);
    let fell = match if same_load { around } else { (None, around.1) } {
        (Some(before), Some(after)) => {
            // Segment and event may average over different spans; two figures that disagree help nobody.
            let agrees = event.strength.is_some_and(|to| (to - after / before).abs() <= STRENGTH_SLACK);
            let to = if agrees { to.as_str() } else { "" };
            format!("fell from {} to {}{to}", format::speed(Some(before)), format::speed(Some(after)))
        }
        (None, Some(after)) => {
            let to = if same_load { to.as_str() } else { "" };
            format!("slowed down to {}{to}", format::speed(Some(after)))
        }
        _ => match strength(event) {
            Some(to) => format!("slowed down to {to} of its speed"),
            None => "slowed down".to_owned(),
        },
    };
    format!("{doing} {fell} at {at}{when}. {}", cause_sentence(event, levels, EVIDENCE))
}

/// "Writing was slowed down 14 times between 60 s and 290 s, …". `alone` says that all onsets of the block are these.
fn cycle(block: &Block<'_>, onsets: &[&Event], alone: bool, levels: &[Level]) -> String {
    let cause = onsets.first().map(|onset| onset.cause);
    let mut releases = of_kind(block, EventKind::ThrottleRelease);
    releases.retain(|release| Some(release.cause) == cause);
    let mut text = format!(
        "{} was slowed down {} times between {} and {}",
        words::doing(block.op),
        onsets.len(),
        format::seconds(onsets.iter().map(|event| event.t_s).fold(f64::INFINITY, f64::min)),
        format::seconds(block.range().1)
    );
    let fast = block.mean(|segment| segment.label == Label::FullSpeed);
    let slow = block.mean(|segment| segment.label == Label::Throttled);
    let to = median(onsets.iter().filter_map(|event| event.strength));
    match (fast, slow) {
        (Some(fast), Some(slow)) if alone => {
            text.push_str(&format!(", from {} to {}", format::speed(Some(fast)), format::speed(Some(slow))));
            // Means over all cycles and the median of single ones: two figures that disagree help nobody.
            if let Some(to) = to.filter(|to| (to - slow / fast).abs() <= STRENGTH_SLACK) {
                text.push_str(&format!(" (to {})", format::percent(to)));
            }
        }
        _ => text.push_str(
            &to.map(|to| format!(", to {} of the speed before", format::percent(to))).unwrap_or_default(),
        ),
    }
    if let Some(onset) = temperatures(onsets) {
        text.push_str(&format!(", each time {onset}"));
        if let Some(release) = temperatures(&releases) {
            text.push_str(&format!(", and fast again {release}"));
        }
    }
    if let Some(mean) = block.mean(|_| true).filter(|_| alone) {
        text.push_str(&format!("; mean of all {}", format::speed(Some(mean))));
    }
    // The surest of the onsets speaks for all of the same kind.
    let surest = onsets.iter().max_by(|a, b| a.confidence.total_cmp(&b.confidence));
    let cause = surest.map(|event| cause_sentence(event, levels, EVIDENCE)).unwrap_or_default();
    format!("{text}. {cause}")
}

/// "near 65 °C" or "between 58 °C and 66 °C".
fn temperatures(events: &[&Event]) -> Option<String> {
    let known: Vec<f64> = events.iter().filter_map(|event| event.temp_k).filter(|k| k.is_finite()).collect();
    let middle = median(known.iter().copied())?;
    let (low, high) = known.iter().fold((middle, middle), |(l, h), k| (l.min(*k), h.max(*k)));
    Some(match high - low <= ONE_TEMPERATURE_K {
        true => format!("near {}", format::temperature(Some(middle))),
        false => {
            format!("between {} and {}", format::temperature(Some(low)), format::temperature(Some(high)))
        }
    })
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
        (Some(start), Some(end)) => {
            match (format::temperature(Some(start)), format::temperature(Some(end))) {
                (start, end) if start == end => format!(" The drive had {end} at its beginning and end."),
                (start, end) => format!(" The drive went from {start} to {end}."),
            }
        }
        _ => " No temperature is known for it.".to_owned(),
    };
    format!("{} ran {} for {span}{}.{temperature}", words::doing(block.op), speeds(block), course_of(block))
}

/// "at 1.60 GB/s", or "at 250 MB/s to 1.00 GB/s (583 MB/s on average)" where a stretch had several speeds.
fn speeds(block: &Block<'_>) -> String {
    let mean = format::speed(block.mean(|_| true));
    let each = block.segments.iter().filter(|segment| segment.label != Label::Ramp);
    let finite = each.filter_map(|segment| segment.mean_bytes_per_s).filter(|rate| rate.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, 0.0f64), |(low, high), rate| (low.min(rate), high.max(rate)));
    if low * ONE_SPEED < high {
        let (low, high) = (format::speed(Some(low)), format::speed(Some(high)));
        format!("at {low} to {high} ({mean} on average)")
    } else {
        format!("at {mean}")
    }
}

/// What the segments of a block say that has no events, after its speed and length.
fn course_of(block: &Block<'_>) -> String {
    let (start_s, end_s) = block.range();
    let all_s = end_s - start_s;
    let limited_s = block.time_as(Label::RateLimited);
    if limited_s >= (1.0 - RAMP_SHARE) * all_s && limited_s > 0.0 {
        return ", as fast as the plan allows".to_owned();
    }
    let ramp_s = block.time_as(Label::Ramp);
    let parts = [
        (limited_s, "as fast as the plan allows"),
        (block.time_as(Label::Dip), "in short dips"),
        (
            if ramp_s > RAMP_SHARE * all_s { ramp_s } else { 0.0 },
            "with a speed that rose or sank little by little",
        ),
        (block.time_as(Label::Unknown), "slower, and the data do not say why"),
    ];
    let told = parts.iter().filter(|(seconds, _)| *seconds > 0.0);
    let told: Vec<String> = told.map(|(s, what)| format!("{} of it {what}", format::seconds(*s))).collect();
    match told.as_slice() {
        [] => " and was not slowed down".to_owned(),
        told => format!(", {}", told.join("; ")),
    }
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
