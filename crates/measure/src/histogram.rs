//! Latencies in log-linear buckets with a stated error bound.
//!
//! Values below 64 ns have a bucket each; above, every octave is cut into 64 equal buckets, as in
//! fio's `stat.h`. A bucket is reported by its middle, so a value is off by at most
//! half a bucket width over the bucket's start: 1/128, or 0.8 %.
//! Bucket numbers are part of the record's format: see [`Histogram::bucket_middle_ns`].

use std::time::Duration;

/// Buckets an octave, as a power of two.
const SUB_BITS: u32 = 6;
/// Values from 2^42 ns (73 minutes) on share the last bucket; no I/O is waited for that long.
const OCTAVES: u32 = 42 - SUB_BITS;
const BUCKETS: usize = ((OCTAVES + 1) << SUB_BITS) as usize;

/// Counts of latencies by bucket, with exact smallest, largest and mean.
///
/// Room is kept only for the octaves that were seen, so that a day of intervals fits in memory; recording
/// allocates only when a value falls outside of them.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Number of the first bucket in `counts`, a multiple of an octave.
    first: usize,
    counts: Vec<u32>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl PartialEq for Histogram {
    /// Equal when the same values were counted, whatever room is kept.
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum_ns, self.min_ns, self.max_ns)
            == (other.count, other.sum_ns, other.min_ns, other.max_ns)
            && self.filled().eq(other.filled())
    }
}

impl Eq for Histogram {}

impl Histogram {
    /// A histogram without values; it holds no memory yet.
    #[expect(clippy::new_without_default, reason = "an empty histogram is made on purpose")]
    pub const fn new() -> Self {
        Self { first: 0, counts: Vec::new(), count: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one latency of `ns` nanoseconds.
    #[inline]
    pub fn record_ns(&mut self, ns: u64) {
        self.add(bucket(ns), 1);
        self.count += 1;
        self.sum_ns += ns;
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (index, count) in other.filled() {
            self.add(usize::from(index), count);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets all values and keeps the room.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }

    #[inline]
    fn add(&mut self, index: usize, count: u32) {
        if let Some(slot) = self.counts.get_mut(index.wrapping_sub(self.first)) {
            *slot = slot.saturating_add(count);
        } else {
            self.cover(index);
            self.counts[index - self.first] = count;
        }
    }

    /// Makes room for the octave of bucket `index`.
    #[cold]
    fn cover(&mut self, index: usize) {
        const OCTAVE: usize = 1 << SUB_BITS;
        let octave_start = index / OCTAVE * OCTAVE;
        if self.counts.is_empty() {
            self.first = octave_start;
        }
        if octave_start < self.first {
            self.counts.splice(0..0, std::iter::repeat_n(0, self.first - octave_start));
            self.first = octave_start;
        }
        let end = octave_start + OCTAVE - self.first;
        if end > self.counts.len() {
            self.counts.resize(end, 0);
        }
    }

    /// How many values were counted.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean; `None` without values.
    pub fn mean(&self) -> Option<Duration> {
        self.sum_ns.checked_div(self.count).map(Duration::from_nanos)
    }

    /// The exact smallest value; `None` without values.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.min_ns))
    }

    /// The exact largest value; `None` without values.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.max_ns))
    }

    /// The value below or at which a `fraction` (0 to 1) of all values lie, to 1/128; `None` without values.
    pub fn quantile(&self, fraction: f64) -> Option<Duration> {
        if self.count == 0 {
            return None;
        }
        let rank = ((fraction * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (index, count) in self.filled() {
            seen += u64::from(count);
            if seen >= rank {
                let middle = Self::bucket_middle_ns(usize::from(index)).clamp(self.min_ns, self.max_ns);
                return Some(Duration::from_nanos(middle));
            }
        }
        self.max()
    }

    /// The filled buckets as (number, count), in rising order.
    pub fn filled(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(index, count)| (u16::try_from(self.first + index).unwrap_or(u16::MAX), *count))
    }

    /// A histogram from recorded buckets and its exact edges; unknown bucket numbers are refused.
    pub fn from_parts(
        filled: impl IntoIterator<Item = (u16, u32)>,
        sum_ns: u64,
        min_ns: u64,
        max_ns: u64,
    ) -> Option<Self> {
        let mut histogram = Self::new();
        for (index, count) in filled {
            if usize::from(index) >= BUCKETS {
                return None;
            }
            histogram.add(usize::from(index), count);
            histogram.count += u64::from(count);
        }
        if histogram.count > 0 {
            (histogram.sum_ns, histogram.min_ns, histogram.max_ns) = (sum_ns, min_ns, max_ns);
        }
        Some(histogram)
    }

    /// The same latencies `factor` times as long, each to 1/128 of what it was recorded as.
    #[must_use]
    pub fn stretched(&self, factor: u32) -> Self {
        if factor == 1 || self.count == 0 {
            return self.clone();
        }
        let longer = |ns: u64| ns.saturating_mul(factor.into());
        let mut stretched = Self::new();
        for (index, count) in self.filled() {
            stretched.add(bucket(longer(Self::bucket_middle_ns(index.into()))), count);
        }
        stretched.count = self.count;
        stretched.sum_ns = longer(self.sum_ns);
        (stretched.min_ns, stretched.max_ns) = (longer(self.min_ns), longer(self.max_ns));
        stretched
    }

    /// Sum of all values in nanoseconds.
    pub const fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The middle of bucket `index` in nanoseconds: the value its members are reported as.
    pub const fn bucket_middle_ns(index: usize) -> u64 {
        let (octave, sub) = (index >> SUB_BITS, (index & ((1 << SUB_BITS) - 1)) as u64);
        if octave == 0 {
            return sub;
        }
        let width = 1u64 << (octave - 1);
        ((1 << SUB_BITS) + sub) * width + width / 2
    }
}

#[inline]
fn bucket(ns: u64) -> usize {
    let clamped = ns.min((1 << (OCTAVES + SUB_BITS)) - 1);
    let magnitude = 63 - (clamped | ((1 << SUB_BITS) - 1)).leading_zeros();
    let shift = magnitude.saturating_sub(SUB_BITS - 1).saturating_sub(1);
    let octave = u32::from(clamped >= (1 << SUB_BITS)) * (magnitude + 1 - SUB_BITS);
    let sub = (clamped >> shift) as usize & ((1 << SUB_BITS) - 1);
    ((octave as usize) << SUB_BITS) | sub
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_of_known_values() {
        let mut histogram = Histogram::new();
        assert_eq!(histogram.quantile(0.5), None);
        for us in 1..=1000 {
            histogram.record_ns(us * 1000);
        }
        let p99 = histogram.quantile(0.99).expect("values").as_nanos() as f64;
        assert!((p99 / 990_000.0 - 1.0).abs() <= 1.0 / 128.0, "{p99}");
        assert_eq!(histogram.mean(), Some(Duration::from_nanos(500_500)));
        assert_eq!(histogram.max(), Some(Duration::from_millis(1)));
        histogram.clear();
        assert_eq!(histogram, Histogram::new());
    }

    proptest! {
        /// The law the module header states.
        #[test]
        fn a_value_is_reported_within_one_in_128(ns in 0u64..(1 << 42)) {
            let middle = Histogram::bucket_middle_ns(bucket(ns));
            prop_assert!(middle.abs_diff(ns) as f64 <= ns as f64 / 128.0, "{ns} as {middle}");
        }

        #[test]
        fn stretched_latencies_are_so_many_times_as_long(values in prop::collection::vec(1u64..1 << 30, 1..50), factor in 1u32..1000) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|ns| histogram.record_ns(*ns));
            let stretched = histogram.stretched(factor);
            prop_assert_eq!(stretched.count(), histogram.count());
            prop_assert_eq!(stretched.mean().map(|mean| mean.as_nanos()), Some(u128::from(values.iter().sum::<u64>() * u64::from(factor) / values.len() as u64)));
            for fraction in [0.0, 0.5, 0.99, 1.0] {
                let of = |histogram: &Histogram| histogram.quantile(fraction).expect("values").as_nanos() as f64;
                let ratio = of(&stretched) / (of(&histogram) * f64::from(factor));
                // One rounding more than either has by itself.
                prop_assert!((ratio - 1.0).abs() <= 1.0 / 64.0, "{ratio}");
            }
        }

        #[test]
        fn buckets_rise_with_the_value(a in any::<u64>(), b in any::<u64>()) {
            prop_assert_eq!(a.min(b) <= a.max(b), bucket(a.min(b)) <= bucket(a.max(b)));
        }

        /// Merging is adding, and parts survive the record.
        #[test]
        fn merged_equals_recorded_together(values in prop::collection::vec(0u64..u64::MAX / 1000, 0..200), cut in 0usize..200) {
            let (mut whole, mut left, mut right) = (Histogram::new(), Histogram::new(), Histogram::new());
            for (index, ns) in values.iter().enumerate() {
                whole.record_ns(*ns);
                if index < cut { left.record_ns(*ns) } else { right.record_ns(*ns) }
            }
            left.merge(&right);
            prop_assert_eq!(&left, &whole);
            let parts: Vec<_> = whole.filled().collect();
            let (min, max) = (whole.min_ns, whole.max_ns);
            prop_assert_eq!(Histogram::from_parts(parts, whole.sum_ns(), min, max), Some(whole));
        }
    }
}
