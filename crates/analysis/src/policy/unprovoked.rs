//! The policy where nothing was slowed down by heat: none, or open, by what the run could have shown.

use std::collections::BTreeMap;

use super::clipped::stood_at_hottest;
use super::loads::{AT_THRESHOLD_K, COOLED_K, HOT_K, Loads, OPEN_S, WENT_ON_K, loads_by, spans};
use super::only_hot::{ended_alike, paused_hot, paused_once_hot, sagged_hot, stalls_hot, stops_hot};
use super::{AVERAGED_S, HELD_S};
use crate::cause::Judged;
use crate::cause::evidence::Conclusion;
use crate::cause::heat::Heat;
use crate::cause::starts;
use crate::findings::{Caveat, Policy, PolicyClass, SegmentOp};
use crate::life;
use crate::observation::Observation;
use crate::segment::{LEVEL_S, Piece, Stretch};
use crate::{COOL_K, FASTER};
use trace::Trace;
use trace::caveat::SlowdownSeen;

/// What the drive did in more of the time than this was not read: nothing is cleared by it.
const MOST_UNREAD: f64 = 0.5;
/// Where nothing was slowed down by heat, so often nothing was: from the tuned halves of both corpora.
const NOTHING_SEEN: f64 = 0.99;
/// ... and so often where the log began on a warm drive at rest: 9 of 10 of the tuned halves, and none of 11 by others' simulators.
const AT_REST_SEEN: f64 = 0.6;
/// ... and so often where the log does not say what was asked for, and a load paused just as the drive was hottest, until it had cooled: a
/// drive that stops itself does so.
const PAUSED_SEEN: f64 = 0.9;
/// A drive whose load goes on, slowed down, stays as hot within this share of what it had been warmed by: at rest it cools further in less time than it took to warm up.
const WENT_ON: f64 = 0.25;
/// A drive that counted throttling for so much of a log was slowed down by it.
const COUNTED: f64 = 0.02;
/// Below this probability that a drop is not heat, a drive that was hot when it began is not cleared by it. Chosen: two of 2,400 tuned runs
/// are open by it that were rightly none, and six at 0.85.
const SURELY_NOT: f64 = 0.8;
/// Speed that varies by more than this share is not one: what dips by the clock in long rows varies by less.
const TO_AND_FRO: f64 = 0.2;

/// The policy of a run in which nothing was slowed down by heat.
pub(super) fn policy(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    pieces: &[Piece],
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
        from_runs: None,
    };
    // A temperature that was read before or after the load, or that never moved, says nothing about it.
    let meanwhile = stretches.iter().flat_map(|s| heat.within(s.start_s(), s.end_s()));
    let hottest = meanwhile.map(|p| p.value).fold(f64::NEG_INFINITY, f64::max);
    let seen = shows_nothing(trace, heat, stretches, hottest, unread)
        .or_else(|| leaves_open(trace, heat, stretches, pieces, judged, hottest));
    if let Some(seen) = seen {
        return (policy(PolicyClass::Undetermined, 0.0), vec![Caveat::PolicyUndetermined { seen }]);
    }
    // What may have been heat leaves open whether there is a policy.
    let heat_left = judged.iter().map(|judged| judged.evidence.odds().heat).fold(0.0, f64::max);
    let known = if at_rest(trace, heat, stretches) { AT_REST_SEEN } else { NOTHING_SEEN };
    let known = known.min(NOTHING_SEEN - (NOTHING_SEEN - AT_REST_SEEN) * hot_share(trace, heat, stretches));
    let known = if paused_hot(trace, heat, hottest) { known.min(PAUSED_SEEN) } else { known };
    // That nothing was heat is no surer than of the drop of which that is least sure. How sure a full cache is says how likely other causes
    // are that are no heat either.
    let not_heat = judged.iter().filter(|judged| judged.verdict.conclusion == Conclusion::NotHeat);
    let least_sure = not_heat.map(|judged| judged.verdict.confidence).fold(1.0, f64::min);
    let policy = |class, confidence: f64| policy(class, (confidence * (1.0 - heat_left)).min(least_sure));
    let set: Vec<f64> = [trace.tmt_at(0.0).0, trace.tmt_at(0.0).1].into_iter().flatten().collect();
    let counted = heat.moved(0.0, trace.end_s());
    let moved = [counted.tmt1, counted.tmt2].iter().flatten().any(|n| *n > 0);
    if moved {
        // The caveat about counters says the rest: it acted, and speed hardly gave way.
        return (policy(PolicyClass::None, 0.9), Vec::new());
    }
    let provoked = hottest >= HOT_K || set.iter().any(|k| hottest >= *k && *k > 300.0);
    if provoked {
        return (policy(PolicyClass::None, known), Vec::new());
    }
    let governed = trace.phases.iter().any(|phase| !phase.held.is_empty());
    let cool = Caveat::NotHotEnough { runs: 1, hottest_k: Some(hottest), governed };
    (policy(PolicyClass::None, known), vec![cool])
}

/// Why a log could not have shown a policy.
fn shows_nothing(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    hottest_k: f64,
    unread: f64,
) -> Option<SlowdownSeen> {
    let moved = |stretch: &&Stretch| stretch.op.moves_data() && stretch.samples.iter().any(|s| s.bytes > 0.0);
    let loaded_s: f64 = stretches.iter().filter(moved).map(|s| s.end_s() - s.start_s()).sum();
    let gaps = stretches.windows(2).filter(|pair| pair[0].phase == pair[1].phase && moved(&&pair[0]));
    let unread_s: f64 = gaps.map(|pair| pair[1].start_s() - pair[0].end_s()).sum();
    let has_load = stretches.iter().any(|stretch| moved(&stretch));
    let has_temperature = || trace.temperature().is_some_and(|kelvin| !kelvin.points().is_empty());
    let has_counted = || life::life(trace).is_some_and(|life| !life.counted().is_empty());
    match () {
        () if !has_load && has_counted() => Some(SlowdownSeen::CountedWithoutLoad),
        () if !has_load && has_temperature() => Some(SlowdownSeen::NoLoad),
        () if !(has_load && hottest_k.is_finite()) && heat.frozen => Some(SlowdownSeen::StillTemperature),
        () if !(has_load && hottest_k.is_finite()) => Some(SlowdownSeen::NoTemperature),
        () if loaded_s < LEVEL_S => Some(SlowdownSeen::ShortLoad),
        () if unread > MOST_UNREAD || unread_s > loaded_s || went_on_unread(heat, stretches, hottest_k) => {
            Some(SlowdownSeen::LoadUnread)
        }
        () => None,
    }
}

/// Why what a log shows may have been heat after all.
fn leaves_open(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    pieces: &[Piece],
    judged: &[Judged],
    hottest_k: f64,
) -> Option<SlowdownSeen> {
    let mut unknown =
        judged.iter().filter(|judged| judged.verdict.conclusion == Conclusion::Unknown).peekable();
    if unknown.peek().is_some() {
        let either = unknown.all(|judged| judged.evidence.has(&Observation::HeatOrCache));
        return Some(if either { SlowdownSeen::HeatOrCache } else { SlowdownSeen::Unexplained });
    }
    // What nothing explains on a hot drive is hardly known not to be heat.
    let hot = |judged: &&Judged| judged.temp_k().is_some_and(|kelvin| kelvin >= HOT_K);
    let hardly = |judged: &Judged| {
        judged.verdict.conclusion == Conclusion::NotHeat && judged.verdict.confidence < SURELY_NOT
    };
    if judged.iter().filter(hot).any(hardly) {
        return Some(SlowdownSeen::Unexplained);
    }
    // A warm drive that was slow from a load's first second on, and not in another run: no cache is known to have been full before.
    let slow_at_once = |judged: &&Judged| {
        let warm = judged.temp_k().is_some_and(|kelvin| kelvin >= COOL_K);
        warm && judged.drop.at_start && judged.other_run && judged.verdict.conclusion == Conclusion::NotHeat
    };
    if judged.iter().any(|judged| slow_at_once(&judged)) {
        return Some(SlowdownSeen::Unexplained);
    }
    if !never_cool(trace, heat, stretches, judged).is_empty() {
        return Some(SlowdownSeen::NeverCool);
    }
    if never_even(stretches, pieces, heat) {
        return Some(SlowdownSeen::NeverSteady);
    }
    if stops_hot(trace, heat, stretches, hottest_k)
        || stalls_hot(trace, heat, stretches, judged, hottest_k)
        || paused_once_hot(trace, heat, stretches, hottest_k)
    {
        return Some(SlowdownSeen::OnlyHot);
    }
    if counted_between_rows(trace, heat) {
        return Some(SlowdownSeen::BetweenRows);
    }
    if ended_alike(trace, heat, hottest_k) {
        return Some(SlowdownSeen::EndedAlike);
    }
    if stood_at_hottest(heat, stretches, hottest_k) {
        return Some(SlowdownSeen::Clipped);
    }
    sagged_hot(heat, stretches, judged, hottest_k).then_some(SlowdownSeen::Following)
}

/// Whether the drive counted seconds of throttling, and not few, in rows so long that cycles do not show in them.
fn counted_between_rows(trace: &Trace, heat: &Heat) -> bool {
    let (throttled_s, seen_s) = heat.counted_s(0.0, trace.end_s());
    heat.slice_s >= AVERAGED_S && throttled_s >= COUNTED * seen_s && throttled_s > 0.0
}

/// From when to when loads may have been slow from their first second on, in seconds, as their speed on a cool drive is not known: an operation
/// ran only where drives are throttled by themselves, or at TMT1; or one of its loads began there, and another one was much faster. A
/// full cache explains a speed as well.
pub(crate) fn never_cool(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    judged: &[Judged],
) -> Vec<(f64, f64)> {
    let keys = starts::loads(trace);
    let by_op = loads_by(stretches, |stretch| stretch.op as u8);
    let by_load = loads_by(stretches, |stretch| (stretch.op as u8, keys[stretch.phase]));
    let loads =
        || by_load.values().filter(|load| by_op[&(load.op as u8)].stretches.len() > load.stretches.len());
    let speeds: Vec<(&Loads, f64)> = loads().map(|load| (load, load.bytes_per_s())).collect();
    let full_cache = judged.iter().filter(|j| j.verdict.conclusion == Conclusion::SlcFull);
    let cache_bytes_per_s = full_cache.map(|j| j.drop.level).fold(0.0, f64::max);
    let writes = |load: &Loads| matches!(load.op, SegmentOp::Write | SegmentOp::Mixed);
    let slower = |(load, speed): &&(&Loads, f64)| {
        load.is_free(trace)
            && !(writes(load) && *speed <= FASTER * cache_bytes_per_s)
            && (load.began_hot(heat) || load.at_tmt1(trace, heat))
            && speeds.iter().any(|(other, faster)| *faster > FASTER * speed && load.is_like(other, trace))
    };
    let first_s = stretches.iter().map(Stretch::start_s).fold(f64::INFINITY, f64::min);
    let hot = |op: &&Loads| {
        op.stayed_hot(heat) || op.at_tmt1(trace, heat) || op.start_s() <= first_s && op.only_cooled(heat)
    };
    let unlimited = || by_op.values().filter(|op| !op.is_limited(trace));
    // A short load that is hot leaves little open beside others, and all where there is nothing else.
    let nothing_else = unlimited().all(|op| hot(&op));
    let ops = unlimited().filter(hot).filter(|op| nothing_else || op.is_free(trace));
    let slow_loads = speeds.iter().filter(slower).map(|(load, _)| *load);
    spans(ops.chain(slow_loads))
}

/// From when to when operations ran, in seconds, that were never cooler than the coolest temperature at which heat slowed the drive down in this
/// run: their speed below that threshold is not known.
pub(crate) fn never_below_onset(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    judged: &[Judged],
) -> Vec<(f64, f64)> {
    let onsets = judged.iter().filter(|j| j.verdict.conclusion.is_heat() && !j.drop.at_start && !j.continues);
    let Some(onset_k) = onsets.filter_map(|j| j.onset_k).reduce(f64::min) else { return Vec::new() };
    let by_op = loads_by(stretches, |stretch| stretch.op as u8);
    let coolest_k = |op: &&Loads| op.kelvin(heat).reduce(f64::min);
    let hot = |op: &&Loads| coolest_k(op).is_some_and(|k| k >= onset_k - AT_THRESHOLD_K);
    spans(by_op.values().filter(|op| !op.is_limited(trace)).filter(hot))
}

/// How much of the time that leaves a policy open the longest operation has that only ran hot, where others show something.
fn hot_share(trace: &Trace, heat: &Heat, stretches: &[Stretch]) -> f64 {
    let by_op = loads_by(stretches, |stretch| stretch.op as u8);
    let hot = by_op.values().filter(|op| !op.is_limited(trace) && op.stayed_hot(heat));
    hot.map(|op| (op.lasts_s() / OPEN_S).min(1.0)).fold(0.0, f64::max)
}

/// Whether the drive was as hot as under its load for longer before the first speed, and after the last one, than in between, as if
/// the load had gone on.
fn went_on_unread(heat: &Heat, stretches: &[Stretch], hottest_k: f64) -> bool {
    let first_s = stretches.iter().map(Stretch::start_s).fold(f64::INFINITY, f64::min);
    let last_s = stretches.iter().map(Stretch::end_s).fold(0.0, f64::max);
    let all = heat.within(f64::NEG_INFINITY, f64::INFINITY);
    let coolest_k = all.iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
    // At rest a drive is as warm as that only if the load did not warm it, and slower than before it is a little cooler.
    let warmed_k = hottest_k - coolest_k;
    let least_k =
        hottest_k + if warmed_k >= COOLED_K { -WENT_ON_K.max(WENT_ON * warmed_k) } else { WENT_ON_K };
    let outside = all.iter().filter(|p| !(first_s..=last_s).contains(&p.t.as_secs_f64()));
    let hot_s = outside.filter(|p| p.value >= least_k).count() as f64 * heat.period_s;
    hot_s > (last_s - first_s).max(HELD_S)
}

/// Whether the log began in a load that had been there before, so that its speed on a cool drive is not known.
fn at_rest(trace: &Trace, heat: &Heat, stretches: &[Stretch]) -> bool {
    let by_op = loads_by(stretches, |stretch| stretch.op as u8);
    by_op.values().any(|op| op.is_free(trace) && op.began_at_rest(heat))
}

/// Whether an operation that ran for a while, and where drives are throttled by themselves, was never at one speed: cycles that no row
/// shows whole look so, and the speed without them is not known.
fn never_even(stretches: &[Stretch], pieces: &[Piece], heat: &Heat) -> bool {
    let mut by_op: BTreeMap<u8, (f64, f64)> = BTreeMap::new();
    for piece in pieces.iter().filter(|piece| stretches[piece.stretch].op.moves_data()) {
        let (even_s, hot_s) = by_op.entry(stretches[piece.stretch].op as u8).or_default();
        let hot = heat.within(piece.start_s, piece.end_s).iter().any(|p| p.value >= HOT_K);
        *even_s += if piece.variation <= TO_AND_FRO { piece.span_s() } else { 0.0 };
        *hot_s += if hot { piece.span_s() } else { 0.0 };
    }
    by_op.values().any(|(even_s, hot_s)| *even_s <= 0.0 && *hot_s >= HELD_S)
}
