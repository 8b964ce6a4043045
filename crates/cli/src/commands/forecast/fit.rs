//! `heatsoak fit`: a twin from measurements.

use std::path::{Path, PathBuf};

use ::fit::Fitted;
use ::fit::fitted::{LeftOpen, Parameter};
use anyhow::Context as _;
use measure::record::write_whole;
use serde::Serialize;

use super::fitted;
use crate::Exit;
use crate::args::FitArgs;
use crate::printer::Printer;
use crate::table;

/// The JSON of `fit --json`.
#[derive(Serialize)]
struct FitDocument<'a> {
    schema: u32,
    simulated: bool,
    runs: &'a [String],
    parameters: Vec<Parameter>,
    left_open: &'a [LeftOpen],
    residual_rms_k: f64,
}

/// Fits, tells, and writes the profile.
pub(crate) fn execute(args: &FitArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let runs: Vec<Vec<PathBuf>> = if args.join {
        vec![args.inputs.clone()]
    } else {
        args.inputs.iter().map(|input| vec![input.clone()]).collect()
    };
    let fitted = fitted(&runs, args.ambient, &name(args.out.as_deref()))?;
    if args.out.as_deref() == Some(Path::new("-")) {
        printer.data(&profile_text(&fitted)?)?;
        return Ok(Exit::Done);
    }
    if let Some(out) = &args.out {
        write(&fitted, out)?;
        printer.message(&format!("wrote {}: take it as twin:{}", out.display(), out.display()));
    }
    if args.json {
        printer.json(&FitDocument {
            schema: 1,
            simulated: fitted.simulated,
            runs: &fitted.runs,
            parameters: fitted.parameters(),
            left_open: &fitted.left_open,
            residual_rms_k: fitted.residual_rms_k,
        })?;
    } else {
        printer.data(&text(&fitted, printer.data_width()))?;
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
    write_whole(out, text.as_bytes()).with_context(|| format!("cannot write the profile {}", out.display()))
}

/// What was found, for people.
pub(crate) fn text(fitted: &Fitted, width: usize) -> String {
    let mut text = fitted.runs.join("\n");
    if fitted.simulated {
        text.push_str("  [simulated]");
    }
    text.push_str("\n\n");
    let heading = ["  PARAMETER", "VALUE", "90 % INTERVAL", "UNIT"].map(str::to_owned);
    let parameters = fitted.parameters();
    let rows: Vec<_> = std::iter::once(heading).chain(parameters.iter().map(row)).collect();
    text.push_str(&table::aligned(&rows));
    text.push_str(&format!(
        "\n  The fitted twin misses the readings by {:.2} K rms.\n",
        fitted.residual_rms_k
    ));
    if fitted.residual_rms_k > DOUBTFUL_RMS_K {
        text.push_str(&report::wrapped(
            "That is more than rounding explains: heat without I/O of the host (folding of the write cache after writes), \
             air that changed, or a load beside this one.",
            "  ",
            width,
        ));
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
    text
}

/// Rounding to whole kelvins leaves 0.29 K; trials with a right model left up to 0.36 K.
const DOUBTFUL_RMS_K: f64 = 0.6;

/// A row; speeds in GB/s and temperatures in °C, as people read them.
fn row(parameter: &Parameter) -> [String; 4] {
    let absolute = parameter.unit == "K" && parameter.value > 200.0;
    let (unit, of): (&str, fn(f64) -> f64) = match parameter.unit {
        "B/s" => ("GB/s", |value| value / 1e9),
        "K" if absolute => ("°C", super::degrees),
        unit => (unit, |value| value),
    };
    let [value, low, high] = [parameter.value, parameter.low, parameter.high].map(of);
    [
        format!("  {}", parameter.name),
        format!("{value:.2}"),
        format!("{low:.2} to {high:.2}"),
        unit.to_owned(),
    ]
}
