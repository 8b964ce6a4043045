//! Holds a worker to a rate of bytes or of I/Os a second, on the clock of its path.
//!
//! A token bucket in its form without a bucket (GCRA, ITU-T I.371 annex A): a single time, the one at which the
//! next I/O is due. An I/O may come as much as [`CATCH_UP`] late and be made up for; what is lost beyond, because
//! the drive was too slow, is lost: a drive that recovers is not hit with more than the plan's rate.

use std::time::Duration;

use measure::Instant;

/// How far behind its schedule a worker may catch up: a hundred times a timer's slack (50 µs, `timerslack_ns`
/// in prctl(2)) plus two scheduler slices, and a tenth of the default interval.
const CATCH_UP: Duration = Duration::from_millis(10);

/// Paces by bytes and by I/Os; without limits it never holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    ns_per_byte: f64,
    ns_per_io: f64,
    /// When the next I/O is due by bytes and by I/Os; `None` before the first.
    due_ns: Option<(f64, f64)>,
}

impl Pace {
    /// Limits of one worker; `None` is no limit.
    pub(crate) fn new(bytes_per_s: Option<f64>, ios_per_s: Option<f64>) -> Self {
        let ns_each = |rate: Option<f64>| rate.map_or(0.0, |rate| 1e9 / rate);
        Self { ns_per_byte: ns_each(bytes_per_s), ns_per_io: ns_each(ios_per_s), due_ns: None }
    }

    /// The earliest time for the next I/O.
    #[inline]
    pub(crate) fn opens(&self) -> Instant {
        match self.due_ns {
            None => Instant::ZERO,
            // Rounded up: at this time the I/O is due, not a fraction of a nanosecond before.
            Some((bytes, ios)) => Instant::from_ns(bytes.max(ios).ceil() as u64),
        }
    }

    /// Counts an I/O of `len` bytes made at `now`.
    #[inline]
    pub(crate) fn count(&mut self, now: Instant, len: u32) {
        if self.ns_per_byte == 0.0 && self.ns_per_io == 0.0 {
            return;
        }
        let now_ns = now.as_ns() as f64;
        let earliest = now_ns - CATCH_UP.as_nanos() as f64;
        let (bytes, ios) = self.due_ns.unwrap_or((now_ns, now_ns));
        self.due_ns = Some((
            bytes.max(earliest) + self.ns_per_byte * f64::from(len),
            ios.max(earliest) + self.ns_per_io,
        ));
    }
}

#[cfg(test)]
mod test {
    use super::*;

    const fn ms(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    #[test]
    fn ios_are_due_at_the_rate() {
        let mut pace = Pace::new(Some(1e6), None);
        assert_eq!(pace.opens(), Instant::ZERO);
        pace.count(ms(5), 1000);
        assert_eq!(pace.opens(), ms(6), "1000 bytes at 1 MB/s are 1 ms");
        pace.count(ms(6), 3000);
        assert_eq!(pace.opens(), ms(9));
    }

    #[test]
    fn the_stricter_of_two_limits_holds() {
        let mut pace = Pace::new(Some(1e6), Some(100.0));
        pace.count(ms(0), 1000);
        assert_eq!(pace.opens(), ms(10));
        pace.count(ms(10), 20_000);
        assert_eq!(pace.opens(), ms(21), "due by bytes at 1 ms + 20 ms");
    }

    /// Goal: a short delay is made up for, a long one is not.
    #[test]
    fn at_most_the_catch_up_is_made_up_for() {
        let mut pace = Pace::new(None, Some(1000.0));
        pace.count(ms(0), 1);
        let mut burst = 0;
        while pace.opens() <= ms(1000) {
            pace.count(ms(1000), 1);
            burst += 1;
        }
        assert_eq!(burst, 11, "10 ms at 1000 a second, and the one that is due");
    }
}
