//! The health log (page 02h) of a simulated drive.

use measure::Kelvin;
use nvme::smart::{CriticalWarning, DataUnits, IntervalPower, SMART_LOG_LEN, SmartLog};

use super::Drive;

/// Measurement type "nominal", Interval Power Measurement bits 23:20 (NVMe Base 2.3, figure 206).
const NOMINAL: u8 = 0;

impl Drive {
    /// The health log page as the drive would send it now.
    pub fn smart_page(&self) -> [u8; SMART_LOG_LEN] {
        self.smart_log().encode()
    }

    /// The health log as values.
    pub fn smart_log(&self) -> SmartLog {
        let counters = self.hctm_counters();
        let counts = &self.counts;
        let minutes = |ticks: u64| ticks / (60 * self.grain.per_s());
        let extra_k = self.sensors.extra_k();
        let crossed = self.thresholds.crossed(self.sensors.composite_k(), &extra_k);
        SmartLog {
            critical_warning: if crossed { CriticalWarning::TEMPERATURE } else { CriticalWarning::NONE },
            composite: Kelvin::from_nvme(self.sensors.composite_k()),
            available_spare_percent: 100,
            // Chosen: what consumer drives commonly report.
            spare_threshold_percent: 10,
            percentage_used: self.percentage_used(),
            endurance_group_warning: 0,
            data_units_read: DataUnits::from_bytes(counts.read_bytes as u128),
            data_units_written: DataUnits::from_bytes(counts.write_bytes as u128),
            host_reads: counts.reads as u128,
            host_writes: counts.writes as u128,
            busy_minutes: minutes(counts.busy_ticks).into(),
            power_cycles: 1,
            power_on_hours: (self.tick / (3600 * self.grain.per_s())).into(),
            unsafe_shutdowns: 0,
            media_errors: 0,
            error_log_entries: 0,
            warning_minutes: u32::try_from(minutes(counts.warning_ticks)).unwrap_or(u32::MAX),
            critical_minutes: u32::try_from(minutes(counts.critical_ticks)).unwrap_or(u32::MAX),
            sensors: extra_k.map(Kelvin::from_nvme),
            tmt1_transitions: counters.tmt1_transitions,
            tmt2_transitions: counters.tmt2_transitions,
            tmt1_seconds: counters.tmt1_seconds,
            tmt2_seconds: counters.tmt2_seconds,
            // Bytes 232: whole watt hours, rounded up.
            lifetime_energy_wh: Some((self.power.total_j / 3600.0).ceil() as u64).filter(|wh| *wh > 0),
            interval_power: Some(IntervalPower {
                power: nvme::power::ScaledPower::from_watts(self.power_w()),
                measurement_type: NOMINAL,
            }),
        }
    }

    /// Written bytes over the rated ones; 0 where the maker rates nothing.
    fn percentage_used(&self) -> u8 {
        let rated = self.profile.identity.rated_write_bytes.filter(|rated| *rated > 0);
        let percent = rated.map_or(0.0, |rated| 100.0 * self.counts.write_bytes / rated as f64);
        percent.min(255.0) as u8
    }
}
