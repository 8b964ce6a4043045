//! A subsystem on a network as a target, reached by our own initiator: `nvme-tcp://HOST:PORT/NQN`.
//!
//! A virtual SSD of ours holds nobody's data and may be written to. It is known by a name that nobody owns: what
//! ends in `.invalid` belongs to no one (RFC 2606). Every other subsystem is somebody's drive.

use measure::Bytes;
use measure::record::DriveFacts;
use nvme::host::Controller;
use nvme::host::tcp::{TcpAddress, TcpController, TcpOptions};
use nvme::identify::IdentifyController;

use super::identity::{self, Simulated};
use super::needs::Needs;
use super::{Access, TargetError, drive_facts};
use crate::io::Namespace;

/// Why a foreign subsystem is not written to.
const READ_ONLY: &str = "a subsystem on a network may hold somebody's data, and only a virtual SSD of heatsoak is \
    known not to. Use a plan that reads, or let the kernel connect it and give the device away";

/// I/O queues that are asked for: one a thread of the load; controllers grant fewer where they have fewer.
const QUEUES_WANTED: u16 = 64;

/// A namespace of a subsystem on a network.
#[derive(Clone, Debug)]
pub(super) struct FabricTarget {
    pub(super) controller: TcpController,
    namespace: Namespace,
    size: Bytes,
    trim: bool,
    identify: IdentifyController,
}

impl FabricTarget {
    /// Connects, and asks who is there.
    pub(super) fn look(address: &TcpAddress) -> Result<Self, TargetError> {
        let options = TcpOptions { io_queues: QUEUES_WANTED, ..TcpOptions::default() };
        let transport = TcpController::connect(address, &options)?;
        let mut controller = Controller::new(transport.clone());
        let identify = controller.identify_controller()?;
        let nsid = controller.active_namespaces()?.first().copied();
        let nothing = |why: &'static str| TargetError::WrongKind {
            path: address.to_string().into(),
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

    pub(super) fn drive(&self) -> DriveFacts {
        let kind = if self.identify.simulation.is_some() { "virtual SSD" } else { "nvme-tcp" };
        let mut drive = drive_facts(kind, self.size, self.namespace.block_bytes);
        identity::from_controller(&mut drive, &self.identify);
        drive
    }

    /// The namespace's number.
    pub(super) const fn nsid(&self) -> u32 {
        self.namespace.nsid
    }

    /// Where all that it says is simulated.
    pub(super) fn simulated(&self) -> Option<Simulated> {
        Simulated::of(&self.identify)
    }

    /// Why it must not be written to; `None` when it may.
    pub(super) const fn read_only(&self) -> Option<&'static str> {
        if self.identify.simulation.is_some() { None } else { Some(READ_ONLY) }
    }

    /// Whether it can deallocate.
    pub(super) const fn trims(&self) -> bool {
        self.trim
    }

    /// Makes paths for a plan with these needs.
    pub(super) fn open(&self, needs: &Needs, address: &str) -> Result<Access, TargetError> {
        let what = if needs.writes { Some("write to") } else { needs.trims.then_some("trim") };
        match (what, self.read_only()) {
            (Some(what), Some(why)) => {
                Err(TargetError::ReadOnly { path: address.into(), what, why: why.to_owned() })
            }
            _ => Ok(Access::fabric(self.controller.clone(), self.namespace)),
        }
    }
}
