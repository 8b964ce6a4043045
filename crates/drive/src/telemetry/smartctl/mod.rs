//! Drives that only smartctl can ask: SATA without hwmon, and NVMe or SATA behind a USB bridge.
//!
//! - [`Smartctl`]: one drive, asked the way that it has been found to answer.
//! - [`Report`]: what it said; with [`SctHistory`], the drive's own record of its temperature.
//! - [`SmartctlSampler`]: its temperature as a source of readings.
//!
//! smartctl knows some 250 bridges (its `drivedb.h`) and picks one way by itself. Where it finds none, or the one it
//! picks gets nothing (one bridge chip carries NVMe and SATA drives under the same USB numbers: smartmontools issue
//! 580), the ways are tried in turn (`memory`); the first whose answer names a drive and has a plausible temperature
//! is kept. A way that did not answer in time is not tried again: it may cost the bridge a reset, and 40 s each time. Both are
//! kept on this machine for the bridge (`kept`).
//!
//! # What it does not do
//! It changes nothing on a drive: the options are `-i`, `-A`, `-c` and `-l scttemphist`, never `-x`, `-s`, `-o`, `-S` or
//! `-T permissive`, which takes garbage for data. It cannot tell a temperature that a bridge makes up from a true one: that shows in
//! the record, as a temperature that does not move under load.

mod decode;
mod kept;
mod memory;
mod run;

pub use decode::{BridgedCounters, Report, SctHistory};
pub use kept::kept_bridges_come_back;

use std::path::Path;
use std::time::Duration;

use measure::Instant;

use super::{Reading, Sampler};
use crate::DriveIdentity;
use crate::usb::UsbBridge;
use kept::BridgeStore;
use memory::BridgeMemory;
use run::NoAnswer;

/// Its name in the record.
const SOURCE: &str = "smartctl";

/// A smartctl starts a process and sends several commands: more often than this it is the load.
const PERIOD_MIN: Duration = Duration::from_secs(2);

/// Runs smartctl with these arguments.
type Run = Box<dyn FnMut(&[&str]) -> Result<String, NoAnswer> + Send>;

/// One drive.
pub struct Smartctl {
    device: String,
    run: Run,
    /// The way that worked.
    device_type: Option<&'static str>,
    /// Ways to ask, in the order in which they are tried.
    order: Vec<&'static str>,
    /// What worked and what hung, for the bridge and for the drive.
    memory: BridgeMemory,
    /// What was found out on the way, for the record.
    remarks: Vec<String>,
    /// Whether it has named itself: then it is not asked for that again.
    named: bool,
}

/// Whether smartctl is there to be asked.
pub fn is_installed() -> bool {
    run::program().is_ok()
}

/// What smartctl tells about a drive, once: who it is, its temperature, and its own record of that; and what was found out
/// about the bridge on the way.
///
/// Not everything (`-x`): some bridges reset their port over it (smartmontools issues 256 and 490), and a drive that
/// fails a part of it is taken for one that tells nothing.
///
/// # Errors
/// A sentence: smartctl is missing or refuses, or the drive does not answer.
pub fn read(device: &str, sysfs: &Path) -> Result<(Report, Vec<String>), String> {
    let mut smartctl = Smartctl::new(device, sysfs)?;
    let asked = smartctl.ask(&["-A"]);
    let mut report = asked.map_err(|why| [&[why], smartctl.remarks()].concat().join("; "))?;
    if report.protocol.as_deref() == Some("ATA") {
        report.history = smartctl.ask(&["-l", "scttemphist"]).ok().and_then(|more| more.history);
    }
    Ok((report, smartctl.remarks))
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
        let bridge = UsbBridge::of_disk(sysfs, name);
        let mut keys = vec![format!("drive {name} {who}")];
        keys.extend(bridge.as_ref().map(UsbBridge::key));
        let store = bridge.as_ref().and_then(|bridge| BridgeStore::of_machine(&bridge.id_and_version()));
        let memory = BridgeMemory::new(keys, store);
        Ok(Self::with(device, memory::order(bridge.as_ref()), memory, run))
    }

    fn with(device: &str, order: Vec<&'static str>, mut memory: BridgeMemory, run: Run) -> Self {
        let remarks = memory.take_remark().into_iter().collect();
        Self { device: device.to_owned(), run, device_type: None, order, memory, remarks, named: false }
    }

    /// What was found out about the bridge on the way: ways that hang, and those that need a hand.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// The way that it was found to answer.
    pub const fn device_type(&self) -> Option<&'static str> {
        self.device_type
    }

    /// Asks with these options, and until it has named itself with `-i`.
    ///
    /// # Errors
    /// A sentence: no way got an answer that names a drive, and what smartctl said to the last.
    pub fn ask(&mut self, options: &[&str]) -> Result<Report, String> {
        if let Some(device_type) = self.device_type {
            return self.ask_known(device_type, options);
        }
        let mut without_temperature: Option<(&'static str, Report)> = None;
        let mut others = Vec::new();
        let mut late = None;
        for device_type in self.memory.ordered(&self.order) {
            let report = match self.ask_as(device_type, options) {
                Ok(report) => report,
                Err(NoAnswer::TooLate(why)) => {
                    self.hangs(device_type);
                    late = Some(why);
                    continue;
                }
                Err(NoAnswer::Failed(why)) => return Err(why),
            };
            if !report.is_somebody() {
                others.push(report);
            } else if report.temperature.is_some() {
                self.keep(device_type);
                return Ok(report);
            } else {
                without_temperature.get_or_insert((device_type, report));
            }
        }
        match (without_temperature, late) {
            (Some((device_type, report)), _) => {
                self.keep(device_type);
                Ok(report)
            }
            (None, Some(why)) if others.is_empty() => Err(why),
            (None, _) => Err(self.refused(&others)),
        }
    }

    /// Asks in the way that works.
    fn ask_known(&mut self, device_type: &'static str, options: &[&str]) -> Result<Report, String> {
        match self.ask_as(device_type, options) {
            Ok(report) if report.is_somebody() || self.named && !report.failed => Ok(report),
            Ok(report) => Err(self.refused(&[report])),
            Err(NoAnswer::TooLate(why)) => {
                // The bridge is not asked in this way again; the next reading tries the others.
                self.hangs(device_type);
                (self.device_type, self.named) = (None, false);
                Err(why)
            }
            Err(NoAnswer::Failed(why)) => Err(why),
        }
    }

    fn ask_as(&mut self, device_type: &str, options: &[&str]) -> Result<Report, NoAnswer> {
        let mut arguments = vec!["--json=c"];
        // Each Identify is a command, and behind some bridges three: once is enough.
        arguments.extend((!self.named).then_some("-i"));
        arguments.extend(["-d", device_type]);
        arguments.extend(options);
        arguments.push(&self.device);
        Report::decode(&(self.run)(&arguments)?).map_err(NoAnswer::Failed)
    }

    fn keep(&mut self, device_type: &'static str) {
        self.device_type = Some(device_type);
        self.named = true;
        self.memory.works(device_type);
    }

    fn hangs(&mut self, device_type: &'static str) {
        self.memory.hangs(device_type);
        self.remarks.push(format!(
            "{} did not answer to smartctl -d {device_type} in time; this bridge is not asked so again",
            self.device
        ));
    }

    fn refused(&mut self, reports: &[Report]) -> String {
        let said = reports.iter().flat_map(|report| &report.messages).next();
        if said.is_some_and(|said| said.contains("permissive")) {
            self.remarks.push(format!(
                "smartctl offers -T permissive for {}: by hand, because with it a broken answer passes for data",
                self.device
            ));
        }
        let said = said.map_or(String::new(), |said| format!(": {said}"));
        format!("smartctl gets no answer from {}{said}", self.device)
    }
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
                let counters = report.counters.unwrap_or_default();
                reading.row.tmt1_transitions = counters.tmt1_transitions;
                reading.row.tmt2_transitions = counters.tmt2_transitions;
                reading.row.tmt1_seconds = counters.tmt1_seconds;
                reading.row.tmt2_seconds = counters.tmt2_seconds;
                reading
            }
            Err(why) => Reading::failed(now, SOURCE, why),
        }
    }
}

#[cfg(test)]
mod recorded_test;
#[cfg(test)]
mod test;
