//! What everything above a drive is written against, whatever is behind its address.
//!
//! A file, a device, a subsystem on a network, the null drive and a twin are each one implementation; who opens them by
//! their address is the command line, in one place. Making one touches nothing: it is looked at when it is
//! [examined](Drive::examine), and opened for load when a plan is [prepared](Drive::prepare).

use std::ops::ControlFlow;

use measure::Bytes;
use measure::record::{DriveFacts, LinkFacts, Origin, ThermalSettings};
use nvme::host::tcp::GiveUp;
use plan::check::TargetFacts;
use plan::{Plan, TelemetryPlan};

use crate::address::Address;
use crate::error::DriveError;
use crate::guard::Permission;
use crate::io::{Access, VirtualDrive};
use crate::settings::DriveSettings;
use crate::settings::journal::{Journals, places};
use crate::settings::linux::SysfsController;
use crate::telemetry::Sampler;

/// A drive, by its address.
pub trait Drive {
    /// The address it was opened by.
    fn address(&self) -> &Address;

    /// The kernel's name of the disk at or under it, such as `nvme0n1`; `None` where the kernel has none for it.
    fn disk(&self) -> Option<String> {
        None
    }

    /// The kernel's NVMe controller of it.
    fn controller(&self) -> Option<SysfsController> {
        None
    }

    /// Its link to the host, as it is now; `None` where it is not known.
    fn link(&self) -> Option<LinkFacts>;

    /// Looks at it and changes nothing: who it is, and what a plan may do with it.
    ///
    /// # Errors
    /// When it is not there, or is not what the address says; for a device to be written to, all that speaks
    /// against that.
    fn examine(&mut self) -> Result<Examination, DriveError>;

    /// How long a change of its settings lasts; `None` for what has none of its own, such as a file.
    fn settings_last(&self) -> Option<SettingsLast>;

    /// Its settings, to be read and changed.
    ///
    /// # Errors
    /// When it has none, or does not let us ask.
    fn settings(&mut self) -> Result<DriveSettings<'static>, DriveError>;

    /// Where what is found of its settings is written down before they are changed: the first of these; all are
    /// looked at for what an interrupted run has left.
    fn journals(&self) -> Vec<Journals> {
        places()
    }

    /// Whether it will take these settings, as far as that can be known without touching it.
    ///
    /// # Errors
    /// Why it refuses them.
    fn check_settings(&self, _wanted: &ThermalSettings) -> Result<(), DriveError> {
        Ok(())
    }

    /// Makes it ready for `plan`: opens it, and makes, extends or fills a file as far as its rules allow.
    ///
    /// # Errors
    /// When the plan would do what may not be done, or the system refuses. Nothing was done then, or it was taken back
    /// as far as that goes.
    fn prepare(&mut self, plan: &Plan, progress: &mut FillProgress<'_>) -> Result<Prepared, DriveError>;

    /// Finds its sources of readings, to be watched under the load of others. Nothing is opened for load, made or written;
    /// what this process may not read is done without, and noted.
    ///
    /// # Errors
    /// When it is not there, or there is nothing to be read of it.
    fn watch(&mut self, periods: &TelemetryPlan) -> Result<WatchSources, DriveError>;

    /// The same drive for another run: a simulated one as it has become, hot and full; a real one looked at anew.
    fn again(&self) -> Box<dyn Drive>;
}

/// What the user states of a drive: what it does not tell itself, and what may be done to it.
#[derive(Clone, Debug, Default)]
pub struct Stated {
    /// Size of its fast write cache.
    pub slc: Option<Bytes>,
    /// That its data may be destroyed.
    pub destroy: Option<Permission>,
    /// Ends every wait for it.
    pub give_up: GiveUp,
}

impl Stated {
    /// Refuses the word that allows erasure where there is no block device.
    pub(crate) fn refuse_destroy(&self, address: &Address) -> Result<(), DriveError> {
        match self.destroy {
            Some(_) => Err(DriveError::NoDevice { address: address.to_string() }),
            None => Ok(()),
        }
    }
}

/// What looking at a drive has shown.
#[derive(Clone, Debug)]
pub struct Examination {
    /// Who and how large it is.
    pub facts: DriveFacts,
    /// Where its numbers will come from.
    pub origin: Origin,
    /// What a plan's check has to know.
    pub limits: TargetFacts,
    /// Whether writing to it takes endurance from flash.
    pub worn_by_writes: bool,
    /// Whether I/O in flight has buffers in this machine's memory.
    pub buffers_io: bool,
    /// Whether it is switched on at this moment, so that its start-up is seen.
    pub switched_on: bool,
}

/// How long a change of settings lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingsLast {
    /// As long as this process, which has the simulated drive.
    Process,
    /// Until the drive's next power cycle or reset.
    PowerCycle,
    /// As long as our connection, which is the controller's life (NVMe over Fabrics, dynamic controllers).
    Connection,
}

/// A drive that is ready for a plan.
pub struct Prepared {
    /// How I/O and readings go, and by which clock.
    pub io: DriveIo,
    /// Its settings, where there is a way to them.
    pub settings: Option<PreparedSettings>,
    /// What was done for the plan, and what a reader of the numbers has to know.
    pub notes: Vec<String>,
}

/// How I/O and readings go, and by which clock.
pub enum DriveIo {
    /// In real time: a path for each thread of the load, and sources that are read by threads of their own.
    RealTime {
        /// Makes the paths.
        access: Access,
        /// The sources.
        samplers: Vec<Box<dyn Sampler>>,
    },
    /// In simulated time, which stands still until the drive has nothing left to do in it.
    Simulated(Box<dyn VirtualDrive>),
}

/// A drive that is ready to be watched.
pub struct WatchSources {
    /// Who it is.
    pub facts: DriveFacts,
    /// Where its numbers come from.
    pub origin: Origin,
    /// Its thresholds and power state, as far as this process may read them.
    pub settings: ThermalSettings,
    /// How it is read.
    pub io: WatchIo,
    /// What cannot be read, and why.
    pub notes: Vec<String>,
}

/// How a watched drive is read, and by which clock.
pub enum WatchIo {
    /// In real time: sources that are read by threads of their own.
    RealTime(Vec<Box<dyn Sampler>>),
    /// In simulated time: it does nothing unless somebody makes a load.
    Simulated(Box<dyn VirtualDrive>),
}

/// The way to a drive's settings, found good for a plan.
pub struct PreparedSettings {
    /// The drive.
    pub drive: DriveSettings<'static>,
    /// The namespace that is under load, where it has a number.
    pub nsid: Option<u32>,
    /// Where what is found on it is written down.
    pub journals: Journals,
}

/// Told how much of how much of a file is filled; may break off.
pub type FillProgress<'a> = dyn FnMut(Bytes, Bytes) -> ControlFlow<()> + 'a;
