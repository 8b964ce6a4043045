//! Targets that fall silent, or say what they may not: whatever they do and whenever, a run ends in a sentence, at the
//! second Ctrl-C at the latest; and the settings are put back, or it is said that they could not be.
//!
//! A man in the middle stands between the binary and a virtual SSD. He counts what the drive says on one connection,
//! and at one of its PDUs begins to misbehave. Without the signals the binary would wait for a minute.

use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use measure::record::{self, EndReason};
use nvme::host::tcp::TcpAddress;
use rustix::process::{Pid, Signal, kill_process};

use crate::loopback::drive::Vssd;
use crate::support::{Done, Scratch};

/// Half of what an answer is waited for by itself: a wait that two signals have not ended fails its test.
const PATIENCE: Duration = Duration::from_secs(30);

/// What becomes of a PDU of the drive's, and of all that follow on its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mischief {
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
}

/// Which PDU of which connection: 0 is the admin queue, 1 every I/O queue.
type Misbehaviour = (usize, usize, Mischief);

/// Stands in the middle, and tells once when it begins to misbehave.
fn man_in_the_middle(drive: &Vssd, case: Misbehaviour) -> (SocketAddr, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
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
        if let Some((at, fault)) = fault
            && number == at
        {
            let _ = tell.send(());
            if fault != Mischief::Close {
                misbehave(fault, &pdu, &mut host);
                // What the drive still says comes to nobody, until the host has had enough.
                let _ = std::io::copy(&mut target, &mut std::io::sink());
                let _ = gone.recv();
            }
            break;
        }
        if host.write_all(&pdu).is_err() {
            break;
        }
    }
    let _ = (host.shutdown(Shutdown::Both), target.shutdown(Shutdown::Both));
}

/// The length of a PDU is in bytes 4 to 7 of its header (NVMe TCP Transport 1.1, PDU common header).
fn next_pdu(target: &mut TcpStream) -> Option<Vec<u8>> {
    let mut pdu = vec![0; 8];
    target.read_exact(&mut pdu).ok()?;
    let len = u32::from_le_bytes([pdu[4], pdu[5], pdu[6], pdu[7]]) as usize;
    pdu.resize(len, 0);
    target.read_exact(&mut pdu[8..]).ok()?;
    Some(pdu)
}

fn misbehave(fault: Mischief, pdu: &[u8], host: &mut TcpStream) {
    match fault {
        Mischief::Silent | Mischief::Close => {}
        Mischief::Half => drop(host.write_all(&pdu[..pdu.len() / 2])),
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
        Mischief::Garbage => drop(host.write_all(&[0xa5; 256])),
    }
}

const PLAN: &str = "[settings]\ntmt1 = \"60C\"\n[telemetry]\nsmart_period = \"100ms\"\n\
                    [[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\nduration = \"10m\"\n";

/// Runs against a target of `case`; two signals come as soon as it misbehaves.
fn run_and_interrupt(case: Misbehaviour) -> (Done, Scratch) {
    let drive = Vssd::scaled("relay", 1000, 1);
    let (address, misbehaves) = man_in_the_middle(&drive, case);
    let url = TcpAddress { socket: address, nqn: drive.nqn.clone() }.to_string();
    let scratch = Scratch::new();
    std::fs::write(scratch.path("p.toml"), PLAN).expect("a scratch file");
    let mut command = scratch.command(&["run", "p.toml", "--drive", &url, "--out", "r", "--quiet"]);
    command.env("HEATSOAK_STATE_DIR", scratch.path("state"));
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the binary runs");
    misbehaves.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{case:?}: it does not get that far"));
    let pid = Pid::from_child(&child);
    // Two of one kind may become one on their way (signal(7)).
    for signal in [Signal::INT, Signal::TERM] {
        // Some end by themselves, and are not waited for before this.
        kill_process(pid, signal).expect("a child that was not waited for");
    }
    (end_of(child, pid).unwrap_or_else(|| panic!("{case:?}: two signals did not end it")), scratch)
}

/// How it ended; `None` when it did not, and had to be killed.
fn end_of(child: Child, pid: Pid) -> Option<Done> {
    let (tell, ended) = channel();
    thread::spawn(move || tell.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE) {
        Ok(output) => Some(Done::from(output.expect("it ends"))),
        Err(_) => {
            let _ = kill_process(pid, Signal::KILL);
            None
        }
    }
}

/// Every case ends in a sentence, and where there is a run folder it can be read.
fn all_end(cases: &[Misbehaviour]) {
    for case in cases {
        let (done, scratch) = run_and_interrupt(*case);
        let told = !done.stderr.contains("panicked")
            && ["warning: ", "error: "].iter().any(|word| done.stderr.contains(word));
        assert!(told, "{case:?}: {:?}", done.stderr);
        let silent = matches!(case.2, Mischief::Silent | Mischief::Half | Mischief::Drip);
        // What breaks off by itself may have done so before the signals came.
        let codes: &[i32] = if silent { &[3] } else { &[2, 3] };
        assert!(done.code.is_some_and(|code| codes.contains(&code)), "{case:?}: {done:?}");
        if scratch.path("r/manifest.json").exists() {
            let end = record::read(&scratch.path("r")).expect("a readable run").manifest.end;
            let reason = end.as_ref().map(|end| end.reason);
            let as_told =
                reason == Some(EndReason::Interrupted) || !silent && reason == Some(EndReason::DeviceFailed);
            assert!(as_told, "{case:?}: {end:?}");
        }
        let journals = std::fs::read_dir(scratch.path("state")).into_iter().flatten().flatten();
        let left = journals.filter(|entry| entry.path().extension().is_some_and(|end| end == "json")).count();
        let told = done.stderr.contains("restore");
        assert!(
            left == 0 || told,
            "{case:?}: settings were left changed and nobody was told: {}",
            done.stderr
        );
    }
}

#[test]
fn a_target_that_falls_silent_before_a_run_does_not_hold_it() {
    all_end(&[
        (0, 0, Mischief::Silent),
        (0, 1, Mischief::Silent),
        (0, 2, Mischief::Silent),
        (0, 4, Mischief::Silent),
        (0, 6, Mischief::Silent),
        (0, 9, Mischief::Silent),
        (0, 12, Mischief::Silent),
        (0, 0, Mischief::Half),
        (0, 1, Mischief::Half),
        (0, 7, Mischief::Half),
        (0, 0, Mischief::Drip),
        (0, 6, Mischief::Drip),
    ]);
}

#[test]
fn a_target_that_falls_silent_in_a_run_does_not_hold_it() {
    all_end(&[
        (0, 30, Mischief::Silent),
        (0, 60, Mischief::Silent),
        (0, 120, Mischief::Silent),
        (0, 120, Mischief::Half),
        (1, 0, Mischief::Silent),
        (1, 1, Mischief::Silent),
        (1, 2, Mischief::Silent),
        (1, 100, Mischief::Silent),
        (1, 2, Mischief::Half),
        (1, 101, Mischief::Half),
        (1, 50, Mischief::Drip),
    ]);
}

#[test]
fn a_target_that_says_what_it_may_not_ends_the_run() {
    all_end(&[
        (0, 1, Mischief::Flood),
        (0, 7, Mischief::Flood),
        (0, 0, Mischief::Garbage),
        (0, 6, Mischief::Garbage),
        (0, 0, Mischief::Close),
        (0, 8, Mischief::Close),
        (0, 120, Mischief::Close),
        (1, 50, Mischief::Flood),
        (1, 50, Mischief::Garbage),
        (1, 1, Mischief::Close),
        (1, 50, Mischief::Close),
    ]);
}
