//! `heatsoak-fleet`: the verdicts of a drive over the rows of many, on Apache DataFusion.
//!
//! It reads files and writes tables; it opens no drive, and no network but buckets that are named; a cluster is
//! handed in. What a drive's rows add up to is the crate `fleet_state`'s, without the engine.
//!
//! # Map
//! - [`args`]: what may be typed; [`commands`]: what happens then.
//! - [`source`], [`bucket`], [`mapping`], [`projection`], [`engine`]: files, what their columns mean, as SQL, in a session.
//! - [`udaf`], [`scan`], [`cadence`]: rows to one state a drive.
//! - [`places`], [`cells`], [`statistics`], [`hash`]: states to findings. [`since`]: what changed.
//! - [`outcome`], [`tables`], [`report`]: findings to files. [`generate`]: fleets with known truth.

mod args;
mod bucket;
mod cadence;
mod cells;
mod columns;
mod commands;
mod engine;
mod generate;
mod hash;
mod mapping;
mod outcome;
mod places;
mod projection;
mod report;
mod scan;
mod since;
mod source;
mod statistics;
mod tables;
mod udaf;

use std::io::Write as _;
use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};
use clap::Parser as _;
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use futures::future::BoxFuture;

use args::{FleetArgs, FleetCommand, ScanArgs};

pub use bucket::BucketRegistry;
pub use engine::{EngineLimits, state, tune};
pub use udaf::thermal_state;

/// How to a cluster is connected: its address, and our session with our functions. Part of a program that has one.
pub type Connect = fn(String, SessionState) -> BoxFuture<'static, Result<SessionContext>>;

/// The program that has a cluster's client in it.
const CLUSTER_PROGRAM: &str = "heatsoak-fleet-cluster";

/// Reads the command line and does what it says.
pub fn run(connect: Option<Connect>) -> ExitCode {
    let arguments = match FleetArgs::try_parse() {
        Ok(arguments) => arguments,
        // Help goes to stdout with 0, what is wrong to stderr with 2: as clap has it.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match execute(&arguments.command, connect) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn execute(command: &FleetCommand, connect: Option<Connect>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the engine's threads")?;
    match command {
        FleetCommand::Check(arguments) => runtime.block_on(commands::check(arguments)),
        FleetCommand::Scan(arguments) => match (&arguments.cluster, connect) {
            (None, _) => runtime.block_on(commands::scan(arguments, None)),
            (Some(address), Some(connect)) => runtime.block_on(scan_on(arguments, address, connect)),
            (Some(_), None) => become_cluster_client(),
        },
        FleetCommand::Merge(arguments) => runtime.block_on(commands::merge(arguments)),
        FleetCommand::Drive(arguments) => runtime.block_on(commands::drive(arguments)),
        FleetCommand::Sql(arguments) => runtime.block_on(commands::sql(arguments)),
        FleetCommand::Gen(arguments) => {
            let said = generate::run(arguments)?;
            writeln!(std::io::stdout().lock(), "{said}")?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

async fn scan_on(arguments: &ScanArgs, address: &str, connect: Connect) -> Result<ExitCode> {
    let limits =
        EngineLimits { memory: arguments.rows.memory, partitions: arguments.rows.threads.unwrap_or(16) };
    let cluster = connect(address.to_owned(), state(limits)?)
        .await
        .with_context(|| format!("cannot reach the cluster at {address}"))?;
    commands::scan(arguments, Some(&cluster)).await
}

/// The same command line, in the program that can.
fn become_cluster_client() -> Result<ExitCode> {
    let program = commands::beside(CLUSTER_PROGRAM);
    let status = Command::new(&program).args(std::env::args_os().skip(1)).status().with_context(|| {
        format!(
            "cannot start {}, which --cluster needs; in heatsoak's source tree `cargo build --release --manifest-path fleet/cluster/Cargo.toml` builds it",
            program.display()
        )
    })?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}
