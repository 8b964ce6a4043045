//! How far the model misses its own runs, and what that leaves of a forecast: wider intervals, and a caveat.

use super::{ForecastCaveat, MODEL_K, Ranged, full_speed};
use crate::check::Misfit;
use crate::fitted::Fitted;
use crate::heat::beyond_rounding_k;
use crate::simulate::LoadPhase;

/// Readings that miss the heat by so many kelvins rms beyond their rounding are those of a model that is off by what every
/// forecast is ([`MODEL_K`]).
const MISFIT_K: f64 = 0.05;
/// Least and most that the misfit counts: a right model has nothing to miss, and much of a large one is the sensor's noise.
const MISFIT: [f64; 2] = [0.2, 3.0];
/// A heat model that does not fit is off by what its readings miss it by, one in ten by more: as of a normal distribution.
const ONE_IN_TEN: f64 = 1.645;

/// How far the model is off, over what [`MODEL_K`] and its like say: by what the readings miss it.
pub(super) fn factor(fitted: &Fitted) -> f64 {
    let missed_k = beyond_rounding_k(fitted.residual_rms_k, fitted.resolution_k);
    f64::hypot(MISFIT[0], missed_k / MISFIT_K).min(MISFIT[1])
}

/// The same in kelvins.
pub(crate) fn model_k(fitted: &Fitted) -> f64 {
    let missed_k = beyond_rounding_k(fitted.residual_rms_k, fitted.resolution_k);
    let doubtful_k = if fitted.is_doubtful() { ONE_IN_TEN * missed_k } else { 0.0 };
    (MODEL_K * factor(fitted)).max(doubtful_k)
}

/// The speed of a phase, as wide as what the model misses that operation by in its own runs, and no faster than it can be.
pub(super) fn widened(fitted: &Fitted, phase: &LoadPhase, speed: Ranged) -> Ranged {
    let Some(read) = phase.read_share else { return speed };
    let ops = [read > 0.0, read < 1.0];
    let full = full_speed(&fitted.best, fitted, phase);
    let throttles = fitted.misfits.iter().filter_map(|misfit| match misfit {
        Misfit::Throttle { off, mixed: true, .. } if ops == [true; 2] => Some(1.0 + off),
        Misfit::Throttle { off, writes, mixed: false } if ops[usize::from(*writes)] => Some(1.0 + off),
        _ => None,
    });
    throttles.fold(speed, |Ranged { value, low, high }, times| {
        let as_measured = value / times.max(f64::MIN_POSITIVE);
        Ranged { value, low: low.min(as_measured), high: high.max(as_measured.min(full)) }
    })
}

/// That the fit misses its own runs.
pub(super) fn caveat(fitted: &Fitted) -> Option<ForecastCaveat> {
    let misses: Vec<String> = fitted.misfits.iter().map(Misfit::sentence).collect();
    let text = format!(
        "The fitted drive does not do all that its runs did, and intervals are as wide as that. {}",
        misses.join(" ")
    );
    (!misses.is_empty()).then_some(ForecastCaveat { kind: "misfit", text })
}
