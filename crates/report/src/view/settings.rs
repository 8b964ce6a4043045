//! What tells one run of a comparison from another.
//!
//! A name for each run is made from what differs between them, so that a legend says "TMT1 65 °C, TMT2 70 °C"
//! and not "run 3".

use measure::record::{Manifest, Origin};

use crate::format;

/// Settings and conditions of one run, each as people name it: (name, value).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSettings(pub Vec<(String, String)>);

impl RunSettings {
    /// The settings of a recorded run.
    pub(super) fn from_manifest(manifest: &Manifest) -> Self {
        let mut list: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: String| list.push((name.to_owned(), value));
        add("drive", manifest.drive.model.clone().unwrap_or_else(|| manifest.address.clone()));
        if let Some(serial) = &manifest.drive.serial {
            add("serial", serial.clone());
        }
        if let Some(firmware) = &manifest.drive.firmware {
            add("firmware", firmware.clone());
        }
        add("plan", manifest.plan_name.clone());
        let (set, before) = (&manifest.settings.set, &manifest.settings.before);
        if let Some(tmt1) = set.tmt1_k.or(before.tmt1_k) {
            add("TMT1", threshold(tmt1));
        }
        if let Some(tmt2) = set.tmt2_k.or(before.tmt2_k) {
            add("TMT2", threshold(tmt2));
        }
        if let Some(state) = set.power_state.or(before.power_state) {
            add("power state", state.to_string());
        }
        if let Some(link) = &manifest.link {
            add("link", link.name.clone());
        }
        if let Some(stop) = manifest.stop_at_k {
            add("stop limit", format::temperature(Some(f64::from(stop))));
        }
        if let Origin::Twin { profile, seed, .. } = &manifest.origin {
            add("profile", profile.clone());
            add("seed", seed.to_string());
        }
        Self(list)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A thermal management temperature; 0 switches it off (NVMe Base 2.0, Feature 10h).
pub(super) fn threshold(kelvin: u16) -> String {
    if kelvin == 0 { "off".to_owned() } else { format::temperature(Some(f64::from(kelvin))) }
}

/// What comes with a drive, and is told only where its name does not tell runs apart.
const OF_THE_DRIVE: [&str; 6] = ["serial", "firmware", "link", "stop limit", "profile", "seed"];

fn all_differ(names: &[String]) -> bool {
    names.iter().enumerate().all(|(index, name)| !name.is_empty() && !names[..index].contains(name))
}

/// A name for each run from what differs between them, as far as it is known; numbered where two would be the same.
pub(crate) fn labels(runs: &[&RunSettings]) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in runs.iter().flat_map(|run| &run.0) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names.retain(|name| runs.windows(2).any(|pair| pair[0].get(name) != pair[1].get(name)));
    let described = |run: &RunSettings, names: &[&str]| {
        let parts = names.iter().filter_map(|name| match (*name, run.get(name)?) {
            ("drive" | "plan", value) => Some(value.to_owned()),
            (name, value) => Some(format!("{name} {value}")),
        });
        parts.collect::<Vec<_>>().join(", ")
    };
    let all = |names: &[&str]| runs.iter().map(|run| described(run, names)).collect::<Vec<String>>();
    // Other drives have other serial numbers, links and defaults: their names say it shorter.
    let of_all = |name: &str| !OF_THE_DRIVE.contains(&name) && runs.iter().all(|run| run.get(name).is_some());
    let few: Vec<&str> = names.iter().copied().filter(|name| of_all(name)).collect();
    let short = Some(all(&few)).filter(|short| names.contains(&"drive") && all_differ(short));
    let plain = short.unwrap_or_else(|| all(&names));
    let label = |(index, text): (usize, &String)| {
        let is_unique = plain.iter().filter(|other| *other == text).count() == 1;
        match (text.is_empty(), is_unique) {
            (true, _) => format!("run {}", index + 1),
            (false, true) => text.clone(),
            (false, false) => format!("{text} (run {})", index + 1),
        }
    };
    plain.iter().enumerate().map(label).collect()
}

/// The settings that all runs have, with the same value: (name, value).
pub(crate) fn common_settings<'a>(runs: &[&'a RunSettings]) -> Vec<(&'a str, &'a str)> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let all = first.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(name, value)| others.iter().all(|run| run.get(name) == Some(value))).collect()
}

#[cfg(test)]
mod test {
    use super::*;

    fn run(settings: &[(&str, &str)]) -> RunSettings {
        RunSettings(settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect())
    }

    #[test]
    fn a_run_is_named_by_what_differs() {
        let a = run(&[("drive", "SSD1"), ("TMT1", "65 °C"), ("TMT2", "70 °C")]);
        let b = run(&[("drive", "SSD1"), ("TMT1", "off"), ("TMT2", "85 °C")]);
        assert_eq!(labels(&[&a, &b]), ["TMT1 65 °C, TMT2 70 °C", "TMT1 off, TMT2 85 °C"]);
        assert_eq!(labels(&[&a, &a]), ["run 1", "run 2"]);
        assert_eq!(labels(&[&a]), ["run 1"]);
        assert_eq!(
            labels(&[&a, &b, &a]),
            ["TMT1 65 °C, TMT2 70 °C (run 1)", "TMT1 off, TMT2 85 °C", "TMT1 65 °C, TMT2 70 °C (run 3)"]
        );
    }

    /// Goal: a name that fits a legend. Method: a simulated drive beside a file of which next to nothing is known.
    #[test]
    fn runs_of_different_drives_are_named_by_these() {
        let twin =
            run(&[("drive", "SSD1"), ("serial", "T1"), ("plan", "quick"), ("TMT1", "off"), ("seed", "1")]);
        let file = run(&[("drive", "file:t.bin"), ("plan", "quick")]);
        assert_eq!(labels(&[&twin, &file]), ["SSD1", "file:t.bin"]);
        let other =
            run(&[("drive", "SSD1"), ("serial", "T2"), ("plan", "quick"), ("TMT1", "off"), ("seed", "1")]);
        assert_eq!(
            labels(&[&twin, &other, &file]),
            ["SSD1, serial T1, TMT1 off, seed 1", "SSD1, serial T2, TMT1 off, seed 1", "file:t.bin"]
        );
    }
}
