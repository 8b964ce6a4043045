//! How load becomes temperature: kelvins for each GB/s and time constants, by fitting two exponentials.
//!
//! `T = floor + sum over i of f_i (g_w W_i + g_r R_i)`, where `W_i` and `R_i` are write and read speed through a low-pass
//! of time constant `tau_i`, and `f_1 + f_2 = 1`: the Foster form of a drive of two nodes (facts, model 5.1). For fixed
//! time constants and split it is linear, so those three are searched on a grid and the rest solved for.
//! What the data do not pin down is left out: every point of the grid that fits as well as the best one
//! counts, and a value that differs too much among them is not given.
//!
//! # What it does not do
//! It knows speeds, not watts, so it cannot tell a drive's thermal resistance from its energy for each byte; and it
//! takes both as constant, which throttling may change. A drive is taken to be at rest when the run begins.

use crate::cause::heat::Heat;
use crate::findings::{Caveat, SegmentOp, Thermal};
use trace::Trace;
use trace::caveat::HeatingUnknown;

/// Only this much of a run is fitted: many slow time constants, and a bound on the work.
const WINDOW_S: f64 = 7_200.0;
/// Cells of at least this length; sensors are read once a second.
const CELL_S: f64 = 1.0;
/// Below this there is nothing to fit: the quantiser alone has 1 K.
const LEAST_RANGE_K: f64 = 8.0;
/// A step of 300 s gave the gain to 4 % in trials with known truth, shorter ones did not.
const LEAST_SPAN_S: f64 = 240.0;
/// Whole kelvins alone leave 0.29 K; more than this is not this model.
const MOST_MISFIT_K: f64 = 1.5;
/// Standard deviation of a uniform error of one kelvin.
const QUANTISER_K: f64 = 0.29;
/// Chi-squared of two parameters at 90 %.
const AS_GOOD: f64 = 4.6;
/// A gain is given when it is known to within this share, a time constant to within this factor.
const GAIN_KNOWN: f64 = 0.1;
const TAU_KNOWN: f64 = 2.5;
/// An unread second is not an idle one: with more of them than this the heating is not known.
const MOST_UNREAD: f64 = 0.1;
/// Load of one operation for less than this says nothing about it.
const LEAST_LOAD_S: f64 = 30.0;

/// The thermal numbers, and why they are missing where they are; `unread` is the share of time without a speed.
pub(crate) fn thermal(trace: &Trace, heat: &Heat, unread: f64) -> (Thermal, Option<Caveat>) {
    let nothing = |why| (Thermal::default(), Some(Caveat::ThermalNotIdentified(why)));
    let data = match ThermalData::new(trace, heat, unread) {
        Ok(data) => data,
        Err(why) => return nothing(why),
    };
    let fits = search(&data);
    let Some(best) = fits.iter().min_by(|a, b| a.misfit.total_cmp(&b.misfit)) else {
        return nothing(HeatingUnknown::NoModelFits);
    };
    let rms_k = (best.misfit / data.kelvin.len() as f64).sqrt();
    if rms_k > MOST_MISFIT_K {
        return nothing(HeatingUnknown::ModelOff { rms_k });
    }
    let allowed = best.misfit + AS_GOOD * rms_k.max(QUANTISER_K).powi(2) * data.correlation(best);
    let as_good: Vec<&Fit> = fits.iter().filter(|fit| fit.misfit <= allowed).collect();
    let spread = |of: &dyn Fn(&Fit) -> f64| {
        as_good
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), fit| (l.min(of(fit)), h.max(of(fit))))
    };
    let gain = |index: usize| {
        let (low, high) = spread(&|fit| fit.gains[index]);
        let value = best.gains[index];
        (data.is_loaded(index) && value > 0.0 && high - low <= 2.0 * GAIN_KNOWN * value).then_some(value)
    };
    let known = |index: usize| {
        let (low, high) = spread(&|fit| fit.tau_s[index]);
        high <= TAU_KNOWN * low
    };
    let thermal = Thermal {
        kelvin_per_gb_per_s_write: gain(0),
        kelvin_per_gb_per_s_read: gain(1),
        tau_s: (known(0) && known(1)).then(|| best.tau_s.to_vec()),
        idle_floor_k: {
            let (low, high) = spread(&|fit| fit.floor_k);
            (high - low <= 3.0).then_some(best.floor_k)
        },
    };
    let missing = thermal.tau_s.is_none() || (0..2).any(|op| data.is_loaded(op) && gain(op).is_none());
    (thermal, missing.then_some(Caveat::ThermalNotIdentified(HeatingUnknown::SeveralModels)))
}

/// Temperature and load on one grid of cells.
struct ThermalData {
    cell_s: f64,
    /// Write and read speed in GB/s, cell by cell.
    load: [Vec<f64>; 2],
    /// Seconds of each.
    load_s: [f64; 2],
    /// Cell and temperature.
    kelvin: Vec<(usize, f64)>,
    /// Sum of the temperatures.
    sum_kelvin: f64,
    /// Sum of their squares.
    sum_squares: f64,
}

impl ThermalData {
    fn new(trace: &Trace, heat: &Heat, unread: f64) -> Result<Self, HeatingUnknown> {
        let end_s = trace.end_s().min(WINDOW_S);
        let readings = heat.within(0.0, end_s);
        let range = readings
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p.value), h.max(p.value)));
        if readings.len() < 30 {
            return Err(HeatingUnknown::FewTemperatures);
        }
        if unread > MOST_UNREAD {
            return Err(HeatingUnknown::LoadUnread { share: unread });
        }
        if end_s < LEAST_SPAN_S {
            return Err(HeatingUnknown::ShortRun);
        }
        if range.1 - range.0 < LEAST_RANGE_K {
            return Err(HeatingUnknown::EvenTemperature);
        }
        let cell_s = CELL_S.max(heat.period_s);
        let cells = (end_s / cell_s).ceil() as usize;
        let mut load = [vec![0.0; cells], vec![0.0; cells]];
        for series in &trace.speeds {
            let of_op = match series.op {
                SegmentOp::Write => &mut load[0],
                SegmentOp::Read => &mut load[1],
                _ => continue,
            };
            for interval in series.intervals.iter().take_while(|i| i.start_s < end_s) {
                spread(of_op, cell_s, interval.start_s, interval.end_s(), interval.bytes / 1e9);
            }
        }
        let load_s = [0, 1].map(|op: usize| load[op].iter().filter(|l| **l > 0.01).count() as f64 * cell_s);
        let cell = |t_s: f64| ((t_s / cell_s) as usize).min(cells - 1);
        let kelvin = readings.iter().map(|p| (cell(p.t.as_secs_f64()), p.value)).collect();
        let sum_kelvin = readings.iter().map(|p| p.value).sum();
        let sum_squares = readings.iter().map(|p| p.value * p.value).sum();
        Ok(Self { cell_s, load, load_s, kelvin, sum_kelvin, sum_squares })
    }

    /// Whether there was enough of writing (0) or reading (1) to tell what it does.
    fn is_loaded(&self, op: usize) -> bool {
        self.load_s[op] >= LEAST_LOAD_S
    }

    /// By how much errors that go together overstate how many readings there are.
    fn correlation(&self, fit: &Fit) -> f64 {
        let model = fit.model(self);
        let errors: Vec<f64> = self.kelvin.iter().map(|(cell, k)| k - model[*cell]).collect();
        let square: f64 = errors.iter().map(|e| e * e).sum();
        let lagged: f64 = errors.windows(2).map(|w| w[0] * w[1]).sum();
        let rho = (lagged / square.max(1e-12)).clamp(0.0, 0.95);
        (1.0 + rho) / (1.0 - rho)
    }
}

/// Adds `amount` over the cells from `from_s` to `to_s`, as a rate.
fn spread(cells: &mut [f64], cell_s: f64, from_s: f64, to_s: f64, amount: f64) {
    let (first, last) = ((from_s / cell_s) as usize, (to_s / cell_s) as usize);
    for (cell, value) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
        let (start_s, end_s) = (cell as f64 * cell_s, (cell + 1) as f64 * cell_s);
        let overlap_s = (to_s.min(end_s) - from_s.max(start_s)).max(0.0);
        *value += amount * overlap_s / (to_s - from_s) / cell_s;
    }
}

/// A point of the search.
struct Fit {
    tau_s: [f64; 2],
    /// Share of the fast exponential.
    fast: f64,
    /// Kelvins for each GB/s of writing and reading.
    gains: [f64; 2],
    floor_k: f64,
    /// Sum of squared errors.
    misfit: f64,
}

impl Fit {
    fn model(&self, data: &ThermalData) -> Vec<f64> {
        let passed = |op: usize, i: usize| low_pass(&data.load[op], self.tau_s[i], data.cell_s);
        let (w1, w2, r1, r2) = (passed(0, 0), passed(0, 1), passed(1, 0), passed(1, 1));
        let slow = 1.0 - self.fast;
        (0..w1.len())
            .map(|c| {
                let write = self.fast * w1[c] + slow * w2[c];
                let read = self.fast * r1[c] + slow * r2[c];
                self.floor_k + self.gains[0] * write + self.gains[1] * read
            })
            .collect()
    }
}

/// Speed through a first-order lag, at the middle of each cell; exact for constant speed within a cell.
fn low_pass(load: &[f64], tau_s: f64, cell_s: f64) -> Vec<f64> {
    let (half, whole) = ((-cell_s / 2.0 / tau_s).exp(), (-cell_s / tau_s).exp());
    let mut state = 0.0;
    load.iter()
        .map(|speed| {
            let middle = speed + (state - speed) * half;
            state = speed + (state - speed) * whole;
            middle
        })
        .collect()
}

/// All points tried: a coarse grid, then two finer ones around the best.
fn search(data: &ThermalData) -> Vec<Fit> {
    const STEPS: usize = 11;
    let mut fits = Vec::new();
    let (mut fast, mut slow): ((f64, f64), (f64, f64)) = ((3.0, 90.0), (40.0, 1_500.0));
    for _ in 0..3 {
        let grid = |(low, high): (f64, f64)| {
            (0..STEPS).map(move |i| low * (high / low).powf(i as f64 / (STEPS - 1) as f64))
        };
        let slow_ones: Vec<(f64, Passed)> = grid(slow).map(|tau| (tau, Passed::new(data, tau))).collect();
        for tau1 in grid(fast) {
            let quick = Passed::new(data, tau1);
            // Closer together than this, the two are one.
            for (tau2, lazy) in slow_ones.iter().filter(|(tau2, _)| *tau2 >= 1.5 * tau1) {
                fits.extend(splits(data, [tau1, *tau2], &quick, lazy));
            }
        }
        let Some(best) = fits.iter().min_by(|a: &&Fit, b| a.misfit.total_cmp(&b.misfit)) else { break };
        let around = |tau: f64, (low, high): (f64, f64)| {
            let step = (high / low).powf(1.5 / (STEPS - 1) as f64);
            (tau / step, tau * step)
        };
        (fast, slow) = (around(best.tau_s[0], fast), around(best.tau_s[1], slow));
    }
    fits
}

/// Write and read speed through one time constant, at each reading, with the sums of products that need no other.
struct Passed {
    /// Write, read.
    at: [Vec<f64>; 2],
    /// Sums of it.
    sum: [f64; 2],
    /// Of its products with the temperature.
    by_kelvin: [f64; 2],
    /// Of its products with itself: write by write, write by read, read by read.
    by_itself: [f64; 3],
}

impl Passed {
    fn new(data: &ThermalData, tau_s: f64) -> Self {
        let at = [0, 1].map(|op: usize| {
            if !data.is_loaded(op) {
                return vec![0.0; data.kelvin.len()];
            }
            let passed = low_pass(&data.load[op], tau_s, data.cell_s);
            data.kelvin.iter().map(|(cell, _)| passed[*cell]).collect::<Vec<f64>>()
        });
        let by_kelvin = |op: &Vec<f64>| op.iter().zip(&data.kelvin).map(|(x, (_, kelvin))| x * kelvin).sum();
        Self {
            sum: [at[0].iter().sum(), at[1].iter().sum()],
            by_kelvin: [by_kelvin(&at[0]), by_kelvin(&at[1])],
            by_itself: [dot(&at[0], &at[0]), dot(&at[0], &at[1]), dot(&at[1], &at[1])],
            at,
        }
    }
}

/// In four sums, so that a processor need not wait for one addition to begin the next.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (a.chunks(4), b.chunks(4));
    let sums = a.zip(b).fold([0.0; 4], |mut sums, (a, b)| {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
        sums
    });
    sums.iter().sum()
}

/// The best fits for two time constants, one for each split between them.
///
/// For a split the columns are 1, writing and reading, each `f` quick and `1 - f` lazy, so all of their products are
/// made of those of quick and lazy ones; only quick by lazy has to be summed here.
fn splits(data: &ThermalData, tau_s: [f64; 2], quick: &Passed, lazy: &Passed) -> Vec<Fit> {
    let across = |a: usize, b: usize| match data.is_loaded(a) && data.is_loaded(b) {
        true => dot(&quick.at[a], &lazy.at[b]),
        false => 0.0,
    };
    let across = [[across(0, 0), across(0, 1)], [across(1, 0), across(1, 1)]];
    let solve = |fast: f64| {
        let slow = 1.0 - fast;
        let mix = |quick: f64, lazy: f64| fast * quick + slow * lazy;
        let product = |a: usize, b: usize| {
            fast * fast * quick.by_itself[a + b]
                + fast * slow * (across[a][b] + across[b][a])
                + slow * slow * lazy.by_itself[a + b]
        };
        let [write, read] = [0, 1].map(|op: usize| mix(quick.sum[op], lazy.sum[op]));
        let [write_kelvin, read_kelvin] =
            [0, 1].map(|op: usize| mix(quick.by_kelvin[op], lazy.by_kelvin[op]));
        let mut matrix = [
            [data.kelvin.len() as f64, write, read],
            [write, product(0, 0), product(0, 1)],
            [read, product(1, 0), product(1, 1)],
        ];
        let mut right = [data.sum_kelvin, write_kelvin, read_kelvin];
        for op in (0..2).filter(|op| !data.is_loaded(*op)) {
            without(&mut matrix, &mut right, op + 1);
        }
        let solution = solve_symmetric(matrix, right)?;
        let explained: f64 = solution.iter().zip(&right).map(|(x, b)| x * b).sum();
        let misfit = (data.sum_squares - explained).max(0.0);
        Some(Fit { tau_s, fast, gains: [solution[1], solution[2]], floor_k: solution[0], misfit })
    };
    (1..20)
        .filter_map(|step| solve(f64::from(step) / 20.0))
        .filter(|fit| fit.gains.iter().all(|g| *g >= 0.0))
        .collect()
}

/// Takes an unknown out of a system: it becomes 0.
fn without(matrix: &mut [[f64; 3]; 3], right: &mut [f64; 3], unknown: usize) {
    matrix[unknown] = [0.0; 3];
    matrix.iter_mut().for_each(|row| row[unknown] = 0.0);
    (matrix[unknown][unknown], right[unknown]) = (1.0, 0.0);
}

/// Solves a small symmetric system; `None` where it is singular.
fn solve_symmetric(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> Option<[f64; 3]> {
    for pivot in 0..3 {
        if matrix[pivot][pivot].abs() < 1e-9 {
            return None;
        }
        let (above, below) = matrix.split_at_mut(pivot + 1);
        for (offset, row) in below.iter_mut().enumerate() {
            let factor = row[pivot] / above[pivot][pivot];
            for (value, from) in row.iter_mut().zip(&above[pivot]).skip(pivot) {
                *value -= factor * from;
            }
            right[pivot + 1 + offset] -= factor * right[pivot];
        }
    }
    for row in (0..3).rev() {
        let known: f64 = (row + 1..3).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}
