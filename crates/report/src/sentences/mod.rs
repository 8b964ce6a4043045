//! Findings in plain sentences, the same in the page, the terminal and wherever else they are read.
//!
//! A sentence says only what a finding says; what a finding does not know is not said or said to be unknown.

mod block;
mod joint;
mod life;
mod verdict;
mod words;

use analysis::findings::{Event, EventKind, Policy, PolicyClass, SlcCache, Thermal};
use analysis::observation::Observation;
use analysis::wording;

use crate::format;
use crate::view::Level;

pub use joint::joint_policy;
pub use life::life;
pub use verdict::verdict;
pub use words::{cause, doing, event_kind, label, policy_class, policy_word};
pub(crate) use words::{event_sign, event_sign_ascii};

/// An event with its cause and evidence: "Throttling begins at 214 s, at 80 °C, to 80 % of the speed before. …".
pub fn event(event: &Event, levels: &[Level]) -> String {
    let mut text = capitalised(event_kind(event.kind));
    text.push_str(&format!(" at {}", format::seconds(event.t_s)));
    if let Some(temp_k) = event.temp_k.filter(|temp_k| temp_k.is_finite()) {
        text.push_str(&format!(", at {}", format::temperature(Some(temp_k))));
    }
    if let Some(strength) = event.strength.filter(|strength| strength.is_finite()) {
        text.push_str(&format!(", to {} the speed before", change(strength)));
    }
    text.push('.');
    if event.kind != EventKind::ThrottleRelease {
        if let Some(what) = course(event) {
            text.push_str(&format!(" {}", wording::observation(what)));
        }
        text.push(' ');
        text.push_str(&cause_sentence(event, levels, usize::MAX));
    }
    text
}

/// What happened, where the event says it: that speed fell is no reason why it fell.
fn course(event: &Event) -> Option<&Observation> {
    let first = event.observations.first().filter(|seen| seen.weight.is_none());
    first.map(|seen| &seen.observation)
}

/// A speed after over a speed before, so that "the speed before" can follow: "80 % of", "13 times".
fn change(strength: f64) -> String {
    if strength <= 1.1 {
        format!("{} of", format::percent(strength))
    } else {
        format!("{} times", times(strength))
    }
}

/// A ratio above 1.
fn times(ratio: f64) -> String {
    let decimals = usize::from(ratio < 9.95);
    format::number(ratio, decimals).unwrap_or_else(|| format::UNKNOWN.to_owned())
}

/// A speed after over a speed before, in a table: "80 %", "13 ×".
pub(crate) fn ratio_cell(strength: f64) -> String {
    match strength.is_finite() {
        false => format::MISSING.to_owned(),
        true if strength <= 1.1 => format::percent(strength),
        true => format!("{} ×", times(strength)),
    }
}

/// "Cause: the drive's own threshold (confidence 95 %), because …." with the first `most` pieces of evidence.
fn cause_sentence(event: &Event, levels: &[Level], most: usize) -> String {
    let confidence = format::percent(event.confidence);
    let evidence = wording::evidence(event).into_iter();
    let reasons = evidence.skip(usize::from(course(event).is_some())).take(most);
    let because = match words::evidence(reasons) {
        evidence if evidence.is_empty() => String::new(),
        evidence => format!(", because {evidence}"),
    };
    let cause = match event.kind {
        EventKind::SlcExhausted => "the full write cache, which is not heat".to_owned(),
        _ => words::cause(event.cause, levels),
    };
    format!("Cause: {cause} (confidence {confidence}){because}.")
}

/// How the drive manages its heat.
pub fn policy(policy: &Policy) -> String {
    let mut text = format!("Heat management: {}", policy_class(policy.class));
    if !policy.also.is_empty() {
        let also: Vec<_> = policy.also.iter().map(|class| policy_class(*class)).collect();
        text.push_str(&format!(", and beside it: {}", also.join("; ")));
    }
    match policy.levels.as_slice() {
        [] | [_] => text.push_str(&thresholds(policy.onset_k, policy.release_k, policy.floor_bytes_per_s)),
        several => {
            for level in several {
                let of = words::level(level.cause);
                let what = thresholds(level.onset_k, level.release_k, level.floor_bytes_per_s);
                text.push_str(&format!("; {of}{what}"));
            }
        }
    }
    if policy.class != PolicyClass::Undetermined {
        text.push_str(&format!(" (confidence {})", format::percent(policy.confidence)));
    }
    text.push('.');
    text
}

/// Where slowing down begins and ends and what is left of the speed, each after a comma.
fn thresholds(onset_k: Option<f64>, release_k: Option<f64>, floor_bytes_per_s: Option<f64>) -> String {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let parts = [
        finite(onset_k).map(|k| format!(", begins at {}", format::temperature(Some(k)))),
        finite(release_k).map(|k| format!(", ends at {}", format::temperature(Some(k)))),
        finite(floor_bytes_per_s)
            .map(|rate| format!(", speed while slowed down {}", format::speed(Some(rate)))),
    ];
    parts.into_iter().flatten().collect()
}

/// The fast write cache.
pub fn slc_cache(slc: &SlcCache) -> String {
    format!(
        "The fast write cache was full after {}: writing at {} before, {} after.",
        format::amount(slc.bytes as f64),
        format::speed(Some(slc.before_bytes_per_s)),
        format::speed(Some(slc.after_bytes_per_s))
    )
}

/// How load becomes temperature; nothing where nothing is known.
pub fn thermal(thermal: &Thermal) -> Vec<String> {
    let mut sentences = Vec::new();
    let rises = [("write", thermal.kelvin_per_gb_per_s_write), ("read", thermal.kelvin_per_gb_per_s_read)];
    for (op, rise) in rises {
        if let Some(text) = rise.and_then(|rise| format::number(rise, 1)) {
            sentences.push(format!("Each GB/s of {op} load warms the drive by {text} K in the long run."));
        }
    }
    let taus: Vec<String> = thermal
        .tau_s
        .iter()
        .flatten()
        .filter(|tau| tau.is_finite())
        .map(|tau| format::seconds(*tau))
        .collect();
    match taus.as_slice() {
        [] => {}
        [one] => sentences.push(format!("It warms and cools with a time constant of {one}.")),
        many => sentences.push(format!("It warms and cools with time constants of {}.", many.join(" and "))),
    }
    if let Some(floor) = thermal.idle_floor_k.filter(|floor| floor.is_finite()) {
        sentences.push(format!("Without load it stays at {}.", format::temperature(Some(floor))));
    }
    sentences
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
