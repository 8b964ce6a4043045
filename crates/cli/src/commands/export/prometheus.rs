//! OpenMetrics text with timestamps: a run as time series of Prometheus.
//!
//! Times are the wall clock of the manifest's anchor plus time since the run began; a simulated run has the clock of its
//! simulation. Speeds and latencies stand at the end of their interval.
//!
//! Format: OpenMetrics 1.0 (families together, `# EOF` at the end), as `promtool tsdb create-blocks-from openmetrics`
//! takes it.

use std::fmt::Write as _;
use std::time::Duration;

use measure::Kelvin;
use measure::record::{IoRow, Op, Record, TelemetryRow};

use super::phase_name;

/// A family of intervals: its name, what it is, and its value.
type IoFamily = (&'static str, &'static str, fn(&IoRow) -> Option<f64>);
/// A family of readings.
type ReadingFamily = (&'static str, &'static str, fn(&TelemetryRow) -> Option<f64>);

const IO: [IoFamily; 5] = [
    ("heatsoak_throughput_bytes_per_second", "Speed over the interval", |row| {
        per_second(row, row.bytes.as_u64())
    }),
    ("heatsoak_ios_per_second", "I/Os that completed without error", |row| per_second(row, row.ios)),
    ("heatsoak_io_errors_per_second", "I/Os that completed with an error", |row| per_second(row, row.errors)),
    ("heatsoak_completion_latency_mean_seconds", "Mean completion latency", |row| {
        row.clat.mean().map(|mean| mean.as_secs_f64())
    }),
    ("heatsoak_completion_latency_p99_seconds", "99th percentile of the completion latency", |row| {
        row.clat.quantile(0.99).map(|p99: Duration| p99.as_secs_f64())
    }),
];

const READINGS: [ReadingFamily; 6] = [
    ("heatsoak_power_watts", "Power drawn by the drive", |row| row.power.map(|power| power.as_f64())),
    ("heatsoak_hwmon_temperature_celsius", "Temperature of a hwmon sensor", |row| {
        row.hwmon_millicelsius.map(|milli| f64::from(milli) / 1000.0)
    }),
    ("heatsoak_tmt1_transitions", "How often light throttling has begun", |row| {
        row.tmt1_transitions.map(f64::from)
    }),
    ("heatsoak_tmt2_transitions", "How often heavy throttling has begun", |row| {
        row.tmt2_transitions.map(f64::from)
    }),
    ("heatsoak_tmt1_seconds", "Light throttling since the drive was made", |row| {
        row.tmt1_seconds.map(f64::from)
    }),
    ("heatsoak_tmt2_seconds", "Heavy throttling since the drive was made", |row| {
        row.tmt2_seconds.map(f64::from)
    }),
];

const TEMPERATURE: &str = "heatsoak_temperature_celsius";

fn per_second(row: &IoRow, count: u64) -> Option<f64> {
    let seconds = row.span.as_secs_f64();
    (seconds > 0.0).then(|| count as f64 / seconds)
}

/// The run as text.
pub(super) fn text(record: &Record, name: &str) -> String {
    let manifest = &record.manifest;
    let labels = format!(
        "run=\"{}\",drive=\"{}\",serial=\"{}\",simulated=\"{}\"",
        escaped(name),
        escaped(manifest.drive.model.as_deref().unwrap_or(&manifest.address)),
        escaped(manifest.drive.serial.as_deref().unwrap_or_default()),
        manifest.origin.is_simulated()
    );
    let wall_ns = i128::from(manifest.clock_anchor.wall_unix_ns);
    let at = |t_ns: u64| {
        let ms = (wall_ns + i128::from(t_ns)).div_euclid(1_000_000);
        format!("{}.{:03}", ms.div_euclid(1000), ms.rem_euclid(1000))
    };
    let mut text = String::new();
    for (family, help, value) in IO {
        head(&mut text, family, help);
        for row in record.io.iter().filter(|row| row.op != Op::Idle) {
            let Some(value) = value(row) else { continue };
            let phase = escaped(phase_name(record, row.phase));
            let end = at(row.t.as_ns() + row.span.as_nanos() as u64);
            let _ = writeln!(text, "{family}{{{labels},op=\"{}\",phase=\"{phase}\"}} {value} {end}", row.op);
        }
    }
    head(&mut text, TEMPERATURE, "Temperature as the drive reports it, in whole kelvins less 273");
    // Series after series, as the format wants it.
    for sensor in 0..=8 {
        let name = if sensor == 0 { "composite".to_owned() } else { format!("sensor{sensor}") };
        for row in &record.telemetry {
            let kelvin = if sensor == 0 { row.composite } else { row.sensors[sensor - 1] };
            let Some(degrees) = kelvin.map(Kelvin::as_kelvin).map(|kelvin| i32::from(kelvin) - 273) else {
                continue;
            };
            let _ =
                writeln!(text, "{TEMPERATURE}{{{labels},sensor=\"{name}\"}} {degrees} {}", at(row.t.as_ns()));
        }
    }
    for (family, help, value) in READINGS {
        head(&mut text, family, help);
        for row in &record.telemetry {
            let Some(value) = value(row) else { continue };
            let _ = writeln!(text, "{family}{{{labels}}} {value} {}", at(row.t.as_ns()));
        }
    }
    text + "# EOF\n"
}

fn head(text: &mut String, family: &str, help: &str) {
    let _ = writeln!(text, "# TYPE {family} gauge\n# HELP {family} {help}.");
}

/// A label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
