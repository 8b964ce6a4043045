//! What one log leaves open is left open, and what several signs say together is said.

use analysis::analyze;
use analysis::findings::{Cause, Caveat, Event, EventKind, Label, PolicyClass, SegmentOp};
use measure::record::ThermalSettings;
use trace::caveat::{HeatingUnknown, SlowdownSeen};
use trace::{Temperature, Trace, instant};

use crate::drive::{Load, Policy, Setup, simulate};
use crate::likeness::rows;
use crate::logs::{Logged, heat, relay};
use crate::paused::of_writes;

/// Goal: nothing in a log without phases tells a pause of the host from a drive that stopped because it was too hot. Method: a pause just
/// as a hot drive is hottest, and one while it is far from that.
#[test]
fn a_pause_at_the_hottest_leaves_a_stop_possible() {
    for (pause_s, hot_s) in [(120, 700), (200, 900), (400, 600), (300, 1500), (150, 1000)] {
        let policy = |before_s: usize, after_s: usize| {
            let mut log = Logged::new(pause_s as u64);
            log.log(before_s, |_, _| 1.0);
            log.log(pause_s, |_, _| 0.0);
            log.log(after_s, |_, _| 1.0);
            analyze(&log.trace_of(true, 1)).policy
        };
        let (hot, cool) = (policy(hot_s, 100), policy(60, hot_s));
        assert!(hot.class == PolicyClass::None && hot.confidence <= 0.9, "{pause_s} s: {hot:?}");
        assert!(cool.class == PolicyClass::None && cool.confidence > 0.95, "{pause_s} s: {cool:?}");
    }
}

/// Goal: some seconds of load clear no drive. Method: logs of a few rows.
#[test]
fn a_load_of_a_few_seconds_shows_no_policy() {
    for seconds in [2, 3, 5, 8] {
        let mut log = Logged::new(1);
        log.log(seconds, |_, _| 1.0);
        let policy = analyze(&log.trace_of(true, 1)).policy;
        assert_eq!(policy.class, PolicyClass::Undetermined, "{seconds} s: {policy:?}");
    }
}

/// Goal: what was never seen below the threshold that the run shows has no known full speed. Method: writes that a regulator holds at a
/// temperature, and reads right after them that stay there.
#[test]
fn a_load_that_only_ran_throttled_is_not_at_full_speed() {
    for (hold_k, held_speed, read) in [
        (343.0, 1.0e9, 1.2e9),
        (346.0, 0.8e9, 2.0e9),
        (349.0, 1.2e9, 0.9e9),
        (352.0, 0.9e9, 1.5e9),
        (355.0, 0.7e9, 1.1e9),
    ] {
        let row = |second: usize| {
            let warmed = 1.0 - (-(second as f64) / 60.0).exp();
            match second {
                ..200 => (0.0, 1.6e9, f64::min(hold_k, 310.0 + (hold_k + 2.0 - 310.0) * warmed)),
                200..500 => {
                    let sunk = 1.0 - (-(second as f64 - 200.0) / 60.0).exp();
                    (0.0, 1.6e9 - (1.6e9 - held_speed) * sunk, hold_k)
                }
                _ => (read, 0.0, hold_k),
            }
        };
        let findings = analyze(&rows(1.0, &(0..800).map(row).collect::<Vec<_>>()));
        assert!(!heat(&findings).is_empty(), "held at {hold_k} K: {:#?}", findings.events);
        let full = |op| findings.segments.iter().any(|s| s.op == op && s.label == Label::FullSpeed);
        assert!(full(SegmentOp::Write), "held at {hold_k} K: {:#?}", findings.segments);
        assert!(!full(SegmentOp::Read), "held at {hold_k} K: {:#?}", findings.segments);
    }
}

/// Goal: writing that falls once and stays there is a full cache or heat, and no moment of it says which; what else is known does. Method: such
/// falls of many depths at many temperatures, after which each byte costs more energy, as of a drive of either kind; the same at TMT1, and in a
/// cool drive.
#[test]
fn a_single_fall_of_writing_is_heat_or_a_full_cache() {
    for (fell_k, slow) in
        [(344.0, 0.5), (350.0, 0.3), (353.0, 0.4), (356.0, 0.25), (351.0, 0.6), (347.0, 0.35)]
    {
        let of = |fell_k: f64, heats_k: f64| {
            let mut log = Logged::new(fell_k as u64);
            log.heats_k = heats_k;
            let mut now_k = 0.0;
            while now_k < fell_k {
                log.log(1, |_, kelvin| {
                    now_k = kelvin;
                    1.0
                });
            }
            log.heats_k *= (fell_k - 318.0).max(3.0) / heats_k / slow;
            log.log(700, |_, _| slow);
            of_writes(&log, 1)
        };
        let log = of(fell_k, 52.0);
        let found = analyze(&log);
        let causes: Vec<_> = found.events.iter().map(|event| event.cause).collect();
        assert_eq!(causes, [Cause::Unknown], "{fell_k} K, {slow}: {:#?}", found.events);
        assert_eq!(found.policy.class, PolicyClass::Undetermined, "{fell_k} K: {:?}", found.policy);
        let either = Caveat::PolicyUndetermined { seen: SlowdownSeen::HeatOrCache };
        assert!(found.caveats.contains(&either), "{fell_k} K: {:?}", found.caveats);

        let mut set = log;
        let tmt = ThermalSettings {
            tmt1_k: Some(fell_k as u16),
            tmt2_k: Some(fell_k as u16 + 10),
            power_state: None,
        };
        set.settings.push(instant(0.0), tmt);
        assert!(!heat(&analyze(&set)).is_empty(), "{fell_k} K is TMT1: {:#?}", analyze(&set).events);
        let cool = analyze(&of(322.0, 14.0));
        assert!(heat(&cool).is_empty() && cool.policy.class == PolicyClass::None, "{:#?}", cool.events);
    }
}

/// Goal: what pauses only once it is hot may be a drive that stops itself, also where rows are too long to show at which temperature. Method: a
/// thermostat seen every 20 and 30 s, and the same load without one.
#[test]
fn pauses_that_come_once_a_drive_is_hot_leave_a_policy_open() {
    for (on_k, row_s) in [(358.0, 30), (355.0, 20), (352.0, 30), (349.0, 20), (356.0, 20)] {
        let threshold_k = on_k;
        let every = |on_k: f64| {
            let mut log = Logged::new(on_k as u64);
            log.heats_k = 1.15 * (threshold_k - 312.0);
            log.log(3600, relay(on_k, on_k - 12.0, 0.0));
            analyze(&moments(&log, row_s)).policy
        };
        let (stops, never) = (every(on_k), every(400.0));
        assert_ne!(stops.class, PolicyClass::None, "{on_k} K every {row_s} s: {stops:?}");
        assert_eq!(never.class, PolicyClass::None, "every {row_s} s: {never:?}");
    }
}

/// A log of momentary speeds of writing, one in so many seconds.
fn moments(log: &Logged, row_s: usize) -> Trace {
    let each = of_writes(log, 1);
    let kelvin = each.temperature().expect("a temperature").points();
    let rows_of = each.speeds[0].intervals.iter().zip(kelvin).step_by(row_s);
    let of: Vec<_> = rows_of.map(|(interval, kelvin)| (0.0, interval.bytes, kelvin.value)).collect();
    rows(row_s as f64, &of)
}

/// Goal: a drive that gives speed away by little only while it stands at its hottest is not cleared. Method: a regulator of a few percent in a room
/// that warms up and cools down, and a drive whose speed does the same with the hours, whatever its temperature.
#[test]
fn a_speed_that_sags_only_at_the_hottest_leaves_a_policy_open() {
    for (hold_k, swing_k, row_s) in
        [(345.0, 6.0, 60.0), (349.0, 5.0, 30.0), (341.0, 7.0, 60.0), (352.0, 6.0, 10.0)]
    {
        let of = |regulates: bool| {
            let (mut warmed_k, mut speed) = (0.0, 1.0);
            let row = |at: usize| {
                let t_s = at as f64 * row_s;
                let day = (std::f64::consts::TAU * t_s / 14_400.0 - 1.6).sin();
                let steps = row_s as usize;
                for _ in 0..steps {
                    let room_k = hold_k - 52.0 + swing_k * day;
                    let over_k = room_k + warmed_k - hold_k;
                    speed = if regulates { f64::clamp(speed - 2e-4 * over_k, 0.5, 1.0) } else { 1.0 };
                    warmed_k += (50.0 * speed - warmed_k) / 200.0;
                }
                let kelvin = hold_k - 52.0 + swing_k * day + warmed_k;
                let share = if regulates { speed } else { 1.0 - 0.02 * (1.0 + (t_s / 900.0).sin()) };
                (3e9 * share, 0.0, kelvin)
            };
            analyze(&rows(row_s, &(0..(14_400.0 / row_s) as usize).map(row).collect::<Vec<_>>())).policy
        };
        let (regulated, other) = (of(true), of(false));
        assert_ne!(regulated.class, PolicyClass::None, "{hold_k} K: {regulated:?}");
        assert_eq!(other.class, PolicyClass::None, "{hold_k} K: {other:?}");
    }
}

/// Goal: both of a host's thresholds are named through a sensor that is late by the same each time. Method: light and heavy throttling of
/// which all readings are some kelvins too low.
#[test]
fn both_thresholds_are_named_through_a_sensor_that_reads_low() {
    for (low_k, tmt1_k, tmt2_k) in
        [(1.0, 338u16, 343u16), (1.5, 340, 346), (1.5, 345, 350), (2.0, 336, 342), (1.0, 350, 355)]
    {
        let (mut trace, truth) = simulate(&Setup {
            policies: vec![Policy::TwoLevel {
                light: f64::from(tmt1_k),
                heavy: f64::from(tmt2_k),
                light_speed: 1.15,
                heavy_speed: 0.3,
            }],
            loads: vec![Load { op: SegmentOp::Write, seconds: 1500.0 }],
            tmt_k: Some((tmt1_k, tmt2_k)),
            write_gain: 45.0,
            ..Setup::default()
        });
        assert!(truth.onsets.len() > 3, "{tmt1_k} and {tmt2_k} K: {truth:?}");
        let mut late = measure::Series::new();
        let sensor = &mut trace.temperatures[0];
        for point in sensor.kelvin.points() {
            late.push(instant(point.t.as_secs_f64()), (point.value - low_k).round());
        }
        sensor.kelvin = late;
        trace.trust_a_sensor();
        let found = heat(&analyze(&trace));
        let of = |cause: Cause| found.iter().filter(|onset| onset.2 == cause).count();
        assert!(
            of(Cause::HctmTmt1) >= 1 && of(Cause::HctmTmt2) >= 2,
            "{tmt1_k}, {tmt2_k} K, {low_k} K low: {found:?}"
        );
    }
}

/// Goal: nobody is told to record a temperature that is recorded. Method: a log whose temperature is one all along, and one without any.
#[test]
fn a_temperature_that_never_moves_is_no_missing_one() {
    let mut log = Logged::new(5);
    log.log(600, |_, _| 1.0);
    let mut trace = log.trace_of(false, 1);
    let seen = |trace: &Trace| {
        let caveats = analyze(trace).caveats;
        caveats.into_iter().find_map(|caveat| match caveat {
            Caveat::PolicyUndetermined { seen } => Some(seen),
            _ => None,
        })
    };
    let mut still = measure::Series::new();
    (0..600).for_each(|s| still.push(instant(f64::from(s)), 343.0));
    trace.temperatures = vec![Temperature { name: "composite".into(), kelvin: still }];
    trace.trust_a_sensor();
    assert_eq!(seen(&trace), Some(SlowdownSeen::StillTemperature));
    // Nor are its 600 readings too few.
    let even = Caveat::ThermalNotIdentified(HeatingUnknown::EvenTemperature);
    assert!(analyze(&trace).caveats.contains(&even), "{:?}", analyze(&trace).caveats);
    trace.temperatures.clear();
    trace.trusted = None;
    assert_eq!(seen(&trace), Some(SlowdownSeen::NoTemperature));
}

/// Goal: writing that gives way little by little, once, and stays slow while the drive cools, is neither a full cache nor nothing for sure: slow
/// caches and gentle throttles do so. Method: falls that take a quarter of an hour, from 64 to 71 °C.
#[test]
fn one_slow_fall_is_not_denied() {
    for (seed, row_s, from_k, left) in [
        (1, 2, 338.0, 0.5),
        (2, 1, 341.0, 0.6),
        (3, 5, 340.0, 0.45),
        (4, 2, 343.0, 0.55),
        (5, 10, 339.0, 0.5),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 40.0;
        let mut share = 1.0f64;
        let mut begun = false;
        log.log(5400, |_, kelvin| {
            begun |= kelvin >= from_k;
            share = if begun { (share - 0.0005).max(left) } else { 1.0 };
            share
        });
        let findings = analyze(&of_writes(&log, row_s));
        let of = format!("from {from_k} K: {:?} {:#?}", findings.policy, findings.events);
        assert!(!findings.events.is_empty(), "{of}");
        let none = findings.policy.class == PolicyClass::None && findings.policy.confidence > 0.7;
        assert!(!none, "{of}");
        let cache = |event: &Event| event.kind == EventKind::SlcExhausted && event.confidence > 0.7;
        assert!(!findings.events.iter().any(cache), "{of}");
    }
}

/// Goal: stalls shorter than a row are no throttle where some of them come together at the hottest. Method: stalls of about a second
/// that come every eight at random, by a sensor of steps of two kelvins.
#[test]
fn stalls_that_come_together_are_chance() {
    for (seed, row_s) in (1..=24).map(|seed: u64| (seed, [1, 2, 5][seed as usize % 3])) {
        let (mut state, mut rise_k) = (seed, 0.0);
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        let (mut left_s, mut keeps) = (0.0, 1.0);
        let mut quarter = || {
            if left_s <= 0.0 && chance() < 0.25 / 8.0 {
                (left_s, keeps) = (0.5 + chance(), 0.1 + 0.4 * chance());
            }
            left_s -= 0.25;
            if left_s > 0.0 { keeps } else { 1.0 - 0.006 * chance() }
        };
        let row = |_| {
            let moved = (0..4 * row_s).map(|_| quarter()).sum::<f64>() / f64::from(4 * row_s);
            rise_k += (36.0 * moved - rise_k) * f64::from(row_s) / 240.0;
            (0.0, 3.9e9 * moved, ((300.0 + rise_k) / 2.0).round() * 2.0)
        };
        let log: Vec<(f64, f64, f64)> = (0..2400 / row_s).map(row).collect();
        let findings = analyze(&rows(f64::from(row_s), &log));
        assert!(heat(&findings).is_empty(), "{seed}, rows of {row_s} s: {:#?}", findings.events);
    }
}
