//! Text of `nvme smart-log` and `nvme id-ctrl`, of every generation, as the keys of its JSON.
//!
//! Temperatures are written in five ways; kelvins count where they stand, else whole degrees, Celsius or Fahrenheit. Numbers
//! may have separators of thousands, which are those of the system's language (blanks of any width, points, commas, apostrophes); a
//! line whose number cannot be told is left out with a note. Several readings may follow one another, each with its line `Smart Log for NVME`; where that is
//! cut off, each begins with its `critical_warning`, and where nothing but temperatures is left (`nvme smart-log | grep temp`) with those.

use serde_json::{Map, Value};

use super::ImportError;
use super::lines::LineReader;
use super::monitor::line_time::LineTimes;
use super::monitor::when::Stamp;
use super::numbers;

/// Beginnings of labels, in lower case and without blanks and underscores, and the keys of the JSON.
const LABELS: [(&str, &str); 16] = [
    ("criticalwarning", "critical_warning"),
    ("availablesparethreshold", "spare_thresh"),
    ("availablespare", "avail_spare"),
    ("percentageused", "percent_used"),
    ("dataunitsread", "data_units_read"),
    ("dataunitswritten", "data_units_written"),
    ("hostreadcommands", "host_read_commands"),
    ("hostwritecommands", "host_write_commands"),
    ("mediaerrors", "media_errors"),
    ("thermalmanagementt1transcount", "thm_temp1_trans_count"),
    ("thermalmanagementt2transcount", "thm_temp2_trans_count"),
    ("thermalmanagementt1totaltime", "thm_temp1_total_time"),
    ("thermalmanagementt2totaltime", "thm_temp2_total_time"),
    ("poweronhours", "power_on_hours"),
    ("warningtemperaturetime", "warning_temp_time"),
    ("criticalcompositetemperaturetime", "critical_comp_time"),
];

/// Labels of `nvme id-ctrl`: they are as short as those of its JSON.
const IDENTIFY: [&str; 7] = ["wctemp", "cctemp", "mntmt", "mxtmt", "tnvmcap", "mn", "sn"];

/// What begins a reading, or what is known of the controller.
const HEADINGS: [&str; 2] = ["Smart Log for NVME", "NVME Identify Controller"];

/// Keys of which each text has one: of the log, and of what is known of the controller.
const LEAST: [&str; 4] = ["temperature", "avail_spare", "wctemp", "mntmt"];

/// What ends the text since nvme-cli 1.0: where any other line has no end, digits of its number may be lost.
const LAST_KEY: &str = "thm_temp2_total_time";

/// Whether a line is of such a text, with its heading or without.
pub(super) fn is_beginning(line: &str) -> bool {
    let labels = ["critical_warning", "available_spare"];
    let value = |label: &str| line.strip_prefix(label)?.trim_start().strip_prefix(':');
    HEADINGS.iter().any(|heading| line.starts_with(heading))
        || labels.into_iter().any(|label| value(label).is_some())
        || value("temperature").is_some_and(|text| kelvin(text).is_some())
}

/// A reading as an object like those of the JSON.
#[derive(Default)]
pub(super) struct TextObject {
    /// The line it begins in.
    pub(super) line: usize,
    /// The time that a line before it is, as of `date` in a loop.
    pub(super) time_before: Option<Stamp>,
    /// The line before it that looks like one and was not understood.
    pub(super) unread_time: Option<String>,
    /// Lines whose value is none.
    pub(super) unread: Vec<String>,
    pub(super) object: Map<String, Value>,
}

/// The readings of a file.
pub(super) fn objects(file: &str, mut lines: LineReader<'_>) -> Result<Vec<TextObject>, ImportError> {
    let mut all: Vec<TextObject> = Vec::new();
    let mut times = LineTimes::default();
    while let Some((line, text)) = lines.next()? {
        if HEADINGS.iter().any(|heading| text.trim_start().starts_with(heading)) {
            let named = device(text).map(|device| ("device".to_owned(), device.into()));
            let (time_before, unread_time) = times.take();
            let object = named.into_iter().collect();
            all.push(TextObject { line, time_before, unread_time, object, ..TextObject::default() });
            continue;
        }
        let Some((key, value)) = text.split_once(':').and_then(|(label, text)| pair(label.trim(), text))
        else {
            times.line(line, text);
            continue;
        };
        let unread = value.is_none().then(|| text.trim().to_owned());
        if !lines.ended && key != LAST_KEY {
            lines.line_is_cut(line);
            break;
        }
        // Without its heading a reading begins with the first line that is known, the next one with the first of all.
        let is_next = |one: &TextObject| match key.as_str() {
            "critical_warning" => one.object.keys().any(|known| known != "device"),
            "temperature" => one.object.contains_key("temperature"),
            _ => false,
        };
        if all.last().is_none_or(is_next) {
            let (time_before, unread_time) = times.take();
            all.push(TextObject { line, time_before, unread_time, ..TextObject::default() });
        }
        if let Some(one) = all.last_mut() {
            one.object.extend(value.map(|value| (key, value)));
            one.unread.extend(unread);
        }
    }
    // The last reading is torn before its temperature.
    let is_whole = |one: &TextObject| LEAST.iter().any(|key| one.object.contains_key(*key));
    if all.len() > 1
        && all.last().is_some_and(|last| !is_whole(last))
        && all.iter().rev().skip(1).all(is_whole)
    {
        lines.document_is_cut(all.pop().map_or(1, |torn| torn.line));
    }
    if all.is_empty() {
        return Err(ImportError::whole(file, "there is no line of `nvme smart-log` or `nvme id-ctrl` in it"));
    }
    Ok(all)
}

/// The key and the value that a line has in JSON; a value that cannot be read is none.
fn pair(label: &str, text: &str) -> Option<(String, Option<Value>)> {
    if IDENTIFY.contains(&label) {
        let value = match label {
            "mn" | "sn" => text.trim().into(),
            _ => kelvin(text).map(Value::from).or_else(|| count(text))?,
        };
        return Some((label.to_owned(), Some(value)));
    }
    let label: String = label.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    if let Some(sensor) = label.strip_prefix("temperature").filter(|rest| is_reading(rest)) {
        let key = format!("temperature{}", sensor.replace("sensor", "_sensor_"));
        return Some((key, Some(kelvin(text)?.into())));
    }
    let (_, key) = LABELS.iter().find(|(begins, _)| label.starts_with(begins))?;
    Some(((*key).to_owned(), bits(text).map(Value::from).or_else(|| count(text))))
}

/// The device of `Smart Log for NVME device:nvme0n1 namespace-id:ffffffff`.
fn device(line: &str) -> Option<&str> {
    line.split_once("device:")?.1.split_whitespace().next()
}

/// `temperature` itself or `temperature sensor N`.
fn is_reading(rest: &str) -> bool {
    let number = rest.strip_prefix("sensor").unwrap_or(rest);
    rest.is_empty()
        || (rest.starts_with("sensor")
            && number.len() == 1
            && number.starts_with(|c: char| ('1'..='8').contains(&c)))
}

/// Whole kelvins of `33 C`, `40 C (313 Kelvin)`, `42 °C (315 K)`, `33 °C (306 K, 91 °F)`, `91 °F (306 K)`.
fn kelvin(text: &str) -> Option<u64> {
    let spaced = text.replace(['(', ')', ',', '°'], " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let before = |units: &[&str]| {
        let at = words.iter().position(|word| units.contains(word))?;
        words[at.checked_sub(1)?].parse::<f64>().ok()
    };
    let kelvin = before(&["K", "Kelvin"])
        .or_else(|| before(&["C", "Celsius"]).map(|celsius| celsius + 273.0))
        .or_else(|| before(&["F", "Fahrenheit"]).map(|fahrenheit| (fahrenheit - 32.0) / 1.8 + 273.15))?;
    (kelvin >= 0.0).then(|| kelvin.round() as u64)
}

/// A number that is written in hexadecimal, as bits are.
fn bits(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// The number with or without separators of thousands: `12,345,678 (6.32 TB)`. One of 128 bits loses digits.
fn count(text: &str) -> Option<Value> {
    let number = numbers::whole(text)?;
    Some(if number < MOST_EXACT { (number as u64).into() } else { number.into() })
}

/// Below this a number with a fraction holds any whole one: 2^53.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_temperature_in_any_spelling_is_its_kelvins() {
        for (text, told) in [
            ("33 C", 306),
            ("40 C (313 Kelvin)", 313),
            ("42 °C (315 K)", 315),
            ("33 °C (306 K, 91 °F)", 306),
            ("-459 °F (0 K)", 0),
            ("91 °F", 306),
        ] {
            assert_eq!(kelvin(text), Some(told), "{text}");
        }
        assert_eq!(kelvin("none"), None);
    }

    #[test]
    fn numbers_have_separators_or_not() {
        assert_eq!(count(" 12,345,678 (6.32 TB)"), Some(12_345_678.into()));
        assert_eq!(count("\t100%"), Some(100.into()));
        assert_eq!(count("0"), Some(0.into()));
        assert_eq!(count("much"), None);
        assert_eq!(
            count("340,282,366,920,938,463,463,374,607,431,768,211,455"),
            Some((u128::MAX as f64).into())
        );
    }
}
