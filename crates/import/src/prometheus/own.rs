//! heatsoak's own metrics: those of `heatsoak export --format prometheus`, and of its exporter ([METRICS](../../../../docs/METRICS.md)).

use std::collections::BTreeMap;

use super::meaning::{HWMON, Meaning};
use crate::part::CountedBy;
use crate::rates::usual_step;
use trace::{Interval, Phase, SegmentOp, SpeedSeries, Trace};

/// What the names of all of them begin with.
pub(super) const PREFIX: &str = "heatsoak_";

/// Operations in the order of [`Meaning::Rate`].
pub(super) const OPS: [SegmentOp; 3] = [SegmentOp::Read, SegmentOp::Write, SegmentOp::Trim];

/// Rows further apart than so many usual steps are no neighbours: a rate holds for one step.
const NEXT_STEPS: f64 = 1.5;

/// What a metric is, by its name behind [`PREFIX`] and its labels.
pub(super) fn meaning(name: &str, metric: &BTreeMap<String, String>) -> Meaning {
    let label = |name: &str| metric.get(name).map_or("", String::as_str);
    let counter = |first: usize| match label("threshold") {
        "TMT1" => Meaning::Counter(first),
        "TMT2" => Meaning::Counter(first + 1),
        _ => Meaning::Nothing,
    };
    match name {
        "throughput_bytes_per_second" => match label("op") {
            "read" => Meaning::Rate(0),
            "write" => Meaning::Rate(1),
            "trim" => Meaning::Rate(2),
            _ => Meaning::Nothing,
        },
        "temperature_celsius" => {
            let sensor = HWMON.iter().find(|(_, sensor)| *sensor == label("sensor"));
            sensor.map_or(Meaning::Nothing, |(_, sensor)| Meaning::Temperature(sensor, false))
        }
        "power_watts" => Meaning::Power,
        "tmt1_transitions" => Meaning::Counter(0),
        "tmt2_transitions" => Meaning::Counter(1),
        "tmt1_seconds" => Meaning::Counter(2),
        "tmt2_seconds" => Meaning::Counter(3),
        "throttle_transitions_total" => counter(0),
        "throttle_seconds_total" => counter(2),
        "read_bytes_total" => Meaning::Moved(0, 1.0, CountedBy::System),
        "written_bytes_total" => Meaning::Moved(1, 1.0, CountedBy::System),
        "discarded_bytes_total" => Meaning::Moved(2, 1.0, CountedBy::System),
        _ => Meaning::Nothing,
    }
}

/// Speeds that stand at the end of their interval, series after series: a series is an operation in a phase.
#[derive(Default)]
pub(super) struct Rates([Vec<RateAt>; 3]);

struct RateAt {
    end_s: f64,
    bytes_per_s: f64,
    phase: String,
}

impl Rates {
    /// Takes a series.
    pub(super) fn add(&mut self, op: usize, values: Vec<(f64, f64)>, phase: &str) {
        let known = values.into_iter().filter(|(_, rate)| rate.is_finite() && *rate >= 0.0);
        let rate = |(end_s, bytes_per_s)| RateAt { end_s, bytes_per_s, phase: phase.to_owned() };
        self.0[op].extend(known.map(rate));
        self.0[op].sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
    }

    /// When the first interval begins.
    pub(super) fn begin_s(&self) -> Option<f64> {
        let firsts = self.0.iter().filter_map(|rates| intervals(rates).next());
        firsts.map(|(_, first)| first.start_s).min_by(f64::total_cmp)
    }

    /// The speeds and phases, which count from `zero_s`.
    pub(super) fn put(self, zero_s: f64, trace: &mut Trace) {
        let mut phases: Vec<Phase> = Vec::new();
        for (op, rates) in OPS.into_iter().zip(&self.0) {
            let mut series = SpeedSeries { op, intervals: Vec::with_capacity(rates.len()) };
            for (name, interval) in intervals(rates) {
                let interval = Interval { start_s: interval.start_s - zero_s, ..interval };
                let (start_s, end_s) = (interval.start_s, interval.end_s());
                let goes_on =
                    |last: &&mut Phase| last.name == name && start_s <= last.end_s + interval.span_s;
                match phases.last_mut().filter(goes_on) {
                    Some(last) => last.end_s = end_s,
                    None => phases.push(Phase::bare(name, op, start_s, end_s)),
                }
                series.intervals.push(interval);
            }
            if !series.intervals.is_empty() {
                trace.speeds.push(series);
            }
        }
        let named = in_order(phases);
        if named.iter().any(|phase| !phase.name.is_empty()) {
            trace.trust_a_sensor();
            crate::csv::add_phases(named, trace);
        }
    }
}

/// The phases of all operations one after the other: those of one name at one time are one.
fn in_order(mut phases: Vec<Phase>) -> Vec<Phase> {
    phases.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let mut named: Vec<Phase> = Vec::new();
    for phase in phases {
        match named.last_mut() {
            Some(last) if last.name == phase.name => last.end_s = last.end_s.max(phase.end_s),
            _ => named.push(phase),
        }
    }
    named
}

/// The intervals of one operation, in order, with the names of their phases.
fn intervals(rates: &[RateAt]) -> impl Iterator<Item = (&str, Interval)> {
    let ends: Vec<(f64, f64)> = rates.iter().map(|rate| (rate.end_s, 0.0)).collect();
    let usual_s = usual_step(&ends).unwrap_or(1.0);
    let mut before_s = f64::NEG_INFINITY;
    rates.iter().filter_map(move |rate| {
        let since_s = rate.end_s - before_s;
        before_s = rate.end_s;
        let span_s = if since_s <= NEXT_STEPS * usual_s { since_s } else { usual_s };
        let start_s = rate.end_s - span_s;
        let interval = Interval { start_s, span_s, bytes: rate.bytes_per_s * span_s, phase: 0 };
        (span_s > 0.0).then_some((rate.phase.as_str(), interval))
    })
}
