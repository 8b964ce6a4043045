//! Metrics as text with timestamps: whole seconds and milliseconds, heatsoak's own names, pages without times.
//!
//! Texts are composed here, after OpenMetrics 1.0 and Prometheus' text format 0.0.4; the names are those that
//! `heatsoak export --format prometheus` writes and those of node_exporter.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(text: &str) -> Result<Trace, String> {
    let files = vec![LogFile::from_bytes("run.openmetrics.txt", text.as_bytes())];
    import(files, &ImportOptions::default()).map_err(|error| error.to_string())
}

/// A run of ten seconds of writing and ten of reading, a tenth of a second each, as it is exported.
fn own(run: &str) -> String {
    let labels = format!("run=\"{run}\",drive=\"Example \\\"1\\\"\",serial=\"S1\",simulated=\"true\"");
    let mut text = "# TYPE heatsoak_throughput_bytes_per_second gauge\n".to_owned();
    for row in 1..=200 {
        let (op, rate) = if row <= 100 { ("write", 3e9) } else { ("read", 2e9) };
        text += &format!(
            "heatsoak_throughput_bytes_per_second{{{labels},op=\"{op}\",phase=\"then {op}\"}} {rate} {:.3}\n",
            f64::from(row) / 10.0
        );
    }
    for second in 0..=20 {
        text += &format!(
            "heatsoak_temperature_celsius{{{labels},sensor=\"composite\"}} {} {second}.000\n",
            40 + second
        );
        text += &format!("heatsoak_power_watts{{{labels}}} 5.5 {second}.000\n");
        text += &format!("heatsoak_tmt1_transitions{{{labels}}} {} {second}.000\n", second / 10);
    }
    text + "heatsoak_ios_per_second{run=\"a\"} 7 0.1\n# EOF\n"
}

#[test]
fn an_exported_run_is_read_back() {
    let trace = tried(&own("a")).expect("an export");
    let moved: Vec<(SegmentOp, f64, f64, usize)> = trace
        .speeds
        .iter()
        .map(|series| {
            let bytes: f64 = series.intervals.iter().map(|one| one.bytes).sum();
            (series.op, bytes.round(), series.intervals[0].start_s.round(), series.intervals.len())
        })
        .collect();
    assert_eq!(moved, [(SegmentOp::Read, 20e9, 10.0, 100), (SegmentOp::Write, 30e9, 0.0, 100)]);
    let phases: Vec<(&str, SegmentOp)> =
        trace.phases.iter().map(|phase| (phase.name.as_str(), phase.op)).collect();
    assert_eq!(phases, [("then write", SegmentOp::Write), ("then read", SegmentOp::Read)]);
    assert_eq!((trace.name.as_str(), trace.facts.simulated), ("Example \"1\"", Some(true)));
    assert_eq!(trace.temperatures[0].kelvin.points()[20].value, 333.0);
    assert_eq!((trace.power_w.points().len(), trace.counters.points().len()), (21, 21));
    let why = tried(&format!("{}{}", own("a"), own("b"))).expect_err("two runs");
    assert!(why.contains("several runs (a, b)"), "{why}");
}

#[test]
fn timestamps_are_seconds_or_milliseconds_and_a_page_without_any_is_refused() {
    let page = |row: u32, time: &str| {
        format!(
            "node_disk_written_bytes_total{{device=\"nvme0n1\"}} {} {time}\n",
            1_000_000_000 * u64::from(row)
        )
    };
    let text = |time: &dyn Fn(u32) -> String, end: &str| -> String {
        (0..30).map(|row| page(row, &time(row))).collect::<String>() + end
    };
    for (time, end) in [
        (&(|row| format!("{}", 1_795_340_400_000_u64 + 1000 * u64::from(row))) as &dyn Fn(u32) -> String, ""),
        (&|row| format!("{}", 1_795_340_400 + row), "# EOF\n"),
        (&|row| format!("{row}.5"), ""),
    ] {
        let trace = tried(&text(time, end)).expect("a course of time");
        let last = trace.speeds[0].intervals.last().expect("an interval");
        assert_eq!((last.end_s(), last.bytes), (29.0, 1e9), "{}", time(1));
    }
    let why = tried(&format!("# TYPE a counter\n{}", page(1, ""))).expect_err("one scrape");
    assert!(why.contains("its samples have no timestamps"), "{why}");
    // A file that is cut short within a number.
    let cut = text(
        &|row| format!("{}", 1_795_340_400 + row),
        "node_disk_written_bytes_total{device=\"nvme0n1\"} 3",
    );
    assert_eq!(tried(&cut).expect("a cut file").speeds[0].intervals.len(), 29);
}
