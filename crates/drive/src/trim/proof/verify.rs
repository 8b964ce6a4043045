//! Reading back: each block that was written is what it was, and what unmapped blocks read as.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::pattern::{FoundBlock, PATTERN_BYTES, fill_block, identify_block};
use super::super::{BlockMap, BlockRange, BlockState};
use super::unit::{ProofUnit, UnitError, pieces};

/// Lost blocks that are told one by one; the others are counted.
const LISTED_MAX: usize = 16;

/// A block that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignBlock {
    /// Its address, in the drive's logical blocks.
    pub lba: u64,
    /// What it holds instead.
    pub holds: String,
    /// How far it is from the nearest block that is unmapped; negative: before it. `null` where none is.
    pub from_unmapped: Option<i64>,
}

/// Blocks that are not what they were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lost {
    /// When that was seen.
    pub when: String,
    /// How many there are in the first stretch that was read.
    pub count: u64,
    /// The first of them.
    pub first: Vec<ForeignBlock>,
    /// Whether reading them again gave something else.
    pub unstable: bool,
    /// Whether nothing had been unmapped yet.
    pub before_unmap: bool,
}

/// What unmapped blocks read as, counted in 512 B over all readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnmappedReads {
    /// As zeroes.
    pub zeroes: u64,
    /// As before.
    pub old: u64,
    /// As anything else.
    pub other: u64,
    /// They could not be read, which is allowed (SBC-4, 4.7.3.3).
    pub unreadable: u64,
}

impl UnmappedReads {
    pub(super) fn add(&mut self, more: &Self) {
        let pairs = [
            (&mut self.zeroes, more.zeroes),
            (&mut self.old, more.old),
            (&mut self.other, more.other),
            (&mut self.unreadable, more.unreadable),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What one reading of everything has shown.
#[derive(Debug, Default)]
pub(super) struct ReadBack {
    pub(super) unmapped: UnmappedReads,
    pub(super) lost: Option<LostBlocks>,
}

/// The same before it is known when it was seen.
#[derive(Debug, Default)]
pub(super) struct LostBlocks {
    /// In units of 512 B.
    sectors: Vec<(u64, Held)>,
    count: u64,
    unstable: bool,
    /// Blocks that are unmapped, to tell distances.
    unmapped: Vec<BlockRange>,
}

/// What a lost block holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Held {
    Block(FoundBlock),
    Unreadable(String),
}

/// Reads everything in `map`.
pub(super) fn verify(unit: &mut ProofUnit<'_>, map: &BlockMap, seed: u64) -> Result<ReadBack, UnitError> {
    let mut seen = ReadBack::default();
    let most = unit.piece_blocks();
    let mut buffer = vec![0; most as usize * unit.block_bytes()];
    for (range, state) in map.runs() {
        for piece in pieces(range, most) {
            let data = &mut buffer[..piece.blocks as usize * unit.block_bytes()];
            match (unit.read(piece, data), state) {
                (Ok(()), BlockState::Unmapped(generation)) => {
                    count_unmapped(&mut seen.unmapped, unit, piece, data, seed, generation);
                }
                (Ok(()), BlockState::Written(generation)) => {
                    let wrong = wrong_sectors(unit, piece, data, seed, generation);
                    if !wrong.is_empty() {
                        seen.lost = Some(look_again(unit, map, piece, wrong, seed, generation)?);
                        return Ok(seen);
                    }
                }
                (Err(UnitError::Refused(_)), BlockState::Unmapped(_)) => {
                    seen.unmapped.unreadable += piece.blocks * unit.sectors_a_block();
                }
                (Err(UnitError::Refused(why)), BlockState::Written(_)) => {
                    let sectors = vec![(piece.first * unit.sectors_a_block(), Held::Unreadable(why))];
                    let count = piece.blocks * unit.sectors_a_block();
                    let unmapped = unmapped(map);
                    seen.lost = Some(LostBlocks { sectors, count, unstable: false, unmapped });
                    return Ok(seen);
                }
                (Err(other), _) => return Err(other),
            }
        }
    }
    Ok(seen)
}

/// The 512 B parts of `data` that are not their pattern.
fn wrong_sectors(
    unit: &ProofUnit<'_>,
    piece: BlockRange,
    data: &[u8],
    seed: u64,
    generation: u32,
) -> Vec<(u64, Held)> {
    let mut expected = [0; PATTERN_BYTES];
    let first = piece.first * unit.sectors_a_block();
    let is_wrong = |(sector, block): (u64, &[u8; PATTERN_BYTES])| {
        fill_block(&mut expected, seed, sector, generation);
        (*block != expected).then(|| (sector, Held::Block(identify_block(block, seed))))
    };
    (first..).zip(data.as_chunks::<PATTERN_BYTES>().0).filter_map(is_wrong).collect()
}

fn count_unmapped(
    counts: &mut UnmappedReads,
    unit: &ProofUnit<'_>,
    piece: BlockRange,
    data: &[u8],
    seed: u64,
    generation: u32,
) {
    let first = piece.first * unit.sectors_a_block();
    for (sector, block) in (first..).zip(data.as_chunks::<PATTERN_BYTES>().0) {
        match identify_block(block, seed) {
            FoundBlock::Zeroes => counts.zeroes += 1,
            FoundBlock::Pattern { sector: at, generation: then } if (at, then) == (sector, generation) => {
                counts.old += 1;
            }
            _ => counts.other += 1,
        }
    }
}

/// Reads a piece with wrong blocks again, twice: what comes and goes is another fault than what is lost.
fn look_again(
    unit: &mut ProofUnit<'_>,
    map: &BlockMap,
    piece: BlockRange,
    wrong: Vec<(u64, Held)>,
    seed: u64,
    generation: u32,
) -> Result<LostBlocks, UnitError> {
    let mut unstable = false;
    let mut data = vec![0; piece.blocks as usize * unit.block_bytes()];
    for _ in 0..2 {
        unit.read(piece, &mut data)?;
        unstable |= wrong_sectors(unit, piece, &data, seed, generation) != wrong;
    }
    Ok(LostBlocks { count: wrong.len() as u64, sectors: wrong, unstable, unmapped: unmapped(map) })
}

fn unmapped(map: &BlockMap) -> Vec<BlockRange> {
    map.runs().filter(|(_, state)| matches!(state, BlockState::Unmapped(_))).map(|(range, _)| range).collect()
}

impl LostBlocks {
    /// With when it was seen; addresses in blocks of `sectors` units of 512 B.
    pub(super) fn at(self, when: &str, before_unmap: bool, sectors: u64) -> Lost {
        let foreign = |(sector, held): &(u64, Held)| {
            let lba = sector / sectors;
            let holds = match held {
                Held::Block(found) => found.text(*sector),
                Held::Unreadable(why) => format!("cannot be read: {why}"),
            };
            ForeignBlock { lba, holds, from_unmapped: nearest(&self.unmapped, lba) }
        };
        let mut first: Vec<ForeignBlock> = self.sectors.iter().map(foreign).collect();
        first.dedup_by_key(|block| block.lba);
        first.truncate(LISTED_MAX);
        Lost {
            when: when.to_owned(),
            count: self.count.div_ceil(sectors),
            first,
            unstable: self.unstable,
            before_unmap,
        }
    }
}

/// How far `lba` is from the nearest unmapped block.
fn nearest(unmapped: &[BlockRange], lba: u64) -> Option<i64> {
    let distance = |range: &BlockRange| {
        if lba < range.first {
            -i64::try_from(range.first - lba).unwrap_or(i64::MAX)
        } else {
            i64::try_from(lba - (range.end() - 1)).unwrap_or(i64::MAX)
        }
    };
    unmapped.iter().map(distance).min_by_key(|distance| distance.unsigned_abs())
}

impl FoundBlock {
    /// What it is, for people; `sector` is where it was found.
    fn text(&self, sector: u64) -> String {
        match self {
            Self::Zeroes => "zeroes".to_owned(),
            Self::Pattern { sector: at, generation } if *at == sector => {
                format!("what was written there before (generation {generation})")
            }
            Self::Pattern { sector: at, .. } => format!("what was written for 512 B unit {at}"),
            Self::OtherRun => "the pattern of an earlier check".to_owned(),
            Self::Else => "something that was never written".to_owned(),
        }
    }
}
