//! What passes between a transport and a subsystem: queues, answers, and where data go.

use nvme::Status;
use nvme::command::Completion;

/// A queue of a controller, as a connection holds it.
///
/// Never used for another queue again, so a connection that is late cannot reach a stranger's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Queue {
    pub(super) number: u64,
    pub(super) controller_id: u16,
    pub(super) queue_id: u16,
}

impl Queue {
    /// The controller it belongs to (CNTLID).
    pub const fn controller_id(self) -> u16 {
        self.controller_id
    }

    /// Its number; 0 is the admin queue.
    pub const fn queue_id(self) -> u16 {
        self.queue_id
    }

    /// Whether it is the admin queue.
    pub const fn is_admin(self) -> bool {
        self.queue_id == 0
    }
}

/// A run of bytes of the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// First byte.
    pub offset_bytes: u64,
    /// How many, at most the largest transfer (MDTS).
    pub len_bytes: u32,
}

/// The data that go to the host before a completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// None.
    None,
    /// These.
    Bytes(Vec<u8>),
    /// Those of the namespace: the transport reads them from the backing store, outside the
    /// subsystem's lock. If that fails, it sends [`Reply::failed`] instead.
    Blocks(Blocks),
}

impl Payload {
    /// How many bytes.
    pub const fn len_bytes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Bytes(bytes) => bytes.len(),
            Self::Blocks(blocks) => blocks.len_bytes as usize,
        }
    }
}

/// How a command ended: the data to send first, then the completion. Queue fields are filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a host waits for it"]
pub struct Reply {
    /// The completion.
    pub completion: Completion,
    /// The data before it.
    pub payload: Payload,
}

impl Reply {
    /// The same command, failed with `status` and without data: what a transport sends when it
    /// could not read the data from the backing store.
    pub const fn failed(&self, status: Status) -> Self {
        let completion = Completion { result: 0, status, ..self.completion };
        Self { completion, payload: Payload::None }
    }
}

/// Stands for one command whose data are on their way from the host. Neither copied nor made
/// outside: it is handed back exactly once, to [`Service::data`](super::Service::data),
/// [`Service::stored`](super::Service::stored) or [`Service::fail`](super::Service::fail).
/// A connection that breaks off drops it and reports the loss of its queue instead.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the command waits for its data until the ticket is handed back"]
pub struct Ticket {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// What becomes of a command that was submitted.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a host waits for the answer"]
pub enum Accepted {
    /// It has ended.
    Done(Reply),
    /// It will end; the reply comes out of [`Service::advance`](super::Service::advance).
    Pending,
    /// It needs `len_bytes` of data first (R2T), which then go to
    /// [`Service::data`](super::Service::data). At most the largest transfer.
    NeedsData {
        /// Stands for the command.
        ticket: Ticket,
        /// Bytes to fetch, never 0.
        len_bytes: u32,
    },
    /// It needs its data in the namespace: fetch `blocks.len_bytes` (R2T), write them straight into
    /// the backing store as they come, then call [`Service::stored`](super::Service::stored).
    NeedsBlocks {
        /// Stands for the command.
        ticket: Ticket,
        /// Where the data go.
        blocks: Blocks,
    },
    /// The queue is no more, or shall be no more: close its connection without an answer.
    Close,
}

/// What comes out of a subsystem as time goes on.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a host waits for it"]
pub enum HostEvent {
    /// A command ended.
    Reply(Queue, Reply),
    /// The queue is no more: close its connection. Its commands will not be answered, and
    /// [`Service::disconnect`](super::Service::disconnect) need not be called (but may).
    Close(Queue),
}
