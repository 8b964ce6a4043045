//! Accesses that are several I/Os one after the other, on a drive with a closed form: 1 ns a byte and 100 µs.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use drive::io::VirtualPath;
use measure::record::OpRow;
use measure::{Bytes, Instant, QueueDepth, Seed};
use plan::{Load, Mix, Order, Sizes};

use super::fake::{FakeDrive, SharedFake};
use super::{Control, Ended, Halt, Tick, Worker, WorkerSpec, drive};

/// Runs `load` for `end`, halted at `halt`; returns what the drive was given, the rows and how it ended.
fn run(
    load: &Load,
    end: Instant,
    halt: Instant,
    fails: bool,
) -> (Rc<RefCell<FakeDrive>>, Vec<OpRow>, Worker) {
    let fake = Rc::new(RefCell::new(FakeDrive::new()));
    if fails {
        fake.borrow_mut().fails = |io| (io.offset % 1_000_000 == 256_000).then_some(5);
    }
    let control = Control::new(1000);
    let mut worker = Worker::new(WorkerSpec {
        load,
        region: 0..100_000_000,
        thread: 0,
        worker: 0,
        phase: 0,
        seed: Seed::new(1),
        start: Instant::ZERO,
        end,
        record_ops: true,
        control: control.clone(),
    })
    .expect("a load that fits");
    let mut path = VirtualPath::new(Box::new(SharedFake(Rc::clone(&fake))));
    let tick = |now: Instant, _: &mut [Worker], _: &mut VirtualPath| {
        if now >= halt {
            control.halt(Halt::Drain);
        }
        Tick { next: if now < halt { halt } else { Instant::NEVER }, leave: false }
    };
    drive(std::slice::from_mut(&mut worker), &mut path, Instant::ZERO, tick).expect("it answers");
    let rows = std::mem::take(&mut worker.interval().rows);
    (fake, rows, worker)
}

fn load(laps: u64) -> Load {
    Load {
        split: Some(Bytes::new(256_000)),
        bytes: Some(Bytes::new(1_000_000 * laps)),
        think_time: Duration::from_millis(3),
        ..Load::new("l", Order::Sequential, Mix::READ, Sizes::Fixed(1_000_000))
    }
}

/// Goal: a megabyte is read as three I/Os of 256 kB and one of 232 kB, each when the one before is back; the row is the
/// megabyte, the intervals have the I/Os, and the program thinks once an access.
#[test]
fn an_access_is_made_of_ios_one_after_the_other() {
    let (fake, rows, mut worker) = run(&load(2), Instant::NEVER, Instant::NEVER, false);
    let given: Vec<(u64, u64, u32)> =
        fake.borrow().log.iter().map(|(t, io)| (t.as_ns(), io.offset, io.len)).collect();
    let first = [
        (0, 0, 256_000),
        (356_000, 256_000, 256_000),
        (712_000, 512_000, 256_000),
        (1_068_000, 768_000, 232_000),
    ];
    let second = first.map(|(t, offset, len)| (t + 1_400_000 + 3_000_000, offset + 1_000_000, len));
    assert_eq!(given, [first, second].concat());
    let accesses: Vec<(u64, u64, u32, Duration)> =
        rows.iter().map(|row| (row.t.as_ns(), row.offset, row.len, row.span())).collect();
    let span = Duration::from_nanos(1_400_000);
    assert_eq!(accesses, [(0, 0, 1_000_000, span), (4_400_000, 1_000_000, 1_000_000, span)]);
    let stats = &worker.interval().ops[0];
    assert_eq!((stats.ios, stats.bytes), (8, Bytes::new(2_000_000)));
    assert_eq!(stats.clat.max(), Some(Duration::from_nanos(356_000)));
}

/// Goal: the time of a phase cuts no access short, because that would leave out the longest; a halt does, at once.
#[test]
fn the_time_lets_an_access_end_and_a_halt_does_not() {
    let middle = Instant::from_ns(500_000);
    let (fake, rows, worker) = run(&load(9), middle, Instant::NEVER, false);
    assert_eq!((fake.borrow().log.len(), rows.len(), worker.ended()), (4, 1, Some(Ended::Duration)));
    let (fake, rows, worker) = run(&load(9), Instant::NEVER, middle, false);
    assert_eq!((fake.borrow().log.len(), rows.len(), worker.ended()), (2, 0, Some(Ended::Halted)));
}

/// Goal: nobody goes on with an access of which a part failed, and its row says so.
#[test]
fn an_access_ends_with_its_first_error() {
    let (fake, rows, mut worker) = run(&load(3), Instant::NEVER, Instant::NEVER, true);
    assert_eq!((fake.borrow().log.len(), rows.len()), (6, 3));
    assert!(rows.iter().all(|row| (row.len, row.errno) == (1_000_000, Some(5))));
    let stats = &worker.interval().ops[0];
    assert_eq!((stats.ios, stats.errors, stats.bytes), (3, 3, Bytes::new(768_000)));
}

/// Goal: depth is in accesses, and a rate counts what has been sent. Method: four accesses at once at 1 MB/s.
#[test]
fn a_rate_holds_the_parts_of_an_access() {
    let rate = measure::BytesPerSec::new(1e6);
    let depth = QueueDepth::new(4).expect("not zero");
    let load = Load { depth, rate: Some(rate), think_time: Duration::ZERO, ..load(4) };
    let (fake, rows, worker) = run(&load, Instant::NEVER, Instant::NEVER, false);
    assert_eq!((rows.len(), worker.in_flight(), worker.ended()), (4, 0, Some(Ended::Bytes)));
    let log = &fake.borrow().log;
    let last = log.last().expect("I/Os").0.as_secs_f64();
    assert!((3.5..=4.0).contains(&last), "{last} s");
    // Parts of four accesses are never further apart than the rate has it.
    let gaps = log.windows(2).map(|pair| pair[1].0.since(pair[0].0).as_secs_f64());
    assert!(gaps.fold(0.0, f64::max) < 0.3);
}
