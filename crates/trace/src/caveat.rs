//! Why the numbers of a run deserve care, with the numbers that say how much.
//!
//! One list for all who find one: importers, the analysis of a run, that of several runs. METHODS says when each is made.
//! `kind` and `case` in JSON are fixed names for scripts.
//!
//! # What it does not do
//! It has no sentences: `analysis::wording` makes them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SegmentOp;

/// Why a number deserves care.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Caveat {
    /// Faster than the link for `span_s` of `of_s` of load, by more than a log's clock makes of it; `lasting` where the
    /// mean of a level is.
    AboveLinkRate { span_s: f64, of_s: f64, lasting: bool, fastest_bytes_per_s: f64, link_bytes_per_s: f64 },
    /// The temperature around the drive that was stated is above what the drive itself was read at.
    AmbientAboveDrive { ambient_k: f64, coolest_k: f64 },
    /// The temperature around the drive is not known.
    AmbientUnknown,
    /// The link may be what limits; `all_of_it` where the speed is its rate and not only what its protocol leaves.
    AtLinkRate {
        span_s: f64,
        bytes_per_s: f64,
        link_bytes_per_s: f64,
        all_of_it: bool,
        #[serde(default)]
        possible_bytes_per_s: Option<f64>,
    },
    /// Intervals are long: most of them, and the longest.
    Averaged {
        interval_s: f64,
        #[serde(default)]
        longest_interval_s: Option<f64>,
    },
    /// Times are doubtful.
    Clock(ClockDoubt),
    /// The clocks of speed and temperature move apart.
    ClockDrift { over_s: f64, by_s: f64, scatter_s: f64 },
    /// The temperature's clock was not that of the speed, and was set by how it follows.
    ClockOffsetEstimated { lead: String, part: String, offset_s: f64, uncertainty_s: f64, explained: f64 },
    /// A clock was set within the run.
    ClockStep(ClockStep),
    /// Sensors that show what the composite shows.
    CopiedSensor { sensors: Vec<String> },
    /// Counters moved while the temperature was nowhere near their threshold.
    CountersWithoutHeat(CounterDoubt),
    /// TMT counters moved during loads that heat did not slow down: how often throttling began, and for how many seconds.
    CountersWithoutSlowdown { threshold: HostThreshold, transitions: Option<u64>, seconds: Option<u64> },
    /// Speed goes to and fro at a fixed interval.
    Cyclostationary(Cycles),
    /// Part of the record is not there.
    Damaged(Damage),
    /// Rows that are there twice.
    Duplicated { file: String, rows: usize, first_line: usize },
    /// Another run of the drive was much faster at what may be the same load: whether this run was at full speed is not known.
    FasterInOtherRun { op: SegmentOp, bytes_per_s: f64 },
    /// A temperature that is not measured.
    FrozenSensor(StillSensor),
    /// A series has holes.
    Gap(Hole),
    /// I/O that failed.
    IoErrors(IoFailure),
    /// How speed follows from temperature stays open.
    MechanismUndetermined { seen: SlowdownSeen },
    /// No temperature to go by; `outside_load` where there is one at other times, `counted` where the drive counted throttling.
    NoTemperature {
        outside_load: bool,
        #[serde(default)]
        counted: bool,
    },
    /// Several runs are one record.
    SameRecord {
        runs: usize,
        records: usize,
        /// Whether every number is the same; else their courses are, within rounding and the lengths of rows.
        #[serde(default = "yes")]
        exact: bool,
    },
    /// None of the runs was throttled; this is the hottest of them. Whether a governor kept it from getting hotter.
    NotHotEnough {
        runs: usize,
        hottest_k: Option<f64>,
        #[serde(default)]
        governed: bool,
    },
    /// Values that the run did not show.
    NotSeen { values: Vec<Unseen> },
    /// Other logs of the same run lie beside those read.
    OtherJobs { first: String, last: String },
    /// Phases whose I/O goes through the page cache.
    PageCache { phases: Vec<String> },
    /// A run was at full speed far above a threshold at which the same load was throttled in others.
    RunsDisagree { run: String, free_k: f64, threshold_k: f64 },
    /// Another run of the drive was much faster at the same load in another power state.
    SlowerPowerState {
        op: SegmentOp,
        power_state: u8,
        bytes_per_s: f64,
        faster_power_state: u8,
        faster_bytes_per_s: f64,
    },
    /// How the drive manages its heat stays open.
    PolicyUndetermined { seen: SlowdownSeen },
    /// No run shows a release.
    ReleaseNotSeen,
    /// The drive is simulated.
    Simulated,
    /// Heat slowed the drive down and its counters stood still.
    SlowdownWithoutCounters { why: StillCounters },
    /// Temperatures that lie far from those before and after them, the farthest by so much: not used.
    SensorSpikes { readings: usize, by_k: f64 },
    /// Temperatures are rare.
    SlowTemperature { period_s: f64 },
    /// Parts do not add up to the total.
    SumDiffers(Sums),
    /// How load becomes temperature stays open.
    ThermalNotIdentified(HeatingUnknown),
    /// Which setting a threshold follows stays open.
    ThresholdUndetermined { settings: SettingsSeen },
    /// The load was short.
    TooShort { longest_s: f64 },
    /// No I/O of a USB drive ended for as long as the kernel waits before it resets the bridge; or the kernel's log says that
    /// it gave commands up or reset the transport, with that line in `log`. `stopped_s` is 0 where no I/O waited.
    TransportReset {
        start_s: f64,
        stopped_s: f64,
        #[serde(default)]
        log: Option<String>,
    },
    /// The drive left the bus, by this line of the kernel's log.
    TransportLost { at_s: f64, log: String },
    /// The end of a file is missing.
    Truncated { file: Option<String>, line: usize, left_out: CutOff },
    /// The run ended before its plan did.
    Unfinished { why: String },
    /// A column does not state its unit; `tests` where only some of a file's tests do not.
    UnitUnstated { file: String, tests: Option<usize> },
    /// Temperatures are whole kelvins, in steps of so many.
    WholeKelvin {
        #[serde(default = "one_kelvin")]
        step_k: f64,
    },
}

/// What findings that do not say it had in mind.
const fn yes() -> bool {
    true
}

/// What findings that name no step had in mind.
const fn one_kelvin() -> f64 {
    1.0
}

/// A threshold that the host sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostThreshold {
    /// Of light throttling.
    Tmt1,
    /// Of heavy throttling.
    Tmt2,
}

impl fmt::Display for HostThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tmt1 => "TMT1",
            Self::Tmt2 => "TMT2",
        })
    }
}

/// What is wrong with times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum ClockDoubt {
    /// Intervals begin before the one before has ended.
    Overlap { intervals: usize },
    /// Times fall back within a file: several jobs of fio in one.
    JobsInOneFile { file: String, times: usize, first_line: usize },
    /// Logs of several jobs of fio, each from its own start.
    JobStarts { logs: String },
    /// Readings at the time of the one before.
    SameTime { readings: usize },
    /// Readings without a time: when their files were written was taken.
    FileTimes,
    /// Readings without a time: the dates in the names of their files were taken, which have no time of day.
    DatesInNames,
    /// Rows that do not lie after the row before.
    RowsLeftOut { rows: usize },
    /// The clock was set by an hour, as where daylight saving time ends (back) or begins.
    DaylightSaving { file: String, after: String, is_back: bool },
    /// The clock was set back by so much, and `more` times again; rows go on after the usual step.
    SetBack { file: String, after: String, by_s: f64, more: usize, step_s: f64 },
    /// Rows from this one on are older than all before: sorted by time.
    OlderRows { file: String, first_row: usize },
}

/// A step of one clock against the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockStep {
    /// Last moment before it, in seconds.
    pub after_s: f64,
    /// First moment after it.
    pub before_s: f64,
    /// By how much the temperature's times become later.
    pub by_s: f64,
    /// How far the offsets scatter on both sides.
    pub scatter_s: f64,
    /// Whether whole cycles of the load may come on top.
    pub cyclic: bool,
    /// Whose clock it was; `None` where it is not known.
    pub set: Option<SteppedClock>,
}

/// The clock that stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "whose it is")]
pub enum SteppedClock {
    Speed,
    Temperature,
}

/// How a counter contradicts the composite temperature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum CounterDoubt {
    /// The composite never moved.
    StillComposite { threshold: HostThreshold, moved: usize, composite_k: f64 },
    /// The composite was at least this far below the threshold.
    FarBelow { threshold: HostThreshold, moved: usize, below_k: f64 },
}

/// What comes at a fixed interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Cycles {
    /// Throttling.
    Heat { period_s: f64 },
    /// Dips that are not heat: lengths of rounds with which steady state is rarest and commonest, and in which share of
    /// windows it is met.
    Dips { period_s: f64, round_s: [f64; 2], steady_share: [f64; 2] },
}

/// What of a record is not there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub enum Damage {
    /// A table of a run that has ended.
    Table { file: String },
    /// A table of a run that was cut short, from where it is not what was written.
    Rest { file: String, bytes: u64, after_s: Option<f64>, why: String },
    /// The manifest is not as it was written.
    Manifest,
    /// The phases that intervals belong to.
    Phases { intervals: usize },
}

/// Why a temperature is taken for none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum StillSensor {
    /// It never moved while another sensor did.
    BesideOthers { sensor: String },
    /// It never moved, load or not.
    WholeRun { temp_k: f64 },
    /// It had moved, and stopped while another one went on.
    Stopped { sensor: String, temp_k: f64, from_s: f64, to_s: f64, other: String, other_moved_k: f64 },
}

/// Where a series has holes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Hole {
    Speed {
        holes: usize,
        missing_s: f64,
    },
    Temperature {
        holes: usize,
        missing_s: f64,
        reason: Option<String>,
    },
    /// A counter of bytes that began anew.
    CounterReset {
        resets: usize,
    },
}

/// Which I/O failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is")]
pub enum IoFailure {
    Some {
        failed: u64,
    },
    /// A job of fio ended with this error.
    Job {
        job: String,
        error: i64,
    },
}

/// What was seen of slowing down where the rule behind it stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlowdownSeen {
    /// There is a temperature and no load.
    NoLoad,
    /// There is no load, and by its own counters the drive was throttled before at TMT1 or TMT2.
    CountedWithoutLoad,
    /// No temperature was read during a load.
    NoTemperature,
    /// The temperature was the same in every reading: of a sensor that is stuck, or of a drive that was held there all along.
    StillTemperature,
    /// The load lasted for some seconds.
    ShortLoad,
    /// The speed was not read for most of the time.
    LoadUnread,
    /// Speed dropped, and whether heat caused it is not determined.
    Unexplained,
    /// Writing fell and stayed slow, by heat or by a full cache.
    HeatOrCache,
    /// A load ran only where drives are throttled: how fast it is on a cool drive is not known.
    NeverCool,
    /// A load was never at one speed where drives are throttled, as cycles look that are shorter than the rows.
    NeverSteady,
    /// It was short or irregular.
    Irregular,
    /// No drop was heat, and speed fell for seconds at a time only while the drive was hot.
    OnlyHot,
    /// The temperature stood at its highest though speed changed by more than that takes to move it.
    Clipped,
    /// Nobody knows what was asked for, and each load ended at one temperature, however long it had lasted.
    EndedAlike,
    /// Each drop is shorter than two rows of the log, so its lowest speed is not known.
    BetweenRows,
    /// Speed followed the temperature, without a release or a temperature that stood from the onset to the end.
    Following,
    /// One step to a speed that stayed the same.
    OneStep,
    /// Several runs show neither one speed nor one temperature.
    SeveralRuns,
}

/// What the settings of several runs show of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettingsSeen {
    /// No run says what TMT1 and TMT2 were.
    Unknown,
    /// Both were changed together.
    ChangedTogether,
    /// Too few settings.
    TooFew,
    /// All runs have the same.
    AllAlike,
}

/// Why counters may have stood still beside heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StillCounters {
    /// It was a firmware threshold, which they do not count.
    OwnThreshold,
    /// They have counted before.
    CountedBefore,
    /// They have never counted.
    NeverCounted,
}

/// Sums that differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Sums {
    /// Logs of fio against its own total.
    Fio { op: SegmentOp, logged_bytes: f64, reported_bytes: f64 },
    /// Iometer's rows of workers against its total.
    Iometer { file: String, line: usize, workers_mb: f64, total_mb: f64 },
}

/// Why a heating model is not given, or not in full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "case", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum HeatingUnknown {
    FewTemperatures,
    /// It was read this often, which gives too few readings in the longest part of a run that is fitted.
    RareTemperatures {
        every_s: f64,
        longest_s: f64,
    },
    /// The speed was not read for this share of the time.
    LoadUnread {
        share: f64,
    },
    ShortRun,
    /// The temperature hardly changed.
    EvenTemperature,
    /// The best model misses the readings by so much, as a root mean square.
    ModelOff {
        rms_k: f64,
    },
    /// The best model has the drive warmer at rest than it was under load, in kelvins.
    WarmerAtRest {
        floor_k: f64,
        coolest_k: f64,
    },
    /// Gains from models that fit alike differ too much.
    SeveralModels,
    /// Only their time constants do.
    TimeConstants,
}

/// Which rows were left out because their end is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "its name says it")]
pub enum CutOff {
    LastLine,
    LastStatus,
    LastReading,
    Line,
    Test,
}

/// A value that a run did not show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "value", rename_all = "snake_case")]
#[expect(missing_docs, reason = "a field's name says what it is, and its unit")]
pub enum Unseen {
    /// The size of the write cache; `over_stated` where it ended after more than twice what is stated.
    SlcBytes {
        written_bytes: f64,
        over_stated: bool,
        /// All that was written, where some of it was while writing was slow: it may lie beyond the cache's end.
        #[serde(default)]
        in_all_bytes: Option<f64>,
    },
    Onset,
    Release,
    /// Of several thresholds those of the lightest, beside others that were seen.
    LightestOnset,
    LightestRelease,
    /// How this operation warms the drive; `moved` where it did move data.
    Heating {
        op: SegmentOp,
        moved: bool,
    },
}
