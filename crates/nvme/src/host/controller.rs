//! Typed calls to one controller.
//!
//! Each call is one command, and a failing status is an error. Nothing is cached: a setting may change behind our
//! back. Which value a drive will take, and whether it has taken it, is the matter of whoever sets one.

use std::fmt;

use super::{AdminTransport, Data, HostError};
use crate::DecodeError;
use crate::command::{AdminCommand, Cns, Completion, GetFeatures, GetLogPage, Identify, SetFeatures};
use crate::feature::host_memory::{HOST_MEMORY_ATTRIBUTES_LEN, HostMemoryAttributes, HostMemoryBuffer};
use crate::feature::{Capabilities, DwordFeature, Select};
use crate::identify::{IdentifyController, IdentifyNamespace, decode_active_namespaces};
use crate::log::LogId;
use crate::smart::{SMART_LOG_LEN, SmartLog};

/// One controller behind a transport of any kind, owned or borrowed for `'a`.
pub struct Controller<'a> {
    transport: Box<dyn AdminTransport + 'a>,
}

/// A feature's values, as far as the drive reports them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureValues<V> {
    /// In force now.
    pub current: V,
    /// As the drive was made; `None` when the drive does not report it.
    pub default: Option<V>,
    /// In force after the next reset; `None` when the drive does not report it.
    pub saved: Option<V>,
    /// What can be done with it; `None` when the drive does not report it.
    pub capabilities: Option<Capabilities>,
}

impl<'a> Controller<'a> {
    /// A controller behind `transport`.
    pub fn new(transport: impl AdminTransport + 'a) -> Self {
        Self { transport: Box::new(transport) }
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        self.transport.name()
    }

    /// Sends any command and hands back its completion, whatever its status.
    ///
    /// # Errors
    /// [`HostError`] of the transport.
    pub fn complete(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        self.transport.admin(command, data)
    }

    /// Sends any command; a failing status is an error.
    ///
    /// # Errors
    /// [`HostError`] of the transport, or [`HostError::Status`].
    pub fn send(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        let completion = self.complete(command, data)?;
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

    fn decoded<V>(&self, decoded: Result<V, DecodeError>) -> Result<V, HostError> {
        decoded.map_err(|source| HostError::Decode { device: self.name().to_owned(), source })
    }
}

/// Identify and log pages.
impl Controller<'_> {
    fn identify_page(&mut self, command: Identify) -> Result<Vec<u8>, HostError> {
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
        let page = self.identify_page(Identify::new(Cns::ACTIVE_NAMESPACES, 0))?;
        self.decoded(decode_active_namespaces(&page))
    }

    /// The start of a log page of the controller, raw, as far as it fits into `page`.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn log_page(&mut self, lid: LogId, page: &mut [u8]) -> Result<(), HostError> {
        let command = GetLogPage::controller(lid, page.len() as u64);
        self.send(&AdminCommand::GetLogPage(command), Data::Read(page)).map(|_| ())
    }

    /// The SMART log.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn smart_log(&mut self) -> Result<SmartLog, HostError> {
        let mut page = [0; SMART_LOG_LEN];
        self.log_page(LogId::SMART, &mut page)?;
        self.decoded(SmartLog::decode(&page))
    }
}

/// Features.
impl Controller<'_> {
    /// Dword 0 of the answer to a Get Features without data.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn get_features(&mut self, command: GetFeatures) -> Result<u32, HostError> {
        Ok(self.send(&AdminCommand::GetFeatures(command), Data::None)?.dword0())
    }

    /// Sends a Set Features without data; says what dword 0 of the answer is.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn set_features(&mut self, command: SetFeatures) -> Result<u32, HostError> {
        Ok(self.send(&AdminCommand::SetFeatures(command), Data::None)?.dword0())
    }

    /// The current value of a feature.
    ///
    /// # Errors
    /// As [`Controller::send`]; [`HostError::Decode`] for a value that means nothing.
    pub fn feature<F: DwordFeature>(&mut self) -> Result<F, HostError> {
        let dword = self.get_features(F::get(Select::Current))?;
        self.decoded(F::decode(dword))
    }

    /// Every value of the feature that `command` reads, raw, as far as the drive reports it.
    ///
    /// `has_select` is [`IdentifyController::has_select_and_save`]; without it a drive may ignore the
    /// selection and return its current value as "default", so it is not asked.
    ///
    /// # Errors
    /// As [`Controller::send`] for the current value; another that the drive refuses is `None`.
    pub fn feature_values(
        &mut self,
        command: GetFeatures,
        has_select: bool,
    ) -> Result<FeatureValues<u32>, HostError> {
        let mut values =
            FeatureValues::only(self.get_features(GetFeatures { select: Select::Current, ..command })?);
        if has_select {
            let mut get = |select| unless_refused(self.get_features(GetFeatures { select, ..command }));
            values.default = get(Select::Default)?;
            values.saved = get(Select::Saved)?;
            values.capabilities = get(Select::Supported)?.map(Capabilities::decode);
        }
        Ok(values)
    }

    /// The host memory buffer: whether it is in use, and how large it is.
    ///
    /// # Errors
    /// As [`Controller::send`].
    pub fn host_memory(&mut self) -> Result<(HostMemoryBuffer, HostMemoryAttributes), HostError> {
        let mut attributes = [0; HOST_MEMORY_ATTRIBUTES_LEN];
        let command = AdminCommand::GetFeatures(HostMemoryBuffer::get(Select::Current));
        let dword = self.send(&command, Data::Read(&mut attributes))?.dword0();
        let buffer = self.decoded(HostMemoryBuffer::decode(dword))?;
        Ok((buffer, self.decoded(HostMemoryAttributes::decode(&attributes))?))
    }
}

impl<V> FeatureValues<V> {
    /// The current value, and nothing else reported.
    pub const fn only(current: V) -> Self {
        Self { current, default: None, saved: None, capabilities: None }
    }

    /// The same with every value as `meaning` has it.
    pub fn map<M>(self, meaning: impl Fn(V) -> M) -> FeatureValues<M> {
        FeatureValues {
            current: meaning(self.current),
            default: self.default.map(&meaning),
            saved: self.saved.map(&meaning),
            capabilities: self.capabilities,
        }
    }
}

impl fmt::Debug for Controller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Controller").field(&self.name()).finish()
    }
}

/// What a drive refuses to report is absent; any other failure stays one.
///
/// # Errors
/// Every error but [`HostError::Status`].
pub fn unless_refused<V>(answer: Result<V, HostError>) -> Result<Option<V>, HostError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(HostError::Status { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod test;
