//! Tables of dashboards and of PCP whose values have no unit, or one in the line below the titles.

use import::{ImportOptions, LogFile, import};
use trace::{SegmentOp, Trace};

fn tried(titles: &str, rows: impl Fn(u32) -> String) -> Result<Trace, String> {
    let rows: String = (0..30).map(|s| format!("2026-11-22 09:40:{s:02},{}\n", rows(s))).collect();
    import(
        vec![LogFile::from_bytes("log.csv", format!("{titles}\n{rows}").as_bytes())],
        &ImportOptions::default(),
    )
    .map_err(|error| error.to_string())
}

fn rate(trace: &Trace, op: SegmentOp) -> f64 {
    let series = trace.speeds.iter().find(|series| series.op == op);
    series.map_or(f64::NAN, |series| series.intervals[3].bytes_per_s())
}

fn has_note(trace: &Trace, text: &str) -> bool {
    trace.notes.iter().any(|note| note.contains(text))
}

/// Goal: degrees Fahrenheit are not taken for °C in silence. Method: a drive of 21 to 70 °C in both.
#[test]
fn a_temperature_without_a_unit_is_said_or_asked_for() {
    let celsius = |s: u32| 21 + s * 49 / 29;
    for title in ["temp", "nvme0n1 temperature", "Composite"] {
        let trace = tried(&format!("Time,{title},nvme0n1 write"), |s| format!("{},1500000000", celsius(s)));
        let trace = trace.expect(title);
        assert!(has_note(&trace, "without a unit, taken as °C") && trace.temperatures.len() == 1, "{title}");
        let why =
            tried(&format!("Time,{title},write"), |s| format!("{},1500000000", celsius(s) * 9 / 5 + 32));
        let why = why.expect_err(title);
        assert!(why.contains(&format!("\"{title} (°F)\"")), "{why}");
    }
    for (title, cell) in [("temp (°C)", "119"), ("temp", "119 °C"), ("hwmon temp celsius", "119")] {
        let trace = tried(&format!("Time,{title},write"), |_| format!("{cell},1500000000")).expect(title);
        assert!(!has_note(&trace, "taken as °C"), "{title}");
    }
    let advised =
        tried("Time,temp (°F),write", |s| format!("{},1500000000", celsius(s) * 9 / 5 + 32)).expect("°F");
    assert!((advised.temperatures[0].kelvin.points()[29].value - 343.15).abs() < 1.0);
}

/// Goal: metrics of PCP are Kbyte of 1024 bytes a second, whatever their names say.
#[test]
fn metrics_of_pcp_are_in_kib() {
    let titles = "Time,disk.dev.read_bytes-nvme0n1,disk.dev.write_bytes-nvme0n1,disk.dev.write-nvme0n1,disk.dm.write_bytes-vg";
    let trace = tried(titles, |_| "0.000,1464843.750,9000.0,1464843.750".into()).expect("pmrep");
    assert_eq!((trace.name.as_str(), rate(&trace, SegmentOp::Write)), ("nvme0n1", 1.5e9));
    assert!(has_note(&trace, "KiB/s") && !has_note(&trace, "bytes per second"), "{:?}", trace.notes);
    let all = tried("Time,disk.all.write_bytes", |_| "1464843.750".into()).expect("all drives");
    assert_eq!(rate(&all, SegmentOp::Write), 1.5e9);
    for (unit, number, bytes) in
        [("KB/s", "1000", 1_024_000.0), ("Mbyte / s", "1000", 1_048_576_000.0), ("byte/s", "9", 9.0)]
    {
        let titles = format!("Time,disk.dev.write_bytes-sda,disk.dev.write-sda\n,{unit},count / s");
        let trace = tried(&titles, |_| format!("{number},5")).expect(unit);
        assert_eq!((rate(&trace, SegmentOp::Write), has_note(&trace, "KiB/s")), (bytes, false), "{unit}");
    }
}

#[test]
fn units_below_titles_and_before_brackets_count() {
    for (titles, factor) in [
        ("Time,write,temp\n,MB/s,°C", 1e6),
        ("Time,nvme0n1 write,temp\ndate,MiB/s,°C", 1_048_576.0),
        ("Time,write MiB/s [last],temp (°C)", 1_048_576.0),
        ("Time,Write GB/s (mean),temp (°C)", 1e9),
    ] {
        let trace = tried(titles, |_| "1.5,45".into()).expect(titles);
        assert_eq!(rate(&trace, SegmentOp::Write), 1.5 * factor, "{titles}");
        assert!(!has_note(&trace, "without a unit"), "{:?}", trace.notes);
    }
}

/// Goal: a speed whose legend Grafana made of labels alone is asked for, and not lost beside a temperature.
#[test]
fn a_legend_of_labels_alone_is_asked_for() {
    let titles = "\"Time\",\"{device=\"\"nvme0n1\"\", instance=\"\"h:9100\"\"}\",\"nvme_temp\"";
    let why = tried(titles, |s| format!("1500000000,{}", 40 + s)).expect_err("labels");
    assert!(why.contains("its legend has labels and no name"), "{why}");
    // Beside a speed it is named, and so is all that is not read.
    let titles = "Time,\"{device=\"\"nvme0n1\"\"}\",write (B/s),fan,temp (°C)";
    let trace = tried(titles, |s| format!("1,1500000000,900,{}", 40 + s)).expect("a speed");
    assert!(has_note(&trace, "not taken for a speed or temperature of the drive: {device=\"nvme0n1\"}, fan"));
}
