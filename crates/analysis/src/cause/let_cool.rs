//! Speed that falls from where it held a temperature, and lets the drive cool: what holds a temperature gives speed back as it falls.

use super::case::{Case, OTHER_THRESHOLD_K, SETTLING_S};
use super::course::LATE;
use super::evidence::Evidence;
use super::likelihood::part_way;
use crate::observation::Observation;

/// The temperature was held where its readings lay within so much, or a step of the sensor, for [`SETTLING_S`] and so many readings.
const HELD_K: f64 = 1.0;
const LEAST_READINGS: usize = 4;
/// A held temperature that falls by so much, from and in full from, is held no more. Regulators overshoot by three kelvins or so.
const LETS_COOL_K: [f64; 2] = [5.0, 10.0];
const LETS_COOL: f64 = 5.0;

/// Weighs that a drop within another one fell at once from where the temperature was held, and let the drive cool.
pub(super) fn weigh(case: &Case, evidence: &mut Evidence) {
    let Some(held_k) = held_k(case).filter(|_| case.fell_at_once()) else { return };
    let Some(late_k) = case.median_k(case.part(LATE, 1.0)) else { return };
    let weight = -LETS_COOL * part_way(held_k - late_k, LETS_COOL_K);
    if weight < 0.0 {
        evidence.weigh_heat(Observation::FellFromHeld { held_k, late_k }, weight, &[]);
    }
}

/// The temperature that was held just before, in kelvins, while the drive was slow already. What it is held at is where it began to be slow:
/// what has got hotter may meet a further threshold.
fn held_k(case: &Case) -> Option<f64> {
    let outer_k = case.outer_k?;
    let readings = case.heat.within(case.start_s() - SETTLING_S, case.start_s());
    let kelvin = || readings.iter().map(|reading| reading.value);
    let (low_k, high_k) = (kelvin().fold(f64::INFINITY, f64::min), kelvin().fold(0.0, f64::max));
    let apart_k = OTHER_THRESHOLD_K.max(case.heat.step_k);
    let stands = high_k - low_k <= HELD_K.max(case.heat.step_k) && high_k <= outer_k + apart_k;
    let stands = stands && readings.len() >= LEAST_READINGS;
    stands.then_some(high_k)
}
