//! Readings over time in which what is missing is a gap with a reason.
//!
//! A gap is never a zero and never the last value again: whoever draws or averages a series
//! has to decide what to do with it.

use crate::time::Instant;

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point<T> {
    /// When the reading was taken.
    pub t: Instant,
    /// What was read.
    pub value: T,
}

/// A stretch without readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first failed reading.
    pub from: Instant,
    /// The last failed reading; equal to `from` for a single one.
    pub to: Instant,
    /// Why there was none, as the first failure said it.
    pub reason: String,
}

/// Readings in order of time, with the gaps between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Series<T> {
    points: Vec<Point<T>>,
    gaps: Vec<Gap>,
    /// Whether the latest thing that happened was a failed reading.
    in_gap: bool,
}

impl<T> Series<T> {
    /// A series without readings.
    #[expect(clippy::new_without_default, reason = "an empty series is made on purpose")]
    pub const fn new() -> Self {
        Self { points: Vec::new(), gaps: Vec::new(), in_gap: false }
    }

    /// A series without readings, and with room for so many.
    pub fn with_capacity(readings: usize) -> Self {
        Self { points: Vec::with_capacity(readings), ..Self::new() }
    }

    /// Adds a reading.
    pub fn push(&mut self, t: Instant, value: T) {
        self.points.push(Point { t, value });
        self.in_gap = false;
    }

    /// Notes that a reading was due at `t` and failed; failures in a row make one gap.
    pub fn push_gap(&mut self, t: Instant, reason: &str) {
        match self.gaps.last_mut() {
            Some(gap) if self.in_gap => gap.to = t,
            _ => self.gaps.push(Gap { from: t, to: t, reason: reason.to_owned() }),
        }
        self.in_gap = true;
    }

    /// Leaves out the readings that are not to be kept; gaps stay.
    pub fn retain(&mut self, keep: impl FnMut(&Point<T>) -> bool) {
        self.points.retain(keep);
    }

    /// The readings, in the order they came.
    pub fn points(&self) -> &[Point<T>] {
        &self.points
    }

    /// The gaps, in the order they came.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn failures_in_a_row_are_one_gap_and_a_reading_ends_it() {
        let at = |s: u64| Instant::from_ns(s * 1_000_000_000);
        let mut series = Series::new();
        series.push(at(0), 40);
        series.push_gap(at(1), "ioctl: I/O error");
        series.push_gap(at(2), "ioctl: I/O error");
        series.push(at(3), 41);
        series.push_gap(at(4), "timed out");
        assert_eq!(series.points().len(), 2);
        assert_eq!(
            series.gaps(),
            [
                Gap { from: at(1), to: at(2), reason: "ioctl: I/O error".into() },
                Gap { from: at(4), to: at(4), reason: "timed out".into() }
            ]
        );
    }
}
