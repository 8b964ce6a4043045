//! The best piecewise-constant fit to a series under an absolute cost, exactly and in linear time.
//!
//! The criterion is PELT's (Killick, Fearnhead, Eckley, JASA 2012): the sum of |x - level| over all points, plus a
//! penalty for each change, with a shortest length. PELT's pruning gains nothing on a long constant
//! series, where it is quadratic. Here levels lie on a grid finer than the noise, so the optimum is
//! found by dynamic programming over (point, level) as in Viterbi's algorithm: points times levels,
//! whatever the data. The grid has a cell only where the data has points.

use std::collections::VecDeque;

/// More levels than this gain nothing: 7 natural units (a factor 1,000) in 1 % steps would be 700, but real
/// series occupy a few bands of them. Bounds the time to 256 steps a point.
const MAX_LEVELS: usize = 256;

/// Where the pieces of the best fit begin: indices into `x`, the first one 0.
///
/// `grid` is the wanted distance of levels, `shortest` the least points in a piece, `penalty` the cost of
/// a change in the units of `x`. Ties go to fewer changes.
pub(crate) fn piece_starts(x: &[f64], grid: f64, shortest: usize, penalty: f64) -> Vec<usize> {
    let shortest = shortest.max(1);
    if x.len() < 2 * shortest {
        return vec![0];
    }
    let levels = levels(x, grid);
    let mut forward = Forward::new(levels, x.len(), shortest, penalty as f32);
    for t in 0..x.len() {
        forward.step(x, t);
    }
    forward.trace_back(x.len())
}

/// Middles of the grid's occupied cells; the grid is made coarser until they are few enough.
fn levels(x: &[f64], mut grid: f64) -> Vec<f32> {
    loop {
        let mut cells: Vec<i64> = x.iter().map(|v| (v / grid).round() as i64).collect();
        cells.sort_unstable();
        cells.dedup();
        if cells.len() <= MAX_LEVELS {
            return cells.into_iter().map(|cell| (cell as f64 * grid) as f32).collect();
        }
        grid *= 2.0;
    }
}

/// The forward pass of the dynamic programme.
struct Forward {
    levels: Vec<f32>,
    shortest: usize,
    penalty: f32,
    /// Least cost up to the present point that ends in each level, less `base` of the present point.
    cost: Vec<f32>,
    /// Least cost up to each of the last `shortest` points, whatever the level; infinite where no piece can end.
    base: VecDeque<f64>,
    /// The level of that least cost.
    best: Vec<u16>,
    /// One bit for each point and level: whether the level was entered `shortest` points ago.
    entered: Vec<u64>,
    words: usize,
}

impl Forward {
    fn new(levels: Vec<f32>, points: usize, shortest: usize, penalty: f32) -> Self {
        let words = levels.len().div_ceil(64);
        Self {
            cost: vec![f32::INFINITY; levels.len()],
            base: VecDeque::with_capacity(shortest + 1),
            best: Vec::with_capacity(points),
            entered: Vec::with_capacity(points * words),
            levels,
            shortest,
            penalty,
            words,
        }
    }

    fn step(&mut self, x: &[f64], t: usize) {
        let (entry, from) = self.entry_cost(t);
        crate::work::count(self.levels.len() * (t - from + 2));
        let now = x[t] as f32;
        for (chunk, levels) in self.cost.chunks_mut(64).zip(self.levels.chunks(64)) {
            let mut word = 0u64;
            for (bit, (cost, level)) in chunk.iter_mut().zip(levels).enumerate() {
                let stay = *cost + (now - level).abs();
                let mut enter = entry;
                for earlier in &x[from..=t] {
                    enter += (*earlier as f32 - level).abs();
                }
                word |= u64::from(enter < stay) << bit;
                *cost = stay.min(enter);
            }
            self.entered.push(word);
        }
        let (best, least) = self
            .cost
            .iter()
            .enumerate()
            .fold((0, f32::INFINITY), |(b, l), (i, c)| if *c < l { (i, *c) } else { (b, l) });
        self.best.push(best as u16);
        // Costs are kept relative to the least one, so that single precision serves for months.
        let before = self.last_base(t);
        if least.is_finite() {
            self.cost.iter_mut().for_each(|cost| *cost -= least);
            self.base.push_back(before + f64::from(least));
        } else {
            self.base.push_back(f64::INFINITY);
        }
        if self.base.len() > self.shortest {
            self.base.pop_front();
        }
    }

    /// What it costs to have entered a level `shortest` points ago, before those points themselves, and
    /// the first of them.
    fn entry_cost(&self, t: usize) -> (f32, usize) {
        let Some(from) = (t + 1).checked_sub(self.shortest) else { return (f32::INFINITY, t) };
        if from == 0 {
            return (0.0, 0);
        }
        let before = self.base[0];
        ((before - self.last_base(t)) as f32 + self.penalty, from)
    }

    /// What `cost` is relative to before point `t` is added.
    fn last_base(&self, t: usize) -> f64 {
        if t >= self.shortest { self.base[self.shortest - 1] } else { 0.0 }
    }

    fn trace_back(&self, points: usize) -> Vec<usize> {
        let mut starts = Vec::new();
        let mut t = points - 1;
        loop {
            let level = usize::from(self.best[t]);
            let bit = |t: usize| self.entered[t * self.words + level / 64] >> (level % 64) & 1 == 1;
            while !bit(t) {
                t -= 1;
            }
            let start = t + 1 - self.shortest;
            starts.push(start);
            if start == 0 {
                starts.reverse();
                return starts;
            }
            t = start - 1;
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::Rng;

    fn noise(rng: &mut Pcg64Mcg) -> f64 {
        (0..6).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5).sum::<f64>() * 2f64.sqrt()
    }

    /// Known truth: the criterion by exhaustion over all partitions of a short series.
    fn exhaustive(x: &[f64], levels: &[f32], shortest: usize, penalty: f64) -> f64 {
        let mut best = vec![f64::INFINITY; x.len() + 1];
        best[0] = -penalty;
        for end in shortest..=x.len() {
            for start in 0..=end - shortest {
                let fit =
                    |level: &f32| x[start..end].iter().map(|v| (v - f64::from(*level)).abs()).sum::<f64>();
                let cost = levels.iter().map(fit).fold(f64::INFINITY, f64::min);
                best[end] = best[end].min(best[start] + penalty + cost);
            }
        }
        best[x.len()]
    }

    fn cost_of(x: &[f64], levels: &[f32], starts: &[usize], penalty: f64) -> f64 {
        let ends = starts.iter().skip(1).copied().chain([x.len()]);
        let pieces = starts.iter().zip(ends).map(|(start, end)| {
            let fit = |level: &f32| x[*start..end].iter().map(|v| (v - f64::from(*level)).abs()).sum::<f64>();
            levels.iter().map(fit).fold(f64::INFINITY, f64::min)
        });
        pieces.sum::<f64>() + penalty * (starts.len() - 1) as f64
    }

    #[test]
    fn the_optimum_is_that_of_an_exhaustive_search() {
        let mut rng = Pcg64Mcg::new(7);
        for case in 0..60 {
            let n = 12 + case % 25;
            let x: Vec<f64> =
                (0..n).map(|i| f64::from(u8::from(i % 11 > 5)) + 0.3 * noise(&mut rng)).collect();
            let (shortest, penalty) = (1 + case % 4, 0.2 + 0.1 * (case % 7) as f64);
            let found = piece_starts(&x, 0.02, shortest, penalty);
            let levels = levels(&x, 0.02);
            let (ours, best) =
                (cost_of(&x, &levels, &found, penalty), exhaustive(&x, &levels, shortest, penalty));
            assert!((ours - best).abs() < 1e-4, "case {case}: {ours} against {best}");
            assert!(
                found.windows(2).all(|w| w[1] - w[0] >= shortest) && n - found[found.len() - 1] >= shortest
            );
        }
    }

    #[test]
    fn steps_are_found_where_they_are_and_single_outliers_are_ignored() {
        let mut rng = Pcg64Mcg::new(3);
        let mut x: Vec<f64> = (0..300)
            .map(|i| if (100..200).contains(&i) { -0.2 } else { 0.0 } + 0.02 * noise(&mut rng))
            .collect();
        x[50] = -3.0;
        x[150] = 1.0;
        assert_eq!(piece_starts(&x, 0.005, 3, 0.4), [0, 100, 200]);
        assert_eq!(piece_starts(&[0.0; 4], 0.005, 3, 0.4), [0]);
    }
}
