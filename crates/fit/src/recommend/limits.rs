//! Limits of advice: whether a forecast holds to them, and the number that decides where nothing does.

use super::settings::{Settings, celsius};
use super::{Bounds, ChoicePoint, loaded};
use crate::commands::typed_rate;
use crate::fitted::Fitted;
use crate::predict::scenario::{Scenario, as_asked};
use crate::predict::{Forecast, PhaseForecast, full_speed};
use crate::simulate::LoadPhase;

/// Where the 90th percentile lies between the middle and the 95th, as of a normal distribution: 1.282 of 1.645 deviations.
const NINE_OF_TEN: f64 = 0.779;

/// Whether the bounds hold: a temperature with all of its interval, a speed for nine of ten drives.
pub(super) fn holds(forecast: &Forecast, bounds: Bounds) -> bool {
    loaded(forecast).all(|phase| {
        let cool = bounds.below_k.is_none_or(|below_k| peak_k(phase).is_some_and(|k| k < below_k));
        let fast = bounds.at_least_bytes_per_s.is_none_or(|least| speed(phase).is_some_and(|is| is >= least));
        cool && fast && phase.mean_bytes_per_s.is_some()
    })
}

/// The peak that has to lie below a limit: whoever asks for one has it broken by a single reading.
fn peak_k(phase: &PhaseForecast) -> Option<f64> {
    phase.peak_k.map(|peak| peak.high)
}

/// The mean speed that has to reach a limit.
fn speed(phase: &PhaseForecast) -> Option<f64> {
    let speed = phase.mean_bytes_per_s?;
    Some(speed.value + NINE_OF_TEN * (speed.low - speed.value))
}

/// The limits in words.
fn named(bounds: Bounds) -> String {
    let below = bounds.below_k.map(|below_k| format!("below {:.0} °C", below_k - 273.0));
    let least =
        bounds.at_least_bytes_per_s.map(|least| format!("at least {}", measure::BytesPerSec::new(least)));
    below.into_iter().chain(least).collect::<Vec<_>>().join(" and ")
}

/// That none of `tried` holds to the bounds, with the number that decides.
pub(super) fn nothing_holds(
    fitted: &Fitted,
    (at, now): (&Scenario, &str),
    load: &[LoadPhase],
    tried: &[&ChoicePoint],
    bounds: Bounds,
) -> String {
    let limits = named(bounds);
    if limits.is_empty() {
        return format!(
            "No advice: the speed of this load is not known, neither with {now} nor with any that was tried."
        );
    }
    let why = out_of_reach(fitted, (at, now), load, tried, bounds).unwrap_or_else(|| {
        "More air or a heat sink might: `heatsoak predict RUN --airflow 2` shows the range.".to_owned()
    });
    format!("No setting or rate that was tried holds to the limits ({limits}). {why}")
}

/// The number because of which none of `tried` holds to the bounds.
fn out_of_reach(
    fitted: &Fitted,
    (at, now): (&Scenario, &str),
    load: &[LoadPhase],
    tried: &[&ChoicePoint],
    bounds: Bounds,
) -> Option<String> {
    let likeliest = as_asked(fitted, at, &fitted.best);
    let with_load = load.iter().filter(|phase| phase.read_share.is_some());
    let slowest = with_load
        .map(|phase| (phase, full_speed(&likeliest, fitted, phase)))
        .min_by(|(_, one), (_, other)| one.total_cmp(other));
    if let Some(((phase, full), least)) = slowest.zip(bounds.at_least_bytes_per_s)
        && full < least
    {
        return Some(format!("Unthrottled, {} runs at {}.", phase.name, measure::BytesPerSec::new(full)));
    }
    if let Some(rest_k) = rest_k(fitted, at)
        && bounds.below_k.is_some_and(|below_k| below_k <= rest_k)
    {
        return Some(format!("Idle, the drive is at {:.0} °C.", rest_k - 273.15));
    }
    let cool = Bounds { at_least_bytes_per_s: None, ..bounds };
    let coolest = tried.iter().filter_map(|point| Some((point, hottest(&point.forecast)?)));
    let fastest = tried.iter().filter(|point| holds(&point.forecast, cool));
    let fastest = fastest.filter_map(|point| Some((point, slowest_of(&point.forecast)?)));
    if bounds.at_least_bytes_per_s.is_some()
        && let Some((point, (phase, speed))) =
            fastest.max_by(|(_, one), (_, other)| one.1.total_cmp(&other.1))
    {
        let below = bounds.below_k.map(|_| format!(" {}", named(cool))).unwrap_or_default();
        let speed = measure::BytesPerSec::new(speed);
        return Some(format!(
            "The fastest{below}: {}, with {speed} in {phase}.",
            label(&point.settings, now)
        ));
    }
    let (point, (phase, peak_k)) = coolest.min_by(|(_, one), (_, other)| one.1.total_cmp(&other.1))?;
    Some(format!(
        "The coolest: {}, with a peak of {:.1} °C in {phase}.",
        label(&point.settings, now),
        peak_k - 273.15
    ))
}

/// The hottest phase, and its peak; `None` where one is not known.
fn hottest(forecast: &Forecast) -> Option<(&str, f64)> {
    let peaks: Option<Vec<_>> =
        loaded(forecast).map(|phase| Some((phase.name.as_str(), peak_k(phase)?))).collect();
    peaks?.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))
}

/// The slowest phase, and its mean speed; `None` where one is not known.
fn slowest_of(forecast: &Forecast) -> Option<(&str, f64)> {
    let speeds: Option<Vec<_>> =
        loaded(forecast).map(|phase| Some((phase.name.as_str(), speed(phase)?))).collect();
    speeds?.into_iter().min_by(|one, other| one.1.total_cmp(&other.1))
}

/// Temperature of the idle drive in the air that is asked about, where only its temperature differs from that of the runs.
fn rest_k(fitted: &Fitted, at: &Scenario) -> Option<f64> {
    if at.airflow.is_some() || at.heatsink_k_per_w.is_some() {
        return None;
    }
    let moved_k = match at.ambient_k {
        Some(then_k) => then_k - fitted.common.ambient_k?,
        None => 0.0,
    };
    Some(fitted.best.rest_k + moved_k + at.warmer_k)
}

fn label(settings: &Settings, now: &str) -> String {
    match (settings.tmt1_k, settings.rate_bytes_per_s) {
        (Some(_), _) => format!("TMT1 {} and TMT2 {}", celsius(settings.tmt1_k), celsius(settings.tmt2_k)),
        (None, Some(rate)) => format!("a rate of {}", typed_rate(rate)),
        (None, None) => now.to_owned(),
    }
}
