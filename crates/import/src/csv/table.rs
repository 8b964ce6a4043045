//! The cells of a plain CSV, with errors that name their place.
//!
//! Knows names and shapes, not meanings: those are in [`super`].

use measure::{CellSplitter, Cells};

use super::clock::RowClock;
use super::devices::Devices;
use super::header::{Column, Header};
use super::number::{Cell, Marks};
use super::title::{Convert, no_unit};
use crate::lines::LineReader;
use crate::part::TimeBase;
use crate::rates::usual_step_s;
use crate::set_back;
use crate::{COLDEST_K, FASTEST_BYTES_PER_S, HOTTEST_K, ImportError, LONGEST_RUN_S, stands_for_none};
use trace::Caveat;

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
    /// Their titles as they stand in the file, for errors.
    titles: Vec<String>,
    /// Whether a column of bytes moved so far has a title that may mean bytes of a row each.
    pub(super) has_unsure_bytes: bool,
    /// Rows' phases, as indices into `phase_names`.
    phase: Vec<u32>,
    phase_names: Vec<String>,
    devices: Devices,
    pub(super) clock: RowClock,
    marks: Marks,
    /// Rows left out because their time did not go forward.
    pub(super) not_forward: usize,
    /// The last line, where it was cut short and is left out.
    pub(super) truncated: Option<usize>,
    /// What was done to times of a clock that was set.
    pub(super) set_clocks: Vec<Caveat>,
    /// Readings of a temperature that stand for none.
    not_read: usize,
    /// What was decided about columns.
    pub(super) notes: Vec<String>,
}

impl<'a> CsvTable<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            facts: vec![],
            t_s: vec![],
            columns: vec![],
            titles: vec![],
            has_unsure_bytes: false,
            phase: vec![],
            phase_names: vec![],
            devices: Devices::default(),
            clock: RowClock::default(),
            marks: Marks::default(),
            not_forward: 0,
            truncated: None,
            set_clocks: vec![],
            not_read: 0,
            notes: vec![],
        }
    }

    pub(super) fn read(
        file: &'a str,
        mut lines: LineReader<'_>,
        device: Option<&str>,
    ) -> Result<Self, ImportError> {
        let mut table = Self::new(file);
        let mut header: Option<Header> = None;
        // The header, until the line below it shows what its columns hold.
        let mut titles: Option<(usize, String)> = None;
        let (mut rows, mut splitter) = (0, CellSplitter::new());
        let (mut before, mut repeated) = (String::new(), 0);
        while let Some((number, line)) = lines.next()? {
            // A blank or a tab at the end may part an empty cell.
            let line = line.trim_matches(['\r', '\n', ' ']);
            let is_title = |known: &str| known == line;
            if let Some(comment) = line.strip_prefix('#') {
                table.comment(number, comment);
                continue;
            } else if line.trim().is_empty()
                || header.as_ref().is_some_and(|header| is_title(&header.line))
                || titles.as_ref().is_some_and(|(_, titles)| is_title(titles))
            {
                // A program that was started again writes its header again.
                continue;
            } else if line == before {
                repeated += 1;
                continue;
            }
            let header = match (&header, titles.take()) {
                (Some(header), _) => header,
                (None, None) => {
                    titles = Some((number, line.to_owned()));
                    continue;
                }
                (None, Some((at, titles))) => {
                    let told = table.begin((at, &titles), Some(line), &mut splitter, device)?;
                    let is_row = !told.has_units_below;
                    let told = header.insert(told);
                    if !is_row {
                        continue;
                    }
                    told
                }
            };
            line.clone_into(&mut before);
            let cells = splitter.split_at(line, header.separator);
            if !table.devices.takes(&cells, header, device) {
                continue;
            }
            match table.row(number, cells, header) {
                Err(_) if cells.count() < header.columns.len() && rows > 0 && !lines.ended => {
                    table.truncated = Some(number)
                }
                read => read?,
            }
            rows += 1;
        }
        if let Some((at, titles)) = titles {
            header = Some(table.begin((at, &titles), None, &mut splitter, device)?);
        }
        let Some(header) = header else {
            return Err(table.whole("it has no header line; the first line names the columns, such as t_s,write_mb_per_s,composite_k".into()));
        };
        if repeated > 0 {
            table.notes.push(format!("{repeated} lines that repeat the line before count once"));
        }
        if table.not_read > 0 {
            table.notes.push(format!(
                "{} temperatures of 255 °C, or of 65,535 K, stand for none: the sensor was not read",
                table.not_read
            ));
        }
        table.whole_table(&header, rows, device)
    }

    /// The table, once all of its rows are read.
    fn whole_table(
        mut self,
        header: &Header,
        rows: usize,
        device: Option<&str>,
    ) -> Result<Self, ImportError> {
        if self.t_s.is_empty() {
            self.devices.has(device).map_err(|why| self.whole(why))?;
            return Err(self.whole("it has a header but no rows".into()));
        }
        self.devices.one().map_err(|why| self.whole(why))?;
        self.settle(header)?;
        self.in_order();
        if self.clock.is_wall && self.not_forward * TOLERATED_TIMES > rows {
            return Err(self.whole(format!(
                "{} of {rows} rows have the {} of another row: write it with seconds or milliseconds, or keep one row of each",
                self.not_forward, header.time_title
            )));
        }
        if self.not_forward * TOLERATED_TIMES > rows {
            return Err(self.whole(format!(
                "in {} of {rows} rows {} does not lie after the row before; sort the rows, or split the file if it holds several logs",
                self.not_forward, header.time_title
            )));
        }
        Ok(self)
    }

    /// Reads the header; `below` is the line after it.
    fn begin(
        &mut self,
        (number, titles): (usize, &str),
        below: Option<&str>,
        splitter: &mut CellSplitter,
        device: Option<&str>,
    ) -> Result<Header, ImportError> {
        let separator = super::header::separator(titles);
        let below: Vec<String> = below
            .map(|line| splitter.split_at(line, separator).iter().map(str::to_owned).collect())
            .unwrap_or_default();
        let told = Header::read(self.file, (number, titles), &below, splitter, device)?;
        self.columns = told.values().map(|name| (name, Vec::new())).collect();
        self.clock = RowClock::new(told.seconds, &told.time_title);
        self.marks = Marks::new(told.separator);
        self.notes.clone_from(&told.notes);
        self.titles.clone_from(&told.titles);
        self.has_unsure_bytes = told.has_unsure_bytes;
        Ok(told)
    }

    fn comment(&mut self, number: usize, comment: &str) {
        if let Some((name, value)) = comment.split_once(':') {
            self.facts.push((number, name.trim().to_owned(), value.trim().to_owned()));
        }
    }

    fn row(&mut self, number: usize, cells: Cells<'_>, header: &Header) -> Result<(), ImportError> {
        let (count, wanted) = (cells.count(), header.columns.len());
        // A separator behind the last cell, in rows or in the header alone.
        let is_open = count + 1 == wanted && header.has_empty_end
            || count == wanted + 1 && cells.iter().last().is_some_and(str::is_empty);
        if count != wanted && !is_open {
            let comma = if count > wanted { "; decimals need a point, not a comma" } else { "" };
            let why = format!("the row has {count} cells, the header has {wanted}{comma}");
            return Err(self.at(number, None, why));
        }
        let (mut time, mut day, mut phase, mut column) = ("", None, "", 0);
        for (cell, told) in cells.iter().zip(&header.columns) {
            match told {
                Column::Time => time = cell,
                Column::Date => day = Some(cell),
                Column::Phase => phase = cell,
                Column::Other | Column::Device => {}
                Column::Value { name, convert, .. } => {
                    let value = self.number(number, (column, name), cell, *convert)?;
                    self.columns[column].1.push(value);
                    column += 1;
                }
            }
        }
        let t_s = self.time(number, day, time, &header.time_title)?;
        if !self.clock.is_wall && self.t_s.last().is_some_and(|last| t_s <= *last) {
            self.not_forward += 1;
            self.marks.forget(self.t_s.len());
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

    fn time(
        &mut self,
        number: usize,
        day: Option<&str>,
        cell: &str,
        title: &str,
    ) -> Result<f64, ImportError> {
        if cell.is_empty() {
            return Err(self.at(number, Some(title), "every row needs a time of 0 s or later".into()));
        }
        let (t_s, moved_s) = self.clock.read(day, cell).map_err(|why| self.at(number, Some(title), why))?;
        if moved_s != 0.0 {
            self.t_s.iter_mut().for_each(|before_s| *before_s += moved_s);
        }
        if self.t_s.first().unwrap_or(&t_s) + LONGEST_RUN_S < t_s || t_s > NOT_SECONDS {
            let why = match cell.parse::<f64>() {
                Ok(_) => {
                    format!(
                        "{t_s} s cannot be of one run, which has at most 400 days: is it in milliseconds?"
                    )
                }
                Err(_) => format!(
                    "{cell} is more than 400 days after the first row, and no run is so long: is the date right?"
                ),
            };
            return Err(self.at(number, Some(title), why));
        }
        Ok(t_s)
    }

    /// Takes the numbers that could be two, now that all others are known.
    fn settle(&mut self, header: &Header) -> Result<(), ImportError> {
        let open = self.marks.settle();
        for (place, told) in open {
            let (name, values) = &mut self.columns[place.column];
            let Some(told) = told else {
                let why = "whether its commas are before decimals or between thousands cannot be told: no number shows it. Save it with decimal points";
                return Err(ImportError::at(self.file, place.line, Some(&self.titles[place.column]), why));
            };
            let value = header.convert(place.column).apply(told);
            if let Some(why) = implausible(name, value) {
                return Err(ImportError::at(self.file, place.line, Some(&self.titles[place.column]), why));
            }
            values[place.row] = value;
        }
        Ok(())
    }

    /// Brings rows that a program wrote by a clock of the day into the order of their times.
    fn in_order(&mut self) {
        if !self.clock.is_wall {
            return;
        }
        let is_utc = matches!(self.clock.base(0.0), TimeBase::Unix { .. });
        self.set_clocks = set_back::undo(self.file, &mut self.t_s, is_utc);
        let spread = super::clock::spread(&mut self.t_s);
        if spread > 0 {
            self.notes
                .push(format!("{spread} rows have the second of the row before; they are spread over it"));
        }
        let mut order: Vec<usize> = (0..self.t_s.len()).collect();
        order.sort_by(|a, b| self.t_s[*a].total_cmp(&self.t_s[*b]));
        let count = order.len();
        order.dedup_by(|next, kept| self.t_s[*next] <= self.t_s[*kept]);
        self.not_forward += count - order.len();
        if order.len() == count && order.is_sorted() {
            return;
        }
        for (_, values) in &mut self.columns {
            *values = order.iter().map(|row| values[*row]).collect();
        }
        self.t_s = order.iter().map(|row| self.t_s[*row]).collect();
        self.phase = order.iter().map(|row| self.phase[*row]).collect();
    }

    /// What the times count from.
    pub(super) fn base(&self) -> TimeBase {
        self.clock.base(self.t_s[0])
    }

    /// The number of a phase's name; `None` when there are too many. Rows of one phase mostly follow one another.
    fn phase_number(&mut self, name: &str) -> Option<u32> {
        // Empty strings have no address; comparing two of them by it takes some processors as long as reading the row.
        let is_name = |known: &String| known.len() == name.len() && (name.is_empty() || known == name);
        if let Some(last) = self.phase.last().filter(|last| is_name(&self.phase_names[**last as usize])) {
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

    /// The number in a cell, in the unit of the plain CSV's own column of that name.
    fn number(
        &mut self,
        line: usize,
        (column, name): (usize, &str),
        cell: &str,
        convert: Option<Convert>,
    ) -> Result<f64, ImportError> {
        let told = self.value(line, (column, name), cell, convert);
        // Titles are looked up for errors alone: a month has millions of cells.
        told.map_err(|why| self.at(line, Some(&self.titles[column]), why))
    }

    fn value(
        &mut self,
        line: usize,
        (column, name): (usize, &str),
        cell: &str,
        convert: Option<Convert>,
    ) -> Result<f64, String> {
        let row = self.t_s.len();
        let value = match (self.marks.read(cell, name, super::number::Place { column, row, line })?, convert)
        {
            (Cell::None, _) => return Ok(f64::NAN),
            (Cell::InUnit(value), _) => value,
            (Cell::Bare(value), Some(convert)) => convert.apply(value),
            (Cell::Bare(_), None) => return Err(no_unit(&self.titles[column], name, cell)),
        };
        if let Some(value_k) = kelvin_of(name, value).filter(|kelvin| stands_for_none(*kelvin)) {
            self.not_read += usize::from(value_k > 1.0);
            return Ok(f64::NAN);
        }
        if !(value.is_finite() && (value >= 0.0 || name.ends_with("_c"))) {
            return Err(format!(
                "{value} is not a possible value; leave the cell empty where there is no reading"
            ));
        }
        implausible(name, value).map_or(Ok(value), Err)
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

/// The temperature of the drive that a column holds, in kelvins.
fn kelvin_of(name: &str, value: f64) -> Option<f64> {
    match name {
        "temp_c" => Some(value + 273.0),
        _ if name.starts_with("sensor") && name.ends_with("_c") => Some(value + 273.0),
        "composite_k" => Some(value),
        _ => None,
    }
}

/// A number for people: one of very many digits in powers of ten.
fn shown(value: f64) -> String {
    if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") }
}

/// Why a number cannot be in the unit that its column names; `None` where it can.
pub(super) fn implausible(name: &str, value: f64) -> Option<String> {
    let speed = |rate: f64| {
        (rate > FASTEST_BYTES_PER_S)
            .then(|| format!("{} is faster than any drive: is it in another unit?", shown(value)))
    };
    let kelvin = |kelvin: f64, unit: &str, other: &str| {
        let fits = (COLDEST_K..=HOTTEST_K).contains(&kelvin);
        (!fits).then(|| format!("{} {unit} is no temperature of a drive: is it in {other}?", shown(value)))
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

impl CsvTable<'_> {
    /// Times as the trace has them: a wall clock counts from its first row.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let zero = if self.clock.is_wall { self.t_s[0] } else { 0.0 };
        self.t_s.iter().map(move |t| t - zero)
    }
}
