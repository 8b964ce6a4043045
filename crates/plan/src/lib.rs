//! What is to be done to a drive: a plan of phases, each a set of loads that run at once.
//!
//! A plan is data. It comes from a built-in, a TOML file or a fio job file, is checked against the target
//! before anything runs, and is kept in the record with everything filled in.
//!
//! # Architecture
//! - this file: what a plan is made of.
//! - `defaults`: the value of everything a plan does not name.
//! - `toml`: the plan format of our own, both ways. `docs/PLANS.md` documents it for people.
//! - `fio`: fio job files as plans.
//! - `builtin`: the plans that come with the tool, and [`Plan::load`].
//! - [`check`]: whether a plan fits a target, and what it will take.
//! - `meter`: addresses of power meters.
//! - `rounds`: phases that are done again until they are steady.
//! - `stop`: where load stops for heat if the plan does not say.
//! - `sweep`: a plan under several settings.
//! - `describe`: a phase in one line for people.
//!
//! # What it does not do
//! It does no I/O on a target and knows no clock.

mod builtin;
pub mod check;
mod defaults;
mod describe;
mod error;
mod fio;
pub mod memory;
mod meter;
mod rounds;
mod stop;
mod sweep;
mod toml;

use std::time::Duration;

use measure::record::ThermalSettings;
use measure::{Bytes, BytesPerSec, Kelvin, QueueDepth, Seed};
use serde::{Deserialize, Serialize};

use crate::toml::phase::{PhaseTable, phases};
use crate::toml::quantity::{optional, period, plain};
use crate::toml::settings::{SettingsTable, meters};
pub use error::PlanError;
pub use meter::{
    HttpMeter, MeasuredAt, MeterAddress, MeterClock, MeterError, MeterSource, MeterStated, ScpiPort,
};
pub use rounds::Rounds;
pub use stop::stop_below;
pub use sweep::{Sweep, SweepSetting};

/// An experiment.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Its name: a built-in's, or the file's without its ending.
    pub name: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// Length of an accounting interval.
    #[serde(with = "period")]
    pub interval: Duration,
    /// Seed of offsets, sizes, mix and data.
    #[serde(with = "plain")]
    pub seed: Seed,
    /// Stop the load at this temperature; `None` is the default (critical threshold - 5 K, else 85 °C).
    #[serde(with = "optional")]
    pub stop_at: Option<Kelvin>,
    /// End the run when a drive that has told its temperature does not for so long. One that never did is loaded.
    #[serde(with = "period")]
    pub stop_unwatched: Duration,
    /// Give up after this many I/O errors.
    pub max_errors: u64,
    /// Keep one row an I/O.
    pub record_ops: bool,
    /// A drive address named by the plan itself (fio's `filename`); the command line wins.
    pub drive: Option<String>,
    /// What of the source was not taken over, for people.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Readings beside the load.
    pub telemetry: TelemetryPlan,
    /// Settings to make before the load; empty fields are left as they are.
    #[serde(with = "SettingsTable", skip_serializing_if = "SettingsTable::is_empty")]
    pub settings: ThermalSettings,
    /// Run it under several settings, one run each.
    pub sweep: Option<Sweep>,
    /// The phases, one after the other, those of all rounds included.
    #[serde(rename = "phase", deserialize_with = "phases")]
    pub phases: Vec<Phase>,
    /// Which of them make rounds that end when they are steady.
    pub rounds: Option<Rounds>,
}

/// Readings beside the load.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct TelemetryPlan {
    /// Time between readings of the SMART log.
    #[serde(with = "period")]
    pub smart_period: Duration,
    /// Time between readings of hwmon.
    #[serde(with = "period")]
    pub hwmon_period: Duration,
    /// Time between readings of block statistics.
    #[serde(with = "period")]
    pub blockstat_period: Duration,
    /// Where power is read, if anywhere; the first is the one that figures are of.
    #[serde(with = "meters", skip_serializing_if = "Vec::is_empty")]
    pub power: Vec<MeterAddress>,
}

/// Loads that run at once, until the phase ends. Without loads it is idle time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "PhaseTable")]
pub struct Phase {
    /// Its name.
    pub name: String,
    /// What runs; empty for idle.
    pub loads: Vec<Load>,
    /// The phase ends when this time is over, if given.
    pub duration: Option<Duration>,
    /// Wait this long before the loads start.
    pub start_delay: Duration,
    /// The phase ends as soon as a reading of the composite is as low as this, if given.
    pub until_below: Option<Kelvin>,
}

/// One kind of I/O, by one or several threads.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "PhaseTable", into = "PhaseTable")]
pub struct Load {
    /// Its name, for people.
    pub name: String,
    /// Order of the offsets.
    pub order: Order,
    /// Share of each operation.
    pub mix: Mix,
    /// Sizes of the accesses, each of which is one I/O unless `split` makes several of it.
    pub sizes: Sizes,
    /// A larger access is made of I/Os of this size, one after the other, as by a program that reads into a buffer of
    /// this size; the last is what remains.
    pub split: Option<Bytes>,
    /// I/Os in flight, each thread.
    pub depth: QueueDepth,
    /// Threads.
    pub threads: u16,
    /// How threads share a sequential region.
    pub sharing: Sharing,
    /// Where on the target.
    pub region: Region,
    /// Offsets are multiples of this; `None` is the smallest I/O size.
    pub align: Option<Bytes>,
    /// Limit of bytes a second, all threads together.
    pub rate: Option<BytesPerSec>,
    /// Limit of I/Os a second, all threads together.
    pub rate_iops: Option<f64>,
    /// Each thread ends after this much, if given.
    pub bytes: Option<Bytes>,
    /// Each thread ends after this many passes over its region, if given.
    pub laps: Option<u32>,
    /// The load ends when this time is over, if given; the phase's duration also ends it.
    pub duration: Option<Duration>,
    /// Pause of each thread between a completion and the next I/O in that slot.
    pub think_time: Duration,
    /// Random order: visit each block once a lap (fio's default), or draw anew each time (`norandommap`).
    pub visit_once: bool,
    /// What is written.
    pub data: WriteData,
    /// Bypass the page cache.
    pub direct: bool,
    /// Seed of this load's draws; `None` takes one from the plan's.
    pub seed: Option<Seed>,
}

/// Order of the offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// One after the other, from the start again at the end.
    Sequential,
    /// Uniform over the region.
    Random,
}

/// Share of each operation, in percent; they add up to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mix {
    /// Reads.
    pub read: u8,
    /// Writes.
    pub write: u8,
    /// Deallocations.
    pub trim: u8,
}

/// Sizes of the I/Os in bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// Always the same.
    Fixed(u32),
    /// One of these, by weight.
    Weighted(Vec<(u32, u32)>),
    /// Log-uniform between the two, in multiples of `step`: every octave as likely as the next.
    LogUniform {
        /// The smallest; a multiple of `step`.
        min: u32,
        /// The largest; a multiple of `step`.
        max: u32,
        /// What all sizes are multiples of.
        step: u32,
    },
    /// Uniform between the two, in multiples of `step` (fio's `bsrange`).
    Uniform {
        /// The smallest; a multiple of `step`.
        min: u32,
        /// The largest; a multiple of `step`.
        max: u32,
        /// What all sizes are multiples of.
        step: u32,
    },
}

/// How threads share a sequential region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sharing {
    /// Each has its own part: together they pass over it once.
    Split,
    /// Each passes over all of it, as fio's `numjobs` do.
    Overlap,
}

/// A part of the target.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Region {
    /// Where it starts.
    #[serde(with = "plain")]
    pub start: Extent,
    /// How long it is; `None` is up to the end.
    #[serde(with = "optional")]
    pub len: Option<Extent>,
}

/// A position or length on a target whose size is known later.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// In bytes.
    Bytes(Bytes),
    /// As a fraction of the target, 0 to 1.
    Fraction(f64),
    /// As large as what fits the fast write cache, where its size is known or given.
    Slc,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteData {
    /// Random bytes: neither the drive nor the file system can make them smaller.
    Incompressible,
    /// Zeroes, which some drives do not store.
    Zeroes,
}
