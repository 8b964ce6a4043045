//! One file a command.

mod generate;
mod list;
mod show;

use crate::Outcome;
use crate::args::{Command, Typed};
use crate::printer::Printer;

/// Does what was typed.
pub(crate) fn execute(typed: Typed, printer: &mut Printer) -> anyhow::Result<Outcome> {
    let command = match typed {
        Typed::Command(command) => command,
        Typed::Generate(args) => return generate::generate(&args),
    };
    match command {
        Command::List(args) => list::execute(&args, printer),
        Command::Plans(args) => show::plans(&args, printer),
        Command::Profiles(args) => show::profiles(&args, printer),
        Command::Completions(args) => generate::completions(&args, printer),
    }
}
