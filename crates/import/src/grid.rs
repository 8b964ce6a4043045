//! Amounts of data on equal windows: where logs of several jobs meet and are summed.
//!
//! What is put in comes out again, to the byte: a window that does not fit the grid is spread over the bins it
//! touches by the share of time. Memory and work follow what is put in, and not the span between: a grid that grows too
//! long for its amounts doubles its step.

use trace::Interval;

/// Bins at most: 48 days at 1 s. 32 MB for each operation.
const MOST_BINS: usize = 1 << 22;
/// So many are never too many: 9 hours at 1 s.
const FEW_BINS: usize = 1 << 15;
/// Bins for each amount, above that: of a log whose rows are further apart a curve of coarser windows is all there is.
const BINS_AN_AMOUNT: usize = 8;
/// An interval shorter than this share of the step joins its neighbour: its speed would be noise.
const SHORTEST_SHARE: f64 = 0.2;

/// Amounts over time, of one operation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WindowGrid {
    step_s: f64,
    /// Number of the first bin; bin `n` starts at `n * step_s`.
    first: i64,
    amounts: Vec<f64>,
    /// How many amounts were put in.
    count: usize,
    from_s: f64,
    to_s: f64,
}

impl WindowGrid {
    /// An empty grid of windows `step_s` long.
    pub(super) fn new(step_s: f64) -> Self {
        let (from_s, to_s) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { step_s, first: 0, amounts: Vec::new(), count: 0, from_s, to_s }
    }

    /// All that was put in.
    pub(super) fn total(&self) -> f64 {
        self.amounts.iter().sum()
    }

    pub(super) fn step_s(&self) -> f64 {
        self.step_s
    }

    /// From when to when there is data, in seconds; `None` when there is none.
    pub(super) fn range_s(&self) -> Option<(f64, f64)> {
        (!self.amounts.is_empty()).then_some((self.from_s, self.to_s))
    }

    /// Adds `amount` moved evenly from `from_s` to `to_s`; all at `to_s` where that is no span. Times and amounts are
    /// numbers: whoever reads them off a file refuses others.
    pub(super) fn add(&mut self, from_s: f64, to_s: f64, amount: f64) {
        debug_assert!(
            from_s.is_finite() && to_s.is_finite() && amount.is_finite(),
            "{from_s} {to_s} {amount}"
        );
        let from_s = from_s.min(to_s);
        self.count += 1;
        self.make_room(from_s, to_s);
        self.from_s = self.from_s.min(from_s);
        self.to_s = self.to_s.max(to_s);
        let (low, high) = (self.bin(from_s), self.last_bin(from_s, to_s));
        if low == high {
            self.amounts[(low - self.first) as usize] += amount;
            return;
        }
        let rate = amount / (to_s - from_s);
        for bin in low..=high {
            let start_s = (bin as f64 * self.step_s).max(from_s);
            let end_s = ((bin + 1) as f64 * self.step_s).min(to_s);
            self.amounts[(bin - self.first) as usize] += rate * (end_s - start_s);
        }
    }

    /// As intervals of load accounting, amounts times `scale`. Bins in which nothing was put count as 0: whoever
    /// wants a gap does not put its surroundings into one grid.
    pub(super) fn intervals(&self, scale: f64) -> Vec<Interval> {
        let mut intervals: Vec<Interval> = Vec::with_capacity(self.amounts.len());
        for (bin, amount) in (self.first..).zip(&self.amounts) {
            let start_s = (bin as f64 * self.step_s).max(self.from_s);
            let end_s = ((bin + 1) as f64 * self.step_s).min(self.to_s);
            intervals.push(Interval {
                start_s,
                span_s: (end_s - start_s).max(0.0),
                bytes: amount * scale,
                phase: 0,
            });
        }
        let short = |interval: &Interval| interval.span_s < SHORTEST_SHARE * self.step_s;
        if intervals.len() > 1 && intervals.first().is_some_and(short) {
            let edge = intervals.remove(0);
            intervals[0].start_s = edge.start_s;
            intervals[0].span_s += edge.span_s;
            intervals[0].bytes += edge.bytes;
        }
        if intervals.len() > 1
            && intervals.last().is_some_and(short)
            && let Some(edge) = intervals.pop()
            && let Some(last) = intervals.last_mut()
        {
            last.span_s += edge.span_s;
            last.bytes += edge.bytes;
        }
        // All at one moment: it was moved in the window that it lies in.
        if let [only] = &mut intervals[..]
            && only.span_s <= 0.0
        {
            only.span_s = self.step_s;
        }
        intervals
    }

    fn bin(&self, t_s: f64) -> i64 {
        (t_s / self.step_s + 1e-9).floor() as i64
    }

    /// The last bin that a window touches; a window that ends where a bin begins does not touch it.
    fn last_bin(&self, from_s: f64, to_s: f64) -> i64 {
        let last = (to_s / self.step_s - 1e-9).ceil() as i64 - 1;
        last.max(self.bin(from_s))
    }

    fn make_room(&mut self, from_s: f64, to_s: f64) {
        loop {
            let (low, high) = (self.bin(from_s), self.last_bin(from_s, to_s));
            if self.amounts.is_empty() {
                self.first = low;
            }
            let end = self.first + self.amounts.len() as i64;
            let (first, end) = (self.first.min(low), end.max(high + 1));
            if (end - first) as usize <= (self.count * BINS_AN_AMOUNT).clamp(FEW_BINS, MOST_BINS) {
                if first < self.first {
                    let missing = (self.first - first) as usize;
                    self.amounts.splice(0..0, std::iter::repeat_n(0.0, missing));
                    self.first = first;
                }
                self.amounts.resize((end - self.first) as usize, 0.0);
                return;
            }
            self.double_the_step();
        }
    }

    fn double_the_step(&mut self) {
        let first = self.first.div_euclid(2);
        let mut amounts = vec![0.0; self.amounts.len() / 2 + 1];
        for (bin, amount) in (self.first..).zip(&self.amounts) {
            amounts[(bin.div_euclid(2) - first) as usize] += amount;
        }
        let used = ((self.first + self.amounts.len() as i64 - 1).div_euclid(2) - first + 1).max(0) as usize;
        amounts.truncate(used);
        (self.step_s, self.first, self.amounts) = (2.0 * self.step_s, first, amounts);
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_window_that_does_not_fit_is_spread_and_short_edges_join_their_neighbours() {
        let mut grid = WindowGrid::new(1.0);
        grid.add(0.0, 1.001, 1001.0);
        grid.add(1.001, 2.0, 999.0);
        grid.add(2.0, 3.1, 1100.0);
        let intervals = grid.intervals(2.0);
        let seen: Vec<_> = intervals.iter().map(|i| (i.start_s, i.end_s(), i.bytes.round())).collect();
        assert_eq!(seen, [(0.0, 1.0, 2000.0), (1.0, 2.0, 2000.0), (2.0, 3.1, 2200.0)]);
    }

    #[test]
    fn a_grid_never_grows_beyond_its_bound() {
        let mut grid = WindowGrid::new(1.0);
        grid.add(0.0, 1.0, 5.0);
        grid.add(3e9, 3e9 + 1.0, 7.0);
        assert!(grid.amounts.len() <= FEW_BINS && grid.step_s > 30_000.0);
        assert_eq!(grid.total(), 12.0);
        // A log without holes keeps its step, however long it is.
        let mut dense = WindowGrid::new(1.0);
        (0..200_000).for_each(|t| dense.add(f64::from(t), f64::from(t + 1), 1.0));
        assert_eq!((dense.step_s, dense.amounts.len()), (1.0, 200_000));
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_added(
            windows in prop::collection::vec((-50.0f64..1000.0, 0.0f64..30.0, 0.0f64..1e9), 1..40),
            step_s in 0.1f64..7.0,
        ) {
            let mut grid = WindowGrid::new(step_s);
            for (from_s, span_s, amount) in &windows {
                grid.add(*from_s, from_s + span_s, *amount);
            }
            let put: f64 = windows.iter().map(|w| w.2).sum();
            prop_assert!((grid.total() - put).abs() <= 1e-9 * put.max(1.0));
            let intervals = grid.intervals(1.0);
            let out: f64 = intervals.iter().map(|i| i.bytes).sum();
            prop_assert!((out - put).abs() <= 1e-9 * put.max(1.0));
            for pair in intervals.windows(2) {
                prop_assert!((pair[0].end_s() - pair[1].start_s).abs() < 1e-6);
            }
            prop_assert!(intervals.iter().all(|i| i.span_s > 0.0));
        }
    }
}
