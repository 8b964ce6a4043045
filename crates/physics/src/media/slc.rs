//! The SLC cache: what of which region lies in it, how it fills and how it empties.
//!
//! The drive is cut into chunks; for each the bytes that lie in the cache are kept, so that writing
//! the same place again takes no more room and deallocating gives room back. The oldest chunk is
//! folded into the main flash first. Chunks are coarse on purpose: an access costs one look-up, and
//! a simulated hour a few hundred thousand of them.
//!
//! Not modelled: the erase that writing over cached data costs (see `erase` for the drive's), wear, and a cache that shrinks
//! as the drive fills.

use std::collections::VecDeque;

use crate::profile::SlcProfile;

/// Bytes of a chunk: 16 MiB keeps the map of a 1 TB drive in 256 KB, inside a core's own cache.
pub(crate) const CHUNK_BYTES: u64 = 16 << 20;

/// The cache and its map.
#[derive(Clone, Debug)]
pub(crate) struct SlcState {
    profile: SlcProfile,
    /// Bytes of each chunk that lie in the cache.
    cached: Vec<u32>,
    /// Chunks in the order they were first written, the oldest in front.
    order: VecDeque<u32>,
    queued: Vec<bool>,
    used_bytes: u64,
    /// Whether new data still goes in: from full on not, until enough room is free again.
    open: bool,
    /// What folding owes: fractions of a byte between ticks.
    fold_debt_bytes: f64,
}

impl SlcState {
    pub(crate) fn new(profile: SlcProfile, capacity_bytes: u64) -> Self {
        let chunks = usize::try_from(capacity_bytes.div_ceil(CHUNK_BYTES)).unwrap_or(usize::MAX);
        Self {
            profile,
            cached: vec![0; chunks],
            order: VecDeque::new(),
            queued: vec![false; chunks],
            used_bytes: 0,
            open: true,
            fold_debt_bytes: 0.0,
        }
    }

    pub(crate) const fn free_bytes(&self) -> u64 {
        self.profile.capacity_bytes.saturating_sub(self.used_bytes)
    }

    /// Whether new data goes in.
    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// Whether data written at `offset_bytes` goes into the cache: it is open, or has it already.
    #[inline]
    pub(crate) fn takes(&self, offset_bytes: u64) -> bool {
        self.open || u64::from(self.cached_at(offset_bytes)) == CHUNK_BYTES
    }

    /// Notes a write that goes into the cache.
    #[inline]
    pub(crate) fn write(&mut self, offset_bytes: u64, len_bytes: u64, sequential: bool) {
        let (mut offset, mut left) = (offset_bytes, len_bytes);
        while left > 0 {
            let piece = left.min(CHUNK_BYTES - offset % CHUNK_BYTES);
            self.write_piece((offset / CHUNK_BYTES) as usize, piece, sequential);
            offset += piece;
            left -= piece;
        }
    }

    /// Gives back what of a region lies in the cache.
    pub(crate) fn trim(&mut self, offset_bytes: u64, len_bytes: u64) {
        let (mut offset, end) = (offset_bytes, offset_bytes.saturating_add(len_bytes));
        while offset < end {
            let chunk_end = (offset / CHUNK_BYTES + 1) * CHUNK_BYTES;
            let piece = end.min(chunk_end) - offset;
            let Some(cached) = self.cached.get_mut((offset / CHUNK_BYTES) as usize) else { break };
            // Of a part of a chunk, its share: where inside the chunk the data lies is not known.
            let freed = (u64::from(*cached) * piece / CHUNK_BYTES) as u32;
            *cached -= freed;
            self.used_bytes -= u64::from(freed);
            offset += piece;
        }
        self.reopen();
    }

    /// Folds for `span_s` seconds; returns the bytes moved into the main flash.
    ///
    /// `housekeeping_bytes_per_s` is what a drive without erased blocks folds while nobody writes.
    pub(crate) fn fold(
        &mut self,
        span_s: f64,
        idle_s: f64,
        written_to: bool,
        housekeeping_bytes_per_s: f64,
    ) -> f64 {
        let rate = if idle_s > self.profile.idle_fold_after_s {
            self.profile.idle_fold_bytes_per_s
        } else if written_to && !self.open {
            self.profile.pressure_fold_bytes_per_s
        } else if written_to {
            0.0
        } else {
            housekeeping_bytes_per_s
        };
        if rate == 0.0 || self.used_bytes == 0 {
            return 0.0;
        }
        self.fold_debt_bytes += rate * span_s;
        let mut folded = 0;
        while self.fold_debt_bytes >= 1.0 {
            let Some(&oldest) = self.order.front() else { break };
            let cached = &mut self.cached[oldest as usize];
            let moved = (self.fold_debt_bytes as u64).min(u64::from(*cached));
            *cached -= moved as u32;
            folded += moved;
            self.fold_debt_bytes -= moved as f64;
            if *cached == 0 {
                self.order.pop_front();
                self.queued[oldest as usize] = false;
            }
        }
        if self.order.is_empty() {
            self.fold_debt_bytes = 0.0;
        }
        self.used_bytes -= folded;
        self.reopen();
        folded as f64
    }

    /// Bytes of the chunk at `offset_bytes` that lie in the cache.
    #[inline]
    fn cached_at(&self, offset_bytes: u64) -> u32 {
        self.cached.get((offset_bytes / CHUNK_BYTES) as usize).copied().unwrap_or(0)
    }

    #[inline]
    fn write_piece(&mut self, chunk: usize, piece_bytes: u64, sequential: bool) {
        let Some(cached) = self.cached.get_mut(chunk) else { return };
        let room = CHUNK_BYTES - u64::from(*cached);
        // A stream fills what is empty. A random write meets cached data as often as there is any.
        let grown =
            if sequential { piece_bytes.min(room) } else { (piece_bytes * room).div_ceil(CHUNK_BYTES) };
        if grown == 0 {
            return;
        }
        *cached += grown as u32;
        self.used_bytes += grown;
        if !self.queued[chunk] {
            self.queued[chunk] = true;
            self.order.push_back(chunk as u32);
        }
        if self.used_bytes >= self.profile.capacity_bytes {
            self.open = false;
        }
    }

    fn reopen(&mut self) {
        if self.free_bytes() as f64 >= self.profile.reopen_share * self.profile.capacity_bytes as f64 {
            self.open = true;
        }
    }
}
