//! What one slowdown shows of another: the same speed, the same end, the same cause.

use analysis::findings::{EventKind, PolicyClass, SegmentOp};

use crate::drive::{Load, Policy, Setup};
use crate::{check_times, of_kind, run};

fn reading(seconds: f64) -> Vec<Load> {
    vec![Load { op: SegmentOp::Read, seconds }]
}

/// Goal: what a host's job left of the speed while the drive was cool, it leaves when the drive is hot, and is no heat then. Method: one job
/// in the first minutes, and the same one where the drive is hottest.
#[test]
fn a_job_that_was_seen_cool_is_known_again_when_it_is_hot() {
    for (share, room_k, read_gain) in [(0.66, 303.0, 16.0), (0.5, 303.0, 19.0), (0.8, 303.0, 17.0)] {
        let (findings, _) = run(&Setup {
            jobs: vec![(60.0, 150.0, share), (640.0, 760.0, share)],
            loads: reading(900.0),
            ambient_k: room_k,
            read_gain,
            ..Setup::default()
        });
        let heat = of_kind(&findings, EventKind::ThrottleOnset);
        assert!(heat.is_empty(), "to {share} at {room_k} K: {heat:?}");
    }
}

/// Goal: the same speed is no reason to take heat for a job. Method: a relay at its own threshold, in one run with a job that leaves another
/// speed.
#[test]
fn a_job_that_leaves_another_speed_acquits_no_threshold() {
    let (findings, truth) = run(&Setup {
        policies: vec![Policy::Relay { on: 350.0, off: 345.0, speed: 1.2 }],
        jobs: vec![(20.0, 60.0, 0.66)],
        loads: reading(900.0),
        read_gain: 18.0,
        ..Setup::default()
    });
    assert!(truth.onsets.len() > 3, "{truth:?}");
    check_times(&findings, &truth);
}

/// Goal: a relay whose hysteresis is no wider than the sensor's step is a relay. Method: cycles of a kelvin, which whole kelvins show as one or
/// none.
#[test]
fn a_relay_of_one_kelvin_is_heat() {
    for (on, speed, read_gain) in [(356.0, 2.2, 13.0), (343.0, 2.0, 8.5), (340.0, 2.0, 7.5)] {
        let (findings, truth) = run(&Setup {
            policies: vec![Policy::Relay { on, off: on - 1.0, speed }],
            loads: reading(1500.0),
            read_gain,
            ..Setup::default()
        });
        assert!(truth.onsets.len() > 8, "{truth:?}");
        let found = of_kind(&findings, EventKind::ThrottleOnset).len();
        assert!(
            10 * found >= 9 * truth.onsets.len(),
            "{found} of {}: {:?}",
            truth.onsets.len(),
            findings.policy
        );
        assert_ne!(findings.policy.class, PolicyClass::None);
    }
}

/// Goal: a cache that was full seconds before a load ended, and is full still when it goes on, is a cache. Method: writing, reading, writing.
#[test]
fn a_cache_that_is_full_just_before_a_load_ends_is_a_cache() {
    for (slc_gb, after) in [(456.0, 0.2), (450.0, 0.3)] {
        let (findings, truth) = run(&Setup {
            slc_gb: Some((slc_gb, after)),
            loads: [SegmentOp::Write, SegmentOp::Read, SegmentOp::Write]
                .map(|op| Load { op, seconds: 300.0 })
                .to_vec(),
            read_gb_s: 1.2,
            ..Setup::default()
        });
        let full_s = truth.slc_full.expect("it is full").0;
        let found = of_kind(&findings, EventKind::SlcExhausted);
        assert!(found.len() == 1 && (found[0].0 - full_s).abs() <= 3.0, "{found:?}, in truth {full_s} s");
    }
}
