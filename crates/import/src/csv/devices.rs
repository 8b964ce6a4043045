//! Tables with a row for each drive at each time: whose rows are taken.
//!
//! A column such as `device` or `name` tells drives apart where two of its values stand beside one time. One of several is named with
//! `--device`; else such a table is refused. Where its values follow one another, it may say anything.

use std::collections::BTreeSet;

use measure::Cells;

use super::header::{Column, Header};
use crate::device::{controller, nothing_of};

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
        if !header.columns.contains(&Column::Device) {
            return true;
        }
        let of = |wanted: Column| {
            let both = cells.iter().zip(&header.columns);
            both.filter(move |(_, column)| **column == wanted).map(|(cell, _)| cell)
        };
        // A table may tell a drive in several columns (`name,tags` of InfluxDB 1).
        let device = of(Column::Device).filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join(" ");
        if device.is_empty() {
            return true;
        }
        if !self.names.contains(&device) {
            self.names.insert(device.clone());
        }
        if let Some(wanted) = wanted {
            return is_named(&device, wanted);
        }
        let time = of(Column::Time).next().unwrap_or_default();
        match &mut self.last {
            Some((before, of)) => {
                self.is_several |= before == time && *of != device;
                time.clone_into(before);
                *of = device;
            }
            None => self.last = Some((time.to_owned(), device)),
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
            Some(wanted) if !self.names.is_empty() => Err(nothing_of(wanted, &self.list())),
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

/// Whether cells are of the device that a user names, as a whole or among their words (`name=nvme0n1,host=a`).
fn is_named(cells: &str, wanted: &str) -> bool {
    let is = |word: &str| word.eq_ignore_ascii_case(wanted) || controller(word) == controller(wanted);
    is(cells) || cells.split([' ', ',', '=', ';']).any(is)
}
