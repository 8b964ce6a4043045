//! Which format a file has, by its content.
//!
//! Rules, the first that fits decides. They look at the first 64 KiB; names count only where [`by_name`] says so.
//! 1. Nothing, gzip, Parquet, zero bytes: refused with a word on what it is.
//! 2. A first line, comments with `#` left out, with a column `t_s`: the plain CSV.
//! 3. `CrystalDiskInfo ` among the first five lines; a first line with `Time UNIT` and a power (Quarch).
//! 4. A line that begins with `{` or `[` before any that looks like a table: JSON, told by keys that only one tool
//!    writes ([`JSON_KEYS`]). Keys of two tools, or of none: refused.
//! 5. A line that begins with `'Test Type`: Iometer. `TimeStamp,` among the lines after makes it the instantaneous file.
//! 6. A first line of four to eight whole numbers: a log of fio. What its values are is not in it and is told by the
//!    name that fio gives it (`_bw.1.log`, `_iops`, `_lat`, `_clat`, `_slat`); any other name: refused, to be forced.
//!    Hundreds of numbers: a histogram log.
//! 7. A header of HWiNFO (`Date,Time,` and units in brackets), of Windows' performance counters (`(PDH-CSV`) or of Grafana
//!    (`Time,`); tables of sysstat with `Device` or `DEV`; lines of telegraf that begin with `diskio,` or the like.
//! 8. Text of a tool that has a JSON as well: refused with the option that makes it.
//! 9. A first line with a column of the plain CSV: that, whose importer says what is missing. Anything else is refused with
//!    the program that it may be of.

use super::csv::is_own_column;
use super::encoding::unicode;
use super::fio::LogName;
use super::monitor::columns::Dialect;
use super::monitor::sysstat::{is_banner, is_sadf};
use super::{Format, ImportError, crystaldiskinfo, lines, quarch};

/// Keys that only one tool writes: the format is told by them. A key counts with its quotes and colon.
const JSON_KEYS: [(Format, &[&str]); 5] = [
    (Format::FioJson, &["fio version"]),
    (Format::SmartctlJson, &["smartctl", "json_format_version"]),
    (Format::Prometheus, &["resultType"]),
    (Format::SysstatJson, &["sysstat"]),
    (
        Format::NvmeJson,
        &["avail_spare", "percent_used", "spare_thresh", "wctemp", "mntmt", "thm_temp1_trans_count"],
    ),
];

/// Beginnings of texts that are no series, and what to do instead.
const TEXTS: [(&str, &str); 6] = [
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

/// Words that together tell a program whose logs are not read, the most telling first, and what to do instead.
const NEAREST: [(&[&str], &str); 7] = [
    (
        &["/ssd/", "temperature"],
        "it looks like a log of Open or Libre Hardware Monitor, which is not read: HWiNFO logs the same",
    ),
    (&["aida64"], "it looks like a log of AIDA64, which is not read: HWiNFO logs the same"),
    (
        &["procs", "memory", "swap"],
        "it looks like vmstat's text, which does not tell drives apart: use `iostat -x -t 1`",
    ),
    (&["avg-cpu"], "it looks like iostat's text without a table of devices: use `iostat -x -t 1`"),
    (&["%user", "%idle"], "it looks like sar's text without drives: use `sar -d` or `sadf -j FILE -- -d`"),
    (&["total dsk", "read", "writ"], "it looks like dstat's text, which is not read: use `iostat -x -t 1`"),
    (
        &["quarch"],
        "it looks like a recording of Quarch's own kind: export it as CSV, with a column of the total power",
    ),
];

/// Words that the files of a format have, in lower case: what a text is most like whose beginning is of no format.
const TYPICAL: [(Format, &[&str]); 8] = [
    (Format::SysstatText, &["rkb/s", "wkb/s", "rmb/s", "%util", "kb_read/s", "avgqu-sz", "aqu-sz", "tps"]),
    (Format::HwInfo, &["drive temperature", "read rate", "write rate", "[°c]", "[mb/s]"]),
    (Format::Perfmon, &["physicaldisk", "disk read bytes/sec", "disk write bytes/sec", "avg. disk"]),
    (Format::Iometer, &["access specification", "target type", "read mbps", "iops", "worker"]),
    (Format::NvmeText, &["critical_warning", "available_spare", "percentage_used", "data_units_written"]),
    (Format::TelegrafInflux, &["diskio", "host=", "read_bytes=", "smart_device", "temp_c="]),
    (Format::Prometheus, &["node_disk_", "smartctl_device", "nvme_", "__name__", "metric"]),
    (Format::Quarch, &["12v", "5v", " mv", " ua", " uw", "voltage", "current"]),
];

/// The format of the file that begins with `head`.
///
/// # Errors
/// When it is none that is read, or could be two: the text says what to do.
pub(super) fn detect(file: &str, head: &[u8]) -> Result<Format, ImportError> {
    let text = text(file, head)?;
    let text = without_separator(&text);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines().next() else {
        return Err(ImportError::whole(file, "there is nothing in it but empty lines"));
    };
    let header = lines().find(|line| !line.starts_with('#')).unwrap_or(first);
    if header.split([',', ';', '\t']).any(|name| name.trim().trim_matches('"') == "t_s") {
        return Ok(Format::Csv);
    }
    if lines().take(5).any(|line| line.starts_with(crystaldiskinfo::BEGIN)) {
        return Ok(Format::CrystalDiskInfo);
    }
    if quarch::is_header(first) {
        return Ok(Format::Quarch);
    }
    if lines().take_while(|line| !is_numbers(line)).any(|line| line.starts_with(['{', '['])) {
        return json(file, text);
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
    if lines().any(|line| line.starts_with("Smart Log for NVME")) {
        return Ok(Format::NvmeText);
    }
    if let Some(format) = monitor(text) {
        return Ok(format);
    }
    if let Some((_, what)) =
        TEXTS.iter().find(|(begins, _)| lines().take(20).any(|line| line.starts_with(begins)))
    {
        return Err(ImportError::whole(file, *what));
    }
    if header.split(',').any(is_own_column) {
        return Ok(Format::Csv);
    }
    Err(ImportError::whole(file, unknown(text, header)))
}

/// The text behind a first line that says by what its cells are separated.
fn without_separator(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    match text.split_once('\n') {
        Some((first, rest)) if lines::is_separator(first) => rest,
        _ => text,
    }
}

/// What may be said of text that is none of the logs that are read.
fn unknown(text: &str, header: &str) -> String {
    let lower = text.to_lowercase();
    match NEAREST.iter().find(|(words, _)| words.iter().all(|word| lower.contains(word))) {
        Some((_, what)) => (*what).to_owned(),
        None => {
            let begin: String = header.chars().take(40).collect();
            let what = match nearest(&lower) {
                Some(format) => {
                    let name = format.name();
                    format!("the nearest is {name}, which begins otherwise (--format {name} reads it as one)")
                }
                None if is_table(header) => {
                    "the nearest is csv, a table of your own (--format csv says what its header lacks)"
                        .to_owned()
                }
                None => {
                    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
                    format!("they are {}", names.join(", "))
                }
            };
            format!("it is none of the logs that are read: it begins with {begin:?}; {what}")
        }
    }
}

/// The format whose words the text has most of, two at least.
fn nearest(lower: &str) -> Option<Format> {
    let count = |words: &[&str]| words.iter().filter(|word| lower.contains(**word)).count();
    let (format, words) = TYPICAL.into_iter().rev().max_by_key(|(_, words)| count(words))?;
    (count(words) >= 2).then_some(format)
}

/// Whether a header has several cells.
fn is_table(header: &str) -> bool {
    header.split([',', ';', '\t']).count() > 1
}

/// A log of a program that watches a whole machine.
fn monitor(text: &str) -> Option<Format> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    match Dialect::tell(first) {
        Some(Dialect::HwInfo) => return Some(Format::HwInfo),
        Some(Dialect::Perfmon) => return Some(Format::Perfmon),
        Some(Dialect::Grafana) => return Some(Format::GrafanaCsv),
        None => {}
    }
    // A recording of all that sar knows has its drives far behind the beginning.
    let is_table =
        |line: &str| line.split_whitespace().any(|word| ["Device", "Device:", "DEV"].contains(&word));
    if is_banner(first) || is_sadf(first) || is_table(first) {
        return Some(Format::SysstatText);
    }
    let is_telegraf = |line: &str| line.starts_with("diskio,") || line.starts_with("smart_device,");
    (first.starts_with("> ") || is_telegraf(first) || lines.any(is_telegraf))
        .then_some(Format::TelegrafInflux)
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
        [] if has(&"fields") && has(&"tags") && has(&"timestamp") => Ok(Format::TelegrafJson),
        [] => Err(ImportError::whole(
            file,
            "it is JSON, but not of fio, `nvme smart-log`, `nvme id-ctrl`, smartctl, a Prometheus range query, sysstat or telegraf; --format NAME takes it as one all the same",
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
    if let Some(encoding) = unicode(head) {
        return Ok(encoding.decode(head).0.into_owned());
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

    /// Goal: what a known program wrote in an unknown way is told as its. Method: beginnings cut off, and other headers.
    #[test]
    fn the_nearest_format_is_named() {
        for (text, nearest) in [
            ("rkB/s wkB/s %util\n1 2 3\n", "sysstat"),
            ("Zeit;Drive Temperature [°C];Read Rate [MB/s]\n", "hwinfo"),
            ("\\\\PC\\PhysicalDisk(0 C:)\\Disk Read Bytes/sec\n", "perfmon"),
            ("critical_warning : 0\navailable_spare : 100%\n", "nvme-text"),
            ("metric value\nnode_disk_read_bytes_total 5\n", "prometheus"),
            ("sample,12V voltage V,12V current A\n1,12,0.3\n", "quarch"),
        ] {
            let why = refused("x", text);
            assert!(why.contains(&format!("the nearest is {nearest}, ")), "{why}");
        }
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
        assert!(refused("x", "=== START OF INFORMATION SECTION ===\nsmartctl 7.3\n").contains("--json"));
        let unknown = refused("x", "when;speed;heat\n1;2;3\n");
        assert!(
            unknown.contains("none of the logs that are read") && unknown.contains("nearest is csv"),
            "{unknown}"
        );
        let prose = refused("x", "the quick brown fox\n");
        assert!(prose.contains("they are csv, fio-bw-log") && prose.contains("quarch"), "{prose}");
        assert!(detect("x", b"\x1f\x8b\x08").expect_err("gzip").to_string().contains("gzip"));
        assert!(detect("x", b"\x01\0").expect_err("binary").to_string().contains("not text"));
    }
}
