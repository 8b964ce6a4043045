//! A path over a drive that is not there: time stands still until the drive has nothing left to do in it.
//!
//! The drive is given by the trait [`VirtualDrive`], which this crate does not implement: the command line glues a
//! twin to it, tests a drive with a closed form.

use std::time::Duration;

use measure::Instant;
use plan::TelemetryPlan;

use super::path::{Io, IoCompletion, IoPath, PathError};
use crate::telemetry::Reading;

/// A simulated drive: takes I/Os, moves through time when told to, and can be read.
///
/// It must be deterministic. Times never run backwards: each call comes with a time no earlier than the last.
pub trait VirtualDrive {
    /// Takes an I/O at `now`.
    fn submit(&mut self, now: Instant, io: Io);

    /// When the next I/O completes if nothing else is submitted; `None` without any in flight, or if none
    /// ever will.
    fn next_completion(&mut self) -> Option<Instant>;

    /// Moves to `until`, or to the first completion before or at it: what completes at that one instant is added to
    /// `done`. Returns where it stands then.
    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant;

    /// Its telemetry sources, each with the time between readings.
    fn sources(&self, plan: &TelemetryPlan) -> Vec<(&'static str, Duration)>;

    /// Reads source number `source` of [`VirtualDrive::sources`] at `now`.
    fn sample(&mut self, source: usize, now: Instant) -> Reading;
}

/// A path over a simulated drive, with its own clock.
pub struct VirtualPath {
    drive: Box<dyn VirtualDrive>,
    now: Instant,
}

impl VirtualPath {
    /// A path at time zero.
    pub fn new(drive: Box<dyn VirtualDrive>) -> Self {
        Self { drive, now: Instant::ZERO }
    }

    /// The drive, to be read at the path's present.
    pub fn drive(&mut self) -> &mut dyn VirtualDrive {
        &mut *self.drive
    }
}

impl IoPath for VirtualPath {
    fn now(&self) -> Instant {
        self.now
    }

    fn queue(&mut self, io: Io) {
        self.drive.submit(self.now, io);
    }

    fn batch_max(&self) -> usize {
        usize::MAX
    }

    fn commit(&mut self) -> Result<Instant, PathError> {
        // A simulated drive takes I/O in no time: slat is zero, and clat the drive's own latency.
        Ok(self.now)
    }

    fn reap(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Result<(), PathError> {
        if until == Instant::NEVER && self.drive.next_completion().is_none() {
            return Err(PathError::NoAnswer { in_flight: 0, seconds: 0 });
        }
        let now = self.drive.advance(until.max(self.now), done);
        self.now = self.now.max(now);
        Ok(())
    }

    fn answers_later(&mut self) -> bool {
        self.drive.next_completion().is_some_and(|due| due < Instant::NEVER)
    }
}
