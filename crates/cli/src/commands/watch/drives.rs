//! One watched drive: its threads, its part of the record, and its return after it was gone.

use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::Duration;

use drive::telemetry::Reading;
use drive::telemetry::discover::SYSFS;
use drive::{Address, AddressKind, Drive, DriveIdentity, WatchIo, WatchSources};
use measure::record::Origin;
use measure::{Clock as _, Instant, MonotonicClock};
use plan::TelemetryPlan;
use watch::{AboutDrive, DriveWatch, WatchEventKind};

use super::parts::{PartFacts, PartWriter, WatchFolder};
use super::sources::{SourceThreads, Wake};
use super::twin::TwinUnderLoad;
use crate::block_devices::{self, Roots};
use crate::door;
use crate::opening::Opening;

/// So many readings that fail in a row, and the drive is gone.
const GONE_READINGS: u32 = 3;
/// Time between two looks for a drive that is gone.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// Without I/O for so long, in seconds, temperatures are read less often: each reading wakes the drive.
const EASE_AFTER_S: f64 = 60.0;
/// Time between them then.
const EASED: Duration = Duration::from_secs(60);

/// A watched drive.
pub(super) struct WatchedDrive {
    periods: TelemetryPlan,
    about: PartFacts,
    disk: Option<String>,
    sources: Option<WatchIo>,
    threads: Option<SourceThreads>,
    twin: Option<TwinUnderLoad>,
    generation: u32,
    failures: u32,
    is_eased: bool,
    gone_since: Option<Instant>,
    look_at: Instant,
    part: Option<PartWriter>,
}

impl WatchedDrive {
    /// Opens a drive by its address.
    ///
    /// # Errors
    /// When it is not there.
    pub(super) fn open(typed: &str, periods: TelemetryPlan) -> anyhow::Result<(Self, DriveWatch)> {
        let (about, disk, io) = sources(typed, &periods)?;
        let twin = matches!(about.origin, Origin::Twin { .. });
        let (sources, twin) = match io {
            WatchIo::Simulated(drive) if twin => {
                (None, Some(TwinUnderLoad::new(drive, about.facts.size_bytes)))
            }
            io => (Some(io), None),
        };
        let watch = DriveWatch::new(about_drive(&about), 0.0);
        let drive = Self {
            periods,
            about,
            disk,
            sources,
            threads: None,
            twin,
            generation: 0,
            failures: 0,
            is_eased: false,
            gone_since: None,
            look_at: Instant::ZERO,
            part: None,
        };
        Ok((drive, watch))
    }

    pub(super) fn notes(&self) -> &[String] {
        &self.about.notes
    }

    pub(super) fn disk(&self) -> Option<String> {
        self.disk.clone()
    }

    pub(super) const fn is_twin(&self) -> bool {
        self.twin.is_some()
    }

    pub(super) const fn generation(&self) -> u32 {
        self.generation
    }

    pub(super) const fn part(&mut self) -> Option<&mut PartWriter> {
        self.part.as_mut()
    }

    /// Starts reading.
    pub(super) fn start(
        &mut self,
        index: usize,
        clock: MonotonicClock,
        to: &Sender<Wake>,
    ) -> std::io::Result<()> {
        if let Some(WatchIo::RealTime(samplers)) = self.sources.take() {
            self.generation += 1;
            self.threads = Some(SourceThreads::start(samplers, index, self.generation, clock, to)?);
        }
        Ok(())
    }

    /// A twin lives until `now`; its readings.
    pub(super) fn simulate(&mut self, now: Instant) -> Vec<Reading> {
        let Some(twin) = &mut self.twin else { return Vec::new() };
        twin.advance(now);
        vec![twin.smart_reading(), twin.block_reading()]
    }

    /// Where a twin's clock stands.
    pub(super) fn simulated_now(&self) -> Option<Instant> {
        self.twin.as_ref().map(TwinUnderLoad::now)
    }

    /// A reading came; counts those of the source that tells whether the drive is there.
    pub(super) fn heard(&mut self, reading: &Reading) {
        let names: Vec<&str> = self.threads.iter().flat_map(SourceThreads::names).collect();
        let telling =
            ["blockstat", "smart", "smartctl", "hwmon"].into_iter().find(|name| names.contains(name));
        if telling == Some(reading.row.source.as_str()) {
            self.failures = if reading.row.gap.is_some() { self.failures.saturating_add(1) } else { 0 };
        }
    }

    /// Reads temperatures less often while nothing is asked of the drive, and as before when something is.
    pub(super) fn ease(&mut self, watch: &DriveWatch, now: Instant) {
        let Some(threads) = &self.threads else { return };
        let idle = watch.idle_s(now.as_secs_f64()).is_some_and(|idle_s| idle_s >= EASE_AFTER_S);
        if idle == self.is_eased || watch.block.is_none() {
            return;
        }
        self.is_eased = idle;
        let TelemetryPlan { smart_period, hwmon_period, .. } = self.periods;
        for (source, period) in [("smart", smart_period), ("smartctl", smart_period), ("hwmon", hwmon_period)]
        {
            threads.set_period(source, if idle { period.max(EASED) } else { period });
        }
    }

    /// Whether it has gone or come back since the last look; what to tell of it.
    pub(super) fn look_for_it(
        &mut self,
        watch: &mut DriveWatch,
        index: usize,
        clock: MonotonicClock,
        to: &Sender<Wake>,
    ) -> Option<(WatchEventKind, String)> {
        let now = clock.now();
        if self.gone_since.is_none() {
            if self.failures < GONE_READINGS {
                return None;
            }
            // Threads end by themselves; what they still send is of an old generation.
            (self.threads, self.failures, self.gone_since) = (None, 0, Some(now));
            self.generation += 1;
            self.look_at = now + LOOK_AGAIN;
            watch.up = false;
            watch.interrupted();
            let why = watch.last_reason().unwrap_or("no reading comes").to_owned();
            return Some((WatchEventKind::Gone, format!("the drive is gone: {why}")));
        }
        if now < self.look_at {
            return None;
        }
        self.look_at = now + LOOK_AGAIN;
        let address = self.present_address()?;
        let (about, disk, io) = sources(&address, &self.periods).ok()?;
        // Another drive in its place is another drive.
        if self.about.facts.serial.is_some() && about.facts.serial != self.about.facts.serial {
            return None;
        }
        (self.about, self.disk, self.sources, self.is_eased) = (about, disk, Some(io), false);
        self.start(index, clock, to).ok()?;
        let away = now.since(self.gone_since.take()?);
        watch.reopened(about_drive(&self.about));
        Some((
            WatchEventKind::Back,
            format!("the drive is back as {address}, after {}", super::faces::span(away)),
        ))
    }

    /// The address at which the drive is now: by its serial number wherever the kernel has put it.
    fn present_address(&self) -> Option<String> {
        let is_device = Address::parse(&self.about.address)
            .is_ok_and(|address| matches!(address.kind(), AddressKind::Device { .. }));
        match &self.about.facts.serial {
            Some(serial) if is_device => {
                let all = block_devices::all(&Roots::system()).ok()?;
                all.into_iter()
                    .find(|device| device.identity.serial.as_ref() == Some(serial))
                    .map(|device| device.address)
            }
            _ => Some(self.about.address.clone()),
        }
    }

    /// Begins its part of the record.
    pub(super) fn begin_part(
        &mut self,
        folder: &mut WatchFolder,
        now: Instant,
        wall_ns: i64,
    ) -> anyhow::Result<()> {
        self.part = Some(folder.begin(&self.about, now, wall_ns)?);
        Ok(())
    }

    /// Flushes it; begins another where it is as long as a part is.
    pub(super) fn turn_part(
        &mut self,
        folder: &mut WatchFolder,
        now: Instant,
        wall_ns: i64,
    ) -> anyhow::Result<()> {
        if let Some(part) = &mut self.part {
            part.flush_if_due(now)?;
        }
        if self.part.as_ref().is_some_and(|part| part.is_due(folder, now)) {
            self.end_part(folder, now, wall_ns)?;
            self.begin_part(folder, now, wall_ns)?;
        }
        Ok(())
    }

    /// Closes it.
    pub(super) fn end_part(
        &mut self,
        folder: &mut WatchFolder,
        now: Instant,
        wall_ns: i64,
    ) -> anyhow::Result<()> {
        self.part.take().map_or(Ok(()), |part| folder.end(part, now, wall_ns))
    }
}

/// Opens the drive at an address for being watched.
fn sources(typed: &str, periods: &TelemetryPlan) -> anyhow::Result<(PartFacts, Option<String>, WatchIo)> {
    let address = Address::parse(typed)?;
    let mut drive = door::open(&address, &Opening::plain())?;
    let WatchSources { facts, origin, settings, io, notes } = drive.watch(periods)?;
    let about = PartFacts {
        address: address.to_string(),
        facts,
        origin,
        settings,
        interval: periods.blockstat_period,
        notes,
        power: periods.power.clone(),
    };
    Ok((about, disk_of(&*drive), io))
}

fn disk_of(drive: &dyn Drive) -> Option<String> {
    drive.disk().filter(|disk| DriveIdentity::read(Path::new(SYSFS), disk).is_some())
}

fn about_drive(about: &PartFacts) -> AboutDrive {
    let bandwidth_scale = match about.origin {
        Origin::VirtualSsd { bandwidth_scale, .. } => bandwidth_scale,
        _ => 1,
    };
    AboutDrive {
        address: about.address.clone(),
        facts: about.facts.clone(),
        settings: about.settings.clone(),
        simulated: about.origin.is_simulated(),
        bandwidth_scale,
    }
}
