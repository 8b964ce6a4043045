//! The admin commands of a simulated drive: as many as its settings and `inspect` need.
//!
//! It decides nothing: Identify is the profile, features are the drive's own, and what the drive refuses is Invalid
//! Field. Saved values are kept as long as the drive lives. Everything else is answered as a controller answers
//! commands that it does not know.

use std::time::Duration;

use measure::{Kelvin, Watts};
use nvme::Status;
use nvme::command::{AdminCommand, Cns, Completion, GetFeatures, SetFeatures};
use nvme::feature::power::PowerManagement;
use nvme::feature::session::VolatileWriteCache;
use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector, ThresholdSensor, ThresholdSide};
use nvme::feature::{Capabilities, DwordFeature as _, FeatureId, Select};
use nvme::hctm::{Hctm, HctmLimits};
use nvme::host::{AdminTransport, Data, HostError};
use nvme::identify::{IdentifyController, PowerState};
use nvme::log::LogId;
use nvme::power::ScaledPower;
use twin::drive::{ThresholdKind, ThresholdSensor as TwinSensor};
use twin::{Drive, Profile, Tmt};

use super::twin::TwinTarget;

impl AdminTransport for TwinTarget {
    fn name(&self) -> &str {
        self.address()
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        Ok(completion(answer(self.drive_mut(), command, data)))
    }
}

/// A copy of the drive, to ask what it would do.
pub(super) struct TwinCopy {
    pub(super) address: String,
    pub(super) drive: Drive,
}

impl AdminTransport for TwinCopy {
    fn name(&self) -> &str {
        &self.address
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        Ok(completion(answer(&mut self.drive, command, data)))
    }
}

fn completion(answer: Result<u32, Status>) -> Completion {
    match answer {
        Ok(dword) => Completion::success(0, dword.into()),
        Err(status) => Completion::failure(0, status),
    }
}

fn answer(drive: &mut Drive, command: &AdminCommand, data: Data<'_>) -> Result<u32, Status> {
    match command {
        AdminCommand::Identify(identify) if identify.cns == Cns::CONTROLLER => {
            send(data, &identify_controller(drive.profile()).encode())
        }
        AdminCommand::GetLogPage(log) if log.lid == LogId::SMART && log.offset == 0 => {
            send(data, &drive.smart_page())
        }
        AdminCommand::GetLogPage(_) => Err(Status::INVALID_LOG_PAGE),
        AdminCommand::GetFeatures(get) => get_feature(drive, get),
        AdminCommand::SetFeatures(set) => set_feature(drive, set),
        AdminCommand::Identify(_) => Err(Status::INVALID_FIELD),
        _ => Err(Status::INVALID_OPCODE),
    }
}

/// As much of a page as was asked for.
fn send(data: Data<'_>, page: &[u8]) -> Result<u32, Status> {
    let Data::Read(buffer) = data else { return Err(Status::INVALID_FIELD) };
    let part = page.get(..buffer.len()).ok_or(Status::INVALID_FIELD)?;
    buffer.copy_from_slice(part);
    Ok(0)
}

fn get_feature(drive: &Drive, get: &GetFeatures) -> Result<u32, Status> {
    if get.select == Select::Supported {
        current(drive, get)?;
        let changeable = get.fid != FeatureId::VOLATILE_WRITE_CACHE;
        return Ok(Capabilities { saveable: false, per_namespace: false, changeable }.encode());
    }
    match get.select {
        // Nothing is saved: a simulated drive has no next power cycle.
        Select::Default | Select::Saved => initial(drive, get),
        _ => current(drive, get),
    }
}

fn current(drive: &Drive, get: &GetFeatures) -> Result<u32, Status> {
    match get.fid {
        FeatureId::HCTM if drive.profile().limits.hctm.is_some() => Ok(hctm(drive.tmt()).encode()),
        FeatureId::POWER_MANAGEMENT => {
            Ok(PowerManagement { state: drive.power_state(), workload_hint: 0 }.encode())
        }
        FeatureId::TEMPERATURE_THRESHOLD => {
            let which = ThresholdSelector::decode(get.dword11).map_err(|_| Status::INVALID_FIELD)?;
            let (sensor, kind) = threshold(which)?;
            let at = drive.temp_threshold(sensor, kind).map_err(|_| Status::INVALID_FIELD)?;
            // Off is FFFFh above and 0 below (NVMe Base 2.3, 5.2.26.1.3).
            let off = if kind == ThresholdKind::Over { u16::MAX } else { 0 };
            let temperature = at.unwrap_or(Kelvin::from_kelvin(off));
            Ok(TemperatureThreshold { which, temperature, hysteresis_k: 0 }.encode())
        }
        FeatureId::VOLATILE_WRITE_CACHE => Ok(VolatileWriteCache { enabled: true }.encode()),
        _ => Err(Status::INVALID_FIELD),
    }
}

/// What the drive comes with.
fn initial(drive: &Drive, get: &GetFeatures) -> Result<u32, Status> {
    match get.fid {
        FeatureId::HCTM if drive.profile().limits.hctm.is_some() => Ok(hctm(drive.default_tmt()).encode()),
        FeatureId::POWER_MANAGEMENT => Ok(0),
        FeatureId::TEMPERATURE_THRESHOLD => {
            let fresh = Drive::new(drive.profile(), measure::Seed::new(0));
            current(&fresh, get)
        }
        _ => current(drive, get),
    }
}

fn set_feature(drive: &mut Drive, set: &SetFeatures) -> Result<u32, Status> {
    if set.save {
        return Err(Status::NOT_SAVEABLE);
    }
    let dword = set.dwords[0];
    match set.fid {
        FeatureId::HCTM => {
            let hctm = Hctm::decode(dword).map_err(|_| Status::INVALID_FIELD)?;
            let raw = |kelvin: Option<Kelvin>| kelvin.map_or(0, Kelvin::as_kelvin);
            drive
                .set_tmt(Tmt::from_kelvin(raw(hctm.tmt1), raw(hctm.tmt2)))
                .map_err(|_| Status::INVALID_FIELD)?;
        }
        FeatureId::POWER_MANAGEMENT => {
            let power = PowerManagement::decode(dword).map_err(|_| Status::INVALID_FIELD)?;
            drive.set_power_state(power.state).map_err(|_| Status::INVALID_FIELD)?;
        }
        FeatureId::TEMPERATURE_THRESHOLD => {
            let wanted = TemperatureThreshold::decode(dword).map_err(|_| Status::INVALID_FIELD)?;
            let (sensor, kind) = threshold(wanted.which)?;
            drive.set_temp_threshold(sensor, kind, wanted.temperature).map_err(|_| Status::INVALID_FIELD)?;
        }
        _ => return Err(Status::INVALID_FIELD),
    }
    Ok(0)
}

fn hctm(tmt: Tmt) -> Hctm {
    Hctm { tmt1: tmt.tmt1(), tmt2: tmt.tmt2() }
}

fn threshold(which: ThresholdSelector) -> Result<(TwinSensor, ThresholdKind), Status> {
    let sensor = match which.sensor {
        ThresholdSensor::Composite => TwinSensor::Composite,
        ThresholdSensor::Sensor(number) => TwinSensor::Number(number),
        ThresholdSensor::All => return Err(Status::INVALID_FIELD),
    };
    let kind = match which.side {
        ThresholdSide::Over => ThresholdKind::Over,
        ThresholdSide::Under => ThresholdKind::Under,
    };
    Ok((sensor, kind))
}

/// What the profile says about the drive, as Identify says it.
fn identify_controller(profile: &Profile) -> IdentifyController {
    let kelvin = |kelvin: u16| Kelvin::from_nvme(kelvin);
    let mut identify = IdentifyController::unreported();
    identify.model = profile.identity.model.clone();
    identify.serial = profile.identity.serial.clone();
    identify.firmware = profile.identity.firmware.clone();
    identify.subsystem_nqn = Some(format!("nqn.2014-08.org.heatsoak:twin:{}", profile.name));
    identify.total_capacity_bytes = Some(profile.identity.capacity_bytes.into());
    identify.warning_temperature = kelvin(profile.limits.wctemp_k);
    identify.critical_temperature = kelvin(profile.limits.cctemp_k);
    if let Some(hctm) = &profile.limits.hctm {
        identify.hctm = HctmLimits { supported: true, min: kelvin(hctm.mntmt_k), max: kelvin(hctm.mxtmt_k) };
    }
    // ONCS: Dataset Management (bit 2), select and save (bit 4).
    identify.optional_nvm = 1 << 2 | 1 << 4;
    identify.write_cache = 1;
    identify.namespaces = 1;
    identify.power_states = profile.power_state.iter().map(power_state).collect();
    identify
}

fn power_state(state: &twin::profile::PowerState) -> PowerState {
    let us = |us: u32| Some(Duration::from_micros(us.into())).filter(|span| !span.is_zero());
    PowerState {
        max_power: Some(ScaledPower::from_watts(Watts::new(state.max_power_w))),
        non_operational: !state.operational,
        entry_latency: us(state.entry_us),
        exit_latency: us(state.exit_us),
        idle_power: state.idle_w.map(|idle| ScaledPower::from_watts(Watts::new(idle))),
        ..PowerState::UNREPORTED
    }
}
