//! Loads that ask for ever other speeds while a drive throttles, and what a throttle shows of itself all the same.

use analysis::analyze;
use analysis::findings::{Cause, PolicyClass, SegmentOp};
use measure::Series;
use trace::{Counters, Phase, Trace};

use crate::further::with_tmt;
use crate::logs::{Logged, heat, regulator, relay};

/// What a host asks for, second by second: any share of full speed for a while, in turn with all of it.
fn asked(log: &mut Logged, seconds: usize) -> Vec<f64> {
    let mut asked = Vec::with_capacity(seconds);
    while asked.len() < seconds {
        let (share, for_s) = (0.25 + 0.65 * log.random(), 50.0 + 100.0 * log.random());
        asked.extend(std::iter::repeat_n(share, for_s as usize));
        let for_s = 80.0 + 140.0 * log.random();
        asked.extend(std::iter::repeat_n(1.0, for_s as usize));
    }
    asked.truncate(seconds);
    asked
}

/// Goal: a throttle that takes whatever is asked for down to one speed from one temperature on is not cleared by a host's own steps. Method: a
/// relay that caps loads which ask for more and for less.
#[test]
fn a_cap_at_one_temperature_shows_whatever_was_asked_for() {
    for (seed, on_k, off_k, cap, heats_k) in [
        (1, 341.0, 336.0, 0.4, 48.0),
        (2, 343.0, 337.0, 0.38, 50.0),
        (3, 339.0, 335.0, 0.31, 46.0),
        (4, 345.0, 340.0, 0.45, 54.0),
        (5, 342.0, 338.0, 0.35, 50.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let asked = asked(&mut log, 2400);
        let mut throttle = relay(on_k, off_k, cap);
        log.log(2400, |second, kelvin| asked[second].min(throttle(second, kelvin)));
        let findings = analyze(&log.trace_of(true, 1));
        let there = |kelvin: Option<f64>| kelvin.is_some_and(|k| (k - on_k).abs() <= 1.5);
        let denied = findings
            .events
            .iter()
            .filter(|event| {
                event.cause == Cause::NotThermal
                    && there(event.temp_k)
                    && event.strength.is_some_and(|left| (left / cap - 1.0).abs() < 0.05)
            })
            .count();
        let found = heat(&findings).len();
        assert!(
            found > 2 * denied,
            "cap {cap} at {on_k} K: {found} found, {denied} denied: {:?}",
            findings.policy
        );
        assert_ne!(findings.policy.class, PolicyClass::None, "cap {cap} at {on_k} K: {:?}", findings.events);
    }
}

/// Loads with rests between, on a drive that throttles at TMT2 from the end of the first one on, and counts the seconds.
fn counted_loads(seed: u64, tmt2_k: f64, off_k: f64, share: f64, loads: usize) -> Trace {
    let mut log = Logged::new(seed);
    log.heats_k = 2.1 * (tmt2_k - 312.0);
    let (mut slow, mut counts) = (false, Vec::new());
    let mut phases = Vec::new();
    let mut at_s = 0;
    let mut part = |log: &mut Logged, seconds: usize, works: bool| {
        log.log(seconds, |_, kelvin| {
            slow = kelvin >= if slow { off_k } else { tmt2_k };
            counts.push(u64::from(slow && works));
            if !works {
                0.0
            } else if slow {
                share
            } else {
                1.0
            }
        });
    };
    for load in 0..loads {
        let (work_s, rest_s) = (if load == 0 { 45 } else { 40 }, 14);
        part(&mut log, work_s, true);
        part(&mut log, rest_s, false);
        phases.push(Phase::bare("read", SegmentOp::Read, at_s as f64, (at_s + work_s) as f64));
        phases.push(Phase::bare(
            "rest",
            SegmentOp::Idle,
            (at_s + work_s) as f64,
            (at_s + work_s + rest_s) as f64,
        ));
        at_s += work_s + rest_s;
    }
    let mut trace = log.trace_of(true, 1);
    let starts: Vec<f64> = phases.iter().map(|phase| phase.start_s).collect();
    trace.phases = phases;
    for row in &mut trace.speeds[0].intervals {
        row.phase = starts.iter().rposition(|start_s| *start_s <= row.start_s).unwrap_or(0) as u32;
    }
    let mut seconds = 0;
    trace.counters = counts.iter().enumerate().fold(Series::new(), |mut series, (at, more)| {
        seconds += more;
        let begun = u64::from(seconds > 0);
        let counted = Counters {
            tmt1_transitions: Some(0),
            tmt1_seconds: Some(0),
            tmt2_transitions: Some(begun),
            tmt2_seconds: Some(seconds),
        };
        series.push(trace::instant(at as f64), counted);
        series
    });
    with_tmt(trace, tmt2_k - 4.0, tmt2_k)
}

/// Goal: a load that begins slow, and that the drive counts as throttled from its first second to its last, is throttled, however far below the
/// threshold it begins. Method: one that sets in as the first load ends, and holds on over every rest.
#[test]
fn a_load_that_is_counted_throughout_is_throttled() {
    for (seed, tmt2_k, off_k, share) in [
        (1, 342.0, 322.0, 0.7),
        (2, 345.0, 323.0, 0.6),
        (3, 350.0, 324.0, 0.5),
        (4, 340.0, 321.0, 0.75),
        (5, 347.0, 325.0, 0.65),
    ] {
        let findings = analyze(&counted_loads(seed, tmt2_k, off_k, share, 9));
        let of_tmt2 = heat(&findings).iter().filter(|onset| onset.2 == Cause::HctmTmt2).count();
        assert!(of_tmt2 >= 6, "at {tmt2_k} K: {of_tmt2}, {:#?}", findings.events);
        assert_ne!(findings.policy.class, PolicyClass::None, "at {tmt2_k} K");
    }
}

/// Goal: a speed that stands while the drive warms up holds no temperature. Method: throttles that go down to one lower speed by and by.
#[test]
fn a_speed_that_stands_while_the_drive_warms_up_is_no_regulator() {
    for (seed, on_k, share, slew) in [
        (1, 337.0, 0.63, 0.04),
        (2, 333.0, 0.7, 0.03),
        (3, 345.0, 0.6, 0.05),
        (4, 341.0, 0.66, 0.02),
        (5, 350.0, 0.72, 0.03),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 2.6 * (on_k - 312.0);
        let (mut slow, mut now) = (false, 1.0f64);
        log.log(180, |_, kelvin| {
            slow |= kelvin >= on_k;
            now = if slow { (now - slew).max(share) } else { 1.0 };
            now
        });
        let findings = analyze(&log.trace_of(true, 1));
        assert!(!heat(&findings).is_empty(), "at {on_k} K: {:?}", findings.events);
        assert_ne!(findings.policy.class, PolicyClass::Regulator, "at {on_k} K: {:?}", findings.policy);
    }
}

/// Goal: where a regulated drive cools because less is asked of it, no throttle has let go. Method: jobs of other speeds on drives that hold a
/// temperature.
#[test]
fn a_host_that_asks_for_less_shows_no_release() {
    for (seed, hold_k, slew) in
        [(1, 337.0, 0.004), (2, 341.0, 0.003), (3, 339.0, 0.005), (4, 345.0, 0.003), (5, 343.0, 0.004)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 1.55 * (hold_k - 312.0);
        let mut held = regulator(hold_k, slew);
        let jobs =
            [(1.0, 500), (0.45, 400), (0.3, 200), (1.0, 420), (0.5, 300), (1.0, 500), (0.4, 300), (1.0, 450)];
        for (share, seconds) in jobs {
            log.log(seconds, |second, kelvin| held(second, kelvin).min(share));
        }
        let policy = analyze(&log.trace_of(true, 5)).policy;
        assert!(
            !matches!(policy.class, PolicyClass::Relay | PolicyClass::TwoLevel | PolicyClass::None),
            "held at {hold_k} K: {policy:?}"
        );
    }
}

/// Goal: rows that scatter because few I/Os complete in each are no bursts where the drive cools by several kelvins in each of two cycles. Method:
/// relays that leave next to nothing, in rows of which each holds a few large I/Os.
#[test]
fn two_cycles_of_scattered_rows_are_a_relay() {
    for (seed, on_k, off_k, share) in [
        (1, 357.0, 350.0, 0.06),
        (2, 350.0, 342.0, 0.05),
        (3, 346.0, 339.0, 0.08),
        (4, 361.0, 353.0, 0.05),
        (5, 353.0, 346.0, 0.07),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 1.3 * (on_k - 312.0);
        let draws: Vec<f64> = (0..900).map(|_| log.random()).collect();
        let mut throttle = relay(on_k, off_k, share);
        let (mut cycles, mut was) = (0, 1.0);
        log.log(900, |second, kelvin| {
            let left = throttle(second, kelvin);
            cycles += usize::from(left == 1.0 && was < 1.0);
            was = left;
            match cycles {
                _ if left == 1.0 => 1.0,
                _ => left * (0.5 + 1.0 * draws[second]),
            }
        });
        let findings = analyze(&log.trace_of(true, 1));
        assert!(cycles >= 2, "at {on_k} K: {cycles}");
        assert_ne!(
            findings.policy.class,
            PolicyClass::DutyCycled,
            "at {on_k} K: {:?}, {:#?}",
            findings.policy,
            heat(&findings)
        );
    }
}

/// Goal: a speed that sinks for minutes at a temperature that stands is a regulator's, however many falls of a host's there are at that
/// temperature. Method: levels that a host asks for by chance, and then all
/// that the drive gives, which a regulator holds back.
#[test]
fn a_fall_little_by_little_is_not_told_by_falls_at_once() {
    let mut regulated = 0;
    for (seed, hold_k, heats_k) in
        [(1, 344.0, 40.0), (2, 341.0, 36.0), (3, 347.0, 44.0), (4, 345.0, 42.0), (5, 342.5, 38.0)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let mut asked: Vec<f64> = Vec::new();
        while asked.len() < 1800 {
            let (level, for_s) = (0.1 + 0.6 * log.random(), 20.0 + 60.0 * log.random());
            asked.extend(std::iter::repeat_n(level, for_s as usize));
        }
        asked.truncate(1800);
        asked.resize(3300, 1.0);
        let mut held = regulator(hold_k, 0.003);
        log.log(3300, |second, kelvin| asked[second].min(held(second, kelvin)));
        let findings = analyze(&log.trace_of(true, 10));
        let onsets = heat(&findings);
        let at_once = onsets.iter().filter(|onset| onset.0 < 1800.0).count();
        assert_eq!(at_once, 0, "{hold_k} K: {onsets:?}");
        regulated += usize::from(findings.policy.class == PolicyClass::Regulator);
    }
    assert!(regulated >= 3, "{regulated} of 5");
}
