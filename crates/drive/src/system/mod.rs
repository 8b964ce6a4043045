//! Targets: a complete way to reach a drive, chosen as one by its address.
//!
//! # Architecture
//! - [`Address`]: what the user typed.
//! - [`Target`]: what is there - identity, size, how I/O goes to it - looked at and not touched.
//! - [`Target::prepare`]: what a plan needs - a file made, extended or filled - and [`Access`], from which each
//!   thread of the load makes its own path.
//!
//! # What it does not do
//! It opens no block device for writing unless its data was given away and the guard ([`crate::guard`]) lets it pass.
//! Twins are not made here: the command line has them. What may and may not be done to a file or a device stands in
//! `docs/SAFETY.md`.

mod access;
pub mod address;
mod device;
mod error;
mod fabric;
mod file;
mod identity;
mod kind;
mod layout;
mod needs;
mod settings;

pub use access::{Access, Path};
pub use address::{Address, AddressError, AddressKind, FileAddress};
pub use error::TargetError;
pub use identity::Simulated;
pub use kind::DriveKind;
pub use layout::Progress;
use settings::Way;
pub use settings::{FOREIGN_SETTINGS, PreparedSettings};

use std::fs::File;
use std::sync::Arc;

use measure::Bytes;
use measure::record::DriveFacts;
use nvme::host::Controller;
use nvme::log::LogId;
use nvme::smart::SMART_LOG_LEN;

use crate::guard::Permission;
use crate::io::probe_ring;
use crate::telemetry::smart::SmartSampler;
use crate::telemetry::smartctl::{Smartctl, SmartctlSampler};
use crate::telemetry::{self, Sampler, discover};
use device::DeviceTarget;
use fabric::FabricTarget;
use file::FileTarget;
use needs::{Needs, fits_block};
use plan::check::TargetFacts;
use plan::{Plan, TelemetryPlan};

/// A way to reach a drive: its I/O, its readings and who it is.
pub struct Target {
    address: Address,
    kind: Kind,
    drive: DriveFacts,
    /// The way to the SMART log, or why there is none; `None` for what is no drive.
    simulated: Option<Simulated>,
    controller: Option<Result<Controller<'static>, String>>,
    samplers: Vec<Box<dyn Sampler>>,
}

enum Kind {
    Fabric(Box<FabricTarget>),
    File(FileTarget),
    Device(DeviceTarget),
    Null,
}

/// A target that is ready for a plan.
#[derive(Debug)]
pub struct Prepared {
    /// Makes the paths of the load.
    pub access: Access,
    /// What was done for it, and what a reader of the numbers has to know.
    pub notes: Vec<String>,
    /// The way to the drive's settings, where there is one.
    pub settings: Option<PreparedSettings>,
}

impl Target {
    /// Looks at what `address` names, and touches nothing.
    ///
    /// # Errors
    /// When it is not there, or not what the address says. A twin's address is refused: it is not reached through
    /// the system.
    pub fn look(address: &Address) -> Result<Self, TargetError> {
        // Once: load, readings and settings must not meet different drives when a link moves.
        let address = &address.followed();
        let (kind, mut drive) = match address.kind() {
            AddressKind::Twin { .. } => {
                return Err(TargetError::WrongKind {
                    path: address.to_string().into(),
                    what: "a twin",
                    advice: "it has no device; run it in simulated time".to_owned(),
                });
            }
            AddressKind::Fabric(address) => {
                let target = FabricTarget::look(address)?;
                let drive = target.drive();
                (Kind::Fabric(Box::new(target)), drive)
            }
            AddressKind::File(file) => {
                let target = FileTarget::look(file)?;
                let drive = drive_facts("file", target.size, target.block_bytes);
                (Kind::File(target), drive)
            }
            AddressKind::Device { path } => {
                let target = DeviceTarget::look(path)?;
                let drive = drive_facts(device::kind(path), target.size, target.block_bytes);
                (Kind::Device(target), drive)
            }
            AddressKind::Null { size } => (Kind::Null, drive_facts("null", *size, access::NULL_BLOCK_BYTES)),
        };
        let mut simulated = match &kind {
            Kind::Fabric(fabric) => fabric.simulated(),
            _ => None,
        };
        let controller = place(address).map(|place| identity::identify(&mut drive, &mut simulated, place));
        Ok(Self { address: address.clone(), kind, drive, simulated, controller, samplers: Vec::new() })
    }

    /// Where all that is measured on it is simulated, because a virtual SSD of ours is there, reached by our own
    /// initiator or by the kernel's. The run is made and recorded in the host's time.
    pub const fn simulated(&self) -> Option<&Simulated> {
        self.simulated.as_ref()
    }

    /// The address it was found at.
    pub const fn address(&self) -> &Address {
        &self.address
    }

    /// Who and how large it is.
    pub const fn drive(&self) -> &DriveFacts {
        &self.drive
    }

    /// The same, to fill in what other sources know.
    pub const fn drive_mut(&mut self) -> &mut DriveFacts {
        &mut self.drive
    }

    /// What a plan's check has to know about it.
    pub fn facts(&self) -> TargetFacts {
        let (read_only, direct, trim) = match &self.kind {
            Kind::Null => (None, true, true),
            Kind::Fabric(fabric) => (fabric.read_only().map(str::to_owned), true, fabric.trims()),
            Kind::File(file) => (file.read_only(), file.direct, true),
            Kind::Device(device) => (device.read_only(), true, device.trim),
        };
        TargetFacts {
            address: self.address.to_string(),
            size: Bytes::new(self.drive.size_bytes),
            block_bytes: self.drive.block_bytes,
            read_only,
            direct,
            trim,
            slc: self.drive.slc_bytes.map(Bytes::new),
        }
    }

    /// Takes the user's word that what is on the block device may be destroyed. It is examined now, for reading only,
    /// and again when [`Self::prepare`] opens it.
    ///
    /// # Errors
    /// All that speaks against it; or it is no block device.
    pub fn give(&mut self, permission: Permission) -> Result<(), TargetError> {
        let Kind::Device(device) = &mut self.kind else {
            return Err(TargetError::NoDevice { address: self.address.to_string() });
        };
        let shared = match (&mut self.controller, device.namespace_id()) {
            (Some(Ok(controller)), Some(nsid)) => {
                controller.identify_namespace(nsid).ok().map(|namespace| namespace.sharing & SHARED != 0)
            }
            _ => None,
        };
        device.give(permission, shared)
    }

    /// Sources of readings that the caller adds to those that are found.
    pub const fn samplers(&mut self) -> &mut Vec<Box<dyn Sampler>> {
        &mut self.samplers
    }

    /// All sources of readings, to be read as `plan` says, and what there is not, and why.
    pub fn sources(&mut self, plan: &TelemetryPlan) -> (Vec<Box<dyn Sampler>>, Vec<String>) {
        let mut samplers = std::mem::take(&mut self.samplers);
        if let Kind::Fabric(fabric) = &self.kind {
            samplers.push(smart_sampler(plan, Controller::new(fabric.controller.clone())));
        }
        let Some(place) = place(&self.address) else {
            samplers.extend(plan.power.as_ref().and_then(telemetry::power::sampler));
            return (samplers, Vec::new());
        };
        let mut found = telemetry::discover(place, std::path::Path::new(discover::SYSFS), plan);
        let mut notes = std::mem::take(&mut found.notes);
        match self.controller.take() {
            Some(Ok(controller)) => samplers.push(smart_sampler(plan, controller)),
            Some(Err(why)) if found.disk.is_some() => {
                notes.push(format!("no SMART log: {why}"));
                samplers.extend(smartctl_sampler(&found, plan, &mut notes));
            }
            // Without a disk, its absence is noted already.
            _ => {}
        }
        samplers.extend(found.samplers);
        (samplers, notes)
    }

    /// Makes it ready for `plan`: opens it, and makes, extends or fills a file as far as its rules allow.
    ///
    /// # Errors
    /// When the plan would do what may not be done, or the system refuses. Nothing was done then, or it was
    /// taken back as far as that goes.
    pub fn prepare(&self, plan: &Plan, progress: &mut Progress<'_>) -> Result<Prepared, TargetError> {
        let way = match &self.kind {
            Kind::Fabric(fabric) => Way::Fabric(fabric.controller.clone(), fabric.nsid()),
            _ => Way::System(place(&self.address)),
        };
        let settings = settings::prepare(&self.address, way, &self.drive, plan)?;
        let slc = self.drive.slc_bytes.map(Bytes::new);
        let needs = Needs::of(plan, Bytes::new(self.drive.size_bytes), slc)?;
        if !matches!(self.kind, Kind::Null | Kind::Fabric(_)) {
            probe_ring()?;
        }
        match &self.kind {
            Kind::Null => Ok(Prepared { access: Access::null(), notes: Vec::new(), settings }),
            Kind::Fabric(fabric) => {
                let access = fabric.open(&needs, &self.address.to_string())?;
                Ok(Prepared { access, notes: Vec::new(), settings })
            }
            Kind::Device(device) => {
                let opened = device.open(&needs)?;
                let files = Access::files(opened.direct.map(Arc::new), opened.buffered.map(Arc::new));
                let access = files.holding(opened.held);
                Ok(Prepared { access, notes: opened.notes, settings })
            }
            Kind::File(file) => {
                let (access, notes) = prepare_file(file, plan, &needs, progress)?;
                Ok(Prepared { access, notes, settings })
            }
        }
    }
}

/// The SMART log of `controller` as a source of readings.
fn smart_sampler(plan: &TelemetryPlan, mut controller: Controller<'static>) -> Box<dyn Sampler> {
    Box::new(SmartSampler::new(plan.smart_period, move || {
        let mut page = [0; SMART_LOG_LEN];
        controller.log_page(LogId::SMART, &mut page).map(|()| page).map_err(|error| error.to_string())
    }))
}

/// Where the kernel reads no temperature of a SATA or USB drive, smartctl may; the record says by which way.
fn smartctl_sampler(
    found: &discover::Found,
    plan: &TelemetryPlan,
    notes: &mut Vec<String>,
) -> Option<Box<dyn Sampler>> {
    let disk = found.disk.as_deref().filter(|disk| disk.starts_with("sd"))?;
    if found.samplers.iter().any(|sampler| sampler.source() == "hwmon") {
        return None;
    }
    let asked = Smartctl::new(&format!("/dev/{disk}"), std::path::Path::new(discover::SYSFS))
        .and_then(|mut smartctl| smartctl.ask(&["-A"]).map(|report| (smartctl, report)));
    match asked {
        Ok((smartctl, report)) if report.temperature.is_some() => {
            let way = smartctl.device_type().unwrap_or("auto");
            notes.push(format!("the temperature of {disk} is read by smartctl -d {way}"));
            Some(Box::new(SmartctlSampler::new(smartctl, plan.smart_period)))
        }
        Ok(_) => {
            notes.push(format!("{disk} tells smartctl no plausible temperature"));
            None
        }
        Err(why) => {
            notes.push(why);
            None
        }
    }
}

fn prepare_file(
    target: &FileTarget,
    plan: &Plan,
    needs: &Needs,
    progress: &mut Progress<'_>,
) -> Result<(Access, Vec<String>), TargetError> {
    let opened = target.open(needs)?;
    let mut notes: Vec<String> = opened.note.into_iter().collect();
    let direct = needs.direct.then(|| target.open_direct(&opened.file, needs.changes())).transpose()?;
    check_blocks(target, plan)?;
    if let Some(note) = fill_holes(target, &opened.file, opened.ours, plan, needs, progress)? {
        notes.push(note);
    }
    // The file opened first holds the lock, so it stays open whoever uses it.
    let access = Access::files(direct.map(Arc::new), Some(Arc::new(opened.file)));
    Ok((access, notes))
}

/// A new file shows only now what its file system asks of direct I/O.
fn check_blocks(target: &FileTarget, plan: &Plan) -> Result<(), TargetError> {
    let told = file::direct_block_bytes(&target.path).filter(|block| *block > 0);
    let block_bytes = told.unwrap_or(target.block_bytes);
    let mut loads = plan.phases.iter().flat_map(|phase| &phase.loads);
    match loads.find(|load| load.direct && !fits_block(load, block_bytes)) {
        Some(load) => {
            Err(TargetError::Block { path: target.path.clone(), load: load.name.clone(), block_bytes })
        }
        None => Ok(()),
    }
}

/// Fills what the plan reads and was never written; says what it did, or why it could not.
fn fill_holes(
    target: &FileTarget,
    file: &File,
    ours: bool,
    plan: &Plan,
    needs: &Needs,
    progress: &mut Progress<'_>,
) -> Result<Option<String>, TargetError> {
    let holes = layout::holes(target, file, &needs.reads)?;
    let bytes = Bytes::new(layout::length(&holes));
    if bytes == Bytes::ZERO {
        return Ok(None);
    }
    let path = target.path.display();
    if !ours {
        return Ok(Some(format!(
            "{bytes} of what is read of {path} were never written: the file system answers there, not the drive. \
             heatsoak fills only files that it has made"
        )));
    }
    layout::fill(target, file, &holes, plan.seed.part(SEED_OF_FILL), progress)?;
    Ok(Some(format!("{bytes} of {path} that were never written were filled before the run")))
}

/// Where telemetry looks for the drive of an address; `None` where there is none.
fn place(address: &Address) -> Option<discover::Place<'_>> {
    match address.kind() {
        AddressKind::File(file) => Some(discover::Place::File(&file.path)),
        AddressKind::Device { path } => path.to_str().map(discover::Place::Device),
        AddressKind::Twin { .. } | AddressKind::Fabric(_) | AddressKind::Null { .. } => None,
    }
}

/// NMIC bit 0: the namespace may be attached to several controllers (NVM Command Set 1.0, figure 97).
const SHARED: u8 = 1;

/// Which part of the plan's seed fills files; loads use parts counted from 0.
const SEED_OF_FILL: u64 = u64::MAX;

/// The size, and nothing else known.
pub fn drive_facts(kind: &str, size: Bytes, block_bytes: u32) -> DriveFacts {
    DriveFacts {
        kind: kind.to_owned(),
        model: None,
        serial: None,
        firmware: None,
        size_bytes: size.as_u64(),
        block_bytes,
        warning_k: None,
        critical_k: None,
        tmt_min_k: None,
        tmt_max_k: None,
        hctm: None,
        slc_bytes: None,
    }
}
