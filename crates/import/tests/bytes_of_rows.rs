//! Columns of bytes: moved so far, or in the time of each row. Which of both is told by the title, by the numbers, or asked for.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.csv", text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

/// A row each minute; of `bytes` the n-th is of that row.
fn table(titles: &str, bytes: impl Fn(u64) -> String) -> String {
    let row = |n: u64| format!("2026-11-22 {:02}:{:02}:00,{}\n", 9 + n / 60, n % 60, bytes(n));
    format!("{titles}\n{}", (0..40).map(row).collect::<String>())
}

fn rates(trace: &Trace, op: SegmentOp) -> Vec<f64> {
    let series = trace.speeds.iter().filter(|series| series.op == op);
    series.flat_map(|series| &series.intervals).map(|one| one.bytes_per_s()).collect()
}

/// Goal: what was moved in each minute is never an idle drive. Method: loads that stand, or rise by next to nothing, under titles
/// that do not say what they count.
#[test]
fn bytes_that_may_be_of_each_row_are_asked_for() {
    for titles in [
        "timestamp,write_bytes",
        "Timestamp,VolumeWriteBytes",
        "Time,nvme0n1 write bytes (GB)",
        "time,written_GB",
    ] {
        let unit = if titles.ends_with("GB)") || titles.ends_with("GB") { 1e9 } else { 1.0 };
        for step in [0.0, 1000.0] {
            let why = tried(&table(titles, |n| format!("{}", (6e10 + step * n as f64) / unit)));
            let why = why.map(|trace| format!("{:?}", trace.speeds)).expect_err(titles);
            assert!(
                why.contains("are its bytes all that were ever moved, or those of each row"),
                "{titles}: {why}"
            );
        }
    }
    let both = table("Timestamp,Disk Write Bytes,Disk Read Bytes", |_| "60000000000,0".into());
    let why = tried(&both).expect_err("no counter");
    assert!(why.contains("write_bytes_per_row") && why.contains("1000.0 MB/s"), "{why}");
}

/// Goal: what a refusal of a dashboard's table advises reads it.
#[test]
fn differences_in_tables_of_dashboards_are_no_counters() {
    for title in ["Write bytes (Sum)", "increase(node_disk_written_bytes)", "nvme0n1 written delta (GB)"] {
        let text = table(&format!("Time,{title}"), |_| "60".into());
        let why = tried(&text).map(|trace| format!("{:?}", trace.notes)).expect_err(title);
        assert!(why.contains("--format csv"), "{title}: {why}");
        let options = ImportOptions { format: Some(import::Format::Csv), ..ImportOptions::default() };
        let trace = import(vec![LogFile::from_bytes("log.csv", text.as_bytes())], &options).expect(title);
        assert!(rates(&trace, SegmentOp::Write).iter().all(|rate| *rate >= 1.0), "{title}");
    }
}

#[test]
fn titles_say_whose_bytes_they_are() {
    for title in
        ["write_bytes_per_row", "Write bytes (Sum)", "write_bytes_delta", "bytes written per interval"]
    {
        let trace =
            tried(&table(&format!("timestamp,{title}"), |n| format!("{}", 60_000_000 * n))).expect(title);
        let rates = rates(&trace, SegmentOp::Write);
        assert_eq!((rates.len(), rates[0], rates[39]), (40, 0.0, 39e6), "{title}");
    }
    for title in ["write_bytes_per_minute", "Write MB/min", "Written (GB per minute)"] {
        let factor = if title.contains("MB") {
            1e6
        } else if title.contains("GB") {
            1e9
        } else {
            1.0
        };
        let trace =
            tried(&table(&format!("timestamp,{title}"), |n| format!("{}", (6e9 + 6e7 * n as f64) / factor)));
        let rates = rates(&trace.expect(title), SegmentOp::Write);
        assert!((rates[0] - 1e8).abs() < 1.0 && (rates[39] - 1.39e8).abs() < 1.0, "{title}: {rates:?}");
    }
    // Of all time, whatever the numbers are.
    for title in ["written_bytes", "write_bytes_total", "Total bytes written"] {
        let trace = tried(&table(&format!("timestamp,{title}"), |_| "60000000000".into())).expect(title);
        assert!(rates(&trace, SegmentOp::Write).iter().all(|rate| *rate == 0.0), "{title}");
    }
}

/// Goal: counters are taken as such without a question: of a load, of an idle machine with a long life, of a drive that only reads.
#[test]
fn counters_of_a_load_or_of_a_long_life_are_no_question() {
    for (titles, first, step) in [
        ("timestamp,write_bytes", 0, 60_000_000_u64),
        ("timestamp,write_bytes", 5_000_000_000_000, 0),
        ("Time,nvme0n1 write bytes", 1 << 33, 6_000_000),
    ] {
        let trace = tried(&table(titles, |n| format!("{}", first + step * n))).expect(titles);
        let all = rates(&trace, SegmentOp::Write);
        assert!(all.iter().all(|rate| (rate - step as f64 / 60.0).abs() < 1.0), "{titles}: {all:?}");
    }
    let reads =
        tried(&table("timestamp,read_bytes,write_bytes", |n| format!("{},60000000000", 6_000_000_000 * n)));
    assert_eq!(rates(&reads.expect("a load"), SegmentOp::Read)[5], 1e8);
}
