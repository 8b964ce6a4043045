//! Sparse memory: chunks that exist only where something was written.
//!
//! Two levels, so that a drive of terabytes costs a few kilobytes while it is empty: groups of
//! chunks, made when first written to, and in them the chunks, each behind a lock of its own. Who
//! sends data out takes a chunk by reference count; a writer that finds such readers copies the chunk
//! first, so nobody waits while data go out to a slow host.

use std::io;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard};

/// Bytes of a chunk: a 4 KiB write at random makes 16 times its size at worst, and a 1 MiB transfer
/// takes 16 locks, which is nothing beside moving its data.
pub(super) const CHUNK_BYTES: usize = 64 << 10;
/// Chunks of a group: 64 MiB, so that the first level of 1 TB has 16,384 entries.
const GROUP_CHUNKS: usize = 1024;
const GROUP_BYTES: u64 = (CHUNK_BYTES * GROUP_CHUNKS) as u64;

/// Data of a chunk, right behind the count of those that send them out; `None` reads as zeros.
type Chunk = RwLock<Option<Arc<[u8]>>>;
type Group = Box<[Chunk]>;

/// Data in memory.
#[derive(Debug)]
pub(super) struct Memory {
    groups: Box<[OnceLock<Group>]>,
    len_bytes: u64,
    limit_bytes: u64,
    used_bytes: AtomicU64,
}

/// A piece of data as it was when it was asked for.
#[derive(Clone, Debug)]
pub struct ChunkPiece {
    chunk: Arc<[u8]>,
    range: Range<usize>,
}

impl Deref for ChunkPiece {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.chunk[self.range.clone()]
    }
}

impl AsRef<[u8]> for ChunkPiece {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Memory {
    pub(super) fn new(len_bytes: u64, limit_bytes: u64) -> Self {
        let groups = (0..len_bytes.div_ceil(GROUP_BYTES)).map(|_| OnceLock::new()).collect();
        Self { groups, len_bytes, limit_bytes, used_bytes: AtomicU64::new(0) }
    }

    pub(super) const fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) {
        let mut done = 0;
        for (index, range) in chunks(offset_bytes, buffer.len() as u64) {
            let part = &mut buffer[done..done + range.len()];
            done += range.len();
            // Copied under the lock: nothing is counted up and down for it.
            match self.known(index).map(read).as_deref() {
                Some(Some(data)) => part.copy_from_slice(&data[range]),
                _ => part.fill(0),
            }
        }
    }

    pub(super) fn pieces(&self, offset_bytes: u64, len_bytes: usize) -> Vec<ChunkPiece> {
        chunks(offset_bytes, len_bytes as u64)
            .map(|(index, range)| ChunkPiece { chunk: self.data(index).unwrap_or_else(zeros), range })
            .collect()
    }

    pub(super) fn write_at(&self, offset_bytes: u64, data: &[u8]) -> io::Result<()> {
        let mut done = 0;
        for (index, range) in chunks(offset_bytes, data.len() as u64) {
            let part = &data[done..done + range.len()];
            done += range.len();
            let mut chunk = self.chunk(index).write().unwrap_or_else(PoisonError::into_inner);
            let is_whole = part.len() == CHUNK_BYTES;
            match &mut *chunk {
                Some(held) => match Arc::get_mut(held) {
                    Some(data) => data[range].copy_from_slice(part),
                    // Somebody sends the old data out; of a whole chunk there is nothing to keep.
                    None if is_whole => *held = filled(0..CHUNK_BYTES, part),
                    None => Arc::make_mut(held)[range].copy_from_slice(part),
                },
                absent => {
                    self.take_room()?;
                    *absent = Some(filled(range, part));
                }
            }
        }
        Ok(())
    }

    pub(super) fn zero(&self, offset_bytes: u64, len_bytes: u64) {
        let (mut offset, end) = (offset_bytes, offset_bytes + len_bytes);
        while offset < end {
            // Groups that never were are skipped whole: deallocating a drive is one command.
            let group_end = (offset / GROUP_BYTES + 1) * GROUP_BYTES;
            let len = end.min(group_end) - offset;
            if self.groups[(offset / GROUP_BYTES) as usize].get().is_some() {
                self.zero_in_group(offset, len);
            }
            offset += len;
        }
    }

    fn zero_in_group(&self, offset_bytes: u64, len_bytes: u64) {
        for (index, range) in chunks(offset_bytes, len_bytes) {
            let mut chunk = self.chunk(index).write().unwrap_or_else(PoisonError::into_inner);
            if range.len() == CHUNK_BYTES {
                if chunk.take().is_some() {
                    self.used_bytes.fetch_sub(CHUNK_BYTES as u64, Ordering::Relaxed);
                }
            } else if let Some(held) = &mut *chunk {
                Arc::make_mut(held)[range].fill(0);
            }
        }
    }

    /// A chunk, if its group was ever written to.
    fn known(&self, index: u64) -> Option<&Chunk> {
        Some(&self.groups[index as usize / GROUP_CHUNKS].get()?[index as usize % GROUP_CHUNKS])
    }

    fn data(&self, index: u64) -> Option<Arc<[u8]>> {
        read(self.known(index)?).clone()
    }

    fn chunk(&self, index: u64) -> &Chunk {
        let group = self.groups[index as usize / GROUP_CHUNKS]
            .get_or_init(|| (0..GROUP_CHUNKS).map(|_| RwLock::new(None)).collect());
        &group[index as usize % GROUP_CHUNKS]
    }

    /// Counts one more chunk, if there is room for it.
    fn take_room(&self) -> io::Result<()> {
        let chunk = CHUNK_BYTES as u64;
        let more = |used: u64| used.checked_add(chunk).filter(|sum| *sum <= self.limit_bytes);
        match self.used_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::new(io::ErrorKind::StorageFull, "the memory limit is reached")),
        }
    }
}

/// What a chunk holds now. A writer that panicked left whole bytes.
fn read(chunk: &Chunk) -> RwLockReadGuard<'_, Option<Arc<[u8]>>> {
    chunk.read().unwrap_or_else(PoisonError::into_inner)
}

/// A chunk of `part` at `range` and zeros around it.
fn filled(range: Range<usize>, part: &[u8]) -> Arc<[u8]> {
    if part.len() == CHUNK_BYTES {
        return Arc::from(part);
    }
    let mut fresh: Arc<[u8]> = std::iter::repeat_n(0, CHUNK_BYTES).collect();
    Arc::make_mut(&mut fresh)[range].copy_from_slice(part);
    fresh
}

/// A chunk of zeros, shared by all that read what was never written.
fn zeros() -> Arc<[u8]> {
    static ZEROS: OnceLock<Arc<[u8]>> = OnceLock::new();
    Arc::clone(ZEROS.get_or_init(|| filled(0..0, &[])))
}

/// The chunks that a run of bytes lies in, and which of their bytes.
fn chunks(offset_bytes: u64, len_bytes: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
    const CHUNK: u64 = CHUNK_BYTES as u64;
    let end = offset_bytes + len_bytes;
    let mut offset = offset_bytes;
    std::iter::from_fn(move || {
        if offset >= end {
            return None;
        }
        let (index, from) = (offset / CHUNK, offset % CHUNK);
        let len = (CHUNK - from).min(end - offset);
        offset += len;
        Some((index, from as usize..(from + len) as usize))
    })
}
