//! Targets that fall silent, or say what they may not: whatever they do and whenever, a run ends in a sentence, at the
//! second Ctrl-C at the latest; and the settings are put back, or it is said that they could not be.
//!
//! Without the signals the binary would wait for a minute. Twenty-five kinds of targets; with `--nocapture` each test says
//! how long the slowest of its cases took from the signals to its end.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use measure::record::{self, EndReason};
use measure::{Clock as _, MonotonicClock};
use nvme::host::tcp::TcpAddress;
use rustix::process::{Pid, Signal, kill_process};

use crate::loopback::drive::{Vssd, anywhere};
use crate::loopback::mischief::{Misbehaviour, Mischief, man_in_the_middle};
use crate::support::{Done, Scratch};

/// Half of what an answer is waited for by itself: a wait that two signals have not ended fails its test.
const PATIENCE: Duration = Duration::from_secs(30);

const PLAN: &str = "[settings]\ntmt1 = \"60C\"\n[telemetry]\nsmart_period = \"100ms\"\n\
                    [[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\nduration = \"10m\"\n";

/// Runs against a target of `case`; two signals come as soon as it misbehaves. How it ended, and how many milliseconds
/// after the signals.
fn run_and_interrupt(case: Misbehaviour) -> (Done, Scratch, u64) {
    let drive = Vssd::scaled("relay", 1000, 1);
    let (address, misbehaves) = man_in_the_middle(&drive, case);
    let plain = TcpAddress { socket: address, nqn: drive.nqn.clone() }.to_string();
    let url = if case.2.needs_digests() { plain + "?hdr-digest=yes&data-digest=yes" } else { plain };
    let scratch = Scratch::new();
    std::fs::write(scratch.path("p.toml"), PLAN).expect("a scratch file");
    let mut command = scratch.command(&["run", "p.toml", "--drive", &url, "--out", "r", "--quiet"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("the binary runs");
    misbehaves.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{case:?}: it does not get that far"));
    let pid = Pid::from_child(&child);
    // Two of one kind may become one on their way (signal(7)).
    for signal in [Signal::INT, Signal::TERM] {
        // Some end by themselves, and are not waited for before this.
        kill_process(pid, signal).expect("a child that was not waited for");
    }
    let clock = MonotonicClock::start();
    let done = end_of(child, pid).unwrap_or_else(|| panic!("{case:?}: two signals did not end it"));
    (done, scratch, clock.now().as_ns() / 1_000_000)
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

/// Every case ends in a sentence, and where there is a run folder it can be read. Says which ended last, in milliseconds
/// after the signals: no check, because a machine may be crowded.
fn all_end(cases: &[Misbehaviour]) -> String {
    let mut latest = (0, None);
    for case in cases {
        let (done, scratch, ms) = run_and_interrupt(*case);
        latest = latest.max((ms, Some(format!("{case:?}"))));
        let told = !done.stderr.contains("panicked")
            && ["warning: ", "error: "].iter().any(|word| done.stderr.contains(word));
        assert!(told, "{case:?}: {:?}", done.stderr);
        let silent = case.2.is_silence();
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
    let (ms, case) = latest;
    format!("{} cases; latest end {ms} ms after the signals, {}", cases.len(), case.unwrap_or_default())
}

#[test]
fn a_target_that_falls_silent_before_a_run_does_not_hold_it() {
    let latest = all_end(&[
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
    println!("{latest}");
}

#[test]
fn a_target_that_falls_silent_in_a_run_does_not_hold_it() {
    let latest = all_end(&[
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
    println!("{latest}");
}

#[test]
fn a_target_that_says_what_it_may_not_ends_the_run() {
    let latest = all_end(&[
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
    println!("{latest}");
}

/// Each kind on the admin queue while a run is prepared, on both queues in the middle of it, or at the one PDU that it
/// is about.
#[test]
fn a_target_that_speaks_wrongly_ends_the_run() {
    let latest = all_end(&[
        (0, 0, Mischief::NoRoom),
        (0, 1, Mischief::AsksWho),
        (0, 5, Mischief::NeverReady),
        (0, 6, Mischief::EndsIt),
        (1, 50, Mischief::EndsIt),
        (0, 6, Mischief::Huge),
        (1, 50, Mischief::Huge),
        (0, 6, Mischief::Tiny),
        (1, 50, Mischief::Tiny),
        (0, 6, Mischief::OtherWay),
        (1, 50, Mischief::OtherWay),
        (0, 6, Mischief::Stranger),
        (1, 50, Mischief::Stranger),
    ]);
    println!("{latest}");
}

#[test]
fn a_target_whose_answers_are_wrong_ends_the_run() {
    let latest = all_end(&[
        (0, 6, Mischief::Twice),
        (1, 50, Mischief::Twice),
        (0, 120, Mischief::Fails),
        (1, 50, Mischief::Fails),
        (0, 8, Mischief::NoData),
        (1, 50, Mischief::NoData),
        (0, 7, Mischief::Elsewhere),
        (1, 51, Mischief::Elsewhere),
        (0, 7, Mischief::TooLong),
        (1, 51, Mischief::TooLong),
        (0, 6, Mischief::AsksForData),
        (1, 50, Mischief::AsksForData),
        (1, 50, Mischief::Mute),
        (0, 2, Mischief::HeaderDigest),
        (0, 120, Mischief::HeaderDigest),
        (1, 50, Mischief::HeaderDigest),
        (0, 6, Mischief::DataDigest),
        (0, 120, Mischief::DataDigest),
        (1, 50, Mischief::DataDigest),
        (0, 2, Mischief::Undigested),
    ]);
    println!("{latest}");
}

/// A port that nobody answers at, as behind a firewall that drops packets: Linux drops what wants to connect to a listener
/// whose queue is full (tcp(7), somaxconn).
fn nobody_answers() -> (SocketAddr, Vec<TcpStream>, TcpListener) {
    let listener = TcpListener::bind(anywhere()).expect("a free port");
    let address = listener.local_addr().expect("it has one");
    // Nobody takes them; on loopback an answer takes microseconds, and a connection that has none in this time gets none.
    let waiting = std::iter::from_fn(|| TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok());
    (address, waiting.collect(), listener)
}

#[test]
fn an_address_that_nobody_answers_at_does_not_hold_a_run() {
    let (address, _waiting, _listener) = nobody_answers();
    let url = TcpAddress { socket: address, nqn: "nqn.2014-08.org.example:nobody".to_owned() }.to_string();
    for command in [&["run", "quick", "--out", "r", "--quiet", "--drive"][..], &["inspect"], &["hctm"]] {
        let scratch = Scratch::new();
        let mut tool = scratch.command(&[command, &[&url]].concat());
        let child = tool.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("the binary runs");
        let pid = Pid::from_child(&child);
        wait_until_it_dials(pid, address);
        for signal in [Signal::INT, Signal::TERM] {
            kill_process(pid, signal).expect("a child that was not waited for");
        }
        let clock = MonotonicClock::start();
        let done = end_of(child, pid).unwrap_or_else(|| panic!("{command:?}: two signals did not end it"));
        println!("{command:?} without an answer: {} ms after the signals", clock.now().as_ns() / 1_000_000);
        let told = ["warning: ", "error: "].iter().any(|word| done.stderr.contains(word));
        // What changes nothing takes a signal as every program does, and ends without a word.
        assert!((told || done.code.is_none()) && !done.stderr.contains("panicked"), "{command:?}: {done:?}");
        assert!(!scratch.path("r").exists(), "{command:?}: nothing was begun");
    }
}

/// Waits until the kernel shows a connection of this process that has been asked for and not been answered
/// (`/proc/net/tcp`, state 02 SYN_SENT).
fn wait_until_it_dials(pid: Pid, address: SocketAddr) {
    let wanted = format!(":{:04X} 02 ", address.port());
    let table = format!("/proc/{}/net/tcp", pid.as_raw_nonzero());
    let (_open, never) = channel::<()>();
    for _ in 0..PATIENCE.as_millis() / 10 {
        if std::fs::read_to_string(&table).unwrap_or_default().contains(&wanted) {
            return;
        }
        let _ = never.recv_timeout(Duration::from_millis(10));
    }
    panic!("it does not dial");
}
