//! A phase in words and in the record's terms.

use measure::Bytes;
use measure::record::PhaseFacts;

use super::{Extent, Load, Mix, Order, Phase, Region, Sizes};

impl Phase {
    /// What it does, in one line for people: "sequential write, 1 MiB, depth 64, first 256 GiB".
    pub fn what(&self) -> String {
        if self.loads.is_empty() {
            return "idle".to_owned();
        }
        self.loads.iter().map(Load::what).collect::<Vec<_>>().join(" + ")
    }

    /// What the manifest keeps of a phase that has not begun.
    pub fn facts(&self) -> PhaseFacts {
        let occurs = |op| self.loads.iter().any(|load| load.mix.ops().any(|one| one == op));
        let mut ops: Vec<String> = measure::record::Op::ALL
            .into_iter()
            .filter(|op| occurs(*op))
            .map(|op| op.name().to_owned())
            .collect();
        if ops.is_empty() {
            ops.push(measure::record::Op::Idle.name().to_owned());
        }
        PhaseFacts {
            name: self.name.clone(),
            ops,
            what: self.what(),
            rate_limit_bytes_per_s: self.rate_limit(),
            buffered: self.loads.iter().any(|load| !load.direct),
            start_ns: None,
            end_ns: None,
            ended_by: None,
            round: None,
            tracked: false,
            within_cache: self.is_within_cache(),
        }
    }

    /// Whether it writes, and nowhere but to a range that is as large as the fast write cache.
    fn is_within_cache(&self) -> bool {
        let writes = |load: &&Load| load.mix.ops().any(|op| op == measure::record::Op::Write);
        let range = |load: &Load| load.region;
        let of_cache = |region: Region| region.len == Some(Extent::Slc) && region.start != Extent::Slc;
        let ranges: Vec<Region> = self.loads.iter().filter(writes).map(range).collect();
        ranges.first().is_some_and(|first| of_cache(*first) && ranges.iter().all(|range| range == first))
    }

    /// The limit of all loads together; `None` as soon as one has none.
    fn rate_limit(&self) -> Option<f64> {
        let limits: Option<Vec<f64>> = self.loads.iter().map(Load::rate_limit).collect();
        limits.filter(|limits| !limits.is_empty()).map(|limits| limits.iter().sum())
    }
}

impl Load {
    /// The stricter of its two limits, in bytes a second.
    pub(super) fn rate_limit(&self) -> Option<f64> {
        // At most: the mean I/O of a split access is no larger than either.
        let io_bytes = self.sizes.mean().min(f64::from(self.io_max()));
        let by_ios = self.rate_iops.map(|iops| iops * io_bytes);
        match (self.rate.map(measure::BytesPerSec::as_f64), by_ios) {
            (Some(rate), Some(by_ios)) => Some(rate.min(by_ios)),
            (rate, by_ios) => rate.or(by_ios),
        }
    }

    fn what(&self) -> String {
        let order = match self.order {
            Order::Sequential => "sequential",
            Order::Random => "random",
        };
        let mut parts = vec![format!("{order} {}", mix(self.mix)), sizes(&self.sizes)];
        if let Some(split) = self.split {
            parts.push(format!("split into {split}"));
        }
        parts.push(format!("depth {}", self.depth.as_usize()));
        if self.threads > 1 {
            parts.push(format!("{} threads", self.threads));
        }
        parts.extend(region(self.region));
        if let Some(rate) = self.rate {
            parts.push(format!("at most {rate}"));
        }
        if let Some(iops) = self.rate_iops {
            parts.push(format!("at most {iops} I/Os a second"));
        }
        if !self.direct {
            parts.push("buffered".to_owned());
        }
        parts.join(", ")
    }
}

impl Sizes {
    /// The mean I/O in bytes over many draws; 0 for an empty list.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(size) => f64::from(*size),
            Self::Weighted(list) => {
                let weights: f64 = list.iter().map(|(_, weight)| f64::from(*weight)).sum();
                let sum: f64 = list.iter().map(|(size, weight)| f64::from(*size) * f64::from(*weight)).sum();
                if weights > 0.0 { sum / weights } else { 0.0 }
            }
            // Mean of a log-uniform distribution: (b - a) / ln(b / a); its limit for b = a is a.
            Self::LogUniform { min, max, .. } if min < max => {
                let (min, max) = (f64::from(*min), f64::from(*max));
                (max - min) / (max / min).ln()
            }
            Self::LogUniform { min, .. } => f64::from(*min),
            Self::Uniform { min, max, .. } => f64::midpoint(f64::from(*min), f64::from(*max)),
        }
    }
}

fn mix(mix: Mix) -> String {
    let shares = [(mix.read, "read"), (mix.write, "write"), (mix.trim, "trim")];
    match shares.into_iter().find(|(share, _)| *share == 100) {
        Some((_, op)) => op.to_owned(),
        None => {
            let parts = shares.into_iter().filter(|(share, _)| *share > 0);
            parts.map(|(share, op)| format!("{share} % {op}")).collect::<Vec<_>>().join(" and ")
        }
    }
}

fn sizes(sizes: &Sizes) -> String {
    let size = |bytes: u32| Bytes::new(bytes.into());
    match sizes {
        Sizes::Fixed(bytes) => size(*bytes).to_string(),
        Sizes::Weighted(list) => {
            list.iter().map(|(bytes, _)| size(*bytes).to_string()).collect::<Vec<_>>().join(" or ")
        }
        Sizes::LogUniform { min, max, .. } | Sizes::Uniform { min, max, .. } => {
            format!("{} to {}", size(*min), size(*max))
        }
    }
}

fn region(region: Region) -> Option<String> {
    let from_start = matches!(region.start, Extent::Bytes(Bytes::ZERO) | Extent::Fraction(0.0));
    match (from_start, region.len) {
        (true, None) => None,
        (true, Some(Extent::Slc)) => Some("as much as fits the fast write cache".to_owned()),
        (true, Some(len)) => Some(format!("first {}", extent(len))),
        (false, None) => Some(format!("from {} on", extent(region.start))),
        (false, Some(len)) => Some(format!("{} from {} on", extent(len), extent(region.start))),
    }
}

fn extent(extent: Extent) -> String {
    match extent {
        Extent::Bytes(bytes) => bytes.to_string(),
        // Two decimals of a percent are a tenth of a gigabyte on a drive of a terabyte.
        Extent::Fraction(fraction) => format!("{} %", (fraction * 1e4).round() / 1e2),
        Extent::Slc => "the size of the fast write cache".to_owned(),
    }
}

#[cfg(test)]
mod test {
    use measure::BytesPerSec;

    use super::*;
    use crate::Plan;

    fn first(text: &str) -> Phase {
        Plan::from_toml(text, "x.toml").expect("a plan").phases.remove(0)
    }

    #[test]
    fn a_phase_is_told_in_one_line() {
        let phase = first(
            "[[phase]]\nop = \"write\"\nblock_size = \"1MiB\"\ndepth = 64\nregion = \"256GiB\"\nlaps = 1",
        );
        assert_eq!(phase.what(), "sequential write, 1 MiB, depth 64, first 256 GiB");
        let phase = first(
            "[[phase]]\nop = \"mixed\"\norder = \"random\"\nmix = { read = 70, write = 30 }\nblock_sizes = { min = \"4KiB\", max = \"1MiB\" }\nregion = { start = \"12.5%\" }\nrate = \"50MB/s\"\ndirect = false\nthreads = 2",
        );
        assert_eq!(
            phase.what(),
            "random 70 % read and 30 % write, 4 KiB to 1 MiB, depth 1, 2 threads, from 12.5 % on, at most 50 MB/s, buffered"
        );
        let phase =
            first("[[phase]]\nop = \"read\"\nblock_size = \"1MiB\"\nsplit = \"64KiB\"\nrate_iops = 2");
        assert_eq!(
            phase.what(),
            "sequential read, 1 MiB, split into 64 KiB, depth 1, at most 2 I/Os a second"
        );
        assert_eq!(phase.facts().rate_limit_bytes_per_s, Some(131_072.0));
        assert_eq!(first("[[phase]]\nop = \"idle\"").what(), "idle");
    }

    #[test]
    fn facts_list_each_operation_once_and_add_up_limits() {
        let load = "[[phase.load]]\nop = \"read\"\nblock_size = \"1MiB\"\n";
        let facts = first(&format!("[[phase]]\n{load}rate = \"5MB/s\"\n{load}rate_iops = 2\n")).facts();
        assert_eq!(facts.ops, ["read"]);
        assert_eq!(facts.rate_limit_bytes_per_s, Some(5e6 + 2.0 * 1_048_576.0));
        let facts = first(&format!("[[phase]]\n{load}rate = \"5MB/s\"\n{load}direct = false\n")).facts();
        assert_eq!((facts.rate_limit_bytes_per_s, facts.buffered), (None, true));
        let facts = first("[[phase]]\nop = \"idle\"").facts();
        assert_eq!(
            (facts.ops.as_slice(), facts.rate_limit_bytes_per_s),
            (["idle".to_owned()].as_slice(), None)
        );
    }

    #[test]
    fn the_stricter_limit_counts() {
        let mut load = Load::new("x", Order::Random, Mix::READ, Sizes::Weighted(vec![(4096, 1), (8192, 3)]));
        assert_eq!(load.rate_limit(), None);
        load.rate_iops = Some(10.0);
        assert_eq!(load.rate_limit(), Some(71_680.0));
        load.rate = Some(BytesPerSec::new(1000.0));
        assert_eq!(load.rate_limit(), Some(1000.0));
    }
}
