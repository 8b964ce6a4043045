//! When a drive had less to do, where a log says how busy it was.
//!
//! A drive that slows down by itself has work waiting all the time, so that it is as busy as before, or busier. One that is both
//! slower and less busy was asked for less, and how slow it was then says nothing about it.

use crate::{FASTEST_LINK_BYTES_PER_S, LoadTotal, Trace, load_totals};
use measure::Point;

/// A slice is less busy, and slower, than half of the data by this factor: where both are the same load they scatter by a few percent.
const LESS: f64 = 0.8;
/// So seldom busy, a drive is asked for next to nothing, whatever else the log shows.
const HARDLY: f64 = 0.1;

/// How busy a drive is under its usual load.
pub(super) struct BusyLoad<'a> {
    /// Share of the time up to each reading.
    busy: &'a [Point<f64>],
    /// What half of the data was moved at: a share, and a speed in bytes per second.
    usual: (f64, f64),
}

impl<'a> BusyLoad<'a> {
    pub(super) fn of(trace: &'a Trace) -> Self {
        let mut load = Self { busy: trace.busy.points(), usual: (0.0, 0.0) };
        if !load.busy.is_empty() {
            let known = || load_totals(&trace.speeds).filter_map(|slice| Some((load.share(&slice)?, slice)));
            let share = half(known().map(|(share, slice)| (share, slice.bytes)).collect());
            let speed =
                half(known().map(|(_, slice)| (slice.interval().bytes_per_s(), slice.bytes)).collect());
            load.usual = (share, speed);
            // Where a driver counts no time, the share is none.
            if speed > FASTEST_LINK_BYTES_PER_S * share {
                load.busy = &[];
            }
        }
        load
    }

    /// Whether the drive waited for work in a slice, more than it usually does.
    pub(super) fn waits(&self, slice: &LoadTotal<'_>) -> bool {
        let slower = slice.interval().bytes_per_s() < LESS * self.usual.1;
        self.share(slice).is_some_and(|share| share < HARDLY || slower && share < LESS * self.usual.0)
    }

    /// The share of a slice's time in which the drive had something to do, where it is known.
    fn share(&self, slice: &LoadTotal<'_>) -> Option<f64> {
        let slice = slice.first;
        let middle_s = slice.start_s + slice.span_s / 2.0;
        let next = self.busy.partition_point(|reading| reading.t.as_secs_f64() < middle_s);
        self.busy
            .get(next)
            .filter(|reading| reading.t.as_secs_f64() <= middle_s + slice.span_s)
            .map(|r| r.value)
    }
}

/// The value up to which half of the weight lies; 0 without any.
fn half(mut weighed: Vec<(f64, f64)>) -> f64 {
    weighed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = weighed.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let at = weighed.iter().find(|(_, weight)| {
        left -= weight;
        left <= 0.0
    });
    at.map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::{Interval, SegmentOp, SpeedSeries, infer_phases, instant};

    /// What each row of a second says: speed in bytes per second, and share of the time with something to do.
    fn phases(rows: &[(f64, f64)]) -> Vec<(SegmentOp, f64, f64)> {
        let mut trace = Trace::empty("test");
        let interval = |(i, row): (usize, &(f64, f64))| Interval {
            start_s: i as f64,
            span_s: 1.0,
            bytes: row.0,
            phase: 0,
        };
        let intervals = rows.iter().enumerate().map(interval).collect();
        trace.speeds = vec![SpeedSeries { op: SegmentOp::Write, intervals }];
        rows.iter().enumerate().for_each(|(i, row)| trace.busy.push(instant((i + 1) as f64), row.1));
        infer_phases(&mut trace);
        trace.phases.iter().map(|phase| (phase.op, phase.start_s, phase.end_s)).collect()
    }

    /// Goal: less asked is idle time and less given is not. Method: the same falls of speed, of a drive that waits and of one that is waited for.
    #[test]
    fn less_asked_is_idle_and_less_given_is_not() {
        use SegmentOp::{Idle, Write};
        let fall = |speed: f64, share: f64| {
            [vec![(1e9, 0.99); 30], vec![(speed, share); 60], vec![(1e9, 0.99); 30]].concat()
        };
        let asked_less = [(Write, 0.0, 30.0), (Idle, 30.0, 90.0), (Write, 90.0, 120.0)];
        assert_eq!(phases(&fall(52e6, 0.008)), asked_less);
        assert_eq!(phases(&fall(0.6e9, 0.62)), asked_less);
        assert_eq!(phases(&fall(52e6, 1.0)), [(Write, 0.0, 120.0)]);
        // Nothing moves and work waits: the drive stopped, for longer than a pause that nobody knows anything of.
        assert_eq!(phases(&fall(0.0, 1.0)), [(Write, 0.0, 120.0)]);
        assert_eq!(phases(&fall(0.0, 0.0)), asked_less);
    }

    /// Goal: a host that asks for little all the time has a load all the same, and a drive that gives less then is busier.
    #[test]
    fn a_drive_that_usually_waits_has_a_load_until_it_hardly_does_anything() {
        use SegmentOp::{Idle, Write};
        let rows = [[(0.5e9, 0.25); 60], [(0.3e9, 1.0); 60]].concat();
        assert_eq!(phases(&rows), [(Write, 0.0, 120.0)]);
        assert_eq!(phases(&[(3e6, 0.01); 60]), [(Idle, 0.0, 60.0)]);
        assert_eq!(phases(&[(3e9, 0.0); 60]), [(Write, 0.0, 60.0)], "no time was counted");
    }
}
