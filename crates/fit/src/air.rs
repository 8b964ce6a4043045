//! A second airflow: how much of the resistance is air, for each sample by itself.
//!
//! What a fan takes away is looked for under the measured speeds of its runs. It says nothing of throttles, and it is one
//! number: which modes it comes out of is the model's, as in forecasts.

use physics::profile::Mode;

use crate::data::{RunData, STEP_S};
use crate::heat::at;
use crate::predict::reduce;
use crate::sample::DriveSample;

/// Least and most of the whole resistance that may be the air's.
const OUTER: (f64, f64) = (0.02, 0.98);
/// Looks of the search: to a thousandth.
const LOOKS: usize = 16;

/// Share of the resistance that is air, where `runs` had `times` the airflow of those that `sample` was fitted to.
/// `levels` are logarithms of the level at which a regulator held the drive; `air_k` is the air of the other runs.
pub(crate) fn outer_share(
    sample: &DriveSample,
    runs: &[&RunData],
    levels: &[Vec<f64>],
    air_k: Option<f64>,
    times: f64,
) -> f64 {
    let squares = |outer: f64| -> f64 {
        let removed = outer * (1.0 - 1.0 / times);
        runs.iter().zip(levels).map(|(run, levels)| missed(sample, removed, run, levels, air_k)).sum()
    };
    least(OUTER, squares)
}

/// Where a function with one lowest place is least: golden section (Kiefer 1953).
fn least((mut low, mut high): (f64, f64), of: impl Fn(f64) -> f64) -> f64 {
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..LOOKS {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        if of(a) < of(b) { high = b } else { low = a }
    }
    0.5 * (low + high)
}

/// Squares of what the readings of a run miss by, with a share of the resistance taken away.
fn missed(sample: &DriveSample, removed: f64, run: &RunData, levels: &[f64], air_k: Option<f64>) -> f64 {
    let mut modes: Vec<Mode> =
        sample.modes.iter().map(|(tau_s, share)| Mode { tau_s: *tau_s, k_per_w: *share }).collect();
    reduce(&mut modes, removed);
    let left: f64 = modes.iter().map(|mode| mode.k_per_w).sum();
    let course = rises(sample, &modes, run, levels);
    let readings = || run.readings.iter().map(|r| r.kelvin + 0.5 * run.resolution_k - at(&course, r.t_s));
    let rest_k = match (air_k, run.ambient_k) {
        // What it rests over the air is less by as much.
        (Some(air_k), Some(own_k)) => own_k + (sample.rest_k - air_k) * left,
        // Nobody said how warm it was: where it rested is what the readings say.
        _ => readings().sum::<f64>() / run.readings.len().max(1) as f64,
    };
    readings().map(|missed| (missed - rest_k).powi(2)).sum()
}

/// Rise over rest at the beginning of each second and at the end, as the sensor has it.
pub(crate) fn rises(sample: &DriveSample, modes: &[Mode], run: &RunData, levels: &[f64]) -> Vec<f64> {
    let keep = (-STEP_S / sample.lag_s.max(0.01)).exp();
    let decay: Vec<f64> = modes.iter().map(|mode| (-STEP_S / mode.tau_s).exp()).collect();
    let mut state = vec![0.0; modes.len()];
    let mut shown_k = 0.0;
    let mut course = vec![0.0];
    for (step, level) in run.steps.iter().zip(levels) {
        let less = |op: usize| if *level < 0.0 { ((sample.exponent[op] - 1.0) * level).exp() } else { 1.0 };
        let load_k = sample.gain_k[0] * step.read * less(0) + sample.gain_k[1] * step.write * less(1);
        let mut rise_k = 0.0;
        for ((x, decay), mode) in state.iter_mut().zip(&decay).zip(modes) {
            *x = *x * decay + (1.0 - decay) * mode.k_per_w * load_k;
            rise_k += *x;
        }
        shown_k = shown_k * keep + rise_k * (1.0 - keep);
        course.push(shown_k);
    }
    course
}
