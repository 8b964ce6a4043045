//! `heatsoak report`: the report of a run made again, its first screen as a picture, or its chart as a drawing.

use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use measure::record::write_whole;
use report::ReportInput;

use crate::Exit;
use crate::args::ReportArgs;
use crate::commands::findings::{Analyzed, write_form, write_report};
use crate::damage;
use crate::inputs;
use crate::printer::Printer;

/// What is made, and its name in a run folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReportForm {
    Page,
    Png,
    Svg,
    Chart,
}

impl ReportForm {
    fn of(args: &ReportArgs) -> Self {
        match args {
            ReportArgs { png: true, .. } => Self::Png,
            ReportArgs { svg: true, .. } => Self::Svg,
            ReportArgs { chart: true, .. } => Self::Chart,
            _ => Self::Page,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Page => "report.html",
            Self::Png => "report.png",
            Self::Svg => "report.svg",
            Self::Chart => "chart.svg",
        }
    }

    fn make(self, input: &ReportInput) -> anyhow::Result<Vec<u8>> {
        Ok(match self {
            Self::Page => report::html(input).into_bytes(),
            Self::Png => report::picture_png(input)
                .map_err(|why| anyhow!("cannot make the picture: {why}; --svg makes it as a drawing"))?,
            Self::Svg => report::picture_svg(input).into_bytes(),
            Self::Chart => report::svg(input).into_bytes(),
        })
    }
}

/// Makes reports.
pub(crate) fn execute(args: &ReportArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let runs = inputs::runs_in(&args.runs, printer);
    if args.out.is_some() && runs.len() > 1 {
        bail!(
            "cannot write {} reports to one file; leave out --out to have each in its own run folder, or name \
             one run",
            runs.len()
        );
    }
    for run in &runs {
        if let Some(path) = one(run, args, printer)? {
            printer.data(&path.display().to_string())?;
        }
    }
    Ok(Exit::Done)
}

/// Makes one; says where it is, unless it went to stdout.
fn one(source: &Path, args: &ReportArgs, printer: &mut Printer) -> anyhow::Result<Option<PathBuf>> {
    let Analyzed { input, is_run, .. } = Analyzed::read(source)?.advised();
    damage::warn(source, &input.findings.caveats, printer);
    let form = ReportForm::of(args);
    let path = match &args.out {
        Some(out) if out == Path::new("-") => {
            printer.bytes(&form.make(&input)?)?;
            return Ok(None);
        }
        Some(out) => out.clone(),
        None if !is_run => {
            bail!("{} is not a run folder: name a file for its report with --out", source.display())
        }
        None if form == ReportForm::Page => return write_report(source, &input).map(Some),
        None => {
            let path = source.join(form.name());
            write_form(&path, &form.make(&input)?, source, form.name())?;
            return Ok(Some(path));
        }
    };
    write_whole(&path, &form.make(&input)?)?;
    Ok(Some(path))
}
