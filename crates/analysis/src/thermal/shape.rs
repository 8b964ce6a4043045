//! How the rise of a drive is shared out among time constants, in two ways to be unsure of it.
//!
//! Fixed ones alone cannot say that there is nothing between two of them, nor beyond: of eight drives of three nodes by another's
//! simulator nine of sixteen gains held, all others too high, and all sixteen with free ones beside them. Free ones alone are sure of
//! what a drive of many nodes does not have. Which to believe, and how far, the readings say ([`super::poles`]).

/// Time constants that loads are looked at by: four to a factor of two, from 1 s to 8192 s.
pub(super) const TAUS: usize = 53;
const TO_A_DOUBLING: usize = 4;

/// One of them, in seconds.
pub(super) fn tau_s(at: usize) -> f64 {
    (at as f64 / TO_A_DOUBLING as f64).exp2()
}

/// The fixed ones are a factor of two apart: means of the logarithms of their weights before any data. Flat: a steep one took plateaus of
/// an hour for 3 K too low. But an hour's own time constant is one of few drives: with as much weight as the others it made gains of a
/// quarter of an hour's load 5 % too high.
const FIXED: [f64; 13] = [-0.8, -0.5, -0.4, -0.3, 0.0, 0.0, 0.0, 0.0, -0.2, -0.4, -0.6, -3.0, -5.4];
const FIXED_SD: f64 = 1.5;
/// Free time constants: chip, board, and what carries the heat away. Logarithms of seconds, and how far they may be off.
const FREE: [(f64, f64); 3] = [(1.6, 0.9), (3.7, 0.9), (5.6, 0.7)];
/// Logarithms of the weights of the first two over that of the last.
const FREE_WEIGHT: (f64, f64) = (-0.5, 1.2);
/// The same of a drive of two.
const TWO: [(f64, f64); 2] = [(3.2, 0.7), (5.2, 0.7)];
const TWO_WEIGHT: (f64, f64) = (-0.3, 0.8);
/// The time constant of a case or a room that takes the heat in for an hour, and the logarithm of its weight over that of the board: one drive
/// in twenty-five has one. No load of half an hour shows it, so that what it leaves of a gain is open.
const SLOW: [(f64, f64); 2] = [(8.2, 0.5), (-0.9, 0.7)];
/// Logarithm of a sensor's lag in seconds: most follow within seconds, few within a quarter of a minute.
const LN_LAG: (f64, f64) = (0.5, 1.0);
/// A lag and a time constant closer than this count as so far apart: two of one length would be no sum of two.
const APART: f64 = 1.05;

/// What is looked for of the step response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The weights of fixed time constants: a drive of any number of nodes.
    Fixed,
    /// Three time constants anywhere: a drive of few nodes has nothing between them, nor anything slower.
    Free,
    /// Two: a drive that is a chip and what it sits on.
    Two,
    /// Three beside one of an hour.
    Slow,
}

/// Shares of the rise by time constant: places in the row of them, and weights, which add up to 1.
pub(super) type Weights = Vec<(usize, f64)>;

impl Shape {
    /// Mean and deviation of each parameter before any data; the last is the sensor's lag.
    pub(super) fn prior(self) -> Vec<(f64, f64)> {
        let mut prior: Vec<(f64, f64)> = match self {
            Self::Fixed => FIXED.iter().map(|mean| (*mean, FIXED_SD)).collect(),
            Self::Free => FREE.into_iter().chain([FREE_WEIGHT; 2]).collect(),
            Self::Two => TWO.into_iter().chain([TWO_WEIGHT]).collect(),
            Self::Slow => FREE.into_iter().chain([FREE_WEIGHT; 2]).chain(SLOW).collect(),
        };
        prior.push(LN_LAG);
        prior
    }

    /// The logarithm of how many drives are of this kind, beside those of the others.
    pub(super) fn ln_share(self) -> f64 {
        let share: f64 = if self == Self::Slow { 0.04 } else { 0.32 };
        share.ln()
    }

    /// What the drive does, and what its sensor shows of that.
    pub(super) fn weights(self, theta: &[f64]) -> (Weights, Weights) {
        let weight = |log: f64| log.clamp(-8.0, 8.0).exp();
        let mut weights: Weights = match self {
            Self::Fixed => (0..FIXED.len()).map(|i| (TO_A_DOUBLING * i, weight(theta[i]))).collect(),
            Self::Two => {
                let free = theta.iter().zip([theta[2], 0.0]);
                free.flat_map(|(ln_tau, log)| between(*ln_tau, weight(log))).collect()
            }
            Self::Free | Self::Slow => {
                let logs = [theta[3], theta[4], 0.0];
                let free = theta.iter().zip(logs);
                let slow = (self == Self::Slow).then(|| (&theta[5], theta[6]));
                free.chain(slow).flat_map(|(ln_tau, log)| between(*ln_tau, weight(log))).collect()
            }
        };
        let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
        weights.iter_mut().for_each(|(_, weight)| *weight /= sum);
        let seen = lagged(&weights, theta[theta.len() - 1].clamp(-3.0, 4.0).exp());
        (weights, seen)
    }
}

/// What a sensor that lags behind by so many seconds shows: `(tau P_tau - lag P_lag) / (tau - lag)` is what one low-pass after the other
/// lets through.
fn lagged(weights: &[(usize, f64)], lag_s: f64) -> Weights {
    let mut of_lag = 0.0;
    let seen = weights.iter().map(|(at, weight)| {
        let ratio = tau_s(*at) / lag_s;
        let ratio = if ratio > 1.0 { ratio.max(APART) } else { ratio.min(1.0 / APART) };
        of_lag -= weight / (ratio - 1.0);
        (*at, weight * ratio / (ratio - 1.0))
    });
    let seen: Weights = seen.collect();
    seen.into_iter().chain(between(lag_s.ln(), of_lag)).collect()
}

/// A weight at any time constant as weights at the four next to it, as a cubic through them has it: what a load does through a low-pass
/// changes smoothly with its logarithm.
fn between(ln_tau: f64, weight: f64) -> [(usize, f64); 4] {
    let place = (ln_tau / std::f64::consts::LN_2 * TO_A_DOUBLING as f64).clamp(0.0, (TAUS - 1) as f64);
    let first = (place as usize).saturating_sub(1).min(TAUS - 4);
    std::array::from_fn(|i| {
        let others = (0..4).filter(|j| *j != i);
        let share = others.map(|j| (place - (first + j) as f64) / (i as f64 - j as f64)).product::<f64>();
        (first + i, weight * share)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    /// Share of the rise after so many seconds of an even load.
    fn risen(weights: &[(usize, f64)], seconds: f64) -> f64 {
        weights.iter().map(|(at, weight)| weight * (1.0 - (-seconds / tau_s(*at)).exp())).sum()
    }

    /// Goal: a time constant between two of the row, and a lag in front of it, do what they would do by the formula.
    #[test]
    fn free_time_constants_and_lags_are_what_they_say() {
        for (tau, lag) in [(37.0f64, 5.0f64), (290.0, 12.0), (13.0, 12.0), (900.0, 1.5)] {
            // The first two have next to no weight.
            let theta = [1.0, 3.0, tau.ln(), -20.0, -20.0, lag.ln()];
            let (_, seen) = Shape::Free.weights(&theta);
            for seconds in [1.0, 10.0, 60.0, 600.0] {
                let free = |tau: f64| 1.0 - (-seconds / tau).exp();
                let late = (tau * free(tau) - lag * free(lag)) / (tau - lag);
                assert!(
                    (risen(&seen, seconds) - late).abs() < 3e-3,
                    "{tau} s behind {lag} s after {seconds} s"
                );
            }
        }
    }

    #[test]
    fn weights_add_up_to_one_whatever_the_lag() {
        for shape in [Shape::Fixed, Shape::Free, Shape::Two, Shape::Slow] {
            let prior = shape.prior();
            for lag in [-3.0, 0.0, 1.4, 4.0] {
                let mut theta: Vec<f64> = prior.iter().map(|(mean, _)| *mean).collect();
                *theta.last_mut().expect("the lag") = lag;
                let (drive, seen) = shape.weights(&theta);
                for weights in [drive, seen] {
                    let sum: f64 = weights.iter().map(|(_, weight)| weight).sum();
                    assert!((sum - 1.0).abs() < 1e-9, "{shape:?} {lag}");
                }
            }
        }
    }
}
