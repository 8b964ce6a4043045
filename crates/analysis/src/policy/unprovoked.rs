//! The policy where nothing was slowed down by heat: none, or open, by what the run could have shown.

use super::HELD_S;
use crate::cause::Judged;
use crate::cause::evidence::Conclusion;
use crate::cause::heat::Heat;
use crate::findings::{Caveat, Policy, PolicyClass, SegmentOp};
use crate::segment::Stretch;
use trace::caveat::SlowdownSeen;
use trace::{Interval, Trace};

/// What the drive did in more of the time than this was not read: nothing is cleared by it.
const MOST_UNREAD: f64 = 0.5;
/// Where nothing was slowed down by heat, so often nothing was: from the tuned halves of both corpora.
const NOTHING_SEEN: f64 = 0.99;
/// A load this near to the link's rate is not slowed down.
const BY_LINK: f64 = 0.9;
/// A temperature is at a threshold within rounding and a poll.
const AT_THRESHOLD_K: f64 = 1.6;
const DIPPED_K: f64 = 4.0;
/// Stops of a thermostat lie within its hysteresis of the hottest, and so many are a habit; none acts on a drive cooler than this, unless
/// it is set to.
const AS_HOT_K: f64 = 7.0;
const STOPS: usize = 5;
const WARM_K: f64 = 328.0;
/// Without slowing down, a run that stayed below this says little about what the drive does when hot.
const HOT_K: f64 = 343.0;

/// The policy of a run in which nothing was slowed down by heat.
pub(super) fn policy(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    judged: &[Judged],
    unread: f64,
) -> (Policy, Vec<Caveat>) {
    let policy = |class, confidence| Policy {
        class,
        also: Vec::new(),
        onset_k: None,
        release_k: None,
        floor_bytes_per_s: None,
        levels: Vec::new(),
        confidence,
    };
    // A temperature that was read before or after the load, or that never moved, says nothing about it.
    let meanwhile = stretches.iter().flat_map(|s| heat.within(s.start_s(), s.end_s()));
    let hottest = meanwhile.map(|p| p.value).fold(f64::NEG_INFINITY, f64::max);
    if !hottest.is_finite() {
        let has_temperature = trace.temperature().is_some_and(|kelvin| !kelvin.points().is_empty());
        let seen = match stretches.is_empty() && has_temperature {
            true => SlowdownSeen::NoLoad,
            false => SlowdownSeen::NoTemperature,
        };
        let caveat = Caveat::PolicyUndetermined { seen };
        return (policy(PolicyClass::Undetermined, 0.0), vec![caveat]);
    }
    if unread > MOST_UNREAD {
        let caveat = Caveat::PolicyUndetermined { seen: SlowdownSeen::LoadUnread };
        return (policy(PolicyClass::Undetermined, 0.0), vec![caveat]);
    }
    // What may have been heat leaves open whether there is a policy.
    let heat_left = judged.iter().map(|judged| judged.evidence.odds().heat).fold(0.0, f64::max);
    if judged.iter().any(|judged| judged.verdict.conclusion == Conclusion::Unknown) {
        let caveat = Caveat::PolicyUndetermined { seen: SlowdownSeen::Unexplained };
        return (policy(PolicyClass::Undetermined, 0.0), vec![caveat]);
    }
    let mut ops: Vec<SegmentOp> = stretches.iter().map(|stretch| stretch.op).collect();
    ops.sort_unstable_by_key(|op| *op as u8);
    ops.dedup();
    if ops.into_iter().any(|op| never_cool(trace, heat, stretches, op)) {
        let caveat = Caveat::PolicyUndetermined { seen: SlowdownSeen::NeverCool };
        return (policy(PolicyClass::Undetermined, 0.0), vec![caveat]);
    }
    if stops_hot(trace, heat, stretches, hottest) {
        let caveat = Caveat::PolicyUndetermined { seen: SlowdownSeen::Irregular };
        return (policy(PolicyClass::Undetermined, 0.0), vec![caveat]);
    }
    let policy = |class, confidence: f64| policy(class, confidence * (1.0 - heat_left));
    let set: Vec<f64> = [trace.tmt_at(0.0).0, trace.tmt_at(0.0).1].into_iter().flatten().collect();
    let counted = heat.moved(0.0, trace.end_s());
    let moved = [counted.tmt1, counted.tmt2].iter().flatten().any(|n| *n > 0);
    if moved {
        // The caveat about counters says the rest: it acted, and speed hardly gave way.
        return (policy(PolicyClass::None, 0.9), Vec::new());
    }
    let provoked = hottest >= HOT_K || set.iter().any(|k| hottest >= *k && *k > 300.0);
    if provoked {
        return (policy(PolicyClass::None, NOTHING_SEEN), Vec::new());
    }
    let cool = Caveat::NotHotEnough { runs: 1, hottest_k: Some(hottest) };
    (policy(PolicyClass::None, NOTHING_SEEN), vec![cool])
}

/// Whether an operation ran only where drives are throttled by themselves, or at TMT1, and slower than the link and the plan allow: then
/// its speed on a cool drive is not known, and it may have been slow from its first second on.
fn never_cool(trace: &Trace, heat: &Heat, stretches: &[Stretch], op: SegmentOp) -> bool {
    let loads = || stretches.iter().filter(|stretch| stretch.op == op);
    let mut kelvin: Vec<f64> =
        loads().flat_map(|s| heat.within(s.start_s(), s.end_s())).map(|p| p.value).collect();
    kelvin.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| kelvin.get((kelvin.len() as f64 * share) as usize).copied();
    let hot = at(0.0).is_some_and(|coolest_k| coolest_k >= HOT_K);
    // What dips cools a little.
    let tmt1_k = trace.tmt_at(0.0).0;
    let at_tmt1 = tmt1_k.zip(at(0.1)).zip(at(0.5)).is_some_and(|((tmt1_k, cool_k), middle_k)| {
        cool_k >= tmt1_k - DIPPED_K && (middle_k - tmt1_k).abs() <= AT_THRESHOLD_K
    });
    let held = loads().any(|stretch| trace.phases[stretch.phase].rate_limit_bytes_per_s.is_some());
    let fastest = loads().flat_map(|s| s.samples.iter()).map(Interval::bytes_per_s).fold(0.0, f64::max);
    let by_link = trace.facts.link_bytes_per_s.is_some_and(|link| fastest >= BY_LINK * link);
    let lasts_s: f64 = loads().map(|s| s.end_s() - s.start_s()).sum();
    op.moves_data() && lasts_s >= HELD_S && (hot || at_tmt1) && !held && !by_link
}

/// Whether nothing moved in slices too short to be drops, again and again, and only while the drive was about as hot as it got: a
/// thermostat may do so.
fn stops_hot(trace: &Trace, heat: &Heat, stretches: &[Stretch], hottest_k: f64) -> bool {
    let threshold_k = [trace.tmt_at(0.0).0, trace.tmt_at(0.0).1].into_iter().flatten().fold(WARM_K, f64::min);
    let loads = stretches.iter().filter(|stretch| stretch.op.moves_data());
    let nothing = loads
        .flat_map(|stretch| stretch.samples.windows(3))
        .filter(|slices| slices[0].bytes > 0.0 && slices[1].bytes <= 0.0 && slices[2].bytes > 0.0);
    let mut times = 0;
    for slices in nothing {
        let Some(kelvin) = heat.nearest_k(slices[1].start_s) else { return false };
        if kelvin < hottest_k - AS_HOT_K {
            return false;
        }
        times += 1;
    }
    times >= STOPS && hottest_k >= threshold_k - AT_THRESHOLD_K
}
