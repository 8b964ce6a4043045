//! Tables that are not laid out as they are in memory: settings of the drive, power sources.

use std::time::Duration;

use measure::record::ThermalSettings;
use measure::{BytesPerSec, Celsius, Kelvin};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess};
use serde::{Deserialize, Serialize, Serializer};
use toml::Value;

use super::quantity::{PlanValue, optional, period, plain};
use crate::{MeterAddress, MeterClock, MeterSource, MeterStated, SweepSetting};

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
    rate: Option<BytesPerSec>,
    #[serde(default, with = "optional")]
    link: Option<BytesPerSec>,
    #[serde(default, with = "optional")]
    ambient: Option<Celsius>,
}

impl From<SettingTable> for SweepSetting {
    fn from(table: SettingTable) -> Self {
        let SettingTable { name, tmt1, tmt2, power_state, rate, link, ambient } = table;
        let thermal = ThermalSettings { tmt1_k: tmt1, tmt2_k: tmt2, power_state };
        Self { name, thermal, rate, link, ambient }.named()
    }
}

impl From<SweepSetting> for SettingTable {
    fn from(setting: SweepSetting) -> Self {
        let SweepSetting { name, thermal, rate, link, ambient } = setting;
        let ThermalSettings { tmt1_k, tmt2_k, power_state } = thermal;
        Self { name, tmt1: tmt1_k, tmt2: tmt2_k, power_state, rate, link, ambient }
    }
}

/// `power`: an address, a table of older plans, or a list of either.
pub(crate) mod meters {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(meters: &[MeterAddress], to: S) -> Result<S::Ok, S::Error> {
        match meters {
            [only] => to.collect_str(only),
            several => to.collect_seq(several.iter().map(ToString::to_string)),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<MeterAddress>, D::Error> {
        plain::deserialize(from).map(|MeterList(meters)| meters)
    }

    struct MeterList(Vec<MeterAddress>);

    impl PlanValue for MeterList {
        const WANTED: &'static str =
            "the address of a power meter such as \"hwmon:ina226\", or a list of them";

        fn from_text<E: Error>(typed: &str) -> Result<Self, E> {
            typed.parse().map(|meter| Self(vec![meter])).map_err(E::custom)
        }

        fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
            let table = OlderPowerTable::deserialize(MapAccessDeserializer::new(table))?;
            table.meter().map(|meter| Self(vec![meter])).map_err(A::Error::custom)
        }

        fn from_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
            let mut meters = Vec::new();
            while let Some(text) = list.next_element::<String>()? {
                meters.push(text.parse().map_err(A::Error::custom)?);
            }
            Ok(Self(meters))
        }

        /// Never asked for: a list is written by `serialize` above.
        fn to_value(&self) -> Value {
            Value::Array(self.0.iter().map(|meter| meter.to_string().into()).collect())
        }
    }
}

/// A power source as plans before addresses had it.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct OlderPowerTable {
    hwmon: Option<String>,
    command: Option<Vec<String>>,
    csv: Option<String>,
    #[serde(deserialize_with = "some_period")]
    period: Option<Duration>,
}

fn some_period<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    period::deserialize(deserializer).map(Some)
}

impl OlderPowerTable {
    fn meter(self) -> Result<MeterAddress, &'static str> {
        let stated = MeterStated { period: self.period, ..MeterStated::default() };
        let source = match (self.hwmon, self.command, self.csv) {
            (Some(path), None, None) => MeterSource::HwmonPath(path.into()),
            (None, Some(argv), None) if argv.is_empty() => {
                return Err("`command`: it has no words; write for example [\"read-watts\", \"1\"]");
            }
            (None, Some(argv), None) => MeterSource::Exec { argv },
            (None, None, Some(_)) if stated.period.is_some() => {
                return Err("`period`: a CSV is merged when the run ends, so it has no `period`");
            }
            (None, None, Some(path)) => MeterSource::Csv {
                path: path.into(),
                time: "t_s".to_owned(),
                power: "power_w".to_owned(),
                clock: MeterClock::Run,
            },
            _ => return Err("a power source is one of `hwmon`, `command` and `csv`"),
        };
        Ok(MeterAddress { source, stated })
    }
}
