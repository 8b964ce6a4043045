//! Means, seconds and quantiles of a series of speeds.

use crate::reduce;
use crate::view::MeanInterval;

/// A second that is covered by less than this is cut by a border, and is none.
const WHOLE_SECOND_S: f64 = 0.9;

/// Seconds from which on a standard error means something.
const LEAST_SECONDS: usize = 10;

/// Bins of a distribution: fine enough for two speeds a percent apart over a whole strip.
const BINS: usize = 60;

/// How the 1 s means of a load are distributed, in bytes per second.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SpeedDistribution {
    /// The slowest second.
    pub(crate) least: f64,
    /// The fastest second.
    pub(crate) most: f64,
    /// 5 %, 50 % and 95 %, nearest rank.
    pub(crate) quantiles: [f64; 3],
    /// Seconds in each of equal bins from the slowest to the fastest.
    pub(crate) bins: Vec<u32>,
}

impl SpeedDistribution {
    /// Of means that are sorted; `None` for fewer than say anything of a distribution.
    pub(super) fn new(sorted: &[f64]) -> Option<Self> {
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let has_speed = most > 0.0;
        if sorted.len() < LEAST_SECONDS || !has_speed {
            return None;
        }
        let mut bins = vec![0u32; BINS];
        let width = (most - least) / BINS as f64;
        for value in sorted {
            let bin = if width > 0.0 { ((value - least) / width) as usize } else { 0 };
            bins[bin.min(BINS - 1)] += 1;
        }
        Some(Self { least, most, quantiles: [0.05, 0.5, 0.95].map(|q| quantile_of_sorted(sorted, q)), bins })
    }
}

/// The slowest sample of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlowestSample {
    /// In bytes per second.
    pub(crate) bytes_per_s: f64,
    /// How long it is, in seconds: 1 or what the source has.
    pub(crate) span_s: f64,
}

impl SlowestSample {
    /// Of (middle, mean) in order of time; first and last may hold the rest of what was before or came after.
    pub(super) fn new(mut seconds: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (mut before, mut at) = (seconds.next()?, seconds.next()?);
        let inner = seconds.map(|after| {
            let span_s = (at.0 - before.0).min(after.0 - at.0);
            let sample = Self { bytes_per_s: at.1, span_s };
            (before, at) = (at, after);
            sample
        });
        inner.min_by(|a, b| a.bytes_per_s.total_cmp(&b.bytes_per_s))
    }
}

/// Time-weighted mean over all intervals.
pub(super) fn covered_mean(intervals: &[MeanInterval]) -> Option<f64> {
    reduce::mean(intervals.iter())
}

/// Time-weighted mean of the intervals whose middle lies within one of the stretches.
pub(super) fn mean_within(intervals: &[MeanInterval], stretches: &[(f64, f64)]) -> Option<f64> {
    let stretches = Stretches::new(stretches.iter().map(|(from_s, to_s)| (*from_s, *to_s, 0.0)).collect());
    reduce::mean(intervals.iter().filter(|i| stretches.at(i.start_s + i.span_s / 2.0).is_some()))
}

/// Whole seconds, or longer intervals as they are: (middle in seconds, mean). One after the other: a month has millions.
pub(super) fn seconds_of(intervals: &[MeanInterval]) -> impl Iterator<Item = (f64, f64)> {
    let buckets = reduce::means(intervals, 1.0).filter(|b| b.covered_s >= WHOLE_SECOND_S);
    buckets.map(|b| (b.middle_s, b.mean))
}

/// Standard error of a mean: the scatter of 1 s means about the level of the segment they lie in (start, end, level),
/// over the root of their number. A step from one level to another is behaviour and no noise.
pub(super) fn standard_error(
    seconds: impl Iterator<Item = (f64, f64)>,
    levels: &[(f64, f64, f64)],
) -> Option<f64> {
    let levels = Stretches::new(levels.to_vec());
    // The second in which a level ends belongs to neither.
    let off = |(t, value): (f64, f64)| {
        let (from_s, to_s, level) = levels.at(t)?;
        (t - from_s >= 1.0 && to_s - t >= 1.0).then_some(value - level)
    };
    let add = |(count, squares): (usize, f64), off: f64| (count + 1, squares + off * off);
    let (count, squares) = seconds.filter_map(off).fold((0, 0.0), add);
    if count < LEAST_SECONDS {
        return None;
    }
    let variance = squares / (count as f64 - 1.0);
    Some((variance / count as f64).sqrt()).filter(|error| error.is_finite())
}

/// Stretches (start, end, value) that are found by a moment without looking at all of them: a month of cycles has tens
/// of thousands.
struct Stretches(Vec<(f64, f64, f64)>);

impl Stretches {
    fn new(mut all: Vec<(f64, f64, f64)>) -> Self {
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self(all)
    }

    /// The last one that has begun by `t`, if it has not ended.
    fn at(&self, t: f64) -> Option<(f64, f64, f64)> {
        let begun = self.0.partition_point(|(from_s, ..)| *from_s <= t);
        let last = *self.0.get(begun.checked_sub(1)?)?;
        (t < last.1).then_some(last)
    }
}

/// The quantile `q` of values in rising order, of the nearest rank; NaN of none.
pub(super) fn quantile_of_sorted(sorted: &[f64], q: f64) -> f64 {
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod test {
    use super::*;

    fn second(start_s: f64, value: f64) -> MeanInterval {
        MeanInterval { start_s, span_s: 1.0, value }
    }

    /// Goal: a step is no noise, and scatter is. Method: two levels, with and without a known scatter.
    #[test]
    fn noise_is_the_scatter_about_the_levels() {
        let level = |t: usize| if t < 50 { 3000.0 } else { 2400.0 };
        let levels = [(0.0, 50.0, 3000.0), (50.0, 100.0, 2400.0)];
        let still: Vec<MeanInterval> = (0..100).map(|t| second(t as f64, level(t))).collect();
        assert_eq!(standard_error(seconds_of(&still), &levels), Some(0.0));
        let sign = |t: usize| if t.is_multiple_of(2) { 30.0 } else { -30.0 };
        let noisy: Vec<MeanInterval> = (0..100).map(|t| second(t as f64, level(t) + sign(t))).collect();
        let error = standard_error(seconds_of(&noisy), &levels).expect("enough seconds");
        assert!((error - 30.0 / 96f64.sqrt()).abs() < 0.05, "{error}");
        assert_eq!(standard_error(seconds_of(&noisy[..5]), &levels), None);
    }

    #[test]
    fn quantiles_are_of_the_nearest_rank() {
        let sorted: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!([0.05, 0.5, 0.95].map(|q| quantile_of_sorted(&sorted, q)), [5.0, 50.0, 95.0]);
        assert!(quantile_of_sorted(&[], 0.5).is_nan());
    }
}
