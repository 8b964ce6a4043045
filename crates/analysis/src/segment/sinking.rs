//! Where a speed that gives way little by little begins to.
//!
//! A piecewise-constant fit puts its first cut where enough is lost to pay for one, which is seconds to minutes after a
//! regulator set in. From such a cut the way is gone back to where speed was last what it was before: by Page's sum
//! ("Continuous inspection schemes", Biometrika 41, 1954), each slice counting for as much as the least loss that is one,
//! so that a deep burst says no more than that it is slow.

/// A slow-down counts from this loss on, in logarithm; the same 4 % as for drops.
const LOST: f64 = 0.04;
/// ... and from so many standard deviations of a slice on, all slices together: the deepest of the ways that noise alone goes.
const CLEAR: f64 = 4.0;
/// Of a normal distribution, the standard deviation over the median distance from the middle.
const OF_MEDIAN: f64 = 1.4826;
/// What is lost at once at the cut is a step, whatever came just before it: the mean loss up to the cut is this share of that in
/// so many slices after it, or more.
const NO_STEP: f64 = 0.25;
const AFTER_BINS: usize = 5;
/// A beginning nearer to the cut than this is a step.
const LEAST_BINS: usize = 2;

/// The bin in which the speed begins to sink before the cut at bin `cut`; `None` where it is a step. The piece
/// before the cut begins at bin `from`; `x` is the logarithm of speed.
pub(super) fn began(x: &[f64], from: usize, cut: usize) -> Option<usize> {
    crate::work::count(cut - from);
    // The second half of what lies before the cut may sink already.
    let half = from + (cut - from).div_ceil(2);
    let before = super::median(&x[from..half]);
    let off: Vec<f64> = x[from..half].iter().map(|x| (x - before).abs()).collect();
    let noise = OF_MEDIAN * super::median(&off);
    let (mut sum, mut began) = (0.0, None);
    for (bin, x) in x.iter().enumerate().take(cut).skip(half) {
        let lost = (before - x - LOST).clamp(-LOST, LOST);
        sum = f64::max(sum + lost, 0.0);
        began = if sum > 0.0 { began.or(Some(bin)) } else { None };
    }
    let after = super::median(&x[cut..x.len().min(cut + AFTER_BINS)]);
    let clear = |bin: &usize| {
        let bins = (cut - bin) as f64;
        let lost = x[*bin..cut].iter().map(|x| before - x).sum::<f64>() / bins;
        lost >= CLEAR * noise / bins.sqrt() && lost >= NO_STEP * (before - after)
    };
    began.filter(|bin| bin + LEAST_BINS <= cut).filter(clear)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_slope_begins_at_its_bend_and_a_step_has_none() {
        let wobble = |i: usize| 0.01 * (i as f64 * 12.9898).sin();
        let slope: Vec<f64> =
            (0..120).map(|i| -0.02 * (i as f64 - 50.0).clamp(0.0, 20.0) + wobble(i)).collect();
        let found = began(&slope, 0, 58).expect("it sinks");
        assert!((50..=56).contains(&found), "{found}");
        let step: Vec<f64> = (0..120).map(|i| f64::from(u8::from(i >= 58)) * -0.3 + wobble(i)).collect();
        assert_eq!(began(&step, 0, 58), None);
    }
}
