//! The readings that a drive's life is told by.
//!
//! A log may have throttle counters and nothing else of a drive's life. Where it has a load, its events are told by them; where nothing
//! was loaded, they are all that is known.

use std::borrow::Cow;

use trace::{Counters, LifeCounters, Trace};

/// Readings of the drive's life, or of its throttle counters where a log without a load has nothing else.
pub(super) fn readings(trace: &Trace) -> Cow<'_, [LifeCounters]> {
    let has_load =
        trace.speeds.iter().flat_map(|series| &series.intervals).any(|interval| interval.bytes > 0.0);
    match trace.life.is_empty() && !has_load {
        true => Cow::Owned(of_counters(trace)),
        false => Cow::Borrowed(&trace.life),
    }
}

/// The first and the last reading of the throttle counters, and those at which any changed: one that fell was reset.
fn of_counters(trace: &Trace) -> Vec<LifeCounters> {
    let points = trace.counters.points();
    let told = |at: usize| {
        let changed = at.checked_sub(1).is_none_or(|before| points[before].value != points[at].value);
        (changed || at + 1 == points.len()) && points[at].value != Counters::default()
    };
    let reading = |at: usize| LifeCounters {
        t_s: points[at].t.as_secs_f64(),
        throttling: points[at].value,
        ..LifeCounters::default()
    };
    (0..points.len()).filter(|at| told(*at)).map(reading).collect()
}

#[cfg(test)]
mod test {
    use trace::{HostThreshold, Interval, SegmentOp, SpeedSeries, instant};

    use super::super::life;
    use super::*;

    /// A log of throttle counters alone: 16 times, 341 s in 900.
    fn counters() -> Trace {
        let mut trace = Trace::empty("counters");
        for s in 0..=900_u64 {
            let (transitions, seconds) = (s / 56, 341 * s / 900);
            let counters = Counters {
                tmt1_transitions: Some(transitions),
                tmt1_seconds: Some(seconds),
                ..Counters::default()
            };
            trace.counters.push(instant(s as f64), counters);
        }
        trace
    }

    /// Goal: throttling that a drive counted is told whatever else its log has. Method: counters alone, and beside a speed of zero.
    #[test]
    fn throttle_counters_alone_are_told() {
        let mut trace = counters();
        for idle in [false, true] {
            let found = life(&trace).expect("counters");
            let between = found.between.as_ref().expect("two readings");
            let [tmt1] = &between.throttled[..] else { panic!("{between:?}") };
            assert_eq!((tmt1.threshold, tmt1.transitions), (HostThreshold::Tmt1, Some(16)));
            assert!(tmt1.time.is_some_and(|time| (time.hours * 3600.0 - 341.0).abs() < 1e-6), "{idle}");
            assert_eq!((found.counted(), found.history), (vec![HostThreshold::Tmt1], None));
            let nothing = Interval { start_s: 0.0, span_s: 900.0, bytes: 0.0, phase: 0 };
            trace.speeds = vec![SpeedSeries { op: SegmentOp::Write, intervals: vec![nothing] }];
        }
        trace.speeds[0].intervals[0].bytes = 1e12;
        assert_eq!(life(&trace), None, "of a load events tell it");
        trace = Trace::empty("nothing");
        assert_eq!(life(&trace), None);
    }
}
