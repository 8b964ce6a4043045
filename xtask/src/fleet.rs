//! The fleet's workspace: built and tested apart, because its engine takes longer than everything else here.
//!
//! Nothing of it is built by `cargo run` or by the other steps of `check`. Its own folder says where it builds
//! (fleet/.cargo/config.toml), so cargo runs there.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::cargo;
use crate::tally::cargo_test;

/// Where the workspace lies.
const FOLDER: &str = "fleet";

/// Builds the engine, `heatsoak-fleet` and its tests, as a step of `check` whose time is told.
pub(crate) fn build(root: &Path) -> Result<()> {
    cargo::run(&root.join(FOLDER), &["test", "--locked", "--no-run"], &[])
}

/// Format, lints and tests of the workspace.
pub(crate) fn check(root: &Path) -> Result<()> {
    let folder = root.join(FOLDER);
    cargo::run(&folder, &["fmt", "--check"], &[])?;
    // `cargo clippy` would check the engine a second time. As the workspace's compiler it finds the engine built; the
    // lints' levels stand in fleet/Cargo.toml.
    cargo::run(&folder, &["build", "--locked", "--tests"], &[("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")])?;
    let count = cargo_test(&folder, &["test", "--locked", "--no-fail-fast"])?;
    println!("\n{count}");
    ensure!(count.passed > 0, "no test of the fleet ran at all, which cannot be right");
    Ok(())
}
