//! TMT1 and TMT2 as one latch: where both act at fixed speeds, heavy throttling lets go where light does.
//!
//! NVMe Base 2.3, 8.1.18.5, and the published drives that were seen to do so. Where only TMT2 was seen to act and it let
//! go near TMT1, light throttling limits nothing.

use crate::data::RunData;
use crate::sample::{ThresholdSource, Throttle, ThrottleAct};

/// How far around TMT1 a release of heavy throttling is the latch's.
const NEAR_TMT1_K: (f64, f64) = (-7.0, 0.7);

/// The throttles with those of TMT1 and TMT2 joined, where they are one.
pub(crate) fn joined(mut throttles: Vec<Throttle>, runs: &[RunData]) -> Vec<Throttle> {
    let relay = |throttle: &Throttle| match throttle.act {
        ThrottleAct::Relay(shares) => Some(shares),
        _ => None,
    };
    let find = |follows| throttles.iter().position(|throttle| throttle.follows == follows);
    let (light_at, heavy_at) = (find(ThresholdSource::Tmt1), find(ThresholdSource::Tmt2));
    let Some(heavy_at) = heavy_at else { return throttles };
    let Some(heavy) = relay(&throttles[heavy_at]) else { return throttles };
    let heavy_k = throttles[heavy_at].on_k;
    match light_at {
        Some(light_at) => {
            let Some(light) = relay(&throttles[light_at]) else { return throttles };
            throttles[light_at].act = ThrottleAct::TwoLevel { light, heavy_k, heavy };
            // What light throttling leaves alone, heavy throttling may not.
            let both = [0, 1].map(|op| throttles[light_at].spares[op] && throttles[heavy_at].spares[op]);
            throttles[light_at].spares = both;
            throttles.remove(heavy_at);
        }
        None => {
            let gap_k = runs.iter().find_map(|run| Some(run.tmt_k[1]? - run.tmt_k[0]?));
            let Some(gap_k) = gap_k else { return throttles };
            // Of heavy throttling alone: where it lets go, over TMT1.
            let release_k = heavy_k - throttles[heavy_at].hysteresis_k + gap_k;
            if (NEAR_TMT1_K.0..NEAR_TMT1_K.1).contains(&release_k) {
                throttles[heavy_at] = Throttle {
                    follows: ThresholdSource::Tmt1,
                    on_k: 0.0,
                    hysteresis_k: (-release_k).max(0.1),
                    spares: throttles[heavy_at].spares,
                    act: ThrottleAct::TwoLevel { light: [1.0; 2], heavy_k, heavy },
                };
            }
        }
    }
    throttles
}
