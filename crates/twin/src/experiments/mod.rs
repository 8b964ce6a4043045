//! The published experiments, run again on simulated drives: stated, reproduced, tolerance, verdict.
//!
//! A row is what a publication states about one run. It is written down as quantities with bounds
//! (`Row`); the bounds come from the statement and from how precisely it was made, and are never
//! touched by the runners, which drive a [`crate::Drive`] as the authors drove theirs and measure what
//! a logger would have seen. A value is thus never computed from what is stated: it comes out of the
//! profile, and changing the profile changes the verdict (a test does that).
//!
//! Each row says whether it was used to set a parameter of its profile. A row that was not is a
//! prediction; only those are evidence that the model is right.
//!
//! Statements: five publications (two on host controlled thermal management, one on power, one on
//! USB drives, one on a QLC drive). Their figures were not available, only what the texts say.

mod hctm;
mod power;
mod qlc;
mod rig;
mod row;
mod usb;

use serde::Serialize;

use rig::Shelf;
use row::Row;

/// What came of one row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowResult {
    /// Short name: A1 to D10, O for orderings, P for the power tables.
    pub id: String,
    /// What the publication says.
    pub stated: String,
    /// The same quantities on the simulated drive.
    pub reproduced: String,
    /// The bounds, and the reason for them.
    pub tolerance: String,
    /// Whether every quantity lies within its bounds.
    pub holds: bool,
    /// Whether parameters of the profile were set from this row.
    pub used_to_set_parameters: bool,
    /// How the simulated drive comes to it, or why it does not.
    pub why: String,
}

/// All rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// In the order of the publications.
    pub rows: Vec<RowResult>,
}

/// Runs every experiment; the same result every time. Takes seconds.
pub fn validate() -> Validation {
    validate_on(&Shelf::builtin())
}

fn validate_on(shelf: &Shelf<'_>) -> Validation {
    let parts = [hctm::rows(shelf), usb::rows(shelf), qlc::rows(shelf), power::rows(shelf)];
    Validation { rows: parts.into_iter().flatten().map(Row::result).collect() }
}

impl Validation {
    /// Whether every row holds.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.holds)
    }

    /// The result as a Markdown table, one row a line, and a line of counts before it.
    pub fn table(&self) -> String {
        let count = |of: fn(&RowResult) -> bool| self.rows.iter().filter(|row| of(row)).count();
        let mut text = format!(
            "{} of {} rows hold. {} rows set no parameter; {} of these hold.\n\n",
            count(|row| row.holds),
            self.rows.len(),
            count(|row| !row.used_to_set_parameters),
            count(|row| row.holds && !row.used_to_set_parameters),
        );
        text +=
            "| row | stated | reproduced | tolerance | holds | set parameters |\n|---|---|---|---|---|---|\n";
        for row in &self.rows {
            let yes = |holds: bool| if holds { "yes" } else { "no" };
            text += &format!(
                "| {} | {} | {} | {} | {} | {} |\n",
                row.id,
                row.stated,
                row.reproduced,
                row.tolerance,
                if row.holds { "yes" } else { "**no**" },
                yes(row.used_to_set_parameters),
            );
        }
        text
    }
}

#[cfg(test)]
mod test;
