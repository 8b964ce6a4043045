//! NVMe/TCP from user space: a small blocking initiator on the codec of [`crate::tcp`].
//!
//! # Architecture
//! - [`TcpAddress`]: host, port and subsystem, as `nvme-tcp://HOST:PORT/NQN`.
//! - [`TcpController`]: the admin queue behind [`AdminTransport`], so that everything that talks to a
//!   drive by ioctl talks to one on a network as well; keep-alive, shutdown, discovery.
//! - [`TcpQueue`]: one connection with several commands in flight, for the load path.
//!
//! # What it does not do
//! No TLS, no multipath, and no reconnecting: whoever measures wants to know that
//! a connection broke. It looks up no names: an address is an IP address or `localhost`.
//!
//! # Where the numbers come from
//! NVMe TCP Transport Specification 1.1; the order of commands is that of Linux
//! (drivers/nvme/host/fabrics.c, core.c). Everything a target can send has a limit: nothing is taken
//! into memory that was not asked for.

mod address;
mod authenticate;
mod connect;
mod controller;
mod outbox;
mod patience;
mod queue;
mod receive;
#[cfg(test)]
mod test;

pub use address::{TcpAddress, TcpAddressError};
pub use controller::TcpController;
pub use patience::GiveUp;
pub use queue::{Direction, TcpQueue};

use std::time::Duration;

use crate::auth::HostAuth;

#[cfg(doc)]
use super::AdminTransport;

/// Who we are and how we want to talk.
#[derive(Clone, Debug)]
pub struct TcpOptions {
    /// Our qualified name.
    pub host_nqn: String,
    /// Our identifier; never all zero.
    pub host_id: [u8; 16],
    /// Ask for header digests.
    pub header_digest: bool,
    /// Ask for data digests.
    pub data_digest: bool,
    /// How long the controller shall wait for a sign of life, in whole milliseconds; zero for ever.
    pub keep_alive: Duration,
    /// How long to wait for a connection or an admin command.
    pub timeout: Duration,
    /// How many I/O queues to ask for; a controller may grant fewer.
    pub io_queues: u16,
    /// The secrets by which we and the subsystem know each other.
    pub auth: Option<HostAuth>,
    /// Ends every wait before its time.
    pub give_up: GiveUp,
}

impl Default for TcpOptions {
    /// The keep-alive of nvme-cli (5 s), no digests, one I/O queue, and the kernel's admin timeout.
    fn default() -> Self {
        Self {
            // The form of names that need no registration (NVMe Base 2.3, NVMe Qualified Names).
            host_nqn: "nqn.2014-08.org.nvmexpress:uuid:68656174-736f-616b-2d69-6e69746961746f".to_owned(),
            host_id: *b"heatsoak-initiat",
            header_digest: false,
            data_digest: false,
            keep_alive: Duration::from_secs(5),
            timeout: Duration::from_secs(60),
            io_queues: 1,
            auth: None,
            give_up: GiveUp::default(),
        }
    }
}
