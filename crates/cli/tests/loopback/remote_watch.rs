//! `heatsoak watch --on`, and what the other machine permits and cannot do: through the command that stands for `ssh` of
//! [`super::remote`].

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::remote::{Machines, must_be_the_same};
use crate::loopback::drive::Vssd;

/// Goal: a watch there looks here as one here does, and its record is the same. Method: a twin, which does the same twice.
#[test]
fn a_watch_there_is_shown_and_recorded_here() {
    let machines = Machines::new();
    let args = ["watch", "twin:ssd1", "twin:ssd2", "--for", "28m", "--plain", "--out"];
    let done = machines.run(&[&args[..], &["here"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let local = machines.scratch.run(&[&args[..], &["local"]].concat());
    assert!(done.stdout == local.stdout && done.stdout.contains("throttling by"), "{}", done.stdout);
    assert!(done.stderr.contains("record: here"), "paths are those here: {}", done.stderr);
    let here = machines.scratch.path("here");
    must_be_the_same(&machines.kept(), &here);
    assert!(!here.join("live.json").exists() && !here.join("arriving.txt").exists());
    assert_eq!(machines.scratch.run(&["analyze", "here"]).code, Some(0));
    let json = machines.run(&["watch", "twin:ssd1", "--for", "9s", "--json", "--no-record"]);
    assert_eq!((json.code, json.stdout.lines().count()), (Some(0), 9), "{}", json.stderr);
    for line in json.stdout.lines() {
        crate::support::schema::must_fit("watch", &serde_json::from_str(line).expect("a document"));
    }
    assert!(
        fs::read_dir(machines.there().join("remote-runs")).expect("a folder").count() == 1,
        "no record is none"
    );
}

/// Goal: no watch outlives whoever asked for it. Method: the connection is cut there and here, with a record and without.
#[test]
fn a_watch_ends_with_its_link() {
    let machines = Machines::new();
    let drive = Vssd::scaled("ssd1", 1000, 1);
    for (case, record) in
        [&["--out", "a"][..], &["--out", "b"], &["--no-record"], &["--no-record"]].iter().enumerate()
    {
        let mut command = machines.command(&[&["watch", &drive.url(), "--json"], *record].concat());
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
        let mut lines =
            std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().expect("a pipe")));
        assert!(lines.next().is_some_and(|line| line.is_ok()), "case {case}: it is watched");
        let pid = if case % 2 == 0 {
            fs::read_to_string(machines.scratch.path("ssh.pid")).expect("it says who it is").trim().to_owned()
        } else {
            child.id().to_string()
        };
        assert!(Command::new("kill").args(["-KILL", &pid]).status().expect("kill is there").success());
        // What was printed before the cut is read, so that nobody waits for a reader.
        lines.for_each(drop);
        let code = child.wait().expect("it ends").code();
        assert!(case % 2 == 1 || code == Some(2), "case {case}: {code:?}");
        while drive.unit().connections() > 0 {
            std::thread::yield_now();
        }
    }
    assert_eq!(machines.scratch.run(&["analyze", "a", "b"]).code, Some(0), "what arrived can be read");
}

#[test]
fn what_a_watch_refuses_there_leaves_nothing_here() {
    let machines = Machines::new();
    let done = machines.run(&["watch", "/dev/none-of-that-name", "--plain", "--out", "here"]);
    assert_eq!(done.code, Some(2));
    assert!(
        done.stderr.contains("/dev/none-of-that-name") && !machines.scratch.path("here").exists(),
        "{}",
        done.stderr
    );
    let metrics = machines.run(&["watch", "twin:ssd1", "--metrics", "127.0.0.1:0"]);
    assert!(metrics.code == Some(2) && metrics.stderr.contains("--on"), "{}", metrics.stderr);
}

/// The reason for which a run ended.
fn ended_by(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    manifest["end"]["reason"].as_str().expect("it has ended").to_owned()
}

/// Goal: what may be written is checked there, and whoever owns that machine has the last word. Method: limits of the user,
/// of the owner (by the line that a key is confined to), and of both.
#[test]
fn what_may_be_written_is_limited_there() {
    let machines = Machines::new();
    let plan = "[[phase]]\nop = \"write\"\nblock_size = \"1MiB\"\nduration = \"1m\"\n";
    fs::write(machines.scratch.path("mine.toml"), plan).expect("room");
    for (owner, user, expected) in [
        ("", "1GiB", "the 1 GiB that"),
        ("--max-write 2GiB", "", "the 2 GiB that"),
        ("--max-write 1GiB", "3GiB", "the 1 GiB that"),
    ] {
        machines.ssh(&format!("last=\"$last {owner}\""));
        let out = format!("here-{}-{user}", owner.len());
        let mut args = vec!["run", "mine.toml", "--out", &out, "-q"];
        if !user.is_empty() {
            args.extend(["--max-write", user]);
        }
        let done = machines.run(&args);
        assert_eq!(done.code, Some(3), "{owner}, {user}: {}", done.stderr);
        assert_eq!(ended_by(&machines.scratch.path(&out)), "write_limit");
        assert!(done.stderr.contains(expected), "{owner}, {user}: {}", done.stderr);
    }
}

/// Goal: a disk there that takes no more ends the run with a sentence, and what was recorded arrives. Method: files there
/// may not grow, which the system tells as it does a full disk (setrlimit(2)).
#[test]
fn a_full_disk_there_is_a_sentence_here() {
    let machines = Machines::new();
    machines.ssh("ulimit -f 64");
    let done = machines.run(&["run", "hctm-read", "--out", "here", "-q"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(
        done.stderr.contains("error on lab: the load was stopped because the record could not be written"),
        "{}",
        done.stderr
    );
    assert_eq!(machines.scratch.run(&["analyze", "here"]).code, Some(0), "what arrived can be read");
    machines.ssh("export HEATSOAK_STATE_DIR=/dev/null/none");
    let none = machines.run(&["run", "hctm-read", "--out", "none", "-q"]);
    assert!(none.code == Some(2) && none.stderr.contains("HEATSOAK_STATE_DIR"), "{}", none.stderr);
}
