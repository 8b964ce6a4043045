//! Device Self-test: one test at a time, in the drive's own time, and what became of the latest.
//!
//! NVMe Base 2.3, Device Self-test. A simulated drive has nothing to find, so every test that comes to its end passes;
//! it costs no power and slows nothing down. A short one ends with its controller, an extended one goes on over resets
//! and restarts.

use std::collections::VecDeque;
use std::time::Duration;

use measure::Instant;
use nvme::Status;
use nvme::command::NSID_ALL;
use nvme::log::self_test::{RESULTS_MAX, SelfTestCode, SelfTestLog, SelfTestOutcome, SelfTestResult};

use super::super::command::{Answer, Failure, Success};
use super::super::saved::{SavedSelfTest, SavedSelfTestResult, SavedSelfTests};
use super::super::{NSID, Queue, Subsystem};

/// The longest that a short test may take (NVMe Base 2.3, Short Device Self-Test Operation).
const SHORT: Duration = Duration::from_secs(120);
/// Chosen: of the order that drives of a terabyte report.
pub(super) const EXTENDED_MINUTES: u16 = 30;
/// Milliseconds of an hour.
const HOUR_MS: u64 = 3_600_000;

/// The self-tests of a drive.
#[derive(Debug)]
pub(in super::super) struct SelfTests {
    running: Option<RunningTest>,
    /// Newest first.
    results: VecDeque<SelfTestResult>,
}

#[derive(Clone, Copy, Debug)]
struct RunningTest {
    code: SelfTestCode,
    /// The controller that was asked for it.
    controller_id: u16,
    /// What was done of it before `since`, which is in the drive's time.
    done: Duration,
    since: Instant,
}

/// How long a test takes; `None` for what is no test.
const fn span(code: SelfTestCode) -> Option<Duration> {
    match code {
        SelfTestCode::SHORT => Some(SHORT),
        SelfTestCode::EXTENDED => Some(Duration::from_secs(EXTENDED_MINUTES as u64 * 60)),
        _ => None,
    }
}

impl RunningTest {
    fn span(&self) -> Duration {
        span(self.code).unwrap_or_default()
    }

    fn done_at(&self, now: Instant) -> Duration {
        self.done.saturating_add(now.since(self.since)).min(self.span())
    }

    /// When it will have come to its end.
    fn ends_at(&self) -> Instant {
        self.since + self.span().saturating_sub(self.done)
    }
}

impl SelfTests {
    /// Those of former lives. A short test that ran when the drive was switched off was ended by that.
    pub(in super::super) fn after(saved: &SavedSelfTests, power_on_ms: u64) -> Self {
        let results = saved.results.iter().map(|result| SelfTestResult {
            code: SelfTestCode(result.code & 0xf),
            outcome: SelfTestOutcome(result.outcome & 0xf),
            power_on_hours: result.power_on_hours,
            nsid: None,
        });
        let running = saved.running.map(|test| RunningTest {
            code: SelfTestCode(test.code),
            controller_id: 0,
            done: Duration::from_millis(test.done_ms),
            since: Instant::ZERO,
        });
        let mut tests = Self { running: None, results: results.take(RESULTS_MAX).collect() };
        match running.filter(|test| span(test.code).is_some()) {
            Some(test) if test.code == SelfTestCode::EXTENDED => tests.running = Some(test),
            Some(test) => tests.note(test.code, SelfTestOutcome::ABORTED_BY_RESET, power_on_ms),
            None => {}
        }
        tests
    }

    pub(in super::super) fn saved(&self, now: Instant) -> SavedSelfTests {
        let running = self
            .running
            .map(|test| SavedSelfTest { code: test.code.0, done_ms: test.done_at(now).as_millis() as u64 });
        let result = |result: &SelfTestResult| SavedSelfTestResult {
            code: result.code.0,
            outcome: result.outcome.0,
            power_on_hours: result.power_on_hours,
        };
        SavedSelfTests { running, results: self.results.iter().map(result).collect() }
    }

    fn note(&mut self, code: SelfTestCode, outcome: SelfTestOutcome, power_on_ms: u64) {
        self.results.truncate(RESULTS_MAX - 1);
        let power_on_hours = power_on_ms / HOUR_MS;
        self.results.push_front(SelfTestResult { code, outcome, power_on_hours, nsid: None });
    }
}

impl Subsystem {
    /// Starts a test, or ends the one that runs.
    pub(super) fn self_test(&mut self, queue: Queue, nsid: u32, code: SelfTestCode) -> Answer {
        // 0 is the controller alone.
        if ![0, NSID, NSID_ALL].contains(&nsid) {
            return Err(Failure::in_nsid(Status::INVALID_NAMESPACE));
        }
        self.settle_self_test();
        self.unsaved = true;
        match code {
            SelfTestCode::ABORT => self.end_self_test(SelfTestOutcome::ABORTED_BY_COMMAND),
            code if span(code).is_none() => return Err(Failure::in_dword(Status::INVALID_FIELD, 10)),
            _ if self.self_tests.running.is_some() => {
                return Err(Failure::new(Status::SELF_TEST_IN_PROGRESS));
            }
            code => {
                let (controller_id, since) = (queue.controller_id(), self.drive.now());
                let done = Duration::ZERO;
                self.self_tests.running = Some(RunningTest { code, controller_id, done, since });
            }
        }
        Ok(Success::NOTHING)
    }

    pub(super) fn self_test_log(&mut self) -> SelfTestLog {
        self.settle_self_test();
        let now = self.drive.now();
        let running = self.self_tests.running.map(|test| {
            let share = test.done_at(now).as_secs_f64() / test.span().as_secs_f64();
            (test.code, (100.0 * share) as u8)
        });
        SelfTestLog { running, results: self.self_tests.results.iter().copied().collect() }
    }

    /// Ends the test that runs before its time.
    pub(in super::super) fn end_self_test(&mut self, outcome: SelfTestOutcome) {
        self.settle_self_test();
        if let Some(test) = self.self_tests.running.take() {
            let power_on_ms = self.power_on_ms(self.drive.now());
            self.self_tests.note(test.code, outcome, power_on_ms);
        }
    }

    /// A controller was reset: a short test that it was asked for ends.
    pub(in super::super) fn end_self_test_of(&mut self, queue: Queue) {
        if self.short_test().is_some_and(|test| test.controller_id == queue.controller_id()) {
            self.end_self_test(SelfTestOutcome::ABORTED_BY_RESET);
        }
    }

    /// Ends a short test whose controller is no more, however that went: its host has left or broken the protocol, or
    /// was silent for longer than its keep-alive. Its end is a Controller Level Reset (NVMe Base 2.3, Keep Alive, and
    /// Short Device Self-Test Operation).
    pub(in super::super) fn end_orphaned_self_test(&mut self) {
        if self.short_test().is_some_and(|test| !self.hosts.has_controller(test.controller_id)) {
            self.end_self_test(SelfTestOutcome::ABORTED_BY_RESET);
        }
    }

    fn short_test(&self) -> Option<&RunningTest> {
        self.self_tests.running.as_ref().filter(|test| test.code == SelfTestCode::SHORT)
    }

    /// Notes the end of a test that came to it meanwhile.
    fn settle_self_test(&mut self) {
        let now = self.drive.now();
        if let Some(test) = self.self_tests.running.filter(|test| test.ends_at() <= now) {
            self.self_tests.running = None;
            let power_on_ms = self.power_on_ms(test.ends_at());
            self.self_tests.note(test.code, SelfTestOutcome::PASSED, power_on_ms);
        }
    }

    /// Time switched on at an instant of the drive's time.
    fn power_on_ms(&self, at: Instant) -> u64 {
        self.options.saved.lifetime.power_on_ms.saturating_add(at.as_ns() / 1_000_000)
    }
}
