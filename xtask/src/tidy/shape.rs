//! Rules about the shape of files: how long, how headed, how named, and which must exist.
//!
//! Lengths count lines as an editor shows them, comments and tests included: that is what a reader
//! scrolls through.

use super::Finding;
use super::exceptions::VENDORED;
use super::tree::{Kind, Tree, kind_of};

/// A file longer than this fails: two sittings to read (docs/HACKING.md).
const LINES_MAX: usize = 1_000;
/// A file longer than this is told.
const LINES_WARN: usize = 800;
/// A crate's header is at least a sentence or two: what it is, what it is not.
const CRATE_HEADER_BYTES_MIN: usize = 80;
/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "base", "core", "helper", "helpers", "misc"];
/// Files a stranger looks for at the root.
const EXPECTED: &[&str] = &["CHANGELOG.md", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "docs/HACKING.md"];

/// Findings about every file of ours.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let ours = tree.texts().filter(|(path, _)| kind_of(path) != Kind::Foreign);
    let rust = || tree.of_kind(Kind::Rust);
    ours.filter_map(|(path, text)| length(path, text))
        .chain(rust().filter_map(|(path, text)| header(path, text)))
        .chain(rust().filter_map(|(path, _)| name(path)))
        .chain(tree.paths().filter_map(left_behind))
        .chain(VENDORED.iter().filter_map(|(folder, _)| unlicensed(tree, folder)))
        .chain(EXPECTED.iter().filter(|path| !tree.holds(path)).map(|path| missing(path)))
        .collect()
}

fn length(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().count();
    if lines <= LINES_WARN || path.ends_with(".snap") {
        return None;
    }
    let instead = "split it where a reader would look for the parts; 100 to 400 lines read well";
    let finding = |limit| Finding::new("length", path, 0, format!("{lines} lines, over {limit}"), instead);
    Some(if lines > LINES_MAX { finding(LINES_MAX) } else { finding(LINES_WARN).warning() })
}

fn header(path: &str, text: &str) -> Option<Finding> {
    let header: Vec<&str> =
        text.lines().take_while(|line| line.starts_with("//!")).map(|line| line[3..].trim()).collect();
    let is_root = ["/src/lib.rs", "/src/main.rs"].iter().any(|end| path.ends_with(end));
    let bytes: usize = header.iter().map(|line| line.len()).sum();
    let instead =
        "open with `//!`: what it is, what it deliberately does not do, where its numbers come from";
    if header.is_empty() {
        return Some(Finding::new("header", path, 1, "no `//!` header on the first line", instead));
    }
    (is_root && bytes < CRATE_HEADER_BYTES_MIN)
        .then(|| Finding::new("header", path, 1, "the crate's `//!` header says too little", instead))
}

fn name(path: &str) -> Option<Finding> {
    let parts = path.strip_suffix(".rs")?.split('/');
    let empty = parts.into_iter().find(|part| EMPTY_NAMES.contains(part))?;
    let instead = "name it for what it provides, in the words of docs/ARCHITECTURE.md";
    Some(Finding::new("name", path, 0, format!("`{empty}` says nothing about what is inside"), instead))
}

fn left_behind(path: &str) -> Option<Finding> {
    let ending =
        [".snap.new", ".pending-snap", ".orig", ".rej", ".rs.bk"].iter().find(|end| path.ends_with(*end))?;
    let instead = "look at it, accept or reject it, and delete it";
    Some(Finding::new("left-behind", path, 0, format!("a `{ending}` file that a tool left behind"), instead))
}

fn unlicensed(tree: &Tree, folder: &str) -> Option<Finding> {
    let vendored = tree.paths().any(|path| path.starts_with(folder));
    let licensed = tree.paths().any(|path| path.starts_with(&format!("{folder}LICENSE")));
    let instead = "put the licence text it came with beside it, as LICENSE";
    let what = "code of others without its licence";
    (vendored && !licensed).then(|| Finding::new("vendored", folder, 0, what, instead))
}

fn missing(path: &str) -> Finding {
    Finding::new("expected-file", path, 0, "is missing", "write it: strangers look for it under this name")
}

#[cfg(test)]
mod test {
    use super::*;

    const HEADER: &str = "//! A sentence that says what this is, and another one that says what it is not, \
                          at some length.\n";

    /// The rule of every finding about one file, the expected files aside.
    fn found(path: &str, text: &str) -> Vec<(&'static str, bool)> {
        let findings = check(&Tree::from_texts(&[(path, text)]));
        let others = findings.iter().filter(|finding| finding.rule != "expected-file");
        others.map(|finding| (finding.rule, finding.only_warns)).collect()
    }

    #[test]
    fn length_warns_first_and_fails_later() {
        let lines = |count: usize| format!("{HEADER}{}", "// line\n".repeat(count - 1));
        assert_eq!(found("a.rs", &lines(800)), []);
        assert_eq!(found("a.rs", &lines(801)), [("length", true)]);
        assert_eq!(found("a.rs", &lines(1_000)), [("length", true)]);
        assert_eq!(found("a.rs", &lines(1_001)), [("length", false)]);
        assert_eq!(found("fixtures/x/log.csv", &"1\n".repeat(5_000)), []);
    }

    #[test]
    fn every_file_has_a_header_and_a_crate_a_longer_one() {
        assert_eq!(found("crates/x/src/a.rs", "fn a() {}"), [("header", false)]);
        assert_eq!(found("crates/x/src/a.rs", "//! Short.\n"), []);
        assert_eq!(found("crates/x/src/lib.rs", "//! Short.\n"), [("header", false)]);
        assert_eq!(found("crates/x/src/lib.rs", HEADER), []);
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        assert_eq!(found("crates/x/src/util.rs", HEADER), [("name", false)]);
        assert_eq!(found("crates/core/src/lib.rs", HEADER), [("name", false)]);
        assert_eq!(found("crates/x/src/utility.rs", HEADER), []);
    }

    #[test]
    fn left_behind_snapshots_are_found() {
        assert_eq!(found("crates/x/tests/snapshots/a.snap.new", ""), [("left-behind", false)]);
        assert_eq!(found("crates/x/tests/snapshots/a.snap", ""), []);
    }

    #[test]
    fn vendored_code_has_its_licence_beside_it() {
        let code = format!("{}a.js", VENDORED[0].0);
        let licence = format!("{}LICENSE", VENDORED[0].0);
        assert_eq!(found(&code, ""), [("vendored", false)]);
        let tree = Tree::from_texts(&[(&code, ""), (&licence, "")]);
        assert!(check(&tree).iter().all(|finding| finding.rule != "vendored"));
    }

    #[test]
    fn what_strangers_look_for_is_there() {
        let missing = check(&Tree::from_texts(&[("README.md", "")]));
        assert_eq!(missing.len(), EXPECTED.len() - 1);
        assert!(missing.iter().all(|finding| finding.path != "README.md"));
    }
}
