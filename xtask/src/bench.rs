//! `cargo xtask bench`: every benchmark target of the workspace at full size.
//!
//! One after the other, never two at once: on a small machine they would measure each other. The
//! small sizes of the same benchmarks run as tests.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::cargo::{self, Depth};

/// Runs the benchmarks whose name contains `name`, with `arguments` for each.
pub(crate) fn run(root: &Path, name: Option<&str>, arguments: &[String]) -> Result<()> {
    let benches = benches_in(&cargo::metadata(root, Depth::OursAlone)?, name.unwrap_or_default())?;
    ensure!(
        !benches.is_empty(),
        "no benchmark{}; they are targets in crates/*/benches",
        name.map(|name| format!(" with `{name}` in its name")).unwrap_or_default()
    );
    for (package, bench) in &benches {
        let mut line = vec!["bench", "--package", package, "--bench", bench];
        if !arguments.is_empty() {
            line.push("--");
            line.extend(arguments.iter().map(String::as_str));
        }
        cargo::run(root, &line, &[])?;
    }
    Ok(())
}

/// Package and name of each benchmark target whose name contains `part`.
fn benches_in(metadata: &Value, part: &str) -> Result<Vec<(String, String)>> {
    let packages = metadata["packages"].as_array().context("`cargo metadata` lists no packages")?;
    let mut benches = Vec::new();
    for package in packages {
        let name = package["name"].as_str().context("a package of `cargo metadata` has no name")?;
        let targets = package["targets"].as_array().into_iter().flatten();
        let ours = targets
            .filter(|target| target["kind"][0] == "bench")
            .filter_map(|target| target["name"].as_str());
        benches.extend(ours.filter(|bench| bench.contains(part)).map(|bench| (name.into(), bench.into())));
    }
    Ok(benches)
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    #[test]
    fn benchmarks_are_found_by_a_part_of_their_name() {
        let metadata = json!({"packages": [{"name": "capture", "targets": [
            {"name": "capture", "kind": ["lib"]}, {"name": "ring", "kind": ["bench"]}, {"name": "pacing", "kind": ["bench"]}
        ]}]});
        let of = |part| benches_in(&metadata, part).expect("the sample is well formed");
        assert_eq!(of("").len(), 2);
        assert_eq!(of("ring"), [("capture".into(), "ring".into())]);
        assert!(of("none").is_empty());
    }
}
