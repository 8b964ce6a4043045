//! One thread, one connection: reads, hands over, looks at the time, writes.
//!
//! The thread of a connection with I/O under way steps its drive forward by itself, so that a
//! command costs no change of threads. It waits in one place, for whichever comes first: the host,
//! mail from other threads, or the drive's next event.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use measure::{Clock as _, Instant, MonotonicClock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::ServerLimits;
use super::session::HostSession;
use super::shelf::{Mailbox, Shelf};

/// Bytes taken from a socket at once: sixty commands of 4 KiB.
const RECEIVE_BYTES: usize = 256 << 10;
/// Slices handed to one gathered write: 1 MiB is 16 pieces, and the kernel takes 1024 (IOV_MAX).
const SLICES: usize = 64;
/// How long last words may take, and how much of what the host still sends is thrown away: closing a
/// socket with unread bytes in it would take back what we said.
const FAREWELL_SPAN: Duration = Duration::from_secs(1);

/// One connection on its thread.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) shelf: Arc<Shelf>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) clock: MonotonicClock,
    pub(super) limits: ServerLimits,
}

impl Connection {
    /// Serves the host until it goes, is thrown out, or the server ends.
    pub(super) fn serve(self) {
        let mut session = HostSession::new(Arc::clone(&self.shelf), Arc::clone(&self.mailbox));
        // A connection that breaks is the host's business; there is nobody to tell.
        let _ = self.converse(&mut session);
        session.hang_up(self.clock.now());
        let _ = self.say_farewell(&mut session);
    }

    fn converse(&self, session: &mut HostSession) -> io::Result<()> {
        self.stream.set_nodelay(true)?;
        self.stream.set_nonblocking(true)?;
        let mut buffer = vec![0; RECEIVE_BYTES];
        let opened = self.clock.now();
        let mut stuck: Option<Instant> = None;
        loop {
            let now = self.clock.now();
            let mut next = None;
            if session.waits_for_drive()
                && let Some(unit) = session.unit()
            {
                next = unit.step(now, Some(&self.mailbox));
            }
            session.take_mail();
            let progress = self.send(session)?;
            if session.ended().is_some() {
                return Ok(());
            }
            stuck = match stuck {
                _ if session.waiting_bytes() == 0 => None,
                Some(since) if !progress => Some(since),
                _ => Some(now),
            };
            if session.wants_bytes() {
                match (&self.stream).read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(came) => {
                        session.receive(self.clock.now(), &buffer[..came]);
                        continue;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            let mut until = next.unwrap_or(Instant::NEVER);
            let patience = self.patience(session);
            if let Some(span) = patience {
                until = until.min(opened + span);
            }
            if let Some(since) = stuck {
                until = until.min(since + self.limits.send_span);
            }
            self.wait(session, until)?;
            let now = self.clock.now();
            let too_slow = stuck.is_some_and(|since| now >= since + self.limits.send_span);
            let too_late = patience.is_some_and(|span| now >= opened + span);
            // A slow host is looked at once more: it may have taken something meanwhile.
            if too_late || (too_slow && !self.send(session)?) {
                return Ok(());
            }
        }
    }

    /// How long after its beginning a connection may still be what it is; `None` for ever.
    const fn patience(&self, session: &HostSession) -> Option<Duration> {
        if !session.is_connected() {
            Some(self.limits.connect_span)
        } else if session.is_locked() {
            Some(self.limits.auth_span)
        } else {
            None
        }
    }

    /// Sends what goes without waiting; says whether anything went.
    fn send(&self, session: &mut HostSession) -> io::Result<bool> {
        let mut progress = false;
        while session.waiting_bytes() > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = session.slices(&mut slices);
            match (&self.stream).write_vectored(&slices[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => {
                    session.sent(sent);
                    progress = true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(progress)
    }

    /// Waits for the host, for mail, or until `until`.
    fn wait(&self, session: &HostSession, until: Instant) -> io::Result<()> {
        let mut flags = PollFlags::empty();
        if session.wants_bytes() {
            flags |= PollFlags::IN;
        }
        if session.waiting_bytes() > 0 {
            flags |= PollFlags::OUT;
        }
        let mut fds = [
            PollFd::from_borrowed_fd(self.stream.as_fd(), flags),
            PollFd::from_borrowed_fd(self.mailbox.wake(), PollFlags::IN),
        ];
        let timeout = timespec(until.since(self.clock.now()));
        match poll(&mut fds, (until < Instant::NEVER).then_some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Sends the last words, and listens until the host has gone as well, both not for long.
    fn say_farewell(&self, session: &mut HostSession) -> io::Result<()> {
        let limit = self.clock.now() + FAREWELL_SPAN;
        let mut rest = [0; 4096];
        let mut silent = false;
        while self.clock.now() < limit {
            self.send(session)?;
            if session.waiting_bytes() == 0 && !silent {
                self.stream.shutdown(Shutdown::Write)?;
                silent = true;
            }
            match (&self.stream).read(&mut rest) {
                Ok(0) => return Ok(()),
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            let flags = if silent { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
            let mut fds = [PollFd::from_borrowed_fd(self.stream.as_fd(), flags)];
            let _ = poll(&mut fds, Some(&timespec(limit.since(self.clock.now()))));
        }
        Ok(())
    }
}

pub(super) fn timespec(span: Duration) -> Timespec {
    // Longer than any wait of ours, and it fits whatever the system's seconds are.
    let span = span.min(Duration::from_secs(86_400));
    Timespec { tv_sec: span.as_secs() as i64, tv_nsec: span.subsec_nanos().into() }
}
