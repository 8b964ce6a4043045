//! The drive: one physical state that single I/Os or a demand rate drive forward.
//!
//! Time is what the caller says it is. Inside it moves in firmware ticks of 10 ms: within a tick
//! speeds are constant and energy adds up; at its end heat moves, and what is due - sensors,
//! policies, dips - is run. A span without anything due is one step, however long.
//! Queries between two ticks answer with the state at the last one.

mod demand;
mod health;
mod io;
mod query;
mod tick;

use measure::{Instant, Seed};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::SeedableRng;
use thiserror::Error;

use crate::grain::Grain;
use crate::media::disturb::Disturbances;
use crate::media::erase::Erase;
use crate::media::latency::Latencies;
use crate::media::slc::SlcState;
use crate::media::{OpLimit, Rates, Streams};
use crate::policy::{Policies, PolicyInput};
use crate::power::PowerLevel;
use crate::profile::{Profile, Start};
use crate::sensor::Sensors;
use crate::thermal::Network;
use crate::truth::TruthEvent;
pub use demand::{Demand, Moved, Transfer};
pub use health::Health;
pub use query::{ThermalThresholdSensor, ThresholdKind};

/// A setting that the drive refuses.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SettingError {
    /// Air that carries no heat, or more than any fan.
    #[error("an air flow of {asked} cannot be simulated; allowed is 0.01 to 100 times the profile's own")]
    Airflow {
        /// What was asked for.
        asked: f64,
    },
    /// A heat sink on a node that does not exist, or with values that mean nothing.
    #[error(
        "the heat sink cannot be put on: node must be 0 to {last}, capacity and resistances positive numbers"
    )]
    Heatsink {
        /// The last node.
        last: usize,
    },
    /// There is no such power state.
    #[error("the drive has power states 0 to {last}, not {asked}")]
    PowerStateProfile {
        /// What was asked for.
        asked: u8,
        /// The last one there is.
        last: u8,
    },
    /// There is no such sensor.
    #[error("the drive has no temperature sensor {asked}; it has {count}")]
    Sensor {
        /// What was asked for.
        asked: u8,
        /// How many there are.
        count: u8,
    },
}

/// A simulated drive.
#[derive(Clone, Debug)]
pub struct Drive {
    profile: Profile,
    grain: Grain,
    now_ns: u64,
    tick: u64,
    /// The tick at which something is next due.
    next_due: u64,
    thermal: Network,
    sensors: Sensors,
    policies: Policies,
    disturbances: Disturbances,
    slc: Option<SlcState>,
    slc_was_open: bool,
    erase: Option<Erase>,
    latencies: Latencies,
    streams: Streams,
    rates: Rates,
    level: PowerLevel,
    /// Index of the power state.
    power_state: u8,
    /// Work since the last tick.
    work: Work,
    idle_since_tick: u64,
    load: PolicyInput,
    pipe: io::Pipe,
    /// Where a sequential demand goes on, and what random demands draw places from.
    cursor_bytes: u64,
    places: Pcg32,
    power: query::PowerMeter,
    thresholds: query::Thresholds,
    counts: query::Counts,
    truth: Vec<TruthEvent>,
    caps: [f64; 2],
    /// The tick at which the drive is ready after power-on.
    ready_tick: u64,
}

/// What was moved since the last tick.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    read_bytes: f64,
    write_bytes: f64,
    busy_ns: f64,
    /// Whether a demand wanted data, even if none moved.
    asked: bool,
}

impl Drive {
    /// A drive in its starting state at [`Instant::ZERO`].
    ///
    /// The profile must have passed its check, as everything that [`Profile`] reads has.
    pub fn new(profile: &Profile, seed: Seed) -> Self {
        Self::with_grain(profile, seed, Grain::FIRMWARE)
    }

    pub(crate) fn with_grain(profile: &Profile, seed: Seed, grain: Grain) -> Self {
        let start_w = match profile.thermal.start {
            Start::Idle | Start::PowerCycle => profile.power_state[0].idle_w.unwrap_or(profile.power.idle_w),
            Start::Ambient => 0.0,
        };
        let sensor = &profile.sensor;
        let thermal = Network::new(&profile.thermal, sensor, start_w, grain.tick_s());
        let unlimited = OpLimit { cap_bytes_per_s: profile.media.link_bytes_per_s, media_share: 1.0 };
        let mut drive = Self {
            grain,
            now_ns: 0,
            tick: 0,
            next_due: 0,
            sensors: Sensors::new(sensor, grain, &thermal),
            thermal,
            policies: Policies::new(&profile.policy, profile.limits.hctm.as_ref(), grain),
            disturbances: Disturbances::new(profile, grain, seed.part(0)),
            slc: profile.slc.map(|slc| SlcState::new(slc, profile.identity.capacity_bytes)),
            slc_was_open: true,
            erase: profile
                .housekeeping
                .map(|keeping| Erase::new(keeping, profile.identity.capacity_bytes, grain, seed.part(3))),
            latencies: Latencies::new(&profile.media, seed.part(1)),
            streams: Streams::new(),
            rates: Rates::new(profile, unlimited, unlimited),
            level: PowerLevel::new(profile, &profile.power_state[0], 1.0, 1.0),
            power_state: 0,
            work: Work::default(),
            idle_since_tick: 0,
            load: PolicyInput::default(),
            pipe: io::Pipe::new(),
            cursor_bytes: 0,
            places: Pcg32::seed_from_u64(seed.part(2).as_u64()),
            power: query::PowerMeter::new(start_w),
            thresholds: query::Thresholds::new(&profile.limits),
            counts: query::Counts::default(),
            truth: Vec::new(),
            caps: [f64::INFINITY; 2],
            ready_tick: ready_tick(profile, grain),
            profile: profile.clone(),
        };
        drive.run_due();
        drive
    }

    /// Whether no erased block is left, so that housekeeping goes on.
    fn must_erase(&self) -> bool {
        self.erase.as_ref().is_some_and(Erase::exhausted)
    }

    /// The present of this drive.
    pub const fn now(&self) -> Instant {
        Instant::from_ns(self.now_ns)
    }

    /// The parameters this drive was made from.
    pub const fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// When a drive that is switched on at tick 0 is ready; one that was powered before is at once.
fn ready_tick(profile: &Profile, grain: Grain) -> u64 {
    match (profile.thermal.start, profile.power.start_up) {
        (Start::Ambient | Start::PowerCycle, Some(start_up)) => grain.ticks(start_up.duration_s),
        _ => 0,
    }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod test;
