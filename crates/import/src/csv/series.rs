//! Columns of a plain CSV to the series of a trace. The rules are in [`super`]'s header.

use measure::record::ThermalSettings;
use measure::{Celsius, Kelvin, Series};

use super::columns::{EITHER, direction};
use super::header::AMBIENT;
use super::table::CsvTable;
use crate::rates::{GAP_STEPS, differences, is_counter, is_told_as_counter, usual_step_s};
use trace::SegmentOp;
use trace::{Counters, Interval, MINOR_SHARE, Phase, SpeedSeries, Temperature, Trace, infer_phases, instant};

/// Fewer values have no period of their own.
const LEAST_VALUES: usize = 3;
const OF_TIME_BEFORE: &str = "speeds stand in some rows only, first in the last row of their usual distance: taken for means of the time before";
/// A phase of fewer rows is all first and last ones.
const LEAST_REST_ROWS: usize = 5;
/// Air that wanders by more than this during a run is told, in kelvins.
const AMBIENT_STEADY_K: f64 = 3.0;

/// # Errors
/// Where bytes ever moved fall so often that they are none.
pub(super) fn add_speeds(table: &CsvTable, trace: &mut Trace) -> Result<(), String> {
    let starts: Vec<f64> = table.times().collect();
    let sources = [
        (SegmentOp::Read, "read_bytes_per_s", 1.0),
        (SegmentOp::Read, "read_mb_per_s", 1e6),
        (SegmentOp::Write, "write_bytes_per_s", 1.0),
        (SegmentOp::Write, "write_mb_per_s", 1e6),
        (SegmentOp::Trim, "trim_bytes_per_s", 1.0),
        (SegmentOp::Read, "read_bytes_per_row", 1.0),
        (SegmentOp::Write, "write_bytes_per_row", 1.0),
    ];
    for (op, name, unit) in sources {
        let Some(rates) = table.column(name) else { continue };
        if trace.speeds.iter().any(|series| series.op == op) {
            continue;
        }
        let bytes =
            |rate: f64, span_s: f64| rate * if name.ends_with("_per_row") { 1.0 } else { unit * span_s };
        let (_, intervals) = over_time(table, &starts, rates, bytes, &mut trace.notes);
        trace.speeds.push(SpeedSeries { op, intervals });
    }
    add_either(table, &starts, trace)?;
    let moved = |name: &str| -> Option<Vec<(f64, f64)>> {
        let known = starts.iter().zip(table.column(name)?).filter(|(_, bytes)| !bytes.is_nan());
        Some(known.map(|(t, bytes)| (*t, *bytes)).collect())
    };
    if trace.speeds.is_empty() && table.has_unsure_bytes {
        let both = ["written_bytes", "read_bytes"].map(|name| moved(name).unwrap_or_default());
        is_told_as_counter(
            &both.each_ref().map(Vec::as_slice),
            "Call the column written_bytes or read_bytes for the first, write_bytes_per_row or read_bytes_per_row for the second",
        )?;
    }
    for (op, name, what) in
        [(SegmentOp::Write, "written_bytes", "write"), (SegmentOp::Read, "read_bytes", "read")]
    {
        if trace.speeds.iter().any(|series| series.op == op) {
            continue;
        }
        let Some(known) = moved(name) else { continue };
        is_counter(&known)?;
        let intervals = differences(&known, 0.0, 1.0, trace);
        trace.speeds.push(SpeedSeries { op, intervals });
        trace.notes.push(format!("{what} speed is taken from the differences of {name}"));
    }
    trace.io_errors =
        table.column("errors").map_or(0, |c| c.iter().filter(|e| !e.is_nan()).sum::<f64>() as u64);
    Ok(())
}

/// The rows of a column that have a value, and their intervals; `bytes` are those of a value and a span, and what was decided goes into `notes`.
fn over_time(
    table: &CsvTable,
    starts: &[f64],
    values: &[f64],
    bytes: impl Fn(f64, f64) -> f64,
    notes: &mut Vec<String>,
) -> (Vec<usize>, Vec<Interval>) {
    // A column has a period of its own: what is written in every tenth row holds until the next.
    let known: Vec<usize> = (0..values.len()).filter(|row| !values[*row].is_nan()).collect();
    let step_s = usual_step_s(known.iter().map(|row| starts[*row]))
        .filter(|_| known.len() >= LEAST_VALUES)
        .unwrap_or(table.step_s());
    let before = is_of_time_before(starts, &known, step_s, table.step_s());
    if before && !notes.iter().any(|note| note == OF_TIME_BEFORE) {
        notes.push(OF_TIME_BEFORE.to_owned());
    }
    let span_s = |at: usize| {
        let (from, to) = if before { (at.checked_sub(1), Some(at)) } else { (Some(at), Some(at + 1)) };
        let known_s = |at: Option<usize>| Some(starts[*known.get(at?)?]);
        let apart_s = known_s(to).zip(known_s(from)).map(|(to_s, from_s)| to_s - from_s);
        apart_s.filter(|apart_s| *apart_s <= GAP_STEPS * step_s).unwrap_or(step_s)
    };
    let interval = |(at, row): (usize, &usize)| {
        let span_s = span_s(at);
        let start_s = if before { starts[*row] + table.step_s() - span_s } else { starts[*row] };
        Interval { start_s, span_s, bytes: bytes(values[*row], span_s), phase: 0 }
    };
    let intervals = known.iter().enumerate().map(interval).collect();
    (known, intervals)
}

/// Speeds of reading or of writing, whichever each row names.
fn add_either(table: &CsvTable, starts: &[f64], trace: &mut Trace) -> Result<(), String> {
    let Some(rates) = table.column(EITHER) else { return Ok(()) };
    let names: Vec<&str> = table.phases().collect();
    let mut both = [SegmentOp::Read, SegmentOp::Write].map(|op| SpeedSeries { op, intervals: Vec::new() });
    let (rows, intervals) = over_time(table, starts, rates, |rate, span_s| rate * span_s, &mut trace.notes);
    for (row, interval) in rows.into_iter().zip(intervals) {
        match direction(names[row]) {
            Some(SegmentOp::Read) => both[0].intervals.push(interval),
            Some(_) => both[1].intervals.push(interval),
            None if interval.bytes == 0.0 => {}
            None => {
                return Err(format!(
                    "at {:.1} s data moved, and {:?} is neither read nor write: give reading and writing a column of their own",
                    interval.start_s, names[row]
                ));
            }
        }
    }
    trace.speeds.extend(both.into_iter().filter(|series| !series.intervals.is_empty()));
    Ok(())
}

/// Whether speeds that stand in every so many rows are means up to their row: the first one then stands so far from the beginning, where one
/// that holds from its row on would stand in the first row.
fn is_of_time_before(starts: &[f64], known: &[usize], step_s: f64, row_s: f64) -> bool {
    let first_s = known.first().map_or(0.0, |first| starts[*first] - starts[0]);
    known.len() >= LEAST_VALUES && 2.0 * first_s >= step_s && (first_s + row_s - step_s).abs() < 1.5 * row_s
}

/// The air around the drive, unless the file states it as a fact: the median of its readings.
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
        trace.notes.push(format!("ambient_c went from {coolest:.1} to {warmest:.1} °C; the median, {middle:.1} °C, is taken for the run"));
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
        let (tmt1_k, tmt2_k) = (cell("tmt1_c", row).map(threshold_k), cell("tmt2_c", row).map(threshold_k));
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

/// A threshold that the host sets, in kelvins; 0 is off, and so is 0 °C, as the number of one that is off is written down.
pub(super) fn threshold_k(celsius: f64) -> u16 {
    if celsius <= 0.0 { 0 } else { kelvin_from_celsius(celsius.round(), true) as u16 }
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
pub(crate) fn add_phases(mut named: Vec<Phase>, trace: &mut Trace) {
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
    let still = still(&named, trace);
    for ((phase, bytes), still) in named.iter_mut().zip(&bytes).zip(still) {
        let op = || if still { SegmentOp::Idle } else { main_op(&trace.speeds, bytes) };
        phase.op = op_named(&phase.name).unwrap_or_else(op);
    }
    trace.phases = named;
}

/// Of each phase, whether data moved in its first or last row alone, which hold some of the loads beside it: a rest, whatever it is called.
fn still(named: &[Phase], trace: &Trace) -> Vec<bool> {
    let trickle = trace.trickle_bytes_per_s();
    let (mut rows, mut inner) = (vec![0_usize; named.len()], vec![false; named.len()]);
    for interval in trace.speeds.iter().flat_map(|series| &series.intervals) {
        let at = interval.phase as usize;
        let phase = &named[at];
        // Rows of one step each, but where one is cut off by the phase's end.
        let is_border = interval.start_s - phase.start_s < 0.5 * interval.span_s
            || phase.end_s - interval.end_s() < 0.5 * interval.span_s;
        rows[at] += 1;
        inner[at] |= !is_border && interval.bytes_per_s() > trickle;
    }
    rows.iter().zip(inner).map(|(rows, moves)| *rows >= LEAST_REST_ROWS && !moves).collect()
}

fn op_named(name: &str) -> Option<SegmentOp> {
    match name {
        "read" => Some(SegmentOp::Read),
        "write" => Some(SegmentOp::Write),
        "mixed" => Some(SegmentOp::Mixed),
        "trim" => Some(SegmentOp::Trim),
        "idle" => Some(SegmentOp::Idle),
        _ => direction(name).filter(|_| name.len() > 1),
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
