//! The disk at or under a file or device: who it is and its sources of readings.

use std::path::Path;

use measure::Bytes;
use measure::record::ThermalSettings;
use nvme::host::Controller;
use nvme::log::LogId;
use nvme::smart::SMART_LOG_LEN;
use plan::TelemetryPlan;

use super::facts::{VirtualSsd, identify};
use super::unknown_drive;
use crate::drive::{WatchIo, WatchSources};
use crate::telemetry::discover::{self, Place, SYSFS};
use crate::telemetry::pressure::PressureSampler;
use crate::telemetry::smart::SmartSampler;
use crate::telemetry::smartctl::{Report, Smartctl, SmartctlSampler};
use crate::telemetry::{self, Sampler};
use crate::{DriveIdentity, sysfs};

/// The way to a SMART log, or why there is none.
pub(super) type SmartLogAccess = Result<Controller<'static>, String>;

/// The name of the disk at or under `place`.
pub(super) fn name(place: Place<'_>) -> Option<String> {
    discover::disk(place, Path::new(SYSFS)).ok()
}

/// All sources of readings at `place`, to be read as `plan` says, and what there is not, and why.
pub(super) fn sources(
    place: Place<'_>,
    controller: Option<SmartLogAccess>,
    plan: &TelemetryPlan,
) -> (Vec<Box<dyn Sampler>>, Vec<String>) {
    let mut found = telemetry::discover(place, Path::new(SYSFS), plan);
    let mut notes = std::mem::take(&mut found.notes);
    let mut samplers = Vec::new();
    match controller {
        Some(Ok(controller)) => samplers.push(smart_sampler(plan, controller)),
        Some(Err(why)) if found.disk.is_some() => {
            notes.push(format!("no SMART log: {why}"));
            samplers.extend(smartctl_sampler(&found, plan, &mut notes));
        }
        // Without a disk, its absence is noted already.
        _ => {}
    }
    samplers.extend(found.samplers);
    (samplers, notes)
}

/// The disk at or under `place` as it is watched: by its SMART log, or by hwmon where that may not be read, never both,
/// because the kernel asks the drive anew for each reading of hwmon.
pub(super) fn watch(place: Place<'_>, settings: ThermalSettings, periods: &TelemetryPlan) -> WatchSources {
    let (mut facts, mut virtual_ssd) = (unknown_drive("other", Bytes::ZERO, 512), None);
    let smart_log = identify(&mut facts, &mut virtual_ssd, place);
    let disk = name(place);
    if let Some(identity) = disk.as_deref().and_then(|disk| DriveIdentity::read(Path::new(SYSFS), disk)) {
        (facts.kind, facts.size_bytes) = (identity.kind.name().to_owned(), identity.size_bytes);
    }
    let has_smart_log = smart_log.is_ok();
    let (mut samplers, mut notes) = sources(place, Some(smart_log), periods);
    samplers.retain(|sampler| !(has_smart_log && sampler.source() == "hwmon"));
    samplers
        .extend(PressureSampler::find(periods.blockstat_period).map(|it| Box::new(it) as Box<dyn Sampler>));
    notes.extend(disk.as_deref().and_then(not_counted));
    WatchSources {
        facts,
        origin: VirtualSsd::origin(virtual_ssd),
        settings,
        io: WatchIo::RealTime(samplers),
        notes,
    }
}

/// Where the kernel does not count a disk's I/O.
fn not_counted(disk: &str) -> Option<String> {
    let path = Path::new(SYSFS).join("class/block").join(disk).join("queue/iostats");
    let off = sysfs::text(&path).is_some_and(|text| text == "0");
    off.then(|| format!("the kernel does not count the I/O of {disk}: {} is 0", path.display()))
}

/// The SMART log of `controller` as a source of readings.
pub(super) fn smart_sampler(plan: &TelemetryPlan, mut controller: Controller<'static>) -> Box<dyn Sampler> {
    Box::new(SmartSampler::new(plan.smart_period, move || {
        let mut page = [0; SMART_LOG_LEN];
        controller.log_page(LogId::SMART, &mut page).map(|()| page).map_err(|error| error.to_string())
    }))
}

/// Where the kernel reads no temperature of a SATA or USB drive, smartctl may; the record says by which way.
fn smartctl_sampler(
    found: &discover::FoundSources,
    plan: &TelemetryPlan,
    notes: &mut Vec<String>,
) -> Option<Box<dyn Sampler>> {
    let disk = found.disk.as_deref().filter(|disk| disk.starts_with("sd"))?;
    if found.samplers.iter().any(|sampler| sampler.source() == "hwmon") {
        return None;
    }
    let asked = Smartctl::new(&format!("/dev/{disk}"), Path::new(SYSFS)).and_then(|mut smartctl| {
        let asked = smartctl.ask(&["-A"]);
        notes.extend(smartctl.remarks().iter().cloned());
        asked.map(|report| (smartctl, report))
    });
    match asked {
        Ok((smartctl, report)) if report.temperature.is_some() => {
            let device_type = smartctl.device_type().unwrap_or("auto");
            notes.push(format!("the temperature of {disk} is read by smartctl -d {device_type}"));
            notes.extend(behind_bridge(disk, &report));
            Some(Box::new(SmartctlSampler::new(smartctl, plan.smart_period)))
        }
        Ok((_, report)) => {
            notes.push(format!("{disk}: {}", report.no_temperature()));
            notes.extend(behind_bridge(disk, &report));
            None
        }
        Err(why) => {
            notes.push(why);
            None
        }
    }
}

/// Which drive is in a USB enclosure, where smartctl knows it and the kernel knows the enclosure.
fn behind_bridge(disk: &str, report: &Report) -> Option<String> {
    let identity = DriveIdentity::read(Path::new(SYSFS), disk)?;
    let (model, serial) = (report.model.as_ref()?, report.serial.as_ref()?);
    (identity.serial.as_ref() != Some(serial))
        .then(|| format!("smartctl names the drive behind {disk}: {model}, serial number {serial}"))
}
