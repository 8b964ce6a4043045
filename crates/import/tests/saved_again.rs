//! Logs of which something was lost on the way: Excel takes hours and seconds off times and formats off dates, monitors get a column while they
//! log. Read where nothing needed is missing, else refused with what to do.

use import::{ImportOptions, LogFile, import};
use trace::Trace;

fn tried(text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.csv", text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
}

fn rows(row: impl Fn(u32) -> String) -> String {
    (0..30).map(|n| row(n) + "\n").collect()
}

const HWINFO: &str = "Date,Time,\"Drive Temperature [°C]\",\"Write Rate [MB/s]\"\n";

#[test]
fn times_that_excel_cut_are_refused() {
    let without_hour = |n: u32| format!("{}:{:02}.0", 13 + n / 20, 3 * (n % 20));
    let minute = |n: u32| format!("9:{:02}", 40 + n / 10);
    let heat = |n: u32| format!("{},{}.5", 40 + n, 1500 + n);
    for (what, text, told) in [
        (
            "HWiNFO",
            format!("{HWINFO}{}", rows(|n| format!("22.11.2026,{},{}", without_hour(n), heat(n)))),
            "\"13:00.0\" has no hour",
        ),
        (
            "HWiNFO in minutes",
            format!("{HWINFO}{}", rows(|n| format!("22.11.2026,{},{}", minute(n), heat(n)))),
            "27 rows have the minute",
        ),
        (
            "Grafana",
            format!(
                "Time,\"temp\",\"write (MB/s)\"\n{}",
                rows(|n| format!("22/11/2026 {},{}", minute(n), heat(n)))
            ),
            "no seconds",
        ),
        (
            "counters",
            format!(
                "(PDH-CSV 4.0),\"\\\\PC\\PhysicalDisk(0 C:)\\Disk Write Bytes/sec\"\n{}",
                rows(|n| format!("{},{n}", without_hour(n)))
            ),
            "has no hour",
        ),
        (
            "one's own",
            format!("time,temp_c,write_mb_per_s\n{}", rows(|n| format!("{},{}", without_hour(n), heat(n)))),
            "has no hour",
        ),
        (
            "one's own in minutes",
            format!(
                "time,temp_c,write_mb_per_s\n{}",
                rows(|n| format!("22.11.2026 {},{}", minute(n), heat(n)))
            ),
            "with seconds",
        ),
    ] {
        let why = tried(&text).expect_err(what);
        assert!(why.contains(told), "{what}: {why}");
    }
    // A row a minute needs no seconds.
    let each_minute = rows(|n| format!("22.11.2026,9:{n:02},{}", heat(n)));
    assert_eq!(tried(&format!("{HWINFO}{each_minute}")).expect("minutes").speeds[0].intervals.len(), 30);
}

#[test]
fn dates_that_lost_their_format_in_excel_are_days() {
    // 2026-11-22 09:40:00, and every 10 s.
    let day = |n: u32| format!("{:.10}", 46_348.402_777_777_8 + f64::from(n) / 8640.0);
    for text in [
        format!("time,temp_c,write_mb_per_s\n{}", rows(|n| format!("{},{},1500", day(n), 40 + n))),
        format!(
            "Time;temp (°C);write (MB/s)\n{}",
            rows(|n| format!("{};{};1500,0", day(n).replace('.', ","), 40 + n))
        ),
        format!(
            "\"Time\",\"nvme0 temp\",\"nvme0 write (MB/s)\"\n{}",
            rows(|n| format!("{},{},1500", day(n), 40 + n))
        ),
    ] {
        let trace = tried(&text).expect(&text);
        let points = trace.temperatures[0].kelvin.points();
        let span_s = points[29].t.as_secs_f64() - points[0].t.as_secs_f64();
        assert!((span_s - 290.0).abs() < 0.01 && points.len() == 30, "{span_s}: {text}");
        let bytes: f64 = trace.speeds[0].intervals.iter().map(|one| one.bytes).sum();
        assert!((bytes / 450e9 - 1.0).abs() < 1e-3, "{bytes}: {text}");
    }
}

#[test]
fn a_row_that_is_longer_than_its_header_is_refused_with_the_likely_cause() {
    for (row, told) in [
        ("22.11.2026,9:40:00.000,45,1500,500", "its numbers cannot be told apart"),
        ("22.11.2026,9:40:00.000,45,3.5,1500.500", "put the header that the log ends with"),
    ] {
        let why = tried(&format!("{HWINFO}{row}\n{row}\n")).expect_err(row);
        assert!(why.to_lowercase().contains(told), "{row}: {why}");
    }
}

/// Until 2025 the rates of Libre Hardware Monitor had the numbers 34 and 35.
#[test]
fn older_logs_of_libre_hardware_monitor_have_their_speeds() {
    let text = |read: u32, write: u32| {
        format!(
            ",/nvme/0/temperature/0,/nvme/0/throughput/{read},/nvme/0/throughput/{write}\nTime,\"Temperature\",\"Read Rate\",\"Write Rate\"\n{}",
            rows(|n| format!("11/22/2026 09:40:{n:02},{},0,1500000000", 40 + n))
        )
    };
    let (old, new) = (tried(&text(34, 35)).expect("old"), tried(&text(54, 55)).expect("new"));
    assert_eq!(format!("{:?}", old.speeds), format!("{:?}", new.speeds));
    assert_eq!(old.speeds.len(), 2);
}
