//! Whether a temperature or a time governs when drops end.
//!
//! A threshold lets go at a temperature, whatever time that takes; a host pauses for a time, and where the temperature has got to by then
//! follows. So if the length of drops says better how cool the drive was at their ends than that all end at one temperature does, time
//! was what governed. A firmware's fixed duty cycle has one length, and says nothing here.

use super::beginning::Beginning;
use super::release::Release;
use crate::line::Line;
use crate::segment::{median, median_and_deviation};

/// Fewer drops do not show what goes with what.
const LEAST: usize = 8;
/// What it weighs at most, as a logarithm: against a temperature, and for one.
const MOST: f64 = 3.0;
const MOST_FOR: f64 = 1.5;
/// Standard deviation of the difference of two readings: of noise, in kelvins, and of each rounded to steps.
const NOISE_K: f64 = 0.2;
const ROUNDED: f64 = 0.41;

/// How unlikely it is that a temperature governed when these drops ended, as a logarithm: by how much better their lengths explain where
/// it had got to than one temperature does, and one distance. `step_k` is the sensor's resolution, `slice_s` how long a speed lasts.
pub(super) fn by_time<'a>(drops: impl Iterator<Item = &'a Beginning>, step_k: f64, slice_s: f64) -> f64 {
    let outer = drops.filter(|began| !began.of.1);
    let ended = outer.filter_map(|began| Some((began.temp_k, began.release?)));
    let ended: Vec<(f64, Release)> = ended.collect();
    if ended.len() < LEAST {
        return 0.0;
    }
    let to_k: Vec<f64> = ended.iter().map(|(_, release)| release.temp_k).collect();
    let by_k: Vec<f64> = ended.iter().map(|(onset_k, release)| onset_k - release.temp_k).collect();
    let lengths: Vec<f64> = ended.iter().map(|(_, release)| release.length).collect();
    let in_a_slice_k = median(&by_k) * (slice_s / median(&lengths).exp()).min(1.0);
    explained(&to_k, &by_k, &lengths, NOISE_K.hypot(ROUNDED * step_k).hypot(ROUNDED * in_a_slice_k))
}

/// By how much better lengths explain where drops ended than one temperature, and one distance, do; or else by how much better one
/// temperature does than both others, which counts the other way: as a logarithm. What n say counts by the root of n. `to_k` is where
/// each ended and `by_k` how much cooler that is than where it began; lengths are logarithms of seconds, and no scatter is below `least_k`.
fn explained(to_k: &[f64], by_k: &[f64], lengths: &[f64], least_k: f64) -> f64 {
    let scatter = |values: &[f64]| median_and_deviation(values).1.max(least_k);
    let (to_one, by_one) = (scatter(to_k), scatter(by_k));
    let line = Line::through(lengths, by_k);
    // Longer pauses leave a drive cooler; what is the other way around is no cooling.
    let cools = line.slope > 0.0;
    let by_length = if cools { scatter(&line.off(lengths, by_k).collect::<Vec<_>>()) } else { by_one };
    let by_time = (to_one.min(by_one) / by_length).ln().max(0.0);
    let by_temperature = (by_one.min(by_length) / to_one).ln().max(0.0);
    ((by_time - by_temperature) * (to_k.len() as f64).sqrt()).clamp(-MOST_FOR, MOST)
}

#[cfg(test)]
mod test {
    use super::*;

    /// What drops of many lengths, in seconds, show that begin and end at temperatures by their length, in kelvins.
    fn shown(of: impl Fn(f64) -> (f64, f64), logarithm: impl Fn(f64) -> f64) -> f64 {
        let lengths_s: Vec<f64> = (0..40).map(|at| 4.0 + f64::from(at * 7 % 23)).collect();
        let (from_k, to_k): (Vec<f64>, Vec<f64>) = lengths_s.iter().copied().map(of).unzip();
        let by_k: Vec<f64> = from_k.iter().zip(&to_k).map(|(from, to)| from - to).collect();
        let lengths: Vec<f64> = lengths_s.into_iter().map(logarithm).collect();
        explained(&to_k, &by_k, &lengths, 0.5)
    }

    /// Goal: pauses that end wherever the drive has cooled to are told from a threshold that lets go at one temperature, also where that
    /// takes longer from hotter beginnings, and from a cycle of one length. Where it takes any time, that speaks for the threshold.
    #[test]
    fn pauses_are_governed_by_their_length_and_thresholds_are_not() {
        let cools_k = |length_s: f64| 3.0 * (1.0 + length_s / 4.0).ln();
        let host = shown(|length_s| (340.0, 340.0 - cools_k(length_s)), f64::ln);
        assert_eq!(host, MOST);
        let thermostat = shown(|length_s| (330.0 + cools_k(length_s), 330.0), f64::ln);
        assert_eq!(thermostat, 0.0);
        let other_loads = shown(|length_s| (330.0 + length_s * 7.0 % 5.0, 327.0), f64::ln);
        assert_eq!(other_loads, -MOST_FOR);
        let cycle = shown(|length_s| (330.0 + length_s % 3.0, 325.0 + length_s % 3.0), |_| 2.0);
        assert_eq!(cycle, 0.0);
    }
}
