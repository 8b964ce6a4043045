//! The posterior by a random walk: Metropolis' rule with proposals of the shape that the walk itself has found.
//!
//! Weights of poles are skewed: a normal approximation lay up to 2 K beside the plateau it should have surrounded. So
//! the covariance of least squares only starts the walk, and is replaced twice by that of the walk so far
//! (Haario, Saksman and Tamminen, Bernoulli 7, 2001; here it stands still afterwards, so that the walk is exact).

use analysis::posterior::{Draws, least::cholesky};

/// Steps of the three parts of a walk; the last one is kept.
const PARTS: [usize; 3] = [800, 1200, 2000];

/// States of a walk through the posterior, `keep` of them, evenly spaced over its last part; and the best one of all.
pub(crate) struct ChainWalk {
    /// What was visited.
    pub(crate) states: Vec<Vec<f64>>,
    /// The likeliest of all.
    pub(crate) best: Vec<f64>,
    /// The logarithm of its posterior.
    pub(crate) best_log: f64,
}

/// Walks from `start`.
pub(crate) fn walk(
    start: &[f64],
    covariance: &[Vec<f64>],
    keep: usize,
    draws: &mut Draws,
    log_posterior: impl Fn(&[f64]) -> f64,
) -> ChainWalk {
    let n = start.len();
    let mut covariance = covariance.to_vec();
    let mut at = start.to_vec();
    let mut log = log_posterior(&at);
    let mut walk = ChainWalk { states: Vec::new(), best: at.clone(), best_log: log };
    // Gelman, Roberts and Gilks: the best scale for a normal posterior.
    let mut scale = 2.38 / (n as f64).sqrt();
    for (part, steps) in PARTS.into_iter().enumerate() {
        let lower = cholesky(&regular(&covariance)).unwrap_or_else(|| diagonal(&covariance));
        let mut visited = Vec::with_capacity(steps);
        let mut accepted = 0_usize;
        for step in 0..steps {
            let noise: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
            let tried: Vec<f64> = (0..n)
                .map(|i| at[i] + scale * lower[i][..=i].iter().zip(&noise).map(|(l, z)| l * z).sum::<f64>())
                .collect();
            let tried_log = log_posterior(&tried);
            if (1.0 - draws.unit()).ln() < tried_log - log {
                (at, log) = (tried, tried_log);
                accepted += 1;
                if log > walk.best_log {
                    (walk.best, walk.best_log) = (at.clone(), log);
                }
            }
            // While the walk learns, its scale goes to where a quarter is accepted.
            if part < 2 && step % 100 == 99 {
                scale *= if accepted < 15 {
                    0.7
                } else if accepted > 40 {
                    1.3
                } else {
                    1.0
                };
                accepted = 0;
            }
            visited.push(at.clone());
        }
        if part < 2 {
            covariance = of(&visited[steps / 4..]);
            scale = 2.38 / (n as f64).sqrt();
        } else {
            let stride = steps / keep.max(1);
            walk.states = visited.into_iter().skip(stride - 1).step_by(stride.max(1)).take(keep).collect();
        }
    }
    walk
}

/// The covariance of states.
fn of(states: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let (n, count) = (states[0].len(), states.len() as f64);
    let mean: Vec<f64> = (0..n).map(|i| states.iter().map(|s| s[i]).sum::<f64>() / count).collect();
    (0..n)
        .map(|i| {
            (0..n)
                .map(|j| states.iter().map(|s| (s[i] - mean[i]) * (s[j] - mean[j])).sum::<f64>() / count)
                .collect()
        })
        .collect()
}

/// With a little on the diagonal, so that it has a root.
fn regular(covariance: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut regular = covariance.to_vec();
    for (i, row) in regular.iter_mut().enumerate() {
        row[i] = row[i] * 1.000_1 + 1e-10;
    }
    regular
}

fn diagonal(covariance: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = covariance.len();
    (0..n)
        .map(|i| (0..n).map(|j| if i == j { covariance[i][i].max(1e-10).sqrt() } else { 0.0 }).collect())
        .collect()
}

#[cfg(test)]
mod test {
    use measure::Seed;

    use super::*;

    #[test]
    fn a_walk_has_the_spread_of_its_target() {
        let log = |x: &[f64]| -0.5 * (x[0] * x[0] + ((x[1] - 3.0) / 2.0).powi(2));
        let start = [[1.0, 0.0].to_vec(), [0.0, 1.0].to_vec()];
        let walk = walk(&[0.0, 0.0], &start, 500, &mut Draws::new(Seed::new(1)), log);
        let cov = of(&walk.states);
        assert!((0.6..1.6).contains(&cov[0][0]) && (2.6..6.0).contains(&cov[1][1]), "{cov:?}");
    }
}
