//! What to set, and what it brings: the posterior through a grid of settings and rates.
//!
//! A choice must be good for most drives that the runs allow, not for the likeliest alone: speed counts by its lower end,
//! and limits hold for three of four and nine of ten.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cooling::{self, CoolingNeed};
use crate::fitted::Fitted;
use crate::next::throttled_share;
use crate::predict::{Forecast, MODEL_K, Scenario, as_asked, full_speed, predict, predict_with};
use crate::sample::{ThresholdSource, Throttle, ThrottleAct};
use crate::simulate::LoadPhase;

/// Samples that look at every choice; those that look good are looked at by all.
const FIRST_LOOK: usize = 8;
/// Choices that get the second look.
const FINALISTS: usize = 4;
/// Settings of TMT1 that are tried at most.
const MOST_TMT1: f64 = 16.0;
/// Rates that are tried, as shares of full speed of the fastest load: where throttling costs most, a rate far below full
/// speed is above the mean speed now.
const RATES: [f64; 8] = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
/// TMT1 is tried up to so far above the hottest that was seen, in kelvins: further up nothing is known.
const HOTTER_K: f64 = 20.0;
/// Settings of which the neighbours are tried as well, and how far.
const REFINED: usize = 3;
const NEAR_K: i16 = 4;
const NEAR_RATES: [f64; 4] = [0.94, 0.97, 1.03, 1.06];
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
/// A relay that leaves less of the speed costs most of it wherever it acts.
const DEAR_RELAY: f64 = 0.2;

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

/// Settings of a choice; what is `None` stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Settings {
    /// TMT1 in kelvins, 0 is off.
    pub tmt1_k: Option<u16>,
    /// TMT2 in kelvins.
    pub tmt2_k: Option<u16>,
    /// Rate of each load in bytes per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bytes_per_s: Option<f64>,
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

/// Something to avoid.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Avoid {
    /// Settings to avoid.
    pub settings: Settings,
    /// Why not.
    pub why: String,
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
        let holds = holds(&forecast, bounds);
        ChoicePoint { settings, forecast, score, holds }
    };
    let now = look(Settings::default(), 0);
    let mut points: Vec<ChoicePoint> =
        grid(fitted, at, load).into_iter().map(|settings| look(settings, FIRST_LOOK)).collect();
    let avoid = avoid(fitted, &now, &points);
    rank(&mut points);
    let near: Vec<Settings> =
        points.iter().take(REFINED).flat_map(|point| neighbours(fitted, &point.settings)).collect();
    points.extend(near.into_iter().map(|settings| look(settings, FIRST_LOOK)));
    rank(&mut points);
    points.dedup_by(|a, b| a.settings == b.settings);
    let mut best: Vec<ChoicePoint> =
        points.into_iter().take(FINALISTS).map(|point| look(point.settings, 0)).collect();
    best.retain(|point| point.holds && (!now.holds || better(point.score, now.score)));
    best.sort_by(|a, b| b.score.total_cmp(&a.score));
    let verdict = verdict(goal, fitted, &now, best.first(), bounds);
    let mut choices: Vec<Choice> = best.into_iter().map(|point| choice(fitted, &now, point)).collect();
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
    let good = |forecast: &Forecast| if bounded { holds(forecast, bounds) } else { unthrottled(forecast) };
    let now = predict_with(fitted, at, load, FIRST_LOOK);
    let answered = now.phases.iter().all(|phase| phase.peak_k.is_some());
    (answered && !good(&now)).then(|| cooling::need(fitted, at, load, good))
}

/// The best first, of those that hold to the bounds.
fn rank(points: &mut Vec<ChoicePoint>) {
    points.retain(|point| point.holds && point.score.is_finite());
    points.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// The whole kelvins around a setting of TMT1 that the grid stepped over, TMT2 moved along; rates around a rate.
fn neighbours(fitted: &Fitted, settings: &Settings) -> Vec<Settings> {
    if let Some(rate) = settings.rate_bytes_per_s {
        let between = NEAR_RATES.map(|times| Some(times * rate));
        return between.map(|rate_bytes_per_s| Settings { rate_bytes_per_s, ..*settings }).to_vec();
    }
    let (Some(tmt1_k), Some(tmt2_k)) = (settings.tmt1_k, settings.tmt2_k) else { return Vec::new() };
    let most = fitted.common.limits.tmt_max_k.map_or(u16::MAX, |kelvin| kelvin as u16);
    let moved = (-NEAR_K..=NEAR_K).filter(|by| *by != 0).map(|by| {
        let tmt2_k = if tmt2_k == most { most } else { tmt2_k.saturating_add_signed(by).min(most) };
        Settings { tmt1_k: Some(tmt1_k.saturating_add_signed(by)), tmt2_k: Some(tmt2_k), ..*settings }
    });
    moved.filter(|settings| settings.tmt1_k < settings.tmt2_k).collect()
}

fn limited(phase: &LoadPhase, rate: Option<f64>) -> LoadPhase {
    LoadPhase {
        limit_bytes_per_s: phase.limit_bytes_per_s.min(rate.unwrap_or(f64::INFINITY)),
        ..phase.clone()
    }
}

/// Settings to try: pairs of TMT1 and TMT2 where either was seen to act, and rates.
fn grid(fitted: &Fitted, at: &Scenario, load: &[LoadPhase]) -> Vec<Settings> {
    let mut grid = Vec::new();
    let common = &fitted.common;
    let follows = |follows| fitted.best.throttles.iter().any(|throttle| throttle.follows == follows);
    let latched =
        fitted.best.throttles.iter().any(|throttle| matches!(throttle.act, ThrottleAct::TwoLevel { .. }));
    if common.hctm
        && at.tmt_k == [None; 2]
        && (follows(ThresholdSource::Tmt1) || follows(ThresholdSource::Tmt2) || latched)
    {
        let hottest_k = fitted.seen.range_k[1] + HOTTER_K;
        let least = (fitted.best.rest_k + 4.0).max(common.limits.tmt_min_k.unwrap_or(0.0)).ceil();
        let most = common.limits.tmt_max_k.unwrap_or(hottest_k).floor();
        let highest = most.min(hottest_k);
        let step = ((highest - least) / MOST_TMT1).ceil().max(1.0);
        let mut tmt1_k = least;
        while tmt1_k < most && tmt1_k <= highest {
            for tmt2_k in [tmt1_k + 3.0, tmt1_k + 8.0, most] {
                if tmt2_k <= most && tmt2_k > tmt1_k {
                    let (tmt1_k, tmt2_k) = (Some(tmt1_k as u16), Some(tmt2_k as u16));
                    grid.push(Settings { tmt1_k, tmt2_k, rate_bytes_per_s: None });
                }
            }
            tmt1_k += step;
        }
    }
    let likeliest = as_asked(fitted, at, &fitted.best);
    let fastest = load.iter().map(|phase| full_speed(&likeliest, fitted, phase)).fold(0.0, f64::max);
    if fastest > 0.0 {
        grid.extend(
            RATES.map(|share| Settings { rate_bytes_per_s: Some(share * fastest), ..Settings::default() }),
        );
    }
    grid
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
fn holds(forecast: &Forecast, bounds: Bounds) -> bool {
    forecast.phases.iter().filter(|phase| phase.op != "idle").all(|phase| {
        // Intervals end at the 5th and 95th percentile; a bound is one-sided.
        let towards = |middle: f64, end: f64, share: f64| middle + share * (end - middle);
        let cool = bounds.below_k.is_none_or(|below_k| {
            phase.peak_k.is_some_and(|peak| {
                let high_k = peak.high - MODEL_K;
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

/// Settings that cost most of the speed, the dearest of each kind.
fn avoid(fitted: &Fitted, now: &ChoicePoint, points: &[ChoicePoint]) -> Vec<Avoid> {
    let speed = |point: &ChoicePoint| total_speed(&point.forecast);
    let fastest = points.iter().map(speed).fold(speed(now), f64::max);
    let set = points.iter().filter(|point| point.settings.tmt1_k.is_some());
    let mut avoid = Vec::new();
    let dear =
        set.clone().filter(|point| speed(point) < 0.5 * fastest).max_by_key(|point| point.settings.tmt1_k);
    if let Some(point) = dear {
        let lost = 100.0 * (1.0 - speed(point) / fastest);
        let tmt1 = celsius(point.settings.tmt1_k);
        avoid.push(Avoid {
            settings: point.settings,
            why: format!("TMT1 at {tmt1} and below costs {lost:.0} % of the speed"),
        });
    }
    let bursting = set.filter(|point| point.forecast.phases.iter().any(|phase| phase.evenness < 0.3));
    if let Some(point) = bursting.max_by_key(|point| point.settings.tmt1_k)
        && speed(point) < 0.97 * fastest
    {
        let tmt1 = celsius(point.settings.tmt1_k);
        avoid.push(Avoid {
            settings: point.settings,
            why: format!(
                "TMT1 at {tmt1} makes the speed swing: its slowest second is under a third of its fastest"
            ),
        });
    }
    avoid.extend(fitted.best.throttles.iter().find_map(dear_relay));
    avoid.extend(bursts(fitted));
    let rest = fitted.best.rest_k;
    if fitted.common.hctm && fitted.common.limits.tmt_min_k.is_some_and(|least| least < rest) {
        avoid.push(Avoid {
            settings: Settings { tmt1_k: Some(rest.floor() as u16), ..Settings::default() },
            why: format!("TMT1 at {} and below throttles an idle drive", celsius(Some(rest.floor() as u16))),
        });
    }
    avoid
}

/// A setting at which the drive works in bursts: the mean speed does not show it, the slowest I/Os do. Whether there are
/// any is the verdict's to say, which sees seconds; one operation may come in bursts and the other not.
fn bursts(fitted: &Fitted) -> Option<Avoid> {
    let regulates = |throttle: &Throttle| {
        let held = matches!(throttle.act, ThrottleAct::DutyCycled(_) | ThrottleAct::Regulator(_));
        held && fitted.seen.bursts_at.contains(&throttle.follows)
    };
    let name = match fitted.best.throttles.iter().find(|throttle| regulates(throttle))?.follows {
        ThresholdSource::Tmt1 => "TMT1",
        ThresholdSource::Tmt2 => "TMT2",
        ThresholdSource::Own => return None,
    };
    Some(Avoid {
        settings: Settings::default(),
        why: format!(
            "Any {name} that the load reaches: in the runs this drive held its temperature there by full-speed bursts \
             with pauses between them"
        ),
    })
}

/// A relay on a setting that leaves next to nothing: what it costs does not hang on where it is set.
fn dear_relay(throttle: &Throttle) -> Option<Avoid> {
    let name = match throttle.follows {
        ThresholdSource::Tmt1 => "TMT1",
        ThresholdSource::Tmt2 => "TMT2",
        ThresholdSource::Own => return None,
    };
    let left = match throttle.act {
        ThrottleAct::Relay(shares) => shares[0].min(shares[1]),
        ThrottleAct::TwoLevel { light, .. } => light[0].min(light[1]),
        _ => return None,
    };
    (left <= DEAR_RELAY).then(|| Avoid {
        settings: Settings::default(),
        why: format!(
            "Any {name} that the load reaches: this drive switches to {:.0} % of full speed there, and back only when it \
             has cooled by {:.0} K",
            100.0 * left,
            throttle.hysteresis_k
        ),
    })
}

fn choice(fitted: &Fitted, now: &ChoicePoint, point: ChoicePoint) -> Choice {
    let peak = |forecast: &Forecast| {
        forecast.phases.iter().filter_map(|phase| phase.peak_k).map(|peak| peak.value).fold(0.0, f64::max)
    };
    let gained = 100.0 * (total_speed(&point.forecast) / total_speed(&now.forecast) - 1.0);
    let warmer_k = peak(&point.forecast) - peak(&now.forecast);
    let (command, undo) = commands(fitted, &point.settings);
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

fn commands(fitted: &Fitted, settings: &Settings) -> (String, String) {
    let off = |kelvin: u16| if kelvin == 0 { "off".to_owned() } else { typed(kelvin) };
    match (settings.tmt1_k, settings.tmt2_k, settings.rate_bytes_per_s) {
        (Some(tmt1), Some(tmt2), _) => {
            let [was1, was2] = fitted.common.tmt_k.map(|kelvin| kelvin as u16);
            (
                format!("heatsoak hctm DRIVE --tmt1 {} --tmt2 {}", off(tmt1), off(tmt2)),
                format!("heatsoak hctm DRIVE --tmt1 {} --tmt2 {}", off(was1), off(was2)),
            )
        }
        (_, _, Some(rate)) => {
            let rate = format!("{:.0}MB/s", rate / 1e6);
            (
                format!(
                    "limit the load: rate = \"{rate}\" in the plan, fio --rate={}",
                    rate.replace("MB/s", "M")
                ),
                "no limit".to_owned(),
            )
        }
        _ => (String::new(), String::new()),
    }
}

/// Whole degrees as they are typed: 338 K is 65C, as nvme-cli has it.
fn typed(kelvin: u16) -> String {
    format!("{}C", i32::from(kelvin) - 273)
}

fn celsius(kelvin: Option<u16>) -> String {
    kelvin.map_or_else(|| "-".to_owned(), |kelvin| format!("{} °C", i32::from(kelvin) - 273))
}

fn verdict(
    goal: Goal,
    fitted: &Fitted,
    now: &ChoicePoint,
    best: Option<&ChoicePoint>,
    bounds: Bounds,
) -> String {
    let energy_unknown = goal == Goal::LeastEnergy && fitted.common.k_per_w.is_none();
    if energy_unknown {
        return "Energy is not known: no power was measured in the fitted runs. Measure it beside `heatsoak run \
                thermal-id` and fit again."
            .to_owned();
    }
    match best {
        Some(point) => {
            let (command, _) = commands(fitted, &point.settings);
            let now_breaks = if now.holds { "" } else { " The settings now do not hold to the limits." };
            let slower = point.settings.rate_bytes_per_s.is_some();
            let sooner = if slower && total_speed(&point.forecast) > total_speed(&now.forecast) {
                " Slower is sooner: throttling costs more than this limit."
            } else {
                ""
            };
            format!("{command}.{sooner}{now_breaks}")
        }
        None if now.holds => {
            "Leave the settings as they are: none that was tried is better by 1 %.".to_owned()
        }
        None => {
            let mut limits = Vec::new();
            limits.extend(bounds.below_k.map(|below| format!("below {:.0} °C", below - 273.15)));
            limits
                .extend(bounds.at_least_bytes_per_s.map(|least| format!("at least {:.2} GB/s", least / 1e9)));
            format!(
                "No setting or rate that was tried stays {}. More air or a heat sink might: `heatsoak predict` with \
                 `--airflow 2` shows the range.",
                limits.join(" and ")
            )
        }
    }
}
