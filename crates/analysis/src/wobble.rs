//! How unsteady a load ran: by how much a second lies from the one before, and why.
//!
//! `sqrt(mean (v[i+1] - v[i])²) / sqrt 2 / mean v` over seconds next to each other in one segment: of independent noise it is
//! the standard deviation over the mean. Steps between levels are no wobble, and neither is a level that drifts.

use serde::{Deserialize, Serialize};
use trace::{Interval, SegmentOp, Trace};

use crate::findings::{Event, EventKind, Label, Segment};

/// How unsteady one operation ran in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PhaseWobble {
    /// The phase's name.
    pub phase: String,
    /// The operation.
    pub op: SegmentOp,
    /// End of the phase, in seconds.
    pub end_s: f64,
    /// Standard deviation of a second over the mean.
    pub share: f64,
    /// Why.
    pub kind: WobbleKind,
}

/// Why a load runs unsteadily.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WobbleKind {
    /// Below a hundredth.
    Steady,
    /// While throttled: bursts of a regulator or a relay.
    RegulatorBursts,
    /// Dips that are not heat.
    Housekeeping,
    /// None of these.
    Noise,
}

/// Below it speed is steady: the noise of drives at full speed is 0.3 to 2 % of a second.
const STEADY: f64 = 0.01;
/// Fewer pairs of seconds give no figure.
const PAIRS_MIN: usize = 8;
/// A second that is covered less is not compared.
const COVERED_MIN_S: f64 = 0.5;

/// A figure for each operation of each phase that is long enough.
pub(crate) fn wobble(trace: &Trace, segments: &[Segment], events: &[Event]) -> Vec<PhaseWobble> {
    let mut all = Vec::new();
    for series in &trace.speeds {
        for (index, phase) in trace.phases.iter().enumerate() {
            let first = series.intervals.partition_point(|interval| interval.end_s() <= phase.start_s);
            let inside =
                series.intervals[first..].iter().take_while(|interval| interval.start_s < phase.end_s);
            let seconds = seconds(inside.filter(|interval| interval.phase as usize == index));
            let Some(share) = share(seconds, segments) else { continue };
            let within =
                |from_s: f64, to_s: f64| (to_s.min(phase.end_s) - from_s.max(phase.start_s)).max(0.0);
            let ended = segments.partition_point(|segment| segment.end_s <= phase.start_s);
            let throttled_s: f64 = segments[ended..]
                .iter()
                .take_while(|segment| segment.start_s < phase.end_s)
                .filter(|segment| segment.label == Label::Throttled && segment.op == series.op)
                .map(|segment| within(segment.start_s, segment.end_s))
                .sum();
            let before = events.partition_point(|event| event.t_s < phase.start_s);
            let mut events = events[before..].iter().take_while(|event| event.t_s <= phase.end_s);
            let dips = events.any(|event| event.kind == EventKind::Dip);
            let kind = match () {
                () if share < STEADY => WobbleKind::Steady,
                () if throttled_s > 0.5 * (phase.end_s - phase.start_s) => WobbleKind::RegulatorBursts,
                () if dips => WobbleKind::Housekeeping,
                () => WobbleKind::Noise,
            };
            all.push(PhaseWobble {
                phase: phase.name.clone(),
                op: series.op,
                end_s: phase.end_s,
                share,
                kind,
            });
        }
    }
    all
}

/// A second of the run, the time in it that is covered, in seconds, and the bytes moved.
type Second = (u64, f64, f64);

/// The seconds in which something moved, one after the other: a phase may be a month.
fn seconds<'a>(intervals: impl Iterator<Item = &'a Interval>) -> impl Iterator<Item = Second> {
    let second = |interval: &Interval| interval.start_s.max(0.0) as u64;
    let mut intervals = intervals.peekable();
    std::iter::from_fn(move || {
        let first = intervals.next()?;
        let mut sum = (second(first), first.span_s, first.bytes);
        while let Some(next) = intervals.next_if(|next| second(next) == sum.0) {
            sum.1 += next.span_s;
            sum.2 += next.bytes;
        }
        Some(sum)
    })
}

fn share(seconds: impl Iterator<Item = Second>, segments: &[Segment]) -> Option<f64> {
    let covered = |second: &Second| second.1 >= COVERED_MIN_S;
    let (mut pairs, mut middles, mut squares) = (0, 0.0, 0.0);
    let (mut last, mut ended): (Option<Second>, usize) = (None, 0);
    for now in seconds {
        let has_ended = |segment: &Segment| segment.end_s <= now.0 as f64 + 0.5;
        let ended_now = match last {
            None => segments.partition_point(has_ended),
            Some(_) => segments[ended..].iter().take_while(|segment| has_ended(segment)).count(),
        };
        ended += ended_now;
        let before = last.replace(now).filter(|before| now.0 == before.0 + 1 && ended_now == 0);
        if let Some(before) = before.filter(|before| covered(before) && covered(&now)) {
            let (a, b) = (before.2 / before.1, now.2 / now.1);
            pairs += 1;
            middles += (a + b) / 2.0;
            squares += (b - a).powi(2);
        }
    }
    if pairs < PAIRS_MIN {
        return None;
    }
    let (mean, square) = (middles / pairs as f64, squares / pairs as f64);
    (mean > 0.0).then(|| (square / 2.0).sqrt() / mean)
}

#[cfg(test)]
mod test {
    use super::*;
    use trace::{Phase, SpeedSeries};

    fn trace(speed: impl Fn(usize) -> f64) -> Trace {
        let mut trace = Trace::empty("wobble");
        trace.phases.push(Phase::bare("read", SegmentOp::Read, 0.0, 200.0));
        let interval =
            |i: usize| Interval { start_s: i as f64 / 2.0, span_s: 0.5, bytes: speed(i / 2) / 2.0, phase: 0 };
        trace.speeds = vec![SpeedSeries { op: SegmentOp::Read, intervals: (0..400).map(interval).collect() }];
        trace
    }

    #[test]
    fn wobble_is_the_deviation_of_a_second_and_no_drift() {
        let kind = |trace: &Trace, segments: &[Segment]| {
            let all = wobble(trace, segments, &[]);
            (all[0].share, all[0].kind)
        };
        assert_eq!(kind(&trace(|_| 2e9), &[]), (0.0, WobbleKind::Steady));
        let (drift, steady) = kind(&trace(|second| 2e9 - 5e6 * second as f64), &[]);
        assert!(drift < 0.003 && steady == WobbleKind::Steady, "{drift}");
        let unsteady = trace(|second| if second % 2 == 0 { 2.2e9 } else { 1.8e9 });
        let (share, noise) = kind(&unsteady, &[]);
        // Two values 0.2 apart, one after the other: 0.2 / sqrt 2.
        assert!((share - 0.1414).abs() < 1e-3 && noise == WobbleKind::Noise, "{share}");
        let throttled = Segment {
            start_s: 0.0,
            end_s: 200.0,
            op: SegmentOp::Read,
            mean_bytes_per_s: Some(2e9),
            label: Label::Throttled,
            temp_start_k: None,
            temp_end_k: None,
        };
        assert_eq!(kind(&unsteady, &[throttled]).1, WobbleKind::RegulatorBursts);
        assert!(wobble(&Trace::empty("nothing"), &[], &[]).is_empty());
    }
}
