//! What the whole run tells about one drop: how hot the drive was at full speed, how often it was slow and when.

use std::collections::{BTreeMap, VecDeque};

use super::crossing::HYSTERESIS_K;
use super::drops::SpeedDrop;
use super::eras::Eras;
use super::heat::Heat;
use super::stood::Movement;
use crate::findings::SegmentOp;
use crate::segment::{Piece, Stretch};
use measure::Point;
use trace::Trace;

/// Temperatures are counted in bins this wide: whole kelvins fall into every second one.
const BIN_K: f64 = 0.5;
/// Speeds are told apart by this factor, ...
const LEVEL_FACTOR: f64 = 1.02;
/// ... and one goes on while it stays within this of where it began.
const ONE_SPEED: f64 = 1.25;
/// A speed within this share of the speed after the cache was full is that speed.
pub(super) const SAME_SPEED: f64 = 0.25;

/// Whose sums: the operation, and whether those of drops inside drops, for which the outer speed is the full one.
pub(super) type Depth = (SegmentOp, bool);

/// TMT1 and TMT2 in whole kelvins, as far as they are known and on.
pub(crate) type TmtPair = [Option<u64>; 2];

/// Those of one setting, or of all (`None`).
type HistoryKey = (u8, bool, Option<Setting>);

/// Seconds by cell of speed and temperature bin.
type ByLevel = BTreeMap<i64, BTreeMap<i64, f64>>;

/// What stood at a time: TMT1 and TMT2, and which of the settings that nobody recorded.
pub(super) type Setting = (TmtPair, usize);

/// What a host has set at `t_s`.
fn set_at(trace: &Trace, eras: &Eras, t_s: f64) -> Setting {
    let (tmt1_k, tmt2_k) = trace.tmt_at(t_s);
    ([tmt1_k, tmt2_k].map(|kelvin| kelvin.map(|kelvin| kelvin as u64)), eras.at(t_s))
}

/// Sums over a run, by operation.
#[derive(Debug, Default)]
pub(crate) struct History {
    by_op: BTreeMap<HistoryKey, OpHistory>,
    /// When settings that nobody recorded may have moved.
    pub(super) eras: Eras,
    /// How far the temperature moves at full speed.
    pub(super) movement: Movement,
    /// The coolest reading of the run, in kelvins; infinite without any.
    pub coolest_k: f64,
    /// Speeds after the fast cache was found full, in bytes per second.
    after_cache: Vec<f64>,
    /// Of drops that speed came back from, whatever the operation, as a threshold heeds none: the coolest end in kelvins by whether they
    /// lie in others, and by whole half kelvins of their beginning.
    releases_k: BTreeMap<(bool, i64), f64>,
}

#[derive(Debug, Default)]
struct OpHistory {
    /// Seconds at full speed by cell of that speed and temperature bin: as fast or faster and in that bin or a hotter one, once all are
    /// summed up.
    full_speed_s: ByLevel,
    /// Temperatures at which drops began, rising.
    onsets_k: Vec<f64>,
    /// Likewise the longest time in one go.
    longest_s: ByLevel,
    /// Seconds at full speed by stretch and temperature bin, before the first drop of that stretch, stretches without any since the last included.
    quiet_s: BTreeMap<usize, BTreeMap<i64, f64>>,
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
    pub(crate) fn new(
        trace: &Trace,
        heat: &Heat,
        stretches: &[Stretch],
        pieces: &[Piece],
        drops: &[SpeedDrop],
    ) -> Self {
        let coolest_k = heat.all().iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
        let eras = Eras::new(trace, heat, pieces, drops);
        let setting = |t_s: f64| set_at(trace, &eras, t_s);
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
                let keys = [None, Some(setting(first.start_s))].map(|set| key(of, set));
                let hysteresis_k = if drop.at_start { HYSTERESIS_K } else { 0.0 };
                for key in keys {
                    history.of_mut(key).onsets_k.push(onset_k + hysteresis_k);
                }
                let end = drop.recovered.then(|| heat.low_k(pieces[drop.last].end_s)).flatten();
                if let Some(release_k) = end.filter(|_| !drop.at_start) {
                    let began = (drop.inside.is_some(), bin(onset_k));
                    let coolest = history.releases_k.entry(began).or_insert(release_k);
                    *coolest = coolest.min(release_k);
                }
            }
        }
        for drop in drops.iter().filter(|drop| drop.inside.is_none()) {
            drop.own.iter().for_each(|own| slow[*own] = Slow::Outer);
        }
        let first_s = first_drops_s(drops, stretches, pieces);
        let set_once = trace.settings.points().len() <= 1 && eras.moves() == 0;
        let mut visit = Visit::default();
        for (piece, slow) in pieces.iter().zip(&slow).filter(|(piece, _)| !piece.stopped) {
            let op = stretches[piece.stretch].op;
            let (set, readings) = (setting(piece.start_s), heat.within(piece.start_s, piece.end_s));
            let changes: Option<&dyn Fn(f64) -> Setting> = if set_once { None } else { Some(&setting) };
            let (seen_s, _) = heat.seen_around_s();
            let time = Time { piece, op, readings, reading_s: heat.period_s, seen_s, set, changes };
            match slow {
                Slow::No => {
                    let next = first_s.range((op as u8, piece.stretch)..).next();
                    let quiet = next.filter(|(of, first_s)| of.0 == op as u8 && piece.start_s < **first_s);
                    history.add(&time, false, quiet.map(|(of, _)| of.1));
                    visit.goes_on(&time, &mut history);
                }
                Slow::Outer => {
                    visit.end(&mut history);
                    history.add(&time, true, None);
                }
                Slow::Inner => visit.end(&mut history),
            }
        }
        visit.end(&mut history);
        history.eras = eras;
        history.movement = Movement::new(heat, &at_full_speed_s(pieces, &slow));
        for sums in history.by_op.values_mut() {
            sums.onsets_k.sort_by(f64::total_cmp);
            from_fastest(&mut sums.full_speed_s, |faster, own| faster + own);
            from_fastest(&mut sums.longest_s, f64::max);
            sums.full_speed_s.values_mut().for_each(sum_from_hottest);
            sums.longest_s.values_mut().for_each(most_from_hottest);
        }
        history
    }

    /// Counts the time of a piece at the speed that is full at its depth; `before` is the
    /// stretch whose first drop comes next, where that of this one or of those since has not.
    fn add(&mut self, time: &Time, inner: bool, before: Option<usize>) {
        for (bin, set) in time.readings() {
            for key in [None, Some(set)].map(|set| key((time.op, inner), set)) {
                let sums = self.of_mut(key);
                let of_level = sums.full_speed_s.entry(level_cell(time.piece.level)).or_default();
                *of_level.entry(bin).or_default() += time.reading_s;
                if let Some(stretch) = before {
                    let quiet_s = sums.quiet_s.entry(stretch).or_default();
                    *quiet_s.entry(bin).or_default() += time.reading_s;
                }
            }
        }
    }

    /// What stood at `t_s`.
    pub(super) fn setting(&self, trace: &Trace, t_s: f64) -> Setting {
        set_at(trace, &self.eras, t_s)
    }

    /// Seconds at full speed at `kelvin` or hotter.
    pub(crate) fn full_speed_s_above(&self, of: Depth, kelvin: f64) -> f64 {
        self.above(of, None, kelvin, 0.0).0
    }

    /// Seconds at full speed at `kelvin` or hotter and at no less than `least_bytes_per_s`, under one setting of TMT1 and TMT2, or
    /// under all, and how many drops there were at any temperature. A load that asks for no more than what a throttle leaves
    /// does not show whether it acts.
    pub(super) fn above(
        &self,
        of: Depth,
        set: Option<Setting>,
        kelvin: f64,
        least_bytes_per_s: f64,
    ) -> (f64, usize) {
        let Some(history) = self.by_op.get(&key(of, set)) else { return (0.0, 0) };
        (as_fast_s(&history.full_speed_s, least_bytes_per_s, kelvin), history.onsets_k.len())
    }

    /// The longest that it was at full speed in one go and no cooler than `kelvin`, in seconds, as [`Self::above`] has it.
    pub(super) fn longest_above_s(
        &self,
        of: Depth,
        set: Option<Setting>,
        kelvin: f64,
        least_bytes_per_s: f64,
    ) -> f64 {
        let history = self.by_op.get(&key(of, set));
        history.map_or(0.0, |history| as_fast_s(&history.longest_s, least_bytes_per_s, kelvin))
    }

    /// How many drops the run had.
    pub(crate) fn drops(&self) -> usize {
        let all = self.by_op.iter().filter(|((.., set), _)| set.is_none());
        all.map(|(_, history)| history.onsets_k.len()).sum()
    }

    /// Seconds at full speed, whatever the temperature.
    pub(crate) fn full_speed_s(&self, of: Depth) -> f64 {
        self.full_speed_s_above(of, 0.0)
    }

    /// Seconds at full speed, and at no less than `least_bytes_per_s`, within half a band of `kelvin`, for each drop that began there:
    /// how long the drive stayed there before it gave way.
    pub(super) fn stay_s(
        &self,
        of: Depth,
        set: Option<Setting>,
        kelvin: f64,
        half_k: f64,
        least_bytes_per_s: f64,
    ) -> f64 {
        let above_s = |kelvin: f64| self.above(of, set, kelvin, least_bytes_per_s).0;
        let there_s = above_s(kelvin - half_k) - above_s(kelvin + half_k);
        there_s / self.onsets(of, set, kelvin, half_k).max(1) as f64
    }

    /// Seconds at full speed in a kelvin, as [`Self::stay_s`] has it, on the way through `span_k` up to `kelvin`: the way that was passed
    /// as often as a drop began above it.
    pub(super) fn stay_s_per_k_below(
        &self,
        of: Depth,
        kelvin: f64,
        span_k: f64,
        least_bytes_per_s: f64,
    ) -> f64 {
        let (below_s, drops) = self.above(of, None, kelvin - span_k, least_bytes_per_s);
        let (above_s, _) = self.above(of, None, kelvin, least_bytes_per_s);
        (below_s - above_s) / span_k / drops.max(1) as f64
    }

    /// Seconds at full speed before the first drop of a stretch: cooler than `kelvin`, and no cooler.
    pub(crate) fn quiet_s(&self, of: Depth, stretch: usize, kelvin: f64) -> [f64; 2] {
        let history = self.by_op.get(&key(of, None));
        let Some(quiet_s) = history.and_then(|history| history.quiet_s.get(&stretch)) else {
            return [0.0; 2];
        };
        let cooler_s: f64 = quiet_s.range(..bin(kelvin)).map(|(_, seconds)| seconds).sum();
        [cooler_s, quiet_s.values().sum::<f64>() - cooler_s]
    }

    /// How many drops began within half a band of `kelvin`, under one setting or all.
    pub(super) fn onsets(&self, of: Depth, set: Option<Setting>, kelvin: f64, half_k: f64) -> usize {
        let history = self.by_op.get(&key(of, set));
        let up_to =
            |k: f64| history.map_or(0, |history| history.onsets_k.partition_point(|onset| *onset < k));
        up_to(kelvin + half_k) - up_to(kelvin - half_k)
    }

    /// How cool it had to get, in kelvins, before the speed came back from other drops that began within a kelvin of this
    /// temperature.
    pub(crate) fn release_k(&self, inside: bool, onset_k: f64) -> Option<f64> {
        let began = |kelvin: f64| (inside, bin(kelvin));
        self.releases_k.range(began(onset_k - 1.0)..=began(onset_k + 1.0)).map(|(_, k)| *k).reduce(f64::min)
    }

    /// Remembers the speed after the fast cache was found full.
    pub(crate) fn remember_full_cache(&mut self, after_bytes_per_s: f64) {
        self.after_cache.push(after_bytes_per_s);
    }

    /// Whether a speed is about that after the fast cache was found full.
    pub(crate) fn slow_after_cache(&self, bytes_per_s: f64) -> bool {
        self.after_cache.iter().any(|after| (bytes_per_s / after - 1.0).abs() <= SAME_SPEED)
    }

    fn of_mut(&mut self, key: HistoryKey) -> &mut OpHistory {
        self.by_op.entry(key).or_default()
    }
}

/// The times at full speed in one go, from when to when and when their load had begun, in seconds.
fn at_full_speed_s(pieces: &[Piece], slow: &[Slow]) -> Vec<(f64, f64, f64)> {
    let mut times_s: Vec<(f64, f64, f64)> = Vec::new();
    let (mut began_s, mut goes_on) = (0.0, None);
    for (piece, slow) in pieces.iter().zip(slow) {
        if goes_on.is_none_or(|(stretch, _)| stretch != piece.stretch) {
            (began_s, goes_on) = (piece.start_s, None);
        }
        let full = matches!(slow, Slow::No) && !piece.stopped;
        match times_s.last_mut() {
            Some((.., end_s)) if full && goes_on == Some((piece.stretch, true)) => *end_s = piece.end_s,
            _ if full => times_s.push((began_s, piece.start_s, piece.end_s)),
            _ => {}
        }
        goes_on = Some((piece.stretch, full));
    }
    times_s
}

/// When the first drop of each stretch began, in seconds, by operation.
fn first_drops_s(drops: &[SpeedDrop], stretches: &[Stretch], pieces: &[Piece]) -> BTreeMap<(u8, usize), f64> {
    let mut first_s: BTreeMap<(u8, usize), f64> = BTreeMap::new();
    for first in drops.iter().map(|drop| &pieces[drop.first]) {
        let of = (stretches[first.stretch].op as u8, first.stretch);
        let of_stretch = first_s.entry(of).or_insert(f64::INFINITY);
        *of_stretch = of_stretch.min(first.start_s);
    }
    first_s
}

/// The time of a piece.
struct Time<'a> {
    piece: &'a Piece,
    op: SegmentOp,
    readings: &'a [Point<f64>],
    /// What a reading stands for, in seconds.
    reading_s: f64,
    /// From how long before a moment on the temperature at an onset is looked for, in seconds.
    seen_s: f64,
    /// What was set when it began, ...
    set: Setting,
    /// ... and where that may have changed.
    changes: Option<&'a dyn Fn(f64) -> Setting>,
}

impl Time<'_> {
    /// Of each reading the temperature bin of a drop that would begin after it, and what was set then. As an onset is the hottest of some
    /// readings, so is what it is compared with: of readings once a minute, half of all are cooler than any that is the hottest of three.
    fn readings(&self) -> impl Iterator<Item = (i64, Setting)> {
        // Readings that may be the hottest of those to come, each cooler than the one before.
        let mut hottest: VecDeque<&Point<f64>> = VecDeque::new();
        self.readings.iter().map(move |point| {
            let t_s = point.t.as_secs_f64();
            while hottest.pop_back_if(|last| last.value <= point.value).is_some() {}
            hottest.push_back(point);
            while hottest.pop_front_if(|first| first.t.as_secs_f64() < t_s - self.seen_s).is_some() {}
            let kelvin = hottest.front().map_or(point.value, |first| first.value);
            (bin(kelvin), self.changes.map_or(self.set, |setting| setting(t_s)))
        })
    }
}

/// A time at full speed without a drop.
#[derive(Default)]
struct Visit {
    /// Stretch, and whose sums it counts in.
    of: Option<(usize, [HistoryKey; 2])>,
    /// The speed that it began with and the lowest since, in bytes per second.
    first: f64,
    lowest: f64,
    /// Seconds by temperature bin.
    by_bin: BTreeMap<i64, f64>,
}

impl Visit {
    /// Goes on with the next piece, or ends and begins anew where that is of another stretch or speed.
    fn goes_on(&mut self, time: &Time, history: &mut History) {
        let level = time.piece.level;
        let of = (time.piece.stretch, [None, Some(time.set)].map(|set| key((time.op, false), set)));
        if self.of != Some(of) || level.max(self.first) > ONE_SPEED * level.min(self.first) {
            self.end(history);
            (self.of, self.first, self.lowest) = (Some(of), level, level);
        }
        self.lowest = self.lowest.min(level);
        for (bin, _) in time.readings() {
            *self.by_bin.entry(bin).or_default() += time.reading_s;
        }
    }

    fn end(&mut self, history: &mut History) {
        let mut by_bin = std::mem::take(&mut self.by_bin);
        let Some((_, keys)) = self.of.take() else { return };
        let level = level_cell(self.lowest);
        sum_from_hottest(&mut by_bin);
        for key in keys {
            let longest = history.of_mut(key).longest_s.entry(level).or_default();
            for (bin, seconds) in &by_bin {
                let most: &mut f64 = longest.entry(*bin).or_default();
                *most = most.max(*seconds);
            }
        }
    }
}

const fn key(of: Depth, set: Option<Setting>) -> HistoryKey {
    (of.0 as u8, of.1, set)
}

fn bin(kelvin: f64) -> i64 {
    (kelvin / BIN_K).floor() as i64
}

fn level_cell(bytes_per_s: f64) -> i64 {
    (bytes_per_s.max(1.0).ln() / LEVEL_FACTOR.ln()).floor() as i64
}

/// Turns what a speed shows into what that and all faster ones do.
fn from_fastest(by_level: &mut ByLevel, join: impl Fn(f64, f64) -> f64) {
    let mut faster: BTreeMap<i64, f64> = BTreeMap::new();
    for own in by_level.values_mut().rev() {
        for (bin, seconds) in &*own {
            let faster = faster.entry(*bin).or_default();
            *faster = join(*faster, *seconds);
        }
        own.clone_from(&faster);
    }
}

/// Seconds at no less than a speed in bytes per second and at `kelvin` or hotter.
fn as_fast_s(from_fastest: &ByLevel, least_bytes_per_s: f64, kelvin: f64) -> f64 {
    let slowest = from_fastest.range(level_cell(least_bytes_per_s)..).next();
    slowest.map_or(0.0, |(_, by_bin)| hotter_s(by_bin, kelvin))
}

/// Turns seconds in a bin into those in that bin or a hotter one.
fn sum_from_hottest(by_bin: &mut BTreeMap<i64, f64>) {
    let mut hotter = 0.0;
    for seconds in by_bin.values_mut().rev() {
        hotter += *seconds;
        *seconds = hotter;
    }
}

/// Turns the most of a bin into the most of that bin and all hotter ones.
fn most_from_hottest(by_bin: &mut BTreeMap<i64, f64>) {
    let mut most = 0.0;
    for seconds in by_bin.values_mut().rev() {
        most = f64::max(most, *seconds);
        *seconds = most;
    }
}

/// Seconds at `kelvin` or hotter.
fn hotter_s(from_hottest: &BTreeMap<i64, f64>, kelvin: f64) -> f64 {
    let bin = (kelvin / BIN_K).ceil() as i64;
    from_hottest.range(bin..).next().map_or(0.0, |(_, seconds)| *seconds)
}
