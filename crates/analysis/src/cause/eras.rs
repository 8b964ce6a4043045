//! When thresholds that nobody recorded may have moved.
//!
//! Whoever sets TMT1 anew in the middle of a log leaves two thresholds in it, one after the other, and whoever switches it off leaves
//! full speed above it. Neither says anything against the one that stood when a drop began. That a threshold was moved at all is asked
//! against all the rest that is known of the drops ([`super::settle`]).

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

/// Times between which the settings of TMT1 and TMT2 may have stood: none where they are recorded, and where nothing looks moved.
#[derive(Debug, Default)]
pub(super) struct Eras {
    moved_s: Vec<f64>,
}

impl Eras {
    pub(super) fn new(trace: &Trace, heat: &Heat, pieces: &[Piece], drops: &[SpeedDrop]) -> Self {
        let settings = trace.settings.points();
        if settings.iter().any(|p| p.value.tmt1_k.is_some() || p.value.tmt2_k.is_some()) {
            return Self::default();
        }
        let began = began(heat, pieces, drops);
        let moved_s = moves(&began, &ran_hotter(heat, pieces, drops, &began));
        if moved_s.len() > MOST_MOVES { Self::default() } else { Self { moved_s } }
    }

    /// How often thresholds moved.
    pub(super) fn moves(&self) -> usize {
        self.moved_s.len()
    }

    /// When first, in seconds.
    pub(super) fn first_s(&self) -> Option<f64> {
        self.moved_s.first().copied()
    }

    /// Which of the settings stood at `t_s`.
    pub(super) fn at(&self, t_s: f64) -> usize {
        self.moved_s.partition_point(|moved_s| *moved_s <= t_s)
    }

    /// Whether a threshold was moved just when a drop ended, which let it go then.
    pub(super) fn let_go(&self, end_s: f64) -> bool {
        self.moved_s.contains(&end_s)
    }
}

/// A drop that began as the drive warmed up.
struct Began {
    /// The temperature of its threshold, in kelvins: the usual one of those before and after it that began alike.
    level_k: f64,
    start_s: f64,
    end_s: f64,
}

/// The drops in order of time, each with the level of those around it.
fn began(heat: &Heat, pieces: &[Piece], drops: &[SpeedDrop]) -> Vec<Began> {
    let rising = drops.iter().filter(|drop| drop.inside.is_none() && !drop.at_start);
    let mut began: Vec<Began> = rising
        .filter_map(|drop| {
            let (start_s, end_s) = (pieces[drop.first].start_s, pieces[drop.last].end_s);
            Some(Began { level_k: heat.peak_k(start_s)?, start_s, end_s })
        })
        .collect();
    began.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let scatter_k = SCATTER_K.max(heat.step_k);
    let temps: Vec<f64> = began.iter().map(|began| began.level_k / scatter_k).collect();
    let starts = piece_starts(&temps, GRID, 1, MOVE);
    let ends = starts.iter().skip(1).copied().chain([began.len()]);
    for (from, to) in starts.iter().zip(ends) {
        let level_k = scatter_k * median(&temps[*from..to]);
        began[*from..to].iter_mut().for_each(|began| began.level_k = level_k);
    }
    began
}

/// Whether the drive was for long at full speed and hotter than the thresholds of the drops before and after: before the first, between
/// each two, and after the last.
fn ran_hotter(heat: &Heat, pieces: &[Piece], drops: &[SpeedDrop], began: &[Began]) -> Vec<bool> {
    let mut hotter_s = vec![0.0; began.len() + 1];
    let mut slow = vec![false; pieces.len()];
    drops.iter().for_each(|drop| slow[drop.first..=drop.last].fill(true));
    let full_speed = pieces.iter().zip(slow).filter(|(piece, slow)| !slow && !piece.stopped);
    for reading in full_speed.flat_map(|(piece, _)| heat.within(piece.start_s, piece.end_s)) {
        let gap = began.partition_point(|began| began.start_s <= reading.t.as_secs_f64());
        let around = &began[gap.saturating_sub(1)..(gap + 1).min(began.len())];
        if around.iter().all(|began| reading.value >= began.level_k + ONE_THRESHOLD_K.max(heat.step_k)) {
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
