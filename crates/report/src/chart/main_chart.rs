//! The main chart: speed on the left axis, temperature on the right, thresholds, phases and events.

use measure::record::Op;

use super::build::{bucket_for, chart_bucket_s, frame, op_ink, typical_span_s};
use super::{
    AxisSide, Chart, ChartLine, ChartTable, Ink, LevelLine, Rows, SpeedUnit, Stroke, speed_axis,
    temperature_axis,
};
use crate::format::{self, celsius};
use crate::reduce::{self, CHART_POINTS, TABLE_ROWS};
use crate::sentences;
use crate::view::{Level, OpSpeed, ReportInput};

/// A threshold this far from the readings, in °C, still matters to them; farther ones would squeeze the curve.
const LEVEL_REACH_C: f64 = 12.0;

/// Trims up to so many times the highest speed of data are drawn: what the axis has of air above it.
const AIR_FOR_TRIMS: f64 = 1.05;

/// Speed on the left, temperature on the right.
pub(crate) fn main_chart(input: &ReportInput) -> Chart {
    let mut chart = frame(input, "speed-temperature", "Speed and temperature over time");
    let top = highest(input.data());
    let unit = SpeedUnit::for_max(top);
    let bucket_s = chart_bucket_s(input);
    let mut raw_s = None;
    for series in &input.speed {
        raw_s = raw_s.or_else(|| typical_span_s(&series.intervals));
        let (raw, is_reduced) = reduce::raw_line(&series.intervals, CHART_POINTS);
        let raw_name = if is_reduced { "lowest and highest intervals" } else { "intervals" };
        let to_unit = |points: Vec<reduce::ChartPoint>| {
            points.into_iter().map(|(t, v)| (t, v.map(|v| unit.convert(v)))).collect::<Vec<_>>()
        };
        let line = |name: String, stroke, points| ChartLine {
            name,
            side: AxisSide::Left,
            ink: op_ink(series.op),
            stroke,
            shown: true,
            points,
        };
        // Trims are a hundred times as fast as data: on one scale with them, data would be a line at zero.
        let most = if series.op == Op::Trim { top * AIR_FOR_TRIMS } else { f64::MAX };
        let on_scale = |points: Vec<reduce::ChartPoint>| -> Vec<reduce::ChartPoint> {
            points.into_iter().map(|(t, v)| (t, v.filter(|v| *v <= most))).collect()
        };
        let thin = to_unit(on_scale(raw));
        let mean = to_unit(on_scale(reduce::mean_line(&series.intervals, bucket_s)));
        // Where intervals are as long as the mean's, both lines are the same: one will do. A single mean is no line.
        let is_finer = typical_span_s(&series.intervals).is_some_and(|span_s| span_s < bucket_s * 0.99);
        if is_finer && (mean.len() > 1 || thin.len() <= 1) {
            chart.lines.push(line(format!("{}, {raw_name}", series.op), Stroke::Thin, thin));
            let name = format!("{}, mean of {}", series.op, format::seconds(bucket_s));
            chart.lines.push(line(name, Stroke::Solid, mean));
        } else {
            chart.lines.push(line(series.op.to_string(), Stroke::Solid, thin));
        }
    }
    chart.left = speed_axis("Speed", unit, unit.convert(top));
    add_temperatures(&mut chart, input);
    chart.table = speed_table(input, unit);
    chart.note = main_note(raw_s, bucket_s, &chart);
    let trims = highest(input.speed.iter().filter(|series| series.op == Op::Trim));
    if trims > top * AIR_FOR_TRIMS {
        let most = format::speed(Some(trims));
        chart
            .note
            .push_str(&format!(" Trims are off the scale where they deallocate faster (up to {most})."));
    }
    chart.alt = alt_text(input, &chart);
    chart
}

/// The highest speed of an interval, in bytes per second; 0 without any.
fn highest<'a>(series: impl Iterator<Item = &'a OpSpeed>) -> f64 {
    let values = series.flat_map(|series| &series.intervals).map(|interval| interval.value);
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// Adds the temperatures, and their axis by the first of them: others may be far hotter, and are not shown at first.
fn add_temperatures(chart: &mut Chart, input: &ReportInput) {
    for (index, readings) in input.temperature.iter().enumerate() {
        chart.lines.push(ChartLine {
            name: format!("{} temperature", readings.name),
            side: AxisSide::Right,
            ink: if index == 0 { Ink::Composite } else { Ink::Sensor(index - 1) },
            stroke: Stroke::Dotted,
            shown: index == 0,
            points: reduce::readings_line(&readings.points, CHART_POINTS),
        });
    }
    let first = chart.lines.iter().find(|line| line.side == AxisSide::Right);
    let values: Vec<f64> = first.iter().flat_map(|line| &line.points).filter_map(|point| point.1).collect();
    let (low, high) = (values.iter().copied().reduce(f64::min), values.iter().copied().reduce(f64::max));
    if let (Some(low), Some(high)) = (low, high) {
        chart.levels = levels(&input.levels, low, high);
        let values = chart.levels.iter().map(|level| level.value);
        let (low, high) = values.fold((low, high), |(low, high), value| (low.min(value), high.max(value)));
        chart.right = Some(temperature_axis(low, high));
    } else {
        chart.lines.retain(|line| line.side == AxisSide::Left);
    }
}

/// The thresholds that lie near the readings, in rising order; those at one temperature share a line.
fn levels(all: &[Level], low: f64, high: f64) -> Vec<LevelLine> {
    let reach = low - LEVEL_REACH_C..=high + LEVEL_REACH_C;
    let mut near: Vec<&Level> = all.iter().collect();
    near.retain(|level| reach.contains(&celsius(f64::from(level.temp_k))));
    near.sort_by_key(|level| (level.temp_k, level.kind));
    let line = |same: &[&Level]| {
        let value = celsius(f64::from(same[0].temp_k));
        let names: Vec<&str> = same.iter().map(|level| level.kind.name()).collect();
        LevelLine { label: format!("{} {}", names.join(", "), format::degrees(value)), value }
    };
    near.chunk_by(|a, b| a.temp_k == b.temp_k).map(line).collect()
}

fn main_note(raw_s: Option<f64>, bucket_s: f64, chart: &Chart) -> String {
    let mut parts = Vec::new();
    if let Some(raw_s) = raw_s {
        let length = format::cell(Some(raw_s * 1000.0), 0);
        let is_reduced = chart.lines.iter().any(|line| line.name.contains("lowest and highest"));
        let thin = if is_reduced {
            format!(
                "thin: lowest and highest of neighbouring intervals of {length} ms, at most {CHART_POINTS} points a line"
            )
        } else {
            format!("thin: every interval of {length} ms")
        };
        if chart.lines.iter().any(|line| line.stroke == Stroke::Thin) {
            parts.push(format!("Speed, {thin}; bold: mean of {}.", format::seconds(bucket_s)));
        } else {
            parts.push(format!("Speed: mean of each interval of {length} ms."));
        }
    }
    if chart.right.is_some() {
        parts.push("Temperature is dotted, on the right axis.".to_owned());
    }
    parts.push("Missing readings are gaps.".to_owned());
    parts.join(" ")
}

fn alt_text(input: &ReportInput, chart: &Chart) -> String {
    let names: Vec<&str> = chart
        .lines
        .iter()
        .filter(|line| line.stroke != Stroke::Thin)
        .map(|line| line.name.as_str())
        .collect();
    let badge = input.simulated_badge().map(|badge| format!(" {badge}.")).unwrap_or_default();
    format!(
        "Line chart over {}: {}.{badge} {} The numbers are in the table below the chart.",
        format::seconds(chart.end_s),
        if names.is_empty() { "no data".to_owned() } else { names.join(", ") },
        sentences::summary(input).sentences().join(" ")
    )
}

/// Speed and temperatures, one row a bucket.
fn speed_table(input: &ReportInput, unit: SpeedUnit) -> ChartTable {
    let bucket_s = bucket_for(input, TABLE_ROWS);
    let mut rows = Rows::new(bucket_s);
    for series in &input.speed {
        let buckets: Vec<_> = reduce::means(&series.intervals, bucket_s).collect();
        for (what, value) in [("mean", 0), ("lowest", 1), ("highest", 2)] {
            let pick = |bucket: &reduce::Bucket| [bucket.mean, bucket.min, bucket.max][value];
            let cells = buckets.iter().map(|bucket| (bucket.start_s, unit.convert(pick(bucket))));
            rows.add(format!("{} {what} ({})", series.op, unit.name()), unit.decimals(), cells);
        }
    }
    for readings in &input.temperature {
        let cells = reduce::reading_means(&readings.points, bucket_s);
        rows.add(format!("{} (°C)", readings.name), 1, cells.into_iter());
    }
    rows.table()
}
