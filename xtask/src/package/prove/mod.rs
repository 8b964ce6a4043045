//! `--prove`: that the packages are what they should be, by using them as a user does.
//!
//! Each proof says what it did and how long that took; one that cannot be done here says why.

mod python;
mod root;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Release, deb, fleet, output, tarball, timed, unpublished, wheel};
use crate::cargo;

/// Times of steps, for the table at the end.
type Times = Vec<(String, f64)>;

/// Proves everything that can be proven here.
pub(super) fn prove(release: &Release, work: &Path, roots: &[PathBuf], times: &mut Times) -> Result<()> {
    timed(times, "proof: the same bytes twice", || twice(release, work))?;
    let deb = release.out.join(deb::name(release, "heatsoak"));
    timed(times, "proof: Debian package by dpkg --root", || root::beside(&deb, &work.join("dpkg-root")))?;
    if roots.is_empty() {
        println!("LEFT OUT: installing in a bare root; --root DIR names one (debootstrap)");
    }
    for root in roots {
        root::prove(release, &deb, root, times)?;
    }
    timed(times, "proof: heatsoak-fleet unpacked", || fleet::prove(release, &work.join("fleet-root")))?;
    timed(times, "proof: example units", || units(release))?;
    if release.is_trial {
        println!("LEFT OUT: lintian, which takes longer than all else; it belongs to a whole package");
    } else {
        timed(times, "proof: lintian", || lintian(&deb))?;
    }
    let pythons = if release.is_trial { 1 } else { usize::MAX };
    for (name, python) in python::interpreters().into_iter().take(pythons) {
        timed(times, &format!("proof: wheel with {name}"), || python::wheel(release, work, &name, &python))?;
    }
    Ok(())
}

/// Packs again from the same binary, elsewhere, and compares.
fn twice(release: &Release, work: &Path) -> Result<()> {
    let again = Release { out: work.join("again"), ..release.clone() };
    fs::create_dir_all(&again.out)?;
    let texts = "THIRD-PARTY-LICENSES.txt";
    fs::copy(release.out.join(texts), again.out.join(texts))?;
    deb::write(&again, &work.join("deb-again"))?;
    tarball::write(&again, &work.join("tar-again"))?;
    wheel::write(&again)?;
    for path in super::files(&again.out)? {
        let name = path.file_name().unwrap_or_default();
        let same = fs::read(&path)? == fs::read(release.out.join(name))?;
        ensure!(same, "{} differs when it is made twice", name.to_string_lossy());
    }
    Ok(())
}

/// The example units as systemd reads them, with the program where it lies here.
fn units(release: &Release) -> Result<()> {
    if output(Command::new("systemd-analyze").arg("--version")).is_err() {
        println!("LEFT OUT: systemd-analyze is not installed (Debian: systemd)");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let program = release.binary.display().to_string();
    let mut copies = Vec::new();
    for path in super::parts::examples(release)? {
        if path.extension().is_some_and(|end| end == "service" || end == "timer") {
            let copy = folder.path().join(path.file_name().unwrap_or_default());
            fs::write(&copy, fs::read_to_string(&path)?.replace("/usr/bin/heatsoak", &program))?;
            copies.push(copy);
        }
    }
    let said = output(
        Command::new("systemd-analyze").args(["verify", "--man=no", "--recursive-errors=no"]).args(&copies),
    )?;
    ensure!(said.is_empty(), "systemd-analyze verify says of the example units:\n{said}");
    println!("{} units, nothing to say", copies.len());
    Ok(())
}

fn lintian(deb: &Path) -> Result<()> {
    if output(Command::new("lintian").arg("--version")).is_err() {
        println!("LEFT OUT: lintian is not installed");
        return Ok(());
    }
    let said = output(Command::new("lintian").args(["--fail-on", "error,warning"]).arg(deb))?;
    println!("lintian: {}", if said.is_empty() { "nothing to say" } else { &said });
    Ok(())
}

/// The crates as the registry would take them: packed, unpacked and built each by itself, and not uploaded.
pub(super) fn crates(root: &Path) -> Result<()> {
    let mut line = vec!["publish", "--workspace", "--dry-run", "--allow-dirty", "--locked", "--quiet"];
    let unpublished = unpublished(root)?;
    unpublished.iter().for_each(|name| line.extend(["--exclude", name]));
    cargo::run(
        root,
        &line,
        &[("CARGO_TARGET_DIR", "target/package-dry-run"), ("CARGO_PROFILE_DEV_DEBUG", "0")],
    )
}
