//! dstat, dool and pcp-dstat: what `--output FILE` writes.
//!
//! Rules
//! - Two header lines: groups (`"dsk/nvme0n1",`), a name standing for all cells behind it, and the values of each (`"read","writ"`), or
//!   both in one (`"dsk/nvme0n1:read"`). Bytes per second.
//! - `dsk/total` is the sum over all drives, and is taken where no drive is told apart.
//! - Times are those of `epoch`, or of `time` with a day and a month, whose year is that of the line `"Date:"`. Without any, rows are as
//!   far apart as the command line says, 1 s unless it ends in a number, or `--every`.
//! - The first row of a recording is the mean since the machine was started: it is left out.

use measure::CellSplitter;

use super::line_time::line_time;
use super::when::{Stamp, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::{RunPart, TimeBase};
use trace::SegmentOp::{Read, Write};

/// What the sum over all drives is called here.
const SUM: &str = "_Total";

/// Whether a text begins as one of dstat's.
pub(crate) fn is_beginning(first: &str) -> bool {
    let lower = first.trim_start_matches('"').to_lowercase();
    ["dstat ", "pcp-dstat ", "dool "].iter().any(|begin| lower.starts_with(begin))
        && lower.contains("csv output")
}

/// What is in a cell of a row.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Time,
    Rate(String, Quantity),
    Other,
}

#[derive(Default)]
struct Reader {
    samples: Samples,
    every_s: Option<f64>,
    /// The groups of a header whose second line is yet to come.
    groups: Vec<String>,
    cells: Vec<Cell>,
    /// Seconds between rows that have no time, and how many rows were read.
    step_s: f64,
    rows: u32,
    is_first_row: bool,
    year: String,
    first: Option<Stamp>,
}

/// Reads the table.
pub(crate) fn part(
    file: &str,
    mut lines: LineReader<'_>,
    every_s: Option<f64>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut reader = Reader { every_s, step_s: every_s.unwrap_or(1.0), ..Reader::default() };
    let mut splitter = CellSplitter::new();
    while let Some((number, line)) = lines.next()? {
        let cells: Vec<String> = splitter.split(line).iter().map(str::to_owned).collect();
        if !lines.ended && cells.len() < reader.cells.len() {
            lines.line_is_cut(number);
            break;
        }
        reader.line(&cells).map_err(|why| ImportError::at(file, number, None, why))?;
    }
    if reader.samples.is_empty() {
        let why =
            "it is dstat's CSV without the speed of a drive: use `dstat -T -d -D nvme0n1 --output FILE`";
        return Err(ImportError::whole(file, why));
    }
    if !reader.samples.drives_but(SUM) {
        let note = "speeds are those of all drives together (dsk/total); `dstat -D nvme0n1` tells one";
        reader.samples.notes.push(note.into());
    }
    if reader.first.is_none() {
        let note =
            format!("rows carry no time: taken to be {} s apart (dstat -T writes times)", reader.step_s);
        reader.samples.notes.push(note);
    }
    let first = reader.first;
    reader.samples.part(file, device, move |zero_s| first.map_or(TimeBase::Own, |first| first.base(zero_s)))
}

impl Reader {
    fn line(&mut self, cells: &[String]) -> Result<(), String> {
        let after = |name: &str| {
            let at = cells.iter().position(|cell| cell == name)?;
            cells[at + 1..].iter().find(|cell| !cell.is_empty())
        };
        if let Some(date) = after("Date:") {
            let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
            self.year = date.split_whitespace().find(is_year).unwrap_or_default().to_owned();
        }
        if let Some(command) = after("Cmdline:") {
            self.step_s = self.every_s.or_else(|| delay_s(command)).unwrap_or(1.0);
        }
        if cells.iter().any(|cell| cell.starts_with("dsk/")) && self.groups.is_empty() {
            self.groups = carried(cells);
        } else if !self.groups.is_empty() {
            let groups = std::mem::take(&mut self.groups);
            self.cells = groups.iter().zip(cells).map(|(group, name)| meaning(group, name)).collect();
            self.is_first_row = true;
        } else if !self.cells.is_empty() && cells.len() >= self.cells.len() && is_row(cells) {
            return self.row(cells);
        }
        Ok(())
    }

    fn row(&mut self, cells: &[String]) -> Result<(), String> {
        let time = self.cells.iter().position(|cell| *cell == Cell::Time).map(|at| cells[at].as_str());
        self.rows += 1;
        let seconds = match time {
            Some(text) => {
                let told = self
                    .stamp(text)
                    .ok_or_else(|| format!("{text:?} is no time that dstat writes: use dstat -T"))?;
                self.first = self.first.or(Some(told));
                told.seconds
            }
            None => f64::from(self.rows) * self.step_s,
        };
        if std::mem::take(&mut self.is_first_row) {
            return Ok(());
        }
        let row = self.samples.row(seconds);
        for (cell, text) in self.cells.iter().zip(cells) {
            if let Cell::Rate(drive, quantity) = cell {
                let rate = text.parse().unwrap_or(f64::NAN);
                self.samples.push_at(drive, *quantity, row, rate);
            }
        }
        Ok(())
    }

    /// `1795340400.123`, `22-11 09:40:00`, `Nov-22 09:40:00`.
    fn stamp(&self, text: &str) -> Option<Stamp> {
        if let Some(told) = stamp(text) {
            return Some(told);
        }
        let (date, time) = text.split_once(' ')?;
        let (one, two) = date.split_once('-')?;
        let is_named = one.starts_with(char::is_alphabetic) || two.starts_with(char::is_alphabetic);
        // Any leap year does where none is told: rows are counted from the first.
        let year = if self.year.is_empty() { "2024" } else { &self.year };
        if is_named {
            line_time(&format!("{one} {two} {year} {time}"))
        } else {
            stamp(&format!("{one}-{two}-{year} {time}"))
        }
    }
}

/// Whether cells are numbers, and no names.
fn is_row(cells: &[String]) -> bool {
    cells.iter().all(|cell| {
        cell.is_empty() || cell.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.')
    }) && cells.iter().any(|cell| cell.parse::<f64>().is_ok())
}

/// Groups, each carried on over the cells without one of their own.
fn carried(cells: &[String]) -> Vec<String> {
    let mut last = "";
    cells
        .iter()
        .map(|cell| {
            last = if cell.is_empty() { last } else { cell };
            last.to_owned()
        })
        .collect()
}

fn meaning(group: &str, name: &str) -> Cell {
    let (group, name) =
        name.split_once(':').filter(|(group, _)| group.starts_with("dsk/")).unwrap_or((group, name));
    let Some(drive) = group.strip_prefix("dsk/") else {
        return if ["epoch", "time", "date/time"].contains(&name) { Cell::Time } else { Cell::Other };
    };
    let drive = if drive == "total" { SUM } else { drive };
    match name {
        "read" => Cell::Rate(drive.to_owned(), Quantity::Rate(Read)),
        "writ" => Cell::Rate(drive.to_owned(), Quantity::Rate(Write)),
        _ => Cell::Other,
    }
}

/// The delay at the end of a command line: `dstat -cdn --output x.csv 5 100`.
fn delay_s(command: &str) -> Option<f64> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let numbers: Vec<&&str> =
        words.iter().rev().take_while(|word| word.parse::<f64>().is_ok()).take(2).collect();
    // What stands behind an option is its value.
    let before = words.len().checked_sub(numbers.len() + 1).map(|at| words[at])?;
    let own = if before.starts_with('-') && before != "-T" && before != "-t" {
        numbers.len().checked_sub(1)?
    } else {
        numbers.len()
    };
    numbers.get(own.checked_sub(1)?)?.parse().ok().filter(|delay: &f64| *delay > 0.0)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_delay_is_the_number_at_the_end_of_the_command() {
        for (command, delay) in [
            ("dstat -cdn --output x.csv", None),
            ("dstat -cdn --output x.csv 5", Some(5.0)),
            ("dstat -cdn --output x.csv 5 100", Some(5.0)),
            ("dstat -T 2", Some(2.0)),
        ] {
            assert_eq!(delay_s(command), delay, "{command}");
        }
    }
}
