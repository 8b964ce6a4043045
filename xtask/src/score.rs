//! `cargo xtask score`: how right the verdicts are, on simulated runs whose truth is known.
//!
//! The corpus and the scoring are an example of the twin crate, as xtask depends on no crate of ours.

use std::path::Path;

use anyhow::Result;

use crate::cargo;

/// Builds the scorer with optimisation and runs it with `arguments`.
pub(crate) fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let mut line = vec!["run", "--quiet", "--release", "--package", "score", "--"];
    line.extend(arguments.iter().map(String::as_str));
    cargo::run(root, &line, &[])
}
