//! What a fit takes from a trace: speed second by second, readings as intervals, settings, verdicts on each second.
//!
//! Speeds are cut into seconds whatever their intervals were: bytes are spread evenly over the interval they came in.
//! A reading says that the temperature lay between itself and the next step of the sensor, no more; whether a drive
//! rounds down or to the nearest moves thresholds and floor alike, and so no prediction.

use analysis::Findings;
use analysis::findings::{Cause, EventKind, Label};
use trace::{HostThreshold, SegmentOp, Trace};

use crate::host::{HostSpeeds, asked, limit_trickle};
use crate::mixed::SAME_SHARE;
use crate::sample::LimitsK;

/// Length of a step in seconds. A second is short against the fastest mode that a fit looks for (2 s) and long enough
/// for a burst of a duty-cycled drive to average out.
pub const STEP_S: f64 = 1.0;

/// A load that is slower than this share of the fastest second warms nothing.
pub(crate) const TRICKLE: f64 = 0.1;

/// A mix keeps its ratio where so many of its stretches of so many seconds do.
const STEADY: f64 = 0.9;
const SHARE_S: usize = 10;

/// One run, ready to be fitted.
#[derive(Clone, Debug)]
pub struct RunData {
    /// Where it comes from, for people.
    pub name: String,
    /// Whether its drive is simulated.
    pub simulated: bool,
    /// Seconds, from the run's beginning.
    pub steps: Vec<LoadStep>,
    /// What its loads do, as the source says; of a log that names none, nothing.
    pub loads: Vec<String>,
    /// Readings of the temperature, in order of time.
    pub readings: Vec<FitReading>,
    /// Step of the sensor in kelvins.
    pub resolution_k: f64,
    /// Time between readings.
    pub period_s: f64,
    /// TMT1 and TMT2 as set; `None` where off or not known.
    pub tmt_k: [Option<f64>; 2],
    /// Whether the source says what TMT1 and TMT2 were.
    pub tmt_recorded: [bool; 2],
    /// When TMT1 or TMT2 was changed for the first time, as the source says.
    pub changed_s: Option<f64>,
    /// Whether the drive's counters of TMT1 and TMT2 moved; `None` where it has none.
    pub counted: [Option<bool>; 2],
    /// Power state, where the source says.
    pub power_state: Option<u8>,
    /// Power states of the drive that serve I/O, where the source says.
    pub power_states: Option<Vec<u8>>,
    /// Air around the drive, where somebody said.
    pub ambient_k: Option<f64>,
    /// Airflow over that of the other runs, as somebody said.
    pub airflow: f64,
    /// Limits of the drive.
    pub limits: LimitsK,
    /// TMT1 and TMT2 before the run and after it, where the source says.
    pub standing_tmt_k: [Option<u16>; 2],
    /// What the link carries.
    pub link_bytes_per_s: Option<f64>,
    /// The stated write cache.
    pub slc_bytes: Option<u64>,
    /// How large the drive is, where the source says.
    pub capacity_bytes: Option<u64>,
    /// What the verdict said.
    pub findings: Findings,
    /// Whether the verdict took a trickle of the host for throttling: its class of policy is then none.
    pub misread: bool,
    /// Where heat slowed the drive down and where that ended: time, cause, whether it began.
    pub throttles: Vec<(f64, Cause, bool)>,
}

/// A second of load.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadStep {
    /// Read speed in GB/s (10^9).
    pub read: f64,
    /// Write speed in GB/s.
    pub write: f64,
    /// Mean power in watts, where it was measured.
    pub power_w: Option<f64>,
    /// What the load was meant to do.
    pub asked: Asked,
    /// Which of the run's loads it is.
    pub load: u16,
    /// Share of its bytes that a mix reads; of no other load.
    pub read_share: f64,
    /// The rate that it was limited to, in GB/s, where the source says.
    pub limit: Option<f64>,
    /// What that load reaches when nothing slows it down, in GB/s, where another one of its operation is faster.
    pub reaches: Option<f64>,
    /// What the verdict says of this second.
    pub label: Option<Label>,
}

impl LoadStep {
    /// Of both operations together, in GB/s.
    pub(crate) fn speed(&self) -> f64 {
        self.read + self.write
    }

    /// Whether the same load goes on.
    pub(crate) fn goes_on(&self, next: &Self) -> bool {
        self.asked == next.asked && self.load == next.load
    }
}

/// What a second's load was meant to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asked {
    /// Nothing.
    #[default]
    Nothing,
    /// Read as fast as it goes.
    Read,
    /// Write as fast as it goes.
    Write,
    /// Read and write at once as fast as it goes, in one ratio.
    Mixed,
    /// Something of which the speed says nothing about the drive: a rate limit, a mix whose ratio moves, deallocation.
    Limited,
}

/// A reading of the temperature.
#[derive(Clone, Copy, Debug)]
pub struct FitReading {
    /// When, in seconds.
    pub t_s: f64,
    /// What it said.
    pub kelvin: f64,
}

impl RunData {
    /// Takes what a fit needs; `ambient_k` is what somebody said of the air.
    pub fn new(trace: &Trace, ambient_k: Option<f64>) -> Self {
        Self::with_findings(trace, analysis::analyze(trace), ambient_k)
    }

    /// The same, where the verdict is there already.
    pub fn with_findings(trace: &Trace, findings: Findings, ambient_k: Option<f64>) -> Self {
        let facts = &trace.facts;
        let readings: Vec<FitReading> = trace.temperature().map_or_else(Vec::new, |series| {
            let points = series.points().iter();
            points.map(|point| FitReading { t_s: point.t.as_secs_f64(), kelvin: point.value }).collect()
        });
        let at_s = trace.begin_s().unwrap_or(0.0) + 1.0;
        let (tmt1_k, tmt2_k) = trace.tmt_at(at_s);
        let settings = trace.settings_at(at_s);
        let resolution_k = resolution_k(&readings);
        let loads = loads(trace);
        let (steps, misread) = steps(trace, &findings, &readings, &loads, resolution_k);
        Self {
            name: trace.name.clone(),
            simulated: facts.simulated == Some(true),
            steps,
            loads,
            resolution_k,
            period_s: period_s(&readings),
            readings,
            tmt_k: [tmt1_k, tmt2_k],
            tmt_recorded: settings
                .map_or([false; 2], |s| [s.tmt1_k, s.tmt2_k].map(|kelvin| kelvin.is_some())),
            changed_s: changed_s(trace),
            counted: [HostThreshold::Tmt1, HostThreshold::Tmt2].map(|threshold| counted(trace, threshold)),
            power_state: settings.and_then(|settings| settings.power_state),
            power_states: facts.power_states.clone(),
            ambient_k: ambient_k.or(facts.ambient_k),
            airflow: 1.0,
            limits: LimitsK {
                warning_k: facts.warning_k,
                critical_k: facts.critical_k,
                tmt_min_k: facts.tmt_min_k,
                tmt_max_k: facts.tmt_max_k,
            },
            standing_tmt_k: facts.standing_tmt_k,
            link_bytes_per_s: facts.link_bytes_per_s,
            slc_bytes: facts.slc_bytes.or(findings.slc_cache.as_ref().map(|cache| cache.bytes)),
            capacity_bytes: facts.capacity_bytes,
            throttles: throttles(&findings),
            misread,
            findings,
        }
    }

    /// The same run as one with so many times the airflow of others.
    pub fn at_airflow(self, airflow: f64) -> Self {
        Self { airflow, ..self }
    }

    /// Whether it was in a power state; a log that does not say is taken for one that was.
    pub fn is_in_state(&self, state: Option<u8>) -> bool {
        self.power_state.is_none() || state.is_none() || self.power_state == state
    }

    /// Whether it says what TMT1 or TMT2 was.
    pub fn settings_known(&self) -> bool {
        self.tmt_recorded.contains(&true)
    }

    /// The hottest reading in kelvins.
    pub fn hottest_k(&self) -> Option<f64> {
        self.readings.iter().map(|reading| reading.kelvin).max_by(f64::total_cmp)
    }
}

/// Those at the airflow of the first and in a power state: what the heat and the throttles are fitted to. Other ones say one number.
pub(crate) fn fitted_to(runs: &[RunData], state: Option<u8>) -> Vec<&RunData> {
    let alike = |run: &&RunData| run.airflow == runs[0].airflow && run.is_in_state(state);
    runs.iter().filter(alike).collect()
}

/// What the loads of a run do, each once.
fn loads(trace: &Trace) -> Vec<String> {
    let mut loads: Vec<String> = Vec::new();
    for phase in &trace.phases {
        if !loads.contains(&phase.what) && loads.len() < usize::from(u16::MAX) {
            loads.push(phase.what.clone());
        }
    }
    loads
}

/// Cuts the run into seconds; whether the verdict took a trickle of the host for throttling.
fn steps(
    trace: &Trace,
    findings: &Findings,
    readings: &[FitReading],
    loads: &[String],
    resolution_k: f64,
) -> (Vec<LoadStep>, bool) {
    let count = (trace.end_s() / STEP_S).ceil() as usize;
    let mut steps = vec![LoadStep::default(); count];
    for series in &trace.speeds {
        for interval in &series.intervals {
            let (from, to) = (interval.start_s / STEP_S, interval.end_s() / STEP_S);
            let last = (to.ceil() as usize).min(count);
            for (at, step) in steps.iter_mut().enumerate().take(last).skip(from as usize) {
                let within = (to.min(at as f64 + 1.0) - from.max(at as f64)).max(0.0);
                let gb_per_s = interval.bytes_per_s() / 1e9 * within;
                match series.op {
                    SegmentOp::Read => step.read += gb_per_s,
                    SegmentOp::Write => step.write += gb_per_s,
                    _ => {}
                }
            }
        }
    }
    for phase in &trace.phases {
        let asked = match phase.op {
            SegmentOp::Idle => Asked::Nothing,
            _ if phase.rate_limit_bytes_per_s.is_some() || phase.buffered => Asked::Limited,
            SegmentOp::Read => Asked::Read,
            SegmentOp::Write => Asked::Write,
            // A log that names no phases does not say what a host asked for of each.
            SegmentOp::Mixed if !phase.inferred => Asked::Mixed,
            SegmentOp::Mixed | SegmentOp::Trim => Asked::Limited,
        };
        let limit = phase.rate_limit_bytes_per_s.map(|limit| limit / 1e9);
        let load = loads.iter().position(|load| *load == phase.what).unwrap_or(0) as u16;
        let within = |at: usize| (phase.start_s..phase.end_s).contains(&(at as f64 + 0.5));
        for (_, step) in steps.iter_mut().enumerate().filter(|(at, _)| within(*at)) {
            (step.asked, step.load, step.limit) = (asked, load, limit);
        }
    }
    settle_mixes(&mut steps);
    // A log that names no phases names no rate limits either: the verdict does. One that says nothing of what they do may not.
    let inferred = trace.phases.iter().all(|phase| phase.inferred);
    let told = trace.phases.iter().any(|phase| !phase.what.is_empty());
    let host = HostSpeeds::new(findings);
    for segment in &findings.segments {
        let (from, to) = (segment.start_s.round() as usize, segment.end_s.round() as usize);
        let to = to.min(count);
        let held = (!told && host.held(segment)).then_some(Asked::Limited);
        let asked = held.or_else(|| asked(segment).filter(|_| inferred));
        for step in &mut steps[from.min(to)..to] {
            step.label = Some(segment.label);
            step.asked = asked.unwrap_or(step.asked);
        }
    }
    let misread = inferred && limit_trickle(&mut steps, readings, resolution_k);
    for point in trace.power_w.points() {
        if let Some(step) = steps.get_mut((point.t.as_secs_f64() / STEP_S) as usize) {
            step.power_w = Some(point.value);
        }
    }
    (steps, misread)
}

/// Gives each mix its share of reads. One whose share moves is limited: part of it asks for what it gets, and the rest for all
/// that is left.
fn settle_mixes(steps: &mut [LoadStep]) {
    for mix in steps.chunk_by_mut(|step, next| step.goes_on(next)).filter(|of| of[0].asked == Asked::Mixed) {
        // Of a slow mix a second has few I/Os, of one operation more often than of the other.
        let blocks = mix.chunks(SHARE_S).map(|steps| {
            let sum = |of: fn(&LoadStep) -> f64| steps.iter().map(of).sum::<f64>();
            (sum(|step| step.read), sum(LoadStep::speed))
        });
        let shares: Vec<f64> =
            blocks.filter(|(_, moved)| *moved > 0.0).map(|(read, moved)| read / moved).collect();
        let usual = median(&shares).unwrap_or(0.0);
        let near = shares.iter().filter(|share| (*share - usual).abs() < SAME_SHARE).count();
        for step in mix {
            if near as f64 >= STEADY * shares.len() as f64 && !shares.is_empty() {
                step.read_share = usual;
            } else {
                step.asked = Asked::Limited;
            }
        }
    }
}

/// The last reading up to a moment, in kelvins.
pub(crate) fn reading_k(readings: &[FitReading], until_s: f64) -> Option<f64> {
    let after = readings.partition_point(|reading| reading.t_s <= until_s);
    readings.get(after.checked_sub(1)?).map(|reading| reading.kelvin)
}

/// The first change that a source tells; one that tells nothing for a while tells of none.
fn changed_s(trace: &Trace) -> Option<f64> {
    let changed =
        |before: Option<u16>, now: Option<u16>| before.zip(now).is_some_and(|(before, now)| before != now);
    let pairs = trace.settings.points().windows(2);
    let at_s = pairs.filter_map(|pair| {
        let [before, now] = [&pair[0].value, &pair[1].value];
        let is_changed = changed(before.tmt1_k, now.tmt1_k) || changed(before.tmt2_k, now.tmt2_k);
        is_changed.then(|| pair[1].t.as_secs_f64())
    });
    at_s.min_by(f64::total_cmp).filter(|t_s| *t_s < trace.end_s())
}

/// Whether the counter of a threshold moved in the run.
fn counted(trace: &Trace, threshold: HostThreshold) -> Option<bool> {
    let transitions = |point: &measure::Point<trace::Counters>| point.value.at(threshold).0;
    let points = trace.counters.points();
    Some(points.first().and_then(transitions)? != points.last().and_then(transitions)?)
}

fn throttles(findings: &Findings) -> Vec<(f64, Cause, bool)> {
    let heat = findings.events.iter().filter(|event| event.cause.is_heat());
    heat.filter_map(|event| match event.kind {
        EventKind::ThrottleOnset | EventKind::ThermalShutdown => Some((event.t_s, event.cause, true)),
        EventKind::ThrottleRelease => Some((event.t_s, event.cause, false)),
        _ => None,
    })
    .collect()
}

/// The smallest step between readings; 1 K where they never move.
fn resolution_k(readings: &[FitReading]) -> f64 {
    let steps = readings.windows(2).map(|pair| (pair[1].kelvin - pair[0].kelvin).abs());
    let least = steps.filter(|step| *step > 1e-6).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least.clamp(0.05, 10.0) } else { 1.0 }
}

/// The usual time between readings: the median.
fn period_s(readings: &[FitReading]) -> f64 {
    let mut spans: Vec<f64> = readings.windows(2).map(|pair| pair[1].t_s - pair[0].t_s).collect();
    spans.sort_by(f64::total_cmp);
    spans.get(spans.len() / 2).copied().unwrap_or(1.0).max(0.05)
}

/// The middle one.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}
