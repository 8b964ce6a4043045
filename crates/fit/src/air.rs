//! A second airflow: how much of the resistance is air, for each sample by itself.
//!
//! What a fan takes away is looked for under the measured speeds of its runs. It says nothing of throttles, and it is one
//! number: the modes of a sample are a ladder, and the air is its outermost part, as in forecasts.

use physics::profile::{Mode, Node};

use crate::data::{RunData, STEP_S};
use crate::heat::at;
use crate::predict::scenario::aired;
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
    let nodes = physics::profile::ladder(&modes(sample));
    let squares = |outer: f64| -> f64 {
        let nodes = aired(nodes.clone(), outer, 1.0 / times);
        runs.iter().zip(levels).map(|(run, levels)| missed(sample, &nodes, run, levels, air_k)).sum()
    };
    least(OUTER, squares)
}

/// Modes of a sample; their resistances add up to 1.
fn modes(sample: &DriveSample) -> Vec<Mode> {
    sample.modes.iter().map(|(tau_s, share)| Mode { tau_s: *tau_s, k_per_w: *share }).collect()
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

/// Squares of what the readings of a run miss by on a ladder of the sample's modes in another air.
fn missed(sample: &DriveSample, nodes: &[Node], run: &RunData, levels: &[f64], air_k: Option<f64>) -> f64 {
    let left: f64 = nodes.iter().map(|node| node.outward_k_per_w).sum();
    let mut heat = vec![0.0; nodes.len()];
    let course = shown(sample, run, levels, |load_k| second(nodes, &mut heat, load_k));
    let readings = || run.readings.iter().map(|r| r.kelvin + 0.5 * run.resolution_k - at(&course, r.t_s));
    let rest_k = match (air_k, run.ambient_k) {
        // What it rests over the air is less by as much.
        (Some(air_k), Some(own_k)) => own_k + (sample.rest_k - air_k) * left,
        // Nobody said how warm it was: where it rested is what the readings say.
        _ => readings().sum::<f64>() / run.readings.len().max(1) as f64,
    };
    readings().map(|missed| (missed - rest_k).powi(2)).sum()
}

/// One second of heat at the inner end of a ladder: backward Euler, by Thomas' elimination. The rise of that end.
fn second(nodes: &[Node], rise_k: &mut [f64], heat: f64) -> f64 {
    // From the inner end outwards each node is a share of the next one and a rest.
    let mut inward = (0.0, 0.0, 0.0);
    let mut eliminated = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let (conducts, share, rest) = inward;
        let (stores, out) = (node.capacity_j_per_k / STEP_S, 1.0 / node.outward_k_per_w);
        let source = if at == 0 { heat } else { 0.0 };
        let whole = stores + out + conducts * (1.0 - share);
        let here = (out / whole, (stores * rise_k[at] + source + conducts * rest) / whole);
        eliminated.push(here);
        inward = (out, here.0, here.1);
    }
    let mut outer_k = 0.0;
    for (rise_k, (share, rest)) in rise_k.iter_mut().zip(eliminated).rev() {
        outer_k = share * outer_k + rest;
        *rise_k = outer_k;
    }
    outer_k
}

/// Rise over rest at the beginning of each second and at the end, as the sensor has it.
pub(crate) fn rises(sample: &DriveSample, run: &RunData, levels: &[f64]) -> Vec<f64> {
    let modes = modes(sample);
    let decay: Vec<f64> = modes.iter().map(|mode| (-STEP_S / mode.tau_s).exp()).collect();
    let mut state = vec![0.0; modes.len()];
    shown(sample, run, levels, |load_k| {
        let mut rise_k = 0.0;
        for ((x, decay), mode) in state.iter_mut().zip(&decay).zip(&modes) {
            *x = *x * decay + (1.0 - decay) * mode.k_per_w * load_k;
            rise_k += *x;
        }
        rise_k
    })
}

/// The course of a run over rest, through the sensor's lag; `rise` has what a second of load comes to.
fn shown(sample: &DriveSample, run: &RunData, levels: &[f64], mut rise: impl FnMut(f64) -> f64) -> Vec<f64> {
    let keep = (-STEP_S / sample.lag_s.max(0.01)).exp();
    let mut shown_k = 0.0;
    let mut course = vec![0.0];
    for (step, level) in run.steps.iter().zip(levels) {
        let less = |op: usize| if *level < 0.0 { ((sample.exponent[op] - 1.0) * level).exp() } else { 1.0 };
        let load_k = sample.gain_k[0] * step.read * less(0) + sample.gain_k[1] * step.write * less(1);
        shown_k = shown_k * keep + rise(load_k) * (1.0 - keep);
        course.push(shown_k);
    }
    course
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a ladder in steps of a second goes the way of its modes.
    #[test]
    fn a_ladder_rises_as_its_modes_do() {
        let modes = [(20.0, 0.5), (180.0, 0.5)].map(|(tau_s, k_per_w)| Mode { tau_s, k_per_w });
        let nodes = physics::profile::ladder(&modes);
        let mut heat = vec![0.0; nodes.len()];
        for at in 1..=600 {
            let found = second(&nodes, &mut heat, 30.0);
            let wanted = modes.map(|mode| 30.0 * mode.k_per_w * (1.0 - (-f64::from(at) / mode.tau_s).exp()));
            assert!((found - wanted.iter().sum::<f64>()).abs() < 0.3, "{at}: {found} {wanted:?}");
        }
    }
}
