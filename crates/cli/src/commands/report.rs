//! `heatsoak report`: the report of a run made again, or its chart as a drawing.

use std::path::{Path, PathBuf};

use anyhow::bail;
use measure::record::write_whole;

use crate::Exit;
use crate::args::ReportArgs;
use crate::commands::findings::{Analyzed, write_report};
use crate::printer::Printer;

/// The chart's name in a run folder.
const CHART: &str = "chart.svg";

/// Makes reports.
pub(crate) fn execute(args: &ReportArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    if args.out.is_some() && args.runs.len() > 1 {
        bail!(
            "cannot write {} reports to one file; leave out --out to have each in its own run folder, or name \
             one run",
            args.runs.len()
        );
    }
    for run in &args.runs {
        if let Some(path) = one(run, args, printer)? {
            printer.data(&path.display().to_string())?;
        }
    }
    Ok(Exit::Done)
}

/// Makes one; says where it is, unless it went to stdout.
fn one(source: &Path, args: &ReportArgs, printer: &mut Printer) -> anyhow::Result<Option<PathBuf>> {
    let Analyzed { input, is_run, .. } = Analyzed::read(source)?;
    let made = || if args.svg { report::svg(&input) } else { report::html(&input) };
    let path = match &args.out {
        Some(out) if out == Path::new("-") => {
            printer.data(&made())?;
            return Ok(None);
        }
        Some(out) => out.clone(),
        None if !is_run => {
            bail!("{} is not a run folder: say with --out where its report goes", source.display())
        }
        None if args.svg => source.join(CHART),
        None => return write_report(source, &input).map(Some),
    };
    write_whole(&path, made().as_bytes())?;
    Ok(Some(path))
}
