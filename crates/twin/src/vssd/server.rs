//! The server: a socket that listens, a thread a connection, and one that looks at the time.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use measure::{Clock as _, MonotonicClock};
use nvme::log::discovery::DiscoveryRecord;
use rustix::event::{PollFd, PollFlags, poll};

use super::connection::{Connection, timespec};
use super::shelf::{Mailbox, Shelf, Unit};
use super::{ServerError, ServerOptions, state};
use crate::controller::{BackingOptions, Discovery, Subsystem};

/// Memory of a connection's thread beside its buffers: its calls are flat.
const STACK_BYTES: usize = 512 << 10;
/// How often drives are looked at that no connection steps forward: keep-alive, events, faults that
/// end. All of these are told in units of 100 ms.
const TICK: Duration = Duration::from_millis(10);
/// How often counters are kept that no host has asked for: what a kill loses of them.
const KEEP_SPAN: Duration = Duration::from_secs(5);
/// How long connections may take to end with the server.
const END_SPAN: Duration = Duration::from_secs(2);

/// A server at work. Dropping it ends it.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    shelf: Arc<Shelf>,
    clock: MonotonicClock,
    options: ServerOptions,
    ending: AtomicBool,
    /// Wakes the listener, and the ticker.
    bells: [Mailbox; 2],
    connections: Mutex<BTreeMap<u64, Arc<Mailbox>>>,
}

impl Server {
    /// Starts to listen and to serve.
    ///
    /// # Errors
    /// When a drive cannot be made, or the address cannot be listened on.
    pub fn start(options: ServerOptions) -> Result<Self, ServerError> {
        if !options.listen.ip().is_loopback() && !options.allow_network {
            return Err(ServerError::NotLoopback { address: options.listen });
        }
        let refused = |source| ServerError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let bells = [Mailbox::new().map_err(refused)?, Mailbox::new().map_err(refused)?];
        let shelf = Arc::new(Shelf::new(units(&options, address)?));
        // The drive was switched on once more.
        shelf.units().iter().try_for_each(|unit| unit.persist_all(true))?;
        let shared = Arc::new(Shared {
            shelf,
            clock: MonotonicClock::start(),
            options,
            ending: AtomicBool::new(false),
            bells,
            connections: Mutex::default(),
        });
        let mut server = Self { shared: Arc::clone(&shared), address, threads: Vec::new() };
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new()
                .name(name.to_owned())
                .spawn(run)
                .map_err(|source| ServerError::Listen { address, source })
        };
        let ticking = Arc::clone(&shared);
        server.threads.push(spawn("vssd-time", Box::new(move || ticking.tick()))?);
        server.threads.push(spawn("vssd-listen", Box::new(move || shared.accept(&listener)))?);
        Ok(server)
    }

    /// Where it listens; with port 0 asked for, the port that the system chose.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its drives and the discovery service.
    pub fn shelf(&self) -> &Arc<Shelf> {
        &self.shared.shelf
    }

    /// Files with data of drives that will not be known as ours at the next start: they were given away, or their
    /// file system keeps no extended attributes.
    pub fn unmarked_files(&self) -> Vec<PathBuf> {
        let file = |unit: &Arc<Unit>| {
            if unit.backing().is_none_or(|backing| backing.is_marked()) {
                return None;
            }
            unit.with_drive(|subsystem| match &subsystem.options().backing {
                BackingOptions::File(file) => Some(file.path.clone()),
                BackingOptions::Memory { .. } => None,
            })?
        };
        self.shared.shelf.units().iter().filter_map(file).collect()
    }

    /// The clock by which its drives live.
    pub fn clock(&self) -> MonotonicClock {
        self.shared.clock
    }

    /// Connections at present.
    pub fn connections(&self) -> usize {
        lock(&self.shared.connections).len()
    }

    /// Ends it: connections are closed, saved settings are written.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::Release);
        self.shared.bells.iter().for_each(Mailbox::close);
        for thread in self.threads.drain(..) {
            // A thread of ours that panicked has told so itself.
            let _ = thread.join();
        }
        self.shared.shelf.step(self.shared.clock.now());
        for unit in self.shared.shelf.units() {
            // What could not be kept is told by the next start, as an unsafe shutdown.
            let _ = unit.persist_all(false);
        }
    }
}

impl Shared {
    fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Acquire)
    }

    /// Takes connections until the server ends, and then sees them out.
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        let mut number = 0;
        while !self.is_ending() {
            match listener.accept() {
                Ok((stream, _)) => {
                    number += 1;
                    // Over the limit, or out of threads or file descriptors: the host is told by the end
                    // of its connection, and those that are there go on.
                    let _ = self.open(number, stream);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    wait_for(&[listener.as_fd(), self.bells[0].wake()], None);
                }
                // Out of file descriptors, mostly: nothing is gained by trying at once.
                Err(_) => wait_for(&[self.bells[0].wake()], Some(TICK)),
            }
        }
        lock(&self.connections).values().for_each(|mailbox| mailbox.close());
        let limit = self.clock.now() + END_SPAN;
        while !lock(&self.connections).is_empty() && self.clock.now() < limit {
            // The bell is not taken from its box any more, so only the time ends this.
            wait_for(&[], Some(Duration::from_millis(1)));
        }
    }

    fn open(self: &Arc<Self>, number: u64, stream: std::net::TcpStream) -> io::Result<()> {
        let mailbox = Arc::new(Mailbox::new()?);
        {
            let mut connections = lock(&self.connections);
            if connections.len() >= self.options.limits.connections {
                return Ok(());
            }
            connections.insert(number, Arc::clone(&mailbox));
        }
        let connection = Connection {
            stream,
            shelf: Arc::clone(&self.shelf),
            mailbox,
            clock: self.clock,
            limits: self.options.limits,
        };
        let leaving = Leaving { shared: Arc::clone(self), number };
        thread::Builder::new().name(format!("vssd-{number}")).stack_size(STACK_BYTES).spawn(move || {
            let _leaving = leaving;
            connection.serve();
        })?;
        Ok(())
    }

    /// Steps drives forward that nobody else does.
    fn tick(&self) {
        let mut keep_at = self.clock.now() + KEEP_SPAN;
        while !self.is_ending() {
            let now = self.clock.now();
            self.shelf.step(now);
            self.shelf.units().iter().for_each(|unit| unit.close_if_absent());
            if now >= keep_at {
                keep_at = now + KEEP_SPAN;
                for unit in self.shelf.units() {
                    // The next one may succeed.
                    let _ = unit.persist_all(true);
                }
            }
            wait_for(&[self.bells[1].wake()], Some(TICK));
        }
    }
}

/// Takes a connection off the list, however its thread ends.
struct Leaving {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        lock(&self.shared.connections).remove(&self.number);
    }
}

/// Waits until one of these can be read, or for `span`.
fn wait_for(fds: &[std::os::fd::BorrowedFd<'_>], span: Option<Duration>) {
    let mut fds: Vec<_> = fds.iter().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let timeout = span.map(timespec);
    // Whatever ends it, the caller looks around.
    let _ = poll(&mut fds, timeout.as_ref());
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The drives of `options`, and the service that lists them.
fn units(options: &ServerOptions, address: SocketAddr) -> Result<Vec<Unit>, ServerError> {
    let mut units = Vec::new();
    let mut records = Vec::new();
    for drive in &options.drives {
        let mut made = drive.options.clone();
        if let Some(path) = &drive.state_file {
            made.saved = state::read(path)?;
        }
        let nqn = made.identity.nqn.clone();
        made.allowed_hosts.clone_from(&options.allowed_hosts);
        if units.iter().any(|unit: &Unit| unit.nqn() == nqn) {
            return Err(ServerError::SameName { nqn });
        }
        let mut record = DiscoveryRecord::tcp_v4(&nqn, &address.ip().to_string(), address.port());
        // Address family: 1 is IPv4, 2 is IPv6 (NVMe Base 2.3, Discovery Log Page Entry).
        record.address_family = if address.is_ipv4() { 1 } else { 2 };
        records.push(record);
        let subsystem =
            Subsystem::new(made).map_err(|source| ServerError::Drive { nqn: nqn.clone(), source })?;
        units.push(Unit::drive(subsystem, drive.state_file.clone()).authenticating(options.auth.clone()));
    }
    units.push(Unit::discovery(Discovery::new(records, options.allowed_hosts.clone())));
    Ok(units)
}
