//! Rules that let the compiler's and clippy's lints keep the house: every crate takes the workspace's
//! lints, and those that keep a promise are lifted only where [`LIFTED`] says.
//!
//! Which lints there are and what they are told stands in Cargo.toml and clippy.toml.

use super::Finding;
use super::exceptions::{LIFTED, permits};
use super::tree::{Kind, Tree};

/// What makes a crate's manifest take the workspace's lints; cargo then takes no others there.
const INHERITED: &str = "[lints]\nworkspace = true";
/// A workspace of its own, for the fuzzing engine's sake: four lines a target, the rest is a crate of ours.
const FUZZ: &str = "fuzz/Cargo.toml";
/// Speaks of lints without lifting them.
const TIDY: &str = "xtask/src/tidy/";

/// Findings in every manifest and Rust file of ours.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.texts().filter(|(path, _)| path.ends_with("/Cargo.toml") && *path != FUZZ);
    let rust = tree.of_kind(Kind::Rust).filter(|(path, _)| !path.starts_with(TIDY));
    manifests
        .filter_map(|(path, text)| without_lints(path, text))
        .chain(rust.flat_map(|(path, text)| lifted(path, text)))
        .collect()
}

fn without_lints(path: &str, text: &str) -> Option<Finding> {
    let instead = format!("say `{}`", INHERITED.replace('\n', " "));
    let what = "does not take the workspace's lints, which keep the house";
    (!text.contains(INHERITED)).then(|| Finding::new("lints", path, 0, what, instead))
}

/// A lint's name has nothing to do in code but to lift it or to set it anew.
fn lifted(path: &str, text: &str) -> Vec<Finding> {
    let code = text.lines().zip(1..).filter(|(line, _)| !line.trim_start().starts_with("//"));
    code.filter_map(|(line, number)| {
        let (lint, places) = LIFTED.iter().find(|(lint, _)| line.contains(lint))?;
        let what = format!("lifts `{lint}`, which keeps a promise");
        let instead = "do without, or argue for a row in xtask/src/tidy/exceptions.rs";
        (!permits(places, path)).then(|| Finding::new("lints", path, number, what, instead))
    })
    .collect()
}

#[cfg(test)]
mod test {
    use super::*;

    const NONE: [usize; 0] = [];

    fn found(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::from_texts(&[(path, text)])).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        assert_eq!(
            found("crates/x/Cargo.toml", "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n"),
            NONE
        );
        assert_eq!(found("crates/x/Cargo.toml", "[package]\nname = \"x\"\n"), [0]);
        assert_eq!(found("crates/x/Cargo.toml", "[lints.rust]\nmissing_docs = \"warn\"\n"), [0]);
    }

    #[test]
    fn promises_are_lifted_in_their_places_alone() {
        let attribute = "\n#![expect(\n    unsafe_code,\n    reason = \"a ring\"\n)]";
        assert_eq!(found("crates/report/src/a.rs", attribute), [3]);
        assert_eq!(found("crates/drive/src/io/ring_a.rs", attribute), NONE);
        assert_eq!(found("crates/x/tests/t.rs", "#[allow(clippy::disallowed_methods, reason = \"\")]"), [1]);
        assert_eq!(found("crates/x/tests/t.rs", "#![cfg_attr(test, allow(clippy::all))]"), [1]);
        assert_eq!(found("crates/x/src/a.rs", "//! `unsafe_code` is denied here.\n"), NONE);
    }
}
