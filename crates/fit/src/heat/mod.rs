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

mod readings;

/// Time constants of the fixed poles in seconds: even in the logarithm over what a run of half an hour can show.
pub(crate) const FIXED_TAU_S: [f64; 8] = [2.0, 6.0, 15.0, 35.0, 80.0, 180.0, 400.0, 1000.0];
/// Means of the logarithms of their weights before any data. Flat: a steep one took plateaus of an hour for 3 K too low.
const FIXED_PRIOR: [f64; 8] = [-0.5, -0.3, 0.0, 0.0, 0.0, 0.0, -0.3, -0.6];
const FIXED_PRIOR_SD: f64 = 1.5;
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

/// Mean and deviation of the logarithm of what an exponent is above 1, before any data. Trials on drives with regulators found
/// exponents of 1 to 3.5; bursts and relays have 1 itself, so that of what may be either three of ten are below 1.03.
pub(crate) const REGULATED: (f64, f64) = (-1.0, 1.5);
pub(crate) const EITHER: (f64, f64) = (-2.5, 2.0);
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
    /// Prior of exponents.
    bend: (f64, f64),
    scatter_k: f64,
    rates: Vec<usize>,
    /// Prior mean and deviation of each parameter.
    prior: Vec<(f64, f64)>,
}

impl<'a> HeatModel<'a> {
    /// `bend` is the prior of exponents.
    pub(crate) fn new(
        runs: &'a [RunData],
        shape: HeatShape,
        ln_level: &'a [Vec<f64>],
        bend: (f64, f64),
    ) -> Self {
        let folding: Vec<Vec<bool>> = runs.iter().map(folding).collect();
        let has_folding = folding.iter().flatten().filter(|fold| **fold).count() >= FOLD_SECONDS;
        let has_levels = ln_level.iter().flatten().any(|level| *level < 0.0);
        // Of readings closer than 2 s every second one is enough.
        let rates = runs.iter().map(|run| if run.period_s < 1.5 { 2 } else { 1 }).collect();
        let (scatter_k, prior) = (READING_SD_K, Vec::new());
        let model =
            Self { runs, shape, ln_level, folding, has_folding, has_levels, bend, scatter_k, rates, prior };
        Self { prior: model.prior(), ..model }
    }

    /// Takes what is left over after a fit for the readings' scatter, where it is more.
    pub(crate) fn scatter(&mut self, rms_k: f64) {
        let resolution_k = self.runs.iter().map(|run| run.resolution_k).fold(0.0, f64::max);
        self.scatter_k = beyond_rounding_k(rms_k, resolution_k).max(READING_SD_K);
    }

    pub(crate) fn len(&self) -> usize {
        SHAPE + self.shape.len() + 2 * self.runs.len()
    }

    fn prior(&self) -> Vec<(f64, f64)> {
        let mut prior = vec![(0.0, 1e-3); self.len()];
        prior[LN_EXPONENT] = (NO_EXPONENT, 1e-3);
        prior[LN_EXPONENT + 1] = (NO_EXPONENT, 1e-3);
        // 12 K for a GB/s is an M.2 drive of 12 W/K at a joule a GB; a USB stick has ten times that.
        prior[LN_GAIN] = (2.5, 1.5);
        prior[LN_GAIN + 1] = (2.5, 1.5);
        if self.has_levels {
            prior[LN_EXPONENT] = self.bend;
            prior[LN_EXPONENT + 1] = self.bend;
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
            &[[-3.0, -3.0], [0.5, 0.5], [-3.0, 0.5], [0.5, -3.0]]
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
        let mut start: Vec<f64> = self.prior.iter().map(|(mean, _)| *mean).collect();
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
        // So many modes are known when this is compiled: a fit of many runs spends half of its time in here.
        match self.shape {
            HeatShape::Fixed => self.course_of::<{ FIXED_TAU_S.len() }>(theta, run, &heat),
            HeatShape::TwoFree => self.course_of::<2>(theta, run, &heat),
        }
    }

    fn course_of<const MODES: usize>(&self, theta: &[f64], run: usize, heat: &FittedHeat) -> Vec<f64> {
        let (floor_k, excess_k) = (theta[self.floor_at(run)], theta[self.floor_at(run) + 1]);
        let of = |get: &dyn Fn(f64, f64) -> f64| -> [f64; MODES] {
            std::array::from_fn(|at| get(heat.modes[at].0, heat.modes[at].1))
        };
        let decay = of(&|tau_s, _| (-STEP_S / tau_s).exp());
        let taken = of(&|tau_s, weight| (1.0 - (-STEP_S / tau_s).exp()) * weight);
        // What was warm before the run is warm in the slow modes.
        let slow: f64 = heat.modes.iter().map(|(tau_s, weight)| tau_s * weight).sum();
        let mut state = of(&|tau_s, weight| excess_k * tau_s * weight / slow);
        let keep = (-STEP_S / heat.lag_s).exp();
        // A low-pass of a straight line from one value to the next, exactly.
        let ramp = 1.0 - heat.lag_s / STEP_S * (1.0 - keep);
        let mut true_k = floor_k + excess_k;
        let mut shown_k = true_k;
        let mut course = Vec::with_capacity(self.runs[run].steps.len() + 1);
        course.push(shown_k);
        for load_k in self.loads_k(theta, run, heat) {
            let mut rise_k = 0.0;
            for ((x, decay), taken) in state.iter_mut().zip(&decay).zip(&taken) {
                *x = *x * decay + taken * load_k;
                rise_k += *x;
            }
            let next_k = floor_k + rise_k;
            shown_k = shown_k * keep + true_k * (1.0 - keep - ramp) + next_k * ramp;
            true_k = next_k;
            course.push(shown_k);
        }
        course
    }

    /// The heat of each second of a run, in the kelvins that it would come to in the end.
    fn loads_k<'b>(
        &'b self,
        theta: &[f64],
        run: usize,
        heat: &'b FittedHeat,
    ) -> impl Iterator<Item = f64> + 'b {
        let fold_k = if self.has_folding { theta[FOLD_K] } else { 0.0 };
        let seconds = self.runs[run].steps.iter().zip(&self.ln_level[run]).zip(&self.folding[run]);
        seconds.map(move |((step, level), folding)| {
            let less = |op: usize| if *level < 0.0 { ((heat.exponent[op] - 1.0) * level).exp() } else { 1.0 };
            let mut load_k = 0.0;
            if step.read > 0.0 {
                load_k += heat.gain_k[0] * step.read * less(0);
            }
            if step.write > 0.0 {
                load_k += heat.gain_k[1] * step.write * less(1);
            }
            if *folding {
                load_k += fold_k;
            }
            load_k
        })
    }
}

/// By how much readings miss a model beyond what rounding to `resolution_k` does to each, which has a twelfth of its square for a
/// variance; kelvins rms.
pub(crate) fn beyond_rounding_k(rms_k: f64, resolution_k: f64) -> f64 {
    (rms_k * rms_k - resolution_k.powi(2) / 12.0).max(0.0).sqrt()
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
