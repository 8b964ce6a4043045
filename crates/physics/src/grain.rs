//! The firmware tick: the grain of everything that is not exact.

/// Length of a firmware tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grain {
    tick_ns: u64,
}

impl Grain {
    /// 10 ms. The fastest things modelled - policy polls and bursts - are ten times as slow and more, and
    /// thermal time constants a thousand times. Halving it moves no temperature by 0.1 K and no mean
    /// speed by 0.5 % on any built-in drive (a test holds that); the worst is 0.06 K where a drive works
    /// in bursts, which are whole ticks long.
    pub(crate) const FIRMWARE: Self = Self { tick_ns: 10_000_000 };

    /// Half as long, for the test that it does not matter.
    #[cfg(test)]
    pub(crate) const HALF: Self = Self { tick_ns: 5_000_000 };

    /// A tick in nanoseconds.
    pub(crate) const fn tick_ns(self) -> u64 {
        self.tick_ns
    }

    /// A tick in seconds.
    pub(crate) const fn tick_s(self) -> f64 {
        self.tick_ns as f64 / 1e9
    }

    /// Ticks of a second.
    pub(crate) const fn per_s(self) -> u64 {
        1_000_000_000 / self.tick_ns
    }

    /// Ticks of `span_s` seconds, at least one.
    pub(crate) fn ticks(self, span_s: f64) -> u64 {
        ((span_s / self.tick_s()).round() as u64).max(1)
    }

    /// Seconds of `ticks` ticks.
    pub(crate) const fn seconds(self, ticks: u64) -> f64 {
        ticks as f64 * self.tick_s()
    }
}
