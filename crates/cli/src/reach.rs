//! A drive whose settings and facts are wanted, by whatever address: one type for real and simulated ones.

use std::path::Path;

use anyhow::{Context as _, bail};
use capture::settings::DriveSettings;
use capture::settings::journal::{Claim, Found, Journals, places};
use capture::settings::linux::Controller;
use capture::target::{Address, AddressKind};
use capture::telemetry::discover::SYSFS;
use measure::Seed;
use nvme::host::AdminTransport;
use nvme::host::linux::LinuxController;
use serde::Serialize;

use crate::printer::Printer;
use crate::targets::twin::TwinTarget;

/// Admin commands to any drive.
pub(crate) type Transport = Box<dyn AdminTransport>;

/// A drive that was reached.
pub(crate) struct Reached {
    /// Its settings.
    pub(crate) settings: DriveSettings<Transport>,
    /// The address to type for it.
    pub(crate) address: String,
    /// The kernel's controller; `None` for a simulated drive.
    pub(crate) controller: Option<Controller>,
    journals: Vec<Journals>,
}

/// Who it is, in every JSON document about a drive.
#[derive(Debug, Serialize)]
pub(crate) struct DriveJson {
    address: String,
    model: String,
    serial: String,
    firmware: String,
    simulated: bool,
}

/// The NVMe drive at the address that was typed.
///
/// # Errors
/// When there is none, or it does not let us ask.
pub(crate) fn reach(typed: &str) -> anyhow::Result<Reached> {
    match Address::parse(typed)?.kind() {
        AddressKind::Twin { profile } => {
            let target = TwinTarget::open(profile, Seed::new(0))?;
            let settings = DriveSettings::open(Box::new(target) as Transport)?;
            let journals = vec![Journals::in_memory()];
            Ok(Reached { settings, address: typed.to_owned(), controller: None, journals })
        }
        AddressKind::Device { path } => of_controller(Controller::of(path, Path::new(SYSFS))?),
        _ => bail!(
            "cannot read or change the settings of {typed}: settings belong to a drive; name its device, such as \
             /dev/nvme0, or a simulated one, such as twin:ssd1"
        ),
    }
}

/// The drive of a controller.
///
/// # Errors
/// When it cannot be opened, or does not tell who it is.
pub(crate) fn of_controller(controller: Controller) -> anyhow::Result<Reached> {
    let device = controller.device.display().to_string();
    let transport = Box::new(LinuxController::open(&device)?) as Transport;
    let settings = DriveSettings::open(transport)?;
    let settings = match controller.apst_knob() {
        Some(knob) => settings.with_apst(knob),
        None => settings,
    };
    Ok(Reached { settings, address: device, controller: Some(controller), journals: places() })
}

impl Reached {
    /// Whether it is a simulated drive.
    pub(crate) const fn is_simulated(&self) -> bool {
        self.controller.is_none()
    }

    /// Who it is.
    pub(crate) fn drive(&self) -> DriveJson {
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

    /// The journal that there is for it, in any of the places.
    pub(crate) fn journal(&self) -> Option<Found> {
        let identity = self.settings.identity();
        self.journals.iter().find_map(|journals| journals.of(&identity))
    }

    /// Says so when an interrupted run has left it changed, or a run changes it just now.
    pub(crate) fn warn_of_journal(&self, printer: &mut Printer) {
        if let Some(found) = self.journal() {
            printer.warning(&told(&found, &self.address));
        }
    }

    /// The lock of its settings, for a change that stays.
    ///
    /// # Errors
    /// When a run changes them just now, or an interrupted one has left them changed.
    pub(crate) fn claim(&self) -> anyhow::Result<Claim> {
        let claim = self.journals()?.claim(&self.settings.identity())?;
        claim.refuse_interrupted(&self.address)?;
        if let Some(found) = self.journal() {
            bail!("{}", told(&found, &self.address));
        }
        Ok(claim)
    }
}

/// What a journal that is there means.
pub(crate) fn told(found: &Found, device: &str) -> String {
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
pub(crate) fn warn_of_all(printer: &mut Printer) {
    // A folder that cannot be read is another user's: whoever may read it is warned.
    let found = places().into_iter().flat_map(|journals| journals.all().unwrap_or_default());
    for found in found.filter(|found| !found.held) {
        let device = found.journal.as_ref().map_or("", |journal| journal.device.as_str());
        printer.warning(&told(&found, device));
    }
}
