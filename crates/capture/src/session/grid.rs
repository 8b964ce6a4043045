//! The intervals of a phase: cut where the run's time is a multiple of the interval, and at the phase's edges.

use std::time::Duration;

use measure::Instant;

/// Cuts time into intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    interval_ns: u64,
}

impl Grid {
    /// Intervals of that length; the plan's check refuses zero.
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval_ns: (interval.as_nanos() as u64).max(1) }
    }

    /// The first edge after `t`.
    pub(super) fn edge_after(self, t: Instant) -> Instant {
        Instant::from_ns((t.as_ns() / self.interval_ns + 1).saturating_mul(self.interval_ns))
    }

    /// How many edges lie from `start` (not included) to `t` (not included): which interval since `start` it is
    /// that ends with `t`.
    pub(super) fn index_of_end(self, start: Instant, t: Instant) -> usize {
        let edges = |t: Instant| t.as_ns().div_ceil(self.interval_ns);
        edges(t).saturating_sub(start.as_ns() / self.interval_ns + 1) as usize
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn edges_are_multiples_of_the_interval() {
        let grid = Grid::new(Duration::from_nanos(100));
        let at = Instant::from_ns;
        assert_eq!(grid.edge_after(at(0)), at(100));
        assert_eq!(grid.edge_after(at(99)), at(100));
        assert_eq!(grid.edge_after(at(100)), at(200));
        // A phase that starts at 130 has intervals that end at 200, 300, ...
        for (end, index) in [(131, 0), (199, 0), (200, 0), (201, 1), (300, 1), (301, 2)] {
            assert_eq!(grid.index_of_end(at(130), at(end)), index, "{end}");
        }
        // And one that starts on an edge has its first interval behind it.
        assert_eq!(grid.index_of_end(at(200), at(300)), 0);
        assert_eq!(grid.index_of_end(at(200), at(301)), 1);
    }
}
