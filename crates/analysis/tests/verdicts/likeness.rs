//! Falls that look like heat and follow something else, and the other way round.

use analysis::findings::{Cause, EventKind, PolicyClass, SegmentOp};
use analysis::{Findings, analyze};
use measure::Series;
use trace::{Interval, SpeedSeries, Temperature, Trace, instant};

use crate::logs::{Logged, heat, relay, sure_heat};

/// A log of rows: reads and writes in bytes per second, and kelvins; no phases.
pub(crate) fn rows(row_s: f64, of: &[(f64, f64, f64)]) -> Trace {
    let mut trace = Trace::empty("rows");
    let series = |op: SegmentOp, speed: &dyn Fn(&(f64, f64, f64)) -> f64| SpeedSeries {
        op,
        intervals: of
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let wobble = 1.0 + 0.01 * (i as f64 * 12.9898).sin();
                Interval {
                    start_s: i as f64 * row_s,
                    span_s: row_s,
                    bytes: speed(row) * row_s * wobble,
                    phase: 0,
                }
            })
            .collect(),
    };
    trace.speeds = vec![series(SegmentOp::Read, &|row| row.0), series(SegmentOp::Write, &|row| row.1)];
    let mut kelvin = Series::new();
    of.iter().enumerate().for_each(|(i, row)| kelvin.push(instant(i as f64 * row_s), row.2.round()));
    trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
    trace.trust_a_sensor();
    trace::infer_phases(&mut trace);
    trace
}

/// The temperature that follows a load with one time constant, row by row.
fn warmed(row_s: f64, of: &mut [(f64, f64, f64)], kelvin_per_gb_per_s: f64) {
    let mut now_k = 318.0;
    for row in of {
        row.2 = now_k;
        let rest_k = 318.0 + kelvin_per_gb_per_s * (row.0 + row.1) / 1e9;
        now_k += (rest_k - now_k) * (1.0 - (-row_s / 90.0).exp());
    }
}

fn sure_drops(findings: &Findings) -> usize {
    let sure = |e: &&analysis::findings::Event| e.kind != EventKind::ThrottleRelease && e.confidence >= 0.85;
    findings.events.iter().filter(sure).count()
}

/// Goal: a job that ends fills no cache and is no throttling. Method: an hourly job of writing in a day of little reading and writing,
/// the last row of each partly the one and partly the other.
#[test]
fn a_job_that_ends_into_other_work_is_no_drop() {
    for (row_s, job_rows, job, partly) in [
        (60.0, 10, 2.8e9, 0.3),
        (60.0, 7, 2.0e9, 0.05),
        (30.0, 15, 1.5e9, 0.5),
        (60.0, 12, 2.4e9, 0.15),
        (10.0, 60, 2.2e9, 0.4),
    ] {
        let mut of = Vec::new();
        for _ in 0..6 {
            of.extend(std::iter::repeat_n((3.4e7, 1.4e7, 0.0), (3000.0 / row_s) as usize));
            of.extend(std::iter::repeat_n((0.0, job, 0.0), job_rows));
            of.push((3.4e7 * (1.0 - partly), job * partly, 0.0));
        }
        of.extend(std::iter::repeat_n((3.4e7, 1.4e7, 0.0), 20));
        warmed(row_s, &mut of, 12.0);
        let findings = analyze(&rows(row_s, &of));
        assert_eq!(sure_drops(&findings), 0, "rows of {row_s} s, {partly}: {:#?}", findings.events);
    }
}

/// Goal: what falls along a straight line while the drive warms up and cools is no heat. Method: the outer to the inner tracks of a disk,
/// and a host that does less and less.
#[test]
fn what_goes_on_falling_while_the_drive_cools_is_no_heat() {
    for (row_s, full, to, kelvin_per_gb_per_s) in [
        (2.0, 2.7e8, 0.5, 90.0),
        (10.0, 2.8e9, 0.35, 10.0),
        (5.0, 1.0e9, 0.4, 28.0),
        (30.0, 2.7e8, 0.5, 80.0),
        (1.0, 2.2e9, 0.3, 13.0),
    ] {
        let count = (1800.0 / row_s) as usize;
        let speed = |i: usize| full * (1.0 - (1.0 - to) * i as f64 / count as f64);
        let mut of: Vec<_> = (0..count).map(|i| (speed(i), 0.0, 0.0)).collect();
        warmed(row_s, &mut of, kelvin_per_gb_per_s);
        let findings = analyze(&rows(row_s, &of));
        assert!(sure_heat(&findings).is_empty(), "rows of {row_s} s: {:#?}", findings.events);
        assert_ne!(findings.policy.class, PolicyClass::Regulator, "rows of {row_s} s");
    }
}

/// Goal: a throttle that lets go far below its threshold is heat, not a full cache. Method: writing that ends throttled each time, after
/// other amounts and at one temperature; 10 to 14 K of hysteresis.
#[test]
fn a_wide_hysteresis_does_not_acquit() {
    for (seed, off_k, share) in
        [(1, 334.0, 0.35), (2, 336.0, 0.3), (3, 333.0, 0.4), (4, 335.0, 0.25), (5, 336.0, 0.35)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 70.0;
        for (rest_s, load_s) in [(60, 400), (120, 200), (400, 300), (200, 260)] {
            // Throttled to the end of each load; the pause lets go.
            let throttle = relay(346.0, off_k - 30.0, share);
            log.log(rest_s, |_, _| 0.0);
            log.log(load_s, throttle);
        }
        let mut trace = log.trace_of(true, 1);
        trace.speeds[0].op = SegmentOp::Write;
        trace::infer_phases(&mut trace);
        let findings = analyze(&trace);
        let cache =
            |e: &&analysis::findings::Event| e.kind == EventKind::SlcExhausted && e.confidence >= 0.85;
        assert_eq!(findings.events.iter().filter(cache).count(), 0, "{off_k} K: {:#?}", findings.events);
        assert!(heat(&findings).len() >= 3, "{off_k} K: {:?}", heat(&findings));
    }
}

/// Goal: a lower speed that stands while the drive heats up is no regulator's. Method: a relay whose lower speed is too hot to let go.
#[test]
fn a_speed_that_stands_while_the_drive_heats_is_not_controlled() {
    for (seed, row_s, share) in [(1, 5, 0.6), (2, 15, 0.6), (3, 1, 0.65), (4, 10, 0.7), (5, 20, 0.62)] {
        let mut log = Logged::new(seed);
        log.heats_k = 70.0;
        log.log(60, |_, _| 0.0);
        log.log(2400, relay(344.0, 330.0, share));
        let findings = analyze(&log.trace_of(true, row_s));
        assert!(!heat(&findings).is_empty(), "rows of {row_s} s");
        assert_ne!(findings.policy.class, PolicyClass::Regulator, "rows of {row_s} s: {:?}", findings.policy);
    }
}

/// Goal: writing that falls after the same amount at other temperatures is no threshold's. Method: a cache of one size that empties in
/// long pauses, in loads that begin cool and hot; speeds that differ by a third.
#[test]
fn the_same_amount_at_other_temperatures_is_no_heat() {
    for (row_s, full, cache, after) in [
        (1.0, 2.4e9, 2.0e11, 0.4),
        (2.0, 3.0e9, 3.0e11, 0.3),
        (1.0, 1.8e9, 1.5e11, 0.5),
        (5.0, 2.6e9, 2.5e11, 0.35),
        (1.0, 2.0e9, 2.2e11, 0.45),
    ] {
        let mut of = Vec::new();
        for (rest_s, slower) in [(60.0, 1.0), (300.0, 0.7), (90.0, 1.0), (500.0, 0.75)] {
            of.extend(std::iter::repeat_n((0.0, 0.0, 0.0), (rest_s / row_s) as usize));
            let mut written = 0.0;
            for _ in 0..(400.0 / row_s) as usize {
                let speed = full * if written < cache { slower } else { after };
                written += speed * row_s;
                of.push((0.0, speed, 0.0));
            }
        }
        warmed(row_s, &mut of, 14.0);
        let findings = analyze(&rows(row_s, &of));
        assert!(sure_heat(&findings).is_empty(), "rows of {row_s} s: {:#?}", findings.events);
        assert!(findings.events.iter().all(|e| e.cause != Cause::Thermal || e.confidence < 0.85));
    }
}
