//! What was counted over a whole life, or between readings of it.
//!
//! Counters only grow, and no faster than the clock or a link lets them. One that does not is told, and gives no rate.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trace::{HostThreshold, LifeCounters};

use super::{LifeShare, LifeSpan, LifeThrottling};

const BYTES_PER_TB: f64 = 1e12;
/// Shares above this are no shares: counters of another unit, or hours that leave most of the time out.
const MOST_SHARE: f64 = 1.0;
/// Fewer whole hours than these are no measure of a time: they are off by up to one.
const LEAST_POWERED_ON_H: f64 = 10.0;
/// Over less time minutes have no share.
const LEAST_SHARE_H: f64 = 1.0;
/// A rate for a day takes a day.
const DAY_H: f64 = 24.0;
/// Clocks are off by this share, and by an hour when summer time begins.
const CLOCK_SHARE: f64 = 1.02;
/// How much a counter may grow beyond the clock, in its unit: it is written now and then, and local time may leap an hour.
const SLACK_H: f64 = 2.0;
const SLACK_MIN: f64 = 10.0;
const SLACK_S: f64 = 600.0;
/// Data are counted in leaps: over less time than this no speed is judged.
const LEAST_SPEED_S: f64 = 60.0;
/// PCIe 5.0 x4 carries 15.8 GB/s, and no drive writes more; PCIe 6.0 x4 carries 31.5 GB/s, and drives read nearly that.
const FASTEST_WRITE_BYTES_PER_S: f64 = 16e9;
const FASTEST_READ_BYTES_PER_S: f64 = 32e9;

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
    /// What it said before, in its unit.
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
}

impl LifeCounter {
    const ALL: [Self; 11] = [
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

    fn of(self, at: &LifeCounters) -> Option<f64> {
        let count = |value: Option<u64>| value.map(|value| value as f64);
        match self {
            Self::PoweredOn => at.power_on_h,
            Self::AboveWarning => at.warning_min,
            Self::AboveCritical => at.critical_min,
            Self::Tmt1Transitions => count(at.throttling.tmt1_transitions),
            Self::Tmt2Transitions => count(at.throttling.tmt2_transitions),
            Self::Tmt1Seconds => count(at.throttling.tmt1_seconds),
            Self::Tmt2Seconds => count(at.throttling.tmt2_seconds),
            Self::OverLimit => count(at.over_limit),
            Self::Read => at.read_bytes,
            Self::Written => at.written_bytes,
            Self::EnduranceUsed => at.used_percent,
        }
    }

    /// The most that it can grow in so many seconds; `None` where there is no limit.
    fn most(self, span_s: f64) -> Option<f64> {
        let clock_s = span_s * CLOCK_SHARE;
        match self {
            Self::PoweredOn => Some(clock_s / 3600.0 + SLACK_H),
            Self::AboveWarning | Self::AboveCritical => Some(clock_s / 60.0 + SLACK_MIN),
            Self::Tmt1Seconds | Self::Tmt2Seconds => Some(clock_s + SLACK_S),
            Self::Read if span_s >= LEAST_SPEED_S => Some(clock_s * FASTEST_READ_BYTES_PER_S),
            Self::Written if span_s >= LEAST_SPEED_S => Some(clock_s * FASTEST_WRITE_BYTES_PER_S),
            _ => None,
        }
    }

    /// What is wrong with it in these readings: that it fell anywhere, or grew too much from the first to the last.
    fn doubt(self, readings: &[LifeCounters]) -> Option<LifeDoubt> {
        let values: Vec<f64> = readings.iter().filter_map(|reading| self.of(reading)).collect();
        let doubt = |kind, from, to| Some(LifeDoubt { counter: self, kind, from, to });
        if let Some(pair) = values.windows(2).find(|pair| pair[1] < pair[0]) {
            return doubt(LifeDoubtKind::Fell, pair[0], pair[1]);
        }
        let (first, last) = (readings.first()?, readings.last()?);
        let (from, to) = (self.of(first)?, self.of(last)?);
        let is_too_much = self.most(last.t_s - first.t_s).is_some_and(|most| to - from > most);
        if is_too_much { doubt(LifeDoubtKind::FasterThanClock, from, to) } else { None }
    }
}

/// All that was counted up to a reading.
pub(super) fn whole(reading: &LifeCounters) -> LifeSpan {
    counted(&|counter| counter.of(reading), None, Vec::new())
}

/// What was counted from the first of these readings to the last; `None` where they are of one moment.
pub(super) fn between(readings: &[LifeCounters]) -> Option<LifeSpan> {
    let (first, last) = (readings.first()?, readings.last()?);
    let clock_h = Some((last.t_s - first.t_s) / 3600.0).filter(|hours| *hours > 0.0)?;
    let doubts: Vec<LifeDoubt> =
        LifeCounter::ALL.into_iter().filter_map(|counter| counter.doubt(readings)).collect();
    let doubted = |counter: LifeCounter| doubts.iter().any(|doubt| doubt.counter == counter);
    // A drive whose hours fell was made anew or is another one: what else it counts did not grow from there.
    let is_other = doubts
        .iter()
        .any(|doubt| doubt.counter == LifeCounter::PoweredOn && doubt.kind == LifeDoubtKind::Fell);
    let grown = |counter: LifeCounter| {
        let known = !is_other && !doubted(counter);
        let (from, to) = (counter.of(first), counter.of(last));
        from.zip(to).filter(|_| known).map(|(from, to)| to - from)
    };
    Some(counted(&grown, Some(clock_h), doubts.clone()))
}

/// What was counted over a time, by what each counter grew.
fn counted(
    grown: &dyn Fn(LifeCounter) -> Option<f64>,
    clock_hours: Option<f64>,
    doubts: Vec<LifeDoubt>,
) -> LifeSpan {
    let hours = grown(LifeCounter::PoweredOn);
    let mut span = LifeSpan {
        clock_hours,
        hours: hours.filter(|hours| clock_hours.is_some() || *hours > 0.0),
        throttled: Vec::new(),
        above_warning: None,
        above_critical: None,
        over_limit: grown(LifeCounter::OverLimit).map(|count| count as u64),
        read_bytes: grown(LifeCounter::Read),
        written_bytes: grown(LifeCounter::Written),
        written_per_day_bytes: None,
        used_percent: grown(LifeCounter::EnduranceUsed),
        used_per_day_percent: None,
        doubts,
    };
    let base_h = span.base_hours();
    let share = |hours: f64| LifeShare {
        hours,
        share: base_h.map(|base_h| hours / base_h).filter(|share| *share <= MOST_SHARE),
    };
    // Whole minutes are no share of a short time.
    let in_minutes = |minutes: f64| match base_h.is_some_and(|hours| hours < LEAST_SHARE_H) {
        true => LifeShare { hours: minutes / 60.0, share: None },
        false => share(minutes / 60.0),
    };
    span.above_warning = grown(LifeCounter::AboveWarning).map(in_minutes);
    span.above_critical = grown(LifeCounter::AboveCritical).map(in_minutes);
    let throttling = |(threshold, transitions, seconds)| {
        let (transitions, seconds): (Option<f64>, Option<f64>) = (grown(transitions), grown(seconds));
        let per = |amount: Option<f64>| Some(transitions? / amount.filter(|amount| *amount > 0.0)?);
        (transitions.is_some() || seconds.is_some()).then(|| LifeThrottling {
            threshold,
            transitions: transitions.map(|count| count as u64),
            time: seconds.map(|seconds| share(seconds / 3600.0)),
            per_hour: per(base_h),
            per_tb_written: per(span.written_bytes.map(|bytes| bytes / BYTES_PER_TB)),
        })
    };
    span.throttled = [
        (HostThreshold::Tmt1, LifeCounter::Tmt1Transitions, LifeCounter::Tmt1Seconds),
        (HostThreshold::Tmt2, LifeCounter::Tmt2Transitions, LifeCounter::Tmt2Seconds),
    ]
    .into_iter()
    .filter_map(throttling)
    .collect();
    let days = clock_hours.filter(|hours| *hours >= DAY_H).map(|hours| hours / DAY_H);
    span.written_per_day_bytes = span.written_bytes.zip(days).map(|(bytes, days)| bytes / days);
    span.used_per_day_percent = span.used_percent.zip(days).map(|(percent, days)| percent / days);
    span
}

impl LifeSpan {
    /// Whether shares and rates are of the time by the clock: too few hours powered on are known.
    pub fn is_by_clock(&self) -> bool {
        self.clock_hours.is_some() && self.hours.is_none_or(|hours| hours < LEAST_POWERED_ON_H)
    }

    /// The hours that shares and rates are of.
    fn base_hours(&self) -> Option<f64> {
        // Where the hours powered on contradict the clock, neither is a measure.
        if self.doubts.iter().any(|doubt| doubt.counter == LifeCounter::PoweredOn) {
            return None;
        }
        if self.is_by_clock() { self.clock_hours } else { self.hours }
    }
}

#[cfg(test)]
mod test {
    use trace::Counters;

    use super::*;

    fn counters(t_s: f64, transitions: u64, seconds: u64) -> LifeCounters {
        LifeCounters {
            t_s,
            power_on_h: Some(1000.0),
            warning_min: Some(60.0),
            written_bytes: Some(5e13),
            throttling: Counters {
                tmt1_transitions: Some(transitions),
                tmt1_seconds: Some(seconds),
                ..Counters::default()
            },
            ..LifeCounters::default()
        }
    }

    #[test]
    fn one_reading_tells_shares_of_a_life() {
        let whole = whole(&counters(0.0, 500, 111_600));
        let tmt1 = &whole.throttled[0];
        assert_eq!((whole.throttled.len(), tmt1.transitions), (1, Some(500)));
        assert_eq!((tmt1.per_hour, tmt1.per_tb_written), (Some(0.5), Some(10.0)));
        assert_eq!(tmt1.time, Some(LifeShare { hours: 31.0, share: Some(0.031) }));
        assert_eq!(whole.above_warning, Some(LifeShare { hours: 1.0, share: Some(0.001) }));
        assert_eq!((whole.above_critical, between(&[counters(0.0, 0, 0)])), (None, None));
    }

    #[test]
    fn two_readings_tell_what_happened_between_them() {
        let between = between(&[counters(0.0, 500, 100), counters(7200.0, 510, 3700)]).expect("two hours");
        assert_eq!((between.throttled[0].transitions, between.throttled[0].per_hour), (Some(10), Some(5.0)));
        assert_eq!(between.throttled[0].time, Some(LifeShare { hours: 1.0, share: Some(0.5) }));
        assert_eq!(between.above_warning, Some(LifeShare { hours: 0.0, share: Some(0.0) }));
        assert_eq!((between.written_per_day_bytes, between.doubts.len()), (None, 0));
    }

    /// A week in which the drive was on for 100 hours.
    #[test]
    fn rates_are_of_the_hours_powered_on_and_of_days_by_the_clock() {
        let week = LifeCounters {
            t_s: 7.0 * 86_400.0,
            power_on_h: Some(1100.0),
            warning_min: Some(360.0),
            written_bytes: Some(5.7e13),
            ..counters(0.0, 550, 100)
        };
        let between = between(&[counters(0.0, 500, 100), week]).expect("a week");
        assert_eq!((between.clock_hours, between.hours), (Some(168.0), Some(100.0)));
        assert_eq!(between.above_warning, Some(LifeShare { hours: 5.0, share: Some(0.05) }));
        assert_eq!(between.written_per_day_bytes, Some(1e12));
        assert_eq!(between.throttled[0].per_hour, Some(0.5));
        assert!(between.throttled[0].per_tb_written.is_some_and(|rate| (rate - 50.0 / 7.0).abs() < 1e-9));
    }

    #[test]
    fn counters_that_fall_are_told_and_have_no_rate() {
        let reset = LifeCounters { warning_min: Some(3.0), ..counters(604_800.0, 510, 3700) };
        let found = between(&[counters(0.0, 500, 100), reset]).expect("a week");
        let fell =
            LifeDoubt { counter: LifeCounter::AboveWarning, kind: LifeDoubtKind::Fell, from: 60.0, to: 3.0 };
        assert_eq!((found.doubts.as_slice(), found.above_warning), ([fell].as_slice(), None));
        assert_eq!(found.throttled[0].transitions, Some(10));
        // One whose hours fell tells nothing of the time between.
        let young = LifeCounters { power_on_h: Some(5.0), ..counters(604_800.0, 510, 3700) };
        let found = between(&[counters(0.0, 500, 100), young]).expect("a week");
        assert_eq!((found.hours, found.throttled.len(), found.written_bytes), (None, 0, None));
        assert_eq!(found.doubts.len(), 1);
    }

    #[test]
    fn growth_that_the_clock_does_not_allow_is_told_and_has_no_rate() {
        let hot = LifeCounters { warning_min: Some(560.0), ..counters(3600.0, 500, 100) };
        let found = between(&[counters(0.0, 500, 100), hot]).expect("an hour");
        assert_eq!(found.doubts[0].counter, LifeCounter::AboveWarning);
        assert_eq!((found.doubts[0].kind, found.above_warning), (LifeDoubtKind::FasterThanClock, None));
        let fast = LifeCounters { written_bytes: Some(5.1e13), ..counters(60.0, 500, 100) };
        let found = between(&[counters(0.0, 500, 100), fast]).expect("a minute");
        assert_eq!((found.doubts[0].counter, found.written_bytes), (LifeCounter::Written, None));
        assert_eq!(found.above_warning, Some(LifeShare { hours: 0.0, share: None }));
        let old =
            LifeCounters { power_on_h: Some(9000.0), warning_min: Some(70.0), ..counters(3600.0, 500, 100) };
        let found = between(&[counters(0.0, 500, 100), old]).expect("an hour");
        assert_eq!(found.above_warning.map(|time| time.share), Some(None));
    }

    /// Seconds beyond the hours powered on, as drives have them that leave out hours in low power.
    #[test]
    fn more_time_than_there_was_has_no_share() {
        let whole = whole(&counters(0.0, 1, 36_000_000));
        assert_eq!(whole.throttled[0].time, Some(LifeShare { hours: 10_000.0, share: None }));
    }
}
