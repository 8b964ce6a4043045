//! A throttle and something else in one log: lighter loads, work of the drive's own, demand that swells and ebbs.

use analysis::analyze;
use analysis::findings::{Cause, EventKind, Findings, PolicyClass};
use trace::caveat::SlowdownSeen;
use trace::{Caveat, infer_phases};

use crate::logs::{Logged, heat, regulator, relay};
use crate::paused::{named_heat, of_writes};

pub(crate) fn is_open(findings: &Findings, wanted: SlowdownSeen) -> bool {
    let is_it = |caveat: &Caveat| matches!(caveat, Caveat::PolicyUndetermined { seen } if *seen == wanted);
    findings.caveats.iter().any(is_it)
}

/// Goal: less that is asked for while a regulator holds the temperature is no further throttling, and where the drive has cooled to by the end
/// of it is no release. Method: two loads that are held, each followed by minutes at a share of its speed.
#[test]
fn less_that_is_asked_of_a_regulated_drive_is_no_throttling() {
    for (seed, row_s, hold_k, heats_k, share) in [
        (1, 1, 346.0, 62.0, 0.25),
        (2, 5, 348.0, 70.0, 0.3),
        (3, 1, 351.0, 75.0, 0.2),
        (4, 2, 345.0, 58.0, 0.35),
        (5, 5, 353.0, 80.0, 0.3),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        for light_s in [400, 300] {
            log.log(700, regulator(hold_k, 0.004));
            log.log(light_s, |_, _| share);
        }
        log.log(500, regulator(hold_k, 0.004));
        let findings = analyze(&of_writes(&log, row_s));
        let lighter = |t_s: f64| [700.0, 1800.0].iter().any(|from_s| (t_s - from_s).abs() <= 10.0);
        let found = heat(&findings);
        assert!(!found.iter().any(|onset| lighter(onset.0)), "{hold_k} K: {found:#?}");
        assert!(found.len() >= 3, "{hold_k} K: {found:#?}");
        let far_below = |k: Option<f64>| k.is_some_and(|k| k < hold_k - 6.0);
        let releases = findings.events.iter().filter(|event| event.kind == EventKind::ThrottleRelease);
        let released: Vec<_> = releases.filter(|event| far_below(event.temp_k)).collect();
        assert!(released.is_empty(), "{hold_k} K: {released:#?}");
        assert!(!far_below(findings.policy.release_k), "{hold_k} K: {:?}", findings.policy);
    }
}

/// Goal: garbage collection beside a relay is told from it by the speeds that they leave. Method: a relay with one lower speed, and dips of some
/// seconds at any moment to any other speed; named heat is the relay's, but for one dip at most. Dips that lead on into the relay's cycle are left out.
#[test]
fn collection_beside_a_relay_leaves_other_speeds() {
    for (seed, on_k, off_k, share) in [
        (1, 341.0, 336.0, 0.24),
        (2, 342.0, 337.0, 0.28),
        (3, 347.0, 343.0, 0.3),
        (4, 344.0, 339.0, 0.32),
        (5, 346.0, 342.0, 0.26),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 58.0;
        let mut throttle = relay(on_k, off_k, share);
        let (mut began, mut is_slow, mut dips) = (Vec::new(), false, Vec::new());
        let (mut left_s, mut level, mut random) = (0, 1.0, seed);
        log.log(3600, |second, kelvin| {
            let slowed = throttle(second, kelvin);
            if slowed < 1.0 && !is_slow {
                began.push(second as f64);
            }
            is_slow = slowed < 1.0;
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let drawn = (random >> 33) as f64 / f64::from(1_u32 << 31);
            if left_s == 0 && !is_slow && drawn < 0.025 {
                dips.push(second as f64);
                (left_s, level) = (7, 0.4 + 0.2 * drawn / 0.025);
            }
            left_s = usize::saturating_sub(left_s, 1);
            if left_s > 0 { slowed.min(level) } else { slowed }
        });
        let findings = analyze(&of_writes(&log, 1));
        let named = named_heat(&findings);
        let merges = |dip_s: f64| began.iter().any(|t_s| (0.0..12.0).contains(&(t_s - dip_s)));
        dips.retain(|dip_s| !merges(*dip_s));
        let near = |t_s: f64, of: &[f64]| of.iter().any(|at_s| (t_s - at_s).abs() <= 2.0);
        let wrong: Vec<f64> =
            named.iter().copied().filter(|t_s| near(*t_s, &dips) && !near(*t_s, &began)).collect();
        assert!(wrong.len() <= 1, "seed {seed}: {wrong:?} of {} dips", dips.len());
        let found = began.iter().filter(|t_s| near(**t_s, &named)).count();
        assert!(found * 10 >= began.len() * 9, "seed {seed}: {found} of {}", began.len());
    }
}

/// Goal: a temperature that stands at its highest while speed changes leaves the policy open. Method: days of a demand that swells and ebbs on
/// drives that hold a temperature, in a room that cools and warms up meanwhile; the same without a regulator, at which no policy is open.
#[test]
fn a_temperature_that_is_clipped_leaves_the_policy_open() {
    for (seed, row_s, hold_k, heats_k, room_k) in [
        (1, 30, 342.0, 44.0, 10.0),
        (2, 60, 345.0, 54.0, -14.0),
        (3, 30, 340.0, 42.0, 12.0),
        (4, 60, 347.0, 56.0, -14.0),
        (5, 30, 344.0, 48.0, 11.0),
    ] {
        for regulated in [true, false] {
            let mut log = Logged::new(seed);
            log.heats_k = heats_k;
            let mut held = 1.0f64;
            log.log(43_200, |second, kelvin| {
                let day = second as f64 / 43_200.0;
                let asked = 0.45 - 0.4 * (std::f64::consts::TAU * day).cos();
                let kelvin = kelvin + room_k * day;
                held = (held + 0.002 * (hold_k - kelvin)).min(asked + 0.02).max(0.05);
                if regulated { asked.min(held) } else { asked }
            });
            let mut trace = log.trace_of(true, row_s);
            let mut kelvin = measure::Series::new();
            for point in trace.temperatures[0].kelvin.points() {
                let day = point.t.as_secs_f64() / 43_200.0;
                kelvin.push(point.t, (point.value + room_k * day).round());
            }
            trace.temperatures[0].kelvin = kelvin;
            infer_phases(&mut trace);
            let findings = analyze(&trace);
            let class = findings.policy.class;
            let told = heat(&findings).is_empty() && !is_open(&findings, SlowdownSeen::Clipped);
            assert_eq!(
                told && class == PolicyClass::None,
                !regulated,
                "{hold_k} K, {regulated}: {:?} {:#?}",
                findings.policy,
                findings.caveats
            );
        }
    }
}

/// Goal: a second threshold that a slowed drive creeps up to is one, though the temperature hardly moved before. Method: drives that are slowed
/// down a little where they warm up to, and much at a few kelvins more, until they have cooled.
#[test]
fn a_second_threshold_that_is_crept_up_to_is_one() {
    for (seed, first_k, second_k, light, heats_k) in [
        (1, 343.0, 347.0, 0.8, 46.5),
        (2, 345.0, 349.0, 0.75, 52.5),
        (3, 341.0, 346.0, 0.7, 51.5),
        (4, 347.0, 351.0, 0.8, 51.0),
        (5, 344.0, 348.0, 0.7, 54.5),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let (mut lightly, mut heavily, mut fell) = (false, false, Vec::new());
        log.log(4000, |second, kelvin| {
            lightly = kelvin >= if lightly { first_k - 15.0 } else { first_k };
            let was = heavily;
            heavily = kelvin >= if heavily { first_k - 8.0 } else { second_k };
            if heavily && !was {
                fell.push(second as f64);
            }
            match (heavily, lightly) {
                (true, _) => 0.2,
                (false, true) => light,
                (false, false) => 1.0,
            }
        });
        let findings = analyze(&log.trace_of(true, 1));
        let denied = findings.events.iter().filter(|event| event.cause == Cause::NotThermal);
        let denied: Vec<f64> = denied.map(|event| event.t_s).collect();
        assert!(fell.len() >= 2 && denied.is_empty(), "{second_k} K, {fell:?}: {denied:?}");
    }
}
