//! What a drive's counters say of its life, in sentences.

mod between;

use analysis::life::{Life, LifeHistory, LifeShare, LifeSpan, LifeThrottling, LifeWarning};

use crate::format;

/// The sentences, the answer first; none where the counters say nothing.
pub fn life(life: &Life) -> Vec<String> {
    let mut sentences: Vec<String> = warning(life).into_iter().collect();
    sentences.extend(headline(&life.whole));
    sentences.extend(life.whole.throttled.iter().filter_map(|one| throttling(one, "powered on")));
    sentences.extend(heat(&life.whole));
    if let Some(span) = &life.between {
        sentences.extend(between::course(span, life.used_percent));
        sentences.extend(between::moved(span));
        sentences.extend(between::doubts(span));
    }
    sentences.extend(so_far(life));
    sentences.extend(temperatures(life));
    sentences
}

/// Beside a load: what the drive warns of, what its counters of heat say of the time between the readings where any moved, and
/// what is wrong with them.
pub(super) fn meanwhile(life: &Life) -> Vec<String> {
    let Some(span) = &life.between else { return warning(life).into_iter().collect() };
    let told = between::of_heat(span);
    let apart = span.clock_hours.map_or_else(String::new, |apart| format!(", {} apart", hours(apart)));
    let moved = (!told.is_empty())
        .then(|| format!("Between the first and the last reading{apart}: {}", told.join(" ")));
    warning(life).into_iter().chain(moved).chain(between::doubts(span)).collect()
}

/// What the drive warns of, and a spare capacity that is below its threshold though it does not.
fn warning(life: &Life) -> Option<String> {
    let spare = life.spare_percent.zip(life.spare_threshold_percent);
    let is_low = spare.is_some_and(|(left, threshold)| left < threshold);
    let spare = spare.map_or_else(String::new, |(left, threshold)| {
        format!(" ({} % left, threshold {} %)", figure(left, 0), figure(threshold, 0))
    });
    let of = |warning: &LifeWarning| match warning {
        LifeWarning::Spare => format!("available spare is below its threshold{spare}"),
        LifeWarning::Temperature => "a temperature is over or under its threshold".to_owned(),
        LifeWarning::Reliability => "media or internal errors degrade its reliability".to_owned(),
        LifeWarning::ReadOnly => "the media are read-only".to_owned(),
        LifeWarning::VolatileBackup => "the backup of its volatile memory failed".to_owned(),
        LifeWarning::PersistentMemory => "its persistent memory region is read-only or unreliable".to_owned(),
    };
    let all: Vec<String> = life.warnings.iter().map(of).collect();
    match (all.is_empty(), is_low) {
        (false, _) => Some(format!("The drive reports a critical warning: {}.", all.join("; "))),
        (true, true) => {
            Some(format!("Available spare is below its threshold{spare}, and the drive does not warn of it."))
        }
        (true, false) => None,
    }
}

/// How much of its life the drive was throttled by thresholds of the host, or that it does not tell.
fn headline(whole: &LifeSpan) -> Vec<String> {
    let moved = |one: &LifeThrottling| {
        one.transitions.unwrap_or(0) > 0 || one.time.is_some_and(|time| time.hours > 0.0)
    };
    let shares: Vec<f64> = whole.throttled.iter().filter_map(|one| one.time?.share).collect();
    if whole.throttled.iter().any(moved) {
        return match shares.is_empty() {
            true => Vec::new(),
            false => vec![format!(
                "Throttled at TMT1 or TMT2 for {} of its life.",
                small_percent(shares.iter().sum())
            )],
        };
    }
    if whole.throttled.is_empty() {
        return Vec::new();
    }
    vec![
        "The TMT1 and TMT2 counters are zero: it never throttled by them, or does not implement them. A firmware threshold is not counted there."
            .to_owned(),
    ]
}

fn throttling(one: &LifeThrottling, of: &str) -> Option<String> {
    let name = one.threshold;
    let times = one.transitions.map(|times| match times {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    });
    let lasted = one.time.filter(|time| time.hours > 0.0 || one.transitions.is_some_and(|times| times > 0));
    if lasted.is_none() && one.transitions.is_none_or(|times| times == 0) {
        return None;
    }
    let mut text = format!("{name}: {}", times.unwrap_or_else(|| "an unknown number of times".to_owned()));
    if lasted.is_some_and(|time| time.hours == 0.0) {
        text.push_str(", each shorter than one count");
    } else if let Some(time) = lasted {
        text.push_str(&format!(", {} in all", hours(time.hours)));
        if let Some(share) = time.share {
            text.push_str(&format!(" ({} of the time {of})", small_percent(share)));
        }
    }
    if let Some(per_hour) = one.per_hour.filter(|rate| *rate > 0.0) {
        text.push_str(&match per_hour >= 1.0 {
            true => format!("; {} times an hour", figure(per_hour, 1)),
            false => format!("; once in {}", hours(1.0 / per_hour)),
        });
    }
    if let Some(per_tb) = one.per_tb_written.filter(|rate| *rate > 0.0) {
        text.push_str(&format!("; {} times for each TB written", figure(per_tb, 1)));
    }
    text.push('.');
    Some(text)
}

/// How long it was above the thresholds that its maker set.
fn heat(whole: &LifeSpan) -> Vec<String> {
    let both = [("warning", whole.above_warning), ("critical", whole.above_critical)];
    let told = both.iter().filter_map(|(name, time)| Some((*name, (*time)?)));
    let (never, above): (Vec<_>, Vec<_>) = told.partition(|(_, time)| time.hours <= 0.0);
    let mut sentences: Vec<String> = above.iter().map(|(name, time)| over(name, *time, whole)).collect();
    if !never.is_empty() {
        let names: Vec<&str> = never.iter().map(|(name, _)| *name).collect();
        sentences.push(format!("Never above its {} temperature, by its own counters.", names.join(" or ")));
    }
    sentences
}

fn over(threshold: &str, time: LifeShare, whole: &LifeSpan) -> String {
    let share = time.share.map(|share| format!(", {} of the time powered on", small_percent(share)));
    let odd = if time.share.is_none() && whole.hours.is_some() {
        ": more than its power-on hours, so one of the two counters is wrong"
    } else {
        ""
    };
    format!("Above its {threshold} temperature for {}{}{odd}.", hours(time.hours), share.unwrap_or_default())
}

/// Hours, data and wear.
fn so_far(life: &Life) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(life.whole.hours.map(|hours| format!("{} h powered on", thousands(hours))));
    parts.extend(life.whole.written_bytes.map(|bytes| format!("{} written", format::amount(bytes))));
    parts.extend(life.whole.read_bytes.map(|bytes| format!("{} read", format::amount(bytes))));
    parts.extend(life.used_percent.map(|percent| format!("{} % of its endurance used", figure(percent, 0))));
    (!parts.is_empty()).then(|| format!("Life so far: {}.", parts.join(", ")))
}

/// How hot it is, was and may be.
fn temperatures(life: &Life) -> Option<String> {
    let degrees = |k: f64| format::temperature(Some(k));
    let mut parts = Vec::new();
    parts.extend(life.now_k.map(|k| format!("{} at the last reading", degrees(k))));
    parts.extend(life.hottest_k.map(|k| format!("at most {}", degrees(k))));
    parts.extend(life.history.as_ref().map(remembered));
    parts.extend(life.limit_k.map(|k| format!("warning temperature {}", degrees(k))));
    let what = if life.limit_k.is_some() { "it" } else { "its warning temperature" };
    let counted =
        |count: u64| format!("{} readings above {what} by its own count", format::count(count as f64));
    parts.extend(life.whole.over_limit.filter(|count| *count > 0).map(counted));
    (!parts.is_empty()).then(|| format!("Temperature: {}.", parts.join(", ")))
}

/// "36 °C to 75 °C over the last 21.2 h of its history, 2 of 128 readings above the warning temperature".
fn remembered(history: &LifeHistory) -> String {
    let over = history.readings_over_limit.filter(|over| *over > 0);
    let over =
        over.map(|over| format!(" ({over} of {} readings above the warning temperature)", history.readings));
    format!(
        "{} to {} over the last {} of its history{}",
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
