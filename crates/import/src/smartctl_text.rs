//! Text of smartctl (`-x`, `-a`, `-A`, `-l scttemp`, ..), of NVMe, ATA and SCSI drives, as the keys of its JSON.
//!
//! Rules
//! - A line is told by its label, whatever the section. Numbers may have separators of thousands, those of the system's language.
//! - A reading begins with smartctl's first line, or where a label comes again of which each run has one. Marks of a quotation
//!   (`> `, `Peter> `) before lines are no part of them.
//! - Of the attributes of ATA drives two are read, those that smartctl itself takes for the temperature (194, else 190) and the
//!   hours powered on (9). The SCT status counts before them.
//! - smartctl leaves out counters of throttling that are 0. Where it writes one of the four, those that are missing are 0; where it
//!   writes none they are unknown, as old versions write none at all.
//! - `( 60 skipped)` in the temperature history repeats the row before.

mod line;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::ImportError;
use super::lines::LineReader;
use super::monitor::line_time::LineTimes;
use super::monitor::when::Stamp;
use super::numbers::{self, Number};
use line::{
    ATTRIBUTE_194, Labelled, ONCE, SENSORS, THROTTLING, device_in, is_temperature_row, labelled, sensor,
    skipped, unquoted, usual_raw_cell, whole,
};

/// A drive keeps no more temperatures: what is left of its 512 bytes behind the heading (ACS-4, SCT Data Table command).
const LONGEST_HISTORY: usize = 478;

/// Warmer than this an attribute is no temperature, but several numbers in one.
const HOTTEST_ATTRIBUTE_C: f64 = 150.0;

/// Whether a line is of such a text.
pub(super) fn is_beginning(line: &str) -> bool {
    line::is_beginning(line)
}

/// Whether a line is the first one that smartctl writes.
pub(super) fn is_banner(line: &str) -> bool {
    line::is_banner(line)
}

/// One run of smartctl as an object like those of its JSON.
#[derive(Default)]
pub(super) struct SmartctlText {
    /// The line it begins in.
    pub(super) line: usize,
    /// The time that a line before it is, as of `date` in a loop.
    pub(super) time_before: Option<Stamp>,
    /// The line before it that looks like one and was not understood.
    pub(super) unread_time: Option<String>,
    /// Lines whose value is none.
    pub(super) unread: Vec<String>,
    pub(super) object: Value,
    seen: Vec<&'static str>,
    sensors: [Value; SENSORS],
    history: Vec<Value>,
    /// Device statistics by page.
    statistics: BTreeMap<u64, Vec<Value>>,
    /// What smartctl says of what went wrong.
    messages: Vec<Value>,
    /// Which cell of a row is an attribute's raw value.
    raw_cell: Option<usize>,
    table: Option<Table>,
}

/// The table whose rows follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Table {
    History,
    Statistics,
}

/// The runs in a file.
pub(super) fn objects(file: &str, mut lines: LineReader<'_>) -> Result<Vec<SmartctlText>, ImportError> {
    let mut all: Vec<SmartctlText> = Vec::new();
    let mut times = LineTimes::default();
    let mut device: Option<String> = None;
    while let Some((number, text)) = lines.next()? {
        let text = &unquoted(text).to_owned();
        let labelled = labelled(text);
        let label = labelled.map(|line| line.label);
        let label = label.or_else(|| text.starts_with("194 ").then_some(ATTRIBUTE_194));
        let comes_again = |one: &SmartctlText| {
            label.is_some_and(|label| ONCE.contains(&label) && one.seen.contains(&label))
        };
        let is_next = device.is_some() && label.is_some() || all.last().is_some_and(comes_again);
        if is_banner(text) || is_next {
            all.push(SmartctlText::new(number, times.take(), device.take()));
        } else if let Some(named) = device_in(text) {
            device = Some(named.to_owned());
            continue;
        }
        // Digits of the last number may be lost.
        if !lines.ended && labelled.is_some_and(|line| line.is_number()) {
            lines.line_is_cut(number);
            break;
        }
        let is_first = all.is_empty() && (labelled.is_some() || is_beginning(text));
        if is_first {
            all.push(SmartctlText::new(number, times.take(), device.take()));
        }
        if !all.last_mut().is_some_and(|one| one.take(text, labelled)) {
            times.line(number, text);
        }
    }
    if all.is_empty() {
        return Err(ImportError::whole(file, "there is no line of smartctl in it"));
    }
    all.iter_mut().for_each(SmartctlText::finish);
    Ok(all)
}

impl SmartctlText {
    fn new(
        line: usize,
        (time_before, unread_time): (Option<Stamp>, Option<String>),
        device: Option<String>,
    ) -> Self {
        let mut one = Self { line, time_before, unread_time, object: json!({}), ..Self::default() };
        if let Some(device) = device {
            one.set("device/name", device.into());
        }
        one
    }

    /// Puts a value where the JSON has it.
    fn set(&mut self, path: &str, value: Value) {
        let mut at = &mut self.object;
        for key in path.split('/') {
            at = &mut at[key];
        }
        *at = value;
    }

    fn has(&self, path: &str) -> bool {
        self.object.pointer(&format!("/{path}")).is_some()
    }

    /// Takes a line; whether it is one that is known.
    fn take(&mut self, text: &str, labelled: Option<Labelled<'_>>) -> bool {
        if let Some(labelled) = labelled {
            self.table = None;
            self.seen.push(labelled.label);
            self.take_value(labelled, text);
            return true;
        }
        if let Some((sensor, value)) = sensor(text) {
            self.sensors[sensor] = value;
            return true;
        }
        if text.starts_with("Index ") && text.contains("Estimated Time") {
            self.table = Some(Table::History);
        } else if text.starts_with("Device Statistics (") {
            self.table = Some(Table::Statistics);
        } else if text.starts_with("ID# ATTRIBUTE_NAME") {
            self.raw_cell = text.split_whitespace().position(|title| title == "RAW_VALUE");
        } else if self.table == Some(Table::History) {
            return self.history_row(text);
        } else if self.table == Some(Table::Statistics) {
            return self.statistic(text);
        } else {
            return self.attribute(text) || self.data_moved(text) || self.message(text);
        }
        true
    }

    fn take_value(&mut self, labelled: Labelled<'_>, line: &str) {
        match labelled.told() {
            Some(told) => self.set(labelled.path, told),
            None if labelled.is_number() => self.unread.push(line.to_owned()),
            None => {}
        }
        if ["temperature/current", "temperature/lifetime_max"].contains(&labelled.path) {
            self.set("device/protocol", "ATA or SCSI".into());
        }
    }

    /// A row of the temperature history: `68    2026-03-13 22:10    71  ***`, `69  2026-03-13 22:20  ?  -`.
    fn history_row(&mut self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let times = skipped(text);
        let value = match (&words[..], times) {
            (_, Some(_)) => self.history.last().cloned(),
            ([index, date, _, value, ..], None) if index.parse::<u16>().is_ok() && date.contains('-') => {
                Some(whole(value).unwrap_or(Value::Null))
            }
            _ => None,
        };
        let Some(value) = value else {
            self.table = None;
            return false;
        };
        let room = LONGEST_HISTORY.saturating_sub(self.history.len());
        self.history.extend(std::iter::repeat_n(value, times.unwrap_or(1).min(room)));
        true
    }

    /// A row of the device statistics: `0x05  0x020  1  72  ---  Highest Temperature`; older versions write pages in decimals,
    /// no flags, and `~` behind normalized values.
    fn statistic(&mut self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let hex = |word: &str| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok();
        let [page, offset, _, value, ..] = words[..] else {
            self.table = self.table.filter(|_| !text.is_empty());
            return false;
        };
        let (page, offset) = (hex(page).or_else(|| page.parse().ok()), hex(offset));
        let (Some(page), Some(offset), Some(value)) = (page, offset, whole(value.trim_end_matches('~')))
        else {
            return false;
        };
        self.statistics.entry(page).or_default().push(json!({"offset": offset, "value": value}));
        true
    }

    /// A row of an ATA drive's attributes that smartctl itself takes for its temperature or its hours.
    fn attribute(&mut self, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let cell = |at: usize| words.get(at).copied();
        let raw_cell = self.raw_cell.or_else(|| is_temperature_row(&words).then(|| usual_raw_cell(&words)));
        let (Some(raw_cell), Some(id)) = (raw_cell, cell(0).and_then(|id| id.parse::<u8>().ok())) else {
            return false;
        };
        let (Some(name), Some(raw)) = (cell(1), cell(raw_cell)) else { return false };
        let degrees = || numbers::whole(raw).filter(|degrees| *degrees < HOTTEST_ATTRIBUTE_C);
        match id {
            // Airflow, which gives way to the temperature.
            190 if !self.has("temperature/current") => self.set_degrees(degrees()),
            194 => {
                self.seen.push(ATTRIBUTE_194);
                self.set_degrees(degrees());
            }
            9 if name.contains("Power_On") => {
                let hours = raw.split_once('h').map(|(hours, _)| hours);
                let hours = hours.or(Some(raw).filter(|_| name.ends_with("Hours")));
                if let Some(hours) = hours.and_then(whole) {
                    self.set("power_on_time/hours", hours);
                }
            }
            _ => {}
        }
        true
    }

    fn set_degrees(&mut self, degrees: Option<f64>) {
        if let Some(degrees) = degrees {
            self.set("temperature/current", degrees.into());
            self.set("device/protocol", "ATA or SCSI".into());
        }
    }

    /// A row of a SCSI drive's error counters, whose sixth number is gigabytes with three decimals.
    fn data_moved(&mut self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let what = match words.next() {
            Some("read:") => "read",
            Some("write:") => "write",
            _ => return false,
        };
        if let Some(Number::One(gb, _) | Number::Either(gb, _)) = words.nth(5).and_then(numbers::number) {
            self.set(&format!("scsi_error_counter_log/{what}/gigabytes_processed"), gb.into());
        }
        true
    }

    /// A line that says why there is no reading.
    fn message(&mut self, text: &str) -> bool {
        let says = [
            "failed:",
            "Unknown USB bridge",
            "Unable to detect device type",
            "Device is in ",
            "Permission denied",
        ];
        let is_message = says.iter().any(|words| text.contains(words));
        if is_message {
            self.messages.push(json!({"string": text}));
        }
        is_message
    }

    /// Puts what stands in several lines where the JSON has it.
    fn finish(&mut self) {
        if THROTTLING.iter().any(|path| self.has(path)) {
            for path in THROTTLING {
                if !self.has(path) {
                    self.set(path, 0.into());
                }
            }
        }
        if let Some(last) = self.sensors.iter().rposition(|sensor| !sensor.is_null()) {
            self.set("nvme_smart_health_information_log/temperature_sensors", self.sensors[..=last].into());
        }
        if !self.history.is_empty() {
            let table = std::mem::take(&mut self.history);
            self.set("ata_sct_temperature_history/table", table.into());
        }
        if !self.statistics.is_empty() {
            let page = |(number, table): (u64, Vec<Value>)| json!({"number": number, "table": table});
            let pages: Vec<Value> = std::mem::take(&mut self.statistics).into_iter().map(page).collect();
            self.set("ata_device_statistics/pages", pages.into());
        }
        let name = |key: &str| self.object.get(key).and_then(Value::as_str).map(str::to_owned);
        if let (Some(vendor), Some(product)) = (name("scsi_vendor"), name("scsi_product")) {
            self.set("scsi_model_name", format!("{vendor} {product}").into());
        }
        // Nothing was read at all.
        if !self.messages.is_empty() {
            if self.seen.is_empty() {
                self.set("smartctl/exit_status", 2.into());
            }
            let messages = std::mem::take(&mut self.messages);
            self.set("smartctl/messages", messages.into());
        }
    }
}
