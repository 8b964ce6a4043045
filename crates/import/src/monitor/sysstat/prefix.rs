//! The time that `ts` puts before each line of iostat (`iostat -x 1 | ts`), in any of its formats.
//!
//! A prefix is known by what stands behind it in a line that is sure to be iostat's: the first line, the heading of processors or the
//! header of a table. sar has times of its own in these.

use super::super::when::{Stamp, stamp, time_of_day_s};
use super::{is_banner, is_header};

/// Times have up to so many words (`Nov 22 09:40:00`).
const MOST_WORDS: usize = 3;

/// How many words stand before each line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prefix {
    words: usize,
}

/// What a prefix says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    /// A date and a time.
    Stamp(Stamp),
    /// A time of day, of the day that iostat's first line names.
    OfDay(String),
}

impl Prefix {
    /// The prefix of a line, where it is sure to be one.
    pub(super) fn find(line: &str) -> Option<Self> {
        (1..=MOST_WORDS).map(|words| Self { words }).find(|prefix| {
            let (told, rest) = prefix.split(line);
            begins(rest) && time(told).is_some()
        })
    }

    /// The time before a line, and the line.
    pub(super) fn cut(self, line: &str) -> (Option<Told>, &str) {
        let (told, rest) = self.split(line);
        match time(told) {
            Some(told) => (Some(told), rest),
            None => (None, line),
        }
    }

    fn split(self, line: &str) -> (&str, &str) {
        let mut at = 0;
        for _ in 0..self.words {
            let rest = line[at..].trim_start();
            at = line.len() - rest.len() + rest.find(char::is_whitespace).unwrap_or(rest.len());
        }
        line.split_at(at)
    }
}

fn time(text: &str) -> Option<Told> {
    let text = text.trim().trim_matches(['[', ']', ',', ':']);
    if let Some(told) = stamp(text) {
        return Some(Told::Stamp(told));
    }
    // Without a year, as `ts` writes it unless it is told otherwise.
    let (month, clock) = match text.split_whitespace().collect::<Vec<_>>()[..] {
        [clock] => ("", clock),
        [month, _, clock] => (month, clock),
        _ => return None,
    };
    let is_date = month.chars().all(char::is_alphabetic);
    (is_date && clock.matches(':').count() == 2 && time_of_day_s(clock).is_some())
        .then(|| Told::OfDay(clock.to_owned()))
}

/// Whether a line is sure to be iostat's.
fn begins(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    is_banner(line) || first == "avg-cpu:" || first.trim_end_matches(':') == "Device" && is_header(line)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_time_of_any_format_is_cut_off() {
        for before in [
            "Nov 22 09:40:01",
            "09:40:01",
            "1795340401",
            "1795340401.123456",
            "2026-11-22T09:40:01+0000",
            "2026-11-22 09:40:01",
            "2026-11-22 09:40:01,",
            "[2026-11-22 09:40:01]",
        ] {
            let header = format!("{before} Device  r/s  rkB/s  wkB/s");
            let prefix = Prefix::find(&header).expect(before);
            assert_eq!(prefix.cut(&header).1.trim(), "Device  r/s  rkB/s  wkB/s");
            let row = format!("{before} nvme0n1 1 2 3");
            let (told, rest) = prefix.cut(&row);
            assert!(told.is_some() && rest.trim() == "nvme0n1 1 2 3", "{before}");
            assert!(
                Prefix::find(&format!("{before} Linux 6.12.0 (host) 11/22/26 _x86_64_ (2 CPU)")).is_some()
            );
        }
        for other in
            ["Device  r/s  rkB/s", "nvme0n1 1 2 3", "09:40:01 AM DEV tps rkB/s", "09:40:01 DEV tps rkB/s", ""]
        {
            assert_eq!(Prefix::find(other), None, "{other}");
        }
    }
}
