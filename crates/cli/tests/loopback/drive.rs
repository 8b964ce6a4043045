//! Virtual SSDs for tests, in this process.
//!
//! How results are kept apart from the load of the machine: time is scaled so that minutes pass in a second, and
//! bandwidth so far that the data of a run are a few MB a second, which a busy processor moves as well. What a
//! delayed host does to a drive then is a short idle gap; thresholds, speeds while throttled and sizes do not depend
//! on gaps.

use std::net::SocketAddr;

use measure::Seed;
use nvme::host::tcp::{TcpAddress, TcpController, TcpOptions};
use physics::Profile;
use twin::controller::{Options, Scale, SubsystemIdentity};
use twin::vssd::{DriveOptions, Server, ServerLimits, ServerOptions, Unit};

/// A server with one drive.
pub(crate) struct Vssd {
    pub(crate) server: Server,
    pub(crate) nqn: String,
}

/// Any free port of this machine.
pub(crate) fn anywhere() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

/// One drive, as `change` makes it from a built-in profile in real time.
pub(crate) fn options(profile: &str, change: impl FnOnce(&mut DriveOptions)) -> ServerOptions {
    let profile = Profile::builtin(profile).expect("it is built in");
    let mut drive = DriveOptions { options: Options::new(profile, Seed::new(1)), state_file: None };
    change(&mut drive);
    ServerOptions {
        listen: anywhere(),
        allow_network: false,
        allowed_hosts: Vec::new(),
        auth: None,
        drives: vec![drive],
        limits: ServerLimits::default(),
    }
}

impl Vssd {
    pub(crate) fn start(options: ServerOptions) -> Self {
        let nqn = options.drives[0].options.identity.nqn.clone();
        Self { server: Server::start(options).expect("a free port"), nqn }
    }

    /// A drive whose time and data are scaled.
    pub(crate) fn scaled(profile: &str, time: u32, bandwidth: u32) -> Self {
        Self::start(options(profile, |drive| {
            drive.options.scale = Scale::new(time, bandwidth).expect("in range");
        }))
    }

    /// A drive that never waits, as far as hosts can tell: all of it is a thousand times faster.
    pub(crate) fn quick() -> Self {
        Self::scaled("ssd1", 1000, 1)
    }

    pub(crate) fn address(&self) -> TcpAddress {
        TcpAddress { socket: self.server.address(), nqn: self.nqn.clone() }
    }

    pub(crate) fn url(&self) -> String {
        self.address().to_string()
    }

    pub(crate) fn unit(&self) -> std::sync::Arc<Unit> {
        self.server.shelf().find(&self.nqn).expect("it is on the shelf")
    }

    pub(crate) fn connect(&self) -> TcpController {
        TcpController::connect(&self.address(), &TcpOptions::default()).expect("it takes hosts")
    }
}

/// The names of the `instance`th drive of a profile.
pub(crate) fn identity(profile: &str, instance: u32) -> SubsystemIdentity {
    SubsystemIdentity::for_profile(profile, instance)
}
