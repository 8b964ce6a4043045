//! `heatsoak run`: a plan on a drive, then its record, its findings and its report.
//!
//! The load comes first: whatever fails after it leaves the record where it is and says so. [`one`] makes one run;
//! [`sweep`] makes several of them, one a setting.

mod one;
pub(super) mod sweep;

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use anyhow::bail;
use capture::load::WriteBudget;
use capture::session::{Outcome, Stop, StopFlag};
use drive::{Address, AddressKind, DriveError, Stated};
use measure::{Bytes, Seed};
use plan::{Plan, Sweep, SweepSetting};

use crate::Exit;
use crate::args::{DEFAULT_DRIVE, RunArgs};
use crate::commands::govern::shape::GovernedRun;
use crate::commands::{findings, forecast};
use crate::door;
use crate::opening::Opening;
use crate::printer::{Printer, is_broken_pipe, sentence};
use crate::run_folder;
use crate::{signals, twin_drive};
pub(super) use one::outcome;
use one::{OneRun, tell_end};

/// Runs.
pub(crate) fn execute(args: &RunArgs, printer: &mut Printer) -> anyhow::Result<Exit> {
    let ready = ReadyRun::new(args)?;
    if let Some(sweep) = &ready.plan.sweep {
        let one = OneRun { out: None, ..ready.one(args, None) };
        return sweep::execute(&one, sweep, &ready.address, &ready.opening, printer);
    }
    let Some(ended) = ready.run(args, None, printer)? else { return Ok(Exit::Stopped) };
    let mut reported = findings::tell_run(&ended.folder, args, printer);
    if args.fit && reported.is_ok() {
        reported = forecast::fit_run(&ended.folder, printer);
    }
    let outcome = outcome(ended.end.reason);
    match reported {
        Ok(()) => Ok(outcome),
        Err(error) if is_broken_pipe(&error) => Ok(outcome),
        Err(error) => Err(error.context(format!(
            "the run is recorded in {}, but what follows it was not done",
            ended.folder.display()
        ))),
    }
}

/// Runs under a governor; `None` when the user stopped it before there was a run. What follows a run is the caller's.
///
/// # Errors
/// As for any run; a sweep, whose runs heat one another.
pub(crate) fn governed(
    args: &RunArgs,
    governed: &GovernedRun,
    printer: &mut Printer,
) -> anyhow::Result<Option<Outcome>> {
    let ready = ReadyRun::new(args)?;
    if ready.plan.sweep.is_some() {
        bail!(
            "cannot govern the sweep {:?}: govern one of its settings, with a plan that has no [sweep]",
            ready.plan.name
        );
    }
    ready.run(args, Some(governed), printer)
}

/// All that was typed, looked at: a run may begin.
struct ReadyRun {
    plan: Plan,
    address: Address,
    opening: Opening,
    stop: StopFlag,
    writes: Option<WriteBudget>,
}

impl ReadyRun {
    fn new(args: &RunArgs) -> anyhow::Result<Self> {
        let mut plan = plan(args)?;
        let typed = args.drive.as_deref().or(plan.drive.as_deref()).unwrap_or(DEFAULT_DRIVE);
        let address = Address::parse(typed)?;
        if let Some(out) = &args.out {
            run_folder::refuse_unusable(out)?;
        }
        if let AddressKind::Twin { profile } = address.kind()
            && args.device.slc.is_none()
        {
            let profile = twin_drive::read_profile(profile)?;
            let size = Bytes::new(profile.identity.capacity_bytes);
            if let (None, Some(without)) = (profile.slc_bytes(), plan.without_cache(size)) {
                plan = without;
            }
        }
        let stop = signals::stop_flag()?;
        if args.until_stdin_ends {
            signals::stop_when_stdin_ends(&stop)?;
        }
        let stated =
            Stated { slc: args.device.slc, destroy: args.device.permission(), give_up: stop.give_up() };
        let surroundings = surroundings(args, &address);
        let opening = Opening { stated, seed: plan.seed, surroundings };
        let writes = args.max_write.iter().min().map(|most| WriteBudget::new(*most));
        Ok(Self { plan, address, opening, stop, writes })
    }

    fn one<'a>(&'a self, args: &'a RunArgs, governed: Option<&'a GovernedRun>) -> OneRun<'a> {
        let Self { plan, stop, writes, .. } = self;
        OneRun { args, plan, stop, out: args.out.as_deref(), writes: writes.as_ref(), governed }
    }

    /// Makes the run and says how it ended.
    fn run(
        &self,
        args: &RunArgs,
        governed: Option<&GovernedRun>,
        printer: &mut Printer,
    ) -> anyhow::Result<Option<Outcome>> {
        let mut drive = door::open(&self.address, &self.opening)?;
        let ended = match self.one(args, governed).run(&mut *drive, printer) {
            Ok(ended) => ended,
            // The user ended the wait for a drive that did not answer: there is no run yet.
            Err(error) if self.stop.asks() == Stop::AtOnce && error.is::<DriveError>() => {
                printer.warning(&sentence(&error));
                None
            }
            Err(error) => return Err(error),
        };
        if let Some(ended) = &ended {
            tell_end(ended, printer);
        }
        Ok(ended)
    }
}

/// The room that was typed, for a simulated drive; a real one is where it is.
fn surroundings(args: &RunArgs, address: &Address) -> SweepSetting {
    let ambient = args.ambient.filter(|_| matches!(address.kind(), AddressKind::Twin { .. }));
    match ambient {
        Some(_) => SweepSetting { ambient, ..SweepSetting::default() }.named(),
        None => SweepSetting::default(),
    }
}

/// The plan of that name. A drive named in its place has an option of its own.
///
/// # Errors
/// Those of [`Plan::load`]; for the address of a drive, how to say it.
pub(crate) fn named_plan(typed: &str) -> anyhow::Result<Plan> {
    let could_be_read = || fs::metadata(typed).is_ok_and(|found| !found.file_type().is_block_device());
    if Address::parse(typed).is_ok() && !could_be_read() {
        bail!(
            "there is no plan {typed:?}: it is the address of a drive; write --drive {typed}, beside a plan or without one"
        );
    }
    Ok(Plan::load(typed)?)
}

/// The plan that was named, with what the command line changes in it.
fn plan(args: &RunArgs) -> anyhow::Result<Plan> {
    let mut plan = match &args.plan_file {
        Some(file) => Plan::load(&file.to_string_lossy())?,
        None => named_plan(&args.plan)?,
    };
    if let Some(seed) = args.seed {
        plan.seed = Seed::new(seed);
    }
    if let Some(tmt1) = args.tmt1 {
        plan.settings.tmt1_k = Some(tmt1.as_kelvin());
    }
    if let Some(tmt2) = args.tmt2 {
        plan.settings.tmt2_k = Some(tmt2.as_kelvin());
    }
    plan.settings.power_state = args.power_state.or(plan.settings.power_state);
    if let Some(sweep) = &args.sweep {
        // What a plan says about the time between its runs holds for other settings too.
        let between = plan.sweep.unwrap_or_else(|| Sweep::new(Vec::new()));
        plan.sweep = Some(Sweep { settings: sweep.settings.clone(), ..between });
    }
    if !args.meters.power.is_empty() {
        plan.telemetry.power.clone_from(&args.meters.power);
    }
    plan.stop_at = args.stop_at.or(plan.stop_at);
    plan.interval = args.interval.unwrap_or(plan.interval);
    plan.max_errors = args.max_errors.unwrap_or(plan.max_errors);
    Ok(plan)
}
