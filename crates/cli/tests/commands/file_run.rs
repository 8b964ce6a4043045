//! Runs on a real file: killed, interrupted, and with a disk that fills up.
//!
//! Small sizes, and every wait is for a condition. Files lie in the build's own scratch folder, whose file
//! system is a real one.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use measure::record::{self, EndReason, Record};
use measure::{Clock as _, MonotonicClock};
use rustix::process::{Pid, Signal, kill_process};

use crate::commands::found::files;
use crate::support::{Done, Scratch};

/// Reads at random, for longer than any test waits.
const READS: &str = "[[phase]]\nname = \"read\"\nop = \"randread\"\nblock_size = \"4KiB\"\n\
                     depth = 4\nduration = \"10m\"\n";

/// A run that nothing has happened to for so long will not get further.
const WAIT_MAX_S: f64 = 60.0;

/// A run on a file that is under way.
struct Running<'a> {
    scratch: &'a Scratch,
    child: Child,
    out: &'static str,
}

impl<'a> Running<'a> {
    fn start(scratch: &'a Scratch, out: &'static str) -> Self {
        Self::of_plan(scratch, out, READS)
    }

    fn of_plan(scratch: &'a Scratch, out: &'static str, plan: &str) -> Self {
        Self::spawned(scratch, out, plan, |run| run)
    }

    /// `wrap` makes another command of the one that runs the binary.
    fn spawned(
        scratch: &'a Scratch,
        out: &'static str,
        plan: &str,
        wrap: impl FnOnce(Command) -> Command,
    ) -> Self {
        std::fs::write(scratch.path("plan.toml"), plan).expect("a scratch file");
        let args = ["run", "plan.toml", "--drive", "file:t.bin?size=16MiB", "--out", out, "--quiet"];
        let child = wrap(scratch.command(&args))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        Self { scratch, child, out }
    }

    /// Waits until `is_so`.
    fn wait_until(&mut self, mut is_so: impl FnMut() -> bool) {
        let clock = MonotonicClock::start();
        while !is_so() {
            assert!(clock.now().as_secs_f64() < WAIT_MAX_S, "{} does not get further", self.out);
            assert_eq!(self.child.try_wait().expect("a child"), None, "it ended by itself");
            std::thread::yield_now();
        }
    }

    /// Waits until there is a manifest: from then on it is a run folder.
    fn wait_for_manifest(&mut self) {
        let manifest = self.scratch.path(self.out).join("manifest.json");
        self.wait_until(|| manifest.exists());
    }

    /// Waits until so many intervals of load can be read. They come in batches, twice a second.
    fn wait_for_intervals(&mut self, count: usize) {
        self.wait_for_manifest();
        let dir = self.scratch.path(self.out);
        self.wait_until(|| record::read(&dir).expect("a readable run").io.len() >= count);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it is there");
    }

    fn end(self) -> Done {
        Done::from(self.child.wait_with_output().expect("it ends"))
    }
}

/// How much of the end is missing: from the end of the last interval to `monotonic_ns`, in seconds.
fn missing_s(record: &Record, monotonic_ns: u64) -> f64 {
    let zero = record.manifest.clock_anchor.monotonic_ns.expect("real time has an anchor");
    let last = record.io.iter().map(|row| (row.t + row.span).as_ns()).max().unwrap_or(0);
    (monotonic_ns - zero - last) as f64 / 1e9
}

#[test]
fn a_killed_run_is_readable_and_misses_at_most_its_last_second() {
    let scratch = Scratch::new();
    for (intervals, out) in [(1, "k1"), (6, "k6"), (13, "k13"), (30, "k30")] {
        let mut running = Running::start(&scratch, out);
        running.wait_for_intervals(intervals);
        let killed_ns = MonotonicClock::start().start_monotonic_ns();
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, None);
        let record = record::read(&scratch.path(out)).expect("a readable run");
        assert!(record.unfinished);
        let missing = missing_s(&record, killed_ns);
        assert!(missing <= 1.0, "{missing:.2} s are missing of {out}");
        let done = scratch.run(&["analyze", out, "--json"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        let told: serde_json::Value = serde_json::from_str(&done.stdout).expect("findings");
        assert!(record.io.iter().any(|row| row.ios > 0), "{out} has no load in it");
        // Half a second of load is no stretch to speak of.
        assert!(intervals < 30 || told["segments"][0]["op"] == "read", "{told}");
        assert_eq!(scratch.run(&["report", out]).code, Some(0));
    }
}

/// Goal: a folder that has nothing but its manifest is a run too. Method: killed as soon as that is there.
#[test]
fn a_run_killed_at_its_very_beginning_is_readable() {
    let scratch = Scratch::new();
    let mut running = Running::start(&scratch, "r");
    running.wait_for_manifest();
    running.signal(Signal::KILL);
    running.end();
    let done = scratch.run(&["analyze", "r"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
}

#[test]
fn ctrl_c_sigterm_and_sighup_end_a_run_cleanly() {
    let scratch = Scratch::new();
    for (signal, out) in [(Signal::INT, "int"), (Signal::TERM, "term"), (Signal::HUP, "hup")] {
        let mut running = Running::start(&scratch, out);
        running.wait_for_intervals(1);
        running.signal(signal);
        let done = running.end();
        assert_eq!(done.code, Some(3), "{}", done.stderr);
        assert!(done.stderr.contains("stopped by the user"), "{}", done.stderr);
        let record = record::read(&scratch.path(out)).expect("a readable run");
        assert_eq!(record.manifest.end.as_ref().map(|end| end.reason), Some(EndReason::Interrupted));
        assert_eq!(record.manifest.phases[0].ended_by.as_deref(), Some("interrupted"));
        let left = files(&scratch.path(out));
        assert!(
            left.contains(&"report.html".to_owned()) && left.contains(&"io.parquet".to_owned()),
            "{left:?}"
        );
    }
}

/// Goal: no signal that a program can catch leaves a run without its end. Method: those that would end the process.
#[test]
fn every_signal_that_would_end_the_process_ends_the_run() {
    let scratch = Scratch::new();
    for (signal, out) in [
        (Signal::QUIT, "quit"),
        (Signal::ABORT, "abort"),
        (Signal::ALARM, "alarm"),
        (Signal::VTALARM, "vtalarm"),
        (Signal::PROF, "prof"),
        (Signal::XCPU, "xcpu"),
        (Signal::IO, "io"),
        (Signal::POWER, "power"),
        (Signal::STKFLT, "stkflt"),
    ] {
        let mut running = Running::start(&scratch, out);
        running.wait_for_intervals(1);
        running.signal(signal);
        let done = running.end();
        assert_eq!(done.code, Some(3), "{out}: {}", done.stderr);
        let record = record::read(&scratch.path(out)).expect("a readable run");
        assert_eq!(record.manifest.end.map(|end| end.reason), Some(EndReason::Interrupted), "{out}");
    }
}

/// Goal: what other programs take for a question, and what a failed write tells anyway, ends nothing; nor does the end
/// of the terminal where the user has asked for that.
#[test]
fn signals_that_ask_for_nothing_end_nothing() {
    let scratch = Scratch::new();
    let mut running = Running::spawned(&scratch, "r", READS, |run| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(run.get_program()).args(run.get_args());
        shell.current_dir(run.get_current_dir().expect("a scratch folder"));
        shell
    });
    running.wait_for_intervals(1);
    for signal in [Signal::USR1, Signal::USR2, Signal::PIPE, Signal::XFSZ, Signal::HUP] {
        running.signal(signal);
    }
    let now = record::read(&scratch.path("r")).expect("a readable run").io.len();
    running.wait_for_intervals(now + 10);
    running.signal(Signal::INT);
    assert_eq!(running.end().code, Some(3));
}

/// Goal: a target that somebody cuts short under a load that writes is a failed drive, and no completed run.
#[test]
fn a_file_that_is_cut_under_load_ends_the_run() {
    let scratch = Scratch::new();
    for (op, keep, out) in
        [("randwrite", 0, "all"), ("write", 15 << 20, "end"), ("randread", 8 << 20, "read")]
    {
        // Slow enough that what was cut is not written anew before the file is looked at, whatever the disk.
        let plan = format!(
            "[[phase]]\nop = \"{op}\"\nblock_size = \"64KiB\"\ndepth = 4\nrate = \"4MB/s\"\nduration = \"10m\"\n"
        );
        let mut running = Running::of_plan(&scratch, out, &plan);
        running.wait_for_intervals(1);
        let target = std::fs::File::options().write(true).open(scratch.path("t.bin")).expect("the file");
        target.set_len(keep).expect("shorter");
        let done = running.end();
        assert_eq!(done.code, Some(2), "{out}: {}", done.stderr);
        assert!(done.stderr.contains("was cut from 16 MiB to"), "{out}: {}", done.stderr);
        let record = record::read(&scratch.path(out)).expect("a readable run");
        assert_eq!(record.manifest.end.map(|end| end.reason), Some(EndReason::DeviceFailed), "{out}");
        std::fs::remove_file(scratch.path("t.bin")).expect("it is there");
    }
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_a_readable_run() {
    let scratch = Scratch::new();
    let mut running = Running::start(&scratch, "r");
    running.wait_for_intervals(1);
    running.signal(Signal::INT);
    running.signal(Signal::TERM);
    let done = running.end();
    assert_eq!(done.code, Some(3), "{}", done.stderr);
    let record = record::read(&scratch.path("r")).expect("a readable run");
    assert_eq!(record.manifest.end.map(|end| end.reason), Some(EndReason::Interrupted));
}

/// Goal: host, anchor and plan of a real run stand in its manifest, and its origin is a device.
#[test]
fn a_plan_larger_than_the_memory_is_refused_before_anything_is_made() {
    let scratch = Scratch::new();
    // 4 TiB.
    let plan = "[[phase]]\nname = \"read\"\nop = \"randread\"\nblock_size = \"64MiB\"\nthreads = 1000\n\
                depth = 64\nduration = \"1s\"\n";
    std::fs::write(scratch.path("huge.toml"), plan).expect("a scratch file");
    let done = scratch.run(&["run", "huge.toml", "--drive", "file:t.bin?size=64MiB", "--out", "r"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    let told = "phase \"read\": its threads together keep 3.91 TiB in flight, and this machine has ";
    assert!(done.stderr.contains(told), "{}", done.stderr);
    assert!(!scratch.path("r").exists() && !scratch.path("t.bin").exists());
}

#[test]
fn a_run_on_a_file_records_its_host_and_clocks() {
    let scratch = Scratch::new();
    let plan =
        "[[phase]]\nname = \"write\"\nop = \"write\"\nblock_size = \"128KiB\"\ndepth = 4\nbytes = \"8MiB\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    let done = scratch.run(&["run", "p.toml", "--drive", "file:t.bin?size=16MiB", "--out", "r", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let record = record::read(&scratch.path("r")).expect("a run");
    let manifest = &record.manifest;
    assert!(manifest.host.as_ref().is_some_and(|host| !host.kernel.is_empty()));
    assert!(manifest.clock_anchor.monotonic_ns.is_some() && manifest.clock_anchor.wall_unix_ns > 0);
    assert!(!manifest.origin.is_simulated());
    let written: u64 = record.io.iter().map(|row| row.bytes.as_u64()).sum();
    assert_eq!(written, 8 << 20);
    assert!(!done.stdout.contains("SIMULATED"));
}

/// Goal: what a meter wrote beside the run is in the record, gaps as gaps, and a file that is none is said so.
#[test]
fn power_readings_of_a_csv_are_merged_when_the_run_ends() {
    let scratch = Scratch::new();
    let plan = "[telemetry]\npower = { csv = \"meter.csv\" }\n\n[[phase]]\nname = \"read\"\nop = \"read\"\n\
                block_size = \"128KiB\"\ndepth = 4\nbytes = \"8MiB\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    std::fs::write(scratch.path("meter.csv"), "t_s,power_w,volt\n0,3.25,5\n0.001,,5\n0.002,4.5,5\n")
        .expect("a scratch file");
    let drive = "file:t.bin?size=16MiB";
    let done = scratch.run(&["run", "p.toml", "--drive", drive, "--out", "r"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let record = record::read(&scratch.path("r")).expect("a run");
    let watts: Vec<_> =
        record.telemetry.iter().filter_map(|row| Some((row.t.as_ns(), row.power?.as_f64()))).collect();
    assert_eq!(watts, [(0, 3.25), (2_000_000, 4.5)]);
    std::fs::write(scratch.path("meter.csv"), "t_s,watts\n0,3.25\n").expect("a scratch file");
    let done = scratch.run(&["run", "p.toml", "--drive", drive, "--out", "s"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let notes = record::read(&scratch.path("s")).expect("a run").manifest.notes;
    assert!(notes.iter().any(|note| note.contains("no column power_w")), "{notes:?}");
}

/// Goal: a disk that fills up during the run ends it with a sentence; what is there is readable.
#[test]
fn a_full_disk_ends_a_run_and_what_was_written_is_kept() {
    let scratch = Scratch::new();
    let Some(small) = SmallDisk::mount(&scratch, "full") else { return };
    let done = scratch.run(&["run", "--out", "full/r"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.stderr);
    assert!(done.stderr.contains("full/r") && done.stderr.contains("kept"), "{}", done.stderr);
    let record = record::read(&scratch.path("full/r")).expect("a readable run");
    assert!(record.unfinished && !record.io.is_empty());
    drop(small);
}

/// A file system with hardly any room.
struct SmallDisk {
    path: std::path::PathBuf,
}

impl SmallDisk {
    /// `None`, said loudly, where this test may not mount.
    fn mount(scratch: &Scratch, name: &str) -> Option<Self> {
        let path = scratch.path(name);
        std::fs::create_dir(&path).expect("a scratch folder");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=128k", "heatsoak-test"])
            .arg(&path)
            .output();
        if mounted.as_ref().is_ok_and(|output| output.status.success()) {
            return Some(Self { path });
        }
        // Not by a macro: what those print is hidden when a test passes.
        let text =
            format!("DID NOT RUN: a full disk needs root, to mount a small file system ({mounted:?})\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.path).status();
    }
}
