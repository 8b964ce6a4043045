//! `cargo xtask package`: everything a user can get, under `target/package`: `heatsoak` from one binary, and
//! `heatsoak-fleet` beside it.
//!
//! The same commit gives the same bytes: times are the commit's, orders are sorted, paths of this machine are mapped away.
//! Nothing is needed but cargo and what Debian has on every machine that builds packages (`dpkg-dev`, `xz-utils`,
//! `binutils`, `python3`). Nothing is uploaded.

mod bill;
mod binary;
mod deb;
mod elf;
mod fleet;
mod licences;
mod parts;
mod prove;
mod tarball;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::cargo::{self, Depth};

/// `cargo xtask package`.
#[derive(Args)]
pub(crate) struct PackageArgs {
    /// Package this binary instead of building one, to try the packing itself.
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Prove the packages: twice the same bytes, installed and run.
    #[arg(long)]
    prove: bool,
    /// A bare Debian root (debootstrap) to install the packages in; it is changed, and cleaned again. May be given
    /// several times: in one that is too old for the package the static tarball is tried.
    #[arg(long, value_name = "DIR", requires = "prove")]
    root: Vec<PathBuf>,
}

/// What is packaged.
#[derive(Clone)]
struct Release {
    root: PathBuf,
    version: String,
    /// As Debian calls it: `amd64`.
    architecture: String,
    /// Seconds since 1970: of the commit.
    time_s: u64,
    /// A binary that somebody named: packed fast, and proved with one Python, to try the packing itself.
    is_trial: bool,
    /// What it runs on, in names of files: `linux-gnu`, or `linux-musl` for the static one.
    platform: &'static str,
    /// The stripped binary.
    binary: PathBuf,
    /// Where the packages go.
    out: PathBuf,
}

/// Makes the packages, and proves them if asked to.
pub(crate) fn run(root: &Path, args: &PackageArgs) -> Result<()> {
    let out = root.join("target/package");
    let mut times = Vec::new();
    let work = tempfile::tempdir_in(root.join("target")).context("making a scratch folder in target")?;
    if out.exists() {
        fs::remove_dir_all(&out).with_context(|| format!("emptying {}", out.display()))?;
    }
    fs::create_dir_all(&out).with_context(|| format!("making {}", out.display()))?;
    let binary = timed(&mut times, "binary", || {
        let built = match &args.binary {
            Some(path) => path.clone(),
            None => binary::build(root, None)?,
        };
        binary::split(&built, work.path(), &out, xz_level(args.binary.is_some()))
    })?;
    let release = Release {
        root: root.to_owned(),
        version: version(root)?,
        architecture: output(Command::new("dpkg").arg("--print-architecture"))?,
        time_s: commit_time_s(root)?,
        is_trial: args.binary.is_some(),
        platform: "linux-gnu",
        binary,
        out: out.clone(),
    };
    if args.binary.is_none() {
        binary::check(&release)?;
    }
    let metadata = cargo::metadata(root, Depth::WithDependencies)?;
    timed(&mut times, "licences", || licences::write_ours(&release, &metadata))?;
    timed(&mut times, "bill of materials", || bill::write(&release, &metadata))?;
    pack(&release, work.path(), &mut times)?;
    if args.binary.is_none() {
        static_tarball(&release, work.path(), &mut times)?;
    }
    timed(&mut times, "heatsoak-fleet", || fleet::write(&release, work.path()))?;
    timed(&mut times, "crates", || crates(&release))?;
    checksums(&out)?;
    if args.prove {
        prove::prove(&release, work.path(), &args.root, &mut times)?;
        if args.binary.is_none() {
            timed(&mut times, "proof: crates by a dry run", || prove::crates(root))?;
        } else {
            println!("LEFT OUT: the dry run of the crates, which builds them; it belongs to a whole package");
        }
    }
    tell(&out, &times)
}

/// Packs and proves the binary that the tests have built, as a step of `check`: left out, loudly, where Debian's tools
/// are not, but never in CI.
pub(crate) fn check(root: &Path) -> Result<()> {
    if let Err(error) = output(Command::new("dpkg-deb").arg("--version")) {
        ensure!(std::env::var_os("CI").is_none(), "CI requires the packages: {error:#}");
        println!("left out: {error:#}");
        return Ok(());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let binary = target.join("debug/heatsoak");
    if !binary.is_file() {
        cargo::run(root, &["build", "--workspace", "--bins", "--quiet"], &[])?;
    }
    run(root, &PackageArgs { binary: Some(binary), prove: true, root: Vec::new() })
}

/// How hard `xz` tries: a trial is unpacked once and thrown away.
fn xz_level(is_trial: bool) -> u32 {
    if is_trial { 0 } else { 9 }
}

/// The packages that hold the binary.
fn pack(release: &Release, work: &Path, times: &mut Vec<(String, f64)>) -> Result<()> {
    timed(times, "deb", || deb::write(release, &work.join("deb")))?;
    timed(times, "tar.xz", || tarball::write(release, &work.join("tar")))?;
    timed(times, "wheel", || wheel::write(release))
}

/// A tarball with a static binary, for machines without glibc, where the toolchain can build one.
fn static_tarball(release: &Release, work: &Path, times: &mut Vec<(String, f64)>) -> Result<()> {
    let target = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    let there = output(Command::new("rustc").args(["--print", "target-libdir", "--target", &target]))?;
    if !Path::new(&there).is_dir() {
        println!("LEFT OUT: the static tarball; the toolchain has no target {target} (rustup target add)");
        return Ok(());
    }
    timed(times, "static tar.xz", || {
        let work = work.join("static");
        fs::create_dir_all(&work)?;
        let binary = work.join("heatsoak");
        binary::strip(&binary::build(&release.root, Some(&target))?, &binary)?;
        tarball::write(&Release { platform: tarball::STATIC, binary, ..release.clone() }, &work.join("tar"))
    })
}

/// The crates as they would be published, dependents after what they depend on.
fn crates(release: &Release) -> Result<()> {
    let (root, out) = (&release.root, &release.out);
    let made = root.join("target/package-crates");
    let target = made.to_string_lossy().into_owned();
    if made.exists() {
        // Crates of another version must not be taken for this one's.
        fs::remove_dir_all(&made).with_context(|| format!("emptying {}", made.display()))?;
    }
    let mut arguments = vec!["package", "--workspace", "--no-verify", "--allow-dirty", "--locked", "--quiet"];
    arguments.extend(["--target-dir", &target]);
    if release.is_trial {
        // What a build needs is here already.
        arguments.push("--offline");
    }
    let unpublished = unpublished(root)?;
    unpublished.iter().for_each(|name| arguments.extend(["--exclude", name]));
    cargo::run(root, &arguments, &[])?;
    let folder = out.join("crates");
    fs::create_dir_all(&folder)?;
    for path in files(&made.join("package"))? {
        if path.extension().is_some_and(|end| end == "crate") {
            fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// Packages of ours that are never published.
fn unpublished(root: &Path) -> Result<Vec<String>> {
    let metadata = cargo::metadata(root, Depth::OursAlone)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let never = packages.filter(|package| package["publish"].as_array().is_some_and(Vec::is_empty));
    Ok(never.filter_map(|package| package["name"].as_str()).map(str::to_owned).collect())
}

/// SHA-256 of everything, in the form that `sha256sum --check` reads.
fn checksums(out: &Path) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    for path in files(out)?.into_iter().chain(files(&out.join("crates"))?) {
        names.push(path.strip_prefix(out)?.display().to_string());
    }
    names.sort();
    let text = output(Command::new("sha256sum").args(&names).current_dir(out))?;
    Ok(fs::write(out.join("SHA256SUMS"), text + "\n")?)
}

fn tell(out: &Path, times: &[(String, f64)]) -> Result<()> {
    println!("\n== {}", out.display());
    for path in files(out)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        println!("{:>12} B  {name}", fs::metadata(&path)?.len());
    }
    println!("\n== time");
    times.iter().for_each(|(name, seconds)| println!("{name:<40} {seconds:>7.1} s"));
    Ok(())
}

/// Does one step, and notes how long it took.
#[expect(clippy::disallowed_methods, reason = "times its own steps; no measurement depends on it")]
fn timed<T>(times: &mut Vec<(String, f64)>, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("== {name}");
    let start = Instant::now();
    let done = step().with_context(|| format!("packaging, step `{name}`"))?;
    let seconds = start.elapsed().as_secs_f64();
    println!("   {seconds:.1} s");
    times.push((name.to_owned(), seconds));
    Ok(done)
}

/// The files in a folder, sorted; none where there is no folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    let mut paths: Vec<PathBuf> = paths.into_iter().filter(|path| path.is_file()).collect();
    paths.sort();
    Ok(paths)
}

/// What a command prints, without its last line end.
fn output(command: &mut Command) -> Result<String> {
    let line = format!("{command:?}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {line}: the packages that are needed are in .ci/run"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    ensure!(
        output.status.success(),
        "{line} failed ({})\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    Ok(text(&output.stdout))
}

fn version(root: &Path) -> Result<String> {
    let metadata = cargo::metadata(root, Depth::OursAlone)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let ours = packages.filter(|package| package["name"] == "heatsoak");
    match ours.filter_map(|package| package["version"].as_str()).next() {
        Some(version) => Ok(version.to_owned()),
        None => bail!("the workspace has no package heatsoak"),
    }
}

fn commit_time_s(root: &Path) -> Result<u64> {
    if let Ok(stated) = std::env::var("SOURCE_DATE_EPOCH") {
        return stated.parse().context("SOURCE_DATE_EPOCH is no number of seconds");
    }
    let text = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root))?;
    text.parse().context("git does not tell the time of the commit")
}
