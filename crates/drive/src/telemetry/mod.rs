//! Readings beside the load: temperature, throttle counters, block statistics, power.
//!
//! # Architecture
//! - [`Sampler`]: one source, used by one thread; [`read`] takes one reading from it.
//! - [`smart`], [`hwmon`], [`blockstat`], [`power`], [`pressure`], [`smartctl`]: the sources.
//! - [`be_punctual`]: for the thread that reads, so that readings are on time beside a load.
//! - [`discover()`]: which of them there are for a block device, or for the drive under a file.
//!
//! # What it does not do
//! It never stops a run: what cannot be read is a gap with its reason. It draws no conclusion from what it reads.
//! It sends no admin command: who can reach the drive's SMART log hands [`smart`] a way to read it.

pub mod blockstat;
pub mod discover;
pub mod hwmon;
mod plausible;
pub mod power;
pub mod pressure;
mod punctual;
pub mod smart;
pub mod smartctl;

use std::path::Path;
use std::time::Duration;

use measure::record::{SmartRow, TelemetryRow};
use measure::{Clock, Instant, patient};

pub use discover::discover;
pub use punctual::be_punctual;

/// One reading of one source, or the gap where it should have been.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The reading.
    pub row: TelemetryRow,
    /// The log page that it was decoded from, where there is one.
    pub page: Option<SmartRow>,
}

/// A source of readings, used by one thread.
pub trait Sampler: Send {
    /// Its name in the record: `smart`, `hwmon`, `blockstat`, `smartctl`, `power` and `power2` and so on.
    fn source(&self) -> &str;

    /// Time between readings.
    fn period(&self) -> Duration;

    /// Reads; a reading that fails is a row with the reason. `now` is when the reading begins.
    ///
    /// A sampler sees no clock: its rows have `now` and no cost until [`read`] puts in the end of the reading and
    /// how long it took.
    fn sample(&mut self, now: Instant) -> Reading;
}

/// Takes one reading, with the time at which it was complete and what it cost.
pub fn read(sampler: &mut dyn Sampler, clock: &impl Clock) -> Reading {
    let begin = clock.now();
    let mut reading = sampler.sample(begin);
    let end = clock.now();
    reading.row.t = end;
    reading.row.cost = end.since(begin);
    if let Some(page) = &mut reading.page {
        page.t = end;
    }
    reading
}

impl Reading {
    /// A reading without a log page.
    const fn from_row(row: TelemetryRow) -> Self {
        Self { row, page: None }
    }

    /// A reading that failed, and why.
    fn failed(now: Instant, source: &str, reason: impl Into<String>) -> Self {
        Self::from_row(TelemetryRow::failed(now, source, Duration::ZERO, reason))
    }

    /// A row in which nothing is known yet.
    fn empty(now: Instant, source: &str) -> Self {
        Self::from_row(TelemetryRow::empty(now, source, Duration::ZERO))
    }
}

/// A small file of the kernel's, as text; the reason where it cannot be read.
fn read_text(path: &Path) -> Result<String, String> {
    patient::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// A file that holds one whole number.
fn read_number<T: std::str::FromStr>(path: &Path) -> Result<T, String> {
    let text = read_text(path)?;
    text.trim().parse().map_err(|_| format!("{} holds {:?}, which is no number", path.display(), text.trim()))
}

#[cfg(test)]
mod test {
    use super::*;
    use measure::VirtualClock;

    /// Takes three seconds for a reading.
    struct SlowSampler(VirtualClock);

    impl Sampler for SlowSampler {
        fn source(&self) -> &str {
            "smart"
        }

        fn period(&self) -> Duration {
            Duration::from_secs(1)
        }

        fn sample(&mut self, now: Instant) -> Reading {
            self.0.advance_to(now + Duration::from_secs(3));
            let page = SmartRow { t: now, log_id: 2, page: Vec::new() };
            Reading { page: Some(page), ..Reading::empty(now, "smart") }
        }
    }

    #[test]
    fn a_reading_is_stamped_when_it_is_complete_with_what_it_cost() {
        let clock = VirtualClock::new();
        clock.advance_to(Instant::from_ns(2_000_000_000));
        let reading = read(&mut SlowSampler(clock.clone()), &clock);
        assert_eq!(reading.row.t, Instant::from_ns(5_000_000_000));
        assert_eq!(reading.row.cost, Duration::from_secs(3));
        assert_eq!(reading.page.map(|page| page.t), Some(reading.row.t));
    }
}
