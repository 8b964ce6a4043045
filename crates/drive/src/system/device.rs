//! A block device as a drive: opened for reading only, unless its data was given away and the guard lets it pass.
//!
//! What speaks against writing is found and decided in [`crate::guard`]. The character device of an NVMe controller leads
//! to the same settings, and is not loaded.

use std::fs::File;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use measure::record::LinkFacts;
use measure::{Bytes, patient};
use plan::check::TargetFacts;
use plan::{Plan, TelemetryPlan};
use rustix::fs::{OFlags, SeekFrom};

use super::disk::{self, SmartLogAccess};
use super::facts::{VirtualSsd, identify};
use super::needs::Needs;
use super::settings::{self, SettingsRoute};
use super::{DriveKind, limits, unknown_drive};
use crate::DriveIdentity;
use crate::address::Address;
use crate::drive::{Drive, DriveIo, Examination, FillProgress, Prepared, SettingsLast, Stated, WatchSources};
use crate::error::DriveError;
use crate::guard::{self, Claim, Examined, NO_SERIAL, Permission, Roots};
use crate::io::{Access, probe_ring};
use crate::link;
use crate::settings::DriveSettings;
use crate::settings::linux::SysfsController;
use crate::telemetry::discover::{Place, SYSFS};

/// NMIC bit 0: the namespace may be attached to several controllers (NVM Command Set 1.0, figure 97).
const SHARED: u8 = 1;

/// A device below `/dev`.
pub struct DeviceDrive {
    address: Address,
    /// Links followed once: load, readings and settings must not meet different drives when one moves.
    path: PathBuf,
    stated: Stated,
    examined: Option<ExaminedDevice>,
}

/// What looking at it has shown.
struct ExaminedDevice {
    device: GuardedDevice,
    examination: Examination,
    smart_log: Option<SmartLogAccess>,
}

impl DeviceDrive {
    /// The device at `path`.
    pub fn new(address: &Address, path: &Path, stated: Stated) -> Self {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self { address: address.clone(), path, stated, examined: None }
    }

    fn place(&self) -> Result<Place<'_>, DriveError> {
        self.path.to_str().map(Place::Device).ok_or_else(|| DriveError::WrongKind {
            path: self.path.clone(),
            what: "a name that is not UTF-8",
            advice: "name the device as the kernel does, such as /dev/nvme0n1".to_owned(),
        })
    }

    fn look(&self) -> Result<ExaminedDevice, DriveError> {
        let mut device = GuardedDevice::look(&self.path)?;
        let mut facts = unknown_drive(device.attached_by(), device.size, device.block_bytes);
        let mut virtual_ssd = None;
        let mut smart_log = identify(&mut facts, &mut virtual_ssd, self.place()?);
        facts.slc_bytes = self.stated.slc.map(Bytes::as_u64).or(facts.slc_bytes);
        if let Some(permission) = &self.stated.destroy {
            let shared = match (&mut smart_log, device.namespace_id()) {
                (Ok(controller), Some(nsid)) => {
                    controller.identify_namespace(nsid).ok().map(|namespace| namespace.sharing & SHARED != 0)
                }
                _ => None,
            };
            device.give(permission.clone(), shared)?;
        }
        let limits =
            TargetFacts { read_only: device.read_only(), trim: device.trim, ..limits(&self.address, &facts) };
        let origin = VirtualSsd::origin(virtual_ssd);
        let examination =
            Examination { facts, origin, limits, worn_by_writes: true, buffers_io: true, switched_on: false };
        Ok(ExaminedDevice { device, examination, smart_log: Some(smart_log) })
    }
}

impl Drive for DeviceDrive {
    fn address(&self) -> &Address {
        &self.address
    }

    fn disk(&self) -> Option<String> {
        if std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.file_type().is_char_device()) {
            // A controller has no block device of its own; the first namespace stands for its link and queues.
            return self.controller()?.namespaces.first().cloned();
        }
        disk::name(self.place().ok()?)
    }

    fn controller(&self) -> Option<SysfsController> {
        SysfsController::find(&self.path, Path::new(SYSFS)).ok()
    }

    fn link(&self) -> Option<LinkFacts> {
        link::of_disk(Path::new(SYSFS), &self.disk()?)
    }

    fn examine(&mut self) -> Result<Examination, DriveError> {
        let examined = self.look()?;
        Ok(self.examined.insert(examined).examination.clone())
    }

    fn settings_last(&self) -> Option<SettingsLast> {
        Some(SettingsLast::PowerCycle)
    }

    fn settings(&mut self) -> Result<DriveSettings<'static>, DriveError> {
        let controller = SysfsController::find(&self.path, Path::new(SYSFS))?;
        Ok(controller.settings()?)
    }

    fn prepare(&mut self, plan: &Plan, _: &mut FillProgress<'_>) -> Result<Prepared, DriveError> {
        let ExaminedDevice { device, examination, smart_log } = match self.examined.take() {
            Some(examined) => examined,
            None => self.look()?,
        };
        let route = SettingsRoute::System(self.place()?);
        let settings = settings::prepare(&self.address, route, &examination.facts, plan)?;
        let needs = Needs::new(plan, device.size, examination.limits.slc)?;
        probe_ring()?;
        let OpenDevice { direct, buffered, held, mut notes } = device.open(&needs)?;
        let access = Access::files(direct.map(Arc::new), buffered.map(Arc::new)).holding(held);
        let (samplers, missing) = disk::sources(self.place()?, smart_log, &plan.telemetry);
        notes.extend(missing);
        Ok(Prepared { io: DriveIo::RealTime { access, samplers }, settings, notes })
    }

    fn watch(&mut self, periods: &TelemetryPlan) -> Result<WatchSources, DriveError> {
        let disk = self.disk().ok_or_else(|| DriveError::WrongKind {
            path: self.path.clone(),
            what: "no drive of this system",
            advice: "`heatsoak list` shows the drives there are".to_owned(),
        })?;
        let settings = self.settings().map(|mut settings| settings.thermal()).unwrap_or_default();
        Ok(disk::watch(Place::Device(&disk), settings, periods))
    }

    fn again(&self) -> Box<dyn Drive> {
        Box::new(Self::new(&self.address, &self.path, self.stated.clone()))
    }
}

/// The kernel's name of the device at `path`, links followed.
fn kernel_name(path: &Path) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A block device, looked at.
#[derive(Debug)]
struct GuardedDevice {
    path: PathBuf,
    size: Bytes,
    block_bytes: u32,
    /// Whether it takes trims.
    trim: bool,
    /// Who it is, as the guard will compare it; `None` where sysfs does not know it.
    identity: Option<DriveIdentity>,
    given: Option<Box<Given>>,
}

/// A device whose data was given away.
#[derive(Debug)]
struct Given {
    permission: Permission,
    examined: Examined,
}

/// The files of a device that is ready for load.
#[derive(Debug)]
struct OpenDevice {
    /// Past the page cache.
    direct: Option<File>,
    /// Through it; for a plan that writes, this is what keeps others away.
    buffered: Option<File>,
    /// What else must stay open so that others are kept away.
    held: Vec<File>,
    notes: Vec<String>,
}

impl GuardedDevice {
    /// Looks at the device.
    fn look(path: &Path) -> Result<Self, DriveError> {
        let io = |what| move |source| DriveError::Io { what, path: path.to_owned(), source };
        let kind = std::fs::metadata(path).map_err(io("look at"))?.file_type();
        if !kind.is_block_device() {
            return Err(wrong_kind(path, kind.is_char_device()));
        }
        let file = open(path, OFlags::empty())?;
        let size = rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|errno| io("measure")(errno.into()))?;
        let block_bytes = rustix::fs::ioctl_blksszget(&file)
            .map_err(|errno| io("ask for the block size of")(errno.into()))?;
        let (name, roots) = (kernel_name(path), Roots::system());
        Ok(Self {
            path: path.to_owned(),
            size: Bytes::new(size),
            block_bytes,
            trim: guard::takes_trims(&name, &roots),
            identity: DriveIdentity::read(&roots.sys, &name),
            given: None,
        })
    }

    /// What it is attached by.
    fn attached_by(&self) -> &'static str {
        self.identity.as_ref().map_or(DriveKind::Other, |identity| identity.kind).name()
    }

    /// Which namespace of its controller it is, for an NVMe drive.
    fn namespace_id(&self) -> Option<u32> {
        guard::namespace_id(&kernel_name(&self.path), &Roots::system())
    }

    /// Takes the user's word that what is on it may be destroyed, if nothing else speaks against that.
    fn give(&mut self, permission: Permission, shared: Option<bool>) -> Result<(), DriveError> {
        let examined = guard::examine(&self.path, &Roots::system(), shared)?;
        examined.decide(&permission)?;
        self.given = Some(Box::new(Given { permission, examined }));
        Ok(())
    }

    /// Why it must not be written to; `None` once its data was given away.
    fn read_only(&self) -> Option<String> {
        if self.given.is_some() {
            return None;
        }
        let (serial, known) = match self.identity.as_ref().and_then(|identity| identity.serial.as_deref()) {
            Some(serial) => (serial, "its serial number"),
            None => (NO_SERIAL, "it tells no serial number"),
        };
        let serial =
            if serial.contains(char::is_whitespace) { format!("'{serial}'") } else { serial.to_owned() };
        Some(format!(
            "nobody has said that its data may be destroyed. If all that is on it may be: --destroy {serial} ({known}). \
             To keep it, use a plan that reads, or a file on it: file:PATH?size=4GiB"
        ))
    }

    /// Opens it for a plan: for reading only if that is all it does, else claimed by the guard.
    fn open(&self, needs: &Needs) -> Result<OpenDevice, DriveError> {
        if !needs.changes() {
            let direct = needs.direct.then(|| open(&self.path, OFlags::DIRECT)).transpose()?;
            let buffered = needs.buffered.then(|| open(&self.path, OFlags::empty())).transpose()?;
            return Ok(OpenDevice { direct, buffered, held: Vec::new(), notes: Vec::new() });
        }
        let Some(Given { permission, examined }) = self.given.as_deref() else {
            let what = if needs.writes { "write to" } else { "trim" };
            let why = self.read_only().unwrap_or_default();
            return Err(DriveError::ReadOnly { path: self.path.clone(), what, why });
        };
        let roots = Roots::system();
        let claim = guard::claim(examined, permission, &roots)?;
        let direct = needs.direct.then(|| claim.open_direct(&roots)).transpose()?;
        let Claim { file, others, examined } = claim;
        let mut notes = examined.notes.clone();
        notes.push(format!(
            "what was on {} ({}) was given away with --destroy {}",
            self.path.display(),
            examined.identity,
            permission.destroy
        ));
        notes.extend(examined.passed_over().map(|text| format!("written to all the same: {text}")));
        Ok(OpenDevice { direct, buffered: Some(file), held: others, notes })
    }
}

fn open(path: &Path, flags: OFlags) -> Result<File, DriveError> {
    patient::open_with(path, OFlags::RDONLY | flags).map_err(|source| DriveError::Io {
        what: "open",
        path: path.to_owned(),
        source,
    })
}

fn wrong_kind(path: &Path, character: bool) -> DriveError {
    let (what, advice) = if character {
        (
            "a character device",
            "an NVMe controller is loaded through a namespace: /dev/nvme0n1 for /dev/nvme0".to_owned(),
        )
    } else {
        ("not a block device", format!("a file is written file:{}", path.display()))
    };
    DriveError::WrongKind { path: path.to_owned(), what, advice }
}
