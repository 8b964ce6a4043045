//! What a run did not show: a value that is `None` in the findings has a caveat that says why.
//!
//! Where a part is missing as a whole its own caveat says so (`policy_undetermined`, `thermal_not_identified`,
//! `no_temperature`); this is about single values beside others that are known.

use crate::OVER_STATED;
use crate::findings::{
    Cause, Caveat, Event, EventKind, Findings, Label, PolicyClass, PolicyLevel, SegmentOp,
};
use crate::observation::Observation;
use trace::Trace;
use trace::caveat::Unseen;

/// One caveat for all of it; `None` where everything that can be asked was seen.
pub(crate) fn caveat(findings: &Findings, trace: &Trace) -> Option<Caveat> {
    let moved = |op: SegmentOp| {
        let series = trace.speeds.iter().filter(|series| series.op == op);
        series.flat_map(|series| &series.intervals).map(|interval| interval.bytes).sum::<f64>()
    };
    let (read, written) = (moved(SegmentOp::Read), moved(SegmentOp::Write));
    if read + written == 0.0 {
        return None;
    }
    let mut values = Vec::new();
    // Where it may have been full is asked by what leaves the policy open.
    let open = |event: &Event| {
        event.cause == Cause::Unknown
            && event.observations.iter().any(|seen| seen.observation == Observation::HeatOrCache)
    };
    let full: Vec<&Event> = findings.events.iter().filter(|e| e.kind == EventKind::SlcExhausted).collect();
    let over_stated = full.iter().any(|event| is_over_stated(event));
    // One that was full and has no size that is told is told as the event that it is.
    // Nor is one that was full when its load began, or after a time that was not read.
    let was_full = findings.segments.iter().any(|segment| segment.label == Label::SlcExhausted);
    let is_told = !full.is_empty() && !over_stated || full.is_empty() && was_full;
    if findings.slc_cache.is_none() && !findings.events.iter().any(open) && !is_told {
        let written_bytes = written_fast(findings, trace);
        let in_all_bytes = Some(written).filter(|in_all| *in_all > written_bytes);
        values.push(Unseen::SlcBytes { written_bytes, over_stated, in_all_bytes });
    }
    let policy = &findings.policy;
    if !matches!(policy.class, PolicyClass::None | PolicyClass::Undetermined) {
        let of_others = |of: fn(&PolicyLevel) -> Option<f64>| policy.levels.iter().any(|l| of(l).is_some());
        let onset = if of_others(|l| l.onset_k) { Unseen::LightestOnset } else { Unseen::Onset };
        let release = if of_others(|l| l.release_k) { Unseen::LightestRelease } else { Unseen::Release };
        values.extend(policy.onset_k.is_none().then_some(onset));
        values.extend(policy.release_k.is_none().then_some(release));
    }
    let thermal = &findings.thermal;
    let gains = [
        (SegmentOp::Write, written, thermal.kelvin_per_gb_per_s_write),
        (SegmentOp::Read, read, thermal.kelvin_per_gb_per_s_read),
    ];
    // Where neither is known, how load becomes temperature was not determined at all, and that is told.
    if gains.iter().any(|(.., gain)| gain.is_some()) {
        let unknown = gains.into_iter().filter(|(.., gain)| gain.is_none());
        values.extend(unknown.map(|(op, bytes, _)| Unseen::Heating { op, moved: bytes > 0.0 }));
    }
    (!values.is_empty()).then_some(Caveat::NotSeen { values })
}

/// Whether far more had been written than the cache is stated to hold.
fn is_over_stated(event: &Event) -> bool {
    event.observations.iter().any(|seen| match seen.observation {
        Observation::WrittenOfStated { written_bytes, stated_bytes, .. } => {
            written_bytes as f64 > OVER_STATED * stated_bytes as f64
        }
        _ => false,
    })
}

/// Data written up to the last moment at which writing was not slow: what was written while it was may be beyond the end of a cache.
fn written_fast(findings: &Findings, trace: &Trace) -> f64 {
    let is_slow = |label: Label| matches!(label, Label::Throttled | Label::SlcExhausted | Label::Unknown);
    let writes = findings.segments.iter().filter(|s| matches!(s.op, SegmentOp::Write | SegmentOp::Mixed));
    let fast_to_s = writes.filter(|s| !is_slow(s.label)).map(|s| s.end_s).fold(0.0, f64::max);
    let series = trace.speeds.iter().filter(|series| series.op == SegmentOp::Write);
    let intervals = series.flat_map(|series| &series.intervals);
    intervals.filter(|interval| interval.start_s < fast_to_s).map(|interval| interval.bytes).sum()
}
