//! `heatsoak fit`, `predict`, `recommend`: runs become a drive that can be asked.
//!
//! What a fit is and what a forecast says is in `fit`; here inputs are read and answers printed.

pub(crate) mod fit;
pub(crate) mod next;
pub(crate) mod predict;
pub(crate) mod recommend;
mod sheet;
pub(crate) mod sweep;

use std::path::{Path, PathBuf};

use ::fit::check::SelfCheck;
use ::fit::{Fitted, RunData};
use anyhow::{Context as _, bail};
use import::ImportOptions;
use measure::{Celsius, Seed};
use physics::Profile;
use plan::Plan;

use crate::args::PlaceArgs;
use crate::commands::findings::Analyzed;
use crate::damage;
use crate::inputs::runs_in;
use crate::printer::Printer;

/// The plan of a forecast without one.
const DEFAULT_PLAN: &str = "hctm-read";
/// Fits are the same each time.
const SEED: Seed = Seed::new(1);

/// Runs of one drive, fitted.
struct FittedRuns {
    fitted: Fitted,
    check: SelfCheck,
}

/// Fits runs of one drive.
///
/// # Errors
/// An input that cannot be read, or runs that tell nothing.
fn fitted(
    runs: &[Vec<PathBuf>],
    ambient: Option<Celsius>,
    airflow: &[f64],
    name: &str,
    printer: &mut Printer,
) -> anyhow::Result<FittedRuns> {
    if !airflow.is_empty() && airflow.len() != runs.len() {
        bail!(
            "cannot fit {} inputs with {} values of --airflow: name one for each input, such as --airflow 1,2",
            runs.len(),
            airflow.len()
        );
    }
    let mut data = Vec::with_capacity(runs.len());
    for (inputs, times) in runs.iter().zip(airflow.iter().copied().chain(std::iter::repeat(1.0))) {
        let trace = Analyzed::trace(inputs, &ImportOptions::default())?;
        damage::refuse_without_speeds(&inputs[0], &trace.caveats)?;
        damage::warn(&inputs[0], &trace.caveats, printer);
        data.push(RunData::new(&trace, ambient.map(Celsius::as_kelvin_f64)).at_airflow(times));
    }
    let all: Vec<String> = runs.iter().flatten().map(|input| input.display().to_string()).collect();
    let fitting = ::fit::fit(name, &data, SEED).with_context(|| format!("cannot fit {}", all.join(", ")))?;
    let (fitted, check) = Fitted::checked(&data, fitting);
    Ok(FittedRuns { fitted, check })
}

/// Whether any source says what TMT1 and TMT2 are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RecordedTmt([bool; 2]);

impl RecordedTmt {
    pub(crate) const fn of(fitted: &Fitted) -> Self {
        Self(fitted.common.tmt_recorded)
    }

    /// `undo`, a command as `fit` makes it, without the thresholds that nobody knows the former value of; empty where that
    /// leaves nothing.
    fn undo(self, undo: &str) -> String {
        let Some((command, options)) = undo.split_once(" --tmt1 ").filter(|_| self != Self([true; 2])) else {
            return undo.to_owned();
        };
        let values = options.split(" --tmt2 ");
        let known = ["--tmt1", "--tmt2"].into_iter().zip(values).zip(self.0).filter(|(_, known)| *known);
        let known: String = known.map(|((option, value), _)| format!(" {option} {value}")).collect();
        if known.is_empty() { known } else { format!("{command}{known}") }
    }

    /// What is to be noted before a setting is changed; `None` where the undo names all of it.
    fn to_note(self) -> Option<String> {
        let what = match self.0 {
            [true, true] => return None,
            [true, false] => "TMT2 was not recorded: note it",
            [false, true] => "TMT1 was not recorded: note it",
            [false, false] => "TMT1 and TMT2 were not recorded: note them",
        };
        Some(format!("{what} first (`heatsoak hctm DRIVE`)"))
    }

    /// How to take a setting back, for people: the command, in `quote`s, and what to note before.
    pub(crate) fn undo_sentence(self, undo: &str, quote: &str) -> String {
        let command = self.undo(undo);
        let command = (!command.is_empty()).then(|| format!("{quote}{command}{quote}"));
        command.into_iter().chain(self.to_note()).collect::<Vec<_>>().join("; ")
    }
}

/// How far advice keeps below the temperature at which load stops by itself, in kelvins, on a drive whose warning temperature is
/// not known: what [`plan::stop_below`] keeps below a critical one.
const BELOW_STOP_K: f64 = 5.0;

/// Where load stops by itself on this drive; `None` where its warning temperature (WCTEMP) is known and bounds advice.
fn stop_k(fitted: &Fitted) -> Option<f64> {
    let limits = &fitted.common.limits;
    let stop = plan::stop_below(limits.critical_k.map(|critical_k| critical_k as u16));
    limits.warning_k.is_none().then(|| f64::from(stop.as_kelvin()))
}

/// The highest threshold that is advised there.
fn most_advised_k(fitted: &Fitted) -> Option<f64> {
    stop_k(fitted).map(|stop_k| stop_k - BELOW_STOP_K)
}

/// The drive as advice sees it: without a known warning temperature no threshold is tried near where load stops by itself.
pub(crate) fn to_advise_on(mut fitted: Fitted) -> Fitted {
    if let Some(most_k) = most_advised_k(&fitted) {
        let limits = &mut fitted.common.limits;
        limits.tmt_max_k = Some(limits.tmt_max_k.map_or(most_k, |tmt_max_k| tmt_max_k.min(most_k)));
    }
    fitted
}

/// What a fit of a run leaves in its folder.
const TWIN: &str = "twin.toml";
const CHECK: &str = "fit.html";

/// Fits the run that has just been made, and says what it told. On stderr: stdout has the findings.
///
/// # Errors
/// A run that tells nothing, or a folder that cannot be written to.
pub(crate) fn fit_run(folder: &Path, printer: &mut Printer) -> anyhow::Result<()> {
    let FittedRuns { fitted, check, .. } = fitted(&[vec![folder.to_owned()]], None, &[], "twin", printer)?;
    let (out, page) = (folder.join(TWIN), folder.join(CHECK));
    fit::write(&fitted, &out)?;
    fit::write_check(&fitted, &check, &page)?;
    printer.message(&fit::text(&fitted, &check, printer.data_width()));
    printer.message(&format!("wrote {}: measured beside simulated", page.display()));
    printer.message(&format!("wrote {}: ask it with `heatsoak predict {}`", out.display(), out.display()));
    Ok(())
}

/// A sentence that asks for a run of the plan, with the plan as it was typed.
fn with_plan(text: &str, args: &PlaceArgs) -> String {
    let typed = args.inputs.last().filter(|last| is_plan(last));
    let typed = typed.map_or_else(|| DEFAULT_PLAN.to_owned(), |last| last.display().to_string());
    text.replace("heatsoak run PLAN ", &format!("heatsoak run {typed} "))
}

/// A drive that can be asked, and the plan that it is asked about.
fn asked(args: &PlaceArgs, printer: &mut Printer) -> anyhow::Result<(Fitted, Plan)> {
    let (inputs, plan) = match args.inputs.split_last() {
        Some((last, [])) if is_plan(last) => {
            bail!("{} is a plan, not a drive: name a fitted profile or a run before it", last.display())
        }
        Some((last, before)) if is_plan(last) => (before, Plan::load(&last.display().to_string())?),
        _ => (args.inputs.as_slice(), Plan::builtin(DEFAULT_PLAN)?),
    };
    let profiles = inputs.iter().filter(|input| is_profile(input)).count();
    match inputs {
        [profile] if profiles == 1 => {
            let name = profile.display().to_string();
            let text = measure::input::read_to_string(profile)
                .with_context(|| format!("cannot read the profile {name}"))?;
            let read = Profile::from_toml(&text).with_context(|| format!("cannot use the profile {name}"))?;
            let fitted =
                Fitted::from_profile(&read).with_context(|| format!("cannot predict with {name}"))?;
            Ok((fitted, plan))
        }
        runs if profiles == 0 => {
            let runs: Vec<_> = runs_in(runs, printer).into_iter().map(|run| vec![run]).collect();
            Ok((fitted(&runs, None, &[], "fitted", printer)?.fitted, plan))
        }
        _ => bail!("cannot take a fitted profile and other inputs at once: fit all runs with `heatsoak fit`"),
    }
}

/// Whether an input is a plan: the name of a built-in, a job file, or TOML with phases.
fn is_plan(input: &Path) -> bool {
    let name = input.display().to_string();
    Plan::builtin_names().any(|builtin| builtin == name)
        || match input.extension().and_then(|end| end.to_str()) {
            Some("fio" | "job" | "ini") => true,
            Some("toml") => text_has(input, "[[phase"),
            _ => false,
        }
}

/// Any other TOML file is taken for a profile, and says so where it is none.
fn is_profile(input: &Path) -> bool {
    input.extension().is_some_and(|end| end == "toml")
}

fn text_has(file: &Path, what: &str) -> bool {
    measure::input::read_to_string(file)
        .is_ok_and(|text| text.lines().any(|line| line.trim_start().starts_with(what)))
}

/// Digits behind the point with which a number has two that count; 2 of numbers from 0.1 on.
fn digits(value: f64) -> usize {
    let small = value > 0.0 && value < 0.1;
    if small { ((-value.log10()).ceil() as usize + 1).min(9) } else { 2 }
}

/// Kelvins as degrees, to a tenth.
fn degrees(kelvin: f64) -> f64 {
    Celsius::from_kelvin_f64(kelvin).as_degrees()
}
