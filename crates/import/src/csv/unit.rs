//! Units in the titles of a plain CSV.
//!
//! Rules
//! - A unit stands in brackets (`write (MB/s)`, `temp [°C]`) or behind a blank, `_` or a small letter (`write_MBps`, `tempF`).
//! - `mb_per_s` counts bytes, as the plain CSV's own columns do. `Mb/s` and `Mbit/s` count bits; `mbps` and `mb/s` may be either.

use crate::monitor::units::{Measure, Told, Unit, data, is_ambiguous, told};

/// The unit in a title.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TitleUnit {
    Of(Unit),
    Seconds(f64),
    /// Data and no time: so many bytes.
    Amount(f64),
    /// Bytes or bits.
    Ambiguous,
}

/// A title without its unit, and that.
pub(super) fn split(title: &str) -> (&str, Option<TitleUnit>) {
    // `MiB/s`, which ends in `B/s`.
    if let Some(TitleUnit::Of(Unit { measure: Measure::Rate, .. }) | TitleUnit::Ambiguous) = unit(title) {
        return ("", unit(title));
    }
    if let Some((name, rest)) = title.split_once(['(', '['])
        && let Some(unit) = unit(rest.split([')', ']']).next().unwrap_or(rest))
    {
        return (name.trim(), Some(unit));
    }
    // What values of a time are (`[last]`), behind a unit.
    if let Some((name, rest)) = title.rsplit_once(['(', '['])
        && told(rest.trim_end_matches([')', ']', ' '])) == Told::Name
    {
        return split(name.trim_end());
    }
    let mut before = ' ';
    for (at, c) in title.char_indices() {
        let behind = match c {
            ' ' | '_' | ',' | '-' => at + 1,
            _ if c.is_uppercase() && before.is_lowercase() => at,
            '°' | '℃' | '℉' => at,
            _ => 0,
        };
        before = c;
        if behind > 0
            && at > 0
            && let Some(unit) = unit(&title[behind..])
        {
            return (&title[..at], Some(unit));
        }
    }
    // `KB_Written`.
    if let Some((first, rest)) = title.split_once(['_', ' '])
        && let Some(TitleUnit::Amount(bytes)) = unit(first)
    {
        return (rest, Some(TitleUnit::Amount(bytes)));
    }
    (title, None)
}

/// The unit of that name, in any of the spellings of titles.
fn unit(text: &str) -> Option<TitleUnit> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let heat = |name: &str| Unit::named(name).map(TitleUnit::Of);
    match lower.trim_start_matches("deg ").trim_start_matches("deg_") {
        "c" | "°c" | "ºc" | "℃" | "celsius" | "degc" | "centigrade" => return heat("C"),
        "f" | "°f" | "ºf" | "℉" | "fahrenheit" | "degf" => return heat("F"),
        "k" | "kelvin" => return heat("K"),
        "mc" | "m°c" | "mdegc" | "millidegc" | "millicelsius" | "millidegrees" => {
            return Some(TitleUnit::Of(Unit::of(Measure::Heat, 1e-3)));
        }
        "w" | "watt" | "watts" => return heat("W"),
        "mw" => return heat("mW"),
        "kw" => return heat("kW"),
        _ => {}
    }
    let amount = || amount(text, &lower).map(TitleUnit::Amount);
    seconds(&lower).map(TitleUnit::Seconds).or_else(|| rate(text, &lower)).or_else(amount)
}

pub(super) fn seconds(lower: &str) -> Option<f64> {
    Some(match lower {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "ms" | "msec" | "millis" | "millisecond" | "milliseconds" => 1e-3,
        "us" | "µs" | "μs" | "microseconds" => 1e-6,
        "ns" | "nanoseconds" => 1e-9,
        "min" | "mins" | "minute" | "minutes" => 60.0,
        "h" | "hr" | "hour" | "hours" => 3600.0,
        _ => return None,
    })
}

/// Bytes in `GB`, `gib` and the like; a bare `b` is no unit here.
fn amount(text: &str, lower: &str) -> Option<f64> {
    let bytes =
        data(text).filter(|_| text.contains('B') || lower.contains("byte") || lower.contains("octet"));
    bytes.or_else(|| {
        let (prefix, base) = lower.split_at_checked(lower.len().checked_sub(1)?)?;
        (base == "b" && ["k", "m", "g", "t", "ki", "mi", "gi", "ti"].contains(&prefix)).then_some(())?;
        let (first, rest) = prefix.split_at(1);
        data(&format!("{}{rest}B", first.to_uppercase()))
    })
}

fn rate(text: &str, lower: &str) -> Option<TitleUnit> {
    let of = |factor| Some(TitleUnit::Of(Unit::of(Measure::Rate, factor)));
    if let Some(data) = ["_per_s", "_per_sec", "_per_second"].iter().find_map(|end| lower.strip_suffix(end)) {
        return match data {
            "bytes" | "byte" => of(1.0),
            "kb" | "kbytes" => of(1e3),
            "mb" | "mbytes" => of(1e6),
            "gb" | "gbytes" => of(1e9),
            "kib" => of(1024.0),
            "mib" => of(1024.0 * 1024.0),
            "gib" => of(1024.0 * 1024.0 * 1024.0),
            "bit" | "bits" => of(0.125),
            "kbit" => of(125.0),
            "mbit" => of(125e3),
            "gbit" => of(125e6),
            _ => None,
        };
    }
    // Clouds count bytes a minute.
    let minutes = ["_per_minute", "_per_min", " per minute", " per min", "/minute", "/min"];
    if let Some(data) = minutes.iter().find_map(|end| lower.strip_suffix(end)) {
        return amount(&text[..data.len()], data).and_then(|bytes| of(bytes / 60.0));
    }
    // `MB_s` and `MBs` are `MB/s` where no sign may stand.
    let plain = text.replace("_s", "/s");
    let plain = match plain.strip_suffix("Bs") {
        Some(prefix) => format!("{prefix}B/s"),
        None => plain,
    };
    // Small letters throughout, of bytes: bits are `mibit/s`.
    if (lower.ends_with("ib_s") || lower.ends_with("ib/s") || lower.ends_with("ibps")) && text == lower {
        let prefix = lower.chars().next()?.to_uppercase();
        return Unit::named(&format!("{prefix}iB/s")).map(TitleUnit::Of);
    }
    let unit = Unit::named(&plain).filter(|unit| unit.measure == Measure::Rate);
    match unit {
        _ if is_ambiguous(text) => Some(TitleUnit::Ambiguous),
        Some(unit) => Some(TitleUnit::Of(unit)),
        // Small letters throughout: `mbytes/s`, `mib/s`.
        None if lower.ends_with("ib/s") || lower.ends_with("ibps") => {
            let prefix = lower.chars().next()?.to_uppercase();
            Unit::named(&format!("{prefix}iB/s")).map(TitleUnit::Of)
        }
        None => None,
    }
}
