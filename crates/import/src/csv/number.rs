//! Numbers in the cells of a plain CSV: with a point or a comma before the decimals, with a unit or without.
//!
//! Rules
//! - Between commas a point is before decimals, and a number in quotation marks may have commas between thousands or before
//!   decimals where it can be nothing else.
//! - Between semicolons and tabs either mark may be before decimals. What can be two numbers (`1.600`) is told by those that
//!   can be only one; where none is, a point is before decimals, and so is a comma.

use crate::monitor::units::{Measure, Unit};
use crate::numbers::{Number, end_of_number, number};

/// So many numbers may wait for one that shows what their marks are; more are of a column whose decimals have three digits.
const MOST_OPEN: usize = 100_000;

/// Where a number stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) column: usize,
    pub(super) row: usize,
    pub(super) line: usize,
}

/// What a cell says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell {
    /// No reading.
    None,
    /// A number of what its column counts.
    Bare(f64),
    /// A number with a unit, in the unit of the plain CSV's own column.
    InUnit(f64),
}

/// What stands before decimals and between thousands in a file.
#[derive(Debug)]
pub(super) struct Marks {
    separator: char,
    /// What stands before decimals, once a number has shown it.
    mark: Option<char>,
    /// Numbers that could be two: as with their mark before decimals.
    open: Vec<(Place, f64, char)>,
}

impl Default for Marks {
    fn default() -> Self {
        Self::new(',')
    }
}

impl Marks {
    pub(super) fn new(separator: char) -> Self {
        Self { separator, mark: None, open: Vec::new() }
    }

    /// The number in a cell of the column `name`.
    ///
    /// # Errors
    /// With what is wrong.
    pub(super) fn read(&mut self, cell: &str, name: &str, place: Place) -> Result<Cell, String> {
        if cell.is_empty()
            || ["-", "n/a", "na", "nan", "null", "none", "undefined"].contains(&cell.to_lowercase().as_str())
        {
            return Ok(Cell::None);
        }
        // Between commas a number is as programs write it.
        if self.separator == ','
            && let Ok(value) = cell.parse()
        {
            self.mark = self.mark.or(cell.contains('.').then_some('.'));
            return Ok(Cell::Bare(value));
        }
        let (digits, unit) = cell.split_at(end_of_number(cell));
        let wrong = || {
            format!(
                "{cell:?} is not a number{}",
                if cell.contains(';') { "; cells are separated by commas" } else { "" }
            )
        };
        let value = match number(digits).ok_or_else(wrong)? {
            Number::One(value, mark) => {
                self.mark = self.mark.or(mark);
                value
            }
            Number::Either(..) if !unit.trim().is_empty() => return Err(wrong()),
            Number::Either(value, mark) => self.either(value, mark, place),
        };
        match unit.trim() {
            "" => Ok(Cell::Bare(value)),
            unit => in_own_unit(name, value, unit).map(Cell::InUnit).ok_or_else(wrong),
        }
    }

    /// A number that could be two: as it is likelier, until it is settled.
    fn either(&mut self, value: f64, mark: char, place: Place) -> f64 {
        match self.mark {
            Some(known) if known == mark => value,
            Some(_) => (value * 1000.0).round(),
            None if self.open.len() >= MOST_OPEN => {
                self.mark = Some(mark);
                value
            }
            None => {
                self.open.push((place, value, mark));
                value
            }
        }
    }

    /// Forgets what waits in a row that is left out.
    pub(super) fn forget(&mut self, row: usize) {
        self.open.retain(|(place, ..)| place.row != row);
    }

    /// The numbers that waited, now that all others are known; `None` for one that no number tells.
    pub(super) fn settle(&mut self) -> Vec<(Place, Option<f64>)> {
        let (mark, is_table) = (self.mark, self.separator == ',');
        let told = |(place, value, own): (Place, f64, char)| {
            let value = match mark {
                Some(known) if known != own => Some((value * 1000.0).round()),
                // Between commas, a comma in quotation marks.
                None if is_table && own == ',' => None,
                _ => Some(value),
            };
            (place, value)
        };
        self.open.drain(..).map(told).collect()
    }
}

/// A number in a unit as the column of that name counts.
fn in_own_unit(name: &str, value: f64, unit: &str) -> Option<f64> {
    let unit = Unit::named(unit)?;
    let count = unit.count(value);
    Some(match (unit.measure, name) {
        (Measure::Rate, name) if name.ends_with("_mb_per_s") => count / 1e6,
        (Measure::Rate, name) if name.ends_with("_bytes_per_s") => count,
        (Measure::Heat, "composite_k") => count + 273.15,
        (Measure::Heat, name) if name.ends_with("_c") => count,
        (Measure::Power, "power_w") => count,
        _ => return None,
    })
}
