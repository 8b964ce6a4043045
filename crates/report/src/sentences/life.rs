//! What a drive's counters say of its life, in sentences.

use analysis::life::{Life, LifeShare, LifeSpan, LifeThrottling};

use crate::format;

/// The sentences, the answer first; none where the counters say nothing.
pub fn life(life: &Life) -> Vec<String> {
    let mut sentences = headline(&life.whole);
    sentences.extend(life.whole.throttled.iter().filter_map(|one| throttling(one, "powered on")));
    sentences.extend(heat(&life.whole));
    if let Some(between) = &life.between {
        sentences.extend(since(between));
    }
    sentences.extend(so_far(life));
    sentences
}

/// What the counters say happened from the first reading to the last, where any of them moved.
pub(super) fn meanwhile(life: &Life) -> Option<String> {
    let between = life.between.as_ref()?;
    let moved = |one: &LifeThrottling| {
        one.transitions.unwrap_or(0) > 0 || one.time.is_some_and(|time| time.hours > 0.0)
    };
    between.throttled.iter().any(moved).then(|| since(between)).flatten()
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

/// What happened between two readings.
fn since(between: &LifeSpan) -> Option<String> {
    let span = between.hours.map_or_else(String::new, |span| format!(", {} apart", hours(span)));
    let mut told: Vec<String> =
        between.throttled.iter().filter_map(|one| throttling(one, "between")).collect();
    for (name, time) in [("warning", between.above_warning), ("critical", between.above_critical)] {
        told.extend(
            time.filter(|time| time.hours > 0.0)
                .map(|time| format!("{} above the {name} temperature.", hours(time.hours))),
        );
    }
    if told.is_empty() {
        return Some(format!("Between the first and the last reading{span} none of these counters moved."));
    }
    Some(format!("Between the first and the last reading{span}: {}", told.join(" ")))
}

/// Hours, data and wear.
fn so_far(life: &Life) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(life.whole.hours.map(|hours| format!("{} h powered on", thousands(hours))));
    parts.extend(life.whole.written_bytes.map(|bytes| format!("{} written", format::amount(bytes))));
    parts.extend(life.whole.read_bytes.map(|bytes| format!("{} read", format::amount(bytes))));
    parts.extend(life.used_percent.map(|percent| format!("{} % of its endurance used", figure(percent, 0))));
    parts.extend(life.hottest_k.map(|k| format!("at most {}", format::temperature(Some(k)))));
    if let Some(history) = &life.history {
        parts.push(format!(
            "{} to {} over the last {} of its history",
            format::temperature(Some(history.coolest_k)),
            format::temperature(Some(history.hottest_k)),
            hours(history.hours)
        ));
    }
    (!parts.is_empty()).then(|| format!("Life so far: {}.", parts.join(", ")))
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
mod test {
    use super::*;

    #[test]
    fn figures_are_grouped_and_absurd_ones_are_short() {
        assert_eq!((thousands(7.0), thousands(1789.0)), ("7".to_owned(), "1,789".to_owned()));
        assert_eq!((thousands(123_456.0), thousands(f64::NAN)), ("123,456".to_owned(), "unknown".to_owned()));
        assert!(thousands(1e300).len() < 10, "{}", thousands(1e300));
        assert_eq!((hours(0.01), hours(1.5), hours(12.0)), ("36 s".into(), "90 min".into(), "12.0 h".into()));
        assert_eq!((small_percent(0.031), small_percent(1e-6)), ("3.1 %".into(), "less than 0.01 %".into()));
    }
}
