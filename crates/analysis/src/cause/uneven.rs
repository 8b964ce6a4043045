//! Loads that ask for anything from a little to a lot: of a desktop, of a server, of jobs that come and go.
//!
//! A throttle takes a load down from one speed, each time, and lets it go back to that. Where the speeds from which drops fall are
//! worlds apart, or a load rises and falls to ever other speeds that it then keeps, it is the host that asks for more and for less, and
//! each of its lulls looks like a drop.

use std::collections::BTreeMap;

use super::Judged;
use super::evidence::Suspect::Other;
use super::likelihood::{ONE_THRESHOLD_K, part_way};
use crate::observation::Observation;
use crate::segment::{Piece, Stretch, quarters};

/// So many drops, or rises, show whether they are of one speed.
const LEAST: usize = 5;
/// The upper quarter of the speeds that drops fall from over the lower one: mixed and wobbling loads stay below the first; from the second
/// on it weighs in full, odds of 55.
const FELL_FROM: (f64, f64) = (1.8, 4.0);
const MOST: f64 = 4.0;
/// Two speeds are one within this share. Of the speeds that a load rose to, kept, and fell from again, so many pairs are one where a drive has
/// no more than four (stairs, two levels, a cache beside them); from the second share down it weighs in full.
const ONE: f64 = 0.04;
const PAIRED: (f64, f64) = (0.28, 0.15);
/// Of speeds without a course neighbours are as far apart as any two; of ones on a course by a fraction of that.
const RELATED: [f64; 2] = [0.4, 0.7];
/// A speed that so many others left as well is one that comes again.
const COMES_AGAIN: usize = 1;
/// ... and one that a quarter of them are is the usual one.
const USUAL: usize = 4;
/// What a load rises to, and falls from, differs from what is beside it by a tenth, ...
const OTHER: f64 = 0.9;
/// ... is kept for so many slices, and varies by no more than this: else it may be the means of cycles.
const KEPT: usize = 3;
const EVEN: f64 = 0.05;

/// Weighs that the drops of an operation begin at speeds that have nothing in common.
pub(super) fn weigh(judged: &mut [Judged], stretches: &[Stretch], pieces: &[Piece]) {
    let mut by_op: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    let op = |piece: &Piece| stretches[piece.stretch].op as u8;
    for (index, judged) in judged.iter().enumerate() {
        by_op.entry(op(&pieces[judged.drop.first])).or_default().push(index);
    }
    let mut tops: BTreeMap<u8, Vec<f64>> = BTreeMap::new();
    for kept in kept_on(pieces) {
        let tops = tops.entry(op(kept[0])).or_default();
        tops.extend(kept.windows(3).filter(|three| is_top(three)).map(|three| three[1].level));
    }
    for (op, drops) in by_op {
        let outer = |judged: &Judged| judged.drop.inside.is_none() && !judged.drop.at_start;
        let fell = drops.iter().filter(|index| outer(&judged[**index]));
        let fell: Vec<f64> = fell.filter_map(|index| judged[*index].drop.before).collect();
        let from = Levels::new(&fell);
        let rose = tops.remove(&op).unwrap_or_default();
        let left = drops.iter().filter(|index| outer(&judged[**index]) && stood(&judged[**index], pieces));
        let left: Vec<f64> = left.map(|index| judged[*index].drop.level).collect();
        let levels = Levels::new(&left);
        let left = unlike(&left).and_then(|share| left_anything(share, left));
        let rose_anyhow = unlike(&rose).map(|share| share * unrelated(&rose));
        let seen = [(spread(&fell), fell), (rose_anyhow, rose)].map(|(share, speeds)| seen(share?, speeds));
        let Some((seen, weight)) =
            seen.into_iter().chain([left]).flatten().max_by(|a, b| a.1.total_cmp(&b.1))
        else {
            continue;
        };
        let capped = Capped::new(drops.iter().map(|index| &judged[*index]));
        // Where speeds have nothing in common, one that many drops left is not among them.
        let counts = |judged: &Judged| match seen {
            Observation::LeftAnything { .. } => {
                levels.among(judged.drop.level) && levels.others(judged.drop.level) <= COMES_AGAIN
            }
            // Who asks for less asks for it at once.
            _ => {
                !judged.shape.sank()
                    && !capped.is(judged)
                    && !judged.drop.before.is_some_and(|before| from.usual(before))
            }
        };
        for index in drops.into_iter().filter(|index| counts(&judged[*index])).collect::<Vec<_>>() {
            judged[index].evidence.weigh(seen.clone(), &[(Other, weight)]);
        }
    }
}

/// Where a speed is left from one temperature on, and others from others: a throttle takes whatever is asked for down to a speed of its
/// own, and a host's lulls come at any temperature.
struct Capped {
    /// Drops by the speed that they left and the temperature at which they began, in cells, and how many of each speed there are, and of
    /// each temperature.
    both: BTreeMap<(i64, i64), usize>,
    speeds: BTreeMap<i64, usize>,
    temps: BTreeMap<i64, usize>,
    drops: usize,
}

impl Capped {
    fn new<'a>(drops: impl Iterator<Item = &'a Judged>) -> Self {
        let mut of =
            Self { both: BTreeMap::new(), speeds: BTreeMap::new(), temps: BTreeMap::new(), drops: 0 };
        for (speed, temp) in drops.filter_map(Self::cells) {
            *of.both.entry((speed, temp)).or_default() += 1;
            *of.speeds.entry(speed).or_default() += 1;
            *of.temps.entry(temp).or_default() += 1;
            of.drops += 1;
        }
        of
    }

    /// The cell of the speed that a drop left, and of the temperature at which it began; `None` where either is not known.
    fn cells(judged: &Judged) -> Option<(i64, i64)> {
        let at_k = judged.onset_k.filter(|_| judged.drop.level > 0.0)?;
        Some(((judged.drop.level.ln() / ONE).round() as i64, (at_k / ONE_THRESHOLD_K).round() as i64))
    }

    /// Whether most drops that left this one's speed began at its temperature, some of them, and most others at another one.
    fn is(&self, judged: &Judged) -> bool {
        let Some((speed, temp)) = Self::cells(judged) else { return false };
        let near = |at: i64| at - 1..=at + 1;
        let as_fast: usize = self.speeds.range(near(speed)).map(|(_, drops)| drops).sum();
        let as_warm: usize = self.temps.range(near(temp)).map(|(_, drops)| drops).sum();
        let both = near(speed).flat_map(|speed| self.both.range((speed, temp - 1)..=(speed, temp + 1)));
        let both: usize = both.map(|(_, drops)| drops).sum();
        let others = self.drops - both;
        both > COMES_AGAIN + 1
            && 4 * both >= 3 * as_fast
            && 2 * (as_warm - both) <= others
            && others >= both.min(LEAST)
    }
}

/// Whether a drop fell in one step to a speed that stood for some slices, and came back from it in one.
fn stood(judged: &Judged, pieces: &[Piece]) -> bool {
    let even = |at: &usize| pieces[*at].slices >= KEPT && pieces[*at].variation <= EVEN;
    let lasting = judged.drop.own.iter().filter(|at| pieces[**at].slices > 1);
    judged.drop.recovered && judged.drop.sharp && lasting.clone().count() == 1 && lasting.clone().all(even)
}

/// What is seen where the speeds that were left are `share` of the way from a throttle's to anything, and what that weighs.
fn left_anything(share: f64, speeds: Vec<f64>) -> Option<(Observation, f64)> {
    let (low_bytes_per_s, high_bytes_per_s) = quarters(&speeds)?;
    let seen = Observation::LeftAnything { drops: speeds.len(), low_bytes_per_s, high_bytes_per_s };
    (share > 0.0).then_some((seen, MOST * share.min(1.0)))
}

/// Speeds as logarithms, the slowest first.
struct Levels(Vec<f64>);

impl Levels {
    fn new(speeds: &[f64]) -> Self {
        let mut logs: Vec<f64> = speeds.iter().map(|speed| speed.max(1.0).ln()).collect();
        logs.sort_unstable_by(f64::total_cmp);
        Self(logs)
    }

    /// Whether one lies where these do.
    fn among(&self, speed: f64) -> bool {
        let range = self.0.first().copied().unwrap_or(f64::INFINITY) - ONE
            ..=self.0.last().copied().unwrap_or(f64::NEG_INFINITY) + ONE;
        range.contains(&speed.max(1.0).ln())
    }

    /// How many of these are one with another one of them, itself left out.
    fn others(&self, speed: f64) -> usize {
        let at = speed.max(1.0).ln();
        let one =
            self.0.partition_point(|log| *log <= at + ONE) - self.0.partition_point(|log| *log < at - ONE);
        one.saturating_sub(1)
    }

    /// Whether many of them are one with it.
    fn usual(&self, speed: f64) -> bool {
        let others = self.others(speed);
        others > COMES_AGAIN && USUAL * others >= self.0.len()
    }
}

/// The speeds that loads keep, for as long as they go on: a pause, or a row that holds some of one, ends a load.
fn kept_on(pieces: &[Piece]) -> Vec<Vec<&Piece>> {
    let mut loads: Vec<Vec<&Piece>> = Vec::new();
    let mut slowest = f64::INFINITY;
    for piece in pieces {
        let last = loads.last().and_then(|load| load.last().copied());
        if piece.stopped || piece.slices < KEPT || piece.variation > EVEN {
            if piece.stopped || piece.slices <= 1 {
                slowest = slowest.min(if piece.stopped { 0.0 } else { piece.level });
            }
            continue;
        }
        let goes_on = last.is_some_and(|last| {
            last.stretch == piece.stretch && slowest >= OTHER * last.level.min(piece.level)
        });
        match loads.last_mut().filter(|_| goes_on) {
            Some(load) => load.push(piece),
            None => loads.push(vec![piece]),
        }
        slowest = f64::INFINITY;
    }
    loads
}

/// Whether a load rose to the middle one of these and fell from it again.
fn is_top(three: &[&Piece]) -> bool {
    let lower = |beside: &Piece| beside.level < OTHER * three[1].level;
    lower(three[0]) && lower(three[2])
}

/// How far apart the middle half of these speeds lies, from 0 (one speed) to 1; `None` where they are too few.
fn spread(speeds: &[f64]) -> Option<f64> {
    let (low, high) = quarters(speeds).filter(|_| speeds.len() >= LEAST)?;
    let (one, full) = FELL_FROM;
    Some((high / low.max(1.0) / one).ln() / (full / one).ln())
}

/// How few of these speeds are like another one, from 0 (a few speeds that come again) to 1; `None` where they are too few.
pub(super) fn unlike(speeds: &[f64]) -> Option<f64> {
    crate::work::count(speeds.len());
    let Levels(logs) = Levels::new(speeds);
    let above = |at: usize| logs.partition_point(|log| *log <= logs[at] + ONE) - at - 1;
    let pairs = logs.len() * logs.len().saturating_sub(1) / 2;
    let paired = (0..logs.len()).map(above).sum::<usize>() as f64 / pairs.max(1) as f64;
    (logs.len() >= LEAST).then_some((PAIRED.0 - paired) / (PAIRED.0 - PAIRED.1))
}

/// How little these speeds, in their order, follow a course: from 0 where neighbours are near to each other for how far apart any two
/// are, as of a regulator whose bursts rows cut at odd places, to 1 where they have nothing in common.
fn unrelated(speeds: &[f64]) -> f64 {
    let mut logs: Vec<f64> = speeds.iter().map(|speed| speed.max(1.0).ln()).collect();
    let steps = logs.windows(2).map(|two| (two[1] - two[0]).abs()).sum::<f64>();
    let step = steps / logs.len().saturating_sub(1).max(1) as f64;
    logs.sort_unstable_by(f64::total_cmp);
    // The mean distance of any two: in rising order the n-th is above n others and below the rest.
    let n = logs.len() as f64;
    let apart: f64 = logs.iter().enumerate().map(|(at, log)| log * (2.0 * at as f64 + 1.0 - n)).sum();
    let any = 2.0 * apart / (n * (n - 1.0)).max(1.0);
    part_way(step / any.max(f64::MIN_POSITIVE), RELATED)
}

/// What is seen where these speeds are `share` of the way from a drive's to anything, and what that weighs.
fn seen(share: f64, speeds: Vec<f64>) -> Option<(Observation, f64)> {
    let (low_bytes_per_s, high_bytes_per_s) = quarters(&speeds)?;
    let seen = Observation::FellFromAnything { drops: speeds.len(), low_bytes_per_s, high_bytes_per_s };
    (share > 0.0).then_some((seen, MOST * share.min(1.0)))
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a speed that comes again, and the usual one, are told from those that have nothing in common, whatever their order.
    #[test]
    fn a_speed_that_comes_again_is_not_one_of_any() {
        let levels = Levels::new(&[3.0e9, 1.40e9, 2.2e9, 1.41e9, 0.7e9, 1.42e9]);
        assert_eq!([1.41e9, 3.0e9, 0.71e9].map(|speed| levels.others(speed)), [2, 0, 0]);
        assert!(levels.usual(1.40e9) && !levels.usual(2.2e9));
        assert!(levels.among(3.05e9) && !levels.among(3.5e9) && !Levels::new(&[]).among(1e9));
    }

    #[test]
    fn speeds_on_a_course_are_related_and_any_are_not() {
        let course: Vec<f64> = (0..20).map(|at| 1e9 * (1.5 + (f64::from(at) * 0.3).sin())).collect();
        let any: Vec<f64> = (0..20).map(|at| course[at * 7 % 20]).collect();
        assert_eq!((unrelated(&course), unrelated(&any)), (0.0, 1.0));
        assert_eq!(unrelated(&[]), 0.0);
    }
}
