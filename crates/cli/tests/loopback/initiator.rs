//! Our initiator and our server with each other: data, digests, several commands in flight, discovery.

use std::time::Duration;

use measure::Lba;
use nvme::command::{IoCommand, Transfer};
use nvme::host::Controller;
use nvme::host::tcp::{Direction, TcpAddress, TcpController, TcpOptions, TcpQueue};
use twin::vssd::{DriveOptions, ServerOptions};

use crate::loopback::drive::{Vssd, identity, options};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
const BLOCK: usize = 512;

fn transfer(at: u64, bytes: usize) -> Transfer {
    Transfer { start: Lba::new(at / BLOCK as u64), blocks: (bytes / BLOCK) as u32, fua: false }
}

/// Waits until `count` commands have ended, all of them well.
fn finish(queue: &mut TcpQueue, count: usize) {
    queue.flush().expect("it is connected");
    let mut ended = 0;
    while ended < count {
        let mut done = Vec::new();
        queue.wait(PATIENCE, &mut done).expect("it is connected");
        assert!(!done.is_empty(), "{ended} of {count} commands answered");
        ended += done.len();
        assert!(done.iter().all(|(_, completion)| completion.status.is_success()), "{done:?}");
    }
}

/// Sizes on both sides of what fits into a command (8 KiB) and of what is copied (16 KiB).
const SIZES: [usize; 6] = [512, 4096, 8192, 8704, 65_536, 1 << 20];

fn write_and_read(controller: &TcpController) {
    let mut queue = controller.io_queue(8, 1 << 20).expect("there is a queue");
    for (slot, size) in SIZES.iter().enumerate() {
        let pattern = |index: usize| (index / 7 + slot * 31) as u8;
        queue.memory(slot as u16)[..*size].iter_mut().enumerate().for_each(|(i, byte)| *byte = pattern(i));
        let write = IoCommand::Write(transfer((slot as u64) << 21, *size));
        queue.submit(slot as u16, &write.encode(1), Direction::write(*size));
    }
    finish(&mut queue, SIZES.len());
    for (slot, size) in SIZES.iter().enumerate() {
        queue.memory(slot as u16).fill(0xee);
        let read = IoCommand::Read(transfer((slot as u64) << 21, *size));
        queue.submit(slot as u16, &read.encode(1), Direction::Read(*size));
    }
    finish(&mut queue, SIZES.len());
    for (slot, size) in SIZES.iter().enumerate() {
        let read = &queue.memory(slot as u16)[..*size];
        let wrong = read.iter().enumerate().position(|(i, byte)| *byte != (i / 7 + slot * 31) as u8);
        assert_eq!(wrong, None, "{size} bytes come back as they were written");
    }
}

#[test]
fn what_was_written_is_what_is_read_with_and_without_digests() {
    for (header_digest, data_digest) in [(false, false), (true, false), (false, true), (true, true)] {
        let drive = Vssd::quick();
        let asked = TcpOptions { header_digest, data_digest, io_queues: 4, ..TcpOptions::default() };
        let controller = TcpController::connect(&drive.address(), &asked).expect("it takes hosts");
        write_and_read(&controller);
    }
}

#[test]
fn data_are_in_a_file_where_that_is_wanted() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("data");
    let file = || {
        options("ssd1", |drive| {
            drive.options.scale = twin::controller::Scale::new(1000, 1).expect("in range");
            drive.options.backing = {
                let file = twin::controller::BackingFile { path: path.clone(), overwrite: false };
                twin::controller::BackingOptions::File(file)
            };
        })
    };
    write_and_read(&Vssd::start(file()).connect());
    let again = Vssd::start(file());
    let mut queue = again.connect().io_queue(2, 4096).expect("there is a queue");
    queue.submit(0, &IoCommand::Read(transfer(1 << 21, 4096)).encode(1), Direction::Read(4096));
    finish(&mut queue, 1);
    assert_eq!(queue.memory(0)[14], (14 / 7 + 31) as u8, "it outlives the server");
}

#[test]
fn a_deep_queue_is_filled_again_and_again() {
    let drive = Vssd::quick();
    let depth = 64;
    let mut queue = drive.connect().io_queue(depth, 4096).expect("there is a queue");
    let read = |slot: u16| IoCommand::Read(transfer(u64::from(slot) * 4096, 4096)).encode(1);
    (0..depth as u16).for_each(|slot| queue.submit(slot, &read(slot), Direction::Read(4096)));
    let mut left = 5000;
    let mut done = Vec::new();
    while queue.in_flight() > 0 {
        queue.flush().expect("it is connected");
        done.clear();
        queue.wait(PATIENCE, &mut done).expect("it is connected");
        assert!(!done.is_empty(), "it answers");
        for (slot, completion) in &done {
            assert!(completion.status.is_success(), "{completion:?}");
            if left > 0 {
                left -= 1;
                queue.submit(*slot, &read(*slot), Direction::Read(4096));
            }
        }
    }
    assert_eq!(left, 0);
}

#[test]
fn a_shelf_is_discovered() {
    let mut all = options("ssd1", |_| {});
    let mut other = all.drives[0].clone();
    other.options.identity = identity("ssd1", 2);
    all.drives.push(other);
    let names: Vec<String> = all.drives.iter().map(|drive| drive.options.identity.nqn.clone()).collect();
    let shelf = Vssd::start(all);
    let found =
        TcpController::discover(&shelf.address(), &TcpOptions::default()).expect("a discovery service");
    let found: Vec<String> = found.into_iter().map(|record| record.subsystem_nqn).collect();
    assert_eq!(found, names);
    let second = TcpAddress { nqn: names[1].clone(), ..shelf.address() };
    let mut controllers = [shelf.address(), second].map(|address| {
        Controller::new(TcpController::connect(&address, &TcpOptions::default()).expect("it takes hosts"))
    });
    let serials = controllers.each_mut().map(|one| one.identify_controller().expect("it says").serial);
    assert_ne!(serials[0], serials[1]);
}

#[test]
fn errors_are_sentences() {
    let drive = Vssd::quick();
    let unknown = TcpAddress { nqn: "nqn.2026-11.invalid.heatsoak:none".to_owned(), ..drive.address() };
    let error = TcpController::connect(&unknown, &TcpOptions::default()).expect_err("there is no such drive");
    assert!(error.to_string().contains("name of the subsystem"), "{error}");
    let controller = drive.connect();
    let error = controller.io_queue(100_000, 4096).expect_err("too deep");
    assert!(error.to_string().contains("the controller's queues hold"), "{error}");
    let (address, gone) = (drive.address(), drive);
    drop(controller);
    drop(gone);
    let error = TcpController::connect(&address, &TcpOptions::default()).expect_err("nobody listens");
    assert!(error.to_string().contains("look whether the target runs"), "{error}");
    assert!(error.is_gone());
}

/// Two drives of one name would be told apart by nobody.
#[test]
fn a_server_refuses_what_cannot_be() {
    let one = options("ssd1", |_| {});
    let twice: Vec<DriveOptions> = [one.drives.clone(), one.drives.clone()].concat();
    let error = twin::vssd::Server::start(ServerOptions { drives: twice, ..one.clone() });
    assert!(error.expect_err("one name").to_string().contains("cannot both be called"));
    let everywhere = std::net::SocketAddr::from(([10, 0, 0, 1], 0));
    let error = twin::vssd::Server::start(ServerOptions { listen: everywhere, ..one });
    assert!(error.expect_err("not loopback").to_string().contains("nothing is encrypted"));
}
