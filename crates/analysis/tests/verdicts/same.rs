//! What one slowdown shows of another: the same speed, the same end, the same cause.

use analysis::analyze;
use analysis::findings::{Cause, EventKind, PolicyClass, SegmentOp};
use trace::{Interval, Phase, Trace};

use crate::drive::{Load, Policy, Setup, simulate};
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

/// Goal: a TMT1 that the host changes in the middle is two thresholds, and that the drive ran hotter under the second one acquits no drop
/// under the first. Method: two runs of one drive in one record.
#[test]
fn a_threshold_that_was_changed_is_judged_by_what_was_set() {
    for raised_k in [6, 10] {
        let relay_at = |tmt1_k: u16| Setup {
            policies: vec![Policy::Relay { on: tmt1_k.into(), off: f64::from(tmt1_k) - 5.0, speed: 0.8 }],
            loads: reading(900.0),
            tmt_k: Some((tmt1_k, 365)),
            read_gain: 18.0,
            ..Setup::default()
        };
        let (mut both, first) = simulate(&relay_at(336));
        let (second, later) = simulate(&relay_at(336 + raised_k));
        append(&mut both, &second, 960.0);
        let findings = analyze(&both);
        let mut truth = first;
        let shifted = |times: &[(f64, f64)]| times.iter().map(|(s, k)| (s + 960.0, *k)).collect::<Vec<_>>();
        truth.onsets.extend(shifted(&later.onsets));
        truth.releases.extend(shifted(&later.releases));
        check_times(&findings, &truth);
        let found = of_kind(&findings, EventKind::ThrottleOnset);
        assert!(found.iter().all(|onset| onset.2 == Cause::HctmTmt1), "{found:?}");
    }
}

/// Puts a second record of the same drive behind the first one, from `from_s` on.
fn append(first: &mut Trace, second: &Trace, from_s: f64) {
    let phases = first.phases.len() as u32;
    first.phases.extend(second.phases.iter().map(|phase| Phase {
        start_s: phase.start_s + from_s,
        end_s: phase.end_s + from_s,
        ..phase.clone()
    }));
    for (series, more) in first.speeds.iter_mut().zip(&second.speeds) {
        series.intervals.extend(more.intervals.iter().map(|interval| Interval {
            start_s: interval.start_s + from_s,
            phase: interval.phase + phases,
            ..*interval
        }));
    }
    let later = |t: measure::Instant| trace::instant(t.as_secs_f64() + from_s);
    for point in second.temperatures[0].kelvin.points() {
        first.temperatures[0].kelvin.push(later(point.t), point.value);
    }
    for point in second.settings.points() {
        first.settings.push(later(point.t), point.value.clone());
    }
}
