//! Power in sentences: what was taken off, the meters, budgets, and power states against each other.

use analysis::findings::SegmentOp;
use analysis::power::states::StateEffect;
use analysis::power::{PowerFindings, PowerMeterFound, PowerNote};

use crate::format;

/// The sentences under a table of power, what figures are missing first.
pub(crate) fn power(found: &PowerFindings) -> Vec<String> {
    let mut sentences: Vec<String> = found.notes.iter().map(note).collect();
    sentences.extend(budgets(found));
    if let Some(baseline_w) = found.baseline_w {
        let half = found.baseline_plus_minus_w.filter(|half| *half > 0.0);
        let half = half.map(|half| format!(" ± {half:.3} W")).unwrap_or_default();
        sentences.push(format!("Net is less the baseline of {baseline_w:.3} W{half}."));
    }
    sentences.extend(found.meters.iter().map(meter));
    sentences
}

fn meter(meter: &PowerMeterFound) -> String {
    let mut parts = Vec::new();
    parts.extend(meter.interval_s.map(|seconds| format!("a reading every {seconds:.2} s")));
    parts.extend(meter.step_w.map(|watts| format!("last digit {watts} W")));
    match (meter.lag_s, meter.lag_plus_minus_s) {
        (Some(lag_s), Some(half)) => {
            parts.push(format!("{lag_s:.2} ± {half:.2} s late by its correlation with the load, aligned"))
        }
        (Some(lag_s), None) if lag_s > 0.0 => parts.push(format!("{lag_s:.2} s late as stated, aligned")),
        _ => {}
    }
    if meter.gaps > 0 {
        parts.push(format!("{} gaps", meter.gaps));
    }
    let at = meter.at.as_ref().map(|at| format!(" (at the {at})")).unwrap_or_default();
    format!(
        "Meter {}{at}: {}.",
        meter.meter,
        if parts.is_empty() { "no reading".to_owned() } else { parts.join(", ") }
    )
}

fn note(note: &PowerNote) -> String {
    match note {
        PowerNote::NoReadings { meter, why } => {
            let why = why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{meter} gave no reading{why}. To try it: `heatsoak meter {meter}`.")
        }
        PowerNote::TooFewReadings { meter, phase, readings } => format!(
            "{meter} gave {readings} readings in the phase {phase}: below ten the interval counts more than the mean; a longer phase gives more."
        ),
        PowerNote::UnitDoubtful { meter, watts } => format!(
            "{meter} shows {watts} W under load, less than any drive draws: it may count in kW (`unit=kW`) or not be on this drive."
        ),
        PowerNote::LagUnknown { meter } => format!(
            "How late {meter} is cannot be told: no step of the load shows in it. `lag=2s` in its address states it."
        ),
        PowerNote::Uncovered { meter, phase, covered } => {
            format!(
                "Readings of {meter} cover {} of the phase {phase}; its figures are of that part.",
                format::percent(*covered)
            )
        }
    }
}

/// The least that it fits, and the first that it exceeds.
fn budgets(found: &PowerFindings) -> Option<String> {
    let fits = found.budgets.iter().find(|budget| budget.fits);
    let over = found.budgets.iter().rev().find(|budget| !budget.fits);
    let over = over.map(|over| {
        format!(
            "It exceeds {} ({} W) by {:.2} W for a second of the phase {}",
            over.form,
            over.watts,
            over.exceeded_by_w.unwrap_or(0.0),
            over.exceeded_in.as_deref().unwrap_or("?")
        )
    });
    match (over, fits) {
        (Some(over), Some(fits)) => Some(format!("{over}; it fits {} ({} W).", fits.form, fits.watts)),
        (None, Some(fits)) => {
            Some(format!("By its largest second it fits {} ({} W).", fits.form, fits.watts))
        }
        (Some(over), None) => Some(format!("{over}.")),
        (None, None) => None,
    }
}

/// Which power states are alike, where the effect begins, what each saves and costs.
pub(crate) fn state_effects(effects: &[StateEffect]) -> Vec<String> {
    let states: Vec<u8> = {
        let mut states: Vec<u8> = effects.iter().map(|effect| effect.power_state).collect();
        states.sort_unstable();
        states.dedup();
        states
    };
    let alike =
        |state: &u8| effects.iter().filter(|effect| effect.power_state == *state).all(|effect| effect.alike);
    let same: Vec<String> =
        states.iter().filter(|state| alike(state)).map(|state| format!("PS{state}")).collect();
    let mut sentences = Vec::new();
    if same.len() > 1 {
        sentences.push(format!("{} are alike in power and speed within noise.", same.join(", ")));
    }
    if let Some(first) = states.iter().find(|state| !alike(state)) {
        sentences.push(format!("The effect begins at PS{first}."));
    }
    for state in states.iter().filter(|state| !alike(state)) {
        let of_state =
            effects.iter().filter(|effect| effect.power_state == *state && effect.op != SegmentOp::Idle);
        let parts: Vec<String> = of_state.map(|effect| effect_sentence(effect, effects)).collect();
        sentences.push(format!("PS{state} against PS{}: {}.", states[0], parts.join("; ")));
    }
    sentences
}

fn effect_sentence(effect: &StateEffect, all: &[StateEffect]) -> String {
    let op = match effect.op {
        SegmentOp::Read => "reads",
        SegmentOp::Write => "writes",
        _ => "load",
    };
    let mut parts = vec![match effect.saves_w {
        saved if saved >= 0.0 => format!("{saved:.1} W less"),
        more => format!("{:.1} W more", -more),
    }];
    parts.extend(effect.costs_share.map(|share| format!("speed {}", format::signed_percent(-share))));
    let base = all.iter().find(|base| base.op == effect.op).and_then(|base| base.j_per_gb);
    let energy = effect.j_per_gb.zip(base);
    parts.extend(
        energy.map(|(one, base)| format!("energy per byte {}", format::signed_percent(one / base - 1.0))),
    );
    format!("{op} {}", parts.join(", "))
}
