//! What a meter's readings say of the meter.

use measure::Series;
use serde::{Deserialize, Serialize};

/// What a meter's readings say of the meter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct MeterCharacter {
    /// Readings.
    pub readings: usize,
    /// Time between two, in seconds: the median.
    pub interval_s: Option<f64>,
    /// Its last digit, in watts: the coarsest step that all readings are multiples of.
    pub step_w: Option<f64>,
    /// Standard deviation of a reading, in watts, by the median difference between neighbours.
    pub noise_w: Option<f64>,
    /// Mean of all, in watts.
    pub mean_w: Option<f64>,
    /// Half of the 95 % interval of that mean, in watts: scatter and last digit; not the meter's own error.
    pub plus_minus_w: Option<f64>,
    /// Largest mean of a second, in watts.
    pub max_1s_w: Option<f64>,
}

/// Readings may come this much later than a second and still show each second.
pub(super) const SECOND_MOST_S: f64 = 1.5;

/// Differences below this are rounding of the numbers, not of the meter.
const STEP_LEAST_W: f64 = 1e-6;

/// What these readings say of their meter.
pub fn character(watts: &Series<f64>) -> MeterCharacter {
    let points: Vec<(f64, f64)> =
        watts.points().iter().map(|point| (point.t.as_secs_f64(), point.value)).collect();
    let values: Vec<f64> = points.iter().map(|point| point.1).collect();
    let interval_s = median(points.windows(2).map(|two| two[1].0 - two[0].0).filter(|dt| *dt > 0.0));
    let step_w = step(&values);
    let jumps = values.windows(2).map(|two| (two[1] - two[0]).abs());
    // Of two normal values the median difference is 0.954 standard deviations.
    let noise_w = median(jumps).map(|jump| jump / 0.954);
    let mean_w = mean(&values);
    MeterCharacter {
        readings: values.len(),
        interval_s,
        step_w,
        noise_w,
        plus_minus_w: mean_w.and_then(|_| plus_minus(&values, step_w.unwrap_or(0.0), 0.0, 0.0)),
        mean_w,
        max_1s_w: interval_s.and_then(|interval_s| max_1s(&points, interval_s)),
    }
}

/// Largest mean of a second; `None` of a meter that gives fewer readings.
pub(super) fn max_1s(points: &[(f64, f64)], interval_s: f64) -> Option<f64> {
    if interval_s > SECOND_MOST_S {
        return None;
    }
    // The last bit: ten readings at 10 Hz are a second, not eleven.
    let within = |from: f64, to: f64| to - from < 1.0 - interval_s / 2.0 || interval_s >= 1.0 && to == from;
    let (mut begin, mut sum, mut most) = (0, 0.0, None);
    for (index, (t, watts)) in points.iter().enumerate() {
        sum += watts;
        while begin < index && !within(points[begin].0, *t) {
            sum -= points[begin].1;
            begin += 1;
        }
        let whole = interval_s > 0.5 || *t - points[0].0 >= 1.0 - 1.5 * interval_s;
        if whole {
            let mean = sum / (index + 1 - begin) as f64;
            most = Some(most.map_or(mean, |most: f64| most.max(mean)));
        }
    }
    most
}

/// Half of the 95 % interval of a mean of readings: their scatter, the last digit, the meter's own error as a share of
/// the mean, and the standard error of a baseline that was taken off. `None` below two readings.
pub(super) fn plus_minus(values: &[f64], step_w: f64, accuracy: f64, baseline_se_w: f64) -> Option<f64> {
    let mean = mean(values)?;
    let count = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let effective = effective_count(values, mean, variance);
    let scatter_w = (variance / effective).sqrt() * student(effective - 1.0);
    // Digits and errors of the meter are anywhere within their limits: uniform, a third of the square of the half width.
    let systematic = step_w.powi(2) / 12.0 + (accuracy * mean).powi(2) / 3.0 + baseline_se_w.powi(2);
    Some(scatter_w.hypot(1.96 * systematic.sqrt()))
}

/// Readings that resemble their neighbours are fewer witnesses: n (1 - r) / (1 + r) for a first-order process.
fn effective_count(values: &[f64], mean: f64, variance: f64) -> f64 {
    let count = values.len() as f64;
    if variance <= 0.0 {
        return count;
    }
    let product = values.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum::<f64>();
    let along = (product / ((count - 1.0) * variance)).clamp(0.0, 0.95);
    (count * (1.0 - along) / (1.0 + along)).max(2.0)
}

/// The 97.5 % quantile of Student's t: within 2 % from two degrees of freedom on (table of any textbook).
fn student(freedom: f64) -> f64 {
    let f = freedom.max(1.0);
    1.96 + 2.37 / f + 2.82 / f.powi(2) + 5.55 / f.powi(4)
}

/// The coarsest decimal step that all readings are multiples of; `None` where they are all the same.
fn step(values: &[f64]) -> Option<f64> {
    let first = values.first()?;
    if values.iter().all(|value| (value - first).abs() < STEP_LEAST_W) {
        return None;
    }
    let is_multiple = |step: &f64| {
        values.iter().all(|value| (value / step - (value / step).round()).abs() * step < STEP_LEAST_W / 2.0)
    };
    // Whole, half and fifth parts, as last digits are.
    let steps = (0..=5).flat_map(|digits| [1.0, 0.5, 0.2].map(|part| part / 10_f64.powi(digits)));
    steps.into_iter().find(is_multiple)
}

pub(super) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    quantile(values, 0.5)
}

/// Nearest rank.
pub(super) fn quantile(values: impl Iterator<Item = f64>, share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}
