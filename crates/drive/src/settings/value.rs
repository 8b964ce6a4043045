//! What can be set, and values as the drive has them.
//!
//! Values stay raw: putting back means the very bits that were found, workload hint and hysteresis included.
//! Their meaning is that of `nvme::feature`. Both have a text form, which the journal keeps.

use std::fmt;
use std::str::FromStr;

use nvme::command::{GetFeatures, SetFeatures};
use nvme::feature::power::PowerManagement;
use nvme::feature::temperature::{TemperatureThreshold, ThresholdSelector, ThresholdSensor, ThresholdSide};
use nvme::feature::{DwordFeature as _, FeatureId, Select};
use nvme::hctm::Hctm;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::trim::ProvisioningMode;

/// One setting that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Setting {
    /// The two thermal management temperatures (feature 10h).
    Hctm,
    /// The power state (feature 02h).
    PowerState,
    /// One temperature threshold (feature 04h). It warns and does not throttle.
    Threshold(ThresholdSelector),
    /// How long a way out of a power state may take for the drive to enter it by itself: the kernel's
    /// `pm_qos_latency_tolerance_us`, from which it makes the table of feature 0Ch.
    ApstLatency,
    /// By which command the kernel discards on a SCSI disk: its `provisioning_mode`.
    ProvisioningMode,
    /// How many bytes the kernel discards in one command: `discard_max_bytes`.
    DiscardMax,
}

/// A value of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Value {
    /// Dword 11 of Set Features and dword 0 of Get Features' completion.
    Dword(u32),
    /// What `pm_qos_latency_tolerance_us` holds.
    Latency(LatencyTolerance),
    /// What `provisioning_mode` holds.
    Provisioning(ProvisioningMode),
    /// A size in bytes.
    Size(u64),
}

/// What `pm_qos_latency_tolerance_us` holds (Linux Documentation/ABI/testing/sysfs-devices-power).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatencyTolerance {
    /// Microseconds; 0 turns autonomous transitions off.
    Us(u32),
    /// Any latency will do.
    Any,
    /// As the hardware decides.
    Auto,
}

/// A setting and the value that it shall have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// What.
    pub setting: Setting,
    /// To what.
    pub value: Value,
}

/// A text that is no setting or no value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{text:?} is no {what}")]
pub struct TextError {
    text: String,
    what: &'static str,
}

impl Change {
    /// Of the thermal management temperatures.
    pub fn hctm(hctm: Hctm) -> Self {
        Self { setting: Setting::Hctm, value: Value::Dword(hctm.encode()) }
    }

    /// Of the power state.
    pub fn power_state(power: PowerManagement) -> Self {
        Self { setting: Setting::PowerState, value: Value::Dword(power.encode()) }
    }

    /// Of a temperature threshold.
    pub fn threshold(threshold: TemperatureThreshold) -> Self {
        let value = Value::Dword(threshold.encode());
        Self { setting: Setting::Threshold(threshold.which), value }
    }

    /// Of autonomous power state transitions.
    pub const fn apst_latency(latency: LatencyTolerance) -> Self {
        Self { setting: Setting::ApstLatency, value: Value::Latency(latency) }
    }

    /// What it does, for people.
    pub fn text(&self) -> String {
        self.setting.text_of(self.value)
    }
}

impl Setting {
    /// What people call it.
    pub fn name(self) -> String {
        match self {
            Self::Hctm => "host controlled thermal management".to_owned(),
            Self::PowerState => "power state".to_owned(),
            Self::Threshold(which) => {
                let sensor = match which.sensor {
                    ThresholdSensor::Composite => "composite".to_owned(),
                    ThresholdSensor::Sensor(number) => format!("sensor {number}"),
                    ThresholdSensor::All => "all sensors'".to_owned(),
                };
                let side = if which.side == ThresholdSide::Over { "over" } else { "under" };
                format!("{sensor} {side}-temperature threshold")
            }
            Self::ApstLatency => "latency tolerance of autonomous power state transitions".to_owned(),
            Self::ProvisioningMode => "provisioning_mode".to_owned(),
            Self::DiscardMax => "discard_max_bytes".to_owned(),
        }
    }

    /// A value of this setting, for people.
    pub fn text_of(self, value: Value) -> String {
        match (self, value) {
            (Self::Hctm, Value::Dword(dword)) => {
                Hctm::decode(dword).map_or_else(|_| value.to_string(), |hctm| hctm.to_string())
            }
            (Self::PowerState, Value::Dword(dword)) => match PowerManagement::decode(dword) {
                Ok(PowerManagement { state, workload_hint: 0 }) => format!("power state {state}"),
                Ok(power) => format!("power state {}, workload hint {}", power.state, power.workload_hint),
                Err(_) => value.to_string(),
            },
            (Self::Threshold(which), Value::Dword(dword)) => {
                let threshold = TemperatureThreshold::from_dword(which, dword);
                match (which.side, threshold.temperature.as_kelvin()) {
                    (ThresholdSide::Over, u16::MAX) | (ThresholdSide::Under, 0) => "never warns".to_owned(),
                    (ThresholdSide::Over, _) => format!("warns at {} and above", threshold.temperature),
                    (ThresholdSide::Under, _) => format!("warns at {} and below", threshold.temperature),
                }
            }
            (Self::ApstLatency, Value::Latency(LatencyTolerance::Us(0))) => "off".to_owned(),
            (Self::ApstLatency, Value::Latency(LatencyTolerance::Us(us))) => format!("{us} µs"),
            _ => value.to_string(),
        }
    }

    /// The command that reads it; `None` for what is no feature.
    pub(super) fn get(self, select: Select) -> Option<GetFeatures> {
        match self {
            Self::Hctm => Some(Hctm::get(select)),
            Self::PowerState => Some(PowerManagement::get(select)),
            Self::Threshold(which) => Some(which.get(select)),
            Self::ApstLatency | Self::ProvisioningMode | Self::DiscardMax => None,
        }
    }

    /// The command that sets it; `None` for what is no feature.
    pub(super) fn set(self, dword: u32, save: bool) -> Option<SetFeatures> {
        let fid = match self {
            Self::Hctm => FeatureId::HCTM,
            Self::PowerState => FeatureId::POWER_MANAGEMENT,
            Self::Threshold(_) => FeatureId::TEMPERATURE_THRESHOLD,
            Self::ApstLatency | Self::ProvisioningMode | Self::DiscardMax => return None,
        };
        Some(SetFeatures::controller(fid, self.complete(dword), save))
    }

    /// The bits of Get Features' answer that are the value: the rest may hold anything.
    pub(super) fn masked(self, value: Value) -> Value {
        let mask = match self {
            Self::Hctm | Self::ApstLatency | Self::ProvisioningMode | Self::DiscardMax => u32::MAX,
            // Power state 4:0, workload hint 7:5.
            Self::PowerState => 0xff,
            // Temperature 15:0, hysteresis 24:22.
            Self::Threshold(_) => 0x01c0_ffff,
        };
        match value {
            Value::Dword(dword) => Value::Dword(self.complete(dword & mask)),
            Value::Latency(_) | Value::Provisioning(_) | Value::Size(_) => value,
        }
    }

    /// Whether it is the kernel's setting of a SCSI disk, and not the drive's.
    pub const fn is_of_discards(self) -> bool {
        matches!(self, Self::ProvisioningMode | Self::DiscardMax)
    }

    /// A value with what stands beside it in dword 11: Get Features need not repeat the selector.
    fn complete(self, dword: u32) -> u32 {
        match self {
            Self::Threshold(which) => dword & !0x003f_0000 | which.encode(),
            _ => dword,
        }
    }
}

const HCTM: &str = "hctm";
const POWER_STATE: &str = "power_state";
const APST_LATENCY: &str = "apst_latency";
const PROVISIONING_MODE: &str = "provisioning_mode";
const DISCARD_MAX: &str = "discard_max_bytes";
const THRESHOLD: &str = "threshold_";
/// Behind a size, so that it is no latency.
const BYTES: &str = " B";

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hctm => f.write_str(HCTM),
            Self::PowerState => f.write_str(POWER_STATE),
            Self::ApstLatency => f.write_str(APST_LATENCY),
            Self::ProvisioningMode => f.write_str(PROVISIONING_MODE),
            Self::DiscardMax => f.write_str(DISCARD_MAX),
            Self::Threshold(which) => {
                let side = if which.side == ThresholdSide::Over { "over" } else { "under" };
                match which.sensor {
                    ThresholdSensor::Composite => write!(f, "{THRESHOLD}composite_{side}"),
                    ThresholdSensor::Sensor(number) => write!(f, "{THRESHOLD}sensor{number}_{side}"),
                    ThresholdSensor::All => write!(f, "{THRESHOLD}all_{side}"),
                }
            }
        }
    }
}

impl FromStr for Setting {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        let refused = || TextError { text: text.to_owned(), what: "setting" };
        match text {
            HCTM => return Ok(Self::Hctm),
            POWER_STATE => return Ok(Self::PowerState),
            APST_LATENCY => return Ok(Self::ApstLatency),
            PROVISIONING_MODE => return Ok(Self::ProvisioningMode),
            DISCARD_MAX => return Ok(Self::DiscardMax),
            _ => {}
        }
        let (sensor, side) = text
            .strip_prefix(THRESHOLD)
            .and_then(|threshold| threshold.rsplit_once('_'))
            .ok_or_else(refused)?;
        let sensor = match sensor {
            "composite" => ThresholdSensor::Composite,
            "all" => ThresholdSensor::All,
            numbered => {
                let number = numbered.strip_prefix("sensor").and_then(|number| number.parse().ok());
                ThresholdSensor::Sensor(number.filter(|number| (1..=8).contains(number)).ok_or_else(refused)?)
            }
        };
        let side = match side {
            "over" => ThresholdSide::Over,
            "under" => ThresholdSide::Under,
            _ => return Err(refused()),
        };
        Ok(Self::Threshold(ThresholdSelector { sensor, side }))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dword(dword) => write!(f, "{dword:#010x}"),
            Self::Latency(LatencyTolerance::Us(us)) => write!(f, "{us}"),
            Self::Latency(LatencyTolerance::Any) => f.write_str("any"),
            Self::Latency(LatencyTolerance::Auto) => f.write_str("auto"),
            Self::Provisioning(mode) => f.write_str(mode.word()),
            Self::Size(bytes) => write!(f, "{bytes}{BYTES}"),
        }
    }
}

impl FromStr for Value {
    type Err = TextError;

    /// Hexadecimal is a dword, decimal a latency, with a unit a size: the forms in which they are written.
    fn from_str(text: &str) -> Result<Self, TextError> {
        if let Ok(mode) = text.parse() {
            return Ok(Self::Provisioning(mode));
        }
        if let Some(bytes) = text.strip_suffix(BYTES).and_then(|digits| digits.parse().ok()) {
            return Ok(Self::Size(bytes));
        }
        let value = match (text, text.strip_prefix("0x")) {
            ("any", _) => Some(Self::Latency(LatencyTolerance::Any)),
            ("auto", _) => Some(Self::Latency(LatencyTolerance::Auto)),
            (_, Some(digits)) => u32::from_str_radix(digits, 16).ok().map(Self::Dword),
            (digits, None) => digits.parse().ok().map(LatencyTolerance::Us).map(Self::Latency),
        };
        value.ok_or_else(|| TextError { text: text.to_owned(), what: "value of a setting" })
    }
}

impl From<Setting> for String {
    fn from(setting: Setting) -> Self {
        setting.to_string()
    }
}

impl TryFrom<String> for Setting {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}

impl From<Value> for String {
    fn from(value: Value) -> Self {
        value.to_string()
    }
}

impl TryFrom<String> for Value {
    type Error = TextError;

    fn try_from(text: String) -> Result<Self, TextError> {
        text.parse()
    }
}

#[cfg(test)]
mod test {
    use proptest::prelude::*;

    use super::*;

    fn setting() -> impl Strategy<Value = Setting> {
        let sensor = prop_oneof![
            Just(ThresholdSensor::Composite),
            (1_u8..=8).prop_map(ThresholdSensor::Sensor),
            Just(ThresholdSensor::All)
        ];
        let side = prop_oneof![Just(ThresholdSide::Over), Just(ThresholdSide::Under)];
        prop_oneof![
            Just(Setting::Hctm),
            Just(Setting::PowerState),
            Just(Setting::ApstLatency),
            Just(Setting::ProvisioningMode),
            Just(Setting::DiscardMax),
            (sensor, side).prop_map(|(sensor, side)| Setting::Threshold(ThresholdSelector { sensor, side })),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let latency = prop_oneof![
            any::<u32>().prop_map(LatencyTolerance::Us),
            Just(LatencyTolerance::Any),
            Just(LatencyTolerance::Auto)
        ];
        prop_oneof![
            any::<u32>().prop_map(Value::Dword),
            latency.prop_map(Value::Latency),
            prop::sample::select(&ProvisioningMode::ALL[..]).prop_map(Value::Provisioning),
            any::<u64>().prop_map(Value::Size),
        ]
    }

    proptest! {
        #[test]
        fn texts_come_back(setting in setting(), value in value()) {
            prop_assert_eq!(setting.to_string().parse(), Ok(setting));
            prop_assert_eq!(value.to_string().parse(), Ok(value));
        }

        /// Masking keeps what a Set would send, and twice is once.
        #[test]
        fn masking_is_stable(setting in setting(), dword in any::<u32>()) {
            let once = setting.masked(Value::Dword(dword));
            prop_assert_eq!(setting.masked(once), once);
        }
    }

    #[test]
    fn what_is_no_setting_is_refused() {
        for text in ["", "hctm ", "threshold_", "threshold_sensor9_over", "threshold_sensor1_beside"] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
        for text in ["", "0x", "0x1ffffffff", "-1", "none"] {
            assert!(text.parse::<Value>().is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_told_in_degrees() {
        let composite = Setting::Threshold(ThresholdSelector::COMPOSITE_OVER);
        assert_eq!(Setting::Hctm.text_of(Value::Dword(0x0152_0157)), "TMT1 65 °C, TMT2 70 °C");
        assert_eq!(Setting::Hctm.text_of(Value::Dword(0x0152_0000)), "TMT1 65 °C, TMT2 off");
        assert_eq!(Setting::PowerState.text_of(Value::Dword(0x42)), "power state 2, workload hint 2");
        assert_eq!(composite.text_of(Value::Dword(0x0157)), "warns at 70 °C and above");
        assert_eq!(composite.text_of(Value::Dword(0xffff)), "never warns");
    }
}
