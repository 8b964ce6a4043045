//! An analysed trace as what a report shows: the way for foreign logs.
//!
//! A log knows less than a record: no latencies, no plan, no host. What it does not know is left out.

use analysis::Findings;
use analysis::findings::SegmentOp;
use measure::record::{Op, ThermalSettings};
use measure::{Celsius, Instant, Series};
use trace::{self, Trace};

use super::{
    Counter, CounterKind, FactGroup, Level, LevelKind, MeanInterval, OpSpeed, Provenance, Readings,
    ReportInput, Reproduce, RunPhase, RunSettings, op_word, settings,
};
use crate::figures::name_constant;
use crate::format::{self, celsius};
use crate::reduce::ChartPoint;
use analysis::wording::sensor_name;

impl ReportInput {
    /// What a report shows of a trace and its findings. Takes the trace: a month of speeds beside itself is too much.
    pub fn from_trace(mut trace: Trace, mut findings: Findings) -> Self {
        let speed = std::mem::take(&mut trace.speeds).into_iter().filter_map(speed).collect();
        let trace = &trace;
        let in_force = trace.settings.points().first().map(|point| point.value.clone()).unwrap_or_default();
        let source = match trace.facts.simulated {
            Some(false) => Provenance::Measured,
            _ => Provenance::Unknown,
        };
        // A log that says it is simulated cannot name profile and seed; the findings' word makes the badge.
        findings.simulated = findings.simulated.or(trace.facts.simulated);
        let mut input = Self {
            read_from: None,
            drive: trace.name.clone(),
            plan: None,
            source,
            speed,
            latency: Vec::new(),
            latency_maps: Vec::new(),
            loads: Vec::new(),
            temperature: temperature(trace),
            power: power(&trace.power_w),
            counters: counters(&trace.counters),
            phases: trace.phases.iter().map(phase).collect(),
            levels: levels(trace, &in_force),
            settings: run_settings(trace, &in_force),
            facts: facts(trace, &in_force),
            began_unix_s: None,
            capacity_bytes: None,
            link_bytes_per_s: trace.facts.link_bytes_per_s,
            advice: Vec::new(),
            second_opinion: None,
            clouds: Vec::new(),
            governed_below_k: None,
            notes: trace.notes.clone(),
            ending: trace.facts.ended_early.as_ref().map(|why| format!("The run ended early: {why}.")),
            reproduce: Reproduce::default(),
            written_by: None,
            findings,
        };
        name_constant(&mut input);
        input
    }
}

/// Puts the sensor that the analysis goes by first: the report's temperature has to be the findings'.
pub(super) fn trusted_first(readings: &mut [Readings], trace: &Trace) {
    let trusted = trace.trusted.as_ref().and_then(|trusted| trace.temperatures.get(trusted.index));
    let position = trusted
        .and_then(|trusted| readings.iter().position(|readings| readings.name == sensor_name(&trusted.name)));
    if let Some(position) = position {
        readings[..=position].rotate_right(1);
    }
}

fn speed(series: trace::SpeedSeries) -> Option<OpSpeed> {
    let op = match series.op {
        SegmentOp::Read => Op::Read,
        SegmentOp::Write => Op::Write,
        SegmentOp::Trim => Op::Trim,
        // A trace has a series for each operation; these are none.
        SegmentOp::Mixed | SegmentOp::Idle => return None,
    };
    let interval =
        |i: trace::Interval| MeanInterval { start_s: i.start_s, span_s: i.span_s, value: i.bytes_per_s() };
    let mut intervals: Vec<MeanInterval> = series.intervals.into_iter().map(interval).collect();
    intervals.shrink_to_fit();
    Some(OpSpeed { op, intervals })
}

fn temperature(trace: &Trace) -> Vec<Readings> {
    let readings = |temperature: &trace::Temperature| {
        let kelvin = &temperature.kelvin;
        // Whole kelvins are shown with the whole offset, as everywhere; finer readings with the exact one.
        let is_whole = kelvin.points().iter().all(|point| point.value.fract() == 0.0);
        let degrees = |k: f64| if is_whole { celsius(k) } else { Celsius::from_kelvin_f64(k).as_degrees() };
        Readings { name: sensor_name(&temperature.name), points: points(kelvin, |k| Some(degrees(*k))) }
    };
    let mut all: Vec<Readings> = trace.temperatures.iter().map(readings).collect();
    trusted_first(&mut all, trace);
    all
}

/// The readings in order of time, with a break where one is missing.
fn points<T>(series: &Series<T>, value: impl Fn(&T) -> Option<f64>) -> Vec<ChartPoint> {
    let seconds = |t: Instant| t.as_secs_f64();
    let mut points: Vec<ChartPoint> =
        series.points().iter().map(|point| (seconds(point.t), value(&point.value))).collect();
    points.extend(series.gaps().iter().map(|gap| (seconds(gap.from), None)));
    // Sorting takes half as much memory again, and most series need none.
    if !points.is_sorted_by(|a, b| a.0.total_cmp(&b.0).is_le()) {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    points
}

/// A power meter's line, called by its address where there is one.
pub(super) fn meter(meter: &trace::MeterSeries) -> Readings {
    let name = if meter.name == "drive" { "power".to_owned() } else { format!("power, {}", meter.name) };
    Readings { name, points: points(&meter.watts, |watts| Some(*watts)) }
}

fn power(power_w: &Series<f64>) -> Vec<Readings> {
    if power_w.points().is_empty() {
        return Vec::new();
    }
    vec![Readings { name: "power".to_owned(), points: points(power_w, |watts| Some(*watts)) }]
}

fn counters(series: &Series<trace::Counters>) -> Vec<Counter> {
    type TraceCounter = fn(&trace::Counters) -> Option<u64>;
    let fields: [(CounterKind, TraceCounter); 4] = [
        (CounterKind::Tmt1Transitions, |counters| counters.tmt1_transitions),
        (CounterKind::Tmt2Transitions, |counters| counters.tmt2_transitions),
        (CounterKind::Tmt1Seconds, |counters| counters.tmt1_seconds),
        (CounterKind::Tmt2Seconds, |counters| counters.tmt2_seconds),
    ];
    let counter = |(kind, field): (CounterKind, TraceCounter)| {
        Counter::since_first(kind, points(series, |counters| field(counters).map(|count| count as f64)))
    };
    fields.into_iter().filter_map(counter).collect()
}

fn phase(phase: &trace::Phase) -> RunPhase {
    RunPhase {
        name: phase.name.clone(),
        op: op_word(phase.op).to_owned(),
        what: phase.what.clone(),
        start_s: phase.start_s,
        end_s: phase.end_s,
        ended_by: None,
        rate_limit_bytes_per_s: phase.rate_limit_bytes_per_s,
    }
}

fn levels(trace: &Trace, in_force: &ThermalSettings) -> Vec<Level> {
    let all = [
        (LevelKind::Tmt1, in_force.tmt1_k.map(f64::from)),
        (LevelKind::Tmt2, in_force.tmt2_k.map(f64::from)),
        (LevelKind::Warning, trace.facts.warning_k),
        (LevelKind::Critical, trace.facts.critical_k),
    ];
    let level = |(kind, kelvin): (LevelKind, Option<f64>)| {
        // `as` saturates; 0 is "disabled" or "not reported".
        let temp_k = kelvin?.round() as u16;
        (temp_k > 0).then_some(Level { kind, temp_k })
    };
    all.into_iter().filter_map(level).collect()
}

fn run_settings(trace: &Trace, in_force: &ThermalSettings) -> RunSettings {
    let mut list = vec![("drive".to_owned(), trace.name.clone())];
    let thresholds = [("TMT1", in_force.tmt1_k), ("TMT2", in_force.tmt2_k)];
    for (name, kelvin) in thresholds {
        list.extend(kelvin.map(|kelvin| (name.to_owned(), settings::threshold(kelvin))));
    }
    list.extend(in_force.power_state.map(|state| ("power state".to_owned(), state.to_string())));
    RunSettings(list)
}

fn facts(trace: &Trace, in_force: &ThermalSettings) -> Vec<FactGroup> {
    let temperature = |kelvin: Option<f64>| kelvin.map(|kelvin| format::temperature(Some(kelvin)));
    let facts = &trace.facts;
    let all = [
        ("link", facts.link_bytes_per_s.map(|rate| format!("up to {}", format::speed(Some(rate))))),
        ("warning threshold (WCTEMP)", temperature(facts.warning_k)),
        ("critical threshold (CCTEMP)", temperature(facts.critical_k)),
        ("TMT1 (light throttling)", in_force.tmt1_k.map(settings::threshold)),
        ("TMT2 (heavy throttling)", in_force.tmt2_k.map(settings::threshold)),
        ("fast write cache, stated", facts.slc_bytes.map(|bytes| format::amount(bytes as f64))),
        ("temperature around it", temperature(facts.ambient_k)),
        ("failed I/Os", (trace.io_errors > 0).then(|| trace.io_errors.to_string())),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let mut list = vec![("log".to_owned(), trace.name.clone())];
    list.extend(known);
    vec![FactGroup { title: "Log", facts: list }]
}

#[cfg(test)]
mod test {
    use trace::{Temperature, TrustedSensor, instant};

    use super::*;

    fn sensor(name: &str, kelvin: &[f64]) -> Temperature {
        let mut series = Series::new();
        for (second, value) in kelvin.iter().enumerate() {
            series.push(instant(second as f64), *value);
        }
        series.push_gap(instant(kelvin.len() as f64), "timed out");
        Temperature { name: name.into(), kelvin: series }
    }

    /// Goal: the temperature in the report is the one that the findings speak of, with the right offset.
    #[test]
    fn the_trusted_sensor_comes_first_and_gaps_stay() {
        let mut trace = Trace::empty("log.csv");
        trace.temperatures = vec![
            sensor("composite", &[318.0, 318.0]),
            sensor("sensor1", &[318.0, 330.0]),
            sensor("hwmon", &[318.25]),
        ];
        trace.trusted = Some(TrustedSensor { index: 1, why: "it moves".into() });
        let readings = temperature(&trace);
        let names: Vec<&str> = readings.iter().map(|readings| readings.name.as_str()).collect();
        assert_eq!(names, ["sensor 1", "composite", "hwmon"]);
        assert_eq!(readings[0].points, [(0.0, Some(45.0)), (1.0, Some(57.0)), (2.0, None)]);
        let hwmon = readings[2].points[0].1.expect("a reading");
        assert!((hwmon - 45.1).abs() < 1e-9, "{hwmon}");
    }
}
