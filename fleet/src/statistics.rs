//! Intervals and tests that hold where drives share hosts.
//!
//! Wilson's interval for a share (JASA 22, 1927), a bootstrap that draws hosts and not drives (Davison and Hinkley,
//! Bootstrap Methods, 1997, 3.8), and Benjamini and Hochberg's correction for many cells (JRSS B 57, 1995).

use crate::hash::chance;

/// Of the normal distribution for intervals of 90 %.
const Z90: f64 = 1.644_854;

/// Resamples: enough for the ends of a 90 % interval, where 20 lie beyond each.
const RESAMPLES: u64 = 400;

/// Wilson's 90 % interval of a share.
pub(crate) fn wilson(hits: u64, of: u64) -> Option<(f64, f64)> {
    if of == 0 {
        return None;
    }
    let (n, p) = (of as f64, hits as f64 / of as f64);
    let z2 = Z90 * Z90;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z90 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    Some(((middle - half).max(0.0), (middle + half).min(1.0)))
}

/// The 90 % interval of sum(x) / sum(y) over hosts, each given as (x, y), by drawing hosts with replacement. Nothing
/// under five hosts: their spread is not known.
pub(crate) fn by_host(hosts: &[(f64, f64)]) -> Option<(f64, f64)> {
    if hosts.len() < 5 {
        return None;
    }
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .filter_map(|resample| {
            let (mut x, mut y) = (0.0, 0.0);
            for draw in 0..hosts.len() as u64 {
                let at = (chance(0x6865_6174, draw, resample) * hosts.len() as f64) as usize;
                let (host_x, host_y) = hosts[at.min(hosts.len() - 1)];
                x += host_x;
                y += host_y;
            }
            (y > 0.0).then_some(x / y)
        })
        .collect();
    if ratios.is_empty() {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    Some((quantile(&ratios, 0.05), quantile(&ratios, 0.95)))
}

/// The p-value of a mean of 0, two-sided, from values of hosts: by the normal distribution, for thirty or more of
/// them. Fewer are judged with a wider spread (Student's t has 1.7 instead of 1.64 at 30).
pub(crate) fn p_of_zero_mean(values: &[f64]) -> Option<f64> {
    if values.len() < 5 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let z = mean.abs() / (variance / n).sqrt() * (1.0 - 1.0 / n);
    Some((2.0 * upper_tail(z)).min(1.0))
}

/// The normal distribution above `z` >= 0 (Abramowitz and Stegun 26.2.17; error below 7.5e-8).
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let poly = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * poly
}

/// Benjamini and Hochberg: for each p the lowest false discovery rate at which it would be found.
pub(crate) fn false_discovery(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|one, other| p[*one].total_cmp(&p[*other]));
    let mut q = vec![1.0; p.len()];
    let mut least: f64 = 1.0;
    for (rank, at) in order.iter().enumerate().rev() {
        least = least.min(p[*at] * p.len() as f64 / (rank + 1) as f64);
        q[*at] = least;
    }
    q
}

/// A quantile of sorted values.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len().saturating_sub(1)) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (at - low as f64)
}

/// The median; none of nothing.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    Some(quantile(values, 0.5))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn wilson_is_that_of_the_textbook() {
        // 90 %, 10 of 100: 0.0610 to 0.1598 (R, binom::binom.wilson).
        let (low, high) = wilson(10, 100).expect("a share");
        assert!((low - 0.0610).abs() < 2e-3 && (high - 0.1598).abs() < 2e-3, "{low} {high}");
        assert_eq!(wilson(0, 50).map(|(low, _)| low), Some(0.0));
        assert!(wilson(0, 0).is_none());
    }

    #[test]
    fn false_discovery_is_that_of_p_adjust() {
        // R: p.adjust(c(0.01, 0.04, 0.03, 0.5), "BH").
        let q = false_discovery(&[0.01, 0.04, 0.03, 0.5]);
        let expected = [0.04, 0.053_333, 0.053_333, 0.5];
        assert!(q.iter().zip(expected).all(|(q, expected)| (q - expected).abs() < 1e-5), "{q:?}");
    }

    #[test]
    fn the_tail_is_that_of_the_normal_distribution() {
        assert!((upper_tail(1.959_964) - 0.025).abs() < 1e-6);
        assert!((upper_tail(0.0) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn hosts_are_drawn_and_not_drives() {
        // One host of ten with all the throttling: the interval must be wide.
        let mut hosts = vec![(0.0, 240.0); 10];
        hosts[3].0 = 240.0;
        let (low, high) = by_host(&hosts).expect("ten hosts");
        assert!(low < 0.01 && high > 0.2, "{low} {high}");
        assert!(by_host(&hosts[..4]).is_none());
    }

    #[test]
    fn chance_alone_is_no_effect() {
        let noise: Vec<f64> = (0..200).map(|at| chance(1, at, 2) - 0.5).collect();
        assert!(p_of_zero_mean(&noise).expect("enough") > 0.01);
        let shifted: Vec<f64> = noise.iter().map(|value| value + 1.0).collect();
        assert!(p_of_zero_mean(&shifted).expect("enough") < 1e-9);
    }
}
