//! Eleven fixed time constants, and what weights of them the readings allow.
//!
//! `T = floor + x e + sum over i of w_i (g_w W_i + g_r R_i)` where `W_i` and `R_i` are write and read speed through a
//! low-pass of `tau_i`, `e` what was left of the warmth before the run, and the `w_i` add up to 1: the Foster form of a
//! drive of any number of nodes (facts, model 5.1). Two free time constants are sure of what a drive of four nodes does
//! not have; fixed ones with a wide prior are as unsure as the run is short.

use measure::Seed;

use super::data::ThermalData;
use crate::posterior::{Draws, least};

/// Time constants in seconds: even in the logarithm over what a run of half an hour can show.
pub(super) const TAU_S: [f64; 11] = [2.0, 4.0, 7.0, 13.0, 24.0, 45.0, 85.0, 155.0, 290.0, 540.0, 1000.0];
/// Means of the logarithms of their weights before any data. Flat: a steep one took plateaus of an hour for 3 K too low.
const PRIOR: [f64; 11] = [-0.5, -0.4, -0.3, 0.0, 0.0, 0.0, 0.0, 0.0, -0.2, -0.4, -0.6];
const PRIOR_SD: f64 = 1.5;
/// 12 K for a GB/s is an M.2 drive of 12 K/W at a joule a GB; a USB stick has ten times that.
const LN_GAIN: (f64, f64) = (2.5, 1.5);
/// What was left of the warmth before the run, in kelvins.
const WARM_SD_K: f64 = 2.5;
const FLOOR_SD_K: f64 = 15.0;
/// One reading in so many seconds is independent of the one before.
const INDEPENDENT_S: f64 = 16.0;
/// Least scatter of a reading around the model in kelvins: noise of a sensor; and what cutting off to steps adds.
const READING_SD_K: f64 = 0.2;
const OF_A_STEP: f64 = 0.29;
/// So many drives are drawn.
const DRAWN: usize = 40;
/// The same record gives the same numbers.
const SEED: Seed = Seed::new(1);

/// Places of the parameters in their vector.
const GAIN: usize = 0;
const FLOOR: usize = 2;
const WARM: usize = 3;
const SHAPE: usize = 4;
const COUNT: usize = SHAPE + TAU_S.len();

/// One drive that the readings allow.
#[derive(Clone, Debug)]
pub(super) struct PoleDrive {
    /// Kelvins in the end for each GB/s of writing and reading.
    pub gain_k: [f64; 2],
    /// Share of the rise by time constant.
    pub weights: [f64; 11],
    /// Temperature without load, in kelvins.
    pub floor_k: f64,
}

impl PoleDrive {
    fn new(theta: &[f64]) -> Self {
        let logs: [f64; 11] = std::array::from_fn(|i| theta[SHAPE + i].clamp(-8.0, 8.0).exp());
        let sum: f64 = logs.iter().sum();
        Self {
            gain_k: [theta[GAIN].exp(), theta[GAIN + 1].exp()],
            weights: logs.map(|weight| weight / sum),
            floor_k: theta[FLOOR],
        }
    }

    /// Share of the rise that is there after so many seconds of an even load.
    pub(super) fn risen(&self, seconds: f64) -> f64 {
        TAU_S.iter().zip(&self.weights).map(|(tau_s, weight)| weight * (1.0 - (-seconds / tau_s).exp())).sum()
    }
}

/// The drives that the readings allow: each is the best one for readings and prior means that are off once more, by as much
/// as they may be (randomize, then optimize: Bardsley and others, SIAM J. Sci. Comput. 36, 2014). A random walk of the same
/// cost had not gone around. And by how much the best one misses them, as a root mean square in kelvins.
pub(super) fn drives(data: &ThermalData) -> (Vec<PoleDrive>, f64) {
    let mut model = PoleModel::new(data);
    let theta = optimum(model.start(), &|theta| model.residuals(theta));
    let rms_k = model.rms_k(&theta);
    let rounding = (OF_A_STEP * data.step_k).powi(2);
    model.sd_k = (rms_k * rms_k).max(rounding + READING_SD_K * READING_SD_K).sqrt();
    let theta = optimum(theta, &|theta| model.residuals(theta));
    let mut draws = Draws::new(SEED);
    let count = model.residuals(&theta).len();
    let drive = |_| {
        let errors: Vec<f64> = (0..count).map(|_| draws.normal()).collect();
        let shaken = |theta: &[f64]| {
            model.residuals(theta).iter().zip(&errors).map(|(residual, error)| residual + error).collect()
        };
        PoleDrive::new(&optimum(theta.clone(), &shaken))
    };
    ((0..DRAWN).map(drive).collect(), rms_k)
}

/// Least squares to the end: the weight of a time constant that the drive does not have goes to nothing slowly.
fn optimum(start: Vec<f64>, residuals: &dyn Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    least::fit_until(start, 1e-6, 120, &residuals).0
}

struct PoleModel<'a> {
    data: &'a ThermalData,
    /// At each reading, by time constant: write and read speed through its low-pass, and what is left of a kelvin.
    passed: Vec<[[f64; 3]; 11]>,
    sd_k: f64,
}

impl<'a> PoleModel<'a> {
    fn new(data: &'a ThermalData) -> Self {
        let mut passed = vec![[[0.0; 3]; 11]; data.readings.len()];
        for (i, tau_s) in TAU_S.into_iter().enumerate() {
            let write = low_pass(&data.load[0], tau_s, data.cell_s);
            let read = low_pass(&data.load[1], tau_s, data.cell_s);
            for (at, (t_s, _)) in passed.iter_mut().zip(&data.readings) {
                let cell = ((t_s / data.cell_s) as usize).min(write.len() - 1);
                // From the beginning of the cell on, at its even speed.
                let kept = (-(t_s - cell as f64 * data.cell_s) / tau_s).exp();
                let load = |op: usize, began: f64| data.load[op][cell] + (began - data.load[op][cell]) * kept;
                at[i] = [load(0, write[cell]), load(1, read[cell]), (-t_s / tau_s).exp()];
            }
        }
        Self { data, passed, sd_k: READING_SD_K.hypot(OF_A_STEP * data.step_k) }
    }

    fn prior(&self) -> [(f64, f64); COUNT] {
        let mut prior = [(0.0, WARM_SD_K); COUNT];
        (prior[GAIN], prior[GAIN + 1]) = (LN_GAIN, LN_GAIN);
        prior[FLOOR] = (self.data.readings[0].1, FLOOR_SD_K);
        (0..TAU_S.len()).for_each(|i| prior[SHAPE + i] = (PRIOR[i], PRIOR_SD));
        prior
    }

    fn start(&self) -> Vec<f64> {
        let mut start: Vec<f64> = self.prior().iter().map(|(mean, _)| *mean).collect();
        let readings = self.data.readings.iter().map(|(_, kelvin)| *kelvin);
        let rise_k = readings.fold(0.0, f64::max) - self.data.readings[0].1;
        for op in 0..2 {
            let fastest = self.data.load[op].iter().copied().fold(0.0, f64::max);
            if fastest > 0.0 && rise_k > 0.0 {
                start[GAIN + op] = (1.3 * rise_k / fastest).ln();
            }
        }
        start
    }

    fn kelvin(&self, drive: &PoleDrive, warm_k: f64, at: &[[f64; 3]; 11]) -> f64 {
        let rise = at.iter().zip(&drive.weights).map(|([write, read, left], weight)| {
            weight * (drive.gain_k[0] * write + drive.gain_k[1] * read + warm_k * left)
        });
        drive.floor_k + rise.sum::<f64>()
    }

    /// What each reading misses the model by over its deviation, weighed by how independent it is; then the prior.
    fn residuals(&self, theta: &[f64]) -> Vec<f64> {
        let drive = PoleDrive::new(theta);
        let weight = (self.data.apart_s / INDEPENDENT_S).min(1.0).sqrt() / self.sd_k;
        let readings = self.passed.iter().zip(&self.data.readings);
        let misses =
            readings.map(|(at, (_, kelvin))| weight * (kelvin - self.kelvin(&drive, theta[WARM], at)));
        let prior = self.prior();
        let prior = prior.iter().zip(theta).map(|((mean, sd), value)| (value - mean) / sd);
        misses.chain(prior).collect()
    }

    fn rms_k(&self, theta: &[f64]) -> f64 {
        let drive = PoleDrive::new(theta);
        let readings = self.passed.iter().zip(&self.data.readings);
        let squares =
            readings.map(|(at, (_, kelvin))| (kelvin - self.kelvin(&drive, theta[WARM], at)).powi(2));
        (squares.sum::<f64>() / self.data.readings.len() as f64).sqrt()
    }
}

/// Speed through a first-order lag, at the beginning of each cell; exact for constant speed within a cell.
fn low_pass(load: &[f64], tau_s: f64, cell_s: f64) -> Vec<f64> {
    let kept = (-cell_s / tau_s).exp();
    let states = load.iter().scan(0.0, |state, speed| {
        let began = *state;
        *state = speed + (began - speed) * kept;
        Some(began)
    });
    states.collect()
}
