//! What a drive counts over its whole life, and carries over restarts of its server.
//!
//! In whole numbers small enough that nothing shows when a life is cut in pieces: what the health log counts in hours
//! is kept in milliseconds. It is one snapshot, so the counters are consistent with each other.

use std::time::Duration;

use physics::drive::Health;
use serde::{Deserialize, Serialize};

/// Counters of a life, in the drive's own time and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Lifetime {
    /// Time switched on.
    pub power_on_ms: u64,
    /// Time with commands outstanding.
    pub busy_ms: u64,
    /// Time at or above the warning temperature and below the critical one.
    pub warning_ms: u64,
    /// Time at or above the critical temperature.
    pub critical_ms: u64,
    /// Data read.
    pub read_bytes: u64,
    /// Data written.
    pub written_bytes: u64,
    /// Read commands.
    pub reads: u64,
    /// Write commands.
    pub writes: u64,
    /// Energy taken.
    pub energy_mj: u64,
    /// Times that light throttling set in.
    pub tmt1_transitions: u32,
    /// Times that heavy throttling set in.
    pub tmt2_transitions: u32,
    /// Time under light throttling.
    pub tmt1_seconds: u32,
    /// Time under heavy throttling.
    pub tmt2_seconds: u32,
}

impl Lifetime {
    /// What a drive has counted since it was made.
    pub fn from_health(health: &Health) -> Self {
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        let counters = &health.counters;
        Self {
            power_on_ms: ms(health.power_on),
            busy_ms: ms(health.busy),
            warning_ms: ms(health.warning),
            critical_ms: ms(health.critical),
            // A float-to-integer cast saturates.
            read_bytes: health.read_bytes as u64,
            written_bytes: health.write_bytes as u64,
            reads: health.reads,
            writes: health.writes,
            energy_mj: (health.energy_j * 1e3) as u64,
            tmt1_transitions: counters.tmt1_transitions,
            tmt2_transitions: counters.tmt2_transitions,
            tmt1_seconds: counters.tmt1_seconds,
            tmt2_seconds: counters.tmt2_seconds,
        }
    }

    /// This life and the one after it. What does not fit stays at its largest, as counters of the health log do.
    #[must_use]
    pub const fn then(&self, next: &Self) -> Self {
        Self {
            power_on_ms: self.power_on_ms.saturating_add(next.power_on_ms),
            busy_ms: self.busy_ms.saturating_add(next.busy_ms),
            warning_ms: self.warning_ms.saturating_add(next.warning_ms),
            critical_ms: self.critical_ms.saturating_add(next.critical_ms),
            read_bytes: self.read_bytes.saturating_add(next.read_bytes),
            written_bytes: self.written_bytes.saturating_add(next.written_bytes),
            reads: self.reads.saturating_add(next.reads),
            writes: self.writes.saturating_add(next.writes),
            energy_mj: self.energy_mj.saturating_add(next.energy_mj),
            tmt1_transitions: self.tmt1_transitions.saturating_add(next.tmt1_transitions),
            tmt2_transitions: self.tmt2_transitions.saturating_add(next.tmt2_transitions),
            tmt1_seconds: self.tmt1_seconds.saturating_add(next.tmt1_seconds),
            tmt2_seconds: self.tmt2_seconds.saturating_add(next.tmt2_seconds),
        }
    }
}
