//! From a record to findings: what slowed the drive down, how that is known, and how sure it is.
//!
//! # Architecture
//! - `segment`: the run cut into pieces of one speed.
//! - `cause`: where speed gave way, and what speaks for each cause.
//! - `events`, `policy`, `thermal`, `caveats`: the parts of the findings.
//! - `clocks`, `instruments`, `rounds`: further caveats, of clocks that step, sensors and counters that contradict each other, and
//!   rules for steady state that flip.
//! - [`accesses`]: single I/Os: stalls, and speed by size.
//! - [`fills`]: how much each phase of writes put into the fast cache.
//! - [`wobble`]: how unsteady each load ran.
//! - [`power`]: what the drive draws in each phase, and what a byte costs.
//! - [`joint`]: the policy of one drive from several runs, and [`Others`], what these tell each other.
//! - [`steady`]: steady state as SNIA's test specification has it.
//! - [`mod@explain`]: the reasoning behind each event, read off the same evidence.
//! - [`findings`]: what comes out, the JSON of `analyze --json`.
//!
//! # What it does not do
//! Pure functions. Nothing here opens a file of a run, sends a command or reads a clock, so every number
//! can be had again from the record alone.

pub mod accesses;
mod cause;
mod caveats;
mod clocks;
mod events;
pub mod explain;
pub mod fills;
pub mod findings;
mod instruments;
pub mod joint;
pub mod life;
mod line;
pub mod observation;
mod others;
mod policy;
pub mod posterior;
pub mod power;
mod readings;
mod rounds;
mod segment;
pub mod steady;
mod thermal;
mod unseen;
pub mod wobble;
pub mod wording;
mod work;

pub use self::thermal::{misses_readings, two_time_constants};

pub use explain::Explanation;
pub use findings::Findings;
pub use others::Others;

use trace::Trace;
use trace::caveat::SlowdownSeen;

use cause::Judged;
use cause::evidence::{Conclusion, Suspect, Weighing};
use cause::heat::Heat;
use explain::Sources;
use findings::{Caveat, Event, SlcCache, Wear};
use observation::Observation;
use readings::{SensorReadings, Spikes};

/// The version of the findings' format.
pub const SCHEMA: u32 = 2;

/// No drive of those measured is throttled below this, in kelvins (55 °C), unless it is set to.
pub const COOL_K: f64 = 328.0;
/// Some drives have thresholds of their own from here on, in kelvins: 65 °C.
pub(crate) const EARLY_LIMIT_K: f64 = 338.0;
/// A load this near to the link's rate is as fast as that lets it be.
pub const AT_LINK: f64 = 0.9;
/// From this ratio of two speeds on the slower one is not full speed: rounds of one load differ by less.
pub const FASTER: f64 = 1.25;

/// Everything that can be said about a run. Never fails: what cannot be known is `None` with a caveat.
pub fn analyze(trace: &Trace) -> Findings {
    analyze_among(trace, &Others::default())
}

/// The same, with what other runs of the drive show of its loads.
pub fn analyze_among(trace: &Trace, others: &Others) -> Findings {
    analyze_with(trace, others, |_, _, _| ()).0
}

/// The same, and the reasoning behind each event, in order of time.
pub fn explain(trace: &Trace) -> (Findings, Vec<Explanation>) {
    let (findings, mut explained) =
        analyze_with(trace, &Others::default(), |sources, event, judged| sources.explain(event, judged));
    (1..).zip(&mut explained).for_each(|(number, explanation)| explanation.number = number);
    (findings, explained)
}

/// Analyzes, and lets `look` see what each event is made from; what it made of them is in order of time.
fn analyze_with<T>(
    trace: &Trace,
    others: &Others,
    look: impl Fn(&Sources, &Event, &Judged) -> T,
) -> (Findings, Vec<T>) {
    let readings = SensorReadings::new(trace);
    let heat = Heat::new(trace, &readings);
    let stretches = segment::stretches(trace);
    let pieces = segment::pieces(&stretches);
    let judged = cause::judge(trace, others, &stretches, &pieces, &heat);
    let unread = trace.unread_share();
    let (policy, undecided) = policy::policy(trace, &heat, &stretches, &pieces, &judged, unread);
    let (thermal, unidentified) = thermal::thermal(trace, &heat, unread);
    let mut caveats = caveats::caveats(trace, &stretches, &pieces, &heat, &judged, &thermal);
    caveats
        .extend(readings.spikes.map(|Spikes { count, by_k }| Caveat::SensorSpikes { readings: count, by_k }));
    caveats.extend(clocks::caveat(trace, &heat));
    caveats.extend(instruments::caveats(trace, &heat));
    caveats.extend(rounds::caveat(&stretches, &judged, heat.slice_s));
    caveats.extend(undecided);
    caveats.extend(unidentified);
    let sources = Sources { trace, heat: &heat, pieces: &pieces, stretches: &stretches };
    let mut segments = events::segments(trace, &stretches, &pieces, &judged, &heat);
    let loads = match caveats.contains(&Caveat::PolicyUndetermined { seen: SlowdownSeen::NeverCool }) {
        true => policy::never_cool(trace, &heat, &stretches, &judged),
        false => policy::never_below_onset(trace, &heat, &stretches, &judged),
    };
    events::name_constant(&mut segments, &loads);
    caveats.extend(events::name_slower(&mut segments, trace, others));
    let slc_cache = slc_cache(trace, &judged);
    // Last, as it takes them: a month of evidence is not held beside the events made from it.
    let (events, seen) = events::events(&sources, &segments, judged, look);
    let mut findings = Findings {
        schema: SCHEMA,
        simulated: trace.facts.simulated,
        segments,
        events,
        policy,
        slc_cache,
        thermal,
        steady_state: steady::find(trace),
        life: life::life(trace),
        power: power::power(trace),
        accesses: None,
        fills: fills::fills(trace),
        wear: wear(trace),
        wobble: Vec::new(),
        caveats,
    };
    findings.wobble = wobble::wobble(trace, &findings.segments, &findings.events);
    findings.caveats.extend(unseen::caveat(&findings, trace));
    (findings, seen)
}

/// What the run took from the drive's endurance.
fn wear(trace: &Trace) -> Option<Wear> {
    let counters = trace.wear?;
    let [before, after] = counters.written_bytes;
    let host: f64 = trace
        .speeds
        .iter()
        .filter(|series| series.op == findings::SegmentOp::Write)
        .flat_map(|series| &series.intervals)
        .map(|interval| interval.bytes)
        .sum();
    (host > 0.0 || after > before).then(|| Wear {
        written_by_run_bytes: host,
        counted_bytes: (after - before).max(0.0),
        used_percent_before: counters.used_percent[0],
        used_percent_after: counters.used_percent[1],
        rated_bytes: counters.rated_bytes,
        share_of_rated: counters.rated_bytes.filter(|rated| *rated > 0.0).map(|rated| host / rated),
    })
}

/// More written than this many times the stated size, and what ended was not one filling of the cache: it had emptied
/// meanwhile, or erased blocks ran out.
pub(crate) const OVER_STATED: f64 = 2.0;
/// A cache less likely than this has no size that is told: of twelve that were, on drives of others, eight had none, and two had that size.
const SIZED: f64 = 2.0 / 3.0;
/// What weighs as much against a cache of a size, as a logarithm, leaves that size untold.
const UNLIKELY_SIZE: f64 = -1.5;

/// The fast cache as its first end in the run showed it.
fn slc_cache(trace: &Trace, judged: &[Judged]) -> Option<SlcCache> {
    let full = judged.iter().find(|j| j.verdict.conclusion == Conclusion::SlcFull && !j.drop.at_start)?;
    let too_large = match trace.facts.slc_bytes {
        Some(stated) => full.written_bytes > OVER_STATED * stated as f64,
        // A size is told that a cache may have, of one that left some speed.
        None => {
            let refuted = |seen: &Weighing| {
                let of_size = matches!(
                    seen.observation,
                    Observation::BeyondAnyCache { .. } | Observation::WrittenAtOnce { .. }
                );
                of_size && seen.weights[Suspect::Slc as usize] <= UNLIKELY_SIZE
            };
            full.evidence.weighings().iter().any(refuted)
        }
    };
    // Without a temperature none is likely. One that a rest had emptied in part shows no size.
    let unlikely = full.began.is_some_and(|began| began.refilled || full.verdict.confidence < SIZED);
    if too_large || full.drop.level <= 0.0 || unlikely {
        return None;
    }
    Some(SlcCache {
        bytes: full.written_bytes as u64,
        before_bytes_per_s: full.drop.before?,
        after_bytes_per_s: full.drop.level,
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use findings::{Caveat, SegmentOp};
    use trace::caveat::Unseen;
    use trace::{Interval, SpeedSeries, Temperature, instant};

    /// A drive that goes to and fro between two temperatures all day long.
    fn cycling(seconds: usize) -> Trace {
        let mut trace = Trace::empty("cycles");
        let slow = |s: usize| s % 40 >= 25;
        let speed = |s: usize| if slow(s) { 2e8 } else { 3e9 } * (1.0 + 0.02 * (s as f64 * 12.9898).sin());
        let interval = |s: usize| Interval { start_s: s as f64, span_s: 1.0, bytes: speed(s), phase: 0 };
        trace.speeds =
            vec![SpeedSeries { op: SegmentOp::Read, intervals: (0..seconds).map(interval).collect() }];
        let mut kelvin = measure::Series::new();
        for s in 0..seconds {
            let within = (s % 40) as f64;
            let k = if slow(s) { 343.0 - (within - 25.0) / 3.0 } else { 338.0 + within / 5.0 };
            kelvin.push(instant(s as f64), k.floor());
        }
        trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
        trace.trust_a_sensor();
        trace::infer_phases(&mut trace);
        trace
    }

    /// A drive that is read for a minute, written for a minute and left alone for a minute.
    fn in_turn(seconds: usize) -> Trace {
        let mut trace = Trace::empty("in turn");
        let speed = |s: usize| 2e9 * (1.0 + 0.02 * (s as f64 * 12.9898).sin());
        let series = |op: SegmentOp, turn: usize| {
            let bytes = |s: usize| if s / 60 % 3 == turn { speed(s) } else { 0.0 };
            let interval = |s: usize| Interval { start_s: s as f64, span_s: 1.0, bytes: bytes(s), phase: 0 };
            SpeedSeries { op, intervals: (0..seconds).map(interval).collect() }
        };
        trace.speeds = vec![series(SegmentOp::Read, 0), series(SegmentOp::Write, 1)];
        let mut kelvin = measure::Series::new();
        (0..seconds).for_each(|s| kelvin.push(instant(s as f64), 330.0 + (s / 60 % 3) as f64));
        trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
        trace.trust_a_sensor();
        trace::infer_phases(&mut trace);
        trace
    }

    /// Goal: no size that contradicts the stated one. Method: one drop of writes after 300 GB, with and without a size stated.
    #[test]
    fn what_ends_after_many_fillings_is_no_size_of_the_cache() {
        let mut trace = Trace::empty("cliff");
        let interval = |s: usize| Interval {
            start_s: s as f64,
            span_s: 1.0,
            bytes: if s < 200 { 1.5e9 } else { 1e8 },
            phase: 0,
        };
        trace.speeds =
            vec![SpeedSeries { op: SegmentOp::Write, intervals: (0..600).map(interval).collect() }];
        let mut kelvin = measure::Series::new();
        (0..600).for_each(|s| kelvin.push(instant(f64::from(s)), f64::from(310 + s / 200)));
        trace.temperatures = vec![Temperature { name: "composite".into(), kelvin }];
        trace.trust_a_sensor();
        trace::infer_phases(&mut trace);
        for (stated, given) in [(None, true), (Some(300_000_000_000), true), (Some(100_000_000_000), false)] {
            trace.facts.slc_bytes = stated;
            let found = analyze(&trace);
            assert_eq!(found.slc_cache.is_some(), given, "stated as {stated:?}: {:?}", found.events);
            let over = |value: &Unseen| matches!(value, Unseen::SlcBytes { over_stated: true, .. });
            let said = found
                .caveats
                .iter()
                .any(|caveat| matches!(caveat, Caveat::NotSeen { values } if values.iter().any(over)));
            assert_eq!(said, !given, "{:?}", found.caveats);
        }
    }

    /// Goal: a month in seconds, of one load with many events as well as of many loads. Method: inner steps of four days against those of one.
    #[test]
    fn work_grows_with_the_length_of_a_run_and_no_faster() {
        let steps = |trace: &Trace, least: usize| {
            work::counted(|| {
                let found = analyze(trace);
                let seen = found.events.len().max(found.segments.len());
                assert!(seen > least, "{seen} events or segments");
            })
        };
        for (of_days, least) in [(cycling as fn(usize) -> Trace, 4_000), (in_turn, 1_000)] {
            let [one, four] = [1, 4].map(|days| steps(&of_days(days * 86_400), days * least));
            assert!(one > 86_400 && four < 5 * one, "{one} steps for a day, {four} for four");
        }
    }
}
