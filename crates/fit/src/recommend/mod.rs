//! What to set, and what it brings: the posterior through a grid of settings and rates.
//!
//! A choice must be good for most drives that the runs allow, not for the likeliest alone: speed counts by its lower end,
//! and limits hold with all of a temperature's interval and for nine of ten speeds.

mod avoid;
mod baseline;
mod limits;
mod settings;

pub use avoid::Avoid;
pub use settings::Settings;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use self::baseline::Baseline;
use crate::commands::{THERMAL_ID_QUICK, with_cache_size};
use crate::cooling::{self, CoolingNeed};
use crate::fitted::Fitted;
use crate::next::throttled_share;
use crate::predict::full_unknown;
use crate::predict::scenario::Scenario;
use crate::predict::unknown::load_caveat;
use crate::predict::{Forecast, PhaseForecast, predict, predict_with};
use crate::simulate::LoadPhase;

/// Samples that look at every choice; those that look good are looked at by all.
const FIRST_LOOK: usize = 8;
/// Choices that get the second look.
const FINALISTS: usize = 4;
/// Choices that are looked at for those: what holds to a limit in the first look may not in the second.
const MOST_LOOKED: usize = 16;
/// Settings of which the neighbours are tried as well.
const REFINED: usize = 3;
/// What a choice must bring over what is set now to be worth a change: a share of the speed, a kelvin.
const WORTH_SHARE: f64 = 0.01;
const WORTH_K: f64 = 1.0;
/// A drive that throttles for less of the time is taken for one that does not.
const THROTTLED_SHARE_LEAST: f64 = 0.01;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Most bytes in the time.
    Fastest,
    /// The least swing of the speed.
    Steadiest,
    /// The lowest peak.
    Coolest,
    /// The least energy for a byte.
    LeastEnergy,
}

/// Why a goal has no advice.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum GoalError {
    /// No power beside the runs.
    #[error(
        "cannot tell what takes the least energy: no power was measured in the fitted runs; `heatsoak plans thermal-id` \
         prints a plan, add `[telemetry.power]` to it, run it and fit that run"
    )]
    NoPower,
}

impl Goal {
    /// Whether the fitted runs can tell what serves it.
    ///
    /// # Errors
    /// What they lack.
    pub const fn check(self, fitted: &Fitted) -> Result<(), GoalError> {
        match (self, fitted.common.k_per_w) {
            (Self::LeastEnergy, None) => Err(GoalError::NoPower),
            _ => Ok(()),
        }
    }
}

/// What must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// No reading so hot, in kelvins: the drive stays below it.
    pub below_k: Option<f64>,
    /// Never slower on average, in bytes per second.
    pub at_least_bytes_per_s: Option<f64>,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// What to set.
    pub settings: Settings,
    /// What it brings.
    pub predicted: Forecast,
    /// Why.
    pub why: String,
    /// The command that does it.
    pub command: String,
    /// The command that undoes it; of a rate, the run without it.
    pub undo: String,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Version of the format.
    pub schema: u32,
    /// The best first; empty where nothing holds to the bounds.
    pub choices: Vec<Choice>,
    /// A setting to avoid.
    pub avoid: Vec<Avoid>,
    /// Cooling with which the settings now hold to the limits, or never throttle where there is none; `None` where they
    /// do.
    pub cooling: Option<CoolingNeed>,
    /// The settings that choices are compared with: what the drive has outside of the runs where that is known.
    pub compared_with: String,
    /// In a sentence.
    pub verdict: String,
}

/// One point of the grid.
struct ChoicePoint {
    settings: Settings,
    forecast: Forecast,
    score: f64,
    holds: bool,
}

/// Recommends; whether `goal` can be served at all says [`Goal::check`].
pub fn recommend(fitted: &Fitted, at: &Scenario, load: &[LoadPhase], goal: Goal, bounds: Bounds) -> Advice {
    recommend_over(fitted, Baseline::standing(fitted, at, load), load, goal, bounds)
}

/// The same, compared with the settings of the last run.
pub(crate) fn recommend_over_run(fitted: &Fitted, load: &[LoadPhase], goal: Goal, bounds: Bounds) -> Advice {
    recommend_over(fitted, Baseline::of_runs(fitted, &Scenario::default()), load, goal, bounds)
}

fn recommend_over(fitted: &Fitted, base: Baseline, load: &[LoadPhase], goal: Goal, bounds: Bounds) -> Advice {
    let Baseline { at, named } = base;
    let at = &at;
    let look = |settings: Settings, count: usize| {
        let scenario =
            Scenario { tmt_k: [settings.tmt1_k.or(at.tmt_k[0]), settings.tmt2_k.or(at.tmt_k[1])], ..*at };
        let load: Vec<LoadPhase> =
            load.iter().map(|phase| limited(phase, settings.rate_bytes_per_s)).collect();
        let forecast = match count {
            0 => predict(fitted, &scenario, &load),
            count => predict_with(fitted, &scenario, &load, count),
        };
        let score = score(goal, &forecast, fitted);
        let holds = limits::holds(&forecast, bounds);
        ChoicePoint { settings, forecast, score, holds }
    };
    let now = look(Settings::default(), 0);
    if let Some(open) = load_caveat(fitted, load) {
        let verdict = format!("No advice. {}", with_cache_size(&open.text, fitted.simulated));
        let (choices, avoid) = (Vec::new(), Vec::new());
        return Advice { schema: 1, choices, avoid, cooling: None, compared_with: named, verdict };
    }
    let mut points: Vec<ChoicePoint> =
        settings::grid(fitted, at, load).into_iter().map(|settings| look(settings, FIRST_LOOK)).collect();
    let held_by_rate = |point: &ChoicePoint| point.holds && point.settings.rate_bytes_per_s.is_some();
    if !now.holds && !points.iter().any(held_by_rate) {
        let slower = settings::slower(fitted, at, load);
        points.extend(slower.into_iter().map(|settings| look(settings, FIRST_LOOK)));
    }
    // What is warned of is looked for among all that were tried, and said once it is clear what is advised.
    let dear = avoid::costly(&now, &points);
    let tried: Vec<&ChoicePoint> = points.iter().chain([&now]).collect();
    let nothing_holds = limits::nothing_holds(fitted, (at, &named), load, &tried, bounds);
    rank(&mut points);
    let near: Vec<Settings> =
        points.iter().take(REFINED).flat_map(|point| settings::neighbours(fitted, &point.settings)).collect();
    points.extend(near.into_iter().map(|settings| look(settings, FIRST_LOOK)));
    rank(&mut points);
    points.dedup_by(|a, b| a.settings == b.settings);
    // Of each kind of change: neighbours of the best one are no choice.
    let kinds: [fn(&Settings) -> bool; 2] =
        [|one| one.rate_bytes_per_s.is_none(), |one| one.rate_bytes_per_s.is_some()];
    let mut best: Vec<ChoicePoint> = Vec::new();
    for is_kind in kinds {
        let of_kind = points.iter().filter(|point| is_kind(&point.settings)).take(MOST_LOOKED);
        let looked = of_kind.map(|point| look(point.settings, 0)).filter(|point| point.holds);
        let mut looked: Vec<ChoicePoint> = looked.take(FINALISTS).collect();
        looked.retain(|point| !now.holds || better(goal, point.score, now.score));
        rank(&mut looked);
        best.extend(looked.into_iter().next());
    }
    rank(&mut best);
    let verdict = verdict(goal, fitted, load, (&now, &named), best.first()).unwrap_or(nothing_holds);
    let verdict = with_open(fitted, load, verdict, best.is_empty() && now.holds);
    let avoid = avoid::avoid(fitted, at, best.first().unwrap_or(&now), dear);
    let mut choices: Vec<Choice> =
        best.into_iter().map(|point| choice(goal, fitted, at, (&now, &named), point)).collect();
    if now.holds {
        let at_end = choices.len();
        choices.insert(
            at_end,
            Choice {
                settings: Settings::default(),
                why: named.clone(),
                command: String::new(),
                undo: String::new(),
                predicted: now.forecast,
            },
        );
    }
    let cooling = cooling_need(fitted, at, load, bounds);
    Advice { schema: 1, choices, avoid, cooling, compared_with: named, verdict }
}

/// What cooling the settings now take to hold to the bounds, or not to throttle where there are none.
fn cooling_need(fitted: &Fitted, at: &Scenario, load: &[LoadPhase], bounds: Bounds) -> Option<CoolingNeed> {
    let unthrottled = |forecast: &Forecast| {
        throttled_share(forecast).is_some_and(|share| share.value < THROTTLED_SHARE_LEAST)
    };
    let bounded = bounds.below_k.is_some() || bounds.at_least_bytes_per_s.is_some();
    let good = |forecast: &Forecast| {
        if bounded { limits::holds(forecast, bounds) } else { unthrottled(forecast) }
    };
    let now = predict_with(fitted, at, load, FIRST_LOOK);
    let answered = now.phases.iter().all(|phase| phase.peak_k.is_some());
    (answered && !good(&now)).then(|| cooling::need(fitted, at, load, good))
}

/// The best first, of those that hold to the bounds.
fn rank(points: &mut Vec<ChoicePoint>) {
    points.retain(|point| point.holds && point.score.is_finite());
    points.sort_by(|a, b| b.score.total_cmp(&a.score));
}

fn limited(phase: &LoadPhase, rate: Option<f64>) -> LoadPhase {
    LoadPhase {
        limit_bytes_per_s: phase.limit_bytes_per_s.min(rate.unwrap_or(f64::INFINITY)),
        ..phase.clone()
    }
}

/// How good, the more the better; `NaN` where it cannot be said.
fn score(goal: Goal, forecast: &Forecast, fitted: &Fitted) -> f64 {
    // What is not known is no good.
    if loaded(forecast).any(|phase| phase.mean_bytes_per_s.is_none()) {
        return f64::NAN;
    }
    let seconds: f64 = loaded(forecast).filter_map(|phase| phase.duration_s).map(|range| range.value).sum();
    match goal {
        Goal::Fastest => moved_bytes(forecast, true) / seconds,
        Goal::Steadiest => {
            // Of choices that are as even, the fastest.
            let full = 1e9 * (fitted.best.full[0] + fitted.best.full[1]);
            evenness(forecast) + 1e-3 * moved_bytes(forecast, true) / seconds / full
        }
        Goal::Coolest => {
            -loaded(forecast).filter_map(|phase| phase.peak_k).map(|range| range.high).fold(0.0, f64::max)
        }
        Goal::LeastEnergy => j_per_gb(forecast).map_or(f64::NAN, |j_per_gb| -j_per_gb),
    }
}

fn better(goal: Goal, score: f64, now: f64) -> bool {
    let worth = match goal {
        Goal::Coolest => WORTH_K,
        Goal::Fastest | Goal::Steadiest | Goal::LeastEnergy => WORTH_SHARE * now.abs().max(1e-9),
    };
    score.is_finite() && score - now > worth
}

fn choice(
    goal: Goal,
    fitted: &Fitted,
    at: &Scenario,
    (now, named): (&ChoicePoint, &str),
    point: ChoicePoint,
) -> Choice {
    let (command, undo) = settings::commands(fitted, &point.settings);
    let mut why = why(goal, (&now.forecast, named), &point.forecast);
    if let Some(reached) = avoid::reached(fitted, at, &point) {
        why = format!("{why}; {reached}");
    }
    Choice { why, settings: point.settings, predicted: point.forecast, command, undo }
}

/// What it brings over the settings that it is compared with, what was asked for first.
fn why(goal: Goal, (now, named): (&Forecast, &str), then: &Forecast) -> String {
    let gained = 100.0 * (total_speed(then) / total_speed(now) - 1.0);
    let warmer_k = hottest_k(then) - hottest_k(now);
    if !gained.is_finite() {
        return format!("what this load comes to at {named} is not known");
    }
    let (speed, peak) = (format!("speed {gained:+.1} %"), format!("peak {warmer_k:+.1} K"));
    let both = match goal {
        Goal::Fastest => format!("{speed}, {peak}"),
        Goal::Coolest => format!("{peak}, {speed}"),
        Goal::Steadiest => {
            let [was, is] = [now, then].map(|forecast| 100.0 * evenness(forecast));
            format!("slowest second {is:.0} % of the fastest instead of {was:.0} %, {speed}, {peak}")
        }
        Goal::LeastEnergy => match (j_per_gb(now), j_per_gb(then)) {
            (Some(was), Some(is)) => {
                format!("{is:.2} J/GB instead of {was:.2}, {speed}, {peak}")
            }
            _ => format!("{speed}, {peak}"),
        },
    };
    format!("{both} over {named}")
}

fn hottest_k(forecast: &Forecast) -> f64 {
    forecast.phases.iter().filter_map(|phase| phase.peak_k).map(|peak| peak.value).fold(0.0, f64::max)
}

/// Slowest second over the fastest, of the least even load.
fn evenness(forecast: &Forecast) -> f64 {
    loaded(forecast).map(|phase| phase.evenness).fold(f64::INFINITY, f64::min)
}

fn j_per_gb(forecast: &Forecast) -> Option<f64> {
    let energy_j: Option<f64> = loaded(forecast).map(|phase| phase.energy_j.map(|range| range.value)).sum();
    Some(energy_j? / moved_bytes(forecast, false) * 1e9)
}

fn loaded(forecast: &Forecast) -> impl Iterator<Item = &PhaseForecast> {
    forecast.phases.iter().filter(|phase| phase.op != "idle")
}

/// What all loads move, by the lower ends of their speeds or by their medians.
fn moved_bytes(forecast: &Forecast, low: bool) -> f64 {
    let of = loaded(forecast).filter_map(|phase| {
        let speed = phase.mean_bytes_per_s?;
        Some(phase.duration_s?.value * if low { speed.low } else { speed.value })
    });
    of.sum()
}

/// Mean speeds of all phases together; `NaN` where one is not known.
fn total_speed(forecast: &Forecast) -> f64 {
    let speed = |phase: &PhaseForecast| phase.mean_bytes_per_s.map_or(f64::NAN, |speed| speed.value);
    forecast.phases.iter().map(speed).sum()
}

/// The verdict with what is not known of the load; where nothing better was found (`leaves`), that is no advice.
fn with_open(fitted: &Fitted, load: &[LoadPhase], verdict: String, leaves: bool) -> String {
    let Some(open) = full_unknown::of_load(fitted, load) else { return verdict };
    let open = with_cache_size(&open.text, fitted.simulated);
    if leaves { format!("No advice. {open}") } else { format!("{verdict} {open}") }
}

/// What to do in a sentence; `None` where nothing holds to the limits.
fn verdict(
    goal: Goal,
    fitted: &Fitted,
    load: &[LoadPhase],
    (now, named): (&ChoicePoint, &str),
    best: Option<&ChoicePoint>,
) -> Option<String> {
    let Some(point) = best else {
        let worth = if goal == Goal::Coolest { "1 K" } else { "1 %" };
        let unnamed = match fitted.names_no_tmt() {
            true => format!(
                " What another TMT1 or TMT2 brings is not known: no fitted run says what they were. `{THERMAL_ID_QUICK}` \
                 records them; fit that run too."
            ),
            false => String::new(),
        };
        let leave = format!(
            "Leave the settings as they are: none that was tried is better than {named} by {worth}.{unnamed}"
        );
        return now.holds.then_some(leave);
    };
    let what = settings::sentence(fitted, &point.settings, load);
    let now_breaks = if now.holds { String::new() } else { format!(" At {named} the limits do not hold.") };
    let slower = point.settings.rate_bytes_per_s.is_some();
    let sooner = if slower && total_speed(&point.forecast) > total_speed(&now.forecast) {
        " Slower is sooner: throttling costs more than this limit."
    } else {
        ""
    };
    Some(format!("{what}{sooner}{now_breaks}"))
}
