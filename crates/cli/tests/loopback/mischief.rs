//! A man in the middle between the binary and a virtual SSD: he counts what the drive says on one connection, and from
//! one of its PDUs on misbehaves, in one of many ways.

use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::loopback::drive::{Vssd, anywhere};

/// What becomes of a PDU of the drive's, and of all that follow on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mischief {
    /// Nothing comes any more.
    Silent,
    /// Half of it comes, and nothing after that.
    Half,
    /// A byte comes now and then.
    Drip,
    /// It comes again and again.
    Flood,
    /// Something else comes in its place.
    Garbage,
    /// The connection ends.
    Close,
    /// The target's side of the connection ends, and the host's stays open.
    Mute,
    /// A termination request comes.
    EndsIt,
    /// It says that it is two gigabytes long.
    Huge,
    /// It says that it is shorter than its header.
    Tiny,
    /// It is of a type that hosts send.
    OtherWay,
    /// It belongs to a command that nobody sent.
    Stranger,
    /// It comes twice.
    Twice,
    /// Completions say that commands failed.
    Fails,
    /// Completions come, and their data do not.
    NoData,
    /// Data say that they belong somewhere else.
    Elsewhere,
    /// More data come than were asked for.
    TooLong,
    /// Data are asked for that a command does not have.
    AsksForData,
    /// It takes no data at all in a PDU (MAXH2CDATA of 0).
    NoRoom,
    /// It asks who the host is.
    AsksWho,
    /// Its controller is never ready.
    NeverReady,
    /// Digests of headers are wrong.
    HeaderDigest,
    /// Digests of data are wrong.
    DataDigest,
    /// Digests that were agreed on do not come.
    Undigested,
}

/// Which PDU of which connection: 0 is the admin queue, 1 every I/O queue.
pub(super) type Misbehaviour = (usize, usize, Mischief);

// Types of PDUs (NVMe TCP Transport 1.1, PDU types).
const TERMINATION: u8 = 3;
const COMPLETION: u8 = 5;
const DATA_TO_TARGET: u8 = 6;
const DATA: u8 = 7;
const READY_TO_TRANSFER: u8 = 9;

impl Mischief {
    /// Whether it makes a target that a host waits for.
    pub(super) const fn is_silence(self) -> bool {
        matches!(self, Self::Silent | Self::Half | Self::Drip)
    }

    /// Whether host and target have to have agreed on digests.
    pub(super) const fn needs_digests(self) -> bool {
        matches!(self, Self::HeaderDigest | Self::DataDigest | Self::Undigested)
    }

    /// What comes in the place of a PDU, where all that follow are treated alike; `None` for what is no such kind.
    fn instead_of(self, pdu: &[u8]) -> Option<Vec<u8>> {
        let kind = pdu[0];
        let changed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut pdu = pdu.to_vec();
            change(&mut pdu);
            Some(pdu)
        };
        let only = |wanted: u8, change: &dyn Fn(&mut Vec<u8>)| {
            if kind == wanted { changed(change) } else { Some(pdu.to_vec()) }
        };
        match self {
            // Status (bytes 22 and 23 of a completion's PDU): Internal Error, Do Not Retry.
            Self::Fails => {
                only(COMPLETION, &|pdu| pdu[22..24].copy_from_slice(&(0x4006_u16 << 1).to_le_bytes()))
            }
            Self::NoData => only(DATA, &Vec::clear),
            // Offset (bytes 12 to 15) of data.
            Self::Elsewhere => only(DATA, &|pdu| pdu[13] ^= 2),
            Self::TooLong => only(DATA, &|pdu| {
                pdu.extend([0; 512]);
                let (plen, len) = (pdu.len() as u32, field(pdu, 16) + 512);
                pdu[4..8].copy_from_slice(&plen.to_le_bytes());
                pdu[16..20].copy_from_slice(&len.to_le_bytes());
            }),
            // CID: bytes 20 and 21 of a completion, 8 and 9 of everything else.
            Self::Stranger => changed(&|pdu| pdu[if kind == COMPLETION { 20 } else { 8 }] ^= 0x40),
            Self::Twice => Some([pdu, pdu].concat()),
            // The result, bytes 8 to 15 of a completion's PDU.
            Self::NeverReady => only(COMPLETION, &|pdu| pdu[8..16].fill(0)),
            Self::AsksWho => only(COMPLETION, &|pdu| pdu[10] |= 2),
            Self::NoRoom => changed(&|pdu| pdu[12..16].fill(0)),
            // Behind the header, whose length is in byte 2.
            Self::HeaderDigest => changed(&|pdu| {
                let at = usize::from(pdu[2]);
                pdu[at] ^= 1;
            }),
            Self::DataDigest => only(DATA, &|pdu| {
                let last = pdu.len() - 1;
                pdu[last] ^= 1;
            }),
            Self::Undigested => changed(&|pdu| pdu[1] &= !3),
            _ => None,
        }
    }
}

fn field(pdu: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([pdu[at], pdu[at + 1], pdu[at + 2], pdu[at + 3]])
}

/// Stands in the middle, and tells once when it begins to misbehave.
pub(super) fn man_in_the_middle(drive: &Vssd, case: Misbehaviour) -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind(anywhere()).expect("a free port");
    let address = listener.local_addr().expect("it has one");
    let (behind, (tell, told)) = (drive.server.address(), channel());
    thread::spawn(move || {
        for (number, host) in listener.incoming().enumerate() {
            let (Ok(host), Ok(target)) = (host, TcpStream::connect(behind)) else { return };
            let fault = (number.min(1) == case.0).then_some((case.1, case.2));
            let (mut from_host, mut to_target) =
                (host.try_clone().expect("a socket"), target.try_clone().expect("a socket"));
            let (here, gone) = channel();
            thread::spawn(move || {
                let _ = std::io::copy(&mut from_host, &mut to_target);
                let _ = to_target.shutdown(Shutdown::Both);
                // The target may have had enough before the host has.
                let _ = std::io::copy(&mut from_host, &mut std::io::sink());
                drop(here);
            });
            let tell = tell.clone();
            thread::spawn(move || pass_on(target, host, fault, &tell, &gone));
        }
    });
    (address, told)
}

/// Passes on what the drive says, as far as that goes.
fn pass_on(
    mut target: TcpStream,
    mut host: TcpStream,
    fault: Option<(usize, Mischief)>,
    tell: &Sender<()>,
    gone: &Receiver<()>,
) {
    for number in 0.. {
        let Some(pdu) = next_pdu(&mut target) else { break };
        let fault = fault.filter(|(at, _)| number >= *at);
        let Some((at, fault)) = fault else {
            if host.write_all(&pdu).is_err() {
                break;
            }
            continue;
        };
        if number == at {
            let _ = tell.send(());
        }
        if let Some(instead) = fault.instead_of(&pdu) {
            if host.write_all(&instead).is_err() {
                break;
            }
            continue;
        }
        if fault != Mischief::Close {
            misbehave(fault, &pdu, &mut host);
            // What the drive still says comes to nobody, until the host has had enough.
            let _ = std::io::copy(&mut target, &mut std::io::sink());
            let _ = gone.recv();
        }
        break;
    }
    let _ = (host.shutdown(Shutdown::Both), target.shutdown(Shutdown::Both));
}

/// The length of a PDU is in bytes 4 to 7 of its header (NVMe TCP Transport 1.1, PDU common header).
fn next_pdu(target: &mut TcpStream) -> Option<Vec<u8>> {
    let mut pdu = vec![0; 8];
    target.read_exact(&mut pdu).ok()?;
    pdu.resize(field(&pdu, 4) as usize, 0);
    target.read_exact(&mut pdu[8..]).ok()?;
    Some(pdu)
}

fn misbehave(fault: Mischief, pdu: &[u8], host: &mut TcpStream) {
    let mut say = |bytes: &[u8]| drop(host.write_all(bytes));
    let header = |kind: u8, header_len: u8, len: u32| {
        let mut pdu = vec![0; usize::from(header_len)];
        (pdu[0], pdu[2]) = (kind, header_len);
        pdu[4..8].copy_from_slice(&len.to_le_bytes());
        pdu
    };
    match fault {
        Mischief::Half => say(&pdu[..pdu.len() / 2]),
        Mischief::Garbage => say(&[0xa5; 256]),
        Mischief::Huge => say(&header(DATA, 24, 0x7fff_ffff)),
        Mischief::Tiny => say(&header(COMPLETION, 24, 4)),
        Mischief::OtherWay => say(&header(DATA_TO_TARGET, 24, 24)),
        // Fatal error status 2: PDU sequence error.
        Mischief::EndsIt => {
            let mut request = header(TERMINATION, 24, 24);
            request[8] = 2;
            say(&request);
        }
        Mischief::AsksForData => {
            let mut request = header(READY_TO_TRANSFER, 24, 24);
            let cid = if pdu[0] == COMPLETION { 20 } else { 8 };
            request[8..10].copy_from_slice(&pdu[cid..cid + 2]);
            request[17] = 2;
            say(&request);
        }
        Mischief::Mute => drop(host.shutdown(Shutdown::Write)),
        Mischief::Drip => {
            let (_open, never) = channel::<()>();
            for byte in pdu.iter().cycle() {
                let _ = never.recv_timeout(Duration::from_millis(200));
                if host.write_all(&[*byte]).is_err() {
                    return;
                }
            }
        }
        Mischief::Flood => while host.write_all(pdu).is_ok() {},
        _ => {}
    }
}
