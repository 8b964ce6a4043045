//! Where I/O goes, and which clock tells its time: the one seam between the load and a drive.
//!
//! An [`IoPath`] is used by one thread. The loop that drives it ([`super::drive`]) is generic over it, so that
//! a ring on a real device, the null path and a simulated drive run through the same code.
//!
//! # The contract
//! - The caller validates: offsets and lengths are within the target and aligned, a token is not in flight
//!   twice, no more I/Os are in flight than the path was made for. A path may assert it.
//! - [`IoPath::queue`] cannot fail and costs no system call; [`IoPath::commit`] hands everything queued over.
//! - Every I/O that was committed completes exactly once, with what the device said. A path judges nothing:
//!   a transfer shorter than asked is `Ok(shorter)`.
//! - Time never runs backwards: `commit` and the completions of `reap` carry times no earlier than any time that
//!   the path has told before, and completions come in order of time.
//! - [`IoPath::reap`] returns at the first completions, or at `until` without any; with [`Instant::NEVER`] it
//!   waits for completions. A signal may make it return early and empty-handed.

use measure::record::Op;
use measure::{Bytes, Instant};
use thiserror::Error;

/// One I/O to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Comes back with the completion; see [`Io::token`].
    pub token: u64,
    /// What to do; never [`Op::Idle`].
    pub op: Op,
    /// Where, in bytes from the start of the target.
    pub offset: u64,
    /// How much, in bytes.
    pub len: u32,
    /// Past the page cache. A path over a real drive was opened one way or the other and does not look at it.
    pub direct: bool,
}

impl Io {
    /// The token of an I/O: which worker made it, in which of its slots.
    pub const fn token(worker: u32, slot: u16) -> u64 {
        (worker as u64) << 16 | slot as u64
    }

    /// The slot in its worker, below the worker's depth.
    pub const fn slot(token: u64) -> u16 {
        (token & 0xffff) as u16
    }

    /// The worker that made it.
    pub const fn worker(token: u64) -> u32 {
        (token >> 16) as u32
    }
}

/// What came of an I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoCompletion {
    /// The I/O's token.
    pub token: u64,
    /// When its completion was seen; in simulated time, when it completed.
    pub t: Instant,
    /// Bytes transferred, or the system's error number.
    pub result: Result<u32, i32>,
}

/// Where I/O goes. The contract stands in the module's header.
pub trait IoPath {
    /// The present, on the clock of this path.
    fn now(&self) -> Instant;

    /// Takes an I/O, to be started by the next [`IoPath::commit`].
    fn queue(&mut self, io: Io);

    /// How many I/Os to queue at most before they are committed.
    fn batch_max(&self) -> usize;

    /// Starts everything queued; returns when the device had taken it.
    fn commit(&mut self) -> Result<Instant, PathError>;

    /// Adds what has completed to `done`; waits for the first completion, but not beyond `until`.
    fn reap(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Result<(), PathError>;

    /// Whether the drive is known to complete what is in flight, however late: a simulated one that stops until it is cool
    /// does, of a real one nobody knows.
    fn answers_later(&mut self) -> bool {
        false
    }
}

/// Why a path cannot go on. An I/O that fails is not among them: it is a [`IoCompletion`].
#[derive(Debug, Error)]
pub enum PathError {
    /// The path could not be set up.
    #[error("cannot {what}: {source}; {advice}")]
    Setup {
        /// What was attempted, as a verb.
        what: String,
        /// What the system said.
        source: std::io::Error,
        /// What to do about it.
        advice: &'static str,
    },
    /// The system refused to take I/O or to tell what had completed.
    #[error(
        "cannot {what} I/O through io_uring: {source}; the load was ended, what was measured before is kept"
    )]
    Ring {
        /// What was attempted, as a verb.
        what: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The connection to the drive broke, or could not be made.
    #[error("{0}; what was measured before is kept")]
    Fabric(#[from] nvme::host::HostError),
    /// Somebody has made the file under load shorter.
    #[error(
        "the file under load was cut from {from} to {to} by somebody else; the load was ended, what was measured before \
         is kept. See who changes it (fuser), and start again"
    )]
    Truncated {
        /// How much of it was used.
        from: Bytes,
        /// How long it is now.
        to: Bytes,
    },
    /// Nothing has completed for very long.
    #[error(
        "the drive does not answer: {in_flight} I/Os in flight and none completed for {seconds} s; \
         look into the kernel's log, what was measured before is kept"
    )]
    NoAnswer {
        /// How many are waited for.
        in_flight: usize,
        /// How long, in seconds.
        seconds: u64,
    },
}

/// `EIO` (errno(3)): what a short transfer is counted as.
pub const EIO: i32 = 5;
