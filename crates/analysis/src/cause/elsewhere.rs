//! What other runs of the drive say of a fall: where heat is behind it, it begins at the same temperature in a warmer room, only sooner; a
//! full cache, or a clock, strikes after the same time, however warm the drive is by then.

use super::case::Case;
use super::evidence::Evidence;
use super::evidence::Suspect::{Slc, Vendor};
use super::heat::LATE_S;
use super::likelihood::{ONE_THRESHOLD_K, seen_once};
use crate::observation::Observation;

/// Times this far apart are two, and as near as that they are one; rows blur them.
const OTHER_TIME: f64 = 1.25;
const SAME_TIME: f64 = 1.03;
const ROWS: f64 = 2.0;
/// Temperatures this far apart are no single threshold, whatever the sensor.
const OTHER_K: f64 = 4.0;
/// Two falls agree in temperature as well by chance as often as what they are apart, to either side and at least a rounding, is a share of
/// what the drive went through.
const ROUNDING_K: f64 = 1.0;
const MOST: f64 = 3.0;
/// So many runs say it.
const MOST_RUNS: usize = 3;
/// A cache that ends after other amounts in each run had been filled in part before.
const OTHER_AMOUNT: f64 = -1.5;
const SAME_TIME_WEIGHT: f64 = 2.5;
/// Another run was hotter at full speed: as of [`super::course`].
const RAN_HOTTER: f64 = -3.0;

/// Weighs what others show of a drop that began at `onset_k`.
pub(super) fn weigh(case: &Case, onset_k: f64, evidence: &mut Evidence) {
    let Some(before) = case.drop.before.filter(|_| !case.drop.at_start && case.drop.inside.is_none()) else {
        return;
    };
    let (op, what) = (case.op, case.phase.what.as_str());
    let shared = seen_once(case.alike);
    // A sensor that is late lags by what the drive warms up by meanwhile.
    let late_k =
        case.heat.nearest_k(case.start_s() - LATE_S).map_or(0.0, |before_k| (onset_k - before_k).max(0.0));
    let hotter = |to_k: &f64| *to_k >= onset_k + OTHER_K + late_k;
    if let Some(to_k) = case.others.hottest_k(op, what, before).filter(hotter) {
        evidence.weigh_heat(Observation::RanHotterElsewhere { to_k }, RAN_HOTTER * shared, &[]);
    }
    let fast_s = case.start_s() - case.phase.start_s;
    let falls = case.others.first_falls(op, what, before);
    let weighed = falls.filter_map(|fall| {
        let apart_k = (fall.from_k - onset_k).abs();
        let ratio = (fast_s / fall.fast_s).max(fall.fast_s / fast_s);
        let apart_s = (fast_s - fall.fast_s).abs();
        let rows_s = ROWS * case.heat.slice_s;
        let one_k = apart_k <= ONE_THRESHOLD_K.max(2.0 * case.spread_k());
        let weight = if one_k && ratio >= OTHER_TIME && apart_s > rows_s {
            let agree_k = 2.0 * apart_k.max(ROUNDING_K);
            ((onset_k - case.history.coolest_k) / agree_k).ln().clamp(0.0, MOST)
        } else if fall.same_settings && apart_k >= OTHER_K && (ratio <= SAME_TIME || apart_s <= rows_s) {
            -SAME_TIME_WEIGHT
        } else {
            return None;
        };
        Some((fall, weight))
    });
    let mut weighed: Vec<_> = weighed.collect();
    weighed.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let Some((fall, plainest)) = weighed.first().copied() else { return };
    // Several runs say it for one drive: the plainest counts in full, the next that agree with it a half, a third and so on.
    let agreed = weighed.iter().filter(|(_, weight)| weight * plainest > 0.0);
    let weight: f64 = agreed.take(MOST_RUNS).zip(1..).map(|((_, weight), nth)| weight / f64::from(nth)).sum();
    let seen = Observation::FellElsewhere { from_k: fall.from_k, fast_s, elsewhere_s: fall.fast_s };
    let cache = if weight > 0.0 { OTHER_AMOUNT } else { 0.0 };
    match weighed.iter().any(|(fall, _)| fall.same_settings) {
        true => evidence.weigh_heat(seen, weight * shared, &[(Slc, cache * shared)]),
        // With other thresholds of the host's, only one of the drive's own is there again.
        false => evidence.weigh(seen, &[(Vendor, weight * shared), (Slc, cache * shared)]),
    }
}
