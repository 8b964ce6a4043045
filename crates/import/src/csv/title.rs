//! Titles of columns in a plain CSV that are not spelt as its own: what a column says, and in which unit.
//!
//! Rules
//! - What a title is about say its words ([`crate::words`]). Units are those of [`super::unit`]; one that may be of bytes or of bits
//!   is refused.
//! - Data without a time (`written_GB`, `write_bytes`) are bytes ever moved, whose differences are a speed; with a word for one row
//!   (`write_bytes_delta`, `Write bytes (Sum)`) they are those of each row.
//! - A column of reading or writing has a rate, one of a temperature °C, °F or K, one of power W: in its title, else in
//!   each of its cells.
//! - What has a unit of these and is not known to be of the drive is an error; what has none is passed over.

use measure::nearest::nearest;

use super::header::{AMBIENT, COLUMNS};
use super::time_form;
use super::unit::{TitleUnit, seconds, split};
use crate::monitor::units::{Measure, Told, Unit, told};
use crate::words::{self, Topic};
use trace::SegmentOp;

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A time; how many seconds a number of it has, where that is told.
    Time(Option<f64>),
    /// A day, whose time of day has a column of its own.
    Date,
    Phase,
    /// Whether a row is of reading or of writing.
    Direction,
    /// The drive that a row is of.
    Device,
    /// What a column of the plain CSV says; `None` where each cell needs a unit.
    Value(&'static str, Option<Convert>),
    /// Nothing about the drive.
    Other,
}

/// How a number becomes that of the plain CSV's own column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Convert {
    zero: f64,
    factor: f64,
}

impl Convert {
    pub(super) const NONE: Self = Self { zero: 0.0, factor: 1.0 };

    pub(super) fn apply(self, number: f64) -> f64 {
        (number - self.zero) * self.factor
    }
}

const TIME: [&str; 25] = [
    "time",
    "runtime",
    "t",
    "timestamp",
    "ts",
    "datetime",
    "elapsed",
    "epoch",
    "unix",
    "utc",
    "local",
    "clock",
    "s",
    "sec",
    "seconds",
    "second",
    "secs",
    "since",
    "start",
    "zeit",
    "uhrzeit",
    "zeitstempel",
    "and",
    "stamp",
    "iso",
];
const DATE: [&str; 3] = ["date", "day", "datum"];
/// Whether a row is of reading or of writing.
const DIRECTION: [&str; 6] = ["direction", "operation", "op", "rw", "type", "ddir"];
/// Whose row it is, in tables with a row for each drive.
const DEVICE: [&str; 8] = ["device", "drive", "disk", "dev", "name", "instance", "namespace", "tags"];

/// What a title that is none of the plain CSV's own says.
///
/// # Errors
/// Where it has a unit of a drive's and cannot be taken; the text says what to rename it to.
pub(super) fn meaning(title: &str, own: &[&'static str]) -> Result<Meaning, String> {
    if let Some((op, factor)) = words::iostat(title) {
        return Ok(Meaning::Value(speed(op), Some(Convert { zero: 0.0, factor })));
    }
    if let Some((op, factor)) = words::counted(title) {
        return Ok(Meaning::Value(moved(op), Some(Convert { zero: 0.0, factor })));
    }
    // `Elapsed mm:ss`; `mm:ss` alone is a title as well.
    if let Some((name, _)) = time_form::split(title)
        && (name.is_empty() || time(name, None).is_some())
    {
        return Ok(Meaning::Time(None));
    }
    let (name, unit) = split(title);
    if let Some(time) = time(name, unit) {
        return time;
    }
    let of_name = words::words(name);
    let is_all =
        |known: &[&str]| !of_name.is_empty() && of_name.iter().all(|word| known.contains(&word.as_str()));
    if unit.is_none() && is_all(&DEVICE) {
        return Ok(Meaning::Device);
    }
    if unit.is_none() && is_all(&DIRECTION) {
        return Ok(Meaning::Direction);
    }
    if let Some(TitleUnit::Seconds(_)) = unit {
        // `write_blocks_per_s` is no time.
        let is_rate = title.to_lowercase().ends_with("per_s") && words::has_direction(title);
        return if is_rate { Err(unknown_text(title, own)) } else { Ok(Meaning::Other) };
    }
    let topic = words::topic(title);
    if let Some((Topic::Moved(op), factor)) = topic.zip(amount(title, unit)) {
        let column = if words::is_of_a_row(title) { moved_in_a_row(op) } else { moved(op) };
        return Ok(Meaning::Value(column, Some(Convert { zero: 0.0, factor })));
    }
    let (column, measure) = match topic {
        Some(Topic::Ambient) => (AMBIENT, Measure::Heat),
        Some(Topic::Other) => return Ok(Meaning::Other),
        // Of several drives, or the highest so far.
        Some(_) if words::is_bound(name) || words::is_bound(outside(title)) => return Ok(Meaning::Other),
        Some(Topic::Moved(op)) => (speed(op), Measure::Rate),
        Some(Topic::Heat(Some(number))) => (sensor(number), Measure::Heat),
        Some(Topic::Heat(None)) => ("temp_c", Measure::Heat),
        Some(Topic::Power) => ("power_w", Measure::Power),
        None => return unknown(title, unit, own),
    };
    match unit {
        None if topic == Some(Topic::Ambient) => Ok(Meaning::Other),
        None => Ok(Meaning::Value(column, None)),
        Some(TitleUnit::Of(unit)) if unit.measure == measure => Ok(in_unit(column, unit)),
        Some(_) if topic == Some(Topic::Ambient) => Ok(Meaning::Other),
        Some(TitleUnit::Ambiguous) => {
            Err("its unit may be of bytes or of bits: write MB/s or Mbit/s, such as write_mb_per_s or write_mbit_per_s".into())
        }
        Some(_) => Err(unknown_text(title, own)),
    }
}

/// What stands in brackets at the end of a title and is no unit, such as which value of a time it is.
fn outside(title: &str) -> &str {
    let rest = title.rsplit_once(['(', '[']).map_or("", |(_, rest)| rest.trim_end_matches([')', ']', ' ']));
    if told(rest) == Told::Name { rest } else { "" }
}

/// What a title says that has no other words than those of times.
fn time(name: &str, unit: Option<TitleUnit>) -> Option<Result<Meaning, String>> {
    let words = words::words(name);
    let is = |known: &[&str], word: &String| known.contains(&word.as_str());
    if words.is_empty() || !words.iter().all(|word| is(&TIME, word) || is(&DATE, word)) {
        return None;
    }
    let is_day = words.iter().all(|word| is(&DATE, word));
    Some(match unit {
        None if is_day => Ok(Meaning::Date),
        // A title may be nothing but the unit (`seconds`).
        None => Ok(Meaning::Time(seconds(&name.trim().to_lowercase()))),
        Some(TitleUnit::Seconds(seconds)) => Ok(Meaning::Time(Some(seconds))),
        Some(_) => Err("the unit is none of time: s, ms, min and h are".into()),
    })
}

/// Bytes in one that a title counts without dividing it by a time (`written_GB`, `write_bytes`).
fn amount(title: &str, unit: Option<TitleUnit>) -> Option<f64> {
    match unit {
        Some(TitleUnit::Amount(bytes)) => Some(bytes),
        None => words::counts_bytes(title).then_some(1.0),
        _ => None,
    }
}

const fn speed(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Write => "write_bytes_per_s",
        _ => "read_bytes_per_s",
    }
}

const fn moved(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Write => "written_bytes",
        _ => "read_bytes",
    }
}

const fn moved_in_a_row(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Write => "write_bytes_per_row",
        _ => "read_bytes_per_row",
    }
}

/// `sensor1_c`.
pub(super) fn sensor(number: u8) -> &'static str {
    let name = format!("sensor{number}_c");
    COLUMNS.into_iter().find(|column| *column == name).unwrap_or("temp_c")
}

fn in_unit(column: &'static str, unit: Unit) -> Meaning {
    // Kelvins are what composite_k is in.
    if column == "temp_c" && unit == KELVIN {
        return Meaning::Value("composite_k", Some(Convert::NONE));
    }
    Meaning::Value(column, Some(Convert { zero: unit.zero, factor: unit.factor }))
}

const KELVIN: Unit = Unit { measure: Measure::Heat, zero: 273.15, factor: 1.0 };

/// A column of no known word: an error where its unit or its first word is one of a drive's.
fn unknown(title: &str, unit: Option<TitleUnit>, own: &[&'static str]) -> Result<Meaning, String> {
    match unit {
        Some(TitleUnit::Of(unit)) if unit.measure == Measure::Rate => Err(no_direction(title)),
        Some(TitleUnit::Ambiguous) => Err(format!(
            "{}. Its unit may be of bytes or of bits, too: write MB/s or Mbit/s",
            no_direction(title)
        )),
        Some(TitleUnit::Of(_)) => Err(unknown_text(title, own)),
        _ if own.iter().any(|name| stem(name) == stem(title)) => Err(unknown_text(title, own)),
        _ if ["speed", "throughput", "bandwidth", "bw"]
            .iter()
            .any(|word| title.to_lowercase().contains(word)) =>
        {
            Err(no_direction(&format!("{title} (MB/s)")))
        }
        _ => Ok(Meaning::Other),
    }
}

/// The advice keeps the unit that the title has.
fn no_direction(title: &str) -> String {
    format!(
        "it does not say whether data is read or written: rename it \"read {title}\" or \"write {title}\", or add a column direction with read or write in each row"
    )
}

/// A rate of reading or writing, whichever a row is of: what it counts of one, in bytes per second.
pub(super) fn rate_of_either(title: &str) -> Option<Convert> {
    match split(title).1 {
        Some(TitleUnit::Of(unit)) if unit.measure == Measure::Rate && words::topic(title).is_none() => {
            Some(Convert { zero: 0.0, factor: unit.factor })
        }
        _ => None,
    }
}

/// A column of kelvins as one of °C.
pub(super) const FROM_KELVIN: Convert = Convert { zero: 273.15, factor: 1.0 };

/// What to say of a column whose unit nothing tells.
pub(super) fn no_unit(title: &str, name: &str, cell: &str) -> String {
    let lba = words::words(title).iter().any(|word| ["lba", "lbas", "blocks"].contains(&word.as_str()));
    let example = match name {
        _ if lba => {
            return format!(
                "a block has 512 or 4096 bytes, and {cell:?} does not say which: multiply by that, and call the column written_bytes or read_bytes"
            );
        }
        "power_w" => format!("\"{title} (W)\" or \"{title} (mW)\""),
        _ if !name.ends_with("_c") => {
            format!("\"{title} (MB/s)\", \"{title} (MiB/s)\" or, of what was moved so far, \"{title} (GB)\"")
        }
        _ if cell.parse().is_ok_and(|celsius: f64| celsius > 1000.0) => {
            format!("\"{title} (m°C)\" for thousandths of a degree, as hwmon counts")
        }
        _ => format!("\"{title} (°C)\" or \"{title} (°F)\""),
    };
    format!("neither its title nor {cell:?} has a unit: write it behind the title, such as {example}")
}

fn stem(name: &str) -> String {
    name.split('_').next().unwrap_or(name).to_lowercase()
}

/// What to say of a column that does not exist: the right unit where a unit is wrong, else the nearest names.
fn unknown_text(typed: &str, own: &[&'static str]) -> String {
    let mut near = nearest(typed, own.iter().copied().filter(|name| stem(name) == stem(typed)));
    for name in nearest(typed, own.iter().copied()) {
        if near.len() < 3 && !near.contains(&name) {
            near.push(name);
        }
    }
    let (which, names) = if near.is_empty() { ("there are", own) } else { ("the nearest are", &near[..]) };
    format!("there is no such column or unit; {which} {}. Rename the column, or remove it", names.join(", "))
}

#[cfg(test)]
mod test {
    use super::*;

    const OWN: [&str; 4] = ["t_s", "write_mb_per_s", "temp_c", "power_w"];

    fn of(title: &str) -> Meaning {
        meaning(title, &OWN).expect(title)
    }

    fn value(title: &str, number: f64) -> (&'static str, f64) {
        match of(title) {
            Meaning::Value(name, Some(convert)) => (name, convert.apply(number)),
            other => panic!("{title}: {other:?}"),
        }
    }

    #[test]
    fn a_title_is_told_with_its_unit_however_it_is_spelt() {
        for title in [
            "write_MBps",
            "write (MB/s)",
            "Write MB/s",
            "Write Speed [MB/s]",
            "writeMBps",
            "WriteMB/s",
            "disk_write_MB_s",
        ] {
            assert_eq!(value(title, 1600.0), ("write_bytes_per_s", 1.6e9), "{title}");
        }
        assert_eq!(value("read_mib_per_s", 1.0), ("read_bytes_per_s", 1_048_576.0));
        assert_eq!(value("disk_write_kib_s", 1.0), ("write_bytes_per_s", 1024.0));
        assert_eq!((value("rkB/s", 1.0).1, value("wMB/s", 1.0).1), (1024.0, 1_048_576.0));
        assert_eq!(value("Read (GB/s)", 3.0), ("read_bytes_per_s", 3e9));
        assert_eq!(value("read_mbit_per_s", 8.0), ("read_bytes_per_s", 1e6));
        for title in [
            "temp (°C)",
            "Temperature °C",
            "temperature_celsius",
            "tempC",
            "nvme0_temp_C",
            "SSD Temperature [°C]",
        ] {
            assert_eq!(value(title, 45.0), ("temp_c", 45.0), "{title}");
        }
        assert_eq!(value("temperature_f", 113.0), ("temp_c", 45.0));
        assert_eq!(value("temp_k", 318.0), ("composite_k", 318.0));
        assert_eq!(value("Temperature Sensor 2 (°C)", 60.0), ("sensor2_c", 60.0));
        assert_eq!(value("power_mW", 6000.0), ("power_w", 6.0));
        for (title, unit) in [
            ("time_ms", Some(1e-3)),
            ("Time (min)", Some(60.0)),
            ("elapsed_s", Some(1.0)),
            ("timestamp", None),
        ] {
            assert_eq!(of(title), Meaning::Time(unit), "{title}");
        }
        assert_eq!((of("Date"), of("write")), (Meaning::Date, Meaning::Value("write_bytes_per_s", None)));
        for title in ["note", "read_iops", "cpu_temp_c", "write latency (ms)", "temp_max", "read_await", ""] {
            assert_eq!(of(title), Meaning::Other, "{title}");
        }
    }

    #[test]
    fn what_may_be_two_things_is_refused_with_what_to_write() {
        for (title, told) in [
            ("write_mbps", "bytes or of bits"),
            ("read (mb/s)", "bytes or of bits"),
            ("throughput_MBps", "read or written"),
            ("speed", "read or written"),
            ("tmep_c", "the nearest are temp_c"),
            ("write_blocks_per_s", "write_mb_per_s"),
        ] {
            let why = meaning(title, &OWN).expect_err(title);
            assert!(why.contains(told), "{title}: {why}");
        }
    }
}
