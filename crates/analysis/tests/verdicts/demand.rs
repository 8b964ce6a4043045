//! What was asked for, and what a drive shows elsewhere in the same log: caches below a hotter threshold, steady rates with a little more now
//! and then, another share of reading, rhythms that begin hot, loads that end.

use analysis::analyze;
use analysis::findings::{Cause, Event, SegmentOp};
use trace::{SpeedSeries, Trace};

use crate::logs::{Logged, heat, relay};
use crate::paused::{named_heat, of_writes};

/// Goal: where a cache ends, and a relay begins 10 K hotter and more, the cache's end is no first threshold. Method: writes past the cache work
/// the drive as hard as before.
#[test]
fn a_cache_that_ends_below_a_hotter_threshold_is_none() {
    for (seed, row_s, full_s, left) in
        [(1, 5, 45, 0.09), (2, 2, 60, 0.08), (3, 1, 50, 0.12), (4, 5, 55, 0.15), (5, 2, 40, 0.1)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 62.0;
        log.log(1800, relay(359.0, 352.0, 0.6));
        let mut trace = of_writes(&log, row_s);
        let past = trace.speeds[0].intervals.iter_mut().filter(|row| row.start_s >= f64::from(full_s));
        past.for_each(|row| row.bytes *= left);
        trace::infer_phases(&mut trace);
        let findings = analyze(&trace);
        let early: Vec<f64> = named_heat(&findings).into_iter().filter(|t_s| *t_s < 100.0).collect();
        assert!(early.is_empty(), "after {full_s} s: {early:?}, {:?}", findings.policy);
        let onset_k = findings.policy.onset_k.expect("a relay");
        assert!((onset_k - 359.0).abs() <= 2.0, "after {full_s} s: {onset_k} K");
    }
}

/// Goal: a steady rate is no throttled one because a row now and then holds more. Method: a recorder on a drive that never throttles, and that
/// catches up for a row in some of its quarters of an hour, cool and hot.
#[test]
fn a_steady_rate_that_catches_up_is_not_throttled() {
    for (seed, row_s, rate) in [(1, 10, 0.3), (2, 10, 0.4), (3, 5, 0.35), (4, 10, 0.5), (5, 15, 0.25)] {
        let mut log = Logged::new(seed);
        log.heats_k = 36.0 / rate;
        for _ in 0..40 {
            let steady_s = row_s * (20 + (80.0 * log.random()) as usize);
            log.log(steady_s, |_, _| rate);
            let more = 1.15 + 0.3 * log.random();
            log.log(row_s, |_, _| more * rate);
        }
        let findings = analyze(&of_writes(&log, row_s));
        let heat = named_heat(&findings);
        assert!(heat.is_empty(), "rows of {row_s} s at {rate}: {heat:?}, {:?}", findings.policy);
    }
}

/// The rows of a log told apart as reads and writes: by how much of a row is read, in a row that begins then.
fn told_apart(log: &Logged, row_s: usize, read: impl Fn(f64, f64) -> f64) -> Trace {
    let mut trace = log.trace_of(true, row_s);
    let rows = std::mem::take(&mut trace.speeds[0].intervals);
    let most = rows.iter().map(|row| row.bytes).fold(0.0, f64::max);
    let of = |op: SegmentOp, share: &dyn Fn(f64) -> f64| {
        let moved = rows.iter().map(|row| {
            let read = read(row.start_s, row.bytes / most);
            trace::Interval { bytes: row.bytes * share(read), ..*row }
        });
        SpeedSeries { op, intervals: moved.collect() }
    };
    trace.speeds = vec![of(SegmentOp::Read, &|read| read), of(SegmentOp::Write, &|read| 1.0 - read)];
    trace::infer_phases(&mut trace);
    trace
}

/// Goal: a light load that varies on a cool drive is not throttled there, as the drive reads at full speed when it is far hotter. Method: a data
/// base whose jobs double its rate for minutes, beside scrubs.
#[test]
fn a_light_load_is_not_throttled_where_a_heavy_one_is_not() {
    for (seed, heats_k) in [(1, 45.0), (2, 60.0), (3, 60.0), (4, 55.0), (5, 50.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for _ in 0..3 {
            let mut now = 0.0f64;
            for _ in 0..40 {
                let rate = if log.random() < 0.5 { 0.2 } else { 0.1 };
                for _ in 0..(3.0 + 20.0 * log.random()) as usize {
                    now = 0.8 * now + 0.25 * (log.random() - 0.5);
                    let share = rate * now.exp();
                    log.log(15, |_, _| share);
                }
            }
            log.log(1800, |_, _| 1.0);
        }
        let trace = told_apart(&log, 15, |_, share| if share > 0.5 { 0.97 } else { 0.65 });
        let findings = analyze(&trace);
        let heat = named_heat(&findings);
        assert!(heat.len() <= 1, "seed {seed}: {heat:?}");
    }
}

/// Goal: a load that reads more while both together fall is another load. Method: checkpoints every two minutes on a drive that never throttles.
#[test]
fn a_load_that_reads_more_as_it_falls_is_another_one() {
    for (seed, row_s) in [(1, 1), (2, 2), (3, 1), (4, 2), (5, 1)] {
        let mut log = Logged::new(seed);
        log.heats_k = 46.0;
        let noise: Vec<f64> = (0..900).map(|_| log.random() - 0.5).collect();
        let falls = |second: f64| second >= 120.0 && second % 120.0 < 96.0;
        log.log(900, |second, _| {
            (if falls(second as f64) { 0.5 } else { 1.0 }) * (1.0 + 0.2 * noise[second])
        });
        let trace = told_apart(&log, row_s, |second, _| if falls(second) { 0.42 } else { 0.12 });
        let findings = analyze(&trace);
        let heat = named_heat(&findings);
        assert!(heat.is_empty(), "seed {seed}: {heat:?}, {:?}", findings.policy);
    }
}

/// Goal: a rhythm that begins as a drive becomes hot, and was not there before, is not surely background work. Method: a duty cycle from a
/// temperature on.
#[test]
fn a_rhythm_that_begins_hot_is_not_surely_a_clock() {
    for (seed, on_k, every, heats_k) in [
        (4, 350.0, 9, 56.0),
        (5, 348.0, 8, 60.0),
        (6, 352.0, 8, 60.0),
        (8, 351.0, 10, 58.0),
        (10, 353.0, 8, 62.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let mut began = None;
        log.log(600, |second, kelvin| {
            began = began.or((kelvin >= on_k).then_some(second));
            let off = began.is_some_and(|began| (second - began) % every < 3);
            if off { 0.3 } else { 1.0 }
        });
        let findings = analyze(&of_writes(&log, 1));
        let cleared = |event: &&Event| event.cause == Cause::NotThermal && event.confidence >= 0.9;
        assert_eq!(
            findings.events.iter().find(cleared),
            None,
            "every {every} s from {on_k} K on: {:?}",
            findings.policy
        );
    }
}

/// Goal: the last two rows of a load that rests next show no throttle. Method: bursts of writing on a hot drive whose relay acts in some of
/// them, and that run out.
#[test]
fn a_load_that_runs_out_is_not_throttled() {
    for (seed, row_s, tail) in [(1, 2, 0.5), (2, 2, 0.3), (3, 5, 0.45), (4, 2, 0.02), (5, 5, 0.04)] {
        let mut log = Logged::new(seed);
        log.heats_k = 56.0;
        let mut throttle = relay(349.0, 342.0, 0.5);
        let mut ends_s = Vec::new();
        let mut now_s = 0;
        for burst in 0..8 {
            let span_s = row_s * (100 + 10 * burst);
            log.log(span_s, &mut throttle);
            log.log(2 * row_s, |_, _| tail);
            ends_s.push(now_s + span_s);
            log.log(100 * row_s, |_, _| 0.0);
            now_s += span_s + 102 * row_s;
        }
        let findings = analyze(&of_writes(&log, row_s));
        let at_end = |t_s: f64| ends_s.iter().any(|end_s| (t_s - *end_s as f64).abs() <= 1.5 * row_s as f64);
        let late = heat(&findings).into_iter().filter(|onset| at_end(onset.0) && onset.3 < 0.2);
        assert_eq!(late.count(), 0, "rows of {row_s} s: {:?}", findings.events);
    }
}
