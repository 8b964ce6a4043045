//! Everything that one drop is judged by.

use super::amounts::{AmountBefore, WrittenBefore};
use super::drops::SpeedDrop;
use super::governed::Approach;
use super::heat::Heat;
use super::history::History;
use super::likelihood::normal;
use super::shape::DropShape;
use super::written::WrittenAtOnce;
use crate::findings::SegmentOp;
use crate::others::Others;
use crate::segment::Piece;
use trace::{Phase, Trace};

/// Temperatures this far apart are not one threshold: rounding at both ends.
pub(super) const OTHER_THRESHOLD_K: f64 = 1.4;
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

/// Drives empty a part of their fast cache in a rest of some seconds.
const RESTED_S: f64 = 5.0;

/// So many drops within another one are a cycle of their own.
const CYCLES: usize = 2;

/// Everything that one drop is judged by.
pub(crate) struct Case<'a> {
    pub trace: &'a Trace,
    pub heat: &'a Heat<'a>,
    pub history: &'a History,
    pub others: &'a Others,
    pub pieces: &'a [Piece],
    pub drop: &'a SpeedDrop,
    pub op: SegmentOp,
    pub phase: &'a Phase,
    /// What was written before it.
    pub written: WrittenBefore,
    /// What was written in one go at full speed: the most that was as fast, or faster, by speed.
    pub at_once: &'a [WrittenAtOnce],
    /// Whether the load before had left this speed, as of a full cache, until it ended: a rest may have emptied a part of it.
    pub refilled: bool,
    /// The time at full speed before it, from where its load began or a rest ended.
    pub approach: Option<Approach>,
    /// The temperature at which the drop that it lies in began, in kelvins.
    pub outer_k: Option<f64>,
    /// When the last drop before it had ended and when the next one after it begins, in seconds.
    pub beside_s: [f64; 2],
    /// How it looks.
    pub shape: DropShape,
    /// How many drops look like this one, itself counted.
    pub alike: usize,
    /// How long it lasted with what only went on with it after a pause, in seconds.
    pub lasted_s: f64,
    /// How the data written before it goes with that before others.
    pub amount_before: Option<AmountBefore>,
    /// Whether temperatures are read more rarely than speed falls: the nearest one belongs to another cycle.
    pub unread: bool,
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

    /// Whether it is only slow against what another run of the drive shows.
    pub(crate) fn is_known_from_others(&self) -> bool {
        let before = self.drop.before.filter(|_| self.drop.at_start);
        before.is_some() && before == self.others.full_bytes_per_s(self.phase)
    }

    /// The temperature at which it began, in kelvins; `None` where none was read near it.
    pub(crate) fn onset_k(&self) -> Option<f64> {
        self.heat.peak_k(self.start_s()).filter(|_| !self.unread)
    }

    /// Whether a temperature is no cooler than TMT1, as that was set when it began.
    pub(crate) fn is_above_tmt1(&self, kelvin: f64) -> bool {
        let (tmt1_k, _) = self.trace.tmt_at(self.start_s());
        tmt1_k.is_some_and(|tmt1_k| tmt1_k <= kelvin)
    }

    /// How much a reading may lag behind the temperature when it began.
    pub(crate) fn climb_k(&self) -> f64 {
        self.heat.climb_k(self.start_s())
    }

    /// Standard deviation of the temperature at which it began, in kelvins: rounding, the sensor's resolution, and what it
    /// climbed since it was read.
    pub(crate) fn spread_k(&self) -> f64 {
        (ROUNDING_K.powi(2) + (0.7 * self.climb_k()).powi(2) + (self.heat.step_k / 3.0).powi(2)).sqrt()
    }

    /// From which speed on a time counts as one at full speed, in bytes per second. Another load that begins on a hot drive may be slowed
    /// down from its first second on: what is nearer to the speed that was left than to the one before shows no threshold to be none.
    pub(super) fn shows_from(&self) -> f64 {
        self.drop.before.map_or(self.drop.level, |before| (self.drop.level * before).sqrt())
    }

    /// How likely it began at `kelvin`, in a kelvin, where `onset_k` was read: a reading stands for what is up to a step hotter (cut
    /// off) or half a step cooler or hotter (rounded).
    pub(crate) fn onset_per_k(&self, kelvin: f64, onset_k: f64) -> f64 {
        const PARTS: usize = 6;
        let step_k = self.heat.step_k;
        let spread_k = ROUNDING_K.hypot(0.7 * self.climb_k());
        let part = |at: usize| onset_k + (at as f64 / PARTS as f64 * 1.5 - 0.5) * step_k;
        (0..=PARTS).map(|at| normal(part(at) - kelvin, spread_k)).sum::<f64>() / (PARTS + 1) as f64
    }

    /// The temperature at which it ended, in kelvins; `None` where it did not.
    pub(crate) fn release_k(&self) -> Option<f64> {
        if self.drop.recovered { self.heat.low_k(self.end_s()) } else { None }
    }

    /// Speed during over speed before.
    pub(crate) fn strength(&self) -> Option<f64> {
        super::strength(self.drop)
    }

    /// Mean speed from one moment of the drop to another, in bytes per second, without further drops that came and went within it.
    pub(crate) fn mean_speed(&self, (from_s, to_s): (f64, f64)) -> Option<f64> {
        let pieces = self.lasting_pieces();
        let overlap = |piece: &Piece| (piece.end_s.min(to_s) - piece.start_s.max(from_s)).max(0.0);
        let (moved, seconds) = pieces
            .fold((0.0, 0.0), |(moved, s), piece| (moved + piece.level * overlap(piece), s + overlap(piece)));
        (seconds > 0.0).then(|| moved / seconds)
    }

    /// Its pieces without those of further drops that came and went within it.
    fn lasting_pieces(&self) -> impl Iterator<Item = &Piece> {
        let own = &self.drop.own;
        let counts = |at: &usize| own.last().is_none_or(|last| at > last) || own.binary_search(at).is_ok();
        (self.drop.first..=self.drop.last).filter(counts).map(|at| &self.pieces[at])
    }

    /// Whether speed was lost by no more than this share at once from one moment of the drop to another.
    pub(super) fn sinks_by_no_more_than(&self, share: f64, from_s: f64, to_s: f64) -> bool {
        let within = self.lasting_pieces().filter(|piece| piece.end_s > from_s && piece.start_s < to_s);
        let levels: Vec<f64> = within.map(|piece| piece.level).collect();
        levels.windows(2).all(|pair| pair[1] >= (1.0 - share) * pair[0])
    }

    /// Whether further drops came and went within it: then its temperature is what they keep it at.
    pub(super) fn has_cycles(&self) -> bool {
        let returns = self.drop.own.windows(2).filter(|pair| pair[1] > pair[0] + 1);
        returns.count() >= CYCLES
    }

    pub(crate) fn span_s(&self) -> f64 {
        self.end_s() - self.start_s()
    }

    /// When it was last at its own speed, in seconds: what falls further and stays there hides whether heat lets go of the rest.
    pub(super) fn own_end_s(&self) -> f64 {
        self.pieces[self.drop.last_own()].end_s
    }

    /// A part of it, from one share of its length to another, in seconds.
    pub(super) fn part(&self, from: f64, to: f64) -> (f64, f64) {
        let at_s = |share: f64| self.start_s() + share * self.span_s();
        (at_s(from), at_s(to))
    }

    /// The median temperature from one moment to another, in kelvins; `None` where none was read.
    pub(super) fn median_k(&self, (from_s, to_s): (f64, f64)) -> Option<f64> {
        let kelvin: Vec<f64> = self.heat.within(from_s, to_s).iter().map(|p| p.value).collect();
        (!kelvin.is_empty()).then(|| crate::segment::median(&kelvin))
    }

    /// Whether a cache that was full then had been empty before all that was written, as far as the run shows.
    pub(super) fn filled_from_empty(&self) -> bool {
        !self.drop.at_start && !self.refilled
    }

    /// Whether nothing was written for so long during it that a cache may have emptied.
    pub(crate) fn rested(&self) -> bool {
        let within = &self.pieces[self.drop.first..=self.drop.last];
        within.iter().any(|piece| piece.stopped && piece.span_s() >= RESTED_S)
    }

    /// Whether the speed fell in one step.
    pub(crate) fn fell_at_once(&self) -> bool {
        self.drop.sharp && !self.pieces[self.drop.first].gradual && !self.shape.sank()
    }
}
