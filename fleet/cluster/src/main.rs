//! `heatsoak-fleet-cluster`: scheduler and executors of a Ballista cluster with our functions in them, and
//! `heatsoak-fleet` with its client.
//!
//! All three must be one version: states carry theirs, and are refused where it differs. The cluster only turns rows
//! into states; verdicts, tables and whatever needs a second look at rows are the client's.

mod client;
mod servers;

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Programs of a cluster for `heatsoak fleet scan --cluster`; every other command is `heatsoak fleet`'s.
#[derive(Debug, Parser)]
#[command(name = "heatsoak-fleet-cluster", version, max_term_width = 100)]
struct ClusterArgs {
    #[command(subcommand)]
    command: ClusterCommand,
}

#[derive(Debug, Subcommand)]
enum ClusterCommand {
    /// Plan scans and give their parts to executors
    Scheduler(SchedulerArgs),
    /// Do parts of scans
    Executor(ExecutorArgs),
    /// A scheduler and executors as processes on this machine
    Local(LocalArgs),
}

#[derive(clap::Args, Debug)]
struct SchedulerArgs {
    /// Where clients and executors reach it. It asks nobody who they are: a trusted network only
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,
}

#[derive(clap::Args, Debug)]
struct ExecutorArgs {
    /// The scheduler's address
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    scheduler: String,

    /// Where other executors and the client fetch what it has made; the port after it is taken as well
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50051")]
    listen: SocketAddr,

    /// The name by which others reach it, where that is not the address it listens on
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Folder for what parts of scans hand on; a temporary one otherwise
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    /// Parts of scans at a time; as many as processors otherwise
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
}

#[derive(clap::Args, Debug)]
struct LocalArgs {
    /// Port of the scheduler; executors take the ones after it
    #[arg(long, value_name = "PORT", default_value_t = 50050)]
    port: u16,

    /// How many executors
    #[arg(long, value_name = "N", default_value_t = 2)]
    executors: u16,

    /// Parts of scans at a time, each executor
    #[arg(long, value_name = "N", default_value_t = 1)]
    threads: usize,
}

fn main() -> ExitCode {
    let own = std::env::args().nth(1);
    if !matches!(own.as_deref(), None | Some("scheduler" | "executor" | "local" | "--help" | "-h")) {
        return heatsoak_fleet::run(Some(client::connect));
    }
    // Ballista's own log, where RUST_LOG asks for it.
    env_logger::init();
    match execute(ClusterArgs::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn execute(command: ClusterCommand) -> Result<()> {
    match command {
        ClusterCommand::Local(arguments) => servers::local(&arguments),
        ClusterCommand::Scheduler(arguments) => servers::blocking(servers::scheduler(arguments)),
        ClusterCommand::Executor(arguments) => servers::blocking(servers::executor(arguments)),
    }
}
