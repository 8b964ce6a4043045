//! What smartctl says, from its JSON (smartmontools, `--json`; schema 1.0): as far as heat and identity need it.
//!
//! Any JSON is taken; what is not there, or not of its kind, is `None`. The exit status of smartctl is a bit mask, of
//! which only the two lowest bits say that there is nothing (smartctl(8), "EXIT STATUS").

use measure::Kelvin;
use serde_json::Value;

use super::super::plausible::{implausible, is_plausible_in_celsius};

/// The command line was not understood, or the device could not be opened or identified.
const EXIT_NOTHING: u64 = 0b11;

/// An answer of smartctl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Type that it was asked with, or has found: `sat`, `scsi`, `sntrealtek`.
    pub device_type: Option<String>,
    /// `ATA`, `NVMe`, `SCSI`.
    pub protocol: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Serial number.
    pub serial: Option<String>,
    /// Firmware.
    pub firmware: Option<String>,
    /// The drive's temperature, where it is plausible.
    pub temperature: Option<Kelvin>,
    /// What it says in its place, in °C.
    pub implausible_celsius: Option<i64>,
    /// Temperature sensors of an NVMe drive behind a bridge, in order; `None` where one is missing in between.
    pub sensors: Vec<Option<Kelvin>>,
    /// Above this the maker promises nothing.
    pub limit: Option<Kelvin>,
    /// The drive's own record of its temperature.
    pub history: Option<SctHistory>,
    /// What an NVMe drive has counted, as far as the bridge passes it.
    pub counters: Option<BridgedCounters>,
    /// What smartctl had to say, errors and warnings.
    pub messages: Vec<String>,
    /// Whether it could do nothing.
    pub failed: bool,
}

/// Counters of an NVMe drive's health log that bridges pass on (NVMe Base 2.3, 5.2.12.1.3): all of them are in its first
/// 512 bytes. What smartctl does not print is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgedCounters {
    /// How often it went into light throttling.
    pub tmt1_transitions: Option<u32>,
    /// How often into heavy.
    pub tmt2_transitions: Option<u32>,
    /// Seconds in light throttling.
    pub tmt1_seconds: Option<u32>,
    /// Seconds in heavy.
    pub tmt2_seconds: Option<u32>,
    /// Minutes at or above the warning threshold.
    pub warning_minutes: Option<u32>,
    /// Minutes at or above the critical threshold.
    pub critical_minutes: Option<u32>,
    /// Written by the host, in thousands of 512 B.
    pub data_units_written: Option<u64>,
}

/// The temperature history of the SCT data table (ACS-4, 8.3.5), oldest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SctHistory {
    /// Minutes between two samples of the drive.
    pub sampling_minutes: u32,
    /// Minutes between two entries.
    pub logging_minutes: u32,
    /// One entry each `logging_minutes`, the newest last; `None` where the drive has no reading.
    pub entries: Vec<Option<Kelvin>>,
}

impl Report {
    /// Reads an answer.
    ///
    /// # Errors
    /// When it is no JSON document of smartctl's.
    pub fn decode(text: &str) -> Result<Self, String> {
        let json: Value =
            serde_json::from_str(text).map_err(|error| format!("smartctl printed no JSON ({error})"))?;
        let own = json.get("smartctl").ok_or("this JSON is not smartctl's")?;
        // A bridge that is asked in the wrong way may answer with zeroes, which are no name.
        let named = |text: &&str| text.chars().any(char::is_alphanumeric);
        let text = |place: &str| json.pointer(place).and_then(Value::as_str).filter(named).map(str::to_owned);
        let messages = own.get("messages").and_then(Value::as_array).into_iter().flatten();
        let current = json.pointer("/temperature/current");
        let sensors = json.pointer("/nvme_smart_health_information_log/temperature_sensors");
        Ok(Self {
            device_type: text("/device/type"),
            protocol: text("/device/protocol"),
            model: text("/model_name").or_else(|| text("/scsi_model_name")),
            serial: text("/serial_number"),
            firmware: text("/firmware_version").or_else(|| text("/scsi_revision")),
            temperature: kelvin(current),
            implausible_celsius: current
                .and_then(Value::as_i64)
                .filter(|celsius| !is_plausible_in_celsius(*celsius)),
            sensors: sensors
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|one| kelvin(Some(one)))
                .collect(),
            // NVMe calls it critical, ATA an operating limit, SCSI a trip point.
            limit: ["critical_limit_max", "op_limit_max", "drive_trip"]
                .iter()
                .find_map(|name| kelvin(json.pointer(&format!("/temperature/{name}")))),
            history: history(&json),
            counters: counters(&json),
            messages: messages.filter_map(|one| one.get("string")?.as_str().map(str::to_owned)).collect(),
            failed: own
                .get("exit_status")
                .and_then(Value::as_u64)
                .is_none_or(|bits| bits & EXIT_NOTHING != 0),
        })
    }

    /// Why it has no temperature.
    pub fn no_temperature(&self) -> String {
        match self.implausible_celsius {
            Some(celsius) => implausible(celsius),
            None => "the drive tells smartctl no temperature".to_owned(),
        }
    }

    /// Whether it says whose answer it is: a bridge asked in the wrong way often gives an empty one.
    pub fn is_somebody(&self) -> bool {
        !self.failed && (self.model.is_some() || self.serial.is_some())
    }
}

/// Whole degrees Celsius as the drive's whole kelvins; `None` for what no drive has.
fn kelvin(celsius: Option<&Value>) -> Option<Kelvin> {
    let celsius = celsius?.as_i64().filter(|celsius| is_plausible_in_celsius(*celsius))?;
    // As NVMe tools do: whole kelvins less 273.
    u16::try_from(celsius + 273).ok().map(Kelvin::from_kelvin)
}

fn counters(json: &Value) -> Option<BridgedCounters> {
    let log = json.get("nvme_smart_health_information_log")?;
    let wide = |name: &str| log.get(name)?.as_u64();
    let count = |name: &str| wide(name).and_then(|count| u32::try_from(count).ok());
    // smartctl 7.3 has the counters of thermal management in its text only.
    Some(BridgedCounters {
        tmt1_transitions: count("thermal_mgmt_temperature_1_transition_count"),
        tmt2_transitions: count("thermal_mgmt_temperature_2_transition_count"),
        tmt1_seconds: count("thermal_mgmt_temperature_1_total_time"),
        tmt2_seconds: count("thermal_mgmt_temperature_2_total_time"),
        warning_minutes: count("warning_temp_time"),
        critical_minutes: count("critical_comp_time"),
        data_units_written: wide("data_units_written"),
    })
}

fn history(json: &Value) -> Option<SctHistory> {
    let history = json.get("ata_sct_temperature_history")?;
    let minutes =
        |name: &str| history.get(name).and_then(Value::as_u64).and_then(|one| u32::try_from(one).ok());
    Some(SctHistory {
        sampling_minutes: minutes("sampling_period_minutes")?,
        logging_minutes: minutes("logging_interval_minutes").filter(|minutes| *minutes > 0)?,
        entries: history.get("table")?.as_array()?.iter().map(|one| kelvin(Some(one))).collect(),
    })
}
