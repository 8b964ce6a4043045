//! Where speed gives way and comes back: the drops of a stretch, before anybody asks why.

use std::ops::Range;

use super::shape::Fall;
use crate::segment::{Piece, STOP_FRACTION};

/// A piece this much slower than before is slow. Below the 4 % lie run-to-run differences and the steps by which
/// a log in whole MB/s differs from bytes.
const SLOW: f64 = 0.96;
/// Inside a drop, a piece that is slower than the last one by a tenth is a further drop; where speed varies within the
/// pieces, by twice as much as it does, up to a quarter.
const FURTHER: f64 = 0.1;
const FURTHER_THAN_VARIATION: f64 = 2.0;
const FURTHER_AT_ANY_RATE: f64 = 0.25;
/// A drop is over when this share of the lost speed has come back.
const REGAINED: f64 = 0.75;
/// A load that began slow is no longer so when it is faster by this factor.
const RISEN: f64 = 1.15;
/// The speed inside a drop is the median of this many pieces, so that a month of wobble stays linear.
pub(super) const MOST_PIECES: usize = 64;
/// A rise by this factor from one piece to the next is a leap.
const LEAP: f64 = 1.25;
/// A stop, and the rows on both sides that hold some of it.
const STOP_PIECES: usize = 3;
/// A burst shorter than this does not set the speed that later pieces are compared with.
const SHORTEST_BASE_S: f64 = 3.0;
/// ... unless one is as fast within a tenth that does.
const AS_FAST: f64 = 1.1;

/// So many rows of more, between two times that each last so many times as long, are no full speed.
const SPIKE: usize = 2;
const LASTS: usize = 4;

/// A speed that fell has come to where it stays after this share of the way, ...
pub(super) const NEARLY: f64 = 0.85;
/// ... and did so little by little where it stood on so many levels in between.
const LEAST_LEVELS: usize = 2;
/// A level that sinks varies by this share of the fall to it, one that stands by less.
const SINKS: f64 = 0.1;

/// A stretch of slower pieces.
#[derive(Clone, Debug)]
pub(crate) struct SpeedDrop {
    /// First slow piece.
    pub first: usize,
    /// Last slow piece.
    pub last: usize,
    /// Speed before, in bytes per second; `None` where the load began slow and never was faster.
    pub before: Option<f64>,
    /// Median speed in bytes per second, over its time without further drops inside it.
    pub level: f64,
    /// Whether the speed came back while the load went on.
    pub recovered: bool,
    /// Whether it began with a step rather than by sinking little by little.
    pub sharp: bool,
    /// Whether the load was slow from its very beginning.
    pub at_start: bool,
    /// Its pieces, without those of further drops inside it.
    pub own: Vec<usize>,
    /// The drop that this one lies in.
    pub inside: Option<usize>,
    /// Whether it begins where a throttle let go, and not with a fall: that says nothing of where drops begin.
    pub parted: bool,
}

/// A piece shows its speed from so many slices on: the two at its ends hold some of its neighbours'.
pub(super) const LEAST_SLICES: usize = 4;

impl SpeedDrop {
    /// The last piece at a speed of its own: the last of all, unless it ends in a further drop.
    pub(crate) fn last_own(&self) -> usize {
        self.own.last().copied().unwrap_or(self.last)
    }

    /// The longest of its pieces, where it shows one even speed.
    pub(super) fn stands<'a>(&self, pieces: &'a [Piece]) -> Option<&'a Piece> {
        let own = self.own.iter().map(|at| &pieces[*at]);
        let longest = own.max_by(|a, b| a.span_s().total_cmp(&b.span_s()))?;
        (longest.is_even() && longest.slices >= LEAST_SLICES).then_some(longest)
    }

    /// How speed fell.
    pub(super) fn fall(&self, pieces: &[Piece]) -> Fall {
        match self.fell_over_s(pieces) {
            _ if self.at_start => Fall::Unseen,
            Some(_) => Fall::LittleByLittle,
            None => Fall::AtOnce,
        }
    }

    /// How long the speed took to fall, level by level, to nearly where it stayed, in seconds; `None` where it fell at once.
    pub(crate) fn fell_over_s(&self, pieces: &[Piece]) -> Option<f64> {
        let before = self.before.filter(|_| !self.at_start)?;
        let (start_s, end_s) = (pieces[self.first].start_s, pieces[self.last].end_s);
        let middle_s = f64::midpoint(start_s, end_s);
        let late: Vec<usize> = (self.first..=self.last).filter(|at| pieces[*at].end_s > middle_s).collect();
        let low = median_speed(pieces, &late);
        let nearly = before - NEARLY * (before - low);
        let pieces = &pieces[self.first..=self.last];
        let falling = pieces.iter().take_while(|piece| piece.level > nearly);
        let levels: Vec<f64> = std::iter::once(before).chain(falling.map(|piece| piece.level)).collect();
        let end = pieces.get(levels.len() - 1)?;
        let falls = levels.windows(2).all(|pair| pair[1] < pair[0]);
        // Between two steps speed stands, and while it sinks it varies: in a straight line from a level to the next by 0.29 of the way.
        let sinks = |(at, pair): (usize, &[f64])| {
            pieces.get(at).is_some_and(|piece| piece.variation * piece.level >= SINKS * (pair[0] - pair[1]))
        };
        let sinking = levels.windows(2).enumerate().skip(1).filter(|step| sinks(*step)).count();
        let stands = 2 * sinking + 2 < levels.len();
        (falls && levels.len() > LEAST_LEVELS && !stands).then_some(end.start_s - start_s)
    }

    /// Whether nothing moved for most of it: its first piece may be the edge that a slow sampling makes of it.
    pub(crate) fn stops(&self, pieces: &[Piece]) -> bool {
        let stopped = |own: &&usize| pieces[**own].stopped;
        let span_s = |own: &usize| pieces[*own].span_s();
        let stopped_s: f64 = self.own.iter().filter(stopped).map(span_s).sum();
        let nothing = self.before.is_some_and(|before| self.level <= STOP_FRACTION * before);
        pieces[self.first].stopped || nothing || 2.0 * stopped_s > self.own.iter().map(span_s).sum()
    }
}

/// What the first piece of a stretch is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DropStart {
    /// Nothing: it sets the speed for what follows. Where other runs show the same load at full speed, that one in bytes per second: so
    /// fast is full speed for a second, too.
    Fresh(Option<f64>),
    /// The fastest speed of the same load in the run, in bytes per second.
    Known(f64),
    /// It is known to be slow, but not by how much.
    Slow,
}

/// The drops among `pieces[range]`, which are all of one stretch; indices count in `pieces`. A piece for
/// which `as_meant` holds is as fast as the plan allows and never slow; one for which `slow_still` holds has not come back, in a
/// load that began slow, unless its speed leapt up. Where a load is `inferred`, it may be several.
pub(crate) fn drops(
    pieces: &[Piece],
    range: Range<usize>,
    start: DropStart,
    as_meant: &dyn Fn(&Piece) -> bool,
    slow_still: &dyn Fn(&Piece) -> bool,
    inferred: bool,
) -> Vec<SpeedDrop> {
    let (base, shown) = match start {
        DropStart::Known(speed) => (Some(speed), None),
        DropStart::Fresh(shown) => (None, shown),
        DropStart::Slow => (None, None),
    };
    let lasting = pieces[range.clone()].iter().filter(|piece| piece.span_s() >= SHORTEST_BASE_S);
    let fastest = lasting.map(|piece| piece.level).chain(shown).fold(0.0, f64::max);
    let mut walk = Walk { pieces, slow_still, inferred, fastest, base, done: Vec::new(), open: Vec::new() };
    for index in range.clone() {
        let at_start = index == range.start;
        if at_start && start == DropStart::Slow {
            walk.push(drop(index, None, true, true));
            walk.extend(index);
        } else {
            walk.step(index, at_start, as_meant(&pieces[index]));
        }
    }
    for drop in &mut walk.done {
        drop.level = median_speed(pieces, &drop.own);
    }
    walk.done
}

struct Walk<'a> {
    pieces: &'a [Piece],
    slow_still: &'a dyn Fn(&Piece) -> bool,
    inferred: bool,
    /// The fastest speed that lasts, in bytes per second.
    fastest: f64,
    base: Option<f64>,
    done: Vec<SpeedDrop>,
    /// Indices into `done` of the drops that are not over, the innermost last.
    open: Vec<usize>,
}

impl Walk<'_> {
    fn step(&mut self, index: usize, at_start: bool, as_meant: bool) {
        let mean = self.pieces[index].level;
        self.close(index, as_meant);
        let previous = if at_start { None } else { Some(self.pieces[index - 1].level) };
        let sharp = previous.is_none_or(|previous| mean < SLOW * previous);
        if as_meant {
            self.base = Some(mean);
        } else if let Some(inner) = self.open.last() {
            // A slice that the fall lies in is the edge of the drop and no level of its own.
            let edge = self.done[*inner].first + 1 == index && self.pieces[index - 1].slices <= 1
                || self.ends_within(index);
            if let Some(previous) = previous.filter(|previous| mean < self.further(index) * previous && !edge)
            {
                let inside = Some(*inner);
                self.push(SpeedDrop { inside, ..drop(index, Some(previous), sharp, at_start) });
            }
        } else {
            match self.base {
                Some(base) if mean < SLOW * base => self.push(drop(index, Some(base), sharp, at_start)),
                Some(base) if mean < base => {}
                // What is as fast for longer later on, or in another run, is full speed for a second too.
                None if mean <= AS_FAST * self.fastest => self.base = Some(mean),
                _ if self.pieces[index].span_s() < SHORTEST_BASE_S || self.is_spike(index) => {}
                _ => self.base = Some(mean),
            }
        }
        self.extend(index);
    }

    /// Whether a load that nobody describes moved more for a row or two and went on as before: a host catches up, and what it asks for else
    /// is not slow.
    fn is_spike(&self, index: usize) -> bool {
        let (Some(base), Some(before)) = (self.base, index.checked_sub(1)) else { return false };
        let [before, now] = [before, index].map(|at| &self.pieces[at]);
        let goes_on = |piece: &&Piece| {
            piece.stretch == now.stretch
                && (SLOW..=1.0 / SLOW).contains(&(piece.level / base))
                && piece.slices >= LASTS * now.slices
        };
        let next = self.pieces.get(index + 1).filter(goes_on);
        self.inferred && now.slices <= SPIKE && goes_on(&before) && next.is_some()
    }

    /// Below which share of the piece before it a piece is a further drop.
    fn further(&self, index: usize) -> f64 {
        let variation = self.pieces[index].variation.max(self.pieces[index - 1].variation);
        1.0 - (FURTHER_THAN_VARIATION * variation).clamp(FURTHER, FURTHER_AT_ANY_RATE)
    }

    /// Whether a piece is the row in which a load ends, and is in part without one.
    fn ends_within(&self, index: usize) -> bool {
        let now = &self.pieces[index];
        let next = self.pieces.get(index + 1).filter(|next| next.stretch == now.stretch);
        self.inferred && now.slices <= 1 && next.is_some_and(|next| next.stopped)
    }

    /// Whether a load goes on slower after nothing moved, in a log that does not say what was asked for: a drive that stops until it
    /// has cooled is as fast as before, so it was another load.
    fn is_another_load(&self, drop: usize, index: usize) -> bool {
        let drop = &self.done[drop];
        let now = &self.pieces[index];
        let stopped = |own: &usize| self.pieces[*own].stopped;
        let is_stop = drop.own.len() <= STOP_PIECES
            && drop.own.iter().all(|own| stopped(own) || self.pieces[*own].slices <= 1)
            && drop.own.iter().any(stopped);
        self.inferred && drop.inside.is_none() && !drop.at_start && is_stop && !now.stopped && now.slices > 1
    }

    /// Adds a piece to the drops that are not over.
    fn extend(&mut self, index: usize) {
        for open in &self.open {
            self.done[*open].last = index;
        }
        if let Some(innermost) = self.open.last() {
            self.done[*innermost].own.push(index);
        }
    }

    fn push(&mut self, drop: SpeedDrop) {
        self.open.push(self.done.len());
        self.done.push(drop);
    }

    /// Ends the drops that a piece has recovered from.
    fn close(&mut self, index: usize, as_meant: bool) {
        let mean = self.pieces[index].level;
        // A regulator gives speed back bit by bit; what leaps up was let go.
        // Bursts that no slice shows whole go to and fro between pieces that are not even.
        let leapt = index > 0 && {
            let [before, now] = [&self.pieces[index - 1], &self.pieces[index]];
            now.level > LEAP * before.level && before.is_even() && now.is_even()
        };
        while let Some(innermost) = self.open.last().copied() {
            let another = self.is_another_load(innermost, index);
            let drop = &mut self.done[innermost];
            let latest = &drop.own[drop.own.len().saturating_sub(MOST_PIECES)..];
            let level = median_speed(self.pieces, latest);
            let fastest = latest.iter().map(|own| self.pieces[*own].level).fold(0.0, f64::max);
            let over = match drop.before {
                Some(before) => mean >= SLOW * before || mean >= level + REGAINED * (before - level),
                None => mean > RISEN * fastest,
            };
            let held = drop.at_start && !leapt && (self.slow_still)(&self.pieces[index]);
            let over = over && !held || another;
            if !over && !as_meant {
                return;
            }
            drop.recovered = true;
            if self.open.len() == 1 {
                // Back within the 4 % is back at the speed from before: a speed that sinks cycle by cycle is not full.
                let back_at = drop.before.filter(|before| mean >= SLOW * before);
                self.base = Some(back_at.map_or(mean, |before| before.max(mean)));
            }
            self.open.pop();
        }
    }
}

fn drop(index: usize, before: Option<f64>, sharp: bool, at_start: bool) -> SpeedDrop {
    SpeedDrop {
        own: Vec::new(),
        first: index,
        last: index,
        before,
        level: 0.0,
        recovered: false,
        sharp,
        at_start,
        inside: None,
        parted: false,
    }
}

/// The speed that half of the time of these pieces is slower than.
pub(crate) fn median_speed(pieces: &[Piece], own: &[usize]) -> f64 {
    crate::work::count(own.len());
    let mut by_speed: Vec<(f64, f64)> = own.iter().map(|i| (pieces[*i].level, pieces[*i].span_s())).collect();
    by_speed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = by_speed.iter().map(|(_, span)| span).sum::<f64>() / 2.0;
    let mut seen = 0.0;
    let middle = by_speed.iter().find(|(_, span)| {
        seen += span;
        seen >= half
    });
    middle.map_or(0.0, |(mean, _)| *mean)
}

#[cfg(test)]
mod test {
    use super::*;

    fn pieces(levels: &[(f64, f64)]) -> Vec<Piece> {
        let mut t = 0.0;
        levels
            .iter()
            .map(|(mean, span)| {
                t += span;
                let (mean, stopped) = (*mean, *mean == 0.0);
                Piece {
                    stretch: 0,
                    start_s: t - span,
                    end_s: t,
                    mean,
                    level: mean,
                    slowest: mean,
                    variation: 0.0,
                    stopped,
                    gradual: false,
                    slices: 10,
                }
            })
            .collect()
    }

    fn found(levels: &[(f64, f64)]) -> Vec<(usize, usize, bool, Option<usize>)> {
        let pieces = pieces(levels);
        let drops = drops(&pieces, 0..pieces.len(), DropStart::Fresh(None), &|_| false, &|_| false, false);
        drops.iter().map(|d| (d.first, d.last, d.recovered, d.inside)).collect()
    }

    #[test]
    fn a_cycle_is_drops_and_recoveries() {
        let cycle = [(16., 60.), (2., 20.), (16., 17.), (2., 20.), (15.9, 17.), (2., 5.)];
        assert_eq!(found(&cycle), [(1, 1, true, None), (3, 3, true, None), (5, 5, false, None)]);
    }

    #[test]
    fn stairs_are_one_drop_and_a_second_fall_lies_inside_the_first() {
        assert_eq!(found(&[(30., 60.), (28., 5.), (26., 5.), (24., 200.)]), [(1, 3, false, None)]);
        let two = [(30., 60.), (20., 40.), (2., 40.), (20., 30.), (30., 30.)];
        assert_eq!(found(&two), [(1, 3, true, None), (2, 2, true, Some(0))]);
    }

    #[test]
    fn a_load_that_is_held_back_swings_and_comes_back_by_a_leap() {
        let held = |levels: &[(f64, f64)]| {
            let pieces = pieces(levels);
            let drops = drops(&pieces, 0..pieces.len(), DropStart::Slow, &|_| false, &|_| true, false);
            drops.iter().map(|d| (d.first, d.last, d.recovered)).collect::<Vec<_>>()
        };
        assert_eq!(held(&[(20., 20.), (24., 20.), (29., 20.), (33., 20.)]), [(0, 3, false)]);
        assert_eq!(held(&[(20., 20.), (30., 20.), (20., 20.)]), [(0, 0, true), (2, 2, false)]);
    }

    /// Goal: where nobody knows what was asked for, a load that goes on slower after nothing moved is another one, and the row in which one
    /// ends is no drop.
    #[test]
    fn a_load_that_goes_on_slower_after_a_stop_is_another_one() {
        let found = |levels: &[(f64, f64)], inferred: bool| {
            let mut pieces = pieces(levels);
            pieces.iter_mut().filter(|piece| piece.span_s() <= 1.0).for_each(|piece| piece.slices = 1);
            let drops =
                drops(&pieces, 0..pieces.len(), DropStart::Fresh(None), &|_| false, &|_| false, inferred);
            drops.iter().map(|d| (d.first, d.last, d.recovered)).collect::<Vec<_>>()
        };
        let slower = [(16., 60.), (0., 20.), (9., 60.), (4., 20.), (9., 20.)];
        assert_eq!(found(&slower, true), [(1, 1, true), (3, 3, true)]);
        assert_eq!(found(&slower, false), [(1, 4, false), (3, 3, true)]);
        let ends = [(16., 60.), (9., 60.), (4., 1.), (0., 20.), (16., 60.)];
        assert_eq!(found(&ends, true), [(1, 3, true), (3, 3, true)]);
        assert_eq!(found(&ends, false), [(1, 3, true), (2, 3, true)]);
    }

    /// Goal: two seconds at full speed, before a threshold is reached, are seen where the load comes back to it.
    #[test]
    fn a_load_that_falls_at_once_fell_from_what_it_comes_back_to() {
        assert_eq!(
            found(&[(30., 2.), (3., 100.), (29., 15.), (3., 100.)]),
            [(1, 1, true, None), (3, 3, false, None)]
        );
        // A burst that never comes again may be a cache's.
        assert_eq!(found(&[(30., 2.), (3., 100.), (3.1, 15.)]), []);
    }

    /// Bursts that beat with the log's intervals go to and fro between two speeds of which neither is the full one.
    #[test]
    fn a_cycle_whose_fast_half_sinks_does_not_come_back() {
        let sinks = [(56., 30.), (50., 12.), (54., 12.), (48., 12.), (52., 12.), (47., 12.), (51., 12.)];
        assert_eq!(found(&sinks), [(1, 1, true, None), (3, 6, false, None)]);
        let stays = [(56., 30.), (50., 12.), (55., 12.), (49., 12.), (55., 12.), (49., 12.)];
        assert_eq!(found(&stays), [(1, 1, true, None), (3, 3, true, None), (5, 5, false, None)]);
    }

    #[test]
    fn what_sinks_by_small_steps_sinks() {
        assert_eq!(found(&[(30., 60.), (29.2, 30.), (28.4, 30.), (27.6, 30.)]), [(2, 3, false, None)]);
        assert_eq!(found(&[(60., 2.), (30., 60.), (30.5, 60.)]), []);
    }
}
