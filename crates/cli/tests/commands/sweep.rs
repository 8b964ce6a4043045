//! `heatsoak run` with a sweep: one run folder a setting, and a comparison.

use std::path::Path;

use crate::support::{Done, Scratch};

/// A minute each of writes and reads, in two settings.
const PLAN: &str = r#"
[sweep]
deallocate = true

[[sweep.setting]]
name = "default"

[[sweep.setting]]
tmt1 = "50C"
tmt2 = "60C"

[[phase]]
op = "write"
block_size = "1MiB"
depth = 64
region = "slc"
duration = "2m"
"#;

fn json(done: &Done) -> serde_json::Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
}

fn manifest(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("manifest.json")).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

/// Goal: each setting has a run folder, the drive is deallocated and cool in between, and all are compared.
/// Method: ssd1, whose relay acts at TMT1. Bound: the second run begins no warmer than 1 K above the first.
#[test]
fn each_setting_has_its_run_from_a_drive_that_was_brought_back() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("two.toml"), PLAN).expect("written");
    let done = scratch.run(&["run", "two.toml", "--out", "all", "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let result = json(&done);
    let runs = result["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 2);
    assert_eq!((&runs[0]["setting"], &runs[1]["setting"]), (&"default".into(), &"TMT 50/60".into()));
    let throttled =
        |run: &serde_json::Value| run["events"].as_array().is_some_and(|events| !events.is_empty());
    assert!(!throttled(&runs[0]) && throttled(&runs[1]), "{result}");
    let folder = |index: usize| scratch.path(runs[index]["run_folder"].as_str().expect("a path"));
    assert_eq!(folder(1), scratch.path("all/2-tmt-50-60"));
    assert_eq!(manifest(&folder(1))["settings"]["set"]["tmt1_k"], 323);
    let start_k = |index: usize| {
        runs[index]["segments"][0]["temp_start_k"].as_f64().unwrap_or_else(|| panic!("{}", runs[index]))
    };
    assert!(start_k(1) <= start_k(0) + 1.0, "{} K after {} K", start_k(1), start_k(0));
    let between = manifest(&scratch.path("all/between-1-and-2"));
    let ended = |phase: usize| between["phases"][phase]["ended_by"].clone();
    assert_eq!((ended(0), ended(1)), ("laps".into(), "temperature".into()));
    let page = std::fs::read_to_string(scratch.path("all/compare.html")).expect("a comparison");
    assert!(page.contains("SIMULATED") && page.contains("50 °C"));
    // Each can be run again alone: its plan has no sweep.
    assert!(!manifest(&folder(1))["plan_toml"].as_str().expect("a plan").contains("[sweep]"));
}

/// Goal: the same sweep twice leaves the same series, though its drive goes from run to run.
#[test]
fn a_sweep_is_the_same_each_time() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("two.toml"), PLAN).expect("written");
    for out in ["a", "b"] {
        assert_eq!(scratch.run(&["run", "two.toml", "--out", out, "-q"]).code, Some(0));
    }
    for name in ["1-default/io.parquet", "2-tmt-50-60/io.parquet", "2-tmt-50-60/telemetry.parquet"] {
        let read = |out: &str| std::fs::read(scratch.path(out).join(name)).expect("a series");
        assert_eq!(read("a"), read("b"), "{name}");
    }
}

/// Goal: a sweep over the surroundings is one command on any plan; runs are told apart by them.
#[test]
fn a_twin_can_be_put_on_other_links_and_into_other_rooms() {
    let scratch = Scratch::new();
    let speed = |done: &Done, index: usize| {
        json(done)["runs"][index]["segments"][0]["mean_bytes_per_s"].as_f64().expect("a speed")
    };
    let links = scratch.run(&["run", "quick", "--sweep", "link=500MB/s,1GB/s", "--out", "links", "--json"]);
    assert_eq!(links.code, Some(0), "{links:?}");
    assert!((speed(&links, 0) / 5e8 - 1.0).abs() < 0.02 && (speed(&links, 1) / 1e9 - 1.0).abs() < 0.02);
    let rooms = scratch.run(&["run", "quick", "--sweep", "ambient=20C,35C", "--out", "rooms"]);
    assert_eq!(rooms.code, Some(0), "{rooms:?}");
    assert!(rooms.stdout.contains("ambient 20 °C") && rooms.stdout.contains("ambient 35 °C"), "{rooms:?}");
    assert!(!scratch.path("rooms/between-1-and-2").exists(), "each has a drive of its own");
}

/// Goal: what cannot be done is refused before the first run, with the setting that is to blame.
#[test]
fn an_impossible_setting_is_refused_before_anything_runs() {
    let scratch = Scratch::new();
    for (args, part) in [
        (["--drive", "twin:ssd2", "--sweep", "tmt=default,70C/80C"], "TMT 70/80"),
        (["--drive", "null:", "--sweep", "ambient=20C,30C"], "only a simulated drive"),
        (["--drive", "null:", "--sweep", "tmt=default,60C/70C"], "no thermal settings"),
        (["--drive", "twin:ssd1", "--sweep", "power-state=0"], "two or more"),
        (["--drive", "twin:ssd1", "--sweep", "tmt=60C/70C,60C/70C"], "two settings"),
        (["--drive", "twin:ssd1", "--sweep", "fan=1"], "cannot be swept over"),
    ] {
        let done = scratch.run(&[&["run", "quick", "--out", "x"], &args[..]].concat());
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{done:?}");
        assert!(done.stderr.contains(part), "{part:?} is missing in {}", done.stderr);
        assert!(!scratch.path("x").exists(), "{args:?} left a folder");
    }
}
