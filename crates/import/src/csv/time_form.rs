//! How times with colons count in a plain CSV, by the title of their column: `Elapsed (mm:ss)`, `Runtime`, `Time`.
//!
//! Two numbers with a colon are minutes and seconds of a stopwatch, or hours and minutes of a clock, and the wrong one of these makes
//! a log sixty times as long: six minutes of writing are then six hours, and no SLC cache is that large. So they are read where the
//! title says which they are, and as a time of day where no stopwatch would show them; all others are refused.
//!
//! Rules
//! - A title's form (`mm:ss`, `hh:mm`, `min:sec`, `h:m`) decides. Minutes and seconds are always a duration.
//! - Without it, two numbers under a word for a duration (`elapsed`, `runtime`, `since`) are refused. Under any other title they are
//!   refused where the first one begins with 0, as a stopwatch does and a clock in one hour of the day; not so under a word for a
//!   clock (`timestamp`, `Uhrzeit`).
//! - With tenths they are minutes and seconds: under a word for a duration they are read, and where the hour was cut off (Excel) the
//!   times fall back, which is an error. Under any other title they are refused ([`crate::monitor::when::lacks_hour`]).
//! - Hours, minutes and seconds under a word for a duration may be more than a day.

use crate::words::words;

/// Words of a duration, and of a clock on a wall.
const DURATION: [&str; 3] = ["elapsed", "runtime", "since"];
const CLOCK: [&str; 11] = [
    "clock",
    "local",
    "utc",
    "timestamp",
    "stamp",
    "datetime",
    "date",
    "day",
    "uhrzeit",
    "zeitstempel",
    "iso",
];

/// What two numbers with a colon between them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pair {
    MinutesSeconds,
    HoursMinutes,
}

/// How the times of a column count.
#[derive(Clone, Debug, Default)]
pub(super) struct TimeForm {
    /// Its title, for errors.
    title: String,
    pair: Option<Pair>,
    is_duration: bool,
    is_clock: bool,
}

impl TimeForm {
    /// What the title of a column of times says.
    pub(super) fn new(title: &str) -> Self {
        let (name, pair) = match split(title) {
            Some((name, form)) => (name, pair(form)),
            None => (title, None),
        };
        let words = words(name);
        let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
        Self { title: name.trim().to_owned(), pair, is_duration: has(&DURATION), is_clock: has(&CLOCK) }
    }

    /// The seconds in a cell that is a duration; `None` for anything else, such as a time of day.
    ///
    /// # Errors
    /// Where it may be minutes and seconds or hours and minutes; the text says what to call the column.
    pub(super) fn duration_s(&self, cell: &str, is_first: bool) -> Result<Option<f64>, String> {
        let Some(parts) = parts(cell) else { return Ok(None) };
        let has_tenths = cell.contains(['.', ',']);
        Ok(match (parts.as_slice(), self.pair) {
            ([minutes, seconds], Some(Pair::MinutesSeconds)) => Some(60.0 * minutes + seconds),
            ([hours, minutes], Some(Pair::HoursMinutes)) if self.is_duration && !has_tenths => {
                Some(3600.0 * hours + 60.0 * minutes)
            }
            ([minutes, seconds], None) if self.is_duration && has_tenths => Some(60.0 * minutes + seconds),
            ([first, _], None) if !has_tenths && self.may_be_either(*first, is_first) => {
                return Err(self.either(cell));
            }
            ([hours, minutes, seconds], pair) if self.is_duration || pair == Some(Pair::MinutesSeconds) => {
                Some(3600.0 * hours + 60.0 * minutes + seconds)
            }
            _ => None,
        })
    }

    /// Whether two whole numbers may be either; a clock has no 24th hour.
    fn may_be_either(&self, first: f64, is_first: bool) -> bool {
        self.is_duration || !self.is_clock && (first >= 24.0 || is_first && first < 1.0)
    }

    fn either(&self, cell: &str) -> String {
        format!(
            "{cell:?} may be minutes and seconds or hours and minutes, which is sixty times as long: call the column \"{0} (mm:ss)\" or \"{0} (hh:mm)\"",
            self.title
        )
    }
}

/// A title without its form, and that: what stands in brackets, or behind the last blank or underline, and has a colon.
pub(super) fn split(title: &str) -> Option<(&str, &str)> {
    let inner = title.trim().trim_end_matches([')', ']']);
    let (name, form) = inner.rsplit_once(['(', '[', ' ', '_']).unwrap_or(("", inner));
    is_form(form).then_some((name, form))
}

fn is_form(form: &str) -> bool {
    form.contains(':') && form.split(':').all(|part| unit(part).is_some())
}

fn pair(form: &str) -> Option<Pair> {
    let units: Vec<char> = form.split(':').filter_map(unit).collect();
    match units[..] {
        ['m', 's'] => Some(Pair::MinutesSeconds),
        // Seconds are told by their cells.
        ['h', 'm'] | ['h', 'm', 's'] => Some(Pair::HoursMinutes),
        _ => None,
    }
}

/// The unit of a part of a form (`mm`, `min`, `ss.f`), as its letter.
fn unit(part: &str) -> Option<char> {
    let part = part.to_lowercase();
    let letters = part.split(['.', ',']).next()?;
    Some(match letters {
        "h" | "hh" | "hour" | "hours" | "hr" | "hrs" | "std" => 'h',
        "m" | "mm" | "min" | "mins" | "minutes" | "minute" => 'm',
        "s" | "ss" | "sec" | "secs" | "seconds" | "second" | "sek" => 's',
        _ => return None,
    })
}

/// The two or three numbers of a time with colons, the last perhaps with a fraction; `None` for anything else.
fn parts(cell: &str) -> Option<Vec<f64>> {
    let parts: Vec<&str> = cell.trim().split(':').collect();
    let (last, before) = parts.split_last()?;
    let is_whole =
        |part: &&str| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, tenths) = last.split_once(['.', ',']).unwrap_or((last, "0"));
    let is_time = (1..=2).contains(&before.len())
        && before.iter().all(is_whole)
        && is_whole(&whole)
        && tenths.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = |part: &&str| part.replace(',', ".").parse::<f64>().ok();
    let numbers: Vec<f64> =
        if is_time { parts.iter().map(numbers).collect::<Option<_>>()? } else { return None };
    // Below a first part that may be any number, minutes and seconds are less than 60.
    numbers[1..].iter().all(|number| *number < 60.0).then_some(numbers)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_title_says_what_two_numbers_with_a_colon_are() {
        for (title, cell, seconds) in [
            ("Elapsed (mm:ss)", "05:58", Some(358.0)),
            ("Elapsed mm:ss", "75:30", Some(4530.0)),
            ("elapsed_mm:ss", "1:02:03", Some(3723.0)),
            ("mm:ss", "00:02.5", Some(2.5)),
            ("Time [min:sec]", "00:02,5", Some(2.5)),
            ("Runtime (hh:mm)", "30:15", Some(108_900.0)),
            ("Elapsed (h:mm:ss)", "25:00:01", Some(90_001.0)),
            ("Elapsed", "25:00:01.5", Some(90_001.5)),
            ("Elapsed", "00:02.5", Some(2.5)),
            // Times of day.
            ("Time (hh:mm)", "00:15", None),
            ("Time (hh:mm:ss)", "00:00:15", None),
            ("Time", "09:40", None),
            ("Uhrzeit", "00:15", None),
            ("Elapsed", "12", None),
            ("Elapsed", "2026-11-22 00:02", None),
        ] {
            assert_eq!(TimeForm::new(title).duration_s(cell, true), Ok(seconds), "{title}: {cell}");
        }
    }

    #[test]
    fn two_numbers_that_may_be_either_are_refused_with_both_names() {
        for (title, cell) in
            [("Elapsed", "00:02"), ("Elapsed", "09:40"), ("Time", "00:00"), ("Time", "29:40")]
        {
            let why = TimeForm::new(title).duration_s(cell, true).expect_err(title);
            assert!(why.contains(&format!("\"{title} (mm:ss)\" or \"{title} (hh:mm)\"")), "{why}");
        }
        // A clock after its first row, and one that Excel cut.
        for cell in ["00:15", "40:00.3"] {
            let told = TimeForm::new("Timestamp").duration_s(cell, true);
            assert_eq!(told, Ok(None), "{cell}");
        }
        assert_eq!(TimeForm::new("Time").duration_s("00:15", false), Ok(None));
    }
}
