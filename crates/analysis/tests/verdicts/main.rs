//! Whole analyses of simulated runs whose truth is known: the rows of the seed experiments, every policy
//! class, and slow-downs that are not heat.

mod across;
mod acting;
mod amounts;
mod anywhere;
mod asked;
mod beside;
mod counted;
mod demand;
mod drive;
mod everyday;
mod explained;
mod falling;
mod further;
mod held;
mod hidden;
mod lab;
mod levels;
mod likeness;
mod logs;
mod moved;
mod parted;
mod paused;
mod renamed;
mod robust;
mod rooms;
mod same;
mod scheduled;
mod told;
mod unsettled;

use analysis::findings::{Cause, Caveat, EventKind, Label, PolicyClass, SegmentOp};
use analysis::{Findings, analyze, wording};
use drive::{Load, Policy, Setup, Truth, simulate};
use trace::caveat::Unseen;

const WRITE_THEN_READ: [Load; 2] =
    [Load { op: SegmentOp::Write, seconds: 300.0 }, Load { op: SegmentOp::Read, seconds: 300.0 }];

fn run(setup: &Setup) -> (Findings, Truth) {
    let (trace, truth) = simulate(setup);
    let findings = analyze(&trace);
    assert_eq!(findings, analyze(&trace), "the same trace gives the same findings");
    (findings, truth)
}

/// Events of a kind as (time, temperature, cause, strength).
fn of_kind(findings: &Findings, kind: EventKind) -> Vec<(f64, f64, Cause, f64)> {
    let events = findings.events.iter().filter(|e| e.kind == kind);
    events.map(|e| (e.t_s, e.temp_k.unwrap_or(0.0), e.cause, e.strength.unwrap_or(-1.0))).collect()
}

fn has_caveat(findings: &Findings, kind: &str) -> bool {
    findings.caveats.iter().any(|caveat| wording::kind(caveat) == kind)
}

/// Every true onset and release is found within 3 s, and nothing else is.
fn check_times(findings: &Findings, truth: &Truth) {
    for (kind, true_ones) in
        [(EventKind::ThrottleOnset, &truth.onsets), (EventKind::ThrottleRelease, &truth.releases)]
    {
        let found = of_kind(findings, kind);
        assert_eq!(found.len(), true_ones.len(), "{kind:?}: {found:?}\nagainst {true_ones:?}");
        for ((t_s, ..), (true_s, _)) in found.iter().zip(true_ones) {
            assert!((t_s - true_s).abs() <= 3.0, "{kind:?} at {t_s} s, in truth {true_s} s");
        }
    }
}

/// The row A4/A5: SSD1 at 0/85 °C writes at full speed, then reads and is held by its own threshold at 80 °C.
#[test]
fn ssd1_reading_is_throttled_by_its_own_threshold() {
    for seed in 1..=10 {
        let (findings, truth) = run(&Setup {
            seed,
            policies: vec![Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 }],
            loads: WRITE_THEN_READ.to_vec(),
            tmt_k: Some((273, 358)),
            counts: Some(0),
            interval_s: 0.1,
            ..Setup::default()
        });
        check_times(&findings, &truth);
        let onset = of_kind(&findings, EventKind::ThrottleOnset)[0];
        assert_eq!(onset.2, Cause::Vendor, "{:#?}", findings.events);
        assert!((onset.1 - 353.5).abs() <= 1.0 && (onset.3 / 0.8 - 1.0).abs() <= 0.05, "{onset:?}");
        assert_eq!(findings.events.len(), 1, "{:#?}", findings.events);
        assert_eq!(findings.policy.class, PolicyClass::Vendor);
        let labels: Vec<_> = findings.segments.iter().map(|s| (s.op, s.label)).collect();
        let (write, read) = (SegmentOp::Write, SegmentOp::Read);
        assert_eq!(labels, [(write, Label::FullSpeed), (read, Label::FullSpeed), (read, Label::Throttled)]);
        assert!(has_caveat(&findings, "simulated"));
    }
}

/// The rows A3 and A6: a relay at TMT1 = 60 °C with a floor of 200 MB/s.
#[test]
fn a_relay_at_tmt1_is_found_cycle_by_cycle() {
    for seed in 1..=10 {
        let (findings, truth) = run(&Setup {
            seed,
            policies: vec![Policy::Relay { on: 333.0, off: 330.0, speed: 0.2 }],
            tmt_k: Some((333, 343)),
            ..Setup::default()
        });
        assert!(truth.onsets.len() > 5);
        check_times(&findings, &truth);
        for onset in of_kind(&findings, EventKind::ThrottleOnset) {
            assert_eq!(onset.2, Cause::HctmTmt1);
            assert!((onset.1 - 333.0).abs() <= 1.0 && (onset.3 / 0.125 - 1.0).abs() <= 0.05, "{onset:?}");
        }
        let policy = &findings.policy;
        assert_eq!(policy.class, PolicyClass::Relay);
        assert!((policy.onset_k.expect("onset") - 333.0).abs() <= 1.0);
        assert!((policy.release_k.expect("release") - 330.0).abs() <= 1.0);
        assert!((policy.floor_bytes_per_s.expect("floor") / 2e8 - 1.0).abs() <= 0.05);
    }
}

/// The rows B2 and B3: speed follows temperature.
#[test]
fn a_regulator_is_one_onset_and_a_held_temperature() {
    for (seed, slew) in [(1, 0.02), (2, 0.02), (3, 0.05), (4, 0.1)] {
        let (findings, truth) = run(&Setup {
            seed,
            policies: vec![Policy::Regulator { hold: 332.0, slew, least: 0.3 }],
            tmt_k: Some((333, 343)),
            counts: Some(1),
            ..Setup::default()
        });
        let onsets = of_kind(&findings, EventKind::ThrottleOnset);
        assert_eq!(onsets.len(), 1, "{:#?}", findings.events);
        assert!((onsets[0].0 - truth.onsets[0].0).abs() <= 5.0, "{onsets:?} {:?}", truth.onsets);
        assert_eq!(onsets[0].2, Cause::HctmTmt1, "{:#?}", findings.events);
        assert_eq!(findings.policy.class, PolicyClass::Regulator, "{:?}", findings.policy);
    }
}

/// The rows B7 and B8: the regulator works by bursts.
#[test]
fn bursts_are_a_duty_cycled_regulator() {
    let (findings, _) = run(&Setup {
        policies: vec![Policy::DutyCycled { hold: 332.0, slew: 0.05, least: 0.3, period_s: 1.0 }],
        tmt_k: Some((333, 343)),
        counts: Some(1),
        interval_s: 0.1,
        ..Setup::default()
    });
    assert_eq!(of_kind(&findings, EventKind::ThrottleOnset).len(), 1, "{:#?}", findings.events);
    assert_eq!(findings.policy.class, PolicyClass::DutyCycled, "{:?}", findings.policy);
}

/// The last of three slow stretches is cut off by the end of the load, at a temperature at which the first two were
/// still slow as well.
#[test]
fn what_the_end_of_the_load_cuts_off_is_what_the_others_were() {
    let (findings, truth) = run(&Setup {
        write_gb_s: 1.6,
        write_gain: 22.0,
        policies: vec![Policy::Relay { on: 343.0, off: 328.0, speed: 0.2 }],
        loads: vec![Load { op: SegmentOp::Write, seconds: 470.0 }],
        counts: Some(0),
        ..Setup::default()
    });
    assert_eq!((truth.onsets.len(), truth.releases.len()), (3, 2), "{truth:?}");
    let onsets = of_kind(&findings, EventKind::ThrottleOnset);
    assert_eq!(onsets.len(), 3, "{:#?}", findings.events);
}

/// A relay that fell once and stayed: the temperature came to rest with it, and nothing followed it.
#[test]
fn a_fixed_lower_speed_is_no_regulator() {
    let sweep = [
        // SSD1 of the seed experiments by default: its own threshold.
        (Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 }, (273, 358), 0, PolicyClass::Vendor),
        // TMT1 below what the drive reaches at the lower speed.
        (Policy::Relay { on: 333.0, off: 320.0, speed: 1.2 }, (333, 343), 1, PolicyClass::Undetermined),
    ];
    for (policy, tmt_k, counts, class) in sweep {
        for interval_s in [0.1, 1.0] {
            let (findings, _) = run(&Setup {
                policies: vec![policy],
                loads: WRITE_THEN_READ.to_vec(),
                tmt_k: Some(tmt_k),
                counts: Some(counts),
                interval_s,
                ..Setup::default()
            });
            let policy = &findings.policy;
            assert!(policy.class == class && !policy.also.contains(&PolicyClass::Regulator), "{policy:?}");
            let open = ["mechanism_undetermined", "policy_undetermined"];
            assert!(open.iter().any(|kind| has_caveat(&findings, kind)), "{:#?}", findings.caveats);
        }
    }
}

/// A relay whose next load begins with a burst of full speed, too short for a piece, is a relay still.
#[test]
fn a_single_burst_makes_no_duty_cycle() {
    for write_s in (290..330).step_by(4) {
        let load = |op, seconds: i32| Load { op, seconds: f64::from(seconds) };
        let (findings, _) = run(&Setup {
            policies: vec![Policy::Relay { on: 333.0, off: 330.0, speed: 0.2 }],
            loads: vec![load(SegmentOp::Write, write_s), load(SegmentOp::Read, 120)],
            tmt_k: Some((333, 343)),
            counts: Some(1),
            interval_s: 0.1,
            ..Setup::default()
        });
        assert_eq!(findings.policy.class, PolicyClass::Relay, "{write_s} s: {:?}", findings.policy);
    }
}

/// A drop of reads without a temperature: none at all, one that was read an hour before, one that stands still.
#[test]
fn a_temperature_that_is_not_of_the_load_neither_blames_heat_nor_clears_it() {
    let (trace, _) = simulate(&Setup {
        policies: vec![Policy::Relay { on: 345.0, off: 342.0, speed: 2.0 }],
        loads: vec![Load { op: SegmentOp::Read, seconds: 300.0 }],
        ..Setup::default()
    });
    let with = |change: &dyn Fn(f64, f64) -> Option<(f64, f64)>| {
        let mut trace = trace.clone();
        let mut kelvin = measure::Series::new();
        for point in trace.temperatures[0].kelvin.points() {
            if let Some((t_s, k)) = change(point.t.as_secs_f64(), point.value) {
                kelvin.push(trace::instant(t_s), k);
            }
        }
        trace.temperatures[0].kelvin = kelvin;
        trace.trust_a_sensor();
        analyze(&trace)
    };
    let stands = with(&|t_s, _| Some((t_s, 348.0)));
    for findings in [with(&|_, _| None), with(&|t_s, k| Some((t_s + 3600.0, k))), stands.clone()] {
        assert!(findings.events.iter().all(|event| event.cause == Cause::Unknown), "{:#?}", findings.events);
        assert!(!findings.events.is_empty());
        assert_eq!(findings.policy.class, PolicyClass::Undetermined, "{:?}", findings.policy);
        let blind = |c: &Caveat| matches!(c, Caveat::NoTemperature { .. } | Caveat::FrozenSensor(_));
        assert!(findings.caveats.iter().any(blind), "{:?}", findings.caveats);
    }
}

/// Goal: what is said of the link is true. Method: the same reads against links of several rates.
#[test]
fn the_link_is_named_with_the_speed_that_was_measured() {
    let (trace, _) = simulate(&Setup {
        noise: 0.003,
        loads: vec![Load { op: SegmentOp::Read, seconds: 200.0 }],
        ..Setup::default()
    });
    let said = |simulated: Option<bool>, link: f64| {
        let mut trace = trace.clone();
        (trace.facts.simulated, trace.facts.link_bytes_per_s) = (simulated, Some(link));
        let caveats = analyze(&trace).caveats.into_iter();
        caveats.filter(|c| matches!(c, Caveat::AtLinkRate { .. })).map(|c| wording::caveat(&c)).next()
    };
    // A simulated link carries data at its rate; a real one loses some to its protocol.
    assert_eq!(said(Some(true), 3.5e9), None);
    let near = said(None, 3.5e9).expect("86 percent of a real link");
    assert!(near.contains("3.00 GB/s, 86 % of the link rate (3.50 GB/s)"), "{near}");
    for simulated in [Some(true), None] {
        let at = said(simulated, 3.05e9).expect("all of it");
        assert!(at.contains("was 3.00 GB/s, the link rate (3.05 GB/s)"), "{at}");
    }
    assert_eq!(said(None, 3.94e9), None);
}

/// Goal: what is deallocated is no data that crossed the link. Method: the same reads with trims of a terabyte a
/// second beside them, and as a phase of their own.
#[test]
fn trims_are_neither_data_nor_above_the_link() {
    let (mut trace, _) =
        simulate(&Setup { loads: vec![Load { op: SegmentOp::Read, seconds: 200.0 }; 2], ..Setup::default() });
    trace.facts.link_bytes_per_s = Some(4e9);
    let plain = analyze(&trace);
    let mean = |findings: &Findings| findings.segments[0].mean_bytes_per_s.expect("a speed");
    let mut trims = trace.speeds[0].clone();
    trims.op = SegmentOp::Trim;
    trims.intervals.iter_mut().for_each(|interval| interval.bytes = 1e12 * interval.span_s);
    let mut beside = trace.clone();
    beside.phases.iter_mut().for_each(|phase| phase.op = SegmentOp::Mixed);
    beside.speeds.push(trims.clone());
    let findings = analyze(&beside);
    assert!((mean(&findings) / mean(&plain) - 1.0).abs() < 1e-9, "{:?}", findings.segments);
    assert!(!has_caveat(&findings, "above_link_rate"), "{:?}", findings.caveats);
    let last = trace.phases.len() as u32 - 1;
    let mut apart = trace.clone();
    apart.phases[last as usize].op = SegmentOp::Trim;
    trims.intervals.retain(|interval| interval.phase == last);
    apart.speeds[0].intervals.retain(|interval| interval.phase < last);
    apart.speeds.push(trims);
    let findings = analyze(&apart);
    assert_eq!(findings.segments.last().map(|segment| segment.op), Some(SegmentOp::Trim));
    assert!(!has_caveat(&findings, "above_link_rate") && !has_caveat(&findings, "at_link_rate"));
}

/// Goal: a link that is slower than it could be is told where it limits, and only there. Method: one steady speed at 82 % of
/// the link, as bridges reach, and at half of it.
#[test]
fn a_slow_link_is_told_where_it_limits() {
    let (mut trace, _) =
        simulate(&Setup { loads: vec![Load { op: SegmentOp::Read, seconds: 60.0 }], ..Setup::default() });
    let mean = analyze(&trace).segments[0].mean_bytes_per_s.expect("a speed");
    // As of a real drive: a simulated link is reached exactly or not at all.
    trace.facts.simulated = Some(false);
    for (share, possible, is_told) in
        [(0.82, Some(2.4), true), (0.82, None, false), (0.5, Some(2.4), false), (0.99, None, true)]
    {
        let link = mean / share;
        trace.facts.link_bytes_per_s = Some(link);
        trace.facts.possible_link_bytes_per_s = possible.map(|times| times * link);
        let findings = analyze(&trace);
        assert_eq!(
            has_caveat(&findings, "at_link_rate"),
            is_told,
            "{share} {possible:?} {:?}",
            findings.caveats
        );
        let faster =
            findings.caveats.iter().any(|caveat| wording::caveat(caveat).contains("use a faster port"));
        assert_eq!(faster, is_told && possible.is_some(), "{share} {possible:?} {:?}", findings.caveats);
    }
}

/// Goal: what is `None` beside known values is told with its reason. Method: a run that is slowed down to its end.
#[test]
fn what_was_not_seen_is_said() {
    let (findings, _) = run(&Setup {
        seed: 1,
        policies: vec![Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 }],
        loads: WRITE_THEN_READ.to_vec(),
        tmt_k: Some((273, 358)),
        counts: Some(0),
        interval_s: 0.1,
        ..Setup::default()
    });
    assert!(findings.policy.onset_k.is_some(), "{:?}", findings.policy);
    assert_eq!(
        (findings.policy.release_k, findings.slc_cache.clone()),
        (None, None),
        "{:?}",
        findings.policy
    );
    let values = findings.caveats.iter().find_map(|caveat| match caveat {
        Caveat::NotSeen { values } => Some(&values[..]),
        _ => None,
    });
    let Some([Unseen::SlcBytes { written_bytes, over_stated: false, .. }, Unseen::Release, ..]) = values
    else {
        panic!("the cache's size and the release are told, and the onset is not: {values:?}");
    };
    assert!(*written_bytes > 1e9, "{written_bytes}");
}

/// Goal: no temperature is no evidence that it was not heat. Method: a step to half the speed, and nothing else known.
#[test]
fn without_a_temperature_heat_is_neither_blamed_nor_cleared() {
    for op in [SegmentOp::Read, SegmentOp::Write] {
        let (mut trace, _) =
            simulate(&Setup { loads: vec![Load { op, seconds: 600.0 }], ..Setup::default() });
        trace.temperatures.clear();
        trace.trusted = None;
        trace.counters = measure::Series::new();
        trace.settings = measure::Series::new();
        for interval in trace.speeds.iter_mut().flat_map(|series| &mut series.intervals) {
            interval.bytes *= if interval.start_s >= 300.0 { 0.5 } else { 1.0 };
        }
        let findings = analyze(&trace);
        assert!(has_caveat(&findings, "no_temperature"), "{:?}", findings.caveats);
        let causes: Vec<Cause> = findings.events.iter().map(|event| event.cause).collect();
        assert_eq!(causes, [Cause::Unknown], "{:#?}", findings.events);
    }
}

/// The row B4: heavy throttling at TMT2, held until below TMT1.
#[test]
fn heavy_throttling_is_latched_until_tmt1() {
    let (findings, truth) = run(&Setup {
        policies: vec![Policy::TwoLevel { light: 328.0, heavy: 335.0, light_speed: 1.6, heavy_speed: 0.08 }],
        tmt_k: Some((328, 335)),
        loads: vec![Load { op: SegmentOp::Write, seconds: 900.0 }],
        ..Setup::default()
    });
    check_times(&findings, &truth);
    assert!(of_kind(&findings, EventKind::ThrottleOnset).iter().all(|e| e.2 == Cause::HctmTmt2));
    assert_eq!(findings.policy.class, PolicyClass::TwoLevel, "{:?}", findings.policy);
    assert!((findings.policy.release_k.expect("release") - 328.0).abs() <= 1.0);
}

#[test]
fn light_and_heavy_throttling_are_two_onsets() {
    let (findings, _) = run(&Setup {
        policies: vec![Policy::TwoLevel { light: 328.0, heavy: 332.0, light_speed: 1.25, heavy_speed: 0.1 }],
        tmt_k: Some((328, 332)),
        write_gain: 20.0,
        ..Setup::default()
    });
    let causes: Vec<_> = of_kind(&findings, EventKind::ThrottleOnset).iter().map(|e| e.2).collect();
    assert!(causes.contains(&Cause::HctmTmt1) && causes.contains(&Cause::HctmTmt2), "{:#?}", findings.events);
    assert_eq!(findings.policy.class, PolicyClass::TwoLevel);
}

#[test]
fn a_stop_is_a_policy_of_its_own() {
    let (findings, truth) = run(&Setup {
        policies: vec![Policy::Stop { on: 348.0, off: 338.0 }],
        read_gb_s: 3.0,
        loads: vec![Load { op: SegmentOp::Read, seconds: 600.0 }],
        ..Setup::default()
    });
    check_times(&findings, &truth);
    assert_eq!(findings.policy.class, PolicyClass::Stop);
    assert!(
        of_kind(&findings, EventKind::ThrottleOnset).iter().all(|e| e.2 == Cause::Thermal && e.3 < 0.001)
    );
}

/// The rows D1 to D3: a cliff locked to data written, with and without a temperature.
#[test]
fn a_full_cache_is_not_heat() {
    for without_temperature in [false, true] {
        let (mut trace, truth) = simulate(&Setup {
            write_gb_s: 2.6,
            slc_gb: Some((107.0, 0.078)),
            loads: vec![Load { op: SegmentOp::Write, seconds: 300.0 }],
            write_gain: 8.0,
            ..Setup::default()
        });
        if without_temperature {
            trace.temperatures.clear();
            trace.trust_a_sensor();
        }
        let findings = analyze(&trace);
        let (t_s, bytes) = truth.slc_full.expect("it was filled");
        let kinds: Vec<_> = findings.events.iter().map(|e| (e.kind, e.cause)).collect();
        assert_eq!(kinds, [(EventKind::SlcExhausted, Cause::NotThermal)], "{:#?}", findings.events);
        assert!((findings.events[0].t_s - t_s).abs() <= 3.0);
        let cache = findings.slc_cache.as_ref().expect("a cache");
        assert!((cache.bytes as f64 / bytes - 1.0).abs() < 0.02);
        assert!((cache.after_bytes_per_s / 7.8e7 - 1.0).abs() < 0.05);
        assert_eq!(findings.segments.last().expect("segments").label, Label::SlcExhausted);
        assert_ne!(findings.policy.class, PolicyClass::Relay);
    }
}

/// The row B5: dips of unknown cause, with the drive warm and TMT1 near but not reached.
#[test]
fn dips_are_not_heat() {
    for (seed, for_s) in [(1, 4.0), (2, 8.0), (3, 20.0), (4, 5.0), (5, 12.0)] {
        let (findings, _) = run(&Setup {
            seed,
            dips: Some((70.0, for_s, 0.2)),
            tmt_k: Some((344, 348)),
            loads: WRITE_THEN_READ.to_vec(),
            read_gb_s: 1.6,
            ..Setup::default()
        });
        assert!(
            findings.events.iter().all(|e| e.kind == EventKind::Dip),
            "{for_s} s: {:#?}",
            findings.events
        );
        let known = findings.events.iter().filter(|e| e.cause == Cause::NotThermal).count();
        assert!(
            findings.events.len() >= 6 && (for_s >= 20.0 || 2 * known > findings.events.len()),
            "{:#?}",
            findings.events
        );
        assert_eq!(findings.policy.class, PolicyClass::None);
    }
}

/// The row B6: a wobble while the temperature rises slowly.
#[test]
fn a_wobble_is_not_heat() {
    for period_s in [3.0, 9.0, 30.0] {
        let (findings, _) = run(&Setup {
            wobble: Some((period_s, 0.08)),
            tmt_k: Some((344, 348)),
            loads: vec![Load { op: SegmentOp::Read, seconds: 300.0 }],
            read_gain: 5.0,
            ..Setup::default()
        });
        assert!(of_kind(&findings, EventKind::ThrottleOnset).is_empty(), "{:#?}", findings.events);
        assert_eq!(findings.policy.class, PolicyClass::None);
    }
}

/// The row C1: behind a USB bridge, settings unknown, the limit deepens to hold 82 °C.
#[test]
fn a_deepening_limit_with_unknown_settings_is_heat_without_a_name() {
    let (findings, truth) = run(&Setup {
        write_gb_s: 0.7,
        write_gain: 90.0,
        policies: vec![Policy::Regulator { hold: 354.0, slew: 0.005, least: 0.1 }],
        loads: vec![Load { op: SegmentOp::Write, seconds: 900.0 }],
        ambient_k: 290.0,
        ..Setup::default()
    });
    let onsets = of_kind(&findings, EventKind::ThrottleOnset);
    assert_eq!(onsets.len(), 1, "{:#?}", findings.events);
    assert_eq!(onsets[0].2, Cause::Thermal);
    assert!((onsets[0].0 - truth.onsets[0].0).abs() <= 5.0);
    assert!((onsets[0].1 - 353.0).abs() <= 3.0, "{onsets:?}");
}

/// The row B9: writing has brought the drive to TMT1, and reading is slowed down from its first second on.
#[test]
fn a_load_that_begins_at_tmt1_and_stays_there_began_limited() {
    let regulated = Setup {
        policies: vec![Policy::Regulator { hold: 323.0, slew: 0.1, least: 0.1 }],
        tmt_k: Some((323, 333)),
        loads: WRITE_THEN_READ.to_vec(),
        ..Setup::default()
    };
    let (findings, _) = run(&regulated);
    assert_eq!(of_kind(&findings, EventKind::ThrottleOnset).len(), 2, "{:#?}", findings.events);
    let second = findings.events[1].clone();
    assert!((second.t_s, second.strength) == (300.0, None), "{second:?}");
    let policy = &findings.policy;
    assert_eq!((policy.class, &policy.also[..]), (PolicyClass::Regulator, &[PolicyClass::PreLimited][..]));
    assert!(findings.segments.iter().filter(|s| s.start_s >= 300.0).all(|s| s.label == Label::Throttled));
}

#[test]
fn gains_and_time_constants_are_found_where_the_run_shows_them() {
    for seed in 1..=5 {
        let (findings, _) = run(&Setup {
            seed,
            loads: vec![
                Load { op: SegmentOp::Write, seconds: 400.0 },
                Load { op: SegmentOp::Idle, seconds: 300.0 },
                Load { op: SegmentOp::Read, seconds: 300.0 },
            ],
            ..Setup::default()
        });
        let thermal = &findings.thermal;
        let holds = |interval: Option<[f64; 2]>, truth: f64| {
            interval.is_some_and(|[low, high]| (low..=high).contains(&truth) && high <= 1.35 * low)
        };
        assert!(holds(thermal.kelvin_per_gb_per_s_write_90, 12.5), "{thermal:?}");
        assert!(holds(thermal.kelvin_per_gb_per_s_read_90, 15.0), "{thermal:?}");
        assert!((thermal.idle_floor_k.expect("floor") - 318.0).abs() < 1.0);
        // Ten minutes with breaks leave the slow one open, or within its interval.
        let slow_s = thermal.tau_s_90.as_ref().map_or([0.0, f64::INFINITY], |tau_s| tau_s[1]);
        assert!(slow_s[0] <= 140.0 && slow_s[1] >= 140.0, "{thermal:?}");
    }
    let (short, _) =
        run(&Setup { loads: vec![Load { op: SegmentOp::Write, seconds: 100.0 }], ..Setup::default() });
    assert!(short.thermal.tau_s.is_none() && has_caveat(&short, "thermal_not_identified"));
    assert!(has_caveat(&short, "too_short"));
}
