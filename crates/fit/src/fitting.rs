//! From runs to a posterior: heat, throttles, their class, samples.
//!
//! 1. Full speeds, and the seconds that heat held back.
//! 2. Heat by least squares, then by a random walk, once for each shape of the step response.
//! 3. For each combination of classes that the verdict leaves open: how well the closed loop follows the runs - its weight.
//! 4. Samples: a state of a walk, the class by weight, thresholds and gains read off that state's own course.

use measure::Seed;
use thiserror::Error;

use crate::air;
use crate::chain::{ChainWalk, walk};
use crate::closed::{Closed, class_loss, closed_loops};
use crate::commands::{THERMAL_ID_QUICK, with_cache_size};
use crate::data::RunData;
use crate::floors::UnseenFloor;
use crate::heat::{EITHER, HeatModel, HeatShape, REGULATED};
use crate::mixed::SeenMix;
use crate::onset::{Class, OnsetGroup, groups};
use crate::opinion::MachineOdds;
use crate::sample::{Common, DriveSample, LimitsK};
use crate::speed::{FittedSpeed, SlowStretch, full, knowing_loads, ln_levels, mixes, slow};
use crate::stairs;
use crate::states;
use crate::throttle::read_off;
use crate::two_level;
use analysis::posterior::Draws;
use analysis::posterior::least::{self, Misses as _};

/// Samples that are kept: enough for the 5th and 95th percentile, few enough to simulate in a glance.
pub const SAMPLES: usize = 48;
/// Readings without which there is no fit.
const LEAST_READINGS: usize = 30;

/// Why runs cannot be fitted.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FitError {
    /// No run at all.
    #[error("there is no run to fit")]
    NoRun,
    /// Too few readings.
    #[error(
        "{name} has {readings} readings of the temperature beside its load; a fit needs {LEAST_READINGS} and more: \
         record SMART beside the load, or run `{}`",
        with_cache_size(THERMAL_ID_QUICK, *simulated)
    )]
    NoTemperature {
        /// Which run.
        name: String,
        /// Whether it is of a simulated drive.
        simulated: bool,
        /// How many there are.
        readings: usize,
    },
    /// Two thresholds, of which one would be fitted and the other be a misfit.
    #[error(
        "TMT1 or TMT2 was changed during {name}, at {at_s:.0} s: cut it into a log of each setting there, and fit both"
    )]
    SettingsChanged {
        /// Which run.
        name: String,
        /// When, in seconds.
        at_s: f64,
    },
    /// Temperatures alone, as a snapshot with its history has.
    #[error(
        "no data moved in {name}, as far as it says: a fit needs speeds beside the temperature; record the drive under load, or run `{}`",
        with_cache_size(THERMAL_ID_QUICK, *simulated)
    )]
    NoLoad {
        /// Which run.
        name: String,
        /// Whether it is of a simulated drive.
        simulated: bool,
    },
    /// No load that warms.
    #[error(
        "no load warmed the drive in {name}: its temperature moved by {moved_k:.1} K; run `{}`",
        with_cache_size(THERMAL_ID_QUICK, *simulated)
    )]
    NoHeat {
        /// Which run.
        name: String,
        /// Whether it is of a simulated drive.
        simulated: bool,
        /// By how much it moved.
        moved_k: f64,
    },
}

/// What runs say of a drive.
#[derive(Clone, Debug)]
pub struct Fitting {
    pub(crate) common: Common,
    pub(crate) samples: Vec<DriveSample>,
    pub(crate) best: DriveSample,
    pub(crate) rms_k: f64,
    /// Temperatures of the best heat model under the measured speeds, a course a run.
    pub(crate) courses: Vec<Vec<f64>>,
    pub(crate) full: [FittedSpeed; 2],
    pub(crate) mixes: Vec<SeenMix>,
    pub(crate) groups: Vec<OnsetGroup>,
    pub(crate) machines: Vec<MachineOdds>,
    /// Power state of the runs that were fitted.
    pub(crate) state: Option<u8>,
}

/// Drives that are looked at for the likeliest one.
const BEST_OF: usize = 8;
/// Least movement of a temperature that says something, in kelvins.
const LEAST_RISE_K: f64 = 3.0;

/// Fits.
///
/// # Errors
/// Runs without temperature, or in which nothing was warmed.
pub fn fit(name: &str, runs: &[RunData], seed: Seed) -> Result<Fitting, FitError> {
    fit_shapes(name, runs, seed, Shapes::Both)
}

/// Shapes of the step response that are tried: two alone are what others fit, to be held beside both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// Eight fixed time constants and two free ones.
    Both,
    /// Two free time constants.
    TwoFree,
}

/// Fits with the shapes that are named.
///
/// # Errors
/// As [`fit`].
pub fn fit_shapes(name: &str, runs: &[RunData], seed: Seed, shapes: Shapes) -> Result<Fitting, FitError> {
    check(runs)?;
    let airflow = runs[0].airflow;
    let (still, aired): (Vec<RunData>, Vec<RunData>) =
        knowing_loads(runs).into_iter().partition(|run| run.airflow == airflow);
    // The lowest state is the fastest and hottest, and shows most; the others say what they change.
    let state = still.iter().filter_map(|run| run.power_state).min();
    let (same, others): (Vec<RunData>, Vec<RunData>) =
        still.into_iter().partition(|run| run.is_in_state(state));
    let mut fitting = fit_still(name, &same, seed, shapes);
    fitting.state = state;
    fitting.take_air(&same, &aired);
    states::take(&mut fitting, &others);
    Ok(fitting)
}

/// Fits runs of one airflow.
fn fit_still(name: &str, runs: &[RunData], seed: Seed, shapes: Shapes) -> Fitting {
    let full = full(runs);
    let mut slow: Vec<SlowStretch> = runs.iter().map(|run| slow(run, &full)).collect();
    let stepped = stairs::seen(runs, &slow);
    let groups = groups(runs, &mut slow, stepped);
    let regulates = groups.iter().any(|group| !matches!(group.said, Some(Class::Relay | Class::Stop)));
    let ln_levels: Vec<Vec<f64>> = runs
        .iter()
        .zip(&slow)
        .map(|(run, slow)| if regulates { ln_levels(run, slow) } else { vec![0.0; run.steps.len()] })
        .collect();
    let mut draws = Draws::new(seed);
    let mut common = common(name, runs, &groups);
    let bend =
        if groups.iter().any(|group| group.said == Some(Class::Regulator)) { REGULATED } else { EITHER };
    let walks = heat_walks(runs, &ln_levels, bend, seed);
    let share = if shapes == Shapes::TwoFree { 1.0 } else { free_share(&walks) };
    let first = usize::from(share > 0.5);
    let rms_k = walks[first].0.rms_k(&walks[first].1.best);
    let unseen = UnseenFloor { full: full.map(|full| full.value), drawn: true };
    let drawing = Drawing { runs, slow: &slow, groups: &groups, full: &full, unseen };
    let likeliest = Drawing { unseen: UnseenFloor { drawn: false, ..drawing.unseen }, ..drawing };
    common.k_per_w = crate::power::k_per_w(runs, &walks[first].0.words(&walks[first].1.best), &ln_levels);
    let best_of = |closed: &Closed, draws: &mut Draws| {
        let (model, walk, _) = &walks[first];
        likeliest.sample(model, &walk.best, closed, draws)
    };
    let (loops, machines) = closed_loops(&groups, runs, &common, &mut draws, &best_of);
    let mut samples = Vec::with_capacity(SAMPLES);
    for number in 0..SAMPLES {
        let (model, walk, _) = &walks[usize::from((number as f64 + 0.5) / (SAMPLES as f64) < share)];
        let closed = chosen(&loops, draws.unit());
        // The walks are thinned alike: a stride through them covers all of each.
        let state = &walk.states[(number * 7) % walk.states.len()];
        samples.push(drawing.sample(model, state, closed, &mut draws));
    }
    let heaviest = loops.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
    let heaviest = heaviest.expect("there is at least one, even without throttles");
    let best = closest(runs, &common, || best_of(heaviest, &mut draws));
    let (model, walk, _) = &walks[first];
    let courses = (0..runs.len()).map(|run| model.course(&walk.best, run)).collect();
    Fitting { common, samples, best, rms_k, courses, full, mixes: mixes(runs), groups, machines, state: None }
}

/// A shape of the step response, its walk, and how likely the readings are at its best.
type HeatWalk<'a> = (HeatModel<'a>, ChainWalk, f64);

/// The walks of both shapes, at the same time: on a fit of 20 runs they are most of the work.
fn heat_walks<'a>(
    runs: &'a [RunData],
    ln_levels: &'a [Vec<f64>],
    bend: (f64, f64),
    seed: Seed,
) -> Vec<HeatWalk<'a>> {
    std::thread::scope(|scope| {
        let threads = [(HeatShape::Fixed, 1), (HeatShape::TwoFree, 2)].map(|(shape, part)| {
            let model = HeatModel::new(runs, shape, ln_levels, bend);
            scope.spawn(move || heat_walk(model, Draws::new(seed.part(part))))
        });
        threads.into_iter().map(|thread| thread.join().expect("a walk does not panic")).collect()
    })
}

fn heat_walk(mut model: HeatModel<'_>, mut draws: Draws) -> HeatWalk<'_> {
    let squares = |theta: &[f64]| model.all(theta).iter().map(|missed| missed * missed).sum::<f64>();
    let tried = model.starts().into_iter().map(|start| least::fit(start, &model).0);
    let theta = tried.min_by(|a, b| squares(a).total_cmp(&squares(b))).expect("there is a place to begin");
    model.scatter(model.rms_k(&theta));
    let (theta, covariance) = least::fit(theta, &model);
    let walk = walk(&theta, &covariance, SAMPLES, &mut draws, |theta| model.log_posterior(theta));
    let log = model.log_likelihood(&walk.best);
    (model, walk, log)
}

/// Of a few drives of the likeliest heat and classes the one whose closed loop is closest to the runs: what is drawn about
/// thresholds and gains is drawn again for each.
fn closest(runs: &[RunData], common: &Common, mut draw: impl FnMut() -> DriveSample) -> DriveSample {
    let first = draw();
    if first.throttles.is_empty() {
        return first;
    }
    let looked = std::iter::once(first).chain(std::iter::repeat_with(draw).take(BEST_OF - 1));
    let with_loss = looked.map(|sample| (class_loss(&sample, runs, common), sample));
    with_loss.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a first").1
}

fn check(runs: &[RunData]) -> Result<(), FitError> {
    if runs.is_empty() {
        return Err(FitError::NoRun);
    }
    for run in runs {
        if run.readings.len() < LEAST_READINGS {
            let (name, simulated) = (run.name.clone(), run.simulated);
            return Err(FitError::NoTemperature { name, simulated, readings: run.readings.len() });
        }
        if let Some(at_s) = run.changed_s {
            return Err(FitError::SettingsChanged { name: run.name.clone(), at_s });
        }
    }
    let has_load = |run: &RunData| run.steps.iter().any(|step| step.read > 0.0 || step.write > 0.0);
    if !runs.iter().any(has_load) {
        let (name, simulated) = (runs[0].name.clone(), runs[0].simulated);
        return Err(FitError::NoLoad { name, simulated });
    }
    let moved = |run: &RunData| {
        let low = run.readings.iter().map(|reading| reading.kelvin).fold(f64::INFINITY, f64::min);
        run.hottest_k().unwrap_or(low) - low
    };
    let most = runs.iter().max_by(|a, b| moved(a).total_cmp(&moved(b))).expect("there is one");
    if moved(most) < LEAST_RISE_K {
        let (name, simulated) = (most.name.clone(), most.simulated);
        return Err(FitError::NoHeat { name, simulated, moved_k: moved(most) });
    }
    Ok(())
}

/// How many of the samples have two free poles: by how likely the readings are, tempered, and never none of either:
/// which of the two extrapolates better, no run says.
fn free_share(walks: &[HeatWalk<'_>]) -> f64 {
    let ahead = walks[1].2 - walks[0].2;
    (1.0 / (1.0 + (-ahead).exp())).clamp(0.15, 0.85)
}

fn chosen(loops: &[Closed], unit: f64) -> &Closed {
    let mut left = unit * loops.iter().map(|closed| closed.weight).sum::<f64>();
    for closed in loops {
        left -= closed.weight;
        if left < 0.0 {
            return closed;
        }
    }
    &loops[loops.len() - 1]
}

fn common(name: &str, runs: &[RunData], groups: &[OnsetGroup]) -> Common {
    let last = &runs[runs.len() - 1];
    let limit = |get: fn(&LimitsK) -> Option<f64>| runs.iter().find_map(|run| get(&run.limits));
    let limits = LimitsK {
        warning_k: limit(|limits| limits.warning_k),
        critical_k: limit(|limits| limits.critical_k),
        tmt_min_k: limit(|limits| limits.tmt_min_k),
        tmt_max_k: limit(|limits| limits.tmt_max_k),
    };
    let known: Vec<f64> = runs.iter().filter_map(|run| run.ambient_k).collect();
    let all_known = known.len() == runs.len();
    let told = runs.iter().any(RunData::settings_known) || limits.tmt_max_k.is_some();
    let follows_tmt = groups.iter().any(|group| group.follows != crate::sample::ThresholdSource::Own);
    Common {
        name: name.to_owned(),
        ambient_k: all_known.then(|| known.iter().sum::<f64>() / known.len() as f64),
        k_per_w: None,
        airflow: None,
        limits,
        tmt_k: last.tmt_k.map(|kelvin| kelvin.unwrap_or(0.0)),
        standing_tmt_k: standing_tmt_k(last),
        tmt_recorded: if standing_tmt_k(last).is_some() { [true; 2] } else { last.tmt_recorded },
        hctm: told || follows_tmt,
        link: runs.iter().find_map(|run| run.link_bytes_per_s).map(|link| link / 1e9),
        cache: runs.iter().find_map(|run| {
            let cache = run.findings.slc_cache.as_ref()?;
            Some((cache.bytes, cache.after_bytes_per_s / 1e9))
        }),
        stated_cache_bytes: runs.iter().find_map(|run| run.slc_bytes),
        // In whole blocks of a profile.
        capacity_bytes: runs
            .iter()
            .find_map(|run| run.capacity_bytes)
            .map(|bytes| bytes & !4095)
            .filter(|b| *b > 0),
    }
}

fn standing_tmt_k(run: &RunData) -> Option<[u16; 2]> {
    let [tmt1_k, tmt2_k] = run.standing_tmt_k;
    Some([tmt1_k?, tmt2_k?])
}

/// What samples are made from besides their heat.
struct Drawing<'a> {
    runs: &'a [RunData],
    slow: &'a [SlowStretch],
    groups: &'a [OnsetGroup],
    full: &'a [FittedSpeed; 2],
    unseen: UnseenFloor,
}

impl Fitting {
    /// Takes runs with another airflow: how much of the resistance is air is then read off instead of drawn.
    fn take_air(&mut self, still: &[RunData], aired: &[RunData]) {
        let Some(first) = aired.first() else { return };
        let times = first.airflow / still[0].airflow;
        let alike: Vec<&RunData> = aired.iter().filter(|run| run.airflow == first.airflow).collect();
        let slow: Vec<SlowStretch> = alike.iter().map(|run| slow(run, &self.full)).collect();
        let levels: Vec<Vec<f64>> = alike.iter().zip(&slow).map(|(run, slow)| ln_levels(run, slow)).collect();
        let air_k = self.common.ambient_k;
        for sample in self.samples.iter_mut().chain([&mut self.best]) {
            sample.outer_share = air::outer_share(sample, &alike, &levels, air_k, times);
        }
        self.common.airflow = Some(times);
    }
}

impl Drawing<'_> {
    fn sample(
        &self,
        model: &HeatModel<'_>,
        theta: &[f64],
        closed: &Closed,
        draws: &mut Draws,
    ) -> DriveSample {
        let heat = model.words(theta);
        let courses: Vec<Vec<f64>> = (0..self.runs.len()).map(|run| model.course(theta, run)).collect();
        let throttles: Vec<_> = self
            .groups
            .iter()
            .zip(&closed.classes)
            .filter_map(|(group, class)| {
                Some(read_off(group, (*class)?, self.runs, self.slow, &courses, &self.unseen, draws))
            })
            .collect();
        // At rest in the air of all runs: where the air is known, each run's rise over its own.
        let known = self.runs.iter().all(|run| run.ambient_k.is_some());
        let mean_air = self.runs.iter().filter_map(|run| run.ambient_k).sum::<f64>() / self.runs.len() as f64;
        let rests = heat.floor_k.iter().zip(self.runs).map(|(floor_k, run)| {
            if known { floor_k - run.ambient_k.unwrap_or(0.0) + mean_air } else { *floor_k }
        });
        let rest_k = rests.sum::<f64>() / self.runs.len() as f64;
        let full = self.full.map(|full| (full.value + full.sd * draws.normal()).max(1e-6));
        DriveSample {
            gain_k: heat.gain_k,
            exponent: heat.exponent,
            lag_s: heat.lag_s,
            modes: heat.modes,
            rest_k,
            full,
            // Factor 2 to 20 of fans on drives: what one air flow leaves open.
            outer_share: draws.between(0.05, 0.8),
            states: Vec::new(),
            state_limit: None,
            throttles: two_level::joined(throttles, self.runs),
        }
    }
}
