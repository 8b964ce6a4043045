//! What advice is compared with: what the drive is set to outside of the runs, as a run may set TMT1 and TMT2 for itself and
//! puts back what it found. Where nothing is known of that, what the runs had; either is named.

use super::settings::celsius;
use crate::fitted::Fitted;
use crate::predict::predict_with;
use crate::predict::scenario::Scenario;
use crate::simulate::LoadPhase;

/// Samples that look whether there is an answer.
const LOOK: usize = 4;

/// Settings that a choice is held against, and their name.
pub(super) struct Baseline {
    /// Where and how, settings included.
    pub(super) at: Scenario,
    /// As a sentence has them.
    pub(super) named: String,
}

impl Baseline {
    /// Those of the last run.
    pub(super) fn of_runs(fitted: &Fitted, at: &Scenario) -> Self {
        let [tmt1_k, tmt2_k] = fitted.common.tmt_k.map(|kelvin| kelvin as u16);
        let state = fitted.seen.power_state.filter(|state| *state > 0);
        let state = state.map_or_else(String::new, |state| format!(", power state {state}"));
        let named = match fitted.seen.settings_known {
            true => format!("the settings of the runs ({}{state})", tmt([tmt1_k, tmt2_k])),
            false => "the settings of the runs".to_owned(),
        };
        Self { at: *at, named }
    }

    /// Those that the drive has outside of the runs.
    pub(super) fn standing(fitted: &Fitted, at: &Scenario, load: &[LoadPhase]) -> Self {
        let runs = Self::of_runs(fitted, at);
        let Some(standing_k) = fitted.common.standing_tmt_k.filter(|_| at.tmt_k == [None; 2]) else {
            return runs;
        };
        if standing_k.map(f64::from) == fitted.common.tmt_k {
            return Self { named: format!("the settings now ({})", tmt(standing_k)), ..runs };
        }
        let at = Scenario { tmt_k: standing_k.map(Some), ..*at };
        let told = predict_with(fitted, &at, load, LOOK);
        if told.phases.iter().all(|phase| phase.mean_bytes_per_s.is_some()) {
            return Self { at, named: format!("the settings outside of the runs ({})", tmt(standing_k)) };
        }
        let named = format!("{}, as no run shows those outside of them ({})", runs.named, tmt(standing_k));
        Self { named, ..runs }
    }
}

fn tmt([tmt1_k, tmt2_k]: [u16; 2]) -> String {
    let one = |kelvin: u16| if kelvin == 0 { "off".to_owned() } else { celsius(Some(kelvin)) };
    format!("TMT1 {}, TMT2 {}", one(tmt1_k), one(tmt2_k))
}
