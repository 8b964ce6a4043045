//! The rule about licences: what we link may be given on under MIT OR Apache-2.0.
//!
//! Reads the licence expressions in full `cargo metadata`, as each package declares them; texts are
//! not compared. Vendored code carries its licence beside it and is for review.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;
use spdx::{Expression, Licensee, ParseMode};

use super::Finding;

/// The file that cargo-deny reads as well; what is allowed is written down once.
const DENY: &str = include_str!("../../../deny.toml");

/// The licences on the list.
fn allowed() -> Result<Vec<Licensee>> {
    let deny: toml::Table = toml::from_str(DENY).context("deny.toml")?;
    let list = deny.get("licenses").and_then(|licences| licences.get("allow"));
    let list = list.and_then(toml::Value::as_array).context("deny.toml has no [licenses] allow")?;
    let names = list.iter().filter_map(toml::Value::as_str);
    names.map(Licensee::parse).collect::<Result<_, _>>().context("the licences in deny.toml")
}

/// Findings about every package of full `cargo metadata`, ours included. What only tests use is not
/// given on with the tool: it is told, not held against the tree.
pub(super) fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let allowed = allowed()?;
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let linked = linked(metadata)?;
    let findings = packages.iter().filter_map(|package| {
        let finding = check_package(package, &allowed)?;
        let is_linked = package["id"].as_str().is_some_and(|id| linked.contains(id));
        Some(if is_linked { finding } else { finding.warning() })
    });
    Ok(findings.collect())
}

/// The packages that ours need outside their tests, ours included. Members that are never published are tools of the tree,
/// and nobody is given what they link.
fn linked(metadata: &Value) -> Result<BTreeSet<&str>> {
    let nodes = metadata["resolve"]["nodes"].as_array().context("`cargo metadata` resolves nothing")?;
    let nodes: BTreeMap<&str, &Value> =
        nodes.iter().filter_map(|node| Some((node["id"].as_str()?, &node["deps"]))).collect();
    let members = metadata["workspace_members"].as_array().context("`cargo metadata` lists no members")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let tools: BTreeSet<&str> =
        packages.filter(|package| is_tool(package)).filter_map(|package| package["id"].as_str()).collect();
    let mut next: Vec<&str> =
        members.iter().filter_map(Value::as_str).filter(|id| !tools.contains(id)).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = next.pop() {
        if !linked.insert(id) {
            continue;
        }
        let needed = nodes.get(id).and_then(|deps| deps.as_array()).into_iter().flatten().filter(|dep| {
            dep["dep_kinds"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind["kind"] != "dev"))
        });
        next.extend(needed.filter_map(|dep| dep["pkg"].as_str()));
    }
    Ok(linked)
}

/// Whether a package is only for those who build: never published (cargo lists no registry for it), and no program that
/// users get.
fn is_tool(package: &Value) -> bool {
    let of_users = |target: &Value| {
        target["kind"].as_array().is_some_and(|kinds| kinds.contains(&"bin".into()))
            && target["name"].as_str().is_some_and(|name| name.starts_with("heatsoak"))
    };
    package["publish"].as_array().is_some_and(Vec::is_empty)
        && !package["targets"].as_array().into_iter().flatten().any(of_users)
}

fn check_package(package: &Value, allowed: &[Licensee]) -> Option<Finding> {
    let text = |field: &str| package[field].as_str().unwrap_or("?");
    let what = match package["license"].as_str() {
        None => "declares no licence expression".to_owned(),
        Some(licence) => match Expression::parse_mode(licence, ParseMode::LAX) {
            Ok(expression) if expression.evaluate(|one| allowed.iter().any(|known| known.satisfies(one))) => {
                return None;
            }
            Ok(_) => format!("is under `{licence}`, which is not on the list"),
            Err(error) => format!("is under `{licence}`, which cannot be read: {}", error.reason),
        },
    };
    let what = format!("{} {} {what}", text("name"), text("version"));
    let instead = "use another crate, or argue for the licence in deny.toml";
    Some(Finding::new("licence", "Cargo.lock", 0, what, instead))
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    /// What is found about a package `x` under `licence` that ours needs as `kind`.
    fn found(licence: Value, kind: Value) -> Vec<Finding> {
        let metadata = json!({
            "packages": [{"id": "x 1", "name": "x", "version": "1.0.0", "license": licence}],
            "workspace_members": ["ours"],
            "resolve": {"nodes": [
                {"id": "ours", "deps": [{"pkg": "x 1", "dep_kinds": [{"kind": kind}]}]},
                {"id": "x 1", "deps": []}
            ]}
        });
        check(&metadata).expect("the sample is well formed")
    }

    #[test]
    fn a_choice_with_one_good_side_passes() {
        for good in [
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "LGPL-3.0-only OR MIT",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
            "Zlib",
        ] {
            assert_eq!(found(json!(good), Value::Null), [], "{good}");
        }
    }

    #[test]
    fn what_asks_for_more_or_says_nothing_does_not() {
        for bad in [json!("MPL-2.0"), json!("MIT AND GPL-3.0-only"), json!("whatever"), Value::Null] {
            for kind in [Value::Null, json!("build")] {
                assert!(found(bad.clone(), kind).iter().all(|finding| !finding.only_warns), "{bad}");
            }
            assert_eq!(found(bad.clone(), Value::Null).len(), 1, "{bad}");
        }
    }

    #[test]
    fn what_only_tests_use_is_told() {
        let findings = found(json!("MPL-2.0"), json!("dev"));
        assert!(matches!(findings.as_slice(), [finding] if finding.only_warns), "{findings:?}");
    }
}
