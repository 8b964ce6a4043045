//! Data in a sparse file: reads and writes by position, deallocation by holes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fallocate, flock};
use rustix::io::Errno;

use super::mark::{BackingMark, is_empty};
use super::{BackingError, BackingFile};

/// Unit of `st_blocks` (stat(2)).
const STAT_BLOCK_BYTES: u64 = 512;
/// The user's alone: a host's data are nobody else's.
const MODE: u32 = 0o600;
/// Zeros are written in pieces of this size where the file system makes no holes.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// A file as long as its namespace, locked while it is open.
#[derive(Debug)]
pub(super) struct SparseFile {
    file: File,
    len_bytes: u64,
    pub(super) is_marked: bool,
}

impl SparseFile {
    /// Opens or makes the file. What heatsoak did not make and has data in it is left alone, unless it was given away;
    /// then it is not marked, and has to be given away again.
    pub(super) fn open(options: &BackingFile, name: &str, len_bytes: u64) -> Result<Self, BackingError> {
        let file = open(&options.path)?;
        let meta = file.metadata()?;
        // A disk or a partition has a size of its own, and somebody's data.
        if !meta.is_file() {
            return Err(BackingError::NoFile);
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            // Some network file systems have no locks.
            Ok(()) | Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(Errno::WOULDBLOCK) => return Err(BackingError::InUse),
            Err(errno) => return Err(io::Error::from(errno).into()),
        }
        let marked_len = BackingMark::read(&file).map(|mark| mark.len_bytes);
        let is_ours = marked_len == Some(meta.len()) || is_empty(&file);
        if !is_ours && !options.overwrite {
            return Err(BackingError::Foreign { len_bytes: meta.len(), marked_len });
        }
        // Longer ones keep their tail: another profile may come back for it.
        let file_len_bytes = meta.len().max(len_bytes);
        if meta.len() < file_len_bytes {
            file.set_len(file_len_bytes)?;
        }
        let mark = BackingMark { name: name.to_owned(), len_bytes: file_len_bytes };
        let is_marked = is_ours && mark.write(&file);
        Ok(Self { file, len_bytes, is_marked })
    }

    pub(super) const fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    pub(super) fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset_bytes)
    }

    pub(super) fn write_at(&self, offset_bytes: u64, data: &[u8]) -> io::Result<()> {
        self.file.write_all_at(data, offset_bytes)
    }

    pub(super) fn zero(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        if len_bytes == 0 {
            return Ok(());
        }
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, hole, offset_bytes, len_bytes) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write_zeros(offset_bytes, len_bytes),
            Err(why) => Err(why.into()),
        }
    }

    fn write_zeros(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let (mut offset, end) = (offset_bytes, offset_bytes + len_bytes);
        while offset < end {
            let piece = (end - offset).min(ZEROS.len() as u64);
            self.write_at(offset, &ZEROS[..piece as usize])?;
            offset += piece;
        }
        Ok(())
    }

    pub(super) fn flush(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub(super) fn used_bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.blocks() * STAT_BLOCK_BYTES)
    }
}

/// Opens a file for reading and writing, or makes it. No link is followed, and nothing is waited for (a pipe).
fn open(path: &Path) -> Result<File, BackingError> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(MODE);
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => BackingError::Link,
        Some(Errno::ISDIR) => BackingError::Folder,
        _ => BackingError::Io(error),
    })
}
