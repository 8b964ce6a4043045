//! Which of a sensor's readings tell of the drive: each once, when it was measured, and none that no drive can have had.
//!
//! A log has a temperature in every row, also where its source measures one in thirty seconds and repeats it meanwhile. A bus error
//! is a reading of 20 K more for one row. Neither is a temperature of its own.

use std::borrow::Cow;

use measure::Point;

use crate::cause::heat::{period_s, step_k};
use crate::segment::median;
use trace::Trace;

/// Nothing of a drive gets so much hotter or cooler and back from one row to the next, in rows no longer than this.
const SPIKE_K: f64 = 15.0;
const SPIKE_ROW_S: f64 = 2.5;
/// More of them than this share are no errors.
const MOST_SPIKES: f64 = 0.05;
/// A temperature that is measured in every row does not leap by two of its steps and as many kelvins after it had stood for longer
/// than these rows.
const LEAP_STEPS: f64 = 2.0;
const LEAP_K: f64 = 2.0;
const STOOD_ROWS: f64 = 9.5;
/// So many leaps show how often it is measured, and this share of all changes must keep step with that, ...
const LEAST_LEAPS: usize = 4;
const NEARLY_ALL: f64 = 0.9;
/// ... to a row that comes a little sooner or later, or this share of the time.
const ROWS_OFF: f64 = 1.1;
const OFF: f64 = 0.05;

/// The readings of the trusted sensor that count.
pub(crate) struct SensorReadings<'a> {
    points: Cow<'a, [Point<f64>]>,
    pub(crate) spikes: Option<Spikes>,
}

/// SensorReadings far from those before and after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spikes {
    pub(crate) count: usize,
    /// By how much the farthest, in kelvins.
    pub(crate) by_k: f64,
}

impl<'a> SensorReadings<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let all = trace.temperature().map_or(&[][..], |series| series.points());
        let (points, spikes) = without_spikes(all);
        let points = match measured_every_s(&points) {
            Some(every_s) => Cow::Owned(measured(&points, every_s)),
            None => points,
        };
        Self { points, spikes }
    }

    pub(crate) fn points(&self) -> &[Point<f64>] {
        &self.points
    }
}

fn gap_s(pair: &[Point<f64>]) -> f64 {
    (pair[1].t - pair[0].t).as_secs_f64()
}

/// All but single readings far away from both beside them.
fn without_spikes(points: &[Point<f64>]) -> (Cow<'_, [Point<f64>]>, Option<Spikes>) {
    let by_k = |three: &[Point<f64>]| {
        let (before_k, after_k) = (three[1].value - three[0].value, three[1].value - three[2].value);
        let near = three.windows(2).all(|pair| gap_s(pair) <= SPIKE_ROW_S);
        let far = before_k.abs().min(after_k.abs());
        (near && before_k * after_k > 0.0 && far >= SPIKE_K).then_some(far)
    };
    let spikes: Vec<(usize, f64)> =
        points.windows(3).enumerate().filter_map(|(at, three)| Some((at + 1, by_k(three)?))).collect();
    if spikes.is_empty() || spikes.len() as f64 > MOST_SPIKES * points.len() as f64 {
        return (Cow::Borrowed(points), None);
    }
    let mut left_out = spikes.iter().map(|(at, _)| *at).peekable();
    let kept = points.iter().enumerate().filter(|(at, _)| left_out.next_if_eq(at).is_none());
    let kept = kept.map(|(_, point)| *point).collect();
    let by_k = spikes.iter().map(|(_, by_k)| *by_k).fold(0.0, f64::max);
    (Cow::Owned(kept), Some(Spikes { count: spikes.len(), by_k }))
}

/// How often the sensor is measured, in seconds, where that is more rarely than the log has a reading.
fn measured_every_s(points: &[Point<f64>]) -> Option<f64> {
    let row_s = period_s(points);
    let changes: Vec<usize> =
        (1..points.len()).filter(|at| points[*at].value != points[at - 1].value).collect();
    let step_k = step_k(points);
    // How long it had stood before each change, and by how much it changed.
    let stood = changes.windows(2).map(|pair| {
        let by_k = (points[pair[1]].value - points[pair[0]].value).abs();
        ((points[pair[1]].t - points[pair[0]].t).as_secs_f64(), by_k)
    });
    let stood: Vec<(f64, f64)> = stood.collect();
    let leaps = stood.iter().filter(|(_, by_k)| *by_k >= LEAP_K.max(LEAP_STEPS * step_k));
    let leaps_s: Vec<f64> = leaps.map(|(stood_s, _)| *stood_s).collect();
    let every_s = median(&leaps_s);
    // However long it stands, it is for a whole number of them.
    let whole = |stood_s: &f64| {
        let times = (stood_s / every_s).round();
        times >= 1.0 && (stood_s - times * every_s).abs() <= (ROWS_OFF * row_s).max(OFF * every_s)
    };
    let in_step = stood.iter().filter(|(stood_s, _)| whole(stood_s)).count();
    (leaps_s.len() >= LEAST_LEAPS
        && every_s > STOOD_ROWS * row_s
        && in_step as f64 >= NEARLY_ALL * stood.len() as f64)
        .then_some(every_s)
}

/// Each reading when it was measured: where it changed, and as often where it stood.
fn measured(points: &[Point<f64>], every_s: f64) -> Vec<Point<f64>> {
    let row_s = period_s(points);
    let mut kept: Vec<Point<f64>> = Vec::new();
    for point in points {
        let is_new = kept.last().is_none_or(|last| {
            point.value != last.value || (point.t - last.t).as_secs_f64() >= every_s - 0.5 * row_s
        });
        if is_new {
            kept.push(*point);
        }
    }
    kept
}

#[cfg(test)]
mod test {
    use super::*;

    fn points(kelvin: impl Fn(usize) -> f64, seconds: usize) -> Vec<Point<f64>> {
        (0..seconds).map(|s| Point { t: trace::instant(s as f64), value: kelvin(s) }).collect()
    }

    /// A drive that warms up, and from 200 s on swings by three kelvins in 27 s.
    fn drive(s: f64) -> f64 {
        let swing = 1.5 * (s / 27.0 * std::f64::consts::TAU).sin();
        313.0 + 30.0 * (1.0 - (-s / 80.0).exp()) + if s < 200.0 { 0.0 } else { swing }
    }

    #[test]
    fn what_a_log_repeats_is_measured_once() {
        for every in [10, 15, 30] {
            let held = points(|s| drive((s / every * every) as f64).floor(), 900);
            let found_s = measured_every_s(&held);
            assert_eq!(found_s.map(f64::round), Some(every as f64), "every {every} s");
            let kept = measured(&held, every as f64);
            assert!(kept.len().abs_diff(900 / every) <= 1, "{} readings, every {every} s", kept.len());
        }
        // A relay that falls by leaps from where it had stood for a while.
        let relay = |s: usize| {
            340.0 + if s % 61 < 41 { (s % 61) as f64 / 6.0 } else { 6.7 - 2.3 * (s % 61 - 40) as f64 }
        };
        assert_eq!(measured_every_s(&points(|s| relay(s).max(340.0).floor(), 1800)), None);
        // A fast one, a slow one, one of whole five kelvins, and a load that begins after an hour at rest.
        assert_eq!(measured_every_s(&points(|s| drive(s as f64).floor(), 900)), None);
        assert_eq!(measured_every_s(&points(|s| drive(s as f64 / 20.0).floor(), 900)), None);
        assert_eq!(measured_every_s(&points(|s| (drive(s as f64) / 5.0).floor() * 5.0, 900)), None);
        let late = |s: usize| if s < 3600 { 313.0 } else { drive(3.0 * (s - 3600) as f64).floor() };
        assert_eq!(measured_every_s(&points(late, 4000)), None);
    }

    #[test]
    fn a_reading_far_from_both_beside_it_is_none() {
        let spiky = points(|s| drive(s as f64).floor() + if s % 97 == 96 { 20.0 } else { 0.0 }, 900);
        let (kept, spikes) = without_spikes(&spiky);
        assert_eq!((kept.len(), spikes.map(|spikes| spikes.count)), (891, Some(9)));
        let plain = points(|s| drive(s as f64).floor(), 900);
        let (kept, spikes) = without_spikes(&plain);
        assert_eq!((kept.len(), spikes), (900, None));
    }
}
