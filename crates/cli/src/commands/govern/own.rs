//! A load of ours: a plan, run as `heatsoak run` does, no faster than the temperature allows.

use anyhow::Context as _;
use govern::Bounds;
use measure::record::EndReason;

use super::document::{About, GovernDocument, GovernedLoad, mean_speeds};
use super::shape::GovernedRun;
use crate::Exit;
use crate::args::GovernArgs;
use crate::commands::{findings, run};
use crate::printer::{Printer, is_broken_pipe};

/// Runs the plan.
pub(super) fn execute(args: GovernArgs, bounds: Bounds, printer: &mut Printer) -> anyhow::Result<Exit> {
    let (address, json) = (args.drive.clone(), args.json);
    let args = args.run();
    let governed = GovernedRun::new(bounds);
    let Some(ended) = run::governed(&args, &governed, printer)? else { return Ok(Exit::Stopped) };
    let told = || -> anyhow::Result<(GovernDocument, String)> {
        let (analyzed, report) = findings::finish_run(&ended.folder, !args.no_report)?;
        let simulated = analyzed.findings().simulated == Some(true);
        let document = GovernDocument::new(
            bounds,
            &governed.account(),
            About {
                address: &address,
                simulated,
                load: GovernedLoad::Own,
                mean: mean_speeds(&ended.folder)?,
                ended_early: ended.end.detail.clone().filter(|_| ended.end.reason != EndReason::Completed),
                run_folder: Some(&ended.folder),
                cgroups: Vec::new(),
                command_exit: None,
            },
        );
        let style = findings::style(printer, Some(ended.folder.display().to_string()));
        let mut text = report::terminal(&analyzed.input, &style);
        if let Some(report) = report {
            text.push_str(&format!("Report:     {}\n", report.display()));
        }
        text.push_str(&document.lines());
        Ok((document, text))
    };
    let (document, text) = told().with_context(|| {
        format!("the run is recorded in {}, but what follows it was not done", ended.folder.display())
    })?;
    let shown = if json { printer.json(&document) } else { Ok(printer.coloured_data(&text)?) };
    shown.or_else(|error| if is_broken_pipe(&error) { Ok(()) } else { Err(error) })?;
    Ok(match run::outcome(ended.end.reason) {
        Exit::Done if !document.stayed_below() => Exit::DoesNotHold,
        exit => exit,
    })
}
