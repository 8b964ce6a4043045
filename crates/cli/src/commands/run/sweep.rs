//! A sweep: one run a setting, the drive brought back in between, all of them compared in the end.
//!
//! Every run is made by [`super::one`] as if it had been typed alone, and so is what happens in between: on a
//! simulated drive and on a real one the same two plans take turns. What a setting is belongs to
//! `plan`; how it gets onto a drive and back off it belongs to the session.

use std::path::{Path, PathBuf};

use analysis::Findings;
use analysis::joint::JointPolicy;
use anyhow::{Context as _, bail};
use drive::{Address, Drive};
use measure::Kelvin;
use measure::record::{self, EndReason, ThermalSettings, write_whole};
use plan::check::{self, TargetFacts};
use plan::{Plan, Sweep, SweepSetting};
use report::{Comparison, ReportInput};
use schemars::JsonSchema;
use serde::Serialize;

use super::one::{OneRun, outcome, tell_end};
use crate::Exit;
use crate::args::RunArgs;
use crate::commands::documents::JsonDocument as _;
use crate::commands::findings::{Analyzed, finish_run, style};
use crate::commands::finish::{FinishOrder, finish_sentences, finishes};
use crate::commands::joint;
use crate::door;
use crate::inputs::BETWEEN;
use crate::opening::Opening;
use crate::printer::Printer;
use crate::run_folder;

/// The comparison's name in the sweep's folder.
const COMPARISON: &str = "compare.html";

/// Where it does not matter how cool the drive becomes.
const NO_WAIT: Kelvin = Kelvin::from_kelvin(u16::MAX);

/// The JSON of a sweep: where it lies, what its runs show together, and the findings of each.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SweepResult<'a> {
    /// Version of this format.
    schema: u32,
    /// The folder of the sweep, with a run folder for each setting.
    run_folder: String,
    /// The page with all runs in one chart; `null` without one.
    comparison: Option<String>,
    /// What the runs show together.
    joint_policies: Vec<JointPolicy>,
    /// Which setting had moved the same amount first; empty where the loads end with a time.
    finishes: Vec<FinishOrder>,
    /// A run for each setting, in order.
    runs: Vec<RunOfSweep<'a>>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct RunOfSweep<'a> {
    /// Name of the setting.
    setting: &'a str,
    /// The run folder.
    run_folder: String,
    #[serde(flatten)]
    findings: &'a Findings,
}

/// A run that was made.
struct SweptRun<'a> {
    setting: &'a SweepSetting,
    folder: PathBuf,
    run: Analyzed,
}

/// Makes `base`'s run under each setting of `sweep`.
pub(super) fn execute(
    base: &OneRun<'_>,
    sweep: &Sweep,
    address: &Address,
    opening: &Opening,
    printer: &mut Printer,
) -> anyhow::Result<Exit> {
    let OneRun { args, plan, .. } = *base;
    // In other surroundings each run has a drive of its own, at rest there; else one drive goes through all runs.
    let brought_back = !sweep.changes_surroundings();
    let first = door::open(address, opening)?;
    let drive_under = |setting: &SweepSetting| match brought_back {
        true => Ok(first.again()),
        false => {
            let ambient = setting.ambient.or(opening.surroundings.ambient);
            let surroundings = SweepSetting { ambient, ..setting.clone() };
            door::open(address, &Opening { surroundings, ..opening.clone() })
        }
    };
    check_all(base, sweep, &*first, &drive_under)?;
    let parent = match &args.out {
        Some(out) => out.clone(),
        None => run_folder::make_new(&plan.name, &address.to_string())?,
    };
    let mut done = Vec::new();
    let mut ended = Exit::Done;
    let mut cool_to = sweep.cool_to;
    for (number, setting) in (1..).zip(&sweep.settings) {
        if !args.quiet {
            printer.message(&format!("[{number}/{}] {}", sweep.settings.len(), setting.name));
        }
        if let Some(cool_to) = cool_to.filter(|_| number > 1 && brought_back) {
            let folder = parent.join(format!("{BETWEEN}{}-and-{number}", number - 1));
            let between = plan.between(sweep, cool_to);
            let run = OneRun { plan: &between, out: Some(&folder), ..*base };
            let Some(end) = run.run(&mut *first.again(), printer)? else { return Ok(Exit::Stopped) };
            ended = outcome(end.end.reason);
            if ended != Exit::Done {
                tell_end(&end, printer);
                break;
            }
            warn_if_warm(&folder, cool_to, printer)?;
        }
        let folder = parent.join(format!("{number}-{}", slug(&setting.name)));
        let one = plan.with_setting(setting);
        let run = OneRun { plan: &one, out: Some(&folder), ..*base };
        let Some(end) = run.run(&mut *drive_under(setting)?, printer)? else { return Ok(Exit::Stopped) };
        tell_end(&end, printer);
        let (mut run, _) = finish_run(&end.folder, !args.no_report)?;
        cool_to = cool_to.or_else(|| first_reading(&end.folder));
        run.joint = run.joint.named(&setting.name);
        done.push(SweptRun { setting, folder: end.folder, run });
        // A setting at which the drive becomes too hot is a result; the first that was not done as planned tells.
        if ended == Exit::Done {
            ended = outcome(end.end.reason);
        }
        if !matches!(end.end.reason, EndReason::Completed | EndReason::SafetyLimit) {
            break;
        }
    }
    tell(args, &parent, done, printer)?;
    Ok(ended)
}

/// Refuses what cannot be done before anything is done: the last setting too is looked at first.
fn check_all(
    base: &OneRun<'_>,
    sweep: &Sweep,
    drive: &dyn Drive,
    drive_under: &dyn Fn(&SweepSetting) -> anyhow::Result<Box<dyn Drive>>,
) -> anyhow::Result<()> {
    let limits = drive.again().examine()?.limits;
    check::check(base.plan, &limits)?;
    if !sweep.changes_surroundings() {
        check::check(&base.plan.between(sweep, NO_WAIT), &limits)?;
    }
    for setting in &sweep.settings {
        let one = base.plan.with_setting(setting);
        check_setting(&one, &limits, drive_under(setting))
            .with_context(|| format!("the setting {:?} of the sweep cannot be made", setting.name))?;
    }
    Ok(())
}

fn check_setting(
    plan: &Plan,
    limits: &TargetFacts,
    drive: anyhow::Result<Box<dyn Drive>>,
) -> anyhow::Result<()> {
    let drive = drive?;
    if plan.settings != ThermalSettings::default() && drive.settings_last().is_none() {
        bail!(
            "{} has no thermal settings to sweep over; name the drive under it (`heatsoak list`), or set each yourself \
             (`heatsoak hctm`, `heatsoak power-state`), run, and `heatsoak compare` the runs",
            drive.address()
        );
    }
    check::check(plan, limits)?;
    Ok(drive.check_settings(&plan.settings)?)
}

/// Where a run began, and 1 K more: a drive that comes to rest from above stays a reading above it for long.
fn first_reading(folder: &Path) -> Option<Kelvin> {
    let record = record::read_reduced(folder).ok()?;
    let first = record.telemetry.iter().find_map(|row| row.composite)?;
    Some(Kelvin::from_kelvin(first.as_kelvin().saturating_add(1)))
}

/// Says when time was over before the drive was cool: the next run then begins warmer than the others.
fn warn_if_warm(folder: &Path, cool_to: Kelvin, printer: &mut Printer) -> anyhow::Result<()> {
    let record = record::read_reduced(folder).context("cannot read back what happened between two runs")?;
    let last = record.telemetry.iter().rev().find_map(|row| row.composite);
    match last {
        Some(last) if last > cool_to => printer.warning(&format!(
            "the drive cooled to {last} and not to {cool_to} in the time it had; the next run begins warmer than \
             the first (`cool_at_most` in the plan's [sweep] gives it longer)"
        )),
        Some(_) => {}
        None => printer.warning("the drive tells no temperature, so that nobody knows whether it has cooled"),
    }
    Ok(())
}

/// The comparison, written and shown.
fn tell(args: &RunArgs, parent: &Path, done: Vec<SweptRun<'_>>, printer: &mut Printer) -> anyhow::Result<()> {
    let (made, runs): (Vec<_>, Vec<Analyzed>) =
        done.into_iter().map(|swept| ((swept.setting, swept.folder), swept.run)).unzip();
    let (runs, joint) = joint::together(runs, true)?;
    let inputs: Vec<ReportInput> = runs.into_iter().map(|run| run.input).collect();
    let names: Vec<String> = made.iter().map(|(setting, _)| setting.name.clone()).collect();
    let finishes = finishes(&inputs, &names);
    let remarks = finish_sentences(&finishes);
    // The first setting is what the others are compared with.
    let compared = Comparison { runs: &inputs, baseline: 0, joint: &joint, remarks: &remarks };
    let page = (inputs.len() > 1 && !args.no_report).then(|| parent.join(COMPARISON));
    if let Some(path) = &page {
        write_whole(path, report::compare_html(&compared).as_bytes())?;
    }
    if args.json {
        let runs = made.iter().zip(&inputs).map(|((setting, folder), input)| RunOfSweep {
            setting: &setting.name,
            run_folder: folder.display().to_string(),
            findings: &input.findings,
        });
        return printer.json(&SweepResult {
            schema: SweepResult::SCHEMA,
            run_folder: parent.display().to_string(),
            comparison: page.map(|path| path.display().to_string()),
            joint_policies: joint,
            finishes,
            runs: runs.collect(),
        });
    }
    let mut text = report::compare_terminal(&compared, &style(printer, None));
    text.push('\n');
    for (_, folder) in &made {
        text.push_str(&format!("Run folder: {}\n", folder.display()));
    }
    if let Some(path) = page {
        text.push_str(&format!("Comparison: {}\n", path.display()));
    }
    Ok(printer.coloured_data(&text)?)
}

/// A setting's name as part of a folder's: letters, digits, `.` and `-`.
fn slug(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
    let raw: String = name.chars().take(40).map(keep).collect();
    let parts: Vec<&str> = raw.split('-').filter(|part| !part.is_empty()).collect();
    parts.join("-")
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn folders_are_named_after_settings() {
        assert_eq!(slug("TMT 65/70"), "tmt-65-70");
        assert_eq!(slug("link 1.00 GB/s"), "link-1.00-gb-s");
        assert_eq!(slug("../../x"), "..-..-x");
    }
}
