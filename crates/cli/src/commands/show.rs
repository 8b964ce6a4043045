//! `heatsoak plans` and `heatsoak profiles`: what is built in, and its text to start one's own from.

use physics::Profile;
use plan::Plan;

use crate::Exit;
use crate::args::NameArgs;
use crate::printer::Printer;
use crate::table;

/// Shows the built-in plans, or one as TOML.
pub(crate) fn plans(args: &NameArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let text = match &args.name {
        Some(name) => Plan::builtin(name)?.to_toml(),
        None => {
            let mut rows = vec![["PLAN".to_owned(), "WHAT IT DOES".to_owned()]];
            for name in Plan::builtin_names() {
                rows.push([name.to_owned(), Plan::builtin(name)?.description]);
            }
            table::fitted(&rows, printer.data_width())
        }
    };
    printer.data(&text)?;
    Ok(Exit::Done)
}

/// Shows the built-in profiles of simulated drives, or one as TOML with its comments.
pub(crate) fn profiles(args: &NameArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let text = match &args.name {
        Some(name) => match Profile::builtin_toml(name) {
            Some(text) => text.to_owned(),
            // It is not there, so this is the error that names the nearest.
            None => Profile::builtin(name)?.to_toml()?,
        },
        None => {
            let mut rows = vec![["PROFILE".to_owned(), "SIMULATED DRIVE".to_owned()]];
            for name in Profile::builtin_names() {
                rows.push([name.to_owned(), Profile::builtin(name)?.description]);
            }
            table::fitted(&rows, printer.data_width())
        }
    };
    printer.data(&text)?;
    Ok(Exit::Done)
}
