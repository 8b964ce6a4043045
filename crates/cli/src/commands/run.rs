//! `heatsoak run`: a plan on a drive, then its record, its findings and its report.
//!
//! The load comes first: whatever fails after it leaves the record where it is and says so. A plan with a sweep is
//! [`super::sweep`]'s, which makes its runs here.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use capture::session::{self, Session, Stop, StopFlag, draft_manifest};
use drive::system::{Address, AddressKind, Prepared, Target, TargetError};
use drive::telemetry::discover::{self, Place};
use measure::record::{EndReason, LinkFacts, Manifest, Origin, RunWriter};
use measure::{Bytes, BytesPerSec, Seed};
use plan::check::{self, TargetFacts};
use plan::memory::buffer_bytes;
use plan::{Plan, Sweep};

use crate::Outcome;
use crate::args::{DEFAULT_DRIVE, RunArgs};
use crate::commands::{findings, sweep};
use crate::cost::Cost;
use crate::host;
use crate::link;
use crate::printer::{Printer, is_broken_pipe};
use crate::progress::Progress;
use crate::run_folder;
use crate::signals;
use crate::targets::twin::TwinTarget;

/// Runs.
pub(crate) fn execute(args: &RunArgs, printer: &mut Printer) -> anyhow::Result<Outcome> {
    let plan = plan(args)?;
    let typed = args.drive.as_deref().or(plan.drive.as_deref()).unwrap_or(DEFAULT_DRIVE);
    let address = Address::parse(typed)?;
    if let Some(out) = &args.out {
        run_folder::refuse_unusable(out)?;
    }
    let stop = signals::stop_flag()?;
    if let Some(sweep) = &plan.sweep {
        return sweep::execute(args, &plan, sweep, &address, &stop, printer);
    }
    let start = Start { args, plan: &plan, address: &address, stop: &stop, out: args.out.as_deref() };
    let ended = match address.kind() {
        AddressKind::Twin { profile } => {
            let mut target = TwinTarget::open(profile, plan.seed)?.with_slc(args.device.slc)?;
            start.on_twin(&mut target, printer)?
        }
        AddressKind::File(_)
        | AddressKind::Device { .. }
        | AddressKind::Fabric(_)
        | AddressKind::Null { .. } => start.on_target(printer)?,
    };
    let Some(ended) = ended else { return Ok(Outcome::Stopped) };
    tell_end(&ended, printer);
    let told = findings::tell_run(&ended.folder, args, printer);
    let outcome = outcome(ended.end.reason);
    match told {
        Ok(()) => Ok(outcome),
        Err(error) if is_broken_pipe(&error) => Ok(outcome),
        Err(error) => Err(error.context(format!(
            "the run is recorded in {}, but what follows it was not done",
            ended.folder.display()
        ))),
    }
}

/// The plan that was named, with what the command line changes in it.
fn plan(args: &RunArgs) -> anyhow::Result<Plan> {
    let mut plan = Plan::load(&args.plan)?;
    if let Some(seed) = args.seed {
        plan.seed = Seed::new(seed);
    }
    if let Some(tmt1) = args.tmt1 {
        plan.settings.tmt1_k = Some(tmt1.as_kelvin());
    }
    if let Some(tmt2) = args.tmt2 {
        plan.settings.tmt2_k = Some(tmt2.as_kelvin());
    }
    if let Some(sweep) = &args.sweep {
        // What a plan says about the time between its runs holds for other settings too.
        let between = plan.sweep.unwrap_or_else(|| Sweep::new(Vec::new()));
        plan.sweep = Some(Sweep { settings: sweep.settings.clone(), ..between });
    }
    plan.stop_at = args.stop_at.or(plan.stop_at);
    plan.interval = args.interval.unwrap_or(plan.interval);
    plan.max_errors = args.max_errors.unwrap_or(plan.max_errors);
    Ok(plan)
}

/// All that a run starts from.
#[derive(Clone, Copy)]
pub(super) struct Start<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) plan: &'a Plan,
    pub(super) address: &'a Address,
    pub(super) stop: &'a StopFlag,
    /// The run folder to make; without it a new one under ./runs/.
    pub(super) out: Option<&'a Path>,
}

impl Start<'_> {
    /// Whether the plan can run on a simulated drive.
    pub(super) fn check_twin(&self, target: &TwinTarget) -> anyhow::Result<()> {
        if self.args.device.destroy.is_some() {
            bail!("--destroy is for real drives: a twin has no data");
        }
        check::check(self.plan, &target.plan_facts(self.address))?;
        target.check_settings(&self.plan.settings)
    }

    /// In simulated time.
    pub(super) fn on_twin(
        &self,
        target: &mut TwinTarget,
        printer: &mut Printer,
    ) -> anyhow::Result<Option<session::Outcome>> {
        self.check_twin(target)?;
        let mut manifest =
            draft_manifest(self.plan, &self.address.to_string(), target.origin(), target.facts());
        manifest.link = Some(target.link());
        let writer = self.writer(manifest)?;
        let mut progress = Progress::new(printer, self.args.quiet);
        let session = Session::new(self.plan, writer, &mut progress).stop_flag(self.stop).steady_rule(steady);
        Ok(Some(session.run_virtual(target)?))
    }

    /// In real time; `None` when the user stopped it before there was a run.
    pub(super) fn on_target(&self, printer: &mut Printer) -> anyhow::Result<Option<session::Outcome>> {
        let mut target = Target::look(self.address)?;
        if let Some(slc) = self.args.device.slc {
            target.drive_mut().slc_bytes = Some(slc.as_u64());
        }
        if let Some(permission) = self.args.device.permission() {
            target.give(permission)?;
        }
        let facts = target.facts();
        let unpurged = if facts.trim { None } else { self.plan.without_purge() };
        let fitted = Start { plan: unpurged.as_ref().unwrap_or(self.plan), ..*self };
        if unpurged.is_some() {
            printer.warning(&format!("{} cannot deallocate, so it is not purged beforehand", facts.address));
        }
        fitted.on_fitting_target(target, &facts, printer)
    }

    /// The same with a plan that has nothing in it that the target cannot do by its nature.
    fn on_fitting_target(
        &self,
        target: Target,
        facts: &TargetFacts,
        printer: &mut Printer,
    ) -> anyhow::Result<Option<session::Outcome>> {
        check::check(self.plan, facts)?;
        if matches!(self.address.kind(), AddressKind::File(_) | AddressKind::Device { .. }) {
            self.check_memory(host::facts().memory_bytes)?;
        }
        let link = self.link();
        if !matches!(self.address.kind(), AddressKind::Null { .. }) {
            let ceiling = link.as_ref().map(|link| BytesPerSec::new(link.ceiling_bytes_per_s));
            let cost = Cost { plan: self.plan, target: facts, link: ceiling, rated: self.args.device.tbw };
            cost.sentence().into_iter().for_each(|cost| printer.message(&cost));
        }
        let mut progress = Progress::new(printer, self.args.quiet);
        let Some(prepared) = self.prepare(&target, &mut progress)? else { return Ok(None) };
        let origin = target.simulated().map_or(Origin::Device, |simulated| Origin::VirtualSsd {
            nqn: simulated.nqn.clone(),
            time_scale: simulated.scales.time_scale,
            bandwidth_scale: simulated.scales.bandwidth_scale,
        });
        let mut manifest =
            draft_manifest(self.plan, &self.address.to_string(), origin, target.drive().clone());
        manifest.host = Some(host::facts());
        manifest.link = link;
        let writer = self.writer(manifest)?;
        let session = Session::new(self.plan, writer, &mut progress)
            .stop_flag(self.stop)
            .steady_rule(steady)
            .last_facts(|manifest| manifest.link_end = self.link());
        Ok(Some(session.run(target, prepared)?))
    }

    /// Whether this machine has room for what the plan keeps in flight: the kernel would end the process, or another.
    fn check_memory(&self, memory_bytes: Option<u64>) -> anyhow::Result<()> {
        let Some(memory) = memory_bytes else { return Ok(()) };
        for phase in &self.plan.phases {
            let needed: u64 = phase.loads.iter().map(buffer_bytes).fold(0, u64::saturating_add);
            // A quarter stays for everything else.
            if needed > memory / 4 * 3 {
                bail!(
                    "cannot run the plan {:?}, phase {:?}: its threads together keep {} in flight, and this machine has {} of memory; \
                     use fewer threads, a smaller depth or smaller I/Os",
                    self.plan.name,
                    phase.name,
                    Bytes::new(needed),
                    Bytes::new(memory)
                );
            }
        }
        Ok(())
    }

    /// The link of the disk at or under the address.
    fn link(&self) -> Option<LinkFacts> {
        let sysfs = Path::new(discover::SYSFS);
        let place = match self.address.kind() {
            AddressKind::File(file) => Place::File(&file.path),
            AddressKind::Device { path } => Place::Device(path.to_str()?),
            AddressKind::Twin { .. } | AddressKind::Fabric(_) | AddressKind::Null { .. } => return None,
        };
        link::of_disk(sysfs, &discover::disk(place, sysfs).ok()?)
    }

    fn prepare(&self, target: &Target, progress: &mut Progress<'_>) -> anyhow::Result<Option<Prepared>> {
        let mut filling = |done, total| {
            progress.filling(done, total);
            if self.stop.asks() == Stop::No { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        match target.prepare(self.plan, &mut filling) {
            Ok(prepared) => Ok(Some(prepared)),
            Err(error @ TargetError::Interrupted { .. }) => {
                progress.message(&error.to_string());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The run folder, made as late as can be: what is refused before leaves none behind.
    fn writer(&self, manifest: Manifest) -> anyhow::Result<RunWriter> {
        let dir = match self.out {
            Some(out) => out.to_owned(),
            None => run_folder::make_new(&self.plan.name, &self.address.to_string())?,
        };
        Ok(RunWriter::create(&dir, manifest, self.plan.record_ops)?)
    }
}

/// Rounds end with the first measurement window that is steady as SNIA's test specification has it.
fn steady(rounds: &[f64]) -> ControlFlow<()> {
    if analysis::steady::first_steady(rounds).is_some() {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

/// Says how the run ended, where that is not as planned.
pub(super) fn tell_end(ended: &session::Outcome, printer: &mut Printer) {
    if ended.end.reason != EndReason::Completed {
        let why = ended.end.detail.as_deref().unwrap_or("the run ended before its plan did");
        printer.warning(&format!("{why}; what was measured is kept in {}", ended.folder.display()));
    }
    if ended.errors > 0 {
        printer.warning(&format!("{} I/Os failed", ended.errors));
    }
}

pub(super) const fn outcome(reason: EndReason) -> Outcome {
    match reason {
        EndReason::Completed => Outcome::Done,
        EndReason::Interrupted | EndReason::SafetyLimit => Outcome::Stopped,
        EndReason::DeviceFailed | EndReason::RecordFailed => Outcome::NotDone,
    }
}
