//! The published experiments, run again on simulated drives: stated, reproduced, tolerance, verdict.
//!
//! A row is what a publication states about one run. It is written down as quantities with bounds
//! (`Row`); the bounds come from the statement and from how precisely it was made, and are never
//! touched by the runners, which drive a [`physics::Drive`] as the authors drove theirs and measure what
//! a logger would have seen. A value is thus never computed from what is stated: it comes out of the
//! profile, and changing the profile changes the verdict (a test does that).
//!
//! Each row says whether it was used to set a parameter of its profile. A row that was not is a
//! prediction; only those are evidence that the model is right.
//!
//! Statements: five publications (two on host controlled thermal management, one on power, one on
//! USB drives, one on a QLC drive). Their figures were not available, only what the texts say.

mod hctm;
mod play;
mod power;
mod qlc;
mod rig;
mod row;
mod usb;

use measure::Seed;
use schemars::JsonSchema;
use serde::Serialize;

pub use play::behind_page_cache;
use rig::Rig;
use row::Row;
pub use row::{QuantityResult, RowResult};

use physics::profile::Profile;

/// All rows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Validation {
    /// Version of this format.
    pub schema: u32,
    /// Always true: every number in here comes from a simulated drive.
    pub simulated: bool,
    /// In the order of the publications.
    pub rows: Vec<RowResult>,
}

/// Rows that are measured together.
type Experiment = fn(&Rig<'_>) -> Vec<Row>;

/// What there is to do, with its name for people who wait.
const PARTS: [(&str, Experiment); 5] = [
    ("SSD1 under host controlled thermal management", hctm::ssd1),
    ("SSD2 under host controlled thermal management", hctm::ssd2),
    ("USB drives", usb::rows),
    ("QLC drive without DRAM", qlc::rows),
    ("power tables", power::rows),
];

/// Runs every experiment; the same result every time. Takes seconds.
pub fn validate() -> Validation {
    validate_with(&mut |_, _, _| {})
}

/// As [`validate`]; tells before each part which it is, from 1 on, of how many, and its name.
pub fn validate_with(progress: &mut dyn FnMut(usize, usize, &str)) -> Validation {
    let rig = Rig::builtin();
    let mut rows = Vec::new();
    for (number, (name, part)) in (1..).zip(PARTS) {
        progress(number, PARTS.len(), name);
        rows.extend(part(&rig).into_iter().map(Row::result));
    }
    Validation { schema: 1, simulated: true, rows }
}

/// The rows of one part alone - 0 is SSD1, 1 is SSD2, in the order of [`validate_with`] - on drives whose
/// profiles are changed first. `None` for a part that there is not.
///
/// For questions to the model itself: how far a parameter may go, what a row says about another.
pub fn part_with(part: usize, change: &dyn Fn(&mut Profile)) -> Option<Vec<RowResult>> {
    let (_, rows) = PARTS.get(part)?;
    Some(rows(&Rig::bent(change)).into_iter().map(Row::result).collect())
}

/// The rows of one part alone, as [`part_with`], on the drives as they are but with another seed: dips, wobble and
/// latencies fall elsewhere.
pub fn part_seeded(part: usize, seed: Seed) -> Option<Vec<RowResult>> {
    let (_, rows) = PARTS.get(part)?;
    Some(rows(&Rig::builtin().seeded(seed)).into_iter().map(Row::result).collect())
}

impl Validation {
    /// Whether every row holds.
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.holds)
    }

    /// How it went, in one line.
    pub fn counts(&self) -> String {
        let count = |of: fn(&RowResult) -> bool| self.rows.iter().filter(|row| of(row)).count();
        format!(
            "{} of {} rows hold. {} rows set no parameter; {} of these hold.",
            count(|row| row.holds),
            self.rows.len(),
            count(|row| !row.used_to_set_parameters),
            count(|row| row.holds && !row.used_to_set_parameters),
        )
    }

    /// The result as a Markdown table, one row a line, and a line of counts before it.
    pub fn table(&self) -> String {
        let mut text = format!("{}\n\n", self.counts());
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
