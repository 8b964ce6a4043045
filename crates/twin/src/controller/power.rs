//! Power: states and what limits them (02h, 23h), the threshold (24h), measurement (25h, log 25h).
//!
//! 23h to 25h are of NVMe 2.3 and there only where the profile says so (`limits.power_control`). A
//! limit takes the states above it away and numbers the rest anew. A threshold that is crossed raises
//! one event and disarms itself. The power in that event's second dword is left out: we have no
//! document with its layout.

use nvme::Status;
use nvme::feature::power::{PowerLimit, PowerMeasurement, PowerThreshold};
use nvme::feature::session::Timestamp;
use nvme::feature::{DwordFeature, FeatureId};
use nvme::log::power_measurement::{BIN_SIZE_MW, PowerBin, PowerMeasurementLog};
use nvme::power::ScaledPower;

use measure::Watts;

use super::Subsystem;
use super::command::Failure;

/// Bins of the histogram: up to 16 W in steps of 250 mW, twice what an M.2 drive draws.
const BINS: usize = 64;

/// Power, second by second, since collecting was started.
#[derive(Debug)]
pub(super) struct PowerLog {
    enabled: bool,
    generation: u8,
    count: u32,
    sum_w: f64,
    max_w: f64,
    max_at: Timestamp,
    stopped_at: Timestamp,
    /// Seconds until it stops by itself.
    seconds_left: Option<u32>,
    bins: [u32; BINS],
    overflow: u32,
    /// Armed threshold in watts.
    threshold_w: Option<f64>,
    /// Whether power went over it since it was armed.
    crossed: bool,
}

const NEVER: Timestamp = Timestamp { ms: 0, set_by_host: false, may_have_stopped: false };

impl Default for PowerLog {
    fn default() -> Self {
        Self {
            enabled: false,
            generation: 0,
            count: 0,
            sum_w: 0.0,
            max_w: 0.0,
            max_at: NEVER,
            stopped_at: NEVER,
            seconds_left: None,
            bins: [0; BINS],
            overflow: 0,
            threshold_w: None,
            crossed: false,
        }
    }
}

impl PowerLog {
    /// The mean power of one more second; whether it crossed the threshold.
    pub(super) fn second(&mut self, power: Watts, at: Timestamp) -> bool {
        let watts = power.as_f64();
        let crosses = self.threshold_w.is_some_and(|threshold| watts >= threshold);
        if crosses {
            (self.threshold_w, self.crossed) = (None, true);
        }
        if self.enabled {
            self.collect(watts, at);
        }
        crosses
    }

    fn collect(&mut self, watts: f64, at: Timestamp) {
        self.count = self.count.saturating_add(1);
        self.sum_w += watts;
        if watts > self.max_w {
            (self.max_w, self.max_at) = (watts, at);
        }
        // A float-to-integer cast saturates.
        match self.bins.get_mut((watts * 1000.0 / f64::from(BIN_SIZE_MW)) as usize) {
            Some(bin) => *bin = bin.saturating_add(1),
            None => self.overflow = self.overflow.saturating_add(1),
        }
        if let Some(left) = &mut self.seconds_left {
            *left -= 1;
            if *left == 0 {
                self.stop(at);
            }
        }
    }

    fn start(&mut self, stop_minutes: u16) {
        let generation = self.generation.wrapping_add(1);
        let seconds_left = (stop_minutes != 0).then(|| u32::from(stop_minutes) * 60);
        let (threshold_w, crossed) = (self.threshold_w, self.crossed);
        *self = Self { enabled: true, generation, seconds_left, threshold_w, crossed, ..Self::default() };
    }

    const fn stop(&mut self, at: Timestamp) {
        if self.enabled {
            self.enabled = false;
            self.stopped_at = at;
            self.seconds_left = None;
        }
    }

    fn page(&self) -> PowerMeasurementLog {
        let some = |watts: f64| (self.count > 0).then(|| ScaledPower::from_watts(Watts::new(watts)));
        PowerMeasurementLog {
            generation: self.generation,
            enabled: self.enabled,
            non_contiguous: false,
            // It is computed, not measured.
            estimated: true,
            overflowed: self.overflow > 0,
            measurement_type: 0,
            count: self.count,
            stop_minutes_left: self.seconds_left.map(|left| left.div_ceil(60) as u16),
            stopped_at: self.stopped_at,
            overflow_count: self.overflow,
            average: some(self.sum_w / f64::from(self.count.max(1))),
            maximum: some(self.max_w),
            maximum_at: self.max_at,
            error_percent: None,
            bins_max: BINS as u16,
            bin_size_mw: BIN_SIZE_MW,
            bins: (0..).zip(self.bins).map(|(index, count)| bin(index, count)).collect(),
        }
    }
}

fn bin(index: u32, count: u32) -> PowerBin {
    PowerBin { count, lower: index * u32::from(BIN_SIZE_MW) }
}

impl Subsystem {
    /// The power state by the number that hosts know.
    pub(super) fn power_state(&self) -> u8 {
        let state = self.drive.power_state();
        self.features.power_states().iter().position(|known| *known == state).unwrap_or(0) as u8
    }

    /// Changes the power state; `number` is one that hosts know.
    pub(super) fn set_power_state(&mut self, number: u8) {
        let Some(state) = self.features.power_states().get(usize::from(number)).copied() else { return };
        if state != self.drive.power_state() {
            self.health.power_state_changes += 1;
        }
        let changed = self.drive.set_power_state(state);
        debug_assert!(changed.is_ok(), "power state {state} is of the profile");
        self.rest_from_here();
    }

    /// Sets the power limit (23h); 0 takes it away.
    pub(super) fn set_power_limit(&mut self, value: u32) -> Result<(), Failure> {
        let invalid = Failure::in_dword(Status::INVALID_FIELD, 13);
        let limit = PowerLimit::decode(value).map_err(|_| invalid)?;
        let limit_w = limit.0.map_or(f64::INFINITY, |limit| limit.watts().as_f64());
        let states = &self.options.profile.power_state;
        let left: Vec<u8> =
            (0_u8..).zip(states).filter(|(_, state)| state.max_power_w <= limit_w).map(|(n, _)| n).collect();
        if !left.iter().any(|state| states[usize::from(*state)].operational) {
            return Err(Failure::in_dword(Status::INVALID_POWER_LIMIT, 13));
        }
        let before = self.drive.power_state();
        let number = left.iter().position(|state| *state == before).unwrap_or(0) as u8;
        self.features.set_power_states(left);
        self.features.set_current(FeatureId::POWER_LIMIT, value);
        self.set_power_state(number);
        Ok(())
    }

    /// Arms or disarms the power threshold (24h).
    pub(super) fn set_power_threshold(&mut self, value: u32) -> Result<(), Failure> {
        let invalid = Failure::in_dword(Status::INVALID_FIELD, 11);
        let threshold = PowerThreshold::decode(value).map_err(|_| invalid)?;
        // The whole subsystem (type 0) is all that is known.
        if threshold.measurement_type != 0 || (threshold.enabled && threshold.threshold.is_none()) {
            return Err(invalid);
        }
        let armed = threshold.threshold.filter(|_| threshold.enabled);
        self.health.power.threshold_w = armed.map(|power| power.watts().as_f64());
        self.health.power.crossed = false;
        self.features.set_current(FeatureId::POWER_THRESHOLD, value);
        Ok(())
    }

    /// Starts or stops collecting (25h).
    pub(super) fn set_power_measurement(&mut self, value: u32) -> Result<(), Failure> {
        let invalid = Failure::in_dword(Status::INVALID_FIELD, 11);
        let wanted = PowerMeasurement::decode(value).map_err(|_| invalid)?;
        if wanted.measurement_type != 0 {
            return Err(invalid);
        }
        let at = self.features.timestamp(self.now());
        match wanted.start {
            true => self.health.power.start(wanted.stop_minutes),
            false => self.health.power.stop(at),
        }
        self.features.set_current(FeatureId::POWER_MEASUREMENT, value);
        Ok(())
    }

    /// What features 24h and 25h are now: both end by themselves.
    pub(super) fn power_feature_now(&self, fid: FeatureId, set: u32) -> u32 {
        match fid {
            // EPT, bit 31, clears when the threshold is crossed.
            FeatureId::POWER_THRESHOLD if self.health.power.crossed => set & !(1 << 31),
            FeatureId::POWER_MEASUREMENT if !self.health.power.enabled => set & !1,
            _ => set,
        }
    }

    pub(super) fn power_measurement_log(&self) -> PowerMeasurementLog {
        self.health.power.page()
    }
}
