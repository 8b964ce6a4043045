//! `heatsoak meter`, and `--power` and `--baseline` of `heatsoak run`.

use serde_json::Value;

use crate::support::Scratch;
use measure::record;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn a_meter_is_tried_and_told_what_it_is_good_for() {
    let scratch = Scratch::new();
    let done = scratch.run(&["meter", "exec:?period=100ms echo 8.2", "--duration", "1s", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let trial = json(&done.stdout);
    let mean_w = trial["mean_w"].as_f64().map(|watts| (watts * 1e6).round() / 1e6);
    assert_eq!((mean_w, trial["kind"].as_str()), (Some(8.2), Some("exec")));
    assert!(trial["readings"].as_u64().is_some_and(|readings| readings > 0), "{trial}");
    std::fs::write(scratch.path("m.csv"), "t_s,power_w\n0,8.1\n1,8.2\n2,8.4\n3,9.0\n")
        .expect("a scratch file");
    let done = scratch.run(&["meter", "csv:m.csv"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    for part in [
        "readings        4, 0 failed",
        "interval        1.00 s",
        "last digit      0.100 W",
        "Good for phases of 10 s",
    ] {
        assert!(done.stdout.contains(part), "{part:?} is missing in {}", done.stdout);
    }
    // Below its range is no baseline of zero.
    std::fs::write(scratch.path("zero.csv"), "t_s,power_w\n0,0\n1,0\n").expect("a scratch file");
    let done = scratch.run(&["meter", "csv:zero.csv", "--json"]);
    assert!(json(&done.stdout)["verdict"][0].as_str().is_some_and(|text| text.contains("below its range")));
    std::fs::write(scratch.path("zero.json"), &done.stdout).expect("a scratch file");
    let done = scratch.run(&["run", "--baseline", "zero.json"]);
    assert_eq!(done.code, Some(2));
    assert!(done.stderr.contains("no baseline of 0 W"), "{}", done.stderr);
}

#[test]
fn what_is_no_meter_ends_with_two_and_says_what_to_type() {
    let scratch = Scratch::new();
    for (arguments, part) in [
        (&["meter", "hwmn:x"][..], "kinds are hwmon, scpi, http, pipe, exec, csv, drive"),
        (&["meter", "drive:"], "heatsoak run power --drive ADDRESS"),
        (&["meter", "hwmon:no-such-chip"], "no-such-chip"),
        (&["meter", "exec:false", "--duration", "100ms"], "No reading"),
        (&["run", "--power", "exec:true"], "its own measurement is recorded without --power"),
        (&["run", "--power", "http://u:p@h/#/x"], "header-file=FILE"),
        (&["run", "--baseline", "0.3"], "0.3W+-0.05W"),
        (&["compare", "x", "--sort", "read_w"], "--power-table"),
    ] {
        let done = scratch.run(arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {}{}", done.stdout, done.stderr);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(said.contains(part), "expected {part:?} in {said:?}");
    }
}

/// Goal: two meters beside a load are two series, and the baseline is taken off. Method: a file under load, one meter by
/// a command, one from a CSV.
#[test]
fn meters_beside_a_load_are_kept_apart_and_the_baseline_is_taken_off() {
    let scratch = Scratch::new();
    let plan = "[[phase]]\nname = \"read\"\nop = \"read\"\nblock_size = \"128KiB\"\nrate = \"20MB/s\"\nduration = \"2s\"\n";
    std::fs::write(scratch.path("p.toml"), plan).expect("a scratch file");
    let rows: String = (0..40).map(|tenth| format!("{},4.5\n", f64::from(tenth) / 10.0)).collect();
    std::fs::write(scratch.path("m.csv"), format!("t_s,power_w\n{rows}")).expect("a scratch file");
    let done = scratch.run(&[
        "run",
        "p.toml",
        "--drive",
        "file:t.bin?size=16MiB",
        "--out",
        "r",
        "--json",
        "--power",
        "exec:?period=100ms&at=wall echo 8.3",
        "--power",
        "csv:m.csv?at=drive",
        "--baseline",
        "0.3W+-0.1W",
    ]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("runs `echo 8.3` every 100 ms"), "{}", done.stderr);
    let power = &json(&done.stdout)["power"];
    assert_eq!(power["baseline_w"], 0.3);
    let net = |meter: usize| {
        let name = power["meters"][meter]["meter"].as_str().expect("a meter");
        let rows = power["rows"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["meter"] == name && row["phase"] == "read").expect("a row");
        (row["net_w"].as_f64().expect("watts") * 10.0).round() / 10.0
    };
    assert_eq!((net(0), net(1)), (8.0, 4.2));
    let manifest = record::read(&scratch.path("r")).expect("a run").manifest;
    let kept: Vec<(&str, Option<&str>)> =
        manifest.meters.iter().map(|meter| (meter.source.as_str(), meter.at.as_deref())).collect();
    assert_eq!(kept, [("power", Some("wall")), ("power2", Some("drive"))]);
}
