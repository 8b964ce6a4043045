//! Changes that are put back: under a journal, from before the first of them until the last is undone.

use nvme::feature::Select;

use super::journal::{Journal, JournalClaim, JournalEntry, Journals};
use super::{Change, DriveSettings, Setting, SettingsError, Value};

/// Changed settings, with the lock and the journal of their drive.
///
/// It does not hold the drive, which may be busy meanwhile; whoever has it calls [`Journaled::put_back`] on every
/// path. Where that never happens the journal stays, and the next start tells.
#[derive(Debug)]
pub struct Journaled {
    claim: JournalClaim,
    journal: Journal,
}

/// What came of putting back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The settings that are as they were found, read back.
    pub settings: Vec<(Setting, Value)>,
    /// What was not put back, and what to do about it; empty when everything is as it was.
    pub problems: Vec<String>,
}

impl Restored {
    /// Whether everything is as it was found.
    pub fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }
}

impl Journaled {
    /// Writes down what is found, then makes `changes` one after the other and reads each back.
    ///
    /// `why` says for whom, `wall_unix_ns` when. Without changes there is no journal.
    ///
    /// # Errors
    /// Before anything is changed: a change that breaks a rule of the drive, a found value that it would not take
    /// back, a journal from before or of another process. After: a change that failed; what was changed before it
    /// has been put back, or the error says what was not.
    pub fn begin(
        drive: &mut DriveSettings<'_>,
        journals: &Journals,
        changes: &[Change],
        why: &str,
        wall_unix_ns: i64,
    ) -> Result<Self, SettingsError> {
        let claim = journals.claim(&drive.identity())?;
        claim.refuse_interrupted(drive.name())?;
        let mut journal = Journal::new(drive.identity(), drive.name(), why, wall_unix_ns);
        for change in changes {
            drive.check(change)?;
            journal.settings.push(entry(drive, change)?);
        }
        let mut journaled = Self { claim, journal };
        if changes.is_empty() {
            return Ok(journaled);
        }
        journaled.claim.write(&journaled.journal)?;
        for change in changes {
            let Err(source) = drive.apply(change, false) else { continue };
            let restored = journaled.put_back(drive);
            if restored.is_whole() {
                return Err(source);
            }
            let (source, problems) = (Box::new(source), restored.problems);
            return Err(SettingsError::LeftChanged { source, problems });
        }
        Ok(journaled)
    }

    /// Puts back what was found, reads it back, and removes the journal when all of it is as it was.
    ///
    /// May be called again.
    pub fn put_back(&mut self, drive: &mut DriveSettings<'_>) -> Restored {
        put_back(drive, &self.claim, &self.journal)
    }
}

/// What is found of a setting, if it can be put back.
fn entry(drive: &mut DriveSettings<'_>, change: &Change) -> Result<JournalEntry, SettingsError> {
    let setting = change.setting;
    let values = drive.read(setting)?;
    let found = values.current;
    if let Err(error) = drive.check(&Change { setting, value: found }) {
        return Err(SettingsError::NotRestorable {
            device: drive.name().to_owned(),
            setting: setting.name(),
            found: setting.text_of(found),
            why: error.to_string(),
        });
    }
    Ok(JournalEntry {
        setting,
        found,
        found_text: setting.text_of(found),
        set: change.value,
        default: values.default,
        saved: values.saved,
        by_way_of: drive.by_way_of(setting, found),
    })
}

/// Puts back what `journal` says, last change first, and removes the journal when all of it is as it was.
pub(super) fn put_back(drive: &mut DriveSettings<'_>, claim: &JournalClaim, journal: &Journal) -> Restored {
    let mut restored = Restored::default();
    if journal.settings.is_empty() {
        return restored;
    }
    for entry in journal.settings.iter().rev() {
        match put_back_one(drive, entry) {
            Ok(now) => restored.settings.push((entry.setting, now)),
            Err(error) => restored.problems.push(problem(drive.name(), claim, entry, &error)),
        }
    }
    if restored.is_whole()
        && let Err(error) = claim.remove()
    {
        restored.problems.push(format!(
            "all settings of {} are as they were found, but their journal is still there: {error}",
            drive.name()
        ));
    }
    restored
}

fn put_back_one(drive: &mut DriveSettings<'_>, entry: &JournalEntry) -> Result<Value, SettingsError> {
    let change = Change { setting: entry.setting, value: entry.found };
    if let Some(value) = entry.by_way_of {
        drive.send(&Change { setting: entry.setting, value }, false)?;
    }
    // Sent whatever is read before it: what is read may lag behind what was set a moment ago.
    drive.send(&change, false)?;
    let now = drive.get(entry.setting, Select::Current)?;
    if now == entry.setting.masked(entry.found) {
        return Ok(now);
    }
    Err(drive.not_applied(change.text(), entry.setting, now, false))
}

fn problem(device: &str, claim: &JournalClaim, entry: &JournalEntry, error: &SettingsError) -> String {
    let what = format!("the {} of {device} was not put back to {}", entry.setting.name(), entry.found_text);
    let place = claim.place();
    if error.is_gone() {
        return format!(
            "{what}: the drive is gone. When it is back, type `heatsoak restore`; what was found is kept in {place}"
        );
    }
    format!(
        "{what}: {error}. Type `heatsoak restore {device}` to try again; a power cycle of the drive brings back its \
         saved settings, and then `heatsoak restore {device} --forget`. What was found is kept in {place}"
    )
}
