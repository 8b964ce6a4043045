//! The charts under the main one: data written, power, latency, throttle counters; each only where there is something to show.

use super::build::{frame, op_ink, plain_axis};
use super::written::written_charts;
use super::{Axis, AxisSide, Chart, ChartLine, Ink, Rows, Stroke};
use crate::format;
use crate::reduce::{self, CHART_POINTS, TABLE_ROWS};
use crate::view::{CounterKind, LatencyPoint, MeanInterval, ReportInput};

/// Every chart under the main one that the input has data for.
pub(crate) fn small_charts(input: &ReportInput) -> impl Iterator<Item = Chart> {
    let over_time = [power_chart, latency_chart, counter_chart].into_iter().filter_map(|chart| chart(input));
    written_charts(input).into_iter().chain(over_time)
}

/// Power over time; `None` where nothing is known of it.
fn power_chart(input: &ReportInput) -> Option<Chart> {
    let points: Vec<_> =
        input.power.iter().map(|readings| reduce::readings_line(&readings.points, CHART_POINTS)).collect();
    let top = points.iter().flatten().filter_map(|point| point.1).fold(f64::NAN, f64::max);
    if top.is_nan() {
        return None;
    }
    let mut chart = frame(input, "power", "Power over time");
    chart.left = plain_axis("Power", "W", top, 2);
    let mut rows = Rows::new(reduce::bucket_s(chart.end_s, TABLE_ROWS));
    for (index, (readings, points)) in input.power.iter().zip(points).enumerate() {
        chart.lines.push(ChartLine {
            name: readings.name.clone(),
            side: AxisSide::Left,
            ink: if index == 0 { Ink::Power } else { Ink::Sensor(index - 1) },
            stroke: if index == 0 { Stroke::Solid } else { Stroke::Thin },
            shown: true,
            points,
        });
        let cells = reduce::reading_means(&readings.points, rows.bucket_s);
        rows.add(format!("{} (W)", readings.name), 3, cells.into_iter());
    }
    chart.table = rows.table();
    chart.note = "Every reading as the source gave it.".to_owned();
    chart.alt =
        format!("Line chart of power over {}. The numbers are in the table.", format::seconds(chart.end_s));
    Some(chart)
}

/// How a quantile is got from a point.
type Quantile = fn(&LatencyPoint) -> f64;

const QUANTILES: [(&str, Stroke, Quantile); 3] = [
    ("p50", Stroke::Solid, |p| p.p50_ns),
    ("p99", Stroke::Dashed, |p| p.p99_ns),
    ("p99.9", Stroke::Dotted, |p| p.p999_ns),
];

/// Latency over time; `None` where nothing is known of it.
fn latency_chart(input: &ReportInput) -> Option<Chart> {
    let all = input.latency.iter().flat_map(|series| &series.points);
    let values: Vec<f64> =
        all.flat_map(|p| [p.p50_ns, p.p999_ns]).filter(|ns| ns.is_finite() && *ns > 0.0).collect();
    let lowest = values.iter().copied().reduce(f64::min)?;
    let highest = values.iter().copied().reduce(f64::max)?;
    // Whole runs of flash reads are told in microseconds, of throttled drives and disks in milliseconds.
    let (unit, ns) = if lowest < 1e6 { ("µs", 1e3) } else { ("ms", 1e6) };
    let mut chart = frame(input, "latency", "Completion latency over time");
    chart.left = Axis {
        name: "Latency".to_owned(),
        unit,
        min: 10f64.powf((lowest / ns).log10().floor()),
        max: 10f64.powf((highest / ns).log10().floor() + 1.0),
        log: true,
        decimals: 1,
    };
    let bucket_s = reduce::bucket_s(chart.end_s, TABLE_ROWS);
    let mut rows = Rows::new(bucket_s);
    for series in &input.latency {
        for (name, stroke, quantile_ns) in QUANTILES {
            let intervals: Vec<MeanInterval> = series
                .points
                .iter()
                .map(|p| MeanInterval { start_s: p.start_s, span_s: p.span_s, value: quantile_ns(p) / ns })
                .filter(|interval| interval.value > 0.0)
                .collect();
            chart.lines.push(ChartLine {
                name: format!("{} {name}", series.op),
                side: AxisSide::Left,
                ink: op_ink(series.op),
                stroke,
                shown: true,
                points: reduce::raw_line(&intervals, CHART_POINTS).0,
            });
            // Where a row holds several seconds it shows the worst of them: quantiles have no mean.
            let cells = reduce::means(&intervals, bucket_s).map(|b| (b.start_s, b.max));
            rows.add(format!("{} {name} ({unit})", series.op), 1, cells);
        }
    }
    chart.table = rows.table();
    if bucket_s > 1.0 {
        chart.table.caption.push_str("; the highest quantile within each row");
    }
    chart.note =
        "Quantiles of all I/Os that completed within each second (or longer, in long runs), to 0.8 %; \
                  logarithmic axis."
            .to_owned();
    chart.alt = format!(
        "Line chart of latency quantiles over {}, logarithmic. The numbers are in the table.",
        format::seconds(chart.end_s)
    );
    Some(chart)
}

/// Throttle counters over time; `None` where nothing is known of it.
fn counter_chart(input: &ReportInput) -> Option<Chart> {
    if input.counters.is_empty() {
        return None;
    }
    let mut chart = frame(input, "counters", "Throttle counters since the run began");
    let mut rows = Rows::new(reduce::bucket_s(chart.end_s, TABLE_ROWS));
    let (mut count_top, mut seconds_top) = (0.0f64, 0.0f64);
    for counter in &input.counters {
        let (name, side, ink) = match counter.kind {
            CounterKind::Tmt1Transitions => ("TMT1 transitions", AxisSide::Left, Ink::CounterLight),
            CounterKind::Tmt2Transitions => ("TMT2 transitions", AxisSide::Left, Ink::CounterHeavy),
            CounterKind::Tmt1Seconds => ("TMT1 time", AxisSide::Right, Ink::CounterLight),
            CounterKind::Tmt2Seconds => ("TMT2 time", AxisSide::Right, Ink::CounterHeavy),
        };
        let points = reduce::readings_line(&counter.points, CHART_POINTS);
        let top = points.iter().filter_map(|point| point.1).fold(0.0, f64::max);
        let (unit, stroke) = match side {
            AxisSide::Left => {
                count_top = count_top.max(top);
                ("", Stroke::Steps)
            }
            AxisSide::Right => {
                seconds_top = seconds_top.max(top);
                (" (s)", Stroke::Dashed)
            }
        };
        chart.lines.push(ChartLine { name: name.to_owned(), side, ink, stroke, shown: true, points });
        let cells = reduce::reading_means(&counter.points, rows.bucket_s);
        rows.add(format!("{name}{unit}"), 0, cells.into_iter());
    }
    chart.left = plain_axis("Transitions", "", count_top, 0);
    chart.right = (seconds_top > 0.0).then(|| plain_axis("Time throttled", "s", seconds_top, 0));
    chart.lines.retain(|line| line.side == AxisSide::Left || seconds_top > 0.0);
    chart.table = rows.table();
    chart.note = "As the drive counts them, from the first reading of the run on.".to_owned();
    chart.alt = format!(
        "Step chart of throttle counters over {}. The numbers are in the table.",
        format::seconds(chart.end_s)
    );
    Some(chart)
}
