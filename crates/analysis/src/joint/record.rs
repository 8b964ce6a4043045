//! Whether two runs are one record: a copy, an export in another unit or at other intervals, a part of it.
//!
//! No two measurements share their noise. So two records are laid over each other, and are one where their speeds differ
//! by far less than neighbouring stretches of one of them do. Where they overlap is not known: their beginnings, their
//! ends and their clocks are tried, and their largest steps on each other's.

use std::hash::{Hash as _, Hasher as _};

use super::{JointRun, OTHER_K};
use crate::segment::median;
use trace::{Trace, load_totals};

/// Rows that are kept of a record: a day at 1 Hz, and some. What comes later is not compared.
const MOST_ROWS: usize = 100_000;
/// Steps of a record that are laid on those of another.
const STEPS: usize = 16;
/// Speeds are compared over this time, or this many rows: rows of 2 s have other edges than rows of 1 s.
const WINDOW_S: f64 = 10.0;
const WINDOW_ROWS: f64 = 4.0;
/// So many windows tell, and so many suffice; a shift that does not fit is known by a few.
const FEWEST: usize = 6;
const MOST: usize = 200;
const FIRST_LOOK: usize = 16;
/// Records overlap by this share of the shorter one: the first and the last two thirds of a run, by half.
const OVERLAP: f64 = 0.3;
/// One record differs from itself, exported otherwise, by less than this share of its noise, in most windows. Two records of
/// one noise do in 19 % of them.
const OF_NOISE: f64 = 0.35;
const MOSTLY: f64 = 0.85;
/// Without noise: a decimal of MB/s, and a share.
const DECIMAL_BYTES_PER_S: f64 = 5e4;
const ROUNDED: f64 = 1e-4;
/// A window in which speeds are this far apart is another course, whatever the noise; a few lie on steps.
const OTHER_COURSE: f64 = 0.1;
const HARDLY_EVER: f64 = 0.03;
/// Temperatures of one record, rounded otherwise, differ by less on average.
const SAME_K: f64 = 0.6;

/// What tells records apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// A number over all speeds and temperatures: an exact copy is known whatever there is to compare.
    pub(super) exact: u64,
    /// Bytes that were moved up to each time, in order of time.
    pub(super) moved: Vec<[f64; 2]>,
    /// Readings: seconds and kelvins.
    pub(super) kelvin: Vec<[f64; 2]>,
    /// Length of a row, in seconds.
    pub(super) row_s: f64,
    /// By how much speed changes from row to row: half do by less, in bytes per second.
    pub(super) row_by_row: f64,
    /// When speed changed most, in seconds.
    pub(super) steps_s: Vec<f64>,
}

impl Record {
    pub(super) fn new(trace: &Trace) -> Self {
        let rows: Vec<_> = load_totals(&trace.speeds).take(MOST_ROWS).map(|total| total.interval()).collect();
        let mut moved: Vec<[f64; 2]> = Vec::with_capacity(rows.len());
        let mut bytes = 0.0;
        for row in &rows {
            let after_s = moved.last().map_or(f64::NEG_INFINITY, |last| last[0]);
            // What lies beside an interval of another clock adds to it.
            if row.start_s > after_s {
                moved.push([row.start_s, bytes]);
            }
            bytes += row.bytes;
            moved.push([row.end_s().max(after_s), bytes]);
        }
        let mut steps: Vec<(f64, f64)> = rows
            .windows(2)
            .map(|pair| ((pair[1].bytes_per_s() - pair[0].bytes_per_s()).abs(), pair[1].start_s))
            .collect();
        steps.sort_by(|a, b| b.0.total_cmp(&a.0));
        let row_by_row = median(&steps.iter().map(|(by, _)| *by).collect::<Vec<_>>());
        let readings = trace.temperature().map_or(&[][..], |series| series.points());
        Self {
            exact: exact(trace),
            moved,
            kelvin: readings.iter().take(MOST_ROWS).map(|p| [p.t.as_secs_f64(), p.value]).collect(),
            row_by_row,
            row_s: median(&rows.iter().map(|row| row.span_s).collect::<Vec<_>>()),
            steps_s: steps.into_iter().take(STEPS).map(|(_, s)| s).collect(),
        }
    }

    fn ends(&self) -> Option<(f64, f64)> {
        Some((self.moved.first()?[0], self.moved.last()?[0]))
    }

    fn span_s(&self) -> f64 {
        self.ends().map_or(0.0, |(begin_s, end_s)| end_s - begin_s)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let Some((ends, others)) = self.ends().zip(other.ends()) else { return self.exact == other.exact };
        let plain = [ends.0 - others.0, ends.1 - others.1, 0.0];
        let steps = self.steps_s.iter().flat_map(|s| other.steps_s.iter().map(move |other_s| s - other_s));
        let fits = |later_s: f64| {
            let overlap = (ends.0.max(others.0 + later_s), ends.1.min(others.1 + later_s));
            let agrees = |most: usize, share: f64| self.agrees(other, later_s, overlap, most, share);
            agrees(FIRST_LOOK, 0.5) && agrees(MOST, MOSTLY)
        };
        self.exact == other.exact || plain.into_iter().chain(steps).any(fits)
    }

    /// Whether the other record, this much later, is the same in this share of at most so many windows.
    fn agrees(&self, other: &Self, later_s: f64, overlap: (f64, f64), most: usize, share: f64) -> bool {
        let (from_s, to_s) = overlap;
        let window_s = WINDOW_S.max(WINDOW_ROWS * self.row_s.max(other.row_s));
        let count = ((to_s - from_s) / window_s).floor();
        if to_s - from_s < OVERLAP * self.span_s().min(other.span_s()) || count < FEWEST as f64 {
            return false;
        }
        let stride = (count / most as f64).max(1.0);
        let (mut apart, mut neighbours, mut apart_k) = (Vec::new(), Vec::new(), Vec::new());
        for nth in 0..most.min(count as usize) {
            let at_s = from_s + (stride * nth as f64).floor() * window_s;
            let [here, there] = [self.speed(at_s, window_s), other.speed(at_s - later_s, window_s)];
            // That nothing was done in both is no sign.
            if here.max(there) > 0.0 {
                apart.push(((here - there).abs(), here.max(there)));
                neighbours.push((self.speed(at_s + window_s, window_s) - here).abs());
            }
            let kelvin = self.kelvin_at(at_s + window_s).zip(other.kelvin_at(at_s + window_s - later_s));
            apart_k.extend(kelvin.map(|(here, there)| (here - there).abs()));
        }
        // Cycles set neighbouring windows apart, and hardly ever rows.
        let noise = median(&neighbours).min(self.noise(window_s)).min(other.noise(window_s));
        let of = |within: &dyn Fn(f64, f64) -> bool| {
            apart.iter().filter(|(by, level)| within(*by, *level)).count() as f64 / apart.len() as f64
        };
        let same = of(&|by, level| by <= (OF_NOISE * noise).max(ROUNDED * level + DECIMAL_BYTES_PER_S));
        let other_course = of(&|by, level| by > OTHER_COURSE * level);
        let warmer_k = apart_k.iter().sum::<f64>() / apart_k.len().max(1) as f64;
        apart.len() >= FEWEST && same >= share && other_course <= HARDLY_EVER && warmer_k <= SAME_K
    }

    /// By how much means over so long differ from each other where rows are independent.
    fn noise(&self, window_s: f64) -> f64 {
        self.row_by_row * (self.row_s / window_s).sqrt()
    }

    /// Mean speed over so long from `from_s` on, in bytes per second.
    fn speed(&self, from_s: f64, span_s: f64) -> f64 {
        (self.moved_until(from_s + span_s) - self.moved_until(from_s)) / span_s
    }

    fn moved_until(&self, s: f64) -> f64 {
        let after = self.moved.partition_point(|[at_s, _]| *at_s <= s);
        match (after.checked_sub(1).map(|before| self.moved[before]), self.moved.get(after)) {
            (Some([from_s, from]), Some([to_s, to])) => from + (to - from) * (s - from_s) / (to_s - from_s),
            (Some([_, bytes]), None) => bytes,
            (None, _) => 0.0,
        }
    }

    fn kelvin_at(&self, s: f64) -> Option<f64> {
        let after = self.kelvin.partition_point(|[at_s, _]| *at_s <= s);
        Some(self.kelvin[after.checked_sub(1)?][1])
    }
}

/// A number over speeds and temperatures, the times relative to the first.
fn exact(trace: &Trace) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    let begin_s = trace.begin_s().unwrap_or(0.0);
    // To a tenth of a millisecond and a byte: a copy in another format has rounding of its own.
    let mut number = |value: f64| value.round().to_bits().hash(&mut hasher);
    for interval in trace.speeds.iter().flat_map(|series| &series.intervals) {
        [1e4 * (interval.start_s - begin_s), interval.bytes].into_iter().for_each(&mut number);
    }
    for point in trace.temperature().map_or(&[][..], |series| series.points()) {
        [1e4 * (point.t.as_secs_f64() - begin_s), 10.0 * point.value].into_iter().for_each(&mut number);
    }
    hasher.finish()
}

/// The runs that are records of their own, of each record the longest.
pub(super) fn distinct(runs: &[JointRun]) -> Vec<usize> {
    let mut records: Vec<Vec<usize>> = Vec::new();
    for index in 0..runs.len() {
        let is_one = |record: &Vec<usize>| record.iter().any(|other| is_same(&runs[index], &runs[*other]));
        match records.iter_mut().find(|record| is_one(record)) {
            Some(record) => record.push(index),
            None => records.push(vec![index]),
        }
    }
    let mut longest: Vec<usize> = records
        .iter()
        .filter_map(|record| {
            let longer = |a: &usize, b: &usize| {
                runs[*a].record.span_s().total_cmp(&runs[*b].record.span_s()).then(b.cmp(a))
            };
            record.iter().copied().max_by(longer)
        })
        .collect();
    longest.sort_unstable();
    longest
}

/// Whether two runs are one record. At other settings, or in other air, they are none, though nothing else came of it.
fn is_same(a: &JointRun, b: &JointRun) -> bool {
    let apart = |a: Option<f64>, b: Option<f64>, by: f64| a.zip(b).is_some_and(|(a, b)| (a - b).abs() >= by);
    let elsewhere = apart(a.set_k.0, b.set_k.0, 0.5)
        || apart(a.set_k.1, b.set_k.1, 0.5)
        || apart(a.ambient_k, b.ambient_k, OTHER_K)
        || a.power_state.zip(b.power_state).is_some_and(|(a, b)| a != b);
    !elsewhere && a.record.is_same(&b.record)
}

/// Whether runs of so many records are that by being copies to the last number.
pub(super) fn are_exact(runs: &[JointRun], records: usize) -> bool {
    let numbers: std::collections::BTreeSet<u64> = runs.iter().map(|run| run.record.exact).collect();
    numbers.len() == records
}

#[cfg(test)]
mod test {
    use super::*;
    use measure::Series;
    use trace::{Interval, SegmentOp, SpeedSeries, Temperature, TrustedSensor};

    /// Rows of a read that is throttled in its middle, for good or in cycles: seconds, bytes per second and kelvins.
    fn rows(seed: u64, noise: f64, cycle_s: usize) -> Vec<[f64; 3]> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut normal = || {
            let mut uniform = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1u64 << 53) as f64
            };
            (0..12).map(|_| uniform()).sum::<f64>() - 6.0
        };
        let level = |s: usize| if s < 350 || (s - 350) % cycle_s > cycle_s / 2 { 3.2e9 } else { 1.9e9 };
        let kelvin = |s: usize| (351.0 - 30.0 * (-(s as f64) / 90.0).exp()).floor();
        (0..900).map(|s| [s as f64, level(s) * (1.0 + noise * normal()), kelvin(s)]).collect()
    }

    fn record(rows: &[[f64; 3]], row_s: f64, from_s: f64) -> Record {
        let mut trace = Trace::empty("made by hand");
        let interval = |row: &[f64; 3]| Interval {
            start_s: row[0] + from_s,
            span_s: row_s,
            bytes: row_s * row[1],
            phase: 0,
        };
        trace.speeds =
            vec![SpeedSeries { op: SegmentOp::Read, intervals: rows.iter().map(interval).collect() }];
        let mut kelvin = Series::new();
        rows.iter().for_each(|row| kelvin.push(trace::instant(row[0] + from_s + row_s), row[2]));
        trace.temperatures = vec![Temperature { name: "composite".to_owned(), kelvin }];
        trace.trusted = Some(TrustedSensor { index: 0, why: String::new() });
        Record::new(&trace)
    }

    /// Goal: a record is known again however it was exported or cut. Method: seven kinds of copies, with noise and without.
    #[test]
    fn what_is_exported_otherwise_or_cut_is_the_same_record() {
        for (seed, noise) in [(1, 0.012), (2, 0.002), (3, 0.08), (4, 0.0), (5, 0.012), (6, 0.0)] {
            let all = rows(seed, noise, if seed > 4 { 31 } else { 9999 });
            let decimal: Vec<[f64; 3]> =
                all.iter().map(|[s, v, k]| [*s, (v / 1e5).round() * 1e5, *k]).collect();
            let pairs: Vec<[f64; 3]> =
                all.chunks(2).map(|pair| [pair[0][0], (pair[0][1] + pair[1][1]) / 2.0, pair[1][2]]).collect();
            let whole = record(&all, 1.0, 0.0);
            let copies = [
                ("MB/s with a decimal", record(&decimal, 1.0, 0.0)),
                ("means of 2 s", record(&pairs, 2.0, 0.0)),
                ("without its last rows", record(&all[..895], 1.0, 0.0)),
                ("without its last sixth", record(&all[..750], 1.0, 0.0)),
                ("later", record(&all, 1.0, 1000.0)),
                ("its last two thirds, as if they began at 0", record(&all[300..], 1.0, -300.0)),
            ];
            for (what, copy) in &copies {
                assert!(whole.is_same(copy) && copy.is_same(&whole), "{what} at {noise}");
            }
            assert!(copies[5].1.is_same(&record(&all[..600], 1.0, 0.0)), "two parts that overlap, {noise}");
        }
    }

    /// Goal: another measurement of the same is another record.
    #[test]
    fn a_repeat_with_noise_of_its_own_is_another_record() {
        for noise in [0.0005, 0.002, 0.012, 0.08] {
            for (seed, cycle_s) in (1..=8).flat_map(|seed| [(seed, 9999), (seed, 31), (seed, 12)]) {
                let [one, other] =
                    [seed, seed + 100].map(|seed| record(&rows(seed, noise, cycle_s), 1.0, 0.0));
                assert!(!one.is_same(&other), "seed {seed} at {noise}, cycles of {cycle_s} s");
            }
        }
    }
}
