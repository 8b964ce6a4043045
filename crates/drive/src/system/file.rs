//! A file on a file system as a drive: it is loaded for the drive under it.

use std::path::Path;
use std::sync::Arc;

use measure::Bytes;
use measure::record::LinkFacts;
use plan::check::TargetFacts;
use plan::{Load, Plan, TelemetryPlan};

use super::disk::{self, SmartLogAccess};
use super::facts::{VirtualSsd, identify};
use super::needs::{Needs, fits_block};
use super::scratch::{OpenFile, ScratchFile, direct_block_bytes};
use super::settings::{self, SettingsRoute};
use super::{fill, limits, unknown_drive};
use crate::address::{Address, FileAddress};
use crate::drive::{Drive, DriveIo, Examination, FillProgress, Prepared, SettingsLast, Stated, WatchSources};
use crate::error::DriveError;
use crate::io::{Access, probe_ring};
use crate::link;
use crate::settings::DriveSettings;
use crate::settings::linux::SysfsController;
use crate::telemetry::discover::{self, Place, SYSFS};

/// Which part of the plan's seed fills files; loads use parts counted from 0.
const SEED_OF_FILL: u64 = u64::MAX;

/// A file on a file system.
pub struct FileDrive {
    address: Address,
    file: FileAddress,
    stated: Stated,
    examined: Option<ExaminedFile>,
}

/// What looking at it has shown.
struct ExaminedFile {
    scratch: ScratchFile,
    examination: Examination,
    smart_log: Option<SmartLogAccess>,
}

impl FileDrive {
    /// The file that an address names.
    pub fn new(address: &Address, file: &FileAddress, stated: Stated) -> Self {
        Self { address: address.clone(), file: file.clone(), stated, examined: None }
    }

    fn look(&self) -> Result<ExaminedFile, DriveError> {
        let scratch = ScratchFile::look(&self.file)?;
        self.stated.refuse_destroy(&self.address)?;
        let mut facts = unknown_drive("file", scratch.size, scratch.block_bytes);
        let mut virtual_ssd = None;
        let smart_log = identify(&mut facts, &mut virtual_ssd, Place::File(&self.file.path));
        facts.slc_bytes = self.stated.slc.map(Bytes::as_u64).or(facts.slc_bytes);
        let limits = TargetFacts {
            read_only: scratch.read_only(),
            direct: scratch.direct,
            ..limits(&self.address, &facts)
        };
        let origin = VirtualSsd::origin(virtual_ssd);
        let examination =
            Examination { facts, origin, limits, worn_by_writes: true, buffers_io: true, switched_on: false };
        Ok(ExaminedFile { scratch, examination, smart_log: Some(smart_log) })
    }
}

impl Drive for FileDrive {
    fn address(&self) -> &Address {
        &self.address
    }

    fn disk(&self) -> Option<String> {
        disk::name(Place::File(&self.file.path))
    }

    fn link(&self) -> Option<LinkFacts> {
        link::of_disk(Path::new(SYSFS), &self.disk()?)
    }

    fn examine(&mut self) -> Result<Examination, DriveError> {
        let examined = self.look()?;
        Ok(self.examined.insert(examined).examination.clone())
    }

    fn settings_last(&self) -> Option<SettingsLast> {
        None
    }

    fn settings(&mut self) -> Result<DriveSettings<'static>, DriveError> {
        Err(DriveError::NoSettings { address: self.address.to_string() })
    }

    fn prepare(&mut self, plan: &Plan, progress: &mut FillProgress<'_>) -> Result<Prepared, DriveError> {
        let place = Place::File(&self.file.path);
        let ExaminedFile { scratch, examination, smart_log } = match self.examined.take() {
            Some(examined) => examined,
            None => self.look()?,
        };
        let route = SettingsRoute::System(place);
        let settings = settings::prepare(&self.address, route, &examination.facts, plan)?;
        let needs = Needs::new(plan, scratch.size, examination.limits.slc)?;
        probe_ring()?;
        let (access, mut notes) = open(&scratch, plan, &needs, progress)?;
        let (samplers, missing) = disk::sources(place, smart_log, &plan.telemetry);
        notes.extend(missing);
        Ok(Prepared { io: DriveIo::RealTime { access, samplers }, settings, notes })
    }

    /// The drive under it is watched; the file need not be there, and is not made.
    fn watch(&mut self, periods: &TelemetryPlan) -> Result<WatchSources, DriveError> {
        let place = Place::File(&self.file.path);
        let none = |why| DriveError::NothingToWatch { address: self.address.to_string(), why };
        discover::disk(place, Path::new(SYSFS)).map_err(none)?;
        let settings = SysfsController::under(place, Path::new(SYSFS)).ok();
        let settings = settings.and_then(|controller| controller.settings().ok());
        let settings = settings.map(|mut settings| settings.thermal()).unwrap_or_default();
        Ok(disk::watch(place, settings, periods))
    }

    fn again(&self) -> Box<dyn Drive> {
        Box::new(Self::new(&self.address, &self.file, self.stated.clone()))
    }
}

fn open(
    scratch: &ScratchFile,
    plan: &Plan,
    needs: &Needs,
    progress: &mut FillProgress<'_>,
) -> Result<(Access, Vec<String>), DriveError> {
    let mut opened = scratch.open(needs)?;
    let mut notes: Vec<String> = opened.note.take().into_iter().collect();
    let direct = needs.direct.then(|| scratch.open_direct(&opened.file, needs.changes())).transpose()?;
    check_blocks(scratch, plan)?;
    notes.extend(fill_holes(scratch, &opened, plan, needs, progress)?);
    // The file opened first holds the lock, so it stays open whoever uses it.
    let access = Access::regular_file(direct.map(Arc::new), Arc::new(opened.file), scratch.size);
    Ok((access, notes))
}

/// A new file shows only now what its file system asks of direct I/O.
fn check_blocks(scratch: &ScratchFile, plan: &Plan) -> Result<(), DriveError> {
    let reported = direct_block_bytes(&scratch.path).filter(|block| *block > 0);
    let block_bytes = reported.unwrap_or(scratch.block_bytes);
    let mut loads = plan.phases.iter().flat_map(|phase| &phase.loads);
    let misfits = |load: &&Load| load.direct && !fits_block(load, block_bytes);
    loads.find(misfits).map_or(Ok(()), |load| {
        Err(DriveError::Block { path: scratch.path.clone(), load: load.name.clone(), block_bytes })
    })
}

/// Fills what the plan reads and was never written; says what it did, or why it could not.
fn fill_holes(
    scratch: &ScratchFile,
    opened: &OpenFile,
    plan: &Plan,
    needs: &Needs,
    progress: &mut FillProgress<'_>,
) -> Result<Option<String>, DriveError> {
    let holes = fill::holes(scratch, &opened.file, &needs.reads)?;
    let bytes = Bytes::new(fill::length(&holes));
    if bytes == Bytes::ZERO {
        return Ok(None);
    }
    let path = scratch.path.display();
    if !opened.ours {
        return Ok(Some(format!(
            "{bytes} of what is read of {path} were never written: the file system answers there, not the drive. \
             heatsoak fills only files that it has made"
        )));
    }
    fill::fill(scratch, &opened.file, &holes, plan.seed.part(SEED_OF_FILL), progress)?;
    Ok(Some(format!("{bytes} of {path} that were never written were filled before the run")))
}
