//! smartctl (`-x`, `-a`, ..), JSON or text: NVMe, ATA with its temperature history, SCSI.
//!
//! Text is read as the keys of the JSON ([`super::smartctl_text`]).
//! Temperatures are whole °C, that is whole kelvins less 273. An exit status other than 0 is no error: it is a mask of
//! what smartctl found, and the rest is good. A document without a temperature, as of a drive that sleeps, is a gap. Times are `local_time.time_t`, whole seconds;
//! text has the local time with the name of its zone.
//! Attributes of ATA drives are not read; their meaning differs by maker. Device statistics are, by page and offset (ACS-4,
//! device statistics log), where smartctl calls them valid.

use measure::Kelvin;
use serde_json::Value;

use super::device::controller;
use super::file_time::time_in_name;
use super::json::{CountsAt, count_at, number, number_at, warning_bits};
use super::lines::LineReader;
use super::monitor::line_time::line_time;
use super::nvme::timed;
use super::reading::{HealthReading, When, from_documents};
use super::smartctl_text::{self, SmartctlText};
use super::{COLDEST_K, HOTTEST_K, ImportError, stands_for_none};
use trace::{Counters, Facts, LifeCounters};

/// Degrees Celsius that a limit or the highest temperature of a drive may have.
const KEPT_C: std::ops::Range<f64> = 1.0..200.0;
/// The first bits of smartctl's exit status say that it did not get at the drive (smartctl(8), "EXIT STATUS").
const NO_DEVICE: u64 = 0b11;
/// A logical sector where the document does not say how long it is.
const SECTOR_BYTES: f64 = 512.0;
/// A drive that moved more gigabytes than these (1 EB) fills the counter with something else.
const MOST_GIGABYTES: f64 = 1e9;

/// smartctl's text has a counter of throttling where it is not 0; its JSON had none before 2026 (smartmontools, issue 583).
const UNTOLD: &str = "smartctl tells nothing of the TMT1 and TMT2 counters here: its text leaves out those that are 0, its JSON all of them in most versions; `nvme smart-log` has them";

/// The readings in a file, one or many.
pub(super) fn readings(file: &str, lines: LineReader<'_>) -> Result<Vec<HealthReading>, ImportError> {
    from_documents(file, lines, |object| reading(file, object).map_err(|why| (None, why)))
}

/// The readings in text, one or many.
pub(super) fn text_readings(
    file: &str,
    modified_unix_s: Option<f64>,
    lines: LineReader<'_>,
) -> Result<Vec<HealthReading>, ImportError> {
    let read = |text: SmartctlText| {
        let mut reading =
            reading(file, &text.object).map_err(|why| ImportError::at(file, text.line, None, why))?;
        reading.take_time(text.time_before);
        reading.unread_time = text.unread_time;
        reading.odd.extend(text.unread);
        if let Some(why) = &mut reading.lacks {
            why.line = Some(text.line);
        }
        Ok(reading)
    };
    let readings = smartctl_text::objects(file, lines)?.into_iter().map(read).collect::<Result<_, _>>()?;
    Ok(timed(file, modified_unix_s, readings))
}

/// When smartctl says that it ran, by the clock of the machine: behind the time stands its zone, in words on Windows.
fn said_time(text: &str) -> Option<When> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let time = || line_time(&words.get(..5)?.join(" "));
    line_time(text).or_else(time).map(When::from)
}

fn reading(file: &str, object: &Value) -> Result<HealthReading, String> {
    let at = |path: &str| object.pointer(path);
    let float = |path: &str| at(path).and_then(number);
    let said = at("/local_time/asctime").and_then(Value::as_str).and_then(said_time);
    let when = match float("/local_time/time_t") {
        Some(t) => When::Unix(t),
        None => said.or_else(|| time_in_name(file)).unwrap_or(When::Never),
    };
    let mut reading = HealthReading::new(file, when);
    reading.local = said;
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    (reading.model, reading.serial) =
        (text("model_name").or_else(|| text("scsi_model_name")), text("serial_number"));
    reading.device =
        at("/device/info_name").or_else(|| at("/device/name")).and_then(Value::as_str).map(controller);
    let celsius = |path: &str| float(path).and_then(kelvin);
    // Where a drive keeps none, a limit and the highest temperature are 0 or 255 °C.
    let kept = |path: &str| float(path).filter(|degrees| KEPT_C.contains(degrees)).and_then(kelvin);
    // Bridges answer 0 or -1 °C for a drive that they cannot ask.
    let is_nvme = at("/device/protocol").and_then(Value::as_str).is_none_or(|protocol| protocol == "NVMe");
    let current = float("/temperature/current").filter(|degrees| is_nvme || ![0.0, -1.0].contains(degrees));
    reading.composite_k = current.and_then(kelvin);
    let capacity = ["/user_capacity/bytes", "/nvme_total_capacity"].into_iter().find_map(at);
    let trip_k = float("/temperature/drive_trip").and_then(scsi_reference);
    reading.facts = Facts {
        capacity_bytes: capacity.and_then(Value::as_u64).filter(|bytes| *bytes > 0),
        warning_k: celsius("/nvme_composite_temperature_threshold/warning")
            .or_else(|| kept("/temperature/op_limit_max"))
            .or(trip_k),
        critical_k: celsius("/nvme_composite_temperature_threshold/critical")
            .or_else(|| kept("/temperature/critical_limit_max"))
            .or_else(|| kept("/temperature/limit_max")),
        ..Facts::default()
    };
    let mut odd = Vec::new();
    let mut counted = |path: &str| {
        let told = float(path)?;
        if told < 0.0 {
            odd.push(format!("{}: {told}", path.trim_start_matches('/')));
        }
        Some(told).filter(|count| *count >= 0.0)
    };
    reading.life = LifeCounters {
        power_on_h: counted("/power_on_time/hours"),
        warning_min: counted("/temperature/lifetime_over_limit_minutes"),
        used_percent: counted("/endurance_used/current_percent"),
        hottest_k: kept("/temperature/lifetime_max"),
        trip_k,
        has_failed: has_failed(object),
        ..LifeCounters::default()
    };
    reading.life.over_limit = object
        .get("temperature")
        .and_then(|all| count_at(all, "over_limit_count"))
        .or_else(|| count_at(at("/ata_sct_status/temperature")?, "over_limit_count"));
    reading.odd = odd;
    if let Some(health) = at("/nvme_smart_health_information_log") {
        nvme(health, &mut reading);
    }
    if at("/ata_device_statistics").is_some() {
        device_statistics(object, &mut reading);
    }
    scsi(object, &mut reading);
    if let Some(history) = at("/ata_sct_temperature_history") {
        reading.history = sct_history(history);
    }
    leave_out_impossible(object, &mut reading)?;
    if !reading.has_temperature() && !reading.counts_its_life() {
        reading.lacks = Some(ImportError::whole(file, nothing_in(object)));
    }
    Ok(reading)
}

/// Leaves out temperatures that no drive has, of a bridge that makes up its answers, or kelvins in place of °C; where there is nothing
/// else, that is an error.
fn leave_out_impossible(object: &Value, reading: &mut HealthReading) -> Result<(), String> {
    let is_odd = |k: &f64| !(COLDEST_K..=HOTTEST_K).contains(k);
    for (number, sensor) in (1..).zip(&mut reading.sensors_k) {
        if let Some(k) = sensor.take_if(|k| is_odd(k)) {
            reading.odd.push(format!("temperature sensor {number}: {:.0} °C", k - 273.0));
        }
    }
    if reading.composite_k.take_if(|k| is_odd(k)).is_none() {
        return Ok(());
    }
    let paths = ["/temperature/current", "/nvme_smart_health_information_log/temperature"];
    let degrees = paths.iter().find_map(|path| number(object.pointer(path)?)).unwrap_or(f64::NAN);
    if !reading.has_temperature() && !reading.counts_its_life() {
        return Err(format!("{degrees} °C is no temperature of a drive: is it in another unit?"));
    }
    reading.odd.push(format!("temperature: {degrees} °C"));
    Ok(())
}

/// Why a document says nothing: the drive sleeps, is gone, or has no sensor that the bridge before it passes on.
fn nothing_in(object: &Value) -> String {
    let at = |path: &str| object.pointer(path);
    let status = at("/smartctl/exit_status").and_then(Value::as_u64).unwrap_or(0);
    let messages = at("/smartctl/messages").and_then(Value::as_array).into_iter().flatten();
    let said: Vec<&str> = messages.filter_map(|message| message.get("string")?.as_str()).collect();
    let why =
        if status & NO_DEVICE != 0 { "smartctl did not get at the drive" } else { "it holds no temperature" };
    let said = if said.is_empty() { String::new() } else { format!(" ({})", said.join("; ")) };
    format!("{why}{said}: {}", next_step(&said))
}

/// What to do after what smartctl said (smartctl(8), "-d TYPE").
fn next_step(said: &str) -> &'static str {
    match said {
        _ if said.contains("Permission denied") => "run it as root: `sudo smartctl --json -x DEVICE`",
        _ if said.contains("Unknown USB bridge") || said.contains("specify device type") => {
            "name the bridge's kind: `smartctl --json -x -d sntasmedia DEVICE`, or -d sntjmicron, -d sntrealtek, -d sat"
        }
        _ if said.contains("STANDBY") || said.contains("SLEEP") => {
            "wake the drive, then run smartctl --json -x"
        }
        _ => "run smartctl --json -x on the drive",
    }
}

/// Whether a SATA or SCSI drive says that it fails. Of NVMe drives smartctl says so for any warning, a temperature's as well: their
/// warnings are told one by one.
fn has_failed(object: &Value) -> bool {
    let status = |key: &str| object.get("smart_status")?.get(key);
    let is_nvme = object.get("nvme_smart_health_information_log").is_some();
    let passed = status("passed").and_then(Value::as_bool);
    let fails = status("text").and_then(Value::as_str).is_some_and(|text| text.starts_with("FAIL"));
    !is_nvme && (passed == Some(false) || fails)
}

fn nvme(health: &Value, reading: &mut HealthReading) {
    if reading.composite_k.is_none() {
        reading.composite_k = number_at(health, "temperature").and_then(kelvin);
    }
    let sensors = health.get("temperature_sensors").and_then(Value::as_array);
    for (slot, sensor) in reading.sensors_k.iter_mut().zip(sensors.into_iter().flatten()) {
        *slot = number(sensor).filter(|celsius| !stands_for_none(celsius + 273.0)).and_then(kelvin);
    }
    let mut counts = CountsAt::new(health);
    reading.counters = Counters {
        tmt1_transitions: counts.count("thermal_mgmt_temperature_1_transition_count"),
        tmt2_transitions: counts.count("thermal_mgmt_temperature_2_transition_count"),
        tmt1_seconds: counts.count("thermal_mgmt_temperature_1_total_time"),
        tmt2_seconds: counts.count("thermal_mgmt_temperature_2_total_time"),
    };
    if reading.counters == Counters::default() {
        reading.untold = Some(UNTOLD);
    }
    reading.moved = counts.data_units();
    let life = &mut reading.life;
    life.power_on_h = life.power_on_h.or_else(|| counts.number("power_on_hours"));
    life.warning_min = counts.number("warning_temp_time");
    life.critical_min = counts.number("critical_comp_time");
    life.used_percent = counts.number("percentage_used");
    life.critical_warning = warning_bits(health);
    life.spare_percent = counts.number("available_spare");
    life.spare_threshold_percent = counts.number("available_spare_threshold");
    life.host_commands = counts.host_commands(["host_reads", "host_writes"]);
    life.media_errors = counts.number("media_errors");
    reading.odd.append(&mut counts.odd);
}

/// What an ATA drive counts in pages that all makers fill alike.
fn device_statistics(object: &Value, reading: &mut HealthReading) {
    let pages =
        || object.pointer("/ata_device_statistics/pages").and_then(Value::as_array).into_iter().flatten();
    let statistic = |page: u64, offset: u64| {
        let page = pages().find(|one| one.get("number").and_then(Value::as_u64) == Some(page))?;
        let mut entries = page.get("table")?.as_array()?.iter();
        let entry = entries.find(|one| one.get("offset").and_then(Value::as_u64) == Some(offset))?;
        let is_valid = entry.pointer("/flags/valid").and_then(Value::as_bool) != Some(false);
        number_at(entry, "value").filter(|value| is_valid && *value >= 0.0)
    };
    let block_bytes = number_at(object, "logical_block_size").unwrap_or(SECTOR_BYTES);
    let bytes = |offset| statistic(1, offset).map(|sectors| sectors * block_bytes);
    // Logical Sectors Read and Written.
    reading.moved = [bytes(40), bytes(24)];
    let life = &mut reading.life;
    life.power_on_h = life.power_on_h.or_else(|| statistic(1, 16));
    // Highest Temperature, Time in Over-Temperature.
    life.hottest_k = life.hottest_k.or_else(|| statistic(5, 32).and_then(kelvin));
    life.warning_min = life.warning_min.or_else(|| statistic(5, 80));
    // Percentage Used Endurance Indicator.
    life.used_percent = life.used_percent.or_else(|| statistic(7, 8));
}

/// What a SCSI drive counts: gigabytes of 10^9 bytes in its error counter log, and its endurance.
fn scsi(object: &Value, reading: &mut HealthReading) {
    let gigabytes = |what: &str| {
        let path = format!("/scsi_error_counter_log/{what}/gigabytes_processed");
        // Drives that do not count say 0, or fill it with ones.
        object.pointer(&path).and_then(number).filter(|gb| (f64::MIN_POSITIVE..MOST_GIGABYTES).contains(gb))
    };
    for (moved, what) in reading.moved.iter_mut().zip(["read", "write"]) {
        *moved = moved.or_else(|| Some(gigabytes(what)? * 1e9));
    }
    let life = &mut reading.life;
    life.used_percent =
        life.used_percent.or_else(|| number_at(object, "scsi_percentage_used_endurance_indicator"));
}

/// What smartctl calls the trip temperature of a SCSI drive: the reference temperature of its log page 0Dh, up to which it
/// may run continuously (SPC-5, Temperature log page). 0 and FFh say that there is none.
fn scsi_reference(degrees: f64) -> Option<f64> {
    kelvin(degrees).filter(|_| (1.0..255.0).contains(&degrees))
}

/// The drive's own history, oldest first; slots without a reading are null.
fn sct_history(history: &Value) -> Vec<(f64, Option<f64>)> {
    let minutes = number_at(history, "logging_interval_minutes").filter(|minutes| *minutes > 0.0);
    let (Some(minutes), Some(table)) = (minutes, history.get("table").and_then(Value::as_array)) else {
        return Vec::new();
    };
    let slot = |(index, value): (usize, &Value)| {
        let ago_s = (table.len() - 1 - index) as f64 * minutes * 60.0;
        (ago_s, number(value).and_then(kelvin))
    };
    let kept: Vec<_> = table.iter().enumerate().map(slot).collect();
    // Slots that were never written come first: they are no gaps.
    kept.into_iter().skip_while(|(_, value)| value.is_none()).collect()
}

/// Kelvins of a temperature in °C. The drive's whole kelvins were turned into whole °C by 273.
fn kelvin(degrees: f64) -> Option<f64> {
    if degrees.fract() != 0.0 {
        return Some(measure::Celsius::from_degrees(degrees).as_kelvin_f64());
    }
    // 0 K became -273 °C: the drive reports nothing.
    Kelvin::from_whole_celsius(degrees.clamp(-300.0, 60_000.0) as i32)
        .map(|kelvin| f64::from(kelvin.as_kelvin()))
        .filter(|kelvin| *kelvin > 0.0)
}
