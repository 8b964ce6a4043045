//! `heatsoak export`: what other tools are given is what was recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::data::python;
use crate::support::Scratch;

/// A run in `scratch/r` and its exports in `scratch/out`; the files that were written.
fn exported(scratch: &Scratch, format: &str) -> Vec<String> {
    let done = scratch.run(&["run", "--out", "r", "--quiet"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let done = scratch.run(&["export", "r", "--format", format, "--out", "out"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(done.stderr.contains("SIMULATED"), "{}", done.stderr);
    let mut files: Vec<String> = done.stdout.lines().map(str::to_owned).collect();
    files.sort();
    files
}

fn findings(scratch: &Scratch, inputs: &[&str]) -> Value {
    let done = scratch.run(&[&["analyze", "--json"], inputs].concat());
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    serde_json::from_str(&done.stdout).expect("one document")
}

/// Goal: the CSV holds what the verdict needs. Method: there and back, same verdict.
#[test]
fn an_exported_table_gives_the_same_verdict() {
    let scratch = Scratch::new();
    assert_eq!(exported(&scratch, "csv"), ["out/run.csv"]);
    let (ours, theirs) = (findings(&scratch, &["r"]), findings(&scratch, &["out/run.csv"]));
    assert_eq!(theirs["simulated"], true);
    assert_eq!(
        (&ours["policy"]["class"], &ours["policy"]["onset_k"]),
        (&theirs["policy"]["class"], &theirs["policy"]["onset_k"])
    );
    let events = |findings: &Value| {
        let events = findings["events"].as_array().expect("events").iter();
        events
            .map(|event| (event["kind"].clone(), event["cause"].clone(), event["t_s"].clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(events(&ours), events(&theirs));
    let to_stdout = scratch.run(&["export", "r", "--format", "csv", "--out", "-"]);
    assert_eq!(to_stdout.stdout, fs::read_to_string(scratch.path("out/run.csv")).expect("a table"));
}

/// Goal: fio's logs hold the bytes that went. Method: read them back as fio's, and add them up.
#[test]
fn exported_logs_of_fio_hold_the_same_bytes() {
    let scratch = Scratch::new();
    let files = exported(&scratch, "fio-bw-log,fio-iops-log,fio-lat-log");
    let stems = ["out/1-write/write-iodepth-64-numjobs-1", "out/2-read/read-iodepth-64-numjobs-1"];
    let expected: Vec<String> = stems
        .iter()
        .flat_map(|stem| ["bw", "clat", "iops", "lat", "slat"].map(|log| format!("{stem}_{log}.1.log")))
        .collect();
    assert_eq!(files, expected);
    let ours = findings(&scratch, &["r"]);
    for (stem, op) in stems.iter().zip(["write", "read"]) {
        let log = fs::read_to_string(scratch.path(&format!("{stem}_bw.1.log"))).expect("a log");
        let (mut before_ms, mut bytes) = (0.0, 0.0);
        for line in log.lines() {
            let cells: Vec<f64> = line.split(", ").map(|cell| cell.parse().expect("a number")).collect();
            assert_eq!((cells.len(), cells[2]), (5, f64::from(u8::from(op == "write"))), "{line}");
            bytes += cells[1] * 1024.0 * (cells[0] - before_ms) / 1e3;
            before_ms = cells[0];
        }
        let segments = ours["segments"].as_array().expect("segments").iter().filter(|one| one["op"] == op);
        let went: f64 = segments
            .map(|one| {
                let number = |name: &str| one[name].as_f64().expect("a number");
                number("mean_bytes_per_s") * (number("end_s") - number("start_s"))
            })
            .sum();
        assert!((bytes / went - 1.0).abs() < 0.001, "{op}: {bytes} of {went} bytes");
        let theirs = findings(&scratch, &[&format!("{stem}_bw.1.log")]);
        assert_eq!(theirs["segments"][0]["op"], op);
    }
}

/// Goal: fio-plot draws our logs. Referee: fio-plot itself, where it is installed.
#[test]
fn fio_plot_draws_exported_logs() {
    let Some(python) = python(&["fio_plot"]) else { return };
    let scratch = Scratch::new();
    exported(&scratch, "fio-bw-log,fio-iops-log,fio-lat-log");
    let tool = Path::new(&python).with_file_name("fio-plot");
    let output = Command::new(tool)
        .args(["-i", "out/2-read", "-T", "exported", "-g", "-r", "read", "-t", "bw", "iops", "lat"])
        .args(["-d", "64", "-n", "1", "-o", "drawn.png"])
        .current_dir(scratch.path("."))
        .output()
        .expect("fio-plot runs");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let drawn: Vec<PathBuf> = fs::read_dir(scratch.path("."))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "png"))
        .collect();
    assert!(output.status.success() && drawn.len() == 1, "{said}\n{drawn:?}");
    assert!(fs::metadata(&drawn[0]).expect("a picture").len() > 10_000, "{said}");
}

/// Goal: what is written as metrics is read back as the same run.
#[test]
fn exported_metrics_are_read_back() {
    let scratch = Scratch::new();
    exported(&scratch, "prometheus");
    let (ours, theirs) = (findings(&scratch, &["r"]), findings(&scratch, &["out/run.openmetrics.txt"]));
    let segments = |findings: &serde_json::Value| -> Vec<(String, f64)> {
        let all = findings["segments"].as_array().expect("segments").iter();
        all.map(|one| (one["op"].to_string(), one["mean_bytes_per_s"].as_f64().unwrap_or(0.0))).collect()
    };
    let (ours_are, theirs_are) = (segments(&ours), segments(&theirs));
    assert_eq!(ours_are.len(), theirs_are.len(), "{theirs_are:?}");
    // Times are rounded to milliseconds.
    for (one, other) in ours_are.iter().zip(&theirs_are) {
        assert!(one.0 == other.0 && (one.1 / other.1 - 1.0).abs() < 0.001, "{one:?} {other:?}");
    }
    assert_eq!(ours["simulated"], theirs["simulated"]);
}

/// Goal: the text is OpenMetrics. Referee: Prometheus' own parser for Python, where it is installed.
#[test]
fn exported_metrics_are_openmetrics() {
    let scratch = Scratch::new();
    assert_eq!(exported(&scratch, "prometheus"), ["out/run.openmetrics.txt"]);
    let text = fs::read_to_string(scratch.path("out/run.openmetrics.txt")).expect("a text");
    assert!(text.ends_with("# EOF\n"));
    let hot = text.lines().filter(|line| line.starts_with("heatsoak_temperature_celsius{")).count();
    assert!(hot > 500, "{hot} temperatures");
    let Some(python) = python(&["prometheus_client"]) else { return };
    let program = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as families
print(sum(len(family.samples) for family in families(open(sys.argv[1]).read())))
";
    let output = Command::new(python)
        .args(["-c", program])
        .arg(scratch.path("out/run.openmetrics.txt"))
        .output()
        .expect("python runs");
    let samples = text.lines().filter(|line| !line.starts_with('#')).count();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), samples.to_string(), "{said}");
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["run", "--out", "r", "--quiet"]).code, Some(0));
    for (args, why) in [
        (["export", "r", "--format", "csv,prometheus", "--out", "-"], "takes csv or prometheus alone"),
        (["export", "r", "--format", "xlsx", "--out", "x"], "invalid value 'xlsx'"),
        (["export", "missing", "--format", "csv", "--out", "x"], "missing"),
    ] {
        let done = scratch.run(&args);
        assert_eq!(done.code, Some(2), "{args:?}");
        assert!(done.stderr.contains(why), "{}", done.stderr);
    }
}
