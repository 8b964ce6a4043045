//! What completed in one interval, by operation.

use measure::record::{Op, OpRow};
use measure::{Bytes, Histogram};

/// What one operation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpStats {
    /// The operation.
    pub op: Op,
    /// Data of the I/Os that completed.
    pub bytes: Bytes,
    /// I/Os that completed without error.
    pub ios: u64,
    /// I/Os that completed with an error.
    pub errors: u64,
    /// Submission latency of the I/Os without error.
    pub slat: Histogram,
    /// Completion latency of the I/Os without error.
    pub clat: Histogram,
}

impl OpStats {
    fn new(op: Op) -> Self {
        Self { op, bytes: Bytes::ZERO, ios: 0, errors: 0, slat: Histogram::new(), clat: Histogram::new() }
    }
}

/// What completed in one interval: a row an operation, and single I/Os where they are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntervalStats {
    /// In the order of the record.
    pub ops: Vec<OpStats>,
    /// Single I/Os, in order of completion.
    pub rows: Vec<OpRow>,
}

impl IntervalStats {
    /// Nothing yet, for these operations.
    pub fn new(ops: impl IntoIterator<Item = Op>) -> Self {
        Self { ops: ops.into_iter().map(OpStats::new).collect(), rows: Vec::new() }
    }

    /// Moves everything from `other` here; `other` keeps its memory and starts anew.
    ///
    /// # Panics
    /// When `other` has an operation that this one lacks: a phase knows its operations.
    pub fn take_from(&mut self, other: &mut Self) {
        for theirs in &mut other.ops {
            let mine = self
                .ops
                .iter_mut()
                .find(|mine| mine.op == theirs.op)
                .expect("an interval of a phase has all operations of its loads");
            mine.bytes += theirs.bytes;
            mine.ios += theirs.ios;
            mine.errors += theirs.errors;
            mine.slat.merge(&theirs.slat);
            mine.clat.merge(&theirs.clat);
            (theirs.bytes, theirs.ios, theirs.errors) = (Bytes::ZERO, 0, 0);
            theirs.slat.clear();
            theirs.clat.clear();
        }
        self.rows.append(&mut other.rows);
    }
}
