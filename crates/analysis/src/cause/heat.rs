//! Temperatures and counters beside a moment of the load.
//!
//! Sensors answer in whole kelvins, late and once a second or more rarely. A value "at" a change of speed is therefore
//! the extreme within one reading period around it: a drive that slows down at 343 K has shown 343 K
//! within a reading of that moment, or never will.

use measure::Point;

use trace::{Counters, Trace};

/// A temperature that never moves for so long is not measured.
const FROZEN_S: f64 = 120.0;
/// Sensors were seen to lag this far behind what they measure.
const LATE_S: f64 = 12.0;
/// Readings are looked for this many periods before and after a moment.
const PERIODS_AROUND: f64 = 1.2;

/// The trusted temperature and the counters of a trace, with look-ups by time.
pub(crate) struct Heat<'a> {
    points: &'a [Point<f64>],
    counters: &'a [Point<Counters>],
    /// Usual time between two temperatures, in seconds.
    pub period_s: f64,
    counter_period_s: f64,
    /// Whether the temperature never moves, load or not.
    pub frozen: bool,
    /// The least by which two readings differ, in kelvins: the sensor's resolution; 0 where it never moves.
    pub step_k: f64,
}

/// By how much each counter moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeatMove {
    /// Light throttling: transitions or seconds; `None` without readings.
    pub tmt1: Option<u64>,
    /// Heavy throttling.
    pub tmt2: Option<u64>,
}

impl<'a> Heat<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let points = trace.temperature().map_or(&[][..], |series| series.points());
        let counters = trace.counters.points();
        let frozen = match (points.first(), points.last()) {
            (Some(first), Some(last)) => {
                last.t.since(first.t).as_secs_f64() >= FROZEN_S
                    && points.iter().all(|p| p.value == first.value)
            }
            _ => false,
        };
        let step_k = step_k(points);
        let (period_s, counter_period_s) = (period_s(points), period_s(counters));
        Self { period_s, counter_period_s, points, counters, frozen, step_k }
    }

    /// All readings from `from_s` to `to_s`.
    pub(crate) fn within(&self, from_s: f64, to_s: f64) -> &'a [Point<f64>] {
        if self.frozen {
            return &[];
        }
        let first = self.points.partition_point(|p| p.t.as_secs_f64() < from_s);
        let last = self.points.partition_point(|p| p.t.as_secs_f64() <= to_s);
        crate::work::count(last.saturating_sub(first));
        &self.points[first..last.max(first)]
    }

    /// All readings.
    pub(crate) fn all(&self) -> &'a [Point<f64>] {
        self.points
    }

    /// The temperature crossed at `t_s` on the way up, in kelvins. Whole kelvins stand for what is up to one
    /// kelvin more (cut off) or half a kelvin less or more (rounded): half a kelvin is added where the reading
    /// had stood long enough, at the rate of the climb before, to be off by it. Either way the error is half a kelvin.
    pub(crate) fn crossed_k(&self, t_s: f64) -> Option<f64> {
        const CLIMB_SEEN_S: f64 = 30.0;
        let peak_k = self.peak_k(t_s)?;
        if peak_k.fract() != 0.0 {
            return Some(peak_k);
        }
        let before = self.within(t_s - CLIMB_SEEN_S.max(10.0 * self.period_s), t_s);
        let reached = before.iter().rposition(|p| p.value < peak_k).map_or(0, |below| below + 1);
        let (Some(first), Some(reached)) = (before.first(), before.get(reached)) else { return Some(peak_k) };
        let climbing_s = reached.t.since(first.t).as_secs_f64();
        if climbing_s <= 0.0 || first.value >= peak_k {
            return Some(peak_k);
        }
        let rate = (peak_k - first.value) / climbing_s;
        let further_k = rate * (t_s - reached.t.as_secs_f64());
        Some(peak_k + if further_k >= 0.25 { 0.5 } else { 0.0 })
    }

    /// The hottest reading around `t_s`, in kelvins.
    pub(crate) fn peak_k(&self, t_s: f64) -> Option<f64> {
        self.around(t_s).iter().map(|p| p.value).max_by(f64::total_cmp)
    }

    /// The coolest reading around `t_s`, in kelvins.
    pub(crate) fn low_k(&self, t_s: f64) -> Option<f64> {
        self.around(t_s).iter().map(|p| p.value).min_by(f64::total_cmp)
    }

    /// Hottest and coolest reading from a period before `t_s` on until a late sensor has shown it, in kelvins.
    pub(crate) fn soon_k(&self, t_s: f64) -> Option<(f64, f64)> {
        let soon = self
            .within(t_s - PERIODS_AROUND * self.period_s, t_s + LATE_S.max(PERIODS_AROUND * self.period_s));
        let of = |pick: fn(f64, f64) -> f64| soon.iter().map(|p| p.value).reduce(pick);
        of(f64::max).zip(of(f64::min))
    }

    /// The reading nearest to `t_s`, in kelvins, unless it is further away than a reading period or two.
    pub(crate) fn nearest_k(&self, t_s: f64) -> Option<f64> {
        let far = |p: &Point<f64>| (p.t.as_secs_f64() - t_s).abs();
        let window = self.within(t_s - 2.0 * self.period_s, t_s + 2.0 * self.period_s);
        if self.frozen {
            return self.points.first().map(|p| p.value);
        }
        window.iter().min_by(|a, b| far(a).total_cmp(&far(b))).map(|p| p.value)
    }

    /// How fast the temperature changed in the ten periods before `t_s`, in K/s; 0 without readings.
    pub(crate) fn slope_before(&self, t_s: f64) -> f64 {
        let window = self.within(t_s - 10.0 * self.period_s, t_s);
        match (window.first(), window.last()) {
            (Some(a), Some(b)) if b.t > a.t => (b.value - a.value) / (b.t - a.t).as_secs_f64(),
            _ => 0.0,
        }
    }

    /// By how much the counters moved between the last reading at or before `from_s` and the first one at or after
    /// `to_s`.
    pub(crate) fn moved(&self, from_s: f64, to_s: f64) -> HeatMove {
        self.moved_by(from_s, to_s, true)
    }

    /// The same without the seconds, which go on while a throttle lasts.
    pub(crate) fn began(&self, from_s: f64, to_s: f64) -> HeatMove {
        self.moved_by(from_s, to_s, false)
    }

    fn moved_by(&self, from_s: f64, to_s: f64, seconds_too: bool) -> HeatMove {
        let first = self.counters.partition_point(|p| p.t.as_secs_f64() <= from_s).saturating_sub(1);
        let last = self
            .counters
            .partition_point(|p| p.t.as_secs_f64() < to_s)
            .min(self.counters.len().saturating_sub(1));
        let (Some(a), Some(b)) = (self.counters.get(first), self.counters.get(last)) else {
            return HeatMove::default();
        };
        let (a, b) = (a.value, b.value);
        let delta = |pairs: [(Option<u64>, Option<u64>); 2]| {
            let known = pairs
                .into_iter()
                .take(if seconds_too { 2 } else { 1 })
                .filter_map(|(a, b)| Some(b?.saturating_sub(a?)));
            known.reduce(|x, y| x + y)
        };
        HeatMove {
            tmt1: delta([(a.tmt1_transitions, b.tmt1_transitions), (a.tmt1_seconds, b.tmt1_seconds)]),
            tmt2: delta([(a.tmt2_transitions, b.tmt2_transitions), (a.tmt2_seconds, b.tmt2_seconds)]),
        }
    }

    /// Whether the drive has ever counted: zeroes may also mean that it does not.
    pub(crate) fn has_counted(&self) -> bool {
        self.counters.last().is_some_and(|p| {
            let c = p.value;
            [c.tmt1_transitions, c.tmt2_transitions, c.tmt1_seconds, c.tmt2_seconds]
                .iter()
                .flatten()
                .any(|n| *n > 0)
        })
    }

    /// Usual time between two counter readings, in seconds.
    pub(crate) fn counter_period_s(&self) -> f64 {
        self.counter_period_s
    }

    /// The readings around a moment: within a period, further away only where some were lost.
    fn around(&self, t_s: f64) -> &'a [Point<f64>] {
        let near = PERIODS_AROUND * self.period_s;
        let within = |reach: f64| self.within(t_s - reach, t_s + reach);
        [1.0, 2.0, 4.0]
            .map(|times| times * near)
            .into_iter()
            .map(within)
            .find(|found| !found.is_empty())
            .unwrap_or(&[])
    }
}

/// The distance of neighbouring values that the sensor shows: the lower quartile, as two that never follow each other
/// may be further apart.
fn step_k(points: &[Point<f64>]) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|p| p.value).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let quarter = steps.len() / 4;
    if steps.is_empty() { 0.0 } else { *steps.select_nth_unstable_by(quarter, f64::total_cmp).1 }
}

fn period_s<T>(points: &[Point<T>]) -> f64 {
    let steps: Vec<f64> = points.windows(2).map(|w| w[1].t.since(w[0].t).as_secs_f64()).collect();
    if steps.is_empty() { 1.0 } else { crate::segment::median(&steps).max(1e-3) }
}
