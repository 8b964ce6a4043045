//! Which format a file has, by its content.
//!
//! Rules, the first that fits decides. They look at the first 64 KiB; names count only where [`by_name`] says so.
//! 1. Nothing, gzip, Parquet, zero bytes: refused with a word on what it is.
//! 2. A first line, comments with `#` left out, with a column `t_s`: the plain CSV.
//! 3. A line that begins with `{` or `[` before any that looks like a table: JSON, told by keys that only one tool
//!    writes ([`JSON_KEYS`]). Keys of two tools, or of none: refused.
//! 4. A line that begins with `'Test Type`: Iometer. `TimeStamp,` among the lines after makes it the instantaneous file.
//! 5. A first line of four to eight whole numbers: a log of fio. What its values are is not in it and is told by the
//!    name that fio gives it (`_bw.1.log`, `_iops`, `_lat`, `_clat`, `_slat`); any other name: refused, to be forced.
//!    Hundreds of numbers: a histogram log.
//! 6. Text of a tool that has a JSON as well: refused with the option that makes it.
//! 7. Anything else is taken for the plain CSV, whose importer says which line and column are not.

use super::fio::LogName;
use super::{Format, ImportError};

/// Keys that only one tool writes: the format is told by them. A key counts with its quotes and colon.
const JSON_KEYS: [(Format, &[&str]); 4] = [
    (Format::FioJson, &["fio version"]),
    (Format::SmartctlJson, &["smartctl", "json_format_version"]),
    (Format::Prometheus, &["resultType"]),
    (
        Format::NvmeJson,
        &["avail_spare", "percent_used", "spare_thresh", "wctemp", "mntmt", "thm_temp1_trans_count"],
    ),
];

/// Beginnings of texts that are no series, and what to do instead.
const TEXTS: [(&str, &str); 7] = [
    (
        "Smart Log for NVME",
        "it is the text of `nvme smart-log`; its temperatures are written in five ways: run it again with -o json",
    ),
    ("SMART/Health Information", "it is smartctl's text; run it again with --json"),
    ("smartctl ", "it is smartctl's text; run it again with --json"),
    ("fio-", "it is fio's text; run it again with --output-format=json, or name its logs"),
    ("3;fio-", "it is fio's terse output; run it again with --output-format=json"),
    (
        "# HELP ",
        "it is one scrape of an exporter, which has no course of time; query a range from Prometheus (api/v1/query_range)",
    ),
    ("<?xml", "it is XML; this is not read"),
];

/// The format of the file that begins with `head`.
///
/// # Errors
/// When it is none that is read, or could be two: the text says what to do.
pub(super) fn detect(file: &str, head: &[u8]) -> Result<Format, ImportError> {
    let text = text(file, head)?;
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines().next() else {
        return Err(ImportError::whole(file, "there is nothing in it but empty lines"));
    };
    let header = lines().find(|line| !line.starts_with('#')).unwrap_or(first);
    if header.split([',', ';', '\t']).any(|name| name.trim().trim_matches('"') == "t_s") {
        return Ok(Format::Csv);
    }
    if lines().take_while(|line| !is_numbers(line)).any(|line| line.starts_with(['{', '['])) {
        return json(file, &text);
    }
    if first.starts_with("'Test Type") {
        let instant = lines().any(|line| line.starts_with("TimeStamp,"));
        return Ok(if instant { Format::IometerInst } else { Format::Iometer });
    }
    if first.starts_with("TimeStamp,'Target Type") || first.starts_with("TimeStamp,Target Type") {
        return Ok(Format::IometerInst);
    }
    if is_numbers(first) {
        return by_name(file, first);
    }
    match TEXTS.iter().find(|(begins, _)| lines().take(20).any(|line| line.starts_with(begins))) {
        Some((_, what)) => Err(ImportError::whole(file, *what)),
        None => Ok(Format::Csv),
    }
}

/// A log of fio says in its name what its values are.
fn by_name(file: &str, first: &str) -> Result<Format, ImportError> {
    let count = first.split(',').count();
    if count > 50 {
        return Ok(Format::FioHistLog);
    }
    match LogName::parse(file).values {
        "bw" => Ok(Format::FioBwLog),
        "iops" => Ok(Format::FioIopsLog),
        "lat" | "clat" | "slat" => Ok(Format::FioLatLog),
        _ => {
            let why = "it looks like a log of fio, but its name does not end in _bw, _iops or _lat, and nothing else tells what its values are: say so with --format fio-bw-log, fio-iops-log or fio-lat-log (a table of your own needs a header line with t_s)";
            Err(ImportError::whole(file, why))
        }
    }
}

fn is_numbers(line: &str) -> bool {
    let mut cells = 0;
    for cell in line.split(',').map(str::trim) {
        let digits = cell.strip_prefix("0x").unwrap_or(cell);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return false;
        }
        cells += 1;
    }
    cells >= 4
}

fn json(file: &str, text: &str) -> Result<Format, ImportError> {
    let has = |key: &&str| {
        let quoted = format!("\"{key}\"");
        text.match_indices(&quoted).any(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
    };
    let found: Vec<Format> =
        JSON_KEYS.iter().filter(|(_, keys)| keys.iter().any(has)).map(|(format, _)| *format).collect();
    match found[..] {
        [format] => Ok(format),
        [] => Err(ImportError::whole(
            file,
            "it is JSON, but not of fio, `nvme smart-log`, `nvme id-ctrl`, smartctl or a Prometheus range query; --format NAME takes it as one all the same",
        )),
        _ => {
            let names: Vec<&str> = found.iter().map(|format| format.name()).collect();
            let why = format!(
                "it has keys of several tools ({}): split it, or say which to go by with --format NAME",
                names.join(", ")
            );
            Err(ImportError::whole(file, why))
        }
    }
}

/// The beginning of the file as text; what is no text is refused with a word on what it might be.
fn text(file: &str, head: &[u8]) -> Result<String, ImportError> {
    let whole = |why: &str| ImportError::whole(file, why);
    if head.is_empty() {
        return Err(whole("the file is empty"));
    }
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if head.starts_with(b"\x1f\x8b") {
        return Err(whole("it is compressed with gzip; unpack it first"));
    }
    if head.starts_with(b"PAR1") {
        return Err(whole("it is a Parquet file; name the run folder that it lies in"));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(whole("it is UTF-16 text; save it as UTF-8"));
    }
    if head.contains(&0) {
        return Err(whole("it is not text (it has zero bytes in it)"));
    }
    // The head may end within a character; lines are checked as they are read.
    Ok(String::from_utf8_lossy(head).into_owned())
}

#[cfg(test)]
mod test {
    use super::*;

    fn refused(name: &str, text: &str) -> String {
        detect(name, text.as_bytes()).expect_err("not to be told").to_string()
    }

    #[test]
    fn content_tells_the_format() {
        let of = |name: &str, text: &str| detect(name, text.as_bytes()).expect("a known format");
        assert_eq!(of("a", "note\n{\n \"fio version\" : \"fio-3.33\""), Format::FioJson);
        assert_eq!(
            of("a", "{\"critical_warning\":0,\"temperature\":306,\"avail_spare\":100}"),
            Format::NvmeJson
        );
        assert_eq!(of("a", "{\"json_format_version\":[1,0],\"smartctl\":{}}"), Format::SmartctlJson);
        assert_eq!(
            of("a", "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\""),
            Format::Prometheus
        );
        assert_eq!(of("a", "'Test Type,Test Description\n0,x\n'Results\n'Target Type,..."), Format::Iometer);
        assert_eq!(of("a", "'Test Type,Test Description\n0,x\nTimeStamp,'Target Type"), Format::IometerInst);
        assert_eq!(of("x_bw.1.log", "1000, 19976, 0, 0\n"), Format::FioBwLog);
        assert_eq!(of("d/x_clat.12.log", "1000, 19976, 0, 0, 0, 0x0000\n"), Format::FioLatLog);
        assert_eq!(of("x_iops.log", "1000, 1, 0, 0\n"), Format::FioIopsLog);
        assert_eq!(of("x_clat_hist.1.log", &vec!["0"; 1219].join(", ")), Format::FioHistLog);
        assert_eq!(of("a.csv", "# a: {\nt_s,temp_c\n0,1\n"), Format::Csv);
    }

    #[test]
    fn what_cannot_be_told_is_asked_for() {
        assert!(refused("x.log", "1000, 19976, 0, 0\n").contains("--format fio-bw-log"));
        assert!(
            refused("x", "{\"fio version\": 1, \"smartctl\": {}}")
                .contains("several tools (fio-json, smartctl-json)")
        );
        assert!(refused("x", "{\"a\": \"smartctl\"}").contains("not of fio"));
        assert!(refused("x", "").contains("empty"));
        assert!(refused("x", "\n\n").contains("empty lines"));
        assert!(refused("x", "Smart Log for NVME device:nvme0 namespace-id:ffffffff\n").contains("-o json"));
        assert!(detect("x", b"\x1f\x8b\x08").expect_err("gzip").to_string().contains("gzip"));
        assert!(detect("x", b"\x01\0").expect_err("binary").to_string().contains("not text"));
    }
}
