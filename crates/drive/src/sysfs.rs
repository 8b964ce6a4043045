//! Block devices as sysfs shows them: nodes, partitions, what lies below.
//!
//! The folder where sysfs is mounted is a parameter, so that made-up trees serve as machines in tests.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use measure::patient;

/// sysfs counts sizes in these, whatever the device's block size (sysfs-block).
const SYSFS_SECTOR_BYTES: u64 = 512;

/// A device built on a device and so on: more than this is a loop.
pub(crate) const LAYERS_MAX: usize = 8;

/// One block device: a disk, or a partition of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SysfsNode {
    pub(crate) name: String,
    /// As the kernel writes it: `259:1`.
    pub(crate) number: String,
    pub(crate) folder: PathBuf,
    /// Where it lies on the device that was named, in bytes.
    pub(crate) start: u64,
    pub(crate) len: u64,
}

impl SysfsNode {
    /// Its path below `dev`, for people and for tools.
    pub(crate) fn path(&self, dev: &Path) -> String {
        // The kernel writes a slash in a name as an exclamation mark (drivers/base/core.c).
        dev.join(self.name.replace('!', "/")).display().to_string()
    }
}

pub(crate) fn disk_folder(folder: &Path) -> &Path {
    if folder.join("partition").exists() { folder.parent().unwrap_or(folder) } else { folder }
}

/// The controllers of a namespace with native multipath: they are in its subsystem's folder, as links.
pub(crate) fn controllers(folder: &Path) -> Vec<String> {
    // A namespace without multipath is a device of its controller, which lists no other.
    entries(&folder.join("device")).into_iter().filter(|name| is_controller(name)).collect()
}

/// `nvme0`, and not `nvme0n1` or `nvme0c0n1`.
pub(crate) fn is_controller(name: &str) -> bool {
    name.strip_prefix("nvme").is_some_and(|number| number.parse::<u32>().is_ok())
}

pub(crate) fn node(folder: &Path) -> SysfsNode {
    let number = |name: &str| text(&folder.join(name)).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    SysfsNode {
        name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
        number: text(&folder.join("dev")).unwrap_or_default(),
        folder: folder.to_owned(),
        start: number("start").saturating_mul(SYSFS_SECTOR_BYTES),
        len: number("size").saturating_mul(SYSFS_SECTOR_BYTES),
    }
}

pub(crate) fn partitions(folder: &Path) -> Vec<SysfsNode> {
    let found = entries(folder).into_iter().map(|name| folder.join(name));
    found.filter(|folder| folder.join("partition").is_file()).map(|folder| node(&folder)).collect()
}

/// Names in a folder, in order; none where it cannot be read.
pub fn entries(folder: &Path) -> Vec<String> {
    let Ok(found) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        found.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// A small file without its line end; `None` where it is missing or empty.
pub fn text(path: &Path) -> Option<String> {
    let text = patient::read_to_string(path).ok()?;
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The block device in sysfs that a loop device reads and writes; `None` for what is none, and for one on a file.
pub(crate) fn backing_device(folder: &Path, sys: &Path) -> Option<PathBuf> {
    let path = PathBuf::from(text(&folder.join("loop/backing_file"))?);
    let by_number = fs::metadata(&path).ok().filter(|metadata| metadata.file_type().is_block_device());
    if let Some(rdev) = by_number.map(|metadata| metadata.rdev()) {
        let number = format!("{}:{}", rustix::fs::major(rdev), rustix::fs::minor(rdev));
        return fs::canonicalize(sys.join("dev/block").join(number)).ok();
    }
    let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    fs::canonicalize(sys.join("class/block").join(name)).ok()
}
