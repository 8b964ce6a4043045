//! The speed of each round's tracked phase, and the rule that ends the rounds.

use std::ops::ControlFlow;

use measure::{Bytes, Instant};

use plan::Rounds;

/// Looks at the speeds of the rounds so far, in bytes per second, and ends the rounds with [`ControlFlow::Break`].
pub type SteadyRule<'a> = dyn FnMut(&[f64]) -> ControlFlow<()> + 'a;

/// Adds up rounds.
pub(super) struct RoundSpeeds<'a> {
    /// What the caller brought.
    pub(super) rule: Option<Box<SteadyRule<'a>>>,
    speeds: Vec<f64>,
    bytes: Bytes,
    start: Instant,
    steady: bool,
}

impl RoundSpeeds<'_> {
    /// Before the first phase, without a rule.
    pub(super) const fn new() -> Self {
        Self { rule: None, speeds: Vec::new(), bytes: Bytes::ZERO, start: Instant::ZERO, steady: false }
    }

    /// A phase began at `t`.
    pub(super) fn phase_began(&mut self, t: Instant) {
        (self.bytes, self.start) = (Bytes::ZERO, t);
    }

    /// So much was moved in it.
    pub(super) fn count(&mut self, bytes: Bytes) {
        self.bytes += bytes;
    }

    /// Phase `index` has ended at `t`; says after which round they were found steady, where that is now.
    pub(super) fn phase_ends(&mut self, rounds: &Rounds, index: usize, t: Instant) -> Option<usize> {
        let span_s = t.since(self.start).as_secs_f64();
        if rounds.is_tracked(index) && span_s > 0.0 {
            self.speeds.push(self.bytes.as_f64() / span_s);
        }
        let rule = self.rule.as_mut().filter(|_| rounds.ends_with(index))?;
        self.steady = rule(&self.speeds).is_break();
        self.steady.then_some(self.speeds.len())
    }

    /// Whether no further round is needed.
    pub(super) const fn are_steady(&self) -> bool {
        self.steady
    }
}
