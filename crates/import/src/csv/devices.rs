//! Tables with a row for each drive at each time: whose rows are taken.
//!
//! A column such as `device` or `name` tells drives apart where two of its values stand beside one time. One of several is named with
//! `--device`; else such a table is refused. Where its values follow one another, it may say anything.

use std::collections::BTreeSet;

use measure::Cells;

use super::header::{Column, Header};
use crate::device::controller;

/// The drives that rows are of.
#[derive(Debug, Default)]
pub(super) struct Devices {
    names: BTreeSet<String>,
    /// Time and drive of the last row, as they are written.
    last: Option<(String, String)>,
    /// Whether rows of several drives have one time.
    is_several: bool,
}

impl Devices {
    /// Takes notice of a row; whether it is of the drive that is wanted, or nobody wants one.
    pub(super) fn takes(&mut self, cells: &Cells<'_>, header: &Header, wanted: Option<&str>) -> bool {
        let cell = |is: fn(&Column) -> bool| {
            let at = header.columns.iter().position(is)?;
            cells.iter().nth(at)
        };
        let Some(device) = cell(|column| *column == Column::Device).filter(|device| !device.is_empty())
        else {
            return true;
        };
        if !self.names.contains(device) {
            self.names.insert(device.to_owned());
        }
        if let Some(wanted) = wanted {
            return is_named(device, wanted);
        }
        let time = cell(|column| *column == Column::Time).unwrap_or_default();
        match &mut self.last {
            Some((before, of)) => {
                self.is_several |= before == time && of != device;
                time.clone_into(before);
                device.clone_into(of);
            }
            None => self.last = Some((time.to_owned(), device.to_owned())),
        }
        true
    }

    /// # Errors
    /// Where rows are of several drives and nobody said which is wanted.
    pub(super) fn one(&self) -> Result<(), String> {
        if !self.is_several {
            return Ok(());
        }
        Err(format!("its rows are of several drives ({}): name one with --device", self.list()))
    }

    /// # Errors
    /// Where no row is of the drive that is wanted.
    pub(super) fn has(&self, wanted: Option<&str>) -> Result<(), String> {
        match wanted {
            Some(wanted) if !self.names.is_empty() => {
                Err(format!("it has nothing of {wanted}; there are {}", self.list()))
            }
            _ => Ok(()),
        }
    }

    fn list(&self) -> String {
        /// More are no help.
        const MOST: usize = 12;
        let mut names: Vec<&str> = self.names.iter().take(MOST).map(String::as_str).collect();
        if self.names.len() > MOST {
            names.push("..");
        }
        names.join(", ")
    }
}

/// Whether a cell is of the device that a user names.
fn is_named(cell: &str, wanted: &str) -> bool {
    cell.eq_ignore_ascii_case(wanted) || controller(cell) == controller(wanted)
}
