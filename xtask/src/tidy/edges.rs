//! The rule about crate edges: arrows point one way (docs/ARCHITECTURE.md).
//!
//! Reads `cargo metadata --no-deps`. A new edge is a decision: it goes into the table in the same
//! commit, for review to see. Development edges are free, but for the three that must never be.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;

/// Each crate of ours and what it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("measure", &[]),
    ("fleet-state", &[]),
    ("fleet-streams", &["fleet-state"]),
    ("nvme", &["measure"]),
    ("physics", &["measure"]),
    ("plan", &["measure"]),
    ("drive", &["measure", "nvme", "plan"]),
    ("capture", &["measure", "nvme", "plan", "drive"]),
    ("govern", &["measure"]),
    ("watch", &["measure", "nvme"]),
    ("trace", &["measure"]),
    ("import", &["measure", "nvme", "trace"]),
    ("analysis", &["measure", "trace"]),
    ("fit", &["measure", "physics", "plan", "trace", "analysis"]),
    ("twin", &["measure", "nvme", "physics"]),
    ("validation", &["measure", "physics", "plan", "drive", "capture"]),
    ("report", &["measure", "trace", "analysis"]),
    ("serve", &["measure", "report"]),
    ("remote", &["measure"]),
    (
        "heatsoak",
        &[
            "measure",
            "fleet-state",
            "fleet-streams",
            "nvme",
            "physics",
            "plan",
            "drive",
            "capture",
            "trace",
            "import",
            "analysis",
            "fit",
            "twin",
            "validation",
            "report",
            "govern",
            "watch",
            "serve",
            "remote",
        ],
    ),
    ("agree", &["report"]),
    ("score", &["measure", "physics", "plan", "trace", "analysis", "fit", "watch", "report", "agree"]),
    (
        "fuzz-entries",
        &["measure", "fleet-state", "nvme", "physics", "drive", "trace", "import", "twin", "remote"],
    ),
    ("guest", &[]),
    ("xtask", &["guest"]),
];

/// What must not be, not even in tests, and why: from, to, reason. `*` is every crate.
const NEVER: &[(&str, &[&str], &str)] = &[
    (
        "capture",
        &["analysis", "twin", "physics", "report"],
        "the instrument must not know the wished-for answer",
    ),
    (
        "drive",
        &["analysis", "twin", "physics", "report"],
        "the instrument must not know the wished-for answer",
    ),
    ("analysis", &["nvme", "drive", "capture"], "every number must be had from the record alone"),
    ("report", &["nvme", "drive", "capture"], "every number must be had from the record alone"),
    ("serve", &["nvme", "drive", "capture", "plan"], "what answers a network must have no way to a drive"),
    ("physics", &["nvme", "drive", "capture"], "a simulated drive must have no way to a real one"),
    ("twin", &["drive", "capture"], "a simulated drive must have no way to a real one"),
    ("*", &["heatsoak", "score", "xtask"], "nobody knows the programs"),
];

/// Findings about every dependency of a crate of ours on another, from `cargo metadata --no-deps`.
pub(super) fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let ours: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).map(short).collect();
    let mut findings = Vec::new();
    for package in packages {
        let from = short(package["name"].as_str().context("a package of `cargo metadata` has no name")?);
        let manifest = package["manifest_path"].as_str().unwrap_or(from);
        if !ALLOWED.iter().any(|(name, _)| *name == from) {
            let instead = "give it a row in xtask/src/tidy/edges.rs and in docs/ARCHITECTURE.md";
            findings.push(Finding::new(
                "edge",
                manifest,
                0,
                format!("`{from}` is not in the table"),
                instead,
            ));
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to =
                short(dependency["name"].as_str().context("a dependency in `cargo metadata` has no name")?);
            // Absent kind: a normal dependency; "dev" and "build" are the others.
            let for_tests = dependency["kind"] == "dev";
            if ours.contains(&to) {
                findings.extend(
                    edge(from, to, for_tests)
                        .map(|(what, instead)| Finding::new("edge", manifest, 0, what, instead)),
                );
            }
        }
    }
    Ok(findings)
}

/// The name of a crate in our code: its package is called `heatsoak-NAME`.
fn short(package: &str) -> &str {
    package.strip_prefix("heatsoak-").unwrap_or(package)
}

/// What is wrong with the edge `from` -> `to` and what to do instead.
fn edge(from: &str, to: &str, for_tests: bool) -> Option<(String, String)> {
    let never = NEVER.iter().find(|(name, tos, _)| (*name == "*" || *name == from) && tos.contains(&to));
    if let Some((_, _, reason)) = never {
        let instead =
            "turn it round: hand in a closure or data from above; a test of both belongs to crates/cli";
        return Some((format!("`{from}` must never know `{to}`: {reason}"), instead.into()));
    }
    let allowed = ALLOWED.iter().find(|(name, _)| *name == from).map_or(&[][..], |(_, tos)| tos);
    if for_tests || allowed.contains(&to) {
        return None;
    }
    let instead =
        format!("use what it has ({}), or argue for the edge in xtask/src/tidy/edges.rs", allowed.join(", "));
    Some((format!("`{from}` -> `{to}` is a new edge"), instead))
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    /// Findings of a workspace of all crates with one edge.
    fn found(from: &str, to: &str, kind: Value) -> usize {
        let package = |name: &str| {
            let edges = if name == from { json!([{"name": to, "kind": kind}]) } else { json!([]) };
            json!({"name": name, "dependencies": edges})
        };
        let mut names: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
        if !names.contains(&from) {
            names.push(from);
        }
        let packages: Vec<Value> = names.into_iter().map(package).collect();
        check(&json!({ "packages": packages })).expect("the sample is well formed").len()
    }

    #[test]
    fn edges_of_the_table_pass_and_new_ones_do_not() {
        assert_eq!(found("twin", "physics", Value::Null), 0);
        assert_eq!(found("analysis", "twin", Value::Null), 1);
        assert_eq!(found("measure", "nvme", Value::Null), 1);
        assert_eq!(found("xtask", "measure", Value::Null), 1);
        assert_eq!(found("capture", "serde", Value::Null), 0, "not ours");
    }

    #[test]
    fn tests_may_look_further_but_not_everywhere() {
        assert_eq!(found("analysis", "twin", json!("dev")), 0);
        assert_eq!(found("capture", "twin", json!("dev")), 1);
        assert_eq!(found("report", "capture", json!("dev")), 1);
        assert_eq!(found("analysis", "nvme", json!("dev")), 1);
        assert_eq!(found("twin", "heatsoak", json!("dev")), 1);
        assert_eq!(found("heatsoak", "measure", json!("build")), 0);
        assert_eq!(found("nvme", "capture", json!("build")), 1);
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        assert_eq!(found("ninth", "serde", Value::Null), 1);
    }

    #[test]
    fn the_table_itself_has_no_circle_and_breaks_no_ban() {
        for (at, (from, tos)) in ALLOWED.iter().enumerate() {
            for to in *tos {
                assert!(ALLOWED[..at].iter().any(|(earlier, _)| earlier == to), "{from} -> {to} points up");
                assert_eq!(edge(from, to, false), None);
            }
        }
    }
}
