//! nvme-cli: `nvme smart-log -o json`, its text, and `nvme id-ctrl -o json`, of every generation.
//!
//! Temperatures are whole kelvins as on the wire, 0 is "not reported" and so is a sensor that is not there.
//! `critical_warning` is a number, or an object of flags with the number in it. The OCP log, power states and lists are not
//! read.
//! Numbers may be strings or floats: 128-bit counters were all of these. Data units are 1000 blocks of 512 bytes
//! (NVMe Base 2.3, SMART / Health Information log).

use serde_json::Value;

use super::device::{self, controller};
use super::file_time::time_in_name;
use super::json::{CountsAt, count_at, number_at, warning_bits};
use super::lines::LineReader;
use super::monitor::line_time::line_time;
use super::nvme_text::{self, TextObject};
use super::reading::{HealthReading, When, from_documents};
use super::{COLDEST_K, HOTTEST_K, ImportError, stands_for_none};
use trace::{Counters, Facts, LifeCounters};

/// Beyond this a time beside a reading is in milliseconds.
const MS_SINCE_1970: f64 = 1e11;

/// Keys under which scripts put the time beside what nvme-cli writes.
const TIMES: [&str; 9] =
    ["timestamp", "time", "time_t", "ts", "date", "datetime", "@timestamp", "epoch", "_time"];

/// The object that nvme-cli wrote, in one that a script put around it: the only part that has its keys.
fn inner(object: &Value) -> &Value {
    let is_own = |value: &Value| KEYS.iter().any(|key| value.get(key).is_some());
    if is_own(object) {
        return object;
    }
    let mut parts =
        object.as_object().into_iter().flat_map(|parts| parts.values()).filter(|part| is_own(part));
    match (parts.next(), parts.next()) {
        (Some(only), None) => only,
        _ => object,
    }
}

/// Keys of which each object of nvme-cli that is read has one.
const KEYS: [&str; 4] = ["temperature", "avail_spare", "wctemp", "mntmt"];

/// The readings in a file, one or many.
pub(super) fn readings(
    file: &str,
    modified_unix_s: Option<f64>,
    lines: LineReader<'_>,
) -> Result<Vec<HealthReading>, ImportError> {
    let read = |object: &Value| reading(file, object).map_err(|(key, why)| (Some(key), why));
    Ok(timed(file, modified_unix_s, from_documents(file, lines, read)?))
}

/// The readings in the text of `nvme smart-log`.
pub(super) fn text_readings(
    file: &str,
    modified_unix_s: Option<f64>,
    lines: LineReader<'_>,
) -> Result<Vec<HealthReading>, ImportError> {
    let objects = nvme_text::objects(file, lines)?.into_iter();
    let read = |TextObject { line, time_before, unread_time, unread, object }| {
        let read = reading(file, &Value::Object(object));
        let mut reading = read.map_err(|(key, why)| ImportError::at(file, line, Some(key), why))?;
        reading.take_time(time_before);
        reading.unread_time = unread_time;
        reading.odd.extend(unread);
        Ok(reading)
    };
    Ok(timed(file, modified_unix_s, objects.map(read).collect::<Result<_, _>>()?))
}

/// The readings with the time that the file itself tells, where there is one reading without a time.
pub(super) fn timed(
    file: &str,
    modified_unix_s: Option<f64>,
    mut readings: Vec<HealthReading>,
) -> Vec<HealthReading> {
    // A name or a date of writing can tell the time of one reading only.
    let by_file = time_in_name(file).or(modified_unix_s.map(When::Written));
    if let [only] = &mut readings[..]
        && only.when == When::Never
        && let Some(when) = by_file
    {
        only.when = when;
    }
    share_times(&mut readings);
    readings
}

/// Gives readings of several drives that a script takes one after the other the time that stands before the first of them.
fn share_times(readings: &mut [HealthReading]) {
    let mut round: (When, Vec<String>) = (When::Never, Vec::new());
    for reading in readings {
        let Some(device) = reading.device.clone() else { return };
        if reading.when != When::Never {
            round = (reading.when, vec![device]);
        } else if reading.unread_time.is_none() && !round.1.contains(&device) {
            reading.when = round.0;
            round.1.push(device);
        }
    }
}

/// The reading that one object of nvme-cli's JSON holds; what is wrong stands at a key.
fn reading(file: &str, object: &Value) -> Result<HealthReading, (&'static str, String)> {
    let (outer, object) = (object, inner(object));
    let time = [object, outer].into_iter().find_map(|from| TIMES.iter().find_map(|key| number_at(from, key)));
    let written = || {
        let told = |from: &Value| TIMES.iter().find_map(|key| line_time(from.get(key)?.as_str()?));
        [object, outer].into_iter().find_map(told)
    };
    let when = match time {
        Some(ms) if ms > MS_SINCE_1970 => When::Unix(ms / 1e3),
        Some(s) => When::Unix(s),
        None => written().map_or(When::Never, When::from),
    };
    let mut reading = HealthReading::new(file, when);
    // The text has it in its first line, and scripts put it beside what nvme-cli writes, or into the file's name.
    let named = |from: &Value| from.get("device").and_then(Value::as_str).map(controller);
    reading.device = named(object).or_else(|| named(outer)).or_else(|| device::in_file_name(file));
    let kelvin = |key: &'static str| kelvin(object, key);
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(|text| text.trim().to_owned());
    if object.get("wctemp").is_some() || object.get("mntmt").is_some() {
        reading.is_moment = false;
        reading.facts = Facts {
            warning_k: kelvin("wctemp")?,
            critical_k: kelvin("cctemp")?,
            tmt_min_k: kelvin("mntmt")?,
            tmt_max_k: kelvin("mxtmt")?,
            capacity_bytes: count_at(object, "tnvmcap").filter(|bytes| *bytes > 0),
            ..Facts::default()
        };
        (reading.model, reading.serial) = (text("mn"), text("sn"));
        return Ok(reading);
    }
    if object.get("temperature").is_none() && object.get("avail_spare").is_none() {
        return Err(("temperature", "this is not what `nvme smart-log` or `nvme id-ctrl` writes".into()));
    }
    reading.composite_k = kelvin("temperature")?;
    const SENSORS: [&str; 8] = [
        "temperature_sensor_1",
        "temperature_sensor_2",
        "temperature_sensor_3",
        "temperature_sensor_4",
        "temperature_sensor_5",
        "temperature_sensor_6",
        "temperature_sensor_7",
        "temperature_sensor_8",
    ];
    for (sensor, key) in reading.sensors_k.iter_mut().zip(SENSORS) {
        *sensor = kelvin(key)?;
    }
    let mut counts = CountsAt::new(object);
    reading.counters = Counters {
        tmt1_transitions: counts.count("thm_temp1_trans_count"),
        tmt2_transitions: counts.count("thm_temp2_trans_count"),
        tmt1_seconds: counts.count("thm_temp1_total_time"),
        tmt2_seconds: counts.count("thm_temp2_total_time"),
    };
    reading.moved = counts.data_units();
    reading.life = LifeCounters {
        power_on_h: counts.number("power_on_hours"),
        warning_min: counts.number("warning_temp_time"),
        critical_min: counts.number("critical_comp_time"),
        used_percent: counts.number("percent_used").or_else(|| counts.number("percentage_used")),
        critical_warning: warning_bits(object),
        spare_percent: counts.number("avail_spare"),
        spare_threshold_percent: counts.number("spare_thresh"),
        host_commands: counts.host_commands(["host_read_commands", "host_write_commands"]),
        media_errors: counts.number("media_errors"),
        ..LifeCounters::default()
    };
    reading.odd = counts.odd;
    reading.power_w = number_at(object, "interval_power_measurement").and_then(power);
    Ok(reading)
}

/// A temperature in kelvins; what cannot be one is an error, since another unit is the likely reason.
fn kelvin(object: &Value, key: &'static str) -> Result<Option<f64>, (&'static str, String)> {
    let Some(value) = object.get(key).filter(|value| !value.is_null()) else { return Ok(None) };
    let Some(k) = number_at(object, key) else {
        return Err((key, format!("{value} is not a temperature")));
    };
    match k {
        _ if stands_for_none(k) => Ok(None),
        // Below the thresholds that may be set there is no plausible limit but that of the number.
        _ if key == "mntmt" || (COLDEST_K..HOTTEST_K).contains(&k) => Ok(Some(k)),
        _ => Err((
            key,
            format!("{k} cannot be kelvins, which nvme-cli writes: if it is °C, it is of another tool"),
        )),
    }
}

/// Watts of an interval power measurement: 16 bits of value, 2 bits of scale, 0 for "not reported"
/// (NVMe Base 2.3, SMART / Health Information log; scales as those of power state descriptors).
fn power(raw: f64) -> Option<f64> {
    let raw = raw as u64;
    let value = (raw & 0xffff) as f64;
    match (raw >> 16) & 3 {
        1 if value > 0.0 => Some(value * 1e-4),
        2 if value > 0.0 => Some(value * 1e-2),
        _ => None,
    }
}
