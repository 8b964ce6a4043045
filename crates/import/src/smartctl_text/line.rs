//! Lines of smartctl's text: their labels and where the JSON has what stands behind them, marks before them, and numbers.

use serde_json::Value;

use super::super::numbers;

/// How the value of a label is written.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// A whole number with a unit or without, also in hexadecimal.
    Count,
    /// The second of `15/72`; older versions write it alone.
    Greatest,
}

use Kind::{Count, Greatest, Text};

/// Labels in lower case with single blanks, and the paths in the JSON.
const LABELS: [(&str, &str, Kind); 46] = [
    ("model number", "model_name", Text),
    ("device model", "model_name", Text),
    ("serial number", "serial_number", Text),
    ("local time is", "local_time/asctime", Text),
    ("total nvm capacity", "nvme_total_capacity", Count),
    ("namespace 1 size/capacity", "user_capacity/bytes", Count),
    ("user capacity", "user_capacity/bytes", Count),
    ("sector size", "logical_block_size", Count),
    ("sector sizes", "logical_block_size", Count),
    ("logical block size", "logical_block_size", Count),
    ("warning comp. temp. threshold", "nvme_composite_temperature_threshold/warning", Count),
    ("critical comp. temp. threshold", "nvme_composite_temperature_threshold/critical", Count),
    ("critical warning", "nvme_smart_health_information_log/critical_warning", Count),
    ("temperature", "nvme_smart_health_information_log/temperature", Count),
    ("available spare", "nvme_smart_health_information_log/available_spare", Count),
    ("available spare threshold", "nvme_smart_health_information_log/available_spare_threshold", Count),
    ("percentage used", "nvme_smart_health_information_log/percentage_used", Count),
    ("data units read", "nvme_smart_health_information_log/data_units_read", Count),
    ("data units written", "nvme_smart_health_information_log/data_units_written", Count),
    ("host read commands", "nvme_smart_health_information_log/host_reads", Count),
    ("host write commands", "nvme_smart_health_information_log/host_writes", Count),
    ("media and data integrity errors", "nvme_smart_health_information_log/media_errors", Count),
    ("smart overall-health self-assessment test result", "smart_status/text", Text),
    ("smart health status", "smart_status/text", Text),
    ("power on hours", "nvme_smart_health_information_log/power_on_hours", Count),
    ("warning comp. temperature time", "nvme_smart_health_information_log/warning_temp_time", Count),
    ("critical comp. temperature time", "nvme_smart_health_information_log/critical_comp_time", Count),
    ("thermal temp. 1 transition count", THROTTLING[0], Count),
    ("thermal temp. 2 transition count", THROTTLING[1], Count),
    ("thermal temp. 1 total time", THROTTLING[2], Count),
    ("thermal temp. 2 total time", THROTTLING[3], Count),
    ("current temperature", "temperature/current", Count),
    ("current drive temperature", "temperature/current", Count),
    ("drive trip temperature", "temperature/drive_trip", Count),
    ("specified max operating temperature", "temperature/op_limit_max", Count),
    ("min/max recommended temperature", "temperature/op_limit_max", Greatest),
    ("min/max temperature limit", "temperature/limit_max", Greatest),
    ("lifetime min/max temperature", "temperature/lifetime_max", Greatest),
    ("lifetime max temperature", "temperature/lifetime_max", Greatest),
    ("under/over temperature limit count", "temperature/over_limit_count", Greatest),
    ("temperature logging interval", "ata_sct_temperature_history/logging_interval_minutes", Count),
    ("percentage used endurance indicator", "scsi_percentage_used_endurance_indicator", Count),
    ("accumulated power on time, hours", "power_on_time/hours", Count),
    ("number of hours powered up", "power_on_time/hours", Count),
    ("vendor", "scsi_vendor", Text),
    ("product", "scsi_product", Text),
];

/// Paths of what counts throttling.
pub(super) const THROTTLING: [&str; 4] = [
    "nvme_smart_health_information_log/thermal_mgmt_temperature_1_transition_count",
    "nvme_smart_health_information_log/thermal_mgmt_temperature_2_transition_count",
    "nvme_smart_health_information_log/thermal_mgmt_temperature_1_total_time",
    "nvme_smart_health_information_log/thermal_mgmt_temperature_2_total_time",
];

/// Labels of which each run has one at most: where one comes again, and smartctl's first line was cut off, the next begins.
pub(super) const ONCE: [&str; 6] = [
    "critical warning",
    "temperature",
    "current temperature",
    "current drive temperature",
    "serial number",
    ATTRIBUTE_194,
];
pub(super) const ATTRIBUTE_194: &str = "194";

/// Beginnings of lines of such a text, for those without smartctl's first one.
const BEGINNINGS: [&str; 6] = [
    "=== START OF ",
    "SMART/Health Information",
    "ID# ATTRIBUTE_NAME",
    "SMART Attributes Data Structure",
    "Vendor Specific SMART Attributes",
    "SCT Status Version:",
];

/// Whether a line is of such a text.
pub(super) fn is_beginning(line: &str) -> bool {
    let line = unquoted(line);
    is_banner(line)
        || BEGINNINGS.iter().any(|begin| line.starts_with(begin))
        || line.starts_with("Temperature:") && line.ends_with(" Celsius")
        || line.starts_with("Current ") && line.contains("Temperature:")
        || is_temperature_row(&line.split_whitespace().collect::<Vec<_>>())
}

/// Whether the words of a line are the row of an attribute that is a temperature, whose title may have been cut off.
pub(super) fn is_temperature_row(words: &[&str]) -> bool {
    matches!(words, ["190" | "194", name, flags, ..]
        if name.contains("Temperature") && (flags.starts_with("0x") || flags.ends_with(['-', 'K'])))
}

/// Which cell of an attribute's row is the raw value where no title says so: two columns more stand before it without `-x`.
pub(super) fn usual_raw_cell(words: &[&str]) -> usize {
    if words.iter().any(|word| ["Old_age", "Pre-fail"].contains(word)) { 9 } else { 7 }
}

/// Whether a line is the first one that smartctl writes.
pub(super) fn is_banner(line: &str) -> bool {
    let rest = line.strip_prefix("smartctl ").map(|rest| rest.strip_prefix("version ").unwrap_or(rest));
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A line without the marks of a quotation before it.
pub(super) fn unquoted(line: &str) -> &str {
    let rest = line.trim().trim_start_matches(['>', '|', ' ']);
    match rest.split_once("> ") {
        Some((name, quoted)) if !name.contains([' ', ':']) => quoted.trim(),
        _ => rest,
    }
}

/// A line with a label that is known.
#[derive(Clone, Copy)]
pub(super) struct Labelled<'a> {
    pub(super) label: &'static str,
    /// Where the JSON has its value.
    pub(super) path: &'static str,
    kind: Kind,
    value: &'a str,
}

/// The label of a line and what stands behind it.
pub(super) fn labelled(text: &str) -> Option<Labelled<'_>> {
    let (label, value) = text.split_once([':', '='])?;
    let label = label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let (label, path, kind) = LABELS.iter().find(|(known, ..)| *known == label)?;
    // `Accumulated power on time, hours:minutes 21345:12`.
    let value = value.trim_start();
    let value = value.strip_prefix("minutes").map_or(value, |time| time.split(':').next().unwrap_or(time));
    Some(Labelled { label, path, kind: *kind, value: value.trim() })
}

impl Labelled<'_> {
    /// The value as the JSON has it; what is not reported is a sign or a word.
    pub(super) fn told(&self) -> Option<Value> {
        let value = self.value;
        match self.kind {
            Text => Some(value.into()).filter(|_| !value.is_empty()),
            Count => match value.strip_prefix("0x") {
                Some(bits) => u64::from_str_radix(bits.split_whitespace().next()?, 16).ok().map(Value::from),
                None => whole(value),
            },
            Greatest => whole(value.rsplit('/').next().unwrap_or(value)),
        }
    }

    /// Whether its value is a number, or should be.
    pub(super) fn is_number(&self) -> bool {
        !matches!(self.kind, Text) && self.value.bytes().any(|byte| byte.is_ascii_digit())
    }
}

/// The device of a command line, or that a script wrote alone in a line before a reading.
pub(super) fn device_in(text: &str) -> Option<&str> {
    let named = |word: &str| word.starts_with("/dev/") && !word.ends_with(':');
    let is_command = text.contains("smartctl ") && !text.contains(',');
    let alone = text.trim_matches(|c: char| c.is_whitespace() || "=-#*[]:".contains(c));
    let found = || text.split_whitespace().rev().find(|word| named(word));
    if is_command { found() } else { Some(alone).filter(|word| named(word) && !word.contains(' ')) }
}

/// Sensors of the health log.
pub(super) const SENSORS: usize = 8;

/// Which sensor a line is of, counted from 0, and its °C.
pub(super) fn sensor(text: &str) -> Option<(usize, Value)> {
    let (number, value) = text.strip_prefix("Temperature Sensor ")?.split_once(':')?;
    let sensor = number.trim().parse::<usize>().ok().filter(|number| (1..=SENSORS).contains(number))?;
    Some((sensor - 1, whole(value)?))
}

/// How many rows `...    ..( 60 skipped).    ..` stands for.
pub(super) fn skipped(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("..(")?;
    rest.split_once(" skipped)")?.0.trim().parse().ok()
}

/// A whole number, which may be below zero; one of 128 bits loses digits.
pub(super) fn whole(text: &str) -> Option<Value> {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |digits| (-1.0, digits));
    let number = sign * numbers::whole(digits)?;
    Some(if number.abs() < MOST_EXACT { (number as i64).into() } else { number.into() })
}

/// Below this a number with a fraction holds any whole one: 2^53.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;
