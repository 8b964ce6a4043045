//! Power against a known truth: a load with known watts behind a meter with known faults.
//!
//! The meter model has a lag, a window, a last digit, an error of gain, noise and a baseline, all drawn by seed. Energy
//! of real twins is held against their own exact joules in `crates/cli/tests/simulated`.

use measure::Series;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use trace::{Interval, Phase, SpeedSeries, instant};

use super::*;

/// Idle, write, idle, read, idle, 30 s each, as the plan `power`: watts and GB/s of each.
const PHASES: [(&str, SegmentOp, f64, f64); 5] = [
    ("idle", SegmentOp::Idle, 2.0, 0.0),
    ("write", SegmentOp::Write, 6.0, 3.0),
    ("idle after writes", SegmentOp::Idle, 2.0, 0.0),
    ("read", SegmentOp::Read, 9.7, 6.0),
    ("idle after reads", SegmentOp::Idle, 2.0, 0.0),
];
const PHASE_S: f64 = 30.0;

/// Watts of the drive at a time.
fn truth_w(t_s: f64) -> f64 {
    let index = (t_s / PHASE_S).floor().clamp(0.0, 4.0) as usize;
    PHASES[index].2
}

/// Mean of the truth over a window, in steps of a hundredth.
fn mean_w(from_s: f64, to_s: f64) -> f64 {
    let steps = 100;
    let at = |step: usize| truth_w(from_s + (to_s - from_s) * (step as f64 + 0.5) / f64::from(steps as u32));
    (0..steps).map(at).sum::<f64>() / steps as f64
}

/// A meter with its faults.
#[derive(Clone, Copy, Debug)]
struct MeterModel {
    interval_s: f64,
    lag_s: f64,
    step_w: f64,
    gain: f64,
    baseline_w: f64,
    noise_w: f64,
}

const HONEST: MeterModel =
    MeterModel { interval_s: 1.0, lag_s: 0.0, step_w: 0.0, gain: 1.0, baseline_w: 0.0, noise_w: 0.0 };

/// Normal deviates.
struct Noise(Pcg64Mcg);

impl Noise {
    fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        // The sum of twelve uniform ones, less six: variance 1.
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The run as such a meter sees it, with a phase of a twentieth of an interval between meter and load.
fn run(model: &MeterModel, noise: &mut Noise) -> Trace {
    let mut trace = Trace::empty("power");
    let mut speeds = [SegmentOp::Read, SegmentOp::Write].map(|op| SpeedSeries { op, intervals: Vec::new() });
    for (index, (name, op, _, gb_per_s)) in PHASES.into_iter().enumerate() {
        let start_s = index as f64 * PHASE_S;
        let ios = (gb_per_s > 0.0).then_some((gb_per_s * 1000.0 * PHASE_S) as u64);
        trace.phases.push(Phase { ios, ..Phase::bare(name, op, start_s, start_s + PHASE_S) });
        for series in speeds.iter_mut().filter(|series| series.op == op) {
            let interval = |i: usize| Interval {
                start_s: start_s + i as f64 * 0.1,
                span_s: 0.1,
                bytes: gb_per_s * 1e8,
                phase: index as u32,
            };
            series.intervals.extend((0..300).map(interval));
        }
    }
    trace.speeds = speeds.to_vec();
    let mut watts = Series::new();
    let offset_s = 0.05 * model.interval_s;
    for index in 1..(5.0 * PHASE_S / model.interval_s) as usize {
        let t_s = index as f64 * model.interval_s + offset_s;
        let true_w = mean_w(t_s - model.lag_s - model.interval_s, t_s - model.lag_s);
        let shown = (true_w + model.baseline_w) * model.gain + model.noise_w * noise.normal();
        let digit = if model.step_w > 0.0 { (shown / model.step_w).round() * model.step_w } else { shown };
        watts.push(instant(t_s), digit);
    }
    trace.meters = vec![MeterSeries {
        name: "meter".to_owned(),
        at: None,
        window_s: None,
        lag_s: None,
        step_w: (model.step_w > 0.0).then_some(model.step_w),
        accuracy: None,
        watts,
    }];
    trace
}

fn found(trace: &Trace) -> PowerFindings {
    power(trace).expect("there is a meter")
}

fn seeded(seed: u64) -> Noise {
    Noise(Pcg64Mcg::seed_from_u64(seed))
}

fn row<'a>(found: &'a PowerFindings, phase: &str) -> &'a PowerRow {
    found.rows.iter().find(|row| row.phase == phase).unwrap_or_else(|| panic!("no {phase} in {found:?}"))
}

/// To a thousandth of a watt, which sums of floating point numbers keep.
fn rounded(watts: Option<f64>) -> Option<f64> {
    watts.map(|watts| (watts * 1e3).round() / 1e3)
}

#[test]
fn a_phase_has_its_watts_and_what_a_byte_costs() {
    let mut trace = run(&HONEST, &mut seeded(1));
    trace.facts.power_baseline_w = Some((0.3, 0.0));
    let found = found(&trace);
    let read = row(&found, "read");
    assert_eq!((rounded(read.mean_w), read.op, read.meter.as_str()), (Some(9.7), SegmentOp::Read, "meter"));
    let near =
        |value: Option<f64>, expected: f64| value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-3);
    assert!(near(read.net_w, 9.4) && near(read.bytes_per_s, 6e9) && near(read.max_1s_w, 9.7), "{read:?}");
    assert!(near(read.mb_per_s_per_w, 6000.0 / 9.4) && near(read.iops_per_w, 6000.0 / 9.4), "{read:?}");
    assert!(near(read.j_per_gb, 9.4 / 6.0) && near(read.j_per_gb_above_idle, 7.7 / 6.0), "{read:?}");
    assert!(near(read.energy_j, 9.4 * PHASE_S), "{read:?}");
    assert_eq!(row(&found, "idle").mb_per_s_per_w, None);
    // 9.4 W net: above an M.2 slot, within the next.
    let exceeded: Vec<&str> =
        found.budgets.iter().filter(|one| !one.fits).map(|one| one.form.as_str()).collect();
    assert_eq!(exceeded, ["USB 2 port", "USB 3 port", "USB-C 1.5 A", "M.2 slot"]);
}

/// Goal: a meter that is late by 3 s shows the right watts and says how late it is. Facts: without alignment a phase of
/// 30 s of 9.70 W reads 8.90 W with a meter of one reading in 5 s.
#[test]
fn a_late_meter_is_aligned_and_says_how_late_it_is() {
    for (interval_s, tolerance_s) in [(0.1, 0.1), (1.0, 0.5), (2.0, 1.0)] {
        for seed in 0..10 {
            let model = MeterModel { interval_s, lag_s: 3.0, step_w: 0.1, noise_w: 0.05, ..HONEST };
            let found = found(&run(&model, &mut seeded(seed)));
            let meter = &found.meters[0];
            let lag_s = meter.lag_s.expect("steps of the load tell it");
            assert!((lag_s - 3.0).abs() <= tolerance_s, "{meter:?}");
            assert!(meter.lag_plus_minus_s.is_some_and(|half| half <= 2.0 * tolerance_s), "{meter:?}");
            let read_w = row(&found, "read").mean_w.expect("readings");
            assert!((read_w - 9.7).abs() < 0.1, "{interval_s} s: {read_w} W");
        }
    }
}

#[test]
fn a_load_without_a_step_tells_no_lag() {
    let mut trace = run(&HONEST, &mut seeded(1));
    trace.speeds.clear();
    let found = found(&trace);
    assert_eq!(found.meters[0].lag_s, None);
    assert!(found.notes.contains(&PowerNote::LagUnknown { meter: "meter".to_owned() }), "{:?}", found.notes);
}

/// Goal: the 95 % interval of net power holds the truth as often as it says. Method: 200 seeded runs; noise, last digit,
/// gain within the accuracy that is stated, and a baseline measured with an error of its own.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let (mut held, mut asked) = (0, 0);
    for seed in 0..200 {
        let mut noise = seeded(seed);
        let model = MeterModel {
            interval_s: if seed % 2 == 0 { 1.0 } else { 0.1 },
            lag_s: 0.5 * (seed % 3) as f64,
            step_w: 0.01,
            gain: 1.0 + 0.001 * (2.0 * noise.uniform() - 1.0),
            baseline_w: 0.3,
            noise_w: 0.1,
        };
        let mut trace = run(&model, &mut noise);
        trace.meters[0].accuracy = Some(0.001);
        // A baseline whose 95 % interval is ±0.02 W.
        trace.facts.power_baseline_w = Some((0.3 + 0.02 / 1.96 * noise.normal(), 0.02));
        let found = found(&trace);
        for (phase, _, watts, _) in PHASES {
            let row = row(&found, phase);
            let (low_w, high_w) = row.low_w.zip(row.high_w).expect("readings");
            asked += 1;
            held += u32::from((low_w..=high_w).contains(&watts));
        }
    }
    let share = f64::from(held) / f64::from(asked);
    println!("{held} of {asked} intervals hold the truth: {share:.3}");
    assert!((0.90..=0.97).contains(&share), "{held} of {asked}: {share:.3}");
}

/// Goal: energy of a known load is right to half a percent at 1 and at 10 Hz, a lag of 1.3 s included.
#[test]
fn energy_of_a_known_load_is_right_to_half_a_percent() {
    for interval_s in [1.0, 0.1] {
        for lag_s in [0.0, 1.3] {
            let found = found(&run(&MeterModel { interval_s, lag_s, ..HONEST }, &mut seeded(1)));
            for (phase, _, watts, _) in PHASES.into_iter().take(4) {
                let joules = row(&found, phase).energy_j.expect("readings");
                let share = joules / (watts * PHASE_S) - 1.0;
                assert!(share.abs() < 0.005, "{interval_s} s, {lag_s} s late, {phase}: {share:.4}");
            }
        }
    }
}

#[test]
fn holes_are_not_bridged_and_a_phase_says_what_is_covered() {
    let mut trace = run(&HONEST, &mut seeded(1));
    let mut watts = Series::new();
    for point in trace.meters[0].watts.points() {
        let t_s = point.t.as_secs_f64();
        if (100.0..110.0).contains(&t_s) {
            watts.push_gap(point.t, "no answer");
        } else {
            watts.push(point.t, point.value);
        }
    }
    trace.meters[0].watts = watts;
    let found = found(&trace);
    let read = row(&found, "read");
    assert!((0.6..0.72).contains(&read.covered), "{read:?}");
    assert_eq!(rounded(read.mean_w), Some(9.7));
    assert!(
        found.notes.iter().any(|note| matches!(note, PowerNote::Uncovered { phase, .. } if phase == "read"))
    );
}

#[test]
fn a_meter_in_kilowatts_or_without_readings_is_told() {
    let mut trace = run(&MeterModel { gain: 1e-3, ..HONEST }, &mut seeded(1));
    assert!(
        matches!(found(&trace).notes[..], [PowerNote::UnitDoubtful { .. }, ..]),
        "{:?}",
        found(&trace).notes
    );
    let mut watts = Series::new();
    watts.push_gap(instant(1.0), "no answer");
    trace.meters[0].watts = watts;
    let found = found(&trace);
    let note = PowerNote::NoReadings { meter: "meter".to_owned(), why: Some("no answer".to_owned()) };
    assert_eq!((found.notes, found.rows.len()), (vec![note], 0));
}

#[test]
fn start_up_is_a_row_where_the_drive_was_switched_on() {
    let mut trace = run(&HONEST, &mut seeded(1));
    let mut watts = Series::new();
    for point in trace.meters[0].watts.points() {
        let starting = point.t.as_secs_f64() < 4.5;
        watts.push(point.t, if starting { 4.0 } else { point.value });
    }
    trace.meters[0].watts = watts;
    trace.meters[0].lag_s = Some(0.0);
    assert!(found(&trace).rows.iter().all(|row| row.phase != "start"));
    trace.facts.switched_on = true;
    let found = found(&trace);
    let (start, idle) = (row(&found, "start"), row(&found, "idle"));
    assert_eq!((rounded(start.max_1s_w), rounded(idle.max_1s_w)), (Some(4.0), Some(2.0)));
    assert!(start.end_s > 3.5 && start.end_s == idle.start_s, "{start:?}");
}

#[test]
fn meters_are_kept_apart_and_the_first_is_the_one_that_figures_are_of() {
    let mut trace = run(&HONEST, &mut seeded(1));
    let other = run(&MeterModel { gain: 2.0, ..HONEST }, &mut seeded(1));
    trace.meters.push(MeterSeries { name: "wall".to_owned(), ..other.meters[0].clone() });
    let found = found(&trace);
    assert_eq!(found.rows.len(), 10);
    assert_eq!(found.primary().count(), 5);
    let read: Vec<Option<f64>> =
        found.rows.iter().filter(|row| row.phase == "read").map(|row| rounded(row.mean_w)).collect();
    assert_eq!(read, [Some(9.7), Some(19.4)]);
}

#[test]
fn the_last_digit_of_a_meter_is_learnt() {
    let character = |values: &[f64]| {
        let mut watts = Series::new();
        values.iter().enumerate().for_each(|(second, value)| watts.push(instant(second as f64), *value));
        meter::character(&watts)
    };
    assert_eq!(character(&[8.1, 8.4, 9.0]).step_w, Some(0.1));
    assert_eq!(character(&[8.0, 9.0]).step_w, Some(1.0));
    assert_eq!(character(&[5.1, 5.1613]).step_w, Some(1e-4));
    assert_eq!(character(&[8.25, 8.25]).step_w, None);
    assert_eq!(character(&[1.0, 3.0, 2.0]).max_1s_w, Some(3.0));
    let empty = character(&[]);
    assert_eq!((empty.readings, empty.mean_w, empty.max_1s_w), (0, None, None));
}
