//! Questions to which a fit has no answer, and which run would give one.

use crate::commands::{THERMAL_ID, in_states};
use crate::fitted::Fitted;
use crate::predict::ForecastCaveat;
use crate::predict::scenario::Scenario;
use crate::simulate::{drive, set_tmt};

/// Whether the fit has an answer at all; says why not.
pub(crate) fn answerable(fitted: &Fitted, scenario: &Scenario, caveats: &mut Vec<ForecastCaveat>) -> bool {
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
            format!(
                "No fitted run of a quarter of an hour of load has power, so K/W are not known and a heatsink of so many \
                 K/W cannot be put on: measure power beside `{THERMAL_ID}`, or ask for `--airflow`."
            ),
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
        refuse("power_state_unknown", power_state_unknown(fitted, state));
    }
    if let Some(percent) = scenario.fill_percent {
        refuse(
            "fill_unknown",
            format!(
                "What being {percent} % full changes - the size of the SLC cache, garbage collection - no fitted run \
                 shows: fill the drive so far, run `{THERMAL_ID}`, and fit that run by itself."
            ),
        );
    }
    if let Some(error) = tmt_error(fitted, scenario) {
        refuse("tmt_refused", error);
    }
    caveats.is_empty()
}

fn power_state_unknown(fitted: &Fitted, state: u8) -> String {
    match &fitted.seen.power_states {
        Some(all) if !all.contains(&state) => {
            let all: Vec<String> = all.iter().map(u8::to_string).collect();
            format!("Power state {state} serves no I/O on this drive: those that do are {}.", all.join(", "))
        }
        _ => format!(
            "No fitted run was in power state {state}: `{}` makes one; fit it too.",
            in_states(&[state])
        ),
    }
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
