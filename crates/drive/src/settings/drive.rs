//! The settings of one drive, over any transport.
//!
//! A change is checked against what the drive says about itself before it is sent, and read back after. One is not
//! trusted to have happened because the drive said so: some take every Set Features and change nothing.

use std::fs;
use std::path::PathBuf;

use measure::Kelvin;
use measure::record::ThermalSettings;
use nvme::feature::power::PowerManagement;
use nvme::feature::{Capabilities, DwordFeature as _, Select};
use nvme::hctm::Hctm;
use nvme::host::{AdminTransport, Controller, FeatureValues, HostError, unless_refused};
use nvme::identify::IdentifyController;

use super::journal::JournalIdentity;
use super::{Change, LatencyTolerance, Setting, SettingsError, Value};

/// The settings of one drive, over a transport of any kind, owned or borrowed for `'a`.
#[derive(Debug)]
pub struct DriveSettings<'a> {
    controller: Controller<'a>,
    identify: IdentifyController,
    apst: Option<PathBuf>,
}

/// A setting's values, as far as the drive reports them.
pub type SettingValues = FeatureValues<Value>;

/// A change that was made and read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applied {
    /// What was changed.
    pub setting: Setting,
    /// As it was found.
    pub before: Value,
    /// As it is now, read back.
    pub now: Value,
    /// The saved value as it was found, where the change was saved and the drive tells.
    pub saved_before: Option<Value>,
    /// Whether it outlives a power cycle.
    pub saved: bool,
}

impl<'a> DriveSettings<'a> {
    /// The settings of the controller behind `transport`, which is asked who it is.
    ///
    /// # Errors
    /// When it does not tell.
    pub fn open(transport: impl AdminTransport + 'a) -> Result<Self, SettingsError> {
        let mut controller = Controller::new(transport);
        let identify = controller.identify_controller()?;
        Ok(Self { controller, identify, apst: None })
    }

    /// With the kernel's knob of autonomous power state transitions: `pm_qos_latency_tolerance_us` of the controller.
    #[must_use]
    pub fn with_apst(mut self, knob: PathBuf) -> Self {
        self.apst = Some(knob);
        self
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        self.controller.name()
    }

    /// What it says about itself.
    pub const fn identify(&self) -> &IdentifyController {
        &self.identify
    }

    /// Typed calls that are no settings.
    pub const fn controller(&mut self) -> &mut Controller<'a> {
        &mut self.controller
    }

    /// Who it is, wherever it is plugged in.
    pub fn identity(&self) -> JournalIdentity {
        JournalIdentity {
            model: self.identify.model.clone(),
            serial: self.identify.serial.clone(),
            subsystem_nqn: self.identify.subsystem_nqn.clone(),
        }
    }

    /// One value of a setting. Of the kernel's knob there is only the current one.
    ///
    /// # Errors
    /// When the drive does not tell.
    pub fn get(&mut self, setting: Setting, select: Select) -> Result<Value, SettingsError> {
        let Some(command) = setting.get(select) else { return self.of_kernel(setting) };
        Ok(setting.masked(Value::Dword(self.controller.get_features(command)?)))
    }

    /// The same, `None` when the drive refuses to report it.
    fn reported(&mut self, setting: Setting, select: Select) -> Result<Option<Value>, SettingsError> {
        let Some(command) = setting.get(select) else { return self.of_kernel(setting).map(Some) };
        let dword = unless_refused(self.controller.get_features(command))?;
        Ok(dword.map(|dword| setting.masked(Value::Dword(dword))))
    }

    /// Whether a value that a journal names is in force.
    ///
    /// # Errors
    /// When the drive does not answer; `None` when it refuses to.
    pub fn holds(&mut self, setting: Setting, value: Value) -> Result<Option<bool>, SettingsError> {
        let now = self.reported(setting, Select::Current)?;
        Ok(now.map(|now| now == setting.masked(value)))
    }

    /// Every value of a setting that the drive tells.
    ///
    /// # Errors
    /// When it does not tell the current one; others that it refuses are `None`.
    pub fn read(&mut self, setting: Setting) -> Result<SettingValues, SettingsError> {
        let Some(command) = setting.get(Select::Current) else {
            return Ok(SettingValues::only(self.of_kernel(setting)?));
        };
        let values = self.controller.feature_values(command, self.identify.has_select_and_save())?;
        Ok(values.map(|dword| setting.masked(Value::Dword(dword))))
    }

    /// What a record keeps of the settings: those that govern throttling, as far as the drive has them.
    pub fn thermal(&mut self) -> ThermalSettings {
        let raw = |kelvin: Option<Kelvin>| kelvin.map_or(0, Kelvin::as_kelvin);
        let hctm = self.identify.hctm.supported.then(|| self.controller.feature::<Hctm>().ok()).flatten();
        ThermalSettings {
            tmt1_k: hctm.map(|hctm| raw(hctm.tmt1)),
            tmt2_k: hctm.map(|hctm| raw(hctm.tmt2)),
            power_state: self.controller.feature().ok().map(|power: PowerManagement| power.state),
        }
    }

    /// The changes that make the drive's settings what `wanted` says; a half that is not given stays as it is.
    ///
    /// # Errors
    /// When the present value that one half is added to cannot be read.
    pub fn changes(&mut self, wanted: &ThermalSettings) -> Result<Vec<Change>, SettingsError> {
        let mut changes = Vec::new();
        if wanted.tmt1_k.is_some() || wanted.tmt2_k.is_some() {
            // Without the feature there is nothing to read; the check refuses what is wanted in a sentence.
            let now = match (wanted.tmt1_k, wanted.tmt2_k) {
                (Some(_), Some(_)) => Hctm { tmt1: None, tmt2: None },
                _ if !self.identify.hctm.supported => Hctm { tmt1: None, tmt2: None },
                _ => self.controller.feature()?,
            };
            changes.push(Change::hctm(Hctm {
                tmt1: wanted.tmt1_k.map_or(now.tmt1, Kelvin::from_nvme),
                tmt2: wanted.tmt2_k.map_or(now.tmt2, Kelvin::from_nvme),
            }));
        }
        if let Some(state) = wanted.power_state {
            changes.push(self.power_change(state)?);
        }
        Ok(changes)
    }

    /// The change to power state `state` that leaves the workload hint alone.
    ///
    /// # Errors
    /// When the present one cannot be read.
    pub fn power_change(&mut self, state: u8) -> Result<Change, SettingsError> {
        let now: PowerManagement = self.controller.feature()?;
        // More than five bits would become another state: the check has to see them.
        let dword = u32::from(state) | u32::from(now.workload_hint) << 5;
        let value = Value::Dword(if state < 32 { dword } else { u32::from(state) << 8 });
        Ok(Change { setting: Setting::PowerState, value })
    }

    /// Whether the drive will take `change`, as far as it says so itself.
    ///
    /// # Errors
    /// Which rule it breaks.
    pub fn check(&self, change: &Change) -> Result<(), SettingsError> {
        let refused = |why: String| {
            let device = self.name().to_owned();
            Err(SettingsError::Refused { device, wanted: change.text(), why })
        };
        match (change.setting, change.value) {
            (Setting::Hctm, Value::Dword(dword)) => {
                let device = self.name().to_owned();
                let hctm = Hctm::decode(dword).map_err(|source| HostError::Decode { device, source })?;
                self.identify.hctm.check(hctm).map_err(|source| {
                    let device = self.name().to_owned();
                    SettingsError::Hctm { device, wanted: change.text(), source }
                })
            }
            (Setting::PowerState, Value::Dword(dword)) => {
                let states = self.identify.power_states.len();
                let state = if dword < 1 << 8 { dword & 0x1f } else { dword >> 8 };
                if (state as usize) < states {
                    return Ok(());
                }
                let range = if states == 1 { "0 alone".to_owned() } else { format!("0 to {}", states - 1) };
                let device = self.name().to_owned();
                let wanted = format!("power state {state}");
                let why = format!("the drive has power state {range}; see `heatsoak inspect` for them");
                Err(SettingsError::Refused { device, wanted, why })
            }
            (Setting::Threshold(_), Value::Dword(_)) => Ok(()),
            (Setting::ApstLatency, Value::Latency(_)) if self.apst.is_some() => Ok(()),
            (Setting::ApstLatency, _) => {
                let why = "the kernel offers no pm_qos_latency_tolerance_us for it; it has it for drives that \
                           support autonomous power state transitions, when it manages the power itself";
                refused(why.to_owned())
            }
            (Setting::ProvisioningMode | Setting::DiscardMax, _) => {
                refused("it is set by `heatsoak trim`".to_owned())
            }
            (_, Value::Latency(_)) => refused("a latency is no value of this setting".to_owned()),
            (_, Value::Provisioning(_) | Value::Size(_)) => {
                refused("that is no value of this setting".to_owned())
            }
        }
    }

    /// Checks a change, makes it and reads it back. With `save` it outlives power cycles.
    ///
    /// # Errors
    /// When it breaks a rule of the drive or cannot be saved, when the drive refuses it, and when the drive takes it
    /// and then holds another value.
    pub fn apply(&mut self, change: &Change, save: bool) -> Result<Applied, SettingsError> {
        let setting = change.setting;
        self.check(change)?;
        let saved_before = if save { self.saveable(change)? } else { None };
        let before = self.get(setting, Select::Current)?;
        self.send(change, save)?;
        let now = self.get(setting, Select::Current)?;
        if now != setting.masked(change.value) {
            return Err(self.not_applied(change.text(), setting, now, now == before));
        }
        if save && let Some(saved) = self.reported(setting, Select::Saved)?.filter(|saved| *saved != now) {
            let wanted = format!("{} to be saved", change.text());
            return Err(self.not_applied(wanted, setting, saved, saved_before == Some(saved)));
        }
        Ok(Applied { setting, before, now, saved_before, saved: save })
    }

    /// Sends a change and reads nothing back.
    pub(super) fn send(&mut self, change: &Change, save: bool) -> Result<(), SettingsError> {
        match change.value {
            Value::Latency(latency) => self.set_latency(latency),
            Value::Provisioning(_) | Value::Size(_) => self.check(change),
            Value::Dword(dword) => {
                let command = change.setting.set(dword, save).ok_or_else(|| SettingsError::Refused {
                    device: self.name().to_owned(),
                    wanted: change.text(),
                    why: "it is no feature of a drive".to_owned(),
                })?;
                self.controller.set_features(command)?;
                Ok(())
            }
        }
    }

    pub(super) fn not_applied(
        &self,
        wanted: String,
        setting: Setting,
        got: Value,
        unchanged: bool,
    ) -> SettingsError {
        SettingsError::NotApplied {
            device: self.name().to_owned(),
            wanted,
            got: setting.text_of(got),
            unchanged,
        }
    }

    /// The saved value, where the setting can be saved.
    fn saveable(&mut self, change: &Change) -> Result<Option<Value>, SettingsError> {
        let refused = |device: &str, why: &str| {
            let wanted = format!("{} and save it", change.text());
            let why = format!("{why}; without saving it holds until the next power cycle");
            Err(SettingsError::Refused { device: device.to_owned(), wanted, why })
        };
        let Some(supported) = change.setting.get(Select::Supported) else {
            return refused(self.name(), "the kernel makes this setting anew at every start");
        };
        if !self.identify.has_select_and_save() {
            return refused(self.name(), "the drive saves no settings (ONCS bit 4 is 0)");
        }
        match unless_refused(self.controller.get_features(supported))?.map(Capabilities::decode) {
            Some(Capabilities { saveable: false, .. }) => {
                refused(self.name(), "the drive says that it does not save this setting")
            }
            _ => self.reported(change.setting, Select::Saved),
        }
    }

    /// The operational power state by way of which a power state is put back that serves no I/O.
    ///
    /// A drive that slept by itself is found in such a state. At its next I/O it goes back to the last operational
    /// state it was in (NVMe Base 2.3, 8.1.18), which would be the one that a run had set. State 0 is what drives
    /// start in, and Linux sets no other.
    pub(super) fn by_way_of(&self, setting: Setting, found: Value) -> Option<Value> {
        let (Setting::PowerState, Value::Dword(dword)) = (setting, found) else { return None };
        let state = self.identify.power_states.get((dword & 0x1f) as usize)?;
        state.non_operational.then_some(Value::Dword(dword & !0x1f))
    }

    /// A setting that the kernel has, and not the drive.
    fn of_kernel(&self, setting: Setting) -> Result<Value, SettingsError> {
        if !setting.is_of_discards() {
            return self.latency();
        }
        let (device, wanted) = (self.name().to_owned(), setting.name());
        Err(SettingsError::Refused { device, wanted, why: "it is read by `heatsoak trim`".to_owned() })
    }

    fn latency(&self) -> Result<Value, SettingsError> {
        let path = self.knob()?;
        let failed = |source| SettingsError::Sysfs { what: "read", path: path.clone(), source };
        let text = fs::read_to_string(path).map_err(failed)?;
        let value = text.trim().parse().map_err(|error| failed(std::io::Error::other(error)))?;
        Ok(value)
    }

    fn set_latency(&self, latency: LatencyTolerance) -> Result<(), SettingsError> {
        let path = self.knob()?;
        fs::write(path, Value::Latency(latency).to_string()).map_err(|source| SettingsError::Sysfs {
            what: "write",
            path: path.clone(),
            source,
        })
    }

    fn knob(&self) -> Result<&PathBuf, SettingsError> {
        self.apst.as_ref().ok_or_else(|| SettingsError::Refused {
            device: self.name().to_owned(),
            wanted: Setting::ApstLatency.name(),
            why: "the kernel has no knob for it here".to_owned(),
        })
    }
}
