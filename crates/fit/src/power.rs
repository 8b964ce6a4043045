//! Watts: where power was measured, kelvins become kelvins per watt.

use crate::data::RunData;
use crate::heat::FittedHeat;

/// Seconds with power without which it says nothing.
const LEAST_SECONDS: usize = 60;
/// Seconds of a block.
const BLOCK: usize = 20;

/// Thermal resistance from the sensor to the air, from what a GB/s costs in watts and in kelvins.
pub(crate) fn k_per_w(runs: &[RunData], heat: &FittedHeat) -> Option<f64> {
    // Power over the kelvins that the same load would come to: a line through rest and load. Blocks of seconds, as a
    // drive's own power reading is of the second before.
    let blocks = runs.iter().flat_map(|run| run.steps.chunks(BLOCK)).filter_map(|steps| {
        let watts: Option<f64> = steps.iter().map(|step| step.power_w).sum();
        let kelvin: f64 =
            steps.iter().map(|step| heat.gain_k[0] * step.read + heat.gain_k[1] * step.write).sum();
        Some((watts? / steps.len() as f64, kelvin / steps.len() as f64))
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
