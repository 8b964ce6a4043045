//! Text of `nvme smart-log`, of every generation, as the keys of its JSON.
//!
//! Temperatures are written in five ways; kelvins count where they stand, else whole degrees, Celsius or Fahrenheit. Numbers
//! may have separators of thousands. Several readings may follow one another, each with its line `Smart Log for NVME`.

use serde_json::{Map, Value};

use super::ImportError;
use super::lines::LineReader;

/// Beginnings of labels, in lower case and without blanks and underscores, and the keys of the JSON.
const LABELS: [(&str, &str); 13] = [
    ("criticalwarning", "critical_warning"),
    ("availablesparethreshold", "spare_thresh"),
    ("availablespare", "avail_spare"),
    ("percentageused", "percent_used"),
    ("dataunitsread", "data_units_read"),
    ("dataunitswritten", "data_units_written"),
    ("thermalmanagementt1transcount", "thm_temp1_trans_count"),
    ("thermalmanagementt2transcount", "thm_temp2_trans_count"),
    ("thermalmanagementt1totaltime", "thm_temp1_total_time"),
    ("thermalmanagementt2totaltime", "thm_temp2_total_time"),
    ("poweronhours", "power_on_hours"),
    ("warningtemperaturetime", "warning_temp_time"),
    ("criticalcompositetemperaturetime", "critical_comp_time"),
];

/// The readings of a file as objects like those of the JSON, each with the line it begins in.
pub(super) fn objects(file: &str, mut lines: LineReader<'_>) -> Result<Vec<(usize, Value)>, ImportError> {
    let mut all: Vec<(usize, Map<String, Value>)> = Vec::new();
    while let Some((number, line)) = lines.next()? {
        if line.trim_start().starts_with("Smart Log for NVME") {
            let named = device(line).map(|device| ("device".to_owned(), device.into()));
            all.push((number, named.into_iter().collect()));
            continue;
        }
        let Some((_, object)) = all.last_mut() else { continue };
        let Some((label, text)) = line.split_once(':') else { continue };
        let label: String = label.to_lowercase().chars().filter(|c| c.is_ascii_alphanumeric()).collect();
        let value = if let Some(sensor) = label.strip_prefix("temperature").filter(|rest| is_reading(rest)) {
            let key = if sensor.is_empty() {
                "temperature".to_owned()
            } else {
                sensor.replace("sensor", "temperature_sensor_")
            };
            kelvin(text).map(|value| (key, value))
        } else {
            let known = LABELS.iter().find(|(begins, _)| label.starts_with(begins));
            known.map(|(_, key)| (*key).to_owned()).zip(bits(text).or_else(|| count(text)))
        };
        if let Some((key, value)) = value {
            object.insert(key, value.into());
        }
    }
    if all.is_empty() {
        return Err(ImportError::whole(file, "there is no line `Smart Log for NVME` in it"));
    }
    Ok(all.into_iter().map(|(number, object)| (number, Value::Object(object))).collect())
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

/// The first number, with or without separators of thousands: `12,345,678 (6.32 TB)`.
fn count(text: &str) -> Option<u64> {
    let first = text.trim().split(['(', '%', ' ']).next()?;
    first.replace([',', '.', '\'', '_'], "").parse().ok()
}

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
        assert_eq!(count(" 12,345,678 (6.32 TB)"), Some(12_345_678));
        assert_eq!(count("\t100%"), Some(100));
        assert_eq!(count("0"), Some(0));
        assert_eq!(count("much"), None);
    }
}
