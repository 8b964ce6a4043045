//! A sweep: one run a setting, the drive brought back in between, all of them compared in the end.
//!
//! Every run is made by [`super::run`] as if it had been typed alone, and so is what happens in between: on a
//! simulated drive and on a real one the same two plans take turns. What a setting is belongs to
//! `plan`; how it gets onto a drive and back off it belongs to the session.

use std::path::{Path, PathBuf};

use analysis::Findings;
use analysis::joint::{JointPolicy, JointRun};
use anyhow::{Context as _, anyhow, bail};
use capture::session::{self, StopFlag};
use drive::system::{Address, AddressKind, Target};
use measure::record::{self, EndReason, ThermalSettings};
use measure::{Bytes, Kelvin};
use plan::check;
use plan::{Plan, Setting, Sweep};
use report::ReportInput;
use serde::Serialize;

use crate::Outcome;
use crate::args::RunArgs;
use crate::commands::findings::{finish_run, style};
use crate::commands::joint::joint_policies;
use crate::commands::run::{Start, outcome, tell_end};
use crate::printer::Printer;
use crate::run_folder::{self, write_whole};
use crate::targets::twin::TwinTarget;

/// The comparison's name in the sweep's folder.
const COMPARISON: &str = "compare.html";

/// Where it does not matter how cool the drive becomes.
const NO_WAIT: Kelvin = Kelvin::from_kelvin(u16::MAX);

/// The JSON of a sweep: where it lies, what its runs show together, and the findings of each.
#[derive(Serialize)]
struct SweepResult<'a> {
    run_folder: String,
    comparison: Option<String>,
    joint_policies: Vec<JointPolicy>,
    runs: Vec<RunOfSweep<'a>>,
}

#[derive(Serialize)]
struct RunOfSweep<'a> {
    setting: &'a str,
    run_folder: String,
    #[serde(flatten)]
    findings: &'a Findings,
}

/// A run that was made.
struct Done<'a> {
    setting: &'a Setting,
    folder: PathBuf,
    input: ReportInput,
    joint: JointRun,
}

/// Runs `plan` under each setting of `sweep`.
pub(crate) fn execute(
    args: &RunArgs,
    plan: &Plan,
    sweep: &Sweep,
    address: &Address,
    stop: &StopFlag,
    printer: &mut Printer,
) -> anyhow::Result<Outcome> {
    let mut drive = Swept::open(args, plan, sweep, address)?;
    let start = Start { args, plan, address, stop, out: None };
    drive.check(&start, sweep)?;
    let parent = match &args.out {
        Some(out) => out.clone(),
        None => run_folder::make_new(&plan.name, &address.to_string())?,
    };
    let mut done = Vec::new();
    let mut ended = Outcome::Done;
    let mut cool_to = sweep.cool_to;
    for (number, setting) in (1..).zip(&sweep.settings) {
        if !args.quiet {
            printer.message(&format!("[{number}/{}] {}", sweep.settings.len(), setting.name));
        }
        if let Some(cool_to) = cool_to.filter(|_| number > 1 && drive.is_brought_back()) {
            let folder = parent.join(format!("between-{}-and-{number}", number - 1));
            let between = plan.between(sweep, cool_to);
            let start = Start { plan: &between, out: Some(&folder), ..start };
            let Some(end) = drive.run(&start, &Setting::default(), printer)? else {
                return Ok(Outcome::Stopped);
            };
            ended = outcome(end.end.reason);
            if ended != Outcome::Done {
                tell_end(&end, printer);
                break;
            }
            warn_if_warm(&folder, cool_to, printer)?;
        }
        let folder = parent.join(format!("{number}-{}", slug(&setting.name)));
        let one = plan.with_setting(setting);
        let start = Start { plan: &one, out: Some(&folder), ..start };
        let Some(end) = drive.run(&start, setting, printer)? else { return Ok(Outcome::Stopped) };
        tell_end(&end, printer);
        let (run, _) = finish_run(&end.folder, !args.no_report)?;
        cool_to = cool_to.or_else(|| first_reading(&end.folder));
        let joint = run.joint.named(&setting.name);
        done.push(Done { setting, folder: end.folder, input: run.input, joint });
        // A setting at which the drive becomes too hot is a result; the first that was not done as planned tells.
        if ended == Outcome::Done {
            ended = outcome(end.end.reason);
        }
        if !matches!(end.end.reason, EndReason::Completed | EndReason::SafetyLimit) {
            break;
        }
    }
    tell(args, &parent, &done, printer)?;
    Ok(ended)
}

/// The drive of a sweep.
enum Swept<'a> {
    /// One simulated drive that goes through all runs.
    Twin(Box<TwinTarget>),
    /// A simulated drive of its own for each run, at rest on its link and in its room; and what was typed about it.
    Twins(&'a str, Option<Bytes>),
    /// A real target, which is opened anew for each run.
    Real,
}

impl<'a> Swept<'a> {
    fn open(args: &RunArgs, plan: &Plan, sweep: &Sweep, address: &'a Address) -> anyhow::Result<Self> {
        let slc = args.device.slc;
        match address.kind() {
            AddressKind::Twin { profile } if sweep.changes_surroundings() => Ok(Self::Twins(profile, slc)),
            AddressKind::Twin { profile } => {
                Ok(Self::Twin(Box::new(TwinTarget::open(profile, plan.seed)?.with_slc(slc)?)))
            }
            _ if sweep.changes_surroundings() => bail!(
                "cannot sweep over link or ambient on {address}: only a simulated drive can be put on another link \
                 or into another room; make one run in each, and `heatsoak compare` them"
            ),
            _ => Ok(Self::Real),
        }
    }

    /// Refuses what cannot be done before anything is done: the last setting too is looked at first.
    fn check(&self, start: &Start<'_>, sweep: &Sweep) -> anyhow::Result<()> {
        let plan = start.plan;
        let facts = match self {
            Self::Twin(target) => target.plan_facts(start.address),
            Self::Twins(profile, slc) => {
                TwinTarget::open(profile, plan.seed)?.with_slc(*slc)?.plan_facts(start.address)
            }
            Self::Real => Target::look(start.address)?.facts(),
        };
        check::check(plan, &facts)?;
        if self.is_brought_back() {
            check::check(&plan.between(sweep, NO_WAIT), &facts)?;
        }
        for setting in &sweep.settings {
            let one = plan.with_setting(setting);
            let start = Start { plan: &one, ..*start };
            match self {
                Self::Twin(target) => start.check_twin(target),
                Self::Twins(profile, slc) => {
                    start.check_twin(&TwinTarget::open_in(profile, plan.seed, setting)?.with_slc(*slc)?)
                }
                Self::Real if one.settings != ThermalSettings::default() && !has_settings(start.address) => {
                    Err(anyhow!(
                        "{} has no thermal settings to sweep over; name the drive under it (`heatsoak list`), or set \
                         each yourself (`heatsoak hctm`, `heatsoak power-state`), run, and `heatsoak compare` the runs",
                        start.address
                    ))
                }
                Self::Real => Ok(check::check(&one, &facts)?),
            }
            .with_context(|| format!("the setting {:?} of the sweep cannot be made", setting.name))?;
        }
        Ok(())
    }

    /// Whether the drive of one run is that of the next.
    const fn is_brought_back(&self) -> bool {
        !matches!(self, Self::Twins(..))
    }

    /// One run; `None` when the user stopped it before there was one.
    fn run(
        &mut self,
        start: &Start<'_>,
        setting: &Setting,
        printer: &mut Printer,
    ) -> anyhow::Result<Option<session::Outcome>> {
        match self {
            Self::Twin(target) => {
                target.begin_next_run();
                start.on_twin(target, printer)
            }
            Self::Twins(profile, slc) => {
                let mut target = TwinTarget::open_in(profile, start.plan.seed, setting)?.with_slc(*slc)?;
                start.on_twin(&mut target, printer)
            }
            Self::Real => start.on_target(printer),
        }
    }
}

/// Whether there is a controller behind an address; what it takes, the session finds out.
fn has_settings(address: &Address) -> bool {
    !matches!(address.kind(), AddressKind::File(_) | AddressKind::Null { .. })
}

/// Where a run began, and 1 K more: a drive that comes to rest from above stays a reading above it for long.
fn first_reading(folder: &Path) -> Option<Kelvin> {
    let record = record::read(folder).ok()?;
    let first = record.telemetry.iter().find_map(|row| row.composite)?;
    Some(Kelvin::from_kelvin(first.as_kelvin().saturating_add(1)))
}

/// Says when time was over before the drive was cool: the next run then begins warmer than the others.
fn warn_if_warm(folder: &Path, cool_to: Kelvin, printer: &mut Printer) -> anyhow::Result<()> {
    let record = record::read(folder).context("cannot read back what happened between two runs")?;
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
fn tell(args: &RunArgs, parent: &Path, done: &[Done<'_>], printer: &mut Printer) -> anyhow::Result<()> {
    let inputs: Vec<ReportInput> = done.iter().map(|run| run.input.clone()).collect();
    let joint = joint_policies(done.iter().map(|run| run.joint.clone()).collect(), true);
    let comparison = (inputs.len() > 1 && !args.no_report).then(|| parent.join(COMPARISON));
    if let Some(path) = &comparison {
        write_whole(path, report::compare_html(&inputs, &joint).as_bytes())?;
    }
    if args.json {
        let runs = done.iter().map(|run| RunOfSweep {
            setting: &run.setting.name,
            run_folder: run.folder.display().to_string(),
            findings: &run.input.findings,
        });
        return printer.json(&SweepResult {
            run_folder: parent.display().to_string(),
            comparison: comparison.map(|path| path.display().to_string()),
            joint_policies: joint,
            runs: runs.collect(),
        });
    }
    let mut text = report::compare_terminal(&inputs, &joint, &style(printer, None));
    text.push('\n');
    for run in done {
        text.push_str(&format!("Run folder: {}\n", run.folder.display()));
    }
    if let Some(path) = comparison {
        text.push_str(&format!("Comparison: {}\n", path.display()));
    }
    Ok(printer.data(&text)?)
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
