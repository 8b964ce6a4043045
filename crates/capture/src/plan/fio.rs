//! fio job files as plans.

use super::{Plan, PlanError};

impl Plan {
    /// Reads a plan from a fio job file.
    ///
    /// # Errors
    /// [`PlanError::Line`] at the first thing that is not understood.
    pub fn from_fio(text: &str, file: &str) -> Result<Self, PlanError> {
        let _ = text;
        Err(PlanError::Line { file: file.to_owned(), line: 1, why: "fio job files are not read yet".into() })
    }
}
