//! Names what comes again and again and is not heat: housekeeping like clockwork, or work in the background.
//!
//! The name weighs nothing: what a drop was is decided before; only [`clockwork`] weighs. A drive's own upkeep (wear levelling, refresh, metadata) may run on a timer;
//! garbage collection runs when free blocks are short, so at no fixed interval. Which of them it is cannot be seen from outside:
//! the sentences say what fits.

use std::collections::BTreeMap;

use super::Judged;
use super::case::OTHER_THRESHOLD_K;
use super::evidence::{Conclusion, Suspect};
use super::heat::{Heat, LATE_S};
use super::likelihood::{ONE_THRESHOLD_K, normal};
use super::shape;
use crate::observation::Observation;
use crate::segment::{Piece, Stretch, median};
use trace::Interval;

/// So many dips make a habit: four intervals between them.
const LEAST: usize = 5;
/// So many that were too short to be found by themselves tell of it: one may be how a load begins.
const LEAST_EARLIER: usize = 3;
/// An interval, or two or three where one dip was not seen, is the period when it is this near.
const ONE_PERIOD: f64 = 0.1;
/// ... and this share of all intervals has to be. Of intervals that come by chance three in ten are near one, two or three
/// times their median.
const LIKE_CLOCKWORK: f64 = 0.85;
const MOST_MISSED: f64 = 3.0;
/// No clock is slower than this many of its usual intervals, of which most are one period.
const LONGEST: f64 = 1.5;
/// Times in slices longer than this share of a period keep step with any clock, ...
const COARSEST: f64 = 0.25;
/// They keep step to so many slices either way: their beginnings are rounded by one, and one that two slices share is in either.
const IN_STEP: f64 = 0.75;
/// No clock is silent for longer than so many of its periods before it strikes first.
const MOST_SILENT: f64 = 4.0;
/// So many of them show what a clock is.
const ENOUGH: usize = 200;
/// ... and so unlikely has it to be by chance, as a logarithm: one in a thousand.
const NO_LUCK: f64 = 7.0;

/// Temperatures this far apart are no single threshold.
const HOT_AND_COOL_K: f64 = 5.0;
/// A load is one where it is nowhere slower than this share of its fastest.
const ONE_LOAD: f64 = 0.9;
/// So many peaks that agree make a threshold.
const LEAST_AT_A_THRESHOLD: usize = 3;
/// So many away from it show that they keep the beat of something else: one would by chance.
const LEAST_AWAY: usize = 2;
/// What like clockwork, hot or cool, weighs for anything else: it comes within a tenth of a period where chance would
/// within a whole one.
const CLOCKWORK: f64 = 2.3;
/// ... and up to this where it comes within a two-hundredth.
const BEST_CLOCKWORK: f64 = 4.6;
/// Of so many readings in a cycle one is near its peak, and two in a cycle show that it goes to and fro.
const READ_OFTEN: f64 = 3.0;
const LEAST_READ: f64 = 0.5;

/// Standard deviations of the logarithm of the time at full speed before a drop: of heat against its neighbours, and of what
/// comes by chance (of an exponential distribution: pi / sqrt(6)). So often heat is as uneven as chance: other jobs, fans, a
/// plateau at a threshold.
const EVEN: f64 = 0.25;
const EXPONENTIAL: f64 = 1.28;
const UNEVEN: f64 = 0.2;
/// What rounding both of its ends to rows leaves of a time, in rows: 0.41 of ends that come at any time, and half as much again, as the
/// logarithm of a time of one row is no normal one.
const ROUNDED: f64 = 0.6;
/// Weights below this are not told.
const LEAST_WEIGHT: f64 = 0.05;

/// Weighs that drops come like clockwork, from cool to hot: a threshold would not let them begin before it is reached, and
/// a drive that goes to and fro at one is slower the hotter its case.
pub(super) fn clockwork(judged: &mut [Judged], stretches: &[Stretch], pieces: &[Piece], heat: &Heat) {
    let began_fast = |judged: &Judged| came_back(judged) && !judged.drop.at_start;
    let any: Vec<usize> = (0..judged.len()).filter(|i| began_fast(&judged[*i])).collect();
    let began_s = |of: &[usize]| -> Vec<f64> { of.iter().map(|i| judged[*i].start_s).collect() };
    // One of another kind among them, cooler or hotter, is not of the clock.
    let kind = shape::of_one_kind(&any, |i| judged[i].shape);
    let kind_s = began_s(&kind);
    let Some(period_s) = regular_s(&kind_s, heat.slice_s) else { return };
    // Readings rarer than that show neither peaks nor how far it goes to and fro.
    if heat.period_s > LEAST_READ * period_s {
        return;
    }
    // What comes between two of its beats is not of the clock either.
    let (all, all_s) = in_step(&kind, &kind_s, period_s, heat.slice_s);
    if all.len() < LEAST {
        return;
    }
    let first = &judged[all[0]];
    let samples = &stretches[pieces[first.drop.first].stretch].samples;
    let earlier = foretold_s(first, samples, period_s, heat.slice_s);
    let any_s = [earlier.clone(), began_s(&any)].concat();
    let all_s = [earlier, all_s].concat();
    // A clock strikes from a load's beginning on; one that struck first when the drive was warm follows that.
    if all_s[0] - samples[0].start_s > MOST_SILENT * period_s {
        return;
    }
    let Some((peaks, swing_k)) = peaks_k(&all_s, period_s, heat) else { return };
    // Rare readings miss the peaks by as much as it goes to and fro.
    let missed_k = swing_k * (READ_OFTEN * heat.period_s / period_s).min(1.0);
    let (low, high) = (peaks[0], peaks[peaks.len() - 1]);
    // Cycles at another threshold take another time, so few of them may keep the beat.
    let thresholds = |(peaks, _): (Vec<f64>, f64)| are_thresholds(&peaks, missed_k);
    let of_any = peaks_k(&any_s, period_s, heat).is_some_and(thresholds);
    let few_away = away(&peaks, missed_k) < LEAST_AWAY;
    if high - low < HOT_AND_COOL_K + missed_k || few_away || of_any || are_thresholds(&peaks, missed_k) {
        return;
    }
    let weight = keeps_time(&all_s, period_s, heat.slice_s);
    let seen = Observation::Clockwork { times: all_s.len(), period_s, between_k: [low, high] };
    for index in all {
        judged[index].evidence.weigh(seen.clone(), &[(Suspect::Other, weight)]);
    }
}

/// When a load was as slow before a drop, whole periods earlier, in seconds: for a slice or two, too short to be pieces of their
/// own. Nothing where it was at other times as well.
fn foretold_s(drop: &Judged, samples: &[Interval], period_s: f64, slice_s: f64) -> Vec<f64> {
    let Some(before) = drop.drop.before else { return Vec::new() };
    let half = 0.5 * (before + drop.drop.level);
    let end = samples.partition_point(|sample| sample.start_s < drop.start_s - 0.5 * period_s);
    crate::work::count(end);
    let slow: Vec<f64> =
        samples[..end].iter().filter(|s| s.bytes_per_s() <= half).map(|s| s.start_s).collect();
    let mut found: Vec<f64> = Vec::new();
    let foretells = |from_s: f64, next_s: f64| keeps_step(next_s - from_s, period_s, slice_s);
    let mut within = 0;
    for start_s in slow.iter().rev() {
        let next_s = found.last().copied().unwrap_or(drop.start_s);
        match found.last_mut() {
            // Still the one just found, which began earlier.
            Some(last) if *last - *start_s <= ONE_PERIOD * period_s => *last = *start_s,
            _ if foretells(*start_s, next_s) => found.push(*start_s),
            _ => continue,
        }
        within += 1;
    }
    found.reverse();
    let habit = found.len() >= LEAST_EARLIER && within as f64 >= LIKE_CLOCKWORK * slow.len() as f64;
    if habit { found } else { Vec::new() }
}

/// Whether speed came back from it while the load went on, where the temperature is known; drops inside others are part of
/// those.
pub(super) const fn came_back(judged: &Judged) -> bool {
    judged.drop.recovered && judged.drop.inside.is_none() && judged.onset_k.is_some()
}

/// What it weighs for anything but heat that these come so near to a period.
pub(super) fn keeps_time(began_s: &[f64], period_s: f64, slice_s: f64) -> f64 {
    (1.0 / (2.0 * unsteady(began_s, period_s, slice_s))).ln().clamp(CLOCKWORK, BEST_CLOCKWORK)
}

/// By how much intervals usually differ from whole periods, as a share of a period: no less than what a slice of speed hides.
fn unsteady(began_s: &[f64], period_s: f64, slice_s: f64) -> f64 {
    let off = |pair: &[f64]| {
        let gap_s = pair[1] - pair[0];
        (gap_s - (gap_s / period_s).round() * period_s).abs()
    };
    let offs: Vec<f64> = began_s.windows(2).map(off).collect();
    median(&offs).max(0.5 * slice_s) / period_s
}

/// Weighs that the time at full speed between drops differs from one to the next: a threshold lets the same load reach it after
/// the same time each time, or a little more or less as the case warms up and cools. What comes by chance does not.
pub(super) fn irregular(judged: &mut [Judged], pieces: &[Piece], slice_s: f64) {
    // Those within one drop are another sequence than those that it is of, and stops than lower speeds.
    let mut sequences: BTreeMap<(usize, Option<usize>, bool), Vec<usize>> = BTreeMap::new();
    for (index, judged) in judged.iter().enumerate() {
        if judged.drop.recovered && judged.onset_k.is_some() {
            let key = (pieces[judged.drop.first].stretch, judged.drop.inside, judged.drop.stops(pieces));
            sequences.entry(key).or_default().push(index);
        }
    }
    for drops in sequences.values() {
        // The time at full speed, or that of the drop around them, before each but the first.
        let gap_s = |pair: &[usize]| {
            let (before, now) = (&judged[pair[0]], &judged[pair[1]]);
            let gap_s = (now.start_s - before.end_s).max(slice_s);
            let one_load = is_one_load(&pieces[before.drop.last + 1..now.drop.first]);
            one_load.then_some(Gap { gap_s, from_k: before.release_k })
        };
        let gaps: Vec<Option<Gap>> = drops.windows(2).map(gap_s).collect();
        for (at, index) in drops.iter().skip(1).enumerate() {
            let Some((gap_s, usual_s, weight)) = uneven(&gaps, at, slice_s) else { continue };
            let seen = Observation::Irregular { gap_s, usual_s };
            judged[*index].evidence.weigh_heat(seen, weight, &[]);
        }
    }
}

/// Whether these pieces between two drops are one load at one speed: what pauses, or asks for less, takes its own time to a threshold.
fn is_one_load(pieces: &[Piece]) -> bool {
    let levels = || pieces.iter().filter(|piece| piece.slices > 1).map(|piece| piece.level);
    let fastest = levels().fold(0.0, f64::max);
    pieces.iter().all(|piece| !piece.stopped) && levels().all(|level| level >= ONE_LOAD * fastest)
}

/// A time at full speed between two drops, in seconds, and the temperature at which it began, in kelvins.
#[derive(Clone, Copy)]
struct Gap {
    gap_s: f64,
    from_k: Option<f64>,
}

impl Gap {
    /// Whether another one began as warm: the way to a threshold is longer from further below it, as after a lull of the host's.
    fn begins_like(&self, other: &Self) -> bool {
        self.from_k.zip(other.from_k).is_none_or(|(one, other)| (one - other).abs() <= OTHER_THRESHOLD_K)
    }
}

/// The time at full speed before a drop, that before its neighbours, and what the two weigh for heat; `None` where it is as even as heat
/// makes it, or not all of one load.
fn uneven(gaps: &[Option<Gap>], at: usize, slice_s: f64) -> Option<(f64, f64, f64)> {
    let gap = gaps[at]?;
    let gap_s = gap.gap_s;
    let beside = [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| gaps.get(at));
    let beside = beside.copied().flatten().filter(|beside| beside.begins_like(&gap));
    let beside: Vec<f64> = beside.map(|beside| beside.gap_s).collect();
    let count = beside.len() as f64;
    let usual = beside.iter().map(|gap_s| gap_s.ln()).sum::<f64>() / count;
    let off = gap_s.ln() - usual;
    // Both ends of each of these times are known to a row.
    let rounded = |gap_s: f64| (ROUNDED * slice_s / gap_s).powi(2);
    let usual_2 = beside.iter().map(|gap_s| rounded(*gap_s)).sum::<f64>() / count.powi(2);
    let by_heat = normal(off, (EVEN.powi(2) + rounded(gap_s) + usual_2).sqrt());
    let by_chance = normal(off, EXPONENTIAL * (1.0 + 1.0 / count).sqrt());
    // Two times are one comparison, which counts for both.
    let share = if gaps.len() == 2 { 0.5 } else { 1.0 };
    let weight = share * ((1.0 - UNEVEN) * by_heat / by_chance + UNEVEN).ln();
    (count > 0.0 && weight < -LEAST_WEIGHT).then_some((gap_s, usual.exp(), weight))
}

/// Names each dip of a habit.
pub(super) fn tell(judged: &mut [Judged], slice_s: f64) {
    let habit: Vec<usize> = (0..judged.len()).filter(|i| is_dip(&judged[*i])).collect();
    if habit.len() < LEAST {
        return;
    }
    let seen = Observation::Recurs {
        times: habit.len(),
        period_s: period_s(judged, slice_s),
        between_k: range_k(judged, &habit),
    };
    for index in habit {
        judged[index].evidence.weigh_row(seen.clone(), [0.0; 5]);
        judged[index].verdict = judged[index].evidence.verdict();
    }
}

/// The peaks between drops that began at these times, the coolest first, and how far it usually went down and up from one
/// to the next, in kelvins; `None` without any temperature. At a threshold the peaks are the same each time, however late the
/// sensor, but for what it missed of the swing.
fn peaks_k(began_s: &[f64], period_s: f64, heat: &Heat) -> Option<(Vec<f64>, f64)> {
    let range = |pair: &[f64]| {
        let kelvin = heat.within(pair[0], pair[1]).iter().map(|p| p.value);
        kelvin.map(|k| [k, k]).reduce(|[low, high], [k, _]| [low.min(k), high.max(k)])
    };
    // Between two that are further apart another load may have run, hotter or cooler.
    let is_cycle = |pair: &&[f64]| pair[1] - pair[0] <= (MOST_MISSED + 0.5) * period_s;
    let cycles: Vec<[f64; 2]> = began_s.windows(2).filter(is_cycle).filter_map(range).collect();
    // The way to the first one too: a late sensor shows its peak soon after it.
    let first_s = *began_s.first()?;
    let first = range(&[first_s - period_s, first_s + LATE_S.min(0.5 * period_s)]);
    let mut peaks: Vec<f64> = cycles.iter().chain(&first).map(|[_, high]| *high).collect();
    peaks.sort_unstable_by(f64::total_cmp);
    let swings: Vec<f64> = cycles.iter().map(|[low, high]| high - low).collect();
    (!peaks.is_empty()).then(|| (peaks, median(&swings)))
}

/// How many of these temperatures, the coolest first, are not at the commonest: one or two that keep step by chance make no clock of
/// a threshold.
fn away(peaks: &[f64], missed_k: f64) -> usize {
    let together = |at: usize| {
        let end = peaks.partition_point(|peak| *peak <= peaks[at] + 2.0 * (ONE_THRESHOLD_K + missed_k));
        end - at
    };
    peaks.len() - (0..peaks.len()).map(together).max().unwrap_or(0)
}

/// Whether these temperatures, the coolest first, are a few that come again and again, with none between: a host that sets
/// another threshold moves a drive from one to the next. A clock goes on while the drive warms up.
fn are_thresholds(peaks: &[f64], missed_k: f64) -> bool {
    let alone = |group: &&[f64]| group.len() < LEAST_AT_A_THRESHOLD;
    let apart = |a: &f64, b: &f64| b - a <= ONE_THRESHOLD_K + missed_k;
    !peaks
        .chunk_by(apart)
        .any(|group| alone(&group) || group[group.len() - 1] - group[0] > 2.0 * (ONE_THRESHOLD_K + missed_k))
}

/// The coolest and the hottest beginning of these, in kelvins; `None` without any temperature.
fn range_k(judged: &[Judged], of: &[usize]) -> Option<[f64; 2]> {
    let kelvin = of.iter().filter_map(|i| judged[*i].onset_k);
    kelvin.map(|k| [k, k]).reduce(|[low, high], [k, _]| [low.min(k), high.max(k)])
}

/// The period of dips that are not heat, in seconds, where they come like clockwork.
pub(crate) fn period_s(judged: &[Judged], slice_s: f64) -> Option<f64> {
    let began_s: Vec<f64> = judged.iter().filter(|j| is_dip(j)).map(|j| j.start_s).collect();
    regular_s(&began_s, slice_s)
}

/// The period at which these come, in seconds, where it is like clockwork; their times are rounded to `slice_s`.
fn regular_s(began_s: &[f64], slice_s: f64) -> Option<f64> {
    let gaps_s: Vec<f64> = began_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if began_s.len() < LEAST {
        return None;
    }
    let period_s = median(&gaps_s);
    let regular =
        |gap_s: &&f64| (*gap_s - periods(**gap_s, period_s) * period_s).abs() <= ONE_PERIOD * period_s;
    let share = gaps_s.iter().filter(regular).count() as f64 / gaps_s.len() as f64;
    if share >= LIKE_CLOCKWORK { Some(period_s) } else { in_step_s(began_s, period_s, slice_s) }
}

/// Those of `all`, which began at `began_s`, that are a few whole periods after the one before or before the one after them.
fn in_step(all: &[usize], began_s: &[f64], period_s: f64, slice_s: f64) -> (Vec<usize>, Vec<f64>) {
    let near = |from_s: f64, to_s: f64| keeps_step(to_s - from_s, period_s, slice_s);
    let keeps = |at: usize| {
        let before = at.checked_sub(1).is_some_and(|before| near(began_s[before], began_s[at]));
        before || began_s.get(at + 1).is_some_and(|next_s| near(began_s[at], *next_s))
    };
    (0..all.len()).filter(|at| keeps(*at)).map(|at| (all[at], began_s[at])).unzip()
}

/// Whether a few whole periods passed between two that were seen, to a slice: one that two slices share is as slow in neither.
fn keeps_step(gap_s: f64, period_s: f64, slice_s: f64) -> bool {
    (gap_s - periods(gap_s, period_s) * period_s).abs() <= (ONE_PERIOD * period_s).max(slice_s)
}

/// How many periods passed between two that were seen.
fn periods(gap_s: f64, period_s: f64) -> f64 {
    (gap_s / period_s).round().clamp(1.0, MOST_MISSED)
}

/// The period of the clock that these keep step with, in seconds, to a slice. An interval between two rounded times may be a slice off, and
/// a slice more than a tenth of a period; and beats may be missing. So each period is tried that leaves the first and the last of them
/// whole beats apart, and the one counts with which most keep step.
fn in_step_s(began_s: &[f64], rough_s: f64, slice_s: f64) -> Option<f64> {
    let began_s = &began_s[..began_s.len().min(ENOUGH)];
    let span_s = began_s.last()? - began_s.first()?;
    let least = (span_s / (LONGEST * rough_s)).ceil().max(1.0);
    let most = (span_s / (rough_s / MOST_MISSED).max(slice_s / COARSEST)).floor();
    let tried = most - least + 1.0;
    if tried < 1.0 {
        return None;
    }
    crate::work::count(began_s.len() * tried as usize);
    let each = (0..tried as usize).map(|more| span_s / (least + more as f64));
    let each = each.map(|period_s| (period_s, in_step_with(began_s, period_s, slice_s)));
    // Of those with which as many keep step, the one that they keep to most nearly.
    let (period_s, (in_step, _)) = each.max_by(|(_, a), (_, b)| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)))?;
    // So many would come within a slice of it by chance.
    let by_chance = in_step as f64 * (2.0 * IN_STEP * slice_s / period_s).ln() + tried.ln();
    let regular = in_step as f64 >= LIKE_CLOCKWORK * began_s.len() as f64;
    (regular && by_chance <= -NO_LUCK).then_some(period_s)
}

/// How many of these keep step with a clock of this period, to a slice, and how far they usually are off, as a share of it.
fn in_step_with(began_s: &[f64], period_s: f64, slice_s: f64) -> (usize, f64) {
    let off_s = |since_s: f64| since_s - (since_s / period_s).round() * period_s;
    let mut offs_s: Vec<f64> = began_s.iter().map(|at_s| off_s(at_s - began_s[0])).collect();
    let middle_s = median(&offs_s);
    offs_s.iter_mut().for_each(|at_s| *at_s = off_s(*at_s - middle_s).abs());
    let in_step = offs_s.iter().filter(|off_s| **off_s <= IN_STEP * slice_s).count();
    (in_step, offs_s.iter().sum::<f64>() / offs_s.len() as f64 / period_s)
}

fn is_dip(judged: &Judged) -> bool {
    judged.verdict.conclusion == Conclusion::NotHeat
        && judged.drop.recovered
        && !judged.drop.at_start
        && judged.drop.inside.is_none()
        && !judged.continues
}

#[cfg(test)]
mod test {
    use super::*;

    /// Times of a clock, rounded to slices of a log.
    fn rounded(period_s: f64, slice_s: f64, times: u32) -> Vec<f64> {
        (0..times).map(|n| (f64::from(n) * period_s / slice_s).floor() * slice_s).collect()
    }

    #[test]
    fn a_clock_is_known_by_its_step_where_slices_are_coarse() {
        assert_eq!(regular_s(&rounded(32.7, 0.1, 20), 0.1).map(f64::round), Some(33.0));
        let found_s = regular_s(&rounded(32.7, 5.0, 30), 5.0).expect("it keeps step");
        assert!((found_s - 32.7).abs() < 0.3, "{found_s}");
        // Too coarse to tell, and too few.
        assert_eq!(regular_s(&rounded(32.7, 10.0, 30), 10.0), None);
        assert_eq!(regular_s(&rounded(32.7, 5.0, 4), 5.0), None);
    }

    /// Goal: a clock is known though some beats are not seen, as two rows share what neither shows. Method: the dips of every 40.6 s that
    /// rows of 10 s show in a run of half an hour, where most intervals are 50 s: they keep step, if not with one period alone. The same
    /// dips each moved by a few rows keep none.
    #[test]
    fn a_clock_is_known_though_beats_are_missing() {
        let seen_s = [
            40.0, 90.0, 280.0, 330.0, 380.0, 470.0, 570.0, 620.0, 670.0, 860.0, 910.0, 960.0, 1050.0, 1150.0,
            1200.0, 1250.0, 1440.0, 1490.0,
        ];
        assert!(regular_s(&seen_s, 10.0).is_some());
        let moved = seen_s.iter().zip([0.0, 20.0, 10.0, 0.0, 10.0, 30.0].iter().cycle());
        let moved: Vec<f64> = moved.map(|(seen_s, by_s)| seen_s + by_s).collect();
        assert_eq!(regular_s(&moved, 10.0), None);
    }

    #[test]
    fn what_wanders_keeps_no_step() {
        // As the intervals of a clock in slices of 5 s, but in an order in which it falls out of step.
        let gaps_s =
            [30.0, 30.0, 30.0, 30.0, 30.0, 30.0, 35.0, 35.0, 35.0, 35.0, 35.0, 35.0, 30.0, 30.0, 30.0, 30.0];
        let began_s: Vec<f64> = gaps_s
            .iter()
            .scan(0.0, |sum, gap_s| {
                *sum += gap_s;
                Some(*sum)
            })
            .collect();
        assert_eq!(regular_s(&began_s, 5.0), None);
    }
}
