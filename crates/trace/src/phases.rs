//! Phases of a log that names none: read off which operation moved data when.
//!
//! Zero speed between two stretches of one operation belongs to that operation (the drive may have stopped);
//! zero speed between two operations, after the last one, or for more than 90 s, is idle time, unless it recurs: for much the same time, or from one
//! temperature to another as a thermostat has them. The phase says that it was inferred, so that zero speed in it may
//! still be judged to be no load.

use super::{LoadTotal, Phase, Trace, load_totals};
use crate::SegmentOp;

/// An operation stands alone when the others move less than this share of the data in a slice: file systems
/// read a little while they write.
pub const MINOR_SHARE: f64 = 0.05;

/// Another operation for less than this joins its surroundings: shorter than any segment.
const SHORTEST_S: f64 = 3.0;

/// Nothing moving for longer than this is no load: drives that stop when hot were back after 15 to 60 s.
const LONGEST_STOP_S: f64 = 90.0;
/// ... unless it comes again and again for much the same time, as in a case that cools slowly.
const LONGEST_RECURRING_S: f64 = 240.0;
const RECURRING: usize = 3;
const MUCH_THE_SAME: f64 = 1.5;

/// A thermostat stops a drive at one temperature and starts it at another: each within this, a kelvin and a half and the rounding
/// of whole ones, as loads of different kinds heat a sensor and what acts unlike, ...
const ONE_TEMPERATURE_K: f64 = 2.1;
/// ... at least so far below, ...
const COOLED_K: f64 = 3.0;
/// ... however long it took to get there: from cold longer than from where it was started. What a host does by the clock takes
/// the same time each time, and what it does at any time ends at any temperature.
const OTHER_TIMES: f64 = 1.15;
/// A timer keeps its period within this, or a few slices.
const ONE_PERIOD: f64 = 0.02;
/// Whole kelvins show that a temperature moves from this on.
const MOVED_K: f64 = 1.0;
/// A sensor shows how hot it got up to so long after the load stopped, or how cool after it began.
const LATE_S: f64 = 15.0;

/// Gives `trace` phases read off its speeds, and every interval its phase.
pub fn infer_phases(trace: &mut Trace) {
    let mut runs: Vec<(SegmentOp, f64, f64)> = Vec::new();
    for (op, start_s, end_s) in settle(trace) {
        match runs.last_mut() {
            Some(last) if last.0 == op => last.2 = end_s,
            _ => runs.push((op, start_s, end_s)),
        }
    }
    trace.phases = runs.into_iter().map(|(op, start_s, end_s)| inferred(op, start_s, end_s)).collect();
    let starts: Vec<f64> = trace.phases.iter().map(|phase| phase.start_s).collect();
    for interval in trace.speeds.iter_mut().flat_map(|series| &mut series.intervals) {
        let after = starts.partition_point(|start| *start <= interval.start_s + 1e-9);
        interval.phase = after.saturating_sub(1) as u32;
    }
}

fn inferred(op: SegmentOp, start_s: f64, end_s: f64) -> Phase {
    let name = match op {
        SegmentOp::Read => "read",
        SegmentOp::Write => "write",
        SegmentOp::Mixed => "mixed",
        SegmentOp::Trim => "trim",
        SegmentOp::Idle => "idle",
    };
    Phase { inferred: true, ..Phase::bare(name, op, start_s, end_s) }
}

/// What moved data (`None`: nothing did), from when to when, in seconds.
type OpRun = (Option<SegmentOp>, f64, f64);

/// What moved the data of a slice; `None` where nothing did.
fn dominant(slice: &LoadTotal<'_>) -> Option<SegmentOp> {
    let (op, bytes) = slice.most;
    let alone = bytes >= (1.0 - MINOR_SHARE) * slice.bytes;
    (slice.bytes > 0.0).then_some(if alone { op } else { SegmentOp::Mixed })
}

/// Fills slices without load from their surroundings and drops changes that are too short to be meant.
fn settle(trace: &Trace) -> Vec<(SegmentOp, f64, f64)> {
    let mut runs: Vec<OpRun> = Vec::new();
    for slice in load_totals(&trace.speeds) {
        let (op, start_s, end_s) = (dominant(&slice), slice.first.start_s, slice.first.end_s());
        match runs.last_mut() {
            Some(last) if last.0 == op => last.2 = end_s,
            _ => runs.push((op, start_s, end_s)),
        }
    }
    let runs = without_short_stops(runs);
    let by_the_clock = by_the_clock(&runs);
    let longest_stop_s = if by_the_clock { SHORTEST_S } else { longest_stop_s(&runs) };
    let thermostat = if by_the_clock { Vec::new() } else { thermostat(&runs, trace) };
    let loaded: Vec<usize> = (0..runs.len()).filter(|i| runs[*i].0.is_some()).collect();
    let long = |i: &usize| runs[*i].2 - runs[*i].1 >= SHORTEST_S;
    let kept: Vec<usize> =
        if loaded.iter().any(long) { loaded.iter().copied().filter(long).collect() } else { loaded };
    (0..runs.len())
        .map(|i| {
            let (op, start_s, end_s) = runs[i];
            let nth = |k: usize| kept.get(k).and_then(|k| runs[*k].0);
            let before = kept.partition_point(|k| *k <= i).checked_sub(1).and_then(nth);
            let after = nth(kept.partition_point(|k| *k < i));
            let op = match (op, before, after) {
                (Some(op), ..) if kept.binary_search(&i).is_ok() => op,
                (None, Some(before), _) if thermostat.binary_search(&i).is_ok() => before,
                (None, ..) if end_s - start_s > longest_stop_s => SegmentOp::Idle,
                (_, Some(before), Some(after)) if after == before => before,
                (None, Some(before), None) if end_s - start_s < SHORTEST_S || stops_again(&runs, i) => before,
                (Some(_), Some(before), _) => before,
                (Some(_), None, Some(after)) => after,
                _ => SegmentOp::Idle,
            };
            (op, start_s, end_s)
        })
        .collect()
}

/// Whether nothing moved several times before, and as long, until the load went on: then the log ended in one more such stop. Else
/// the load is over, as loggers are stopped after what they log.
fn stops_again(runs: &[OpRun], last: usize) -> bool {
    let span_s = |run: &OpRun| run.2 - run.1;
    let as_long = |run: &&OpRun| run.0.is_none() && MUCH_THE_SAME * span_s(run) >= span_s(&runs[last]);
    runs[..last].iter().skip(1).filter(as_long).count() >= RECURRING
}

/// Joins what an operation did before and after a stop too short to be a load's end: of a drive that moves data in bursts no run
/// lasts by itself.
fn without_short_stops(runs: Vec<OpRun>) -> Vec<OpRun> {
    let mut joined: Vec<OpRun> = Vec::with_capacity(runs.len());
    for run in runs {
        if let [.., before, stop] = joined[..]
            && before.0 == run.0
            && stop.0.is_none()
            && stop.2 - stop.1 < SHORTEST_S
        {
            joined.truncate(joined.len() - 2);
            joined.push((before.0, before.1, run.2));
        } else {
            joined.push(run);
        }
    }
    joined
}

/// Whether loads of different lengths begin at one period: a host starts them, whatever the drive does meanwhile.
fn by_the_clock(runs: &[OpRun]) -> bool {
    let mut loads: Vec<(f64, f64)> = Vec::new();
    let mut paused = true;
    for (op, start_s, end_s) in runs {
        match loads.last_mut() {
            _ if op.is_none() => paused |= end_s - start_s >= SHORTEST_S,
            Some(last) if !paused => last.1 = *end_s,
            _ => {
                loads.push((*start_s, *end_s));
                paused = false;
            }
        }
    }
    let periods_s = range(loads.windows(2).map(|pair| pair[1].0 - pair[0].0));
    // The last one may have been cut short.
    let whole = &loads[..loads.len().saturating_sub(1)];
    let loaded_s = range(whole.iter().map(|load| load.1 - load.0));
    whole.len() >= RECURRING
        && periods_s.1 - periods_s.0 <= (ONE_PERIOD * periods_s.0).max(SHORTEST_S)
        && loaded_s.1 >= OTHER_TIMES * loaded_s.0
}

/// How long nothing may move before it is no stop of the drive, in seconds.
fn longest_stop_s(runs: &[OpRun]) -> f64 {
    let inner = runs.get(1..runs.len().saturating_sub(1)).unwrap_or_default();
    let spans_s = inner.iter().filter(|run| run.0.is_none()).map(|run| run.2 - run.1);
    let long = spans_s.filter(|span_s| (LONGEST_STOP_S..=LONGEST_RECURRING_S).contains(span_s));
    let (count, least_s, most_s) = long
        .fold((0, f64::INFINITY, 0.0f64), |(n, least_s, most_s), s| (n + 1, least_s.min(s), most_s.max(s)));
    let recurs = count >= RECURRING && most_s <= MUCH_THE_SAME * least_s;
    if recurs { LONGEST_RECURRING_S } else { LONGEST_STOP_S }
}

/// A time without load, as a thermostat would have made it.
struct CoolingPause {
    run: usize,
    /// The hottest as it began, in kelvins.
    from_k: f64,
    /// The coolest up to just after its end, in kelvins; `None` where the log ended first.
    to_k: Option<f64>,
    /// How long the load before it lasted, in seconds.
    loaded_s: f64,
    /// Whether the drive still warmed up in the second half of that load, and cooled down in the second half of the pause: whatever came
    /// to rest is at one temperature without any thermostat.
    on_the_move: bool,
}

/// The times without load, as rising places in `runs`, that a thermostat explains: two and more, all from one temperature to another, after
/// loads of different lengths. None where a single one does not fit, but for those that a host made on a drive much cooler.
fn thermostat(runs: &[OpRun], trace: &Trace) -> Vec<usize> {
    let mut pauses = cooling_pauses(runs, trace);
    let hottest_k = pauses.iter().map(|pause| pause.from_k).fold(f64::NEG_INFINITY, f64::max);
    pauses.retain(|pause| pause.from_k > hottest_k - ONE_TEMPERATURE_K - COOLED_K);
    let from_k = range(pauses.iter().map(|pause| pause.from_k));
    let to_k = range(pauses.iter().filter_map(|pause| pause.to_k));
    let loaded_s = range(pauses.iter().map(|pause| pause.loaded_s));
    let ended = pauses.iter().filter(|pause| pause.to_k.is_some()).count();
    let one = |(low_k, high_k): (f64, f64)| high_k - low_k <= ONE_TEMPERATURE_K;
    let fits = ended >= 2
        && one(from_k)
        && one(to_k)
        && pauses.iter().all(|pause| pause.on_the_move)
        && to_k.1 <= from_k.0 - COOLED_K
        && loaded_s.1 >= OTHER_TIMES * loaded_s.0;
    if fits { pauses.iter().map(|pause| pause.run).collect() } else { Vec::new() }
}

/// The least and the greatest of these.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// The times without load between loads and after the last one, where their temperatures are known; none where one is not.
fn cooling_pauses(runs: &[OpRun], trace: &Trace) -> Vec<CoolingPause> {
    let readings = trace.temperature().map_or(&[][..], |series| series.points());
    let within = |from_s: f64, to_s: f64| {
        let at = |t_s: f64| readings.partition_point(|reading| reading.t.as_secs_f64() < t_s);
        readings[at(from_s)..at(to_s)].iter().map(|reading| reading.value)
    };
    let paused = |run: &usize| {
        let (op, start_s, end_s) = runs[*run];
        op.is_none() && *run > 0 && end_s - start_s >= SHORTEST_S
    };
    let mut loaded_from_s = runs.first().map_or(0.0, |run| if run.0.is_some() { run.1 } else { run.2 });
    let mut pauses = Vec::new();
    for run in (0..runs.len()).filter(paused) {
        let (_, start_s, end_s) = runs[run];
        let from_k = within(start_s - LATE_S, end_s.min(start_s + LATE_S)).reduce(f64::max);
        let to_k = within(start_s, end_s + LATE_S).reduce(f64::min);
        let Some((from_k, to_k)) = from_k.zip(to_k) else { return Vec::new() };
        let to_k = (run + 1 < runs.len()).then_some(to_k);
        let halfway_k = |from_s: f64, to_s: f64| within(from_s, f64::midpoint(from_s, to_s)).next_back();
        let warmed = halfway_k(loaded_from_s, start_s).is_none_or(|k| k <= from_k - MOVED_K);
        let cooled = halfway_k(start_s, end_s).is_none_or(|k| to_k.is_none_or(|to_k| to_k <= k - MOVED_K));
        let on_the_move = warmed && cooled;
        pauses.push(CoolingPause { run, from_k, to_k, loaded_s: start_s - loaded_from_s, on_the_move });
        loaded_from_s = end_s;
    }
    pauses
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::{Interval, SpeedSeries};

    fn series(op: SegmentOp, speeds: &[f64]) -> SpeedSeries {
        let interval =
            |(i, bytes): (usize, &f64)| Interval { start_s: i as f64, span_s: 1.0, bytes: *bytes, phase: 0 };
        SpeedSeries { op, intervals: speeds.iter().enumerate().map(interval).collect() }
    }

    fn ops(write: &[f64], read: &[f64]) -> Vec<(SegmentOp, f64, f64)> {
        let mut trace = Trace::empty("test");
        trace.speeds = vec![series(SegmentOp::Write, write), series(SegmentOp::Read, read)];
        infer_phases(&mut trace);
        trace.phases.iter().map(|p| (p.op, p.start_s, p.end_s)).collect()
    }

    #[test]
    fn a_stop_stays_in_its_operation_and_a_pause_between_two_is_idle() {
        use SegmentOp::{Idle, Read, Write};
        let write = [9., 9., 9., 9., 0., 0., 0., 0., 9., 9., 9., 9., 0., 0., 0., 0., 0., 0.];
        let read = [0., 0., 0.1, 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 5., 5., 5., 5.];
        let found = ops(&write, &read);
        assert_eq!(found, [(Write, 0., 12.), (Idle, 12., 14.), (Read, 14., 18.)]);
    }

    /// Loads that begin and end so, in seconds, on a drive as warm as `kelvin` says.
    fn stopping(loads: &[(usize, usize)], kelvin: impl Fn(usize) -> f64) -> Vec<(SegmentOp, f64, f64)> {
        let end = loads.last().map_or(0, |load| load.1);
        let moved = |s: usize| if loads.iter().any(|load| (load.0..load.1).contains(&s)) { 9.0 } else { 0.0 };
        let mut trace = Trace::empty("test");
        trace.speeds = vec![series(SegmentOp::Write, &(0..end).map(moved).collect::<Vec<_>>())];
        let mut composite = measure::Series::new();
        (0..end).for_each(|s| composite.push(crate::instant(s as f64), kelvin(s).floor()));
        trace.temperatures = vec![crate::Temperature { name: "composite".into(), kelvin: composite }];
        trace.trust_a_sensor();
        infer_phases(&mut trace);
        trace.phases.iter().map(|p| (p.op, p.start_s, p.end_s)).collect()
    }

    #[test]
    fn stops_of_two_minutes_between_the_same_temperatures_are_a_thermostat_and_those_of_a_clock_are_not() {
        use SegmentOp::{Idle, Write};
        // From 320 K it takes 200 s to 350 K, from 338 K 80 s; 120 s to cool down again.
        let thermostat = |s: usize| match s {
            s if s < 200 => 320.0 + 0.15 * s as f64,
            s => match (s - 200) % 200 {
                s if s < 120 => 350.0 - 0.1 * s as f64,
                s => 338.0 + 0.15 * (s - 120) as f64,
            },
        };
        let loads = [(0, 200), (320, 400), (520, 600)];
        assert_eq!(stopping(&loads, thermostat), [(Write, 0., 600.)]);
        // A host that writes for 80 s and waits for 120 s finds the drive warmer each time.
        let clock =
            |s: usize| 320.0 + 0.02 * s as f64 + if s % 200 < 80 { 0.1 } else { -0.05 } * (s % 200) as f64;
        let loads = [(0, 80), (200, 280), (400, 480)];
        let found = stopping(&loads, clock);
        assert_eq!(found.iter().map(|phase| phase.0).collect::<Vec<_>>(), [Write, Idle, Write, Idle, Write]);
    }

    /// 30 K above its rest under load, in 60 s most of the way, and as fast back.
    fn comes_to_rest(loads: &[(usize, usize)]) -> Vec<f64> {
        let loaded = |s: usize| loads.iter().any(|load| (load.0..load.1).contains(&s));
        let warm_up = |kelvin: &mut f64, s: usize| {
            let rest = if loaded(s) { 350.0 } else { 320.0 };
            *kelvin += (rest - *kelvin) / 60.0;
            Some(*kelvin)
        };
        (0..loads.last().map_or(0, |load| load.1)).scan(320.0, warm_up).collect()
    }

    #[test]
    fn what_comes_to_rest_hot_and_cool_is_no_thermostat() {
        use SegmentOp::{Idle, Write};
        let loads = [(0, 400), (800, 1500), (1900, 2400), (2800, 2900)];
        let kelvin = comes_to_rest(&loads);
        let found: Vec<SegmentOp> = stopping(&loads, |s| kelvin[s]).iter().map(|phase| phase.0).collect();
        assert_eq!(found, [Write, Idle, Write, Idle, Write, Idle, Write]);
    }

    #[test]
    fn a_pause_of_the_hosts_on_a_cool_drive_is_none_of_a_thermostats() {
        use SegmentOp::{Idle, Write};
        // 0.15 K a second up to 350 K, 0.1 K down to 338 K; the host pauses at 341 K.
        let loads = [(0, 200), (320, 340), (640, 900), (1020, 1050)];
        let mut kelvin = vec![320.0];
        for s in 1..1050 {
            let loaded = loads.iter().any(|load| (load.0..load.1).contains(&s));
            kelvin.push(kelvin[s - 1] + if loaded { 0.15 } else { -0.1 });
        }
        let found = stopping(&loads, |s| kelvin[s]);
        assert_eq!(found, [(Write, 0., 340.), (Idle, 340., 640.), (Write, 640., 1050.)]);
    }

    #[test]
    fn bursts_belong_to_their_operation_up_to_the_next_one() {
        let bursts = |from: usize| move |s: usize| if s >= from && s.is_multiple_of(2) { 9.0 } else { 0.0 };
        let write: Vec<f64> = (0..40).map(|s| if s < 20 { bursts(0)(s) } else { 0.0 }).collect();
        let read: Vec<f64> = (0..40).map(bursts(20)).collect();
        let found: Vec<SegmentOp> = ops(&write, &read).iter().map(|phase| phase.0).collect();
        assert_eq!(found, [SegmentOp::Write, SegmentOp::Idle, SegmentOp::Read]);
    }

    #[test]
    fn one_slice_of_something_else_changes_nothing() {
        let found = ops(&[9., 9., 9., 9., 0., 9., 9., 9., 9.], &[0., 0., 0., 0., 7., 0., 0., 0., 0.]);
        assert_eq!(found, [(SegmentOp::Write, 0., 9.)]);
    }
}
