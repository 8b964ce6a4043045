//! Who a drive is: the one place where model, serial number, firmware, world wide name, size and transport come from.
//!
//! `list`, `inspect`, the guard and the manifest of a run all take it from here, so that what is shown is what is
//! compared and what is recorded. It is what the kernel tells anybody in sysfs; no command is sent. An NVMe drive that
//! lets us ask says the same of itself in Identify, and more.
//!
//! | | NVMe | SATA | SCSI, SAS | USB | virtio | MMC |
//! |---|---|---|---|---|---|---|
//! | model | `model` | VPD page 89h if of this drive, else `model` | `vendor` and `model` | as SATA or SCSI | none | `name` |
//! | serial number | `serial` | page 80h | page 80h | page 80h, else the enclosure's | `serial` | `serial` |
//! | firmware | `firmware_rev` | as the model, else `rev` | `rev` | as SATA or SCSI | none | `fwrev` |
//! | world wide name | `wwid` | `wwid` | `wwid` | `wwid` | none | none |
//!
//! Layout: Linux `Documentation/ABI/stable/sysfs-block`, `testing/sysfs-class-nvme`, `drivers/scsi/scsi_sysfs.c`
//! (`vpd_pg80`, `vpd_pg89`, `wwid`), `drivers/block/virtio_blk.c` (`serial`).

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use measure::Bytes;
use schemars::JsonSchema;
use serde::Serialize;

use crate::scsi::vpd;
use crate::sysfs::{LAYERS_MAX, backing_device, disk_folder, entries, node, text};
use crate::system::DriveKind;

/// Who a drive is. What it does not tell is `None`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DriveIdentity {
    /// What it is attached by.
    #[schemars(with = "String")]
    pub kind: DriveKind,
    /// Model, with its maker where that is kept apart.
    pub model: Option<String>,
    /// Serial number, as `--destroy` takes it.
    pub serial: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// World wide name, as the kernel writes it: `naa.`, `eui.` or `uuid.` and digits.
    pub wwn: Option<String>,
    /// Size in bytes.
    pub size_bytes: u64,
}

impl DriveIdentity {
    /// Of the disk `name` below `sys`, or of the one that the partition `name` belongs to; `None` where there is no such
    /// device.
    pub fn read(sys: &Path, name: &str) -> Option<Self> {
        let folder = fs::canonicalize(sys.join("class/block").join(name)).ok()?;
        Some(Self::of_disk(disk_folder(&folder), sys))
    }

    /// Of the disk that sysfs shows in `folder`. What is built on one drive is known by that drive's names.
    pub(crate) fn of_disk(folder: &Path, sys: &Path) -> Self {
        let mut layer = folder.to_owned();
        let mut names = DiskNames::read(&layer);
        for _ in 0..LAYERS_MAX {
            if names.model.is_some() || names.serial.is_some() {
                break;
            }
            let Some(below) = below(&layer, sys) else { break };
            layer = below;
            names = DiskNames::read(&layer);
        }
        Self::with_names(folder, names)
    }

    /// The same without looking at what it is built on.
    pub(crate) fn of_disk_alone(folder: &Path) -> Self {
        Self::with_names(folder, DiskNames::read(folder))
    }

    fn with_names(folder: &Path, DiskNames { model, serial, firmware, wwn }: DiskNames) -> Self {
        let node = node(folder);
        let kind = DriveKind::detect(&node.name, folder);
        Self { kind, model, serial, firmware, wwn, size_bytes: node.len }
    }

    /// Size as a quantity.
    pub const fn size(&self) -> Bytes {
        Bytes::new(self.size_bytes)
    }
}

impl fmt::Display for DriveIdentity {
    /// Model and serial number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.as_deref().unwrap_or("a drive without a model name");
        match &self.serial {
            Some(serial) => write!(f, "{model}, serial number {serial}"),
            None => write!(f, "{model}, without a serial number"),
        }
    }
}

/// What a disk is called, by itself.
struct DiskNames {
    model: Option<String>,
    serial: Option<String>,
    firmware: Option<String>,
    wwn: Option<String>,
}

impl DiskNames {
    /// Of the disk that sysfs shows in `folder`.
    fn read(folder: &Path) -> Self {
        let device = folder.join("device");
        let page = |name: &str| fs::read(device.join(name)).ok();
        let scsi_serial = page("vpd_pg80").and_then(|page| vpd::serial_number(&page));
        // An ATA drive's own words, whole: SCSI cuts a model to 16 letters and a firmware to 4, and a USB bridge has
        // names of its own. Some units answer a page of somebody else's (scsi_debug does): the serial number tells.
        let ata = page("vpd_pg89").and_then(|page| vpd::ata_names(&page));
        let ata = ata.filter(|ata| ata.serial.is_some() && ata.serial == scsi_serial).unwrap_or_default();
        let serial = text(&device.join("serial"))
            .or_else(|| text(&folder.join("serial")))
            .or(scsi_serial)
            .or_else(|| usb_serial(folder));
        let firmware = || ["firmware_rev", "rev", "fwrev"].iter().find_map(|name| text(&device.join(name)));
        Self {
            model: ata.model.or_else(|| model(&device)),
            serial,
            firmware: ata.firmware.or_else(firmware),
            wwn: wwid(folder)
                .filter(|name| ["naa.", "eui.", "uuid."].iter().any(|kind| name.starts_with(kind))),
        }
    }
}

/// The kernel's name for the drive of a disk, world wide or made of its model and serial number.
pub(crate) fn wwid(disk: &Path) -> Option<String> {
    text(&disk.join("wwid")).or_else(|| text(&disk.join("device/wwid")))
}

fn model(device: &Path) -> Option<String> {
    let model = text(&device.join("model")).or_else(|| text(&device.join("name")))?;
    // SCSI keeps the maker apart; for SATA it is only ever "ATA".
    match text(&device.join("vendor")).filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x")) {
        Some(vendor) => Some(format!("{vendor} {model}")),
        None => Some(model),
    }
}

/// The nearest USB device above: the one folder that has both these files.
fn usb_serial(folder: &Path) -> Option<String> {
    let usb = folder.ancestors().find(|folder| folder.join("idVendor").is_file())?;
    text(&usb.join("serial"))
}

/// The one disk that a loop device, a volume or a RAID is built on.
fn below(folder: &Path, sys: &Path) -> Option<PathBuf> {
    let below = match (backing_device(folder, sys), entries(&folder.join("slaves")).as_slice()) {
        (Some(below), _) => below,
        (None, [only]) => fs::canonicalize(sys.join("class/block").join(only)).ok()?,
        (None, _) => return None,
    };
    Some(disk_folder(&below).to_owned())
}

#[cfg(test)]
mod test;
