//! Which disk a device is or belongs to, which partitions it has, and how it is told from every other.
//!
//! All of it is the kernel's word in sysfs, found by the device's number and not by the name of its path.
//! Layout: Linux `Documentation/ABI/stable/sysfs-block`, `testing/sysfs-block-loop`, `testing/sysfs-class-nvme`.

use std::fmt;
use std::fs::{self, File};
use std::path::Path;

use super::ways::{self, Way};
use super::{GuardError, Kind, Roots, Situation, device_number, io_error, size};
use crate::DriveIdentity;
use crate::sysfs::{SysfsNode, controllers, disk_folder, entries, node, partitions, text};

/// What is typed for a drive that tells no serial number.
pub const NO_SERIAL: &str = "no-serial";

/// What tells a device from every other, also from one that takes its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// The kernel's name: `nvme0n1`, `sda2`.
    pub name: String,
    /// Major and minor number.
    pub number: (u32, u32),
    /// The kernel's count of media that have come, which no two have in common (Linux 5.15); `None` before that.
    pub diskseq: Option<u64>,
    /// The drive that it is or belongs to.
    pub drive: DriveIdentity,
    /// Where a partition starts on its disk, in bytes; 0 for a disk.
    pub start_bytes: u64,
    /// Size in bytes.
    pub size_bytes: u64,
}

impl fmt::Display for DeviceIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.drive, size(self.size_bytes))
    }
}

/// A device that may be written to, with all that lies on it.
#[derive(Clone, Debug)]
pub(super) struct Device {
    pub(super) identity: DeviceIdentity,
    /// What was named.
    pub(super) own: SysfsNode,
    /// Its partitions; none for a partition.
    pub(super) partitions: Vec<SysfsNode>,
    /// The disk that a partition belongs to.
    pub(super) disk: Option<SysfsNode>,
    /// Other devices that lead to the same bytes.
    pub(super) ways: Vec<Way>,
}

impl Device {
    /// The device that an open file is.
    pub(super) fn of_file(file: &File, path: &Path, roots: &Roots) -> Result<Self, GuardError> {
        let (major, minor) = device_number(file, path)?;
        let link = roots.sys.join(format!("dev/block/{major}:{minor}"));
        let folder = fs::canonicalize(&link).map_err(io_error("find in sysfs", path))?;
        Ok(Self::at(&folder, (major, minor), roots))
    }

    /// The device that sysfs shows in `folder`.
    pub(super) fn at(folder: &Path, number: (u32, u32), roots: &Roots) -> Self {
        let mut own = node(folder);
        let start_bytes = std::mem::take(&mut own.start);
        let is_partition = folder.join("partition").exists();
        let disk = folder.parent().filter(|_| is_partition).map(node);
        let ways = ways::find(&own, disk.as_ref(), roots);
        let partitions = if is_partition { Vec::new() } else { partitions(folder) };
        let disk_folder = disk.as_ref().map_or(folder, |disk| &disk.folder);
        let identity = DeviceIdentity {
            name: own.name.clone(),
            number,
            diskseq: text(&disk_folder.join("diskseq")).and_then(|text| text.parse().ok()),
            drive: DriveIdentity::of_disk(disk_folder, &roots.sys),
            start_bytes,
            size_bytes: own.len,
        };
        Self { identity, own, partitions, disk, ways }
    }

    /// What was named and what lies on it: whatever is written on.
    pub(super) fn nodes(&self) -> impl Iterator<Item = &SysfsNode> {
        std::iter::once(&self.own).chain(&self.partitions)
    }

    /// The same, and the disk that a partition belongs to: who uses that uses its partitions.
    fn nodes_and_disk(&self) -> impl Iterator<Item = &SysfsNode> {
        self.nodes().chain(&self.disk)
    }

    /// The same, and every other device that leads to the same bytes.
    pub(super) fn nodes_of_users(&self) -> impl Iterator<Item = &SysfsNode> {
        self.nodes_and_disk().chain(self.ways.iter().flat_map(Way::nodes))
    }

    /// The disk.
    fn disk_folder(&self) -> &Path {
        self.disk.as_ref().map_or(&self.own.folder, |disk| &disk.folder)
    }

    /// What speaks against it by what it is.
    pub(super) fn situations(&self, roots: &Roots, shared: Option<bool>) -> Vec<Situation> {
        let name = &self.own.name;
        let mut found = Vec::new();
        let read_only =
            self.nodes_and_disk().filter(|node| text(&node.folder.join("ro")).as_deref() == Some("1"));
        found.extend(
            read_only.map(|node| {
                Situation::new(Kind::ReadOnly, format!("{} is read-only", node.path(&roots.dev)))
            }),
        );
        if let Some(disk) = &self.disk {
            let text = format!(
                "{} is one partition of {}, whose other partitions share its speed and its heat",
                self.own.path(&roots.dev),
                disk.path(&roots.dev)
            );
            found.push(Situation::new(Kind::Partition, text));
        }
        if let Some(file) = text(&self.disk_folder().join("loop/backing_file")) {
            found.push(Situation::new(Kind::Loop, format!("{name} is a loop device on {file}")));
        }
        let below = entries(&self.disk_folder().join("slaves"));
        if !below.is_empty() {
            found.push(Situation::new(Kind::Layered, format!("{name} is built on {}", below.join(", "))));
        }
        let paths = controllers(self.disk_folder());
        if paths.len() > 1 {
            let text = format!("{name} is reached through several controllers: {}", paths.join(", "));
            found.push(Situation::new(Kind::Shared, text));
        } else if shared == Some(true) {
            let text = format!(
                "{name} is a namespace that other controllers may have too (NMIC bit 0), and with them other machines"
            );
            found.push(Situation::new(Kind::Shared, text));
        }
        found.extend(self.ways.iter().filter_map(|way| way.situation(name)));
        found
    }
}

/// Whether the device takes trims (sysfs-block: `discard_max_bytes` is 0 where it does not).
pub fn takes_trims(name: &str, roots: &Roots) -> bool {
    let folder = fs::canonicalize(roots.sys.join("class/block").join(name)).unwrap_or_default();
    let most = text(&disk_folder(&folder).join("queue/discard_max_bytes"));
    most.and_then(|most| most.parse::<u64>().ok()).is_some_and(|most| most > 0)
}

/// The namespace identifier of an NVMe block device or a partition of it (sysfs-class-nvme, `nsid`).
pub fn namespace_id(name: &str, roots: &Roots) -> Option<u32> {
    let folder = fs::canonicalize(roots.sys.join("class/block").join(name)).ok()?;
    text(&disk_folder(&folder).join("nsid"))?.parse().ok()
}
