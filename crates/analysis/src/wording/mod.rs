//! Sentences, made at the end from what was found: the only place of this crate that has them for findings.
//!
//! `analyze --json`, `findings.json` and the report all take them from here.

mod caveat;
mod observation;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use trace::Caveat;

pub use caveat::{caveat, caveat_of, kind};
pub use observation::{evidence, observation, with_rule};

use crate::findings::Event;

/// A temperature for people: whole kelvins as whole degrees, others with one decimal.
pub fn degrees(kelvin: f64) -> String {
    if kelvin.fract() == 0.0 {
        measure::Kelvin::from_kelvin(kelvin as u16).to_string()
    } else {
        measure::Celsius::from_kelvin_f64(kelvin).to_string()
    }
}

/// "sensor1" as people write it.
pub fn sensor_name(name: &str) -> String {
    match name.strip_prefix("sensor") {
        Some(number) if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => {
            format!("sensor {number}")
        }
        _ => name.to_owned(),
    }
}

/// A caveat with its sentence beside it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CaveatWithText<'a> {
    #[serde(flatten)]
    caveat: &'a Caveat,
    /// The same as a sentence.
    text: String,
}

/// A sentence or a command with what its runs need: they stay within the fast write cache, whose size simulated drives
/// know and others do not tell.
pub fn with_cache_size(text: &str, simulated: bool) -> String {
    if simulated { text.to_owned() } else { text.replace("--drive DRIVE", "--drive DRIVE --slc SIZE") }
}

/// Writes caveats with their sentences beside them.
pub(crate) fn caveats_with_text<S: Serializer>(caveats: &[Caveat], to: S) -> Result<S::Ok, S::Error> {
    let simulated = caveats.contains(&Caveat::Simulated);
    to.collect_seq(caveats.iter().map(|one| CaveatWithText { caveat: one, text: caveat_of(one, simulated) }))
}

/// An event with its evidence as sentences beside it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EventWithEvidence<'a> {
    #[serde(flatten)]
    event: &'a Event,
    /// Why the cause is called as it is, in sentences: the observations in words.
    evidence: Vec<String>,
}

/// Writes an event with its evidence as sentences.
pub(crate) fn event_with_evidence<S: Serializer>(event: &Event, to: S) -> Result<S::Ok, S::Error> {
    EventWithEvidence { event, evidence: evidence(event) }.serialize(to)
}

/// Writes events with their evidence as sentences.
pub(crate) fn events_with_evidence<S: Serializer>(events: &[Event], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(events.iter().map(|event| EventWithEvidence { event, evidence: evidence(event) }))
}
