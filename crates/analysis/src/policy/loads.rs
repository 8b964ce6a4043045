//! Loads of a run beside one another: stretches of one operation, or of one load of it.

use std::collections::BTreeMap;

use crate::cause::heat::Heat;
use crate::findings::SegmentOp;
use crate::segment::Stretch;
use crate::{AT_LINK, FASTER};
use trace::{Interval, Trace};

/// A load that only ran hot leaves a policy open from this on, whatever others show.
pub(super) const OPEN_S: f64 = 20.0;
/// A load filled its first row where that is as fast as the next.
const WHOLE_ROW: f64 = 0.95;
/// A temperature is at a threshold within rounding and a poll.
pub(super) const AT_THRESHOLD_K: f64 = 1.6;
const DIPPED_K: f64 = 4.0;
/// A drive whose load goes on stays as hot within so much.
pub(super) const WENT_ON_K: f64 = 2.0;
/// Without slowing down, a run that stayed below this says little about what the drive does when hot.
pub(super) const HOT_K: f64 = 343.0;
/// A drive that is as warm as this, and within so much of the hottest from its first second on, had been loaded before.
const WARM_K: f64 = 328.0;
const AT_REST_K: f64 = 4.0;
/// A log that begins in a load under which the drive cools by this much began after more of it, in hotter air, or throttled.
pub(super) const COOLED_K: f64 = 8.0;

/// Stretches of one operation, or of one load of it.
pub(super) struct Loads<'a> {
    pub(super) op: SegmentOp,
    pub(super) stretches: Vec<&'a Stretch<'a>>,
}

/// From when to when loads ran, in seconds.
pub(super) fn spans<'a>(loads: impl Iterator<Item = &'a Loads<'a>>) -> Vec<(f64, f64)> {
    loads.flat_map(|load| &load.stretches).map(|s| (s.start_s(), s.end_s())).collect()
}

/// The stretches that move data, by a key that holds their operation.
pub(super) fn loads_by<'a, K: Ord>(
    stretches: &'a [Stretch<'a>],
    key: impl Fn(&Stretch) -> K,
) -> BTreeMap<K, Loads<'a>> {
    let mut loads: BTreeMap<K, Loads> = BTreeMap::new();
    for stretch in stretches.iter().filter(|stretch| stretch.op.moves_data()) {
        let none = || Loads { op: stretch.op, stretches: Vec::new() };
        loads.entry(key(stretch)).or_insert_with(none).stretches.push(stretch);
    }
    loads
}

impl Loads<'_> {
    /// Whether it lasted, and neither the plan nor the link explains its speed.
    pub(super) fn is_free(&self, trace: &Trace) -> bool {
        self.lasts_s() >= OPEN_S && !self.is_limited(trace)
    }

    pub(super) fn lasts_s(&self) -> f64 {
        self.stretches.iter().map(|s| s.end_s() - s.start_s()).sum()
    }

    /// Whether the plan or the link explains its speed.
    pub(super) fn is_limited(&self, trace: &Trace) -> bool {
        let held = |stretch: &&Stretch| trace.phases[stretch.phase].is_limited();
        let fastest = self.samples().map(Interval::bytes_per_s).fold(0.0, f64::max);
        let by_link = trace.facts.link_bytes_per_s.is_some_and(|link| fastest >= AT_LINK * link);
        by_link || self.stretches.iter().any(held)
    }

    pub(super) fn stayed_hot(&self, heat: &Heat) -> bool {
        self.kelvin(heat).reduce(f64::min).is_some_and(|coolest_k| coolest_k >= HOT_K)
    }

    /// Whether it only ran warm, and was as hot from its first second on as ever: then it had run before the log began.
    pub(super) fn began_at_rest(&self, heat: &Heat) -> bool {
        let range = |(low, high): (f64, f64), k: f64| (low.min(k), high.max(k));
        let (coolest_k, hottest_k) = self.kelvin(heat).fold((f64::INFINITY, 0.0), range);
        let first_k = self.kelvin(heat).next();
        coolest_k >= WARM_K && first_k.is_some_and(|first_k| first_k >= hottest_k - AT_REST_K)
    }

    /// Whether it was hottest as it began, and cooled from then on.
    pub(super) fn only_cooled(&self, heat: &Heat) -> bool {
        let kelvin: Vec<f64> = self.kelvin(heat).collect();
        let hottest_k = kelvin.iter().copied().fold(0.0, f64::max);
        let ends = kelvin.first().zip(kelvin.last());
        hottest_k >= WARM_K + COOLED_K
            && ends.is_some_and(|(first, last)| *first >= hottest_k && *last <= hottest_k - COOLED_K)
    }

    pub(super) fn start_s(&self) -> f64 {
        self.stretches.first().map_or(f64::INFINITY, |stretch| stretch.start_s())
    }

    pub(super) fn began_hot(&self, heat: &Heat) -> bool {
        let first_k = |s: &&Stretch| heat.within(s.start_s(), s.end_s()).first().map(|p| p.value);
        self.stretches.iter().all(|stretch| first_k(stretch).is_some_and(|k| k >= HOT_K))
    }

    /// Whether it was at TMT1 nearly all the time. What dips cools a little.
    pub(super) fn at_tmt1(&self, trace: &Trace, heat: &Heat) -> bool {
        let mut kelvin: Vec<f64> = self.kelvin(heat).collect();
        kelvin.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| kelvin.get((kelvin.len() as f64 * share) as usize).copied();
        trace.tmt_at(0.0).0.zip(at(0.1)).zip(at(0.5)).is_some_and(|((tmt1_k, cool_k), middle_k)| {
            cool_k >= tmt1_k - DIPPED_K && (middle_k - tmt1_k).abs() <= AT_THRESHOLD_K
        })
    }

    /// The speed that it exceeds for a tenth of the time.
    pub(super) fn bytes_per_s(&self) -> f64 {
        let mut speeds: Vec<f64> = self.samples().map(Interval::bytes_per_s).collect();
        let at = (speeds.len() as f64 * 0.9) as usize;
        *speeds.select_nth_unstable_by(at, f64::total_cmp).1
    }

    /// Whether its speed may be held against that of another load: of the same operation, unless I/Os are known to differ in size.
    pub(super) fn is_like(&self, other: &Self, trace: &Trace) -> bool {
        let sizes = self.io_bytes(trace).zip(other.io_bytes(trace));
        self.op == other.op && sizes.is_none_or(|(a, b)| a.max(b) <= FASTER * a.min(b))
    }

    fn io_bytes(&self, trace: &Trace) -> Option<f64> {
        let mut phases: Vec<usize> = self.stretches.iter().map(|stretch| stretch.phase).collect();
        phases.dedup();
        let ios: Option<u64> = phases.into_iter().map(|phase| trace.phases[phase].ios).sum();
        ios.filter(|ios| *ios > 0).map(|ios| self.samples().map(|s| s.bytes).sum::<f64>() / ios as f64)
    }

    fn samples(&self) -> impl Iterator<Item = &Interval> {
        self.stretches.iter().flat_map(|stretch| stretch.samples.iter())
    }

    pub(super) fn kelvin(&self, heat: &Heat) -> impl Iterator<Item = f64> {
        // A load may begin within a row, and a reading at its very end be of what comes after.
        self.stretches.iter().flat_map(|s| {
            let within = |rows: &[Interval]| rows[0].bytes_per_s() < WHOLE_ROW * rows[1].bytes_per_s();
            let (first, end_s) = (usize::from(s.samples.windows(2).next().is_some_and(within)), s.end_s());
            let meanwhile = heat.within(s.samples[first].start_s, end_s).iter();
            meanwhile.filter(move |p| p.t.as_secs_f64() < end_s).map(|p| p.value)
        })
    }
}
