//! `heatsoak fit`: a twin from measurements.

use std::path::{Path, PathBuf};

use ::fit::Fitted;
use ::fit::check::{Misfit, SelfCheck};
use ::fit::fitted::{LeftOpen, Parameter};
use ::fit::narrow::{NextRun, next_run};
use ::fit::opinion::MachineOdds;
use anyhow::Context as _;
use measure::record::write_whole;
use schemars::JsonSchema;
use serde::Serialize;

use super::{FittedRuns, fitted, sheet};
use crate::Exit;
use crate::args::FitArgs;
use crate::inputs::runs_in;
use crate::printer::Printer;
use crate::table;

/// The JSON of `fit --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FitDocument<'a> {
    /// Version of this format.
    schema: u32,
    /// Whether the runs are of a simulated drive.
    simulated: bool,
    /// The runs that were fitted.
    runs: &'a [String],
    /// What was fitted, each with its 90 % interval.
    parameters: Vec<Parameter>,
    /// Which throttling model the runs make probable, the most probable first; empty where heat did not slow the drive down.
    machines: &'a [MachineOdds],
    /// What the runs cannot tell, and the command that would.
    left_open: &'a [LeftOpen],
    /// Root mean square of measured less modelled temperature.
    residual_rms_k: f64,
    misfits: &'a [Misfit],
    next: Option<NextRun>,
}

/// Fits, tells, and writes the profile.
pub(crate) fn execute(args: &FitArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let runs: Vec<Vec<PathBuf>> = if args.join {
        vec![args.inputs.clone()]
    } else {
        runs_in(&args.inputs, printer).into_iter().map(|input| vec![input]).collect()
    };
    let FittedRuns { fitted, check, .. } =
        fitted(&runs, args.ambient, &args.airflow, &name(args.out.as_deref()), printer)?;
    if args.out.as_deref() == Some(Path::new("-")) {
        printer.data(&profile_text(&fitted)?)?;
        return Ok(Exit::Done);
    }
    if let Some(out) = &args.out {
        write(&fitted, out)?;
        printer.message(&format!("wrote {}: take it as twin:{}", out.display(), out.display()));
    }
    if let Some(page) = &args.report {
        write_check(&fitted, &check, page)?;
        printer.message(&format!("wrote {}: measured beside simulated", page.display()));
    }
    if args.json {
        printer.json(&FitDocument {
            schema: 1,
            simulated: fitted.simulated,
            runs: &fitted.runs,
            parameters: fitted.parameters(),
            machines: &fitted.machines,
            left_open: &fitted.left_open,
            residual_rms_k: fitted.residual_rms_k,
            misfits: &fitted.misfits,
            next: next_run(&fitted),
        })?;
    } else {
        printer.data(&text(&fitted, &check, printer.data_width()))?;
    }
    Ok(Exit::Done)
}

/// The profile is called after its file.
fn name(out: Option<&Path>) -> String {
    let stem = out.and_then(Path::file_stem).and_then(|stem| stem.to_str());
    stem.filter(|stem| *stem != "-").unwrap_or("fitted").to_owned()
}

fn profile_text(fitted: &Fitted) -> anyhow::Result<String> {
    let profile = fitted.profile().context("cannot make a profile of what was fitted")?;
    profile.to_toml().context("cannot make a profile of what was fitted")
}

/// Writes the profile.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write(fitted: &Fitted, out: &Path) -> anyhow::Result<()> {
    let text = profile_text(fitted)?;
    Ok(write_whole(out, text.as_bytes())?)
}

/// Writes the page of the check.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn write_check(fitted: &Fitted, check: &SelfCheck, out: &Path) -> anyhow::Result<()> {
    let page = report::sheet::sheet_html(&sheet::of_check(fitted, check));
    Ok(write_whole(out, page.as_bytes())?)
}

/// What was found, for people.
pub(crate) fn text(fitted: &Fitted, check: &SelfCheck, width: usize) -> String {
    let mut text = fitted.runs.join("\n");
    if fitted.simulated {
        text.push_str("  [simulated]");
    }
    text.push_str("\n\n");
    let heading = ["  PARAMETER", "VALUE", "90 % INTERVAL", "UNIT"].map(str::to_owned);
    let parameters = fitted.parameters();
    let rows: Vec<_> = std::iter::once(heading).chain(parameters.iter().map(row)).collect();
    text.push_str(&table::fitted(&rows, width));
    text.push('\n');
    for sentence in sheet::check_sentences(fitted, check) {
        text.push_str(&report::wrapped(&sentence, "  ", width));
    }
    if !fitted.left_open.is_empty() {
        text.push_str("\n  Left open\n");
        for open in &fitted.left_open {
            text.push_str(&report::wrapped(
                &format!("{}: {}. `{}`", open.what, open.why, open.plan),
                "  - ",
                width,
            ));
        }
    }
    if let Some(next) = next_run(fitted) {
        text.push('\n');
        text.push_str(&report::wrapped(&next_sentence(&next), "  ", width));
    }
    text
}

/// The ten minutes that would tell most, as a sentence.
fn next_sentence(next: &NextRun) -> String {
    let fan = if next.with_fan { " with a fan on the drive, fitted with `--airflow 1,2`," } else { "" };
    let what = match (&next.shows, next.spread) {
        (Some(what), _) => format!("shows what no run did: {what}"),
        (None, Some([now, then])) => format!(
            "narrows forecasts of other air, airflow and TMT1 most, from {:.1} to about {:.1} % of the speed (one \
             standard deviation)",
            100.0 * now,
            100.0 * then
        ),
        (None, None) => "tells most".to_owned(),
    };
    format!("Next ten minutes: `{}`{fan} {what}.", next.plan)
}

/// A row; speeds in GB/s and temperatures in °C, as people read them.
pub(super) fn row(parameter: &Parameter) -> [String; 4] {
    let absolute = parameter.unit == "K" && parameter.value > 200.0;
    let (unit, of): (&str, fn(f64) -> f64) = match parameter.unit {
        "B/s" => ("GB/s", |value| value / 1e9),
        "K" if absolute => ("°C", super::degrees),
        unit => (unit, |value| value),
    };
    let [value, low, high] = [parameter.value, parameter.low, parameter.high].map(of);
    let digits = if unit == "GB/s" { super::digits(value) } else { 2 };
    [
        format!("  {}", parameter.name),
        format!("{value:.digits$}"),
        format!("{low:.digits$} to {high:.digits$}"),
        unit.to_owned(),
    ]
}
