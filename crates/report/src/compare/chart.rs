//! The overlaid chart: speed of each run solid, its temperature dotted, both in the run's colour.

use crate::chart::{
    Axis, AxisSide, Band, Chart, ChartLine, Ink, Rows, SpeedUnit, Stroke, XAxis, bucket_for, main_chart,
    speed_axis, temperature_axis,
};
use crate::compare::alias::Alias;
use crate::format;
use crate::reduce::{self, ChartPoint, TABLE_ROWS};
use crate::view::ReportInput;

/// Points a line has at most: with many runs in a page it has to be fewer than in a report.
const POINTS: usize = 2000;

/// All runs in one chart: speed of each operation solid, temperature dotted, in the run's colour.
pub(super) fn overlay(runs: &[ReportInput], aliases: &[Alias]) -> Chart {
    let end_s = runs.iter().map(ReportInput::end_s).fold(0.0, f64::max);
    let bucket_s = runs.iter().map(|run| bucket_for(run, POINTS)).fold(1.0, f64::max);
    let speeds: Vec<Vec<ChartPoint>> = runs.iter().map(|run| speed(run, bucket_s)).collect();
    let top = speeds.iter().flatten().filter_map(|point| point.1).fold(0.0, f64::max);
    let unit = SpeedUnit::for_max(top);
    let mut lines = Vec::new();
    for (index, (run, speed)) in runs.iter().zip(speeds).enumerate() {
        let simulated = if run.simulated_badge().is_some() { " (SIMULATED)" } else { "" };
        let mut add = |what: &str, side, stroke, points| {
            lines.push(ChartLine {
                name: format!("{}{simulated}, {what}", aliases[index].letter),
                side,
                ink: Ink::Run(index),
                stroke,
                shown: true,
                points,
            });
        };
        let in_unit = speed.into_iter().map(|(t, v)| (t, v.map(|v| unit.convert(v)))).collect();
        add("speed", AxisSide::Left, Stroke::Solid, in_unit);
        if let Some(readings) = run.temperature.first() {
            let points = reduce::readings_line(&readings.points, POINTS);
            add("temperature", AxisSide::Right, Stroke::Dotted, points);
        }
    }
    let right = right_axis(&lines);
    if right.is_none() {
        lines.retain(|line| line.side == AxisSide::Left);
    }
    Chart {
        id: "comparison".to_owned(),
        title: "Speed and temperature over time, all runs".to_owned(),
        alt: format!(
            "Line chart that compares the speed and temperature of {} runs. The numbers are in the table.",
            runs.len()
        ),
        note: format!(
            "Speed: what moves data in each phase, mean of {}, solid. Temperature: dotted, on the right axis. A line can \
             be hidden by its button.",
            format::seconds(bucket_s)
        ),
        end_s: if end_s > 0.0 { end_s } else { 1.0 },
        x: XAxis::Time,
        wall_unix_s: None,
        left: speed_axis("Speed", unit, unit.convert(top)),
        right,
        lines,
        levels: Vec::new(),
        bands: shared_phases(runs),
        marks: Vec::new(),
        table: table(runs, aliases, unit),
    }
}

/// One chart a run, all on the same axes, so that curves that would lie over each other can be read.
pub(super) fn panels(runs: &[ReportInput], aliases: &[Alias]) -> Vec<Chart> {
    let charts: Vec<Chart> = runs.iter().map(main_chart).collect();
    let unit_of = |chart: &Chart| if chart.left.unit == SpeedUnit::Giga.name() { 1e9 } else { 1e6 };
    let top = charts.iter().map(|chart| chart.left.max * unit_of(chart)).fold(0.0, f64::max);
    let unit = SpeedUnit::for_max(top);
    let end_s = charts.iter().map(|chart| chart.end_s).fold(1.0, f64::max);
    let right: Vec<&Axis> = charts.iter().filter_map(|chart| chart.right.as_ref()).collect();
    let low = right.iter().map(|axis| axis.min).fold(f64::INFINITY, f64::min);
    let high = right.iter().map(|axis| axis.max).fold(f64::NEG_INFINITY, f64::max);
    let shared = |(index, chart): (usize, Chart)| {
        let factor = unit_of(&chart) / unit.convert(1.0).recip();
        let mut chart = Chart { id: format!("run-{}", index + 1), end_s, wall_unix_s: None, ..chart };
        let simulated = if runs[index].simulated_badge().is_some() { " (SIMULATED)" } else { "" };
        chart.title = format!("{}: {}{simulated}", aliases[index].letter, aliases[index].differs);
        chart.left =
            Axis { unit: unit.name(), max: unit.convert(top), decimals: unit.decimals(), ..chart.left };
        chart.lines.retain(|line| line.stroke != Stroke::Thin);
        for line in chart.lines.iter_mut().filter(|line| line.side == AxisSide::Left) {
            line.points.iter_mut().for_each(|point| point.1 = point.1.map(|value| value * factor));
        }
        if let Some(axis) = &mut chart.right {
            (axis.min, axis.max) = (low, high);
        }
        chart.note = "All panels have the same axes.".to_owned();
        chart
    };
    charts.into_iter().enumerate().map(shared).collect()
}

fn speed(run: &ReportInput, bucket_s: f64) -> Vec<ChartPoint> {
    let mut line: Vec<ChartPoint> = Vec::new();
    let mut next_s = f64::INFINITY;
    for (start_s, covered_s, rate) in
        reduce::totals(run.data().map(|series| series.intervals.as_slice()), bucket_s)
    {
        if covered_s < reduce::LEAST_COVERED * bucket_s {
            continue;
        }
        if start_s > next_s + bucket_s / 2.0 {
            line.push((next_s, None));
        }
        line.push(((start_s + bucket_s / 2.0).min(run.end_s()), Some(rate)));
        next_s = start_s + bucket_s;
    }
    line
}

fn right_axis(lines: &[ChartLine]) -> Option<Axis> {
    let right = lines.iter().filter(|line| line.side == AxisSide::Right).flat_map(|line| &line.points);
    let values: Vec<f64> = right.filter_map(|point| point.1).collect();
    let (low, high) = (values.iter().copied().reduce(f64::min)?, values.iter().copied().reduce(f64::max)?);
    Some(temperature_axis(low, high))
}

/// Phases are drawn only where all runs have the same ones at the same times, to a second.
fn shared_phases(runs: &[ReportInput]) -> Vec<Band> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let same = |run: &ReportInput| {
        run.phases.len() == first.phases.len()
            && run.phases.iter().zip(&first.phases).all(|(a, b)| {
                a.name == b.name && (a.start_s - b.start_s).abs() <= 1.0 && (a.end_s - b.end_s).abs() <= 1.0
            })
    };
    if !others.iter().all(same) {
        return Vec::new();
    }
    let band = |phase: &crate::view::RunPhase| Band {
        label: phase.name.clone(),
        from_s: phase.start_s,
        to_s: phase.end_s,
    };
    first.phases.iter().map(band).collect()
}

fn table(runs: &[ReportInput], aliases: &[Alias], unit: SpeedUnit) -> crate::chart::ChartTable {
    let bucket_s = runs.iter().map(|run| bucket_for(run, TABLE_ROWS)).fold(1.0, f64::max);
    let mut rows = Rows::new(bucket_s);
    for (run, alias) in runs.iter().zip(aliases) {
        let name = &alias.letter;
        let speed = reduce::totals(run.data().map(|series| series.intervals.as_slice()), bucket_s);
        let cells = speed.into_iter().map(|(start_s, _, rate)| (start_s, unit.convert(rate)));
        rows.add(format!("{name}: speed ({})", unit.name()), unit.decimals(), cells);
        if let Some(readings) = run.temperature.first() {
            let cells = reduce::reading_means(&readings.points, bucket_s);
            rows.add(format!("{name}: temperature (°C)"), 1, cells.into_iter());
        }
    }
    rows.table()
}
