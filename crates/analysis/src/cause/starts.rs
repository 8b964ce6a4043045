//! What the first piece of a load is to be compared with: nothing, the same load elsewhere, or a speed that nobody saw.

use std::collections::BTreeMap;
use std::ops::Range;

use super::cooler::CoolerSpeeds;
use super::drops::{DropStart, LEAST_SLICES, median_speed};
use super::heat::{Heat, LATE_S};
use super::{Judged, is_ramp, uneven};
use crate::findings::SegmentOp;
use crate::others::Others;
use crate::segment::{Piece, SHORTEST_PIECE_S, Stretch, median};
use measure::Point;
use trace::{Phase, Trace};

/// A load is compared with the same load elsewhere when that was faster by this factor.
const FASTER_ELSEWHERE: f64 = 1.0 / 0.85;
/// A load that began slow was not faster at first than later on, but for what a regulator takes back as the
/// case warms up.
const NO_FASTER_THAN_REST: f64 = 1.1;
/// ... and what is held back from the beginning does not run a quarter faster later on.
const RISES_LATER: f64 = 1.25;
/// A load that begins within this of the end of another, which heat slowed down, ...
const NEXT_S: f64 = 10.0;
/// ... is slowed down as well if for so long the temperature stays within this of where it was: at full speed the drive would
/// heat, and for a throttle to let go it has to cool. A kelvin and a half, and the rounding of whole ones.
const HELD_ON_S: f64 = 60.0;
const LEAST_HELD_ON_S: f64 = 30.0;
const HELD_K: f64 = 1.6;

/// A load that is as fast as ever in so many of its rows does not have to be throttled in the others.
const OFTEN: f64 = 0.2;

/// A drive that is as much warmer is no cooler, whatever its sensor.
const WARMED_K: f64 = 5.0;

/// ... unless heat let go so often in it by itself: then it is seen what throttles it and what does not.
const LETS_GO: usize = 2;

/// Speed fell where less than this is left of it.
const FELL: f64 = 0.8;

/// How the loads of a run begin.
pub(super) struct Starts<'a> {
    trace: &'a Trace,
    others: &'a Others,
    heat: &'a Heat<'a>,
    stretches: &'a [Stretch<'a>],
    pieces: &'a [Piece],
    /// How fast each load was where it began cooler.
    cooler: CoolerSpeeds<'a>,
    /// Of each phase, the fastest piece of the same load anywhere in the run, or full speed in others, in bytes per second.
    fastest: Vec<f64>,
    /// Stretches that begin slowed down as the one before ended, and the temperature that was held then, in kelvins.
    held_on: BTreeMap<usize, f64>,
}

impl<'a> Starts<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        others: &'a Others,
        heat: &'a Heat<'a>,
        stretches: &'a [Stretch],
        pieces: &'a [Piece],
    ) -> Self {
        let loads = loads(trace);
        let mut fastest = fastest_alike(trace, &loads, stretches, pieces);
        for (fastest, phase) in fastest.iter_mut().zip(&trace.phases) {
            *fastest = others.full_bytes_per_s(phase).map_or(*fastest, |full| full.max(*fastest));
        }
        let cooler = CoolerSpeeds::new(heat, stretches, pieces, loads);
        Self { trace, others, heat, stretches, pieces, cooler, fastest, held_on: BTreeMap::new() }
    }

    /// What other runs of the drive show.
    pub(super) const fn others(&self) -> &'a Others {
        self.others
    }

    /// What the first of these pieces, which are those of one stretch, is to be compared with.
    pub(super) fn of(&self, range: Range<usize>) -> DropStart {
        let pieces = &self.pieces[range];
        let first = &pieces[0];
        let known = self.fastest[self.stretches[first.stretch].phase];
        let held_on = self.held_on.contains_key(&first.stretch);
        // A load may begin slowly, or in a row that is in part without it: it began slow if it was so after that as well.
        let next = pieces.get(1).filter(|_| is_ramp(first) && !held_on);
        let begins = next.filter(|next| next.level >= first.level).unwrap_or(first);
        let is_slow = known > FASTER_ELSEWHERE * begins.level && !self.reaches(begins, known);
        if is_slow && !self.rises_warm(pieces, known) {
            return DropStart::Known(known);
        }
        let slow = held_on
            || counted_at_once(pieces, self.heat)
            || held_at_tmt1(self.trace, pieces, self.heat)
                && !self.as_fast_cooler(first.stretch, first.start_s);
        let phase = &self.trace.phases[self.stretches[first.stretch].phase];
        if slow { DropStart::Slow } else { DropStart::Fresh(self.others.full_bytes_per_s(phase)) }
    }

    /// Whether a load that nobody describes went to and fro and was as fast as ever in some of its rows: then it asked for more and for less.
    fn reaches(&self, piece: &Piece, known: f64) -> bool {
        let stretch = &self.stretches[piece.stretch];
        let speeds = stretch.speeds(piece.start_s, piece.end_s);
        let inner = speeds.get(1..speeds.len().saturating_sub(1)).unwrap_or_default();
        let fast = inner.iter().filter(|speed| **speed * FASTER_ELSEWHERE >= known).count();
        let to_and_fro = !piece.is_even() && fast as f64 >= OFTEN * inner.len() as f64;
        self.trace.phases[stretch.phase].inferred && fast > 0 && to_and_fro
    }

    /// Whether a load that nobody describes began cool and was as fast as anything only once the drive had warmed up: then more was asked of
    /// it, and no heat was behind how it began.
    fn rises_warm(&self, pieces: &[Piece], known: f64) -> bool {
        let inferred = self.trace.phases[self.stretches[pieces[0].stretch].phase].inferred;
        let fast = pieces.iter().find(|piece| piece.level * FASTER_ELSEWHERE >= known);
        let warmed_k = fast.and_then(|fast| {
            Some(self.heat.nearest_k(fast.start_s)? - self.heat.nearest_k(pieces[0].start_s)?)
        });
        inferred && warmed_k.is_some_and(|warmed_k| warmed_k >= WARMED_K)
    }

    /// Whether a piece of a stretch that began slowed down is so still, however fast it is: the drive has not cooled.
    pub(super) fn holds_on(&self, piece: &Piece) -> bool {
        let Some(held_k) = self.held_on.get(&piece.stretch) else { return false };
        let readings = self.heat.within(piece.start_s, piece.end_s + LATE_S);
        readings.iter().all(|reading| reading.value >= held_k - HELD_K)
    }

    /// The same where the loads are known that begin as slowed down as the one before ended; `None` if none does.
    pub(super) fn held_on(self, judged: &[Judged]) -> Option<Self> {
        let mut slow_at_end: BTreeMap<usize, bool> = BTreeMap::new();
        // How often speed came back, and how often of that a throttle let go.
        let mut came_back: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for outer in judged.iter().filter(|judged| judged.drop.inside.is_none()) {
            let (stretch, heat) = (self.pieces[outer.drop.first].stretch, outer.verdict.conclusion.is_heat());
            slow_at_end.insert(stretch, heat && !outer.drop.recovered);
            if heat && outer.drop.recovered {
                let (all, let_go) = came_back.entry(stretch).or_default();
                *all += 1;
                *let_go += usize::from(self.lets_go(outer));
            }
        }
        let mut held_on = BTreeMap::new();
        let loaded = |index: &usize| self.stretches[*index].op.moves_data();
        let loaded: Vec<usize> = (0..self.stretches.len()).filter(loaded).collect();
        for pair in loaded.windows(2) {
            let (last, next) = (&self.stretches[pair[0]], &self.stretches[pair[1]]);
            let slow = held_on.contains_key(&pair[0]) || slow_at_end.get(&pair[0]) == Some(&true);
            let cycles =
                came_back.get(&pair[1]).is_some_and(|(all, let_go)| *let_go >= LETS_GO && 2 * let_go > *all);
            if slow
                && !cycles
                && !self.as_fast_cooler(pair[1], last.end_s())
                && next.start_s() - last.end_s() <= NEXT_S
                && let Some(held_k) = self.stays(last.end_s(), next)
            {
                held_on.insert(pair[1], held_k);
            }
        }
        (!held_on.is_empty()).then_some(Self { held_on, ..self })
    }

    /// Whether the load of a stretch was as fast, and no faster, where it began on a drive cooler than at a moment.
    fn as_fast_cooler(&self, stretch: usize, at_s: f64) -> bool {
        self.heat.nearest_k(at_s).is_some_and(|k| self.cooler.was_as_fast(stretch, k - WARMED_K))
    }

    /// Whether a throttle let go where a drop ended: the drive had cooled, or it went from one even speed to another. Bursts that no
    /// slice shows whole come and go at one temperature.
    fn lets_go(&self, judged: &Judged) -> bool {
        let cooled = judged.onset_k.zip(judged.release_k).is_some_and(|(from, to)| from - to >= HELD_K);
        let even = |at: usize| self.pieces.get(at).is_some_and(Piece::is_even);
        cooled || (even(judged.drop.last) && even(judged.drop.last + 1))
    }

    /// The temperature at the end of a load, in kelvins, where that of the next one stays there.
    fn stays(&self, end_s: f64, next: &Stretch) -> Option<f64> {
        let (from_s, to_s) = (next.start_s(), next.end_s().min(next.start_s() + HELD_ON_S));
        let held_k = self.heat.nearest_k(end_s)?;
        let readings = self.heat.within(from_s, to_s);
        let off_k = |reading: &Point<f64>| (reading.value - held_k).abs();
        let stays = !self.heat.frozen && !readings.is_empty() && readings.iter().all(|r| off_k(r) <= HELD_K);
        (to_s - from_s >= LEAST_HELD_ON_S && stays).then_some(held_k)
    }
}

/// Whether the drive counted throttling as the load began, and the load was no faster then than later on.
fn counted_at_once(pieces: &[Piece], heat: &Heat) -> bool {
    let first = &pieces[0];
    let period_s = heat.counter_period_s();
    let soon_s = (5.0f64).max(3.0 * period_s);
    let moved = heat.moved(first.start_s, first.start_s + soon_s);
    let counted = [moved.tmt1, moved.tmt2].iter().flatten().any(|n| *n > 0);
    // A drop right after the beginning moves the counters as well: then the first piece was the fast one.
    let lasts = first.span_s() > soon_s + SHORTEST_PIECE_S;
    let all: Vec<usize> = (0..pieces.len()).collect();
    let usual = median_speed(pieces, &all);
    let fastest = pieces.iter().map(|piece| piece.level).fold(0.0, f64::max);
    let no_faster = first.level <= NO_FASTER_THAN_REST * usual && fastest <= RISES_LATER * first.level;
    let released = || {
        let light = moved.tmt1.is_some_and(|n| n > 0);
        comes_back(pieces, heat, 0.0) || (light && counted_again(pieces, heat, soon_s))
    };
    counted && (counts_on(pieces, heat) || no_faster && lasts && !released())
}

/// Whether the drive counted seconds of throttling for nearly all of the time in which the load was as fast as at first: then that
/// one was a throttled speed, whatever came on top of it.
fn counts_on(pieces: &[Piece], heat: &Heat) -> bool {
    const NEARLY_ALL: f64 = 0.9;
    let as_at_first = pieces.iter().filter(|piece| piece.level * FASTER_ELSEWHERE >= pieces[0].level);
    let counted = as_at_first.map(|piece| heat.counted_s(piece.start_s, piece.end_s));
    let (throttled_s, seen_s) = counted.fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    seen_s > 0.0 && throttled_s >= NEARLY_ALL * seen_s
}

/// Whether the drive counted TMT1 again where speed fell from that of the first piece, more than once and mostly: then that one was
/// the full speed. Heavy throttling that falls from light is counted as TMT2, and bursts are not even.
fn counted_again(pieces: &[Piece], heat: &Heat, soon_s: f64) -> bool {
    let first = pieces[0].level;
    let falls = pieces.windows(2).filter(|pair| {
        let full = pair[0].level * FASTER_ELSEWHERE >= first;
        full && pair[1].level < FELL * first && pair.iter().all(Piece::is_even)
    });
    let counted = |pair: &[Piece]| heat.began(pair[1].start_s - soon_s, pair[1].start_s + soon_s).tmt1;
    let counts: Vec<bool> = falls.map(|pair| counted(pair).is_some_and(|n| n > 0)).collect();
    let again = counts.iter().filter(|again| **again).count();
    again >= 2 && 2 * again > counts.len()
}

/// What a phase asks of the drive: loads that are the same may be held against each other. Operation, what it did, whether it
/// went through the page cache, its limit as bits, and of a mixed load the first phase that reads as much of it.
pub(crate) type LoadKey<'a> = (u8, &'a str, bool, Option<u64>, Option<usize>);

/// Mixed loads are alike where the shares of their data that are read differ by no more than this.
const ONE_MIX: f64 = 0.05;

/// The load of each phase.
pub(crate) fn loads(trace: &Trace) -> Vec<LoadKey<'_>> {
    fn load((p, mix): (&Phase, Option<usize>)) -> LoadKey<'_> {
        // A log that does not say what its phases did names them: another name may be another block size.
        let what = if p.what.is_empty() && !p.inferred { p.name.as_str() } else { p.what.as_str() };
        (p.op as u8, what, p.buffered, p.rate_limit_bytes_per_s.map(f64::to_bits), mix)
    }
    trace.phases.iter().zip(mixes(trace)).map(load).collect()
}

/// Of each phase with a mixed load the first one that reads as much of its data.
fn mixes(trace: &Trace) -> Vec<Option<usize>> {
    // Most runs have none, and a month has millions of intervals.
    if trace.phases.iter().all(|phase| phase.op != SegmentOp::Mixed) {
        return vec![None; trace.phases.len()];
    }
    let mut moved = vec![[0.0; 2]; trace.phases.len()];
    for series in &trace.speeds {
        let reads = usize::from(series.op != SegmentOp::Read);
        for interval in &series.intervals {
            if let Some(moved) = moved.get_mut(interval.phase as usize) {
                moved[reads] += interval.bytes;
            }
        }
    }
    let mut known: Vec<(usize, f64)> = Vec::new();
    let mix = |(at, (phase, [read, other])): (usize, (&Phase, [f64; 2]))| {
        let share = (phase.op == SegmentOp::Mixed && read + other > 0.0).then(|| read / (read + other))?;
        let alike = known.iter().find(|(_, of)| (of - share).abs() <= ONE_MIX).map(|(at, _)| *at);
        if alike.is_none() {
            known.push((at, share));
        }
        alike.or(Some(at))
    };
    trace.phases.iter().zip(moved).enumerate().map(mix).collect()
}

/// For each phase, the fastest piece of the same load anywhere in the run, in bytes per second; 0 where the log does not say what was asked
/// and loads begin at anything: then a host's jobs ask for more and for less.
fn fastest_alike(trace: &Trace, loads: &[LoadKey], stretches: &[Stretch], pieces: &[Piece]) -> Vec<f64> {
    let mut fastest = BTreeMap::new();
    let mut begins: BTreeMap<LoadKey, Vec<f64>> = BTreeMap::new();
    let mut before = None;
    // The only row of a load that was told by its data may hold some of the next one.
    let shows = |p: &&Piece| {
        let border = trace.phases[stretches[p.stretch].phase].inferred && p.slices <= 1;
        p.span_s() >= SHORTEST_PIECE_S && !border
    };
    for piece in pieces.iter().filter(shows) {
        let load = loads[stretches[piece.stretch].phase];
        let speed: &mut f64 = fastest.entry(load).or_default();
        *speed = speed.max(piece.level);
        // The row in which a load begins is in part without it.
        let begins_at = !piece.stopped && !is_ramp(piece);
        if begins_at && before.replace(piece.stretch) != Some(piece.stretch) {
            begins.entry(load).or_default().push(piece.level);
        }
    }
    let anything = |speeds: &Vec<f64>| uneven::unlike(speeds).is_some_and(|share| share > 0.0);
    begins.retain(|_, speeds| anything(speeds));
    let known = |(load, phase): (&LoadKey, &Phase)| {
        let asked = !phase.inferred || !begins.contains_key(load);
        fastest.get(load).copied().filter(|_| asked).unwrap_or(0.0)
    };
    loads.iter().zip(&trace.phases).map(known).collect()
}

/// Whether a load began at TMT1, the temperature stayed there, and its first piece was no faster than those
/// that followed: then it never was at full speed.
///
/// A load that has just begun heats a drive, unless something holds it back.
fn held_at_tmt1(trace: &Trace, pieces: &[Piece], heat: &Heat) -> bool {
    const LOOKED_AT_S: f64 = 60.0;
    const LONG_ENOUGH_S: f64 = 30.0;
    const ABOVE_COOLEST_K: f64 = 3.0;
    // A regulator's overshoot, or a burst; what stands for longer than those is a speed of its own.
    const NO_FASTER: f64 = 1.5;
    const STANDS_S: f64 = 20.0;
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
    let stands = pieces[0].is_level() && pieces[0].span_s() >= STANDS_S;
    // What stands may fall much later; a burst or an overshoot is over soon.
    let (no_faster, than) = if stands { (NO_FASTER_THAN_REST, pieces) } else { (NO_FASTER, early) };
    let mean =
        than.iter().map(|p| p.level * p.span_s()).sum::<f64>() / than.iter().map(Piece::span_s).sum::<f64>();
    to_s - from_s >= LONG_ENOUGH_S
        && tmt1_k >= coolest + ABOVE_COOLEST_K
        && at(0.9) - at(0.1) <= 2.0 * HELD_K
        && (median(&during) - tmt1_k).abs() <= HELD_K
        && pieces[0].level <= no_faster * mean
        && !steps_down(pieces)
        && !comes_back(early, heat, 0.0)
        && !comes_back(pieces, heat, MOSTLY)
}

/// Whether a load ran at one even speed and fell from it to another one: an overshoot sinks, and bursts are not even.
fn steps_down(pieces: &[Piece]) -> bool {
    let mut shown = pieces.iter().filter(|piece| piece.slices >= LEAST_SLICES);
    let ends = shown.next().zip(shown.next());
    ends.is_some_and(|(first, next)| {
        pieces[0].slices >= LEAST_SLICES
            && first.is_even()
            && next.is_even()
            && next.level < FELL * first.level
    })
}

/// Whether the speed fell and came back to that of the first piece more than once, and the drive had cooled in between, this
/// share of all times: then that one was the full speed, and no overshoot or burst.
fn comes_back(pieces: &[Piece], heat: &Heat, share: f64) -> bool {
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
