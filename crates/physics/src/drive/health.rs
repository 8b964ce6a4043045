//! What a drive knows of its health, as plain numbers: a controller makes its health log of it.

use std::time::Duration;

use super::Drive;
use crate::policy::HctmCounters;
use measure::Watts;

/// The health of a drive at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Health {
    /// A reading lies beyond a temperature threshold.
    pub temperature_warning: bool,
    /// Composite temperature as reported, in whole kelvins.
    pub composite_k: u16,
    /// Sensors 1 to 8 as reported, in whole kelvins; 0 where there is none.
    pub sensors_k: [u16; 8],
    /// Written bytes over the rated ones, in percent; 0 where the maker rates nothing.
    pub percentage_used: u8,
    /// Data read in bytes.
    pub read_bytes: f64,
    /// Data written in bytes.
    pub write_bytes: f64,
    /// Read commands.
    pub reads: u64,
    /// Write commands.
    pub writes: u64,
    /// Time with commands outstanding.
    pub busy: Duration,
    /// Time since it was switched on.
    pub power_on: Duration,
    /// Time at or above the warning temperature and below the critical one.
    pub warning: Duration,
    /// Time at or above the critical temperature.
    pub critical: Duration,
    /// Its throttle counters.
    pub counters: HctmCounters,
    /// Energy since it was switched on, in joules.
    pub energy_j: f64,
    /// Mean power of the last second.
    pub power: Watts,
}

impl Drive {
    /// Its health now.
    pub fn health(&self) -> Health {
        let counts = &self.counts;
        let span = |ticks: u64| Duration::from_secs(ticks) / self.grain.per_s() as u32;
        let sensors_k = self.sensors.extra_k();
        let composite_k = self.sensors.composite_k();
        Health {
            temperature_warning: self.thresholds.crossed(composite_k, &sensors_k),
            composite_k,
            sensors_k,
            percentage_used: self.profile.identity.percentage_used(counts.write_bytes),
            read_bytes: counts.read_bytes,
            write_bytes: counts.write_bytes,
            reads: counts.reads as u64,
            writes: counts.writes as u64,
            busy: span(counts.busy_ticks),
            power_on: span(self.tick),
            warning: span(counts.warning_ticks),
            critical: span(counts.critical_ticks),
            counters: self.hctm_counters(),
            energy_j: self.power.total_j,
            power: self.power_w(),
        }
    }
}
