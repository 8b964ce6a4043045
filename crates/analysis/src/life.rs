//! What a drive's own counters say of its life: how hot, how long throttled, how worn.
//!
//! Needs one reading; two tell what happened between them as well. A counter at zero may never have moved or not be
//! kept: that is said and not decided.

mod counter;
mod readings;
mod span;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trace::caveat::{Caveat, ClockDoubt};
use trace::{HostThreshold, LifeCounters, Trace};

pub use counter::{LifeCounter, LifeDoubt, LifeDoubtKind};
use span::LifeClock;

use crate::COOL_K;
use crate::caveats::GAP_STEPS;

/// A point this close to a reading is of it, in seconds.
const SAME_READING_S: f64 = 1.0;

/// A command moves at most 65,536 blocks (NVM Command Set, Read: NLB has 16 bits), and no drive has blocks above 4 KiB.
const MOST_COMMAND_BYTES: f64 = 65_536.0 * 4096.0;
/// Data are counted in leaps of 512,000 bytes, and what was moved before a counter of commands began is little.
const UNCOUNTED_COMMANDS: f64 = 1.0;

/// What the counters say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Life {
    /// All of it, up to the last reading.
    pub whole: LifeSpan,
    /// From the first reading to the last; `None` for one.
    pub between: Option<LifeSpan>,
    /// Endurance used, in percent.
    pub used_percent: Option<f64>,
    /// What the drive warns of at the last reading.
    #[serde(default)]
    pub warnings: Vec<LifeWarning>,
    /// Spare capacity that is left, in percent.
    #[serde(default)]
    pub spare_percent: Option<f64>,
    /// Spare capacity below which the drive warns, in percent.
    #[serde(default)]
    pub spare_threshold_percent: Option<f64>,
    /// Data that could not be read back or were wrong, by the drive's own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors: Option<f64>,
    /// Whether a SATA or SCSI drive says of itself that it fails.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_failed: bool,
    /// The temperature at the last reading, in kelvins.
    #[serde(default)]
    pub now_k: Option<f64>,
    /// The sensor that this temperature and the history are of: "composite", "sensor1"; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensor: Option<String>,
    /// The highest temperature that the maker allows (SATA: Max Op Limit; SCSI: what smartctl calls the trip temperature) or warns of
    /// (NVMe: WCTEMP), in kelvins.
    #[serde(default)]
    pub limit_k: Option<f64>,
    /// Whether that is a trip temperature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limit_is_trip: bool,
    /// The critical temperature (NVMe: CCTEMP; SATA: Max Temperature Limit), in kelvins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_k: Option<f64>,
    /// Whether it says that more data were moved than its commands can have: values that a USB bridge makes up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_made_up: bool,
    /// The hottest that the drive ever was, in kelvins.
    pub hottest_k: Option<f64>,
    /// Temperatures that the drive remembers; `None` where it does not.
    pub history: Option<LifeHistory>,
}

/// What a drive warns of: the bits of NVMe's Critical Warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifeWarning {
    /// Bit 0: spare capacity is below its threshold.
    Spare,
    /// Bit 1: a temperature is outside its thresholds.
    Temperature,
    /// Bit 2: media or internal errors make it unreliable.
    Reliability,
    /// Bit 3: the media are read-only.
    ReadOnly,
    /// Bit 4: the backup of volatile memory failed.
    VolatileBackup,
    /// Bit 5: the persistent memory region is read-only or unreliable.
    PersistentMemory,
}

/// A stretch of a drive's life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LifeSpan {
    /// How long it was by the clock, in hours; `None` for the whole life, and where the times of the readings do not tell it.
    #[serde(default)]
    pub clock_hours: Option<f64>,
    /// How long the drive was powered on, in whole hours; `None` where that is not known or contradicts the clock.
    pub hours: Option<f64>,
    /// Throttling by the thresholds that the host sets, as far as the drive counts it.
    pub throttled: Vec<LifeThrottling>,
    /// Time at or above the warning temperature; of NVMe drives without that at or above the critical one.
    pub above_warning: Option<LifeShare>,
    /// Time at or above the critical temperature.
    pub above_critical: Option<LifeShare>,
    /// Temperature recordings above the limit.
    #[serde(default)]
    pub over_limit: Option<u64>,
    /// Bytes read.
    pub read_bytes: Option<f64>,
    /// Bytes written.
    pub written_bytes: Option<f64>,
    /// Bytes written in a day by the clock; `None` for less than a day.
    #[serde(default)]
    pub written_per_day_bytes: Option<f64>,
    /// Endurance used, in percent.
    #[serde(default)]
    pub used_percent: Option<f64>,
    /// Endurance used in a day by the clock, in percent; `None` for less than a day.
    #[serde(default)]
    pub used_per_day_percent: Option<f64>,
    /// Counters that cannot have counted this, or count since later; there is no growth, no share and no rate of them.
    #[serde(default)]
    pub doubts: Vec<LifeDoubt>,
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
    /// Share of the hours powered on, between readings with fewer than ten of those by the clock; `None` where those are not
    /// known or not more.
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
    /// How many there are besides the readings themselves.
    #[serde(default)]
    pub readings: usize,
    /// How many of them are above the limit; `None` where that is not known.
    #[serde(default)]
    pub readings_over_limit: Option<usize>,
}

/// What the counters in `trace` say; `None` where it has none.
pub(crate) fn life(trace: &Trace) -> Option<Life> {
    let readings = readings::readings(trace);
    let last = readings.last()?;
    Some(Life {
        whole: span::whole(&readings)?,
        between: span::between(&readings, clock(trace)),
        used_percent: last.used_percent,
        warnings: last.critical_warning.map(warnings).unwrap_or_default(),
        spare_percent: last.spare_percent,
        spare_threshold_percent: last.spare_threshold_percent,
        media_errors: last.media_errors,
        has_failed: last.has_failed,
        now_k: now(trace, last),
        sensor: trace.trusted.as_ref().map(|sensor| trace.temperatures[sensor.index].name.clone()),
        limit_k: trace.facts.warning_k,
        limit_is_trip: last.trip_k.is_some() && trace.facts.warning_k == last.trip_k,
        critical_k: trace.facts.critical_k,
        is_made_up: is_made_up(last),
        hottest_k: last.hottest_k,
        history: history(trace),
    })
}

impl Life {
    /// The thresholds of the host by which the drive was throttled at some time, as far as a counter that can be believed says so.
    pub fn counted(&self) -> Vec<HostThreshold> {
        let times = |one: &LifeThrottling| one.transitions.is_some_and(|times| times > 0);
        let time = |one: &LifeThrottling| {
            let lasted = one.time.is_some_and(|time| time.hours > 0.0);
            let seconds = match one.threshold {
                HostThreshold::Tmt1 => LifeCounter::Tmt1Seconds,
                HostThreshold::Tmt2 => LifeCounter::Tmt2Seconds,
            };
            lasted && self.whole.doubt(seconds) != Some(LifeDoubtKind::LongerThanPoweredOn)
        };
        let counted = self.whole.throttled.iter().filter(|one| times(one) || time(one));
        counted.map(|one| one.threshold).collect()
    }

    /// Whether the drive says that it fails: its data are at risk, and any load takes from what is left.
    pub fn is_failing(&self) -> bool {
        let fails = [LifeWarning::Spare, LifeWarning::Reliability, LifeWarning::ReadOnly];
        self.has_failed || self.has_low_spare() || self.warnings.iter().any(|one| fails.contains(one))
    }

    /// Whether less spare capacity is left than the drive warns at.
    pub fn has_low_spare(&self) -> bool {
        self.spare_percent.zip(self.spare_threshold_percent).is_some_and(|(left, threshold)| left < threshold)
    }

    /// Whether the drive is, at its last reading, as hot as it warns of: by the flag that it raises or at a threshold of its maker.
    pub fn is_hot_now(&self) -> bool {
        let warns = self.warnings.contains(&LifeWarning::Temperature);
        // The flag is raised below a lower threshold as well.
        self.now_k.is_some_and(|now_k| {
            [self.limit_k, self.critical_k].iter().flatten().any(|limit_k| now_k >= *limit_k)
                || warns && now_k >= COOL_K
        })
    }
}

/// Whether more data were moved than the commands of its host can have.
fn is_made_up(reading: &LifeCounters) -> bool {
    let moved = reading.read_bytes.unwrap_or(0.0) + reading.written_bytes.unwrap_or(0.0);
    reading.host_commands.is_some_and(|commands| moved > (commands + UNCOUNTED_COMMANDS) * MOST_COMMAND_BYTES)
}

/// How far the times of the readings are to be believed.
fn clock(trace: &Trace) -> LifeClock {
    let has = |doubt: ClockDoubt| trace.caveats.contains(&Caveat::Clock(doubt));
    match () {
        () if has(ClockDoubt::FileTimes) => LifeClock::FilesWritten,
        () if has(ClockDoubt::DatesInNames) => LifeClock::Dates,
        () => LifeClock::Read,
    }
}

/// NVMe Base, SMART / Health Information log, byte 0; the other bits are reserved.
fn warnings(bits: u8) -> Vec<LifeWarning> {
    const BITS: [LifeWarning; 6] = [
        LifeWarning::Spare,
        LifeWarning::Temperature,
        LifeWarning::Reliability,
        LifeWarning::ReadOnly,
        LifeWarning::VolatileBackup,
        LifeWarning::PersistentMemory,
    ];
    BITS.into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, warning)| warning).collect()
}

/// The temperature at the last reading.
fn now(trace: &Trace, last: &LifeCounters) -> Option<f64> {
    let points = trace.temperature()?.points();
    let near = |t_s: f64| (t_s - last.t_s).abs() <= SAME_READING_S;
    points.iter().rev().find(|point| near(point.t.as_secs_f64())).map(|point| point.value)
}

/// The temperatures before the readings: what there is besides one for each.
fn history(trace: &Trace) -> Option<LifeHistory> {
    let points = trace.temperature()?.points();
    // A log of temperatures beside throttle counters is no history that the drive keeps.
    if trace.life.is_empty() || points.len() <= trace.life.len() {
        return None;
    }
    let mut steps_s: Vec<f64> =
        points.windows(2).map(|pair| pair[1].t.since(pair[0].t).as_secs_f64()).collect();
    steps_s.sort_unstable_by(f64::total_cmp);
    // Between histories of several readings there may be days that none holds.
    let most_s = GAP_STEPS * steps_s.get(steps_s.len() / 2)?;
    let kept: Vec<f64> = points
        .iter()
        .filter(|point| !is_of_reading(&trace.life, point.t.as_secs_f64()))
        .map(|point| point.value)
        .collect();
    let kelvin = || kept.iter().copied();
    (!kept.is_empty()).then(|| LifeHistory {
        hours: steps_s.iter().filter(|step_s| **step_s <= most_s).sum::<f64>() / 3600.0,
        coolest_k: kelvin().fold(f64::INFINITY, f64::min),
        hottest_k: kelvin().fold(f64::NEG_INFINITY, f64::max),
        readings: kept.len(),
        readings_over_limit: trace.facts.warning_k.map(|limit| kelvin().filter(|k| *k > limit).count()),
    })
}

/// Whether a temperature is that of one of these readings, which are in order of time.
fn is_of_reading(readings: &[LifeCounters], t_s: f64) -> bool {
    let next = readings.partition_point(|reading| reading.t_s < t_s - SAME_READING_S);
    readings.get(next).is_some_and(|reading| reading.t_s <= t_s + SAME_READING_S)
}

#[cfg(test)]
mod test {
    use measure::Series;
    use trace::{Temperature, instant};

    use super::*;

    #[test]
    fn warnings_are_the_bits_of_the_log() {
        assert_eq!(warnings(0x9), [LifeWarning::Spare, LifeWarning::ReadOnly]);
        assert_eq!(warnings(0xc0), []);
        assert_eq!(warnings(0x36).len(), 4);
    }

    #[test]
    fn more_data_than_commands_can_move_are_made_up() {
        let of = |written_bytes: f64, commands: f64| LifeCounters {
            written_bytes: Some(written_bytes),
            host_commands: Some(commands),
            ..LifeCounters::default()
        };
        assert!(is_made_up(&of(837e9, 1.0)));
        assert!(!is_made_up(&of(837e9, 837e9 / 131_072.0)) && !is_made_up(&of(512_000.0, 0.0)));
        assert!(!is_made_up(&LifeCounters { host_commands: None, ..of(837e9, 0.0) }));
    }

    #[test]
    fn a_limit_that_is_a_trip_temperature_is_one() {
        let mut trace = Trace::empty("drive");
        trace.life = vec![LifeCounters { trip_k: Some(343.0), ..LifeCounters::default() }];
        (trace.facts.warning_k, trace.facts.critical_k) = (Some(343.0), Some(358.0));
        let told =
            |trace: &Trace| life(trace).map(|life| (life.limit_k, life.limit_is_trip, life.critical_k));
        assert_eq!(told(&trace), Some((Some(343.0), true, Some(358.0))));
        trace.facts.warning_k = Some(353.0);
        assert_eq!(told(&trace), Some((Some(353.0), false, Some(358.0))));
    }

    #[test]
    fn a_reading_that_has_two_temperatures_is_no_history() {
        let mut trace = Trace::empty("drive");
        trace.life = vec![LifeCounters { t_s: 1200.0, ..LifeCounters::default() }];
        let mut kelvin = Series::new();
        [1199.5, 1200.0].into_iter().for_each(|t_s| kelvin.push(instant(t_s), 309.0));
        trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin }];
        trace.trust_a_sensor();
        assert_eq!(life(&trace).and_then(|life| life.history), None);
    }

    #[test]
    fn temperatures_now_and_before_are_held_against_the_limit() {
        let mut trace = Trace::empty("drive");
        assert_eq!(life(&trace), None);
        trace.facts.warning_k = Some(343.0);
        trace.life = vec![LifeCounters { t_s: 1200.0, over_limit: Some(37), ..LifeCounters::default() }];
        let mut kelvin = Series::new();
        for (t_s, k) in [(0.0, 312.0), (600.0, 348.0), (1200.0, 309.0)] {
            kelvin.push(instant(t_s), k);
        }
        trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin }];
        trace.trust_a_sensor();
        let life = life(&trace).expect("a reading");
        assert_eq!((life.now_k, life.limit_k, life.whole.over_limit), (Some(309.0), Some(343.0), Some(37)));
        let history = life.history.expect("two older ones");
        assert_eq!((history.readings, history.readings_over_limit), (2, Some(1)));
        assert_eq!(history.hours, 1200.0 / 3600.0);
        // What lies between the histories of two readings a week apart is in neither.
        let week_s = 604_800.0;
        for (t_s, k) in [(0.0, 312.0), (600.0, 348.0), (1200.0, 309.0)] {
            trace.temperatures[0].kelvin.push(instant(week_s + t_s), k);
        }
        trace.life.push(LifeCounters { t_s: week_s + 1200.0, ..LifeCounters::default() });
        let history = super::life(&trace).and_then(|life| life.history).expect("two histories");
        assert_eq!((history.readings, history.hours), (4, 2400.0 / 3600.0));
    }
}
