//! The wheel in a fresh venv of each Python that is here.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::super::{Release, files, output};

/// Minor versions of Python 3 that the wheel says it does with (`Requires-Python`), up to the newest there is.
const MINORS: std::ops::RangeInclusive<u32> = 9..=14;
/// A wheel must be shown to work with these two at least, or the proof says what is missing.
const WANTED: [u32; 2] = [9, 12];

/// What `import heatsoak` must do: the findings, and an error in the words of the command line.
const PROGRAM: &str = r#"
import heatsoak, subprocess, sys
run, program = sys.argv[1:]
try:
    heatsoak.analyze("no-such-run")
except heatsoak.HeatsoakError as error:
    line = [program, "analyze", "--json", "--", "no-such-run"]
    told = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stderr.decode().strip()
    assert told == "error: " + str(error), (told, str(error))
print(heatsoak.analyze(run)["policy"]["class"])
"#;

/// Interpreters by name: on PATH, and where pyenv and uv keep theirs.
pub(super) fn interpreters() -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for minor in MINORS {
        let name = format!("python3.{minor}");
        let works =
            |path: &PathBuf| output(Command::new(path).args(["-c", "import ensurepip, venv"])).is_ok();
        match [vec![PathBuf::from(&name)], kept(minor)].concat().into_iter().find(works) {
            Some(path) => found.push((name, path)),
            None if WANTED.contains(&minor) => println!("LEFT OUT: wheel with {name}, which is not here"),
            None => {}
        }
    }
    found
}

/// Where tools that keep several Pythons have this one.
fn kept(minor: u32) -> Vec<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    let mut paths = Vec::new();
    for (folder, begin) in [
        (".pyenv/versions", format!("3.{minor}.")),
        (".local/share/uv/python", format!("cpython-3.{minor}.")),
    ] {
        let entries = std::fs::read_dir(home.join(folder)).into_iter().flatten().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&begin));
        paths.extend(ours.map(|entry| entry.path().join(format!("bin/python3.{minor}"))));
    }
    paths.sort();
    paths
}

/// Installs the wheel and uses what it brings.
pub(super) fn wheel(release: &Release, work: &Path, name: &str, python: &Path) -> Result<()> {
    let venv = work.join(format!("venv-{name}"));
    output(Command::new(python).args(["-m", "venv"]).arg(&venv))?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|end| end == "whl");
    let wheels: Vec<PathBuf> = files(&release.out)?.into_iter().filter(is_wheel).collect();
    let pip = ["install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"];
    output(Command::new(venv.join("bin/pip")).args(pip).args(&wheels))?;
    let program = venv.join("bin/heatsoak");
    let version = output(Command::new(&program).arg("--version"))?;
    let run = venv.join("run");
    output(Command::new(&program).args(["run", "--quiet", "--out"]).arg(&run))?;
    ensure!(run.join("report.html").exists(), "the installed tool left no report");
    let class = output(Command::new(venv.join("bin/python")).args(["-c", PROGRAM]).arg(&run).arg(&program))?;
    ensure!(class == "vendor", "`import heatsoak` finds {class:?} in the first run");
    output(Command::new(venv.join("bin/pip")).args(["uninstall", "--quiet", "--yes", "heatsoak"]))?;
    ensure!(!program.exists(), "pip uninstall leaves {}", program.display());
    let python = output(Command::new(venv.join("bin/python")).arg("--version"))?;
    println!("{python}: {version}, run, import and errors as they should be; removed");
    Ok(())
}
