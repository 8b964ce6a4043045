//! How xtask runs cargo: from the root of the tree, in a clean environment, with no input.
//!
//! Every build of `check` uses the development profile and the whole workspace, so that cargo finds
//! each dependency built already: naming single packages would select other features and build twice.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

/// How far `cargo metadata` looks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The packages of the workspace.
    OursAlone,
    /// And everything they need on this platform.
    WithDependencies,
}

/// The root of the tree.
pub(crate) fn root() -> PathBuf {
    // The folder above this package, as cargo built it; xtask only ever runs where it was built.
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_owned()
}

/// `cargo ARGUMENTS..` in `root`, to be run.
pub(crate) fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    // `cargo run` describes xtask to us in these; a build script below must not see them.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name.as_ref());
        }
    }
    command
}

/// Runs `cargo ARGUMENTS..` in `root`; its output goes where ours goes, untouched.
pub(crate) fn run(root: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let line = spelled(arguments, environment);
    let status = command(root, arguments)
        .envs(environment.iter().copied())
        .status()
        .with_context(|| format!("starting `{line}`: is cargo installed?"))?;
    judge(status, &line)
}

fn judge(status: ExitStatus, line: &str) -> Result<()> {
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// The command line as somebody would type it.
pub(crate) fn spelled(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let settings = environment.iter().map(|(name, value)| format!("{name}='{value}' "));
    format!("{}cargo {}", settings.collect::<String>(), arguments.join(" "))
}

/// What `cargo metadata` says about the workspace under `root`.
pub(crate) fn metadata(root: &Path, depth: Depth) -> Result<Value> {
    let mut arguments = vec!["metadata", "--format-version", "1"];
    match depth {
        Depth::OursAlone => arguments.push("--no-deps"),
        // Without it cargo would fetch what only other systems need.
        Depth::WithDependencies => arguments.extend(["--filter-platform", "host-tuple"]),
    }
    let output =
        command(root, &arguments).output().context("starting `cargo metadata`: is cargo installed?")?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed: {}", spelled(&arguments, &[]), reason.trim());
    }
    serde_json::from_slice(&output.stdout).context("reading the JSON of `cargo metadata`")
}

#[cfg(test)]
mod test {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn the_root_is_the_workspace() {
        let metadata = metadata(&root(), Depth::OursAlone).expect("cargo is here, it runs this test");
        assert_eq!(metadata["workspace_root"].as_str(), root().to_str());
    }

    #[test]
    fn a_failed_command_says_what_was_typed() {
        let line = spelled(&["doc", "--no-deps"], &[("A", "b c")]);
        assert_eq!(line, "A='b c' cargo doc --no-deps");
        // Exit code 101, as wait(2) has it.
        let error = judge(ExitStatus::from_raw(101 << 8), &line).expect_err("101 is no success");
        assert_eq!(error.to_string(), "`A='b c' cargo doc --no-deps` failed (exit status: 101)");
        assert!(judge(ExitStatus::from_raw(0), &line).is_ok());
    }
}
