//! Commands under way: each has a permit, and a permit is used up exactly once.
//!
//! This is what makes every accepted command end exactly once: a [`Permit`] comes into being when a
//! command is accepted, cannot be copied, and goes only by a reply or because its queue has gone.

use measure::Instant;
use nvme::Status;
use nvme::command::Sqe;

use super::{Blocks, Payload, Queue, Ticket};

/// The right, and the duty, to end one command.
#[derive(Debug)]
pub(super) struct Permit {
    queue: Queue,
    cid: u16,
    open: bool,
}

impl Permit {
    pub(super) const fn new(queue: Queue, cid: u16) -> Self {
        Self { queue, cid, open: true }
    }

    pub(super) const fn queue(&self) -> Queue {
        self.queue
    }

    pub(super) const fn cid(&self) -> u16 {
        self.cid
    }

    /// Uses the permit up: its command is answered, or its queue has gone.
    pub(super) fn close(mut self) {
        self.open = false;
    }
}

impl Drop for Permit {
    /// A dropped permit is a command that never ends: a mistake of ours, caught in tests.
    fn drop(&mut self) {
        if self.open && !std::thread::panicking() {
            debug_assert!(false, "command {} of {:?} was forgotten", self.cid, self.queue);
        }
    }
}

/// How a command ends.
pub(super) type Answer = Result<Success, Failure>;

/// A command that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Success {
    pub(super) result: u64,
    pub(super) payload: Payload,
}

impl Success {
    /// Without data or result.
    pub(super) const NOTHING: Self = Self { result: 0, payload: Payload::None };

    pub(super) const fn with_result(result: u32) -> Self {
        Self { result: result as u64, payload: Payload::None }
    }
}

/// A command that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) status: Status,
    /// Byte 7:0 and bit 10:8 of the command that was wrong (error log, bytes 15:14).
    pub(super) location: u16,
    /// First block that failed.
    pub(super) lba: u64,
}

/// No byte of the command is to blame.
const NOWHERE: u16 = 0xffff;
/// First byte of command dword 10.
const DWORD_10: u16 = 40;

impl Failure {
    /// A failure that comes again if the command does.
    pub(super) const fn new(status: Status) -> Self {
        Self::as_is(status.do_not_retry())
    }

    /// A failure with a status whose retry bits are right already.
    pub(super) const fn as_is(status: Status) -> Self {
        Self { status, location: NOWHERE, lba: 0 }
    }

    /// The same because of command dword `number` (10 to 15).
    pub(super) const fn in_dword(status: Status, number: u16) -> Self {
        Self { location: DWORD_10 + (number - 10) * 4, ..Self::new(status) }
    }

    /// The same because of the namespace identifier.
    pub(super) const fn in_nsid(status: Status) -> Self {
        Self { location: 4, ..Self::new(status) }
    }

    /// The same because of the data pointer.
    pub(super) const fn in_data_pointer(status: Status) -> Self {
        Self { location: 24, ..Self::new(status) }
    }
}

impl From<Status> for Failure {
    fn from(status: Status) -> Self {
        Self::new(status)
    }
}

/// A command that waits for something.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) permit: Permit,
    pub(super) sqe: Sqe,
    pub(super) stage: Stage,
    /// A fault holds its answer back until then.
    pub(super) not_before: Option<Instant>,
}

/// What a command waits for.
#[derive(Debug)]
pub(super) enum Stage {
    /// Its data, in memory; so many bytes.
    Data(u32),
    /// Its data, of no use to anybody: a fault ignores the command.
    Discard(u32),
    /// Its data, in the backing store.
    Blocks(Blocks),
    /// The drive; then this is sent.
    Drive(Payload),
    /// An event (Asynchronous Event Request).
    Event,
    /// The end of a delay; this is the answer.
    Held(Answer),
    /// Nothing: a fault lost it.
    Lost,
}

/// Where a command waits; never used for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CommandKey {
    slot: u32,
    generation: u32,
}

impl CommandKey {
    /// As a token of the drive.
    pub(super) const fn token(self) -> u64 {
        (self.generation as u64) << 32 | self.slot as u64
    }

    pub(super) const fn of_token(token: u64) -> Self {
        Self { slot: token as u32, generation: (token >> 32) as u32 }
    }

    pub(super) const fn ticket(self) -> Ticket {
        Ticket { slot: self.slot, generation: self.generation }
    }

    #[expect(clippy::needless_pass_by_value, reason = "a ticket is handed back once")]
    pub(super) const fn of_ticket(ticket: Ticket) -> Self {
        Self { slot: ticket.slot, generation: ticket.generation }
    }
}

/// All commands that wait. Bounded by the queues: each has at most as many as it has entries.
#[derive(Debug, Default)]
pub(super) struct Commands {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    command: Option<Command>,
}

impl Commands {
    pub(super) fn put(&mut self, command: Command) -> CommandKey {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        let place = &mut self.slots[slot as usize];
        place.command = Some(command);
        CommandKey { slot, generation: place.generation }
    }

    /// The command at `key`, unless it has ended.
    pub(super) fn get(&self, key: CommandKey) -> Option<&Command> {
        let slot = self.slots.get(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        slot.command.as_ref()
    }

    /// Takes the command at `key` out, unless it has ended.
    pub(super) fn take(&mut self, key: CommandKey) -> Option<Command> {
        let slot = self.slots.get_mut(key.slot as usize).filter(|slot| slot.generation == key.generation)?;
        let command = slot.command.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(key.slot);
        Some(command)
    }

    /// The command with this identifier on this queue.
    pub(super) fn find(&self, queue: Queue, cid: u16) -> Option<CommandKey> {
        self.keys(|command| command.permit.queue() == queue && command.permit.cid() == cid).next()
    }

    /// Those for which `wanted` holds, in the order of their slots.
    pub(super) fn keys(&self, wanted: impl Fn(&Command) -> bool) -> impl Iterator<Item = CommandKey> {
        self.slots.iter().enumerate().filter_map(move |(index, slot)| {
            let command = slot.command.as_ref()?;
            wanted(command).then_some(CommandKey { slot: index as u32, generation: slot.generation })
        })
    }

    /// Commands that wait.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Ends the commands of a queue that has gone, unanswered.
    pub(super) fn abandon(&mut self, queue: Queue) {
        let keys: Vec<CommandKey> = self.keys(|command| command.permit.queue() == queue).collect();
        for key in keys {
            if let Some(command) = self.take(key) {
                command.permit.close();
            }
        }
    }
}

impl Drop for Commands {
    /// With the service all queues go.
    fn drop(&mut self) {
        for command in self.slots.drain(..).filter_map(|slot| slot.command) {
            command.permit.close();
        }
    }
}
