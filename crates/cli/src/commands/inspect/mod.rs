//! `heatsoak inspect`: everything about one drive that matters for heat, power and speed.
//!
//! It asks and changes nothing. What a drive does not tell is `null`, and a part that could not be had is there
//! with the reason: a drive that answers little is still shown as far as the kernel knows it.

mod limits;
mod nvme_part;
mod platform;
mod scsi_part;
mod text;

use anyhow::bail;
use drive::settings::linux::ReachError;
use drive::usb::UsbBridge;
use drive::{Address, Drive, DriveError, DriveIdentity, SettingsLast};
use measure::record::LinkFacts;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Exit;
use crate::args::InspectArgs;
use crate::block_devices::{self, BlockDevice, Roots};
use crate::commands::documents::JsonDocument as _;
use crate::door;
use crate::host;
use crate::open_settings::OpenSettings;
use crate::opening::Opening;
use crate::printer::Printer;
use nvme_part::NvmePart;
use platform::Platform;
use scsi_part::ScsiPart;

/// The JSON of `heatsoak inspect --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Inspection {
    /// Version of this format.
    schema: u32,
    /// The address that was typed.
    address: String,
    /// Whether it is a simulated drive.
    simulated: bool,
    /// Model name.
    model: Option<String>,
    /// Serial number.
    serial: Option<String>,
    /// Firmware revision.
    firmware: Option<String>,
    /// The block device; `null` for a simulated drive and a controller without namespaces.
    block_device: Option<BlockDevice>,
    /// What an NVMe drive says about itself; `null` for others.
    nvme: Option<NvmePart>,
    /// Why an NVMe drive could not be asked.
    nvme_error: Option<String>,
    /// What a SATA, USB or SCSI drive says about itself; `null` for others.
    scsi: Option<ScsiPart>,
    /// The link as negotiated; `null` where there is none to be read.
    link: Option<LinkFacts>,
    /// `null` for a simulated drive, which depends on none.
    platform: Option<Platform>,
    /// The USB bridge before the drive and its link; `null` for a drive behind none.
    usb: Option<UsbBridge>,
    /// Kernel name, release and version; `null` for a simulated drive.
    kernel: Option<String>,
    /// What will limit a test, in sentences.
    limits: Vec<String>,
}

/// Inspects.
pub(crate) fn execute(args: &InspectArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let mut drive = door::open(&Address::parse(&args.drive)?, &Opening::plain())?;
    let inspection = inspect(&mut *drive, printer)?;
    if args.json {
        printer.json(&inspection)?;
    } else {
        printer.data(&text::for_people(&inspection, printer.data_width()))?;
    }
    Ok(Exit::Done)
}

fn inspect(drive: &mut dyn Drive, printer: &mut Printer) -> anyhow::Result<Inspection> {
    let typed = drive.address().to_string();
    let Some(last) = drive.settings_last() else {
        bail!(
            "cannot inspect {typed}: name a drive by its device, such as /dev/nvme0n1, a simulated one, such as \
             twin:ssd1, or a virtual SSD, nvme-tcp://HOST:PORT/NQN; `heatsoak list` shows those of this machine"
        )
    };
    let mut inspection = Inspection { link: drive.link(), ..empty(&typed) };
    if last != SettingsLast::Process {
        inspection.kernel = Some(host::facts().kernel);
    }
    if let Some(disk) = drive.disk() {
        inspection.add_disk(&disk);
    }
    let nvme = match nvme_part(drive, printer) {
        Ok(part) => Some(part),
        Err(Unasked::NotNvme) => None,
        // The kernel knows the drive, and is asked about it.
        Err(Unasked::Refused(error)) if last == SettingsLast::PowerCycle => {
            let why = crate::printer::sentence(&error);
            printer.warning(&format!("shown is what sysfs tells: {why}"));
            inspection.nvme_error = Some(why);
            None
        }
        Err(Unasked::Refused(error) | Unasked::NotThere(error)) => return Err(error),
    };
    inspection.simulated = last == SettingsLast::Process;
    Ok(finished(inspection, nvme))
}

/// Why a drive was not asked about itself.
enum Unasked {
    /// It is none that could be.
    NotNvme,
    /// There is no drive.
    NotThere(anyhow::Error),
    /// It does not let us.
    Refused(anyhow::Error),
}

fn nvme_part(drive: &mut dyn Drive, printer: &mut Printer) -> Result<NvmePart, Unasked> {
    let mut opened = OpenSettings::new(drive).map_err(|error| match error {
        DriveError::Lost(ReachError::NotNvme { .. }) => Unasked::NotNvme,
        DriveError::Lost(_) => Unasked::NotThere(error.into()),
        _ => Unasked::Refused(error.into()),
    })?;
    opened.warn_of_journal(printer);
    let part = NvmePart::read(&mut opened.settings, drive.controller().as_ref());
    part.map_err(|error| Unasked::Refused(error.into()))
}

impl Inspection {
    /// What the kernel, and smartctl, know about a disk.
    fn add_disk(&mut self, disk: &str) {
        let roots = Roots::system();
        self.block_device = block_devices::one(&roots, disk);
        self.platform = Some(Platform::read(&roots.sys, disk));
        self.scsi = ScsiPart::read(&roots.sys, disk);
        self.usb = UsbBridge::of_disk(&roots.sys, disk);
        if let Some(DriveIdentity { model, serial, firmware, .. }) = DriveIdentity::read(&roots.sys, disk) {
            (self.model, self.serial, self.firmware) = (model, serial, firmware);
        }
    }
}

fn empty(typed: &str) -> Inspection {
    Inspection {
        schema: Inspection::SCHEMA,
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
        usb: None,
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
    inspection.limits = limits::collect(&inspection);
    inspection
}
