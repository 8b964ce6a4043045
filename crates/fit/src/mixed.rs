//! Reads and writes at once: how fast that is where nothing slows it down, and what it says of each alone.
//!
//! A drive is taken for one pipe, as twins have it: each byte takes its operation's time, whatever goes beside it. What a mix
//! reaches beyond that, or falls short of it, is not modelled here.

use serde::{Deserialize, Serialize};

use crate::data::{Asked, LoadStep};
use crate::speed::FittedSpeed;

/// Mixes whose shares of reads differ by less are one.
pub(crate) const SAME_SHARE: f64 = 0.05;
/// Mixes that tell the speeds of both operations apart differ by more.
const APART_SHARE: f64 = 0.2;
/// A speed that follows from others is off by so much, as a share.
const DERIVED_SD: f64 = 0.05;

/// A mix of reads and writes that ran as fast as it went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeenMix {
    /// Share of the bytes that were read.
    pub read_share: f64,
    /// The fastest that it was, of both operations together, in GB/s.
    pub gb_per_s: f64,
    /// Whether that is its full speed.
    pub full: bool,
}

/// Speed of a mix of which `read_share` is read, in the unit of the speeds of reads and of writes alone.
pub(crate) fn together(read_share: f64, [read, write]: [f64; 2]) -> f64 {
    let time = |share: f64, speed: f64| if share > 0.0 { share / speed } else { 0.0 };
    1.0 / (time(read_share, read) + time(1.0 - read_share, write))
}

/// Full speed of what a second asks for, by those of the operations; 0 where it asks for less.
pub(crate) fn full_at(step: &LoadStep, full: [f64; 2]) -> f64 {
    match step.asked {
        Asked::Read => full[0],
        Asked::Write => full[1],
        Asked::Mixed => together(step.read_share, full),
        Asked::Nothing | Asked::Limited => 0.0,
    }
}

/// Share of its time that a mix reads.
pub(crate) fn reading_time(read_share: f64, full: [f64; 2]) -> f64 {
    if read_share > 0.0 { read_share / full[0] * together(read_share, full) } else { 0.0 }
}

/// Full speeds of reads and writes, those that no run showed alone from the mixes: not seen, but such that a drive of them
/// runs the mixes as fast as they ran.
pub(crate) fn completed(alone: [FittedSpeed; 2], mixes: &[SeenMix]) -> [FittedSpeed; 2] {
    // One that was held back all along is the least that it may be.
    let full: Vec<SeenMix> = mixes.iter().copied().filter(|mix| mix.full).collect();
    let mixes = if full.is_empty() { mixes } else { &full };
    let Some(first) = mixes.first() else { return alone };
    let derived = match alone.map(|speed| speed.seen) {
        [true, true] => return alone,
        [true, false] => [None, other(1.0 - first.read_share, first.gb_per_s, alone[0].value)],
        [false, true] => [other(first.read_share, first.gb_per_s, alone[1].value), None],
        // Nothing tells them apart, so both are as fast as the mix: then it is as fast whatever its share.
        [false, false] => both(mixes).unwrap_or([first.gb_per_s; 2]).map(Some),
    };
    let with = |op: usize| match derived[op].filter(|value| *value > alone[op].value) {
        Some(value) if !alone[op].seen => FittedSpeed { value, sd: DERIVED_SD * value, seen: false },
        _ => alone[op],
    };
    [with(0), with(1)]
}

/// Speed of the operation that has `share` of a mix, where the other one alone is known.
fn other(share: f64, mix: f64, known: f64) -> Option<f64> {
    let time = 1.0 / mix - (1.0 - share) / known;
    (time > 0.0).then(|| share / time)
}

/// Speeds of both from two mixes that differ.
fn both(mixes: &[SeenMix]) -> Option<[f64; 2]> {
    let (a, b) = (mixes.first()?, mixes.last()?);
    let apart = a.read_share - b.read_share;
    if apart.abs() < APART_SHARE {
        return None;
    }
    // Time for a byte of the mix: the write's, and the difference for the share that is read.
    let more = (1.0 / a.gb_per_s - 1.0 / b.gb_per_s) / apart;
    let write = 1.0 / a.gb_per_s - a.read_share * more;
    let read = write + more;
    (read > 0.0 && write > 0.0).then(|| [1.0 / read, 1.0 / write])
}

#[cfg(test)]
mod test {
    use super::*;

    /// Goal: speeds that explain the mixes, whatever of them was seen alone. Method: reads of 3 GB/s, writes of 1.5.
    #[test]
    fn mixes_tell_what_was_not_seen_alone() {
        let mix = |read_share| SeenMix { read_share, gb_per_s: together(read_share, [3.0, 1.5]), full: true };
        let seen = |value| FittedSpeed { value, sd: 0.0, seen: true };
        let none = FittedSpeed::default();
        let of = |alone, mixes: &[SeenMix]| completed(alone, mixes).map(|speed| speed.value);
        let near = |found: [f64; 2], wanted: [f64; 2]| {
            assert!((found[0] - wanted[0]).abs() + (found[1] - wanted[1]).abs() < 1e-9, "{found:?}");
        };
        near(of([seen(3.0), none], &[mix(0.5)]), [3.0, 1.5]);
        near(of([none, seen(1.5)], &[mix(0.3)]), [3.0, 1.5]);
        near(of([none, none], &[mix(0.3), mix(0.7)]), [3.0, 1.5]);
        near(of([none, none], &[mix(0.5)]), [2.0, 2.0]);
        near(of([seen(2.8), seen(1.4)], &[mix(0.5)]), [2.8, 1.4]);
        let slow = SeenMix { gb_per_s: 0.1, full: false, ..mix(0.5) };
        near(of([none, none], &[slow, mix(0.5)]), [2.0, 2.0]);
    }
}
