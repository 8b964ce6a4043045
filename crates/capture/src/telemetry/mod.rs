//! Readings beside the load: temperature, throttle counters, block statistics, power.

use std::time::Duration;

use measure::Instant;
use measure::record::{SmartRow, TelemetryRow};

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
    /// Its name in the record: `smart`, `hwmon`, `blockstat`, `power`.
    fn source(&self) -> &'static str;

    /// Time between readings.
    fn period(&self) -> Duration;

    /// Reads; a reading that fails is a row with the reason. `now` is when the reading begins.
    fn sample(&mut self, now: Instant) -> Reading;
}
