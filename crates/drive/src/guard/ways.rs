//! Other ways to the bytes of a device, each of which somebody may be using: the kernel keeps two users of one block
//! device apart, but not the users of two block devices that lead to the same place.
//!
//! - A second path to one drive (SAS with two ports, multipath that is not configured): another disk with the same
//!   world wide name, serial number and size. The name alone proves too little: cheap USB bridges give all drives one.
//! - A second loop device on the same file.
//! - What a loop device lies on, if that is a block device: the loop driver does not claim it (`drivers/block/loop.c`,
//!   `loop_configure`), so it may be mounted all the same. What device mapper and RAID lie on is claimed by them.
//!
//! Layout: Linux `Documentation/ABI/stable/sysfs-block`, `testing/sysfs-block-loop`, `stable/sysfs-class-nvme` (`wwid`),
//! `drivers/scsi/scsi_sysfs.c` (`wwid`).

use std::fs;
use std::path::Path;

use super::sysfs::{
    LAYERS_MAX, SysfsNode, backing_device, disk_folder, entries, node, partitions, serial_of_disk, text,
};
use super::{Kind, Roots, Situation};

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

/// What tells that two disks are one.
#[derive(PartialEq, Eq)]
enum Sameness {
    /// World wide name, serial number, size.
    Drive(String, Option<String>, u64),
    /// The file of a loop device.
    File(String),
}

impl Sameness {
    fn read(disk: &SysfsNode, roots: &Roots) -> Option<Self> {
        if let Some(file) = text(&disk.folder.join("loop/backing_file")) {
            return Some(Self::File(file));
        }
        let name = text(&disk.folder.join("wwid")).or_else(|| text(&disk.folder.join("device/wwid")))?;
        Some(Self::Drive(name, serial_of_disk(&disk.folder, roots), disk.len))
    }

    fn why(&self) -> String {
        match self {
            Self::Drive(name, ..) => format!("both are {name}"),
            Self::File(file) => format!("both are loop devices on {file}"),
        }
    }
}

fn beside(own: &SysfsNode, disk: &SysfsNode, roots: &Roots) -> Vec<Way> {
    let Some(sameness) = Sameness::read(disk, roots) else { return Vec::new() };
    let block = roots.sys.join("block");
    let mut found = Vec::new();
    for name in entries(&block).into_iter().filter(|name| *name != disk.name) {
        let Ok(folder) = fs::canonicalize(block.join(&name)) else { continue };
        // The kernel's own paths below a multipath NVMe namespace, which nobody else can open.
        if text(&folder.join("hidden")).as_deref() == Some("1") {
            continue;
        }
        let other = node(&folder);
        if Sameness::read(&other, roots).as_ref() != Some(&sameness) {
            continue;
        }
        let why = sameness.why();
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
            let Some(lower) = backing_device(folder, roots) else { continue };
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
