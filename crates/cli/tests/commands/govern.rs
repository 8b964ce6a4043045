//! `heatsoak govern`: a load of ours on simulated drives, and what is refused.

use measure::record;
use serde_json::Value;

use crate::support::{Scratch, schema};

fn json(scratch: &Scratch, words: &[&str]) -> (Option<i32>, Value) {
    let done = scratch.run(words);
    let document = serde_json::from_str(&done.stdout);
    (done.code, document.unwrap_or_else(|error| panic!("{error}: {}{}", done.stdout, done.stderr)))
}

/// Goal: the drive stays below, the record says that it was governed, and no verdict blames the drive for it.
#[test]
fn a_governed_run_stays_below_and_the_drive_is_not_blamed() {
    let scratch = Scratch::new();
    let done = scratch.run(&["govern", "twin:ssd1", "--below", "68C", "--out", "r", "-q"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("Governed:   SIMULATED, stayed below 68 °C"), "{}", done.stdout);
    assert!(done.stdout.contains("held back to stay below 68 °C"), "{}", done.stdout);
    let manifest = record::read_manifest(&scratch.path("r")).expect("a manifest");
    let governor = manifest.governor.expect("it was governed");
    assert_eq!(governor.below_k, 341);
    assert!(governor.highest_k.is_some_and(|highest_k| (335.0..341.0).contains(&highest_k)));
    assert!(!governor.held.is_empty());
    assert!(manifest.notes.iter().any(|note| note.starts_with("the load was governed to stay below 68 °C")));

    let (code, findings) = json(&scratch, &["analyze", "r", "--json"]);
    assert_eq!(code, Some(0));
    let events = findings["events"].as_array().expect("events");
    assert!(events.iter().all(|event| event["kind"] != "throttle_onset"), "{events:#?}");
    let segments = findings["segments"].as_array().expect("segments");
    assert!(segments.iter().any(|segment| segment["label"] == "rate_limited"), "{segments:#?}");
    assert!(segments.iter().all(|segment| segment["label"] != "throttled"), "{segments:#?}");
    assert_eq!(scratch.run(&["report", "r"]).code, Some(0));

    // The same without a governor gets hotter, and the two can be compared.
    let free = scratch.run(&["run", "--out", "free", "-q"]);
    assert_eq!(free.code, Some(0), "{}", free.stderr);
    let hottest = |run: &str| {
        let telemetry = record::read(&scratch.path(run)).expect("a record").telemetry;
        telemetry.iter().filter_map(|row| row.composite).max().expect("readings").as_kelvin()
    };
    assert!(hottest("free") > 341 && hottest("r") < 341, "{} {}", hottest("free"), hottest("r"));
    assert_eq!(scratch.run(&["compare", "free", "r"]).code, Some(0));
}

#[test]
fn the_document_says_what_came_of_it_and_repeats() {
    let scratch = Scratch::new();
    let words = ["govern", "twin:ssd2", "hctm-write", "--below", "60C", "--json", "-q", "--out"];
    let (code, document) = json(&scratch, &[&words[..], &["a"]].concat());
    assert_eq!(code, Some(0), "{document:#}");
    schema::must_fit("govern", &document);
    assert_eq!(document["stayed_below"], true);
    assert_eq!((&document["load"], &document["simulated"]), (&"own".into(), &true.into()));
    assert!(document["held_share"].as_f64().is_some_and(|share| share > 0.1), "{document:#}");
    assert!(document["mean"][0]["bytes_per_s"].as_f64().is_some_and(|mean| mean > 1e8), "{document:#}");
    let (_, again) = json(&scratch, &[&words[..], &["b"]].concat());
    let io = |run: &str| std::fs::read(scratch.path(run).join("io.parquet")).expect("a table");
    assert!(io("a") == io("b"), "the same run made again differs");
    assert_eq!(document["highest_k"], again["highest_k"]);
}

/// Goal: a floor that keeps the drive too hot is a check that did not hold.
#[test]
fn a_floor_that_is_too_high_is_exit_1() {
    let scratch = Scratch::new();
    let words = ["govern", "twin:ssd1", "--below", "50C", "--at-least", "1.5GB/s", "--out", "r", "-q"];
    let done = scratch.run(&words);
    assert_eq!(done.code, Some(1), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("did not stay below 50 °C"), "{}", done.stdout);
    assert!(done.stdout.contains("not even 1.50 GB/s (--at-least) keeps it below"), "{}", done.stdout);
}

#[test]
fn a_rate_of_the_plan_is_kept() {
    let scratch = Scratch::new();
    let plan = "name = \"slow\"\n[[phase]]\nname = \"read\"\nop = \"read\"\nblock_size = \"1MiB\"\ndepth = 8\nrate = \"100MB/s\"\nduration = \"60s\"\n";
    std::fs::write(scratch.path("slow.toml"), plan).expect("a scratch file");
    let words = ["govern", "twin:ssd1", "slow.toml", "--below", "68C", "--json", "-q", "--out", "r"];
    let (code, document) = json(&scratch, &words);
    assert_eq!(code, Some(0));
    let mean = document["mean"][0]["bytes_per_s"].as_f64().expect("a mean");
    assert!((mean / 1e8 - 1.0).abs() < 0.03, "{document:#}");
    assert_eq!(document["held_share"], 0.0);
}

/// Goal: what cannot be governed is refused with what to do, before there is a run folder.
#[test]
fn what_cannot_be_governed_is_refused() {
    let scratch = Scratch::new();
    let sweep = "name = \"s\"\n[sweep]\n[[sweep.setting]]\nambient = \"20C\"\n[[sweep.setting]]\nambient = \"30C\"\n[[phase]]\nname = \"read\"\nop = \"read\"\nblock_size = \"1MiB\"\nduration = \"5s\"\n";
    std::fs::write(scratch.path("sweep.toml"), sweep).expect("a scratch file");
    let refused = |words: &[&str], says: &str| {
        let done = scratch.run(words);
        assert_eq!(done.code, Some(2), "{words:?}: {}{}", done.stdout, done.stderr);
        assert!(done.stderr.contains(says), "{words:?}: {}", done.stderr);
        assert!(!scratch.path("runs").exists(), "{words:?}");
    };
    refused(&["govern", "twin:ssd1", "--below", "44C"], "it is at 45 °C before any load");
    refused(&["govern", "twin:ssd1", "--below", "90C"], "a load stops at 85 °C");
    refused(&["govern", "null:", "quick", "--below", "68C"], "its temperature cannot be read");
    refused(&["govern", "twin:ssd1"], "--below");
    refused(&["govern", "twin:ssd1", "--below", "68C", "--at-least", "1kB/s"], "100kB/s or more");
    refused(&["govern", "twin:ssd1", "--below", "68C", "--cgroup", "user.slice"], "on a block device");
    refused(&["govern", "twin:ssd1", "--below", "68C", "--for", "1m"], "on a block device");
    refused(&["govern", "twin:ssd1", "--below", "68C", "--", "true"], "on a block device");
    refused(&["govern", "twin:ssd1", "sweep.toml", "--below", "68C"], "cannot govern the sweep");
    refused(&["govern", "/dev/nosuch", "--below", "68C", "--out", "r"], "--out is for a load of ours");
    // Which sentence depends on the machine: no cgroup v2, its controller off, or no such device.
    refused(&["govern", "/dev/nosuch", "--below", "68C"], "error:");
}
