//! A random order of all numbers below `n` in constant memory, in which each comes exactly once.
//!
//! A Feistel network over the smallest power of two that holds `n` is a permutation of it whatever its round
//! function; numbers from `n` on are sent through again until they fall below it (cycle walking: Black and
//! Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002). Four rounds (Luby and Rackoff, 1988) of a
//! multiplicative mix are plenty for I/O: no bitmap as big as the drive, and no search for a free block when a
//! lap is nearly over. It is not secure and does not try to be.

use measure::Seed;

const ROUNDS: usize = 4;

/// A random order of the numbers below `n`.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    /// Width of the two halves in bits; they differ by at most one.
    left_bits: u32,
    right_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The order that `seed` gives.
    ///
    /// # Panics
    /// When `n` is zero or above 2^62: no drive is that large.
    pub(crate) fn new(n: u64, seed: Seed) -> Self {
        assert!(n > 0 && n <= 1 << 62, "a permutation of {n} numbers");
        let bits = (64 - (n - 1).leading_zeros()).max(2);
        let keys = std::array::from_fn(|round| seed.part(round as u64).as_u64());
        Self { n, left_bits: bits / 2, right_bits: bits - bits / 2, keys }
    }

    /// The number at place `index`, which is below `n`.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.n);
        let mut value = index;
        loop {
            value = self.once(value);
            if value < self.n {
                return value;
            }
        }
    }

    #[inline]
    fn once(&self, value: u64) -> u64 {
        let (left_mask, right_mask) = ((1 << self.left_bits) - 1, (1 << self.right_bits) - 1);
        let (mut left, mut right) = (value >> self.right_bits, value & right_mask);
        // Halves keep their widths, and are changed in turn: each step is undone by itself.
        for pair in self.keys.chunks_exact(2) {
            left ^= mix(right, pair[0]) & left_mask;
            right ^= mix(left, pair[1]) & right_mask;
        }
        left << self.right_bits | right
    }
}

/// Half of `SplitMix64`'s finaliser (Steele, Lea, Flood, OOPSLA 2014), keyed.
#[inline]
fn mix(half: u64, key: u64) -> u64 {
    let z = (half ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 32)
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The law of the module: each number once.
        #[test]
        fn every_number_comes_exactly_once(n in 1u64..3000, seed in any::<u64>()) {
            let permutation = Permutation::new(n, Seed::new(seed));
            let mut seen = vec![false; n as usize];
            for index in 0..n {
                let value = permutation.at(index) as usize;
                prop_assert!(!seen[value], "{value} twice");
                seen[value] = true;
            }
        }

        #[test]
        fn it_stays_below_n_on_large_drives(n in (1u64 << 30)..(1 << 42), index in any::<u64>(), seed in any::<u64>()) {
            let permutation = Permutation::new(n, Seed::new(seed));
            prop_assert!(permutation.at(index % n) < n);
        }
    }

    /// Goal: it looks random to a drive. Method: neighbours are far apart, and seeds give different orders.
    #[test]
    fn the_order_is_not_sequential_and_depends_on_the_seed() {
        let n = 100_000;
        let (one, two) = (Permutation::new(n, Seed::new(1)), Permutation::new(n, Seed::new(2)));
        let near = (1..n).filter(|i| one.at(*i).abs_diff(one.at(i - 1)) < 100).count();
        // 2 * 100 / n of all pairs are expected to be that near by chance: 200; six sigma is 85.
        assert!(near.abs_diff(200) < 85, "{near} neighbours are near each other");
        let equal = (0..n).filter(|i| one.at(*i) == two.at(*i)).count();
        assert!(equal < 10, "{equal} places are the same under two seeds");
    }
}
