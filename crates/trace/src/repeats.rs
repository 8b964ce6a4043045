//! Speeds, temperatures and throttle counters that a logger wrote more often than they were measured.
//!
//! A monitor that polls once a second what its source counts every four writes each speed four times. These are no four slices of one
//! speed: a slice is as long as what was measured, or speed looks steadier, and the rows more, than they are.
//!
//! So it is with temperatures that change only where such a slice begins: each was read once, or what a sensor lags behind looks half as
//! long, and its readings twice as sure.
//!
//! Counters that are read once in 30 s and written into every row stand still beside a slowdown that they count. It shows where they
//! move by more seconds than have passed, or by two transitions within a few: what was written since they were read is no reading.

use measure::{Point, Series};

use crate::{Counters, Interval, SpeedSeries, Trace};

/// Speeds are repeated up to so often.
const MOST: usize = 12;
/// With fewer changes nothing is told of what goes on between them, ...
const LEAST_CHANGES: usize = 20;
/// ... nor where fewer slices of this share begin with one: a speed that a host keeps changes seldom.
const CHANGING: f64 = 0.3;
/// So many of the changes are whole slices apart; a row may be lost.
const IN_STEP: f64 = 0.95;
/// Two speeds that are measured differ by more than this share.
const EQUAL: f64 = 1e-6;
/// What lies apart by more than this share of a row is not one slice.
const APART: f64 = 0.5;

/// Times of a row as a speed has it and as a temperature has it differ by less, in seconds.
const SAME_S: f64 = 1e-3;

/// A drive does not begin to throttle twice within so many seconds, and counts whole ones.
const TWICE_S: f64 = 5.0;
const ROUNDING_S: f64 = 2.0;
/// So many changes show how often counters are read, and more than so many are not needed.
const LEAST_READ: usize = 3;
const MOST_LOOKED_AT: usize = 1000;

impl Trace {
    /// Leaves out counters that were written again before they were read again; all of them where it does not show when they were.
    pub fn drop_held_counters(&mut self) {
        let points = self.counters.points();
        let changes: Vec<usize> =
            (1..points.len()).filter(|at| points[*at].value != points[at - 1].value).collect();
        let late = changes.iter().filter(|at| is_late(&points[**at - 1], &points[**at])).count();
        if 2 * late <= changes.len() {
            return;
        }
        let mut read = Series::new();
        let note = match read_every(&changes) {
            Some((every, from)) => {
                let readings = points.iter().enumerate().filter(|(at, _)| at % every == from);
                readings.for_each(|(_, point)| read.push(point.t, point.value));
                format!("throttle counters move by more than the time between rows allows: taken as read in every {every}th row")
            }
            None => "throttle counters move by more than the time between rows allows, and too seldom to show in which rows they were read: left out".to_owned(),
        };
        self.notes.push(note);
        self.counters = read;
    }

    /// Joins rows that repeat a measured speed into the slice that it was measured over. All columns are joined alike.
    pub fn join_repeats(&mut self) {
        let Some(times) = self.speeds.iter().filter_map(|series| repeats(&series.intervals)).min() else {
            return;
        };
        let begins = begins(&self.speeds, times);
        for series in &mut self.speeds {
            let mut joined: Vec<Interval> = Vec::with_capacity(series.intervals.len() / times + 2);
            for (row, begins) in series.intervals.iter().zip(&begins) {
                match joined.last_mut() {
                    Some(last) if !begins && goes_on(last, row) => {
                        last.span_s = row.end_s() - last.start_s;
                        last.bytes += row.bytes;
                    }
                    _ => joined.push(*row),
                }
            }
            series.intervals = joined;
        }
        let Some(slices) = self.speeds.iter().map(|series| &series.intervals).max_by_key(|all| all.len())
        else {
            return;
        };
        for temperature in &mut self.temperatures {
            if let Some(mut read) = read_with(slices, temperature.kelvin.points()).map(Vec::into_iter) {
                temperature.kelvin.retain(|_| read.next().unwrap_or(true));
            }
        }
    }
}

/// Which readings are the first within a slice, where temperatures change only there; `None` where they were taken at other times.
fn read_with(slices: &[Interval], points: &[Point<f64>]) -> Option<Vec<bool>> {
    let slice = |at: usize| slices.partition_point(|one| one.start_s <= points[at].t.as_secs_f64() + SAME_S);
    let first: Vec<bool> = (0..points.len()).map(|at| at == 0 || slice(at) != slice(at - 1)).collect();
    let changes = || (1..points.len()).filter(|at| points[*at].value != points[at - 1].value);
    let in_step = changes().filter(|at| first[*at]).count();
    (in_step > 0 && in_step as f64 >= IN_STEP * changes().count() as f64).then_some(first)
}

fn goes_on(last: &Interval, row: &Interval) -> bool {
    last.phase == row.phase && (row.start_s - last.end_s()).abs() <= APART * row.span_s
}

/// In which rows a slice begins: where a speed changes, and so many rows after one began. A row that was lost shifts no others.
fn begins(speeds: &[SpeedSeries], times: usize) -> Vec<bool> {
    let rows = speeds.iter().map(|series| series.intervals.len()).max().unwrap_or(0);
    let changes =
        |at: usize| speeds.iter().filter_map(|series| series.intervals.get(at - 1..=at)).any(differs);
    let mut stood = 0;
    let begins = (0..rows).map(|at| {
        let begins = at == 0 || stood == times || changes(at);
        stood = if begins { 1 } else { stood + 1 };
        begins
    });
    begins.collect()
}

fn differs(pair: &[Interval]) -> bool {
    let (before, now) = (pair[0].bytes_per_s(), pair[1].bytes_per_s());
    (now - before).abs() > EQUAL * before.max(now)
}

/// How many rows repeat each measured speed; `None` where rows are measured.
fn repeats(rows: &[Interval]) -> Option<usize> {
    let changes: Vec<usize> = (1..rows.len()).filter(|at| differs(&rows[at - 1..=*at])).collect();
    let changed = changes.len();
    let loaded = rows.iter().filter(|row| row.bytes > 0.0).count();
    // Most rows of a log that measures each differ from the one before.
    if changed < LEAST_CHANGES || 2 * changed > loaded + loaded / 4 {
        return None;
    }
    (2..=MOST).rev().find(|times| {
        let in_step = changes.windows(2).filter(|pair| (pair[1] - pair[0]).is_multiple_of(*times)).count();
        in_step as f64 >= IN_STEP * (changed - 1) as f64
            && in_step as f64 >= CHANGING * loaded as f64 / *times as f64
    })
}

/// Whether counters moved by more than can have happened since the reading before.
fn is_late(before: &Point<Counters>, now: &Point<Counters>) -> bool {
    let passed_s = now.t.as_secs_f64() - before.t.as_secs_f64();
    let moved = |of: fn(&Counters) -> Option<u64>| {
        of(&now.value).zip(of(&before.value)).map_or(0.0, |(now, before)| now.saturating_sub(before) as f64)
    };
    let seconds = moved(|one| one.tmt1_seconds).max(moved(|one| one.tmt2_seconds));
    let transitions = moved(|one| one.tmt1_transitions).max(moved(|one| one.tmt2_transitions));
    seconds > passed_s + ROUNDING_S || transitions >= 2.0 && transitions * TWICE_S > passed_s
}

/// The most rows from one reading to the next if each change is one, and the first of these; `None` where too few tell.
fn read_every(changes: &[usize]) -> Option<(usize, usize)> {
    let changes = &changes[..changes.len().min(MOST_LOOKED_AT)];
    let least =
        changes.windows(2).map(|pair| pair[1] - pair[0]).min().filter(|_| changes.len() >= LEAST_READ)?;
    (2..=least).rev().find_map(|every| {
        let from = changes[0] % every;
        let in_step = changes.iter().filter(|change| *change % every == from).count();
        (in_step as f64 >= IN_STEP * changes.len() as f64).then_some((every, from))
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::SegmentOp;

    fn joined(speeds: &[f64]) -> Vec<(f64, f64)> {
        let row =
            |(s, bytes): (usize, &f64)| Interval { start_s: s as f64, span_s: 1.0, bytes: *bytes, phase: 0 };
        let mut trace = Trace::empty("test");
        let intervals = speeds.iter().enumerate().map(row).collect();
        trace.speeds = vec![SpeedSeries { op: SegmentOp::Read, intervals }];
        trace.join_repeats();
        trace.speeds[0].intervals.iter().map(|row| (row.span_s, row.bytes)).collect()
    }

    #[test]
    fn rows_that_repeat_a_speed_are_the_slice_that_it_was_measured_over() {
        // Two rows of what was measured before the log began, then every speed four times.
        let measured = |n: usize| 1000.0 + (n * n % 17) as f64;
        let rows: Vec<f64> = (0..162).map(|row| measured((row + 2) / 4)).collect();
        let found = joined(&rows);
        assert_eq!(found[..2], [(2.0, 2.0 * measured(0)), (4.0, 4.0 * measured(1))]);
        assert_eq!(found.len(), 41);
        assert_eq!(found.iter().map(|row| row.1).sum::<f64>(), rows.iter().sum::<f64>());
    }

    /// Goal: a reading is one where it was taken. Method: a throttle of 20 s in every 50, counted by the second, read in every 30th row and
    /// written into all, in some of them, and at the end alone.
    #[test]
    fn counters_that_were_written_again_are_no_readings() {
        let counted = |t: u64| Counters {
            tmt1_transitions: Some(4 + (t + 20) / 50),
            tmt1_seconds: Some((t + 20) / 50 * 20 + ((t + 20) % 50).min(20)),
            ..Counters::default()
        };
        let read = |at: fn(u64) -> u64| {
            let mut trace = Trace::empty("test");
            (0..600).for_each(|t| trace.counters.push(crate::instant(t as f64), counted(at(t))));
            trace.drop_held_counters();
            (trace.counters.points().len(), trace.notes.len())
        };
        assert_eq!(read(|t| t), (600, 0));
        assert_eq!(read(|t| t / 30 * 30), (20, 1));
        assert_eq!(read(|t| if t < 599 { 0 } else { t }), (0, 1));
        assert_eq!(read(|_| 0), (600, 0));
    }

    #[test]
    fn a_speed_that_a_host_keeps_is_measured_in_every_row() {
        let rows: Vec<f64> = (0..600).map(|row| [500.0, 200.0, 800.0][row / 40 % 3]).collect();
        assert_eq!(joined(&rows).len(), 600);
        let measured: Vec<f64> = (0..600).map(|row| 1000.0 + (row * row % 17) as f64).collect();
        assert_eq!(joined(&measured).len(), 600);
    }
}
