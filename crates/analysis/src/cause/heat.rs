//! Temperatures and counters beside a moment of the load.
//!
//! Sensors answer in whole kelvins, late and once a second or more rarely. A value "at" a change of speed is therefore
//! the extreme within one reading period around it: a drive that slows down at 343 K has shown 343 K
//! within a reading of that moment, or never will.

use measure::Point;

use crate::readings::SensorReadings;
use crate::segment::usual_span_s;
use trace::{Counters, HostThreshold, Trace};

/// No reading is believed to lag by more, in kelvins.
const MOST_CLIMB_K: f64 = 4.0;
/// A temperature that never moves for so long is not measured.
const FROZEN_S: f64 = 120.0;
/// Sensors were seen to lag this far behind what they measure.
pub(crate) const LATE_S: f64 = 12.0;
/// SensorReadings are looked for this many periods before and after a moment, and so many times further where some were lost.
const PERIODS_AROUND: f64 = 1.2;
const MOST_LOST: f64 = 4.0;

/// The trusted temperature and the counters of a trace, with look-ups by time.
pub(crate) struct Heat<'a> {
    points: &'a [Point<f64>],
    counters: &'a [Point<Counters>],
    /// Usual time between two temperatures, in seconds.
    pub period_s: f64,
    /// How long a speed usually lasts, in seconds.
    pub slice_s: f64,
    /// How exactly a change of speed is known in time, in seconds: speeds may be means over longer than a reading lasts.
    blur_s: f64,
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

impl HeatMove {
    /// That of one threshold.
    pub(super) const fn of(self, threshold: HostThreshold) -> Option<u64> {
        match threshold {
            HostThreshold::Tmt1 => self.tmt1,
            HostThreshold::Tmt2 => self.tmt2,
        }
    }
}

/// Sensors that answer in tenths of a kelvin waver by so much; most answer in whole ones.
const NOISE_K: f64 = 0.25;
const WHOLE_K: f64 = 1.0;

/// Hotter at full speed for so many times what lag and rounding leave is no lag.
const LONG_PAST: f64 = 3.0;

impl<'a> Heat<'a> {
    pub(crate) fn new(trace: &'a Trace, readings: &'a SensorReadings) -> Self {
        let points = readings.points();
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
        let slice_s = usual_span_s(&trace.speeds);
        let blur_s = period_s.max(slice_s);
        Self { period_s, slice_s, blur_s, counter_period_s, points, counters, frozen, step_k }
    }

    /// How much of a movement its readings hide, in kelvins: the sensor's resolution, and a little noise.
    pub(crate) fn hides_k(&self) -> f64 {
        if self.step_k > 0.0 { self.step_k.max(NOISE_K) } else { WHOLE_K }
    }

    /// How long full speed may seem to last above a threshold because of readings that lag, in seconds.
    pub(super) fn lag_s(&self) -> f64 {
        (5.0f64).max(3.0 * self.period_s)
    }

    /// From how many seconds at full speed above a threshold on, in one go, it is none.
    pub(super) fn long_past_s(&self) -> f64 {
        LONG_PAST * self.lag_s()
    }

    /// All readings from `from_s` to `to_s`.
    pub(crate) fn within(&self, from_s: f64, to_s: f64) -> &'a [Point<f64>] {
        if self.frozen {
            return &[];
        }
        let first = index_at(self.points, from_s, |t_s| t_s < from_s);
        let last = index_at(self.points, to_s, |t_s| t_s <= to_s);
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

    /// How fast the temperature changed in the ten periods before `t_s`, up or down, in K/s; 0 without readings. Of a drive
    /// that goes to and fro within that time it is the swing that counts, not where it ended.
    pub(crate) fn pace_before(&self, t_s: f64) -> f64 {
        let window = self.within(t_s - 10.0 * self.period_s, t_s);
        let of = |pick: fn(f64, f64) -> f64| window.iter().map(|p| p.value).reduce(pick);
        match (window.first(), window.last(), of(f64::max).zip(of(f64::min))) {
            (Some(a), Some(b), Some((most, least))) if b.t > a.t => {
                (most - least) / (b.t - a.t).as_secs_f64()
            }
            _ => 0.0,
        }
    }

    /// How much a reading may lag behind the temperature at `t_s`, in kelvins: it is up to one period old when the drive acts on a newer one,
    /// and older where readings are lost or speeds are means over longer.
    pub(crate) fn climb_k(&self, t_s: f64) -> f64 {
        (self.pace_before(t_s) * self.unseen_s(t_s)).min(MOST_CLIMB_K)
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
        let first = index_at(self.counters, from_s, |t_s| t_s <= from_s).saturating_sub(1);
        let last = index_at(self.counters, to_s, |t_s| t_s < to_s).min(self.counters.len().saturating_sub(1));
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

    /// The first and the last reading of the counters from `from_s` to `to_s`; `None` where there are fewer than two.
    fn first_and_last(&self, from_s: f64, to_s: f64) -> Option<(&Point<Counters>, &Point<Counters>)> {
        let first = index_at(self.counters, from_s, |t_s| t_s < from_s);
        let after = index_at(self.counters, to_s, |t_s| t_s <= to_s);
        match &self.counters[first..after.max(first)] {
            [a, .., b] => Some((a, b)),
            _ => None,
        }
    }

    /// How often throttling at a threshold began between the readings from `from_s` to `to_s`, and how long it lasted, in
    /// seconds; `None` is "not counted", or fewer than two readings.
    pub(crate) fn counted_at(
        &self,
        threshold: HostThreshold,
        from_s: f64,
        to_s: f64,
    ) -> (Option<u64>, Option<u64>) {
        let Some((a, b)) = self.first_and_last(from_s, to_s) else { return (None, None) };
        let (before, later) = (a.value.at(threshold), b.value.at(threshold));
        let grown = |a: Option<u64>, b: Option<u64>| Some(b?.saturating_sub(a?));
        (grown(before.0, later.0), grown(before.1, later.1))
    }

    /// How many seconds of throttling the drive counted between its readings from `from_s` to `to_s`, by the counter that moved most,
    /// and how far apart those readings are, in seconds.
    pub(crate) fn counted_s(&self, from_s: f64, to_s: f64) -> (f64, f64) {
        let Some((a, b)) = self.first_and_last(from_s, to_s) else { return (0.0, 0.0) };
        let moved = |of: fn(&Counters) -> Option<u64>| {
            of(&b.value).zip(of(&a.value)).map_or(0, |(b, a)| b.saturating_sub(a))
        };
        let seconds = moved(|c| c.tmt1_seconds).max(moved(|c| c.tmt2_seconds));
        (seconds as f64, b.t.since(a.t).as_secs_f64())
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

    /// From how long before a moment until how long after it readings count as those at that moment, in seconds, where none were lost.
    pub(super) fn seen_around_s(&self) -> (f64, f64) {
        let near_s = PERIODS_AROUND * self.blur_s;
        (near_s + self.blur_s, near_s)
    }

    /// The readings around a moment: as near as it is known, and on both sides one, unless that was lost with many more.
    fn around(&self, t_s: f64) -> &'a [Point<f64>] {
        let (sooner_s, near_s) = self.seen_around_s();
        let most_s = MOST_LOST * near_s;
        let [before_s, after_s] =
            self.beside_s(t_s).map(|s| s.filter(|s| *s <= most_s).unwrap_or(0.0).max(near_s));
        // A slice that the drop began in is still counted as fast: it is one earlier then.
        self.within(t_s - before_s.max(sooner_s), t_s + after_s)
    }

    /// How far the readings before and after a moment are from it, in seconds.
    fn beside_s(&self, t_s: f64) -> [Option<f64>; 2] {
        let after = index_at(self.points, t_s, |reading_s| reading_s <= t_s);
        let off_s = |p: &Point<f64>| (p.t.as_secs_f64() - t_s).abs();
        [after.checked_sub(1).map(|before| off_s(&self.points[before])), self.points.get(after).map(off_s)]
    }

    /// How long the temperature was not looked at around a moment that is known no better than a speed lasts, in seconds.
    pub(crate) fn unseen_s(&self, t_s: f64) -> f64 {
        let beside_s: f64 = self.beside_s(t_s).into_iter().flatten().sum();
        beside_s.clamp(self.blur_s, MOST_LOST * self.blur_s)
    }
}

/// How many readings come before a moment, which is about `t_s`. Most come at one pace: looked for from where it would be by that, in
/// steps that double, so that a month of readings costs no more than a minute of them.
fn index_at<T>(points: &[Point<T>], t_s: f64, is_before: impl Fn(f64) -> bool) -> usize {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0 };
    let before = |index: usize| is_before(points[index].t.as_secs_f64());
    let (begin_s, end_s) = (first.t.as_secs_f64(), last.t.as_secs_f64());
    let guess = (t_s - begin_s) / (end_s - begin_s) * (points.len() - 1) as f64;
    let (mut low, mut step) = ((guess.max(0.0) as usize).min(points.len() - 1), 1_usize);
    let mut high = low;
    while low > 0 && !before(low) {
        (low, high, step) = (low.saturating_sub(step), low, 2 * step);
    }
    while high < points.len() && before(high) {
        (low, high, step) = (high, (high + step).min(points.len()), 2 * step);
    }
    low + points[low..high].partition_point(|p| is_before(p.t.as_secs_f64()))
}

/// The distance of neighbouring values that the sensor shows: the lower quartile, as two that never follow each other
/// may be further apart.
pub(crate) fn step_k(points: &[Point<f64>]) -> f64 {
    let mut values: Vec<f64> = points.iter().map(|p| p.value).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let quarter = steps.len() / 4;
    if steps.is_empty() { 0.0 } else { *steps.select_nth_unstable_by(quarter, f64::total_cmp).1 }
}

/// How far apart readings usually are, in seconds.
pub(crate) fn period_s<T>(points: &[Point<T>]) -> f64 {
    let steps: Vec<f64> = points.windows(2).map(|w| w[1].t.since(w[0].t).as_secs_f64()).collect();
    if steps.is_empty() { 1.0 } else { crate::segment::median(&steps).max(1e-3) }
}

#[cfg(test)]
mod test {
    use trace::{Temperature, instant};

    use super::*;
    use crate::readings::SensorReadings;

    /// Goal: a fine sensor hides less than one of whole kelvins, and no less than its noise. Method: one climb in steps of each.
    #[test]
    fn what_readings_hide_is_their_step() {
        for (step_k, hides_k) in [(0.1, 0.25), (0.5, 0.5), (1.0, 1.0), (5.0, 5.0)] {
            let mut trace = Trace::empty("drive");
            let mut kelvin = measure::Series::new();
            for second in 0..300 {
                let k: f64 = 300.0 + 0.1 * f64::from(second);
                kelvin.push(instant(f64::from(second)), (k / step_k).floor() * step_k);
            }
            trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin }];
            trace.trust_a_sensor();
            let readings = SensorReadings::new(&trace);
            let hides = Heat::new(&trace, &readings).hides_k();
            assert!((hides - hides_k).abs() < 1e-6, "{step_k}: {hides}");
        }
    }
}
