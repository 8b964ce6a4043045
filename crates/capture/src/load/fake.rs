//! A simulated drive with a closed form, for tests: one server of fixed bandwidth, then a fixed latency.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use measure::record::TelemetryRow;
use measure::{Instant, Kelvin};

use drive::io::{Io, IoCompletion};

use drive::io::VirtualDrive;
use drive::settings::fake::FakeFeatures;
use drive::telemetry::Reading;
use plan::TelemetryPlan;

/// A drive with a closed form.
pub(crate) struct FakeDrive {
    /// Each byte takes so long in the server.
    pub(crate) ns_per_byte: u64,
    /// And each I/O so much longer until it is back.
    pub(crate) latency_ns: u64,
    /// From then on nothing completes.
    pub(crate) dies_at: Instant,
    /// What an I/O fails with.
    pub(crate) fails: fn(&Io) -> Option<i32>,
    /// Composite temperature at a time; `None` is a gap.
    pub(crate) composite: fn(Instant) -> Option<u16>,
    /// Its settings.
    pub(crate) features: FakeFeatures,
    /// Every I/O it was given, and when.
    pub(crate) log: Vec<(Instant, Io)>,
    /// What it has not given back, in order.
    pub(crate) in_flight: VecDeque<IoCompletion>,
    /// When its server is free again.
    pub(crate) free_at_ns: u64,
}

impl FakeDrive {
    /// A drive of 1 ns a byte (1 GB/s) and 100 µs, at 300 K.
    pub(crate) fn new() -> Self {
        Self {
            ns_per_byte: 1,
            latency_ns: 100_000,
            dies_at: Instant::NEVER,
            fails: |_| None,
            composite: |_| Some(300),
            features: FakeFeatures::new(),
            log: Vec::new(),
            in_flight: VecDeque::new(),
            free_at_ns: 0,
        }
    }
}

impl VirtualDrive for FakeDrive {
    fn submit(&mut self, now: Instant, io: Io) {
        self.log.push((now, io));
        self.features.step();
        self.free_at_ns = self.free_at_ns.max(now.as_ns()) + u64::from(io.len) * self.ns_per_byte;
        let t = Instant::from_ns(self.free_at_ns + self.latency_ns);
        let result = (self.fails)(&io).map_or(Ok(io.len), Err);
        if t < self.dies_at {
            self.in_flight.push_back(IoCompletion { token: io.token, t, result });
        }
    }

    fn next_completion(&mut self) -> Option<Instant> {
        self.in_flight.front().map(|completion| completion.t)
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant {
        let to = self.next_completion().map_or(until, |t| t.min(until));
        while let Some(completion) = self.in_flight.pop_front_if(|completion| completion.t <= to) {
            done.push(completion);
        }
        to
    }

    fn sources(&self, plan: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        vec![("smart", plan.smart_period)]
    }

    fn sample(&mut self, _source: usize, now: Instant) -> Reading {
        let row = match (self.composite)(now) {
            Some(kelvin) => TelemetryRow {
                composite: Some(Kelvin::from_kelvin(kelvin)),
                ..TelemetryRow::empty(now, "smart", Duration::ZERO)
            },
            None => TelemetryRow::failed(now, "smart", Duration::ZERO, "no answer"),
        };
        Reading { row, page: None }
    }
}

/// The drive for a session, and for the test that looks at it afterwards.
pub(crate) struct SharedFake(pub(crate) Rc<RefCell<FakeDrive>>);

impl VirtualDrive for SharedFake {
    fn submit(&mut self, now: Instant, io: Io) {
        self.0.borrow_mut().submit(now, io);
    }

    fn next_completion(&mut self) -> Option<Instant> {
        self.0.borrow_mut().next_completion()
    }

    fn advance(&mut self, until: Instant, done: &mut Vec<IoCompletion>) -> Instant {
        self.0.borrow_mut().advance(until, done)
    }

    fn sources(&self, plan: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        self.0.borrow().sources(plan)
    }

    fn sample(&mut self, source: usize, now: Instant) -> Reading {
        self.0.borrow_mut().sample(source, now)
    }
}
