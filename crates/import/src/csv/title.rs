//! Titles of columns in a plain CSV that are not spelt as its own: what a column says, and in which unit.
//!
//! Rules
//! - Units are those of [`super::unit`]; one that may be of bytes or of bits is refused.
//! - A column of reading or writing has a rate, one of a temperature °C, °F or K, one of power W: in its title, else in
//!   each of its cells.
//! - What has a unit of these and is not known to be of the drive is an error; what has none is passed over.

use measure::nearest::nearest;

use super::header::{AMBIENT, COLUMNS};
use super::unit::{TitleUnit, split};
use crate::monitor::units::{Measure, Unit};

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    /// A time; how many seconds a number of it has, where that is told.
    Time(Option<f64>),
    /// A day, whose time of day has a column of its own.
    Date,
    Phase,
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

const READING: [&str; 6] = ["read", "reads", "reading", "rd", "lesen", "leserate"];
const WRITING: [&str; 7] = ["write", "writes", "writing", "wr", "written", "schreiben", "schreibrate"];
const HEAT: [&str; 6] = ["temp", "temps", "temperature", "temperatur", "composite", "hot"];
const POWER: [&str; 4] = ["power", "watt", "watts", "leistung"];
const TIME: [&str; 24] = [
    "time",
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
/// Words of columns that are of something else, or of no moment.
const OTHERS: [&str; 33] = [
    "iops",
    "ops",
    "latency",
    "lat",
    "count",
    "requests",
    "util",
    "await",
    "queue",
    "merged",
    "cpu",
    "gpu",
    "ambient",
    "room",
    "case",
    "chipset",
    "threshold",
    "warning",
    "critical",
    "max",
    "min",
    "limit",
    "on",
    "cycles",
    "state",
    "total",
    "host",
    "errors",
    "fan",
    "air",
    "inlet",
    "dram",
    "network",
];

/// Columns of iostat in a table of one's own; its kB and MB are 1024 and 1024² bytes.
const IOSTAT: [(&str, &str, f64); 6] = [
    ("rkB/s", "read_bytes_per_s", 1024.0),
    ("wkB/s", "write_bytes_per_s", 1024.0),
    ("kB_read/s", "read_bytes_per_s", 1024.0),
    ("kB_wrtn/s", "write_bytes_per_s", 1024.0),
    ("rMB/s", "read_bytes_per_s", 1_048_576.0),
    ("wMB/s", "write_bytes_per_s", 1_048_576.0),
];

/// What a title that is none of the plain CSV's own says.
///
/// # Errors
/// Where it has a unit of a drive's and cannot be taken; the text says what to rename it to.
pub(super) fn meaning(title: &str, own: &[&'static str]) -> Result<Meaning, String> {
    if let Some((_, column, factor)) = IOSTAT.into_iter().find(|(name, ..)| *name == title.trim()) {
        return Ok(Meaning::Value(column, Some(Convert { zero: 0.0, factor })));
    }
    let (name, unit) = split(title);
    let words = words(name);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let (is_time, is_date) = (has(&TIME), has(&DATE));
    if !words.is_empty()
        && words.iter().all(|word| TIME.contains(&word.as_str()) || DATE.contains(&word.as_str()))
    {
        return match unit {
            None if is_date && !is_time => Ok(Meaning::Date),
            None => Ok(Meaning::Time(None)),
            Some(TitleUnit::Seconds(seconds)) => Ok(Meaning::Time(Some(seconds))),
            Some(_) => Err("the unit is none of time: s, ms, min and h are".into()),
        };
    }
    if let Some(TitleUnit::Seconds(_)) = unit {
        // `write_blocks_per_s` is no time.
        let is_rate = title.to_lowercase().ends_with("per_s") && (has(&READING) || has(&WRITING));
        return if is_rate { Err(unknown_text(title, own)) } else { Ok(Meaning::Other) };
    }
    if let Some(TitleUnit::Of(unit)) = unit.filter(|_| words.iter().any(|word| word == "ambient")) {
        return Ok(if unit.measure == Measure::Heat { in_unit(AMBIENT, unit) } else { Meaning::Other });
    }
    if has(&OTHERS) {
        return Ok(Meaning::Other);
    }
    let sensor = sensor(&words);
    let (column, measure) = match (has(&READING), has(&WRITING)) {
        (true, false) => ("read_bytes_per_s", Measure::Rate),
        (false, true) => ("write_bytes_per_s", Measure::Rate),
        _ if sensor.is_some() => (sensor.unwrap_or_default(), Measure::Heat),
        _ if has(&HEAT) => ("temp_c", Measure::Heat),
        _ if has(&POWER) => ("power_w", Measure::Power),
        _ => return unknown(title, unit, own),
    };
    match unit {
        None => Ok(Meaning::Value(column, None)),
        Some(TitleUnit::Of(unit)) if unit.measure == measure => Ok(in_unit(column, unit)),
        Some(TitleUnit::Ambiguous) => {
            Err("its unit may be of bytes or of bits: write MB/s or Mbit/s, such as write_mb_per_s or write_mbit_per_s".into())
        }
        Some(_) => Err(unknown_text(title, own)),
    }
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
        Some(TitleUnit::Of(unit)) if unit.measure == Measure::Rate => Err(NO_DIRECTION.into()),
        Some(TitleUnit::Ambiguous) => Err(NO_DIRECTION.into()),
        Some(TitleUnit::Of(_)) => Err(unknown_text(title, own)),
        _ if own.iter().any(|name| stem(name) == stem(title)) => Err(unknown_text(title, own)),
        _ if ["speed", "throughput", "bandwidth", "bw"]
            .iter()
            .any(|word| title.to_lowercase().contains(word)) =>
        {
            Err(NO_DIRECTION.into())
        }
        _ => Ok(Meaning::Other),
    }
}

const NO_DIRECTION: &str =
    "it does not say whether data is read or written: rename it read_mb_per_s or write_mb_per_s (10^6 B/s)";

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

/// `sensor1_c` of `sensor 1`, `Temperature Sensor 1` and `temp_sensor1`.
fn sensor(words: &[String]) -> Option<&'static str> {
    let joined = words.join(" ");
    let (_, behind) = joined.split_once("sensor")?;
    let number: usize = behind.split_whitespace().next()?.parse().ok()?;
    let name = format!("sensor{number}_c");
    COLUMNS.into_iter().find(|column| *column == name)
}

/// The words of a name in lower case: they end at blanks, marks and before a capital letter.
fn words(name: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() || c.is_ascii_digit() && before.is_alphabetic() {
            spaced.push(' ');
        }
        spaced.push(if c.is_alphanumeric() { c } else { ' ' });
        before = c;
    }
    spaced.to_lowercase().split_whitespace().map(str::to_owned).collect()
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
