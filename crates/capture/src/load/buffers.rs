//! The memory that I/O reads into and writes from: aligned, one part a slot, filled before the load starts.
//!
//! What is written must not become smaller on its way to the flash, or a drive looks faster and cooler than it
//! is. Every slot has its own random bytes, and more of them than an I/O takes:
//! - each write goes on where the slot's last one ended, so that a file system that compresses (it looks at up to
//!   1 MiB at once, mostly at 128 KiB) finds nothing twice, at depth 1 neither;
//! - each of its 512 B sectors gets a number that never comes again (fio's `scramble_buffers` does alike), so that
//!   no sector is ever equal to another one: there is nothing to deduplicate.
//!
//! That costs eight bytes a sector, where filling afresh would cost all of them. Reads have memory of their own:
//! what was read must not be written.

use measure::Seed;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use crate::plan::{Data, Load};

/// The strictest alignment that O_DIRECT asks for on common devices, and the size of a page.
pub(crate) const PAGE_BYTES: usize = 4096;

/// The smallest block of any drive.
pub(crate) const SECTOR_BYTES: usize = 512;

/// Random bytes of all slots together, beside one I/O each: small enough to stay in a processor's cache, large
/// enough that a compressor's window has gone on before they come again.
const ROOM_BYTES_ALL: usize = 8 << 20;

/// For one slot: no less than this, and no more than a compressor looks at.
const ROOM_BYTES_MIN: usize = 64 << 10;
const ROOM_BYTES_MAX: usize = 1 << 20;

/// A worker with more than this is a mistake: 16 MiB I/Os at depth 256.
const BUFFER_BYTES_MAX: usize = 4 << 30;

/// A page of memory.
#[derive(Clone, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// Aligned memory.
pub(crate) struct Memory {
    pages: Vec<Page>,
}

impl Memory {
    /// At least `len` bytes, zeroed.
    pub(crate) fn new(len: usize) -> Self {
        Self { pages: vec![Page::new_zeroed(); len.div_ceil(PAGE_BYTES)] }
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.pages.as_bytes()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.pages.as_mut_bytes()
    }
}

/// What a worker's buffers are for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferSpec {
    pub(crate) depth: usize,
    pub(crate) largest: u32,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) data: Data,
    pub(crate) seed: Seed,
}

impl BufferSpec {
    /// What one thread of `load` needs.
    pub(crate) fn of(load: &Load, seed: Seed) -> Self {
        Self {
            depth: load.depth.as_usize(),
            largest: load.sizes.max(),
            reads: load.mix.read > 0,
            writes: load.mix.write > 0,
            data: load.data,
            seed,
        }
    }

    fn is_random(&self) -> bool {
        self.writes && self.data == Data::Incompressible
    }
}

/// Where in the memory everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferLayout {
    /// From one slot to the next.
    pub(crate) stride: usize,
    /// Start of the part that is written from, within a slot; before it lies what is read into.
    pub(crate) write_start: usize,
    /// Up to where it may be written from, within a slot.
    pub(crate) write_end: usize,
}

impl BufferLayout {
    /// The layout for `spec`; `None` when it is beyond reason.
    pub(crate) fn new(spec: &BufferSpec) -> Option<Self> {
        let io_bytes = (spec.largest as usize).next_multiple_of(PAGE_BYTES);
        let room_bytes = if spec.data == Data::Incompressible {
            (ROOM_BYTES_ALL / spec.depth.max(1)).clamp(ROOM_BYTES_MIN, ROOM_BYTES_MAX)
        } else {
            0
        };
        let write_start = if spec.reads { io_bytes } else { 0 };
        let write_bytes = if spec.writes { io_bytes + room_bytes } else { 0 };
        let write_end = write_start + write_bytes;
        let stride = write_end.next_multiple_of(PAGE_BYTES);
        let all = stride.checked_mul(spec.depth)?;
        (all <= BUFFER_BYTES_MAX).then_some(Self { stride, write_start, write_end })
    }

    /// The memory, with what is to be written in it.
    pub(crate) fn fill(&self, spec: &BufferSpec) -> Memory {
        let mut memory = Memory::new(self.stride * spec.depth);
        if spec.is_random() {
            let mut generator = Pcg64Mcg::seed_from_u64(spec.seed.as_u64());
            for slot in memory.bytes_mut().chunks_exact_mut(self.stride) {
                generator.fill_bytes(&mut slot[self.write_start..]);
            }
        }
        memory
    }
}

/// What each slot writes next.
pub(crate) struct Payloads {
    layout: BufferLayout,
    /// Where in each slot its next write starts.
    starts: Box<[usize]>,
    /// For the first eight bytes of each sector; `None` where data is not to be unlike everything before.
    pub(crate) stamps: Option<Stamps>,
}

impl Payloads {
    pub(crate) fn new(spec: &BufferSpec, layout: BufferLayout) -> Self {
        Self {
            layout,
            starts: vec![layout.write_start; spec.depth].into_boxed_slice(),
            stamps: spec.is_random().then(|| Stamps::new(spec.seed)),
        }
    }

    /// Where in `slot` its next write of `len` bytes starts.
    #[inline]
    pub(crate) fn start(&mut self, slot: u16, len: u32) -> usize {
        let (slot, len) = (usize::from(slot), len as usize);
        let mut start = self.starts[slot];
        if start + len > self.layout.write_end {
            start = self.layout.write_start;
        }
        if self.stamps.is_some() {
            self.starts[slot] = start + len.next_multiple_of(PAGE_BYTES);
        }
        start
    }
}

/// The numbers that make every sector unique: a Weyl sequence, which visits all 2^64 before one comes again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    next: u64,
}

impl Stamps {
    /// 2^64 over the golden ratio, made odd: neighbours share few bits (Knuth, TAOCP 6.4).
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    pub(crate) fn new(seed: Seed) -> Self {
        Self { next: seed.part(0).as_u64() }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.next = self.next.wrapping_add(Self::STEP);
        self.next
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const SPEC: BufferSpec = BufferSpec {
        depth: 4,
        largest: 10_000,
        reads: true,
        writes: true,
        data: Data::Incompressible,
        seed: Seed::new(1),
    };

    #[test]
    fn slots_are_aligned_and_apart() {
        let layout = BufferLayout::new(&SPEC).expect("reasonable");
        let (write_start, write_end) = (3 * 4096, 2 * 3 * 4096 + (1 << 20));
        assert_eq!(layout, BufferLayout { stride: write_end, write_start, write_end });
        let memory = layout.fill(&SPEC);
        assert_eq!(memory.bytes().as_ptr().addr() % PAGE_BYTES, 0);
        assert_eq!(memory.bytes().len(), 4 * layout.stride);
        assert_eq!(memory.bytes()[..layout.write_start], vec![0; layout.write_start]);
    }

    #[test]
    fn only_writes_of_random_data_cost_room_for_it() {
        let reads = BufferSpec { writes: false, largest: 4096, ..SPEC };
        assert_eq!(BufferLayout::new(&reads).map(|layout| layout.stride), Some(4096));
        let zeroes = BufferSpec { reads: false, data: Data::Zeroes, largest: 4096, ..SPEC };
        assert_eq!(BufferLayout::new(&zeroes).map(|layout| layout.stride), Some(4096));
        assert_eq!(BufferLayout::new(&BufferSpec { depth: 65_535, largest: u32::MAX, ..SPEC }), None);
    }
}
