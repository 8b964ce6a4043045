//! Sleep and set clocks, told from three clocks that are read together.

use std::time::Duration;

/// The three clocks at one moment, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// `CLOCK_MONOTONIC`: stands still while the machine sleeps.
    pub monotonic_ns: u64,
    /// `CLOCK_BOOTTIME`: goes on.
    pub boottime_ns: u64,
    /// `CLOCK_REALTIME`: goes on, and may be set.
    pub wall_ns: i64,
}

/// What two readings show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockEvent {
    /// The machine slept for so long.
    Slept(Duration),
    /// The wall clock was set by so much, in nanoseconds; backwards if negative.
    Stepped(i64),
}

/// Below this nobody slept: the three are not read at the very same time.
const SLEEP_MIN: Duration = Duration::from_millis(500);
/// Below this no clock was set: NTP slews by at most 500 ppm, and readings are seconds apart.
const STEP_MIN_NS: i64 = 1_000_000_000;

/// What happened between two readings of the clocks; a machine that slept and was set tells both.
pub fn clock_events(before: ClockReading, now: ClockReading) -> Vec<ClockEvent> {
    let awake = now.monotonic_ns.saturating_sub(before.monotonic_ns);
    let passed = now.boottime_ns.saturating_sub(before.boottime_ns);
    let slept = Duration::from_nanos(passed.saturating_sub(awake));
    let step = now.wall_ns.saturating_sub(before.wall_ns).saturating_sub(passed as i64);
    let mut events = Vec::new();
    if slept >= SLEEP_MIN {
        events.push(ClockEvent::Slept(slept));
    }
    if step.abs() >= STEP_MIN_NS {
        events.push(ClockEvent::Stepped(step));
    }
    events
}

#[cfg(test)]
mod test {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn sleep_and_steps_are_told_apart() {
        let start = ClockReading { monotonic_ns: 5 * S, boottime_ns: 7 * S, wall_ns: 1_000 * S as i64 };
        let after = |monotonic: u64, boottime: u64, wall: i64| {
            clock_events(
                start,
                ClockReading {
                    monotonic_ns: start.monotonic_ns + monotonic * S,
                    boottime_ns: start.boottime_ns + boottime * S,
                    wall_ns: start.wall_ns + wall * S as i64,
                },
            )
        };
        assert_eq!(after(1, 1, 1), []);
        assert_eq!(after(1, 3601, 3601), [ClockEvent::Slept(Duration::from_secs(3600))]);
        assert_eq!(after(1, 1, 3601), [ClockEvent::Stepped(3600 * S as i64)]);
        assert_eq!(after(1, 1, -59), [ClockEvent::Stepped(-60 * S as i64)]);
        assert_eq!(
            after(1, 11, 21),
            [ClockEvent::Slept(Duration::from_secs(10)), ClockEvent::Stepped(10 * S as i64)]
        );
    }
}
