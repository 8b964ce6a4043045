//! How far apart the clocks of a speed and of a temperature are, from the data: a drive warms when it works.
//!
//! For each offset the temperature is fitted as a constant plus the speed through one or two first-order lags with
//! gains of 0 or more (a drive on its board: a few seconds and some minutes). The offset with the least squared
//! error is the estimate. Its uncertainty are the offsets whose error is not larger than 95 % chance allows:
//! RSS <= RSS_min (1 + 3.84 / n), with n reduced by the correlation of neighbouring residuals, n (1 - r) / (1 + r).
//! Outside its log the speed counts as 0.
//!
//! Where it fails, and says so: loads without a step, temperatures that hardly move, loads that repeat.
//! A lag of the sensor itself cannot be told from an offset and is part of the estimate.

use measure::Series;

use trace::SegmentOp;
use trace::SpeedSeries;

/// Time constants that are tried, in seconds: from a controller to a heat sink in slow air, a factor of 1.4 apart.
/// Coarser ones bias the estimate: a lag that is too short is made up for by a later clock.
const TAUS_S: [f64; 18] = [
    2.0, 2.8, 4.0, 5.6, 8.0, 11.0, 15.0, 21.0, 30.0, 42.0, 60.0, 84.0, 118.0, 165.0, 230.0, 325.0, 455.0,
    640.0,
];
const TAUS: usize = TAUS_S.len();
/// Columns of the fit: 1, the lags, the temperature.
const COLUMNS: usize = TAUS + 2;
/// Readings that are used at most, and offsets tried in the first pass.
const MOST_READINGS: usize = 1000;
const COARSE_OFFSETS: usize = 1200;
/// Valleys that are looked at more closely.
const MOST_VALLEYS: usize = 6;
/// Windows of the speed at most.
const MOST_WINDOWS: usize = 1 << 15;
/// At least this share of the shorter series lies within the longer one.
const LEAST_OVERLAP: f64 = 0.5;
/// Temperatures that move less tell nothing: twice the 2 K by which rounding alone moves two readings.
const LEAST_RANGE_K: f64 = 4.0;
/// The speed has to explain this share of the temperature's variance.
const LEAST_EXPLAINED: f64 = 0.8;
/// Chi-squared with one degree of freedom at 95 %.
const CHANCE: f64 = 3.84;
/// An uncertainty beyond this, and beyond this share of the shorter series, is no estimate.
const MOST_UNCERTAINTY_S: f64 = 10.0;
const MOST_UNCERTAINTY_SHARE: f64 = 0.05;

/// An estimated offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// What is added to the temperature's times to have the speed's.
    pub(super) offset_s: f64,
    /// Half the width of the 95 % range.
    pub(super) uncertainty_s: f64,
    /// Share of the temperature's variance that the speed explains.
    pub(super) explained: f64,
}

/// The offset of a temperature's clock to a speed's; a sentence why there is none.
pub(super) fn estimate(speeds: &[SpeedSeries], temperature: &Series<f64>) -> Result<Estimate, String> {
    let points = temperature.points();
    let stride = points.len().div_ceil(MOST_READINGS).max(1);
    let readings: Vec<(f64, f64)> =
        points.iter().step_by(stride).map(|point| (point.t.as_secs_f64(), point.value)).collect();
    let (low, high) =
        readings.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), (_, k)| (l.min(*k), h.max(*k)));
    if readings.len() < 20 || high - low < LEAST_RANGE_K {
        return Err(format!("the temperature does not move by {LEAST_RANGE_K} K over 20 readings"));
    }
    let lags = Lags::new(speeds).ok_or("there is no speed")?;
    let (first_s, last_s) = (readings[0].0, readings[readings.len() - 1].0);
    let shorter_s = (last_s - first_s).min(lags.end_s() - lags.from_s);
    let overlap_s = LEAST_OVERLAP * shorter_s;
    let (from_s, to_s) = (lags.from_s - last_s + overlap_s, lags.end_s() - first_s - overlap_s);
    let step_s = ((to_s - from_s) / COARSE_OFFSETS as f64).max(lags.step_s);
    let coarse = scan(&lags, &readings, from_s, to_s, step_s);
    // Around the best ones finer than the readings are apart: a narrow valley may lie between two coarse offsets.
    let fine_s = (step_s / 10.0).max(lags.step_s / 4.0);
    let mut fine = Vec::new();
    for at_s in valleys(&coarse) {
        fine.extend(scan(&lags, &readings, at_s - 2.0 * step_s, at_s + 2.0 * step_s, fine_s));
    }
    let Some(best_fine) = least(&fine) else { return Err("nothing overlaps".into()) };
    let (offset_s, rss) = fine[best_fine];
    let total = variance(&readings);
    let explained = 1.0 - rss / total;
    if explained < LEAST_EXPLAINED {
        return Err(format!(
            "the speed explains {:.0} % of the temperature at best",
            100.0 * explained.max(0.0)
        ));
    }
    let bound = rss * (1.0 + CHANCE / effective_count(&lags, &readings, offset_s));
    let curve: Vec<(f64, f64)> = {
        let mut all: Vec<(f64, f64)> = coarse.iter().chain(&fine).copied().collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    let at = curve.partition_point(|(offset, _)| *offset < offset_s);
    let within = |(_, rss): &&(f64, f64)| *rss <= bound;
    let after = curve[at..].iter().take_while(within).count().max(1);
    let before = curve[..at].iter().rev().take_while(within).count();
    let (low_s, high_s) = (curve[at - before].0, curve[at + after - 1].0);
    let elsewhere = curve.iter().any(|(offset, rss)| {
        *rss <= bound && (*offset < low_s - shorter_s * 0.02 || *offset > high_s + shorter_s * 0.02)
    });
    if elsewhere {
        return Err("several offsets fit equally well, as with a load that repeats".into());
    }
    let uncertainty_s = (high_s - offset_s).max(offset_s - low_s).max(fine_s).hypot(lags.step_s / 2.0);
    if uncertainty_s > MOST_UNCERTAINTY_S.max(MOST_UNCERTAINTY_SHARE * shorter_s) {
        return Err(format!("any offset from {low_s:.0} s to {high_s:.0} s fits"));
    }
    Ok(Estimate { offset_s, uncertainty_s, explained })
}

/// The speed through first-order lags, on equal windows.
struct Lags {
    from_s: f64,
    step_s: f64,
    values: Vec<[f64; TAUS]>,
}

impl Lags {
    fn new(speeds: &[SpeedSeries]) -> Option<Self> {
        let moving = || {
            let loads = speeds.iter().filter(|series| series.op != SegmentOp::Trim);
            loads.flat_map(|series| &series.intervals).filter(|i| i.span_s > 0.0)
        };
        let from_s = moving().map(|i| i.start_s).fold(f64::INFINITY, f64::min);
        let end_s = moving().map(|i| i.end_s()).fold(f64::NEG_INFINITY, f64::max);
        let finest_s = moving().map(|i| i.span_s).fold(f64::INFINITY, f64::min).clamp(0.25, 60.0);
        if end_s <= from_s {
            return None;
        }
        let step_s = finest_s.max((end_s - from_s) / MOST_WINDOWS as f64);
        let count = ((end_s - from_s) / step_s).ceil().max(1.0) as usize;
        let mut sums = vec![0.0; count];
        for interval in moving() {
            // A window gets the rate of the intervals that begin in it or cover it.
            let low = ((interval.start_s - from_s) / step_s).round() as usize;
            let high =
                (((interval.end_s() - from_s) / step_s).round() as usize).clamp(low + 1, count.max(low + 1));
            let each = interval.bytes / (high - low) as f64;
            sums.iter_mut().skip(low).take(high - low).for_each(|sum| *sum += each);
        }
        let keep = TAUS_S.map(|tau| (-step_s / tau).exp());
        let (mut values, mut now) = (vec![[0.0; TAUS]], [0.0; TAUS]);
        // In GB/s, so that the normal equations are well scaled.
        for sum in sums {
            let rate = sum / step_s / 1e9;
            for (value, keep) in now.iter_mut().zip(keep) {
                *value = *value * keep + rate * (1.0 - keep);
            }
            values.push(now);
        }
        Some(Self { from_s, step_s, values })
    }

    fn end_s(&self) -> f64 {
        self.from_s + (self.values.len() - 1) as f64 * self.step_s
    }

    fn at(&self, t_s: f64) -> [f64; TAUS] {
        let place = (t_s - self.from_s) / self.step_s;
        let last = self.values.len() - 1;
        if place <= 0.0 {
            return [0.0; TAUS];
        }
        if place >= last as f64 {
            let since_s = t_s - self.end_s();
            return std::array::from_fn(|i| self.values[last][i] * (-since_s / TAUS_S[i]).exp());
        }
        let (index, share) = (place as usize, place.fract());
        std::array::from_fn(|i| self.values[index][i] * (1.0 - share) + self.values[index + 1][i] * share)
    }
}

/// Squared error at each offset.
fn scan(lags: &Lags, readings: &[(f64, f64)], from_s: f64, to_s: f64, step_s: f64) -> Vec<(f64, f64)> {
    let count = ((to_s - from_s) / step_s).floor().max(0.0) as usize;
    (0..=count)
        .map(|i| from_s + i as f64 * step_s)
        .map(|offset_s| (offset_s, fit(lags, readings, offset_s).0))
        .collect()
}

/// The offsets of the lowest valleys of a curve.
fn valleys(curve: &[(f64, f64)]) -> Vec<f64> {
    let rss = |index: usize| curve.get(index).map_or(f64::INFINITY, |(_, rss)| *rss);
    let is_valley = |index: &usize| {
        rss(*index) <= rss(index + 1) && index.checked_sub(1).is_none_or(|before| rss(*index) < rss(before))
    };
    let mut found: Vec<usize> = (0..curve.len()).filter(is_valley).collect();
    found.sort_by(|a, b| curve[*a].1.total_cmp(&curve[*b].1));
    found.into_iter().take(MOST_VALLEYS).map(|index| curve[index].0).collect()
}

fn least(curve: &[(f64, f64)]) -> Option<usize> {
    (0..curve.len()).min_by(|a, b| curve[*a].1.total_cmp(&curve[*b].1))
}

fn variance(readings: &[(f64, f64)]) -> f64 {
    let mean = readings.iter().map(|(_, k)| k).sum::<f64>() / readings.len() as f64;
    readings.iter().map(|(_, k)| (k - mean).powi(2)).sum()
}

/// The best fit at an offset: squared error, lags used, and constant with gains.
fn fit(lags: &Lags, readings: &[(f64, f64)], offset_s: f64) -> (f64, [usize; 2], [f64; 3]) {
    let mut gram = [[0.0; COLUMNS]; COLUMNS];
    let zero_k = readings[0].1;
    for (t_s, k) in readings {
        let lagged = lags.at(t_s + offset_s);
        let mut row = [1.0; COLUMNS];
        row[1..=TAUS].copy_from_slice(&lagged);
        row[COLUMNS - 1] = k - zero_k;
        for i in 0..COLUMNS {
            for j in i..COLUMNS {
                gram[i][j] += row[i] * row[j];
            }
        }
    }
    let mut best =
        (gram[COLUMNS - 1][COLUMNS - 1] - gram[0][COLUMNS - 1].powi(2) / gram[0][0], [0, 0], [0.0; 3]);
    for a in 1..=TAUS {
        for b in a..=TAUS {
            if let Some((rss, gains)) = solve(&gram, a, b)
                && rss < best.0
            {
                best = (rss, [a, b], gains);
            }
        }
    }
    best
}

/// Least squares of the temperature on 1 and the lags `a` and `b` (one lag where they are the same), with gains of at
/// least 0; `None` where a gain is not, or the two cannot be told apart.
fn solve(gram: &[[f64; COLUMNS]; COLUMNS], a: usize, b: usize) -> Option<(f64, [f64; 3])> {
    let y = COLUMNS - 1;
    let n = gram[0][0];
    // Centred by the constant.
    let c = |i: usize, j: usize| gram[i.min(j)][i.max(j)] - gram[0][i] * gram[0][j] / n;
    let (saa, say, syy) = (c(a, a), c(a, y), c(y, y));
    if saa <= 1e-12 {
        return None;
    }
    if a == b {
        let gain = say / saa;
        return (gain > 0.0).then_some((syy - gain * say, [0.0, gain, 0.0]));
    }
    let (sbb, sab, sby) = (c(b, b), c(a, b), c(b, y));
    let det = saa * sbb - sab * sab;
    if det <= 1e-9 * saa * sbb {
        return None;
    }
    let (gain_a, gain_b) = ((say * sbb - sby * sab) / det, (sby * saa - say * sab) / det);
    (gain_a >= 0.0 && gain_b >= 0.0).then_some((syy - gain_a * say - gain_b * sby, [0.0, gain_a, gain_b]))
}

/// How many independent readings the residuals are worth.
fn effective_count(lags: &Lags, readings: &[(f64, f64)], offset_s: f64) -> f64 {
    let (_, [a, b], [_, gain_a, gain_b]) = fit(lags, readings, offset_s);
    let model = |t_s: f64| {
        let lagged = lags.at(t_s + offset_s);
        let of = |column: usize, gain: f64| if column == 0 { 0.0 } else { gain * lagged[column - 1] };
        of(a, gain_a) + if b == a { 0.0 } else { of(b, gain_b) }
    };
    let raw: Vec<f64> = readings.iter().map(|(t_s, k)| k - model(*t_s)).collect();
    let mean = raw.iter().sum::<f64>() / raw.len() as f64;
    let residuals: Vec<f64> = raw.iter().map(|r| r - mean).collect();
    let power: f64 = residuals.iter().map(|r| r * r).sum();
    let next: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let r = if power > 0.0 { (next / power).clamp(0.0, 0.99) } else { 0.0 };
    (readings.len() as f64 * (1.0 - r) / (1.0 + r)).max(4.0)
}

#[cfg(test)]
mod test {
    use super::*;
    use trace::{Interval, instant};

    /// A drive with two known lags under steps of load; readings in whole kelvins, on a clock that is `offset_s` early.
    fn run(offset_s: f64, rate: impl Fn(f64) -> f64, seconds: usize) -> (Vec<SpeedSeries>, Series<f64>) {
        let intervals: Vec<Interval> = (0..seconds)
            .map(|t| Interval { start_s: t as f64, span_s: 1.0, bytes: rate(t as f64), phase: 0 })
            .collect();
        let (mut fast, mut slow) = (0.0, 0.0);
        let mut kelvin = Series::new();
        for t in 0..seconds {
            let load = rate(t as f64) / 1e9;
            fast += (load - fast) * (1.0 - (-1.0f64 / 12.0).exp());
            slow += (load - slow) * (1.0 - (-1.0f64 / 140.0).exp());
            let at_s = t as f64 + 1.0 - offset_s;
            if at_s >= 0.0 {
                kelvin.push(instant(at_s), (310.3 + 9.0 * fast + 11.0 * slow).round());
            }
        }
        (vec![SpeedSeries { op: SegmentOp::Write, intervals }], kelvin)
    }

    fn steps(t: f64) -> f64 {
        match t as u64 {
            0..60 => 0.0,
            60..300 => 2.0e9,
            300..420 => 0.3e9,
            420..600 => 1.5e9,
            _ => 0.0,
        }
    }

    #[test]
    fn a_known_offset_is_found_within_its_own_uncertainty() {
        for offset_s in [-20.0, 0.0, 3.5, 42.0] {
            let (speeds, kelvin) = run(offset_s, steps, 800);
            let found = estimate(&speeds, &kelvin).expect("an estimate");
            assert!(
                (found.offset_s - offset_s).abs() <= found.uncertainty_s.max(1.0),
                "{found:?} for {offset_s} s"
            );
            assert!(found.uncertainty_s < 3.0 && found.explained > 0.95, "{found:?}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        let (speeds, kelvin) = run(0.0, |_| 0.0, 400);
        assert!(estimate(&speeds, &kelvin).expect_err("no load").contains("does not move"));
        let square = |t: f64| if ((t / 30.0) as u64).is_multiple_of(2) { 2e9 } else { 0.2e9 };
        let (speeds, _) = run(0.0, square, 2400);
        let (_, kelvin) = run(0.0, square, 2400);
        let late = Series::clone(&kelvin);
        let mut part = Series::new();
        late.points().iter().skip(900).take(600).for_each(|p| part.push(p.t, p.value));
        assert!(estimate(&speeds, &part).is_err(), "a load that repeats each minute");
        let mut unrelated = Series::new();
        (0..400).for_each(|t| unrelated.push(instant(f64::from(t)), 310.0 + f64::from((t * 7919) % 13)));
        let (speeds, _) = run(0.0, steps, 800);
        assert!(estimate(&speeds, &unrelated).is_err(), "noise");
    }
}
