//! The health log (page 02h) of a simulated drive.

use measure::Kelvin;
use nvme::power::ScaledPower;
use nvme::smart::{CriticalWarning, DataUnits, IntervalPower, SmartLog};
use physics::Drive;

use crate::lifetime::Lifetime;

/// Measurement type "nominal", Interval Power Measurement bits 23:20 (NVMe Base 2.3, figure 206).
const NOMINAL: u8 = 0;
const MINUTE_MS: u64 = 60_000;
/// A watt hour is as many millijoules as an hour has milliseconds.
const HOUR_MS: u64 = 3_600_000;

/// The health log as a new drive would send it now.
pub fn health_log(drive: &Drive) -> SmartLog {
    health_log_after(drive, &Lifetime::default())
}

/// The health log as a drive would send it now that has lived through `before` already.
pub fn health_log_after(drive: &Drive, before: &Lifetime) -> SmartLog {
    let health = drive.health();
    let life = before.then(&Lifetime::from_health(&health));
    let warning =
        if health.temperature_warning { CriticalWarning::TEMPERATURE } else { CriticalWarning::NONE };
    let minutes = |ms: u64| u32::try_from(ms / MINUTE_MS).unwrap_or(u32::MAX);
    SmartLog {
        critical_warning: warning,
        composite: Kelvin::from_nvme(health.composite_k),
        available_spare_percent: 100,
        // Chosen: what consumer drives commonly report.
        spare_threshold_percent: 10,
        percentage_used: drive.profile().identity.percentage_used(life.written_bytes as f64),
        endurance_group_warning: 0,
        data_units_read: DataUnits::from_bytes(life.read_bytes.into()),
        data_units_written: DataUnits::from_bytes(life.written_bytes.into()),
        host_reads: life.reads.into(),
        host_writes: life.writes.into(),
        busy_minutes: (life.busy_ms / MINUTE_MS).into(),
        power_cycles: 1,
        power_on_hours: (life.power_on_ms / HOUR_MS).into(),
        unsafe_shutdowns: 0,
        media_errors: 0,
        error_log_entries: 0,
        warning_minutes: minutes(life.warning_ms),
        critical_minutes: minutes(life.critical_ms),
        sensors: health.sensors_k.map(Kelvin::from_nvme),
        tmt1_transitions: life.tmt1_transitions,
        tmt2_transitions: life.tmt2_transitions,
        tmt1_seconds: life.tmt1_seconds,
        tmt2_seconds: life.tmt2_seconds,
        // Bytes 232: whole watt hours, rounded up.
        lifetime_energy_wh: Some(life.energy_mj.div_ceil(HOUR_MS)).filter(|wh| *wh > 0),
        interval_power: Some(IntervalPower {
            power: ScaledPower::from_watts(health.power),
            measurement_type: NOMINAL,
        }),
    }
}

#[cfg(test)]
mod test {
    use measure::record::Op;
    use measure::{Instant, Seed};
    use physics::{Demand, Profile, Tmt, Transfer};

    use super::*;

    /// The health log says what the drive says.
    #[test]
    fn the_health_log_page_decodes_to_the_drive() {
        let mut drive = Drive::new(&Profile::builtin("ssd2").expect("built in"), Seed::new(1));
        drive.set_tmt(Tmt::from_kelvin(323, 333)).expect("legal");
        let demand = Demand::Transfer(Transfer::sequential(Op::Write, 50 << 30));
        let moved = drive.advance_demand(Instant::from_ns(300_000_000_000), &demand);
        let log = SmartLog::decode(&health_log(&drive).encode()).expect("well formed");
        assert_eq!(log.composite, Some(drive.composite()));
        assert_eq!(log.tmt2_transitions, drive.hctm_counters().tmt2_transitions);
        assert!(log.tmt2_transitions > 0 && log.tmt2_seconds > 60);
        let units = (moved.write_bytes / 512_000.0).ceil();
        assert_eq!(log.data_units_written.as_u128(), units as u128);
        let power = log.interval_power.expect("reported").power.watts().as_f64();
        assert!((power - drive.power_w().as_f64()).abs() < 0.01, "{power}");
        assert_eq!(log.busy_minutes, 5);
        assert_eq!(log.lifetime_energy_wh, Some(1));
    }
}
