//! What the load engine itself costs: I/Os a second of one worker on the null path, beside which every number that
//! heatsoak measures can be held. `cargo run --release -p heatsoak-capture --example floor`
//!
//! The same for fio: `fio --name=floor --ioengine=null --rw=randread --bs=4k --iodepth=32 --size=1g
//! --time_based --runtime=3 --norandommap`.

use std::io::Write as _;
use std::time::Duration;

use ::drive::io::NullPath;
use capture::load::{Control, Tick, Worker, WorkerSpec, drive};
use measure::{Instant, MonotonicClock, QueueDepth, Seed};
use plan::{Load, Mix, Order, Sizes};

/// Size of the target that is not there.
const TARGET_BYTES: u64 = 1 << 40;
/// How long each load runs.
const SPAN: Duration = Duration::from_secs(2);

fn main() {
    let random = |name, visit_once, depth| {
        let depth = QueueDepth::new(depth).expect("not zero");
        (name, Load { visit_once, depth, ..Load::new(name, Order::Random, Mix::READ, Sizes::Fixed(4096)) })
    };
    let sequential =
        Load { order: Order::Sequential, ..random("sequential read, 4 KiB, depth 32", false, 32).1 };
    let mixed = Load {
        mix: Mix { read: 70, write: 30, trim: 0 },
        sizes: Sizes::LogUniform { min: 4096, max: 1 << 20, step: 4096 },
        ..random("", false, 32).1
    };
    let loads = [
        ("sequential read, 4 KiB, depth 32", sequential),
        random("random read, 4 KiB, depth 32, drawn anew", false, 32),
        random("random read, 4 KiB, depth 32, visit once", true, 32),
        random("random read, 4 KiB, depth 1, drawn anew", false, 1),
        ("random 70/30, log-uniform to 1 MiB, depth 32", mixed),
    ];
    let mut out = std::io::stdout();
    for (name, load) in loads {
        let ios_per_s = measure(&load);
        // Nobody to write to is nothing to fail about.
        let _ = writeln!(out, "{:>8.1} M I/O/s  {:>5.1} ns each  {name}", ios_per_s / 1e6, 1e9 / ios_per_s);
    }
}

/// I/Os a second of one worker on the null path, intervals of 100 ms.
fn measure(load: &Load) -> f64 {
    let clock = MonotonicClock::start();
    let spec = WorkerSpec {
        load,
        region: 0..TARGET_BYTES,
        thread: 0,
        worker: 0,
        phase: 0,
        seed: Seed::new(1),
        start: Instant::ZERO,
        end: Instant::ZERO + SPAN,
        record_ops: false,
        control: Control::new(0),
    };
    let mut worker = Worker::new(spec).expect("the load fits the target");
    let mut path = NullPath::new(clock, worker.depth());
    let mut ios = 0;
    let mut count =
        |worker: &mut Worker| ios += worker.take_interval().ops.iter().map(|op| op.ios).sum::<u64>();
    let driven = drive(std::slice::from_mut(&mut worker), &mut path, Instant::ZERO, |now, workers, _| {
        workers.iter_mut().for_each(&mut count);
        Tick { next: now + Duration::from_millis(100), leave: false }
    });
    driven.expect("the null path does not fail");
    count(&mut worker);
    ios as f64 / SPAN.as_secs_f64()
}
