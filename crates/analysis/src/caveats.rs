//! Why the numbers of a run deserve care. METHODS lists every kind.

use measure::{BytesPerSec, Point};

use crate::cause::Judged;
use crate::cause::evidence::{Finding, Suspect};
use crate::cause::heat::{Heat, degrees};
use crate::findings::{Caveat, SegmentOp, Thermal};
use crate::segment::{Piece, Sample, Stretch, usual_span_s};
use trace::{Interval, Trace};

/// Samples may exceed the link by rounding of their interval.
const OVER_LINK: f64 = 1.01;
/// From this share of the link's rate on the link may be what limits: protocol takes the rest (PCIe: headers of 20 to
/// 28 B for each 128 to 256 B of data, so 8 to 18 %; SATA and USB less or about the same).
const NEAR_LINK: f64 = 0.85;
/// From this share on the speed is the link's: of a simulated link the rate is what data may take, and what a log states
/// may be that as well.
const AT_LINK: f64 = 0.97;
/// A hole in a series is a gap when it is longer than this many of its usual steps.
const GAP_STEPS: f64 = 3.0;
/// Less load than this shows no steady state: three fast time constants of an M.2 drive.
const SHORT_S: f64 = 120.0;
/// A temperature that never moves while a load runs this long is not measured.
const FROZEN_S: f64 = 120.0;
/// Readings further apart than this miss cycles of half a minute.
const SLOW_SAMPLING_S: f64 = 10.0;

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
    caveats.extend(counters(trace, heat, judged));
    caveats.extend(cycles(judged));
    let hot = judged.iter().any(|j| j.verdict.finding.is_heat());
    if trace.facts.ambient_k.is_none() && (hot || thermal.idle_floor_k.is_some()) {
        caveats.push(caveat(
            "ambient_unknown",
            "The temperature around the drive is not known: in a place that is warmer or cooler by some kelvins the drive is as well, and heat slows it down sooner, later or not at all.",
        ));
    }
    caveats
}

fn caveat(kind: &str, text: impl Into<String>) -> Caveat {
    Caveat { kind: kind.to_owned(), text: text.into() }
}

fn origin(trace: &Trace) -> Vec<Caveat> {
    let mut found = Vec::new();
    if trace.facts.simulated == Some(true) {
        found.push(caveat(
            "simulated",
            "The drive is simulated: these numbers are a model's, not a device's.",
        ));
    }
    if let Some(why) = &trace.facts.ended_early {
        found.push(caveat("unfinished", format!("The run is not whole: {why}.")));
    }
    if trace.io_errors > 0 {
        let text = format!("{} I/Os failed; they count neither as data nor as time saved.", trace.io_errors);
        found.push(caveat("io_errors", text));
    }
    found
}

fn speed(trace: &Trace, stretches: &[Stretch], pieces: &[Piece]) -> Vec<Caveat> {
    let mut found = Vec::new();
    let buffered: Vec<&str> = trace.phases.iter().filter(|p| p.buffered).map(|p| p.name.as_str()).collect();
    if !buffered.is_empty() {
        let text = format!(
            "Through the page cache: {}. Its speed is partly the memory's, not the drive's.",
            buffered.join(", ")
        );
        found.push(caveat("page_cache", text));
    }
    if let Some(link) = trace.facts.link_bytes_per_s {
        found.extend(against_link(trace, stretches, pieces, link));
    }
    let loaded = stretches.iter().filter(|s| !matches!(s.op, SegmentOp::Idle | SegmentOp::Trim));
    let longest_s = loaded.map(|s| s.end_s() - s.start_s()).fold(0.0, f64::max);
    if longest_s < SHORT_S {
        let text = format!(
            "The longest load took {longest_s:.0} s: too short for the drive to reach a steady temperature."
        );
        found.push(caveat("too_short", text));
    }
    let span_s = usual_span_s(&trace.speeds);
    if span_s > SLOW_SAMPLING_S {
        let text = format!("Speeds are means over {span_s:.0} s: shorter bursts and cycles are not in them.");
        found.push(caveat("averaged", text));
    }
    found
}

/// Speed against the rate of the link: above it single samples are wrong, near it the link may be what limits.
fn against_link(trace: &Trace, stretches: &[Stretch], pieces: &[Piece], link: f64) -> Vec<Caveat> {
    let usual_s = usual_span_s(&trace.speeds);
    // What is deallocated does not pass the link.
    let moves_data = |stretch: &Stretch| stretch.op != SegmentOp::Trim;
    let moving = stretches.iter().filter(|stretch| moves_data(stretch));
    // The rest of an interval at the end of a phase is left out: one late I/O would be its whole speed.
    let samples = moving.flat_map(|s| &s.samples).filter(|s| s.span_s >= usual_s / 2.0);
    let speeds = samples.map(Sample::bytes_per_s).filter(|speed| *speed > OVER_LINK * link);
    let (over, most) = speeds.fold((0usize, 0.0f64), |(count, most), speed| (count + 1, most.max(speed)));
    let share = if trace.facts.simulated == Some(true) { AT_LINK } else { NEAR_LINK };
    let all_s: f64 = pieces.iter().map(Piece::span_s).sum();
    let near = pieces.iter().filter(|p| p.level >= share * link && moves_data(&stretches[p.stretch]));
    let (near_s, near_bytes) = near.fold((0.0, 0.0), |(s, b), p| (s + p.span_s(), b + p.level * p.span_s()));
    let mut found = Vec::new();
    let rate = BytesPerSec::new(link);
    if over > 0 {
        let text = format!(
            "{over} {} faster than the link of {rate} (up to {}): an I/O counts as a whole in the interval in which it ends, so single samples are not to be trusted, means are.",
            if over == 1 { "sample is" } else { "samples are" },
            BytesPerSec::new(most)
        );
        found.push(caveat("above_link_rate", text));
    } else if near_s > 0.1 * all_s && near_s > 0.0 {
        let speed = near_bytes / near_s;
        let of_link = 100.0 * speed / link;
        let what = if speed >= AT_LINK * link {
            format!("that of the link ({rate}): the drive itself may be faster")
        } else {
            format!(
                "{of_link:.0} % of the link's rate ({rate}), about what its protocol leaves for data: the link may be what limits, and the drive itself faster"
            )
        };
        let speed = BytesPerSec::new(speed);
        found.push(caveat("at_link_rate", format!("For {near_s:.0} s the speed was {speed}, {what}.")));
    }
    found
}

fn gaps(trace: &Trace, heat: &Heat) -> Vec<Caveat> {
    let mut found = Vec::new();
    let mut lost = (0usize, 0.0);
    for series in &trace.speeds {
        let usual_s = usual_span_s(std::slice::from_ref(series));
        for pair in series.intervals.windows(2).filter(|pair| pair[0].phase == pair[1].phase) {
            let hole_s = pair[1].start_s - pair[0].end_s();
            if hole_s > GAP_STEPS * usual_s {
                lost = (lost.0 + 1, lost.1 + hole_s);
            }
        }
    }
    if lost.0 > 0 {
        found.push(caveat("gap", format!("Speed is missing {} times, {:.1} s in all.", lost.0, lost.1)));
    }
    let points = heat.all();
    let holes: Vec<f64> = points
        .windows(2)
        .map(|w| w[1].t.since(w[0].t).as_secs_f64())
        .filter(|step| *step > GAP_STEPS * heat.period_s)
        .collect();
    if !holes.is_empty() {
        let reason =
            trace.temperature().and_then(|t| t.gaps().first()).map(|gap| format!(" ({})", gap.reason));
        let text = format!(
            "The temperature is missing {} times, {:.1} s in all{}.",
            holes.len(),
            holes.iter().sum::<f64>(),
            reason.unwrap_or_default()
        );
        found.push(caveat("gap", text));
    }
    found
}

/// A drive that goes to and fro is in no steady state, whatever a rule over rounds says.
fn cycles(judged: &[Judged]) -> Option<Caveat> {
    let began = |j: &&Judged| j.verdict.finding.is_heat() && !j.continues && j.drop.inside.is_none();
    let began_s: Vec<f64> = judged.iter().filter(began).map(|j| j.start_s).collect();
    let period_s = crate::steady::period_s(&began_s)?;
    let text = format!(
        "The drive goes to and fro every {period_s:.0} s (cyclostationary): rounds shorter than that never show a steady state, rounds of several cycles always do. Mean, slowest and fastest speed belong together."
    );
    Some(caveat("cyclostationary", text))
}

fn clock(trace: &Trace) -> Option<Caveat> {
    // A tenth of an interval: what is counted twice would show in the speed.
    let overlaps = |pair: &&[Interval]| pair[1].start_s < pair[0].end_s() - 0.1 * pair[0].span_s;
    let count: usize =
        trace.speeds.iter().map(|series| series.intervals.windows(2).filter(overlaps).count()).sum();
    (count > 0).then(|| {
        caveat(
            "clock",
            format!("{count} intervals of load overlap the one before: their times or lengths are wrong."),
        )
    })
}

fn sensors(trace: &Trace, stretches: &[Stretch], heat: &Heat) -> Vec<Caveat> {
    let mut found = Vec::new();
    let points = heat.all();
    if points.is_empty() {
        found.push(caveat(
            "no_temperature",
            "There is no temperature, so heat can neither be blamed nor cleared.",
        ));
        return found;
    }
    let period_s = heat.period_s;
    let loaded = |s: &Stretch| points_within(points, s.start_s() - period_s, s.end_s() + period_s);
    if !stretches.is_empty() && !stretches.iter().any(loaded) {
        found.push(caveat(
            "no_temperature",
            "No temperature was read while the drive was under load, so heat can neither be blamed nor cleared: are the clocks of load and temperature one?",
        ));
    }
    found.extend(copied(trace));
    for name in trace.stuck_sensors() {
        let text = format!("The sensor {name} never moved while another one did: it is not gone by.");
        found.push(caveat("frozen_sensor", text));
    }
    let loaded_s: f64 = stretches.iter().map(|s| s.end_s() - s.start_s()).sum();
    let first = points[0].value;
    if loaded_s >= FROZEN_S && points.iter().all(|p| p.value == first) {
        let text = format!(
            "The temperature stood at {} for the whole run, load or not: it is not measured.",
            degrees(first)
        );
        found.push(caveat("frozen_sensor", text));
    }
    if points.iter().all(|p| p.value.fract() == 0.0) {
        found.push(caveat("whole_kelvin", "Temperatures are whole kelvins: thresholds are known to 1 K."));
    }
    if heat.period_s > SLOW_SAMPLING_S {
        let text = format!("Temperatures are {:.0} s apart: peaks between two are not seen.", heat.period_s);
        found.push(caveat("slow_temperature", text));
    }
    found
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
    let copies: Vec<&str> =
        others.filter(|t| t.kelvin.points() == composite).map(|t| t.name.as_str()).collect();
    (!copies.is_empty()).then(|| {
        let text = format!(
            "Every reading of {} is that of the composite: one of them is a copy.",
            copies.join(", ")
        );
        caveat("copied_sensor", text)
    })
}

/// Counters that moved while speed did not, and the reverse.
fn counters(trace: &Trace, heat: &Heat, judged: &[Judged]) -> Vec<Caveat> {
    let mut found = Vec::new();
    let moved = heat.moved(0.0, trace.end_s());
    let hot: Vec<&Judged> = judged.iter().filter(|j| j.verdict.finding.is_heat()).collect();
    for (name, count) in [("TMT1", moved.tmt1), ("TMT2", moved.tmt2)] {
        if let Some(count) = count.filter(|count| *count > 0 && hot.is_empty()) {
            let text =
                format!("The drive's counters of {name} moved by {count}, but its speed did not give way.");
            found.push(caveat("counters_without_slowdown", text));
        }
    }
    let still = moved.tmt1 == Some(0) && moved.tmt2.unwrap_or(0) == 0;
    if still && !hot.is_empty() {
        // A threshold of the drive's own moves no counter of TMT1 or TMT2: that is no contradiction.
        let own = hot.iter().all(|j| j.verdict.finding == Finding::Heat(Suspect::Vendor));
        let why = match (own, heat.has_counted()) {
            (true, _) => ": they count TMT1 and TMT2, and not thresholds of the drive's own",
            (false, true) => ", although it has counted before",
            (false, false) => ": it may be one that does not count",
        };
        let text = format!(
            "The drive was slowed down by heat and its TMT counters stood still{why}. A health log does not show this slow-down."
        );
        found.push(caveat("slowdown_without_counters", text));
    }
    found
}
