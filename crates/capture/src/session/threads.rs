//! The threads of a session in real time, and what they tell the recorder.
//!
//! Each ends by itself, and tells so as the last thing it does, even when it panics. Nobody waits for a thread
//! without a limit: one that hangs in the kernel is left behind.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use measure::{Clock as _, Instant, MonotonicClock, Seed};

use super::grid::Grid;
use crate::load::{Control, Ended, Halt, IntervalStats, Tick, Worker, drive};
use ::drive::io::{Access, IoPath as _, Path};
use drive::telemetry::{self, Reading, Sampler};
use plan::Load;

/// A load thread looks at its control at least this often.
const CONTROL_SPAN: Duration = Duration::from_millis(100);

/// What threads tell the recorder.
pub(super) enum Message {
    /// From a load thread of that phase.
    Load { phase: usize, news: News },
    /// A source was read.
    Reading(Box<Reading>),
    /// A sampler thread has taken its last reading.
    SamplerEnded,
}

/// What a load thread tells.
pub(super) enum News {
    /// It has its path; with a note for the record.
    Ready { note: Option<String> },
    /// What its worker has completed, all in the interval that `end` ends or cuts.
    Part { worker: usize, end: Instant, stats: IntervalStats },
    /// It has ended.
    Ended { worker: usize, at: Instant, how: Result<Option<Ended>, String> },
}

/// Sends a last message when its thread ends, however it ends.
struct Last<'a> {
    to: &'a Sender<Message>,
    message: Option<Message>,
}

impl Drop for Last<'_> {
    fn drop(&mut self) {
        if let Some(message) = self.message.take() {
            // Without a recorder there is nobody to be told.
            let _ = self.to.send(message);
        }
    }
}

/// What a load thread is made from.
pub(super) struct LoadThread {
    pub(super) phase: usize,
    pub(super) worker: usize,
    pub(super) load: Load,
    pub(super) seed: Seed,
    pub(super) access: Access,
    pub(super) clock: MonotonicClock,
    pub(super) grid: Grid,
    pub(super) control: Control,
    pub(super) to: Sender<Message>,
}

impl LoadThread {
    /// Starts the thread; it makes its path, tells that it is ready, and waits for its worker.
    ///
    /// Dropping the sender instead ends it.
    pub(super) fn start(self) -> std::io::Result<Sender<Worker>> {
        let (sender, worker) = channel();
        thread::Builder::new().name(format!("load {}", self.worker)).spawn(move || self.run(&worker))?;
        Ok(sender)
    }

    fn run(self, worker: &Receiver<Worker>) {
        let panicked = Err("a thread of the load panicked, which is a bug of heatsoak".to_owned());
        let tell = |news| Message::Load { phase: self.phase, news };
        let ended = |at, how| tell(News::Ended { worker: self.worker, at, how });
        let mut last = Last { to: &self.to, message: Some(ended(self.clock.now(), panicked)) };
        let how = match self.access.path(self.clock, &self.load, self.seed) {
            Ok(mut path) => {
                let note = path.note().map(str::to_owned);
                let _ = self.to.send(tell(News::Ready { note }));
                match worker.recv() {
                    Ok(worker) => self.drive(worker, &mut path),
                    // The phase ended before it began.
                    Err(_) => Ok(None),
                }
            }
            Err(error) => Err(error.to_string()),
        };
        last.message = Some(ended(self.clock.now(), how));
    }

    fn drive(&self, mut worker: Worker, path: &mut Path) -> Result<Option<Ended>, String> {
        let mut start = worker.start();
        let send = |end: Instant, worker: &mut Worker| {
            let stats = worker.take_interval();
            let news = News::Part { worker: self.worker, end, stats };
            let _ = self.to.send(Message::Load { phase: self.phase, news });
        };
        let driven = drive(std::slice::from_mut(&mut worker), path, Instant::ZERO, |now, workers, _| {
            let mut edge = self.grid.edge_after(start);
            while edge <= now {
                workers.iter_mut().for_each(|worker| send(edge, worker));
                start = edge;
                edge = self.grid.edge_after(edge);
            }
            Tick { next: edge.min(now + CONTROL_SPAN), leave: self.control.halted() == Halt::AtOnce }
        });
        send(path.now(), &mut worker);
        let whole = driven.and_then(|()| path.check_target());
        whole.map(|()| worker.ended()).map_err(|error| error.to_string())
    }
}

/// A sampler thread.
pub(super) struct SamplerThread {
    /// Its name in the record.
    pub(super) source: String,
    /// Dropping it makes the thread take a last reading and end.
    _go_on: Sender<()>,
}

impl SamplerThread {
    /// Starts the thread, which reads at once and then once a period.
    pub(super) fn start(
        mut sampler: Box<dyn Sampler>,
        clock: MonotonicClock,
        to: Sender<Message>,
    ) -> std::io::Result<Self> {
        let (go_on, ending) = channel::<()>();
        let source = sampler.source().to_owned();
        thread::Builder::new().name(format!("sample {source}")).spawn(move || {
            let _last = Last { to: &to, message: Some(Message::SamplerEnded) };
            let grid = Grid::new(sampler.period());
            telemetry::be_punctual();
            loop {
                let reading = telemetry::read(&mut *sampler, &clock);
                if to.send(Message::Reading(Box::new(reading))).is_err() {
                    return;
                }
                let now = clock.now();
                match ending.recv_timeout(grid.edge_after(now) - now) {
                    Err(RecvTimeoutError::Timeout) | Ok(()) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            let _ = to.send(Message::Reading(Box::new(telemetry::read(&mut *sampler, &clock))));
        })?;
        Ok(Self { source, _go_on: go_on })
    }
}
