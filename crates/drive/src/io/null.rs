//! Completes at once: what the tool itself costs, with no device and no kernel in the way.
//!
//! The idea is fio's null engine, whose main purpose is to test fio itself.

use std::thread;
use std::time::Duration;

use measure::{Clock, Instant};

use super::path::{Io, IoCompletion, IoPath, PathError};

/// A path on which every I/O completes successfully as soon as it is asked for.
#[derive(Debug)]
pub struct NullPath<C> {
    clock: C,
    queued: Vec<Io>,
    started: usize,
}

impl<C: Clock> NullPath<C> {
    /// A path for up to `depth` I/Os in flight, on `clock`.
    pub fn new(clock: C, depth: usize) -> Self {
        Self { clock, queued: Vec::with_capacity(depth), started: 0 }
    }
}

impl<C: Clock> IoPath for NullPath<C> {
    fn now(&self) -> Instant {
        self.clock.now()
    }

    #[inline]
    fn queue(&mut self, io: Io) {
        self.queued.push(io);
    }

    fn batch_max(&self) -> usize {
        usize::MAX
    }

    fn commit(&mut self) -> Result<Instant, PathError> {
        self.started = self.queued.len();
        Ok(self.clock.now())
    }

    fn reap(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Result<(), PathError> {
        let t = self.clock.now();
        if self.started == 0 {
            // Between paced I/Os there is nothing to wait for but the time.
            if until > t && until < Instant::NEVER {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "no completion ends this wait, only the next due time"
                )]
                thread::sleep((until - t).min(LONGEST_SLEEP));
            }
            return Ok(());
        }
        done.extend(self.queued.drain(..self.started).map(|io| IoCompletion {
            token: io.token,
            t,
            result: Ok(io.len),
        }));
        self.started = 0;
        Ok(())
    }
}

/// A sleep ends at least this often, so that a stop is noticed; the contract allows early returns.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);
