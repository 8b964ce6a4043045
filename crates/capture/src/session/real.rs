//! A session in real time: a thread for each worker, one for each sampler, and the calling thread as the recorder.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use measure::record::EndReason;
use measure::{Clock as _, Instant, MonotonicClock};

use super::grid::Grid;
use super::merge::Merge;
use super::recorder::Recorder;
use super::threads::{LoadThread, Message, News, SamplerThread};
use super::{SessionError, ops_of_phase, seed_of, workers};
use crate::load::{Control, Ended, Halt, Worker};
use drive::io::Access;
use drive::telemetry::Sampler;
use plan::Phase;

/// The recorder looks at stops, and whether rows wait to be written, at least this often.
const POLL_SPAN: Duration = Duration::from_millis(100);

/// How long a thread may take to make its path: filling 4 GiB of buffers takes some 5 s on a slow processor.
const READY_LIMIT: Duration = Duration::from_secs(60);

/// How long the run waits for the first reading of every source before it begins, and for the last one.
const READING_LIMIT: Duration = Duration::from_secs(5);

/// A load thread gives up on its drive by itself after 35 s (see `load::engine`). One that has not ended
/// after this hangs in the kernel.
const END_LIMIT: Duration = Duration::from_secs(45);

/// The same when the user wants to end at once.
const END_LIMIT_AT_ONCE: Duration = Duration::from_secs(2);

/// Runs the recorder's plan on a drive in real time; returns when that was over.
pub(super) fn run(
    recorder: &mut Recorder<'_>,
    clock: MonotonicClock,
    access: Access,
    samplers: Vec<Box<dyn Sampler>>,
) -> (Instant, Result<(), SessionError>) {
    let (outbox, inbox) = channel();
    let grid = Grid::new(recorder.plan.interval);
    let mut session = RealTime { recorder, clock, grid, access, inbox, outbox };
    let samplers = session.start_samplers(samplers);
    let ran = session.run_phases();
    session.end_samplers(samplers);
    (session.clock.now(), ran)
}

struct RealTime<'r, 'a> {
    recorder: &'r mut Recorder<'a>,
    clock: MonotonicClock,
    grid: Grid,
    access: Access,
    inbox: Receiver<Message>,
    /// Also keeps the channel open while no thread runs.
    outbox: Sender<Message>,
}

/// The threads of a phase that are ready to start.
struct Ready {
    starters: Vec<Sender<Worker>>,
    control: Control,
}

impl RealTime<'_, '_> {
    fn run_phases(&mut self) -> Result<(), SessionError> {
        for index in 0..self.recorder.plan.phases.len() {
            if self.recorder.run_is_over() {
                break;
            }
            self.run_phase(index)?;
        }
        Ok(())
    }

    /// The next message of a load thread or the end of a sampler; `None` when nothing came for a while or until `until`.
    fn receive(&mut self, until: Instant) -> Option<Message> {
        let wait = until.since(self.clock.now()).min(POLL_SPAN);
        let message = match self.inbox.recv_timeout(wait) {
            Ok(Message::Reading(reading)) => {
                self.recorder.reading(*reading);
                None
            }
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        };
        self.recorder.poll(self.clock.now());
        message
    }

    /// The next that a load thread of phase `index` tells. What comes late from an earlier phase, whose threads
    /// were not waited for, is dropped.
    fn receive_of(&mut self, index: usize, until: Instant) -> Option<News> {
        match self.receive(until) {
            Some(Message::Load { phase, news }) if phase == index => Some(news),
            _ => None,
        }
    }

    fn start_samplers(&mut self, samplers: Vec<Box<dyn Sampler>>) -> Vec<SamplerThread> {
        let mut threads = Vec::new();
        for sampler in samplers {
            let source = sampler.source().to_owned();
            match SamplerThread::start(sampler, self.clock, self.outbox.clone()) {
                Ok(thread) => threads.push(thread),
                Err(error) => self.recorder.note(format!("source {source} could not be started: {error}")),
            }
        }
        // Telemetry begins before the load does: one reading of each, or as many as come in time.
        let limit = self.clock.now() + READING_LIMIT;
        let mut read = 0;
        while read < threads.len() && self.clock.now() < limit && !self.recorder.run_is_over() {
            if let Ok(Message::Reading(reading)) = self.inbox.recv_timeout(POLL_SPAN) {
                self.recorder.reading(*reading);
                read += 1;
            }
            self.recorder.poll(self.clock.now());
        }
        threads
    }

    fn end_samplers(&mut self, threads: Vec<SamplerThread>) {
        let mut open = threads.len();
        let sources: Vec<String> = threads.iter().map(|thread| thread.source.clone()).collect();
        drop(threads);
        let limit = self.clock.now() + READING_LIMIT;
        while open > 0 && self.clock.now() < limit && !self.recorder.at_once() {
            if let Some(Message::SamplerEnded) = self.receive(limit) {
                open -= 1;
            }
        }
        if open > 0 && !self.recorder.at_once() {
            let seconds = READING_LIMIT.as_secs();
            let sources = sources.join(", ");
            self.recorder.note(format!(
                "{open} of the sources {sources} did not give a last reading within {seconds} s"
            ));
        }
    }

    fn run_phase(&mut self, index: usize) -> Result<(), SessionError> {
        let phase = &self.recorder.plan.phases[index];
        let ready = if phase.loads.is_empty() { None } else { self.start_threads(index)? };
        if ready.is_none() && !phase.loads.is_empty() {
            return Ok(());
        }
        self.recorder.phase_begins(index, self.clock.now());
        let begun = self.clock.now();
        self.recorder.phase_began(begun);
        let (mut end, mut ended) = (begun, Vec::new());
        let idle = match &ready {
            Some(_) => phase.start_delay,
            None => phase.start_delay + phase.duration.unwrap_or_default(),
        };
        if !idle.is_zero() {
            end = self.idle_until(begun, begun + idle);
        }
        if let Some(ready) = ready.filter(|_| !self.recorder.phase_is_over()) {
            let load = self.start_load(index, end, &ready)?;
            (end, ended) = self.run_load(load, phase_due(phase, end), &ready.control);
        }
        self.recorder.phase_ends(end, &ended);
        Ok(())
    }

    /// Starts the threads of a phase and waits until each has its path; `None` when one has none.
    fn start_threads(&mut self, index: usize) -> Result<Option<Ready>, SessionError> {
        let phase = &self.recorder.plan.phases[index];
        let control = self.recorder.control().clone();
        let mut starters = Vec::new();
        for (number, load) in phase.loads.iter().enumerate() {
            let seed = seed_of(self.recorder.plan, index, number);
            for thread in 0..load.threads {
                let started = LoadThread {
                    phase: index,
                    worker: starters.len(),
                    load: load.clone(),
                    // Data of its own, apart from the parts that its worker draws from.
                    seed: seed.part(u64::MAX - u64::from(thread)),
                    access: self.access.clone(),
                    clock: self.clock,
                    grid: self.grid,
                    control: control.clone(),
                    to: self.outbox.clone(),
                }
                .start();
                starters.push(started.map_err(|source| SessionError::Thread { source })?);
            }
        }
        let limit = self.clock.now() + READY_LIMIT;
        let mut waiting = starters.len();
        while waiting > 0 && !self.recorder.run_is_over() {
            match self.receive_of(index, limit) {
                Some(News::Ready { note }) => {
                    note.into_iter().for_each(|note| self.recorder.note(note));
                    waiting -= 1;
                }
                Some(News::Ended { how: Err(why), .. }) => {
                    self.recorder.end_run(EndReason::DeviceFailed, why);
                }
                _ if self.clock.now() >= limit => {
                    let why = format!("{waiting} threads could not begin within {} s", READY_LIMIT.as_secs());
                    self.recorder.end_run(EndReason::DeviceFailed, why);
                }
                _ => {}
            }
        }
        Ok((waiting == 0).then_some(Ready { starters, control }))
    }

    /// Records idle intervals until `until`, or until the phase has to end; returns when that was.
    fn idle_until(&mut self, begun: Instant, until: Instant) -> Instant {
        let mut start = begun;
        while start < until {
            let edge = self.grid.edge_after(start).min(until);
            while self.clock.now() < edge && !self.recorder.phase_is_over() {
                self.receive(edge);
            }
            let end = edge.min(self.clock.now());
            if start < end {
                self.recorder.idle(start, end);
            }
            start = end;
            if self.recorder.phase_is_over() {
                return end;
            }
        }
        until
    }

    /// Gives every thread its worker.
    fn start_load(&self, index: usize, start: Instant, ready: &Ready) -> Result<RunningLoad, SessionError> {
        let phase = &self.recorder.plan.phases[index];
        let workers = workers(self.recorder, index, start)?;
        let running = workers.len();
        for (starter, worker) in ready.starters.iter().zip(workers) {
            // A thread that is gone has told so, and is counted when its message comes.
            let _ = starter.send(worker);
        }
        let merge = Merge::new(self.grid, ops_of_phase(phase), start, running);
        Ok(RunningLoad { index, merge, running, ended: Vec::new(), heard: start, end: start })
    }

    /// Records a load until all its threads have ended; returns when that was, and why each of its workers did.
    fn run_load(&mut self, mut load: RunningLoad, due: Instant, control: &Control) -> (Instant, Vec<Ended>) {
        let (mut give_up, mut halted_until) = (Instant::NEVER, Instant::NEVER);
        while load.running > 0 {
            if let Some(news) = self.receive_of(load.index, give_up) {
                load.take(news, self.recorder);
            }
            while let Some(whole) = load.merge.next() {
                self.recorder.interval(whole.start, whole.end, whole.stats);
            }
            let now = self.clock.now();
            halted_until = halted_until.min(halt_limit(now, control.halted()));
            // An access that has begun goes on beyond the phase; while parts of it come back nothing hangs.
            give_up = halted_until.min(due.max(load.heard) + END_LIMIT);
            if now >= give_up {
                self.recorder.end_run(
                    EndReason::DeviceFailed,
                    format!("{} threads of the load hang in the kernel and were left behind", load.running),
                );
                load.end = now;
                break;
            }
        }
        while let Some(whole) = load.merge.rest(load.end) {
            self.recorder.interval(whole.start, whole.end, whole.stats);
        }
        (load.end, load.ended)
    }
}

/// When a phase with a duration ends by itself.
fn phase_due(phase: &Phase, begun: Instant) -> Instant {
    phase.duration.map_or(Instant::NEVER, |duration| begun + duration)
}

/// Until when threads that are halted may take to end, seen from `now`.
fn halt_limit(now: Instant, halted: Halt) -> Instant {
    match halted {
        Halt::AtOnce => now + END_LIMIT_AT_ONCE,
        Halt::Drain => now + END_LIMIT,
        Halt::No => Instant::NEVER,
    }
}

/// A load whose threads run.
struct RunningLoad {
    /// Its phase.
    index: usize,
    merge: Merge,
    running: usize,
    ended: Vec<Ended>,
    /// When I/Os were last told to have completed.
    heard: Instant,
    /// The latest time at which a worker has ended.
    end: Instant,
}

impl RunningLoad {
    fn take(&mut self, news: News, recorder: &mut Recorder<'_>) {
        match news {
            News::Ready { .. } => {}
            News::Part { worker, end, stats } => {
                if stats.ops.iter().any(|op| op.ios + op.errors > 0) {
                    self.heard = self.heard.max(end);
                }
                self.merge.part(worker, end, stats);
            }
            News::Ended { worker, at, how } => {
                self.merge.ended(worker);
                self.running -= 1;
                self.end = self.end.max(at);
                match how {
                    Ok(ended) => self.ended.extend(ended),
                    Err(why) => recorder.end_run(EndReason::DeviceFailed, why),
                }
            }
        }
    }
}
