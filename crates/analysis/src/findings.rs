//! What an analysis finds: the JSON of `heatsoak analyze --json` and of `findings.json`.
//!
//! This is a file format (schema 2): the structs are the JSON, field by field. A value that the data cannot
//! give is `None`, with a [`Caveat`] that says why; it is never a guess.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use trace::{Caveat, SegmentOp};

use crate::accesses::AccessFindings;
pub use crate::cause::evidence::Suspect;
use crate::fills::CacheFill;
use crate::life::Life;
use crate::observation::Observation;
use crate::power::PowerFindings;
use crate::wobble::PhaseWobble;
use crate::wording;

/// Everything found in one run or log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Findings {
    /// Version of this format: 2.
    pub schema: u32,
    /// Whether the numbers come from a simulated drive; `None` where the source does not say.
    pub simulated: Option<bool>,
    /// Stretches of one behaviour, in order of time.
    pub segments: Vec<Segment>,
    /// Changes of behaviour, in order of time.
    #[serde(serialize_with = "wording::events_with_evidence")]
    #[schemars(with = "Vec<wording::EventWithEvidence<'static>>")]
    pub events: Vec<Event>,
    /// How the drive manages its heat.
    pub policy: Policy,
    /// The fast write cache; `None` where its end was not seen.
    pub slc_cache: Option<SlcCache>,
    /// How load becomes temperature.
    pub thermal: Thermal,
    /// Whether a run in rounds came to a steady state; `None` for any other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_state: Option<SteadyState>,
    /// What the drive's counters say of its life; `None` for a source without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<Life>,
    /// What the drive drew; `None` where nothing measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerFindings>,
    /// What single accesses show; `None` where the run keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accesses: Option<AccessFindings>,
    /// How much each phase of writes put into the fast cache, where several phases wrote; else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fills: Vec<CacheFill>,
    /// What the run took from the drive's endurance; `None` of a run that wrote nothing, or a drive that does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wear: Option<Wear>,
    /// How unsteady each load ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wobble: Vec<PhaseWobble>,
    /// Why numbers here deserve care; in JSON each with its sentence.
    #[serde(serialize_with = "wording::caveats_with_text")]
    #[schemars(with = "Vec<wording::CaveatWithText<'static>>")]
    pub caveats: Vec<Caveat>,
}

/// A stretch of one behaviour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Segment {
    /// Start, in seconds since the run began.
    pub start_s: f64,
    /// End, in seconds since the run began.
    pub end_s: f64,
    /// What the load did.
    pub op: SegmentOp,
    /// Mean speed over the segment, gaps left out; `None` where there is no speed at all.
    pub mean_bytes_per_s: Option<f64>,
    /// What it is.
    pub label: Label,
    /// Temperature at the start in kelvins; `None` without a reading.
    pub temp_start_k: Option<f64>,
    /// Temperature at the end in kelvins.
    pub temp_end_k: Option<f64>,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Nothing slowed it down, as far as the run shows.
    FullSpeed,
    /// Throttled.
    Throttled,
    /// Slowed down because the fast write cache is full.
    SlcExhausted,
    /// A short slow stretch that is not heat.
    Dip,
    /// As fast as the plan allows.
    RateLimited,
    /// Speeding up or slowing down steadily.
    Ramp,
    /// No load; within a load of a log that does not say what was asked for, no I/O for whatever reason.
    Idle,
    /// Slow for longer than a dip, and not found to be heat; its event has the cause. Without an event: one speed, which may be a
    /// throttled one, as nothing shows how fast the load can be, or as another load like it was much faster.
    Unknown,
    /// The second: never seen on a cool drive; `unknown` to others.
    #[serde(rename = "unknown", skip_deserializing)]
    #[schemars(skip)]
    Constant,
    /// The last: another load like it was much faster.
    #[serde(rename = "unknown", skip_deserializing)]
    #[schemars(skip)]
    Slower,
}

impl Label {
    /// What it looks like, whatever that is held against.
    pub const fn as_seen(self) -> Self {
        match self {
            Self::Constant | Self::Slower => Self::FullSpeed,
            label => label,
        }
    }
}

/// A change of behaviour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When, in seconds since the run began.
    pub t_s: f64,
    /// Temperature then, in kelvins; `None` without a reading near it.
    pub temp_k: Option<f64>,
    /// What caused it.
    pub cause: Cause,
    /// Speed after over speed before; `None` where one of them is unknown.
    pub strength: Option<f64>,
    /// How sure this is, from 0 to 1.
    pub confidence: f64,
    /// Where the cause is `unknown`: what it may have been, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// What happened, then what was weighed, the heaviest for the cause first. In JSON `evidence` beside it holds the same
    /// as sentences.
    #[serde(default)]
    pub observations: Vec<WeighedObservation>,
}

/// A cause that the record leaves possible.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// What it may have been.
    pub cause: Suspect,
    /// How likely that is, from 0 to 1.
    pub probability: f64,
}

/// An observation, and what it weighs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeighedObservation {
    /// What was observed.
    #[serde(flatten)]
    pub observation: Observation,
    /// By how much it raises the log odds of the cause, all others given; `None` for what happened, which is no reason.
    pub weight: Option<f64>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Throttling begins.
    ThrottleOnset,
    /// It ends.
    ThrottleRelease,
    /// The fast write cache is full.
    SlcExhausted,
    /// A short slow stretch.
    Dip,
    /// The drive stopped serving I/O because of heat.
    ThermalShutdown,
}

/// What caused an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Host controlled thermal management, light (TMT1).
    HctmTmt1,
    /// Host controlled thermal management, heavy (TMT2).
    HctmTmt2,
    /// A firmware threshold.
    Vendor,
    /// Heat; the threshold is not determined.
    Thermal,
    /// Not heat.
    NotThermal,
    /// The data do not say.
    Unknown,
}

impl Cause {
    /// Whether it is heat of any kind.
    pub const fn is_heat(self) -> bool {
        matches!(self, Self::HctmTmt1 | Self::HctmTmt2 | Self::Vendor | Self::Thermal)
    }
}

/// How the drive manages its heat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The kind that explains the run best.
    pub class: PolicyClass,
    /// Other kinds that act beside it.
    pub also: Vec<PolicyClass>,
    /// Temperature at which slowing down begins, in kelvins; of several levels the lightest one's.
    pub onset_k: Option<f64>,
    /// Temperature at which that ends; `None` where no release was seen.
    pub release_k: Option<f64>,
    /// Speed while slowed down by it, in bytes per second.
    pub floor_bytes_per_s: Option<f64>,
    /// Each threshold that acted, the lightest of the host's first, then the drive's own. Empty without any.
    #[serde(default)]
    pub levels: Vec<PolicyLevel>,
    /// How sure the class is, from 0 to 1.
    pub confidence: f64,
    /// How many runs of the drive show class and confidence together; `None` where this one alone does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_runs: Option<usize>,
}

/// A threshold, and what the drive does at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyLevel {
    /// Whose threshold it is: one of the causes that are heat.
    pub cause: Cause,
    /// The operation that it slows down, where others have one of their own; `None` where it is of all, or nothing shows which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op: Option<SegmentOp>,
    /// Temperature at which it begins to act, in kelvins; `None` where it acted from the load's beginning on.
    pub onset_k: Option<f64>,
    /// Temperature at which speed recovers; `None` where that was not seen.
    pub release_k: Option<f64>,
    /// Temperature that the drive kept while it acted; `None` where it kept none.
    pub held_k: Option<f64>,
    /// Speed while it acted, in bytes per second.
    pub floor_bytes_per_s: Option<f64>,
}

/// Kinds of heat management. See METHODS for how each is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PolicyClass {
    /// It got hot and was not slowed down, or nothing in the run calls for more.
    None,
    /// On at one temperature, off at a lower one.
    Relay,
    /// Light and heavy, heavy held until the lower threshold.
    TwoLevel,
    /// Speed follows temperature so that temperature stays.
    Regulator,
    /// As a regulator, by bursts.
    DutyCycled,
    /// A firmware threshold, independent of TMT1 and TMT2.
    Vendor,
    /// No I/O at all until it has cooled.
    Stop,
    /// Throttled from the first second of the load on.
    PreLimited,
    /// The data do not decide it.
    Undetermined,
}

/// The fast write cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SlcCache {
    /// Data written until it was full, in bytes.
    pub bytes: u64,
    /// Write speed before, in bytes per second.
    pub before_bytes_per_s: f64,
    /// Write speed after, in bytes per second.
    pub after_bytes_per_s: f64,
}

/// What a run took from a drive's endurance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Wear {
    /// Data that the run wrote, in bytes.
    pub written_by_run_bytes: f64,
    /// Data written between the drive's first and last SMART page of the run, in bytes: in units of 512 kB.
    pub counted_bytes: f64,
    /// Percentage of the endurance used, before the run.
    pub used_percent_before: u8,
    /// The same after it.
    pub used_percent_after: u8,
    /// Rated endurance in bytes; `None` where nobody stated it.
    pub rated_bytes: Option<f64>,
    /// What the run wrote over the rated endurance.
    pub share_of_rated: Option<f64>,
}

/// How load becomes temperature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thermal {
    /// Steady rise in kelvins for each 10^9 B/s of writing, at full speed.
    pub kelvin_per_gb_per_s_write: Option<f64>,
    /// Its 90 % interval.
    #[serde(default)]
    pub kelvin_per_gb_per_s_write_90: Option<[f64; 2]>,
    /// Steady rise in kelvins for each 10^9 B/s of reading, at full speed.
    pub kelvin_per_gb_per_s_read: Option<f64>,
    /// Its 90 % interval.
    #[serde(default)]
    pub kelvin_per_gb_per_s_read_90: Option<[f64; 2]>,
    /// The two time constants in seconds, fast and slow, that come nearest to how the drive heats.
    pub tau_s: Option<Vec<f64>>,
    /// The 90 % interval of each.
    #[serde(default)]
    pub tau_s_90: Option<Vec<[f64; 2]>>,
    /// Temperature without load, in kelvins.
    pub idle_floor_k: Option<f64>,
}

/// Steady state as SNIA's Solid State Storage Performance Test Specification has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyState {
    /// The tracked variable: what its phase does.
    pub tracked: String,
    /// Its speed in each round, in bytes per second.
    pub round_bytes_per_s: Vec<f64>,
    /// Whether a measurement window was steady.
    pub reached: bool,
    /// First and last round of the first window that was steady, else of the last one, from 1; `None` where there
    /// were fewer rounds than a window has.
    pub window: Option<[usize; 2]>,
    /// Average over the window, in bytes per second.
    pub average_bytes_per_s: Option<f64>,
    /// Largest less smallest in the window, as a share of the average: at most 0.2.
    pub data_excursion: Option<f64>,
    /// Change of the best linear fit over the window, as a share of the average: at most 0.1.
    pub slope_excursion: Option<f64>,
}
