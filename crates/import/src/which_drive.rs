//! Which drive readings are of: by the serial number, or where that is not told, by the device.

use std::collections::BTreeSet;

use super::ImportError;
use super::device::controller;
use super::reading::HealthReading;

/// Refuses readings of two drives: of two serial numbers, or, among those that tell none, of two devices. Where `wanted` names
/// one of several, the others are left out.
pub(super) fn one_drive(readings: &mut Vec<HealthReading>, wanted: Option<&str>) -> Result<(), ImportError> {
    let Err(refusal) = is_one_drive(readings) else { return Ok(()) };
    let Some(wanted) = wanted else { return Err(refusal) };
    if !readings.iter().any(|reading| reading.is_of(wanted)) {
        let names: BTreeSet<&str> = readings.iter().filter_map(HealthReading::drive_name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let why = format!("it has nothing of {wanted}; there are {}", names.join(", "));
        return Err(ImportError::whole(&refusal.file, why));
    }
    readings.retain(|reading| reading.is_of(wanted) || reading.drive_name().is_none());
    is_one_drive(readings)
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
    Ok(())
}

impl HealthReading {
    /// What tells its drive from others: the serial number, else the device.
    fn drive_name(&self) -> Option<&str> {
        self.serial.as_deref().or(self.device.as_deref())
    }

    /// Whether a name that a user gives is of its drive.
    fn is_of(&self, wanted: &str) -> bool {
        let is =
            |name: &Option<String>| name.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
        is(&self.serial) || is(&self.model) || self.device.as_deref() == Some(&controller(wanted))
    }
}
