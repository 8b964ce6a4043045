//! The null drive: completes at once, and shows how fast heatsoak itself is.

use measure::Bytes;
use measure::record::{LinkFacts, Origin};
use plan::{Plan, TelemetryPlan};

use super::{limits, unknown_drive};
use crate::address::Address;
use crate::drive::{Drive, DriveIo, Examination, FillProgress, Prepared, SettingsLast, Stated, WatchSources};
use crate::error::DriveError;
use crate::io::{Access, NULL_BLOCK_BYTES};
use crate::settings::DriveSettings;
use crate::system::settings::refuse_settings;
use crate::telemetry;

/// The null drive.
#[derive(Clone, Debug)]
pub struct NullDrive {
    address: Address,
    size: Bytes,
    stated: Stated,
}

impl NullDrive {
    /// One of `size`.
    pub fn new(address: &Address, size: Bytes, stated: Stated) -> Self {
        Self { address: address.clone(), size, stated }
    }
}

impl Drive for NullDrive {
    fn address(&self) -> &Address {
        &self.address
    }

    fn link(&self) -> Option<LinkFacts> {
        None
    }

    fn examine(&mut self) -> Result<Examination, DriveError> {
        self.stated.refuse_destroy(&self.address)?;
        let mut facts = unknown_drive("null", self.size, NULL_BLOCK_BYTES);
        facts.slc_bytes = self.stated.slc.map(Bytes::as_u64);
        let limits = limits(&self.address, &facts);
        Ok(Examination {
            facts,
            origin: Origin::Device,
            limits,
            worn_by_writes: false,
            buffers_io: false,
            switched_on: false,
        })
    }

    fn settings_last(&self) -> Option<SettingsLast> {
        None
    }

    fn settings(&mut self) -> Result<DriveSettings<'static>, DriveError> {
        Err(DriveError::NoSettings { address: self.address.to_string() })
    }

    fn prepare(&mut self, plan: &Plan, _: &mut FillProgress<'_>) -> Result<Prepared, DriveError> {
        refuse_settings(&self.address, plan)?;
        let samplers = telemetry::power::samplers(&plan.telemetry.power).collect();
        let io = DriveIo::RealTime { access: Access::null(), samplers };
        Ok(Prepared { io, settings: None, notes: Vec::new() })
    }

    fn watch(&mut self, _: &TelemetryPlan) -> Result<WatchSources, DriveError> {
        let why = "there is no drive behind it".to_owned();
        Err(DriveError::NothingToWatch { address: self.address.to_string(), why })
    }

    fn again(&self) -> Box<dyn Drive> {
        Box::new(self.clone())
    }
}
