//! Watts: where power was measured, kelvins become kelvins per watt.

use crate::data::{LoadStep, RunData};
use crate::heat::FittedHeat;

/// Seconds with power without which it says nothing.
const LEAST_SECONDS: usize = 60;
/// Seconds of a block.
const BLOCK: usize = 20;

/// Thermal resistance from the sensor to the air, from what a GB/s costs in watts and in kelvins.
/// `ln_levels` are logarithms of the level at which a regulator held the drive: there a byte costs less.
pub(crate) fn k_per_w(runs: &[RunData], heat: &FittedHeat, ln_levels: &[Vec<f64>]) -> Option<f64> {
    // Power over the kelvins that the same load would come to: a line through rest and load. Blocks of seconds, as a
    // drive's own power reading is of the second before.
    let blocks = runs.iter().zip(ln_levels).flat_map(|(run, levels)| {
        let of = |(steps, levels): (&[LoadStep], &[f64])| {
            let watts: Option<f64> = steps.iter().map(|step| step.power_w).sum();
            let kelvin = steps.iter().zip(levels).map(|(step, level)| {
                let cost = |op: usize| heat.gain_k[op] * ((heat.exponent[op] - 1.0) * level).exp();
                cost(0) * step.read + cost(1) * step.write
            });
            Some((watts? / steps.len() as f64, kelvin.sum::<f64>() / steps.len() as f64))
        };
        run.steps.chunks(BLOCK).zip(levels.chunks(BLOCK)).filter_map(of).collect::<Vec<_>>()
    });
    let blocks: Vec<(f64, f64)> = blocks.collect();
    let count = blocks.len() as f64;
    if blocks.len() * BLOCK < LEAST_SECONDS {
        return None;
    }
    let (mean_w, mean_k) = (
        blocks.iter().map(|(watts, _)| watts).sum::<f64>() / count,
        blocks.iter().map(|(_, kelvin)| kelvin).sum::<f64>() / count,
    );
    let along: f64 = blocks.iter().map(|(watts, kelvin)| (watts - mean_w) * (kelvin - mean_k)).sum();
    let across: f64 = blocks.iter().map(|(_, kelvin)| (kelvin - mean_k).powi(2)).sum();
    let w_per_k = along / across;
    (across > 0.0 && w_per_k > 1e-4).then(|| 1.0 / w_per_k)
}
