//! Seeded draws: the same seed gives the same fit, everywhere.

use measure::Seed;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// A stream of draws.
pub struct Draws(Pcg64Mcg);

impl Draws {
    /// The stream of a seed.
    pub fn new(seed: Seed) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed.as_u64()))
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
