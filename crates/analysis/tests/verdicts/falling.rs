//! How speed falls: little by little or at once, and from which speed.

use analysis::findings::{Cause, EventKind, SegmentOp};
use analysis::{analyze, explain};
use trace::{Interval, Phase, SpeedSeries, Temperature, Trace, instant};

/// What a load does, how fast it is after so many seconds, and how many there are.
type LogLoad<'a> = (SegmentOp, &'a dyn Fn(f64) -> f64, usize);

/// A second of load for each speed, one phase for each operation, and a reading a second in whole kelvins.
fn log(loads: &[LogLoad<'_>], kelvin: &dyn Fn(f64) -> f64) -> Trace {
    let mut trace = Trace::empty("falling");
    let mut start_s = 0;
    for (index, (op, bytes_per_s, seconds)) in loads.iter().enumerate() {
        let wobble = |s: usize| 1.0 + 0.01 * (s as f64 * 12.9898).sin();
        let interval = |s: usize| Interval {
            start_s: s as f64,
            span_s: 1.0,
            bytes: bytes_per_s((s - start_s) as f64) * wobble(s),
            phase: index as u32,
        };
        let intervals = (start_s..start_s + seconds).map(interval).collect();
        trace.speeds.push(SpeedSeries { op: *op, intervals });
        let (from_s, to_s) = (start_s as f64, (start_s + seconds) as f64);
        trace.phases.push(Phase::bare("load", *op, from_s, to_s));
        start_s += seconds;
    }
    let mut readings = measure::Series::new();
    (0..start_s).for_each(|s| readings.push(instant(s as f64), kelvin(s as f64).floor()));
    trace.temperatures = vec![Temperature { name: "composite".into(), kelvin: readings }];
    trace.trust_a_sensor();
    trace
}

/// Goal: a regulator whose temperature hardly moved is heat, and is not said to fall in one step. Method: reading that gives up
/// a third in the course of minutes at 65 °C, settings unknown, after which it has hardly been cooler; the same at once, which
/// may be anything.
#[test]
fn what_falls_little_by_little_is_no_step() {
    let kelvin = |t: f64| (332.0 + t / 45.0).min(338.5);
    let slowly = |t: f64| if t < 300.0 { 9e9 } else { 6e9 + 3e9 * (-(t - 300.0) / 60.0).exp() };
    let at_once = |t: f64| if t < 300.0 { 9e9 } else { 6e9 };
    for (speed, gradual) in [(&slowly as &dyn Fn(f64) -> f64, true), (&at_once, false)] {
        let (_, explained) = explain(&log(&[(SegmentOp::Read, speed, 1000)], &kelvin));
        let first = explained.first().expect("an event");
        assert_eq!(first.seen.gradual, gradual, "{:#?}", first.seen);
        assert_eq!(first.event.cause == Cause::Thermal, gradual, "{:#?}", first.event);
    }
}

/// Goal: a speed that was seen is not called unknown. Method: reading begins a kelvin below TMT1, runs at one speed for 25 s and
/// is throttled then.
#[test]
fn what_stands_before_it_falls_was_the_full_speed() {
    let kelvin = |t: f64| if t < 330.0 { 320.0 + t / 8.7 } else { (358.0 + (t - 330.0) / 12.0).min(360.0) };
    let writing = |_: f64| 4.5e8;
    let reading = |t: f64| if t < 25.0 { 1.1e9 } else { 7e8 };
    let mut trace = log(&[(SegmentOp::Write, &writing, 330), (SegmentOp::Read, &reading, 700)], &kelvin);
    let settings =
        measure::record::ThermalSettings { tmt1_k: Some(361), tmt2_k: Some(372), power_state: Some(0) };
    trace.settings.push(instant(0.0), settings);
    let (_, explained) = explain(&trace);
    let first = explained.first().expect("an event");
    assert!((first.seen.start_s - 355.0).abs() <= 3.0, "{:#?}", first.seen);
    assert!(first.seen.before_bytes_per_s.is_some_and(|before| (before / 1.1e9 - 1.0).abs() < 0.02));
}

/// Goal: a second fall while the drive is slow already is told, whatever is thought of it. Method: speed falls where the drive has
/// warmed up, and once more after a long while at a temperature that hardly rises; soon after, the load ends.
#[test]
fn a_further_fall_that_stands_is_told() {
    for (first_s, second_s, left, further) in [
        (200.0, 800.0, 0.7, 0.5),
        (300.0, 1000.0, 0.8, 0.2),
        (150.0, 700.0, 0.65, 0.6),
        (250.0, 1200.0, 0.75, 0.35),
        (400.0, 1500.0, 0.6, 0.45),
    ] {
        let speed = |t: f64| match t {
            t if t < first_s => 5e9,
            t if t < second_s => 5e9 * left,
            _ => 5e9 * left * further,
        };
        let kelvin = |t: f64| 350.0 - 30.0 * (-t / 120.0_f64).exp() + t / 200.0;
        let findings = analyze(&log(&[(SegmentOp::Read, &speed, second_s as usize + 35)], &kelvin));
        let told = |at_s: f64| findings.events.iter().any(|event| (event.t_s - at_s).abs() <= 2.0);
        assert!(told(first_s) && told(second_s), "{second_s} s, to {further}: {:#?}", findings.events);
    }
}

/// Goal: no cache is full after more data than it can hold. Method: writing falls once on a cool drive and stays slow after more than half of the
/// drive's capacity; the same on a drive of four times the size, and on one whose size nobody stated.
#[test]
fn a_cache_holds_no_more_than_half_a_drive() {
    for (capacity_gb, at_s, left) in [
        (1000.0, 150.0, 0.4),
        (500.0, 90.0, 0.3),
        (2000.0, 260.0, 0.2),
        (1000.0, 180.0, 0.5),
        (250.0, 70.0, 0.35),
    ] {
        let cache_full = |capacity_gb: Option<f64>| {
            let speed = |t: f64| if t < at_s { 5e9 } else { 5e9 * left };
            let cooled_k = |t: f64| 8.0 * (1.0 - (-(t - at_s).max(0.0) / 60.0).exp());
            let kelvin = |t: f64| 322.0 - 20.0 * (-t / 30.0_f64).exp() - cooled_k(t);
            let mut trace = log(&[(SegmentOp::Write, &speed, 600)], &kelvin);
            trace.facts.capacity_bytes = capacity_gb.map(|gb| (gb * 1e9) as u64);
            analyze(&trace).events.iter().any(|event| event.kind == EventKind::SlcExhausted)
        };
        assert!(!cache_full(Some(capacity_gb)), "{capacity_gb} GB, {at_s} s");
        assert!(cache_full(Some(4.0 * capacity_gb)) && cache_full(None), "{capacity_gb} GB, {at_s} s");
    }
}
