//! Speeds that a logger wrote more often than they were measured.
//!
//! A monitor that polls once a second what its source counts every four writes each speed four times. These are no four slices of one
//! speed: a slice is as long as what was measured, or speed looks steadier, and the rows more, than they are.

use crate::{Interval, Trace};

/// Speeds are repeated up to so often.
const MOST: usize = 12;
/// With fewer changes nothing is told of what goes on between them, ...
const LEAST_CHANGES: usize = 20;
/// ... nor where fewer slices of this share begin with one: a speed that a host keeps changes seldom.
const CHANGING: f64 = 0.3;
/// So many of the changes are where a slice begins; a row may be lost.
const IN_STEP: f64 = 0.95;
/// Two speeds that are measured differ by more than this share.
const EQUAL: f64 = 1e-6;
/// What lies apart by more than this share of a row is not one slice.
const APART: f64 = 0.5;

impl Trace {
    /// Joins rows that repeat a measured speed into the slice that it was measured over. All columns are joined alike.
    pub fn join_repeats(&mut self) {
        let found = self.speeds.iter().filter_map(|series| repeats(&series.intervals));
        let Some((times, from)) = found.min() else { return };
        for series in &mut self.speeds {
            let mut joined: Vec<Interval> = Vec::with_capacity(series.intervals.len() / times + 2);
            for (index, row) in series.intervals.iter().enumerate() {
                let begins = (index + times - from).is_multiple_of(times);
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
    }
}

fn goes_on(last: &Interval, row: &Interval) -> bool {
    last.phase == row.phase && (row.start_s - last.end_s()).abs() <= APART * row.span_s
}

/// How many rows repeat each measured speed, and how many come before the first whole slice; `None` where rows are measured.
fn repeats(rows: &[Interval]) -> Option<(usize, usize)> {
    let speed = |row: &Interval| row.bytes_per_s();
    let differs = |pair: &[Interval]| {
        let (before, now) = (speed(&pair[0]), speed(&pair[1]));
        (now - before).abs() > EQUAL * before.max(now)
    };
    let changes = || (1..rows.len()).filter(|at| differs(&rows[at - 1..=*at]));
    let changed = changes().count();
    let loaded = rows.iter().filter(|row| row.bytes > 0.0).count();
    // Most rows of a log that measures each differ from the one before.
    if changed < LEAST_CHANGES || 2 * changed > loaded + loaded / 4 {
        return None;
    }
    (2..=MOST).rev().find_map(|times| {
        let mut at = vec![0; times];
        changes().for_each(|change| at[change % times] += 1);
        let (from, in_step) = at.iter().enumerate().max_by_key(|(_, count)| **count)?;
        let is_it = *in_step as f64 >= IN_STEP * changed as f64
            && *in_step as f64 >= CHANGING * loaded as f64 / times as f64;
        is_it.then_some((times, from))
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::{SegmentOp, SpeedSeries};

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

    #[test]
    fn a_speed_that_a_host_keeps_is_measured_in_every_row() {
        let rows: Vec<f64> = (0..600).map(|row| [500.0, 200.0, 800.0][row / 40 % 3]).collect();
        assert_eq!(joined(&rows).len(), 600);
        let measured: Vec<f64> = (0..600).map(|row| 1000.0 + (row * row % 17) as f64).collect();
        assert_eq!(joined(&measured).len(), 600);
    }
}
