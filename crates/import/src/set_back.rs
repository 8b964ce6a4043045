//! Clocks that were set while a file was written: the end and the beginning of daylight saving time, NTP, a virtual machine
//! that goes on after a pause.
//!
//! Rules
//! - A program that watches writes one row after the other: where its times fall back now and then, its clock was set back,
//!   and the order of the file is right. Sorted by time, what came after would stand before its cause.
//! - A fall by an hour, less the step between two rows, is the end of daylight saving time: what follows is an hour later.
//! - After any other fall the file goes on by its usual step: how long it stood still is not known.
//! - A rise by an hour and a step that begins at a full hour of a Sunday night is the beginning of daylight saving time: no
//!   time passed in that hour.
//! - No clock was set, and rows go by their times, where these fall all the time (the newest first, or in no order); where one
//!   row alone is out of place; and where all that follows lies before the file's first row as a file does that was appended
//!   in the wrong place.

use chrono::{DateTime, Datelike as _, Timelike as _, Weekday};

use super::rates::{GAP_STEPS, usual_step_s};
use trace::caveat::{Caveat, ClockDoubt};

const HOUR_S: f64 = 3600.0;
/// Rows further apart than this do not show an hour: a step of theirs is as long as what it would be told by.
const LONGEST_STEP_S: f64 = 900.0;
/// No clock of a machine that runs is set back further than this; a file of another day may be appended.
const LONGEST_FALL_S: f64 = 6.0 * HOUR_S;
/// Fewer steps than these have no usual one.
const FEWEST_STEPS: usize = 4;
/// One row in so many may be out of order before all of them are.
const ROWS_A_FALL: usize = 20;

/// What happened to the clock between two rows, and by how much what follows is moved.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ClockSet {
    /// Back by an hour.
    SummerEnds,
    /// Forward by an hour.
    SummerBegins,
    /// Back by so many seconds.
    Back(f64),
}

impl ClockSet {
    fn moves_by_s(self) -> f64 {
        match self {
            Self::SummerEnds => HOUR_S,
            Self::SummerBegins => -HOUR_S,
            Self::Back(by_s) => by_s,
        }
    }
}

/// Makes times of rows, in the order of their file, those of a clock that was not set; says what was done, by the times as
/// they are, in UTC or that of a place which is not told. A caveat, as no row of the file shows what really happened.
pub(super) fn undo(file: &str, times: &mut [f64], is_utc: bool) -> Vec<Caveat> {
    let falls = times.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let rises = times.windows(2).filter(|pair| pair[1] > pair[0]).count();
    if falls > rises {
        // The newest first.
        times.reverse();
        let doubts = undo_forward(file, times, rises, is_utc);
        times.reverse();
        return doubts;
    }
    undo_forward(file, times, falls, is_utc)
}

fn undo_forward(file: &str, times: &mut [f64], falls: usize, is_utc: bool) -> Vec<Caveat> {
    let steps = times.len().saturating_sub(1);
    if steps < FEWEST_STEPS || falls > 1 + steps / ROWS_A_FALL {
        return Vec::new();
    }
    let forward = times.windows(2).filter(|pair| pair[1] > pair[0]);
    // Of steps the distances are wanted: as times that go on by them.
    let sums = forward.scan(0.0, |sum, pair| {
        *sum += pair[1] - pair[0];
        Some(*sum)
    });
    let Some(usual_s) = usual_step_s(std::iter::once(0.0).chain(sums)) else { return Vec::new() };
    let found = match clock_sets(times, usual_s) {
        Ok(found) => found,
        Err(at) => {
            return vec![Caveat::Clock(ClockDoubt::OlderRows { file: file.to_owned(), first_row: at + 1 })];
        }
    };
    let doubts = doubts(file, times, usual_s, &found, is_utc);
    let (mut moved_s, mut next) = (0.0, found.iter().peekable());
    for (index, time) in times.iter_mut().enumerate() {
        while let Some((_, set)) = next.next_if(|(at, _)| *at == index) {
            moved_s += set.moves_by_s();
        }
        *time += moved_s;
    }
    doubts
}

/// Where the clock was set, by the first row after it.
///
/// # Errors
/// The row from which on a file was appended in the wrong place.
fn clock_sets(times: &[f64], usual_s: f64) -> Result<Vec<(usize, ClockSet)>, usize> {
    let mut found = Vec::new();
    let mut oldest = times.first().copied().unwrap_or(0.0);
    for at in 1..times.len() {
        let (before, now) = (times[at - 1], times[at]);
        let step_s = now - before;
        oldest = oldest.min(before);
        // How long it took in truth, if an hour was taken back.
        let really_s = step_s + HOUR_S;
        let next = times.get(at + 1);
        if step_s >= 0.0 {
            if summer_begins(before, step_s, usual_s) {
                found.push((at, ClockSet::SummerBegins));
            }
        } else if usual_s <= LONGEST_STEP_S && really_s > 0.0 && really_s <= GAP_STEPS * usual_s {
            found.push((at, ClockSet::SummerEnds));
        } else if next.is_some_and(|next| *next > before && next - now > 1.5 * usual_s) {
            // One row out of its place.
        } else if is_appended(&times[at..], oldest, usual_s, -step_s) {
            return Err(at);
        } else {
            found.push((at, ClockSet::Back(usual_s - step_s)));
        }
    }
    Ok(found)
}

/// Whether a step is one from two to three o'clock, or the like, of a Sunday's night.
fn summer_begins(before: f64, step_s: f64, usual_s: f64) -> bool {
    if usual_s > LONGEST_STEP_S || (step_s - HOUR_S - usual_s).abs() > usual_s {
        return false;
    }
    let full_hour = (before / HOUR_S).floor() * HOUR_S + HOUR_S;
    let is_night = DateTime::from_timestamp(full_hour as i64, 0)
        .is_some_and(|time| time.weekday() == Weekday::Sun && (1..=3).contains(&time.hour()));
    is_night && full_hour - before <= 2.0 * usual_s
}

/// Whether the rows up to the next fall end where the file begins, or are of another day.
fn is_appended(rest: &[f64], oldest: f64, usual_s: f64, fall_s: f64) -> bool {
    let rising = rest.windows(2).take_while(|pair| pair[1] >= pair[0]).count();
    let last = rest[rising];
    last < oldest && (oldest - last <= GAP_STEPS * usual_s || fall_s > LONGEST_FALL_S)
}

fn doubts(file: &str, times: &[f64], usual_s: f64, found: &[(usize, ClockSet)], is_utc: bool) -> Vec<Caveat> {
    let after = |at: usize| {
        let time = DateTime::from_timestamp(times[at - 1].floor() as i64, 0);
        time.map_or_else(String::new, |time| {
            time.format(if is_utc { "%F %T UTC" } else { "%F %T" }).to_string()
        })
    };
    let mut doubts = Vec::new();
    let mut others = Vec::new();
    for (at, set) in found {
        let by_an_hour =
            |is_back| ClockDoubt::DaylightSaving { file: file.to_owned(), after: after(*at), is_back };
        match set {
            ClockSet::SummerEnds => doubts.push(by_an_hour(true)),
            ClockSet::SummerBegins => doubts.push(by_an_hour(false)),
            ClockSet::Back(by_s) => others.push((*at, *by_s)),
        }
    }
    if let Some((at, by_s)) = others.first() {
        doubts.push(ClockDoubt::SetBack {
            file: file.to_owned(),
            after: after(*at),
            by_s: *by_s,
            more: others.len() - 1,
            step_s: usual_s,
        });
    }
    doubts.into_iter().map(Caveat::Clock).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    /// Two to three o'clock of 25 October 2026, a Sunday, as seconds of a local clock.
    const TWO: f64 = 1_792_893_600.0;

    fn undone(times: &[f64]) -> (Vec<f64>, usize) {
        let mut times = times.to_vec();
        let doubts = undo("log", &mut times, false).len();
        (times, doubts)
    }

    fn rows(from_s: f64, step_s: f64, count: usize) -> Vec<f64> {
        (0..count).map(|row| from_s + row as f64 * step_s).collect()
    }

    /// Goal: the end of summer time costs nothing. Method: rows of one true clock, with an hour less from three o'clock on.
    #[test]
    fn the_end_of_summer_time_is_told_by_its_hour() {
        for (step_s, count) in [(1.0, 600), (2.0, 300), (15.0, 100), (60.0, 120), (300.0, 40), (0.25, 900)] {
            let truth = rows(TWO + 3600.0 - step_s * count as f64 / 2.0 + 0.1 * step_s, step_s, count);
            let shown: Vec<f64> =
                truth.iter().map(|t| if *t >= TWO + 3600.0 { t - 3600.0 } else { *t }).collect();
            assert_eq!(undone(&shown), (truth.clone(), 1), "{step_s}");
            // The newest first.
            let reversed = |times: &[f64]| times.iter().rev().copied().collect::<Vec<f64>>();
            assert_eq!(undone(&reversed(&shown)), (reversed(&truth), 1), "{step_s}");
        }
    }

    #[test]
    fn the_beginning_of_summer_time_is_no_gap() {
        // 29 March 2026, two o'clock.
        let two = 1_774_749_600.0;
        for step_s in [1.0, 5.0, 30.0] {
            let truth = rows(two - 50.0 * step_s, step_s, 100);
            let shown: Vec<f64> = truth.iter().map(|t| if *t >= two { t + 3600.0 } else { *t }).collect();
            assert_eq!(undone(&shown), (truth.clone(), 1), "{step_s}");
            // On a Monday, and in the afternoon, it is a pause.
            for later_s in [86_400.0, 12.0 * 3600.0] {
                let other: Vec<f64> = shown.iter().map(|t| t + later_s).collect();
                assert_eq!(undone(&other), (other.clone(), 0));
            }
        }
    }

    #[test]
    fn another_fall_loses_no_row() {
        for back_s in [2.0, 37.0, 90.0, 1200.0, 7200.0, 17_000.0] {
            let truth = rows(1e9, 1.0, 600);
            let shown: Vec<f64> =
                truth.iter().enumerate().map(|(row, t)| if row < 300 { *t } else { t - back_s }).collect();
            assert_eq!(undone(&shown), (truth, 1), "{back_s}");
        }
    }

    #[test]
    fn rows_in_no_order_go_by_their_times() {
        let shuffled: Vec<f64> = (0..100).map(|row| 1e9 + f64::from(row * 37 % 100)).collect();
        let newest_first: Vec<f64> = (0..100).map(|row| 1e9 - f64::from(row)).collect();
        let mut one_late = rows(1e9, 1.0, 100);
        one_late.swap(50, 51);
        for times in
            [shuffled, newest_first, one_late, vec![2.0, 1.0], vec![1.0, 2.0, 0.0], vec![], vec![f64::NAN; 9]]
        {
            let told = undone(&times);
            assert!(told.1 == 0 && format!("{:?}", told.0) == format!("{times:?}"), "{times:?}");
        }
        // The older of two files that belong together stands behind, or one of the day before.
        for older in [1e9 - 100.0, 1e9 - 90_000.0] {
            let both = [rows(1e9, 1.0, 100), rows(older, 1.0, 100)].concat();
            assert_eq!(undone(&both), (both.clone(), 1));
        }
    }
}
