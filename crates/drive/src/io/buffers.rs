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

use std::alloc::{Layout, handle_alloc_error};

use measure::Seed;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout};

use plan::memory::{BufferLayout, BufferSpec, PAGE_BYTES};

/// The smallest block of any drive.
pub const SECTOR_BYTES: usize = 512;

/// A page of memory.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(4096))]
struct Page([u8; PAGE_BYTES]);

/// Aligned memory.
pub(crate) struct BufferMemory {
    pages: Vec<Page>,
}

impl BufferMemory {
    /// At least `len` bytes, zeroed.
    ///
    /// No page ever lies on a stack: of a function that puts a value aligned to 4096 bytes there only on one of its ways,
    /// rustc 1.95 (LLVM's shrink wrapping beside inline stack probes) left out the prologue, and it returned to nowhere.
    pub(crate) fn new(len: usize) -> Self {
        let pages = len.div_ceil(PAGE_BYTES);
        let pages = Page::new_vec_zeroed(pages).unwrap_or_else(|_| alloc_failed(pages));
        Self { pages }
    }

    /// None at all.
    pub(crate) const fn none() -> Self {
        Self { pages: Vec::new() }
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.pages.as_bytes()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.pages.as_mut_bytes()
    }
}

/// As every vector ends that gets no memory.
fn alloc_failed(pages: usize) -> ! {
    match Layout::array::<Page>(pages) {
        Ok(layout) => handle_alloc_error(layout),
        Err(_) => panic!("buffers of {pages} pages are beyond the address space; plans are checked for that"),
    }
}

/// Memory laid out as `layout` says, with what is to be written in it.
pub(crate) fn fill(layout: &BufferLayout, spec: &BufferSpec) -> BufferMemory {
    let mut memory = BufferMemory::new(layout.stride * spec.depth);
    if spec.is_random() {
        let mut generator = Pcg64Mcg::seed_from_u64(spec.seed.as_u64());
        for slot in memory.bytes_mut().chunks_exact_mut(layout.stride) {
            generator.fill_bytes(&mut slot[layout.write_start..]);
        }
    }
    memory
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
pub struct Stamps {
    next: u64,
}

impl Stamps {
    /// 2^64 over the golden ratio, made odd: neighbours share few bits (Knuth, TAOCP 6.4).
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    /// A sequence of its own for each seed.
    pub fn new(seed: Seed) -> Self {
        Self { next: seed.part(0).as_u64() }
    }

    /// The next number.
    #[inline]
    pub fn advance(&mut self) -> u64 {
        self.next = self.next.wrapping_add(Self::STEP);
        self.next
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use plan::WriteData;

    const SPEC: BufferSpec = BufferSpec {
        depth: 4,
        largest: 10_000,
        reads: true,
        writes: true,
        data: WriteData::Incompressible,
        seed: Seed::new(1),
    };

    #[test]
    fn slots_are_aligned_and_apart() {
        let layout = BufferLayout::new(&SPEC).expect("reasonable");
        let (write_start, write_end) = (3 * 4096, 2 * 3 * 4096 + (1 << 20));
        assert_eq!(layout, BufferLayout { stride: write_end, write_start, write_end });
        let memory = fill(&layout, &SPEC);
        assert_eq!(memory.bytes().as_ptr().addr() % PAGE_BYTES, 0);
        assert_eq!(memory.bytes().len(), 4 * layout.stride);
        assert_eq!(memory.bytes()[..layout.write_start], vec![0; layout.write_start]);
    }
}
