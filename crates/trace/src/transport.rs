//! Stops of a USB drive that are its bridge's: no I/O ends for as long as the kernel waits before it resets the bridge.
//!
//! Linux gives a SCSI command 30 s (`drivers/scsi/sd.h`, `SD_TIMEOUT`), then aborts it and resets the device; reports of
//! such resets show 30 to 40 s without an I/O (smartmontools issue 490: 33.6 s). A drive that is slowed down by heat goes
//! on, if slowly. So such a stop is no slowdown: it is taken out of the speed, where it is a gap, and told.
//!
//! # What it does not do
//! It does not read the kernel's log, which alone can prove it: the sentence says where to look.

use super::SpeedSeries;

/// A little less than the kernel's limit: the interval in which a stop begins has bytes in it.
const STOP_S_MIN: f64 = 28.0;

/// A stretch in which nothing was moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TransportStop {
    /// When it began, in seconds.
    pub(crate) start_s: f64,
    /// How long it lasted.
    pub(crate) stopped_s: f64,
}

/// The stops in `speeds`, which loses their intervals.
pub(crate) fn take_stops(speeds: &mut [SpeedSeries]) -> Vec<TransportStop> {
    let mut intervals: Vec<(f64, f64, bool, u32)> = speeds
        .iter()
        .flat_map(|series| &series.intervals)
        .map(|one| (one.start_s, one.start_s + one.span_s, one.bytes > 0.0, one.phase))
        .collect();
    // What moves comes last of one time: it ends a stop that another operation seems to begin.
    intervals.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
    let mut stops = Vec::new();
    let mut still: Option<(f64, f64, u32)> = None;
    let mut moved_in = None;
    for (start, end, moves, phase) in intervals {
        match &mut still {
            // Another operation of the same time may move.
            Some((from, until, of)) if !moves && *of == phase => {
                *from = from.min(start);
                *until = until.max(end);
            }
            Some((from, until, _)) => {
                // What moved from here on ends the stop, though intervals of another operation reach further.
                let until = if moves { until.min(start.max(*from)) } else { *until };
                stops.extend(stop(*from, until));
                still = (!moves).then_some((start, end, phase));
            }
            // A load that has moved nothing yet is not one that stopped.
            None if !moves && moved_in == Some(phase) => still = Some((start, end, phase)),
            None => {}
        }
        if moves {
            moved_in = Some(phase);
            still = None;
        }
    }
    stops.extend(still.and_then(|(from, until, _)| stop(from, until)));
    for series in speeds {
        series.intervals.retain(|one| !stops.iter().any(|stop| stop.holds(one.start_s, one.span_s)));
    }
    stops
}

fn stop(start_s: f64, end_s: f64) -> Option<TransportStop> {
    let stopped_s = end_s - start_s;
    (stopped_s >= STOP_S_MIN).then_some(TransportStop { start_s, stopped_s })
}

impl TransportStop {
    fn holds(self, start_s: f64, span_s: f64) -> bool {
        let middle = start_s + span_s / 2.0;
        (self.start_s..self.start_s + self.stopped_s).contains(&middle)
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::{Interval, SegmentOp};

    /// A second an interval, at the speeds that `of` says.
    fn series(op: SegmentOp, of: impl Fn(usize) -> f64) -> SpeedSeries {
        let interval =
            |second: usize| Interval { start_s: second as f64, span_s: 1.0, bytes: of(second), phase: 0 };
        SpeedSeries { op, intervals: (0..200).map(interval).collect() }
    }

    #[test]
    fn a_stop_of_half_a_minute_is_taken_out_and_a_slow_drive_is_not() {
        let mut speeds =
            [series(SegmentOp::Write, |second| if (100..134).contains(&second) { 0.0 } else { 4e8 })];
        assert_eq!(take_stops(&mut speeds), [TransportStop { start_s: 100.0, stopped_s: 34.0 }]);
        assert_eq!(speeds[0].intervals.len(), 166);
        for slow in [
            series(SegmentOp::Write, |second| if (100..134).contains(&second) { 1e5 } else { 4e8 }),
            series(SegmentOp::Write, |second| if (100..120).contains(&second) { 0.0 } else { 4e8 }),
            // One I/O in between.
            series(
                SegmentOp::Write,
                |second| if (100..150).contains(&second) && second != 125 { 0.0 } else { 4e8 },
            ),
            // A load that waits to begin.
            series(SegmentOp::Write, |second| if second < 60 { 0.0 } else { 4e8 }),
        ] {
            let mut speeds = [slow];
            assert_eq!(take_stops(&mut speeds), []);
            assert_eq!(speeds[0].intervals.len(), 200);
        }
    }

    #[test]
    fn a_load_that_only_reads_meanwhile_has_not_stopped() {
        let write = series(SegmentOp::Write, |second| if (100..160).contains(&second) { 0.0 } else { 4e8 });
        let mut speeds = [write.clone(), series(SegmentOp::Read, |_| 1e6)];
        assert_eq!(take_stops(&mut speeds), []);
        let mut both = [write.clone(), SpeedSeries { op: SegmentOp::Read, ..write }];
        assert_eq!(take_stops(&mut both).len(), 1);
        assert_eq!((both[0].intervals.len(), both[1].intervals.len()), (140, 140));
    }
}
