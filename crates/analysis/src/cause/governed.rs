//! Whether a temperature or a time governs when drops end, and when they begin.
//!
//! A threshold lets go at a temperature, whatever time that takes; a host pauses for a time, and where the temperature has got to by then
//! follows. So if the length of drops says better how cool the drive was at their ends than that all end at one temperature does, time
//! was what governed. A firmware's fixed duty cycle has one length, and says nothing here.
//!
//! So it is with beginnings: a threshold is met at a temperature, wherever the way to it began, and a cache is full, or a job over, after an
//! amount or a time, by which the drive is a little hotter than it was before.

use super::beginning::Beginning;
use super::drops::SpeedDrop;
use super::release::Release;
use crate::line::Line;
use crate::segment::{Piece, median, median_and_deviation};

/// Fewer drops do not show what goes with what.
const LEAST: usize = 8;
const LEAST_BEGINNINGS: usize = 5;
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

/// The time at full speed before a drop, from where a load began or a rest ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Approach {
    /// When it began, in seconds.
    pub since_s: f64,
    /// What was moved in it, in bytes.
    pub bytes: f64,
}

impl Approach {
    /// Those before drops, in the order of time; `None` within another one, where a load begins slow, and where speed had only just come back
    /// from another one.
    pub(super) fn all(drops: &[SpeedDrop], pieces: &[Piece]) -> Vec<Option<Self>> {
        let mut slow_until = 0;
        let of = |drop: &SpeedDrop| {
            if drop.inside.is_some() {
                return None;
            }
            let stretch = pieces[drop.first].stretch;
            let full = |at: &usize| pieces[*at].stretch == stretch && !pieces[*at].stopped;
            let first = (slow_until..drop.first).rev().take_while(full).last();
            let came_back =
                first == Some(slow_until) && slow_until > 0 && pieces[slow_until - 1].stretch == stretch;
            slow_until = drop.last + 1;
            let before = &pieces[first.filter(|_| !came_back)?..drop.first];
            let since_s = before[0].start_s;
            let bytes = before.iter().map(|piece| piece.mean * piece.span_s()).sum();
            Some(Self { since_s, bytes })
        };
        drops.iter().map(of).collect()
    }
}

/// How unlikely it is that a temperature governed when these drops began, as a logarithm: by how much better where their ways began
/// explains it.
pub(super) fn by_approach<'a>(drops: impl Iterator<Item = &'a Beginning>) -> f64 {
    let began = drops.filter(|began| !began.of.1 && !began.at_start);
    let began: Vec<(&Beginning, f64)> = began.filter_map(|began| Some((began, began.approach_k?))).collect();
    let at_k: Vec<f64> = began.iter().map(|(began, _)| began.temp_k).collect();
    let by_k: Vec<f64> = began.iter().map(|(began, from_k)| began.temp_k - from_k).collect();
    let spread_k: Vec<f64> = began.iter().map(|(began, _)| began.spread_k).collect();
    approached(&at_k, &by_k, &spread_k)
}

/// The same of drops that began at `at_k`, `by_k` hotter than their ways did; each beginning is known to its `spread_k`. What is far off
/// counts little more the further it is, as there may be two thresholds.
fn approached(at_k: &[f64], by_k: &[f64], spread_k: &[f64]) -> f64 {
    if at_k.len() < LEAST_BEGINNINGS {
        return 0.0;
    }
    let unlikely = |values: &[f64]| -> f64 {
        let middle = median(values);
        let off = |(value, spread_k): (&f64, &f64)| ((value - middle) / spread_k).powi(2).ln_1p();
        values.iter().zip(spread_k).map(off).sum()
    };
    ((unlikely(at_k) - unlikely(by_k)) / (at_k.len() as f64).sqrt()).clamp(0.0, MOST)
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

    /// Goal: bursts that end after one amount are told from a threshold, which is met wherever a load began. Method: a drive that warms up
    /// burst by burst; loads that begin at any temperature and end at one, or at two in turn.
    #[test]
    fn amounts_end_bursts_a_little_hotter_and_thresholds_at_one_temperature() {
        let shown = |of: &dyn Fn(f64) -> (f64, f64)| {
            let (from_k, at_k): (Vec<f64>, Vec<f64>) = (0..12).map(|at| of(f64::from(at))).unzip();
            let by_k: Vec<f64> = at_k.iter().zip(&from_k).map(|(at, from)| at - from).collect();
            approached(&at_k, &by_k, &[0.8; 12])
        };
        let warms_k = |at: f64| 330.0 + 8.0 * (1.0 - (-at / 4.0).exp());
        assert!(shown(&|at| (warms_k(at), warms_k(at) + 2.0)) > 2.0);
        let from_k = |at: f64| 335.0 + at * 7.0 % 9.0;
        assert_eq!(shown(&|at| (from_k(at), 346.0)), 0.0);
        assert_eq!(shown(&|at| (from_k(at), 346.0 + 5.0 * (at % 2.0))), 0.0);
    }
}
