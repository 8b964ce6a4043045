//! `heatsoak inspect`: everything about one drive that matters for heat, power and speed.
//!
//! It asks and changes nothing. What a drive does not tell is `null`, and a part that could not be had is there
//! with the reason: a drive that answers little is still shown as far as the kernel knows it.

mod limits;
mod nvme_part;
mod platform;
mod scsi_part;
mod text;

use std::path::Path;

use drive::settings::linux::Controller;
use drive::system::{Address, AddressKind};
use drive::telemetry::discover::{self, Place};
use measure::record::LinkFacts;
use serde::Serialize;

use crate::Outcome;
use crate::args::InspectArgs;
use crate::block_devices::{self, BlockDevice, Roots};
use crate::printer::Printer;
use crate::reach::{self, Reached, reach};
use crate::targets::twin::TwinTarget;
use crate::{host, link};
use nvme_part::NvmePart;
use platform::Platform;
use scsi_part::ScsiPart;

/// The JSON of `heatsoak inspect --json`.
#[derive(Debug, Serialize)]
pub(super) struct Inspection {
    address: String,
    simulated: bool,
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    /// The block device; `null` for a simulated drive and a controller without namespaces.
    block_device: Option<BlockDevice>,
    /// What an NVMe drive says about itself; `null` for others.
    nvme: Option<NvmePart>,
    /// Why an NVMe drive could not be asked.
    nvme_error: Option<String>,
    /// What a SATA, USB or SCSI drive says about itself; `null` for others.
    scsi: Option<ScsiPart>,
    link: Option<LinkFacts>,
    /// `null` for a simulated drive, which depends on none.
    platform: Option<Platform>,
    kernel: Option<String>,
    /// What will limit a test, in sentences.
    limits: Vec<String>,
}

/// Inspects.
pub(crate) fn execute(args: &InspectArgs, printer: &mut Printer) -> anyhow::Result<Outcome> {
    let inspection = match Address::parse(&args.drive)?.kind() {
        AddressKind::Twin { profile } => of_twin(&args.drive, profile)?,
        AddressKind::Device { path } => of_device(&args.drive, path, printer)?,
        AddressKind::Fabric(_) => of_fabric(&args.drive, printer)?,
        _ => anyhow::bail!(
            "cannot inspect {}: name a drive by its device, such as /dev/nvme0n1, a simulated one, such as \
             twin:ssd1, or a virtual SSD, nvme-tcp://HOST:PORT/NQN; `heatsoak list` shows those of this machine",
            args.drive
        ),
    };
    if args.json {
        printer.json(&inspection)?;
    } else {
        printer.data(&text::for_people(&inspection))?;
    }
    Ok(Outcome::Done)
}

fn of_twin(typed: &str, profile: &str) -> anyhow::Result<Inspection> {
    let link = TwinTarget::open(profile, measure::Seed::new(0))?.link();
    let mut reached = reach(typed)?;
    let nvme = NvmePart::of(&mut reached.settings, None)?;
    Ok(finished(Inspection { simulated: true, link: Some(link), ..empty(typed) }, Some(nvme)))
}

fn of_fabric(typed: &str, printer: &mut Printer) -> anyhow::Result<Inspection> {
    let mut reached = reach(typed)?;
    reached.warn_of_journal(printer);
    let nvme = NvmePart::of(&mut reached.settings, None)?;
    Ok(finished(Inspection { kernel: Some(host::facts().kernel), ..empty(typed) }, Some(nvme)))
}

fn of_device(typed: &str, path: &Path, printer: &mut Printer) -> anyhow::Result<Inspection> {
    let roots = Roots::system();
    let controller = Controller::of(path, &roots.sys);
    let disk = match &controller {
        // A controller has no block device of its own; the first namespace stands for its link and queues.
        Ok(controller) if is_character_device(path) => controller.namespaces.first().cloned(),
        Ok(_) => discover::disk(Place::Device(typed), &roots.sys).ok(),
        Err(drive::settings::linux::ReachError::NotNvme { disk, .. }) => Some(disk.clone()),
        Err(error) => anyhow::bail!("{error}"),
    };
    let mut inspection = empty(typed);
    inspection.kernel = Some(host::facts().kernel);
    if let Some(disk) = &disk {
        inspection.block_device = block_devices::one(&roots, disk);
        inspection.link = link::of_disk(&roots.sys, disk);
        inspection.platform = Some(Platform::of(&roots.sys, disk));
        (inspection.serial, inspection.firmware) = platform::identity(&roots.sys, disk);
        inspection.scsi = ScsiPart::of(&roots.sys, disk);
    }
    inspection.model = inspection.block_device.as_ref().and_then(|device| device.model.clone());
    if let Some(smartctl) = inspection.scsi.as_ref().and_then(|scsi| scsi.smartctl.as_ref()) {
        // Behind a bridge the kernel knows the bridge's name, smartctl the drive's.
        inspection.model = smartctl.model.clone().or(inspection.model);
        inspection.firmware = smartctl.firmware.clone().or(inspection.firmware);
    }
    let mut nvme = None;
    if let Ok(controller) = controller {
        let asked = reach::of_controller(controller.clone()).and_then(|mut reached: Reached| {
            reached.warn_of_journal(printer);
            Ok(NvmePart::of(&mut reached.settings, Some(&controller))?)
        });
        match asked {
            Ok(part) => nvme = Some(part),
            Err(error) => {
                let why = crate::printer::sentence(&error);
                printer.warning(&format!("shown is what sysfs tells: {why}"));
                inspection.nvme_error = Some(why);
            }
        }
    }
    Ok(finished(inspection, nvme))
}

fn is_character_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
}

fn empty(typed: &str) -> Inspection {
    Inspection {
        address: typed.to_owned(),
        simulated: false,
        model: None,
        serial: None,
        firmware: None,
        block_device: None,
        nvme: None,
        nvme_error: None,
        scsi: None,
        link: None,
        platform: None,
        kernel: None,
        limits: Vec::new(),
    }
}

/// With what the drive says about itself, and what follows from all of it.
fn finished(mut inspection: Inspection, nvme: Option<NvmePart>) -> Inspection {
    if let Some(nvme) = &nvme {
        inspection.model = Some(nvme.model.clone());
        inspection.serial = Some(nvme.serial.clone());
        inspection.firmware = Some(nvme.firmware.clone());
        // A virtual SSD behind the kernel's initiator.
        inspection.simulated |= nvme.identify.simulation.is_some();
    }
    inspection.nvme = nvme;
    inspection.limits = limits::of(&inspection);
    inspection
}
