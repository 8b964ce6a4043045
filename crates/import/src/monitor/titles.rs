//! Titles of columns in tables of monitors: which drive a column is of, what it says, and in which unit.
//!
//! The rules are in the header of [`super::columns`], which reads the rows.

use std::collections::{BTreeMap, BTreeSet};

use super::columns::Dialect;
use super::counters::{Counter, Counts, LANGUAGES, counter};
use super::hwinfo::{HwInfoColumn, SmartColumns};
use super::units::{Measure, Unit};
use super::{Quantity, grafana};
use trace::SegmentOp::{Read, Write};

/// Beginnings of the identifiers of drives.
const STORAGE: [&str; 4] = ["/nvme/", "/ssd/", "/hdd/", "/storage/"];

/// One column that says something.
pub(super) struct Meaning {
    pub(super) cell: usize,
    pub(super) drive: String,
    pub(super) quantity: Quantity,
    /// What a bare number counts.
    pub(super) unit: Unit,
    /// Whether nothing but the usual unit of its table says so.
    pub(super) is_bare: bool,
}

/// What the columns of a table say; what was decided on the way goes into `notes`.
///
/// # Errors
/// Where a unit is not known, or no column says anything about a drive.
pub(super) fn meanings(
    dialect: Dialect,
    header: &[String],
    notes: &mut Vec<String>,
) -> Result<Vec<Meaning>, String> {
    let meanings = match dialect {
        Dialect::HwInfo => hwinfo(header, notes)?,
        Dialect::HardwareMonitor => hardware_monitor(header),
        Dialect::Perfmon => perfmon(header, notes),
        Dialect::Grafana => grafana::meanings(header, notes)?,
    };
    if meanings.is_empty() { Err(nothing_known(dialect)) } else { Ok(meanings) }
}

/// The unit of that name, of a column that is sure to have one of its kind.
fn unit_of(title: &str, name: &str, usual: Unit) -> Result<Unit, String> {
    match Unit::named(name).filter(|unit| unit.measure == usual.measure) {
        _ if name.is_empty() => Ok(usual),
        Some(unit) => Ok(unit),
        None => Err(unknown_unit(title, name, usual.measure)),
    }
}

pub(super) fn unknown_unit(title: &str, name: &str, measure: Measure) -> String {
    let known = match measure {
        Measure::Rate => "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s and bits (Mb/s)",
        Measure::Heat => "°C, °F and K",
        Measure::Power => "mW, W and kW",
        Measure::Share => "%",
    };
    format!(
        "column {title:?}: the unit {name:?} is not known; {known} are. Rename the column, or leave it out"
    )
}

/// A title of HWiNFO's without its unit, and that.
fn name_and_unit(title: &str) -> (&str, &str) {
    // Behind the bracket programs that save the table again put a number (`[°C].1`).
    title
        .rsplit_once('[')
        .map_or((title, ""), |(name, unit)| (name.trim(), unit.split(']').next().unwrap_or(unit)))
}

/// Whether a title is of a rate that may be a drive's, in words that are not known.
fn is_unknown_rate(title: &str) -> bool {
    let (name, unit) = name_and_unit(title);
    let is_rate = Unit::named(unit).is_some_and(|unit| unit.measure == Measure::Rate);
    is_rate && hwinfo_column(title).is_none() && super::hwinfo::may_be_of_a_drive(name)
}

/// The same, and what it is of a drive.
fn hwinfo_column(title: &str) -> Option<(&str, &str, HwInfoColumn)> {
    let (name, unit) = name_and_unit(title);
    let is_rate = Unit::named(unit).is_some_and(|unit| unit.measure == Measure::Rate);
    Some((name, unit, super::hwinfo::column(name, unit, is_rate)?))
}

fn hwinfo(header: &[String], notes: &mut Vec<String>) -> Result<Vec<Meaning>, String> {
    let mut meanings = Vec::new();
    let unknown: Vec<&str> =
        header.iter().map(String::as_str).filter(|title| is_unknown_rate(title)).collect();
    if !unknown.is_empty() {
        notes.push(format!(
            "rates that are not known to be a drive's are passed over: {}",
            unknown.join(", ")
        ));
    }
    let (mut smart, mut reading, mut writing, mut activities) = (SmartColumns::default(), 0, 0, 0);
    for (cell, title) in header.iter().enumerate() {
        let Some((name, unit, column)) = hwinfo_column(title) else { continue };
        let (drive, quantity, usual) = match column {
            HwInfoColumn::Activity => {
                activities += 1;
                let drive = format!("rates of drive {activities}");
                let (quantity, unit) = (Quantity::Busy, Unit::of(Measure::Share, 0.01));
                meanings.push(Meaning { cell, drive, quantity, unit, is_bare: false });
                continue;
            }
            HwInfoColumn::Rate(op) => {
                let count = if op == Read { &mut reading } else { &mut writing };
                *count += 1;
                (format!("rates of drive {count}"), Quantity::Rate(op), Unit::of(Measure::Rate, 1e6))
            }
            _ if !smart.next(name, column) => continue,
            HwInfoColumn::Temperature(number) => {
                let quantity = Quantity::Celsius(number.unwrap_or(0));
                (format!("drive {}", smart.drive), quantity, Unit::of(Measure::Heat, 1.0))
            }
            HwInfoColumn::Warning => continue,
        };
        let unit = unit_of(title, unit, usual)?;
        meanings.push(Meaning { cell, drive, quantity, unit, is_bare: false });
    }
    Ok(meanings)
}

/// How many drives HWiNFO's columns of S.M.A.R.T. are of, those without a temperature among them.
pub(super) fn smart_drives(header: &[String]) -> usize {
    let mut smart = SmartColumns::default();
    for (name, _, column) in header.iter().filter_map(|title| hwinfo_column(title)) {
        if !matches!(column, HwInfoColumn::Rate(_) | HwInfoColumn::Activity) {
            smart.next(name, column);
        }
    }
    smart.drive
}

/// Identifiers of Libre and Open Hardware Monitor: `/nvme/0/temperature/0`. Rates had the numbers 34 and 35 until 2025.
fn hardware_monitor(header: &[String]) -> Vec<Meaning> {
    let mut sensors: BTreeMap<&str, u8> = BTreeMap::new();
    let mut meanings = Vec::new();
    for (cell, identifier) in header.iter().enumerate() {
        let Some((drive, rest)) = STORAGE.iter().find_map(|kind| {
            let behind = identifier.strip_prefix(kind)?;
            let at = kind.len() + behind.find('/')?;
            Some((&identifier[..at], &identifier[at..]))
        }) else {
            continue;
        };
        let (quantity, unit) = match rest {
            "/throughput/54" | "/throughput/34" => (Quantity::Rate(Read), Unit::of(Measure::Rate, 1.0)),
            "/throughput/55" | "/throughput/35" => (Quantity::Rate(Write), Unit::of(Measure::Rate, 1.0)),
            _ if rest.starts_with("/temperature/") => {
                let sensor = sensors.entry(drive).or_default();
                *sensor += 1;
                (Quantity::Celsius(*sensor - 1), Unit::of(Measure::Heat, 1.0))
            }
            _ => continue,
        };
        meanings.push(Meaning {
            cell,
            drive: drive.trim_start_matches('/').to_owned(),
            quantity,
            unit,
            is_bare: false,
        });
    }
    // Sensors of the protocol are eight at most.
    meanings.retain(|one| !matches!(one.quantity, Quantity::Celsius(sensor) if sensor > 8));
    meanings
}

fn perfmon(header: &[String], notes: &mut Vec<String>) -> Vec<Meaning> {
    let mut found: Vec<_> = header.iter().map(|title| counter(title)).enumerate().collect();
    let has_drives = found.iter().any(|(_, one)| one.as_ref().is_some_and(|one| !one.is_volume));
    if has_drives {
        found.retain(|(_, one)| one.as_ref().is_some_and(|one| !one.is_volume));
    } else if found.iter().any(|(_, one)| one.is_some()) {
        notes.push("speeds are those of volumes (LogicalDisk); a drive may have several".into());
    }
    if !found.iter().any(|(_, one)| one.as_ref().is_some_and(|one| matches!(one.counts, Counts::Bytes(_)))) {
        return Vec::new();
    }
    let tells_idle = found.iter().any(|(_, one)| one.as_ref().is_some_and(|one| one.counts == Counts::Idle));
    // Busy time counts what waits as well, up to many times the time that there is.
    found.retain(|(_, one)| one.as_ref().is_none_or(|one| !tells_idle || one.counts != Counts::Busy));
    let hosts: BTreeSet<&str> =
        found.iter().filter(|(_, one)| one.is_some()).map(|(cell, _)| host(&header[*cell])).collect();
    let several = hosts.len() > 1;
    let meaning = |(cell, one): (usize, Option<Counter>)| {
        let one = one?;
        let (quantity, unit) = match one.counts {
            Counts::Bytes(op) => (Quantity::Rate(op), Unit::of(Measure::Rate, 1.0)),
            Counts::Busy => (Quantity::Busy, Unit::of(Measure::Share, 0.01)),
            Counts::Idle => (Quantity::Busy, Unit { measure: Measure::Share, zero: 100.0, factor: -0.01 }),
        };
        let drive = if several { format!("{} {}", host(&header[cell]), one.drive) } else { one.drive };
        Some(Meaning { cell, drive, quantity, unit, is_bare: false })
    };
    found.into_iter().filter_map(meaning).collect()
}

/// The machine in `\\HOST\PhysicalDisk(0 C:)\Disk Read Bytes/sec`.
fn host(path: &str) -> &str {
    path.trim().strip_prefix("\\\\").and_then(|path| path.split('\\').next()).unwrap_or_default()
}

/// The zone in `(PDH-CSV 4.0) (Pacific Standard Time)(480)`: minutes from local time to UTC.
pub(super) fn zone_s(first: &str) -> Option<f64> {
    let (_, last) = first.trim_end().trim_end_matches(')').rsplit_once('(')?;
    last.parse::<f64>().ok().map(|minutes| minutes * 60.0)
}

fn nothing_known(dialect: Dialect) -> String {
    let (what, wanted) = match dialect {
        Dialect::HwInfo => (
            "HWiNFO's log",
            "Drive Temperature [°C], Read Rate [MB/s] and Write Rate [MB/s]: tick them for the log, and set HWiNFO's language to English if they are ticked".to_owned(),
        ),
        Dialect::HardwareMonitor => (
            "a log of Libre Hardware Monitor",
            "the temperature, Read Rate and Write Rate of a drive (/nvme/0/temperature/0, /nvme/0/throughput/54 and 55): tick Storage in its menu File, Hardware".to_owned(),
        ),
        Dialect::Perfmon => (
            "a log of Windows' performance counters",
            format!(
                "\\PhysicalDisk(*)\\Disk Read Bytes/sec and Disk Write Bytes/sec (with names in {LANGUAGES})"
            ),
        ),
        Dialect::Grafana => (
            "a table from Grafana",
            "columns named after reading, writing or temperature, in bytes, bits, °C or °F".to_owned(),
        ),
    };
    format!("it looks like {what}, but has nothing about a drive: it needs {wanted}")
}
