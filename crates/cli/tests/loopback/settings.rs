//! Settings of a virtual SSD by our own initiator: shown, changed, saved; and put back after a run that was killed.

use std::process::Stdio;

use measure::{Clock as _, MonotonicClock};
use serde_json::Value;

use crate::loopback::drive::Vssd;
use crate::support::{Done, Scratch};

/// A run that gets no further in so long will not.
const WAIT_MAX_S: f64 = 60.0;

/// A drive, and a folder with a place for journals.
struct Bench {
    drive: Vssd,
    scratch: Scratch,
}

impl Bench {
    fn new() -> Self {
        Self { drive: Vssd::scaled("relay", 1000, 1), scratch: Scratch::new() }
    }

    fn run(&self, args: &[&str]) -> Done {
        // The connection of the command before may not have been seen to end yet: one host at a time.
        while self.drive.unit().connections() > 0 {
            std::thread::yield_now();
        }
        self.scratch.run(args)
    }

    fn json(&self, args: &[&str]) -> Value {
        let done = self.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {}", done.stderr);
        serde_json::from_str(&done.stdout).expect("one document")
    }

    fn tmt1_k(&self) -> Value {
        self.json(&["hctm", &self.drive.url(), "--json"])["hctm"]["current"]["tmt1_k"].clone()
    }

    fn journals(&self) -> usize {
        let entries = std::fs::read_dir(self.scratch.path("state")).into_iter().flatten();
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".json")).count()
    }
}

#[test]
fn a_virtual_ssd_is_inspected_and_set_like_a_drive() {
    let bench = Bench::new();
    let url = bench.drive.url();
    let inspected = bench.json(&["inspect", &url, "--json"]);
    assert_eq!((&inspected["simulated"], &inspected["nvme_error"]), (&true.into(), &Value::Null));
    assert!(inspected["nvme"].is_object() && inspected["serial"].is_string(), "{inspected}");
    for command in ["power-state", "temp-threshold"] {
        assert_eq!(bench.json(&[command, &url, "--json"])["drive"]["simulated"], true);
    }
    let before = bench.tmt1_k();
    // Without --save it is gone with the connection, and that is said.
    let done = bench.run(&["hctm", &url, "--tmt1", "333K"]);
    assert!(
        done.code == Some(0) && done.stdout.contains("--save keeps it"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    assert_eq!(bench.tmt1_k(), before);
    let done = bench.run(&["hctm", &url, "--tmt1", "333K", "--save"]);
    assert!(done.code == Some(0) && done.stdout.contains("it outlives power cycles"), "{}", done.stdout);
    assert_eq!(bench.tmt1_k(), 333);
    for (args, part) in
        [(["--tmt1", "10C"], "lies outside what the drive takes"), (["--tmt1", "80C"], "is not below TMT2")]
    {
        let done = bench.run(&["hctm", &url, args[0], args[1]]);
        assert!(done.code == Some(2) && done.stderr.contains(part), "{}", done.stderr);
    }
    assert_eq!((bench.tmt1_k(), bench.journals()), (333.into(), 0));
}

/// Goal: a drive whose run was killed is not locked away for ever. Method: kill -9 as soon as the journal is there, and
/// once the load goes; with the address and without one.
#[test]
fn after_a_kill_restore_puts_back_and_the_drive_can_be_run_on_again() {
    let bench = Bench::new();
    let url = bench.drive.url();
    let plan =
        "[settings]\ntmt1 = \"60C\"\n[[phase]]\nop = \"read\"\nblock_size = \"4KiB\"\nduration = \"10m\"\n";
    std::fs::write(bench.scratch.path("p.toml"), plan).expect("a scratch file");
    let found = bench.tmt1_k();
    for (out, until, restore) in
        [("a", "state", vec!["restore"]), ("b", "b/manifest.json", vec!["restore", &url])]
    {
        let mut command = bench.scratch.command(&["run", "p.toml", "--drive", &url, "--out", out, "--quiet"]);
        let mut run = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary runs");
        let clock = MonotonicClock::start();
        while bench.journals() == 0 || !bench.scratch.path(until).exists() {
            assert!(clock.now().as_secs_f64() < WAIT_MAX_S, "{out} does not get further");
            assert_eq!(run.try_wait().expect("a child"), None, "it ended by itself");
            std::thread::yield_now();
        }
        run.kill().expect("it runs");
        run.wait().expect("it ends");
        let again = bench.run(&["run", "p.toml", "--drive", &url, "--out", "again", "--quiet"]);
        assert_eq!(again.code, Some(2));
        assert!(again.stderr.contains(&format!("heatsoak restore {url}")), "{}", again.stderr);
        let set = bench.run(&["hctm", &url, "--tmt1", "61C"]);
        assert!(set.code == Some(2) && set.stderr.contains("heatsoak restore"), "{}", set.stderr);
        let restored = bench.run(&restore);
        assert_eq!(restored.code, Some(0), "{}{}", restored.stdout, restored.stderr);
        assert!(restored.stdout.contains("as it was found"), "{}", restored.stdout);
        assert_eq!((bench.journals(), bench.tmt1_k()), (0, found.clone()));
        assert!(bench.run(&["restore"]).stdout.contains("No run has left"));
    }
}

/// A drive that is not there keeps its journal, and the sentence says why it was not reached.
#[test]
fn a_virtual_ssd_that_is_gone_keeps_its_journal() {
    let bench = Bench::new();
    let url = bench.drive.url();
    let identity = bench.json(&["inspect", &url, "--json"]);
    let text = |name: &str| identity[name].as_str().expect("it tells").to_owned();
    let identity = drive::settings::journal::JournalIdentity {
        model: text("model"),
        serial: text("serial"),
        subsystem_nqn: Some(bench.drive.nqn.clone()),
    };
    let journals = drive::settings::journal::Journals::in_folder(bench.scratch.path("state"));
    let claim = journals.claim(&identity).expect("free");
    let journal = drive::settings::journal::Journal::new(identity, &url, "run quick", 0);
    claim.write(&journal).expect("written");
    drop(claim);
    let Bench { drive, scratch } = bench;
    drop(drive);
    let done = scratch.run(&["restore"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("look whether the target runs") && done.stderr.contains("is kept in"),
        "{}",
        done.stderr
    );
}
