//! Whether speed followed the temperature, as a regulator's does, or fell to a fixed lower speed.

use super::{GAVE_WAY_LATER, HELD_K, HELD_S, ONE_LEVEL, alone_until_s, gave_way, is_edge, variations};
use crate::cause::Judged;
use crate::cause::heat::Heat;
use crate::segment::{LEVEL_S, Piece, Stretch, median, median_and_deviation};

/// A regulator that comes to rest sinks by less and less: this much is no rounding of I/Os, and no chance beyond three
/// standard errors.
const SANK: f64 = 0.01;
const BY_CHANCE: f64 = 3.0;
/// Speed that follows a temperature in whole kelvins hunts around its level: it varies twice as much as at full speed.
/// And by five percent, as 20 I/Os of 1 MiB in an interval of 100 ms (200 MB/s), whole ones, vary by two by themselves.
const HUNTS: f64 = 2.0;
const HUNTING_VARIATION: f64 = 0.05;
/// A regulator takes longer to get to its lowest speed than the rows in which a step lies, ...
const ROWS: f64 = 3.5;
/// ... or than this in short ones.
const AT_ONCE_S: f64 = 10.0;
/// ... or than this share of a drop: some firmware goes down to its lower speed by and by.
const SOON: f64 = 0.15;
/// A speed has stood where it changed by no more than this share, or by next to nothing while the drive warmed up by less.
const STOOD: f64 = 0.02;
const STOOD_STILL: f64 = 0.003;
const WARMED_K: f64 = 1.5;

/// Of each drop, whether speed followed the temperature: it gave way bit by bit or went on giving way, stood at several
/// levels, or hunts. What falls at once and stays the same is a fixed lower speed.
pub(super) fn followed(
    heat: &Heat,
    stretches: &[Stretch],
    pieces: &[Piece],
    all: &[Judged],
    drops: &[&Judged],
) -> Vec<bool> {
    let (while_slow, otherwise) = variations(pieces, drops);
    let hunts = while_slow >= HUNTING_VARIATION && while_slow >= HUNTS * otherwise;
    let follows = |judged: &&Judged| {
        let gradual = pieces[judged.drop.first].gradual;
        !stood_while_it_heated(heat, stretches, pieces, judged)
            && (gradual
                || hunts
                || several(pieces, judged)
                || gave_way(pieces, all, judged)
                || sank(stretches, pieces, all, judged))
    };
    drops.iter().map(follows).collect()
}

/// Whether speed stood at several levels. The rows in which it fell and came back hold some of what is beside them, and a dip from a level back to
/// it is none of its own.
fn several(pieces: &[Piece], judged: &Judged) -> bool {
    let own = judged.drop.own.iter().filter(|own| !is_edge(pieces, judged, **own)).map(|own| &pieces[*own]);
    let lasting: Vec<&Piece> = own.filter(|piece| piece.span_s() >= LEVEL_S).collect();
    let is_dip = |at: usize| {
        let (Some(before), Some(after)) =
            (at.checked_sub(1).and_then(|at| lasting.get(at)), lasting.get(at + 1))
        else {
            return false;
        };
        let (low, high) = (before.level.min(after.level), before.level.max(after.level));
        lasting[at].level < ONE_LEVEL * low && low >= ONE_LEVEL * high
    };
    let levels = (0..lasting.len()).filter(|at| !is_dip(*at)).map(|at| lasting[at].level);
    let (low, high) =
        levels.fold((f64::INFINITY, 0.0f64), |(low, high), level| (low.min(level), high.max(level)));
    low < ONE_LEVEL * high
}

/// Whether speed sank in the course of a drop, though by too little for a level of its own: its last third is slower
/// than its first by a percent, by a quarter of what was lost, and by more than chance.
fn sank(stretches: &[Stretch], pieces: &[Piece], all: &[Judged], judged: &Judged) -> bool {
    let (Some(before), span_s) = (judged.drop.before, alone_until_s(pieces, all, judged) - judged.start_s)
    else {
        return false;
    };
    if span_s < HELD_S {
        return false;
    }
    let stretch = &stretches[pieces[judged.drop.first].stretch];
    // Median, and its standard error: 1.2533 is what a median is worse by than a mean.
    let between = |from: f64, to: f64| {
        let at_s = |share: f64| judged.start_s + share * span_s;
        let speeds = stretch.speeds(at_s(from), at_s(to));
        let (middle, deviation) = median_and_deviation(&speeds);
        (middle, 1.2533 * deviation / (speeds.len() as f64).sqrt())
    };
    // The very beginning and end hold a little of the neighbours' speed.
    let ((early, early_error), (late, late_error)) = (between(0.05, 0.35), between(0.65, 0.95));
    let by = early - late;
    by >= SANK * early
        && by >= GAVE_WAY_LATER * (before - late)
        && by >= BY_CHANCE * early_error.hypot(late_error)
}

/// Whether speed fell at once to a level that stood while the drive got hotter by more than what is held.
fn stood_while_it_heated(heat: &Heat, stretches: &[Stretch], pieces: &[Piece], judged: &Judged) -> bool {
    let own = judged.drop.own.iter().map(|own| &pieces[*own]);
    let Some(level) = own.max_by(|a, b| a.span_s().total_cmp(&b.span_s())) else { return false };
    let by_share = SOON * (judged.end_s - judged.start_s);
    let at_once = level.start_s - judged.start_s <= (ROWS * heat.slice_s).max(AT_ONCE_S).max(by_share);
    if !at_once || level.span_s() < HELD_S || !level.is_even() {
        return false;
    }
    let part = |from: f64, to: f64| {
        let at_s = |share: f64| level.start_s + share * level.span_s();
        let speeds = stretches[level.stretch].speeds(at_s(from), at_s(to));
        let kelvin: Vec<f64> = heat.within(at_s(from), at_s(to)).iter().map(|point| point.value).collect();
        (!speeds.is_empty() && !kelvin.is_empty()).then(|| (median(&speeds), median(&kelvin)))
    };
    part(0.0, 0.1).zip(part(0.67, 1.0)).is_some_and(|((early, early_k), (late, late_k))| {
        let (warmed_k, changed) = (late_k - early_k, (late / early - 1.0).abs());
        warmed_k >= HELD_K && changed <= STOOD || warmed_k >= WARMED_K && changed <= STOOD_STILL
    })
}
