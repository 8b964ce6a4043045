//! A trace from our own run record.

use measure::record::{
    DriveFacts, EndReason, HeldFacts, IoRow, LostPart, Manifest, Op, PhaseFacts, Record, ThermalSettings,
};
use measure::{Celsius, Instant, Kelvin, Series};

use super::{Counters, Facts, Interval, Phase, SpeedSeries, Temperature, Trace};
use crate::SegmentOp;
use crate::caveat::{Caveat, Damage};
use crate::demand::is_unplanned;
use crate::transport::transport_caveats;

/// What a drive behind a USB bridge is called in a record.
const USB: &str = "usb";

impl Trace {
    /// The trace of a recorded run. Nothing is refused: what is missing or odd becomes a caveat.
    pub fn from_record(record: &Record) -> Self {
        let manifest = &record.manifest;
        let drive = manifest.drive.model.as_deref().unwrap_or(&manifest.address);
        let mut trace = Self::empty(&format!("{drive}, {}", manifest.plan_name));
        trace.facts = facts(record);
        trace.phases = phases(manifest, &record.io);
        trace.notes.clone_from(&manifest.notes);
        trace.io_errors = record.io.iter().fold(0, |sum, row| sum.saturating_add(row.errors));
        trace.settings = settings(manifest);
        add_speeds(&mut trace, &record.io);
        trace.judge_equal_demand(record);
        let is_usb = manifest.drive.kind == USB;
        let transport = transport_caveats(&mut trace.speeds, &manifest.transport_events, is_usb);
        trace.caveats.extend(transport);
        add_telemetry(&mut trace, record);
        trace.add_meters(record);
        trace.add_wear(record);
        trace.caveats.extend(record.lost.iter().map(Caveat::from));
        trace.trust_a_sensor();
        trace
    }
}

impl From<&LostPart> for Caveat {
    fn from(part: &LostPart) -> Self {
        Self::Damaged(match part {
            LostPart::Table { file } => Damage::Table { file: file.clone() },
            LostPart::Rest { file, bytes, after, why } => Damage::Rest {
                file: file.clone(),
                bytes: *bytes,
                after_s: after.map(Instant::as_secs_f64),
                why: why.clone(),
            },
            LostPart::Manifest => Damage::Manifest,
        })
    }
}

fn facts(record: &Record) -> Facts {
    let manifest = &record.manifest;
    let drive = &manifest.drive;
    let DriveFacts { warning_k, critical_k, tmt_min_k, tmt_max_k, slc_bytes, power_states, .. } = drive;
    Facts {
        simulated: Some(manifest.origin.is_simulated()),
        link_bytes_per_s: manifest.link.as_ref().map(|link| link.ceiling_bytes_per_s),
        possible_link_bytes_per_s: manifest.link.as_ref().and_then(|link| link.possible_bytes_per_s),
        warning_k: warning_k.map(f64::from),
        critical_k: critical_k.map(f64::from),
        tmt_min_k: tmt_min_k.map(f64::from),
        tmt_max_k: tmt_max_k.map(f64::from),
        capacity_bytes: drive.capacity_bytes(),
        slc_bytes: *slc_bytes,
        standing_tmt_k: [manifest.settings.before.tmt1_k, manifest.settings.before.tmt2_k],
        power_states: power_states.clone(),
        ambient_k: manifest.ambient_k,
        power_baseline_w: manifest.power_baseline.map(|baseline| (baseline.watts, baseline.plus_minus_w)),
        switched_on: manifest.switched_on,
        unplanned: is_unplanned(manifest),
        ended_early: ended_early(record),
    }
}

fn ended_early(record: &Record) -> Option<String> {
    let why = match &record.manifest.end {
        None => "its end was not recorded: it is under way, or it was killed".to_owned(),
        Some(end) => {
            let reason = match end.reason {
                EndReason::Completed => return None,
                EndReason::Interrupted => "it was interrupted",
                EndReason::SafetyLimit => "the drive reached the thermal limit of the run",
                EndReason::WriteLimit => "it had written as much as was permitted",
                EndReason::DeviceFailed => "the drive failed",
                EndReason::RecordFailed => "the record could not be written on",
            };
            match &end.detail {
                Some(detail) => format!("{reason} ({detail})"),
                None => reason.to_owned(),
            }
        }
    };
    Some(why)
}

fn phases(manifest: &Manifest, io: &[IoRow]) -> Vec<Phase> {
    let last_s = io.iter().map(|row| (row.t + row.span).as_secs_f64()).fold(0.0, f64::max);
    // A phase that never began keeps its place, because intervals name phases by number.
    let start_s = |facts: &PhaseFacts| facts.start_ns.map_or(last_s, |ns| Instant::from_ns(ns).as_secs_f64());
    let end_s = |facts: &PhaseFacts| facts.end_ns.map_or(last_s, |ns| Instant::from_ns(ns).as_secs_f64());
    let phase = |facts: &PhaseFacts| Phase {
        name: facts.name.clone(),
        what: facts.what.clone(),
        op: phase_op(&facts.ops),
        start_s: start_s(facts),
        end_s: end_s(facts).max(start_s(facts)),
        rate_limit_bytes_per_s: facts.rate_limit_bytes_per_s,
        held: held(manifest, start_s(facts), end_s(facts)),
        buffered: facts.buffered,
        inferred: false,
        tracked: facts.tracked,
        within_cache: facts.within_cache,
        ios: None,
    };
    let mut phases: Vec<Phase> = manifest.phases.iter().map(phase).collect();
    for row in io {
        if let Some(phase) = phases.get_mut(row.phase as usize) {
            phase.ios = Some(phase.ios.unwrap_or(0).saturating_add(row.ios));
        }
    }
    phases
}

/// When a governor held back the load of a phase. Until the run has ended nobody has written that down: then always.
fn held(manifest: &Manifest, start_s: f64, end_s: f64) -> Vec<(f64, f64)> {
    let Some(governor) = &manifest.governor else { return Vec::new() };
    if manifest.end.is_none() {
        return vec![(start_s, end_s)];
    }
    let seconds = |ns: u64| Instant::from_ns(ns).as_secs_f64();
    let within = |held: &HeldFacts| (seconds(held.start_ns).max(start_s), seconds(held.end_ns).min(end_s));
    governor.held.iter().map(within).filter(|(from_s, to_s)| from_s < to_s).collect()
}

fn phase_op(ops: &[String]) -> SegmentOp {
    let loads: Vec<_> =
        ops.iter().filter_map(|name| Op::from_name(name)).filter(|op| *op != Op::Idle).collect();
    match loads[..] {
        [] => SegmentOp::Idle,
        [op] => op.into(),
        _ => SegmentOp::Mixed,
    }
}

/// The settings that count are those set by the run, where it set any, else those found.
fn settings(manifest: &Manifest) -> Series<ThermalSettings> {
    let (before, set) = (&manifest.settings.before, &manifest.settings.set);
    let in_force = ThermalSettings {
        tmt1_k: set.tmt1_k.or(before.tmt1_k),
        tmt2_k: set.tmt2_k.or(before.tmt2_k),
        power_state: set.power_state.or(before.power_state),
    };
    let mut series = Series::new();
    if in_force != ThermalSettings::default() {
        series.push(Instant::ZERO, in_force);
    }
    series
}

fn add_speeds(trace: &mut Trace, io: &[IoRow]) {
    for op in [Op::Read, Op::Write, Op::Trim] {
        let rows = io.iter().filter(|row| row.op == op && !row.span.is_zero());
        let intervals: Vec<_> = rows
            .filter(|row| (row.phase as usize) < trace.phases.len())
            .map(|row| Interval {
                start_s: row.t.as_secs_f64(),
                span_s: row.span.as_secs_f64(),
                bytes: row.bytes.as_f64(),
                phase: row.phase,
            })
            .collect();
        if !intervals.is_empty() {
            trace.speeds.push(SpeedSeries { op: op.into(), intervals });
        }
    }
    let intervals = io.iter().filter(|row| row.phase as usize >= trace.phases.len()).count();
    if intervals > 0 {
        trace.caveats.push(Caveat::Damaged(Damage::Phases { intervals }));
    }
}

fn add_telemetry(trace: &mut Trace, record: &Record) {
    let named = |name: &str| Temperature { name: name.to_owned(), kelvin: Series::new() };
    let mut composite = named("composite");
    // A composite temperature is the NVMe health log's; what smartctl reads of SATA drives and through bridges is not.
    let mut by_smartctl = named("temp");
    let mut sensors: [Temperature; 8] = std::array::from_fn(|i| named(&format!("sensor{}", i + 1)));
    let mut hwmon = named("hwmon");
    for row in &record.telemetry {
        if let Some(reason) = &row.gap {
            match row.source.as_str() {
                "smart" => composite.kelvin.push_gap(row.t, reason),
                "smartctl" => by_smartctl.kelvin.push_gap(row.t, reason),
                "hwmon" => hwmon.kelvin.push_gap(row.t, reason),
                _ => {}
            }
            continue;
        }
        let kelvin = |k: Kelvin| f64::from(k.as_kelvin());
        if let Some(k) = row.composite {
            let of_source = if row.source == "smartctl" { &mut by_smartctl } else { &mut composite };
            of_source.kelvin.push(row.t, kelvin(k));
        }
        for (sensor, reading) in sensors.iter_mut().zip(row.sensors) {
            if let Some(k) = reading {
                sensor.kelvin.push(row.t, kelvin(k));
            }
        }
        if let Some(millidegrees) = row.hwmon_millicelsius {
            hwmon.kelvin.push(row.t, Celsius::from_millidegrees(millidegrees).as_kelvin_f64());
        }
        let counters = Counters {
            tmt1_transitions: row.tmt1_transitions.map(u64::from),
            tmt2_transitions: row.tmt2_transitions.map(u64::from),
            tmt1_seconds: row.tmt1_seconds.map(u64::from),
            tmt2_seconds: row.tmt2_seconds.map(u64::from),
        };
        if counters != Counters::default() {
            trace.counters.push(row.t, counters);
        }
    }
    let all = [composite, by_smartctl].into_iter().chain(sensors).chain([hwmon]);
    let seen = |t: &Temperature| !t.kelvin.points().is_empty() || !t.kelvin.gaps().is_empty();
    trace.temperatures = all.filter(seen).collect();
}
