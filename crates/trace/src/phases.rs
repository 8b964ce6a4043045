//! Phases of a log that names none: read off which operation moved data when.
//!
//! Zero speed, or a trickle, between two stretches of one operation belongs to that operation (the drive may have stopped);
//! zero speed between two operations, after the last one, or for more than 90 s, is idle time, unless it recurs: for much the same time, or from one
//! temperature to another as a thermostat has them. Where the log says how busy the drive was, less of both is idle time too. The phase says that it was inferred, so that zero speed in it may
//! still be judged to be no load.

mod busy;
mod pauses;

use self::busy::BusyLoad;
use self::pauses::Stops;
use super::{LoadTotal, Phase, Trace, load_totals};
use crate::SegmentOp;

/// An operation stands alone when the others move less than this share of the data in a slice: file systems
/// read a little while they write.
pub const MINOR_SHARE: f64 = 0.05;

/// So little moves by itself between loads, as an operating system writes its journals, that it neither heats a drive nor asks
/// anything of it: up to this share of what the log moves at most, and this rate in bytes per second.
const TRICKLE: f64 = 0.005;
const MOST_TRICKLE: f64 = 10e6;

/// Another operation for less than this joins its surroundings: shorter than any segment.
const SHORTEST_S: f64 = 3.0;

/// Stops that come so often and for much the same time are a habit.
const RECURRING: usize = 3;
const MUCH_THE_SAME: f64 = 1.5;

/// Gives `trace` phases read off its speeds and its trusted temperature ([`Trace::trust_a_sensor`]), and every interval its phase.
pub fn infer_phases(trace: &mut Trace) {
    let mut runs: Vec<(SegmentOp, f64, f64)> = Vec::new();
    let (settled, waited_s) = settle(trace);
    if waited_s >= SHORTEST_S {
        trace.notes.push(format!(
            "for {waited_s:.0} s less was asked of the drive, which was slower and less busy: that time counts as light load and is not judged"
        ));
    }
    for (op, start_s, end_s) in settled {
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

/// What moved data (`None`: nothing did; idle: nothing was asked for), from when to when, in seconds.
type OpRun = (Option<SegmentOp>, f64, f64);

/// What moved the data of a slice; `None` where nothing did, or no more than a trickle.
fn dominant(slice: &LoadTotal<'_>, trickle_bytes_per_s: f64) -> Option<SegmentOp> {
    let (op, bytes) = slice.most;
    let moves = slice.interval().bytes_per_s() > trickle_bytes_per_s;
    let alone = bytes >= (1.0 - MINOR_SHARE) * slice.bytes;
    moves.then_some(if alone { op } else { SegmentOp::Mixed })
}

impl Trace {
    /// Up to which rate data move without anybody asking for them, in bytes per second.
    pub fn trickle_bytes_per_s(&self) -> f64 {
        let most = load_totals(&self.speeds).map(|slice| slice.interval().bytes_per_s()).fold(0.0, f64::max);
        (TRICKLE * most).min(MOST_TRICKLE)
    }
}

/// Fills slices without load from their surroundings and drops changes that are too short to be meant. And for how many seconds data
/// were moved of which the drive had too little to do.
fn settle(trace: &Trace) -> (Vec<(SegmentOp, f64, f64)>, f64) {
    let mut runs: Vec<OpRun> = Vec::new();
    let trickle_bytes_per_s = trace.trickle_bytes_per_s();
    let (load, mut waited_s) = (BusyLoad::of(trace), 0.0);
    for slice in load_totals(&trace.speeds) {
        let mut op = dominant(&slice, trickle_bytes_per_s);
        if load.waits(&slice) {
            waited_s += if op.is_some() { slice.first.span_s } else { 0.0 };
            op = Some(SegmentOp::Idle);
        }
        let (start_s, end_s) = (slice.first.start_s, slice.first.end_s());
        match runs.last_mut() {
            Some(last) if last.0 == op => last.2 = end_s,
            _ => runs.push((op, start_s, end_s)),
        }
    }
    let runs = without_short_stops(runs);
    let stops = Stops::of(&runs, trace);
    let loaded: Vec<usize> = (0..runs.len()).filter(|i| runs[*i].0.is_some()).collect();
    let long = |i: &usize| runs[*i].2 - runs[*i].1 >= SHORTEST_S;
    let kept: Vec<usize> =
        if loaded.iter().any(long) { loaded.iter().copied().filter(long).collect() } else { loaded };
    let settled = (0..runs.len())
        .map(|i| {
            let (op, start_s, end_s) = runs[i];
            let nth = |k: usize| kept.get(k).and_then(|k| runs[*k].0);
            let before = kept.partition_point(|k| *k <= i).checked_sub(1).and_then(nth);
            let after = nth(kept.partition_point(|k| *k < i));
            let op = match (op, before, after) {
                (Some(op), ..) if kept.binary_search(&i).is_ok() => op,
                (None, Some(before), _) if stops.thermostat.binary_search(&i).is_ok() => before,
                (None, ..) if end_s - start_s > stops.longest_s => SegmentOp::Idle,
                (_, Some(before), Some(after)) if after == before => before,
                (None, Some(before), None) if end_s - start_s < SHORTEST_S || stops_again(&runs, i) => before,
                (Some(_), Some(before), _) => before,
                (Some(_), None, Some(after)) => after,
                _ => SegmentOp::Idle,
            };
            (op, start_s, end_s)
        })
        .collect();
    (settled, waited_s)
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

    #[test]
    fn a_trickle_between_loads_is_idle_and_a_slow_load_is_none() {
        use SegmentOp::{Idle, Mixed, Write};
        let write = |rest: f64| -> Vec<f64> {
            (0..300).map(|s| if (100..200).contains(&s) { rest } else { 2e9 }).collect()
        };
        let reads: Vec<f64> = (0..300).map(|s| if (100..200).contains(&s) { 3e6 } else { 0.0 }).collect();
        let found =
            |rest: f64| ops(&write(rest), &reads).into_iter().map(|phase| phase.0).collect::<Vec<_>>();
        assert_eq!(found(4e6), [Write, Idle, Write]);
        assert_eq!(found(9e6), [Write, Mixed, Write]);
        assert_eq!(found(39e6), [Write, Mixed, Write]);
        assert_eq!(found(60e6), [Write]);
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

    #[test]
    fn loads_of_one_length_from_cold_and_from_warm_are_the_hosts() {
        use SegmentOp::{Idle, Write};
        let loads: Vec<(usize, usize)> = (0..6).map(|n| (180 * n, 180 * n + 100)).collect();
        let kelvin = comes_to_rest(&loads);
        let found: Vec<SegmentOp> = stopping(&loads, |s| kelvin[s]).iter().map(|phase| phase.0).collect();
        assert_eq!(found.iter().filter(|op| **op == Write).count(), 6, "{found:?}");
        assert_eq!(found.iter().filter(|op| **op == Idle).count(), 5, "{found:?}");
        // A thermostat between 340 and 345 K lets the same drive begin at 320 K, and run longer.
        let mut kelvin = vec![320.0f64];
        let (mut loads, mut began) = (Vec::new(), Some(0));
        for s in 0..600 {
            let now = kelvin[s];
            match began {
                Some(from) if now >= 345.0 => {
                    loads.push((from, s));
                    began = None;
                }
                None if now <= 340.0 => began = Some(s),
                _ => {}
            }
            kelvin.push(now + (if began.is_some() { 350.0 } else { 320.0 } - now) / 60.0);
        }
        assert_eq!(stopping(&loads, |s| kelvin[s]).len(), 1, "one load: {loads:?}");
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
