//! Columns of a plain CSV to the series of a trace. The rules are in [`super`]'s header.

use measure::record::ThermalSettings;
use measure::{Celsius, Kelvin, Series};

use super::header::AMBIENT;
use super::table::CsvTable;
use crate::rates::{GAP_STEPS, usual_step_s};
use trace::SegmentOp;
use trace::{Counters, Interval, MINOR_SHARE, Phase, SpeedSeries, Temperature, Trace, infer_phases, instant};

/// Fewer values have no period of their own.
const LEAST_VALUES: usize = 3;
/// Air that wanders by more than this during a run is told, in kelvins.
const AMBIENT_STEADY_K: f64 = 3.0;

pub(super) fn add_speeds(table: &CsvTable, trace: &mut Trace) {
    let starts: Vec<f64> = table.times().collect();
    let sources = [
        (SegmentOp::Read, "read_bytes_per_s", 1.0),
        (SegmentOp::Read, "read_mb_per_s", 1e6),
        (SegmentOp::Write, "write_bytes_per_s", 1.0),
        (SegmentOp::Write, "write_mb_per_s", 1e6),
        (SegmentOp::Trim, "trim_bytes_per_s", 1.0),
    ];
    for (op, name, unit) in sources {
        let Some(rates) = table.column(name) else { continue };
        // A column has a period of its own: what is written in every tenth row holds until the next.
        let known: Vec<usize> = (0..rates.len()).filter(|row| !rates[*row].is_nan()).collect();
        let step_s = usual_step_s(known.iter().map(|row| starts[*row]))
            .filter(|_| known.len() >= LEAST_VALUES)
            .unwrap_or(table.step_s());
        let span_s = |at: usize| match known.get(at + 1) {
            Some(next) if starts[*next] - starts[known[at]] <= GAP_STEPS * step_s => {
                starts[*next] - starts[known[at]]
            }
            _ => step_s,
        };
        let intervals = known.iter().enumerate().map(|(at, row)| Interval {
            start_s: starts[*row],
            span_s: span_s(at),
            bytes: rates[*row] * unit * span_s(at),
            phase: 0,
        });
        trace.speeds.push(SpeedSeries { op, intervals: intervals.collect() });
    }
    let written = table.column("written_bytes");
    if let Some(written) = written.filter(|_| !trace.speeds.iter().any(|s| s.op == SegmentOp::Write)) {
        let known: Vec<usize> = (0..written.len()).filter(|row| !written[*row].is_nan()).collect();
        let intervals = known.windows(2).map(|pair| Interval {
            start_s: starts[pair[0]],
            span_s: starts[pair[1]] - starts[pair[0]],
            bytes: (written[pair[1]] - written[pair[0]]).max(0.0),
            phase: 0,
        });
        trace.speeds.push(SpeedSeries { op: SegmentOp::Write, intervals: intervals.collect() });
        trace.notes.push("write speed is taken from the differences of written_bytes".into());
    }
    trace.io_errors =
        table.column("errors").map_or(0, |c| c.iter().filter(|e| !e.is_nan()).sum::<f64>() as u64);
}

/// The air around the drive, unless the file states it as a fact: the middle one of its readings.
fn add_ambient(table: &CsvTable, trace: &mut Trace) {
    if trace.facts.ambient_k.is_some() {
        return;
    }
    let readings = table.column(AMBIENT).into_iter().flatten().filter(|celsius| !celsius.is_nan());
    let mut celsius: Vec<f64> = readings.copied().collect();
    celsius.sort_unstable_by(f64::total_cmp);
    let Some(middle) = celsius.get(celsius.len() / 2) else { return };
    trace.facts.ambient_k = Some(kelvin_from_celsius(*middle, false));
    let (coolest, warmest) = (celsius[0], celsius[celsius.len() - 1]);
    if warmest - coolest > AMBIENT_STEADY_K {
        trace.notes.push(format!("ambient_c went from {coolest:.1} to {warmest:.1} °C; the middle one, {middle:.1} °C, is taken for the run"));
    }
}

pub(super) fn add_readings(table: &CsvTable, trace: &mut Trace) {
    add_ambient(table, trace);
    for (column, values) in &table.columns {
        let (name, whole) = match *column {
            "composite_k" => ("composite", None),
            "temp_c" if table.column("composite_k").is_some() => ("temp", Some(is_whole(values))),
            "temp_c" => ("composite", Some(is_whole(values))),
            sensor if sensor.starts_with("sensor") => (sensor.trim_end_matches("_c"), Some(is_whole(values))),
            _ => continue,
        };
        let read = values.iter().filter(|value| !value.is_nan()).count();
        let mut temperature = Temperature { name: name.into(), kelvin: Series::with_capacity(read) };
        for (t_s, value) in table.times().zip(values) {
            match whole {
                _ if value.is_nan() => temperature.kelvin.push_gap(instant(t_s), "no reading"),
                Some(whole) => temperature.kelvin.push(instant(t_s), kelvin_from_celsius(*value, whole)),
                // On the wire 0 K is "not reported" (NVMe Base 2.3, SMART log).
                None if *value == 0.0 => temperature.kelvin.push_gap(instant(t_s), "reported as 0 K"),
                None => temperature.kelvin.push(instant(t_s), *value),
            }
        }
        trace.temperatures.push(temperature);
    }
    let cell = |name: &str, row: usize| table.column(name).map(|c| c[row]).filter(|v| !v.is_nan());
    for (row, t_s) in table.times().enumerate() {
        let counter = |name: &str| cell(name, row).map(|v| v as u64);
        let counters = Counters {
            tmt1_transitions: counter("tmt1_transitions"),
            tmt2_transitions: counter("tmt2_transitions"),
            tmt1_seconds: counter("tmt1_seconds"),
            tmt2_seconds: counter("tmt2_seconds"),
        };
        if counters != Counters::default() {
            trace.counters.push(instant(t_s), counters);
        }
        if let Some(power) = cell("power_w", row) {
            trace.power_w.push(instant(t_s), power);
        }
        let kelvin = |name: &str| cell(name, row).map(|c| kelvin_from_celsius(c.round(), true) as u16);
        let (tmt1_k, tmt2_k) = (kelvin("tmt1_c"), kelvin("tmt2_c"));
        let now = trace.settings.points().last().map(|point| point.value.clone()).unwrap_or_default();
        let new = ThermalSettings {
            tmt1_k: tmt1_k.or(now.tmt1_k),
            tmt2_k: tmt2_k.or(now.tmt2_k),
            power_state: None,
        };
        if new != now {
            trace.settings.push(instant(t_s), new);
        }
    }
}

fn is_whole(values: &[f64]) -> bool {
    values.iter().all(|v| v.is_nan() || v.fract() == 0.0)
}

/// Phases as they are named, and when; empty where none has a name.
pub(super) fn named_phases(table: &CsvTable) -> Vec<Phase> {
    let mut named: Vec<Phase> = Vec::new();
    if table.phases().all(str::is_empty) {
        return named;
    }
    for (t_s, name) in table.times().zip(table.phases()) {
        match named.last_mut() {
            Some(last) if last.name == name => last.end_s = t_s,
            _ => {
                if let Some(last) = named.last_mut() {
                    last.end_s = t_s;
                }
                named.push(Phase::bare(name, SegmentOp::Idle, t_s, t_s));
            }
        }
    }
    if let Some(last) = named.last_mut() {
        last.end_s += table.step_s();
    }
    named
}

/// Gives the speeds their phases, and the phases their operations: by name, or by what moved the data.
pub(super) fn add_phases(mut named: Vec<Phase>, trace: &mut Trace) {
    if named.is_empty() {
        return infer_phases(trace);
    }
    let starts: Vec<f64> = named.iter().map(|phase| phase.start_s).collect();
    for interval in trace.speeds.iter_mut().flat_map(|series| &mut series.intervals) {
        interval.phase = starts.partition_point(|s| *s <= interval.start_s).saturating_sub(1) as u32;
    }
    let mut bytes = vec![vec![0.0; trace.speeds.len()]; named.len()];
    for (column, series) in trace.speeds.iter().enumerate() {
        for interval in &series.intervals {
            bytes[interval.phase as usize][column] += interval.bytes;
        }
    }
    for (phase, bytes) in named.iter_mut().zip(&bytes) {
        phase.op = op_named(&phase.name).unwrap_or_else(|| main_op(&trace.speeds, bytes));
    }
    trace.phases = named;
}

fn op_named(name: &str) -> Option<SegmentOp> {
    match name {
        "read" => Some(SegmentOp::Read),
        "write" => Some(SegmentOp::Write),
        "mixed" => Some(SegmentOp::Mixed),
        "trim" => Some(SegmentOp::Trim),
        "idle" => Some(SegmentOp::Idle),
        _ => None,
    }
}

/// The operation that moved the data of a phase; `bytes` as many as there are series.
fn main_op(speeds: &[SpeedSeries], bytes: &[f64]) -> SegmentOp {
    let total: f64 = bytes.iter().sum();
    let alone = speeds.iter().zip(bytes).find(|(_, bytes)| **bytes >= (1.0 - MINOR_SHARE) * total);
    match alone {
        _ if total <= 0.0 => SegmentOp::Idle,
        Some((series, _)) => series.op,
        None => SegmentOp::Mixed,
    }
}

/// Kelvins of a temperature in °C; `whole` says that it belongs to a column of whole degrees.
pub(crate) fn kelvin_from_celsius(degrees: f64, whole: bool) -> f64 {
    let exact = Celsius::from_degrees(degrees).as_kelvin_f64();
    match Kelvin::from_whole_celsius(degrees.clamp(-300.0, 10_000.0) as i32) {
        Some(kelvin) if whole => f64::from(kelvin.as_kelvin()),
        _ => exact,
    }
}
