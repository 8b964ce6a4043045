//! The Debian package, by `dpkg-deb` alone.
//!
//! No unit and no udev rule is installed: the tool is run by hand, and a rule that opens NVMe devices to a group would hand
//! out firmware and format commands. Units lie among the examples. Policy: Debian Policy 4.6.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::parts::{self, gzip, put, put_text};
use super::{Release, elf, output};

/// Who answers for the package; whoever gives it away puts a name here.
const MAINTAINER: &str = "heatsoak developers <heatsoak@heatsoak.invalid>";

const DOC: &str = "usr/share/doc/heatsoak";

/// Writes `heatsoak_VERSION_ARCHITECTURE.deb`.
pub(super) fn write(release: &Release, tree: &Path) -> Result<()> {
    fill(release, tree)?;
    build(release, tree, "heatsoak", &facts(release)?)
}

/// Builds a package from a filled folder and the fields that only it has.
pub(super) fn build(release: &Release, tree: &Path, package: &str, facts: &str) -> Result<()> {
    let debian = tree.join("DEBIAN");
    fs::create_dir_all(&debian)?;
    let find = "find usr -type f -print0 | sort -z | xargs -0 md5sum";
    let sums = output(Command::new("sh").args(["-c", find]).current_dir(tree))?;
    put_text(&format!("{sums}\n"), &debian.join("md5sums"))?;
    let size = output(Command::new("du").args(["-sk", "--apparent-size", "usr"]).current_dir(tree))?;
    let kib = size.split_whitespace().next().unwrap_or("0").to_owned();
    let control = format!(
        "Package: {package}\nVersion: {}\nArchitecture: {}\nMaintainer: {MAINTAINER}\nInstalled-Size: {kib}\n{facts}",
        release.version, release.architecture
    );
    put_text(&control, &debian.join("control"))?;
    parts::settle(release, tree)?;
    output(
        Command::new("dpkg-deb")
            .env("SOURCE_DATE_EPOCH", release.time_s.to_string())
            .args(["--root-owner-group", "-Zxz", &format!("-z{}", super::xz_level(release.is_trial))])
            .arg("--build")
            .args([tree, &release.out.join(name(release, package))]),
    )
    .map(|_| ())
}

/// The file's name.
pub(super) fn name(release: &Release, package: &str) -> String {
    format!("{package}_{}_{}.deb", release.version, release.architecture)
}

fn fill(release: &Release, tree: &Path) -> Result<()> {
    put(&release.binary, &tree.join("usr/bin/heatsoak"), 0o755)?;
    for page in parts::man_pages(release)? {
        let to = tree.join("usr/share/man/man1").join(page.file_name().unwrap_or_default());
        put(&page, &to, 0o644)?;
        gzip(&to)?;
    }
    for (name, to) in parts::COMPLETIONS {
        put(&parts::completions(release).join(name), &tree.join(to), 0o644)?;
    }
    let doc = tree.join(DOC);
    for example in parts::examples(release)? {
        put(&example, &doc.join("examples").join(example.file_name().unwrap_or_default()), 0o644)?;
    }
    put(&release.root.join("packaging/debian/copyright"), &doc.join("copyright"), 0o644)?;
    put_text(&changelog(release, "heatsoak")?, &doc.join("changelog"))?;
    gzip(&doc.join("changelog"))?;
    put(&release.root.join("CHANGELOG.md"), &doc.join("NEWS.md"), 0o644)?;
    gzip(&doc.join("NEWS.md"))?;
    put(&release.out.join("THIRD-PARTY-LICENSES.txt"), &doc.join("THIRD-PARTY-LICENSES.txt"), 0o644)?;
    gzip(&doc.join("THIRD-PARTY-LICENSES.txt"))
}

fn facts(release: &Release) -> Result<String> {
    let needed = elf::glibc_needed(&fs::read(&release.binary)?)?;
    let glibc = needed.keys().next_back().copied().unwrap_or(elf::Version(2, 17));
    Ok(format!(
        "Depends: libc6 (>= {glibc}), libgcc-s1 (>= 4.2)\nRecommends: smartmontools\nSuggests: fio, nvme-cli\n\
         Section: utils\nPriority: optional\n\
         Description: measures how an SSD throttles when it gets hot\n \
         heatsoak loads a drive, records speed, latency, temperature, power and the\n \
         drive's throttle counters on one clock, and reports when the drive throttled,\n \
         why, and with what confidence. Without hardware it runs on a simulated drive.\n"
    ))
}

/// Debian's own changelog: one entry, because the package comes from the project itself.
pub(super) fn changelog(release: &Release, package: &str) -> Result<String> {
    let time = format!("@{}", release.time_s);
    let date =
        output(Command::new("date").args(["--utc", "--rfc-email", "--date", &time]).env("LC_ALL", "C"))?;
    Ok(format!(
        "{package} ({}) unstable; urgency=medium\n\n  * What changed for users stands in NEWS.md.gz.\n\n -- {MAINTAINER}  {date}\n",
        release.version
    ))
}
