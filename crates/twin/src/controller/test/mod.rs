//! A host for tests: it sends what a driver would and waits in virtual time.

mod direct;
mod discovery;
mod faults;
mod features;
mod format;
mod heat;
mod io;
mod lifetime;
mod linux;
mod logs;
mod queues;
mod sharing;

use std::time::Duration;

use measure::{Instant, Lba, Seed};
use nvme::Status;
use nvme::command::{AdminCommand, GetFeatures, GetLogPage, IoCommand, SetFeatures, Sgl, Sqe, Transfer};
use nvme::fabrics::property::Property;
use nvme::fabrics::{Connect, ConnectData, FabricsCommand};
use nvme::feature::{FeatureId, Select};
use nvme::log::LogId;
use nvme::log::discovery::DYNAMIC_CONTROLLER;

use super::*;
use physics::Profile;

/// CC of an enabled controller, as Linux writes it.
const ENABLE: u64 = 0x0046_0001;
const BLOCK: usize = 512;

/// A host with one controller and one I/O queue.
struct Host<S> {
    service: S,
    now: Instant,
    admin: Queue,
    io: Queue,
    cid: u16,
    closed: Vec<Queue>,
}

fn options(profile: &str) -> Options {
    Options::new(Profile::builtin(profile).expect("built in"), Seed::new(1))
}

fn subsystem(profile: &str) -> Subsystem {
    Subsystem::new(options(profile)).expect("sound options")
}

fn connect_request(nqn: &str, queue_id: u16, controller_id: u16) -> ConnectRequest {
    ConnectRequest {
        cid: 0,
        command: Connect {
            record_format: 0,
            queue_id,
            queue_entries: 32,
            attributes: 0,
            keep_alive_ms: if queue_id == 0 { 5000 } else { 0 },
        },
        data: ConnectData {
            host_id: [7; 16],
            controller_id,
            subsystem_nqn: nqn.to_owned(),
            host_nqn: "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000007".to_owned(),
        },
    }
}

/// Connects, enables, and opens I/O queue 1; keep-alive is off.
fn host_of(mut service: Subsystem, now: Instant) -> Host<Subsystem> {
    let mut request = connect_request(service.nqn(), 0, DYNAMIC_CONTROLLER);
    request.command.keep_alive_ms = 0;
    let admin = service.connect(now, &request).expect("a free controller").queue;
    let mut host = Host { service, now, admin, io: admin, cid: 0, closed: Vec::new() };
    let set = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: ENABLE };
    host.admin(set.encode()).expect("it enables");
    let mut request = connect_request(host.service.nqn(), 1, admin.controller_id());
    request.command.queue_entries = 128;
    host.io = host.service.connect(now, &request).expect("a free queue").queue;
    host
}

fn host(profile: &str) -> Host<Subsystem> {
    host_of(subsystem(profile), Instant::ZERO)
}

/// What a command came to: result and data, or its status with Do Not Retry.
type CommandEnd = Result<(u64, Vec<u8>), Status>;

impl<S: Service> Host<S> {
    /// Sends a command whose answer takes no data, and waits for it.
    fn admin(&mut self, sqe: Sqe) -> CommandEnd {
        let queue = self.admin;
        self.send(queue, sqe, 1 << 20, &[])
    }

    /// Sends a command with `len` bytes of room or `data` to fetch, and waits for its end.
    fn send(&mut self, queue: Queue, sqe: Sqe, len: usize, data: &[u8]) -> CommandEnd {
        let length = if data.is_empty() { len } else { data.len() } as u32;
        let accepted = self.submit(queue, sqe.with_sgl(Sgl::Transport { length }), &[]);
        let cid = self.cid;
        self.wait(queue, cid, accepted, data)
    }

    /// Sends a command with its data inside.
    fn send_in_capsule(&mut self, queue: Queue, sqe: Sqe, data: &[u8]) -> CommandEnd {
        let sgl = Sgl::InCapsule { offset: 0, length: data.len() as u32 };
        let accepted = self.submit(queue, sqe.with_sgl(sgl), data);
        let cid = self.cid;
        self.wait(queue, cid, accepted, data)
    }

    fn submit(&mut self, queue: Queue, mut sqe: Sqe, capsule_data: &[u8]) -> Accepted {
        self.cid = self.cid.wrapping_add(1);
        sqe.cid = self.cid;
        self.service.submit(self.now, queue, &sqe, capsule_data)
    }

    fn wait(&mut self, queue: Queue, cid: u16, accepted: Accepted, data: &[u8]) -> CommandEnd {
        let accepted = match accepted {
            Accepted::NeedsData { ticket, len_bytes } => {
                self.service.data(self.now, ticket, &data[..len_bytes as usize])
            }
            Accepted::NeedsBlocks { ticket, blocks } => {
                let backing = self.service.backing().expect("a drive has one");
                backing.write_at(blocks.offset_bytes, &data[..blocks.len_bytes as usize]).expect("in range");
                self.service.stored(self.now, ticket)
            }
            other => other,
        };
        match accepted {
            Accepted::Done(reply) => self.read(queue, cid, reply),
            Accepted::Pending => self.wait_for(queue, cid),
            other => panic!("{other:?} is no answer"),
        }
    }

    /// Moves time from event to event until the command ends.
    fn wait_for(&mut self, queue: Queue, cid: u16) -> CommandEnd {
        for _ in 0..1_000_000 {
            let next = self.service.next_event().expect("something will happen");
            for (from, reply) in self.go_to(next.max(self.now)) {
                if (from, reply.completion.cid) == (queue, cid) {
                    return self.read(queue, cid, reply);
                }
            }
        }
        panic!("command {cid} never ends");
    }

    /// Moves time to `until`; what was answered meanwhile.
    fn go_to(&mut self, until: Instant) -> Vec<(Queue, Reply)> {
        self.now = self.now.max(until);
        let mut out = Vec::new();
        self.service.advance(self.now, &mut out);
        let mut replies = Vec::new();
        for outcome in out {
            match outcome {
                HostEvent::Reply(queue, reply) => replies.push((queue, reply)),
                HostEvent::Close(queue) => self.closed.push(queue),
            }
        }
        replies
    }

    fn pass(&mut self, span: Duration) -> Vec<(Queue, Reply)> {
        self.go_to(self.now + span)
    }

    fn read(&self, queue: Queue, cid: u16, reply: Reply) -> CommandEnd {
        assert_eq!((reply.completion.cid, reply.completion.sq_id), (cid, queue.queue_id()));
        if !reply.completion.status.is_success() {
            assert_eq!(reply.payload, Payload::None, "no data before a failure");
            return Err(reply.completion.status);
        }
        let data = match reply.payload {
            Payload::None => Vec::new(),
            Payload::Bytes(bytes) => bytes,
            Payload::Blocks(blocks) => {
                let mut data = vec![0; blocks.len_bytes as usize];
                let backing = self.service.backing().expect("a drive has one");
                backing.read_at(blocks.offset_bytes, &mut data).expect("in range");
                data
            }
        };
        Ok((reply.completion.result, data))
    }

    fn get_log(&mut self, lid: LogId, len: usize) -> Result<Vec<u8>, Status> {
        let command = AdminCommand::GetLogPage(GetLogPage::controller(lid, len as u64));
        let queue = self.admin;
        self.send(queue, command.encode(), len, &[]).map(|(_, page)| page)
    }

    fn get(&mut self, fid: FeatureId, select: Select) -> Result<u32, Status> {
        let command = AdminCommand::GetFeatures(GetFeatures::controller(fid, select));
        self.admin(command.encode()).map(|(result, _)| result as u32)
    }

    fn set(&mut self, fid: FeatureId, value: u32, save: bool) -> Result<u32, Status> {
        let command = AdminCommand::SetFeatures(SetFeatures::controller(fid, value, save));
        self.admin(command.encode()).map(|(result, _)| result as u32)
    }

    fn write(&mut self, lba: u64, data: &[u8]) -> Result<(), Status> {
        let command = IoCommand::Write(transfer(lba, data.len()));
        let queue = self.io;
        self.send(queue, command.encode(1), 0, data).map(|_| ())
    }

    fn read_blocks(&mut self, lba: u64, len: usize) -> Result<Vec<u8>, Status> {
        let command = IoCommand::Read(transfer(lba, len));
        let queue = self.io;
        self.send(queue, command.encode(1), len, &[]).map(|(_, data)| data)
    }
}

fn transfer(lba: u64, len: usize) -> Transfer {
    Transfer { start: Lba::new(lba), blocks: (len / BLOCK) as u32, fua: false }
}

/// A status as the controller tells it where repeating is of no use.
const fn never(status: Status) -> Status {
    status.do_not_retry()
}
