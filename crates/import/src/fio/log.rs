//! A log of fio (`write_bw_log` and its kin) to amounts on equal windows. The rules are in [`super`]'s header.
//!
//! Rows are taken one by one, so that a log of any length needs the memory of its windows only.

use super::json::FioJson;
use super::name::LogName;
use super::row::{Layout, LogRow, Numbers, Wrong};
use crate::grid::WindowGrid;
use crate::lines::LineReader;
use crate::{Format, ImportError};
use trace::caveat::{Caveat, ClockDoubt, CutOff};

/// Rows looked at before it is decided what kind of rows they are.
const LOOKED_AT: usize = 256;
/// Rows of one I/O each are counted in windows this long.
const PER_IO_STEP_S: f64 = 1.0;
/// No window is made shorter than this: what comes out is a curve of minutes and hours.
const SHORTEST_STEP_S: f64 = 0.1;
/// A row this many windows after the one before it comes after a pause.
const PAUSE_STEPS: f64 = 1.5;
/// fio before 2.99 wrote a row each 500 ms unless told otherwise, with the size of the last I/O in it.
const PERIODIC_MS: u64 = 100;
/// Times beyond this are those of a wall clock: 1973 as a time, three years as a length.
const EPOCH_MS: u64 = 100_000_000_000;
/// Ten TB/s, a hundred times the fastest link to a drive: a mean that is faster is no speed.
const FASTEST_KIB_PER_S: f64 = 1e13 / 1024.0;
/// Two rows further apart than this are not of one run.
const LONGEST_RUN_MS: u64 = 400 * 86_400 * 1000;
/// Rows between two falls of the time at least, if each begins another job's log.
const ROWS_A_JOB: usize = 3;

/// What a log counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogUnit {
    /// Bytes.
    Bytes,
    /// I/Os of a size that the log does not say.
    Ios,
    /// Nothing that becomes a speed: means of latencies.
    Nothing,
}

/// A log, on windows.
#[derive(Debug)]
pub(crate) struct FioLog {
    pub(super) file: String,
    pub(super) format: Format,
    /// The name before `_bw.1.log`.
    pub(super) prefix: String,
    /// The number in the name: fio counts its jobs from 1.
    pub(super) job: Option<usize>,
    pub(super) unit: LogUnit,
    /// Read, write, trim; times in seconds as in the file.
    pub(super) grids: [Option<WindowGrid>; 3],
    /// Whether its times are those of a wall clock.
    pub(super) epoch: bool,
    pub(super) notes: Vec<String>,
    pub(super) caveats: Vec<Caveat>,
}

/// Reads a log. `format` says what its values are, which the content cannot.
/// `jsons` may tell how long its windows are.
pub(crate) fn fio_log(
    file: &str,
    format: Format,
    jsons: &[FioJson],
    mut lines: LineReader<'_>,
) -> Result<FioLog, ImportError> {
    let mut reading = LogReader::new(file, format);
    let prefix = LogName::parse(file).prefix;
    reading.told_window_s = jsons.iter().find_map(|json| json.log_window_s(prefix));
    while let Some((number, line)) = lines.next()? {
        if line.trim().is_empty() {
            continue;
        }
        let numbers = Numbers::read(line);
        // Decided on the whole line: a number that was cut short is still a number.
        if !lines.ended
            && (numbers.is_err() || numbers.as_ref().is_ok_and(|n| Some(n.count) != reading.width))
        {
            reading.cut_short(number);
            break;
        }
        let numbers = numbers.map_err(|wrong| reading.wrong(number, wrong))?;
        reading.numbers(number, numbers)?;
    }
    reading.finish()
}

/// What the rows are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum RowKind {
    /// One I/O each.
    PerIo,
    /// Means over windows of this length; nothing was done in windows that are left out.
    Averaged { window_s: f64 },
    /// Means since the row before, of old versions.
    Periodic { window_s: f64 },
}

/// What is known of one direction while reading.
#[derive(Clone, Debug, Default)]
struct Lane {
    last: Option<LogRow>,
}

struct LogReader<'a> {
    file: &'a str,
    format: Format,
    width: Option<usize>,
    layout: Option<Layout>,
    /// Rows seen before layout and kind are decided, with their lines.
    early: Vec<(usize, Numbers)>,
    kind: Option<RowKind>,
    /// Length of the windows as fio's JSON tells it.
    told_window_s: Option<f64>,
    first_ms: u64,
    lanes: [Lane; 3],
    grids: [Option<WindowGrid>; 3],
    rows: usize,
    /// How often the time fell back, and the line where it first did.
    back: (usize, usize),
    /// How often a row was there twice, and the line where it first was.
    twice: (usize, usize),
    pauses: usize,
    notes: Vec<String>,
    caveats: Vec<Caveat>,
}

impl<'a> LogReader<'a> {
    fn new(file: &'a str, format: Format) -> Self {
        Self {
            file,
            format,
            width: None,
            layout: None,
            early: Vec::new(),
            kind: None,
            told_window_s: None,
            first_ms: 0,
            lanes: Default::default(),
            grids: [None, None, None],
            rows: 0,
            back: (0, 0),
            twice: (0, 0),
            pauses: 0,
            notes: Vec::new(),
            caveats: Vec::new(),
        }
    }

    fn wrong(&self, line: usize, wrong: Wrong) -> ImportError {
        let column = wrong.column.map(|column| column.to_string());
        let hint = if self.rows + self.early.len() > 0 {
            "; the rows before it are of a fio log: has something else got into the file?"
        } else {
            ""
        };
        ImportError::at(self.file, line, column.as_deref(), format!("{}{hint}", wrong.why))
    }

    fn cut_short(&mut self, line: usize) {
        let file = Some(self.file.to_owned());
        self.caveats.push(Caveat::Truncated { file, line, left_out: CutOff::LastLine });
    }

    fn numbers(&mut self, line: usize, numbers: Numbers) -> Result<(), ImportError> {
        if *self.width.get_or_insert(numbers.count) != numbers.count {
            let why = format!(
                "the row has {} values, the rows before it {}: two logs in one file, or a line that is cut short",
                numbers.count,
                self.width.unwrap_or(0)
            );
            return Err(ImportError::at(self.file, line, None, why));
        }
        let Some((layout, kind)) = self.layout.zip(self.kind) else {
            self.early.push((line, numbers));
            return if self.early.len() >= LOOKED_AT { self.decide(false) } else { Ok(()) };
        };
        self.row(line, numbers.row(layout), numbers, layout, kind)
    }

    /// Decides layout and kind from the rows so far, then counts them.
    fn decide(&mut self, at_end: bool) -> Result<(), ImportError> {
        let possible = |pick: fn(&Numbers) -> bool| self.early.iter().all(|(_, numbers)| pick(numbers));
        let (plain, both) = (possible(|n| n.layouts().plain), possible(|n| n.layouts().both));
        let layout = match (plain, both) {
            (true, false) => Layout::Plain,
            (false, true) => Layout::Both,
            (true, true) if !at_end && self.early.len() < 100 * LOOKED_AT => return Ok(()),
            (true, true) => {
                let why = "its third column can be the direction as well as the greatest value of each window (log_window_value=both), since no value is over 2; such a log says nothing of a drive's speed".to_owned();
                return Err(ImportError::whole(self.file, why));
            }
            (false, false) => {
                let odd =
                    self.early.iter().find(|(_, n)| n.layouts().only() != self.early[0].1.layouts().only());
                let line = odd.unwrap_or(&self.early[0]).0;
                let why = "the third value is no direction (0 read, 1 write, 2 trim), nor is the fourth after a greatest value; decimals with a comma look like this, and fio writes whole numbers".to_owned();
                return Err(ImportError::at(self.file, line, Some("3"), why));
            }
        };
        let early = std::mem::take(&mut self.early);
        let rows: Vec<LogRow> = early.iter().map(|(_, numbers)| numbers.row(layout)).collect();
        let kind = row_kind(&rows, self.width.unwrap_or(0), self.told_window_s);
        (self.layout, self.kind, self.first_ms) = (Some(layout), Some(kind), rows[0].time_ms);
        for (line, numbers) in early {
            self.row(line, numbers.row(layout), numbers, layout, kind)?;
        }
        Ok(())
    }

    fn row(
        &mut self,
        line: usize,
        row: LogRow,
        numbers: Numbers,
        layout: Layout,
        kind: RowKind,
    ) -> Result<(), ImportError> {
        let layouts = numbers.layouts();
        let fits = if layout == Layout::Plain { layouts.plain } else { layouts.both };
        if !fits {
            let column = if layout == Layout::Plain { "3" } else { "4" };
            let why = "this is no direction (0 read, 1 write, 2 trim)".to_owned();
            return Err(ImportError::at(self.file, line, Some(column), why));
        }
        if row.time_ms.abs_diff(self.first_ms) > LONGEST_RUN_MS {
            let why = format!(
                "the time {} ms is over 400 days away from that of the first row, {} ms: two logs in one file",
                row.time_ms, self.first_ms
            );
            return Err(ImportError::at(self.file, line, Some("1"), why));
        }
        if self.format == Format::FioBwLog && kind != RowKind::PerIo && row.value > FASTEST_KIB_PER_S {
            let why = format!("{} KiB/s is faster than any drive", row.value);
            return Err(ImportError::at(self.file, line, Some("2"), why));
        }
        self.rows += 1;
        let last = self.lanes[row.direction].last.replace(row);
        if let Some(last) = last.filter(|last| row.time_ms < last.time_ms)
            && (last.time_ms - row.time_ms) as f64 > 0.5e3 * step_s(kind)
        {
            self.back = (self.back.0 + 1, if self.back.0 == 0 { line } else { self.back.1 });
        }
        self.count(line, row, last, kind);
        Ok(())
    }

    fn count(&mut self, line: usize, row: LogRow, last: Option<LogRow>, kind: RowKind) {
        let t_s = row.time_ms as f64 / 1e3;
        let (from_s, amount) = match kind {
            RowKind::PerIo => (t_s, row.block as f64),
            RowKind::Averaged { window_s } | RowKind::Periodic { window_s } => {
                let old = matches!(kind, RowKind::Periodic { .. });
                if !old && last == Some(row) {
                    self.twice = (self.twice.0 + 1, if self.twice.0 == 0 { line } else { self.twice.1 });
                    return;
                }
                let since_s = match last {
                    Some(last) if row.time_ms >= last.time_ms => t_s - last.time_ms as f64 / 1e3,
                    // The first window of a log that counts from its job's start begins there.
                    None if old || t_s < 2.0 * window_s => t_s.min(2.0 * window_s),
                    _ => window_s,
                };
                let paused = since_s > PAUSE_STEPS * window_s && !old && last.is_some();
                self.pauses += usize::from(paused);
                let span_s = if paused { window_s } else { since_s };
                // A second row at the same moment stands for no time.
                (t_s - span_s, self.rate(row) * span_s)
            }
        };
        let grid = self.grids[row.direction].get_or_insert_with(|| WindowGrid::new(step_s(kind)));
        grid.add(from_s, t_s, amount);
    }

    /// What a second of this row's value stands for.
    fn rate(&self, row: LogRow) -> f64 {
        match self.format {
            // fio's bandwidth logs are in KiB/s (HOWTO, "Log File Formats").
            Format::FioBwLog => row.value * 1024.0,
            _ => row.value,
        }
    }

    fn finish(mut self) -> Result<FioLog, ImportError> {
        if self.kind.is_none() && !self.early.is_empty() {
            self.decide(true)?;
        }
        let Some(kind) = self.kind else {
            return Err(ImportError::whole(self.file, "it has no rows"));
        };
        let whole = |why: String| ImportError::whole(self.file, why);
        if kind != RowKind::PerIo && self.back.0 * ROWS_A_JOB > self.rows {
            return Err(whole(format!(
                "in {} of {} rows the time lies before that of the row before (first in line {}): this is not a log of one run",
                self.back.0, self.rows, self.back.1
            )));
        }
        self.say_what_was_odd(kind);
        let unit = match (kind, self.format) {
            (RowKind::PerIo, _) | (_, Format::FioBwLog) => LogUnit::Bytes,
            (_, Format::FioIopsLog) => LogUnit::Ios,
            _ => LogUnit::Nothing,
        };
        let LogName { prefix, job, .. } = LogName::parse(self.file);
        Ok(FioLog {
            file: self.file.to_owned(),
            format: self.format,
            prefix: prefix.to_owned(),
            job,
            unit,
            grids: if unit == LogUnit::Nothing { [None, None, None] } else { self.grids },
            epoch: self.first_ms > EPOCH_MS,
            notes: self.notes,
            caveats: self.caveats,
        })
    }

    fn say_what_was_odd(&mut self, kind: RowKind) {
        let file = self.file;
        if self.back.0 > 0 && kind != RowKind::PerIo {
            let (times, first_line) = self.back;
            let doubt = ClockDoubt::JobsInOneFile { file: file.to_owned(), times, first_line };
            self.caveats.push(Caveat::Clock(doubt));
        }
        if self.twice.0 > 0 {
            let (rows, first_line) = self.twice;
            self.caveats.push(Caveat::Duplicated { file: file.to_owned(), rows, first_line });
        }
        if self.pauses > 0 {
            self.notes.push(format!(
                "{file}: {} times windows are missing; fio leaves out a window in which nothing was completed, so they count as 0 B/s",
                self.pauses
            ));
        }
        let what = match kind {
            RowKind::PerIo => "one row an I/O, counted by block size in windows of 1 s".to_owned(),
            RowKind::Averaged { window_s } => format!("means over windows of {:.0} ms", 1e3 * window_s),
            RowKind::Periodic { window_s } => {
                format!("means since the row before (a fio before 2.99), about {:.0} ms", 1e3 * window_s)
            }
        };
        self.notes.push(format!("{file}: {} rows, {what}", self.rows));
    }
}

/// How long the windows are that rows of this kind are put on.
fn step_s(kind: RowKind) -> f64 {
    match kind {
        RowKind::PerIo => PER_IO_STEP_S,
        RowKind::Averaged { window_s } | RowKind::Periodic { window_s } => window_s.max(SHORTEST_STEP_S),
    }
}

/// What the rows are, from the first of them. Without a block size they are averaged. With one they are single
/// I/Os, but for logs of four columns whose rows are never closer than a tenth of a second: old versions wrote
/// the size of one I/O beside a mean.
fn row_kind(rows: &[LogRow], width: usize, told_window_s: Option<f64>) -> RowKind {
    let mut steps: Vec<u64> = Vec::new();
    for direction in 0..3 {
        let times: Vec<u64> = rows.iter().filter(|r| r.direction == direction).map(|r| r.time_ms).collect();
        let mut forward: Vec<u64> =
            times.windows(2).filter_map(|w| w[1].checked_sub(w[0])).filter(|step| *step > 0).collect();
        // The last window of a log is short.
        if forward.len() > 1 {
            forward.pop();
        }
        steps.extend(forward);
    }
    steps.sort_unstable();
    let averaged = rows.iter().all(|row| row.block == 0);
    // Windows without I/O are left out, so that most steps may be longer than a window, but none is shorter: the
    // lowest tenth. Old versions wrote when the next I/O ended: there it is the middle.
    let usual = if averaged { steps.get(steps.len() / 10) } else { steps.get(steps.len() / 2) };
    let seen_s = usual.map_or_else(
        || (rows[0].time_ms as f64 / 1e3).clamp(SHORTEST_STEP_S, 1.0),
        |step_ms| *step_ms as f64 / 1e3,
    );
    if averaged {
        RowKind::Averaged { window_s: told_window_s.unwrap_or(seen_s) }
    } else if width == 4 && steps.first().is_some_and(|least| *least >= PERIODIC_MS) {
        RowKind::Periodic { window_s: seen_s }
    } else {
        RowKind::PerIo
    }
}
