//! Accesses that take far longer than their size and neighbours explain.
//!
//! What an access of its size takes is the lower quartile of its octave and operation in the phase, which half of the
//! accesses may stall without moving. How slow the drive is at the moment is the lower quartile of that ratio among the
//! accesses before it or behind it, whichever is slower: throttling and a full cache are a level, no stall. An access
//! stalls that takes four times what both explain, and 5 ms longer.

use std::collections::BTreeMap;

use measure::record::OpRow;
use trace::{Phase, SegmentOp};

use super::{StallClustering, StallFindings, StallOwner, seconds};

/// So many times what size and neighbours explain. NAND reads that are tried again and erases that are suspended take two
/// to three times as long.
const TIMES: f64 = 4.0;
/// And so much longer: below it are single NAND operations (an erase takes 3 to 10 ms).
const LONGER_S: f64 = 5e-3;
/// Neighbours on each side; at depth more, as a pause holds up all that are in flight.
const NEIGHBOURS_MIN: usize = 64;
const NEIGHBOURS_MAX: usize = 4096;
const NEIGHBOURS_IN_FLIGHT: f64 = 8.0;
/// Fewer accesses of an octave give no quartile: the next smaller octave is taken with it.
const OCTAVE_MIN: usize = 16;
/// Fewer pauses tell nothing about how they follow one another.
const PAUSES_MIN: usize = 5;

/// Which of the accesses of one operation, in order of time, stalled.
pub fn stalled(group: &[&OpRow]) -> Vec<bool> {
    if group.is_empty() {
        return Vec::new();
    }
    let typical = typical(group);
    let ratio: Vec<f64> = group.iter().zip(&typical).map(|(row, typical)| seconds(row) / typical).collect();
    let level = level(&ratio, neighbours(group));
    let is_stalled = |index: usize| {
        let explained_s = typical[index] * level[index].max(1.0);
        let took_s = seconds(group[index]);
        took_s > TIMES * explained_s && took_s - explained_s > LONGER_S
    };
    (0..group.len()).map(is_stalled).collect()
}

pub(super) fn octave(row: &OpRow) -> u32 {
    row.len.max(1).ilog2()
}

/// What accesses of its size take, in seconds, for each access.
fn typical(group: &[&OpRow]) -> Vec<f64> {
    let mut by_octave: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in group {
        by_octave.entry(octave(row)).or_default().push(seconds(row));
    }
    let mut quartiles: BTreeMap<u32, f64> = BTreeMap::new();
    let mut pool: Vec<f64> = Vec::new();
    for (octave, times) in by_octave {
        pool = if times.len() >= OCTAVE_MIN { times } else { [pool, times].concat() };
        quartiles.insert(octave, lower_quartile(&mut pool.clone()));
    }
    // A clock shows no less than a microsecond.
    group.iter().map(|row| quartiles[&octave(row)].max(1e-6)).collect()
}

fn lower_quartile(values: &mut [f64]) -> f64 {
    let rank = values.len() / 4;
    *values.select_nth_unstable_by(rank, f64::total_cmp).1
}

fn neighbours(group: &[&OpRow]) -> usize {
    let waited_s: f64 = group.iter().map(|row| seconds(row)).sum();
    let begin = group.first().map_or(0.0, |row| row.t.as_secs_f64());
    let span_s = group.last().map_or(0.0, |row| row.t.as_secs_f64() + seconds(row)) - begin;
    let in_flight = if span_s > 0.0 { waited_s / span_s } else { 1.0 };
    ((in_flight * NEIGHBOURS_IN_FLIGHT) as usize).clamp(NEIGHBOURS_MIN, NEIGHBOURS_MAX)
}

/// How slow the drive was around each access: the slower of the lower quartiles before it and behind it, in steps of a
/// quarter of the neighbourhood, so that the work does not grow with it.
fn level(ratio: &[f64], neighbours: usize) -> Vec<f64> {
    let step = neighbours / 4;
    let quartile = |from: usize| {
        let to = (from + neighbours).min(ratio.len());
        lower_quartile(&mut ratio[from.min(to - 1)..to].to_vec())
    };
    let starts = ratio.len().div_ceil(step);
    let windows: Vec<f64> = (0..starts).map(|start| quartile(start * step)).collect();
    let at = |index: usize| {
        let behind = windows[index / step];
        let before = (index / step).checked_sub(4).map_or(0.0, |start| windows[start]);
        f64::max(behind, before)
    };
    (0..ratio.len()).map(at).collect()
}

/// What stalled, in figures.
pub(super) fn findings(
    phase: &Phase,
    op: SegmentOp,
    owner: StallOwner,
    group: &[&OpRow],
    stalled: &[bool],
) -> StallFindings {
    let mut times: Vec<(f64, f64)> = group
        .iter()
        .zip(stalled)
        .filter(|(_, stalled)| **stalled)
        .map(|(row, _)| (row.t.as_secs_f64(), row.t.as_secs_f64() + seconds(row)))
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let pauses = merged(&times);
    let mut lengths: Vec<f64> = times.iter().map(|(from_s, to_s)| to_s - from_s).collect();
    lengths.sort_by(f64::total_cmp);
    let mut decades = [0; 6];
    for length_s in &lengths {
        decades[(length_s.log10().floor() + 3.0).clamp(0.0, 5.0) as usize] += 1;
    }
    let covered_s = pauses.iter().fold(0.0, |sum, (from_s, to_s)| sum + (to_s - from_s));
    let apart: Vec<f64> = pauses.windows(2).map(|two| two[1].0 - two[0].0).collect();
    StallFindings {
        phase: phase.name.clone(),
        op,
        accesses: group.len() as u64,
        stalled: times.len() as u64,
        pauses: pauses.len() as u64,
        longest_s: lengths.last().copied(),
        median_s: lengths.get(lengths.len() / 2).copied(),
        share_of_time: (covered_s / (phase.end_s - phase.start_s).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0),
        decades,
        clustering: clustering(&apart),
        every_s: (apart.len() + 1 >= PAUSES_MIN).then(|| apart.iter().sum::<f64>() / apart.len() as f64),
        owner,
    }
}

/// Stretches that overlap are one.
fn merged(times: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut pauses: Vec<(f64, f64)> = Vec::new();
    for (from_s, to_s) in times {
        match pauses.last_mut() {
            Some(last) if *from_s <= last.1 => last.1 = last.1.max(*to_s),
            _ => pauses.push((*from_s, *to_s)),
        }
    }
    pauses
}

fn clustering(apart: &[f64]) -> Option<StallClustering> {
    if apart.len() + 1 < PAUSES_MIN {
        return None;
    }
    let count = apart.len() as f64;
    let mean = apart.iter().sum::<f64>() / count;
    let variance = apart.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count;
    Some(match variance.sqrt() / mean {
        ..0.5 => StallClustering::Clocked,
        1.5.. => StallClustering::Bursts,
        _ => StallClustering::Random,
    })
}
