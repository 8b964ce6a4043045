//! The page cache in front of a drive with a closed form: so many bytes a second, one I/O after the other.

use std::cell::RefCell;
use std::rc::Rc;

use measure::record::TelemetryRow;

use super::*;

const MIB: u64 = 1 << 20;
/// 1 GiB of memory, copied at 2,000 MiB a second.
const HOST: SimulatedHost = SimulatedHost {
    bytes: 1 << 30,
    copy_bytes_per_s: 2000.0 * MIB as f64,
    io_bytes: 256 << 10,
    read_ahead_bytes: 128 << 10,
};

/// A drive of 100 MiB a second, and what it was given.
struct Slow {
    given: Rc<RefCell<Vec<Io>>>,
    in_flight: VecDeque<IoCompletion>,
    free_at: Instant,
}

impl Slow {
    fn new() -> Self {
        Self { given: Rc::default(), in_flight: VecDeque::new(), free_at: Instant::ZERO }
    }
}

impl VirtualDrive for Slow {
    fn submit(&mut self, now: Instant, io: Io) {
        self.given.borrow_mut().push(io);
        let span = Duration::from_nanos(u64::from(io.len) * 1_000_000_000 / (100 * MIB));
        self.free_at = self.free_at.max(now) + span;
        let result = if io.offset == u64::MAX { Err(5) } else { Ok(io.len) };
        self.in_flight.push_back(IoCompletion { token: io.token, t: self.free_at, result });
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

    fn sources(&self, _: &TelemetryPlan) -> Vec<(&'static str, Duration)> {
        Vec::new()
    }

    fn sample(&mut self, _: usize, now: Instant) -> Reading {
        Reading { row: TelemetryRow::failed(now, "none", Duration::ZERO, "no sensor"), page: None }
    }
}

/// A page cache, and what reaches its drive.
fn cache() -> (PageCache, Rc<RefCell<Vec<Io>>>) {
    let drive = Slow::new();
    let given = Rc::clone(&drive.given);
    (PageCache::new(Box::new(drive), HOST), given)
}

fn io(token: u64, op: Op, offset: u64, len: u64) -> Io {
    Io { token, op, offset, len: len as u32, direct: false }
}

/// Seconds at which each of `ios` was done, in their order; all are made at once.
fn run(cache: &mut PageCache, ios: &[Io]) -> Vec<f64> {
    let start = cache.now;
    ios.iter().for_each(|io| cache.submit(start, *io));
    let mut done = Vec::new();
    while done.len() < ios.len() {
        assert!(cache.next_completion().is_some(), "{done:?}");
        cache.advance(Instant::NEVER, &mut done);
    }
    assert!(done.is_sorted_by_key(|completion| completion.t));
    ios.iter()
        .map(|io| {
            let one = done.iter().find(|completion| completion.token == io.token).expect("each comes back");
            assert_eq!(one.result, Ok(io.len));
            one.t.since(start).as_secs_f64()
        })
        .collect()
}

fn written(given: &Rc<RefCell<Vec<Io>>>) -> u64 {
    given.borrow().iter().filter(|io| io.op == Op::Write).map(|io| u64::from(io.len)).sum()
}

fn near(got: f64, expected: f64, share: f64) {
    assert!((got / expected - 1.0).abs() < share, "{got} s and not {expected} s");
}

/// Goal: writes go as fast as they are copied until 15 % of the memory is dirty, then as fast as the drive. Closed form:
/// copying at c, draining at d once a tenth is dirty, 0.15 M is reached after c M (0.15 - 0.1 d / c) / (c - d) bytes.
#[test]
fn writers_wait_once_fifteen_percent_is_dirty() {
    let (mut cache, _) = cache();
    let (c, d, m) = (2000.0, 100.0, 1024.0);
    let knee = c * m * (0.15 - 0.1 * d / c) / (c - d);
    let free = run(&mut cache, &[io(0, Op::Write, 0, (knee * 0.98) as u64 * MIB)])[0];
    near(free, knee * 0.98 / c, 0.02);
    let held = run(&mut cache, &[io(0, Op::Write, 1 << 30, 200 * MIB)])[0];
    near(held, (200.0 - 0.02 * knee) / d, 0.03);
}

/// Goal: writers that wait share what the drive takes evenly. Method: four at once behind a full cache.
#[test]
fn writers_that_wait_take_turns() {
    let (mut cache, _) = cache();
    run(&mut cache, &[io(0, Op::Write, 0, 200 * MIB)]);
    let ios: Vec<Io> = (1..=4).map(|n| io(n, Op::Write, n << 30, 50 * MIB)).collect();
    for seconds in run(&mut cache, &ios) {
        near(seconds, 2.0, 0.03);
    }
}

/// Goal: each read-ahead waits for the queue of writes. Closed form: 64 of 256 KiB at 100 MiB a second are 160 ms.
#[test]
fn a_read_waits_behind_what_is_written_back() {
    let (mut cache, _) = cache();
    near(run(&mut cache, &[io(1, Op::Read, 5 << 30, 2 * MIB)])[0], 0.02 + 0.001, 0.01);
    run(&mut cache, &[io(0, Op::Write, 0, 200 * MIB)]);
    let start = cache.now;
    // A writer keeps the cache full beside it.
    cache.submit(start, io(2, Op::Write, 1 << 30, 1000 * MIB));
    cache.submit(start, io(1, Op::Read, 5 << 30, 2 * MIB));
    let mut done = Vec::new();
    while done.is_empty() {
        cache.advance(Instant::NEVER, &mut done);
    }
    assert_eq!(done[0].token, 1);
    near(done[0].t.since(start).as_secs_f64(), 16.0 * (64.0 * 0.0025 + 0.00125), 0.05);
}

/// Goal: nothing is lost, and nothing stays for ever. Method: less than the background share is with the drive 30 s later,
/// every byte once and in order, with nobody waiting.
#[test]
fn what_is_dirty_for_long_is_written_back() {
    let (mut cache, given) = cache();
    run(&mut cache, &[io(0, Op::Write, 0, 50 * MIB)]);
    assert_eq!(cache.next_completion(), None);
    let mut done = Vec::new();
    cache.advance(Instant::from_ns(29_000_000_000), &mut done);
    assert_eq!(written(&given), 0);
    let end = cache.advance(Instant::from_ns(40_000_000_000), &mut done);
    assert_eq!((done.len(), end), (0, Instant::from_ns(40_000_000_000)));
    assert_eq!((written(&given), cache.dirty_bytes, cache.writing_back), (50 * MIB, 0, 0));
    assert!(given.borrow().windows(2).all(|pair| pair[0].offset + u64::from(pair[0].len) == pair[1].offset));
}

#[test]
fn direct_io_and_deallocations_pass() {
    let (mut cache, given) = cache();
    let direct = Io { direct: true, ..io(3, Op::Write, 0, MIB) };
    let trim = io(4, Op::Trim, 0, MIB);
    run(&mut cache, &[direct, trim]);
    assert_eq!(*given.borrow(), [direct, trim]);
}

#[test]
fn a_read_that_fails_says_so() {
    let (mut cache, _) = cache();
    cache.submit(Instant::ZERO, io(1, Op::Read, u64::MAX, 4096));
    let mut done = Vec::new();
    cache.advance(Instant::NEVER, &mut done);
    assert_eq!((done[0].token, done[0].result, cache.next_completion()), (1, Err(5), None));
}

/// A host with hardly any memory writes at the drive's speed, and gets there.
#[test]
fn a_host_without_memory_still_writes() {
    let host = SimulatedHost { bytes: 4096, ..HOST };
    let mut cache = PageCache::new(Box::new(Slow::new()), host);
    near(run(&mut cache, &[io(0, Op::Write, 0, 10 * MIB)])[0], 0.1025, 0.01);
}
