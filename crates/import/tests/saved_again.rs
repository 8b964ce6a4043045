//! Logs of which something was lost on the way: monitors get a column while they log. Refused with what to do.

use import::{ImportOptions, LogFile, import};
use trace::Trace;

fn tried(text: &str) -> Result<Trace, String> {
    import(vec![LogFile::from_bytes("log.csv", text.as_bytes())], &ImportOptions::default())
        .map_err(|error| error.to_string())
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
