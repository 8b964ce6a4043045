//! Rooms: what runs of one drive in several of them say of each other's drops, and gains in one that drifts.

use analysis::findings::{Cause, EventKind, Suspect};
use analysis::joint::{JointRun, others};
use analysis::{Findings, analyze, analyze_among};
use trace::Trace;

use crate::likeness::rows;
use crate::logs::{Logged, heat, regulator, relay};
use crate::of_kind;
use crate::paused::of_writes;

/// The runs, each judged with what the others show.
fn together(traces: &[Trace]) -> Vec<Findings> {
    let runs: Vec<JointRun> =
        traces.iter().map(|trace| JointRun::new("run", Some("drive"), trace, &analyze(trace))).collect();
    traces.iter().zip(others(&runs)).map(|(trace, others)| analyze_among(trace, &others)).collect()
}

/// How likely heat is to be behind the first drop of a run.
fn heat_of(findings: &Findings) -> f64 {
    let drop = findings.events.first().expect("a drop");
    let is_heat = |suspect: Suspect| matches!(suspect, Suspect::Tmt1 | Suspect::Tmt2 | Suspect::Vendor);
    match drop.cause {
        Cause::NotThermal => 1.0 - drop.confidence,
        Cause::Unknown => drop.candidates.iter().filter(|c| is_heat(c.cause)).map(|c| c.probability).sum(),
        _ => drop.confidence,
    }
}

/// Goal: a drop in a cool room has the cause that it has in a warm one. Method: a drive that creeps up to its threshold and stays slow, at
/// two rises; each run alone, and both.
#[test]
fn a_threshold_that_two_rooms_show_is_likelier_than_in_either_alone() {
    for (seed, share) in [(1, 0.6), (2, 0.7), (3, 0.5), (4, 0.65), (5, 0.75)] {
        let run = |heats_k: f64| {
            let mut log = Logged::new(seed + heats_k as u64);
            log.heats_k = heats_k;
            log.log(2000, relay(346.0, 320.0, share));
            of_writes(&log, 2)
        };
        let traces = [run(35.0), run(46.0)];
        let (alone, both) = (heat_of(&analyze(&traces[1])), together(&traces));
        assert!(
            !heat(&both[1]).is_empty() && heat_of(&both[1]) > alone,
            "{share}: {alone} alone, {:?}",
            both[1].events
        );
        // It cooled by 13 K and stayed slow: by itself a full cache.
        assert!(of_kind(&both[0], EventKind::SlcExhausted).is_empty(), "{share}: {:?}", both[0].events);
    }
}

/// Goal: what comes after the same time in a warm room and in a cool one is no threshold. Method: a full cache, and a copy of a run, which says
/// nothing.
#[test]
fn a_fall_after_one_amount_in_two_rooms_is_no_threshold() {
    for (seed, fast_s, share) in
        [(1, 200, 0.4), (2, 150, 0.5), (3, 260, 0.45), (4, 300, 0.35), (5, 180, 0.55)]
    {
        let run = |heats_k: f64| {
            let mut log = Logged::new(seed + heats_k as u64);
            log.heats_k = heats_k;
            log.log(fast_s, |_, _| 1.0);
            log.log(600, |_, _| share);
            of_writes(&log, 1)
        };
        let traces = [run(40.0), run(56.0)];
        let (alone, both) = (heat_of(&analyze(&traces[1])), together(&traces));
        assert!(heat(&both[1]).is_empty(), "{fast_s} s: {:?}", both[1].events);
        assert!(heat_of(&both[1]) < alone, "{fast_s} s: {alone} alone, {:?}", both[1].events);
        let copies = together(&[traces[1].clone(), traces[1].clone()]);
        assert_eq!(heat_of(&copies[0]), alone, "{fast_s} s");
    }
}

/// Goal: what a drive did at full speed in a warm room has no threshold in a cool one. Method: a lull of the host at the hottest of a run, beside
/// a run that was hotter all the time.
#[test]
fn full_speed_in_a_warmer_room_rules_a_threshold_out() {
    for (seed, share) in [(1, 0.5), (2, 0.6), (3, 0.7), (4, 0.4), (5, 0.65)] {
        let mut cool = Logged::new(seed);
        cool.heats_k = 38.0;
        cool.log(400, |_, _| 1.0);
        cool.log(300, |_, _| share);
        let mut warm = Logged::new(seed + 10);
        warm.heats_k = 52.0;
        warm.log(1500, |_, _| 1.0);
        let traces = [cool.trace_of(true, 1), warm.trace_of(true, 1)];
        let (alone, both) = (heat_of(&analyze(&traces[0])), together(&traces));
        assert!(heat(&both[0]).is_empty(), "{share}: {:?}", both[0].events);
        assert!(heat_of(&both[0]) < alone, "{share}: {alone} alone, {:?}", both[0].events);
    }
}

/// A regulated drive of two time constants that heats by `gain_k` kelvins for each GB/s, in a room that swings by `swing_k` to either side.
fn regulated(gain_k: f64, swing_k: f64, period_s: f64) -> Trace {
    const HOLD_K: f64 = 345.0;
    let (mut fast_k, mut slow_k, mut speed) = (0.0, 0.0, 3.0);
    let row = |second: usize| {
        let room_k = 300.0 + swing_k * (std::f64::consts::TAU * second as f64 / period_s).sin();
        let kelvin = room_k + fast_k + slow_k;
        if second < 30 {
            return (0.0, 0.0, kelvin);
        }
        speed = f64::clamp(speed + 0.01 * (HOLD_K - kelvin), 0.3, 3.0);
        fast_k += (0.5 * gain_k * speed - fast_k) / 20.0;
        slow_k += (0.5 * gain_k * speed - slow_k) / 200.0;
        (0.0, 1e9 * speed, kelvin)
    };
    rows(1.0, &(0..2400).map(row).collect::<Vec<_>>())
}

/// Goal: a log whose rows have the time of their end, or that begins in a load, shows no smaller gain. Method: drives of two modes from rest, in rows
/// of 5 and 10 s whose first reading is that after the first row.
#[test]
fn a_load_that_began_a_row_earlier_makes_no_gain_smaller() {
    for (gain_k, speed, modes_s, row_s) in [
        (12.6, 3.9, [20.0, 180.0], 10.0),
        (6.6, 6.5, [18.0, 110.0], 10.0),
        (25.0, 1.6, [30.0, 250.0], 10.0),
        (68.0, 0.5, [25.0, 300.0], 5.0),
        (9.0, 5.0, [15.0, 150.0], 10.0),
    ] {
        for rests_s in [0.0, 120.0] {
            let row = |at: usize| {
                let end_s = (at as f64 + 1.0) * row_s;
                let loaded_s = (end_s - rests_s).max(0.0);
                let risen = |tau_s: f64, share: f64| share * (1.0 - (-loaded_s / tau_s).exp());
                let kelvin = 300.0 + gain_k * speed * (risen(modes_s[0], 0.4) + risen(modes_s[1], 0.6));
                (0.0, if end_s > rests_s { 1e9 * speed } else { 0.0 }, kelvin)
            };
            let log = rows(row_s, &(0..180).map(row).collect::<Vec<_>>());
            let gain = analyze(&log).thermal.kelvin_per_gb_per_s_write_90;
            let holds = |[low, high]: [f64; 2]| (low..=high).contains(&gain_k);
            assert!(gain.is_none_or(holds), "{gain_k} K after {rests_s} s of rest: {gain:?}");
            assert!(rests_s == 0.0 || gain.is_some(), "{gain_k} K after {rests_s} s of rest");
        }
    }
}

/// Goal: a regulator that slows a drive down as its room warms up makes no gain too small, as then the drive is hottest while least moves.
/// Method: drives of known gains in rooms that nobody recorded; a gain that is given holds the truth, and one of a steady room is given.
#[test]
fn a_room_that_drifts_makes_no_gain_smaller() {
    let of = |gain_k, swing_k, period_s| {
        analyze(&regulated(gain_k, swing_k, period_s)).thermal.kelvin_per_gb_per_s_write_90
    };
    for (gain_k, swing_k, period_s) in
        [(20.0, 4.0, 900.0), (18.0, 6.0, 700.0), (25.0, 5.0, 1200.0), (22.0, 3.0, 600.0), (30.0, 4.0, 1500.0)]
    {
        let drifts = of(gain_k, swing_k, period_s);
        let holds = |[low, high]: [f64; 2]| (low..=high).contains(&gain_k);
        assert!(drifts.is_none_or(holds), "{gain_k} in a room of ± {swing_k} K: {drifts:?}");
        let steady = of(gain_k, 0.0, period_s);
        assert!(steady.is_some_and(holds), "{gain_k}: {steady:?}");
    }
}

/// Goal: what wrote far more at full speed in a cool room has no cache that is full after little in a warm one. Method: drives without a cache
/// whose regulator holds the warm one, and never acts in the cool one.
#[test]
fn a_cache_that_a_cool_room_does_not_show_is_none_in_a_warm_one() {
    for (seed, row_s, warm_k, hold_k) in [
        (1, 1, 60.0, 343.0),
        (2, 1, 52.0, 341.0),
        (3, 2, 66.0, 345.0),
        (4, 1, 58.0, 340.0),
        (5, 2, 70.0, 346.0),
    ] {
        let run = |heats_k: f64, seconds: usize| {
            let mut log = Logged::new(seed + heats_k as u64);
            log.heats_k = heats_k;
            log.log(seconds, regulator(hold_k, 0.004));
            of_writes(&log, row_s)
        };
        let traces = [run(20.0, 1500), run(warm_k, 600)];
        let (alone, both) = (heat_of(&analyze(&traces[1])), together(&traces));
        assert!(of_kind(&both[1], EventKind::SlcExhausted).is_empty(), "{warm_k} K: {:?}", both[1].events);
        assert!(heat_of(&both[1]) >= alone, "{warm_k} K: {alone} alone, {:?}", both[1].events);
        assert!(!heat(&both[1]).is_empty(), "{warm_k} K: {:?}", both[1].events);
    }
}
