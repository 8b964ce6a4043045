//! Typed calls to one controller.
//!
//! Each call is one command (those that read back or page through a log are several), and a failing
//! status is an error. Nothing is cached: a setting may change behind our back.

use super::{AdminTransport, Data, HostError};
use crate::command::{
    AdminCommand, Cns, Completion, GetFeatures, GetLogPage, Identify, SetFeatures, log_action,
};
use crate::feature::host_memory::{HOST_MEMORY_ATTRIBUTES_LEN, HostMemoryAttributes, HostMemoryBuffer};
use crate::feature::power::{APST_LEN, Apst, ApstTable};
use crate::feature::session::{TIMESTAMP_LEN, Timestamp};
use crate::feature::temperature::{TemperatureThreshold, ThresholdSelector};
use crate::feature::{Capabilities, DwordFeature, FeatureId, Select};
use crate::hctm::{Hctm, HctmLimits};
use crate::identify::{IdentifyController, IdentifyNamespace, NamespaceId, decode_active_namespaces};
use crate::log::LogId;
use crate::log::errors::{ERROR_ENTRY_LEN, ErrorEntry};
use crate::log::firmware::{FIRMWARE_LOG_LEN, FirmwareSlots};
use crate::log::ocp::{OCP_SMART_LEN, OcpSmart};
use crate::log::persistent::{PERSISTENT_HEADER_LEN, PersistentEventLog, PersistentHeader};
use crate::log::power_measurement::{POWER_MEASUREMENT_HEADER_LEN, PowerMeasurementLog};
use crate::smart::{SMART_LOG_LEN, SmartLog};

/// One controller, reached through any transport.
#[derive(Debug)]
pub struct Controller<T> {
    transport: T,
}

/// A feature's values, as far as the drive tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureValues<F> {
    /// In force now.
    pub current: F,
    /// As the drive was made; `None` when the drive does not tell.
    pub default: Option<F>,
    /// In force after the next reset; `None` when the drive does not tell.
    pub saved: Option<F>,
    /// What can be done with it; `None` when the drive does not tell.
    pub capabilities: Option<Capabilities>,
}

/// Most bytes of one Get Log Page: every controller moves a page of memory, however small its MDTS.
const LOG_CHUNK_BYTES: u64 = 4096;

impl<T: AdminTransport> Controller<T> {
    /// A controller behind `transport`.
    pub const fn new(transport: T) -> Self {
        Self { transport }
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        self.transport.name()
    }

    /// The transport, for commands that have no call here.
    pub const fn transport(&mut self) -> &mut T {
        &mut self.transport
    }

    /// The transport again.
    pub fn into_transport(self) -> T {
        self.transport
    }

    /// Sends any command; a failing status is an error.
    ///
    /// # Errors
    /// [`HostError`] of the transport, or [`HostError::Status`].
    pub fn send(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        let completion = self.transport.admin(command, data)?;
        if completion.status.is_success() {
            return Ok(completion);
        }
        Err(HostError::Status {
            device: self.name().to_owned(),
            command: command.to_string(),
            opcode: command.opcode(),
            status: completion.status,
        })
    }

    fn decoded<V>(&self, decoded: Result<V, crate::DecodeError>) -> Result<V, HostError> {
        decoded.map_err(|source| HostError::Decode { device: self.name().to_owned(), source })
    }
}

/// Identify.
impl<T: AdminTransport> Controller<T> {
    /// The raw page that `command` asks for.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn identify_page(&mut self, command: Identify) -> Result<Vec<u8>, HostError> {
        let mut page = vec![0; Identify::LEN];
        self.send(&AdminCommand::Identify(command), Data::Read(&mut page))?;
        Ok(page)
    }

    /// What the controller says about itself.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn identify_controller(&mut self) -> Result<IdentifyController, HostError> {
        let page = self.identify_page(Identify::controller())?;
        self.decoded(IdentifyController::decode(&page))
    }

    /// What a namespace says about itself.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn identify_namespace(&mut self, nsid: u32) -> Result<IdentifyNamespace, HostError> {
        let page = self.identify_page(Identify::namespace(nsid))?;
        self.decoded(IdentifyNamespace::decode(&page))
    }

    /// The first 1024 active namespaces, ascending.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn active_namespaces(&mut self) -> Result<Vec<u32>, HostError> {
        let page = self.identify_page(Identify::of(Cns::ACTIVE_NAMESPACES, 0))?;
        self.decoded(decode_active_namespaces(&page))
    }

    /// The lasting identifiers of a namespace.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn namespace_ids(&mut self, nsid: u32) -> Result<Vec<NamespaceId>, HostError> {
        let page = self.identify_page(Identify::of(Cns::NAMESPACE_IDS, nsid))?;
        self.decoded(NamespaceId::decode_all(&page))
    }
}

/// Log pages.
impl<T: AdminTransport> Controller<T> {
    /// The first `len_bytes` of a page of the controller, raw.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn log_page(&mut self, lid: LogId, len_bytes: usize) -> Result<Vec<u8>, HostError> {
        self.log_part(GetLogPage::controller(lid, len_bytes as u64), len_bytes)
    }

    fn log_part(&mut self, command: GetLogPage, len_bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut page = vec![0; len_bytes];
        self.send(&AdminCommand::GetLogPage(command), Data::Read(&mut page))?;
        Ok(page)
    }

    /// A page longer than one command moves, piece by piece. `len_bytes` is rounded up to dwords.
    fn long_log_page(&mut self, first: GetLogPage, len_bytes: u64) -> Result<Vec<u8>, HostError> {
        let mut page = Vec::new();
        while (page.len() as u64) < len_bytes {
            let offset = page.len() as u64;
            let part = (len_bytes - offset).min(LOG_CHUNK_BYTES).next_multiple_of(4);
            let command = GetLogPage { len_bytes: part, ..first }.at(offset);
            page.extend(self.log_part(command, part as usize)?);
        }
        Ok(page)
    }

    fn limited(&self, log: &'static str, len_bytes: u64, limit: u64) -> Result<u64, HostError> {
        if len_bytes <= limit {
            return Ok(len_bytes);
        }
        Err(HostError::TooLong { device: self.name().to_owned(), log, len_bytes, limit })
    }

    /// The SMART page into a buffer of the caller: what a sampler keeps, without allocating.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn smart_page(&mut self, page: &mut [u8; SMART_LOG_LEN]) -> Result<(), HostError> {
        let command = GetLogPage::controller(LogId::SMART, SMART_LOG_LEN as u64);
        self.send(&AdminCommand::GetLogPage(command), Data::Read(page)).map(|_| ())
    }

    /// The SMART log.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn smart_log(&mut self) -> Result<SmartLog, HostError> {
        let mut page = [0; SMART_LOG_LEN];
        self.smart_page(&mut page)?;
        self.decoded(SmartLog::decode(&page))
    }

    /// The latest failures, newest first, at most `entries_max` (Identify Controller says how many there are).
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn error_log(&mut self, entries_max: u16) -> Result<Vec<ErrorEntry>, HostError> {
        let len_bytes = u64::from(entries_max.max(1)) * ERROR_ENTRY_LEN as u64;
        let page = self.long_log_page(GetLogPage::controller(LogId::ERRORS, 0), len_bytes)?;
        self.decoded(ErrorEntry::decode_all(&page))
    }

    /// The firmware slots.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn firmware_slots(&mut self) -> Result<FirmwareSlots, HostError> {
        let page = self.log_page(LogId::FIRMWARE, FIRMWARE_LOG_LEN)?;
        self.decoded(FirmwareSlots::decode(&page))
    }

    /// OCP's extended SMART.
    ///
    /// # Errors
    /// As [`Controller::send`]; [`HostError::Decode`] when the drive uses the page for something else.
    pub fn ocp_smart(&mut self) -> Result<OcpSmart, HostError> {
        let page = self.log_page(LogId::OCP_SMART, OCP_SMART_LEN)?;
        self.decoded(OcpSmart::decode(&page))
    }

    /// The power measurement log, at most `limit` bytes of it.
    ///
    /// # Errors
    /// As [`Controller::send`]; [`HostError::TooLong`] beyond the limit.
    pub fn power_measurement(&mut self, limit: u64) -> Result<PowerMeasurementLog, HostError> {
        let header = self.log_page(LogId::POWER_MEASUREMENT, POWER_MEASUREMENT_HEADER_LEN)?;
        let len_bytes = u64::from(self.decoded(PowerMeasurementLog::len_bytes(&header))?);
        let len_bytes = self.limited("the power measurement log", len_bytes, limit)?;
        let page = self.long_log_page(
            GetLogPage::controller(LogId::POWER_MEASUREMENT, 0),
            len_bytes.max(POWER_MEASUREMENT_HEADER_LEN as u64),
        )?;
        self.decoded(PowerMeasurementLog::decode(&page))
    }

    /// The persistent events, at most `limit` bytes of them.
    ///
    /// Establishes a reporting context and releases it again, also after an error.
    ///
    /// # Errors
    /// As [`Controller::send`]; [`HostError::TooLong`] beyond the limit.
    pub fn persistent_events(&mut self, limit: u64) -> Result<PersistentEventLog, HostError> {
        let establish = GetLogPage {
            specific: log_action::ESTABLISH_AND_READ,
            ..GetLogPage::controller(LogId::PERSISTENT_EVENTS, PERSISTENT_HEADER_LEN as u64)
        };
        let header = self.log_part(establish, PERSISTENT_HEADER_LEN)?;
        let log = self.events_in_context(&header, limit);
        let release = GetLogPage {
            specific: log_action::RELEASE,
            ..GetLogPage::controller(LogId::PERSISTENT_EVENTS, 4)
        };
        let released = self.send(&AdminCommand::GetLogPage(release), Data::None);
        let log = log?;
        released.map(|_| log)
    }

    fn events_in_context(&mut self, header: &[u8], limit: u64) -> Result<PersistentEventLog, HostError> {
        let header = self.decoded(PersistentHeader::decode(header))?;
        let len_bytes = self.limited("the persistent event log", header.len_bytes, limit)?;
        let read =
            GetLogPage { specific: log_action::READ, ..GetLogPage::controller(LogId::PERSISTENT_EVENTS, 0) };
        let page = self.long_log_page(read, len_bytes.max(PERSISTENT_HEADER_LEN as u64))?;
        self.decoded(PersistentEventLog::decode(&page))
    }
}

/// Features.
impl<T: AdminTransport> Controller<T> {
    fn feature_dword(&mut self, command: GetFeatures) -> Result<u32, HostError> {
        Ok(self.send(&AdminCommand::GetFeatures(command), Data::None)?.dword0())
    }

    fn feature_data(&mut self, command: GetFeatures, data: &mut [u8]) -> Result<u32, HostError> {
        Ok(self.send(&AdminCommand::GetFeatures(command), Data::Read(data))?.dword0())
    }

    /// One value of a feature. Other than the current one needs a drive that can select (ONCS bit 4).
    ///
    /// # Errors
    /// As [`Controller::send`]; [`HostError::Decode`] for a value that means nothing.
    pub fn feature<F: DwordFeature>(&mut self, select: Select) -> Result<F, HostError> {
        let dword = self.feature_dword(F::get(select))?;
        self.decoded(F::decode(dword))
    }

    /// What can be done with a feature.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn feature_capabilities(&mut self, fid: FeatureId) -> Result<Capabilities, HostError> {
        self.feature_dword(GetFeatures::controller(fid, Select::Supported)).map(Capabilities::decode)
    }

    /// Every value of a feature that the drive tells: what a journal needs before it changes one.
    ///
    /// `has_select` is [`IdentifyController::has_select_and_save`]; without it a drive may ignore the
    /// selection and return its current value as "default", so it is not asked.
    ///
    /// # Errors
    /// As [`Controller::feature`] for the current value; another that the drive refuses is `None`.
    pub fn feature_values<F: DwordFeature>(
        &mut self,
        has_select: bool,
    ) -> Result<FeatureValues<F>, HostError> {
        let current = self.feature(Select::Current)?;
        if !has_select {
            return Ok(FeatureValues { current, default: None, saved: None, capabilities: None });
        }
        let default = told(self.feature(Select::Default))?;
        let saved = told(self.feature(Select::Saved))?;
        let capabilities = told(self.feature_capabilities(F::ID))?;
        Ok(FeatureValues { current, default, saved, capabilities })
    }

    /// Sets a feature and reads it back. With `save`, the saved value is read back as well.
    ///
    /// # Errors
    /// As [`Controller::send`]; [`HostError::NotApplied`] when the drive keeps another value.
    pub fn set_feature<F: DwordFeature>(&mut self, value: &F, save: bool) -> Result<(), HostError> {
        self.set(value.set(save))?;
        let selects: &[Select] = if save { &[Select::Current, Select::Saved] } else { &[Select::Current] };
        for select in selects {
            let got = self.feature_dword(F::get(*select))?;
            // Compared decoded: a drive may leave garbage in reserved bits.
            let same = F::decode(got).is_ok_and(|got| got.encode() == value.encode());
            self.applied(F::ID, same, value.encode(), got)?;
        }
        Ok(())
    }

    fn set(&mut self, command: SetFeatures) -> Result<(), HostError> {
        self.send(&AdminCommand::SetFeatures(command), Data::None).map(|_| ())
    }

    fn applied(&self, feature: FeatureId, same: bool, wanted: u32, got: u32) -> Result<(), HostError> {
        if same {
            return Ok(());
        }
        let device = self.name().to_owned();
        let (wanted, got) = (format!("{wanted:#010x}"), format!("{got:#010x}"));
        Err(HostError::NotApplied { device, feature, wanted, got })
    }

    /// Checks the thermal management temperatures against the rule, sets them and reads them back.
    ///
    /// # Errors
    /// [`HostError::Hctm`] before anything is sent; then as [`Controller::set_feature`].
    pub fn set_hctm(&mut self, limits: &HctmLimits, wanted: Hctm, save: bool) -> Result<(), HostError> {
        limits.check(wanted).map_err(|source| HostError::Hctm { device: self.name().to_owned(), source })?;
        self.set_feature(&wanted, save)
    }

    /// One temperature threshold.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn temperature_threshold(
        &mut self,
        which: ThresholdSelector,
        select: Select,
    ) -> Result<TemperatureThreshold, HostError> {
        let dword = self.feature_dword(which.get(select))?;
        Ok(TemperatureThreshold::of(which, dword))
    }

    /// Sets one temperature threshold and reads it back.
    ///
    /// # Errors
    /// As [`Controller::set_feature`].
    pub fn set_temperature_threshold(
        &mut self,
        threshold: TemperatureThreshold,
        save: bool,
    ) -> Result<(), HostError> {
        self.set(threshold.set(save))?;
        let selects: &[Select] = if save { &[Select::Current, Select::Saved] } else { &[Select::Current] };
        for select in selects {
            let got = self.temperature_threshold(threshold.which, *select)?;
            let same = got == threshold;
            self.applied(FeatureId::TEMPERATURE_THRESHOLD, same, threshold.encode(), got.encode())?;
        }
        Ok(())
    }

    /// Autonomous power state transition: whether it is on, and its table.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn apst(&mut self, select: Select) -> Result<(Apst, ApstTable), HostError> {
        let mut table = [0; APST_LEN];
        let dword = self.feature_data(Apst::get(select), &mut table)?;
        let apst = self.decoded(Apst::decode(dword))?;
        Ok((apst, self.decoded(ApstTable::decode(&table))?))
    }

    /// The host memory buffer: whether it is in use, and how large it is.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn host_memory(&mut self) -> Result<(HostMemoryBuffer, HostMemoryAttributes), HostError> {
        let mut attributes = [0; HOST_MEMORY_ATTRIBUTES_LEN];
        let dword = self.feature_data(HostMemoryBuffer::get(Select::Current), &mut attributes)?;
        let buffer = self.decoded(HostMemoryBuffer::decode(dword))?;
        Ok((buffer, self.decoded(HostMemoryAttributes::decode(&attributes))?))
    }

    /// The drive's clock.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn timestamp(&mut self) -> Result<Timestamp, HostError> {
        let mut bytes = [0; TIMESTAMP_LEN];
        let command = GetFeatures::controller(FeatureId::TIMESTAMP, Select::Current);
        self.feature_data(command, &mut bytes)?;
        Ok(Timestamp::decode(bytes))
    }
}

/// What a drive refuses to tell is absent; any other failure stays one.
fn told<V>(answer: Result<V, HostError>) -> Result<Option<V>, HostError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.status().is_some() => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[path = "controller_test.rs"]
mod test;
