//! The counters of a drive's life, and what shows that one of them is wrong.
//!
//! Counters only grow, no faster than the clock or a link lets them, and not beyond what a drive can have been through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trace::LifeCounters;

/// Clocks are off by this share, and by an hour when summer time begins.
pub(super) const CLOCK_SHARE: f64 = 1.02;
/// How much a counter may grow beyond the clock, in its unit: it is written now and then, and local time may leap an hour.
const SLACK_H: f64 = 2.0;
const SLACK_MIN: f64 = 10.0;
const SLACK_S: f64 = 600.0;
/// Data are counted in leaps: over less time than this no speed is judged.
const LEAST_SPEED_S: f64 = 60.0;
/// PCIe 5.0 x4 carries 15.8 GB/s, and no drive writes more; PCIe 6.0 x4 carries 31.5 GB/s, and drives read nearly that.
const FASTEST_WRITE_BYTES_PER_S: f64 = 16e9;
const FASTEST_READ_BYTES_PER_S: f64 = 32e9;
/// Throttling that began more often than once a second is none that a temperature brings about: times are counted in seconds, and
/// sensors are read about as often.
const MOST_TRANSITIONS_PER_S: f64 = 1.0;
/// Hours powered on are whole ones: a time may be longer by one.
const WHOLE_H: f64 = 1.0;
/// No drive is older: 40 years.
const OLDEST_H: f64 = 40.0 * 365.25 * 24.0;
/// Where counters of 32 bits end (NVMe Base, SMART / Health log, bytes 192 to 231); those of TMT1 and TMT2 do not wrap.
const END: f64 = u32::MAX as f64;

/// A counter of a drive's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifeCounter {
    /// Hours powered on.
    PoweredOn,
    /// Minutes at or above the warning temperature.
    AboveWarning,
    /// Minutes at or above the critical temperature.
    AboveCritical,
    /// How often throttling at TMT1 began.
    Tmt1Transitions,
    /// How often throttling at TMT2 began.
    Tmt2Transitions,
    /// Seconds of throttling at TMT1.
    Tmt1Seconds,
    /// Seconds of throttling at TMT2.
    Tmt2Seconds,
    /// Temperature recordings above the limit.
    OverLimit,
    /// Bytes read.
    Read,
    /// Bytes written.
    Written,
    /// Percent of the endurance used.
    EnduranceUsed,
}

/// A counter that cannot have counted what it says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifeDoubt {
    /// Which counter.
    pub counter: LifeCounter,
    /// What is wrong with it.
    pub kind: LifeDoubtKind,
    /// What it said before, or the most that it can be, in its unit.
    pub from: f64,
    /// What it said after, in its unit.
    pub to: f64,
}

/// What is wrong with a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifeDoubtKind {
    /// It fell: it was reset, or is of another drive.
    Fell,
    /// It grew by more than the time between the readings allows.
    FasterThanClock,
    /// It is a time longer than the drive was powered on.
    LongerThanPoweredOn,
    /// It is at its end: it counts no further, or was filled with ones.
    AtItsEnd,
    /// A reading does not have it: of a whole life the last one, so that what it says is of an earlier one; else one of the two that
    /// it would have grown between.
    Missing,
    /// It is more than the fastest drive moves in the hours that it was powered on, more transitions than seconds in them, or more
    /// than the hours of 40 years.
    MoreThanPossible,
}

impl LifeCounter {
    pub(super) const ALL: [Self; 11] = [
        Self::PoweredOn,
        Self::AboveWarning,
        Self::AboveCritical,
        Self::Tmt1Transitions,
        Self::Tmt2Transitions,
        Self::Tmt1Seconds,
        Self::Tmt2Seconds,
        Self::OverLimit,
        Self::Read,
        Self::Written,
        Self::EnduranceUsed,
    ];

    /// What it says in a reading, in its unit.
    pub(super) fn value(self, reading: &LifeCounters) -> Option<f64> {
        let count = |value: Option<u64>| value.map(|value| value as f64);
        match self {
            Self::PoweredOn => reading.power_on_h,
            Self::AboveWarning => reading.warning_min,
            Self::AboveCritical => reading.critical_min,
            Self::Tmt1Transitions => count(reading.throttling.tmt1_transitions),
            Self::Tmt2Transitions => count(reading.throttling.tmt2_transitions),
            Self::Tmt1Seconds => count(reading.throttling.tmt1_seconds),
            Self::Tmt2Seconds => count(reading.throttling.tmt2_seconds),
            Self::OverLimit => count(reading.over_limit),
            Self::Read => reading.read_bytes,
            Self::Written => reading.written_bytes,
            Self::EnduranceUsed => reading.used_percent,
        }
    }

    /// The most that it can grow in so many seconds, which may be `slack_s` more; `None` where there is no limit.
    fn most(self, span_s: f64, slack_s: f64) -> Option<f64> {
        let clock_s = span_s * CLOCK_SHARE + slack_s;
        match self {
            Self::PoweredOn => Some(clock_s / 3600.0 + SLACK_H),
            Self::AboveWarning | Self::AboveCritical => Some(clock_s / 60.0 + SLACK_MIN),
            Self::Tmt1Seconds | Self::Tmt2Seconds => Some(clock_s + SLACK_S),
            Self::Tmt1Transitions | Self::Tmt2Transitions => {
                Some((clock_s + SLACK_S) * MOST_TRANSITIONS_PER_S)
            }
            Self::Read if span_s >= LEAST_SPEED_S => Some(clock_s * FASTEST_READ_BYTES_PER_S),
            Self::Written if span_s >= LEAST_SPEED_S => Some(clock_s * FASTEST_WRITE_BYTES_PER_S),
            _ => None,
        }
    }

    /// That it fell from one of these readings to the next, the last time that it did.
    pub(super) fn fall(self, readings: &[LifeCounters]) -> Option<LifeDoubt> {
        let values: Vec<f64> = readings.iter().filter_map(|reading| self.value(reading)).collect();
        let pair = values.windows(2).rfind(|pair| pair[1] < pair[0])?;
        Some(LifeDoubt { counter: self, kind: LifeDoubtKind::Fell, from: pair[0], to: pair[1] })
    }

    /// That only an earlier one of these readings has it, and what that says.
    pub(super) fn missing(self, readings: &[LifeCounters]) -> Option<LifeDoubt> {
        let said = self.latest(readings)?;
        let is_missing = self.value(readings.last()?).is_none();
        is_missing.then_some(LifeDoubt { counter: self, kind: LifeDoubtKind::Missing, from: said, to: said })
    }

    /// That one of the first and the last of these readings has it, and the other does not.
    pub(super) fn one_sided(self, readings: &[LifeCounters]) -> Option<LifeDoubt> {
        let (first, last) = (self.value(readings.first()?), self.value(readings.last()?));
        let said = first.xor(last)?;
        Some(LifeDoubt { counter: self, kind: LifeDoubtKind::Missing, from: said, to: said })
    }

    /// What the last of these readings that has it says, in its unit.
    pub(super) fn latest(self, readings: &[LifeCounters]) -> Option<f64> {
        readings.iter().rev().find_map(|reading| self.value(reading))
    }

    /// That it grew by more from the first of these readings to the last than a time allows, in seconds.
    pub(super) fn leap(self, readings: &[LifeCounters], span_s: f64, slack_s: f64) -> Option<LifeDoubt> {
        let (from, to) = (self.value(readings.first()?)?, self.value(readings.last()?)?);
        let is_too_much = self.most(span_s, slack_s).is_some_and(|most| to - from > most);
        is_too_much.then_some(LifeDoubt { counter: self, kind: LifeDoubtKind::FasterThanClock, from, to })
    }

    /// That what it says in one reading cannot be.
    pub(super) fn excess(self, reading: &LifeCounters) -> Option<LifeDoubt> {
        let to = self.value(reading)?;
        let hours = reading.power_on_h.filter(|hours| *hours <= OLDEST_H);
        let moved = |bytes_per_s: f64| (hours.unwrap_or(OLDEST_H) + SLACK_H) * 3600.0 * bytes_per_s;
        let most_transitions = (hours.unwrap_or(OLDEST_H) + SLACK_H) * 3600.0 * MOST_TRANSITIONS_PER_S;
        let powered_on = |per_hour: f64| hours.filter(|hours| *hours > 0.0).map(|hours| hours * per_hour);
        let doubt = |kind, most: f64| Some(LifeDoubt { counter: self, kind, from: most, to });
        let longer = |per_hour: f64| {
            let most = powered_on(per_hour).filter(|most| to > most + WHOLE_H * per_hour)?;
            doubt(LifeDoubtKind::LongerThanPoweredOn, most)
        };
        match self {
            Self::PoweredOn if to > OLDEST_H => doubt(LifeDoubtKind::MoreThanPossible, OLDEST_H),
            Self::Read if to > moved(FASTEST_READ_BYTES_PER_S) => {
                doubt(LifeDoubtKind::MoreThanPossible, moved(FASTEST_READ_BYTES_PER_S))
            }
            Self::Written if to > moved(FASTEST_WRITE_BYTES_PER_S) => {
                doubt(LifeDoubtKind::MoreThanPossible, moved(FASTEST_WRITE_BYTES_PER_S))
            }
            Self::PoweredOn | Self::Read | Self::Written | Self::EnduranceUsed => None,
            _ if to >= END => doubt(LifeDoubtKind::AtItsEnd, END),
            Self::Tmt1Transitions | Self::Tmt2Transitions if to > most_transitions => {
                doubt(LifeDoubtKind::MoreThanPossible, most_transitions)
            }
            Self::AboveWarning | Self::AboveCritical => longer(60.0),
            Self::Tmt1Seconds | Self::Tmt2Seconds => longer(3600.0),
            _ => None,
        }
    }
}

impl LifeDoubt {
    /// Whether the counter says nothing at all: what it counted is not given.
    pub(super) fn is_void(&self) -> bool {
        matches!(self.kind, LifeDoubtKind::AtItsEnd | LifeDoubtKind::MoreThanPossible)
    }
}
