//! Cycles and stops that rows hardly show: what the drops of a load say of how far speed fell, and how often.

use std::ops::RangeInclusive;

use super::{EDGES, is_host, mean};
use crate::cause::Judged;
use crate::cause::evidence::{Conclusion, Suspect};
use crate::cause::heat::Heat;
use crate::segment::{Piece, Stretch, quarters};
use trace::{HostThreshold, Interval};

/// So many beginnings counted within a drop are cycles, if the drive was throttled for such a part of it: a regulator begins once.
const COUNTED_CYCLES: u64 = 5;
const COUNTED_PART: RangeInclusive<f64> = 0.05..=0.9;
/// A drop of so few slices has none that lies in it as a whole; the lower quarter of such floors is several below this share of the upper.
const BLURRED_SLICES: usize = 2;
const SEVERAL_FLOORS: f64 = 0.75;
const LEAST_FLOORS: usize = 3;

/// Whether the drive counted that it began to throttle again and again within drops that the rows show as one, and was throttled for a part of
/// them: it goes on and off between two rows.
pub(super) fn counted_cycles(heat: &Heat, drops: &[&Judged]) -> bool {
    let outer = || drops.iter().filter(|judged| judged.drop.inside.is_none());
    let (mut began, mut seconds, mut span_s) = (0, 0, 0.0);
    for judged in outer().filter(|judged| is_host(judged)) {
        let threshold = match judged.verdict.conclusion {
            Conclusion::Heat(Suspect::Tmt2) => HostThreshold::Tmt2,
            _ => HostThreshold::Tmt1,
        };
        let (transitions, throttled_s) = heat.counted_at(threshold, judged.start_s, judged.end_s);
        began += transitions.unwrap_or(0);
        seconds += throttled_s.unwrap_or(0);
        span_s += judged.end_s - judged.start_s;
    }
    began >= COUNTED_CYCLES * outer().count().max(1) as u64
        && COUNTED_PART.contains(&(seconds as f64 / span_s.max(f64::EPSILON)))
}

/// Whether nothing moved for most of the time that was slow, drops within others left out.
pub(super) fn mostly_stopped(stretches: &[Stretch], pieces: &[Piece], drops: &[&Judged]) -> bool {
    let (mut slow_s, mut stopped_s, mut stops) = (0.0, 0.0, 0);
    let outer: Vec<&&Judged> = drops.iter().filter(|judged| judged.drop.inside.is_none()).collect();
    for judged in &outer {
        let span_s = judged.end_s - judged.start_s;
        slow_s += span_s;
        if judged.drop.stops(pieces) || stops_within(stretches, pieces, judged) {
            stopped_s += span_s;
            stops += 1;
        }
    }
    // A pause of a host's among many drops to a lower speed may outlast them all.
    2.0 * stopped_s > slow_s && 2 * stops >= outer.len()
}

/// Whether nothing moved from the first slice to the last one of a drop, but for those at its ends: no lower speed leaves a slice without any
/// data. Bursts move some in between.
fn stops_within(stretches: &[Stretch], pieces: &[Piece], judged: &Judged) -> bool {
    let within = slices(stretches, pieces, judged);
    let moves = |sample: &Interval| sample.bytes > 0.0;
    let inner = inner(within);
    if inner.is_empty() { within.iter().any(|sample| !moves(sample)) } else { !inner.iter().any(moves) }
}

/// The slices of a drop.
fn slices<'a>(stretches: &'a [Stretch], pieces: &[Piece], judged: &Judged) -> &'a [Interval] {
    let samples = &stretches[pieces[judged.drop.first].stretch].samples;
    let place = |t_s: f64| samples.partition_point(|sample| sample.start_s < t_s - 1e-6);
    &samples[place(judged.start_s)..place(judged.end_s)]
}

/// Those between the first and the last, which hold some of their neighbours' speed.
fn inner(slices: &[Interval]) -> &[Interval] {
    match slices {
        [_, inner @ .., _] => inner,
        _ => &[],
    }
}

/// Whether most drops are too short for a slice to show how far speed fell, and their slowest ones seem to have fallen to ever other speeds: a
/// relay, or a stop, for a part of each slice.
pub(super) fn floor_unseen(stretches: &[Stretch], pieces: &[Piece], drops: &[&Judged]) -> bool {
    let short = |j: &&&Judged| j.drop.recovered && own_slices(pieces, j) <= BLURRED_SLICES;
    let floors: Vec<f64> = drops.iter().filter(short).map(|j| floor(pieces, j)).collect();
    floors.len() * 2 > drops.len()
        && floors.len() >= LEAST_FLOORS
        && quarters(&floors).is_some_and(|(low, high)| low < SEVERAL_FLOORS * high)
        && !floor_within(stretches, pieces, drops)
}

fn own_slices(pieces: &[Piece], judged: &Judged) -> usize {
    judged.drop.own.iter().map(|own| pieces[*own].slices).sum()
}

/// What speed fell to, in bytes per second: in a drop of a few slices the slowest, which holds the least of full speed.
pub(super) fn floor(pieces: &[Piece], judged: &Judged) -> f64 {
    let slowest = judged.drop.own.iter().map(|own| pieces[*own].slowest);
    match own_slices(pieces, judged) <= EDGES {
        true => slowest.fold(f64::INFINITY, f64::min),
        false => judged.drop.level,
    }
}

/// Whether slow slices between two others, which lie in a drop as a whole, agree on a speed: a drive that stops moves nothing in them.
fn floor_within(stretches: &[Stretch], pieces: &[Piece], drops: &[&Judged]) -> bool {
    let slowest = |judged: &&Judged| {
        inner(slices(stretches, pieces, judged)).iter().map(Interval::bytes_per_s).reduce(f64::min)
    };
    let floors: Vec<f64> = drops.iter().filter_map(slowest).collect();
    floors.len() >= LEAST_FLOORS
        && quarters(&floors).is_some_and(|(low, high)| low > 0.0 && low >= SEVERAL_FLOORS * high)
}

/// Of the rows of a drop, the share in which nothing moved, as the mean of these drops: no lower speed leaves a row empty, nor do bursts
/// that are shorter. A host's pause is one of them, however long it is.
pub(super) fn still_share(stretches: &[Stretch], pieces: &[Piece], drops: &[&Judged]) -> f64 {
    let outer = drops.iter().filter(|judged| judged.drop.inside.is_none());
    let share = |judged: &&Judged| {
        let within = slices(stretches, pieces, judged);
        let still = within.iter().filter(|sample| sample.bytes <= 0.0).count();
        still as f64 / within.len().max(1) as f64
    };
    mean(outer.map(share))
}
