//! Stops of a USB drive that are its bridge's: no I/O ends for as long as the kernel waits before it resets the bridge.
//!
//! Linux gives a SCSI command 30 s (`drivers/scsi/sd.h`, `SD_TIMEOUT`), then aborts it and resets the device; reports of
//! such resets show 30 to 40 s without an I/O (smartmontools issue 490: 33.6 s). A drive that is slowed down by heat goes
//! on, if slowly. So such a stop is no slowdown: it is taken out of the speed, where it is a gap, and told.
//!
//! Where the kernel's log was read (`TransportEvent`), it proves a stop, however short and of whatever drive: timeouts can
//! be set lower than 30 s. What it proves is told with its line.

use measure::Instant;
use measure::record::{TransportEvent, TransportEventKind};

use super::SpeedSeries;
use super::caveat::Caveat;

/// A little less than the kernel's limit: the interval in which a stop begins has bytes in it.
const STOP_S_MIN: f64 = 28.0;
/// With a line of the kernel's log in it; a drive's own pauses are shorter.
const LOGGED_STOP_S_MIN: f64 = 1.5;
/// So far before and after a stop a line is still its line: stamps of the log and times of intervals are of two clocks, and
/// I/O goes on a little after the last line.
const NEAR_S: f64 = 2.0;

/// A stretch in which nothing was moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TransportStop {
    /// When it began, in seconds.
    pub(crate) start_s: f64,
    /// How long it lasted.
    pub(crate) stopped_s: f64,
}

impl TransportStop {
    /// Whether a line of the kernel's log at `at_s` may be of it.
    fn is_near(&self, at_s: f64) -> bool {
        (self.start_s - NEAR_S..=self.start_s + self.stopped_s + NEAR_S).contains(&at_s)
    }
}

/// What is to be said of the transport; `speeds` loses the intervals in which it stopped.
///
/// `is_usb`: half a minute without an I/O is a reset there though no log says so.
pub(crate) fn transport_caveats(
    speeds: &mut [SpeedSeries],
    events: &[TransportEvent],
    is_usb: bool,
) -> Vec<Caveat> {
    let at_s = |event: &TransportEvent| Instant::from_ns(event.t_ns).as_secs_f64();
    let failed: Vec<&TransportEvent> =
        events.iter().filter(|event| event.kind != TransportEventKind::Gone).collect();
    let line_of = |stop: &TransportStop| {
        failed.iter().find(|event| stop.is_near(at_s(event))).map(|event| event.text.clone())
    };
    let is_reset = |stop: &TransportStop| {
        is_usb && stop.stopped_s >= STOP_S_MIN
            || stop.stopped_s >= LOGGED_STOP_S_MIN && line_of(stop).is_some()
    };
    let stops = take_stops(speeds, is_reset);
    let mut caveats: Vec<Caveat> = stops
        .iter()
        .map(|stop| Caveat::TransportReset {
            start_s: stop.start_s,
            stopped_s: stop.stopped_s,
            log: line_of(stop),
        })
        .collect();
    // Resets that stopped nothing for long: one sentence for all of them.
    let apart = failed.iter().find(|event| !stops.iter().any(|stop| stop.is_near(at_s(event))));
    if let Some(event) = apart {
        let log = Some(event.text.clone());
        caveats.push(Caveat::TransportReset { start_s: at_s(event), stopped_s: 0.0, log });
    }
    let gone = events.iter().find(|event| event.kind == TransportEventKind::Gone);
    caveats.extend(gone.map(|event| Caveat::TransportLost { at_s: at_s(event), log: event.text.clone() }));
    caveats
}

/// The stops in `speeds` that are resets, whose intervals it loses.
fn take_stops(speeds: &mut [SpeedSeries], is_reset: impl Fn(&TransportStop) -> bool) -> Vec<TransportStop> {
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
                stops.push(stop(*from, until));
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
    stops.extend(still.map(|(from, until, _)| stop(from, until)));
    stops.retain(is_reset);
    for series in speeds {
        series.intervals.retain(|one| !stops.iter().any(|stop| stop.holds(one.start_s, one.span_s)));
    }
    stops
}

fn stop(start_s: f64, end_s: f64) -> TransportStop {
    TransportStop { start_s, stopped_s: end_s - start_s }
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

    fn usb_stops(speeds: &mut [SpeedSeries]) -> Vec<TransportStop> {
        take_stops(speeds, |stop| stop.stopped_s >= STOP_S_MIN)
    }

    fn event(second: u64, kind: TransportEventKind) -> TransportEvent {
        TransportEvent { t_ns: second * 1_000_000_000, kind, text: format!("usb 2-1: at {second}") }
    }

    /// Goal: the log proves what the speed alone does not, and a stop without it is told for USB drives only.
    #[test]
    fn the_kernels_log_proves_short_stops_and_those_of_other_drives() {
        use TransportEventKind::{Abort, Gone, Reset};
        let stopped = |from: usize, to: usize| {
            [series(SegmentOp::Read, move |second| if (from..to).contains(&second) { 0.0 } else { 4e8 })]
        };
        let reset = |start_s, stopped_s, log: Option<&str>| Caveat::TransportReset {
            start_s,
            stopped_s,
            log: log.map(str::to_owned),
        };
        let mut short = stopped(100, 104);
        let events = [event(103, Abort), event(104, Reset)];
        let told = transport_caveats(&mut short, &events, false);
        assert_eq!(told, [reset(100.0, 4.0, Some("usb 2-1: at 103"))]);
        assert_eq!(short[0].intervals.len(), 196);
        // Without the log it may be the drive's own.
        assert_eq!(transport_caveats(&mut stopped(100, 104), &[], true), []);
        assert_eq!(transport_caveats(&mut stopped(100, 140), &[], false), []);
        assert_eq!(transport_caveats(&mut stopped(100, 140), &[], true), [reset(100.0, 40.0, None)]);
        // A line far from the stop is told, and proves nothing of it.
        let far = transport_caveats(&mut stopped(100, 104), &[event(50, Reset)], true);
        assert_eq!(far, [reset(50.0, 0.0, Some("usb 2-1: at 50"))]);
        let lost = transport_caveats(&mut stopped(150, 150), &[event(199, Gone)], true);
        assert_eq!(lost, [Caveat::TransportLost { at_s: 199.0, log: "usb 2-1: at 199".to_owned() }]);
    }

    #[test]
    fn a_stop_of_half_a_minute_is_taken_out_and_a_slow_drive_is_not() {
        let mut speeds =
            [series(SegmentOp::Write, |second| if (100..134).contains(&second) { 0.0 } else { 4e8 })];
        assert_eq!(usb_stops(&mut speeds), [TransportStop { start_s: 100.0, stopped_s: 34.0 }]);
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
            assert_eq!(usb_stops(&mut speeds), []);
            assert_eq!(speeds[0].intervals.len(), 200);
        }
    }

    #[test]
    fn a_load_that_only_reads_meanwhile_has_not_stopped() {
        let write = series(SegmentOp::Write, |second| if (100..160).contains(&second) { 0.0 } else { 4e8 });
        let mut speeds = [write.clone(), series(SegmentOp::Read, |_| 1e6)];
        assert_eq!(usb_stops(&mut speeds), []);
        let mut both = [write.clone(), SpeedSeries { op: SegmentOp::Read, ..write }];
        assert_eq!(usb_stops(&mut both).len(), 1);
        assert_eq!((both[0].intervals.len(), both[1].intervals.len()), (140, 140));
    }
}
