//! The discovery service: which subsystems there are, and where.
//!
//! A controller without namespaces and I/O queues, with one page of its own (70h). NVMe Base 2.3,
//! Discovery Controller.

use std::sync::Arc;

use measure::Instant;
use nvme::Status;
use nvme::command::{AdminCommand, Cns, Completion, GetFeatures, SetFeatures, Sqe, opcode};
use nvme::fabrics::ConnectParameter;
use nvme::feature::session::{AsyncEvent, AsyncEventConfig};
use nvme::feature::{Capabilities, FeatureId, Select};
use nvme::identify::{IdentifyController, Version};
use nvme::log::LogId;
use nvme::log::discovery::{DISCOVERY_NQN, DiscoveryLog, DiscoveryRecord};
use nvme::log::supported;

use super::admin::{common_identify, slice_of_page};
use super::command::{Answer, Failure, Success};
use super::hosts::Hosts;
use super::{
    Accepted, Backing, ConnectRequest, Connected, HostEvent, Payload, Queue, Service, SubsystemLimits,
    Ticket, io,
};

/// Controllers at once: discovery is short, but persistent ones stay.
const CONTROLLERS_MAX: u16 = 64;
/// Largest page: 1 MiB holds a thousand subsystems.
const TRANSFER_MAX_BYTES: u64 = 1 << 20;
const TRANSFER_SHIFT: u8 = 8;
const VERSION: Version = Version { major: 1, minor: 4, tertiary: 0 };
/// The list of subsystems changed: notice (2), Discovery Log Page Change (F0h), page 70h.
const LIST_CHANGED: AsyncEvent = AsyncEvent { kind: 2, info: 0xf0, lid: LogId::DISCOVERY.0 };

/// Lists subsystems to hosts that ask (log page 70h).
#[derive(Debug)]
pub struct Discovery {
    records: Vec<DiscoveryRecord>,
    /// NQNs of the hosts that are shown them; empty for all.
    allowed_hosts: Vec<String>,
    generation: u64,
    hosts: Hosts,
    now: Instant,
}

impl Discovery {
    /// A service that lists `records`, to `allowed_hosts` alone if there are any.
    pub fn new(records: Vec<DiscoveryRecord>, allowed_hosts: Vec<String>) -> Self {
        let limits = SubsystemLimits {
            io_queues: 0,
            max_transfer_shift: TRANSFER_SHIFT,
            controllers: CONTROLLERS_MAX,
            ..SubsystemLimits::default()
        };
        Self { records, allowed_hosts, generation: 1, hosts: Hosts::new(limits, VERSION), now: Instant::ZERO }
    }

    /// Lists other `records` from now on; hosts that asked to be told are.
    pub fn set_records(&mut self, now: Instant, records: Vec<DiscoveryRecord>) {
        self.pass(now);
        self.records = records;
        self.generation += 1;
        for controller in self.hosts.controllers_mut() {
            if controller.events.config & AsyncEventConfig::DISCOVERY_CHANGE != 0 {
                controller.events.raise(LIST_CHANGED);
            }
        }
        self.hosts.tell_events();
    }

    fn pass(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.hosts.expire(self.now);
    }

    fn admin(&mut self, queue: Queue, sqe: &Sqe) -> Answer {
        match AdminCommand::decode(sqe) {
            AdminCommand::Identify(command) if command.cns == Cns::CONTROLLER => {
                send(sqe, self.identify(queue).encode().to_vec())
            }
            AdminCommand::Identify(_) => Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
            AdminCommand::GetLogPage(command) => {
                let page = match command.lid {
                    LogId::DISCOVERY => self.page(queue),
                    LogId::SUPPORTED => supported::encode(&[LogId::SUPPORTED, LogId::DISCOVERY]).to_vec(),
                    _ => return Err(Failure::in_dword(Status::INVALID_LOG_PAGE, 10)),
                };
                let piece = slice_of_page(&command, &page, TRANSFER_MAX_BYTES)?;
                if !command.retain_event
                    && let Some(controller) = self.hosts.controller_mut(queue)
                {
                    controller.events.log_was_read(command.lid);
                    self.hosts.tell_events();
                }
                send(sqe, piece)
            }
            AdminCommand::GetFeatures(command) => self.get_features(queue, &command),
            AdminCommand::SetFeatures(command) => self.set_features(queue, &command),
            AdminCommand::KeepAlive => self.hosts.keep_alive(self.now, queue),
            // Nothing here lasts long enough to be aborted.
            AdminCommand::Abort { .. } => Ok(Success::with_result(1)),
            AdminCommand::AsyncEventRequest
            | AdminCommand::SelfTest { .. }
            | AdminCommand::Format(_)
            | AdminCommand::Other(_) => Err(Failure { location: 0, ..Failure::new(Status::INVALID_OPCODE) }),
        }
    }

    fn page(&self, queue: Queue) -> Vec<u8> {
        let may_see = |nqn: &str| {
            self.allowed_hosts.is_empty() || self.allowed_hosts.iter().any(|allowed| allowed == nqn)
        };
        let is_shown = self.hosts.controller(queue).is_some_and(|controller| may_see(controller.host_nqn()));
        let records = if is_shown { self.records.clone() } else { Vec::new() };
        DiscoveryLog { generation: self.generation, record_count: 0, records }.encode()
    }

    fn identify(&self, queue: Queue) -> IdentifyController {
        let common = common_identify(&self.hosts, queue, DISCOVERY_NQN);
        IdentifyController {
            model: "heatsoak discovery".to_owned(),
            serial: "0".to_owned(),
            firmware: env!("CARGO_PKG_VERSION").to_owned(),
            controller_type: 2,
            max_transfer_shift: Some(TRANSFER_SHIFT),
            optional_events: AsyncEventConfig::DISCOVERY_CHANGE,
            // Long pages and offsets.
            log_attributes: 1 << 2,
            ..common
        }
    }

    fn get_features(&self, queue: Queue, command: &GetFeatures) -> Answer {
        let controller = self.hosts.controller(queue).ok_or(Status::INTERNAL_ERROR)?;
        let value = match command.fid {
            FeatureId::ASYNC_EVENTS => controller.events.config,
            FeatureId::KEEP_ALIVE => controller.keep_alive_ms,
            _ => return Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        };
        let capabilities = Capabilities { saveable: false, per_namespace: false, changeable: true };
        match command.select {
            Select::Current => Ok(Success::with_result(value)),
            Select::Supported => Ok(Success::with_result(capabilities.encode())),
            Select::Default | Select::Saved => Ok(Success::with_result(0)),
            Select::Reserved(_) => Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        }
    }

    fn set_features(&mut self, queue: Queue, command: &SetFeatures) -> Answer {
        let (now, value) = (self.now, command.dwords[0]);
        let controller = self.hosts.controller_mut(queue).ok_or(Status::INTERNAL_ERROR)?;
        match command.fid {
            _ if command.save => return Err(Failure::in_dword(Status::NOT_SAVEABLE, 10)),
            FeatureId::ASYNC_EVENTS if value & !AsyncEventConfig::DISCOVERY_CHANGE == 0 => {
                controller.events.config = value;
            }
            FeatureId::ASYNC_EVENTS => return Err(Failure::in_dword(Status::INVALID_FIELD, 11)),
            FeatureId::KEEP_ALIVE => controller.set_keep_alive(now, value),
            _ => return Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
        }
        Ok(Success::NOTHING)
    }
}

fn send(sqe: &Sqe, page: Vec<u8>) -> Answer {
    io::outgoing(sqe, page.len())?;
    Ok(Success { result: 0, payload: Payload::Bytes(page) })
}

impl Service for Discovery {
    fn nqn(&self) -> &str {
        DISCOVERY_NQN
    }

    fn backing(&self) -> Option<&Arc<Backing>> {
        None
    }

    fn is_present(&self) -> bool {
        true
    }

    fn connect(&mut self, now: Instant, request: &ConnectRequest) -> Result<Connected, Completion> {
        self.pass(now);
        if request.data.subsystem_nqn != DISCOVERY_NQN {
            return Err(request.refuse(ConnectParameter::SUBSYSTEM_NQN));
        }
        self.hosts.connect(self.now, request)
    }

    fn disconnect(&mut self, now: Instant, queue: Queue) {
        self.pass(now);
        self.hosts.disconnect(queue);
    }

    fn submit(&mut self, now: Instant, queue: Queue, sqe: &Sqe, _capsule_data: &[u8]) -> Accepted {
        self.pass(now);
        let Some(permit) = self.hosts.accept(queue, sqe) else { return Accepted::Close };
        let ready = self.hosts.controller(queue).is_some_and(super::hosts::HostController::is_ready);
        let (permit, answer) = match sqe.opcode {
            opcode::FABRICS => (permit, self.hosts.fabrics(queue, sqe).0),
            _ if !ready => (permit, Err(Failure::new(Status::COMMAND_SEQUENCE_ERROR))),
            opcode::ASYNC_EVENT_REQUEST => match self.hosts.wait_for_event(permit, sqe) {
                None => return Accepted::Pending,
                Some((permit, failure)) => (permit, Err(failure)),
            },
            _ => (permit, self.admin(queue, sqe)),
        };
        match self.hosts.reply(permit, answer) {
            Some(reply) => Accepted::Done(reply),
            None => Accepted::Close,
        }
    }

    /// No command here takes data.
    fn note(&mut self, now: Instant, queue: Queue) -> Option<u16> {
        self.pass(now);
        self.hosts.note(queue)
    }

    fn data(&mut self, _now: Instant, _ticket: Ticket, _data: &[u8]) -> Accepted {
        Accepted::Close
    }

    fn stored(&mut self, _now: Instant, _ticket: Ticket) -> Accepted {
        Accepted::Close
    }

    fn fail(&mut self, _now: Instant, _ticket: Ticket, _status: Status) -> Accepted {
        Accepted::Close
    }

    fn advance(&mut self, now: Instant, out: &mut Vec<HostEvent>) {
        self.pass(now);
        self.hosts.drain(out);
    }

    fn next_event(&self) -> Option<Instant> {
        if self.hosts.has_output() { Some(self.now) } else { self.hosts.next_expiry() }
    }
}
