//! When thresholds that nobody recorded may have moved.
//!
//! Whoever sets TMT1 anew in the middle of a log leaves two thresholds in it, one after the other, and whoever switches it off leaves
//! full speed above it. Neither says anything against the one that stood when a drop began. That a threshold was moved at all is asked
//! against all the rest that is known of the drops ([`super::settle`]).
//! The same holds where two thresholds act in turn, as of two sensors of a drive: what is above the lower one says nothing against it.

use measure::Point;

use super::beat;
use super::case::OTHER_THRESHOLD_K;
use super::drops::SpeedDrop;
use super::heat::Heat;
use super::likelihood::ONE_THRESHOLD_K;
use crate::segment::{Piece, median, piece_starts};
use trace::Trace;

/// Onsets at one threshold scatter by this: rounding and poll.
const SCATTER_K: f64 = 1.0;
/// A move costs as much as onsets that are off by so many scatters altogether.
const MOVE: f64 = 4.0;
/// Levels are looked for on a grid of so many scatters.
const GRID: f64 = 0.5;
/// Who moves a threshold does so a few times; what changes more often is none.
const MOST_MOVES: usize = 4;

/// In one log of twenty that name no settings a threshold was moved, and in one of four or five of those once more: the logarithms of that.
const MOVED: f64 = 3.0;
const MOVED_AGAIN: f64 = 1.5;
/// What begins at two temperatures, and nowhere between, has two thresholds in one of three: the logarithm of that.
const IN_TURN: f64 = 1.0;
/// ... and this at most speaks for it that none began between, as a clock may meet them too.
const MOST_BETWEEN: f64 = 3.0;
/// Two thresholds in turn show in so many drops at least, and in two at each.
const LEAST_IN_TURN: usize = 5;
const LEAST_EACH: usize = 2;
const APART: f64 = 3.0;

/// Times between which the settings of TMT1 and TMT2 may have stood: none where they are recorded, and where nothing looks moved.
#[derive(Debug, Default)]
pub(super) struct Eras {
    moved_s: Vec<f64>,
    /// The two thresholds, where they act in turn.
    in_turn: Option<InTurn>,
    /// How unlikely it is that nothing began between those two by chance, as a logarithm.
    none_between: f64,
}

/// Two thresholds that act in turn, in kelvins.
#[derive(Clone, Copy, Debug)]
pub(super) struct InTurn {
    pub(super) low_k: f64,
    pub(super) high_k: f64,
}

impl InTurn {
    fn nearer_k(&self, kelvin: f64) -> f64 {
        if kelvin - self.low_k < self.high_k - kelvin { self.low_k } else { self.high_k }
    }
}

impl Eras {
    pub(super) fn new(trace: &Trace, heat: &Heat, pieces: &[Piece], drops: &[SpeedDrop]) -> Self {
        let settings = trace.settings.points();
        if settings.iter().any(|p| p.value.tmt1_k.is_some() || p.value.tmt2_k.is_some()) {
            return Self::default();
        }
        let mut began = began(heat, pieces, drops);
        // It takes a drive another time to get to another threshold.
        let began_s: Vec<f64> = began.iter().map(|drop| drop.start_s).collect();
        if beat::chosen(&began_s, heat.slice_s).is_some() {
            return Self::default();
        }
        if let Some(found) = in_turn(heat, &began) {
            let mut began = began.clone();
            began.iter_mut().for_each(|drop| drop.level_k = found.nearer_k(drop.level_k));
            let ran_hotter = ran_hotter(heat, pieces, drops, &began, Some(found.high_k));
            if !ran_hotter.contains(&true) {
                let none_between = none_between(heat, pieces, drops, &began, found);
                return Self { moved_s: moves(&began, &ran_hotter), in_turn: Some(found), none_between };
            }
        }
        level(heat, &mut began);
        let moved_s = moves(&began, &ran_hotter(heat, pieces, drops, &began, None));
        if moved_s.len() > MOST_MOVES { Self::default() } else { Self { moved_s, ..Self::default() } }
    }

    /// How often thresholds moved.
    pub(super) fn moves(&self) -> usize {
        self.moved_s.len()
    }

    /// The two thresholds, where they act in turn.
    pub(super) const fn in_turn(&self) -> Option<InTurn> {
        self.in_turn
    }

    /// How unlikely that is, as a logarithm: who moved one once may do so again. `None` where they stood.
    pub(super) fn unlikely(&self) -> Option<f64> {
        match self.moves() {
            0 => None,
            _ if self.in_turn.is_some() => Some(IN_TURN - self.none_between),
            moves => Some(MOVED + MOVED_AGAIN * (moves - 1) as f64),
        }
    }

    /// When first, in seconds.
    pub(super) fn first_s(&self) -> Option<f64> {
        self.moved_s.first().copied()
    }

    /// Which of the settings stood at `t_s`.
    pub(super) fn at(&self, t_s: f64) -> usize {
        let at = self.moved_s.partition_point(|moved_s| *moved_s <= t_s);
        if self.in_turn.is_some() { at % 2 } else { at }
    }

    /// Whether a threshold was moved just when a drop ended, which let it go then.
    pub(super) fn let_go(&self, end_s: f64) -> bool {
        self.in_turn.is_none() && self.moved_s.contains(&end_s)
    }
}

/// A drop that began as the drive warmed up.
#[derive(Clone)]
struct Began {
    /// The temperature at which it began, in kelvins; once levelled that of its threshold, the usual one of those around it.
    level_k: f64,
    start_s: f64,
    end_s: f64,
}

/// The drops in order of time.
fn began(heat: &Heat, pieces: &[Piece], drops: &[SpeedDrop]) -> Vec<Began> {
    let rising = drops.iter().filter(|drop| drop.inside.is_none() && !drop.at_start);
    let mut began: Vec<Began> = rising
        .filter_map(|drop| {
            let (start_s, end_s) = (pieces[drop.first].start_s, pieces[drop.last].end_s);
            Some(Began { level_k: heat.peak_k(start_s)?, start_s, end_s })
        })
        .collect();
    began.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    began
}

/// Gives each the level of those around it.
fn level(heat: &Heat, began: &mut [Began]) {
    let scatter_k = SCATTER_K.max(heat.step_k);
    let temps: Vec<f64> = began.iter().map(|began| began.level_k / scatter_k).collect();
    let starts = piece_starts(&temps, GRID, 1, MOVE);
    let ends = starts.iter().skip(1).copied().chain([began.len()]);
    for (from, to) in starts.iter().zip(ends) {
        let level_k = scatter_k * median(&temps[*from..to]);
        began[*from..to].iter_mut().for_each(|began| began.level_k = level_k);
    }
}

/// The two thresholds of drops that begin at one or the other, to and fro, with as much between as tells them apart.
fn in_turn(heat: &Heat, began: &[Began]) -> Option<InTurn> {
    let scatter_k = SCATTER_K.max(heat.step_k);
    let mut levels: Vec<f64> = began.iter().map(|began| began.level_k).collect();
    levels.sort_by(f64::total_cmp);
    let gaps = levels.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
    let (at, gap_k) = gaps.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (low, high) = levels.split_at(at + 1);
    let close = |of: &[f64]| of.len() >= LEAST_EACH && of[of.len() - 1] - of[0] <= 2.0 * scatter_k;
    let apart = gap_k >= (APART * scatter_k).max(OTHER_THRESHOLD_K);
    let to_and_fro =
        began.windows(2).filter(|pair| (pair[0].level_k >= high[0]) != (pair[1].level_k >= high[0])).count();
    if levels.len() < LEAST_IN_TURN || !apart || !close(low) || !close(high) || to_and_fro <= MOST_MOVES {
        return None;
    }
    Some(InTurn { low_k: median(low), high_k: median(high) })
}

/// How unlikely it is, as a logarithm, that what comes by chance never came between two temperatures, by the time at full speed there and
/// above them. What n drops say counts by the root of n.
fn none_between(
    heat: &Heat,
    pieces: &[Piece],
    drops: &[SpeedDrop],
    began: &[Began],
    InTurn { low_k, high_k }: InTurn,
) -> f64 {
    let near_k = ONE_THRESHOLD_K.max(heat.step_k);
    let (mut between, mut all) = (0.0, 0.0);
    for reading in at_full_speed(heat, pieces, drops).filter(|reading| reading.value >= low_k - near_k) {
        all += 1.0;
        between += f64::from(u8::from((low_k + near_k..high_k - near_k).contains(&reading.value)));
    }
    let share = between / f64::max(all, 1.0);
    (-(1.0 - share).ln() * (began.len() as f64).sqrt()).min(MOST_BETWEEN)
}

/// Readings at full speed.
fn at_full_speed<'a>(
    heat: &Heat<'a>,
    pieces: &'a [Piece],
    drops: &[SpeedDrop],
) -> impl Iterator<Item = &'a Point<f64>> {
    let mut slow = vec![false; pieces.len()];
    drops.iter().for_each(|drop| slow[drop.first..=drop.last].fill(true));
    let full_speed = pieces.iter().zip(slow).filter(|(piece, slow)| !slow && !piece.stopped);
    full_speed.flat_map(|(piece, _)| heat.within(piece.start_s, piece.end_s))
}

/// Whether the drive was for long at full speed and hotter than the thresholds of the drops before and after: before the first, between
/// each two, and after the last. Of two in turn the higher one counts throughout.
fn ran_hotter(
    heat: &Heat,
    pieces: &[Piece],
    drops: &[SpeedDrop],
    began: &[Began],
    higher_k: Option<f64>,
) -> Vec<bool> {
    let mut hotter_s = vec![0.0; began.len() + 1];
    for reading in at_full_speed(heat, pieces, drops) {
        let gap = began.partition_point(|began| began.start_s <= reading.t.as_secs_f64());
        let around = &began[gap.saturating_sub(1)..(gap + 1).min(began.len())];
        let over = ONE_THRESHOLD_K.max(heat.step_k);
        if around.iter().all(|began| reading.value >= higher_k.unwrap_or(began.level_k) + over) {
            hotter_s[gap] += heat.period_s;
        }
    }
    hotter_s.into_iter().map(|s| s >= heat.long_past_s()).collect()
}

/// When thresholds moved, in seconds: a higher one held in all of the time between the last drop at one and the first at another, and one
/// above both where the drive was hotter than either.
fn moves(began: &[Began], ran_hotter: &[bool]) -> Vec<f64> {
    let mut moved_s = Vec::new();
    for (gap, ran_hotter) in ran_hotter.iter().enumerate() {
        let (before, after) = (gap.checked_sub(1).map(|at| &began[at]), began.get(gap));
        let (from_s, to_s) = (before.map(|began| began.end_s), after.map(|began| began.start_s));
        if *ran_hotter {
            moved_s.extend([from_s, to_s].into_iter().flatten());
        } else if let Some((before, after)) = before.zip(after) {
            match before.level_k.total_cmp(&after.level_k) {
                std::cmp::Ordering::Less => moved_s.push(before.end_s),
                std::cmp::Ordering::Greater => moved_s.push(after.start_s),
                std::cmp::Ordering::Equal => {}
            }
        }
    }
    moved_s
}
