//! What the drive would do elsewhere: every sample simulated, and what they agree on.

use std::num::NonZero;

mod beyond;
pub(crate) mod full_unknown;
mod misfit;
mod refused;
pub(crate) mod scenario;
pub(crate) mod unknown;

pub(crate) use misfit::model_k;
pub use scenario::Scenario;

use schemars::JsonSchema;
use serde::Serialize;

use self::beyond::{
    LOWER_K, above_asked_k, beyond, floor_caveat, floors_unseen, never_ran, never_ran_caveat, state_caveat,
    state_law_caveat, state_law_unseen, state_unseen, tmt_unseen,
};
use self::refused::answerable;
use self::scenario::{in_state, set_up};
use self::unknown::{first_unknown, load_caveat, tmt_caveat};
use crate::commands::{THERMAL_ID, with_cache_size};
use crate::fitted::{Fitted, interval};
use crate::mixed::together;
use crate::sample::{DriveSample, ThresholdSource};
use crate::simulate::{LoadPhase, LoadSecond, PhaseOutcome, outcome, phase_seconds, phases};

/// How far the model is off besides what its samples disagree on: as a share of a throttled speed, in kelvins, as a share of
/// a time and in seconds. All of it times [`misfit::factor`].
const MODEL_SHARE: f64 = 0.005;
const MODEL_K: f64 = 0.25;
const MODEL_TIME_SHARE: f64 = 0.02;
const MODEL_S: f64 = 1.5;
/// Full speed was measured, and its samples scatter as it did: all that is left is rounding, as a share.
const FULL_SHARE: f64 = 0.001;
/// What other air changes besides the temperature - leakage, fans of others - is not modelled either: kelvins, share of a
/// speed and of a time, for each kelvin of air.
const AIR_K: f64 = 0.03;
const AIR_SHARE: f64 = 0.002;
const AIR_TIME_SHARE: f64 = 0.006;
/// Runs that never cool down leave slow modes, releases and air between them: intervals are wider by so much. From trials
/// with `hctm-read`.
const NO_COOLING_SHARE: f64 = 0.03;
const NO_COOLING_K: f64 = 0.9;
const NO_COOLING_TIME_SHARE: f64 = 0.12;
/// A number with its 90 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranged {
    /// The median.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a phase would come to.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PhaseForecast {
    /// Its name.
    pub name: String,
    /// `read`, `write`, `mixed` or `idle`.
    pub op: &'static str,
    /// Mean speed.
    pub mean_bytes_per_s: Option<Ranged>,
    /// Hottest.
    pub peak_k: Option<Ranged>,
    /// Mean of the last minute.
    pub steady_k: Option<Ranged>,
    /// Seconds until heat slows it down; `None` where it does not within the phase, or not surely.
    pub time_to_throttle_s: Option<Ranged>,
    /// Share of the time in which heat slows it down.
    pub throttled_share: Option<Ranged>,
    /// Energy; only where power was measured.
    pub energy_j: Option<Ranged>,
    /// How long it takes.
    pub duration_s: Option<Ranged>,
    /// Whether it lies beyond what the runs showed.
    pub beyond: bool,
    /// Slowest second over the fastest; `null` in JSON where nothing could be simulated.
    #[schemars(with = "Option<f64>")]
    pub evenness: f64,
}

/// Why a forecast deserves care.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForecastCaveat {
    /// A fixed name.
    pub kind: &'static str,
    /// A sentence.
    pub text: String,
}

/// What a drive would do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Forecast {
    /// Version of the format.
    pub schema: u32,
    /// Phases in order.
    pub phases: Vec<PhaseForecast>,
    /// Why it deserves care.
    pub caveats: Vec<ForecastCaveat>,
}

/// Predicts; every sample counts.
pub fn predict(fitted: &Fitted, scenario: &Scenario, load: &[LoadPhase]) -> Forecast {
    predict_with(fitted, scenario, load, fitted.samples.len())
}

/// Predicts with `count` samples: fewer are faster and their ends coarser.
pub fn predict_with(fitted: &Fitted, scenario: &Scenario, load: &[LoadPhase], count: usize) -> Forecast {
    let mut caveats = Vec::new();
    let known = answerable(fitted, scenario, &mut caveats);
    let stride = fitted.samples.len().div_ceil(count.max(1));
    let samples = in_state(fitted, scenario, stride);
    let samples: Vec<&DriveSample> = samples.iter().collect();
    let mut law_unseen: Vec<&str> = Vec::new();
    let told = &load[..first_unknown(fitted, load).unwrap_or(load.len())];
    let outcomes =
        if known { each(&samples, |sample| one(fitted, scenario, told, sample)) } else { Vec::new() };
    let mut unshown = None;
    let mut state_open: Vec<&str> = Vec::new();
    let mut floor_unseen: Vec<(usize, ThresholdSource)> = Vec::new();
    let mut speed_open: Vec<&str> = Vec::new();
    let (mut never, mut never_open): (Option<&str>, Vec<&str>) = (None, Vec::new());
    let phases: Vec<PhaseForecast> = load
        .iter()
        .enumerate()
        .map(|(at, phase)| {
            let of: Vec<PhaseOutcome> =
                outcomes.iter().filter_map(|sample| sample.get(at).copied()).collect();
            if known && tmt_unseen(fitted, scenario, &of) {
                unshown.get_or_insert(at);
            }
            let no_state = state_unseen(fitted, scenario, phase);
            state_open.extend(no_state.then_some(phase.name.as_str()));
            never = never.or(never_ran(fitted, phase));
            never_open.extend(never.map(|_| phase.name.as_str()));
            let mut unseen = unshown.is_some() || at >= told.len() || no_state || never.is_some();
            // What comes after begins at a temperature that is not known either.
            let slower =
                !speed_open.is_empty() || !unseen && known && full_unknown::is_open(fitted, phase, &of);
            speed_open.extend(slower.then_some(phase.name.as_str()));
            unseen |= slower;
            if !unseen {
                floor_unseen.extend(floors_unseen(fitted, scenario, phase, &of));
            }
            let of = if unseen { Vec::new() } else { of };
            let undecided = state_law_unseen(fitted, scenario, stride, &of);
            law_unseen.extend(undecided.then_some(phase.name.as_str()));
            PhaseForecast {
                beyond: unseen || undecided || known && beyond(fitted, scenario, phase, &of),
                ..phase_forecast(fitted, scenario, phase, &of)
            }
        })
        .collect();
    caveats.extend(unshown.map(|at| tmt_caveat(fitted, scenario, load, at)));
    caveats.extend(load_caveat(fitted, load).filter(|_| known));
    caveats.extend(state_caveat(scenario, &state_open));
    caveats.extend(floor_caveat(fitted, &floor_unseen));
    caveats.extend(never_ran_caveat(never, &never_open));
    caveats.extend(full_unknown::caveat(fitted, load, &speed_open));
    caveats.extend(state_law_caveat(fitted, scenario, &law_unseen));
    general(fitted, scenario, &phases, &law_unseen, &mut caveats);
    caveats.iter_mut().for_each(|caveat| caveat.text = with_cache_size(&caveat.text, fitted.simulated));
    Forecast { schema: 1, phases, caveats }
}

/// What `of` makes of each sample: on two threads, as on the smallest machine that this is for.
pub(crate) fn each<T: Send>(samples: &[&DriveSample], of: impl Fn(&DriveSample) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(2);
    let (part, of) = (samples.len().div_ceil(threads).max(1), &of);
    std::thread::scope(|scope| {
        let parts: Vec<_> = samples
            .chunks(part)
            .map(|samples| scope.spawn(move || samples.iter().map(|sample| of(sample)).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("a simulation does not panic")).collect()
    })
}

/// One sample under the load.
pub fn one(
    fitted: &Fitted,
    scenario: &Scenario,
    load: &[LoadPhase],
    sample: &DriveSample,
) -> Vec<PhaseOutcome> {
    let full = |phase: &LoadPhase| full_speed(sample, fitted, phase);
    let mut drive = set_up(fitted, scenario, sample);
    if fitted.common.cache.is_none() {
        return phases(&mut drive, load, &full);
    }
    // The end of the write cache is no heat: what a second would have moved without heat is asked of the same drive
    // without a throttle.
    let mut free = set_up(fitted, scenario, &DriveSample { throttles: Vec::new(), ..sample.clone() });
    let of = |phase: &LoadPhase| {
        let before_j = drive.energy().in_j;
        let seconds = phase_seconds(&mut drive, phase);
        let without_heat = phase_seconds(&mut free, phase);
        let unthrottled =
            |at: usize| without_heat.get(at).map_or(0.0, |second| second.bytes).min(full(phase));
        PhaseOutcome { energy_j: drive.energy().in_j - before_j, ..outcome(&seconds, unthrottled) }
    };
    load.iter().map(of).collect()
}

/// A stretch of a forecast's course.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoursePoint {
    /// Its middle, in seconds since the load began.
    pub t_s: f64,
    /// Mean speed in bytes per second.
    pub bytes_per_s: Ranged,
    /// Mean temperature in kelvins.
    pub kelvin: Ranged,
}

/// The forecast over time, in at most `points` stretches of whole seconds; empty where there is no answer.
pub fn course(fitted: &Fitted, scenario: &Scenario, load: &[LoadPhase], points: usize) -> Vec<CoursePoint> {
    // What is open has no course, nor has what follows it.
    let told = predict(fitted, scenario, load).phases;
    let load = &load[..told.iter().take_while(|phase| phase.peak_k.is_some()).count()];
    let total: usize = load.iter().map(|phase| phase.seconds).sum();
    let stretch = total.div_ceil(points.max(1)).max(1);
    let mean = |part: &[LoadSecond], get: fn(&LoadSecond) -> f64| {
        part.iter().map(get).sum::<f64>() / part.len() as f64
    };
    let samples = in_state(fitted, scenario, 1);
    let samples: Vec<&DriveSample> = samples.iter().collect();
    let courses = each(&samples, |sample| {
        let mut drive = set_up(fitted, scenario, sample);
        let seconds: Vec<LoadSecond> =
            load.iter().flat_map(|phase| phase_seconds(&mut drive, phase)).collect();
        let parts = seconds.chunks(stretch);
        parts.map(|part| [mean(part, |s| s.bytes), mean(part, |s| s.kelvin)]).collect::<Vec<_>>()
    });
    let longest = courses.iter().map(Vec::len).max().unwrap_or(0);
    let (share, least_k) = (MODEL_SHARE * misfit::factor(fitted), model_k(fitted));
    let at = |place: usize| {
        let ranged = |of: usize, share: f64, least: f64| {
            let values: Vec<f64> =
                courses.iter().filter_map(|course| course.get(place)).map(|point| point[of]).collect();
            let [low, value, high] = interval(&values);
            let wide = (share * value).max(least);
            Ranged { value, low: (low - wide).max(0.0), high: high + wide }
        };
        CoursePoint {
            t_s: (place as f64 + 0.5) * stretch as f64,
            bytes_per_s: ranged(0, share, 0.0),
            kelvin: ranged(1, 0.0, least_k),
        }
    };
    (0..longest).map(at).collect()
}

/// What a phase moves in a second where heat does not slow it down, in bytes; 0 at rest.
pub fn full_speed(sample: &DriveSample, fitted: &Fitted, phase: &LoadPhase) -> f64 {
    let Some(read) = phase.read_share else { return 0.0 };
    let link = fitted.common.link.unwrap_or(f64::INFINITY);
    let [r, w] = sample.full_in_state().map(|speed| speed.min(link.max(sample.full[0]).max(sample.full[1])));
    (1e9 * together(read, [r, w])).min(phase.limit_bytes_per_s)
}

fn phase_forecast(
    fitted: &Fitted,
    scenario: &Scenario,
    phase: &LoadPhase,
    of: &[PhaseOutcome],
) -> PhaseForecast {
    let moved_k = scenario.ambient_k.zip(fitted.common.ambient_k).map_or(0.0, |(then, now)| then - now);
    let air_k = (moved_k + scenario.warmer_k).abs();
    let rough = f64::from(u8::from(!fitted.seen.cooled));
    let misfit = misfit::factor(fitted);
    let least_k = model_k(fitted) + misfit * AIR_K * air_k + NO_COOLING_K * rough;
    let throttled_share = misfit * (MODEL_SHARE + AIR_SHARE * air_k) + NO_COOLING_SHARE * rough;
    let time_share = misfit * (MODEL_TIME_SHARE + AIR_TIME_SHARE * air_k) + NO_COOLING_TIME_SHARE * rough;
    let ranged = |get: &dyn Fn(&PhaseOutcome) -> f64, share: f64, least: f64| {
        let values: Vec<f64> = of.iter().map(get).collect();
        let [low, value, high] = interval(&values);
        let wide = (share * value.abs()).max(least);
        value.is_finite().then_some(Ranged { value, low: low - wide, high: high + wide })
    };
    let never = of.iter().filter(|outcome| outcome.time_to_throttle_s.is_none()).count();
    let loaded = phase.read_share.is_some();
    // Where most samples never throttle, there is no time that could be named.
    let time_to_throttle_s = (loaded && 2 * never < of.len())
        .then(|| {
            let get = |outcome: &PhaseOutcome| outcome.time_to_throttle_s.unwrap_or(f64::NAN);
            let range = ranged(&get, time_share, misfit * MODEL_S)?;
            let high = if 20 * never > of.len() { phase.seconds as f64 } else { range.high };
            Some(Ranged { low: range.low.max(0.0), high: high.max(range.value), ..range })
        })
        .flatten();
    let speed_share = if time_to_throttle_s.is_some() { throttled_share } else { FULL_SHARE };
    let clamped = |range: Ranged| Ranged { low: range.low.max(0.0), high: range.high.min(1.0), ..range };
    PhaseForecast {
        name: phase.name.clone(),
        op: op(phase),
        mean_bytes_per_s: ranged(&|outcome| outcome.mean_bytes_per_s, speed_share, 0.0)
            .map(|speed| misfit::widened(fitted, phase, speed)),
        peak_k: ranged(&|outcome| outcome.peak_k, 0.0, least_k),
        steady_k: ranged(&|outcome| outcome.steady_k, 0.0, least_k),
        time_to_throttle_s,
        throttled_share: ranged(&|outcome| outcome.throttled_share, 0.02, 0.005).map(clamped),
        energy_j: fitted.common.k_per_w.and_then(|_| ranged(&|outcome| outcome.energy_j, 0.02, 0.0)),
        duration_s: ranged(&|outcome| outcome.seconds, 0.0, 0.0),
        evenness: interval(&of.iter().map(|outcome| outcome.evenness).collect::<Vec<_>>())[1],
        beyond: false,
    }
}

/// What holds for the whole forecast.
fn general(
    fitted: &Fitted,
    scenario: &Scenario,
    phases: &[PhaseForecast],
    law_unseen: &[&str],
    caveats: &mut Vec<ForecastCaveat>,
) {
    let mut add = |kind, text: String| caveats.push(ForecastCaveat { kind, text });
    add("simulated", "Predicted by simulation, not measured.".to_owned());
    if phases.iter().any(|phase| phase.peak_k.is_some()) {
        misfit::caveat(fitted).into_iter().for_each(|misses| add(misses.kind, misses.text));
    }
    let names = phases.iter().filter(|phase| phase.beyond).map(|phase| phase.name.as_str());
    // What has a caveat of its own is not too hot.
    let open = |name: &str| phases.iter().any(|phase| phase.name == name && phase.peak_k.is_none());
    let beyond: Vec<&str> = names.filter(|name| !law_unseen.contains(name) && !open(name)).collect();
    if let Some(acted_k) = above_asked_k(fitted, scenario) {
        add(
            "tmt_lower",
            format!(
                "Beyond what the runs showed: TMT1 is more than {LOWER_K:.0} K below the lowest at which they show it \
                 act ({:.0} °C). Firmware may throttle differently there; `{THERMAL_ID}` with that TMT1 \
                 shows it.",
                acted_k - 273.0
            ),
        );
    } else if !beyond.is_empty() {
        let hottest_c = measure::Celsius::from_kelvin_f64(fitted.seen.range_k[1]).as_degrees();
        add(
            "beyond",
            format!(
                "Beyond what the runs showed: {}. The hottest they were was {hottest_c:.0} °C; whether firmware throttles \
                 above that is not known.",
                beyond.join(", ")
            ),
        );
    }
    let lasts = phases.iter().filter_map(|phase| phase.duration_s).map(|range| range.value);
    let longest = lasts.fold(0.0, f64::max);
    if longest > 4.0 * fitted.seen.longest_s {
        add(
            "horizon",
            format!(
                "The longest load of the runs took {:.0} s; what a load of {longest:.0} s comes to is extrapolated.",
                fitted.seen.longest_s
            ),
        );
    }
}

const fn op(phase: &LoadPhase) -> &'static str {
    match phase.read_share {
        None => "idle",
        Some(read) if read >= 1.0 => "read",
        Some(read) if read <= 0.0 => "write",
        Some(_) => "mixed",
    }
}
