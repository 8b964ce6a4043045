//! What a plan will do to a drive: worked out before anything is opened.

use std::ops::Range;

use measure::Bytes;

use crate::error::DriveError;
use plan::check::resolve;
use plan::{Load, Plan, Sizes};

/// What a plan will do to a drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Regions that are read, merged and in order.
    pub(crate) reads: Vec<Range<u64>>,
    pub(crate) writes: bool,
    pub(crate) trims: bool,
    /// Whether any load goes past the page cache.
    pub(crate) direct: bool,
    /// Whether any load goes through it.
    pub(crate) buffered: bool,
}

impl Needs {
    /// What `plan` will do to a drive of `size` with a fast write cache of `slc`, where known.
    pub(crate) fn new(plan: &Plan, size: Bytes, slc: Option<Bytes>) -> Result<Self, DriveError> {
        let mut needs = Self::default();
        let mut reads = Vec::new();
        for load in plan.phases.iter().flat_map(|phase| &phase.loads) {
            let region = resolve(load.region, size, slc)
                .map_err(|why| DriveError::Region { load: load.name.clone(), why })?;
            if load.mix.read > 0 {
                reads.push(region);
            }
            needs.writes |= load.mix.write > 0;
            needs.trims |= load.mix.trim > 0;
            needs.direct |= load.direct;
            needs.buffered |= !load.direct;
        }
        needs.reads = merged(reads);
        Ok(needs)
    }

    /// Whether the drive has to be opened for more than reading.
    pub(crate) const fn changes(&self) -> bool {
        self.writes || self.trims
    }
}

/// Whether every size that can be drawn, and every offset, is a multiple of `block`.
pub(crate) fn fits_block(load: &Load, block: u32) -> bool {
    let multiple = |value: u32| value.is_multiple_of(block);
    let sizes = match &load.sizes {
        Sizes::Fixed(size) => multiple(*size),
        Sizes::Weighted(list) => list.iter().all(|(size, _)| multiple(*size)),
        Sizes::LogUniform { min, step, .. } | Sizes::Uniform { min, step, .. } => {
            multiple(*min) && multiple(*step)
        }
    };
    sizes && load.align.is_none_or(|align| align.as_u64().is_multiple_of(u64::from(block)))
}

fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod test {
    use super::*;
    use plan::{Extent, Mix, Order, Phase, Region};

    fn load(mix: Mix, region: Region) -> Load {
        Load { region, ..Load::new("l", Order::Random, mix, Sizes::Fixed(4096)) }
    }

    fn part(start: u64, len: u64) -> Region {
        Region { start: Extent::Bytes(Bytes::new(start)), len: Some(Extent::Bytes(Bytes::new(len))) }
    }

    #[test]
    fn needs_are_the_sum_of_all_loads() {
        let loads = vec![
            load(Mix::READ, part(500, 100)),
            load(Mix::READ, part(0, 100)),
            load(Mix { read: 50, write: 50, trim: 0 }, part(50, 100)),
            Load { direct: false, ..load(Mix::TRIM, Region::ALL) },
        ];
        let phase = Phase { loads, ..Phase::idle("p", std::time::Duration::from_secs(1)) };
        let plan = Plan { phases: vec![phase], ..Plan::new("p") };
        let needs = Needs::new(&plan, Bytes::new(1000), None).expect("fits");
        let wanted =
            Needs { reads: vec![0..150, 500..600], writes: true, trims: true, direct: true, buffered: true };
        assert_eq!(needs, wanted);
    }

    #[test]
    fn blocks_hold_for_every_size_and_the_alignment() {
        let mut load = load(Mix::READ, Region::ALL);
        assert!(fits_block(&load, 4096) && !fits_block(&load, 8192));
        load.align = Some(Bytes::new(512));
        assert!(!fits_block(&load, 4096));
        (load.align, load.sizes) = (None, Sizes::Uniform { min: 4096, max: 8192, step: 512 });
        assert!(!fits_block(&load, 4096) && fits_block(&load, 512));
    }
}
