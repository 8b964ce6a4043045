//! `heatsoak-VERSION-MACHINE.tar.xz`: for any distribution, to be unpacked anywhere.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::parts::{self, put};
use super::{Release, output};

/// The platform of the static one, in names of files.
pub(super) const STATIC: &str = "linux-musl";

/// Writes it.
pub(super) fn write(release: &Release, work: &Path) -> Result<()> {
    let name = name(release);
    let tree = work.join(&name);
    put(&release.binary, &tree.join("heatsoak"), 0o755)?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        put(&release.root.join(file), &tree.join(file), 0o644)?;
    }
    put(&release.out.join("THIRD-PARTY-LICENSES.txt"), &tree.join("THIRD-PARTY-LICENSES.txt"), 0o644)?;
    for page in parts::man_pages(release)? {
        put(&page, &tree.join("man/man1").join(page.file_name().unwrap_or_default()), 0o644)?;
    }
    for (file, _) in parts::COMPLETIONS {
        put(&parts::completions(release).join(file), &tree.join("completions").join(file), 0o644)?;
    }
    for example in parts::examples(release)? {
        put(&example, &tree.join("examples").join(example.file_name().unwrap_or_default()), 0o644)?;
    }
    pack(release, work, &name)
}

/// Packs the folder of that name in `work`.
pub(super) fn pack(release: &Release, work: &Path, name: &str) -> Result<()> {
    parts::settle(release, &work.join(name))?;
    let archive = release.out.join(format!("{name}.tar.xz"));
    output(
        Command::new("tar")
            .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"])
            .arg(format!("--mtime=@{}", release.time_s))
            // Threads cut the stream elsewhere on another machine.
            .arg(format!("--use-compress-program=xz --threads=1 -{}", super::xz_level(release.is_trial)))
            .args(["--create", "--file"])
            .arg(archive)
            .arg("--directory")
            .args([work, Path::new(name)]),
    )
    .map(|_| ())
}

/// The folder in it, and its own name without ending.
pub(super) fn name(release: &Release) -> String {
    format!("heatsoak-{}-{}-{}", release.version, std::env::consts::ARCH, release.platform)
}
