//! What somebody did to a drive while it was logged, and what a log makes of its sensor.

use analysis::analyze;
use analysis::findings::{Cause, Caveat, Findings, PolicyClass};

use crate::logs::{Logged, heat, relay};

fn denied(findings: &Findings) -> usize {
    findings.events.iter().filter(|e| e.cause == Cause::NotThermal && e.confidence >= 0.9).count()
}

/// Goal: a threshold that was moved unseen, far and often, is told as heat. Method: relays whose settings change twice, up and down.
#[test]
fn thresholds_that_moved_far_and_twice_are_heat() {
    for (seed, on_k) in [(1, [335.0, 347.0, 352.0]), (2, [336.0, 348.0, 338.0]), (3, [350.0, 337.0, 346.0])] {
        let mut log = Logged::new(seed);
        log.heats_k = 60.0;
        for on_k in on_k {
            log.log(700, relay(on_k, on_k - 3.0, 0.45));
        }
        let findings = analyze(&log.trace_of(true, 1));
        assert_eq!(denied(&findings), 0, "{on_k:?}: {:#?}", findings.events.first());
        assert!(heat(&findings).len() > 10, "{on_k:?}");
        assert_eq!(findings.policy.class, PolicyClass::Relay, "{on_k:?}: {:?}", findings.policy);
    }
}

/// Goal: two thresholds that act in turn are not held against each other. Method: a relay that sets in at the one and the other by turns,
/// and lets go at one temperature.
#[test]
fn thresholds_that_act_in_turn_are_not_denied() {
    for (seed, low_k, high_k, off_k, slow) in [
        (1, 343.0, 349.0, 337.0, 0.3),
        (2, 341.0, 346.0, 337.0, 0.4),
        (3, 345.0, 352.0, 340.0, 0.25),
        (4, 340.0, 345.5, 336.0, 0.2),
        (5, 344.0, 351.0, 341.0, 0.25),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 62.0;
        let (mut is_slow, mut turn) = (false, 0);
        log.log(1500, |_, kelvin| {
            let on_k = if turn % 2 == 0 { low_k } else { high_k };
            if !is_slow && kelvin >= on_k {
                is_slow = true;
            } else if is_slow && kelvin <= off_k {
                (is_slow, turn) = (false, turn + 1);
            }
            if is_slow { slow } else { 1.0 }
        });
        let findings = analyze(&log.trace_of(true, 1));
        assert_eq!(denied(&findings), 0, "{low_k} and {high_k}: {:#?}", findings.events.first());
        assert!(turn > 4, "{turn} cycles");
        let none = findings.policy.class == PolicyClass::None && findings.policy.confidence >= 0.7;
        assert!(!none, "{low_k} and {high_k}: {:?}", findings.policy);
    }
}

/// Goal: dips by chance at temperatures that differ are no threshold that moved. Method: a few at 60 and at 75 °C, after minutes there.
#[test]
fn dips_at_two_temperatures_are_no_threshold_that_moved() {
    for seed in 1..=5 {
        let mut log = Logged::new(seed);
        log.heats_k = 45.0;
        for share in [0.55, 1.0] {
            for _ in 0..3 {
                let wait_s = 300 + (300.0 * log.random()) as usize;
                log.log(wait_s, |_, _| share);
                log.log(14, |_, _| 0.4 * share);
            }
            log.log(300, |_, _| share);
        }
        let findings = analyze(&log.trace_of(true, 1));
        assert!(heat(&findings).is_empty(), "seed {seed}: {:#?}", findings.events);
    }
}

/// Goal: a log that repeats a temperature for as long as a cycle lasts clears heat of nothing. Method: each reading held for so long.
#[test]
fn a_temperature_that_is_repeated_acquits_no_more_than_one_that_is_missing() {
    for (seed, held_s) in [(1, 25), (2, 30), (3, 40), (4, 60), (5, 35)] {
        let mut log = Logged::new(seed);
        log.log(2400, relay(346.0, 342.0, 0.35));
        let mut trace = log.trace_of(true, 1);
        let points = trace.temperatures[0].kelvin.points().to_vec();
        let mut held = measure::Series::new();
        points
            .iter()
            .enumerate()
            .for_each(|(at, point)| held.push(point.t, points[at / held_s * held_s].value));
        trace.temperatures[0].kelvin = held;
        trace.trust_a_sensor();
        let findings = analyze(&trace);
        assert_eq!(denied(&findings), 0, "held for {held_s} s: {:#?}", findings.events.first());
        assert_ne!(findings.policy.class, PolicyClass::None, "held for {held_s} s");
    }
}

/// Goal: errors of a bus are no temperatures. Method: a relay with 20 K more in one reading of ninety.
#[test]
fn single_readings_far_away_change_no_verdict() {
    let mut log = Logged::new(7);
    log.log(1500, relay(346.0, 341.0, 0.35));
    let mut trace = log.trace_of(true, 1);
    let plain = analyze(&trace);
    let mut spiky = measure::Series::new();
    for (at, point) in trace.temperatures[0].kelvin.points().iter().enumerate() {
        spiky.push(point.t, point.value + if at % 90 == 45 { 20.0 } else { 0.0 });
    }
    trace.temperatures[0].kelvin = spiky;
    trace.trust_a_sensor();
    let findings = analyze(&trace);
    assert_eq!(findings.policy.class, plain.policy.class);
    assert_eq!(heat(&findings).len(), heat(&plain).len());
    assert!(findings.caveats.iter().any(|c| matches!(c, Caveat::SensorSpikes { readings: 16 | 17, .. })));
}

/// Goal: in a log of a day a throttle that takes a few percent from a row, only when the drive is hottest, is seen. Method: a relay of
/// seconds in a room that swings, in rows of 30 and 60 s.
#[test]
fn a_throttle_of_seconds_is_seen_in_rows_of_a_minute() {
    for (seed, row_s, off_k) in
        [(1, 60, 343.0), (2, 60, 342.0), (3, 30, 343.0), (4, 30, 344.0), (5, 60, 341.5)]
    {
        let mut log = Logged::new(seed);
        for hour in 0..8 {
            log.heats_k = if hour % 2 == 0 { 31.0 } else { 34.5 };
            log.log(3600, relay(345.0, off_k, 0.4));
        }
        let findings = analyze(&log.trace_of(true, row_s));
        assert_ne!(findings.policy.class, PolicyClass::None, "rows of {row_s} s: {:?}", findings.policy);
        assert_eq!(denied(&findings), 0, "rows of {row_s} s: {:#?}", findings.events.first());
    }
}

/// Goal: a host that lets a drive cool down is no thermostat. Method: loads of other lengths that are slowed down once, and pauses of
/// minutes after them.
#[test]
fn a_pause_in_which_a_drive_comes_to_rest_is_no_stop_of_its_own() {
    for (seed, load_s, pause_s) in [(1, 500, 420), (2, 600, 600), (3, 450, 360), (4, 700, 500), (5, 520, 480)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 42.0;
        log.log(60, |_, _| 0.0);
        for nth in 0..4 {
            log.log(load_s + 45 * nth, relay(343.0, 320.0, 0.85));
            log.log(pause_s + 30 * nth, |_, _| 0.0);
        }
        let findings = analyze(&log.trace_of(true, 1));
        assert_ne!(findings.policy.class, PolicyClass::Stop);
        let released = findings.policy.release_k.is_some_and(|k| k < 325.0);
        assert!(!released, "loads of {load_s} s: {:?}", findings.policy);
    }
}
