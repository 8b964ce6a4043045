//! The drives of a server and the way from them back to the connections.
//!
//! A drive's service stands behind a lock that is held for one command or one step in time, never
//! while data move. Whoever steps a drive forward leaves what came out for other connections in
//! their mailboxes and wakes them.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use measure::Instant;
use nvme::Status;
use nvme::auth::ControllerAuth;
use nvme::command::{Completion, Sqe};
use rustix::event::{EventfdFlags, eventfd};

use super::{ServerError, state};
use crate::controller::{
    Accepted, Backing, ConnectRequest, Connected, Discovery, HostEvent, Queue, Reply, SavedState, Service,
    Subsystem, Ticket,
};

/// The services of a server by their names.
#[derive(Debug, Default)]
pub struct Shelf {
    units: Vec<Arc<Unit>>,
}

/// One service of a server: a drive, or the list of drives.
#[derive(Debug)]
pub struct Unit {
    nqn: String,
    backing: Option<Arc<Backing>>,
    /// What hosts have to prove before it takes a command of theirs.
    auth: Option<ControllerAuth>,
    inner: Mutex<Inner>,
    doors: Mutex<BTreeMap<Queue, Arc<Mailbox>>>,
    /// Held while it is written, so that an older state never follows a newer one.
    state_file: Option<Mutex<PathBuf>>,
}

#[derive(Debug)]
struct Inner {
    kind: Kind,
    /// What came out of one step, kept for its memory.
    out: Vec<HostEvent>,
}

/// What a unit serves.
#[derive(Debug)]
enum Kind {
    Drive(Box<Subsystem>),
    Discovery(Discovery),
}

impl Kind {
    fn service(&mut self) -> &mut dyn Service {
        match self {
            Self::Drive(subsystem) => subsystem.as_mut(),
            Self::Discovery(discovery) => discovery,
        }
    }
}

/// What other threads leave for a connection.
#[derive(Debug)]
pub struct Mailbox {
    mail: Mutex<Vec<Mail>>,
    wake: OwnedFd,
}

/// One thing for a connection.
#[derive(Debug)]
pub(super) enum Mail {
    /// A command of it has ended.
    Reply(Reply),
    /// It is to be closed.
    Close,
}

/// Everything behind these locks is whole between two calls; a thread that panicked changes nothing
/// about that.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mailbox {
    /// An empty mailbox.
    ///
    /// # Errors
    /// When the system has no file descriptor left.
    pub fn new() -> std::io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self { mail: Mutex::default(), wake })
    }

    /// Readable when there is mail.
    pub fn wake(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Takes all mail.
    pub(super) fn take(&self) -> Vec<Mail> {
        let mail = std::mem::take(&mut *lock(&self.mail));
        if !mail.is_empty() {
            // Readable or not, it is empty now.
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        }
        mail
    }

    /// Leaves something; true when nothing was there before, so that its owner has to be woken.
    fn put(&self, mail: Mail) -> bool {
        let mut all = lock(&self.mail);
        all.push(mail);
        all.len() == 1
    }

    fn ring(&self) {
        // A full counter is readable as well.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Tells a connection to end.
    pub fn close(&self) {
        self.put(Mail::Close);
        self.ring();
    }
}

impl Shelf {
    /// A shelf of `units`.
    pub fn new(units: Vec<Unit>) -> Self {
        Self { units: units.into_iter().map(Arc::new).collect() }
    }

    /// All units, in the order in which they were given.
    pub fn units(&self) -> &[Arc<Unit>] {
        &self.units
    }

    /// Lets time pass until `now` on all of them; what comes of it is in the mailboxes.
    pub fn step(&self, now: Instant) {
        for unit in &self.units {
            unit.step(now, None);
        }
    }

    /// The unit with this name.
    pub fn find(&self, nqn: &str) -> Option<Arc<Unit>> {
        self.units.iter().find(|unit| unit.nqn == nqn).cloned()
    }
}

impl Unit {
    /// A drive, whose saved settings are kept in `state_file`.
    pub fn drive(subsystem: Subsystem, state_file: Option<PathBuf>) -> Self {
        let (nqn, backing) = (subsystem.nqn().to_owned(), subsystem.backing().cloned());
        Self::new(nqn, backing, Kind::Drive(Box::new(subsystem)), state_file)
    }

    /// The list of drives.
    pub fn discovery(discovery: Discovery) -> Self {
        Self::new(discovery.nqn().to_owned(), None, Kind::Discovery(discovery), None)
    }

    fn new(nqn: String, backing: Option<Arc<Backing>>, kind: Kind, state_file: Option<PathBuf>) -> Self {
        let inner = Mutex::new(Inner { kind, out: Vec::new() });
        Self {
            nqn,
            backing,
            auth: None,
            inner,
            doors: Mutex::default(),
            state_file: state_file.map(Mutex::new),
        }
    }

    /// The same for hosts that prove who they are.
    pub fn authenticating(self, auth: Option<ControllerAuth>) -> Self {
        Self { auth, ..self }
    }

    pub(super) const fn auth(&self) -> Option<&ControllerAuth> {
        self.auth.as_ref()
    }

    /// The name under which hosts connect to it.
    pub fn nqn(&self) -> &str {
        &self.nqn
    }

    /// Calls `act` on the drive; `None` when this is the list of drives.
    pub fn with_drive<T>(&self, act: impl FnOnce(&mut Subsystem) -> T) -> Option<T> {
        let mut inner = lock(&self.inner);
        match &mut inner.kind {
            Kind::Drive(subsystem) => Some(act(subsystem)),
            Kind::Discovery(_) => None,
        }
    }

    /// Connections to it.
    pub fn connections(&self) -> usize {
        lock(&self.doors).len()
    }

    pub(super) fn backing(&self) -> Option<&Arc<Backing>> {
        self.backing.as_ref()
    }

    pub(super) fn write(&self, offset_bytes: u64, data: &[u8]) -> bool {
        self.backing.as_ref().is_some_and(|backing| backing.write_at(offset_bytes, data).is_ok())
    }

    pub(super) fn is_present(&self, now: Instant) -> bool {
        let mut inner = lock(&self.inner);
        let Inner { kind, out } = &mut *inner;
        kind.service().advance(now, out);
        let present = kind.service().is_present();
        let woken = self.deliver(out, None);
        drop(inner);
        woken.iter().for_each(|mailbox| mailbox.ring());
        present
    }

    pub(super) fn connect(
        &self,
        now: Instant,
        request: &ConnectRequest,
        mailbox: &Arc<Mailbox>,
    ) -> Result<Connected, Completion> {
        let mut inner = lock(&self.inner);
        let connected = inner.kind.service().connect(now, request)?;
        // Under the same lock, so that nothing can come out for a queue without a door.
        lock(&self.doors).insert(connected.queue, Arc::clone(mailbox));
        Ok(connected)
    }

    pub(super) fn disconnect(&self, now: Instant, queue: Queue) {
        lock(&self.inner).kind.service().disconnect(now, queue);
        lock(&self.doors).remove(&queue);
        // What the loss of a controller closes beside it comes out of the next step.
        self.step(now, None);
    }

    pub(super) fn submit(&self, now: Instant, queue: Queue, sqe: &Sqe, data: &[u8]) -> Accepted {
        let accepted = lock(&self.inner).kind.service().submit(now, queue, sqe, data);
        if queue.is_admin() {
            self.persist();
        }
        accepted
    }

    pub(super) fn note(&self, now: Instant, queue: Queue) -> Option<u16> {
        lock(&self.inner).kind.service().note(now, queue)
    }

    pub(super) fn data(&self, now: Instant, ticket: Ticket, data: &[u8], queue: Queue) -> Accepted {
        let accepted = lock(&self.inner).kind.service().data(now, ticket, data);
        if queue.is_admin() {
            self.persist();
        }
        accepted
    }

    pub(super) fn stored(&self, now: Instant, ticket: Ticket) -> Accepted {
        lock(&self.inner).kind.service().stored(now, ticket)
    }

    pub(super) fn fail(&self, now: Instant, ticket: Ticket, status: Status) -> Accepted {
        lock(&self.inner).kind.service().fail(now, ticket, status)
    }

    /// Lets time pass until `now` and hands out what came of it. Says when to look again.
    ///
    /// The owner of `own` will look into it by itself and is not woken.
    pub(super) fn step(&self, now: Instant, own: Option<&Arc<Mailbox>>) -> Option<Instant> {
        let mut inner = lock(&self.inner);
        let Inner { kind, out } = &mut *inner;
        let service = kind.service();
        service.advance(now, out);
        let next = service.next_event();
        let woken = if out.is_empty() { Vec::new() } else { self.deliver(out, own) };
        drop(inner);
        woken.iter().for_each(|mailbox| mailbox.ring());
        next
    }

    /// Closes all its connections if the drive has vanished.
    pub(super) fn close_if_absent(&self) {
        if lock(&self.inner).kind.service().is_present() {
            return;
        }
        let doors: Vec<_> = lock(&self.doors).values().cloned().collect();
        doors.iter().for_each(|mailbox| mailbox.close());
    }

    /// Puts what came out into mailboxes; returns those whose owners are to be woken.
    fn deliver(&self, out: &mut Vec<HostEvent>, own: Option<&Arc<Mailbox>>) -> Vec<Arc<Mailbox>> {
        let doors = lock(&self.doors);
        let mut woken = Vec::new();
        for outcome in out.drain(..) {
            let (queue, mail) = match outcome {
                HostEvent::Reply(queue, reply) => (queue, Mail::Reply(reply)),
                HostEvent::Close(queue) => (queue, Mail::Close),
            };
            // A connection that broke off meanwhile misses nothing.
            let Some(mailbox) = doors.get(&queue) else { continue };
            if mailbox.put(mail) && own.is_none_or(|own| !Arc::ptr_eq(own, mailbox)) {
                woken.push(Arc::clone(mailbox));
            }
        }
        woken
    }

    /// Writes the state file if a host relies on something that it does not yet say.
    fn persist(&self) {
        // There is nobody to tell but the next start, which will find the old state.
        let _ = self.write_state(Subsystem::take_saved);
    }

    /// Writes the state file: of a drive that is on, or at its end.
    pub(super) fn persist_all(&self, is_on: bool) -> Result<(), ServerError> {
        self.write_state(|subsystem| Some(subsystem.saved_state(is_on)))
    }

    fn write_state(
        &self,
        state_of: impl FnOnce(&mut Subsystem) -> Option<SavedState>,
    ) -> Result<(), ServerError> {
        let Some(path) = &self.state_file else { return Ok(()) };
        let path = lock(path);
        match self.with_drive(state_of).flatten() {
            Some(saved) => state::write(&path, &saved)
                .map_err(|source| ServerError::StateWrite { path: path.clone(), source }),
            None => Ok(()),
        }
    }
}
