//! Restarts: a target that ends under a host, saved settings, a control socket, signals.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use drive::settings::{Change, DriveSettings, Setting};
use measure::Kelvin;
use nvme::hctm::Hctm;
use nvme::host::tcp::{TcpAddress, TcpController, TcpOptions};

use crate::support::{Scratch, schema};

/// `heatsoak vssd` as a process.
pub(super) struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Process {
    pub(super) fn start(scratch: &Scratch, more: &[&str]) -> (Self, serde_json::Value) {
        let mut args = vec!["vssd", "--json"];
        if !more.contains(&"--listen") {
            args.extend(["--listen", "127.0.0.1:0"]);
        }
        args.extend(more);
        let mut child = scratch
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        out.read_line(&mut line).expect("one line");
        let told = serde_json::from_str(&line).expect("JSON");
        schema::must_fit("vssd", &told);
        (Self { child, out }, told)
    }

    /// Ends it as a power cut would.
    pub(super) fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(|_| ())
    }

    fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(done.expect("kill is there").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Over already, mostly.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(told: &serde_json::Value) -> DriveSettings<'static> {
    let url = told["drives"][0]["url"].as_str().expect("an address");
    let address = TcpAddress::parse(url).expect("an address");
    let controller = TcpController::connect(&address, &TcpOptions::default()).expect("it takes hosts");
    DriveSettings::open(controller).expect("it says who it is")
}

fn tmt(tmt1_k: u16, tmt2_k: u16) -> Change {
    Change::hctm(Hctm { tmt1: Some(Kelvin::from_kelvin(tmt1_k)), tmt2: Some(Kelvin::from_kelvin(tmt2_k)) })
}

#[test]
fn saved_settings_outlive_a_kill_and_others_do_not() {
    let scratch = Scratch::new();
    let more = ["--profile", "relay", "--state", "state.json"];
    let (process, told) = Process::start(&scratch, &more);
    let mut drive = connect(&told);
    drive.apply(&tmt(330, 340), true).expect("saved");
    drive.apply(&tmt(335, 345), false).expect("not saved");
    // Completed is saved: nothing is lost however it ends.
    process.signal("-KILL");
    drop(process);
    let error = drive.controller().smart_log().expect_err("it is gone");
    assert!(error.is_gone(), "{error}");

    let (process, told) = Process::start(&scratch, &more);
    let values = connect(&told).read(Setting::Hctm).expect("it has HCTM");
    let saved = tmt(330, 340).value;
    assert_eq!((values.current, values.saved), (saved, Some(saved)));
    assert_ne!(values.default, Some(saved));
    drop(process);
}

/// The NQN and the serial number of a start.
fn identity(told: &serde_json::Value) -> [String; 2] {
    ["nqn", "serial"].map(|name| told["drives"][0][name].as_str().expect("it says who it is").to_owned())
}

#[test]
fn each_start_is_a_drive_of_its_own_unless_it_is_named_or_kept() {
    let scratch = Scratch::new();
    let start = |more: &[&str]| {
        let (process, told) = Process::start(&scratch, &[&["--profile", "relay"], more].concat());
        (process, identity(&told))
    };
    // Two at once can be connected to one host.
    let ((_first, one), (_second, two)) = (start(&[]), start(&[]));
    assert!(one[0] != two[0] && one[1] != two[1], "{one:?} {two:?}");
    let named = start(&["--name", "lab-1"]).1;
    assert!(named[0].ends_with(":lab-1") && start(&["--name", "lab-1"]).1 == named, "{named:?}");
    for kept in [["--state", "state.json"], ["--backing", "data.raw"]] {
        let first = start(&kept).1;
        assert!(first != named && first[0] != one[0] && start(&kept).1 == first, "{first:?}");
    }
}

/// The counters of the health log that only ever grow.
fn counters(drive: &mut DriveSettings<'static>) -> [u128; 7] {
    let log = drive.controller().smart_log().expect("a log");
    let units = [log.data_units_read, log.data_units_written].map(|units| units.as_u128());
    [
        log.power_on_hours,
        units[0],
        units[1],
        log.busy_minutes,
        log.host_reads,
        log.host_writes,
        log.error_log_entries,
    ]
}

#[test]
fn counters_go_on_after_a_kill_and_after_an_end() {
    let scratch = Scratch::new();
    // An hour is a third of a second.
    let more = ["--profile", "ssd1", "--state", "state.json", "--time-scale", "10000"];
    let mut before = [0; 7];
    let mut cycles = Vec::new();
    for signal in ["-KILL", "-TERM", "-KILL", "-TERM"] {
        let (mut process, told) = Process::start(&scratch, &more);
        let mut drive = connect(&told);
        let now = counters(&mut drive);
        assert!(now.iter().zip(&before).all(|(now, before)| now >= before), "{now:?} after {before:?}");
        let log = drive.controller().smart_log().expect("a log");
        cycles.push((log.power_cycles, log.unsafe_shutdowns));
        // Until it is an hour older.
        before = (0..1_000_000)
            .map(|_| counters(&mut drive))
            .find(|later| later[0] > now[0])
            .expect("time passes");
        process.signal(signal);
        process.child.wait().expect("it ends");
    }
    assert_eq!(cycles, [(1, 0), (2, 1), (3, 1), (4, 2)]);
    let mode = std::fs::metadata(scratch.path("state.json")).expect("kept").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the user's alone");
}

/// Goal: nobody's data are lost. Method: a user's file, by its name and by a link, and ours over two starts.
#[test]
fn a_file_of_the_user_is_not_served() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("letter"), "dear reader").expect("room");
    std::os::unix::fs::symlink("letter", scratch.path("link")).expect("a link");
    for (path, part) in [("letter", "--overwrite"), ("link", "symbolic link")] {
        let done = scratch.run(&["vssd", "--backing", path]);
        assert_eq!(done.code, Some(2), "{}", done.stderr);
        assert!(done.stderr.contains(part), "{}", done.stderr);
        assert_eq!(std::fs::read(scratch.path("letter")).expect("there"), b"dear reader");
    }
    drop(Process::start(&scratch, &["--backing", "letter", "--overwrite"]));
    for _ in 0..2 {
        drop(Process::start(&scratch, &["--backing", "ours"]));
    }
    let mode = std::fs::metadata(scratch.path("ours")).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the user's alone");
}

#[test]
fn inspect_looks_while_another_host_is_connected() {
    let scratch = Scratch::new();
    let (_process, told) = Process::start(&scratch, &["--profile", "relay"]);
    let mut first = connect(&told);
    first.apply(&tmt(330, 340), false).expect("in range");
    let url = told["drives"][0]["url"].as_str().expect("an address");
    let done = scratch.run(&["inspect", url, "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let seen = connect(&told).read(Setting::Hctm).expect("it has HCTM");
    assert_eq!(seen.current, tmt(330, 340).value, "it is the same drive");
    first.controller().smart_log().expect("and the first goes on");
    let (_alone, told) = Process::start(&scratch, &["--profile", "relay", "--hosts", "1"]);
    let _first = connect(&told);
    let done = scratch.run(&["inspect", told["drives"][0]["url"].as_str().expect("an address")]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
}

#[test]
fn a_host_that_is_not_allowed_is_refused() {
    let scratch = Scratch::new();
    let allowed = TcpOptions::default().host_nqn;
    for (host, code) in [(allowed.as_str(), 0), ("nqn.2014-08.org.nvmexpress:other", 2)] {
        let (_process, told) = Process::start(&scratch, &["--allow-host", host]);
        let done = scratch.run(&["inspect", told["drives"][0]["url"].as_str().expect("an address")]);
        assert_eq!(done.code, Some(code), "{}", done.stderr);
    }
}

#[test]
fn what_cannot_be_served_is_refused_with_a_sentence() {
    let scratch = Scratch::new();
    let foreign = format!("{}:0", std::net::Ipv4Addr::from([10, 0, 0, 1]));
    for (args, part) in [
        (["--profile", "ssd17"], "ssd1"),
        (["--time-scale", "0"], "--time-scale"),
        (["--size", "1KiB"], "1 KiB large"),
        (["--state", "/"], "/"),
        (["--state", "no/such/folder"], "cannot write the state file"),
        (["--name", "a:b"], "letters"),
        (["--hosts", "0"], "--hosts"),
        (["--backing", "/"], "a folder"),
        (["--listen", foreign.as_str()], "nothing is encrypted"),
    ] {
        // What is refused never listens, so the usual port is nobody's.
        let done = scratch.run(&["vssd", args[0], args[1]]);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(part), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn sigterm_ends_it_cleanly() {
    let scratch = Scratch::new();
    let (mut process, told) = Process::start(&scratch, &["--control", "control.sock"]);
    let mut drive = connect(&told);
    drive.controller().smart_log().expect("it is there");
    assert!(scratch.path("control.sock").exists());
    process.signal("-TERM");
    assert_eq!(process.child.wait().expect("it ends").code(), Some(0));
    assert!(!scratch.path("control.sock").exists(), "it leaves no socket behind");
    let mut rest = String::new();
    process.out.read_line(&mut rest).expect("its end");
    assert_eq!(rest, "", "one line of JSON and no more");
    assert!(drive.controller().smart_log().expect_err("it is gone").is_gone());
}

#[test]
fn surroundings_and_faults_change_at_run_time() {
    let scratch = Scratch::new();
    let (_process, told) =
        Process::start(&scratch, &["--shelf", "--time-scale", "1000", "--control", "control.sock"]);
    let mut socket = UnixStream::connect(scratch.path("control.sock")).expect("it listens");
    let mut answers = BufReader::new(socket.try_clone().expect("a second handle"));
    let mut ask = |line: &str| {
        socket.write_all(format!("{line}\n").as_bytes()).expect("it takes requests");
        let mut answer = String::new();
        answers.read_line(&mut answer).expect("it answers");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["simulated"], true, "{answer}");
        answer
    };
    assert_eq!(
        ask(r#"{"do":"status"}"#)["drives"].as_array().map(Vec::len),
        told["drives"].as_array().map(Vec::len)
    );
    let url = told["drives"][0]["url"].as_str().expect("an address").to_owned();
    let name = told["drives"][0]["profile"].as_str().expect("a name").to_owned();
    let mut drive = connect(&told);
    let controller = drive.controller();
    let cool = controller.smart_log().expect("a log").composite.expect("a reading");
    assert_eq!(ask(&format!(r#"{{"do":"ambient","drive":"{name}","celsius":70}}"#))["ok"], true);
    // A thousand times faster than life: it is warmer before many answers have come.
    let warmer = (0..100_000).any(|_| controller.smart_log().expect("a log").composite > Some(cool));
    assert!(warmer, "{url} follows its surroundings");

    let fault = r#"{"fault":"command","on":{"queue":"admin","opcode":2},"act":{"fail":{"status":2}}}"#;
    let answer = ask(&format!(r#"{{"do":"inject","drive":"{name}","fault":{fault}}}"#));
    let number = answer["number"].as_u64().expect("a number");
    assert!(controller.smart_log().is_err(), "the fault acts");
    assert_eq!(
        ask(&format!(r#"{{"do":"faults","drive":"{name}"}}"#))["faults"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(ask(&format!(r#"{{"do":"clear","drive":"{name}","number":{number}}}"#))["cleared"], true);
    controller.smart_log().expect("it works again");

    ask(&format!(r#"{{"do":"inject","drive":"{name}","fault":{{"fault":"vanish"}}}}"#));
    let gone = (0..100_000).find_map(|_| controller.smart_log().err()).expect("the connection breaks off");
    assert!(gone.is_gone(), "{gone}");
    ask(&format!(r#"{{"do":"clear","drive":"{name}"}}"#));
    connect(&told).controller().smart_log().expect("it is back");
}
