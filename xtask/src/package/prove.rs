//! `--prove`: that the packages are what they should be, by using them as a user does.
//!
//! Each proof says what it did and how long that took; one that cannot be done here says why.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::{Release, deb, output, tarball, timed, wheel};

/// Pythons that a wheel must do with, as far as they are here.
const PYTHONS: [&str; 5] = ["python3.9", "python3.10", "python3.11", "python3.12", "python3.13"];

/// What is typed in a root after the package is installed. The last word of each line that `prove` reads is its result.
const INSTALLED: &str = r#"
set -eu
find / -xdev \( -path /proc -o -path /sys -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache/man -o -path /tmp \) -prune -o -print | sort > /tmp/before
dpkg --install /tmp/heatsoak.deb > /tmp/dpkg.log 2>&1 || { cat /tmp/dpkg.log; exit 1; }
heatsoak --version
test -s /usr/share/man/man1/heatsoak.1.gz
if command -v man > /dev/null; then man heatsoak | head -4; else echo "this root has no man; the page is there"; fi
bash -c '. /usr/share/bash-completion/completions/heatsoak; complete -p heatsoak'
cd /tmp && heatsoak run --quiet --out /tmp/first-run > /tmp/said && head -3 /tmp/said
test -s /tmp/first-run/report.html
dpkg --purge heatsoak >> /tmp/dpkg.log 2>&1
test ! -e /usr/bin/heatsoak
find / -xdev \( -path /proc -o -path /sys -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache/man -o -path /tmp \) -prune -o -print | sort > /tmp/after
diff /tmp/before /tmp/after
rm -rf /tmp/first-run /tmp/said /tmp/before /tmp/after /tmp/dpkg.log /tmp/heatsoak.deb
echo "removal leaves nothing"
"#;

/// Proves everything that can be proven here.
pub(super) fn prove(
    release: &Release,
    work: &Path,
    root: Option<&Path>,
    times: &mut Vec<(String, f64)>,
) -> Result<()> {
    timed(times, "proof: the same bytes twice", || twice(release, work))?;
    let deb = format!("heatsoak_{}_{}.deb", release.version, release.architecture);
    match root {
        Some(root) => {
            let deb = release.out.join(&deb);
            timed(times, "proof: Debian package in a bare root", || in_root(&deb, root))?;
            timed(times, "proof: tarball in a bare root", || unpacked_in_root(release, root))?;
        }
        None => println!("LEFT OUT: installing in a bare root; --root DIR names one (debootstrap)"),
    }
    if output(Command::new("lintian").arg("--version")).is_ok() {
        timed(times, "proof: lintian", || {
            let said = output(
                Command::new("lintian").args(["--fail-on", "error,warning"]).arg(release.out.join(&deb)),
            )?;
            println!("lintian: {}", if said.is_empty() { "nothing to say" } else { &said });
            Ok(())
        })?;
    } else {
        println!("LEFT OUT: lintian is not installed");
    }
    for python in PYTHONS {
        if output(Command::new(python).arg("--version")).is_ok() {
            timed(times, &format!("proof: wheel with {python}"), || in_venv(release, work, python))?;
        } else {
            println!("LEFT OUT: wheel with {python}, which is not here");
        }
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

fn in_root(deb: &Path, root: &Path) -> Result<()> {
    ensure!(
        root.join("usr/bin/dpkg").exists(),
        "{} is no Debian root (debootstrap makes one)",
        root.display()
    );
    fs::copy(deb, root.join("tmp/heatsoak.deb")).context("putting the package into the root")?;
    let said = output(Command::new("chroot").arg(root).args(["sh", "-c", INSTALLED]).env("PATH", PATH))?;
    println!("{said}");
    ensure!(said.ends_with("removal leaves nothing"), "the package was not removed as it should be");
    Ok(())
}

/// The path in a root.
const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

fn unpacked_in_root(release: &Release, root: &Path) -> Result<()> {
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

fn in_venv(release: &Release, work: &Path, python: &str) -> Result<()> {
    let venv = work.join(format!("venv-{python}"));
    output(Command::new(python).args(["-m", "venv"]).arg(&venv))?;
    let wheels = super::files(&release.out)?;
    let wheel: Vec<PathBuf> =
        wheels.into_iter().filter(|path| path.extension().is_some_and(|end| end == "whl")).collect();
    let pip = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"];
    output(Command::new(venv.join("bin/pip")).args(pip).args(&wheel))?;
    println!("{}", output(Command::new(venv.join("bin/heatsoak")).arg("--version"))?);
    let run = venv.join("run");
    output(Command::new(venv.join("bin/heatsoak")).args(["run", "--quiet", "--out"]).arg(&run))?;
    ensure!(run.join("report.html").exists(), "the installed tool left no report");
    let program = "import heatsoak, sys; print(heatsoak.analyze(sys.argv[1])['policy']['class'])";
    let class = output(Command::new(venv.join("bin/python")).args(["-c", program]).arg(&run))?;
    ensure!(class == "vendor", "`import heatsoak` finds {class:?} in the first run");
    Ok(())
}
