//! A drive whose settings and facts are wanted, by whatever address: one type for real and simulated ones.

use std::path::Path;

use anyhow::{Context as _, bail};
use drive::settings::DriveSettings;
use drive::settings::journal::{Claim, Found, Journals, places};
use drive::settings::linux::Controller;
use drive::system::{Address, AddressKind, FOREIGN_SETTINGS as FOREIGN};
use drive::telemetry::discover::SYSFS;
use measure::Seed;
use nvme::host::tcp::{TcpController, TcpOptions};
use serde::Serialize;

use crate::printer::Printer;
use crate::targets::twin::TwinTarget;

/// A drive that was reached.
pub(crate) struct Reached {
    /// Its settings.
    pub(crate) settings: DriveSettings<'static>,
    /// The address to type for it.
    pub(crate) address: String,
    way: Way,
    journals: Vec<Journals>,
}

/// How a drive is reached, which is how long its settings last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A twin in this process.
    Twin,
    /// Through the kernel.
    Kernel,
    /// By our own initiator, whose connection is the controller's life (NVMe over Fabrics, dynamic controllers).
    Fabric,
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
            let settings = DriveSettings::open(target)?;
            let journals = vec![Journals::in_memory()];
            let (address, way) = (typed.to_owned(), Way::Twin);
            Ok(Reached { settings, address, way, journals })
        }
        AddressKind::Fabric(address) => {
            let transport = TcpController::connect(address, &TcpOptions::default())?;
            let settings = DriveSettings::open(transport)?;
            let (address, way) = (typed.to_owned(), Way::Fabric);
            Ok(Reached { settings, address, way, journals: places() })
        }
        AddressKind::Device { path } => of_controller(Controller::of(path, Path::new(SYSFS))?),
        _ => bail!(
            "cannot read or change the settings of {typed}: settings belong to a drive; name its device, such as \
             /dev/nvme0, a simulated one, such as twin:ssd1, or a virtual SSD, nvme-tcp://HOST:PORT/NQN"
        ),
    }
}

/// The drive of a controller.
///
/// # Errors
/// When it cannot be opened, or does not tell who it is.
pub(crate) fn of_controller(controller: Controller) -> anyhow::Result<Reached> {
    let device = controller.device.display().to_string();
    let settings = controller.settings()?;
    Ok(Reached { settings, address: device, way: Way::Kernel, journals: places() })
}

impl Reached {
    /// Whether it is a simulated drive: a twin, or a virtual SSD by whatever way.
    pub(crate) fn is_simulated(&self) -> bool {
        self.way == Way::Twin || self.settings.identify().simulation.is_some()
    }

    /// How long a change of its settings lasts.
    pub(crate) const fn lasts(&self, saved: bool) -> &'static str {
        match (self.way, saved) {
            (Way::Twin, _) => "in a simulated drive, which is gone with this command",
            (_, true) => "saved: it outlives power cycles",
            (Way::Kernel, false) => "until the next power cycle or reset of the drive",
            (Way::Fabric, false) => {
                "until this command's connection to the drive ends, which is now; --save keeps it"
            }
        }
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

    /// Every place in which there may be a journal for it.
    pub(crate) fn all_journals(&self) -> &[Journals] {
        &self.journals
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
    /// When a run changes them just now, or an interrupted one has left them changed; or when the drive may be in
    /// somebody's use whom nobody here can see.
    pub(crate) fn claim(&self) -> anyhow::Result<Claim> {
        if self.way == Way::Fabric && !self.is_simulated() {
            bail!("will not change the settings of {}: {FOREIGN}", self.address);
        }
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
