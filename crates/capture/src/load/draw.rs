//! What the next I/O is: its operation and its size, drawn from the shares that the plan gives.
//!
//! All draws come from seeded generators, so that the same plan makes the same I/Os everywhere.

use measure::Seed;
use measure::record::Op;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

use super::LoadError;
use plan::{Mix, Sizes};

/// Draws whole numbers.
#[derive(Clone, Debug)]
pub(crate) struct Draw {
    generator: Pcg64Mcg,
}

impl Draw {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { generator: Pcg64Mcg::seed_from_u64(seed.as_u64()) }
    }

    /// A number below `n`, all equally likely.
    ///
    /// One multiplication (Lemire, "Fast Random Integer Generation in an Interval", 2019) without its rejection
    /// step: the bias is below n / 2^64, one in four million for a drive of 2^42 blocks.
    #[inline]
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.generator.next_u64()) * u128::from(n)) >> 64) as u64
    }
}

/// Draws operations.
#[derive(Clone, Debug)]
pub(crate) struct OpDraw {
    mix: Mix,
    /// The operation, where there is only one: nothing has to be drawn.
    only: Option<Op>,
}

impl OpDraw {
    pub(crate) fn new(mix: Mix) -> Self {
        let only = match (mix.read, mix.write, mix.trim) {
            (_, 0, 0) => Some(Op::Read),
            (0, _, 0) => Some(Op::Write),
            (0, 0, _) => Some(Op::Trim),
            _ => None,
        };
        Self { mix, only }
    }

    #[inline]
    pub(crate) fn next(&self, draw: &mut Draw) -> Op {
        if let Some(op) = self.only {
            return op;
        }
        let total = u64::from(self.mix.read) + u64::from(self.mix.write) + u64::from(self.mix.trim);
        let percent = draw.below(total);
        if percent < u64::from(self.mix.read) {
            Op::Read
        } else if percent < u64::from(self.mix.read) + u64::from(self.mix.write) {
            Op::Write
        } else {
            Op::Trim
        }
    }
}

/// Draws sizes in bytes.
#[derive(Clone, Debug)]
pub(crate) enum SizeDraw {
    Fixed(u32),
    Uniform { min: u32, step: u32, count: u64 },
    Table { sizes: Vec<u32>, cumulative: Vec<u64> },
}

/// A table of sizes never has more entries: 16 MiB in steps of 512 B has 32,768.
const TABLE_ENTRIES_MAX: u32 = 1 << 20;

impl SizeDraw {
    /// # Errors
    /// When there is no size to draw from.
    pub(crate) fn new(sizes: &Sizes) -> Result<Self, LoadError> {
        match sizes {
            Sizes::Fixed(size) if *size > 0 => Ok(Self::Fixed(*size)),
            Sizes::Fixed(_) => Err(LoadError::Sizes { why: "an I/O of no bytes moves nothing" }),
            Sizes::Weighted(list) => {
                Self::table(list.iter().map(|(size, weight)| (*size, u64::from(*weight))))
            }
            Sizes::Uniform { min, max, step } => {
                let count = steps(*min, *max, *step)?;
                Ok(Self::Uniform { min: *min, step: *step, count: u64::from(count) })
            }
            Sizes::LogUniform { min, max, step } => {
                let count = steps(*min, *max, *step)?;
                Self::table((0..count).map(|n| {
                    let size = min + n * step;
                    // The share of [size, size + step) of a log-uniform distribution. 2^40 keeps the smallest
                    // share (one step of 512 B in 4 GiB) above 10^5, and takes off the last bits of `ln`.
                    let share = (f64::from(*step) / f64::from(size)).ln_1p();
                    (size, (share * (1u64 << 40) as f64).round() as u64)
                }))
            }
        }
    }

    fn table(entries: impl Iterator<Item = (u32, u64)>) -> Result<Self, LoadError> {
        let mut total = 0;
        let (mut sizes, mut cumulative) = (Vec::new(), Vec::new());
        for (size, weight) in entries.filter(|(_, weight)| *weight > 0) {
            if size == 0 {
                return Err(LoadError::Sizes { why: "an I/O of no bytes moves nothing" });
            }
            total += weight;
            sizes.push(size);
            cumulative.push(total);
        }
        if sizes.is_empty() {
            return Err(LoadError::Sizes { why: "no size has any weight" });
        }
        Ok(Self::Table { sizes, cumulative })
    }

    #[inline]
    pub(crate) fn next(&self, draw: &mut Draw) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, step, count } => min + draw.below(*count) as u32 * step,
            Self::Table { sizes, cumulative } => {
                let place = draw.below(cumulative[cumulative.len() - 1]);
                sizes[cumulative.partition_point(|edge| *edge <= place)]
            }
        }
    }

    /// The only size there is, if so.
    pub(crate) fn fixed(&self) -> Option<u32> {
        match self {
            Self::Fixed(size) => Some(*size),
            Self::Uniform { min, count: 1, .. } => Some(*min),
            Self::Uniform { .. } => None,
            Self::Table { sizes, .. } => (sizes.len() == 1).then(|| sizes[0]),
        }
    }

    pub(crate) fn smallest(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, .. } => *min,
            Self::Table { sizes, .. } => sizes.iter().copied().min().unwrap_or(1),
        }
    }

    pub(crate) fn largest(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Uniform { min, step, count } => min + (*count as u32 - 1) * step,
            Self::Table { sizes, .. } => sizes.iter().copied().max().unwrap_or(1),
        }
    }
}

/// How many sizes there are from `min` to `max` in steps.
fn steps(min: u32, max: u32, step: u32) -> Result<u32, LoadError> {
    if min == 0 || step == 0 || max < min {
        return Err(LoadError::Sizes { why: "a range of sizes needs 0 < min <= max and a step above 0" });
    }
    let count = (max - min) / step + 1;
    if count > TABLE_ENTRIES_MAX {
        return Err(LoadError::Sizes { why: "a range of more than a million sizes; use a larger step" });
    }
    Ok(count)
}

#[cfg(test)]
mod test {
    use super::*;

    fn share(sizes: &SizeDraw, count: usize, wanted: impl Fn(u32) -> bool) -> f64 {
        let mut draw = Draw::new(Seed::new(7));
        (0..count).filter(|_| wanted(sizes.next(&mut draw))).count() as f64 / count as f64
    }

    /// Goal: shares are what the plan says. Method: against the closed form, within six sigma of 10^5 draws.
    #[test]
    fn sizes_come_in_their_shares() {
        let sigma6 = |p: f64| 6.0 * (p * (1.0 - p) / 1e5).sqrt();
        let close = |measured: f64, p: f64| assert!((measured - p).abs() < sigma6(p), "{measured} not {p}");
        let weighted = SizeDraw::new(&Sizes::Weighted(vec![(4096, 3), (65536, 1)])).expect("sizes");
        close(share(&weighted, 100_000, |size| size == 4096), 0.75);
        let uniform = SizeDraw::new(&Sizes::Uniform { min: 4096, max: 16384, step: 4096 }).expect("sizes");
        close(share(&uniform, 100_000, |size| size == 16384), 0.25);
        let log = SizeDraw::new(&Sizes::LogUniform { min: 4096, max: 1 << 20, step: 4096 }).expect("sizes");
        let octaves = ((f64::from(1u32 << 20) + 4096.0) / 4096.0).ln();
        for octave in 12..20 {
            let in_octave = share(&log, 100_000, |size| size >= 1 << octave && size < 1 << (octave + 1));
            close(in_octave, 2f64.ln() / octaves);
        }
    }

    #[test]
    fn mixes_come_in_their_shares() {
        let ops = OpDraw::new(Mix { read: 70, write: 20, trim: 10 });
        let mut draw = Draw::new(Seed::new(7));
        let mut counts = [0f64; 3];
        (0..100_000).for_each(|_| counts[ops.next(&mut draw) as usize] += 1e-5);
        for (share, wanted) in counts.into_iter().zip([0.7, 0.2, 0.1]) {
            assert!((share - wanted).abs() < 0.01, "{counts:?}");
        }
    }

    #[test]
    fn sizes_that_move_nothing_are_refused() {
        for sizes in [
            Sizes::Fixed(0),
            Sizes::Weighted(vec![]),
            Sizes::Weighted(vec![(4096, 0)]),
            Sizes::Uniform { min: 8192, max: 4096, step: 512 },
            Sizes::LogUniform { min: 512, max: 4096, step: 0 },
        ] {
            assert!(SizeDraw::new(&sizes).is_err(), "{sizes:?}");
        }
    }
}
