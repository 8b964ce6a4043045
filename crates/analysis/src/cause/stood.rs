//! Whether the temperature stood while the drive was slow, in a run in which it moves while it is not.
//!
//! A room that warms up and cools takes a drive with it, whatever it does. What regulates the temperature holds it where it sets
//! in, and gives speed away for it; what is no heat changes the load, and leaves the temperature to the room. So the time at
//! full speed is looked at in windows as long as the drop: how many of them stand as still?

use super::case::Case;
use super::heat::Heat;
use super::likelihood::ONE_THRESHOLD_K;

/// The shortest time that is asked for: in it a drive has cooled by most of what it will.
const LEAST_S: f64 = 300.0;
/// A load warms a drive up for so long, whatever the room does.
const WARM_UP_S: f64 = 1200.0;
/// Fewer readings do not show that it stood, also in as many periods; of more, so many are enough.
const LEAST_READINGS: usize = 5;
const MOST_READINGS: usize = 32;
/// Each length of windows is so much longer than the one before, and as long as a drop up to this.
const LONGER: f64 = std::f64::consts::SQRT_2;
const AS_LONG: f64 = 1.1;
/// Fewer windows than this, one after the other, do not show how it moves.
const LEAST_WINDOWS: f64 = 2.0;
/// The middle of a temperature that stands lies within so much, rounding and a ripple (the same as of a policy), and within this of
/// where the drop began.
const STANDS_K: f64 = 2.6;
const AT_ONSET_K: f64 = 1.5;
/// A drive that is no cooler where it is slower within so much is held; a load that gives way by itself leaves it cooler.
const COOLER_K: f64 = 1.0;
/// The most it weighs, and from how much on it shows that something held the temperature.
const MOST: f64 = 3.0;
const SHOWS: f64 = 1.0;

/// How far the temperature moves at full speed in windows of a length, by length.
#[derive(Debug, Default)]
pub(super) struct Movement {
    by_length: Vec<Windows>,
}

/// Windows of one length, each half over the next.
#[derive(Debug)]
struct Windows {
    length_s: f64,
    /// How far it moved in each, in kelvins, rising.
    moved_k: Vec<f64>,
    /// How many lie one after the other.
    apart: f64,
}

impl Movement {
    /// That of a run: `loads` are the times at full speed, each from when its load had begun, in seconds.
    pub(super) fn new(heat: &Heat, loads: &[(f64, f64, f64)]) -> Self {
        let settled = loads.iter().map(|(began_s, from_s, to_s)| (from_s.max(began_s + WARM_UP_S), *to_s));
        let settled: Vec<(f64, f64)> = settled.filter(|(from_s, to_s)| to_s - from_s >= LEAST_S).collect();
        let longest_s = settled.iter().map(|(from_s, to_s)| to_s - from_s).fold(0.0, f64::max);
        let lengths = std::iter::successors(Some(LEAST_S), |length_s| Some(LONGER * length_s));
        let read_s = LEAST_READINGS as f64 * heat.period_s;
        let windows =
            lengths.skip_while(|length_s| *length_s < read_s).take_while(|length_s| *length_s <= longest_s);
        let windows = windows.map(|length_s| Windows::new(heat, &settled, length_s));
        Self { by_length: windows.filter(|windows| !windows.moved_k.is_empty()).collect() }
    }

    /// What it weighs for heat that the temperature moved by no more than `moved_k` for `span_s`: the share of windows at full speed
    /// that do, as if half of one more did.
    fn weight(&self, moved_k: f64, span_s: f64) -> f64 {
        let enough =
            |windows: &&Windows| windows.length_s <= AS_LONG * span_s && windows.apart >= LEAST_WINDOWS;
        let Some(windows) = self.by_length.iter().rev().find(enough) else { return 0.0 };
        let still = windows.moved_k.partition_point(|k| *k <= moved_k) as f64 / windows.moved_k.len() as f64;
        -((still * windows.apart + 0.5) / (windows.apart + 0.5)).ln().max(-MOST)
    }
}

impl Windows {
    fn new(heat: &Heat, settled: &[(f64, f64)], length_s: f64) -> Self {
        let long = || settled.iter().filter(|(from_s, to_s)| to_s - from_s >= length_s);
        let starts_s = |(from_s, to_s): &(f64, f64)| {
            // Where hardly anything was read there are no more windows than readings.
            let most = heat.within(*from_s, *to_s).len();
            let (from_s, windows) = (*from_s, ((to_s - from_s) / length_s * 2.0) as usize - 1);
            let windows = windows.min(most);
            (0..windows).map(move |at| from_s + at as f64 * length_s / 2.0)
        };
        let moved = |from_s: f64| Some(middle_of(heat, from_s, from_s + length_s)?.1);
        let mut moved_k: Vec<f64> = long().flat_map(starts_s).filter_map(moved).collect();
        moved_k.sort_unstable_by(f64::total_cmp);
        let apart = long().map(|(from_s, to_s)| ((to_s - from_s) / length_s).floor()).sum();
        Self { length_s, moved_k, apart }
    }
}

/// A temperature that stood: which, in kelvins, and what that weighs for heat.
pub(super) struct Stood {
    pub(super) temp_k: f64,
    pub(super) weight: f64,
}

/// Whether the temperature stood where a drop began, for as long as that lasted. What holds it there lets no load of that kind get
/// hotter; a room or a neighbour that warms a drive up by what its load gives way does.
pub(super) fn stood(case: &Case, onset_k: f64) -> Option<Stood> {
    let span_s = case.span_s();
    if span_s < LEAST_S || case.drop.inside.is_some() || case.drop.at_start {
        return None;
    }
    let (temp_k, moved_k) = middle_of(case.heat, case.start_s(), case.end_s())?;
    let rounding_k = case.heat.hides_k();
    let stands =
        moved_k <= STANDS_K.max(rounding_k) && (temp_k - onset_k).abs() <= AT_ONSET_K.max(rounding_k);
    let weight = case.history.movement.weight(moved_k.max(rounding_k), span_s);
    let hottest_k = onset_k + ONE_THRESHOLD_K;
    let is_hottest = case.history.full_speed_s_above((case.op, false), hottest_k) <= case.heat.lag_s();
    let stands = stands && is_hottest && cooler_where_slower_k(case) <= COOLER_K;
    (stands && weight > 0.0).then_some(Stood { temp_k, weight })
}

/// Whether that shows that something held it.
pub(super) fn held(case: &Case, onset_k: f64) -> bool {
    stood(case, onset_k).is_some_and(|stood| stood.weight >= SHOWS)
}

/// By how much the drive was cooler in the slower half of a drop than in the faster one, in kelvins; 0 where it has one speed.
fn cooler_where_slower_k(case: &Case) -> f64 {
    let own = || case.drop.own.iter().map(|at| &case.pieces[*at]);
    let mut levels: Vec<(f64, f64)> = own().map(|piece| (piece.level, piece.span_s())).collect();
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half_s = levels.iter().map(|(_, span_s)| span_s).sum::<f64>() / 2.0;
    let mut below_s = 0.0;
    let middle = levels.iter().find(|(_, span_s)| {
        below_s += span_s;
        below_s >= half_s
    });
    let Some((middle, _)) = middle else { return 0.0 };
    let mean_k = |slower: bool| {
        let half = own().filter(|piece| (piece.level <= *middle) == slower);
        let readings = half.flat_map(|piece| case.heat.within(piece.start_s, piece.end_s));
        let (sum_k, count) = readings.fold((0.0, 0.0), |(sum, count), p| (sum + p.value, count + 1.0));
        (count > 0.0).then(|| sum_k / count)
    };
    mean_k(false).zip(mean_k(true)).map_or(0.0, |(faster_k, slower_k)| faster_k - slower_k)
}

/// The median of the temperature in a time, and how far apart its tenths are, in kelvins.
fn middle_of(heat: &Heat, from_s: f64, to_s: f64) -> Option<(f64, f64)> {
    let readings = heat.within(from_s, to_s);
    let every = readings.len().div_ceil(MOST_READINGS).max(1);
    let mut kelvin: Vec<f64> = readings.iter().step_by(every).map(|reading| reading.value).collect();
    if kelvin.len() < LEAST_READINGS {
        return None;
    }
    kelvin.sort_unstable_by(f64::total_cmp);
    let tenth = kelvin.len() / 10;
    Some((kelvin[kelvin.len() / 2], kelvin[kelvin.len() - 1 - tenth] - kelvin[tenth]))
}
