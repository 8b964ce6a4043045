//! What slowed the drive down, load by load: what happened in one sentence, its cause, and the evidence that decides.

use analysis::findings::{Candidate, Cause, Event, EventKind, Findings, Label, PolicyLevel, SteadyState};
use analysis::observation::Observation;
use analysis::wording;

use super::block::{Block, blocks};
use super::floors::ThrottledSpeed;
use super::{course, evidence, words};
use crate::figures::PhaseFigures;
use crate::format;
use crate::view::Level;

/// From this many onsets on, one sentence tells of the cycle instead of one each.
const CYCLE_ONSETS: usize = 3;
/// Pieces of evidence told in a verdict; the event itself has them all.
const EVIDENCE: usize = 3;
/// Temperatures within this are one: rounding to whole kelvins at both ends, and some.
const ONE_TEMPERATURE_K: f64 = 3.0;
/// A speed before an event that is this far off what the event says, as a share, is that of another load.
const OTHER_LOAD: f64 = 0.15;

/// One thing that happened, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reason {
    /// What happened, as a sentence.
    pub what: String,
    /// The cause with its confidence, as a sentence; empty where there is none to name.
    pub cause: String,
    /// The evidence that decides, the first piece first; clauses without a full stop.
    pub evidence: Vec<String>,
}

impl Reason {
    fn only(what: String) -> Self {
        Self { what, ..Self::default() }
    }
}

/// Everything that slowed the drive down, in order of time, with what a steady state and the drive's life add.
pub(super) fn reasons(findings: &Findings, levels: &[Level], figures: &[PhaseFigures]) -> Vec<Reason> {
    let blocks = blocks(findings);
    let mut reasons: Vec<Reason> =
        findings.steady_state.iter().map(|state| Reason::only(steady_state(state))).collect();
    if blocks.is_empty() {
        let unjudged = "Speed is not known: the data hold no load that can be judged.".to_owned();
        let life = findings.life.iter().flat_map(super::life);
        return life.chain((!figures.is_empty()).then_some(unjudged)).map(Reason::only).collect();
    }
    let eventful = blocks.iter().filter(|block| !is_quiet(block));
    reasons.extend(eventful.flat_map(|block| of_block(block, levels, &findings.policy.levels, figures)));
    reasons.extend(findings.life.iter().flat_map(super::life::meanwhile).map(Reason::only));
    reasons
}

/// What SNIA's test specification wants reported: the rounds, the window, its average and both excursions.
fn steady_state(state: &SteadyState) -> String {
    let rounds = state.round_bytes_per_s.len();
    let (Some([first, last]), Some(average), Some(data), Some(slope)) =
        (state.window, state.average_bytes_per_s, state.data_excursion, state.slope_excursion)
    else {
        return format!("Steady state: not judged, {rounds} rounds measured; a measurement window has five.");
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
fn of_block(
    block: &Block<'_>,
    levels: &[Level],
    policy: &[PolicyLevel],
    figures: &[PhaseFigures],
) -> Vec<Reason> {
    let mut reasons: Vec<(f64, Reason)> = Vec::new();
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
            let alone = (causes.len() == 1).then(|| row_of(block, figures)).flatten();
            reasons.push((first_s(&same), cycle(block, &same, alone, levels, policy)));
        } else {
            reasons.extend(same.iter().map(|onset| (onset.t_s, throttled(block, onset, levels))));
        }
    }
    if onsets.is_empty() && block.time_as(Label::Throttled) > 0.0 {
        reasons.push((block.range().0, Reason::only(throttled_from_the_start(block))));
    }
    let full = of_kind(block, EventKind::SlcExhausted);
    if full.len() >= CYCLE_ONSETS {
        reasons.push((first_s(&full), full_again(block, &full, levels)));
    } else {
        reasons.extend(
            full.iter()
                .map(|event| (event.t_s, reason(slowed(block, event, "SLC cache full"), event, levels))),
        );
    }
    for event in of_kind(block, EventKind::ThermalShutdown) {
        let at = at_temperature(event, " and ");
        let what = format!("The drive stopped responding at {}{at}.", format::seconds(event.t_s));
        reasons.push((event.t_s, reason(what, event, levels)));
    }
    let slow = of_kind(block, EventKind::Dip);
    reasons.extend(dips(block, &slow, levels).map(|reason| (first_s(&slow), reason)));
    reasons.sort_by(|a, b| a.0.total_cmp(&b.0));
    reasons.into_iter().map(|(_, reason)| reason).collect()
}

/// "Writes: SLC cache full 9 times between 440 s and 2600 s, to 45 % of the speed before; at 62 °C."
fn full_again(block: &Block<'_>, full: &[&Event], levels: &[Level]) -> Reason {
    let last_s = full.iter().map(|event| event.t_s).fold(0.0, f64::max);
    let to = median(full.iter().filter_map(|event| event.strength));
    let to = to.map(|to| format!(", to {} of the speed before", format::percent(to))).unwrap_or_default();
    let at = temperatures(full).map(|at| format!("; at {at}")).unwrap_or_default();
    let what = format!(
        "{}: SLC cache full {} times between {} and {}{to}{at}.",
        words::doing(block.op),
        full.len(),
        format::seconds(first_s(full)),
        format::seconds(last_s)
    );
    // The surest speaks for all.
    match surest(full) {
        Some(surest) => reason(what, surest, levels),
        None => Reason::only(what),
    }
}

/// The one that is surest of its cause.
fn surest<'a>(events: &[&'a Event]) -> Option<&'a Event> {
    events.iter().copied().max_by(|a, b| a.confidence.total_cmp(&b.confidence))
}

fn first_s(events: &[&Event]) -> f64 {
    events.iter().map(|event| event.t_s).fold(f64::INFINITY, f64::min)
}

/// The row of figures that is about the same load as a block, where there is just one.
fn row_of<'a>(block: &Block<'_>, figures: &'a [PhaseFigures]) -> Option<&'a PhaseFigures> {
    let (start_s, end_s) = block.range();
    let overlaps = |one: &&PhaseFigures| one.start_s.max(start_s) + 1.0 < one.end_s().min(end_s);
    let mut rows = figures.iter().filter(overlaps).filter(|one| one.mean_bytes_per_s.is_some());
    let first = rows.next()?;
    rows.next().is_none().then_some(first)
}

fn reason(what: String, event: &Event, levels: &[Level]) -> Reason {
    let told = evidence::deciding(event);
    Reason { what, cause: cause_sentence(event, levels), evidence: told.into_iter().take(EVIDENCE).collect() }
}

/// "Firmware threshold, independent of TMT1 and TMT2 (confidence 96 %)." with a capital and a full stop.
pub fn cause_sentence(event: &Event, levels: &[Level]) -> String {
    let (cause, behind) = match event.kind {
        // The confidence is that of the cache; what else it may be is mostly no heat either.
        EventKind::SlcExhausted => ("SLC cache full".to_owned(), ", not heat"),
        _ => (words::event_cause(event, levels), ""),
    };
    match event.cause {
        Cause::Unknown => format!("Cause {cause}."),
        _ => format!("Cause: {cause} (confidence {}){behind}.", format::percent(event.confidence)),
    }
}

/// Slow stretches that were not found to be heat, short or long.
fn dips(block: &Block<'_>, dips: &[&Event], levels: &[Level]) -> Option<Reason> {
    let label_of = |dip: &Event| block.segment_at(dip.t_s).map(|segment| segment.label);
    let doing = words::doing(block.op);
    match dips {
        [] => None,
        [dip] => {
            let at = format::seconds(dip.t_s);
            let long = block.segment_at(dip.t_s).filter(|segment| segment.label != Label::Dip);
            let what = match long {
                Some(segment) => {
                    let stops = dip.strength == Some(0.0);
                    let what = if stops { "no I/O" } else { "slowdown" };
                    // A stop goes on beyond the segment in which it began.
                    let span_s = dip_s(dip).unwrap_or(segment.end_s - segment.start_s);
                    format!("{what} from {at} on, lasting {}", format::seconds(span_s))
                }
                None => match dip_s(dip) {
                    Some(span_s) => format!("dip of {} at {at}", format::seconds(span_s)),
                    None => format!("dip at {at}"),
                },
            };
            let to = strength(dip).filter(|_| dip.strength != Some(0.0));
            let to = to.map(|to| format!(", to {to} of the speed before")).unwrap_or_default();
            Some(reason(format!("{doing}: {what}{to}."), dip, levels))
        }
        dips => {
            let what = match dips.iter().all(|dip| label_of(dip).is_none_or(|label| label == Label::Dip)) {
                true => "dips",
                false => "dips and slowdowns",
            };
            let not_heat: Vec<&Event> =
                dips.iter().copied().filter(|dip| dip.cause == Cause::NotThermal).collect();
            let cause = match not_heat.len() {
                n if n == dips.len() => "Cause: not heat.".to_owned(),
                0 => undetermined(dips),
                n => {
                    let are = if n == 1 { "is" } else { "are" };
                    format!(
                        "{n} {are} not heat; the cause of the other {} is not determined.",
                        dips.len() - n
                    )
                }
            };
            let evidence = surest(&not_heat).map(evidence::deciding).unwrap_or_default().into_iter().take(1);
            let what = format!("{doing}: {} {what}{}.", dips.len(), lengths(block, dips));
            Some(Reason { what, cause, evidence: evidence.collect() })
        }
    }
}

/// What several events of an open cause may have been: the means of what each may have been.
fn undetermined(dips: &[&Event]) -> String {
    let mut sums: Vec<Candidate> = Vec::new();
    for one in dips.iter().flat_map(|dip| &dip.candidates) {
        match sums.iter_mut().find(|sum| sum.cause == one.cause) {
            Some(sum) => sum.probability += one.probability,
            None => sums.push(*one),
        }
    }
    sums.iter_mut().for_each(|sum| sum.probability /= dips.len() as f64);
    sums.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    match sums.as_slice() {
        [] => "Cause not determined.".to_owned(),
        candidates => format!("Cause not determined: {}.", words::candidates(candidates)),
    }
}

fn dip_s(dip: &Event) -> Option<f64> {
    match course(dip)? {
        Observation::SpeedFell { span_s, .. } | Observation::BeganSlow { span_s, .. } => Some(*span_s),
        _ => None,
    }
}

/// ", 25 s to 58 s long, 66 % of the time": nothing where the lengths are not known, or where heat acted within them.
fn lengths(block: &Block<'_>, dips: &[&Event]) -> String {
    let spans_s: Vec<f64> = dips.iter().filter_map(|dip| dip_s(dip)).collect();
    let (start_s, end_s) = block.range();
    let ends = spans_s.iter().copied().reduce(f64::min).zip(spans_s.iter().copied().reduce(f64::max));
    let Some((shortest, longest)) =
        ends.filter(|_| spans_s.len() == dips.len() && of_kind(block, EventKind::ThrottleOnset).is_empty())
    else {
        return String::new();
    };
    let [short, long] = [shortest, longest].map(format::seconds);
    let span = if short == long { short } else { format!("{short} to {long}") };
    let spans = dips.iter().zip(&spans_s).map(|(dip, span_s)| (dip.t_s, (dip.t_s + span_s).min(end_s)));
    let share = format::percent((covered_s(spans.collect()) / (end_s - start_s)).min(1.0));
    format!(", {span} long, {share} of the time")
}

/// How long it was one of these times, each from when to when: a dip may lie within another one.
fn covered_s(mut spans: Vec<(f64, f64)>) -> f64 {
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum_s, mut until_s) = (0.0, f64::NEG_INFINITY);
    for (from_s, to_s) in spans {
        sum_s += (to_s - from_s.max(until_s)).max(0.0);
        until_s = until_s.max(to_s);
    }
    sum_s
}

/// "Reads: throttled from 374 s and 80 °C on, 3.00 GB/s to 2.40 GB/s (80 %)."
fn throttled(block: &Block<'_>, onset: &Event, levels: &[Level]) -> Reason {
    let mut what = match course(onset) {
        Some(seen @ (Observation::BeganSlow { .. } | Observation::BeganThrottled { .. })) => format!(
            "{}: throttled when the load began at {}{}. {}",
            words::doing(block.op),
            format::seconds(onset.t_s),
            at_temperature(onset, " and "),
            wording::observation(seen)
        ),
        _ => slowed(block, onset, "throttled"),
    };
    let release = of_kind(block, EventKind::ThrottleRelease)
        .into_iter()
        .find(|release| release.t_s > onset.t_s && release.cause == onset.cause);
    if let Some(release) = release {
        let at = at_temperature(release, " and ");
        what.push_str(&format!(" Released at {}{at}.", format::seconds(release.t_s)));
    }
    reason(what, onset, levels)
}

/// "Reads: throttled from 374 s and 80 °C on, 3.00 GB/s to 2.40 GB/s (80 %)."
fn slowed(block: &Block<'_>, event: &Event, state: &str) -> String {
    let at = format!("at {}{}", format::seconds(event.t_s), at_temperature(event, " and "));
    let fell = match speeds(block, event) {
        (Some(before), Some(after)) => format!(
            ", from {} to {} ({})",
            format::speed(Some(before)),
            format::speed(Some(after)),
            format::percent(after / before)
        ),
        (None, Some(after)) => format!(", to {}", format::speed(Some(after))),
        _ => strength(event).map(|to| format!(", to {to} of the speed before")).unwrap_or_default(),
    };
    format!("{}: {state} {at}{fell}.", words::doing(block.op))
}

/// Speed before and after an event: as the event itself has it, else of the segments around it.
fn speeds(block: &Block<'_>, event: &Event) -> (Option<f64>, Option<f64>) {
    if let Some(Observation::SpeedFell { before_bytes_per_s, during_bytes_per_s, .. }) = course(event) {
        return (Some(*before_bytes_per_s), Some(*during_bytes_per_s));
    }
    // The segment before may be of another load, which says nothing about this one.
    let (before, after) = block.speeds_around(event.t_s);
    let ratios = event.strength.zip(after.zip(before).map(|(after, before)| after / before));
    let same_load = ratios.is_none_or(|(strength, ratio)| (strength - ratio).abs() <= OTHER_LOAD);
    (before.filter(|_| same_load), after)
}

/// "Reads: throttled 13 times between 303 s and 600 s, from 2.96 GB/s to 200 MB/s (6.8 %); onset 65 °C, release 61 °C."
/// `alone` is the row of figures of this load, where all its onsets are these.
fn cycle(
    block: &Block<'_>,
    onsets: &[&Event],
    alone: Option<&PhaseFigures>,
    levels: &[Level],
    policy: &[PolicyLevel],
) -> Reason {
    let cause = onsets.first().map(|onset| onset.cause);
    let mut releases = of_kind(block, EventKind::ThrottleRelease);
    releases.retain(|release| Some(release.cause) == cause);
    let mut what = format!(
        "{}: throttled {} times between {} and {}",
        words::doing(block.op),
        onsets.len(),
        format::seconds(first_s(onsets)),
        format::seconds(last_throttled_s(block))
    );
    let speeds = alone.and_then(|row| Some((row.full?.bytes_per_s, row.throttled_bytes_per_s?)));
    let to = median(onsets.iter().filter_map(|event| event.strength));
    // Where nothing moved, the mean is that of the rows at both ends.
    let stopped = to.is_some_and(|to| to <= 0.0);
    let slow = |mean| if stopped { ThrottledSpeed::new(0.0, &[]) } else { ThrottledSpeed::new(mean, onsets) };
    match speeds.map(|(full, mean)| (full, slow(mean))) {
        Some((full, slow)) => {
            what.push_str(&format!(
                ", from {} to {} ({})",
                format::speed(Some(full)),
                slow.fallen_to(),
                slow.share_of(full)
            ));
        }
        None => what.push_str(
            &to.map(|to| format!(", to {} of the speed before", format::percent(to))).unwrap_or_default(),
        ),
    }
    // The threshold's own figures where there are any, so that the policy and this sentence have the same. Of several thresholds the
    // policy says which is released where.
    let one = |k: Option<f64>| k.filter(|k| k.is_finite()).map(|k| format::temperature(Some(k)));
    let own: Vec<&PolicyLevel> = policy
        .iter()
        .filter(|level| Some(level.cause) == cause && level.op.is_none_or(|op| op == block.op))
        .collect();
    let onset = own.iter().filter_map(|level| one(level.onset_k)).collect::<Vec<_>>().join(" and ");
    let onset = if own.is_empty() { temperatures(onsets).unwrap_or_default() } else { onset };
    let onset = match own[..] {
        [level] => usual(level.onset_k, onsets).unwrap_or(onset),
        _ => onset,
    };
    let release = match own[..] {
        [] => temperatures(&releases),
        [level] => usual(level.release_k, &releases),
        _ => None,
    };
    let told = [("onset", Some(onset).filter(|text| !text.is_empty())), ("release", release)];
    for (separator, (name, text)) in ["; ", ", "].into_iter().zip(told) {
        what.push_str(&text.map(|text| format!("{separator}{name} {text}")).unwrap_or_default());
    }
    what.push('.');
    // The surest of the onsets speaks for all of the same kind, at the temperature that is told of all.
    let Some(mut surest) = surest(onsets).cloned() else { return Reason::only(what) };
    let usual_k = match own[..] {
        [level] => level.onset_k,
        _ => median(onsets.iter().filter_map(|onset| onset.temp_k)),
    };
    if let Some(usual_k) = usual_k.filter(|k| k.is_finite()) {
        surest.observations.iter_mut().for_each(|seen| seen.observation.name_onset(usual_k));
    }
    reason(what, &surest, levels)
}

/// When a block was throttled last: it may end at full speed.
fn last_throttled_s(block: &Block<'_>) -> f64 {
    let throttled = block.segments.iter().filter(|segment| segment.label == Label::Throttled);
    throttled.map(|segment| segment.end_s).reduce(f64::max).unwrap_or(block.range().1)
}

/// The events of heat of a kind, those of loads that began slow left out: they crossed nothing.
pub(super) fn fallen(events: &[Event], kind: EventKind) -> Vec<&Event> {
    let began_slow = |event: &Event| {
        matches!(course(event), Some(Observation::BeganSlow { .. } | Observation::BeganThrottled { .. }))
    };
    events.iter().filter(|event| event.kind == kind && event.cause.is_heat() && !began_slow(event)).collect()
}

/// A threshold's usual temperature, with the lowest and the highest of its events where they lie further apart: "75 °C (65 °C to 75 °C)".
pub(super) fn usual(usual_k: Option<f64>, events: &[&Event]) -> Option<String> {
    let usual_k = usual_k.filter(|k| k.is_finite())?;
    let known = events.iter().filter_map(|event| event.temp_k).filter(|k| k.is_finite());
    let (low, high) = known.fold((usual_k, usual_k), |(low, high), k| (low.min(k), high.max(k)));
    let usual = format::temperature(Some(usual_k));
    Some(match high - low <= ONE_TEMPERATURE_K {
        true => usual,
        false => {
            format!("{usual} ({} to {})", format::temperature(Some(low)), format::temperature(Some(high)))
        }
    })
}

/// "65 °C" or "58 °C to 66 °C".
fn temperatures(events: &[&Event]) -> Option<String> {
    let known: Vec<f64> = events.iter().filter_map(|event| event.temp_k).filter(|k| k.is_finite()).collect();
    let middle = median(known.iter().copied())?;
    let (low, high) = known.iter().fold((middle, middle), |(l, h), k| (l.min(*k), h.max(*k)));
    Some(match high - low <= ONE_TEMPERATURE_K {
        true => format::temperature(Some(middle)),
        false => format!("{} to {}", format::temperature(Some(low)), format::temperature(Some(high))),
    })
}

fn throttled_from_the_start(block: &Block<'_>) -> String {
    let slow = block.mean(|segment| segment.label == Label::Throttled);
    let (start, _) = block.temperatures();
    let at = start.map(|k| format!(" from {} on", format::temperature(Some(k)))).unwrap_or_default();
    format!(
        "{}: throttled for {}{at}, at {}; the onset lies before the data.",
        words::doing(block.op),
        format::seconds(block.time_as(Label::Throttled)),
        format::speed(slow)
    )
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

#[cfg(test)]
mod test {
    use super::covered_s;

    #[test]
    fn a_dip_within_another_one_is_counted_once() {
        let spans = vec![(100.0, 160.0), (0.0, 50.0), (110.0, 130.0), (150.0, 200.0)];
        assert!((covered_s(spans) - 150.0).abs() < 1e-9);
        assert_eq!(covered_s(Vec::new()), 0.0);
    }
}
