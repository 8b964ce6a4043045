//! What a run tells whoever watches it while it is under way.

use std::time::Duration;

use measure::record::Op;
use measure::{Bytes, BytesPerSec, Instant, Kelvin, Watts};

use plan::{Phase, Plan};

/// Watches a run. Called by the thread that runs the session: what takes long here delays the record.
pub trait Observer {
    /// A phase begins.
    fn phase_begins(&mut self, index: usize, phase: &Phase) {
        let _ = (index, phase);
    }

    /// How far it has come; about four times a second of run time.
    fn progress(&mut self, progress: &Progress<'_>) {
        let _ = progress;
    }

    /// Something that whoever reads the numbers has to know; it also stands in the manifest.
    fn note(&mut self, text: &str) {
        let _ = text;
    }

    /// A setting that could not be put back, and what to do; it also stands in the manifest.
    fn left_changed(&mut self, text: &str) {
        let _ = text;
    }
}

/// Watches nothing.
impl Observer for () {}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress<'a> {
    /// Which phase, counted from 0.
    pub phase_index: usize,
    /// Of how many.
    pub phase_count: usize,
    /// Its name.
    pub phase: &'a str,
    /// Time since the run began.
    pub elapsed: Duration,
    /// How long the whole run takes; `None` where a phase ends by bytes or laps at an unknown speed.
    pub expected: Option<Duration>,
    /// How long it still takes.
    pub left: Option<Duration>,
    /// Data moved by all operations together, over the time since the last call; `None` when idle.
    pub speed: Option<BytesPerSec>,
    /// The share of it that is read.
    pub read_speed: Option<BytesPerSec>,
    /// The share of it that is written.
    pub write_speed: Option<BytesPerSec>,
    /// I/Os a second over the same time.
    pub ios_per_s: Option<f64>,
    /// The latest composite temperature, which for NVMe drives is also what hwmon tells.
    pub composite: Option<Kelvin>,
    /// The latest power.
    pub power: Option<Watts>,
    /// I/Os that have failed in this run.
    pub errors: u64,
}

/// Calls come this far apart in run time.
const PROGRESS_SPAN: Duration = Duration::from_millis(250);

/// Adds up what lies between two calls.
#[derive(Debug)]
pub(super) struct Meter {
    since: Instant,
    bytes: Bytes,
    read: Bytes,
    written: Bytes,
    ios: u64,
    idle: bool,
    expected: Vec<Option<Duration>>,
    phase_start: Instant,
}

impl Meter {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            since: Instant::ZERO,
            bytes: Bytes::ZERO,
            read: Bytes::ZERO,
            written: Bytes::ZERO,
            ios: 0,
            idle: true,
            expected: plan.phases.iter().map(Phase::expected_duration).collect(),
            phase_start: Instant::ZERO,
        }
    }

    /// A phase began: rates are those of the phase alone.
    pub(super) fn phase_begins(&mut self, t: Instant) {
        self.begin_span(t);
        self.phase_start = t;
    }

    fn begin_span(&mut self, t: Instant) {
        (self.since, self.bytes, self.ios, self.idle) = (t, Bytes::ZERO, 0, true);
        (self.read, self.written) = (Bytes::ZERO, Bytes::ZERO);
    }

    /// Counts what completed.
    pub(super) fn count(&mut self, op: Op, bytes: Bytes, ios: u64) {
        self.bytes += bytes;
        match op {
            Op::Read => self.read += bytes,
            Op::Write => self.written += bytes,
            Op::Trim | Op::Idle => {}
        }
        self.ios += ios;
        self.idle = false;
    }

    /// What to tell at `now`; `None` when the last time was a moment ago.
    pub(super) fn progress<'a>(
        &mut self,
        plan: &'a Plan,
        phase_index: usize,
        now: Instant,
    ) -> Option<Progress<'a>> {
        let span = now.since(self.since);
        if span < PROGRESS_SPAN {
            return None;
        }
        let loaded = !self.idle;
        let speed = loaded.then(|| self.bytes.per(span)).flatten();
        let ios_per_s = loaded.then(|| self.ios as f64 / span.as_secs_f64());
        let part = |bytes: Bytes| loaded.then(|| bytes.per(span)).flatten();
        let (read_speed, write_speed) = (part(self.read), part(self.written));
        self.begin_span(now);
        let left = self.left(phase_index, now);
        Some(Progress {
            phase_index,
            phase_count: plan.phases.len(),
            phase: plan.phases.get(phase_index).map_or("", |phase| phase.name.as_str()),
            elapsed: now.since(Instant::ZERO),
            expected: left.map(|left| now.since(Instant::ZERO) + left),
            left,
            speed,
            read_speed,
            write_speed,
            ios_per_s,
            composite: None,
            power: None,
            errors: 0,
        })
    }

    fn left(&self, phase_index: usize, now: Instant) -> Option<Duration> {
        let (current, later) = self.expected.get(phase_index..)?.split_first()?;
        let current = (*current)?.saturating_sub(now.since(self.phase_start));
        later.iter().try_fold(current, |sum, phase| phase.map(|span| sum + span))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn rates_are_over_the_time_between_two_calls_and_the_rest_is_counted_down() {
        let phases =
            vec![Phase::idle("a", Duration::from_secs(10)), Phase::idle("b", Duration::from_secs(5))];
        let plan = Plan { phases, ..Plan::new("p") };
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let mut meter = Meter::new(&plan);
        meter.phase_begins(at(0));
        assert_eq!(meter.progress(&plan, 0, at(100)), None);
        meter.count(Op::Read, Bytes::new(500_000), 10);
        let progress = meter.progress(&plan, 0, at(500)).expect("due");
        assert_eq!(progress.speed, Some(BytesPerSec::new(1e6)));
        assert_eq!(
            (progress.read_speed, progress.write_speed),
            (progress.speed, Some(BytesPerSec::new(0.0)))
        );
        assert_eq!(progress.ios_per_s, Some(20.0));
        assert_eq!(progress.left, Some(Duration::from_millis(14_500)));
        assert_eq!(progress.expected, Some(Duration::from_secs(15)));
        let idle = meter.progress(&plan, 0, at(1000)).expect("due");
        assert_eq!((idle.speed, idle.ios_per_s), (None, None));
    }
}
