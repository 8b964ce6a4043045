//! Dates and times as monitors write them.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveTime};

use super::date_words::{is_afternoon, plain};
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

/// The time in `text`: a date and a time of day with a blank or a `T` between, with or without a zone; or seconds,
/// milliseconds or nanoseconds since 1970.
pub(crate) fn stamp(text: &str) -> Option<Stamp> {
    let text = plain(text);
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
    if let Some(zulu) = text.strip_suffix('Z').or_else(|| text.strip_suffix(" UTC")) {
        return stamp(zulu).map(|stamp| Stamp { is_utc: true, ..stamp });
    }
    let (date, time) = text.split_once([' ', 'T', ','])?;
    date_and_time(date, time).or_else(|| in_words(text))
}

/// The time of a date that has blanks in it, as in Switzerland, Slovenia and Korea: `14. 03. 2026 15:20:00`.
fn in_words(text: &str) -> Option<Stamp> {
    let at = text.find(BEHIND_HOURS)?;
    let begin = text[..at].rfind(char::is_whitespace)?;
    // The day of the week may stand in brackets.
    let date = text[..begin].split('(').next()?;
    date_and_time(date, &text[begin..])
}

/// What stands behind hours, in Chinese, Japanese and Korean as well.
pub(crate) const BEHIND_HOURS: [char; 4] = [':', '时', '時', '시'];

/// The time of a date and a time of day that stand in cells of their own.
pub(crate) fn date_and_time(date: &str, time: &str) -> Option<Stamp> {
    let seconds = midnight_s(date)? + time_of_day_s(time)?;
    Some(Stamp { seconds, is_utc: false })
}

/// The beginning of a day in seconds since 1970. Dates are year-month-day where the year comes first, else day.month.year,
/// and with `/` month/day/year unless that cannot be. Years have two digits or four.
pub(crate) fn midnight_s(date: &str) -> Option<f64> {
    let date = plain(date);
    let date = date.trim();
    if !date.chars().all(|c| c.is_ascii_digit() || "-./ 年月日년월일".contains(c)) {
        return None;
    }
    let parts: Vec<&str> =
        date.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    let [first, second, third] = parts[..] else { return None };
    let year = |digits: &str| match digits.len() {
        2 => digits.parse::<i32>().ok().map(|year| 2000 + year),
        4 => digits.parse().ok(),
        _ => None,
    };
    let day = |year: Option<i32>, month: &str, day: &str| ymd(year?, month.parse().ok()?, day.parse().ok()?);
    let date = match date.contains('/') {
        _ if first.len() == 4 => day(year(first), second, third),
        true => day(year(third), first, second).or_else(|| day(year(third), second, first)),
        false => day(year(third), second, first),
    };
    Some(date?.and_time(NaiveTime::MIN).and_utc().timestamp() as f64)
}

/// A day of the Gregorian calendar; its years are counted from 543 years before in Thailand.
pub(crate) fn ymd(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(if year > 2500 { year - 543 } else { year }, month, day)
}

/// Whether a time of day is one of minutes, seconds and tenths without an hour (`40:00.3`), as Excel saves what it opened.
pub(crate) fn lacks_hour(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let Some((minutes, rest)) = text.trim().split_once(':') else { return false };
    let tenths = rest.split_once(['.', ',']);
    digits(minutes) && tenths.is_some_and(|(seconds, tenths)| digits(seconds) && digits(tenths))
}

/// Days that Excel counts up to 1970-01-01, from the end of 1899 (its 1900 is a leap year).
const EXCEL_1970: f64 = 25_569.0;
/// 2000-01-01 and 2100-01-01.
const EXCEL_DAYS: std::ops::Range<f64> = 36_526.0..73_051.0;

/// The time in a number of days, as Excel shows a date whose format was taken off: `46348.40278`.
pub(crate) fn of_excel(text: &str) -> Option<Stamp> {
    let days: f64 = text.trim().replace(',', ".").parse().ok().filter(|days| EXCEL_DAYS.contains(days))?;
    // It shows few digits: not all of a millisecond.
    let seconds = ((days - EXCEL_1970) * 86_400.0 * 1e3).round() / 1e3;
    Some(Stamp { seconds, is_utc: false })
}

/// What to say of a time without an hour.
pub(crate) fn no_hour(text: &str) -> String {
    format!(
        "the time {:?} has no hour, as after saving with Excel: use the log as it was exported",
        text.trim()
    )
}

/// Whether a time, with its date or without, is one of hours and minutes without seconds.
pub(crate) fn lacks_seconds(text: &str) -> bool {
    let of_day = text.trim().rsplit_once([' ', 'T']).map_or(text.trim(), |(_, of_day)| of_day);
    of_day.matches(':').count() == 1 && !of_day.contains(['.', ','])
}

/// Whether a word is the name of a zone, such as `CET`.
pub(crate) fn is_zone_name(word: &str) -> bool {
    let is_name = (2..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
    is_name && is_afternoon(word).is_none()
}

/// The seconds since midnight of `9:40:00.250`, `11:55:02 PM`, `11:55 p.m.`, `23.55.02`, `23时55分02秒`, `PM11:55:02`, `11:55:02 PM IST`
/// and their like.
pub(crate) fn time_of_day_s(text: &str) -> Option<f64> {
    if lacks_hour(text) {
        return None;
    }
    let text = plain(text);
    let words = text.split_whitespace().filter(|word| !is_zone_name(word) && *word != "kl.");
    let text = words.collect::<Vec<_>>().join(" ").to_lowercase();
    let is_digit = |c: char| c.is_ascii_digit();
    let (before, rest) = text.split_at(text.find(is_digit)?);
    let (digits, behind) = rest.split_at(rest.find(is_of_half).unwrap_or(rest.len()));
    if !digits.chars().all(|c| is_digit(c) || ":.,- 时分秒時시분초".contains(c)) {
        return None;
    }
    let parts: Vec<&str> = digits.split(|c: char| !is_digit(c)).filter(|part| !part.is_empty()).collect();
    if !(2..=4).contains(&parts.len()) || parts.iter().take(3).any(|part| part.len() > 2) {
        return None;
    }
    let number = |index: usize| parts.get(index).map_or(Some(0.0), |part| part.parse::<f64>().ok());
    let (hour, minute, second) = (number(0)?, number(1)?, number(2)?);
    let fraction: f64 = parts.get(3).map_or(Ok(0.0), |digits| format!("0.{digits}").parse()).ok()?;
    let half = format!("{before}{behind}");
    let hour = match is_afternoon(&half) {
        None if half.is_empty() && hour < 24.0 => hour,
        Some(is_afternoon) if (1.0..=12.0).contains(&hour) => {
            hour % 12.0 + if is_afternoon { 12.0 } else { 0.0 }
        }
        _ => return None,
    };
    (minute < 60.0 && second < 61.0).then_some(hour * 3600.0 + minute * 60.0 + second + fraction)
}

/// Whether a half of the day may begin with this.
fn is_of_half(c: char) -> bool {
    c.is_alphabetic() && !"时分秒時시분초".contains(c)
}

/// Rows of a log are less than this apart, a night's rest included.
const LONGEST_STEP_S: f64 = 2.0 * 86_400.0;

/// The order of day and month that a file goes by, which it shows where a day ends: the next day is no month away.
#[derive(Debug, Default)]
pub(crate) struct DateOrder {
    is_day_first: bool,
    /// The time before, as month/day.
    before: Option<Stamp>,
}

impl DateOrder {
    /// The time `told`, read as month/day, by that order; and by how many seconds all times before have to be moved.
    pub(crate) fn read(&mut self, told: Stamp) -> (Stamp, f64) {
        let steps = |from: Stamp, to: Stamp| (0.0..=LONGEST_STEP_S).contains(&(to.seconds - from.seconds));
        let mut moved_s = 0.0;
        if let Some(last) = self.before.replace(told)
            && !self.is_day_first
            && !steps(last, told)
            && steps(day_first(last), day_first(told))
        {
            self.is_day_first = true;
            // So far all times were of one day.
            moved_s = day_first(last).seconds - last.seconds;
        }
        (if self.is_day_first { day_first(told) } else { told }, moved_s)
    }
}

/// The time whose day is this one's month and whose month is this one's day; the same where that is none.
fn day_first(stamp: Stamp) -> Stamp {
    let swapped = DateTime::from_timestamp(stamp.seconds.floor() as i64, 0).and_then(|time| {
        Some((time.date_naive(), NaiveDate::from_ymd_opt(time.year(), time.day(), time.month())?))
    });
    let days = swapped.map_or(0, |(date, swapped)| (swapped - date).num_days());
    Stamp { seconds: stamp.seconds + days as f64 * 86_400.0, ..stamp }
}

/// Seconds from a number since 1970 in s, ms, µs or ns; `None` for one that is none of them between 2001 and 2286.
pub(crate) fn since_1970(number: f64) -> Option<f64> {
    [1.0, 1e3, 1e6, 1e9].into_iter().map(|unit| number / unit).find(|seconds| (1e9..1e10).contains(seconds))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn days_of_excel_are_times() {
        let seconds = |text| of_excel(text).map(|told| told.seconds);
        assert_eq!(seconds("46348.4027777778"), stamp("2026-11-22 09:40:00").map(|told| told.seconds));
        assert_eq!(seconds("46348,5"), stamp("2026-11-22 12:00:00").map(|told| told.seconds));
        assert!(
            ["1795340400", "12.5", "x", "NaN", "36525.9", "1e300"]
                .into_iter()
                .all(|text| of_excel(text).is_none())
        );
    }

    #[test]
    fn times_that_lost_their_hour_or_seconds_are_known() {
        assert!(
            ["40:00.3", " 9:40,0 "].into_iter().all(|text| lacks_hour(text) && time_of_day_s(text).is_none())
        );
        assert!(!["9:40:00.3", "23.55.02", "9:40", "x:00.3", "9.40"].into_iter().any(lacks_hour));
        assert!(["9:40", "22/11/2026 9:40", "2026-11-22T09:40"].into_iter().all(lacks_seconds));
        assert!(!["9:40:00", "22/11/2026 9:40:00", "40:00.3", "9"].into_iter().any(lacks_seconds));
    }

    #[test]
    fn the_order_of_a_date_is_shown_by_the_next_day() {
        let mut order = DateOrder::default();
        let read = |order: &mut DateOrder, text: &str| order.read(stamp(text).expect(text));
        assert_eq!(read(&mut order, "03/04/2026 23:59:59").1, 0.0);
        let (next, moved_s) = read(&mut order, "04/04/2026 00:00:00");
        assert_eq!((Some(next), moved_s), (stamp("2026-04-04 00:00:00"), 30.0 * 86_400.0));
    }

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
            "22/11/26 09:40:00",
            "22-11-2026 09:40:00",
            "2026/11/22 09.40.00",
            "2026-11-22 09:40:00 UTC",
            "2026年11月22日 09时40分00秒",
            "2026년 11월 22일 09시 40분 00초",
            "22. 11. 26 09:40:00",
            "22. 11. 2026 9:40:00",
            "22/11/26 09:40:00 AM",
            "22/11/26 09:40:00 AM IST",
            "2026-11-22T09:40:00 CET",
            "2026-11-22 AM09:40:00",
            "1795340400",
            "1795340400000",
            "1795340400000000000",
        ] {
            assert_eq!(stamp(text).map(|stamp| stamp.seconds), Some(moment), "{text}");
        }
        assert_eq!(date_and_time("22.11.2026", "09:40:00,250").map(|s| s.seconds), Some(moment + 0.25));
        assert_eq!(stamp("11/22/26 09:40:00 PM").map(|s| s.seconds), Some(moment + 43_200.0));
        assert_eq!(stamp("11/22/26 12:05 am").map(|s| s.seconds), Some(moment - 34_500.0));
        let never =
            ["", "12", "yesterday", "2026-13-41 09:40:00", "09:40:00", "6.12.0 09:40:00", "1/1/26 13:00 PM"];
        for text in never {
            assert_eq!(stamp(text), None, "{text}");
        }
    }
}
