//! Falls that a load's own unevenness brings about.
//!
//! Stalls shorter than a row come and go at random, and now and then more of them fall together. What that takes from the mean
//! of some rows is no fall of its own, whatever the temperature is then.

use super::case::Case;
use super::drops::MOST_PIECES;
use super::evidence::Evidence;
use super::likelihood::{part_way, seen_once};
use super::weigh::SMALL_STEP;
use crate::observation::Observation;
use crate::segment::Piece;

/// A fall of so many standard errors of its rows and those before it says nothing, and one of so many is as good as none.
const CLEAR: f64 = 4.0;
const BY_CHANCE: f64 = 2.0;
/// Fewer fast rows do not show how uneven a load is.
const LEAST_SLICES: usize = 8;

/// A piece as fast as this share of that before the fall shows what the load varies by; a slower one may be slow for the same reason.
const AS_FAST: f64 = 0.9;

/// Weighs that a fall is no larger than what the load varies by anyway. Without a temperature heat is neither blamed nor cleared.
pub(super) fn weigh(case: &Case, evidence: &mut Evidence) {
    let Some((varies, chance)) = by_chance(case).filter(|_| case.onset_k().is_some()) else { return };
    // It is as good as a small step; what many drops have in common is no chance.
    let weight = SMALL_STEP * chance * seen_once(case.alike);
    if weight < 0.0 {
        evidence.weigh_heat(Observation::WithinNoise { varies }, weight, &[]);
    }
}

/// By what share of its speed the load varies from row to row, and how much of the fall that may have brought about, 0 to 1.
pub(super) fn by_chance(case: &Case) -> Option<(f64, f64)> {
    if case.drop.at_start {
        return None;
    }
    let stretch = case.pieces[case.drop.first].stretch;
    let before = &case.pieces[case.drop.first.saturating_sub(MOST_PIECES)..case.drop.first];
    let other = before.iter().rposition(|piece| piece.stretch != stretch);
    let before = &before[other.map_or(0, |at| at + 1)..];
    let own: Vec<&Piece> = case.drop.own.iter().map(|at| &case.pieces[*at]).collect();
    let (varies, errors) = over_noise(before, &own)?;
    Some((varies, part_way(errors, [CLEAR, BY_CHANCE])))
}

/// By what share of its speed a load varies from row to row where it is fast, and by how many standard errors it fell from the last of the pieces
/// before to those of a drop; `None` where too little of it is seen.
fn over_noise(before: &[Piece], own: &[&Piece]) -> Option<(f64, f64)> {
    let last = before.last()?;
    let fast = || before.iter().filter(|piece| piece.level >= AS_FAST * last.level);
    let slices = |piece: &Piece| piece.slices as f64;
    let seen: f64 = fast().map(slices).sum();
    let around = fast().map(|piece| slices(piece) * piece.level).sum::<f64>() / seen;
    let off = |piece: &Piece| (piece.variation * piece.level).hypot(piece.level - around).powi(2);
    let varies = (fast().map(|piece| slices(piece) * off(piece)).sum::<f64>() / seen).sqrt();
    let dropped: f64 = own.iter().map(|piece| slices(piece)).sum();
    let level = own.iter().map(|piece| slices(piece) * piece.level).sum::<f64>() / dropped;
    let error = varies * (1.0 / slices(last) + 1.0 / dropped).sqrt();
    (seen >= LEAST_SLICES as f64 && error > 0.0).then(|| (varies / around, (last.level - level) / error))
}

#[cfg(test)]
mod test {
    use super::*;

    fn piece(level: f64, variation: f64, slices: usize) -> Piece {
        let end_s = slices as f64;
        Piece {
            stretch: 0,
            start_s: 0.0,
            end_s,
            mean: level,
            level,
            slowest: level,
            variation,
            stopped: false,
            gradual: false,
            slices,
        }
    }

    /// Goal: 5 % is a fall of an even load and none of one with stalls, and a deep one is one of both. Method: a lucky stretch without any
    /// stands just before, and a slow one before that.
    #[test]
    fn a_fall_is_held_against_what_the_load_varies_by() {
        let errors = |level: f64, variation: f64, slices: usize| {
            let before = [piece(1.0, variation, 40), piece(0.5, 1.0, 40), piece(1.0, 0.01, 8)];
            over_noise(&before, &[&piece(level, variation, slices)]).map(|(_, errors)| errors)
        };
        assert!(errors(0.95, 0.01, 84).is_some_and(|errors| errors > 10.0));
        assert!(errors(0.95, 0.1, 84).is_some_and(|errors| errors < BY_CHANCE));
        assert!(errors(0.2, 0.1, 1).is_some_and(|errors| errors > CLEAR));
        assert_eq!(over_noise(&[piece(1.0, 0.1, 2)], &[&piece(0.5, 0.1, 2)]), None, "too few");
    }
}
