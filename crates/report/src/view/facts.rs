//! What was run on what, as lists of name and value, from the manifest.

use measure::record::{DriveFacts, EndReason, LinkFacts, Manifest, Origin, ThermalSettings};
use measure::{Bytes, Instant};

use super::settings::threshold;
use super::{FactGroup, Reproduce};
use crate::format;

/// All groups, in the order a reader asks for them.
pub(super) fn groups(manifest: &Manifest) -> Vec<FactGroup> {
    [drive(manifest), plan(manifest), settings(manifest), link(manifest), host(manifest), clock(manifest)]
        .into_iter()
        .filter(|group| !group.facts.is_empty())
        .collect()
}

/// How the run ended, where a reader has to know.
pub(super) fn ending(manifest: &Manifest) -> Option<String> {
    let Some(end) = &manifest.end else {
        return Some("The run was cut short or is still under way: its end is missing.".to_owned());
    };
    let at = format::seconds(Instant::from_ns(end.t_ns).as_secs_f64());
    let what = match end.reason {
        EndReason::Completed => return None,
        EndReason::Interrupted => format!("The run was interrupted at {at}"),
        EndReason::SafetyLimit => format!("The thermal limit stopped the run at {at}"),
        EndReason::WriteLimit => format!("The limit of written bytes stopped the run at {at}"),
        EndReason::DeviceFailed => format!("The drive failed at {at}, which ended the run"),
        EndReason::RecordFailed => format!("The record could not be written on, which ended the run at {at}"),
    };
    Some(match &end.detail {
        Some(detail) => format!("{what}: {}.", detail.trim_end_matches('.')),
        None => format!("{what}."),
    })
}

/// The command and the files that run the same thing again.
pub(super) fn reproduce(manifest: &Manifest) -> Reproduce {
    let mut files = Vec::new();
    let plan = if manifest.plan_toml.is_empty() {
        manifest.plan_name.clone()
    } else {
        files.push(("plan.toml".to_owned(), manifest.plan_toml.clone()));
        "plan.toml".to_owned()
    };
    let address = match &manifest.origin {
        Origin::Twin { profile_toml, .. } if !profile_toml.is_empty() => {
            files.push(("profile.toml".to_owned(), profile_toml.clone()));
            "twin:profile.toml".to_owned()
        }
        _ => manifest.address.clone(),
    };
    let command = match &manifest.governor {
        Some(governor) => {
            format!("heatsoak govern {} --below {}K {}", quoted(&address), governor.below_k, quoted(&plan))
        }
        None => format!("heatsoak run {} --drive {}", quoted(&plan), quoted(&address)),
    };
    Reproduce { command: Some(command), files }
}

/// A word as a shell takes it, whatever is in it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn drive(manifest: &Manifest) -> FactGroup {
    let DriveFacts { kind, model, serial, firmware, size_bytes, block_bytes, .. } = &manifest.drive;
    let facts = &manifest.drive;
    let mut list = List::new("Drive");
    list.add("address", manifest.address.clone());
    list.add("reached as", kind.clone());
    list.add_some("model", model.clone());
    list.add_some("serial number", serial.clone());
    list.add_some("firmware", firmware.clone());
    list.add_some("world wide name", facts.wwn.clone());
    list.add("size under load", format!("{} ({size_bytes} B)", format::amount(*size_bytes as f64)));
    list.add("block size", format!("{block_bytes} B"));
    list.add_some("warning threshold (WCTEMP)", facts.warning_k.map(threshold));
    list.add_some("critical threshold (CCTEMP)", facts.critical_k.map(threshold));
    list.add_some(
        "host may set TMT1 and TMT2",
        facts.hctm.map(|can| if can { "yes" } else { "no" }.to_owned()),
    );
    if let (Some(low), Some(high)) = (facts.tmt_min_k, facts.tmt_max_k) {
        list.add("range of TMT1 and TMT2", format!("{} to {}", threshold(low), threshold(high)));
    }
    list.add_some("fast write cache, stated", facts.slc_bytes.map(|bytes| Bytes::new(bytes).to_string()));
    if let Origin::Twin { profile, seed, .. } = &manifest.origin {
        list.add("simulated from profile", profile.clone());
        list.add("seed", seed.to_string());
    }
    list.group
}

fn plan(manifest: &Manifest) -> FactGroup {
    let mut list = List::new("Plan");
    list.add("name", manifest.plan_name.clone());
    for (index, phase) in manifest.phases.iter().enumerate() {
        let mut text = phase.what.clone();
        if let Some(rate) = phase.rate_limit_bytes_per_s {
            text.push_str(&format!(", at most {}", format::speed(Some(rate))));
        }
        if phase.buffered {
            text.push_str(", through the page cache");
        }
        match (phase.start_ns, phase.end_ns) {
            (Some(start), Some(end)) => text.push_str(&format!("; {} to {}", at(start), at(end))),
            (Some(start), None) => text.push_str(&format!("; from {}, its end is missing", at(start))),
            (None, _) => text.push_str("; did not begin"),
        }
        if let Some(why) = &phase.ended_by {
            text.push_str(&format!(", ended by {}", why.replace('_', " ")));
        }
        list.add(&format!("phase {}: {}", index + 1, phase.name), text);
    }
    list.add("interval", format!("{} ms", format::cell(Some(manifest.interval_ns as f64 / 1e6), 0)));
    list.add("thermal limit", manifest.stop_at_k.map_or_else(|| "none".to_owned(), threshold));
    list.group
}

fn settings(manifest: &Manifest) -> FactGroup {
    let mut list = List::new("Settings");
    let after = manifest.settings.after.as_ref();
    let mut row = |name: &str, value: &dyn Fn(&ThermalSettings) -> Option<String>| {
        let before = value(&manifest.settings.before);
        let set = value(&manifest.settings.set);
        if before.is_none() && set.is_none() {
            return;
        }
        let before = before.unwrap_or_else(|| "not known".to_owned());
        let set = set.map_or_else(|| "left as it was".to_owned(), |set| format!("set to {set}"));
        let after = after.and_then(value).unwrap_or_else(|| "not known".to_owned());
        list.add(name, format!("before {before}; {set}; after {after}"));
    };
    row("TMT1 (light throttling)", &|s| s.tmt1_k.map(threshold));
    row("TMT2 (heavy throttling)", &|s| s.tmt2_k.map(threshold));
    row("power state", &|s| s.power_state.map(|state| state.to_string()));
    list.group
}

fn link(manifest: &Manifest) -> FactGroup {
    let mut list = List::new("Link");
    let described = |link: &LinkFacts| {
        let ceiling = format::speed(Some(link.ceiling_bytes_per_s));
        match link.possible_bytes_per_s {
            Some(possible) if possible > link.ceiling_bytes_per_s => {
                format!("{}: up to {ceiling}, {} would be possible", link.name, format::speed(Some(possible)))
            }
            _ => format!("{}: up to {ceiling}", link.name),
        }
    };
    list.add_some("at the start", manifest.link.as_ref().map(described));
    list.add_some("at the end", manifest.link_end.as_ref().map(described));
    list.group
}

fn host(manifest: &Manifest) -> FactGroup {
    let mut list = List::new("Host");
    if let Some(host) = &manifest.host {
        list.add("name", host.hostname.clone());
        list.add("kernel", host.kernel.clone());
        list.add_some("processor", host.cpu.clone());
        list.add("processors in use", host.cpu_count.to_string());
        list.add_some("memory", host.memory_bytes.map(|bytes| Bytes::new(bytes).to_string()));
    }
    list.group
}

fn clock(manifest: &Manifest) -> FactGroup {
    let mut list = List::new("Clock and record");
    let anchor = &manifest.clock_anchor;
    match anchor.monotonic_ns {
        Some(monotonic) => {
            list.add("began", format::utc(anchor.wall_unix_ns));
            list.add(
                "clock anchor",
                format!("{} ns since 1970 is {monotonic} ns of CLOCK_MONOTONIC", anchor.wall_unix_ns),
            );
        }
        None => list.add("time", "simulated: counted from the start of the run".to_owned()),
    }
    if let Origin::VirtualSsd { time_scale, bandwidth_scale, .. } = &manifest.origin
        && (*time_scale, *bandwidth_scale) != (1, 1)
    {
        list.add(
            "scale",
            format!(
                "times and bytes are the drive's: {time_scale} s of it pass in one of the host's, and \
                 {bandwidth_scale} B of it stand for one; latencies have the host's share in them, stretched as well"
            ),
        );
    }
    if let Some(end) = &manifest.end {
        list.add("ended", format!("at {}", at(end.t_ns)));
    }
    list.add("written by", format!("heatsoak {}, schema {}", manifest.heatsoak_version, manifest.schema));
    list.group
}

fn at(ns: u64) -> String {
    format::seconds(Instant::from_ns(ns).as_secs_f64())
}

/// A group under construction.
struct List {
    group: FactGroup,
}

impl List {
    const fn new(title: &'static str) -> Self {
        Self { group: FactGroup { title, facts: Vec::new() } }
    }

    fn add(&mut self, name: &str, value: String) {
        self.group.facts.push((name.to_owned(), value));
    }

    fn add_some(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_command_survives_the_shell() {
        assert_eq!(quoted("twin:ssd1"), "twin:ssd1");
        assert_eq!(quoted("file:/tmp/a?size=4GiB"), "'file:/tmp/a?size=4GiB'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
