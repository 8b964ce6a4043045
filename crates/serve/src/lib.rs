//! The library of runs in a browser, and live pages of what is being run or watched.
//!
//! # Architecture
//! - `folder`: the served folder; nothing outside it can be named, and no link leads out.
//! - `library`: the runs in it, each with a cached summary, by an id that no path can be put into.
//! - `admit`: which requests are answered at all: method, host, origin, token.
//! - `routes`: from a request to a reply; `pages`: the library's page; `live`, `events`: runs under way.
//! - `http`: the library's server; `wire`: connections and their limits. No other file knows the runtime.
//! - `latest`: pages that are made anew all the time, such as metrics.
//!
//! What a run says (its verdict, report, comparison) comes from whoever starts the server, through [`RunPages`].
//!
//! # What it does not do
//! It writes nothing, starts nothing and changes nothing, and it cannot reach a drive. It has no TLS: other machines come
//! through `ssh -L`, or with a token over a network that is trusted.

mod admit;
mod events;
mod folder;
mod http;
mod latest;
mod library;
mod live;
mod pages;
mod query;
mod routes;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use report::ReportInput;
use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

pub use admit::AccessToken;
pub use http::LibraryServer;
pub use latest::{LatestPages, LatestServer};
pub use live::{SeenDrive, SeenLimits, SeenLive, SeenPoint};

/// What is served where, and to whom.
pub struct ServeOptions {
    /// The folder that holds the runs.
    pub dir: PathBuf,
    /// Where to listen. Port 0 is any free one.
    pub listen: SocketAddr,
    /// Names besides addresses by which browsers may ask for it.
    pub hosts: Vec<String>,
    /// What every request has to know; needed for addresses that other machines reach.
    pub token: Option<AccessToken>,
}

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The folder cannot be served.
    #[error("cannot serve the runs in {path}: {source}; name the folder that holds run folders")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Other machines would reach it, and nobody would have to know anything.
    #[error(
        "refused to listen on {address}: other machines reach that address; give --token-file FILE, or keep to loopback \
         and use `ssh -L {port}:127.0.0.1:{port} HOST` from there"
    )]
    NeedsToken {
        /// The address.
        address: SocketAddr,
        /// Its port.
        port: u16,
    },
    /// The address cannot be had.
    #[error("cannot listen on {address}: {source}; name another ADDRESS:PORT, port 0 is any free one")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The system gives no thread or no runtime.
    #[error("cannot start serving: {0}")]
    Start(io::Error),
}

/// What is known of runs: by whoever can read and analyze them.
pub trait RunPages: Send + Sync + 'static {
    /// A run in a few words; quick, because a library has thousands.
    fn describe(&self, folder: &Path) -> RunSummary;
    /// Its report as a page that needs nothing else.
    ///
    /// # Errors
    /// Why there is none, as a sentence.
    fn report(&self, name: &str, folder: &Path) -> Result<String, String>;
    /// Runs (name, folder) against each other, as such a page.
    ///
    /// # Errors
    /// Why there is none, as a sentence.
    fn compare(&self, runs: &[(String, PathBuf)]) -> Result<String, String>;
    /// What is known of a run that is under way.
    ///
    /// # Errors
    /// Why nothing is, as a sentence.
    fn so_far(&self, name: &str, folder: &Path) -> Result<ReportInput, String>;
}

/// A run in a few words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Model, or address where it is not known.
    pub drive: String,
    /// Name of the plan.
    pub plan: String,
    /// When it began, in seconds since 1970; `None` for simulated time.
    pub began_unix_s: Option<i64>,
    /// Whether the drive is simulated.
    pub simulated: bool,
    /// What came of it.
    pub verdict: String,
    /// Whether its manifest says how it ended.
    pub has_ended: bool,
}

/// The library as `/runs.json` gives it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ServedLibrary {
    /// Version of this format.
    pub schema: u32,
    /// The runs: those under way first, then the latest first.
    pub runs: Vec<ServedRun>,
    /// Why runs may be missing from the list; `null` where none are.
    pub left_out: Option<String>,
}

/// A run of the library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServedRun {
    /// Its name in addresses: `/run/ID/report`, `/run/ID/live`, `/compare?run=ID&run=ID`.
    pub id: String,
    /// Its folder, from the served one.
    pub folder: String,
    /// Model, or address where it is not known.
    pub drive: String,
    /// Name of the plan.
    pub plan: String,
    /// When it began, in seconds since 1970; `null` for simulated time.
    pub began_unix_s: Option<i64>,
    /// Whether the drive is simulated.
    pub simulated: bool,
    /// In a few words.
    pub verdict: String,
    /// Whether it is done, under way, or ended without saying so.
    pub state: ServedState,
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServedState {
    /// Its record is written to.
    UnderWay,
    /// Its record is closed.
    Done,
    /// Its record is not closed, and nobody writes to it.
    Unfinished,
}

/// The number of the format of `/runs.json`.
pub const LIBRARY_SCHEMA: u32 = 1;
