//! The binary `heatsoak`: what was typed -> plan -> run -> print.
//!
//! It glues the other crates together and decides nothing about drives or numbers: targets and the load
//! come from `capture`, simulated drives from `twin`, verdicts from `analysis`, charts from `report`.
//!
//! # Map
//! - [`args`]: what may be typed; [`commands`]: one file a command.
//! - [`printer`]: the only place that writes to stdout or stderr.

#![expect(dead_code, reason = "what `run` needs of printer and outcomes stands already")]

mod args;
mod block_devices;
mod commands;
mod printer;
mod table;

use std::process::ExitCode;

use crate::printer::Printer;

/// How a command ended, where it did not fail: the exit codes that scripts rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// 0: done.
    Done,
    /// 2: not done, and that has been said already.
    NotDone,
    /// 3: stopped early by a safety limit or by a signal; what was measured is kept.
    Stopped,
}

/// Exit code where an error ended the command.
const NOT_DONE: u8 = 2;

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::NotDone => Self::from(NOT_DONE),
            Outcome::Stopped => Self::from(3),
        }
    }
}

fn main() -> ExitCode {
    let typed = args::typed();
    let mut printer = Printer::new();
    match commands::execute(typed, &mut printer) {
        Ok(outcome) => outcome.into(),
        Err(error) if printer::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            printer.error(&error);
            ExitCode::from(NOT_DONE)
        }
    }
}
