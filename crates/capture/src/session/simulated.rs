//! A session in simulated time: one thread, one clock that only moves when nothing is left to do.
//!
//! Load, samplers, limit and record take their turns in an order that is always the same, so that two runs from one
//! seed leave identical series.

use measure::Instant;
use measure::record::{EndReason, Op};

use super::grid::Grid;
use super::recorder::Recorder;
use super::{Outcome, SessionError, ops_of_phase, settings, workers};
use crate::load::{IntervalStats, Tick, VirtualDrive, VirtualPath, Worker, drive};
use ::drive::io::{IoPath as _, PathError};
use drive::settings::journal::Journals;
use drive::settings::{DriveSettings, Journaled};
use plan::Phase;

/// Runs the recorder's plan on a simulated drive.
pub(super) fn run<D: VirtualDrive>(
    recorder: Recorder<'_>,
    drive: &mut D,
    journals: &Journals,
) -> Result<Outcome, SessionError> {
    let grid = Grid::new(recorder.plan.interval);
    let telemetry = Telemetry::new(drive, recorder.plan);
    let mut session = Simulated { recorder, grid, telemetry };
    let changed = session.change_settings(drive, journals);
    let mut path = VirtualPath::new(drive);
    let ran = session.run_phases(&mut path);
    let end = path.now();
    session.put_settings_back(changed, path.drive());
    ran?;
    session.recorder.finish(end)
}

struct Simulated<'a> {
    recorder: Recorder<'a>,
    grid: Grid,
    telemetry: Telemetry,
}

impl Simulated<'_> {
    fn run_phases<D: VirtualDrive>(&mut self, path: &mut VirtualPath<'_, D>) -> Result<(), SessionError> {
        self.telemetry.sample(path.now(), path, &mut self.recorder);
        for index in 0..self.recorder.plan.phases.len() {
            if self.recorder.run_is_over() {
                break;
            }
            self.run_phase(index, path)?;
        }
        self.telemetry.sample_all(path.now(), path, &mut self.recorder);
        Ok(())
    }

    fn run_phase<D: VirtualDrive>(
        &mut self,
        index: usize,
        path: &mut VirtualPath<'_, D>,
    ) -> Result<(), SessionError> {
        let phase = &self.recorder.plan.phases[index];
        let begun = path.now();
        self.recorder.phase_begins(index, begun);
        if let Some(span) = idle_span(phase) {
            self.run_part(&mut [], path, [Op::Idle], begun + span);
        }
        let mut ended = Vec::new();
        if !phase.loads.is_empty() && !self.recorder.phase_is_over() {
            let mut workers = workers(&self.recorder, index, path.now())?;
            self.run_part(&mut workers, path, ops_of_phase(phase), Instant::ZERO);
            ended = workers.iter().filter_map(Worker::ended).collect();
        }
        self.recorder.phase_ends(path.now(), &ended);
        Ok(())
    }

    /// Runs workers to their end, or idles until `hold` without any.
    fn run_part<D: VirtualDrive>(
        &mut self,
        workers: &mut [Worker],
        path: &mut VirtualPath<'_, D>,
        ops: impl IntoIterator<Item = Op>,
        hold: Instant,
    ) {
        let ops: Vec<Op> = ops.into_iter().collect();
        let mut part = Part { session: self, start: path.now(), ops };
        let driven = drive(workers, path, hold, |now, workers, path| part.tick(now, workers, path));
        part.close(path.now(), workers);
        if let Err(error) = driven {
            self.recorder.end_run(EndReason::DeviceFailed, no_answer(&error));
        }
    }

    /// Makes the plan's settings.
    fn change_settings(&mut self, drive: &mut impl VirtualDrive, journals: &Journals) -> Option<Journaled> {
        match DriveSettings::open(drive.admin()) {
            Ok(mut drive) => settings::change(&mut self.recorder, &mut drive, None, journals, 0),
            Err(error) => {
                settings::unknown(&mut self.recorder, &error.to_string());
                None
            }
        }
    }

    /// Puts back what was changed, and notes what is then set.
    fn put_settings_back(&mut self, changed: Option<Journaled>, drive: &mut impl VirtualDrive) {
        match DriveSettings::open(drive.admin()) {
            Ok(mut drive) => settings::put_back(&mut self.recorder, &mut drive, changed),
            // That it does not tell who it is has been noted before it was loaded.
            Err(_) if changed.is_none() => {}
            Err(error) => self.recorder.note(format!("the settings of the drive were not put back: {error}")),
        }
    }
}

fn no_answer(error: &PathError) -> String {
    match error {
        PathError::NoAnswer { in_flight: 0, .. } => "the drive does not answer and never will".to_owned(),
        other => other.to_string(),
    }
}

/// How long a phase is idle before its loads, or altogether.
fn idle_span(phase: &Phase) -> Option<std::time::Duration> {
    let span = if phase.loads.is_empty() {
        phase.start_delay + phase.duration.unwrap_or_default()
    } else {
        phase.start_delay
    };
    (!span.is_zero()).then_some(span)
}

/// The load of a phase, or an idle part of it, in intervals.
struct Part<'a, 'b> {
    session: &'a mut Simulated<'b>,
    /// Start of the running interval.
    start: Instant,
    ops: Vec<Op>,
}

impl Part<'_, '_> {
    fn tick<D: VirtualDrive>(
        &mut self,
        now: Instant,
        workers: &mut [Worker],
        path: &mut VirtualPath<'_, D>,
    ) -> Tick {
        let mut edge = self.session.grid.edge_after(self.start);
        while edge <= now {
            self.record(edge, workers);
            edge = self.session.grid.edge_after(edge);
        }
        let Simulated { recorder, telemetry, .. } = self.session;
        telemetry.sample(now, path, recorder);
        recorder.poll(now);
        // A load that has to end drains; idle time can be left at once.
        let leave = recorder.at_once() || (workers.is_empty() && recorder.phase_is_over());
        Tick { next: edge.min(telemetry.next()), leave }
    }

    /// The running interval ends here.
    fn close(&mut self, now: Instant, workers: &mut [Worker]) {
        let mut edge = self.session.grid.edge_after(self.start);
        while edge < now {
            self.record(edge, workers);
            edge = self.session.grid.edge_after(edge);
        }
        if self.start < now {
            self.record(now, workers);
        }
    }

    fn record(&mut self, end: Instant, workers: &mut [Worker]) {
        let start = std::mem::replace(&mut self.start, end);
        if self.ops == [Op::Idle] {
            return self.session.recorder.idle(start, end);
        }
        let mut stats = IntervalStats::new(self.ops.iter().copied());
        workers.iter_mut().for_each(|worker| stats.take_from(worker.interval()));
        self.session.recorder.interval(start, end, stats);
    }
}

/// When each source is read.
struct Telemetry {
    sources: Vec<Source>,
}

struct Source {
    period: std::time::Duration,
    due: Instant,
    read_at: Option<Instant>,
}

impl Telemetry {
    fn new(drive: &impl VirtualDrive, plan: &plan::Plan) -> Self {
        let sources = drive.sources(&plan.telemetry).into_iter();
        let source = |period| Source { period, due: Instant::ZERO, read_at: None };
        Self { sources: sources.map(|(_, period)| source(period)).collect() }
    }

    fn next(&self) -> Instant {
        self.sources.iter().map(|source| source.due).min().unwrap_or(Instant::NEVER)
    }

    /// Reads what is due.
    fn sample<D: VirtualDrive>(
        &mut self,
        now: Instant,
        path: &mut VirtualPath<'_, D>,
        recorder: &mut Recorder<'_>,
    ) {
        for (index, source) in self.sources.iter_mut().enumerate() {
            if source.due <= now {
                recorder.reading(path.drive().sample(index, now));
                source.read_at = Some(now);
                source.due = Grid::new(source.period).edge_after(now);
            }
        }
    }

    /// Reads every source that was not read at this very moment: the last readings of a run.
    fn sample_all<D: VirtualDrive>(
        &mut self,
        now: Instant,
        path: &mut VirtualPath<'_, D>,
        recorder: &mut Recorder<'_>,
    ) {
        for source in &mut self.sources {
            source.due = if source.read_at == Some(now) { Instant::NEVER } else { now };
        }
        self.sample(now, path, recorder);
    }
}
