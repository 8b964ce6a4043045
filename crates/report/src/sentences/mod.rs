//! Findings in plain sentences, the same in the page, the terminal and wherever else they are read.
//!
//! A sentence says only what a finding says; what a finding does not know is not said or said to be unknown.

mod accesses;
mod block;
mod caveats;
mod constant;
mod evidence;
mod floors;
mod joint;
mod life;
mod power;
mod readings;
mod summary;
mod verdict;
mod words;

use analysis::findings::{Event, EventKind, Findings, PolicyClass, SlcCache, Thermal};
use analysis::observation::Observation;
use analysis::wording;

pub(crate) use self::floors::ThrottledSpeed;
use crate::format;
use crate::view::Level;

pub(crate) use accesses::{fills, stalls, wear, wobble_kind};
pub use joint::joint_policy;
pub use life::life;
pub(crate) use power::{power, state_effects};
pub use summary::{Summary, summary};
pub use verdict::{Reason, cause_sentence};
pub(crate) use words::event_cause;
pub(crate) use words::{
    CONSTANT, LIGHT_LOAD, NO_IO, ONE_MEAN, UNSTEADY, event_sign, event_sign_ascii, policy_also,
};
pub use words::{cause, doing, event_kind, label, policy_class, policy_word};

/// An event with its cause and evidence: "Throttling onset at 374 s and 80 °C, 80 % of the speed before. …".
pub fn event(event: &Event, levels: &[Level]) -> String {
    let mut text = capitalised(event_kind(event.kind));
    text.push_str(&format!(" at {}", format::seconds(event.t_s)));
    if let Some(temp_k) = event.temp_k.filter(|temp_k| temp_k.is_finite()) {
        text.push_str(&format!(" and {}", format::temperature(Some(temp_k))));
    }
    if let Some(strength) = event.strength.filter(|strength| strength.is_finite()) {
        text.push_str(&format!(", {} the speed before", change(strength)));
    }
    text.push('.');
    if event.kind != EventKind::ThrottleRelease {
        if let Some(what) = course(event) {
            text.push_str(&format!(" {}", wording::observation(what)));
        }
        text.push_str(&format!(" {}", verdict::cause_sentence(event, levels)));
        let evidence = evidence(event);
        if !evidence.is_empty() {
            text.push_str(&format!(" {evidence}"));
        }
    }
    text
}

/// All evidence of an event as one text, the deciding piece first; empty where there is none.
pub(crate) fn evidence(event: &Event) -> String {
    match evidence::deciding(event).as_slice() {
        [] => String::new(),
        all => format!("Evidence: {}.", all.join(". ")),
    }
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

/// The throttling policy of some findings in a line; `throttled_bytes_per_s` is the speed while throttled, where there is just one.
pub fn policy(findings: &Findings, throttled_bytes_per_s: Option<f64>) -> String {
    let policy = &findings.policy;
    // Where heat did slow the drive down, how is what is open.
    let subject = match policy.class == PolicyClass::Undetermined && !policy.levels.is_empty() {
        true => "Throttling policy",
        false => "Throttling",
    };
    let narrow = policy.class == PolicyClass::Relay && is_narrow(policy.onset_k, policy.release_k);
    let class = if narrow { words::NARROW_RELAY } else { policy_class(policy.class) };
    let mut text = format!("{subject}: {class}");
    text.push_str(&policy_also(&policy.also));
    // Each of two levels has a speed of its own, and the mean of both is none.
    let two_levels = policy.class == PolicyClass::TwoLevel && policy.levels.len() > 1;
    match policy.levels.as_slice() {
        [] | [_] => {
            let of = |kind: EventKind| verdict::fallen(&findings.events, kind);
            let onset = verdict::usual(policy.onset_k, &of(EventKind::ThrottleOnset));
            let release = verdict::usual(policy.release_k, &of(EventKind::ThrottleRelease));
            let named = [("onset", onset), ("release", release.filter(|_| !narrow))];
            text.extend(named.into_iter().filter_map(|(name, k)| Some(format!(", {name} {}", k?))));
        }
        several => {
            for (nth, level) in several.iter().enumerate() {
                let floor = level.floor_bytes_per_s.filter(|_| two_levels);
                let floor =
                    floor.map(|floor| format!(", {}", format::speed(Some(floor)))).unwrap_or_default();
                text.push_str(&format!(
                    "; {}{}{floor}",
                    words::level(level.cause, level.op, nth),
                    thresholds(level.onset_k, level.release_k)
                ));
            }
        }
    }
    // The rows in which a drive stops and goes on hold some of its full speed.
    let stopped = policy.floor_bytes_per_s.filter(|floor| *floor <= 0.0 && policy.class == PolicyClass::Stop);
    let rate = throttled_bytes_per_s.map(|mean| stopped.unwrap_or(mean));
    if let Some(rate) = rate.filter(|_| policy.class != PolicyClass::None && !two_levels) {
        let drops = verdict::fallen(&findings.events, EventKind::ThrottleOnset);
        let drops = if stopped.is_some() { Vec::new() } else { drops };
        text.push_str(&format!(", {} while throttled", ThrottledSpeed::new(rate, &drops).text()));
    }
    if policy.class != PolicyClass::Undetermined {
        let runs = policy.from_runs.map(|runs| format!(", {runs} runs together")).unwrap_or_default();
        text.push_str(&format!(" (confidence {}{runs})", format::percent(policy.confidence)));
    }
    text.push('.');
    text
}

/// Whether a threshold releases within a kelvin of its onset: two equal temperatures are no hysteresis.
fn is_narrow(onset_k: Option<f64>, release_k: Option<f64>) -> bool {
    onset_k.zip(release_k).is_some_and(|(onset_k, release_k)| (onset_k - release_k).abs() < 1.0)
}

/// Onset and release, each after a comma.
fn thresholds(onset_k: Option<f64>, release_k: Option<f64>) -> String {
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    let parts = [
        finite(onset_k).map(|k| format!(", onset {}", format::temperature(Some(k)))),
        finite(release_k).map(|k| format!(", release {}", format::temperature(Some(k)))),
    ];
    parts.into_iter().flatten().collect()
}

/// The SLC cache.
pub fn slc_cache(slc: &SlcCache) -> String {
    format!(
        "SLC cache: full after {}; {} before, {} after.",
        format::amount(slc.bytes as f64),
        format::speed(Some(slc.before_bytes_per_s)),
        format::speed(Some(slc.after_bytes_per_s))
    )
}

/// An interval behind its value, in brackets.
fn between(interval: Option<[f64; 2]>, text: impl Fn(f64) -> Option<String>) -> String {
    let ends = interval.and_then(|[low, high]| Some((text(low)?, text(high)?)));
    ends.map_or_else(String::new, |(low, high)| format!(" (90 %: {low} to {high})"))
}

/// How load becomes temperature; nothing where nothing is known.
pub fn thermal(thermal: &Thermal) -> Vec<String> {
    let mut sentences = Vec::new();
    let rises = [
        ("write", thermal.kelvin_per_gb_per_s_write, thermal.kelvin_per_gb_per_s_write_90),
        ("read", thermal.kelvin_per_gb_per_s_read, thermal.kelvin_per_gb_per_s_read_90),
    ];
    for (op, rise, interval) in rises {
        if let Some(text) = rise.and_then(|rise| format::number(rise, 1)) {
            let of = between(interval, |value| format::number(value, 1));
            sentences.push(format!("Heating: {text} K for each GB/s of sustained {op}s{of}."));
        }
    }
    let intervals = thermal.tau_s_90.iter().flatten().map(Some).chain(std::iter::repeat(None));
    let taus = thermal.tau_s.iter().flatten().zip(intervals);
    let taus: Vec<String> = taus
        .filter(|(tau, _)| tau.is_finite())
        .map(|(tau, interval)| {
            let of = between(interval.copied(), |value| value.is_finite().then(|| format::seconds(value)));
            format!("{}{of}", format::seconds(*tau))
        })
        .collect();
    match taus.as_slice() {
        [] => {}
        [one] => sentences.push(format!("Thermal time constant: {one}.")),
        // A drive may have more: these two come nearest to how it warms up.
        many => sentences.push(format!("Thermal time constants (the nearest two): {}.", many.join(" and "))),
    }
    if let Some(floor) = thermal.idle_floor_k.filter(|floor| floor.is_finite()) {
        sentences.push(format!("Idle temperature: {}.", format::temperature(Some(floor))));
    }
    sentences
}

/// "The drive" becomes "the drive"; "TMT1" and "SLC" stay.
fn lowercase_first(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
