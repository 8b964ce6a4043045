//! A subsystem on a network as a drive, reached by our own initiator: `nvme-tcp://HOST:PORT/NQN`.
//!
//! A virtual SSD of ours holds nobody's data and may be written to. It is known by a name that nobody owns: what
//! ends in `.invalid` belongs to no one (RFC 2606). Every other subsystem is somebody's drive.

use measure::Bytes;
use measure::record::{DriveFacts, LinkFacts};
use nvme::auth::HostAuth;
use nvme::host::Controller;
use nvme::host::tcp::{GiveUp, TcpController, TcpOptions};
use nvme::identify::IdentifyController;
use plan::check::TargetFacts;
use plan::{Plan, TelemetryPlan};

use super::facts::{VirtualSsd, from_controller};
use super::needs::Needs;
use super::settings::{self, SettingsRoute};
use super::{disk, limits, unknown_drive};
use crate::address::{Address, FabricAddress};
use crate::drive::{
    Drive, DriveIo, Examination, FillProgress, Prepared, SettingsLast, Stated, WatchIo, WatchSources,
};
use crate::error::DriveError;
use crate::io::{Access, Namespace};
use crate::secret;
use crate::settings::DriveSettings;
use crate::telemetry;

/// Why a foreign subsystem is not written to.
const READ_ONLY: &str = "a subsystem on a network may hold somebody's data, and only a virtual SSD of heatsoak is \
    known not to. Use a plan that reads, or let the kernel connect it and give the device away";

/// I/O queues that are asked for: one a thread of the load; controllers grant fewer where they have fewer.
const QUEUES_WANTED: u16 = 64;

/// A subsystem on a network.
pub struct FabricDrive {
    address: Address,
    fabric_address: FabricAddress,
    stated: Stated,
    examined: Option<(FabricDriveParts, Examination)>,
}

impl FabricDrive {
    /// The subsystem that an address names.
    pub fn new(address: &Address, fabric_address: &FabricAddress, stated: Stated) -> Self {
        let fabric_address = fabric_address.clone();
        Self { address: address.clone(), fabric_address, stated, examined: None }
    }

    fn connect(&self) -> Result<TcpController, DriveError> {
        let options = options(&self.fabric_address, &self.stated.give_up)?;
        Ok(TcpController::connect(&self.fabric_address.subsystem, &options)?)
    }

    fn look(&self) -> Result<(FabricDriveParts, Examination), DriveError> {
        let subsystem = FabricDriveParts::look(self.connect()?)?;
        self.stated.refuse_destroy(&self.address)?;
        let mut facts = subsystem.facts();
        facts.slc_bytes = self.stated.slc.map(Bytes::as_u64).or(facts.slc_bytes);
        let limits = TargetFacts {
            read_only: subsystem.read_only().map(str::to_owned),
            trim: subsystem.trim,
            ..limits(&self.address, &facts)
        };
        let origin = VirtualSsd::origin(subsystem.virtual_ssd());
        let examination = Examination {
            facts,
            origin,
            limits,
            worn_by_writes: true,
            buffers_io: false,
            switched_on: false,
        };
        Ok((subsystem, examination))
    }
}

impl Drive for FabricDrive {
    fn address(&self) -> &Address {
        &self.address
    }

    fn link(&self) -> Option<LinkFacts> {
        None
    }

    fn examine(&mut self) -> Result<Examination, DriveError> {
        let examined = self.look()?;
        Ok(self.examined.insert(examined).1.clone())
    }

    fn settings_last(&self) -> Option<SettingsLast> {
        Some(SettingsLast::Connection)
    }

    fn settings(&mut self) -> Result<DriveSettings<'static>, DriveError> {
        Ok(DriveSettings::open(self.connect()?)?)
    }

    fn prepare(&mut self, plan: &Plan, _: &mut FillProgress<'_>) -> Result<Prepared, DriveError> {
        let (subsystem, examination) = match self.examined.take() {
            Some(examined) => examined,
            None => self.look()?,
        };
        let route = SettingsRoute::Fabric(subsystem.controller.clone(), subsystem.namespace.nsid);
        let settings = settings::prepare(&self.address, route, &examination.facts, plan)?;
        let needs = Needs::new(plan, subsystem.size, examination.limits.slc)?;
        let access = subsystem.open(&needs, &self.address.to_string())?;
        let mut samplers = vec![disk::smart_sampler(&plan.telemetry, Controller::new(subsystem.controller))];
        samplers.extend(telemetry::power::samplers(&plan.telemetry.power));
        Ok(Prepared { io: DriveIo::RealTime { access, samplers }, settings, notes: Vec::new() })
    }

    /// Our own connection sees what the drive counts, and no block statistics: I/O of other hosts goes elsewhere.
    fn watch(&mut self, periods: &TelemetryPlan) -> Result<WatchSources, DriveError> {
        let (subsystem, examination) = self.look()?;
        let settings = self.settings().map(|mut settings| settings.thermal()).unwrap_or_default();
        let mut samplers = vec![disk::smart_sampler(periods, Controller::new(subsystem.controller))];
        samplers.extend(telemetry::power::samplers(&periods.power));
        let note = "no block statistics over this connection: speed is what the SMART log counts, in steps of 512 kB, and \
            latency is not known. Connect it with the kernel (nvme connect) to see both";
        Ok(WatchSources {
            facts: examination.facts,
            origin: examination.origin,
            settings,
            io: WatchIo::RealTime(samplers),
            notes: vec![note.to_owned()],
        })
    }

    fn again(&self) -> Box<dyn Drive> {
        Box::new(Self::new(&self.address, &self.fabric_address, self.stated.clone()))
    }
}

/// How it is connected.
fn options(address: &FabricAddress, give_up: &GiveUp) -> Result<TcpOptions, DriveError> {
    let controller_secret = address.controller_secret_file.as_deref().map(secret::read).transpose()?;
    let auth = match &address.secret_file {
        Some(path) => Some(HostAuth { secret: secret::read(path)?, controller_secret }),
        None => None,
    };
    let FabricAddress { header_digest, data_digest, .. } = *address;
    let give_up = give_up.clone();
    let wanted = TcpOptions { header_digest, data_digest, auth, give_up, ..TcpOptions::default() };
    Ok(TcpOptions { io_queues: QUEUES_WANTED, ..wanted })
}

/// A namespace of a subsystem on a network.
#[derive(Clone, Debug)]
struct FabricDriveParts {
    controller: TcpController,
    namespace: Namespace,
    size: Bytes,
    trim: bool,
    identify: IdentifyController,
}

impl FabricDriveParts {
    /// Asks who is there.
    fn look(transport: TcpController) -> Result<Self, DriveError> {
        let mut controller = Controller::new(transport.clone());
        let identify = controller.identify_controller()?;
        let nsid = controller.active_namespaces()?.first().copied();
        let nothing = |why: &'static str| DriveError::WrongKind {
            path: transport.address().to_string().into(),
            what: why,
            advice: "name a subsystem with a namespace, as `nvme discover` lists them".to_owned(),
        };
        let nsid = nsid.ok_or_else(|| nothing("a subsystem without a namespace"))?;
        let namespace = controller.identify_namespace(nsid)?;
        let (Some(block), Some(size)) = (namespace.block_size(), namespace.size()) else {
            return Err(nothing("a namespace whose format is not known"));
        };
        Ok(Self {
            controller: transport,
            namespace: Namespace { nsid, block_bytes: block.as_u64() as u32 },
            size,
            trim: identify.has_dataset_management(),
            identify,
        })
    }

    fn facts(&self) -> DriveFacts {
        let kind = if self.identify.simulation.is_some() { "virtual SSD" } else { "nvme-tcp" };
        let mut drive = unknown_drive(kind, self.size, self.namespace.block_bytes);
        from_controller(&mut drive, &self.identify);
        drive
    }

    /// Where all that it says is simulated.
    fn virtual_ssd(&self) -> Option<VirtualSsd> {
        VirtualSsd::known(&self.identify)
    }

    /// Why it must not be written to; `None` when it may.
    const fn read_only(&self) -> Option<&'static str> {
        if self.identify.simulation.is_some() { None } else { Some(READ_ONLY) }
    }

    /// Makes paths for a plan with these needs.
    fn open(&self, needs: &Needs, address: &str) -> Result<Access, DriveError> {
        let what = if needs.writes { Some("write to") } else { needs.trims.then_some("trim") };
        match (what, self.read_only()) {
            (Some(what), Some(why)) => {
                Err(DriveError::ReadOnly { path: address.into(), what, why: why.to_owned() })
            }
            _ => Ok(Access::fabric(self.controller.clone(), self.namespace)),
        }
    }
}
