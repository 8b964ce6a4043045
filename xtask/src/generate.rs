//! `cargo xtask generate`: docs/cli as the tool itself describes its command line.
//!
//! The tool writes (its hidden `generate FOLDER`), this compares and copies. docs/cli belongs to it
//! wholly: what the tool no longer writes is deleted there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::cargo;

/// Where generated documents live, from the root.
const FOLDER: &str = "docs/cli";
/// The same units that `cargo test --workspace` builds, so that after the tests nothing is built.
const BUILD: &[&str] =
    &["build", "--workspace", "--bins", "--tests", "--message-format", "json-render-diagnostics"];
/// What is too little to be a set of documents: reference, one man page, three completions.
const FILES_MIN: usize = 5;

/// Files by path below their folder.
type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Writes docs/cli under `root` anew.
pub(crate) fn write(root: &Path) -> Result<()> {
    let folder = root.join(FOLDER);
    let (wanted, present) = (generated(root)?, files_below(&folder)?);
    let changes = differences(&wanted, &present);
    for path in &changes {
        let at = folder.join(path);
        match wanted.get(path) {
            Some(bytes) => {
                let parent = at.parent().unwrap_or(&folder);
                std::fs::create_dir_all(parent).with_context(|| format!("making {}", parent.display()))?;
                std::fs::write(&at, bytes).with_context(|| format!("writing {}", at.display()))?;
            }
            None => std::fs::remove_file(&at).with_context(|| format!("deleting {}", at.display()))?,
        }
        println!("{FOLDER}/{}", path.display());
    }
    println!("generate: {} files, {} changed", wanted.len(), changes.len());
    Ok(())
}

/// Fails when docs/cli under `root` is not what the tool writes today.
pub(crate) fn check(root: &Path) -> Result<()> {
    let (wanted, present) = (generated(root)?, files_below(&root.join(FOLDER))?);
    let changes = differences(&wanted, &present);
    if changes.is_empty() {
        println!("generate: {} files are fresh", wanted.len());
        return Ok(());
    }
    let names: Vec<String> = changes.iter().map(|path| format!("{FOLDER}/{}", path.display())).collect();
    bail!("stale: {}; type `cargo xtask generate` and commit what it writes", names.join(", "))
}

/// What the tool writes today.
fn generated(root: &Path) -> Result<Files> {
    let tool = build(root)?;
    let folder = tempfile::tempdir().context("making a temporary folder")?;
    let output = Command::new(&tool)
        .arg("generate")
        .arg(folder.path())
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("starting {}", tool.display()))?;
    ensure!(
        output.status.success(),
        "`heatsoak generate` failed ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let files = files_below(folder.path())?;
    ensure!(files.len() >= FILES_MIN, "`heatsoak generate` wrote {} files, too few to be whole", files.len());
    Ok(files)
}

/// Builds the tool and says where it is.
fn build(root: &Path) -> Result<PathBuf> {
    let output = cargo::command(root, BUILD)
        .stderr(Stdio::inherit())
        .output()
        .context("starting `cargo build`: is cargo installed?")?;
    ensure!(
        output.status.success(),
        "the tool does not build; to see it again: {}",
        cargo::spelled(BUILD, &[])
    );
    let messages = String::from_utf8_lossy(&output.stdout);
    let tool = messages
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .find_map(|message| tool_in(&message));
    tool.context("cargo built no program called `heatsoak`: has its package or target another name now?")
}

/// The path of the tool, when this message of cargo is about it and not about its tests.
fn tool_in(message: &Value) -> Option<PathBuf> {
    let is_tool = message["target"]["name"] == "heatsoak"
        && message["target"]["kind"][0] == "bin"
        && message["profile"]["test"] == false;
    is_tool.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
}

/// Every file below `folder`; none when there is no such folder.
fn files_below(folder: &Path) -> Result<Files> {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        if !next.exists() {
            continue;
        }
        for entry in std::fs::read_dir(&next).with_context(|| format!("reading {}", next.display()))? {
            let path = entry.with_context(|| format!("reading {}", next.display()))?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = std::fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            files.insert(path.strip_prefix(folder)?.to_owned(), bytes);
        }
    }
    Ok(files)
}

/// The paths that are not the same in both, in order.
fn differences(wanted: &Files, present: &Files) -> Vec<PathBuf> {
    let mut paths: Vec<&PathBuf> = wanted.keys().chain(present.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().filter(|path| wanted.get(*path) != present.get(*path)).cloned().collect()
}

#[cfg(test)]
mod test {
    use super::*;
    use serde_json::json;

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| (path.into(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn new_changed_and_stale_files_differ() {
        let wanted = files(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let present = files(&[("b", "2"), ("c", "4"), ("d", "5")]);
        assert_eq!(differences(&wanted, &present), ["a", "c", "d"].map(PathBuf::from));
        assert_eq!(differences(&wanted, &wanted), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_tool_is_told_from_its_tests() {
        let message = |test: bool| json!({"target": {"name": "heatsoak", "kind": ["bin"]}, "profile": {"test": test}, "executable": "/x"});
        assert_eq!(tool_in(&message(false)), Some(PathBuf::from("/x")));
        assert_eq!(tool_in(&message(true)), None);
        assert_eq!(tool_in(&json!({"reason": "build-finished"})), None);
    }

    #[test]
    fn files_are_found_at_every_depth_and_nowhere_is_none() {
        let folder = tempfile::tempdir().expect("the machine has a temporary folder");
        std::fs::create_dir(folder.path().join("man")).expect("the folder is ours");
        std::fs::write(folder.path().join("man/a.1"), "x").expect("the folder is ours");
        assert_eq!(files_below(folder.path()).expect("it can be read"), files(&[("man/a.1", "x")]));
        assert_eq!(files_below(&folder.path().join("none")).expect("it can be read"), Files::new());
    }
}
