//! The memory that one thread of a load needs for what it keeps in flight: how much, and whether that is reasonable.
//!
//! Here and not beside the ring, because a plan that needs too much is refused before any drive is opened.

use measure::Seed;

use crate::{Load, WriteData};

/// The strictest alignment that O_DIRECT asks for on common devices, and the size of a page.
pub const PAGE_BYTES: usize = 4096;

/// The kernel's limit on entries of one ring (IORING_MAX_ENTRIES, io_uring/io_uring.h).
const DEPTH_MAX: usize = 32_768;

/// Random bytes of all slots together, beside one I/O each: small enough to stay in a processor's cache, large
/// enough that a compressor's window has gone on before they come again.
const ROOM_BYTES_ALL: usize = 8 << 20;

/// For one slot: no less than this, and no more than a compressor looks at.
const ROOM_BYTES_MIN: usize = 64 << 10;
const ROOM_BYTES_MAX: usize = 1 << 20;

/// A worker with more than this is a mistake: 16 MiB I/Os at depth 256.
const BUFFER_BYTES_MAX: usize = 4 << 30;

/// What a worker's buffers are for.
#[derive(Clone, Copy, Debug)]
pub struct BufferSpec {
    /// I/Os in flight.
    pub depth: usize,
    /// The largest I/O in bytes.
    pub largest: u32,
    /// Whether it reads.
    pub reads: bool,
    /// Whether it writes.
    pub writes: bool,
    /// What is written.
    pub data: WriteData,
    /// Of what is written.
    pub seed: Seed,
}

impl BufferSpec {
    /// What one thread of `load` needs.
    pub fn new(load: &Load, seed: Seed) -> Self {
        Self {
            depth: load.depth.as_usize(),
            largest: load.io_max(),
            reads: load.mix.read > 0,
            writes: load.mix.write > 0,
            data: load.data,
            seed,
        }
    }

    /// Whether what is written is random, each sector unlike every other.
    pub fn is_random(&self) -> bool {
        self.writes && self.data == WriteData::Incompressible
    }
}

/// Where in the memory everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLayout {
    /// From one slot to the next.
    pub stride: usize,
    /// Start of the part that is written from, within a slot; before it lies what is read into.
    pub write_start: usize,
    /// Up to where it may be written from, within a slot.
    pub write_end: usize,
}

impl BufferLayout {
    /// The layout for `spec`; `None` when it is beyond reason.
    pub fn new(spec: &BufferSpec) -> Option<Self> {
        let io_bytes = (spec.largest as usize).next_multiple_of(PAGE_BYTES);
        let room_bytes = if spec.data == WriteData::Incompressible {
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
}

/// Whether what one thread of `load` keeps in flight is within what the kernel and the memory take.
pub(crate) fn fits_memory(load: &Load) -> bool {
    ring_layout(&BufferSpec::new(load, Seed::new(0))).is_some()
}

/// Memory for the I/Os that all threads of `load` keep in flight on a file or device, in bytes.
pub fn buffer_bytes(load: &Load) -> u64 {
    let spec = BufferSpec::new(load, Seed::new(0));
    let thread = ring_layout(&spec).map_or(0, |layout| layout.stride as u64 * spec.depth as u64);
    thread.saturating_mul(load.threads.into())
}

/// The layout for a thread with a ring of its own; `None` when it is beyond reason, or beyond the kernel's.
pub fn ring_layout(spec: &BufferSpec) -> Option<BufferLayout> {
    BufferLayout::new(spec).filter(|_| spec.depth <= DEPTH_MAX)
}

#[cfg(test)]
mod test {
    use super::*;

    const SPEC: BufferSpec = BufferSpec {
        depth: 4,
        largest: 10_000,
        reads: true,
        writes: true,
        data: WriteData::Incompressible,
        seed: Seed::new(1),
    };

    #[test]
    fn only_writes_of_random_data_cost_room_for_it() {
        let reads = BufferSpec { writes: false, largest: 4096, ..SPEC };
        assert_eq!(BufferLayout::new(&reads).map(|layout| layout.stride), Some(4096));
        let zeroes = BufferSpec { reads: false, data: WriteData::Zeroes, largest: 4096, ..SPEC };
        assert_eq!(BufferLayout::new(&zeroes).map(|layout| layout.stride), Some(4096));
        assert_eq!(BufferLayout::new(&BufferSpec { depth: 65_535, largest: u32::MAX, ..SPEC }), None);
    }
}
