//! A phase in a plan file: its table has the keys of its one load as well, or a list of loads.

use std::num::{NonZeroU16, NonZeroU32};
use std::time::Duration;

use measure::nearest::did_you_mean;
use measure::{Bytes, BytesPerSec, Kelvin, QueueDepth, Seed};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess};
use serde::{Deserialize, Serialize};
use toml::Value;

use super::quantity::{IoSize, PlanValue, elements, optional, plain};
use crate::{Load, Mix, Order, Phase, Region, Sharing, Sizes, WriteData};

/// Operations that name order and mix in one word.
const OPS: [(&str, (Order, Mix)); 6] = [
    ("read", (Order::Sequential, Mix::READ)),
    ("write", (Order::Sequential, Mix::WRITE)),
    ("randread", (Order::Random, Mix::READ)),
    ("randwrite", (Order::Random, Mix::WRITE)),
    ("trim", (Order::Sequential, Mix::TRIM)),
    ("randtrim", (Order::Random, Mix::TRIM)),
];

/// Keys that a phase has and a load has not.
pub(super) const PHASE_ALONE: [&str; 3] = ["start_delay", "until_below", "load"];

/// A `[[phase]]` or a `[[phase.load]]`.
#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PhaseTable {
    name: Option<String>,
    op: Option<String>,
    mix: Option<Mix>,
    order: Option<Order>,
    #[serde(with = "optional")]
    block_size: Option<IoSize>,
    #[serde(with = "optional")]
    block_sizes: Option<BlockSizes>,
    #[serde(with = "optional")]
    split: Option<IoSize>,
    depth: Option<QueueDepth>,
    threads: Option<NonZeroU16>,
    sharing: Option<Sharing>,
    #[serde(with = "optional")]
    region: Option<Region>,
    #[serde(with = "optional")]
    align: Option<IoSize>,
    #[serde(with = "optional")]
    rate: Option<BytesPerSec>,
    rate_iops: Option<f64>,
    #[serde(with = "optional")]
    bytes: Option<Bytes>,
    laps: Option<NonZeroU32>,
    #[serde(with = "optional")]
    think_time: Option<Duration>,
    visit_once: Option<bool>,
    data: Option<WriteData>,
    direct: Option<bool>,
    #[serde(with = "optional")]
    seed: Option<Seed>,
    #[serde(with = "optional")]
    duration: Option<Duration>,
    #[serde(with = "optional")]
    start_delay: Option<Duration>,
    #[serde(with = "optional")]
    until_below: Option<Kelvin>,
    #[serde(deserialize_with = "loads")]
    load: Option<Vec<Load>>,
}

fn loads<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Load>>, D::Error> {
    elements(deserializer).map(Some)
}

/// Reads a list of phases; one of several loads that has no name is numbered.
pub(crate) fn phases<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Phase>, D::Error> {
    let read = (1..).zip(elements::<MaybeNamed, D>(deserializer)?);
    let named = read.map(|(number, MaybeNamed { name, phase })| Phase {
        name: name.unwrap_or_else(|| format!("phase {number}")),
        ..phase
    });
    Ok(named.collect())
}

#[derive(Deserialize)]
#[serde(try_from = "PhaseTable")]
struct MaybeNamed {
    name: Option<String>,
    phase: Phase,
}

impl TryFrom<PhaseTable> for MaybeNamed {
    type Error = String;

    fn try_from(mut table: PhaseTable) -> Result<Self, String> {
        let mut phase = Phase {
            name: String::new(),
            loads: Vec::new(),
            duration: table.duration.take(),
            start_delay: table.start_delay.take().unwrap_or_default(),
            until_below: table.until_below.take(),
        };
        if let Some(loads) = table.load.take() {
            if let Some(key) = table.keys_of_a_load().first() {
                return Err(format!(
                    "the phase has the key `{key}` and [[phase.load]] beside it; move the key into the loads"
                ));
            }
            phase.loads = loads;
            return Ok(Self { name: table.name, phase });
        }
        if table.op.as_deref() == Some("idle") {
            if let Some(key) = table.keys_of_a_load().iter().find(|key| *key != "op") {
                return Err(format!("`{key}`: an idle phase does no I/O, so it has no `{key}`"));
            }
            return Ok(Self { name: table.name.or(table.op), phase });
        }
        let load = Load::try_from(table)?;
        Ok(Self { name: Some(load.name.clone()), phase: Phase { loads: vec![load], ..phase } })
    }
}

impl PhaseTable {
    /// The keys that describe a load and are there.
    fn keys_of_a_load(&self) -> Vec<String> {
        let load = Self { name: None, ..self.clone() };
        toml::Table::try_from(load).map_or_else(|_| Vec::new(), |table| table.keys().cloned().collect())
    }

    /// The word of `op` with the order and the mix it stands for.
    fn operation(&self) -> Result<(&str, Order, Mix), String> {
        let word = self.op.as_deref().ok_or("the key `op` is missing; write for example op = \"read\"")?;
        if word == "mixed" {
            let mix = self.mix.ok_or(
                "op = \"mixed\" needs the key `mix`; write for example mix = { read = 70, write = 30 }",
            )?;
            let sum = u32::from(mix.read) + u32::from(mix.write) + u32::from(mix.trim);
            if sum != 100 {
                return Err(format!("`mix`: the shares add up to {sum}, not to 100 percent"));
            }
            let order = self
                .order
                .ok_or("op = \"mixed\" needs the key `order`; write for example order = \"random\"")?;
            return Ok((word, order, mix));
        }
        let Some((_, (order, mix))) = OPS.iter().find(|(name, _)| *name == word) else {
            let names: Vec<&str> = OPS.iter().map(|(name, _)| *name).chain(["mixed", "idle"]).collect();
            let hint = did_you_mean(word, names.iter().copied());
            return Err(format!("`op`: {word:?} is no operation; {hint}valid are {}", names.join(", ")));
        };
        match (&self.mix, &self.order) {
            (None, None) => Ok((word, *order, *mix)),
            (mix, _) => Err(format!(
                "`{}`: op = {word:?} says that already; it goes with op = \"mixed\"",
                if mix.is_some() { "mix" } else { "order" }
            )),
        }
    }
}

impl TryFrom<PhaseTable> for Load {
    type Error = String;

    fn try_from(table: PhaseTable) -> Result<Self, String> {
        let given = [table.start_delay.is_some(), table.until_below.is_some(), table.load.is_some()];
        if let Some((key, _)) = PHASE_ALONE.into_iter().zip(given).find(|(_, given)| *given) {
            return Err(format!(
                "`{key}`: it does not belong in a load; it belongs in the [[phase]] itself, before its first [[phase.load]]"
            ));
        }
        if let Some(iops) = table.rate_iops.filter(|iops| !(iops.is_finite() && *iops > 0.0)) {
            return Err(format!("`rate_iops`: {iops} is not above zero"));
        }
        let (word, order, mix) = table.operation()?;
        let sizes = match (table.block_size, &table.block_sizes) {
            (Some(IoSize(size)), None) => Sizes::Fixed(size),
            (None, Some(BlockSizes(sizes))) => sizes.clone(),
            (Some(_), Some(_)) => {
                return Err("`block_sizes`: `block_size` is there too; one of them is enough".to_owned());
            }
            (None, None) => {
                return Err("no block size is given; write for example block_size = \"1MiB\", or `block_sizes` for several".to_owned());
            }
        };
        let usual = Self::new(table.name.as_deref().unwrap_or(word), order, mix, sizes);
        Ok(Self {
            split: table.split.map(|IoSize(size)| Bytes::new(size.into())),
            depth: table.depth.unwrap_or(usual.depth),
            threads: table.threads.map_or(usual.threads, NonZeroU16::get),
            sharing: table.sharing.unwrap_or(usual.sharing),
            region: table.region.unwrap_or(usual.region),
            align: table.align.map(|IoSize(size)| Bytes::new(size.into())),
            rate: table.rate,
            rate_iops: table.rate_iops,
            bytes: table.bytes,
            laps: table.laps.map(NonZeroU32::get),
            duration: table.duration,
            think_time: table.think_time.unwrap_or(usual.think_time),
            visit_once: table.visit_once.unwrap_or(usual.visit_once),
            data: table.data.unwrap_or(usual.data),
            direct: table.direct.unwrap_or(usual.direct),
            seed: table.seed,
            ..usual
        })
    }
}

impl From<Load> for PhaseTable {
    fn from(load: Load) -> Self {
        let op = OPS.iter().find(|(_, known)| *known == (load.order, load.mix)).map(|(op, _)| *op);
        let visits = load.order == Order::Random || !load.visit_once;
        let (block_size, block_sizes) = match load.sizes {
            Sizes::Fixed(size) => (Some(IoSize(size)), None),
            several => (None, Some(BlockSizes(several))),
        };
        Self {
            name: Some(load.name),
            op: Some(op.unwrap_or("mixed").to_owned()),
            mix: op.is_none().then_some(load.mix),
            order: op.is_none().then_some(load.order),
            block_size,
            block_sizes,
            split: load.split.and_then(|split| u32::try_from(split.as_u64()).ok()).map(IoSize),
            depth: Some(load.depth),
            threads: NonZeroU16::new(load.threads),
            sharing: Some(load.sharing),
            region: Some(load.region),
            align: load.align.and_then(|align| u32::try_from(align.as_u64()).ok()).map(IoSize),
            rate: load.rate,
            rate_iops: load.rate_iops,
            bytes: load.bytes,
            laps: load.laps.and_then(NonZeroU32::new),
            think_time: Some(load.think_time),
            visit_once: visits.then_some(load.visit_once),
            data: Some(load.data),
            direct: Some(load.direct),
            seed: load.seed,
            duration: load.duration,
            start_delay: None,
            until_below: None,
            load: None,
        }
    }
}

impl From<Phase> for PhaseTable {
    fn from(phase: Phase) -> Self {
        let table = match phase.loads.as_slice() {
            [] => Self { op: Some("idle".to_owned()), ..Self::default() },
            [only] if only.name == phase.name && only.duration.is_none() => Self::from(only.clone()),
            _ => Self { load: Some(phase.loads), ..Self::default() },
        };
        Self {
            name: Some(phase.name),
            duration: phase.duration,
            start_delay: Some(phase.start_delay).filter(|delay| !delay.is_zero()),
            until_below: phase.until_below,
            ..table
        }
    }
}

/// Several sizes: a range, or a list with weights.
#[derive(Clone)]
struct BlockSizes(Sizes);

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SizeRange {
    #[serde(with = "plain")]
    min: IoSize,
    #[serde(with = "plain")]
    max: IoSize,
    #[serde(default, with = "optional")]
    step: Option<IoSize>,
    #[serde(default)]
    distribution: Distribution,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Distribution {
    #[default]
    LogUniform,
    Uniform,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct WeightedSize {
    #[serde(with = "plain")]
    size: IoSize,
    weight: Option<NonZeroU32>,
}

impl PlanValue for BlockSizes {
    const WANTED: &'static str =
        "{ min = \"4KiB\", max = \"1MiB\" }, or a list such as [{ size = \"4KiB\", weight = 60 }]";

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        let range = SizeRange::deserialize(MapAccessDeserializer::new(table))?;
        // Without a step: in multiples of the smallest, which keeps every I/O as aligned as that one is.
        let (IoSize(min), IoSize(max), IoSize(step)) =
            (range.min, range.max, range.step.unwrap_or(range.min));
        if max < min {
            return Err(serde::de::Error::custom(format_args!(
                "`max` ({max} B) is less than `min` ({min} B)"
            )));
        }
        if !min.is_multiple_of(step) || !max.is_multiple_of(step) {
            return Err(serde::de::Error::custom(format_args!(
                "`min` ({min} B) and `max` ({max} B) are not both multiples of `step` ({step} B)"
            )));
        }
        Ok(Self(match range.distribution {
            Distribution::LogUniform => Sizes::LogUniform { min, max, step },
            Distribution::Uniform => Sizes::Uniform { min, max, step },
        }))
    }

    fn from_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Self, A::Error> {
        let list: Vec<WeightedSize> = elements(SeqAccessDeserializer::new(list))?;
        if list.is_empty() {
            return Err(serde::de::Error::custom(
                "the list is empty; write for example [{ size = \"4KiB\", weight = 60 }]",
            ));
        }
        let weighted = |entry: WeightedSize| (entry.size.0, entry.weight.map_or(1, NonZeroU32::get));
        Ok(Self(Sizes::Weighted(list.into_iter().map(weighted).collect())))
    }

    fn to_value(&self) -> Value {
        let range = |min: u32, max: u32, step: u32, distribution| {
            Value::try_from(SizeRange {
                min: IoSize(min),
                max: IoSize(max),
                step: Some(IoSize(step)),
                distribution,
            })
        };
        let weighted =
            |size: u32, weight: u32| WeightedSize { size: IoSize(size), weight: NonZeroU32::new(weight) };
        let value = match &self.0 {
            Sizes::Fixed(size) => Value::try_from([weighted(*size, 1)]),
            Sizes::Weighted(list) => Value::try_from(
                list.iter().map(|(size, weight)| weighted(*size, *weight)).collect::<Vec<_>>(),
            ),
            Sizes::LogUniform { min, max, step } => range(*min, *max, *step, Distribution::LogUniform),
            Sizes::Uniform { min, max, step } => range(*min, *max, *step, Distribution::Uniform),
        };
        value.expect("texts and numbers are values of TOML")
    }
}
