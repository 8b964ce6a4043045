//! The discovery service: which subsystems there are, and where.

use std::sync::Arc;

use measure::Instant;
use nvme::Status;
use nvme::command::{Completion, Sqe};
use nvme::log::discovery::{DISCOVERY_NQN, DiscoveryRecord};

use super::{Accepted, Backing, ConnectRequest, Connected, Outcome, Queue, Service, Ticket};

/// Lists subsystems to hosts that ask (log page 70h).
#[derive(Debug)]
pub struct Discovery {
    records: Vec<DiscoveryRecord>,
    generation: u64,
}

impl Discovery {
    /// A service that lists `records`.
    pub fn new(records: Vec<DiscoveryRecord>) -> Self {
        Self { records, generation: 1 }
    }

    /// Lists other `records` from now on; hosts that asked to be told are.
    pub fn set_records(&mut self, _now: Instant, records: Vec<DiscoveryRecord>) {
        self.records = records;
        self.generation += 1;
    }
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

    fn connect(&mut self, _now: Instant, request: &ConnectRequest) -> Result<Connected, Completion> {
        Err(request.refuse_with(Status::CONNECT_BUSY))
    }

    fn disconnect(&mut self, _now: Instant, _queue: Queue) {}

    fn submit(&mut self, _now: Instant, _queue: Queue, _sqe: &Sqe, _capsule_data: &[u8]) -> Accepted {
        Accepted::Close
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

    fn advance(&mut self, _now: Instant, _out: &mut Vec<Outcome>) {}

    fn next_event(&self) -> Option<Instant> {
        None
    }
}
