//! What outlives a restart of the server: saved settings, and how often the drive was switched on.
//!
//! This is a file format: JSON, schema 1. The server reads it at its start and writes it whenever
//! [`Subsystem::take_saved`](super::Subsystem::take_saved) has something new. A value that the drive
//! does not take (another profile now has the file) is left out, and its default holds.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The state that a server keeps for one subsystem.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedState {
    /// Format of this file; 1.
    pub schema: u32,
    /// How often the drive was switched on so far.
    pub power_cycles: u64,
    /// Settings that a host saved (Set Features with SV).
    #[serde(default)]
    pub features: Vec<SavedFeature>,
}

impl Default for SavedState {
    fn default() -> Self {
        Self { schema: SCHEMA, power_cycles: 0, features: Vec::new() }
    }
}

const SCHEMA: u32 = 1;

/// One setting that a host saved.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedFeature {
    /// Feature identifier.
    pub fid: u8,
    /// Which of several values of the feature: for temperature thresholds TMPSEL in bits 3:0 and
    /// THSEL in bits 5:4; 0 for all others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub selector: u8,
    /// The value, as the dword that sets it.
    pub value: u32,
    /// The table of autonomous power state transition (0Ch), an entry a state; empty for all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub table: Vec<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(selector: &u8) -> bool {
    *selector == 0
}

/// Why a state file cannot be used.
#[derive(Debug, Error)]
pub enum SavedStateError {
    /// It is no JSON of this shape.
    #[error("the state of a virtual SSD cannot be read: {0}")]
    Json(#[from] serde_json::Error),
    /// It is of another time.
    #[error("the state of a virtual SSD has schema {found}; this version knows schema {SCHEMA}")]
    Schema {
        /// What it says.
        found: u32,
    },
}

impl SavedState {
    /// Reads a state file.
    ///
    /// # Errors
    /// Text that is no state of this schema.
    pub fn from_json(text: &str) -> Result<Self, SavedStateError> {
        let state: Self = serde_json::from_str(text)?;
        if state.schema != SCHEMA {
            return Err(SavedStateError::Schema { found: state.schema });
        }
        Ok(state)
    }

    /// The text of a state file.
    ///
    /// # Errors
    /// None that we know of.
    pub fn to_json(&self) -> Result<String, SavedStateError> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
