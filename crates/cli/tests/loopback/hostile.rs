//! What hosts must not be able to do: each over a real socket, and after each the server still serves others.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use measure::{Clock as _, MonotonicClock};
use nvme::Status;
use nvme::command::{Completion, IoCommand, NSID_ALL, Sgl, Sqe, Transfer, opcode};
use nvme::fabrics::{Connect, ConnectData, FabricsCommand};
use nvme::host::Controller;
use nvme::host::tcp::{TcpController, TcpOptions};
use nvme::tcp::{DataPdu, FatalError, Framing, IcReq, Pdu, PduEvent, PduLimits, PduReader, R2t, Side};
use twin::vssd::ServerLimits;

use crate::loopback::drive::{Vssd, options};

/// Longer than any answer takes on a busy machine; a wait that reaches it fails its test.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host that says whatever it likes.
pub(super) struct Raw {
    stream: TcpStream,
    reader: PduReader,
    received: Vec<u8>,
    framing: Framing,
    /// Data that came with what was heard last.
    data: Vec<u8>,
}

impl Raw {
    fn dial(drive: &Vssd) -> Self {
        let stream = TcpStream::connect(drive.server.address()).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        let limits = PduLimits { capsule_data_max: 0, data_max: 1 << 20 };
        Self {
            stream,
            reader: PduReader::new(Side::Host, limits),
            received: Vec::new(),
            framing: Framing::PLAIN,
            data: Vec::new(),
        }
    }

    /// As far as ICResp.
    pub(super) fn initialised(drive: &Vssd, header_digest: bool, data_digest: bool) -> Self {
        let mut raw = Self::dial(drive);
        raw.say(Pdu::IcReq(IcReq::new(header_digest, data_digest)), &[]);
        assert!(matches!(raw.hear(), Some(Pdu::IcResp(_))));
        raw.framing = Framing { header_digest, data_digest, data_alignment_dwords: 1 };
        raw.reader.agree(raw.framing, PduLimits { capsule_data_max: 0, data_max: 1 << 20 });
        raw
    }

    /// A queue of a controller; returns how Connect ended.
    fn queue(drive: &Vssd, queue_id: u16, controller_id: u16) -> (Self, Completion) {
        let mut raw = Self::initialised(drive, false, false);
        let completion = raw.connect(drive, queue_id, controller_id);
        (raw, completion)
    }

    pub(super) fn connect(&mut self, drive: &Vssd, queue_id: u16, controller_id: u16) -> Completion {
        let data = ConnectData {
            host_id: [1; 16],
            controller_id,
            subsystem_nqn: drive.nqn.clone(),
            host_nqn: "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000001".to_owned(),
        };
        let command =
            Connect { record_format: 0, queue_id, queue_entries: 32, attributes: 0, keep_alive_ms: 0 };
        let sgl = Sgl::InCapsule { offset: 0, length: 1024 };
        let sqe = FabricsCommand::Connect(command).encode().with_sgl(sgl);
        self.say(Pdu::CapsuleCmd { sqe, data_len: 1024 }, &data.encode());
        self.completion()
    }

    fn say(&mut self, pdu: Pdu, data: &[u8]) {
        let mut bytes = Vec::new();
        pdu.encode(self.framing, data, &mut bytes);
        self.say_bytes(&bytes);
    }

    /// A server that has had enough may be gone already.
    fn say_bytes(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// The next PDU without its data; `None` when the server has closed the connection.
    pub(super) fn hear(&mut self) -> Option<Pdu> {
        loop {
            let (used, event) = self.reader.feed(&self.received).expect("the server speaks well");
            let event = match event {
                PduEvent::Header(pdu) => Some(pdu),
                PduEvent::NeedMore => {
                    self.received.drain(..used);
                    let mut piece = [0; 4096];
                    match self.stream.read(&mut piece) {
                        Ok(0) => return None,
                        Ok(came) => self.received.extend_from_slice(&piece[..came]),
                        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                        Err(error) => panic!("the server neither answers nor hangs up: {error}"),
                    }
                    continue;
                }
                PduEvent::Data(piece) => {
                    self.data.extend_from_slice(piece);
                    None
                }
                PduEvent::End { .. } => None,
            };
            self.received.drain(..used);
            if let Some(pdu) = event {
                // Data of the PDU before are whole by now, and those of this one come behind it.
                if matches!(pdu, Pdu::C2hData(_)) {
                    self.data.clear();
                }
                return Some(pdu);
            }
        }
    }

    fn completion(&mut self) -> Completion {
        match self.hear() {
            Some(Pdu::CapsuleResp(completion)) => completion,
            other => panic!("no completion but {other:?}"),
        }
    }

    /// The termination request that ends it, and then its end.
    fn terminated(&mut self, status: FatalError, what: &str) {
        match self.hear() {
            Some(Pdu::C2hTermReq(term)) => assert_eq!(term.status, status, "{what}"),
            other => panic!("{what}: no termination request but {other:?}"),
        }
        assert_eq!(self.hear(), None, "{what}: the connection is closed");
    }

    pub(super) fn command(&mut self, sqe: Sqe) -> Completion {
        self.say(Pdu::CapsuleCmd { sqe: sqe.with_sgl(Sgl::NONE), data_len: 0 }, &[]);
        self.completion()
    }
}

/// Messages of authentication.
impl Raw {
    /// Sends one inside its command.
    pub(super) fn send_message(&mut self, sqe: Sqe, message: &[u8]) -> Completion {
        let length = message.len() as u32;
        let sqe = sqe.with_sgl(Sgl::InCapsule { offset: 0, length });
        self.say(Pdu::CapsuleCmd { sqe, data_len: length }, message);
        self.completion()
    }

    /// Fetches one of up to `room` bytes.
    pub(super) fn fetch_message(&mut self, sqe: Sqe, room: u32) -> Vec<u8> {
        self.say(Pdu::CapsuleCmd { sqe: sqe.with_sgl(Sgl::Transport { length: room }), data_len: 0 }, &[]);
        assert!(matches!(self.hear(), Some(Pdu::C2hData(_))));
        assert!(self.completion().status.is_success());
        std::mem::take(&mut self.data)
    }
}

/// An enabled controller with one I/O queue, both raw.
fn both(drive: &Vssd) -> (Raw, Raw) {
    let (mut admin, completion) = Raw::queue(drive, 0, 0xffff);
    assert!(completion.status.is_success(), "{completion:?}");
    let property = nvme::fabrics::property::Property::CONTROLLER_CONFIG;
    let enable = FabricsCommand::PropertySet { property, value: 0x46_0001 }.encode();
    assert!(admin.command(enable).status.is_success());
    let queues = Sqe::new(opcode::SET_FEATURES, 0).with_dword(10, 7).with_dword(11, 0x0003_0003);
    assert!(admin.command(queues).status.is_success());
    let (io, completion) = Raw::queue(drive, 1, completion.dword0() as u16);
    assert!(completion.status.is_success(), "{completion:?}");
    (admin, io)
}

fn still_serves(drive: &Vssd) {
    let transport = TcpController::connect(&drive.address(), &TcpOptions::default()).expect("it takes hosts");
    Controller::new(transport).smart_log().expect("a log");
}

fn read(at_block: u64, blocks: u32) -> Sqe {
    IoCommand::Read(Transfer { start: measure::Lba::new(at_block), blocks, fua: false }).encode(1)
}

fn write(blocks: u32) -> Sqe {
    IoCommand::Write(Transfer { start: measure::Lba::new(0), blocks, fua: false }).encode(1)
}

#[test]
fn malformed_pdus_end_with_a_termination_request() {
    let drive = Vssd::quick();
    let icreq = |change: fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        Pdu::IcReq(IcReq::new(false, false)).encode(Framing::PLAIN, &[], &mut bytes);
        change(&mut bytes);
        bytes
    };
    let cases: [(&str, FatalError, Vec<u8>); 6] = [
        ("an unknown type", FatalError::INVALID_HEADER, icreq(|bytes| bytes[0] = 0x42)),
        ("a type that only targets send", FatalError::INVALID_HEADER, icreq(|bytes| bytes[0] = 1)),
        ("a header of another length", FatalError::INVALID_HEADER, icreq(|bytes| bytes[2] = 24)),
        ("an oversized PDU", FatalError::INVALID_HEADER, icreq(|bytes| bytes[7] = 0x7f)),
        ("an unknown format", FatalError::UNSUPPORTED, icreq(|bytes| bytes[8] = 1)),
        ("a command before ICReq", FatalError::SEQUENCE, {
            let mut bytes = Vec::new();
            Pdu::CapsuleCmd { sqe: Sqe::new(6, 0), data_len: 0 }.encode(Framing::PLAIN, &[], &mut bytes);
            bytes
        }),
    ];
    for (what, status, bytes) in cases {
        let mut raw = Raw::dial(&drive);
        raw.say_bytes(&bytes);
        // The answer may come before the host has been initialised: read as one that has been.
        let mut said = Vec::new();
        raw.stream.read_to_end(&mut said).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!((said[0], u16::from_le_bytes([said[8], said[9]])), (3, status.0), "{what}");
    }
    let mut twice = Raw::initialised(&drive, false, false);
    twice.say_bytes(&icreq(|_| {}));
    twice.terminated(FatalError::SEQUENCE, "a second ICReq");
    still_serves(&drive);
}

#[test]
fn pdus_cut_short_hold_up_nobody() {
    let drive = Vssd::quick();
    let (_admin, mut io) = both(&drive);
    let mut bytes = Vec::new();
    Pdu::CapsuleCmd { sqe: write(16).with_sgl(Sgl::InCapsule { offset: 0, length: 8192 }), data_len: 8192 }
        .encode(Framing::PLAIN, &[7; 8192], &mut bytes);
    for cut in [1, 7, 8, 71, 72, 73, 5000] {
        let mut raw = Raw::initialised(&drive, false, false);
        raw.say_bytes(&bytes[..cut]);
        raw.stream.shutdown(Shutdown::Write).expect("half of it stays open");
        while raw.hear().is_some() {}
    }
    // In pieces of any size it is a command like any other.
    for piece in bytes.chunks(1000) {
        io.say_bytes(piece);
    }
    assert!(io.completion().status.is_success());
}

/// Tag, command, offset, length and whether it is the last, made of what was asked for.
type Wrong = fn(R2t) -> (u16, u16, u32, u32, bool);

#[test]
fn data_that_nobody_asked_for_ends_the_connection() {
    let drive = Vssd::quick();
    let data = |tag, cid, offset, len: u32, last| {
        (Pdu::H2cData(DataPdu { cid, tag, offset, len, last, success: false }), vec![1; len as usize])
    };
    let (_admin, mut io) = both(&drive);
    let (pdu, bytes) = data(0, 0, 0, 512, true);
    io.say(pdu, &bytes);
    io.terminated(FatalError::INVALID_HEADER, "data without an R2T");

    // What is wrong, what is said, and with what.
    let cases: [(&str, FatalError, Wrong); 6] = [
        ("another tag", FatalError::INVALID_HEADER, |r| (r.tag + 1, r.cid, 0, r.len, true)),
        ("another command", FatalError::INVALID_HEADER, |r| (r.tag, r.cid + 1, 0, r.len, true)),
        ("not at the beginning", FatalError::OUT_OF_RANGE, |r| (r.tag, r.cid, 512, r.len - 512, true)),
        ("more than asked for", FatalError::OUT_OF_RANGE, |r| (r.tag, r.cid, 0, r.len + 512, true)),
        ("the last before the end", FatalError::OUT_OF_RANGE, |r| (r.tag, r.cid, 0, 512, true)),
        ("the end without the last", FatalError::OUT_OF_RANGE, |r| (r.tag, r.cid, 0, r.len, false)),
    ];
    for (what, status, wrong) in cases {
        let drive = Vssd::quick();
        let (_admin, mut io) = both(&drive);
        let sqe = Sqe { cid: 5, ..write(128) }.with_sgl(Sgl::Transport { length: 65_536 });
        io.say(Pdu::CapsuleCmd { sqe, data_len: 0 }, &[]);
        let Some(Pdu::R2t(r2t)) = io.hear() else { panic!("no R2T") };
        assert_eq!((r2t.cid, r2t.offset, r2t.len), (5, 0, 65_536));
        let (tag, cid, offset, len, last) = wrong(r2t);
        let (pdu, bytes) = data(tag, cid, offset, len, last);
        io.say(pdu, &bytes);
        io.terminated(status, what);
        still_serves_another(&drive);
    }
}

/// With a host connected already: its connections may be closed, but the server goes on listening.
fn still_serves_another(drive: &Vssd) {
    Raw::initialised(drive, false, false);
}

#[test]
fn commands_and_data_may_come_in_any_order_of_each_other() {
    let drive = Vssd::quick();
    let (_admin, mut io) = both(&drive);
    let mut asked = Vec::new();
    for cid in 0..4_u16 {
        let command = IoCommand::Write(Transfer {
            start: measure::Lba::new(u64::from(cid) * 128),
            blocks: 128,
            fua: false,
        });
        let sqe = Sqe { cid, ..command.encode(1) }.with_sgl(Sgl::Transport { length: 65_536 });
        io.say(Pdu::CapsuleCmd { sqe, data_len: 0 }, &[]);
        let Some(Pdu::R2t(r2t)) = io.hear() else { panic!("no R2T") };
        asked.push(r2t);
    }
    // Halves of all, in turn.
    for half in 0..2_u32 {
        for r2t in &asked {
            let data = DataPdu {
                cid: r2t.cid,
                tag: r2t.tag,
                offset: half * 32_768,
                len: 32_768,
                last: half == 1,
                success: false,
            };
            io.say(Pdu::H2cData(data), &vec![r2t.cid as u8 + 1; 32_768]);
        }
    }
    let mut done: Vec<u16> = asked
        .iter()
        .map(|_| io.completion())
        .map(|done| {
            assert!(done.status.is_success(), "{done:?}");
            done.cid
        })
        .collect();
    done.sort_unstable();
    assert_eq!(done, [0, 1, 2, 3]);
}

#[test]
fn wrong_digests_are_told_from_each_other() {
    let drive = Vssd::quick();
    let mut header = Raw::initialised(&drive, true, false);
    let mut bytes = Vec::new();
    Pdu::CapsuleCmd { sqe: Sqe::new(6, 0).with_sgl(Sgl::NONE), data_len: 0 }.encode(
        header.framing,
        &[],
        &mut bytes,
    );
    bytes[10] ^= 1;
    header.say_bytes(&bytes);
    header.terminated(FatalError::HEADER_DIGEST, "a header that was changed on its way");

    // Wrong data end the command and nothing else.
    let (_admin, _) = both(&drive);
    let mut data = Raw::initialised(&drive, false, true);
    assert!(data.connect(&drive, 2, 1).status.is_success(), "a second queue, with digests");
    let mut bytes = Vec::new();
    let sqe = write(8).with_sgl(Sgl::InCapsule { offset: 0, length: 4096 });
    Pdu::CapsuleCmd { sqe, data_len: 4096 }.encode(data.framing, &[3; 4096], &mut bytes);
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    data.say_bytes(&bytes);
    assert!(data.completion().status.is(Status::TRANSIENT_TRANSPORT_ERROR));
    bytes[last] ^= 1;
    data.say_bytes(&bytes);
    assert!(data.completion().status.is_success());

    // The same of data that were asked for; nothing that follows is taken for them.
    let sqe = write(128).with_sgl(Sgl::Transport { length: 65_536 });
    for wrong in [true, false] {
        data.say(Pdu::CapsuleCmd { sqe, data_len: 0 }, &[]);
        let Some(Pdu::R2t(r2t)) = data.hear() else { panic!("no R2T") };
        let sent =
            DataPdu { cid: r2t.cid, tag: r2t.tag, offset: 0, len: r2t.len, last: true, success: false };
        let mut bytes = Vec::new();
        Pdu::H2cData(sent).encode(data.framing, &[5; 65_536], &mut bytes);
        bytes[4096] ^= u8::from(wrong);
        data.say_bytes(&bytes);
        let status = data.completion().status;
        assert_eq!((status.is(Status::TRANSIENT_TRANSPORT_ERROR), status.is_success()), (wrong, !wrong));
    }
}

/// SGLS bit 18: a host may offer more than its command moves; no more is asked for than that.
#[test]
fn of_data_that_are_longer_than_a_write_the_beginning_is_asked_for() {
    let drive = Vssd::quick();
    let (_admin, mut io) = both(&drive);
    let sqe = write(1).with_sgl(Sgl::Transport { length: 65_536 });
    io.say(Pdu::CapsuleCmd { sqe, data_len: 0 }, &[]);
    let Some(Pdu::R2t(r2t)) = io.hear() else { panic!("no R2T") };
    assert_eq!((r2t.offset, r2t.len), (0, 512));
    let sent = DataPdu { cid: r2t.cid, tag: r2t.tag, offset: 0, len: 512, last: true, success: false };
    io.say(Pdu::H2cData(sent), &[9; 512]);
    assert!(io.completion().status.is_success());
}

#[test]
fn impossible_commands_are_answered_and_cost_nothing() {
    let drive = Vssd::quick();
    let (mut admin, mut io) = both(&drive);
    let blocks = drive.unit().with_drive(|one| one.capacity_bytes()).expect("a drive") / 512;
    for unknown in [0xff, 0x7e, 0x15, 0x84] {
        assert!(admin.command(Sqe::new(unknown, 0)).status.is(Status::INVALID_OPCODE), "{unknown:#x}");
    }
    assert!(io.command(Sqe::new(0xfe, 1)).status.is(Status::INVALID_OPCODE));
    let with = |sqe: Sqe, length| sqe.with_sgl(Sgl::Transport { length });
    let mut ask = |sqe: Sqe| {
        io.say(Pdu::CapsuleCmd { sqe, data_len: 0 }, &[]);
        io.completion().status
    };
    assert!(ask(with(read(blocks, 1), 512)).is(Status::LBA_OUT_OF_RANGE));
    assert!(ask(with(read(blocks - 1, 2), 1024)).is(Status::LBA_OUT_OF_RANGE));
    assert!(ask(with(read(u64::MAX, 1), 512)).is(Status::LBA_OUT_OF_RANGE));
    assert!(ask(with(read(0, 65_536), 65_536 * 512)).is(Status::INVALID_FIELD), "more than MDTS");
    assert!(ask(with(Sqe { nsid: 7, ..read(0, 1) }, 512)).is(Status::INVALID_NAMESPACE));
    assert!(!ask(with(Sqe { nsid: NSID_ALL, ..read(0, 1) }, 512)).is_success());
    assert!(!ask(with(read(0, 8), 512)).is_success(), "an SGL of another length");
    still_answers(&mut admin);
}

fn still_answers(admin: &mut Raw) {
    assert!(admin.command(Sqe::new(opcode::KEEP_ALIVE, 0)).status.is_success());
}

/// A queue of 32 entries holds 31 commands; a host that sends more has lost count.
#[test]
fn more_commands_than_a_queue_holds_end_the_connection_with_a_word() {
    let drive = Vssd::quick();
    let (mut admin, mut io) = both(&drive);
    let sqe = write(128).with_sgl(Sgl::Transport { length: 65_536 });
    for cid in 0..32 {
        io.say(Pdu::CapsuleCmd { sqe: Sqe { cid, ..sqe }, data_len: 0 }, &[]);
    }
    let last = std::iter::from_fn(|| io.hear()).find(|pdu| !matches!(pdu, Pdu::R2t(_)));
    assert!(matches!(&last, Some(Pdu::C2hTermReq(term)) if term.status == FatalError::SEQUENCE), "{last:?}");
    assert_eq!(io.hear(), None, "the connection is closed");
    still_answers(&mut admin);
}

/// It sends reads and never takes an answer: others go on, and in the end it is thrown out.
#[test]
fn a_host_that_never_reads_is_thrown_out() {
    let mut made = options("ssd1", |drive| {
        drive.options.scale = twin::controller::Scale::new(1000, 1).expect("in range");
        drive.options.limits.controllers = 2;
    });
    made.limits = ServerLimits { send_span: Duration::from_millis(300), ..ServerLimits::default() };
    let drive = Vssd::start(made);
    let (mut admin, mut deaf) = both(&drive);
    let sqe = read(0, 2048).with_sgl(Sgl::Transport { length: 1 << 20 });
    let mut bytes = Vec::new();
    (0..31).for_each(|cid| {
        Pdu::CapsuleCmd { sqe: Sqe { cid, ..sqe }, data_len: 0 }.encode(Framing::PLAIN, &[], &mut bytes);
    });
    // Counted before it begins: a machine that is busy for longer than the span would find it gone already.
    let before = drive.unit().connections();
    assert_eq!(before, 2);
    deaf.say_bytes(&bytes);
    // The admin queue is served all the while, until the other connection is gone.
    while drive.unit().connections() == before {
        still_answers(&mut admin);
    }
    still_answers(&mut admin);
}

#[test]
fn a_thousand_connections_are_neither_a_crash_nor_a_leak() {
    let mut made = options("ssd1", |_| {});
    made.limits = ServerLimits { connections: 64, ..ServerLimits::default() };
    let drive = Vssd::start(made);
    // One after the other, left at once or after ICReq.
    for number in 0..1000 {
        if number % 10 == 0 {
            // Over the limit for a moment, while those before are being seen out, it is closed at once.
            let mut raw = Raw::dial(&drive);
            raw.say_bytes(&[0; 16]);
        } else {
            drop(TcpStream::connect(drive.server.address()));
        }
    }
    // At once: those beyond the limit find their connection closed, the others stay.
    let all: Vec<Raw> = (0..100).map(|_| Raw::dial(&drive)).collect();
    assert!(drive.server.connections() <= 64);
    drop(all);
    // Those that the system holds ready may be taken only now, and for a moment be too many with a new one: there is
    // room again when one is served.
    let clock = MonotonicClock::start();
    while let Err(error) = TcpController::connect(&drive.address(), &TcpOptions::default()) {
        assert!(clock.now().as_secs_f64() < PATIENCE.as_secs_f64(), "it takes no hosts any more: {error}");
        std::thread::yield_now();
    }
    while drive.server.connections() > 0 {
        std::thread::yield_now();
    }
    still_serves(&drive);
}

#[test]
fn queues_are_nobodys_twice() {
    let drive = Vssd::quick();
    let (mut admin, mut io) = both(&drive);
    let (_, again) = Raw::queue(&drive, 1, 1);
    assert!(!again.status.is_success(), "queue 1 is in use");
    let (_, stranger) = Raw::queue(&drive, 1, 77);
    assert!(!stranger.status.is_success(), "there is no controller 77");
    let (second, connected) = Raw::queue(&drive, 0, 0xffff);
    assert!(
        connected.status.is_success() && connected.result != 1,
        "a second host has a controller of its own"
    );
    drop(second);
    still_answers(&mut admin);
    assert!(io.command(IoCommand::Flush.encode(1)).status.is_success());
    // With the admin queue the controller goes, and its other queues.
    drop(admin);
    assert_eq!(io.hear(), None);
    while drive.unit().connections() > 0 {
        std::thread::yield_now();
    }
    still_serves(&drive);
}

/// One that says nothing holds a place for as long as it may and no longer.
#[test]
fn a_silent_connection_is_closed() {
    let mut made = options("ssd1", |_| {});
    made.limits = ServerLimits { connect_span: Duration::from_millis(50), ..ServerLimits::default() };
    let drive = Vssd::start(made);
    assert_eq!(Raw::dial(&drive).hear(), None);
}
