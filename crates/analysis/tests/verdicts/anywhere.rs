//! Verdicts hold in any room and at any sampling: one drive, other surroundings.

use analysis::analyze;
use analysis::findings::{Cause, Caveat, EventKind, PolicyClass, SegmentOp};
use measure::{Point, Series};
use trace::{Interval, Trace};

use crate::drive::{Load, Policy, Setup, simulate};
use crate::{WRITE_THEN_READ, check_times, of_kind, run};

/// Goal: a warmer room does not acquit the drive. Method: SSD1 of the seed experiments in rooms of 27 to 44 °C; its own
/// threshold is crossed sooner each time. (Hotter still, reading begins slowed down, and nobody can know how fast it was.)
#[test]
fn a_warm_room_does_not_acquit_the_drive() {
    for room_c in [27, 29, 31, 33, 35, 38, 41, 44] {
        let (mut trace, truth) = simulate(&Setup {
            ambient_k: 273.0 + f64::from(room_c),
            policies: vec![Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 }],
            loads: WRITE_THEN_READ.to_vec(),
            tmt_k: Some((273, 358)),
            counts: Some(0),
            ..Setup::default()
        });
        // As records of heatsoak have it: the host did not change the power state.
        let mut settings = trace.settings.points()[0].value.clone();
        settings.power_state = Some(0);
        trace.settings = measure::Series::new();
        trace.settings.push(trace::instant(0.0), settings);
        let findings = analyze(&trace);
        let found = of_kind(&findings, EventKind::ThrottleOnset);
        assert!(!truth.onsets.is_empty() && !found.is_empty(), "{room_c} °C: {:#?}", findings.events);
        assert!(found.iter().all(|event| event.2 == Cause::Vendor), "{room_c} °C: {found:?}");
        assert_eq!(findings.policy.class, PolicyClass::Vendor, "{room_c} °C: {:?}", findings.policy);
    }
}

/// Goal: hotter still, and the drive is not acquitted either. Method: the same drive where reading begins above its threshold
/// and is slow from its first second on; and one that begins to read as hot and was not slowed down, but for all that is known
/// may have been.
#[test]
fn a_load_that_never_ran_cool_clears_nothing() {
    for policies in [vec![Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 }], vec![Policy::None]] {
        let (trace, _) = simulate(&Setup {
            ambient_k: 328.0,
            policies,
            loads: WRITE_THEN_READ.to_vec(),
            counts: Some(0),
            ..Setup::default()
        });
        let findings = analyze(&trace);
        assert_eq!(findings.policy.class, PolicyClass::Undetermined, "{:?}", findings.policy);
    }
}

/// The same trace as means over so many intervals.
fn sampled(trace: &Trace, by: usize) -> Trace {
    let mut trace = trace.clone();
    for series in &mut trace.speeds {
        let means = series.intervals.chunks(by).map(|chunk| Interval {
            start_s: chunk[0].start_s,
            span_s: chunk.iter().map(|i| i.span_s).sum(),
            bytes: chunk.iter().map(|i| i.bytes).sum(),
            phase: chunk[0].phase,
        });
        series.intervals = means.collect();
    }
    trace
}

/// Goal: a stop is one at any sampling, with and without phases. Method: one run of stops of 15 to 30 s, as means over 1 to
/// 7 s.
#[test]
fn a_stop_is_a_stop_at_any_sampling() {
    for (on, off) in [(348.0, 338.0), (345.0, 337.0)] {
        let (trace, truth) = simulate(&Setup {
            policies: vec![Policy::Stop { on, off }],
            loads: vec![Load { op: SegmentOp::Read, seconds: 1200.0 }],
            ..Setup::default()
        });
        assert!(truth.onsets.len() > 5);
        for by in [1, 2, 3, 4, 5, 7] {
            let mut sampled = sampled(&trace, by);
            for named in [true, false] {
                if !named {
                    trace::infer_phases(&mut sampled);
                }
                let findings = analyze(&sampled);
                assert_eq!(findings.policy.class, PolicyClass::Stop, "{by} s: {:?}", findings.policy);
                let onsets = of_kind(&findings, EventKind::ThrottleOnset).len();
                assert_eq!(onsets, truth.onsets.len(), "{by} s, phases named: {named}");
            }
        }
    }
}

/// Goal: two thresholds are two, and neither speaks against the other. Method: a light one that leaves the drive heating,
/// and a heavy one some kelvins above it, cycle by cycle.
#[test]
fn two_thresholds_of_the_drives_own_are_both_heat() {
    for (light, heavy) in [(341.0, 347.0), (345.0, 352.0), (350.0, 356.0)] {
        let (findings, truth) = run(&Setup {
            policies: vec![Policy::TwoLevel { light, heavy, light_speed: 2.4, heavy_speed: 0.4 }],
            loads: vec![Load { op: SegmentOp::Read, seconds: 1500.0 }],
            ambient_k: 315.0,
            read_gain: 18.0,
            tmt_k: Some((273, 373)),
            ..Setup::default()
        });
        let found = of_kind(&findings, EventKind::ThrottleOnset);
        assert!(truth.onsets.len() >= 3, "{truth:?}");
        assert!(found.len() + 1 >= truth.onsets.len(), "{light} K and {heavy} K: {found:?}, {truth:?}");
        assert!(found.iter().all(|event| event.2 == Cause::Vendor), "{light} K and {heavy} K: {found:?}");
        assert!(findings.policy.also.contains(&PolicyClass::TwoLevel), "{:?}", findings.policy);
    }
}

/// Goal: light and heavy throttling are two levels although nobody recorded TMT1 and TMT2; one threshold is not.
/// Method: runs whose settings are not known.
#[test]
fn two_thresholds_that_nobody_recorded_are_two_levels() {
    let named = |policies: Vec<Policy>| {
        let loads = vec![Load { op: SegmentOp::Read, seconds: 1500.0 }];
        let setup =
            Setup { policies, loads, ambient_k: 315.0, read_gain: 18.0, tmt_k: None, ..Setup::default() };
        run(&setup).0.policy
    };
    for (light, heavy) in [(341.0, 347.0), (345.0, 352.0), (350.0, 356.0)] {
        let policy = named(vec![Policy::TwoLevel { light, heavy, light_speed: 2.4, heavy_speed: 0.4 }]);
        assert_eq!(policy.class, PolicyClass::TwoLevel, "{light} K and {heavy} K: {policy:?}");
        let floors: Vec<f64> = policy.levels.iter().filter_map(|level| level.floor_bytes_per_s).collect();
        assert!(floors.len() == 2 && (floors[0] / 2.4e9 - 1.0).abs() < 0.05, "{policy:?}");
        let policy = named(vec![Policy::Relay { on: light, off: light - 5.0, speed: 0.4 }]);
        assert_ne!(policy.class, PolicyClass::TwoLevel, "{light} K: {policy:?}");
    }
}

/// Goal: an unread second is not an idle one. Method: the speed of a run is kept for a few seconds of each minute.
#[test]
fn a_load_that_is_mostly_unread_clears_nothing() {
    let (trace, _) = simulate(&Setup { ambient_k: 325.0, ..Setup::default() });
    assert_eq!(analyze(&trace).policy.class, PolicyClass::None);
    for keep_s in [6.0, 12.0, 20.0] {
        let mut rare = trace.clone();
        rare.phases.clear();
        for series in &mut rare.speeds {
            series.intervals.retain(|interval| interval.start_s % 60.0 < keep_s);
        }
        trace::infer_phases(&mut rare);
        let findings = analyze(&rare);
        assert_eq!(findings.policy.class, PolicyClass::Undetermined, "{keep_s} s: {:?}", findings.policy);
        assert_eq!(findings.thermal.kelvin_per_gb_per_s_write, None);
    }
}

/// A speed for each of 600 s, over a link of 4 GB/s.
fn over_link(speed: impl Fn(usize) -> f64) -> Trace {
    let (mut trace, _) =
        simulate(&Setup { loads: vec![Load { op: SegmentOp::Read, seconds: 600.0 }], ..Setup::default() });
    let interval = |s: usize| Interval {
        start_s: s as f64,
        span_s: 1.0,
        bytes: speed(s),
        ..trace.speeds[0].intervals[0]
    };
    trace.speeds[0].intervals = (0..600).map(interval).collect();
    trace.facts.link_bytes_per_s = Some(4e9);
    trace
}

/// Goal: what is faster than the link is told by how much it is and for how long, and jitter is not told at all.
/// Method: levels above the link, single seconds far above it, and logs whose times wobble around it.
#[test]
fn faster_than_the_link_is_told_where_no_jitter_explains_it() {
    let above = |trace: &Trace| {
        analyze(trace).caveats.into_iter().find_map(|caveat| match caveat {
            Caveat::AboveLinkRate { span_s, lasting, .. } => Some((span_s, lasting)),
            _ => None,
        })
    };
    assert_eq!(above(&over_link(|_| 4.2e9)), Some((600.0, true)), "all of it");
    let half = |s: usize| if s < 300 { 4.12e9 } else { 3.0e9 };
    assert_eq!(above(&over_link(half)), Some((300.0, true)), "half of it");
    let spikes = |s: usize| if s % 100 == 50 { 5e9 } else { 3.9e9 };
    assert_eq!(above(&over_link(spikes)), Some((6.0, false)), "single seconds");
    let jitter = |s: usize| 3.95e9 + if s.is_multiple_of(2) { 0.1e9 } else { -0.1e9 };
    assert_eq!(above(&over_link(jitter)), None, "an interval that was written late, and the next");
    let edge = |s: usize| if s == 299 { 4.01e9 } else { 3.99e9 };
    assert_eq!(above(&over_link(edge)), None, "I/Os at the edge");
}

/// Goal: cycles that readings hardly resolve are heat all the same, or open, and never acquitted. Method: a relay of short
/// cycles as means over 4 to 15 s beside a temperature each second, behind a sensor that is late, and with most of its readings
/// lost.
#[test]
fn a_relay_that_is_read_badly_is_not_acquitted() {
    let (trace, truth) = simulate(&Setup {
        policies: vec![Policy::Relay { on: 345.0, off: 340.0, speed: 0.9 }],
        loads: vec![Load { op: SegmentOp::Read, seconds: 1200.0 }],
        read_gain: 22.0,
        ..Setup::default()
    });
    assert!(truth.onsets.len() > 10, "{truth:?}");
    let points = trace.temperature().expect("a sensor").points();
    let read_as = |points: &mut dyn Iterator<Item = Point<f64>>| {
        let mut kelvin = Series::new();
        points.for_each(|point| kelvin.push(point.t, point.value));
        let mut read = trace.clone();
        read.temperatures[0].kelvin = kelvin;
        read
    };
    let late = |by_s: f64| {
        let later = |point: &Point<f64>| trace::instant(point.t.as_secs_f64() + by_s);
        read_as(&mut points.iter().map(|point| Point { t: later(point), value: point.value }))
    };
    // By a fixed pattern without a period of a few seconds.
    let kept = points.iter().enumerate().filter(|(n, _)| (n * n + n / 3) % 7 < 3);
    let lost = read_as(&mut kept.map(|(_, point)| *point));
    let mut all: Vec<(String, Trace)> = vec![("lost".into(), lost)];
    all.extend([4, 8, 12].map(|by_s| (format!("late by {by_s} s"), late(f64::from(by_s)))));
    all.extend([4, 7, 11, 15].map(|by| (format!("means over {by} s"), sampled(&trace, by))));
    for (how, read) in all {
        let findings = analyze(&read);
        let heat = of_kind(&findings, EventKind::ThrottleOnset);
        assert_ne!(findings.policy.class, PolicyClass::None, "{how}: {:?}", findings.policy);
        assert!(!heat.is_empty(), "{how}: {:#?}", findings.events);
        let policy = &findings.policy;
        assert!(policy.onset_k.zip(policy.release_k).is_none_or(|(on, off)| off < on), "{how}: {policy:?}");
    }
}

/// Goal: what comes by the clock is no heat, though each time begins where the drive is as hot as it gets. Method: dips from the
/// first cool minute on, every so many seconds, each a share of that long, on drives that come to 70 °C and more between them.
#[test]
fn dips_by_the_clock_are_not_heat_though_each_begins_at_a_peak() {
    for (every_s, for_s, share, room_k, read_gain) in [
        (50.0, 10.0, 0.17, 305.0, 15.0),
        (50.0, 10.0, 0.17, 313.0, 18.0),
        (50.0, 16.0, 0.17, 309.0, 15.0),
        (50.0, 16.0, 0.35, 305.0, 18.0),
        (70.0, 22.4, 0.35, 305.0, 18.0),
    ] {
        let (findings, _) = run(&Setup {
            dips: Some((every_s, for_s, share)),
            loads: vec![Load { op: SegmentOp::Read, seconds: 600.0 }],
            ambient_k: room_k,
            read_gain,
            tmt_k: Some((359, 365)),
            ..Setup::default()
        });
        let found = of_kind(&findings, EventKind::ThrottleOnset);
        assert!(found.is_empty(), "every {every_s} s at {room_k} K: {found:?}");
    }
}

/// Goal: a drive that begins to read at TMT1, at full speed, and then goes to and fro is a relay, however long it stays slow.
#[test]
fn a_relay_with_long_cycles_that_begins_at_tmt1_is_a_relay() {
    let (findings, truth) = run(&Setup {
        write_gain: 15.6,
        read_gain: 10.5,
        policies: vec![Policy::Relay { on: 344.0, off: 340.5, speed: 2.0 }],
        tmt_k: Some((344, 354)),
        counts: Some(1),
        loads: vec![
            Load { op: SegmentOp::Write, seconds: 600.0 },
            Load { op: SegmentOp::Read, seconds: 1500.0 },
        ],
        ..Setup::default()
    });
    assert!(truth.releases[0].0 - truth.onsets[0].0 > 60.0 && truth.onsets.len() > 3, "{truth:?}");
    check_times(&findings, &truth);
    assert_eq!(findings.policy.class, PolicyClass::Relay);
}
