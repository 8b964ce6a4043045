//! What outlives a restart of the server: saved settings, and how often the drive was switched on.
//!
//! This is a file format: JSON, schema 1. The server reads it at its start and writes it whenever
//! [`Subsystem::take_saved`](super::Subsystem::take_saved) has something new.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The state that a server keeps for one subsystem.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedState {
    /// Format of this file; 1.
    pub schema: u32,
    /// How often it was started, this time not counted.
    pub power_cycles: u64,
    /// Settings saved by a host (Set Features with SV); what none saved is absent.
    pub features: SavedFeatures,
}

impl Default for SavedState {
    fn default() -> Self {
        Self { schema: SCHEMA, power_cycles: 0, features: SavedFeatures::default() }
    }
}

const SCHEMA: u32 = 1;

/// Settings that a host saved, each as the raw value of its feature. Absent: never saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct SavedFeatures {
    /// Power state (02h).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_management: Option<u32>,
    /// Thermal management temperatures (10h).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hctm: Option<u32>,
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
