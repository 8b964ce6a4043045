//! Whose pauses those are in which nothing moved: the host's, or a drive's that stopped until it had cooled.

use super::{MUCH_THE_SAME, OpRun, RECURRING, SHORTEST_S};
use crate::{SegmentOp, Trace, load_totals};
use measure::Point;

/// Nothing moving for longer than this is no load, unless it looks like a drive's own: drives that stop when hot were back after 15 to 60 s.
const LONGEST_STOP_S: f64 = 90.0;
/// ... as where it comes again and again for much the same time, as in a case that cools slowly.
const LONGEST_RECURRING_S: f64 = 240.0;

/// A thermostat stops a drive at one temperature and starts it at another: each within this, as loads of different kinds heat a sensor
/// and what acts unlike, and what the sensor rounds to (whole kelvins at least), ...
const ONE_TEMPERATURE_K: f64 = 1.1;
/// ... at least so far below, ...
const COOLED_K: f64 = 3.0;
/// ... however long it took to get there: from cold longer than from where it was started. What a host does by the clock takes
/// the same time each time, and what it does at any time ends at any temperature.
const OTHER_TIMES: f64 = 1.15;
/// A timer keeps its period within this, or a few slices.
const ONE_PERIOD: f64 = 0.02;
/// A thermostat's loads last longer from cold, as far as it shows: by this share of them.
const LATE_SHARE: f64 = 0.03;
const LONGER: f64 = 3.0;
/// Whole kelvins show that a temperature moves from this on, ...
const MOVED_K: f64 = 1.0;
/// ... and, of two readings alone, by this.
const SURELY_MOVED_K: f64 = 2.0;
/// So many pauses show whether they end at one temperature.
const MANY: usize = 6;
/// Whether a temperature came to rest does not show in steps as coarse as this.
const COARSE_K: f64 = 2.0;
/// No thermostat waits for the last of these shares of what the drive was warmed by.
const AT_REST: f64 = 0.12;
/// A sensor shows how hot it got up to so long after the load stopped, or how cool after it began.
const LATE_S: f64 = 15.0;

/// Which times without load are the drive's own.
pub(super) struct Stops {
    /// Those up to so long, in seconds, ...
    pub longest_s: f64,
    /// ... and these, as rising places in the runs, however long they are.
    pub thermostat: Vec<usize>,
}

impl Stops {
    pub(super) fn of(runs: &[OpRun], trace: &Trace) -> Self {
        let heat = Readings::new(trace);
        if by_the_clock(runs, &heat) || at_any_temperature(runs, &heat) {
            return Self { longest_s: SHORTEST_S, thermostat: Vec::new() };
        }
        Self { longest_s: longest_stop_s(runs, &heat), thermostat: thermostat(runs, &heat) }
    }
}

/// Whether a host starts loads, or ends them, whatever the drive does meanwhile.
fn by_the_clock(runs: &[OpRun], heat: &Readings<'_>) -> bool {
    let loads = loads(runs);
    // The last one may have been cut short.
    let whole = &loads[..loads.len().saturating_sub(1)];
    whole.len() >= RECURRING && (starts_by_the_clock(&loads) || ends_by_the_clock(whole, heat))
}

/// Whether pauses end at any temperature: a thermostat has one, and a host's end after a time. Where they begin says less, as a drive
/// that is throttled is never hotter than its threshold, whoever ends the load.
fn at_any_temperature(runs: &[OpRun], heat: &Readings<'_>) -> bool {
    // The first and the last time may have begun before the log did, and ended after it.
    let inner = runs.get(1..runs.len().saturating_sub(1)).unwrap_or_default();
    let may_be = |run: &&OpRun| run.0.is_none() && (SHORTEST_S..=LONGEST_STOP_S).contains(&(run.2 - run.1));
    let pauses = inner.iter().filter(may_be);
    let to_k: Vec<f64> = pauses.filter_map(|run| heat.cooled_to_k(run.1, run.2)).collect();
    let steps_k = heat.all.windows(2).map(|pair| (pair[1].value - pair[0].value).abs());
    let reading_k = middle(steps_k.filter(|by_k| *by_k > 0.0).collect());
    let one_k = ONE_TEMPERATURE_K + MOVED_K + reading_k;
    to_k.len() >= MANY && apart_k(to_k) > one_k
}

/// How far apart these are without a tenth at either end, one at least: a host may pause once as well; 0 of none.
fn apart_k(mut kelvin: Vec<f64>) -> f64 {
    kelvin.sort_unstable_by(f64::total_cmp);
    let tenth = kelvin.len().div_ceil(10);
    let ends = kelvin.get(tenth).zip(kelvin.get(kelvin.len().saturating_sub(1 + tenth)));
    ends.map_or(0.0, |(low_k, high_k)| high_k - low_k)
}

/// From when to when data was moved, in seconds; what rests for less than the shortest time goes on.
fn loads(runs: &[OpRun]) -> Vec<(f64, f64)> {
    let mut loads: Vec<(f64, f64)> = Vec::new();
    let mut paused = true;
    for (op, start_s, end_s) in runs {
        match loads.last_mut() {
            _ if op.is_none_or(|op| op == SegmentOp::Idle) => paused |= end_s - start_s >= SHORTEST_S,
            Some(last) if !paused => last.1 = *end_s,
            _ => {
                loads.push((*start_s, *end_s));
                paused = false;
            }
        }
    }
    loads
}

/// Whether loads of different lengths begin at one period.
fn starts_by_the_clock(loads: &[(f64, f64)]) -> bool {
    let periods_s = range(loads.windows(2).map(|pair| pair[1].0 - pair[0].0));
    let loaded_s = range(loads[..loads.len() - 1].iter().map(|load| load.1 - load.0));
    periods_s.1 - periods_s.0 <= (ONE_PERIOD * periods_s.0).max(SHORTEST_S)
        && loaded_s.1 >= OTHER_TIMES * loaded_s.0
}

/// Whether loads are of one length though they began, or ended, at temperatures that no thermostat would have let them: from cold it takes
/// longer, and it ends all of them at one.
fn ends_by_the_clock(loads: &[(f64, f64)], heat: &Readings<'_>) -> bool {
    let lengths_s = range(loads.iter().map(|load| load.1 - load.0));
    let apart_s = (lengths_s.1 - lengths_s.0).max(heat.row_s);
    if apart_s > (ONE_PERIOD * lengths_s.0).max(1.5 * heat.row_s) {
        return false;
    }
    let within = |load: &(f64, f64)| heat.within(load.0, load.1);
    let usual_k = middle(loads.iter().filter_map(|load| Some(within(load).first()?.value)).collect());
    let least_s = (LONGER * apart_s).max(LATE_SHARE * lengths_s.0);
    let lasts_too_short = |load: &(f64, f64)| {
        let from_cold = within(load).first().is_some_and(|began| began.value <= usual_k - COOLED_K);
        let warm = within(load).iter().find(|reading| reading.value >= usual_k);
        from_cold && warm.is_some_and(|warm| warm.t.as_secs_f64() - load.0 >= least_s)
    };
    let ended_k = range(loads.iter().filter_map(|load| heat.stopped_at_k(load.1, f64::INFINITY)));
    let rises = loads.iter().filter_map(|load| match within(load) {
        [.., before, last] => Some(last.value - before.value),
        _ => None,
    });
    let reading_k = middle(rises.collect()).max(0.0) + heat.step_k;
    loads.iter().any(lasts_too_short) || ended_k.1 - ended_k.0 >= MOVED_K + 2.0 * reading_k
}

/// The middle one of these; 0 of none.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// How long nothing may move before it is no stop of the drive, in seconds. What begins now cool and now hot is none however often it comes.
fn longest_stop_s(runs: &[OpRun], heat: &Readings<'_>) -> f64 {
    let long =
        |run: &&OpRun| run.0.is_none() && (LONGEST_STOP_S..=LONGEST_RECURRING_S).contains(&(run.2 - run.1));
    let inner = runs.get(1..runs.len().saturating_sub(1)).unwrap_or_default();
    let stops: Vec<&OpRun> = inner.iter().filter(long).collect();
    let spans_s = range(stops.iter().map(|run| run.2 - run.1));
    let from_k = range(stops.iter().filter_map(|run| heat.stopped_at_k(run.1, run.2)));
    let recurs = stops.len() >= RECURRING && spans_s.1 <= MUCH_THE_SAME * spans_s.0;
    if recurs && from_k.1 - from_k.0 <= ONE_TEMPERATURE_K + MOVED_K + COOLED_K {
        LONGEST_RECURRING_S
    } else {
        LONGEST_STOP_S
    }
}

/// A time without load, as a thermostat would have made it.
struct CoolingPause {
    run: usize,
    /// The hottest as it began, in kelvins.
    from_k: f64,
    /// The coolest up to just after its end, in kelvins; `None` where the log ended first.
    to_k: Option<f64>,
    /// The load before it, in seconds.
    load: (f64, f64),
    /// Whether the drive still warmed up in the second half of that load, ...
    warmed: bool,
    /// ... and cooled down in the second half of the pause: whatever came to rest is at one temperature without any thermostat.
    cooled: bool,
}

impl CoolingPause {
    fn loaded_s(&self) -> f64 {
        self.load.1 - self.load.0
    }
}

/// The times without load, as rising places in `runs`, that a thermostat explains: two and more, all from one temperature to another, after
/// loads of different lengths. None where a single one does not fit, but for those that a host made on a drive much cooler.
fn thermostat(runs: &[OpRun], heat: &Readings<'_>) -> Vec<usize> {
    let mut pauses = cooling_pauses(runs, heat);
    let one_k = ONE_TEMPERATURE_K + heat.step_k.max(MOVED_K);
    let hottest_k = pauses.iter().map(|pause| pause.from_k).fold(f64::NEG_INFINITY, f64::max);
    pauses.retain(|pause| pause.from_k > hottest_k - one_k - COOLED_K);
    let from_k = range(pauses.iter().map(|pause| pause.from_k));
    let to_k = range(pauses.iter().filter_map(|pause| pause.to_k));
    let ended = pauses.iter().filter(|pause| pause.to_k.is_some()).count();
    let cooled = pauses.iter().filter(|pause| pause.cooled).count();
    let one = |(low_k, high_k): (f64, f64)| high_k - low_k <= one_k;
    // What has nearly cooled to where it began has come to rest, whatever the host had in mind.
    let before_s = pauses.first().map_or(0.0, |pause| pause.load.1);
    let began_k = heat.within(f64::NEG_INFINITY, before_s).iter().map(|reading| reading.value);
    let began_k = began_k.reduce(f64::min).unwrap_or(f64::NEG_INFINITY);
    let at_rest = to_k.1 <= began_k + AT_REST * (from_k.0 - began_k);
    let fits = ended >= 2
        && one(from_k)
        && one(to_k)
        && to_k.1 <= from_k.0 - COOLED_K
        && !at_rest
        && lengths_differ(&pauses, heat)
        && (2 * cooled > pauses.len() || heat.step_k > COARSE_K);
    if fits { pauses.iter().map(|pause| pause.run).collect() } else { Vec::new() }
}

/// Whether loads of different lengths got the drive to where it stopped, and none had come to rest there: each warmed it to its end, or
/// the longest had not got it there when the shortest was over.
fn lengths_differ(pauses: &[CoolingPause], heat: &Readings<'_>) -> bool {
    let by_length = |a: &&CoolingPause, b: &&CoolingPause| a.loaded_s().total_cmp(&b.loaded_s());
    let extremes = pauses.iter().min_by(by_length).zip(pauses.iter().max_by(by_length));
    extremes.is_some_and(|(shortest, longest)| {
        let from_s = longest.load.0;
        let then = heat.within(from_s, from_s + shortest.loaded_s()).last();
        let short_of_k = SURELY_MOVED_K.max(heat.step_k);
        let warmed_on = then.is_some_and(|then| then.value <= longest.from_k - short_of_k);
        longest.loaded_s() >= OTHER_TIMES * shortest.loaded_s()
            && (warmed_on || pauses.iter().all(|pause| pause.warmed))
    })
}

/// The least and the greatest of these.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// The times without load between loads and after the last one, where their temperatures are known; none where one is not.
fn cooling_pauses(runs: &[OpRun], heat: &Readings<'_>) -> Vec<CoolingPause> {
    let paused = |run: &usize| {
        let (op, start_s, end_s) = runs[*run];
        op.is_none() && *run > 0 && end_s - start_s >= SHORTEST_S
    };
    let mut loaded_from_s = runs.first().map_or(0.0, |run| if run.0.is_some() { run.1 } else { run.2 });
    let mut pauses = Vec::new();
    for run in (0..runs.len()).filter(paused) {
        let (_, start_s, end_s) = runs[run];
        let temps_k = heat.stopped_at_k(start_s, end_s).zip(heat.cooled_to_k(start_s, end_s));
        let Some((from_k, to_k)) = temps_k else { return Vec::new() };
        let to_k = (run + 1 < runs.len()).then_some(to_k);
        let halfway_k =
            |from_s: f64, to_s: f64| Some(heat.within(from_s, f64::midpoint(from_s, to_s)).last()?.value);
        let warmed = halfway_k(loaded_from_s, start_s).is_none_or(|k| k <= from_k - MOVED_K);
        let cooled = halfway_k(start_s, end_s).is_none_or(|k| to_k.is_none_or(|to_k| to_k <= k - MOVED_K));
        pauses.push(CoolingPause { run, from_k, to_k, load: (loaded_from_s, start_s), warmed, cooled });
        loaded_from_s = end_s;
    }
    pauses
}

/// The temperature that a trace goes by, and how long its rows are.
struct Readings<'a> {
    all: &'a [Point<f64>],
    row_s: f64,
    /// The step of the sensor: the least by which two readings in a row differ, in kelvins.
    step_k: f64,
}

impl<'a> Readings<'a> {
    fn new(trace: &'a Trace) -> Self {
        let all = trace.temperature().map_or(&[][..], |series| series.points());
        let moved = all.windows(2).map(|pair| (pair[1].value - pair[0].value).abs());
        Self {
            all,
            row_s: load_totals(&trace.speeds).next().map_or(0.0, |slice| slice.first.span_s),
            step_k: moved.filter(|by_k| *by_k > 0.0).fold(f64::MAX, f64::min),
        }
    }

    /// From a time on, up to another, in seconds.
    fn within(&self, from_s: f64, to_s: f64) -> &'a [Point<f64>] {
        let at = |t_s: f64| self.all.partition_point(|reading| reading.t.as_secs_f64() < t_s);
        let first = at(from_s);
        &self.all[first..at(to_s).max(first)]
    }

    /// How hot the drive got before nothing moved from `stop_s` to `end_s`, in kelvins. In long rows the hottest reading may be that of
    /// the row before the one in which it stopped.
    fn stopped_at_k(&self, stop_s: f64, end_s: f64) -> Option<f64> {
        let late_s = LATE_S.max(2.5 * self.row_s);
        let around = self.within(stop_s - late_s, end_s.min(stop_s + LATE_S));
        around.iter().map(|reading| reading.value).reduce(f64::max)
    }

    /// How cool the drive got while nothing moved from `stop_s` to `end_s`, up to when a late sensor has shown it, in kelvins.
    fn cooled_to_k(&self, stop_s: f64, end_s: f64) -> Option<f64> {
        self.within(stop_s, end_s + LATE_S).iter().map(|reading| reading.value).reduce(f64::min)
    }
}
