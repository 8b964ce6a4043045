//! A drive for tests that keeps features as a drive does: current, saved and default values, and its own rules.
//!
//! Not a script: what is asked of it and in which order is not its matter, only that it answers as a drive would.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use nvme::Status;
use nvme::command::{AdminCommand, Cns, Completion};
use nvme::feature::{Capabilities, DwordFeature as _, FeatureId, Select};
use nvme::hctm::{Hctm, HctmLimits};
use nvme::host::{AdminTransport, Data, HostError};
use nvme::identify::{IdentifyController, PowerState};

use measure::{Kelvin, Seed};

use super::journal::memory::{Fuse, FuseStep};

/// A drive that outlives the handles on it, as drives do.
#[derive(Clone, Debug)]
pub struct FakeFeatures {
    state: Arc<Mutex<FakeState>>,
}

/// What it holds.
#[derive(Debug)]
pub struct FakeState {
    /// What Identify Controller answers.
    pub identify: IdentifyController,
    /// Values in force.
    pub current: BTreeMap<FakeKey, u32>,
    /// Values after a power cycle.
    pub saved: BTreeMap<FakeKey, u32>,
    /// Values from the factory.
    pub default: BTreeMap<FakeKey, u32>,
    /// Takes every Set Features and changes nothing.
    pub deaf: bool,
    /// Answers everything but Identify with Invalid Field.
    pub mute: bool,
    /// No longer there.
    pub gone: bool,
    /// Ends the process that talks to it; the drive goes on.
    pub fuse: Option<(Fuse, Seed)>,
    /// Set Features that arrived: feature, dword 11 and whether it should be saved.
    pub sets: Vec<(u8, u32, bool)>,
}

/// A feature, and its selector where it has one.
pub type FakeKey = (u8, u32);

/// Host controlled thermal management.
pub const HCTM: FakeKey = (0x10, 0);
/// The power state.
pub const POWER: FakeKey = (0x02, 0);
/// The over-temperature threshold of the composite temperature.
pub const COMPOSITE_OVER: FakeKey = (0x04, 0);

/// Selector bits of the temperature threshold: TMPSEL and THSEL.
const SELECTOR: u32 = 0x003f_0000;

impl FakeFeatures {
    /// TMT 303 to 348 K, at 338 and 343 K; three power states of which the last serves no I/O; one threshold.
    #[expect(clippy::new_without_default, reason = "a drive with chosen settings is no zero value")]
    pub fn new() -> Self {
        let mut identify = IdentifyController::unreported();
        identify.model = "Fake".to_owned();
        identify.serial = "F1".to_owned();
        identify.optional_nvm = 1 << 4;
        let limit = |kelvin| Some(Kelvin::from_kelvin(kelvin));
        identify.hctm = HctmLimits { supported: true, min: limit(303), max: limit(348) };
        identify.power_states = vec![
            PowerState::UNREPORTED,
            PowerState::UNREPORTED,
            PowerState { non_operational: true, ..PowerState::UNREPORTED },
        ];
        let default: BTreeMap<FakeKey, u32> =
            [(HCTM, 338 << 16 | 343), (POWER, 0), (COMPOSITE_OVER, 353)].into_iter().collect();
        let state = FakeState {
            identify,
            current: default.clone(),
            saved: default.clone(),
            default,
            deaf: false,
            mute: false,
            gone: false,
            fuse: None,
            sets: Vec::new(),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// What it holds, to be looked at or changed.
    pub fn state(&self) -> MutexGuard<'_, FakeState> {
        self.state.lock().expect("no test panics while it looks at its drive")
    }

    /// One step of the process that talks to it.
    pub fn step(&self) -> FuseStep {
        self.state().fuse.as_ref().map_or(FuseStep::Alive, |(fuse, _)| fuse.step())
    }

    /// What a power cycle leaves of its settings.
    pub fn power_cycle(&self) {
        let mut state = self.state();
        state.current = state.saved.clone();
    }
}

impl FakeState {
    fn answer(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<u32, Status> {
        if self.mute && !matches!(command, AdminCommand::Identify(_)) {
            return Err(Status::INVALID_FIELD);
        }
        match command {
            AdminCommand::Identify(identify) if identify.cns == Cns::CONTROLLER => {
                let Data::Read(page) = data else { return Err(Status::INVALID_FIELD) };
                page.copy_from_slice(&self.identify.encode());
                Ok(0)
            }
            AdminCommand::GetFeatures(get) => {
                let key = (get.fid.0, get.dword11 & SELECTOR);
                let values = match get.select {
                    Select::Current => &self.current,
                    Select::Default => &self.default,
                    Select::Saved => &self.saved,
                    _ => {
                        let all = Capabilities { saveable: true, per_namespace: false, changeable: true };
                        return self.current.get(&key).map(|_| all.encode()).ok_or(Status::INVALID_FIELD);
                    }
                };
                values.get(&key).copied().ok_or(Status::INVALID_FIELD)
            }
            AdminCommand::SetFeatures(set) => self.set(set.fid, set.dwords[0], set.save),
            _ => Err(Status::INVALID_OPCODE),
        }
    }

    fn set(&mut self, fid: FeatureId, dword: u32, save: bool) -> Result<u32, Status> {
        self.sets.push((fid.0, dword, save));
        let (selector, value) = match fid {
            FeatureId::TEMPERATURE_THRESHOLD => (dword & SELECTOR, dword & !SELECTOR),
            _ => (0, dword),
        };
        let key = (fid.0, selector);
        let hctm = Hctm::decode(dword).map_err(|_| Status::INVALID_FIELD)?;
        let refused = fid == FeatureId::HCTM && self.identify.hctm.check(hctm).is_err()
            || fid == FeatureId::POWER_MANAGEMENT
                && (dword & 0x1f) as usize >= self.identify.power_states.len()
            || !self.current.contains_key(&key);
        if refused {
            return Err(Status::INVALID_FIELD);
        }
        if !self.deaf {
            self.current.insert(key, value);
            if save {
                self.saved.insert(key, value);
            }
        }
        Ok(0)
    }
}

impl AdminTransport for FakeFeatures {
    fn name(&self) -> &str {
        "/dev/fake0"
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        let step = self.step();
        let mut state = self.state();
        let failed = |source| HostError::Send {
            device: "/dev/fake0".to_owned(),
            command: command.to_string(),
            source,
        };
        if state.gone {
            return Err(failed(io::Error::from_raw_os_error(libc::ENODEV)));
        }
        // A process that dies in a command may have sent it.
        let sent = state.fuse.as_ref().is_none_or(|(_, seed)| seed.part(97).as_u64() & 1 == 0);
        if step == FuseStep::Cut && sent {
            let _ = state.answer(command, data);
        } else if step == FuseStep::Alive {
            let (result, status) = match state.answer(command, data) {
                Ok(result) => (result, Status::SUCCESS),
                Err(status) => (0, status),
            };
            return Ok(Completion { result: result.into(), sq_head: 0, sq_id: 0, cid: 0, status });
        }
        Err(failed(io::Error::other("the process is dead")))
    }
}
