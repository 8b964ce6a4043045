//! Logs of other tools, spoilt.
//!
//! Goal: any file becomes a verdict or an error, in memory and time that follow its rows. Method: all recorded logs, good
//! and bad, with what a broken disk, a script or a careless hand does to them; each one read, analyzed, reported and
//! compared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use import::{Format, ImportOptions, LogFile, import};
use measure::{Clock as _, MonotonicClock};
use report::{ReportInput, TerminalStyle};

use super::{Dice, cases};

/// What no file may take.
const MOST_KIB: u64 = 1 << 20;

/// Numbers that parsers take and readers do not expect.
const NUMBERS: [&str; 22] = [
    "nan",
    "NaN",
    "-nan",
    "inf",
    "-inf",
    "infinity",
    "1e300",
    "-1e300",
    "1e19",
    "1e-300",
    "-1",
    "-0",
    "0",
    "18446744073709551615",
    "9223372036854775807",
    "4294967296",
    "31536000",
    "31536000000",
    "1795246000",
    "1795246000000",
    "0x7fffffff",
    "",
];

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}

/// All recorded logs of a kind: name and content.
fn logs(kind: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import").join(kind), &mut files);
    files.sort();
    let name = |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    files.iter().map(|file| (name(file), std::fs::read(file).expect("a readable file"))).collect()
}

/// Where numbers stand: start and end.
fn numbers(bytes: &[u8]) -> Vec<(usize, usize)> {
    let part = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + bytes[at..].iter().take_while(|byte| part(byte)).count();
        if end > at {
            found.push((at, end));
        }
        at = end + 1;
    }
    found
}

fn spoilt(log: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = log.to_vec();
    for _ in 0..=dice.below(6) / 3 {
        if bytes.is_empty() {
            return bytes;
        }
        match dice.below(6) {
            0 => bytes.truncate(dice.below(bytes.len())),
            1 => {
                let at = dice.below(bytes.len());
                bytes[at] ^= 1 << dice.below(8);
            }
            2 | 3 => {
                let numbers = numbers(&bytes);
                if let Some(&(start, end)) = (!numbers.is_empty()).then(|| dice.pick(&numbers)) {
                    bytes.splice(start..end, dice.pick(&NUMBERS).bytes());
                }
            }
            // A line once more, somewhere else.
            4 => {
                let lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
                let mut all = lines.clone();
                all.insert(dice.below(lines.len() + 1), dice.pick(&lines).clone());
                bytes = all.concat();
            }
            // All numbers of one length a thousand times as large: another unit, and a giant span.
            _ => {
                let numbers = numbers(&bytes);
                if !numbers.is_empty() {
                    let (start, end) = *dice.pick(&numbers);
                    for (_, at) in numbers.iter().rev().filter(|(from, to)| to - from == end - start) {
                        bytes.splice(*at..*at, *b"000");
                    }
                }
            }
        }
    }
    bytes
}

/// Reads, analyzes, reports and compares; whether it was a log after all.
fn whole_path(name: &str, bytes: &[u8], format: Option<Format>) -> bool {
    let options = ImportOptions { format, every_s: Some(1.0), ..ImportOptions::default() };
    let Ok(trace) = import(vec![LogFile::from_bytes(name, bytes)], &options) else { return false };
    let findings = analysis::analyze(&trace);
    let style = TerminalStyle { width: 100, ascii: false, colour: false, run_folder: None };
    let input = ReportInput::from_trace(trace, findings);
    let both = [input.clone(), input];
    let made = [report::html(&both[0]), report::terminal(&both[0], &style)];
    let comparison = report::Comparison { runs: &both, baseline: 0, joint: &[], remarks: &[] };
    let compared = [report::compare_html(&comparison), report::compare_terminal(&comparison, &style)];
    assert!(made.iter().chain(&compared).all(|text| !text.is_empty()));
    true
}

/// The most memory this process ever had, in KiB; `None` where the system does not say.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[test]
fn spoilt_logs_take_no_more_than_their_rows_are_worth() {
    let (good, bad) = (logs("good"), logs("bad"));
    let clock = MonotonicClock::start();
    let cases = cases(1500);
    let (mut read, mut longest, mut panicked) = (0, (Duration::ZERO, 0), Vec::new());
    for case in 0..cases {
        let mut dice = Dice(case);
        let (name, log) = if dice.below(8) == 0 { dice.pick(&bad) } else { dice.pick(&good) };
        let bytes = spoilt(log, &mut dice);
        let forced = (dice.below(10) == 0).then(|| *dice.pick(&Format::ALL));
        let begun = clock.now();
        let done = std::panic::catch_unwind(|| whole_path(name, &bytes, forced));
        let took = clock.now().since(begun);
        longest = longest.max((took, case));
        match done {
            Ok(was_a_log) => read += u64::from(was_a_log),
            Err(_) => panicked.push(format!("case {case}: {name} as {forced:?}")),
        }
        if let Some(peak) = peak_kib().filter(|_| case % 16 == 0 || took > Duration::from_secs(1)) {
            assert!(peak < MOST_KIB, "case {case}: {peak} KiB, {name} as {forced:?}");
        }
    }
    println!("{cases} spoilt logs, {read} of them still one; peak {:?} KiB; longest {longest:?}", peak_kib());
    assert!(panicked.is_empty(), "{panicked:#?}");
    assert!(read * 5 > cases, "{read} of {cases} were logs");
}

/// Two rows far apart, in every format that has rows: seen were 23 GB for one of 2 kB, and minutes for a comparison.
#[test]
fn two_rows_a_year_apart_are_two_rows() {
    let year_ms = 365u64 * 86_400_000;
    let inst =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/import/good/iometer-instant/inst.csv");
    let inst = std::fs::read_to_string(inst).expect("a recorded log");
    let (before, last) = inst.rsplit_once("2026-11-21 10:00:12:010,").expect("its last row of a worker");
    let cases = [
        ("x_bw.1.log", format!("1000, 5000, 0, 0, 0\n{year_ms}, 5000, 0, 0, 0\n")),
        ("y_bw.1.log", format!("1000, 5000, 0, 4096, 0\n{year_ms}, 5000, 0, 4096, 0\n")),
        ("z.csv", format!("t_s,write_mb_per_s,temp_c\n0,5,30\n1,5,30\n{},5,40\n", year_ms / 1000)),
        (
            "p.json",
            format!(
                r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"node_disk_written_bytes_total","device":"nvme0n1"}},"values":[[1700000000,"5"],[1700000001,"6"],[{},"7"]]}},{{"metric":{{"__name__":"nvme_temperature_celsius","device":"nvme0n1"}},"values":[[1700000000,"35"],[1700000001,"36"],[{},"37"]]}}]}}}}"#,
                1_700_000_000 + year_ms / 1000,
                1_700_000_000 + year_ms / 1000,
            ),
        ),
        ("inst.csv", format!("{before}2027-11-21 10:00:12:010,{last}")),
    ];
    for (name, text) in &cases {
        assert!(whole_path(name, text.as_bytes(), None), "{name} is a log");
        assert!(peak_kib().is_none_or(|peak| peak < MOST_KIB), "{name}: {:?} KiB", peak_kib());
    }
}
