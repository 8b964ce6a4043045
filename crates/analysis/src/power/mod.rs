//! Power: what the drive draws in each phase, what a byte costs, and how well that is known.
//!
//! One definition of every figure, for findings, report and compare alike; docs/METHODS.md has them under "Power".
//! - `meter`: what a meter's readings say of the meter: interval, last digit, noise, lag.
//! - `align`: how late a meter is, by its correlation with the load.
//! - `rows`: a row for each phase and meter, with its interval.
//! - [`budget`]: what form factors allow, and which of them the drive keeps.
//! - [`states`]: power states of one drive side by side: which are alike, what each saves and costs.
//!
//! # What it does not do
//! It corrects nothing but what is stated: an adapter's efficiency is not known, so "includes the converter" stays true.

mod align;
pub mod budget;
pub mod meter;
mod rows;
pub mod states;
#[cfg(test)]
mod test;

use serde::{Deserialize, Serialize};
use trace::{MeterSeries, SegmentOp, Trace};

use budget::BudgetVerdict;

/// The power block of the findings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PowerFindings {
    /// A row for each phase, start-up first where it was seen; those of the first meter come first.
    pub rows: Vec<PowerRow>,
    /// What is taken off every reading, in watts; `None` where nobody stated or measured it.
    pub baseline_w: Option<f64>,
    /// Half of its 95 % interval, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_plus_minus_w: Option<f64>,
    /// The meters, the one that figures are of first.
    #[serde(default)]
    pub meters: Vec<PowerMeterFound>,
    /// What form factors allow, from the least on, by the first meter.
    #[serde(default)]
    pub budgets: Vec<BudgetVerdict>,
    /// Why figures are missing or deserve care.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<PowerNote>,
}

/// What one meter showed in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PowerRow {
    /// The phase's name; `start` for the time from power-on until the drive is ready.
    pub phase: String,
    /// What the phase did.
    pub op: SegmentOp,
    /// NVMe power state in force; `None` where the source does not say.
    pub power_state: Option<u8>,
    /// The meter: its address, or `drive`.
    pub meter: String,
    /// Start of the phase, in seconds.
    pub start_s: f64,
    /// End of the phase, in seconds.
    pub end_s: f64,
    /// Mean as the meter shows it, in watts.
    pub mean_w: Option<f64>,
    /// 95 % of the readings lie at or below it.
    pub p95_w: Option<f64>,
    /// Largest mean of one second; `None` of a meter that is slower.
    pub max_1s_w: Option<f64>,
    /// Mean less the baseline.
    pub net_w: Option<f64>,
    /// Lower end of the 95 % interval of `net_w`; `None` below two readings.
    pub low_w: Option<f64>,
    /// Its upper end.
    pub high_w: Option<f64>,
    /// Energy over the phase, baseline taken off, in joules.
    pub energy_j: Option<f64>,
    /// Speed over the same time.
    pub bytes_per_s: Option<f64>,
    /// Speed in 10^6 B/s for each net watt.
    pub mb_per_s_per_w: Option<f64>,
    /// I/Os a second for each net watt; `None` where the source does not count them.
    pub iops_per_w: Option<f64>,
    /// Net joules for each 10^9 B.
    pub j_per_gb: Option<f64>,
    /// The same of what is above idle.
    #[serde(default)]
    pub j_per_gb_above_idle: Option<f64>,
    /// Readings that lie wholly within the phase.
    pub readings: usize,
    /// Share of the phase that readings cover.
    pub covered: f64,
}

/// Properties of a meter, as learnt from its readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PowerMeterFound {
    /// Its address, or `drive`.
    pub meter: String,
    /// Where it measures; `None` where nobody stated it.
    pub at: Option<String>,
    /// Time between readings in seconds: the median.
    pub interval_s: Option<f64>,
    /// Its last digit, in watts, as stated or learnt.
    pub step_w: Option<f64>,
    /// How late it is, in seconds, as stated or by its correlation with the load; `None` where neither tells.
    pub lag_s: Option<f64>,
    /// Half of the 95 % interval of a lag that was estimated.
    pub lag_plus_minus_s: Option<f64>,
    /// Readings.
    pub readings: usize,
    /// Times at which readings failed or were no power.
    pub gaps: usize,
}

/// Why a figure of power is missing or deserves care.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PowerNote {
    /// A meter gave no reading at all.
    NoReadings {
        /// The meter.
        meter: String,
        /// Why the first one failed.
        why: Option<String>,
    },
    /// Phases are too short for the meter.
    TooFewReadings {
        /// The meter.
        meter: String,
        /// The phase with the fewest.
        phase: String,
        /// How many.
        readings: usize,
    },
    /// Under load it shows less than any drive draws: it counts in another unit, or is not on this drive.
    UnitDoubtful {
        /// The meter.
        meter: String,
        /// What it shows under load, in watts.
        watts: f64,
    },
    /// No step of the load shows how late it is.
    LagUnknown {
        /// The meter.
        meter: String,
    },
    /// Readings are missing in a phase.
    Uncovered {
        /// The meter.
        meter: String,
        /// The phase.
        phase: String,
        /// Share of it that readings cover.
        covered: f64,
    },
}

/// Under load no drive draws less: flash needs 20 to 60 mW a die while it is read (datasheets: 15 to 25 mA at 2.5 V),
/// and a controller beside it more.
const UNDER_LOAD_MIN_W: f64 = 0.05;

/// Everything about power in a run; `None` where nothing measured it.
pub(crate) fn power(trace: &Trace) -> Option<PowerFindings> {
    let of_log = || MeterSeries {
        name: "power".to_owned(),
        at: None,
        window_s: None,
        // Columns of one log are on one clock.
        lag_s: Some(0.0),
        step_w: None,
        accuracy: None,
        watts: trace.power_w.clone(),
    };
    let meters = if trace.meters.is_empty() { vec![of_log()] } else { trace.meters.clone() };
    if meters.iter().all(|meter| meter.watts.points().is_empty() && meter.watts.gaps().is_empty()) {
        return None;
    }
    let baseline = trace.facts.power_baseline_w;
    let mut found = PowerFindings {
        baseline_w: baseline.map(|(watts, _)| watts),
        baseline_plus_minus_w: baseline.map(|(_, plus_minus)| plus_minus),
        ..PowerFindings::default()
    };
    for meter in &meters {
        add_meter(&mut found, trace, meter);
    }
    if let Some(first) = found.meters.first().map(|meter| meter.meter.clone()) {
        found.budgets = budget::verdicts(&found, &first);
    }
    Some(found)
}

fn add_meter(found: &mut PowerFindings, trace: &Trace, meter: &MeterSeries) {
    let name = || meter.name.clone();
    let character = meter::character(&meter.watts);
    let lag = match meter.lag_s {
        Some(lag_s) => Some(align::MeterLag { lag_s, plus_minus_s: None }),
        None => align::lag(trace, meter, &character),
    };
    if character.readings == 0 {
        let why = meter.watts.gaps().first().map(|gap| gap.reason.clone());
        found.notes.push(PowerNote::NoReadings { meter: name(), why });
    } else if lag.is_none() {
        found.notes.push(PowerNote::LagUnknown { meter: name() });
    }
    let rows = rows::rows(trace, meter, &character, lag.as_ref().map_or(0.0, |lag| lag.lag_s));
    let under_load = rows
        .iter()
        .filter(|row| row.bytes_per_s.is_some_and(|speed| speed > 1e7))
        .filter_map(|row| row.mean_w);
    if let Some(watts) = under_load.reduce(f64::max).filter(|watts| *watts < UNDER_LOAD_MIN_W) {
        found.notes.push(PowerNote::UnitDoubtful { meter: name(), watts });
    }
    let few = rows.iter().filter(|row| row.phase != rows::START && row.readings < rows::READINGS_MIN);
    if let Some(row) = few.filter(|_| character.readings > 0).min_by_key(|row| row.readings) {
        found.notes.push(PowerNote::TooFewReadings {
            meter: name(),
            phase: row.phase.clone(),
            readings: row.readings,
        });
    }
    if let Some(row) =
        rows.iter().find(|row| row.readings >= rows::READINGS_MIN && row.covered < rows::COVERED_MIN)
    {
        found.notes.push(PowerNote::Uncovered {
            meter: name(),
            phase: row.phase.clone(),
            covered: row.covered,
        });
    }
    found.rows.extend(rows);
    found.meters.push(PowerMeterFound {
        meter: name(),
        at: meter.at.clone(),
        interval_s: character.interval_s,
        step_w: meter.step_w.or(character.step_w),
        lag_s: lag.as_ref().map(|lag| lag.lag_s),
        lag_plus_minus_s: lag.and_then(|lag| lag.plus_minus_s),
        readings: character.readings,
        gaps: meter.watts.gaps().len(),
    });
}

impl PowerFindings {
    /// The rows of the meter that figures are of.
    pub fn primary(&self) -> impl Iterator<Item = &PowerRow> {
        let first = self.meters.first().map(|meter| meter.meter.as_str());
        self.rows.iter().filter(move |row| Some(row.meter.as_str()) == first)
    }
}
