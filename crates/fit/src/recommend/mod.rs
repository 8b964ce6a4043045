//! What to set, and what it brings: the posterior through a grid of settings and rates.
//!
//! A choice must be good for most drives that the runs allow, not for the likeliest alone: speed counts by its lower end,
//! and limits hold for three of four and nine of ten.

mod avoid;
mod settings;

pub use avoid::Avoid;
pub use settings::Settings;

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::{THERMAL_ID, with_cache_size};
use crate::cooling::{self, CoolingNeed};
use crate::fitted::Fitted;
use crate::next::throttled_share;
use crate::predict::scenario::Scenario;
use crate::predict::unknown::load_caveat;
use crate::predict::{Forecast, model_k, predict, predict_with};
use crate::simulate::LoadPhase;

/// Samples that look at every choice; those that look good are looked at by all.
const FIRST_LOOK: usize = 8;
/// Choices that get the second look.
const FINALISTS: usize = 4;
/// Settings of which the neighbours are tried as well.
const REFINED: usize = 3;
/// What a choice must bring over what is set now to be worth a change: a share of the speed, a kelvin.
const WORTH_SHARE: f64 = 0.01;
/// Where the 90th and 75th percentiles lie between the middle and the 95th, as of a normal distribution: 1.282 and 0.674
/// of 1.645 deviations.
const NINE_OF_TEN: f64 = 0.779;
const THREE_OF_FOUR: f64 = 0.410;
/// TMT1 is set, and most sensors read, in whole kelvins: a limit that is kept more surely than that costs a whole one.
const STEP_K: f64 = 1.0;
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

/// What must hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// Never hotter, in kelvins.
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
    /// The command that undoes it.
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

/// Recommends.
pub fn recommend(fitted: &Fitted, at: &Scenario, load: &[LoadPhase], goal: Goal, bounds: Bounds) -> Advice {
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
        let holds = holds(fitted, &forecast, bounds);
        ChoicePoint { settings, forecast, score, holds }
    };
    let now = look(Settings::default(), 0);
    if let Some(open) = load_caveat(fitted, load) {
        let verdict = format!("No advice. {}", with_cache_size(&open.text, fitted.simulated));
        return Advice { schema: 1, choices: Vec::new(), avoid: Vec::new(), cooling: None, verdict };
    }
    let mut points: Vec<ChoicePoint> =
        settings::grid(fitted, at, load).into_iter().map(|settings| look(settings, FIRST_LOOK)).collect();
    let avoid = avoid::avoid(fitted, &now, &points);
    rank(&mut points);
    let near: Vec<Settings> =
        points.iter().take(REFINED).flat_map(|point| settings::neighbours(fitted, &point.settings)).collect();
    points.extend(near.into_iter().map(|settings| look(settings, FIRST_LOOK)));
    rank(&mut points);
    points.dedup_by(|a, b| a.settings == b.settings);
    let mut best: Vec<ChoicePoint> =
        points.into_iter().take(FINALISTS).map(|point| look(point.settings, 0)).collect();
    best.retain(|point| point.holds && (!now.holds || better(point.score, now.score)));
    best.sort_by(|a, b| b.score.total_cmp(&a.score));
    let verdict = verdict(goal, fitted, load, &now, best.first(), bounds);
    let mut choices: Vec<Choice> = best.into_iter().map(|point| choice(fitted, load, &now, point)).collect();
    if now.holds {
        let at_end = choices.len();
        choices.insert(
            at_end,
            Choice {
                settings: Settings::default(),
                why: "as it is now".to_owned(),
                command: String::new(),
                undo: String::new(),
                predicted: now.forecast,
            },
        );
    }
    let cooling = cooling_need(fitted, at, load, bounds);
    Advice { schema: 1, choices, avoid, cooling, verdict }
}

/// What cooling the settings now take to hold to the bounds, or not to throttle where there are none.
fn cooling_need(fitted: &Fitted, at: &Scenario, load: &[LoadPhase], bounds: Bounds) -> Option<CoolingNeed> {
    let unthrottled = |forecast: &Forecast| {
        throttled_share(forecast).is_some_and(|share| share.value < THROTTLED_SHARE_LEAST)
    };
    let bounded = bounds.below_k.is_some() || bounds.at_least_bytes_per_s.is_some();
    let good =
        |forecast: &Forecast| if bounded { holds(fitted, forecast, bounds) } else { unthrottled(forecast) };
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
    let loaded = || forecast.phases.iter().filter(|phase| phase.op != "idle");
    let seconds: f64 = loaded().filter_map(|phase| phase.duration_s).map(|range| range.value).sum();
    let bytes = |low: bool| -> f64 {
        let of = loaded().filter_map(|phase| {
            let speed = phase.mean_bytes_per_s?;
            Some(phase.duration_s?.value * if low { speed.low } else { speed.value })
        });
        of.sum()
    };
    match goal {
        Goal::Fastest => bytes(true) / seconds,
        Goal::Steadiest => {
            loaded()
            .map(|phase| phase.evenness)
            .fold(f64::INFINITY, f64::min)
            // Of choices that are as even, the fastest.
            + 1e-3 * bytes(true) / seconds / 1e9 / (fitted.best.full[0] + fitted.best.full[1])
        }
        Goal::Coolest => {
            -loaded().filter_map(|phase| phase.peak_k).map(|range| range.high).fold(0.0, f64::max)
        }
        Goal::LeastEnergy => {
            let energy: Option<f64> = loaded().map(|phase| phase.energy_j.map(|range| range.value)).sum();
            energy.map_or(f64::NAN, |energy_j| -energy_j / bytes(false) * 1e9)
        }
    }
}

/// Whether the bounds hold: a temperature for three of four drives, and to the kelvin for 19 of 20; a speed for nine of
/// ten.
fn holds(fitted: &Fitted, forecast: &Forecast, bounds: Bounds) -> bool {
    forecast.phases.iter().filter(|phase| phase.op != "idle").all(|phase| {
        // Intervals end at the 5th and 95th percentile; a bound is one-sided.
        let towards = |middle: f64, end: f64, share: f64| middle + share * (end - middle);
        let cool = bounds.below_k.is_none_or(|below_k| {
            phase.peak_k.is_some_and(|peak| {
                let high_k = peak.high - model_k(fitted);
                towards(peak.value, high_k, THREE_OF_FOUR) < below_k && high_k < below_k + STEP_K
            })
        });
        let fast = bounds.at_least_bytes_per_s.is_none_or(|least| {
            phase.mean_bytes_per_s.is_some_and(|speed| towards(speed.value, speed.low, NINE_OF_TEN) >= least)
        });
        cool && fast && phase.mean_bytes_per_s.is_some()
    })
}

fn better(score: f64, now: f64) -> bool {
    score.is_finite() && score - now > WORTH_SHARE * now.abs().max(1e-9)
}

fn choice(fitted: &Fitted, load: &[LoadPhase], now: &ChoicePoint, point: ChoicePoint) -> Choice {
    let peak = |forecast: &Forecast| {
        forecast.phases.iter().filter_map(|phase| phase.peak_k).map(|peak| peak.value).fold(0.0, f64::max)
    };
    let gained = 100.0 * (total_speed(&point.forecast) / total_speed(&now.forecast) - 1.0);
    let warmer_k = peak(&point.forecast) - peak(&now.forecast);
    let (command, undo) = settings::commands(fitted, &point.settings, load);
    Choice {
        why: format!("speed {gained:+.1} %, peak {warmer_k:+.1} K over the settings now"),
        settings: point.settings,
        predicted: point.forecast,
        command,
        undo,
    }
}

/// Mean speeds of all phases together.
fn total_speed(forecast: &Forecast) -> f64 {
    forecast.phases.iter().filter_map(|phase| phase.mean_bytes_per_s).map(|speed| speed.value).sum()
}

fn verdict(
    goal: Goal,
    fitted: &Fitted,
    load: &[LoadPhase],
    now: &ChoicePoint,
    best: Option<&ChoicePoint>,
    bounds: Bounds,
) -> String {
    let energy_unknown = goal == Goal::LeastEnergy && fitted.common.k_per_w.is_none();
    if energy_unknown {
        let open = format!(
            "Energy is not known: no power was measured in the fitted runs. Measure it beside `{THERMAL_ID}` and fit again."
        );
        return with_cache_size(&open, fitted.simulated);
    }
    match best {
        Some(point) => {
            let what = settings::sentence(fitted, &point.settings, load);
            let now_breaks = if now.holds { "" } else { " The settings now do not hold to the limits." };
            let slower = point.settings.rate_bytes_per_s.is_some();
            let sooner = if slower && total_speed(&point.forecast) > total_speed(&now.forecast) {
                " Slower is sooner: throttling costs more than this limit."
            } else {
                ""
            };
            format!("{what}{sooner}{now_breaks}")
        }
        None if now.holds => {
            "Leave the settings as they are: none that was tried is better by 1 %.".to_owned()
        }
        None => {
            let mut limits = Vec::new();
            limits.extend(bounds.below_k.map(|below| format!("below {:.0} °C", below - 273.15)));
            let least = bounds.at_least_bytes_per_s.map(measure::BytesPerSec::new);
            limits.extend(least.map(|least| format!("at least {least}")));
            format!(
                "No setting or rate that was tried stays {}. More air or a heat sink might: `heatsoak predict` with \
                 `--airflow 2` shows the range.",
                limits.join(" and ")
            )
        }
    }
}
