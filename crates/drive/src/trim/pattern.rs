//! What the check writes: 512 bytes that say where they belong, so that a stray block tells where it came from.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | magic |
//! | 8..16 | the run's seed |
//! | 16..24 | address, in units of 512 B |
//! | 24..28 | generation: how often this place was written |
//! | 28..32 | zero |
//! | 32..40 | FNV-1a (RFC 9923) of the 32 bytes before |
//! | 40..512 | noise drawn from that sum |
//!
//! Numbers are little-endian. The noise keeps a bridge or drive from storing less than was written.

/// Bytes of one pattern.
pub const PATTERN_BYTES: usize = 512;

const MAGIC: [u8; 8] = *b"heatsoak";
const HEADER_BYTES: usize = 40;
/// Step of the sequence that the noise is drawn from (SplitMix64; Steele, Lea, Flood, OOPSLA 2014).
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a block turned out to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBlock {
    /// Only zeroes.
    Zeroes,
    /// A pattern of this run.
    Pattern {
        /// The address it was written for, in units of 512 B.
        sector: u64,
        /// How often that place had been written.
        generation: u32,
    },
    /// A pattern of another run.
    OtherRun,
    /// Anything else.
    Else,
}

/// Fills `block` with the pattern of `sector`.
pub(super) fn fill_block(block: &mut [u8; PATTERN_BYTES], seed: u64, sector: u64, generation: u32) {
    let (header, noise) = block.split_at_mut(HEADER_BYTES);
    header[..8].copy_from_slice(&MAGIC);
    header[8..16].copy_from_slice(&seed.to_le_bytes());
    header[16..24].copy_from_slice(&sector.to_le_bytes());
    header[24..28].copy_from_slice(&generation.to_le_bytes());
    header[28..32].fill(0);
    let sum = sum(&header[..32]);
    header[32..40].copy_from_slice(&sum.to_le_bytes());
    let mut state = sum;
    for word in noise.as_chunks_mut::<8>().0 {
        state = state.wrapping_add(GOLDEN_GAMMA);
        // One round of SplitMix64's mixing: enough that nothing repeats.
        *word = ((state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9)).to_le_bytes();
    }
}

/// What 512 bytes of a drive are.
pub fn identify_block(block: &[u8; PATTERN_BYTES], seed: u64) -> FoundBlock {
    if block.iter().all(|byte| *byte == 0) {
        return FoundBlock::Zeroes;
    }
    let word = |at: usize| block[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if block[..8] != MAGIC || word(32) != sum(&block[..32]) {
        return FoundBlock::Else;
    }
    if word(8) != seed {
        return FoundBlock::OtherRun;
    }
    // The upper half of that word is zero, or the sum would not have held for ours.
    FoundBlock::Pattern { sector: word(16), generation: word(24) as u32 }
}

fn sum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A block says where it belongs, and one flipped bit of its header makes it nobody's.
        #[test]
        fn a_pattern_names_itself(seed: u64, sector: u64, generation: u32, bit in 0..HEADER_BYTES * 8) {
            let mut block = [0; PATTERN_BYTES];
            fill_block(&mut block, seed, sector, generation);
            prop_assert_eq!(identify_block(&block, seed), FoundBlock::Pattern { sector, generation });
            prop_assert_eq!(identify_block(&block, !seed), FoundBlock::OtherRun);
            block[bit / 8] ^= 1 << (bit % 8);
            prop_assert_eq!(identify_block(&block, seed), FoundBlock::Else);
        }
    }

    #[test]
    fn zeroes_and_strangers_are_told_apart() {
        assert_eq!(identify_block(&[0; PATTERN_BYTES], 7), FoundBlock::Zeroes);
        assert_eq!(identify_block(&[0xff; PATTERN_BYTES], 7), FoundBlock::Else);
    }
}
