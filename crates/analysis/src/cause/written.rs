//! Data written over time, counted anew after what empties the fast cache.

use super::amounts::WrittenBefore;
use super::drops::SpeedDrop;
use crate::findings::SegmentOp;
use crate::segment::{Piece, Stretch};
use trace::{Interval, Phase, Trace};

/// A pause this long lets drives empty their fast cache (S3 of the seed experiments; makers state seconds to
/// minutes), so that data written before it no longer counts.
const EMPTYING_PAUSE_S: f64 = 30.0;

/// What was written in one go at full speed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenAtOnce {
    pub(super) bytes: f64,
    pub(super) bytes_per_s: f64,
}

/// Data written over time, counted anew after what empties the fast cache.
pub(super) struct Written<'a> {
    writes: &'a [Interval],
    /// Data written up to the end of each.
    sums: Vec<f64>,
    /// Ends of trims and long pauses, be they phases or stops within a load, in seconds.
    emptied_s: Vec<f64>,
}

impl<'a> Written<'a> {
    pub(super) fn new(trace: &'a Trace, pieces: &[Piece]) -> Self {
        let writes = trace.speeds.iter().find(|series| series.op == SegmentOp::Write);
        let writes = writes.map_or(&[][..], |series| &series.intervals);
        let mut sum = 0.0;
        let sums = writes.iter().map(|interval| {
            sum += interval.bytes;
            sum
        });
        let sums = sums.collect();
        let empties = |phase: &&Phase| match phase.op {
            SegmentOp::Trim => true,
            SegmentOp::Idle => phase.end_s - phase.start_s >= EMPTYING_PAUSE_S,
            _ => false,
        };
        let stops = pieces.iter().filter(|piece| piece.stopped && piece.span_s() >= EMPTYING_PAUSE_S);
        let phases = trace.phases.iter().filter(empties).map(|phase| phase.end_s);
        let mut emptied_s: Vec<f64> = phases.chain(stops.map(|piece| piece.end_s)).collect();
        emptied_s.sort_by(f64::total_cmp);
        Self { writes, sums, emptied_s }
    }

    /// How often the cache had been emptied by `t_s`.
    fn filling(&self, t_s: f64) -> usize {
        self.emptied_s.partition_point(|end_s| *end_s <= t_s)
    }

    /// What was written by `t_s`, and `since_rest`.
    pub(super) fn before(&self, t_s: f64, since_rest: Option<f64>) -> WrittenBefore {
        WrittenBefore { bytes: self.until(t_s), filling: self.filling(t_s), since_rest }
    }

    /// What was written at full speed without a rest that empties a cache, by speed: the most that was as fast, or faster.
    pub(super) fn at_once(
        &self,
        stretches: &[Stretch],
        pieces: &[Piece],
        drops: &[SpeedDrop],
    ) -> Vec<WrittenAtOnce> {
        let mut slow = vec![false; pieces.len()];
        drops.iter().for_each(|drop| slow[drop.first..=drop.last].fill(true));
        let mut all: Vec<WrittenAtOnce> = Vec::new();
        let mut open: Option<(usize, f64, WrittenAtOnce)> = None;
        for (piece, slow) in pieces.iter().zip(slow) {
            let full = stretches[piece.stretch].op == SegmentOp::Write && !slow && !piece.stopped;
            let filling = self.filling(piece.start_s);
            let goes_on = open.as_ref().is_some_and(|(of, ..)| full && *of == filling);
            if !goes_on {
                all.extend(open.take().map(|(_, _, at_once)| at_once));
            }
            if full {
                let new = (filling, 0.0, WrittenAtOnce { bytes: 0.0, bytes_per_s: 0.0 });
                let (_, span_s, at_once) = open.get_or_insert(new);
                *span_s += piece.span_s();
                at_once.bytes += piece.mean * piece.span_s();
                at_once.bytes_per_s = at_once.bytes / *span_s;
            }
        }
        all.extend(open.map(|(_, _, at_once)| at_once));
        all.sort_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s));
        let mut most = 0.0f64;
        for at_once in all.iter_mut().rev() {
            most = most.max(at_once.bytes);
            at_once.bytes = most;
        }
        all
    }

    /// Bytes written up to `t_s` since the cache was last empty.
    fn until(&self, t_s: f64) -> f64 {
        let up_to = |t_s: f64| {
            let after = self.writes.partition_point(|interval| interval.end_s() <= t_s + 1e-6);
            after.checked_sub(1).map_or(0.0, |last| self.sums[last])
        };
        up_to(t_s) - self.filling(t_s).checked_sub(1).map_or(0.0, |last| up_to(self.emptied_s[last]))
    }
}
