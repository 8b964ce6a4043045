//! Numbers as a person reads them, with their unit, and never as NaN or infinity.
//!
//! A number that is not one is "unknown" in a sentence and "–" in a table: a report says what is not known.

use measure::{Bytes, BytesPerSec};

/// What a sentence says where there is no number.
pub(crate) const UNKNOWN: &str = "unknown";
/// What a table shows where there is no number.
pub(crate) const MISSING: &str = "–";
/// From here on figures are not worth printing in full; no quantity of a drive comes near.
const ABSURD: f64 = 1e15;
/// Less than this is told as a latency is: seconds with one digit would be zero.
const SHORT_S: f64 = 0.05;

/// A number with `decimals` places; `None` where it is none.
pub(crate) fn number(value: f64, decimals: usize) -> Option<String> {
    if !value.is_finite() {
        return None;
    }
    let text =
        if value.abs() < ABSURD { format!("{value:.decimals$}") } else { format!("{value:.decimals$e}") };
    // "-0.0" is a rounding artefact.
    let is_zero = text.chars().all(|c| matches!(c, '-' | '0' | '.'));
    Some(if is_zero { text.trim_start_matches('-').to_owned() } else { text })
}

/// `text` with at most `room` characters; what is left out shows as `…`.
pub(crate) fn shortened(text: &str, room: usize) -> String {
    match text.chars().count() > room {
        true => text.chars().take(room.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// A number in a table.
pub(crate) fn cell(value: Option<f64>, decimals: usize) -> String {
    value.and_then(|value| number(value, decimals)).unwrap_or_else(|| MISSING.to_owned())
}

/// A speed with the unit that suits it, "2.40 GB/s".
pub(crate) fn speed(bytes_per_s: Option<f64>) -> String {
    match bytes_per_s {
        Some(rate) if rate.is_finite() && (0.0..ABSURD).contains(&rate) => BytesPerSec::new(rate).to_string(),
        _ => UNKNOWN.to_owned(),
    }
}

pub(crate) use analysis::wording::celsius;

/// A temperature given in kelvins, "80 °C"; tenths only where it is not whole.
pub(crate) fn temperature(kelvin: Option<f64>) -> String {
    kelvin.map_or_else(|| UNKNOWN.to_owned(), |kelvin| degrees(celsius(kelvin)))
}

/// A temperature given in °C, "80 °C"; tenths only where it is not whole.
pub(crate) fn degrees(celsius: f64) -> String {
    let decimals = usize::from((celsius - celsius.round()).abs() >= 0.05);
    number(celsius, decimals).map_or_else(|| UNKNOWN.to_owned(), |text| format!("{text} °C"))
}

/// A moment or a span: "3.2 s", "214 s"; from three hours on "3 h 20 min".
pub(crate) fn seconds(s: f64) -> String {
    if !s.is_finite() {
        return UNKNOWN.to_owned();
    }
    if (3.0 * 3600.0..ABSURD).contains(&s) {
        return analysis::wording::hours_and_minutes(s);
    }
    if s > 0.0 && s < SHORT_S {
        return latency(1e9 * s);
    }
    let decimals = usize::from(s.abs() < 10.0 && (s - s.round()).abs() >= 0.05);
    number(s, decimals).map_or_else(|| UNKNOWN.to_owned(), |text| format!("{text} s"))
}

/// A span that may be of days: as [`seconds`], and from three days on "90 days".
pub(crate) fn span(s: f64) -> String {
    if (72.0 * 3600.0..ABSURD).contains(&s) { analysis::wording::duration(s) } else { seconds(s) }
}

/// A latency in nanoseconds with three digits that count: "85.0 µs", "41.9 ms", "1.20 s".
pub(crate) fn latency(ns: f64) -> String {
    if !ns.is_finite() {
        return UNKNOWN.to_owned();
    }
    const UNITS: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
    // Just below a unit, what would round to 1000 belongs to the next one.
    let (name, size) = UNITS.into_iter().find(|(_, size)| ns.abs() >= *size * 0.9995).unwrap_or(("ns", 1.0));
    let value = ns / size;
    let decimals = match value.abs() {
        v if name == "ns" || v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    number(value, decimals).map_or_else(|| UNKNOWN.to_owned(), |text| format!("{text} {name}"))
}

/// A count or a rate of counts with separators of thousands: "1,526", "401,234"; one decimal below 10.
pub(crate) fn count(value: f64) -> String {
    let decimals = usize::from(value.abs() < 10.0 && (value - value.round()).abs() >= 0.05);
    let digits = number(value, decimals).unwrap_or_else(|| UNKNOWN.to_owned());
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return digits;
    }
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// A difference as a signed percentage with a true minus: "+1.2 %", "−18 %"; "0.0 %" has no sign.
pub(crate) fn signed_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let decimals = usize::from(percent.abs() < 9.95);
    let Some(text) = number(percent.abs(), decimals) else { return UNKNOWN.to_owned() };
    let is_zero = text.chars().all(|c| matches!(c, '0' | '.'));
    let sign = match (is_zero, percent < 0.0) {
        (true, _) => "",
        (false, true) => "−",
        (false, false) => "+",
    };
    format!("{sign}{text} %")
}

/// A fraction as "80 %".
pub(crate) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let decimals = usize::from(percent.abs() < 10.0 && (percent - percent.round()).abs() >= 0.05);
    number(percent, decimals).map_or_else(|| UNKNOWN.to_owned(), |text| format!("{text} %"))
}

/// An amount of data in decimal units, as drives are sold: "107 GB".
pub(crate) fn amount(bytes: f64) -> String {
    if bytes.is_finite() { Bytes::new(bytes.round() as u64).decimal() } else { UNKNOWN.to_owned() }
}

/// Text in which a no-break space holds numbers and their units together: "70 °C".
pub(crate) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut is_after_digit = false;
    while let Some(c) = chars.next() {
        let joins = c == ' ' && is_after_digit && chars.peek().is_some_and(|next| !next.is_ascii_digit());
        out.push(if joins { NO_BREAK } else { c });
        is_after_digit = c.is_ascii_digit();
    }
    out
}

/// The no-break space.
pub(crate) const NO_BREAK: char = '\u{a0}';

/// The date and time of day in UTC of `unix_ns`, "2026-11-21 04:48:00 UTC".
pub(crate) fn utc(unix_ns: i64) -> String {
    let seconds = unix_ns.div_euclid(1_000_000_000);
    let (days, second_of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Howard Hinnant, "chrono-compatible low-level date algorithms": civil_from_days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_shifted + 2) / 5 + 1;
    let month = if month_shifted < 10 { month_shifted + 3 } else { month_shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_is_no_number_is_said_to_be_unknown() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(speed(Some(bad)), "unknown");
            assert_eq!(temperature(Some(bad)), "unknown");
            assert_eq!(seconds(bad), "unknown");
            assert_eq!(span(bad), "unknown");
            assert_eq!(percent(bad), "unknown");
            assert_eq!(amount(bad), "unknown");
            assert_eq!(cell(Some(bad), 1), "–");
        }
    }

    #[test]
    fn quantities_read_as_written_by_hand() {
        assert_eq!(temperature(Some(353.0)), "80 °C");
        assert_eq!(temperature(Some(352.64)), "79.5 °C");
        assert_eq!(seconds(214.3), "214 s");
        assert_eq!(seconds(3.24), "3.2 s");
        assert_eq!(seconds(12_000.0), "3 h 20 min");
        assert_eq!(percent(0.8), "80 %");
        assert_eq!(percent(0.034), "3.4 %");
        assert_eq!(amount(107_374_182_400.0), "107 GB");
        assert_eq!(number(-0.001, 1).as_deref(), Some("0.0"));
    }

    #[test]
    fn latencies_keep_three_digits_and_counts_are_grouped() {
        let shown = [85.0, 999.6, 85_000.0, 41_943_040.0, 999_960.0, 1.2e9, f64::NAN].map(latency);
        assert_eq!(shown, ["85 ns", "1.00 µs", "85.0 µs", "41.9 ms", "1.00 ms", "1.20 s", "unknown"]);
        assert_eq!([1526.4, 401_234.0, 3.25, 999.6].map(count), ["1,526", "401,234", "3.2", "1,000"]);
        assert_eq!([-0.18, 0.012, 0.0, -1e-9].map(signed_percent), ["−18 %", "+1.2 %", "0.0 %", "0.0 %"]);
    }

    /// Known days: the epoch, a leap day, and one before the epoch (`date -u -d @...`).
    #[test]
    fn moments_are_told_in_utc() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(1_709_210_096_000_000_000), "2024-02-29 12:34:56 UTC");
        assert_eq!(utc(-1_000_000_000), "1969-12-31 23:59:59 UTC");
    }
}
