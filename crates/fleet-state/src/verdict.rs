//! What may be said of one drive, by rule: how often rows come decides, and whether its counters have ever counted.
//!
//! Counters come first. "Not throttled" needs a counter that has moved in some drive of the same model and firmware;
//! a counter that never moved anywhere may not be implemented (NVMe has no bit for it). Throttled hours and full-speed
//! hours lost are two numbers, and the second one needs rows that show the drive busy.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::row::{DriveLabels, HealthCounter as C};
use crate::state::DrivePart;
use crate::sums::HealthSums;

/// The sums of one drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedDrive {
    /// Its serial number.
    pub serial: String,
    /// One for each place it was in.
    pub parts: Vec<DrivePart>,
}

/// How often rows come, as far as verdicts care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowCadence {
    /// Every two seconds or more often: everything that `analyze` says.
    Second,
    /// Every ten minutes or more often.
    Minute,
    /// Less often.
    Day,
}

impl RowCadence {
    /// From milliseconds between rows.
    #[must_use]
    pub const fn of(cadence_ms: i64) -> Self {
        match cadence_ms {
            ..=2_000 => Self::Second,
            2_001..=600_000 => Self::Minute,
            _ => Self::Day,
        }
    }

    /// Its name in `findings.json`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Second => "second",
            Self::Minute => "minute",
            Self::Day => "day",
        }
    }

    /// What rows this far apart tell.
    #[must_use]
    pub const fn may_say(self) -> &'static str {
        match self {
            Self::Second => "everything `heatsoak analyze` says of one drive, and all below",
            Self::Minute => {
                "when throttling began to the minute, the share of each minute throttled, the temperatures around an onset, speed lost while busy"
            }
            Self::Day => {
                "seconds throttled between readings, transitions, minutes over the drive's warning temperature"
            }
        }
    }

    /// What they do not.
    #[must_use]
    pub const fn may_not_say(self) -> &'static str {
        match self {
            Self::Second => "anything faster than a second",
            Self::Minute => {
                "the highest temperature (a spell of 20 s is seen one time in three); causes of dips under a minute"
            }
            Self::Day => {
                "when in the day, why, speed lost, or that a drive was never hot: one reading stands for all seconds between two"
            }
        }
    }
}

/// Whether the drive was throttled by its host-controlled thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThrottleVerdict {
    /// A counter moved.
    Throttled,
    /// None did, and they count.
    NotThrottled,
    /// With the reason.
    NotKnown(&'static str),
}

impl ThrottleVerdict {
    /// Its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::NotThrottled => "not_throttled",
            Self::NotKnown(_) => "not_known",
        }
    }
}

/// One drive in one place.
#[derive(Clone, Debug)]
pub struct DriveFinding {
    /// Serial number.
    pub serial: String,
    /// What it was and where.
    pub labels: Arc<DriveLabels>,
    /// Whether it was throttled there.
    pub verdict: ThrottleVerdict,
    /// What its rows there add up to.
    pub sums: HealthSums,
    /// How often it changed its place or firmware.
    pub moves: u64,
    /// Hours of full speed lost, or why not.
    pub full_speed_lost_h: Result<f64, &'static str>,
}

/// Why nothing is known of a drive whose rows nobody could sort.
const MIXED: &str = "its rows overlap in time, and states hold no rows to sort: one `heatsoak fleet scan` of all its rows decides";

impl DriveFinding {
    /// A drive whose rows overlap in time, where they are gone and cannot be read again, sorted.
    #[must_use]
    pub fn of_mixed_rows(serial: String, rows: u64) -> Self {
        Self {
            serial,
            labels: Arc::default(),
            verdict: ThrottleVerdict::NotKnown(MIXED),
            sums: HealthSums { rows, ..HealthSums::default() },
            moves: 0,
            full_speed_lost_h: Err(MIXED),
        }
    }

    /// Hours throttled, gaps left out; none where the counters tell nothing.
    #[must_use]
    pub fn throttled_h(&self) -> Option<f64> {
        self.counts().then(|| hours(self.sums.moved(C::Tmt1Seconds) + self.sums.moved(C::Tmt2Seconds)))
    }

    /// Hours throttled while no rows came.
    #[must_use]
    pub fn throttled_in_gaps_h(&self) -> Option<f64> {
        let sums = &self.sums;
        self.counts().then(|| hours(sums.moved_in_gaps(C::Tmt1Seconds) + sums.moved_in_gaps(C::Tmt2Seconds)))
    }

    fn counts(&self) -> bool {
        !matches!(self.verdict, ThrottleVerdict::NotKnown(_))
    }

    /// Hours between rows, gaps left out.
    #[must_use]
    pub fn observed_h(&self) -> f64 {
        self.sums.observed_ms as f64 / 3_600_000.0
    }

    /// The mean of its temperatures, in °C.
    #[must_use]
    pub fn temp_mean_c(&self) -> Option<f64> {
        (self.sums.temp_rows > 0).then(|| self.sums.temp_sum_mc as f64 / self.sums.temp_rows as f64 / 1000.0)
    }
}

fn hours(seconds: u64) -> f64 {
    seconds as f64 / 3600.0
}

/// Model and firmware: counters are implemented by it, or not.
fn kind(labels: &DriveLabels) -> (&str, &str) {
    (labels.model(), labels.firmware())
}

/// Whether a throttle counter moved.
fn moved(sums: &HealthSums) -> bool {
    C::THROTTLE.iter().any(|counter| sums.moved(*counter) + sums.moved_in_gaps(*counter) > 0)
}

/// A verdict for each drive in each of its places, by serial number.
#[must_use]
pub fn judge(drives: Vec<ScannedDrive>, cadence: RowCadence) -> Vec<DriveFinding> {
    // Counters that stand above 0 have counted some time: the firmware implements them.
    let counting: BTreeSet<(String, String)> = drives
        .iter()
        .flat_map(|drive| &drive.parts)
        .filter(|part| part.sums.throttle_counter_max > 0)
        .map(|part| (part.labels.model().to_string(), part.labels.firmware().to_string()))
        .collect();
    let mut findings = Vec::with_capacity(drives.len());
    for drive in drives {
        for part in drive.parts {
            let (model, firmware) = kind(&part.labels);
            let counts = counting.contains(&(model.to_owned(), firmware.to_owned()));
            findings.push(DriveFinding {
                serial: drive.serial.clone(),
                verdict: verdict(&part.sums, counts),
                full_speed_lost_h: full_speed_lost_h(&part.sums, cadence),
                labels: part.labels,
                sums: part.sums,
                moves: part.moves,
            });
        }
    }
    findings
}

fn verdict(sums: &HealthSums, counts: bool) -> ThrottleVerdict {
    if moved(sums) {
        return ThrottleVerdict::Throttled;
    }
    if !C::THROTTLE.iter().any(|counter| sums.has(*counter)) {
        return ThrottleVerdict::NotKnown("no throttle counter in the rows");
    }
    if !counts {
        return ThrottleVerdict::NotKnown("no drive of this model and firmware has ever counted");
    }
    if sums.observed_ms == 0 && sums.gap_ms == 0 {
        return ThrottleVerdict::NotKnown("one row: a counter needs two");
    }
    ThrottleVerdict::NotThrottled
}

/// Busy time that a speed needs, in milliseconds: ten minutes, ten rows of a minute.
const BUSY_ENOUGH_MS: u64 = 600_000;

/// Time throttled while busy, times the share of the drive's own full speed that it lost.
fn full_speed_lost_h(sums: &HealthSums, cadence: RowCadence) -> Result<f64, &'static str> {
    if cadence == RowCadence::Day {
        return Err("rows are too far apart for a speed");
    }
    if !sums.has(C::BusyMs) || !(sums.has(C::ReadBytes) || sums.has(C::WrittenBytes)) {
        return Err("busy time and bytes are not in the rows");
    }
    if sums.moved(C::Tmt1Seconds) + sums.moved(C::Tmt2Seconds) == 0 {
        return Err("not throttled while rows came");
    }
    let ((slow_ms, slow_bytes), (free_ms, free_bytes)) = (sums.busy_throttled, sums.busy_free);
    if free_ms < BUSY_ENOUGH_MS || free_bytes == 0 {
        return Err("not busy for ten minutes without throttling: its full speed is not known");
    }
    if slow_ms < BUSY_ENOUGH_MS {
        return Err("not busy for ten minutes while throttled: what was asked of it is not known");
    }
    let full = free_bytes as f64 / free_ms as f64;
    let slow = slow_bytes as f64 / slow_ms as f64;
    Ok((slow_ms as f64 * (1.0 - slow / full)).max(0.0) / 3_600_000.0)
}
