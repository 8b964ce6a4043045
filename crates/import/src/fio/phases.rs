//! The phases of a run: stretches in which the same jobs ran.
//!
//! Jobs that begin or end a little apart are another load for that little while: it is left out, with a note, since its speed says
//! nothing of the drive's. Where the jobs that run change all the time, all of it is one phase.

use super::SAME_MOMENT_S;
use super::json::JobRun;
use trace::{Phase, SegmentOp, Trace};

/// Jobs that start this long before another ends belong together; less is the end of a wait for each other.
const TOGETHER_S: f64 = 0.5;
/// A stretch of the same jobs that lasts for less of the time in which jobs overlap is the end or the beginning of some of them.
const LEAST_SHARE: f64 = 0.1;
/// More names of jobs are no help.
const MOST_NAMES: usize = 4;
/// Phases are those stretches where they hold so much of the time.
const MOST_OF_IT: f64 = 0.5;

/// Gives a trace its phases, and every interval its phase. Empty windows between phases are no load and go.
pub(super) fn add(jobs: &[JobRun], trace: &mut Trace) {
    let mut left_out: Vec<(f64, f64)> = Vec::new();
    for together in overlapping(jobs) {
        trace.phases.extend(of_same_jobs(&together, &mut left_out));
    }
    let phases = &trace.phases;
    for series in &mut trace.speeds {
        series.intervals.retain_mut(|interval| {
            let middle_s = interval.start_s + interval.span_s / 2.0;
            let after = phases.partition_point(|phase| phase.start_s <= middle_s);
            let at = after.saturating_sub(1);
            interval.phase = at as u32;
            let is_left_out = left_out.iter().any(|(from_s, to_s)| (*from_s..*to_s).contains(&middle_s));
            let is_of_phase = || phases.get(at).is_some_and(|phase| middle_s < phase.end_s + SAME_MOMENT_S);
            !is_left_out && (interval.bytes > 0.0 || is_of_phase())
        });
    }
    if !left_out.is_empty() {
        let seconds: f64 = left_out.iter().map(|(from_s, to_s)| to_s - from_s).sum();
        trace.notes.push(format!(
            "jobs did not all begin and end together: {seconds:.1} s in which only some of them ran are left out"
        ));
    }
}

/// Jobs by time, those together that overlap.
fn overlapping(jobs: &[JobRun]) -> Vec<Vec<&JobRun>> {
    let mut sorted: Vec<&JobRun> = jobs.iter().filter(|job| job.end_s() > job.start_s).collect();
    sorted.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let mut all: Vec<Vec<&JobRun>> = Vec::new();
    let mut end_s = f64::NEG_INFINITY;
    for job in sorted {
        match all.last_mut() {
            Some(together) if job.start_s < end_s - TOGETHER_S => together.push(job),
            _ => {
                all.push(vec![job]);
                end_s = f64::NEG_INFINITY;
            }
        }
        end_s = end_s.max(job.end_s());
    }
    all
}

/// Phases of jobs that overlap.
fn of_same_jobs(jobs: &[&JobRun], left_out: &mut Vec<(f64, f64)>) -> Vec<Phase> {
    let mut times: Vec<f64> = jobs.iter().flat_map(|job| [job.start_s, job.end_s()]).collect();
    times.sort_by(f64::total_cmp);
    let (begin_s, end_s) = (times[0], times[times.len() - 1]);
    times.dedup_by(|next, kept| *next - *kept <= SAME_MOMENT_S);
    // The last of some that are one moment is the end.
    times.last_mut().into_iter().for_each(|last| *last = end_s);
    let is_long = |pair: &&[f64]| pair[1] - pair[0] >= LEAST_SHARE * (end_s - begin_s);
    let (long, short): (Vec<&[f64]>, Vec<&[f64]>) = times.windows(2).partition(is_long);
    let seconds: f64 = long.iter().map(|pair| pair[1] - pair[0]).sum();
    if seconds < MOST_OF_IT * (end_s - begin_s) {
        return vec![phase(jobs, begin_s, end_s)];
    }
    left_out.extend(short.iter().map(|pair| (pair[0], pair[1])));
    let running = |pair: &&[f64]| {
        let middle_s = 0.5 * (pair[0] + pair[1]);
        let is_running = |job: &&JobRun| job.start_s < middle_s && job.end_s() > middle_s;
        phase(&jobs.iter().copied().filter(is_running).collect::<Vec<_>>(), pair[0], pair[1])
    };
    long.iter().map(running).collect()
}

/// Names that a line holds; many clients have many.
fn shortened(names: &[&str]) -> String {
    match names.len() {
        0..=MOST_NAMES => names.join(" + "),
        count => format!("{} and {} more", names[..MOST_NAMES].join(" + "), count - MOST_NAMES),
    }
}

/// A phase of these jobs.
fn phase(jobs: &[&JobRun], start_s: f64, end_s: f64) -> Phase {
    let mut names: Vec<&str> = Vec::new();
    let mut loads: Vec<(&str, usize)> = Vec::new();
    for job in jobs {
        if !names.contains(&job.name.as_str()) {
            names.push(&job.name);
        }
        match loads.iter_mut().find(|(load, _)| *load == job.options.load) {
            Some((_, count)) => *count += 1,
            None => loads.push((&job.options.load, 1)),
        }
    }
    let load = |(load, count): &(&str, usize)| match count {
        1 => (*load).to_owned(),
        _ => format!("{load}, in {count} jobs"),
    };
    let mut ops: Vec<SegmentOp> = jobs.iter().filter_map(|job| job.op()).collect();
    ops.dedup();
    let limits: Option<Vec<f64>> =
        jobs.iter().map(|job| Some(job.options.rate_limit? * job.threads as f64)).collect();
    Phase {
        what: loads.iter().map(load).collect::<Vec<_>>().join(" + "),
        rate_limit_bytes_per_s: limits.map(|limits| limits.iter().sum()),
        buffered: jobs.iter().any(|job| job.options.buffered),
        inferred: jobs.iter().any(|job| job.options.pauses),
        ..Phase::bare(
            &shortened(&names),
            match ops[..] {
                [] => SegmentOp::Idle,
                [op] => op,
                _ => SegmentOp::Mixed,
            },
            start_s,
            end_s,
        )
    }
}
