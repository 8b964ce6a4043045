//! How load becomes temperature: kelvins for each GB/s and time constants, each with its 90 % interval.
//!
//! [`poles`] finds the drives that the readings allow; a number is given where they agree, with the range in which
//! nine tenths of them lie.
//!
//! # What it does not do
//! It knows speeds, not watts, so it cannot tell a drive's thermal resistance from its energy for each byte.
//! `heatsoak fit` asks more of a run, and takes longer.

mod data;
mod poles;
mod shape;
mod two;

pub use self::two::two_time_constants;

use self::data::ThermalData;
use self::poles::PoleDrive;
use self::two::are_within_search;
use crate::cause::heat::Heat;
use crate::findings::{Caveat, Thermal};
use trace::Trace;
use trace::caveat::HeatingUnknown;

/// Rounding leaves 0.29 of a sensor's resolution, trials with a right model left up to 0.36 of it.
const MOST_MISFIT: f64 = 0.6;
/// A gain is given when its interval reaches no further than by this factor from end to end, a time constant likewise.
const GAIN_KNOWN: f64 = 1.6;
const TAU_KNOWN: f64 = 4.0;
/// Fixed time constants are a factor of two apart: what lies between two is blurred by so much, on both sides. A gain besides, as heat for
/// each byte is no constant: hot chips leak. Of 139 intervals on drives by others' simulators 112 hold at 1.01, and 127 do at this.
const GAIN_BLUR: f64 = 1.03;
const TAU_BLUR: f64 = 1.08;
/// The temperature without load, in kelvins from end to end.
const FLOOR_KNOWN_K: f64 = 3.0;
/// A drive under load is no cooler than at rest: a model that has it so much warmer at rest than it was read, in kelvins, is of another drive.
/// So it is where a throttle slows the drive down as its room warms up, as then the drive is hottest while little moves.
const ABOVE_COOLEST_K: f64 = 3.0;

/// The thermal numbers, and why they are missing where they are; `unread` is the share of time without a speed.
pub(crate) fn thermal(trace: &Trace, heat: &Heat, unread: f64) -> (Thermal, Option<Caveat>) {
    // Where no speed was recorded, nobody knows what warmed the drive, or whether it was idle.
    if trace.speeds.iter().all(|series| series.intervals.is_empty()) {
        return (Thermal::default(), None);
    }
    let nothing = |why| (Thermal::default(), Some(Caveat::ThermalNotIdentified(why)));
    let data = match ThermalData::new(trace, heat, unread) {
        Ok(data) => data,
        Err(why) => return nothing(why),
    };
    let (drives, rms_k) = poles::drives(&data);
    if misses_readings(rms_k, data.step_k) {
        return nothing(HeatingUnknown::ModelOff { rms_k });
    }
    let range = |of: &dyn Fn(&PoleDrive) -> f64| range(drives.iter().map(of));
    let (floor_k, low_k, high_k) = range(&|drive| drive.floor_k);
    let coolest_k = data.coolest_k();
    if floor_k > coolest_k + ABOVE_COOLEST_K {
        return nothing(HeatingUnknown::WarmerAtRest { floor_k, coolest_k });
    }
    let by_load = data.is_warmed_by_load([0, 1].map(|op: usize| range(&|drive| drive.gain_k[op]).0));
    let gain = |op: usize| {
        let (value, low, high) = blurred(range(&|drive| drive.gain_k[op]), GAIN_BLUR);
        (data.is_loaded(op) && by_load && high <= GAIN_KNOWN * low).then_some((value, [low, high]))
    };
    let (write, read) = (gain(0), gain(1));
    // A sensor's lag and a fast part of the drive look the same from outside: both are held possible.
    // What takes an hour is beyond two that a load shows.
    let usual: Vec<&PoleDrive> = drives.iter().filter(|drive| !drive.slow).collect();
    let pairs = usual
        .iter()
        .flat_map(|drive| [false, true].map(|seen| two_time_constants(|t_s| drive.risen(t_s, seen))));
    let pairs: Vec<[f64; 2]> = pairs.collect();
    let tau = |i: usize| self::range(pairs.iter().map(|pair| pair[i]));
    let taus = (2 * usual.len() >= drives.len()).then(|| [tau(0), tau(1)]);
    // An interval that ends with the search has one end only.
    let taus = taus.filter(|[(_, low, _), (.., high)]| are_within_search(*low, *high));
    let taus = taus.map(|taus| taus.map(|tau| blurred(tau, TAU_BLUR)));
    let taus = taus.filter(|taus| taus.iter().all(|(_, low, high)| *high <= TAU_KNOWN * low));
    let thermal = Thermal {
        kelvin_per_gb_per_s_write: write.map(|(value, _)| value),
        kelvin_per_gb_per_s_write_90: write.map(|(_, interval)| interval),
        kelvin_per_gb_per_s_read: read.map(|(value, _)| value),
        kelvin_per_gb_per_s_read_90: read.map(|(_, interval)| interval),
        tau_s: taus.map(|taus| taus.map(|(value, ..)| value).to_vec()),
        tau_s_90: taus.map(|taus| taus.map(|(_, low, high)| [low, high]).to_vec()),
        idle_floor_k: (high_k - low_k <= FLOOR_KNOWN_K).then_some(floor_k),
    };
    let gain_missing = (0..2).any(|op| data.is_loaded(op) && [write, read][op].is_none());
    let open = match (gain_missing, taus.is_some()) {
        (true, _) => Some(HeatingUnknown::SeveralModels),
        (false, false) => Some(HeatingUnknown::TimeConstants),
        (false, true) => None,
    };
    (thermal, open.map(Caveat::ThermalNotIdentified))
}

/// Whether readings miss a model of heat by more than their resolution explains: by `rms_k` kelvins as a root mean square, where they come in
/// steps of `resolution_k`. Then the model is wrong, and neither its numbers nor a forecast by it are given.
pub fn misses_readings(rms_k: f64, resolution_k: f64) -> bool {
    rms_k > MOST_MISFIT * resolution_k.max(1.0)
}

/// A value with its interval, further apart by a factor on both sides.
fn blurred((value, low, high): (f64, f64, f64), by: f64) -> (f64, f64, f64) {
    (value, low / by, high * by)
}

/// Median, 5 % and 95 %.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64, f64) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(0.5), at(0.05), at(0.95))
}
