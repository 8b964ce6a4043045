//! I/O commands: data, ranges, limits, and the drive's pace.

use nvme::command::{DeallocateRange, NSID_ALL};
use proptest::prelude::*;

use super::*;

const BLOCKS: u64 = 1_024_209_543_168 / 512;

fn deallocate(host: &mut Host<Subsystem>, ranges: &[(u64, u32)]) -> CommandEnd {
    let ranges: Vec<_> = ranges
        .iter()
        .map(|(start, blocks)| DeallocateRange { start: Lba::new(*start), blocks: *blocks, attributes: 0 })
        .collect();
    let command = IoCommand::DatasetManagement { ranges: ranges.len() as u16, deallocate: true };
    // The kernel sends a page, however few ranges there are.
    let mut data = DeallocateRange::encode_all(&ranges);
    data.resize(4096, 0);
    let queue = host.io;
    host.send(queue, command.encode(1), 0, &data)
}

fn without_data(host: &mut Host<Subsystem>, command: IoCommand) -> Result<(), Status> {
    let queue = host.io;
    host.send(queue, command.encode(1), 0, &[]).map(|_| ())
}

#[test]
fn what_was_written_is_what_is_read() {
    let mut host = host("ssd1");
    let data: Vec<u8> = (0..128 * 1024).map(|index| (index / 7) as u8).collect();
    host.write(100, &data).expect("in range");
    assert_eq!(host.read_blocks(100, data.len()).as_deref(), Ok(&data[..]));
    assert_eq!(host.read_blocks(99, 1024).expect("in range")[512..], data[..512]);
    // In the capsule.
    let queue = host.io;
    let small = vec![0xab; 4096];
    let command = IoCommand::Write(transfer(100, 4096)).encode(1);
    host.send_in_capsule(queue, command, &small).expect("in range");
    assert_eq!(host.read_blocks(100, 4096), Ok(small));
    // The last block, and the one after it.
    host.write(BLOCKS - 1, &data[..512]).expect("the last one");
    let beyond = host.write(BLOCKS - 1, &data[..1024]).expect_err("one too many");
    assert_eq!(beyond, never(Status::LBA_OUT_OF_RANGE));
    assert_eq!(host.read_blocks(u64::MAX - 1, 4096), Err(never(Status::LBA_OUT_OF_RANGE)));
}

#[test]
fn deallocated_blocks_read_as_zeros() {
    let mut host = host("ssd1");
    let data = vec![0x55; 8192];
    host.write(0, &data).expect("in range");
    deallocate(&mut host, &[(1, 2), (10, 1)]).expect("in range");
    let read = host.read_blocks(0, 8192).expect("in range");
    for (block, bytes) in read.chunks(512).enumerate() {
        let wanted = if [1, 2, 10].contains(&block) { 0 } else { 0x55 };
        assert!(bytes.iter().all(|byte| *byte == wanted), "block {block}");
    }
    // One range out of reach: nothing is done for the others.
    let refused = deallocate(&mut host, &[(0, 1), (BLOCKS, 1)]).expect_err("out of reach");
    assert_eq!(refused, never(Status::LBA_OUT_OF_RANGE));
    assert_eq!(host.read_blocks(0, 512), Ok(vec![0x55; 512]));
    without_data(&mut host, IoCommand::WriteZeroes { range: transfer(0, 512), deallocate: false })
        .expect("in range");
    assert_eq!(host.read_blocks(0, 512), Ok(vec![0; 512]));
    // The whole drive, 2 TB in blocks of 512 bytes.
    deallocate(&mut host, &[(0, BLOCKS as u32)]).expect("in range");
    assert_eq!(host.service.backing.used_bytes().expect("memory"), 0);
}

#[test]
fn compare_finds_the_block_that_differs() {
    let mut host = host("ssd1");
    let mut data = vec![1; 4096];
    host.write(64, &data).expect("in range");
    let command = IoCommand::Compare(transfer(64, 4096)).encode(1);
    let queue = host.io;
    host.send(queue, command, 0, &data).expect("the same");
    data[3 * 512] = 2;
    assert_eq!(host.send(queue, command, 0, &data), Err(never(Status::COMPARE_FAILURE)));
    let log = nvme::log::errors::ErrorEntry::decode_all(&host.get_log(LogId::ERRORS, 64).expect("a page"));
    assert_eq!(log.expect("an entry")[0].lba.as_u64(), 67);
}

#[test]
fn commands_without_data_take_their_turn() {
    let mut host = host("ssd1");
    without_data(&mut host, IoCommand::Flush).expect("always");
    without_data(&mut host, IoCommand::Verify(transfer(0, 4096))).expect("in range");
    let queue = host.io;
    let flush_all = IoCommand::Flush.encode(NSID_ALL);
    host.send(queue, flush_all, 0, &[]).expect("VWC says so");
    let before = host.now;
    host.read_blocks(0, 1 << 20).expect("in range");
    let span = host.now - before;
    // 1 MiB at the profile's 2.8 GB/s, and its latency of 55 us and up.
    assert!(span > Duration::from_micros(374 + 55) && span < Duration::from_micros(700), "{span:?}");
}

#[test]
fn what_cannot_be_is_refused_in_the_words_of_the_specification() {
    let mut host = host("ssd1");
    let queue = host.io;
    let read = |len| IoCommand::Read(transfer(0, len)).encode(1);
    let refused = |ended: CommandEnd| ended.expect_err("it cannot be").code();
    // More than MDTS, 1 MiB.
    assert_eq!(refused(host.send(queue, read((1 << 20) + 512), 2 << 20, &[])), Status::INVALID_FIELD);
    assert_eq!(refused(host.send(queue, read(4096), 512, &[])), Status::SGL_DATA_LENGTH);
    assert_eq!(refused(host.send(queue, Sqe::new(0x7e, 1), 0, &[])), Status::INVALID_OPCODE);
    let elsewhere = IoCommand::Read(transfer(0, 512)).encode(2);
    assert_eq!(refused(host.send(queue, elsewhere, 512, &[])), Status::INVALID_NAMESPACE);
    // Page pointers where there are no pages; a descriptor of another kind; data that are not there.
    let physical = Sqe { data: [0; 16], ..read(512) };
    let accepted = host.submit(queue, physical, &[]);
    let cid = host.cid;
    assert_eq!(refused(host.wait(queue, cid, accepted, &[])), Status::INVALID_FIELD);
    let accepted = host.submit(queue, read(512).with_sgl(Sgl::Other([0x30; 16])), &[]);
    let cid = host.cid;
    assert_eq!(refused(host.wait(queue, cid, accepted, &[])), Status::SGL_TYPE);
    let write = IoCommand::Write(transfer(0, 512)).encode(1);
    let accepted = host.submit(queue, write.with_sgl(Sgl::InCapsule { offset: 8, length: 512 }), &[0; 512]);
    let cid = host.cid;
    assert_eq!(refused(host.wait(queue, cid, accepted, &[])), Status::SGL_OFFSET);
    assert_eq!(refused(host.send(queue, write, 0, &[0; 511])), Status::SGL_DATA_LENGTH);
}

/// SGLS bit 18 says so: of data that are longer than what the command moves, the beginning counts.
#[test]
fn data_may_be_longer_than_what_a_command_moves() {
    let mut host = host("ssd1");
    let queue = host.io;
    let long: Vec<u8> = (0..1024).map(|index| (index / 3) as u8).collect();
    for in_capsule in [false, true] {
        let mut send = |sqe, data: &[u8]| match in_capsule {
            true => host.send_in_capsule(queue, sqe, data),
            false => host.send(queue, sqe, 0, data),
        };
        let at = if in_capsule { 32 } else { 8 };
        send(IoCommand::Write(transfer(at, 512)).encode(1), &long).expect("one block is written");
        send(IoCommand::Compare(transfer(at, 512)).encode(1), &long).expect("it is the same");
        let read = host.send(queue, IoCommand::Read(transfer(at, 1024)).encode(1), 4096, &[]);
        let read = read.expect("in range").1;
        assert_eq!((&read[..512], &read[512..]), (&long[..512], &[0; 512][..]), "and not one byte more");
    }
}

#[test]
fn full_memory_is_told_and_ends_there() {
    let mut options = options("ssd1");
    options.backing = BackingOptions::Memory { limit_bytes: 64 << 10 };
    let mut host = host_of(Subsystem::new(options).expect("sound"), Instant::ZERO);
    let queue = host.io;
    let command = |lba| IoCommand::Write(transfer(lba, 4096)).encode(1);
    host.send_in_capsule(queue, command(0), &[1; 4096]).expect("there is room");
    let full = host.send_in_capsule(queue, command(1 << 20), &[1; 4096]).expect_err("there is none");
    assert_eq!(full, never(Status::CAPACITY_EXCEEDED));
    assert_eq!(host.read_blocks(0, 4096), Ok(vec![1; 4096]));
}

/// A smaller drive that heats as the large one: bytes count for more, time runs faster.
#[test]
fn scaled_drives_are_smaller_and_heat_faster() {
    let read_for = |scale: Scale| {
        let mut options = options("relay");
        options.scale = scale;
        let mut host = host_of(Subsystem::new(options).expect("sound"), Instant::ZERO);
        let mut bytes = 0_u64;
        // A minute of the drive's time, whatever that is here.
        while host.service.drive().now() < Instant::ZERO + Duration::from_secs(60) {
            let at = bytes / 512 % 100_000;
            bytes += host.read_blocks(at, 128 << 10).map(|data| data.len() as u64).expect("in range");
        }
        (host.service.capacity_bytes(), bytes, host.service.drive().exact_composite().as_degrees())
    };
    let (capacity, bytes, heated_c) = read_for(Scale::new(10, 1000).expect("in range"));
    let (whole, more, also_c) = read_for(Scale::new(10, 100).expect("in range"));
    assert_eq!(capacity, whole / 10 / 512 * 512);
    // The same simulated bytes a minute, one a tenth of the other to the host; the latency of a
    // command weighs more where commands are small.
    let ratio = more as f64 / bytes as f64;
    assert!((8.5..10.5).contains(&ratio), "{ratio}");
    assert!((heated_c - also_c).abs() < 2.0 && heated_c > 40.0, "{heated_c} {also_c}");
}

/// A drive that stands still for its throttle answers for its health at once.
#[test]
fn a_throttled_queue_holds_nobody_up() {
    let mut host = host("stop");
    // Hotter than any of its thresholds: no I/O at all until it has cooled down.
    let now = host.now;
    host.service.set_ambient(now, measure::Celsius::from_degrees(80.0));
    host.pass(Duration::from_secs(1800));
    let queue = host.io;
    let read = IoCommand::Read(transfer(0, 1 << 20)).encode(1).with_sgl(Sgl::Transport { length: 1 << 20 });
    for _ in 0..100 {
        assert_eq!(host.submit(queue, read, &[]), Accepted::Pending);
    }
    assert!(host.pass(Duration::from_secs(10)).is_empty(), "it has stopped");
    let now = host.now;
    host.get_log(LogId::SMART, 512).expect("a page");
    host.set(FeatureId::TEMPERATURE_THRESHOLD, 350, false).expect("any");
    assert_eq!(host.now, now, "at once");
    // In the cold all of them come back.
    host.service.set_ambient(now, measure::Celsius::from_degrees(0.0));
    assert_eq!(host.pass(Duration::from_secs(1800)).len(), 100);
}

#[derive(Clone, Debug)]
enum Change {
    Write(u64, u8),
    WriteInCapsule(u64, u8),
    Trim(u64, u32),
    Zero(u64, u32),
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let at = 0..120_u64;
    prop::collection::vec(
        prop_oneof![
            (at.clone(), 1_u8..).prop_map(|(lba, byte)| Change::Write(lba, byte)),
            (at.clone(), 1_u8..).prop_map(|(lba, byte)| Change::WriteInCapsule(lba, byte)),
            (at.clone(), 1..8_u32).prop_map(|(lba, blocks)| Change::Trim(lba, blocks)),
            (at, 1..8_u32).prop_map(|(lba, blocks)| Change::Zero(lba, blocks)),
        ],
        1..40,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// Writes of eight blocks with deallocations between them, against a plain vector.
    #[test]
    fn nothing_is_lost_and_nothing_comes_back(changes in changes()) {
        let mut host = host("ssd1");
        let mut plain = vec![0_u8; 128 * BLOCK];
        for change in changes {
            let (lba, blocks, byte) = match change {
                Change::Write(lba, byte) | Change::WriteInCapsule(lba, byte) => (lba, 8, byte),
                Change::Trim(lba, blocks) | Change::Zero(lba, blocks) => (lba, blocks, 0),
            };
            let data = vec![byte; blocks as usize * BLOCK];
            let queue = host.io;
            match change {
                Change::Write(..) => host.write(lba, &data).expect("in range"),
                Change::WriteInCapsule(..) => {
                    let command = IoCommand::Write(transfer(lba, data.len())).encode(1);
                    host.send_in_capsule(queue, command, &data).expect("in range");
                }
                Change::Trim(..) => {
                    deallocate(&mut host, &[(lba, blocks)]).expect("in range");
                }
                Change::Zero(..) => {
                    let range = transfer(lba, data.len());
                    let command = IoCommand::WriteZeroes { range, deallocate: true };
                    without_data(&mut host, command).expect("in range");
                }
            }
            plain[lba as usize * BLOCK..][..data.len()].copy_from_slice(&data);
        }
        prop_assert_eq!(host.read_blocks(0, 128 * BLOCK), Ok(plain));
    }
}
