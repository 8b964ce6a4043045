//! Tables of `sadf -d` and `sadf -p`.
//!
//! A row of `-d` has host, interval, time and the columns that the last line with `# hostname` names; with `-h` it has the number of
//! devices and the same columns for each. A row of `-p` has host, interval, time, device, the name of one column and its value. Times are UTC unless they do not say so.

use super::super::Samples;
use super::super::when::{Stamp, stamp};
use super::{Cell, meaning, take};

/// Behind the name of a column that there is of each device.
const EACH: &str = "[...]";
const BEGIN: &str = "# hostname;interval;timestamp";

/// Whether a line is of `sadf -d` or `sadf -p`.
pub(crate) fn is_sadf(line: &str) -> bool {
    line.starts_with(BEGIN) || row(line, '\t').is_some_and(|(_, cells)| cells.len() > 1)
}

/// The time of a row and its cells behind that.
fn row(line: &str, separator: char) -> Option<(Stamp, Vec<&str>)> {
    let mut cells = line.split(separator).skip(1);
    cells.next()?.parse::<i64>().ok()?;
    let time = stamp(cells.next()?)?;
    Some((time, cells.collect()))
}

#[derive(Default)]
pub(super) struct Reader {
    /// The columns of the table of drives under way in `-d`, from `DEV` on; empty outside of one.
    columns: Vec<String>,
    /// Whether a row has all drives (`-h`), which its columns say by `DEV[...]`.
    is_wide: bool,
    /// Whether it is `-d`.
    is_database: bool,
    pub(super) first: Option<Stamp>,
}

impl Reader {
    /// Takes a line; whether it is one of `sadf`.
    pub(super) fn line(&mut self, line: &str, samples: &mut Samples) -> bool {
        if let Some(columns) = line.strip_prefix(BEGIN) {
            self.is_database = true;
            let columns = columns.trim_start_matches(';').split(';');
            self.is_wide = columns.clone().next().is_some_and(|name| name.ends_with(EACH));
            self.columns = columns.map(|name| name.trim_end_matches(EACH).to_owned()).collect();
            if self.columns.first().is_none_or(|name| name != "DEV") {
                self.columns.clear();
            }
            return true;
        }
        let separator = if self.is_database { ';' } else { '\t' };
        let Some((time, cells)) = row(line, separator) else { return false };
        let number = |text: &str| Cell::parse(text).unwrap_or(Cell::bare(f64::NAN));
        if self.is_database {
            let each = if self.is_wide { self.columns.len().max(1) } else { cells.len().max(1) };
            for cells in cells[usize::from(self.is_wide).min(cells.len())..].chunks(each) {
                let Some((drive, values)) = cells.split_first() else { continue };
                let cells = self.columns.iter().skip(1).zip(values);
                take(samples, drive, time.seconds, cells.map(|(name, text)| (name.as_str(), number(text))));
            }
            self.first = self.first.or(Some(time));
            return true;
        }
        let Some((drive, values)) = cells.split_first() else { return true };
        match values {
            [name, value] if meaning(name).is_some() => {
                take(samples, drive, time.seconds, std::iter::once((*name, number(value))));
            }
            _ => return true,
        }
        self.first = self.first.or(Some(time));
        true
    }
}
