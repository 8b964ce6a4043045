//! Long series as few points as a page can carry, without hiding the extremes.
//!
//! Two reductions: [`means`] (time-weighted, for lines and tables) and [`envelope`] (lowest and highest of
//! each bucket, for raw intervals: a stall of one interval stays visible however long the run was).
//! A gap stays a gap: `None` breaks the line, it is never a zero.

use std::borrow::Cow;

use crate::view::{MeanInterval, plausible};

/// A point of a line: (seconds, value); `None` breaks the line.
pub(crate) type ChartPoint = (f64, Option<f64>);

/// Points a line in a page has at most; twice what a wide screen can tell apart.
pub(crate) const CHART_POINTS: usize = 4000;
/// Rows a table in a page has at most: about what a person scrolls through, and small enough for a day's run.
pub(crate) const TABLE_ROWS: usize = 1000;

/// Lengths of a bucket that a reader can name, in seconds.
const BUCKETS_S: [f64; 14] =
    [1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0];

/// The shortest bucket, from one second on, that cuts `span_s` into at most `limit` pieces.
pub(crate) fn bucket_s(span_s: f64, limit: usize) -> f64 {
    let least = span_s / limit as f64;
    if !least.is_finite() {
        return 1.0;
    }
    BUCKETS_S.into_iter().find(|bucket| *bucket >= least).unwrap_or_else(|| (least / 3600.0).ceil() * 3600.0)
}

/// Mean, lowest and highest of a bucket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bucket {
    /// Start in seconds.
    pub(crate) start_s: f64,
    /// Middle of what its intervals cover, in seconds: not that of the bucket where it is the run's last.
    pub(crate) middle_s: f64,
    /// Time that the intervals cover, in seconds.
    pub(crate) covered_s: f64,
    /// Mean over the covered time.
    pub(crate) mean: f64,
    /// Lowest interval.
    pub(crate) min: f64,
    /// Highest interval.
    pub(crate) max: f64,
}

impl Bucket {
    /// The bucket of its first interval.
    fn of(interval: MeanInterval, start_s: f64) -> Self {
        let MeanInterval { span_s, value, .. } = interval;
        let middle_s = (interval.start_s + (interval.start_s + span_s)) / 2.0;
        Self { start_s, middle_s, covered_s: span_s, mean: value, min: value, max: value }
    }

    fn add(&mut self, interval: MeanInterval, first_s: f64) {
        let covered = self.covered_s + interval.span_s;
        // As a running mean, which cannot overflow where a sum could.
        self.mean += (interval.value - self.mean) * (interval.span_s / covered);
        self.covered_s = covered;
        self.min = self.min.min(interval.value);
        self.max = self.max.max(interval.value);
        self.middle_s = (first_s + (interval.start_s + interval.span_s)) / 2.0;
    }
}

/// Buckets that hold something, in order of time. An interval belongs to the bucket of its middle.
///
/// One after the other: a month has millions.
pub(crate) fn means(intervals: &[MeanInterval], bucket_s: f64) -> impl Iterator<Item = Bucket> {
    let sorted = sorted(intervals);
    let begins_s = move |interval: &MeanInterval| {
        ((interval.start_s + interval.span_s / 2.0) / bucket_s).floor() * bucket_s
    };
    let mut next = 0;
    std::iter::from_fn(move || {
        let first = *sorted.get(next)?;
        let mut bucket = Bucket::of(first, begins_s(&first));
        next += 1;
        while let Some(interval) = sorted.get(next).filter(|interval| begins_s(interval) <= bucket.start_s) {
            bucket.add(*interval, first.start_s);
            next += 1;
        }
        Some(bucket)
    })
}

/// Time-weighted mean of all; `None` of none.
pub(crate) fn mean<'a>(intervals: impl Iterator<Item = &'a MeanInterval>) -> Option<f64> {
    let mut usable = intervals.copied().filter(is_usable);
    let first = usable.next()?;
    let mut all = Bucket::of(first, first.start_s);
    usable.for_each(|interval| all.add(interval, first.start_s));
    Some(all.mean)
}

/// Buckets of several operations together: (start in seconds, covered time in seconds, mean of all data moved).
/// Callers leave out trims, which move no data, see [`crate::view::ReportInput::data`].
///
/// Operations that ran at once add up; those that took turns do not.
pub(crate) fn totals<'a>(
    series: impl Iterator<Item = &'a [MeanInterval]>,
    bucket_s: f64,
) -> Vec<(f64, f64, f64)> {
    let mut all: Vec<Bucket> = series.flat_map(|intervals| means(intervals, bucket_s)).collect();
    all.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let total = |same: &[Bucket]| {
        let covered_s = same.iter().map(|bucket| bucket.covered_s).fold(0.0, f64::max);
        // Each one's share of the time first: that cannot overflow.
        let rate = same.iter().map(|bucket| bucket.mean * (bucket.covered_s / covered_s)).sum();
        (same[0].start_s, covered_s, rate)
    };
    all.chunk_by(|a, b| a.start_s == b.start_s).map(total).collect()
}

/// A bucket that is covered by less than this share of it is the rest of an interval at the end of a load: one I/O
/// would be its whole speed. It is left out of the line of means; the intervals themselves are shown.
pub(crate) const LEAST_COVERED: f64 = 0.1;

/// The bucket means as a line that breaks where a bucket is missing.
pub(crate) fn mean_line(intervals: &[MeanInterval], bucket_s: f64) -> Vec<ChartPoint> {
    let mut line: Vec<ChartPoint> = Vec::new();
    let mut next_s = f64::NEG_INFINITY;
    let mut buckets = means(intervals, bucket_s).peekable();
    let first = buckets.next();
    let is_alone = buckets.peek().is_none();
    let shown = |b: &Bucket| is_alone || b.covered_s >= LEAST_COVERED * bucket_s;
    for bucket in first.into_iter().chain(buckets).filter(shown) {
        if !line.is_empty() && bucket.start_s > next_s + bucket_s * 0.5 {
            line.push((next_s, None));
        }
        line.push((bucket.middle_s, Some(bucket.mean)));
        next_s = bucket.start_s + bucket_s;
    }
    line
}

/// Every interval as a point at its middle, at most `limit` of them; the line breaks where time is not covered. Says as well
/// whether points were left out.
pub(crate) fn raw_line(intervals: &[MeanInterval], limit: usize) -> (Vec<ChartPoint>, bool) {
    let sorted = sorted(intervals);
    shortened(|| raw_points(&sorted), limit)
}

fn raw_points(sorted: &[MeanInterval]) -> impl Iterator<Item = ChartPoint> {
    let mut end_s = f64::INFINITY;
    sorted.iter().flat_map(move |interval| {
        // Half an interval of slack: stamps of a real clock do not meet to the nanosecond.
        let broken = interval.start_s > end_s + interval.span_s / 2.0;
        let gap = broken.then_some((end_s, None));
        end_s = interval.start_s + interval.span_s;
        gap.into_iter().chain([(interval.start_s + interval.span_s / 2.0, Some(interval.value))])
    })
}

/// At most `limit` points: of each bucket its lowest and its highest, in the order they came.
pub(crate) fn envelope(points: &[ChartPoint], limit: usize) -> Vec<ChartPoint> {
    shortened(|| points.iter().copied(), limit).0
}

/// The same of points that are made anew each time they are asked for, and whether any was left out: a month has millions.
fn shortened<I: Iterator<Item = ChartPoint>>(
    points: impl Fn() -> I,
    limit: usize,
) -> (Vec<ChartPoint>, bool) {
    let usable = || points().filter(|(t, v)| plausible(*t) && v.is_none_or(plausible));
    let count = usable().count();
    if count <= limit {
        return (usable().collect(), false);
    }
    // Two points a bucket, and one more where a gap falls into it.
    let per_bucket = count.div_ceil((limit / 3).max(1));
    let (mut rest, mut kept) = (usable(), Vec::new());
    loop {
        let bucket: Vec<ChartPoint> = rest.by_ref().take(per_bucket).collect();
        if bucket.is_empty() {
            return (kept, true);
        }
        kept.extend(extremes(&bucket));
    }
}

fn extremes(bucket: &[ChartPoint]) -> Vec<ChartPoint> {
    let value = |point: &ChartPoint| point.1.unwrap_or(f64::NAN);
    let filled = || bucket.iter().enumerate().filter(|(_, point)| point.1.is_some());
    let lowest = filled().min_by(|a, b| value(a.1).total_cmp(&value(b.1))).map(|(index, _)| index);
    let highest = filled().max_by(|a, b| value(a.1).total_cmp(&value(b.1))).map(|(index, _)| index);
    let gap = bucket.iter().position(|point| point.1.is_none());
    let mut kept: Vec<usize> = [lowest, highest, gap].into_iter().flatten().collect();
    kept.sort_unstable();
    kept.dedup();
    kept.into_iter().map(|index| bucket[index]).collect()
}

/// Readings as a line of at most `limit` points. Whole seconds apart, they are mostly taken as they are.
pub(crate) fn readings_line(points: &[ChartPoint], limit: usize) -> Vec<ChartPoint> {
    if points.is_sorted_by(|a, b| a.0.total_cmp(&b.0).is_le()) {
        return envelope(points, limit);
    }
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    envelope(&points, limit)
}

/// Mean of the readings in each bucket: (start of the bucket in seconds, mean).
pub(crate) fn reading_means(points: &[ChartPoint], bucket_s: f64) -> Vec<(f64, f64)> {
    let as_interval =
        |&(t, value): &ChartPoint| Some(MeanInterval { start_s: t, span_s: 1e-9, value: value? });
    let intervals: Vec<MeanInterval> = points.iter().filter_map(as_interval).collect();
    means(&intervals, bucket_s).map(|bucket| (bucket.start_s, bucket.mean)).collect()
}

/// Those that can be shown, in order of time: as they are where they all are so.
fn sorted(intervals: &[MeanInterval]) -> Cow<'_, [MeanInterval]> {
    if intervals.iter().all(is_usable) && intervals.is_sorted_by(|a, b| a.start_s <= b.start_s) {
        return Cow::Borrowed(intervals);
    }
    let mut usable: Vec<MeanInterval> = intervals.iter().filter(|i| is_usable(i)).copied().collect();
    usable.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    Cow::Owned(usable)
}

fn is_usable(interval: &MeanInterval) -> bool {
    plausible(interval.start_s)
        && plausible(interval.span_s)
        && interval.span_s > 0.0
        && plausible(interval.value)
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn interval(start_s: f64, span_s: f64, value: f64) -> MeanInterval {
        MeanInterval { start_s, span_s, value }
    }

    #[test]
    fn a_mean_is_weighted_by_time_and_a_hole_breaks_the_line() {
        let intervals = [interval(0.0, 0.75, 100.0), interval(0.75, 0.25, 200.0), interval(3.0, 1.0, 50.0)];
        let buckets: Vec<Bucket> = means(&intervals, 1.0).collect();
        assert_eq!(buckets.len(), 2);
        let first =
            Bucket { start_s: 0.0, middle_s: 0.5, covered_s: 1.0, mean: 125.0, min: 100.0, max: 200.0 };
        assert_eq!(buckets[0], first);
        assert_eq!(mean_line(&intervals, 1.0), [(0.5, Some(125.0)), (1.0, None), (3.5, Some(50.0))]);
        assert_eq!(
            raw_line(&intervals, 4).0,
            [(0.375, Some(100.0)), (0.875, Some(200.0)), (1.0, None), (3.5, Some(50.0))]
        );
    }

    /// Goal: no line goes on after the run. Method: a run of 1.5 s, and one that ends 3 ms into a second.
    #[test]
    fn a_last_bucket_lies_where_its_intervals_do_and_a_rest_is_no_mean() {
        let cut = [interval(0.0, 1.0, 100.0), interval(1.0, 0.5, 90.0)];
        assert_eq!(mean_line(&cut, 1.0), [(0.5, Some(100.0)), (1.25, Some(90.0))]);
        let rest = [interval(0.0, 1.0, 100.0), interval(1.0, 0.003, 300.0)];
        assert_eq!(mean_line(&rest, 1.0), [(0.5, Some(100.0))]);
        assert_eq!(mean_line(&rest[1..], 1.0), [(1.0015, Some(300.0))]);
    }

    #[test]
    fn buckets_have_lengths_that_a_reader_can_name() {
        assert_eq!(bucket_s(600.0, TABLE_ROWS), 1.0);
        assert_eq!(bucket_s(3600.0, TABLE_ROWS), 5.0);
        assert_eq!(bucket_s(86_400.0, TABLE_ROWS), 120.0);
        assert_eq!(bucket_s(f64::INFINITY, 10), 1.0);
    }

    proptest! {
        /// However long the series, the page stays small and no extreme gets lost.
        #[test]
        fn an_envelope_is_short_and_keeps_the_extremes(
            values in prop::collection::vec(prop::option::weighted(0.95, -1e6f64..1e6), 1..3000), limit in 3usize..200,
        ) {
            let points: Vec<ChartPoint> = values.iter().enumerate().map(|(i, v)| (i as f64, *v)).collect();
            let short = envelope(&points, limit);
            prop_assert!(short.len() <= limit.max(3), "{} points of {limit}", short.len());
            prop_assert!(short.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let highest = |p: &[ChartPoint]| p.iter().filter_map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
            let lowest = |p: &[ChartPoint]| p.iter().filter_map(|p| p.1).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(highest(&short), highest(&points));
            prop_assert_eq!(lowest(&short), lowest(&points));
        }
    }
}
