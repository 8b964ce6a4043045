//! From judged drops to the segments and events of the findings.

use std::collections::BTreeMap;

use crate::FASTER;
use crate::cause::evidence::{Conclusion, POSSIBLE, SUSPECTS, Suspect};
use crate::cause::heat::Heat;
use crate::cause::{Judged, as_meant, is_ramp, told};
use crate::explain::Sources;
use crate::findings::{Candidate, Cause, Event, EventKind, Label, Segment, SegmentOp, WeighedObservation};
use crate::observation::Observation;
use crate::others::Others;
use crate::segment::{Piece, Stretch};
use trace::{Caveat, Trace};

/// A slow stretch that is not heat and shorter than this is a dip.
const LONGEST_DIP_S: f64 = 60.0;
/// A speed that lasted as long shows how fast a load can be: less may be what a host's cache takes.
const SHOWS_SPEED_S: f64 = 10.0;
/// Neighbours with one label are one segment when their speeds differ by less than this share.
const ONE_SEGMENT: f64 = 0.1;
/// A stop this near the critical temperature, with no I/O after it, is a shutdown (the sensor may be
/// late and shows whole kelvins).
const AT_CRITICAL_K: f64 = 3.0;

/// The events of a run in order of time, and what `look` made of each and what it was judged by.
pub(crate) fn events<T>(
    sources: &Sources,
    segments: &[Segment],
    mut judged: Vec<Judged>,
    look: impl Fn(&Sources, &Event, &Judged) -> T,
) -> (Vec<Event>, Vec<T>) {
    let kinds: Vec<Option<EventKind>> = judged.iter().map(|judged| kind(sources, judged)).collect();
    told::split(&mut judged, |index| kinds[index].is_some());
    let mut events: Vec<(Event, T)> = Vec::new();
    for (judged, kind) in judged.into_iter().zip(kinds) {
        let Some(kind) = kind else { continue };
        let mut push = |event: Event| {
            let seen = look(sources, &event, &judged);
            events.push((event, seen));
        };
        push(begin(&judged, kind, segments));
        if kind == EventKind::ThrottleOnset && judged.drop.recovered {
            push(release(&judged));
        }
    }
    events.sort_by(|(a, _), (b, _)| a.t_s.total_cmp(&b.t_s));
    events.into_iter().unzip()
}

/// The segments of a run, in order of time.
pub(crate) fn segments(
    trace: &Trace,
    stretches: &[Stretch],
    pieces: &[Piece],
    judged: &[Judged],
    heat: &Heat,
) -> Vec<Segment> {
    let labels = labels(trace, stretches, pieces, judged);
    let kelvin = edges_k(pieces, judged, heat);
    let mut segments: Vec<Segment> = Vec::new();
    let mut before: Option<(usize, Named)> = None;
    for ((piece, named), kelvin) in pieces.iter().zip(labels).zip(kelvin) {
        let same_stretch = before.filter(|(stretch, _)| *stretch == piece.stretch);
        match (segments.last_mut(), same_stretch) {
            (Some(last), Some((_, before))) if one_segment(last, before, piece, named) => {
                extend(last, piece, kelvin);
            }
            _ => segments.push(segment(piece, named, kelvin)),
        }
        before = Some((piece.stretch, named));
    }
    idle_phases(trace, &mut segments, heat);
    segments
}

/// Takes back that the loads from one moment to another, in seconds, ran at full speed: nothing shows how fast that is.
pub(crate) fn name_constant(segments: &mut [Segment], loads: &[(f64, f64)]) {
    let within = |segment: &Segment| {
        let middle_s = f64::midpoint(segment.start_s, segment.end_s);
        loads.iter().any(|(start_s, end_s)| (*start_s..*end_s).contains(&middle_s))
    };
    for segment in segments.iter_mut().filter(|segment| segment.label == Label::FullSpeed) {
        if within(segment) {
            segment.label = Label::Constant;
        }
    }
}

/// Takes back that a load ran at full speed where one like it was much faster: of the same operation, and of the same description where
/// both have one. In the run itself, or in `others` of the drive: says which of those are told by that.
pub(crate) fn name_slower(segments: &mut [Segment], trace: &Trace, others: &Others) -> Vec<Caveat> {
    let what = |segment: &Segment| {
        let middle_s = f64::midpoint(segment.start_s, segment.end_s);
        let begun = trace.phases.partition_point(|phase| phase.start_s <= middle_s);
        begun.checked_sub(1).map_or("", |at| trace.phases[at].what.as_str())
    };
    let at_full_speed = |segment: &&Segment| segment.label == Label::FullSpeed;
    let mut fastest: BTreeMap<(u8, &str), f64> = BTreeMap::new();
    for segment in segments.iter().filter(at_full_speed).filter(|s| s.end_s - s.start_s >= SHOWS_SPEED_S) {
        let speed = segment.mean_bytes_per_s.unwrap_or(0.0);
        // What has no description may be any load, and any load may be like it.
        for what in [what(segment), ""] {
            let fastest = fastest.entry((segment.op as u8, what)).or_default();
            *fastest = speed.max(*fastest);
        }
    }
    let mut caveats: Vec<Caveat> = Vec::new();
    for segment in segments.iter_mut().filter(|segment| at_full_speed(&&**segment)) {
        let like_it = fastest.get(&(segment.op as u8, what(segment)));
        let elsewhere =
            others.faster().iter().find(|load| load.op == segment.op && load.what == what(segment));
        if like_it.zip(segment.mean_bytes_per_s).is_some_and(|(fastest, own)| *fastest > FASTER * own) {
            segment.label = Label::Slower;
        } else if let Some(load) = elsewhere {
            segment.label = Label::Slower;
            let caveat = load.caveat();
            if !caveats.contains(&caveat) {
                caveats.push(caveat);
            }
        }
    }
    caveats
}

/// What kind of event a drop is; `None` where it is none: part of another one, or a pause.
fn kind(sources: &Sources, judged: &Judged) -> Option<EventKind> {
    let Sources { trace, pieces, stretches, .. } = *sources;
    let piece = &pieces[judged.drop.first];
    let phase = &trace.phases[stretches[piece.stretch].phase];
    if judged.continues || is_pause(judged, piece, phase.inferred) {
        return None;
    }
    match judged.verdict.conclusion {
        finding if finding.is_heat() => {
            let critical = trace.facts.critical_k.zip(judged.onset_k);
            let at_critical = critical.is_some_and(|(critical, onset)| onset >= critical - AT_CRITICAL_K);
            let dead = piece.stopped && !judged.drop.recovered && at_critical;
            Some(if dead { EventKind::ThermalShutdown } else { EventKind::ThrottleOnset })
        }
        // The cache was full before the load began: nothing happened here.
        _ if judged.drop.at_start => None,
        Conclusion::SlcFull => Some(EventKind::SlcExhausted),
        // Speed that sinks little by little without being throttled is no event, and the page cache is not the drive.
        conclusion => {
            let event = judged.drop.sharp || conclusion == Conclusion::Unknown;
            (event && !phase.buffered).then_some(EventKind::Dip)
        }
    }
}

fn begin(judged: &Judged, kind: EventKind, segments: &[Segment]) -> Event {
    let mut observations = vec![WeighedObservation { observation: course(judged, segments), weight: None }];
    observations.extend(judged.evidence.observations());
    observations.shrink_to_fit();
    let temp_k = judged.temp_k();
    if let Some(onset_k) = temp_k {
        observations.iter_mut().for_each(|seen| seen.observation.name_onset(onset_k));
    }
    Event {
        kind,
        t_s: judged.start_s,
        temp_k,
        cause: cause(judged.verdict.conclusion),
        strength: judged.strength,
        confidence: judged.verdict.confidence,
        candidates: candidates(judged),
        observations,
    }
}

/// What it may have been, where that is not determined.
fn candidates(judged: &Judged) -> Vec<Candidate> {
    if judged.verdict.conclusion != Conclusion::Unknown {
        return Vec::new();
    }
    let p = judged.evidence.odds().p;
    let all = SUSPECTS.map(|cause| Candidate { cause, probability: p[cause as usize] });
    let mut possible: Vec<Candidate> = all.into_iter().filter(|one| one.probability >= POSSIBLE).collect();
    possible.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    possible
}

/// What happened.
fn course(judged: &Judged, segments: &[Segment]) -> Observation {
    let (during_bytes_per_s, recovered) = (judged.drop.level, judged.drop.recovered);
    let paused_s = paused_s(segments, judged.start_s, judged.end_s);
    // A drop that is a pause as a whole lasts as long as that.
    let all_s = judged.end_s - judged.start_s;
    let paused_s = if paused_s < all_s { paused_s } else { 0.0 };
    let span_s = all_s - paused_s;
    match judged.drop.before {
        Some(elsewhere_bytes_per_s) if judged.drop.at_start => {
            let other_run = judged.other_run;
            Observation::BeganSlow { elsewhere_bytes_per_s, other_run, during_bytes_per_s, span_s, recovered }
        }
        Some(before_bytes_per_s) => {
            Observation::SpeedFell { before_bytes_per_s, during_bytes_per_s, span_s, paused_s, recovered }
        }
        None => Observation::BeganThrottled { during_bytes_per_s, span_s, recovered },
    }
}

/// For how many seconds from one moment to another nothing was asked for, as the segments have it.
fn paused_s(segments: &[Segment], start_s: f64, end_s: f64) -> f64 {
    let first = segments.partition_point(|segment| segment.end_s <= start_s);
    let within = segments[first..].iter().take_while(|segment| segment.start_s < end_s);
    let idle = within.filter(|segment| segment.op == SegmentOp::Idle);
    idle.map(|idle| idle.end_s.min(end_s) - idle.start_s.max(start_s)).sum()
}

fn release(judged: &Judged) -> Event {
    let span_s = judged.end_s - judged.start_s;
    let returned = Observation::SpeedReturned { span_s, temp_k: judged.release_k };
    Event {
        kind: EventKind::ThrottleRelease,
        t_s: judged.end_s,
        temp_k: judged.release_k,
        cause: cause(judged.verdict.conclusion),
        strength: judged.strength,
        confidence: judged.verdict.confidence,
        candidates: Vec::new(),
        observations: vec![WeighedObservation { observation: returned, weight: None }],
    }
}

/// What the findings call a conclusion.
pub(crate) const fn cause(conclusion: Conclusion) -> Cause {
    match conclusion {
        Conclusion::Heat(Suspect::Tmt1) => Cause::HctmTmt1,
        Conclusion::Heat(Suspect::Tmt2) => Cause::HctmTmt2,
        Conclusion::Heat(_) => Cause::Vendor,
        Conclusion::SomeHeat => Cause::Thermal,
        Conclusion::SlcFull | Conclusion::NotHeat => Cause::NotThermal,
        Conclusion::Unknown => Cause::Unknown,
    }
}

/// Whether a drop is only that nobody asked for data, as far as can be told.
fn is_pause(judged: &Judged, piece: &Piece, inferred: bool) -> bool {
    piece.stopped && inferred && !judged.verdict.conclusion.is_heat()
}

/// What a piece is, and which drop says so.
#[derive(Clone, Copy, PartialEq)]
struct Named {
    op: SegmentOp,
    label: Label,
    drop: Option<usize>,
}

/// What each piece is.
fn labels(trace: &Trace, stretches: &[Stretch], pieces: &[Piece], judged: &[Judged]) -> Vec<Named> {
    let phase_of = |piece: &Piece| &trace.phases[stretches[piece.stretch].phase];
    let own = |index: usize| {
        let piece = &pieces[index];
        let next = pieces.get(index + 1).filter(|next| next.stretch == piece.stretch);
        let first = index == 0 || pieces[index - 1].stretch != piece.stretch || pieces[index - 1].stopped;
        let slower = |than: Option<&Piece>| than.is_some_and(|than| piece.level < 0.96 * than.level);
        let ramp = match (first, next) {
            (true, next) => is_ramp(piece) && slower(next),
            (false, None) => piece.slices <= 1 && slower(Some(&pieces[index - 1])),
            _ => false,
        };
        match stretches[piece.stretch].op {
            SegmentOp::Idle => Label::Idle,
            _ if as_meant(phase_of(piece), piece) => Label::RateLimited,
            _ if ramp => Label::Ramp,
            _ if piece.stopped => Label::Idle,
            _ => Label::FullSpeed,
        }
    };
    let op = |index: usize| stretches[pieces[index].stretch].op;
    let mut labels: Vec<Named> =
        (0..pieces.len()).map(|i| Named { op: op(i), label: own(i), drop: None }).collect();
    // Outer drops come before those inside them, which know better.
    let telling = |judged: &Judged| !(judged.continues && judged.drop.inside.is_some());
    for (index, judged) in judged.iter().enumerate().filter(|(_, judged)| telling(judged)) {
        for named in &mut labels[judged.drop.first..=judged.drop.last] {
            *named = Named { label: drop_label(judged), drop: Some(index), ..*named };
        }
    }
    for (named, piece) in labels.iter_mut().zip(pieces) {
        if piece.stopped && phase_of(piece).inferred && named.label != Label::Throttled {
            *named = Named { op: SegmentOp::Idle, label: Label::Idle, drop: None };
        }
    }
    labels
}

fn drop_label(judged: &Judged) -> Label {
    let short = judged.drop.recovered && judged.end_s - judged.start_s <= LONGEST_DIP_S;
    match judged.verdict.conclusion {
        finding if finding.is_heat() => Label::Throttled,
        Conclusion::SlcFull => Label::SlcExhausted,
        _ if !judged.drop.sharp => Label::Ramp,
        _ if short => Label::Dip,
        _ => Label::Unknown,
    }
}

/// Temperatures at the beginning and the end of each piece, in kelvins: where a drop begins or ends those of its event, as the reading
/// nearest to that may be one from well within it.
fn edges_k(pieces: &[Piece], judged: &[Judged], heat: &Heat) -> Vec<[Option<f64>; 2]> {
    let nearest = |piece: &Piece| [heat.nearest_k(piece.start_s), heat.nearest_k(piece.end_s)];
    let mut kelvin: Vec<[Option<f64>; 2]> = pieces.iter().map(nearest).collect();
    let meets =
        |at: usize| at > 0 && pieces.get(at).is_some_and(|next| next.stretch == pieces[at - 1].stretch);
    for judged in judged.iter().filter(|judged| !judged.continues) {
        let (first, next) = (judged.drop.first, judged.drop.last + 1);
        if let Some(temp_k) = judged.temp_k() {
            kelvin[first][0] = Some(temp_k);
            if meets(first) {
                kelvin[first - 1][1] = Some(temp_k);
            }
        }
        if let Some(release_k) = judged.release_k {
            kelvin[next - 1][1] = Some(release_k);
            if meets(next) {
                kelvin[next][0] = Some(release_k);
            }
        }
    }
    kelvin
}

fn segment(piece: &Piece, named: Named, [start_k, end_k]: [Option<f64>; 2]) -> Segment {
    Segment {
        start_s: piece.start_s,
        end_s: piece.end_s,
        op: named.op,
        mean_bytes_per_s: Some(piece.mean),
        label: named.label,
        temp_start_k: start_k,
        temp_end_k: end_k,
    }
}

/// Whether a piece goes on with the segment before it: in one drop whatever its speed, else at one speed.
fn one_segment(last: &Segment, before: Named, piece: &Piece, named: Named) -> bool {
    let mean = last.mean_bytes_per_s.unwrap_or(0.0);
    let one_speed = (mean - piece.mean).abs() <= ONE_SEGMENT * mean.max(piece.mean);
    before == named && (named.drop.is_some() || one_speed)
}

fn extend(last: &mut Segment, piece: &Piece, [_, end_k]: [Option<f64>; 2]) {
    let span_s = last.end_s - last.start_s;
    let bytes = last.mean_bytes_per_s.unwrap_or(0.0) * span_s + piece.mean * piece.span_s();
    last.mean_bytes_per_s = Some(bytes / (span_s + piece.span_s()));
    last.end_s = piece.end_s;
    last.temp_end_k = end_k;
}

/// Idle phases have no intervals of load, and yet are part of the run.
fn idle_phases(trace: &Trace, segments: &mut Vec<Segment>, heat: &Heat) {
    let loaded = segments.len();
    for phase in trace.phases.iter().filter(|p| p.op == SegmentOp::Idle && p.end_s > p.start_s) {
        let next = segments[..loaded].partition_point(|s| s.end_s <= phase.start_s);
        let seen = segments[..loaded].get(next).is_some_and(|s| s.start_s < phase.end_s);
        if !seen {
            segments.push(Segment {
                start_s: phase.start_s,
                end_s: phase.end_s,
                op: SegmentOp::Idle,
                mean_bytes_per_s: None,
                label: Label::Idle,
                temp_start_k: heat.nearest_k(phase.start_s),
                temp_end_k: heat.nearest_k(phase.end_s),
            });
        }
    }
    segments.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
}
