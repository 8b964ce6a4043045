//! One file a command.

mod analyze;
mod compare;
mod documents;
mod explain;
mod export;
mod findings;
mod finish;
mod fleet;
mod forecast;
mod generate;
mod govern;
mod inspect;
mod joint;
mod list;
mod meter;
mod remote;
mod report;
mod run;
mod runs;
mod serve;
mod settings;
mod show;
mod trim;
mod validate;
mod vssd;
mod watch;

use crate::Exit;
use crate::args::{CliCommand, Typed};
use crate::printer::Printer;

pub(crate) use documents::JsonDocument;
pub(crate) use generate::answer_shell;
pub(crate) use watch::{PACE_ON_TERMINAL, event_clock, replace_unsynced};

/// Does what was typed.
pub(crate) fn execute(typed: Typed, printer: &mut Printer) -> anyhow::Result<Exit> {
    let command = match typed {
        Typed::Command(command) => *command,
        Typed::Generate(args) => return generate::generate(&args),
    };
    if command.on().is_some_and(|on| on.on.is_some()) {
        return remote::execute(&command, printer);
    }
    match command {
        CliCommand::Fetch(args) => remote::fetch::execute(&args, printer),
        CliCommand::Remote(args) => remote::serve(&args),
        CliCommand::Run(args) => run::execute(&args, printer),
        CliCommand::Analyze(args) => analyze::execute(&args, printer),
        CliCommand::Report(args) => report::execute(&args, printer),
        CliCommand::Compare(args) => compare::execute(&args, printer),
        CliCommand::Export(args) => export::execute(&args, printer),
        CliCommand::Fit(args) => forecast::fit::execute(&args, printer),
        CliCommand::Predict(args) => forecast::predict::execute(&args, printer),
        CliCommand::Recommend(args) => forecast::recommend::execute(&args, printer),
        CliCommand::Fleet(args) => fleet::execute(&args, printer),
        CliCommand::Validate(args) => validate::execute(&args, printer),
        CliCommand::Vssd(args) => vssd::execute(&args, printer),
        CliCommand::Watch(args) => watch::execute(&args, printer),
        CliCommand::Govern(args) => govern::execute(args, printer),
        CliCommand::Exporter(args) => watch::export(&args, printer),
        CliCommand::Inspect(args) => inspect::execute(&args, printer),
        CliCommand::Meter(args) => meter::execute(&args, printer),
        CliCommand::Hctm(args) => settings::hctm::execute(&args, printer),
        CliCommand::PowerState(args) => settings::power_state::execute(&args, printer),
        CliCommand::TempThreshold(args) => settings::temp_threshold::execute(&args, printer),
        CliCommand::Trim(args) => trim::execute(&args, printer),
        CliCommand::Restore(args) => settings::restore::execute(&args, printer),
        CliCommand::Serve(args) => serve::execute(&args, printer),
        CliCommand::Runs(args) => runs::execute(&args, printer),
        CliCommand::List(args) => list::execute(&args, printer),
        CliCommand::Plans(args) => show::plans(&args, printer),
        CliCommand::Profiles(args) => show::profiles(&args, printer),
        CliCommand::Completions(args) => generate::completions(&args, printer),
    }
}
