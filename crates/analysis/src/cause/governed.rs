//! Whether a temperature or a time governs when drops end.
//!
//! A threshold lets go at a temperature, whatever time that takes; a host pauses for a time, and where the temperature has got to by then
//! follows. So if the length of drops says better how cool the drive was at their ends than that all end at one temperature does, time
//! was what governed. A firmware's fixed duty cycle has one length, and says nothing here.

use super::beginning::Beginning;
use crate::segment::median;

/// Fewer drops do not show what goes with what.
const LEAST: usize = 8;
/// What it weighs at most, as a logarithm: against a temperature, and for one.
const MOST: f64 = 3.0;
const MOST_FOR: f64 = 1.5;
/// A median absolute deviation of a normal distribution in standard deviations.
const NORMAL: f64 = 1.48;
/// Standard deviation of the difference of two readings: of noise, in kelvins, and of each rounded to steps.
const NOISE_K: f64 = 0.2;
const ROUNDED: f64 = 0.41;

/// How unlikely it is that a temperature governed when these drops ended, as a logarithm: by how much better their lengths explain where
/// it had got to than one temperature does, and one distance. `step_k` is the sensor's resolution, `slice_s` how long a speed lasts.
pub(super) fn by_time<'a>(drops: impl Iterator<Item = &'a Beginning>, step_k: f64, slice_s: f64) -> f64 {
    let outer = drops.filter(|began| !began.of.1);
    let ended = outer.filter_map(|began| {
        let release = began.release?;
        let by_k = began.temp_k - release.temp_k;
        Some(Cooled { to_k: release.temp_k, by_k, length: release.length })
    });
    let ended: Vec<Cooled> = ended.collect();
    if ended.len() < LEAST {
        return 0.0;
    }
    let middle = |of: fn(&Cooled) -> f64| median(&ended.iter().map(of).collect::<Vec<_>>());
    let in_a_slice_k = middle(|one| one.by_k) * (slice_s / middle(|one| one.length).exp()).min(1.0);
    explained(&ended, NOISE_K.hypot(ROUNDED * step_k).hypot(ROUNDED * in_a_slice_k))
}

/// How far a drop took the temperature.
struct Cooled {
    /// Where to, in kelvins.
    to_k: f64,
    /// By how much it was cooler there than at its beginning, in kelvins.
    by_k: f64,
    /// Logarithm of its length in seconds.
    length: f64,
}

/// By how much better lengths explain where drops ended than one temperature, and one distance, do; or else by how much better one
/// temperature does than both others, which counts the other way: as a logarithm. What n say counts by the root of n.
fn explained(ended: &[Cooled], least_k: f64) -> f64 {
    let n = ended.len() as f64;
    let mean = |of: fn(&Cooled) -> f64| ended.iter().map(of).sum::<f64>() / n;
    let (length, by_k) = (mean(|one| one.length), mean(|one| one.by_k));
    let with: f64 = ended.iter().map(|one| (one.length - length) * (one.by_k - by_k)).sum();
    let spread: f64 = ended.iter().map(|one| (one.length - length).powi(2)).sum();
    // Longer pauses leave a drive cooler; what is the other way around is no cooling.
    let slope = (with / spread.max(f64::MIN_POSITIVE)).max(0.0);
    let off = |of: &dyn Fn(&Cooled) -> f64| scatter(ended.iter().map(of).collect(), least_k);
    let by_length = off(&|one| one.by_k - slope * one.length);
    let (to_one, by_one) = (off(&|one| one.to_k), off(&|one| one.by_k));
    let by_time = (to_one.min(by_one) / by_length).ln().max(0.0);
    let by_temperature = (by_one.min(by_length) / to_one).ln().max(0.0);
    ((by_time - by_temperature) * n.sqrt()).clamp(-MOST_FOR, MOST)
}

/// Standard deviation of most of these, in kelvins, and no less than `least_k`.
fn scatter(values: Vec<f64>, least_k: f64) -> f64 {
    let middle = median(&values);
    let off: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    (NORMAL * median(&off)).max(least_k)
}

#[cfg(test)]
mod test {
    use super::*;

    fn drops(of: impl Fn(f64) -> (f64, f64)) -> Vec<Cooled> {
        let lengths_s = (0..40).map(|at| 4.0 + f64::from(at * 7 % 23));
        let drop = |length_s: f64| {
            let (from_k, to_k) = of(length_s);
            Cooled { to_k, by_k: from_k - to_k, length: length_s.ln() }
        };
        lengths_s.map(drop).collect()
    }

    /// Goal: pauses that end wherever the drive has cooled to are told from a threshold that lets go at one temperature, also where that
    /// takes longer from hotter beginnings, and from a cycle of one length. Where it takes any time, that speaks for the threshold.
    #[test]
    fn pauses_are_governed_by_their_length_and_thresholds_are_not() {
        let host = drops(|length_s| (340.0, 340.0 - 3.0 * (1.0 + length_s / 4.0).ln()));
        assert_eq!(explained(&host, 0.5), MOST);
        let thermostat = drops(|length_s| (330.0 + 3.0 * (1.0 + length_s / 4.0).ln(), 330.0));
        assert_eq!(explained(&thermostat, 0.5), 0.0);
        let other_loads = drops(|length_s| (330.0 + length_s * 7.0 % 5.0, 327.0));
        assert_eq!(explained(&other_loads, 0.5), -MOST_FOR);
        let mut cycle = drops(|length_s| (330.0 + length_s % 3.0, 325.0 + length_s % 3.0));
        cycle.iter_mut().for_each(|one| one.length = 2.0);
        assert_eq!(explained(&cycle, 0.5), 0.0);
    }
}
