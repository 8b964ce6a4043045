//! Who is connected: controllers with their queues, what they may send, and when they are given up.
//!
//! Shared by drives and the discovery service. It knows Connect, properties, keep-alive and event
//! requests; what other commands mean it does not.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use measure::Instant;
use nvme::Status;
use nvme::command::{Completion, Sqe};
use nvme::fabrics::property::{
    ControllerCapabilities, ControllerConfig, ControllerStatus, Property, ShutdownState,
};
use nvme::fabrics::{Connect, ConnectParameter, FabricsCommand};
use nvme::identify::Version;
use nvme::log::discovery::DYNAMIC_CONTROLLER;

use super::command::{Answer, Command, CommandKey, Commands, Failure, Permit, Stage, Success};
use super::events::{EVENT_REQUESTS_MAX, Events};
use super::{ConnectRequest, Connected, HostEvent, Payload, Queue, Reply, SubsystemLimits};

/// Granularity of the keep-alive timer (KAS), in units of 100 ms: one second.
pub(super) const KEEP_ALIVE_100MS: u16 = 10;
/// Most entries of an admin queue that a host may ask for; Linux asks for 32.
const ADMIN_ENTRIES_MAX: u32 = 4096;
/// Data of an admin command's capsule, fixed by the transport's specification.
const ADMIN_IN_CAPSULE_BYTES: u32 = nvme::tcp::ADMIN_CAPSULE_DATA_MAX;
/// Identifiers above are reserved (NVMe Base 2.3, Connect).
const CONTROLLER_ID_MAX: u16 = 0xffef;

/// All controllers of a service, and the commands under way on their queues.
#[derive(Debug)]
pub(super) struct Hosts {
    pub(super) commands: Commands,
    controllers: BTreeMap<u16, HostController>,
    limits: SubsystemLimits,
    version: Version,
    last_number: u64,
    last_controller_id: u16,
    outbox: VecDeque<HostEvent>,
}

/// One controller: what one host has of the service.
#[derive(Debug)]
pub(super) struct HostController {
    pub(super) events: Events,
    pub(super) keep_alive_ms: u32,
    /// I/O queues that the host was given (feature 07h).
    pub(super) io_queues: u16,
    host: ([u8; 16], String),
    config: ControllerConfig,
    status: ControllerStatus,
    /// When the keep-alive timer was last started anew.
    last_sign: Instant,
    /// Whether a command came since.
    heard: bool,
    queues: BTreeMap<u16, QueueState>,
}

#[derive(Debug)]
struct QueueState {
    queue: Queue,
    entries: u32,
    head: u16,
    flow_control: bool,
    under_way: u32,
}

impl Hosts {
    pub(super) fn new(limits: SubsystemLimits, version: Version) -> Self {
        Self {
            commands: Commands::default(),
            controllers: BTreeMap::new(),
            limits,
            version,
            last_number: 0,
            last_controller_id: 0,
            outbox: VecDeque::new(),
        }
    }

    pub(super) const fn limits(&self) -> &SubsystemLimits {
        &self.limits
    }

    pub(super) const fn version(&self) -> Version {
        self.version
    }

    /// Controllers there are.
    pub(super) fn count(&self) -> usize {
        self.controllers.len()
    }

    /// Whether there is a controller with this number.
    pub(super) fn has_controller(&self, id: u16) -> bool {
        self.controllers.contains_key(&id)
    }

    /// The controller of a queue.
    pub(super) fn controller(&self, queue: Queue) -> Option<&HostController> {
        let controller = self.controllers.get(&queue.controller_id)?;
        let held = controller.queues.get(&queue.queue_id)?;
        (held.queue == queue).then_some(controller)
    }

    pub(super) fn controller_mut(&mut self, queue: Queue) -> Option<&mut HostController> {
        self.controller(queue)?;
        self.controllers.get_mut(&queue.controller_id)
    }

    /// Makes a connection a queue.
    pub(super) fn connect(
        &mut self,
        now: Instant,
        request: &ConnectRequest,
    ) -> Result<Connected, Completion> {
        let queue_id = request.command.queue_id;
        let controller_id =
            if queue_id == 0 { self.new_controller(now, request)? } else { self.io_connect(request)? };
        self.last_number += 1;
        let queue = Queue { number: self.last_number, controller_id, queue_id };
        let flow_control = request.command.attributes & Connect::NO_FLOW_CONTROL == 0;
        let entries = request.command.queue_entries;
        let state = QueueState { queue, entries, head: 0, flow_control, under_way: 0 };
        if let Some(controller) = self.controllers.get_mut(&controller_id) {
            controller.queues.insert(queue_id, state);
        }
        let sq_head = if flow_control { 0 } else { NO_HEAD };
        let completion = Completion { sq_head, ..Completion::success(request.cid, controller_id.into()) };
        let in_capsule_bytes =
            if queue_id == 0 { ADMIN_IN_CAPSULE_BYTES } else { self.limits.in_capsule_bytes };
        Ok(Connected { queue, completion, in_capsule_bytes, entries, no_flow_control: !flow_control })
    }

    fn new_controller(&mut self, now: Instant, request: &ConnectRequest) -> Result<u16, Completion> {
        let (command, data) = (&request.command, &request.data);
        if data.host_id == [0; 16] {
            return Err(request.refuse(ConnectParameter::HOST_ID));
        }
        if data.host_nqn.is_empty() {
            return Err(request.refuse(ConnectParameter::HOST_NQN));
        }
        // Controllers are made for hosts; none waits to be chosen by its number.
        if data.controller_id != DYNAMIC_CONTROLLER {
            return Err(request.refuse(ConnectParameter::CONTROLLER_ID));
        }
        if !(2..=ADMIN_ENTRIES_MAX).contains(&command.queue_entries) {
            return Err(request.refuse(ConnectParameter::QUEUE_SIZE));
        }
        // The one before may be about to be given up, so this is for now.
        if self.controllers.len() >= usize::from(self.limits.controllers) {
            return Err(request.refuse_with(Status::CONNECT_BUSY));
        }
        let id = self.free_controller_id();
        let controller = HostController {
            events: Events::default(),
            keep_alive_ms: granular(command.keep_alive_ms),
            io_queues: self.limits.io_queues,
            host: (data.host_id, data.host_nqn.clone()),
            config: ControllerConfig(0),
            status: DISABLED,
            last_sign: now,
            heard: false,
            queues: BTreeMap::new(),
        };
        self.controllers.insert(id, controller);
        Ok(id)
    }

    /// The next number that is free: one that just went is not used again at once.
    fn free_controller_id(&mut self) -> u16 {
        loop {
            let next =
                if self.last_controller_id >= CONTROLLER_ID_MAX { 1 } else { self.last_controller_id + 1 };
            self.last_controller_id = next;
            if !self.controllers.contains_key(&next) {
                return next;
            }
        }
    }

    fn io_connect(&self, request: &ConnectRequest) -> Result<u16, Completion> {
        let (command, data) = (&request.command, &request.data);
        let Some(controller) = self.controllers.get(&data.controller_id) else {
            return Err(request.refuse(ConnectParameter::CONTROLLER_ID));
        };
        if controller.host.0 != data.host_id {
            return Err(request.refuse(ConnectParameter::HOST_ID));
        }
        if controller.host.1 != data.host_nqn {
            return Err(request.refuse(ConnectParameter::HOST_NQN));
        }
        if !controller.is_ready() {
            return Err(request.refuse_with(Status::COMMAND_SEQUENCE_ERROR.do_not_retry()));
        }
        if command.queue_id > controller.io_queues || controller.queues.contains_key(&command.queue_id) {
            return Err(request.refuse(ConnectParameter::QUEUE_ID));
        }
        if !(2..=u32::from(self.limits.queue_entries)).contains(&command.queue_entries) {
            return Err(request.refuse(ConnectParameter::QUEUE_SIZE));
        }
        Ok(data.controller_id)
    }

    /// A queue has gone; with the admin queue its controller.
    pub(super) fn disconnect(&mut self, queue: Queue) {
        let Some(controller) = self.controller_mut(queue) else { return };
        if queue.is_admin() {
            controller.queues.remove(&0);
            self.close_controller(queue.controller_id);
        } else {
            controller.queues.remove(&queue.queue_id);
        }
        self.commands.abandon(queue);
    }

    fn close_controller(&mut self, id: u16) {
        let Some(controller) = self.controllers.remove(&id) else { return };
        for state in controller.queues.into_values() {
            self.commands.abandon(state.queue);
            self.outbox.push_back(HostEvent::Close(state.queue));
        }
    }

    /// Gives up every controller.
    pub(super) fn close_all(&mut self) {
        let ids: Vec<u16> = self.controllers.keys().copied().collect();
        for id in ids {
            self.close_controller(id);
        }
    }

    /// Accepts a command; `None` closes the queue: it is no more, or its host sends more than fits.
    pub(super) fn accept(&mut self, queue: Queue, sqe: &Sqe) -> Option<Permit> {
        let controller = self.controller_mut(queue)?;
        controller.heard = true;
        let state = controller.queues.get_mut(&queue.queue_id)?;
        // One entry stays free, so that a full queue differs from an empty one.
        if state.under_way + 1 >= state.entries {
            self.disconnect(queue);
            return None;
        }
        state.under_way += 1;
        state.head = ((u32::from(state.head) + 1) % state.entries) as u16;
        Some(Permit::new(queue, sqe.cid))
    }

    /// Counts a command that the transport answers by itself; returns the queue's head for its completion. `None` when
    /// the queue is no more.
    pub(super) fn note(&mut self, queue: Queue) -> Option<u16> {
        let controller = self.controller_mut(queue)?;
        controller.heard = true;
        let state = controller.queues.get_mut(&queue.queue_id)?;
        state.head = ((u32::from(state.head) + 1) % state.entries) as u16;
        Some(if state.flow_control { state.head } else { NO_HEAD })
    }

    /// Ends a command; `None` when its queue has gone meanwhile.
    pub(super) fn reply(&mut self, permit: Permit, answer: Answer) -> Option<Reply> {
        let (queue, cid) = (permit.queue(), permit.cid());
        permit.close();
        let state = self.controller_mut(queue)?.queues.get_mut(&queue.queue_id)?;
        state.under_way -= 1;
        let sq_head = if state.flow_control { state.head } else { NO_HEAD };
        let (result, status, payload) = match answer {
            Ok(success) => (success.result, Status::SUCCESS, success.payload),
            Err(failure) => (0, failure.status, Payload::None),
        };
        let completion = Completion { result, sq_head, sq_id: queue.queue_id, cid, status };
        Some(Reply { completion, payload })
    }

    /// Ends a command by way of [`Hosts::drain`].
    pub(super) fn post(&mut self, permit: Permit, answer: Answer) {
        let queue = permit.queue();
        if let Some(reply) = self.reply(permit, answer) {
            self.outbox.push_back(HostEvent::Reply(queue, reply));
        }
    }

    /// Moves what has come out to `out`.
    pub(super) fn drain(&mut self, out: &mut Vec<HostEvent>) {
        out.extend(self.outbox.drain(..));
    }

    pub(super) fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Gives up the controllers whose hosts were silent for too long.
    pub(super) fn expire(&mut self, now: Instant) {
        let late = |(id, controller): (&u16, &mut HostController)| controller.is_late(now).then_some(*id);
        let late: Vec<u16> = self.controllers.iter_mut().filter_map(late).collect();
        for id in late {
            self.close_controller(id);
        }
    }

    /// When the first host has been silent for too long.
    pub(super) fn next_expiry(&self) -> Option<Instant> {
        self.controllers.values().filter_map(HostController::expires_at).min()
    }

    /// Sees to Keep Alive.
    pub(super) fn keep_alive(&mut self, now: Instant, queue: Queue) -> Answer {
        if let Some(controller) = self.controller_mut(queue) {
            controller.start_keep_alive(now);
        }
        Ok(Success::NOTHING)
    }

    /// Parks an Asynchronous Event Request, and answers it if there is something to tell.
    pub(super) fn wait_for_event(&mut self, permit: Permit, sqe: &Sqe) -> Option<(Permit, Failure)> {
        let queue = permit.queue();
        let waiting = self.controller(queue).map_or(0, |controller| controller.events.waiting());
        if waiting >= EVENT_REQUESTS_MAX.into() {
            return Some((permit, Failure::new(Status::ASYNC_EVENT_LIMIT)));
        }
        let key = self.commands.put(Command { permit, sqe: *sqe, stage: Stage::Event, not_before: None });
        if let Some(controller) = self.controller_mut(queue) {
            controller.events.wait(key);
        }
        self.tell_events();
        None
    }

    /// Answers event requests with what there is to tell.
    pub(super) fn tell_events(&mut self) {
        let mut told: Vec<(CommandKey, u32)> = Vec::new();
        for controller in self.controllers.values_mut() {
            while let Some((key, event)) = controller.events.tell() {
                told.push((key, event.encode()));
            }
        }
        for (key, event) in told {
            if let Some(command) = self.commands.take(key) {
                self.post(command.permit, Ok(Success::with_result(event)));
            }
        }
    }

    /// All controllers, by number.
    pub(super) fn controllers_mut(&mut self) -> impl Iterator<Item = &mut HostController> {
        self.controllers.values_mut()
    }

    pub(super) fn controllers(&self) -> impl Iterator<Item = &HostController> {
        self.controllers.values()
    }

    /// Carries out a Fabrics command on a queue. The flag says that the controller was reset.
    pub(super) fn fabrics(&mut self, queue: Queue, sqe: &Sqe) -> (Answer, bool) {
        match FabricsCommand::decode(sqe) {
            FabricsCommand::PropertyGet { .. } | FabricsCommand::PropertySet { .. } if !queue.is_admin() => {
                (Err(Failure::new(Status::INVALID_QUEUE_TYPE)), false)
            }
            FabricsCommand::PropertyGet { property } => (self.property(queue, property), false),
            FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value } => {
                (Ok(Success::NOTHING), self.configure(queue, ControllerConfig(value as u32)))
            }
            FabricsCommand::PropertySet { .. } => (Err(Failure::in_dword(Status::INVALID_FIELD, 11)), false),
            // A queue is connected once.
            FabricsCommand::Connect(_) => (Err(Failure::new(Status::COMMAND_SEQUENCE_ERROR)), false),
            // Where hosts authenticate themselves, the transport sees to it.
            FabricsCommand::AuthenticationSend(_)
            | FabricsCommand::AuthenticationReceive(_)
            | FabricsCommand::Disconnect
            | FabricsCommand::Other(_) => {
                (Err(Failure { location: 4, ..Failure::new(Status::INVALID_OPCODE) }), false)
            }
        }
    }

    fn property(&self, queue: Queue, property: Property) -> Answer {
        let controller = self.controller(queue).ok_or(Status::INTERNAL_ERROR)?;
        let value = match property {
            Property::CAPABILITIES => capabilities(&self.limits).encode(),
            Property::VERSION => self.version.encode().into(),
            Property::CONTROLLER_CONFIG => controller.config.0.into(),
            Property::CONTROLLER_STATUS => controller.status.encode().into(),
            _ => return Err(Failure::in_dword(Status::INVALID_FIELD, 11)),
        };
        Ok(Success { result: value, payload: Payload::None })
    }

    /// Writes CC; whether that reset the controller.
    fn configure(&mut self, queue: Queue, config: ControllerConfig) -> bool {
        let Some(controller) = self.controller_mut(queue) else { return false };
        let was_enabled = controller.config.is_enabled();
        controller.config = config;
        if config.shutdown() != 0 {
            // Nothing is volatile here: what was written has been stored.
            controller.status.shutdown = ShutdownState::Complete;
        }
        if config.is_enabled() && !was_enabled {
            let fatal = !is_sound(config);
            controller.status = ControllerStatus { ready: !fatal, fatal, shutdown: ShutdownState::Normal };
        }
        let reset = was_enabled && !config.is_enabled();
        if reset {
            controller.status = ControllerStatus { ready: false, fatal: false, ..controller.status };
            self.reset(queue);
        }
        reset
    }

    /// A Controller Level Reset: I/O queues and event requests go, the admin queue stays.
    fn reset(&mut self, admin: Queue) {
        let io_queues = self.limits.io_queues;
        let Some(controller) = self.controller_mut(admin) else { return };
        controller.events = Events::default();
        controller.io_queues = io_queues;
        let gone = controller.queues.split_off(&1);
        for state in gone.into_values() {
            self.commands.abandon(state.queue);
            self.outbox.push_back(HostEvent::Close(state.queue));
        }
        let waiting =
            |command: &Command| command.permit.queue() == admin && matches!(command.stage, Stage::Event);
        let requests: Vec<CommandKey> = self.commands.keys(waiting).collect();
        for key in requests {
            if let Some(command) = self.commands.take(key) {
                command.permit.close();
            }
            if let Some(state) = self.controller_mut(admin).and_then(|c| c.queues.get_mut(&0)) {
                state.under_way -= 1;
            }
        }
    }
}

/// SQHD where the host does without flow control (NVMe Base 2.3, Connect).
const NO_HEAD: u16 = 0xffff;

const DISABLED: ControllerStatus =
    ControllerStatus { ready: false, fatal: false, shutdown: ShutdownState::Normal };

impl HostController {
    /// Whether it takes commands other than those of Fabrics.
    pub(super) fn is_ready(&self) -> bool {
        self.status.ready && self.status.shutdown == ShutdownState::Normal
    }

    pub(super) fn has_io_queues(&self) -> bool {
        self.queues.keys().any(|id| *id != 0)
    }

    /// The queue with this number.
    pub(super) fn queue(&self, queue_id: u16) -> Option<Queue> {
        self.queues.get(&queue_id).map(|state| state.queue)
    }

    pub(super) fn set_keep_alive(&mut self, now: Instant, timeout_ms: u32) {
        self.keep_alive_ms = granular(timeout_ms);
        self.start_keep_alive(now);
    }

    const fn start_keep_alive(&mut self, now: Instant) {
        (self.last_sign, self.heard) = (now, false);
    }

    /// Whether its host has been silent for too long. Keep-alive is based on traffic (CTRATT bit 6): when the timer
    /// runs out and a command came meanwhile, it starts anew (NVMe Base 2.3, Keep Alive).
    fn is_late(&mut self, now: Instant) -> bool {
        if let Some(at) = self.expires_at().filter(|at| *at <= now && self.heard) {
            self.start_keep_alive(at);
        }
        self.expires_at().is_some_and(|at| at <= now)
    }

    /// The NQN of its host.
    pub(super) fn host_nqn(&self) -> &str {
        &self.host.1
    }

    fn expires_at(&self) -> Option<Instant> {
        let timeout = Duration::from_millis(self.keep_alive_ms.into());
        (!timeout.is_zero()).then(|| self.last_sign + timeout)
    }
}

/// A timeout rounded up to the timer's granularity.
fn granular(timeout_ms: u32) -> u32 {
    timeout_ms.checked_next_multiple_of(u32::from(KEEP_ALIVE_100MS) * 100).unwrap_or(timeout_ms)
}

/// Whether a controller can work so: entries of 64 and 16 bytes, NVM command set, pages of 4 KiB, round robin.
const fn is_sound(config: ControllerConfig) -> bool {
    let (command_set, page, arbitration) =
        (config.0 >> 4 & 0b111, config.0 >> 7 & 0xf, config.0 >> 11 & 0b111);
    config.submission_entry_shift() == 6
        && config.completion_entry_shift() == 4
        && command_set == 0
        && page == 0
        && arbitration == 0
}

/// CAP. Twenty units of 500 ms until ready is what Debian's kernels were tried with; it takes none.
fn capabilities(limits: &SubsystemLimits) -> ControllerCapabilities {
    ControllerCapabilities {
        queue_entries_max: limits.queue_entries.into(),
        contiguous: true,
        ready_timeout_500ms: 20,
        command_sets: 1,
    }
}
