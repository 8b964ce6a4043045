//! Plan to TOML, everything filled in, in the order in which people read a plan.

use std::fmt::Write;
use std::time::Duration;

use measure::record::ThermalSettings;
use measure::{Bytes, BytesPerSec, Kelvin, Seed};

use super::words::{DATA, OPS, ORDERS, SHARINGS, word};
use crate::{Extent, Load, Order, Phase, Plan, PowerSource, Region, Sizes, Sweep, TelemetryPlan};

pub(super) fn plan(plan: &Plan) -> String {
    let mut out = Lines(String::new());
    out.key("name", quote(&plan.name));
    out.key("description", quote(&plan.description));
    out.key("interval", duration(plan.interval));
    out.key("seed", seed(plan.seed));
    out.optional("stop_at", plan.stop_at.map(temperature));
    out.key("stop_unwatched", duration(plan.stop_unwatched));
    out.key("max_errors", plan.max_errors.to_string());
    out.key("record_ops", plan.record_ops.to_string());
    out.optional("drive", plan.drive.as_deref().map(quote));
    if !plan.notes.is_empty() {
        let notes: String = plan.notes.iter().map(|note| format!("    {},\n", quote(note))).collect();
        out.key("notes", format!("[\n{notes}]"));
    }
    out.heading("[telemetry]");
    telemetry(&mut out, &plan.telemetry);
    if plan.settings != ThermalSettings::default() {
        out.heading("[settings]");
        thermal(&mut out, &plan.settings);
    }
    if let Some(sweep) = &plan.sweep {
        self::sweep(&mut out, sweep);
    }
    let rounds = plan.rounds.as_ref().map(|rounds| (rounds, rounds.rolled_up(plan)));
    let once = rounds.as_ref().map_or(&plan.phases[..], |(_, (before, ..))| before);
    for phase in once {
        self::phase(&mut out, "phase", phase);
    }
    if let Some((rounds, (_, phases, tracked))) = &rounds {
        out.heading("[rounds]");
        out.key("at_most", rounds.at_most().to_string());
        out.key("until_steady", quote(tracked));
        phases.iter().for_each(|phase| self::phase(&mut out, "rounds.phase", phase));
    }
    out.0
}

fn telemetry(out: &mut Lines, plan: &TelemetryPlan) {
    out.key("smart_period", duration(plan.smart_period));
    out.key("hwmon_period", duration(plan.hwmon_period));
    out.key("blockstat_period", duration(plan.blockstat_period));
    let path = |path: &std::path::Path| quote(&path.to_string_lossy());
    out.optional(
        "power",
        plan.power.as_ref().map(|source| match source {
            PowerSource::Hwmon { path: file, period } => {
                format!("{{ hwmon = {}, period = {} }}", path(file), duration(*period))
            }
            PowerSource::Command { argv, period } => {
                let words = list(argv.iter().map(|word| quote(word)));
                format!("{{ command = {words}, period = {} }}", duration(*period))
            }
            PowerSource::Csv { path: file } => format!("{{ csv = {} }}", path(file)),
        }),
    );
}

fn thermal(out: &mut Lines, settings: &ThermalSettings) {
    let tmt = |kelvin| if kelvin == 0 { quote("off") } else { temperature(Kelvin::from_kelvin(kelvin)) };
    out.optional("tmt1", settings.tmt1_k.map(tmt));
    out.optional("tmt2", settings.tmt2_k.map(tmt));
    out.optional("power_state", settings.power_state.map(|state| state.to_string()));
}

fn sweep(out: &mut Lines, sweep: &Sweep) {
    out.heading("[sweep]");
    out.key("deallocate", sweep.deallocate.to_string());
    out.optional("cool_to", sweep.cool_to.map(temperature));
    out.key("cool_at_most", duration(sweep.cool_at_most));
    for setting in &sweep.settings {
        out.heading("[[sweep.setting]]");
        out.key("name", quote(&setting.name));
        thermal(out, &setting.thermal);
        out.optional("link", setting.link.map(rate));
        out.optional("ambient", setting.ambient.map(temperature));
    }
}

fn phase(out: &mut Lines, table: &str, phase: &Phase) {
    out.heading(&format!("[[{table}]]"));
    out.key("name", quote(&phase.name));
    let ends = |out: &mut Lines| {
        out.optional("duration", phase.duration.map(duration));
        out.optional("start_delay", (!phase.start_delay.is_zero()).then(|| duration(phase.start_delay)));
        out.optional("until_below", phase.until_below.map(temperature));
    };
    match phase.loads.as_slice() {
        [] => {
            out.key("op", quote("idle"));
            ends(out);
        }
        [only] if only.name == phase.name && only.duration.is_none() => {
            load(out, only);
            ends(out);
        }
        loads => {
            ends(out);
            for one in loads {
                out.heading(&format!("[[{table}.load]]"));
                out.key("name", quote(&one.name));
                load(out, one);
                out.optional("duration", one.duration.map(duration));
            }
        }
    }
}

fn load(out: &mut Lines, load: &Load) {
    match OPS.iter().find(|(_, known)| *known == (load.order, load.mix)) {
        Some((op, _)) => out.key("op", quote(op)),
        None => {
            out.key("op", quote("mixed"));
            let mix = load.mix;
            out.key("mix", format!("{{ read = {}, write = {}, trim = {} }}", mix.read, mix.write, mix.trim));
            out.key("order", quote(word(&ORDERS, &load.order)));
        }
    }
    let io_size = |bytes: u32| size(Bytes::new(bytes.into()));
    let range = |min: u32, max: u32, step: u32, distribution: &str| {
        let (min, max, step) = (io_size(min), io_size(max), io_size(step));
        format!("{{ min = {min}, max = {max}, step = {step}, distribution = {} }}", quote(distribution))
    };
    match &load.sizes {
        Sizes::Fixed(bytes) => out.key("block_size", io_size(*bytes)),
        Sizes::Weighted(sizes) => {
            let entries = sizes
                .iter()
                .map(|(bytes, weight)| format!("{{ size = {}, weight = {weight} }}", io_size(*bytes)));
            out.key("block_sizes", list(entries));
        }
        Sizes::LogUniform { min, max, step } => {
            out.key("block_sizes", range(*min, *max, *step, "log-uniform"));
        }
        Sizes::Uniform { min, max, step } => out.key("block_sizes", range(*min, *max, *step, "uniform")),
    }
    out.key("depth", load.depth.as_usize().to_string());
    out.key("threads", load.threads.to_string());
    out.key("sharing", quote(word(&SHARINGS, &load.sharing)));
    out.key("region", region(&load.region));
    out.optional("align", load.align.map(size));
    out.optional("rate", load.rate.map(rate));
    out.optional("rate_iops", load.rate_iops.map(|iops| format!("{iops:?}")));
    out.optional("bytes", load.bytes.map(size));
    out.optional("laps", load.laps.map(|laps| laps.to_string()));
    out.key("think_time", duration(load.think_time));
    if load.order == Order::Random || !load.visit_once {
        out.key("visit_once", load.visit_once.to_string());
    }
    out.key("data", quote(word(&DATA, &load.data)));
    out.key("direct", load.direct.to_string());
    out.optional("seed", load.seed.map(seed));
}

/// The text under construction.
struct Lines(String);

impl Lines {
    fn heading(&mut self, heading: &str) {
        self.0.push('\n');
        self.0.push_str(heading);
        self.0.push('\n');
    }

    fn key(&mut self, key: &str, value: impl AsRef<str>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.0, "{key} = {}", value.as_ref());
    }

    fn optional(&mut self, key: &str, value: Option<String>) {
        if let Some(value) = value {
            self.key(key, value);
        }
    }
}

fn region(region: &Region) -> String {
    let start = extent(region.start);
    match region.len {
        Some(len) => format!("{{ start = {start}, len = {} }}", extent(len)),
        None => format!("{{ start = {start} }}"),
    }
}

fn extent(extent: Extent) -> String {
    match extent {
        Extent::Bytes(bytes) => size(bytes),
        Extent::Slc => quote("slc"),
        Extent::Fraction(fraction) => {
            let percent = format!("{}%", fraction * 100.0);
            // Where the detour over percent would not come back exactly, the fraction itself is written.
            match measure::parse::percent(&percent) {
                Ok(back) if back == fraction => quote(&percent),
                _ => format!("{fraction:?}"),
            }
        }
    }
}

fn seed(seed: Seed) -> String {
    // TOML's integers end at 2^63 - 1.
    let value = seed.as_u64();
    if i64::try_from(value).is_ok() { value.to_string() } else { quote(&value.to_string()) }
}

fn temperature(temperature: Kelvin) -> String {
    quote(&format!("{}C", temperature.as_whole_celsius()))
}

/// The unit that leaves the smallest whole number; bytes where nothing divides evenly.
pub(crate) fn whole_bytes(bytes: u64) -> String {
    const UNITS: [(&str, u64); 8] = [
        ("TiB", 1 << 40),
        ("TB", 1_000_000_000_000),
        ("GiB", 1 << 30),
        ("GB", 1_000_000_000),
        ("MiB", 1 << 20),
        ("MB", 1_000_000),
        ("KiB", 1 << 10),
        ("kB", 1000),
    ];
    let unit = UNITS.into_iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}

fn size(size: Bytes) -> String {
    quote(&whole_bytes(size.as_u64()))
}

fn rate(rate: BytesPerSec) -> String {
    let rate = rate.as_f64();
    // Whole numbers up to 2^53 are exact in a double, and so is their product with a unit.
    let text = if rate.fract() == 0.0 && rate < 9e15 { whole_bytes(rate as u64) } else { format!("{rate}B") };
    quote(&format!("{text}/s"))
}

fn duration(span: Duration) -> String {
    let (s, ns) = (span.as_secs(), span.subsec_nanos());
    let text = match (s, ns) {
        (0, 0) => "0s".to_owned(),
        (s, 0) if s.is_multiple_of(3600) => format!("{}h", s / 3600),
        (s, 0) if s.is_multiple_of(60) => format!("{}m", s / 60),
        (s, 0) => format!("{s}s"),
        (0, ns) if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
        (0, ns) if ns.is_multiple_of(1000) => format!("{}us", ns / 1000),
        (0, ns) => format!("{ns}ns"),
        (s, ns) => format!("{s}.{ns:09}s"),
    };
    quote(&text)
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A basic string on one line (TOML 1.0, "String").
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
