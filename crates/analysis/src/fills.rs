//! How much each phase of writes put into the fast cache before it gave way: whether a cache recovers while the drive
//! rests, and whether it shrinks as the drive fills.
//!
//! The level of a phase is its speed over the first seconds. Its cache ends where speed falls below 60 % of that and stays
//! below for the rest of the phase but for a tenth. A phase that begins at less than half of the fastest level of the run
//! found no room. Heat is not told apart here: the verdict on the run is.

use serde::{Deserialize, Serialize};
use trace::{Interval, Phase, SegmentOp, Trace};

/// How much one phase of writes put into the fast cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CacheFill {
    /// The phase's name.
    pub phase: String,
    /// How long the drive had rested before it, in seconds.
    pub rested_s: f64,
    /// Data written in the run before it, in bytes.
    pub written_before_bytes: f64,
    /// Data that it wrote at the fast level; all of it where the cache did not end.
    pub fast_bytes: f64,
    /// Whether the cache ended in it.
    pub ended: bool,
    /// Speed at the fast level, in bytes per second; `None` where it began slow.
    pub fast_bytes_per_s: Option<f64>,
    /// Speed past it; `None` where the cache did not end.
    pub slow_bytes_per_s: Option<f64>,
}

/// The first seconds of a phase, which show its level.
const LEVEL_S: usize = 5;
/// A fall to less is the end of the cache: the steps of throttling that were measured leave more or less, and the verdict
/// tells them apart; a full cache left 3 % (row D3) to 30 %.
const FALLS_TO: f64 = 0.6;
/// Share of the rest that may be fast again.
const FAST_AGAIN_MOST: f64 = 0.1;
/// A phase that begins slower than this share of the fastest found no room.
const BEGINS_SLOW: f64 = 0.5;

/// A row for each phase of writes; empty where there are fewer than two.
pub(crate) fn fills(trace: &Trace) -> Vec<CacheFill> {
    let Some(writes) = trace.speeds.iter().find(|series| series.op == SegmentOp::Write) else {
        return Vec::new();
    };
    let phases: Vec<usize> =
        (0..trace.phases.len()).filter(|index| trace.phases[*index].op == SegmentOp::Write).collect();
    if phases.len() < 2 {
        return Vec::new();
    }
    let seconds = by_second(&writes.intervals, &trace.phases);
    let level =
        |phase: &usize| median(seconds[*phase].iter().take(LEVEL_S).map(|(span_s, bytes)| bytes / span_s));
    let levels: Vec<Option<f64>> = phases.iter().map(level).collect();
    let fastest = levels.iter().flatten().copied().fold(0.0, f64::max);
    let mut written_before_bytes = 0.0;
    let mut fills = Vec::new();
    for (phase, level) in phases.into_iter().zip(levels) {
        let Some(level) = level else { continue };
        let seconds = &seconds[phase];
        let total: f64 = seconds.iter().map(|second| second.1).sum();
        let begins_slow = level < BEGINS_SLOW * fastest;
        let end = if begins_slow { Some(0) } else { falls(seconds, level) };
        let sum =
            |part: &[(f64, f64)]| part.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let (fast_s, fast_bytes) = sum(&seconds[..end.unwrap_or(seconds.len())]);
        let slow = end.map(|end| sum(&seconds[end..])).filter(|(span_s, _)| *span_s > 0.0);
        fills.push(CacheFill {
            phase: trace.phases[phase].name.clone(),
            rested_s: rested_s(trace, phase),
            written_before_bytes,
            fast_bytes,
            ended: end.is_some(),
            fast_bytes_per_s: (fast_s > 0.0).then(|| fast_bytes / fast_s),
            slow_bytes_per_s: slow.map(|(span_s, bytes)| bytes / span_s),
        });
        written_before_bytes += total;
    }
    fills
}

/// Where speed falls for good.
fn falls(seconds: &[(f64, f64)], level: f64) -> Option<usize> {
    let is_slow: Vec<bool> =
        seconds.iter().map(|(span_s, bytes)| bytes / span_s < FALLS_TO * level).collect();
    let mut fast_behind = 0;
    let mut end = None;
    for index in (0..seconds.len()).rev() {
        fast_behind += usize::from(!is_slow[index]);
        let rest = seconds.len() - index;
        if is_slow[index] && fast_behind as f64 <= FAST_AGAIN_MOST * rest as f64 && rest >= LEVEL_S {
            end = Some(index);
        }
    }
    end
}

/// Length and bytes of each second of each phase of writes; nothing of others. Of all at once, as a log may have tens of thousands.
fn by_second(intervals: &[Interval], phases: &[Phase]) -> Vec<Vec<(f64, f64)>> {
    crate::work::count(intervals.len());
    let mut by_phase: Vec<Vec<(f64, f64)>> = vec![Vec::new(); phases.len()];
    for interval in intervals {
        let phase = interval.phase as usize;
        if phases.get(phase).is_none_or(|phase| phase.op != SegmentOp::Write) {
            continue;
        }
        let seconds = &mut by_phase[phase];
        match seconds.last_mut() {
            Some(last) if last.0 < 0.999 => {
                last.0 += interval.span_s;
                last.1 += interval.bytes;
            }
            _ => seconds.push((interval.span_s, interval.bytes)),
        }
    }
    by_phase
}

/// Idle time just before a phase.
fn rested_s(trace: &Trace, phase: usize) -> f64 {
    let before = trace.phases[..phase].iter().rev().take_while(|phase| phase.op == SegmentOp::Idle);
    before.map(|phase| phase.end_s - phase.start_s).sum()
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod test {
    use super::*;
    use trace::SpeedSeries;

    /// Phases of writes: idle seconds before each, seconds at 2 GB/s, seconds at 0.1 GB/s.
    fn trace(phases: &[(f64, usize, usize)]) -> Trace {
        let mut trace = Trace::empty("fills");
        let (mut t_s, mut intervals) = (0.0, Vec::new());
        for (rest_s, fast, slow) in phases {
            trace.phases.push(Phase::bare("rest", SegmentOp::Idle, t_s, t_s + rest_s));
            t_s += rest_s;
            let phase = trace.phases.len() as u32;
            trace.phases.push(Phase::bare("fill", SegmentOp::Write, t_s, t_s + (fast + slow) as f64));
            for second in 0..fast + slow {
                let bytes = if second < *fast { 2e9 } else { 1e8 };
                intervals.push(Interval { start_s: t_s, span_s: 1.0, bytes, phase });
                t_s += 1.0;
            }
        }
        trace.speeds = vec![SpeedSeries { op: SegmentOp::Write, intervals }];
        trace
    }

    #[test]
    fn each_phase_says_what_went_into_the_cache() {
        let fills = fills(&trace(&[(0.0, 50, 20), (60.0, 0, 30), (300.0, 10, 30), (1800.0, 40, 0)]));
        let shown: Vec<(f64, f64, bool)> =
            fills.iter().map(|fill| (fill.rested_s, fill.fast_bytes, fill.ended)).collect();
        assert_eq!(shown, [(0.0, 1e11, true), (60.0, 0.0, true), (300.0, 2e10, true), (1800.0, 8e10, false)]);
        assert_eq!((fills[0].fast_bytes_per_s, fills[0].slow_bytes_per_s), (Some(2e9), Some(1e8)));
        assert_eq!((fills[1].fast_bytes_per_s, fills[1].written_before_bytes), (None, 1.02e11));
        assert!(super::fills(&trace(&[(0.0, 50, 20)])).is_empty());
    }
}
