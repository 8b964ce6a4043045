//! What a report is made from: series, facts and findings, whatever they came from.
//!
//! [`ReportInput::new`] fills it from a run record, [`ReportInput::from_trace`] from a foreign log.
//! Nothing here knows how the numbers were got. All fields may hold anything: what cannot be drawn is left out later.

mod facts;
mod record;
mod settings;
mod trace;

use analysis::Findings;
use analysis::accesses::AccessCloud;
use analysis::findings::SegmentOp;
use measure::record::Op;

pub use settings::RunSettings;
pub(crate) use settings::{common_settings, labels};

/// Everything a report shows of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportInput {
    /// Where it was read from, as it was typed; `None` where nobody said.
    pub read_from: Option<String>,
    /// The drive: its model, or the address where the model is not known.
    pub drive: String,
    /// The plan's name; `None` for a log that knows none.
    pub plan: Option<String>,
    /// Measured or simulated.
    pub source: Provenance,
    /// Speed by operation.
    pub speed: Vec<OpSpeed>,
    /// Completion latency by operation.
    pub latency: Vec<LatencySeries>,
    /// How latencies are distributed over time, by operation; only of sources that keep histograms.
    pub latency_maps: Vec<LatencyMap>,
    /// I/Os and latencies of each operation in each phase, counted from every I/O; empty for most logs.
    pub loads: Vec<LoadTotals>,
    /// Temperatures in °C; the first is the one that matters most (composite).
    pub temperature: Vec<Readings>,
    /// Power in watts.
    pub power: Vec<Readings>,
    /// Throttle counters, counted from their first reading.
    pub counters: Vec<Counter>,
    /// The plan's phases that began.
    pub phases: Vec<RunPhase>,
    /// Thresholds, limits and settings that are temperatures.
    pub levels: Vec<Level>,
    /// What tells this run from others of a comparison.
    pub settings: RunSettings,
    /// What was run on what, in groups.
    pub facts: Vec<FactGroup>,
    /// When it began, in seconds since 1970; `None` where time is simulated or not known.
    pub began_unix_s: Option<f64>,
    /// Size of what was under load, in bytes.
    pub capacity_bytes: Option<u64>,
    /// What the link carries at most, in bytes per second.
    pub link_bytes_per_s: Option<f64>,
    /// What to do about it, as sentences; the page has a place for it. Empty: the experiment that would settle what is open.
    pub advice: Vec<String>,
    /// The temperature that a governor kept, or was to keep, the load below, in kelvins; `None` where there was none.
    pub governed_below_k: Option<f64>,
    /// What a fit says of the throttling policy, a sentence beside the verdict's; `None` where nothing was fitted.
    pub second_opinion: Option<String>,
    /// Things a reader of the numbers has to know.
    pub notes: Vec<String>,
    /// How the run ended, where that is not "all done".
    pub ending: Option<String>,
    /// Clouds of single accesses of several sizes, where the run keeps them.
    pub clouds: Vec<AccessCloud>,
    /// How to run it again.
    pub reproduce: Reproduce,
    /// Who wrote the record, "heatsoak 0.1.0".
    pub written_by: Option<String>,
    /// What was found.
    pub findings: Findings,
}

/// Where the numbers come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// A drive or a file.
    Measured,
    /// A simulated drive.
    Simulated {
        /// Name of its profile.
        profile: String,
        /// Seed of everything random.
        seed: u64,
    },
    /// A simulated drive behind NVMe/TCP, measured in real time.
    VirtualSsd {
        /// Name of its subsystem.
        nqn: String,
        /// How many times as fast as its host it lives; all times here are its own.
        time_scale: u32,
    },
    /// The log does not say.
    Unknown,
}

/// Speed of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSpeed {
    /// The operation.
    pub op: Op,
    /// Intervals in order of time. Time that none of them covers is a gap.
    pub intervals: Vec<MeanInterval>,
}

/// A mean over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// Start, in seconds since the run began.
    pub start_s: f64,
    /// Length in seconds.
    pub span_s: f64,
    /// The mean over it; bytes per second for a speed.
    pub value: f64,
}

/// Latency quantiles of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencySeries {
    /// The operation.
    pub op: Op,
    /// In order of time.
    pub points: Vec<LatencyPoint>,
}

/// Latency quantiles over a stretch of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyPoint {
    /// Start, in seconds since the run began.
    pub start_s: f64,
    /// Length in seconds.
    pub span_s: f64,
    /// Median in nanoseconds.
    pub p50_ns: f64,
    /// 99 % of I/Os were at most this long, in nanoseconds.
    pub p99_ns: f64,
    /// 99.9 % of I/Os were at most this long, in nanoseconds.
    pub p999_ns: f64,
}

/// Bands of a [`LatencyMap`] in a decade of latency.
pub const LATENCY_BANDS_A_DECADE: i32 = 8;

/// How the completion latencies of one operation are distributed over time.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyMap {
    /// The operation.
    pub op: Op,
    /// Length of a column in seconds; the first begins with the run.
    pub cell_s: f64,
    /// Column, band (floor of 8 times the decimal logarithm of nanoseconds), share of the column's I/Os, over 0 to 1.
    pub cells: Vec<(u32, i32, f64)>,
}

/// What one operation did in one phase, counted from every I/O.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadTotals {
    /// Index into [`ReportInput::phases`].
    pub phase: usize,
    /// The operation.
    pub op: Op,
    /// I/Os that completed without error.
    pub ios: Option<u64>,
    /// Their completion latency.
    pub latency: Option<LatencyTotals>,
}

/// Completion latency of many I/Os, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyTotals {
    /// Median.
    pub p50_ns: f64,
    /// 99 % of I/Os were at most this long.
    pub p99_ns: f64,
    /// 99.9 % of I/Os were at most this long.
    pub p999_ns: f64,
    /// The longest.
    pub max_ns: f64,
}

/// Readings of one thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Readings {
    /// What it is, for people: "composite", "sensor 1".
    pub name: String,
    /// (seconds since the run began, value), in order of time; `None` is a reading that failed.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A throttle counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counter {
    /// What counts.
    pub kind: CounterKind,
    /// (seconds since the run began, how much since the first reading); `None` is a reading that failed.
    pub points: Vec<(f64, Option<f64>)>,
}

impl Counter {
    /// Counts from the first reading on; `None` for one that stood still, which has nothing to show.
    pub fn since_first(kind: CounterKind, mut points: Vec<(f64, Option<f64>)>) -> Option<Self> {
        let first = points.iter().find_map(|point| point.1)?;
        for value in points.iter_mut().filter_map(|point| point.1.as_mut()) {
            *value -= first;
        }
        let has_moved = points.iter().any(|point| point.1.is_some_and(|value| value != 0.0));
        has_moved.then_some(Self { kind, points })
    }
}

/// What a throttle counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterKind {
    /// Times that light throttling began.
    Tmt1Transitions,
    /// Times that heavy throttling began.
    Tmt2Transitions,
    /// Seconds of light throttling.
    Tmt1Seconds,
    /// Seconds of heavy throttling.
    Tmt2Seconds,
}

/// A phase that began.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPhase {
    /// Its name in the plan.
    pub name: String,
    /// Its operations: "read", "read + write", "idle".
    pub op: String,
    /// What it does, for people.
    pub what: String,
    /// Start, in seconds since the run began.
    pub start_s: f64,
    /// End, in seconds since the run began.
    pub end_s: f64,
    /// Why it ended, where that is known.
    pub ended_by: Option<String>,
    /// Rate limit in bytes per second, if any.
    pub rate_limit_bytes_per_s: Option<f64>,
}

/// A temperature that means something.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Which.
    pub kind: LevelKind,
    /// The temperature in kelvins.
    pub temp_k: u16,
}

/// Temperatures that mean something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LevelKind {
    /// Light throttling starts here, set by the host.
    Tmt1,
    /// Heavy throttling starts here, set by the host.
    Tmt2,
    /// Warning composite temperature threshold.
    Warning,
    /// Critical composite temperature threshold.
    Critical,
    /// The run's own thermal limit.
    StopLimit,
}

impl LevelKind {
    /// The name in charts and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tmt1 => "TMT1",
            Self::Tmt2 => "TMT2",
            Self::Warning => "WCTEMP",
            Self::Critical => "CCTEMP",
            Self::StopLimit => "stop limit",
        }
    }
}

/// Facts that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactGroup {
    /// What they are about: "Drive".
    pub title: &'static str,
    /// (name, value).
    pub facts: Vec<(String, String)>,
}

/// How to run it again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reproduce {
    /// The command line.
    pub command: Option<String>,
    /// Files it needs: (name, content).
    pub files: Vec<(String, String)>,
}

impl ReportInput {
    /// Title line without the badge: "SSD1 · hctm-read".
    pub fn title(&self) -> String {
        match &self.plan {
            Some(plan) => format!("{} · {plan}", self.drive),
            None => self.drive.clone(),
        }
    }

    /// "SIMULATED (profile ssd1, seed 1)" for a twin; `None` for what was measured.
    ///
    /// Findings that say so are believed even where the source does not know.
    pub fn simulated_badge(&self) -> Option<String> {
        match &self.source {
            Provenance::Simulated { profile, seed } => {
                Some(format!("SIMULATED (profile {profile}, seed {seed})"))
            }
            Provenance::VirtualSsd { nqn, time_scale: 1 } => Some(format!("SIMULATED (virtual SSD {nqn})")),
            Provenance::VirtualSsd { nqn, time_scale } => {
                Some(format!("SIMULATED (virtual SSD {nqn}, lives {time_scale} times as fast)"))
            }
            _ if self.findings.simulated == Some(true) => Some("SIMULATED".to_owned()),
            _ => None,
        }
    }

    /// Speeds of what moves data: without trims, unless nothing else was done.
    pub(crate) fn data(&self) -> impl Iterator<Item = &OpSpeed> + Clone {
        let only_trims = self.speed.iter().all(|series| series.op == Op::Trim);
        self.speed.iter().filter(move |series| only_trims || series.op != Op::Trim)
    }

    /// Whether any temperature was read.
    pub(crate) fn temperature_is_known(&self) -> bool {
        self.temperature.iter().flat_map(|readings| &readings.points).any(|point| point.1.is_some())
    }

    /// The end of everything that has a time, in seconds since the run began.
    pub(crate) fn end_s(&self) -> f64 {
        let speed = self.speed.iter().flat_map(|s| &s.intervals).map(|i| i.start_s + i.span_s);
        let latency = self.latency.iter().flat_map(|s| &s.points).map(|p| p.start_s + p.span_s);
        let readings = self.temperature.iter().chain(&self.power).flat_map(|r| &r.points).map(|p| p.0);
        let phases = self.phases.iter().map(|p| p.end_s);
        speed.chain(latency).chain(readings).chain(phases).filter(|t| plausible(*t)).fold(0.0, f64::max)
    }
}

/// Whether a number can be a quantity at all: it is one, and none of ours comes near the bound.
pub(crate) fn plausible(value: f64) -> bool {
    value.abs() < 1e15
}

/// The word of a finding's operation that is the same in phases.
pub(crate) const fn op_word(op: SegmentOp) -> &'static str {
    match op {
        SegmentOp::Read => "read",
        SegmentOp::Write => "write",
        SegmentOp::Mixed => "mixed",
        SegmentOp::Trim => "trim",
        SegmentOp::Idle => "idle",
    }
}
