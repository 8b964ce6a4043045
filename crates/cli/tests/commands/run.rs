//! `heatsoak run`: what it leaves, what it prints, and what it refuses.

use measure::record::{self, EndReason, Origin};

use crate::commands::found::{files, only_run, read_text};
use crate::support::Scratch;

const RUN_FILES: [&str; 6] =
    ["findings.json", "io.parquet", "manifest.json", "report.html", "smart.parquet", "telemetry.parquet"];

#[test]
fn a_run_leaves_a_whole_folder_and_says_where() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    let run = only_run(&scratch);
    assert_eq!(files(&run), RUN_FILES);
    let name = run.file_name().and_then(|name| name.to_str()).expect("a plain name");
    assert!(name.ends_with("Z-hctm-read-ssd1"), "{name}");
    assert!(done.stdout.contains("SIMULATED"), "{}", done.stdout);
    assert!(done.stdout.contains(&format!("runs/{name}/report.html")), "{}", done.stdout);
    assert!(!done.stdout.contains('\u{1b}'), "colour where there is no terminal");
    // Any reader of Parquet takes them as they lie; the format begins and ends with its name.
    for table in RUN_FILES.iter().filter(|name| name.ends_with(".parquet")) {
        let bytes = std::fs::read(run.join(table)).expect("a table");
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{table}");
    }
    assert!(read_text(&run.join("report.html")).contains("SIMULATED"));
}

/// Goal: what was run can be read off the manifest, and run again from it.
#[test]
fn the_manifest_says_what_was_run_on_what_with_which_settings() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "--out", "r", "--seed", "7", "--tmt1", "70C", "--tmt2", "80C", "-q"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let manifest = record::read_manifest(&scratch.path("r")).expect("a manifest");
    let Origin::Twin { profile, profile_toml, seed } = &manifest.origin else { panic!("{manifest:?}") };
    assert_eq!((profile.as_str(), *seed), ("ssd1", 7));
    assert_eq!((manifest.address.as_str(), manifest.plan_name.as_str()), ("twin:ssd1", "hctm-read"));
    let settings = &manifest.settings;
    assert_eq!((settings.before.tmt1_k, settings.before.tmt2_k), (Some(273), Some(358)));
    assert_eq!((settings.set.tmt1_k, settings.set.tmt2_k), (Some(343), Some(353)));
    assert_eq!(settings.after.as_ref(), Some(&settings.before), "they are put back");
    assert_eq!(manifest.host, None, "a simulated run depends on no host");
    assert_eq!(manifest.end.as_ref().map(|end| end.reason), Some(EndReason::Completed));
    assert!(manifest.phases.iter().all(|phase| phase.ended_by.as_deref() == Some("duration")));

    std::fs::write(scratch.path("plan.toml"), &manifest.plan_toml).expect("a scratch file");
    std::fs::write(scratch.path("profile.toml"), profile_toml).expect("a scratch file");
    let again = scratch.run(&["run", "plan.toml", "--drive", "twin:profile.toml", "--out", "again", "-q"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let io = |run: &str| std::fs::read(scratch.path(run).join("io.parquet")).expect("a table");
    assert!(io("r") == io("again"), "the run made again from its manifest differs");
}

#[test]
fn json_is_one_document_and_nothing_else_is_on_stdout() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "--json", "--out", "r"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let mut told: serde_json::Value = serde_json::from_str(&done.stdout).expect("one JSON document");
    let folder =
        told.as_object_mut().and_then(|told| told.remove("run_folder")).expect("it names the folder");
    assert_eq!(folder, "r");
    let kept: serde_json::Value =
        serde_json::from_str(&read_text(&scratch.path("r/findings.json"))).expect("findings");
    assert_eq!(told, kept);
}

#[test]
fn runs_in_one_second_get_folders_of_their_own() {
    let scratch = Scratch::new();
    let plan = "[[phase]]\nname = \"rest\"\nop = \"idle\"\nduration = \"1s\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    for _ in 0..3 {
        let done = scratch.run(&["run", "p.toml", "--no-report", "-q"]);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
    }
    let runs = std::fs::read_dir(scratch.path("runs")).expect("a folder");
    let reports = runs.map(|run| run.expect("an entry").path().join("report.html").exists());
    assert_eq!(reports.collect::<Vec<_>>(), [false; 3]);
}

/// Goal: everything a user can mistype is refused before anything is made, and the valid names are told.
#[test]
fn what_is_mistyped_is_refused_with_what_is_valid() {
    let scratch = Scratch::new();
    std::fs::write(
        scratch.path("key.toml"),
        "[[phase]]\nname = \"x\"\nop = \"read\"\nblok_size = \"4KiB\"\n",
    )
    .expect("a scratch file");
    std::fs::write(
        scratch.path("unit.toml"),
        "[[phase]]\nname = \"x\"\nop = \"read\"\nduration = \"5 parsecs\"\n",
    )
    .expect("a scratch file");
    std::fs::write(scratch.path("job.fio"), "[job]\nrw=read\nsize=1g\nfsync_on_close=1\n")
        .expect("a scratch file");
    let zero =
        "[[phase]]\nname = \"x\"\nop = \"read\"\nblock_size = \"4KiB\"\ndepth = 0\nduration = \"1s\"\n";
    std::fs::write(scratch.path("zero.toml"), zero).expect("a scratch file");
    let large = "[[phase]]\nname = \"x\"\nop = \"read\"\nblock_size = \"4KiB\"\nregion = { start = \"0B\", len = \"9TB\" }\nduration = \"1s\"\n";
    std::fs::write(scratch.path("large.toml"), large).expect("a scratch file");
    std::fs::write(scratch.path("broken.toml"), "name = ").expect("a scratch file");
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", "hctm-raed"], &["hctm-raed", "hctm-read"]),
        (&["run", "--drive", "twin:sdd1"], &["sdd1", "ssd1"]),
        (&["run", "--drive", "twn:ssd1"], &["twin:ssd1"]),
        (&["run", "--drive", "nvme0n1"], &["/dev/nvme0n1"]),
        (&["run", "--drive", "/dev/no-such-drive"], &["no-such-drive", "heatsoak list"]),
        (&["run", "--drive", "file:none.bin"], &["?size="]),
        (&["run", "--tmt1", "70F"], &["70F", "C, K"]),
        (&["run", "--interval", "100"], &["no unit"]),
        (&["run", "--tmt1", "80C", "--tmt2", "70C"], &["TMT1", "TMT2"]),
        (&["run", "--tmt1", "99C"], &["TMT1", "85"]),
        (&["run", "key.toml"], &["line 4", "block_size"]),
        (&["run", "unit.toml"], &["line 4", "parsecs"]),
        (&["run", "zero.toml"], &["depth"]),
        (&["run", "large.toml"], &["region", "953.87 GiB"]),
        (&["run", "broken.toml"], &["broken.toml", "line 1"]),
        (&["run", "job.fio"], &["line 4", "fsync_on_close"]),
    ];
    for (args, told) in cases {
        let done = scratch.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}: {}", done.stderr);
        assert!(done.stderr.starts_with("error: "), "{args:?}: {}", done.stderr);
        for part in *told {
            assert!(done.stderr.contains(part), "{args:?}: {part:?} is not in {}", done.stderr);
        }
    }
    assert!(!scratch.path("runs").exists(), "a refused run leaves a folder");
}

#[test]
fn a_folder_with_something_in_it_is_not_written_to() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("mine")).expect("a scratch folder");
    std::fs::write(scratch.path("mine/thesis.txt"), "years").expect("a scratch file");
    let done = scratch.run(&["run", "--out", "mine"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("mine") && done.stderr.contains("--out"), "{}", done.stderr);
    assert_eq!(files(&scratch.path("mine")), ["thesis.txt"]);
    let done = scratch.run(&["run", "--out", "mine/thesis.txt"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("mine/thesis.txt"), "{}", done.stderr);
}

#[test]
fn the_command_line_wins_over_the_plan_and_the_plan_over_the_default() {
    let scratch = Scratch::new();
    let plan = "drive = \"twin:relay\"\n[[phase]]\nname = \"rest\"\nop = \"idle\"\nduration = \"1s\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    for (args, address) in [
        (&["run", "p.toml", "--out", "a"][..], "twin:relay"),
        (&["run", "p.toml", "--out", "b", "--drive", "twin:stop"], "twin:stop"),
    ] {
        let done = scratch.run(args);
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        assert_eq!(record::read_manifest(&scratch.path(args[3])).expect("a manifest").address, address);
    }
}

/// Goal: what goes wrong after the load costs the report, not the record. Method: a folder stands where the
/// report would.
#[test]
fn a_report_that_cannot_be_written_leaves_the_record_and_says_so() {
    let scratch = Scratch::new();
    let plan = "[[phase]]\nname = \"rest\"\nop = \"idle\"\nduration = \"1s\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    let done = scratch.run(&["run", "p.toml", "--out", "r", "-q", "--no-report"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    std::fs::create_dir(scratch.path("r/report.html")).expect("a scratch folder");
    let done = scratch.run(&["report", "r"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""));
    assert!(done.stderr.contains("r/report.html"), "{}", done.stderr);
    assert!(!record::read(&scratch.path("r")).expect("a run").unfinished);
}

#[test]
fn the_thermal_limit_stops_a_run_with_a_code_of_its_own() {
    let scratch = Scratch::new();
    let done = scratch.run(&["run", "--out", "r", "--stop-at", "70C"]);
    assert_eq!(done.code, Some(3), "{}", done.stderr);
    assert!(done.stderr.contains("the limit is 70 °C"), "{}", done.stderr);
    let record = record::read(&scratch.path("r")).expect("a run");
    assert_eq!(record.manifest.end.expect("an end").reason, EndReason::SafetyLimit);
    assert_eq!(files(&scratch.path("r")), RUN_FILES, "it is analyzed and reported like any other");
}

#[test]
fn a_reader_of_stdout_that_goes_away_is_success() {
    let scratch = Scratch::new();
    let mut command = scratch.command(&["run", "--out", "r"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!record::read(&scratch.path("r")).expect("a run").unfinished);
}

/// Goal: the built-in plans run on every simulated drive as they are typed.
#[test]
fn every_twin_runs_the_plans_within_the_cache() {
    let scratch = Scratch::new();
    for profile in physics::Profile::builtin_names() {
        let drive = format!("twin:{profile}");
        let done =
            scratch.run(&["run", "hctm-read", "--drive", &drive, "--out", profile, "-q", "--no-report"]);
        assert!(matches!(done.code, Some(0 | 3)), "{profile}: {done:?}");
    }
    let manifest =
        std::fs::read_to_string(scratch.path("usb-stick-usb10/manifest.json")).expect("a manifest");
    assert!(
        manifest.contains("the drive has no fast write cache: regions of its size are 64 GiB"),
        "{manifest}"
    );
    assert!(manifest.contains("\"slc_bytes\": null"), "nothing is stated that it does not have: {manifest}");
}

/// Goal: the advice of a refusal works: a twin without a fast write cache takes `--slc`, one with its own does not, and a
/// file must be given one.
#[test]
fn a_twin_without_a_fast_write_cache_runs_with_the_size_that_is_typed() {
    let scratch = Scratch::new();
    let plan = "[[phase]]\nop = \"write\"\nblock_size = \"1MiB\"\nregion = \"slc\"\nduration = \"5s\"\n";
    std::fs::write(scratch.path("w.toml"), plan).expect("written");
    let on = |drive: &str, more: &[&str]| scratch.run(&[&["run", "w.toml", "--drive", drive], more].concat());
    let refused = on("file:data?size=8MiB", &[]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--slc 64GiB"), "{refused:?}");
    let done = on("twin:exceria-g2-usb5", &["--slc", "64GiB", "--out", "typed"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let swept =
        on("twin:exceria-g2-usb5", &["--slc", "64GiB", "--sweep", "ambient=20C,35C", "--out", "swept"]);
    assert_eq!(swept.code, Some(0), "{swept:?}");
    let own = on("twin:ssd1", &["--slc", "64GiB"]);
    assert_eq!(own.code, Some(2), "{own:?}");
    assert!(own.stderr.contains("93.13 GiB"), "{own:?}");
}

/// Goal: a purge, which deallocates faster than any link, gives no reason to doubt the samples.
#[test]
fn deallocation_is_not_faster_than_the_link() {
    let scratch = Scratch::new();
    let plan = "[[phase]]\nop = \"trim\"\nblock_size = \"1MiB\"\nlaps = 1\n\n\
                [[phase]]\nop = \"write\"\nblock_size = \"1MiB\"\nduration = \"5s\"\n";
    std::fs::write(scratch.path("t.toml"), plan).expect("written");
    let done = scratch.run(&["run", "t.toml", "--drive", "twin:ssd2", "--json"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let findings: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let trim = &findings["segments"][0];
    assert!(trim["op"] == "trim" && trim["mean_bytes_per_s"].as_f64() > Some(1e10), "{trim}");
    let kinds: Vec<&str> =
        findings["caveats"].as_array().into_iter().flatten().filter_map(|c| c["kind"].as_str()).collect();
    assert!(!kinds.contains(&"above_link_rate") && !kinds.contains(&"at_link_rate"), "{kinds:?}");
}

/// Goal: a TMT1 of 0 °C, which this drive heeds as little as those of the publications do, is no cause at 80 °C.
/// Method: ssd1 in a room of 45 °C, whose own threshold acts four seconds after reads begin.
#[test]
fn a_threshold_that_was_left_behind_long_ago_is_no_cause() {
    let scratch = Scratch::new();
    let profile = twin_profile(&scratch, "ssd1", "ambient_c = 30.0", "ambient_c = 45.0");
    let done = scratch.run(&["run", "hctm-read", "--drive", &format!("twin:{profile}"), "--json"]);
    let findings: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let causes: Vec<&str> =
        findings["events"].as_array().into_iter().flatten().filter_map(|e| e["cause"].as_str()).collect();
    assert!(!causes.is_empty() && !causes.iter().any(|cause| cause.starts_with("hctm")), "{causes:?}");
}

/// A built-in profile with one line changed, as a file.
fn twin_profile(scratch: &Scratch, name: &str, from: &str, to: &str) -> String {
    let text = physics::Profile::builtin_toml(name).expect("built in");
    assert!(text.contains(from), "{from} in {name}");
    std::fs::write(scratch.path("changed.toml"), text.replace(from, to)).expect("written");
    "./changed.toml".to_owned()
}

/// Goal: the room is part of the record, and of a simulated drive also what it is in. Method: one plan in two rooms, and
/// on a file, whose room is what was stated; the record of a drive whose room nobody stated says so.
#[test]
fn the_room_is_recorded_and_a_simulated_drive_is_put_into_it() {
    let scratch = Scratch::new();
    let ambient_k = |folder: &str| {
        let text = std::fs::read_to_string(scratch.path(folder).join("manifest.json")).expect("a manifest");
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["ambient_k"].as_f64()
    };
    let run = |more: &[&str]| {
        let done = scratch.run(&[&["run", "-q", "--no-report"], more].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
    };
    run(&["quick", "--out", "a"]);
    run(&["quick", "--ambient", "35C", "--out", "b"]);
    let first_k = |folder: &str| {
        let done = scratch.run(&["analyze", folder, "--json"]);
        let findings: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
        let ambient =
            findings["caveats"].as_array().into_iter().flatten().any(|c| c["kind"] == "ambient_unknown");
        assert!(!ambient, "{folder}: the room is known");
        findings["segments"][0]["temp_start_k"].as_f64().expect("a temperature")
    };
    let (cool_k, warm_k) = (ambient_k("a").expect("the profile's room"), 308.15);
    assert_eq!(ambient_k("b"), Some(warm_k));
    let manifest = std::fs::read_to_string(scratch.path("b/manifest.json")).expect("a manifest");
    assert!(manifest.contains("ambient_c = 35.0"), "in the air that was typed, to a tenth: {manifest}");
    assert!((first_k("b") - first_k("a") - (warm_k - cool_k)).abs() <= 1.5, "at rest it is as much warmer");
    let plan = "[[phase]]\nop = \"write\"\nblock_size = \"64KiB\"\nduration = \"1s\"\n";
    std::fs::write(scratch.path("w.toml"), plan).expect("written");
    run(&["w.toml", "--drive", "file:data?size=8MiB", "--ambient", "23.5C", "--out", "c"]);
    assert_eq!(ambient_k("c"), Some(296.65));
    run(&["w.toml", "--drive", "file:data?size=8MiB", "--out", "d"]);
    assert_eq!(ambient_k("d"), None);
}
