//! A twin that is watched: simulated time, a simulated load, block statistics as the kernel would count them.
//!
//! The load stands for the work of others, of which the watch knows nothing: it sees counters and the SMART log, as on a
//! real drive.

use std::time::Duration;

use drive::io::{Io, IoCompletion, VirtualDrive};
use drive::telemetry::Reading;
use measure::record::{BlockCounters, Op, TelemetryRow};
use measure::{Bytes, Instant, Seed};

/// What is asked of the drive, one after another and again from the beginning: operation (none is idle), I/Os in flight,
/// size, seconds.
const WORK: [(Option<Op>, u64, u32, u64); 6] = [
    (Some(Op::Read), 4, 256 << 10, 120),
    (None, 0, 0, 30),
    (Some(Op::Read), 16, 1 << 20, 420),
    (None, 0, 0, 120),
    (Some(Op::Write), 8, 1 << 20, 90),
    (None, 0, 0, 60),
];

/// A twin under load.
pub(super) struct TwinUnderLoad {
    drive: Box<dyn VirtualDrive>,
    now: Instant,
    size: u64,
    token: u64,
    /// Token, operation, length and start of what is in flight.
    in_flight: Vec<(u64, Op, u32, Instant)>,
    done: Vec<IoCompletion>,
    block: BlockCounters,
    moved: (u64, u64),
    time_ns: (u64, u64),
    seed: Seed,
}

impl TwinUnderLoad {
    /// A twin of `size` bytes.
    pub(super) fn new(drive: Box<dyn VirtualDrive>, size: u64) -> Self {
        Self {
            drive,
            now: Instant::ZERO,
            size,
            token: 0,
            in_flight: Vec::new(),
            done: Vec::new(),
            block: BlockCounters::default(),
            moved: (0, 0),
            time_ns: (0, 0),
            seed: Seed::new(19),
        }
    }

    /// Where its clock stands.
    pub(super) const fn now(&self) -> Instant {
        self.now
    }

    /// Lives until `until`, under load.
    pub(super) fn advance(&mut self, until: Instant) {
        while self.now < until {
            let (op, depth, len) = self.asked();
            while let Some(op) = op
                && (self.in_flight.len() as u64) < depth
            {
                self.submit(op, len);
            }
            self.done.clear();
            // An idle drive is looked at now and then, because work may begin.
            let stop =
                if self.in_flight.is_empty() { until.min(self.now + Duration::from_secs(1)) } else { until };
            let mut done = std::mem::take(&mut self.done);
            self.now = self.drive.advance(stop, &mut done).max(self.now);
            done.iter().for_each(|completion| self.complete(completion));
            self.done = done;
        }
    }

    fn asked(&self) -> (Option<Op>, u64, u32) {
        let lap: u64 = WORK.iter().map(|work| work.3).sum();
        let mut within = self.now.as_ns() / 1_000_000_000 % lap;
        for (op, depth, len, seconds) in WORK {
            if within < seconds {
                return (op, depth, len);
            }
            within -= seconds;
        }
        (None, 0, 0)
    }

    fn submit(&mut self, op: Op, len: u32) {
        self.token += 1;
        let places = (self.size / u64::from(len)).max(1);
        let offset = self.seed.part(self.token).as_u64() % places * u64::from(len);
        self.drive.submit(self.now, Io { token: self.token, op, offset, len, direct: true });
        self.in_flight.push((self.token, op, len, self.now));
    }

    fn complete(&mut self, completion: &IoCompletion) {
        let Some(index) = self.in_flight.iter().position(|io| io.0 == completion.token) else { return };
        let (_, op, len, begun) = self.in_flight.swap_remove(index);
        let ns = completion.t.since(begun).as_nanos() as u64;
        if op == Op::Write {
            self.block.writes += 1;
            self.moved.1 += u64::from(len);
            self.time_ns.1 += ns;
        } else {
            self.block.reads += 1;
            self.moved.0 += u64::from(len);
            self.time_ns.0 += ns;
        }
    }

    /// Block statistics, as the kernel counts them.
    pub(super) fn block_reading(&self) -> Reading {
        let ms = |ns: u64| (ns / 1_000_000) as u32;
        let mut row = TelemetryRow::empty(self.now, "blockstat", Duration::ZERO);
        (row.device_read, row.device_written) =
            (Some(Bytes::new(self.moved.0)), Some(Bytes::new(self.moved.1)));
        row.block = Some(BlockCounters {
            read_ms: ms(self.time_ns.0),
            write_ms: ms(self.time_ns.1),
            queue_ms: ms(self.time_ns.0 + self.time_ns.1),
            in_flight: self.in_flight.len() as u32,
            ..self.block
        });
        Reading { row, page: None }
    }

    /// The SMART log.
    pub(super) fn smart_reading(&mut self) -> Reading {
        self.drive.sample(0, self.now)
    }
}
