//! Where the data of a namespace lie: sparse memory, or a sparse file.
//!
//! What was written is what is read; what never was, or was deallocated, reads as zeros. Usable by
//! many threads at once without a lock around it: a block is always read as one write left it, and
//! I/Os to different places do not wait for each other. It knows no commands and no limits of a
//! controller; callers stay within [`Backing::len_bytes`].

mod file;
mod mark;
mod memory;

use std::io;
use std::path::PathBuf;

use measure::Bytes;
use thiserror::Error;

pub use mark::backing_name;
pub use memory::ChunkPiece;

/// A file that is to hold the data of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackingFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether data that heatsoak did not make may be destroyed.
    pub overwrite: bool,
}

/// Why a file cannot hold the data of a namespace.
#[derive(Debug, Error)]
pub enum BackingError {
    /// There are data in it, and no mark of ours; or somebody filled it anew.
    #[error("it holds data that heatsoak did not make{}; name a new file, or add --overwrite if hosts may \
             overwrite all of it", refilled(*.len_bytes, *.marked_len))]
    Foreign {
        /// Its size.
        len_bytes: u64,
        /// The size that its mark names.
        marked_len: Option<u64>,
    },
    /// A symbolic link, which may lead anywhere.
    #[error("it is a symbolic link; name the file itself")]
    Link,
    /// A folder.
    #[error("it is a folder; name a file in it")]
    Folder,
    /// A device, a pipe, a socket.
    #[error("it is not a regular file; name a regular file")]
    NoFile,
    /// Another virtual SSD, or a load on `file:`.
    #[error("another process has locked it; end that one, or name another file")]
    InUse,
    /// Whatever else the system says.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why a file that carries our mark is not ours.
fn refilled(len_bytes: u64, marked_len: Option<u64>) -> String {
    marked_len.map_or_else(String::new, |marked| {
        format!(
            " (heatsoak made it {}, now it is {}: another program has written it)",
            Bytes::new(marked),
            Bytes::new(len_bytes)
        )
    })
}

/// The data of one namespace.
#[derive(Debug)]
pub struct Backing(BackingKind);

#[derive(Debug)]
enum BackingKind {
    Memory(memory::Memory),
    File(file::SparseFile),
}

impl Backing {
    /// `len_bytes` of zeros in memory, of which at most `limit_bytes` can be written.
    pub fn memory(len_bytes: u64, limit_bytes: u64) -> Self {
        Self(BackingKind::Memory(memory::Memory::new(len_bytes, limit_bytes)))
    }

    /// A file, made or grown to `len_bytes` without taking room for them, as the data of the drive `name`.
    ///
    /// # Errors
    /// A file that is not ours, or in use, or none; else whatever the file system says.
    pub fn file(options: &BackingFile, name: &str, len_bytes: u64) -> Result<Self, BackingError> {
        Ok(Self(BackingKind::File(file::SparseFile::open(options, name, len_bytes)?)))
    }

    /// Whether it will be known as ours at the next start; memory needs no mark.
    pub const fn is_marked(&self) -> bool {
        match &self.0 {
            BackingKind::Memory(_) => true,
            BackingKind::File(file) => file.is_marked,
        }
    }

    /// Size in bytes.
    pub const fn len_bytes(&self) -> u64 {
        match &self.0 {
            BackingKind::Memory(memory) => memory.len_bytes(),
            BackingKind::File(file) => file.len_bytes(),
        }
    }

    /// Fills `buffer` with what lies at `offset_bytes`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] past the end; else whatever the file system says.
    pub fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.check(offset_bytes, buffer.len() as u64)?;
        match &self.0 {
            BackingKind::Memory(memory) => memory.read_at(offset_bytes, buffer),
            BackingKind::File(file) => return file.read_at(offset_bytes, buffer),
        }
        Ok(())
    }

    /// The data at `offset_bytes` in pieces that need no copy, for gathered writes to a socket; no
    /// lock is held by them, and later writes do not change them. Only memory can do that: for a
    /// file it is `None`, and [`Backing::read_at`] is the way.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] past the end.
    pub fn pieces(&self, offset_bytes: u64, len_bytes: usize) -> io::Result<Option<Vec<ChunkPiece>>> {
        self.check(offset_bytes, len_bytes as u64)?;
        match &self.0 {
            BackingKind::Memory(memory) => Ok(Some(memory.pieces(offset_bytes, len_bytes))),
            BackingKind::File(_) => Ok(None),
        }
    }

    /// Puts `data` at `offset_bytes`.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] past the end, [`io::ErrorKind::StorageFull`] at the memory
    /// limit; else whatever the file system says. Part of the data may have been written.
    pub fn write_at(&self, offset_bytes: u64, data: &[u8]) -> io::Result<()> {
        self.check(offset_bytes, data.len() as u64)?;
        match &self.0 {
            BackingKind::Memory(memory) => memory.write_at(offset_bytes, data),
            BackingKind::File(file) => file.write_at(offset_bytes, data),
        }
    }

    /// Makes `len_bytes` from `offset_bytes` on read as zeros and gives back what room they took.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] past the end; else whatever the file system says.
    pub fn zero(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.check(offset_bytes, len_bytes)?;
        match &self.0 {
            BackingKind::Memory(memory) => memory.zero(offset_bytes, len_bytes),
            BackingKind::File(file) => return file.zero(offset_bytes, len_bytes),
        }
        Ok(())
    }

    /// Makes what was written durable; memory has nothing to do.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn flush(&self) -> io::Result<()> {
        match &self.0 {
            BackingKind::Memory(_) => Ok(()),
            BackingKind::File(file) => file.flush(),
        }
    }

    /// Bytes that data take now: of memory, or of the file system.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn used_bytes(&self) -> io::Result<u64> {
        match &self.0 {
            BackingKind::Memory(memory) => Ok(memory.used_bytes()),
            BackingKind::File(file) => file.used_bytes(),
        }
    }

    fn check(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        let end = offset_bytes.checked_add(len_bytes);
        if end.is_some_and(|end| end <= self.len_bytes()) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "the range reaches past the end of the namespace"))
    }
}

#[cfg(test)]
mod test;
