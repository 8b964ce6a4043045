//! The tree as tidy sees it: every file git knows or would take, with its text.
//!
//! Reads only; what is ignored by git (build output, runs) does not exist here. Files that are no
//! UTF-8 have no text and are known by name alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::exceptions::{VENDORED, permits};

/// All files of the working tree, by path from its root, `/` between the parts.
pub(crate) struct Tree {
    files: BTreeMap<String, Option<String>>,
}

/// What a file is to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Rust source of ours.
    Rust,
    /// Prose of ours.
    Markdown,
    /// Other text of ours in which `#` begins a comment: TOML, shell, YAML.
    HashComments,
    /// Other text of ours without comments we understand: snapshots, HTML, scripts of pages.
    Plain,
    /// Text that others or a program wrote and that stays as it is: fixtures, vendored code,
    /// licences, the lock file, the generated command reference.
    Foreign,
}

impl Tree {
    /// Reads the tree under `root`: tracked files and untracked ones that git does not ignore.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let listing = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("listing the files of the tree with `git ls-files`: is git installed?")?;
        ensure!(
            listing.status.success(),
            "`git ls-files` failed in {}: {}",
            root.display(),
            String::from_utf8_lossy(&listing.stderr).trim()
        );
        let mut files = BTreeMap::new();
        for name in listing.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty()) {
            let name = String::from_utf8_lossy(name).into_owned();
            // Deleted but not yet committed: listed by git, no longer there.
            let Ok(bytes) = std::fs::read(root.join(&name)) else { continue };
            files.insert(name, String::from_utf8(bytes).ok());
        }
        Ok(Self { files })
    }

    /// A tree of the given paths and texts, for tests of the rules.
    #[cfg(test)]
    pub(crate) fn from_texts(files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(path, text)| ((*path).into(), Some((*text).into())));
        Self { files: files.collect() }
    }

    /// Every path, in order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Every file that has text, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }

    /// Every file of one kind, in order.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| kind_of(path) == kind)
    }

    /// The text of the file at `path`.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Whether `path` is a file, or a folder with a file in it. The empty path is the root.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty()
            || self.files.contains_key(path)
            || self.files.range(folder.clone()..).next().is_some_and(|(next, _)| next.starts_with(&folder))
    }
}

/// The kind of the file at `path`.
pub(crate) fn kind_of(path: &str) -> Kind {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let foreign_folder = folder.split('/').any(|part| part == "fixtures") || permits(VENDORED, path);
    let generated = ["docs/cli", "docs/data"].iter().any(|made| folder.starts_with(made));
    if name.ends_with(".md") && !generated {
        return Kind::Markdown;
    }
    if foreign_folder || generated || name.starts_with("LICENSE") || name == "Cargo.lock" {
        return Kind::Foreign;
    }
    match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "rs" => Kind::Rust,
        "toml" | "sh" | "yml" | "yaml" | "py" | "fio" | "gitignore" | "gitattributes" => Kind::HashComments,
        _ if path == ".ci/run" => Kind::HashComments,
        _ => Kind::Plain,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_real_tree_holds_its_root_manifest_and_no_build_output() {
        let tree = Tree::read(&crate::cargo::root()).expect("this test runs inside the repository");
        assert!(tree.text("Cargo.toml").is_some_and(|text| text.contains("[workspace]")));
        assert!(tree.holds("xtask/src"));
        assert!(tree.holds(""));
        assert!(!tree.holds("target"));
        assert!(!tree.holds("xtask/sr"));
    }

    #[test]
    fn kinds_follow_names_and_folders() {
        assert_eq!(kind_of("crates/twin/src/lib.rs"), Kind::Rust);
        assert_eq!(kind_of("docs/METHODS.md"), Kind::Markdown);
        assert_eq!(kind_of("fixtures/smart/README.md"), Kind::Markdown);
        assert_eq!(kind_of("docs/cli/cli.md"), Kind::Foreign);
        assert_eq!(kind_of("docs/data/findings.schema.json"), Kind::Foreign);
        assert_eq!(kind_of("docs/cli/man/heatsoak.1"), Kind::Foreign);
        assert_eq!(kind_of("fixtures/smart/qemu.json"), Kind::Foreign);
        assert_eq!(kind_of("crates/report/assets/uplot/uPlot.js"), Kind::Foreign);
        assert_eq!(kind_of(".ci/run"), Kind::HashComments);
        assert_eq!(kind_of("Cargo.lock"), Kind::Foreign);
        assert_eq!(kind_of("crates/cli/tests/snapshots/help.snap"), Kind::Plain);
    }
}
