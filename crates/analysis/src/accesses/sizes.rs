//! Speed by size: a row an octave, and the cloud that a scatter on logarithmic axes draws.

use std::collections::BTreeMap;

use measure::record::OpRow;
use trace::SegmentOp;

use super::{SizeOctave, seconds, stalls};

/// Cells of a cloud along sizes, in an octave.
pub const CLOUD_SIZES_AN_OCTAVE: f64 = 4.0;
/// Cells of a cloud along speeds, in a decade.
pub const CLOUD_SPEEDS_A_DECADE: f64 = 16.0;

/// How many accesses have about which size and time.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessCloud {
    /// The phase's name.
    pub phase: String,
    /// The operation.
    pub op: SegmentOp,
    /// Size in quarters of an octave (`4 log2 bytes`), speed in sixteenths of a decade (`16 log10 B/s`), and accesses.
    pub cells: Vec<(i32, i32, u32)>,
    /// The same with accesses a second in place of speed.
    pub iops_cells: Vec<(i32, i32, u32)>,
}

/// A row for each octave that occurs.
pub(super) fn octaves(phase: &str, op: SegmentOp, group: &[&OpRow]) -> Vec<SizeOctave> {
    let mut by_octave: BTreeMap<u32, Vec<(f64, f64)>> = BTreeMap::new();
    for row in group {
        let took_s = seconds(row).max(1e-9);
        by_octave.entry(stalls::octave(row)).or_default().push((f64::from(row.len) / took_s, 1.0 / took_s));
    }
    let row = |(octave, accesses): (u32, Vec<(f64, f64)>)| {
        let sorted = |of: fn(&(f64, f64)) -> f64| {
            let mut values: Vec<f64> = accesses.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let (speeds, iops) = (sorted(|access| access.0), sorted(|access| access.1));
        let rank = |values: &[f64], share: f64| {
            values[((share * values.len() as f64) as usize).min(values.len() - 1)]
        };
        SizeOctave {
            phase: phase.to_owned(),
            op,
            from_bytes: 1 << octave,
            accesses: accesses.len() as u64,
            median_bytes_per_s: rank(&speeds, 0.5),
            p5_bytes_per_s: rank(&speeds, 0.05),
            p95_bytes_per_s: rank(&speeds, 0.95),
            median_iops: rank(&iops, 0.5),
        }
    };
    by_octave.into_iter().map(row).collect()
}

/// The cloud of accesses of several sizes; `None` where all are of one.
pub(super) fn cloud(phase: &str, op: SegmentOp, group: &[&OpRow]) -> Option<AccessCloud> {
    let first = group.first()?.len;
    if group.iter().all(|row| row.len == first) {
        return None;
    }
    let count = |of: &dyn Fn(&OpRow) -> f64| {
        let mut cells: BTreeMap<(i32, i32), u32> = BTreeMap::new();
        for row in group {
            let size = (f64::from(row.len.max(1)).log2() * CLOUD_SIZES_AN_OCTAVE).floor() as i32;
            let value = (of(row).log10() * CLOUD_SPEEDS_A_DECADE).floor() as i32;
            *cells.entry((size, value)).or_default() += 1;
        }
        cells.into_iter().map(|((size, value), count)| (size, value, count)).collect()
    };
    Some(AccessCloud {
        phase: phase.to_owned(),
        op,
        cells: count(&|row| f64::from(row.len) / seconds(row).max(1e-9)),
        iops_cells: count(&|row| 1.0 / seconds(row).max(1e-9)),
    })
}
