//! A temperature that stood at its highest while speed changed: a regulator clips it so, and a load that swells and ebbs shows no onset.

use crate::COOL_K;
use crate::cause::heat::Heat;
use crate::segment::{Stretch, median_and_deviation};

/// It has to stand for so long, as a case warms up for as long; and this share of it at both ends is the way there and back.
const LEAST_S: f64 = 1800.0;
const EDGE: f64 = 0.125;
/// Speeds are compared in so many parts of that, ...
const PARTS: usize = 6;
/// ... and with another time as long as one, cooler by so much and at no more than this share of the speed, which shows what speed does to the
/// temperature.
const COOLER_K: f64 = 8.0;
const SLOWER: f64 = 0.8;
/// What changed by so many standard errors less, would have moved the temperature by this beside what the sensor hides.
const ERRORS: f64 = 3.0;
const SHOWS_K: f64 = 1.0;

/// Whether the temperature of a load stood at the highest of all though speed changed by more than it would have stood.
pub(super) fn stood_at_hottest(heat: &Heat, stretches: &[Stretch], hottest_k: f64) -> bool {
    let loads = stretches.iter().filter(|stretch| stretch.op.moves_data());
    hottest_k >= COOL_K && loads.into_iter().any(|stretch| is_clipped(heat, stretch, hottest_k))
}

fn is_clipped(heat: &Heat, stretch: &Stretch, hottest_k: f64) -> bool {
    let Some((from_s, to_s)) = longest_at(heat, stretch, hottest_k) else { return false };
    let (edge_s, part_s) = (EDGE * (to_s - from_s), (1.0 - 2.0 * EDGE) * (to_s - from_s) / PARTS as f64);
    let at = |part: usize| from_s + edge_s + part as f64 * part_s;
    let parts: Option<Vec<Part>> =
        (0..PARTS).map(|part| Part::new(heat, stretch, at(part), part_s)).collect();
    let Some((parts, cool)) = parts.zip(coolest(heat, stretch, part_s)) else { return false };
    let speed = || parts.iter().map(|part| part.speed);
    let (fastest, slowest) = (speed().fold(0.0, f64::max), speed().fold(f64::INFINITY, f64::min));
    let temp_k = || parts.iter().map(|part| part.temp_k);
    let (high_k, low_k) = (temp_k().fold(0.0, f64::max), temp_k().fold(f64::INFINITY, f64::min));
    if cool.temp_k > low_k - COOLER_K || cool.speed > SLOWER * slowest {
        return false;
    }
    let k_per_speed = (low_k - cool.temp_k) / (slowest - cool.speed);
    let error = parts.iter().map(|part| part.error).fold(0.0, f64::max);
    let would_move_k = (fastest - slowest - ERRORS * error) * k_per_speed;
    // A reading that goes to and fro between two steps shows where between them it stands.
    let steps = parts.iter().any(|part| part.stands);
    would_move_k >= SHOWS_K + (high_k - low_k).max(if steps { heat.hides_k() } else { 0.0 })
}

/// From when to when the temperature of a load was longest at the hottest, but for what a sensor hides, in seconds.
fn longest_at(heat: &Heat, stretch: &Stretch, hottest_k: f64) -> Option<(f64, f64)> {
    let readings = heat.within(stretch.start_s(), stretch.end_s());
    let at_it = |k: f64| k >= hottest_k - heat.hides_k().max(heat.step_k);
    let runs = readings.chunk_by(|a, b| at_it(a.value) && at_it(b.value));
    let span_s = |run: &[measure::Point<f64>]| match run {
        [first, .., last] => (first.t.as_secs_f64(), last.t.as_secs_f64()),
        _ => (0.0, 0.0),
    };
    let longest = runs.map(span_s).max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    longest.filter(|(from_s, to_s)| to_s - from_s >= LEAST_S)
}

/// A part of a load.
struct Part {
    /// Usual speed in bytes per second, and the standard error of that.
    speed: f64,
    error: f64,
    /// Mean temperature in kelvins, and whether all readings were the same.
    temp_k: f64,
    stands: bool,
}

impl Part {
    /// That from `from_s` on; `None` where it has no speed or temperature.
    fn new(heat: &Heat, stretch: &Stretch, from_s: f64, span_s: f64) -> Option<Self> {
        let speeds = stretch.speeds(from_s, from_s + span_s);
        let kelvin: Vec<f64> = heat.within(from_s, from_s + span_s).iter().map(|p| p.value).collect();
        if speeds.is_empty() || kelvin.is_empty() {
            return None;
        }
        let (speed, deviation) = median_and_deviation(&speeds);
        let temp_k = kelvin.iter().sum::<f64>() / kelvin.len() as f64;
        let stands = kelvin.iter().all(|k| *k == kelvin[0]);
        Some(Self { speed, error: deviation / (speeds.len() as f64).sqrt(), temp_k, stands })
    }
}

/// The coolest part of a load of so many seconds.
fn coolest(heat: &Heat, stretch: &Stretch, span_s: f64) -> Option<Part> {
    let parts = ((stretch.end_s() - stretch.start_s()) / span_s) as usize;
    let of = |part: usize| Part::new(heat, stretch, stretch.start_s() + part as f64 * span_s, span_s);
    (0..parts).filter_map(of).min_by(|a, b| a.temp_k.total_cmp(&b.temp_k))
}
