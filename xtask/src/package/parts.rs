//! What lies beside the binary in every package, and how files are put there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::{Release, files, output};

/// The man pages.
pub(super) fn man_pages(release: &Release) -> Result<Vec<PathBuf>> {
    files(&release.root.join("docs/cli/man"))
}

/// Completion scripts, and where Debian's shells look for them.
pub(super) const COMPLETIONS: [(&str, &str); 3] = [
    ("heatsoak.bash", "usr/share/bash-completion/completions/heatsoak"),
    ("_heatsoak", "usr/share/zsh/vendor-completions/_heatsoak"),
    ("heatsoak.fish", "usr/share/fish/vendor_completions.d/heatsoak.fish"),
];

/// The completion scripts' folder.
pub(super) fn completions(release: &Release) -> PathBuf {
    release.root.join("docs/cli/completions")
}

/// Example units.
pub(super) fn examples(release: &Release) -> Result<Vec<PathBuf>> {
    files(&release.root.join("packaging/examples"))
}

/// Copies a file to `to`, with folders as needed.
pub(super) fn put(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let text = || format!("copying {} to {}", from.display(), to.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(text)?;
    }
    fs::copy(from, to).with_context(text)?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).with_context(text)
}

/// Writes a file, with folders as needed.
pub(super) fn put_text(text: &str, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, text).with_context(|| format!("writing {}", to.display()))?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(0o644))?)
}

/// Compresses a file as Debian has it: without a time.
pub(super) fn gzip(path: &Path) -> Result<()> {
    output(Command::new("gzip").args(["-9", "-n", "-f"]).arg(path)).map(|_| ())
}

/// Gives everything below `folder` the commit's time and folders their mode.
pub(super) fn settle(release: &Release, folder: &Path) -> Result<()> {
    let time = format!("@{}", release.time_s);
    output(Command::new("find").arg(folder).args(["-type", "d", "-exec", "chmod", "755", "{}", "+"]))?;
    output(Command::new("find").arg(folder).args(["-exec", "touch", "-h", "-d", &time, "{}", "+"]))
        .map(|_| ())
}
