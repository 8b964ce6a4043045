//! Several causes in one load, and loads of which little was seen.

use analysis::analyze;
use analysis::findings::{Label, PolicyClass, SegmentOp};

use crate::logs::{Logged, relay, sure_heat};
use crate::paused::of_writes;

/// Goal: what throttles later on makes no threshold of the end of a cache. Method: writes fall once and for good, and a relay of hotter
/// onset goes on from the lower speed.
#[test]
fn the_end_of_a_cache_before_a_relay_is_no_threshold() {
    for (seed, full_s, level, on_k) in
        [(1, 30, 0.5, 343.0), (2, 25, 0.52, 344.0), (3, 30, 0.46, 341.0), (4, 35, 0.55, 346.0)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 68.0;
        let mut throttle = relay(on_k, on_k - 4.0, 0.2);
        log.log(1500, |second, kelvin| if second < full_s { 1.0 } else { level * throttle(second, kelvin) });
        let findings = analyze(&of_writes(&log, 1));
        let of = format!("seed {seed}: {:?}, {:#?}", findings.policy, findings.events.first());
        let first = |onset: &&(f64, f64)| onset.0 < full_s as f64 + 5.0;
        assert!(!sure_heat(&findings).iter().any(|onset| first(&onset)), "{of}");
        assert!(sure_heat(&findings).len() >= 5, "{of}");
        let levels = findings.policy.levels.iter().filter_map(|level| level.onset_k);
        assert!(levels.into_iter().any(|k| (k - on_k).abs() < 2.0), "{of}");
    }
}

/// Goal: a drive that was only seen hot is not cleared, however short the load. Method: a log of 10 to 300 s that begins on a throttled drive.
#[test]
fn a_short_load_on_a_hot_drive_clears_nothing() {
    for (seed, seconds) in [(1, 12), (2, 30), (3, 55), (4, 70), (5, 300)] {
        let mut log = Logged::new(seed);
        log.heats_k = 60.0;
        log.log(900, |_, _| 0.75);
        log.begin_here();
        log.log(seconds, |_, _| 0.75);
        let findings = analyze(&log.trace_of(true, 1));
        let of = format!("{seconds} s: {:?}, {:?}", findings.policy, findings.segments);
        assert_eq!(findings.policy.class, PolicyClass::Undetermined, "{of}");
        assert!(findings.segments.iter().all(|segment| segment.label == Label::Constant), "{of}");
    }
}

/// Goal: what was not read clears nothing, and fragments of it are no policy. Method: the speeds of a throttled load from the beginning alone, and
/// from the beginning and the end.
#[test]
fn speeds_of_a_part_of_the_load_clear_nothing() {
    for (seed, parts) in [
        (1, [0..40, 0..0, 0..0]),
        (2, [0..60, 1480..1500, 0..0]),
        (3, [0..3, 0..0, 0..0]),
        (4, [0..60, 700..720, 1490..1500]),
    ] {
        let mut log = Logged::new(seed);
        log.log(1500, relay(343.0, 339.0, 0.4));
        let mut trace = log.trace_of(true, 1);
        let is_read = |start_s: f64| parts.iter().any(|part| part.contains(&(start_s as usize)));
        trace.speeds[0].intervals.retain(|interval| is_read(interval.start_s));
        trace::infer_phases(&mut trace);
        let findings = analyze(&trace);
        assert_ne!(findings.policy.class, PolicyClass::None, "{parts:?}: {:?}", findings.policy);
    }
}

/// Goal: a log in which nothing moves shows nothing about heat. Method: a drive that others heat up, its own speed zero throughout.
#[test]
fn a_log_without_a_load_clears_nothing() {
    let mut log = Logged::new(1);
    log.log(600, |_, _| 0.9);
    let mut trace = log.trace_of(true, 1);
    trace.speeds[0].intervals.iter_mut().for_each(|interval| interval.bytes = 0.0);
    trace::infer_phases(&mut trace);
    assert_eq!(analyze(&trace).policy.class, PolicyClass::Undetermined);
}

/// Goal: a load that is slow from its first to its last second on a drive that was much faster before did not run at full speed. Method: two
/// loads at one speed each, the second as fast as the first or a share of it.
#[test]
fn a_load_much_slower_than_another_is_not_at_full_speed() {
    for (seed, share) in [(1, 0.015), (2, 0.1), (3, 0.3), (4, 0.6), (5, 1.0)] {
        let mut log = Logged::new(seed);
        log.heats_k = 20.0;
        log.log(120, |_, _| 1.0);
        log.log(60, |_, _| 0.0);
        log.log(200, |_, _| share);
        let findings = analyze(&log.trace_of(true, 1));
        let last = findings.segments.iter().rfind(|segment| segment.op == SegmentOp::Read);
        let first = findings.segments.iter().find(|segment| segment.op == SegmentOp::Read);
        let of = format!("{share}: {:?}", findings.segments);
        assert_eq!(first.map(|segment| segment.label), Some(Label::FullSpeed), "{of}");
        let as_fast = last.map(|segment| segment.label) == Some(Label::FullSpeed);
        assert_eq!(as_fast, share == 1.0, "{of}");
        let said = serde_json::to_value(last).expect("a segment is JSON");
        assert_eq!(said["label"], if share == 1.0 { "full_speed" } else { "unknown" }, "{of}");
    }
}

/// Goal: a first threshold that is met once, as it never lets go, is one of two. Method: a light throttle that holds on and leaves the drive
/// heating, and a heavy relay some kelvins above it; of 150 drawn so, five of the 38 that were a relay's alone.
#[test]
fn a_threshold_that_holds_while_a_hotter_one_comes_and_goes_is_one_of_two() {
    for seed in [6, 17, 21, 22, 24] {
        let mut log = Logged::new(seed);
        let mut between = |low: f64, high: f64| low + (high - low) * log.random();
        let light_k = between(338.0, 352.0);
        let heavy_k = light_k + between(3.0, 8.0);
        let (light, heavy, hysteresis_k) = (between(0.6, 0.85), between(0.2, 0.4), between(2.0, 4.0));
        log.heats_k = 1.3 * (heavy_k - 312.0) / light;
        let (mut held, mut further) = (false, relay(heavy_k, heavy_k - hysteresis_k, heavy / light));
        log.log(1500, |second, kelvin| {
            held |= kelvin >= light_k;
            let share = further(second, kelvin);
            if held { light * share } else { 1.0 }
        });
        let policy = analyze(&of_writes(&log, 1)).policy;
        assert_eq!(policy.class, PolicyClass::TwoLevel, "{light_k} K and {heavy_k} K: {policy:?}");
        let onset_k = policy.onset_k.expect("it was met");
        assert!((onset_k - light_k).abs() <= 1.0, "{light_k} K: {onset_k}");
    }
}
