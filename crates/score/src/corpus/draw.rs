//! Seeded draws.

use analysis::posterior::Draws;
use measure::Seed;

/// A stream of draws.
pub(crate) struct CorpusDraw(Draws);

impl CorpusDraw {
    pub(crate) fn new(seed: Seed) -> Self {
        Self(Draws::new(seed))
    }

    /// Even in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Even between two values.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.between(low, high)
    }

    /// Whether something of this probability happens.
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of several, each with its weight.
    pub(crate) fn pick<T: Copy>(&mut self, weighted: &[(T, f64)]) -> T {
        let mut left = self.unit() * weighted.iter().map(|(_, weight)| weight).sum::<f64>();
        for (item, weight) in weighted {
            left -= weight;
            if left < 0.0 {
                return *item;
            }
        }
        weighted[weighted.len() - 1].0
    }

    /// Normal with deviation 1, near enough: twelve even draws less their mean (Irwin and Hall).
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}
