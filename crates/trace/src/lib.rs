//! What an analysis works on: one run, whatever it came from, on one clock.
//!
//! A trace holds speeds, temperatures, counters, power and what is known about the drive, in one shape for
//! our own records and for foreign logs. It keeps all sensors and names the one it trusts.
//!
//! # What it does not do
//! It judges nothing. Gaps stay gaps: a missing interval is a hole between two others, never a zero.

pub mod caveat;
mod demand;
mod life;
mod meters;
mod phases;
mod record;
mod repeats;
mod sensors;
mod totals;
mod transport;
mod wear;

pub use caveat::{Caveat, HostThreshold};
pub use life::LifeCounters;
pub use phases::MINOR_SHARE;
pub use phases::infer_phases;
pub use sensors::STUCK_WHILE_OTHERS_MOVED_K;
pub use sensors::TrustedSensor;
pub use totals::{LoadTotal, load_totals};
pub use wear::WearCounters;

use measure::record::{Op, ThermalSettings};
use measure::{Instant, Series};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One run on one clock. Seconds count from the run's beginning.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Where it comes from, for people: the drive and plan, or the file's name.
    pub name: String,
    /// What is known about drive and run.
    pub facts: Facts,
    /// Stretches in which the load was meant to be one and the same, in order of time.
    pub phases: Vec<Phase>,
    /// Speeds, one series for each operation that occurs.
    pub speeds: Vec<SpeedSeries>,
    /// All temperature sensors there are.
    pub temperatures: Vec<Temperature>,
    /// The sensor that the analysis goes by: an index into `temperatures`, and why it was chosen.
    pub trusted: Option<TrustedSensor>,
    /// The drive's throttle counters.
    pub counters: Series<Counters>,
    /// What the drive has counted over its life, where a reading of it is there; in order of time.
    pub life: Vec<LifeCounters>,
    /// Endurance counters at the two ends of the run; `None` where the drive's pages are not there.
    pub wear: Option<WearCounters>,
    /// Power in watts, by the meter that figures are of.
    pub power_w: Series<f64>,
    /// Every power meter there is, that one first; empty where the source keeps power in one column.
    pub meters: Vec<MeterSeries>,
    /// Share of the time in which the drive had something to do, at the end of that time, where the source counts it.
    pub busy: Series<f64>,
    /// TMT1 and TMT2 as they were in force, from each point on.
    pub settings: Series<ThermalSettings>,
    /// I/Os that failed.
    pub io_errors: u64,
    /// What the source had to say, for people.
    pub notes: Vec<String>,
    /// What was found wrong while the trace was made: times that repeat, rows that were dropped.
    pub caveats: Vec<Caveat>,
}

/// What is known about drive and run. `None` is "the source does not say".
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Whether the numbers come from a simulated drive.
    pub simulated: Option<bool>,
    /// What the link can carry, in bytes per second.
    pub link_bytes_per_s: Option<f64>,
    /// What drive and port could carry together, where that is known to be more.
    pub possible_link_bytes_per_s: Option<f64>,
    /// Warning composite temperature (WCTEMP), in kelvins.
    pub warning_k: Option<f64>,
    /// Critical composite temperature (CCTEMP), in kelvins.
    pub critical_k: Option<f64>,
    /// Lowest settable TMT1 (MNTMT), in kelvins.
    pub tmt_min_k: Option<f64>,
    /// Highest settable TMT2 (MXTMT), in kelvins.
    pub tmt_max_k: Option<f64>,
    /// Capacity of the drive in bytes.
    pub capacity_bytes: Option<u64>,
    /// Size of the fast write cache in bytes, as the maker states it.
    pub slc_bytes: Option<u64>,
    /// TMT1 and TMT2 as they stood before the run and stand again after it, in kelvins, where the source says.
    pub standing_tmt_k: [Option<u16>; 2],
    /// Numbers of the power states that serve I/O; `None` where the source does not say.
    pub power_states: Option<Vec<u8>>,
    /// Temperature around the drive, in kelvins.
    pub ambient_k: Option<f64>,
    /// Power that the meters show without the drive, in watts, and half of its 95 % interval.
    pub power_baseline_w: Option<(f64, f64)>,
    /// Whether the drive was switched on when the run began.
    pub switched_on: bool,
    /// Whether nobody planned the load: less speed may be less demand then, and speeds are there only where it was equal.
    pub unplanned: bool,
    /// Why the run ended before its plan did, as a sentence; `None` where it did not.
    pub ended_early: Option<String>,
}

/// A stretch in which the load was meant to be one and the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name in the plan or the log.
    pub name: String,
    /// What it does in one line, for people; empty where the source does not say.
    pub what: String,
    /// The operation.
    pub op: SegmentOp,
    /// Start in seconds.
    pub start_s: f64,
    /// End in seconds.
    pub end_s: f64,
    /// The plan's rate limit in bytes per second.
    pub rate_limit_bytes_per_s: Option<f64>,
    /// Stretches in which a governor held the load back, start and end in seconds: the speed there is not the drive's.
    pub held: Vec<(f64, f64)>,
    /// Whether its I/O goes through the page cache.
    pub buffered: bool,
    /// Whether it was read off the speeds: then zero speed may as well be no load.
    pub inferred: bool,
    /// Whether it is the one in its round whose speed is to become steady.
    pub tracked: bool,
    /// Whether all it writes goes to a range that the fast write cache holds, written over again.
    pub within_cache: bool,
    /// I/Os that completed in it; `None` where the source does not count them.
    pub ios: Option<u64>,
}

impl Phase {
    /// A phase of which nothing is known but its name, operation and times: no limit, direct I/O.
    pub fn bare(name: &str, op: SegmentOp, start_s: f64, end_s: f64) -> Self {
        Self {
            name: name.to_owned(),
            what: String::new(),
            op,
            start_s,
            end_s,
            rate_limit_bytes_per_s: None,
            held: Vec::new(),
            buffered: false,
            inferred: false,
            tracked: false,
            within_cache: false,
            ios: None,
        }
    }
}

impl Phase {
    /// Whether somebody else than the drive decided how fast it was, all the time or now and then.
    pub fn is_limited(&self) -> bool {
        self.rate_limit_bytes_per_s.is_some() || !self.held.is_empty()
    }

    /// Share of the time from `start_s` to `end_s` in which a governor held the load back.
    pub fn held_share(&self, start_s: f64, end_s: f64) -> f64 {
        let within = |(from_s, to_s): &(f64, f64)| (to_s.min(end_s) - from_s.max(start_s)).max(0.0);
        self.held.iter().map(within).sum::<f64>() / (end_s - start_s).max(f64::MIN_POSITIVE)
    }
}

/// One power meter.
#[derive(Clone, Debug, PartialEq)]
pub struct MeterSeries {
    /// Its address, or `drive` for the drive's own measurement.
    pub name: String,
    /// Where it measures: `wall`, `adapter`, `drive`, `system`; `None` where nobody stated it.
    pub at: Option<String>,
    /// Over which time a reading is the mean, in seconds; `None` where that is not known.
    pub window_s: Option<f64>,
    /// How late a reading is, in seconds; `None` where that is not known.
    pub lag_s: Option<f64>,
    /// Its last digit in watts, as stated.
    pub step_w: Option<f64>,
    /// Its error as a share of the reading, as stated.
    pub accuracy: Option<f64>,
    /// Readings in watts, with the gaps between them.
    pub watts: Series<f64>,
}

/// Speeds of one operation.
#[derive(Clone, Debug, PartialEq)]
pub struct SpeedSeries {
    /// Read, write or trim.
    pub op: SegmentOp,
    /// Closed slices of load accounting, in order of time. A hole between two is a gap.
    pub intervals: Vec<Interval>,
}

/// What the fastest link to a drive that is sold carries, in bytes per second: four lanes of PCIe 6.0.
pub const FASTEST_LINK_BYTES_PER_S: f64 = 32e9;

/// A closed slice of load accounting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Start in seconds.
    pub start_s: f64,
    /// Length in seconds, over 0.
    pub span_s: f64,
    /// Data moved.
    pub bytes: f64,
    /// Index into the trace's phases.
    pub phase: u32,
}

impl Interval {
    /// Where it ends, in seconds.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.span_s
    }

    /// Mean speed over it.
    pub fn bytes_per_s(&self) -> f64 {
        self.bytes / self.span_s
    }
}

/// What the load did in a stretch of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentOp {
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Several operations at once.
    Mixed,
    /// Deallocating.
    Trim,
    /// Nothing.
    Idle,
}

impl SegmentOp {
    /// Whether it moves data, so that it has a speed.
    pub const fn moves_data(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Mixed)
    }
}

impl From<Op> for SegmentOp {
    fn from(op: Op) -> Self {
        match op {
            Op::Read => Self::Read,
            Op::Write => Self::Write,
            Op::Trim => Self::Trim,
            Op::Idle => Self::Idle,
        }
    }
}

/// One temperature sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Temperature {
    /// `composite`, `sensor1` .. `sensor8`, `hwmon`, or the column's name.
    pub name: String,
    /// Readings in kelvins, with the gaps between them.
    pub kelvin: Series<f64>,
}

/// The drive's throttle counters since it was made; `None` is "not reported".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// How often light throttling began.
    pub tmt1_transitions: Option<u64>,
    /// How often heavy throttling began.
    pub tmt2_transitions: Option<u64>,
    /// Seconds of light throttling.
    pub tmt1_seconds: Option<u64>,
    /// Seconds of heavy throttling.
    pub tmt2_seconds: Option<u64>,
}

impl Counters {
    /// Transitions and seconds of one threshold.
    pub const fn at(&self, threshold: HostThreshold) -> (Option<u64>, Option<u64>) {
        match threshold {
            HostThreshold::Tmt1 => (self.tmt1_transitions, self.tmt1_seconds),
            HostThreshold::Tmt2 => (self.tmt2_transitions, self.tmt2_seconds),
        }
    }
}

impl Trace {
    /// A trace without any data.
    pub fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            facts: Facts::default(),
            phases: Vec::new(),
            speeds: Vec::new(),
            temperatures: Vec::new(),
            trusted: None,
            counters: Series::new(),
            life: Vec::new(),
            wear: None,
            power_w: Series::new(),
            meters: Vec::new(),
            busy: Series::new(),
            settings: Series::new(),
            io_errors: 0,
            notes: Vec::new(),
            caveats: Vec::new(),
        }
    }

    /// The temperature that the analysis goes by, in kelvins.
    pub fn temperature(&self) -> Option<&Series<f64>> {
        self.trusted.as_ref().map(|trusted| &self.temperatures[trusted.index].kelvin)
    }

    /// When the first interval or reading begins, in seconds.
    pub fn begin_s(&self) -> Option<f64> {
        let speeds = self.speeds.iter().filter_map(|s| s.intervals.first()).map(|i| i.start_s);
        let temps = self.temperatures.iter().filter_map(|t| t.kelvin.points().first());
        let counters = self.counters.points().first().map(|p| p.t);
        let power = self.power_w.points().first().map(|p| p.t);
        let instants = temps.map(|p| p.t).chain(counters).chain(power).map(Instant::as_secs_f64);
        speeds.chain(instants).min_by(f64::total_cmp)
    }

    /// When the last interval or reading ends, in seconds; 0 for an empty trace.
    pub fn end_s(&self) -> f64 {
        let speeds = self.speeds.iter().filter_map(|s| s.intervals.last()).map(Interval::end_s);
        let temps = self.temperatures.iter().filter_map(|t| t.kelvin.points().last());
        speeds.chain(temps.map(|p| p.t.as_secs_f64())).fold(0.0, f64::max)
    }

    /// Share of the time from the first speed to the last for which none was read, but for idle phases that the source
    /// names; 0 without any.
    pub fn unread_share(&self) -> f64 {
        let ends = self.speeds.iter().flat_map(|series| &series.intervals).map(Interval::end_s);
        let end_s = ends.fold(f64::NEG_INFINITY, f64::max);
        let mut totals = load_totals(&self.speeds).peekable();
        let Some(begin_s) = totals.peek().map(|total| total.first.start_s) else { return 0.0 };
        let idle = self.phases.iter().filter(|phase| phase.op == SegmentOp::Idle && !phase.inferred);
        let mut idle: Vec<(f64, f64)> =
            idle.map(|phase| (phase.start_s.max(begin_s), phase.end_s.min(end_s))).collect();
        idle.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut idle = idle.into_iter().peekable();
        let (mut until_s, mut unread_s) = (begin_s, 0.0);
        let mut read = |(from_s, to_s): (f64, f64)| {
            unread_s += (from_s - until_s).max(0.0);
            until_s = until_s.max(to_s);
        };
        for total in totals {
            while let Some(phase) = idle.next_if(|phase| phase.0 < total.first.start_s) {
                read(phase);
            }
            read((total.first.start_s, total.end_s));
        }
        idle.for_each(read);
        if end_s > begin_s { unread_s / (end_s - begin_s) } else { 0.0 }
    }

    /// TMT1 and TMT2 in force at `t_s`, in kelvins; 0 (disabled) is `None` as well as "not known".
    pub fn tmt_at(&self, t_s: f64) -> (Option<f64>, Option<f64>) {
        let kelvin = |k: Option<u16>| k.filter(|k| *k > 0).map(f64::from);
        match self.settings_at(t_s) {
            Some(settings) => (kelvin(settings.tmt1_k), kelvin(settings.tmt2_k)),
            None => (None, None),
        }
    }

    /// Settings in force at `t_s`; `None` where the source does not say.
    pub fn settings_at(&self, t_s: f64) -> Option<&ThermalSettings> {
        let points = self.settings.points();
        let after = points.partition_point(|point| point.t.as_secs_f64() <= t_s);
        points.get(after.saturating_sub(1)).map(|point| &point.value)
    }
}

/// A moment `t_s` seconds after the run's beginning; moments before it are the beginning.
pub fn instant(t_s: f64) -> Instant {
    // `as` saturates, which is what a time beyond 584 years deserves.
    Instant::from_ns((t_s * 1e9).round() as u64)
}
