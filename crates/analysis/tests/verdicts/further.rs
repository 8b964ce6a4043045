//! What a reading, a pause or another fall hides of a throttle, and what shows it all the same.

use analysis::analyze;
use analysis::findings::{Cause, Caveat, EventKind, PolicyClass, SegmentOp};
use measure::Series;
use measure::record::ThermalSettings;
use trace::caveat::SlowdownSeen;
use trace::{SpeedSeries, Trace};

use crate::logs::{Logged, heat, relay, sure_heat};

/// A throttle that never lets go: the share of full speed that is left, from a temperature on.
fn latched(on_k: f64, share: f64) -> impl FnMut(usize, f64) -> f64 {
    relay(on_k, 0.0, share)
}

pub(crate) fn with_tmt(mut trace: Trace, tmt1_k: f64, tmt2_k: f64) -> Trace {
    let set = ThermalSettings { tmt1_k: Some(tmt1_k as u16), tmt2_k: Some(tmt2_k as u16), power_state: None };
    trace.settings.push(trace::instant(0.0), set);
    trace
}

/// Goal: a temperature that is read more rarely than speed falls, and is the same each time, is that of the falls. Method: a relay of a kelvin,
/// whose cycles are shorter than the readings are apart.
#[test]
fn rare_readings_that_agree_are_those_of_each_fall() {
    for (seed, on_k, share, every) in [
        (1, 350.0, 0.2, 10),
        (2, 345.0, 0.3, 12),
        (3, 356.0, 0.15, 15),
        (4, 348.0, 0.25, 10),
        (5, 361.0, 0.2, 20),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 1.5 * (on_k - 312.0);
        log.log(1200, relay(on_k, on_k - 1.0, share));
        let mut trace = log.trace_of(true, 1);
        let sensor = &mut trace.temperatures[0].kelvin;
        *sensor = sensor.points().iter().step_by(every).fold(Series::new(), |mut rare, point| {
            rare.push(point.t, point.value);
            rare
        });
        let findings = analyze(&trace);
        let (policy, found) = (&findings.policy, sure_heat(&findings));
        assert!(found.len() >= 10, "every {every} s at {on_k} K: {policy:?}, {:?}", findings.events);
        assert!(policy.onset_k.is_some_and(|k| (k - on_k).abs() <= 1.5), "at {on_k} K: {policy:?}");
    }
}

/// A load that runs until the drive is as hot as `stop_k` each time, and goes on when it is as cool as `go_k`; after `rest` seconds it
/// pauses by itself for a minute or two.
fn stopping(stop_k: f64, go_k: f64, rest: usize) -> impl FnMut(usize, f64) -> f64 {
    let mut stopped = false;
    move |second, kelvin| {
        stopped = kelvin >= if stopped { go_k } else { stop_k };
        let rests = (rest..rest + 90).contains(&second);
        if stopped || rests { 0.0 } else { 1.0 }
    }
}

/// Goal: where nobody knows what was asked for, loads that end at one temperature however long they lasted do not show that nothing throttles.
/// Method: drives that stop to cool; and a host that pauses by the clock, whose loads end wherever they have got to, or come to rest.
#[test]
fn loads_that_end_as_hot_however_long_they_last_leave_a_policy_open() {
    for (seed, stop_k, go_k, heats_k) in [
        (1, 350.0, 341.0, 70.0),
        (2, 346.0, 336.0, 62.0),
        (3, 355.0, 343.0, 90.0),
        (4, 352.0, 345.0, 76.0),
        (5, 345.0, 333.0, 66.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        log.log(700, stopping(stop_k, go_k, 300));
        log.log(60, |_, _| 0.0);
        let findings = analyze(&log.trace_of(true, 1));
        let policy = &findings.policy;
        assert!(
            matches!(policy.class, PolicyClass::Undetermined | PolicyClass::Stop),
            "stops at {stop_k} K: {policy:?}, {:?}",
            findings.events
        );
    }
    for (seed, loads_s, pause_s) in [(1, [400, 150, 300], 200), (2, [900, 1500, 1200], 300)] {
        let mut log = Logged::new(seed);
        log.heats_k = 48.0;
        for load_s in loads_s {
            log.log(load_s, |_, _| 1.0);
            log.log(pause_s, |_, _| 0.0);
        }
        let findings = analyze(&log.trace_of(true, 1));
        let alike =
            |caveat: &Caveat| matches!(caveat, Caveat::PolicyUndetermined { seen: SlowdownSeen::EndedAlike });
        assert!(!findings.caveats.iter().any(alike), "{loads_s:?}: {:?}", findings.policy);
    }
}

/// Goal: what cools a drive that is slower still says nothing of the throttle before. Method: a throttle, and long after it work of another kind
/// that leaves hardly anything and lasts to the end.
#[test]
fn cooling_after_a_further_fall_does_not_clear_the_first() {
    for (seed, on_k, left, further, after_s) in [
        (1, 346.0, 0.62, 0.1, 700),
        (2, 349.0, 0.7, 0.08, 500),
        (3, 344.0, 0.55, 0.06, 900),
        (4, 352.0, 0.66, 0.12, 600),
        (5, 348.0, 0.58, 0.05, 800),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 1.25 * (on_k - 312.0);
        let mut throttle = latched(on_k, left);
        log.log(after_s, &mut throttle);
        log.log(1500, |_, _| further);
        let findings = analyze(&log.trace_of(true, 1));
        let first = findings.events.first().expect("it fell");
        assert!(
            first.cause != Cause::NotThermal || first.confidence < 0.7,
            "at {on_k} K: {first:?}, {:?}",
            findings.policy
        );
        assert_ne!(findings.policy.class, PolicyClass::None, "at {on_k} K: {:?}", findings.events);
    }
}

/// Goal: one step to one speed is no regulator, however long the rows are, and whatever comes and goes beside it. Method: TMT1 reached within a
/// row; with dips of the host's as well.
#[test]
fn a_step_within_a_long_row_is_no_regulator() {
    for (seed, tmt1_k, left, row_s, dips) in [
        (1, 341.0, 0.48, 10, false),
        (2, 327.0, 0.82, 30, false),
        (3, 353.0, 0.78, 10, false),
        (4, 335.0, 0.6, 60, false),
        (5, 330.0, 0.72, 4, true),
        (6, 345.0, 0.7, 2, true),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 1.2 * (tmt1_k - 312.0);
        let mut throttle = latched(tmt1_k, left);
        let lengths = [(97, 12), (70, 14), (110, 12), (60, 28), (130, 12), (75, 14), (160, 12)];
        for (even, dip) in lengths.into_iter().cycle().take(14) {
            log.log(even, &mut throttle);
            log.log(if dips { dip } else { 0 }, |second, kelvin| throttle(second, kelvin).min(0.23));
        }
        let findings = analyze(&with_tmt(log.trace_of(true, row_s), tmt1_k, tmt1_k + 15.0));
        let policy = &findings.policy;
        assert!(!heat(&findings).is_empty(), "rows of {row_s} s at {tmt1_k} K: {:?}", findings.events);
        assert!(
            policy.class != PolicyClass::Regulator && !policy.also.contains(&PolicyClass::Regulator),
            "rows of {row_s} s at {tmt1_k} K: {policy:?}"
        );
    }
}

/// Goal: a drive that has a threshold of its own above TMT1 shows how that works, though TMT1 was met once and holds on. Method: both are relays, and
/// the drive never cools below TMT1.
#[test]
fn how_the_drives_own_threshold_works_is_told_beside_tmt1_that_holds_on() {
    for (seed, tmt1_k, own_k, light, heavy, heats_k) in [
        (1, 347.0, 353.0, 0.7, 0.3, 78.0),
        (2, 343.0, 348.0, 0.75, 0.35, 66.0),
        (3, 350.0, 356.0, 0.72, 0.25, 84.0),
        (4, 340.0, 346.0, 0.8, 0.4, 60.0),
        (5, 345.0, 351.0, 0.7, 0.35, 78.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let (mut host, mut own) = (latched(tmt1_k, light), relay(own_k, own_k - 3.0, heavy));
        log.log(1500, |second, kelvin| host(second, kelvin).min(own(second, kelvin)));
        let mut trace = with_tmt(log.trace_of(true, 1), tmt1_k, own_k + 20.0);
        let counted = trace.temperatures[0].kelvin.points().iter().scan(false, |met, point| {
            *met |= point.value >= tmt1_k;
            Some((point.t, u64::from(*met)))
        });
        for (t, tmt1) in counted.collect::<Vec<_>>() {
            let none = trace::Counters { tmt2_transitions: Some(0), ..trace::Counters::default() };
            trace.counters.push(t, trace::Counters { tmt1_transitions: Some(tmt1), ..none });
        }
        let findings = analyze(&trace);
        let policy = &findings.policy;
        let causes: Vec<Cause> = policy.levels.iter().map(|level| level.cause).collect();
        let of = format!("{tmt1_k} and {own_k} K: {policy:?}, {:?}", heat(&findings));
        assert_eq!(policy.class, PolicyClass::Vendor, "{of}");
        assert!(causes.contains(&Cause::HctmTmt1) && causes.contains(&Cause::Vendor), "{of}");
        assert!(!policy.also.is_empty() && policy.confidence >= 0.7, "{of}");
    }
}

/// Goal: a load that is as fast as it was on a cool drive is not slowed down, whatever slowed the one before it. Method: reads, writes that are
/// throttled, and the same reads at once after them.
#[test]
fn a_load_as_fast_as_on_a_cool_drive_is_not_throttled() {
    for (seed, on_k, left, heats_k) in [
        (1, 346.0, 0.55, 68.0),
        (2, 341.0, 0.5, 62.0),
        (3, 352.0, 0.6, 80.0),
        (4, 348.0, 0.45, 70.0),
        (5, 344.0, 0.65, 66.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let reads_share = 0.93 * (on_k - 312.0) / heats_k;
        log.log(400, |_, _| reads_share);
        log.log(200, |_, _| 0.0);
        log.log(700, latched(on_k, left));
        log.log(400, |_, _| reads_share);
        let mut trace = log.trace_of(true, 1);
        let mut reads = trace.speeds[0].clone();
        let mut writes = SpeedSeries { op: SegmentOp::Write, ..reads.clone() };
        for row in 0..reads.intervals.len() {
            let none = if (600..1300).contains(&row) { &mut reads } else { &mut writes };
            none.intervals[row].bytes = 0.0;
        }
        trace.speeds = vec![reads, writes];
        trace::infer_phases(&mut trace);
        let findings = analyze(&with_tmt(trace, on_k, on_k + 15.0));
        let late = findings.events.iter().filter(|event| event.t_s >= 1299.0);
        let blamed: Vec<_> = late.filter(|event| event.kind == EventKind::ThrottleOnset).collect();
        assert!(!heat(&findings).is_empty(), "at {on_k} K: {:?}", findings.events);
        assert!(blamed.is_empty(), "at {on_k} K: {blamed:?}");
    }
}

/// Goal: a pause in which the drive counts no throttling is the host's, however hot it began; and that the drive counted some leaves open how it is
/// slowed down, where rows hide its cycles. Method: relays of some seconds in rows of 15 to 30 s, beside a host that rests.
#[test]
fn a_pause_without_counted_seconds_is_no_throttle_and_counted_ones_are_not_none() {
    for (seed, tmt1_k, left, row_s, load_s, rest_s) in [
        (1, 342.0, 0.45, 30, 170, 90),
        (2, 350.0, 0.5, 20, 200, 80),
        (3, 338.0, 0.4, 15, 150, 75),
        (4, 355.0, 0.5, 30, 210, 120),
        (5, 346.0, 0.55, 20, 180, 100),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 1.45 * (tmt1_k - 312.0);
        let mut host = relay(tmt1_k, tmt1_k - 1.0, left);
        let mut slow: Vec<bool> = Vec::new();
        for _ in 0..3 {
            log.log(load_s, |second, kelvin| {
                let share = host(second, kelvin);
                slow.push(share < 1.0);
                share
            });
            log.log(rest_s, |_, _| 0.0);
            slow.extend(std::iter::repeat_n(false, rest_s));
        }
        let mut trace = with_tmt(log.trace_of(true, row_s), tmt1_k, tmt1_k + 15.0);
        let (mut transitions, mut seconds, mut before) = (0, 0, false);
        for (second, slow) in slow.iter().enumerate() {
            transitions += u64::from(*slow && !before);
            seconds += u64::from(*slow);
            before = *slow;
            if (second + 1) % row_s == 0 {
                let counted = trace::Counters {
                    tmt1_transitions: Some(transitions),
                    tmt1_seconds: Some(seconds),
                    tmt2_transitions: Some(0),
                    tmt2_seconds: Some(0),
                };
                trace.counters.push(trace::instant(second as f64), counted);
            }
        }
        let findings = analyze(&trace);
        let policy = &findings.policy;
        let of = format!("rows of {row_s} s at {tmt1_k} K: {policy:?}, {:?}", heat(&findings));
        let stopped = findings.events.iter().filter(|event| event.strength.is_some_and(|left| left < 0.1));
        assert!(stopped.clone().all(|event| event.kind != EventKind::ThrottleOnset), "{of}");
        assert!(!matches!(policy.class, PolicyClass::None | PolicyClass::Stop), "{of}");
    }
}
