//! The drive: one physical state that single I/Os or a demand rate drive forward.
//!
//! Time is what the caller says it is. Inside it moves in firmware ticks of 10 ms: within a tick
//! speeds are constant and energy adds up; at its end heat moves, and what is due - sensors,
//! policies, dips - is run. A span without anything due is one step, however long.
//! Queries between two ticks answer with the state at the last one.

mod demand;
mod io;
mod query;
mod smart;
mod tick;

use measure::{Instant, Seed};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::SeedableRng;
use thiserror::Error;

use crate::media::disturb::Disturbances;
use crate::media::latency::Latencies;
use crate::media::slc::SlcCache;
use crate::media::{OpLimit, Rates, Streams};
use crate::policy::Policies;
use crate::power::PowerLevel;
use crate::profile::{Profile, Start};
use crate::sensor::Sensors;
use crate::thermal::Network;
use crate::truth::TruthEvent;
pub use demand::{Demand, Moved, Transfer};
pub use query::{ThresholdKind, ThresholdSensor};

/// Firmware tick in seconds. The fastest things modelled - policy polls and bursts - are ten times
/// as slow and more, and thermal time constants a thousand times; heat itself is exact at any tick.
pub(crate) const TICK_S: f64 = 0.01;
/// Firmware tick in nanoseconds.
const TICK_NS: u64 = 10_000_000;
/// Ticks of a second.
pub(crate) const TICKS_PER_S: u64 = 100;

/// Ticks of `span_s` seconds, at least one.
pub(crate) fn ticks(span_s: f64) -> u64 {
    ((span_s / TICK_S).round() as u64).max(1)
}

/// A setting that the drive refuses.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SettingError {
    /// There is no such power state.
    #[error("the drive has power states 0 to {last}, not {asked}")]
    PowerState {
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
    now_ns: u64,
    tick: u64,
    /// The tick at which something is next due.
    next_due: u64,
    thermal: Network,
    sensors: Sensors,
    policies: Policies,
    disturbances: Disturbances,
    slc: Option<SlcCache>,
    slc_was_open: bool,
    latencies: Latencies,
    streams: Streams,
    rates: Rates,
    level: PowerLevel,
    /// Index of the power state.
    power_state: u8,
    /// Work since the last tick.
    work: Work,
    idle_since_tick: u64,
    pipe: io::Pipe,
    /// Where a sequential demand goes on, and what random demands draw places from.
    cursor_bytes: u64,
    places: Pcg32,
    power: query::PowerMeter,
    thresholds: query::Thresholds,
    counts: query::Counts,
    truth: Vec<TruthEvent>,
    caps: [f64; 2],
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
        let start_w = match profile.thermal.start {
            Start::Idle => profile.power_state[0].idle_w.unwrap_or(profile.power.idle_w),
            Start::Ambient => 0.0,
        };
        let sensor = &profile.sensor;
        let thermal =
            Network::new(&profile.thermal, &sensor.composite_share, sensor.composite_lag_s, start_w, TICK_S);
        let unlimited = OpLimit { cap_bytes_per_s: profile.media.link_bytes_per_s, media_share: 1.0 };
        let mut drive = Self {
            now_ns: 0,
            tick: 0,
            next_due: 0,
            sensors: Sensors::new(sensor, &thermal),
            thermal,
            policies: Policies::new(&profile.policy, profile.limits.hctm.as_ref()),
            disturbances: Disturbances::new(profile, seed.part(0)),
            slc: profile.slc.map(|slc| SlcCache::new(slc, profile.identity.capacity_bytes)),
            slc_was_open: true,
            latencies: Latencies::new(&profile.media, seed.part(1)),
            streams: Streams::new(),
            rates: Rates::new(profile, unlimited, unlimited),
            level: PowerLevel::new(&profile.power, &profile.power_state[0], 1.0, 1.0),
            power_state: 0,
            work: Work::default(),
            idle_since_tick: 0,
            pipe: io::Pipe::new(),
            cursor_bytes: 0,
            places: Pcg32::seed_from_u64(seed.part(2).as_u64()),
            power: query::PowerMeter::new(start_w),
            thresholds: query::Thresholds::new(&profile.limits),
            counts: query::Counts::default(),
            truth: Vec::new(),
            caps: [f64::INFINITY; 2],
            profile: profile.clone(),
        };
        drive.run_due();
        drive
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
