//! sysstat: `iostat` as text and JSON, `sar -d` as text, `sadf -j`.
//!
//! Rules
//! - Its kB and MB are 1024 and 1024² bytes, its sectors 512 (iostat(1), sar(1)).
//! - The first report of iostat is the average since the machine was started: it is left out.
//! - Times of iostat are those of `-t`; without it `--every` says how far apart reports are. Those of `sar` are of a day
//!   that its first line names, and go on into the next.
//! - `Average:` closes a recording; it is no row.

use serde_json::Value;

use super::when::{Stamp, date_and_time, stamp};
use super::{Quantity, Samples};
use crate::ImportError;
use crate::json::JsonDocuments;
use crate::lines::LineReader;
use crate::part::{RunPart, TimeBase};
use trace::SegmentOp::{Read, Trim, Write};

const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;
const SECTOR: f64 = 512.0;
const DAY_S: f64 = 86_400.0;

/// What a column or key says, of all versions since 10: iostat with and without `-x` and `-m`, sar, sadf.
const NAMES: [(&[&str], Quantity, f64); 9] = [
    (&["rkB/s", "kB_read/s", "rkB"], Quantity::Rate(Read), KIB),
    (&["wkB/s", "kB_wrtn/s", "wkB"], Quantity::Rate(Write), KIB),
    (&["dkB/s", "kB_dscd/s", "dkB"], Quantity::Rate(Trim), KIB),
    (&["rMB/s", "MB_read/s"], Quantity::Rate(Read), MIB),
    (&["wMB/s", "MB_wrtn/s"], Quantity::Rate(Write), MIB),
    (&["dMB/s", "MB_dscd/s"], Quantity::Rate(Trim), MIB),
    (&["rsec/s", "rd_sec/s", "rd_sec", "Blk_read/s"], Quantity::Rate(Read), SECTOR),
    (&["wsec/s", "wr_sec/s", "wr_sec", "Blk_wrtn/s"], Quantity::Rate(Write), SECTOR),
    (&["dc_sec", "Blk_dscd/s"], Quantity::Rate(Trim), SECTOR),
];

fn meaning(name: &str) -> Option<(Quantity, f64)> {
    NAMES.iter().find(|(names, ..)| names.contains(&name)).map(|(_, quantity, unit)| (*quantity, *unit))
}

/// Takes one row; where a value is there in two units, the first counts.
fn take<'a>(samples: &mut Samples, drive: &str, t_s: f64, cells: impl Iterator<Item = (&'a str, f64)>) {
    let mut taken: Vec<Quantity> = Vec::new();
    for (name, value) in cells {
        let Some((quantity, unit)) = meaning(name).filter(|(quantity, _)| !taken.contains(quantity)) else {
            continue;
        };
        taken.push(quantity);
        samples.push(drive, quantity, t_s, value * unit);
    }
}

/// Reads the JSON of `iostat -o JSON` or `sadf -j`.
pub(in crate::monitor) fn json_samples(
    file: &str,
    lines: LineReader<'_>,
    every_s: Option<f64>,
) -> Result<(Samples, Option<Stamp>), ImportError> {
    let mut documents = JsonDocuments::new(file, lines);
    let (mut samples, mut first, mut number) = (Samples::default(), None, 0_u32);
    while let Some(document) = documents.next()? {
        let root: Value = document.parse()?;
        let hosts = root["sysstat"]["hosts"].as_array().into_iter().flatten();
        for report in hosts.flat_map(|host| host["statistics"].as_array().into_iter().flatten()) {
            number += 1;
            let told = report_time(&report["timestamp"]);
            first = first.or(told);
            let since_boot = number == 1 && !report["timestamp"].is_object();
            let t_s = told.map(|stamp| stamp.seconds).or_else(|| Some(f64::from(number) * every_s?));
            let Some(t_s) = t_s else { return Err(no_times(file)) };
            for disk in report["disk"].as_array().into_iter().flatten().filter(|_| !since_boot) {
                let Some(name) = disk["disk_device"].as_str().or(disk["disk-device"].as_str()) else {
                    continue;
                };
                let cells = disk.as_object().into_iter().flatten();
                let cells = cells.filter_map(|(key, value)| Some((key.as_str(), value.as_f64()?)));
                take(&mut samples, name, t_s, cells);
            }
        }
    }
    Ok((samples, first))
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
    let (samples, first) = json_samples(file, lines, every_s)?;
    samples.part(file, device, clock_of(first))
}

/// Reads the text of iostat or `sar -d`.
pub(crate) fn text(
    file: &str,
    mut lines: LineReader<'_>,
    every_s: Option<f64>,
    device: Option<&str>,
) -> Result<RunPart, ImportError> {
    let mut reader = TextReader { every_s, ..TextReader::default() };
    while let Some((number, line)) = lines.next()? {
        reader.line(line).map_err(|why| ImportError::at(file, number, None, why))?;
    }
    if reader.untimed {
        return Err(no_times(file));
    }
    reader.samples.part(file, device, clock_of(reader.first))
}

fn clock_of(first: Option<Stamp>) -> impl Fn(f64) -> TimeBase {
    move |zero_s| first.map_or(TimeBase::Own, |stamp| stamp.base(zero_s))
}

fn no_times(file: &str) -> ImportError {
    let why =
        "its reports have no times: make it with `iostat -t`, or say how far apart they are with --every 1s";
    ImportError::whole(file, why)
}

#[derive(Default)]
struct TextReader {
    samples: Samples,
    every_s: Option<f64>,
    /// Names of the columns of the table under way, without that of the device; empty outside of one.
    columns: Vec<String>,
    /// Whether rows begin with a time of day (sar) and not with the device.
    is_sar: bool,
    /// The day that the first line names, and how many days have passed since (sar).
    day: Option<String>,
    days: f64,
    now: Option<Stamp>,
    first: Option<Stamp>,
    tables: u32,
    untimed: bool,
}

impl TextReader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let Some(begin) = words.first().copied() else {
            self.columns.clear();
            return Ok(());
        };
        if begin == "Linux" {
            self.day = words
                .iter()
                .find(|word| date_and_time(word, "00:00:00").is_some())
                .map(|word| (*word).to_owned());
        } else if let Some(stamp) = stamp(line) {
            self.now = Some(stamp);
            self.first = self.first.or(Some(stamp));
        } else if let Some(at) = words.iter().position(|word| ["Device", "Device:", "DEV"].contains(word)) {
            self.is_sar = words[at] == "DEV";
            self.columns = words.split_off(at + 1).into_iter().map(str::to_owned).collect();
            self.tables += 1;
        } else if begin != "Average:" && !self.columns.is_empty() {
            return self.row(&mut words);
        }
        Ok(())
    }

    fn row(&mut self, words: &mut Vec<&str>) -> Result<(), String> {
        let t_s = if self.is_sar {
            let time_words = words.len().saturating_sub(self.columns.len() + 1);
            let time: Vec<&str> = words.drain(..time_words).collect();
            self.sar_time(&time.join(" "))?
        } else if self.tables == 1 {
            return Ok(());
        } else if let Some(now) = self.now {
            now.seconds
        } else if let Some(every_s) = self.every_s {
            f64::from(self.tables) * every_s
        } else {
            self.untimed = true;
            return Ok(());
        };
        if words.len() != self.columns.len() + 1 {
            return Err(format!(
                "the row has {} cells, the header has {}",
                words.len(),
                self.columns.len() + 1
            ));
        }
        let number = |text: &str| text.replace(',', ".").parse::<f64>();
        for cell in &words[1..] {
            number(cell).map_err(|_| {
                format!("{cell:?} is not a number (is it made with -h? that rounds: leave it out)")
            })?;
        }
        let cells = self.columns.iter().zip(&words[1..]);
        let cells = cells.map(|(name, cell)| (name.as_str(), number(cell).unwrap_or(f64::NAN)));
        take(&mut self.samples, words[0], t_s, cells);
        Ok(())
    }

    /// The seconds of a time of day on the day of the file, which may have passed midnight.
    fn sar_time(&mut self, time: &str) -> Result<f64, String> {
        let day = self.day.as_deref().unwrap_or("1970-01-02");
        let told = date_and_time(day, time).ok_or_else(|| format!("{time:?} is not a time of day"))?;
        let mut seconds = told.seconds + self.days * DAY_S;
        if self.now.is_some_and(|now| seconds < now.seconds - DAY_S / 2.0) {
            self.days += 1.0;
            seconds += DAY_S;
        }
        let now = Stamp { seconds, ..told };
        self.now = Some(now);
        self.first = self.first.or(Some(now));
        Ok(seconds)
    }
}
