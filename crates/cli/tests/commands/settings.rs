//! Settings by hand, on simulated drives: what is shown, changed and refused; and journals that were left.

use serde_json::Value;

use crate::support::Scratch;

fn json(scratch: &Scratch, args: &[&str]) -> Value {
    let done = scratch.run(args);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("one document")
}

#[test]
fn hctm_shows_what_is_set_and_what_the_drive_takes() {
    let scratch = Scratch::new();
    let done = scratch.run(&["hctm", "twin:ssd2"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("hctm-ssd2", done.stdout);
    let shown = json(&scratch, &["hctm", "twin:ssd2", "--json"]);
    assert_eq!((&shown["min_k"], &shown["max_k"]), (&303.into(), &348.into()));
    assert_eq!(shown["drive"]["simulated"], true);
    assert_eq!(shown["changed"], serde_json::json!([]));
}

/// Goal: one half alone leaves the other, and how to have it back is said before anything is sent.
#[test]
fn a_change_is_read_back_and_says_how_to_undo_it() {
    let scratch = Scratch::new();
    let before = json(&scratch, &["hctm", "twin:ssd1", "--json"])["hctm"]["current"].clone();
    let changed = json(&scratch, &["hctm", "twin:ssd1", "--tmt1", "65C", "--json"]);
    assert_eq!(changed["hctm"]["current"]["tmt1_k"], 338);
    assert_eq!(changed["hctm"]["current"]["tmt2_k"], before["tmt2_k"]);
    let put_back = changed["changed"][0]["put_back"].as_str().expect("what to type");
    assert_eq!(put_back, "heatsoak hctm twin:ssd1 --tmt1 273K --tmt2 358K");
    assert_eq!(changed["changed"][0]["saved"], false);
    let done = scratch.run(&["hctm", "twin:ssd1", "--tmt1", "65C"]);
    assert!(done.stderr.contains(put_back), "{}", done.stderr);
    assert!(done.stdout.contains("read back"), "{}", done.stdout);
}

#[test]
fn what_cannot_be_is_a_sentence_and_exit_2() {
    let scratch = Scratch::new();
    for (args, sentence) in [
        (&["hctm", "twin:ssd2", "--tmt1", "20C"][..], "303 K (30 °C) to 348 K (75 °C)"),
        (&["hctm", "twin:ssd2", "--tmt1", "70C", "--tmt2", "60C"][..], "is not below TMT2"),
        (&["hctm", "twin:ssd1", "--tmt1", "65C", "--save"][..], "does not save this setting"),
        (&["hctm", "twin:ssd1", "--save"][..], "say which, with --tmt1 or --tmt2"),
        (&["power-state", "twin:ssd1", "31"][..], "the drive has power state"),
        (&["temp-threshold", "twin:ssd1", "--sensor", "8", "--over", "70C"][..], "no such threshold"),
        (&["temp-threshold", "twin:ssd1", "--sensor", "9"][..], "from 1 to 8"),
        (
            &["temp-threshold", "twin:ssd1", "--over", "40C", "--under", "60C"][..],
            "warn at every temperature",
        ),
        (&["temp-threshold", "twin:ssd1", "--over", "6000C"][..], "between -60 °C and 200 °C"),
        (&["hctm", "twin:ssd1", "--tmt1", "6000C"][..], "between -60 °C and 200 °C"),
        (&["run", "--stop-at", "6000C"][..], "between -60 °C and 200 °C"),
        (&["run", "--ambient", "6000C"][..], "between -60 °C and 120 °C"),
        (&["predict", "d.toml", "--ambient", "6000C"][..], "between -60 °C and 120 °C"),
        (&["fit", "r", "--ambient", "6000C"][..], "between -60 °C and 120 °C"),
        (&["run", "quick", "-q", "--out", "/sys/no-run"][..], "write elsewhere with --out"),
        (&["analyze", "l.csv", "--every", "0s"][..], "more than 0 s"),
        (&["watch", "twin:ssd1", "--for", "0s"][..], "more than 0 s"),
        (&["watch", "twin:ssd1", "--pace", "x"][..], "a whole number from 1 to 100000"),
        (&["vssd", "--time-scale", "x"][..], "a whole number from 1 to 4294967295"),
        (&["hctm", "twin:/no/such.toml"][..], "/no/such.toml: there is no such file"),
        (&["hctm", "/dev/no-such-drive"][..], "there is no device /dev/no-such-drive"),
        (&["hctm", "/dev/null"][..], "a character device, but not of an NVMe drive"),
        (&["hctm", "/"][..], "file:/"),
        (&["hctm", "file:x"][..], "name its device"),
        (&["restore", "--forget"][..], "<DRIVE>"),
    ] {
        let done = scratch.run(args);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(done.stderr.contains(sentence), "{args:?}: {}", done.stderr);
    }
}

#[test]
fn power_states_and_thresholds_are_shown_and_changed() {
    let scratch = Scratch::new();
    // The built-in drives have one state; this one has a second.
    let profile = scratch.run(&["profiles", "ssd1"]).stdout + "\n[[power_state]]\nmax_power_w = 3.0\n";
    std::fs::write(scratch.path("two.toml"), profile).expect("written");
    let shown = json(&scratch, &["power-state", "twin:two.toml", "--json"]);
    assert_eq!(shown["states"][1]["max_power_w"], 3.0);
    let changed = json(&scratch, &["power-state", "twin:two.toml", "1", "--json"]);
    assert_eq!(changed["power_state"]["current"], 1);
    assert_eq!(changed["changed"][0]["put_back"], "heatsoak power-state twin:two.toml 0");
    let changed = json(&scratch, &["temp-threshold", "twin:ssd1", "--over", "60C", "--json"]);
    assert_eq!(changed["thresholds"][0]["current"], 333);
    assert_eq!(changed["changed"][0]["put_back"], "heatsoak temp-threshold twin:ssd1 --over 358K");
}

#[test]
fn restore_without_a_journal_has_nothing_to_do() {
    let scratch = Scratch::new();
    let done = scratch.run(&["restore"]);
    assert_eq!((done.code, done.stdout.as_str()), (Some(0), "No run has left a setting changed.\n"));
    assert_eq!(json(&scratch, &["restore", "--json"])["drives"], serde_json::json!([]));
    assert!(!scratch.path("state").exists(), "looking leaves nothing behind");
}

/// Goal: a drive that is gone keeps its journal, and every look at the drives says so.
#[test]
fn a_journal_of_a_drive_that_is_not_here_is_kept_and_told() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("state")).expect("a folder");
    let journal = serde_json::json!({
        "schema": 1,
        "heatsoak_version": "0.1.0",
        "drive": { "model": "Gone", "serial": "G1", "subsystem_nqn": null },
        "device": "/dev/nvme7",
        "why": "run hctm-read",
        "pid": 1,
        "wall_unix_ns": 0,
        "settings": [{
            "setting": "hctm", "found": "0x01520157", "found_text": "TMT1 65 °C, TMT2 70 °C",
            "set": "0x01390152", "default": null, "saved": null, "by_way_of": null
        }]
    });
    let path = scratch.path("state/Gone-G1-0000000000000000.settings.json");
    std::fs::write(&path, journal.to_string()).expect("written");
    let done = scratch.run(&["restore"]);
    assert_eq!(done.code, Some(2), "{}", done.stdout);
    assert!(done.stderr.contains("Gone (serial G1) is not here"), "{}", done.stderr);
    assert!(path.exists());
    let done = scratch.run(&["list"]);
    assert_eq!(done.code, Some(0));
    assert!(done.stderr.contains("heatsoak restore /dev/nvme7"), "{}", done.stderr);
    assert!(done.stderr.contains("TMT1 65 °C, TMT2 70 °C"), "{}", done.stderr);

    std::fs::write(&path, "{").expect("cut short");
    let done = scratch.run(&["restore"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("cannot read the journal"), "{}", done.stderr);
    assert!(path.exists(), "what cannot be read is not thrown away");
}

/// Goal: what a simulated drive is known to be stands in its inspection.
#[test]
fn inspect_shows_the_drive_as_its_profile_has_it() {
    let scratch = Scratch::new();
    let shown = json(&scratch, &["inspect", "twin:ssd2", "--json"]);
    let nvme = &shown["nvme"];
    assert_eq!((&shown["simulated"], &shown["model"]), (&true.into(), &"Simulated SSD2".into()));
    assert_eq!((&nvme["hctm"]["min_k"], &nvme["hctm"]["max_k"]), (&303.into(), &348.into()));
    assert_eq!(nvme["hctm"]["saveable"], false);
    assert_eq!(nvme["power_state"]["current"], 0);
    assert!(nvme["smart"]["composite_k"].as_u64().is_some_and(|kelvin| kelvin > 280), "{nvme}");
    assert_eq!(nvme["likely_dram_less"]["value"], Value::Null, "it says nothing of it");
    assert!(shown["link"]["ceiling_bytes_per_s"].as_f64().is_some_and(|rate| rate > 1e9), "{shown}");
    let done = scratch.run(&["inspect", "twin:ssd2"]);
    assert_eq!((done.code, done.stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!("inspect-ssd2", done.stdout);
    for (drive, sentence) in [
        ("/dev/no-such-drive", "there is no device"),
        ("/dev/null", "a character device, but not of an NVMe drive"),
        ("null:", "name a drive by its device"),
    ] {
        let done = scratch.run(&["inspect", drive]);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{drive}");
        assert!(done.stderr.contains(sentence), "{drive}: {}", done.stderr);
    }
}
