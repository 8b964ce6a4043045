//! What the temperature did before, while and after the drive was slow, and over the whole run.
//!
//! A threshold is crossed by a temperature that rises; it has one value; full speed above it does not happen; and
//! what heat slowed down comes back when it has cooled. Each of these can be looked for.

use super::already;
use super::beginning::RanHotter;
use super::case::{Case, SETTLING_S, TELLING_S};
use super::evidence::Evidence;
use super::evidence::Suspect::{Slc, Tmt1, Tmt2, Vendor};
use super::let_cool;
use super::likelihood::{ONE_THRESHOLD_K, part_way, seen_once};
use super::noise;
use super::release;
use super::stood;
use crate::findings::SegmentOp;
use crate::observation::Observation;
use measure::Point;

/// Cooling of this much would be seen in whole kelvins.
const COOLING_SHOWS_K: f64 = 4.0;
/// Whole kelvins hide this much.
const ROUNDING_K: f64 = 1.0;
/// What held the temperature while speed gave way: from so many kelvins of cooling left out on, in full at twice that.
const HELD: f64 = 2.5;
const HELD_SHOWS_K: f64 = 1.5;
/// In so long a drive has cooled by most of what it will.
const HELD_FOR_S: f64 = 300.0;
/// A speed that fell little by little: no drop of 1,953 of the tuned halves that are not heat did, and one of twelve that are.
/// Simulated ones, which begin at once; real ones are trusted less.
const FELL_SLOWLY: f64 = 2.0;
/// A cache that is emptied while it fills is full within so long of the first block that had no room; the next ones have none either.
const FILLS_WITHIN_S: f64 = 300.0;
/// What goes on falling while the drive cools does not follow its temperature. Regulators overshoot by three kelvins or so.
const SANK_THOUGH_COOLED_K: f64 = 3.5;
const SANK_THOUGH_COOLED: f64 = 2.0;
/// What sinks from its first second on, while the drive is cooler than where it counts as a drop, follows something else.
const SANK_ALREADY: f64 = 3.0;
/// A drive that lost so much of its speed, from and in full from, and got hotter still by so much is not held by heat.
const HEATED_ON_LOST: [f64; 2] = [0.5, 0.75];
const HEATED_ON_K: [f64; 2] = [3.5, 7.0];
const HEATED_ON: f64 = 3.0;
/// From here on it is late in a drop, and from here on nearly over.
pub(super) const LATE: f64 = 0.65;
const NEARLY_OVER: f64 = 0.85;
const STILL_SINKS: f64 = 0.97;
/// A speed that sinks to this share of what it was while the drive cools, by no more than that at once, is what was asked for.
const SANK_FAR: f64 = 0.85;
const AT_A_TIME: f64 = 0.2;
/// ... and by more than a step of a sensor of some kelvins.
const OVER_A_STEP: f64 = 1.2;
/// So many kelvins hotter at other work is far hotter.
const FAR_HOTTER_K: [f64; 3] = [12.0, 8.0, 4.0];
const FAR_HOTTER: f64 = 3.0;
/// The fast time constant of an M.2 drive.
const FAST_TAU_S: f64 = 40.0;

/// A speed that fell little by little.
#[derive(Clone, Copy)]
struct SlowFall {
    over_s: f64,
    /// By how much the drive was cooler when it was nearly over than at its hottest.
    cooled_k: f64,
}

/// Weighs the course of the temperature around a drop that began at `onset_k`.
pub(super) fn weigh(case: &Case, onset_k: f64, evidence: &mut Evidence) -> RanHotter {
    let ran_hotter = hotter_before(case, onset_k, evidence);
    meanwhile(case, onset_k, evidence);
    let_cool::weigh(case, evidence);
    if let Some(stood) = stood::stood(case, onset_k) {
        let seen = Observation::Stood { temp_k: stood.temp_k, span_s: case.span_s() };
        evidence.weigh_heat(seen, stood.weight, &[]);
    }
    let slowly = case
        .drop
        .fell_over_s(case.pieces)
        .map(|over_s| SlowFall { over_s, cooled_k: cooled_since_hottest(case) });
    if let Some(already) = slowly.and_then(|_| sank_already(case, onset_k)) {
        let seen = Observation::SankAlready { share: already.lost, from_k: already.from_k };
        evidence.weigh_heat(seen, -SANK_ALREADY, &[]);
    } else {
        held(case, onset_k, slowly, evidence);
        fell_slowly(case, slowly, evidence);
    }
    ran_hotter
}

/// Whether speed was sinking before the drive was as hot.
fn sank_already(case: &Case, onset_k: f64) -> Option<already::Already> {
    let late = case.mean_speed(case.part(NEARLY_OVER, 1.0))?;
    already::sank(case, onset_k, (case.drop.before?, late))
}

/// Whether speed fell little by little: regulators and stairs of many steps do, and so do caches that fill while they empty.
/// Work of a host or of the drive itself begins at once.
fn fell_slowly(case: &Case, slowly: Option<SlowFall>, evidence: &mut Evidence) {
    if let Some(cooled_k) = sank_with_load(case) {
        return evidence.weigh_heat(Observation::SankThoughCooled { cooled_k }, -SANK_THOUGH_COOLED, &[]);
    }
    let Some(SlowFall { over_s, cooled_k }) = slowly else { return };
    let half = FELL_SLOWLY / 2.0;
    if cooled_k >= SANK_THOUGH_COOLED_K && went_on_sinking(case) {
        let cache = if over_s < FILLS_WITHIN_S { 0.0 } else { -half };
        let seen = Observation::SankThoughCooled { cooled_k };
        evidence.weigh_heat(seen, -SANK_THOUGH_COOLED, &[(Slc, cache)]);
    } else if cooled_k < 2.0 * SANK_THOUGH_COOLED_K || !sank_while_cooling(case) {
        let reads = case.op == SegmentOp::Read;
        let (weight, cache) = match over_s {
            _ if reads => (FELL_SLOWLY, 0.0),
            ..FILLS_WITHIN_S => (half, half),
            _ => (half, -half),
        };
        // What makes a load uneven takes its time as well.
        let told = 1.0 - noise::by_chance(case).map_or(0.0, |(_, chance)| chance);
        evidence.weigh_heat(Observation::FellSlowly { over_s }, told * weight, &[(Slc, told * cache)]);
    }
}

/// By how much the drive cooled, in kelvins, where speed sank on from there to its coolest, as far as that lies below what a regulator
/// overshoots: less was asked for, and the temperature followed.
fn sank_with_load(case: &Case) -> Option<f64> {
    if case.span_s() < HELD_FOR_S || case.drop.at_start {
        return None;
    }
    let readings = case.heat.within(case.start_s(), case.end_s());
    let by_heat = |a: &&Point<f64>, b: &&Point<f64>| a.value.total_cmp(&b.value);
    let hottest = readings.iter().max_by(by_heat)?;
    let coolest = readings.iter().filter(|p| p.t > hottest.t).min_by(by_heat)?;
    let cooled_k = hottest.value - coolest.value;
    let began_to_cool = |p: &&Point<f64>| p.t > hottest.t && p.value <= hottest.value - SANK_THOUGH_COOLED_K;
    let from_s = readings.iter().find(began_to_cool)?.t.as_secs_f64();
    let window_s = (1.0 - NEARLY_OVER) * case.span_s();
    let to_s = (coolest.t.as_secs_f64() + window_s / 2.0).min(case.end_s());
    let at = case.mean_speed((from_s, from_s + window_s))?;
    let late = case.mean_speed((to_s - window_s, to_s))?;
    let apart = to_s - window_s >= from_s + window_s;
    let sank = cooled_k >= 2.0 * SANK_THOUGH_COOLED_K && apart && late <= SANK_FAR * at;
    (sank && case.sinks_by_no_more_than(AT_A_TIME, from_s, to_s)).then_some(cooled_k)
}

/// Whether speed had not come to rest by the end of the drop.
fn went_on_sinking(case: &Case) -> bool {
    let mean = |from: f64, to: f64| case.mean_speed(case.part(from, to));
    mean(0.55, 0.7).zip(mean(NEARLY_OVER, 1.0)).is_some_and(|(before, late)| late <= STILL_SINKS * before)
}

/// Whether speed sank from where the drive had cooled by more than what a regulator overshoots to where it ended, cooler still: that it
/// sank little by little says nothing then.
fn sank_while_cooling(case: &Case) -> bool {
    let readings = case.heat.within(case.start_s(), case.end_s());
    let Some(hottest) = readings.iter().max_by(|a, b| a.value.total_cmp(&b.value)) else { return false };
    let mut later = readings.iter().filter(|p| p.t > hottest.t);
    let Some(cooled) = later.find(|p| p.value <= hottest.value - SANK_THOUGH_COOLED_K) else { return false };
    let from_s = cooled.t.as_secs_f64();
    let at = case.mean_speed((from_s, from_s + (1.0 - NEARLY_OVER) * case.span_s()));
    at.zip(case.mean_speed(case.part(NEARLY_OVER, 1.0))).is_some_and(|(at, late)| late <= STILL_SINKS * at)
}

/// By how much the drive was cooler late in the drop than at its hottest in it, in kelvins.
fn cooled_since_hottest(case: &Case) -> f64 {
    let hottest_k = case.heat.within(case.start_s(), case.end_s()).iter().map(|p| p.value).reduce(f64::max);
    let late_k = case.median_k(case.part(NEARLY_OVER, 1.0));
    hottest_k.zip(late_k).map_or(0.0, |(hottest_k, late_k)| hottest_k - late_k)
}

/// Whether the drive had been hotter at full speed - of a drop inside another one, at the speed of that -: then this temperature
/// is no threshold. For TMT1 and TMT2 only while they were set as they were then.
fn hotter_before(case: &Case, onset_k: f64, evidence: &mut Evidence) -> RanHotter {
    // Detection lag and rounding leave a second or two of full speed above any threshold.
    let lag_s = case.heat.lag_s();
    // Of drops that began at one temperature it is seen once: a threshold that was moved speaks against none of them.
    let began_there =
        case.history.onsets((case.op, case.drop.inside.is_some()), None, onset_k, ONE_THRESHOLD_K);
    let shared = seen_once(began_there);
    let weight = |(all_s, drops, longest_s): (f64, usize, f64)| {
        // What is late or rounded each time is so for a share of all; hotter for long, once, is enough.
        let once_s = if longest_s >= case.heat.long_past_s() { longest_s } else { 0.0 };
        let hotter_s = (all_s / drops.max(1) as f64).max(once_s);
        if hotter_s < lag_s { 0.0 } else { -(3.0 + (hotter_s / lag_s).log10() * 2.0).min(6.0) }
    };
    let least = case.shows_from();
    let above = |of, set| {
        // A step of a coarse sensor may be next to nothing.
        let hotter_k = onset_k + ONE_THRESHOLD_K.max(OVER_A_STEP * case.heat.step_k);
        let (all_s, drops) = case.history.above(of, set, hotter_k, least);
        (all_s, drops, case.history.longest_above_s(of, set, hotter_k, least))
    };
    let set = Some(case.history.setting(case.trace, case.start_s()));
    let depths = if case.drop.inside.is_some() { &[false, true][..] } else { &[false] };
    let (mut full_speed_s, mut own, mut host) = (0.0, 0.0, 0.0);
    for of in depths.iter().map(|inside| (case.op, *inside)) {
        let all = above(of, None);
        full_speed_s += all.0;
        own = weight(all).min(own);
        host = weight(above(of, set)).min(host);
    }
    let (other_s, weight) = hotter_at_other_work(case, onset_k);
    full_speed_s = if weight < own { other_s } else { full_speed_s };
    (own, host) = (own.min(weight), host.min(weight));
    // A regulator goes further at any temperature above its threshold, also on the way back to it.
    if case.drop.inside.is_some() && case.is_above_tmt1(onset_k) {
        host = 0.0;
    }
    // Whether settings that nobody recorded moved is asked of all drops together.
    let (host, if_moved) = if case.history.eras.moves() > 0 { (own, host) } else { (host, own) };
    if own < 0.0 || host < 0.0 {
        let weights = [(Tmt1, host * shared), (Tmt2, host * shared), (Vendor, own * shared)];
        evidence.weigh(Observation::RanHotter { full_speed_s }, &weights);
    }
    RanHotter { weight: own, if_moved, shared }
}

/// For how many seconds the drive was far hotter while it did more of another operation than of this one before the drop, in one go, and what
/// that weighs: a threshold heeds no operation.
fn hotter_at_other_work(case: &Case, onset_k: f64) -> (f64, f64) {
    let Some(before) = case.drop.before else { return (0.0, 0.0) };
    let others =
        [SegmentOp::Read, SegmentOp::Write, SegmentOp::Mixed].into_iter().filter(|op| *op != case.op);
    let for_s = |by_k: f64| {
        let longest_s = |op| case.history.longest_above_s((op, false), None, onset_k + by_k, before);
        others.clone().map(longest_s).fold(0.0, f64::max)
    };
    let found =
        FAR_HOTTER_K.into_iter().map(|by_k| (for_s(by_k), by_k)).find(|(s, _)| *s >= case.heat.long_past_s());
    found.map_or((0.0, 0.0), |(s, by_k)| (s, -FAR_HOTTER * by_k / FAR_HOTTER_K[0]))
}

/// How far the drive would have cooled by what it lost in speed, if nothing else had happened: all that it
/// was hotter than at its coolest is taken to come from its load.
fn would_cool_k(case: &Case, onset_k: f64) -> f64 {
    let loss = 1.0 - case.strength().unwrap_or(0.0);
    loss * (onset_k - case.history.coolest_k).max(0.0) * (1.0 - (-case.span_s() / FAST_TAU_S).exp())
}

/// Whether the temperature stood for minutes where the speed that was lost would have cooled the drive: something held it there.
pub(super) fn was_held(case: &Case, onset_k: f64) -> bool {
    let readings = case.heat.within(case.start_s(), case.end_s()).iter().map(|reading| reading.value);
    let (low_k, high_k) = readings.fold((f64::INFINITY, 0.0f64), |(low, high), k| (low.min(k), high.max(k)));
    let (stood_k, hides_k) = (2.0 * ROUNDING_K.max(case.heat.step_k), 2.0 * case.heat.hides_k());
    let cools = case.span_s() >= HELD_FOR_S
        && high_k - low_k <= stood_k
        && would_cool_k(case, onset_k) >= HELD_SHOWS_K + hides_k.max(high_k - low_k);
    cools || stood::held(case, onset_k)
}

/// Whether the temperature was held while speed went on giving way: what is no heat does not follow a temperature.
fn held(case: &Case, onset_k: f64, slowly: Option<SlowFall>, evidence: &mut Evidence) {
    let Some(before) = case.drop.before else { return };
    if case.span_s() < SETTLING_S {
        return;
    }
    // The very beginning and end hold a little of the neighbours' speed.
    let at =
        |from: f64, to: f64| case.mean_speed(case.part(from, to)).zip(case.median_k(case.part(from, to)));
    let Some((late, late_k)) = at(LATE, 0.95) else { return };
    // What gives way little by little has done so from its first second on.
    let whole = slowly.filter(|fall| fall.cooled_k < SANK_THOUGH_COOLED_K).map(|_| (before, onset_k));
    let early = at(0.05, 0.35);
    let falls = [early, whole].into_iter().flatten().map(|early| (early, (late, late_k)));
    // What follows the air gives way and comes back.
    let bow = at(0.35, 0.65);
    let bow = early.zip(bow).filter(|(early, middle)| early.0 > middle.0 && late > middle.0);
    let held = falls
        .chain(bow)
        .filter(|((_, from_k), (_, to_k))| (to_k - from_k).abs() <= ROUNDING_K.max(case.heat.step_k));
    let Some(share) = held.map(|((from, _), (to, _))| (from - to) / before).reduce(f64::max) else { return };
    let would_cool_k = share * (onset_k - case.history.coolest_k).max(0.0);
    let weight = HELD * ((would_cool_k - HELD_SHOWS_K) / HELD_SHOWS_K).clamp(0.0, 1.0);
    if weight > 0.0 {
        evidence.weigh_heat(Observation::Held { temp_k: late_k, share }, weight, &[(Slc, -weight / 2.0)]);
    }
}

/// What the temperature did while the drive was slow.
fn meanwhile(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let end_s = case.own_end_s();
    let span_s = end_s - case.start_s();
    if span_s < TELLING_S.max(3.0 * case.heat.period_s) {
        return;
    }
    let late: Vec<f64> = case.heat.within(end_s - span_s / 2.0, end_s).iter().map(|p| p.value).collect();
    if late.is_empty() {
        return;
    }
    let late_k = crate::segment::median(&late);
    let (temp_k, moved_k) = (onset_k, late_k - onset_k);
    // Where a fixed lower speed takes a drive is up to some kelvins above the threshold.
    if (-2.5..=3.5).contains(&moved_k) {
        if case.has_cycles() {
            // What comes and goes within it holds the temperature.
            return;
        }
        // Within a time constant (40 s is a usual fast one) no temperature gets far, nor does it for a small loss.
        let weight = if span_s >= 60.0 { 1.2 } else { 0.6 };
        let weight = weight * ((would_cool_k(case, onset_k) - ROUNDING_K) / COOLING_SHOWS_K).clamp(0.0, 1.0);
        evidence.weigh_heat(Observation::StayedAsHot { temp_k, late_k }, weight, &[(Slc, weight / 2.0)]);
    } else if moved_k <= -4.0 && !case.drop.recovered && !case.drop.stops(case.pieces) {
        // Others that began there had to get cooler still: the end of the load came first.
        let released_k = case.history.release_k(case.drop.inside.is_some(), onset_k);
        if released_k.is_some_and(|k| late.iter().all(|late_k| *late_k >= k)) {
            return;
        }
        // One hysteresis holds for all that begin at one temperature.
        let began_there =
            case.history.onsets((case.op, case.drop.inside.is_some()), None, onset_k, ONE_THRESHOLD_K);
        let weight = release::holds_on(-moved_k).ln() * seen_once(began_there);
        let (further, above_tmt1) = (case.drop.inside.is_some(), case.is_above_tmt1(late_k + ROUNDING_K));
        if further && above_tmt1 {
            // A regulator went further, and has the drive back at its threshold.
            return;
        }
        // TMT2 holds until below TMT1, which shows on the way up.
        let tmt2 = if further || above_tmt1 { weight.max(-1.0) } else { weight };
        let weights = [(Vendor, weight), (Tmt1, weight), (Tmt2, tmt2), (Slc, 1.0)];
        evidence.weigh(Observation::SlowThoughCooled { temp_k, late_k }, &weights);
    } else if moved_k > HEATED_ON_K[0] && !case.shape.sank() {
        let lost = part_way(1.0 - case.strength().unwrap_or(1.0), HEATED_ON_LOST);
        let weight = -HEATED_ON * lost * part_way(moved_k, HEATED_ON_K);
        if weight < 0.0 {
            evidence.weigh_heat(Observation::HeatedOn { temp_k, late_k }, weight, &[]);
        }
    }
}
