//! The host's side: sending commands to a real drive, and typed calls on top of that.
//!
//! # Architecture
//! - [`AdminTransport`]: one admin command out, one completion back. What a status means is not its matter.
//! - [`linux`]: over the kernel's passthrough ioctl.
//! - [`tcp`]: over NVMe/TCP, with our own initiator; and queues for the load path.
//! - [`scripted`]: over a script, for tests: exact commands expected, exact bytes answered.
//! - [`Controller`]: typed calls on any transport; here a failing status becomes an error.
//!
//! # What it does not do
//! It checks no setting, reads none back and keeps no journal, and it guards no data: `drive` does, before it
//! calls. It finds no devices.
//!
//! Not part of the crate unless the cargo feature `host` is on.

mod controller;
mod error;
pub mod linux;
pub mod scripted;
pub mod tcp;

pub use controller::{Controller, FeatureValues, unless_refused};
pub use error::HostError;

use crate::command::{AdminCommand, Completion};

/// The data that goes with a command.
#[derive(Debug)]
pub enum Data<'a> {
    /// None.
    None,
    /// From the drive into this buffer, all of it.
    Read(&'a mut [u8]),
    /// From this buffer to the drive, all of it.
    Write(&'a [u8]),
}

impl Data<'_> {
    /// Bytes to move.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Read(buffer) => buffer.len(),
            Self::Write(buffer) => buffer.len(),
        }
    }

    /// Whether nothing is to be moved.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A way to send admin commands to one controller. It may be used by another thread than the one that made it: a
/// sampler's, for one.
pub trait AdminTransport: Send {
    /// What errors call the controller, for example its path.
    fn name(&self) -> &str;

    /// Sends `command` with `data` and waits for its end, whatever its status.
    ///
    /// # Errors
    /// [`HostError`] when the command did not reach the controller or the controller did not answer.
    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError>;
}

impl<T: AdminTransport + ?Sized> AdminTransport for &mut T {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn admin(&mut self, command: &AdminCommand, data: Data<'_>) -> Result<Completion, HostError> {
        (**self).admin(command, data)
    }
}
