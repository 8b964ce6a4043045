//! Drops that keep the time of a clock that somebody has set: every half minute, to the second, for as long as they come.
//!
//! A drive that goes to and fro at a threshold takes as long as it takes, and a little more or less as its case warms up and cools. That
//! its cycles keep to a whole number of seconds that people choose is luck, the rarer the longer they do.

use super::Judged;
use super::evidence::Suspect;
use super::likelihood::seen_once;
use super::recurring;
use super::shape;
use crate::observation::Observation;

/// So many beats and more are counted.
const LEAST: usize = 5;
/// Drives that act in bursts do so to a clock of their own: every ten seconds or quicker.
const LEAST_S: f64 = 15.0;
/// People choose multiples of the first up to the second, in seconds.
const CHOSEN_S: [(f64, f64); 3] = [(5.0, 60.0), (30.0, 600.0), (300.0, f64::INFINITY)];
/// A beginning is known to a slice; and what it is rounded to besides, in seconds.
const ROUNDED_S: f64 = 0.1;
/// Of clocks, so many keep a chosen time; and so much it weighs at most, once for all of them.
const KEEPS: f64 = 0.5;
const MOST: f64 = 6.0;

/// Weighs that drops of one kind keep a time that people choose.
pub(super) fn weigh(judged: &mut [Judged], slice_s: f64) {
    let began_fast = |judged: &Judged| recurring::came_back(judged) && !judged.drop.at_start;
    let any: Vec<usize> = (0..judged.len()).filter(|at| began_fast(&judged[*at])).collect();
    let kind = shape::of_one_kind(&any, |at| judged[at].shape);
    let began_s: Vec<f64> = kind.iter().map(|at| judged[*at].start_s).collect();
    let Some((period_s, weight)) = chosen(&began_s, slice_s) else { return };
    let shared = weight * seen_once(kind.len());
    for at in &kind {
        let seen = Observation::KeptTime { times: kind.len(), period_s };
        judged[*at].evidence.weigh(seen, &[(Suspect::Other, shared)]);
    }
}

/// The period that these keep, in seconds, and what that weighs for anything but heat; `None` where they keep none that people choose.
pub(super) fn chosen(began_s: &[f64], slice_s: f64) -> Option<(f64, f64)> {
    let (first_s, last_s) = (began_s.first()?, began_s.last()?);
    let gaps_s: Vec<f64> = began_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let usual_s = crate::segment::median(&gaps_s);
    let (step_s, _) = CHOSEN_S.iter().find(|(_, up_to_s)| usual_s < *up_to_s)?;
    let period_s = (usual_s / step_s).round() * step_s;
    let slack_s = slice_s + ROUNDED_S;
    let keeps = |at_s: &f64| {
        let since_s = at_s - first_s;
        (since_s - (since_s / period_s).round() * period_s).abs() <= slack_s
    };
    let beats = (last_s - first_s) / period_s;
    let known = began_s.len() >= LEAST && period_s >= LEAST_S.max(4.0 * slice_s) && began_s.iter().all(keeps);
    // A period that is any is as near to a chosen one, all the way, so rarely.
    let by_luck = 2.0 * slack_s / (beats * step_s);
    let weight = (KEEPS / by_luck).ln().min(MOST);
    (known && weight > 0.0).then_some((period_s, weight))
}

#[cfg(test)]
mod test {
    use super::*;

    fn beats(period_s: f64, times: u32) -> Vec<f64> {
        (0..times).map(|beat| (1201.0 + f64::from(beat) * period_s).floor()).collect()
    }

    /// Goal: what people choose is told from what a drive takes, and the longer it is kept the more it weighs.
    #[test]
    fn a_chosen_period_is_kept_and_another_is_none() {
        let weighs =
            |period_s: f64, times: u32| chosen(&beats(period_s, times), 1.0).map(|(_, weight)| weight);
        assert_eq!(chosen(&beats(30.0, 40), 1.0).map(|(period_s, _)| period_s), Some(30.0));
        assert!(weighs(30.0, 40) > weighs(30.0, 10), "{:?} {:?}", weighs(30.0, 40), weighs(30.0, 10));
        assert_eq!(weighs(31.7, 40), None);
        assert_eq!(weighs(30.2, 40), None);
        assert_eq!(weighs(10.0, 40), None, "bursts of a drive's own");
        assert_eq!(weighs(30.0, 4), None);
    }
}
