//! Logs of which something was lost on the way: monitors get a column while they log. Refused with what to do.

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
