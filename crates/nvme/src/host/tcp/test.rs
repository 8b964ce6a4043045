//! Targets that break the protocol: each ends in a sentence, and nothing is taken that was not asked for.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::connect::QueueSpec;
use super::*;
use crate::Status;
use crate::command::{Completion, Sqe};
use crate::host::HostError;
use crate::tcp::{DataPdu, Framing, IcResp, Pdu, R2t};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn bytes(pdu: &Pdu, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    pdu.encode(Framing::PLAIN, data, &mut out);
    out
}

fn ic_resp() -> Vec<u8> {
    let response = IcResp {
        format: 0,
        data_alignment_dwords: 1,
        header_digest: false,
        data_digest: false,
        h2c_data_max: 4096,
    };
    bytes(&Pdu::IcResp(response), &[])
}

/// A target that says `words`, each after it has heard so many bytes, and then hangs up.
fn target(words: Vec<(usize, Vec<u8>)>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it has one");
    thread::spawn(move || {
        let (mut stream, _): (TcpStream, _) = listener.accept().expect("a host");
        for (hear, say) in words {
            if stream.read_exact(&mut vec![0; hear]).is_err() || stream.write_all(&say).is_err() {
                return;
            }
        }
        // Until the host has gone: closing with its words unread would take ours back.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    });
    address
}

fn open(words: Vec<(usize, Vec<u8>)>) -> Result<TcpQueue, HostError> {
    let address = TcpAddress { socket: target(words), nqn: "nqn.x".to_owned() };
    let options = TcpOptions { timeout: PATIENCE, ..TcpOptions::default() };
    let (address, options) = (&address, &options);
    let spec = QueueSpec {
        address,
        options,
        id: 1,
        controller_id: 1,
        slots: 2,
        entries: 3,
        stride: 8192,
        in_capsule_max: 0,
    };
    spec.open().map(|(queue, _)| queue)
}

/// What comes of one command in slot 0 on a queue whose target answers it with `answer`.
///
/// The identifier of the second use of slot 0 is 2000h: Connect was the first.
fn command(direction: Direction, answer: &[u8]) -> Result<Completion, HostError> {
    let connected = bytes(&Pdu::CapsuleResp(Completion::success(0x1000, 1)), &[]);
    let mut queue =
        open(vec![(128, ic_resp()), (72 + 1024, connected), (72, answer.to_vec())]).expect("it connects");
    queue.command(&Sqe::new(2, 1), direction, PATIENCE)
}

const CID: u16 = 0x2000;

fn data(cid: u16, offset: u32, len: u32) -> Vec<u8> {
    let data = DataPdu { cid, tag: 0, offset, len, last: true, success: false };
    bytes(&Pdu::C2hData(data), &vec![7; len as usize])
}

fn r2t(cid: u16, offset: u32, len: u32) -> Vec<u8> {
    bytes(&Pdu::R2t(R2t { cid, tag: 0, offset, len }), &[])
}

fn done(cid: u16) -> Vec<u8> {
    bytes(&Pdu::CapsuleResp(Completion::success(cid, 0)), &[])
}

#[test]
fn a_target_that_is_none_is_told() {
    for (words, part) in [
        (vec![], "closed the connection"),
        (vec![(128, vec![0xff; 64])], "broke the protocol"),
        (vec![(128, ic_resp()), (72 + 1024, vec![])], "closed the connection"),
        (vec![(128, ic_resp()), (72 + 1024, done(77))], "no such command is in flight"),
    ] {
        let error = open(words).map(|_| ()).expect_err(part);
        assert!(error.to_string().contains(part) && error.is_gone(), "{part}: {error}");
    }
}

#[test]
fn good_answers_are_taken() {
    assert!(command(Direction::None, &done(CID)).expect("an answer").status.is_success());
    let halves = [data(CID, 0, 512), data(CID, 512, 512), done(CID)].concat();
    assert!(command(Direction::Read(1024), &halves).expect("an answer").status.is_success());
    let asked = [r2t(CID, 0, 8192), done(CID)].concat();
    assert!(command(Direction::write(8192), &asked).expect("an answer").status.is_success());
}

#[test]
fn what_was_not_asked_for_ends_the_connection() {
    for (what, direction, answer) in [
        ("data for nobody", Direction::Read(512), data(9, 0, 512)),
        ("data of an older command", Direction::Read(512), data(0x1000, 0, 512)),
        ("more data than asked for", Direction::Read(512), data(CID, 0, 1024)),
        ("data past the end", Direction::Read(512), data(CID, 512, 512)),
        ("data with a gap before them", Direction::Read(1024), data(CID, 512, 512)),
        ("data for a write", Direction::write(512), data(CID, 0, 512)),
        ("R2T for a read", Direction::Read(512), r2t(CID, 0, 512)),
        ("R2T beyond the data", Direction::write(512), r2t(CID, 0, 513)),
        ("R2T twice for the same", Direction::write(512), [r2t(CID, 0, 512), r2t(CID, 0, 512)].concat()),
        ("a completion for nobody", Direction::None, done(3)),
    ] {
        let error = command(direction, &answer).expect_err(what);
        assert!(error.to_string().contains("broke the protocol"), "{what}: {error}");
    }
}

/// A success without all of the data is none, and the connection goes on.
#[test]
fn a_success_that_moved_too_little_is_an_error() {
    let short = [data(CID, 0, 512), done(CID)].concat();
    let completion = command(Direction::Read(1024), &short).expect("an answer");
    assert!(completion.status.is(Status::DATA_TRANSFER_ERROR), "{completion:?}");
}

/// Goal: what is gone stays gone, with the reason, and nothing panics.
#[test]
fn a_broken_queue_says_so_every_time() {
    let connected = bytes(&Pdu::CapsuleResp(Completion::success(0x1000, 1)), &[]);
    let mut queue = open(vec![(128, ic_resp()), (72 + 1024, connected), (72, done(3))]).expect("it connects");
    for _ in 0..3 {
        let error = queue.command(&Sqe::new(2, 1), Direction::None, PATIENCE).expect_err("broken");
        assert!(error.to_string().contains("no such command is in flight"), "{error}");
    }
}
