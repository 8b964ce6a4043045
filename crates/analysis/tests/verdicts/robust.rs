//! What must not change a verdict: where time begins, the unit of speed, a little noise, how often the load was
//! accounted for, and whether a log came as one file or as two.

use std::fmt::Write as _;

use analysis::analyze;
use analysis::findings::{Cause, EventKind, SegmentOp};
use import::{ImportOptions, LogFile, import};
use trace::Trace;
use trace::{Interval, instant};

use crate::WRITE_THEN_READ;
use crate::drive::{Load, Policy, Setup, simulate};

/// Runs whose causes are clear, at 10 Hz.
fn clear_cases() -> Vec<(&'static str, Trace)> {
    let relay = Policy::Relay { on: 333.0, off: 330.0, speed: 0.2 };
    let own = Policy::Relay { on: 353.5, off: 349.0, speed: 2.4 };
    let writing = |seconds| vec![Load { op: SegmentOp::Write, seconds }];
    let setups = [
        (
            "TMT1",
            Setup { policies: vec![relay], tmt_k: Some((333, 343)), counts: Some(1), ..Setup::default() },
        ),
        (
            "own threshold",
            Setup {
                policies: vec![own],
                loads: WRITE_THEN_READ.to_vec(),
                tmt_k: Some((273, 358)),
                counts: Some(0),
                ..Setup::default()
            },
        ),
        ("cache", Setup { slc_gb: Some((200.0, 0.3)), loads: writing(400.0), ..Setup::default() }),
        ("dips", Setup { dips: Some((60.0, 5.0, 0.3)), tmt_k: Some((344, 348)), ..Setup::default() }),
        (
            "TMT2",
            Setup {
                policies: vec![Policy::TwoLevel {
                    light: 328.0,
                    heavy: 335.0,
                    light_speed: 1.6,
                    heavy_speed: 0.08,
                }],
                tmt_k: Some((328, 335)),
                counts: Some(2),
                loads: writing(900.0),
                ..Setup::default()
            },
        ),
        ("nothing", Setup::default()),
    ];
    setups.map(|(name, setup)| (name, simulate(&Setup { interval_s: 0.1, ..setup }).0)).into()
}

/// Kinds and causes of events with the seconds at which they are, less `shift_s`.
fn verdicts(trace: &Trace, shift_s: f64) -> Vec<(EventKind, Cause, f64)> {
    analyze(trace).events.iter().map(|event| (event.kind, event.cause, event.t_s - shift_s)).collect()
}

/// The verdicts of `changed` are those of `trace`, `within_s` of them.
fn same(name: &str, trace: &Trace, changed: &Trace, shift_s: f64, within_s: f64) {
    let (before, after) = (verdicts(trace, 0.0), verdicts(changed, shift_s));
    assert_eq!(before.len(), after.len(), "{name}: {before:?}\n{after:?}");
    for (a, b) in before.iter().zip(&after) {
        assert!((a.0, a.1) == (b.0, b.1) && (a.2 - b.2).abs() <= within_s, "{name}: {before:?}\n{after:?}");
    }
}

fn each_interval(trace: &mut Trace, change: impl Fn(&mut Interval, usize)) {
    for series in &mut trace.speeds {
        series.intervals.iter_mut().enumerate().for_each(|(index, interval)| change(interval, index));
    }
}

#[test]
fn the_beginning_of_time_changes_nothing() {
    const LATER_S: f64 = 4321.5;
    fn later<T: Clone>(series: &mut measure::Series<T>) {
        let mut moved = measure::Series::new();
        for point in series.points() {
            moved.push(instant(point.t.as_secs_f64() + LATER_S), point.value.clone());
        }
        *series = moved;
    }
    for (name, trace) in clear_cases() {
        let mut moved = trace.clone();
        each_interval(&mut moved, |interval, _| interval.start_s += LATER_S);
        moved.temperatures.iter_mut().for_each(|t| later(&mut t.kelvin));
        later(&mut moved.counters);
        for phase in &mut moved.phases {
            phase.start_s += LATER_S;
            phase.end_s += LATER_S;
        }
        same(name, &trace, &moved, LATER_S, 1e-3);
    }
}

/// Only the size of a full cache is looked at in bytes: what fills after less than 1 GB, or a terabyte, is hardly one.
#[test]
fn the_unit_of_speed_changes_nothing() {
    for (name, trace) in clear_cases() {
        for times in [5.0, 0.02] {
            let mut scaled = trace.clone();
            each_interval(&mut scaled, |interval, _| interval.bytes *= times);
            same(name, &trace, &scaled, 0.0, 0.5);
        }
    }
}

#[test]
fn a_percent_of_noise_changes_no_cause() {
    for (name, trace) in clear_cases() {
        for seed in 1..=5u32 {
            let mut noisy = trace.clone();
            // Uniform, of a standard deviation of 1 %, from a multiplicative hash.
            let noise = |index: usize| {
                let hash = (index as u32)
                    .wrapping_mul(2_654_435_761)
                    .wrapping_add(seed.wrapping_mul(40_503))
                    .reverse_bits();
                (f64::from(hash.wrapping_mul(2_246_822_519)) / f64::from(u32::MAX) - 0.5)
                    * 12f64.sqrt()
                    * 0.01
            };
            each_interval(&mut noisy, |interval, index| interval.bytes *= 1.0 + noise(index));
            same(name, &trace, &noisy, 0.0, 1.5);
        }
    }
}

#[test]
fn ten_intervals_a_second_say_what_one_says() {
    for (name, trace) in clear_cases() {
        let mut coarse = trace.clone();
        for series in &mut coarse.speeds {
            let mut seconds: Vec<Interval> = Vec::new();
            for interval in &series.intervals {
                match seconds.last_mut() {
                    Some(last) if last.phase == interval.phase && last.span_s < 1.0 - 1e-6 => {
                        last.span_s += interval.span_s;
                        last.bytes += interval.bytes;
                    }
                    _ => seconds.push(*interval),
                }
            }
            series.intervals = seconds;
        }
        same(name, &trace, &coarse, 0.0, 2.0);
    }
}

/// The rows of a trace from one second to another as a plain CSV with a wall clock.
fn csv(trace: &Trace, from_s: f64, to_s: f64) -> String {
    let mut text = String::from(
        "t_s,read_bytes_per_s,write_bytes_per_s,composite_k,tmt1_c,tmt2_c,tmt1_transitions,tmt2_transitions,phase\n",
    );
    let rate = |op: SegmentOp, t_s: f64| {
        let series = trace.speeds.iter().find(|series| series.op == op)?;
        let at = series.intervals.partition_point(|i| i.end_s() <= t_s + 0.05);
        series.intervals.get(at).filter(|i| i.start_s <= t_s + 0.05).map(Interval::bytes_per_s)
    };
    let steps = (from_s * 10.0).round() as usize..(to_s * 10.0).round() as usize;
    for step in steps {
        let t_s = step as f64 / 10.0;
        let cell = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let seconds = step.is_multiple_of(10).then_some(step / 10);
        let composite = seconds.and_then(|s| trace.temperatures[0].kelvin.points().get(s)).map(|p| p.value);
        let counters = seconds.and_then(|s| trace.counters.points().get(s)).map(|p| p.value);
        let count = |of: Option<Option<u64>>| of.flatten().map(|n| n.to_string()).unwrap_or_default();
        let (tmt1_k, tmt2_k) = trace.tmt_at(t_s);
        let phase = trace.phases.iter().rfind(|p| p.start_s <= t_s + 0.05).map_or("", |p| p.name.as_str());
        let _ = writeln!(
            text,
            "{:.1},{},{},{},{},{},{},{},{phase}",
            1.7e9 + t_s,
            cell(rate(SegmentOp::Read, t_s)),
            cell(rate(SegmentOp::Write, t_s)),
            cell(composite),
            cell(tmt1_k.map(|k| k - 273.0)),
            cell(tmt2_k.map(|k| k - 273.0)),
            count(counters.map(|c| c.tmt1_transitions)),
            count(counters.map(|c| c.tmt2_transitions)),
        );
    }
    text
}

/// Goal: a log that was rotated says what it said whole. Method: the same rows as one file and as two, cut where the drive
/// is at full speed.
#[test]
fn two_files_say_what_one_says() {
    for (name, trace) in clear_cases() {
        let end_s = trace.end_s().floor();
        let read = |files: &[(&str, String)]| {
            let sources =
                files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes())).collect();
            import(sources, &ImportOptions::default()).expect("plain CSVs")
        };
        let whole = read(&[("whole.csv", csv(&trace, 0.0, end_s))]);
        let cut = [("a.csv", csv(&trace, 0.0, 41.0)), ("b.csv", csv(&trace, 41.0, end_s))];
        same(name, &whole, &read(&cut), 0.0, 1.0);
    }
}
