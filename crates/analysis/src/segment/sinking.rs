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
/// What is lost at once at the cut is a step, whatever came just before it: the mean loss up to the cut is this share of that in
/// so many slices after it, or more.
const NO_STEP: f64 = 0.25;
/// ... of bursts, which are as deep as they will be from the first one on and only come more often, half of that.
const NO_STEP_OF_BURSTS: f64 = 0.125;
const AFTER_BINS: usize = 5;
/// A beginning nearer to the cut than this is a step.
const LEAST_BINS: usize = 2;

/// Bursts begin where slices that lose so many standard deviations come as often as one in four, ...
const DEEP: f64 = 3.0;
const OFTEN: f64 = 0.25;
/// ... in place of as often as in the first half of the piece, or once in fifty; three and more, besides the one that the cut may
/// lie in, make a beginning.
const LEAST_OFTEN: f64 = 0.02;
const LEAST_DEEP: usize = 3;
/// Bursts go on as often in so many slices after the cut, ...
const LATER_BINS: usize = 12;
/// ... each this share as deep as before, as a row may hold a part of one. Stalls before a lesser step are of another kind.
const AS_DEEP: f64 = 0.7;
/// What comes ever more often does not rest for so many times the longest rest so far.
const QUIET: f64 = 1.5;

/// The bin in which the speed begins to sink before the cut at bin `cut`; `None` where it is a step. The piece
/// before the cut begins at bin `from`; `x` is the logarithm of speed.
pub(super) fn began(x: &[f64], from: usize, cut: usize) -> Option<usize> {
    crate::work::count(cut - from);
    // The second half of what lies before the cut may sink already.
    let half = from + (cut - from).div_ceil(2);
    let (before, noise) = super::median_and_deviation(&x[from..half]);
    let lost: Vec<f64> = x[from..cut].iter().map(|x| before - x).collect();
    let after = before - super::median(&x[cut..x.len().min(cut + AFTER_BINS)]);
    let clear = |bin: usize, lost: &[f64], no_step: f64| {
        let bins = (lost.len() - bin) as f64;
        let mean = lost[bin..].iter().sum::<f64>() / bins;
        bin + LEAST_BINS <= lost.len() && mean >= CLEAR * noise / bins.sqrt() && mean >= no_step * after
    };
    // A stall just before a step does not sink: what does is lower on both sides.
    let smooth = median_of_three(&lost);
    let sinks = sinks(&smooth, half - from).filter(|bin| clear(*bin, &smooth, NO_STEP));
    let later: Vec<f64> = x[cut..x.len().min(cut + LATER_BINS)].iter().map(|x| before - x).collect();
    let bursts =
        bursts(&lost, half - from, noise, &later).filter(|bin| clear(*bin, &lost, NO_STEP_OF_BURSTS));
    [sinks, bursts].into_iter().flatten().map(|bin| from + bin).min()
}

/// The middle one of each and its two neighbours.
fn median_of_three(x: &[f64]) -> Vec<f64> {
    let middle = |at: usize| match (at.checked_sub(1).map(|before| x[before]), x.get(at + 1)) {
        (Some(before), Some(next)) => x[at].clamp(before.min(*next), before.max(*next)),
        _ => x[at],
    };
    (0..x.len()).map(middle).collect()
}

/// Where these losses, bin by bin, begin to last, from `half` on.
fn sinks(lost: &[f64], half: usize) -> Option<usize> {
    page(lost, half, |lost| (lost - LOST).clamp(-LOST, LOST))
}

/// Where deep losses, bin by bin, begin to come often, from `half` on: a drive that is slowed down in bursts loses much now and then,
/// and ever more often, `later` too. The sum is that of the logarithms of the two rates' likelihoods.
fn bursts(lost: &[f64], half: usize, noise: f64, later: &[f64]) -> Option<usize> {
    let is_deep = |lost: f64| lost >= LOST.max(DEEP * noise);
    let deep = |lost: &[f64]| lost.iter().filter(|lost| is_deep(**lost)).count();
    let usual = ((deep(&lost[..half]) as f64 + 0.5) / (half as f64 + 1.0)).max(LEAST_OFTEN);
    let [one, none] = [(OFTEN / usual).ln(), ((1.0 - OFTEN) / (1.0 - usual)).ln()];
    let began = page(lost, half, |lost| if is_deep(lost) { one } else { none })?;
    let bursts: Vec<f64> =
        lost[began..lost.len() - 1].iter().copied().filter(|lost| is_deep(*lost)).collect();
    let as_deep = AS_DEEP * super::median(&bursts);
    let go_on = later.iter().filter(|lost| **lost >= as_deep).count() as f64 >= OFTEN * later.len() as f64;
    let seen = bursts.len() >= LEAST_DEEP && go_on;
    (seen && 2.0 * usual <= OFTEN && lead_up(&lost[began..], is_deep)).then_some(began)
}

/// Whether bursts lead up to the cut: a quiet spell before it that is longer than any between them, by half, parts it from them.
fn lead_up(lost: &[f64], is_deep: impl Fn(f64) -> bool) -> bool {
    let deep: Vec<usize> = (0..lost.len()).filter(|bin| is_deep(lost[*bin])).collect();
    let between = deep.windows(2).map(|pair| pair[1] - pair[0]);
    let spells: Vec<usize> = between.chain(deep.last().map(|last| lost.len() - last)).collect();
    // The cut may lie within the last bin.
    spells.split_last().is_some_and(|(quiet, others)| {
        others.iter().max().is_some_and(|longest| (*quiet - 1) as f64 <= QUIET * *longest as f64)
    })
}

/// Where Page's sum of these losses, from `half` on, was last nothing before their end; `None` where it is nothing there.
fn page(lost: &[f64], half: usize, weight: impl Fn(f64) -> f64) -> Option<usize> {
    let (mut sum, mut began) = (0.0, None);
    for (bin, lost) in lost.iter().enumerate().skip(half) {
        sum = f64::max(sum + weight(*lost), 0.0);
        began = if sum > 0.0 { began.or(Some(bin)) } else { None };
    }
    began
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

    #[test]
    fn bursts_begin_with_the_first_of_many_and_stalls_before_a_step_are_none() {
        let wobble = |i: usize| 0.003 * (i as f64 * 12.9898).sin();
        let with = |deep: &[usize], step: usize| -> Vec<f64> {
            let fall = |i: usize| match (deep.contains(&i), i >= step) {
                (true, _) => -0.1,
                (_, true) => -0.12,
                _ => 0.0,
            };
            (0..140).map(|i| fall(i) + wobble(i)).collect()
        };
        assert_eq!(began(&with(&[102, 106, 109, 110, 113, 114], 116), 0, 116), Some(102));
        assert_eq!(began(&with(&[20, 60, 108], 116), 0, 116), None);
        assert_eq!(began(&with(&[96, 98, 102], 112), 0, 112), None, "they end ten seconds before the step");
    }

    /// Goal: a step begins where it is, whatever stalls just before it. Method: one stall, and the rows before the step a little lower; three
    /// stalls as deep as twice the step, which stay away after it.
    #[test]
    fn a_stall_just_before_a_step_does_not_sink() {
        let wobble = |i: usize| 0.012 * (i as f64 * 12.9898).sin();
        let with = |lower: &[(usize, f64)], step: f64| -> Vec<f64> {
            let lost = |i: usize| lower.iter().find(|(at, _)| *at == i).map_or(0.0, |(_, lost)| *lost);
            (0..140).map(|i| wobble(i) - if i >= 116 { step } else { lost(i) }).collect()
        };
        let stall = [(112, 1.49), (113, 0.015), (114, 0.046), (115, 0.15)];
        let found = began(&with(&stall, 0.36), 0, 116);
        assert!(found.is_none_or(|bin| bin > 112), "{found:?}: the rows after the stall may sink");
        let stalls = [(103, 0.48), (106, 0.5), (112, 0.4)];
        assert_eq!(began(&with(&stalls, 0.25), 0, 116), None);
    }
}
