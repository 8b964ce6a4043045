//! Result files of Iometer: one block a test, and in the instantaneous file one row a worker and second.
//!
//! Rules
//! - ResultRow are cut at commas and nowhere else: names of disks hold single quotation marks. Rows of disks, processors
//!   and managers are not read.
//! - Columns go by their names. `Bytes Read` and `Bytes Written` are data as they are. Without them, data are rate
//!   times time: `MiBps` and `MBps (Binary)` are 2^20 B/s, `MBps (Decimal)` is 10^6 B/s. A bare `MBps` states no base:
//!   the one with which I/Os per second times the only transfer size agree; where that does not tell, 2^20, as
//!   Iometer 2006 divides, with a caveat.
//! - Time stamps are local time of an untold zone. A test ends at its second stamp; what lies between the first one and
//!   its measured time is its ramp, and empty.
//! - A test without its `'End Test` is left out with a caveat.

mod instant;
mod results;

pub(super) use self::instant::instant;
pub(super) use self::results::results;

use super::ImportError;
use super::file_time::moment_s;
use super::part::TimeBase;
use trace::SegmentOp;

const MIB: f64 = 1_048_576.0;
const MB: f64 = 1e6;

/// Where in a row the data is.
#[derive(Clone, Debug, Default)]
struct ResultColumns {
    count: usize,
    kind: usize,
    specification: Option<usize>,
    errors: Option<usize>,
    /// Bytes, rate with its unit (`None`: not stated), I/Os per second; of reads and of writes.
    bytes: [Option<usize>; 2],
    rate: [Option<(usize, Option<f64>)>; 2],
    ios: [Option<usize>; 2],
}

impl ResultColumns {
    /// The columns that a header line names; the reason why it is none.
    fn read(header: &str) -> Result<Self, String> {
        let names: Vec<&str> = header.split(',').map(|name| name.trim().trim_start_matches('\'')).collect();
        let find = |wanted: &str| names.iter().position(|name| *name == wanted);
        let Some(kind) = find("Target Type") else {
            return Err("the header line of the results has no Target Type".to_owned());
        };
        let rate = |op: &str| {
            let units = [
                ("MiBps (Binary)", Some(MIB)),
                ("MBps (Binary)", Some(MIB)),
                ("MBps (Decimal)", Some(MB)),
                ("MBps", None),
            ];
            units.into_iter().find_map(|(unit, base)| Some((find(&format!("{op} {unit}"))?, base)))
        };
        let columns = Self {
            count: names.len(),
            kind,
            specification: find("Access Specification Name"),
            errors: find("Errors"),
            bytes: [find("Bytes Read"), find("Bytes Written")],
            rate: [rate("Read"), rate("Write")],
            ios: [find("Read IOps"), find("Write IOps")],
        };
        if columns.rate.iter().any(Option::is_none) {
            return Err(
                "the header line of the results has no Read MBps and Write MBps (nor MiBps)".to_owned()
            );
        }
        Ok(columns)
    }
}

/// The cells of a row; an empty cell is no number and no error.
struct ResultRow<'a> {
    file: &'a str,
    line: usize,
    cells: Vec<&'a str>,
}

impl<'a> ResultRow<'a> {
    fn read(file: &'a str, line: usize, text: &'a str, columns: &ResultColumns) -> Result<Self, ImportError> {
        let cells: Vec<&str> = text.split(',').map(str::trim).collect();
        if cells.len() < columns.count {
            let why = format!("the row has {} cells, the header {}", cells.len(), columns.count);
            return Err(ImportError::at(file, line, None, why));
        }
        Ok(Self { file, line, cells })
    }

    fn number(&self, column: Option<usize>) -> Result<Option<f64>, ImportError> {
        let Some(column) = column else { return Ok(None) };
        match self.cells[column] {
            "" => Ok(None),
            cell => match cell.parse::<f64>() {
                Ok(number) if number.is_finite() && number >= 0.0 => Ok(Some(number)),
                _ => {
                    let column = (column + 1).to_string();
                    Err(ImportError::at(
                        self.file,
                        self.line,
                        Some(&column),
                        format!("{cell:?} is not a number"),
                    ))
                }
            },
        }
    }

    /// Bytes per second of reads (0) or writes (1); `None` where the base of the unit is not stated.
    fn rate(&self, columns: &ResultColumns, which: usize) -> Result<(f64, Option<f64>), ImportError> {
        let Some((column, base)) = columns.rate[which] else { return Ok((0.0, None)) };
        Ok((self.number(Some(column))?.unwrap_or(0.0), base))
    }
}

/// `2023-03-25 03:05:43:661` as seconds since 1970 in the time of wherever it was written.
fn stamp(text: &str) -> Option<f64> {
    let (date, time) = text.trim().split_once(' ')?;
    // Whole numbers only: a float's parser takes `nan`, `inf` and `1e300` as well.
    let numbers =
        |text: &str, by: char| -> Option<Vec<u32>> { text.split(by).map(|part| part.parse().ok()).collect() };
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let (time, ms) = match numbers(time, ':')?[..] {
        [hour, minute, second] => ([hour, minute, second], 0),
        [hour, minute, second, ms] if ms < 1000 => ([hour, minute, second], ms),
        _ => return None,
    };
    Some(moment_s([year, month, day], time)? + f64::from(ms) / 1e3)
}

/// What opens a block: the description of the test.
fn description(line: &str) -> String {
    let text = line.split_once(',').map_or(line, |(_, text)| text).trim();
    if text.is_empty() { "test".to_owned() } else { text.to_owned() }
}

fn op_of(read: f64, written: f64) -> SegmentOp {
    match (read > 0.0, written > 0.0) {
        (true, true) => SegmentOp::Mixed,
        (true, false) => SegmentOp::Read,
        (false, true) => SegmentOp::Write,
        (false, false) => SegmentOp::Idle,
    }
}

fn local(zero_s: f64) -> TimeBase {
    TimeBase::Local { zero_s }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn stamps_and_headers_are_read_in_all_spellings() {
        assert_eq!(stamp("2026-11-21 10:20:30:250"), Some(1_795_256_430.25));
        assert_eq!(stamp("2026-11-21 10:20:30"), Some(1_795_256_430.0));
        for none in [
            "soon",
            "2026-11-21 10:20:30:nan",
            "2026-11-21 10:inf:30",
            "2026-11-21 10:20:30:1e300",
            "2026-02-31 10:20:30",
        ] {
            assert_eq!(stamp(none), None, "{none}");
        }
        let base = |header: &str| {
            let header = format!("'Target Type,Target Name,{header}");
            ResultColumns::read(&header).expect("columns").rate[0].expect("a rate").1
        };
        assert_eq!(base("Read MiBps (Binary),Write MiBps (Binary),Read MBps (Decimal)"), Some(MIB));
        assert_eq!(base("Read MBps (Binary),Write MBps (Binary)"), Some(MIB));
        assert_eq!(base("Read MBps (Decimal),Write MBps (Decimal)"), Some(MB));
        assert_eq!(base("Read MBps,Write MBps"), None);
        assert!(ResultColumns::read("'Target Type,Target Name,Read GBps").is_err());
    }
}
