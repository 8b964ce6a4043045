//! What goes on from one load into the next, and what comes on top of a throttle that acts already.

use analysis::analyze;
use analysis::findings::{Cause, Caveat, EventKind, SegmentOp};
use measure::Series;
use trace::caveat::Unseen;
use trace::instant;

use crate::drive::{Load, Policy, Setup, simulate};
use crate::{of_kind, run};

const fn reads(seconds: f64) -> Load {
    Load { op: SegmentOp::Read, seconds }
}

/// Goal: a pause that is too short for the drive to recover makes no riddle of the load after it. Method: SSD1's own threshold
/// with a hysteresis of 9 K, and a pause in which it cools by 6 K.
#[test]
fn a_slowdown_that_a_pause_interrupts_keeps_its_cause() {
    for seed in 1..=5 {
        let (findings, truth) = run(&Setup {
            seed,
            policies: vec![Policy::Relay { on: 353.5, off: 344.5, speed: 2.4 }],
            loads: vec![reads(400.0), Load { op: SegmentOp::Idle, seconds: 12.0 }, reads(300.0)],
            tmt_k: Some((273, 363)),
            counts: Some(0),
            ..Setup::default()
        });
        assert_eq!((truth.onsets.len(), truth.releases.len()), (1, 0), "{truth:?}");
        let onsets = of_kind(&findings, EventKind::ThrottleOnset);
        let causes: Vec<Cause> = onsets.iter().map(|onset| onset.2).collect();
        assert_eq!(causes, [Cause::Vendor; 2], "{:#?}", findings.events);
        assert!((onsets[0].0 - truth.onsets[0].0).abs() <= 3.0 && (onsets[1].0 - 412.0).abs() <= 3.0);
        assert!(onsets.iter().all(|onset| (onset.3 / 0.8 - 1.0).abs() <= 0.05), "{onsets:?}");
    }
}

/// Goal: a load whose full speed nobody saw is known to be slow, because the one before it was and the drive stayed as hot.
/// Method: a regulator goes on from reading into writing, and its temperature is read 2 K below TMT1, where nobody looks for it.
#[test]
fn a_regulator_that_goes_on_holds_the_next_load_too() {
    for seed in 1..=5 {
        let (findings, truth) = run(&Setup {
            seed,
            policies: vec![Policy::Regulator { hold: 332.0, slew: 0.05, least: 0.3 }],
            loads: vec![reads(400.0), Load { op: SegmentOp::Write, seconds: 400.0 }],
            tmt_k: Some((334, 344)),
            counts: Some(1),
            ..Setup::default()
        });
        assert_eq!((truth.onsets.len(), truth.releases.len()), (1, 0), "{truth:?}");
        let onsets = of_kind(&findings, EventKind::ThrottleOnset);
        assert_eq!(onsets.len(), 2, "{:#?}", findings.events);
        assert!((onsets[1].0 - 400.0).abs() <= 3.0, "{onsets:?}");
    }
}

/// Goal: a second threshold above the first is told, also where the drive creeps up to it. Method: two relays of the drive's own,
/// the hotter one met again and again within the cooler one.
#[test]
fn a_hotter_threshold_within_a_slowdown_is_an_event_of_its_own() {
    for seed in 1..=5 {
        let setup = Setup {
            seed,
            policies: vec![
                Policy::Relay { on: 347.0, off: 300.0, speed: 2.4 },
                Policy::Relay { on: 353.0, off: 349.0, speed: 0.6 },
            ],
            loads: vec![reads(900.0)],
            tmt_k: Some((273, 365)),
            counts: Some(0),
            read_gain: 16.0,
            ..Setup::default()
        };
        let (mut trace, truth) = simulate(&setup);
        // As records of heatsoak have it: the host did not change the power state.
        let mut settings = trace.settings.points()[0].value.clone();
        settings.power_state = Some(0);
        trace.settings = Series::new();
        trace.settings.push(instant(0.0), settings);
        let findings = analyze(&trace);
        // In truth it set in where less than 1 GB/s was moved for the first time.
        let further = trace.speeds[0].intervals.iter().find(|i| i.bytes < 1e9 * i.span_s);
        let further_s = further.expect("it gets so hot").start_s;
        let onsets = of_kind(&findings, EventKind::ThrottleOnset);
        assert!((onsets[0].0 - truth.onsets[0].0).abs() <= 3.0, "{onsets:?} {:?}", truth.onsets);
        assert!(
            (onsets[1].0 - further_s).abs() <= 3.0 && (onsets[1].3 / 0.25 - 1.0).abs() <= 0.1,
            "{onsets:?}"
        );
        assert!(onsets.len() > 3 && onsets.iter().all(|onset| onset.2 == Cause::Vendor), "{onsets:?}");
        assert!(!of_kind(&findings, EventKind::ThrottleRelease).is_empty());
        // Only of the lighter one no release was seen.
        let unseen = |wanted: Unseen| {
            let of = |c: &Caveat| matches!(c, Caveat::NotSeen { values } if values.contains(&wanted));
            findings.caveats.iter().any(of)
        };
        assert!(unseen(Unseen::LightestRelease) && !unseen(Unseen::Release), "{:#?}", findings.caveats);
        let levels = &findings.policy.levels;
        assert!(
            levels.len() == 2 && levels[0].release_k.is_none() && levels[1].release_k < levels[1].onset_k
        );
    }
}

/// Goal: a load that begins slowed down shows no full speed, so that nothing speaks against the fall before it. Method: a relay that is met
/// once, and then another load at the speed that it leaves.
#[test]
fn a_load_that_begins_slowed_down_was_not_at_full_speed() {
    for (seed, gain) in [(1, 20.0), (2, 19.0), (3, 21.0), (4, 20.5), (5, 19.5)] {
        let setup = Setup {
            seed,
            policies: vec![Policy::Relay { on: 347.0, off: 330.0, speed: 2.2 }],
            loads: vec![reads(300.0), reads(500.0)],
            tmt_k: Some((273, 273)),
            counts: Some(0),
            read_gain: gain,
            ..Setup::default()
        };
        let (mut trace, truth) = simulate(&setup);
        assert_eq!((truth.onsets.len(), truth.releases.len()), (1, 0), "{truth:?}");
        let what = ["random read, 128 KiB, depth 64", "sequential read, 1 MiB, depth 64"];
        trace.phases.iter_mut().zip(what).for_each(|(phase, what)| phase.what = what.to_owned());
        let findings = analyze(&trace);
        let onsets = of_kind(&findings, EventKind::ThrottleOnset);
        assert!(
            onsets.iter().any(|onset| (onset.0 - truth.onsets[0].0).abs() <= 3.0),
            "{:#?}",
            findings.events
        );
    }
}
