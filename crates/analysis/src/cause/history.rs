//! What the whole run tells about one drop: how hot the drive was at full speed, how often it was slow and when.

use std::collections::BTreeMap;

use super::crossing::HYSTERESIS_K;
use super::drops::SpeedDrop;
use super::heat::Heat;
use crate::findings::SegmentOp;
use crate::segment::{Piece, Stretch};

/// Temperatures are counted in bins this wide: whole kelvins fall into every second one.
const BIN_K: f64 = 0.5;
/// A speed within this share of the speed after the cache was full is that speed.
const SAME_SPEED: f64 = 0.25;

/// Whose sums: the operation, and whether those of drops inside drops, for which the outer speed is the full one.
type Depth = (SegmentOp, bool);

/// Sums over a run, by operation.
#[derive(Debug, Default)]
pub(crate) struct History {
    by_op: BTreeMap<(u8, bool), OpHistory>,
    /// The coolest reading of the run, in kelvins; infinite without any.
    pub coolest_k: f64,
    /// Speeds after the fast cache was found full, in bytes per second.
    after_cache: Vec<f64>,
}

#[derive(Debug, Default)]
struct OpHistory {
    /// Seconds at full speed by temperature bin; after `finish`, in that bin or a hotter one.
    full_speed_s: BTreeMap<i64, f64>,
    /// Temperatures at which drops began, rising.
    onsets_k: Vec<f64>,
    /// Of those that the speed came back from, in whole half kelvins of their beginning: the coolest end.
    releases_k: BTreeMap<i64, f64>,
}

/// What a piece is to the drops around it.
#[derive(Clone, Copy)]
enum Slow {
    /// It is at full speed.
    No,
    /// It is slow.
    Outer,
    /// It is slower still.
    Inner,
}

impl History {
    /// Sums up a run. `drops` are those of each stretch; time inside them is not full speed.
    pub(crate) fn new(heat: &Heat, stretches: &[Stretch], pieces: &[Piece], drops: &[SpeedDrop]) -> Self {
        let coolest_k = heat.all().iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
        let mut history = Self { coolest_k, ..Self::default() };
        let mut slow = vec![Slow::No; pieces.len()];
        for drop in drops {
            slow[drop.first..=drop.last].fill(Slow::Inner);
            let first = &pieces[drop.first];
            // A load that is known to begin slow began so at any temperature.
            if drop.at_start && drop.before.is_none() {
                continue;
            }
            if let Some(onset_k) = heat.peak_k(first.start_s) {
                let of = (stretches[first.stretch].op, drop.inside.is_some());
                let hysteresis_k = if drop.at_start { HYSTERESIS_K } else { 0.0 };
                history.of_mut(of).onsets_k.push(onset_k + hysteresis_k);
                let end = drop.recovered.then(|| heat.low_k(pieces[drop.last].end_s)).flatten();
                if let Some(release_k) = end.filter(|_| !drop.at_start) {
                    let coolest = history.of_mut(of).releases_k.entry(bin(onset_k)).or_insert(release_k);
                    *coolest = coolest.min(release_k);
                }
            }
        }
        for drop in drops.iter().filter(|drop| drop.inside.is_none()) {
            drop.own.iter().for_each(|own| slow[*own] = Slow::Outer);
        }
        for (piece, slow) in pieces.iter().zip(&slow).filter(|(piece, _)| !piece.stopped) {
            let inner = match slow {
                Slow::No => false,
                Slow::Outer => true,
                Slow::Inner => continue,
            };
            let sums = &mut history.of_mut((stretches[piece.stretch].op, inner)).full_speed_s;
            for reading in heat.within(piece.start_s, piece.end_s) {
                *sums.entry(bin(reading.value)).or_default() += heat.period_s;
            }
        }
        for sums in history.by_op.values_mut() {
            sums.onsets_k.sort_by(f64::total_cmp);
            let mut hotter = 0.0;
            for seconds in sums.full_speed_s.values_mut().rev() {
                hotter += *seconds;
                *seconds = hotter;
            }
        }
        history
    }

    /// Seconds at full speed at `kelvin` or hotter.
    pub(crate) fn full_speed_s_above(&self, of: Depth, kelvin: f64) -> f64 {
        let bin = (kelvin / BIN_K).ceil() as i64;
        let sums = self.by_op.get(&(of.0 as u8, of.1)).map(|history| &history.full_speed_s);
        sums.and_then(|sums| sums.range(bin..).next()).map_or(0.0, |(_, seconds)| *seconds)
    }

    /// How many drops this operation had.
    pub(crate) fn drop_count(&self, of: Depth) -> usize {
        self.by_op.get(&(of.0 as u8, of.1)).map_or(0, |history| history.onsets_k.len())
    }

    /// How many drops the run had.
    pub(crate) fn drops(&self) -> usize {
        self.by_op.values().map(|history| history.onsets_k.len()).sum()
    }

    /// Seconds at full speed, whatever the temperature.
    pub(crate) fn full_speed_s(&self, of: Depth) -> f64 {
        self.full_speed_s_above(of, 0.0)
    }

    /// Seconds at full speed within half a band of `kelvin`, for each drop that began there: how long the drive
    /// stayed there before it gave way.
    pub(crate) fn stay_s(&self, of: Depth, kelvin: f64, half_k: f64) -> f64 {
        let there_s =
            self.full_speed_s_above(of, kelvin - half_k) - self.full_speed_s_above(of, kelvin + half_k);
        let history = self.by_op.get(&(of.0 as u8, of.1));
        let up_to =
            |k: f64| history.map_or(0, |history| history.onsets_k.partition_point(|onset| *onset < k));
        let drops = up_to(kelvin + half_k) - up_to(kelvin - half_k);
        there_s / drops.max(1) as f64
    }

    /// How cool it had to get, in kelvins, before the speed came back from other drops that began within a kelvin of this
    /// temperature.
    pub(crate) fn release_k(&self, of: Depth, onset_k: f64) -> Option<f64> {
        let releases = &self.by_op.get(&(of.0 as u8, of.1))?.releases_k;
        releases.range(bin(onset_k - 1.0)..=bin(onset_k + 1.0)).map(|(_, k)| *k).reduce(f64::min)
    }

    /// Remembers the speed after the fast cache was found full.
    pub(crate) fn remember_full_cache(&mut self, after_bytes_per_s: f64) {
        self.after_cache.push(after_bytes_per_s);
    }

    /// Whether a speed is about that after the fast cache was found full.
    pub(crate) fn slow_after_cache(&self, bytes_per_s: f64) -> bool {
        self.after_cache.iter().any(|after| (bytes_per_s / after - 1.0).abs() <= SAME_SPEED)
    }

    fn of_mut(&mut self, of: Depth) -> &mut OpHistory {
        self.by_op.entry((of.0 as u8, of.1)).or_default()
    }
}

fn bin(kelvin: f64) -> i64 {
    (kelvin / BIN_K).floor() as i64
}
