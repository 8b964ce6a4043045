//! What programs that draw charts keep of a drive: Netdata's JSON. The texts are composed here after what it writes.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(files: &[(&str, &str)], device: Option<&str>) -> Result<Trace, String> {
    let options = ImportOptions { device: device.map(str::to_owned), ..ImportOptions::default() };
    let sources = files.iter().map(|(name, text)| LogFile::from_bytes(name, text.as_bytes()));
    import(sources.collect(), &options).map_err(|error| error.to_string())
}

fn moved(trace: &Trace, op: SegmentOp) -> f64 {
    let series = trace.speeds.iter().find(|series| series.op == op).expect("the direction");
    series.intervals.iter().map(|one| one.bytes).sum()
}

/// Goal: however an answer is wrapped, it is one log. Method: ten rows of 1 MiB/s, as lists, objects and cells of three numbers.
#[test]
fn answers_of_netdata_are_read_however_they_are_wrapped() {
    let rows =
        |row: fn(u64) -> String| (0..10).rev().map(|n| row(1_795_340_400 + n)).collect::<Vec<_>>().join(",");
    let plain = format!(
        "{{\"labels\":[\"time\",\"reads\",\"writes\"],\"data\":[{}]}}",
        rows(|t| format!("[{t},0,-1024]"))
    );
    let millis = format!(
        "{{\"labels\":[\"time\",\"reads\",\"writes\"],\"data\":[{}]}}",
        rows(|t| format!("[{t}000,null,-1024]"))
    );
    let objects = format!(
        "{{\"labels\":[\"time\",\"reads\",\"writes\"],\"data\":[{}]}}",
        rows(|t| format!("{{\"time\":{t},\"reads\":0,\"writes\":-1024}}"))
    );
    let third = format!(
        "{{\"api\":3,\"result\":{{\"labels\":[\"time\",\"reads\",\"writes\"],\"point\":{{\"value\":0,\"arp\":1,\"pa\":2}},\"data\":[{}]}}}}",
        rows(|t| format!("[{t},[0,0,0],[-1024,0,0]]"))
    );
    for text in [plain, millis, objects, third] {
        let trace = tried(&[("n.json", &text)], None).expect(&text);
        assert_eq!(moved(&trace, SegmentOp::Write), 10.0 * 1_048_576.0, "{text}");
        assert!(trace.notes.iter().any(|note| note.contains("KiB/s")), "{:?}", trace.notes);
    }
    let other = "{\"labels\":[\"time\",\"user\"],\"data\":[[1795340400,1]]}";
    assert!(tried(&[("n.json", other)], None).expect_err("a processor").contains("a chart of a disk"));
}
