//! What of a run lies in one of its phases. A month has millions of intervals and may have tens of thousands of phases: all is in order of
//! time, so that a phase's part is found without looking at the rest.

use std::borrow::Cow;

use analysis::Findings;
use analysis::findings::{Event, EventKind, Segment, SegmentOp};
use analysis::power::PowerRow;
use analysis::wobble::PhaseWobble;
use measure::record::Op;

use super::phase::op_name;
use crate::reduce;
use crate::view::{MeanInterval, ReportInput, RunPhase, op_word, plausible};

/// The intervals of an operation in a phase, as they lie in its series where nothing is left out.
pub(super) fn intervals_of<'a>(input: &'a ReportInput, op: Op, phase: &RunPhase) -> Cow<'a, [MeanInterval]> {
    let middle_s = |i: &MeanInterval| i.start_s + i.span_s / 2.0;
    let series = input.speed.iter().filter(|series| series.op == op);
    let inside = series.map(|series| within(&series.intervals, phase, middle_s));
    let parts = inside.flat_map(|all| all.chunk_by(|a, b| plausible(a.value) == plausible(b.value)));
    let parts: Vec<&[MeanInterval]> = parts.filter(|part| plausible(part[0].value)).collect();
    match parts[..] {
        [part] => Cow::Borrowed(part),
        _ => Cow::Owned(parts.concat()),
    }
}

/// The segments of an operation that lie mostly in a phase.
pub(super) fn segments_of<'a>(input: &'a ReportInput, phase: &RunPhase, op: Option<Op>) -> Vec<&'a Segment> {
    let wanted = |segment: &&Segment| match op {
        Some(op) => segment.op == SegmentOp::Mixed || op_word(segment.op) == op_name(op),
        None => true,
    };
    let middle_s = |segment: &Segment| (segment.start_s + segment.end_s) / 2.0;
    within(&input.findings.segments, phase, middle_s).iter().filter(wanted).collect()
}

/// The first throttle onset of a phase. One at the border belongs to the load that begins there.
pub(super) fn first_onset<'a>(input: &'a ReportInput, phase: &RunPhase) -> Option<&'a Event> {
    let events = within(&input.findings.events, phase, |event| event.t_s);
    events.iter().find(|event| event.kind == EventKind::ThrottleOnset)
}

/// The throttle onsets in these segments, which are in order of time.
pub(super) fn onsets_in<'a>(input: &'a ReportInput, segments: &[&Segment]) -> Vec<&'a Event> {
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return Vec::new() };
    let events = between(&input.findings.events, first.start_s, last.end_s, |event| event.t_s);
    let is_inside = |event: &&Event| {
        let begun = segments.partition_point(|segment| segment.start_s <= event.t_s);
        begun.checked_sub(1).is_some_and(|at| event.t_s < segments[at].end_s)
    };
    events.iter().filter(|event| event.kind == EventKind::ThrottleOnset).filter(is_inside).collect()
}

/// First, highest and last reading within the phase, in °C.
pub(super) fn temperature(input: &ReportInput, phase: &RunPhase) -> Option<[f64; 3]> {
    let points = readings(&input.temperature.first()?.points, phase).iter();
    let mut known = points.filter_map(|point| point.1).filter(|value| plausible(*value));
    let highest = known.clone().reduce(f64::max)?;
    Some([known.clone().next()?, highest, known.next_back()?])
}

/// Time-weighted mean power within the phase, in watts, of findings that say nothing of power.
pub(super) fn power(input: &ReportInput, phase: &RunPhase) -> Option<f64> {
    let points = readings(&input.power.first()?.points, phase);
    reduce::reading_means(points, f64::MAX).first().map(|(_, mean)| *mean)
}

/// What findings say of each phase, in the order in which these ended.
pub(super) struct Told<'a> {
    wobble: Vec<&'a PhaseWobble>,
    power: Vec<&'a PowerRow>,
}

impl<'a> Told<'a> {
    pub(super) fn new(findings: &'a Findings) -> Self {
        let mut wobble: Vec<&PhaseWobble> = findings.wobble.iter().collect();
        wobble.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
        let mut power: Vec<&PowerRow> = findings.power.iter().flat_map(|power| power.primary()).collect();
        power.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
        Self { wobble, power }
    }

    /// How unsteady an operation of a phase ran.
    pub(super) fn wobble(&self, phase: &RunPhase, op: SegmentOp) -> Option<&'a PhaseWobble> {
        let mut ending = ending_with(&self.wobble, phase, |one| one.end_s);
        ending.find(|one| one.op == op && one.phase == phase.name)
    }

    /// What a phase drew. Its beginning may lie later, where the drive started in it.
    pub(super) fn power(&self, phase: &RunPhase) -> Option<&'a PowerRow> {
        ending_with(&self.power, phase, |row| row.end_s).find(|row| row.phase == phase.name)
    }
}

/// Those that end when a phase does.
fn ending_with<'a, T>(
    by_end: &[&'a T],
    phase: &RunPhase,
    end_s: impl Fn(&T) -> f64,
) -> impl Iterator<Item = &'a T> {
    const SAME_S: f64 = 1e-3;
    let late = &by_end[by_end.partition_point(|one| end_s(one) <= phase.end_s - SAME_S)..];
    let ending = late.partition_point(|one| end_s(one) < phase.end_s + SAME_S);
    late[..ending].iter().copied()
}

/// What happened in a phase, of all that is in order of its moment.
fn within<'a, T>(all: &'a [T], phase: &RunPhase, moment_s: impl Fn(&T) -> f64) -> &'a [T] {
    between(all, phase.start_s, phase.end_s, moment_s)
}

/// What happened from one moment to another, in seconds, of all that is in order of its moment.
fn between<T>(all: &[T], from_s: f64, to_s: f64, moment_s: impl Fn(&T) -> f64) -> &[T] {
    let begun = &all[all.partition_point(|one| moment_s(one) < from_s)..];
    &begun[..begun.partition_point(|one| moment_s(one) < to_s)]
}

/// The readings of a phase, with one at its very end.
fn readings<'a>(all: &'a [(f64, Option<f64>)], phase: &RunPhase) -> &'a [(f64, Option<f64>)] {
    let begun = &all[all.partition_point(|point| point.0 < phase.start_s)..];
    &begun[..begun.partition_point(|point| point.0 <= phase.end_s)]
}

#[cfg(test)]
mod test {
    use super::*;

    fn phase(start_s: f64, end_s: f64) -> RunPhase {
        let (name, op, what) = ("read".to_owned(), "read".to_owned(), String::new());
        RunPhase { name, op, what, start_s, end_s, ended_by: None, rate_limit_bytes_per_s: None }
    }

    #[test]
    fn what_lies_at_a_border_belongs_to_the_phase_that_begins_there() {
        let all = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(within(&all, &phase(2.0, 4.0), |t| *t), [2.0, 3.0]);
        assert_eq!(within(&all, &phase(4.0, 9.0), |t| *t), [4.0, 5.0]);
        assert!(within(&all, &phase(4.0, 2.0), |t| *t).is_empty(), "a phase that ends before it begins");
        assert!(within(&all, &phase(f64::NAN, f64::NAN), |t| *t).is_empty());
        let points = all.map(|t| (t, Some(t)));
        assert_eq!(readings(&points, &phase(2.0, 4.0)).len(), 3, "a reading at the end is the last one");
    }

    #[test]
    fn what_is_told_of_a_phase_ends_with_it() {
        let ends = [10.0, 20.0, 20.0005, 30.0];
        let by_end: Vec<&f64> = ends.iter().collect();
        let ending = |end_s: f64| ending_with(&by_end, &phase(0.0, end_s), |end| *end).count();
        assert_eq!([10.0, 20.0, 25.0, 30.0005].map(ending), [1, 2, 0, 1]);
    }
}
