//! Time since the run began, and the two clocks that tell it.
//!
//! Nothing else in the workspace reads a clock: with a [`VirtualClock`] a whole session runs in
//! simulated time and comes out the same every time.

use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// A point in time: nanoseconds since the run began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The beginning of the run.
    pub const ZERO: Self = Self(0);
    /// Later than everything: "no deadline".
    pub const NEVER: Self = Self(u64::MAX);

    /// `ns` nanoseconds since the run began.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the run began.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the run began, for display and analysis.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to here; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    /// Saturates at [`Instant::NEVER`].
    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// The span between two instants.
    ///
    /// # Panics
    /// When the right one is the later: time runs forward, so that is a mistake of ours.
    fn sub(self, earlier: Self) -> Duration {
        assert!(self >= earlier, "{self} lies before {earlier}");
        self.since(earlier)
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} s", self.as_secs_f64())
    }
}

/// Tells the time since the run began.
pub trait Clock {
    /// The present.
    fn now(&self) -> Instant;
}

/// Real time: `CLOCK_MONOTONIC`, counted from the moment the clock was started.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start_ns: u64,
}

impl MonotonicClock {
    /// A clock whose zero is now.
    pub fn start() -> Self {
        Self { start_ns: monotonic_ns() }
    }

    /// `CLOCK_MONOTONIC` at the run's zero, in nanoseconds: half of the manifest's clock anchor.
    pub const fn start_monotonic_ns(&self) -> u64 {
        self.start_ns
    }
}

impl Clock for MonotonicClock {
    fn now(&self) -> Instant {
        Instant(monotonic_ns() - self.start_ns)
    }
}

/// The wall clock in nanoseconds since 1970-01-01 UTC: told once a run, for people, and never subtracted.
pub fn wall_unix_ns() -> i64 {
    let now = read(ClockId::Realtime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Nanoseconds since the machine was started, sleep included: beside `CLOCK_MONOTONIC`, which stands still then, it tells
/// that the machine slept.
pub fn boottime_ns() -> u64 {
    let now = read(ClockId::Boottime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Nanoseconds of a clock that nobody steers (`CLOCK_MONOTONIC_RAW`): the kernel stamps its log by the same oscillator.
pub fn monotonic_raw_ns() -> u64 {
    let now = read(ClockId::MonotonicRaw);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Processor time of this process, in nanoseconds: what watching costs.
pub fn processor_ns() -> u64 {
    let now = read(ClockId::ProcessCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// `CLOCK_MONOTONIC` in nanoseconds, to be read beside the other clocks.
pub fn monotonic_ns() -> u64 {
    let now = read(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[expect(clippy::disallowed_methods, reason = "the one place that tells time")]
fn read(clock: ClockId) -> Timespec {
    clock_gettime(clock)
}

/// Simulated time: stands still until somebody moves it. Clones tell the same time.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    now_ns: Arc<AtomicU64>,
}

impl VirtualClock {
    /// A clock that stands at zero.
    #[expect(clippy::new_without_default, reason = "a zero clock is a decision, not a default")]
    pub fn new() -> Self {
        Self { now_ns: Arc::new(AtomicU64::new(0)) }
    }

    /// Moves the clock forward to `to`.
    ///
    /// # Panics
    /// When `to` lies in the past.
    pub fn advance_to(&self, to: Instant) {
        let before = self.now_ns.swap(to.0, Ordering::Relaxed);
        assert!(before <= to.0, "a virtual clock never runs backwards ({before} ns to {to})");
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Instant {
        Instant(self.now_ns.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn clones_of_a_virtual_clock_tell_the_same_time() {
        let clock = VirtualClock::new();
        let other = clock.clone();
        clock.advance_to(Instant::from_ns(5));
        assert_eq!(other.now(), Instant::from_ns(5));
    }

    #[test]
    #[should_panic(expected = "never runs backwards")]
    fn a_virtual_clock_refuses_to_go_back() {
        let clock = VirtualClock::new();
        clock.advance_to(Instant::from_ns(5));
        clock.advance_to(Instant::from_ns(4));
    }

    #[test]
    fn the_monotonic_clock_starts_at_zero_and_goes_on() {
        let clock = MonotonicClock::start();
        let first = clock.now();
        assert!(clock.now() >= first);
        assert!(first.since(Instant::ZERO) < Duration::from_secs(60));
    }

    #[test]
    fn instants_saturate_at_never() {
        assert_eq!(Instant::NEVER + Duration::from_secs(1), Instant::NEVER);
        assert_eq!(Instant::ZERO.since(Instant::from_ns(1)), Duration::ZERO);
    }
}
