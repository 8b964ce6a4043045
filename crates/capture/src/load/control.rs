//! What stops a load from outside: a halt, and the budgets of errors and of written bytes that all workers share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use measure::{Bytes, Instant};

use super::ceiling::Ceiling;

/// Shared by all workers of a phase and by whoever may stop them. Clones are the same control.
#[derive(Clone, Debug)]
pub struct Control {
    halt: Arc<AtomicU8>,
    errors: Arc<AtomicU64>,
    errors_max: u64,
    writes: Option<WriteBudget>,
    ceiling: Arc<Ceiling>,
}

/// How many bytes may still be written, by all that share it: clones are the same budget.
#[derive(Clone, Debug)]
pub struct WriteBudget {
    left: Arc<AtomicU64>,
    all: Bytes,
}

impl WriteBudget {
    /// A budget of so many bytes.
    pub fn new(all: Bytes) -> Self {
        Self { left: Arc::new(AtomicU64::new(all.as_u64())), all }
    }

    /// What it was in the beginning.
    pub const fn all(&self) -> Bytes {
        self.all
    }

    /// Takes as much; false, and nothing taken, when there is less.
    pub fn take(&self, bytes: Bytes) -> bool {
        let taken = |left: u64| left.checked_sub(bytes.as_u64());
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }
}

/// How firmly a load is to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halt {
    /// Not at all.
    No,
    /// Make no more I/Os and wait for those in flight.
    Drain,
    /// Make no more I/Os and wait for nothing.
    AtOnce,
}

impl Control {
    /// A control under which a load runs, until more than `errors_max` I/Os have failed.
    pub fn new(errors_max: u64) -> Self {
        Self {
            halt: Arc::new(AtomicU8::new(Halt::No as u8)),
            errors: Arc::new(AtomicU64::new(0)),
            errors_max,
            writes: None,
            ceiling: Arc::new(Ceiling::default()),
        }
    }

    /// The rate that all workers together may move; it may change while they run.
    pub fn ceiling(&self) -> &Ceiling {
        &self.ceiling
    }

    /// The earliest time for the next I/O under it.
    #[inline]
    pub(crate) fn opens(&self) -> Instant {
        self.ceiling.opens()
    }

    /// Ends the load at the write that would exceed this budget.
    #[must_use]
    pub fn write_budget(mut self, writes: Option<WriteBudget>) -> Self {
        self.writes = writes;
        self
    }

    /// Whether so many bytes more may be written; they count as written then.
    #[inline]
    pub fn may_write(&self, bytes: Bytes) -> bool {
        self.writes.as_ref().is_none_or(|writes| writes.take(bytes))
    }

    /// The budget of written bytes.
    pub const fn writes(&self) -> Option<&WriteBudget> {
        self.writes.as_ref()
    }

    /// A control for the next phase: not halted, with what is left of the same budget of errors.
    pub fn next_phase(&self) -> Self {
        Self { halt: Arc::new(AtomicU8::new(Halt::No as u8)), ..self.clone() }
    }

    /// Stops the load; a firmer halt is never taken back by a softer one.
    pub fn halt(&self, halt: Halt) {
        self.halt.fetch_max(halt as u8, Ordering::Relaxed);
    }

    /// How firmly the load is stopped.
    #[inline]
    pub fn halted(&self) -> Halt {
        match self.halt.load(Ordering::Relaxed) {
            0 => Halt::No,
            1 => Halt::Drain,
            _ => Halt::AtOnce,
        }
    }

    /// Counts an I/O that failed.
    pub fn count_error(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }

    /// How many I/Os have failed.
    pub fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    /// Whether more I/Os have failed than may.
    pub fn too_many_errors(&self) -> bool {
        self.errors() > self.errors_max
    }
}
