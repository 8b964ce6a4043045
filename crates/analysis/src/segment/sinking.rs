//! Where a speed that gives way little by little begins to.
//!
//! A piecewise-constant fit puts its first cut where enough is lost to pay for one, which is seconds after a
//! regulator set in. Around such a cut a level that bends into a slope is tried as well, under the same
//! absolute cost; where that fits clearly better, the bend is the beginning.

/// Looked at before a cut, in seconds: what a regulator takes to give up a tenth of the speed in the
/// slowest case that was simulated. After it the slope may end sooner or later.
const BEFORE_S: f64 = 60.0;
const AFTER_S: [f64; 3] = [5.0, 10.0, 20.0];
/// The slope has to save this share of the step's cost: it has a parameter more.
const BETTER: f64 = 0.9;
/// A slow-down counts from this loss on, in logarithm; the same 4 % as for drops.
const LOST: f64 = 0.04;
/// A bend nearer to the cut than this is a step.
const LEAST_BINS: usize = 2;
/// The level at the end of the slope is the median of so many bins.
const LEVEL_BINS: usize = 5;

/// The bin in which the speed begins to sink before the cut at bin `cut`; `None` where it is a step. The piece
/// before the cut begins at bin `from`, the one after it ends at bin `to`; `x` is the logarithm of speed.
pub(super) fn began(x: &[f64], from: usize, cut: usize, to: usize, bin_s: f64) -> Option<usize> {
    let bins = |seconds: f64| (seconds / bin_s).ceil() as usize;
    let first = from.max(cut.saturating_sub(bins(BEFORE_S)));
    let slopes = AFTER_S.into_iter().filter_map(|after_s| slope(x, first, cut, to.min(cut + bins(after_s))));
    let best = slopes.min_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(share, bend)| *share < BETTER && bend + LEAST_BINS <= cut).map(|(_, bend)| bend)
}

/// The best slope that ends at bin `last`: its cost as a share of the step's, and the bin of its bend.
fn slope(x: &[f64], first: usize, cut: usize, last: usize) -> Option<(f64, usize)> {
    if cut < first + 2 * LEAST_BINS || last < cut + LEVEL_BINS {
        return None;
    }
    // The second half of what lies before the cut may sink already.
    let before = super::median(&x[first..first + (cut - first).div_ceil(2)]);
    let after = super::median(&x[last - LEVEL_BINS..last]);
    let off = |i: usize, level: f64| (x[i] - level).abs();
    let level_after = super::median(&x[cut..last]);
    let step: f64 = (first..cut).map(|i| off(i, before)).sum::<f64>()
        + (cut..last).map(|i| off(i, level_after)).sum::<f64>();
    crate::work::count((last - first) * (cut - first));
    let mut flat: f64 = (first..first + LEAST_BINS).map(|i| off(i, before)).sum();
    let mut best = (f64::INFINITY, cut, 0.0);
    for bend in first + LEAST_BINS..cut {
        let slope = (after - before) / (last - LEVEL_BINS / 2 - bend) as f64;
        let sloping: f64 = (bend..last).map(|i| off(i, before + slope * (i - bend) as f64)).sum();
        if flat + sloping < best.0 {
            best = (flat + sloping, bend, slope);
        }
        flat += off(bend, before);
    }
    // What gives way little by little does so ever faster at first: a straight slope bends too early.
    let lost = (LOST / -best.2).min((cut - best.1) as f64).max(0.0) as usize;
    Some((best.0 / step.max(1e-9), best.1 + lost))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_slope_begins_at_its_bend_and_a_step_has_none() {
        let wobble = |i: usize| 0.01 * (i as f64 * 12.9898).sin();
        let slope: Vec<f64> =
            (0..120).map(|i| -0.02 * (i as f64 - 50.0).clamp(0.0, 20.0) + wobble(i)).collect();
        let found = began(&slope, 0, 58, 120, 1.0).expect("it sinks");
        assert!((50..=56).contains(&found), "{found}");
        let step: Vec<f64> = (0..120).map(|i| f64::from(u8::from(i >= 58)) * -0.3 + wobble(i)).collect();
        assert_eq!(began(&step, 0, 58, 120, 1.0), None);
    }
}
