//! Logs and JSON of fio, alone or together, to the curve of one run.
//!
//! Rules
//! - Rows of a log without a block size are means over a window that ends at their time. A window that has no row
//!   had nothing completed in it and counts as 0 B/s; before the first and after the last row is nothing.
//! - Rows with a block size are single I/Os and count by it, whatever their value: the value of a bandwidth log is
//!   then the rate of one I/O. In logs of four columns with rows at least 100 ms apart they are means (old fio).
//! - Jobs are summed. Their logs count from each job's own start, which fio's JSON tells; without it they are taken
//!   to have started together, with a caveat. Times beyond 10^11 ms are a wall clock.
//! - Of the logs of one run the first that gives bytes is used: bandwidth; I/Os times a block size that the JSON
//!   tells; latencies of single I/Os, by their block size. The others are the same I/O once more.
//! - With JSON the sum of the logs is compared with fio's own, and a difference of over 2 % is a caveat.

mod json;
mod log;
mod name;
mod phases;
mod report;
mod row;

use std::collections::BTreeMap;

pub(super) use self::json::{FioJson, fio_json};
pub(super) use self::log::{FioLog, fio_log};
pub(super) use self::name::LogName;

use self::json::JobRun;
use self::log::LogUnit;
use self::name::base;
use super::grid::WindowGrid;
use super::part::{CountedBy, RunPart, TimeBase};
use super::{Format, ImportError};
use trace::SegmentOp;
use trace::caveat::{Caveat, ClockDoubt, Sums};
use trace::{Interval, SpeedSeries, Trace};

const OPS: [SegmentOp; 3] = [SegmentOp::Read, SegmentOp::Write, SegmentOp::Trim];
/// Logs and JSON that differ by less than this say the same. Less by one window is no difference either: fio does not
/// write the last one.
const SAME_SUM: f64 = 0.02;
/// A direction whose log begins or ends by less than so many windows beside another's was there in them.
const LATE_WINDOWS: f64 = 2.5;
/// .. and both were there for most of the time.
const MOSTLY_BOTH: f64 = 0.5;
/// States of several jobs at one time are that far apart at most.
const SAME_MOMENT_S: f64 = 0.25;

/// What belongs to one run of fio.
struct FioRun {
    prefix: String,
    logs: Vec<FioLog>,
    json: Option<FioJson>,
}

/// The runs in `logs` and `jsons`, each as a part.
///
/// # Errors
/// When logs are there but none that gives a speed, or it cannot be told which JSON belongs to which logs.
pub(super) fn parts(logs: Vec<FioLog>, jsons: Vec<FioJson>) -> Result<Vec<RunPart>, ImportError> {
    let first_log = logs.first().map(|log| log.file.clone());
    let (mut parts, mut silent) = (Vec::new(), Vec::new());
    for run in runs(logs, jsons)? {
        match run.part() {
            Ok(part) => parts.push(part),
            Err(why) => silent.push(why),
        }
    }
    match (parts.first_mut(), first_log) {
        (Some(part), _) => part.trace.notes.extend(silent),
        (None, Some(file)) => return Err(ImportError::whole(&file, silent.join("; "))),
        (None, None) => {}
    }
    Ok(parts)
}

/// Sorts logs to the JSON that names them; without names, one JSON belongs to the logs of one prefix.
fn runs(logs: Vec<FioLog>, jsons: Vec<FioJson>) -> Result<Vec<FioRun>, ImportError> {
    let mut by_prefix: BTreeMap<String, Vec<FioLog>> = BTreeMap::new();
    for log in logs {
        by_prefix.entry(log.prefix.clone()).or_default().push(log);
    }
    let mut runs: Vec<FioRun> = Vec::new();
    for json in jsons {
        let named = |prefix: &str| {
            let mut names = json.jobs.iter().flat_map(|job| &job.options.log_prefixes);
            names.any(|name| base(name) == base(prefix))
        };
        let mut prefixes: Vec<String> = by_prefix.keys().filter(|prefix| named(prefix)).cloned().collect();
        let only = runs.is_empty() && by_prefix.len() == 1;
        let names_none = json.jobs.iter().all(|job| job.options.log_prefixes.is_empty());
        if prefixes.is_empty() && only && names_none {
            prefixes.extend(by_prefix.keys().cloned());
        }
        let logs = prefixes.iter().filter_map(|prefix| by_prefix.remove(prefix)).flatten().collect();
        let prefix = prefixes.first().cloned().unwrap_or_else(|| json.file.clone());
        runs.push(FioRun { prefix, logs, json: Some(json) });
    }
    let alone = |(prefix, logs)| FioRun { prefix, logs, json: None };
    runs.extend(by_prefix.into_iter().map(alone));
    Ok(runs)
}

impl FioRun {
    /// The run's curve; a sentence why there is none.
    fn part(mut self) -> Result<RunPart, String> {
        let mut trace = Trace::empty(&self.prefix);
        let logs = std::mem::take(&mut self.logs);
        let chosen = self.choose(logs, &mut trace)?;
        let files: Vec<String> = chosen
            .iter()
            .map(|log| log.file.clone())
            .chain(self.json.iter().map(|j| j.file.clone()))
            .collect();
        let mut ranges = Vec::new();
        let clock = match &self.json {
            _ if !chosen.is_empty() => self.add_logs(&chosen, &mut trace, &mut ranges),
            Some(json) => {
                trace.speeds = speeds_of(&json.jobs);
                json.unix_s.map_or(TimeBase::Own, |zero_s| TimeBase::Unix { zero_s })
            }
            None => return Err(format!("{} has no speed", self.prefix)),
        };
        if let Some(json) = &mut self.json {
            trace.notes.append(&mut json.notes);
            trace.caveats.append(&mut json.caveats);
            if !chosen.is_empty() {
                compare_sums(json, longest_step_s(&chosen), &mut trace);
            }
            phases::add(&json.jobs, &mut trace);
        }
        let step_s = longest_step_s(&chosen);
        if begin_and_end_together(&mut trace.speeds, step_s) {
            trace.notes.push(format!(
                "{}: windows at its beginning or end that only one of reading and writing has are left out",
                self.prefix
            ));
        }
        phases::end_together(&ranges, step_s, &self.prefix, &mut trace);
        Ok(RunPart { files, source: CountedBy::Load, clock, trace })
    }

    /// The logs that give the run's bytes; the others leave a note.
    fn choose(&self, logs: Vec<FioLog>, trace: &mut Trace) -> Result<Vec<FioLog>, String> {
        if logs.is_empty() {
            return Ok(logs);
        }
        let blocks = self.json.as_ref().and_then(|json| json.jobs.first()).map(|job| job.options.block);
        let usable = |log: &FioLog| match log.unit {
            LogUnit::Bytes => true,
            LogUnit::Ios => blocks.is_some_and(|b| (0..3).all(|d| log.grids[d].is_none() || b[d].is_some())),
            LogUnit::Nothing => false,
        };
        let order = [Format::FioBwLog, Format::FioIopsLog, Format::FioLatLog];
        let best =
            order.into_iter().find(|format| logs.iter().any(|log| log.format == *format && usable(log)));
        let Some(best) = best else {
            if self.json.is_some() {
                trace
                    .notes
                    .push(format!("{}: its logs hold no bytes: the JSON's totals are used", self.prefix));
                return Ok(Vec::new());
            }
            return Err(
                "it holds no bytes: means of I/Os or latencies need the bandwidth log of the same run, or fio's JSON that tells the block size (name them too, with --join)"
                    .to_owned());
        };
        let kind_of = |log: &FioLog| base(&log.file).rsplit_once('_').map_or("", |(_, k)| k).to_owned();
        let (mut chosen, rest): (Vec<_>, Vec<_>) =
            logs.into_iter().partition(|log| log.format == best && usable(log));
        // lat, clat and slat logs of one job are the same I/Os three times.
        if best == Format::FioLatLog
            && let Some(suffix) =
                chosen.first().map(|log| kind_of(log).split('.').next().unwrap_or("").to_owned())
        {
            chosen.retain(|log| kind_of(log).split('.').next() == Some(suffix.as_str()));
        }
        if !rest.is_empty() {
            let names: Vec<&str> = rest.iter().map(|log| log.file.as_str()).collect();
            trace.notes.push(format!("the same I/O once more, not read: {}", names.join(", ")));
        }
        Ok(chosen)
    }

    /// Adds the sum of logs; `ranges` take from when to when each is.
    fn add_logs(&self, logs: &[FioLog], trace: &mut Trace, ranges: &mut Vec<(f64, f64)>) -> TimeBase {
        let epoch = logs.iter().all(|log| log.epoch);
        let starts: Vec<f64> = logs.iter().map(|log| self.start_s(log)).collect();
        let step_s = longest_step_s(logs);
        let range = |(log, start_s): (&FioLog, &f64)| {
            let of_log = log.grids.iter().flatten().filter_map(WindowGrid::range_s);
            let both = of_log.fold((f64::INFINITY, 0.0_f64), |(a, b), (from, to)| (a.min(from), b.max(to)));
            (both.0 + start_s, both.1 + start_s)
        };
        ranges.extend(logs.iter().zip(&starts).map(range));
        // Windows of a wall clock begin where the first job's do, so that all windows are whole.
        let first_s = ranges.iter().map(|(from_s, _)| *from_s).fold(f64::INFINITY, f64::min);
        let zero_s = if epoch { first_s } else { 0.0 };
        ranges.iter_mut().for_each(|range| *range = (range.0 - zero_s, range.1 - zero_s));
        let blocks = self.json.as_ref().and_then(|json| json.jobs.first()).map(|job| job.options.block);
        for (direction, op) in OPS.into_iter().enumerate() {
            let mut sum = WindowGrid::new(step_s);
            for (log, start_s) in logs.iter().zip(&starts) {
                let Some(grid) = &log.grids[direction] else { continue };
                let scale = match log.unit {
                    LogUnit::Ios => blocks.and_then(|blocks| blocks[direction]).unwrap_or(0.0),
                    _ => 1.0,
                };
                for i in grid.intervals(scale) {
                    let shifted_s = i.start_s + start_s - zero_s;
                    sum.add(shifted_s, shifted_s + i.span_s, i.bytes);
                }
            }
            if sum.total() > 0.0 {
                trace.speeds.push(SpeedSeries { op, intervals: sum.intervals(1.0) });
            }
        }
        for log in logs {
            trace.notes.extend(log.notes.iter().cloned());
            trace.caveats.extend(log.caveats.iter().cloned());
        }
        if logs.len() > 1 {
            trace.notes.push(format!("{} logs summed on windows of {step_s} s", logs.len()));
        }
        if logs.len() > 1 && !epoch && self.json.is_none() {
            trace.caveats.push(Caveat::Clock(ClockDoubt::JobStarts { logs: self.prefix.to_string() }));
        }
        match (&self.json, epoch) {
            (_, true) => TimeBase::Unix { zero_s },
            (Some(json), false) => json.unix_s.map_or(TimeBase::Own, |zero_s| TimeBase::Unix { zero_s }),
            (None, false) => TimeBase::Own,
        }
    }

    /// What is added to a log's times: the start of its job, 0 where the log tells a wall clock itself.
    fn start_s(&self, log: &FioLog) -> f64 {
        let Some(json) = self.json.as_ref().filter(|_| !log.epoch) else { return 0.0 };
        let threads = json.jobs.iter().flat_map(|job| std::iter::repeat_n(job.start_s, job.threads));
        let number = log.job.unwrap_or(1).max(1);
        threads.into_iter().nth(number - 1).unwrap_or(0.0)
    }
}

fn longest_step_s(logs: &[FioLog]) -> f64 {
    logs.iter().flat_map(|log| log.grids.iter().flatten()).map(WindowGrid::step_s).fold(0.0, f64::max)
}

/// Leaves out the windows in which only one of several directions is there: fio writes the first ones of a direction late, and what it
/// moved by then is not known. Whether there were any; a direction that is later than that began later.
fn begin_and_end_together(speeds: &mut [SpeedSeries], step_s: f64) -> bool {
    let ranges = || {
        let range = |series: &SpeedSeries| {
            Some((series.intervals.first()?.start_s, series.intervals.last()?.end_s()))
        };
        speeds.iter().filter_map(range)
    };
    let (first_s, from_s) =
        ranges().fold((f64::INFINITY, 0.0_f64), |(a, b), (from, _)| (a.min(from), b.max(from)));
    let (to_s, last_s) = ranges().fold((f64::INFINITY, 0.0_f64), |(a, b), (_, to)| (a.min(to), b.max(to)));
    if to_s - from_s < MOSTLY_BOTH * (last_s - first_s) {
        return false;
    }
    let is_odd = |apart_s: f64| (0.5 * step_s..LATE_WINDOWS * step_s).contains(&apart_s);
    let from_s = if is_odd(from_s - first_s) { from_s } else { first_s };
    let to_s = if is_odd(last_s - to_s) { to_s } else { last_s };
    let mut is_cut = false;
    for series in speeds {
        series.intervals.retain_mut(|one| {
            let (start_s, end_s) = (one.start_s.max(from_s), one.end_s().min(to_s));
            is_cut |= end_s - start_s < one.span_s - 1e-6;
            one.bytes *= ((end_s - start_s) / one.span_s).clamp(0.0, 1.0);
            (one.start_s, one.span_s) = (start_s, end_s - start_s);
            one.span_s > 0.0
        });
    }
    is_cut
}

/// Speeds between the states of jobs, summed over the jobs.
fn speeds_of(jobs: &[JobRun]) -> Vec<SpeedSeries> {
    let mut speeds = Vec::new();
    for (direction, op) in OPS.into_iter().enumerate() {
        let mut spans: Vec<(f64, f64, f64)> = Vec::new();
        for job in jobs {
            let mut last = (0.0, 0.0);
            for state in &job.moved[direction] {
                spans.push((job.start_s + last.0, job.start_s + state.0, state.1 - last.1));
                last = *state;
            }
        }
        let intervals = summed(&spans);
        if intervals.iter().any(|interval| interval.bytes > 0.0) {
            speeds.push(SpeedSeries { op, intervals });
        }
    }
    speeds
}

/// The sum of overlapping spans `(from, to, bytes)`, cut where one begins or ends. Ends that lie close together are
/// one moment.
fn summed(spans: &[(f64, f64, f64)]) -> Vec<Interval> {
    let shortest_s = spans.iter().map(|(from, to, _)| to - from).fold(f64::INFINITY, f64::min);
    let same_s = SAME_MOMENT_S.min(0.25 * shortest_s);
    let mut ends: Vec<f64> = spans.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    ends.sort_by(f64::total_cmp);
    ends.dedup_by(|next, kept| *next - *kept <= same_s);
    let nearest = |t: f64| {
        let after = ends.partition_point(|end| *end <= t);
        let before = after.saturating_sub(1);
        if after < ends.len() && ends[after] - t < t - ends[before] { after } else { before }
    };
    let mut change = vec![0.0; ends.len() + 1];
    let mut covered = vec![0i64; ends.len() + 1];
    for (from, to, bytes) in spans {
        let (low, high) = (nearest(*from), nearest(*to));
        if high > low {
            let rate = bytes / (ends[high] - ends[low]);
            change[low] += rate;
            change[high] -= rate;
            covered[low] += 1;
            covered[high] -= 1;
        }
    }
    let (mut rate, mut open) = (0.0, 0);
    let mut intervals = Vec::new();
    for (index, pair) in ends.windows(2).enumerate() {
        rate += change[index];
        open += covered[index];
        if open > 0 {
            let span_s = pair[1] - pair[0];
            intervals.push(Interval { start_s: pair[0], span_s, bytes: (rate * span_s).max(0.0), phase: 0 });
        }
    }
    intervals
}

/// Compares what the logs sum up to with what fio reports.
fn compare_sums(json: &FioJson, window_s: f64, trace: &mut Trace) {
    for (direction, op) in OPS.into_iter().enumerate() {
        let last = |job: &JobRun| job.moved[direction].last().copied().unwrap_or((0.0, 0.0));
        let reported: f64 = json.jobs.iter().map(|job| last(job).1).sum();
        let one_window: f64 =
            json.jobs.iter().map(last).filter(|(t, _)| *t > 0.0).map(|(t, bytes)| bytes / t * window_s).sum();
        let series = trace.speeds.iter().find(|series| series.op == op);
        let logged: f64 = series.map_or(0.0, |s| s.intervals.iter().map(|i| i.bytes).sum());
        if reported <= 0.0 && logged <= 0.0 {
            continue;
        }
        let difference = (logged - reported) / reported.max(1.0);
        let last_missing = logged < reported && reported - logged <= 1.5 * one_window;
        if difference.abs() > SAME_SUM && !last_missing {
            let sums = Sums::Fio { op, logged_bytes: logged, reported_bytes: reported };
            trace.caveats.push(Caveat::SumDiffers(sums));
        } else {
            let name = ["read", "written", "trimmed"][direction];
            let (logged, reported) =
                (measure::Bytes::new(logged as u64), measure::Bytes::new(reported as u64));
            trace.notes.push(format!(
                "the logs add up to {logged} {name}, fio's own total is {reported} ({:+.2} %)",
                100.0 * difference
            ));
        }
    }
}
