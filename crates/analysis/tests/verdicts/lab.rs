//! Runs as a careful lab records them: named phases, settings of the host, throttle counters.

use analysis::analyze;
use analysis::findings::{Cause, EventKind, Label, PolicyClass, SegmentOp};
use measure::Series;
use measure::record::ThermalSettings;
use trace::{Counters, Phase, SpeedSeries, Trace};

use crate::logs::{Logged, heat, relay};

/// Gives a log phases by name, one after the other, each with its operation and its end in seconds.
fn named(trace: &mut Trace, phases: &[(&str, SegmentOp, usize)]) {
    let mut start_s = 0.0;
    trace.phases.clear();
    for (name, op, end_s) in phases {
        trace.phases.push(Phase::bare(name, *op, start_s, *end_s as f64));
        start_s = *end_s as f64;
    }
    let all: Vec<_> =
        std::mem::take(&mut trace.speeds).into_iter().flat_map(|series| series.intervals).collect();
    for op in [SegmentOp::Read, SegmentOp::Write] {
        let phase =
            |start_s: f64| trace.phases.iter().rposition(|phase| phase.start_s <= start_s).unwrap_or(0);
        let of_op = all.iter().filter(|one| trace.phases[phase(one.start_s)].op == op);
        let intervals =
            of_op.map(|one| trace::Interval { phase: phase(one.start_s) as u32, ..*one }).collect();
        trace.speeds.push(SpeedSeries { op, intervals });
    }
}

/// TMT1 and TMT2 from the beginning on, in kelvins; 0 is off.
fn set(trace: &mut Trace, tmt1_k: u16, tmt2_k: u16) {
    let settings = ThermalSettings { tmt1_k: Some(tmt1_k), tmt2_k: Some(tmt2_k), power_state: None };
    trace.settings.push(trace::instant(0.0), settings);
}

/// Goal: that the host's thresholds are off, or far away, acquits no drive that has one of its own. Method: a relay that sets in once or
/// twice while writing and a few times while reading, with settings and without.
#[test]
fn a_threshold_of_the_drives_own_is_one_whatever_the_host_has_set() {
    const OFF: Option<(u16, u16)> = Some((0, 0));
    for (seed, writes_s, heats_k, (by_k, share), settings) in [
        (1, 300, 58.0, (7.0, 0.5), None),
        (2, 300, 58.0, (7.0, 0.5), OFF),
        (3, 300, 56.0, (6.0, 0.5), Some((358, 368))),
        (4, 340, 43.0, (9.0, 0.62), OFF),
        (55, 100, 55.0, (8.0, 0.55), OFF),
        (58, 100, 58.0, (8.0, 0.55), OFF),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = heats_k;
        let mut throttle = relay(348.0, 348.0 - by_k, share);
        log.log(60, |_, _| 0.0);
        log.log(writes_s, &mut throttle);
        log.log(600, &mut throttle);
        log.log(120, |_, _| 0.0);
        let mut trace = log.trace_of(true, 1);
        let phases = [
            ("idle", SegmentOp::Idle, 60),
            ("precondition", SegmentOp::Write, 60 + writes_s),
            ("seqread", SegmentOp::Read, 660 + writes_s),
            ("rest", SegmentOp::Idle, 780 + writes_s),
        ];
        named(&mut trace, &phases);
        if let Some((tmt1_k, tmt2_k)) = settings {
            set(&mut trace, tmt1_k, tmt2_k);
        }
        let findings = analyze(&trace);
        let of = format!("{heats_k} K, settings {settings:?}: {:?}, {:#?}", findings.policy, findings.events);
        assert_ne!(findings.policy.class, PolicyClass::None, "{of}");
        let open = findings.policy.class == PolicyClass::Undetermined;
        assert!(open || heat(&findings).len() >= 2, "{of}");
    }
}

/// Goal: one threshold is one, though its counter is read once in a while and written into each row. Method: a relay at TMT1 whose counters
/// are read every 20th to 60th row.
#[test]
fn a_counter_that_is_read_rarely_tells_no_second_threshold() {
    for (seed, every) in [(1, 20), (2, 30), (3, 40), (4, 60), (5, 30)] {
        let mut log = Logged::new(seed);
        let mut counted: Vec<(u64, u64)> = Vec::new();
        let mut throttle = relay(343.0, 339.0, 0.5);
        let mut slow = false;
        log.log(1500, |second, kelvin| {
            let share = throttle(second, kelvin);
            let (times, seconds) = counted.last().copied().unwrap_or((4, 160));
            let begins = share < 1.0 && !slow;
            slow = share < 1.0;
            counted.push((times + u64::from(begins), seconds + u64::from(slow)));
            share
        });
        let mut trace = log.trace_of(true, 1);
        set(&mut trace, 343, 353);
        trace.counters = Series::new();
        for second in 0..counted.len() {
            let (times, seconds) = counted[second / every * every];
            let counters = Counters {
                tmt1_transitions: Some(times),
                tmt1_seconds: Some(seconds),
                tmt2_transitions: Some(0),
                tmt2_seconds: Some(0),
            };
            trace.counters.push(trace::instant(second as f64 + 0.5), counters);
        }
        trace.drop_held_counters();
        let findings = analyze(&trace);
        let causes: Vec<Cause> = heat(&findings).iter().map(|onset| onset.2).collect();
        let of = format!("every {every} rows: {:?}, {causes:?}", findings.policy);
        assert!(causes.len() >= 5 && causes.iter().all(|cause| *cause == Cause::HctmTmt1), "{of}");
        assert_eq!((findings.policy.class, findings.policy.also.len()), (PolicyClass::Relay, 0), "{of}");
    }
}

/// Goal: mixed loads are held against those that read as much of their data. Method: two of them, one after the other, the second slower by
/// its mix, on a drive that is never throttled; and the same mix twice, of which the second is throttled from the start.
#[test]
fn mixed_loads_are_alike_where_they_read_as_much() {
    for (seed, first, second, alike) in
        [(1, 0.7, 0.3, false), (2, 0.9, 0.5, false), (3, 0.5, 0.75, false), (4, 0.7, 0.7, true)]
    {
        let mut log = Logged::new(seed);
        log.heats_k = 50.0;
        log.log(400, |_, _| 1.0);
        log.log(60, |_, _| 0.0);
        log.log(400, |_, _| 0.6);
        let mut trace = log.trace_of(true, 1);
        split(&mut trace, |start_s| if start_s < 430.0 { 1.0 - first } else { 1.0 - second });
        for one in trace.speeds.iter_mut().flat_map(|series| &mut series.intervals) {
            one.phase = [0.0, 400.0, 460.0].iter().rposition(|from| *from <= one.start_s).unwrap_or(0) as u32;
        }
        trace.phases = vec![
            Phase::bare("mixed", SegmentOp::Mixed, 0.0, 400.0),
            Phase::bare("idle", SegmentOp::Idle, 400.0, 460.0),
            Phase::bare("mixed", SegmentOp::Mixed, 460.0, 860.0),
        ];
        let findings = analyze(&trace);
        let slow = findings.segments.iter().any(|segment| segment.label == Label::Unknown);
        assert_eq!(slow, alike, "{first} and {second}: {:#?}", findings.segments);
        assert!(alike || heat(&findings).is_empty(), "{first} and {second}: {:#?}", findings.events);
    }
}

/// Makes reads and writes at once of what was moved, by the share that is written at a time.
fn split(trace: &mut Trace, written: impl Fn(f64) -> f64) {
    let whole = trace.speeds.remove(0);
    for op in [SegmentOp::Read, SegmentOp::Write] {
        let part = |one: &trace::Interval| {
            let written = written(one.start_s);
            let share = if op == SegmentOp::Write { written } else { 1.0 - written };
            trace::Interval { bytes: one.bytes * share, ..*one }
        };
        trace.speeds.push(SpeedSeries { op, intervals: whole.intervals.iter().map(part).collect() });
    }
}

/// A load that reads and writes at once, `written` of it writes.
fn mixed(log: &Logged, written: f64) -> Trace {
    let mut trace = log.trace_of(true, 1);
    split(&mut trace, |_| written);
    trace.phases = vec![Phase::bare("mixed", SegmentOp::Mixed, 0.0, trace.end_s())];
    trace
}

/// Goal: nothing at all is not what a full cache leaves, though its stated size had been written just before. Method: loads that read and write,
/// on a drive that stops to cool.
#[test]
fn a_mixed_load_that_stops_is_no_full_cache() {
    for (seed, on_k, off_k, written) in [
        (1, 350.0, 340.0, 0.5),
        (2, 348.0, 339.0, 0.7),
        (3, 352.0, 341.0, 0.5),
        (4, 346.0, 337.0, 0.4),
        (5, 349.0, 339.0, 0.6),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 60.0;
        let thermostat = relay(on_k, off_k, 0.0);
        log.log(900, thermostat);
        let mut trace = mixed(&log, written);
        let writes = &trace.speeds[1].intervals;
        let stops = writes.iter().position(|row| row.bytes < 1e6 && row.start_s > 0.0).expect("it stops");
        trace.facts.slc_bytes = Some(writes[..stops].iter().map(|row| row.bytes).sum::<f64>() as u64);
        let findings = analyze(&trace);
        let full = findings.events.iter().filter(|event| event.kind == EventKind::SlcExhausted).count();
        assert_eq!(full, 0, "{on_k} K: {:#?}", findings.events);
        assert_ne!(findings.policy.class, PolicyClass::None, "{on_k} K");
    }
}

/// Goal: a load that hardly writes is not slowed down by a full cache, and one that keeps to a range that the cache holds is not either. Method:
/// one fall each, after as much as the cache is stated to hold, that stays.
#[test]
fn what_hardly_writes_or_keeps_within_the_cache_fills_none() {
    for (seed, on_k, written, within_cache) in [
        (1, 350.0, 0.02, false),
        (2, 348.0, 0.03, false),
        (3, 352.0, 0.5, true),
        (4, 346.0, 0.6, true),
        (5, 349.0, 0.7, true),
    ] {
        let mut log = Logged::new(seed);
        log.heats_k = 56.0;
        let throttle = relay(on_k, on_k - 30.0, 0.55);
        log.log(600, throttle);
        let mut trace = mixed(&log, written);
        trace.phases[0].within_cache = within_cache;
        if within_cache {
            let writes = &trace.speeds[1].intervals;
            let fast = writes.iter().take_while(|row| row.bytes > 0.8 * writes[0].bytes);
            trace.facts.slc_bytes = Some(fast.map(|row| row.bytes).sum::<f64>() as u64);
        }
        let findings = analyze(&trace);
        let full = findings.events.iter().filter(|event| event.kind == EventKind::SlcExhausted).count();
        assert_eq!(full, 0, "{written}: {:#?}", findings.events);
    }
}
