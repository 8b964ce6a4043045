//! Entry for a connection of the virtual SSD: any bytes are what a host sends, in pieces, as time goes on.
//!
//! The laws: no panic; what waits to be sent is bounded, whatever is asked; what is sent is sound PDUs;
//! no more commands are completed than were sent.

use crate::FuzzEntry;
use std::io::IoSlice;
use std::sync::Arc;

use measure::{Instant, Seed};
use nvme::auth::{ControllerAuth, DhGroup, Secret};
use nvme::command::{Sgl, Sqe, opcode};
use nvme::fabrics::property::Property;
use nvme::fabrics::{Connect, ConnectData, FabricsCommand};
use nvme::tcp::{DataPdu, Framing, IcReq, Pdu, PduEvent, PduLimits, PduReader, Side};
use physics::Profile;
use twin::controller::{BackingOptions, Options, Subsystem, SubsystemLimits};
use twin::vssd::session::HostSession;
use twin::vssd::{Mailbox, Shelf, Unit};

/// Every entry by the name of its fuzz target.
pub const ENTRIES: &[FuzzEntry] = &[("vssd_session", session)];

/// Most that may wait: what a session sends ahead, and one answer of the largest size on top.
const WAITING_MAX: usize = (2 << 20) + (64 << 10) + 4096;

/// This bit of the first byte makes it a drive that asks its hosts who they are.
const ASKS_WHO: u8 = 0x80;

/// What it asks; without a group, whose arithmetic would take all of the time.
fn asked() -> ControllerAuth {
    let secret = Secret::parse("DHHC-1:01:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:");
    let host_secret = secret.expect("the specification's example");
    ControllerAuth { host_secret, controller_secret: None, hash: None, group: Some(DhGroup::Null) }
}

/// One host with an admin and an I/O connection; the bytes say what it sends on which.
pub fn session(data: &[u8]) {
    answered(data);
}

/// The same; says how many commands were completed.
pub fn answered(data: &[u8]) -> usize {
    let mut options = Options::new(Profile::builtin("relay").expect("built in"), Seed::new(1));
    options.backing = BackingOptions::Memory { limit_bytes: 4 << 20 };
    options.limits = SubsystemLimits {
        queue_entries: 16,
        io_queues: 2,
        max_transfer_shift: 4,
        in_capsule_bytes: 8192,
        controllers: 1,
    };
    let nqn = options.identity.nqn.clone();
    let mut bytes = data.iter().copied();
    let beginning = bytes.next().unwrap_or_default();
    let unit = Unit::drive(Subsystem::new(options).expect("sound options"), None)
        .authenticating((beginning & ASKS_WHO != 0).then(asked));
    let shelf = Arc::new(Shelf::new(vec![unit]));
    let mut now = Instant::from_ns(1);
    let mut hosts: Vec<FuzzHost> = (0..2).map(|id| FuzzHost::new(&shelf, &nqn, id)).collect();
    // How far both are led by the hand: not at all, initialised, connected.
    for host in &mut hosts {
        host.begin(beginning % 4, now);
    }
    while let Some(choice) = bytes.next() {
        let host = &mut hosts[usize::from(choice & 1)];
        match choice >> 1 & 7 {
            0 => {
                let count = usize::from(bytes.next().unwrap_or_default());
                let raw: Vec<u8> = bytes.by_ref().take(count).collect();
                host.send(now, &raw);
            }
            1..=3 => host.command(now, &mut bytes),
            4 | 5 => host.data(now, &mut bytes),
            6 => {
                // Up to a quarter of a second.
                now = Instant::from_ns(now.as_ns() + u64::from(bytes.next().unwrap_or_default()) * 1_000_000);
                hosts.iter_mut().for_each(|host| host.step(now));
            }
            _ => host.take(usize::from(bytes.next().unwrap_or_default()) << 8),
        }
        for host in &hosts {
            let waiting = host.session.waiting_bytes();
            assert!(waiting <= WAITING_MAX, "{waiting} bytes wait for a host that takes none");
        }
    }
    hosts.iter_mut().map(|host| host.end(now)).sum()
}

/// One connection, seen from its host.
struct FuzzHost {
    session: HostSession,
    shelf: Arc<Shelf>,
    reader: PduReader,
    nqn: String,
    queue_id: u16,
    /// Sees what the server sees, to count commands.
    shadow: PduReader,
    is_led: bool,
    commands: usize,
    completions: usize,
    /// The latest R2T, to be answered more or less well.
    asked: Option<nvme::tcp::R2t>,
}

impl FuzzHost {
    fn new(shelf: &Arc<Shelf>, nqn: &str, queue_id: u16) -> Self {
        let mailbox = Arc::new(Mailbox::new().expect("a file descriptor"));
        let limits = PduLimits { capsule_data_max: 0, data_max: 1 << 20 };
        Self {
            session: HostSession::new(Arc::clone(shelf), mailbox),
            shelf: Arc::clone(shelf),
            reader: PduReader::new(Side::Host, limits),
            nqn: nqn.to_owned(),
            queue_id,
            shadow: PduReader::new(Side::Controller, PduLimits { capsule_data_max: 8192, data_max: 1 << 20 }),
            is_led: false,
            commands: 0,
            completions: 0,
            asked: None,
        }
    }

    fn begin(&mut self, how_far: u8, now: Instant) {
        if how_far == 0 {
            return;
        }
        self.is_led = true;
        self.pdu(now, &Pdu::IcReq(IcReq::new(false, false)), &[]);
        if how_far == 1 {
            return;
        }
        let connect = Connect {
            record_format: 0,
            queue_id: self.queue_id,
            queue_entries: 16,
            attributes: how_far & 1 << 2,
            keep_alive_ms: 0,
        };
        let data = ConnectData {
            host_id: [1; 16],
            controller_id: if self.queue_id == 0 { 0xffff } else { 1 },
            subsystem_nqn: self.nqn.clone(),
            host_nqn: "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000001".to_owned(),
        };
        let sqe =
            FabricsCommand::Connect(connect).encode().with_sgl(Sgl::InCapsule { offset: 0, length: 1024 });
        self.pdu(now, &Pdu::CapsuleCmd { sqe, data_len: 1024 }, &data.encode());
        if self.queue_id == 0 {
            let enable =
                FabricsCommand::PropertySet { property: Property::CONTROLLER_CONFIG, value: 0x46_0001 };
            let queues = Sqe::new(opcode::SET_FEATURES, 0).with_dword(10, 7).with_dword(11, 0x0001_0001);
            for sqe in [enable.encode(), queues] {
                self.pdu(now, &Pdu::CapsuleCmd { sqe: sqe.with_sgl(Sgl::NONE), data_len: 0 }, &[]);
            }
        }
        self.take(usize::MAX);
    }

    fn pdu(&mut self, now: Instant, pdu: &Pdu, data: &[u8]) {
        let mut bytes = Vec::new();
        pdu.encode(Framing::PLAIN, data, &mut bytes);
        self.send(now, &bytes);
    }

    /// A server reads nothing while it does not want to.
    fn send(&mut self, now: Instant, bytes: &[u8]) {
        if self.session.wants_bytes() {
            self.count(bytes);
            self.session.receive(now, bytes);
            self.step(now);
        }
    }

    fn count(&mut self, mut bytes: &[u8]) {
        while let Ok((used, event)) = self.shadow.feed(bytes) {
            bytes = &bytes[used..];
            match event {
                PduEvent::NeedMore => return,
                PduEvent::Header(Pdu::CapsuleCmd { .. }) => self.commands += 1,
                _ => {}
            }
        }
    }

    /// A command that is likely to be one: opcode and fields from a few bytes.
    fn command(&mut self, now: Instant, bytes: &mut impl Iterator<Item = u8>) {
        let mut byte = || bytes.next().unwrap_or_default();
        let codes = [0x00, 0x01, 0x02, 0x05, 0x06, 0x08, 0x09, 0x0a, 0x0c, 0x18, 0x7f];
        let code = codes[usize::from(byte()) % codes.len()];
        let mut sqe = Sqe::new(code, u32::from(byte() % 3));
        sqe.cid = u16::from(byte());
        for dword in 10..13 {
            sqe = sqe.with_dword(dword, u32::from(byte()));
        }
        let blocks = (sqe.dword(12) & 0xffff) + 1;
        let inside = byte() % 4 == 0;
        let len = if inside { (blocks * 512).min(8192) } else { blocks * 512 };
        let sgl =
            if inside { Sgl::InCapsule { offset: 0, length: len } } else { Sgl::Transport { length: len } };
        let data = vec![byte(); if inside { len as usize } else { 0 }];
        self.pdu(now, &Pdu::CapsuleCmd { sqe: sqe.with_sgl(sgl), data_len: data.len() as u32 }, &data);
    }

    /// Data for the latest R2T, or for none.
    fn data(&mut self, now: Instant, bytes: &mut impl Iterator<Item = u8>) {
        let mut byte = || bytes.next().unwrap_or_default();
        let spoil = byte();
        let (mut data, all) = match self.asked.take() {
            Some(r2t) => {
                let len = r2t.len.min(1 << 17);
                (DataPdu { cid: r2t.cid, tag: r2t.tag, offset: 0, len, last: true, success: false }, len)
            }
            None => (DataPdu { cid: 0, tag: 0, offset: 0, len: 512, last: true, success: false }, 512),
        };
        match spoil % 8 {
            0 => data.tag = u16::from(byte()),
            1 => data.cid = u16::from(byte()),
            2 => data.offset = u32::from(byte()) << 8,
            3 => data.len = (u32::from(byte()) + 1) << 7,
            4 => data.last = false,
            _ => data.len = all,
        }
        self.pdu(now, &Pdu::H2cData(data), &vec![spoil; data.len as usize]);
    }

    fn step(&mut self, now: Instant) {
        self.shelf.step(now);
        self.session.take_mail();
    }

    /// Takes up to `limit` bytes of what waits and looks at them.
    fn take(&mut self, limit: usize) {
        let mut left = limit;
        while left > 0 && self.session.waiting_bytes() > 0 {
            let mut slices = [IoSlice::new(&[]); 8];
            let count = self.session.slices(&mut slices);
            let mut taken: Vec<u8> = slices[..count].iter().flat_map(|slice| slice.iter().copied()).collect();
            taken.truncate(left);
            left -= taken.len();
            self.session.sent(taken.len());
            self.look(&taken);
        }
    }

    fn look(&mut self, mut bytes: &[u8]) {
        loop {
            let (used, event) = self.reader.feed(bytes).expect("a server speaks well");
            bytes = &bytes[used..];
            match event {
                PduEvent::NeedMore => return,
                PduEvent::Header(Pdu::CapsuleResp(_)) => self.completions += 1,
                PduEvent::Header(Pdu::C2hData(data)) if data.success => self.completions += 1,
                PduEvent::Header(Pdu::R2t(r2t)) => self.asked = Some(r2t),
                _ => {}
            }
        }
    }

    fn end(&mut self, now: Instant) -> usize {
        self.step(now);
        self.take(usize::MAX);
        self.session.hang_up(now);
        // Without ICReq from us, digests may have been agreed on, which the count does not see.
        if self.is_led {
            assert!(self.completions <= self.commands, "more completions than commands");
        }
        self.completions
    }
}
