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
    let rooms = scratch.run(&["run", "quick", "--sweep", "ambient=20C,23.5C,35C", "--out", "rooms"]);
    assert_eq!(rooms.code, Some(0), "{rooms:?}");
    for room in ["ambient 20 °C", "ambient 23.5 °C", "ambient 35 °C"] {
        assert!(rooms.stdout.contains(room), "{rooms:?}");
    }
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

/// Goal: what a sweep leaves can be named by its folder or by a glob, and a check of it ends as it says. Method: the
/// folder of a sweep of two settings with a page beside them, and limits that hold and that do not.
#[test]
fn a_sweep_folder_stands_for_its_runs_and_limits_end_with_1() {
    let scratch = Scratch::new();
    let plan = "[[phase]]\nname = \"write\"\nop = \"write\"\nblock_size = \"1MiB\"\nduration = \"8s\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    let swept = scratch.run(&["run", "p.toml", "--sweep", "link=1GB/s,500MB/s", "--out", "s", "-q"]);
    assert_eq!(swept.code, Some(0), "{}", swept.stderr);
    let by_folder = scratch.run(&["compare", "s"]);
    assert_eq!((by_folder.code, by_folder.stderr.as_str()), (Some(0), ""));
    let entries = std::fs::read_dir(scratch.path("s")).expect("a folder").filter_map(Result::ok);
    let mut globbed: Vec<String> =
        entries.map(|entry| format!("s/{}", entry.file_name().to_string_lossy())).collect();
    globbed.sort();
    let mut typed = vec!["compare"];
    typed.extend(globbed.iter().map(String::as_str));
    let by_glob = scratch.run(&typed);
    assert_eq!(by_glob.stdout, by_folder.stdout);
    assert!(by_glob.stderr.contains("passed over, no runs or logs: compare.html"), "{}", by_glob.stderr);

    let check = |limit: &str| scratch.run(&["compare", "s", "--fail-if", limit]);
    let broken = check("write.mean < -5%");
    assert_eq!(broken.code, Some(1), "{}", broken.stderr);
    assert!(broken.stdout.contains("FAILED: write.mean < -5% holds for B, write: "), "{}", broken.stdout);
    let held = check("write.mean < -60%");
    assert_eq!(held.code, Some(0), "{}", held.stdout);
    assert!(held.stdout.contains("ok: not write.mean < -60%"), "{}", held.stdout);
    let nothing = check("read.mean < -5%");
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.stderr.contains("no load of that name"), "{}", nothing.stderr);
    let other = scratch.run(&["compare", "s", "--baseline", &globbed[1], "--fail-if", "write.mean < -5%"]);
    assert_eq!(other.code, Some(0), "the slower run is the baseline: {}", other.stdout);
    let alone = scratch.run(&["compare", &globbed[0]]);
    assert_eq!(alone.code, Some(2));
    assert!(alone.stderr.contains("it is one run"), "{}", alone.stderr);
}

/// Goal: a picture is a picture, whatever fonts the machine has. Method: its first bytes, twice the same.
#[test]
fn the_first_screen_is_a_png_with_the_same_bytes_each_time() {
    let scratch = Scratch::new();
    let ran = scratch.run(&["run", "quick", "--out", "r", "-q"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let made = |name: &str| {
        let done = scratch.run(&["report", "r", "--png", "--out", name]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        std::fs::read(scratch.path(name)).expect("a picture")
    };
    let picture = made("a.png");
    assert!(picture.starts_with(b"\x89PNG\r\n") && picture == made("b.png"));
    let drawing = scratch.run(&["report", "r", "--svg", "--out", "-"]).stdout;
    assert!(drawing.contains("SIMULATED") && drawing.contains(" IOPS"), "{drawing}");
}

/// Goal: a rate sweep finds the rate that is sooner by itself, and says so. Method: the stick of article C4, which heats
/// up so that it throttles hard; held to 400 MB/s it stays cool enough to be done first.
#[test]
fn a_slower_rate_that_finishes_first_is_named() {
    let scratch = Scratch::new();
    let args =
        ["run", "full-span", "--drive", "twin:usb-stick-usb10", "--sweep", "rate=default,400MB/s", "-q"];
    let done = scratch.run(&[&args[..], &["--no-report", "--out", "a"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let words: Vec<&str> = done.stdout.split_whitespace().collect();
    let told = words.join(" ");
    let sentence =
        told.split("- ").find(|remark| remark.starts_with("Finished first: rate 400 MB/s")).expect("told");
    assert!(sentence.contains("default took") && sentence.contains("Slower is sooner"), "{sentence}");
    let compared = scratch.run(&["compare", "a", "--out", "page.html"]);
    assert_eq!(compared.code, Some(0), "{}", compared.stderr);
    let page = std::fs::read_to_string(scratch.path("page.html")).expect("a page");
    assert!(page.contains("Finished first: run B") && page.contains("Slower is sooner"));
    let done = scratch.run(&[&args[..], &["--no-report", "--out", "b", "--json"]].concat());
    let swept: serde_json::Value = serde_json::from_str(&done.stdout).expect("one document");
    let finish = &swept["finishes"][0];
    assert_eq!((&finish["op"], &finish["slower_is_sooner"]), (&"write".into(), &true.into()), "{finish}");
    assert_eq!(finish["runs"][0]["run"], "rate 400 MB/s", "{finish}");
    let seconds = |run: usize| finish["runs"][run]["seconds"].as_f64().expect("a time");
    assert!(seconds(0) < seconds(1), "{finish}");
}

/// Goal: runs of a sweep inform each other. Method: simulated drives in a room so warm that a load is slowed down from its first second,
/// alone and beside a run in a cooler one; a copy of the warm run tells it nothing.
#[test]
fn a_run_that_began_throttled_is_told_by_its_cooler_neighbour() {
    let scratch = Scratch::new();
    for (profile, rooms, class) in [
        ("ssd1", "40C,50C", "vendor"),
        ("vendor", "30C,45C", "vendor"),
        ("two-level", "35C,45C", "two_level"),
    ] {
        let drive = format!("twin:{profile}");
        let sweep = format!("ambient={rooms}");
        let out = ["--stop-at", "98C", "--out", profile, "--json"];
        let swept =
            scratch.run(&[&["run", "hctm-read", "--drive", &drive, "--sweep", &sweep][..], &out].concat());
        let warm = &json(&swept)["runs"][1];
        let began = |event: &&serde_json::Value| {
            event["observations"][0]["kind"] == "began_slow" && event["observations"][0]["other_run"] == true
        };
        let events = warm["events"].as_array().expect("events");
        let told = events.iter().find(began).unwrap_or_else(|| panic!("{profile}: {warm}"));
        assert_eq!(told["kind"], "throttle_onset", "{profile}");
        assert_eq!(warm["policy"]["class"], class, "{profile}");
        let folder = warm["run_folder"].as_str().expect("a folder").to_owned();
        for inputs in [vec![folder.clone()], vec![folder.clone(), folder.clone()]] {
            let args: Vec<&str> =
                ["analyze", "--json"].into_iter().chain(inputs.iter().map(String::as_str)).collect();
            let text = scratch.run(&args).stdout;
            assert!(!text.contains("other_run"), "{profile}, {} times: {text}", inputs.len());
        }
        let compared = scratch.run(&["compare", profile]).stdout.replace('\n', " ");
        assert!(compared.contains("in another run"), "{profile}: {compared}");
    }
}

/// Goal: in a room so warm that the drive is above TMT1 at rest, what slows it down is no further threshold. Method: drives with one
/// threshold at TMT1 in such a room, beside a cooler one.
#[test]
fn a_room_warmer_than_the_threshold_makes_no_further_one() {
    let scratch = Scratch::new();
    for profile in ["regulator", "duty-cycled", "relay"] {
        let drive = format!("twin:{profile}");
        let sweep = ["--sweep", "ambient=25C,44C,55C", "--stop-at", "98C", "--out", profile, "--json"];
        let swept = scratch.run(&[&["run", "hctm-read", "--drive", &drive][..], &sweep].concat());
        let joint = &json(&swept)["joint_policies"][0];
        let machines = joint["machines"].as_array().expect("thresholds");
        let follows: Vec<&str> = machines.iter().filter_map(|machine| machine["follows"].as_str()).collect();
        assert_eq!(follows, ["tmt1"], "{profile}: {joint}");
        assert_eq!(joint["class"], profile.replace('-', "_"), "{joint}");
        let runs = machines[0]["points"].as_array().expect("points");
        assert!(runs.iter().any(|point| point["run"] == 2), "{profile}: the warmest shows it too: {joint}");
    }
}
