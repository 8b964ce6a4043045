//! Settings that advice warns of.

use schemars::JsonSchema;
use serde::Serialize;

use super::settings::{Settings, celsius};
use super::{ChoicePoint, total_speed};
use crate::fitted::Fitted;
use crate::sample::{ThresholdSource, Throttle, ThrottleAct};

/// A relay that leaves less of the speed costs most of it wherever it acts.
const DEAR_RELAY: f64 = 0.2;

/// Something to avoid.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Avoid {
    /// Settings to avoid.
    pub settings: Settings,
    /// Why not.
    pub why: String,
}

/// Settings that cost most of the speed, the dearest of each kind.
pub(super) fn avoid(fitted: &Fitted, now: &ChoicePoint, points: &[ChoicePoint]) -> Vec<Avoid> {
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
