//! Names what comes again and again and is not heat: housekeeping like clockwork, or work in the background.
//!
//! The name weighs nothing: what a drop was is decided before; only [`clockwork`] weighs. A drive's own upkeep (wear levelling, refresh, metadata) may run on a timer;
//! garbage collection runs when free blocks are short, so at no fixed interval. Which of them it is cannot be seen from outside:
//! the sentences say what fits.

use super::Judged;
use super::evidence::{Conclusion, Suspect};
use super::heat::Heat;
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

/// Temperatures this far apart are no single threshold.
const HOT_AND_COOL_K: f64 = 5.0;
/// What like clockwork, hot or cool, weighs for anything else: it comes within a tenth of a period where chance would
/// within a whole one.
const CLOCKWORK: f64 = 2.3;

/// Weighs that drops come like clockwork, from cool to hot: a threshold would not let them begin before it is reached, and
/// a drive that goes to and fro at one is slower the hotter its case.
pub(super) fn clockwork(judged: &mut [Judged], heat: &Heat) {
    let comes_back = |judged: &Judged| {
        judged.drop.recovered
            && !judged.drop.at_start
            && judged.drop.inside.is_none()
            && judged.onset_k.is_some()
    };
    let all: Vec<usize> = (0..judged.len()).filter(|i| comes_back(&judged[*i])).collect();
    let began_s: Vec<f64> = all.iter().map(|i| judged[*i].start_s).collect();
    let Some(period_s) = regular_s(&began_s) else { return };
    let Some(([low, high], swing_k)) = peaks_k(&began_s, heat) else { return };
    if high - low < HOT_AND_COOL_K + swing_k {
        return;
    }
    let seen = Observation::Clockwork { times: all.len(), period_s, between_k: [low, high] };
    for index in all {
        judged[index].evidence.weigh(seen.clone(), &[(Suspect::Other, CLOCKWORK)]);
    }
}

/// Names each dip of a habit.
pub(super) fn tell(judged: &mut [Judged]) {
    let habit: Vec<usize> = (0..judged.len()).filter(|i| is_dip(&judged[*i])).collect();
    if habit.len() < LEAST {
        return;
    }
    let seen = Observation::Recurs {
        times: habit.len(),
        period_s: period_s(judged),
        between_k: range_k(judged, &habit),
    };
    for index in habit {
        judged[index].evidence.weigh_row(seen.clone(), [0.0; 5]);
        judged[index].verdict = judged[index].evidence.verdict();
    }
}

/// The coolest and the hottest peak between drops that began at these times, and how far it usually went down and up from one
/// to the next, in kelvins; `None` without any temperature. At a threshold the peaks are the same each time, however late the
/// sensor, but for what it missed of the swing.
fn peaks_k(began_s: &[f64], heat: &Heat) -> Option<([f64; 2], f64)> {
    let range = |pair: &[f64]| {
        let kelvin = heat.within(pair[0], pair[1]).iter().map(|p| p.value);
        kelvin.map(|k| [k, k]).reduce(|[low, high], [k, _]| [low.min(k), high.max(k)])
    };
    let cycles: Vec<[f64; 2]> = began_s.windows(2).filter_map(range).collect();
    let peaks =
        cycles.iter().map(|[_, high]| [*high; 2]).reduce(|[low, high], [k, _]| [low.min(k), high.max(k)])?;
    Some((peaks, median(&cycles.iter().map(|[low, high]| high - low).collect::<Vec<f64>>())))
}

/// The coolest and the hottest beginning of these, in kelvins; `None` without any temperature.
fn range_k(judged: &[Judged], of: &[usize]) -> Option<[f64; 2]> {
    let kelvin = of.iter().filter_map(|i| judged[*i].onset_k);
    kelvin.map(|k| [k, k]).reduce(|[low, high], [k, _]| [low.min(k), high.max(k)])
}

/// The period of dips that are not heat, in seconds, where they come like clockwork.
pub(crate) fn period_s(judged: &[Judged]) -> Option<f64> {
    let began_s: Vec<f64> = judged.iter().filter(|j| is_dip(j)).map(|j| j.start_s).collect();
    regular_s(&began_s)
}

/// The period at which these come, in seconds, where it is like clockwork.
fn regular_s(began_s: &[f64]) -> Option<f64> {
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
