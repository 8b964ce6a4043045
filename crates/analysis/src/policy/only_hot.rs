//! Pauses, stops and stalls that came only while the drive was hot: a drive that protects itself does so, and so may a host. They leave a
//! policy open.

use std::collections::BTreeMap;

use super::loads::{AT_THRESHOLD_K, HOT_K, WENT_ON_K};
use crate::COOL_K;
use crate::cause::Judged;
use crate::cause::heat::{Heat, LATE_S};
use crate::findings::SegmentOp;
use crate::segment::{LEVEL_S, Stretch, median, noise_share, quarters};
use trace::{Interval, Phase, Trace};

/// Stops of a thermostat lie within its hysteresis of the hottest, and so many are a habit.
const AS_HOT_K: f64 = 7.0;
const STOPS: usize = 5;
/// A slice is a stall so many standard deviations below the usual speed, and in any case below this share of it. By chance some would have come while the drive was cooler: none do in one
/// run of four hundred, e to the minus this.
const STALLED: f64 = 0.5;
const SIGMAS: f64 = 5.0;
const MISSED_COOL: f64 = 6.0;
/// Speeds are looked at in windows of so long: on a drive cooler by this and more, so many of them, and on one as hot as it got.
const WINDOW_S: f64 = 60.0;
const COOLER_K: f64 = 3.0;
const COOL_WINDOWS: usize = 3;
const STANDS_K: f64 = 1.5;
/// Slower there than the slowest cooler one by this share and by all that those differ, in so many windows.
const SAGS_TO: f64 = 0.98;
const SAGGED_WINDOWS: usize = 4;
/// So many pauses would have come before the drive was hot if they came at any time: e to the minus this is one run in twelve.
const MISSED_WARMING: f64 = 2.5;
/// A first burst that is longer than any other by so much and a row is the longest of six and more by chance in one run of six.
const LONGER: f64 = 1.25;
/// What ends at a steady temperature does so at the same one: in the last third of a load it has to rise by a whole kelvin.
const STILL_RISES: f64 = 1.0 / 3.0;
const WHOLE_K: f64 = 1.0;

/// Whether a load paused within a kelvin or two of the hottest, where drives are throttled, and went on when the drive had cooled.
pub(super) fn paused_hot(trace: &Trace, heat: &Heat, hottest_k: f64) -> bool {
    let stopped = |load: &[Phase]| {
        let [before, pause, after] = load else { return false };
        pause.op == SegmentOp::Idle
            && pause.inferred
            && before.op == after.op
            && cooled_from_k(heat, (pause.start_s, pause.end_s))
                .is_some_and(|at_k| at_k >= HOT_K.max(hottest_k - WENT_ON_K))
    };
    trace.phases.windows(3).any(stopped)
}

/// The temperature at which a pause began, in kelvins, if the drive was cooler when it ended: from when to when it lasted, in seconds.
fn cooled_from_k(heat: &Heat, (from_s, to_s): (f64, f64)) -> Option<f64> {
    let at = heat.within(from_s - heat.period_s, from_s + LATE_S);
    let at_k = at.iter().map(|reading| reading.value).fold(0.0, f64::max);
    heat.nearest_k(to_s).is_some_and(|then_k| then_k <= at_k - WENT_ON_K).then_some(at_k)
}

/// Whether loads of a log that does not say what was asked for ended at one temperature, the hottest, however long they had lasted: a drive
/// that stops to cool does so, and a host that pauses does at any.
pub(super) fn ended_alike(trace: &Trace, heat: &Heat, hottest_k: f64) -> bool {
    let mut lasted_s: Vec<f64> = Vec::new();
    let mut began_s = None;
    for phase in &trace.phases {
        if phase.op != SegmentOp::Idle {
            began_s = began_s.or(Some(phase.start_s));
            continue;
        }
        let Some(from_s) = began_s.take() else { continue };
        let alike = phase.inferred && ended_hottest(heat, (from_s, phase.start_s, phase.end_s), hottest_k);
        if !alike {
            return false;
        }
        lasted_s.push(phase.start_s - from_s);
    }
    let longest_s = lasted_s.iter().copied().fold(0.0, f64::max);
    let shortest_s = lasted_s.iter().copied().fold(f64::INFINITY, f64::min);
    hottest_k >= HOT_K - AT_THRESHOLD_K && lasted_s.len() >= 2 && longest_s >= LONGER * shortest_s
}

/// Whether a load ended as hot as the drive ever got, and still warmed it up, and the drive cooled until the next one: from when to when the
/// load lasted, and until when the pause after it, in seconds.
fn ended_hottest(heat: &Heat, (from_s, to_s, until_s): (f64, f64, f64), hottest_k: f64) -> bool {
    let step_k = heat.hides_k().max(WHOLE_K);
    let before_k = heat.nearest_k(to_s - (to_s - from_s) * STILL_RISES);
    cooled_from_k(heat, (to_s, until_s))
        .zip(before_k)
        .is_some_and(|(at_k, before_k)| at_k >= hottest_k - step_k && before_k <= at_k - step_k)
}

/// Whether a load whose log does not say what was asked for paused again and again, for rows as long as the cycles of a thermostat, and not
/// once before the drive had been as hot as it got: the temperature in such rows is that of another moment.
pub(super) fn paused_once_hot(trace: &Trace, heat: &Heat, stretches: &[Stretch], hottest_k: f64) -> bool {
    let all = heat.within(f64::NEG_INFINITY, f64::INFINITY);
    let Some(hot) = all.iter().find(|p| p.value >= hottest_k - WENT_ON_K) else { return false };
    let hot_s = hot.t.as_secs_f64();
    let loads = || stretches.iter().filter(|s| s.op.moves_data() && trace.phases[s.phase].inferred);
    let slices = || loads().flat_map(|stretch| stretch.samples.iter());
    let moved_s = |before: bool| -> f64 {
        let of = slices().filter(|slice| slice.bytes > 0.0 && (slice.end_s() <= hot_s) == before);
        of.map(|slice| slice.span_s).sum()
    };
    let within = loads().flat_map(|stretch| stretch.samples.windows(2));
    let within =
        within.filter(|pair| pair[0].bytes > 0.0 && pair[1].bytes <= 0.0).map(|pair| pair[1].start_s);
    let between = trace
        .phases
        .windows(3)
        .filter(|load| load[1].op == SegmentOp::Idle && load[1].inferred && load[0].op == load[2].op);
    let pauses_s: Vec<f64> = within.chain(between.map(|load| load[1].start_s)).collect();
    let first_s = pauses_s.iter().copied().fold(f64::INFINITY, f64::min);
    let every_s = moved_s(false) / pauses_s.len().max(1) as f64;
    hottest_k >= HOT_K - AT_THRESHOLD_K
        && pauses_s.len() >= STOPS
        && first_s >= hot_s
        && (moved_s(true) >= MISSED_WARMING * every_s || first_is_longest(slices()))
}

/// Whether a load went on for longer before its first pause than ever after: it had to warm the drive up from cool.
fn first_is_longest<'a>(slices: impl Iterator<Item = &'a Interval>) -> bool {
    let (mut bursts, mut row_s, mut end_s) = (vec![0.0_f64], 0.0_f64, f64::NEG_INFINITY);
    for slice in slices {
        // A pause is slices without any bytes, or none at all.
        let paused = slice.bytes <= 0.0 || slice.start_s > end_s + slice.span_s / 2.0;
        if paused && bursts.last().is_some_and(|last| *last > 0.0) {
            bursts.push(0.0);
        }
        if let Some(last) = bursts.last_mut().filter(|_| slice.bytes > 0.0) {
            *last += slice.span_s;
        }
        (row_s, end_s) = (row_s.max(slice.span_s), slice.end_s());
    }
    let longest = bursts.iter().skip(1).copied().fold(0.0, f64::max);
    bursts[0] >= (LONGER * longest).max(longest + row_s)
}

/// Whether an operation was slower than ever before only where the drive stood at its hottest, by so little or so gradually that no drop shows
/// it: a regulator that follows its room does so.
pub(super) fn sagged_hot(heat: &Heat, stretches: &[Stretch], judged: &[Judged], hottest_k: f64) -> bool {
    let is_event = |judged: &&Judged| judged.drop.inside.is_none() && judged.drop.sharp;
    let outer: Vec<&Judged> = judged.iter().filter(is_event).collect();
    let in_drop = |start_s: f64, end_s: f64| {
        let begun = outer.partition_point(|drop| drop.start_s < end_s);
        begun.checked_sub(1).is_some_and(|last| outer[last].end_s > start_s)
    };
    let mut by_op: BTreeMap<u8, Sag> = BTreeMap::new();
    for stretch in stretches.iter().filter(|stretch| stretch.op.moves_data()) {
        let sag = by_op.entry(stretch.op as u8).or_default();
        let windows = stretch.samples.chunk_by(|a, b| window(a.start_s) == window(b.start_s));
        // The first and the last one are in part without load.
        for of_it in windows.skip(1) {
            let (start_s, end_s) = (of_it[0].start_s, of_it[of_it.len() - 1].end_s());
            let seconds: f64 = of_it.iter().map(|slice| slice.span_s).sum();
            let whole = seconds >= 0.9 * WINDOW_S && end_s + WINDOW_S <= stretch.end_s();
            let readings: Vec<f64> = heat.within(start_s, end_s).iter().map(|p| p.value).collect();
            if whole && !readings.is_empty() && !in_drop(start_s, end_s) {
                let speed = of_it.iter().map(|slice| slice.bytes).sum::<f64>() / seconds;
                sag.add(hottest_k - median(&readings), speed);
            }
        }
    }
    hottest_k >= COOL_K && by_op.values().any(Sag::is_seen)
}

fn window(t_s: f64) -> i64 {
    (t_s / WINDOW_S).floor() as i64
}

/// The speeds of an operation in windows on a cooler drive, and on one at its hottest.
#[derive(Default)]
struct Sag {
    cool: Vec<f64>,
    hot: Vec<f64>,
}

impl Sag {
    fn add(&mut self, cooler_k: f64, speed: f64) {
        match cooler_k {
            ..=STANDS_K => self.hot.push(speed),
            COOLER_K.. => self.cool.push(speed),
            _ => {}
        }
    }

    fn is_seen(&self) -> bool {
        let slowest = self.cool.iter().copied().fold(f64::INFINITY, f64::min);
        let spread = self.cool.iter().copied().fold(0.0, f64::max) - slowest;
        let sagged = self.hot.iter().filter(|speed| **speed < SAGS_TO * slowest - spread).count();
        self.cool.len() >= COOL_WINDOWS && sagged >= SAGGED_WINDOWS
    }
}

/// Whether nothing moved in slices too short to be drops, again and again, and only while the drive was about as hot as it got: a
/// thermostat may do so.
pub(super) fn stops_hot(trace: &Trace, heat: &Heat, stretches: &[Stretch], hottest_k: f64) -> bool {
    let threshold_k = lowest_k(trace, COOL_K);
    let loads = stretches.iter().filter(|stretch| stretch.op.moves_data());
    let nothing = loads
        .flat_map(|stretch| stretch.samples.windows(3))
        .filter(|slices| slices[0].bytes > 0.0 && slices[1].bytes <= 0.0 && slices[2].bytes > 0.0);
    let mut times = 0;
    for slices in nothing {
        let Some(kelvin) = heat.nearest_k(slices[1].start_s) else { return false };
        if kelvin < hottest_k - AS_HOT_K {
            return false;
        }
        times += 1;
    }
    times >= STOPS && hottest_k >= threshold_k - AT_THRESHOLD_K
}

/// Whether an operation lost more of its speed than noise takes for less than ten seconds, or a row, again and again, only while the drive was hot, and would
/// have done so as well while it was cooler if that had nothing to do with heat.
pub(super) fn stalls_hot(
    trace: &Trace,
    heat: &Heat,
    stretches: &[Stretch],
    judged: &[Judged],
    hottest_k: f64,
) -> bool {
    // What lasts is judged as a drop, and known for what it is.
    let long = judged.iter().filter(|j| j.drop.inside.is_none() && j.end_s - j.start_s > LEVEL_S);
    let mut drops = long.peekable();
    let mut by_op: BTreeMap<u8, Stalls> = BTreeMap::new();
    for stretch in stretches.iter().filter(|stretch| stretch.op.moves_data()) {
        let speeds: Vec<f64> = stretch.samples.iter().map(Interval::bytes_per_s).collect();
        let Some((_, usual)) = quarters(&speeds) else { continue };
        let slow = usual * (1.0 - SIGMAS * noise_share(&speeds, heat.slice_s)).max(STALLED);
        let stalls = by_op.entry(stretch.op as u8).or_default();
        // In the slices at both ends of a load it may run for a part only.
        let inner = speeds.len().saturating_sub(2);
        let mut was_stalled = false;
        for (sample, speed) in stretch.samples.iter().zip(&speeds).skip(1).take(inner) {
            while drops.next_if(|drop| drop.end_s <= sample.start_s).is_some() {}
            let in_drop = drops.peek().is_some_and(|drop| drop.start_s < sample.end_s());
            let Some(kelvin) = heat.nearest_k(sample.start_s).filter(|_| !in_drop) else { continue };
            let stalled = *speed <= slow;
            stalls.add(kelvin, sample.span_s, stalled && !was_stalled);
            was_stalled = stalled;
        }
    }
    let threshold_k = lowest_k(trace, HOT_K);
    let only_hot = |stalls: &Stalls| stalls.only_from(threshold_k - AT_THRESHOLD_K);
    hottest_k >= threshold_k - AT_THRESHOLD_K && by_op.values().any(only_hot)
}

/// The lowest of TMT1 and TMT2 as they were set at first, or `own_k` where that is lower or none is known, in kelvins.
fn lowest_k(trace: &Trace, own_k: f64) -> f64 {
    let (tmt1_k, tmt2_k) = trace.tmt_at(0.0);
    [tmt1_k, tmt2_k].into_iter().flatten().fold(own_k, f64::min)
}

/// The stalls of an operation, by whole kelvins.
#[derive(Default)]
struct Stalls {
    seconds: BTreeMap<i64, f64>,
    count: usize,
    coolest_k: Option<i64>,
}

impl Stalls {
    fn add(&mut self, kelvin: f64, span_s: f64, stalls: bool) {
        let kelvin = kelvin.floor() as i64;
        *self.seconds.entry(kelvin).or_default() += span_s;
        if stalls {
            self.count += 1;
            self.coolest_k = Some(self.coolest_k.map_or(kelvin, |coolest| coolest.min(kelvin)));
        }
    }

    /// Whether all came no cooler than this, and would not have by chance, each in any second.
    fn only_from(&self, least_k: f64) -> bool {
        let Some(coolest_k) = self.coolest_k.filter(|_| self.count >= STOPS) else { return false };
        let hot_s: f64 = self.seconds.range(coolest_k..).map(|(_, seconds)| seconds).sum();
        let by_chance = self.count as f64 * (hot_s / self.seconds.values().sum::<f64>()).ln();
        coolest_k as f64 >= least_k.floor() && by_chance <= -MISSED_COOL
    }
}
