//! One drive with its controllers.

use std::collections::BTreeMap;
use std::sync::Arc;

use measure::{Celsius, Instant};
use nvme::Status;
use nvme::command::{Completion, Sqe};

use super::{
    Accepted, Backing, BackingOptions, ConnectRequest, Connected, Fault, Options, OptionsError, Outcome,
    Payload, Queue, Reply, SavedState, Scale, Service, Ticket,
};
use crate::Drive;
use crate::drive::SettingError;

/// One simulated drive behind its controllers.
#[derive(Debug)]
pub struct Subsystem {
    drive: Drive,
    options: Options,
    backing: Arc<Backing>,
    capacity_bytes: u64,
    queues: BTreeMap<u64, Queue>,
    next_number: u64,
}

impl Subsystem {
    /// The drive, switched on at [`Instant::ZERO`] and without a host.
    ///
    /// # Errors
    /// Names that cannot be told, a scale that leaves nothing, or a file that cannot be used.
    pub fn new(options: Options) -> Result<Self, OptionsError> {
        options.identity.check()?;
        let identity = &options.profile.identity;
        let block = u64::from(identity.block_bytes);
        let bandwidth = options.scale.bandwidth();
        let capacity_bytes = identity.capacity_bytes / options.scale.bytes(block) * block;
        if capacity_bytes == 0 {
            return Err(OptionsError::Scale { bandwidth, capacity_bytes: identity.capacity_bytes });
        }
        let backing = match &options.backing {
            BackingOptions::Memory { limit_bytes } => Backing::memory(capacity_bytes, *limit_bytes),
            BackingOptions::File { path } => Backing::file(path, capacity_bytes)
                .map_err(|why| OptionsError::File { path: path.clone(), why })?,
        };
        let drive = Drive::new(&options.profile, options.seed);
        let (backing, queues) = (Arc::new(backing), BTreeMap::new());
        Ok(Self { drive, options, backing, capacity_bytes, queues, next_number: 0 })
    }

    /// The drive and its truth, for tests and for people. Its time is the simulated one.
    pub const fn drive(&self) -> &Drive {
        &self.drive
    }

    /// What it was made from.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Size of the namespace as hosts see it.
    pub const fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// How time and data are scaled.
    pub const fn scale(&self) -> Scale {
        self.options.scale
    }

    /// Changes the temperature of the surroundings from `now` on.
    pub fn set_ambient(&mut self, now: Instant, ambient: Celsius) {
        self.drive_to(now);
        self.drive.set_ambient(ambient);
    }

    /// Changes the air flow from `now` on: 1 is the profile's own, more is a fan, less a closed case.
    ///
    /// # Errors
    /// A scale outside 0.01 to 100.
    pub fn set_airflow(&mut self, now: Instant, airflow: f64) -> Result<(), SettingError> {
        self.drive_to(now);
        self.drive.set_airflow(airflow)
    }

    /// Switches a fault on from `now` on; the number clears it again.
    pub fn inject(&mut self, _now: Instant, _fault: Fault) -> u32 {
        0
    }

    /// Switches the fault with this number off; whether there was one.
    pub fn clear(&mut self, _now: Instant, _number: u32) -> bool {
        false
    }

    /// Switches all faults off.
    pub fn clear_all(&mut self, _now: Instant) {}

    /// The faults that are on, with their numbers.
    pub fn faults(&self) -> impl Iterator<Item = (u32, &Fault)> {
        std::iter::empty()
    }

    /// The state to keep for the next start, if it changed since it was last taken.
    pub const fn take_saved(&mut self) -> Option<SavedState> {
        None
    }

    fn drive_to(&mut self, now: Instant) {
        self.drive.advance(self.options.scale.to_drive(now), &mut Vec::new());
    }
}

impl Service for Subsystem {
    fn nqn(&self) -> &str {
        &self.options.identity.nqn
    }

    fn backing(&self) -> Option<&Arc<Backing>> {
        Some(&self.backing)
    }

    fn is_present(&self) -> bool {
        true
    }

    fn connect(&mut self, _now: Instant, request: &ConnectRequest) -> Result<Connected, Completion> {
        if request.data.subsystem_nqn != self.nqn() {
            return Err(request.refuse(nvme::fabrics::ConnectParameter::SUBSYSTEM_NQN));
        }
        self.next_number += 1;
        let queue = Queue { number: self.next_number, controller_id: 1, queue_id: request.command.queue_id };
        self.queues.insert(queue.number, queue);
        Ok(Connected {
            queue,
            completion: Completion::success(request.cid, 1),
            in_capsule_bytes: self.options.limits.in_capsule_bytes,
            entries: request.command.queue_entries,
            no_flow_control: false,
        })
    }

    fn disconnect(&mut self, _now: Instant, queue: Queue) {
        self.queues.remove(&queue.number);
    }

    fn submit(&mut self, _now: Instant, queue: Queue, sqe: &Sqe, _capsule_data: &[u8]) -> Accepted {
        if !self.queues.contains_key(&queue.number) {
            return Accepted::Close;
        }
        let completion = Completion::failure(sqe.cid, Status::INVALID_OPCODE.do_not_retry());
        Accepted::Done(Reply { completion, payload: Payload::None })
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

    fn advance(&mut self, now: Instant, _out: &mut Vec<Outcome>) {
        self.drive_to(now);
    }

    fn next_event(&self) -> Option<Instant> {
        self.drive.next_completion().map(|then| self.options.scale.to_host(then))
    }
}
