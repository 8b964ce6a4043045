//! What a drive is attached by: the same word in `heatsoak list` and in a run's manifest.
//!
//! From the kernel's name of the device and its place in sysfs; the drive is not asked.

use std::path::Path;

use serde::{Serialize, Serializer};

/// What a drive is attached by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveKind {
    /// NVMe, over PCIe or fabrics.
    Nvme,
    /// SATA.
    Sata,
    /// A USB bridge, whatever is behind it.
    Usb,
    /// SCSI, SAS and what looks like it.
    Scsi,
    /// A virtual machine's disk.
    Virtio,
    /// eMMC or an SD card.
    Mmc,
    /// None of these: loop devices, and what is built on others.
    Other,
}

impl DriveKind {
    /// The name in the output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nvme => "nvme",
            Self::Sata => "sata",
            Self::Usb => "usb",
            Self::Scsi => "scsi",
            Self::Virtio => "virtio",
            Self::Mmc => "mmc",
            Self::Other => "other",
        }
    }

    /// From the device's name and its real place in sysfs.
    pub fn detect(name: &str, place: &Path) -> Self {
        let any = |matches: &dyn Fn(&str) -> bool| {
            place.components().any(|part| part.as_os_str().to_str().is_some_and(matches))
        };
        if name.starts_with("nvme") {
            Self::Nvme
        } else if name.starts_with("mmcblk") {
            Self::Mmc
        } else if any(&|part| part.starts_with("usb")) {
            Self::Usb
        } else if any(&|part| part.starts_with("ata")) {
            Self::Sata
        } else if any(&|part| part.starts_with("virtio")) {
            Self::Virtio
        } else if name.starts_with("sd") {
            Self::Scsi
        } else {
            Self::Other
        }
    }
}

/// In every output a kind is its name.
impl Serialize for DriveKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_place_tells_what_the_name_does_not() {
        let of = |name: &str, place: &str| DriveKind::detect(name, Path::new(place)).name();
        let pci = "/sys/devices/pci0000:00/0000:00:17.0";
        assert_eq!(of("sda", &format!("{pci}/ata1/host0/target0:0:0/0:0:0:0/block/sda")), "sata");
        assert_eq!(of("sda1", &format!("{pci}/ata1/host0/target0:0:0/0:0:0:0/block/sda/sda1")), "sata");
        assert_eq!(of("sdb", &format!("{pci}/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb")), "usb");
        assert_eq!(of("sdc", "/sys/devices/pseudo_0/adapter0/host7/target7:0:0/7:0:0:0/block/sdc"), "scsi");
        assert_eq!(of("nvme0n1", "/sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1"), "nvme");
        assert_eq!(of("loop0", "/sys/devices/virtual/block/loop0"), "other");
    }
}
