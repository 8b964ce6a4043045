//! `--on` and what belongs to it; `heatsoak fetch` and `heatsoak remote`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use measure::Bytes;
use remote::LinkLost;

/// What stands below the help of `fetch`.
pub(crate) const AFTER_FETCH_HELP: &str = "\
A run with --on keeps its record on the other machine as well, also when the connection breaks. This
command brings it, or the rest of it; without RUN it lists what is kept there.

Examples:
  heatsoak fetch --on lab7
  heatsoak fetch 2026-11-22T10-00-00Z-quick-nvme0n1 --on lab7 --out runs/cut-off";

/// What stands below the help of `remote`.
pub(crate) const AFTER_REMOTE_HELP: &str = "\
`--on HOST` starts this command on HOST through ssh; nobody types it. It reads one request, starts
that command, and sends back what it prints and records. A run ends, with settings put back, as soon
as standard input ends or nothing came over it for 4 s.

Its line is always the same, so a key or a user can be confined to it:
  authorized_keys:  restrict,command=\"heatsoak remote --stdio\" ssh-ed25519 AAAA...
  sudoers:          USER ALL=(root) NOPASSWD: /usr/bin/heatsoak remote --stdio
With --max-write SIZE behind --stdio no run writes more than that, whatever it asks for.
Who may use it may do with drives what heatsoak may do as that user.";

/// The options that choose another machine.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Another machine")]
pub(crate) struct OnArgs {
    /// Do it on this machine, through ssh: drives, files and addresses are those there
    #[arg(long, value_name = "[USER@]HOST", value_hint = ValueHint::Hostname)]
    pub(crate) on: Option<String>,
    /// Become root there, by sudo -n
    #[arg(long, requires = "on")]
    pub(crate) sudo: bool,
    /// Put this binary (or FILE) into the cache of the user there, and use it
    #[arg(long, value_name = "FILE", requires = "on", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub(crate) install: Option<Option<PathBuf>>,
    /// Another command than ssh, with options; HEATSOAK_SSH does the same
    #[arg(long, value_name = "COMMAND", requires = "on")]
    pub(crate) ssh: Option<String>,
}

/// What becomes of a run when the connection breaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LinkLostArg {
    /// It ends within 5 s, and settings are put back
    #[default]
    Stop,
    /// It goes on to its end; `heatsoak fetch` brings its record
    Finish,
}

impl From<LinkLostArg> for LinkLost {
    fn from(arg: LinkLostArg) -> Self {
        match arg {
            LinkLostArg::Stop => Self::Stop,
            LinkLostArg::Finish => Self::Finish,
        }
    }
}

/// `heatsoak fetch`.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// The run, by its name there; without it the runs there are listed
    #[arg(value_name = "RUN", requires = "on")]
    pub(crate) run: Option<String>,
    /// The run folder to make, or to complete; without it ./runs/RUN
    #[arg(short, long, value_name = "DIR", requires = "run", value_hint = ValueHint::DirPath)]
    pub(crate) out: Option<PathBuf>,
    /// The other machine
    #[command(flatten)]
    pub(crate) on: OnArgs,
}

/// `heatsoak remote`.
#[derive(Debug, Args)]
pub(crate) struct RemoteArgs {
    /// Serve one request over standard input and output
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
    /// Permit no run to write more than this, whatever it asks for
    #[arg(long, value_name = "SIZE", value_parser = measure::parse::size)]
    pub(crate) max_write: Option<Bytes>,
}
