//! Whose the file behind a namespace is: the mark on files that a virtual SSD made.
//!
//! A raw image has no room for a header, so the mark is the extended attribute [`MARK`]. It goes with the file when
//! it is renamed, and not to another file that comes to its path. It names the drive, so that the same file is the
//! same drive again, and the file's size: what is copied over the file later has nearly always another one.

use std::fs::File;
use std::path::Path;

use rustix::fs::{SeekFrom, XattrFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

/// The extended attribute.
const MARK: &str = "user.heatsoak.vssd";
/// Most bytes of its value: a name of 223 bytes (NVMe Base 2.3, NVMe Qualified Names) and a number fit.
const MARK_BYTES_MAX: usize = 512;

/// What a mark says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct BackingMark {
    /// The drive whose data these are: what stands behind the colon of its NQN.
    pub(super) name: String,
    /// Size of the file.
    pub(super) len_bytes: u64,
}

impl BackingMark {
    /// The mark of an open file.
    pub(super) fn read(file: &File) -> Option<Self> {
        let mut value = [0; MARK_BYTES_MAX];
        let len = rustix::fs::fgetxattr(file, MARK, &mut value).ok()?;
        serde_json::from_slice(value.get(..len)?).ok()
    }

    /// Marks a file; `false` where the file system keeps no such attributes.
    pub(super) fn write(&self, file: &File) -> bool {
        let value = serde_json::to_vec(self).unwrap_or_default();
        rustix::fs::fsetxattr(file, MARK, &value, XattrFlags::empty()).is_ok()
    }
}

/// The name of the drive whose data are in the file at `path`, if a virtual SSD made it and it has a name.
pub fn backing_name(path: &Path) -> Option<String> {
    let mut value = [0; MARK_BYTES_MAX];
    let len = rustix::fs::lgetxattr(path, MARK, &mut value).ok()?;
    serde_json::from_slice(value.get(..len)?).ok().map(|mark: BackingMark| mark.name)
}

/// Whether there is nothing in a file but holes. Where the file system cannot tell, there is data.
pub(super) fn is_empty(file: &File) -> bool {
    rustix::fs::seek(file, SeekFrom::Data(0)) == Err(Errno::NXIO)
}
