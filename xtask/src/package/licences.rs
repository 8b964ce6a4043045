//! The licence texts of everything that is linked in, one file: who gives a binary away owes them.
//!
//! What is linked in is what the binary's package needs to run, macros and build scripts aside, and the standard library.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{Release, files};

/// How files with a licence begin.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Writes `THIRD-PARTY-LICENSES.txt` of `heatsoak`.
pub(super) fn write_ours(release: &Release, metadata: &Value) -> Result<()> {
    let assets = release.root.join("crates/report/assets");
    let more = [("uPlot, in reports", "uplot/LICENSE"), ("the font in pictures", "font/LICENSE")];
    let more = more.map(|(what, path)| (what, assets.join(path)));
    write(metadata, "heatsoak", &more, &release.out.join("THIRD-PARTY-LICENSES.txt"))
}

/// Writes the licences of what is linked into a program, and of what it brings beside crates.
pub(super) fn write(metadata: &Value, program: &str, more: &[(&str, PathBuf)], to: &Path) -> Result<()> {
    let mut by_text: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut without = Vec::new();
    let packages = linked(metadata, program)?;
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let name = title(package);
        let manifest = package["manifest_path"].as_str().context("a package has no manifest")?;
        let texts = texts(Path::new(manifest).parent().context("a manifest lies in a folder")?)?;
        if texts.is_empty() {
            let authors: Vec<&str> =
                package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let licence = package["license"].as_str().with_context(|| format!("{name} states no licence"))?;
            without.push(format!("{name}: {licence}; authors: {}", authors.join(", ")));
        }
        for text in texts {
            by_text.entry(text).or_default().insert(name.clone());
        }
    }
    for (what, path) in more {
        let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        by_text.entry(text).or_default().insert((*what).to_owned());
    }
    ensure!(by_text.len() > 5, "hardly any licence was found: are the crates' sources here (cargo fetch)?");
    let mut text = format!(
        "Licences of what is linked into {program}, which is itself under MIT or Apache-2.0.\n\
         The standard library of Rust is linked in as well: MIT or Apache-2.0, Copyright (c) The Rust Project Developers.\n",
    );
    if !without.is_empty() {
        text +=
            "\nWithout a text of their own in what they publish; the texts are those of the others below:\n";
        without.iter().for_each(|line| text += &format!("- {line}\n"));
    }
    for (licence, names) in &by_text {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let _ = write!(text, "\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), licence.trim_end());
    }
    Ok(fs::write(to, text)?)
}

fn texts(folder: &Path) -> Result<Vec<String>> {
    let is_licence = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        NAMES.iter().any(|begin| name.starts_with(begin))
    };
    let paths = files(folder)?;
    let texts = paths.iter().filter(is_licence).map(|path| {
        let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    });
    texts.collect()
}

/// Name and version.
pub(super) fn title(package: &Value) -> String {
    let text = |name: &str| package[name].as_str().unwrap_or_default().to_owned();
    format!("{} {}", text("name"), text("version"))
}

/// The packages that are linked into the program of this package, sorted.
pub(super) fn linked<'a>(metadata: &'a Value, program: &str) -> Result<Vec<&'a Value>> {
    let packages: BTreeMap<&str, &Value> = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = metadata["resolve"]["nodes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let ours = packages.iter().find(|(_, package)| package["name"] == program);
    let mut waiting = vec![*ours.with_context(|| format!("the workspace has no package {program}"))?.0];
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        let needs = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        let runs_with = needs.filter(|need| {
            need["dep_kinds"].as_array().is_none_or(|kinds| kinds.iter().any(|kind| kind["kind"].is_null()))
        });
        let is_macro = |id: &&str| {
            let targets =
                packages.get(id).and_then(|package| package["targets"].as_array()).into_iter().flatten();
            targets.into_iter().any(|target| target["kind"][0] == "proc-macro")
        };
        waiting.extend(runs_with.filter_map(|need| need["pkg"].as_str()).filter(|id| !is_macro(id)));
    }
    let mut linked: Vec<&Value> = seen.iter().filter_map(|id| packages.get(id).copied()).collect();
    linked.sort_by_key(|package| title(package));
    Ok(linked)
}
