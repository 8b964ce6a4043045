//! Titles of columns in tables of monitors: which drive a column is of, what it says, and in which unit.
//!
//! The rules are in the header of [`super::columns`], which reads the rows.

use super::columns::Dialect;
use super::counters::{Counter, LANGUAGES, counter};
use super::units::{Measure, Told, Unit, told};
use super::{Quantity, controller, is_drive};
use trace::SegmentOp::{Read, Write};

/// One column that says something.
pub(super) struct Meaning {
    pub(super) cell: usize,
    pub(super) drive: String,
    pub(super) quantity: Quantity,
    /// What a bare number counts.
    pub(super) unit: Unit,
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
        Dialect::HwInfo => hwinfo(header)?,
        Dialect::Perfmon => perfmon(header, notes),
        Dialect::Grafana => grafana(header)?,
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

fn unknown_unit(title: &str, name: &str, measure: Measure) -> String {
    let known = match measure {
        Measure::Rate => "B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s and bits (Mb/s)",
        Measure::Heat => "°C, °F and K",
        Measure::Power => "mW, W and kW",
    };
    format!(
        "column {title:?}: the unit {name:?} is not known; {known} are. Rename the column, or leave it out"
    )
}

fn hwinfo(header: &[String]) -> Result<Vec<Meaning>, String> {
    let mut meanings = Vec::new();
    let (mut hot, mut reading, mut writing) = (0, 0, 0);
    for (cell, title) in header.iter().enumerate() {
        let (name, unit) = title
            .rsplit_once('[')
            .map_or((title.as_str(), ""), |(name, unit)| (name.trim(), unit.trim_end_matches(']')));
        let rate = || unit_of(title, unit, Unit::of(Measure::Rate, 1e6));
        let heat = || unit_of(title, unit, Unit::of(Measure::Heat, 1.0));
        let (drive, quantity, unit) = match name.strip_prefix("Drive Temperature") {
            Some("") => {
                hot += 1;
                (format!("drive {hot}"), Quantity::Celsius(0), heat()?)
            }
            Some(number) => match number.trim().parse::<u8>() {
                Ok(number) if hot > 0 => (format!("drive {hot}"), Quantity::Celsius(number), heat()?),
                _ => continue,
            },
            None if name == "Read Rate" => {
                reading += 1;
                (format!("rates of drive {reading}"), Quantity::Rate(Read), rate()?)
            }
            None if name == "Write Rate" => {
                writing += 1;
                (format!("rates of drive {writing}"), Quantity::Rate(Write), rate()?)
            }
            None => continue,
        };
        meanings.push(Meaning { cell, drive, quantity, unit });
    }
    Ok(meanings)
}

fn perfmon(header: &[String], notes: &mut Vec<String>) -> Vec<Meaning> {
    let mut found: Vec<_> = header.iter().map(|title| counter(title)).enumerate().collect();
    let has_drives = found.iter().any(|(_, one)| one.as_ref().is_some_and(|one| !one.is_volume));
    if has_drives {
        found.retain(|(_, one)| one.as_ref().is_some_and(|one| !one.is_volume));
    } else if found.iter().any(|(_, one)| one.is_some()) {
        notes.push("speeds are those of volumes (LogicalDisk); a drive may have several".into());
    }
    let meaning = |(cell, one): (usize, Option<Counter>)| {
        let one = one?;
        let unit = Unit::of(Measure::Rate, 1.0);
        Some(Meaning { cell, drive: one.drive, quantity: Quantity::Rate(one.op), unit })
    };
    found.into_iter().filter_map(meaning).collect()
}

/// The zone in `(PDH-CSV 4.0) (Pacific Standard Time)(480)`: minutes from local time to UTC.
pub(super) fn zone_s(first: &str) -> Option<f64> {
    let (_, last) = first.trim_end().trim_end_matches(')').rsplit_once('(')?;
    last.parse::<f64>().ok().map(|minutes| minutes * 60.0)
}

fn grafana(header: &[String]) -> Result<Vec<Meaning>, String> {
    let mut meanings = Vec::new();
    for (cell, title) in header.iter().enumerate().skip(1) {
        let lower = title.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_load = !has(&["iops", "latency", "ops/s", "time"]);
        let (quantity, measure) = match () {
            () if has(&["temp", "celsius", "°c"]) => (Quantity::Celsius(0), Measure::Heat),
            () if has(&["read"]) && is_load => (Quantity::Rate(Read), Measure::Rate),
            () if has(&["writ"]) && is_load => (Quantity::Rate(Write), Measure::Rate),
            () if has(&["power", "watt"]) => (Quantity::Power, Measure::Power),
            () => continue,
        };
        // `Write (MB/s)`, `Write MB/s`; what stands in brackets may be a drive as well.
        let name = title.rsplit_once(['(', '[']).map_or_else(
            || title.rsplit(' ').next().filter(|word| word.ends_with("/s") || word.ends_with("/sec")),
            |(_, name)| Some(name.trim_end_matches([')', ']', ' '])),
        );
        let unit = match name.map_or(Told::Name, told) {
            Told::Unit(unit) if unit.measure == measure => unit,
            Told::Name => Unit::of(measure, 1.0),
            Told::Unit(_) | Told::Other => continue,
            Told::Unknown => return Err(unknown_unit(title, name.unwrap_or_default(), measure)),
        };
        let drive = lower.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| is_drive(word));
        meanings.push(Meaning { cell, drive: drive.unwrap_or_default().to_owned(), quantity, unit });
    }
    // A column that names no drive is of the only one that others name.
    let whole = |drive: &str| controller(drive).unwrap_or(drive).to_owned();
    let named = || meanings.iter().map(|one| one.drive.as_str()).filter(|drive| !drive.is_empty());
    let only = named().next().filter(|first| named().all(|other| whole(other) == whole(first)));
    let only = only.unwrap_or("drive").to_owned();
    meanings.iter_mut().filter(|one| one.drive.is_empty()).for_each(|one| one.drive.clone_from(&only));
    Ok(meanings)
}

fn nothing_known(dialect: Dialect) -> String {
    let (what, wanted) = match dialect {
        Dialect::HwInfo => (
            "HWiNFO's log",
            "Drive Temperature [°C], Read Rate [MB/s] and Write Rate [MB/s] (with English names)".to_owned(),
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
