//! The header of a plain CSV: its own columns by name, others by what their titles say.

use std::collections::BTreeSet;

use measure::CellSplitter;

use super::columns;
use super::title::{Convert, Meaning, meaning, no_unit};
use super::unit::split;
use crate::device::{controller, nothing_of};
use crate::monitor::units::with_units_below;
use crate::{ImportError, words};

/// The columns of the plain CSV, each in the unit of its name.
pub(super) const COLUMNS: [&str; 28] = [
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
    AMBIENT,
    "tmt1_c",
    "tmt2_c",
    "tmt1_transitions",
    "tmt2_transitions",
    "tmt1_seconds",
    "tmt2_seconds",
    "phase",
    "written_bytes",
    "read_bytes",
    "trim_bytes_per_s",
    "errors",
];

/// The air around the drive: of a run, and no value of a drive.
pub(super) const AMBIENT: &str = "ambient_c";

/// What is in one column.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Column {
    Time,
    Date,
    Phase,
    /// The drive that a row is of.
    Device,
    /// One of [`COLUMNS`], and how a bare number becomes that; `None` where each cell needs a unit.
    Value {
        name: &'static str,
        convert: Option<Convert>,
    },
    Other,
}

/// The header of a file.
pub(super) struct Header {
    pub(super) line: String,
    pub(super) separator: char,
    pub(super) columns: Vec<Column>,
    /// The titles of its values, in their order.
    pub(super) titles: Vec<String>,
    /// The title of the time, for errors.
    pub(super) time_title: String,
    /// Seconds in one number of the time, where that is told.
    pub(super) seconds: Option<f64>,
    /// Whether a separator stands behind its last title.
    pub(super) has_empty_end: bool,
    /// Whether the line below it holds units.
    pub(super) has_units_below: bool,
    pub(super) notes: Vec<String>,
    /// Whether a column of bytes moved so far has a title that may mean bytes of a row each.
    pub(super) has_unsure_bytes: bool,
}

impl Header {
    /// Reads the header in line `number`; `below` are the cells of the line after it.
    pub(super) fn read(
        file: &str,
        (number, line): (usize, &str),
        below: &[String],
        splitter: &mut CellSplitter,
        device: Option<&str>,
    ) -> Result<Self, ImportError> {
        let separator = separator(line);
        let mut titles: Vec<String> = splitter.split_at(line, separator).iter().map(str::to_owned).collect();
        let mut header = Self {
            line: line.to_owned(),
            separator,
            columns: Vec::with_capacity(titles.len()),
            titles: Vec::new(),
            time_title: String::new(),
            seconds: None,
            has_empty_end: titles.len() > 1 && titles.last().is_some_and(String::is_empty),
            has_units_below: false,
            notes: Vec::new(),
            has_unsure_bytes: false,
        };
        if let Some(with_units) = with_units_below(&titles, below) {
            header.has_units_below = true;
            let bare = |title: &String| own(title).is_none() && split(title).1.is_none();
            let both = titles.iter_mut().zip(with_units).filter(|(title, _)| bare(title));
            both.for_each(|(title, with_unit)| *title = with_unit);
        }
        let below = if header.has_units_below { &[] } else { below };
        header
            .add_all(&titles, below, device)
            .map_err(|(title, why)| ImportError::at(file, number, title.as_deref(), why))?;
        Ok(header)
    }

    /// Takes the titles; what is wrong stands at one of them, if any.
    fn add_all(
        &mut self,
        titles: &[String],
        below: &[String],
        device: Option<&str>,
    ) -> Result<(), (Option<String>, String)> {
        let wanted = one_drive(titles, device).map_err(|why| (None, why))?;
        let told = titles.iter().enumerate().map(|(at, title)| {
            let is_of_another = words::drive(title)
                .is_some_and(|drive| wanted.as_ref().is_some_and(|wanted| *wanted != controller(&drive)));
            if is_of_another { Ok(Meaning::Other) } else { told(title, below.get(at)) }
        });
        let mut told: Vec<Result<Meaning, String>> = told.collect();
        columns::settle(titles, below, &mut told);
        let mut others: Vec<&str> = Vec::new();
        let mut day = None;
        for (title, told) in titles.iter().zip(told) {
            let shown = || Some(format!("{title:?}"));
            let twice = || (shown(), "the column is there twice; keep one of them".to_owned());
            let column = match told.map_err(|why| (shown(), why))? {
                Meaning::Time(_) if !self.time_title.is_empty() => return Err(twice()),
                Meaning::Time(seconds) => {
                    (self.time_title, self.seconds) = (title.clone(), seconds);
                    Column::Time
                }
                Meaning::Date if day.is_some() => return Err(twice()),
                Meaning::Date => {
                    day = Some(self.columns.len());
                    Column::Date
                }
                Meaning::Phase | Meaning::Direction if self.columns.contains(&Column::Phase) => {
                    return Err(twice());
                }
                Meaning::Phase | Meaning::Direction => Column::Phase,
                Meaning::Device => Column::Device,
                Meaning::Value(name, _) if self.says(name).is_some() => {
                    let other = self.says(name).unwrap_or_default();
                    let why = format!("it says the same as {other:?}; keep those of one drive");
                    return Err(if other.eq_ignore_ascii_case(title) { twice() } else { (shown(), why) });
                }
                Meaning::Value(name, convert) => {
                    let is_sure = own(title).is_some() || words::is_bound(title);
                    self.has_unsure_bytes |= name.ends_with("_bytes") && !is_sure;
                    self.titles.push(title.clone());
                    Column::Value { name, convert }
                }
                Meaning::Other => {
                    others.extend((!title.is_empty()).then_some(title.as_str()));
                    Column::Other
                }
            };
            self.columns.push(column);
        }
        self.complete(titles, day)?;
        if !others.is_empty() {
            self.notes.push(format!(
                "columns that say nothing of the drive are passed over: {}",
                others.join(", ")
            ));
        }
        Ok(())
    }

    /// The title of a column that says the same as one of that name, in any unit.
    fn says(&self, name: &str) -> Option<&str> {
        let plain = |name: &str| name.replace("_mb_per_s", "_bytes_per_s");
        let both = self.values().zip(&self.titles);
        both.filter(|(known, _)| plain(known) == plain(name)).map(|(_, title)| title.as_str()).next()
    }

    /// Looks whether the columns together are a log of a drive.
    fn complete(&mut self, titles: &[String], day: Option<usize>) -> Result<(), (Option<String>, String)> {
        if let (true, Some(day)) = (self.time_title.is_empty(), day) {
            // A date with its time of day in one column.
            self.time_title.clone_from(&titles[day]);
            self.columns[day] = Column::Time;
        }
        if self.time_title.is_empty() {
            let why = "there is no column t_s, the time in seconds; time, timestamp or date with dates such as 2026-11-22T09:40:00, or time_ms, do as well";
            return Err((None, why.into()));
        }
        let values: Vec<&str> = self.values().collect();
        if values.iter().all(|name| *name == AMBIENT) && titles.len() > 1 {
            let why = "no column says how fast or how hot a drive was: call them read_mb_per_s, write_mb_per_s, temp_c or composite_k";
            return Err((None, why.into()));
        }
        Ok(())
    }

    /// The names of its values, in their order.
    pub(super) fn values(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.columns.iter().filter_map(|column| match column {
            Column::Value { name, .. } => Some(*name),
            _ => None,
        })
    }

    /// How a bare number of the n-th value is taken.
    pub(super) fn convert(&self, value: usize) -> Convert {
        let converts = self.columns.iter().filter_map(|column| match column {
            Column::Value { convert, .. } => Some(convert.unwrap_or(Convert::NONE)),
            _ => None,
        });
        converts.clone().nth(value).unwrap_or(Convert::NONE)
    }
}

/// The controller of the drive that columns are taken of, where their titles name several.
fn one_drive(titles: &[String], device: Option<&str>) -> Result<Option<String>, String> {
    let of_values = titles.iter().filter(|title| matches!(meaning(title, &COLUMNS), Ok(Meaning::Value(..))));
    let named: BTreeSet<String> =
        of_values.filter_map(|title| words::drive(title)).map(|drive| controller(&drive)).collect();
    if named.len() < 2 {
        return Ok(None);
    }
    let list = || named.iter().cloned().collect::<Vec<_>>().join(", ");
    match device.map(controller) {
        Some(wanted) if named.contains(&wanted) => Ok(Some(wanted)),
        Some(wanted) => Err(nothing_of(&wanted, &list())),
        None => Err(format!("its columns are of several drives ({}): name one with --device", list())),
    }
}

/// What a title says above a first cell.
fn told(title: &str, cell: Option<&String>) -> Result<Meaning, String> {
    if let Some(told) = own(title) {
        return Ok(told);
    }
    let cell = cell.map(|cell| cell.trim()).unwrap_or_default();
    let is_bare = cell.replace(',', ".").parse::<f64>().is_ok();
    match with_labels(title, meaning(title, &COLUMNS))? {
        // Numbers of I/Os.
        Meaning::Value(_, None) if is_bare && words::is_plural(title) => Ok(Meaning::Other),
        Meaning::Value(name, None) if is_bare => Err(no_unit(title, name, cell)),
        Meaning::Direction if columns::direction(cell).is_none() => Ok(Meaning::Other),
        told => Ok(told),
    }
}

/// What a title with labels says (`node_hwmon_temp_celsius{chip="nvme_nvme0"}`): where it leaves the unit open, what the name before them
/// does.
fn with_labels(title: &str, whole: Result<Meaning, String>) -> Result<Meaning, String> {
    let (Some((name, _)), Err(_) | Ok(Meaning::Value(_, None) | Meaning::Other)) =
        (title.split_once('{').filter(|(name, _)| !name.trim().is_empty()), &whole)
    else {
        return whole;
    };
    match own(name.trim()).map_or_else(|| meaning(name.trim(), &COLUMNS), Ok) {
        Ok(told @ Meaning::Value(_, Some(_))) if words::topic(title) != Some(words::Topic::Other) => Ok(told),
        _ => whole,
    }
}

/// What a title that is spelt as one of the plain CSV's own says.
pub(super) fn own(title: &str) -> Option<Meaning> {
    let name = COLUMNS.into_iter().find(|name| name.eq_ignore_ascii_case(title))?;
    Some(match name {
        "t_s" => Meaning::Time(Some(1.0)),
        "phase" => Meaning::Phase,
        _ => Meaning::Value(name, Some(Convert::NONE)),
    })
}

/// What stands between the cells: of commas, semicolons and tabs the one that a header has most of.
pub(super) fn separator(line: &str) -> char {
    let count = |separator: &char| {
        line.split('"').step_by(2).map(|part| part.matches(*separator).count()).sum::<usize>()
    };
    // Of equals the last is taken: commas.
    ['\t', ';', ','].into_iter().max_by_key(count).unwrap_or(',')
}

/// Whether a cell of a header names a column of the plain CSV.
pub(crate) fn is_own_column(cell: &str) -> bool {
    own(cell.trim().trim_matches('"')).is_some()
}

/// Whether a header is of a table of one's own: with a time, and a value of a drive. Where `is_strict`, that has a unit, and its
/// title is a word such as `write_MBps`, as no dashboard names a series.
pub(crate) fn is_own_header(line: &str, is_strict: bool) -> bool {
    let mut splitter = CellSplitter::new();
    let titles: Vec<String> = splitter.split_at(line, separator(line)).iter().map(str::to_owned).collect();
    let told = |title: &String| own(title).map_or_else(|| meaning(title, &COLUMNS), Ok);
    let is_word = |title: &String| title.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let is_time = |title: &String| matches!(told(title), Ok(Meaning::Time(_) | Meaning::Date));
    let is_value = |title: &String| match told(title) {
        Ok(Meaning::Value(AMBIENT, _)) => false,
        Ok(Meaning::Value(_, unit)) => !is_strict || unit.is_some() && is_word(title),
        Ok(_) => false,
        Err(_) => !is_strict,
    };
    titles.iter().any(is_time) && titles.iter().any(is_value)
}
