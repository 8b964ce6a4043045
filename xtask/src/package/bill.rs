//! The bill of materials: what is linked in, with version, licence and checksum. CycloneDX 1.6, JSON.

use std::fs;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Release;
use super::licences::{linked, title};

/// Writes `heatsoak.cdx.json`.
pub(super) fn write(release: &Release, metadata: &Value) -> Result<()> {
    let lock = fs::read_to_string(release.root.join("Cargo.lock")).context("reading Cargo.lock")?;
    let lock: toml::Table = lock.parse().context("reading Cargo.lock")?;
    let locked = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock has no packages")?;
    let checksum = |name: &str, version: &str| {
        let is = |one: &&toml::Value| {
            one.get("name").and_then(toml::Value::as_str) == Some(name)
                && one.get("version").and_then(toml::Value::as_str) == Some(version)
        };
        locked.iter().find(is)?.get("checksum")?.as_str().map(str::to_owned)
    };
    let packages = linked(metadata, "heatsoak")?;
    let components = packages.iter().filter(|package| package["name"] != "heatsoak").map(|package| {
        let (name, version) =
            (package["name"].as_str().unwrap_or_default(), package["version"].as_str().unwrap_or_default());
        let mut component = json!({
            "type": "library",
            "bom-ref": title(package),
            "name": name,
            "version": version,
            "purl": format!("pkg:cargo/{name}@{version}"),
        });
        if let Some(licence) = package["license"].as_str() {
            component["licenses"] = json!([{ "expression": licence.replace('/', " OR ") }]);
        }
        if let Some(checksum) = checksum(name, version) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        component
    });
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "component": {
            "type": "application",
            "bom-ref": format!("heatsoak {}", release.version),
            "name": "heatsoak",
            "version": release.version,
            "licenses": [{ "expression": "MIT OR Apache-2.0" }],
        } },
        "components": components.collect::<Vec<_>>(),
    });
    Ok(fs::write(release.out.join("heatsoak.cdx.json"), serde_json::to_string_pretty(&bill)? + "\n")?)
}
