//! Thresholds that act: reached slowly, reached while another one acts, of one operation or of all.

use std::iter::repeat_n;

use analysis::analyze;
use analysis::findings::{Cause, Event, EventKind, Findings, PolicyClass, SegmentOp};
use measure::record::ThermalSettings;
use trace::Trace;

use crate::likeness::rows;
use crate::logs::{Logged, heat, relay};
use crate::paused::of_writes;

/// A day of reading on a drive as hot as its room makes it: two warm spells of other lengths, which take it to `on_k` once each; it lets go 11 K
/// below.
fn warm_day(row_s: f64, on_k: f64, left: f64, spells_s: [f64; 2]) -> Trace {
    const GAIN_K: f64 = 28.0;
    let spell = |t_s: f64, middle_s: f64, span_s: f64| (-((t_s - middle_s) / span_s).powi(2)).exp();
    let (mut rise_k, mut slow) = (0.0, false);
    let of_row = |row: usize| {
        let t_s = row as f64 * row_s;
        let warm = spell(t_s, 20_000.0, spells_s[0]).max(spell(t_s, 68_000.0, spells_s[1]));
        let kelvin = on_k - GAIN_K - 11.0 + 14.0 * warm + rise_k;
        slow = kelvin >= if slow { on_k - 11.0 } else { on_k };
        let share = if slow { left } else { 1.0 };
        rise_k += (GAIN_K * share - rise_k) * (row_s / 400.0).min(1.0);
        (2.4e9 * share, 0.0, kelvin)
    };
    rows(row_s, &(0..(86_400.0 / row_s) as usize).map(of_row).collect::<Vec<_>>())
}

/// Goal: a threshold to which a room takes a drive in an hour is none the less one. Method: days of two warm spells.
#[test]
fn a_threshold_that_a_room_reaches_slowly_is_one() {
    for (row_s, on_k, left, spells_s) in [
        (60.0, 341.0, 0.69, [7_000.0, 5_000.0]),
        (30.0, 343.0, 0.8, [6_000.0, 9_000.0]),
        (60.0, 348.0, 0.75, [9_000.0, 6_500.0]),
        (20.0, 351.0, 0.72, [5_000.0, 8_000.0]),
        (60.0, 346.0, 0.66, [8_000.0, 5_500.0]),
    ] {
        let findings = analyze(&warm_day(row_s, on_k, left, spells_s));
        let found = heat(&findings);
        let of = format!("{on_k} K: {:?}, {:?}", findings.policy, findings.events);
        assert!(found.len() == 2 && found.iter().all(|onset| (onset.1 - on_k).abs() <= 1.5), "{of}");
    }
}

/// Light throttling from `tmt1_k` on, and heavy from `tmt2_k` until it has cooled to `tmt1_k`.
fn two_levels(tmt1_k: f64, tmt2_k: f64, light: f64, heavy: f64) -> impl FnMut(usize, f64) -> f64 {
    let mut level = 0;
    move |_, kelvin| {
        level = match level {
            _ if kelvin >= tmt2_k => 2,
            2 if kelvin >= tmt1_k - 1.0 => 2,
            _ if kelvin >= tmt1_k => 1,
            1 | 2 if kelvin >= tmt1_k - 3.0 => 1,
            _ => 0,
        };
        [1.0, light, heavy][level]
    }
}

/// Goal: what throttles further while TMT1 acts is TMT2, though the reading is nearer to TMT1 or between both. Method: both known and three to five
/// kelvins apart, read in steps of several kelvins or a second late.
#[test]
fn a_further_step_while_tmt1_acts_is_tmt2() {
    for (seed, tmt1_k, tmt2_k, step_k, light, heats_k) in [
        (1, 331, 335, 5.0, 0.8, 62.0),
        (2, 333, 337, 5.0, 0.75, 66.0),
        (3, 341, 344, 4.0, 0.8, 70.0),
        (4, 326, 330, 5.0, 0.85, 54.0),
        (5, 351, 354, 4.0, 0.82, 74.0),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        log.log(900, two_levels(f64::from(tmt1_k), f64::from(tmt2_k), light, 0.12));
        log.log(200, |_, _| 0.0);
        log.log(700, two_levels(f64::from(tmt1_k), f64::from(tmt2_k), light, 0.12));
        let mut trace = log.trace_of(true, 1);
        let sensor = &mut trace.temperatures[0].kelvin;
        *sensor = sensor.points().iter().fold(measure::Series::new(), |mut coarse, point| {
            coarse.push(point.t, (point.value / step_k).floor() * step_k);
            coarse
        });
        let set = ThermalSettings { tmt1_k: Some(tmt1_k), tmt2_k: Some(tmt2_k), power_state: None };
        trace.settings.push(trace::instant(0.0), set);
        let findings = analyze(&trace);
        let heavy: Vec<&Event> = heavy_onsets(&findings);
        let of = format!("{tmt1_k} and {tmt2_k} K: {:?}, {:#?}", findings.policy, heat(&findings));
        assert!(heavy.len() >= 2, "{of}");
        assert!(heavy.iter().all(|event| event.cause == Cause::HctmTmt2), "{of}");
        assert_eq!(findings.policy.class, PolicyClass::TwoLevel, "{of}");
    }
}

/// The onsets that leave less than a third.
fn heavy_onsets(findings: &Findings) -> Vec<&Event> {
    let is_heavy = |event: &&Event| {
        event.kind == EventKind::ThrottleOnset && event.strength.is_some_and(|left| left < 0.33)
    };
    findings.events.iter().filter(is_heavy).collect()
}

/// Goal: where reads and writes are slowed down at temperatures of their own, each is told with its own. Method: two relays, and loads in turn.
#[test]
fn each_operation_has_its_own_threshold() {
    for (seed, reads_k, writes_k) in
        [(1, 333.0, 339.0), (2, 338.0, 346.0), (3, 348.0, 341.0), (4, 351.0, 356.0), (5, 350.0, 343.0)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = f64::max(writes_k, reads_k) - 290.0;
        let mut written = Vec::new();
        for (of_writes, on_k) in [(false, reads_k), (true, writes_k), (false, reads_k), (true, writes_k)] {
            log.log(500, relay(on_k, on_k - 3.0, 0.45));
            log.log(300, |_, _| 0.0);
            written.extend(repeat_n(of_writes, 800));
        }
        let mut trace = log.trace_of(true, 1);
        let reads = trace.speeds[0].clone();
        let mut writes = trace::SpeedSeries { op: SegmentOp::Write, ..reads };
        for (row, of_writes) in written.iter().enumerate() {
            let none = if *of_writes { &mut trace.speeds[0] } else { &mut writes };
            none.intervals[row].bytes = 0.0;
        }
        trace.speeds.push(writes);
        trace::infer_phases(&mut trace);
        let levels = analyze(&trace).policy.levels;
        for (op, on_k) in [(SegmentOp::Read, reads_k), (SegmentOp::Write, writes_k)] {
            let own = levels.iter().find(|level| level.op == Some(op)).and_then(|level| level.onset_k);
            assert!(own.is_some_and(|k| (k - on_k).abs() <= 1.5), "{op:?} at {on_k} K: {levels:?}");
        }
    }
}

/// Goal: rows longer than a drive's stops show that it stops. Method: a stop that cools a drive within ten to thirty seconds, in rows of 10 s and
/// more.
#[test]
fn stops_shorter_than_two_rows_are_stops() {
    for (seed, on_k, off_k, row_s) in [
        (1, 343.0, 335.0, 10),
        (2, 350.0, 341.0, 10),
        (3, 346.0, 337.0, 8),
        (4, 353.0, 345.0, 8),
        (5, 348.0, 339.0, 12),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = on_k - 295.0;
        log.log(6000, relay(on_k, off_k, 0.0));
        let policy = analyze(&log.trace_of(true, row_s)).policy;
        assert_eq!(policy.class, PolicyClass::Stop, "rows of {row_s} s: {policy:?}");
    }
}

/// Goal: a relay on a drive that others had warmed up throttles from its first burst on, though that is as long as the next ones. Method: a rest
/// after a job that no throttle held back, then a relay; the log begins with the rest.
#[test]
fn a_first_burst_after_a_rest_may_be_as_long_as_the_next() {
    for (seed, heats_k, on_k, below_k, left, job, rest_s) in [
        (3, 48.0, 344.0, 6.0, 0.5, 0.85, 32),
        (3, 48.0, 344.0, 6.0, 0.5, 1.05, 48),
        (3, 48.0, 347.0, 5.0, 0.6, 1.05, 36),
        (3, 48.0, 347.0, 6.0, 0.5, 0.95, 32),
        (3, 54.0, 347.0, 6.0, 0.5, 0.95, 40),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        log.log(900, |_, _| job);
        log.begin_here();
        log.log(rest_s, |_, _| 0.0);
        log.log(1800, relay(on_k, on_k - below_k, left));
        let findings = analyze(&of_writes(&log, 1));
        assert!(heat(&findings).len() >= 10, "{on_k} K, {rest_s} s: {:?}", findings.policy);
    }
}
