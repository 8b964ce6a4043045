//! Which format a file has, by its content.
//!
//! Rules, the first that fits decides. They look at the first 64 KiB, and of JSON at 16 MiB more where those tell nothing; names count only where [`by_name`] says so.
//! 1. Nothing, archives, Parquet, zero bytes: refused with a word on what it is.
//! 2. A first line, comments with `#` left out, with a column `t_s`: the plain CSV.
//! 3. `CrystalDiskInfo ` among the first five lines; a first line with `Time UNIT` and a power (Quarch).
//! 4. A line that begins text of `nvme smart-log` or `nvme id-ctrl`, with the heading or without.
//! 5. A line that begins with `{` or `[`, or with a time and then one of these, before any that looks like a table: JSON, told by keys that only one tool
//!    writes ([`JSON_KEYS`]). Keys of two tools, or of none: refused; a document that is torn before any is named as that.
//! 6. A line that begins with `'Test Type`: Iometer. `TimeStamp,` among the lines after makes it the instantaneous file.
//! 7. A first line of four to eight whole numbers: a log of fio. What its values are is not in it and is told by the
//!    name that fio gives it (`_bw.1.log`, `_iops`, `_lat`, `_clat`, `_slat`); any other name: refused, to be forced.
//!    Hundreds of numbers: a histogram log.
//! 8. A header of HWiNFO (`Date,Time,` and units in brackets), of Libre Hardware Monitor (identifiers such as `/nvme/0/temperature/0`), of
//!    Windows' performance counters (`(PDH-CSV`) or of Grafana (`Time,`); a first line of dstat's or collectd's; a header of InfluxDB's (`_time`); a table of sysstat with `Device` or `DEV` and a speed; lines of telegraf that begin with `diskio,` or the like.
//!    Before these, a sample of Prometheus' or OpenMetrics' text with a timestamp.
//! 9. A line of smartctl's text, quoted or not: that. Text of another tool that has a JSON as well: refused with the option that
//!    makes it.
//! 10. A first line with a column of the plain CSV, or with a time and a value whose unit is told: that, whose importer says what
//!     is missing. Anything else is refused with
//!     the program that it may be of ([`super::nearest`]).

use super::csv::{is_own_column, is_own_header};
use super::encoding::unicode;
use super::fio::LogName;
use super::monitor::columns::Dialect;
use super::monitor::sysstat::{is_banner, is_header, is_sadf};
use super::monitor::when::time_of_day_s;
use super::monitor::{collectd, dstat, influx_csv};
use super::{
    Format, ImportError, crystaldiskinfo, json, lines, nearest, nvme_text, prometheus, quarch, smartctl_text,
};

/// Keys that only one tool writes: the format is told by them. A key counts with its quotes and colon.
const JSON_KEYS: [(Format, &[&str]); 5] = [
    (Format::FioJson, &["fio version"]),
    (Format::SmartctlJson, &["smartctl", "json_format_version"]),
    (Format::Prometheus, &["resultType"]),
    (Format::SysstatJson, &["sysstat", "disk_device", "disk-device"]),
    (
        Format::NvmeJson,
        &["avail_spare", "percent_used", "spare_thresh", "wctemp", "mntmt", "thm_temp1_trans_count"],
    ),
];

/// Beginnings of files that are no text, and what to do with them. The one of sar is its magic number (sysstat, sa.h).
const BINARIES: [(&[u8], &str); 8] = [
    (b"\x1f\x8b", "it is compressed with gzip; unpack it first"),
    (b"\x28\xb5\x2f\xfd", "it is compressed with zstd; unpack it first"),
    (b"\xfd7zXZ", "it is compressed with xz; unpack it first"),
    (b"BZh", "it is compressed with bzip2; unpack it first"),
    (b"7z\xbc\xaf", "it is an archive of 7-Zip; unpack it first"),
    (b"PK\x03\x04", "it is a ZIP archive, or a workbook of Excel; unpack it first, or save it as CSV"),
    (b"PAR1", "it is a Parquet file; name the run folder that it lies in"),
    (b"\x96\xd5", "it is sar's binary recording; convert it with `sadf -j FILE -- -d`"),
];

/// What to say of texts of two tools, pasted one after the other: the times and drives of one are not those of the other.
const TWO_TEXTS: &str = "it has text of smartctl and of `nvme smart-log`: cut it into a file for each, or say which one to read with --format smartctl-text or nvme-text";

/// The format of the file that begins with `head`.
///
/// # Errors
/// When it is none that is read, or could be two: the text says what to do.
pub(super) fn detect(file: &str, head: &[u8]) -> Result<Format, ImportError> {
    let all = text(file, head)?;
    // A line that the head ends within may look like anything.
    let whole = all.rfind('\n').filter(|_| head.len() >= super::HEAD).map_or(&all[..], |last| &all[..=last]);
    let text = without_separator(whole);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines().next() else {
        return Err(ImportError::whole(file, "there is nothing in it but empty lines"));
    };
    let header = lines().find(|line| !line.starts_with('#')).unwrap_or(first);
    if header.split([',', ';', '\t']).any(|name| name.trim().trim_matches('"').eq_ignore_ascii_case("t_s")) {
        return Ok(Format::Csv);
    }
    if lines().take(5).any(|line| line.starts_with(crystaldiskinfo::BEGIN))
        || lines().any(crystaldiskinfo::is_title)
    {
        return Ok(Format::CrystalDiskInfo);
    }
    if quarch::is_header(first) {
        return Ok(Format::Quarch);
    }
    if lines().any(nvme_text::is_beginning) {
        if lines().any(smartctl_text::is_banner) {
            return Err(ImportError::whole(file, TWO_TEXTS));
        }
        return Ok(Format::NvmeText);
    }
    if lines().take_while(|line| !is_numbers(line)).any(json::is_beginning) {
        return told_by_keys(file, &all, head.len() < super::HEAD);
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
    if prometheus::is_series(text) {
        return Ok(Format::OpenMetrics);
    }
    // Its text has lines as smartctl's has, with other units.
    if lines().any(smartctl_text::is_beginning) && !lines().any(nearest::is_nvmecontrol) {
        return Ok(Format::SmartctlText);
    }
    match monitor(text) {
        // A table of one's own may begin with `time` as one of Grafana does, which always has a day.
        Some(Format::GrafanaCsv)
            if is_own_header(header, true)
                || is_own_header(header, false) && rows(text, header).any(tells_no_day) =>
        {
            return Ok(Format::Csv);
        }
        Some(format) => return Ok(format),
        None => {}
    }
    if let Some(what) = nearest::text_of_a_tool(text) {
        return Err(ImportError::whole(file, what));
    }
    // Its columns have words of a drive, and no unit.
    if (header.contains("diskio_") || header.contains(",[DSK"))
        && let Some(what) = nearest::program(&text.to_lowercase())
    {
        return Err(ImportError::whole(file, what));
    }
    if header.split([',', ';', '\t']).any(is_own_column) || is_own_header(header, false) {
        return Ok(Format::Csv);
    }
    Err(ImportError::whole(file, nearest::unknown(text, header)))
}

/// Whether a file is JSON by its first character.
pub(super) fn begins_as_json(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    head.starts_with(b"{") || head.starts_with(b"[")
}

/// Whether a file that is refused holds what a loss of power leaves of a reading: a document without an end, or zero bytes.
pub(super) fn is_torn(head: &[u8]) -> bool {
    head.iter().all(|byte| *byte == 0)
        || (head.len() < super::HEAD
            && json::is_cut(&String::from_utf8_lossy(&lines::head_without_zeros(head))))
}

/// The first rows below a header; a line of units may come first.
fn rows<'a>(text: &'a str, header: &str) -> impl Iterator<Item = &'a str> {
    const ROWS: usize = 3;
    text.lines().map(str::trim).skip_while(move |line| *line != header).skip(1).take(ROWS)
}

/// Whether a row begins with a time of day, or with a small number: a time since 1970 and one of Excel's days are none.
fn tells_no_day(row: &str) -> bool {
    const SMALL: f64 = 1e4;
    let cell = row.split([';', '\t']).next().unwrap_or(row);
    let cell = cell.split(',').next().unwrap_or(cell).trim().trim_matches('"');
    let parts: Vec<&str> = cell.split(':').collect();
    let is_number = |part: &&str| part.parse::<f64>().is_ok_and(|number| (0.0..SMALL).contains(&number));
    (1..=3).contains(&parts.len()) && parts.iter().all(is_number) || time_of_day_s(cell).is_some()
}

/// The text behind a first line that says by what its cells are separated.
fn without_separator(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    match text.split_once('\n') {
        Some((first, rest)) if lines::is_separator(first) => rest,
        _ => text,
    }
}

/// A log of a program that watches a whole machine.
fn monitor(text: &str) -> Option<Format> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    match Dialect::tell(first) {
        Some(Dialect::HwInfo) => return Some(Format::HwInfo),
        Some(Dialect::HardwareMonitor) => return Some(Format::HardwareMonitor),
        Some(Dialect::Perfmon) => return Some(Format::Perfmon),
        Some(Dialect::Grafana) => return Some(Format::GrafanaCsv),
        None => {}
    }
    if collectd::is_header(first) {
        return Some(Format::Collectd);
    }
    if dstat::is_beginning(first) {
        return Some(Format::Dstat);
    }
    if influx_csv::is_header(first)
        || first.starts_with('#') && lines.clone().take(6).any(influx_csv::is_header)
    {
        return Some(Format::InfluxCsv);
    }
    // A recording of all that sar knows has its drives far behind the beginning; one whose first line was cut off has none
    // that names it.
    if is_banner(first) || is_sadf(first) || lines.clone().any(is_header) || is_header(first) {
        return Some(Format::SysstatText);
    }
    let is_telegraf = |line: &str| {
        let metric = line.trim_start_matches("> ");
        // Rows of a CSV of the same metrics have no blank before the fields.
        metric.contains(' ')
            && ["diskio,", "smart_device,", "smartctl,", "hddtemp,"]
                .iter()
                .any(|begin| metric.starts_with(begin))
    };
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

/// The format of JSON, of which `text` is the beginning, or the whole where `is_whole`.
fn told_by_keys(file: &str, text: &str, is_whole: bool) -> Result<Format, ImportError> {
    let has = |key: &&str| {
        let quoted = format!("\"{key}\"");
        text.match_indices(&quoted).any(|(at, _)| text[at + quoted.len()..].trim_start().starts_with(':'))
    };
    let found: Vec<Format> =
        JSON_KEYS.iter().filter(|(_, keys)| keys.iter().any(has)).map(|(format, _)| *format).collect();
    match found[..] {
        [format] => Ok(format),
        [] if has(&"labels") && has(&"data") && text.contains("\"time\"") => Ok(Format::NetdataJson),
        [] if has(&"fields") && has(&"tags") && has(&"timestamp") => Ok(Format::TelegrafJson),
        // The keys that tell it are behind the tear.
        [] if is_whole && json::is_cut(text) => {
            let line = 1 + text.lines().take_while(|line| !json::is_beginning(line)).count();
            Err(ImportError::at(file, line, None, json::CUT))
        }
        [] => Err(ImportError::whole(
            file,
            nearest::program_of(&text.to_lowercase(), is_json(text)).unwrap_or_else(|| {
                "it is JSON, but not of fio, `nvme smart-log`, `nvme id-ctrl`, smartctl, a Prometheus range query, sysstat, telegraf or Netdata; --format NAME takes it as one all the same".to_owned()
            }),
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

/// Whether a text begins as JSON does, and not with a word in brackets.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    let in_list = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{') || in_list.is_some_and(|first| first.starts_with(['{', '[', '"']))
}

/// The beginning of the file as text; what is no text is refused with a word on what it might be.
fn text(file: &str, head: &[u8]) -> Result<String, ImportError> {
    let whole = |why: &str| ImportError::whole(file, why);
    if head.is_empty() {
        return Err(whole("the file is empty"));
    }
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    if let Some((_, what)) = BINARIES.iter().find(|(begin, _)| head.starts_with(begin)) {
        return Err(whole(what));
    }
    if let Some(encoding) = unicode(head) {
        // Zero bytes at the end are characters here.
        return Ok(encoding.decode(head).0.trim_end_matches('\0').to_owned());
    }
    let has_zeros = head.contains(&0);
    let head = lines::head_without_zeros(head);
    if head.is_empty() {
        return Err(whole(
            "there is nothing in it but zero bytes: what was written was lost, as at a loss of power",
        ));
    }
    // Beside zero bytes, other control characters show that it is no text whose end was lost.
    if has_zeros && head.iter().any(|byte| *byte < b'\x08') {
        return Err(whole("it is not text (it has zero bytes in it)"));
    }
    // The head may end within a character; lines are checked as they are read.
    Ok(String::from_utf8_lossy(&head).into_owned())
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
        for text in [
            "=== START OF INFORMATION SECTION ===\nsmartctl 7.3\n",
            "My drive\n\n> smartctl 7.3 2022-02-28 r5338\n",
            "194 Temperature_Celsius     -O---K   064   058   000    -    36\n",
        ] {
            assert_eq!(of("a", text), Format::SmartctlText, "{text}");
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
        let unknown = refused("x", "when;speed;heat\n1;2;3\n");
        assert!(
            unknown.contains("none of the logs that are read") && unknown.contains("nearest is csv"),
            "{unknown}"
        );
        let prose = refused("x", "the quick brown fox\n");
        assert!(prose.contains("analyze --help") && prose.contains("write_mb_per_s"), "{prose}");
        assert!(detect("x", b"\x1f\x8b\x08").expect_err("gzip").to_string().contains("gzip"));
        assert!(detect("x", b"\x01\0").expect_err("binary").to_string().contains("not text"));
    }
}
