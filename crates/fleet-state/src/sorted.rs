//! The sums of one drive from its rows in the order of time: what every other way must give.
//!
//! Knows nothing of pieces and merging. The second pass uses it for drives whose rows came mixed up, and tests hold
//! [`crate::ThermalState`] against it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::row::{DriveLabels, HealthRow};
use crate::state::DrivePart;
use crate::sums::{HealthSums, IntervalRules};

/// Sums of the rows of one drive of one model, which come in the order of time (and of their values, where two have
/// one time).
#[derive(Debug, Default)]
pub struct SortedDrive {
    parts: BTreeMap<Arc<DriveLabels>, HealthSums>,
    last: Option<(Arc<DriveLabels>, HealthRow)>,
    moves: u64,
}

impl SortedDrive {
    /// Takes the next row in time. A row with the time of the one before is a duplicate or a conflict and adds nothing.
    pub fn push(&mut self, labels: [&str; 4], row: &HealthRow, rules: &IntervalRules) {
        let labels = match &self.last {
            Some((last, _)) if last.are(labels) => Arc::clone(last),
            _ => Arc::new(DriveLabels::new(labels[0], labels[1], labels[2], labels[3])),
        };
        let before = self.last.as_ref().map(|(labels, row)| (Arc::clone(labels), *row));
        if let Some((place, before)) = &before
            && before.time_ms >= row.time_ms
        {
            let same = *place == labels && before == row;
            let sums = self.parts.entry(Arc::clone(place)).or_default();
            if same {
                sums.duplicates += 1;
            } else {
                sums.conflicts += 1;
            }
            return;
        }
        let sums = self.parts.entry(Arc::clone(&labels)).or_default();
        sums.row(row);
        match &before {
            Some((place, before)) if *place == labels => sums.interval(before, row, rules),
            Some(_) => self.moves += 1,
            None => {}
        }
        self.last = Some((labels, *row));
    }

    /// The sums of each place, ordered by their labels.
    #[must_use]
    pub fn finish(self) -> Vec<DrivePart> {
        let moves = self.moves;
        self.parts.into_iter().map(|(labels, sums)| DrivePart { labels, sums, moves }).collect()
    }
}
