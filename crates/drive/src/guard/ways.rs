//! Other ways to the bytes of a device, each of which somebody may be using: the kernel keeps two users of one block
//! device apart, but not the users of two block devices that lead to the same place.
//!
//! - A second path to one drive (SAS with two ports, multipath that is not configured): another disk with the same
//!   world wide name, serial number and size. The name alone proves too little: cheap USB bridges give all drives one.
//!   Where either has no such name: one with the same model, serial number and size, on another target. It may be
//!   another drive whose maker gives serial numbers twice; nobody can tell from here, and so it counts as the same.
//! - A second loop device on the same file.
//! - What a loop device lies on, if that is a block device: the loop driver does not claim it (`drivers/block/loop.c`,
//!   `loop_configure`), so it may be mounted all the same. What device mapper and RAID lie on is claimed by them.
//!
//! Layout: Linux `Documentation/ABI/stable/sysfs-block`, `testing/sysfs-block-loop`, `stable/sysfs-class-nvme` (`wwid`),
//! `drivers/scsi/scsi_sysfs.c` (`wwid`).

use std::fs;
use std::path::{Path, PathBuf};

use super::{Kind, Roots, Situation};
use crate::DriveIdentity;
use crate::identity::wwid;
use crate::sysfs::{LAYERS_MAX, SysfsNode, backing_device, disk_folder, entries, node, partitions, text};

/// Another block device through which the same bytes are reached.
#[derive(Clone, Debug)]
pub(super) struct Way {
    /// Why it is one, as the rest of a sentence.
    why: String,
    /// Whether it stands beside the device (another path) or below it.
    beside: bool,
    /// What must be had exclusively.
    pub(super) own: SysfsNode,
    /// Whose users use the same bytes: the partitions of a disk, the disk of a partition.
    around: Vec<SysfsNode>,
}

impl Way {
    /// Everything whose users use the same bytes.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &SysfsNode> {
        std::iter::once(&self.own).chain(&self.around)
    }

    /// What speaks against writing by there being this way; one that lies below is told by the device's own kind.
    pub(super) fn situation(&self, name: &str) -> Option<Situation> {
        self.beside.then(|| {
            let text = format!("{name} and {} lead to the same drive: {}", self.own.name, self.why);
            Situation::new(Kind::Shared, text)
        })
    }
}

/// All other ways to `own`, a disk or a partition of `disk`.
pub(super) fn find(own: &SysfsNode, disk: Option<&SysfsNode>, roots: &Roots) -> Vec<Way> {
    let whole = disk.unwrap_or(own);
    let mut found = beside(own, whole, roots);
    found.extend(below(&whole.folder, roots));
    found
}

/// What tells whether two disks are one.
enum Sameness {
    /// The file of a loop device.
    File(String),
    /// A drive.
    Drive {
        identity: DriveIdentity,
        /// The kernel's name for it.
        wwid: Option<String>,
        /// What it is a unit of: a SCSI target, an NVMe controller.
        target: Option<PathBuf>,
    },
}

impl Sameness {
    fn read(disk: &SysfsNode) -> Self {
        if let Some(file) = text(&disk.folder.join("loop/backing_file")) {
            return Self::File(file);
        }
        let device = fs::canonicalize(disk.folder.join("device")).ok();
        let target = device.and_then(|device| {
            // Namespaces lie in their controller, SCSI disks in a unit of their target.
            let is_unit = device.join("vpd_pg80").exists() || device.join("scsi_level").exists();
            if is_unit { device.parent().map(Path::to_owned) } else { Some(device) }
        });
        Self::Drive { identity: DriveIdentity::of_disk_alone(&disk.folder), wwid: wwid(&disk.folder), target }
    }

    /// Why both are the same, as the rest of a sentence; `None` where they are not.
    fn why(&self, other: &Self) -> Option<String> {
        match (self, other) {
            (Self::File(one), Self::File(two)) if one == two => {
                Some(format!("both are loop devices on {one}"))
            }
            (
                Self::Drive { identity: one, wwid: wwid_one, target: target_one },
                Self::Drive { identity: two, wwid: wwid_two, target: target_two },
            ) if (&one.serial, one.size_bytes) == (&two.serial, two.size_bytes) => match (wwid_one, wwid_two)
            {
                (Some(name), Some(name_two)) => (name == name_two).then(|| format!("both are {name}")),
                _ => {
                    let known = one.serial.is_some() && one.model == two.model;
                    let two_units = target_one.is_some() && target_one == target_two;
                    (known && !two_units).then(|| {
                        format!("both are {one}, {}, and no world wide name tells them apart", one.size())
                    })
                }
            },
            _ => None,
        }
    }
}

fn beside(own: &SysfsNode, disk: &SysfsNode, roots: &Roots) -> Vec<Way> {
    let sameness = Sameness::read(disk);
    let block = roots.sys.join("block");
    let mut found = Vec::new();
    for name in entries(&block).into_iter().filter(|name| *name != disk.name) {
        let Ok(folder) = fs::canonicalize(block.join(&name)) else { continue };
        // The kernel's own paths below a multipath NVMe namespace, which nobody else can open.
        if text(&folder.join("hidden")).as_deref() == Some("1") {
            continue;
        }
        let other = node(&folder);
        let Some(why) = sameness.why(&Sameness::read(&other)) else { continue };
        let parts = partitions(&folder);
        if own.number == disk.number {
            found.push(Way { why, beside: true, own: other, around: parts });
            continue;
        }
        // Of the other disk only what overlaps the partition; its other partitions may be used as those of this one.
        let place = node(&own.folder).start;
        let overlapping = |part: &SysfsNode| part.start < place + own.len && place < part.start + part.len;
        let around = vec![other];
        let overlapping = parts.into_iter().filter(overlapping);
        found.extend(overlapping.map(|own| Way {
            why: why.clone(),
            beside: true,
            own,
            around: around.clone(),
        }));
    }
    found
}

/// Block devices under loop devices, here or further down.
fn below(disk: &Path, roots: &Roots) -> Vec<Way> {
    let mut found = Vec::new();
    let mut layer = vec![disk.to_owned()];
    for _ in 0..LAYERS_MAX {
        let mut next = Vec::new();
        for folder in &layer {
            for name in entries(&folder.join("slaves")) {
                next.extend(fs::canonicalize(roots.sys.join("class/block").join(name)));
            }
            let Some(lower) = backing_device(folder, &roots.sys) else { continue };
            let own = node(&lower);
            let whole = disk_folder(&lower);
            let around = if whole == lower { partitions(&lower) } else { vec![node(whole)] };
            found.push(Way { why: String::new(), beside: false, own, around });
            next.push(lower);
        }
        layer = next.iter().map(|folder| disk_folder(folder).to_owned()).collect();
    }
    found
}
