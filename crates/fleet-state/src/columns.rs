//! The table of drives, as names and what stands under them: whoever has an Arrow makes arrays of it.

use crate::row::HealthCounter as C;
use crate::verdict::{DriveFinding, ThrottleVerdict};

/// What stands in a column.
#[derive(Clone, Copy, Debug)]
pub enum DriveValues {
    /// Text, or none.
    Text(fn(&DriveFinding) -> Option<&str>),
    /// A count.
    Count(fn(&DriveFinding) -> u64),
    /// A number, or none.
    Number(fn(&DriveFinding) -> Option<f64>),
    /// Milliseconds since 1970, or none.
    Time(fn(&DriveFinding) -> Option<i64>),
}

use DriveValues::{Count, Number, Text, Time};

/// The columns of `drives.parquet`, in their order.
pub const DRIVE_COLUMNS: [(&str, DriveValues); 30] = [
    ("serial", Text(|row| Some(&row.serial))),
    ("model", Text(|row| Some(row.labels.model()))),
    ("firmware", Text(|row| Some(row.labels.firmware()))),
    ("host", Text(|row| Some(row.labels.host()))),
    ("slot", Text(|row| Some(row.labels.slot()))),
    ("verdict", Text(|row| Some(row.verdict.name()))),
    (
        "verdict_reason",
        Text(|row| match row.verdict {
            ThrottleVerdict::NotKnown(reason) => Some(reason),
            _ => None,
        }),
    ),
    ("throttled_h", Number(DriveFinding::throttled_h)),
    ("throttled_in_gaps_h", Number(DriveFinding::throttled_in_gaps_h)),
    ("tmt1_s", Count(|row| row.sums.moved(C::Tmt1Seconds))),
    ("tmt1_n", Count(|row| row.sums.moved(C::Tmt1Transitions))),
    ("tmt2_s", Count(|row| row.sums.moved(C::Tmt2Seconds))),
    ("tmt2_n", Count(|row| row.sums.moved(C::Tmt2Transitions))),
    ("throttled_first_ms", Time(|row| row.sums.throttled_first_ms)),
    ("throttled_last_ms", Time(|row| row.sums.throttled_last_ms)),
    ("full_speed_lost_h", Number(|row| row.full_speed_lost_h.ok())),
    ("full_speed_lost_reason", Text(|row| row.full_speed_lost_h.err())),
    ("warn_min", Count(|row| row.sums.moved(C::WarningMinutes))),
    ("crit_min", Count(|row| row.sums.moved(C::CriticalMinutes))),
    ("temp_mean_c", Number(DriveFinding::temp_mean_c)),
    (
        "temp_highest_reading_c",
        Number(|row| (row.sums.temp_rows > 0).then(|| row.sums.temp_max_mc as f64 / 1000.0)),
    ),
    ("observed_h", Number(|row| Some(row.observed_h()))),
    ("gap_h", Number(|row| Some(row.sums.gap_ms as f64 / 3_600_000.0))),
    ("gaps", Count(|row| row.sums.gaps)),
    ("rows", Count(|row| row.sums.rows)),
    ("duplicates", Count(|row| row.sums.duplicates)),
    ("conflicts", Count(|row| row.sums.conflicts)),
    ("resets", Count(|row| row.sums.resets)),
    ("implausible", Count(|row| row.sums.implausible)),
    ("moves", Count(|row| row.moves)),
];
