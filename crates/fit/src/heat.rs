//! Heat: from the speeds of every second to the temperature, and how likely the readings are under it.
//!
//! `T = floor_run + sum_i w_i x_i`, each `x_i` the heat of the load through a low-pass of `tau_i` (Foster form), all
//! seen through the sensor's lag. The heat of a load is in kelvins it would come to in the end: gain times speed, less
//! where a regulator slows the whole drive down (`level^(exponent - 1)`, as `physics::power` has it).
//!
//! Two shapes are tried: eight fixed poles with weights that a prior keeps near one another, and two free poles. Free
//! poles are falsely sure of themselves on drives of three and more nodes, fixed ones waste short runs on drives of two.
//!
//! The readings are neighbours and no independent witnesses: their likelihood is tempered to one reading in 16 s.

use crate::data::{Asked, RunData, STEP_S};

/// Time constants of the fixed poles in seconds: even in the logarithm over what a run of half an hour can show.
pub(crate) const FIXED_TAU_S: [f64; 8] = [2.0, 6.0, 15.0, 35.0, 80.0, 180.0, 400.0, 1000.0];
/// Means of the logarithms of their weights before any data. Flat: a steep one took plateaus of an hour for 3 K too low.
const FIXED_PRIOR: [f64; 8] = [-0.5, -0.3, 0.0, 0.0, 0.0, 0.0, -0.3, -0.6];
const FIXED_PRIOR_SD: f64 = 1.5;
/// One reading in so many seconds counts as independent of the one before.
const INDEPENDENT_S: f64 = 16.0;
/// Least scatter of a reading around the model in kelvins: noise of a sensor.
const READING_SD_K: f64 = 0.2;
/// Shortest rest after writing whose heat is a question: folding of the write cache begins after some seconds.
const FOLD_SECONDS: usize = 20;

/// The shape of the step response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeatShape {
    Fixed,
    TwoFree,
}

impl HeatShape {
    pub(crate) const fn len(self) -> usize {
        match self {
            Self::Fixed => FIXED_TAU_S.len(),
            Self::TwoFree => 3,
        }
    }
}

/// Places of the parameters in their vector; those of the shape, then two for each run, follow.
const LN_GAIN: usize = 0;
const LN_EXPONENT: usize = 2;
const LN_LAG: usize = 4;
const FOLD_K: usize = 5;
const SHAPE: usize = 6;

/// The logarithm of next to nothing: an exponent of 1.
const NO_EXPONENT: f64 = -9.0;

/// A mode of the step response: time constant in seconds and weight; weights add up to 1.
pub(crate) type Modes = Vec<(f64, f64)>;

/// Heat parameters in words.
#[derive(Clone, Debug)]
pub(crate) struct FittedHeat {
    /// Kelvins in the end for each GB/s: reading, writing.
    pub(crate) gain_k: [f64; 2],
    /// Exponent of dynamic power over the throttle level: reading, writing.
    pub(crate) exponent: [f64; 2],
    /// Lag of the sensor in seconds.
    pub(crate) lag_s: f64,
    pub(crate) modes: Modes,
    /// Temperature at rest in kelvins, a value a run.
    pub(crate) floor_k: Vec<f64>,
}

/// What the heat of a set of runs is asked.
pub(crate) struct HeatModel<'a> {
    pub(crate) runs: &'a [RunData],
    pub(crate) shape: HeatShape,
    /// Logarithm of the level at which a regulator held the drive, a value a second; 0 where none did.
    pub(crate) ln_level: &'a [Vec<f64>],
    /// Seconds of rest that may fold the write cache.
    folding: Vec<Vec<bool>>,
    has_folding: bool,
    has_levels: bool,
    scatter_k: f64,
    rates: Vec<usize>,
}

impl<'a> HeatModel<'a> {
    pub(crate) fn new(runs: &'a [RunData], shape: HeatShape, ln_level: &'a [Vec<f64>]) -> Self {
        let folding: Vec<Vec<bool>> = runs.iter().map(folding).collect();
        let has_folding = folding.iter().flatten().filter(|fold| **fold).count() >= FOLD_SECONDS;
        let has_levels = ln_level.iter().flatten().any(|level| *level < 0.0);
        // Of readings closer than 2 s every second one is enough.
        let rates = runs.iter().map(|run| if run.period_s < 1.5 { 2 } else { 1 }).collect();
        Self { runs, shape, ln_level, folding, has_folding, has_levels, scatter_k: READING_SD_K, rates }
    }

    /// Takes what is left over after a fit for the readings' scatter, where it is more.
    pub(crate) fn scatter(&mut self, rms_k: f64) {
        let rounding = self.runs.iter().map(|run| run.resolution_k).fold(0.0, f64::max).powi(2) / 12.0;
        self.scatter_k = (rms_k * rms_k - rounding).max(READING_SD_K * READING_SD_K).sqrt();
    }

    pub(crate) fn len(&self) -> usize {
        SHAPE + self.shape.len() + 2 * self.runs.len()
    }

    /// Prior mean and deviation of each parameter.
    pub(crate) fn prior(&self) -> Vec<(f64, f64)> {
        let mut prior = vec![(0.0, 1e-3); self.len()];
        prior[LN_EXPONENT] = (NO_EXPONENT, 1e-3);
        prior[LN_EXPONENT + 1] = (NO_EXPONENT, 1e-3);
        // 12 K for a GB/s is an M.2 drive of 12 W/K at a joule a GB; a USB stick has ten times that.
        prior[LN_GAIN] = (2.5, 1.5);
        prior[LN_GAIN + 1] = (2.5, 1.5);
        if self.has_levels {
            // What trials on drives with regulators found: exponents of 1 to 3.5. It is what is above 1.
            prior[LN_EXPONENT] = (-1.0, 1.5);
            prior[LN_EXPONENT + 1] = (-1.0, 1.5);
        }
        prior[LN_LAG] = (0.2, 0.8);
        if self.has_folding {
            prior[FOLD_K] = (1.0, 3.0);
        }
        match self.shape {
            HeatShape::Fixed => {
                for (at, mean) in FIXED_PRIOR.into_iter().enumerate() {
                    prior[SHAPE + at] = (mean, FIXED_PRIOR_SD);
                }
            }
            HeatShape::TwoFree => {
                prior[SHAPE] = (3.4, 0.8);
                prior[SHAPE + 1] = (5.2, 0.8);
                prior[SHAPE + 2] = (0.0, 1.2);
            }
        }
        for (at, run) in self.runs.iter().enumerate() {
            let first_k = run.readings.first().map_or(310.0, |reading| reading.kelvin);
            prior[self.floor_at(at)] = (first_k + 0.5 * run.resolution_k, 15.0);
            prior[self.floor_at(at) + 1] = (0.0, if starts_at_rest(run) { 0.7 } else { 2.5 });
        }
        prior
    }

    /// Where to begin: with regulators from several exponents, which the optimum may lie between.
    pub(crate) fn starts(&self) -> Vec<Vec<f64>> {
        let exponents: &[[f64; 2]] = if self.has_levels {
            &[[-2.0, -2.0], [0.5, 0.5], [-2.0, 0.5], [0.5, -2.0]]
        } else {
            &[[NO_EXPONENT; 2]]
        };
        let start = self.start();
        exponents
            .iter()
            .map(|exponents| {
                let mut start = start.clone();
                start[LN_EXPONENT..LN_EXPONENT + 2].copy_from_slice(exponents);
                start
            })
            .collect()
    }

    fn start(&self) -> Vec<f64> {
        let mut start: Vec<f64> = self.prior().iter().map(|(mean, _)| *mean).collect();
        for (op, gain) in [self.rough_gain(0), self.rough_gain(1)].into_iter().enumerate() {
            if let Some(gain) = gain {
                start[LN_GAIN + op] = gain.ln();
            }
        }
        start
    }

    /// The rise over the speed of an operation, roughly: where to begin.
    fn rough_gain(&self, op: usize) -> Option<f64> {
        let speeds = self
            .runs
            .iter()
            .flat_map(|run| &run.steps)
            .map(|step| if op == 0 { step.read } else { step.write });
        let fastest = speeds.fold(0.0, f64::max);
        let rise = |run: &RunData| Some(run.hottest_k()? - run.readings.first()?.kelvin);
        let rise = self.runs.iter().filter_map(rise).fold(1.0, f64::max);
        (fastest > 0.0).then(|| 1.3 * rise / fastest)
    }

    const fn floor_at(&self, run: usize) -> usize {
        SHAPE + self.shape.len() + 2 * run
    }

    /// Parameters in words.
    pub(crate) fn words(&self, theta: &[f64]) -> FittedHeat {
        FittedHeat {
            gain_k: [theta[LN_GAIN].exp(), theta[LN_GAIN + 1].exp()],
            exponent: [theta[LN_EXPONENT], theta[LN_EXPONENT + 1]].map(|ln| 1.0 + ln.min(2.0).exp()),
            lag_s: theta[LN_LAG].clamp(-3.0, 4.0).exp(),
            modes: self.modes(theta),
            floor_k: (0..self.runs.len()).map(|run| theta[self.floor_at(run)]).collect(),
        }
    }

    fn modes(&self, theta: &[f64]) -> Modes {
        match self.shape {
            HeatShape::Fixed => {
                let logs = &theta[SHAPE..SHAPE + FIXED_TAU_S.len()];
                let weights: Vec<f64> = logs.iter().map(|log| log.clamp(-8.0, 8.0).exp()).collect();
                let sum: f64 = weights.iter().sum();
                FIXED_TAU_S.iter().zip(weights).map(|(tau_s, weight)| (*tau_s, weight / sum)).collect()
            }
            HeatShape::TwoFree => {
                let fast_s = theta[SHAPE].clamp(0.0, 6.0).exp();
                let slow_s = theta[SHAPE + 1].clamp(2.0, 8.0).exp().max(1.3 * fast_s);
                let share = 1.0 / (1.0 + (-theta[SHAPE + 2].clamp(-6.0, 6.0)).exp());
                vec![(fast_s, share), (slow_s, 1.0 - share)]
            }
        }
    }

    /// The temperature as the sensor has it, at the beginning of each second of a run and at its end.
    pub(crate) fn course(&self, theta: &[f64], run: usize) -> Vec<f64> {
        let heat = self.words(theta);
        let (floor_k, excess_k) = (theta[self.floor_at(run)], theta[self.floor_at(run) + 1]);
        let fold_k = if self.has_folding { theta[FOLD_K] } else { 0.0 };
        let decay: Vec<f64> = heat.modes.iter().map(|(tau_s, _)| (-STEP_S / tau_s).exp()).collect();
        // What was warm before the run is warm in the slow modes.
        let slow: f64 = heat.modes.iter().map(|(tau_s, weight)| tau_s * weight).sum();
        let mut state: Vec<f64> =
            heat.modes.iter().map(|(tau_s, weight)| excess_k * tau_s * weight / slow).collect();
        let keep = (-STEP_S / heat.lag_s).exp();
        // A low-pass of a straight line from one value to the next, exactly.
        let ramp = 1.0 - heat.lag_s / STEP_S * (1.0 - keep);
        let mut true_k = floor_k + excess_k;
        let mut shown_k = true_k;
        let steps = &self.runs[run].steps;
        let mut course = Vec::with_capacity(steps.len() + 1);
        course.push(shown_k);
        for (at, step) in steps.iter().enumerate() {
            let level = self.ln_level[run][at];
            let less = |op: usize| if level < 0.0 { ((heat.exponent[op] - 1.0) * level).exp() } else { 1.0 };
            let mut load_k = 0.0;
            if step.read > 0.0 {
                load_k += heat.gain_k[0] * step.read * less(0);
            }
            if step.write > 0.0 {
                load_k += heat.gain_k[1] * step.write * less(1);
            }
            if self.folding[run][at] {
                load_k += fold_k;
            }
            let mut rise_k = 0.0;
            for ((x, decay), (_, weight)) in state.iter_mut().zip(&decay).zip(&heat.modes) {
                *x = *x * decay + (1.0 - decay) * weight * load_k;
                rise_k += *x;
            }
            let next_k = floor_k + rise_k;
            shown_k = shown_k * keep + true_k * (1.0 - keep - ramp) + next_k * ramp;
            true_k = next_k;
            course.push(shown_k);
        }
        course
    }

    /// What each reading misses the model by, over its scatter: for least squares.
    pub(crate) fn residuals(&self, theta: &[f64]) -> Vec<f64> {
        let mut residuals = Vec::new();
        for (run, data) in self.runs.iter().enumerate() {
            let course = self.course(theta, run);
            let sd = (data.resolution_k.powi(2) / 12.0 + self.scatter_k.powi(2)).sqrt();
            let root = self.weight(run).sqrt();
            residuals.extend(data.readings.iter().step_by(self.rates[run]).map(|reading| {
                let missed_k = reading.kelvin + 0.5 * data.resolution_k - at(&course, reading.t_s);
                // Beyond three deviations a reading is an outlier and pulls no harder (Huber).
                let missed = missed_k / sd;
                let pull = if missed.abs() > 3.0 {
                    missed.signum() * (6.0 * missed.abs() - 9.0).sqrt()
                } else {
                    missed
                };
                pull * root
            }));
        }
        residuals.extend(self.prior().iter().zip(theta).map(|((mean, sd), value)| (value - mean) / sd));
        residuals
    }

    /// The logarithm of the posterior, tempered: readings as intervals, and the prior.
    pub(crate) fn log_posterior(&self, theta: &[f64]) -> f64 {
        let prior = self.prior();
        let prior: f64 =
            prior.iter().zip(theta).map(|((mean, sd), value)| -0.5 * ((value - mean) / sd).powi(2)).sum();
        prior + self.log_likelihood(theta)
    }

    /// The tempered logarithm of the likelihood of all readings.
    pub(crate) fn log_likelihood(&self, theta: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (run, data) in self.runs.iter().enumerate() {
            let course = self.course(theta, run);
            let readings = data.readings.iter().step_by(self.rates[run]);
            let logs = readings.map(|reading| {
                let below = (reading.kelvin - at(&course, reading.t_s)) / self.scatter_k;
                let share = normal_share(below + data.resolution_k / self.scatter_k) - normal_share(below);
                // A reading in ten thousand comes from nowhere.
                (share + 1e-4).ln()
            });
            sum += self.weight(run) * logs.sum::<f64>();
        }
        sum
    }

    /// How much of an independent witness a reading is.
    fn weight(&self, run: usize) -> f64 {
        (self.runs[run].period_s * self.rates[run] as f64 / INDEPENDENT_S).min(1.0)
    }

    /// Root mean square of what the readings miss the model by, in kelvins.
    pub(crate) fn rms_k(&self, theta: &[f64]) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for (run, data) in self.runs.iter().enumerate() {
            let course = self.course(theta, run);
            for reading in &data.readings {
                sum += (reading.kelvin + 0.5 * data.resolution_k - at(&course, reading.t_s)).powi(2);
                count += 1.0;
            }
        }
        f64::sqrt(sum / f64::max(count, 1.0))
    }
}

/// The course at a moment, between two seconds.
pub(crate) fn at(course: &[f64], t_s: f64) -> f64 {
    let place = (t_s / STEP_S).clamp(0.0, (course.len() - 1) as f64);
    let before = (place as usize).min(course.len().saturating_sub(2));
    let share = place - before as f64;
    let after = (before + 1).min(course.len() - 1);
    course[before] * (1.0 - share) + course[after] * share
}

/// Whether the first readings stand still: the drive had rested.
fn starts_at_rest(run: &RunData) -> bool {
    let loaded_from = run.steps.iter().position(|step| step.read + step.write > 0.0).unwrap_or(0) as f64;
    let first: Vec<f64> =
        run.readings.iter().take_while(|r| r.t_s <= loaded_from + 1.0).map(|r| r.kelvin).collect();
    let (low, high) = first.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), k| (l.min(*k), h.max(*k)));
    loaded_from >= 10.0 && high - low <= run.resolution_k
}

/// Seconds of rest after something was written.
fn folding(run: &RunData) -> Vec<bool> {
    let mut written = false;
    let seconds = run.steps.iter().map(|step| {
        written |= step.write > 0.0;
        written && step.asked == Asked::Nothing && step.read + step.write == 0.0
    });
    seconds.collect()
}

/// Share of a normal distribution below `x` (Abramowitz and Stegun 7.1.26: right to 1.5e-7).
fn normal_share(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = t
        * (0.254_829_592
            + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    let tail = 0.5 * poly * (-z * z).exp();
    if x < 0.0 { tail } else { 1.0 - tail }
}
