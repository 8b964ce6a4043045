//! A load whose rate somebody shapes by the temperature: what the rule is told, and when.

use std::time::Duration;

use measure::record::{Op, TelemetryRow};
use measure::{Bytes, BytesPerSec, Celsius, Instant};

/// Without a reading the rule is asked so often, so that it learns that there is none.
const UNREAD_SPAN: Duration = Duration::from_secs(3);

/// Says what all loads together may move from now on; `None` is as much as goes.
pub type RateRule<'a> = dyn FnMut(&RateReading) -> Option<BytesPerSec> + 'a;

/// What a rule is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateReading {
    /// Now.
    pub t: Instant,
    /// The temperature in kelvins; `None` where there is no new reading.
    pub kelvin: Option<f64>,
    /// Rate of the data read and written since the rule was last asked.
    pub flowed: BytesPerSec,
}

/// Asks the rule.
pub(super) struct Shaping<'a> {
    rule: Box<RateRule<'a>>,
    asked: Option<Instant>,
    moved: Bytes,
    has_composite: bool,
}

impl<'a> Shaping<'a> {
    pub(super) fn new(rule: Box<RateRule<'a>>) -> Self {
        Self { rule, asked: None, moved: Bytes::ZERO, has_composite: false }
    }

    /// Counts what completed.
    pub(super) fn count(&mut self, op: Op, bytes: Bytes) {
        if matches!(op, Op::Read | Op::Write) {
            self.moved += bytes;
        }
    }

    /// A source was read: the limit from now on, where it has told a temperature.
    pub(super) fn reading(&mut self, row: &TelemetryRow) -> Option<Option<BytesPerSec>> {
        let kelvin = self.kelvin(row)?;
        Some(self.ask(row.t, Some(kelvin)))
    }

    /// The limit from now on, where there was no reading for a while.
    pub(super) fn poll(&mut self, now: Instant) -> Option<Option<BytesPerSec>> {
        let is_due = self.asked.is_none_or(|asked| now.since(asked) >= UNREAD_SPAN);
        is_due.then(|| self.ask(now, None))
    }

    fn ask(&mut self, t: Instant, kelvin: Option<f64>) -> Option<BytesPerSec> {
        let span = self.asked.map_or(Duration::ZERO, |asked| t.since(asked));
        // A reading may be older than the last question: what has moved counts for the next one then.
        let flowed = self.moved.per(span);
        if flowed.is_some() || self.asked.is_none() {
            (self.asked, self.moved) = (Some(t), Bytes::ZERO);
        }
        let flowed = flowed.unwrap_or(BytesPerSec::new(0.0));
        (self.rule)(&RateReading { t, kelvin, flowed })
    }

    /// One sensor alone: hwmon has another step and comes at other times, so that both together would have no slope.
    fn kelvin(&mut self, row: &TelemetryRow) -> Option<f64> {
        if let Some(composite) = row.composite {
            self.has_composite = true;
            return Some(f64::from(composite.as_kelvin()));
        }
        let hwmon = row.hwmon_millicelsius.filter(|_| !self.has_composite)?;
        Some(Celsius::from_millidegrees(hwmon).as_kelvin_f64())
    }
}
