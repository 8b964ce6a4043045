//! Drops that look the same have one cause: what is found about some of them counts for all.
//!
//! Alike are drops of about the same loss and size: seconds' worth of data that were lost. A threshold has one temperature, so drops that are
//! alike and begin at different ones are not heat; and a drop that by itself could be either is what the others are.
//! They are sorted into cells of loss and size, so that the work grows with the number of drops and not
//! with its square; neighbouring cells count as alike.

use std::collections::BTreeMap;

use super::Judged;
use super::case::OTHER_THRESHOLD_K;
use super::evidence::Suspect::Other;
use super::history::HYSTERESIS_K;
use crate::observation::Observation;

/// Width of a cell as a factor of the loss; drops up to one and a half cells apart are alike. Wide, as a log of few
/// intervals a drop mixes slow and fast in each.
const LOSS_FACTOR: f64 = 1.8;
/// ... and of the time's worth of data that was lost, which such a log keeps.
const LOST_FACTOR: f64 = 1.5;
/// Fewer than this are no group.
const LEAST: usize = 3;
/// How far a group may pull one of its drops, in log odds.
const MOST_PULL: f64 = 4.0;
/// A verdict this sure speaks for others that began at the same temperature.
const CLEAR: f64 = 0.85;
/// Temperatures this near are one: half a kelvin of rounding at both ends, and some.
const SAME_K: f64 = 1.6;

/// Cooling that whole kelvins show.
const COOLED_K: f64 = 2.0;
/// From this share on those elsewhere are no stray readings.
const SCATTERED: f64 = 0.3;
/// Nothing moves below this share of the speed.
const STOPPED: f64 = 1e-3;

/// Number of a cell: loss, size.
type Cell = (i64, i64);

/// Sums over the drops of a cell.
#[derive(Default)]
struct AlikeSums {
    count: usize,
    total: [f64; 5],
    /// Temperatures at which they began; with a margin for those of a load's beginning.
    onsets_k: Vec<f64>,
}

/// Judges every drop again in the light of those that look the same.
pub(super) fn judge(judged: &mut [Judged]) {
    let cells: Vec<Option<Cell>> = judged.iter().map(cell).collect();
    cooler(judged, &cells);
    one_temperature(judged, &cells);
    many_temperatures(judged, &cells);
    pool(judged, &cells);
    same_temperature(judged);
}

fn cell(judged: &Judged) -> Option<Cell> {
    let loss = 1.0 - judged.strength?;
    let lost_s = loss * (judged.end_s - judged.start_s).max(1.0);
    let number = |value: f64, factor: f64| (value.ln() / factor.ln()).round() as i64;
    (loss > 0.0).then(|| (number(loss, LOSS_FACTOR), number(lost_s, LOST_FACTOR)))
}

/// The sums of a drop's cell and of those around it. How long a drop would have lasted that the end of the load cut
/// off is not known: it is like all that were larger.
fn around<'a>(
    sums: &'a BTreeMap<Cell, AlikeSums>,
    judged: &Judged,
    (loss, size): Cell,
) -> impl Iterator<Item = &'a AlikeSums> {
    crate::work::count(sums.len().min(9));
    let largest = if judged.drop.recovered { size + 1 } else { i64::MAX };
    (loss - 1..=loss + 1).flat_map(move |loss| sums.range((loss, size - 1)..=(loss, largest)).map(|(_, s)| s))
}

fn sums(judged: &[Judged], cells: &[Option<Cell>]) -> BTreeMap<Cell, AlikeSums> {
    let mut sums: BTreeMap<Cell, AlikeSums> = BTreeMap::new();
    for (judged, cell) in judged.iter().zip(cells) {
        let (Some(cell), Some(onset_k)) = (cell, judged.onset_k) else { continue };
        let of_cell = sums.entry(*cell).or_default();
        of_cell.count += 1;
        for (sum, total) in of_cell.total.iter_mut().zip(judged.evidence.total()) {
            *sum += total;
        }
        of_cell.onsets_k.push(onset_k + if judged.drop.at_start { HYSTERESIS_K } else { 0.0 });
    }
    sums.values_mut().for_each(|sums| sums.onsets_k.sort_by(f64::total_cmp));
    sums
}

/// Drops that look the same began at other temperatures: a threshold would have one.
fn cooler(judged: &mut [Judged], cells: &[Option<Cell>]) {
    let sums = sums(judged, cells);
    for (judged, cell) in judged.iter_mut().zip(cells) {
        let (Some(cell), Some(onset_k)) = (cell, judged.onset_k) else { continue };
        let margin_k = OTHER_THRESHOLD_K + judged.climb_k;
        let below = |by_k: f64| {
            let of = |sums: &AlikeSums| sums.onsets_k.partition_point(|k| *k <= onset_k - by_k);
            around(&sums, judged, *cell).map(of).sum::<usize>()
        };
        let count = below(margin_k);
        if count > 0 {
            // Far below counts twice.
            let weight = (count + below(2.0 * margin_k)) as f64;
            let cooler = Observation::AlikeCooler { others: count, cooler_k: margin_k };
            judged.evidence.weigh_heat(cooler, -weight.min(5.0), &[]);
            judged.verdict = judged.evidence.verdict();
        }
    }
}

/// All drops that look the same began at one temperature, and each time the drive had to cool first: a pause of
/// the load, or anything else, knows no temperature.
fn one_temperature(judged: &mut [Judged], cells: &[Option<Cell>]) {
    let sums = sums(judged, cells);
    for (judged, cell) in judged.iter_mut().zip(cells) {
        let (Some(cell), Some(onset_k)) = (cell, judged.onset_k.filter(|_| !judged.drop.at_start)) else {
            continue;
        };
        let margin_k = SAME_K + judged.climb_k;
        let near = |sums: &AlikeSums| {
            let up_to = |k: f64| sums.onsets_k.partition_point(|onset| *onset <= k);
            up_to(onset_k + margin_k) - up_to(onset_k - margin_k)
        };
        let (alike, all) = around(&sums, judged, *cell).fold((0, 0), |(a, b), s| (a + near(s), b + s.count));
        let cooled = judged.release_k.is_some_and(|k| onset_k - k >= COOLED_K);
        if alike >= LEAST && alike == all && cooled {
            let one = Observation::AlikeOneTemperature { drops: all, within_k: margin_k };
            let weight = if judged.strength.is_some_and(|s| s <= STOPPED) { 3.5 } else { 1.0 };
            judged.evidence.weigh_heat(one, weight, &[]);
            judged.verdict = judged.evidence.verdict();
        }
    }
}

/// Drops that look the same began all over the range: none of them was at a threshold, not even the hottest.
fn many_temperatures(judged: &mut [Judged], cells: &[Option<Cell>]) {
    let sums = sums(judged, cells);
    for (judged, cell) in judged.iter_mut().zip(cells) {
        let fit = judged.drop.recovered && !judged.drop.at_start;
        let (Some(cell), Some(onset_k)) = (cell, judged.onset_k.filter(|_| fit)) else { continue };
        let margin_k = OTHER_THRESHOLD_K + judged.climb_k;
        let up_to = |kelvin: f64| -> usize {
            around(&sums, judged, *cell).map(|s| s.onsets_k.partition_point(|k| *k <= kelvin)).sum()
        };
        let all = up_to(f64::INFINITY);
        let elsewhere = all - (up_to(onset_k + margin_k) - up_to(onset_k - margin_k));
        if elsewhere >= LEAST && elsewhere as f64 >= SCATTERED * all as f64 {
            let many = Observation::AlikeManyTemperatures { drops: all, elsewhere, beyond_k: margin_k };
            judged.evidence.weigh_heat(many, -4.0, &[]);
            judged.verdict = judged.evidence.verdict();
        }
    }
}

/// What drops that look the same weigh on average counts for each of them.
fn pool(judged: &mut [Judged], cells: &[Option<Cell>]) {
    let sums = sums(judged, cells);
    for (judged, cell) in judged.iter_mut().zip(cells) {
        let (Some(cell), Some(_)) = (cell, judged.onset_k.filter(|_| judged.drop.recovered)) else {
            continue;
        };
        let count: usize = around(&sums, judged, *cell).map(|sums| sums.count).sum();
        if count < LEAST {
            continue;
        }
        let own = judged.evidence.total();
        let mut pull: [f64; 5] = std::array::from_fn(|suspect| {
            let sum: f64 = around(&sums, judged, *cell).map(|sums| sums.total[suspect]).sum();
            (sum / count as f64 - own[suspect]).clamp(-MOST_PULL, MOST_PULL)
        });
        // Only differences between suspects count; those to anything else read best.
        let other = pull[Other as usize];
        pull.iter_mut().for_each(|weight| *weight -= other);
        judged.evidence.weigh_row(Observation::AlikeAverage { drops: count }, pull);
        judged.verdict = judged.evidence.verdict();
    }
}

/// A drop that is not clear began at the very temperature at which clear ones did.
fn same_temperature(judged: &mut [Judged]) {
    let clear =
        |j: &&Judged| j.verdict.conclusion.is_heat() && j.verdict.confidence >= CLEAR && !j.drop.at_start;
    let mut onsets_k: Vec<f64> = judged.iter().filter(clear).filter_map(|j| j.onset_k).collect();
    onsets_k.sort_by(f64::total_cmp);
    let unclear = |j: &&mut Judged| j.verdict.confidence < CLEAR || !j.verdict.conclusion.is_heat();
    for judged in judged.iter_mut().filter(unclear) {
        let Some(onset_k) = judged.onset_k.filter(|_| !judged.drop.at_start) else { continue };
        let up_to = |k: f64| onsets_k.partition_point(|onset| *onset <= k);
        let near = up_to(onset_k + SAME_K) - up_to(onset_k - SAME_K);
        if near >= LEAST {
            let clear = Observation::AlikeClear { others: near, within_k: SAME_K };
            judged.evidence.weigh_heat(clear, 2.0, &[]);
            judged.verdict = judged.evidence.verdict();
        }
    }
}
