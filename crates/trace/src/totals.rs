//! All operations beside each other, one slice of time after the other.

use super::{Interval, SpeedSeries};
use crate::SegmentOp;

/// Intervals of one clock start at the same nanosecond; a microsecond forgives rounding to f64.
const TOGETHER_S: f64 = 1e-6;

/// What all operations moved in one slice of time.
#[derive(Clone, Copy, Debug)]
pub struct LoadTotal<'a> {
    /// The first of the intervals that start here: when, how long, in which phase.
    pub first: &'a Interval,
    /// When the last of them ends, in seconds.
    pub end_s: f64,
    /// Data of all operations.
    pub bytes: f64,
    /// The operation that moved most of it, and how much.
    pub most: (SegmentOp, f64),
    /// Series and place of the interval where only one starts here; that is then all there is.
    pub alone: Option<(usize, usize)>,
}

impl LoadTotal<'_> {
    /// All operations as one.
    pub fn interval(&self) -> Interval {
        Interval { bytes: self.bytes, ..*self.first }
    }
}

/// The slices of `speeds` in order of time, intervals that start together in one. Nothing is copied: a month has millions.
pub fn load_totals(speeds: &[SpeedSeries]) -> impl Iterator<Item = LoadTotal<'_>> {
    let mut next = vec![0; speeds.len()];
    std::iter::from_fn(move || {
        let head = |at: usize| Some((at, speeds[at].intervals.get(next[at])?));
        let heads = (0..speeds.len()).filter_map(head);
        let (lead, first) = heads.min_by(|a, b| a.1.start_s.total_cmp(&b.1.start_s))?;
        let none = (speeds[lead].op, f64::NEG_INFINITY);
        let place = Some((lead, next[lead]));
        let mut total = LoadTotal { first, end_s: first.end_s(), bytes: 0.0, most: none, alone: place };
        let mut count = 0;
        for (series, next) in speeds.iter().zip(&mut next) {
            let rest = &series.intervals[*next..];
            let here = rest.iter().take_while(|interval| interval.start_s <= first.start_s + TOGETHER_S);
            let mut bytes = 0.0;
            for interval in here {
                bytes += interval.bytes;
                total.end_s = total.end_s.max(interval.end_s());
                *next += 1;
                count += 1;
            }
            total.bytes += bytes;
            if bytes > total.most.1 {
                total.most = (series.op, bytes);
            }
        }
        total.alone = total.alone.filter(|_| count == 1);
        Some(total)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_starts_together_is_one_slice_whoever_moved_it() {
        let at = |start_s: f64, bytes: f64| Interval { start_s, span_s: 1.0, bytes, phase: 0 };
        let reads = SpeedSeries { op: SegmentOp::Read, intervals: vec![at(0.0, 1.0), at(1.0 + 1e-9, 9.0)] };
        let writes = SpeedSeries { op: SegmentOp::Write, intervals: vec![at(1.0, 2.0), at(2.5, 4.0)] };
        let speeds = [reads, writes];
        let found: Vec<_> = load_totals(&speeds)
            .map(|total| (total.interval(), total.end_s, total.most, total.alone))
            .collect();
        assert_eq!(
            found,
            [
                (at(0.0, 1.0), 1.0, (SegmentOp::Read, 1.0), Some((0, 0))),
                (at(1.0, 11.0), 2.0 + 1e-9, (SegmentOp::Read, 9.0), None),
                (at(2.5, 4.0), 3.5, (SegmentOp::Write, 4.0), Some((1, 1))),
            ]
        );
    }
}
