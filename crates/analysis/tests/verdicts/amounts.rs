//! What goes by the amount that was moved, or by the place on the medium, and not by temperature: refilled caches, jobs of one size, drives that
//! fill up.

use analysis::analyze;
use analysis::findings::{Caveat, Event, EventKind, PolicyClass};
use trace::caveat::Unseen;

use crate::logs::{Logged, heat, relay, sure_heat};
use crate::of_kind;
use crate::paused::of_writes;

/// Goal: what falls once after more than any drive can cache is no full cache, and no size of one is told. Method: a load that goes on at half
/// speed after 7 TB and more, as with half of its link.
#[test]
fn no_drive_has_a_cache_of_many_terabytes() {
    for (seed, gb_per_s) in [(1, 5.8), (2, 7.0), (3, 11.2), (4, 6.5), (5, 9.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = 20.0;
        log.log(1200, |_, _| 1.0);
        log.log(1200, |_, _| 0.5);
        let mut trace = of_writes(&log, 1);
        let full = trace.speeds[0].intervals[600].bytes;
        trace.speeds[0].intervals.iter_mut().for_each(|row| row.bytes *= gb_per_s * 1e9 / full);
        let findings = analyze(&trace);
        assert_eq!(findings.slc_cache, None, "after {:.1} TB", 1.2 * gb_per_s);
        let surely = |event: &&Event| event.kind == EventKind::SlcExhausted && event.confidence >= 0.7;
        assert_eq!(findings.events.iter().find(surely), None);
    }
}

/// Goal: a cache that is full after one amount, again after each pause, is no threshold, though each filling ends at one temperature. Method:
/// pauses short enough to be a part of the load, on drives that never throttle.
#[test]
fn a_cache_that_is_refilled_in_pauses_is_no_threshold() {
    for (seed, row_s, fast_s, slow_s, pause_s, slow) in [
        (1, 5, 45, 70, 80, 0.28),
        (2, 1, 60, 90, 45, 0.2),
        (3, 2, 80, 60, 60, 0.35),
        (4, 1, 30, 50, 85, 0.15),
        (5, 5, 120, 100, 50, 0.3),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 36.0;
        for _ in 0..10 {
            log.log(fast_s, |_, _| 1.0);
            log.log(slow_s, |_, _| slow);
            log.log(pause_s, |_, _| 0.0);
        }
        let findings = analyze(&of_writes(&log, row_s));
        assert!(heat(&findings).is_empty(), "pauses of {pause_s} s: {:?}", heat(&findings));
        let full = of_kind(&findings, EventKind::SlcExhausted);
        assert!(full.len() >= 5, "pauses of {pause_s} s: {:?}", findings.events);
    }
}

/// Goal: jobs of one size, the first one from a cool drive, are no thermostat that stops the drive. Method: equal jobs and equal pauses, and a
/// thermostat whose first burst takes longer.
#[test]
fn jobs_of_one_size_are_no_stops_of_the_drive() {
    for (seed, row_s, job_s, pause_s) in
        [(1, 5, 31, 86), (2, 5, 43, 80), (3, 2, 36, 88), (4, 10, 62, 85), (5, 5, 52, 75)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 60.0;
        for _ in 0..30 {
            log.log(job_s, |_, _| 1.0);
            log.log(pause_s, |_, _| 0.0);
        }
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(sure_heat(&findings).is_empty(), "jobs of {job_s} s: {:?}", sure_heat(&findings));
        assert_ne!(findings.policy.class, PolicyClass::Stop, "jobs of {job_s} s: {:?}", findings.policy);

        let mut log = Logged::new(seed);
        log.heats_k = 56.0;
        log.log(3000, relay(350.0, 326.0, 0.0));
        let findings = analyze(&log.trace_of(true, row_s));
        assert_eq!(findings.policy.class, PolicyClass::Stop, "rows of {row_s} s: {:?}", findings.policy);
    }
}

/// Goal: what a drive loses as it fills up is no threshold. Method: speeds that sink from the first second on, in a straight line and ever
/// faster, on drives that come to rest meanwhile; and a regulator, which takes nothing before it begins.
#[test]
fn a_speed_that_sinks_from_its_first_second_on_follows_no_temperature() {
    for (seed, row_s, power, lost) in
        [(1, 1, 1, 0.5), (2, 5, 1, 0.45), (3, 1, 2, 0.5), (4, 2, 2, 0.45), (5, 5, 2, 0.4)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 50.0;
        log.log(1800, |second, _| 1.0 - lost * (second as f64 / 1800.0).powi(power));
        let findings = analyze(&of_writes(&log, row_s));
        assert!(sure_heat(&findings).is_empty(), "to the power of {power}: {:?}", findings.events);
        let regulator = findings.policy.class == PolicyClass::Regulator && findings.policy.confidence >= 0.7;
        assert!(!regulator, "to the power of {power}: {:?}", findings.policy);
    }
    for (seed, row_s) in [(6, 1), (7, 5)] {
        let mut log = Logged::new(seed);
        let mut share: f64 = 1.0;
        log.log(1800, |_, kelvin| {
            share = (share + 0.004 * (350.0 - kelvin)).clamp(0.2, 1.0);
            share
        });
        let findings = analyze(&of_writes(&log, row_s));
        assert!(!sure_heat(&findings).is_empty(), "rows of {row_s} s: {:?}", findings.events);
    }
}

/// Goal: a host that asks for ever other shares of what a hot drive can do is no relay, which has one lower speed. Method: lulls of any depth
/// and length, begun at the hottest, as a sensor of 5 K that is read once a minute shows them.
#[test]
fn lulls_of_any_depth_are_no_relay() {
    for (seed, step_k) in [(1, 5.0), (2, 5.0), (3, 2.0), (4, 5.0), (5, 1.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = 40.0;
        for _ in 0..14 {
            let (fast_s, slow_s) = (150.0 + 200.0 * log.random(), 30.0 + 90.0 * log.random());
            let depth = 0.35 + 0.5 * log.random();
            log.log(fast_s as usize, |_, _| 1.0);
            log.log(slow_s as usize, |_, _| depth);
        }
        let mut trace = log.trace_of(true, 5);
        crate::paused::in_steps(&mut trace, step_k);
        let findings = analyze(&trace);
        let relay = findings.policy.class == PolicyClass::Relay && findings.policy.confidence >= 0.7;
        assert!(!relay, "steps of {step_k} K: {:?}", findings.policy);
    }
}

/// Goal: quick cycles between two temperatures are a relay's. Method: relays of 3 and 4 K on drives that go through them in some ten seconds.
#[test]
fn quick_cycles_with_a_hysteresis_are_a_relays() {
    for (seed, row_s, on_k, off_k) in [(1, 2, 350.0, 346.5), (2, 1, 352.0, 349.0), (3, 2, 348.0, 344.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = 95.0;
        log.log(900, relay(on_k, off_k, 0.3));
        let findings = analyze(&log.trace_of(true, row_s));
        assert_eq!(findings.policy.class, PolicyClass::Relay, "{on_k} to {off_k} K: {:?}", findings.policy);
    }
}

/// Goal: no data counts as written "without reaching the end of the cache" that was written after a drop which lasted: that may be the end.
/// Method: writing that falls and stays slow.
#[test]
fn what_is_written_after_a_lasting_drop_does_not_speak_against_a_cache() {
    let mut log = Logged::new(3);
    log.heats_k = 20.0;
    log.log(300, |_, _| 1.0);
    log.log(1500, |_, _| 0.72);
    let trace = of_writes(&log, 1);
    let written: f64 = trace.speeds.iter().flat_map(|series| &series.intervals).map(|i| i.bytes).sum();
    let findings = analyze(&trace);
    let of_cache = findings.caveats.iter().find_map(|caveat| match caveat {
        Caveat::NotSeen { values } => values.iter().find_map(|value| match value {
            Unseen::SlcBytes { written_bytes, in_all_bytes, .. } => {
                assert!(
                    in_all_bytes.is_some_and(|all| (all / written - 1.0).abs() < 1e-9),
                    "{in_all_bytes:?}"
                );
                Some(*written_bytes)
            }
            _ => None,
        }),
        _ => None,
    });
    let share = of_cache.expect("no end was named") / written;
    assert!(share < 0.3, "{share}: {:?}", findings.segments);
}
