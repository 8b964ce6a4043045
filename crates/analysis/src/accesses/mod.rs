//! Single accesses: how fast each size is, and which take far longer than their size and neighbours explain.
//!
//! Made from the table of single I/Os, where a plan keeps one (`record_ops`). docs/METHODS.md has the definitions under
//! "Single accesses".
//! - `sizes`: a row for each octave of sizes, and the cloud that a scatter draws.
//! - `stalls`: accesses that waited.

mod sizes;
mod stalls;
#[cfg(test)]
mod test;

use measure::record::OpRow;
use serde::{Deserialize, Serialize};
use trace::{SegmentOp, Trace};

pub use stalls::stalled;

pub use sizes::{AccessCloud, CLOUD_SIZES_AN_OCTAVE, CLOUD_SPEEDS_A_DECADE};

/// What single accesses show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct AccessFindings {
    /// Stalls, an entry for each phase and operation.
    pub stalls: Vec<StallFindings>,
    /// Speed by size, an entry for each octave of each phase and operation.
    pub sizes: Vec<SizeOctave>,
}

/// Stalls of one operation in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StallFindings {
    /// The phase's name.
    pub phase: String,
    /// The operation.
    pub op: SegmentOp,
    /// Accesses that were looked at.
    pub accesses: u64,
    /// Those that stalled.
    pub stalled: u64,
    /// Pauses: stalled accesses that waited at the same time are one.
    pub pauses: u64,
    /// Longest access that stalled, in seconds.
    pub longest_s: Option<f64>,
    /// Median access that stalled, in seconds.
    pub median_s: Option<f64>,
    /// Share of the phase in which some access stalled.
    pub share_of_time: f64,
    /// Stalled accesses by decade: below 10 ms, 100 ms, 1 s, 10 s, 100 s, and longer.
    pub decades: [u64; 6],
    /// How pauses follow one another; `None` of fewer than five.
    pub clustering: Option<StallClustering>,
    /// Mean time between the beginnings of two pauses, in seconds.
    pub every_s: Option<f64>,
    /// Whose they are.
    pub owner: StallOwner,
}

/// How pauses follow one another, by the coefficient of variation of the time between their beginnings: a random process
/// has 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StallClustering {
    /// Below 0.5: periodic.
    Clocked,
    /// Between: at random.
    Random,
    /// Above 1.5: in bursts.
    Bursts,
}

/// Whose stalls they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StallOwner {
    /// The drive's: the accesses went past the page cache.
    Drive,
    /// The page cache's or the drive's: the accesses went through it.
    PageCache,
}

/// Speed of the accesses of one octave of sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SizeOctave {
    /// The phase's name.
    pub phase: String,
    /// The operation.
    pub op: SegmentOp,
    /// Sizes from this on, in bytes.
    pub from_bytes: u64,
    /// Accesses.
    pub accesses: u64,
    /// Speed of a single access in bytes per second: size over its time. Median.
    pub median_bytes_per_s: f64,
    /// 5 % are slower.
    pub p5_bytes_per_s: f64,
    /// 5 % are faster.
    pub p95_bytes_per_s: f64,
    /// Accesses a second, one by one: the median of one over its time.
    pub median_iops: f64,
}

/// What the single accesses of a run show, and their clouds; `None` without any.
pub fn accesses(trace: &Trace, ops: &[OpRow]) -> Option<(AccessFindings, Vec<AccessCloud>)> {
    let mut found = AccessFindings::default();
    let mut clouds = Vec::new();
    for (index, phase) in trace.phases.iter().enumerate() {
        for op in [measure::record::Op::Read, measure::record::Op::Write] {
            let mut group: Vec<&OpRow> = ops
                .iter()
                .filter(|row| row.phase as usize == index && row.op == op && row.errno.is_none())
                .collect();
            if group.is_empty() {
                continue;
            }
            group.sort_by_key(|row| row.t);
            let owner = if phase.buffered { StallOwner::PageCache } else { StallOwner::Drive };
            let stalled = stalls::stalled(&group);
            found.stalls.push(stalls::findings(phase, op.into(), owner, &group, &stalled));
            found.sizes.extend(sizes::octaves(&phase.name, op.into(), &group));
            clouds.extend(sizes::cloud(&phase.name, op.into(), &group));
        }
    }
    (!found.stalls.is_empty()).then_some((found, clouds))
}

/// Seconds from an access being made to its end.
fn seconds(row: &OpRow) -> f64 {
    row.span().as_secs_f64()
}
