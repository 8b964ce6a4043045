//! What a drive's counters say of its life, in sentences.

mod between;
mod failing;

use analysis::life::{
    Life, LifeCounter, LifeDoubt, LifeDoubtKind, LifeHistory, LifeShare, LifeSpan, LifeThrottling,
    LifeWarning,
};
use analysis::wording::sensor_name;
use trace::HostThreshold;

use crate::format;
pub(super) use failing::save_first;

/// The sentences, the answer first; none where the counters say nothing.
pub fn life(life: &Life) -> Vec<String> {
    let mut sentences: Vec<String> = warning(life).into_iter().collect();
    sentences.extend(life.is_made_up.then(|| MADE_UP.to_owned()));
    // What may be of another drive is told before what either counted.
    sentences.extend(life.between.as_ref().and_then(between::fell));
    sentences.extend(headline(&life.whole));
    // What was counted between the readings, and nothing before, is told once, with their time.
    let is_new = |one: &&LifeThrottling| {
        let grown = life
            .between
            .as_ref()
            .and_then(|span| span.throttled.iter().find(|of| of.threshold == one.threshold));
        !grown.is_some_and(|of| of.transitions == one.transitions && hours_of(of) == hours_of(one))
    };
    let counted = life.whole.throttled.iter().filter(is_new);
    sentences.extend(counted.filter_map(|one| throttling(one, &life.whole, true)));
    sentences.extend(heat(life));
    if let Some(span) = &life.between {
        sentences.extend(between::course(span, life.used_percent));
        sentences.extend(between::moved(span));
        sentences.extend(between::doubts(span));
    }
    sentences.extend(so_far(life));
    sentences.extend(left_out(&life.whole));
    sentences.extend(temperatures(life));
    sentences
}

fn hours_of(one: &LifeThrottling) -> Option<f64> {
    one.time.map(|time| time.hours)
}

/// Beside a load: what the drive warns of, what its counters of heat say of the time between the readings where any moved, and
/// what is wrong with them.
pub(super) fn meanwhile(life: &Life) -> Vec<String> {
    let Some(span) = &life.between else { return warning(life).into_iter().collect() };
    let told = between::of_heat(span);
    let apart = span.clock_hours.map_or_else(String::new, |apart| format!(", {} apart", hours(apart)));
    let moved = (!told.is_empty())
        .then(|| format!("Between the first and the last reading{apart}: {}", told.join(" ")));
    let doubts = between::fell(span).into_iter().chain(between::doubts(span));
    warning(life).into_iter().chain(moved).chain(doubts).collect()
}

/// What the drive warns of, and a spare capacity that is below its threshold though it does not.
fn warning(life: &Life) -> Option<String> {
    let is_low = life.has_low_spare();
    let spare = life.spare_percent.zip(life.spare_threshold_percent);
    let spare = spare.map_or_else(String::new, |(left, threshold)| {
        format!(" ({} % left, threshold {} %)", figure(left, 0), figure(threshold, 0))
    });
    let of = |warning: &LifeWarning| match warning {
        LifeWarning::Spare if is_low || life.spare_percent.is_none() => {
            format!("available spare is below its threshold{spare}")
        }
        LifeWarning::Spare => {
            format!("available spare is below its threshold, though its own count says otherwise{spare}")
        }
        LifeWarning::Temperature => "a temperature is over or under its threshold".to_owned(),
        LifeWarning::Reliability => "media or internal errors degrade its reliability".to_owned(),
        LifeWarning::ReadOnly => "the media are read-only".to_owned(),
        LifeWarning::VolatileBackup => "the backup of its volatile memory failed".to_owned(),
        LifeWarning::PersistentMemory => "its persistent memory region is read-only or unreliable".to_owned(),
    };
    let all: Vec<String> = life.warnings.iter().map(of).collect();
    let warned =
        (!all.is_empty()).then(|| format!("The drive reports a critical warning: {}.", all.join("; ")));
    let is_untold = is_low && !life.warnings.contains(&LifeWarning::Spare);
    let untold = is_untold.then(|| {
        format!("Available spare is below its threshold{spare}, and the drive does not warn of it.")
    });
    let failed = life.has_failed.then(|| failing::FAILED.to_owned());
    let errors = life.media_errors.filter(|errors| *errors > 0.0).map(failing::media_errors);
    let told: Vec<String> = failed.into_iter().chain(warned).chain(untold).chain(errors).collect();
    (!told.is_empty()).then(|| told.join(" "))
}

/// How much of its life the drive was throttled by thresholds of the host, or that it does not tell. Thresholds whose time is in
/// doubt are no part of it.
fn headline(whole: &LifeSpan) -> Option<String> {
    let moved = |one: &LifeThrottling| {
        one.transitions.unwrap_or(0) > 0 || one.time.is_some_and(|time| time.hours > 0.0)
    };
    let any = |kind: LifeDoubtKind| whole.throttled.iter().any(|one| is_in_doubt(whole, one.threshold, kind));
    if whole.throttled.is_empty() {
        return None;
    }
    if !whole.throttled.iter().any(moved) {
        let names: Vec<String> = whole.throttled.iter().map(|one| one.threshold.to_string()).collect();
        let counters = format!("The {} counters", names.join(" and "));
        return Some(match () {
            () if any(LifeDoubtKind::Fell) => {
                format!("{counters} are zero since a reset between the readings.")
            }
            () if any(LifeDoubtKind::Missing) => format!("{counters} were zero{EARLIER}."),
            () => format!(
                "{counters} are zero: it never throttled by them, or does not implement them. A firmware threshold is not counted there."
            ),
        });
    }
    let shares = || whole.throttled.iter().filter_map(|one| Some((one.threshold, one.time?.share?)));
    let names: Vec<String> = shares().map(|(threshold, _)| threshold.to_string()).collect();
    let sum: f64 = shares().map(|(_, share)| share).sum();
    // Both may count while both act.
    let share = match sum > 1.0 {
        true => format!("at least {}", small_percent(shares().map(|(_, share)| share).fold(0.0, f64::max))),
        false => small_percent(sum),
    };
    // Transitions whose time is 0 are told one by one.
    (sum > 0.0).then(|| format!("Throttled at {} for {share} of the time powered on.", names.join(" or ")))
}

/// "Throttling: counted by the drive at TMT1 and TMT2; how it throttles is not determined."; nothing where none was counted.
pub(super) fn counted(life: &Life) -> Option<String> {
    let names: Vec<String> = life.counted().iter().map(HostThreshold::to_string).collect();
    let told = format!(
        "Throttling: counted by the drive at {}; how it throttles is not determined.",
        names.join(" and ")
    );
    (!names.is_empty()).then_some(told)
}

/// What comes before any load of a drive that is too hot already.
pub(super) fn cool_first(life: &Life) -> Option<String> {
    let now_k = life.now_k.filter(|_| life.is_hot_now())?;
    // The higher one says more.
    let limits = [("critical temperature", life.critical_k), (limit_name(life), life.limit_k)];
    let reached = limits.into_iter().find(|(_, limit_k)| limit_k.is_some_and(|limit_k| now_k >= limit_k));
    let why = reached.map_or_else(
        || "warns of its temperature".to_owned(),
        |(name, limit_k)| format!("its {name} is {}", format::temperature(limit_k)),
    );
    Some(format!(
        "Cool the drive before any further load: it was {} at the last reading and {why}. More airflow or a heatsink; `heatsoak watch DRIVE` shows what that brings.",
        format::temperature(Some(now_k))
    ))
}

/// The counters of a threshold: how often, and how long.
const fn counters_of(threshold: HostThreshold) -> (LifeCounter, LifeCounter) {
    match threshold {
        HostThreshold::Tmt1 => (LifeCounter::Tmt1Transitions, LifeCounter::Tmt1Seconds),
        HostThreshold::Tmt2 => (LifeCounter::Tmt2Transitions, LifeCounter::Tmt2Seconds),
    }
}

/// Whether a counter of a threshold is in doubt so.
fn is_in_doubt(span: &LifeSpan, threshold: HostThreshold, kind: LifeDoubtKind) -> bool {
    let (transitions, seconds) = counters_of(threshold);
    [transitions, seconds].into_iter().any(|counter| span.doubt(counter) == Some(kind))
}

/// What the counters of a threshold say of the whole life, or of a stretch of it.
fn throttling(one: &LifeThrottling, span: &LifeSpan, is_whole: bool) -> Option<String> {
    let of = if span.is_by_clock() { "between" } else { "powered on" };
    let times = one.transitions.map(|times| match times {
        1 => "once".to_owned(),
        n => format!("{} times", thousands(n as f64)),
    });
    let lasted = one.time.filter(|time| time.hours > 0.0 || one.transitions.is_some_and(|times| times > 0));
    if lasted.is_none() && one.transitions.is_none_or(|times| times == 0) {
        return None;
    }
    let (transitions, seconds) = counters_of(one.threshold);
    let mut text =
        format!("{}: {}", one.threshold, times.unwrap_or_else(|| "an unknown number of times".to_owned()));
    if lasted.is_some_and(|time| time.hours == 0.0) {
        text.push_str(match one.transitions.is_some_and(|times| times >= MANY_TRANSITIONS) {
            true => " while its time counter stayed at 0, which the drive may not keep",
            false => ", each shorter than one count",
        });
    } else if let Some(time) = lasted {
        text.push_str(&format!(", {} in all", hours(time.hours)));
        if let Some(share) = time.share {
            text.push_str(&format!(" ({} of the time {of})", small_percent(share)));
        }
    }
    // A rate of hours that are wrong is none.
    let is_longer = span.doubt(seconds) == Some(LifeDoubtKind::LongerThanPoweredOn);
    if let Some(per_hour) = one.per_hour.filter(|rate| *rate > 0.0 && !is_longer) {
        text.push_str(&match per_hour >= 1.0 {
            true => format!("; {} times an hour", rate(per_hour)),
            false => format!("; once in {}", hours(1.0 / per_hour)),
        });
    }
    // Less than once in 20 TB is not told: the times themselves say as much.
    if let Some(per_tb) = one.per_tb_written.filter(|rate| *rate >= LEAST_PER_TB) {
        text.push_str(&format!("; {} times for each TB written", rate(per_tb)));
    }
    let fell = |counter: LifeCounter| span.doubt(counter) == Some(LifeDoubtKind::Fell);
    match (fell(transitions), fell(seconds)) {
        (true, true) => text.push_str(SINCE_RESET),
        (true, false) => text.push_str("; the transitions since a reset between the readings"),
        (false, true) => text.push_str("; the time since a reset between the readings"),
        (false, false) if is_in_doubt(span, one.threshold, LifeDoubtKind::Missing) => text.push_str(EARLIER),
        (false, false) => {}
    }
    if is_longer {
        text.push_str(LONGER_THAN_LIFE);
    } else if is_whole && one.transitions == Some(0) && !fell(transitions) {
        // A stretch may begin while the drive throttles.
        text.push_str(": a time without a transition, so one of the two counters is wrong");
    }
    text.push('.');
    Some(text)
}

const LEAST_PER_TB: f64 = 0.05;
/// So many transitions last a second together, unless their time is not counted.
const MANY_TRANSITIONS: u64 = 10;

/// A rate with one decimal where that counts.
fn rate(rate: f64) -> String {
    if rate < 100.0 { figure(rate, 1) } else { thousands(rate) }
}

/// What is said of a counter that fell between the readings.
const SINCE_RESET: &str = ", since a reset between the readings, if they are of one drive";
/// What is said of a counter that the last reading does not have.
const EARLIER: &str = " at an earlier reading; the last one does not have them";
/// What is said of a time that is longer than the drive was powered on.
const LONGER_THAN_LIFE: &str =
    ". That time is longer than its power-on hours, so one of the two counters is wrong";

/// What is said of values that a bridge made up.
const MADE_UP: &str = "More data were moved than its host commands can have: a USB bridge makes up some of these values, and a counter at 0 proves nothing. Without the bridge, `nvme smart-log` shows the drive's own.";

/// What the temperature is called at which a drive warns.
fn limit_name(life: &Life) -> &'static str {
    if life.limit_is_trip { "trip temperature" } else { "warning temperature" }
}

/// How long it was above the thresholds that its maker set.
fn heat(life: &Life) -> Vec<String> {
    let whole = &life.whole;
    let both = [
        (warm(whole), "warning", LifeCounter::AboveWarning, whole.above_warning),
        ("above its critical temperature", "critical", LifeCounter::AboveCritical, whole.above_critical),
    ];
    let mut sentences = Vec::new();
    let (mut never, mut uncounted, mut unsure) = (Vec::new(), Vec::new(), Vec::new());
    for (above, name, counter, time) in both {
        let doubt = whole.doubt(counter);
        match time {
            Some(time) if time.hours > 0.0 => sentences.push(over(above, time, doubt)),
            // Of NVMe drives the time above the critical temperature is not in it.
            Some(_) if counter == LifeCounter::AboveWarning && was_critical(whole) => {}
            Some(_) if was_above(life, counter) => uncounted.push(name),
            Some(_) if counter == LifeCounter::AboveWarning && warns_of_heat(life) => {
                sentences.push(WARNS_UNCOUNTED.to_owned());
            }
            Some(_) if doubt.is_some() || life.is_made_up => {}
            Some(_) if threshold_k(life, counter).is_some() => never.push(name),
            Some(_) => unsure.push(name),
            None => {}
        }
    }
    let counters = |names: &[&str], be: [&str; 2]| match names {
        [name] => format!("The counter of time above its {name} temperature {}", be[0]),
        names => format!("The counters of time above its {} temperature {}", names.join(" and "), be[1]),
    };
    if !uncounted.is_empty() {
        let it = if uncounted.len() == 1 { "it" } else { "them" };
        let told = counters(&uncounted, ["is at 0", "are at 0"]);
        sentences.push(format!("{told}, though readings were above {it}."));
    }
    if !never.is_empty() {
        sentences.push(format!("Never above its {} temperature, by its own counters.", never.join(" or ")));
    }
    // A threshold that a drive does not have is never crossed (NVMe Base, bytes 192 to 199).
    if !unsure.is_empty() {
        let told = counters(&unsure, ["is zero", "are zero"]);
        sentences.push(format!(
            "{told}: never above, or not implemented. Its thresholds are not known here; `nvme id-ctrl` shows them (wctemp, cctemp)."
        ));
    }
    sentences
}

/// What is said of a counter at 0 beside a warning of the temperature.
const WARNS_UNCOUNTED: &str =
    "The counter of time above its warning temperature is at 0, though the drive warns of a temperature.";

/// Whether the drive warns of a temperature.
fn warns_of_heat(life: &Life) -> bool {
    life.warnings.contains(&LifeWarning::Temperature)
}

/// The threshold above which a counter counts.
fn threshold_k(life: &Life, counter: LifeCounter) -> Option<f64> {
    if counter == LifeCounter::AboveCritical { life.critical_k } else { life.limit_k }
}

/// Whether anything but its counters of time shows that the drive was above a threshold of its maker.
fn was_above(life: &Life, counter: LifeCounter) -> bool {
    let above = |k: Option<f64>| k.zip(threshold_k(life, counter)).is_some_and(|(k, limit_k)| k > limit_k);
    let remembered_k = life.history.map(|history| history.hottest_k);
    let has_count = life.whole.over_limit.is_some_and(|count| count > 0);
    counter == LifeCounter::AboveWarning && has_count
        || [life.hottest_k, life.now_k, remembered_k].into_iter().any(above)
}

/// Whether it was above its critical temperature, by its counter.
fn was_critical(span: &LifeSpan) -> bool {
    span.above_critical.is_some_and(|time| time.hours > 0.0)
}

/// What the time above the warning temperature is: of NVMe drives that above the critical one is not in it (NVMe Base, SMART /
/// Health Information log, bytes 192 to 195).
fn warm(span: &LifeSpan) -> &'static str {
    match was_critical(span) {
        true => "from its warning up to its critical temperature",
        false => "above its warning temperature",
    }
}

fn over(above: &str, time: LifeShare, doubt: Option<LifeDoubtKind>) -> String {
    let share = time.share.map(|share| format!(", {} of the time powered on", small_percent(share)));
    let odd = match doubt {
        Some(LifeDoubtKind::LongerThanPoweredOn) => LONGER_THAN_LIFE,
        Some(LifeDoubtKind::Fell) => SINCE_RESET,
        Some(LifeDoubtKind::Missing) => ", at an earlier reading; the last one does not have it",
        _ => "",
    };
    let (first, rest) = above.split_at(1);
    let (first, share) = (first.to_uppercase(), share.unwrap_or_default());
    format!("{first}{rest} for {}{share}{odd}.", hours(time.hours))
}

/// Hours, data and wear.
fn so_far(life: &Life) -> Option<String> {
    let whole = &life.whole;
    let since = |counter: LifeCounter| match whole.doubt(counter) {
        Some(LifeDoubtKind::Fell) => " since a reset",
        Some(LifeDoubtKind::Missing) => " at an earlier reading",
        _ => "",
    };
    let mut parts = Vec::new();
    let mut add = |counter: LifeCounter, text: Option<String>| {
        parts.extend(text.map(|text| format!("{text}{}", since(counter))));
    };
    add(LifeCounter::PoweredOn, whole.hours.map(|hours| format!("{} h powered on", thousands(hours))));
    add(LifeCounter::Written, whole.written_bytes.map(|bytes| format!("{} written", format::amount(bytes))));
    add(LifeCounter::Read, whole.read_bytes.map(|bytes| format!("{} read", format::amount(bytes))));
    parts.extend(life.used_percent.map(|percent| format!("{} of its endurance used", used(percent))));
    (!parts.is_empty()).then(|| format!("Life so far: {}.", parts.join(", ")))
}

/// Endurance used: what is above 254 % is reported as 255 % (NVMe Base, SMART / Health Information log, byte 5; ACS and SPC alike).
fn used(percent: f64) -> String {
    let or_more = if percent >= MOST_USED_PERCENT { " or more" } else { "" };
    format!("{} %{or_more}", figure(percent, 0))
}

const MOST_USED_PERCENT: f64 = 255.0;

/// Counters that say nothing, and why.
fn left_out(whole: &LifeSpan) -> Option<String> {
    let why = |counter: LifeCounter, kind: LifeDoubtKind| match kind {
        LifeDoubtKind::AtItsEnd => Some("the counter is at its end"),
        LifeDoubtKind::MoreThanPossible if counter == LifeCounter::PoweredOn => Some("more than 40 years"),
        LifeDoubtKind::MoreThanPossible if is_of_transitions(counter) => {
            Some("more than one in each second of its power-on hours")
        }
        LifeDoubtKind::MoreThanPossible => Some("more than the fastest drive moves in its power-on hours"),
        _ => None,
    };
    let told = |doubt: &LifeDoubt| {
        Some(format!("{} ({})", between::name(doubt.counter), why(doubt.counter, doubt.kind)?))
    };
    let all: Vec<String> = whole.doubts.iter().filter_map(told).collect();
    (!all.is_empty()).then(|| format!("Impossible values, left out: {}.", all.join(", ")))
}

const fn is_of_transitions(counter: LifeCounter) -> bool {
    matches!(counter, LifeCounter::Tmt1Transitions | LifeCounter::Tmt2Transitions)
}

/// How hot it is, was and may be.
fn temperatures(life: &Life) -> Option<String> {
    let degrees = |k: f64| format::temperature(Some(k));
    let mut parts = Vec::new();
    let is_own = life.sensor.as_deref().is_none_or(|sensor| !sensor.starts_with("sensor"));
    let of = life.sensor.as_deref().filter(|_| !is_own).map(|sensor| format!(" ({})", sensor_name(sensor)));
    let of = of.unwrap_or_default();
    parts.extend(life.now_k.map(|k| format!("{}{of} at the last reading", degrees(k))));
    parts.extend(life.hottest_k.map(|k| format!("at most {}", degrees(k))));
    parts.extend(life.history.as_ref().map(|history| remembered(history, limit_name(life))));
    parts.extend(life.limit_k.map(|k| format!("{} {}", limit_name(life), degrees(k))));
    let what = if life.limit_k.is_some() { "it" } else { "its warning temperature" };
    let counted =
        |count: u64| format!("{} readings above {what} by its own count", format::count(count as f64));
    parts.extend(life.whole.over_limit.filter(|count| *count > 0).map(counted));
    parts.extend(life.critical_k.map(|k| format!("critical temperature {}", degrees(k))));
    (!parts.is_empty()).then(|| format!("Temperature: {}.", parts.join(", ")))
}

/// "36 °C to 75 °C in the 21.2 h of its history, 2 of 128 readings above the warning temperature".
fn remembered(history: &LifeHistory, limit: &str) -> String {
    let over = history.readings_over_limit.filter(|over| *over > 0);
    let over = over.map(|over| format!(" ({over} of {} readings above the {limit})", history.readings));
    format!(
        "{} to {} in the {} of its history{}",
        format::temperature(Some(history.coolest_k)),
        format::temperature(Some(history.hottest_k)),
        hours(history.hours),
        over.unwrap_or_default()
    )
}

/// A time as a person says it: seconds, minutes, hours.
fn hours(hours: f64) -> String {
    match hours * 3600.0 {
        seconds if seconds < 120.0 => format!("{seconds:.0} s"),
        seconds if seconds < 7200.0 => format!("{:.0} min", seconds / 60.0),
        _ if hours < 100.0 => format!("{hours:.1} h"),
        _ => format!("{} h", thousands(hours)),
    }
}

/// A number as the rest of the report has it; what no drive counts is not printed in full.
fn figure(value: f64, decimals: usize) -> String {
    format::number(value, decimals).unwrap_or_else(|| format::UNKNOWN.to_owned())
}

/// A whole number with separators of thousands.
fn thousands(value: f64) -> String {
    let digits = figure(value, 0);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits;
    }
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A share that may be a small one: two digits that count.
fn small_percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        p if p >= 10.0 || p == 0.0 => format!("{p:.0} %"),
        p if p >= 1.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        _ => "less than 0.01 %".to_owned(),
    }
}

#[cfg(test)]
mod test;
