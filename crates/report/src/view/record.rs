//! A run record as what a report shows.

use std::collections::BTreeMap;

use analysis::Findings;
use measure::record::{IoRow, Manifest, Op, Origin, PhaseFacts, Record, TelemetryRow};
use measure::{Histogram, Instant};
use trace::Trace;

use super::{
    Counter, CounterKind, LATENCY_BANDS_A_DECADE, LatencyMap, LatencyPoint, LatencySeries, LatencyTotals,
    Level, LevelKind, LoadTotals, MeanInterval, OpSpeed, Provenance, Readings, ReportInput, RunPhase,
    RunSettings, facts, trace::trusted_first,
};
use crate::figures::name_constant;
use crate::format::celsius;
use crate::reduce;

impl ReportInput {
    /// What a report shows of a recorded run and its findings.
    pub fn new(record: &Record, findings: Findings) -> Self {
        let manifest = &record.manifest;
        let end = record_end(record);
        let mut input = Self {
            read_from: None,
            drive: manifest.drive.model.clone().unwrap_or_else(|| manifest.address.clone()),
            plan: Some(manifest.plan_name.clone()),
            source: match &manifest.origin {
                Origin::Device => Provenance::Measured,
                Origin::Twin { profile, seed, .. } => {
                    Provenance::Simulated { profile: profile.clone(), seed: *seed }
                }
                Origin::VirtualSsd { nqn, time_scale, .. } => {
                    Provenance::VirtualSsd { nqn: nqn.clone(), time_scale: *time_scale }
                }
            },
            speed: speed(&record.io),
            latency: latency(&record.io, end.as_secs_f64()),
            latency_maps: latency_maps(&record.io, end.as_secs_f64()),
            loads: loads(record),
            temperature: temperature(record),
            power: power(record),
            counters: counters(&record.telemetry),
            phases: manifest.phases.iter().filter_map(|facts| phase(facts, end)).collect(),
            levels: levels(manifest),
            settings: RunSettings::from_manifest(manifest),
            facts: facts::groups(manifest),
            began_unix_s: manifest
                .clock_anchor
                .monotonic_ns
                .map(|_| (manifest.clock_anchor.wall_unix_ns as f64 / 1e6).round() / 1e3),
            capacity_bytes: Some(manifest.drive.size_bytes),
            link_bytes_per_s: manifest.link.as_ref().map(|link| link.ceiling_bytes_per_s),
            advice: Vec::new(),
            second_opinion: None,
            clouds: Vec::new(),
            governed_below_k: manifest.governor.as_ref().map(|governor| f64::from(governor.below_k)),
            notes: manifest.notes.clone(),
            ending: facts::ending(manifest),
            reproduce: facts::reproduce(manifest),
            written_by: Some(format!("heatsoak {}", manifest.heatsoak_version)),
            findings,
        };
        name_constant(&mut input);
        input
    }
}

/// The latest moment that the record tells of.
fn record_end(record: &Record) -> Instant {
    let io = record.io.iter().map(|row| row.t + row.span).max();
    let telemetry = record.telemetry.iter().map(|row| row.t).max();
    let end = record.manifest.end.as_ref().map(|end| Instant::from_ns(end.t_ns));
    [io, telemetry, end].into_iter().flatten().max().unwrap_or(Instant::ZERO)
}

/// Operations that move data; trims count what they deallocate. Idle time has no speed.
const LOADS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

fn speed(io: &[IoRow]) -> Vec<OpSpeed> {
    let series = LOADS.into_iter().map(|op| {
        let rows = io.iter().filter(|row| row.op == op);
        let intervals = rows.filter_map(|row| {
            let rate = row.bytes.per(row.span)?.as_f64();
            Some(MeanInterval { start_s: row.t.as_secs_f64(), span_s: row.span.as_secs_f64(), value: rate })
        });
        OpSpeed { op, intervals: intervals.collect() }
    });
    series.filter(|series| !series.intervals.is_empty()).collect()
}

/// Quantiles of merged histograms: quantiles themselves cannot be averaged.
fn latency(io: &[IoRow], end_s: f64) -> Vec<LatencySeries> {
    let bucket_s = reduce::bucket_s(end_s, reduce::CHART_POINTS);
    let series = LOADS.into_iter().map(|op| {
        let mut points = Vec::new();
        let mut merged = Histogram::new();
        let mut current: Option<f64> = None;
        for row in io.iter().filter(|row| row.op == op && row.clat.count() > 0) {
            let start_s = (row.t.as_secs_f64() / bucket_s).floor() * bucket_s;
            if let Some(before) = current.filter(|before| *before != start_s) {
                points.extend(latency_point(before, bucket_s.min(end_s - before), &merged));
                merged.clear();
            }
            current = Some(start_s);
            merged.merge(&row.clat);
        }
        let rest_s = |start_s: f64| bucket_s.min(end_s - start_s);
        points.extend(current.and_then(|start_s| latency_point(start_s, rest_s(start_s), &merged)));
        LatencySeries { op, points }
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

/// Columns of a latency map at most: what can be told apart on a page.
const MAP_COLUMNS: usize = 240;

/// Shares of latency bands over time, from the histograms of all intervals.
fn latency_maps(io: &[IoRow], end_s: f64) -> Vec<LatencyMap> {
    let cell_s = reduce::bucket_s(end_s, MAP_COLUMNS);
    let maps = [Op::Read, Op::Write].into_iter().map(|op| {
        // By bucket first: there are far fewer of them than rows.
        let mut buckets: BTreeMap<(u32, u16), u64> = BTreeMap::new();
        for row in io.iter().filter(|row| row.op == op) {
            let column = (row.t.as_secs_f64() / cell_s) as u32;
            for (bucket, count) in row.clat.filled() {
                *buckets.entry((column, bucket)).or_default() += u64::from(count);
            }
        }
        let mut counts: BTreeMap<(u32, i32), u64> = BTreeMap::new();
        for ((column, bucket), count) in buckets {
            *counts.entry((column, latency_band(bucket))).or_default() += count;
        }
        let mut of_column: BTreeMap<u32, u64> = BTreeMap::new();
        counts.iter().for_each(|((column, _), count)| *of_column.entry(*column).or_default() += count);
        let share = |((column, band), count): (&(u32, i32), &u64)| {
            (*column, *band, *count as f64 / of_column[column].max(1) as f64)
        };
        LatencyMap { op, cell_s, cells: counts.iter().map(share).collect() }
    });
    maps.filter(|map| !map.cells.is_empty()).collect()
}

/// The band of a bucket of the histograms.
fn latency_band(bucket: u16) -> i32 {
    let ns = Histogram::bucket_middle_ns(bucket.into()).max(1) as f64;
    (ns.log10() * f64::from(LATENCY_BANDS_A_DECADE)).floor() as i32
}

/// I/Os and latencies of each operation in each phase that began.
fn loads(record: &Record) -> Vec<LoadTotals> {
    let began = |(index, facts): (usize, &PhaseFacts)| facts.start_ns.map(|_| index as u32);
    let phases: Vec<u32> = record.manifest.phases.iter().enumerate().filter_map(began).collect();
    let mut all: Vec<(usize, Op, u64, Histogram)> = Vec::new();
    for row in record.io.iter().filter(|row| LOADS.contains(&row.op)) {
        let Some(phase) = phases.iter().position(|phase| *phase == row.phase) else { continue };
        let same = all.iter_mut().rev().find(|load| load.0 == phase && load.1 == row.op);
        match same {
            Some((_, _, ios, clat)) => {
                *ios = ios.saturating_add(row.ios);
                clat.merge(&row.clat);
            }
            None => all.push((phase, row.op, row.ios, row.clat.clone())),
        }
    }
    let totals = |(phase, op, ios, clat): (usize, Op, u64, Histogram)| LoadTotals {
        phase,
        op,
        ios: Some(ios),
        latency: latency_totals(&clat),
    };
    all.into_iter().map(totals).collect()
}

fn latency_totals(clat: &Histogram) -> Option<LatencyTotals> {
    let ns = |fraction| clat.quantile(fraction).map(|latency| latency.as_nanos() as f64);
    let max_ns = clat.max()?.as_nanos() as f64;
    Some(LatencyTotals { p50_ns: ns(0.5)?, p99_ns: ns(0.99)?, p999_ns: ns(0.999)?, max_ns })
}

fn latency_point(start_s: f64, span_s: f64, merged: &Histogram) -> Option<LatencyPoint> {
    let ns = |fraction| merged.quantile(fraction).map(|latency| latency.as_nanos() as f64);
    Some(LatencyPoint { start_s, span_s, p50_ns: ns(0.5)?, p99_ns: ns(0.99)?, p999_ns: ns(0.999)? })
}

fn temperature(record: &Record) -> Vec<Readings> {
    let telemetry = &record.telemetry;
    let kelvin = |kelvin: measure::Kelvin| celsius(f64::from(kelvin.as_kelvin()));
    // A composite temperature is the NVMe health log's, and not what smartctl reads of other drives.
    let by = |smartctl: bool| {
        move |row: &TelemetryRow| row.composite.filter(|_| (row.source == "smartctl") == smartctl).map(kelvin)
    };
    let mut all: Vec<Readings> = readings(telemetry, "composite", by(false)).into_iter().collect();
    all.extend(readings(telemetry, "temp", by(true)));
    for index in 0..8 {
        let name = format!("sensor {}", index + 1);
        all.extend(readings(telemetry, &name, |row| row.sensors[index].map(kelvin)));
    }
    // The kernel's own reading, with its own offset: it may lie 0.15 °C beside the composite one.
    all.extend(readings(telemetry, "hwmon", |row| {
        row.hwmon_millicelsius.map(|reading| f64::from(reading) / 1000.0)
    }));
    trusted_first(&mut all, &Trace::from_record(record));
    all
}

/// The power meters, each with its own line; the one that figures are of first.
fn power(record: &Record) -> Vec<Readings> {
    let meters = trace::Trace::from_record(record).meters;
    meters.iter().filter(|meter| !meter.watts.points().is_empty()).map(super::trace::meter).collect()
}

/// One field over time. A failed reading of a source that gives this field is a gap in it.
fn readings(
    telemetry: &[TelemetryRow],
    name: &str,
    value: impl Fn(&TelemetryRow) -> Option<f64>,
) -> Option<Readings> {
    let mut sources: Vec<&str> = Vec::new();
    for row in telemetry.iter().filter(|row| value(row).is_some()) {
        if !sources.contains(&row.source.as_str()) {
            sources.push(&row.source);
        }
    }
    if sources.is_empty() {
        return None;
    }
    let rows = telemetry.iter().filter(|row| sources.contains(&row.source.as_str()));
    let mut points: Vec<_> = rows.map(|row| (row.t.as_secs_f64(), value(row))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(Readings { name: name.to_owned(), points })
}

/// Counters that moved during the run; one that stood still has nothing to show.
fn counters(telemetry: &[TelemetryRow]) -> Vec<Counter> {
    type RowCounter = fn(&TelemetryRow) -> Option<u32>;
    let fields: [(CounterKind, RowCounter); 4] = [
        (CounterKind::Tmt1Transitions, |row| row.tmt1_transitions),
        (CounterKind::Tmt2Transitions, |row| row.tmt2_transitions),
        (CounterKind::Tmt1Seconds, |row| row.tmt1_seconds),
        (CounterKind::Tmt2Seconds, |row| row.tmt2_seconds),
    ];
    let counter = |(kind, field): (CounterKind, RowCounter)| {
        Counter::since_first(kind, readings(telemetry, "", |row| field(row).map(f64::from))?.points)
    };
    fields.into_iter().filter_map(counter).collect()
}

fn phase(facts: &PhaseFacts, end: Instant) -> Option<RunPhase> {
    let start = Instant::from_ns(facts.start_ns?);
    Some(RunPhase {
        name: facts.name.clone(),
        op: facts.ops.join(" + "),
        what: facts.what.clone(),
        start_s: start.as_secs_f64(),
        end_s: facts.end_ns.map_or(end, Instant::from_ns).max(start).as_secs_f64(),
        ended_by: facts.ended_by.clone(),
        rate_limit_bytes_per_s: facts.rate_limit_bytes_per_s,
    })
}

fn levels(manifest: &Manifest) -> Vec<Level> {
    let (set, before) = (&manifest.settings.set, &manifest.settings.before);
    let all = [
        (LevelKind::Tmt1, set.tmt1_k.or(before.tmt1_k)),
        (LevelKind::Tmt2, set.tmt2_k.or(before.tmt2_k)),
        (LevelKind::Warning, manifest.drive.warning_k),
        (LevelKind::Critical, manifest.drive.critical_k),
        (LevelKind::StopLimit, manifest.stop_at_k),
    ];
    // 0 is "disabled" for the settings and "not reported" for the thresholds.
    all.into_iter()
        .filter_map(|(kind, temp_k)| temp_k.filter(|temp_k| *temp_k > 0).map(|temp_k| Level { kind, temp_k }))
        .collect()
}
