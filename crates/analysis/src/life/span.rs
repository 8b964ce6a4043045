//! What was counted over a whole life, or between readings of it.
//!
//! A counter that is wrong is named: it has no share and no rate, and where it says nothing at all no value.

use trace::{HostThreshold, LifeCounters};

use super::counter::{CLOCK_SHARE, LifeCounter, LifeDoubt, LifeDoubtKind};
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

/// How far the times of readings are to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LifeClock {
    /// The readings tell them.
    Read,
    /// They are when files were written, which copying changes.
    FilesWritten,
    /// They are dates without a time of day.
    Dates,
}

/// All that was counted up to the last of these readings; `None` without one.
pub(super) fn whole(readings: &[LifeCounters]) -> Option<LifeSpan> {
    let last = readings.last()?;
    let doubt = |counter: LifeCounter| {
        let fall = counter.fall(readings).or_else(|| counter.excess(last));
        fall.or_else(|| counter.missing(readings))
    };
    let doubts: Vec<LifeDoubt> = LifeCounter::ALL.into_iter().filter_map(doubt).collect();
    let void = |counter: LifeCounter| doubts.iter().any(|doubt| doubt.counter == counter && doubt.is_void());
    let value = |counter: LifeCounter| counter.latest(readings).filter(|_| !void(counter));
    let hours = value(LifeCounter::PoweredOn).filter(|hours| *hours > 0.0);
    let is_reset = doubts.iter().any(|doubt| doubt.counter == LifeCounter::PoweredOn);
    Some(counted(
        &value,
        Times { clock: None, powered_on: hours, base: hours.filter(|_| !is_reset) },
        &doubts,
    ))
}

/// What was counted from the first of these readings to the last; `None` where they are of one moment.
pub(super) fn between(readings: &[LifeCounters], clock: LifeClock) -> Option<LifeSpan> {
    let (first, last) = (readings.first()?, readings.last()?);
    let clock_h = clock_hours(readings, clock);
    let powered_h = powered_on(first, last).filter(|_| clock_h.is_none());
    let span_s = 3600.0 * clock_h.or(powered_h.filter(|hours| *hours > 0.0))?;
    // Dates are off by up to a day, and whole hours by up to one.
    let slack_s = match (clock_h, clock) {
        (Some(_), LifeClock::Dates) => DAY_H * 3600.0,
        (Some(_), _) => 0.0,
        (None, _) => 3600.0,
    };
    // A time that was longer than the hours powered on may have grown rightly since; what says nothing at all did not.
    let void = |counter: LifeCounter| {
        [first, last].into_iter().find_map(|reading| counter.excess(reading).filter(LifeDoubt::is_void))
    };
    let doubt = |counter: LifeCounter| {
        let fall = counter.fall(readings).or_else(|| void(counter));
        fall.or_else(|| counter.leap(readings, span_s, slack_s)).or_else(|| counter.one_sided(readings))
    };
    let doubts: Vec<LifeDoubt> = LifeCounter::ALL.into_iter().filter_map(doubt).collect();
    let doubted = |counter: LifeCounter| doubts.iter().any(|doubt| doubt.counter == counter);
    // A drive whose hours fell was made anew or is another one, and so may be one of which any counter fell where no serial number shows
    // that it is the same: what else it counts did not grow from there.
    let has_one_serial = first.serial.is_some() && readings.iter().all(|one| one.serial == first.serial);
    let is_other = doubts.iter().any(|doubt| {
        doubt.kind == LifeDoubtKind::Fell && (doubt.counter == LifeCounter::PoweredOn || !has_one_serial)
    });
    let grown = |counter: LifeCounter| {
        let known = !is_other && !doubted(counter);
        let (from, to) = (counter.value(first), counter.value(last));
        from.zip(to).filter(|_| known).map(|(from, to)| to - from)
    };
    let powered_on = grown(LifeCounter::PoweredOn);
    // Where the hours powered on contradict the clock, neither is a measure.
    let base = match powered_on.filter(|hours| *hours >= LEAST_POWERED_ON_H) {
        _ if doubted(LifeCounter::PoweredOn) => None,
        Some(hours) => Some(hours),
        None => clock_h,
    };
    Some(counted(&grown, Times { clock: clock_h, powered_on, base }, &doubts))
}

/// How long it was from the first reading to the last by the clock, in hours; `None` where the clock does not tell that: readings
/// of one moment, or files whose times the hours powered on contradict.
fn clock_hours(readings: &[LifeCounters], clock: LifeClock) -> Option<f64> {
    let (first, last) = (readings.first()?, readings.last()?);
    let clock_h = (last.t_s - first.t_s) / 3600.0;
    // So many whole hours take one less at least.
    let least_h = powered_on(first, last).map_or(0.0, |hours| hours - 1.0);
    let is_copied = clock == LifeClock::FilesWritten && least_h > clock_h * CLOCK_SHARE;
    (clock_h > 0.0 && !is_copied).then_some(clock_h)
}

/// By how many hours powered on two readings are apart.
fn powered_on(first: &LifeCounters, last: &LifeCounters) -> Option<f64> {
    Some(last.power_on_h? - first.power_on_h?)
}

/// Hours of a stretch.
struct Times {
    /// By the clock.
    clock: Option<f64>,
    powered_on: Option<f64>,
    /// Those that shares and rates are of.
    base: Option<f64>,
}

/// What was counted over a time, by what each counter grew.
fn counted(grown: &dyn Fn(LifeCounter) -> Option<f64>, times: Times, doubts: &[LifeDoubt]) -> LifeSpan {
    let Times { clock: clock_hours, powered_on: hours, base: base_h } = times;
    // Of counters that fell since, or are wrong, there is no share of this time and no rate.
    let is_sure = |counter: LifeCounter| !doubts.iter().any(|doubt| doubt.counter == counter);
    let share = |counter: LifeCounter, hours: f64| LifeShare {
        hours,
        share: base_h
            .filter(|_| is_sure(counter))
            .map(|base_h| hours / base_h)
            .filter(|share| *share <= MOST_SHARE),
    };
    // Whole minutes are no share of a short time.
    let in_minutes = |counter: LifeCounter| {
        let hours = grown(counter)? / 60.0;
        match base_h.is_some_and(|base_h| base_h < LEAST_SHARE_H) {
            true => Some(LifeShare { hours, share: None }),
            false => Some(share(counter, hours)),
        }
    };
    let written = grown(LifeCounter::Written);
    let written_tb = written.filter(|_| is_sure(LifeCounter::Written)).map(|bytes| bytes / BYTES_PER_TB);
    let throttling = |(threshold, transitions, seconds)| {
        let (count, time_s): (Option<f64>, Option<f64>) = (grown(transitions), grown(seconds));
        let sure = count.filter(|_| is_sure(transitions));
        let per = |amount: Option<f64>| Some(sure? / amount.filter(|amount| *amount > 0.0)?);
        (count.is_some() || time_s.is_some()).then(|| LifeThrottling {
            threshold,
            transitions: count.map(|count| count as u64),
            time: time_s.map(|time_s| share(seconds, time_s / 3600.0)),
            per_hour: per(base_h),
            per_tb_written: per(written_tb),
        })
    };
    let throttled = [
        (HostThreshold::Tmt1, LifeCounter::Tmt1Transitions, LifeCounter::Tmt1Seconds),
        (HostThreshold::Tmt2, LifeCounter::Tmt2Transitions, LifeCounter::Tmt2Seconds),
    ];
    let days = clock_hours.filter(|hours| *hours >= DAY_H).map(|hours| hours / DAY_H);
    let used_percent = grown(LifeCounter::EnduranceUsed);
    LifeSpan {
        clock_hours,
        hours,
        throttled: throttled.into_iter().filter_map(throttling).collect(),
        above_warning: in_minutes(LifeCounter::AboveWarning),
        above_critical: in_minutes(LifeCounter::AboveCritical),
        over_limit: grown(LifeCounter::OverLimit).map(|count| count as u64),
        read_bytes: grown(LifeCounter::Read),
        written_bytes: written,
        written_per_day_bytes: written.zip(days).map(|(bytes, days)| bytes / days),
        used_percent,
        used_per_day_percent: used_percent.zip(days).map(|(percent, days)| percent / days),
        doubts: doubts.to_vec(),
    }
}

impl LifeSpan {
    /// Whether shares and rates are of the time by the clock: too few hours powered on are known.
    pub fn is_by_clock(&self) -> bool {
        self.clock_hours.is_some() && self.hours.is_none_or(|hours| hours < LEAST_POWERED_ON_H)
    }

    /// What is wrong with a counter.
    pub fn doubt(&self, counter: LifeCounter) -> Option<LifeDoubtKind> {
        self.doubts.iter().find(|doubt| doubt.counter == counter).map(|doubt| doubt.kind)
    }
}

#[cfg(test)]
mod test;
