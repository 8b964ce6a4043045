//! How much cooling a limit takes: cooler air, or a heatsink of so many K/W and what such a part is like.
//!
//! A part is told by the surface that it takes, `A = 1 / (h R)`: surfaces are geometry, while data sheets of M.2 heatsinks
//! state no K/W. `h` is the heat transfer coefficient of Incropera and DeWitt, Fundamentals of Heat and Mass Transfer,
//! table 1.1: 2 to 25 W/m2K for free convection of gases, 25 to 250 for forced.

use serde::Serialize;

use crate::fitted::Fitted;
use crate::predict::scenario::Scenario;
use crate::predict::{Forecast, predict_with};
use crate::simulate::LoadPhase;

/// Still air around a small warm body, radiation included.
const STILL_W_PER_M2_K: f64 = 10.0;
/// A slow fan at arm's length: twice the least of forced convection.
const FAN_W_PER_M2_K: f64 = 50.0;
/// Air that is looked at is cooler by at most this, in kelvins: from a hot case to a cold room.
const MOST_COOLER_K: f64 = 30.0;
/// Heatsinks that are looked at, in K/W: from a heat pipe with a fan to a strip of foil.
const HEATSINKS_K_PER_W: (f64, f64) = (0.5, 200.0);
/// Samples that look, and looks of a search.
const SAMPLES: usize = 12;
const LOOKS: usize = 7;

/// What cooling a limit takes.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema)]
pub struct CoolingNeed {
    /// Air that is cooler by so many kelvins is enough; `None` where 30 K are not.
    pub cooler_k: Option<f64>,
    /// Whether power and ambient of the runs are known, without which no heatsink has a size.
    pub is_sized: bool,
    /// A heatsink of so many K/W is enough; `None` where none is.
    pub heatsink_k_per_w: Option<f64>,
    /// Surface of such a heatsink in still air, in cm2.
    pub still_cm2: Option<f64>,
    /// The same with a fan on it, in cm2.
    pub fan_cm2: Option<f64>,
    /// Common parts with that surface.
    pub part: Option<&'static str>,
}

/// The least cooling with which `holds`.
pub(crate) fn need(
    fitted: &Fitted,
    at: &Scenario,
    load: &[LoadPhase],
    holds: impl Fn(&Forecast) -> bool,
) -> CoolingNeed {
    let look = |scenario: Scenario| holds(&predict_with(fitted, &scenario, load, SAMPLES));
    // Both searches: from what surely is enough towards what is not any more.
    let search =
        |mut enough: f64, mut not: f64, middle: fn(f64, f64) -> f64, of: &dyn Fn(f64) -> Scenario| {
            if !look(of(enough)) {
                return None;
            }
            for _ in 0..LOOKS {
                let between = middle(enough, not);
                if look(of(between)) { enough = between } else { not = between }
            }
            Some(enough)
        };
    let cooler_k = search(MOST_COOLER_K, 0.0, |a, b| 0.5 * (a + b), &|cooler_k| Scenario {
        warmer_k: at.warmer_k - cooler_k,
        ..*at
    });
    let known = fitted.k_per_w().is_some() && fitted.common.ambient_k.is_some();
    let (least, most) = HEATSINKS_K_PER_W;
    let sink = |k_per_w| Scenario { heatsink_k_per_w: Some(k_per_w), ..*at };
    let heatsink_k_per_w = known.then(|| search(least, most, |a, b| f64::sqrt(a * b), &sink)).flatten();
    let cm2 = |h: f64| heatsink_k_per_w.map(|k_per_w| 1e4 / (h * k_per_w));
    let still_cm2 = cm2(STILL_W_PER_M2_K);
    CoolingNeed {
        cooler_k,
        is_sized: known,
        heatsink_k_per_w,
        still_cm2,
        fan_cm2: cm2(FAN_W_PER_M2_K),
        part: still_cm2.map(part),
    }
}

/// Common parts by their surface, from their dimensions: a plate of 22 x 70 mm has 15 cm2 on one side; with eight fins of
/// 2 mm it has 40, of 7 mm 95, of 20 mm 240.
fn part(cm2: f64) -> &'static str {
    match cm2 {
        cm2 if cm2 <= 20.0 => "a flat plate or pad to the case, 22 x 70 mm",
        cm2 if cm2 <= 50.0 => "a low M.2 heatsink, fins of 2 mm",
        cm2 if cm2 <= 120.0 => "an M.2 heatsink with fins of 7 mm",
        cm2 if cm2 <= 300.0 => "a tall M.2 heatsink with fins of 20 mm, or one with a heat pipe",
        _ => "more surface than M.2 heatsinks have: a fan, or the wall of a metal case",
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Worked example of METHODS: 20 K/W is 50 cm2 in still air, 10 with a fan.
    #[test]
    fn surfaces_are_those_of_the_formula() {
        let cm2 = |h: f64| 1e4 / (h * 20.0);
        assert_eq!((cm2(STILL_W_PER_M2_K), cm2(FAN_W_PER_M2_K)), (50.0, 10.0));
        assert_eq!(part(50.0), "a low M.2 heatsink, fins of 2 mm");
        assert!(part(f64::INFINITY).contains("fan"));
    }
}
