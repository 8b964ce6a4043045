//! Stops a run from outside: from a signal, or from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use nvme::host::tcp::GiveUp;

/// How often a stop was asked for. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct StopFlag {
    raised: Arc<AtomicU8>,
    /// Tells those who wait for a drive when nothing is to be waited for.
    give_up: GiveUp,
}

/// What a flag asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Go on.
    No,
    /// Make no more I/O, wait for what is in flight, take last readings, end the run.
    Cleanly,
    /// End the run and wait for nothing.
    AtOnce,
}

impl StopFlag {
    /// A flag that nobody has raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a stop; the second time, for one at once. May be called from a signal handler.
    pub fn raise(&self) {
        // Saturates: the 256th signal of an impatient user is not a request to go on.
        let before = self
            .raised
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |raised| Some(raised.saturating_add(1)));
        if before != Ok(0) {
            self.give_up.raise();
        }
    }

    /// What is raised with the second request.
    pub fn give_up(&self) -> GiveUp {
        self.give_up.clone()
    }

    /// What it asks for.
    pub fn asks(&self) -> Stop {
        match self.raised.load(Ordering::Relaxed) {
            0 => Stop::No,
            1 => Stop::Cleanly,
            _ => Stop::AtOnce,
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_second_time_is_at_once_and_stays_so() {
        let flag = StopFlag::new();
        let other = flag.clone();
        assert_eq!(flag.asks(), Stop::No);
        other.raise();
        assert_eq!((flag.asks(), flag.give_up().is_raised()), (Stop::Cleanly, false));
        (0..1000).for_each(|_| other.raise());
        assert_eq!((flag.asks(), flag.give_up().is_raised()), (Stop::AtOnce, true));
    }
}
