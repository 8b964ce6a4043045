//! Records and logs spoilt at random: never a panic, never a wrong row, never more work than the rows are worth.
//!
//! Seeded, so that a case that fails fails again. `HEATSOAK_CASES` sets how many there are: the long form of both
//! (docs/HACKING.md) takes minutes.

mod inputs;
mod records;

/// How many cases: as many as are asked for, else the short form's.
fn cases(short: u64) -> u64 {
    std::env::var("HEATSOAK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(short)
}

/// Random numbers: splitmix64 (Steele, Lea, Flood 2014), a case a seed.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
