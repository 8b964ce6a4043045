//! Which drive readings are of: by the serial number, or where that is not told, by the device and the model.
//!
//! A device keeps its name where the drive at it is swapped: what was read of both would be of one drive.

use std::collections::{BTreeMap, BTreeSet};

use chrono::DateTime;

use super::ImportError;
use super::device::{controller, nothing_of};
use super::reading::HealthReading;

/// The serial numbers that a log names at each device, with the first and the last time in seconds since 1970.
#[derive(Debug, Default)]
pub(super) struct SerialNumbers(BTreeMap<String, BTreeMap<String, (f64, f64)>>);

impl SerialNumbers {
    /// Takes what stands beside a reading; an empty serial number is none.
    pub(super) fn add(&mut self, device: &str, serial: &str, t_s: f64) {
        if serial.is_empty() {
            return;
        }
        let at_device = self.0.entry(controller(device)).or_default();
        let (first_s, last_s) = at_device.entry(serial.to_owned()).or_insert((t_s, t_s));
        (*first_s, *last_s) = (first_s.min(t_s), last_s.max(t_s));
    }

    /// # Errors
    /// Where the drive at that device was swapped; the text names both and says what to do.
    pub(super) fn one_at(&self, device: &str) -> Result<(), String> {
        let device = controller(device);
        let Some(serials) = self.0.get(&device).filter(|serials| serials.len() > 1) else { return Ok(()) };
        let time = |t_s: f64| {
            DateTime::from_timestamp(t_s.floor() as i64, 0)
                .map_or_else(String::new, |time| time.format("%F %T UTC").to_string())
        };
        let list: Vec<String> = serials
            .iter()
            .map(|(serial, (first_s, last_s))| {
                format!("{serial} from {} to {}", time(*first_s), time(*last_s))
            })
            .collect();
        Err(format!(
            "{device} is {} drives in it, by their serial numbers ({}): the drive was swapped. Cut the log between them and analyze one drive at a time",
            serials.len(),
            list.join(", ")
        ))
    }
}

/// Refuses readings of two drives: of two serial numbers, or, among those that tell none, of two devices. Where `wanted` names
/// one of several, the others are left out.
pub(super) fn one_drive(readings: &mut Vec<HealthReading>, wanted: Option<&str>) -> Result<(), ImportError> {
    for reading in readings.iter_mut() {
        reading.serial = reading.serial.take().filter(|serial| !is_masked(serial));
    }
    let Err(refusal) = is_one_drive(readings) else { return Ok(()) };
    let Some(wanted) = wanted else { return Err(refusal) };
    if !readings.iter().any(|reading| reading.is_of(wanted)) {
        let names: BTreeSet<&str> = readings.iter().filter_map(HealthReading::drive_name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let why = nothing_of(wanted, &names.join(", "));
        return Err(ImportError::whole(&refusal.file, why));
    }
    readings.retain(|reading| reading.is_of(wanted) || reading.drive_name().is_none());
    is_one_drive(readings)
}

/// Whether a serial number was made unreadable, as people do before they show it: it tells no drive from another.
fn is_masked(serial: &str) -> bool {
    const MARKS: [&str; 4] = ["***", "xxxx", "###", "..."];
    const WORDS: [&str; 6] = ["redact", "remove", "hidden", "anonym", "censor", "omitted"];
    let lower = serial.trim().to_lowercase();
    let word = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut characters = lower.chars();
    let first = characters.next();
    MARKS.iter().any(|marks| lower.contains(marks))
        || WORDS.iter().any(|begin| word.starts_with(begin))
        || lower.len() > 1 && characters.all(|c| Some(c) == first)
}

fn is_one_drive(readings: &[HealthReading]) -> Result<(), ImportError> {
    type Name = fn(&HealthReading) -> Option<&str>;
    let names: [(&str, Name); 2] = [
        ("with serial number", |reading| reading.serial.as_deref()),
        ("at", |reading| reading.device.as_deref().filter(|_| reading.serial.is_none())),
    ];
    for (what, name) in names {
        let mut told = readings.iter().filter_map(|reading| Some((reading, name(reading)?)));
        let Some((first, known)) = told.next() else { continue };
        if let Some((reading, other)) = told.find(|(_, other)| *other != known) {
            let place = if first.file == reading.file { "another" } else { first.file.as_str() };
            let why = format!(
                "it is of the drive {what} {other}, {place} of that {what} {known}: analyze one drive at a time, with --device {known}"
            );
            return Err(ImportError::whole(&reading.file, why));
        }
    }
    is_at_a_known_device(readings)?;
    is_one_model(readings)
}

/// Refuses readings of two models, where not both tell a serial number: bridges and tools call one drive by several names.
fn is_one_model(readings: &[HealthReading]) -> Result<(), ImportError> {
    let plain = |reading: &HealthReading| {
        let model = reading.model.as_deref().unwrap_or_default().to_lowercase();
        model.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut told = readings.iter().filter(|reading| !plain(reading).is_empty());
    let Some(first) = told.next() else { return Ok(()) };
    let name = plain(first);
    // Some name the maker before it, or cut it short.
    let is_other = |reading: &&HealthReading| {
        let other = plain(reading);
        !(first.serial.is_some() && reading.serial.is_some()
            || other.contains(&name)
            || name.contains(&other))
    };
    match told.find(is_other) {
        None => Ok(()),
        Some(reading) => {
            let [known, other] =
                [first, reading].map(|reading| reading.model.as_deref().unwrap_or_default().trim());
            let place = if first.file == reading.file { "another" } else { first.file.as_str() };
            let why = format!(
                "it is of a drive of model {other}, {place} of one of model {known}, and not both tell a serial number: analyze one drive at a time, with --device {known:?}"
            );
            Err(ImportError::whole(&reading.file, why))
        }
    }
}

/// Refuses readings without a serial number that are of another device than all those with one.
fn is_at_a_known_device(readings: &[HealthReading]) -> Result<(), ImportError> {
    let with_serial = || readings.iter().filter(|reading| reading.serial.is_some());
    let known: BTreeSet<&str> = with_serial().filter_map(|reading| reading.device.as_deref()).collect();
    let Some(serial) = with_serial().find_map(|reading| reading.serial.as_deref()) else { return Ok(()) };
    let is_other = |reading: &&HealthReading| {
        reading.serial.is_none() && reading.device.as_deref().is_some_and(|device| !known.contains(device))
    };
    match readings.iter().filter(|_| !known.is_empty()).find(is_other) {
        Some(other) => {
            let device = other.device.as_deref().unwrap_or_default();
            let known: Vec<&str> = known.into_iter().collect();
            let why = format!(
                "it is of the drive at {device}, and other readings are of that with serial number {serial} at {}: analyze one drive at a time, with --device {serial}",
                known.join(", ")
            );
            Err(ImportError::whole(&other.file, why))
        }
        None => Ok(()),
    }
}

impl HealthReading {
    /// What tells its drive from others: the serial number, else the device, else the model.
    fn drive_name(&self) -> Option<&str> {
        self.serial.as_deref().or(self.device.as_deref()).or(self.model.as_deref())
    }

    /// Whether a name that a user gives is of its drive.
    fn is_of(&self, wanted: &str) -> bool {
        let is =
            |name: &Option<String>| name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
        is(&self.serial) || is(&self.model) || self.device.as_deref() == Some(&controller(wanted))
    }
}
