//! The plain CSV that `heatsoak analyze` reads back: one row for each beginning of an interval and each reading.
//!
//! A cell is empty where nothing was read then. Temperatures are the record's whole kelvins; sensors, whose columns are in
//! °C, less 273. Discards have no column: the plain CSV has none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use measure::Kelvin;
use measure::record::{IoRow, Op, Record, TelemetryRow};

use super::phase_name;

/// Whole kelvins to whole degrees, as nvme-cli and smartctl have it.
const WHOLE_KELVIN_OFFSET: i32 = 273;

/// One moment.
#[derive(Default)]
struct CsvRow<'a> {
    /// Bytes per second of reads and writes, where an interval begins.
    rates: Option<[f64; 2]>,
    phase: Option<u32>,
    reading: Option<&'a TelemetryRow>,
}

/// The table.
pub(super) fn table(record: &Record, name: &str) -> String {
    let mut rows: BTreeMap<u64, CsvRow<'_>> = BTreeMap::new();
    for row in intervals(&record.io) {
        let at = rows.entry(row.t_ns).or_default();
        at.phase = Some(row.phase);
        row.add_rate(at.rates.get_or_insert([0.0; 2]));
    }
    for reading in record.telemetry.iter().filter(|reading| reading.gap.is_none()) {
        // Two sources at one nanosecond: the later is a nanosecond later.
        let mut t_ns = reading.t.as_ns();
        while rows.get(&t_ns).is_some_and(|row| row.reading.is_some()) {
            t_ns += 1;
        }
        rows.entry(t_ns).or_default().reading = Some(reading);
    }
    let mut text = facts(record, name);
    let sensors = sensors(record);
    text += "t_s,phase,read_bytes_per_s,write_bytes_per_s,composite_k";
    sensors.iter().for_each(|sensor| text += &format!(",sensor{}_c", sensor + 1));
    text += ",tmt1_transitions,tmt2_transitions,tmt1_seconds,tmt2_seconds,power_w\n";
    let mut phase = 0;
    for (t_ns, row) in &rows {
        phase = row.phase.unwrap_or(phase);
        let name = phase_name(record, phase).replace('"', "\"\"");
        let _ = write!(text, "{:.9},\"{name}\"", *t_ns as f64 / 1e9);
        for op in 0..2 {
            cell(&mut text, row.rates.map(|rates| format!("{:.0}", rates[op])));
        }
        let reading = row.reading;
        let kelvin = |kelvin: Option<Kelvin>| kelvin.map(|kelvin| kelvin.as_kelvin());
        cell(&mut text, reading.and_then(|reading| kelvin(reading.composite)));
        for sensor in &sensors {
            let whole = reading.and_then(|reading| kelvin(reading.sensors[*sensor]));
            cell(&mut text, whole.map(|kelvin| i32::from(kelvin) - WHOLE_KELVIN_OFFSET));
        }
        cell(&mut text, reading.and_then(|reading| reading.tmt1_transitions));
        cell(&mut text, reading.and_then(|reading| reading.tmt2_transitions));
        cell(&mut text, reading.and_then(|reading| reading.tmt1_seconds));
        cell(&mut text, reading.and_then(|reading| reading.tmt2_seconds));
        cell(&mut text, reading.and_then(|reading| reading.power).map(|power| power.as_f64()));
        text.push('\n');
    }
    text
}

/// What one operation moved in an interval.
struct Moved {
    t_ns: u64,
    phase: u32,
    op: Op,
    bytes: f64,
    seconds: f64,
}

/// Those of a record. The last of a phase may be some microseconds long, in which ended what had gone on for longer: a rate of them
/// would be many times the drive's, and so they count with the one before.
fn intervals(io: &[IoRow]) -> Vec<Moved> {
    const SLIVER: f64 = 0.01;
    let mut kept: Vec<Moved> = Vec::with_capacity(io.len());
    for row in io {
        let (bytes, seconds) = (row.bytes.as_u64() as f64, row.span.as_secs_f64());
        let mut of_phase = kept.iter_mut().rev().take_while(|before| before.phase == row.phase);
        let before = of_phase.find(|before| before.op == row.op);
        match before.filter(|before| seconds < SLIVER * before.seconds) {
            Some(before) => {
                before.bytes += bytes;
                before.seconds += seconds;
            }
            None => kept.push(Moved { t_ns: row.t.as_ns(), phase: row.phase, op: row.op, bytes, seconds }),
        }
    }
    kept
}

impl Moved {
    fn add_rate(&self, rates: &mut [f64; 2]) {
        let rate = if self.seconds > 0.0 { self.bytes / self.seconds } else { 0.0 };
        match self.op {
            Op::Read => rates[0] += rate,
            Op::Write => rates[1] += rate,
            Op::Trim | Op::Idle => {}
        }
    }
}

fn cell<V: std::fmt::Display>(text: &mut String, value: Option<V>) {
    text.push(',');
    if let Some(value) = value {
        let _ = write!(text, "{value}");
    }
}

/// Sensors that told anything, from 0.
fn sensors(record: &Record) -> Vec<usize> {
    let told = |sensor: &usize| record.telemetry.iter().any(|row| row.sensors[*sensor].is_some());
    (0..8).filter(told).collect()
}

/// What holds for the whole run, as comments that `heatsoak analyze` takes over.
fn facts(record: &Record, name: &str) -> String {
    let manifest = &record.manifest;
    let name = name.replace(['\n', '\r'], " ");
    let mut text = format!("# name: {name}\n# simulated: {}\n", manifest.origin.is_simulated());
    let mut fact = |name: &str, value: Option<String>| {
        text.extend(value.map(|value| format!("# {name}: {value}\n")));
    };
    let celsius =
        |kelvin: Option<u16>| kelvin.map(|kelvin| (i32::from(kelvin) - WHOLE_KELVIN_OFFSET).to_string());
    let settings = &manifest.settings;
    let off = |kelvin: &u16| *kelvin != 0;
    // 0 K, which no reading has, is how a threshold is disabled.
    let threshold = |set: Option<u16>, before: Option<u16>| {
        let kelvin = set.or(before)?;
        if off(&kelvin) { celsius(Some(kelvin)) } else { Some("0".to_owned()) }
    };
    fact("link_bytes_per_s", manifest.link.as_ref().map(|link| format!("{:.0}", link.ceiling_bytes_per_s)));
    fact("tmt1_c", threshold(settings.set.tmt1_k, settings.before.tmt1_k));
    fact("tmt2_c", threshold(settings.set.tmt2_k, settings.before.tmt2_k));
    fact("tmt_min_c", celsius(manifest.drive.tmt_min_k.filter(off)));
    fact("tmt_max_c", celsius(manifest.drive.tmt_max_k.filter(off)));
    fact("warning_c", celsius(manifest.drive.warning_k));
    fact("critical_c", celsius(manifest.drive.critical_k));
    fact("ambient_c", manifest.ambient_k.map(|kelvin| format!("{:.2}", kelvin - 273.15)));
    fact("capacity_bytes", manifest.drive.capacity_bytes().map(|bytes| bytes.to_string()));
    fact("slc_bytes", manifest.drive.slc_bytes.map(|bytes| bytes.to_string()));
    text
}

#[cfg(test)]
mod test {
    use measure::time::Instant;
    use measure::{Bytes, Histogram};
    use std::time::Duration;

    use super::*;

    /// Goal: a phase's last microseconds are no rate of the drive's, and no byte is lost. Method: two operations of one phase, whose last
    /// interval holds an I/O of each, and a short first one of another phase.
    #[test]
    fn an_interval_of_microseconds_counts_with_the_one_before() {
        let row = |ms: u64, us: u64, phase: u32, op: Op, bytes: u64| IoRow {
            t: Instant::from_ns(1_000_000 * ms),
            span: Duration::from_micros(us),
            phase,
            op,
            bytes: Bytes::new(bytes),
            ios: 1,
            errors: 0,
            slat: Histogram::new(),
            clat: Histogram::new(),
        };
        let rows = [
            row(0, 500_000, 0, Op::Read, 1_000_000),
            row(0, 500_000, 0, Op::Write, 2_000_000),
            row(500, 58, 0, Op::Read, 1_000),
            row(500, 58, 0, Op::Write, 2_000),
            row(501, 58, 1, Op::Read, 7_000),
        ];
        let kept = intervals(&rows);
        let of = |op: Op| kept.iter().filter(|row| row.op == op).map(|row| (row.t_ns, row.bytes)).collect();
        let reads: Vec<(u64, f64)> = of(Op::Read);
        let writes: Vec<(u64, f64)> = of(Op::Write);
        assert_eq!(reads, [(0, 1_001_000.0), (501_000_000, 7_000.0)]);
        assert_eq!(writes, [(0, 2_002_000.0)]);
        let mut rates = [0.0; 2];
        kept[0].add_rate(&mut rates);
        assert!((rates[0] - 1_001_000.0 / 0.500_058).abs() < 1e-6, "{rates:?}");
    }
}
