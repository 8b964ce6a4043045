//! The key figures of one run, as text.

use analysis::findings::{Event, EventKind, Label, Segment};
use measure::record::Op;

use crate::format::{self, MISSING};
use crate::reduce;
use crate::sentences;
use crate::view::{MeanInterval, Provenance, ReportInput, plausible};

/// What [`cells`] gives, in this order.
pub(super) const HEADERS: [&str; 13] = [
    "Run",
    "Origin",
    "Duration",
    "Read, mean",
    "Write, mean",
    "Full speed",
    "Throttled",
    "Time throttled",
    "First onset",
    "Onset temp.",
    "Highest temp.",
    "Mean power",
    "Heat management",
];

/// One run's row.
pub(super) fn cells(run: &ReportInput, name: &str) -> Vec<String> {
    let onset = run.findings.events.iter().find(|event| event.kind == EventKind::ThrottleOnset);
    let speed = |rate: Option<f64>| or_missing(rate, |rate| format::speed(Some(rate)));
    vec![
        name.to_owned(),
        origin(run),
        format::seconds(run.end_s()),
        speed(mean_of(run, Op::Read)),
        speed(mean_of(run, Op::Write)),
        speed(mean_as(run, Label::FullSpeed)),
        speed(mean_as(run, Label::Throttled)),
        format::seconds(time_as(run, Label::Throttled)),
        onset.map_or_else(|| "none".to_owned(), |event| format::seconds(event.t_s)),
        or_missing(onset.and_then(onset_kelvin), |kelvin| format::temperature(Some(kelvin))),
        or_missing(highest(run), format::degrees),
        or_missing(mean_power(run), |watts| format!("{} W", format::cell(Some(watts), 2))),
        sentences::policy_word(run.findings.policy.class).to_owned(),
    ]
}

fn or_missing(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| MISSING.to_owned(), show)
}

fn origin(run: &ReportInput) -> String {
    match (&run.source, run.simulated_badge()) {
        (_, Some(_)) => "SIMULATED",
        (Provenance::Unknown, None) => "not stated",
        (_, None) => "measured",
    }
    .to_owned()
}

fn onset_kelvin(event: &Event) -> Option<f64> {
    event.temp_k.filter(|kelvin| kelvin.is_finite())
}

/// Time-weighted mean over all intervals of an operation.
fn mean_of(run: &ReportInput, op: Op) -> Option<f64> {
    let series = run.speed.iter().find(|series| series.op == op)?;
    reduce::means(&series.intervals, f64::MAX).first().map(|bucket| bucket.mean)
}

fn with_label(run: &ReportInput, label: Label) -> impl Iterator<Item = &Segment> {
    run.findings.segments.iter().filter(move |segment| segment.label == label)
}

/// Time-weighted mean of the segments with a label.
fn mean_as(run: &ReportInput, label: Label) -> Option<f64> {
    let interval = |segment: &Segment| {
        let span_s = segment.end_s - segment.start_s;
        Some(MeanInterval { start_s: segment.start_s, span_s, value: segment.mean_bytes_per_s? })
    };
    let intervals: Vec<MeanInterval> = with_label(run, label).filter_map(interval).collect();
    reduce::means(&intervals, f64::MAX).first().map(|bucket| bucket.mean)
}

fn time_as(run: &ReportInput, label: Label) -> f64 {
    with_label(run, label).map(|segment| segment.end_s - segment.start_s).filter(|span| *span > 0.0).sum()
}

fn highest(run: &ReportInput) -> Option<f64> {
    let points = run.temperature.first()?.points.iter();
    points.filter_map(|point| point.1).filter(|value| plausible(*value)).reduce(f64::max)
}

fn mean_power(run: &ReportInput) -> Option<f64> {
    let points = &run.power.first()?.points;
    reduce::reading_means(points, f64::MAX).first().map(|(_, mean)| *mean)
}
