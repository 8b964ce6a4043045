//! What a face shows of a watched drive: a bounded ring of the last hour and the present findings, as JSON.
//!
//! The loop writes it as `live.json`, replaced as a whole once a second; whoever shows it reads it as often as he likes
//! and costs the drive nothing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::WatchEvent;

/// The number of this format.
pub const LIVE_SCHEMA: u32 = 1;

/// Seconds of the ring.
pub const RECENT_MAX: usize = 3600;

/// Events that are kept.
pub const EVENTS_MAX: usize = 100;

/// All drives of a loop, at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveDocument {
    /// Version of this format.
    pub schema: u32,
    /// The drives, in the order in which they were named.
    pub drives: Vec<LiveDrive>,
}

/// One drive. What is not known is `null`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LiveDrive {
    /// Its address.
    pub address: String,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Whether it is simulated.
    pub simulated: Option<bool>,
    /// Age of the last reading.
    pub age_s: Option<f64>,
    /// Composite temperature in whole kelvins.
    pub temperature_k: Option<u16>,
    /// Its limits.
    pub limits_k: LiveLimits,
    /// Reading, over the last second.
    pub read_bytes_per_s: Option<f64>,
    /// Writing, over the last second.
    pub write_bytes_per_s: Option<f64>,
    /// Power as the drive or a meter tells it.
    pub power_w: Option<f64>,
    /// What it does: `idle`, `busy`, `throttled`, `slow`, `stalled`, `gone`, `unknown`.
    pub state: Option<String>,
    /// What happened last, the newest last.
    pub events: Vec<WatchEvent>,
    /// The last hour, a point a second, the newest last.
    pub recent: Vec<LivePoint>,
}

/// Temperatures, in whole kelvins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LiveLimits {
    /// Light throttling begins; `null` when unknown or off.
    pub tmt1: Option<u16>,
    /// Heavy throttling begins.
    pub tmt2: Option<u16>,
    /// Warning threshold (WCTEMP).
    pub warning: Option<u16>,
    /// Critical threshold (CCTEMP).
    pub critical: Option<u16>,
}

/// A second of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LivePoint {
    /// Since the loop began.
    pub t_s: f64,
    /// Reading.
    pub read_bytes_per_s: Option<f64>,
    /// Writing.
    pub write_bytes_per_s: Option<f64>,
    /// Composite temperature.
    pub temperature_k: Option<u16>,
}
