//! Why the numbers of a run deserve care. METHODS lists every kind.

use measure::Point;

use crate::cause::Judged;
use crate::cause::evidence::{Conclusion, Suspect};
use crate::cause::heat::Heat;
use crate::findings::{Caveat, SegmentOp, Thermal};
use crate::life;
use crate::segment::{Piece, Stretch, usual_span_s};
use trace::caveat::{ClockDoubt, Cycles, Hole, HostThreshold, IoFailure, StillCounters, StillSensor};
use trace::{Interval, Trace};

/// Chosen: a drive's sensor and a room's thermometer are off by less together.
const SENSOR_OFF_K: f64 = 5.0;
/// A level above the link by more than this is no rounding of times or bytes.
const OVER_LINK: f64 = 1.01;
/// A single sample may hold what belongs to its neighbours: what passes in so much of the link's time, as logs are written
/// some milliseconds early or late, ...
const EDGE_S: f64 = 0.02;
/// ... and the I/Os in flight, which count where they end.
const EDGE_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
/// From this share of the link's rate on the link may be what limits: protocol takes the rest (PCIe: headers of 20 to
/// 28 B for each 128 to 256 B of data, so 8 to 18 %; SATA and USB less or about the same).
const NEAR_LINK: f64 = 0.85;
/// The same of a link that is known to be slower than it could be. Bridges move 40 to 44 MB/s of the 53 that 480 Mb/s carry,
/// and 400 to 450 MB/s of 500 at 5 Gb/s, one command at a time (BOT) less than many (UAS).
const NEAR_SLOW_LINK: f64 = 0.75;
/// From this share on the speed is the link's: of a simulated link the rate is what data may take, and what a log states
/// may be that as well.
const AT_LINK: f64 = 0.97;
/// A level is told by at least so many samples.
const LEVEL_SLICES: usize = 5;
/// A hole in a series is a gap when it is longer than this many of its usual steps.
pub(crate) const GAP_STEPS: f64 = 3.0;
/// Less load than this shows no steady state: three fast time constants of an M.2 drive.
const SHORT_S: f64 = 120.0;
/// A temperature that never moves while a load runs this long is not measured.
const FROZEN_S: f64 = 120.0;
/// Readings further apart than this miss cycles of half a minute.
const SLOW_SAMPLING_S: f64 = 10.0;
/// An interval longer than the usual one by this factor is told beside it.
const OTHER_SPAN: f64 = 1.5;
/// Readings lie on coarser steps than whole kelvins where they would do so by chance in fewer logs than this share.
const CHANCE: f64 = 0.05;

/// All caveats that the trace itself gives rise to.
pub(crate) fn caveats(
    trace: &Trace,
    stretches: &[Stretch],
    pieces: &[Piece],
    heat: &Heat,
    judged: &[Judged],
    thermal: &Thermal,
) -> Vec<Caveat> {
    let mut caveats = trace.caveats.clone();
    caveats.extend(origin(trace));
    caveats.extend(speed(trace, stretches, pieces));
    caveats.extend(gaps(trace, heat));
    caveats.extend(clock(trace));
    caveats.extend(sensors(trace, stretches, heat));
    caveats.extend(counters(trace, stretches, heat, judged));
    caveats.extend(cycles(judged));
    let hot = judged.iter().any(|j| j.verdict.conclusion.is_heat());
    if trace.facts.ambient_k.is_none() && (hot || thermal.idle_floor_k.is_some()) {
        caveats.push(Caveat::AmbientUnknown);
    }
    let coolest_k = heat.within(f64::NEG_INFINITY, f64::INFINITY).iter().map(|p| p.value).reduce(f64::min);
    if let Some((ambient_k, coolest_k)) = trace.facts.ambient_k.zip(coolest_k)
        && ambient_k >= coolest_k + SENSOR_OFF_K
    {
        caveats.push(Caveat::AmbientAboveDrive { ambient_k, coolest_k });
    }
    caveats
}

fn origin(trace: &Trace) -> Vec<Caveat> {
    let mut found = Vec::new();
    if trace.facts.simulated == Some(true) {
        found.push(Caveat::Simulated);
    }
    if let Some(why) = &trace.facts.ended_early {
        found.push(Caveat::Unfinished { why: why.clone() });
    }
    if trace.io_errors > 0 {
        found.push(Caveat::IoErrors(IoFailure::Some { failed: trace.io_errors }));
    }
    found
}

fn speed(trace: &Trace, stretches: &[Stretch], pieces: &[Piece]) -> Vec<Caveat> {
    let mut found = Vec::new();
    let phases: Vec<String> = trace.phases.iter().filter(|p| p.buffered).map(|p| p.name.clone()).collect();
    if !phases.is_empty() {
        found.push(Caveat::PageCache { phases });
    }
    if let Some(link) = trace.facts.link_bytes_per_s {
        found.extend(against_link(trace, stretches, pieces, link));
    }
    let loaded = stretches.iter().filter(|s| !matches!(s.op, SegmentOp::Idle | SegmentOp::Trim));
    let longest_s = loaded.map(|s| s.end_s() - s.start_s()).fold(0.0, f64::max);
    if longest_s > 0.0 && longest_s < SHORT_S {
        found.push(Caveat::TooShort { longest_s });
    }
    let interval_s = usual_span_s(&trace.speeds);
    if interval_s > SLOW_SAMPLING_S {
        let spans_s =
            trace.speeds.iter().flat_map(|series| &series.intervals).map(|interval| interval.span_s);
        let longest_interval_s =
            spans_s.reduce(f64::max).filter(|longest_s| *longest_s > OTHER_SPAN * interval_s);
        found.push(Caveat::Averaged { interval_s, longest_interval_s });
    }
    found
}

/// Speed against the rate of the link: above it the link's rate or the log is wrong, near it the link may be what limits.
fn against_link(
    trace: &Trace,
    stretches: &[Stretch],
    pieces: &[Piece],
    link_bytes_per_s: f64,
) -> Option<Caveat> {
    let link = link_bytes_per_s;
    let usual_s = usual_span_s(&trace.speeds);
    // What is deallocated does not pass the link.
    let moves_data = |stretch: &Stretch| stretch.op != SegmentOp::Trim;
    let moving = stretches.iter().filter(|stretch| moves_data(stretch));
    // The rest of an interval at the end of a phase is left out: one late I/O would be its whole speed.
    let samples = moving.flat_map(|s| s.samples.iter()).filter(|s| s.span_s >= usual_s / 2.0);
    let edge_bytes = link * EDGE_S + EDGE_BYTES;
    let over = samples.filter(|s| s.bytes > link * s.span_s + edge_bytes);
    let (over_s, fastest_sample) =
        over.fold((0.0, 0.0f64), |(span_s, most), s| (span_s + s.span_s, most.max(s.bytes_per_s())));
    let levels = pieces.iter().filter(|p| p.level > OVER_LINK * link && p.slices >= LEVEL_SLICES);
    let (level_s, fastest_level) = levels
        .filter(|p| moves_data(&stretches[p.stretch]))
        .fold((0.0, 0.0f64), |(span_s, most), p| (span_s + p.span_s(), most.max(p.level)));
    let possible_bytes_per_s = trace.facts.possible_link_bytes_per_s.filter(|possible| *possible > link);
    let share = match (trace.facts.simulated, possible_bytes_per_s) {
        (Some(true), _) => AT_LINK,
        (_, Some(_)) => NEAR_SLOW_LINK,
        _ => NEAR_LINK,
    };
    let all_s: f64 = pieces.iter().map(Piece::span_s).sum();
    let near = pieces.iter().filter(|p| p.level >= share * link && moves_data(&stretches[p.stretch]));
    let (near_s, near_bytes) = near.fold((0.0, 0.0), |(s, b), p| (s + p.span_s(), b + p.level * p.span_s()));
    if over_s.max(level_s) > 0.0 {
        return Some(Caveat::AboveLinkRate {
            span_s: over_s.max(level_s),
            of_s: all_s,
            lasting: level_s > 0.0,
            fastest_bytes_per_s: fastest_sample.max(fastest_level),
            link_bytes_per_s,
        });
    }
    let bytes_per_s = near_bytes / near_s;
    let all_of_it = bytes_per_s >= AT_LINK * link;
    (near_s > 0.1 * all_s && near_s > 0.0).then_some(Caveat::AtLinkRate {
        span_s: near_s,
        bytes_per_s,
        link_bytes_per_s,
        all_of_it,
        possible_bytes_per_s,
    })
}

fn gaps(trace: &Trace, heat: &Heat) -> Vec<Caveat> {
    let mut found = Vec::new();
    let mut holes: Vec<(f64, f64)> = Vec::new();
    for series in &trace.speeds {
        let usual_s = usual_span_s(std::slice::from_ref(series));
        for pair in series.intervals.windows(2).filter(|pair| pair[0].phase == pair[1].phase) {
            let (from_s, to_s) = (pair[0].end_s(), pair[1].start_s);
            if to_s - from_s > GAP_STEPS * usual_s {
                holes.push((from_s, to_s));
            }
        }
    }
    let holes = as_one(holes);
    if !holes.is_empty() {
        let missing_s = holes.iter().map(|(from_s, to_s)| to_s - from_s).sum();
        found.push(Caveat::Gap(Hole::Speed { holes: holes.len(), missing_s }));
    }
    let points = heat.all();
    let holes: Vec<f64> = points
        .windows(2)
        .map(|w| w[1].t.since(w[0].t).as_secs_f64())
        .filter(|step| *step > GAP_STEPS * heat.period_s)
        .collect();
    if !holes.is_empty() {
        let first = trace.temperature().and_then(|series| series.gaps().first());
        found.push(Caveat::Gap(Hole::Temperature {
            holes: holes.len(),
            missing_s: holes.iter().sum(),
            reason: first.map(|gap| gap.reason.clone()),
        }));
    }
    found
}

/// Stretches of time in their order, those that overlap as one: reading and writing are missing together.
fn as_one(mut stretches: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    stretches.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut joined: Vec<(f64, f64)> = Vec::with_capacity(stretches.len());
    for (from_s, to_s) in stretches {
        match joined.last_mut().filter(|last| from_s <= last.1) {
            Some(last) => last.1 = last.1.max(to_s),
            None => joined.push((from_s, to_s)),
        }
    }
    joined
}

/// A drive that goes to and fro is in no steady state, whatever a rule over rounds says.
fn cycles(judged: &[Judged]) -> Option<Caveat> {
    let began = |j: &&Judged| j.verdict.conclusion.is_heat() && !j.continues && j.drop.inside.is_none();
    let began_s: Vec<f64> = judged.iter().filter(began).map(|j| j.start_s).collect();
    let period_s = crate::steady::period_s(&began_s)?;
    Some(Caveat::Cyclostationary(Cycles::Heat { period_s }))
}

fn clock(trace: &Trace) -> Option<Caveat> {
    // A tenth of an interval: what is counted twice would show in the speed.
    let overlaps = |pair: &&[Interval]| pair[1].start_s < pair[0].end_s() - 0.1 * pair[0].span_s;
    let intervals =
        trace.speeds.iter().map(|series| series.intervals.windows(2).filter(overlaps).count()).sum();
    (intervals > 0).then_some(Caveat::Clock(ClockDoubt::Overlap { intervals }))
}

fn sensors(trace: &Trace, stretches: &[Stretch], heat: &Heat) -> Vec<Caveat> {
    let mut found = Vec::new();
    let points = heat.all();
    if points.is_empty() {
        found.push(Caveat::NoTemperature { outside_load: false, counted: has_counted(trace, heat) });
        return found;
    }
    let period_s = heat.period_s;
    let loaded = |s: &Stretch| points_within(points, s.start_s() - period_s, s.end_s() + period_s);
    if !stretches.is_empty() && !stretches.iter().any(loaded) {
        found.push(Caveat::NoTemperature { outside_load: true, counted: has_counted(trace, heat) });
    }
    found.extend(copied(trace));
    let stuck = trace.stuck_sensors().into_iter().map(str::to_owned);
    found.extend(stuck.map(|sensor| Caveat::FrozenSensor(StillSensor::BesideOthers { sensor })));
    let loaded_s: f64 = stretches.iter().map(|s| s.end_s() - s.start_s()).sum();
    let first = points[0].value;
    if loaded_s >= FROZEN_S && points.iter().all(|p| p.value == first) {
        found.push(Caveat::FrozenSensor(StillSensor::WholeRun { temp_k: first }));
    }
    if points.iter().all(|p| p.value.fract() == 0.0) {
        found.push(Caveat::WholeKelvin { step_k: whole_step_k(points) });
    }
    if heat.period_s > SLOW_SAMPLING_S {
        found.push(Caveat::SlowTemperature { period_s: heat.period_s });
    }
    found
}

/// Whether the drive counted throttling while it was recorded, or in its life.
fn has_counted(trace: &Trace, heat: &Heat) -> bool {
    let moved = heat.moved(0.0, trace.end_s());
    moved.tmt1.unwrap_or(0).max(moved.tmt2.unwrap_or(0)) > 0
        || life::life(trace).is_some_and(|life| !life.counted().is_empty())
}

/// In steps of how many kelvins these whole ones come: their greatest common one, where so many different readings, or so many that changed
/// after they had stood, would not all lie on such steps by chance.
fn whole_step_k(points: &[Point<f64>]) -> f64 {
    let mut kelvins: Vec<i64> = points.iter().map(|p| p.value as i64).collect();
    let leaps =
        kelvins.windows(4).filter(|four| four[..3].iter().all(|k| *k == four[0]) && four[3] != four[0]);
    let leaps = leaps.count();
    kelvins.sort_unstable();
    kelvins.dedup();
    let common = |mut a: i64, mut b: i64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let step_k = kelvins.iter().fold(0, |step, kelvin| common(step, kelvin - kelvins[0])) as f64;
    let by_chance = step_k.powi(-(leaps.max(kelvins.len() - 1).min(64) as i32));
    if step_k > 1.0 && by_chance < CHANCE { step_k } else { 1.0 }
}

/// Whether any of these readings lies between two moments.
fn points_within(points: &[Point<f64>], from_s: f64, to_s: f64) -> bool {
    let first = points.partition_point(|p| p.t.as_secs_f64() < from_s);
    points.get(first).is_some_and(|p| p.t.as_secs_f64() <= to_s)
}

/// A sensor whose every reading is the composite's: one of the two is a copy, and the drive shows one sensor fewer.
fn copied(trace: &Trace) -> Option<Caveat> {
    const READINGS: usize = 100;
    const MOVED_K: f64 = 8.0;
    let composite = trace.temperatures.iter().find(|t| t.name == "composite")?.kelvin.points();
    let values = composite.iter().map(|p| p.value);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if composite.len() < READINGS || high - low < MOVED_K {
        return None;
    }
    let others = trace.temperatures.iter().filter(|t| t.name.starts_with("sensor"));
    let sensors: Vec<String> =
        others.filter(|t| t.kelvin.points() == composite).map(|t| t.name.clone()).collect();
    (!sensors.is_empty()).then_some(Caveat::CopiedSensor { sensors })
}

/// When the first load began and the last one ended, in seconds; `None` without a load.
fn loaded(stretches: &[Stretch]) -> Option<(f64, f64)> {
    let ends = stretches.iter().map(|stretch| (stretch.start_s(), stretch.end_s()));
    ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
}

/// Counters that moved while speed did not, and the reverse.
fn counters(trace: &Trace, stretches: &[Stretch], heat: &Heat, judged: &[Judged]) -> Vec<Caveat> {
    let mut found = Vec::new();
    let moved = heat.moved(0.0, trace.end_s());
    let hot: Vec<&Judged> = judged.iter().filter(|j| j.verdict.conclusion.is_heat()).collect();
    // Where nobody planned the load, most of the speed says nothing; of a time without load nothing is known.
    if let Some((from_s, to_s)) = loaded(stretches).filter(|_| hot.is_empty() && !trace.facts.unplanned) {
        let near_s = heat.counter_period_s();
        for threshold in [HostThreshold::Tmt1, HostThreshold::Tmt2] {
            let (transitions, seconds) = heat.counted_at(threshold, from_s - near_s, to_s + near_s);
            if transitions.unwrap_or(0).max(seconds.unwrap_or(0)) > 0 {
                found.push(Caveat::CountersWithoutSlowdown { threshold, transitions, seconds });
            }
        }
    }
    let still = moved.tmt1 == Some(0) && moved.tmt2.unwrap_or(0) == 0;
    if still && !hot.is_empty() {
        // A threshold of the drive's own moves no counter of TMT1 or TMT2: that is no contradiction.
        let own = hot.iter().all(|j| j.verdict.conclusion == Conclusion::Heat(Suspect::Vendor));
        let why = match (own, heat.has_counted()) {
            (true, _) => StillCounters::OwnThreshold,
            (false, true) => StillCounters::CountedBefore,
            (false, false) => StillCounters::NeverCounted,
        };
        found.push(Caveat::SlowdownWithoutCounters { why });
    }
    found
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: a coarse sensor is told from one of whole kelvins that shows few of them. Method: one climb in steps of each, two values of a coarse
    /// one, and a drive that goes to and fro by five kelvins from row to row.
    #[test]
    fn whole_kelvins_come_in_the_steps_that_the_sensor_has() {
        let step_k = |kelvin: &dyn Fn(usize) -> f64| {
            let point = |s: usize| Point { t: trace::instant(s as f64), value: kelvin(s) };
            whole_step_k(&(0..300).map(point).collect::<Vec<_>>())
        };
        let climb = |s: usize| 300.0 + 0.1 * s as f64;
        for step in [1.0, 2.0, 5.0] {
            assert_eq!(step_k(&|s| (climb(s) / step).floor() * step), step);
        }
        assert_eq!(step_k(&|s| if s / 30 % 2 == 0 { 328.0 } else { 333.0 }), 5.0);
        assert_eq!(step_k(&|s| if s % 2 == 0 { 328.0 } else { 333.0 }), 1.0);
        assert_eq!(step_k(&|_| 310.0), 1.0);
    }

    #[test]
    fn what_is_missing_at_once_is_missing_once() {
        assert_eq!(as_one(vec![]), []);
        let holes = vec![(100.0, 200.0), (50.0, 60.0), (101.0, 201.0), (150.0, 160.0), (300.0, 310.0)];
        assert_eq!(as_one(holes), [(50.0, 60.0), (100.0, 201.0), (300.0, 310.0)]);
    }
}
