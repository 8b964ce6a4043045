//! How likely readings are under the heat: what each misses it by, for least squares and for the walk.
//!
//! A parameter of one run moves the readings of that run alone, and most of a fit of many runs are such: only they are
//! looked at again.

use analysis::posterior::least::Misses;

use super::{HeatModel, at};

/// One reading in so many seconds counts as independent of the one before.
const INDEPENDENT_S: f64 = 16.0;

impl HeatModel<'_> {
    /// What each reading of a run misses the model by, over its scatter: for least squares.
    fn missed<'b>(&'b self, theta: &[f64], run: usize) -> impl Iterator<Item = f64> + 'b {
        let data = &self.runs[run];
        let course = self.course(theta, run);
        let sd = (data.resolution_k.powi(2) / 12.0 + self.scatter_k.powi(2)).sqrt();
        let root = self.weight(run).sqrt();
        data.readings.iter().step_by(self.rates[run]).map(move |reading| {
            let missed_k = reading.kelvin + 0.5 * data.resolution_k - at(&course, reading.t_s);
            // Beyond three deviations a reading is an outlier and pulls no harder (Huber).
            let missed = missed_k / sd;
            let pull =
                if missed.abs() > 3.0 { missed.signum() * (6.0 * missed.abs() - 9.0).sqrt() } else { missed };
            pull * root
        })
    }

    fn missed_prior(&self, theta: &[f64], parameter: usize) -> f64 {
        let (mean, sd) = self.prior[parameter];
        (theta[parameter] - mean) / sd
    }

    /// The run whose readings alone a parameter moves.
    fn run_of(&self, parameter: usize) -> Option<usize> {
        Some(parameter.checked_sub(self.floor_at(0))? / 2)
    }

    /// The logarithm of the posterior, tempered: readings as intervals, and the prior.
    pub(crate) fn log_posterior(&self, theta: &[f64]) -> f64 {
        let prior: f64 = (0..self.len()).map(|at| -0.5 * self.missed_prior(theta, at).powi(2)).sum();
        prior + self.log_likelihood(theta)
    }

    /// The tempered logarithm of the likelihood of all readings.
    pub(crate) fn log_likelihood(&self, theta: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (run, data) in self.runs.iter().enumerate() {
            let course = self.course(theta, run);
            let readings = data.readings.iter().step_by(self.rates[run]);
            let shares = readings.map(|reading| {
                let below = (reading.kelvin - at(&course, reading.t_s)) / self.scatter_k;
                let share = normal_share(below + data.resolution_k / self.scatter_k) - normal_share(below);
                // A reading in ten thousand comes from nowhere.
                share + 1e-4
            });
            sum += self.weight(run) * ln_product(shares);
        }
        sum
    }

    /// How much of an independent witness a reading is.
    fn weight(&self, run: usize) -> f64 {
        (self.runs[run].period_s * self.rates[run] as f64 / INDEPENDENT_S).min(1.0)
    }

    /// Root mean square of what the readings miss the model by, in kelvins.
    pub(crate) fn rms_k(&self, theta: &[f64]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for (run, data) in self.runs.iter().enumerate() {
            let course = self.course(theta, run);
            for reading in &data.readings {
                sum += (reading.kelvin + 0.5 * data.resolution_k - at(&course, reading.t_s)).powi(2);
                count += 1.0;
            }
        }
        f64::sqrt(sum / f64::max(count, 1.0))
    }
}

impl Misses for HeatModel<'_> {
    fn all(&self, theta: &[f64]) -> Vec<f64> {
        let mut missed: Vec<f64> = (0..self.runs.len()).flat_map(|run| self.missed(theta, run)).collect();
        missed.extend((0..self.len()).map(|at| self.missed_prior(theta, at)));
        missed
    }

    fn moved(&self, theta: &[f64], parameter: usize, before: &[f64]) -> Vec<f64> {
        let Some(run) = self.run_of(parameter) else { return self.all(theta) };
        let readings = |run: usize| self.runs[run].readings.len().div_ceil(self.rates[run]);
        let from: usize = (0..run).map(readings).sum();
        let mut missed = before.to_vec();
        missed.splice(from..from + readings(run), self.missed(theta, run));
        let prior_at = missed.len() - self.len() + parameter;
        missed[prior_at] = self.missed_prior(theta, parameter);
        missed
    }
}

/// The sum of the logarithms of shares of 1e-4 and more: one logarithm for so many of them that their product stays a
/// number.
fn ln_product(shares: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut product) = (0.0, 1.0_f64);
    for share in shares {
        product *= share;
        if product < 1e-200 {
            sum += product.ln();
            product = 1.0;
        }
    }
    sum + product.ln()
}

/// Share of a normal distribution below `x` (Abramowitz and Stegun 7.1.26: right to 1.5e-7).
fn normal_share(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = 0.5 * poly * (-z * z).exp();
    if x < 0.0 { tail } else { 1.0 - tail }
}
