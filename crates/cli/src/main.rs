//! The binary `heatsoak`: what was typed -> plan -> run -> print.
//!
//! It glues the other crates together and decides nothing about drives or numbers: drives come from `drive`, simulated
//! ones from `twin`, the load from `capture`, verdicts from `analysis`, charts from `report`.
//!
//! # Map
//! - [`args`]: what may be typed; [`commands`]: one file a command.
//! - [`door`]: the one place where a drive is opened by its address; [`twin_drive`]: simulated ones;
//!   [`open_settings`]: the settings of a drive and the journal for it.
//! - [`inputs`]: runs among what was typed. [`logs`]: logs of other tools. [`host`], [`block_devices`]: this machine.
//! - [`screen`]: the live screen; [`live_news`]: what it shows of drives of another machine.
//! - [`printer`]: the only place that writes to stdout or stderr.

mod args;
mod block_devices;
mod commands;
mod cost;
mod damage;
mod door;
mod host;
mod inputs;
mod live_news;
mod logs;
mod open_settings;
mod opening;
mod printer;
mod progress;
mod run_folder;
mod run_live;
mod screen;
mod signals;
mod table;
mod twin_drive;

use std::io::ErrorKind;
use std::process::ExitCode;

use anyhow::Context as _;

use crate::printer::Printer;

/// How a command ended, where it did not fail: the exit codes that scripts rely on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// 0: done.
    Done,
    /// 1: done, and something that was asked to be checked does not hold.
    DoesNotHold,
    /// 2: not done, and that has been said already.
    NotDone,
    /// 3: stopped early by a safety limit or by a signal; what was measured is kept.
    Stopped,
}

impl Exit {
    const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::DoesNotHold => 1,
            Self::NotDone => 2,
            Self::Stopped => 3,
        }
    }
}

fn main() -> ExitCode {
    commands::answer_shell();
    let mut printer = Printer::new();
    match go(&mut printer) {
        Ok(outcome) => outcome.code().into(),
        Err(error) if printer::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            printer.error(&error);
            Exit::NotDone.code().into()
        }
    }
}

fn go(printer: &mut Printer) -> anyhow::Result<Exit> {
    random_numbers()?;
    match args::typed() {
        Ok(typed) => commands::execute(typed, printer),
        // Help is no error, and holds nothing that was typed.
        Err(error) if !error.use_stderr() => Ok(printer.help(&error).map(|()| Exit::Done)?),
        Err(error) => {
            printer.usage(&error);
            Ok(Exit::NotDone)
        }
    }
}

/// Asks the system for random numbers once. The standard library needs some for each hash table, makes interrupted calls
/// again without end, and panics at others: said here in a sentence. Where there is no such call it knows another way.
fn random_numbers() -> anyhow::Result<()> {
    match measure::patient::random(&mut [0]) {
        Err(error) if !matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::PermissionDenied) => Err(
            error,
        )
        .context(
            "cannot have random numbers of the system (getrandom); look what traces or filters this process",
        ),
        _ => Ok(()),
    }
}
