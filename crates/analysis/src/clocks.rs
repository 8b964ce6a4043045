//! Whether the clocks of speed and temperature move against each other within a run: a step, or a drift.
//!
//! A drive's temperature bends when its load changes: the rate of change of temperature jumps as the speed does. Both are
//! compared as the mean over the `reach` after a moment less that over the `reach` before it. In windows of two minutes the
//! shift that lets the two correlate best is the clock's offset there. Offsets that differ before and after some
//! moment are a step, offsets along a line a drift.
//!
//! # What it does not do
//! It does not say how far apart the clocks are (a lag of the sensor looks the same; `import::offset` estimates it), only that it changes.
//! It sees nothing where the load does not change, or where speeds or temperatures are further apart than 2 s, and of a load that repeats it sees the
//! offset up to whole periods. A step smaller than [`LEAST_S`] or three readings is not told.

use std::ops::Range;

use crate::cause::heat::Heat;
use crate::findings::{Caveat, SegmentOp};
use crate::line::Line;
use crate::segment::{median, usual_span_s};
use trace::caveat::{ClockStep, SteppedClock};
use trace::{Interval, Trace};

/// Steps and drifts below this may be the drive's: sensor lags of up to 4 s and renewals of up to 5 s differ in weight between short
/// and long changes of load.
pub(crate) const LEAST_S: f64 = 6.0;
/// ... and so many readings: one on each side is rounding of times.
const LEAST_READINGS: f64 = 3.0;
/// Series coarser than this show a bend late and in few readings: a run at 5 s was told a step that was none.
const COARSEST_S: f64 = 2.0;
/// Bends are taken over this on both sides: whole kelvins need some, and fast time constants are 20 s and longer.
const REACH_S: f64 = 12.0;
/// Long enough for one change of load and what follows.
const WINDOW_S: f64 = 120.0;
/// Offsets that are tried, both ways.
const FARTHEST_S: f64 = 45.0;
/// Windows are taken half a window apart, and further where there would be more than this: a month costs as much as a day.
const MOST_WINDOWS: usize = 400;
/// The shifted speed has to explain the bends of a window this well, as a correlation.
const LEAST_CORRELATION: f64 = 0.75;
/// Of several offsets any that explains nearly as much may be the one.
const NEARLY_BEST: f64 = 0.95;
/// A window counts where its bends reach this share of the fastest speed ...
const LEAST_CHANGE: f64 = 0.2;
/// ... and so many kelvins over the reach: twice what rounding alone does.
const LEAST_BEND_K: f64 = 2.0;
/// Steps of the grid for each reading: beyond, the readings are bursts with long holes between.
const MOST_STEPS_A_READING: usize = 64;
/// Windows on each side of a step.
const LEAST_WINDOWS: usize = 3;
/// A step is told when it exceeds the scatter of offsets around it by this factor.
const CLEAR: f64 = 4.0;

/// The caveat, if there is one.
pub(crate) fn caveat(trace: &Trace, heat: &Heat) -> Option<Caveat> {
    let mut caveat = moves(trace, heat)?;
    if let Caveat::ClockStep(step) = &mut caveat {
        step.set = set(trace, heat, step);
    }
    Some(caveat)
}

/// Whose clock was set, where a hole of that size shows it.
fn set(trace: &Trace, heat: &Heat, step: &ClockStep) -> Option<SteppedClock> {
    let ClockStep { after_s, before_s, by_s, .. } = *step;
    let within = |t_s: f64| (after_s - WINDOW_S..=before_s + WINDOW_S).contains(&t_s);
    let about = |hole_s: f64, usual_s: f64| (hole_s - by_s.abs()).abs() <= 2.0 + usual_s;
    let speed_s = usual_span_s(&trace.speeds);
    let of_speed = trace.speeds.iter().flat_map(|series| series.intervals.windows(2)).any(|pair| {
        let hole_s = pair[1].start_s - pair[0].end_s();
        let same = pair[0].phase == pair[1].phase && within(pair[0].end_s());
        same && hole_s.abs() > speed_s && hole_s * by_s < 0.0 && about(hole_s.abs(), speed_s)
    });
    let of_temperature = heat.all().windows(2).any(|pair| {
        let hole_s = pair[1].t.since(pair[0].t).as_secs_f64() - heat.period_s;
        by_s > 0.0
            && within(pair[0].t.as_secs_f64())
            && hole_s > heat.period_s
            && about(hole_s, heat.period_s)
    });
    match (of_speed, of_temperature) {
        (true, false) => Some(SteppedClock::Speed),
        (false, true) => Some(SteppedClock::Temperature),
        _ => None,
    }
}

/// How the clocks of speeds and temperature move against each other, where they clearly do.
fn moves(trace: &Trace, heat: &Heat) -> Option<Caveat> {
    let step_s = heat.period_s.max(usual_span_s(&trace.speeds)).max(1.0);
    if step_s > COARSEST_S || heat.frozen {
        return None;
    }
    let offsets = ClockGrid::new(trace, heat, step_s)?.offsets();
    let least_s = LEAST_S.max(LEAST_READINGS * step_s);
    let times: Vec<f64> = offsets.iter().map(|offset| offset.middle_s).collect();
    let values: Vec<f64> = offsets.iter().map(|offset| offset.by_s).collect();
    let (split, jump, jump_scatter) = step(&values)?;
    let line = Line::through(&times, &values);
    let (slope, line_scatter) =
        (line.slope, line.off(&times, &values).map(f64::abs).sum::<f64>() / times.len() as f64);
    let over_s = times[times.len() - 1] - times[0];
    let drifted = slope * over_s;
    let clear = |by_s: f64, scatter_s: f64| {
        by_s.abs() >= least_s && by_s.abs() >= CLEAR * scatter_s.max(0.5 * step_s)
    };
    if clear(jump, jump_scatter) && jump_scatter <= line_scatter {
        let (after_s, before_s) = (times[split - 1], times[split]);
        let cyclic = 2 * offsets.iter().filter(|offset| offset.cyclic).count() > offsets.len();
        let scatter_s = jump_scatter.max(0.5 * step_s);
        let step = ClockStep { after_s, before_s, by_s: jump, scatter_s, cyclic, set: None };
        return Some(Caveat::ClockStep(step));
    }
    let enough = values.len() >= 4 * LEAST_WINDOWS;
    (enough && clear(drifted, line_scatter)).then_some(Caveat::ClockDrift {
        over_s,
        by_s: drifted,
        scatter_s: line_scatter.max(0.5 * step_s),
    })
}

/// The split of offsets into two of one value each that leaves the least absolute deviation: first index of the second,
/// the step, and the mean deviation around both.
fn step(values: &[f64]) -> Option<(usize, f64, f64)> {
    let deviation = |part: &[f64]| {
        let middle = median(part);
        (middle, part.iter().map(|v| (v - middle).abs()).sum::<f64>())
    };
    let splits = LEAST_WINDOWS..=values.len().checked_sub(LEAST_WINDOWS)?;
    let all = splits.map(|split| {
        let ((left, a), (right, b)) = (deviation(&values[..split]), deviation(&values[split..]));
        (split, right - left, (a + b) / values.len() as f64)
    });
    all.min_by(|a, b| a.2.total_cmp(&b.2))
}

/// The offset of a window.
struct Offset {
    middle_s: f64,
    by_s: f64,
    /// Whether others fit nearly as well, as of a load that repeats.
    cyclic: bool,
}

/// Equal steps over a run, on which bends of speed and temperature are compared. Those of a window are made when it is its
/// turn: of a month some hundred windows are looked at.
struct ClockGrid<'a> {
    trace: &'a Trace,
    heat: &'a Heat<'a>,
    from_s: f64,
    step_s: f64,
    count: usize,
    /// Steps over which a bend is taken, to either side.
    reach: usize,
    /// Below this a bend of the speed is none.
    least_speed: f64,
}

impl<'a> ClockGrid<'a> {
    fn new(trace: &'a Trace, heat: &'a Heat<'a>, step_s: f64) -> Option<Self> {
        let points = heat.all();
        let (from_s, to_s) = (points.first()?.t.as_secs_f64(), points.last()?.t.as_secs_f64());
        let count = 1 + ((to_s - from_s) / step_s) as usize;
        // Where most of the time has no reading, work would follow the time and not the readings.
        if count / MOST_STEPS_A_READING > points.len() {
            return None;
        }
        let reach = (REACH_S / step_s).round().max(3.0) as usize;
        let mut grid = Self { trace, heat, from_s, step_s, count, reach, least_speed: 0.0 };
        let mut moved = moved(trace, from_s);
        let (mut before, mut fastest) = (moved(from_s), 0.0f64);
        for step in 1..count {
            let now = moved(grid.at_s(step));
            fastest = fastest.max(now - before);
            before = now;
        }
        grid.least_speed = LEAST_CHANGE * fastest * reach as f64;
        Some(grid)
    }

    fn at_s(&self, step: usize) -> f64 {
        self.from_s + step as f64 * self.step_s
    }

    /// The offset of each window that has a clear one.
    fn offsets(&self) -> Vec<Offset> {
        let window = (WINDOW_S / self.step_s) as usize;
        let Some(room) = self.count.checked_sub(window) else { return Vec::new() };
        let stride = (window / 2).max(room / MOST_WINDOWS).max(1);
        let mut found: Vec<Offset> = Vec::new();
        for first in (0..=room).step_by(stride) {
            let last_s = found.last().map_or(0.0, |last| last.by_s);
            found.extend(self.offset(first..first + window, last_s));
        }
        found
    }

    /// By how much the temperature is later than the speed in a window; `None` where that is not clear. Of several that fit
    /// nearly alike it is the one nearest to `near_s`.
    fn offset(&self, window: Range<usize>, near_s: f64) -> Option<Offset> {
        let speed = self.bends_of_speed(window.clone());
        let bends = speed.iter().filter(|bend| bend.abs() >= self.least_speed).count();
        if (bends as f64) < REACH_S / self.step_s / 2.0 {
            return None;
        }
        let far = (FARTHEST_S / self.step_s) as usize;
        let kelvin = self.bends_around(window.clone(), far);
        let correlations: Vec<f64> =
            (0..=2 * far).map(|shift| correlation(&speed, &kelvin[shift..]).unwrap_or(-1.0)).collect();
        crate::work::count(correlations.len());
        let best = correlations.iter().copied().fold(-1.0, f64::max);
        if best < LEAST_CORRELATION {
            return None;
        }
        let peak = |i: &usize| {
            let (before, at, after) = (correlations[i - 1], correlations[*i], correlations[i + 1]);
            at >= NEARLY_BEST * best && at > before && at >= after
        };
        // A peak at the edge of what is tried is none.
        let peaks = (1..2 * far).filter(peak).map(|i| (i as f64 - far as f64) * self.step_s);
        let peaks: Vec<f64> = peaks.collect();
        let off = |by_s: f64| (by_s - near_s).abs();
        let by_s = peaks.iter().copied().min_by(|a, b| off(*a).total_cmp(&off(*b)))?;
        let middle_s = self.at_s(window.start + window.len() / 2);
        Some(Offset { middle_s, by_s, cyclic: peaks.len() > 1 })
    }

    /// The speed's bend at each step of a window.
    fn bends_of_speed(&self, window: Range<usize>) -> Vec<f64> {
        self.bends(window, |moments| {
            let mut moved = moved(self.trace, moments[0]);
            moments.iter().map(|t_s| moved(*t_s)).collect()
        })
    }

    /// The temperature's bend at each step from `far` before a window to `far` after it; not a number beyond the run.
    fn bends_around(&self, window: Range<usize>, far: usize) -> Vec<f64> {
        let (first, end) = (window.start.saturating_sub(far), (window.end + far).min(self.count));
        let unknown = |steps: usize| std::iter::repeat_n(f64::NAN, steps);
        let known = self.bends(first..end, |moments| kelvin_at(self.heat, moments));
        let early = unknown(far - (window.start - first));
        early.chain(known).chain(unknown(far - (end - window.end))).collect()
    }

    /// The bend at each of some steps, from sums at moments as far around them as a bend reaches. Mean rates over the reach
    /// follow from both ends; where one is beyond the run, it is not a number.
    fn bends(&self, steps: Range<usize>, sums: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let (first, end) = (steps.start.saturating_sub(self.reach), (steps.end + self.reach).min(self.count));
        let moments: Vec<f64> = (first..end).map(|step| self.at_s(step)).collect();
        let sums = sums(&moments);
        let bend = |step: usize| {
            let i = step - first;
            match i.checked_sub(self.reach).zip(sums.get(i + self.reach)) {
                Some((before, after)) => (after - sums[i]) - (sums[i] - sums[before]),
                None => f64::NAN,
            }
        };
        steps.map(bend).collect()
    }
}

/// Correlation of a window's bends of speed with those of the temperature; `None` where too few are known or the
/// temperature hardly bends.
fn correlation(speed: &[f64], kelvin: &[f64]) -> Option<f64> {
    let known = |(v, k): &(&f64, &f64)| v.is_finite() && k.is_finite();
    let (mut n, mut sums, mut squares, mut products) = (0usize, (0.0, 0.0), (0.0, 0.0), 0.0);
    for (v, k) in speed.iter().zip(kelvin).filter(known) {
        n += 1;
        sums = (sums.0 + v, sums.1 + k);
        squares = (squares.0 + v * v, squares.1 + k * k);
        products += v * k;
    }
    let count = n as f64;
    let of_speed = squares.0 - sums.0 * sums.0 / count;
    let of_kelvin = squares.1 - sums.1 * sums.1 / count;
    let bent = (of_kelvin / count).sqrt() >= LEAST_BEND_K / 2.0;
    (4 * n >= 3 * speed.len() && bent && of_speed > 0.0)
        .then(|| (products - sums.0 * sums.1 / count) / (of_speed * of_kelvin).sqrt())
}

/// Data moved since about `from_s`, asked for moments in order of time.
fn moved(trace: &Trace, from_s: f64) -> impl FnMut(f64) -> f64 {
    let of_load = trace.speeds.iter().filter(|series| series.op != SegmentOp::Trim);
    let mut all: Vec<_> = of_load.map(|series| moved_along(&series.intervals, from_s)).collect();
    move |t_s| all.iter_mut().map(|moved| moved(t_s)).sum()
}

fn moved_along(intervals: &[Interval], from_s: f64) -> impl FnMut(f64) -> f64 {
    // One before the interval of the moment tells how a hole goes on.
    let first = intervals.partition_point(|interval| interval.start_s <= from_s).saturating_sub(2);
    let mut knots = knots(&intervals[first..]).peekable();
    let mut before = None;
    move |t_s| {
        while let Some(knot) = knots.next_if(|(knot_s, _)| *knot_s <= t_s) {
            before = Some(knot);
        }
        let Some((from_s, sum)) = before else { return 0.0 };
        sum + knots.peek().map_or(0.0, |(to_s, to)| (to - sum) * (t_s - from_s) / (to_s - from_s))
    }
}

/// Where the speed changes, and the data moved up to there. Over a hole within a phase the speed goes on as before it.
fn knots(intervals: &[Interval]) -> impl Iterator<Item = (f64, f64)> {
    let (mut sum, mut end_s) = (0.0, f64::NEG_INFINITY);
    let mut before: Option<&Interval> = None;
    intervals.iter().flat_map(move |interval| {
        if let Some(last) = before.filter(|last| last.phase == interval.phase) {
            sum += last.bytes_per_s() * (interval.start_s - last.end_s()).max(0.0);
        }
        // Mostly one interval begins where another ends.
        let begins = (interval.start_s > end_s).then_some((interval.start_s, sum));
        sum += interval.bytes;
        end_s = end_s.max(interval.start_s);
        let ends = (interval.end_s() > end_s).then_some((interval.end_s(), sum));
        end_s = end_s.max(interval.end_s());
        before = Some(interval);
        begins.into_iter().chain(ends)
    })
}

/// The temperature at each moment, between the readings around it; not a number where they are far apart.
fn kelvin_at(heat: &Heat, moments: &[f64]) -> Vec<f64> {
    let points = heat.all();
    let Some(first_s) = moments.first() else { return Vec::new() };
    let mut next = points.partition_point(|point| point.t.as_secs_f64() < *first_s);
    let at = |t_s: &f64| {
        while next < points.len() && points[next].t.as_secs_f64() < *t_s {
            next += 1;
        }
        let after = points.get(next)?;
        let before = &points[next.saturating_sub(1)];
        let (from_s, to_s) = (before.t.as_secs_f64(), after.t.as_secs_f64());
        let share = if to_s > from_s { (t_s - from_s) / (to_s - from_s) } else { 0.0 };
        (to_s - from_s <= FARTHEST_S).then_some(before.value + share * (after.value - before.value))
    };
    moments.iter().map(at).map(|k: Option<f64>| k.unwrap_or(f64::NAN)).collect()
}
