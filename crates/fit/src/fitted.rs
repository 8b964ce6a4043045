//! What a fit found, as it is kept: the posterior, what was seen, what stays open.
//!
//! It is the `[fit]` table of a profile, so that `predict drive.toml` has intervals, and the JSON of `fit`.

use physics::{Profile, ProfileError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::check::{self, Misfit, SelfCheck};
use crate::commands::with_cache_size;
use crate::data::{Asked, RunData, TRICKLE, fitted_to};
use crate::fitting::Fitting;
use crate::mixed::SeenMix;
use crate::onset::Class;
use crate::open;
use crate::opinion::MachineOdds;
use crate::predict::model_k;
use crate::sample::{Common, DriveSample, ThresholdSource, Throttle, ThrottleAct, ThrottleLevel};
use crate::speed::knowing_loads;

/// The version of the `[fit]` table.
pub const SCHEMA: u32 = 1;
/// An hour in seconds: what is said of it needs a load of a quarter as long.
const LONG_S: f64 = 3600.0;
/// Seconds of rest or of a slow load that are a cool-down.
const COOLING_S: usize = 30;
/// A setting that was passed by so many kelvins without a throttle does not act.
const PASSED_K: f64 = 3.0;
/// Shares of the posterior below the two ends of an interval: 90 % lie between.
pub(crate) const ENDS: [f64; 2] = [0.05, 0.95];

/// A fitted drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// Version.
    pub schema: u32,
    /// Runs that it was fitted to.
    pub runs: Vec<String>,
    /// Whether those were of a simulated drive.
    pub simulated: bool,
    /// Root mean square of what the readings miss the model by, in kelvins.
    pub residual_rms_k: f64,
    /// Coarsest step of the runs' readings, in kelvins.
    #[serde(default)]
    pub resolution_k: f64,
    /// What is the same in all samples.
    pub common: Common,
    /// What the runs showed, and so what is within them.
    pub seen: SeenRange,
    /// What they cannot tell.
    pub left_open: Vec<LeftOpen>,
    /// What the model does not have, as far as the runs show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misfits: Vec<Misfit>,
    /// Which machine throttles, the most probable first; empty where heat did not slow it down.
    #[serde(default)]
    pub machines: Vec<MachineOdds>,
    /// The likeliest drive.
    pub best: DriveSample,
    /// Drives that the runs allow.
    pub samples: Vec<DriveSample>,
}

/// What runs showed; operations are reading, then writing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenRange {
    /// Whether an operation ran.
    pub ran: [bool; 2],
    /// Whether it ran at full speed long enough to say what that is.
    pub full: [bool; 2],
    /// Mixes of reads and writes that ran as fast as they went.
    #[serde(default)]
    pub mixes: Vec<SeenMix>,
    /// Whether heat slowed it down.
    pub throttled: [bool; 2],
    /// Hottest reading while it ran, in kelvins.
    pub hottest_k: [f64; 2],
    /// Hottest and coolest of all.
    pub range_k: [f64; 2],
    /// Whether any run says what TMT1 and TMT2 were.
    #[serde(default = "named")]
    pub settings_known: bool,
    /// Lowest TMT1 at which the runs show it act, in kelvins.
    #[serde(default)]
    pub tmt1_acted_k: Option<f64>,
    /// Whether a run was hotter than its TMT1 and TMT2 without a throttle that follows it.
    #[serde(default)]
    pub tmt_ignored: [bool; 2],
    /// Thresholds at which the verdict saw it work in bursts.
    #[serde(default)]
    pub bursts_at: Vec<ThresholdSource>,
    /// Which operations were slowed down at which threshold; empty in fits that did not ask.
    #[serde(default)]
    pub floors: Vec<SeenFloor>,
    /// Most that was written in one run, in bytes.
    #[serde(default)]
    pub written_bytes: f64,
    /// Longest load in seconds.
    pub longest_s: f64,
    /// Power state of the runs that were fitted; others are in the samples.
    pub power_state: Option<u8>,
    /// Power states of the drive that serve I/O, where a run says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_states: Option<Vec<u8>>,
    /// Whether a rest or a slow load came after a fast one.
    pub cooled: bool,
}

/// Operations of which the runs show what a threshold does to them: the speed while throttled, or that it stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenFloor {
    /// By which threshold.
    pub follows: ThresholdSource,
    /// Reading, writing.
    pub ops: [bool; 2],
    /// Both at once.
    #[serde(default)]
    pub mixed: bool,
}

impl SeenRange {
    /// Whether a run shows the speed of an operation while it is throttled at this threshold, alone or beside the other one.
    pub fn shows_floor(&self, follows: ThresholdSource, op: usize, mixed: bool) -> bool {
        match self.floors.iter().find(|floor| floor.follows == follows) {
            Some(floor) => floor.ops[op] || mixed && floor.mixed,
            None => self.throttled[op],
        }
    }
}

/// Fits that were kept before this was asked are taken for ones of runs with settings.
const fn named() -> bool {
    true
}

/// Something that the runs cannot tell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOpen {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
    /// The command that would tell it.
    pub plan: String,
}

/// A number of the drive with its 90 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The median of the posterior.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// `runs`, `stated` or `prior`.
    pub from: &'static str,
}

/// Why a profile has no posterior.
#[derive(Debug, Error)]
pub enum FittedError {
    /// It was not fitted.
    #[error(
        "the profile has no [fit] table: it was written by hand and has no intervals; fit a run with `heatsoak fit RUN -o drive.toml`"
    )]
    NotFitted,
    /// It was edited, or is of a newer version.
    #[error(
        "the profile's [fit] table does not read: {0}; fit the run again with `heatsoak fit RUN -o drive.toml`"
    )]
    Unreadable(String),
    /// The profile cannot be made.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// What the model adds to an interval, as it does to those of forecasts.
#[derive(Clone, Copy)]
enum ModelOff {
    /// Nothing: it was measured.
    None,
    /// Kelvins.
    Kelvin,
    /// As many of the kelvins that were seen, as a share.
    Rise,
}

/// Adds a parameter: name, unit, what the model adds, and what it is in a sample.
type Add<'a> = dyn FnMut(String, &'static str, ModelOff, &dyn Fn(&DriveSample) -> f64) + 'a;

impl Fitted {
    /// Keeps what a fit found of these runs, and runs them again on it.
    pub fn checked(runs: &[RunData], mut fitting: Fitting) -> (Self, SelfCheck) {
        let courses = std::mem::take(&mut fitting.courses);
        let fitted = Self::new(runs, fitting);
        let (check, misfits) = check::check(&fitted, &knowing_loads(runs), &courses);
        (Self { misfits, ..fitted }, check)
    }

    /// Keeps what a fit found of these runs, without a look at what the model misses.
    pub fn new(runs: &[RunData], fitting: Fitting) -> Self {
        let seen = seen(runs, &fitting);
        let simulated = runs.iter().any(|run| run.simulated);
        let mut left_open = open::left_open(runs, &seen, &fitting);
        left_open.iter_mut().for_each(|open| open.plan = with_cache_size(&open.plan, simulated));
        let Fitting { common, samples, best, rms_k, machines, .. } = fitting;
        Self {
            schema: SCHEMA,
            runs: runs.iter().map(|run| run.name.clone()).collect(),
            simulated,
            residual_rms_k: rms_k,
            resolution_k: runs.iter().map(|run| run.resolution_k).fold(0.0, f64::max),
            common,
            seen,
            left_open,
            misfits: Vec::new(),
            machines,
            best,
            samples,
        }
    }

    /// The profile of the likeliest drive, with the posterior beside it.
    ///
    /// # Errors
    /// A drive that no profile can be of.
    pub fn profile(&self) -> Result<Profile, FittedError> {
        let mut profile = self.best.profile(&self.common);
        profile.check()?;
        let table =
            toml::Table::try_from(self).map_err(|error| FittedError::Unreadable(error.to_string()))?;
        profile.fit = Some(table);
        Ok(profile)
    }

    /// The posterior that a profile keeps.
    ///
    /// # Errors
    /// None kept, or not one that this version reads.
    pub fn from_profile(profile: &Profile) -> Result<Self, FittedError> {
        let table = profile.fit.clone().ok_or(FittedError::NotFitted)?;
        let fitted: Self = table
            .try_into()
            .map_err(|error: toml::de::Error| FittedError::Unreadable(error.message().to_owned()))?;
        // A table that was edited may say anything: every drive in it must be one that could be.
        if fitted.schema != SCHEMA || fitted.samples.is_empty() {
            return Err(FittedError::Unreadable(format!(
                "its schema is {}, known is {SCHEMA}",
                fitted.schema
            )));
        }
        for sample in fitted.samples.iter().chain([&fitted.best]) {
            sample.profile(&fitted.common).check()?;
            if !(0.0..=1.0).contains(&sample.outer_share) {
                return Err(FittedError::Unreadable(format!("outer_share is {}", sample.outer_share)));
            }
        }
        Ok(fitted)
    }

    /// The drive in numbers: what the runs tell of it. What they do not tell is in `left_open` and nowhere else.
    pub fn parameters(&self) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut add = |name: String, unit, off: ModelOff, of: &dyn Fn(&DriveSample) -> f64| {
            let values: Vec<f64> = self.samples.iter().map(of).collect();
            let [low, value, high] = interval(&values);
            let off = match off {
                ModelOff::None => 0.0,
                ModelOff::Kelvin => model_k(self),
                ModelOff::Rise => value * self.model_share(),
            };
            parameters.push(Parameter { name, unit, value, low: low - off, high: high + off, from: "runs" });
        };
        add("temperature at rest".to_owned(), "K", ModelOff::Kelvin, &|sample| sample.rest_k);
        for (op, name) in ["read", "write"].into_iter().enumerate() {
            if !self.seen.ran[op] {
                continue;
            }
            if self.seen.full[op] {
                add(format!("{name} full speed"), "B/s", ModelOff::None, &|sample| 1e9 * sample.full[op]);
            }
            for (minutes, seconds) in [("5 min", 300.0), ("1 h", LONG_S)] {
                if seconds > 4.0 * self.seen.longest_s {
                    continue;
                }
                add(format!("{name} rise after {minutes}"), "K per GB/s", ModelOff::Rise, &|sample| {
                    let modes = sample.modes.iter();
                    sample.gain_k[op]
                        * modes.map(|(tau_s, share)| share * (1.0 - (-seconds / tau_s).exp())).sum::<f64>()
                });
            }
        }
        for (at, other) in self.best.states.iter().enumerate() {
            let state = other.state;
            for (op, name) in
                ["read", "write"].into_iter().enumerate().filter(|(op, _)| other.full[*op] > 0.0)
            {
                add(format!("{name} full speed, power state {state}"), "B/s", ModelOff::None, &|sample| {
                    1e9 * sample.states.get(at).map_or(f64::NAN, |other| other.full[op])
                });
                add(
                    format!("{name} energy for each byte, power state {state}"),
                    "times",
                    ModelOff::None,
                    &|sample| sample.states.get(at).map_or(f64::NAN, |other| other.energy[op]),
                );
            }
        }
        self.throttle_parameters(&mut add);
        if let Some(k_per_w) = self.k_per_w() {
            let gain = self.best.gain_k;
            let op = usize::from(!self.seen.ran[0]);
            add("thermal resistance to the air".to_owned(), "K/W", ModelOff::Rise, &|sample| {
                k_per_w * sample.gain_k[op] / gain[op]
            });
        }
        parameters
    }

    /// Whether heat throttled runs none of which says what TMT1 and TMT2 were: the threshold may be either's.
    pub fn names_no_tmt(&self) -> bool {
        !self.seen.settings_known && !self.best.throttles.is_empty()
    }

    /// K/W from the sensor to the air, where it is known: of a short run the slow modes are open, and with them the whole of
    /// the resistance.
    pub fn k_per_w(&self) -> Option<f64> {
        self.common.k_per_w.filter(|_| LONG_S <= 4.0 * self.seen.longest_s)
    }

    /// How far the model is off in kelvins, as a share of those that the runs show: of what a load warms by.
    fn model_share(&self) -> f64 {
        let [coolest_k, hottest_k] = self.seen.range_k;
        model_k(self) / (hottest_k - coolest_k).max(1.0)
    }

    fn throttle_parameters(&self, add: &mut Add<'_>) {
        let is_open = |what: &str| self.left_open.iter().any(|open| open.what == what);
        let shown = |follows| {
            self.seen.floors.is_empty() || self.seen.floors.iter().any(|one| one.follows == follows)
        };
        for throttle in &self.best.throttles {
            // What holds the temperature sets in elsewhere than what switches: a median of both is neither.
            let switches = throttle.act.switches();
            for level in throttle.levels().into_iter().filter(|level| shown(level.follows)) {
                let of = move |sample: &DriveSample, get: &dyn Fn(&Throttle, &ThrottleLevel) -> f64| {
                    let mut alike = sample.throttles.iter().filter(|one| one.act.switches() == switches);
                    let found = alike.find_map(|one| {
                        let level = one.levels().into_iter().find(|other| other.follows == level.follows)?;
                        Some(get(one, &level))
                    });
                    found.unwrap_or(f64::NAN)
                };
                let (name, unit) = match level.follows {
                    ThresholdSource::Tmt1 => ("throttling sets in above TMT1 by", "K"),
                    ThresholdSource::Tmt2 => ("throttling sets in above TMT2 by", "K"),
                    ThresholdSource::Own => ("firmware threshold", "K"),
                };
                add(name.to_owned(), unit, ModelOff::Kelvin, &|sample| of(sample, &|_, level| level.on_k));
                let releases = switches && throttle.act != ThrottleAct::Stop;
                if releases && level.follows == throttle.follows && !is_open(open::RELEASE) {
                    add(format!("{name}: hysteresis"), "K", ModelOff::None, &|sample| {
                        of(sample, &|throttle, _| throttle.hysteresis_k)
                    });
                }
                let seen =
                    |op: &usize| level.shares.is_some() && self.seen.shows_floor(level.follows, *op, false);
                for (op, word) in ["read", "write"].into_iter().enumerate().filter(|(op, _)| seen(op)) {
                    add(level.follows.speed_while_throttled(word), "B/s", ModelOff::None, &|sample| {
                        let share =
                            of(sample, &|_, level| level.shares.map_or(f64::NAN, |shares| shares[op]));
                        1e9 * share * sample.full[op]
                    });
                }
            }
        }
    }
}

/// The 5th percentile, the median and the 95th of values; those that are none left out.
pub(crate) fn interval(values: &[f64]) -> [f64; 3] {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = share * (sorted.len().max(1) - 1) as f64;
        let (below, above) = (place.floor() as usize, place.ceil() as usize);
        match (sorted.get(below), sorted.get(above)) {
            (Some(low), Some(high)) => low + (high - low) * (place - below as f64),
            _ => f64::NAN,
        }
    };
    [at(ENDS[0]), at(0.5), at(ENDS[1])]
}

fn seen(runs: &[RunData], fitting: &Fitting) -> SeenRange {
    let mut seen = SeenRange { range_k: [f64::INFINITY, f64::NEG_INFINITY], ..SeenRange::default() };
    seen.power_state = fitting.state;
    seen.power_states = runs.iter().rev().find_map(|run| run.power_states.clone());
    seen.settings_known = runs.iter().any(RunData::settings_known);
    seen.full = [0, 1].map(|op| fitting.full[op].seen);
    seen.mixes.clone_from(&fitting.mixes);
    // Places of the groups count these alone.
    let same = fitted_to(runs, fitting.state);
    for group in &fitting.groups {
        (0..2).for_each(|op| seen.throttled[op] |= group.floor[op].or(group.mixed).is_some());
        let ops = [0, 1].map(|op| group.floor[op].is_some() || group.spared[op]);
        let mixed = group.mixed.is_some();
        match seen.floors.iter_mut().find(|floor| floor.follows == group.follows) {
            Some(floor) => {
                (0..2).for_each(|op| floor.ops[op] |= ops[op]);
                floor.mixed |= mixed;
            }
            None => seen.floors.push(SeenFloor { follows: group.follows, ops, mixed }),
        }
        if group.said == Some(Class::DutyCycled) {
            seen.bursts_at.push(group.follows);
        }
        if group.follows == ThresholdSource::Tmt1 {
            let set = group.spans.iter().filter_map(|(run, _, _)| same[*run].tmt_k[0]);
            seen.tmt1_acted_k = set.chain(seen.tmt1_acted_k).reduce(f64::min);
        }
    }
    let speeds = runs.iter().flat_map(|run| &run.steps).map(|step| step.read + step.write);
    let fastest = speeds.fold(0.0, f64::max);
    seen.tmt_ignored = [(0, ThresholdSource::Tmt1), (1, ThresholdSource::Tmt2)].map(|(at, follows)| {
        // One at MNTMT may stand for "off".
        let least_k = fitting.common.limits.tmt_min_k.unwrap_or(0.0);
        let passed = |run: &&RunData| {
            let set_k = run.tmt_k[at].filter(|set_k| *set_k > least_k);
            let hottest_k = run.hottest_k().map(|kelvin| kelvin + 0.5 * run.resolution_k);
            set_k.zip(hottest_k).is_some_and(|(set_k, hottest_k)| hottest_k > set_k + PASSED_K)
        };
        same.iter().any(passed) && fitting.groups.iter().all(|group| group.follows != follows)
    });
    for run in runs {
        let mut since = 0.0;
        let (mut fast, mut slow_s) = (false, 0);
        let written_bytes = 1e9 * run.steps.iter().map(|step| step.write).sum::<f64>();
        seen.written_bytes = seen.written_bytes.max(written_bytes);
        for step in &run.steps {
            let speed = step.read + step.write;
            seen.ran[0] |= step.read > TRICKLE * fastest;
            seen.ran[1] |= step.write > TRICKLE * fastest;
            since = if speed > 0.0 { since + 1.0 } else { 0.0 };
            seen.longest_s = f64::max(seen.longest_s, since);
            let unlimited = matches!(step.asked, Asked::Read | Asked::Write | Asked::Mixed);
            slow_s = if fast && !unlimited { slow_s + 1 } else { 0 };
            seen.cooled |= slow_s >= COOLING_S;
            fast |= unlimited;
        }
        for reading in &run.readings {
            let kelvin = reading.kelvin + 0.5 * run.resolution_k;
            seen.range_k = [seen.range_k[0].min(kelvin), seen.range_k[1].max(kelvin)];
            if let Some(step) = run.steps.get(reading.t_s as usize) {
                for (op, speed) in [step.read, step.write].into_iter().enumerate() {
                    if speed > 0.0 {
                        seen.hottest_k[op] = seen.hottest_k[op].max(kelvin);
                    }
                }
            }
        }
    }
    seen
}
