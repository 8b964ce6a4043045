//! Tables with a row for each value of each series: `"Series";"Time";"Value"`, as Grafana exports what is not joined by time, and
//! `Time,Metric,Value` of its "series to rows".
//!
//! Rules
//! - A series is what a column is in the table that is joined by time: its name is the title, with all rules for those.
//! - Rows come in any order: one series after the other, or one time after the other.

use std::collections::HashMap;

use measure::CellSplitter;

use super::columns::{Dialect, TableReader};
use crate::ImportError;
use crate::lines::LineReader;
use crate::part::RunPart;

/// Titles of the column that says of which series a value is, in lower case.
const SERIES: [&str; 3] = ["series", "metric", "field"];

/// A dashboard's panel has fewer lines; a column that holds ever new names is none of series.
const MOST_SERIES: usize = 1024;

/// About as many rows as a plain CSV may have.
const MOST_ROWS: usize = 4_000_000;

/// Which cell of a row is what, and what cells are separated by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongHeader {
    separator: char,
    series: usize,
    time: usize,
    value: usize,
}

impl LongHeader {
    /// The header that a line is; `None` for one of another table.
    pub(super) fn tell(line: &str) -> Option<Self> {
        let bare = line.trim_start_matches('\u{feff}').trim().to_lowercase().replace('"', "");
        [',', ';', '\t'].into_iter().find_map(|separator| {
            let titles: Vec<&str> = bare.split(separator).map(str::trim).collect();
            let at = |names: &[&str]| titles.iter().position(|title| names.contains(title));
            let (series, time, value) = (at(&SERIES)?, at(&["time"])?, at(&["value"])?);
            (titles.len() == 3).then_some(Self { separator, series, time, value })
        })
    }
}

/// Reads the rows below `header`.
pub(super) fn part(
    file: &str,
    header: LongHeader,
    mut lines: LineReader<'_>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut splitter = CellSplitter::new();
    let mut titles = vec!["Time".to_owned()];
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut rows: Vec<(usize, usize, Box<str>, Box<str>)> = Vec::new();
    while let Some((number, line)) = lines.next()? {
        let line = line.to_owned();
        let cells = splitter.split_at(&line, header.separator);
        let cell = |at: usize| cells.iter().nth(at).unwrap_or_default().trim();
        let (series, time, value) = (cell(header.series), cell(header.time), cell(header.value));
        if series.is_empty() || LongHeader::tell(&line).is_some() {
            continue;
        }
        if !lines.ended {
            lines.line_is_cut(number);
            break;
        }
        let column = known.get(series).copied().unwrap_or_else(|| {
            titles.push(series.to_owned());
            known.insert(series.to_owned(), titles.len() - 1);
            titles.len() - 1
        });
        let why = match () {
            () if known.len() > MOST_SERIES => {
                format!("there are more than {MOST_SERIES} series in it: export the panel of the drive alone")
            }
            () if rows.len() == MOST_ROWS => {
                format!("it has more than {MOST_ROWS} rows: cut it into several runs")
            }
            () => String::new(),
        };
        if !why.is_empty() {
            return Err(ImportError::at(file, number, None, why));
        }
        rows.push((number, column, time.into(), value.into()));
    }
    let table = TableReader::with_header(Dialect::Grafana, header.separator, titles);
    let mut table = table.map_err(|why| ImportError::whole(file, why))?;
    table.is_unordered();
    for (number, column, time, value) in rows {
        let Some(now) = table.time(&[time.to_string()]) else {
            return Err(ImportError::at(file, number, None, format!("{time:?} is no date and time")));
        };
        table.cell(column, &value, now).map_err(|why| ImportError::at(file, number, None, why))?;
    }
    table.finish(file, device, None)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_header_names_series_time_and_value() {
        let told = LongHeader::tell("\"Series\";\"Time\";\"Value\"");
        assert_eq!(told, Some(LongHeader { separator: ';', series: 0, time: 1, value: 2 }));
        let told = LongHeader::tell("Time,Metric,Value").expect("a header");
        assert_eq!((told.time, told.series, told.value), (0, 1, 2));
        for other in ["Time,Value", "Series,Time,Value,Unit", "Time;Read;Write", ""] {
            assert_eq!(LongHeader::tell(other), None, "{other}");
        }
    }
}
