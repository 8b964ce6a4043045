//! Where a throttle ends and something of the host's begins, and what rows that are longer than a cycle show all the same.

use analysis::analyze;
use analysis::findings::{Cause, EventKind, Label, PolicyClass};
use measure::Series;
use measure::record::ThermalSettings;
use trace::caveat::SlowdownSeen;
use trace::{Counters, Trace, instant};

use crate::beside::is_open;
use crate::logs::{Logged, heat, relay};
use crate::paused::{named_heat, of_writes};

/// Goal: a throttle ends where speed leaves what the threshold leaves, though the host asks for less from then on. Method: a relay, and each time
/// after some cycles minutes of a load that is a little faster than its lower speed, which begin within a throttle.
#[test]
fn a_lighter_load_that_begins_within_a_throttle_is_parted_from_it() {
    for (seed, row_s, on_k, share, lighter) in [
        (1, 1, 341.0, 0.24, 0.35),
        (2, 2, 344.0, 0.2, 0.3),
        (3, 1, 347.0, 0.3, 0.42),
        (4, 2, 343.0, 0.26, 0.36),
        (5, 1, 350.0, 0.22, 0.4),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = on_k - 285.0;
        let mut throttle = relay(on_k, on_k - 8.0, share);
        let (mut began, mut was_slow, mut lighter_s, mut slow_s) = (Vec::new(), false, 0, 0.0);
        log.log(3000, |second, kelvin| {
            let left = throttle(second, kelvin);
            slow_s += if left < 1.0 { 1.0 } else { 0.0 };
            if left < 1.0 && !was_slow {
                began.push(second as f64);
            }
            was_slow = left < 1.0;
            // A few seconds into every fifth throttle.
            if left < 1.0 && began.len() % 5 == 0 && second as f64 - began[began.len() - 1] >= 3.0 {
                lighter_s = 300;
            }
            lighter_s = usize::saturating_sub(lighter_s, 1);
            if lighter_s > 0 { left.min(lighter) } else { left }
        });
        // What begins with the log's last row shows nothing.
        began.retain(|t_s| *t_s < 2990.0);
        let findings = analyze(&of_writes(&log, row_s));
        let named = named_heat(&findings);
        let missed: Vec<f64> =
            began.iter().copied().filter(|t_s| !named.iter().any(|n_s| (n_s - t_s).abs() <= 4.0)).collect();
        assert!(missed.is_empty() && began.len() >= 10, "{on_k} K: {missed:?} of {began:?}");
        assert!(named.len() <= began.len(), "{on_k} K: {named:?}, and in truth {began:?}");
        let throttled = findings.segments.iter().filter(|segment| segment.label == Label::Throttled);
        let told_s: f64 = throttled.map(|segment| segment.end_s - segment.start_s).sum();
        assert!(told_s <= 1.3 * slow_s, "{on_k} K: {told_s} s, and in truth {slow_s} s");
    }
}

/// Goal: jobs by the clock are no threshold, though each ends at one temperature. Method: jobs of one length, of which the first begins on a
/// cooler drive and is later at every temperature on its way.
#[test]
fn jobs_of_one_length_from_a_cooler_drive_are_no_threshold() {
    for (seed, row_s, heats_k, job_s, period_s, share) in [
        (1, 5, 22.0, 255, 600, 0.066),
        (2, 5, 24.0, 270, 600, 0.05),
        (3, 5, 20.0, 240, 540, 0.08),
        (4, 3, 25.0, 300, 660, 0.06),
        (5, 5, 21.0, 225, 480, 0.04),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        log.log(12 * period_s, |second, _| if second % period_s < job_s { 1.0 } else { share });
        let findings = analyze(&of_writes(&log, row_s));
        assert!(named_heat(&findings).is_empty(), "{job_s} of {period_s} s: {:#?}", findings.policy);
        assert_eq!(
            findings.policy.class,
            PolicyClass::None,
            "{job_s} of {period_s} s: {:#?}",
            findings.policy
        );
    }
}

/// A drive throttled at TMT1 while `slow` says so, with its counters in each row.
fn with_counters(log: &Logged, row_s: usize, slow: &[bool], tmt1_k: u16) -> Trace {
    let mut trace = log.trace_of(true, row_s);
    trace.settings.push(
        instant(0.0),
        ThermalSettings { tmt1_k: Some(tmt1_k), tmt2_k: Some(tmt1_k + 12), power_state: None },
    );
    let mut counters = Series::new();
    let (mut transitions, mut seconds) = (7, 100);
    for (second, now) in slow.iter().enumerate() {
        transitions += u64::from(*now && !(second > 0 && slow[second - 1]));
        seconds += u64::from(*now);
        if second % row_s == 0 {
            counters.push(
                instant(second as f64 + 0.5),
                Counters {
                    tmt1_transitions: Some(transitions),
                    tmt1_seconds: Some(seconds),
                    tmt2_transitions: Some(0),
                    tmt2_seconds: Some(0),
                },
            );
        }
    }
    trace.counters = counters;
    trace
}

/// Goal: what the drive counts as cycles is no regulator, though rows show one slow stretch. Method: a relay at TMT1 whose cycles are shorter
/// than a row.
#[test]
fn counted_cycles_are_a_relay_in_rows_that_average_them() {
    for (seed, row_s, tmt1_k, share) in
        [(1, 10, 341, 0.5), (2, 15, 344, 0.4), (3, 10, 347, 0.45), (4, 20, 343, 0.5), (5, 15, 350, 0.45)]
    {
        let on_k = f64::from(tmt1_k);
        let mut log = Logged::new(seed);
        log.heats_k = 1.7 * (on_k - 312.0);
        let mut throttle = relay(on_k, on_k - 1.0, share);
        let mut slow = Vec::new();
        log.log(3000, |second, kelvin| {
            let left = throttle(second, kelvin);
            slow.push(left < 1.0);
            left
        });
        let policy = analyze(&with_counters(&log, row_s, &slow, tmt1_k)).policy;
        assert_eq!(policy.class, PolicyClass::Relay, "{on_k} K, rows of {row_s} s: {policy:?}");
    }
}

/// Goal: less that is asked for while TMT1 acts is no threshold of the drive's own, as it stops counting and is as slow. Method: TMT1 leaves much,
/// the drive gets hotter all the same, and the host turns to a lighter load for minutes.
#[test]
fn less_that_is_asked_for_beyond_tmt1_is_no_threshold() {
    for (seed, row_s, tmt1_k, share, lighter) in [
        (1, 1, 343, 0.75, 0.3),
        (2, 2, 346, 0.8, 0.35),
        (3, 2, 341, 0.7, 0.25),
        (4, 1, 348, 0.75, 0.35),
        (5, 2, 344, 0.72, 0.3),
    ] {
        let on_k = f64::from(tmt1_k);
        let mut log = Logged::new(seed);
        log.heats_k = 1.6 * (on_k - 312.0);
        let mut throttle = relay(on_k, on_k - 3.0, share);
        let mut slow = Vec::new();
        let asked = |second: usize| if second % 900 < 620 { 1.0 } else { lighter };
        log.log(3600, |second, kelvin| {
            let left = throttle(second, kelvin);
            slow.push(left < 1.0);
            left.min(asked(second))
        });
        let findings = analyze(&with_counters(&log, row_s, &slow, tmt1_k));
        let own = heat(&findings).into_iter().filter(|onset| onset.2 == Cause::Vendor).count();
        assert_eq!(own, 0, "{on_k} K: {:#?}", heat(&findings));
    }
}

/// Goal: a load of which most was not read clears nothing, however much of the log was. Method: a drive that holds its speed, with a gap in the middle
/// of its load that is longer than what was read of it, and as long a rest that was read.
#[test]
fn a_load_that_is_mostly_unread_leaves_the_policy_open() {
    for (seed, from_s, to_s) in [(1, 150, 600), (2, 100, 480), (3, 240, 720), (4, 60, 420), (5, 200, 700)] {
        for gap in [true, false] {
            let mut log = Logged::new(seed);
            log.log(to_s + 200, |_, _| 0.6);
            log.log(400, |_, _| 0.0);
            let mut trace = of_writes(&log, 1);
            if gap {
                let within = |t_s: f64| (from_s as f64..to_s as f64).contains(&t_s);
                trace.speeds[0].intervals.retain(|interval| !within(interval.start_s));
                trace::infer_phases(&mut trace);
            }
            let findings = analyze(&trace);
            assert_eq!(
                is_open(&findings, SlowdownSeen::LoadUnread),
                gap,
                "{from_s} to {to_s} s: {:?}",
                findings.policy
            );
        }
    }
}

/// Goal: "none" is never said beside a drop of a hot drive that is hardly cleared. Method: drives at 75 to 80 °C that dip once, for a while.
#[test]
fn a_dip_of_a_hot_drive_that_is_hardly_cleared_leaves_the_policy_open() {
    for (seed, heats_k, share, lasts_s) in [
        (300, 38.0, 0.85, 60),
        (300, 41.0, 0.9, 60),
        (700, 41.0, 0.8, 20),
        (700, 44.0, 0.9, 120),
        (700, 44.0, 0.7, 20),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let from_s = seed as usize;
        log.log(900, |second, _| if (from_s..from_s + lasts_s).contains(&second) { share } else { 1.0 });
        let findings = analyze(&of_writes(&log, 1));
        let dip = findings.events.iter().find(|event| event.kind == EventKind::Dip);
        assert!(dip.is_some_and(|dip| dip.confidence < 0.8), "{share}: {:#?}", findings.events);
        assert_eq!(findings.policy.class, PolicyClass::Undetermined, "{share}: {:#?}", findings.policy);
    }
}
