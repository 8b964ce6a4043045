//! Watts: where power was measured, kelvins become kelvins per watt.

use crate::data::RunData;
use crate::heat::Heat;

/// Seconds with power without which it says nothing.
const LEAST_SECONDS: usize = 60;

/// Thermal resistance from the sensor to the air, from what a GB/s costs in watts and in kelvins.
pub(crate) fn k_per_w(runs: &[RunData], heat: &Heat) -> Option<f64> {
    // Power over the kelvins that the same second's load would come to: a line through rest and load.
    let seconds = runs.iter().flat_map(|run| &run.steps).filter_map(|step| {
        let watts = step.power_w?;
        Some((watts, heat.gain_k[0] * step.read + heat.gain_k[1] * step.write))
    });
    let seconds: Vec<(f64, f64)> = seconds.collect();
    let count = seconds.len() as f64;
    if seconds.len() < LEAST_SECONDS {
        return None;
    }
    let (mean_w, mean_k) = (
        seconds.iter().map(|(watts, _)| watts).sum::<f64>() / count,
        seconds.iter().map(|(_, kelvin)| kelvin).sum::<f64>() / count,
    );
    let along: f64 = seconds.iter().map(|(watts, kelvin)| (watts - mean_w) * (kelvin - mean_k)).sum();
    let across: f64 = seconds.iter().map(|(_, kelvin)| (kelvin - mean_k).powi(2)).sum();
    let w_per_k = along / across;
    (across > 0.0 && w_per_k > 1e-4).then(|| 1.0 / w_per_k)
}
