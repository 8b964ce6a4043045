//! Foreign logs to traces: which format a file has, what becomes of its fields, and how files are joined.
//!
//! # Architecture
//! - `format`: all formats; `detect`: the format, by content; `nearest`: what a file that has none may be. `csv`, `fio`, `iometer`, `nvme`, `smartctl`, `crystaldiskinfo`,
//!   `prometheus`, `quarch`: one a format.
//! - `monitor`: logs of whole machines with many drives in them (sysstat, dstat, telegraf, InfluxDB, Netdata, collectd, HWiNFO,
//!   Libre Hardware Monitor, performance counters, Grafana).
//! - `part`: what they make; `join`: parts on one clock; `offset`: how far apart two clocks are.
//! - `encoding`, `lines`, `json`, `grid`, `reading`, `which_drive`, `set_back`, `error`: what several of them need.
//!
//! What can be understood two ways is decided by a rule that the importer's header states, or is an error
//! that names file, line and column. Nothing is guessed silently: what was decided goes into the notes, what may be
//! wrong with it into the caveats.
//!
//! # What it does not do
//! It opens no file: the caller hands over readers. It judges nothing.

mod crystaldiskinfo;
mod csv;
mod detect;
mod device;
mod encoding;
mod error;
mod file_time;
mod fio;
mod format;
mod grid;
mod iometer;
mod join;
mod json;
mod lines;
mod monitor;
mod nearest;
mod numbers;
mod nvme;
mod nvme_text;
mod offset;
mod part;
mod prometheus;
mod quarch;
mod rates;
mod reading;
mod set_back;
mod smartctl;
mod smartctl_text;
mod which_drive;
mod words;

pub use csv::csv;
pub use error::ImportError;
pub use format::Format;

use std::io::{BufRead, BufReader, Cursor, Read};

use encoding_rs_io::DecodeReaderBytesBuilder;

use lines::{LineReader, LostRows};
use trace::caveat::{Caveat, CutOff};
use trace::{Interval, Temperature, Trace, infer_phases};

/// How much of a file is looked at to tell its format.
const HEAD: usize = 64 << 10;
/// How much more of a JSON document, whose keys may stand anywhere.
const MORE_OF_JSON: usize = 16 << 20;

/// A run is no longer than this: what spans more are times of two units, or of two runs.
const LONGEST_RUN_S: f64 = 400.0 * 86_400.0;
/// The same of readings that tell of a drive's life alone: 40 years.
const LONGEST_LIFE_S: f64 = 40.0 * 365.25 * 86_400.0;
/// Temperatures that are none of a drive: below the coldest place on Earth, above what solder stands. So a number in the
/// wrong unit is told.
const COLDEST_K: f64 = 200.0;
const HOTTEST_K: f64 = 500.0;
/// No drive runs hotter than 130 °C: makers set critical temperatures of up to 95 °C, controllers are made for 125 °C. 140 °F are 60 °C.
const HOT_K: f64 = 403.0;
/// Readings that stand for none, in whole kelvins: 0 K is "not reported" (NVMe, 5.16.1.3), and all bits of a byte in °C or of a word in
/// K are set where a bus did not answer.
const NOT_READ_K: [f64; 3] = [0.0, 255.0 + 273.0, 65_535.0];
/// Whether a temperature stands for none; whole kelvins are 273 or 273.15 more than °C.
fn stands_for_none(kelvin: f64) -> bool {
    NOT_READ_K.iter().any(|none_k| (kelvin - none_k).abs() < 0.5)
}
/// Fifteen times the fastest link to a drive that is announced (PCIe 7.0 x4: 64 GB/s) in round numbers: what was written to the page
/// cache is slower as well, and a thousandfold by a wrong unit is not.
const FASTEST_BYTES_PER_S: f64 = 1e12;

/// Opens a file when its turn comes.
pub type OpenLog<'a> = Box<dyn FnOnce() -> std::io::Result<Box<dyn Read + 'a>> + 'a>;

/// A file to import.
pub struct LogFile<'a> {
    /// The file as the caller names it: used in errors, for fio's logs also as what tells their values.
    pub name: String,
    /// When it was last written, in seconds since 1970; a last resort for readings without a time.
    pub modified_unix_s: Option<f64>,
    /// Its content. Opened when its turn comes, so that a folder of a hundred thousand files can be read.
    pub open: OpenLog<'a>,
}

impl<'a> LogFile<'a> {
    /// A file that is in memory.
    pub fn from_bytes(name: &str, bytes: &'a [u8]) -> Self {
        let open = Box::new(move || Ok(Box::new(bytes) as Box<dyn Read + 'a>));
        Self { name: name.to_owned(), modified_unix_s: None, open }
    }
}

/// What the caller decides about an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format of all files, instead of telling it by content.
    pub format: Option<Format>,
    /// Seconds that are added to the times of a file, by its name.
    pub offsets: Vec<(String, f64)>,
    /// How far apart readings are that carry no time, in seconds.
    pub every_s: Option<f64>,
    /// The drive in question, of a log of several.
    pub device: Option<String>,
}

/// The one run in `sources`, which are joined on one clock.
///
/// # Errors
/// With file, line and column where a file is not understood, and with what to do where something has to be decided.
pub fn import(sources: Vec<LogFile<'_>>, options: &ImportOptions) -> Result<Trace, ImportError> {
    let mut gathered = Gathered::default();
    let names: Vec<String> = sources.iter().map(|source| source.name.clone()).collect();
    // What tells about logs comes before them: fio's JSON knows how long their windows are.
    let (logs, others): (Vec<_>, Vec<_>) =
        sources.into_iter().partition(|source| source.name.ends_with(".log"));
    for source in others.into_iter().chain(logs) {
        gathered.add(source, options, names.len())?;
    }
    let Gathered { mut parts, logs, jsons, readings, collectd, notes, caveats, torn } = gathered;
    parts.extend(fio::parts(logs, jsons)?);
    parts.extend(collectd.parts(options.device.as_deref())?);
    parts.extend(reading::part(readings, options)?);
    let mut trace = match parts.len() {
        0 => {
            if let Some(torn) = torn {
                return Err(torn);
            }
            let first = names.first().map_or("nothing", String::as_str);
            let why = if notes.is_empty() { "there is nothing to read".to_owned() } else { notes.join("; ") };
            return Err(ImportError::whole(first, why));
        }
        _ => join::join(parts, &options.offsets)?,
    };
    // Readings of a drive's life may lie years apart: they are no run.
    let is_run = !trace.speeds.is_empty() || trace.life.is_empty();
    if trace.end_s() > if is_run { LONGEST_RUN_S } else { LONGEST_LIFE_S } {
        let first = names.first().map_or("nothing", String::as_str);
        let days = trace.end_s() / 86_400.0;
        let why = format!(
            "from the first time to the last it is {days:.0} days, and {}: are all times in one unit, and of one run?",
            if is_run { "a run has at most 400" } else { "no drive lives so long" }
        );
        return Err(ImportError::whole(first, why));
    }
    if let Some(why) = impossible(&trace) {
        return Err(ImportError::whole(names.first().map_or("nothing", String::as_str), why));
    }
    trace.notes.extend(notes);
    add_unless_told(&mut trace.caveats, caveats);
    trace.join_repeats();
    trace.drop_held_counters();
    trace.trust_a_sensor();
    if trace.phases.is_empty() {
        infer_phases(&mut trace);
    }
    Ok(trace)
}

/// Adds that files are cut short, where their importers do not say so of the same line.
fn add_unless_told(known: &mut Vec<Caveat>, new: Vec<Caveat>) {
    let line_of = |caveat: &Caveat| match caveat {
        Caveat::Truncated { line, .. } => Some(*line),
        _ => None,
    };
    for caveat in new {
        if !known.iter().any(|one| line_of(one).is_some() && line_of(one) == line_of(&caveat)) {
            known.push(caveat);
        }
    }
}

/// Why a temperature is hotter than any drive for much of the time: °F in a column of °C, most likely. Single readings of the kind are a
/// sensor's, and the analysis leaves them out.
fn too_hot(temperature: &Temperature) -> Option<String> {
    const LEAST: usize = 3;
    const SHARE: usize = 5;
    let all = temperature.kelvin.points();
    let hot = all.iter().filter(|point| point.value > HOT_K).count();
    let most_k = all.iter().map(|point| point.value).fold(f64::NEG_INFINITY, f64::max);
    (hot >= LEAST && hot * SHARE > all.len()).then(|| {
        format!(
            "its {} is above {:.0} °C in {hot} of {} readings, {:.0} °C at most, and no drive runs so hot: is it in °F? A unit in the title, such as temp_f or \"Temp (°F)\", says so",
            temperature.name,
            HOT_K - 273.0,
            all.len(),
            most_k - 273.0
        )
    })
}

/// Why what was read cannot have been, whatever the format: numbers that each make sense need not do so together.
fn impossible(trace: &Trace) -> Option<String> {
    let intervals = trace.speeds.iter().flat_map(|series| &series.intervals);
    let odd = |interval: &&Interval| {
        !(interval.start_s.is_finite()
            && interval.span_s.is_finite()
            && (0.0..=FASTEST_BYTES_PER_S).contains(&interval.bytes_per_s()))
    };
    if let Some(odd) = intervals.clone().find(odd) {
        return Some(format!(
            "it says that {:.3e} bytes were moved in {:.3e} s at {:.1} s, which is faster than any drive: are all numbers in the right unit?",
            odd.bytes, odd.span_s, odd.start_s
        ));
    }
    if let Some(hot) = trace.temperatures.iter().find_map(too_hot) {
        return Some(hot);
    }
    let temperature =
        trace.temperatures.iter().find(|t| t.kelvin.points().iter().any(|p| !p.value.is_finite()));
    let power = trace.power_w.points().iter().any(|point| !point.value.is_finite());
    temperature
        .map(|t| t.name.as_str())
        .or(power.then_some("power"))
        .map(|what| format!("its {what} is no number somewhere"))
}

/// What the files gave, before it is put together.
#[derive(Default)]
struct Gathered {
    parts: Vec<part::RunPart>,
    logs: Vec<fio::FioLog>,
    jsons: Vec<fio::FioJson>,
    readings: Vec<reading::HealthReading>,
    collectd: monitor::collectd::Gathered,
    notes: Vec<String>,
    caveats: Vec<Caveat>,
    /// The refusal of the first file of which a loss of power left half a reading, or none: an error where no other file
    /// has any.
    torn: Option<ImportError>,
}

impl Gathered {
    /// Takes a file that is torn and holds no whole reading: one of several, as in a folder with a file for each, is left
    /// out with a caveat.
    fn leave_out(&mut self, refusal: ImportError) {
        let (file, line) = (Some(refusal.file.clone()), refusal.line.unwrap_or(1));
        self.caveats.push(Caveat::Truncated { file, line, left_out: CutOff::LastReading });
        self.torn.get_or_insert(refusal);
    }

    /// Says what a file has lost.
    fn tell_lost(&mut self, file: &str, lost: &LostRows) {
        let mut cut = |line, left_out| {
            self.caveats.push(Caveat::Truncated { file: Some(file.to_owned()), line, left_out });
        };
        if let Some(line) = lost.document.get() {
            cut(line, CutOff::LastReading);
        } else if let Some(line) = lost.last_line.get().filter(|_| lost.zeros_at_end.get().is_none()) {
            cut(line, CutOff::LastLine);
        } else if let Some((line, zeros)) = lost.zeros_at_end.get() {
            cut(line, CutOff::LastLine);
            self.notes.push(format!(
                "{file} ends with {zeros} zero bytes, as after a loss of power: the last rows are lost"
            ));
        }
        if let Some(line) = lost.zeros_before.get() {
            self.notes.push(format!(
                "{file}: zero bytes stand before line {line}, as after a loss of power: rows there are lost"
            ));
        }
    }

    /// Takes the readings of a file of JSON; where a torn one is all that is in it, the file is left out.
    fn add_readings(&mut self, readings: Vec<reading::HealthReading>, lost: &LostRows, file: &str) {
        if let (Some(line), true) = (lost.document.get(), readings.is_empty()) {
            self.torn.get_or_insert(ImportError::at(file, line, None, json::CUT));
        }
        self.readings.extend(readings);
    }

    /// Reads one of `count` files.
    fn add(&mut self, source: LogFile<'_>, options: &ImportOptions, count: usize) -> Result<(), ImportError> {
        let LogFile { name, modified_unix_s, open } = source;
        let failed = |error: std::io::Error| ImportError::whole(&name, error.to_string());
        let mut content = open().map_err(failed)?;
        let mut head = Vec::new();
        content.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(failed)?;
        // fio makes a log of each kind that was asked for, with rows or without.
        if head.is_empty() && count > 1 {
            self.notes.push(format!("{name} is empty"));
            return Ok(());
        }
        let format = match options.format {
            Some(format) if !head.is_empty() => format,
            _ => {
                let mut told = detect::detect(&name, &head);
                // Programs that run fio put it behind much of their own.
                if told.is_err() && head.len() == HEAD && detect::begins_as_json(&head) {
                    content.by_ref().take(MORE_OF_JSON as u64).read_to_end(&mut head).map_err(failed)?;
                    told = detect::detect(&name, &head);
                }
                match told {
                    Err(refusal) if count > 1 && detect::is_torn(&head) => {
                        self.leave_out(refusal);
                        return Ok(());
                    }
                    told => told?,
                }
            }
        };
        let reader = text_of(format, head, content);
        let lost = LostRows::default();
        let lines = LineReader::new(&name, reader).telling(&lost);
        match format {
            Format::Csv => self.parts.push(csv::part(&name, lines, options.device.as_deref())?),
            Format::FioBwLog | Format::FioIopsLog | Format::FioLatLog => {
                self.logs.push(fio::fio_log(&name, format, &self.jsons, lines)?);
            }
            Format::FioHistLog => {
                self.notes.push(format!("{name} is a histogram log of fio, which holds no speed: not read"));
            }
            Format::FioJson => self.jsons.extend(fio::fio_json(&name, lines)?),
            Format::Iometer => self.parts.push(iometer::results(&name, lines)?),
            Format::IometerInst => self.parts.push(iometer::instant(&name, lines)?),
            Format::NvmeJson => {
                self.add_readings(nvme::readings(&name, modified_unix_s, lines)?, &lost, &name);
            }
            Format::NvmeText => {
                self.readings.extend(nvme::text_readings(&name, modified_unix_s, lines)?);
            }
            Format::CrystalDiskInfo => {
                let device = options.device.as_deref();
                self.readings.extend(crystaldiskinfo::readings(&name, lines, device)?);
            }
            Format::Quarch => self.parts.push(quarch::part(&name, lines)?),
            Format::SmartctlText => {
                self.readings.extend(smartctl::text_readings(&name, modified_unix_s, lines)?);
            }
            Format::SmartctlJson => self.add_readings(smartctl::readings(&name, lines)?, &lost, &name),
            Format::Prometheus => self.parts.push(prometheus::part(&name, lines, options.device.as_deref())?),
            Format::OpenMetrics => {
                self.parts.push(prometheus::text_part(&name, lines, options.device.as_deref())?);
            }
            Format::Collectd => {
                if let Some(why) = self.collectd.add(&name, lines)? {
                    self.notes.push(format!("{name} is not read: {why}"));
                }
            }
            _ => self.parts.push(monitored(format, &name, lines, options)?),
        }
        self.tell_lost(&name, &lost);
        Ok(())
    }
}

/// The part that a log of a whole machine makes.
fn monitored(
    format: Format,
    name: &str,
    lines: LineReader<'_>,
    options: &ImportOptions,
) -> Result<part::RunPart, ImportError> {
    use monitor::columns::{self, Dialect};
    let device = options.device.as_deref();
    match format {
        Format::SysstatText => monitor::sysstat::text(name, lines, options.every_s, device),
        Format::SysstatJson => monitor::sysstat::json(name, lines, options.every_s, device),
        Format::Dstat => monitor::dstat::part(name, lines, options.every_s, device),
        Format::InfluxCsv => monitor::influx_csv::part(name, lines, device),
        Format::NetdataJson => monitor::netdata::part(name, lines, device),
        Format::TelegrafInflux => monitor::telegraf::lines(name, lines, options.every_s, device),
        Format::TelegrafJson => monitor::telegraf::json(name, lines, device),
        Format::Perfmon => columns::part(name, Dialect::Perfmon, lines, device),
        Format::GrafanaCsv => columns::part(name, Dialect::Grafana, lines, device),
        Format::HardwareMonitor => columns::part(name, Dialect::HardwareMonitor, lines, device),
        _ => columns::part(name, Dialect::HwInfo, lines, device),
    }
}

/// The text of a file: UTF-16 as UTF-8, and what Windows programs write in the code page of their system as well, whatever
/// stands in its last lines.
fn text_of<'a>(format: Format, head: Vec<u8>, content: Box<dyn Read + 'a>) -> Box<dyn BufRead + 'a> {
    // Spreadsheets save tables in it, too.
    let is_windows = matches!(
        format,
        Format::HwInfo
            | Format::Perfmon
            | Format::CrystalDiskInfo
            | Format::SmartctlText
            | Format::Csv
            | Format::GrafanaCsv
    );
    let encoding = encoding::unicode(&head).or_else(|| is_windows.then(|| encoding::code_page(&head)));
    let whole = Cursor::new(head).chain(content);
    let decoded = DecodeReaderBytesBuilder::new().encoding(encoding).utf8_passthru(!is_windows).build(whole);
    Box::new(BufReader::with_capacity(HEAD, decoded))
}
