//! Wide tables of monitors: a row a moment, a column a value. HWiNFO, Libre and Open Hardware Monitor, Windows' performance counters (typeperf, relog,
//! Performance Monitor), CSV from Grafana.
//!
//! Rules
//! - Separators are commas, semicolons or tabs, as the header has them. What stands before decimals and between thousands
//!   is told by the numbers ([`crate::numbers`]); where none tells, points are before decimals, and so are commas between
//!   semicolons.
//! - Units are those of the cells (`1.20 GB/s`, `45 °C`), else of the titles (`Write (MB/s)`, `[°F]`). A unit that is not known is
//!   an error, and a column in a unit of something else (`io/s`) is passed over.
//! - HWiNFO: titles as [`super::hwinfo`] says. Which temperature and which rates are of one drive says the row of names at the file's
//!   end. Without it the n-th drive of S.M.A.R.T. is that of the n-th rates where there are as many of both; else no temperature is used. Its MB are taken as 10^6 bytes, which it does not say; verdicts about heat do not depend on it.
//! - Libre Hardware Monitor: `/nvme/0/temperature/0`, `/nvme/0/throughput/54` (reading) and `55` (writing), before 2025 `34` and `35`, in bytes per second (its
//!   `StorageDevice`); temperatures whose names are of thresholds are left out.
//! - Performance counters: `PhysicalDisk(0 C:)` is the drive `0 C:`, in any language ([`super::counters`]). `LogicalDisk` counts the
//!   same data again and is read where there is no other. The first column tells the zone.
//! - Grafana: a column is a speed where its name has a word for reading or writing, and a temperature where it has one for
//!   heat. Without any unit, speeds are bytes per second.

use measure::CellSplitter;

use super::bare_units;
use super::counters::counter;
use super::hwinfo;
use super::line_time::line_time;
use super::long_table::{self, LongHeader};
use super::titles::{Meaning, meanings, smart_drives, zone_s};
use super::units::{Measure, Told, Unit, told, with_units_below};
use super::when::{DateOrder, Stamp, date_and_time, lacks_hour, lacks_seconds, no_hour, of_excel, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::lines::LineReader;
use crate::numbers::{Number, end_of_number, number};
use crate::part::RunPart;
use crate::words;

/// Rows of one minute are so few where a clock was set back, and a log has a row a minute.
const FEW_SAME_MINUTES: usize = 2;

/// Whose table it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    HwInfo,
    HardwareMonitor,
    Perfmon,
    Grafana,
}

impl Dialect {
    /// The dialect whose header the line is.
    pub(crate) fn tell(header: &str) -> Option<Self> {
        let header = header.trim_start_matches('\u{feff}').trim().to_lowercase();
        let bare = header.replace('"', "");
        // PowerShell writes counters below a title of its own for the time.
        let mut titles = header.split(['"', ',', ';', '\t']);
        if bare.starts_with("(pdh-csv ")
            || bare.starts_with("(pdh-tsv ")
            || titles.any(|title| counter(title).is_some())
        {
            return Some(Self::Perfmon);
        }
        if bare.starts_with(",/") && (bare.contains("/temperature/") || bare.contains("/throughput/")) {
            return Some(Self::HardwareMonitor);
        }
        let begins = |is: &dyn Fn(&[&str]) -> bool| {
            [',', ';', '\t'].iter().any(|separator| {
                let cells: Vec<&str> = bare.splitn(3, *separator).map(str::trim).collect();
                cells.len() > 1 && is(&cells)
            })
        };
        // collectl's titles begin with a bracket (`[DSK]WriteKBTot`).
        if bare.contains('[')
            && !bare.contains(",[")
            && begins(&|cells| cells.len() > 2 && hwinfo::begins(cells[0], cells[1]))
        {
            return Some(Self::HwInfo);
        }
        let is_grafana = begins(&|cells| cells[0] == "time") || LongHeader::tell(&header).is_some();
        is_grafana.then_some(Self::Grafana)
    }
}

/// A number that can be two, until the file shows what its marks are.
struct Open {
    meaning: usize,
    quantity: Quantity,
    unit: Unit,
    row: usize,
    /// With `mark` before its decimals.
    number: f64,
    mark: char,
}

pub(super) struct TableReader {
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
    /// Rows whose time has no seconds and is that of the row before.
    without_seconds: usize,
    /// Whether a cell of each column has given it a unit.
    has_unit: Vec<bool>,
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
            if let Some(header) = LongHeader::tell(line) {
                return long_table::part(file, header, lines, device);
            }
            let made = TableReader::new(dialect, line, &mut splitter);
            reader = Some(made.map_err(|why| ImportError::at(file, number, None, why))?);
            continue;
        };
        if dialect == Dialect::Grafana && reader.first.is_none() && reader.take_units(line, &mut splitter) {
            continue;
        }
        let cells: Vec<String> =
            splitter.split_at(line, reader.separator).iter().map(str::to_owned).collect();
        match reader.time(&cells) {
            Some(now) => {
                let short = cells.len() < reader.header.len() && !lines.ended;
                if short {
                    lines.line_is_cut(number);
                } else {
                    reader.row(&cells, now).map_err(|why| ImportError::at(file, number, None, why))?;
                }
            }
            // Libre Hardware Monitor has names below its identifiers.
            None if dialect == Dialect::HardwareMonitor => reader.leave_out_limits(&cells),
            // The header again at the end of a recording, and then whose columns they are.
            None if reader.time_cell(&cells).is_some_and(lacks_hour) => {
                let why = no_hour(reader.time_cell(&cells).unwrap_or_default());
                return Err(ImportError::at(file, number, None, why));
            }
            None if dialect == Dialect::HwInfo && cells != reader.header => {
                names = Some(hwinfo::whole_names(cells))
                    .filter(|names| names.len() == reader.header.len())
                    .or(names);
            }
            None => {}
        }
    }
    let Some(reader) = reader else { return Err(ImportError::whole(file, "it has no header line")) };
    if reader.first.is_none() {
        let own = match dialect {
            Dialect::Grafana => {
                "; a table of your own in seconds has the columns t_s, write_mb_per_s and temp_c"
            }
            _ => "",
        };
        let why = format!(
            "no row below its header begins with a date and a time of day, such as 2026-11-22 09:40:00{own}"
        );
        return Err(ImportError::whole(file, why));
    }
    reader.finish(file, device, names.as_deref())
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
        Self::with_header(dialect, separator, header)
    }

    /// A reader of the rows below these titles.
    pub(super) fn with_header(
        dialect: Dialect,
        separator: char,
        header: Vec<String>,
    ) -> Result<Self, String> {
        let mut samples = Samples::default();
        let meanings = meanings(dialect, &header, &mut samples.notes)?;
        let is_bound = |meaning: &Meaning| words::is_bound(&header[meaning.cell]);
        samples.has_free_titles = dialect == Dialect::Grafana && !meanings.iter().any(is_bound);
        let has_unit = meanings.iter().map(|meaning| !meaning.is_bare).collect();
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
            without_seconds: 0,
            has_unit,
        })
    }

    /// Takes a line below the titles for their units, where it holds some.
    fn take_units(&mut self, line: &str, splitter: &mut CellSplitter) -> bool {
        let cells: Vec<String> = splitter.split_at(line, self.separator).iter().map(str::to_owned).collect();
        let Some(titles) = with_units_below(&self.header, &cells) else { return false };
        let quoted: Vec<String> =
            titles.iter().map(|title| format!("\"{}\"", title.replace('"', "\"\""))).collect();
        match Self::new(self.dialect, &quoted.join(&self.separator.to_string()), splitter) {
            Ok(with_units) => {
                *self = with_units;
                true
            }
            Err(_) => false,
        }
    }

    /// The cell with the time of day.
    fn time_cell<'a>(&self, cells: &'a [String]) -> Option<&'a str> {
        cells.get(usize::from(self.dialect == Dialect::HwInfo)).map(String::as_str)
    }

    /// When a row was taken; `None` for a row that is none.
    pub(super) fn time(&mut self, cells: &[String]) -> Option<Stamp> {
        let told = match self.dialect {
            Dialect::HwInfo => date_and_time(cells.first()?, cells.get(1)?),
            Dialect::HardwareMonitor | Dialect::Perfmon | Dialect::Grafana => {
                let first = cells.first()?;
                stamp(first).or_else(|| of_excel(first)).or_else(|| line_time(first))
            }
        }?;
        let told = if cells.first()?.contains('/') {
            let (told, moved_s) = self.order.read(told);
            self.samples.move_all(&mut self.first, moved_s);
            told
        } else {
            told
        };
        Some(match self.to_utc_s {
            Some(shift_s) => Stamp { seconds: told.seconds + shift_s, is_utc: true },
            None => told,
        })
    }

    /// Takes the cells of a row.
    pub(super) fn row(&mut self, cells: &[String], now: Stamp) -> Result<(), String> {
        if cells.len() > self.header.len() {
            return Err(self.too_long(cells));
        }
        self.first = self.first.or(Some(now));
        let is_same_minute =
            self.samples.is_last(now.seconds) && self.time_cell(cells).is_some_and(lacks_seconds);
        self.without_seconds += usize::from(is_same_minute);
        let row = self.samples.row(now.seconds);
        for index in 0..self.meanings.len() {
            if let Some(cell) = cells.get(self.meanings[index].cell) {
                self.take(index, cell, row)?;
            }
        }
        Ok(())
    }

    /// Takes the only cell of a moment that holds something.
    pub(super) fn cell(&mut self, column: usize, cell: &str, now: Stamp) -> Result<(), String> {
        self.first = self.first.or(Some(now));
        let row = self.samples.row(now.seconds);
        match self.meanings.iter().position(|meaning| meaning.cell == column) {
            Some(index) => self.take(index, cell, row),
            None => Ok(()),
        }
    }

    /// Takes what a cell says.
    fn take(&mut self, index: usize, cell: &str, row: usize) -> Result<(), String> {
        let meaning = &self.meanings[index];
        let told =
            value(cell, meaning).map_err(|why| format!("column {:?}: {why}", self.header[meaning.cell]))?;
        let Some(Value { number, quantity, unit, has_unit }) = told else { return Ok(()) };
        self.has_unit[index] |= has_unit;
        match number {
            Number::Either(number, mark) => {
                self.open.push(Open { meaning: index, quantity, unit, row, number, mark });
            }
            Number::One(number, mark) => {
                self.mark = self.mark.or(mark);
                self.samples.push_at(&meaning.drive, quantity, row, unit.count(number));
            }
        }
        Ok(())
    }

    /// What may be wrong with a row that has more cells than the header.
    fn too_long(&self, cells: &[String]) -> String {
        // The time of day may have a point all the same.
        let has_point = cells.iter().skip(2).any(|cell| cell.contains('.'));
        let why = match self.separator {
            ',' if !has_point => {
                "commas separate its cells and its decimals as well, so its numbers cannot be told apart. Log again with points before decimals, or with semicolons between cells"
            }
            _ => {
                "a column was added after the header was written. Put the header that the log ends with in the place of the first, or cut the log before this row"
            }
        };
        format!("the row has {} cells, the header has {}: {why}", cells.len(), self.header.len())
    }

    /// Takes values in any order of time, as of one series after the other.
    pub(super) fn is_unordered(&mut self) {
        self.samples.is_unordered = true;
    }

    /// The part that all rows make; `names` are of whom the columns are, where the file says so.
    pub(super) fn finish(
        mut self,
        file: &str,
        device: Option<&str>,
        names: Option<&[String]>,
    ) -> Result<RunPart, ImportError> {
        self.settle()
            .and_then(|()| self.take_bare_values())
            .and_then(|()| self.has_seconds())
            .map_err(|why| ImportError::whole(file, why))?;
        if self.dialect == Dialect::HwInfo {
            let Self { samples, meanings, header, .. } = &mut self;
            hwinfo::name_drives(samples, meanings, smart_drives(header), names);
        }
        let first = self.first;
        self.samples.part(file, device, move |zero_s| match first {
            Some(first) => first.base(zero_s),
            None => crate::part::TimeBase::Own,
        })
    }

    fn take_bare_values(&mut self) -> Result<(), String> {
        let all = self.meanings.iter().zip(&self.has_unit);
        let bare = all.filter(|(_, has_unit)| !**has_unit).map(|(meaning, _)| meaning);
        bare_units::take(bare, &self.header, &mut self.samples)
    }

    /// Refuses rows of a minute that nothing tells apart.
    fn has_seconds(&self) -> Result<(), String> {
        match self.without_seconds {
            rows if rows > FEW_SAME_MINUTES => Err(format!(
                "{rows} rows have the minute of the row before and no seconds, as after saving with Excel: use the log as it was exported"
            )),
            _ => Ok(()),
        }
    }

    /// Leaves out temperatures that are thresholds by their names.
    fn leave_out_limits(&mut self, names: &[String]) {
        let is_limit = |name: &String| {
            let lower = name.to_lowercase();
            ["warning", "critical", "limit", "threshold"].iter().any(|word| lower.contains(word))
        };
        self.meanings.retain(|one| !names.get(one.cell).is_some_and(is_limit));
    }

    /// Takes the numbers that could be two, now that all others are known.
    fn settle(&mut self) -> Result<(), String> {
        // Where cells are not separated by commas, it is because of those in numbers.
        let usual = if self.separator == ';' { Some(',') } else { None };
        let known = self.mark.or(usual);
        for Open { meaning, quantity, unit, row, number, mark } in self.open.drain(..) {
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
            self.samples.push_at(&meaning.drive, quantity, row, unit.count(number));
        }
        Ok(())
    }
}

/// What a cell says.
struct Value {
    /// `NaN` where there is no reading.
    number: Number,
    quantity: Quantity,
    unit: Unit,
    /// Whether the cell tells it.
    has_unit: bool,
}

/// A number with its unit, or bare; `None` where the unit is one of something else.
fn value(cell: &str, meaning: &Meaning) -> Result<Option<Value>, String> {
    let is = |number, quantity, unit, has_unit| Ok(Some(Value { number, quantity, unit, has_unit }));
    let cell = cell.trim().trim_matches('"').trim();
    if cell.is_empty() || ["-", "n/a", "nan", "null", "undefined"].contains(&cell.to_lowercase().as_str()) {
        return is(Number::One(f64::NAN, None), meaning.quantity, meaning.unit, false);
    }
    let (digits, name) = cell.split_at(end_of_number(cell));
    let name = name.trim();
    let number = number(digits).ok_or_else(|| format!("{cell:?} is not a number"))?;
    if name.is_empty() {
        return is(number, meaning.quantity, meaning.unit, false);
    }
    if let Some(unit) = Unit::named(name).filter(|unit| unit.measure == meaning.unit.measure) {
        return is(number, meaning.quantity, unit, true);
    }
    match (told(name), meaning.quantity) {
        (Told::Amount(bytes), Quantity::Rate(op) | Quantity::Total(op)) => {
            is(number, Quantity::Total(op), Unit::of(Measure::Rate, bytes), true)
        }
        (Told::Other, _) => Ok(None),
        _ => Err(format!("the unit {name:?} is not known here")),
    }
}
