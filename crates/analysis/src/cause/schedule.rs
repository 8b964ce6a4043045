//! A host's schedule: a load that begins, goes from one speed to the next and ends at equal intervals.
//!
//! A threshold is reached when it is reached, and a load ends when its host ends it. Where both keep one beat the host made both: a job
//! with a ladder of rates, in a log that does not name them.

use std::iter::once;

use super::Judged;
use super::evidence::Suspect;
use super::heat::Heat;
use super::recurring;
use crate::observation::Observation;
use crate::segment::{Piece, Stretch, median};

/// Speeds that one beat parts: fewer may be alike by chance.
const LEAST: usize = 4;
/// Intervals are one beat within this share of it, or a row and a half: a step lies anywhere in a row.
const ONE_BEAT: f64 = 0.02;
const ROWS: f64 = 1.5;
/// In longer rows than this share of a beat anything keeps it.
const COARSEST: f64 = 0.1;

/// Weighs that the speeds of a load change at one beat with its beginning and its end.
pub(super) fn weigh(judged: &mut [Judged], stretches: &[Stretch], pieces: &[Piece], heat: &Heat) {
    let of = |judged: &Judged| pieces[judged.drop.first].stretch;
    for drops in judged.chunk_by_mut(|one, next| of(one) == of(next)) {
        let index = of(&drops[0]);
        let Some((seen, weight)) = schedule(&stretches[index], index, pieces, heat.slice_s) else { continue };
        drops.iter_mut().for_each(|drop| drop.evidence.weigh(seen.clone(), &[(Suspect::Other, weight)]));
    }
}

/// The schedule of a load, if it has one, and what that weighs for anything but heat.
fn schedule(stretch: &Stretch, index: usize, pieces: &[Piece], slice_s: f64) -> Option<(Observation, f64)> {
    let from = pieces.partition_point(|piece| piece.stretch < index);
    let of_it = pieces[from..].iter().take_while(|piece| piece.stretch == index);
    // The row of a step is a piece of its own where it holds some of both speeds.
    let steps_s = of_it.skip(1).filter(|piece| piece.slices > 1).map(|piece| piece.start_s);
    let beats_s: Vec<f64> = once(stretch.start_s()).chain(steps_s).chain(once(stretch.end_s())).collect();
    let gaps_s: Vec<f64> = beats_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    if gaps_s.len() < LEAST {
        return None;
    }
    let period_s = median(&gaps_s);
    let one = |gap_s: &f64| (gap_s - period_s).abs() <= (ONE_BEAT * period_s).max(ROWS * slice_s);
    let keeps_it = slice_s <= COARSEST * period_s && gaps_s.iter().all(one);
    let seen = Observation::Scheduled { speeds: gaps_s.len(), period_s };
    keeps_it.then(|| (seen, recurring::keeps_time(&beats_s, period_s, slice_s)))
}
