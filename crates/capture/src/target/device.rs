//! A block device as a target: read, never written, in this version.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use measure::Bytes;
use rustix::fs::{OFlags, SeekFrom};

use super::TargetError;
use super::needs::Needs;

/// Why a device is not written to.
pub(super) const READ_ONLY: &str = "in this version block devices are only read; what guards the data on a device \
    comes in a later one. Use a plan that reads, or a file on the device: file:PATH?size=4GiB";

/// What kind of drive a device is, by the name of its driver's devices.
pub(super) fn kind(path: &Path) -> &'static str {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if name.starts_with("nvme") => "nvme",
        Some(name) if name.starts_with("sd") => "scsi",
        _ => "block",
    }
}

/// A block device, opened for reading.
#[derive(Debug)]
pub(crate) struct DeviceTarget {
    pub(crate) path: PathBuf,
    pub(crate) size: Bytes,
    pub(crate) block_bytes: u32,
}

impl DeviceTarget {
    /// Looks at the device.
    pub(crate) fn look(path: &Path) -> Result<Self, TargetError> {
        let io = |what| move |source| TargetError::Io { what, path: path.to_owned(), source };
        let kind = std::fs::metadata(path).map_err(io("look at"))?.file_type();
        if !kind.is_block_device() {
            return Err(wrong_kind(path, kind.is_char_device()));
        }
        let file = open(path, OFlags::empty())?;
        let size = rustix::fs::seek(&file, SeekFrom::End(0)).map_err(|errno| io("measure")(errno.into()))?;
        let block_bytes = rustix::fs::ioctl_blksszget(&file)
            .map_err(|errno| io("ask for the block size of")(errno.into()))?;
        Ok(Self { path: path.to_owned(), size: Bytes::new(size), block_bytes })
    }

    /// Opens it for a plan that only reads; past the page cache, or through it.
    pub(crate) fn open(&self, needs: &Needs, direct: bool) -> Result<File, TargetError> {
        let what = if needs.writes { Some("write to") } else { needs.trims.then_some("trim") };
        if let Some(what) = what {
            return Err(TargetError::ReadOnly { path: self.path.clone(), what, why: READ_ONLY });
        }
        open(&self.path, if direct { OFlags::DIRECT } else { OFlags::empty() })
    }
}

fn open(path: &Path, flags: OFlags) -> Result<File, TargetError> {
    OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits() as i32)
        .open(path)
        .map_err(|source| TargetError::Io { what: "open", path: path.to_owned(), source })
}

fn wrong_kind(path: &Path, character: bool) -> TargetError {
    let (what, advice) = if character {
        (
            "a character device",
            "an NVMe controller is loaded through a namespace: /dev/nvme0n1 for /dev/nvme0".to_owned(),
        )
    } else {
        ("not a block device", format!("a file is written file:{}", path.display()))
    };
    TargetError::WrongKind { path: path.to_owned(), what, advice }
}
