//! What an NVMe drive says about itself: Identify, the health log, and its settings.
//!
//! Over any transport, so that real and simulated drives take the same way. A part that the drive refuses is
//! `null`; only a drive that does not answer at all is an error.

use drive::settings::linux::SysfsController;
use drive::settings::{DriveSettings, Setting, SettingsError};
use measure::Kelvin;
use nvme::feature::Select;
use nvme::feature::session::VolatileWriteCache;
use nvme::host::HostError;
use nvme::identify::IdentifyController;
use nvme::log::LogId;
use nvme::log::supported::{self, SUPPORTED_LOG_LEN};
use nvme::smart::SmartLog;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::settings::SettingJson;
use crate::commands::settings::hctm::{self, HctmJson};
use crate::commands::settings::power_state::{self, StateJson};
use crate::commands::settings::temp_threshold::{self, ThresholdJson};

/// What an NVMe drive says about itself. Temperatures are kelvins as on the wire; `null` is not reported.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NvmePart {
    /// Model name (MN).
    pub(super) model: String,
    /// Serial number (SN).
    pub(super) serial: String,
    /// Firmware revision (FR).
    pub(super) firmware: String,
    /// NVMe qualified name of its subsystem.
    pub(super) subsystem_nqn: Option<String>,
    /// The specification that it follows; `null` when it does not tell.
    pub(super) version: Option<String>,
    /// `nvme0`, and its namespaces' devices.
    pub(super) controller: Option<String>,
    /// Its block devices.
    pub(super) namespaces: Vec<String>,
    /// Total capacity (TNVMCAP).
    pub(super) capacity_bytes: Option<u128>,
    /// Where it warns, and where it is critical (WCTEMP, CCTEMP).
    pub(super) warning_k: Option<u16>,
    /// Critical composite temperature threshold (CCTEMP).
    pub(super) critical_k: Option<u16>,
    /// Host controlled thermal management.
    pub(super) hctm: HctmPart,
    /// The power state; `null` where it does not tell.
    pub(super) power_state: Option<SettingJson<u8>>,
    /// Its power states.
    pub(super) power_states: Vec<StateJson>,
    /// Autonomous power state transitions.
    pub(super) apst: ApstPart,
    /// Where it warns of heat and cold.
    pub(super) thresholds: Vec<ThresholdJson>,
    /// Host memory buffer.
    pub(super) host_memory: HostMemory,
    /// Whether it has no DRAM, as far as that shows.
    pub(super) likely_dram_less: Likely,
    /// Volatile write cache.
    pub(super) write_cache: WriteCache,
    /// The SMART / health log; `null` where it could not be read.
    pub(super) smart: Option<Smart>,
    /// What else it has that a test can use.
    pub(super) offers: Offers,
    /// Decoded values, for the words below the table.
    #[serde(skip)]
    pub(super) identify: IdentifyController,
    #[serde(skip)]
    pub(super) log: Option<SmartLog>,
    #[serde(skip)]
    pub(super) tables: Tables,
}

/// Tables for people, made while the values are at hand.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) power_states: Vec<[String; 6]>,
    pub(super) thresholds: Vec<[String; 4]>,
}

/// Host controlled thermal management.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HctmPart {
    /// Whether it has it (HCTMA).
    pub(super) supported: bool,
    /// Lowest TMT1 (MNTMT).
    pub(super) min_k: Option<u16>,
    /// Highest TMT2 (MXTMT).
    pub(super) max_k: Option<u16>,
    #[serde(flatten)]
    pub(super) values: Option<SettingJson<HctmJson>>,
}

/// Autonomous power state transitions.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ApstPart {
    /// Whether it has them (APSTA).
    pub(super) supported: bool,
    /// The kernel's knob: microseconds, `any` or `auto`; `0` is off.
    pub(super) latency_tolerance_us: Option<String>,
}

/// Host memory for the drive's tables.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HostMemory {
    /// What it would like (HMPRE).
    pub(super) preferred_bytes: Option<u64>,
    /// What it needs at least (HMMIN).
    pub(super) min_bytes: Option<u64>,
    /// Whether it uses some now.
    pub(super) enabled: Option<bool>,
    /// The setting it was given.
    pub(super) size_bytes: Option<u64>,
}

/// Derived from other fields; no drive reports it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Likely {
    /// `null` without evidence for either.
    pub(super) value: Option<bool>,
    /// The evidence for it.
    pub(super) reason: String,
}

/// The volatile write cache.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WriteCache {
    /// Whether it has one (VWC).
    pub(super) present: bool,
    /// Whether it is on; `null` where it does not tell.
    pub(super) enabled: Option<bool>,
}

/// What else a test can use.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Offers {
    /// Settings can be saved, and their defaults be asked for.
    select_and_save: bool,
    /// Dataset Management, deallocate.
    deallocate: bool,
    /// Persistent event log.
    persistent_events: bool,
    /// Power limit.
    power_limit: bool,
    /// Power measurement.
    power_measurement: bool,
    /// OCP's extended SMART page (C0h); `null` where only trying would show it.
    ocp_smart: Option<bool>,
    /// What its own measurement of power says, in watts; `null` without one.
    interval_power_w: Option<f64>,
}

/// The health log.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Smart {
    /// Critical warning bits.
    critical_warning: u8,
    /// Composite temperature.
    pub(super) composite_k: Option<u16>,
    /// Temperature sensors 1 to 8; `null` is not reported.
    pub(super) sensors_k: Vec<Option<u16>>,
    /// Available spare.
    available_spare_percent: u8,
    /// Available spare threshold.
    spare_threshold_percent: u8,
    /// Endurance used, in percent; may exceed 100.
    percentage_used: u8,
    /// Data units read, of 512,000 bytes, rounded up.
    data_units_read: u128,
    /// Data units written, of 512,000 bytes, rounded up.
    data_units_written: u128,
    /// Read commands.
    host_reads: u128,
    /// Write commands.
    host_writes: u128,
    /// Controller busy time.
    busy_minutes: u128,
    /// Power cycles.
    power_cycles: u128,
    /// Hours powered on.
    power_on_hours: u128,
    /// Unsafe shutdowns.
    unsafe_shutdowns: u128,
    /// Media and data integrity errors.
    media_errors: u128,
    /// Entries of the error log over its life.
    error_log_entries: u128,
    /// Time at or above the warning temperature.
    warning_minutes: u32,
    /// Time at or above the critical temperature.
    critical_minutes: u32,
    /// How often light throttling (TMT1) has begun.
    tmt1_transitions: u32,
    /// How often heavy throttling (TMT2) has begun.
    tmt2_transitions: u32,
    /// Light throttling in all.
    tmt1_seconds: u32,
    /// Heavy throttling in all.
    tmt2_seconds: u32,
    /// Energy over its life.
    lifetime_energy_wh: Option<u64>,
}

fn kelvin(temperature: Option<Kelvin>) -> Option<u16> {
    temperature.map(Kelvin::as_kelvin)
}

impl NvmePart {
    /// Asks the drive.
    ///
    /// # Errors
    /// When it is gone, or the system lets nobody ask.
    pub(super) fn read(
        settings: &mut DriveSettings<'_>,
        controller: Option<&SysfsController>,
    ) -> Result<Self, SettingsError> {
        let identify = settings.identify().clone();
        let log = refused(settings.controller().smart_log().map_err(SettingsError::from))?;
        let hctm = if identify.hctm.supported { refused(settings.read(Setting::Hctm))? } else { None };
        let power = refused(settings.read(Setting::PowerState))?;
        let thresholds = {
            let sensors = temp_threshold::sensors(settings);
            temp_threshold::read_all(settings, &sensors)?
        };
        let latency = settings.get(Setting::ApstLatency, Select::Current).ok();
        let tables = Tables {
            power_states: power_state::states_table(
                &identify.power_states,
                power.map(|values| power_state::state(values.current)),
            ),
            thresholds: temp_threshold::thresholds_table(&thresholds),
        };
        let states = identify.power_states.iter().enumerate();
        Ok(Self {
            model: identify.model.clone(),
            serial: identify.serial.clone(),
            firmware: identify.firmware.clone(),
            subsystem_nqn: identify.subsystem_nqn.clone(),
            version: Some(identify.version.to_string()).filter(|version| version != "0.0"),
            controller: controller.map(|controller| controller.name.clone()),
            namespaces: controller.map(|controller| controller.namespaces.clone()).unwrap_or_default(),
            capacity_bytes: identify.total_capacity_bytes,
            warning_k: kelvin(identify.warning_temperature),
            critical_k: kelvin(identify.critical_temperature),
            hctm: HctmPart {
                supported: identify.hctm.supported,
                min_k: kelvin(identify.hctm.min),
                max_k: kelvin(identify.hctm.max),
                values: hctm.map(|values| SettingJson::new(&values, hctm::json)),
            },
            power_state: power.map(|values| SettingJson::new(&values, power_state::state)),
            power_states: states.map(|(number, state)| StateJson::new(number, state)).collect(),
            apst: ApstPart {
                supported: identify.apst_supported,
                latency_tolerance_us: latency.map(|value| value.to_string()),
            },
            thresholds: thresholds
                .iter()
                .map(|(which, values)| temp_threshold::json(*which, values))
                .collect(),
            host_memory: host_memory(settings, &identify)?,
            likely_dram_less: dram_less(&identify),
            write_cache: write_cache(settings, &identify)?,
            offers: offers(settings, &identify, log.as_ref())?,
            smart: log.as_ref().map(Smart::from_log),
            identify,
            log,
            tables,
        })
    }
}

/// What a drive refuses is absent; that it is gone, or closed to us, stays an error.
fn refused<V>(answer: Result<V, SettingsError>) -> Result<Option<V>, SettingsError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(SettingsError::Host(error)) if error.status().is_some() => Ok(None),
        Err(SettingsError::Host(HostError::Decode { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

fn host_memory(
    settings: &mut DriveSettings<'_>,
    identify: &IdentifyController,
) -> Result<HostMemory, SettingsError> {
    let needs = &identify.host_memory;
    let asked = needs.preferred.is_some() || needs.min.is_some();
    let now =
        if asked { refused(settings.controller().host_memory().map_err(SettingsError::from))? } else { None };
    Ok(HostMemory {
        preferred_bytes: needs.preferred.map(measure::Bytes::as_u64),
        min_bytes: needs.min.map(measure::Bytes::as_u64),
        enabled: now.map(|(buffer, _)| buffer.enabled),
        // In pages of the controller, which are 4 KiB with every Linux host.
        size_bytes: now.map(|(_, attributes)| u64::from(attributes.size_pages) * 4096),
    })
}

/// Drives with DRAM of their own ask for no host memory; that is all that a drive tells about it.
fn dram_less(identify: &IdentifyController) -> Likely {
    match identify.host_memory.preferred {
        Some(preferred) => Likely {
            value: Some(true),
            reason: format!(
                "it would like {preferred} of the host's memory (HMPRE), as drives without DRAM do"
            ),
        },
        None => Likely {
            value: None,
            reason:
                "it asks for no memory of the host (HMPRE is 0): it has DRAM of its own, or does without any"
                    .to_owned(),
        },
    }
}

fn write_cache(
    settings: &mut DriveSettings<'_>,
    identify: &IdentifyController,
) -> Result<WriteCache, SettingsError> {
    let present = identify.has_write_cache();
    let cache = if present {
        let cache = settings.controller().feature::<VolatileWriteCache>();
        refused(cache.map_err(SettingsError::from))?
    } else {
        None
    };
    Ok(WriteCache { present, enabled: cache.map(|cache| cache.enabled) })
}

fn offers(
    settings: &mut DriveSettings<'_>,
    identify: &IdentifyController,
    log: Option<&SmartLog>,
) -> Result<Offers, SettingsError> {
    let ocp = has_ocp(settings, identify)?;
    let power = log.and_then(|log| log.interval_power.as_ref());
    Ok(Offers {
        select_and_save: identify.has_select_and_save(),
        deallocate: identify.has_dataset_management(),
        persistent_events: identify.has_persistent_events(),
        power_limit: identify.has_power_limit(),
        power_measurement: identify.has_power_measurement(),
        ocp_smart: ocp,
        interval_power_w: power.map(|interval| interval.power.watts().as_f64()),
    })
}

/// Whether there is OCP's page. Only drives that list their pages (NVMe 2.0) are asked: others would note a failed
/// command in their error log.
fn has_ocp(
    settings: &mut DriveSettings<'_>,
    identify: &IdentifyController,
) -> Result<Option<bool>, SettingsError> {
    if identify.version.major < 2 {
        return Ok(None);
    }
    let mut page = [0; SUPPORTED_LOG_LEN];
    let read = settings.controller().log_page(LogId::SUPPORTED, &mut page);
    let read = refused(read.map_err(SettingsError::from))?;
    let pages = read.and_then(|()| supported::decode(&page).ok());
    Ok(pages.map(|pages| pages.contains(&LogId::OCP_SMART)))
}

impl Smart {
    fn from_log(log: &SmartLog) -> Self {
        Self {
            critical_warning: log.critical_warning.bits(),
            composite_k: kelvin(log.composite),
            sensors_k: log.sensors.iter().map(|sensor| kelvin(*sensor)).collect(),
            available_spare_percent: log.available_spare_percent,
            spare_threshold_percent: log.spare_threshold_percent,
            percentage_used: log.percentage_used,
            data_units_read: log.data_units_read.as_u128(),
            data_units_written: log.data_units_written.as_u128(),
            host_reads: log.host_reads,
            host_writes: log.host_writes,
            busy_minutes: log.busy_minutes,
            power_cycles: log.power_cycles,
            power_on_hours: log.power_on_hours,
            unsafe_shutdowns: log.unsafe_shutdowns,
            media_errors: log.media_errors,
            error_log_entries: log.error_log_entries,
            warning_minutes: log.warning_minutes,
            critical_minutes: log.critical_minutes,
            tmt1_transitions: log.tmt1_transitions,
            tmt2_transitions: log.tmt2_transitions,
            tmt1_seconds: log.tmt1_seconds,
            tmt2_seconds: log.tmt2_seconds,
            lifetime_energy_wh: log.lifetime_energy_wh,
        }
    }
}
