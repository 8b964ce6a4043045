//! What outlives a restart of the server: the drive's name, its saved settings, and the counters of its life.
//!
//! This is a file format: JSON, schema 2; schema 1 had neither name nor counters. The server reads it at its start,
//! and writes it whenever [`Subsystem::take_saved`](super::Subsystem::take_saved) has something new, every few
//! seconds, and at its end. A value that the drive
//! does not take (another profile now has the file) is left out, and its default holds.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::lifetime::Lifetime;

/// The state that a server keeps for one subsystem.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedState {
    /// Format of this file; 1 or 2.
    pub schema: u32,
    /// What stands behind the colon of the drive's NQN.
    #[serde(default)]
    pub name: Option<String>,
    /// How often the drive was switched on so far.
    pub power_cycles: u64,
    /// How often it was switched off without an end, before the last time it was switched on.
    #[serde(default)]
    pub unsafe_shutdowns: u64,
    /// Whether it is switched on. Found at a start, its server was killed.
    #[serde(default)]
    pub is_on: bool,
    /// Entries ever made in the error log.
    #[serde(default)]
    pub error_entries: u64,
    /// What it has counted.
    #[serde(default)]
    pub lifetime: Lifetime,
    /// Bytes of a block, where a host has chosen (Format NVM).
    #[serde(default)]
    pub block_bytes: Option<u32>,
    /// Its self-tests.
    #[serde(default)]
    pub self_tests: SavedSelfTests,
    /// Settings that a host saved (Set Features with SV).
    #[serde(default)]
    pub features: Vec<SavedFeature>,
}

impl Default for SavedState {
    fn default() -> Self {
        Self {
            schema: SCHEMA,
            name: None,
            power_cycles: 0,
            unsafe_shutdowns: 0,
            is_on: false,
            error_entries: 0,
            lifetime: Lifetime::default(),
            block_bytes: None,
            self_tests: SavedSelfTests::default(),
            features: Vec::new(),
        }
    }
}

const SCHEMA: u32 = 2;

/// The self-test that runs, and the results of others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SavedSelfTests {
    /// The one that runs.
    pub running: Option<SavedSelfTest>,
    /// Results, newest first.
    pub results: Vec<SavedSelfTestResult>,
}

/// A self-test that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSelfTest {
    /// Self-test Code: 1 short, 2 extended.
    pub code: u8,
    /// How far it has come, in the drive's time.
    pub done_ms: u64,
}

/// A self-test that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSelfTestResult {
    /// Self-test Code.
    pub code: u8,
    /// How it ended, as in the log page.
    pub outcome: u8,
    /// Power-on hours at its end.
    pub power_on_hours: u64,
}

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
    #[error("the state of a virtual SSD has schema {found}; this version knows schema 1 to {SCHEMA}")]
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
        if !(1..=SCHEMA).contains(&state.schema) {
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
