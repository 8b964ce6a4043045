//! The per-phase summary: one row a phase, the same in the page and in the terminal.

use analysis::findings::{Label, Segment, SegmentOp};
use measure::record::Op;

use crate::format;
use crate::reduce;
use crate::sentences;
use crate::view::{MeanInterval, ReportInput, op_word};

/// What came of one phase.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseSummary {
    /// Its name.
    pub(crate) name: String,
    /// Its operations.
    pub(crate) op: String,
    /// How long it took, in seconds.
    pub(crate) span_s: f64,
    /// Mean speed, in bytes per second.
    pub(crate) mean_bytes_per_s: Option<f64>,
    /// Lowest mean of a second, in bytes per second.
    pub(crate) lowest_bytes_per_s: Option<f64>,
    /// Highest temperature in °C, of the first temperature series.
    pub(crate) highest_c: Option<f64>,
    /// What its segments are, in order, without repetition.
    pub(crate) labels: Vec<&'static str>,
}

/// Headers of the columns that [`PhaseSummary::cells`] fills.
pub(crate) const HEADERS: [&str; 7] =
    ["Phase", "Operation", "Time", "Mean speed", "Lowest second", "Highest temp.", "What it is"];

/// Labels told in full; a limit cycle would repeat itself for pages.
const LABELS: usize = 4;

impl PhaseSummary {
    /// The row as text.
    pub(crate) fn cells(&self) -> Vec<String> {
        vec![
            self.name.clone(),
            self.op.clone(),
            format::seconds(self.span_s),
            self.mean_bytes_per_s.map_or_else(missing, |rate| format::speed(Some(rate))),
            self.lowest_bytes_per_s.map_or_else(missing, |rate| format::speed(Some(rate))),
            self.highest_c.map_or_else(missing, format::degrees),
            if self.labels.is_empty() { missing() } else { self.labels.join(", ") },
        ]
    }
}

fn missing() -> String {
    format::MISSING.to_owned()
}

/// One row a phase; where the source knows no phases, one row a stretch of one operation.
pub(crate) fn summaries(input: &ReportInput) -> Vec<PhaseSummary> {
    if input.phases.is_empty() {
        return stretches(&input.findings.segments)
            .into_iter()
            .map(|(op, start_s, end_s)| {
                summary(input, "–".to_owned(), op_word(op).to_owned(), start_s, end_s)
            })
            .collect();
    }
    let rows = input.phases.iter();
    rows.map(|phase| summary(input, phase.name.clone(), phase.op.clone(), phase.start_s, phase.end_s))
        .collect()
}

fn stretches(segments: &[Segment]) -> Vec<(SegmentOp, f64, f64)> {
    let mut stretches: Vec<(SegmentOp, f64, f64)> = Vec::new();
    for segment in segments {
        match stretches.last_mut().filter(|last| last.0 == segment.op) {
            Some(last) => last.2 = segment.end_s,
            None => stretches.push((segment.op, segment.start_s, segment.end_s)),
        }
    }
    stretches
}

fn summary(input: &ReportInput, name: String, op: String, start_s: f64, end_s: f64) -> PhaseSummary {
    let inside = |t: f64| (start_s..end_s).contains(&t);
    let within = |trims: bool| -> Vec<Vec<MeanInterval>> {
        let of = input.speed.iter().filter(|series| (series.op == Op::Trim) == trims);
        let middle = |interval: &&MeanInterval| inside(interval.start_s + interval.span_s / 2.0);
        of.map(|series| series.intervals.iter().filter(middle).copied().collect()).collect()
    };
    // What is deallocated beside reads and writes is no data that moved.
    let data = within(false);
    let within = if data.iter().all(Vec::is_empty) { within(true) } else { data };
    let totals = |bucket_s| reduce::totals(within.iter().map(Vec::as_slice), bucket_s);
    // A second that the phase's border cuts is no second.
    let seconds = totals(1.0).into_iter().filter(|(_, covered_s, _)| *covered_s >= 0.9);
    let readings = input.temperature.first().map(|readings| readings.points.as_slice()).unwrap_or_default();
    let highest = readings.iter().filter(|(t, _)| inside(*t)).filter_map(|point| point.1);
    PhaseSummary {
        name,
        op,
        span_s: end_s - start_s,
        // One bucket over everything.
        mean_bytes_per_s: totals(f64::MAX).first().map(|(_, _, rate)| *rate),
        lowest_bytes_per_s: seconds.map(|(_, _, rate)| rate).reduce(f64::min),
        highest_c: highest.filter(|c| c.is_finite()).reduce(f64::max),
        labels: labels(&input.findings.segments, start_s, end_s),
    }
}

/// Labels of the segments that lie mostly inside, each once, in order of their first appearance.
fn labels(segments: &[Segment], start_s: f64, end_s: f64) -> Vec<&'static str> {
    let mut labels: Vec<Label> = Vec::new();
    for segment in segments {
        let middle = (segment.start_s + segment.end_s) / 2.0;
        if (start_s..end_s).contains(&middle) && !labels.contains(&segment.label) {
            labels.push(segment.label);
        }
    }
    labels.into_iter().take(LABELS).map(sentences::label).collect()
}
