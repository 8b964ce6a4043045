//! What a host does by a schedule, and what a thermostat makes of a load: in logs that do not say when load was asked for.

use analysis::analyze;
use analysis::findings::{Cause, Findings, PolicyClass};
use trace::{Counters, Trace};

use crate::logs::{Logged, heat, relay, sure_heat};
use crate::paused::in_steps;

/// Whether a policy is named with confidence.
pub(crate) fn named(findings: &Findings, class: PolicyClass) -> bool {
    findings.policy.class == class && findings.policy.confidence >= 0.8
}

/// Goal: a host that loads the drive by a timer is no thermostat, however hot the drive gets. Method: loads of one length from a cold drive
/// and from a warm one, with pauses in which it cools by up to 45 K.
#[test]
fn loads_of_one_length_from_cold_and_from_warm_are_no_stops_of_the_drive() {
    for (seed, row_s, load_s, pause_s, heats_k) in [
        (1, 1, 160, 88, 70.0),
        (2, 2, 100, 72, 50.0),
        (3, 5, 230, 115, 60.0),
        (4, 1, 174, 97, 40.0),
        (5, 5, 120, 60, 75.0),
        (6, 1, 340, 150, 66.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for _ in 0..9 {
            log.log(load_s, |_, _| 1.0);
            log.log(pause_s, |_, _| 0.0);
        }
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("{load_s} s and {pause_s} s of pause, {heats_k} K: {:?}", findings.policy);
        assert!(sure_heat(&findings).is_empty(), "{of}, {:?}", sure_heat(&findings));
        assert!(!named(&findings, PolicyClass::Stop) && !named(&findings, PolicyClass::Relay), "{of}");
    }
}

/// Goal: a job with a ladder of rates is no regulator. Method: steps of one length that the host makes on a drive which is warm at most.
#[test]
fn a_ladder_of_rates_is_no_regulator() {
    for (seed, row_s, step_s, rates, heats_k) in [
        (1, 1, 60, &[1.0, 0.8, 0.6, 0.4, 0.2][..], 24.0),
        (2, 2, 108, &[1.0, 0.9, 0.8, 0.7, 0.6, 0.5], 20.0),
        (3, 5, 150, &[1.0, 0.8, 0.6, 0.4, 0.2], 22.0),
        (4, 1, 90, &[1.0, 0.85, 0.7, 0.55, 0.4], 40.0),
        (5, 2, 240, &[1.0, 0.95, 0.9, 0.85, 0.8], 45.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for rate in rates {
            log.log(step_s, |_, _| *rate);
        }
        log.log(60, |_, _| 0.0);
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("steps of {step_s} s, {heats_k} K: {:?}", findings.policy);
        assert!(heat(&findings).is_empty(), "{of}, {:?}", heat(&findings));
        assert_ne!(findings.policy.class, PolicyClass::Regulator, "{of}");
    }
}

/// Stops the drive from one temperature on until it has cooled to another.
fn thermostat(on_k: f64, off_k: f64) -> impl FnMut(usize, f64) -> f64 {
    let mut stopped = false;
    move |_, kelvin| {
        stopped = kelvin >= if stopped { off_k } else { on_k };
        if stopped { 0.0 } else { 1.0 }
    }
}

/// Goal: a drive that stops for minutes until it has cooled is not cleared. Method: thermostats whose stops last from a minute to a quarter
/// of an hour, in rows of up to 30 s.
#[test]
fn stops_of_minutes_are_not_cleared() {
    for (seed, row_s, on_k, off_k, heats_k) in [
        (1, 1, 352.0, 332.0, 56.0),
        (2, 2, 350.0, 325.0, 60.0),
        (3, 5, 345.0, 320.0, 48.0),
        (4, 30, 348.0, 322.0, 50.0),
        (5, 10, 355.0, 318.0, 62.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        log.log(7200, thermostat(on_k, off_k));
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("{on_k} to {off_k} K, rows of {row_s} s: {:?}", findings.policy);
        assert_ne!(findings.policy.class, PolicyClass::None, "{of}");
        assert!(!heat(&findings).is_empty(), "{of}");
    }
}

/// A drive that falls to one lower speed, and stays there until it has cooled.
fn lower_speed(on_k: f64, off_k: f64, share: f64) -> impl FnMut(usize, f64, bool) -> f64 {
    let mut slow = false;
    move |_, kelvin, loaded| {
        slow = kelvin >= if slow { off_k } else { on_k };
        match (loaded, slow) {
            (false, _) => 0.0,
            (true, true) => share,
            (true, false) => 1.0,
        }
    }
}

/// Loads and pauses of a host, under a throttle that goes on through both.
fn with_pauses(
    log: &mut Logged,
    loads: &[(usize, usize)],
    mut throttle: impl FnMut(usize, f64, bool) -> f64,
) {
    for (load_s, pause_s) in loads {
        log.log(*load_s, |second, kelvin| throttle(second, kelvin, true));
        log.log(*pause_s, |second, kelvin| throttle(second, kelvin, false));
    }
}

/// Goal: a lower speed that stands while the drive warms up further is no regulator's, though the row in which a load ends holds some of the
/// pause. Method: one lower speed that heats the drive on, with rests that let it go, in rows in which loads end anywhere, and a sensor
/// of 2 K.
#[test]
fn a_lower_speed_that_stands_while_it_heats_is_no_regulators() {
    for (seed, row_s, on_k, share) in [
        (1, 5, 341.0, 0.75),
        (2, 5, 344.0, 0.8),
        (3, 2, 340.0, 0.7),
        (4, 5, 343.0, 0.72),
        (5, 4, 342.0, 0.78),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 62.0;
        with_pauses(&mut log, &[(433, 287); 5], lower_speed(on_k, on_k - 14.0, share));
        let mut trace = log.trace_of(true, row_s);
        in_steps(&mut trace, 2.0);
        let findings = analyze(&trace);
        assert!(!heat(&findings).is_empty(), "{on_k} K: {:#?}", findings.events);
        assert!(!named(&findings, PolicyClass::Regulator), "{on_k} K: {:?}", findings.policy);
    }
}

/// Goal: loads that stay slow from their first row on do not clear the drive, though that row is in part without load. Method: a throttle
/// that no pause lets go.
#[test]
fn a_row_that_is_in_part_without_load_hides_no_slow_beginning() {
    for (seed, row_s, pause_s, share) in
        [(1, 5, 63, 0.65), (2, 5, 42, 0.6), (3, 2, 71, 0.7), (4, 10, 55, 0.62), (5, 4, 66, 0.68)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 64.0;
        with_pauses(&mut log, &[(663, pause_s); 6], lower_speed(345.0, 318.0, share));
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(!named(&findings, PolicyClass::None), "pauses of {pause_s} s: {:?}", findings.policy);
    }
}

/// The same log with counters of TMT1 and TMT2 that stand still, and no temperature.
fn counters_alone(log: &Logged, row_s: usize) -> Trace {
    let mut trace = log.trace_of(false, row_s);
    let still = Counters { tmt1_transitions: Some(0), tmt2_transitions: Some(0), ..Counters::default() };
    let rows: Vec<f64> = trace.speeds[0].intervals.iter().map(|row| row.start_s).collect();
    rows.iter().for_each(|t_s| trace.counters.push(trace::instant(*t_s), still));
    trace
}

/// Goal: counters of TMT1 and TMT2 that stand still do not clear a drive whose temperature is not known: its own threshold they do not
/// count. Method: relays and single falls without a temperature.
#[test]
fn counters_that_stand_still_clear_no_heat_that_nobody_measured() {
    for (seed, row_s, share) in [(1, 1, 0.3), (2, 2, 0.5), (3, 1, 0.6), (4, 5, 0.4), (5, 1, 0.7)] {
        let mut log = Logged::new(seed);
        log.heats_k = 62.0;
        let mut throttle = lower_speed(348.0, 342.0, share);
        log.log(1200, |second, kelvin| throttle(second, kelvin, true));
        let findings = analyze(&counters_alone(&log, row_s));
        let cleared = findings.events.iter().filter(|event| event.cause == Cause::NotThermal).count();
        assert_eq!(cleared, 0, "{share}: {:#?}", findings.events);
    }
}

/// Goal: bursts of one length, the first from a cold drive too, are a job of the host and no relay; a threshold is reached later from cold.
/// Method: bursts by the clock over a slower load that goes on, and relays to the same speeds, in logs without phases.
#[test]
fn bursts_as_long_from_cold_as_from_warm_are_no_relay() {
    for (seed, row_s, burst_s, every_s, slow, heats_k) in [
        (1, 1, 47, 300, 0.17, 30.0),
        (2, 2, 90, 400, 0.3, 44.0),
        (3, 10, 120, 600, 0.25, 50.0),
        (4, 1, 130, 600, 0.16, 60.0),
        (5, 5, 60, 240, 0.4, 52.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for _ in 0..12 {
            log.log(burst_s, |_, _| 1.0);
            log.log(every_s - burst_s, |_, _| slow);
        }
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("{burst_s} s every {every_s} s, {heats_k} K: {:?}", findings.policy);
        assert!(heat(&findings).is_empty(), "{of}, {:?}", heat(&findings));
        assert!(!named(&findings, PolicyClass::Relay), "{of}");
    }
    for (seed, row_s, on_k, off_k, slow) in [
        (1, 1, 346.0, 338.0, 0.17),
        (2, 2, 348.0, 343.0, 0.3),
        (3, 5, 350.0, 341.0, 0.25),
        (4, 1, 345.0, 342.0, 0.4),
    ] {
        let mut log = Logged::new(seed);
        log.log(2400, relay(on_k, off_k, slow));
        let findings = analyze(&log.trace_of(true, row_s));
        let of = format!("on at {on_k} K, off at {off_k} K: {:?}", findings.policy);
        assert!(heat(&findings).len() >= 3 && named(&findings, PolicyClass::Relay), "{of}");
    }
}

/// Goal: work that a host begins by the clock is not heat because the drive warms up meanwhile: a threshold that somebody moved would be met
/// after another time. Method: every five minutes three quarters of the speed are gone for a while, on a drive that warms up slowly.
#[test]
fn a_clock_goes_on_while_a_drive_warms_up() {
    for (seed, period_s, slow_s, share, heats_k) in [
        (1, 300, 70, 0.65, 20.0),
        (2, 300, 90, 0.6, 16.0),
        (3, 600, 120, 0.5, 22.0),
        (4, 300, 60, 0.7, 18.0),
        (5, 600, 150, 0.65, 24.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let by_clock =
            |second: usize, _: f64| if second % period_s >= period_s - slow_s { share } else { 1.0 };
        log.log(24 * period_s, by_clock);
        let findings = analyze(&log.trace_of(true, 10));
        assert!(
            heat(&findings).is_empty(),
            "every {period_s} s: {:?} {:?}",
            findings.policy,
            heat(&findings)
        );
    }
}

/// Goal: a host's pauses beside a relay make no thermostat of it, however long they are. Method: a relay of short cycles, and a pause every ten
/// minutes.
#[test]
fn pauses_beside_a_relay_are_no_stops_of_the_drive() {
    for (seed, on_k, off_k, share) in [
        (1, 350.0, 346.0, 0.5),
        (2, 347.0, 343.5, 0.45),
        (3, 352.0, 347.0, 0.55),
        (4, 345.0, 341.0, 0.5),
        (5, 349.0, 346.0, 0.4),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 60.0;
        let mut throttle = relay(on_k, off_k, share);
        log.log(2400, |second, kelvin| {
            let speed = throttle(second, kelvin);
            if second % 600 >= 400 { 0.0 } else { speed }
        });
        let findings = analyze(&log.trace_of(true, 2));
        assert_ne!(findings.policy.class, PolicyClass::Stop, "{on_k} K: {:?}", findings.policy);
    }
}
