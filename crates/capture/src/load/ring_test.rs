//! The ring on real files: what is written is what is read, and what goes wrong is told.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use measure::{Bytes, QueueDepth};
use rustix::fs::OFlags;

use super::*;
use crate::load::{Control, IntervalStats, Tick, Worker, WorkerSpec, drive};
use crate::plan::{Data, Mix, Order, Sizes};

const MIB: u64 = 1 << 20;

/// A scratch file of that length, full of data, and the folder it is in.
fn scratch(len: u64) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("t.bin");
    std::fs::write(&path, vec![7; len as usize]).expect("space on disk");
    (folder, path)
}

/// The file through the page cache, and past it where the file system has that.
fn ways_in(path: &Path) -> Vec<Arc<File>> {
    let open = |flags: OFlags| {
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits() as i32).open(path).map(Arc::new)
    };
    let mut ways = vec![open(OFlags::empty()).expect("the file")];
    ways.extend(open(OFlags::DIRECT));
    ways
}

fn load(order: Order, mix: Mix, size: u32, depth: u16) -> Load {
    let depth = QueueDepth::new(depth).expect("not zero");
    Load { depth, laps: Some(1), ..Load::new("test", order, mix, Sizes::Fixed(size)) }
}

/// Runs one worker to its end.
fn run(load: &Load, file: Arc<File>, len: u64) -> IntervalStats {
    let clock = MonotonicClock::start();
    let mut path = Ring::new(clock, file, load, Seed::new(3)).expect("a ring");
    assert_eq!(path.note(), None, "no fallback at this size");
    let mut worker = Worker::new(WorkerSpec {
        load,
        region: 0..len,
        thread: 0,
        worker: 0,
        phase: 0,
        seed: Seed::new(1),
        start: Instant::ZERO,
        end: Instant::NEVER,
        record_ops: true,
        control: Control::new(u64::MAX),
    })
    .expect("a load that fits");
    let tick =
        |now, _: &mut [Worker], _: &mut Ring| Tick { next: now + Duration::from_secs(1), leave: false };
    drive(std::slice::from_mut(&mut worker), &mut path, Instant::ZERO, tick).expect("a drive that answers");
    worker.take_interval()
}

/// Goal: a pass of writes reaches every byte, with data that nothing can make smaller.
#[test]
fn a_lap_of_writes_fills_the_file_with_sectors_that_all_differ() {
    for way in 0..2 {
        let (_folder, path) = scratch(8 * MIB);
        let Some(file) = ways_in(&path).into_iter().nth(way) else { continue };
        let stats = run(&load(Order::Random, Mix::WRITE, 65_536, 8), file, 8 * MIB);
        assert_eq!((stats.ops[0].ios, stats.ops[0].errors), (128, 0));
        assert_eq!(stats.ops[0].bytes, Bytes::new(8 * MIB));
        assert_eq!((stats.ops[0].slat.count(), stats.ops[0].clat.count()), (128, 128));
        let content = std::fs::read(&path).expect("a file");
        let sectors: std::collections::HashSet<&[u8]> = content.chunks(512).collect();
        assert_eq!(sectors.len(), content.len() / 512, "no sector twice");
        // Random bytes: each value has its share of 1/256, within six sigma.
        let mut counts = [0f64; 256];
        content.iter().for_each(|byte| counts[usize::from(*byte)] += 1.0);
        let share = content.len() as f64 / 256.0;
        assert!(counts.iter().all(|count| (count - share).abs() < 6.0 * share.sqrt()), "{counts:?}");
    }
}

#[test]
fn zeroes_are_zeroes() {
    let (_folder, path) = scratch(MIB);
    let zeroes = Load { data: Data::Zeroes, ..load(Order::Sequential, Mix::WRITE, 4096, 4) };
    run(&zeroes, ways_in(&path).remove(0), MIB);
    assert_eq!(std::fs::read(&path).expect("a file"), vec![0; MIB as usize]);
}

/// Goal: a read brings the bytes of its offset. Method: each 4 KiB block of the file holds its own number.
#[test]
fn a_read_brings_what_lies_at_its_offset() {
    let (_folder, path) = scratch(MIB);
    for file in ways_in(&path) {
        let content: Vec<u8> = (0..MIB / 8).flat_map(|word| (word / 512).to_le_bytes()).collect();
        std::fs::write(&path, &content).expect("space on disk");
        let load = load(Order::Random, Mix { read: 50, write: 50, trim: 0 }, 8192, 4);
        let mut ring = Ring::new(MonotonicClock::start(), file, &load, Seed::new(3)).expect("a ring");
        let mut done = Vec::new();
        for (slot, block) in [(0u16, 17u64), (1, 250), (2, 0), (3, 100)] {
            ring.queue(Io { token: Io::token(0, slot), op: Op::Read, offset: block * 4096, len: 8192 });
        }
        let issued = ring.commit().expect("a ring that takes I/O");
        while done.len() < 4 {
            ring.reap(Instant::NEVER, &mut done).expect("a ring that answers");
        }
        assert!(done.iter().all(|io| io.t >= issued && io.result == Ok(8192)));
        let stride = ring.buffers.layout.stride;
        for (slot, block) in [(0usize, 17u64), (1, 250), (2, 0), (3, 100)] {
            let read = &ring.buffers.memory.bytes()[slot * stride..][..8192];
            assert_eq!(read, &content[block as usize * 4096..][..8192], "slot {slot}");
        }
    }
}

#[test]
fn a_trim_makes_a_hole_and_keeps_the_size() {
    let (_folder, path) = scratch(MIB);
    let stats = run(&load(Order::Sequential, Mix::TRIM, 65_536, 4), ways_in(&path).remove(0), MIB);
    assert_eq!((stats.ops[0].op, stats.ops[0].ios, stats.ops[0].errors), (Op::Trim, 16, 0));
    let metadata = std::fs::metadata(&path).expect("a file");
    assert_eq!((metadata.len(), metadata.blocks()), (MIB, 0));
}

/// Goal: a drive that gets smaller under the load is errors, counted, and no crash.
#[test]
fn reads_behind_the_end_are_errors() {
    let (_folder, path) = scratch(MIB);
    for file in ways_in(&path) {
        file.set_len(MIB / 2 + 512).expect("a file");
        let stats = run(&load(Order::Sequential, Mix::READ, 4096, 4), file, MIB);
        let reads = &stats.ops[0];
        assert_eq!(
            (reads.ios, reads.errors),
            (128, 128),
            "the block that is cut is short, so it is an error"
        );
        assert_eq!(reads.clat.count(), 128);
        assert!(stats.rows.iter().all(|row| row.errno.is_some() == (row.offset >= MIB / 2)));
    }
}

#[test]
fn a_full_device_is_an_error_with_its_number() {
    let full = OpenOptions::new().write(true).open("/dev/full").expect("the kernel has it");
    let stats = run(&load(Order::Sequential, Mix::WRITE, 4096, 2), Arc::new(full), MIB);
    assert_eq!((stats.ops[0].ios, stats.ops[0].errors), (0, 256));
    assert!(stats.rows.iter().all(|row| row.errno == Some(Errno::NOSPC.raw_os_error())));
}

/// Goal: what never answers does not hold us, and its memory is not used for anything else.
/// Method: a pipe into which nobody writes.
#[test]
fn a_ring_with_io_in_flight_can_be_left() {
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let file = Arc::new(File::from(std::os::fd::OwnedFd::from(reader)));
    let mut ring =
        Ring::new(MonotonicClock::start(), file, &load(Order::Random, Mix::READ, 4096, 2), Seed::new(1))
            .expect("a ring");
    ring.queue(Io { token: Io::token(0, 1), op: Op::Read, offset: 0, len: 4096 });
    ring.commit().expect("a ring that takes I/O");
    let mut done = Vec::new();
    let until = ring.now() + Duration::from_millis(1);
    while ring.now() < until {
        ring.reap(until, &mut done).expect("a timeout is no error");
    }
    assert_eq!((done.len(), ring.in_flight), (0, 1));
}

#[test]
fn a_depth_beyond_the_kernels_is_refused_with_advice() {
    let (_folder, path) = scratch(4096);
    let load = load(Order::Random, Mix::READ, 4096, 40_000);
    let error = Ring::new(MonotonicClock::start(), ways_in(&path).remove(0), &load, Seed::new(1));
    let text = error.map(|_| ()).expect_err("too deep").to_string();
    assert!(text.contains("keep 40000 I/Os") && text.contains("at most 32768"), "{text}");
}

/// Goal: the loop's other side of a fallback. Method: buffers that were never registered.
#[test]
fn unregistered_buffers_work_the_same() {
    let (_folder, path) = scratch(MIB);
    let file = ways_in(&path).remove(0);
    let load = load(Order::Sequential, Mix::WRITE, 4096, 1);
    let mut ring =
        Ring::new(MonotonicClock::start(), Arc::clone(&file), &load, Seed::new(1)).expect("a ring");
    ring.buffers.registered = false;
    ring.queue(Io { token: 0, op: Op::Write, offset: 4096, len: 4096 });
    ring.commit().expect("a ring that takes I/O");
    let mut done = Vec::new();
    while done.is_empty() {
        ring.reap(Instant::NEVER, &mut done).expect("a ring that answers");
    }
    assert_eq!(done[0].result, Ok(4096));
    let mut block = [0; 4096];
    file.read_exact_at(&mut block, 4096).expect("a file");
    assert_eq!(block, ring.buffers.memory.bytes()[..4096]);
}
