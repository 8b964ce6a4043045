//! One run of one plan on one drive, whatever the drive is: examined, prepared, recorded.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use capture::load::WriteBudget;
use capture::session::{self, Session, Stop, StopFlag, draft_manifest};
use drive::kernel_log::KernelLog;
use drive::telemetry::discover::SYSFS;
use drive::telemetry::{self, Reading, power};
use drive::{Drive, DriveError, DriveIo, Examination, Prepared};
use govern::Bounds;
use measure::record::{EndReason, Manifest, Origin, RunWriter};
use measure::{Bytes, BytesPerSec, Celsius, Instant, Kelvin, MonotonicClock};
use physics::Profile;
use plan::Plan;
use plan::check::{self, TargetFacts};
use plan::memory::buffer_bytes;

use crate::Exit;
use crate::args::RunArgs;
use crate::commands::govern::shape::GovernedRun;
use crate::cost::Cost;
use crate::host;
use crate::printer::Printer;
use crate::progress::ProgressLine;
use crate::run_live::RunLive;
use crate::{run_folder, screen};

/// All that a run starts from, but for the drive.
#[derive(Clone, Copy)]
pub(super) struct OneRun<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) plan: &'a Plan,
    pub(super) stop: &'a StopFlag,
    /// The run folder to make; without it a new one under ./runs/.
    pub(super) out: Option<&'a Path>,
    /// What may be written, by all runs of a sweep together.
    pub(super) writes: Option<&'a WriteBudget>,
    /// What keeps the drive below a temperature.
    pub(super) governed: Option<&'a GovernedRun>,
}

impl OneRun<'_> {
    /// Runs; `None` when the user stopped it before there was a run.
    pub(super) fn run(
        &self,
        drive: &mut dyn Drive,
        printer: &mut Printer,
    ) -> anyhow::Result<Option<session::Outcome>> {
        let examined = drive.examine()?;
        let unpurged = if examined.limits.trim { None } else { self.plan.without_purge() };
        if unpurged.is_some() {
            let address = drive.address();
            printer.warning(&format!("{address} cannot deallocate, so it is not purged beforehand"));
        }
        let plan = unpurged.as_ref().unwrap_or(self.plan);
        let block_bytes = examined.limits.block_bytes;
        let builtin = Plan::builtin_names().any(|name| name == plan.name);
        let in_blocks = plan.in_blocks(block_bytes).filter(|_| builtin);
        if in_blocks.is_some() {
            let (address, block) = (drive.address(), Bytes::new(block_bytes.into()));
            printer
                .warning(&format!("{address} has blocks of {block}: the plan's sizes are multiples of that"));
        }
        // The plan with nothing in it that the drive cannot do by its nature.
        let fitted = OneRun { plan: in_blocks.as_ref().unwrap_or(plan), ..*self };
        fitted.run_examined(drive, &examined, printer)
    }

    fn run_examined(
        &self,
        drive: &mut dyn Drive,
        examined: &Examination,
        printer: &mut Printer,
    ) -> anyhow::Result<Option<session::Outcome>> {
        check::check(self.plan, &examined.limits)?;
        self.check_meters(drive, examined, printer)?;
        if examined.buffers_io {
            self.check_memory(host::facts().memory_bytes)?;
        }
        if examined.worn_by_writes {
            self.print_cost(drive, &examined.limits, printer);
        }
        let mut progress = ProgressLine::new(printer, self.args.quiet);
        let Some(mut prepared) = self.prepare(drive, &mut progress)? else { return Ok(None) };
        if let Some(governed) = self.governed {
            let stops = session::thermal_limit(self.plan, &examined.facts);
            can_be_governed(drive, governed.bounds(), stops, &mut prepared)?;
        }
        let writer = self.writer(drive, self.manifest(drive, examined))?;
        if matches!(prepared.io, DriveIo::RealTime { .. }) {
            if self.args.news {
                progress.tell_news();
            }
            let on_screen = !self.args.news
                && !self.args.plain
                && !self.args.quiet
                && !self.args.json
                && screen::is_possible();
            let stop = on_screen.then_some(self.stop);
            progress.show_live(RunLive::start(writer.dir(), writer.manifest(), &self.plan.settings, stop)?);
        }
        let mut session = Session::new(self.plan, writer, &mut progress)
            .stop_flag(self.stop)
            .write_budget(self.writes.cloned())
            .steady_rule(steady);
        if let Some(governed) = self.governed {
            session = session.rate_rule(move |reading| governed.rule(reading));
        }
        let is_real = !is_twin(&examined.origin);
        // The kernel's names of it, as long as they are there.
        let log = drive.disk().filter(|_| is_real).and_then(|disk| KernelLog::open(Path::new(SYSFS), &disk));
        let (drive, governed) = (&*drive, self.governed);
        let session = session.last_facts(move |manifest| {
            if is_real {
                manifest.link_end = drive.link();
            }
            if let Some(mut log) = log {
                let zero_ns = manifest.clock_anchor.monotonic_ns.unwrap_or(u64::MAX);
                manifest.transport_events = log.events_since(zero_ns);
            }
            if let Some(governed) = governed {
                manifest.governor = Some(governed.facts());
                manifest.notes.push(governed.note());
            }
        });
        Ok(Some(session.run(prepared)?))
    }

    /// What the record says before the run. A twin's says nothing of this machine: it is the same on every other.
    fn manifest(&self, drive: &dyn Drive, examined: &Examination) -> Manifest {
        let Examination { facts, origin, .. } = examined.clone();
        let host = (!is_twin(&origin)).then(host::facts);
        let ambient_k = match &origin {
            Origin::Twin { profile_toml, .. } => {
                let profile = Profile::from_toml(profile_toml).ok();
                profile.map(|profile| Celsius::from_degrees(profile.thermal.ambient_c).as_kelvin_f64())
            }
            _ => self.args.ambient.map(Celsius::as_kelvin_f64),
        };
        let mut manifest = draft_manifest(self.plan, &drive.address().to_string(), origin, facts);
        manifest.ambient_k = ambient_k;
        manifest.governor = self.governed.map(GovernedRun::facts);
        (manifest.host, manifest.link) = (host, drive.link());
        manifest.rated_write_bytes = match &manifest.origin {
            Origin::Twin { profile_toml, .. } => {
                Profile::from_toml(profile_toml).ok().and_then(|profile| profile.identity.rated_write_bytes)
            }
            _ => self.args.device.tbw.map(Bytes::as_u64),
        };
        (manifest.power_baseline, manifest.switched_on) = (self.args.meters.baseline, examined.switched_on);
        manifest
    }

    /// Whether the power meters are there, and what reading them does besides.
    fn check_meters(
        &self,
        drive: &dyn Drive,
        examined: &Examination,
        printer: &mut Printer,
    ) -> anyhow::Result<()> {
        for meter in &self.plan.telemetry.power {
            power::check(meter)
                .map_err(|why| anyhow::anyhow!("cannot read the power meter {meter}: {why}"))?;
            let is_live = power::reader(meter).is_some();
            if is_live && is_twin(&examined.origin) {
                bail!(
                    "cannot read the power meter {meter} beside {}: a simulated drive draws no watts that a meter sees; its \
                     own measurement is recorded without --power",
                    drive.address()
                );
            }
            if let Some(what) = meter.reaches_out() {
                printer.message(&format!("power meter: {what} every {} ms", meter.period().as_millis()));
            }
        }
        Ok(())
    }

    fn print_cost(&self, drive: &dyn Drive, limits: &TargetFacts, printer: &mut Printer) {
        let link = drive.link().map(|link| BytesPerSec::new(link.ceiling_bytes_per_s));
        let cost = Cost { plan: self.plan, target: limits, link, rated: self.args.device.tbw };
        cost.sentence().into_iter().for_each(|cost| printer.message(&cost));
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

    fn prepare(
        &self,
        drive: &mut dyn Drive,
        progress: &mut ProgressLine<'_>,
    ) -> anyhow::Result<Option<Prepared>> {
        let mut refused = None;
        let mut filling = |done: Bytes, total| {
            progress.filling(done, total);
            // What is filled is written as well: all of it or nothing.
            if done == Bytes::ZERO && !self.writes.is_none_or(|writes| writes.take(total)) {
                refused = Some(total);
                return ControlFlow::Break(());
            }
            if self.stop.asks() == Stop::No { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let prepared = drive.prepare(self.plan, &mut filling);
        if let Some(total) = refused {
            bail!(
                "cannot fill {} before the run: that writes {}, and --max-write permits less; permit more, or name a \
                 smaller file (?size=)",
                drive.address(),
                total.typed()
            );
        }
        match prepared {
            Ok(prepared) => Ok(Some(prepared)),
            Err(error @ DriveError::Interrupted { .. }) => {
                progress.message(&error.to_string());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The run folder, made as late as can be: what is refused before leaves none behind.
    fn writer(&self, drive: &dyn Drive, manifest: Manifest) -> anyhow::Result<RunWriter> {
        let dir = match self.out {
            Some(out) => out.to_owned(),
            None => run_folder::make_new(&self.plan.name, &drive.address().to_string())?,
        };
        Ok(RunWriter::create(&dir, manifest, self.plan.record_ops)?)
    }
}

/// Whether the drive tells a temperature, and one that a load may add to.
fn can_be_governed(
    drive: &dyn Drive,
    bounds: Bounds,
    stops: Kelvin,
    prepared: &mut Prepared,
) -> anyhow::Result<()> {
    let (address, below) = (drive.address(), bounds.below);
    if below > stops {
        bail!(
            "cannot govern {address} below {below}: a load stops at {stops} (--stop-at, else 5 K below the drive's critical \
             temperature); name a lower temperature"
        );
    }
    let readings: Vec<Reading> = match &mut prepared.io {
        DriveIo::Simulated(drive) => vec![drive.sample(0, Instant::ZERO)],
        DriveIo::RealTime { samplers, .. } => {
            let clock = MonotonicClock::start();
            let tells = |name: &str| ["smart", "smartctl", "hwmon"].contains(&name);
            let samplers = samplers.iter_mut().filter(|sampler| tells(sampler.source()));
            samplers.map(|sampler| telemetry::read(&mut **sampler, &clock)).collect()
        }
    };
    let kelvin = |reading: &Reading| {
        let hwmon = || Some(Celsius::from_millidegrees(reading.row.hwmon_millicelsius?).as_kelvin_f64());
        reading.row.composite.map(|composite| f64::from(composite.as_kelvin())).or_else(hwmon)
    };
    let Some(now_k) = readings.iter().find_map(kelvin) else {
        let why = readings.iter().find_map(|reading| reading.row.gap.clone());
        let why = why.unwrap_or_else(|| "there is no source of it".to_owned());
        bail!(
            "cannot govern {address}: its temperature cannot be read ({why}); `heatsoak inspect {address}` shows what can be, and \
             root may read the SMART log"
        );
    };
    if now_k >= f64::from(below.as_kelvin()) {
        let now = Kelvin::from_kelvin(now_k.floor() as u16);
        bail!(
            "cannot govern {address} below {below}: it is at {now} before any load; let it cool, give it more air, or name a \
             temperature above that"
        );
    }
    Ok(())
}

/// Whether the drive is simulated in this process.
const fn is_twin(origin: &Origin) -> bool {
    matches!(origin, Origin::Twin { .. })
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

pub(in crate::commands) const fn outcome(reason: EndReason) -> Exit {
    match reason {
        EndReason::Completed => Exit::Done,
        EndReason::Interrupted | EndReason::SafetyLimit | EndReason::WriteLimit => Exit::Stopped,
        EndReason::DeviceFailed | EndReason::RecordFailed => Exit::NotDone,
    }
}
