//! What drives the readings allow.
//!
//! `T = floor + x e + sum over i of w_i (g_w W_i + g_r R_i)` where `W_i` and `R_i` are write and read speed through a
//! low-pass of `tau_i`, `e` what was left of the warmth before the run, and the `w_i` add up to 1: the Foster form of a
//! drive of any number of nodes (facts, model 5.1). How the `w_i` come about says [`super::shape`].
//!
//! Where a regulator slows the whole drive down, a byte costs less than at full speed (SSD2 of the seed experiments: power
//! goes with the 3.5th power of its speed). So a speed `v` heats like `v ((1 - c) + c (v / full)^3)`, and a gain is that at
//! full speed.

use measure::Seed;

use super::data::ThermalData;
use super::shape::{Shape, TAUS, Weights, tau_s};
use crate::posterior::{Draws, least};

/// 12 K for a GB/s is an M.2 drive of 12 K/W at a joule a GB; a USB stick has ten times that.
const LN_GAIN: (f64, f64) = (2.5, 1.5);
/// What was left of the warmth before the run, in kelvins.
const WARM_SD_K: f64 = 2.5;
const FLOOR_SD_K: f64 = 15.0;
/// One reading in so many seconds is independent of the one before.
const INDEPENDENT_S: f64 = 16.0;
/// An autocorrelation up to this is none.
const LOST: f64 = 0.1;
/// Least scatter of a reading around the model in kelvins: noise of a sensor; and what cutting off to steps adds.
const READING_SD_K: f64 = 0.2;
const OF_A_STEP: f64 = 0.29;
/// Exponent of what goes with a power of the speed, and the logit of its share `c` before any data, where there is any: on
/// one drive in four.
const BENT: i32 = 4;
const LOGIT_BENT: (f64, f64) = (0.0, 1.5);
const BENT_SHARE: f64 = 0.25;
/// Full speed is about what one cell in twenty of those with load exceeds; speeds scatter.
const FULL: f64 = 0.95;
const ABOUT: f64 = 0.9;
/// Logarithms of the lag of a sensor that hardly lags, over that of most, and of a rise over what is looked for first.
const PROMPT: f64 = -3.0;
const LESS: f64 = -0.3;
/// So many drives are drawn.
const DRAWN: usize = 40;
/// The same record gives the same numbers.
const SEED: Seed = Seed::new(1);

/// Places of the parameters in their vector: the logarithms of how far the mean load heats and of the ratio of the gains (loads that keep
/// one ratio of reads to writes leave that open, and a line is followed to its end where a curve is not), ...
const RISE: usize = 0;
const RATIO: usize = 1;
const FLOOR: usize = 2;
const WARM: usize = 3;
/// ... those of the weights, and of a bent drive two more.
const SHAPE: usize = 4;

/// One drive that the readings allow.
#[derive(Clone, Debug)]
pub(super) struct PoleDrive {
    /// Kelvins in the end for each GB/s of writing and reading, at full speed.
    pub gain_k: [f64; 2],
    /// Share of that which goes with a power of the speed.
    bent: [f64; 2],
    /// Share of the rise by time constant, ...
    weights: Weights,
    /// ... and as a sensor shows it that follows late.
    seen: Weights,
    /// Temperature without load, in kelvins.
    pub floor_k: f64,
    /// Whether it has a time constant of an hour, which no usual load shows.
    pub slow: bool,
}

impl PoleDrive {
    /// Share of the rise that is there after so many seconds of an even load, or that its sensor has `seen`.
    pub(super) fn risen(&self, seconds: f64, seen: bool) -> f64 {
        let weights = if seen { &self.seen } else { &self.weights };
        weights.iter().map(|(at, weight)| weight * (1.0 - (-seconds / tau_s(*at)).exp())).sum()
    }
}

/// The drives that the readings allow: each is the best one for readings and prior means that are off once more, by as much
/// as they may be (randomize, then optimize: Bardsley and others, SIAM J. Sci. Comput. 36, 2014). A random walk of the same
/// cost had not gone around. And by how much the best one misses them, as a root mean square in kelvins.
pub(super) fn drives(data: &ThermalData) -> (Vec<PoleDrive>, f64) {
    let loads: Vec<Vec<[Passed; TAUS]>> = data.early_s.iter().map(|early_s| passed(data, *early_s)).collect();
    let shapes = [Shape::Fixed, Shape::Free].into_iter().flat_map(|shape| [(shape, false), (shape, true)]);
    let kinds = shapes.chain([(Shape::Two, false), (Shape::Slow, false)]);
    let kinds: Vec<_> =
        loads.iter().flat_map(|passed| kinds.clone().map(move |kind| (passed, kind))).collect();
    let found: Vec<_> = kinds
        .into_iter()
        .map(|(passed, (shape, bent))| {
            let model = PoleModel::new(data, passed, shape, bent);
            let theta = model.found();
            (model.rms_k(&theta), model, theta)
        })
        .collect();
    let best = found.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let (rms_k, lasts_s) = best.map_or((0.0, 0.0), |(rms_k, model, theta)| (*rms_k, model.lasts_s(theta)));
    let found = found.into_iter().map(|(_, model, theta)| {
        let model = model.scattered(rms_k, lasts_s);
        let (theta, covariance) = optimum(theta, &|theta| model.residuals(theta));
        let likely = model.log_evidence(&theta, &covariance);
        (model, theta, likely)
    });
    let found: Vec<_> = found.collect();
    let most = found.iter().map(|found| found.2).fold(f64::NEG_INFINITY, f64::max);
    let odds = found.iter().map(|found| (found.2 - most).exp());
    let ends: Vec<f64> = odds
        .scan(0.0, |sum, odds| {
            *sum += odds;
            Some(*sum)
        })
        .collect();
    let mut draws = Draws::new(SEED);
    let drives = (0..DRAWN).map(|number| {
        let place = (number as f64 + 0.5) / DRAWN as f64 * ends[ends.len() - 1];
        let (model, theta, _) = &found[ends.partition_point(|end| *end < place)];
        let errors: Vec<f64> = (0..data.readings.len() + theta.len()).map(|_| draws.normal()).collect();
        let shaken = |theta: &[f64]| {
            model.residuals(theta).iter().zip(&errors).map(|(residual, error)| residual + error).collect()
        };
        model.drive(&optimum(theta.clone(), &shaken).0)
    });
    (drives.collect(), rms_k)
}

/// Least squares to the end: the weight of a time constant that the drive does not have goes to nothing slowly.
fn optimum(start: Vec<f64>, residuals: &dyn Fn(&[f64]) -> Vec<f64>) -> (Vec<f64>, Vec<Vec<f64>>) {
    least::fit_until(start, 1e-6, 120, &residuals)
}

/// A reading's load through the low-pass of one time constant.
#[derive(Clone, Copy, Default)]
struct Passed {
    /// Write and read speed in GB/s.
    speed: [f64; 2],
    /// The same by the power of [`BENT`], as much at full speed.
    bent: [f64; 2],
    /// What is left of a kelvin from before the run.
    left: f64,
}

struct PoleModel<'a> {
    data: &'a ThermalData,
    passed: &'a [[Passed; TAUS]],
    /// Whether a part of the heat may go with a power of the speed.
    bent: bool,
    sd_k: f64,
    /// One reading in so many seconds is independent of the one before.
    independent_s: f64,
    /// Means of write and read speed in GB/s.
    mean: [f64; 2],
    shape: Shape,
    /// Mean and deviation of its parameters.
    shape_prior: Vec<(f64, f64)>,
}

impl<'a> PoleModel<'a> {
    fn new(data: &'a ThermalData, passed: &'a [[Passed; TAUS]], shape: Shape, bent: bool) -> Self {
        let mean = [0, 1].map(|op: usize| data.load[op].iter().sum::<f64>() / data.load[op].len() as f64);
        let mean = if mean == [0.0; 2] { [1.0; 2] } else { mean };
        let sd_k = READING_SD_K.hypot(OF_A_STEP * data.step_k);
        Self {
            data,
            passed,
            bent,
            sd_k,
            independent_s: INDEPENDENT_S,
            mean,
            shape,
            shape_prior: shape.prior(),
        }
    }

    fn drive(&self, theta: &[f64]) -> PoleDrive {
        let shape = &theta[SHAPE..self.bent_at()];
        let (rise_k, ratio) = (theta[RISE].exp(), theta[RATIO].exp());
        let read_k = rise_k / (ratio * self.mean[0] + self.mean[1]);
        let logit = |op: usize| theta.get(self.bent_at() + op);
        let (weights, seen) = self.shape.weights(shape);
        PoleDrive {
            gain_k: [ratio * read_k, read_k],
            bent: [0, 1].map(|op| logit(op).map_or(0.0, |logit| 1.0 / (1.0 + (-logit).exp()))),
            weights,
            seen,
            floor_k: theta[FLOOR],
            slow: self.shape == Shape::Slow,
        }
    }

    /// Where the parameters of a bent drive are.
    fn bent_at(&self) -> usize {
        SHAPE + self.shape_prior.len()
    }

    /// The same with the scatter of readings that a model of the run leaves, in kelvins, and with as few independent ones as that shows: what a
    /// room adds that warms up and cools down stays for minutes.
    fn scattered(self, rms_k: f64, lasts_s: f64) -> Self {
        let independent_s =
            if rms_k > self.sd_k { self.independent_s.max(lasts_s) } else { self.independent_s };
        Self { sd_k: self.sd_k.max(rms_k), independent_s, ..self }
    }

    /// For how long what readings miss it by stays alike, in seconds: the sum of its autocorrelation, until that is lost.
    fn lasts_s(&self, theta: &[f64]) -> f64 {
        let drive = self.drive(theta);
        let readings = self.passed.iter().zip(&self.data.readings);
        let missed: Vec<f64> =
            readings.map(|(at, (_, kelvin))| kelvin - self.kelvin(&drive, theta[WARM], at)).collect();
        let product = |lag: usize| missed.iter().zip(&missed[lag..]).map(|(a, b)| a * b).sum::<f64>();
        let alike = (1..missed.len() / 4).map(|lag| product(lag) / product(0).max(1e-12));
        self.data.apart_s * (1.0 + 2.0 * alike.take_while(|alike| *alike > LOST).sum::<f64>())
    }

    /// By how much parameters, and logarithms of the gains in place of theirs, miss what is known before any data, over its deviation.
    fn misses_prior(&self, theta: &[f64], drive: &PoleDrive) -> Vec<f64> {
        let off = |value: f64, (mean, sd): (f64, f64)| (value - mean) / sd;
        let mut missed = drive.gain_k.map(|gain_k| off(gain_k.ln(), LN_GAIN)).to_vec();
        missed.push(off(theta[FLOOR], (self.data.readings[0].1, FLOOR_SD_K.hypot(self.data.warm_k))));
        let warm_sd_k = WARM_SD_K.hypot(self.data.rising_k).hypot(self.data.warm_k);
        missed.push(off(theta[WARM], (0.0, warm_sd_k)));
        let shape = theta[SHAPE..].iter().zip(&self.shape_prior);
        missed.extend(shape.map(|(value, prior)| off(*value, *prior)));
        missed.extend(theta[self.bent_at()..].iter().map(|logit| off(*logit, LOGIT_BENT)));
        missed
    }

    /// The best drive. It is looked for from two sides, as one search in some ended far off: from a sensor that lags as most do, and from one
    /// that hardly does on a drive that warms up by less.
    fn found(&self) -> Vec<f64> {
        let lag_at = self.bent_at() - 1;
        let found = [(0.0, 0.0), (PROMPT, LESS)].map(|(lag, rise)| {
            let mut start = self.start();
            start[lag_at] += lag;
            start[RISE] += rise;
            optimum(start, &|theta| self.residuals(theta)).0
        });
        let [lagging, prompt] = found;
        if self.loss(&lagging) <= self.loss(&prompt) { lagging } else { prompt }
    }

    fn start(&self) -> Vec<f64> {
        let readings = self.data.readings.iter().map(|(_, kelvin)| *kelvin);
        let rise_k = (1.3 * (readings.fold(0.0, f64::max) - self.data.readings[0].1)).max(1.0);
        let fastest = |op: usize| self.data.load[op].iter().copied().fold(0.0, f64::max);
        let gain = |op: usize| if fastest(op) > 0.0 { (rise_k / fastest(op)).ln() } else { LN_GAIN.0 };
        let (write, read) = (gain(0), gain(1));
        let rise = (write.exp() * self.mean[0] + read.exp() * self.mean[1]).ln();
        let mut start = vec![rise, write - read, self.data.readings[0].1, 0.0];
        start.extend(self.shape_prior.iter().map(|(mean, _)| *mean));
        start.extend(if self.bent { &[LOGIT_BENT.0; 2][..] } else { &[] });
        start
    }

    fn kelvin(&self, drive: &PoleDrive, warm_k: f64, at: &[Passed; TAUS]) -> f64 {
        let load = |at: &Passed, op: usize| {
            drive.gain_k[op] * (at.speed[op] + drive.bent[op] * (at.bent[op] - at.speed[op]))
        };
        let rise = drive.seen.iter().map(|(place, weight)| {
            let at = &at[*place];
            weight * (load(at, 0) + load(at, 1) + warm_k * at.left)
        });
        drive.floor_k + rise.sum::<f64>()
    }

    /// What each reading misses the model by over its deviation, weighed by how independent it is; then the prior.
    fn residuals(&self, theta: &[f64]) -> Vec<f64> {
        let drive = self.drive(theta);
        let weight = (self.data.apart_s / self.independent_s).min(1.0).sqrt() / self.sd_k;
        let readings = self.passed.iter().zip(&self.data.readings);
        let misses =
            readings.map(|(at, (_, kelvin))| weight * (kelvin - self.kelvin(&drive, theta[WARM], at)));
        misses.chain(self.misses_prior(theta, &drive)).collect()
    }

    /// Negative logarithm of how likely it is, but for a constant.
    fn loss(&self, theta: &[f64]) -> f64 {
        0.5 * self.residuals(theta).iter().map(|missed| missed * missed).sum::<f64>()
    }

    /// Logarithm of how likely the readings are under all drives of this kind, and it before any data (Laplace's approximation), but for
    /// a constant.
    fn log_evidence(&self, theta: &[f64], covariance: &[Vec<f64>]) -> f64 {
        let sds = match least::cholesky(covariance) {
            Some(lower) => lower,
            None => covariance.iter().map(|row| row.iter().map(|one| one.sqrt()).collect()).collect(),
        };
        let allowed: f64 = sds.iter().enumerate().map(|(i, row)| row[i].ln()).sum();
        let shape: f64 = self.shape_prior.iter().map(|(_, sd)| sd.ln()).sum();
        let bent =
            if self.bent { 2.0 * LOGIT_BENT.1.ln() - BENT_SHARE.ln() } else { -(1.0 - BENT_SHARE).ln() };
        allowed - shape - bent + self.shape.ln_share() - self.loss(theta)
    }

    fn rms_k(&self, theta: &[f64]) -> f64 {
        let drive = self.drive(theta);
        let readings = self.passed.iter().zip(&self.data.readings);
        let squares =
            readings.map(|(at, (_, kelvin))| (kelvin - self.kelvin(&drive, theta[WARM], at)).powi(2));
        (squares.sum::<f64>() / self.data.readings.len() as f64).sqrt()
    }
}

/// The load of each reading, by all time constants, where it was so much earlier than the log has it.
fn passed(data: &ThermalData, early_s: f64) -> Vec<[Passed; TAUS]> {
    let bent = [0, 1].map(|op: usize| bent(&data.load[op]));
    let mut passed = vec![[Passed::default(); TAUS]; data.readings.len()];
    for i in 0..TAUS {
        let tau_s = tau_s(i);
        for op in 0..2 {
            let speed = LowPass::new(&data.load[op], tau_s, data.cell_s);
            let bent = LowPass::new(&bent[op], tau_s, data.cell_s);
            for (at, (t_s, _)) in passed.iter_mut().zip(&data.readings) {
                (at[i].speed[op], at[i].bent[op]) = (speed.at(*t_s + early_s), bent.at(*t_s + early_s));
                at[i].left = (-t_s / tau_s).exp();
            }
        }
    }
    passed
}

/// Speed through a first-order lag; exact for constant speed within a cell.
struct LowPass<'a> {
    load: &'a [f64],
    tau_s: f64,
    cell_s: f64,
    /// At the beginning of each cell.
    began: Vec<f64>,
}

impl<'a> LowPass<'a> {
    fn new(load: &'a [f64], tau_s: f64, cell_s: f64) -> Self {
        let kept = (-cell_s / tau_s).exp();
        let states = load.iter().scan(0.0, |state, speed| {
            let began = *state;
            *state = speed + (began - speed) * kept;
            Some(began)
        });
        Self { load, tau_s, cell_s, began: states.collect() }
    }

    fn at(&self, t_s: f64) -> f64 {
        let cell = ((t_s / self.cell_s) as usize).min(self.began.len() - 1);
        let kept = (-(t_s - cell as f64 * self.cell_s) / self.tau_s).exp();
        self.load[cell] + (self.began[cell] - self.load[cell]) * kept
    }
}

/// A load by the power of [`BENT`], as much at full speed.
fn bent(load: &[f64]) -> Vec<f64> {
    let full = full_speed(load);
    load.iter().map(|speed| speed * (speed / full).powi(BENT - 1)).collect()
}

/// The mean of the cells about as fast as [`FULL`] of those with load.
fn full_speed(load: &[f64]) -> f64 {
    let mut loaded: Vec<f64> = load.iter().copied().filter(|speed| *speed > 0.0).collect();
    loaded.sort_by(f64::total_cmp);
    let Some(fast) = loaded.get((loaded.len() as f64 * FULL) as usize) else { return 1.0 };
    let fastest = &loaded[loaded.partition_point(|speed| *speed < ABOUT * fast)..];
    fastest.iter().sum::<f64>() / fastest.len() as f64
}
