//! Metrics in Prometheus' text format 0.0.4, from one table of which the page of metrics is made too.
//!
//! Text and not OpenMetrics: Debian's promtool takes no `info` type and no exemplars. Written by hand, because the common
//! crate speaks OpenMetrics only. Names follow Prometheus' own rules (base units, `_total` on counters and nowhere
//! else), temperatures are degrees Celsius as everywhere in Prometheus: a whole kelvin less 273.
//!
//! A counter that cannot be read is absent, never 0. A drive that is gone is `heatsoak_drive_up 0`, never absent.

use std::fmt::Write as _;

use measure::record::TelemetryRow;
use measure::{Bytes, Kelvin};
use nvme::smart::{DataUnits, SmartLog};

use crate::drive::DriveWatch;
use crate::event::SlowCause;

/// Whether a metric only grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricType {
    /// It only grows, but for restarts.
    Counter,
    /// It is what it is now.
    Gauge,
}

/// A metric of a drive.
pub struct DriveMetric {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub metric_type: MetricType,
    /// What it is, in a sentence.
    pub help: &'static str,
    /// The label that tells its samples of one drive apart; empty without one.
    pub label: &'static str,
    /// Its samples: value of the label, value.
    samples: fn(&DriveWatch, &Scrape) -> Vec<(&'static str, f64)>,
}

/// When and how samples are taken.
#[derive(Clone, Copy, Debug)]
pub struct Scrape {
    /// Now, in seconds of the loop's clock.
    pub now_s: f64,
}

/// What the loop costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OwnFigures {
    /// Processor time of the process, in seconds; `None` where the system does not tell.
    pub cpu_s: Option<f64>,
    /// Resident memory in bytes.
    pub memory_bytes: Option<f64>,
    /// Scrapes answered.
    pub scrapes: u64,
}

fn one(value: Option<f64>) -> Vec<(&'static str, f64)> {
    value.map(|value| ("", value)).into_iter().collect()
}

fn celsius(kelvin: Kelvin) -> f64 {
    f64::from(kelvin.as_whole_celsius())
}

fn counted(
    drive: &DriveWatch,
    light: fn(&SmartLog) -> u32,
    heavy: fn(&SmartLog) -> u32,
) -> Vec<(&'static str, f64)> {
    let Some(log) = &drive.smart else { return Vec::new() };
    // A drive without these thresholds has zeroes there, which are no counts.
    let counts =
        log.tmt1_transitions > 0 || log.tmt2_transitions > 0 || log.tmt1_seconds > 0 || log.tmt2_seconds > 0;
    if !counts && drive.about.facts.hctm != Some(true) {
        return Vec::new();
    }
    vec![("tmt1", f64::from(light(log))), ("tmt2", f64::from(heavy(log)))]
}

fn limits(drive: &DriveWatch) -> Vec<(&'static str, Kelvin)> {
    let limits = drive.detector.limits;
    let named = [
        ("tmt1", limits.tmt1),
        ("tmt2", limits.tmt2),
        ("warning", limits.warning),
        ("critical", limits.critical),
    ];
    named.into_iter().filter_map(|(name, limit)| limit.map(|limit| (name, limit))).collect()
}

/// The names of temperature sensors, composite first.
const SENSORS: [&str; 9] = ["composite", "1", "2", "3", "4", "5", "6", "7", "8"];

fn temperatures(drive: &DriveWatch) -> Vec<(&'static str, f64)> {
    let sensors = drive.smart.as_ref().map_or([None; 8], |log| log.sensors);
    let all = std::iter::once(drive.kelvin).chain(sensors);
    SENSORS
        .into_iter()
        .zip(all)
        .filter_map(|(name, kelvin)| kelvin.map(|kelvin| (name, celsius(kelvin))))
        .collect()
}

/// Data moved: the block layer's count, or the drive's where there is none.
fn moved(
    drive: &DriveWatch,
    block: fn(&TelemetryRow) -> Option<Bytes>,
    units: fn(&SmartLog) -> DataUnits,
) -> Option<f64> {
    let counted = drive.block.as_ref().and_then(block).map(Bytes::as_f64);
    let is_counted = drive.read_at_s.contains_key("blockstat");
    let own = || {
        drive
            .smart
            .as_ref()
            .map(|log| units(log).bytes_at_most() as f64 / f64::from(drive.about.bandwidth_scale.max(1)))
    };
    if is_counted { counted } else { own() }
}

macro_rules! block {
    ($field:expr) => {
        |drive, _| {
            let value: fn(&TelemetryRow) -> Option<f64> = $field;
            one(drive.block.as_ref().and_then(value))
        }
    };
}

macro_rules! smart {
    ($field:expr) => {
        |drive, _| {
            let value: fn(&SmartLog) -> f64 = $field;
            one(drive.smart.as_ref().map(value))
        }
    };
}

macro_rules! metrics {
    ($($name:literal, $type:ident, $label:literal, $help:literal, $samples:expr;)*) => {
        /// The table of all metrics of a drive but its identity, which has labels of its own.
        pub static METRICS: &[DriveMetric] = &[
            $(DriveMetric { name: $name, metric_type: MetricType::$type, label: $label, help: $help, samples: $samples },)*
        ];
    };
}

metrics! {
    "heatsoak_drive_up", Gauge, "", "Whether the drive is there and its readings come: 1 or 0.",
        |drive, scrape| one(Some(f64::from(u8::from(drive.up && drive.age_s(scrape.now_s).is_some()))));
    "heatsoak_last_reading_timestamp_seconds", Gauge, "source", "When a source was read last, in seconds since 1970.",
        |drive, _| {
            let at = |source: &str| drive.read_at_s.get(source).map(|t_s| t_s + drive.epoch_s);
            ["smart", "hwmon", "smartctl", "blockstat", "power"].into_iter().filter_map(|source| at(source).map(|at| (source, at))).collect()
        };
    "heatsoak_readings_failed_total", Counter, "", "Readings that failed.", |drive, _| one(Some(drive.failed_readings as f64));
    "heatsoak_reading_seconds_total", Counter, "", "Time that readings took: what watching costs the drive.", |drive, _| one(Some(drive.cost_s));
    "heatsoak_temperature_celsius", Gauge, "sensor", "Temperature; whole kelvins as the drive reports them, less 273, so 318 K is 45.",
        |drive, _| temperatures(drive);
    "heatsoak_temperature_limit_celsius", Gauge, "limit", "Thresholds of the drive: TMT1, TMT2, warning (WCTEMP), critical (CCTEMP).",
        |drive, _| limits(drive).into_iter().map(|(name, limit)| (name, celsius(limit))).collect();
    "heatsoak_headroom_celsius", Gauge, "limit", "Kelvins from the composite temperature up to a threshold; negative above it.",
        |drive, _| {
            let Some(now) = drive.kelvin else { return Vec::new() };
            limits(drive).into_iter().map(|(name, limit)| (name, celsius(limit) - celsius(now))).collect()
        };
    "heatsoak_time_to_limit_seconds", Gauge, "limit", "Time until a threshold is reached at the slope of the last minute; absent where it is not approached.",
        |drive, _| limits(drive).into_iter().filter_map(|(name, limit)| drive.detector.seconds_to(limit).map(|s| (name, s))).collect();
    "heatsoak_throttle_seconds_total", Counter, "threshold", "Time throttled as the drive counts it (TMT1, TMT2); absent where the drive has no such counter.",
        |drive, _| counted(drive, |log| log.tmt1_seconds, |log| log.tmt2_seconds);
    "heatsoak_throttle_transitions_total", Counter, "threshold", "How often throttling began as the drive counts it.",
        |drive, _| counted(drive, |log| log.tmt1_transitions, |log| log.tmt2_transitions);
    "heatsoak_slow", Gauge, "cause", "Whether the drive is slow at equal concurrency or throttled, by cause: 1 or 0.",
        |drive, _| {
            let now = drive.detector.slow().map(|slow| slow.cause);
            SlowCause::ALL.into_iter().map(|cause| (cause.name(), f64::from(u8::from(now == Some(cause))))).collect()
        };
    "heatsoak_slow_seconds_total", Counter, "cause", "Time in which it was, since the watch began.",
        |drive, _| SlowCause::ALL.into_iter().map(|cause| (cause.name(), drive.slow_seconds.get(&cause).copied().unwrap_or(0.0))).collect();
    "heatsoak_capacity_lost_ratio", Gauge, "", "Share of the speed that is lost at equal concurrency; absent until it can be compared.",
        |drive, _| one(drive.detector.capacity_lost());
    "heatsoak_comparable_ratio", Gauge, "", "Share of the seconds that asked enough of the drive (mean queue of 1) to see a loss of speed.",
        |drive, _| one(drive.detector.comparable_share());
    "heatsoak_onset_temperature_celsius", Gauge, "", "Temperature at the last onset of throttling.",
        |drive, _| one(drive.onset_k.map(|kelvin| celsius(Kelvin::from_kelvin(kelvin))));
    "heatsoak_read_bytes_total", Counter, "", "Data read, by the block layer; without it by the drive's own count, in steps of 512 kB.",
        |drive, _| one(moved(drive, |row| row.device_read, |log| log.data_units_read));
    "heatsoak_written_bytes_total", Counter, "", "Data written, by the block layer; without it by the drive's own count, in steps of 512 kB.",
        |drive, _| one(moved(drive, |row| row.device_written, |log| log.data_units_written));
    "heatsoak_discarded_bytes_total", Counter, "", "Data that the block layer has discarded.", block!(|row| row.block?.discarded.map(Bytes::as_f64));
    "heatsoak_reads_total", Counter, "", "Reads that the block layer has completed.", block!(|row| Some(row.block?.reads as f64));
    "heatsoak_writes_total", Counter, "", "Writes that the block layer has completed.", block!(|row| Some(row.block?.writes as f64));
    "heatsoak_discards_total", Counter, "", "Discards that the block layer has completed.", block!(|row| Some(row.block?.discards? as f64));
    "heatsoak_flushes_total", Counter, "", "Flushes that the block layer has completed.", block!(|row| Some(row.block?.flushes? as f64));
    "heatsoak_read_time_seconds_total", Counter, "", "Time of all reads together; begins again after 49.7 days of it.", block!(|row| Some(f64::from(row.block?.read_ms) / 1e3));
    "heatsoak_write_time_seconds_total", Counter, "", "Time of all writes together; begins again after 49.7 days of it.", block!(|row| Some(f64::from(row.block?.write_ms) / 1e3));
    "heatsoak_io_in_flight", Gauge, "", "I/Os in flight.", block!(|row| Some(f64::from(row.block?.in_flight)));
    "heatsoak_power_watts", Gauge, "", "Power, as the drive or a meter tells it.", |drive, _| one(drive.power.map(measure::Watts::as_f64));
    "heatsoak_warning_time_seconds_total", Counter, "", "Time at or above WCTEMP; the drive counts minutes, so it grows by 60.", smart!(|log| f64::from(log.warning_minutes) * 60.0);
    "heatsoak_critical_time_seconds_total", Counter, "", "Time at or above CCTEMP; the drive counts minutes, so it grows by 60.", smart!(|log| f64::from(log.critical_minutes) * 60.0);
    "heatsoak_critical_warning", Gauge, "", "Critical warning bits of the SMART log; 0 is none.", smart!(|log| f64::from(log.critical_warning.bits()));
    "heatsoak_used_ratio", Gauge, "", "Share of the rated endurance that is used, as the drive estimates it.", smart!(|log| f64::from(log.percentage_used) / 100.0);
    "heatsoak_error_log_entries_total", Counter, "", "Entries ever made in the drive's error log: watching adds none.", smart!(|log| log.error_log_entries as f64);
}

/// The metric of a drive's identity; everything else joins it on `drive` and `instance`.
pub const INFO: (&str, &str) = ("heatsoak_drive_info", "Who a drive is; always 1.");

/// Metrics of the process: name, type, help.
pub const OWN: [(&str, MetricType, &str); 3] = [
    ("heatsoak_process_cpu_seconds_total", MetricType::Counter, "Processor time of this heatsoak."),
    ("heatsoak_process_resident_memory_bytes", MetricType::Gauge, "Memory of this heatsoak."),
    ("heatsoak_scrapes_total", MetricType::Counter, "Scrapes answered; none of them touches a drive."),
];

/// The page: all metrics of all drives.
///
/// With `serials` the identity has the serial number. Drives of one name get a number behind it.
pub fn expose(drives: &[DriveWatch], now_s: f64, serials: bool, own: &OwnFigures) -> String {
    let names = unique_names(drives);
    let mut page = String::new();
    header(&mut page, INFO.0, MetricType::Gauge, INFO.1);
    for (drive, name) in drives.iter().zip(&names) {
        let facts = &drive.about.facts;
        let text = |value: &Option<String>| escaped(value.as_deref().unwrap_or_default());
        let serial = if serials { format!(",serial=\"{}\"", text(&facts.serial)) } else { String::new() };
        let simulated = if drive.about.simulated { "true" } else { "false" };
        let _ = writeln!(
            page,
            "{}{{drive=\"{name}\",model=\"{}\"{serial},firmware=\"{}\",simulated=\"{simulated}\"}} 1",
            INFO.0,
            text(&facts.model),
            text(&facts.firmware),
        );
    }
    let scrape = Scrape { now_s };
    for metric in METRICS {
        let samples: Vec<(&String, Vec<(&str, f64)>)> =
            names.iter().zip(drives).map(|(name, drive)| (name, (metric.samples)(drive, &scrape))).collect();
        if samples.iter().all(|(_, samples)| samples.is_empty()) {
            continue;
        }
        header(&mut page, metric.name, metric.metric_type, metric.help);
        for (name, samples) in samples {
            for (value, number) in samples {
                let label = if metric.label.is_empty() {
                    String::new()
                } else {
                    format!(",{}=\"{value}\"", metric.label)
                };
                let _ = writeln!(page, "{}{{drive=\"{name}\"{label}}} {number}", metric.name);
            }
        }
    }
    let figures = [own.cpu_s, own.memory_bytes, Some(own.scrapes as f64)];
    for ((name, metric_type, help), figure) in OWN.into_iter().zip(figures) {
        if let Some(figure) = figure {
            header(&mut page, name, metric_type, help);
            let _ = writeln!(page, "{name} {figure}");
        }
    }
    page
}

fn header(page: &mut String, name: &str, metric_type: MetricType, help: &str) {
    let metric_type = match metric_type {
        MetricType::Counter => "counter",
        MetricType::Gauge => "gauge",
    };
    let _ = writeln!(page, "# HELP {name} {help}\n# TYPE {name} {metric_type}");
}

/// Names for labels; the second of two alike is `name-2`.
fn unique_names(drives: &[DriveWatch]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for drive in drives {
        let name = escaped(drive.about.name());
        let mut unique = name.clone();
        let mut number = 1;
        while names.contains(&unique) {
            number += 1;
            unique = format!("{name}-{number}");
        }
        names.push(unique);
    }
    names
}

/// A value of a label: models and serial numbers come from the drive, and may hold anything.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.trim().chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '"' => escaped.push_str("\\\""),
            '\n' => escaped.push_str("\\n"),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The page of all metrics, for the documents.
pub fn metrics_reference() -> String {
    let mut page = String::from("| metric | type | labels | what it is |\n| --- | --- | --- | --- |\n");
    let mut line = |name: &str, metric_type: MetricType, labels: &str, help: &str| {
        let metric_type = if metric_type == MetricType::Counter { "counter" } else { "gauge" };
        let _ = writeln!(page, "| `{name}` | {metric_type} | {labels} | {help} |");
    };
    line(INFO.0, MetricType::Gauge, "drive, model, serial, firmware, simulated", INFO.1);
    for metric in METRICS {
        let labels =
            if metric.label.is_empty() { "drive".to_owned() } else { format!("drive, {}", metric.label) };
        line(metric.name, metric.metric_type, &labels, metric.help);
    }
    for (name, metric_type, help) in OWN {
        line(name, metric_type, "", help);
    }
    page
}
