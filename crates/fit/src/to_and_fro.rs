//! Full speed of a load that began slow, and went to and fro since: up to one speed each time, as under a relay.
//!
//! What a regulator comes up to is no such speed: it does not stand there.

use crate::data::median;
use crate::speed::FittedSpeed;

/// A load was slow below this share of the fastest.
const SLOW: f64 = 0.9;
/// It came up to that so often, for so many seconds without the first and the last.
const VISITS: usize = 2;
const STAYED_S: usize = 4;
/// How far such a speed may be off, as a share.
const SD: f64 = 0.0075;

/// Full speed by seconds of a load that are no further than `off` from the fastest.
pub(crate) fn full<'a>(
    stretches: impl Iterator<Item = &'a [f64]>,
    fastest: f64,
    off: f64,
) -> Option<FittedSpeed> {
    let is_fast = |speed: &f64| *speed > SLOW * fastest;
    let mut speeds = Vec::new();
    for stretch in stretches {
        let visits = stretch.chunk_by(|a, b| is_fast(a) == is_fast(b));
        let inner = visits
            .filter(|visit| is_fast(&visit[0]) && visit.len() >= STAYED_S + 2)
            .map(|visit| &visit[1..visit.len() - 1]);
        let even = |visit: &&[f64]| visit.iter().all(|speed| (speed - fastest).abs() < off);
        let visits: Vec<&[f64]> = inner.filter(even).collect();
        if visits.len() >= VISITS {
            speeds.extend(visits.into_iter().flatten().copied());
        }
    }
    let value = median(&speeds)?;
    Some(FittedSpeed { value, sd: SD * value, seen: true })
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: the upper of two speeds is full speed, the top of a swing is not, nor what was reached once.
    #[test]
    fn a_speed_that_a_load_comes_back_to_is_full_speed() {
        let of = |speeds: &[f64]| full([speeds].into_iter(), 3.0, 0.05).map(|full| full.value);
        let visit = [[0.3; 20].as_slice(), &[3.0; 10]].concat();
        assert_eq!(of(&[visit.clone(), visit.clone(), vec![0.3; 20]].concat()), Some(3.0));
        assert_eq!(of(&[visit, vec![0.3; 20]].concat()), None);
        let swings: Vec<f64> = (0..120).map(|t| 2.0 + (f64::from(t) * 0.2).sin()).collect();
        assert_eq!(of(&swings), None);
    }
}
