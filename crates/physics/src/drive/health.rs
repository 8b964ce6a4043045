//! What a drive knows of its health, as plain numbers: a controller makes its health log of it.

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
    /// Time with commands outstanding, in whole minutes.
    pub busy_minutes: u64,
    /// Time since it was switched on, in whole hours.
    pub power_on_hours: u64,
    /// Time at or above the warning temperature, in whole minutes.
    pub warning_minutes: u64,
    /// Time at or above the critical temperature, in whole minutes.
    pub critical_minutes: u64,
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
        let minutes = |ticks: u64| ticks / (60 * self.grain.per_s());
        let sensors_k = self.sensors.extra_k();
        let composite_k = self.sensors.composite_k();
        Health {
            temperature_warning: self.thresholds.crossed(composite_k, &sensors_k),
            composite_k,
            sensors_k,
            percentage_used: self.percentage_used(),
            read_bytes: counts.read_bytes,
            write_bytes: counts.write_bytes,
            reads: counts.reads as u64,
            writes: counts.writes as u64,
            busy_minutes: minutes(counts.busy_ticks),
            power_on_hours: self.tick / (3600 * self.grain.per_s()),
            warning_minutes: minutes(counts.warning_ticks),
            critical_minutes: minutes(counts.critical_ticks),
            counters: self.hctm_counters(),
            energy_j: self.power.total_j,
            power: self.power_w(),
        }
    }

    /// Written bytes over the rated ones; 0 where the maker rates nothing.
    fn percentage_used(&self) -> u8 {
        let rated = self.profile.identity.rated_write_bytes.filter(|rated| *rated > 0);
        let percent = rated.map_or(0.0, |rated| 100.0 * self.counts.write_bytes / rated as f64);
        percent.min(255.0) as u8
    }
}
