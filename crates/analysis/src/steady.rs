//! Steady state as the SNIA Solid State Storage Performance Test Specification has it, and the state that it misses.
//!
//! PTS 2.0.2 (1 October 2020), definition 2.1.24: over the measurement window, which is five rounds, the *data
//! excursion* (largest less smallest) is at most 20 % of the window's average, and the *slope excursion* (the best
//! linear fit's change over the window) at most 10 %. It fails on a drive that throttles to and fro: rounds shorter than a cycle never
//! pass, rounds of several cycles always do, though nothing is steady. Such a drive is *cyclostationary*.

use crate::findings::SteadyState;
use trace::{Phase, Trace};

/// Rounds in a measurement window.
pub const WINDOW: usize = 5;
/// Largest data excursion, as a share of the average.
pub const DATA_EXCURSION: f64 = 0.20;
/// Largest slope excursion, as a share of the average.
pub const SLOPE_EXCURSION: f64 = 0.10;
/// Cycles that are to show a period.
const LEAST_CYCLES: usize = 4;
/// Coefficient of variation up to which lengths of cycles are one period.
const ONE_PERIOD: f64 = 0.10;

/// A measurement window and how it did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Its first round, counted from 0.
    pub first: usize,
    /// Average over its rounds.
    pub average: f64,
    /// Largest less smallest, as a share of the average.
    pub data_excursion: f64,
    /// Change of the best linear fit over the window, as a share of the average.
    pub slope_excursion: f64,
}

impl Window {
    /// Whether both excursions are within their limits.
    pub fn is_steady(&self) -> bool {
        self.data_excursion <= DATA_EXCURSION && self.slope_excursion <= SLOPE_EXCURSION
    }

    /// The criterion in the specification's words, with the numbers.
    pub fn sentence(&self) -> String {
        format!(
            "Rounds {} to {}: data excursion {:.1} % (at most 20 %), slope excursion {:.1} % (at most 10 %): {}.",
            self.first + 1,
            self.first + WINDOW,
            self.data_excursion * 100.0,
            self.slope_excursion * 100.0,
            if self.is_steady() { "steady state" } else { "no steady state" }
        )
    }
}

/// The window that begins with round `first`; `None` where there are too few rounds or nothing moves.
pub fn window(rounds: &[f64], first: usize) -> Option<Window> {
    let values = rounds.get(first..first + WINDOW)?;
    let average = values.iter().sum::<f64>() / WINDOW as f64;
    if !(average > 0.0 && average.is_finite()) {
        return None;
    }
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
    let middle = (WINDOW - 1) as f64 / 2.0;
    let weights = (0..WINDOW).map(|i| i as f64 - middle);
    let squares: f64 = weights.clone().map(|w| w * w).sum();
    let slope: f64 = weights.zip(values).map(|(w, v)| w * v).sum::<f64>() / squares;
    Some(Window {
        first,
        average,
        data_excursion: (high - low) / average,
        slope_excursion: slope.abs() * (WINDOW - 1) as f64 / average,
    })
}

/// The first window in steady state; `None` while there is none.
pub fn first_steady(rounds: &[f64]) -> Option<Window> {
    (0..rounds.len()).filter_map(|first| window(rounds, first)).find(Window::is_steady)
}

/// A round that was cut short is none: it has to last this share of the longest.
const WHOLE_ROUND: f64 = 0.9;

/// The steady state of a run in rounds; `None` for any other.
pub(crate) fn find(trace: &Trace) -> Option<SteadyState> {
    let span_s = |phase: &Phase| phase.end_s - phase.start_s;
    let tracked = || trace.phases.iter().enumerate().filter(|(_, phase)| phase.tracked);
    let longest_s = tracked().map(|(_, phase)| span_s(phase)).fold(0.0, f64::max);
    let mut bytes = vec![0.0; trace.phases.len()];
    for interval in trace.speeds.iter().flat_map(|series| &series.intervals) {
        bytes[interval.phase as usize] += interval.bytes;
    }
    let whole = tracked().filter(|(_, phase)| longest_s > 0.0 && span_s(phase) >= WHOLE_ROUND * longest_s);
    let rounds: Vec<f64> = whole.map(|(index, phase)| bytes[index] / span_s(phase)).collect();
    let steady = first_steady(&rounds);
    let window = steady.or_else(|| window(&rounds, rounds.len().checked_sub(WINDOW)?));
    Some(SteadyState {
        tracked: tracked().next().map(|(_, phase)| phase.what.clone())?,
        reached: steady.is_some(),
        window: window.map(|window| [window.first + 1, window.first + WINDOW]),
        average_bytes_per_s: window.map(|window| window.average),
        data_excursion: window.map(|window| window.data_excursion),
        slope_excursion: window.map(|window| window.slope_excursion),
        round_bytes_per_s: rounds,
    })
}

/// The period in seconds of something that began at these times, where it has one: at least four cycles, whose
/// lengths vary by at most a tenth. The first cycle, which starts cold, is left out.
pub fn period_s(began_s: &[f64]) -> Option<f64> {
    let lengths: Vec<f64> = began_s.windows(2).skip(1).map(|pair| pair[1] - pair[0]).collect();
    if lengths.len() < LEAST_CYCLES {
        return None;
    }
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let variance = lengths.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / lengths.len() as f64;
    (variance.sqrt() <= ONE_PERIOD * mean).then_some(mean)
}

#[cfg(test)]
mod test {
    use super::*;

    /// Golden: values whose excursions are easily had by hand.
    #[test]
    fn both_excursions_have_their_limit() {
        let steady = window(&[100.0, 102.0, 98.0, 101.0, 99.0], 0).expect("five rounds");
        assert!((steady.data_excursion - 0.04).abs() < 1e-12 && steady.is_steady());
        // A straight line from 94 to 106: 12 % in both, one of them too much.
        let sloping = window(&[94.0, 97.0, 100.0, 103.0, 106.0], 0).expect("five rounds");
        assert!(
            (sloping.slope_excursion - 0.12).abs() < 1e-12 && (sloping.data_excursion - 0.12).abs() < 1e-12
        );
        assert!(!sloping.is_steady());
        // 22 % up and down without a slope.
        assert!(!window(&[89.0, 111.0, 100.0, 111.0, 89.0], 0).expect("five rounds").is_steady());
        assert_eq!(window(&[1.0; 4], 0), None);
        assert_eq!(window(&[0.0; 5], 0), None);
    }

    #[test]
    fn the_first_steady_window_ends_the_wait() {
        let rounds = [300.0, 200.0, 150.0, 110.0, 104.0, 101.0, 100.0, 99.0, 100.0];
        assert_eq!(first_steady(&rounds).map(|w| w.first), Some(4));
        assert_eq!(first_steady(&rounds[..7]), None);
    }

    /// A relay of 37 s (facts, 4.2): rounds of 30 s never pass, rounds of 370 s do, and there is a period.
    #[test]
    fn a_cycle_passes_or_fails_by_the_length_of_its_rounds() {
        let speed = |s: usize| if s % 37 < 17 { 1600.0 } else { 200.0 };
        let rounds = |seconds: usize| -> Vec<f64> {
            (0..3700 / seconds)
                .map(|r| (r * seconds..(r + 1) * seconds).map(speed).sum::<f64>() / seconds as f64)
                .collect()
        };
        assert_eq!(first_steady(&rounds(30)), None);
        assert!(first_steady(&rounds(370)).is_some());
        let began: Vec<f64> = (0..10).map(|n| 37.0 * f64::from(n)).collect();
        assert_eq!(period_s(&began), Some(37.0));
        assert_eq!(period_s(&[0.0, 37.0, 90.0, 100.0, 160.0, 175.0]), None);
    }
}
