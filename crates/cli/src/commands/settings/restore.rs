//! `heatsoak restore`: puts back every setting that an interrupted run has left changed.

use std::path::Path;

use anyhow::Context as _;
use drive::cgroup::{self, CgroupTree, RestoredLimits, restore_limits};
use drive::guard::Roots;
use drive::settings::journal::{FoundJournal, Journal, JournalError, Journals, places};
use drive::settings::linux::SysfsController;
use drive::settings::{Restored, restore};
use drive::sysfs::entries;
use drive::telemetry::discover::SYSFS;
use drive::trim::mode::{journal_identity, restore_discards};
use drive::{Address, DriveIdentity, SettingsLast};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Exit;
use crate::args::RestoreArgs;
use crate::commands::documents::JsonDocument as _;
use crate::door;
use crate::open_settings::{OpenSettings, journal_sentence, open_settings};
use crate::opening::Opening;
use crate::printer::Printer;

/// The JSON of `heatsoak restore --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RestoreDocument {
    /// Version of this format.
    schema: u32,
    /// The drives that a run had left changed.
    drives: Vec<RestoredDriveJson>,
}

/// One drive that had a journal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RestoredDriveJson {
    /// Model name.
    model: String,
    /// Serial number.
    serial: String,
    /// How it was opened; `null` when it is not there.
    address: Option<String>,
    /// What had changed its settings.
    why: String,
    /// What was put back.
    restored: Vec<RestoredSettingJson>,
    /// What was not put back, and what to do; empty when all is as it was found.
    problems: Vec<String>,
}

/// One setting that is as it was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RestoredSettingJson {
    /// Which setting.
    setting: String,
    /// Its present value.
    value: String,
}

/// Restores.
pub(crate) fn execute(args: &RestoreArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let drives = match &args.drive {
        Some(typed) => {
            let limits = if args.forget { None } else { limits_of(typed) };
            let own = match open_settings(typed) {
                Ok(opened) if args.forget => forget(&opened)?,
                Ok(mut opened) => one(&mut opened)?,
                // A drive that has no settings of its own has limits on its load all the same.
                Err(_) if limits.is_some() => None,
                Err(error) => return Err(error),
            };
            limits.into_iter().chain(own).collect()
        }
        None => all()?,
    };
    let whole = drives.iter().all(|drive| drive.problems.is_empty());
    for problem in drives.iter().flat_map(|drive| &drive.problems) {
        printer.warning(problem);
    }
    if args.json {
        printer.json(&RestoreDocument { schema: RestoreDocument::SCHEMA, drives })?;
    } else {
        printer.data(&for_people(&drives))?;
    }
    Ok(if whole { Exit::Done } else { Exit::NotDone })
}

fn for_people(drives: &[RestoredDriveJson]) -> String {
    if drives.is_empty() {
        return "No run has left a setting changed.\n".to_owned();
    }
    let mut text = String::new();
    for drive in drives {
        let place = drive.address.as_deref().unwrap_or("not here");
        text.push_str(&format!(
            "{} (serial {}), {place}, left by \"{}\":\n",
            drive.model, drive.serial, drive.why
        ));
        for RestoredSettingJson { setting, value } in &drive.restored {
            text.push_str(&format!("  {setting}: {value}, as it was found\n"));
        }
        if !drive.problems.is_empty() {
            text.push_str("  not everything is as it was found\n");
        }
    }
    text
}

/// The drive that was opened; `None` when it has no journal.
fn one(opened: &mut OpenSettings) -> anyhow::Result<Option<RestoredDriveJson>> {
    let identity = opened.settings.identity();
    for journals in opened.all_journals().to_vec() {
        if journals.find(&identity).is_none() {
            continue;
        }
        if let Some((journal, restored)) = restore(&mut opened.settings, &journals)? {
            return Ok(Some(restored_json(&journal, Some(&opened.address), restored)));
        }
    }
    Ok(None)
}

/// Removes the journal of a drive, whose settings a power cycle has brought back.
fn forget(opened: &OpenSettings) -> anyhow::Result<Option<RestoredDriveJson>> {
    let identity = opened.settings.identity();
    for journals in opened.all_journals() {
        let Some(found) = journals.find(&identity) else { continue };
        let claim = journals.claim(&identity)?;
        claim.remove()?;
        let why =
            found.journal.map_or_else(|_| "something that cannot be read".to_owned(), |journal| journal.why);
        return Ok(Some(RestoredDriveJson {
            model: identity.model,
            serial: identity.serial,
            address: Some(opened.address.clone()),
            why,
            restored: Vec::new(),
            problems: Vec::new(),
        }));
    }
    Ok(None)
}

/// Every drive that has a journal.
fn all() -> anyhow::Result<Vec<RestoredDriveJson>> {
    let mut drives = Vec::new();
    for journals in places() {
        // Root's folder need not be there, nor be open to others.
        let found = match journals.all() {
            Ok(found) => found,
            Err(JournalError::Io { source, .. }) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                continue;
            }
            Err(error) => return Err(error).context("cannot look for journals of settings"),
        };
        for found in found {
            drives.push(by_journal(&journals, found));
        }
    }
    Ok(drives)
}

/// The drive of a journal, wherever it is plugged in now.
fn by_journal(journals: &Journals, found: FoundJournal) -> RestoredDriveJson {
    let problem = |journal: Option<&Journal>, why: String| RestoredDriveJson {
        model: journal.map(|journal| journal.drive.model.clone()).unwrap_or_default(),
        serial: journal.map(|journal| journal.drive.serial.clone()).unwrap_or_default(),
        address: None,
        why: journal.map(|journal| journal.why.clone()).unwrap_or_default(),
        restored: Vec::new(),
        problems: vec![why],
    };
    if found.held || found.journal.is_err() {
        let why = journal_sentence(&found, "");
        return problem(found.journal.as_ref().ok(), why);
    }
    let Ok(journal) = found.journal else { return problem(None, "there is no journal".to_owned()) };
    if !journal.limits.is_empty() {
        return limits(&journal, journals).unwrap_or_else(|why| problem(Some(&journal), why));
    }
    if journal.settings.iter().any(|entry| entry.setting.is_of_discards()) {
        return discards(&journal, journals).unwrap_or_else(|why| problem(Some(&journal), why));
    }
    let mut opened = match find(&journal) {
        Ok(Some(opened)) => opened,
        Ok(None) => {
            let why = format!(
                "{} is not here; what was found on it is kept in {}, and put back by `heatsoak restore` when it is",
                journal.drive, found.place
            );
            return problem(Some(&journal), why);
        }
        Err(error) => {
            let why = format!(
                "{} was not opened ({}); what was found on it is kept in {}",
                journal.drive,
                crate::printer::sentence(&error),
                found.place
            );
            return problem(Some(&journal), why);
        }
    };
    match restore(&mut opened.settings, journals) {
        Ok(Some((journal, restored))) => restored_json(&journal, Some(&opened.address), restored),
        // Somebody else has just done it.
        Ok(None) => restored_json(&journal, Some(&opened.address), Restored::default()),
        Err(error) => problem(Some(&journal), error.to_string()),
    }
}

/// Limits of control groups, which are the kernel's: the disk need not be there.
fn limits(journal: &Journal, journals: &Journals) -> Result<RestoredDriveJson, String> {
    let boot = cgroup::boot();
    let tree = CgroupTree::to_restore().map_err(|error| error.to_string())?;
    let restored = restore_limits(&tree, journals, &journal.drive, boot.as_deref());
    // Nothing: somebody else has just done it.
    let RestoredLimits { restored, problems } =
        restored.map_err(|error| error.to_string())?.unwrap_or_default();
    Ok(RestoredDriveJson {
        model: journal.drive.model.clone(),
        serial: journal.drive.serial.clone(),
        address: Some(journal.device.clone()),
        why: journal.why.clone(),
        restored: restored
            .into_iter()
            .map(|(setting, value)| RestoredSettingJson { setting, value })
            .collect(),
        problems,
    })
}

/// What there is of limits on the disk at an address; `None` where there is no journal of them.
fn limits_of(typed: &str) -> Option<RestoredDriveJson> {
    let drive = door::open(&Address::parse(typed).ok()?, &Opening::plain()).ok()?;
    let identity = journal_identity(&DriveIdentity::read(Path::new(SYSFS), &drive.disk()?)?);
    places().into_iter().find_map(|journals| {
        let found = journals.find(&identity)?;
        let has_limits = found.journal.as_ref().is_ok_and(|journal| !journal.limits.is_empty());
        has_limits.then(|| by_journal(&journals, found))
    })
}

/// How the kernel discards on the disk of a journal, wherever it is plugged in now.
fn discards(journal: &Journal, journals: &Journals) -> Result<RestoredDriveJson, String> {
    let roots = Roots::system();
    let is_it = |name: &&String| {
        DriveIdentity::read(&roots.sys, name)
            .is_some_and(|identity| journal_identity(&identity) == journal.drive)
    };
    let names = entries(&roots.sys.join("block"));
    let Some(name) = names.iter().find(is_it) else {
        return Err(format!(
            "{} is not here: the kernel forgets how it discards on a drive that is unplugged, so there is nothing to \
             put back; `heatsoak restore` removes the journal when the drive is here again",
            journal.drive
        ));
    };
    let identity = DriveIdentity::read(&roots.sys, name).ok_or("the drive has just gone")?;
    let address = roots.dev.join(name).display().to_string();
    match restore_discards(&roots, name, &identity, journals).map_err(|error| error.to_string())? {
        Some((journal, restored)) => Ok(restored_json(&journal, Some(&address), restored)),
        // Somebody else has just done it.
        None => Ok(restored_json(journal, Some(&address), Restored::default())),
    }
}

/// The drive of a journal among those of this machine, or behind the network address at which it was.
fn find(journal: &Journal) -> anyhow::Result<Option<OpenSettings>> {
    let is_it = |opened: &OpenSettings| opened.settings.identity() == journal.drive;
    let mut refused = None;
    for controller in SysfsController::all(Path::new(SYSFS)) {
        match open_settings(&controller.device.display().to_string()) {
            Ok(opened) if is_it(&opened) => return Ok(Some(opened)),
            Ok(_) => {}
            Err(error) => refused = Some(error),
        }
    }
    let address = Address::parse(&journal.device);
    if let Ok(mut drive) =
        address.map_err(Into::into).and_then(|address| door::open(&address, &Opening::plain()))
        && drive.settings_last() == Some(SettingsLast::Connection)
    {
        return Ok(Some(OpenSettings::new(&mut *drive)?).filter(is_it));
    }
    // One that does not let us ask may be the one.
    refused.map_or(Ok(None), Err)
}

fn restored_json(journal: &Journal, address: Option<&str>, restored: Restored) -> RestoredDriveJson {
    let settings = restored.settings.iter().map(|(setting, value)| RestoredSettingJson {
        setting: setting.name(),
        value: setting.text_of(*value),
    });
    RestoredDriveJson {
        model: journal.drive.model.clone(),
        serial: journal.drive.serial.clone(),
        address: address.map(str::to_owned),
        why: journal.why.clone(),
        restored: settings.collect(),
        problems: restored.problems,
    }
}
