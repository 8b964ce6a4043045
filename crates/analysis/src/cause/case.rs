//! Everything that one drop is judged by.

use super::drops::SpeedDrop;
use super::heat::Heat;
use super::history::History;
use super::shape::DropShape;
use crate::findings::SegmentOp;
use crate::segment::Piece;
use trace::{Phase, Trace};

/// Temperatures this far apart are not one threshold: rounding at both ends and a reading period of climbing.
pub(super) const OTHER_THRESHOLD_K: f64 = 2.5;
/// How far a drive's own poll and rounding scatter a beginning.
const ROUNDING_K: f64 = 0.7;
/// How long a drop must last before its temperature says something.
pub(super) const TELLING_S: f64 = 20.0;
/// How long a drop must last for its second half to show that it came to rest: one and a half fast time constants
/// of an M.2 drive (40 s).
pub(super) const SETTLING_S: f64 = 60.0;
/// A regulator holds its temperature at most this far below TMT1 (SSD2 of the seed experiments stays "slightly
/// below" it): a kelvin and a half, and one of rounding.
pub(super) const REGULATOR_MARGIN_K: f64 = 2.6;

/// Everything that one drop is judged by.
pub(crate) struct Case<'a> {
    pub trace: &'a Trace,
    pub heat: &'a Heat<'a>,
    pub history: &'a History,
    pub pieces: &'a [Piece],
    pub drop: &'a SpeedDrop,
    pub op: SegmentOp,
    pub phase: &'a Phase,
    /// Data written since the cache was last empty, as far as the run shows.
    pub written_bytes: f64,
    /// How it looks.
    pub shape: DropShape,
    /// How many drops look like this one, itself counted.
    pub alike: usize,
}

impl Case<'_> {
    /// When the drop began, in seconds.
    pub(crate) fn start_s(&self) -> f64 {
        self.pieces[self.drop.first].start_s
    }

    /// When it ended, in seconds.
    pub(crate) fn end_s(&self) -> f64 {
        self.pieces[self.drop.last].end_s
    }

    /// The temperature at which it began, in kelvins.
    pub(crate) fn onset_k(&self) -> Option<f64> {
        self.heat.peak_k(self.start_s())
    }

    /// How much a reading may lag behind the temperature when it began: it is up to one period old when
    /// the drive acts on a newer one.
    pub(crate) fn climb_k(&self) -> f64 {
        (self.heat.slope_before(self.start_s()).abs() * self.heat.period_s).min(4.0)
    }

    /// Standard deviation of the temperature at which it began, in kelvins: rounding, the sensor's resolution, and what it
    /// climbed since it was read.
    pub(crate) fn spread_k(&self) -> f64 {
        (ROUNDING_K.powi(2) + (0.7 * self.climb_k()).powi(2) + (self.heat.step_k / 3.0).powi(2)).sqrt()
    }

    /// The temperature at which it ended, in kelvins; `None` where it did not.
    pub(crate) fn release_k(&self) -> Option<f64> {
        if self.drop.recovered { self.heat.low_k(self.end_s()) } else { None }
    }

    /// Speed during over speed before.
    pub(crate) fn strength(&self) -> Option<f64> {
        super::strength(self.drop)
    }

    pub(crate) fn span_s(&self) -> f64 {
        self.end_s() - self.start_s()
    }

    /// Whether a drop that began early came to rest just below `threshold_k`, as a regulator that acts ahead of
    /// its threshold makes it: speed gives way in steps, and for the second half the temperature stands.
    pub(super) fn settled_below(&self, threshold_k: f64) -> bool {
        let middle_s = self.start_s() + self.span_s() / 2.0;
        let mut late: Vec<f64> = self.heat.within(middle_s, self.end_s()).iter().map(|p| p.value).collect();
        if late.is_empty() || self.span_s() < SETTLING_S || self.drop.recovered {
            return false;
        }
        late.sort_by(f64::total_cmp);
        let (low_k, high_k) = (late[late.len() / 10], late[late.len() - 1 - late.len() / 10]);
        high_k - low_k <= OTHER_THRESHOLD_K
            && high_k <= threshold_k + 0.5
            && high_k >= threshold_k - REGULATOR_MARGIN_K
    }
}
