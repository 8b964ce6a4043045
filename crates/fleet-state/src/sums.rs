//! What rows add up to: whole numbers only, so that no order of adding gives another result.
//!
//! Everything here is of one row, or of two rows that follow each other in time. Which rows follow each other is
//! [`crate::state`]'s to know.

use crate::row::{ABSENT, COUNTERS, HealthCounter, HealthRow};

/// How rows that follow each other are read. The caller takes it from how often rows come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalRules {
    /// The usual time between two rows of a drive, in milliseconds.
    pub cadence_ms: i64,
}

impl IntervalRules {
    /// Two rows further apart than this have a gap between them: what moved in it is told apart, because nobody saw it.
    /// Two and a half intervals: one lost row with some delay is no gap.
    #[must_use]
    pub const fn gap_ms(&self) -> i64 {
        self.cadence_ms.saturating_mul(5) / 2
    }

    /// By how much a counter of seconds may outrun the clock. One interval: dates without a time of day, and scrapes
    /// that read an older value, shift a reading by as much.
    #[must_use]
    pub const fn slack_ms(&self) -> i64 {
        if self.cadence_ms > 2000 { self.cadence_ms } else { 2000 }
    }
}

/// Temperatures at which throttling began: 1 K each from 40 °C on, the ends open. Only drives that throttled have one.
pub type OnsetBins = [u32; 64];
/// The lowest bin of [`OnsetBins`], in whole degrees Celsius.
pub const ONSET_FIRST_C: i64 = 40;

/// Sums over the rows of one drive in one place. A fleet holds one for each of its drives, so each field is here for a
/// verdict, and what few drives have is boxed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthSums {
    /// Rows, duplicates and conflicting ones not counted.
    pub rows: u64,
    /// Rows that repeat another one exactly.
    pub duplicates: u64,
    /// Rows with the time of another one and other values; the first in order of values was taken.
    pub conflicts: u64,
    /// Counters that some row has: a bit each, in the order of [`HealthCounter::ALL`].
    pub present: u16,
    /// By how much each counter moved between rows, gaps left out.
    pub moved: [u64; COUNTERS],
    /// By how much each counter moved over gaps; none where there was no gap.
    pub moved_in_gaps: Option<Box<[u64; COUNTERS]>>,
    /// Time between rows, gaps left out, in milliseconds.
    pub observed_ms: u64,
    /// Gaps, and the time they took in milliseconds.
    pub gaps: u64,
    /// See `gaps`.
    pub gap_ms: u64,
    /// Intervals in which a counter fell: another drive under the same name, or its firmware began anew.
    pub resets: u64,
    /// Intervals in which a throttle counter outran the clock: more seconds or transitions than there were seconds.
    pub implausible: u64,
    /// The highest value of any throttle counter: above 0, this drive's firmware counts.
    pub throttle_counter_max: i64,
    /// Times of the first and the last row at which a throttle counter had moved, in milliseconds since 1970.
    pub throttled_first_ms: Option<i64>,
    /// See `throttled_first_ms`.
    pub throttled_last_ms: Option<i64>,
    /// Busy intervals throttled for at least half their time: their length and bytes.
    pub busy_throttled: (u64, u64),
    /// Busy intervals without throttling: their length and bytes.
    pub busy_free: (u64, u64),
    /// Temperatures: readings, their sum and their highest, in millidegrees Celsius.
    pub temp_rows: u64,
    /// See `temp_rows`.
    pub temp_sum_mc: i64,
    /// See `temp_rows`; [`i64::MIN`] where there is no reading.
    pub temp_max_mc: i64,
    /// Temperatures at which throttling began.
    pub onsets: Option<Box<OnsetBins>>,
}

impl Default for HealthSums {
    fn default() -> Self {
        Self {
            rows: 0,
            duplicates: 0,
            conflicts: 0,
            present: 0,
            moved: [0; COUNTERS],
            moved_in_gaps: None,
            observed_ms: 0,
            gaps: 0,
            gap_ms: 0,
            resets: 0,
            implausible: 0,
            throttle_counter_max: 0,
            throttled_first_ms: None,
            throttled_last_ms: None,
            busy_throttled: (0, 0),
            busy_free: (0, 0),
            temp_rows: 0,
            temp_sum_mc: 0,
            temp_max_mc: i64::MIN,
            onsets: None,
        }
    }
}

/// A drive is busy in an interval when an I/O was in flight in at least this share of it (95 %), so that its speed is
/// its own and not what was asked of it.
const BUSY: (i64, i64) = (19, 20);

impl HealthSums {
    /// Adds one row by itself.
    #[inline]
    pub fn row(&mut self, row: &HealthRow) {
        self.rows += 1;
        for (at, value) in row.counters.iter().enumerate() {
            self.present |= u16::from(*value != ABSENT) << at;
        }
        for counter in HealthCounter::THROTTLE {
            self.throttle_counter_max = self.throttle_counter_max.max(row.counters[counter as usize]);
        }
        if row.temp_mc != ABSENT {
            self.temp_rows += 1;
            self.temp_sum_mc = self.temp_sum_mc.wrapping_add(row.temp_mc);
            self.temp_max_mc = self.temp_max_mc.max(row.temp_mc);
        }
    }

    /// Takes back a row that was added by [`HealthSums::row`] and is a duplicate of another stretch's last one: the first
    /// row of these sums, whose counters and highest temperature another one has as well.
    pub(crate) fn take_back_duplicate(&mut self, row: &HealthRow) {
        self.rows = self.rows.saturating_sub(1);
        self.duplicates = self.duplicates.saturating_add(1);
        if row.temp_mc != ABSENT {
            self.temp_rows = self.temp_rows.saturating_sub(1);
            self.temp_sum_mc = self.temp_sum_mc.wrapping_sub(row.temp_mc);
        }
    }

    /// Adds what happened from one row to the next one in time.
    #[inline]
    pub fn interval(&mut self, before: &HealthRow, after: &HealthRow, rules: &IntervalRules) {
        let length_ms = after.time_ms.saturating_sub(before.time_ms).max(0);
        let gap = length_ms > rules.gap_ms();
        if gap {
            self.gaps = self.gaps.saturating_add(1);
            self.gap_ms = self.gap_ms.saturating_add(length_ms.unsigned_abs());
        } else {
            self.observed_ms = self.observed_ms.saturating_add(length_ms.unsigned_abs());
        }
        // The common row of a fleet: no throttle counter is there or moves.
        let mut steps = [0i64; COUNTERS];
        let mut fell = false;
        for ((step, old), new) in steps.iter_mut().zip(&before.counters).zip(&after.counters) {
            if *old != ABSENT && *new != ABSENT {
                fell |= new < old;
                *step = new.wrapping_sub(*old);
            }
        }
        if fell {
            self.resets = self.resets.saturating_add(1);
            return;
        }
        let step = |counter: HealthCounter| steps[counter as usize];
        let throttled_s = step(HealthCounter::Tmt1Seconds).saturating_add(step(HealthCounter::Tmt2Seconds));
        // Nor does throttling begin more than once a second.
        let began = step(HealthCounter::Tmt1Transitions).max(step(HealthCounter::Tmt2Transitions));
        if throttled_s.max(began).saturating_mul(1000) > length_ms.saturating_add(rules.slack_ms()) {
            self.implausible = self.implausible.saturating_add(1);
            return;
        }
        if !gap {
            add_steps(&mut self.moved, &steps);
        } else if steps != [0; COUNTERS] {
            add_steps(self.moved_in_gaps.get_or_insert_default(), &steps);
        }
        let throttled = HealthCounter::THROTTLE.iter().any(|counter| step(*counter) > 0);
        if throttled {
            self.throttled_first_ms =
                Some(self.throttled_first_ms.map_or(after.time_ms, |first| first.min(after.time_ms)));
            self.throttled_last_ms =
                Some(self.throttled_last_ms.map_or(after.time_ms, |last| last.max(after.time_ms)));
        }
        if gap {
            return;
        }
        if throttled {
            self.onset(before, after, &steps);
        }
        self.speed(length_ms, throttled_s.saturating_mul(1000), &steps);
    }

    /// Throttling began in this interval if a counter of transitions moved. Its temperature is the higher reading of
    /// the two: the threshold lies between them, and after the onset the drive cools.
    fn onset(&mut self, before: &HealthRow, after: &HealthRow, steps: &[i64; COUNTERS]) {
        let began = steps[HealthCounter::Tmt1Transitions as usize] > 0
            || steps[HealthCounter::Tmt2Transitions as usize] > 0;
        let temp_mc = before.temp_mc.max(after.temp_mc);
        if !began || temp_mc == ABSENT {
            return;
        }
        let bins = self.onsets.get_or_insert_with(|| Box::new([0; 64]));
        let bin = temp_mc.div_euclid(1000).saturating_sub(ONSET_FIRST_C).clamp(0, 63);
        let bin = &mut bins[usize::try_from(bin).unwrap_or(0)];
        *bin = bin.saturating_add(1);
    }

    /// Bytes of an interval in which the drive was busy.
    fn speed(&mut self, length_ms: i64, throttled_ms: i64, steps: &[i64; COUNTERS]) {
        if Self::is_busy(steps[HealthCounter::BusyMs as usize], length_ms) {
            let bytes = steps[HealthCounter::ReadBytes as usize]
                .saturating_add(steps[HealthCounter::WrittenBytes as usize]);
            self.add_busy(length_ms, throttled_ms, bytes);
        }
    }

    /// Whether the drive was busy in an interval.
    #[inline]
    pub(crate) const fn is_busy(busy_ms: i64, length_ms: i64) -> bool {
        busy_ms != 0 && busy_ms.saturating_mul(BUSY.1) >= length_ms.saturating_mul(BUSY.0)
    }

    /// Adds a busy interval, unless it is throttled for a part of its time.
    pub(crate) fn add_busy(&mut self, length_ms: i64, throttled_ms: i64, bytes: i64) {
        let sum = if throttled_ms.saturating_mul(2) >= length_ms {
            &mut self.busy_throttled
        } else if throttled_ms == 0 {
            &mut self.busy_free
        } else {
            return;
        };
        sum.0 = sum.0.saturating_add(length_ms.unsigned_abs());
        sum.1 = sum.1.saturating_add(bytes.unsigned_abs());
    }

    /// Adds other sums of rows that these have not seen.
    pub fn add(&mut self, other: &Self) {
        let more = |sum: &mut u64, other: u64| *sum = sum.saturating_add(other);
        more(&mut self.rows, other.rows);
        more(&mut self.duplicates, other.duplicates);
        more(&mut self.conflicts, other.conflicts);
        self.present |= other.present;
        self.moved.iter_mut().zip(other.moved).for_each(|(sum, other)| more(sum, other));
        if let Some(other) = &other.moved_in_gaps {
            let sums = self.moved_in_gaps.get_or_insert_default();
            sums.iter_mut().zip(other.iter()).for_each(|(sum, other)| more(sum, *other));
        }
        more(&mut self.observed_ms, other.observed_ms);
        more(&mut self.gaps, other.gaps);
        more(&mut self.gap_ms, other.gap_ms);
        more(&mut self.resets, other.resets);
        more(&mut self.implausible, other.implausible);
        self.throttle_counter_max = self.throttle_counter_max.max(other.throttle_counter_max);
        self.throttled_first_ms = earlier(self.throttled_first_ms, other.throttled_first_ms);
        self.throttled_last_ms = self.throttled_last_ms.max(other.throttled_last_ms);
        more(&mut self.busy_throttled.0, other.busy_throttled.0);
        more(&mut self.busy_throttled.1, other.busy_throttled.1);
        more(&mut self.busy_free.0, other.busy_free.0);
        more(&mut self.busy_free.1, other.busy_free.1);
        more(&mut self.temp_rows, other.temp_rows);
        self.temp_sum_mc = self.temp_sum_mc.wrapping_add(other.temp_sum_mc);
        self.temp_max_mc = self.temp_max_mc.max(other.temp_max_mc);
        if let Some(other) = &other.onsets {
            let bins = self.onsets.get_or_insert_with(|| Box::new([0; 64]));
            for (bin, other) in bins.iter_mut().zip(other.iter()) {
                *bin = bin.saturating_add(*other);
            }
        }
    }

    /// By how much a counter moved between rows, gaps left out.
    #[must_use]
    pub const fn moved(&self, counter: HealthCounter) -> u64 {
        self.moved[counter as usize]
    }

    /// By how much a counter moved over gaps.
    #[must_use]
    pub fn moved_in_gaps(&self, counter: HealthCounter) -> u64 {
        self.moved_in_gaps.as_ref().map_or(0, |moved| moved[counter as usize])
    }

    /// Whether any row had this counter.
    #[must_use]
    pub const fn has(&self, counter: HealthCounter) -> bool {
        (self.present >> (counter as usize)) & 1 == 1
    }
}

fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn add_steps(sums: &mut [u64; COUNTERS], steps: &[i64; COUNTERS]) {
    for (sum, step) in sums.iter_mut().zip(steps) {
        *sum = sum.saturating_add(step.unsigned_abs());
    }
}
