//! Puts the intervals of several threads together, in order, as soon as all of them have closed one.

use std::collections::VecDeque;

use measure::Instant;
use measure::record::Op;

use super::grid::Grid;
use crate::load::IntervalStats;

/// The intervals of a phase that are not recorded yet.
#[derive(Debug)]
pub(super) struct Merge {
    grid: Grid,
    ops: Vec<Op>,
    /// Start of the next interval to be recorded, which is the first that waits.
    start: Instant,
    waiting: VecDeque<IntervalStats>,
    /// Up to when each worker has told everything.
    closed: Vec<Instant>,
}

/// An interval that is whole.
#[derive(Debug, PartialEq)]
pub(super) struct Whole {
    pub(super) start: Instant,
    pub(super) end: Instant,
    pub(super) stats: IntervalStats,
}

impl Merge {
    /// Nothing yet, of so many workers from `start` on.
    pub(super) fn new(grid: Grid, ops: Vec<Op>, start: Instant, workers: usize) -> Self {
        Self { grid, ops, start, waiting: VecDeque::new(), closed: vec![start; workers] }
    }

    /// Adds what a worker has done since its last part, which all lies in the interval that `end` ends or cuts.
    pub(super) fn part(&mut self, worker: usize, end: Instant, mut stats: IntervalStats) {
        let index = self.grid.index_of_end(self.start, end);
        while self.waiting.len() <= index {
            self.waiting.push_back(IntervalStats::new(self.ops.iter().copied()));
        }
        self.waiting[index].take_from(&mut stats);
        self.closed[worker] = end;
    }

    /// A worker has ended and will tell no more.
    pub(super) fn ended(&mut self, worker: usize) {
        self.closed[worker] = Instant::NEVER;
    }

    /// The next interval that every worker has closed.
    pub(super) fn next(&mut self) -> Option<Whole> {
        let closed = self.closed.iter().copied().min().unwrap_or(Instant::NEVER);
        let end = self.grid.edge_after(self.start);
        (closed >= end && closed < Instant::NEVER).then(|| self.take(end))
    }

    /// Once all workers have ended: the next interval up to `end`, which cuts the last one.
    pub(super) fn rest(&mut self, end: Instant) -> Option<Whole> {
        (self.start < end).then(|| self.take(self.grid.edge_after(self.start).min(end)))
    }

    fn take(&mut self, end: Instant) -> Whole {
        let stats = self.waiting.pop_front().unwrap_or_else(|| IntervalStats::new(self.ops.iter().copied()));
        let start = std::mem::replace(&mut self.start, end);
        Whole { start, end, stats }
    }
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    fn ios(count: u64) -> IntervalStats {
        let mut stats = IntervalStats::new([Op::Read]);
        stats.ops[0].ios = count;
        stats
    }

    fn shape(whole: Option<Whole>) -> Option<(Instant, Instant, u64)> {
        whole.map(|whole| (whole.start, whole.end, whole.stats.ops[0].ios))
    }

    /// Goal: no I/O is lost or counted in another interval, however the threads' parts arrive.
    #[test]
    fn an_interval_comes_when_all_workers_have_closed_it() {
        let grid = Grid::new(Duration::from_millis(100));
        let mut merge = Merge::new(grid, vec![Op::Read], at(130), 2);
        merge.part(0, at(200), ios(1));
        merge.part(0, at(300), ios(2));
        assert_eq!(shape(merge.next()), None, "worker 1 has told nothing");
        merge.part(1, at(200), ios(10));
        assert_eq!(shape(merge.next()), Some((at(130), at(200), 11)));
        assert_eq!(shape(merge.next()), None);
        merge.part(1, at(250), ios(20));
        merge.ended(1);
        assert_eq!(shape(merge.next()), Some((at(200), at(300), 22)));
        merge.part(0, at(400), ios(4));
        assert_eq!(shape(merge.next()), Some((at(300), at(400), 4)));
        // A stall: nothing was told for 400 to 500, and its row is there all the same.
        merge.part(0, at(540), ios(5));
        merge.ended(0);
        assert_eq!(shape(merge.next()), None, "nobody is left to wait for");
        assert_eq!(shape(merge.rest(at(540))), Some((at(400), at(500), 0)));
        assert_eq!(shape(merge.rest(at(540))), Some((at(500), at(540), 5)));
        assert_eq!(shape(merge.rest(at(540))), None);
    }
}
