//! Speed over data written: where a fast write cache ends is a place on the drive and not a moment.
//!
//! Two charts where the speed collapsed: all of it, and the slow part by itself, which is flat on the first.

use analysis::findings::EventKind;
use measure::record::Op;

use super::build::{op_ink, plain_axis, speed_axis};
use super::{AxisSide, Band, Chart, ChartLine, ChartTable, Mark, SpeedUnit, Stroke, XAxis};
use crate::format;
use crate::reduce::{CHART_POINTS, TABLE_ROWS};
use crate::sentences;
use crate::view::{MeanInterval, ReportInput, plausible};

/// Id of the chart of all that was written.
pub(crate) const WRITTEN: &str = "written";

const GIB: f64 = 1_073_741_824.0;

/// Less than this share of the drive may be a range written over and over, which has no place on it.
const LEAST_SHARE: f64 = 0.9;

/// A speed below this share of the highest is the slow part that needs a chart of its own.
const SLOW_SHARE: f64 = 0.3;

/// Means over equal amounts of data: (GiB written so far, at their middle; bytes per second).
type WrittenPoint = (f64, f64);

/// The charts of a run that filled a cache or wrote all of the drive; none of any other.
pub(crate) fn written_charts(input: &ReportInput) -> Vec<Chart> {
    let Some(series) = input.speed.iter().find(|series| series.op == Op::Write) else { return Vec::new() };
    let intervals: Vec<&MeanInterval> =
        series.intervals.iter().filter(|i| plausible(i.value) && i.span_s > 0.0 && i.value >= 0.0).collect();
    let total_gib = intervals.iter().map(|i| i.value * i.span_s).sum::<f64>() / GIB;
    let cache_ends: Vec<f64> = input
        .findings
        .events
        .iter()
        .filter(|event| event.kind == EventKind::SlcExhausted)
        .map(|event| written_until(&intervals, event.t_s))
        .collect();
    let capacity_gib = input.capacity_bytes.map(|bytes| bytes as f64 / GIB).filter(|gib| *gib > 0.0);
    let is_large = capacity_gib.is_some_and(|capacity| total_gib >= LEAST_SHARE * capacity);
    if !(total_gib.is_finite() && total_gib > 0.0) || (cache_ends.is_empty() && !is_large) {
        return Vec::new();
    }
    let points = means(&intervals, total_gib / CHART_POINTS as f64);
    let top = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let whole = chart(input, WRITTEN, "Write speed over data written", &points, top, total_gib, &cache_ends);
    let slow: Vec<WrittenPoint> = points.iter().copied().filter(|point| point.1 < SLOW_SHARE * top).collect();
    if slow.len() < points.len() / 10 || slow.is_empty() {
        return vec![whole];
    }
    let slow_top = slow.iter().map(|point| point.1).fold(0.0, f64::max);
    let title = "Write speed over data written: the slow part";
    let mut zoomed = chart(input, "written-slow", title, &slow, slow_top, total_gib, &cache_ends);
    zoomed.note =
        format!("Only what is below {} of the highest speed. {}", format::percent(SLOW_SHARE), zoomed.note);
    vec![whole, zoomed]
}

/// Data written until `t_s`, in GiB.
fn written_until(intervals: &[&MeanInterval], t_s: f64) -> f64 {
    let before = |i: &MeanInterval| i.value * (t_s - i.start_s).clamp(0.0, i.span_s);
    intervals.iter().map(|i| before(i)).sum::<f64>() / GIB
}

/// Time-weighted means of pieces of at least `piece_gib`.
fn means(intervals: &[&MeanInterval], piece_gib: f64) -> Vec<WrittenPoint> {
    let mut points = Vec::new();
    let (mut before_gib, mut bytes, mut span_s) = (0.0, 0.0, 0.0);
    for interval in intervals {
        bytes += interval.value * interval.span_s;
        span_s += interval.span_s;
        let gib = bytes / GIB;
        // A second at least: single intervals are noise.
        if gib >= piece_gib && span_s >= 1.0 {
            points.push((before_gib + gib / 2.0, bytes / span_s));
            before_gib += gib;
            (bytes, span_s) = (0.0, 0.0);
        }
    }
    if span_s > 0.0 && points.is_empty() {
        points.push((bytes / GIB / 2.0, bytes / span_s));
    }
    points
}

fn chart(
    input: &ReportInput,
    id: &str,
    title: &str,
    points: &[WrittenPoint],
    top: f64,
    total_gib: f64,
    cache_ends: &[f64],
) -> Chart {
    let unit = SpeedUnit::for_max(top);
    let of_capacity = |gib: f64| match input.capacity_bytes {
        Some(capacity) if capacity > 0 => {
            format!(" ({} of the capacity)", format::percent(gib * GIB / capacity as f64))
        }
        _ => String::new(),
    };
    let gib = |value: f64| format::cell(Some(value), usize::from(value < 10.0));
    let mark = |end: &f64| Mark {
        t_s: *end,
        label: format!(
            "{} SLC cache full, {} GiB{}",
            sentences::event_sign(EventKind::SlcExhausted),
            gib(*end),
            of_capacity(*end)
        ),
        detail: format!("SLC cache full after {} GiB{}.", gib(*end), of_capacity(*end)),
    };
    let line = points.iter().map(|(at, rate)| (*at, Some(unit.convert(*rate)))).collect();
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        alt: format!(
            "Line chart of write speed over {} GiB written. The numbers are in the table.",
            gib(total_gib)
        ),
        note: format!(
            "Written in all: {} GiB{}. Each point is a mean of at least 1 s.",
            gib(total_gib),
            of_capacity(total_gib)
        ),
        end_s: total_gib,
        x: XAxis::WrittenGib,
        wall_unix_s: None,
        left: if top > 0.0 {
            speed_axis("Write speed", unit, unit.convert(top))
        } else {
            plain_axis("Write speed", unit.name(), 1.0, 1)
        },
        right: None,
        lines: vec![ChartLine {
            name: "write".to_owned(),
            side: AxisSide::Left,
            ink: op_ink(Op::Write),
            stroke: Stroke::Solid,
            shown: true,
            points: line,
        }],
        levels: Vec::new(),
        bands: Vec::<Band>::new(),
        marks: cache_ends.iter().map(mark).collect(),
        table: table(points, unit),
    }
}

fn table(points: &[WrittenPoint], unit: SpeedUnit) -> ChartTable {
    let every = points.len().div_ceil(TABLE_ROWS).max(1);
    ChartTable {
        caption: match every {
            1 => "A row for each point".to_owned(),
            n => format!("A row for every {n}th point"),
        },
        columns: vec![("written (GiB)".to_owned(), 2), (format!("write ({})", unit.name()), unit.decimals())],
        rows: points
            .iter()
            .step_by(every)
            .map(|(at, rate)| vec![Some(*at), Some(unit.convert(*rate))])
            .collect(),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a cache of a known size ends at that size on the axis. Method: 100 GiB at 2 GiB/s, then 10 GiB at 0.1.
    #[test]
    fn data_and_not_time_is_on_the_axis() {
        let interval = |start_s: f64, rate: f64| MeanInterval { start_s, span_s: 1.0, value: rate * GIB };
        let all: Vec<MeanInterval> = (0..50)
            .map(|s| interval(f64::from(s), 2.0))
            .chain((50..150).map(|s| interval(f64::from(s), 0.1)))
            .collect();
        let all: Vec<&MeanInterval> = all.iter().collect();
        assert!((written_until(&all, 50.0) - 100.0).abs() < 1e-9);
        assert!((written_until(&all, 60.0) - 101.0).abs() < 1e-9);
        let points = means(&all, 1.0);
        let fast: Vec<&WrittenPoint> = points.iter().filter(|point| point.0 < 100.0).collect();
        assert!(fast.iter().all(|point| (point.1 / GIB - 2.0).abs() < 1e-9));
        let slow: Vec<&WrittenPoint> = points.iter().filter(|point| point.0 > 100.0).collect();
        assert!(
            (9..=10).contains(&slow.len()) && slow.iter().all(|point| (point.1 / GIB - 0.1).abs() < 1e-9)
        );
    }
}
