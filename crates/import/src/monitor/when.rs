//! Dates and times as monitors write them.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, NaiveTime};

use crate::part::TimeBase;

/// A time, and whether it is that of a place which is not told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stamp {
    /// Seconds since 1970, in UTC or in the local time of the place.
    pub(crate) seconds: f64,
    /// Whether the zone is told.
    pub(crate) is_utc: bool,
}

impl Stamp {
    /// What a part counts from whose first time is `zero_s`.
    pub(super) fn base(self, zero_s: f64) -> TimeBase {
        if self.is_utc { TimeBase::Unix { zero_s } } else { TimeBase::Local { zero_s } }
    }
}

/// How dates with a separator are ordered.
const DATES: [(char, &[&str]); 3] = [
    ('-', &["%Y-%m-%d"]),
    ('.', &["%d.%m.%y", "%d.%m.%Y"]),
    ('/', &["%m/%d/%y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d"]),
];
const TIMES: [&str; 4] = ["%H:%M:%S%.f", "%I:%M:%S%.f %p", "%I:%M:%S %p", "%H:%M"];

/// The time in `text`: a date and a time of day with a blank or a `T` between, with or without a zone; or seconds,
/// milliseconds or nanoseconds since 1970. Dates are year-month-day with `-`, day.month.year with `.`, and
/// month/day/year with `/` unless that cannot be.
pub(crate) fn stamp(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return since_1970(number).map(|seconds| Stamp { seconds, is_utc: true });
    }
    for zoned in [
        "%Y-%m-%dT%H:%M:%S%.f%:z",
        "%Y-%m-%dT%H:%M:%S%.f%z",
        "%Y-%m-%d %H:%M:%S%.f%:z",
        "%Y-%m-%d %H:%M:%S%.f %z",
    ] {
        if let Ok(time) = DateTime::parse_from_str(text, zoned) {
            return Some(Stamp { seconds: time.timestamp_micros() as f64 / 1e6, is_utc: true });
        }
    }
    if let Some(zulu) = text.strip_suffix('Z') {
        return stamp(zulu).map(|stamp| Stamp { is_utc: true, ..stamp });
    }
    let (date, time) = text.split_once([' ', 'T', ','])?;
    date_and_time(date, time)
}

/// The time of a date and a time of day that stand in cells of their own.
pub(super) fn date_and_time(date: &str, time: &str) -> Option<Stamp> {
    let (date, time) = (date.trim(), time.trim().replace(',', "."));
    let (_, orders) = DATES.iter().find(|(separator, _)| date.contains(*separator))?;
    let date = orders.iter().find_map(|order| NaiveDate::parse_from_str(date, order).ok())?;
    let time = TIMES.iter().find_map(|order| NaiveTime::parse_from_str(&time, order).ok())?;
    let seconds = NaiveDateTime::new(date, time).and_utc().timestamp_micros() as f64 / 1e6;
    Some(Stamp { seconds, is_utc: false })
}

/// The time whose day is this one's month and whose month is this one's day; the same where that is none.
pub(super) fn day_first(stamp: Stamp) -> Stamp {
    let swapped = DateTime::from_timestamp(stamp.seconds.floor() as i64, 0).and_then(|time| {
        Some((time.date_naive(), NaiveDate::from_ymd_opt(time.year(), time.day(), time.month())?))
    });
    let days = swapped.map_or(0, |(date, swapped)| (swapped - date).num_days());
    Stamp { seconds: stamp.seconds + days as f64 * 86_400.0, ..stamp }
}

/// Seconds from a number since 1970 in s, ms, µs or ns; `None` for one that is none of them between 2001 and 2286.
pub(super) fn since_1970(number: f64) -> Option<f64> {
    [1.0, 1e3, 1e6, 1e9].into_iter().map(|unit| number / unit).find(|seconds| (1e9..1e10).contains(seconds))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn dates_of_many_programs_are_one_moment() {
        // 2026-11-22 09:40:00 UTC.
        let moment = 1_795_340_400.0;
        for text in [
            "2026-11-22T09:40:00+0000",
            "2026-11-22T10:40:00+01:00",
            "2026-11-22T09:40:00Z",
            "2026-11-22 09:40:00",
            "2026-11-22 09:40:00.000",
            "22.11.2026 9:40:00.000",
            "11/22/2026 09:40:00.000",
            "11/22/26 09:40:00 AM",
            "22/11/2026 09:40:00",
            "1795340400",
            "1795340400000",
            "1795340400000000000",
        ] {
            assert_eq!(stamp(text).map(|stamp| stamp.seconds), Some(moment), "{text}");
        }
        assert_eq!(date_and_time("22.11.2026", "09:40:00,250").map(|s| s.seconds), Some(moment + 0.25));
        assert_eq!(stamp("11/22/26 09:40:00 PM").map(|s| s.seconds), Some(moment + 43_200.0));
        for text in ["", "12", "yesterday", "2026-13-41 09:40:00", "09:40:00"] {
            assert_eq!(stamp(text), None, "{text}");
        }
    }
}
