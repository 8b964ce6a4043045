//! Putting back what an interrupted run has left changed. Doing it twice does no more than once.

use super::journal::{Journal, Journals};
use super::journaled::put_back;
use super::{DriveSettings, Restored, SettingsError};

/// What was put back, and from which journal; `None` when there was none.
pub type Outcome = Option<(Journal, Restored)>;

/// Puts back the settings of a drive from its journal, if it has one, and removes the journal when they are as they
/// were.
///
/// # Errors
/// When another process works with them, or the journal cannot be read.
pub fn restore(drive: &mut DriveSettings<'_>, journals: &Journals) -> Result<Outcome, SettingsError> {
    let claim = journals.claim(&drive.identity())?;
    let Some(journal) = claim.read()? else { return Ok(None) };
    let restored = put_back(drive, &claim, &journal);
    Ok(Some((journal, restored)))
}
