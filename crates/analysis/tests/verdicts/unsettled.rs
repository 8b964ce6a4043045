//! What one log leaves open is left open, and what several signs say together is said.

use analysis::analyze;
use analysis::findings::{Cause, Caveat, Label, PolicyClass, SegmentOp};
use trace::caveat::{HeatingUnknown, SlowdownSeen};
use trace::{Temperature, Trace, instant};

use crate::drive::{Load, Policy, Setup, simulate};
use crate::likeness::rows;
use crate::logs::{Logged, heat};
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

/// Goal: writing that falls just at the temperature that the drive warns of (WCTEMP), and stays low while it cools, is less surely a full
/// cache. Method: that fall, with and without the warning there.
#[test]
fn a_fall_at_the_warning_temperature_is_less_surely_a_cache() {
    for (fell_k, slow) in [(350.0, 0.27), (353.0, 0.3), (356.0, 0.25), (351.0, 0.35), (348.0, 0.28)] {
        let mut log = Logged::new(fell_k as u64);
        log.log(300, |_, _| 0.75);
        let mut has_fallen = false;
        log.log(500, |_, kelvin| {
            has_fallen |= kelvin >= fell_k;
            if has_fallen { slow } else { 1.0 }
        });
        let mut trace = of_writes(&log, 1);
        let mut none = |warning_k| {
            trace.facts.warning_k = warning_k;
            let policy = analyze(&trace).policy;
            if policy.class == PolicyClass::None { policy.confidence } else { 0.0 }
        };
        let (there, elsewhere) = (none(Some(fell_k)), none(Some(fell_k + 15.0)));
        assert!(there <= elsewhere - 0.05, "{fell_k} K: {there} at the warning, {elsewhere} below it");
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
