//! One queue: a connection with several commands in flight, each in a slot with memory of its own.
//!
//! Nothing is allocated per command, and data goes from the socket to its slot without a detour where
//! it is large. Waiting is `poll` on the socket: the caller's thread does everything.

use std::any::Any;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

use measure::{Clock as _, Instant, MonotonicClock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::outbox::Outbox;
use super::patience::GiveUp;
use crate::command::{Completion, Sgl, Sqe};
use crate::host::HostError;
use crate::tcp::{DataPdu, Digest, Framing, Pdu, PduError, PduReader, Side, TermReq};

/// Bytes of the buffer that small PDUs are received through: some sixty of 4 KiB in one call.
pub(super) const RECEIVE_BYTES: usize = 1 << 18;
/// Most slots of a queue: the rest of the 16-bit identifier tells one use of a slot from the next.
const SLOTS_MAX: usize = 1 << CID_SLOT_BITS;
const CID_SLOT_BITS: u32 = 12;

/// Which way the data of a command goes, and how much of it there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// No data.
    None,
    /// To the slot's memory.
    Read(usize),
    /// From the slot's memory.
    Write {
        /// Where in the slot's memory it lies.
        at: usize,
        /// Bytes.
        len: usize,
    },
}

impl Direction {
    /// `len` bytes from the beginning of the slot's memory.
    pub const fn write(len: usize) -> Self {
        Self::Write { at: 0, len }
    }
}

/// A connection with commands in flight.
#[derive(Debug)]
pub struct TcpQueue {
    pub(super) stream: TcpStream,
    pub(super) device: String,
    pub(super) reader: PduReader,
    pub(super) framing: Framing,
    /// Most data in one PDU to the controller.
    pub(super) h2c_data_max: usize,
    /// Most data inside a command.
    pub(super) in_capsule_max: usize,
    pub(super) memory: Box<[u8]>,
    pub(super) stride: usize,
    pub(super) slots: Box<[QueueSlot]>,
    pub(super) outbox: Outbox,
    /// What was received and not yet looked at.
    pub(super) received: Box<[u8]>,
    pub(super) received_at: usize,
    pub(super) received_end: usize,
    /// The slot that the data of the present PDU belongs to.
    pub(super) incoming: Option<DataPdu>,
    clock: MonotonicClock,
    /// Ends the wait for an answer before its time.
    pub(super) give_up: GiveUp,
    in_flight: usize,
    /// Why nothing more can be done here.
    broken: Option<String>,
    /// What is dropped with the queue: an I/O queue keeps its controller, and the end of the admin queue ends the
    /// thread that keeps the controller alive.
    pub(super) kept: Option<Box<dyn Any + Send>>,
}

/// A place for one command.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueSlot {
    pub(super) cid: u16,
    pub(super) busy: bool,
    pub(super) direction: Direction,
    /// Bytes of data that came or were asked for by the controller.
    pub(super) moved: usize,
    /// A data digest was wrong: the data is not to be believed.
    pub(super) damaged: bool,
}

/// Why a connection cannot go on, before it has a name.
#[derive(Debug)]
pub(super) enum Broken {
    /// The system says so.
    Io(io::Error),
    /// The target's bytes make no sense.
    Pdu(PduError),
    /// The target does what it may not, or says that we did.
    Target(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl TcpQueue {
    /// A queue over a connection that is initialised, with `slots` commands of up to `stride` bytes.
    pub(super) fn new(
        stream: TcpStream,
        device: String,
        reader: PduReader,
        slots: usize,
        stride: usize,
    ) -> Self {
        let empty = QueueSlot { cid: 0, busy: false, direction: Direction::None, moved: 0, damaged: false };
        let slots: Box<[QueueSlot]> =
            (0..slots.clamp(1, SLOTS_MAX)).map(|index| QueueSlot { cid: index as u16, ..empty }).collect();
        Self {
            stream,
            device,
            reader,
            framing: Framing::PLAIN,
            h2c_data_max: 4096,
            in_capsule_max: 0,
            memory: vec![0; slots.len() * stride].into_boxed_slice(),
            stride,
            slots,
            outbox: Outbox::default(),
            received: vec![0; RECEIVE_BYTES].into_boxed_slice(),
            received_at: 0,
            received_end: 0,
            incoming: None,
            clock: MonotonicClock::start(),
            give_up: GiveUp::default(),
            in_flight: 0,
            broken: None,
            kept: None,
        }
    }

    /// What errors call the drive.
    pub fn name(&self) -> &str {
        &self.device
    }

    /// How many commands can be in flight.
    pub const fn depth(&self) -> usize {
        self.slots.len()
    }

    /// Most bytes of one command.
    pub const fn data_max(&self) -> usize {
        self.stride
    }

    /// Commands in flight.
    pub const fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The present, on the clock that waits are measured by.
    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The memory of a slot: what a read brought, or what the next write takes.
    ///
    /// # Panics
    /// When there is no such slot.
    pub fn memory(&mut self, slot: u16) -> &mut [u8] {
        let at = usize::from(slot) * self.stride;
        &mut self.memory[at..at + self.stride]
    }

    /// Puts a command into a free slot, to be sent by [`TcpQueue::flush`].
    ///
    /// # Panics
    /// When the slot is in use or its memory is smaller than the data: a mistake of the caller.
    pub fn submit(&mut self, slot: u16, command: &Sqe, direction: Direction) {
        if self.broken.is_some() {
            // Told by the next flush; slots of commands that will never end are of no use any more.
            return;
        }
        let index = usize::from(slot);
        let state = &mut self.slots[index];
        assert!(!state.busy, "slot {slot} is in use");
        let next_use = (state.cid >> CID_SLOT_BITS).wrapping_add(1);
        state.cid = next_use << CID_SLOT_BITS | slot;
        (state.busy, state.direction, state.moved, state.damaged) = (true, direction, 0, false);
        let mut sqe = Sqe { cid: state.cid, ..*command };
        let (at, len) = match direction {
            Direction::None => (0, 0),
            Direction::Read(len) => (0, len),
            Direction::Write { at, len } => (at, len),
        };
        assert!(at + len <= self.stride, "{len} bytes at {at} do not fit the {} of a slot", self.stride);
        self.in_flight += 1;
        let inside = matches!(direction, Direction::Write { .. }) && len <= self.in_capsule_max;
        sqe = sqe.with_sgl(if inside {
            Sgl::InCapsule { offset: 0, length: len as u32 }
        } else {
            Sgl::Transport { length: len as u32 }
        });
        // What travels inside the command has moved with it.
        self.slots[index].moved = if inside { len } else { 0 };
        let framing = self.framing;
        let data = if inside { &self.memory[index * self.stride + at..][..len] } else { &[][..] };
        let pdu = Pdu::CapsuleCmd { sqe, data_len: data.len() as u32 };
        self.outbox.add(|out| pdu.encode(framing, data, out));
    }

    /// Queues the data that the controller has asked for.
    pub(super) fn send_data(&mut self, slot: usize, tag: u16, offset: usize, len: usize) {
        let QueueSlot { cid, direction: Direction::Write { at: start, .. }, .. } = self.slots[slot] else {
            return;
        };
        let framing = self.framing;
        let mut done = 0;
        while done < len {
            let piece = (len - done).min(self.h2c_data_max);
            let at = slot * self.stride + start + offset + done;
            let pdu = Pdu::H2cData(DataPdu {
                cid,
                tag,
                offset: (offset + done) as u32,
                len: piece as u32,
                last: done + piece == len,
                success: false,
            });
            self.outbox.add(|out| pdu.encode_header(framing, out));
            self.outbox.add_memory(at, piece);
            if pdu.has_data_digest(framing) {
                let digest = Digest::compute(&self.memory[at..at + piece]);
                self.outbox.add(|out| out.extend(digest.encode()));
            }
            done += piece;
        }
    }

    /// Notes that the command of a slot is over.
    pub(super) fn free(&mut self, slot: usize) {
        self.slots[slot].busy = false;
        self.in_flight -= 1;
    }

    /// The slot of a command in flight.
    pub(super) fn slot_of(&self, cid: u16) -> Option<usize> {
        let index = usize::from(cid) & (SLOTS_MAX - 1);
        self.slots.get(index).is_some_and(|slot| slot.busy && slot.cid == cid).then_some(index)
    }

    /// Sends what was submitted, as far as it goes without waiting; [`TcpQueue::wait`] sends the rest.
    ///
    /// # Errors
    /// [`HostError::Connection`] when the connection broke, now or before.
    pub fn flush(&mut self) -> Result<(), HostError> {
        self.check()?;
        let sent = self.outbox.send(&self.stream, &self.memory);
        sent.map_err(|error| self.break_off(Broken::Io(error)))
    }

    /// Adds what has completed to `done`, as slot and completion; waits for the first one, but no
    /// longer than `span`. Data with a wrong digest is a Transient Transport Error, and a success that
    /// moved less than was asked a Data Transfer Error.
    ///
    /// # Errors
    /// [`HostError::Connection`] when the connection broke, now or before; or when the target breaks
    /// the protocol, after a termination request has told it.
    pub fn wait(&mut self, span: Duration, done: &mut Vec<(u16, Completion)>) -> Result<(), HostError> {
        self.check()?;
        self.wait_inner(span, done).map_err(|broken| self.break_off(broken))
    }

    fn wait_inner(&mut self, span: Duration, done: &mut Vec<(u16, Completion)>) -> Result<(), Broken> {
        let limit = self.clock.now() + span;
        loop {
            self.outbox.send(&self.stream, &self.memory)?;
            let came = self.receive(done)?;
            // A target may say for ever what completes nothing.
            if !done.is_empty() || (came && self.clock.now() >= limit) {
                return Ok(());
            }
            if !came && !self.poll(limit)? {
                return Ok(());
            }
        }
    }

    /// Waits until the socket has or takes something; false when `limit` came first, or a signal.
    fn poll(&self, limit: Instant) -> io::Result<bool> {
        let left = limit.since(self.clock.now());
        let mut flags = PollFlags::IN;
        if !self.outbox.is_empty() {
            flags |= PollFlags::OUT;
        }
        let mut fds = [PollFd::new(&self.stream, flags)];
        // A wait of a day stands for one without end; the caller asks again.
        let left = left.min(Duration::from_secs(86_400));
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Does nothing for `span`, or until the target says something.
    pub(super) fn pause(&self, span: Duration) {
        // Whatever comes is found by whoever waits next.
        let _ = self.poll(self.clock.now() + span);
    }

    fn check(&self) -> Result<(), HostError> {
        self.broken.as_ref().map_or(Ok(()), |why| Err(self.error("a command", why.clone())))
    }

    pub(super) fn error(&self, what: &str, why: String) -> HostError {
        HostError::Connection { device: self.device.clone(), what: what.to_owned(), why }
    }

    /// Ends the connection, telling the target why if it broke the protocol.
    pub(super) fn break_off(&mut self, broken: Broken) -> HostError {
        let why = match broken {
            Broken::Io(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof => "the target closed the connection".to_owned(),
                _ => error.to_string(),
            },
            Broken::Target(why) => why,
            Broken::Pdu(error) => {
                let mut bytes = Vec::new();
                TermReq::encode(Side::Host, &error, self.reader.offending_header(), &mut bytes);
                // In the middle of other bytes it would mean nothing.
                if self.outbox.is_empty() {
                    self.outbox.add(|out| out.extend(&bytes));
                    // The connection ends in any case.
                    let _ = self.outbox.send(&self.stream, &self.memory);
                }
                format!("the target broke the protocol: {error}")
            }
        };
        // Nobody waits for it any more, so nobody is told that it could not be shut.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        self.broken = Some(why.clone());
        self.error("the conversation", why)
    }
}
