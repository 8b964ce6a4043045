//! The Debian package and the tarballs in a root of their own: installed, used, removed.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::super::{Release, elf, output, tarball, timed};
use super::Times;

/// What is typed in a root after the package is installed.
const INSTALLED: &str = r#"
set -eu
list() { find / -xdev \( -path /proc -o -path /sys -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache/man -o -path /tmp \) -prune -o -print | sort; }
list > /tmp/before
dpkg --install /tmp/heatsoak.deb > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log >&2; exit 1; }
heatsoak --version
test -s /usr/share/man/man1/heatsoak.1.gz
if command -v man > /dev/null; then man heatsoak 2> /tmp/man.log | sed -n '1p;/^NAME/,/^SYNOPSIS/p'; else echo "LEFT OUT: this root has no man; the page is there"; fi
complete
cd /tmp && heatsoak run --quiet --out /tmp/first-run > /tmp/said && head -3 /tmp/said
test -s /tmp/first-run/report.html
dpkg --purge heatsoak >> /tmp/dpkg.log 2>&1
test ! -e /usr/bin/heatsoak
list > /tmp/after
diff /tmp/before /tmp/after >&2
test -s /tmp/first-run/io.parquet
rm -rf /tmp/first-run /tmp/said /tmp/before /tmp/after /tmp/dpkg.log /tmp/man.log /tmp/heatsoak.deb
echo "removal leaves nothing but the run folder"
"#;

/// The same without a root that could run anything: dpkg unpacks into a folder, and this machine runs what lies there.
const BESIDE: &str = r#"
set -eu
mkdir -p "$ROOT/var/lib/dpkg/info" "$ROOT/var/lib/dpkg/updates" "$ROOT/var/lib/dpkg/triggers" "$ROOT/var/log"
touch "$ROOT/var/lib/dpkg/status"
list() { find "$ROOT" -path "$ROOT/var" -prune -o -print | sort; }
list > "$ROOT.before"
dpkg --root="$ROOT" --force-not-root --force-bad-path --force-depends --install "$DEB" > "$ROOT.log" 2>&1 || { cat "$ROOT.log" >&2; exit 1; }
PATH="$ROOT/usr/bin:$PATH"
heatsoak --version
if command -v man > /dev/null; then
    MANPATH="$ROOT/usr/share/man" man heatsoak 2> "$ROOT.log" | sed -n '1p;/^NAME/,/^SYNOPSIS/p'
else
    echo "LEFT OUT: this machine has no man; the page is there"
fi
complete
heatsoak run --quiet --out "$ROOT.run" > "$ROOT.said" && head -3 "$ROOT.said"
test -s "$ROOT.run/report.html"
dpkg --root="$ROOT" --force-not-root --force-bad-path --purge heatsoak >> "$ROOT.log" 2>&1 || { cat "$ROOT.log" >&2; exit 1; }
list > "$ROOT.after"
diff "$ROOT.before" "$ROOT.after" >&2
test -s "$ROOT.run/io.parquet"
echo "removal leaves nothing but the run folder"
"#;

/// Completion as a person has it: the script that was installed is asked what `heatsoak comp` may become, and for the
/// names of built-in plans.
const COMPLETE: &str = r#"
complete() { bash -eu -c '
    . "${ROOT:-}/usr/share/bash-completion/completions/heatsoak"
    ask() {
        COMP_WORDS=(heatsoak "$@"); COMP_CWORD=$#; COMP_TYPE=9; COMPREPLY=()
        _clap_complete_heatsoak heatsoak "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2> /dev/null
        printf "%s " "${COMPREPLY[@]}"
    }
    commands=$(ask comp) plans=$(ask run hctm-)
    echo "heatsoak comp<TAB>: $commands; run hctm-<TAB>: $plans"
    case "$commands $plans" in *compare*hctm-read*) ;; *) exit 1 ;; esac
'; }
"#;

/// How every proof ends that went well.
const ENDED: &str = "removal leaves nothing but the run folder";

/// The path in a root.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Installs into a folder that holds nothing else.
pub(super) fn beside(deb: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let script = COMPLETE.to_owned() + BESIDE;
    let said = output(
        Command::new("sh").args(["-c", &script]).env("ROOT", folder).env("DEB", deb).env("LC_ALL", "C"),
    )?;
    println!("{said}");
    ensure!(said.ends_with(ENDED), "the package was not removed as it should be");
    Ok(())
}

/// Everything that can be done in one root, which is changed and cleaned again.
pub(super) fn prove(release: &Release, deb: &Path, root: &Path, times: &mut Times) -> Result<()> {
    ensure!(
        root.join("usr/bin/dpkg").exists(),
        "{} is no Debian root (debootstrap makes one)",
        root.display()
    );
    let version = fs::read_to_string(root.join("etc/debian_version"))?;
    let libc =
        output(Command::new("chroot").arg(root).args(["getconf", "GNU_LIBC_VERSION"]).env("PATH", PATH))?;
    let libc_there =
        libc.rsplit(' ').next().and_then(elf::parse).with_context(|| format!("{libc:?} is no version"))?;
    let where_ = format!("Debian {} ({libc})", version.trim());
    let needed = elf::glibc_needed(&fs::read(&release.binary)?)?.keys().next_back().copied();
    if needed.is_some_and(|needed| needed > libc_there) {
        println!("LEFT OUT: package and tarball in {where_}, which is older than what they ask for");
    } else {
        timed(times, &format!("proof: Debian package in {where_}"), || installed(deb, root))?;
        timed(times, &format!("proof: tarball in {where_}"), || unpacked(release, root))?;
    }
    let release = Release { platform: tarball::STATIC, ..release.clone() };
    if release.out.join(format!("{}.tar.xz", tarball::name(&release))).is_file() {
        timed(times, &format!("proof: static tarball in {where_}"), || unpacked(&release, root))?;
    }
    Ok(())
}

fn installed(deb: &Path, root: &Path) -> Result<()> {
    fs::copy(deb, root.join("tmp/heatsoak.deb")).context("putting the package into the root")?;
    let script = COMPLETE.to_owned() + INSTALLED;
    let said = output(
        Command::new("chroot").arg(root).args(["sh", "-c", &script]).env("PATH", PATH).env("LC_ALL", "C"),
    )?;
    println!("{said}");
    ensure!(said.ends_with(ENDED), "the package was not removed as it should be");
    Ok(())
}

fn unpacked(release: &Release, root: &Path) -> Result<()> {
    let name = tarball::name(release);
    let archive = release.out.join(format!("{name}.tar.xz"));
    let place = root.join("tmp");
    output(Command::new("tar").arg("--extract").arg("--file").arg(archive).arg("--directory").arg(&place))?;
    let line =
        format!("cd /tmp/{name} && ./heatsoak run --quiet --out run | head -1 && test -s run/io.parquet");
    let said = output(Command::new("chroot").arg(root).args(["sh", "-c", &line]).env("PATH", PATH));
    fs::remove_dir_all(place.join(&name))?;
    println!("{}", said?);
    Ok(())
}
