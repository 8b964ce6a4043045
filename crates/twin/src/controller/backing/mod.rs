//! Where the data of a namespace lie: sparse memory, or a sparse file.
//!
//! What was written is what is read; what never was, or was deallocated, reads as zeros. Usable by
//! many threads at once without a lock around it: a block is always read as one write left it, and
//! I/Os to different places do not wait for each other. It knows no commands and no limits of a
//! controller; callers stay within [`Backing::len_bytes`].

mod file;
mod memory;

use std::io;
use std::path::Path;

pub use memory::ChunkPiece;

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

    /// The file at `path`, made or grown to `len_bytes` without taking room for them.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn file(path: &Path, len_bytes: u64) -> io::Result<Self> {
        Ok(Self(BackingKind::File(file::SparseFile::open(path, len_bytes)?)))
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
