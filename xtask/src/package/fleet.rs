//! `heatsoak-fleet`: a Debian package and a tarball of its own, because its engine weighs several times as much as all of
//! heatsoak and few need it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::parts::{gzip, put, put_text};
use super::{Release, binary, deb, elf, licences, output, tarball};
use crate::cargo::{self, Depth};

const NAME: &str = "heatsoak-fleet";
const LICENCES: &str = "THIRD-PARTY-LICENSES-fleet.txt";
const DOC: &str = "usr/share/doc/heatsoak-fleet";

/// Builds it and packs it; in a trial what its tests have built, where they have.
pub(super) fn write(release: &Release, work: &Path) -> Result<()> {
    let workspace = release.root.join("fleet");
    let built = if release.is_trial {
        release.root.join("target/fleet/debug").join(NAME)
    } else {
        binary::build_in(&workspace, &release.root, NAME, &["--profile", "dist"], None)?
            .join("dist")
            .join(NAME)
    };
    if !built.is_file() {
        println!("LEFT OUT: {NAME}, which is not built (cargo xtask fleet build)");
        return Ok(());
    }
    let work = work.join("fleet");
    fs::create_dir_all(&work)?;
    let program = work.join(NAME);
    binary::strip(&built, &program)?;
    let metadata = cargo::metadata(&workspace, Depth::WithDependencies)?;
    licences::write(&metadata, NAME, &[], &release.out.join(LICENCES))?;
    write_deb(release, &program, &work.join("deb"))?;
    // What the tests have built is several times as large, and the tarball has nothing else in it.
    if release.is_trial { Ok(()) } else { write_tarball(release, &program, &work.join("tar")) }
}

fn write_deb(release: &Release, program: &Path, tree: &Path) -> Result<()> {
    put(program, &tree.join("usr/bin").join(NAME), 0o755)?;
    let doc = tree.join(DOC);
    let copyright = fs::read_to_string(release.root.join("packaging/debian/copyright"))?;
    put_text(&copyright.replace("share/doc/heatsoak/", "share/doc/heatsoak-fleet/"), &doc.join("copyright"))?;
    put_text(&deb::changelog(release, NAME)?, &doc.join("changelog"))?;
    gzip(&doc.join("changelog"))?;
    for (from, to) in [
        (release.root.join("docs/FLEET.md"), "FLEET.md"),
        (release.out.join(LICENCES), "THIRD-PARTY-LICENSES.txt"),
    ] {
        put(&from, &doc.join(to), 0o644)?;
        gzip(&doc.join(to))?;
    }
    let needed = elf::glibc_needed(&fs::read(program)?)?;
    let glibc = needed.keys().next_back().copied().unwrap_or(elf::Version(2, 17));
    let facts = format!(
        "Depends: libc6 (>= {glibc}), libgcc-s1 (>= 4.2)\nRecommends: heatsoak\nSection: utils\nPriority: optional\n\
         Description: finds the drives of a fleet that throttle when they get hot\n \
         Reads rows of SMART counters, temperatures and throughput of many drives, in\n \
         Parquet, CSV or Arrow, and says which drives throttle, since when, and where\n \
         the air is at fault. heatsoak fleet calls it.\n"
    );
    deb::build(release, tree, NAME, &facts)
}

fn write_tarball(release: &Release, program: &Path, work: &Path) -> Result<()> {
    let name = format!("{NAME}-{}-{}-{}", release.version, std::env::consts::ARCH, release.platform);
    let tree = work.join(&name);
    put(program, &tree.join(NAME), 0o755)?;
    let files: [(PathBuf, &str); 4] = [
        (release.root.join("docs/FLEET.md"), "FLEET.md"),
        (release.root.join("LICENSE-MIT"), "LICENSE-MIT"),
        (release.root.join("LICENSE-APACHE"), "LICENSE-APACHE"),
        (release.out.join(LICENCES), "THIRD-PARTY-LICENSES.txt"),
    ];
    for (from, to) in files {
        put(&from, &tree.join(to), 0o644)?;
    }
    tarball::pack(release, work, &name)
}

/// That the package installs, runs and goes: `dpkg` into a folder of its own.
pub(super) fn prove(release: &Release, root: &Path) -> Result<()> {
    let package = release.out.join(deb::name(release, NAME));
    if !package.is_file() {
        println!("LEFT OUT: {NAME} is not packed");
        return Ok(());
    }
    output(Command::new("dpkg-deb").arg("--extract").args([&package, root]))?;
    let said = output(Command::new(root.join("usr/bin").join(NAME)).arg("--version"))?;
    let rows = root.join("try");
    let line = ["gen", "--drives", "24", "--every", "10min", "--out"];
    output(Command::new(root.join("usr/bin").join(NAME)).args(line).arg(&rows))?;
    let scan = Command::new(root.join("usr/bin").join(NAME))
        .arg("scan")
        .arg(rows.join("rows"))
        .arg("--out")
        .arg(rows.join("scan"))
        .output()?;
    anyhow::ensure!(scan.status.success(), "{}", String::from_utf8_lossy(&scan.stderr));
    println!("{said}: unpacked, a fleet made and scanned");
    Ok(())
}
