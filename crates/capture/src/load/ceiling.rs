//! A rate that all workers of a load keep together, and that somebody changes while they run.
//!
//! The bucket of [`super::pace`], shared: one time at which the next I/O is due, whoever makes it. Two threads that look at
//! once may both go ahead; what both have moved counts, so that the rate holds over time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use measure::{BytesPerSec, Instant};

/// How far behind the rate a load may catch up, as a single worker may.
const CATCH_UP_NS: u64 = 10_000_000;

/// A rate for all workers together; none at first.
#[derive(Debug, Default)]
pub struct Ceiling {
    /// Nanoseconds a byte, as bits of an `f64`; 0 without a rate.
    ns_per_byte: AtomicU64,
    /// When the next I/O is due, in nanoseconds.
    due_ns: AtomicU64,
}

impl Ceiling {
    /// From `now` on this rate; `None` is none.
    ///
    /// What is waited for under the old rate is waited for in proportion to the new one.
    pub fn set(&self, now: Instant, rate: Option<BytesPerSec>) {
        let new = rate.map_or(0.0, |rate| 1e9 / rate.as_f64().max(1.0));
        let old = f64::from_bits(self.ns_per_byte.swap(new.to_bits(), Ordering::Relaxed));
        let now_ns = now.as_ns();
        let scaled = |due_ns: u64| {
            let wait_ns = due_ns.saturating_sub(now_ns) as f64;
            let scale = if old > 0.0 { new / old } else { 0.0 };
            Some(if wait_ns > 0.0 { now_ns.saturating_add((wait_ns * scale) as u64) } else { due_ns })
        };
        // `scaled` always has a value.
        let _ = self.due_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, scaled);
    }

    /// The earliest time for the next I/O.
    #[inline]
    pub(crate) fn opens(&self) -> Instant {
        if self.ns_per_byte.load(Ordering::Relaxed) == 0 {
            return Instant::ZERO;
        }
        Instant::from_ns(self.due_ns.load(Ordering::Relaxed))
    }

    /// Counts an I/O of `len` bytes made at `now`.
    #[inline]
    pub(crate) fn count(&self, now: Instant, len: u32) {
        let ns_per_byte = f64::from_bits(self.ns_per_byte.load(Ordering::Relaxed));
        if ns_per_byte == 0.0 {
            return;
        }
        let takes_ns = (ns_per_byte * f64::from(len)).round() as u64;
        let earliest_ns = now.as_ns().saturating_sub(CATCH_UP_NS);
        let counted = |due_ns: u64| Some(due_ns.max(earliest_ns).saturating_add(takes_ns));
        let _ = self.due_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted);
    }

    /// How long the next I/O waits at `now`.
    pub fn wait(&self, now: Instant) -> Duration {
        self.opens().since(now)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const fn ms(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    #[test]
    fn the_rate_holds_for_all_together_and_may_change() {
        let ceiling = Ceiling::default();
        ceiling.count(ms(0), 1_000_000);
        assert_eq!(ceiling.opens(), Instant::ZERO, "no rate, no wait");
        ceiling.set(ms(100), Some(BytesPerSec::new(1e6)));
        assert!(ceiling.opens() <= ms(100));
        for _ in 0..10 {
            ceiling.count(ms(100), 1000);
        }
        assert_eq!(ceiling.opens(), ms(100), "10 ms are caught up");
        ceiling.count(ms(100), 20_000);
        assert_eq!(ceiling.wait(ms(100)), Duration::from_millis(20));
        ceiling.set(ms(110), Some(BytesPerSec::new(2e6)));
        assert_eq!(ceiling.opens(), ms(115), "twice the rate, half the wait");
        ceiling.set(ms(110), None);
        assert_eq!(ceiling.opens(), Instant::ZERO);
    }
}
