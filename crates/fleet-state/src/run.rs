//! Rows of one drive in one place that came one after the other, as columns: how engines hand them over.
//!
//! Mostly nothing happens in them: times rise, counters rise or stand, no throttle counter moves. The sums of such rows
//! follow from their first and last one, column by column, at a fraction of what row by row takes. Everything else goes
//! row by row, so that both ways give the same sums.

use crate::row::{ABSENT, COUNTERS, HealthCounter, HealthRow};
use crate::state::{RowStretch, ThermalState};
use crate::sums::{HealthSums, IntervalRules};

/// Columns of some rows of one drive in one place, in the order in which they came. All have one length.
#[derive(Clone, Copy, Debug)]
pub struct HealthRun<'a> {
    /// As in [`HealthRow`].
    pub time_ms: &'a [i64],
    /// A reading in each row, or none in any.
    pub temp_mc: Option<&'a [i64]>,
    /// In the order of [`HealthCounter::ALL`]; a reading in each row, or none in any.
    pub counters: [Option<&'a [i64]>; COUNTERS],
}

/// Longest run that is worth handing over at once: what happens in one row makes all of its run go row by row.
pub const RUN_ROWS: usize = 128;

impl HealthRun<'_> {
    /// A row of them.
    #[must_use]
    pub fn row(&self, at: usize) -> HealthRow {
        let value = |values: Option<&[i64]>| values.map_or(ABSENT, |values| values[at]);
        HealthRow::new(self.time_ms[at])
            .with_temp_mc(value(self.temp_mc))
            .with_counters(self.counters.map(value))
    }

    /// Whether each row follows the one before without a gap, and no counter falls, and none of throttling moves.
    fn is_quiet(&self, rules: &IntervalRules) -> bool {
        let gap_ms = rules.gap_ms().unsigned_abs();
        let follows = |two: &[i64]| two[1] > two[0] && two[1].abs_diff(two[0]) <= gap_ms;
        if !self.time_ms.windows(2).all(follows) {
            return false;
        }
        let ends = |values: &[i64]| (values[0], values[values.len() - 1]);
        let throttle = HealthCounter::THROTTLE.map(|counter| self.counters[counter as usize]);
        if throttle.into_iter().flatten().map(ends).any(|(first, last)| first != last) {
            return false;
        }
        // All windows are looked at, whatever they say: without a way out the loop runs on several at once.
        let rises = |values: &[i64]| values.windows(2).fold(true, |rises, two| rises & (two[0] <= two[1]));
        self.counters.iter().flatten().all(|values| values[0] >= 0 && rises(values))
    }
}

impl ThermalState {
    /// Takes rows as [`ThermalState::push`] takes them one by one. Returns how many stretches there are more.
    pub fn push_run(&mut self, labels: [&str; 4], run: &HealthRun, rules: &IntervalRules) -> usize {
        let Some(last) = run.time_ms.len().checked_sub(1) else { return 0 };
        let before = self.stretches.len();
        let first = run.row(0);
        self.push(labels, &first, rules);
        let open = self.stretches.last_mut().filter(|open| open.last == first && open.labels.are(labels));
        match open {
            Some(open) if last > 0 && run.is_quiet(rules) => {
                self.rows += last as u64;
                open.quiet_run(run, last);
            }
            _ => {
                for at in 1..=last {
                    self.push(labels, &run.row(at), rules);
                }
            }
        }
        self.stretches.len().saturating_sub(before)
    }
}

impl RowStretch {
    /// Adds the rows after the first one, which is in already.
    fn quiet_run(&mut self, run: &HealthRun, last: usize) {
        let sums = &mut self.sums;
        sums.rows += last as u64;
        sums.observed_ms = sums.observed_ms.saturating_add(run.time_ms[last].abs_diff(run.time_ms[0]));
        for (at, values) in run.counters.iter().enumerate() {
            let Some(values) = values else { continue };
            // Which counters are there, and how high those of throttling are, is known from the first row.
            sums.moved[at] = sums.moved[at].saturating_add(values[last].abs_diff(values[0]));
        }
        if let Some(values) = run.temp_mc {
            sums.temperatures(&values[1..]);
        }
        sums.busy_run(run);
        self.last = run.row(last);
    }
}

impl HealthSums {
    fn temperatures(&mut self, values: &[i64]) {
        let (mut sum, mut max, mut rows) = (0i64, i64::MIN, 0u64);
        for value in values {
            let there = *value != ABSENT;
            rows += u64::from(there);
            sum = sum.wrapping_add(if there { *value } else { 0 });
            max = max.max(*value);
        }
        self.temp_rows += rows;
        self.temp_sum_mc = self.temp_sum_mc.wrapping_add(sum);
        self.temp_max_mc = self.temp_max_mc.max(max);
    }

    /// The speed of busy intervals, of which none is throttled.
    fn busy_run(&mut self, run: &HealthRun) {
        let of = |counter: HealthCounter| run.counters[counter as usize];
        let Some(busy) = of(HealthCounter::BusyMs) else { return };
        let (read, written) = (of(HealthCounter::ReadBytes), of(HealthCounter::WrittenBytes));
        let step = |values: Option<&[i64]>, at: usize| values.map_or(0, |values| values[at] - values[at - 1]);
        for at in 1..busy.len() {
            let length_ms = run.time_ms[at] - run.time_ms[at - 1];
            let busy_ms = busy[at] - busy[at - 1];
            if HealthSums::is_busy(busy_ms, length_ms) {
                self.add_busy(length_ms, 0, step(read, at).saturating_add(step(written, at)));
            }
        }
    }
}
