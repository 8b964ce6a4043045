//! The best straight line through points, by least squares.

/// A straight line.
pub(crate) struct Line {
    pub(crate) slope: f64,
    mean_x: f64,
    mean_y: f64,
    /// Sum of the squares of how far each `x` is from their mean.
    squares: f64,
}

impl Line {
    /// The best one; flat where all `x` are one.
    pub(crate) fn through(x: &[f64], y: &[f64]) -> Self {
        let n = x.len() as f64;
        let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
        let squares: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
        let products: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = if squares > 0.0 { products / squares } else { 0.0 };
        Self { slope, mean_x, mean_y, squares }
    }

    /// By how much each point is off.
    pub(crate) fn off<'a>(&'a self, x: &'a [f64], y: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        x.iter().zip(y).map(|(x, y)| y - self.mean_y - self.slope * (x - self.mean_x))
    }

    /// The standard error of the slope.
    pub(crate) fn slope_error(&self, x: &[f64], y: &[f64]) -> f64 {
        let residual = self.off(x, y).map(|off| off.powi(2)).sum::<f64>() / (x.len() as f64 - 2.0);
        (residual / self.squares).sqrt()
    }
}
