//! Tables that are not laid out as they are in memory: settings of the drive, power sources.

use std::time::Duration;

use measure::record::ThermalSettings;
use measure::{BytesPerSec, Kelvin};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use toml::Value;

use super::quantity::{PlanValue, optional, period};
use crate::{PowerSource, SweepSetting};

/// The table `[settings]`.
#[derive(Deserialize, Serialize)]
#[serde(remote = "ThermalSettings", deny_unknown_fields)]
pub(crate) struct SettingsTable {
    #[serde(default, rename = "tmt1", with = "tmt")]
    tmt1_k: Option<u16>,
    #[serde(default, rename = "tmt2", with = "tmt")]
    tmt2_k: Option<u16>,
    #[serde(default, deserialize_with = "power_state")]
    power_state: Option<u8>,
}

impl SettingsTable {
    pub(crate) fn is_empty(settings: &ThermalSettings) -> bool {
        *settings == ThermalSettings::default()
    }
}

/// A thermal management temperature in whole kelvins. NVMe feature 10h: zero disables it.
#[derive(Clone, Copy)]
struct TmtText(Kelvin);

impl PlanValue for TmtText {
    const WANTED: &'static str = "a temperature such as \"65C\" in quotes, or \"off\"";

    fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
        if typed == "off" { Ok(Self(Kelvin::from_kelvin(0))) } else { Kelvin::from_text(typed).map(Self) }
    }

    fn to_value(&self) -> Value {
        if self.0.as_kelvin() == 0 { "off".into() } else { self.0.to_value() }
    }
}

mod tmt {
    use super::*;

    pub(super) fn serialize<S: serde::Serializer>(value: &Option<u16>, to: S) -> Result<S::Ok, S::Error> {
        optional::serialize(&value.map(|kelvin| TmtText(Kelvin::from_kelvin(kelvin))), to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u16>, D::Error> {
        Ok(optional::deserialize(from)?.map(|TmtText(at)| at.as_kelvin()))
    }
}

/// NVMe feature 02h, bits 4:0.
fn power_state<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    match u8::deserialize(deserializer)? {
        state @ 0..32 => Ok(Some(state)),
        state => Err(D::Error::custom(format_args!("{state} is no power state: NVMe has 0 to 31"))),
    }
}

/// A `[[sweep.setting]]`.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingTable {
    #[serde(default)]
    name: String,
    #[serde(default, with = "tmt")]
    tmt1: Option<u16>,
    #[serde(default, with = "tmt")]
    tmt2: Option<u16>,
    #[serde(default, deserialize_with = "power_state")]
    power_state: Option<u8>,
    #[serde(default, with = "optional")]
    link: Option<BytesPerSec>,
    #[serde(default, with = "optional")]
    ambient: Option<Kelvin>,
}

impl From<SettingTable> for SweepSetting {
    fn from(table: SettingTable) -> Self {
        let SettingTable { name, tmt1, tmt2, power_state, link, ambient } = table;
        let thermal = ThermalSettings { tmt1_k: tmt1, tmt2_k: tmt2, power_state };
        Self { name, thermal, link, ambient }.named()
    }
}

impl From<SweepSetting> for SettingTable {
    fn from(setting: SweepSetting) -> Self {
        let SweepSetting { name, thermal, link, ambient } = setting;
        let ThermalSettings { tmt1_k, tmt2_k, power_state } = thermal;
        Self { name, tmt1: tmt1_k, tmt2: tmt2_k, power_state, link, ambient }
    }
}

/// A value of `power`.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PowerTable {
    hwmon: Option<String>,
    command: Option<Vec<String>>,
    csv: Option<String>,
    #[serde(serialize_with = "optional::serialize", deserialize_with = "some_period")]
    period: Option<Duration>,
}

fn some_period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    period::deserialize(deserializer).map(Some)
}

impl TryFrom<PowerTable> for PowerSource {
    type Error = &'static str;

    fn try_from(table: PowerTable) -> Result<Self, &'static str> {
        // One reading a second is what NVMe's own power measurement and most meters give.
        let period = table.period.unwrap_or(Duration::from_secs(1));
        match (table.hwmon, table.command, table.csv) {
            (Some(path), None, None) => Ok(Self::Hwmon { path: path.into(), period }),
            (None, Some(argv), None) if argv.is_empty() => {
                Err("`command`: it has no words; write for example [\"read-watts\", \"1\"]")
            }
            (None, Some(argv), None) => Ok(Self::Command { argv, period }),
            (None, None, Some(_)) if table.period.is_some() => {
                Err("`period`: a CSV is merged when the run ends, so it has no `period`")
            }
            (None, None, Some(path)) => Ok(Self::Csv { path: path.into() }),
            _ => Err("a power source is one of `hwmon`, `command` and `csv`"),
        }
    }
}

impl From<PowerSource> for PowerTable {
    fn from(source: PowerSource) -> Self {
        let text = |path: std::path::PathBuf| Some(path.to_string_lossy().into_owned());
        let none = Self::default();
        match source {
            PowerSource::Hwmon { path, period } => Self { hwmon: text(path), period: Some(period), ..none },
            PowerSource::Command { argv, period } => {
                Self { command: Some(argv), period: Some(period), ..none }
            }
            PowerSource::Csv { path } => Self { csv: text(path), ..none },
        }
    }
}
