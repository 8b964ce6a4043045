//! Sentences, made at the end from what was found: the only place of this crate that has them for findings.
//!
//! `analyze --json`, `findings.json` and the report all take them from here.

mod caveat;
mod observation;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use trace::Caveat;

pub use caveat::{caveat, caveat_of, heating_unknown, kind};
pub use observation::{evidence, observation, with_rule};

use crate::findings::Event;

/// A temperature in kelvins on the Celsius scale, for people.
///
/// Whole kelvins are whole degrees, as every other tool shows them ([`measure::Kelvin`]), and so is what lies half way between two of
/// them. Others were measured in finer steps than a kelvin, and 273.15 lie between the scales.
pub fn celsius(kelvin: f64) -> f64 {
    if (2.0 * kelvin).fract() != 0.0 {
        return measure::Celsius::from_kelvin_f64(kelvin).as_degrees();
    }
    let whole = kelvin.clamp(0.0, f64::from(u16::MAX)).trunc();
    f64::from(measure::Kelvin::from_kelvin(whole as u16).as_whole_celsius()) + (kelvin - whole)
}

/// The same with its unit, and one decimal unless it is whole: "80 °C".
pub fn degrees(kelvin: f64) -> String {
    let celsius = celsius(kelvin);
    let decimals = usize::from((celsius - celsius.round()).abs() >= 0.05);
    format!("{celsius:.decimals$} °C")
}

/// A span of time as people say it: "4.5 s", "450 s", "3 h 20 min", "90 days".
pub fn duration(s: f64) -> String {
    const HOUR_S: f64 = 3600.0;
    match s {
        s if s < 10.0 && (s - s.round()).abs() >= 0.05 => format!("{s:.1} s"),
        s if s < 3.0 * HOUR_S => format!("{s:.0} s"),
        s if s < 72.0 * HOUR_S => hours_and_minutes(s),
        s => format!("{:.0} days", s / (24.0 * HOUR_S)),
    }
}

/// "3 h 20 min".
pub fn hours_and_minutes(s: f64) -> String {
    let minutes = (s / 60.0).round();
    format!("{:.0} h {:.0} min", (minutes / 60.0).floor(), minutes % 60.0)
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

#[cfg(test)]
mod test {
    use super::{degrees, duration};
    use trace::caveat::{Caveat, Unseen};

    #[test]
    fn a_span_is_told_in_the_unit_that_suits_it() {
        let told = [4.5, 450.0, 12_000.0, 7_776_000.0].map(duration);
        assert_eq!(told, ["4.5 s", "450 s", "3 h 20 min", "90 days"]);
    }

    /// Goal: that nothing was written is not said of what was. Method: writing that was slow all along, in part, and none.
    #[test]
    fn what_was_written_while_slow_was_written() {
        let told = |written_bytes: f64, in_all_bytes: Option<f64>| {
            let size = Unseen::SlcBytes { written_bytes, over_stated: false, in_all_bytes };
            super::caveat(&Caveat::NotSeen { values: vec![size] })
        };
        assert!(told(0.0, Some(9e10)).contains("(90.0 GB were written, while writing was slow)"));
        assert!(told(5e9, Some(9e10)).contains("(5.00 GB were written without reaching its end)"));
        assert!(told(0.0, None).contains("(nothing was written)"));
    }

    /// Goal: a temperature is shown as it was logged. Method: whole kelvins, half way between two, and 70.0 C and 118 F of finer logs.
    #[test]
    fn a_temperature_is_shown_as_it_was_read() {
        let told = [353.0, 352.5, 343.15, 320.927_777_8].map(degrees);
        assert_eq!(told, ["80 °C", "79.5 °C", "70 °C", "47.8 °C"]);
    }
}
