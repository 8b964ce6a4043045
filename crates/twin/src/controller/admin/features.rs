//! Get and Set Features: settings with their current, default and saved values.
//!
//! A new controller, and one that was reset, starts from what was saved, and where nothing was from
//! the defaults (NVMe Base 2.3, Features). What concerns a host alone (events, keep-alive, number of queues) is
//! each controller's own. What acts on the drive - there is one, with one temperature and one supply - is common to
//! all controllers, and goes back with the last of them. The values in force lie in the drive where it acts on
//! them; the dwords that set them are kept here. Values are checked before anything changes.

use std::collections::BTreeMap;
use std::time::Duration;

use measure::{Instant, Kelvin};
use nvme::Status;
use nvme::command::{GetFeatures, NSID_ALL, SetFeatures};
use nvme::feature::host_memory::{HostMemoryAttributes, HostMemoryBuffer};
use nvme::feature::power::{APST_LEN, ApstTable, PowerManagement};
use nvme::feature::service::{Arbitration, ErrorRecovery, WriteAtomicity};
use nvme::feature::session::{
    AsyncEventConfig, NumberOfQueues, TIMESTAMP_LEN, Timestamp, VolatileWriteCache,
};
use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector, ThresholdSensor, ThresholdSide};
use nvme::feature::{Capabilities, DwordFeature, FeatureId, Select};

use super::super::NSID;
use super::super::command::{Answer, Failure, Success};
use super::super::saved::SavedFeature;
use super::super::{Options, Payload, Queue, Subsystem};
use physics::Tmt;
use physics::drive;
use physics::profile::Profile;

/// A feature, and which of its values: as in [`SavedFeature`].
type FeatureKey = (u8, u8);

/// The settings of a drive.
#[derive(Debug)]
pub(in super::super) struct Features {
    current: BTreeMap<FeatureKey, u32>,
    saved: BTreeMap<FeatureKey, u32>,
    transitions: ApstTable,
    saved_transitions: Option<ApstTable>,
    clock: TimestampClock,
    /// Power states that a power limit leaves, by the number that hosts know: those of the profile.
    states: Vec<u8>,
    has_idle_state: bool,
    changed: bool,
}

/// The drive's own clock (feature 0Eh).
#[derive(Clone, Copy, Debug)]
struct TimestampClock {
    ms: u64,
    at: Instant,
    set_by_host: bool,
}

const NO_TRANSITIONS: ApstTable = ApstTable { transitions: [None; nvme::feature::power::APST_ENTRIES] };

/// Events that can be asked for (0Bh): critical warnings, and namespace attributes (8), the one of OAES.
const EVENT_CONFIG_MASK: u32 = 0xff | AsyncEventConfig::NAMESPACE_ATTRIBUTE;

/// Bytes of data that Set Features has, for those features that have any.
pub(in super::super) const fn data_to_set(fid: FeatureId) -> Option<usize> {
    match fid {
        FeatureId::APST => Some(APST_LEN),
        FeatureId::TIMESTAMP => Some(TIMESTAMP_LEN),
        _ => None,
    }
}

impl Features {
    pub(in super::super) fn new(options: &Options) -> Self {
        let features = &options.saved.features;
        let table = features.iter().find(|saved| FeatureId(saved.fid) == FeatureId::APST);
        Self {
            current: BTreeMap::new(),
            saved: features.iter().map(|saved| ((saved.fid, saved.selector), saved.value)).collect(),
            transitions: NO_TRANSITIONS,
            saved_transitions: table.and_then(|saved| {
                let bytes: Vec<u8> = saved.table.iter().flat_map(|entry| entry.to_le_bytes()).collect();
                ApstTable::decode(&bytes).ok()
            }),
            clock: TimestampClock { ms: 0, at: Instant::ZERO, set_by_host: false },
            states: all_states(&options.profile),
            has_idle_state: options.profile.power_state.iter().any(|state| !state.operational),
            changed: true,
        }
    }

    /// Whether something was saved since this was last asked.
    pub(in super::super) const fn take_changed(&mut self) -> bool {
        std::mem::replace(&mut self.changed, false)
    }

    /// The settings that hosts saved.
    pub(in super::super) fn saved(&self) -> Vec<SavedFeature> {
        let table = |fid: u8| match self.saved_transitions {
            Some(table) if FeatureId(fid) == FeatureId::APST => {
                let entry =
                    |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
                table.encode().chunks_exact(8).map(entry).collect()
            }
            _ => Vec::new(),
        };
        let features = self.saved.iter().map(|((fid, selector), value)| SavedFeature {
            fid: *fid,
            selector: *selector,
            value: *value,
            table: table(*fid),
        });
        features.collect()
    }

    /// Power states by the number that hosts know: those of the profile.
    pub(in super::super) fn power_states(&self) -> &[u8] {
        &self.states
    }

    pub(in super::super) fn set_power_states(&mut self, states: Vec<u8>) {
        self.states = states;
    }

    /// Where the drive goes by itself from `state`, and after how much idleness.
    pub(in super::super) fn apst_transition(&self, state: u8) -> Option<(u8, Duration)> {
        if self.current.get(&key(FeatureId::APST)).is_none_or(|value| value & 1 == 0) {
            return None;
        }
        let transition = self.transitions.transitions.get(usize::from(state)).copied().flatten()?;
        // Downwards only: a table that leads in a circle must not keep the drive awake.
        (transition.target_state > state && usize::from(transition.target_state) < self.states.len())
            .then(|| (transition.target_state, Duration::from_millis(transition.idle_ms.into())))
    }

    /// Whether there is a state to go to by itself.
    pub(in super::super) const fn has_apst(&self) -> bool {
        self.has_idle_state
    }

    /// The drive's clock at the host's `at`.
    pub(in super::super) fn timestamp(&self, at: Instant) -> Timestamp {
        let since_ms = at.since(self.clock.at).as_millis() as u64;
        Timestamp {
            ms: self.clock.ms.wrapping_add(since_ms),
            set_by_host: self.clock.set_by_host,
            may_have_stopped: false,
        }
    }

    /// The dword in force, where this is the place that has it.
    pub(in super::super) fn current(&self, fid: FeatureId) -> u32 {
        self.current.get(&key(fid)).copied().unwrap_or(0)
    }

    pub(in super::super) fn set_current(&mut self, fid: FeatureId, value: u32) {
        self.current.insert(key(fid), value);
    }
}

const fn key(fid: FeatureId) -> FeatureKey {
    (fid.0, 0)
}

fn all_states(profile: &Profile) -> Vec<u8> {
    (0..profile.power_state.len() as u8).collect()
}

impl Subsystem {
    /// Which features there are, and what can be done with each.
    fn capabilities(&self, fid: FeatureId) -> Option<Capabilities> {
        let limits = &self.options.profile.limits;
        let of = |saveable, changeable| {
            let saveable = saveable && self.options.saves;
            let per_namespace = fid == FeatureId::ERROR_RECOVERY;
            Some(Capabilities { saveable, per_namespace, changeable })
        };
        match fid {
            FeatureId::ARBITRATION
            | FeatureId::POWER_MANAGEMENT
            | FeatureId::TEMPERATURE_THRESHOLD
            | FeatureId::ERROR_RECOVERY
            | FeatureId::VOLATILE_WRITE_CACHE
            | FeatureId::WRITE_ATOMICITY
            | FeatureId::ASYNC_EVENTS => of(true, true),
            FeatureId::NUMBER_OF_QUEUES | FeatureId::TIMESTAMP | FeatureId::KEEP_ALIVE => of(false, true),
            FeatureId::HOST_MEMORY_BUFFER => of(false, false),
            FeatureId::APST if self.features.has_apst() => of(true, true),
            FeatureId::HCTM if limits.hctm.is_some() => of(true, true),
            FeatureId::POWER_LIMIT if limits.power_control => of(true, true),
            FeatureId::POWER_THRESHOLD | FeatureId::POWER_MEASUREMENT if limits.power_control => {
                of(false, true)
            }
            _ => None,
        }
    }

    pub(super) fn get_features(&mut self, queue: Queue, command: &GetFeatures) -> Answer {
        let fid = command.fid;
        let capabilities = self.capabilities(fid).ok_or(Failure::in_dword(Status::INVALID_FIELD, 10))?;
        let of_namespace: &[u32] = if capabilities.per_namespace { &[NSID] } else { &[0, NSID, NSID_ALL] };
        if !of_namespace.contains(&command.nsid) {
            return Err(Failure::in_nsid(Status::INVALID_NAMESPACE));
        }
        let key = match fid {
            FeatureId::TEMPERATURE_THRESHOLD => self.threshold_key(command.dword11)?,
            _ => key(fid),
        };
        let saved = self.features.saved.get(&key).copied();
        let value = match command.select {
            Select::Current => self.value_in_force(queue, key),
            Select::Default => self.default_value(key),
            Select::Saved => saved.unwrap_or_else(|| self.default_value(key)),
            Select::Supported => return Ok(Success::with_result(capabilities.encode())),
            Select::Reserved(_) => return Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        };
        let payload = match (fid, command.select) {
            (FeatureId::APST, Select::Current) => self.features.transitions.encode().to_vec(),
            (FeatureId::APST, Select::Saved) => {
                self.features.saved_transitions.unwrap_or(NO_TRANSITIONS).encode().to_vec()
            }
            (FeatureId::APST, _) => NO_TRANSITIONS.encode().to_vec(),
            (FeatureId::HOST_MEMORY_BUFFER, _) => {
                HostMemoryAttributes { size_pages: 0, descriptors: 0 }.encode().to_vec()
            }
            (FeatureId::TIMESTAMP, Select::Current) => self.features.timestamp(self.now()).encode().to_vec(),
            (FeatureId::TIMESTAMP, _) => vec![0; TIMESTAMP_LEN],
            _ => return Ok(Success::with_result(value)),
        };
        Ok(Success { payload: Payload::Bytes(payload), ..Success::with_result(value) })
    }

    pub(super) fn set_features(&mut self, queue: Queue, command: &SetFeatures, data: &[u8]) -> Answer {
        let fid = command.fid;
        let capabilities = self.capabilities(fid).ok_or(Failure::in_dword(Status::INVALID_FIELD, 10))?;
        if command.save && !capabilities.saveable {
            return Err(Failure::in_dword(Status::NOT_SAVEABLE, 10));
        }
        match command.nsid {
            NSID | NSID_ALL if capabilities.per_namespace => {}
            0 | NSID_ALL if !capabilities.per_namespace => {}
            NSID => return Err(Failure::in_nsid(Status::NOT_NAMESPACE_SPECIFIC)),
            _ => return Err(Failure::in_nsid(Status::INVALID_NAMESPACE)),
        }
        // The power limit alone has its value in dword 13.
        let value = if fid == FeatureId::POWER_LIMIT { command.dwords[2] } else { command.dwords[0] };
        let result = self.apply(Some(queue), fid, value, data)?;
        if command.save {
            self.save(fid, value, data);
        }
        Ok(Success::with_result(result))
    }

    fn save(&mut self, fid: FeatureId, value: u32, data: &[u8]) {
        let features = &mut self.features;
        let keys = match fid {
            FeatureId::TEMPERATURE_THRESHOLD => threshold_keys(&self.options.profile, value),
            _ => vec![key(fid)],
        };
        for key in keys {
            let value = features.current.get(&key).copied().unwrap_or(value);
            features.saved.insert(key, value);
        }
        if fid == FeatureId::APST {
            features.saved_transitions = ApstTable::decode(data).ok();
        }
        features.changed = true;
    }

    /// Puts a value in force; the result is dword 0 of the completion.
    fn apply(
        &mut self,
        queue: Option<Queue>,
        fid: FeatureId,
        value: u32,
        data: &[u8],
    ) -> Result<u32, Failure> {
        let invalid = Failure::in_dword(Status::INVALID_FIELD, 11);
        let now = self.now();
        match fid {
            FeatureId::POWER_MANAGEMENT => {
                let wanted = PowerManagement::decode(value).map_err(|_| invalid)?;
                if usize::from(wanted.state) >= self.features.states.len() {
                    return Err(invalid);
                }
                self.set_power_state(wanted.state);
                self.features.set_current(fid, wanted.encode());
            }
            FeatureId::TEMPERATURE_THRESHOLD => self.set_threshold(value)?,
            FeatureId::ARBITRATION | FeatureId::ERROR_RECOVERY | FeatureId::WRITE_ATOMICITY => {
                self.keep(fid, value)?;
            }
            FeatureId::VOLATILE_WRITE_CACHE => {
                let cache = VolatileWriteCache::decode(value).map_err(|_| invalid)?;
                self.features.set_current(fid, cache.encode());
            }
            FeatureId::NUMBER_OF_QUEUES => return self.give_queues(queue, value),
            FeatureId::ASYNC_EVENTS => {
                if value & !EVENT_CONFIG_MASK != 0 {
                    return Err(invalid);
                }
                if let Some(controller) = queue.and_then(|queue| self.hosts.controller_mut(queue)) {
                    controller.events.config = value;
                }
                self.tell_warnings();
            }
            FeatureId::APST => {
                let table = ApstTable::decode(data).map_err(|_| Status::SGL_DATA_LENGTH)?;
                self.check_transitions(&table)?;
                self.features.transitions = table;
                self.features.set_current(fid, value & 1);
            }
            // No host memory is wanted (HMPRE 0), so there is nothing to switch on.
            FeatureId::HOST_MEMORY_BUFFER => {
                if HostMemoryBuffer::decode(value).is_ok_and(|buffer| buffer.enabled) {
                    return Err(Failure::in_dword(Status::NOT_CHANGEABLE, 11));
                }
            }
            FeatureId::TIMESTAMP => {
                let bytes = data.first_chunk().ok_or(Status::SGL_DATA_LENGTH)?;
                let ms = Timestamp::decode(*bytes).ms;
                self.features.clock = TimestampClock { ms, at: now, set_by_host: true };
            }
            FeatureId::KEEP_ALIVE => {
                if let Some(controller) = queue.and_then(|queue| self.hosts.controller_mut(queue)) {
                    controller.set_keep_alive(now, value);
                }
            }
            FeatureId::HCTM => {
                let tmt = Tmt::from_kelvin((value >> 16) as u16, value as u16);
                self.drive.set_tmt(tmt).map_err(|_| invalid)?;
                self.features.set_current(fid, value);
            }
            FeatureId::POWER_LIMIT => self.set_power_limit(value)?,
            FeatureId::POWER_THRESHOLD => self.set_power_threshold(value)?,
            FeatureId::POWER_MEASUREMENT => self.set_power_measurement(value)?,
            _ => return Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        }
        Ok(0)
    }

    /// What is in force, from where it is.
    fn value_in_force(&self, queue: Queue, key: FeatureKey) -> u32 {
        let fid = FeatureId(key.0);
        let controller = self.hosts.controller(queue);
        match fid {
            FeatureId::POWER_MANAGEMENT => {
                // The drive may have gone to another state by itself.
                let hint = self.features.current(fid) & !0x1f;
                hint | u32::from(self.power_state())
            }
            FeatureId::NUMBER_OF_QUEUES => controller.map_or(0, |controller| queues(controller.io_queues)),
            FeatureId::KEEP_ALIVE => controller.map_or(0, |controller| controller.keep_alive_ms),
            FeatureId::ASYNC_EVENTS => controller.map_or(0, |controller| controller.events.config),
            _ => {
                let set = self.features.current.get(&key).copied();
                self.power_feature_now(fid, set.unwrap_or_else(|| self.default_value(key)))
            }
        }
    }

    fn default_value(&self, key: FeatureKey) -> u32 {
        let limits = &self.options.profile.limits;
        match FeatureId(key.0) {
            // Selector: sensor in 3:0, side in 5:4. Only the composite has a threshold to begin with.
            FeatureId::TEMPERATURE_THRESHOLD => match (key.1 & 0xf, key.1 >> 4) {
                (0, 0) => limits.wctemp_k.into(),
                (_, 0) => 0xffff,
                _ => 0,
            },
            FeatureId::VOLATILE_WRITE_CACHE => 1,
            FeatureId::NUMBER_OF_QUEUES => queues(self.options.limits.io_queues),
            FeatureId::HCTM => {
                let tmt = self.drive.default_tmt();
                u32::from(tmt.tmt1_raw()) << 16 | u32::from(tmt.tmt2_raw())
            }
            _ => 0,
        }
    }

    /// Every setting as saved, or as by default. What the drive no longer takes is forgotten.
    pub(in super::super) fn reset_features(&mut self) {
        let mut keys: Vec<FeatureKey> = [
            // The limit first: it decides which power states there are.
            FeatureId::POWER_LIMIT,
            FeatureId::ARBITRATION,
            FeatureId::POWER_MANAGEMENT,
            FeatureId::ERROR_RECOVERY,
            FeatureId::WRITE_ATOMICITY,
            FeatureId::VOLATILE_WRITE_CACHE,
            FeatureId::HCTM,
            FeatureId::APST,
        ]
        .map(key)
        .to_vec();
        let sensors = 0..=self.sensor_count();
        keys.extend(sensors.flat_map(|sensor| {
            [sensor, sensor | 1 << 4].map(|selector| (FeatureId::TEMPERATURE_THRESHOLD.0, selector))
        }));
        for key in keys {
            let fid = FeatureId(key.0);
            if self.capabilities(fid).is_none() {
                continue;
            }
            let selector = u32::from(key.1) << 16;
            let table = self.features.saved_transitions.unwrap_or(NO_TRANSITIONS).encode();
            let saved = self.features.saved.get(&key).copied();
            let taken = saved.is_some_and(|value| self.apply(None, fid, value | selector, &table).is_ok());
            if !taken {
                self.features.saved.remove(&key);
                let value = self.default_value(key) | selector;
                let default = self.apply(None, fid, value, &NO_TRANSITIONS.encode());
                debug_assert!(default.is_ok(), "the drive refuses its own default of {fid}");
            }
        }
    }

    /// What is one controller's own, as saved or by default: a new controller, or one that was reset, has it.
    pub(in super::super) fn reset_controller_features(&mut self, queue: Queue) {
        let saved = self.features.saved.get(&key(FeatureId::ASYNC_EVENTS)).copied();
        if let Some(controller) = self.hosts.controller_mut(queue) {
            controller.events.config = saved.unwrap_or(0) & EVENT_CONFIG_MASK;
        }
    }

    fn sensor_count(&self) -> u8 {
        self.options.profile.sensor.sensor.len().min(8) as u8
    }

    /// The threshold that dword 11 selects.
    fn threshold_key(&self, dword11: u32) -> Result<FeatureKey, Failure> {
        let invalid = Failure::in_dword(Status::INVALID_FIELD, 11);
        let selector = ThresholdSelector::decode(dword11).map_err(|_| invalid)?;
        match selector.sensor {
            ThresholdSensor::Sensor(number) if number > self.sensor_count() => Err(invalid),
            // All of them have no one value.
            ThresholdSensor::All => Err(invalid),
            _ => Ok((FeatureId::TEMPERATURE_THRESHOLD.0, (selector.encode() >> 16) as u8)),
        }
    }

    fn set_threshold(&mut self, value: u32) -> Result<(), Failure> {
        let invalid = Failure::in_dword(Status::INVALID_FIELD, 11);
        let threshold = TemperatureThreshold::decode(value).map_err(|_| invalid)?;
        let keys = threshold_keys(&self.options.profile, value);
        if keys.is_empty() {
            return Err(invalid);
        }
        let kelvin = threshold.temperature.as_kelvin();
        let kind = match threshold.which.side {
            ThresholdSide::Over => drive::ThresholdKind::Over,
            ThresholdSide::Under => drive::ThresholdKind::Under,
        };
        for key in keys {
            let sensor = match key.1 & 0xf {
                0 => drive::ThermalThresholdSensor::Composite,
                number => drive::ThermalThresholdSensor::Number(number),
            };
            self.drive.set_temp_threshold(sensor, kind, Kelvin::from_kelvin(kelvin)).map_err(|_| invalid)?;
            self.features.current.insert(key, kelvin.into());
        }
        self.tell_warnings();
        Ok(())
    }

    /// Transitions must lead to states that exist and process nothing.
    fn check_transitions(&self, table: &ApstTable) -> Result<(), Failure> {
        for transition in table.transitions.iter().flatten() {
            let state = self.features.states.get(usize::from(transition.target_state));
            let is_idle = |state: &u8| !self.options.profile.power_state[usize::from(*state)].operational;
            if !state.is_some_and(is_idle) {
                return Err(Failure::new(Status::INVALID_FIELD));
            }
        }
        Ok(())
    }

    /// Takes a value that changes nothing but what is told: queues take turns, blocks are never torn, and nothing is
    /// tried twice. What it has no meaning for is refused.
    fn keep(&mut self, fid: FeatureId, value: u32) -> Result<(), Failure> {
        let known = match fid {
            FeatureId::ARBITRATION => Arbitration::decode(value).map(|known| known.encode()),
            // Deallocated blocks read as zeros and never as an error (NSFEAT bit 2 is 0).
            FeatureId::ERROR_RECOVERY => ErrorRecovery::decode(value)
                .map(|known| ErrorRecovery { deallocated_error: false, ..known }.encode()),
            _ => WriteAtomicity::decode(value).map(|known| known.encode()),
        };
        if known != Ok(value) {
            return Err(Failure::in_dword(Status::INVALID_FIELD, 11));
        }
        self.features.set_current(fid, value);
        Ok(())
    }

    fn give_queues(&mut self, queue: Option<Queue>, value: u32) -> Result<u32, Failure> {
        let most = self.options.limits.io_queues;
        let wanted =
            NumberOfQueues::decode(value).map_err(|_| Failure::in_dword(Status::INVALID_FIELD, 11))?;
        let Some(controller) = queue.and_then(|queue| self.hosts.controller_mut(queue)) else {
            return Ok(0);
        };
        if controller.has_io_queues() {
            return Err(Failure::new(Status::COMMAND_SEQUENCE_ERROR));
        }
        // A queue here is always a pair.
        controller.io_queues = wanted.submission.min(wanted.completion).min(most);
        Ok(queues(controller.io_queues))
    }
}

fn queues(count: u16) -> u32 {
    NumberOfQueues { submission: count, completion: count }.encode()
}

/// The thresholds that dword 11 of Set Features selects; none for a sensor that is not there.
fn threshold_keys(profile: &Profile, dword11: u32) -> Vec<FeatureKey> {
    let Ok(selector) = ThresholdSelector::decode(dword11) else { return Vec::new() };
    let count = profile.sensor.sensor.len().min(8) as u8;
    let sensors = match selector.sensor {
        ThresholdSensor::Composite => 0..=0,
        ThresholdSensor::Sensor(number) if number > count => return Vec::new(),
        ThresholdSensor::Sensor(number) => number..=number,
        ThresholdSensor::All => 0..=count,
    };
    let side = u8::from(selector.side == ThresholdSide::Under) << 4;
    sensors.map(|sensor| (FeatureId::TEMPERATURE_THRESHOLD.0, sensor | side)).collect()
}
