//! Opening a device for writing: exclusively, and only if it still is what was examined.
//!
//! The kernel lets one holder have a disk or any of its partitions exclusively (`O_EXCL` on a block device, open(2));
//! mounts, swap, device mapper, RAID and ZFS are such holders. So from the claim on nothing can be mounted from the
//! drive, and what is in use cannot be claimed. Other devices that lead to the same bytes are claimed as well, opened
//! for reading only.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::drive::Device;
use super::{
    DeviceIdentity, Examined, GuardError, Kind, Permission, Roots, Situation, blkid, device_number,
    examine_device, io_error,
};

/// A device that is ours alone until this is dropped.
#[derive(Debug)]
pub struct Claim {
    /// Open for reading and writing, through the page cache.
    pub file: File,
    /// Other devices that lead to the same bytes, held so that nobody else has them.
    pub others: Vec<File>,
    /// What was found on it at the last look, and what was passed over.
    pub examined: Examined,
}

/// Opens the device that was `examined` for writing, exclusively.
///
/// Between examination and now it may have been mounted, or another device may have come to its path: everything is
/// looked at again, on what was opened.
///
/// # Errors
/// [`GuardError::Refused`] with every reason. Nothing was written then.
pub fn claim(examined: &Examined, permission: &Permission, roots: &Roots) -> Result<Claim, GuardError> {
    examined.decide(permission)?;
    let path = &examined.path;
    let busy = |error| claimed(examined, path, error);
    let file = open(path, OFlags::EXCL).map_err(busy)?;
    let device = Device::of_file(&file, path, roots)?;
    compare(examined, &device.identity)?;
    let others = claim_others(examined, &device, roots)?;
    // That the namespace is shared was asked of the drive before, and it is the same drive.
    let shared = examined.situations.iter().any(|one| one.kind == Kind::Shared);
    let again = examine_device(path, &device, &file, roots, Some(shared), blkid::probe);
    again.decide(permission)?;
    Ok(Claim { file, others, examined: again })
}

impl Claim {
    /// The same device once more, past the page cache.
    ///
    /// # Errors
    /// When the system refuses, or the path leads elsewhere by now.
    pub fn open_direct(&self, roots: &Roots) -> Result<File, GuardError> {
        let path = &self.examined.path;
        let file = open(path, OFlags::DIRECT)?;
        compare(&self.examined, &Device::of_file(&file, path, roots)?.identity)?;
        Ok(file)
    }
}

/// Every other way to the device's bytes, exclusively and for reading.
fn claim_others(examined: &Examined, device: &Device, roots: &Roots) -> Result<Vec<File>, GuardError> {
    let mut held = Vec::new();
    for node in device.ways.iter().map(|way| &way.own) {
        let path = PathBuf::from(node.path(&roots.dev));
        let flags = OFlags::EXCL.bits() as i32;
        let opened = OpenOptions::new().read(true).custom_flags(flags).open(&path);
        let file =
            opened.map_err(io_error("open", &path)).map_err(|error| claimed(examined, &path, error))?;
        let (major, minor) = device_number(&file, &path)?;
        if node.number != format!("{major}:{minor}") {
            let text = format!("{} is no longer the device {} that it was", path.display(), node.number);
            return Err(refused(examined, Situation::new(Kind::Changed, text)));
        }
        held.push(file);
    }
    Ok(held)
}

/// Says who may have a device, where the kernel says only that somebody has it.
fn claimed(examined: &Examined, path: &Path, error: GuardError) -> GuardError {
    match error {
        GuardError::Io { source, .. } if source.raw_os_error() == Some(Errno::BUSY.raw_os_error()) => {
            let text = format!(
                "{} or a partition of it is in somebody's exclusive use (a mount in another namespace, ZFS, RAID, \
                 a virtual machine, another heatsoak)",
                path.display()
            );
            refused(examined, Situation::new(Kind::Claimed, text))
        }
        other => other,
    }
}

fn open(path: &Path, flags: OFlags) -> Result<File, GuardError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .map_err(io_error("open for writing", path))
}

/// Whether what was opened is what was examined.
fn compare(examined: &Examined, opened: &DeviceIdentity) -> Result<(), GuardError> {
    if examined.identity == *opened {
        return Ok(());
    }
    let text = format!(
        "{} led to {} ({}) when it was examined, and leads to {} ({}) now",
        examined.path.display(),
        examined.identity.name,
        examined.identity,
        opened.name,
        opened
    );
    Err(refused(examined, Situation::new(Kind::Changed, text)))
}

fn refused(examined: &Examined, reason: Situation) -> GuardError {
    GuardError::Refused {
        path: examined.path.clone(),
        drive: examined.identity.to_string(),
        reasons: vec![reason],
    }
}
