//! A CSV of a power meter, merged into the record when the run has ended.
//!
//! A header line names the columns; `t_s` (seconds since the run began) and `power_w` are needed, others are passed
//! over. Lines that begin with `#` are comments. An empty cell is a gap.

use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::record::TelemetryRow;
use measure::{CellSplitter, Cells, Instant, input};
use thiserror::Error;

use super::{SOURCE, watts};
use crate::telemetry::Reading;

/// Why a CSV of a power meter could not be merged.
#[derive(Debug, Error)]
pub enum CsvError {
    /// The file could not be read.
    #[error("cannot read the power readings {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line that is not understood.
    #[error("cannot read the power readings {path}, line {line}: {why}")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
}

/// Looks whether the readings can come from this file, before a run whose end they are read at. The meter may begin to
/// write it later.
///
/// # Errors
/// When something else is there.
pub fn check_csv(path: &Path) -> Result<(), CsvError> {
    match input::no_file(path) {
        Ok(Some(what)) => {
            let source = std::io::Error::other(format!("it is {what}; name a file"));
            Err(CsvError::Io { path: path.to_owned(), source })
        }
        Ok(None) | Err(_) => Ok(()),
    }
}

/// The readings of a CSV file, in their order.
///
/// # Errors
/// When it cannot be read, or a line is not what the header says.
pub fn read_csv(path: &Path) -> Result<Vec<TelemetryRow>, CsvError> {
    let text =
        input::read_to_string(path).map_err(|source| CsvError::Io { path: path.to_owned(), source })?;
    rows(&text).map_err(|(line, why)| CsvError::Line { path: path.to_owned(), line, why })
}

/// The rows, or the line that is wrong and why.
fn rows(text: &str) -> Result<Vec<TelemetryRow>, (usize, String)> {
    let mut splitter = CellSplitter::new();
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((header_line, header)) = lines.next() else {
        return Err((1, "it is empty; the first line names its columns, such as t_s,power_w".to_owned()));
    };
    let names: Vec<String> = splitter.split(header).iter().map(str::to_owned).collect();
    let column = |wanted: &str| {
        names.iter().position(|name| name == wanted).ok_or_else(|| {
            let why =
                format!("there is no column {wanted}, only {}; t_s and power_w are needed", names.join(", "));
            (header_line, why)
        })
    };
    let (time, power) = (column("t_s")?, column("power_w")?);
    lines
        .map(|(line, text)| row(splitter.split(text), names.len(), time, power).map_err(|why| (line, why)))
        .collect()
}

fn row(cells: Cells<'_>, columns: usize, time: usize, power: usize) -> Result<TelemetryRow, String> {
    let cells: Vec<&str> = cells.iter().collect();
    if cells.len() != columns {
        return Err(format!("it has {} cells, the header has {columns}", cells.len()));
    }
    let seconds: f64 = cells[time].parse().map_err(|_| format!("t_s is {:?}, not a number", cells[time]))?;
    let since_start = Duration::try_from_secs_f64(seconds)
        .map_err(|_| format!("t_s is {seconds}: readings from before the run began cannot be merged"))?;
    let t = Instant::ZERO + since_start;
    if cells[power].is_empty() {
        return Ok(Reading::failed(t, SOURCE, "the cell is empty").row);
    }
    let power = watts(cells[power]).ok_or_else(|| format!("power_w is {:?}, not a number", cells[power]))?;
    Ok(TelemetryRow { power: Some(power), ..Reading::empty(t, SOURCE).row })
}

#[cfg(test)]
mod test {
    use measure::Watts;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_found_by_name_and_empty_cells_are_gaps() {
        let text = "# meter 7\npower_w,note,\"t_s\"\n8.25,\"lab, left\",0.5\n\n ,y,1.5\n9,,2\n";
        let rows = rows(text).expect("it is right");
        let seconds: Vec<f64> = rows.iter().map(|row| row.t.as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 1.5, 2.0]);
        let powers: Vec<Option<Watts>> = rows.iter().map(|row| row.power).collect();
        assert_eq!(powers, [Some(Watts::new(8.25)), None, Some(Watts::new(9.0))]);
        assert_eq!(rows[1].gap.as_deref(), Some("the cell is empty"));
        assert!(rows.iter().all(|row| row.source == "power"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = [
            ("", 1, "it is empty"),
            ("# only a comment", 1, "it is empty"),
            ("t_s,watts\n0,1", 1, "no column power_w, only t_s, watts"),
            ("t_s,power_w\n0,1\n1", 3, "it has 1 cells, the header has 2"),
            ("t_s,power_w\nx,1", 2, "t_s is \"x\""),
            ("t_s,power_w\n-1,1", 2, "before the run began"),
            ("t_s,power_w\nnan,1", 2, "before the run began"),
            ("t_s,power_w\n#\n0,5 W", 3, "power_w is \"5 W\""),
        ];
        for (text, line, part) in wrong {
            let (found, why) = rows(text).expect_err(part);
            assert_eq!(found, line, "{why}");
            assert!(why.contains(part), "expected {part:?} in {why:?}");
        }
        let error = read_csv(Path::new("/no/such.csv")).expect_err("no file").to_string();
        assert!(error.contains("/no/such.csv"), "{error}");
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "\\PC*", cells in "[0-9eE.,\n-]{0,40}") {
            let _ = rows(&text);
            let _ = rows(&format!("t_s,power_w\n{cells}"));
        }
    }
}
