//! Small dense matrices: as much linear algebra as an RC network of a few nodes needs.
//!
//! Fixed size, on the stack, no allocation. Not a general library: no pivot search beyond the
//! column, no dimensions above [`DIM`].

/// Largest dimension: all nodes, the probe, the heat given off, and two inputs.
pub(super) const DIM: usize = super::MAX_NODES + 4;

/// A square matrix of which the leading `n` rows and columns are in use.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    n: usize,
    a: [[f64; DIM]; DIM],
}

impl Matrix {
    pub(super) const fn zero(n: usize) -> Self {
        Self { n, a: [[0.0; DIM]; DIM] }
    }

    fn identity(n: usize) -> Self {
        let mut m = Self::zero(n);
        for i in 0..n {
            m.a[i][i] = 1.0;
        }
        m
    }

    #[inline]
    pub(super) const fn add(&mut self, row: usize, column: usize, value: f64) {
        self.a[row][column] += value;
    }

    /// `self * v`, for the leading `rows` rows; the other entries of `v` stay.
    #[inline]
    pub(super) fn apply(&self, rows: usize, v: &mut [f64; DIM]) {
        let old = *v;
        for (value, row) in v.iter_mut().zip(&self.a).take(rows) {
            *value = row.iter().zip(&old).take(self.n).map(|(a, x)| a * x).sum();
        }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::zero(self.n);
        for i in 0..self.n {
            for j in 0..self.n {
                product.a[i][j] = (0..self.n).map(|k| self.a[i][k] * other.a[k][j]).sum();
            }
        }
        product
    }

    /// `exp(self * t)` by scaling, a Taylor series and squaring.
    ///
    /// Scaled to a norm below 1/2, 18 terms leave a remainder below 2^-18/18! = 6e-22, far under
    /// the rounding of a double (Moler and Van Loan, SIAM Review 45(1), 2003, method 3).
    pub(super) fn exp(&self, t: f64) -> Self {
        const TERMS: u32 = 18;
        let norm = (0..self.n)
            .map(|i| self.a[i].iter().take(self.n).map(|x| (x * t).abs()).sum::<f64>())
            .fold(0.0, f64::max);
        // What is not finite stays so; to halve it until it is small would take for ever.
        let squarings = if norm > 0.5 && norm.is_finite() { (norm / 0.5).log2().ceil() as u32 } else { 0 };
        let mut scaled = self.clone();
        let factor = t / f64::from(squarings).exp2();
        scaled.a.iter_mut().flatten().for_each(|x| *x *= factor);
        let mut sum = Self::identity(self.n);
        let mut term = Self::identity(self.n);
        for k in 1..=TERMS {
            term = term.times(&scaled);
            term.a.iter_mut().flatten().for_each(|x| *x /= f64::from(k));
            for (s, x) in sum.a.iter_mut().flatten().zip(term.a.iter().flatten()) {
                *s += x;
            }
        }
        for _ in 0..squarings {
            sum = sum.times(&sum);
        }
        sum
    }

    /// The `x` with `self * x = right`, by Gaussian elimination with column pivots.
    ///
    /// `None` when the matrix is singular: a node without a way to the surroundings.
    pub(super) fn solve(mut self, mut right: [f64; DIM]) -> Option<[f64; DIM]> {
        for column in 0..self.n {
            let pivot = (column..self.n)
                .max_by(|&p, &q| self.a[p][column].abs().total_cmp(&self.a[q][column].abs()))?;
            if self.a[pivot][column].abs() < 1e-300 {
                return None;
            }
            self.a.swap(column, pivot);
            right.swap(column, pivot);
            let (upper, lower) = self.a.split_at_mut(column + 1);
            let source = &upper[column];
            for (offset, row) in lower.iter_mut().take(self.n - column - 1).enumerate() {
                let factor = row[column] / source[column];
                for (x, y) in row.iter_mut().zip(source) {
                    *x -= factor * y;
                }
                right[column + 1 + offset] -= factor * right[column];
            }
        }
        for row in (0..self.n).rev() {
            let known: f64 = (row + 1..self.n).map(|k| self.a[row][k] * right[k]).sum();
            right[row] = (right[row] - known) / self.a[row][row];
        }
        Some(right)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// A network that was read from a spoilt file is no reason to work for ever.
    #[test]
    fn what_is_not_finite_ends() {
        let mut spoilt = Matrix::zero(1);
        spoilt.add(0, 0, f64::NEG_INFINITY);
        assert!(spoilt.exp(1.0).a.iter().flatten().any(|x| !x.is_finite()));
    }

    #[test]
    fn the_exponential_of_a_rotation_is_cosine_and_sine() {
        let mut m = Matrix::zero(2);
        m.add(0, 1, -1.0);
        m.add(1, 0, 1.0);
        for t in [1e-6, 0.3, 1.0, 7.5] {
            let e = m.exp(t);
            assert!((e.a[0][0] - t.cos()).abs() < 1e-13, "cos {t}");
            assert!((e.a[1][0] - t.sin()).abs() < 1e-13, "sin {t}");
        }
    }

    #[test]
    fn a_solved_system_gives_back_its_right_side() {
        let mut m = Matrix::zero(3);
        let rows = [[0.0, 2.0, 1.0], [3.0, -1.0, 0.5], [1.0, 1.0, 4.0]];
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                m.add(i, j, *value);
            }
        }
        let mut right = [0.0; DIM];
        right[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
        let mut x = m.clone().solve(right).expect("regular");
        m.apply(3, &mut x);
        for (got, wanted) in x.iter().zip(&right).take(3) {
            assert!((got - wanted).abs() < 1e-12);
        }
        assert!(Matrix::zero(2).solve([0.0; DIM]).is_none());
    }
}
