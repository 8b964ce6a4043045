//! The virtual SSD: simulated drives behind NVMe/TCP, in real time, for hosts that take them for real.
//!
//! # Architecture
//! - [`Server`]: listens, has a thread a connection and one that looks at the time.
//! - [`Shelf`] and [`Unit`]: the drives, and the way from them back to connections.
//! - [`session`]: one connection as a state machine, bytes in, bytes out: what is tested and fuzzed. Commands of
//!   hosts that have not authenticated themselves end there, and no lock is held while it computes.
//! - [`control`]: changes of the surroundings and faults, asked for over a Unix socket.
//!
//! What a drive answers is decided in [`crate::controller`]; how fast, by the simulated drive.
//!
//! # What it does not do
//! No TLS, so it listens on loopback unless told otherwise, also where hosts authenticate themselves. It makes up no
//! number: a host sees what the simulated drive has.
//!
//! # Where the numbers come from
//! NVMe TCP Transport Specification 1.1; limits are ours and stand beside what they bound.

mod connection;
pub mod control;
mod server;
pub mod session;
mod shelf;
mod state;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use nvme::auth::ControllerAuth;
use thiserror::Error;

use crate::controller::{Options, OptionsError, SavedStateError};

pub use control::ControlSocket;
pub use server::Server;
pub use shelf::{Mailbox, Shelf, Unit};
pub use state::kept_name;

/// What a server is made from.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Where to listen; port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// Whether other machines may be let in: without it, only loopback is listened on.
    pub allow_network: bool,
    /// NQNs of the hosts that may connect; empty for all.
    pub allowed_hosts: Vec<String>,
    /// What hosts have to prove before a drive takes their commands; the list of drives is shown without.
    pub auth: Option<ControllerAuth>,
    /// The drives.
    pub drives: Vec<DriveOptions>,
    /// What hosts may ask for.
    pub limits: ServerLimits,
}

/// One drive of a server.
#[derive(Clone, Debug)]
pub struct DriveOptions {
    /// The drive. What its former life saved is read from `state_file`.
    pub options: Options,
    /// Where saved settings are kept; without it they go with the server.
    pub state_file: Option<PathBuf>,
}

/// What hosts may ask for, all together. What one controller gives is in
/// [`SubsystemLimits`](crate::controller::SubsystemLimits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections at once; more are closed as they come.
    pub connections: usize,
    /// How long a connection may take to become a queue.
    pub connect_span: Duration,
    /// How long the host of a queue may take to prove who it is.
    pub auth_span: Duration,
    /// How long a host may take nothing of what waits for it.
    pub send_span: Duration,
}

impl Default for ServerLimits {
    /// 512 connections are a shelf of eight drives with 64 queues each. Five seconds to connect, thirty to
    /// authenticate (an emulated machine computes for seconds on 8192 bits) and ten to take data are far
    /// beyond what a host on the same machine needs, and short enough that one that hangs is soon gone.
    fn default() -> Self {
        Self {
            connections: 512,
            connect_span: Duration::from_secs(5),
            auth_span: Duration::from_secs(30),
            send_span: Duration::from_secs(10),
        }
    }
}

/// Why a server could not be started.
#[derive(Debug, Error)]
pub enum ServerError {
    /// An address that others reach.
    #[error(
        "refused to listen on {address}: other machines reach it and nothing is encrypted; listen on 127.0.0.1, or add \
         --allow-network"
    )]
    NotLoopback {
        /// The address.
        address: SocketAddr,
    },
    /// The system refuses.
    #[error("cannot listen on {address}: {source}; choose another port, or port 0 for any that is free")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A drive that cannot be made.
    #[error("cannot make the drive {nqn}: {source}")]
    Drive {
        /// Its name.
        nqn: String,
        /// What is wrong.
        source: OptionsError,
    },
    /// Two drives with one name.
    #[error("two drives cannot both be called {nqn}")]
    SameName {
        /// The name.
        nqn: String,
    },
    /// A state file that cannot be read.
    #[error("cannot read the state file {path}: {source}; name another one, or make it readable")]
    StateFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A state file that is a link, which may lead anywhere.
    #[error("cannot use the state file {path}: it is a symbolic link; name the file itself")]
    StateLink {
        /// The link.
        path: PathBuf,
    },
    /// A state file that cannot be written.
    #[error("cannot write the state file {path}: {source}; name a file in a folder that you may write to")]
    StateWrite {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A state file that means nothing.
    #[error("cannot use the state file {path}: {source}; remove it to begin with default settings")]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: SavedStateError,
    },
    /// The control socket cannot be made.
    #[error("cannot make the control socket {path}: {source}; name another place")]
    Control {
        /// Its path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
