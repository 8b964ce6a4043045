//! What a drive's own counters say of its life: how hot, how long throttled, how worn.
//!
//! Needs one reading; two tell what happened between them as well. A counter at zero may never have moved or not be
//! kept: that is said and not decided.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trace::{HostThreshold, LifeCounters, Trace};

const BYTES_PER_TB: f64 = 1e12;
/// Shares above this are no shares: counters of another unit, or hours that leave most of the time out.
const MOST_SHARE: f64 = 1.0;

/// What the counters say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Life {
    /// All of it, up to the last reading.
    pub whole: LifeSpan,
    /// From the first reading to the last; `None` for one.
    pub between: Option<LifeSpan>,
    /// Endurance used, in percent.
    pub used_percent: Option<f64>,
    /// The hottest that the drive ever was, in kelvins.
    pub hottest_k: Option<f64>,
    /// Temperatures that the drive remembers; `None` where it does not.
    pub history: Option<LifeHistory>,
}

/// A stretch of a drive's life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifeSpan {
    /// How long it was, in hours powered on; between two readings by the clock.
    pub hours: Option<f64>,
    /// Throttling by the thresholds that the host sets, as far as the drive counts it.
    pub throttled: Vec<LifeThrottling>,
    /// Time at or above the warning temperature.
    pub above_warning: Option<LifeShare>,
    /// Time at or above the critical temperature.
    pub above_critical: Option<LifeShare>,
    /// Bytes read.
    pub read_bytes: Option<f64>,
    /// Bytes written.
    pub written_bytes: Option<f64>,
}

/// Throttling by one threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifeThrottling {
    /// Which threshold.
    pub threshold: HostThreshold,
    /// How often it began.
    pub transitions: Option<u64>,
    /// How long it lasted in all.
    pub time: Option<LifeShare>,
    /// How often it began in an hour.
    pub per_hour: Option<f64>,
    /// How often it began for each terabyte written.
    pub per_tb_written: Option<f64>,
}

/// A time, and its share of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifeShare {
    /// Hours.
    pub hours: f64,
    /// Share of the hours of the span; `None` where those are not known or not more.
    pub share: Option<f64>,
}

/// Temperatures that a drive remembers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifeHistory {
    /// From the oldest to the newest, in hours.
    pub hours: f64,
    /// The coolest, in kelvins.
    pub coolest_k: f64,
    /// The hottest, in kelvins.
    pub hottest_k: f64,
}

/// What the counters in `trace` say; `None` where it has none.
pub(crate) fn life(trace: &Trace) -> Option<Life> {
    let (first, last) = (trace.life.first()?, trace.life.last()?);
    let hours = (last.t_s - first.t_s) / 3600.0;
    Some(Life {
        whole: span(&LifeCounters::default(), last, last.power_on_h),
        between: (hours > 0.0).then(|| span(first, last, Some(hours))),
        used_percent: last.used_percent,
        hottest_k: last.hottest_k,
        history: history(trace),
    })
}

/// What was counted from one moment to another, over so many hours.
fn span(from: &LifeCounters, to: &LifeCounters, hours: Option<f64>) -> LifeSpan {
    let hours = hours.filter(|hours| *hours > 0.0);
    let grown = |from: Option<f64>, to: Option<f64>| to.map(|to| (to - from.unwrap_or(0.0)).max(0.0));
    let share = |part_h: f64| LifeShare {
        hours: part_h,
        share: hours.map(|hours| part_h / hours).filter(|share| *share <= MOST_SHARE),
    };
    let written_bytes = grown(from.written_bytes, to.written_bytes);
    let since = |before: Option<u64>, now: Option<u64>| Some(now?.saturating_sub(before.unwrap_or(0)));
    let throttling = |threshold| {
        let (before, now) = (from.throttling.at(threshold), to.throttling.at(threshold));
        let (transitions, seconds) = (since(before.0, now.0), since(before.1, now.1));
        let per = |amount: Option<f64>| Some(transitions? as f64 / amount.filter(|amount| *amount > 0.0)?);
        (transitions.is_some() || seconds.is_some()).then(|| LifeThrottling {
            threshold,
            transitions,
            time: seconds.map(|seconds| share(seconds as f64 / 3600.0)),
            per_hour: per(hours),
            per_tb_written: per(written_bytes.map(|bytes| bytes / BYTES_PER_TB)),
        })
    };
    LifeSpan {
        hours,
        throttled: [HostThreshold::Tmt1, HostThreshold::Tmt2].into_iter().filter_map(throttling).collect(),
        above_warning: grown(from.warning_min, to.warning_min).map(|minutes| share(minutes / 60.0)),
        above_critical: grown(from.critical_min, to.critical_min).map(|minutes| share(minutes / 60.0)),
        read_bytes: grown(from.read_bytes, to.read_bytes),
        written_bytes,
    }
}

/// The temperatures before the readings: what there is besides one for each.
fn history(trace: &Trace) -> Option<LifeHistory> {
    let points = trace.temperature()?.points();
    let (first, last) = (points.first()?, points.last()?);
    if points.len() <= trace.life.len() {
        return None;
    }
    let kelvin = || points.iter().map(|point| point.value);
    Some(LifeHistory {
        hours: (last.t.as_secs_f64() - first.t.as_secs_f64()) / 3600.0,
        coolest_k: kelvin().fold(f64::INFINITY, f64::min),
        hottest_k: kelvin().fold(f64::NEG_INFINITY, f64::max),
    })
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

    fn of(readings: Vec<LifeCounters>) -> Option<Life> {
        let mut trace = Trace::empty("drive");
        trace.life = readings;
        life(&trace)
    }

    #[test]
    fn one_reading_tells_shares_of_a_life() {
        let life = of(vec![counters(0.0, 500, 111_600)]).expect("a reading");
        let tmt1 = &life.whole.throttled[0];
        assert_eq!((life.whole.throttled.len(), tmt1.transitions), (1, Some(500)));
        assert_eq!((tmt1.per_hour, tmt1.per_tb_written), (Some(0.5), Some(10.0)));
        assert_eq!(tmt1.time, Some(LifeShare { hours: 31.0, share: Some(0.031) }));
        assert_eq!(life.whole.above_warning, Some(LifeShare { hours: 1.0, share: Some(0.001) }));
        assert_eq!((life.whole.above_critical, life.between), (None, None));
        assert_eq!(of(Vec::new()), None);
    }

    #[test]
    fn two_readings_tell_what_happened_between_them() {
        let life = of(vec![counters(0.0, 500, 100), counters(7200.0, 510, 3700)]).expect("two readings");
        let between = life.between.expect("two hours");
        assert_eq!((between.throttled[0].transitions, between.throttled[0].per_hour), (Some(10), Some(5.0)));
        assert_eq!(between.throttled[0].time, Some(LifeShare { hours: 1.0, share: Some(0.5) }));
        assert_eq!(between.above_warning, Some(LifeShare { hours: 0.0, share: Some(0.0) }));
    }

    /// Seconds beyond the hours powered on, as drives have them that leave out hours in low power.
    #[test]
    fn more_time_than_there_was_has_no_share() {
        let life = of(vec![counters(0.0, 1, 36_000_000)]).expect("a reading");
        assert_eq!(life.whole.throttled[0].time, Some(LifeShare { hours: 10_000.0, share: None }));
    }
}
