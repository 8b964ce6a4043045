//! What can be asked of a drive and set on it.

use measure::record::Op;
use measure::{Celsius, Kelvin, Watts};

use super::{Drive, Moved, SettingError};
use crate::policy::HctmCounters;
use crate::profile::{Heatsink, Limits};
use crate::thermal::EnergyBalance;
use crate::tmt::{Tmt, TmtError};
use crate::truth::TruthEvent;

impl Drive {
    /// The composite temperature as the health log reports it.
    pub const fn composite(&self) -> Kelvin {
        Kelvin::from_kelvin(self.sensors.composite_k())
    }

    /// Sensor 1 to 8 as the health log reports it; `None` where there is none.
    pub fn sensor(&self, number: u8) -> Option<Kelvin> {
        let index = usize::from(number).checked_sub(1)?;
        Kelvin::from_nvme(*self.sensors.extra_k().get(index)?)
    }

    /// Mean power of the latest whole second, as the health log's interval power reports it.
    pub const fn power_w(&self) -> Watts {
        Watts::new(self.power.latest_w)
    }

    /// The thermal management temperatures in force.
    pub const fn tmt(&self) -> Tmt {
        self.policies.tmt()
    }

    /// Sets the thermal management temperatures; policies see them when they next look.
    ///
    /// # Errors
    /// A pair that the specification forbids, or a drive without the feature.
    pub fn set_tmt(&mut self, tmt: Tmt) -> Result<(), TmtError> {
        self.policies.set_tmt(tmt)
    }

    /// The thermal management temperatures that the drive comes with.
    pub fn default_tmt(&self) -> Tmt {
        let hctm = self.profile.limits.hctm.as_ref();
        hctm.map_or(Tmt::OFF, |hctm| Tmt::from_kelvin(hctm.tmt1_k, hctm.tmt2_k))
    }

    /// How often and how long host controlled throttling acted.
    pub fn hctm_counters(&self) -> HctmCounters {
        self.policies.counters()
    }

    /// The power state.
    pub const fn power_state(&self) -> u8 {
        self.power_state
    }

    /// Changes the power state, from the next firmware tick on.
    ///
    /// # Errors
    /// A state that the drive does not have.
    pub fn set_power_state(&mut self, state: u8) -> Result<(), SettingError> {
        let last = self.profile.power_state.len() as u8 - 1;
        if state > last {
            return Err(SettingError::PowerStateProfile { asked: state, last });
        }
        self.power_state = state;
        self.refresh();
        Ok(())
    }

    /// A temperature threshold (feature 04h); `None` when it is off.
    ///
    /// # Errors
    /// A sensor that the drive does not have.
    pub fn temp_threshold(
        &self,
        sensor: ThermalThresholdSensor,
        kind: ThresholdKind,
    ) -> Result<Option<Kelvin>, SettingError> {
        let index = self.sensor_index(sensor)?;
        Ok(Kelvin::from_nvme(self.thresholds.for_kind(kind)[index]).filter(|k| k.as_kelvin() != NO_OVER))
    }

    /// Sets a temperature threshold (feature 04h): it raises Critical Warning bit 1 and nothing else.
    ///
    /// # Errors
    /// A sensor that the drive does not have.
    pub fn set_temp_threshold(
        &mut self,
        sensor: ThermalThresholdSensor,
        kind: ThresholdKind,
        at: Kelvin,
    ) -> Result<(), SettingError> {
        let index = self.sensor_index(sensor)?;
        self.thresholds.of_mut(kind)[index] = at.as_kelvin();
        Ok(())
    }

    /// Changes the temperature of the surroundings.
    pub const fn set_ambient(&mut self, ambient: Celsius) {
        self.thermal.set_ambient_k(ambient.as_kelvin_f64());
    }

    /// The temperature of the surroundings.
    pub const fn ambient(&self) -> Celsius {
        Celsius::from_kelvin_f64(self.thermal.ambient_k())
    }

    /// Scales every conductance to the surroundings; 1 is the profile's own air.
    ///
    /// # Errors
    /// A scale outside 0.01 to 100, as in profiles.
    pub fn set_airflow(&mut self, asked: f64) -> Result<(), SettingError> {
        if !(0.01..=100.0).contains(&asked) {
            return Err(SettingError::Airflow { asked });
        }
        self.thermal.set_airflow(asked);
        Ok(())
    }

    /// Puts a heat sink at ambient temperature on, in place of the one there may be, or takes it off.
    ///
    /// # Errors
    /// A node that does not exist, or a capacity or resistance that is not positive.
    pub fn set_heatsink(&mut self, heatsink: Option<&Heatsink>) -> Result<(), SettingError> {
        let thermal = &self.profile.thermal;
        let last = thermal.node.len().max(thermal.mode.len()) - 1;
        let sound = |sink: &Heatsink| {
            let values = [sink.capacity_j_per_k, sink.contact_k_per_w, sink.to_ambient_k_per_w];
            sink.node <= last && values.iter().all(|value| value.is_finite() && *value > 0.0)
        };
        if heatsink.is_some_and(|sink| !sound(sink)) {
            return Err(SettingError::Heatsink { last });
        }
        self.thermal.set_heatsink(heatsink);
        Ok(())
    }

    /// Truth: temperature of each node, from the flash outwards; a heat sink comes last.
    pub fn node_temps(&self) -> impl Iterator<Item = Celsius> + '_ {
        self.thermal.node_k().iter().map(|kelvin| Celsius::from_kelvin_f64(*kelvin))
    }

    /// Truth: the composite temperature before it was cut to whole kelvins.
    pub fn exact_composite(&self) -> Celsius {
        Celsius::from_kelvin_f64(self.sensors.firmware_k(&self.thermal))
    }

    /// Truth: where the energy went.
    pub fn energy(&self) -> EnergyBalance {
        self.thermal.energy()
    }

    /// Truth: the limit that throttling puts on `op`, in bytes per second; `None` without one.
    pub fn active_cap(&self, op: Op) -> Option<f64> {
        let cap = match op {
            Op::Read => self.caps[0],
            Op::Write => self.caps[1],
            Op::Trim | Op::Idle => f64::INFINITY,
        };
        cap.is_finite().then_some(cap)
    }

    /// Truth: room in the SLC cache in bytes; `None` without one.
    pub fn slc_free_bytes(&self) -> Option<u64> {
        self.slc.as_ref().map(crate::media::slc::SlcState::free_bytes)
    }

    /// Truth: what happened so far, in order of time.
    pub fn truth(&self) -> &[TruthEvent] {
        &self.truth
    }

    /// Deallocates a region at once, as a Dataset Management command would.
    pub fn trim(&mut self, offset_bytes: u64, len_bytes: u64) {
        if let Some(slc) = &mut self.slc {
            slc.trim(offset_bytes, len_bytes);
        }
        self.give_back(len_bytes);
    }

    fn sensor_index(&self, sensor: ThermalThresholdSensor) -> Result<usize, SettingError> {
        let count = self.profile.sensor.sensor.len() as u8;
        match sensor {
            ThermalThresholdSensor::Composite => Ok(0),
            ThermalThresholdSensor::Number(asked) if (1..=count).contains(&asked) => Ok(usize::from(asked)),
            ThermalThresholdSensor::Number(asked) => Err(SettingError::Sensor { asked, count }),
        }
    }
}

/// Which reading a temperature threshold looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThermalThresholdSensor {
    /// The composite temperature.
    Composite,
    /// Sensor 1 to 8.
    Number(u8),
}

/// Which way a temperature threshold looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThresholdKind {
    /// Warns at or above.
    Over,
    /// Warns at or below.
    Under,
}

/// Defaults of feature 04h (NVMe Base 2.3, 5.2.26.1.3): over is off at FFFFh, under at 0.
const NO_OVER: u16 = 0xffff;

/// The temperature thresholds: index 0 is the composite, 1 to 8 the sensors.
#[derive(Clone, Debug)]
pub(super) struct Thresholds {
    over_k: [u16; 9],
    under_k: [u16; 9],
}

impl Thresholds {
    pub(super) const fn new(limits: &Limits) -> Self {
        let mut over_k = [NO_OVER; 9];
        over_k[0] = limits.wctemp_k;
        Self { over_k, under_k: [0; 9] }
    }

    const fn for_kind(&self, kind: ThresholdKind) -> &[u16; 9] {
        match kind {
            ThresholdKind::Over => &self.over_k,
            ThresholdKind::Under => &self.under_k,
        }
    }

    const fn of_mut(&mut self, kind: ThresholdKind) -> &mut [u16; 9] {
        match kind {
            ThresholdKind::Over => &mut self.over_k,
            ThresholdKind::Under => &mut self.under_k,
        }
    }

    /// Whether any reading lies at or past its threshold.
    pub(super) fn crossed(&self, composite_k: u16, extra_k: &[u16; 8]) -> bool {
        let readings = std::iter::once(composite_k).chain(extra_k.iter().copied());
        let limits = self.over_k.iter().zip(&self.under_k);
        readings.zip(limits).any(|(reading, (over, under))| {
            reading != 0 && (reading >= *over || (*under != 0 && reading <= *under))
        })
    }
}

/// Energy of the running second and power of the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PowerMeter {
    energy_j: f64,
    span_s: f64,
    pub(super) latest_w: f64,
    pub(super) total_j: f64,
}

impl PowerMeter {
    pub(super) const fn new(start_w: f64) -> Self {
        Self { energy_j: 0.0, span_s: 0.0, latest_w: start_w, total_j: 0.0 }
    }

    pub(super) fn add(&mut self, energy_j: f64, span_s: f64) {
        self.energy_j += energy_j;
        self.span_s += span_s;
        self.total_j += energy_j;
    }

    pub(super) fn close_second(&mut self) {
        if self.span_s > 0.0 {
            self.latest_w = self.energy_j / self.span_s;
        }
        (self.energy_j, self.span_s) = (0.0, 0.0);
    }
}

/// What the health log counts; a simulated drive's life begins when it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) read_bytes: f64,
    pub(super) write_bytes: f64,
    pub(super) reads: f64,
    pub(super) writes: f64,
    pub(super) busy_ticks: u64,
    pub(super) warning_ticks: u64,
    pub(super) critical_ticks: u64,
}

impl Counts {
    #[inline]
    pub(super) const fn command(&mut self, op: Op, len_bytes: u32) {
        match op {
            Op::Read => {
                self.reads += 1.0;
                self.read_bytes += len_bytes as f64;
            }
            Op::Write => {
                self.writes += 1.0;
                self.write_bytes += len_bytes as f64;
            }
            Op::Trim | Op::Idle => {}
        }
    }

    pub(super) const fn bytes(&mut self, moved: Moved, io_bytes: f64) {
        self.reads += moved.read_bytes / io_bytes;
        self.writes += moved.write_bytes / io_bytes;
        self.read_bytes += moved.read_bytes;
        self.write_bytes += moved.write_bytes;
    }

    pub(super) const fn elapse(&mut self, ticks: u64, busy: bool, composite_k: u16, limits: &Limits) {
        if busy {
            self.busy_ticks += ticks;
        }
        if composite_k >= limits.cctemp_k {
            self.critical_ticks += ticks;
        } else if composite_k >= limits.wctemp_k {
            self.warning_ticks += ticks;
        }
    }
}

#[cfg(test)]
mod test {
    use std::time::Duration;

    use measure::{Instant, Seed};

    use super::*;
    use crate::drive::{Demand, Transfer};
    use crate::profile::{ExtraSensor, Housekeeping, PowerStateProfile, Profile, Start, StartUp};
    use crate::truth::TruthKind;

    fn profile() -> Profile {
        Profile::builtin("relay").expect("built in")
    }

    fn read(drive: &mut Drive, seconds: u64) -> f64 {
        let demand = Demand::Transfer(Transfer::sequential(Op::Read, 1 << 30));
        let end = drive.now() + Duration::from_secs(seconds);
        drive.advance_demand(end, &demand).read_bytes
    }

    /// Readings stand still between renewals, a frozen one for ever; policies see what is real.
    #[test]
    fn readings_stand_still_and_policies_do_not_care() {
        let mut profile = profile();
        profile.sensor.update_period_s = 5.0;
        profile.sensor.sensor.push(ExtraSensor { share: vec![0.0, 1.0], offset_k: 2.0 });
        let mut slow = Drive::new(&profile, Seed::new(1));
        read(&mut slow, 11);
        let (composite, sensor) = (slow.composite(), slow.sensor(1));
        read(&mut slow, 3);
        assert_eq!((slow.composite(), slow.sensor(1)), (composite, sensor));
        read(&mut slow, 2);
        assert!(slow.composite() > composite);
        assert_eq!(slow.sensor(2), None);
        profile.sensor.frozen_composite_k = Some(313);
        let mut frozen = Drive::new(&profile, Seed::new(1));
        read(&mut frozen, 300);
        assert_eq!(frozen.composite().as_kelvin(), 313);
        assert!(frozen.hctm_counters().tmt1_transitions > 0);
    }

    #[test]
    fn a_temperature_threshold_raises_the_warning_and_nothing_else() {
        let mut drive = Drive::new(&profile(), Seed::new(1));
        let warns = |drive: &Drive| drive.health().temperature_warning;
        assert!(!warns(&drive));
        let over = (ThermalThresholdSensor::Composite, ThresholdKind::Over);
        assert_eq!(drive.temp_threshold(over.0, over.1), Ok(Some(Kelvin::from_kelvin(358))));
        drive.set_temp_threshold(over.0, over.1, Kelvin::from_kelvin(310)).expect("there is a composite");
        assert!(warns(&drive));
        assert_eq!(drive.active_cap(Op::Read), None);
        let absent = ThermalThresholdSensor::Number(1);
        assert!(drive.set_temp_threshold(absent, ThresholdKind::Under, Kelvin::from_kelvin(1)).is_err());
    }

    #[test]
    fn power_states_cap_speed_and_a_command_wakes_the_drive() {
        let mut profile = profile();
        let state = |cap: Option<f64>, operational, idle_w| PowerStateProfile {
            operational,
            idle_w,
            entry_us: 100,
            exit_us: 2000,
            ..PowerStateProfile::limited(3.0, [cap; 2])
        };
        profile.power_state.push(state(Some(1e9), true, None));
        profile.power_state.push(state(None, false, Some(0.1)));
        let mut drive = Drive::new(&profile, Seed::new(1));
        drive.set_power_state(1).expect("exists");
        assert!((read(&mut drive, 5) / 5e9 - 1.0).abs() < 1e-6);
        drive.set_power_state(2).expect("exists");
        drive.advance_demand(drive.now() + Duration::from_secs(2), &Demand::Idle);
        assert!((drive.power_w().as_f64() - 0.1).abs() < 1e-9);
        let start = drive.now();
        drive.submit(start, 1, Op::Read, 0, 4096);
        let mut done = Vec::new();
        drive.advance(Instant::NEVER, &mut done);
        assert!(done[0].1 - start > Duration::from_millis(2), "it wakes first");
        assert_eq!(drive.power_state(), 1);
        assert_eq!(drive.set_power_state(3), Err(SettingError::PowerStateProfile { asked: 3, last: 2 }));
    }

    /// Switched on, it draws its start-up power and moves nothing until it is ready.
    #[test]
    fn a_drive_that_starts_up_is_not_ready() {
        let mut profile = profile();
        profile.thermal.start = Start::Ambient;
        profile.power.start_up = Some(StartUp { power_w: 3.5, duration_s: 4.0 });
        let mut drive = Drive::new(&profile, Seed::new(1));
        assert_eq!(read(&mut drive, 4), 0.0);
        assert!((drive.power_w().as_f64() - 3.5).abs() < 1e-9);
        assert!((read(&mut drive, 1) / 3e9 - 1.0).abs() < 1e-6);
        profile.thermal.start = Start::Idle;
        assert!(read(&mut Drive::new(&profile, Seed::new(1)), 1) > 2.9e9, "powered before");
    }

    /// Once every block is written, half of the time goes into erasing, until something is deallocated.
    #[test]
    fn a_drive_without_erased_blocks_pauses() {
        let mut profile = profile();
        profile.identity.capacity_bytes = 16 << 30;
        profile.slc = None;
        profile.policy.clear();
        profile.housekeeping = Some(Housekeeping {
            pause_s: 0.1,
            every_s: 0.1,
            cached_write: profile.media.sequential_write,
            fold_bytes_per_s: 0.0,
        });
        let mut drive = Drive::new(&profile, Seed::new(1));
        let fresh = read(&mut drive, 20);
        let write = Demand::Transfer(Transfer::sequential(Op::Write, 16 << 30));
        drive.advance_demand(drive.now() + Duration::from_secs(12), &write);
        let used = read(&mut drive, 20);
        assert!((0.4..0.6).contains(&(used / fresh)), "{}", used / fresh);
        drive.trim(0, 16 << 30);
        assert!((read(&mut drive, 20) / fresh - 1.0).abs() < 1e-3);
        let names: Vec<_> = drive.truth().iter().map(|event| (event.kind, event.name.as_str())).collect();
        let name = "housekeeping";
        assert_eq!(names, [(TruthKind::DipBegin, name), (TruthKind::DipEnd, name)]);
    }

    #[test]
    fn cooling_that_means_nothing_is_refused() {
        let mut drive = Drive::new(&profile(), Seed::new(1));
        assert!(drive.set_airflow(0.0).is_err() && drive.set_airflow(f64::NAN).is_err());
        let sink = Heatsink { node: 2, capacity_j_per_k: 1.0, contact_k_per_w: 1.0, to_ambient_k_per_w: 1.0 };
        assert!(drive.set_heatsink(Some(&sink)).is_err());
        assert!(drive.set_heatsink(Some(&Heatsink { node: 0, ..sink })).is_ok());
        assert!(drive.set_airflow(2.0).is_ok());
    }
}
