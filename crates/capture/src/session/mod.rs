//! A session: one plan on one drive, from the first reading to the closed record.
//!
//! # Architecture
//! - `recorder` writes down what happens and decides when a phase or the run ends: at the thermal limit, by the
//!   user, by the caller's rule, by errors, by a full disk.
//! - `real` feeds it from threads; `simulated` from one loop in simulated time. The load is the same code.
//! - [`Observer`] is told about progress; [`StopFlag`] stops from outside.
//!
//! # What it does not do
//! It draws no conclusion: "stop when steady" is a [`SteadyRule`] that the caller brings, and what a load may move at a
//! temperature is a [`RateRule`] of the caller's. Settings are
//! `drive::settings`: here they are changed before the load and put back after it, on every path.

mod grid;
mod guard;
mod manifest;
mod merge;
mod observer;
mod real;
mod recorder;
mod rounds;
mod settings;
mod shaping;
mod simulated;
mod stop;
mod threads;

pub use guard::thermal_limit;
pub use manifest::draft_manifest;
pub use observer::{Observer, Progress};
pub use rounds::SteadyRule;
pub use shaping::{RateReading, RateRule};
pub use stop::{Stop, StopFlag};

use std::io;
use std::path::PathBuf;

use measure::record::{ClockAnchor, End, Manifest, Op, RecordError, RunWriter};
use measure::time::wall_unix_ns;
use measure::{Bytes, BytesPerSec, Instant, MonotonicClock, Seed};
use thiserror::Error;

use crate::load::{Control, LoadError, Worker, WorkerSpec, WriteBudget};
use drive::{DriveIo, Prepared};
use plan::check::resolve;
use plan::{Phase, Plan};
use recorder::Recorder;
use settings::HeldSettings;
use shaping::Shaping;

/// One plan on one drive.
pub struct Session<'a> {
    plan: &'a Plan,
    writer: RunWriter,
    observer: &'a mut dyn Observer,
    steady_rule: Option<Box<SteadyRule<'a>>>,
    stop: StopFlag,
    last_facts: Option<Box<LastFacts<'a>>>,
    writes: Option<WriteBudget>,
    rate_rule: Option<Box<RateRule<'a>>>,
}

/// Adds to the manifest what is to be looked at when the run is over.
type LastFacts<'a> = dyn FnOnce(&mut Manifest) + 'a;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The run folder, closed.
    pub folder: PathBuf,
    /// Why it ended.
    pub end: End,
    /// How many I/Os failed.
    pub errors: u64,
}

/// Why a session came to nothing, or its record to an early end.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The record could not be written.
    #[error(
        "the load was stopped because the record could not be written: {source}; what was measured before is kept in \
         {folder} and can be read"
    )]
    Record {
        /// What went wrong.
        source: RecordError,
        /// The run folder.
        folder: PathBuf,
    },
    /// The run was over, and the record could not be closed.
    #[error(
        "the run could not be closed: {source}; all that was measured is kept in {folder} and can be read, \
         but it reads as a run that was cut short"
    )]
    Close {
        /// What went wrong.
        source: RecordError,
        /// The run folder.
        folder: PathBuf,
    },
    /// A load that cannot run on this drive.
    #[error("cannot run load {load:?} of phase {phase:?}: {why}")]
    Load {
        /// The phase.
        phase: String,
        /// The load.
        load: String,
        /// What is wrong with it.
        why: String,
    },
    /// A thread could not be started.
    #[error("cannot start a thread of the load: {source}; use fewer threads, or raise the limit (ulimit -u)")]
    Thread {
        /// What the system said.
        source: io::Error,
    },
}

impl<'a> Session<'a> {
    /// A session for `plan`, which has passed its check, into a new run folder whose manifest names the drive
    /// (see [`draft_manifest`]).
    pub fn new(plan: &'a Plan, writer: RunWriter, observer: &'a mut dyn Observer) -> Self {
        Self {
            plan,
            writer,
            observer,
            steady_rule: None,
            stop: StopFlag::new(),
            last_facts: None,
            writes: None,
            rate_rule: None,
        }
    }

    /// Has `rule` shape the load: at each reading of the temperature, and every few seconds without one, it says what all
    /// loads together may move from then on.
    #[must_use]
    pub fn rate_rule(mut self, rule: impl FnMut(&RateReading) -> Option<BytesPerSec> + 'a) -> Self {
        self.rate_rule = Some(Box::new(rule));
        self
    }

    /// Has `look` add to the manifest when the run is over: the link, which may have changed.
    #[must_use]
    pub fn last_facts(mut self, look: impl FnOnce(&mut Manifest) + 'a) -> Self {
        self.last_facts = Some(Box::new(look));
        self
    }

    /// Stops when `flag` is raised.
    #[must_use]
    pub fn stop_flag(mut self, flag: &StopFlag) -> Self {
        self.stop = flag.clone();
        self
    }

    /// Ends the run before it writes more than this budget has left.
    #[must_use]
    pub fn write_budget(mut self, writes: Option<WriteBudget>) -> Self {
        self.writes = writes;
        self
    }

    /// Leaves out the rounds that are left when `rule` breaks on the speeds of the tracked phase, in bytes per second,
    /// one for each round so far. Asked at the end of each round.
    #[must_use]
    pub fn steady_rule(mut self, rule: impl FnMut(&[f64]) -> std::ops::ControlFlow<()> + 'a) -> Self {
        self.steady_rule = Some(Box::new(rule));
        self
    }

    /// Runs on a drive that was prepared for the plan, in real time or in simulated time as it has it. The plan's settings
    /// are made before the load and put back after it. Returns when all is over and recorded.
    ///
    /// # Errors
    /// When the record could not be written, or the load not be started. A drive that fails is an [`Outcome`].
    pub fn run(self, prepared: Prepared) -> Result<Outcome, SessionError> {
        let Prepared { io, settings, notes } = prepared;
        let real_time = matches!(io, DriveIo::RealTime { .. });
        let mut recorder = self.recorder(real_time);
        let clock = MonotonicClock::start();
        if real_time {
            let anchor =
                ClockAnchor { wall_unix_ns: wall_unix_ns(), monotonic_ns: Some(clock.start_monotonic_ns()) };
            recorder.update_manifest(|manifest| manifest.clock_anchor = anchor);
        }
        notes.into_iter().for_each(|note| recorder.note(note));
        // Dropped on every path that leaves this function, by a panic too, and then put back.
        let settings = settings.map(|settings| HeldSettings::change(&mut recorder, settings));
        let (end, ran) = match io {
            DriveIo::RealTime { access, samplers } => real::run(&mut recorder, clock, access, samplers),
            DriveIo::Simulated(drive) => simulated::run(&mut recorder, drive),
        };
        if let Some(settings) = settings {
            settings.put_back(&mut recorder);
        }
        ran?;
        recorder.finish(end)
    }

    fn recorder(self, real_time: bool) -> Recorder<'a> {
        let Self { plan, writer, observer, steady_rule, stop, last_facts, writes, rate_rule } = self;
        let mut recorder = Recorder::new(plan, writer, observer, stop, real_time);
        recorder.last_facts = last_facts;
        recorder.control = recorder.control.write_budget(writes);
        recorder.rounds.rule = steady_rule;
        recorder.shaping = rate_rule.map(Shaping::new);
        recorder
    }
}

/// The operations of a phase's loads, in the order of the record.
fn ops_of_phase(phase: &Phase) -> Vec<Op> {
    Op::ALL
        .into_iter()
        .filter(|op| phase.loads.iter().any(|load| load.mix.ops().any(|one| one == *op)))
        .collect()
}

/// The seed of a load: its own, or one from the plan's that no other load of the plan has.
fn seed_of(plan: &Plan, phase: usize, load: usize) -> Seed {
    let own = plan.phases[phase].loads[load].seed;
    own.unwrap_or_else(|| plan.seed.part((phase as u64) << 32 | load as u64))
}

/// The workers of a phase, all of whose loads start at `start`.
fn workers(recorder: &Recorder<'_>, index: usize, start: Instant) -> Result<Vec<Worker>, SessionError> {
    let drive = &recorder.manifest().drive;
    let target = (Bytes::new(drive.size_bytes), drive.slc_bytes.map(Bytes::new));
    phase_workers(recorder.plan, index, target, start, recorder.control())
}

/// The workers of phase `index` of `plan`, all of whose loads start at `start`, on a target of that size whose fast write
/// cache has that size, where it is known.
///
/// # Errors
/// When a load does not fit the target.
pub fn phase_workers(
    plan: &Plan,
    index: usize,
    (size, slc): (Bytes, Option<Bytes>),
    start: Instant,
    control: &Control,
) -> Result<Vec<Worker>, SessionError> {
    let phase = &plan.phases[index];
    let mut workers = Vec::new();
    for (number, load) in phase.loads.iter().enumerate() {
        let refused =
            |why: String| SessionError::Load { phase: phase.name.clone(), load: load.name.clone(), why };
        let region = resolve(load.region, size, slc).map_err(refused)?;
        for thread in 0..load.threads {
            let worker = Worker::new(WorkerSpec {
                load,
                region: region.clone(),
                thread,
                worker: workers.len() as u32,
                phase: index as u32,
                seed: seed_of(plan, index, number),
                start,
                end: phase.duration.map_or(Instant::NEVER, |duration| start + duration),
                record_ops: plan.record_ops,
                control: control.clone(),
            });
            workers.push(worker.map_err(|error: LoadError| refused(error.to_string()))?);
        }
    }
    Ok(workers)
}

#[cfg(test)]
mod real_test;
#[cfg(test)]
mod test;
