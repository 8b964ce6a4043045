//! Latency outside the pipe: a base and a seeded, exponentially distributed jitter.
//!
//! Drawn from a table of quantiles, so that an I/O costs no logarithm.

use measure::Seed;
use measure::record::Op;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

use crate::profile::{Latency, MediaProfile};

/// Quantiles in the table; the largest lies at -ln(1/2048) = 7.6 means.
const QUANTILES: usize = 1024;
const INDEX_SHIFT: u32 = 64 - QUANTILES.trailing_zeros();

#[derive(Clone, Debug)]
pub(crate) struct Latencies {
    generator: Pcg64Mcg,
    read_ns: Box<[f32]>,
    write_ns: Box<[f32]>,
    read_mean_ns: f64,
    write_mean_ns: f64,
}

impl Latencies {
    pub(crate) fn new(media: &MediaProfile, seed: Seed) -> Self {
        let (read_ns, read_mean_ns) = table(media.read_latency);
        let (write_ns, write_mean_ns) = table(media.write_latency);
        Self {
            generator: Pcg64Mcg::seed_from_u64(seed.as_u64()),
            read_ns,
            write_ns,
            read_mean_ns,
            write_mean_ns,
        }
    }

    /// The latency of one command, in nanoseconds.
    #[inline]
    pub(crate) fn draw_ns(&mut self, op: Op) -> f64 {
        let index = (self.generator.next_u64() >> INDEX_SHIFT) as usize;
        match op {
            Op::Read => f64::from(self.read_ns[index]),
            Op::Write => f64::from(self.write_ns[index]),
            // Deallocation and "no operation" are acknowledged as they are served.
            Op::Trim | Op::Idle => 0.0,
        }
    }

    /// The mean latency, in nanoseconds.
    pub(crate) const fn mean_ns(&self, op: Op) -> f64 {
        match op {
            Op::Read => self.read_mean_ns,
            Op::Write => self.write_mean_ns,
            Op::Trim | Op::Idle => 0.0,
        }
    }
}

/// Latencies at evenly spaced quantiles, and their mean.
fn table(latency: Latency) -> (Box<[f32]>, f64) {
    let values: Box<[f32]> = (0..QUANTILES)
        .map(|i| {
            let quantile = (i as f64 + 0.5) / QUANTILES as f64;
            let jitter_us = -latency.jitter_us * (1.0 - quantile).ln();
            ((latency.base_us + jitter_us) * 1e3) as f32
        })
        .collect();
    let mean = values.iter().map(|ns| f64::from(*ns)).sum::<f64>() / QUANTILES as f64;
    (values, mean)
}
