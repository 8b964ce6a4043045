//! Settings that advice warns of.

use schemars::JsonSchema;
use serde::Serialize;

use super::settings::{Settings, celsius};
use super::{ChoicePoint, hottest_k, total_speed};
use crate::fitted::Fitted;
use crate::predict::scenario::Scenario;
use crate::sample::{ThresholdSource, Throttle, ThrottleAct};

/// A relay that leaves less of the speed costs most of it wherever it acts.
const DEAR_RELAY: f64 = 0.2;
/// A load that comes so near to a threshold, in kelvins, reaches it: as far as a forecast of a peak may be off.
const NEAR_K: f64 = 0.5;

/// Something to avoid.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Avoid {
    /// Settings to avoid.
    pub settings: Settings,
    /// Why not.
    pub why: String,
}

/// Settings that cost most of the speed, the dearest of each kind.
pub(super) fn costly(now: &ChoicePoint, points: &[ChoicePoint]) -> Vec<Avoid> {
    let speed = |point: &ChoicePoint| total_speed(&point.forecast);
    let fastest = points.iter().map(speed).fold(speed(now), f64::max);
    // What is open costs nothing that is known.
    let known = |point: &&ChoicePoint| point.forecast.phases.iter().all(|one| one.mean_bytes_per_s.is_some());
    let set = points.iter().filter(|point| point.settings.tmt1_k.is_some()).filter(known);
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
    avoid
}

/// All that is warned of beside `best`, which is advised: what that does itself is said with it ([`reached`]).
pub(super) fn avoid(fitted: &Fitted, at: &Scenario, best: &ChoicePoint, mut avoid: Vec<Avoid>) -> Vec<Avoid> {
    let best_k = set_k(fitted, at, best, ThresholdSource::Tmt1);
    let is_lower = |tmt1_k: u16| best_k.is_none_or(|best_k| f64::from(tmt1_k) < best_k);
    avoid.retain(|one| one.settings.tmt1_k.is_none_or(is_lower));
    let unreached = fitted.best.throttles.iter().filter(|throttle| !reaches(fitted, at, best, throttle));
    avoid.extend(unreached.clone().find_map(dear_relay));
    avoid.extend(unreached.clone().find_map(|throttle| bursts(fitted, throttle)));
    let rest = fitted.best.rest_k;
    let follows = fitted.best.throttles.iter().any(|throttle| throttle.follows == ThresholdSource::Tmt1);
    if follows && fitted.common.hctm && fitted.common.limits.tmt_min_k.is_some_and(|least| least < rest) {
        avoid.push(Avoid {
            settings: Settings { tmt1_k: Some(rest.floor() as u16), ..Settings::default() },
            why: format!("TMT1 at {} and below throttles an idle drive", celsius(Some(rest.floor() as u16))),
        });
    }
    avoid
}

/// Whether the load gets to where a throttle that follows a setting sets in.
fn reaches(fitted: &Fitted, at: &Scenario, point: &ChoicePoint, throttle: &Throttle) -> bool {
    let set_k = set_k(fitted, at, point, throttle.follows);
    set_k.is_some_and(|set_k| hottest_k(&point.forecast) > set_k + throttle.on_k - NEAR_K)
}

/// TMT1 or TMT2 of a choice; `None` where it is off.
fn set_k(fitted: &Fitted, at: &Scenario, point: &ChoicePoint, follows: ThresholdSource) -> Option<f64> {
    let (place, chosen_k) = match follows {
        ThresholdSource::Tmt1 => (0, point.settings.tmt1_k),
        ThresholdSource::Tmt2 => (1, point.settings.tmt2_k),
        ThresholdSource::Own => return None,
    };
    let set_k = chosen_k.or(at.tmt_k[place]).map_or(fitted.common.tmt_k[place], f64::from);
    (set_k > 0.0).then_some(set_k)
}

/// What a choice reaches all the same, where the drive then leaves next to nothing or works in bursts.
pub(super) fn reached(fitted: &Fitted, at: &Scenario, point: &ChoicePoint) -> Option<String> {
    let throttles = fitted.best.throttles.iter().filter(|throttle| reaches(fitted, at, point, throttle));
    let told = throttles.filter_map(|throttle| match (switch(throttle), bursting(fitted, throttle)) {
        (Some((name, left)), _) => Some(format!(
            "the load still reaches {name}: {:.0} % of full speed from there until it has cooled by {:.0} K",
            100.0 * left,
            throttle.hysteresis_k
        )),
        (None, Some(name)) => {
            Some(format!("the load still reaches {name}, where this drive works in bursts"))
        }
        (None, None) => None,
    });
    told.reduce(|all, one| format!("{all}; {one}"))
}

/// A setting at which the drive works in bursts: the mean speed does not show it, the slowest I/Os do. Whether there are
/// any is the verdict's to say, which sees seconds; one operation may come in bursts and the other not.
fn bursts(fitted: &Fitted, throttle: &Throttle) -> Option<Avoid> {
    let name = bursting(fitted, throttle)?;
    Some(Avoid {
        settings: Settings::default(),
        why: format!(
            "Any {name} that the load reaches: in the runs this drive held its temperature there by full-speed bursts \
             with pauses between them"
        ),
    })
}

/// The setting of a throttle that works in bursts.
fn bursting(fitted: &Fitted, throttle: &Throttle) -> Option<&'static str> {
    let held = matches!(throttle.act, ThrottleAct::DutyCycled(_) | ThrottleAct::Regulator(_));
    let bursts = held && fitted.seen.bursts_at.contains(&throttle.follows);
    if bursts { host_setting(throttle.follows) } else { None }
}

/// A relay on a setting that leaves next to nothing: what it costs does not hang on where it is set.
fn dear_relay(throttle: &Throttle) -> Option<Avoid> {
    let (name, left) = switch(throttle)?;
    Some(Avoid {
        settings: Settings::default(),
        why: format!(
            "Any {name} that the load reaches: this drive switches to {:.0} % of full speed there, and back only when it \
             has cooled by {:.0} K",
            100.0 * left,
            throttle.hysteresis_k
        ),
    })
}

/// A setting at which the drive switches to next to nothing, and what it leaves.
fn switch(throttle: &Throttle) -> Option<(&'static str, f64)> {
    let left = match throttle.act {
        ThrottleAct::Relay(shares) => shares[0].min(shares[1]),
        ThrottleAct::TwoLevel { light, .. } => light[0].min(light[1]),
        _ => return None,
    };
    let name = host_setting(throttle.follows)?;
    (left <= DEAR_RELAY).then_some((name, left))
}

const fn host_setting(follows: ThresholdSource) -> Option<&'static str> {
    match follows {
        ThresholdSource::Tmt1 => Some("TMT1"),
        ThresholdSource::Tmt2 => Some("TMT2"),
        ThresholdSource::Own => None,
    }
}
