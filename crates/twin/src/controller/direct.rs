//! A drive and its one host in the same process: the controller without queues and transport.
//!
//! Admin commands go through the controller as they do over a network, and are answered at once. I/O goes straight
//! to the drive, as plain operations with tokens: the load of a simulation moves no data. Both share one clock, the
//! drive's own, and nothing is scaled. It saves no settings: the drive ends with the process.

use measure::record::Op;
use measure::{Instant, Seed};
use nvme::command::{AdminCommand, Sgl, Sqe};
use nvme::fabrics::property::Property;
use nvme::fabrics::{Connect, ConnectData, FabricsCommand};
use nvme::log::discovery::DYNAMIC_CONTROLLER;
use nvme::smart::SMART_LOG_LEN;

use super::{
    Accepted, BackingOptions, ConnectRequest, HostEvent, Options, OptionsError, Queue, Reply, Service,
    Subsystem, SubsystemIdentity,
};
use physics::{Drive, Profile};

/// A simulated drive with its controller, for one host in this process.
#[derive(Debug)]
pub struct Direct {
    subsystem: Subsystem,
    admin: Queue,
    /// Identifier of the latest admin command.
    cid: u16,
    /// I/O that was done when an admin command came, to be taken by the next [`Direct::advance`].
    done: Vec<(u64, Instant)>,
}

/// CC of an enabled controller: entries of 64 and 16 bytes.
const ENABLE: u64 = 0x0046_0001;
/// The least entries that an admin queue has here; one command is under way at a time.
const ADMIN_ENTRIES: u32 = 32;

impl Direct {
    /// The drive of `profile`, switched on at [`Instant::ZERO`], under the serial number of its profile.
    ///
    /// # Errors
    /// Names that a controller cannot tell.
    pub fn new(profile: &Profile, seed: Seed) -> Result<Self, OptionsError> {
        let options = Options::new(profile.clone(), seed);
        let serial = profile.identity.serial.clone();
        let mut subsystem = Subsystem::new(Options {
            identity: SubsystemIdentity { serial, ..options.identity.clone() },
            // No data pass here.
            backing: BackingOptions::Memory { limit_bytes: 0 },
            saves: false,
            ..options
        })?;
        let admin = connect(&mut subsystem);
        Ok(Self { subsystem, admin, cid: 0, done: Vec::new() })
    }

    /// The drive and its truth.
    pub const fn drive(&self) -> &Drive {
        self.subsystem.drive()
    }

    /// The health log page as Get Log Page would give it now.
    pub fn smart_page(&self) -> [u8; SMART_LOG_LEN] {
        self.subsystem.smart_log().encode()
    }

    /// Carries out an admin command at the drive's present, with `data` from the host or with room for `room` bytes
    /// to it; `None` when it has no answer, like a request for events that do not come.
    pub fn admin(&mut self, command: &AdminCommand, data: &[u8], room: usize) -> Option<Reply> {
        let now = self.drive().now();
        // The controller would take I/O that is due for commands of its own.
        loop {
            let before = self.done.len();
            self.subsystem.work(now, &mut self.done);
            if self.done.len() == before {
                break;
            }
        }
        let length = if data.is_empty() { room } else { data.len() };
        let sgl = Sgl::Transport { length: u32::try_from(length).unwrap_or(u32::MAX) };
        self.cid = self.cid.wrapping_add(1);
        let sqe = Sqe { cid: self.cid, ..command.encode().with_sgl(sgl) };
        let accepted = match self.subsystem.submit(now, self.admin, &sqe, &[]) {
            Accepted::NeedsData { ticket, len_bytes } => {
                let data = data.get(..len_bytes as usize).unwrap_or_default();
                self.subsystem.data(now, ticket, data)
            }
            other => other,
        };
        let mut out = Vec::new();
        match accepted {
            Accepted::Done(reply) => return Some(reply),
            _ => self.subsystem.advance(now, &mut out),
        }
        out.into_iter().find_map(|outcome| match outcome {
            HostEvent::Reply(_, reply) if reply.completion.cid == sqe.cid => Some(reply),
            _ => None,
        })
    }

    /// Hands the drive one operation; see [`Drive::submit`].
    pub fn submit(&mut self, now: Instant, token: u64, op: Op, offset_bytes: u64, len_bytes: u32) {
        self.subsystem.drive.submit(now, token, op, offset_bytes, len_bytes);
    }

    /// The instant up to which to advance for the next completion; see [`Drive::next_completion`].
    pub fn next_completion(&self) -> Option<Instant> {
        match self.done.first() {
            Some((_, at)) => Some(*at),
            None => self.drive().next_completion(),
        }
    }

    /// Moves time to `until`, or to the first completion before or at it; see [`Drive::advance`].
    pub fn advance(&mut self, until: Instant, done: &mut Vec<(u64, Instant)>) {
        if self.done.is_empty() {
            self.subsystem.work(until, done);
        }
        done.append(&mut self.done);
    }
}

/// The admin queue of the one host.
fn connect(subsystem: &mut Subsystem) -> Queue {
    let request = ConnectRequest {
        cid: 0,
        command: Connect {
            record_format: 0,
            queue_id: 0,
            queue_entries: ADMIN_ENTRIES,
            attributes: 0,
            // It cannot fall silent.
            keep_alive_ms: 0,
        },
        data: ConnectData {
            host_id: [1; 16],
            controller_id: DYNAMIC_CONTROLLER,
            subsystem_nqn: subsystem.nqn().to_owned(),
            host_nqn: "nqn.2026-11.invalid.heatsoak:this-process".to_owned(),
        },
    };
    let connected = subsystem.connect(Instant::ZERO, &request);
    let queue = connected.expect("a new subsystem takes its first host").queue;
    let enable = FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: ENABLE };
    let enabled = subsystem.submit(Instant::ZERO, queue, &enable.encode(), &[]);
    debug_assert!(matches!(enabled, Accepted::Done(_)), "{enabled:?}");
    queue
}
