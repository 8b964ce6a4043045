//! The cells of a plain CSV, with errors that name their place.
//!
//! Knows names and shapes, not meanings: those are in [`super`].

use measure::nearest::nearest;
use measure::{CellSplitter, Cells};

use crate::lines::LineReader;
use crate::numbers::{self, Number};
use crate::rates::usual_step_s;
use crate::{COLDEST_K, FASTEST_BYTES_PER_S, HOTTEST_K, ImportError, LONGEST_RUN_S};

const COLUMNS: [&str; 26] = [
    "t_s",
    "read_bytes_per_s",
    "write_bytes_per_s",
    "read_mb_per_s",
    "write_mb_per_s",
    "composite_k",
    "temp_c",
    "sensor1_c",
    "sensor2_c",
    "sensor3_c",
    "sensor4_c",
    "sensor5_c",
    "sensor6_c",
    "sensor7_c",
    "sensor8_c",
    "power_w",
    "tmt1_c",
    "tmt2_c",
    "tmt1_transitions",
    "tmt2_transitions",
    "tmt1_seconds",
    "tmt2_seconds",
    "phase",
    "written_bytes",
    "trim_bytes_per_s",
    "errors",
];

/// One row in this many may have a time that does not go forward.
const TOLERATED_TIMES: usize = 20;
/// Rows at most: 48 days at 1 Hz. Measured, a million rows of five columns take 160 MB as table and trace together;
/// more would not fit a lab machine's memory.
const MOST_ROWS: usize = 1 << 22;
/// Seconds since 1970 have ten digits until the year 2286; milliseconds have had twelve since 1973.
const NOT_SECONDS: f64 = 1e11;
/// Phases of different names at most.
const MOST_PHASES: usize = 1 << 16;
/// A time column that starts later than this is a wall clock.
pub(super) const WALL_CLOCK_S: f64 = 1e8;

/// The cells, column by column. `NaN` is an empty cell.
pub(super) struct CsvTable<'a> {
    /// The file's name, for errors.
    file: &'a str,
    /// Line, name and value of each comment that has a colon.
    pub(super) facts: Vec<(usize, String, String)>,
    /// Times as they stand in the file, rising.
    pub(super) t_s: Vec<f64>,
    /// All other columns but `phase`.
    pub(super) columns: Vec<(&'static str, Vec<f64>)>,
    /// Rows' phases, as indices into `phase_names`.
    phase: Vec<u32>,
    phase_names: Vec<String>,
    /// Rows left out because their time did not go forward.
    pub(super) not_forward: usize,
    /// The last line, where it was cut short and is left out.
    pub(super) truncated: Option<usize>,
}

impl<'a> CsvTable<'a> {
    pub(super) fn read(file: &'a str, mut lines: LineReader<'_>) -> Result<Self, ImportError> {
        let mut table = Self {
            file,
            facts: vec![],
            t_s: vec![],
            columns: vec![],
            phase: vec![],
            phase_names: vec![],
            not_forward: 0,
            truncated: None,
        };
        let mut header: Option<Vec<&'static str>> = None;
        let mut header_line = None;
        let (mut rows, mut splitter) = (0, CellSplitter::new());
        while let Some((number, line)) = lines.next()? {
            let line = line.trim();
            if let Some(comment) = line.strip_prefix('#') {
                table.comment(number, comment);
            } else if line.is_empty() || Some(line) == header_line.as_deref() {
                // A program that was started again writes its header again.
            } else if let Some(names) = &header {
                let cells = splitter.split(line);
                match table.row(number, cells, names) {
                    Err(_) if cells.count() < names.len() && rows > 0 && !lines.ended => {
                        table.truncated = Some(number)
                    }
                    read => read?,
                }
                rows += 1;
            } else {
                let names = header_names(file, number, line)?;
                let kept = names.iter().filter(|name| !["t_s", "phase"].contains(name));
                table.columns = kept.map(|name| (*name, Vec::new())).collect();
                (header, header_line) = (Some(names), Some(line.to_owned()));
            }
        }
        if header.is_none() {
            return Err(table.whole("it has no header line; the first line names the columns, such as t_s,write_mb_per_s,composite_k".into()));
        }
        if table.t_s.is_empty() {
            return Err(table.whole("it has a header but no rows".into()));
        }
        if table.not_forward * TOLERATED_TIMES > rows {
            return Err(table.whole(format!(
                "in {} of {rows} rows t_s does not lie after the row before; sort the rows, or split the file if it holds several logs",
                table.not_forward
            )));
        }
        Ok(table)
    }

    fn comment(&mut self, number: usize, comment: &str) {
        if let Some((name, value)) = comment.split_once(':') {
            self.facts.push((number, name.trim().to_owned(), value.trim().to_owned()));
        }
    }

    fn row(&mut self, number: usize, cells: Cells<'_>, names: &[&'static str]) -> Result<(), ImportError> {
        let count = cells.count();
        if count != names.len() {
            let comma = if count > names.len() { "; decimals need a point, not a comma" } else { "" };
            let why = format!("the row has {count} cells, the header has {}{comma}", names.len());
            return Err(self.at(number, None, why));
        }
        let (mut t_s, mut phase, mut column) = (f64::NAN, "", 0);
        for (cell, name) in cells.iter().zip(names) {
            if *name == "phase" {
                phase = cell;
                continue;
            }
            let value = self.number(number, name, cell)?;
            if *name == "t_s" {
                t_s = value;
            } else {
                self.columns[column].1.push(value);
                column += 1;
            }
        }
        if t_s.is_nan() || t_s < 0.0 {
            return Err(self.at(number, Some("t_s"), "every row needs a time of 0 s or later".into()));
        }
        if self.t_s.first().unwrap_or(&t_s) + LONGEST_RUN_S < t_s || t_s > NOT_SECONDS {
            let why =
                format!("{t_s} s cannot be of one run, which has at most 400 days: is it in milliseconds?");
            return Err(self.at(number, Some("t_s"), why));
        }
        if self.t_s.last().is_some_and(|last| t_s <= *last) {
            self.not_forward += 1;
            for (_, values) in &mut self.columns {
                values.pop();
            }
            return Ok(());
        }
        if self.t_s.len() == MOST_ROWS {
            let why = format!("there are more than {MOST_ROWS} rows; thin them out or split the file");
            return Err(self.at(number, None, why));
        }
        self.t_s.push(t_s);
        let phase = self.phase_number(phase).ok_or_else(|| {
            let why = format!("there are more than {MOST_PHASES} different phases");
            self.at(number, Some("phase"), why)
        })?;
        self.phase.push(phase);
        Ok(())
    }

    /// The number of a phase's name; `None` when there are too many. Rows of one phase mostly follow one another.
    fn phase_number(&mut self, name: &str) -> Option<u32> {
        if let Some(last) = self.phase.last().filter(|last| self.phase_names[**last as usize] == name) {
            return Some(*last);
        }
        let known = self.phase_names.iter().position(|known| known == name);
        if known.is_none() {
            self.phase_names.push(name.to_owned());
        }
        let number = known.unwrap_or(self.phase_names.len() - 1);
        if number < MOST_PHASES { u32::try_from(number).ok() } else { None }
    }

    /// The rows' phase names; empty ones where there is no such column.
    pub(super) fn phases(&self) -> impl Iterator<Item = &str> {
        self.phase.iter().map(|number| self.phase_names[*number as usize].as_str())
    }

    fn number(&self, number: usize, name: &str, cell: &str) -> Result<f64, ImportError> {
        if cell.is_empty() {
            return Ok(f64::NAN);
        }
        // Marks between thousands are let pass where they can be nothing else.
        let told = cell.parse::<f64>().ok().or_else(|| match numbers::number(cell) {
            Some(Number::One(value, _)) => Some(value),
            _ => None,
        });
        match told {
            Some(value) if value.is_finite() && (value >= 0.0 || name.ends_with("_c")) => {
                match implausible(name, value) {
                    Some(why) => Err(self.at(number, Some(name), why)),
                    None => Ok(value),
                }
            }
            Some(value) => {
                let why = format!("{value} cannot be; leave the cell empty where there is no reading");
                Err(self.at(number, Some(name), why))
            }
            None => {
                let hint = if cell.contains(';') { "; cells are separated by commas" } else { "" };
                Err(self.at(number, Some(name), format!("{cell:?} is not a number{hint}")))
            }
        }
    }

    pub(super) fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(n, _)| *n == name).map(|(_, values)| &values[..])
    }

    pub(super) fn at(&self, line: usize, column: Option<&str>, why: String) -> ImportError {
        ImportError::at(self.file, line, column, why)
    }

    fn whole(&self, why: String) -> ImportError {
        ImportError::whole(self.file, why)
    }

    /// The usual distance of two rows in seconds; one second for a single row.
    pub(super) fn step_s(&self) -> f64 {
        usual_step_s(self.t_s.iter().copied()).unwrap_or(1.0)
    }
}

/// Why a number cannot be in the unit that its column names; `None` where it can.
pub(super) fn implausible(name: &str, value: f64) -> Option<String> {
    let speed = |rate: f64| {
        (rate > FASTEST_BYTES_PER_S)
            .then(|| format!("{value} is faster than any drive: is it in another unit?"))
    };
    let kelvin = |kelvin: f64, unit: &str, other: &str| {
        let fits = (COLDEST_K..=HOTTEST_K).contains(&kelvin);
        (!fits).then(|| format!("{value} {unit} is no temperature of a drive: is it in {other}?"))
    };
    match name {
        _ if name.ends_with("_mb_per_s") => speed(value * 1e6),
        _ if name.ends_with("_bytes_per_s") => speed(value),
        // 0 K is "not reported" on the wire, and so is a threshold of 0 K, which is off.
        "composite_k" if value == 0.0 => None,
        "composite_k" => kelvin(value, "K", "°C"),
        _ if name.starts_with("tmt") && name.ends_with("_c") && value <= -273.0 => None,
        _ if name.ends_with("_c") => kelvin(value + 273.15, "°C", "kelvins"),
        _ => None,
    }
}

/// Whether a cell of a header names a column of the plain CSV.
pub(crate) fn is_own_column(cell: &str) -> bool {
    COLUMNS.iter().any(|name| name.eq_ignore_ascii_case(cell.trim().trim_matches('"')))
}

fn header_names(file: &str, number: usize, line: &str) -> Result<Vec<&'static str>, ImportError> {
    let error = |column: Option<&str>, why: String| ImportError::at(file, number, column, why);
    if line.contains(';') || line.contains('\t') {
        return Err(error(
            None,
            "the columns are not separated by commas (decimals need a point, then)".into(),
        ));
    }
    let mut names: Vec<&'static str> = Vec::new();
    for typed in CellSplitter::new().split(line).iter() {
        let Some(name) = COLUMNS.iter().find(|name| name.eq_ignore_ascii_case(typed)) else {
            return Err(error(Some(&format!("{typed:?}")), unknown_column(typed)));
        };
        if names.contains(name) {
            return Err(error(Some(typed), "the column is there twice".into()));
        }
        names.push(name);
    }
    for [a, b] in [["read_bytes_per_s", "read_mb_per_s"], ["write_bytes_per_s", "write_mb_per_s"]] {
        if names.contains(&a) && names.contains(&b) {
            return Err(error(Some(b), format!("{a} says the same in another unit; keep one of them")));
        }
    }
    if names.contains(&"t_s") {
        Ok(names)
    } else {
        Err(error(None, "there is no column t_s, the time in seconds".into()))
    }
}

/// What to say of a column that does not exist: the right unit where a unit is wrong, else the nearest names.
fn unknown_column(typed: &str) -> String {
    let stem = |name: &str| name.split('_').next().unwrap_or(name).to_lowercase();
    let mut near = nearest(typed, COLUMNS.iter().copied().filter(|name| stem(name) == stem(typed)));
    for name in nearest(typed, COLUMNS.iter().copied()) {
        if near.len() < 3 && !near.contains(&name) {
            near.push(name);
        }
    }
    let (which, names) =
        if near.is_empty() { ("there are", &COLUMNS[..]) } else { ("the nearest are", &near[..]) };
    format!("there is no such column or unit; {which} {}. Rename the column, or remove it", names.join(", "))
}

impl CsvTable<'_> {
    /// Times as the trace has them: a wall clock counts from its first row.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let zero = if self.t_s[0] > WALL_CLOCK_S { self.t_s[0] } else { 0.0 };
        self.t_s.iter().map(move |t| t - zero)
    }
}
