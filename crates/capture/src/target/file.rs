//! A file as a target: whose it is, how large it becomes, and what is opened.
//!
//! The rules, which `docs/SAFETY.md` explains to people:
//! - Nothing happens to a file until a plan is about to run on it.
//! - A file that heatsoak makes carries a mark: the extended attribute [`MARK`], whose value is the file's size.
//!   Only a marked file of that very size is taken for ours: one that was refilled by somebody else has
//!   nearly always another size. A file in which there is nothing (empty, or all holes) is as good as ours.
//! - What is not ours is never written, extended or filled, unless the address says `overwrite=yes`.
//! - Files are never shrunk, never removed (except one made a moment ago that did not fit).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use measure::Bytes;
use rustix::fs::{AtFlags, CWD, FallocateFlags, FlockOperation, OFlags, SeekFrom, StatxFlags, XattrFlags};
use rustix::io::Errno;

use super::TargetError;
use super::address::FileAddress;
use super::needs::Needs;

/// The extended attribute of files that heatsoak has made.
const MARK: &str = "user.heatsoak.scratch";

/// The block of a file whose file system does not tell: the smallest there is.
const BLOCK_BYTES_DEFAULT: u32 = 512;

/// A file, looked at and not touched.
#[derive(Clone, Debug)]
pub(crate) struct FileTarget {
    pub(crate) path: PathBuf,
    /// How much of it is used.
    pub(crate) size: Bytes,
    /// What sizes and offsets of direct I/O must be multiples of.
    pub(crate) block_bytes: u32,
    /// Whether its file system takes direct I/O, as far as can be told without opening it.
    pub(crate) direct: bool,
    overwrite: bool,
    found: Found,
}

/// What is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    File { len: u64, owner: Owner },
}

/// Whose the content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Ours, or nobody's.
    Ours,
    /// Somebody's, with the size that the mark names if there is one.
    Foreign { marked_len: Option<u64> },
}

/// A file that is ready for load.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) file: File,
    /// Whether its holes may be filled.
    pub(crate) ours: bool,
    pub(crate) note: Option<String>,
}

impl FileTarget {
    /// Looks at what the address names.
    pub(crate) fn look(address: &FileAddress) -> Result<Self, TargetError> {
        let path = address.path.clone();
        let found = match std::fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                Found::File { len: metadata.len(), owner: owner(&path, metadata.len())? }
            }
            Ok(metadata) => return Err(wrong_kind(path, &metadata.file_type())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
            Err(source) => return Err(TargetError::Io { what: "look at", path, source }),
        };
        let size = match (address.size, found) {
            (Some(size), _) => size,
            (None, Found::File { len, .. }) if len > 0 => Bytes::new(len),
            (None, _) => return Err(TargetError::NoSuchFile { path }),
        };
        let told = match found {
            Found::File { .. } => direct_block_bytes(&path),
            Found::Nothing => device_block_bytes(&path),
        };
        let block_bytes = told.filter(|block| *block > 0).unwrap_or(BLOCK_BYTES_DEFAULT);
        Ok(Self { path, size, block_bytes, direct: told != Some(0), overwrite: address.overwrite, found })
    }

    /// Makes or extends the file as far as the address says so and the rules allow, and opens and locks it.
    pub(crate) fn open(&self, needs: &Needs) -> Result<OpenFile, TargetError> {
        let ours = match self.found {
            Found::Nothing => true,
            Found::File { owner, .. } => owner == Owner::Ours || self.overwrite,
        };
        let len = match self.found {
            Found::Nothing => 0,
            Found::File { len, .. } => len,
        };
        let grows = len < self.size.as_u64();
        if !ours {
            self.refuse_to_touch(needs, grows)?;
        }
        let writable = ours && (needs.changes() || grows || !needs.reads.is_empty());
        let file = OpenOptions::new()
            .read(true)
            .write(writable)
            .create_new(self.found == Found::Nothing)
            .open(&self.path)
            .map_err(|source| self.io("open", source))?;
        self.lock(&file, writable)?;
        let note = if writable && grows { self.grow(&file, len)? } else { None };
        Ok(OpenFile { file, ours, note })
    }

    /// Why it must not be written to, if so.
    pub(crate) fn read_only(&self) -> Option<String> {
        let Found::File { owner: Owner::Foreign { .. }, .. } = self.found else { return None };
        (!self.overwrite).then(|| {
            format!(
                "it holds data that heatsoak did not make{}; name another file, or add &overwrite=yes behind its \
                 size if all of it may be destroyed",
                self.refilled()
            )
        })
    }

    /// Why a file that carries our mark is not ours.
    fn refilled(&self) -> String {
        match self.found {
            Found::File { owner: Owner::Foreign { marked_len: Some(marked) }, len } => format!(
                " (heatsoak made it {}, now it is {}: somebody else has written it)",
                Bytes::new(marked),
                Bytes::new(len)
            ),
            _ => String::new(),
        }
    }

    fn refuse_to_touch(&self, needs: &Needs, grows: bool) -> Result<(), TargetError> {
        let what = if needs.writes {
            "write to"
        } else if needs.trims {
            "trim"
        } else if grows {
            "extend"
        } else {
            return Ok(());
        };
        let detail = self.refilled();
        Err(TargetError::Foreign { path: self.path.clone(), what, detail })
    }

    /// One load at a time: another one on the same file would spoil both measurements.
    fn lock(&self, file: &File, exclusive: bool) -> Result<(), TargetError> {
        let operation = if exclusive {
            FlockOperation::NonBlockingLockExclusive
        } else {
            FlockOperation::NonBlockingLockShared
        };
        match rustix::fs::flock(file, operation) {
            // Some network file systems have no locks: nothing is lost by going without.
            Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(Errno::WOULDBLOCK) => Err(TargetError::InUse { path: self.path.clone() }),
            Err(errno) => Err(self.io("lock", errno.into())),
        }
    }

    /// Gives the file its size, with room on the disk for all of it, and the mark.
    fn grow(&self, file: &File, old_len: u64) -> Result<Option<String>, TargetError> {
        let size = self.size.as_u64();
        let grown = match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, size) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => file.set_len(size),
            other => other.map_err(Into::into),
        };
        if let Err(source) = grown {
            // As it was before; that this fails too is nothing that anybody could do something about.
            let _ = if self.found == Found::Nothing {
                std::fs::remove_file(&self.path)
            } else {
                file.set_len(old_len)
            };
            return Err(match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => self.no_room(),
                _ => self.io("extend", source),
            });
        }
        // A file with somebody's data that may be overwritten stays theirs: next time they say so again.
        if matches!(self.found, Found::File { owner: Owner::Foreign { .. }, .. }) {
            return Ok(None);
        }
        match rustix::fs::fsetxattr(file, MARK, size.to_string().as_bytes(), XattrFlags::empty()) {
            Ok(()) => Ok(None),
            Err(errno) => Ok(Some(format!(
                "{} could not be marked as made by heatsoak ({errno}): the next plan that writes to it will ask for \
                 &overwrite=yes",
                self.path.display()
            ))),
        }
    }

    fn no_room(&self) -> TargetError {
        let parent = parent(&self.path);
        let free = rustix::fs::statvfs(&parent).map_or(0, |stat| stat.f_bavail * stat.f_frsize);
        TargetError::NoRoom { path: self.path.clone(), size: self.size, free: Bytes::new(free) }
    }

    /// The error of a system call on this file.
    pub(crate) fn io(&self, what: &'static str, source: io::Error) -> TargetError {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => self.no_room(),
            _ => TargetError::Io { what, path: self.path.clone(), source },
        }
    }

    /// Opens it once more, past the page cache.
    pub(crate) fn open_direct(&self, writable: bool) -> Result<File, TargetError> {
        OpenOptions::new()
            .read(true)
            .write(writable)
            .custom_flags(OFlags::DIRECT.bits() as i32)
            .open(&self.path)
            .map_err(|source| direct_error(&self.path, source))
    }
}

/// `EINVAL` from open(2) with O_DIRECT: the file system does not have it.
fn direct_error(path: &Path, source: io::Error) -> TargetError {
    if source.raw_os_error() == Some(Errno::INVAL.raw_os_error()) {
        return TargetError::NoDirect { path: path.to_owned() };
    }
    TargetError::Io { what: "open past the page cache", path: path.to_owned(), source }
}

/// Whose the content of the file is.
fn owner(path: &Path, len: u64) -> Result<Owner, TargetError> {
    let mut value = [0u8; 32];
    // A file that cannot be read, or a file system without attributes, has no mark.
    let marked_len = rustix::fs::getxattr(path, MARK, &mut value)
        .ok()
        .and_then(|value_len| std::str::from_utf8(value.get(..value_len)?).ok()?.parse::<u64>().ok());
    if len == 0 || marked_len == Some(len) || !has_data(path)? {
        return Ok(Owner::Ours);
    }
    Ok(Owner::Foreign { marked_len })
}

/// Whether there is anything in the file but holes.
fn has_data(path: &Path) -> Result<bool, TargetError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(source) => return Err(TargetError::Io { what: "open", path: path.to_owned(), source }),
    };
    Ok(match rustix::fs::seek(&file, SeekFrom::Data(0)) {
        Err(Errno::NXIO) => false,
        // Also where the file system cannot tell.
        _ => true,
    })
}

/// What direct I/O on an existing file must be aligned to; 0 where the file has none
/// (statx(2), STATX_DIOALIGN, Linux 6.1).
pub(crate) fn direct_block_bytes(path: &Path) -> Option<u32> {
    match rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN) {
        Ok(stat) if stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0 => Some(stat.stx_dio_offset_align),
        _ => device_block_bytes(path),
    }
}

/// The logical block size of the device under the folder in which a file lies or will lie.
fn device_block_bytes(path: &Path) -> Option<u32> {
    let stat = std::fs::metadata(parent(path)).ok()?;
    let (major, minor) = (rustix::fs::major(stat.dev()), rustix::fs::minor(stat.dev()));
    let device = format!("/sys/dev/block/{major}:{minor}");
    // A partition has no queue of its own; its disk is the folder above.
    ["queue/logical_block_size", "../queue/logical_block_size"]
        .into_iter()
        .find_map(|file| std::fs::read_to_string(Path::new(&device).join(file)).ok())?
        .trim()
        .parse()
        .ok()
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn wrong_kind(path: PathBuf, kind: &std::fs::FileType) -> TargetError {
    let (what, advice) = if kind.is_dir() {
        ("a folder", format!("name a file in it: file:{}?size=4GiB", path.join("heatsoak.bin").display()))
    } else if kind.is_block_device() {
        ("a block device", format!("write {} without \"file:\"", path.display()))
    } else {
        ("not a regular file", "name a regular file".to_owned())
    };
    TargetError::WrongKind { path, what, advice }
}
