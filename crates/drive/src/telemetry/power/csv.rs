//! A CSV of a power meter, merged into the record when the run has ended.
//!
//! A header line names the columns; `t_s` (seconds since the run began) and `power_w` are needed, others are passed
//! over. Lines that begin with `#` are comments. An empty cell is a gap.

use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::record::TelemetryRow;
use measure::{CellSplitter, Instant, input};
use thiserror::Error;

use plan::MeterClock;

use super::plausible;
use super::value::MeterAmount;

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

/// What of a CSV is read, and how.
#[derive(Clone, Copy, Debug)]
pub struct CsvColumns<'a> {
    /// The column of times.
    pub time: &'a str,
    /// The column of power.
    pub power: &'a str,
    /// What times count from.
    pub clock: MeterClock,
    /// When the run began, in seconds since 1970-01-01 UTC.
    pub began_unix_s: f64,
    /// Watts of one of its numbers.
    pub watts_per_unit: f64,
}

/// The readings of a CSV file, in their order; those from before the run are left out.
///
/// # Errors
/// When it cannot be read, or a line is not what the header says.
pub fn read_csv(path: &Path, source: &str, columns: &CsvColumns<'_>) -> Result<Vec<TelemetryRow>, CsvError> {
    let text =
        input::read_to_string(path).map_err(|source| CsvError::Io { path: path.to_owned(), source })?;
    rows(&text, source, columns).map_err(|(line, why)| CsvError::Line { path: path.to_owned(), line, why })
}

/// The rows, or the line that is wrong and why.
fn rows(text: &str, source: &str, columns: &CsvColumns<'_>) -> Result<Vec<TelemetryRow>, (usize, String)> {
    let mut splitter = CellSplitter::new();
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let (wanted_time, wanted_power) = (columns.time, columns.power);
    let Some((header_line, header)) = lines.next() else {
        let why =
            format!("it is empty; the first line names its columns, such as {wanted_time},{wanted_power}");
        return Err((1, why));
    };
    let names: Vec<String> = splitter.split(header).iter().map(str::to_owned).collect();
    let column = |wanted: &str| {
        names.iter().position(|name| name == wanted).ok_or_else(|| {
            let names = names.join(", ");
            let why = format!(
                "there is no column {wanted}, only {names}; {wanted_time} and {wanted_power} are needed"
            );
            (header_line, why)
        })
    };
    let (time, power) = (column(wanted_time)?, column(wanted_power)?);
    let read = |(line, text)| {
        let cells: Vec<&str> = splitter.split(text).iter().collect();
        let row = match cells.len() == names.len() {
            true => row(cells[time], cells[power], source, columns),
            false => Err(format!("it has {} cells, the header has {}", cells.len(), names.len())),
        };
        row.map_err(|why| (line, why)).transpose()
    };
    lines.filter_map(read).collect()
}

/// One reading; `None` for one from before the run.
fn row(
    time: &str,
    power: &str,
    source: &str,
    columns: &CsvColumns<'_>,
) -> Result<Option<TelemetryRow>, String> {
    let CsvColumns { time: time_name, power: power_name, clock, began_unix_s, watts_per_unit } = *columns;
    let typed = time.parse::<f64>().ok().filter(|seconds| seconds.is_finite());
    let seconds = typed.ok_or_else(|| format!("{time_name} is {time:?}, not a number"))?;
    let since_start = match clock {
        MeterClock::Run => seconds,
        MeterClock::Unix => seconds - began_unix_s,
    };
    let Ok(since_start) = Duration::try_from_secs_f64(since_start) else { return Ok(None) };
    let t = Instant::ZERO + since_start;
    if power.is_empty() {
        return Ok(Some(TelemetryRow::failed(t, source, Duration::ZERO, "the cell is empty")));
    }
    let amount =
        MeterAmount::read(power).ok_or_else(|| format!("{power_name} is {power:?}, not a number"))?;
    Ok(Some(match plausible(amount.watts(watts_per_unit)) {
        Ok(power) => TelemetryRow { power: Some(power), ..TelemetryRow::empty(t, source, Duration::ZERO) },
        Err(why) => TelemetryRow::failed(t, source, Duration::ZERO, why),
    }))
}

#[cfg(test)]
mod test {
    use measure::Watts;
    use proptest::prelude::*;

    use super::*;

    const PLAIN: CsvColumns<'static> = CsvColumns {
        time: "t_s",
        power: "power_w",
        clock: MeterClock::Run,
        began_unix_s: 0.0,
        watts_per_unit: 1.0,
    };

    fn rows(text: &str) -> Result<Vec<TelemetryRow>, (usize, String)> {
        super::rows(text, "power", &PLAIN)
    }

    #[test]
    fn other_columns_units_and_clocks_are_read_and_the_time_before_the_run_is_left_out() {
        let columns = CsvColumns {
            time: "timestamp",
            power: "Tot_P mW",
            clock: MeterClock::Unix,
            began_unix_s: 1000.0,
            watts_per_unit: 1e-3,
        };
        let text = "timestamp,Tot_P mW\n998,1\n1000.5,8250\n1001,-1000\n";
        let rows = super::rows(text, "power2", &columns).expect("it is right");
        assert_eq!(rows[0].power, Some(Watts::new(8.25)));
        assert_eq!((rows[0].t.as_secs_f64(), rows[0].source.as_str()), (0.5, "power2"));
        assert!(rows[1].gap.as_ref().is_some_and(|why| why.contains("below zero")), "{rows:?}");
    }

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
            ("t_s,power_w\nnan,1", 2, "t_s is \"nan\""),
            ("t_s,power_w\n#\n0,5 V", 3, "power_w is \"5 V\""),
        ];
        for (text, line, part) in wrong {
            let (found, why) = rows(text).expect_err(part);
            assert_eq!(found, line, "{why}");
            assert!(why.contains(part), "expected {part:?} in {why:?}");
        }
        let error = read_csv(Path::new("/no/such.csv"), "power", &PLAIN).expect_err("no file").to_string();
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
