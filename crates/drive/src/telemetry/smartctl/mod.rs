//! Drives that only smartctl can ask: SATA without hwmon, and NVMe or SATA behind a USB bridge.
//!
//! - [`Smartctl`]: one drive, asked the way that it has been found to answer.
//! - [`Report`]: what it said; with [`SctHistory`], the drive's own record of its temperature.
//! - [`SmartctlSampler`]: its temperature as a source of readings.
//!
//! smartctl knows some 250 bridges (its `drivedb.h`) and picks one way by itself. Where it finds none, or the one it
//! picks gets nothing (one bridge chip carries NVMe and SATA drives under the same USB numbers: smartmontools issue
//! 580), the ways are tried in turn; the first whose answer names a drive and has a plausible temperature is kept.
//!
//! # What it does not do
//! It changes nothing on a drive. It cannot tell a temperature that a bridge makes up from a true one: that shows in
//! the record, as a temperature that does not move under load.

mod decode;
mod run;

pub use decode::{Report, SctHistory};

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use measure::Instant;

use super::{Reading, Sampler};
use crate::DriveIdentity;
use crate::sysfs::text;

/// Its name in the record.
const SOURCE: &str = "smartctl";

/// Ways to ask, in the order in which they are tried; `auto` lets smartctl choose. The three `snt` types are those of
/// NVMe drives behind USB bridges (smartctl(8), `-d`).
const TYPES: [&str; 6] = ["auto", "sat", "sntasmedia", "sntrealtek", "sntjmicron", "scsi"];

/// A smartctl starts a process and sends several commands: more often than this it is the load.
const PERIOD_MIN: Duration = Duration::from_secs(2);

/// The way that worked, by USB bridge and by drive, for this process's life.
static KNOWN: Mutex<BTreeMap<String, &'static str>> = Mutex::new(BTreeMap::new());

/// Runs smartctl with these arguments.
type Run = Box<dyn FnMut(&[&str]) -> Result<String, String> + Send>;

/// One drive.
pub struct Smartctl {
    device: String,
    run: Run,
    /// The way that worked.
    device_type: Option<&'static str>,
    /// What to remember the way under: the bridge, the drive.
    keys: Vec<String>,
}

/// Whether smartctl is there to be asked.
pub fn is_installed() -> bool {
    run::program().is_ok()
}

/// What smartctl tells about a drive, once: who it is, its temperature, and its own record of that.
///
/// Not everything (`-x`): some bridges reset their port over it (smartmontools issues 256 and 490), and a drive that
/// fails a part of it is taken for one that tells nothing.
///
/// # Errors
/// A sentence: smartctl is missing or refuses, or the drive does not answer.
pub fn read(device: &str, sysfs: &Path) -> Result<Report, String> {
    let mut smartctl = Smartctl::new(device, sysfs)?;
    let mut report = smartctl.ask(&["-A"])?;
    if report.protocol.as_deref() == Some("ATA") {
        report.history = smartctl.ask(&["-l", "scttemphist"]).ok().and_then(|more| more.history);
    }
    Ok(report)
}

impl Smartctl {
    /// The drive at `device`, such as `/dev/sda`.
    ///
    /// # Errors
    /// A sentence: smartctl is missing.
    pub fn new(device: &str, sysfs: &Path) -> Result<Self, String> {
        let program = run::program()?;
        let run: Run = Box::new(move |arguments| run::output(&program, arguments));
        let name = device.rsplit('/').next().unwrap_or(device);
        // Another drive may come to the same name.
        let who = DriveIdentity::read(sysfs, name).map(|drive| drive.to_string()).unwrap_or_default();
        let mut keys = vec![format!("drive {name} {who}")];
        keys.extend(usb_bridge(sysfs, name));
        Ok(Self::with(device, keys, run))
    }

    fn with(device: &str, keys: Vec<String>, run: Run) -> Self {
        Self { device: device.to_owned(), run, device_type: None, keys }
    }

    /// The way that it was found to answer.
    pub const fn device_type(&self) -> Option<&'static str> {
        self.device_type
    }

    /// Asks with these options besides `-i`.
    ///
    /// # Errors
    /// A sentence: no way got an answer that names a drive, and what smartctl said to the last.
    pub fn ask(&mut self, options: &[&str]) -> Result<Report, String> {
        if let Some(device_type) = self.device_type {
            let report = self.ask_as(device_type, options)?;
            return if report.is_somebody() { Ok(report) } else { Err(self.refused(&[report])) };
        }
        let mut without_temperature: Option<(&'static str, Report)> = None;
        let mut others = Vec::new();
        for device_type in self.order() {
            let report = self.ask_as(device_type, options)?;
            if !report.is_somebody() {
                others.push(report);
            } else if report.temperature.is_some() {
                self.keep(device_type);
                return Ok(report);
            } else {
                without_temperature.get_or_insert((device_type, report));
            }
        }
        match without_temperature {
            Some((device_type, report)) => {
                self.keep(device_type);
                Ok(report)
            }
            None => Err(self.refused(&others)),
        }
    }

    fn ask_as(&mut self, device_type: &str, options: &[&str]) -> Result<Report, String> {
        let mut arguments = vec!["--json=c", "-i", "-d", device_type];
        arguments.extend(options);
        arguments.push(&self.device);
        Report::decode(&(self.run)(&arguments)?)
    }

    /// What worked before comes first.
    fn order(&self) -> Vec<&'static str> {
        let known = KNOWN.lock().ok();
        let first = known.and_then(|known| self.keys.iter().find_map(|key| known.get(key).copied()));
        first.into_iter().chain(TYPES.into_iter().filter(|one| Some(*one) != first)).collect()
    }

    fn keep(&mut self, device_type: &'static str) {
        self.device_type = Some(device_type);
        if let Ok(mut known) = KNOWN.lock() {
            known.extend(self.keys.iter().map(|key| (key.clone(), device_type)));
        }
    }

    fn refused(&self, reports: &[Report]) -> String {
        let said = reports.iter().flat_map(|report| &report.messages).next();
        let said = said.map_or(String::new(), |said| format!(": {said}"));
        format!("smartctl gets no answer from {}{said}", self.device)
    }
}

/// Numbers of the USB bridge that a disk is behind, as smartmontools writes them.
fn usb_bridge(sysfs: &Path, name: &str) -> Option<String> {
    let place = std::fs::canonicalize(sysfs.join("class/block").join(name)).ok()?;
    let usb = place.ancestors().find(|folder| folder.join("idVendor").is_file())?;
    let number = |file: &str| text(&usb.join(file));
    let version = number("bcdDevice").unwrap_or_default();
    Some(format!("bridge {}:{} {version}", number("idVendor")?, number("idProduct")?))
}

/// Reads the temperature of a drive by smartctl once a period.
pub struct SmartctlSampler {
    smartctl: Smartctl,
    period: Duration,
}

impl SmartctlSampler {
    /// A sampler of `smartctl`, as often as `period`, but not more often than every 2 s.
    pub fn new(smartctl: Smartctl, period: Duration) -> Self {
        Self { smartctl, period: period.max(PERIOD_MIN) }
    }
}

impl Sampler for SmartctlSampler {
    fn source(&self) -> &str {
        SOURCE
    }

    fn period(&self) -> Duration {
        self.period
    }

    fn sample(&mut self, now: Instant) -> Reading {
        match self.smartctl.ask(&["-A"]) {
            Ok(report) if report.temperature.is_none() => {
                Reading::failed(now, SOURCE, report.no_temperature())
            }
            Ok(report) => {
                let mut reading = Reading::empty(now, SOURCE);
                reading.row.composite = report.temperature;
                for (place, sensor) in reading.row.sensors.iter_mut().zip(report.sensors) {
                    *place = sensor;
                }
                reading
            }
            Err(why) => Reading::failed(now, SOURCE, why),
        }
    }
}

#[cfg(test)]
mod test;
