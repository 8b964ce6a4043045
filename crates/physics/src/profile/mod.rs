//! Profiles: the parameters of one simulated drive, a TOML file each.
//!
//! Every key carries its unit in its name, unknown keys are refused, and a value outside what the
//! model can mean is an error that names the key, the value and the allowed range. In the built-in
//! profiles every parameter says in a comment where it comes from: stated by a source, derived
//! (how), or chosen (why).
//!
//! These types are the file format; the model derives its own state from them.

mod builtin;
mod check;
mod machines;
pub mod power_table;

use serde::{Deserialize, Serialize};

pub use crate::tmt::{AtMntmt, HctmRange};

pub use check::ProfileError;
pub use machines::{Cap, DutyCycle, Gains, Machine, Stairs, TwoLevel};

/// The parameters of a simulated drive.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Short name, as in the address `twin:NAME`.
    pub name: String,
    /// One sentence: which drive, in which surroundings.
    pub description: String,
    /// What Identify says.
    pub identity: ProfileIdentity,
    /// Thermal limits and settable temperatures.
    pub limits: Limits,
    /// The RC network and its surroundings.
    pub thermal: ThermalProfile,
    /// What the drive draws.
    pub power: PowerProfile,
    /// Power states 0, 1, ...; at least one.
    pub power_state: Vec<PowerStateProfile>,
    /// How fast data moves.
    pub media: MediaProfile,
    /// The SLC cache; a drive without one writes at its sequential speed for ever.
    pub slc: Option<SlcProfile>,
    /// What a drive without erased blocks does between commands; without it, nothing.
    pub housekeeping: Option<Housekeeping>,
    /// The computer it is in, for buffered I/O; without it that goes to the drive as it comes. The model of the drive does
    /// not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostProfile>,
    /// Slow-downs that have nothing to do with heat.
    #[serde(default)]
    pub dip: Vec<Dip>,
    /// Temperature readings.
    pub sensor: SensorProfile,
    /// Throttle policies; all act at once and the strictest wins.
    #[serde(default)]
    pub policy: Vec<Policy>,
    /// What `heatsoak fit` keeps of how sure it is. The model does not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<toml::Table>,
}

/// What Identify Controller and Identify Namespace say about the drive.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileIdentity {
    /// Model number, up to 40 ASCII characters.
    pub model: String,
    /// Serial number, up to 20 ASCII characters.
    pub serial: String,
    /// Firmware revision, up to 8 ASCII characters.
    pub firmware: String,
    /// Size in bytes, a whole number of blocks.
    pub capacity_bytes: u64,
    /// Logical block size: 512 or 4096.
    pub block_bytes: u32,
    /// Bytes that may be written over the drive's rated life; none when the maker does not say.
    pub rated_write_bytes: Option<u64>,
}

impl ProfileIdentity {
    /// Written bytes over the rated ones in percent; 0 where the maker rates nothing.
    pub fn percentage_used(&self, written_bytes: f64) -> u8 {
        let rated = self.rated_write_bytes.filter(|rated| *rated > 0);
        let percent = rated.map_or(0.0, |rated| 100.0 * written_bytes / rated as f64);
        percent.min(255.0) as u8
    }
}

/// Thermal limits and settable temperatures; whole kelvins, as NVMe has them.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Warning composite temperature threshold.
    pub wctemp_k: u16,
    /// Critical composite temperature threshold.
    pub cctemp_k: u16,
    /// Host controlled thermal management; a drive without it has none.
    pub hctm: Option<HctmRange>,
    /// Whether power can be limited and measured (features 23h to 25h, NVMe 2.3).
    #[serde(default, skip_serializing_if = "is_no")]
    pub power_control: bool,
}

/// The RC network and its surroundings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ThermalProfile {
    /// Temperature of the air around the drive.
    pub ambient_c: f64,
    /// Scale on every conductance to the surroundings; 1 is the air the resistances were set for.
    pub airflow: f64,
    /// Whether the drive starts settled at idle power or at ambient temperature.
    pub start: Start,
    /// Nodes from the flash outwards, one to eight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub node: Vec<Node>,
    /// In place of nodes: the modes of the step response at the composite sensor, one to eight, the fastest first.
    /// It is what measurements tell of a drive; see the module of the ladder that is made from it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mode: Vec<Mode>,
    /// A heat sink put on from the start.
    pub heatsink: Option<Heatsink>,
}

/// The thermal state a drive starts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Powered and idle for a long time.
    Idle,
    /// Switched on this moment.
    Ambient,
    /// Switched off and on again this moment: as warm as an idle drive, and it has to start.
    PowerCycle,
}

/// The ladder of these modes, from the sensor outwards. Modes have different time constants, all positive.
pub fn ladder(modes: &[Mode]) -> Vec<Node> {
    crate::thermal::ladder(modes)
}

impl ThermalProfile {
    /// The nodes, from the flash outwards: those that are stated, or the ladder of the modes.
    pub fn nodes(&self) -> Vec<Node> {
        if self.mode.is_empty() { self.node.clone() } else { ladder(&self.mode) }
    }
}

/// One exponential of the step response of the composite temperature to power.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Its time constant.
    pub tau_s: f64,
    /// What it adds to the thermal resistance from the sensor to the air.
    pub k_per_w: f64,
}

/// One heat capacity and its resistance outwards.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// What it stands for.
    pub name: String,
    /// Heat capacity.
    pub capacity_j_per_k: f64,
    /// Thermal resistance to the next node; of the last node, to the surroundings.
    pub outward_k_per_w: f64,
    /// Share of the drive's power that turns into heat here; shares add up to 1.
    pub heat_share: f64,
}

/// A heat sink on one of the nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Heatsink {
    /// The node it sits on, counted from 0 at the flash.
    pub node: usize,
    /// Heat capacity of the sink.
    pub capacity_j_per_k: f64,
    /// Resistance of the pad between node and sink.
    pub contact_k_per_w: f64,
    /// Resistance from the sink to the air.
    pub to_ambient_k_per_w: f64,
}

/// What the drive draws; see the power module for the formula.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PowerProfile {
    /// Idle and ready.
    pub idle_w: f64,
    /// On top while the media pipe is busy, whatever moves through it.
    #[serde(default)]
    pub active_w: f64,
    /// Reads, per GB/s (10^9).
    pub read_w_per_gb_per_s: f64,
    /// On top of reads for the share of time in which the flash waits for the link.
    #[serde(default)]
    pub read_wait_w: f64,
    /// Writes, per GB/s (10^9).
    pub write_w_per_gb_per_s: f64,
    /// Folding the SLC cache, per GB/s (10^9).
    #[serde(default)]
    pub fold_w_per_gb_per_s: f64,
    /// Exponent of dynamic power over the throttle level for reads; 1 is affine.
    #[serde(default = "one")]
    pub read_level_exponent: f64,
    /// Exponent of dynamic power over the throttle level for writes; 1 is affine.
    #[serde(default = "one")]
    pub write_level_exponent: f64,
    /// From power-on until the drive is ready, where that differs from idle.
    pub start_up: Option<StartUp>,
}

/// The time from power-on until a drive takes commands; felt by one that starts at ambient temperature.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StartUp {
    /// Power until it is ready, in place of idle power.
    pub power_w: f64,
    /// How long that takes.
    pub duration_s: f64,
}

/// One power state.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PowerStateProfile {
    /// Maximum power, as the descriptor says it.
    pub max_power_w: f64,
    /// Whether I/O is processed in this state; a command wakes the drive out of one where it is not.
    #[serde(default = "yes")]
    pub operational: bool,
    /// Speed limit of reads.
    pub read_cap_bytes_per_s: Option<f64>,
    /// Speed limit of writes.
    pub write_cap_bytes_per_s: Option<f64>,
    /// Idle power where it differs from the drive's.
    pub idle_w: Option<f64>,
    /// Busy power where it differs from the drive's.
    pub active_w: Option<f64>,
    /// Energy of a read byte relative to state 0.
    #[serde(default = "one")]
    pub read_energy_scale: f64,
    /// Energy of a written byte relative to state 0.
    #[serde(default = "one")]
    pub write_energy_scale: f64,
    /// Time to enter.
    #[serde(default)]
    pub entry_us: u32,
    /// Time to leave.
    #[serde(default)]
    pub exit_us: u32,
}

impl PowerStateProfile {
    /// One that limits reads and writes to so many bytes per second, and changes nothing else.
    pub const fn limited(max_power_w: f64, [read, write]: [Option<f64>; 2]) -> Self {
        Self {
            max_power_w,
            operational: true,
            read_cap_bytes_per_s: read,
            write_cap_bytes_per_s: write,
            idle_w: None,
            active_w: None,
            read_energy_scale: 1.0,
            write_energy_scale: 1.0,
            entry_us: 0,
            exit_us: 0,
        }
    }
}

/// How fast data moves when nothing throttles.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MediaProfile {
    /// Most that the host link carries in one direction.
    pub link_bytes_per_s: f64,
    /// Reads that follow one another.
    pub sequential_read: Ceiling,
    /// Reads elsewhere.
    pub random_read: Ceiling,
    /// Writes that follow one another, into the SLC cache where there is one.
    pub sequential_write: Ceiling,
    /// Writes elsewhere, into the SLC cache where there is one.
    pub random_write: Ceiling,
    /// Commands deallocated per second.
    pub trim_iops: f64,
    /// Read latency before queueing.
    pub read_latency: Latency,
    /// Write latency before queueing.
    pub write_latency: Latency,
    /// Speed that wanders while nothing is wrong.
    pub wobble: Option<Wobble>,
}

/// Limits of one kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ceiling {
    /// Most bytes per second.
    pub bytes_per_s: f64,
    /// Most commands per second.
    pub iops: f64,
}

/// Time of a command outside the shared media pipe.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Shortest.
    pub base_us: f64,
    /// Mean of what comes on top, exponentially distributed and cut at 7.6 times the mean.
    pub jitter_us: f64,
}

/// Speed that wanders while nothing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Wobble {
    /// How long one draw lasts.
    pub period_s: f64,
    /// Speed is scaled by a factor drawn evenly from `1 - depth` to 1.
    pub depth: f64,
    /// Which operations it touches.
    #[serde(default)]
    pub ops: Ops,
}

/// The SLC cache.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SlcProfile {
    /// Data it holds.
    pub capacity_bytes: u64,
    /// Writes past it.
    pub direct_write: Ceiling,
    /// Rate at which it empties into the main flash while the drive is idle.
    pub idle_fold_bytes_per_s: f64,
    /// How long the drive must be idle before it does.
    pub idle_fold_after_s: f64,
    /// Rate at which it empties while full and written to.
    #[serde(default)]
    pub pressure_fold_bytes_per_s: f64,
    /// Free share from which a full cache takes writes again.
    pub reopen_share: f64,
}

/// What a drive does once every block has been written since it was last deallocated: it erases and
/// tidies up between commands, writes into the cache wait for erased blocks, and streams go past it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Housekeeping {
    /// How long it lets commands wait.
    pub pause_s: f64,
    /// Mean time between two pauses; they come at random.
    pub every_s: f64,
    /// Writes into the SLC cache, between pauses.
    pub cached_write: Ceiling,
    /// Rate at which the SLC cache empties while nobody writes.
    pub fold_bytes_per_s: f64,
}

/// The computer that a drive is in: what buffered I/O meets before the drive.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostProfile {
    /// Memory that can hold pages of files.
    pub memory_bytes: u64,
    /// How fast it copies between a program and the page cache.
    pub copy_bytes_per_s: f64,
    /// The largest I/O that it sends to the drive.
    pub io_bytes: u32,
    /// How much it reads ahead at a time.
    pub read_ahead_bytes: u32,
}

/// Slow-downs that have nothing to do with heat.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Dip {
    /// Name in truth events.
    pub name: String,
    /// Which operations it touches.
    #[serde(default)]
    pub ops: Ops,
    /// Mean time from the end of one to the start of the next.
    pub every_s: f64,
    /// How they come.
    pub timing: DipTiming,
    /// How long one lasts.
    pub duration_s: f64,
    /// Share of the speed that is left.
    pub speed_share: f64,
}

/// How dips come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DipTiming {
    /// At random, without memory.
    Poisson,
    /// Like clockwork.
    Periodic,
}

/// Which operations something touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ops {
    /// Reads and writes.
    #[default]
    Both,
    /// Reads alone.
    Read,
    /// Writes alone.
    Write,
}

/// Temperature readings.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SensorProfile {
    /// Weight of each node in the composite temperature; weights add up to 1. None where the network is stated as
    /// modes, which are those of the composite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub composite_share: Vec<f64>,
    /// Added to the weighted sum.
    #[serde(default)]
    pub composite_offset_k: f64,
    /// First-order lag of the composite; 0 is none.
    pub composite_lag_s: f64,
    /// How often readings are renewed.
    pub update_period_s: f64,
    /// How a temperature becomes whole kelvins.
    pub rounding: Rounding,
    /// Temperature sensors 1, 2, ...; up to eight.
    #[serde(default)]
    pub sensor: Vec<ExtraSensor>,
    /// A composite that always reads this, as some drives have.
    pub frozen_composite_k: Option<u16>,
}

/// How a temperature becomes whole kelvins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rounding {
    /// Down: a reading is reached when the temperature is.
    Floor,
    /// To the nearest.
    Nearest,
}

/// One of the temperature sensors 1 to 8.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExtraSensor {
    /// Weight of each node; weights add up to 1.
    pub share: Vec<f64>,
    /// Added to the weighted sum.
    #[serde(default)]
    pub offset_k: f64,
}

/// One throttle policy.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Name in truth events.
    pub name: String,
    /// Which operations it slows down.
    #[serde(default)]
    pub ops: Ops,
    /// Where it sets in. Tied to TMT1 or TMT2 it is host controlled and moves the counters;
    /// an absolute temperature makes it the vendor's own.
    pub on: Threshold,
    /// It lets go below `on` minus this.
    pub hysteresis_k: f64,
    /// How often it looks at the composite temperature.
    pub poll_s: f64,
    /// Shortest time in one state.
    #[serde(default)]
    pub dwell_s: f64,
    /// Most that it moves in a second, as a share of its whole range; without it, at once.
    pub slew_per_s: Option<f64>,
    /// It does nothing while `on` lies below this: settings the firmware has no table for.
    pub only_from_k: Option<f64>,
    /// What it does.
    pub machine: Machine,
}

/// A temperature that may hang on a setting.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Threshold {
    /// This temperature, whatever is set.
    Kelvin(f64),
    /// TMT1 plus this many kelvins.
    Tmt1PlusK(f64),
    /// TMT2 plus this many kelvins.
    Tmt2PlusK(f64),
}

impl Ops {
    /// Whether `op` is among them.
    pub const fn has(self, op: measure::record::Op) -> bool {
        use measure::record::Op;
        match op {
            Op::Read => matches!(self, Self::Both | Self::Read),
            Op::Write => matches!(self, Self::Both | Self::Write),
            Op::Trim | Op::Idle => false,
        }
    }
}

impl Profile {
    /// Reads a profile from TOML and checks it.
    ///
    /// # Errors
    /// TOML that does not parse, an unknown key, or a value outside its range.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        let profile: Self = toml::from_str(text).map_err(ProfileError::toml)?;
        profile.check()?;
        Ok(profile)
    }

    /// The profile as TOML, without comments.
    ///
    /// # Errors
    /// None for a profile that passed [`Profile::check`].
    pub fn to_toml(&self) -> Result<String, ProfileError> {
        toml::to_string(self).map_err(ProfileError::write)
    }

    /// Data that the SLC cache holds, in bytes; `None` without one.
    pub fn slc_bytes(&self) -> Option<u64> {
        self.slc.map(|slc| slc.capacity_bytes)
    }
}

const fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_no(value: &bool) -> bool {
    !*value
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod test;
