//! The binary of a release: built with the profile `dist`, its debug information beside it, checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};

use super::{Release, elf, output};
use crate::cargo;

/// The newest glibc that it may ask for: RHEL 9 and what is built from it have 2.34 until 2032.
const GLIBC_NEWEST: elf::Version = elf::Version(2, 34);
/// What a user keeps, without debug information. 12 MB are wanted; docs/HACKING.md says what was tried and what takes the
/// room. What is reached must not grow unseen.
const BYTES_MAX: u64 = 17_000_000;

/// Builds it, for this machine or for the target that is named, with the paths of this machine mapped away.
pub(super) fn build(root: &Path, platform: Option<&str>) -> Result<PathBuf> {
    let target = build_in(root, root, "heatsoak", &["--profile", "dist", "--timings"], platform)?;
    Ok(target.join(platform.unwrap_or_default()).join("dist/heatsoak"))
}

/// Builds a program of a workspace of ours; says where cargo put what it made.
pub(super) fn build_in(
    workspace: &Path,
    root: &Path,
    package: &str,
    how: &[&str],
    platform: Option<&str>,
) -> Result<PathBuf> {
    let target = root.join("target/package-build");
    let home = |name: &str, folder: &str| -> Result<PathBuf> {
        let stated = std::env::var_os(name).map(PathBuf::from);
        let user = std::env::var_os("HOME").map(|home| Path::new(&home).join(folder));
        stated.or(user).with_context(|| format!("neither {name} nor HOME is set"))
    };
    let (cargo_home, rustup) = (home("CARGO_HOME", ".cargo")?, home("RUSTUP_HOME", ".rustup")?);
    // The last that fits counts.
    let maps = [(rustup, "/rustup"), (cargo_home, "/cargo"), (root.to_owned(), "/heatsoak")];
    let flags = maps.map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()));
    // Separated as cargo wants them where paths may have spaces.
    let flags = flags.join("\u{1f}");
    let folder = target.to_string_lossy().into_owned();
    let environment = [("CARGO_ENCODED_RUSTFLAGS", flags.as_str()), ("CARGO_TARGET_DIR", &folder)];
    let mut line = vec!["build", "--package", package, "--locked"];
    line.extend(how);
    line.extend(platform.iter().flat_map(|platform| ["--target", platform]));
    cargo::run(workspace, &line, &environment)?;
    Ok(target)
}

/// Puts the debug information into a file of its own and strips the binary; says where that is.
pub(super) fn split(built: &Path, work: &Path, out: &Path, xz_level: u32) -> Result<PathBuf> {
    let binary = work.join("heatsoak");
    strip(built, &binary)?;
    let debug = work.join("heatsoak.debug");
    output(Command::new("objcopy").args(["--only-keep-debug"]).args([built, &debug]))?;
    let mut bytes = fs::read(&binary)?;
    let lowered = elf::lower_hypot(&mut bytes).context("making the binary run on an older glibc")?;
    fs::write(&binary, &bytes)?;
    // Debuggers look for it beside the binary, by this name and its checksum.
    output(
        Command::new("objcopy").current_dir(work).args(["--add-gnu-debuglink=heatsoak.debug", "heatsoak"]),
    )?;
    // Beyond 6 it takes memory, and no less room.
    let level = format!("-{}", xz_level.min(6));
    output(Command::new("xz").args(["--threads=1", &level]).arg(&debug))?;
    fs::copy(work.join("heatsoak.debug.xz"), out.join("heatsoak.debug.xz"))?;
    println!("hypot asks for {lowered} now");
    Ok(binary)
}

/// Makes `binary` a copy without debug information.
pub(super) fn strip(built: &Path, binary: &Path) -> Result<()> {
    let objcopy = ["--strip-all", "--remove-section=.comment"];
    output(Command::new("objcopy").args(objcopy).args([built, binary])).map(|_| ())
}

/// Whether it is fit to be given away.
pub(super) fn check(release: &Release) -> Result<()> {
    let bytes = fs::read(&release.binary)?;
    let needs = elf::glibc_needed(&bytes)?;
    if let Some((version, symbols)) = needs.iter().next_back().filter(|(version, _)| **version > GLIBC_NEWEST)
    {
        bail!("the binary needs glibc {version}, and at most {GLIBC_NEWEST} is allowed: {symbols}");
    }
    let len = bytes.len() as u64;
    ensure!(len <= BYTES_MAX, "the binary has {len} B, and at most {BYTES_MAX} are allowed");
    for name in ["HOME", "CARGO_HOME", "PWD"] {
        let Some(path) = std::env::var_os(name).filter(|path| path.len() > 1) else { continue };
        let path = path.to_string_lossy();
        let found = bytes.windows(path.len()).any(|window| window == path.as_bytes());
        ensure!(!found, "the binary names {path} ({name} of this machine)");
    }
    Ok(())
}
