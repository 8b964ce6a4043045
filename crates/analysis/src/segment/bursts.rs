//! What a host's cache takes or gives at once: a load's first seconds, faster than the drive ever is for longer.
//!
//! A page cache answers for a second or so at the speed of memory, and what is counted above it looks like a drive that falls from a speed it
//! never had. What a drive does itself before it is throttled, or its write cache is full, is one speed each time.

use std::collections::BTreeMap;

use super::{LEVEL_S, Piece, Stretch};

/// Faster than the drive is for longer by the first factor; the second makes heights of bursts more than one speed.
const FASTER: f64 = 1.1;
const UNLIKE: f64 = 1.2;
/// So many bursts show whether they are of one speed.
const LEAST: usize = 3;

/// Takes bursts in which loads begin for as fast as what comes next.
pub(super) fn level(pieces: &mut [Piece], stretches: &[Stretch]) {
    let op = |piece: &Piece| stretches[piece.stretch].op;
    let mut kept: BTreeMap<u8, f64> = BTreeMap::new();
    for piece in pieces.iter().filter(|piece| piece.span_s() >= LEVEL_S) {
        let fastest = kept.entry(op(piece) as u8).or_default();
        *fastest = fastest.max(piece.level);
    }
    let mut bursts: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    for (at, pair) in pieces.windows(2).enumerate() {
        let (burst, next) = (&pair[0], &pair[1]);
        let before = at.checked_sub(1).map(|before| &pieces[before]);
        let begins = before.is_none_or(|before| before.stretch != burst.stretch || before.stopped);
        let usual = kept.get(&(op(burst) as u8)).copied().unwrap_or(f64::INFINITY).max(next.level);
        if begins && next.stretch == burst.stretch && burst.span_s() < LEVEL_S && burst.level > FASTER * usual
        {
            bursts.entry(op(burst) as u8).or_default().push(at);
        }
    }
    for bursts in bursts.into_values() {
        let heights = || bursts.iter().map(|at| pieces[*at].level);
        let (low, high) = (heights().fold(f64::INFINITY, f64::min), heights().fold(0.0, f64::max));
        if bursts.len() >= LEAST && high >= UNLIKE * low {
            bursts.iter().for_each(|at| pieces[*at].level = pieces[at + 1].level);
        }
    }
}
