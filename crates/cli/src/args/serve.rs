//! `heatsoak serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
The pages: all runs with search and order, the report of each, a comparison of the ticked ones, and
a live page of each run that is under way. /runs.json is the list as JSON. Nothing can be started or
changed from a browser, and nothing is written into DIR.

It listens on loopback. From another machine, through ssh:
  ssh -L 8080:127.0.0.1:8080 HOST        then open http://127.0.0.1:8080/
Any other address needs --token-file, and the network should be one you trust: it is plain HTTP.

Examples:
  heatsoak serve                                    the runs in ./runs, on 127.0.0.1:8080
  heatsoak serve /srv/runs --listen 127.0.0.1:0     on any free port
  heatsoak serve --listen ADDRESS:8080 --token-file ~/.heatsoak-token";

/// An address with its port.
fn listen_address(typed: &str) -> Result<SocketAddr, &'static str> {
    typed.parse().map_err(|_| "it is no address with a port; write for example 127.0.0.1:8080 or [::1]:8080")
}

/// `heatsoak serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The folder that holds the runs
    #[arg(value_name = "DIR", default_value = "runs", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,
    /// Where to listen; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080", value_parser = listen_address)]
    pub(crate) listen: SocketAddr,
    /// Ask every browser for the token in this file; made with a random one if it is missing
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) token_file: Option<PathBuf>,
    /// A name by which browsers may ask for this server, besides its address
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// Print where it listens as one JSON document on one line
    #[arg(long)]
    pub(crate) json: bool,
}
