//! Seeded draws: the same seed gives the same fit, everywhere.

use measure::Seed;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A stream of draws.
#[derive(Clone)]
pub struct Draws(Pcg64Mcg);

impl Draws {
    /// The stream of a seed.
    pub fn new(seed: Seed) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed.as_u64()))
    }

    /// Leaves out so many even ones; a normal one is made of two. What another thread draws in the meantime is the same
    /// as if it had waited.
    pub fn skip(&mut self, units: u128) {
        self.0.advance(units);
    }

    /// Even in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Even between two values.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Normal with mean 0 and deviation 1 (Box and Muller, Ann. Math. Stat. 29, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_stream_goes_on_behind_what_was_left_out() {
        let mut drawn = Draws::new(Seed::new(5));
        let mut left_out = drawn.clone();
        (0..10).for_each(|_| {
            drawn.normal();
        });
        drawn.unit();
        left_out.skip(21);
        assert_eq!(drawn.unit().to_bits(), left_out.unit().to_bits());
    }
}
