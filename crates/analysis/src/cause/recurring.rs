//! Names what comes again and again and is not heat: housekeeping like clockwork, or work in the background.
//!
//! It weighs nothing: what a drop was is decided before. A drive's own upkeep (wear levelling, refresh, metadata) may run on a timer;
//! garbage collection runs when free blocks are short, so at no fixed interval. Which of them it is cannot be seen from outside:
//! the sentences say what fits.

use super::Judged;
use super::evidence::Conclusion;
use crate::observation::Observation;
use crate::segment::median;

/// So many dips make a habit: four intervals between them.
const LEAST: usize = 5;
/// An interval, or two or three where one dip was not seen, is the period when it is this near.
const ONE_PERIOD: f64 = 0.1;
/// ... and this share of all intervals has to be. Of intervals that come by chance three in ten are near one, two or three
/// times their median.
const LIKE_CLOCKWORK: f64 = 0.85;
const MOST_MISSED: f64 = 3.0;

/// Names each dip of a habit.
pub(super) fn tell(judged: &mut [Judged]) {
    let habit: Vec<usize> = (0..judged.len()).filter(|i| is_dip(&judged[*i])).collect();
    if habit.len() < LEAST {
        return;
    }
    let kelvin = || habit.iter().filter_map(|i| judged[*i].onset_k);
    let (low, high) = kelvin().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), k| (l.min(k), h.max(k)));
    let seen = Observation::Recurs {
        times: habit.len(),
        period_s: period_s(judged),
        between_k: (low <= high).then_some([low, high]),
    };
    for index in habit {
        judged[index].evidence.weigh_row(seen.clone(), [0.0; 5]);
        judged[index].verdict = judged[index].evidence.verdict();
    }
}

/// The period of dips that are not heat, in seconds, where they come like clockwork.
pub(crate) fn period_s(judged: &[Judged]) -> Option<f64> {
    let began_s: Vec<f64> = judged.iter().filter(|j| is_dip(j)).map(|j| j.start_s).collect();
    let gaps_s: Vec<f64> = began_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if began_s.len() < LEAST {
        return None;
    }
    let period_s = median(&gaps_s);
    let regular = |gap_s: &&f64| {
        let periods = (*gap_s / period_s).round().clamp(1.0, MOST_MISSED);
        (*gap_s - periods * period_s).abs() <= ONE_PERIOD * period_s
    };
    let share = gaps_s.iter().filter(regular).count() as f64 / gaps_s.len() as f64;
    (share >= LIKE_CLOCKWORK).then_some(period_s)
}

fn is_dip(judged: &Judged) -> bool {
    judged.verdict.conclusion == Conclusion::NotHeat
        && judged.drop.recovered
        && !judged.drop.at_start
        && judged.drop.inside.is_none()
        && !judged.continues
}
