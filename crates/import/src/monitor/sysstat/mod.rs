//! sysstat: `iostat` as text and JSON, `sar -d` as text, `sadf` as JSON and as tables.
//!
//! Rules
//! - Its kB and MB are 1024 and 1024² bytes, its sectors 512 (iostat(1), sar(1)).
//! - The first report of iostat is the average since the machine was started: it is left out.
//! - Times of iostat are those of `-t`; without it `--every` says how far apart reports are.

mod prefix;
mod sadf;
mod text;

use serde_json::Value;

use super::when::{DateOrder, Stamp, date_and_time, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::json::JsonDocuments;
use crate::lines::LineReader;
use crate::part::{RunPart, TimeBase};
pub(crate) use sadf::is_sadf;
pub(crate) use text::{is_banner, text};

use trace::SegmentOp::{Read, Trim, Write};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const SECTOR: f64 = 512.0;

/// What a column or key says, of all versions since 10: iostat with and without `-x` and `-m`, sar, sadf.
const NAMES: [(&[&str], Quantity, f64); 10] = [
    (&["rkB/s", "kB_read/s", "rkB"], Quantity::Rate(Read), KIB),
    (&["wkB/s", "kB_wrtn/s", "wkB"], Quantity::Rate(Write), KIB),
    (&["dkB/s", "kB_dscd/s", "dkB"], Quantity::Rate(Trim), KIB),
    (&["rMB/s", "MB_read/s"], Quantity::Rate(Read), MIB),
    (&["wMB/s", "MB_wrtn/s"], Quantity::Rate(Write), MIB),
    (&["dMB/s", "MB_dscd/s"], Quantity::Rate(Trim), MIB),
    (&["rsec/s", "rd_sec/s", "rd_sec", "Blk_read/s"], Quantity::Rate(Read), SECTOR),
    (&["wsec/s", "wr_sec/s", "wr_sec", "Blk_wrtn/s"], Quantity::Rate(Write), SECTOR),
    (&["dc_sec", "Blk_dscd/s"], Quantity::Rate(Trim), SECTOR),
    (&["%util", "util", "util-percent"], Quantity::Busy, 0.01),
];

fn meaning(name: &str) -> Option<(Quantity, f64)> {
    NAMES.iter().find(|(names, ..)| names.contains(&name)).map(|(_, quantity, unit)| (*quantity, *unit))
}

/// Whether a line is the header of a table of drives: with one of the names that a device has, and a speed.
pub(crate) fn is_header(line: &str) -> bool {
    let has = |is: fn(&str) -> bool| line.split_whitespace().any(is);
    has(is_device) && has(|word| meaning(word).is_some_and(|(quantity, _)| quantity != Quantity::Busy))
}

/// Whether a word of a header says that devices stand below it.
fn is_device(word: &str) -> bool {
    ["Device", "Device:", "DEV"].contains(&word)
}

/// Takes one row; where a value is there in two units, the first counts. How busy a drive was says nothing without its speeds.
fn take<'a>(samples: &mut Samples, drive: &str, t_s: f64, cells: impl Iterator<Item = (&'a str, Cell)>) {
    let mut taken: Vec<Quantity> = Vec::new();
    for (name, value) in cells {
        let Some((quantity, unit)) = meaning(name).filter(|(quantity, _)| !taken.contains(quantity)) else {
            continue;
        };
        if quantity == Quantity::Busy && taken.is_empty() {
            continue;
        }
        taken.push(quantity);
        samples.push(drive, quantity, t_s, value.number * value.unit.unwrap_or(unit));
    }
}

/// What a cell of a row says.
#[derive(Clone, Copy)]
struct Cell {
    number: f64,
    /// The bytes that it counts in, where the cell tells (`-h`, `--human`); else its column does.
    unit: Option<f64>,
}

impl Cell {
    const fn bare(number: f64) -> Self {
        Self { number, unit: None }
    }

    /// `12.5`, `12,5`, `617.4M`, `96.0%`.
    fn parse(text: &str) -> Option<Self> {
        let units = [
            ("s", SECTOR),
            ("B", 1.0),
            ("k", KIB),
            ("M", MIB),
            ("G", KIB * MIB),
            ("T", MIB * MIB),
            ("%", 0.01),
        ];
        let unit = units.into_iter().find(|(letter, _)| text.ends_with(letter));
        let digits = unit.map_or(text, |(letter, _)| text.trim_end_matches(letter));
        let number = digits.replace(',', ".").parse().ok()?;
        Some(Self { number, unit: unit.map(|(_, bytes)| bytes) })
    }
}

/// Reads the JSON of `iostat -o JSON` or `sadf -j`.
pub(in crate::monitor) fn json_samples(
    file: &str,
    lines: LineReader<'_>,
    every_s: Option<f64>,
) -> Result<(Samples, Option<Stamp>), ImportError> {
    let mut documents = JsonDocuments::new(file, lines).with_cut_lists();
    let (mut samples, mut first, mut number) = (Samples::default(), None, 0_u32);
    let mut order = DateOrder::default();
    let (mut reports, mut has_drives) = (Reports::default(), false);
    while let Some(document) = documents.next()? {
        let root: Value = document.parse()?;
        // Reports that were taken out of their recording are one.
        if number == 0 || root["sysstat"].is_object() {
            reports.begin();
        }
        for report in statistics(&root) {
            number += 1;
            let mut told = report_time(&report["timestamp"]);
            let has_slashes = report["timestamp"].as_str().is_some_and(|text| text.contains('/'));
            if let Some(stamp) = told.as_mut().filter(|_| has_slashes) {
                let moved_s;
                (*stamp, moved_s) = order.read(*stamp);
                samples.move_all(&mut first, moved_s);
            }
            first = first.or(told);
            has_drives |= report["disk"].is_array();
            let since_boot = reports.next() && !report["timestamp"].is_object();
            let t_s = told.map(|stamp| stamp.seconds).or_else(|| Some(f64::from(number) * every_s?));
            let Some(t_s) = t_s.or(since_boot.then_some(0.0)) else { return Err(no_times(file)) };
            if !since_boot && report["disk"].is_array() {
                samples.leaves_out_idle = true;
                samples.row(t_s);
            }
            for disk in report["disk"].as_array().into_iter().flatten().filter(|_| !since_boot) {
                let Some(name) = disk["disk_device"].as_str().or(disk["disk-device"].as_str()) else {
                    continue;
                };
                let cells = disk.as_object().into_iter().flatten();
                let cells =
                    cells.filter_map(|(key, value)| Some((key.as_str(), Cell::bare(value.as_f64()?))));
                take(&mut samples, name, t_s, cells);
            }
        }
    }
    if samples.is_empty() && !has_drives {
        return Err(ImportError::whole(file, NO_DRIVES));
    }
    if samples.is_empty() && reports.are_all_first() {
        return Err(ImportError::whole(file, ONLY_SINCE_BOOT));
    }
    Ok((samples, first))
}

/// The reports of a document: of a recording, or one or a list of those that a script took out of it (`jq '..statistics[]'`).
fn statistics(root: &Value) -> Vec<&Value> {
    match (&root["sysstat"]["hosts"], root) {
        (Value::Array(hosts), _) => {
            hosts.iter().flat_map(|host| host["statistics"].as_array().into_iter().flatten()).collect()
        }
        (_, Value::Array(reports)) => reports.iter().collect(),
        (_, report) if report["disk"].is_array() => vec![report],
        _ => Vec::new(),
    }
}

/// A time as iostat (a text) or sadf (date, time, whether it is UTC) has it.
fn report_time(value: &Value) -> Option<Stamp> {
    if let Some(text) = value.as_str() {
        return stamp(text);
    }
    let told = date_and_time(value["date"].as_str()?, value["time"].as_str()?)?;
    Some(Stamp { is_utc: value["utc"].as_u64() == Some(1), ..told })
}

/// Reads the JSON of iostat or sadf.
pub(crate) fn json(
    file: &str,
    lines: LineReader<'_>,
    every_s: Option<f64>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let (mut samples, first) = json_samples(file, lines, every_s)?;
    samples.counts_block_devices = true;
    samples.part(file, device, clock_of(first))
}

fn clock_of(first: Option<Stamp>) -> impl Fn(f64) -> TimeBase {
    move |zero_s| first.map_or(TimeBase::Own, |stamp| stamp.base(zero_s))
}

/// Counts the reports of iostat; the first of each recording is the average since the machine was started.
#[derive(Default)]
struct Reports {
    recordings: u32,
    all: u32,
    of_recording: u32,
}

impl Reports {
    /// Another recording begins.
    fn begin(&mut self) {
        self.recordings += 1;
        self.of_recording = 0;
    }

    /// Another report begins; whether it is the first of its recording.
    fn next(&mut self) -> bool {
        self.all += 1;
        self.of_recording += 1;
        self.of_recording == 1
    }

    fn are_all_first(&self) -> bool {
        self.all > 0 && self.all <= self.recordings.max(1)
    }
}

const NO_DRIVES: &str =
    "its reports have no drives: make it with `sadf -j FILE -- -d`, or with `iostat -x -t -o JSON 1`";
const ONLY_SINCE_BOOT: &str = "it has only the first report of iostat, the average since the machine was started, which is no series: record one with `iostat -x -t 1`";

fn no_times(file: &str) -> ImportError {
    let why =
        "its reports have no times: make it with `iostat -t`, or say how far apart they are with --every 1s";
    ImportError::whole(file, why)
}
