//! What the drive's own counters of throttling say about a drop.

use super::case::Case;
use super::drops::SpeedDrop;
use super::evidence::Evidence;
use super::evidence::Suspect::Vendor;
use super::heat::HeatMove;
use super::weigh::hctm_unknown;
use crate::observation::Observation;
use crate::segment::Piece;
use trace::HostThreshold;

/// The drive's counters are looked at this long before and after the beginning of a drop.
const COUNTED_WITHIN_S: f64 = 10.0;
/// What counters that stand still take from the two thresholds that they count goes to one of the drive's own: half of ln 3.3 each.
const OWN_INSTEAD: f64 = 0.6;
/// A drive that is throttled counts nearly every second, and this share of them where only a row at an edge was.
const HARDLY_COUNTED: f64 = 0.05;
const NEARLY_ALL: f64 = 0.9;
/// What it weighs for a threshold within another one that the drive no longer counts that one, and is as slow.
const LET_GO: f64 = -4.0;
/// What it weighs that a counter stands in a drive that counts, and at most more where it has counted often.
const COUNTS: f64 = 4.0;
const COUNTS_OFTEN: f64 = 3.0;
/// What it weighs that a drive counts a load that begins slow as throttled throughout, which leaves little doubt of its own.
const COUNTED_ALL: f64 = 7.0;

/// Weighs what they did around the beginning of a drop, and while it lasted.
pub(super) fn weigh(case: &Case, evidence: &mut Evidence) {
    let moved = counted_around(case);
    let has_counted = case.heat.has_counted();
    for threshold in [HostThreshold::Tmt1, HostThreshold::Tmt2] {
        let (seen, weight, own) = match moved.of(threshold) {
            // What goes further is counted once, as a regulator that does is.
            Some(0) if goes_on(case, threshold) => {
                let Some(span_s) = uncounted_later_s(case, threshold) else { continue };
                (Observation::NotCountedMeanwhile { threshold, span_s }, -4.0, LET_GO)
            }
            Some(0) => {
                let (weight, own) = still(case, threshold, has_counted);
                (Observation::CounterStill { threshold, has_counted }, weight, own)
            }
            Some(_) => match uncounted_s(case, threshold) {
                Some(span_s) => (Observation::NotCountedMeanwhile { threshold, span_s }, -4.0, 0.0),
                None if began_counted(case, threshold) => {
                    (Observation::CounterMoved { threshold }, COUNTED_ALL, 0.0)
                }
                None => (Observation::CounterMoved { threshold }, 3.5, 0.0),
            },
            None => continue,
        };
        evidence.weigh(seen, &[(threshold.into(), weight), (Vendor, own)]);
    }
}

/// What it weighs that a counter did not move, for its threshold and for one of the drive's own.
fn still(case: &Case, threshold: HostThreshold, has_counted: bool) -> (f64, f64) {
    if has_counted {
        return (-COUNTS - ever_counted(case, threshold).ln().clamp(0.0, COUNTS_OFTEN), 0.0);
    }
    // That a drive does not count is seen once, however many drops there are. Where the settings are not known either, it may be that it has
    // none.
    let silent = if hctm_unknown(case) { -2.2 } else { -1.2 };
    // Without a temperature a drive that never counted is as likely slowed down by heat as before.
    let own = if case.onset_k().is_none() { OWN_INSTEAD } else { 0.0 };
    (silent / case.history.drops().max(1) as f64, own)
}

/// How often throttling at a threshold began in the run by the drive's counter.
fn ever_counted(case: &Case, threshold: HostThreshold) -> f64 {
    let (transitions, _) = case.heat.counted_at(threshold, 0.0, case.trace.end_s());
    transitions.unwrap_or(0) as f64
}

/// How long a drop lasted in which the drive, which counts seconds of throttling at a threshold, counted none, in seconds. Rows and readings
/// are half a period off.
fn uncounted_s(case: &Case, threshold: HostThreshold) -> Option<f64> {
    uncounted_from_s(case, threshold, case.start_s())
}

/// The same of the later half of a drop, before which it counted: a threshold within another one does not hold on after that let go.
fn uncounted_later_s(case: &Case, threshold: HostThreshold) -> Option<f64> {
    uncounted_from_s(case, threshold, case.start_s().midpoint(case.end_s()))
}

/// How long a drop lasted from some moment on, in seconds, if nothing was counted from then on.
fn uncounted_from_s(case: &Case, threshold: HostThreshold, from_s: f64) -> Option<f64> {
    let off_s = case.heat.counter_period_s().max(case.heat.slice_s) / 2.0;
    let seconds = |from_s: f64, to_s: f64| case.heat.counted_at(threshold, from_s, to_s).1;
    let counts = seconds(0.0, case.trace.end_s()).is_some_and(|all_s| all_s > 0);
    let meanwhile = seconds(from_s + off_s, case.end_s() + off_s);
    let span_s = case.end_s() - from_s - 2.0 * off_s;
    let still = meanwhile.is_some_and(|s| s as f64 <= HARDLY_COUNTED * span_s);
    (counts && still && span_s >= COUNTED_WITHIN_S).then_some(span_s)
}

/// Whether a load began slow, and the drive counted nearly every second of that as throttled at a threshold, and at least half of its time at
/// full speed not.
pub(super) fn began_counted(case: &Case, threshold: HostThreshold) -> bool {
    let counted_s =
        |from_s: f64, to_s: f64| case.heat.counted_at(threshold, from_s, to_s).1.map(|s| s as f64);
    let off_s = 2.0 * case.heat.counter_period_s();
    let meanwhile_s = counted_s(case.start_s(), case.end_s());
    let end_s = case.trace.end_s();
    let not_s = counted_s(0.0, end_s).map(|s| end_s - s);
    case.drop.at_start
        && case.span_s() >= COUNTED_WITHIN_S
        && meanwhile_s.is_some_and(|s| s >= NEARLY_ALL * (case.span_s() - off_s))
        && not_s.is_some_and(|s| s >= case.history.full_speed_s((case.op, false)) / 2.0)
}

/// Whether a drop lies in another one whose throttling the drive still counts, in seconds: it may only have gone further.
fn goes_on(case: &Case, threshold: HostThreshold) -> bool {
    let moved = case.heat.moved(case.start_s() - COUNTED_WITHIN_S, case.start_s() + COUNTED_WITHIN_S);
    case.drop.inside.is_some() && moved.of(threshold).is_some_and(|count| count > 0)
}

/// By how much the counters moved around the beginning: a regulator counts when it begins, which is before its
/// speed has visibly given way; a slow log page shows it a reading later. What they moved by for the drops before and after is theirs.
pub(super) fn counted_around(case: &Case) -> HeatMove {
    let period_s = case.heat.counter_period_s();
    let (around_s, off_s) = (COUNTED_WITHIN_S.max(3.0 * period_s), case.heat.slice_s + period_s);
    let start_s = case.start_s();
    let [ended_s, next_s] = case.beside_s;
    let before_s = (start_s - around_s).max(ended_s.min(start_s - off_s));
    let from_s = if case.drop.at_start { start_s } else { before_s };
    let to_s = (start_s + around_s).min((next_s - off_s).max(start_s + off_s));
    // Inside another drop the outer one's seconds go on.
    if case.drop.inside.is_some() { case.heat.began(from_s, to_s) } else { case.heat.moved(from_s, to_s) }
}

/// Of each drop, when the last one before it had ended and when the next one after it begins, in seconds.
pub(super) fn beside_s(drops: &[SpeedDrop], pieces: &[Piece]) -> Vec<[f64; 2]> {
    let of = |(index, drop): (usize, &SpeedDrop)| {
        let before = drops[..index].iter().rev().find(|other| other.last < drop.first);
        let next = drops[index + 1..].iter().find(|other| other.first > drop.last);
        [
            before.map_or(f64::NEG_INFINITY, |before| pieces[before.last].end_s),
            next.map_or(f64::INFINITY, |next| pieces[next.first].start_s),
        ]
    };
    drops.iter().enumerate().map(of).collect()
}

/// Whether the drive's own counter of a threshold moved around the beginning.
pub(super) fn counted(case: &Case, threshold: HostThreshold) -> bool {
    counted_around(case).of(threshold).is_some_and(|count| count > 0)
}
