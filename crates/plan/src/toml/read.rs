//! TOML to plan.

use std::path::Path;

use measure::nearest::did_you_mean;
use measure::record::ThermalSettings;
use measure::{QueueDepth, Seed};
use toml::de::DeTable;

use super::shape;
use super::table::{Field, Source, Table};
use super::words::{DATA, OPS, ORDERS, SHARINGS};
use crate::TelemetryPlan;
use crate::{
    Extent, Load, Mix, Order, Phase, Plan, PlanError, PowerSource, Region, Rounds, Setting, Sizes, Sweep,
};

pub(super) fn plan(text: &str, file: &str) -> Result<Plan, PlanError> {
    let source = Source { file, text };
    let document = DeTable::parse(text)
        .map_err(|error| source.error(error.span().unwrap_or(0..0), error.message().trim().to_owned()))?;
    let table = Table::new(source, &shape::PLAN, document.span(), document.get_ref())?;
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(file);
    let mut plan = Plan::new(stem);
    if let Some(field) = table.get("name") {
        plan.name = field.string()?.to_owned();
    }
    if let Some(field) = table.get("description") {
        plan.description = field.string()?.to_owned();
    }
    if let Some(field) = table.get("interval") {
        plan.interval = field.duration_above_zero()?;
    }
    if let Some(field) = table.get("seed") {
        plan.seed = seed(field)?;
    }
    if let Some(field) = table.get("stop_at") {
        plan.stop_at = Some(field.temperature()?);
    }
    if let Some(field) = table.get("stop_unwatched") {
        plan.stop_unwatched = field.duration_above_zero()?;
    }
    if let Some(field) = table.get("max_errors") {
        plan.max_errors = field.integer(0)?;
    }
    if let Some(field) = table.get("record_ops") {
        plan.record_ops = field.boolean()?;
    }
    if let Some(field) = table.get("drive") {
        plan.drive = Some(field.string()?.to_owned());
    }
    if let Some(field) = table.get("notes") {
        plan.notes =
            field.list()?.iter().map(|note| note.string().map(str::to_owned)).collect::<Result<_, _>>()?;
    }
    if let Some(field) = table.get("telemetry") {
        telemetry(&field.table(&shape::TELEMETRY)?, &mut plan.telemetry)?;
    }
    if let Some(field) = table.get("settings") {
        plan.settings = settings(&field.table(&shape::SETTINGS)?)?;
    }
    plan.sweep = table.get("sweep").map(|field| sweep(&field.table(&shape::SWEEP)?)).transpose()?;
    let rounds = table.get("rounds");
    match table.get("phase") {
        Some(field) => plan.phases = phases(&field.tables(&shape::PHASE)?)?,
        None if rounds.is_some() => {}
        None => {
            return Err(table
                .error("the plan has no [[phase]], so there is nothing to do; docs/PLANS.md has examples"));
        }
    }
    if let Some(field) = rounds {
        let table = field.table(&shape::ROUNDS)?;
        let name = "until_steady = \"write 4KiB\", the name of one of its phases";
        let until_steady = table.need("until_steady", name)?;
        let round = phases(
            &table
                .need("phase", "[[rounds.phase]] and below it op = \"randwrite\"")?
                .tables(&shape::PHASE)?,
        )?;
        let at_most = table.get("at_most").map_or(Ok(AT_MOST), |field| field.integer(1))?;
        let rounds = Rounds::unroll(&mut plan.phases, &round, at_most, until_steady.string()?);
        plan.rounds = Some(rounds.map_err(|why| until_steady.error(why))?);
    }
    Ok(plan)
}

/// PTS 2.0.2 goes on for 25 rounds at most.
const AT_MOST: u32 = 25;

fn phases(tables: &[Table<'_>]) -> Result<Vec<Phase>, PlanError> {
    let numbered = (1..).zip(tables);
    numbered.map(|(number, table)| phase(table, number)).collect()
}

fn seed(field: Field<'_>) -> Result<Seed, PlanError> {
    // TOML's integers end at 2^63 - 1; larger seeds are written as a text.
    match field.as_string() {
        Some(typed) => typed
            .parse()
            .map(Seed::new)
            .map_err(|_| field.error(format!("{typed:?} is not a whole number from 0 to {}", u64::MAX))),
        None => field.integer(0).map(Seed::new),
    }
}

fn telemetry(table: &Table<'_>, plan: &mut TelemetryPlan) -> Result<(), PlanError> {
    if let Some(field) = table.get("smart_period") {
        plan.smart_period = field.duration_above_zero()?;
    }
    if let Some(field) = table.get("hwmon_period") {
        plan.hwmon_period = field.duration_above_zero()?;
    }
    if let Some(field) = table.get("blockstat_period") {
        plan.blockstat_period = field.duration_above_zero()?;
    }
    if let Some(field) = table.get("power") {
        plan.power = Some(power(&field.table(&shape::POWER)?)?);
    }
    Ok(())
}

fn power(table: &Table<'_>) -> Result<PowerSource, PlanError> {
    // One reading a second is what NVMe's own power measurement and most meters give.
    let period = match table.get("period") {
        Some(field) => field.duration_above_zero()?,
        None => std::time::Duration::from_secs(1),
    };
    match (table.get("hwmon"), table.get("command"), table.get("csv")) {
        (Some(path), None, None) => Ok(PowerSource::Hwmon { path: path.path()?, period }),
        (None, Some(command), None) => {
            let argv: Vec<String> = command
                .list()?
                .iter()
                .map(|word| word.string().map(str::to_owned))
                .collect::<Result<_, _>>()?;
            if argv.is_empty() {
                return Err(
                    command.error("the command has no words; write for example [\"read-watts\", \"1\"]")
                );
            }
            Ok(PowerSource::Command { argv, period })
        }
        (None, None, Some(path)) if !table.has("period") => Ok(PowerSource::Csv { path: path.path()? }),
        (None, None, Some(_)) => Err(table.error("a CSV is merged when the run ends, so it has no `period`")),
        _ => Err(table.error("a power source is one of `hwmon`, `command` and `csv`")),
    }
}

fn settings(table: &Table<'_>) -> Result<ThermalSettings, PlanError> {
    // NVMe feature 10h: a zero in either half disables that half.
    let tmt = |field: Field<'_>| match field.as_string() {
        Some("off") => Ok(0),
        _ => field.temperature().map(measure::Kelvin::as_kelvin),
    };
    let power_state: Option<u8> = table.get("power_state").map(|field| field.integer(0)).transpose()?;
    // NVMe feature 02h, bits 4:0.
    if let (Some(state @ 32..), Some(field)) = (power_state, table.get("power_state")) {
        return Err(field.error(format!("{state} is no power state: NVMe has 0 to 31")));
    }
    Ok(ThermalSettings {
        tmt1_k: table.get("tmt1").map(tmt).transpose()?,
        tmt2_k: table.get("tmt2").map(tmt).transpose()?,
        power_state,
    })
}

fn sweep(table: &Table<'_>) -> Result<Sweep, PlanError> {
    let settings = table.need("setting", "[[sweep.setting]] and below it tmt1 = \"65C\", tmt2 = \"70C\"")?;
    let settings = settings.tables(&shape::SETTING)?;
    let mut sweep = Sweep::new(settings.iter().map(setting).collect::<Result<_, _>>()?);
    if let Some(field) = table.get("deallocate") {
        sweep.deallocate = field.boolean()?;
    }
    sweep.cool_to = table.get("cool_to").map(|field| field.temperature()).transpose()?;
    if let Some(field) = table.get("cool_at_most") {
        sweep.cool_at_most = field.duration_above_zero()?;
    }
    Ok(sweep)
}

fn setting(table: &Table<'_>) -> Result<Setting, PlanError> {
    let link = table.get("link").map(|field| field.rate()).transpose()?;
    let setting = Setting {
        name: table.get("name").map(|field| field.string()).transpose()?.unwrap_or_default().to_owned(),
        thermal: settings(table)?,
        link,
        ambient: table.get("ambient").map(|field| field.temperature()).transpose()?,
    };
    Ok(setting.named())
}

fn phase(table: &Table<'_>, number: usize) -> Result<Phase, PlanError> {
    let duration = table.get("duration").map(|field| field.duration()).transpose()?;
    let start_delay = table.get("start_delay").map(|field| field.duration()).transpose()?.unwrap_or_default();
    let until_below = table.get("until_below").map(|field| field.temperature()).transpose()?;
    let named = table.get("name").map(|field| field.string()).transpose()?;
    if let Some(loads) = table.get("load") {
        if let Some(key) = LOAD_ONLY.iter().find(|key| table.has(key)) {
            return Err(table.error(format!(
                "the phase has the key `{key}` and [[phase.load]] beside it; move the key into the loads"
            )));
        }
        let loads = loads
            .tables(&shape::LOAD)?
            .iter()
            .map(|table| {
                let mut load = load(table, None)?;
                load.duration = table.get("duration").map(|field| field.duration()).transpose()?;
                Ok(load)
            })
            .collect::<Result<_, _>>()?;
        let name = named.map_or_else(|| format!("phase {number}"), str::to_owned);
        return Ok(Phase { name, loads, duration, start_delay, until_below });
    }
    if table.get("op").and_then(|op| op.as_string()) == Some("idle") {
        if let Some(key) = LOAD_ONLY.iter().find(|key| **key != "op" && table.has(key)) {
            return Err(table.error(format!("an idle phase does no I/O, so it has no `{key}`")));
        }
        let name = named.unwrap_or("idle").to_owned();
        return Ok(Phase { name, loads: Vec::new(), duration, start_delay, until_below });
    }
    let load = load(table, named)?;
    Ok(Phase { name: load.name.clone(), loads: vec![load], duration, start_delay, until_below })
}

/// Keys of a phase that describe its one load.
const LOAD_ONLY: &[&str] = &[
    "op",
    "order",
    "mix",
    "block_size",
    "block_sizes",
    "depth",
    "threads",
    "sharing",
    "region",
    "align",
    "rate",
    "rate_iops",
    "bytes",
    "laps",
    "think_time",
    "visit_once",
    "data",
    "direct",
    "seed",
];

fn load(table: &Table<'_>, named: Option<&str>) -> Result<Load, PlanError> {
    let (word, order, mix) = operation(table)?;
    let name = match (named, table.get("name")) {
        (Some(name), _) => name,
        (None, Some(field)) => field.string()?,
        (None, None) => word,
    };
    let mut load = Load::new(name, order, mix, sizes(table)?);
    if let Some(field) = table.get("depth") {
        let depth = field.integer(1)?;
        load.depth = QueueDepth::new(depth).ok_or_else(|| field.error("a depth of zero does no I/O"))?;
    }
    if let Some(field) = table.get("threads") {
        load.threads = field.integer(1)?;
    }
    if let Some(field) = table.get("sharing") {
        load.sharing = field.choice(&SHARINGS)?;
    }
    if let Some(field) = table.get("region") {
        load.region = region(field)?;
    }
    load.align = table
        .get("align")
        .map(|field| field.io_size())
        .transpose()?
        .map(|size| measure::Bytes::new(size.into()));
    load.rate = table.get("rate").map(|field| field.rate()).transpose()?;
    load.rate_iops = table.get("rate_iops").map(|field| field.positive()).transpose()?;
    load.bytes = table.get("bytes").map(|field| field.size()).transpose()?;
    load.laps = table.get("laps").map(|field| field.integer(1)).transpose()?;
    if let Some(field) = table.get("think_time") {
        load.think_time = field.duration()?;
    }
    if let Some(field) = table.get("visit_once") {
        load.visit_once = field.boolean()?;
    }
    if let Some(field) = table.get("data") {
        load.data = field.choice(&DATA)?;
    }
    if let Some(field) = table.get("direct") {
        load.direct = field.boolean()?;
    }
    load.seed = table.get("seed").map(seed).transpose()?;
    Ok(load)
}

/// The word of `op` with the order and the mix it stands for.
fn operation<'a>(table: &Table<'a>) -> Result<(&'a str, Order, Mix), PlanError> {
    let field = table.need("op", "op = \"read\"")?;
    let word = field.string()?;
    if word == "mixed" {
        let mix = mix(table.need("mix", "mix = { read = 70, write = 30 }")?)?;
        let order = table.need("order", "order = \"random\"")?.choice(&ORDERS)?;
        return Ok((word, order, mix));
    }
    let Some((_, (order, mix))) = OPS.iter().find(|(name, _)| *name == word) else {
        let names = || OPS.iter().map(|(name, _)| *name).chain(["mixed", "idle"]);
        let hint = did_you_mean(word, names());
        let valid: Vec<&str> = names().collect();
        return Err(field.error(format!("{word:?} is no operation; {hint}valid are {}", valid.join(", "))));
    };
    for key in ["mix", "order"] {
        if let Some(extra) = table.get(key) {
            return Err(extra.error(format!("op = {word:?} says that already; it goes with op = \"mixed\"")));
        }
    }
    Ok((word, *order, *mix))
}

fn mix(field: Field<'_>) -> Result<Mix, PlanError> {
    let table = field.table(&shape::MIX)?;
    let share = |key| table.get(key).map_or(Ok(0_u8), |field: Field<'_>| field.integer(0));
    let mix = Mix { read: share("read")?, write: share("write")?, trim: share("trim")? };
    let sum = u32::from(mix.read) + u32::from(mix.write) + u32::from(mix.trim);
    if sum == 100 {
        Ok(mix)
    } else {
        Err(field.error(format!("the shares add up to {sum}, not to 100 percent")))
    }
}

fn sizes(table: &Table<'_>) -> Result<Sizes, PlanError> {
    match (table.get("block_size"), table.get("block_sizes")) {
        (Some(field), None) => field.io_size().map(Sizes::Fixed),
        (None, Some(field)) if field.is_table() => size_range(&field.table(&shape::SIZE_RANGE)?),
        (None, Some(field)) => weighted_sizes(field),
        (Some(_), Some(field)) => Err(field.error("`block_size` is there too; one of them is enough")),
        (None, None) => Err(table.error(
            "no block size is given; write for example block_size = \"1MiB\", or `block_sizes` for several",
        )),
    }
}

fn size_range(table: &Table<'_>) -> Result<Sizes, PlanError> {
    let min = table.need("min", "min = \"4KiB\"")?.io_size()?;
    let max = table.need("max", "max = \"1MiB\"")?.io_size()?;
    // Without a step: in multiples of the smallest, which keeps every I/O as aligned as that one is.
    let step = table.get("step").map(|field| field.io_size()).transpose()?.unwrap_or(min);
    if max < min {
        return Err(table.error(format!("`max` ({max} B) is less than `min` ({min} B)")));
    }
    if !min.is_multiple_of(step) || !max.is_multiple_of(step) {
        return Err(table.error(format!(
            "`min` ({min} B) and `max` ({max} B) are not both multiples of `step` ({step} B)"
        )));
    }
    let log_uniform = table
        .get("distribution")
        .map_or(Ok(true), |field| field.choice(&[("log-uniform", true), ("uniform", false)]))?;
    Ok(if log_uniform { Sizes::LogUniform { min, max, step } } else { Sizes::Uniform { min, max, step } })
}

fn weighted_sizes(field: Field<'_>) -> Result<Sizes, PlanError> {
    let mut list = Vec::new();
    for entry in field.list()? {
        let table = entry.table(&shape::WEIGHTED_SIZE)?;
        let size = table.need("size", "{ size = \"4KiB\", weight = 60 }")?.io_size()?;
        let weight = table.get("weight").map_or(Ok(1), |field| field.integer(1))?;
        list.push((size, weight));
    }
    if list.is_empty() {
        return Err(field.error("the list is empty; write for example [{ size = \"4KiB\", weight = 60 }]"));
    }
    Ok(Sizes::Weighted(list))
}

/// A table with start and length, or the length alone.
fn region(field: Field<'_>) -> Result<Region, PlanError> {
    if !field.is_table() {
        return Ok(Region { len: Some(extent(field)?), ..Region::ALL });
    }
    let table = field.table(&shape::REGION)?;
    let start = table.get("start").map_or(Ok(Region::ALL.start), extent)?;
    Ok(Region { start, len: table.get("len").map(extent).transpose()? })
}

fn extent(field: Field<'_>) -> Result<Extent, PlanError> {
    match field.as_string() {
        Some("slc") => Ok(Extent::Slc),
        Some(typed) if typed.trim().ends_with('%') => measure::parse::percent(typed)
            .map(Extent::Fraction)
            .map_err(|error| field.error(error.to_string())),
        Some(typed) => measure::parse::size(typed)
            .map(Extent::Bytes)
            .map_err(|error| field.error(format!("{error}; or a share such as 25%, or \"slc\""))),
        None => field.fraction().map(Extent::Fraction),
    }
}
