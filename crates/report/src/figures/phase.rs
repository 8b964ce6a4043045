//! The figures of one operation in one phase: the only place where they are computed.
//!
//! Page, terminal, picture and comparison all show these, so that no two of them can disagree.

use std::borrow::Cow;
use std::collections::BTreeMap;

use analysis::findings::{Label, Segment, SegmentOp};
use analysis::power::PowerRow;
use analysis::wobble::PhaseWobble;
use measure::record::Op;
use trace::Caveat;
use trace::caveat::SlowdownSeen;

use super::reference::{self, FasterLoad};
use super::series::{self, SlowestSample, SpeedDistribution, covered_mean, quantile_of_sorted, seconds_of};
use super::within::{self, Told};
use crate::sentences;
use crate::view::{LatencyTotals, MeanInterval, ReportInput, RunPhase, op_word};

/// An I/O of at most this many bytes is judged by IOPS and latency, a larger one by throughput: random loads of
/// 4 to 16 KiB are specified in IOPS, sequential ones of 128 KiB and more in MB/s (data sheets; SNIA PTS 2.0.2).
const SMALL_IO_BYTES: f64 = 16.0 * 1024.0;

/// A mean within this share of full speed is full speed: the spread of a steady load, and rounding.
const FULL_SHARE: f64 = 0.995;

/// What came of one operation in one phase. `None` is "not known".
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PhaseFigures {
    /// The phase's name in the plan; "–" in a log that names none.
    pub(crate) phase: String,
    /// The operation: "read", "write", "trim", "idle".
    pub(crate) op: &'static str,
    /// The load in one line: "random read, 4 KiB, depth 32"; empty where the source does not say.
    pub(crate) what: String,
    /// How often the same load came before in this run.
    pub(crate) repetition: usize,
    /// When it began, in seconds since the run began.
    pub(crate) start_s: f64,
    /// How long it took, in seconds.
    pub(crate) span_s: f64,
    /// Mean speed over the time that is covered, in bytes per second.
    pub(crate) mean_bytes_per_s: Option<f64>,
    /// Full speed of the same load, which the mean is held against.
    pub(crate) full: Option<FullSpeed>,
    /// Whether it may have been throttled from its first second on: its full speed is not known.
    pub(crate) never_cool: bool,
    /// How fast another run of the drive was at what may be the same load, in bytes per second.
    pub(crate) other_run_bytes_per_s: Option<f64>,
    /// How much of its time was recorded, in seconds.
    pub(crate) covered_s: f64,
    /// In how many rows it was recorded.
    pub(crate) rows: usize,
    /// The phase of the same load that shows full speed; where it is not known, one whose operation was faster.
    pub(crate) faster: Option<FasterLoad>,
    /// Whether its segments are of reads and writes together.
    pub(crate) is_mixed: bool,
    /// Speed while throttled, in bytes per second: what its drops fell to where there are several, else their mean.
    pub(crate) throttled_bytes_per_s: Option<f64>,
    /// How long it was throttled, in seconds; `None` where heat could not be judged.
    pub(crate) throttled_s: Option<f64>,
    /// Standard error of the mean, in bytes per second: 1 s means about the level of their segment.
    pub(crate) noise_bytes_per_s: Option<f64>,
    /// 5 % and 95 % of the 1 s means, in bytes per second.
    pub(crate) spread_bytes_per_s: Option<[f64; 2]>,
    /// The slowest of its 1 s means, those at its ends aside.
    pub(crate) slowest: Option<SlowestSample>,
    /// How its 1 s means are distributed; from ten of them on.
    pub(crate) distribution: Option<SpeedDistribution>,
    /// Data moved, in bytes.
    pub(crate) bytes: f64,
    /// I/Os per second.
    pub(crate) iops: Option<f64>,
    /// Completion latency of all its I/Os.
    pub(crate) latency: Option<LatencyTotals>,
    /// First, highest and last temperature in °C, of the sensor that the findings go by.
    pub(crate) temperature_c: Option<[f64; 3]>,
    /// Mean power in watts.
    pub(crate) power_w: Option<f64>,
    /// How unsteady it ran.
    pub(crate) wobble: Option<PhaseWobble>,
    /// What it drew and what a byte cost, by the meter that figures are of.
    pub(crate) power: Option<PowerRow>,
    /// The first throttle onset: (seconds since the run began, kelvins).
    pub(crate) onset: Option<(f64, Option<f64>)>,
    /// What its segments are, each once, in order.
    pub(crate) labels: Vec<Label>,
}

/// A speed that others are held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FullSpeed {
    /// In bytes per second.
    pub(crate) bytes_per_s: f64,
    /// Where it was seen.
    pub(crate) seen: FullSpeedSeen,
}

/// Where a full speed was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FullSpeedSeen {
    /// In the phase itself.
    Here,
    /// In another phase with the same load.
    SameLoad,
    /// In another run of the drive, in this power state.
    PowerState(u8),
}

/// What leaves open how fast a load is on a cool drive, and from where on its beginning is hot.
const NEVER_COOL: Caveat = Caveat::PolicyUndetermined { seen: SlowdownSeen::NeverCool };
const HOT_C: f64 = 70.0;
/// Nine tenths of the seconds of an even speed lie within this share of it: noise of 15 % is as wide.
const UNSTEADY: f64 = 0.5;
/// Speeds within this share are one.
const SAME_SPEED: f64 = 0.04;

impl PhaseFigures {
    /// Mean speed over full speed, at most 1: what lies within the noise of full speed is full speed.
    pub(crate) fn share_of_full(&self) -> Option<f64> {
        let share = self.mean_bytes_per_s? / self.full?.bytes_per_s;
        (share.is_finite()).then_some(if share >= FULL_SHARE { 1.0 } else { share })
    }

    /// Whether IOPS and latency say more about it than bytes per second.
    pub(crate) fn leads_with_iops(&self) -> bool {
        let size = self.mean_bytes_per_s.zip(self.iops).map(|(rate, iops)| rate / iops);
        size.is_some_and(|size| size > 0.0 && size <= SMALL_IO_BYTES)
    }

    /// Whether its speed goes to and fro too widely to be called one, though nothing was found to slow it down.
    pub(crate) fn is_unsteady(&self) -> bool {
        let wide = |([low, high], mean): ([f64; 2], f64)| high - low > UNSTEADY * mean;
        self.labels.as_slice() == [Label::FullSpeed]
            && self.spread_bytes_per_s.zip(self.mean_bytes_per_s).is_some_and(wide)
    }

    /// Whether all that is known of its speed is one mean: how even it was does not show in it.
    pub(crate) fn is_one_mean(&self) -> bool {
        self.rows == 1 && self.labels.as_slice() == [Label::FullSpeed]
    }

    /// What a segment of it is: "full speed" only where that is known of the phase.
    pub(crate) fn state(&self, label: Label) -> &'static str {
        let is_known = self.full.is_some_and(|full| full.seen == FullSpeedSeen::Here);
        match label {
            Label::FullSpeed if self.is_unsteady() => sentences::UNSTEADY,
            Label::FullSpeed if self.is_one_mean() => sentences::ONE_MEAN,
            Label::FullSpeed if self.full.is_none() || !is_known && !reference::has_slow_part(self) => {
                sentences::CONSTANT
            }
            label => sentences::label(label),
        }
    }

    /// What tells loads of several runs apart: phase, operation, pattern and repetition.
    pub(crate) fn key(&self) -> (&str, &str, &str, usize) {
        (&self.phase, self.op, &self.what, self.repetition)
    }

    /// What tells loads of one run apart: "read", and "read [2]" where it comes again.
    pub(crate) fn name(&self) -> String {
        numbered(&self.phase, self.repetition)
    }

    /// The same with its operation, where the phase is not called after it: "job (write) [2]".
    pub(crate) fn name_with_op(&self) -> String {
        match self.phase == self.op {
            true => self.name(),
            false => numbered(&format!("{} ({})", self.phase, self.op), self.repetition),
        }
    }

    pub(crate) fn end_s(&self) -> f64 {
        self.start_s + self.span_s
    }
}

/// One row for each operation of each phase; where the source knows no phases, for each stretch of one load.
pub(crate) fn figures(input: &ReportInput) -> Vec<PhaseFigures> {
    let told = Told::new(&input.findings);
    let mut all: Vec<PhaseFigures> = if input.phases.is_empty() {
        let stretch = |(op, start_s, end_s): (SegmentOp, f64, f64)| RunPhase {
            name: "–".to_owned(),
            op: op_word(op).to_owned(),
            what: String::new(),
            start_s,
            end_s,
            ended_by: None,
            rate_limit_bytes_per_s: None,
        };
        let phases = stretches(&input.findings.segments).into_iter().map(stretch);
        phases.flat_map(|phase| of_phase(input, &told, None, &phase)).collect()
    } else {
        let phases = input.phases.iter().enumerate();
        phases.flat_map(|(index, phase)| of_phase(input, &told, Some(index), phase)).collect()
    };
    count_repetitions(&mut all);
    reference::settle(&mut all, input.link_bytes_per_s);
    if input.findings.caveats.contains(&NEVER_COOL) {
        let hot = |one: &&mut PhaseFigures| one.temperature_c.is_some_and(|[first, ..]| first >= HOT_C);
        all.iter_mut().filter(hot).for_each(|one| one.full = None);
    }
    all.iter_mut().for_each(|one| one.full = in_other_power_state(input, one).or(one.full));
    all
}

/// "read [2]" for what came once before.
pub(crate) fn numbered(name: &str, repetition: usize) -> String {
    if repetition == 0 { name.to_owned() } else { format!("{name} [{}]", repetition + 1) }
}

fn count_repetitions(all: &mut [PhaseFigures]) {
    let mut seen: BTreeMap<(String, &'static str, String), usize> = BTreeMap::new();
    for one in all {
        let count = seen.entry((one.phase.clone(), one.op, one.what.clone())).or_default();
        one.repetition = *count;
        *count += 1;
    }
}

fn stretches(segments: &[Segment]) -> Vec<(SegmentOp, f64, f64)> {
    let mut stretches: Vec<(SegmentOp, f64, f64)> = Vec::new();
    for segment in segments {
        match stretches.last_mut().filter(|last| last.0 == segment.op) {
            Some(last) => last.2 = segment.end_s,
            None => stretches.push((segment.op, segment.start_s, segment.end_s)),
        }
    }
    stretches
}

/// The operations that have intervals in a phase, reads first; one row without a speed where there are none.
fn of_phase(input: &ReportInput, told: &Told, index: Option<usize>, phase: &RunPhase) -> Vec<PhaseFigures> {
    let loads: Vec<(Op, Cow<'_, [MeanInterval]>)> =
        [Op::Read, Op::Write, Op::Trim].map(|op| (op, within::intervals_of(input, op, phase))).into();
    // What is deallocated beside reads and writes is no data that moved.
    let has_data = loads.iter().any(|(op, intervals)| *op != Op::Trim && !intervals.is_empty());
    // A log with a column for each operation has zeros for what was not done, beside what was.
    let moves = |intervals: &[MeanInterval]| intervals.iter().any(|i| i.value > 0.0);
    // Of a pause, too: no operation was done in it.
    let is_idle = phase.op == op_word(SegmentOp::Idle);
    let only_some_move =
        is_idle || phase.op != op_word(SegmentOp::Mixed) && loads.iter().any(|(_, i)| moves(i));
    let shown = |(op, intervals): &(Op, Cow<'_, [MeanInterval]>)| {
        !intervals.is_empty() && (*op != Op::Trim || !has_data) && (!only_some_move || moves(intervals))
    };
    let mut rows: Vec<PhaseFigures> = loads
        .iter()
        .filter(|load| shown(load))
        .map(|(op, i)| row(input, told, index, phase, Some(*op), i))
        .collect();
    if rows.is_empty() {
        rows.push(row(input, told, index, phase, None, &[]));
    }
    rows
}

fn row(
    input: &ReportInput,
    told: &Told,
    index: Option<usize>,
    phase: &RunPhase,
    op: Option<Op>,
    intervals: &[MeanInterval],
) -> PhaseFigures {
    let segments = within::segments_of(input, phase, op);
    let totals = input.loads.iter().find(|load| Some(load.phase) == index && Some(load.op) == op);
    let mean_bytes_per_s = covered_mean(intervals);
    let covered_s: f64 = intervals.iter().map(|interval| interval.span_s).sum();
    // What grows as it is filled ends at up to twice its size.
    let mut sorted = Vec::with_capacity(intervals.len());
    sorted.extend(seconds_of(intervals).map(|second| second.1));
    sorted.sort_unstable_by(f64::total_cmp);
    let levels: Vec<(f64, f64, f64)> =
        segments.iter().filter_map(|s| Some((s.start_s, s.end_s, s.mean_bytes_per_s?))).collect();
    let is_pure = segments.iter().all(|segment| segment.op != SegmentOp::Mixed);
    let mean_as = |label: Label| {
        let of = segments.iter().filter(|s| s.label.as_seen() == label).map(|s| (s.start_s, s.end_s));
        is_pure.then(|| series::mean_within(intervals, &of.collect::<Vec<_>>())).flatten()
    };
    let never_cool = segments.iter().any(|segment| segment.label == Label::Constant);
    let other_run_bytes_per_s = faster_in_other_run(input, &segments);
    let full = mean_as(Label::FullSpeed).filter(|_| !never_cool && other_run_bytes_per_s.is_none());
    let mut figures = PhaseFigures {
        // Less was asked for than the drive can do, as a log's own columns show, and something was.
        phase: match op.filter(|_| phase.op == op_word(SegmentOp::Idle) && phase.name == phase.op) {
            Some(_) => sentences::LIGHT_LOAD.to_owned(),
            None => phase.name.clone(),
        },
        op: op.map_or("idle", op_name),
        what: phase.what.clone(),
        repetition: 0,
        start_s: phase.start_s,
        span_s: phase.end_s - phase.start_s,
        mean_bytes_per_s,
        full: full.map(|bytes_per_s| FullSpeed { bytes_per_s, seen: FullSpeedSeen::Here }),
        never_cool,
        other_run_bytes_per_s,
        covered_s,
        rows: intervals.len(),
        faster: None,
        is_mixed: !is_pure,
        throttled_bytes_per_s: mean_as(Label::Throttled).map(|mean| fallen_to(input, &segments, mean)),
        throttled_s: (input.temperature_is_known() || throttled_s(&segments) > 0.0)
            .then(|| throttled_s(&segments)),
        noise_bytes_per_s: series::standard_error(seconds_of(intervals), &levels),
        spread_bytes_per_s: Some([0.05, 0.95].map(|q| quantile_of_sorted(&sorted, q)))
            .filter(|_| !sorted.is_empty()),
        slowest: SlowestSample::new(seconds_of(intervals)),
        distribution: SpeedDistribution::new(&sorted),
        bytes: mean_bytes_per_s.unwrap_or(0.0) * covered_s,
        iops: totals.and_then(|t| t.ios).filter(|_| covered_s > 0.0).map(|ios| ios as f64 / covered_s),
        latency: totals.and_then(|totals| totals.latency),
        temperature_c: within::temperature(input, phase),
        power_w: told.power(phase).map_or_else(|| within::power(input, phase), |row| row.mean_w),
        wobble: op.and_then(|op| told.wobble(phase, op.into())).cloned(),
        power: told.power(phase).cloned(),
        onset: within::first_onset(input, phase)
            .map(|event| (event.t_s, event.temp_k.filter(|k| k.is_finite()))),
        labels: distinct_labels(&segments),
    };
    // Half of its time is faster than the mean of what goes to and fro.
    figures.full = figures.full.filter(|_| !figures.is_unsteady());
    figures
}

pub(super) const fn op_name(op: Op) -> &'static str {
    match op {
        Op::Read => "read",
        Op::Write => "write",
        Op::Trim => "trim",
        Op::Idle => "idle",
    }
}

/// How fast another run of the drive was, where that is why no segment of a phase is called full speed.
fn faster_in_other_run(input: &ReportInput, segments: &[&Segment]) -> Option<f64> {
    let slower = segments.iter().find(|segment| segment.label == Label::Slower)?;
    let elsewhere = |caveat: &Caveat| match caveat {
        Caveat::FasterInOtherRun { op, bytes_per_s }
        | Caveat::SlowerPowerState { op, faster_bytes_per_s: bytes_per_s, .. }
            if *op == slower.op =>
        {
            Some(*bytes_per_s)
        }
        _ => None,
    };
    input.findings.caveats.iter().find_map(elsewhere)
}

/// Full speed of a load that another run of the drive showed in another power state, where this one was slower all along.
fn in_other_power_state(input: &ReportInput, one: &PhaseFigures) -> Option<FullSpeed> {
    let own = one.mean_bytes_per_s.filter(|own| *own > 0.0 && !one.what.is_empty())?;
    let is_about = |bytes_per_s: f64| (own / bytes_per_s - 1.0).abs() <= SAME_SPEED;
    input.findings.caveats.iter().find_map(|caveat| match *caveat {
        Caveat::SlowerPowerState { op, bytes_per_s, faster_power_state, faster_bytes_per_s, .. }
            if op_word(op) == one.op && is_about(bytes_per_s) =>
        {
            let seen = FullSpeedSeen::PowerState(faster_power_state);
            Some(FullSpeed { bytes_per_s: faster_bytes_per_s, seen })
        }
        _ => None,
    })
}

/// What the drops of these segments fell to, of which `mean` is the mean over time with the long rows at both ends of each.
fn fallen_to(input: &ReportInput, segments: &[&Segment], mean: f64) -> f64 {
    sentences::ThrottledSpeed::new(mean, &within::onsets_in(input, segments)).one().unwrap_or(mean)
}

fn throttled_s(segments: &[&Segment]) -> f64 {
    let throttled = segments.iter().filter(|segment| segment.label == Label::Throttled);
    throttled.map(|s| s.end_s - s.start_s).filter(|span| *span > 0.0).sum()
}

fn distinct_labels(segments: &[&Segment]) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for label in segments.iter().map(|segment| segment.label.as_seen()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}
