//! What all charts of a run share: time axis, phases, events, value axes, lengths of buckets.

use analysis::findings::{Event, EventKind};
use measure::record::Op;

use super::{Axis, Band, Chart, ChartTable, Ink, Mark, SpeedUnit, XAxis};
use crate::format;
use crate::reduce::{self, CHART_POINTS};
use crate::scale;
use crate::sentences;
use crate::view::{MeanInterval, ReportInput};

/// An empty chart with the run's time axis, phases and events.
pub(super) fn frame(input: &ReportInput, id: &str, title: &str) -> Chart {
    let end_s = match input.end_s() {
        end_s if end_s > 0.0 => end_s,
        _ => 1.0,
    };
    let in_range = |t: f64| (0.0..=end_s).contains(&t);
    let bands = input.phases.iter().filter(|phase| in_range(phase.start_s) && phase.end_s > phase.start_s);
    Chart {
        id: id.to_owned(),
        title: title.to_owned(),
        alt: String::new(),
        note: String::new(),
        end_s,
        x: XAxis::Time,
        wall_unix_s: input.began_unix_s,
        left: plain_axis("", "", 1.0, 0),
        right: None,
        lines: Vec::new(),
        levels: Vec::new(),
        bands: bands
            .map(|phase| Band {
                label: phase.name.clone(),
                from_s: phase.start_s,
                to_s: phase.end_s.min(end_s),
            })
            .collect(),
        marks: marks(input, end_s),
        table: ChartTable::default(),
    }
}

/// Marks beyond this many are drawn over each other anyway, and a month of cycles has 100 000.
const MOST_MARKS: usize = 200;

/// The events of a run. Where they are too many to be told apart, the first of each kind in a stretch of time stands
/// for those that follow it there.
fn marks(input: &ReportInput, end_s: f64) -> Vec<Mark> {
    let events = || input.findings.events.iter().filter(|event| (0.0..=end_s).contains(&event.t_s));
    let mark = |event: &Event| Mark {
        t_s: event.t_s,
        label: format!("{} {}", sentences::event_sign(event.kind), sentences::event_kind(event.kind)),
        detail: sentences::event(event, &input.levels),
    };
    if events().count() <= MOST_MARKS {
        return events().map(mark).collect();
    }
    let stretch_s = end_s / MOST_MARKS as f64;
    let mut first: Vec<(EventKind, Mark, usize)> = Vec::new();
    for event in events() {
        let of_kind = first.iter_mut().rev().find(|(kind, ..)| *kind == event.kind);
        match of_kind {
            Some((_, mark, more)) if event.t_s < mark.t_s + stretch_s => *more += 1,
            _ => first.push((event.kind, mark(event), 0)),
        }
    }
    first
        .into_iter()
        .map(|(_, mut mark, more)| {
            if more > 0 {
                mark.detail
                    .push_str(&format!(" {more} more like it follow within {}.", format::seconds(stretch_s)));
            }
            mark
        })
        .collect()
}

/// An axis from 0.
pub(super) fn plain_axis(name: &str, unit: &'static str, max: f64, decimals: usize) -> Axis {
    Axis { name: name.to_owned(), unit, min: 0.0, max: air_above(max), log: false, decimals }
}

pub(crate) fn speed_axis(name: &str, unit: SpeedUnit, max: f64) -> Axis {
    plain_axis(name, unit.name(), max, unit.decimals())
}

/// Air above and below temperatures, in °C.
const TEMPERATURE_AIR_C: f64 = 2.0;
/// A temperature axis spans at least this, in °C: whole kelvins of rounding must not look like heating.
const TEMPERATURE_SPAN_C: f64 = 20.0;

/// A temperature axis with round ends that holds everything from `low` to `high`, in °C.
pub(crate) fn temperature_axis(low: f64, high: f64) -> Axis {
    let widening = ((TEMPERATURE_SPAN_C - (high - low)) / 2.0).max(TEMPERATURE_AIR_C);
    let (low, high) = (low - widening, high + widening);
    let step = scale::nice_step((high - low) / 16.0);
    Axis {
        name: "Temperature".to_owned(),
        unit: "°C",
        min: (low / step).floor() * step,
        max: (high / step).ceil() * step,
        log: false,
        decimals: 0,
    }
}

/// A round upper end with a little air, so that a flat line does not lie on the frame.
fn air_above(max: f64) -> f64 {
    if max <= 0.0 || !(max * 1.2).is_finite() {
        return 1.0;
    }
    let step = scale::nice_step(max / 10.0);
    (max * 1.06 / step).ceil() * step
}

/// Length of the means in the chart: a second, or more where the run or its intervals are long.
pub(super) fn chart_bucket_s(input: &ReportInput) -> f64 {
    bucket_for(input, CHART_POINTS)
}

/// Length of a bucket, in seconds, that cuts a run into at most `limit` pieces and holds a whole interval.
pub(crate) fn bucket_for(input: &ReportInput, limit: usize) -> f64 {
    let longest =
        input.speed.iter().filter_map(|series| typical_span_s(&series.intervals)).fold(0.0, f64::max);
    // A hundredth of slack: intervals of a real clock are not exact.
    let by_interval = reduce::bucket_s(longest * 0.99, 1);
    reduce::bucket_s(input.end_s(), limit).max(by_interval)
}

/// The median length of the intervals in seconds.
pub(super) fn typical_span_s(intervals: &[MeanInterval]) -> Option<f64> {
    let mut spans: Vec<f64> = intervals
        .iter()
        .map(|interval| interval.span_s)
        .filter(|span| span.is_finite() && *span > 0.0)
        .collect();
    spans.sort_by(f64::total_cmp);
    spans.get(spans.len() / 2).copied()
}

/// The colour of an operation.
pub(super) const fn op_ink(op: Op) -> Ink {
    match op {
        Op::Read => Ink::Read,
        Op::Write => Ink::Write,
        Op::Trim | Op::Idle => Ink::Trim,
    }
}
