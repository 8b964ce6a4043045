//! Wide tables of monitors: a row a moment, a column a value. HWiNFO, Windows' performance counters (typeperf, relog,
//! Performance Monitor), CSV from Grafana.
//!
//! Rules
//! - Separators are commas, semicolons or tabs, as the header has them. What stands before decimals and between thousands
//!   is told by the numbers ([`crate::numbers`]); where none tells, points are before decimals, and so are commas between
//!   semicolons.
//! - Units are those of the cells (`1.20 GB/s`, `45 °C`), else of the titles (`Write (MB/s)`, `[°F]`). A unit that is not known is
//!   an error, and a column in a unit of something else (`io/s`) is passed over.
//! - HWiNFO: the n-th `Drive Temperature` and the n-th `Read Rate` are of one drive, unless the row of names at the file's
//!   end says otherwise. Its MB are taken as 10^6 bytes, which it does not say; verdicts about heat do not depend on it.
//! - Performance counters: `PhysicalDisk(0 C:)` is the drive `0 C:`, in any language ([`super::counters`]). `LogicalDisk` counts the
//!   same data again and is read where there is no other. The first column tells the zone.
//! - Grafana: a column is a speed where its name has a word for reading or writing, and a temperature where it has one for
//!   heat. Without any unit, speeds are bytes per second.

use measure::CellSplitter;

use super::counters::{LANGUAGES, counter};
use super::units::{Measure, Told, Unit, told};
use super::when::{DateOrder, Stamp, date_and_time, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::lines::LineReader;
use crate::numbers::{Number, end_of_number, number};
use crate::part::RunPart;
use trace::SegmentOp::{Read, Write};

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

/// A number that can be two, until the file shows what its marks are.
struct Open {
    meaning: usize,
    unit: Unit,
    t_s: f64,
    /// With `mark` before its decimals.
    number: f64,
    mark: char,
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
    /// What stands before decimals, once a number has shown it.
    mark: Option<char>,
    open: Vec<Open>,
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
    reader.settle().map_err(|why| ImportError::whole(file, why))?;
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
        // Names of counters have commas in them.
        let count = |separator: &char| {
            line.split('"').step_by(2).map(|part| part.matches(*separator).count()).sum::<usize>()
        };
        let separator = [',', ';', '\t'].into_iter().max_by_key(count).unwrap_or(',');
        let header: Vec<String> = splitter.split_at(line, separator).iter().map(str::to_owned).collect();
        let mut samples = Samples::default();
        let meanings = match dialect {
            Dialect::HwInfo => hwinfo(&header)?,
            Dialect::Perfmon => perfmon(&header, &mut samples.notes),
            Dialect::Grafana => grafana(&header)?,
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
            samples,
            first: None,
            order: DateOrder::default(),
            mark: None,
            open: Vec::new(),
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
            self.samples.move_all(&mut self.first, moved_s);
            if moved_s != 0.0 {
                self.open.iter_mut().for_each(|open| open.t_s += moved_s);
            }
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
        for (index, meaning) in self.meanings.iter().enumerate() {
            let Some(cell) = cells.get(meaning.cell) else { continue };
            let (found, unit) = value(cell, meaning)
                .map_err(|why| format!("column {:?}: {why}", self.header[meaning.cell]))?;
            match found {
                Number::Either(number, mark) => {
                    self.open.push(Open { meaning: index, unit, t_s: now.seconds, number, mark });
                }
                Number::One(number, mark) => {
                    self.mark = self.mark.or(mark);
                    self.samples.push(&meaning.drive, meaning.quantity, now.seconds, unit.count(number));
                }
            }
        }
        Ok(())
    }

    /// Takes the numbers that could be two, now that all others are known.
    fn settle(&mut self) -> Result<(), String> {
        // Where cells are not separated by commas, it is because of those in numbers.
        let usual = if self.separator == ';' { Some(',') } else { None };
        let known = self.mark.or(usual);
        for Open { meaning, unit, t_s, number, mark } in self.open.drain(..) {
            let meaning = &self.meanings[meaning];
            let number = match known {
                Some(known) if known != mark => (number * 1000.0).round(),
                None if mark == ',' => {
                    return Err(format!(
                        "column {:?}: whether {:?} is {number} or {:.0} cannot be told, since no number shows what its commas are: save it with decimal points",
                        self.header[meaning.cell],
                        format!("{number:.3}").replace('.', ","),
                        number * 1000.0
                    ));
                }
                _ => number,
            };
            self.samples.push(&meaning.drive, meaning.quantity, t_s, unit.count(number));
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

/// A number with its unit, or bare; `NaN` where there is no reading.
fn value(cell: &str, meaning: &Meaning) -> Result<(Number, Unit), String> {
    let cell = cell.trim().trim_matches('"').trim();
    if cell.is_empty() || ["-", "n/a", "nan", "null", "undefined"].contains(&cell.to_lowercase().as_str()) {
        return Ok((Number::One(f64::NAN, None), meaning.unit));
    }
    let (digits, unit) = cell.split_at(end_of_number(cell));
    let number = number(digits).ok_or_else(|| format!("{cell:?} is not a number"))?;
    let unit = match unit.trim() {
        "" => meaning.unit,
        name => Unit::named(name)
            .filter(|unit| unit.measure == meaning.unit.measure)
            .ok_or_else(|| format!("the unit {name:?} is not known here"))?,
    };
    Ok((number, unit))
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
    let (mut hot, mut moving) = (0, 0);
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
                moving += 1;
                (format!("rates of drive {moving}"), Quantity::Rate(Read), rate()?)
            }
            None if name == "Write Rate" => {
                (format!("rates of drive {moving}"), Quantity::Rate(Write), rate()?)
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
    let meaning = |(cell, one): (usize, Option<super::counters::Counter>)| {
        let one = one?;
        let unit = Unit::of(Measure::Rate, 1.0);
        Some(Meaning { cell, drive: one.drive, quantity: Quantity::Rate(one.op), unit })
    };
    found.into_iter().filter_map(meaning).collect()
}

/// The zone in `(PDH-CSV 4.0) (Pacific Standard Time)(480)`: minutes from local time to UTC.
fn zone_s(first: &str) -> Option<f64> {
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
        let drive =
            lower.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| is_drive(word)).unwrap_or("drive");
        meanings.push(Meaning { cell, drive: drive.to_owned(), quantity, unit });
    }
    Ok(meanings)
}

/// `nvme0n1`, `sda`, `mmcblk0` as a word.
pub(super) fn is_drive(word: &str) -> bool {
    let after = |prefix: &str| word.strip_prefix(prefix).unwrap_or("");
    after("nvme").starts_with(|c: char| c.is_ascii_digit())
        || after("mmcblk").starts_with(|c: char| c.is_ascii_digit())
        || (word.len() == 3 && (word.starts_with("sd") || word.starts_with("vd")))
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
