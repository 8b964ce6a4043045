//! A host's schedule: a load that begins, goes from one speed to the next and ends at equal intervals.
//!
//! A threshold is reached when it is reached, and a load ends when its host ends it. Where both keep one beat the host made both: a job
//! with a ladder of rates, in a log that does not name them. Nor does a threshold end the first burst of a load, from a cool drive, as soon
//! as later ones from a warm one: a job with bursts of one length does.

use std::iter::once;

use super::Judged;
use super::evidence::Suspect;
use super::heat::Heat;
use super::recurring;
use crate::observation::Observation;
use crate::segment::{Piece, Stretch, median};
use measure::Point;

/// Speeds that one beat parts: fewer may be alike by chance.
const LEAST: usize = 4;
/// Intervals are one beat within this share of it, or a row and a half: a step lies anywhere in a row.
const ONE_BEAT: f64 = 0.02;
const ROWS: f64 = 1.5;
/// What is no slower than this share of a speed is that speed.
const ONE_SPEED: f64 = 0.9;
/// In longer rows than this share of a beat anything keeps it.
const COARSEST: f64 = 0.1;

/// So many later bursts show how long they are, ...
const LEAST_BURSTS: usize = 3;
/// ... if nearly all of them are that long within this share of it, or a row.
const ONE_LENGTH: f64 = 0.04;
const NEARLY_ALL: f64 = 0.8;
/// Amounts of one job differ by so much at least: speeds are a mean.
const ONE_AMOUNT: f64 = 0.02;
/// A drive that begins so much cooler takes longer to a threshold; whole kelvins hide half of it. By so many times what bursts differ by.
const COOLER_K: f64 = 1.5;
const LONGER: f64 = 1.5;
/// So many ways up show how soon a drive comes to a temperature, and so many temperatures how late it was.
const MOST_WAYS: usize = 9;
const LEAST_LEVELS: usize = 3;
/// What cools from a threshold is released on its way: it spends half of the time within the last of four kelvins only where it comes to
/// rest a tenth of a kelvin below.
const COOLED_K: f64 = 4.0;
const AT_REST: f64 = 0.5;
const LEAST_ROWS: f64 = 4.0;
/// That a threshold makes such bursts all the same is as unlikely as a beat kept by chance, and more so the longer the way: log odds.
const AS_SOON: f64 = 2.3;
const MAY_COME_AS_SOON: f64 = 0.4;
const AT_MOST: f64 = 4.6;

/// Weighs that the speeds of a load change at one beat with its beginning and its end, or that its bursts are of one length.
pub(super) fn weigh(judged: &mut [Judged], stretches: &[Stretch], pieces: &[Piece], heat: &Heat) {
    let of = |judged: &Judged| pieces[judged.drop.first].stretch;
    for drops in judged.chunk_by_mut(|one, next| of(one) == of(next)) {
        let index = of(&drops[0]);
        let of_it = pieces_of(index, pieces);
        let schedule = schedule(&stretches[index], of_it, heat.slice_s)
            .or_else(|| bursts(drops, &stretches[index], pieces, heat));
        let Some((seen, weight)) = schedule else { continue };
        drops.iter_mut().for_each(|drop| drop.evidence.weigh(seen.clone(), &[(Suspect::Other, weight)]));
    }
}

/// Bursts of one length, the first one too, of a drive that was cooler then or had come to rest before the others; and what that weighs for
/// anything but heat.
fn bursts(drops: &[Judged], stretch: &Stretch, pieces: &[Piece], heat: &Heat) -> Option<(Observation, f64)> {
    let of_it = pieces_of(pieces[drops.first()?.drop.first].stretch, pieces);
    let outer: Vec<&Judged> = drops.iter().filter(|drop| drop.drop.inside.is_none()).collect();
    let first = outer.first().filter(|first| !first.drop.at_start)?;
    // Between stops, what was moved says how long a burst was to a fraction of a row.
    let stops = outer.iter().all(|drop| drop.drop.stops(pieces));
    let full = first.drop.before?;
    let length_s = |from: (f64, f64), to: &Judged| match stops {
        true => moved(stretch, from.0, to.start_s.midpoint(to.end_s)) / full,
        false => to.start_s - from.1,
    };
    let ends = |drop: &Judged| (drop.start_s.midpoint(drop.end_s), drop.end_s);
    let lengths_s: Vec<f64> = outer.windows(2).map(|pair| length_s(ends(pair[0]), pair[1])).collect();
    let usual_s = median(&lengths_s);
    let mut off_s: Vec<f64> = lengths_s.iter().map(|length_s| (length_s - usual_s).abs()).collect();
    off_s.sort_unstable_by(f64::total_cmp);
    let least_s = if stops { ONE_AMOUNT * usual_s } else { heat.slice_s };
    let most_off_s = off_s.get((NEARLY_ALL * off_s.len() as f64) as usize)?.max(least_s);
    // A load may begin with a row of something slower.
    let fast = full * ONE_SPEED;
    let begin_s = of_it.iter().find(|piece| piece.level >= fast)?.start_s;
    let first_s = length_s((stretch.start_s(), begin_s), first);
    let one_length =
        most_off_s <= (ONE_LENGTH * usual_s).max(least_s) && (first_s - usual_s).abs() <= most_off_s + 1e-6;
    if lengths_s.len() < LEAST_BURSTS || !one_length {
        return None;
    }
    let later_k: Vec<f64> = outer.iter().filter_map(|drop| heat.nearest_k(drop.end_s)).collect();
    let later_k = median(&later_k);
    let cooler_k = later_k - heat.nearest_k(begin_s)?;
    // Until then it was cooler than a later burst ever is: so much later a threshold would end it.
    let warm_s =
        reached_s(heat.within(begin_s - heat.period_s, first.start_s), later_k).unwrap_or(begin_s) - begin_s;
    // So much later it was on its way up, too.
    let ways =
        once((begin_s, first.start_s)).chain(outer.windows(2).map(|pair| (pair[0].end_s, pair[1].start_s)));
    let late_s = first.onset_k.and_then(|onset_k| late_s(heat, ways, (later_k, onset_k)));
    let longer = late_s.map_or(warm_s, |late_s| late_s.max(warm_s))
        / if stops { most_off_s } else { most_off_s.max(heat.period_s) };
    if cooler_k >= COOLER_K.max(heat.step_k) && longer >= LONGER {
        let seen = Observation::AsSoonFromCool { first_s, usual_s, cooler_k };
        let weight = (AS_SOON + longer.ln()).min(AT_MOST);
        // A drive that was left some speed is heated by less more afterwards than one that was at rest: it climbs as much slower, and may
        // come as soon from where it was cooler.
        let left = median(&outer.iter().map(|drop| drop.drop.level / full).collect::<Vec<_>>());
        let climbs_k = first.onset_k.map_or(0.0, |onset_k| (onset_k - later_k).max(0.0));
        let due_k = climbs_k * left / (1.0 - left).max(f64::EPSILON);
        let beyond = if cooler_k - due_k >= COOLER_K { 1.0 } else { MAY_COME_AS_SOON };
        return Some((seen, beyond * weight));
    }
    let rests: Vec<(f64, f64)> = outer.iter().filter_map(|drop| at_rest(drop, heat)).collect();
    let rest_s = median(&rests.iter().map(|(rest_s, _)| *rest_s).collect::<Vec<_>>());
    let slow_s = median(&rests.iter().map(|(_, slow_s)| *slow_s).collect::<Vec<_>>());
    let seen = Observation::BurstsAfterRest { length_s: usual_s, rest_s };
    (rests.len() >= LEAST_BURSTS && rest_s >= AT_REST * slow_s).then_some((seen, AS_SOON))
}

/// How much later the first of these `ways` up came to the temperatures of the upper half than the others mostly did, in seconds.
fn late_s(heat: &Heat, ways: impl Iterator<Item = (f64, f64)>, (low_k, high_k): (f64, f64)) -> Option<f64> {
    let ways: Vec<(f64, f64)> = ways.take(MOST_WAYS).collect();
    let levels = (1..).map(|below| high_k - f64::from(below) * heat.step_k.max(1.0));
    let levels: Vec<f64> = levels.take_while(|kelvin| *kelvin >= low_k.midpoint(high_k)).collect();
    let came_s = |kelvin: f64| -> Option<Vec<f64>> {
        let readings = |(from_s, to_s): &(f64, f64)| heat.within(from_s - heat.period_s, *to_s);
        ways.iter().map(|way| Some(reached_s(readings(way), kelvin)? - way.0)).collect()
    };
    let late = |kelvin: &f64| came_s(*kelvin).map(|came_s| came_s[0] - median(&came_s[1..]));
    let late: Vec<f64> = levels.iter().filter_map(late).collect();
    (late.len() >= LEAST_LEVELS).then(|| median(&late))
}

/// When the temperature came to `kelvin`, in seconds, as a straight line between two readings has it.
fn reached_s(readings: &[Point<f64>], kelvin: f64) -> Option<f64> {
    let pair = readings.windows(2).find(|pair| pair[0].value < kelvin && pair[1].value >= kelvin)?;
    let (from_s, to_s) = (pair[0].t.as_secs_f64(), pair[1].t.as_secs_f64());
    Some(from_s + (to_s - from_s) * (kelvin - pair[0].value) / (pair[1].value - pair[0].value))
}

/// Bytes that a load moved from one moment to another.
fn moved(stretch: &Stretch, from_s: f64, to_s: f64) -> f64 {
    let at = |t_s: f64| stretch.samples.partition_point(|sample| sample.start_s < t_s);
    let samples = &stretch.samples[at(from_s)..at(to_s)];
    crate::work::count(samples.len());
    samples.iter().map(|sample| sample.bytes).sum()
}

/// For how long a drop went on at the temperature at which it ended, and how long it lasted, in seconds; `None` where it hardly cooled.
fn at_rest(drop: &Judged, heat: &Heat) -> Option<(f64, f64)> {
    let release_k = drop.release_k.filter(|_| drop.drop.recovered && heat.step_k <= 1.0)?;
    let way = heat.within(drop.start_s, drop.end_s);
    // Of a row or two nobody knows where it came to rest.
    if drop.end_s - drop.start_s < LEAST_ROWS * heat.slice_s.max(heat.period_s) {
        return None;
    }
    let there = way.iter().find(|p| p.value <= release_k)?.t.as_secs_f64();
    (drop.onset_k? - release_k >= COOLED_K).then_some((drop.end_s - there, drop.end_s - drop.start_s))
}

/// The pieces of a stretch.
fn pieces_of(stretch: usize, pieces: &[Piece]) -> &[Piece] {
    let from = pieces.partition_point(|piece| piece.stretch < stretch);
    let to = pieces.partition_point(|piece| piece.stretch <= stretch);
    &pieces[from..to]
}

/// The schedule of a load, if it has one, and what that weighs for anything but heat.
fn schedule(stretch: &Stretch, pieces: &[Piece], slice_s: f64) -> Option<(Observation, f64)> {
    // The row of a step is a piece of its own where it holds some of both speeds.
    let steps_s = pieces.iter().skip(1).filter(|piece| piece.slices > 1).map(|piece| piece.start_s);
    let beats_s: Vec<f64> = once(stretch.start_s()).chain(steps_s).chain(once(stretch.end_s())).collect();
    let gaps_s: Vec<f64> = beats_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if gaps_s.len() < LEAST {
        return None;
    }
    let period_s = median(&gaps_s);
    let one = |gap_s: &f64| (gap_s - period_s).abs() <= (ONE_BEAT * period_s).max(ROWS * slice_s);
    let keeps_it = slice_s <= COARSEST * period_s && gaps_s.iter().all(one);
    let seen = Observation::Scheduled { speeds: gaps_s.len(), period_s };
    keeps_it.then(|| (seen, recurring::keeps_time(&beats_s, period_s, slice_s)))
}
