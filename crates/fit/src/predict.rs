//! What the drive would do elsewhere: every sample simulated, and what they agree on.

use std::num::NonZero;

use physics::Profile;
use physics::profile::Node;
use schemars::JsonSchema;
use serde::Serialize;

use crate::beyond::{
    LOWER_K, above_asked_k, beyond, state_law_caveat, state_law_unseen, state_unseen, tmt_unseen,
};
use crate::fitted::{Fitted, interval};
use crate::sample::DriveSample;
use crate::simulate::{LoadPhase, LoadSecond, PhaseOutcome, drive, phase_seconds, phases, set_tmt};

/// How far even a right model is off: what is not modelled - short dips, firmware's rounding - as a share of a speed,
/// in kelvins, and in seconds. Intervals are never narrower.
const MODEL_SHARE: f64 = 0.01;
pub(crate) const MODEL_K: f64 = 0.25;
const MODEL_S: f64 = 1.5;
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
/// Where and how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scenario {
    /// TMT1 and TMT2 in kelvins, 0 for off; `None` leaves each as it was.
    pub tmt_k: [Option<u16>; 2],
    /// Air in kelvins.
    pub ambient_k: Option<f64>,
    /// Air warmer than in the runs by so many kelvins, whatever it was then.
    pub warmer_k: f64,
    /// Resistance of a heat sink from drive to air, in K/W.
    pub heatsink_k_per_w: Option<f64>,
    /// Air flow over that of the runs.
    pub airflow: Option<f64>,
    /// Power state.
    pub power_state: Option<u8>,
    /// How full the drive is, in percent.
    pub fill_percent: Option<u8>,
}

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
    /// Slowest second of the last minute over the fastest; `null` in JSON where nothing could be simulated.
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
    let outcomes =
        if known { each(&samples, |sample| one(fitted, scenario, load, sample)) } else { Vec::new() };
    let phases: Vec<PhaseForecast> = load
        .iter()
        .enumerate()
        .map(|(at, phase)| {
            let of: Vec<PhaseOutcome> = outcomes.iter().map(|sample| sample[at]).collect();
            let unseen = tmt_unseen(fitted, scenario, &of) || state_unseen(fitted, scenario, phase);
            let of = if unseen { Vec::new() } else { of };
            let undecided = state_law_unseen(fitted, scenario, stride, &of);
            law_unseen.extend(undecided.then_some(phase.name.as_str()));
            PhaseForecast {
                beyond: unseen || undecided || known && beyond(fitted, scenario, phase, &of),
                ..phase_forecast(fitted, scenario, phase, &of)
            }
        })
        .collect();
    if known && phases.iter().any(|phase| phase.peak_k.is_none()) {
        caveats.push(ForecastCaveat {
            kind: "tmt_unknown",
            text: "The fitted runs do not show what TMT1 or TMT2 do where the drive would reach them: run `heatsoak run \
                   thermal-id` at such a setting, and fit both runs."
                .to_owned(),
        });
    }
    caveats.extend(state_law_caveat(&law_unseen));
    general(fitted, scenario, load, &phases, &law_unseen, &mut caveats);
    Forecast { schema: 1, phases, caveats }
}

/// Samples in the power state that is asked about.
fn in_state(fitted: &Fitted, scenario: &Scenario, stride: usize) -> Vec<DriveSample> {
    fitted.samples.iter().step_by(stride).map(|sample| as_asked(fitted, scenario, sample)).collect()
}

/// A sample in the power state that is asked about.
pub(crate) fn as_asked(fitted: &Fitted, scenario: &Scenario, sample: &DriveSample) -> DriveSample {
    let state = scenario.power_state.filter(|state| fitted.seen.power_state != Some(*state));
    state.and_then(|state| sample.in_state(state)).unwrap_or_else(|| sample.clone())
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
    phases(&mut set_up(fitted, scenario, sample), load, &|phase| full_speed(sample, fitted, phase))
}

/// A sample as a drive in its surroundings, with its settings.
pub(crate) fn set_up(fitted: &Fitted, scenario: &Scenario, sample: &DriveSample) -> physics::Drive {
    let profile = placed(sample.profile(&fitted.common), scenario, sample);
    let mut drive = drive(&profile);
    if profile.limits.hctm.is_some() {
        let now = drive.tmt();
        let tmt_k =
            [scenario.tmt_k[0].unwrap_or(now.tmt1_raw()), scenario.tmt_k[1].unwrap_or(now.tmt2_raw())];
        // Checked by `answerable` for all samples at once.
        let _ = set_tmt(&mut drive, Some(tmt_k));
    }
    drive
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
    if !answerable(fitted, scenario, &mut Vec::new()) {
        return Vec::new();
    }
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
            bytes_per_s: ranged(0, MODEL_SHARE, 0.0),
            kelvin: ranged(1, 0.0, MODEL_K),
        }
    };
    (0..longest).map(at).collect()
}

/// What a phase moves in a second where heat does not slow it down, in bytes; 0 at rest.
pub fn full_speed(sample: &DriveSample, fitted: &Fitted, phase: &LoadPhase) -> f64 {
    let Some(read) = phase.read_share else { return 0.0 };
    let link = fitted.common.link.unwrap_or(f64::INFINITY);
    let [r, w] = sample.full_in_state().map(|speed| speed.min(link.max(sample.full[0]).max(sample.full[1])));
    let seconds = if read > 0.0 { read / r } else { 0.0 } + if read < 1.0 { (1.0 - read) / w } else { 0.0 };
    (1e9 / seconds).min(phase.limit_bytes_per_s)
}

/// The profile in its surroundings.
fn placed(mut profile: Profile, scenario: &Scenario, sample: &DriveSample) -> Profile {
    if let Some(ambient_k) = scenario.ambient_k {
        profile.thermal.ambient_c = measure::Celsius::from_kelvin_f64(ambient_k).as_degrees();
    }
    profile.thermal.ambient_c += scenario.warmer_k;
    let total: f64 = profile.thermal.mode.iter().map(|mode| mode.k_per_w).sum();
    let outer = sample.outer_share * total;
    let mut outer_then = outer / scenario.airflow.unwrap_or(1.0);
    if let Some(sink) = scenario.heatsink_k_per_w {
        outer_then = outer_then * sink / (outer_then + sink);
    }
    if outer_then != outer {
        let nodes = aired(profile.thermal.nodes(), sample.outer_share, outer_then / outer);
        profile.sensor.composite_share = (0..nodes.len()).map(|at| f64::from(u8::from(at == 0))).collect();
        profile.thermal.mode.clear();
        profile.thermal.node = nodes;
    }
    profile
}

/// A ladder whose outermost part, `outer` of the whole resistance, has `times` as much of it. Capacities stay where they
/// are, and so do the first seconds.
pub(crate) fn aired(mut nodes: Vec<Node>, outer: f64, times: f64) -> Vec<Node> {
    let mut left_k_per_w = outer * nodes.iter().map(|node| node.outward_k_per_w).sum::<f64>();
    for node in nodes.iter_mut().rev() {
        let part_k_per_w = node.outward_k_per_w.min(left_k_per_w);
        node.outward_k_per_w -= part_k_per_w * (1.0 - times);
        left_k_per_w -= part_k_per_w;
    }
    nodes
}

/// Whether the fit has an answer at all; says why not.
fn answerable(fitted: &Fitted, scenario: &Scenario, caveats: &mut Vec<ForecastCaveat>) -> bool {
    let mut refuse = |kind, text: String| caveats.push(ForecastCaveat { kind, text });
    if scenario.ambient_k.is_some() && fitted.common.ambient_k.is_none() {
        refuse(
            "ambient_unknown",
            "The air of the fitted runs was not recorded, so what another ambient changes is not known: fit again with \
             `heatsoak fit RUN --ambient 24C`."
                .to_owned(),
        );
    }
    if scenario.heatsink_k_per_w.is_some() && fitted.k_per_w().is_none() {
        refuse(
            "resistance_unknown",
            "No fitted run of a quarter of an hour of load has power, so K/W are not known and a heatsink of so many K/W \
             cannot be put on: measure power beside `heatsoak run thermal-id`, or ask for `--airflow`."
                .to_owned(),
        );
    }
    if (scenario.airflow.is_some() || scenario.heatsink_k_per_w.is_some())
        && fitted.common.ambient_k.is_none()
    {
        refuse(
            "ambient_unknown",
            "The air of the fitted runs was not recorded, so how far the drive rests above it is not known: fit again \
             with `heatsoak fit RUN --ambient 24C`."
                .to_owned(),
        );
    }
    let was_run = |state: &u8| {
        fitted.seen.power_state.unwrap_or(0) == *state
            || fitted.best.states.iter().any(|other| other.state == *state)
    };
    if let Some(state) = scenario.power_state.filter(|state| !was_run(state)) {
        refuse(
            "power_state_unknown",
            format!(
                "No fitted run was in power state {state}: `heatsoak run thermal-id` with `settings = {{ power_state = \
                 {state} }}` in the plan, then fit both runs."
            ),
        );
    }
    if let Some(percent) = scenario.fill_percent {
        refuse(
            "fill_unknown",
            format!(
                "What being {percent} % full changes - the size of the SLC cache, garbage collection - no fitted run \
                 shows: fill the drive so far, run `heatsoak run thermal-id`, and fit that run by itself."
            ),
        );
    }
    if let Some(error) = tmt_error(fitted, scenario) {
        refuse("tmt_refused", error);
    }
    caveats.is_empty()
}

fn tmt_error(fitted: &Fitted, scenario: &Scenario) -> Option<String> {
    if scenario.tmt_k == [None; 2] {
        return None;
    }
    let mut drive = drive(&fitted.best.profile(&fitted.common));
    let now = drive.tmt();
    let wanted = [scenario.tmt_k[0].unwrap_or(now.tmt1_raw()), scenario.tmt_k[1].unwrap_or(now.tmt2_raw())];
    set_tmt(&mut drive, Some(wanted))
        .err()
        .map(|error| format!("The drive would refuse these settings: {error}."))
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
    let least_k = MODEL_K + AIR_K * air_k + NO_COOLING_K * rough;
    let speed_share = MODEL_SHARE + AIR_SHARE * air_k + NO_COOLING_SHARE * rough;
    let time_share = 0.02 + AIR_TIME_SHARE * air_k + NO_COOLING_TIME_SHARE * rough;
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
            let range = ranged(&get, time_share, MODEL_S)?;
            let high = if 20 * never > of.len() { phase.seconds as f64 } else { range.high };
            Some(Ranged { low: range.low.max(0.0), high: high.max(range.value), ..range })
        })
        .flatten();
    let clamped = |range: Ranged| Ranged { low: range.low.max(0.0), high: range.high.min(1.0), ..range };
    PhaseForecast {
        name: phase.name.clone(),
        op: op(phase),
        mean_bytes_per_s: ranged(&|outcome| outcome.mean_bytes_per_s, speed_share, 0.0),
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
    load: &[LoadPhase],
    phases: &[PhaseForecast],
    law_unseen: &[&str],
    caveats: &mut Vec<ForecastCaveat>,
) {
    let mut add = |kind, text: String| caveats.push(ForecastCaveat { kind, text });
    add("simulated", "Predicted by simulation, not measured.".to_owned());
    let names = phases.iter().filter(|phase| phase.beyond).map(|phase| phase.name.as_str());
    // What has a caveat of its own is not too hot.
    let beyond: Vec<&str> = names.filter(|name| !law_unseen.contains(name)).collect();
    if let Some(acted_k) = above_asked_k(fitted, scenario) {
        add(
            "tmt_lower",
            format!(
                "Beyond what the runs showed: TMT1 is more than {LOWER_K:.0} K below the lowest at which they show it \
                 act ({:.0} °C). Firmware may throttle differently there; `heatsoak run thermal-id` with that TMT1 \
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
    let longest = load.iter().map(|phase| phase.seconds as f64).fold(0.0, f64::max);
    if longest > 4.0 * fitted.seen.longest_s {
        add(
            "horizon",
            format!(
                "The longest load of the runs took {:.0} s; what a load of {longest:.0} s comes to is extrapolated.",
                fitted.seen.longest_s
            ),
        );
    }
    if load
        .iter()
        .any(|phase| phase.read_share.is_some() && (!phase.sequential || phase.io_bytes < 128 << 10))
    {
        add(
            "other_load",
            "The fit knows large sequential I/O; random or small I/O runs at other full speeds and energies."
                .to_owned(),
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

#[cfg(test)]
mod test {
    use physics::profile::{Mode, ladder};
    use proptest::prelude::*;

    use super::*;

    fn total(nodes: &[Node]) -> f64 {
        nodes.iter().map(|node| node.outward_k_per_w).sum()
    }

    proptest! {
        /// Laws of another airflow: so much resistance is gone, from the air inwards, and each capacity stays.
        #[test]
        fn resistance_goes_and_capacity_stays(
            shares in prop::collection::vec(0.05_f64..1.0, 2..8),
            outer in 0.02_f64..0.98,
            times in 0.1_f64..3.0,
        ) {
            let mode = |(at, share): (usize, &f64)| Mode { tau_s: 3.0 * 2.3_f64.powi(at as i32), k_per_w: *share };
            let before = ladder(&shares.iter().enumerate().map(mode).collect::<Vec<_>>());
            let after = aired(before.clone(), outer, times);
            let left = total(&after) / total(&before);
            prop_assert!((left - (1.0 - outer * (1.0 - times))).abs() < 1e-9, "{left}");
            let ratio = |at: usize| (after[at].outward_k_per_w / before[at].outward_k_per_w - 1.0) / (times - 1.0);
            for at in 1..before.len() {
                prop_assert!(after[at].capacity_j_per_k == before[at].capacity_j_per_k);
                prop_assert!(ratio(at) >= ratio(at - 1) - 1e-9);
            }
        }
    }

    /// Worked example of METHODS: half of the outermost quarter of 10 K/W.
    #[test]
    fn the_outermost_resistance_goes_first() {
        let mode = |tau_s, k_per_w| Mode { tau_s, k_per_w };
        let before = ladder(&[mode(20.0, 5.0), mode(180.0, 5.0)]);
        let after = aired(before.clone(), 0.25, 0.5);
        let found = |nodes: &[Node], at: usize| (nodes[at].capacity_j_per_k, nodes[at].outward_k_per_w);
        let near = |(c, r): (f64, f64), (wanted_c, wanted_r): (f64, f64)| {
            assert!((c - wanted_c).abs() < 0.05 && (r - wanted_r).abs() < 0.005, "{c} J/K, {r} K/W");
        };
        near(found(&before, 0), (3.6, 6.10));
        near(found(&before, 1), (42.0, 3.90));
        near(found(&after, 0), (3.6, 6.10));
        near(found(&after, 1), (42.0, 2.65));
    }
}
