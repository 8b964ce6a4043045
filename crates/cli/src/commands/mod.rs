//! One file a command.

mod analyze;
mod compare;
mod explain;
mod findings;
mod generate;
mod inspect;
mod joint;
mod list;
mod report;
mod run;
mod settings;
mod show;
mod validate;
mod vssd;

use crate::Outcome;
use crate::args::{Command, Typed};
use crate::printer::Printer;

/// Does what was typed.
pub(crate) fn execute(typed: Typed, printer: &mut Printer) -> anyhow::Result<Outcome> {
    let command = match typed {
        Typed::Command(command) => *command,
        Typed::Generate(args) => return generate::generate(&args),
    };
    match command {
        Command::Run(args) => run::execute(&args, printer),
        Command::Analyze(args) => analyze::execute(&args, printer),
        Command::Report(args) => report::execute(&args, printer),
        Command::Compare(args) => compare::execute(&args, printer),
        Command::Validate(args) => validate::execute(&args, printer),
        Command::Vssd(args) => vssd::execute(&args, printer),
        Command::Inspect(args) => inspect::execute(&args, printer),
        Command::Hctm(args) => settings::hctm::execute(&args, printer),
        Command::PowerState(args) => settings::power_state::execute(&args, printer),
        Command::TempThreshold(args) => settings::temp_threshold::execute(&args, printer),
        Command::Restore(args) => settings::restore::execute(&args, printer),
        Command::List(args) => list::execute(&args, printer),
        Command::Plans(args) => show::plans(&args, printer),
        Command::Profiles(args) => show::profiles(&args, printer),
        Command::Completions(args) => generate::completions(&args, printer),
    }
}
