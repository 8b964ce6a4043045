//! Data in a sparse file: reads and writes by position, deallocation by holes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// Unit of `st_blocks` (stat(2)).
const STAT_BLOCK_BYTES: u64 = 512;
/// Zeros are written in pieces of this size where the file system makes no holes.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// A file as long as its namespace.
#[derive(Debug)]
pub(super) struct SparseFile {
    file: File,
    len_bytes: u64,
}

impl SparseFile {
    pub(super) fn open(path: &Path, len_bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let meta = file.metadata()?;
        // A disk or a partition has a size of its own, and somebody's data.
        if !meta.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        // Longer ones keep their tail: another profile may come back for it.
        if meta.len() < len_bytes {
            file.set_len(len_bytes)?;
        }
        Ok(Self { file, len_bytes })
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
