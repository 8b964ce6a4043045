//! How long an answer is waited for: as long as the options say, and no longer than a moment once nobody wants to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use measure::Instant;

/// Waits look up this often whether they are still wanted.
pub(super) const SLICE: Duration = Duration::from_millis(100);

/// What one more answer may take once nobody wants to wait: a target that is well answers in far less, also to the
/// commands that put settings back.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// Says from another thread that nothing is to be waited for any more. Clones are the same; never taken back.
#[derive(Clone, Debug, Default)]
pub struct GiveUp {
    raised: Arc<AtomicBool>,
}

impl GiveUp {
    /// Says so. May be called from a signal handler.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether it was said.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

/// The wait for one answer.
#[derive(Debug)]
pub(super) struct AnswerWait {
    give_up: GiveUp,
    timeout: Duration,
    limit: Instant,
    hurried: bool,
}

impl AnswerWait {
    pub(super) fn new(now: Instant, timeout: Duration, give_up: &GiveUp) -> Self {
        Self { give_up: give_up.clone(), timeout, limit: now + timeout, hurried: false }
    }

    /// How long to wait before looking up again; `None` when it has lasted long enough.
    pub(super) fn slice(&mut self, now: Instant) -> Option<Duration> {
        if !self.hurried && self.give_up.is_raised() {
            self.hurried = true;
            self.limit = self.limit.min(now + GRACE);
        }
        (now < self.limit).then(|| self.limit.since(now).min(SLICE))
    }

    /// Why it is over.
    pub(super) fn why(&self) -> String {
        if self.hurried {
            "the target had not answered when the user ended the wait".to_owned()
        } else {
            format!("no answer for {} s", self.timeout.as_secs_f64())
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_wait_lasts_its_time_or_a_moment_longer_than_it_is_wanted() {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let give_up = GiveUp::default();
        let mut wait = AnswerWait::new(at(0), Duration::from_secs(60), &give_up);
        assert_eq!(wait.slice(at(0)), Some(SLICE));
        assert_eq!(wait.slice(at(59_950)), Some(Duration::from_millis(50)));
        assert_eq!((wait.slice(at(60_000)), wait.why().as_str()), (None, "no answer for 60 s"));
        let mut wait = AnswerWait::new(at(0), Duration::from_secs(60), &give_up);
        give_up.clone().raise();
        assert_eq!(wait.slice(at(1000)), Some(SLICE));
        assert_eq!(wait.slice(at(1499)), Some(Duration::from_millis(1)), "the moment is not begun anew");
        assert_eq!(wait.slice(at(1500)), None);
        assert!(wait.why().contains("when the user ended the wait"));
    }
}
