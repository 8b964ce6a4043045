//! A session in simulated time: one thread, one clock that only moves when nothing is left to do.
//!
//! Load, samplers, limit and record take their turns in an order that is always the same, so that two runs from one
//! seed leave identical series.

use std::time::Duration;

use measure::Instant;
use measure::record::{EndReason, Op};

use super::grid::Grid;
use super::recorder::Recorder;
use super::{SessionError, ops_of_phase, workers};
use crate::load::{IntervalStats, STOP_LIMIT, Tick, Worker, drive};
use ::drive::io::{IoPath as _, PathError, VirtualDrive, VirtualPath};
use plan::Phase;

/// Runs the recorder's plan on a drive in simulated time; returns when that was over.
pub(super) fn run(
    recorder: &mut Recorder<'_>,
    drive: Box<dyn VirtualDrive>,
) -> (Instant, Result<(), SessionError>) {
    let grid = Grid::new(recorder.plan.interval);
    let telemetry = Telemetry::new(&*drive, recorder.plan);
    let mut session = SimulatedTime { recorder, grid, telemetry };
    let mut path = VirtualPath::new(drive);
    let ran = session.run_phases(&mut path);
    (path.now(), ran)
}

struct SimulatedTime<'r, 'a> {
    recorder: &'r mut Recorder<'a>,
    grid: Grid,
    telemetry: Telemetry,
}

impl SimulatedTime<'_, '_> {
    fn run_phases(&mut self, path: &mut VirtualPath) -> Result<(), SessionError> {
        self.telemetry.sample(path.now(), path, self.recorder);
        for index in 0..self.recorder.plan.phases.len() {
            if self.recorder.run_is_over() {
                break;
            }
            self.run_phase(index, path)?;
        }
        self.telemetry.sample_all(path.now(), path, self.recorder);
        Ok(())
    }

    fn run_phase(&mut self, index: usize, path: &mut VirtualPath) -> Result<(), SessionError> {
        let phase = &self.recorder.plan.phases[index];
        let begun = path.now();
        self.recorder.phase_begins(index, begun);
        if let Some(span) = idle_span(phase) {
            self.run_part(&mut [], path, [Op::Idle], begun + span);
        }
        let mut ended = Vec::new();
        if !phase.loads.is_empty() && !self.recorder.phase_is_over() {
            let mut workers = workers(self.recorder, index, path.now())?;
            self.run_part(&mut workers, path, ops_of_phase(phase), Instant::ZERO);
            ended = workers.iter().filter_map(Worker::ended).collect();
        }
        self.recorder.phase_ends(path.now(), &ended);
        Ok(())
    }

    /// Runs workers to their end, or idles until `hold` without any.
    fn run_part(
        &mut self,
        workers: &mut [Worker],
        path: &mut VirtualPath,
        ops: impl IntoIterator<Item = Op>,
        hold: Instant,
    ) {
        let ops: Vec<Op> = ops.into_iter().collect();
        let mut part = LoadPart { session: self, start: path.now(), ops };
        let driven = drive(workers, path, hold, |now, workers, path| part.tick(now, workers, path));
        part.close(path.now(), workers);
        if let Err(error) = driven {
            let (reason, why) = no_answer(&error);
            self.recorder.end_run(reason, why);
        }
    }
}

/// A stop that outlasts everything is a result too: there is no kernel that would have reset the drive.
fn no_answer(error: &PathError) -> (EndReason, String) {
    match error {
        PathError::NoAnswer { in_flight: 0, .. } => {
            (EndReason::DeviceFailed, "the drive does not answer and never will".to_owned())
        }
        PathError::NoAnswer { seconds, .. } if Duration::from_secs(*seconds) >= STOP_LIMIT => (
            EndReason::SafetyLimit,
            format!(
                "the drive stopped and completed nothing for {seconds} s: in this air it does not cool enough to go on"
            ),
        ),
        other => (EndReason::DeviceFailed, other.to_string()),
    }
}

/// How long a phase is idle before its loads, or altogether.
fn idle_span(phase: &Phase) -> Option<Duration> {
    let span = if phase.loads.is_empty() {
        phase.start_delay + phase.duration.unwrap_or_default()
    } else {
        phase.start_delay
    };
    (!span.is_zero()).then_some(span)
}

/// The load of a phase, or an idle part of it, in intervals.
struct LoadPart<'s, 'r, 'a> {
    session: &'s mut SimulatedTime<'r, 'a>,
    /// Start of the running interval.
    start: Instant,
    ops: Vec<Op>,
}

impl LoadPart<'_, '_, '_> {
    fn tick(&mut self, now: Instant, workers: &mut [Worker], path: &mut VirtualPath) -> Tick {
        let mut edge = self.session.grid.edge_after(self.start);
        while edge <= now {
            self.record(edge, workers);
            edge = self.session.grid.edge_after(edge);
        }
        let SimulatedTime { recorder, telemetry, .. } = &mut *self.session;
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
    sources: Vec<DueSource>,
}

struct DueSource {
    period: std::time::Duration,
    due: Instant,
    read_at: Option<Instant>,
}

impl Telemetry {
    fn new(drive: &dyn VirtualDrive, plan: &plan::Plan) -> Self {
        let sources = drive.sources(&plan.telemetry).into_iter();
        let source = |period| DueSource { period, due: Instant::ZERO, read_at: None };
        Self { sources: sources.map(|(_, period)| source(period)).collect() }
    }

    fn next(&self) -> Instant {
        self.sources.iter().map(|source| source.due).min().unwrap_or(Instant::NEVER)
    }

    /// Reads what is due.
    fn sample(&mut self, now: Instant, path: &mut VirtualPath, recorder: &mut Recorder<'_>) {
        for (index, source) in self.sources.iter_mut().enumerate() {
            if source.due <= now {
                recorder.reading(path.drive().sample(index, now));
                source.read_at = Some(now);
                source.due = Grid::new(source.period).edge_after(now);
            }
        }
    }

    /// Reads every source that was not read at this very moment: the last readings of a run.
    fn sample_all(&mut self, now: Instant, path: &mut VirtualPath, recorder: &mut Recorder<'_>) {
        for source in &mut self.sources {
            source.due = if source.read_at == Some(now) { Instant::NEVER } else { now };
        }
        self.sample(now, path, recorder);
    }
}
