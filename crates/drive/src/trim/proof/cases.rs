//! Where the check writes, and what it unmaps there.
//!
//! Windows: at the start and the end of the drive, 2^16 blocks behind the start, across block 2^32 where the drive is
//! larger, and one for the 4 GiB command that Linux sends when nobody tells it a limit (`drivers/scsi/sd.c`,
//! `SD_MAX_WS16_BLOCKS` of 0x7fffff blocks).

use super::super::BlockRange;
use super::unit::IN_FLIGHT;
use crate::scsi::{BlockLimits, UnmapDescriptor};

/// What Linux sends in one UNMAP at most: 0x7fffff blocks.
const LINUX_UNMAP_BLOCKS_MAX: u64 = 0x7f_ffff;
/// A count in 16 bits goes round here.
const SIXTEEN_BITS: u64 = 1 << 16;
/// Assumed where page B0h names no granularity: a page of flash as drives map it.
const GRANULARITY_DEFAULT: u64 = 8;
/// Descriptors in one command where page B0h names no number, or more than a data segment of 4 KiB has.
const DESCRIPTORS_MAX: u64 = 255;
/// The smallest window in which every case has neighbours.
pub(super) const WINDOW_BLOCKS_MIN: u64 = 1024;

/// What a unit takes in one UNMAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnmapLimits {
    /// Blocks; `None` where page B0h has no limit.
    pub blocks: Option<u64>,
    /// Descriptors.
    pub descriptors: u64,
    /// Blocks that are deallocated together.
    pub granularity: u64,
    /// The first block that begins such a group.
    pub alignment: u64,
}

impl UnmapLimits {
    pub(super) fn new(limits: Option<&BlockLimits>) -> Self {
        let of = |field: fn(&BlockLimits) -> Option<u32>| limits.and_then(field).map(u64::from);
        let granularity = of(|limits| limits.unmap_granularity_blocks).unwrap_or(GRANULARITY_DEFAULT);
        Self {
            // All ones is "no limit" (SBC-4, 6.6.4).
            blocks: of(|limits| limits.unmap_blocks_max).filter(|most| *most != u64::from(u32::MAX)),
            descriptors: of(|limits| limits.unmap_ranges_max).unwrap_or(1).clamp(1, DESCRIPTORS_MAX),
            granularity,
            alignment: of(|limits| limits.unmap_alignment_blocks).unwrap_or(0) % granularity,
        }
    }
}

/// One command to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmapCase {
    /// What it is about.
    pub name: String,
    /// What it unmaps.
    pub ranges: Vec<BlockRange>,
    /// Whether it keeps to the limits of page B0h.
    pub within_limits: bool,
}

impl UnmapCase {
    /// Its descriptors.
    pub(super) fn descriptors(&self) -> Vec<UnmapDescriptor> {
        // Every case is made of lengths that fit.
        let one = |range: &BlockRange| UnmapDescriptor {
            first: range.first,
            blocks: u32::try_from(range.blocks).unwrap_or(u32::MAX),
        };
        self.ranges.iter().map(one).collect()
    }
}

/// Where the check writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofLayout {
    windows: Vec<BlockRange>,
}

impl ProofLayout {
    /// Windows of `window_blocks` on a drive of `blocks`, and one of `long_blocks` in its middle, if that is not 0 and
    /// there is room.
    pub fn new(blocks: u64, window_blocks: u64, long_blocks: u64) -> Self {
        let window = window_blocks.max(WINDOW_BLOCKS_MIN).min(blocks);
        let at = |first: u64, len: u64| BlockRange {
            first: first.min(blocks - len.min(blocks)),
            blocks: len.min(blocks),
        };
        let mut windows = vec![at(0, window), at(SIXTEEN_BITS, window), at(blocks - window, window)];
        let high = 1 << 32;
        if blocks > high + window {
            windows.push(at(high - window / 2, window));
        }
        if long_blocks > 0 && blocks / 4 >= long_blocks {
            windows.push(at(blocks / 2, long_blocks));
        }
        Self { windows: merged(windows) }
    }

    /// Its windows, in order, which neither overlap nor touch.
    pub fn windows(&self) -> &[BlockRange] {
        &self.windows
    }

    /// Blocks in all windows.
    pub fn blocks(&self) -> u64 {
        self.windows.iter().map(|window| window.blocks).sum()
    }

    /// Every case, each in the middle of a window.
    pub fn cases(&self, limits: UnmapLimits) -> Vec<UnmapCase> {
        let mut cases = Vec::new();
        for (number, window) in self.windows.iter().enumerate() {
            let middle = aligned(window.first + window.blocks / 4, limits);
            for (name, offset, blocks) in shapes(limits, number == 0) {
                let range = BlockRange { first: middle + offset, blocks };
                if window.contains(BlockRange { first: middle, blocks: offset + blocks + limits.granularity })
                {
                    cases.push(case(&format!("{name}, at block {}", range.first), vec![range], limits));
                }
            }
        }
        cases.extend(self.edges(limits));
        cases.extend(self.several(limits));
        cases.extend(self.long(limits));
        cases
    }

    /// One case of every shape beside the other, as many as there is room for: what stays unmapped over a power cycle.
    pub fn side_by_side(&self, limits: UnmapLimits) -> Vec<UnmapCase> {
        let mut cases = Vec::new();
        for window in &self.windows {
            let gap = limits.granularity * 16;
            let mut at = aligned(window.first + gap, limits);
            for (name, offset, blocks) in shapes(limits, true) {
                let range = BlockRange { first: at + offset, blocks };
                if !window.contains(BlockRange { first: at, blocks: offset + blocks + gap }) {
                    continue;
                }
                cases.push(case(&format!("{name}, left unmapped"), vec![range], limits));
                at = aligned(range.end() + gap, limits);
            }
        }
        cases
    }

    /// Unmaps and writes next to one another, `IN_FLIGHT` of either.
    pub(super) fn in_flight(&self, limits: UnmapLimits) -> Option<(Vec<BlockRange>, Vec<BlockRange>)> {
        let window = self.windows.first()?;
        let blocks = limits.granularity.min(window.blocks / (4 * IN_FLIGHT as u64));
        let first = |number: u64| window.first + 2 * number * blocks;
        let numbers = || 0..IN_FLIGHT as u64;
        let unmaps = numbers().map(|number| BlockRange { first: first(number), blocks });
        let writes = numbers().map(|number| BlockRange { first: first(number) + blocks, blocks });
        (blocks > 0).then(|| (unmaps.collect(), writes.collect()))
    }

    /// What is discarded through the kernel: half of the first window, from its second quarter on.
    pub(super) fn for_kernel(&self) -> Option<BlockRange> {
        let window = self.windows.first()?;
        // Whole units of 4 KiB, whatever the logical block: the kernel's own granularity is no more (Linux, `sd.c`).
        let first = (window.first + window.blocks / 4).next_multiple_of(8);
        Some(BlockRange { first, blocks: window.blocks / 2 / 8 * 8 }).filter(|range| range.blocks > 0)
    }

    /// First and last blocks: of the drive and of windows.
    fn edges(&self, limits: UnmapLimits) -> Vec<UnmapCase> {
        let mut cases = Vec::new();
        for window in &self.windows {
            let first = BlockRange { first: window.first, blocks: 1 };
            let last = BlockRange { first: window.end() - 1, blocks: 1 };
            cases.push(case(&format!("the first block of a window, {}", first.first), vec![first], limits));
            cases.push(case(&format!("the last block of a window, {}", last.first), vec![last], limits));
            let over = 1_u64 << 32;
            if window.first < over && over < window.end() {
                let across = BlockRange { first: over - 3, blocks: 7 };
                cases.push(case("across block 2^32", vec![across], limits));
            }
        }
        cases
    }

    /// Several descriptors in one command.
    fn several(&self, limits: UnmapLimits) -> Vec<UnmapCase> {
        let Some(window) = self.windows.first() else { return Vec::new() };
        let room = window.blocks / 2 / 4;
        let mut numbers = vec![2.min(limits.descriptors), limits.descriptors.min(room)];
        numbers.dedup();
        let of = |number: u64| {
            let first = window.first + window.blocks / 4 + 1;
            let ranges = (0..number).map(|one| BlockRange { first: first + 4 * one, blocks: 1 }).collect();
            case(&format!("{number} descriptors in one command"), ranges, limits)
        };
        numbers.into_iter().filter(|number| *number > 1).map(of).collect()
    }

    /// The command that Linux sends without a limit, in a window that holds it.
    fn long(&self, limits: UnmapLimits) -> Option<UnmapCase> {
        let window = self.windows.iter().find(|window| window.blocks > LINUX_UNMAP_BLOCKS_MAX + 64)?;
        let first = aligned(window.first + (window.blocks - LINUX_UNMAP_BLOCKS_MAX) / 2, limits);
        let range = BlockRange { first, blocks: LINUX_UNMAP_BLOCKS_MAX };
        Some(case("0x7fffff blocks: what Linux sends when nobody limits it", vec![range], limits))
    }
}

/// Shapes by name, with how far from a group's begin they start and how many blocks they have; the long ones only if told.
fn shapes(limits: UnmapLimits, with_long: bool) -> Vec<(&'static str, u64, u64)> {
    let group = limits.granularity;
    let mut shapes = vec![
        ("one block", group / 2, 1),
        ("one unit of deallocation", 0, group),
        ("unaligned at both ends", group / 2 + 1, 3 * group + 1),
    ];
    if with_long {
        if let Some(most) = limits.blocks {
            shapes.push(("as many blocks as page B0h allows", 0, most));
            shapes.push(("one block more than page B0h allows", 0, most + 1));
        }
        shapes.push(("65,535 blocks", 0, SIXTEEN_BITS - 1));
        shapes.push(("65,536 blocks", 0, SIXTEEN_BITS));
        shapes.push(("65,537 blocks", 0, SIXTEEN_BITS + 1));
    }
    shapes.retain(|(_, _, blocks)| u32::try_from(*blocks).is_ok());
    shapes
}

fn case(name: &str, ranges: Vec<BlockRange>, limits: UnmapLimits) -> UnmapCase {
    let blocks: u64 = ranges.iter().map(|range| range.blocks).sum();
    let within_limits =
        limits.blocks.is_none_or(|most| blocks <= most) && ranges.len() as u64 <= limits.descriptors;
    UnmapCase { name: name.to_owned(), ranges, within_limits }
}

/// The next block from `at` on that begins a group.
fn aligned(at: u64, limits: UnmapLimits) -> u64 {
    let UnmapLimits { granularity, alignment, .. } = limits;
    let past = (at + granularity - alignment) % granularity;
    if past == 0 { at } else { at + granularity - past }
}

/// The same windows in order, those that overlap or touch made one.
fn merged(mut windows: Vec<BlockRange>) -> Vec<BlockRange> {
    windows.sort();
    let mut merged: Vec<BlockRange> = Vec::new();
    for window in windows {
        match merged.last_mut() {
            Some(last) if window.first <= last.end() => {
                last.blocks = last.blocks.max(window.end() - last.first);
            }
            _ => merged.push(window),
        }
    }
    merged
}
