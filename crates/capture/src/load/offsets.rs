//! Where the next I/O goes.
//!
//! - Sequential: one after the other, each operation of a mix on its own way (as fio); what is left at the end
//!   of the region and is too short for the next I/O is passed over. Several threads split the region or each
//!   pass over all of it.
//! - Random, drawn anew: uniform over all aligned places at which the I/O fits.
//! - Random, visit once: all blocks of the region in a random order, in another order every lap. It needs one
//!   size for all I/Os; with several sizes a "block" has no meaning and places are drawn anew.
//!
//! Offsets are multiples of the alignment counted from the start of the target. Constant memory on any drive.

use std::ops::Range;

use measure::Seed;
use measure::record::Op;

use super::LoadError;
use super::draw::{Draw, SizeDraw};
use super::permutation::Permutation;
use plan::{Load, Order, Sharing};

/// Where the I/Os of one worker go.
#[derive(Clone, Debug)]
pub(crate) struct Offsets {
    /// The worker's part of the region, its start rounded up to the alignment.
    part: Range<u64>,
    align: u64,
    /// From the start of one I/O to the earliest start of the next, where all have one size.
    step: Option<u64>,
    way: OffsetWay,
}

#[derive(Clone, Debug)]
enum OffsetWay {
    /// Next place of each operation.
    Sequential([u64; 3]),
    Anew {
        draw: Draw,
        /// How many places there are, where all I/Os have one size: a division less for each.
        places: Option<u64>,
    },
    VisitOnce {
        order: Permutation,
        next: u64,
        blocks: u64,
        lap: u64,
        seed: Seed,
    },
}

impl Offsets {
    /// The way of thread `thread` of `load` through `region` (in bytes of the target).
    ///
    /// # Errors
    /// When the thread's part of the region is smaller than an I/O.
    pub(crate) fn new(
        load: &Load,
        sizes: &SizeDraw,
        region: Range<u64>,
        thread: u16,
        seed: Seed,
    ) -> Result<Self, LoadError> {
        let align = load.align.map_or(u64::from(sizes.smallest()), measure::Bytes::as_u64);
        if align == 0 {
            return Err(LoadError::Align);
        }
        let step = sizes.fixed().map(|size| u64::from(size).next_multiple_of(align));
        let whole = region.start.next_multiple_of(align)..region.end;
        let split = load.order == Order::Sequential && load.sharing == Sharing::Split;
        let part =
            if split { split_part(&whole, step.unwrap_or(align), thread, load.threads) } else { whole };
        let part_bytes = part.end.saturating_sub(part.start);
        if part_bytes < u64::from(sizes.largest()) {
            return Err(LoadError::Region {
                part_bytes,
                io_bytes: sizes.largest(),
                threads: if split { load.threads } else { 1 },
            });
        }
        let way = match (load.order, step) {
            (Order::Sequential, _) => OffsetWay::Sequential([part.start; 3]),
            (Order::Random, Some(step)) if load.visit_once => {
                let blocks = blocks_in(part_bytes, step, sizes.largest());
                OffsetWay::VisitOnce {
                    order: Permutation::new(blocks, seed.part(0)),
                    next: 0,
                    blocks,
                    lap: 0,
                    seed,
                }
            }
            (Order::Random, _) => OffsetWay::Anew {
                draw: Draw::new(seed),
                places: sizes.fixed().map(|size| (part_bytes - u64::from(size)) / align + 1),
            },
        };
        Ok(Self { part, align, step, way })
    }

    /// The offset of the next I/O, which does `op` and is `size` bytes long.
    #[inline]
    pub(crate) fn next(&mut self, op: Op, size: u32) -> u64 {
        match &mut self.way {
            OffsetWay::Sequential(places) => {
                let place = &mut places[op as usize];
                if *place + u64::from(size) > self.part.end {
                    *place = self.part.start;
                }
                let offset = *place;
                // Without this test a division stands in the hottest loop.
                *place = match self.step {
                    Some(step) => offset + step,
                    None => (offset + u64::from(size)).next_multiple_of(self.align),
                };
                offset
            }
            OffsetWay::Anew { draw, places } => {
                let room = self.part.end - self.part.start - u64::from(size);
                let places = places.unwrap_or_else(|| room / self.align + 1);
                self.part.start + draw.below(places) * self.align
            }
            OffsetWay::VisitOnce { order, next, blocks, lap, seed } => {
                if *next == *blocks {
                    (*next, *lap) = (0, *lap + 1);
                    *order = Permutation::new(*blocks, seed.part(*lap));
                }
                let block = order.at(*next);
                *next += 1;
                self.part.start + block * self.step.unwrap_or(self.align)
            }
        }
    }

    /// How much one lap moves: whole I/Os where all have one size, else the part's length.
    pub(crate) fn lap_bytes(&self, sizes: &SizeDraw) -> u64 {
        let part_bytes = self.part.end - self.part.start;
        match (self.step, sizes.fixed()) {
            (Some(step), Some(size)) => blocks_in(part_bytes, step, size) * u64::from(size),
            _ => part_bytes,
        }
    }
}

/// How many I/Os of `size` bytes start every `step` bytes and end within `part_bytes`.
fn blocks_in(part_bytes: u64, step: u64, size: u32) -> u64 {
    (part_bytes - u64::from(size)) / step + 1
}

/// The part of thread `thread` of `threads`: parts are whole units, differ by at most one, and make up the whole.
fn split_part(whole: &Range<u64>, unit: u64, thread: u16, threads: u16) -> Range<u64> {
    let units = u128::from(whole.end.saturating_sub(whole.start) / unit);
    let edge = |index: u16| (units * u128::from(index) / u128::from(threads.max(1))) as u64 * unit;
    let end = if thread + 1 >= threads { whole.end } else { whole.start + edge(thread + 1) };
    whole.start + edge(thread)..end
}

#[cfg(test)]
mod test {
    use measure::Bytes;
    use proptest::prelude::*;

    use super::super::test::load;
    use super::*;
    use plan::Sizes;

    fn offsets(load: &Load, region: Range<u64>, thread: u16) -> Result<Offsets, LoadError> {
        Offsets::new(load, &SizeDraw::new(&load.sizes)?, region, thread, Seed::new(5))
    }

    fn any_sizes() -> impl Strategy<Value = Sizes> {
        prop_oneof![
            (1u32..64).prop_map(|n| Sizes::Fixed(n * 512)),
            Just(Sizes::Weighted(vec![(512, 1), (4096, 5), (65536, 1)])),
            Just(Sizes::LogUniform { min: 512, max: 32768, step: 512 }),
            Just(Sizes::Uniform { min: 4096, max: 32768, step: 4096 }),
        ]
    }

    proptest! {
        /// The law that keeps data safe: no I/O leaves the region, and every offset is aligned.
        #[test]
        fn every_io_lies_in_the_region_and_is_aligned(
            sizes in any_sizes(),
            align in prop::option::of(prop::sample::select(vec![512u64, 4096, 12288, 65536])),
            order in prop::sample::select(vec![Order::Sequential, Order::Random]),
            sharing in prop::sample::select(vec![Sharing::Split, Sharing::Overlap]),
            visit_once: bool,
            threads in 1u16..5,
            start in 0u64..100_000,
            len in 1u64..4_000_000,
        ) {
            let load = Load { sizes, align: align.map(Bytes::new), order, sharing, visit_once, threads, ..load() };
            let region = start..start + len;
            for thread in 0..threads {
                let Ok(mut offsets) = offsets(&load, region.clone(), thread) else { continue };
                let sizes = SizeDraw::new(&load.sizes).expect("sizes");
                let align = load.align.map_or(u64::from(sizes.smallest()), Bytes::as_u64);
                let mut draw = Draw::new(Seed::new(9));
                for index in 0..300 {
                    let size = sizes.next(&mut draw);
                    let op = [Op::Read, Op::Write, Op::Trim][index % 3];
                    let offset = offsets.next(op, size);
                    prop_assert!(offset >= region.start && offset + u64::from(size) <= region.end);
                    prop_assert_eq!(offset % align, 0);
                }
            }
        }

        /// A lap visits every block once, whatever the order and however many threads split it.
        #[test]
        fn a_lap_visits_every_block_once(
            blocks in 4u64..500,
            threads in 1u16..5,
            order in prop::sample::select(vec![Order::Sequential, Order::Random]),
        ) {
            let threads = if order == Order::Random { 1 } else { threads };
            let load = Load { order, threads, sharing: Sharing::Split, visit_once: true, ..load() };
            for lap in 1..3 {
                let mut seen = vec![0; blocks as usize];
                for thread in 0..threads {
                    let mut offsets = offsets(&load, 4096..4096 * (blocks + 1), thread).expect("room");
                    let sizes = SizeDraw::new(&load.sizes).expect("sizes");
                    let ios = lap * offsets.lap_bytes(&sizes) / 4096;
                    for _ in 0..ios {
                        seen[(offsets.next(Op::Read, 4096) / 4096 - 1) as usize] += 1;
                    }
                }
                prop_assert!(seen.iter().all(|visits| *visits == lap), "{:?}", seen);
            }
        }
    }

    #[test]
    fn sequential_wraps_where_the_next_io_does_not_fit() {
        let load = Load { order: Order::Sequential, ..load() };
        let mut offsets = offsets(&load, 0..3 * 4096 + 100, 0).expect("room");
        let way: Vec<_> = (0..5).map(|_| offsets.next(Op::Read, 4096)).collect();
        assert_eq!(way, [0, 4096, 8192, 0, 4096]);
        assert_eq!(offsets.next(Op::Write, 4096), 0, "each operation goes its own way");
    }

    #[test]
    fn a_region_smaller_than_an_io_is_refused_with_the_numbers() {
        let load = Load { order: Order::Sequential, threads: 4, sharing: Sharing::Split, ..load() };
        let error = offsets(&load, 0..8192, 0).expect_err("too small").to_string();
        assert_eq!(
            error,
            "each of 4 threads has 0 bytes of the region and an I/O has 4096; \
             use a larger region, fewer threads or smaller I/Os"
        );
    }
}
