//! What slowed the drive down: drops of speed, joined with temperature, settings, counters and data written.
//!
//! [`drops`] finds where speed gives way, [`weigh`] gathers what speaks for each cause by the rules that [`rule`]
//! names, [`evidence`] weighs it, [`heat`] looks up readings, [`history`] sums up the run.

mod case;
mod course;
mod crossing;
pub(crate) mod drops;
pub(crate) mod evidence;
pub(crate) mod heat;
mod history;
pub(crate) mod recurring;
mod release;
pub(crate) mod rule;
mod shape;
mod weigh;

use std::collections::BTreeMap;

use self::case::Case;
use self::crossing::Beginning;
use self::drops::{DropStart, SpeedDrop};
use self::evidence::{Conclusion, Evidence, Suspect, Verdict};
use self::heat::{Heat, HeatMove};
use self::history::History;
use self::shape::{ByShape, DropShape};
use crate::findings::SegmentOp;
use crate::segment::{Piece, SHORTEST_PIECE_S, Sample, Stretch, median};
use trace::{Phase, Trace};

/// Within this share of the plan's limit a load is as fast as it was meant to be.
const AT_LIMIT: f64 = 0.03;
/// A load is compared with the same load elsewhere when that was faster by this factor.
const FASTER_ELSEWHERE: f64 = 1.0 / 0.85;
/// A load that began slow was not faster at first than later on, but for what a regulator takes back as the
/// case warms up.
const NO_FASTER_THAN_REST: f64 = 1.1;
/// ... and what is held back from the beginning does not run a quarter faster later on.
const RISES_LATER: f64 = 1.25;
/// A slow beginning this short is a ramp.
pub(crate) const RAMP_S: f64 = 10.0;
/// A pause this long lets drives empty their fast cache (S3 of the seed experiments; makers state seconds to
/// minutes), so that data written before it no longer counts.
const EMPTYING_PAUSE_S: f64 = 30.0;

/// One drop with what it was found to be.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// The drop.
    pub drop: SpeedDrop,
    /// Everything that was weighed.
    pub evidence: Evidence,
    /// What it was, and why.
    pub verdict: Verdict,
    /// Start in seconds.
    pub start_s: f64,
    /// End in seconds.
    pub end_s: f64,
    /// Temperature at the start, in kelvins.
    pub onset_k: Option<f64>,
    /// The temperature that was crossed at the start, in kelvins: the reading, and half a kelvin more where it
    /// had stood there long enough to have risen further.
    pub crossed_k: Option<f64>,
    /// How it looks.
    shape: DropShape,
    /// Where it began, for what all drops together say; `None` without a temperature.
    pub began: Option<Beginning>,
    /// Temperature at the end, in kelvins, where speed came back.
    pub release_k: Option<f64>,
    /// Speed during over speed before.
    pub strength: Option<f64>,
    /// Data written since the fast cache was last empty, as far as the run shows.
    pub written_bytes: f64,
    /// By how much the drive's counters moved around the beginning.
    pub counted: HeatMove,
    /// Whether it only goes on with what another one began: no event of its own.
    pub continues: bool,
}

/// All drops of a run with their causes, in order of time.
pub(crate) fn judge(trace: &Trace, stretches: &[Stretch], pieces: &[Piece], heat: &Heat) -> Vec<Judged> {
    let by_stretch = ranges(pieces);
    let fastest = fastest_alike(trace, stretches, pieces);
    let mut all: Vec<SpeedDrop> = Vec::new();
    for range in &by_stretch {
        let stretch = &stretches[pieces[range.start].stretch];
        if !matches!(stretch.op, SegmentOp::Read | SegmentOp::Write | SegmentOp::Mixed) {
            continue;
        }
        let phase = &trace.phases[stretch.phase];
        let start = match as_meant(phase, &pieces[range.start]) {
            true => DropStart::Fresh,
            false => start(trace, &pieces[range.clone()], fastest[stretch.phase], heat),
        };
        let found = drops::drops(pieces, range.clone(), start, &|piece| as_meant(phase, piece));
        let offset = all.len();
        all.extend(
            found.into_iter().map(|drop| SpeedDrop { inside: drop.inside.map(|i| i + offset), ..drop }),
        );
    }
    let mut history = History::new(heat, stretches, pieces, &all);
    let written = Written::new(trace);
    let mut shapes: ByShape<usize> = ByShape::new();
    let of_drops: Vec<DropShape> = all.iter().map(|drop| DropShape::new(drop, pieces)).collect();
    of_drops.iter().for_each(|shape| *shapes.at(*shape) += 1);
    let mut judged: Vec<Judged> = Vec::new();
    for (drop, shape) in all.into_iter().zip(of_drops) {
        let case = Case {
            trace,
            heat,
            history: &history,
            pieces,
            op: stretches[pieces[drop.first].stretch].op,
            phase: phase_of(trace, stretches, pieces, &drop),
            written_bytes: written.until(pieces[drop.first].start_s),
            shape,
            alike: shapes.alike(shape).sum(),
            drop: &drop,
        };
        let new = judged_case(&case);
        if new.verdict.conclusion == Conclusion::SlcFull {
            history.remember_full_cache(new.drop.level);
        }
        judged.push(new);
    }
    recurring::clockwork(&mut judged, heat);
    recurring::irregular(&mut judged, pieces, heat.slice_s);
    crossing::judge(&mut judged);
    for index in 0..judged.len() {
        judged[index].continues = continues(&judged[..index], &judged[index], stretches, pieces);
        if judged[index].continues {
            join_outer(&mut judged, index, pieces);
        }
    }
    recurring::tell(&mut judged);
    judged
}

/// Gives the pieces of a drop that only goes on with what its outer one began to that one.
fn join_outer(judged: &mut [Judged], index: usize, pieces: &[Piece]) {
    let Some(outer) = judged[index].drop.inside.map(|_| outermost(judged, index)) else { return };
    let joined = std::mem::take(&mut judged[index].drop.own);
    let outer = &mut judged[outer];
    outer.drop.own.extend(joined);
    outer.drop.level = drops::median_speed(pieces, &outer.drop.own);
    outer.strength = strength(&outer.drop);
}

/// The drop whose cause holds for one inside it that goes on with it.
fn outermost(judged: &[Judged], mut index: usize) -> usize {
    while let Some(outer) = judged[index].drop.inside.filter(|_| judged[index].continues) {
        index = outer;
    }
    index
}

/// Speed during a drop over speed before it.
fn strength(drop: &SpeedDrop) -> Option<f64> {
    drop.before.filter(|before| *before > 0.0).map(|before| drop.level / before)
}

fn judged_case(case: &Case) -> Judged {
    let (evidence, began) = weigh::weigh(case);
    Judged {
        verdict: evidence.verdict(),
        evidence,
        start_s: case.start_s(),
        end_s: case.end_s(),
        onset_k: case.onset_k(),
        crossed_k: case.heat.crossed_k(case.start_s()),
        shape: case.shape,
        began,
        release_k: case.release_k(),
        strength: case.strength(),
        written_bytes: case.written_bytes,
        counted: weigh::counted_around(case),
        continues: false,
        drop: case.drop.clone(),
    }
}

/// Whether `new` lies in a drop with the same finding, or goes on with one on the other side of a gap.
fn continues(judged: &[Judged], new: &Judged, stretches: &[Stretch], pieces: &[Piece]) -> bool {
    if let Some(outer) = new.drop.inside {
        let outer = judged[outermost(judged, outer)].verdict.conclusion;
        let finding = new.verdict.conclusion;
        let host = |of: Conclusion| matches!(of, Conclusion::Heat(Suspect::Tmt1 | Suspect::Tmt2));
        // TMT2 within TMT1 is one of its own; any other heat within heat only where it is hotter.
        let other_host = host(finding) && finding != outer;
        let goes_on = finding.is_heat()
            && outer.is_heat()
            && !other_host
            && !second_threshold(judged, new, stretches, pieces);
        return goes_on || matches!(finding, Conclusion::NotHeat | Conclusion::Unknown);
    }
    let phase = |drop: &SpeedDrop| stretches[pieces[drop.first].stretch].phase;
    let goes_on = |last: &Judged| {
        phase(&last.drop) == phase(&new.drop)
            && !last.drop.recovered
            && (last.verdict.conclusion.is_heat() == new.verdict.conclusion.is_heat())
    };
    new.drop.at_start && judged.last().is_some_and(goes_on)
}

/// Whether heat slowed a drop down further at once, and at a higher temperature than the drop it lies in.
fn second_threshold(judged: &[Judged], new: &Judged, stretches: &[Stretch], pieces: &[Piece]) -> bool {
    let outer = new.drop.inside.map(|outer| &judged[outermost(judged, outer)]);
    let onsets_k = outer.and_then(|outer| outer.onset_k).zip(new.onset_k);
    let hotter = onsets_k.is_some_and(|(outer, new)| new >= outer + case::OTHER_THRESHOLD_K);
    // TMT1 and TMT2 are one threshold each; of its own a drive may have several.
    let may_be_several =
        matches!(new.verdict.conclusion, Conclusion::SomeHeat | Conclusion::Heat(Suspect::Vendor));
    may_be_several && new.drop.sharp && hotter && stepped(stretches, pieces, new.drop.first)
}

/// Whether a piece began with a step: most of what lies between it and the one before was lost where they meet. Speed
/// that sinks goes through pieces of falling level without one.
fn stepped(stretches: &[Stretch], pieces: &[Piece], index: usize) -> bool {
    const STEP: f64 = 0.7;
    let (before, after) = (&pieces[index - 1], &pieces[index]);
    let samples = &stretches[after.stretch].samples;
    let speed = |from_s: f64, to_s: f64| {
        let of = |t_s: f64| samples.partition_point(|sample| sample.start_s < t_s);
        let speeds: Vec<f64> = samples[of(from_s)..of(to_s)].iter().map(Sample::bytes_per_s).collect();
        (!speeds.is_empty()).then(|| median(&speeds))
    };
    let last = speed(before.end_s - before.span_s() / 3.0, before.end_s);
    let first = speed(after.start_s, after.start_s + after.span_s() / 3.0);
    let lost = last.unwrap_or(before.level) - first.unwrap_or(after.level);
    lost >= STEP * (before.level - after.level)
}

/// Whether a piece is as fast as the plan allows.
pub(crate) fn as_meant(phase: &Phase, piece: &Piece) -> bool {
    phase.rate_limit_bytes_per_s.is_some_and(|limit| (piece.level / limit - 1.0).abs() <= AT_LIMIT)
}

fn phase_of<'a>(trace: &'a Trace, stretches: &[Stretch], pieces: &[Piece], drop: &SpeedDrop) -> &'a Phase {
    &trace.phases[stretches[pieces[drop.first].stretch].phase]
}

/// The pieces of each stretch, as ranges of indices.
fn ranges(pieces: &[Piece]) -> Vec<std::ops::Range<usize>> {
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        match ranges.last_mut() {
            Some(last) if pieces[last.start].stretch == piece.stretch => last.end = index + 1,
            _ => ranges.push(index..index + 1),
        }
    }
    ranges
}

/// What the first of a stretch's pieces is to be compared with; `known` is the fastest the same load was.
fn start(trace: &Trace, pieces: &[Piece], known: f64, heat: &Heat) -> DropStart {
    let first = &pieces[0];
    let ramp = first.span_s() <= RAMP_S && pieces.len() > 1;
    if known > FASTER_ELSEWHERE * first.level && !ramp {
        return DropStart::Known(known);
    }
    let period_s = heat.counter_period_s();
    let soon_s = (5.0f64).max(3.0 * period_s);
    let moved = heat.moved(first.start_s, first.start_s + soon_s);
    let counted = [moved.tmt1, moved.tmt2].iter().flatten().any(|n| *n > 0);
    // A drop right after the beginning moves the counters as well: then the first piece was the fast one.
    let lasts = first.span_s() > soon_s + SHORTEST_PIECE_S;
    let rest: Vec<f64> = pieces.iter().map(|piece| piece.level).collect();
    let fastest = rest.iter().copied().fold(0.0, f64::max);
    let no_faster =
        first.level <= NO_FASTER_THAN_REST * median(&rest) && fastest <= RISES_LATER * first.level;
    if (counted && lasts && no_faster) || held_at_tmt1(trace, pieces, heat) {
        DropStart::Slow
    } else {
        DropStart::Fresh
    }
}

/// For each phase, the fastest piece of the same load anywhere in the run, in bytes per second.
fn fastest_alike(trace: &Trace, stretches: &[Stretch], pieces: &[Piece]) -> Vec<f64> {
    let load = |phase: usize| {
        let p = &trace.phases[phase];
        // A log that does not say what its phases did names them: another name may be another block size.
        let what = if p.what.is_empty() && !p.inferred { p.name.as_str() } else { p.what.as_str() };
        (p.op as u8, what, p.buffered, p.rate_limit_bytes_per_s.map(f64::to_bits))
    };
    let mut fastest = BTreeMap::new();
    for piece in pieces.iter().filter(|p| p.span_s() >= SHORTEST_PIECE_S) {
        let speed: &mut f64 = fastest.entry(load(stretches[piece.stretch].phase)).or_default();
        *speed = speed.max(piece.level);
    }
    (0..trace.phases.len()).map(|phase| fastest.get(&load(phase)).copied().unwrap_or(0.0)).collect()
}

/// Whether a load began at TMT1, the temperature stayed there, and its first piece was no faster than those
/// that followed: then it never was at full speed.
///
/// A load that has just begun heats a drive, unless something holds it back.
fn held_at_tmt1(trace: &Trace, pieces: &[Piece], heat: &Heat) -> bool {
    const LOOKED_AT_S: f64 = 60.0;
    const LONG_ENOUGH_S: f64 = 30.0;
    const HELD_K: f64 = 1.6;
    const ABOVE_COOLEST_K: f64 = 3.0;
    const NO_FASTER: f64 = 1.5;
    // Of bursts a few fall together with cooling.
    const MOSTLY: f64 = 0.75;
    let from_s = pieces[0].start_s;
    let (Some(tmt1_k), _) = trace.tmt_at(from_s) else { return false };
    let early = &pieces[..pieces.partition_point(|p| p.start_s < from_s + LOOKED_AT_S)];
    let to_s = early[early.len() - 1].end_s.min(from_s + LOOKED_AT_S);
    let coolest = heat.all().iter().map(|p| p.value).fold(f64::INFINITY, f64::min);
    let mut during: Vec<f64> = heat.within(from_s, to_s).iter().map(|p| p.value).collect();
    if during.is_empty() {
        return false;
    }
    during.sort_by(f64::total_cmp);
    // Without the tenth at both ends: a reading or two is off by the sensor's own noise.
    let at = |share: f64| during[((during.len() - 1) as f64 * share) as usize];
    let mean = early.iter().map(|p| p.level * p.span_s()).sum::<f64>()
        / early.iter().map(Piece::span_s).sum::<f64>();
    to_s - from_s >= LONG_ENOUGH_S
        && tmt1_k >= coolest + ABOVE_COOLEST_K
        && at(0.9) - at(0.1) <= 2.0 * HELD_K
        && (median(&during) - tmt1_k).abs() <= HELD_K
        && pieces[0].level <= NO_FASTER * mean
        && !comes_back(early, heat, 0.0)
        && !comes_back(pieces, heat, MOSTLY)
}

/// Whether the speed fell and came back to that of the first piece more than once, and the drive had cooled in between, this
/// share of all times: then that one was the full speed, and no overshoot or burst.
fn comes_back(pieces: &[Piece], heat: &Heat, share: f64) -> bool {
    const FELL: f64 = 0.8;
    const COOLED_K: f64 = 1.0;
    let first = pieces[0].level;
    let (mut fell_k, mut times, mut cooled) = (None, 0, 0);
    for piece in pieces {
        let now_k = heat.nearest_k(piece.start_s);
        if piece.level < FELL * first {
            fell_k = fell_k.or(now_k);
        } else if piece.level * FASTER_ELSEWHERE >= first
            && let Some((fell_k, now_k)) = fell_k.take().zip(now_k)
        {
            times += 1;
            cooled += usize::from(fell_k - now_k >= COOLED_K);
        }
    }
    cooled >= 2 && cooled as f64 >= share * f64::from(times)
}

/// Data written over time, counted anew after what empties the fast cache.
struct Written {
    /// End of each write interval, and data written up to it.
    sums: Vec<(f64, f64)>,
    /// Ends of trims and long pauses, in seconds.
    emptied_s: Vec<f64>,
}

impl Written {
    fn new(trace: &Trace) -> Self {
        let mut sum = 0.0;
        let intervals = trace.speeds.iter().filter(|s| s.op == SegmentOp::Write).flat_map(|s| &s.intervals);
        let sums = intervals.map(|i| {
            sum += i.bytes;
            (i.end_s(), sum)
        });
        let empties = |phase: &&Phase| match phase.op {
            SegmentOp::Trim => true,
            SegmentOp::Idle => phase.end_s - phase.start_s >= EMPTYING_PAUSE_S,
            _ => false,
        };
        Self {
            sums: sums.collect(),
            emptied_s: trace.phases.iter().filter(empties).map(|p| p.end_s).collect(),
        }
    }

    /// Bytes written up to `t_s` since the cache was last empty.
    fn until(&self, t_s: f64) -> f64 {
        let up_to = |t_s: f64| {
            let after = self.sums.partition_point(|(end_s, _)| *end_s <= t_s + 1e-6);
            after.checked_sub(1).map_or(0.0, |last| self.sums[last].1)
        };
        let emptied = self.emptied_s.partition_point(|end_s| *end_s <= t_s);
        up_to(t_s) - emptied.checked_sub(1).map_or(0.0, |last| up_to(self.emptied_s[last]))
    }
}
