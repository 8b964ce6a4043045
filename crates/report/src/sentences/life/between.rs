//! What the counters of a drive's life say of the time between two readings, and what is wrong with them.

use analysis::life::{LifeCounter, LifeDoubt, LifeDoubtKind, LifeSpan};

use super::{MOST_USED_PERCENT, figure, hours, small_percent, thousands, throttling, used, warm};
use crate::format;

/// Over less time than this data have no speed: they are counted in leaps.
const LEAST_SPEED_H: f64 = 1.0 / 60.0;

/// How long it was from the first reading to the last, and what was written and used up; `None` where nothing of that is known.
pub(super) fn course(between: &LifeSpan, used_percent: Option<f64>) -> Option<String> {
    let mut parts = Vec::new();
    // Whole hours: over a short time they say nothing.
    parts.extend(
        between
            .hours
            .filter(|_| between.clock_hours.is_some() && !between.is_by_clock())
            .map(|powered| format!("{} h powered on", thousands(powered))),
    );
    let moved = |bytes: f64, what: &str| format!("{} {what}", format::amount(bytes));
    if let Some(written) = between.written_bytes {
        let clock_h = between.clock_hours.filter(|hours| *hours >= LEAST_SPEED_H);
        let rate = match (between.written_per_day_bytes, clock_h) {
            _ if written <= 0.0 => String::new(),
            (Some(per_day), _) => format!(" ({} a day)", format::amount(per_day)),
            (None, Some(hours)) => format!(" (mean {})", format::speed(Some(written / (hours * 3600.0)))),
            (None, None) => String::new(),
        };
        parts.push(format!("{}{rate}", moved(written, "written")));
    }
    parts.extend(between.read_bytes.filter(|bytes| *bytes > 0.0).map(|bytes| moved(bytes, "read")));
    parts.extend(between.used_percent.zip(used_percent).map(|(grown, now)| wear(between, grown, now)));
    let told = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let apart = match between.clock_hours {
        Some(clock_h) => format!("{} apart", hours(clock_h)),
        None => format!(
            "{} power-on hours apart (the times of the readings do not tell it)",
            thousands(between.hours?)
        ),
    };
    Some(format!("Between the first and the last reading, {apart}{told}."))
}

/// By how much the endurance used grew, and what it is now.
fn wear(between: &LifeSpan, grown: f64, now: f64) -> String {
    let after = used(now);
    if grown <= 0.0 {
        return format!("still {after} of its endurance used");
    }
    // What is at its end has grown by that much at least.
    let per_day = between.used_per_day_percent.filter(|_| now < MOST_USED_PERCENT);
    let rate = per_day.map_or_else(String::new, |rate| format!(" ({} % a day)", figure(rate, 2)));
    format!("{} % to {after} of its endurance used{rate}", figure(now - grown, 0))
}

/// What the counters of heat say of the time between the readings, or that none moved.
pub(super) fn moved(between: &LifeSpan) -> Vec<String> {
    let told = of_heat(between);
    let has_any = !between.throttled.is_empty()
        || [between.above_warning, between.above_critical].iter().any(Option::is_some)
        || between.over_limit.is_some();
    match told.is_empty() {
        true if has_any && !between.doubts.iter().any(|doubt| is_of_growth(doubt.kind)) => {
            let is_missing =
                |doubt: &LifeDoubt| doubt.kind == LifeDoubtKind::Missing && is_of_heat(doubt.counter);
            let which = match between.doubts.iter().any(is_missing) {
                true => "the counters of heat that both readings have",
                false => "its counters of heat",
            };
            vec![format!("In that time none of {which} moved.")]
        }
        true => Vec::new(),
        false => told.into_iter().map(|sentence| format!("In that time {sentence}")).collect(),
    }
}

/// Whether a doubt is of how a counter changed, and not of what it is.
const fn is_of_growth(kind: LifeDoubtKind) -> bool {
    matches!(kind, LifeDoubtKind::Fell | LifeDoubtKind::FasterThanClock)
}

/// Whether a counter is of heat.
const fn is_of_heat(counter: LifeCounter) -> bool {
    !matches!(
        counter,
        LifeCounter::PoweredOn | LifeCounter::Read | LifeCounter::Written | LifeCounter::EnduranceUsed
    )
}

/// What the counters of heat say of the time between the readings: each a clause with a full stop.
pub(super) fn of_heat(between: &LifeSpan) -> Vec<String> {
    let of = if between.is_by_clock() { "between" } else { "powered on" };
    let mut told: Vec<String> =
        between.throttled.iter().filter_map(|one| throttling(one, between, false)).collect();
    let both =
        [(warm(between), between.above_warning), ("above its critical temperature", between.above_critical)];
    for (above, time) in both {
        let Some(time) = time.filter(|time| time.hours > 0.0) else { continue };
        let share = time.share.map(|share| format!(", {} of the time {of}", small_percent(share)));
        told.push(format!("{above} for {}{}.", hours(time.hours), share.unwrap_or_default()));
    }
    if let Some(count) = between.over_limit.filter(|count| *count > 0) {
        told.push(format!("{} readings above its warning temperature.", format::count(count as f64)));
    }
    told
}

/// Counters that fell: what another drive has counted is told before what was counted.
pub(super) fn fell(between: &LifeSpan) -> Option<String> {
    let fell = changes(between, LifeDoubtKind::Fell);
    (!fell.is_empty()).then(|| {
        format!(
            "Fell between the readings: {fell}. That is another drive, a reset, or readings out of order; no rate is given of them."
        )
    })
}

/// The counters in doubt of that kind, and what they say in the first and the last reading.
fn changes(between: &LifeSpan, kind: LifeDoubtKind) -> String {
    let change = |doubt: &LifeDoubt| {
        let (name, from, to) =
            (name(doubt.counter), value(doubt.counter, doubt.from), value(doubt.counter, doubt.to));
        format!("{name} ({from} to {to})")
    };
    let all = between.doubts.iter().filter(|doubt| doubt.kind == kind).map(change);
    all.collect::<Vec<_>>().join(", ")
}

/// Counters that only one of the readings has, and counters that grew more than the clock allows.
pub(super) fn doubts(between: &LifeSpan) -> Vec<String> {
    let mut sentences = Vec::new();
    let missing = between.doubts.iter().filter(|doubt| doubt.kind == LifeDoubtKind::Missing);
    let missing: Vec<&str> = missing.map(|doubt| name(doubt.counter)).collect();
    if !missing.is_empty() {
        sentences.push(format!(
            "In one of the two readings only: {}; how they changed is not known.",
            missing.join(", ")
        ));
    }
    let fast = changes(between, LifeDoubtKind::FasterThanClock);
    if let (false, Some(clock_h)) = (fast.is_empty(), between.clock_hours) {
        sentences.push(format!(
            "Contradicts the clock: within {}, {fast} cannot grow so much. No rate is given; check the times of the readings.",
            hours(clock_h)
        ));
    }
    sentences
}

/// A counter's name.
pub(super) const fn name(counter: LifeCounter) -> &'static str {
    match counter {
        LifeCounter::PoweredOn => "hours powered on",
        LifeCounter::AboveWarning => "time above the warning temperature",
        LifeCounter::AboveCritical => "time above the critical temperature",
        LifeCounter::Tmt1Transitions => "TMT1 transitions",
        LifeCounter::Tmt2Transitions => "TMT2 transitions",
        LifeCounter::Tmt1Seconds => "time at TMT1",
        LifeCounter::Tmt2Seconds => "time at TMT2",
        LifeCounter::OverLimit => "readings above the warning temperature",
        LifeCounter::Read => "data read",
        LifeCounter::Written => "data written",
        LifeCounter::EnduranceUsed => "endurance used",
    }
}

/// A counter's value with its unit.
fn value(counter: LifeCounter, value: f64) -> String {
    match counter {
        LifeCounter::PoweredOn => format!("{} h", thousands(value)),
        LifeCounter::AboveWarning | LifeCounter::AboveCritical => format!("{} min", thousands(value)),
        LifeCounter::Tmt1Seconds | LifeCounter::Tmt2Seconds => format!("{} s", thousands(value)),
        LifeCounter::Tmt1Transitions | LifeCounter::Tmt2Transitions | LifeCounter::OverLimit => {
            thousands(value)
        }
        LifeCounter::Read | LifeCounter::Written => format::amount(value),
        LifeCounter::EnduranceUsed => format!("{} %", figure(value, 0)),
    }
}
