//! One profile a policy class, each with its known truth: what analysis is tested against.

mod logger;

use logger::{Second, demand, deviation, drive, ios, max_temp, mean, min_speed};
use measure::Seed;
use measure::record::Op;
use physics::profile::{Machine, Stairs};
use physics::{Drive, Profile, Source, TruthKind};

/// Relay: onset at the threshold, release below the hysteresis, speed one or the other.
#[test]
fn relay_swings_between_its_thresholds() {
    let mut drive = drive("relay", None);
    let log = ios(&mut drive, Op::Read, 900);
    assert!((min_speed(&log) / 300.0 - 1.0).abs() < 0.02);
    let mut events = 0;
    for event in drive.truth() {
        let (at, kind) = (event.temp_k, event.kind);
        match kind {
            TruthKind::ThrottleOnset(Source::HctmTmt1) => assert!((338.0..338.2).contains(&at), "{at}"),
            TruthKind::ThrottleRelease(Source::HctmTmt1) => assert!((333.8..334.0).contains(&at), "{at}"),
            other => panic!("{other:?}"),
        }
        events += 1;
    }
    assert!(events > 10, "{events}");
}

/// Stairs: speeds are whole numbers of steps, and each lets go below where it set in.
#[test]
fn stairs_go_down_and_up_again_step_by_step() {
    let mut profile = Profile::builtin("relay").expect("built in");
    let stairs = Stairs { step_share: 0.1, each_k: 2.0, floor_share: 0.5 };
    (profile.policy[0].machine, profile.policy[0].hysteresis_k) = (Machine::Stairs(stairs), 1.0);
    let mut drive = Drive::new(&profile, Seed::new(1));
    let hot = ios(&mut drive, Op::Read, 900);
    let full = hot[10].mb_per_s;
    let stands =
        |log: &[Second], share: f64| log.iter().any(|s| (s.mb_per_s / full / share - 1.0).abs() < 0.005);
    for steps in 0..=2 {
        assert!(stands(&hot, 1.0 - 0.1 * f64::from(steps)), "{steps} steps");
    }
    assert!(!stands(&hot, 0.95), "between two steps");
    // 338 K: on at 338 and 340, off again at 337 and 339.
    let set_in = hot.iter().position(|s| s.mb_per_s < 0.95 * full).expect("it throttles");
    assert!((hot[set_in].exact_c - 64.85).abs() < 0.3, "{}", hot[set_in].exact_c);
}

#[test]
fn two_level_goes_light_then_heavy_then_free() {
    let mut drive = drive("two-level", None);
    ios(&mut drive, Op::Read, 600);
    let kinds: Vec<_> = drive.truth().iter().take(3).map(|event| event.kind).collect();
    let expected = [
        TruthKind::ThrottleOnset(Source::HctmTmt1),
        TruthKind::ThrottleOnset(Source::HctmTmt2),
        TruthKind::ThrottleRelease(Source::HctmTmt2),
    ];
    assert_eq!(kinds, expected);
    let counters = drive.hctm_counters();
    assert!(counters.tmt1_seconds > 0 && counters.tmt2_seconds > 0, "{counters:?}");
}

/// Regulated speed: B = (Tset - Ta - R P0) / (R e), whatever the capacities are.
#[test]
fn regulator_settles_at_the_closed_form() {
    let mut drive = drive("regulator", None);
    let log = ios(&mut drive, Op::Read, 1200);
    let after = &log[900..];
    // Set 337 K, ambient 30 °C, R 12.5 K/W, idle 1.2 W, 1.2 J/GB.
    let expected = 1e3 * (337.0 - 303.15 - 12.5 * 1.2) / (12.5 * 1.2);
    assert!((mean(after) / expected - 1.0).abs() < 0.01, "{} {expected}", mean(after));
    assert!(deviation(after) < 0.02 * expected, "{}", deviation(after));
    assert!(max_temp(&log) <= 65.0, "{}", max_temp(&log));
}

/// The same mean in bursts, which 1 s sampling sees as a wobble.
#[test]
fn duty_cycled_settles_at_the_same_mean_and_wobbles() {
    let mut drive = drive("duty-cycled", None);
    let log = ios(&mut drive, Op::Read, 1200);
    let after = &log[900..];
    let expected = 1e3 * (337.0 - 303.15 - 12.5 * 1.2) / (12.5 * 1.2);
    assert!((mean(after) / expected - 1.0).abs() < 0.02, "{} {expected}", mean(after));
    assert!(deviation(after) > 0.08 * expected, "{}", deviation(after));
}

#[test]
fn vendor_acts_whatever_is_set_and_moves_no_counter() {
    for tmt in [None, Some((40, 50)), Some((80, 85))] {
        let mut drive = drive("vendor", tmt);
        let log = ios(&mut drive, Op::Read, 600);
        assert_eq!(drive.truth().len(), 1);
        assert_eq!(drive.truth()[0].kind, TruthKind::ThrottleOnset(Source::Vendor));
        assert!((348.0..348.2).contains(&drive.truth()[0].temp_k));
        assert_eq!(drive.hctm_counters(), physics::HctmCounters::default());
        assert!((mean(&log[400..]) / 2200.0 - 1.0).abs() < 0.01);
    }
}

#[test]
fn stop_moves_nothing_until_it_has_cooled() {
    let mut drive = drive("stop", None);
    let log = ios(&mut drive, Op::Read, 600);
    let stopped = log.iter().filter(|s| s.mb_per_s == 0.0).count();
    assert!(stopped >= 5, "{stopped}");
    let onset = drive.truth().iter().find(|e| matches!(e.kind, TruthKind::ThrottleOnset(_)));
    assert!((351.0..351.2).contains(&onset.expect("stops").temp_k));
    let release = drive.truth().iter().find(|e| matches!(e.kind, TruthKind::ThrottleRelease(_)));
    assert!((340.8..341.0).contains(&release.expect("goes on").temp_k));
}

/// The cliff comes after exactly the bytes of the cache, trimming gives them back, and heat has no part in it.
#[test]
fn slc_cliff_is_locked_to_bytes() {
    use physics::{Demand, Transfer};
    use std::time::Duration;
    let mut drive = drive("slc", None);
    let transfer = Transfer::sequential(Op::Write, 400 << 30);
    let start = drive.now();
    let mut written = 0.0;
    while drive.slc_free_bytes() != Some(0) {
        written += drive
            .advance_demand(drive.now() + Duration::from_millis(1), &Demand::Transfer(transfer.clone()))
            .write_bytes;
    }
    assert!((written / 80e9 - 1.0).abs() < 1e-3, "{written}");
    let cliff_s = drive.now().since(start).as_secs_f64();
    assert!((cliff_s - 50.0).abs() < 0.1, "80 GB at 1.6 GB/s: {cliff_s}");
    let after = logger::by_demand(&mut drive, &Demand::Transfer(transfer), 20);
    assert!((mean(&after) / 200.0 - 1.0).abs() < 1e-3);
    drive.trim(0, 400 << 30);
    assert_eq!(drive.slc_free_bytes(), Some(80_000_000_000));
    let again = demand(&mut drive, Op::Write, 10);
    assert!((mean(&again) / 1600.0 - 1.0).abs() < 1e-3);
    let throttled = |kind| matches!(kind, TruthKind::ThrottleOnset(_));
    assert!(!drive.truth().iter().any(|event| throttled(event.kind)));
}

/// Idle folding empties the cache at its rate.
#[test]
fn idle_empties_the_cache() {
    let mut drive = drive("slc", None);
    demand(&mut drive, Op::Write, 30);
    let before = drive.slc_free_bytes().expect("has one");
    logger::by_demand(&mut drive, &physics::Demand::Idle, 90);
    let freed = drive.slc_free_bytes().expect("has one") - before;
    // 60 s of the 90: it waits 30 s first.
    assert!((freed as f64 / (60.0 * 3e8) - 1.0).abs() < 0.02, "{freed}");
}
