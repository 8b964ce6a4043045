//! An NVMe controller over the simulated drive, without any transport.
//!
//! [`Subsystem`] is one drive with its controllers, [`Discovery`] the service that lists several.
//! Both are a [`Service`]: commands go in with the time at which they came, replies come out at the
//! time at which the drive has served them. What was accepted ends exactly once.
//!
//! # For a transport
//! 1. Read Connect, make a [`ConnectRequest`] of it, find the service by its subsystem name (or
//!    [`ConnectRequest::refuse`]), call [`Service::connect`]. The connection now has a [`Queue`].
//! 2. Hand every further command to [`Service::submit`] and do what [`Accepted`] says.
//! 3. Call [`Service::advance`] at [`Service::next_event`], which any call may have moved, and send
//!    what comes out. Data of the namespace are read from and written to [`Backing`] outside of any
//!    lock around the service.
//! 4. When a connection breaks off, call [`Service::disconnect`].
//!
//! [`Direct`] is the way past all that, for a host in the same process.
//!
//! # What it does not do
//! It opens no socket, starts no thread, holds no lock, reads no clock. Time must not run backwards
//! between calls; if it does, the later one counts.
//!
//! # Where the numbers come from
//! NVMe Base 2.3 and NVM Command Set 1.1; what Linux 6.1 and 6.12, nvme-cli 2.3 and smartctl 7.3 ask
//! for and accept.

mod admin;
mod backing;
mod command;
mod connect;
mod direct;
mod discovery;
mod events;
mod fault;
mod health;
mod hosts;
mod io;
mod options;
mod power;
mod reply;
mod saved;
mod subsystem;

use std::sync::Arc;

use measure::Instant;
use nvme::Status;
use nvme::command::{Completion, Sqe};

pub use backing::{Backing, BackingError, BackingFile, ChunkPiece, backing_name};
pub use connect::{ConnectRequest, Connected};
pub use direct::Direct;
pub use discovery::Discovery;
pub use fault::{Act, Fault, FaultMatch, QueueKind, SensorName};
pub use options::{
    BackingOptions, MEMORY_LIMIT_BYTES, Options, OptionsError, Scale, SubsystemIdentity, SubsystemLimits,
};
pub use reply::{Accepted, Blocks, HostEvent, Payload, Queue, Reply, Ticket};
pub use saved::{
    SavedFeature, SavedSelfTest, SavedSelfTestResult, SavedSelfTests, SavedState, SavedStateError,
};
pub use subsystem::Subsystem;

/// The one namespace.
const NSID: u32 = 1;

/// What a transport serves: a drive, or the list of drives.
pub trait Service: Send {
    /// The name under which hosts connect to it.
    fn nqn(&self) -> &str;

    /// The store behind [`Payload::Blocks`] and [`Accepted::NeedsBlocks`]; `None` where neither occurs.
    fn backing(&self) -> Option<&Arc<Backing>>;

    /// Whether it can be reached at all. If not, a transport takes no connection for it and breaks
    /// off those it has.
    fn is_present(&self) -> bool;

    /// Makes a connection a queue. An admin queue makes a controller.
    ///
    /// # Errors
    /// The completion to refuse it with; the connection is then closed.
    fn connect(&mut self, now: Instant, request: &ConnectRequest) -> Result<Connected, Completion>;

    /// A connection broke off: its commands end unanswered. With the admin queue the controller goes,
    /// and its other queues with it ([`HostEvent::Close`]). A queue that is gone already is no matter.
    fn disconnect(&mut self, now: Instant, queue: Queue);

    /// Takes a command that came on `queue`, with the data inside its capsule (not a byte more).
    fn submit(&mut self, now: Instant, queue: Queue, sqe: &Sqe, capsule_data: &[u8]) -> Accepted;

    /// Counts a command of `queue` that the transport answers by itself (authentication): a sign of life, and an entry
    /// of the queue. Returns SQHD for its completion; `None` when the queue is no more.
    fn note(&mut self, now: Instant, queue: Queue) -> Option<u16>;

    /// Goes on with a command whose data are here whole ([`Accepted::NeedsData`]).
    fn data(&mut self, now: Instant, ticket: Ticket, data: &[u8]) -> Accepted;

    /// Goes on with a command whose data are in the backing store ([`Accepted::NeedsBlocks`]).
    fn stored(&mut self, now: Instant, ticket: Ticket) -> Accepted;

    /// Ends a command whose data could not be had or stored, with `status`.
    fn fail(&mut self, now: Instant, ticket: Ticket, status: Status) -> Accepted;

    /// Lets time pass until `now` and appends what has come out by then, in order of time.
    fn advance(&mut self, now: Instant, out: &mut Vec<HostEvent>);

    /// When something may next come out; `None` for never, unless something is submitted. An instant
    /// in the past means now.
    fn next_event(&self) -> Option<Instant>;
}

#[cfg(test)]
mod test;
