//! Runs and restores that are killed, at every step and by the hundred: no setting is lost.
//!
//! A proxy stands between the binary and a virtual SSD, counts what the binary says, and has it killed at the PDU that a
//! case names: held back, or passed on and not answered. Another host stays connected meanwhile, and by that the drive
//! keeps its settings over the binary's connections, as a drive of metal does.
//!
//! Seeded. `HEATSOAK_CASES` says how many kills there are (docs/HACKING.md); a case that fails is its number.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use drive::settings::{Change, DriveSettings, Setting, Value};
use measure::Kelvin;
use nvme::hctm::Hctm;
use nvme::host::tcp::{TcpAddress, TcpController, TcpOptions};

use crate::loopback::drive::{Vssd, anywhere};
use crate::loopback::lifetime::Process;
use crate::support::Scratch;

/// A step that takes longer will not come.
const PATIENCE: Duration = Duration::from_secs(60);

const PLAN: &str = "[settings]\ntmt1 = \"60C\"\ntmt2 = \"70C\"\n[telemetry]\nsmart_period = \"100ms\"\n\
                    [[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\nduration = \"10m\"\n";

/// How many kills: as many as are asked for, else what every check can afford.
fn kills_wanted() -> usize {
    std::env::var("HEATSOAK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(100)
}

/// What is to happen at one of the binary's PDUs.
#[derive(Clone, Copy, Debug)]
struct Trap {
    /// So many are passed on before.
    after: usize,
    /// Whether it is passed on as well: the drive does what the binary never learns of.
    passes: bool,
}

/// The trap that is set, and who is told when it snaps.
type Armed = Arc<Mutex<Option<(Trap, Sender<()>)>>>;

/// Stands between the binary and the drive.
struct Proxy {
    address: SocketAddr,
    armed: Armed,
}

impl Proxy {
    fn start(behind: SocketAddr) -> Self {
        let listener = TcpListener::bind(anywhere()).expect("a free port");
        let address = listener.local_addr().expect("it has one");
        let armed = Armed::default();
        let shared = Arc::clone(&armed);
        thread::spawn(move || {
            for host in listener.incoming() {
                let (Ok(host), Ok(target)) = (host, TcpStream::connect(behind)) else { continue };
                let (mut answers, mut to_host) =
                    (target.try_clone().expect("a socket"), host.try_clone().expect("a socket"));
                thread::spawn(move || {
                    let _ = std::io::copy(&mut answers, &mut to_host);
                    let _ = to_host.shutdown(Shutdown::Both);
                });
                let armed = Arc::clone(&shared);
                thread::spawn(move || pass_on(host, target, &armed));
            }
        });
        Self { address, armed }
    }

    fn arm(&self, trap: Trap) -> Receiver<()> {
        let (tell, snapped) = channel();
        *self.armed.lock().expect("whole") = Some((trap, tell));
        snapped
    }

    fn disarm(&self) {
        *self.armed.lock().expect("whole") = None;
    }
}

/// Passes on what the binary says, up to the trap.
fn pass_on(mut host: TcpStream, mut target: TcpStream, armed: &Armed) {
    while let Some(pdu) = next_pdu(&mut host) {
        let snapped = {
            let mut armed = armed.lock().expect("whole");
            match &mut *armed {
                Some((trap, _)) if trap.after > 0 => {
                    trap.after -= 1;
                    None
                }
                other => other.take(),
            }
        };
        let passes = snapped.as_ref().is_none_or(|(trap, _)| trap.passes);
        if passes && target.write_all(&pdu).is_err() {
            break;
        }
        if let Some((_, tell)) = snapped {
            let _ = tell.send(());
        }
    }
    let _ = target.shutdown(Shutdown::Both);
}

/// The length of a PDU is in bytes 4 to 7 of its header (NVMe TCP Transport 1.1, PDU common header).
fn next_pdu(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut pdu = vec![0; 8];
    stream.read_exact(&mut pdu).ok()?;
    pdu.resize(u32::from_le_bytes([pdu[4], pdu[5], pdu[6], pdu[7]]) as usize, 0);
    stream.read_exact(&mut pdu[8..]).ok()?;
    Some(pdu)
}

/// A drive behind a proxy, a folder for journals, and a host that stays.
struct Yard {
    drive: Vssd,
    proxy: Proxy,
    scratch: Scratch,
    keeper: DriveSettings<'static>,
    found: [Value; 2],
}

impl Yard {
    fn new() -> Self {
        let drive = Vssd::scaled("relay", 1000, 1);
        // For ever: on a crowded machine a sign of life may come late.
        let for_ever = TcpOptions { keep_alive: Duration::ZERO, ..TcpOptions::default() };
        let keeper = TcpController::connect(&drive.address(), &for_ever).expect("it takes hosts");
        let mut keeper = DriveSettings::open(keeper).expect("it says who it is");
        let before = Hctm { tmt1: Some(Kelvin::from_kelvin(331)), tmt2: Some(Kelvin::from_kelvin(352)) };
        keeper.apply(&Change::hctm(before), false).expect("in range");
        let proxy = Proxy::start(drive.server.address());
        let scratch = Scratch::new();
        std::fs::write(scratch.path("p.toml"), PLAN).expect("a scratch file");
        let found = settings_of(&mut keeper);
        Self { drive, proxy, scratch, keeper, found }
    }

    fn settings(&mut self) -> [Value; 2] {
        settings_of(&mut self.keeper)
    }

    fn has_journal(&self) -> bool {
        journals(&self.scratch) > 0
    }

    fn url(&self) -> String {
        TcpAddress { socket: self.proxy.address, nqn: self.drive.nqn.clone() }.to_string()
    }

    fn spawn(&self, args: &[&str]) -> Child {
        let mut command = self.scratch.command(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs")
    }

    /// Starts the binary and kills it at the trap; false when it had ended before that.
    fn killed(&self, args: &[&str], trap: Trap) -> bool {
        let snapped = self.proxy.arm(trap);
        let mut child = self.spawn(args);
        let was_killed = wait_for(&snapped, &mut child);
        self.proxy.disarm();
        // What has ended cannot be killed any more.
        let _ = child.kill();
        child.wait().expect("it ends");
        // What was on its way has come to the drive by then, or never will.
        while self.drive.unit().connections() > 1 {
            thread::yield_now();
        }
        was_killed
    }
}

/// Settings as the drive has them.
fn settings_of(keeper: &mut DriveSettings<'_>) -> [Value; 2] {
    [Setting::Hctm, Setting::PowerState].map(|setting| keeper.read(setting).expect("it has it").current)
}

/// Waits until the trap has snapped, or the child has ended.
fn wait_for(snapped: &Receiver<()>, child: &mut Child) -> bool {
    for _ in 0..PATIENCE.as_millis() {
        if snapped.recv_timeout(Duration::from_millis(1)).is_ok() {
            return true;
        }
        if child.try_wait().expect("a child").is_some() {
            return snapped.try_recv().is_ok();
        }
    }
    panic!("it neither ends nor gets that far");
}

fn journals(scratch: &Scratch) -> usize {
    let entries = std::fs::read_dir(scratch.path("state")).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".json")).count()
}

/// Random numbers: splitmix64 (Steele, Lea, Flood 2014).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound) as usize
    }

    fn trap(&mut self, bound: u64) -> Trap {
        Trap { after: self.below(bound), passes: self.below(2) == 0 }
    }
}

/// A run says so much until its load goes, and a while into that; a restore so much in all.
const RUN_PDUS: u64 = 90;
const RESTORE_PDUS: u64 = 30;

/// Goal: whenever a run or a restore is killed, a setting is as it was found or its journal is there, and `restore` makes
/// it so. Method: kills at random PDUs; the truth is what another host reads from the drive.
#[test]
fn kills_of_run_and_of_restore_lose_no_setting() {
    let (wanted, mut yard) = (kills_wanted(), Yard::new());
    let url = yard.url();
    let (mut runs, mut restores, mut changed, mut case) = (0, 0, 0, 0);
    while runs + restores < wanted {
        let mut dice = Dice(case);
        let trap = dice.trap(RUN_PDUS);
        let out = format!("r{case}");
        assert!(
            yard.killed(&["run", "p.toml", "--drive", &url, "--out", &out], trap),
            "case {case}: it ended"
        );
        runs += 1;
        let _ = std::fs::remove_dir_all(yard.scratch.path(&out));
        let found = yard.found;
        let is_changed = yard.settings() != found;
        changed += usize::from(is_changed);
        assert!(!is_changed || yard.has_journal(), "case {case}: {trap:?} of the run lost {found:?}");
        while yard.has_journal() {
            let trap = dice.trap(RESTORE_PDUS);
            restores += usize::from(yard.killed(&["restore"], trap));
            let is_changed = yard.settings() != found;
            assert!(!is_changed || yard.has_journal(), "case {case}: {trap:?} of a restore lost {found:?}");
        }
        assert_eq!(yard.settings(), found, "case {case}");
        case += 1;
    }
    println!("{runs} kills of run, {restores} of restore; {changed} came while settings were changed");
    assert!(changed * 10 >= runs && restores * 10 >= runs, "{changed} changed, {restores} of restore");
}

/// Goal: the same when the drive's side is killed with it. Method: `heatsoak vssd` as a process with a state file, killed
/// at the same moment and started again on its port; what it had not saved is then as at its last power cycle, and restore
/// sets what was found.
#[test]
fn kills_of_both_ends_lose_no_setting() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("p.toml"), PLAN).expect("a scratch file");
    let args = ["--profile", "relay", "--name", "both", "--state", "drive.json", "--time-scale", "1000"];
    let (mut vssd, told) = Process::start(&scratch, &args);
    let port = told["port"].as_u64().expect("a port").to_string();
    let url = told["drives"][0]["url"].as_str().expect("an address").to_owned();
    let tool = |args: &[&str]| scratch.run(args);
    let saved = tool(&["hctm", &url, "--tmt1", "331K", "--tmt2", "352K", "--save"]);
    assert_eq!(saved.code, Some(0), "{}", saved.stderr);
    let proxy = Proxy::start(format!("127.0.0.1:{port}").parse().expect("an address"));
    let behind = url.replace(&format!(":{port}/"), &format!(":{}/", proxy.address.port()));
    let thresholds = || {
        let shown = tool(&["hctm", &behind, "--json"]);
        let shown: serde_json::Value = serde_json::from_str(&shown.stdout).expect("one document");
        let current = &shown["hctm"]["current"];
        (current["tmt1_k"].clone(), current["tmt2_k"].clone())
    };
    let found = thresholds();
    assert_eq!(found, (331.into(), 352.into()));
    let mut left = 0;
    for case in 0..(kills_wanted() / 10).max(1) as u64 {
        let trap = Dice(case).trap(RUN_PDUS);
        let snapped = proxy.arm(trap);
        let out = format!("r{case}");
        let mut command = scratch.command(&["run", "p.toml", "--drive", &behind, "--out", &out, "--quiet"]);
        command.stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        assert!(wait_for(&snapped, &mut child), "case {case}: it ended");
        let _ = (vssd.kill(), child.kill());
        child.wait().expect("it ends");
        let listen = format!("127.0.0.1:{port}");
        (vssd, _) = Process::start(&scratch, &[&args[..], &["--listen", &listen]].concat());
        if journals(&scratch) > 0 {
            left += 1;
            let done = tool(&["restore"]);
            assert_eq!(done.code, Some(0), "case {case}: {}{}", done.stdout, done.stderr);
        }
        assert_eq!((thresholds(), journals(&scratch)), (found.clone(), 0), "case {case}: {trap:?}");
    }
    println!("both ends killed, {left} journals left and put back");
    assert!(left > 0, "no kill came while a journal was there");
}
