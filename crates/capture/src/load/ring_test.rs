//! Workers on a ring and real files: what a load writes is what lies there, and what goes wrong is counted.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use drive::io::Ring;
use measure::record::Op;
use measure::{Bytes, Instant, MonotonicClock, QueueDepth, Seed};
use plan::{Load, Mix, Order, Sizes, WriteData};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::{Control, IntervalStats, Tick, Worker, WorkerSpec, drive};

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
    let zeroes = Load { data: WriteData::Zeroes, ..load(Order::Sequential, Mix::WRITE, 4096, 4) };
    run(&zeroes, ways_in(&path).remove(0), MIB);
    assert_eq!(std::fs::read(&path).expect("a file"), vec![0; MIB as usize]);
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
