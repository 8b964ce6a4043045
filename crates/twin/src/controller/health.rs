//! Health: the SMART log as a host sees it, temperature warnings, and the drive's own diary.
//!
//! Temperatures and power are looked at once a second of drive time; what throttling did in between
//! is taken from the drive's truth, to the tick.

use std::collections::{BTreeMap, VecDeque};

use measure::{Instant, Kelvin};
use nvme::feature::session::AsyncEvent;
use nvme::log::ocp::OcpSmart;
use nvme::log::persistent::{
    ExcursionThreshold, PersistentEvent, PersistentEventKind, PersistentEventLog, PersistentHeader,
    ThermalExcursion,
};
use nvme::smart::{DataUnits, SmartLog};

use super::{Options, Subsystem};
use crate::{health_log, health_log_after};
use physics::truth::{Source, TruthEvent, TruthKind};

/// Events kept, the latest: with their header they fill less than two units of 64 KiB (PELS).
const EVENTS_MAX: usize = 4096;
/// Hosts that read the diary at once.
const CONTEXTS_MAX: usize = 16;
/// Event type of a thermal excursion, the only one recorded here.
const THERMAL_EXCURSION: u8 = 0x0d;

/// What is remembered about heat.
#[derive(Debug)]
pub(super) struct HealthAnswers {
    events: VecDeque<PersistentEvent>,
    generation: u16,
    /// Diaries as they were when a controller asked for them.
    contexts: BTreeMap<u16, Vec<u8>>,
    truth_seen: usize,
    /// Whether the composite temperature was at or above WCTEMP and CCTEMP at the last look.
    warm: bool,
    critical: bool,
    /// Policies that throttle now, with their cause.
    throttling: BTreeMap<String, Source>,
    throttle_starts: u64,
    hottest_k: u16,
    pub(super) power_state_changes: u64,
    pub(super) power: super::power::PowerLog,
}

impl HealthAnswers {
    pub(super) fn new(_options: &Options) -> Self {
        Self {
            events: VecDeque::new(),
            generation: 0,
            contexts: BTreeMap::new(),
            truth_seen: 0,
            warm: false,
            critical: false,
            throttling: BTreeMap::new(),
            throttle_starts: 0,
            hottest_k: 0,
            power_state_changes: 0,
            power: super::power::PowerLog::default(),
        }
    }

    pub(super) fn has_context(&self, controller_id: u16) -> bool {
        self.contexts.contains_key(&controller_id)
    }

    pub(super) fn context(&self, controller_id: u16) -> &[u8] {
        self.contexts.get(&controller_id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn establish(&mut self, controller_id: u16, page: Vec<u8>) {
        // Controllers come and go without letting go; the oldest has the smallest number.
        while self.contexts.len() >= CONTEXTS_MAX {
            self.contexts.pop_first();
        }
        self.contexts.insert(controller_id, page);
    }

    pub(super) fn release(&mut self, controller_id: u16) {
        self.contexts.remove(&controller_id);
    }

    fn note(&mut self, event: PersistentEvent) {
        self.events.truncate(EVENTS_MAX - 1);
        self.events.push_front(event);
        self.generation = self.generation.wrapping_add(1);
    }

    /// How hard the drive throttles, as OCP counts: light, heavy, and the maker's own.
    fn throttle_level(&self) -> u8 {
        let level = |source: &Source| match source {
            Source::HctmTmt1 => 1,
            Source::HctmTmt2 => 2,
            Source::Vendor => 3,
        };
        self.throttling.values().map(level).max().unwrap_or(0)
    }
}

impl Subsystem {
    /// The health log as a host sees it: with what only the controller counts, and with faults.
    pub(super) fn smart_log(&self) -> SmartLog {
        let mut log = health_log_after(&self.drive, &self.options.saved.lifetime);
        let scaled = |units: DataUnits| {
            let bytes = units.bytes_at_most() / u128::from(self.options.scale.bandwidth());
            DataUnits::from_bytes(bytes)
        };
        log.data_units_read = scaled(log.data_units_read);
        log.data_units_written = scaled(log.data_units_written);
        log.power_cycles = self.power_cycles().into();
        log.unsafe_shutdowns = self.unsafe_shutdowns().into();
        log.error_log_entries = self.errors.count().into();
        self.faults.distort(&mut log);
        log
    }

    /// Looks at temperatures and power: notes what changed, tells whoever asked to be told.
    pub(super) fn look(&mut self) {
        self.read_truth();
        self.look_at_limits();
        self.tell_warnings();
        let (at, power) = (self.host_time(), self.drive.power_w());
        if self.health.power.second(power, self.features.timestamp(at)) {
            // Of the subsystem, so every controller tells it.
            for controller in self.hosts.controllers_mut() {
                controller.events.raise(AsyncEvent::POWER_THRESHOLD);
            }
            self.hosts.tell_events();
        }
    }

    /// The host's time at which the drive is.
    fn host_time(&self) -> Instant {
        self.options.scale.to_host(self.drive.now())
    }

    fn read_truth(&mut self) {
        let news: Vec<TruthEvent> = self.drive.truth()[self.health.truth_seen..].to_vec();
        self.health.truth_seen += news.len();
        for event in news {
            match event.kind {
                TruthKind::ThrottleOnset(source) => {
                    self.health.throttling.insert(event.name.clone(), source);
                    self.health.throttle_starts += 1;
                    let (threshold, from_k) = self.threshold_of(source);
                    self.excursion(event.t, threshold, event.temp_k - from_k);
                }
                TruthKind::ThrottleRelease(_) => {
                    self.health.throttling.remove(&event.name);
                    if self.health.throttling.is_empty() {
                        self.excursion(event.t, ExcursionThreshold::ManagementStopped, 0.0);
                    }
                }
                _ => {}
            }
        }
    }

    /// What a cause of throttling is called, and where it sets in, in kelvins.
    fn threshold_of(&self, source: Source) -> (ExcursionThreshold, f64) {
        let tmt = self.drive.tmt();
        match source {
            Source::HctmTmt1 => (ExcursionThreshold::Tmt1, tmt.tmt1_raw().into()),
            Source::HctmTmt2 => (ExcursionThreshold::Tmt2, tmt.tmt2_raw().into()),
            // The maker's own thresholds are not told to hosts.
            Source::Vendor => (ExcursionThreshold::Vendor, f64::INFINITY),
        }
    }

    fn look_at_limits(&mut self) {
        let limits = &self.options.profile.limits;
        let (warning_k, critical_k) = (limits.wctemp_k, limits.cctemp_k);
        let composite_k = self.drive.composite().as_kelvin();
        self.health.hottest_k = self.health.hottest_k.max(composite_k);
        let (warm, critical) = (composite_k >= warning_k, composite_k >= critical_k);
        let now = self.drive.now();
        let over = |limit_k: u16| f64::from(composite_k) - f64::from(limit_k);
        if warm && !self.health.warm {
            self.excursion(now, ExcursionThreshold::Warning, over(warning_k));
        }
        if critical && !self.health.critical {
            self.excursion(now, ExcursionThreshold::Critical, over(critical_k));
        }
        if !warm && self.health.warm {
            self.excursion(now, ExcursionThreshold::BackToNormal, 0.0);
        }
        (self.health.warm, self.health.critical) = (warm, critical);
    }

    /// Notes a thermal excursion at an instant of the drive's time.
    fn excursion(&mut self, at: Instant, threshold: ExcursionThreshold, over_k: f64) {
        let at = self.features.timestamp(self.options.scale.to_host(at));
        // A float-to-integer cast saturates: what lies below becomes 0.
        let over_k = over_k as u8;
        let kind = PersistentEventKind::Thermal(ThermalExcursion { over_k, threshold });
        // FFFFh: seen by the subsystem, not by one controller.
        self.health.note(PersistentEvent { at, controller_id: u16::MAX, kind });
    }

    /// Tells hosts of critical warnings that they asked to be told of (feature 0Bh).
    pub(super) fn tell_warnings(&mut self) {
        let warnings = health_log(&self.drive).critical_warning.bits();
        for controller in self.hosts.controllers_mut() {
            let events = &mut controller.events;
            let wanted = events.config as u8;
            events.told_warnings &= warnings;
            let news = warnings & wanted & !events.told_warnings;
            if news != 0 {
                events.told_warnings |= news;
                // A simulated drive warns of temperatures alone.
                events.raise(AsyncEvent::TEMPERATURE);
            }
        }
        self.hosts.tell_events();
    }

    /// The diary, newest first.
    pub(super) fn persistent_event_log(&self) -> PersistentEventLog {
        let smart = health_log_after(&self.drive, &self.options.saved.lifetime);
        let identity = &self.options.profile.identity;
        let mut supported = [0; 32];
        supported[usize::from(THERMAL_EXCURSION / 8)] = 1 << (THERMAL_EXCURSION % 8);
        PersistentEventLog {
            header: PersistentHeader {
                event_count: self.health.events.len() as u32,
                // Encoding counts events and bytes itself.
                len_bytes: 0,
                at: self.features.timestamp(self.now()),
                power_on_hours: smart.power_on_hours,
                power_cycles: self.power_cycles(),
                serial: identity.serial.clone(),
                model: identity.model.clone(),
                generation: self.health.generation,
                supported,
            },
            events: self.health.events.iter().cloned().collect(),
        }
    }

    /// OCP's extension of the health log (C0h).
    pub(super) fn ocp_log(&self) -> OcpSmart {
        let smart = self.smart_log();
        let hottest = Kelvin::from_kelvin(self.health.hottest_k).as_whole_celsius();
        OcpSmart {
            media_bytes_written: smart.data_units_written.bytes_at_most(),
            media_bytes_read: smart.data_units_read.bytes_at_most(),
            throttle_events: u8::try_from(self.health.throttle_starts).unwrap_or(u8::MAX),
            throttle_level: self.health.throttle_level(),
            free_blocks_percent: 100,
            capacitor_health_percent: 100,
            incomplete_shutdowns: 0,
            unaligned_ios: 0,
            power_state_changes: self.health.power_state_changes,
            max_temperature_raw: u8::try_from(hottest).ok().filter(|degrees| *degrees > 0),
            max_peak_power_raw: None,
            current_max_average_power_raw: None,
            // OCP 2.0, 4.8.6: version 2 of the page; the temperature is of later ones.
            page_version: 3,
        }
    }
}
