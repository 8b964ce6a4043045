//! Sentences, made at the end from what was found: the only place of this crate that has them for findings.
//!
//! `analyze --json`, `findings.json` and the report all take them from here.

mod caveat;

use serde::{Serialize, Serializer};
use trace::Caveat;

pub use caveat::{caveat, kind};

/// A temperature for people: whole kelvins as whole degrees, others with one decimal.
pub fn degrees(kelvin: f64) -> String {
    if kelvin.fract() == 0.0 {
        measure::Kelvin::from_kelvin(kelvin as u16).to_string()
    } else {
        measure::Celsius::from_kelvin_f64(kelvin).to_string()
    }
}

/// Writes caveats with their sentences beside them.
pub(crate) fn caveats_with_text<S: Serializer>(caveats: &[Caveat], to: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct WithText<'a> {
        #[serde(flatten)]
        caveat: &'a Caveat,
        text: String,
    }
    to.collect_seq(caveats.iter().map(|one| WithText { caveat: one, text: caveat(one) }))
}
