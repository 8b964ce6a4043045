//! Least squares and the covariance that they leave: where a chain begins.
//!
//! Levenberg's and Marquardt's method (Quart. Appl. Math. 2, 1944; SIAM J. 11, 1963) with differences for the
//! derivatives. The parameters are twenty at most and a look at the model takes microseconds, so that no library's
//! care for large problems is called for.

/// Steps at most: it ends in ten where it ends at all.
const STEPS: usize = 40;
/// A step that takes less than this off the sum of squares is the last.
const ENDS: f64 = 1e-4;
/// Difference for a derivative; parameters are logarithms and kelvins.
const DIFFERENCE: f64 = 1e-4;

/// What a model misses its data by, over their scatter; each call of one model returns as many.
pub trait Misses {
    /// All of it.
    fn all(&self, theta: &[f64]) -> Vec<f64>;

    /// The same where `theta` differs from what gave `before` in one parameter alone: a parameter of one run of many
    /// moves the residuals of that run.
    fn moved(&self, theta: &[f64], _parameter: usize, _before: &[f64]) -> Vec<f64> {
        self.all(theta)
    }
}

impl<F: Fn(&[f64]) -> Vec<f64>> Misses for F {
    fn all(&self, theta: &[f64]) -> Vec<f64> {
        self(theta)
    }
}

/// The parameters with the least sum of squares near `start`, and the inverse of the curvature there.
pub fn fit(start: Vec<f64>, misses: &impl Misses) -> (Vec<f64>, Vec<Vec<f64>>) {
    fit_until(start, ENDS, STEPS, misses)
}

/// The same, until a step takes less than `ends` off the sum of squares, as a share of it, and for `steps` at most.
pub fn fit_until(
    start: Vec<f64>,
    ends: f64,
    steps: usize,
    misses: &impl Misses,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut theta = start;
    let mut missed = misses.all(&theta);
    let mut sum = squares(&missed);
    let mut damping = 1e-2;
    let mut curvature = Vec::new();
    for _ in 0..steps {
        let (matrix, slope) = normal(&theta, &missed, misses);
        let mut improved = false;
        for _ in 0..8 {
            let mut damped = matrix.clone();
            (0..theta.len()).for_each(|i| damped[i][i] *= 1.0 + damping);
            let step = cholesky(&damped).map(|lower| solve(&lower, &slope));
            let tried: Vec<f64> = match step {
                Some(step) => theta.iter().zip(step).map(|(value, step)| value - step).collect(),
                None => theta.clone(),
            };
            let tried_missed = misses.all(&tried);
            let tried_sum = squares(&tried_missed);
            if tried_sum < sum {
                improved = sum - tried_sum > ends * sum;
                (theta, missed, sum) = (tried, tried_missed, tried_sum);
                damping = f64::max(damping * 0.2, 1e-7);
                break;
            }
            damping *= 5.0;
        }
        curvature = matrix;
        if !improved {
            break;
        }
    }
    let covariance = inverse(&curvature);
    (theta, covariance)
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// The matrix and right side of the normal equations.
fn normal(theta: &[f64], missed: &[f64], misses: &impl Misses) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = theta.len();
    let columns: Vec<Column> = (0..n)
        .map(|i| {
            let mut moved = theta.to_vec();
            moved[i] += DIFFERENCE;
            let after = misses.moved(&moved, i, missed);
            Column::new(after.iter().zip(missed).map(|(a, b)| (a - b) / DIFFERENCE).collect())
        })
        .collect();
    let mut matrix = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            matrix[i][j] = columns[i].dot(&columns[j]);
            matrix[j][i] = matrix[i][j];
        }
    }
    let slope = columns.iter().map(|column| column.dot_all(missed)).collect();
    (matrix, slope)
}

/// Derivatives of all residuals by one parameter.
struct Column {
    all: Vec<f64>,
    /// Rows that are not 0, where they are few.
    rows: Option<Vec<usize>>,
}

impl Column {
    fn new(all: Vec<f64>) -> Self {
        let rows: Vec<usize> = (0..all.len()).filter(|row| all[*row] != 0.0).collect();
        let rows = (2 * rows.len() < all.len()).then_some(rows);
        Self { all, rows }
    }

    fn dot(&self, other: &Self) -> f64 {
        if self.rows.is_some() { self.dot_all(&other.all) } else { other.dot_all(&self.all) }
    }

    fn dot_all(&self, other: &[f64]) -> f64 {
        match &self.rows {
            Some(rows) => rows.iter().map(|row| self.all[*row] * other[*row]).sum(),
            None => self.all.iter().zip(other).map(|(a, b)| a * b).sum(),
        }
    }
}

/// The lower triangle whose square is `matrix`; `None` where it has none.
pub fn cholesky(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let n = matrix.len();
    let mut lower = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let left = matrix[i][j] - known;
            lower[i][j] = if i == j {
                if left <= 0.0 || !left.is_finite() {
                    return None;
                }
                left.sqrt()
            } else {
                left / lower[j][j]
            };
        }
    }
    Some(lower)
}

/// Solves with the square of `lower`.
fn solve(lower: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let n = lower.len();
    let mut x = right.to_vec();
    for i in 0..n {
        let known: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| lower[k][i] * x[k]).sum();
        x[i] = (x[i] - known) / lower[i][i];
    }
    x
}

/// The inverse; of a matrix that has none, that of its diagonal.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let unit = |i: usize| (0..n).map(|j| f64::from(u8::from(i == j))).collect::<Vec<_>>();
    match cholesky(matrix) {
        Some(lower) => (0..n).map(|i| solve(&lower, &unit(i))).collect(),
        None => (0..n).map(|i| unit(i).iter().map(|one| one / matrix[i][i].max(1e-6)).collect()).collect(),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_decay_is_found_with_its_uncertainty() {
        let data: Vec<(f64, f64)> =
            (0..50).map(|i| (f64::from(i), 3.0 * (-f64::from(i) / 12.0).exp())).collect();
        let residuals = |theta: &[f64]| -> Vec<f64> {
            data.iter().map(|(t, y)| (y - theta[0] * (-t / theta[1].exp()).exp()) / 0.1).collect()
        };
        let (theta, covariance) = fit(vec![1.0, 1.0], &residuals);
        assert!((theta[0] - 3.0).abs() < 1e-4 && (theta[1].exp() - 12.0).abs() < 1e-3, "{theta:?}");
        assert!((0.02..0.1).contains(&covariance[0][0].sqrt()), "{covariance:?}");
    }
}
