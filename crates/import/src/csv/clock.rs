//! Times in a plain CSV: numbers, dates, and times of day that go over midnight.
//!
//! Rules
//! - Numbers in a column with a unit count in that; from 10^9 to 10^10 s since 1970, or the same in ms, µs or ns, they are a
//!   wall clock whatever the unit says. A column without a unit has nothing else but days as Excel counts them, the first one
//!   with a fraction.
//! - Texts are dates with a time of day, as monitors write them ([`crate::monitor::when`]), `date` too, or times of day, which go
//!   on into the next day where they fall back by half a day; or durations, as [`super::time_form`] says.

use crate::monitor::line_time::line_time;
use crate::monitor::when::{
    DateOrder, Stamp, date_and_time, lacks_hour, no_hour, of_excel, since_1970, stamp, time_of_day_s,
};
use crate::part::TimeBase;

use super::table::WALL_CLOCK_S;
use super::time_form::TimeForm;

const DAY_S: f64 = 86_400.0;

/// What the times of a file count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// A beginning of their own.
    Beginning,
    /// 1970.
    Unix,
    /// 1970, in the time of a place that is not told.
    Local,
}

/// The clock of a file, row by row.
#[derive(Debug, Default)]
pub(super) struct RowClock {
    /// Seconds of a number, where its title tells.
    unit: Option<f64>,
    /// How times with colons count.
    form: TimeForm,
    order: DateOrder,
    /// The last time of day without a date, and how many days have passed.
    of_day_s: Option<f64>,
    days: f64,
    pub(super) told: Option<Told>,
    /// Whether times are days as Excel counts them.
    pub(super) is_excel: bool,
    /// Whether a program wrote the times by a clock that may have been set.
    pub(super) is_wall: bool,
}

impl RowClock {
    /// The clock of a column with that title; `unit` is in seconds, where the title has one.
    pub(super) fn new(unit: Option<f64>, title: &str) -> Self {
        Self { unit, form: TimeForm::new(title), ..Self::default() }
    }

    /// The time in the cells of a row in seconds, and by how many seconds all times before have to be moved.
    ///
    /// # Errors
    /// With what would be right.
    pub(super) fn read(&mut self, day: Option<&str>, cell: &str) -> Result<(f64, f64), String> {
        if let Some(day) = day {
            if lacks_hour(cell) {
                return Err(no_hour(cell));
            }
            let told = date_and_time(day, cell).ok_or_else(|| {
                format!("{day:?} and {cell:?} are no date and time of day, such as 2026-11-22 and 09:40:00")
            })?;
            return Ok(self.stamp(told, day));
        }
        if let Some(number) = cell.parse::<f64>().ok().or_else(|| cell.replace(',', ".").parse().ok()) {
            if let Some(told) = of_excel(cell).filter(|_| self.is_excel || self.may_be_excel(number)) {
                self.is_excel = true;
                self.set(Told::Local);
                return Ok((told.seconds, 0.0));
            }
            return self.number(number).map(|seconds| (seconds, 0.0));
        }
        if let Some(seconds) = self.form.duration_s(cell, self.told.is_none())? {
            self.set(Told::Beginning);
            return Ok((seconds, 0.0));
        }
        if let Some(told) = stamp(cell).or_else(|| line_time(cell)) {
            return Ok(self.stamp(told, cell));
        }
        if lacks_hour(cell) {
            return Err(no_hour(cell));
        }
        match time_of_day_s(cell).filter(|_| cell.contains(':')) {
            Some(of_day_s) => Ok((self.of_day(of_day_s), 0.0)),
            None => Err(format!(
                "{cell:?} is no time: write seconds from the start (t_s), or a date with a time of day such as 2026-11-22T09:40:00"
            )),
        }
    }

    /// Whether a number within the range of Excel's days may be one: seconds have a unit, and count in whole ones.
    fn may_be_excel(&self, number: f64) -> bool {
        self.unit.is_none() && self.told.is_none() && number.fract() != 0.0
    }

    fn number(&mut self, number: f64) -> Result<f64, String> {
        if !number.is_finite() || number < 0.0 {
            return Err("every row needs a time of 0 s or later".into());
        }
        if let Some(seconds) = since_1970(number).filter(|_| self.told != Some(Told::Beginning)) {
            self.set(Told::Unix);
            return Ok(seconds);
        }
        let Some(unit) = self.unit else {
            return Err(format!(
                "what {number} counts is not told: call the column t_s (seconds), time_ms, time_min or time_h"
            ));
        };
        let seconds = number * unit;
        self.set(if seconds > WALL_CLOCK_S { Told::Unix } else { Told::Beginning });
        Ok(seconds)
    }

    fn stamp(&mut self, told: Stamp, text: &str) -> (f64, f64) {
        self.set(if told.is_utc { Told::Unix } else { Told::Local });
        if !text.contains('/') {
            return (told.seconds, 0.0);
        }
        let (told, moved_s) = self.order.read(told);
        (told.seconds, moved_s)
    }

    fn of_day(&mut self, of_day_s: f64) -> f64 {
        self.set(Told::Local);
        self.days += f64::from(self.of_day_s.is_some_and(|before| of_day_s < before - DAY_S / 2.0));
        self.of_day_s = Some(of_day_s);
        // Any day but the first: time 0 is before it.
        (self.days + 1.0) * DAY_S + of_day_s
    }

    fn set(&mut self, told: Told) {
        self.told.get_or_insert(told);
        self.is_wall |= told != Told::Beginning;
    }

    /// What the part counts from whose first time is `zero_s`.
    pub(super) fn base(&self, zero_s: f64) -> TimeBase {
        match self.told {
            Some(Told::Unix) => TimeBase::Unix { zero_s },
            Some(Told::Local) => TimeBase::Local { zero_s },
            _ => TimeBase::Own,
        }
    }
}

/// Spreads rows of a clock that tells whole seconds over the second that they share, in their order; says how many had that of the row
/// before. Nothing where more than a few do: a faster log needs a finer clock, and two logs in one file have each second twice.
pub(super) fn spread(t_s: &mut [f64]) -> usize {
    const FEW: f64 = 0.25;
    const MOST_IN_A_SECOND: usize = 3;
    let shared = t_s.windows(2).filter(|pair| pair[0] == pair[1]).count();
    let seconds = || t_s.chunk_by(|a, b| a == b);
    let is_whole = t_s.iter().all(|t_s| t_s.fract() == 0.0);
    if !is_whole || shared as f64 > FEW * t_s.len() as f64 || seconds().any(|s| s.len() > MOST_IN_A_SECOND) {
        return 0;
    }
    for second in t_s.chunk_by_mut(|a, b| a == b) {
        let count = second.len() as f64;
        second.iter_mut().zip(0..).for_each(|(t_s, nth)| *t_s += f64::from(nth) / count);
    }
    shared
}

#[cfg(test)]
mod test {
    use super::*;

    fn all(unit: Option<f64>, cells: &[&str]) -> (Vec<f64>, Option<Told>) {
        let mut clock = RowClock::new(unit, "");
        let times: Vec<f64> = cells.iter().map(|cell| clock.read(None, cell).expect(cell).0).collect();
        (times.iter().map(|time| time - times[0]).collect(), clock.told)
    }

    #[test]
    fn rows_of_one_second_are_spread_over_it() {
        let mut jitters = vec![10.0, 11.0, 11.0, 12.0, 13.0, 14.0, 15.0, 15.0, 16.0, 17.0];
        assert_eq!(spread(&mut jitters), 2);
        assert_eq!(jitters, [10.0, 11.0, 11.5, 12.0, 13.0, 14.0, 15.0, 15.5, 16.0, 17.0]);
        // Two logs in one file, four rows a second, and a clock that tells more than seconds.
        let [twice, often, finer] = [
            vec![1.0, 1.0, 2.0, 2.0],
            vec![1.0, 2.0, 3.0, 3.0, 3.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
            vec![1.5, 2.0, 2.0, 3.0, 4.0],
        ];
        for mut t_s in [twice, often, finer] {
            assert_eq!(spread(&mut t_s), 0);
        }
    }

    #[test]
    fn times_are_told_however_they_are_written() {
        let steps = vec![0.0, 1.0, 2.0];
        for (unit, cells, told) in [
            (Some(1.0), ["0", "1", "2"], Told::Beginning),
            (Some(1.0), ["0,0", "1,0", "2,0"], Told::Beginning),
            (Some(1e-3), ["0", "1000", "2000"], Told::Beginning),
            (None, ["1795340400", "1795340401", "1795340402"], Told::Unix),
            (None, ["1795340400000", "1795340401000", "1795340402000"], Told::Unix),
            (
                Some(1.0),
                ["2026-11-22T09:40:00Z", "2026-11-22T09:40:01Z", "2026-11-22T10:40:02+01:00"],
                Told::Unix,
            ),
            (Some(1.0), ["2026-11-22 09:40:00", "2026-11-22 09:40:01", "2026-11-22 09:40:02"], Told::Local),
            (None, ["22.11.2026 9:40:00,0", "22.11.2026 9:40:01,0", "22.11.2026 9:40:02,0"], Told::Local),
            (None, ["11:59:58 PM", "11:59:59 PM", "12:00:00 AM"], Told::Local),
            (None, ["23:59:58", "23:59:59", "0:00:00"], Told::Local),
            (
                None,
                [
                    "Sun Nov 22 09:40:00 UTC 2026",
                    "Sun Nov 22 09:40:01 UTC 2026",
                    "Sun Nov 22 09:40:02 UTC 2026",
                ],
                Told::Unix,
            ),
        ] {
            assert_eq!(all(unit, &cells), (steps.clone(), Some(told)), "{cells:?}");
        }
        let (times, told) = all(None, &["46348.40278", "46348.40279", "46349"]);
        assert!(
            (times[1] - 0.864).abs() < 1e-6
                && (times[2] - 51_599.808).abs() < 1e-6
                && told == Some(Told::Local)
        );
        let mut clock = RowClock::new(None, "");
        let first = clock.read(Some("22.11.2026"), "09:40:00.5").expect("a date and a time").0;
        assert!((first - 1_795_340_400.5).abs() < 1e-6);
    }

    #[test]
    fn what_is_no_time_is_refused_with_what_to_write() {
        for (unit, cell, told) in [
            (None, "5", "call the column t_s"),
            (None, "yesterday", "is no time"),
            (None, "40:00.3", "has no hour"),
            (Some(1.0), "-1", "needs a time"),
            (Some(1.0), "nan", "needs a time"),
        ] {
            let why = RowClock::new(unit, "Timestamp").read(None, cell).expect_err(cell);
            assert!(why.contains(told), "{cell}: {why}");
        }
    }
}
