//! Entry for the controller of the crate `twin`: any bytes are a stream of what hosts and people do.
//!
//! The laws: no panic; every accepted command ends at most once, with its own identifier, and in the
//! end exactly once unless it waits for an event, was lost by a fault, or its queue went; what waits
//! is bounded by the queues; no payload is larger than the largest transfer.

use crate::FuzzEntry;
use std::collections::BTreeMap;

use measure::{Instant, Seed};
use nvme::Status;
use nvme::command::{Sgl, Sqe, opcode};
use nvme::fabrics::property::Property;
use nvme::fabrics::{Connect, ConnectData, FabricsCommand};
use nvme::log::discovery::{DYNAMIC_CONTROLLER, DiscoveryRecord};
use physics::Profile;
use twin::controller::{
    Accepted, Act, BackingOptions, ConnectRequest, Discovery, Fault, FaultMatch, HostEvent, Options, Payload,
    Queue, QueueKind, Reply, SensorName, Service, Subsystem, SubsystemLimits, Ticket,
};

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] =
    &[("twin_controller", controller), ("twin_discovery", discovery), ("twin_saved_state", saved_state)];

/// Entries of a queue in these streams: small, so that hosts run into it.
const ENTRIES_MAX: u16 = 16;
const CONTROLLERS_MAX: u16 = 2;
const IO_QUEUES: u16 = 2;
/// 64 KiB.
const TRANSFER_SHIFT: u8 = 4;
const TRANSFER_MAX: usize = 64 << 10;
/// Asynchronous Event Request: it may wait for ever.
const WAITS_FOR_EVER: u8 = opcode::ASYNC_EVENT_REQUEST;

/// A drive.
pub fn controller(data: &[u8]) {
    answered(data);
}

/// The same; says how many commands were answered with success, so that a test can see that streams
/// get somewhere.
pub fn answered(data: &[u8]) -> u64 {
    let mut profile = Profile::builtin("relay").expect("built in");
    // The second byte's lowest bit asks for the power features of NVMe 2.3.
    profile.limits.power_control = data.get(1).is_some_and(|byte| byte & 1 != 0);
    let mut options = Options::new(profile, Seed::new(1));
    options.backing = BackingOptions::Memory { limit_bytes: 4 << 20 };
    options.limits = SubsystemLimits {
        queue_entries: ENTRIES_MAX,
        io_queues: IO_QUEUES,
        max_transfer_shift: TRANSFER_SHIFT,
        in_capsule_bytes: 8192,
        controllers: CONTROLLERS_MAX,
    };
    let subsystem = Subsystem::new(options).expect("sound options");
    let mut stream = FuzzStream::new(data);
    let mut world = World::new(subsystem);
    while stream.left() {
        if stream.byte() % 16 == 15 {
            world.fault(&mut stream);
        } else {
            world.step(&mut stream);
        }
        assert!(world.service.under_way() <= world.under_way(), "something waits that nobody asked for");
    }
    world.service.clear_all(world.now);
    world.settle();
    for (number, queue) in world.queues.clone() {
        world.service.disconnect(world.now, queue);
        world.forget(number);
    }
    assert_eq!(world.service.under_way(), 0, "without hosts nothing is under way");
    world.successes
}

/// The discovery service.
pub fn discovery(data: &[u8]) {
    let record = DiscoveryRecord::tcp_v4("nqn.2026-11.invalid.heatsoak:ssd1", "127.0.0.1", 4420);
    let mut stream = FuzzStream::new(data);
    let mut world = World::new(Discovery::new(vec![record.clone()], Vec::new()));
    while stream.left() {
        if stream.byte() % 16 == 15 {
            let records = vec![record.clone(); usize::from(stream.byte() % 4)];
            world.service.set_records(world.now, records);
        } else {
            world.step(&mut stream);
        }
    }
    world.settle();
}

/// A state file: any text is one, or is refused; one that is survives being written.
pub fn saved_state(data: &[u8]) {
    use twin::controller::SavedState;
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(state) = SavedState::from_json(text) else { return };
    let again = SavedState::from_json(&state.to_json().expect("our own")).expect("our own");
    assert_eq!(again, state);
    // A drive starts with whatever the file says.
    let mut options = Options::new(Profile::builtin("relay").expect("built in"), Seed::new(1));
    options.saved = state;
    Subsystem::new(options).expect("a strange state is no reason not to start");
}

/// Bytes as decisions; zeros when they run out.
struct FuzzStream<'a> {
    bytes: &'a [u8],
}

impl<'a> FuzzStream<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn left(&self) -> bool {
        !self.bytes.is_empty()
    }

    fn byte(&mut self) -> u8 {
        match self.bytes {
            [first, rest @ ..] => {
                self.bytes = rest;
                *first
            }
            [] => 0,
        }
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }

    fn pick<'b, T>(&mut self, of: &'b [T]) -> Option<&'b T> {
        let index = usize::from(self.byte());
        (!of.is_empty()).then(|| &of[index % of.len()])
    }
}

/// A service with what its hosts have under way.
struct World<S> {
    service: S,
    now: Instant,
    /// By number of connection.
    queues: BTreeMap<usize, Queue>,
    /// Commands under way: how many of an identifier, and the opcode of one.
    open: BTreeMap<(Queue, u16), (u32, u8)>,
    tickets: Vec<(Queue, u16, Ticket, usize)>,
    next: usize,
    cid: u16,
    /// A fault may have lost commands.
    lossy: bool,
    successes: u64,
}

impl<S: Service> World<S> {
    fn new(service: S) -> Self {
        Self {
            service,
            now: Instant::ZERO,
            queues: BTreeMap::new(),
            open: BTreeMap::new(),
            tickets: Vec::new(),
            next: 0,
            cid: 0,
            lossy: false,
            successes: 0,
        }
    }

    fn under_way(&self) -> usize {
        self.open.values().map(|(count, _)| *count as usize).sum()
    }

    /// One thing that a host does.
    fn step(&mut self, stream: &mut FuzzStream<'_>) {
        match stream.byte() % 16 {
            0 => {
                self.connect(stream, 0);
                self.enable(stream);
            }
            1 => {
                let queue_id = u16::from(stream.byte() % 4);
                self.connect(stream, queue_id);
            }
            2 => self.enable(stream),
            3..=7 => self.command(stream),
            8..=10 => self.hand_in(stream),
            11..=13 => {
                let span = std::time::Duration::from_nanos(1 << (stream.byte() % 33));
                self.advance(self.now + span);
            }
            14 if stream.byte().is_multiple_of(4) => self.disconnect(stream),
            _ => self.raw(stream),
        }
    }

    fn connect(&mut self, stream: &mut FuzzStream<'_>, queue_id: u16) {
        let known: Vec<u16> = self.queues.values().map(|queue| queue.controller_id()).collect();
        let kind = stream.byte();
        let controller_id = match queue_id {
            0 if !kind.is_multiple_of(8) => DYNAMIC_CONTROLLER,
            _ => stream.pick(&known).copied().unwrap_or(1),
        };
        let request = ConnectRequest {
            cid: self.cid,
            command: Connect {
                record_format: 0,
                queue_id,
                // 1 and 17 are too few and too many.
                queue_entries: u32::from(kind) % 17 + 1,
                attributes: stream.byte() & 4,
                keep_alive_ms: u32::from(stream.byte() % 16) * 1000,
            },
            data: ConnectData {
                host_id: [if kind % 16 == 1 { 0 } else { 7 }; 16],
                controller_id,
                subsystem_nqn: self.service.nqn().to_owned(),
                host_nqn: "nqn.2014-08.org.nvmexpress:uuid:0".to_owned(),
            },
        };
        if let Ok(connected) = self.service.connect(self.now, &request) {
            assert!(!self.queues.values().any(|queue| *queue == connected.queue), "two have one queue");
            self.queues.insert(self.next, connected.queue);
            self.next += 1;
        }
    }

    fn enable(&mut self, stream: &mut FuzzStream<'_>) {
        let kind = stream.byte();
        let value = match kind % 8 {
            0 => 0x0046_4001,
            1 => 0x0046_0000,
            2 => stream.array::<4>().into_iter().fold(0, |sum, byte| sum << 8 | u64::from(byte)),
            _ => 0x0046_0001,
        };
        let set = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value };
        let admins: Vec<usize> =
            self.queues.iter().filter(|(_, queue)| queue.is_admin()).map(|(number, _)| *number).collect();
        if let Some(number) = stream.pick(&admins).copied() {
            self.submit(number, set.encode(), &[]);
        }
    }

    /// A command that is well formed but for what its bytes say.
    fn command(&mut self, stream: &mut FuzzStream<'_>) {
        const ADMIN: [u8; 9] = [0x02, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x18, 0x7f, 0x55];
        const IO: [u8; 9] = [0x00, 0x01, 0x02, 0x05, 0x08, 0x09, 0x0c, 0x02, 0x01];
        let numbers: Vec<usize> = self.queues.keys().copied().collect();
        let Some(number) = stream.pick(&numbers).copied() else { return };
        let codes = if self.queues[&number].is_admin() { &ADMIN } else { &IO };
        let code = stream.pick(codes).copied().unwrap_or(0);
        let mut sqe = Sqe::new(code, [1, 1, 0, u32::MAX][usize::from(stream.byte() % 4)]);
        for dword in 10..16 {
            // Mostly small numbers: that is where meanings lie.
            let value = match stream.byte() % 4 {
                0 => u32::from_le_bytes(stream.array()),
                1 => u32::from(stream.byte()) << 16 | u32::from(stream.byte()),
                2 => u32::from(stream.byte()),
                _ => 0,
            };
            sqe = sqe.with_dword(dword, value);
        }
        let has_blocks = matches!(code, opcode::READ | opcode::WRITE | opcode::COMPARE);
        let fits = !stream.byte().is_multiple_of(4);
        if has_blocks && fits {
            // A few blocks that the namespace has.
            sqe = sqe.with_dword(11, 0).with_dword(12, sqe.dword(12) % 16);
        }
        let length = match has_blocks && fits {
            true => (sqe.dword(12) + 1) * 512,
            false => [0, 8, 512, 4096, 1024, 256, 8192, 64 << 10][usize::from(stream.byte() % 8)],
        };
        if code == opcode::READ || !stream.byte().is_multiple_of(3) {
            self.submit(number, sqe.with_sgl(Sgl::Transport { length }), &[]);
        } else {
            let length = length.min(8192);
            let data = vec![stream.byte(); length as usize];
            self.submit(number, sqe.with_sgl(Sgl::InCapsule { offset: 0, length }), &data);
        }
    }

    /// 64 bytes as they come.
    fn raw(&mut self, stream: &mut FuzzStream<'_>) {
        let numbers: Vec<usize> = self.queues.keys().copied().collect();
        let Some(number) = stream.pick(&numbers).copied() else { return };
        let sqe = Sqe::decode(&stream.array::<64>()).expect("64 bytes");
        self.submit(number, sqe, &[]);
    }

    fn submit(&mut self, number: usize, mut sqe: Sqe, capsule_data: &[u8]) {
        let queue = self.queues[&number];
        self.cid = self.cid.wrapping_add(1);
        sqe.cid = self.cid;
        let (count, code) = self.open.entry((queue, sqe.cid)).or_insert((0, sqe.opcode));
        *count += 1;
        // The longest that the command of an identifier may wait decides.
        if sqe.opcode == WAITS_FOR_EVER {
            *code = WAITS_FOR_EVER;
        }
        let accepted = self.service.submit(self.now, queue, &sqe, capsule_data);
        self.see(number, queue, sqe.cid, accepted);
    }

    fn see(&mut self, number: usize, queue: Queue, cid: u16, accepted: Accepted) {
        match accepted {
            Accepted::Done(reply) => {
                assert_eq!(reply.completion.cid, cid);
                self.ended(queue, &reply);
            }
            Accepted::Pending => {}
            Accepted::NeedsData { ticket, len_bytes } => {
                assert!(len_bytes > 0 && len_bytes as usize <= TRANSFER_MAX.max(1 << 20));
                self.tickets.push((queue, cid, ticket, len_bytes as usize));
            }
            Accepted::NeedsBlocks { ticket, blocks } => {
                let backing = self.service.backing().expect("a drive");
                assert!(blocks.len_bytes as usize <= TRANSFER_MAX);
                assert!(blocks.offset_bytes + u64::from(blocks.len_bytes) <= backing.len_bytes());
                self.tickets.push((queue, cid, ticket, 0));
            }
            Accepted::Close => self.forget(number),
        }
    }

    /// Every reply is one that somebody waits for.
    fn ended(&mut self, queue: Queue, reply: &Reply) {
        let key = (queue, reply.completion.cid);
        let (count, _) = self.open.get_mut(&key).expect("an answer to nobody's command, or a second one");
        *count -= 1;
        if *count == 0 {
            self.open.remove(&key);
        }
        assert_eq!(reply.completion.sq_id, queue.queue_id());
        match reply.completion.status.is_success() {
            true => self.successes += 1,
            false => assert_eq!(reply.payload, Payload::None, "data before a failure"),
        }
        assert!(reply.payload.len_bytes() <= 1 << 20);
    }

    fn hand_in(&mut self, stream: &mut FuzzStream<'_>) {
        if self.tickets.is_empty() {
            return;
        }
        let index = usize::from(stream.byte()) % self.tickets.len();
        let (queue, cid, ticket, len) = self.tickets.swap_remove(index);
        let accepted = match stream.byte() % 8 {
            0 => self.service.fail(self.now, ticket, Status::DATA_TRANSFER_ERROR),
            1 => self.service.stored(self.now, ticket),
            2 => self.service.data(self.now, ticket, &[0; 3]),
            _ if len == 0 => self.service.stored(self.now, ticket),
            _ => self.service.data(self.now, ticket, &vec![stream.byte(); len]),
        };
        if let Some(number) = self.number_of(queue) {
            self.see(number, queue, cid, accepted);
        } else {
            assert_eq!(accepted, Accepted::Close, "its queue has gone");
        }
    }

    fn number_of(&self, queue: Queue) -> Option<usize> {
        self.queues.iter().find(|(_, known)| **known == queue).map(|(number, _)| *number)
    }

    fn disconnect(&mut self, stream: &mut FuzzStream<'_>) {
        let numbers: Vec<usize> = self.queues.keys().copied().collect();
        if let Some(number) = stream.pick(&numbers).copied() {
            self.service.disconnect(self.now, self.queues[&number]);
            self.forget(number);
        }
    }

    /// A queue has gone; nobody waits for its commands.
    fn forget(&mut self, number: usize) {
        if let Some(queue) = self.queues.remove(&number) {
            self.open.retain(|(of, _), _| *of != queue);
        }
    }

    fn advance(&mut self, until: Instant) {
        self.now = self.now.max(until);
        let mut out = Vec::new();
        self.service.advance(self.now, &mut out);
        for outcome in out {
            match outcome {
                // What was answered before its connection broke off is still in the list.
                HostEvent::Reply(queue, reply) if self.number_of(queue).is_some() => {
                    self.ended(queue, &reply)
                }
                HostEvent::Reply(..) => {}
                HostEvent::Close(queue) => {
                    if let Some(number) = self.number_of(queue) {
                        self.forget(number);
                    }
                }
            }
        }
    }

    /// Hands everything in and waits: what then is under way waits for events.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            while let Some((queue, cid, ticket, _)) = self.tickets.pop() {
                let accepted = self.service.fail(self.now, ticket, Status::DATA_TRANSFER_ERROR);
                if let Some(number) = self.number_of(queue) {
                    self.see(number, queue, cid, accepted);
                }
            }
            if self.open.values().all(|(_, code)| *code == WAITS_FOR_EVER) {
                return;
            }
            let Some(next) = self.service.next_event() else { break };
            self.advance(next);
        }
        assert!(
            self.lossy || self.open.values().all(|(_, code)| *code == WAITS_FOR_EVER),
            "commands that never end: {:?}",
            self.open
        );
    }
}

impl World<Subsystem> {
    /// One thing that somebody does to the drive.
    fn fault(&mut self, stream: &mut FuzzStream<'_>) {
        let on = FaultMatch {
            queue: [None, Some(QueueKind::Admin), Some(QueueKind::Io)][usize::from(stream.byte() % 3)],
            times: Some(u64::from(stream.byte() % 4)),
            skip: u64::from(stream.byte() % 2),
            ..FaultMatch::default()
        };
        let act = match stream.byte() % 10 {
            0 => Act::Delay { ms: u64::from(stream.byte()) * 10 },
            1 => Act::Fail { status: u16::from_le_bytes(stream.array()), do_not_retry: true },
            2 => Act::Disconnect,
            3 => {
                self.lossy = true;
                Act::Lose
            }
            4 => Act::Ignore,
            5 => return self.inject(Fault::FreezeSensor { sensor: SensorName::Composite }),
            6 => {
                let sensor = SensorName::Sensor(stream.byte() % 10);
                return self
                    .inject(Fault::OffsetSensor { sensor, kelvin: i16::from_le_bytes(stream.array()) });
            }
            7 => return self.inject(Fault::StickCounters {}),
            8 => {
                let for_ms = Some(u64::from(stream.byte()));
                self.inject(Fault::Vanish { for_ms });
                return self.advance(self.now);
            }
            _ => {
                let number = u32::from(stream.byte());
                self.service.clear(self.now, number);
                return;
            }
        };
        // A status of success is no failure, but for its opcode it may have data: keep to failures.
        let act = match act {
            Act::Fail { status, do_not_retry } if status & 0x7ff == 0 => {
                Act::Fail { status: 6, do_not_retry }
            }
            act => act,
        };
        self.inject(Fault::Command { on, act });
    }

    fn inject(&mut self, fault: Fault) {
        self.service.inject(self.now, fault);
    }
}
