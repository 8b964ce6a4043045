//! What speaks for a full write cache, and against it.

use super::amounts::{AmountBefore, LEAST_BYTES};
use super::case::Case;
use super::drops::SpeedDrop;
use super::evidence::Evidence;
use super::evidence::Suspect::Slc;
use super::history::SAME_SPEED;
use super::likelihood::part_way;
use super::mix;
use crate::COOL_K;
use crate::findings::SegmentOp;
use crate::observation::Observation;
use crate::segment::{Piece, Stretch};

/// Most drops of writing are not the end of a cache. What a full cache slows down is what is written: of a load that reads as well, the
/// rest waits for it or does not, so that the share that is written says how likely it is; down to one in a hundred.
const MOST_ARE_NOT: f64 = -0.5;
const LEAST_WRITTEN: f64 = 0.01;
/// Experiments keep to a range that the cache holds so that it never ends (rows S of the seed experiments).
const WITHIN_CACHE: f64 = -2.0;

/// Writing that fell after the same amount within two percent, at other temperatures: of amounts between a gigabyte and a terabyte, one
/// in 170 lies so near by chance. A full cache does so, and a job of one size.
const SAME_AMOUNT: f64 = 2.5;
const SAME_AMOUNT_CACHE: f64 = 0.5;
/// After other amounts than the others that began at its temperature: only a cache that had emptied in part does so.
const OTHER_AMOUNT: f64 = -1.5;
/// Another run wrote so many times as much at full speed: a cache that was filled in part before explains that.
const MUCH_MORE: f64 = 1.5;
const MORE_ELSEWHERE: f64 = -3.0;
/// A pseudo-SLC cache stores one bit in cells that hold two (MLC), three or four, so that it can be no larger than this share of the
/// drive. What is written over before it moves on may make a little more of it.
const MOST_CACHED: f64 = 0.5;
const BEYOND: f64 = -3.0;
/// Of a drive of unknown size: the third of an empty one of 2 TB, which most are no larger than, and of 16 TB, which no drive with a cache exceeds.
const LARGE_BYTES: [f64; 2] = [6.7e11, 5.4e12];
/// Sizes of caches are spread evenly over the logarithm, up to 150 times the smallest, which take a quarter of a minute to fill: of those that
/// are not full by then, one in five is within a factor of e.
const CACHE_ENDS: f64 = 0.2;
const SMALLEST_S: f64 = 15.0;
/// Writing that is slow for less than this up to the end of the load may be a dip.
const STAYED_S: f64 = 30.0;

/// Writing to cells of three bits and more is a few times slower: a full cache leaves less than the one share of the speed, and more than
/// the other only where a slow link hides what it could do.
const KEPT: [f64; 2] = [0.6, 0.8];
const KEPT_LITTLE: f64 = 1.8;
const KEPT_MOST: f64 = -1.0;

/// How many of the caches that are not full yet end in a second of writing, after `written_bytes` at this speed.
pub(super) fn ends_per_s(written_bytes: f64, bytes_per_s: f64) -> f64 {
    CACHE_ENDS / (SMALLEST_S + written_bytes / bytes_per_s.max(1.0))
}

/// Of each drop of writing, whether the one before stayed as slow until its load ended: if that was a full cache, a rest has emptied a part of
/// it since.
pub(super) fn refilled(drops: &[SpeedDrop], stretches: &[Stretch], pieces: &[Piece]) -> Vec<bool> {
    let mut left: Option<f64> = None;
    let of = |drop: &SpeedDrop| {
        if stretches[pieces[drop.first].stretch].op != SegmentOp::Write || drop.inside.is_some() {
            return false;
        }
        let same = left.is_some_and(|left| (drop.level / left - 1.0).abs() <= SAME_SPEED);
        left = (!drop.recovered).then_some(drop.level);
        same && !drop.at_start
    };
    drops.iter().map(of).collect()
}

/// Weighs the data written, and how speed came back.
pub(super) fn weigh(case: &Case, evidence: &mut Evidence) {
    if !matches!(case.op, SegmentOp::Write | SegmentOp::Mixed) {
        evidence.weigh(Observation::ReadingFillsNoCache, &[(Slc, -8.0)]);
        return;
    }
    let written_share = mix::written_share(case).unwrap_or(1.0);
    let prior = MOST_ARE_NOT + written_share.max(LEAST_WRITTEN).ln();
    evidence.weigh(Observation::MostAreNoFullCache { written_share }, &[(Slc, prior)]);
    amount(case, evidence);
    let mut weigh = |seen: Observation, weight: f64| evidence.weigh(seen, &[(Slc, weight)]);
    let written_bytes = case.written.bytes as u64;
    if let Some(stated_bytes) = case.trace.facts.slc_bytes.filter(|_| !case.drop.at_start) {
        let ratio = case.written.bytes / stated_bytes as f64;
        let within_cache = case.phase.within_cache;
        let weight = if within_cache {
            WITHIN_CACHE
        } else if (0.85..1.2).contains(&ratio) {
            4.0
        } else if ratio < 0.7 {
            -3.0
        } else {
            0.0
        };
        weigh(Observation::WrittenOfStated { written_bytes, stated_bytes, within_cache }, weight);
    } else if case.written.bytes < LEAST_BYTES && case.filled_from_empty() {
        weigh(Observation::LittleWritten { written_bytes }, -2.0);
    } else if case.filled_from_empty() && !case.drop.recovered {
        let capacity_bytes = case.trace.facts.capacity_bytes;
        let weight = match capacity_bytes {
            Some(bytes) if case.written.bytes > MOST_CACHED * bytes as f64 => BEYOND,
            Some(_) => 0.0,
            None => BEYOND * part_way(case.written.bytes.ln(), LARGE_BYTES.map(f64::ln)),
        };
        if weight < 0.0 {
            weigh(Observation::BeyondAnyCache { written_bytes, capacity_bytes }, weight);
        }
    }
    if let Some(elsewhere_bytes) = more_elsewhere(case) {
        weigh(Observation::WrittenElsewhere { written_bytes, elsewhere_bytes }, MORE_ELSEWHERE);
    }
    if let Some(at_once_bytes) = more_at_once(case) {
        weigh(Observation::WrittenAtOnce { written_bytes, at_once_bytes }, MORE_ELSEWHERE);
    }
    if case.drop.at_start && case.history.slow_after_cache(case.drop.level) {
        weigh(Observation::CacheFilledBefore, 4.0);
    }
    let Some(strength) = case.strength() else { return };
    if case.drop.recovered {
        // A cache empties while nothing is written.
        if !case.rested() {
            weigh(Observation::BackWhileWriting, -3.0);
        }
    } else if !case.drop.stops(case.pieces) && case.lasted_s >= STAYED_S {
        // The weakest that heat left of a speed, short of a stop, was 200 MB/s of 3 GB/s (SSD1 of the seed experiments);
        // a full cache left 78 MB/s of 2.6 GB/s (row D1).
        let weight = match strength {
            ..=0.05 => 3.0,
            ..=0.2 => 2.5,
            _ => KEPT_LITTLE + (KEPT_MOST - KEPT_LITTLE) * part_way(strength, KEPT),
        };
        weigh(Observation::WritingStayedSlow { share: strength, written_bytes }, weight);
    }
}

/// How the amount written before goes with those before other drops.
fn amount(case: &Case, evidence: &mut Evidence) {
    let written_bytes = case.written.filled_bytes() as u64;
    match case.amount_before {
        // Hardly a cache ends little by little.
        Some(AmountBefore::Same { .. }) if !case.fell_at_once() => {}
        Some(AmountBefore::Same { apart_k }) => {
            let seen = Observation::SameAmount { written_bytes, apart_k };
            evidence.weigh_heat(seen, -SAME_AMOUNT, &[(Slc, SAME_AMOUNT_CACHE)]);
        }
        Some(AmountBefore::Differs { drops }) => {
            // Where no drive has a threshold, it did.
            let cool = case.onset_k().is_some_and(|onset_k| onset_k < COOL_K);
            let weight = if case.refilled && cool { 0.0 } else { OTHER_AMOUNT };
            evidence.weigh(Observation::OtherAmount { written_bytes, drops }, &[(Slc, weight)]);
        }
        None => {}
    }
}

/// What this run wrote in one go another time as fast as it had been before this drop, without a rest, where that is much more.
fn more_at_once(case: &Case) -> Option<u64> {
    let before = case.drop.before.filter(|_| case.filled_from_empty())?;
    let as_fast = case.at_once.partition_point(|at_once| at_once.bytes_per_s < (1.0 - SAME_SPEED) * before);
    let most = case.at_once.get(as_fast)?.bytes;
    (most >= MUCH_MORE * case.written.bytes).then_some(most as u64)
}

/// What another run wrote in one go as fast as this one had been before, where that is much more than was written here.
fn more_elsewhere(case: &Case) -> Option<u64> {
    let most = case.others.most_bytes(case.op, &case.phase.what, case.drop.before?)?;
    (most >= MUCH_MORE * case.written.bytes).then_some(most as u64)
}
