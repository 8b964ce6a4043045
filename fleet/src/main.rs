//! `heatsoak-fleet`: the verdicts of a drive over the rows of many, on Apache DataFusion.
//!
//! It reads files and writes tables; it opens no drive and no network. What a drive's rows add up to is the crate
//! `fleet_state`'s, without the engine.
//!
//! # Map
//! - [`args`]: what may be typed; [`commands`]: what happens then.
//! - [`source`], [`mapping`], [`projection`], [`engine`]: files, what their columns mean, as SQL, in a session.
//! - [`udaf`], [`scan`], [`cadence`]: rows to one state a drive.
//! - [`verdict`], [`places`], [`cells`], [`statistics`], [`hash`]: states to findings. [`since`]: what changed.
//! - [`outcome`], [`tables`], [`report`]: findings to files. [`generate`]: fleets with known truth.

mod args;
mod cadence;
mod cells;
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
mod verdict;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser as _;

use args::{FleetArgs, FleetCommand};

fn main() -> ExitCode {
    let arguments = match FleetArgs::try_parse() {
        Ok(arguments) => arguments,
        // Help goes to stdout with 0, what is wrong to stderr with 2: as clap has it.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    match run(&arguments.command) {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr().lock(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: &FleetCommand) -> Result<ExitCode> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().build().context("cannot start the engine's threads")?;
    match command {
        FleetCommand::Check(arguments) => runtime.block_on(commands::check(arguments)),
        FleetCommand::Scan(arguments) => runtime.block_on(commands::scan(arguments)),
        FleetCommand::Drive(arguments) => runtime.block_on(commands::drive(arguments)),
        FleetCommand::Sql(arguments) => runtime.block_on(commands::sql(arguments)),
        FleetCommand::Gen(arguments) => {
            let said = generate::run(arguments)?;
            writeln!(std::io::stdout().lock(), "{said}")?;
            Ok(ExitCode::SUCCESS)
        }
    }
}
