//! The mergeable state of one drive: stretches of rows that follow each other, and how they join.
//!
//! A stretch is the rows that came in order of time from one source. Stretches that do not overlap chain into the
//! same sums as sorted rows, because a stretch keeps its first and its last row. Overlapping ones do not, and are not
//! guessed at. The number of stretches is bounded; beyond it the drive is left to a second pass.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::row::{DriveLabels, HealthRow};
use crate::sums::{HealthSums, IntervalRules};

/// Stretches that one source may open for a drive. Rows in order need one; a file that comes too early or a lost hour
/// needs another.
pub(crate) const STRETCHES: usize = 8;
/// Stretches that merging may bring together: as many as sources, which are partitions of a scan.
const MERGED_STRETCHES: usize = 256;

/// Rows of one drive in one place that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowStretch {
    pub(crate) labels: Arc<DriveLabels>,
    pub(crate) first: HealthRow,
    pub(crate) last: HealthRow,
    pub(crate) sums: HealthSums,
}

/// What one more stretch takes in memory, in bytes, about, with its labels.
pub const STRETCH_BYTES: usize = size_of::<RowStretch>() + LABEL_BYTES;
/// Labels of a stretch with two counters of an `Arc`, some text, and what allocations cost beside their bytes.
const LABEL_BYTES: usize = size_of::<DriveLabels>() + 16 + 64;

/// What is kept of one drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThermalState {
    pub(crate) stretches: Vec<RowStretch>,
    /// All rows that came, for the second pass to know what it must find again.
    pub(crate) rows: u64,
    /// Rows without a time, which are none of those.
    pub(crate) untimed: u64,
    /// Rows came so mixed up that stretches were given up.
    pub(crate) mixed: bool,
}

/// The sums of one drive in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrivePart {
    /// What the drive was and where.
    pub labels: Arc<DriveLabels>,
    /// What its rows there add up to.
    pub sums: HealthSums,
    /// How often the drive changed its place or firmware, in all its places together.
    pub moves: u64,
}

/// How a state ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The sums of each place, ordered by their labels: the same as those of sorted rows.
    Parts(Vec<DrivePart>),
    /// Rows came mixed up: read this drive's rows again, sorted, through [`crate::SortedDrive`].
    NeedsSort,
}

impl ThermalState {
    /// Takes one row, with model, firmware, host and slot. Returns whether the state takes more memory now.
    #[inline]
    pub fn push(&mut self, labels: [&str; 4], row: &HealthRow, rules: &IntervalRules) -> bool {
        self.rows += 1;
        if self.mixed {
            return false;
        }
        // The stretch that took the last row is the last one: rows mostly come in order.
        if let Some(open) = self.stretches.last_mut()
            && row.time_ms > open.last.time_ms
            && row.time_ms.wrapping_sub(open.last.time_ms) <= rules.gap_ms()
            && open.labels.are(labels)
        {
            open.sums.row(row);
            open.sums.interval(&open.last, row, rules);
            open.last = *row;
            return false;
        }
        let before = self.stretches.len();
        self.push_elsewhere(labels, row, rules);
        self.stretches.len() > before
    }

    /// Counts a row without a time: it is told, and adds nothing else.
    pub const fn push_untimed(&mut self) {
        self.untimed += 1;
    }

    /// A row that does not follow the last one: of another place, after a gap, late, or a duplicate.
    #[cold]
    fn push_elsewhere(&mut self, labels: [&str; 4], row: &HealthRow, rules: &IntervalRules) {
        let full = self.stretches.len() >= STRETCHES;
        for at in (0..self.stretches.len()).rev() {
            let stretch = &mut self.stretches[at];
            if !stretch.labels.are(labels) {
                continue;
            }
            if *row == stretch.last || *row == stretch.first {
                stretch.sums.duplicates += 1;
                return;
            }
            if (stretch.first.time_ms..=stretch.last.time_ms).contains(&row.time_ms) {
                return self.give_up();
            }
            let after_ms = row.time_ms.saturating_sub(stretch.last.time_ms);
            if after_ms > 0 && (after_ms <= rules.gap_ms() || full) {
                stretch.sums.row(row);
                stretch.sums.interval(&stretch.last, row, rules);
                stretch.last = *row;
                let stretch = self.stretches.remove(at);
                self.stretches.push(stretch);
                return;
            }
        }
        if full {
            return self.give_up();
        }
        let known = self.stretches.iter().find(|stretch| stretch.labels.are(labels));
        let labels = known.map_or_else(
            || Arc::new(DriveLabels::new(labels[0], labels[1], labels[2], labels[3])),
            |stretch| Arc::clone(&stretch.labels),
        );
        let mut sums = HealthSums::default();
        sums.row(row);
        // Most drives have one: room for four, as a vector takes by itself, would be most of a fleet's memory.
        self.stretches.reserve_exact(1);
        self.stretches.push(RowStretch { labels, first: *row, last: *row, sums });
    }

    /// Takes another state of the same drive. Neither order nor grouping matters for how it finishes.
    pub fn merge(&mut self, other: Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.untimed = self.untimed.saturating_add(other.untimed);
        if self.mixed || other.mixed || self.stretches.len() + other.stretches.len() > MERGED_STRETCHES {
            return self.give_up();
        }
        if self.stretches.is_empty() {
            self.stretches = other.stretches;
            return;
        }
        self.stretches.reserve_exact(other.stretches.len());
        self.stretches.extend(other.stretches);
    }

    fn give_up(&mut self) {
        self.mixed = true;
        self.stretches = Vec::new();
    }

    /// How many rows came, duplicates and all.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// How many rows came without a time.
    #[must_use]
    pub const fn untimed(&self) -> u64 {
        self.untimed
    }

    /// What the state takes in memory beside itself, in bytes, about: stretches with their labels and onsets.
    #[must_use]
    pub fn held(&self) -> usize {
        let boxed = |sums: &HealthSums| {
            sums.onsets.as_ref().map_or(0, |bins| size_of_val(&**bins))
                + sums.moved_in_gaps.as_ref().map_or(0, |moved| size_of_val(&**moved))
        };
        self.stretches.capacity() * STRETCH_BYTES
            + self.stretches.iter().map(|stretch| boxed(&stretch.sums)).sum::<usize>()
    }

    /// The sums of each place, or that the rows must be sorted. Models are told apart first: rows of two drives that
    /// share a serial number do not follow each other.
    #[must_use]
    pub fn finish(mut self, rules: &IntervalRules) -> Finish {
        if self.mixed {
            return Finish::NeedsSort;
        }
        self.stretches.sort_by(|one, other| {
            let key = |s: &RowStretch| (s.first.time_ms, s.last.time_ms);
            one.labels.model().cmp(other.labels.model()).then_with(|| key(one).cmp(&key(other)))
        });
        let mut parts = Vec::new();
        let mut rest = self.stretches;
        while !rest.is_empty() {
            let model = rest[0].labels.model();
            let others = rest.iter().position(|s| s.labels.model() != model).unwrap_or(rest.len());
            let later = rest.split_off(others);
            match chain(rest, rules) {
                Some(chained) => parts.extend(chained),
                None => return Finish::NeedsSort,
            }
            rest = later;
        }
        Finish::Parts(parts)
    }
}

/// Joins stretches of one drive, ordered by time; none if they overlap.
fn chain(stretches: Vec<RowStretch>, rules: &IntervalRules) -> Option<Vec<DrivePart>> {
    let mut parts: BTreeMap<Arc<DriveLabels>, HealthSums> = BTreeMap::new();
    let mut moves = 0;
    let mut last: Option<(Arc<DriveLabels>, HealthRow)> = None;
    for mut stretch in stretches {
        let sums = parts.entry(Arc::clone(&stretch.labels)).or_default();
        match &last {
            Some((labels, before)) if *labels == stretch.labels => {
                if *before == stretch.first {
                    // The row at the seam is in both: sums of intervals are those of the chain as they are.
                    stretch.sums.take_back_duplicate(before);
                } else if before.time_ms < stretch.first.time_ms {
                    sums.interval(before, &stretch.first, rules);
                } else {
                    return None;
                }
            }
            Some((_, before)) if before.time_ms >= stretch.first.time_ms => return None,
            Some(_) => moves += 1,
            None => {}
        }
        sums.add(&stretch.sums);
        last = Some((stretch.labels, stretch.last));
    }
    Some(parts.into_iter().map(|(labels, sums)| DrivePart { labels, sums, moves }).collect())
}
