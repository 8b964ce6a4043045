//! What the check expects of each block that it has written, as runs: their number follows the commands that were sent,
//! not the size of the drive.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Blocks of a drive, in its logical blocks.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct BlockRange {
    /// Address of the first.
    pub first: u64,
    /// How many.
    pub blocks: u64,
}

impl BlockRange {
    /// One past the last.
    pub const fn end(self) -> u64 {
        self.first.saturating_add(self.blocks)
    }

    /// Whether all of `other` lies in it.
    pub const fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.end() <= self.end()
    }
}

/// What a block has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockState {
    /// The pattern of this generation.
    Written(u32),
    /// Anything at all: it was unmapped when it held this generation.
    Unmapped(u32),
}

/// What is expected of blocks; others are nobody's business.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockMap {
    /// First block of a run, to its end and state. Runs do not overlap.
    runs: BTreeMap<u64, (u64, BlockState)>,
}

impl BlockMap {
    /// Expects `state` of `range` from now on.
    pub fn set(&mut self, range: BlockRange, state: BlockState) {
        let (first, end) = (range.first, range.end());
        if range.blocks == 0 {
            return;
        }
        self.cut(first);
        self.cut(end);
        let inside: Vec<u64> = self.runs.range(first..end).map(|(start, _)| *start).collect();
        for start in inside {
            self.runs.remove(&start);
        }
        let (mut first, mut end) = (first, end);
        // Runs that touch and agree are one.
        if let Some((before, (until, same))) = self.runs.range(..first).next_back().map(|(k, v)| (*k, *v))
            && until == first
            && same == state
        {
            self.runs.remove(&before);
            first = before;
        }
        if let Some((until, same)) = self.runs.get(&end).copied()
            && same == state
        {
            self.runs.remove(&end);
            end = until;
        }
        self.runs.insert(first, (end, state));
    }

    /// Unmaps what was written in `range`: the generation stays known.
    pub fn unmap(&mut self, range: BlockRange) {
        for (part, state) in self.within(range) {
            if let BlockState::Written(generation) = state {
                self.set(part, BlockState::Unmapped(generation));
            }
        }
    }

    /// The runs in `range`, cut to it.
    pub fn within(&self, range: BlockRange) -> Vec<(BlockRange, BlockState)> {
        let Range { start, end } = range.first..range.end();
        let from = self.runs.range(..=start).next_back().map_or(start, |(first, _)| *first);
        let cut = |(first, (until, state)): (&u64, &(u64, BlockState))| {
            let (first, until) = ((*first).max(start), (*until).min(end));
            (first < until).then(|| (BlockRange { first, blocks: until - first }, *state))
        };
        self.runs.range(from..end).filter_map(cut).collect()
    }

    /// All runs.
    pub fn runs(&self) -> impl Iterator<Item = (BlockRange, BlockState)> + '_ {
        self.runs
            .iter()
            .map(|(first, (end, state))| (BlockRange { first: *first, blocks: end - first }, *state))
    }

    /// Has a run begin at `at`, if one goes over it.
    fn cut(&mut self, at: u64) {
        let over = self.runs.range(..at).next_back().map(|(first, run)| (*first, *run));
        if let Some((first, (end, state))) = over.filter(|(_, (end, _))| *end > at) {
            self.runs.insert(first, (at, state));
            self.runs.insert(at, (end, state));
        }
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    const BLOCKS: u64 = 64;

    proptest! {
        /// A map is what an array with a state a block is, whatever is set and unmapped in whatever order; and its runs
        /// are as few as they can be.
        #[test]
        fn a_map_is_an_array(steps in prop::collection::vec((0..BLOCKS, 0..BLOCKS, 0_u32..4), 0..40)) {
            let mut map = BlockMap::default();
            let mut array = [None; BLOCKS as usize];
            for (first, blocks, generation) in steps {
                let range = BlockRange { first, blocks: blocks.min(BLOCKS - first) };
                let cells = &mut array[first as usize..range.end() as usize];
                if generation == 0 {
                    map.unmap(range);
                    for cell in cells {
                        if let Some(BlockState::Written(generation)) = *cell {
                            *cell = Some(BlockState::Unmapped(generation));
                        }
                    }
                } else {
                    map.set(range, BlockState::Written(generation));
                    cells.fill(Some(BlockState::Written(generation)));
                }
            }
            let whole = BlockRange { first: 0, blocks: BLOCKS };
            let mut told = [None; BLOCKS as usize];
            for (range, state) in map.within(whole) {
                told[range.first as usize..range.end() as usize].fill(Some(state));
            }
            prop_assert_eq!(told, array);
            let runs: Vec<_> = map.runs().collect();
            prop_assert!(runs.windows(2).all(|two| two[0].0.end() < two[1].0.first || two[0].1 != two[1].1));
        }
    }
}
