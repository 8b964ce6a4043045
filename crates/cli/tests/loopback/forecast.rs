//! The whole way over the wire: a virtual SSD is run on, fitted, asked about another TMT1, set to it, and run on again.

use measure::record;
use serde_json::Value;
use trace::{SegmentOp, Trace};

use crate::loopback::drive::Vssd;
use crate::support::Scratch;

/// Simulated seconds in one of ours, and simulated bytes for one of ours, as the other measurements here have them.
const TIME: u32 = 20;
const BANDWIDTH: u32 = 1200;

/// For the drive: 20 s of rest, four minutes of reading, three of cooling, four of reading.
const FIRST: &str = r#"
interval = "50ms"
[telemetry]
smart_period = "25ms"
[[phase]]
name = "rest"
op = "idle"
duration = "1s"
[[phase]]
name = "read"
op = "read"
block_size = "16KiB"
depth = 120
region = { start = "0B", len = "50MiB" }
duration = "12s"
[[phase]]
name = "cool"
op = "idle"
duration = "9s"
[[phase]]
name = "read again"
op = "read"
block_size = "16KiB"
depth = 120
region = { start = "0B", len = "50MiB" }
duration = "12s"
"#;

/// What is asked: five minutes of reading from rest.
const ASKED_S: u64 = 300;

#[test]
fn what_was_predicted_comes_true_on_a_virtual_ssd() {
    let drive = Vssd::scaled("relay", TIME, BANDWIDTH);
    let scratch = Scratch::new();
    let run = |args: &[&str]| {
        // One host at a time: the connection of the command before may not have been seen to end.
        while drive.unit().connections() > 0 {
            std::thread::yield_now();
        }
        let done = scratch.run(args);
        assert_eq!(done.code, Some(0), "{args:?}: {}", done.stderr);
        done
    };
    let write = |name: &str, text: &str| std::fs::write(scratch.path(name), text).expect("a scratch file");
    write("first.toml", FIRST);
    // The same load, once in the drive's time for the forecast and once in ours for the run.
    let asked = |io: &str, seconds: u64| {
        format!(
            "interval = \"50ms\"\n[telemetry]\nsmart_period = \"25ms\"\n[[phase]]\nname = \"read\"\nop = \"read\"\n{io}\n\
             duration = \"{seconds}s\"\n"
        )
    };
    write("asked.toml", &asked("block_size = \"1MiB\"\ndepth = 64", ASKED_S));
    let small = "block_size = \"16KiB\"\ndepth = 120\nregion = { start = \"0B\", len = \"50MiB\" }";
    write("again.toml", &asked(small, ASKED_S / u64::from(TIME)));
    let url = drive.url();
    run(&["run", "first.toml", "--drive", &url, "--out", "first", "--quiet", "--no-report"]);
    run(&["fit", "first", "-o", "drive.toml"]);
    let told = run(&["predict", "drive.toml", "asked.toml", "--tmt1", "341K", "--json"]).stdout;
    let forecast: Value = serde_json::from_str(&told).expect("one document");
    run(&["hctm", &url, "--tmt1", "341K", "--save"]);
    // It cools for as long as it takes to be at rest again: the drive's time passes in a run without load.
    write("rest.toml", "[[phase]]\nname = \"rest\"\nop = \"idle\"\nduration = \"25s\"\n");
    run(&["run", "rest.toml", "--drive", &url, "--out", "rest", "--quiet", "--no-report"]);
    run(&["run", "again.toml", "--drive", &url, "--out", "again", "--quiet", "--no-report"]);
    let again = Trace::from_record(&record::read(&scratch.path("again")).expect("a run folder"));
    let reads = again.speeds.iter().find(|series| series.op == SegmentOp::Read).expect("it reads");
    let bytes: f64 = reads.intervals.iter().map(|interval| interval.bytes).sum();
    let (mean, hottest_k) = (
        bytes / ASKED_S as f64,
        again.temperature().expect("a sensor").points().iter().map(|p| p.value).fold(0.0, f64::max),
    );
    let predicted = |name: &str, part: &str| forecast["phases"][0][name][part].as_f64().expect("a number");
    let speed = predicted("mean_bytes_per_s", "value");
    assert!((mean / speed - 1.0).abs() < 0.05, "predicted {speed:.3e} B/s, was {mean:.3e}");
    // Readings are whole kelvins, cut off.
    let peak_k = predicted("peak_k", "value");
    assert!((hottest_k + 0.5 - peak_k).abs() < 1.5, "predicted {peak_k:.1} K, was {hottest_k}");
}
