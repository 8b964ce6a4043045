//! A command on another machine: the system's `ssh` starts the same binary there, and frames go over its standard input
//! and output.
//!
//! # Architecture
//! - `frame`: what goes over the wire; [`request`]: what is asked for, and what comes back at the end.
//! - `ssh`: the command that connects, and a sentence for each way in which it fails; `install`: a copy of this
//!   binary there.
//! - `session`: this side. `mirror`: the run folder as it arrives, byte for byte.
//! - `serving`: the other side, which starts the command and watches over it. `tail`: what is new in its run folder.
//!
//! # The lifeline
//! The other side stops the load when its standard input ends, or when nothing came over it for
//! [`serving::SILENCE`]: a connection that breaks, a cable that is pulled and a process that is killed look the same to it.
//! So no safety depends on the link. The started command watches its own standard input in the same way, so that it does
//! not outlive whoever watches over it.
//!
//! # What it does not do
//! There is no listening agent, no protocol of its own for keys or passwords, and no shell: the command line on the other
//! side is always the same, and what is to be done is read from standard input.

pub mod frame;
mod install;
mod mirror;
pub mod request;
pub mod serving;
mod session;
mod ssh;
mod tail;

pub use install::install;
pub use mirror::MirrorError;
pub use request::{LinkLost, RemoteEnd, RemoteRequest};
pub use session::{RemoteDone, RemoteView, StopLevel, ask};
pub use ssh::{Link, RemoteError};
pub use tail::sums_in;

/// The number of the protocol; both sides have the same.
pub const PROTOCOL: u32 = 1;

/// What the other side says first, on a line with protocol and version; what a login shell prints before is passed over.
pub const MAGIC: &str = "heatsoak-remote";

/// The version of both sides.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
