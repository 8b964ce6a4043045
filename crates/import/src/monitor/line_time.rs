//! Lines that are a time, between readings in a loop.
//!
//! Rules
//! - What `date` writes in the languages of [`super::date_words`], whatever the order: a month's name, a day, a time of day
//!   and a year, and with them a day of the week, a half of the day, a zone and words between; or the numbers of a date.
//! - Of a name that is two months in two languages it is the one whose day of the week is told.
//! - A name before it (`timestamp: ..`), marks around it (`=== .. ===`, `[..]`) and the first line of `watch` are no part of it.
//! - A time of day alone goes on into the next day where it falls back by half a day.
//! - Times without a zone are of a place that is not told, and so are those with a zone's name, as other logs of the same
//!   place have none. But where the names of a file change from that of summer time to another one, or back, the times after
//!   that count on as before.

use std::mem;

use chrono::{Datelike as _, NaiveDate, NaiveTime};

use super::date_words::{Meaning, is_afternoon, meaning, plain};
use super::when::{BEHIND_HOURS, Stamp, date_and_time, is_zone_name, midnight_s, stamp, time_of_day_s, ymd};

/// The most words of a time.
const MOST_WORDS: usize = 12;

/// Zones of summer time, an hour before what they are in winter (tz database, abbreviations in use).
const SUMMER: &[&str] = &[
    "CEST", "EEST", "WEST", "BST", "MESZ", "EDT", "CDT", "MDT", "PDT", "AKDT", "HDT", "NDT", "ADT", "AEDT",
    "ACDT", "NZDT",
];

/// Names before a time.
const NAMES: [&str; 9] =
    ["timestamp", "time", "date", "datetime", "date/time", "ts", "epoch", "local time", "now"];

const HOUR_S: f64 = 3600.0;
const DAY_S: f64 = 86_400.0;

/// The times in the lines of a file, one after the other.
#[derive(Debug, Default)]
pub(crate) struct LineTimes {
    told: Option<Stamp>,
    /// Whether the first zone that was named is one of summer time.
    is_summer: Option<bool>,
    /// The last time of day without a date, and how many days have passed.
    of_day_s: Option<f64>,
    days: f64,
    /// The line that looks like a time and was not understood.
    unread: Option<String>,
}

impl LineTimes {
    /// Takes a line that may be a time.
    pub(crate) fn line(&mut self, number: usize, line: &str) {
        let text = bare(line);
        if let Some((told, zone)) = dated(text) {
            self.told = Some(self.as_at_first(told, &zone));
        } else if let Some(of_day_s) = time_of_day_s(text).filter(|_| text.contains(':')) {
            self.days += f64::from(self.of_day_s.is_some_and(|before| of_day_s < before - DAY_S / 2.0));
            self.of_day_s = Some(of_day_s);
            // Any day but the first: time 0 is before it.
            let seconds = (self.days + 1.0) * DAY_S + of_day_s;
            self.told = Some(Stamp { seconds, is_utc: false });
        } else if self.unread.is_none() && text.split_whitespace().any(is_clock) {
            let shown: String = line.trim().chars().take(60).collect();
            self.unread = Some(format!("line {number}, {shown:?},"));
        }
    }

    /// The time since the last call; with the line that looks like one and was not understood where there is none.
    pub(crate) fn take(&mut self) -> (Option<Stamp>, Option<String>) {
        (self.told.take(), mem::take(&mut self.unread))
    }

    /// Whether a text is a time with its date.
    pub(crate) fn is_time(text: &str) -> bool {
        dated(bare(text)).is_some()
    }

    /// A time by the clock of the first zone that was named.
    fn as_at_first(&mut self, told: Stamp, zone: &str) -> Stamp {
        if zone.is_empty() || told.is_utc {
            return told;
        }
        let is_summer = SUMMER.contains(&zone);
        let by_s = match (*self.is_summer.get_or_insert(is_summer), is_summer) {
            (true, false) => HOUR_S,
            (false, true) => -HOUR_S,
            _ => 0.0,
        };
        Stamp { seconds: told.seconds + by_s, ..told }
    }
}

/// The time that a whole text is.
pub(crate) fn line_time(text: &str) -> Option<Stamp> {
    dated(text).map(|(told, _)| told)
}

/// A word such as `23:52:13`.
fn is_clock(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    word.len() >= 5
        && word.contains(':')
        && word.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte))
}

/// A line without what stands around a time.
fn bare(line: &str) -> &str {
    let marks = |c: char| c.is_whitespace() || "=-#*[]<>|:()\"'~".contains(c);
    let line = line.trim_start_matches(marks).trim_end_matches(marks);
    // `Every 2.0s: nvme smart-log /dev/nvme0    host: Thu Nov  5 23:52:13 2026`; older ones do not name the host.
    if let Some((_, rest)) =
        line.split_once("s: ").filter(|(every, _)| every.ends_with(|c: char| c.is_ascii_digit()))
    {
        let last =
            rest.rsplit_once(": ").or_else(|| rest.rsplit_once("  ").map(|_| split_before_last_words(rest)));
        return last.map_or(line, |(_, time)| time.trim());
    }
    match line.split_once([':', '=']) {
        Some((name, rest)) if NAMES.contains(&name.trim().trim_matches('"').to_lowercase().as_str()) => {
            rest.trim().trim_matches('"')
        }
        _ => line,
    }
}

/// A text before and from its last five words on.
fn split_before_last_words(text: &str) -> (&str, &str) {
    let at = text
        .split_whitespace()
        .rev()
        .nth(4)
        .map_or(0, |word| word.as_ptr() as usize - text.as_ptr() as usize);
    text.split_at(at)
}

/// The time that a text is, with the name of its zone.
fn dated(text: &str) -> Option<(Stamp, String)> {
    if let Some(told) = stamp(text) {
        return Some((told, String::new()));
    }
    // No time has more words than these: weekday, day, month, year, time, half, zone, and some between.
    if text.len() > 120 || text.split_whitespace().count() > MOST_WORDS {
        return None;
    }
    let text = plain(text);
    if text.contains('年') {
        return east_asian(&text);
    }
    if let Some((time, zone)) = text.rsplit_once(' ').filter(|(_, zone)| is_zone(zone))
        && let Some(told) = stamp(time)
    {
        return zoned(told, zone);
    }
    let words = Words::read(&text)?;
    let of_day = time_of_day_s(&format!("{} {}", words.time?, words.half))?;
    zoned(Stamp { seconds: words.midnight_s()? + of_day, is_utc: false }, words.zone)
}

/// The beginning of the day that a text is, in seconds since 1970: `14. mars 2026`.
pub(crate) fn day_s(text: &str) -> Option<f64> {
    let text = plain(text);
    midnight_s(&text).or_else(|| Words::read(&text).filter(|words| words.time.is_none())?.midnight_s())
}

/// What the words of a date are.
#[derive(Default)]
struct Words<'a> {
    /// Numbers of one or two digits, and the year, which has four.
    numbers: Vec<u32>,
    year: Option<u32>,
    /// A date in numbers, `14.03.2026`.
    date: Option<f64>,
    /// Names of months and of days of the week; `mar` is both.
    names: Vec<&'static Meaning>,
    time: Option<&'a str>,
    half: &'a str,
    zone: &'a str,
}

impl<'a> Words<'a> {
    /// What the words of a text are; `None` where one is none of a date, or is there already.
    fn read(text: &'a str) -> Option<Self> {
        let mut words = Self::default();
        let mut rest: Vec<&str> = text.split_whitespace().rev().collect();
        while let Some(word) = rest.pop() {
            // Names may have two words.
            if let Some(next) = rest.last()
                && let Some(name) = meaning(&format!("{word} {next}"))
            {
                words.names.push(name);
                rest.pop();
            } else {
                words.take(word)?;
            }
        }
        Some(words)
    }

    /// Takes the next word.
    fn take(&mut self, word: &'a str) -> Option<()> {
        let word = word.trim_matches(['.', ',', '،', '(', ')']);
        let is_digits = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_zone = is_zone(word);
        if word.is_empty() {
            Some(())
        } else if word.contains(':') && !is_zone {
            self.time.replace(word).is_none().then_some(())
        } else if is_digits && word.len() == 4 {
            self.year.replace(word.parse().ok()?).is_none().then_some(())
        } else if is_digits && word.len() <= 2 {
            self.numbers.push(word.parse().ok()?);
            (self.numbers.len() <= 2).then_some(())
        } else if is_zone && (self.time.is_some() || meaning(word).is_none()) {
            mem::replace(&mut self.zone, word).is_empty().then_some(())
        } else if is_afternoon(word).is_some() {
            mem::replace(&mut self.half, word).is_empty().then_some(())
        } else if let Some(name) = meaning(word) {
            self.names.push(name);
            Some(())
        } else if let Some(date) = midnight_s(word).filter(|_| self.has_no_day()) {
            self.date = Some(date);
            Some(())
        } else if word.split('.').count() == 3 && time_of_day_s(word).is_some() {
            self.time.replace(word).is_none().then_some(())
        } else {
            // `14-Mar-2026`.
            let parts: Vec<&str> = word.split(['-', '/']).collect();
            let is_date = parts.len() == 3 && parts.iter().all(|part| !part.is_empty());
            parts.into_iter().filter(|_| is_date).try_for_each(|part| self.take(part)).filter(|()| is_date)
        }
    }

    fn has_no_day(&self) -> bool {
        self.date.is_none() && self.numbers.is_empty() && self.year.is_none()
    }

    /// The beginning of the day in seconds since 1970.
    fn midnight_s(&self) -> Option<f64> {
        if self.date.is_some() {
            return self.date;
        }
        let (day, year) = match (&self.numbers[..], self.year) {
            ([day], Some(year)) => (*day, year),
            ([day, year], None) => (*day, 2000 + *year),
            _ => return None,
        };
        let mut dates = self.month()?.iter().filter_map(|month| ymd(i32::try_from(year).ok()?, *month, day));
        let first = dates.clone().next()?;
        let is_told = |date: &NaiveDate| {
            let weekday = date.weekday().num_days_from_sunday();
            self.names.iter().any(|name| name.weekdays.contains(&weekday))
        };
        Some(dates.find(is_told).unwrap_or(first).and_time(NaiveTime::MIN).and_utc().timestamp() as f64)
    }

    /// The months that the one name of a month may be. Of two names the one that can be nothing else is that, or the last:
    /// the day of the week is before it.
    fn month(&self) -> Option<&'static [u32]> {
        let is_month = |name: &&&Meaning| !name.months.is_empty();
        let sure = |name: &&&Meaning| is_month(name) && name.weekdays.is_empty();
        let mut all_sure = self.names.iter().filter(sure);
        let name = all_sure.next().or_else(|| self.names.iter().rfind(is_month))?;
        all_sure.next().is_none().then_some(&name.months)
    }
}

/// `CET`, `UTC`, `+0100`, `-03`.
fn is_zone(word: &str) -> bool {
    is_zone_name(word) || offset_s(word).is_some()
}

/// Seconds from UTC to a zone that is told by its offset.
fn offset_s(zone: &str) -> Option<f64> {
    let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
    let digits = zone.strip_prefix(['+', '-'])?.replace(':', "");
    let is_offset = [2, 4].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: f64 = digits.parse().ok().filter(|_| is_offset)?;
    let (hours, minutes) =
        if digits.len() == 2 { (number, 0.0) } else { ((number / 100.0).floor(), number % 100.0) };
    Some(sign * (hours * HOUR_S + minutes * 60.0))
}

/// A local time with what its zone says.
fn zoned(told: Stamp, zone: &str) -> Option<(Stamp, String)> {
    Some(match offset_s(zone) {
        Some(offset_s) => (Stamp { seconds: told.seconds - offset_s, is_utc: true }, String::new()),
        None => (Stamp { is_utc: ["UTC", "GMT"].contains(&zone), ..told }, zone.to_owned()),
    })
}

/// `2026年 11月  5日 木曜日 23:52:13 JST`.
fn east_asian(text: &str) -> Option<(Stamp, String)> {
    let (date, rest) = text.split_once('日')?;
    let date: String =
        date.chars().skip_while(|c| !c.is_ascii_digit()).filter(|c| !c.is_whitespace()).collect();
    let mut words = rest.split_whitespace().skip_while(|word| !word.contains(BEHIND_HOURS));
    let time = words.next()?;
    let zone = words.next().filter(|word| is_zone(word)).unwrap_or("");
    zoned(date_and_time(&format!("{date}日"), time)?, zone)
}

#[cfg(test)]
mod test {
    use super::*;

    /// 2026-11-05 23:52:13 UTC.
    const MOMENT: f64 = 1_793_922_733.0;

    #[test]
    fn a_date_is_read_in_the_language_of_the_system() {
        for (text, is_utc) in [
            ("Thu Nov  5 23:52:13 CET 2026", false),
            ("Thu Nov  5 11:52:13 PM UTC 2026", true),
            ("Thu Nov 5 23:52:13 2026", false),
            ("Thu  5 Nov 23:52:13 GMT 2026", true),
            ("Do  5. Nov 23:52:13 CET 2026", false),
            ("jeu. 05 nov. 2026 23:52:13 CET", false),
            ("jue 05 nov 2026 23:52:13 CET", false),
            ("gio 5 nov 2026, 23:52:13, CET", false),
            ("do  5 nov 2026 23:52:13 CET", false),
            ("qui 05 nov 2026 20:52:13 -03", true),
            ("czw, 5 lis 2026, 23:52:13 CET", false),
            ("tor  5 nov 2026 23:52:13 CET", false),
            ("Чт 05 ноя 2026 23:52:13 MSK", false),
            ("2026年 11月  5日 木曜日 23:52:13 JST", false),
            ("2026年 11月 05日 星期四 23:52:13 CST", false),
            ("Fri, 06 Nov 2026 00:52:13 +0100", true),
            ("Thursday, November 5, 2026 11:52:13 PM", false),
            ("Nov 5, 2026, 11:52:13 PM", false),
            ("Donnerstag, 5. November 2026 23:52:13", false),
            ("jeudi 5 novembre 2026 23:52:13", false),
            ("2026-11-06T00:52:13+01:00", true),
            ("2026-11-05T23:52:13 CET", false),
            ("2026-11-06 00:52:13 +0100", true),
            ("11/5/26 11:52:13 PM IST", false),
            ("Thursday, November 5, 2026 PM11:52:13 CET", false),
            ("西元2026年11月05日 (週四) 23時52分13秒 CST", false),
            ("2026년 11월 05일 (목) 23시 52분 13초 KST", false),
            ("1793922733", true),
            ("Čt 5.\u{a0}listopadu\u{a0}2026,\u{a0}23:52:13\u{a0}CET", false),
            ("čet, 5. lis 2026. 23:52:13 CET", false),
            ("tor  5 nov 23:52:13 CET 2026", false),
            ("Πεμ 05 Νοε 2026 11:52:13 μμ CET", false),
            ("N  5 nov   2026 23:52:13 EET", false),
            ("to 5.11.2026 23.52.13 +0000", true),
            ("CET 23:52:13 2026 נוב 05 ה'", false),
            ("2026. nov. 5., csütörtök, 23:52:13 CET", false),
            ("2026 m. lapkričio  5 d. 23:52:13 EET", false),
            ("ceturtdiena, 2026. gada  5. novembris, 23:52:13 EET", false),
            ("joi  5 noiembrie 2026, 23:52:13 +0000", true),
            ("чет,  5. нов 2026.  23:52:13 CET", false),
            ("พฤ.  6 พ.ย. 2569 06:52:13 +07", true),
            ("Cum 06 Kas 2026 02:52:13 +03", true),
            ("четвер, 5 листопада 2026 23:52:13 +0000", true),
            ("Thứ năm, 05 Tháng 11 năm 2026 23:52:13 CET", false),
            ("jueves, 5 de noviembre de 2026 23:52:13", false),
            ("den 5 november 2026 23:52:13", false),
            ("5-Nov-2026 23:52:13", false),
            ("Thu 05-Nov-26 11:52:13 PM", false),
            ("\u{202b}پنجشنبه ۵ نوامبر ۲۶، ساعت ۲۳:۵۲:۱۳ (CET)\u{202c}", false),
        ] {
            assert_eq!(line_time(text), Some(Stamp { seconds: MOMENT, is_utc }), "{text}");
        }
        for text in ["mar. 03 mars 2026 00:00:00 CET", "Mar 3, 2026, 12:00:00 AM"] {
            assert_eq!(line_time(text).map(|told| told.seconds), Some(1_772_496_000.0), "{text}");
        }
        for text in [
            "the nov 5 23:52:13 2026",
            "Thu Nov 5 23:52:13 CET CET 2026",
            "Nov 5 23:52:13",
            "temperature : 40",
            "Thu Nov 31 23:52:13 2026",
            "5 5 Nov 2026 23:52:13",
        ] {
            assert_eq!(line_time(text), None, "{text}");
        }
    }

    #[test]
    fn names_and_marks_around_a_time_are_no_part_of_it() {
        for line in [
            "timestamp: 2026-11-05 23:52:13",
            "Date: Thu Nov  5 23:52:13 CET 2026",
            "time=2026-11-05T23:52:13",
            "=== 2026-11-05 23:52:13 ===",
            "--- Thu  5 Nov 23:52:13 CET 2026 ---",
            "[2026-11-05 23:52:13]",
            "# 2026-11-05 23:52:13",
            "Every 5.0s: nvme smart-log /dev/nvme0      srv01: Thu Nov  5 23:52:13 2026",
            "Every 2.0s: nvme smart-log /dev/nvme0      Thu Nov  5 23:52:13 2026",
            "Alle 5,0s: nvme smart-log /dev/nvme0       srv01: Do  5. Nov 23:52:13 2026",
        ] {
            let mut times = LineTimes::default();
            times.line(1, line);
            assert_eq!(times.take().0, Some(Stamp { seconds: MOMENT, is_utc: false }), "{line}");
        }
    }

    #[test]
    fn times_of_day_go_over_midnight_and_named_zones_over_the_end_of_summer() {
        let mut times = LineTimes::default();
        let mut read = |line: &str| {
            times.line(1, line);
            times.take().0.expect(line).seconds
        };
        let first = read("23:59:58");
        assert_eq!([read("23:59:59"), read("0:00:01")].map(|t| t - first), [1.0, 3.0]);
        let first = read("Sun Oct 25 02:59:59 CEST 2026");
        assert_eq!(read("Sun Oct 25 02:10:00 CET 2026") - first, 601.0);
        assert_eq!(read("Sun Mar 28 03:00:00 CEST 2027") - read("Sun Mar 28 01:59:59 CET 2027"), 1.0);
    }

    #[test]
    fn a_line_that_looks_like_a_time_is_shown() {
        for line in
            ["heure 23:52:13 (5 novembre)", "t0 +12 23:52", "uptime 23:52:13.5 up 3 days", "a 1:02:03 b"]
        {
            let mut times = LineTimes::default();
            times.line(7, line);
            let (told, unread) = times.take();
            assert!(told.is_none() && unread.is_some_and(|text| text.contains("line 7")), "{line}");
        }
        let mut times = LineTimes::default();
        times.line(7, "NVME device:nvme0 namespace-id:ffffffff");
        assert_eq!(times.take(), (None, None));
    }
}
