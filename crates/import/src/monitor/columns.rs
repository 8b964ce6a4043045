//! Wide tables of monitors: a row a moment, a column a value. HWiNFO, Windows' performance counters (typeperf, relog,
//! Performance Monitor), CSV from Grafana.
//!
//! Rules
//! - Separators are commas, semicolons or tabs, as the header has them; decimals have points, or commas where cells are not
//!   separated by them or stand in quotation marks.
//! - HWiNFO: the n-th `Drive Temperature` and the n-th `Read Rate` are of one drive, unless the row of names at the file's
//!   end says otherwise. Its MB are taken as 10^6 bytes, which it does not say; verdicts about heat do not depend on it.
//! - Performance counters: `PhysicalDisk(0 C:)` is the drive `0 C:`. `LogicalDisk` counts the same data again and is
//!   passed over. The first column tells the zone.
//! - Grafana: a column is a speed where its name has a word for reading or writing, and a temperature where it has one for
//!   heat. Units are those of the cells (`1.20 GB/s`, `45 °C`); without one, speeds are bytes per second.

use measure::CellSplitter;

use super::when::{DateOrder, Stamp, date_and_time, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::RunPart;
use trace::SegmentOp::{self, Read, Write};

/// Whose table it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    HwInfo,
    Perfmon,
    Grafana,
}

impl Dialect {
    /// The dialect whose header the line is.
    pub(crate) fn tell(header: &str) -> Option<Self> {
        let header = header.trim_start_matches('\u{feff}').trim().to_lowercase();
        let bare = header.replace('"', "");
        if bare.starts_with("(pdh-csv ") {
            return Some(Self::Perfmon);
        }
        let begins = |names: &[&str]| {
            [',', ';', '\t'].iter().any(|separator| {
                let mut cells = bare.split(*separator).map(str::trim);
                names.iter().all(|name| cells.next() == Some(*name)) && cells.next().is_some()
            })
        };
        if begins(&["date", "time"]) && bare.contains('[') {
            return Some(Self::HwInfo);
        }
        begins(&["time"]).then_some(Self::Grafana)
    }
}

/// One column that says something.
struct Meaning {
    cell: usize,
    drive: String,
    quantity: Quantity,
    /// What a bare number counts.
    unit: Unit,
}

/// A unit: what its zero is, and what one of it counts, in °C, W or bytes per second.
#[derive(Clone, Copy)]
struct Unit {
    zero: f64,
    factor: f64,
}

impl Unit {
    const fn of(factor: f64) -> Self {
        Self { zero: 0.0, factor }
    }

    /// The unit of that name.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "°C" | "C" | "celsius" | "W" | "B/s" | "Bps" | "bytes/s" => Self::of(1.0),
            "°F" | "F" | "fahrenheit" => Self { zero: 32.0, factor: 1.0 / 1.8 },
            "kB/s" | "KB/s" => Self::of(1e3),
            "MB/s" => Self::of(1e6),
            "GB/s" => Self::of(1e9),
            "KiB/s" => Self::of(1024.0),
            "MiB/s" => Self::of(1024.0 * 1024.0),
            "GiB/s" => Self::of(1024.0 * 1024.0 * 1024.0),
            "b/s" | "bps" => Self::of(0.125),
            "kb/s" => Self::of(125.0),
            "Mb/s" => Self::of(125e3),
            "Gb/s" => Self::of(125e6),
            _ => return None,
        })
    }
}

struct TableReader {
    dialect: Dialect,
    separator: char,
    header: Vec<String>,
    meanings: Vec<Meaning>,
    /// Seconds from the time in a row to UTC, where the header tells the zone.
    to_utc_s: Option<f64>,
    samples: Samples,
    first: Option<Stamp>,
    order: DateOrder,
}

/// Reads the table.
pub(crate) fn part(
    file: &str,
    dialect: Dialect,
    mut lines: LineReader<'_>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut reader: Option<TableReader> = None;
    let mut names: Option<Vec<String>> = None;
    let mut splitter = CellSplitter::new();
    while let Some((number, line)) = lines.next()? {
        let line = line.trim_matches(['\r', '\n']);
        if line.trim().is_empty() {
            continue;
        }
        let Some(reader) = &mut reader else {
            if Dialect::tell(line) != Some(dialect) {
                continue;
            }
            let made = TableReader::new(dialect, line, &mut splitter);
            reader = Some(made.map_err(|why| ImportError::at(file, number, None, why))?);
            continue;
        };
        let cells: Vec<String> =
            splitter.split_at(line, reader.separator).iter().map(str::to_owned).collect();
        match reader.time(&cells) {
            Some(now) => {
                let short = cells.len() < reader.header.len() && !lines.ended;
                if !short {
                    reader.row(&cells, now).map_err(|why| ImportError::at(file, number, None, why))?;
                }
            }
            // The header again at the end of a recording, and then whose columns they are.
            None if cells.len() == reader.header.len() && cells != reader.header => names = Some(cells),
            None => {}
        }
    }
    let Some(mut reader) = reader else { return Err(ImportError::whole(file, "it has no header line")) };
    if dialect == Dialect::HwInfo {
        reader.name_drives(names.as_deref());
    }
    let first = reader.first;
    reader.samples.part(file, device, move |zero_s| match first {
        Some(first) => first.base(zero_s),
        None => crate::part::TimeBase::Own,
    })
}

impl TableReader {
    fn new(dialect: Dialect, line: &str, splitter: &mut CellSplitter) -> Result<Self, String> {
        let line = line.trim_start_matches('\u{feff}');
        let count = |separator: &char| line.matches(*separator).count();
        let separator = [',', ';', '\t'].into_iter().max_by_key(count).unwrap_or(',');
        let header: Vec<String> = splitter.split_at(line, separator).iter().map(str::to_owned).collect();
        let meanings = match dialect {
            Dialect::HwInfo => hwinfo(&header),
            Dialect::Perfmon => perfmon(&header),
            Dialect::Grafana => grafana(&header),
        };
        if meanings.is_empty() {
            return Err(nothing_known(dialect));
        }
        let to_utc_s = (dialect == Dialect::Perfmon).then(|| zone_s(&header[0])).flatten();
        Ok(Self {
            dialect,
            separator,
            header,
            meanings,
            to_utc_s,
            samples: Samples::default(),
            first: None,
            order: DateOrder::default(),
        })
    }

    /// When a row was taken; `None` for a row that is none.
    fn time(&mut self, cells: &[String]) -> Option<Stamp> {
        let told = match self.dialect {
            Dialect::HwInfo => date_and_time(cells.first()?, cells.get(1)?),
            Dialect::Perfmon | Dialect::Grafana => stamp(cells.first()?),
        }?;
        let told = if cells.first()?.contains('/') {
            let (told, moved_s) = self.order.read(told);
            self.samples.shift(moved_s);
            self.first = self.first.map(|first| Stamp { seconds: first.seconds + moved_s, ..first });
            told
        } else {
            told
        };
        Some(match self.to_utc_s {
            Some(shift_s) => Stamp { seconds: told.seconds + shift_s, is_utc: true },
            None => told,
        })
    }

    fn row(&mut self, cells: &[String], now: Stamp) -> Result<(), String> {
        if cells.len() > self.header.len() {
            return Err(format!(
                "the row has {} cells, the header has {}: are its decimals written with commas? Save it with semicolons between the cells",
                cells.len(),
                self.header.len()
            ));
        }
        self.first = self.first.or(Some(now));
        for meaning in &self.meanings {
            let Some(cell) = cells.get(meaning.cell) else { continue };
            let value = value(cell, meaning)
                .map_err(|why| format!("column {:?}: {why}", self.header[meaning.cell]))?;
            self.samples.push(&meaning.drive, meaning.quantity, now.seconds, value);
        }
        Ok(())
    }

    /// Brings temperatures and rates of one drive together: by the names of their columns, else by their order.
    fn name_drives(&mut self, names: Option<&[String]>) {
        for meaning in &self.meanings {
            let told = names
                .and_then(|names| names.get(meaning.cell))
                .map(|name| name.trim())
                .filter(|name| !name.is_empty());
            let name = match told {
                // `S.M.A.R.T.: MODEL (SERIAL)` and `Drive: MODEL (SERIAL)`.
                Some(name) => name.split_once(':').map_or(name, |(_, drive)| drive.trim()).to_owned(),
                None => meaning.drive.replace("rates of ", ""),
            };
            if name != meaning.drive {
                self.samples.merge(&meaning.drive, &name);
            }
        }
    }
}

/// A number with its unit, or bare.
fn value(cell: &str, meaning: &Meaning) -> Result<f64, String> {
    let cell = cell.trim().trim_matches('"').trim();
    if cell.is_empty() || ["-", "n/a", "nan", "null", "undefined"].contains(&cell.to_lowercase().as_str()) {
        return Ok(f64::NAN);
    }
    let end = cell.find(|c: char| !(c.is_ascii_digit() || "+-.,eE".contains(c))).unwrap_or(cell.len());
    let (number, unit) = (cell[..end].replace(',', "."), cell[end..].trim());
    let number: f64 = number.parse().map_err(|_| format!("{cell:?} is not a number"))?;
    let unit = match unit {
        "" => meaning.unit,
        name => Unit::named(name).ok_or_else(|| format!("the unit {name:?} is not known here"))?,
    };
    Ok((number - unit.zero) * unit.factor)
}

fn hwinfo(header: &[String]) -> Vec<Meaning> {
    let mut meanings = Vec::new();
    let (mut hot, mut moving) = (0, 0);
    for (cell, title) in header.iter().enumerate() {
        let (name, unit) = title
            .rsplit_once('[')
            .map_or((title.as_str(), ""), |(name, unit)| (name.trim(), unit.trim_end_matches(']')));
        let unit = Unit::named(unit);
        let rate_unit = unit.unwrap_or(Unit::of(1e6));
        let heat_unit = unit.unwrap_or(Unit::of(1.0));
        let (drive, quantity, unit) = match name.strip_prefix("Drive Temperature") {
            Some("") => {
                hot += 1;
                (format!("drive {hot}"), Quantity::Celsius(0), heat_unit)
            }
            Some(number) => match number.trim().parse::<u8>() {
                Ok(number) if hot > 0 && unit.is_some() => {
                    (format!("drive {hot}"), Quantity::Celsius(number), heat_unit)
                }
                _ => continue,
            },
            None if name == "Read Rate" => {
                moving += 1;
                (format!("rates of drive {moving}"), Quantity::Rate(Read), rate_unit)
            }
            None if name == "Write Rate" => {
                (format!("rates of drive {moving}"), Quantity::Rate(Write), rate_unit)
            }
            None => continue,
        };
        meanings.push(Meaning { cell, drive, quantity, unit });
    }
    meanings
}

fn perfmon(header: &[String]) -> Vec<Meaning> {
    let counter = |(cell, title): (usize, &String)| {
        let title = title.to_lowercase();
        let (_, rest) = title.split_once("physicaldisk(")?;
        let (drive, counter) = rest.split_once(")\\")?;
        let op = match counter {
            "disk read bytes/sec" => Read,
            "disk write bytes/sec" => Write,
            _ => return None,
        };
        let drive = if drive == "_total" { "_Total".to_owned() } else { drive.to_uppercase() };
        Some(Meaning { cell, drive, quantity: Quantity::Rate(op), unit: Unit::of(1.0) })
    };
    header.iter().enumerate().filter_map(counter).collect()
}

/// The zone in `(PDH-CSV 4.0) (Pacific Standard Time)(480)`: minutes from local time to UTC.
fn zone_s(first: &str) -> Option<f64> {
    let (_, last) = first.trim_end().trim_end_matches(')').rsplit_once('(')?;
    last.parse::<f64>().ok().map(|minutes| minutes * 60.0)
}

fn grafana(header: &[String]) -> Vec<Meaning> {
    let meaning = |(cell, title): (usize, &String)| {
        let lower = title.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let rate = |op: SegmentOp| Some(Quantity::Rate(op));
        let quantity = match () {
            () if has(&["temp", "celsius", "°c"]) => Some(Quantity::Celsius(0)),
            () if has(&["read"]) && !has(&["iops", "latency", "ops/s", "time"]) => rate(Read),
            () if has(&["writ"]) && !has(&["iops", "latency", "ops/s", "time"]) => rate(Write),
            () if has(&["power", "watt"]) => Some(Quantity::Power),
            () => None,
        }?;
        let drive =
            lower.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| is_drive(word)).unwrap_or("drive");
        // `Write (MB/s)`; what stands in brackets may be a drive as well.
        let told = title.rsplit_once(['(', '[']).map(|(_, unit)| unit.trim_end_matches([')', ']', ' ']));
        let unit = told.and_then(Unit::named).unwrap_or(Unit::of(1.0));
        Some(Meaning { cell, drive: drive.to_owned(), quantity, unit })
    };
    header.iter().enumerate().skip(1).filter_map(meaning).collect()
}

/// `nvme0n1`, `sda`, `mmcblk0` as a word.
fn is_drive(word: &str) -> bool {
    let after = |prefix: &str| word.strip_prefix(prefix).unwrap_or("");
    after("nvme").starts_with(|c: char| c.is_ascii_digit())
        || after("mmcblk").starts_with(|c: char| c.is_ascii_digit())
        || (word.len() == 3 && (word.starts_with("sd") || word.starts_with("vd")))
}

fn nothing_known(dialect: Dialect) -> String {
    let (what, wanted) = match dialect {
        Dialect::HwInfo => (
            "HWiNFO's log",
            "Drive Temperature [°C], Read Rate [MB/s] and Write Rate [MB/s] (with English names)",
        ),
        Dialect::Perfmon => (
            "a log of Windows' performance counters",
            "\\PhysicalDisk(*)\\Disk Read Bytes/sec and Disk Write Bytes/sec (with English names: typeperf on an English system, or relog)",
        ),
        Dialect::Grafana => ("a table from Grafana", "columns named after reading, writing or temperature"),
    };
    format!("it looks like {what}, but has nothing about a drive: it needs {wanted}")
}
