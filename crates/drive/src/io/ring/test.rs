//! The ring on real files, one I/O after the other: what is read is what lies there, and what goes wrong is told.

use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use measure::QueueDepth;
use plan::{Mix, Order, Sizes};
use rustix::fs::OFlags;

use super::*;

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
            ring.queue(Io {
                token: Io::token(0, slot),
                op: Op::Read,
                offset: block * 4096,
                len: 8192,
                direct: true,
            });
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

/// Goal: what never answers does not hold us, and its memory is not used for anything else.
/// Method: a pipe into which nobody writes.
#[test]
fn a_ring_with_io_in_flight_can_be_left() {
    let (reader, _writer) = std::io::pipe().expect("a pipe");
    let file = Arc::new(File::from(std::os::fd::OwnedFd::from(reader)));
    let mut ring =
        Ring::new(MonotonicClock::start(), file, &load(Order::Random, Mix::READ, 4096, 2), Seed::new(1))
            .expect("a ring");
    ring.queue(Io { token: Io::token(0, 1), op: Op::Read, offset: 0, len: 4096, direct: true });
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
    ring.queue(Io { token: 0, op: Op::Write, offset: 4096, len: 4096, direct: true });
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
