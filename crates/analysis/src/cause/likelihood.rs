//! The arithmetic of likelihoods: cells of temperature, densities, and sums of log odds.

/// Temperatures are added up in cells of this width.
pub(super) const CELL_K: f64 = 0.25;

/// Onsets at one threshold differ by this at most: rounding, twice.
pub(crate) const ONE_THRESHOLD_K: f64 = 1.5;

/// What `alike` cases have in common is seen once, and a little more: the share of it that each of them counts.
pub(super) fn seen_once(alike: usize) -> f64 {
    (alike.max(1) as f64).powf(-0.7)
}

/// What something may be: a probability for each suspect, in the order of [`super::evidence::SUSPECTS`].
pub(super) type Shares = [f64; 5];

/// How much of what comes next is where `seen` others were, and not anew, where anew is as likely as that `anew` more are; never more than
/// `most`.
pub(super) fn known_share(seen: f64, anew: f64, most: f64) -> f64 {
    (seen / (anew + seen)).min(most)
}

/// How far a value has come from one bound to the other: 0 before the first, 1 beyond the second.
pub(super) fn part_way(value: f64, [from, to]: [f64; 2]) -> f64 {
    ((value - from) / (to - from)).clamp(0.0, 1.0)
}

/// The cell of a temperature in kelvins.
pub(super) fn cell(kelvin: f64) -> i64 {
    (kelvin / CELL_K).round() as i64
}

/// The middle of a cell, in kelvins.
pub(super) fn kelvin(cell: i64) -> f64 {
    cell as f64 * CELL_K
}

/// Density of a normal distribution at `off` from its middle.
pub(super) fn normal(off: f64, deviation: f64) -> f64 {
    (-0.5 * (off / deviation).powi(2)).exp() / (deviation * std::f64::consts::TAU.sqrt())
}

/// Probabilities from log odds.
pub(super) fn shares(total: &[f64; 5]) -> Shares {
    let sum = log_sum(total);
    total.map(|total| (total - sum).exp())
}

/// The logarithm of the sum of what these are the logarithms of.
pub(super) fn log_sum(total: &[f64]) -> f64 {
    let most = total.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + total.iter().map(|total| (total - most).exp()).sum::<f64>().ln()
}

/// The geometric mean of `first`, `first` + 1, ... of so many: by Stirling's formula, which is a percent off at worst.
pub(super) fn mean_of_counts(first: f64, count: f64) -> f64 {
    // ln gamma(x + 3) is Stirling's; gamma(x) = gamma(x + 3) / (x (x + 1) (x + 2)).
    let ln_gamma = |x: f64| {
        let y = x + 3.0;
        let stirling = (y - 0.5) * y.ln() - y + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * y);
        stirling - (x * (x + 1.0) * (x + 2.0)).ln()
    };
    ((ln_gamma(first + count) - ln_gamma(first)) / count).exp()
}
