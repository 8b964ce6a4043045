//! The phases of a run: stretches in which the same jobs ran.
//!
//! Jobs that begin or end a little apart are another load for that little while: it is left out, with a note, since its speed says
//! nothing of the drive's. Where the jobs that run change all the time, all of it is one phase.

use super::SAME_MOMENT_S;
use super::json::JobRun;
use trace::{MINOR_SHARE, Phase, SegmentOp, Trace};

/// From when to when, in seconds.
type Span = (f64, f64);

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
    let mut left_out: Vec<Span> = Vec::new();
    for together in overlapping(jobs) {
        trace.phases.extend(of_same_jobs(&together, &mut left_out));
    }
    leave_out(&left_out, trace);
    let phases = &trace.phases;
    for series in &mut trace.speeds {
        series.intervals.retain_mut(|interval| {
            let middle_s = interval.start_s + interval.span_s / 2.0;
            let after = phases.partition_point(|phase| phase.start_s <= middle_s);
            let at = after.saturating_sub(1);
            interval.phase = at as u32;
            interval.bytes > 0.0 || phases.get(at).is_some_and(|phase| middle_s < phase.end_s + SAME_MOMENT_S)
        });
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
fn of_same_jobs(jobs: &[&JobRun], left_out: &mut Vec<Span>) -> Vec<Phase> {
    let spans: Vec<Span> = jobs.iter().map(|job| (job.start_s, job.end_s())).collect();
    let Some((long, short)) = stretches(&spans, SAME_MOMENT_S) else {
        let (begins, ends) = (spans.iter().map(|span| span.0), spans.iter().map(|span| span.1));
        return vec![phase(jobs, begins.fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max))];
    };
    left_out.extend(short);
    let running = |(from_s, to_s): Span| {
        let middle_s = 0.5 * (from_s + to_s);
        let is_running = |job: &&JobRun| job.start_s < middle_s && job.end_s() > middle_s;
        phase(&jobs.iter().copied().filter(is_running).collect::<Vec<_>>(), from_s, to_s)
    };
    long.into_iter().map(running).collect()
}

/// Stretches in which the same of these run, and what is left between and beside them; `None` where they change all the time. Ends
/// that lie within `same_s` are one moment.
fn stretches(spans: &[Span], same_s: f64) -> Option<(Vec<Span>, Vec<Span>)> {
    let mut times: Vec<f64> = spans.iter().flat_map(|(from_s, to_s)| [*from_s, *to_s]).collect();
    times.sort_by(f64::total_cmp);
    let (begin_s, end_s) = (*times.first()?, *times.last()?);
    times.dedup_by(|next, kept| *next - *kept <= same_s);
    // The last of some that are one moment is the end.
    times.last_mut().into_iter().for_each(|last| *last = end_s);
    let all = times.windows(2).map(|pair| (pair[0], pair[1]));
    let (long, short): (Vec<Span>, Vec<Span>) =
        all.partition(|(from_s, to_s)| to_s - from_s >= LEAST_SHARE * (end_s - begin_s));
    let seconds: f64 = long.iter().map(|(from_s, to_s)| to_s - from_s).sum();
    (seconds >= MOST_OF_IT * (end_s - begin_s)).then_some((long, short))
}

/// The same of logs of jobs that ran together, by the times of their rows: fio's JSON may not be there, or tell of a group as one.
/// Stretches of other jobs are phases where it is not there.
pub(super) fn end_together(logs: &[Span], step_s: f64, name: &str, trace: &mut Trace) {
    let (last_begin_s, first_end_s) =
        logs.iter().fold((0.0_f64, f64::INFINITY), |(a, b), (from_s, to_s)| (a.max(*from_s), b.min(*to_s)));
    if logs.len() < 2 || last_begin_s >= first_end_s {
        return;
    }
    let Some((long, short)) = stretches(logs, 0.5 * step_s) else { return };
    leave_out(&short, trace);
    if !trace.phases.is_empty() || long.len() < 2 {
        return;
    }
    for (at, (from_s, to_s)) in long.into_iter().enumerate() {
        let middle_s = 0.5 * (from_s + to_s);
        let count = logs.iter().filter(|(from_s, to_s)| (*from_s..*to_s).contains(&middle_s)).count();
        let mut moved: Vec<(SegmentOp, f64)> = Vec::new();
        for series in &mut trace.speeds {
            let within =
                |one: &&mut trace::Interval| (from_s..to_s).contains(&(one.start_s + 0.5 * one.span_s));
            let mut bytes = 0.0;
            for interval in series.intervals.iter_mut().filter(within) {
                interval.phase = at as u32;
                bytes += interval.bytes;
            }
            moved.push((series.op, bytes));
        }
        let total: f64 = moved.iter().map(|(_, bytes)| bytes).sum();
        let alone = moved.iter().find(|(_, bytes)| *bytes >= (1.0 - MINOR_SHARE) * total);
        let op = alone.map_or(SegmentOp::Mixed, |(op, _)| *op);
        trace.phases.push(Phase::bare(&format!("{name}, {count} jobs"), op, from_s, to_s));
    }
}

/// Leaves out what was moved in these spans, with a note where that was anything.
fn leave_out(spans: &[Span], trace: &mut Trace) {
    let mut seconds: f64 = 0.0;
    for series in &mut trace.speeds {
        series.intervals.retain(|one| {
            let middle_s = one.start_s + 0.5 * one.span_s;
            let span = spans.iter().find(|(from_s, to_s)| (*from_s..*to_s).contains(&middle_s));
            seconds += if span.is_some() && one.bytes > 0.0 { one.span_s } else { 0.0 };
            span.is_none()
        });
    }
    if seconds > 0.0 {
        trace.notes.push(
            "jobs did not all begin and end together: the time in which only some of them ran is left out"
                .to_owned(),
        );
    }
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
