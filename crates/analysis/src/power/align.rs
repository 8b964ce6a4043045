//! How late a meter is: its readings are fitted by `W = a + b R(t - lag) + c S(t - lag)`, with R and S the speeds of reads
//! and writes, for each lag on a grid; the one that leaves the least is the estimate. Where several leave nearly as little
//! the interval is wide, and without a step of the load there is none.

use trace::{MeterSeries, SegmentOp, Trace};

use super::meter::MeterCharacter;

/// Meters that push their values to a cloud are up to 30 s late; those are of no use for phases of half a minute.
const LAG_MOST_S: f64 = 12.0;
/// Steps of the grid in an interval between readings.
const STEPS_AN_INTERVAL: f64 = 10.0;
/// Finer is no use: an interval of load is 100 ms.
const STEP_LEAST_S: f64 = 0.05;
/// The load has to explain this share of what the power does.
const EXPLAINED_MIN: f64 = 0.5;
/// Chi-squared of one parameter at 95 %.
const CHI_SQUARED: f64 = 3.84;
/// More readings tell nothing more about a lag.
const READINGS_MAX: usize = 4000;

/// How late a meter is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MeterLag {
    /// In seconds.
    pub(super) lag_s: f64,
    /// Half of its 95 % interval; `None` where it was stated.
    pub(super) plus_minus_s: Option<f64>,
}

/// The lag of `meter`; `None` where no step of the load tells it.
pub(super) fn lag(trace: &Trace, meter: &MeterSeries, character: &MeterCharacter) -> Option<MeterLag> {
    let interval_s = character.interval_s?;
    let window_s = meter.window_s.unwrap_or(interval_s);
    let speeds = [SegmentOp::Read, SegmentOp::Write].map(|op| MovedData::new(trace, op));
    let points = meter.watts.points();
    let every = points.len().div_ceil(READINGS_MAX).max(1);
    let readings: Vec<(f64, f64)> =
        points.iter().step_by(every).map(|point| (point.t.as_secs_f64(), point.value)).collect();
    let step_s = (interval_s / STEPS_AN_INTERVAL).max(STEP_LEAST_S);
    let steps = (LAG_MOST_S / step_s) as usize;
    let left: Vec<f64> = (0..=steps)
        .map(|step| {
            let mut fit = LagFit::default();
            for (t, watts) in &readings {
                let to_s = t - step as f64 * step_s;
                let speed = |moved: &MovedData| moved.mean(to_s - window_s.max(step_s), to_s);
                fit.add([1.0, speed(&speeds[0]), speed(&speeds[1])], *watts);
            }
            fit.left()
        })
        .collect();
    let mean = super::meter::mean(&readings.iter().map(|reading| reading.1).collect::<Vec<_>>())?;
    let total: f64 = readings.iter().map(|(_, watts)| (watts - mean).powi(2)).sum();
    let (best, least) = left.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    if total <= 0.0 || least > (1.0 - EXPLAINED_MIN) * total {
        return None;
    }
    // Readings of a steady load say nothing about time, and those beside each other much the same: a quarter counts.
    let witnesses = (readings.len() as f64 / 4.0).max(4.0);
    let as_good = least.max(1e-12) * (1.0 + CHI_SQUARED / witnesses);
    let good: Vec<usize> = (0..=steps).filter(|step| left[*step] <= as_good).collect();
    let (first, last) = (*good.first()?, *good.last()?);
    if last == steps || (last - first) as f64 * step_s > LAG_MOST_S / 2.0 {
        return None;
    }
    let plus_minus_s = ((last - first) as f64 / 2.0).max(0.5) * step_s;
    Some(MeterLag { lag_s: best as f64 * step_s, plus_minus_s: Some(plus_minus_s) })
}

/// Data moved up to each time, for means over any window.
struct MovedData {
    /// Time and bytes up to it.
    edges: Vec<(f64, f64)>,
}

impl MovedData {
    fn new(trace: &Trace, op: SegmentOp) -> Self {
        let mut edges = Vec::new();
        let mut bytes = 0.0;
        for interval in
            trace.speeds.iter().filter(|series| series.op == op).flat_map(|series| &series.intervals)
        {
            if edges.last().is_none_or(|(t, _)| *t < interval.start_s) {
                edges.push((interval.start_s, bytes));
            }
            bytes += interval.bytes;
            edges.push((interval.end_s(), bytes));
        }
        Self { edges }
    }

    fn until(&self, t_s: f64) -> f64 {
        let after = self.edges.partition_point(|(t, _)| *t <= t_s);
        match (after.checked_sub(1).map(|before| self.edges[before]), self.edges.get(after)) {
            (Some((t0, b0)), Some((t1, b1))) => b0 + (b1 - b0) * (t_s - t0) / (t1 - t0),
            (Some((_, bytes)), None) => bytes,
            (None, _) => 0.0,
        }
    }

    fn mean(&self, from_s: f64, to_s: f64) -> f64 {
        // In GB/s, so that the three columns of the fit are of one size.
        (self.until(to_s) - self.until(from_s)) / (to_s - from_s) / 1e9
    }
}

/// Least squares of watts over three columns.
#[derive(Default)]
struct LagFit {
    squares: [[f64; 3]; 3],
    products: [f64; 3],
    watts_squared: f64,
}

impl LagFit {
    fn add(&mut self, x: [f64; 3], watts: f64) {
        for (i, row) in self.squares.iter_mut().enumerate() {
            for (j, square) in row.iter_mut().enumerate() {
                *square += x[i] * x[j];
            }
            self.products[i] += x[i] * watts;
        }
        self.watts_squared += watts * watts;
    }

    /// What is left of the squares; a column that says nothing more than the others is left out.
    fn left(&self) -> f64 {
        let (mut a, mut b, mut left) = (self.squares, self.products, self.watts_squared);
        let scale = [a[0][0], a[1][1], a[2][2]];
        for k in 0..3 {
            if a[k][k] <= 1e-9 * scale[k].max(1e-12) {
                continue;
            }
            left -= b[k] * b[k] / a[k][k];
            for i in k + 1..3 {
                let factor = a[i][k] / a[k][k];
                let pivot = a[k];
                a[i].iter_mut().zip(pivot).skip(k).for_each(|(cell, above)| *cell -= factor * above);
                b[i] -= factor * b[k];
            }
        }
        left.max(0.0)
    }
}
