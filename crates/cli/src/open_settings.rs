//! The settings of a drive, to be read and changed by hand, and the journal that there may be for it.

use anyhow::{Context as _, bail};
use drive::settings::DriveSettings;
use drive::settings::journal::{FoundJournal, JournalClaim, Journals, places};
use drive::system::FOREIGN_SETTINGS as FOREIGN;
use drive::{Address, Drive, DriveError, SettingsLast};
use schemars::JsonSchema;
use serde::Serialize;

use crate::door;
use crate::opening::Opening;
use crate::printer::Printer;

/// The settings of a drive that was opened.
pub(crate) struct OpenSettings {
    /// Its settings.
    pub(crate) settings: DriveSettings<'static>,
    /// The address to type for it: of a namespace, its controller's.
    pub(crate) address: String,
    last: SettingsLast,
    journals: Vec<Journals>,
}

/// Who it is, in every JSON document about a drive.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct DriveJson {
    /// The address to type for its settings.
    address: String,
    /// Model name.
    model: String,
    /// Serial number.
    serial: String,
    /// Firmware revision.
    firmware: String,
    /// Whether it is a simulated drive.
    simulated: bool,
}

/// The settings of the drive at the address that was typed.
///
/// # Errors
/// When there is none, or it does not let us ask.
pub(crate) fn open_settings(typed: &str) -> anyhow::Result<OpenSettings> {
    let mut drive = door::open(&Address::parse(typed)?, &Opening::plain())?;
    Ok(OpenSettings::new(&mut *drive)?)
}

impl OpenSettings {
    /// Those of `drive`.
    ///
    /// # Errors
    /// When it has none, or does not let us ask.
    pub(crate) fn new(drive: &mut dyn Drive) -> Result<Self, DriveError> {
        let settings = drive.settings()?;
        let typed = drive.address().to_string();
        let last = drive.settings_last().ok_or_else(|| DriveError::NoSettings { address: typed.clone() })?;
        let address = drive.controller().map_or(typed, |controller| controller.device.display().to_string());
        Ok(Self { settings, address, last, journals: drive.journals() })
    }

    /// Whether it is a simulated drive: a twin, or a virtual SSD by whatever way.
    pub(crate) fn is_simulated(&self) -> bool {
        self.last == SettingsLast::Process || self.settings.identify().simulation.is_some()
    }

    /// How long a change of its settings lasts.
    pub(crate) const fn lasts(&self, saved: bool) -> &'static str {
        match (self.last, saved) {
            (SettingsLast::Process, _) => "in a simulated drive, which is gone with this command",
            (_, true) => "saved: it outlives power cycles",
            (SettingsLast::PowerCycle, false) => "until the next power cycle or reset of the drive",
            (SettingsLast::Connection, false) => {
                "only while a host is connected, and this command has disconnected; --save keeps it"
            }
        }
    }

    /// Who it is.
    pub(crate) fn drive_json(&self) -> DriveJson {
        let identify = self.settings.identify();
        DriveJson {
            address: self.address.clone(),
            model: identify.model.clone(),
            serial: identify.serial.clone(),
            firmware: identify.firmware.clone(),
            simulated: self.is_simulated(),
        }
    }

    /// The same as a line for people.
    pub(crate) fn heading(&self) -> String {
        let simulated = if self.is_simulated() { ", simulated" } else { "" };
        format!("{} at {}{simulated}", self.settings.identity(), self.address)
    }

    /// Where what is found on it is written down.
    pub(crate) fn journals(&self) -> anyhow::Result<&Journals> {
        self.journals.first().context("there is no folder for the journal of settings: HOME is not set")
    }

    /// Every place in which there may be a journal for it.
    pub(crate) fn all_journals(&self) -> &[Journals] {
        &self.journals
    }

    /// The journal that there is for it, in any of the places.
    pub(crate) fn journal(&self) -> Option<FoundJournal> {
        let identity = self.settings.identity();
        self.journals.iter().find_map(|journals| journals.find(&identity))
    }

    /// Says so when an interrupted run has left it changed, or a run changes it just now.
    pub(crate) fn warn_of_journal(&self, printer: &mut Printer) {
        if let Some(found) = self.journal() {
            printer.warning(&journal_sentence(&found, &self.address));
        }
    }

    /// The lock of its settings, for a change that stays.
    ///
    /// # Errors
    /// When a run changes them just now, or an interrupted one has left them changed; or when the drive may be in
    /// somebody's use whom nobody here can see.
    pub(crate) fn claim(&self) -> anyhow::Result<JournalClaim> {
        if self.last == SettingsLast::Connection && !self.is_simulated() {
            bail!("will not change the settings of {}: {FOREIGN}", self.address);
        }
        let claim = self.journals()?.claim(&self.settings.identity())?;
        claim.refuse_interrupted(&self.address)?;
        if let Some(found) = self.journal() {
            bail!("{}", journal_sentence(&found, &self.address));
        }
        Ok(claim)
    }
}

/// What a journal that is there means.
pub(crate) fn journal_sentence(found: &FoundJournal, device: &str) -> String {
    match &found.journal {
        Ok(journal) if found.held => format!(
            "\"{}\" (process {}) has changed the settings of {} and puts them back when it ends",
            journal.why, journal.pid, journal.drive
        ),
        Ok(journal) => journal.interrupted(device).to_string(),
        Err(error) => error.to_string(),
    }
}

/// Warns of every drive that an interrupted run has left changed.
pub(crate) fn warn_of_interrupted_runs(printer: &mut Printer) {
    // A folder that cannot be read is another user's: whoever may read it is warned.
    let found = places().into_iter().flat_map(|journals| journals.all().unwrap_or_default());
    for found in found.filter(|found| !found.held) {
        let device = found.journal.as_ref().map_or("", |journal| journal.device.as_str());
        printer.warning(&journal_sentence(&found, device));
    }
}
