//! Whether a steady-state rule over rounds would say one thing or the other by the length of its rounds alone.
//!
//! A speed that dips at a fixed interval is steady in rounds of whole intervals and not in shorter ones. Heat that goes to and fro is told by
//! [`crate::caveats`]; here are dips that are not heat.
//!
//! It tries the rule of [`crate::steady`] on the load with most dips, and says nothing where all lengths agree.

use crate::cause::Judged;
use crate::cause::recurring;
use crate::findings::Caveat;
use crate::segment::Stretch;
use crate::steady;
use trace::caveat::Cycles;

/// Lengths that are tried, in periods.
const LENGTHS: [f64; 5] = [0.125, 0.25, 0.5, 1.0, 2.0];
/// A round holds at least so many slices of load, or it is noise.
const LEAST_SLICES: f64 = 2.0;

/// The caveat, where the answer depends on the length of a round; times of drops are rounded to `rounded_s`.
pub(crate) fn caveat(stretches: &[Stretch], judged: &[Judged], rounded_s: f64) -> Option<Caveat> {
    let heat = judged.iter().filter(|j| j.verdict.conclusion.is_heat() && !j.continues).count();
    // Where heat comes as often, speed is not steady for its sake.
    if 2 * heat > judged.iter().filter(|j| !j.continues).count() {
        return None;
    }
    let period_s = recurring::period_s(judged, rounded_s)?;
    let stretch = stretches.iter().max_by(|a, b| {
        let long = |s: &Stretch| s.end_s() - s.start_s();
        long(a).total_cmp(&long(b))
    })?;
    let slice_s = stretch.samples.iter().map(|s| s.span_s).sum::<f64>() / stretch.samples.len() as f64;
    let lengths = LENGTHS.iter().map(|periods| periods * period_s).filter(|s| *s >= LEAST_SLICES * slice_s);
    let shares: Vec<(f64, f64)> =
        lengths.filter_map(|round_s| Some((round_s, steady_share(stretch, round_s)?))).collect();
    let least = shares.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = shares.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (least.1 < 0.5 && most.1 >= 0.5).then_some(Caveat::Cyclostationary(Cycles::Dips {
        period_s,
        round_s: [least.0, most.0],
        steady_share: [least.1, most.1],
    }))
}

/// The share of windows in steady state with rounds of this length; `None` where there is no window.
fn steady_share(stretch: &Stretch, round_s: f64) -> Option<f64> {
    let count = ((stretch.end_s() - stretch.start_s()) / round_s) as usize;
    // More rounds than samples are none: work follows the samples, and not the time between them.
    if count > stretch.samples.len() {
        return None;
    }
    let mut sums = vec![(0.0, 0.0); count];
    for sample in stretch.samples.iter() {
        let middle_s = sample.start_s + sample.span_s / 2.0 - stretch.start_s();
        if let Some((bytes, seconds)) = sums.get_mut((middle_s / round_s) as usize) {
            *bytes += sample.bytes;
            *seconds += sample.span_s;
        }
    }
    let rounds: Vec<f64> = sums.iter().map(|(bytes, seconds)| bytes / f64::max(*seconds, 1e-9)).collect();
    let windows: Vec<bool> =
        (0..rounds.len()).filter_map(|first| steady::window(&rounds, first)).map(|w| w.is_steady()).collect();
    let steady = windows.iter().filter(|steady| **steady).count();
    (!windows.is_empty()).then(|| steady as f64 / windows.len() as f64)
}
