//! `heatsoak compare`: runs against each other, as a table and as a page with one chart.

use crate::Exit;
use crate::args::CompareArgs;
use crate::commands::findings::{Analyzed, style};
use crate::commands::joint::joint_policies;
use crate::printer::Printer;
use measure::record::write_whole;

/// Compares.
pub(crate) fn execute(args: &CompareArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let (mut inputs, mut runs) = (Vec::new(), Vec::new());
    for run in &args.runs {
        let analyzed = Analyzed::read(run)?;
        inputs.push(analyzed.input);
        runs.push(analyzed.joint);
    }
    let joint = joint_policies(runs, args.one_drive);
    if let Some(out) = &args.out {
        write_whole(out, report::compare_html(&inputs, &joint).as_bytes())?;
    }
    let mut text = report::compare_terminal(&inputs, &joint, &style(printer, None));
    if let Some(out) = &args.out {
        text.push_str(&format!("\nReport: {}\n", out.display()));
    }
    printer.coloured_data(&text)?;
    Ok(Exit::Done)
}
