//! Settings that advice looks at, and how each is set and taken back.

use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::{RateLimit, rate_limit, typed, typed_rate, with_cache_size};
use crate::fitted::Fitted;
use crate::predict::full_speed;
use crate::predict::scenario::{Scenario, as_asked};
use crate::sample::{ThresholdSource, ThrottleAct};
use crate::simulate::LoadPhase;

/// Settings of TMT1 that are tried at most.
const MOST_TMT1: f64 = 16.0;
/// Rates that are tried, as shares of full speed of the fastest load: where throttling costs most, a rate far below full
/// speed is above the mean speed now.
const RATES: [f64; 8] = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3];
/// Rates that are tried where none of these holds to the limits.
const SLOWER: [f64; 5] = [0.25, 0.2, 0.15, 0.1, 0.05];
/// TMT1 is tried up to so far above the hottest that was seen, in kelvins: further up nothing is known.
const HOTTER_K: f64 = 20.0;
/// Neighbours of a setting, in kelvins and as shares of a rate.
const NEAR_K: i16 = 4;
const NEAR_RATES: [f64; 4] = [0.94, 0.97, 1.03, 1.06];

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

/// Settings to try: pairs of TMT1 and TMT2 where either was seen to act, and rates.
pub(super) fn grid(fitted: &Fitted, at: &Scenario, load: &[LoadPhase]) -> Vec<Settings> {
    let mut grid = Vec::new();
    let common = &fitted.common;
    let follows = |follows| fitted.best.throttles.iter().any(|throttle| throttle.follows == follows);
    let latched =
        fitted.best.throttles.iter().any(|throttle| matches!(throttle.act, ThrottleAct::TwoLevel { .. }));
    if common.hctm && (follows(ThresholdSource::Tmt1) || follows(ThresholdSource::Tmt2) || latched) {
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
    grid.extend(rates(fitted, at, load, &RATES));
    grid
}

/// Rates below those of the grid.
pub(super) fn slower(fitted: &Fitted, at: &Scenario, load: &[LoadPhase]) -> Vec<Settings> {
    rates(fitted, at, load, &SLOWER)
}

/// Rates as shares of full speed of the fastest load; none where that is not known.
fn rates(fitted: &Fitted, at: &Scenario, load: &[LoadPhase], shares: &[f64]) -> Vec<Settings> {
    let likeliest = as_asked(fitted, at, &fitted.best);
    let fastest = load.iter().map(|phase| full_speed(&likeliest, fitted, phase)).fold(0.0, f64::max);
    let shares = shares.iter().filter(|_| fastest > 0.0);
    shares.map(|share| Settings { rate_bytes_per_s: Some(share * fastest), ..Settings::default() }).collect()
}

/// The whole kelvins around a setting of TMT1 that the grid stepped over, TMT2 moved along; rates around a rate.
pub(super) fn neighbours(fitted: &Fitted, settings: &Settings) -> Vec<Settings> {
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

/// What sets it, and what takes it back. A rate is an option of a run: one that is limited for good is in its plan.
pub(super) fn commands(fitted: &Fitted, settings: &Settings) -> (String, String) {
    match (settings.tmt1_k, settings.tmt2_k, settings.rate_bytes_per_s) {
        (Some(tmt1), Some(tmt2), _) => {
            // A run puts back what it found.
            let of_run = || fitted.common.tmt_k.map(|kelvin| kelvin as u16);
            let [was1, was2] = fitted.common.standing_tmt_k.unwrap_or_else(of_run);
            (hctm(tmt1, tmt2), hctm(was1, was2))
        }
        (_, _, Some(rate)) => {
            let run = with_cache_size("heatsoak run PLAN --drive DRIVE", fitted.simulated);
            (format!("{run} --sweep rate=default,{}", typed_rate(rate)), run)
        }
        _ => (String::new(), String::new()),
    }
}

fn hctm(tmt1_k: u16, tmt2_k: u16) -> String {
    let off = |kelvin: u16| if kelvin == 0 { "off".to_owned() } else { typed(kelvin) };
    format!("heatsoak hctm DRIVE --tmt1 {} --tmt2 {}", off(tmt1_k), off(tmt2_k))
}

/// What to do, as a sentence.
pub(super) fn sentence(fitted: &Fitted, settings: &Settings, load: &[LoadPhase]) -> String {
    match settings.rate_bytes_per_s {
        Some(rate) => {
            let RateLimit { plan, fio } = rate_limit(rate, load);
            let fio = fio.map(|fio| format!(", `{fio}`")).unwrap_or_default();
            format!("Limit the load: `{plan}` in the plan{fio}.")
        }
        None => {
            let (tmt1, tmt2) = (celsius(settings.tmt1_k), celsius(settings.tmt2_k));
            format!("Set TMT1 to {tmt1} and TMT2 to {tmt2}: `{}`.", commands(fitted, settings).0)
        }
    }
}

pub(super) fn celsius(kelvin: Option<u16>) -> String {
    kelvin.map_or_else(|| "-".to_owned(), |kelvin| format!("{} °C", i32::from(kelvin) - 273))
}
