//! Block devices as sysfs shows them: nodes, partitions, what lies below, whose serial number it is.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::Roots;
use crate::scsi::vpd;

/// sysfs counts sizes in these, whatever the device's block size (sysfs-block).
const SYSFS_SECTOR_BYTES: u64 = 512;

/// A device built on a device and so on: more than this is a loop.
pub(super) const LAYERS_MAX: usize = 8;

/// One block device: a disk, or a partition of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SysfsNode {
    pub(super) name: String,
    /// As the kernel writes it: `259:1`.
    pub(super) number: String,
    pub(super) folder: PathBuf,
    /// Where it lies on the device that was named, in bytes.
    pub(super) start: u64,
    pub(super) len: u64,
}

impl SysfsNode {
    /// Its path, for people and for tools.
    pub(super) fn path(&self, roots: &Roots) -> String {
        // The kernel writes a slash in a name as an exclamation mark (drivers/base/core.c).
        roots.dev.join(self.name.replace('!', "/")).display().to_string()
    }
}

pub(super) fn disk_folder(folder: &Path) -> &Path {
    if folder.join("partition").exists() { folder.parent().unwrap_or(folder) } else { folder }
}

/// NVMe and MMC say it in `device/serial`, virtio in `serial`, SCSI and SATA in VPD page 80h. A USB bridge that has
/// no such page has a serial number of its own. What is built on one drive is known by that drive's.
pub(super) fn serial_of_disk(folder: &Path, roots: &Roots) -> Option<String> {
    let mut folder = folder.to_owned();
    for _ in 0..LAYERS_MAX {
        let own = text(&folder.join("device/serial"))
            .or_else(|| text(&folder.join("serial")))
            .or_else(|| vpd::serial_number(&fs::read(folder.join("device/vpd_pg80")).ok()?))
            .or_else(|| usb_serial(&folder));
        if own.is_some() {
            return own;
        }
        let below = match (backing_device(&folder, roots), entries(&folder.join("slaves")).as_slice()) {
            (Some(below), _) => below,
            (None, [only]) => fs::canonicalize(roots.sys.join("class/block").join(only)).ok()?,
            (None, _) => return None,
        };
        folder = disk_folder(&below).to_owned();
    }
    None
}

/// The nearest USB device above: the one folder that has both these files.
fn usb_serial(folder: &Path) -> Option<String> {
    let usb = folder.ancestors().find(|folder| folder.join("idVendor").is_file())?;
    text(&usb.join("serial"))
}

/// The controllers of a namespace with native multipath: they are in its subsystem's folder, as links.
pub(super) fn controllers(folder: &Path) -> Vec<String> {
    let is_controller = |name: &String| {
        name.strip_prefix("nvme")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let subsystem = folder.join("device");
    // A namespace without multipath is a device of its controller, which lists no other.
    let names = entries(&subsystem);
    names.into_iter().filter(is_controller).collect()
}

pub(super) fn node(folder: &Path) -> SysfsNode {
    let number = |name: &str| text(&folder.join(name)).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    SysfsNode {
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        number: text(&folder.join("dev")).unwrap_or_default(),
        folder: folder.to_owned(),
        start: number("start").saturating_mul(SYSFS_SECTOR_BYTES),
        len: number("size").saturating_mul(SYSFS_SECTOR_BYTES),
    }
}

pub(super) fn partitions(folder: &Path) -> Vec<SysfsNode> {
    let found = entries(folder).into_iter().map(|name| folder.join(name));
    found.filter(|folder| folder.join("partition").is_file()).map(|folder| node(&folder)).collect()
}

/// Names in a folder, in order; none where it cannot be read.
pub(super) fn entries(folder: &Path) -> Vec<String> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        found.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A small file without its line end; `None` where it is missing or empty.
pub(super) fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The block device in sysfs that a loop device reads and writes; `None` for what is none, and for one on a file.
pub(super) fn backing_device(folder: &Path, roots: &Roots) -> Option<PathBuf> {
    let path = PathBuf::from(text(&folder.join("loop/backing_file"))?);
    let by_number = fs::metadata(&path).ok().filter(|metadata| metadata.file_type().is_block_device());
    if let Some(rdev) = by_number.map(|metadata| metadata.rdev()) {
        let number = format!("{}:{}", rustix::fs::major(rdev), rustix::fs::minor(rdev));
        return fs::canonicalize(roots.sys.join("dev/block").join(number)).ok();
    }
    let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    fs::canonicalize(roots.sys.join("class/block").join(name)).ok()
}
