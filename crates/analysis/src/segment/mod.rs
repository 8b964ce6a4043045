//! Cuts a run into pieces of one speed.
//!
//! On the logarithm of speed, so that a drop of 20 % weighs the same at 0.2 and at 7 GB/s, under an absolute cost, so
//! that single stalls do not count, and phase by phase. In a trial with known truth (12 runs of 600 s, 18
//! changes, 2 % noise, 1 % unrelated dips of 1 s) this found all changes and nothing else (F1 1.00), squared cost with
//! the textbook penalty 0.72, a threshold at half speed 0.95. METHODS has the formulas.
//!
//! # What it does not do
//! It names no cause: a piece is only a stretch of one speed.

mod bursts;
mod load;
mod potts;
mod sinking;
mod unsteady;

pub(crate) use load::{Stretch, stretches, usual_span_s};
pub(crate) use potts::piece_starts;

use trace::Interval;

/// Slices are added up to at least this long before segmentation: shorter bursts are variance, not level.
const BIN_S: f64 = 1.0;
/// The shortest piece. Sensors are read every second and answer with a lag of seconds, so nothing shorter
/// can be joined with a temperature.
pub(crate) const SHORTEST_PIECE_S: f64 = 3.0;
/// Rows a little shorter than a second, be it in the last binary digit, are as many to a piece as whole ones.
const NEARLY_A_BIN: f64 = 0.05;
/// Noise of a second below this is not believed: speeds are bytes in whole I/Os over an interval. What is uneven from one to the next is
/// less so in longer ones, by the root of their length.
const LEAST_NOISE: f64 = 0.01;
/// Noise above this is not noise but bursts.
const MOST_NOISE: f64 = 0.5;
/// Penalty of a change in units of noise times the logarithm of the number of bins. Half as much again as the 1.4
/// or so at which pure Gaussian noise begins to be cut.
const PENALTY: f64 = 2.0;
/// Slower than this fraction of the stretch's fast speed is a stop, a level of its own.
pub(crate) const STOP_FRACTION: f64 = 1e-3;
/// A level that lasts shorter than this may be chance, or the edge of something else; what varies more are bursts.
pub(crate) const LEVEL_S: f64 = 10.0;
pub(crate) const BURSTY_VARIATION: f64 = 0.1;
/// A level is taken without the slices at both ends where at least this many are left.
const LEAST_INNER: usize = 2;
/// Ratio of the lower quartile of absolute differences to the standard deviation of Gaussian noise: 0.3186 * sqrt(2).
/// The quartile, as in a cycle of five slices two differences of five are its steps.
const QUARTILE_DIFFERENCE: f64 = 0.4506;

/// A stretch of one speed.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Index into the stretches.
    pub stretch: usize,
    /// Start in seconds.
    pub start_s: f64,
    /// End in seconds.
    pub end_s: f64,
    /// Data over time, in bytes per second.
    pub mean: f64,
    /// The same without the slices at both ends, which hold a little of the neighbours' speed.
    pub level: f64,
    /// The slowest of its slices, in bytes per second.
    pub slowest: f64,
    /// Standard deviation over mean of the speeds of its slices; 0 where it stands still.
    pub variation: f64,
    /// Whether nothing moves, or no more than a trickle.
    pub stopped: bool,
    /// Whether the speed sank into it bit by bit.
    pub gradual: bool,
    /// Of how many slices it is made.
    pub slices: usize,
}

impl Piece {
    /// Its length in seconds.
    pub(crate) fn span_s(&self) -> f64 {
        self.end_s - self.start_s
    }

    /// Whether it is a speed that stands: long enough, and it hardly varies.
    pub(crate) fn is_level(&self) -> bool {
        self.span_s() >= LEVEL_S && self.is_even()
    }

    /// Whether it hardly varies.
    pub(crate) fn is_even(&self) -> bool {
        self.variation <= BURSTY_VARIATION
    }
}

/// The pieces of all stretches, in order of time.
pub(crate) fn pieces(stretches: &[Stretch]) -> Vec<Piece> {
    let each = |(index, stretch): (usize, &Stretch)| {
        let still = (STOP_FRACTION * fast_speed(&stretch.samples)).max(stretch.trickle_bytes_per_s);
        cuts(&stretch.samples, still)
            .windows(2)
            .map(|cut| {
                let begins = cut[0].at == 0;
                let piece = piece(index, &stretch.samples[cut[0].at..cut[1].at], begins, still);
                Piece { gradual: cut[0].gradual, ..piece }
            })
            .collect::<Vec<_>>()
    };
    let mut pieces: Vec<Piece> = stretches.iter().enumerate().flat_map(each).collect();
    bursts::level(&mut pieces, stretches);
    pieces
}

/// A piece of these samples, with which a load `begins`.
fn piece(stretch: usize, samples: &[Interval], begins: bool, still: f64) -> Piece {
    let span = |samples: &[Interval]| samples.iter().map(|s| s.span_s).sum::<f64>();
    let speed = |samples: &[Interval]| samples.iter().map(|s| s.bytes).sum::<f64>() / span(samples);
    // The row in which a load begins is in part without one.
    let least = if begins { 1 } else { LEAST_INNER };
    let inner = if samples.len() > least + 1 { &samples[1..samples.len() - 1] } else { samples };
    let (mean, level) = (speed(samples), speed(inner));
    let squares = inner.iter().map(|s| s.span_s * (s.bytes_per_s() - level).powi(2)).sum::<f64>();
    let variance = squares / span(inner);
    Piece {
        stretch,
        start_s: samples[0].start_s,
        end_s: samples[samples.len() - 1].end_s(),
        mean,
        level,
        slowest: samples.iter().map(Interval::bytes_per_s).fold(f64::INFINITY, f64::min),
        variation: if level > 0.0 { variance.sqrt() / level } else { 0.0 },
        stopped: level <= still,
        gradual: false,
        slices: samples.len(),
    }
}

/// Where a piece begins.
struct Cut {
    /// Index into the samples.
    at: usize,
    /// Whether the speed sinks there bit by bit.
    gradual: bool,
}

/// Where pieces begin, and at last where there are no more samples.
fn cuts(samples: &[Interval], still: f64) -> Vec<Cut> {
    let (bins, bin_s) = bins(samples);
    let x: Vec<f64> = bins.iter().map(|bin| log_speed(bin.bytes_per_s, still)).collect();
    let noise = noise(&x, bin_s);
    let shortest = (SHORTEST_PIECE_S / bin_s - NEARLY_A_BIN).ceil() as usize;
    let penalty = PENALTY * noise * (x.len().max(2) as f64).ln();
    let starts = piece_starts(&x, noise / 2.0, shortest, penalty);
    let end = |n: usize| starts.get(n + 1).copied().unwrap_or(x.len());
    let levels: Vec<f64> = (0..starts.len()).map(|n| median(&x[starts[n]..end(n)])).collect();
    let mut cuts = vec![Cut { at: 0, gradual: false }];
    for n in 1..starts.len() {
        let at = finer_cut(samples, &bins, starts[n], (levels[n - 1], levels[n]), still);
        // Of a flight of steps down only the first may begin earlier than it looks.
        let first_down = levels[n] < levels[n - 1] && (n < 2 || levels[n - 1] >= levels[n - 2]);
        let began = if first_down { sinking::began(&x, starts[n - 1], starts[n]) } else { None };
        cuts.push(match began {
            Some(bin) => Cut { at: bins[bin].first.min(at), gradual: true },
            None => Cut { at, gradual: false },
        });
    }
    for (n, start) in starts.iter().enumerate() {
        // The first slice is in part what was before, if anything was.
        let inner = start + usize::from(n > 0)..end(n);
        let speeds: Vec<f64> = bins[inner.clone()].iter().map(|bin| bin.bytes_per_s).collect();
        // The row in which a load begins is in part without one, and its speed no part of an even one.
        let later = || Some(1 + unsteady::began(speeds.get(1..)?, bin_s)?).filter(|_| n == 0);
        if let Some(bin) = unsteady::began(&speeds, bin_s).or_else(later) {
            cuts.push(Cut { at: bins[inner.start + bin].first, gradual: false });
        }
    }
    cuts.sort_by_key(|cut| cut.at);
    cuts.dedup_by_key(|cut| cut.at);
    cuts.push(Cut { at: samples.len(), gradual: false });
    cuts
}

/// Slices added up to [`BIN_S`].
struct Bin {
    first: usize,
    bytes_per_s: f64,
}

/// The bins, and how long one usually is, in seconds.
fn bins(samples: &[Interval]) -> (Vec<Bin>, f64) {
    // Exactly, or what grows as it is filled ends at up to twice its size: a month has millions.
    let whole = (samples.iter().map(|sample| sample.span_s).sum::<f64>() / BIN_S) as usize + 1;
    let most = whole.min(samples.len());
    let (mut bins, mut spans): (Vec<Bin>, Vec<f64>) = (Vec::with_capacity(most), Vec::with_capacity(most));
    let (mut first, mut span_s, mut bytes) = (0, 0.0, 0.0);
    for (index, sample) in samples.iter().enumerate() {
        span_s += sample.span_s;
        bytes += sample.bytes;
        // Intervals of 0.1 s do not add up to 1 s in binary.
        if span_s >= BIN_S - 1e-6 {
            bins.push(Bin { first, bytes_per_s: bytes / span_s });
            spans.push(span_s);
            (first, span_s, bytes) = (index + 1, 0.0, 0.0);
        }
    }
    match bins.last_mut().zip(spans.last_mut()) {
        _ if span_s <= 0.0 => {}
        // A short rest is no bin of its own: one late I/O would be its whole speed.
        Some((last, last_s)) if span_s < BIN_S / 2.0 => {
            last.bytes_per_s = (last.bytes_per_s * *last_s + bytes) / (*last_s + span_s);
            *last_s += span_s;
        }
        _ => {
            bins.push(Bin { first, bytes_per_s: bytes / span_s });
            spans.push(span_s);
        }
    }
    let usual_s = middle(&mut spans).max(1e-9);
    (bins, usual_s)
}

/// Moves a cut from the edge of a bin to the slice where the levels on its two sides fit best.
fn finer_cut(samples: &[Interval], bins: &[Bin], bin: usize, levels: (f64, f64), still: f64) -> usize {
    let from = bins[bin - 1].first;
    let to = bins.get(bin + 1).map_or(samples.len(), |next| next.first);
    let slice = &samples[from..to];
    let misfit = |sample: &Interval, level: f64| {
        (log_speed(sample.bytes_per_s(), still) - level).abs() * sample.span_s
    };
    let mut cost: f64 = slice.iter().map(|sample| misfit(sample, levels.1)).sum();
    let (mut best, mut least) = (bins[bin].first, f64::INFINITY);
    for (offset, sample) in slice.iter().enumerate().take(slice.len() - 1) {
        cost += misfit(sample, levels.0) - misfit(sample, levels.1);
        if cost < least {
            (best, least) = (from + offset + 1, cost);
        }
    }
    best
}

/// Logarithm of a speed; stops are all the same level.
fn log_speed(bytes_per_s: f64, still: f64) -> f64 {
    bytes_per_s.max(still).max(1e-3).ln()
}

/// The speed that nine tenths of the moving slices stay below.
fn fast_speed(samples: &[Interval]) -> f64 {
    let mut moving: Vec<f64> =
        samples.iter().map(Interval::bytes_per_s).filter(|speed| *speed > 0.0).collect();
    if moving.is_empty() {
        return 0.0;
    }
    let rank = (moving.len() - 1) * 9 / 10;
    *moving.select_nth_unstable_by(rank, f64::total_cmp).1
}

/// Standard deviation of the noise of speeds between neighbours, as a share of them.
pub(crate) fn noise_share(speeds: &[f64], slice_s: f64) -> f64 {
    noise(&speeds.iter().filter(|speed| **speed > 0.0).map(|speed| speed.ln()).collect::<Vec<_>>(), slice_s)
}

/// Standard deviation of the noise between neighbours, which steps hardly touch.
fn noise(x: &[f64], slice_s: f64) -> f64 {
    let least = LEAST_NOISE / slice_s.max(BIN_S).sqrt();
    let mut differences: Vec<f64> = x.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    if differences.is_empty() {
        return least;
    }
    let quarter = differences.len() / 4;
    let quartile = *differences.select_nth_unstable_by(quarter, f64::total_cmp).1;
    (quartile / QUARTILE_DIFFERENCE).clamp(least, MOST_NOISE)
}

/// The median; 0 of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    middle(&mut values.to_vec())
}

/// The same of values whose order is of no more use.
fn middle(values: &mut [f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The median, and the standard deviation that the distances from it make where a few values are far off: of a normal distribution it is
/// 1.4826 of their median.
pub(crate) fn median_and_deviation(values: &[f64]) -> (f64, f64) {
    let median = median(values);
    let mut off: Vec<f64> = values.iter().map(|value| (value - median).abs()).collect();
    (median, 1.4826 * middle(&mut off))
}

/// The lower and the upper quarter; `None` of nothing.
pub(crate) fn quarters(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| sorted.get((sorted.len() as f64 * share) as usize).copied();
    at(0.25).zip(at(0.75))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::findings::SegmentOp;

    fn stretch(span_s: f64, speed: impl Fn(f64) -> f64, seconds: f64) -> Vec<Stretch<'static>> {
        let count = (seconds / span_s).round() as usize;
        let sample = |i: usize| {
            let start_s = i as f64 * span_s;
            Interval { start_s, span_s, bytes: span_s * speed(start_s), phase: 0 }
        };
        vec![Stretch {
            phase: 0,
            op: SegmentOp::Write,
            trickle_bytes_per_s: 0.0,
            samples: (0..count).map(sample).collect(),
        }]
    }

    #[test]
    fn a_step_is_cut_to_the_interval_and_a_stop_is_a_level() {
        let speed = |t: f64| match t {
            t if t < 61.25 => 3e9,
            t if t < 90.45 => 2.4e9,
            t if t < 120.0 => 0.0,
            _ => 3e9,
        };
        let pieces = pieces(&stretch(0.1, speed, 150.0));
        let starts: Vec<f64> = pieces.iter().map(|p| (p.start_s * 10.0).round() / 10.0).collect();
        assert_eq!(starts, [0.0, 61.3, 90.5, 120.0]);
        assert!(pieces[2].stopped && !pieces[1].stopped);
        assert!((pieces[1].mean / 2.4e9 - 1.0).abs() < 0.002);
    }

    /// Times that were added up are off in their last digits.
    #[test]
    fn a_piece_of_three_rows_is_one_whatever_their_last_digit() {
        let speed = |t: f64| if (30.0..32.9).contains(&t) { 1e9 } else { 3e9 };
        for span_s in [1.0, 1.0 - 1e-13, 0.998] {
            assert_eq!(pieces(&stretch(span_s, speed, 60.0)).len(), 3, "rows of {span_s} s");
        }
    }

    #[test]
    fn bursts_shorter_than_a_piece_are_one_piece_with_variance() {
        let pieces =
            pieces(&stretch(0.1, |t| if (t * 10.0).round() as i64 % 5 < 3 { 1e9 } else { 0.0 }, 60.0));
        assert_eq!(pieces.len(), 1);
        assert!((pieces[0].mean / 0.6e9 - 1.0).abs() < 0.01 && pieces[0].variation > 0.7);
    }

    /// A month at 1 Hz in which nothing happens is PELT's worst case.
    #[test]
    fn a_constant_week_is_one_piece() {
        let pieces = pieces(&stretch(1.0, |t| 1e9 * (1.0 + 0.02 * (t * 12.9898).sin()), 604_800.0));
        assert_eq!(pieces.len(), 1);
    }
}
