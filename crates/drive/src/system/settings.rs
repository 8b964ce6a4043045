//! Whether a plan's settings can be made on a drive, found out before anything is changed.

use std::path::Path;

use measure::record::{DriveFacts, ThermalSettings};
use nvme::host::tcp::TcpController;

use crate::address::Address;
use crate::drive::PreparedSettings;
use crate::error::DriveError;
use crate::guard;
use crate::settings::journal::{FoundJournal, JournalError, JournalIdentity, Journals, places};
use crate::settings::linux::SysfsController;
use crate::settings::{DriveSettings, SettingsError};
use crate::telemetry::discover::{self, Place, SYSFS};
use plan::Plan;

/// Why the settings of a subsystem on a network stay as they are, unless it is a virtual SSD.
pub const FOREIGN_SETTINGS: &str = "a subsystem on a network may be in somebody's use whom nobody here can see, and \
    only a virtual SSD of heatsoak is known not to be. Let the kernel connect it (nvme connect), and name its device";

/// How the drive is reached.
pub(super) enum SettingsRoute<'a> {
    /// Through the kernel.
    System(Place<'a>),
    /// Through our own initiator, to this namespace.
    Fabric(TcpController, u32),
}

impl SettingsRoute<'_> {
    /// The namespace at the end of it.
    fn nsid(&self) -> Option<u32> {
        match self {
            Self::System(place) => {
                let disk = discover::disk(*place, Path::new(SYSFS)).ok()?;
                guard::namespace_id(&disk, &guard::Roots::system())
            }
            Self::Fabric(_, nsid) => Some(*nsid),
        }
    }
}

/// The way to the settings of a drive; `None` where there is none and the plan wants none.
pub(super) fn prepare(
    address: &Address,
    route: SettingsRoute<'_>,
    drive: &DriveFacts,
    plan: &Plan,
) -> Result<Option<PreparedSettings>, DriveError> {
    let wants = plan.settings != ThermalSettings::default();
    let refused = |why: String| DriveError::Settings { address: address.to_string(), why };
    let nsid = route.nsid();
    let by_network = matches!(route, SettingsRoute::Fabric(..));
    let opened = match route {
        SettingsRoute::System(place) => SysfsController::under(place, Path::new(SYSFS))
            .map_err(|error| error.to_string())
            .and_then(|controller| controller.settings().map_err(|error| error.to_string())),
        SettingsRoute::Fabric(controller, _) => {
            DriveSettings::open(controller).map_err(|error| error.to_string())
        }
    };
    let mut settings = match opened {
        Ok(settings) => settings,
        Err(why) => {
            refuse_under_journal(&places(), |identity| is_likely(identity, drive), &address.to_string())?;
            return if wants { Err(refused(why)) } else { Ok(None) };
        }
    };
    if by_network && wants && settings.identify().simulation.is_none() {
        return Err(refused(FOREIGN_SETTINGS.to_owned()));
    }
    let identity = settings.identity();
    refuse_under_journal(&places(), |other| *other == identity, settings.name())?;
    check(&mut settings, plan).map_err(|error| refused(error.to_string()))?;
    let journals = places().into_iter().next();
    let journals = journals.ok_or_else(|| refused("there is no folder for their journal".to_owned()))?;
    Ok(Some(PreparedSettings { drive: settings, nsid, journals }))
}

/// Refuses a plan with settings where there is no drive that has any.
pub(super) fn refuse_settings(address: &Address, plan: &Plan) -> Result<(), DriveError> {
    if plan.settings == ThermalSettings::default() {
        return Ok(());
    }
    let why = "there is no drive behind it that has any".to_owned();
    Err(DriveError::Settings { address: address.to_string(), why })
}

/// Whether the drive will take the plan's settings, as far as it says so itself.
fn check(drive: &mut DriveSettings<'static>, plan: &Plan) -> Result<(), SettingsError> {
    drive.changes(&plan.settings)?.iter().try_for_each(|change| drive.check(change))
}

/// A drive that does not let us ask is known by model and serial alone.
fn is_likely(identity: &JournalIdentity, drive: &DriveFacts) -> bool {
    drive.model.as_ref() == Some(&identity.model) && drive.serial.as_ref() == Some(&identity.serial)
}

/// Refuses a drive whose settings another run changes just now, or has left changed.
fn refuse_under_journal(
    places: &[Journals],
    is_it: impl Fn(&JournalIdentity) -> bool,
    device: &str,
) -> Result<(), JournalError> {
    // A folder that cannot be read is root's, and root's runs read it.
    let found = places.iter().flat_map(|journals| journals.all().unwrap_or_default());
    for FoundJournal { held, journal, .. } in found {
        let Ok(journal) = journal else { continue };
        if is_it(&journal.drive) {
            let drive = journal.drive.to_string();
            return Err(if held { JournalError::InUse { drive } } else { journal.interrupted(device) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::settings::journal::Journal;

    #[test]
    fn a_drive_under_a_journal_is_refused_and_others_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let journals = Journals::in_folder(folder.path());
        let identity = |serial: &str| JournalIdentity {
            model: "M".to_owned(),
            serial: serial.to_owned(),
            subsystem_nqn: None,
        };
        let claim = journals.claim(&identity("S1")).expect("free");
        claim.write(&Journal::new(identity("S1"), "/dev/nvme7", "run quick", 0)).expect("written");
        let refused = |serial: &str| {
            let wanted = identity(serial);
            refuse_under_journal(std::slice::from_ref(&journals), |other| *other == wanted, "/dev/nvme0n1")
        };
        assert!(matches!(refused("S1"), Err(JournalError::InUse { .. })));
        assert!(refused("S2").is_ok());
        drop(claim);
        let error = refused("S1").expect_err("left by a killed run").to_string();
        assert!(error.contains("heatsoak restore /dev/nvme0n1"), "{error}");
    }
}
