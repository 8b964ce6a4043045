//! A thread for each source of readings of a watched drive.
//!
//! The loop's clock alone makes readings; whoever looks at a watch costs the drive nothing. A thread that hangs in the
//! kernel holds up no other source and no other drive: it is left behind.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use drive::telemetry::{self, Reading, Sampler};
use measure::{Clock as _, Instant, MonotonicClock};

/// What wakes the loop.
pub(in crate::commands) enum Wake {
    /// A source of drive number `drive` was read, so late against its clock. `generation` tells a drive that came back
    /// from what is left of its threads.
    Reading { drive: usize, generation: u32, reading: Box<Reading>, late: Duration },
    /// A key, a mouse, a new size.
    Terminal(ratatui::crossterm::event::Event),
}

/// The threads of one drive. Dropped, they end after their present reading.
pub(in crate::commands) struct SourceThreads {
    sources: Vec<(String, Sender<Duration>)>,
}

impl SourceThreads {
    /// Starts them.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(in crate::commands) fn start(
        samplers: Vec<Box<dyn Sampler>>,
        drive: usize,
        generation: u32,
        clock: MonotonicClock,
        to: &Sender<Wake>,
    ) -> std::io::Result<Self> {
        let mut sources = Vec::new();
        for sampler in samplers {
            let name = sampler.source().to_owned();
            let (period, periods) = channel();
            let to = to.clone();
            let thread = thread::Builder::new().name(format!("watch {name}"));
            thread.spawn(move || read_on(sampler, drive, generation, clock, &periods, &to))?;
            sources.push((name, period));
        }
        Ok(Self { sources })
    }

    /// Reads one source less or more often from now on.
    pub(in crate::commands) fn set_period(&self, source: &str, period: Duration) {
        for (_, to) in self.sources.iter().filter(|(name, _)| name == source) {
            // A thread that has ended is not missed here: its readings are.
            let _ = to.send(period);
        }
    }

    /// The names of its sources.
    pub(in crate::commands) fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(|(name, _)| name.as_str())
    }
}

fn read_on(
    mut sampler: Box<dyn Sampler>,
    drive: usize,
    generation: u32,
    clock: MonotonicClock,
    periods: &Receiver<Duration>,
    to: &Sender<Wake>,
) {
    let mut period = sampler.period();
    let mut due = clock.now();
    telemetry::be_punctual();
    loop {
        let late = clock.now().since(due);
        let reading = Box::new(telemetry::read(&mut *sampler, &clock));
        if to.send(Wake::Reading { drive, generation, reading, late }).is_err() {
            return;
        }
        due = next_due(due, period, clock.now());
        loop {
            match periods.recv_timeout(due.since(clock.now())) {
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(new) => {
                    period = new;
                    due = due.min(clock.now() + period);
                }
            }
        }
    }
}

/// The next reading; those that were missed meanwhile are left out.
fn next_due(due: Instant, period: Duration, now: Instant) -> Instant {
    let next = due + period;
    if next > now { next } else { now + period }
}
